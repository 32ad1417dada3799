"""Exercise: which tokens mask-predict guesses again (Ghazvininejad et al. 2019)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Mask = Callable[[Array, Array, int, int], Array]
Count = Callable[[Array, int, int], Array]


def _fewer_and_fewer(lengths: Array, t: int, passes: int) -> Array:
    return lengths * (passes - t) // passes


def _floor_of_single_precision(lengths: Array, t: int, passes: int) -> Array:
    left = np.float32(1) - np.float32(t / passes)
    return np.asarray(np.floor(lengths.astype(np.float32) * left))


def _masked(count: Count = _fewer_and_fewer, *, sign: int = 1, padding: float = np.inf) -> Mask:
    """Return a rule.

    Args:
        count: (lengths, t, passes) → how many gaps each sentence gets.
        sign: 1 for the least probable tokens, −1 for the most probable ones.
        padding: what padding is ranked by; infinity for never.
    """

    def mask_again(log_probs: Array, lengths: Array, t: int, passes: int) -> Array:
        real = np.arange(log_probs.shape[1]) < lengths[:, None]
        ranked = np.where(real, sign * log_probs, padding).argsort(1, kind="stable").argsort(1)
        return np.asarray(ranked < np.asarray(count(lengths, t, passes))[:, None])

    return mask_again


def reference(log_probs: Array, lengths: Array, t: int, passes: int) -> Array:
    """Return the gaps, (batch, tgt_len)."""
    return _masked()(log_probs, lengths, t, passes)


def _of_the_batch(log_probs: Array, lengths: Array, t: int, passes: int) -> Array:
    real = np.arange(log_probs.shape[1]) < lengths[:, None]
    ranked = np.where(real, log_probs, np.inf).ravel().argsort(kind="stable").argsort()
    count = _fewer_and_fewer(lengths, t, passes).sum()
    return np.asarray(ranked.reshape(log_probs.shape) < count)


def _first_places(log_probs: Array, lengths: Array, t: int, passes: int) -> Array:
    places = np.broadcast_to(np.arange(log_probs.shape[1]), log_probs.shape)
    return np.asarray(places < _fewer_and_fewer(lengths, t, passes)[:, None])


def _zero_as_padding(*, counted: bool) -> Mask:
    """Return the rule for who takes each 0 for padding; `counted` says whether N is counted so, too."""

    def mask_again(log_probs: Array, lengths: Array, t: int, passes: int) -> Array:
        real = log_probs != 0
        ranks = np.where(real, log_probs, np.inf).argsort(1, kind="stable").argsort(1)
        count = _fewer_and_fewer(real.sum(axis=1) if counted else lengths, t, passes)
        return np.asarray((ranks < count[:, None]) & real)

    return mask_again


def _padded(log_probs: Array, lengths: Array) -> Array:
    """Log-probabilities with 0 behind the end of each sentence."""
    return np.where(np.arange(log_probs.shape[1]) < lengths[:, None], log_probs, 0.0)


def draw(rng: np.random.Generator) -> tuple[Array, Array, int, int]:
    """Return log-probabilities without ties, lengths, the number of a pass and of all passes.

    One token is quite sure. At times it is pass 0, and 15 / passes * passes isn't 15 for a computer.
    """
    batch, longest, passes = (int(n) for n in rng.integers((2, 6, 3), (5, 12, 8)))
    t = int(rng.integers(1, passes))
    if rng.random() < 0.1:
        longest, passes, t = 15, int(rng.choice([11, 13])), 0
    lengths = rng.integers(3, longest + 1, size=batch)
    lengths[0], lengths[1] = longest, longest - 3
    log_probs = 0.0 - rng.permutation(batch * longest).reshape(batch, longest) / 10
    return _padded(log_probs, lengths), lengths, t, passes


def _case(about: str, log_probs: list[list[float]], lengths: list[int], *times: int) -> Case:
    rows = np.array(lengths)
    return Case(about, (_padded(np.array(log_probs), rows), rows, *times))


LONG_ROW = [-place / 10 for place in (7, 2, 14, 9, 1, 12, 5, 15, 3, 10, 8, 4, 13, 6, 11)]
ROW = [-0.3, -2.0, -0.1, -1.0, -0.6]
CASES = (
    _case("four tokens, pass 1 of 2", [ROW[:4]], [4], 1, 2),
    _case("before the first pass", [ROW[:3]], [3], 0, 4),
    _case("five tokens, pass 1 of 2", [ROW], [5], 1, 2),
    _case("five tokens, pass 3 of 4", [ROW], [5], 3, 4),
    _case("five tokens, pass 4 of 5: a quotient is not always exact", [ROW], [5], 4, 5),
    _case("three tokens, pass 2 of 3", [ROW[:3]], [3], 2, 3),
    _case("three tokens, the last of four passes", [ROW[:3]], [3], 3, 4),
    _case("two sentences, one of them shorter", [ROW, [-1.5, -0.2, 0, 0, 0]], [5, 2], 1, 3),
    _case("a token that is quite sure", [[0.0, -1.0, -2.0]], [3], 0, 2),
    _case(
        "a token that is quite sure, beside padding",
        [[0.0, -1.0, -2.0, 0.0], [-0.4, -1.0, -2.0, -3.0]],
        [3, 4],
        0,
        2,
    ),
    _case("15 tokens, pass 0 of 11: a quotient is not always exact", [LONG_ROW], [15], 0, 11),
    _case("a short sentence", [[-1.5, -0.2, -0.9, 0, 0], ROW], [3, 5], 1, 4),
)
_mistake = with_tables(reference, CASES, ("gaps",))

mask_again = Exercise(
    name="mask_again",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Choose the tokens that mask-predict guesses again. log_probs, (batch, tgt_len), has the "
        "log-probability of each token of a batch of translations; lengths, (batch,), says how many tokens "
        "each has. What comes after the end of a sentence is padding, with the number 0: it is never "
        "chosen. A token that is quite sure may have a 0, too. The passes are t = 0, 1, …, passes − 1. "
        "Before pass t, the least probable tokens of each sentence of N tokens become gaps: N · (passes − t) "
        "/ passes of them, rounded down. Return True and False (dtype bool), (batch, tgt_len): True = becomes "
        "a gap. No two tokens of a sentence are equally probable.\n\n"
        "An example: one sentence with the log-probabilities −0.3, −2, −0.1, −1, and t = 1 of 2 passes. 4 · 1 "
        "/ 2 = 2 tokens become gaps: the second and the fourth one, so F T F T."
    ),
    returns=("gaps",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "longer sentences")),
    draw=draw,
    misconceptions=(
        _mistake(
            "rounded up",
            _masked(lambda lengths, t, passes: -(-lengths * (passes - t) // passes)),
            "Count the gaps of your sentence. What becomes of a number that isn't whole?",
        ),
        _mistake(
            "rounded to the nearest whole number",
            _masked(lambda lengths, t, passes: np.round(lengths * (passes - t) / passes)),
            "A number such as 0.75 is rounded up in your function. What does the task say?",
        ),
        _mistake(
            "rounded down a quotient that isn't exact",
            _masked(lambda lengths, t, passes: np.floor(lengths * (1 - t / passes))),
            "On paper the number is 5 · (5 − 4) / 5. A computer's fractions aren't exact: yours comes out a "
            "little smaller, and is rounded down. Can you count without fractions?",
        ),
        _mistake(
            "rounded down a quotient that isn't exact, in single precision",
            _masked(_floor_of_single_precision),
            "On paper the number is 5 · (5 − 4) / 5. A computer's fractions aren't exact, in single precision "
            "even less so: yours comes out a little smaller, and is rounded down. Can you count without "
            "fractions?",
        ),
        _mistake(
            "rounded down a quotient that isn't exact, in pass 0",
            _masked(lambda lengths, t, passes: np.floor(lengths / passes * (passes - t))),
            "On paper, 15 / 11 · 11 is 15. A computer's fractions aren't exact: yours comes out a little "
            "smaller, and is rounded down. Can you count without fractions?",
        ),
        _mistake(
            "at least one gap",
            _masked(lambda lengths, t, passes: np.maximum(_fewer_and_fewer(lengths, t, passes), 1)),
            "The number may be 0: then nothing is guessed again.",
        ),
        _mistake(
            "the most probable tokens",
            _masked(sign=-1),
            "You guess again what the model is surest of. What should be guessed again?",
        ),
        _mistake(
            "more and more gaps",
            _masked(lambda lengths, t, passes: lengths * t // passes),
            "Before the first pass nothing is known. Does the number of gaps grow or fall?",
        ),
        _mistake(
            "passes counted from 1",
            _masked(lambda lengths, t, passes: lengths * (passes - t - 1) // passes),
            "How many gaps are there before pass 0, and how many in your function?",
        ),
        _mistake(
            "one pass too late",
            _masked(
                lambda lengths, t, passes: np.minimum(lengths * (passes - t + 1) // passes, lengths)
            ),
            "Your numbers belong to the pass before. Put t = 1 and passes = 2 into the formula.",
        ),
        _mistake(
            "the tokens that are kept",
            lambda *given: ~reference(*given) & (np.arange(given[0].shape[1]) < given[1][:, None]),
            "Every answer about a token is the opposite of what is asked for. What does True mean here?",
        ),
        _mistake(
            "padding counted as tokens",
            lambda log_probs, lengths, t, passes: reference(
                log_probs, np.full(len(lengths), log_probs.shape[1]), t, passes
            ),
            "How long is the short sentence? Its padding has no words to guess.",
        ),
        _mistake(
            "padding may become a gap",
            _masked(padding=-np.inf),
            "You have gaps where no token is. How do you keep padding out of the ranking?",
        ),
        _mistake(
            "a sure token taken for padding",
            _zero_as_padding(counted=False),
            "A token of probability 1 has the number 0, too. Which argument says where a sentence ends?",
        ),
        _mistake(
            "a sure token taken for padding, and not counted",
            _zero_as_padding(counted=True),
            "A token of probability 1 has the number 0, too. Which argument says how many tokens there are?",
        ),
        _mistake(
            "the same number for all sentences",
            _masked(
                lambda lengths, t, passes: np.minimum(
                    np.full(len(lengths), lengths.max() * (passes - t) // passes), lengths
                )
            ),
            "The longest sentence decides for all in your function. Which N has each one?",
        ),
        _mistake(
            "the same number in each pass",
            _masked(lambda lengths, t, passes: lengths // passes),
            "Where do you use t?",
        ),
        _mistake(
            "the least probable tokens of the whole batch",
            _of_the_batch,
            "Your sentences compete with each other. Each one has its own gaps.",
        ),
        _mistake(
            "the first places",
            _first_places,
            "The number of gaps is right. Which tokens are the least probable ones?",
        ),
    ),
)
