"""Exercise: the six steps for one word."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.self_attention.numbers import Array, cat_eats_fish, matrices, softmax

Three = tuple[Array, Array, Array]


def _root(d_k: int, d_model: int) -> float:
    return float(np.sqrt(d_k))


def _steps(
    asks: Callable[[Array, int], Array] = lambda x, place: x[place],
    key_matrix: Callable[[Array, Array], Array] = lambda w_query, w_key: w_key,
    query_matrix: Callable[[Array, Array], Array] = lambda w_query, w_key: w_query,
    divisor: Callable[[int, int], float] = _root,
    weigh: Callable[[Array], Array] = softmax,
    add: Callable[[Array, Array], Array] = lambda weights, values: weights @ values,
) -> Any:
    """Return the six steps with one of them done in another way."""

    def six_steps(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
        query = asks(x, place) @ query_matrix(w_query, w_key)
        keys = x @ key_matrix(w_query, w_key)
        scores = keys @ query / divisor(len(query), x.shape[-1])
        weights = weigh(scores)
        return scores, weights, add(weights, x @ w_value)

    return six_steps


def reference(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    """Return scaled scores, weights and the new vector of one word."""
    result: Three = _steps()(x, place, w_query, w_key, w_value)
    return result


def _is_asked(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores = (x @ w_query) @ (x[place] @ w_key) / np.sqrt(w_key.shape[1])
    weights = softmax(scores)
    return scores, weights, weights @ (x @ w_value)


def _value_is_weight(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores, weights, _ = reference(x, place, w_query, w_key, w_value)
    return scores, weights, weights


def _not_projected(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores, weights, _ = reference(x, place, w_query, w_key, w_value)
    return scores, weights, weights @ x


def _keys_added(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores, weights, _ = reference(x, place, w_query, w_key, w_value)
    return scores, weights, weights @ (x @ w_key)


def _unscaled_shown(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores, weights, output = reference(x, place, w_query, w_key, w_value)
    return scores * np.sqrt(w_key.shape[1]), weights, output


def _without_itself(x: Array, place: int, w_query: Array, w_key: Array, w_value: Array) -> Three:
    scores = reference(x, place, w_query, w_key, w_value)[0]
    others = softmax(np.where(np.arange(len(x)) == place, -np.inf, scores))
    return scores, others, others @ (x @ w_value)


def _in_order(*places: int) -> Callable[..., Any]:
    """Return the right results in another order."""
    return lambda *given: tuple(reference(*given)[place] for place in places)


def _in_other_orders() -> tuple[Misconception, ...]:
    """Return the results in every wrong order."""
    return (
        Misconception(
            "results in the wrong order: from the last to the first",
            _in_order(2, 1, 0),
            "All three results are right. Read again in which order they are to come.",
        ),
        Misconception(
            "results in the wrong order: the output first, then scores and weights",
            _in_order(2, 0, 1),
            "All three results are right. Read again which of them is to come first.",
        ),
        Misconception(
            "results in the wrong order: weights, output, scores",
            _in_order(1, 2, 0),
            "All three results are right. Which of them is made first, and which one last?",
        ),
        Misconception(
            "results in the wrong order: the weights before the scores",
            _in_order(1, 0, 2),
            "All three results are right, and the last one is in its place. Which one do the steps make first?",
        ),
        Misconception(
            "results in the wrong order: the output before the weights",
            _in_order(0, 2, 1),
            "All three results are right, and the first one is in its place. Read again what comes second.",
        ),
    )


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return a sentence, at times of large numbers, the place of a word in it, and three matrices."""
    n, d_model, d_k, d_v = (int(size) for size in rng.integers(2, 6, size=4))
    place = int(rng.integers(0, n))
    size = rng.choice([1.0, 1.0, 1.0, 60.0])
    return rng.normal(size=(n, d_model)) * size, place, *matrices(rng, d_model, d_k, d_v)


def _of_the_cat(place: int) -> tuple[Any, ...]:
    x, *others = cat_eats_fish()
    return x, place, *others


