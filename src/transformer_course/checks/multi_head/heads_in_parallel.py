"""Exercise: three mistakes in a loop over heads."""

from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi_head.attend import Array, attend


def _variant(
    *, sliced: bool = False, half: bool = False, wide: bool = False, stacked: bool = False
) -> Any:
    """Return the function of the exercise with the mistakes asked for; half: only values from the slice."""

    def heads_in_parallel(
        x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array
    ) -> Array:
        n_heads, d_model, d_k = w_query.shape
        outputs = []
        for i in range(n_heads):
            seen = np.zeros_like(x) if sliced or half else x
            if sliced or half:
                own = slice(i * d_k, (i + 1) * d_k)
                seen[:, own] = x[:, own]
            compared = x if half else seen
            q, k, v = compared @ w_query[i], compared @ w_key[i], seen @ w_value[i]
            q = q * np.sqrt(d_k / d_model) if wide else q
            output, _ = attend(q, k, v)
            outputs.append(output)
        if stacked:
            return np.stack(outputs).reshape(len(x), -1) @ w_output
        return np.concatenate(outputs, -1) @ w_output

    return heads_in_parallel


def reference(x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array) -> Array:
    """Return the output of multi-head self-attention, (length, d_model)."""
    result: Array = _variant()(x, w_query, w_key, w_value, w_output)
    return result


def _one_after_the_other(
    x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array
) -> Array:
    """Each head reads what the one before it has written, as layers do."""
    outputs = []
    width = w_value.shape[2]
    for i in range(len(w_query)):
        output, _ = attend(x @ w_query[i], x @ w_key[i], x @ w_value[i])
        outputs.append(output)
        x = x.copy()
        x[:, i * width : (i + 1) * width] = output
    return np.concatenate(outputs, -1) @ w_output


def _mean_of_heads(
    x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array
) -> Array:
    heads = [
        attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_query, w_key, w_value, strict=True)
    ]
    return np.concatenate([np.mean(heads, axis=0)] * len(heads), -1) @ w_output


def _scale_out(x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array) -> Array:
    return reference(x, w_query * np.sqrt(w_query.shape[2]), w_key, w_value, w_output)


def _mixed(x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array) -> Array:
    heads = [
        attend(x @ q, x @ k, x @ v)[0] for q, k, v in zip(w_query, w_key, w_value, strict=True)
    ]
    return np.stack(heads, -1).reshape(len(x), -1) @ w_output


def _without_w_output(
    x: Array, w_query: Array, w_key: Array, w_value: Array, w_output: Array
) -> Array:
    return reference(x, w_query, w_key, w_value, np.eye(len(w_output)))


def _numbers(rng: np.random.Generator, length: int, n_heads: int, d_k: int) -> tuple[Array, ...]:
    d_model = n_heads * d_k
    w = rng.normal(size=(3, n_heads, d_model, d_k)) * 1.5 / np.sqrt(d_model)
    x, w_output = rng.normal(size=(length, d_model)), rng.normal(size=(d_model, d_model))
    return x, w[0], w[1], w[2], w_output


def draw(rng: np.random.Generator) -> tuple[Array, ...]:
    """Return words and the matrices of several heads."""
    return _numbers(rng, *(int(n) for n in rng.integers(1, 6, size=3)))


def _case(about: str, *sizes: int) -> Case:
    return Case(about, _numbers(np.random.default_rng(7), *sizes))


_SLICED = "Compare with the common mistakes of the page: does a head read the whole word?"
_HALF = "Queries and keys are made from the whole word now. What are the values made from?"
_WIDE = "A score of one head is a sum over the width of one head."
_STACKED = (
    "With three words and two heads, write down which numbers are in the first row before the product "
    "with w_output. Do they all belong to the first word?"
)

heads_in_parallel = Exercise(
    name="heads_in_parallel",
    kind="spot the bug",
    difficulty=2,
    minutes=20,
    statement=(
        "The function below computes multi-head self-attention with a loop over heads: x is (length, "
        "d_model), w_query, w_key and w_value are (heads, d_model, d_k), w_output is (d_model, d_model). It "
        "runs, and it holds three mistakes. Write it without them. Return the output, (length, d_model)."
    ),
    returns=("output",),
    reference=reference,
    cases=(
        _case("1 word, 2 heads, width 1", 1, 2, 1),
        _case("2 words, 1 head, width 2", 2, 1, 2),
        _case("2 words, 2 heads, width 1", 2, 2, 1),
        _case("3 words, 2 heads, width 2", 3, 2, 2),
        _case("5 words, 3 heads, width 2", 5, 3, 2),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "all three mistakes still there",
            _variant(sliced=True, wide=True, stacked=True),
            "These are the results of the function as given. Take two words and two heads, and write the "
            "shape beside each line.",
        ),
        Misconception("each head sees only a slice of the input", _variant(sliced=True), _SLICED),
        Misconception("scaled by the width of all heads", _variant(wide=True), _WIDE),
        Misconception("heads joined in the wrong order", _variant(stacked=True), _STACKED),
        Misconception(
            "one mistake found: the scale and the joining are still wrong",
            _variant(wide=True, stacked=True),
            "What a head reads is right now. Look at what the scores are divided by, and at how the heads "
            "are joined.",
        ),
        Misconception(
            "one mistake found: the slice and the joining are still wrong",
            _variant(sliced=True, stacked=True),
            "The scale is right now. Look at what a head reads, and at how the heads are joined.",
        ),
        Misconception(
            "one mistake found: the slice and the scale are still wrong",
            _variant(sliced=True, wide=True),
            "The heads are joined well now. Look at what a head reads, and at the scale.",
        ),
        Misconception(
            "the values from a slice of the input",
            _variant(half=True),
            _HALF,
        ),
        Misconception(
            "the values from a slice of the input; the joining is still wrong",
            _variant(half=True, stacked=True),
            f"{_HALF} Then look at how the heads are joined.",
        ),
        Misconception(
            "the values from a slice of the input; the scale is still wrong",
            _variant(half=True, wide=True),
            f"{_HALF} Then look at the scale.",
        ),
        Misconception(
            "the values from a slice of the input; scale and joining are still wrong",
            _variant(half=True, wide=True, stacked=True),
            f"{_HALF} Then look at the scale, and at how the heads are joined.",
        ),
        Misconception(
            "heads one after the other",
            _one_after_the_other,
            "Heads work side by side: each reads the same x. What you have are layers.",
        ),
        Misconception(
            "heads averaged",
            _mean_of_heads,
            "Each head keeps its own place in the long row.",
        ),
        Misconception(
            "scale left out",
            _scale_out,
            "The scale was wrong, but none at all is wrong too.",
        ),
        Misconception(
            "the numbers of the heads mixed one by one",
            _mixed,
            "Print one of your long rows: is the whole of head 1 followed by the whole of head 2?",
        ),
        Misconception(
            "output projection left out",
            _without_w_output,
            "The heads are side by side, but nothing mixes them yet.",
        ),
    ),
)
