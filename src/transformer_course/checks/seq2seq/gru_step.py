"""Exercise: one step of a GRU."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), number by number."""
    result: Array = 0.5 * (1 + np.tanh(0.5 * np.asarray(x)))
    return result


def _parts(x: Array, h: Array, w: Array, u: Array) -> tuple[Array, ...]:
    """Reset gate, update gate, then what word and state say to the candidate."""
    from_x, from_h = np.split(w @ x, 3), np.split(u @ h, 3)
    gates = [sigmoid(from_x[i] + from_h[i]) for i in (0, 1)]
    return gates[0], gates[1], from_x[2], from_h[2]


def reference(x: Array, h: Array, w: Array, u: Array) -> Array:
    """Return the new state, (d,)."""
    r, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * np.tanh(from_x + r * from_h) + z * h


def _update_turned_round(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return z * np.tanh(from_x + r * from_h) + (1 - z) * h


def _reset_inside(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, _ = _parts(x, h, w, u)
    return (1 - z) * np.tanh(from_x + np.split(u, 3)[2] @ (r * h)) + z * h


def _gates_exchanged(x: Array, h: Array, w: Array, u: Array) -> Array:
    z, r, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * np.tanh(from_x + r * from_h) + z * h


def _no_reset(x: Array, h: Array, w: Array, u: Array) -> Array:
    _, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * np.tanh(from_x + from_h) + z * h


def _reset_on_everything(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * np.tanh(r * (from_x + from_h)) + z * h


def _sigmoid_candidate(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * sigmoid(from_x + r * from_h) + z * h


def _nothing_forgotten(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * np.tanh(from_x + r * from_h) + h


def _plain(x: Array, h: Array, w: Array, u: Array) -> Array:
    _, _, from_x, from_h = _parts(x, h, w, u)
    result: Array = np.tanh(from_x + from_h)
    return result


def _tanh_gates(x: Array, h: Array, w: Array, u: Array) -> Array:
    from_x, from_h = np.split(w @ x, 3), np.split(u @ h, 3)
    r, z = (np.tanh(from_x[i] + from_h[i]) for i in (0, 1))
    return (1 - z) * np.tanh(from_x[2] + r * from_h[2]) + z * h


def _candidate_alone(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, _, from_x, from_h = _parts(x, h, w, u)
    return np.asarray(np.tanh(from_x + r * from_h))


def _no_tanh(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return (1 - z) * (from_x + r * from_h) + z * h


def _added_to_all(x: Array, h: Array, w: Array, u: Array) -> Array:
    r, z, from_x, from_h = _parts(x, h, w, u)
    return z * np.tanh(from_x + r * from_h) + h


def _every_third_row(x: Array, h: Array, w: Array, u: Array) -> Array:
    def sorted_rows(matrix: Array) -> Array:
        return np.concatenate([matrix[i::3] for i in range(3)])

    return reference(x, h, sorted_rows(w), sorted_rows(u))


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return a word, a state, and matrices for both."""
    d_x, d = (int(n) for n in rng.integers(1, 6, size=2))
    return (
        rng.normal(size=d_x),
        rng.normal(size=d),
        rng.normal(size=(3 * d, d_x)),
        rng.normal(size=(3 * d, d)),
    )


def _column(*numbers: float) -> Array:
    return np.array(numbers, float)[:, None]


gru_step = Exercise(
    name="gru_step",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Write one step of a GRU without biases. x is the word, (d_x,), h the old state, (d,). The matrix "
        "w, (3 * d, d_x), multiplies the word, and u, (3 * d, d), the state. The first d rows "
        "of both are for the reset gate r, the next d for the update gate z, the last d for the candidate. "
        "Both gates are σ(w x + u h), each with its own rows. The candidate is tanh(w x + r ⊙ (u h)): the "
        "reset gate multiplies the product of u and the state. The update gate says how much of the old "
        "state stays: the new state is (1 - z) ⊙ candidate + z ⊙ h. Return it, (d,)."
    ),
    returns=("state",),
    reference=reference,
    cases=(
        Case(
            "width 1, u is 0",
            (np.array([1.0]), np.array([0.5]), _column(0, 1, 2), _column(0, 0, 0)),
        ),
        Case(
            "width 1, word and state",
            (np.array([1.0]), np.array([0.5]), _column(1, -1, 2), _column(-3, 4, 2)),
        ),
        Case(
            "a word of 1 number, a state of 2",
            (
                np.array([1.0]),
                np.array([0.5, -1.0]),
                _column(1, -1, 0, 2, -1, 1),
                np.array([[1, 0], [2, 1], [0, -1], [1, 1], [2, 0], [1, -2]], float),
            ),
        ),
        Case(
            "the update gate is all open",
            (np.array([1.0]), np.array([0.5]), _column(0, 40, 1), _column(0, 0, 1)),
        ),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the update gate turned round",
            _update_turned_round,
            "With z = 1 your state is all new. What does the page say that z keeps?",
        ),
        Misconception(
            "the reset gate on the state before the product",
            _reset_inside,
            "That is the form of the first paper. Where is r in the equation of the page: before the "
            "product with U, or after it?",
        ),
        Misconception(
            "reset and update gate exchanged",
            _gates_exchanged,
            "In which order do the matrices hold the three parts?",
        ),
        Misconception(
            "the reset gate left out",
            _no_reset,
            "You use two of three parts. Which gate decides how much of the state the candidate sees?",
        ),
        Misconception(
            "the reset gate on the word too",
            _reset_on_everything,
            "The reset gate softens what comes from the old state. Does the word come from there?",
        ),
        Misconception(
            "a sigmoid for the candidate",
            _sigmoid_candidate,
            "A candidate may be negative. A gate may not.",
        ),
        Misconception(
            "the old state kept whole",
            _nothing_forgotten,
            "The new state is a mixture. What do the two shares sum to?",
        ),
        Misconception(
            "tanh for the gates",
            _tanh_gates,
            "A gate says which share goes through, so it lies between 0 and 1. Where do yours lie?",
        ),
        Misconception(
            "the candidate alone",
            _candidate_alone,
            "The candidate is right. Which gate mixes it with the old state?",
        ),
        Misconception(
            "no tanh round the candidate",
            _no_tanh,
            "Your candidate can be of any size. Which curve keeps it between -1 and 1?",
        ),
        Misconception(
            "the candidate added to the old state, weighted by z",
            _added_to_all,
            "The new state is a mixture. What do the two shares sum to, and which of them is z?",
        ),
        Misconception(
            "every third row for each gate",
            _every_third_row,
            "The rows of one gate are together: the first d, the next d, the last d.",
        ),
        Misconception(
            "a plain recurrent network without gates",
            _plain,
            "That is the candidate of a network without gates. What do the first 2 d rows do?",
        ),
    ),
)