six_steps = Exercise(
    name="six_steps",
    kind="implement",
    difficulty=1,
    minutes=15,
    statement=(
        "One word of a sentence asks. x has shape (n, d_model), a row for each word; `place` says which row "
        "asks, counted from 0; w_query and w_key have shape (d_model, d_k), w_value (d_model, d_v). Return "
        "three arrays: the scaled scores, shape (n,); the weights, shape (n,); the new vector of the word, "
        "shape (d_v,). The scaled score of a word is q · k / √d_k. Large scores must work as well."
    ),
    returns=("scaled_scores", "weights", "output"),
    reference=reference,
    cases=(
        Case("cat eats fish: eats asks", _of_the_cat(1)),
        Case("cat eats fish: cat asks", _of_the_cat(0)),
        *random_cases(draw, 6, "a random sentence"),
        Case(
            "a word with large numbers",
            (np.eye(3) * 60, 2, np.eye(3), np.eye(3), np.arange(6.0).reshape(3, 2)),
        ),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "always the first word asks",
            _steps(asks=lambda x, place: x[0]),
            "Choose another word, and your answer should change. Where do you use `place`?",
        ),
        Misconception(
            "one matrix for queries and keys",
            _steps(key_matrix=lambda w_query, w_key: w_query),
            "Your keys are made by the same matrix as your query. What a word offers isn't what "
            "it looks for.",
        ),
        Misconception(
            "the query made by the keys' matrix",
            _steps(query_matrix=lambda w_query, w_key: w_key),
            "Your query is made by the same matrix as your keys. What a word looks for isn't what it offers.",
        ),
        Misconception(
            "scale left out",
            _steps(divisor=lambda d_k, d_model: 1.0),
            "Step 3 is missing: what are the scores divided by?",
        ),
        Misconception(
            "scaled by d_k",
            _steps(divisor=lambda d_k, d_model: float(d_k)),
            "Your divisor is too large: something is missing around the width.",
        ),
        Misconception(
            "scaled by the width of the words",
            _steps(divisor=lambda d_k, d_model: float(np.sqrt(d_model))),
            "A score is a sum over the numbers of one query. How many are these, after the "
            "projection?",
        ),
        Misconception(
            "softmax that overflows",
            _steps(weigh=lambda scores: np.exp(scores) / np.exp(scores).sum()),
            "Small scores work. For large ones the exponential becomes infinite; chapter 01 has a "
            "cure.",
        ),
        Misconception(
            "scores divided by their sum, without the exponential",
            _steps(weigh=lambda scores: scores / scores.sum()),
            "A score may be 0 or negative, a weight may not. Which function comes in step 4?",
        ),
        Misconception(
            "weights not divided by their sum",
            _steps(weigh=lambda scores: np.exp(scores - scores.max())),
            "The weights are positive now. What makes them sum to 1?",
        ),
        Misconception(
            "the word is asked by all, instead of asking",
            _is_asked,
            "You compare every word's query with one key. Who asks here, and who is asked?",
        ),
        Misconception(
            "the place counted from 1",
            _steps(asks=lambda x, place: x[place - 1]),
            "Another word asks in your function. From which number does `place` count?",
        ),
        Misconception(
            "only the value of the best word",
            _steps(add=lambda weights, values: values[weights.argmax()]),
            "That is a choice, not an average. Which words get a share of the new vector?",
        ),
        Misconception(
            "weighted values not added",
            _steps(add=lambda weights, values: weights[:, None] * values),
            "You stopped after step 5. One word needs one new vector, not one for each word.",
        ),
        Misconception(
            "values added without weights",
            _steps(add=lambda weights, values: values.sum(0)),
            "Your result is the same whoever asks. Step 5 is missing.",
        ),
        Misconception(
            "the weight taken for the value",
            _value_is_weight,
            "A weight is one number for a pair of words, a value is a vector of one word. Which "
            "matrix makes values?",
        ),
        Misconception(
            "the words themselves averaged",
            _not_projected,
            "What is averaged is what a word passes on. Which matrix says that?",
        ),
        Misconception(
            "keys averaged instead of values",
            _keys_added,
            "The weights are right. What a word offers is only for finding it; what does it pass "
            "on?",
        ),
        Misconception(
            "unscaled scores returned",
            _unscaled_shown,
            "Weights and output are right. The first result should be the scores as softmax sees "
            "them.",
        ),
        Misconception(
            "the word that asks left out",
            _without_itself,
            "A word may also look at itself. How many weights are there for n words?",
        ),
        *_in_other_orders(),
    ),
)
