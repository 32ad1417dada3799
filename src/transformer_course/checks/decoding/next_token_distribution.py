"""Exercise: the distribution that sampling draws from."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Function = Callable[[Array, float, int, float], Array]


def softmax(logits: Array) -> Array:
    """Return probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def normalised(probs: Array) -> Array:
    """Return numbers that sum to 1 along the last axis."""
    return np.asarray(probs / probs.sum(axis=-1, keepdims=True))


def k_best(probs: Array, k: int) -> Array:
    """Return the k largest numbers of each row; 0 in the place of all others."""
    rank = (-probs).argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable")
    return np.where(rank < k, probs, 0.0)


def nucleus(
    probs: Array,
    p: float,
    *,
    one_less: bool = False,
    one_more: bool = False,
    none_left: bool = False,
) -> Array:
    """Return the smallest set of each row that reaches p; 0 in the place of all others."""
    order = (-probs).argsort(axis=-1, kind="stable")
    ranked = np.take_along_axis(probs, order, axis=-1)
    reached = ranked.cumsum(axis=-1)
    stays = reached - ranked < p - 1e-12
    if one_less or none_left:  # only what fits below p
        stays = reached <= p + 1e-9  # nothing of 1 is lost to rounding
        stays[..., 0] |= not none_left
    if one_more:
        stays = np.concatenate([stays[..., :1], stays[..., :-1]], axis=-1)
    kept = np.zeros_like(probs)
    np.put_along_axis(kept, order, np.where(stays, ranked, 0.0), axis=-1)
    return kept


def reference(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    """Return the probabilities, in the shape of the logits."""
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(nucleus(probs, top_p))


def _temperature_last(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    kept = reference(logits, 1.0, top_k, top_p)
    return softmax(np.where(kept > 0, logits / temperature, -np.inf))


def _multiplied(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return reference(logits, 1 / temperature, top_k, top_p)


def _probs_divided(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return reference(logits, 1.0, top_k, top_p)


def _not_normalised(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return nucleus(normalised(k_best(softmax(logits / temperature), top_k)), top_p)


def _not_normalised_between(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return normalised(nucleus(k_best(softmax(logits / temperature), top_k), top_p))


def _one_too_few(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(nucleus(probs, top_p, one_less=True))


def _perhaps_nothing(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(nucleus(probs, top_p, none_left=True))


def _zeros_between(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    kept = k_best(softmax(logits / temperature), top_k) > 0
    return normalised(nucleus(softmax(np.where(kept, logits / temperature, 0.0)), top_p))


def _one_hot(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]


def _above_p(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(np.where(probs >= top_p, probs, 0.0))


def _one_too_many(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(nucleus(probs, top_p, one_more=True))


def _threshold(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    most = probs.max(axis=-1, keepdims=True)
    return normalised(np.where((probs >= 1 - top_p) | (probs == most), probs, 0.0))


def _threshold_alone(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = normalised(k_best(softmax(logits / temperature), top_k))
    return normalised(np.where(probs >= 1 - top_p, probs, 0.0))


def _zeros_in_softmax(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    kept = reference(logits, temperature, top_k, top_p) > 0
    return softmax(np.where(kept, logits / temperature, 0.0))


def _first_k(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    probs = softmax(logits / temperature)
    probs = normalised(np.where(np.arange(probs.shape[-1]) < top_k, probs, 0.0))
    return normalised(nucleus(probs, top_p))


def _left_in_order(logits: Array, temperature: float, top_k: int, top_p: float) -> Array:
    return -np.sort(-reference(logits, temperature, top_k, top_p), axis=-1)


def draw(rng: np.random.Generator) -> tuple[Array, float, int, float]:
    """Return logits of a few positions, temperature, k and p."""
    n_words = int(rng.integers(3, 9))
    logits = rng.normal(size=(int(rng.integers(1, 4)), n_words)) * 1.5
    temperature = round(float(rng.choice([0.4, 0.7, 1.0, 1.6, 2.5])), 1)
    return (
        logits,
        temperature,
        int(rng.integers(1, n_words + 1)),
        round(float(rng.uniform(0.1, 1)), 2),
    )


_FOUR = np.log(np.array([[0.1, 0.5, 0.15, 0.25]]))
_TEN = np.log(np.array([[0.02, 0.3, 0.04, 0.2, 0.16, 0.03, 0.12, 0.06, 0.05, 0.02]]))

next_token_distribution = Exercise(
    name="next_token_distribution",
    kind="implement",
    difficulty=3,
    minutes=25,
    statement=(
        "Write what sampling draws from. logits is (..., vocab_size). Divide by temperature, then softmax; "
        "keep the top_k most probable tokens and let them sum to 1 again; of these keep the smallest set of "
        "most probable tokens whose probabilities sum to at least top_p, and let them sum to 1 again. Return "
        "probabilities in the shape and order of the logits, 0 for what was cut. top_k is at most vocab_size; "
        "a top_p of 1 cuts nothing."
    ),
    returns=("probabilities",),
    reference=reference,
    cases=(
        Case("one position, the two best", (_FOUR, 1.0, 2, 1.0)),
        Case("one position, nothing cut", (_FOUR, 1.0, 4, 1.0)),
        Case("temperature 0.5", (_FOUR, 0.5, 4, 1.0)),
        Case("temperature 2", (_FOUR, 2.0, 4, 1.0)),
        Case("nucleus of 0.7", (_FOUR, 1.0, 4, 0.7)),
        Case("nucleus of 0.4, smaller than the first probability", (_FOUR, 1.0, 4, 0.4)),
        Case("three best, then a nucleus of 0.8", (_FOUR, 1.0, 3, 0.8)),
        Case("ten tokens, all three settings", (_TEN, 1.5, 5, 0.65)),
        Case("ten tokens, flat and cut", (_TEN, 2.0, 10, 0.55)),
        Case("huge logits", (1000 + _FOUR, 1.0, 4, 0.7)),
        Case("cold", (_FOUR, 0.01, 4, 1.0)),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the temperature after the cuts",
            _temperature_last,
            "The order matters: a flat distribution has a larger nucleus. What comes first?",
        ),
        Misconception(
            "multiplied by the temperature",
            _multiplied,
            "A temperature below 1 should make the most probable token more probable. Does yours?",
        ),
        Misconception(
            "the temperature changes nothing",
            _probs_divided,
            "With temperature 1 all is right. Do you use it? To subtract it from all logits, or to divide "
            "probabilities that are then made to sum to 1, changes nothing.",
        ),
        Misconception(
            "not normalised at the end",
            _not_normalised,
            "Add up your probabilities. What do draws need them to sum to?",
        ),
        Misconception(
            "not normalised between the two cuts",
            _not_normalised_between,
            "top_p is a share of what top_k left. What do these tokens sum to when you compare with top_p?",
        ),
        Misconception(
            "the token that reaches top_p left out",
            _one_too_few,
            "The set must sum to at least top_p. Does yours?",
        ),
        Misconception(
            "the token that reaches top_p left out, even if nothing is left",
            _perhaps_nothing,
            "When the first token alone is above top_p, you keep nothing, and get 0/0. The set must sum to at "
            "least top_p: does yours?",
        ),
        Misconception(
            "greedy decoding: the best token alone",
            _one_hot,
            "All on one token: then there is nothing to draw. What do the three settings leave?",
        ),
        Misconception(
            "only tokens that reach top_p by themselves",
            _above_p,
            "At times no single token reaches top_p, and you get 0/0. Which sum is compared with it?",
        ),
        Misconception(
            "logits that top_k cuts set to 0",
            _zeros_between,
            "Softmax of a logit 0 isn't 0. What should be left of a token that top_k cuts?",
        ),
        Misconception(
            "one token too many in the nucleus",
            _one_too_many,
            "The smallest set that reaches top_p. Can you leave out the last one of yours?",
        ),
        Misconception(
            "1 - top_p as a threshold for single tokens, even if nothing is left",
            _threshold_alone,
            "You keep a token if its own probability is at least 1 - top_p. At times there is none, and you "
            "get 0/0. Which sum does the task compare, and with what?",
        ),
        Misconception(
            "1 - top_p as a threshold for single tokens",
            _threshold,
            "You keep a token if its own probability is at least 1 - top_p. Which sum does the task compare, "
            "and with what?",
        ),
        Misconception(
            "logits of cut tokens set to 0",
            _zeros_in_softmax,
            "Softmax of a logit 0 isn't 0. Which logit becomes the probability 0?",
        ),
        Misconception(
            "top_p ignored",
            lambda logits, temperature, top_k, top_p: reference(logits, temperature, top_k, 1.0),
            "With a top_p of 1 all is right. Where do you use it?",
        ),
        Misconception(
            "top_k ignored",
            lambda logits, temperature, top_k, top_p: reference(
                logits, temperature, logits.shape[-1], top_p
            ),
            "When top_k is the whole vocabulary, all is right. Where do you use it?",
        ),
        Misconception(
            "the first k tokens instead of the best",
            _first_k,
            "Tokens are in the order of the vocabulary. Which k should stay?",
        ),
        Misconception(
            "left in the order of probability",
            _left_in_order,
            "The numbers are right, but each must be at the place of its token.",
        ),
    ),
)
