"""Exercise: the whole of multi-head attention."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.multi_head.attend import (
    Array,
    Split,
    attend,
    right_merge,
    right_scale,
    right_split,
)

Results = tuple[Array, Array]
Six = tuple[Array, Array, Array, Array, Array, Array]


def _variant(
    *,
    split: Split = right_split,
    merge: Callable[[Array], Array] = right_merge,
    scale: Callable[[Array], float] = right_scale,
    axis: int = -1,
    inverted: bool = False,
    masked: bool = True,
    projected: bool = True,
    swapped: bool = False,
    low: float | None = None,
    late: bool = False,
    first_mask: bool = False,
    shifted: bool = True,
    output_turned: bool = False,
    turned: bool = False,
    valued: bool = True,
) -> Any:
    """Return multi-head attention with the mistakes asked for."""

    def multi_head_attention(
        x: Array,
        memory: Array,
        w_query: Array,
        w_key: Array,
        w_value: Array,
        w_output: Array,
        n_heads: int,
        mask: Array | None,
    ) -> Results:
        if swapped:
            w_key, w_value = w_value, w_key
        if turned:
            w_query, w_key, w_value, w_output = w_query.T, w_key.T, w_value.T, w_output.T
        q, k, v = x @ w_query, memory @ w_key, memory @ w_value if valued else memory
        seen = None if mask is None or not masked else ~mask if inverted else mask
        if first_mask and seen is not None:
            seen = seen[:, :1]
        q, k, v = (split(part, n_heads) for part in (q, k, v))
        outputs, weights = attend(q, k, v, None if late else seen, scale, axis, low, shifted)
        if late and seen is not None:
            weights = weights * seen
            outputs = weights @ v
        rows = merge(outputs)
        w_output = w_output.T if output_turned else w_output
        return (rows @ w_output if projected else rows), weights

    return multi_head_attention


def reference(
    x: Array,
    memory: Array,
    w_query: Array,
    w_key: Array,
    w_value: Array,
    w_output: Array,
    n_heads: int,
    mask: Array | None,
) -> Results:
    """Return the output, (batch, q_len, d_model), and the weights, (batch, heads, q_len, k_len)."""
    result: Results = _variant()(x, memory, w_query, w_key, w_value, w_output, n_heads, mask)
    return result


def _with_x(x: Array, *others: Any) -> Results:
    output, weights = reference(x, *others)
    return x + output, weights


def _cut_alone(x: Array, n_heads: int) -> Array:
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def _every_nth_column(x: Array, n_heads: int) -> Array:
    return x.reshape(*x.shape[:2], -1, n_heads).transpose(0, 3, 1, 2)


def _merge_alone(heads: Array) -> Array:
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


def _input_split(
    x: Array,
    memory: Array,
    w_query: Array,
    w_key: Array,
    w_value: Array,
    w_output: Array,
    n_heads: int,
    mask: Array | None,
) -> Results:
    """Each head projects its own slice of the input only."""
    heads = []
    for source, w in ((x, w_query), (memory, w_key), (memory, w_value)):
        blocks = np.zeros_like(w)
        width = len(w) // n_heads
        for i in range(n_heads):
            own = slice(i * width, (i + 1) * width)
            blocks[own, own] = w[own, own]
        heads.append(right_split(source @ blocks, n_heads))
    outputs, weights = attend(heads[0], heads[1], heads[2], mask)
    return right_merge(outputs) @ w_output, weights


def _query_and_key_exchanged(
    x: Array,
    memory: Array,
    w_query: Array,
    w_key: Array,
    w_value: Array,
    w_output: Array,
    n_heads: int,
    mask: Array | None,
) -> Results:
    return reference(x, memory, w_key, w_query, w_value, w_output, n_heads, mask)


def _from_x_alone(
    x: Array,
    memory: Array,
    w_query: Array,
    w_key: Array,
    w_value: Array,
    w_output: Array,
    n_heads: int,
    mask: Array | None,
) -> Results:
    return reference(x, x, w_query, w_key, w_value, w_output, n_heads, mask)


def _numbers(
    rng: np.random.Generator, batch: int, q_len: int, k_len: int, n_heads: int, d_k: int
) -> Six:
    d_model = n_heads * d_k
    x, memory = rng.normal(size=(batch, q_len, d_model)), rng.normal(size=(batch, k_len, d_model))
    w = rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model) * 1.5
    return x, memory, w[0], w[1], w[2], w[3]


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return words, matrices, how many heads, and at times a mask; every query sees a key, and not all.

    At times each head has a mask of its own, and at times scores are huge.
    """
    batch, q_len, k_len, n_heads, d_k = (int(n) for n in rng.integers(1, 5, size=5))
    mask = None
    if k_len > 1 and rng.random() < 0.6:
        mask = rng.random((batch, 1, 1, k_len)) < 0.5
        mask[..., 0], mask[..., -1] = True, False
    x, *others = _numbers(rng, batch, q_len, k_len, n_heads, d_k)
    if mask is not None and rng.random() < 0.4:
        mask = np.repeat(mask, n_heads, axis=1)
        for row in mask.reshape(-1, k_len):
            rng.shuffle(row[1:])
    return x * rng.choice([1.0, 1.0, 1.0, 1e6]), *others, n_heads, mask


def _case(about: str, sizes: tuple[int, int, int, int, int], mask: Array | None = None) -> Case:
    return Case(about, (*_numbers(np.random.default_rng(3), *sizes), sizes[3], mask))


_PADDING = np.array([True, True, False]).reshape(1, 1, 1, 3)
_RAGGED = np.array([[True, False, False], [True, True, False]]).reshape(2, 1, 1, 3)
_OF_EACH_HEAD = np.stack([np.tri(3, dtype=bool), np.ones((3, 3), bool)])[None]
_NEIGHBOURS = (abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1)[None, None]
_ONE = np.ones((1, 1))
_HUGE = Case(
    "huge scores, one key hidden",
    (
        np.array([[[200.0], [-200.0]]]),
        np.array([[[-100.0], [-101.0], [0.0]]]),
        *(_ONE, _ONE, _ONE, _ONE),
        1,
        _PADDING,
    ),
)

multi_head_attention = Exercise(
    name="multi_head_attention",
    kind="implement",
    difficulty=3,
    minutes=30,
    statement=(
        "Write multi-head attention. Queries come from x, (batch, q_len, d_model), keys and values from "
        "memory, (batch, k_len, d_model). The four matrices have shape (d_model, d_model) and are on the "
        "right: x @ w_query. Each holds the matrices of all heads side by side. Each head divides its scores "
        "by √d_k, with d_k = d_model / n_heads. The mask is None, or boolean and broadcastable to (batch, "
        "heads, q_len, k_len); True = may attend; every query sees at least one key. Return the output, "
        "(batch, q_len, d_model), and the weights, (batch, heads, q_len, k_len). Huge scores must work as well."
    ),
    returns=("output", "weights"),
    reference=reference,
    cases=(
        _case("1 head, 1 query, 2 keys, width 1", (1, 1, 2, 1, 1)),
        _case("1 head, 1 query, 3 keys, the last one hidden", (1, 1, 3, 1, 1), _PADDING),
        _case("2 heads, 2 queries, 2 keys, width 1", (1, 2, 2, 2, 1)),
        _case("2 heads, 2 queries, 3 keys, width 2", (1, 2, 3, 2, 2)),
        _case("the same with a mask of padding", (1, 2, 3, 2, 2), _PADDING),
        _case("2 sentences, a mask for each", (2, 4, 3, 3, 2), _RAGGED),
        _case("4 words, each sees its neighbours only", (2, 4, 4, 2, 3), _NEIGHBOURS),
        _case("2 of everything", (2, 2, 2, 2, 2)),
        _case("a mask that hides nothing", (1, 2, 3, 2, 1), np.ones((1, 1, 1, 3), bool)),
        _case("a mask of its own for each head", (1, 3, 3, 2, 1), _OF_EACH_HEAD),
        _HUGE,
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "x added to the output",
            _with_x,
            "Nothing is added to the output of attention here. Which part of a layer does that?",
        ),
        Misconception(
            "cut into heads without a transpose",
            _variant(split=_cut_alone),
            "The shapes are right, but words and heads are mixed. Use the steps of the first exercise.",
        ),
        Misconception(
            "each head takes every n-th column",
            _variant(split=_every_nth_column),
            "The columns of a head are neighbours: the matrices of the heads are side by side.",
        ),
        Misconception(
            "heads joined without a transpose",
            _variant(merge=_merge_alone),
            "The weights are right. After attention, one row of yours holds several queries of the same "
            "head. Use the steps of the second exercise.",
        ),
        Misconception(
            "input split instead of projections",
            _input_split,
            "Each head must read all of the word. Project first, cut afterwards.",
        ),
        Misconception(
            "divided by the root of d_model",
            lambda *a: _variant(scale=lambda q: float(np.sqrt(q.shape[1] * q.shape[-1])))(*a),
            "A score belongs to one head. Over how many products does it sum?",
        ),
        Misconception(
            "scale left out",
            _variant(scale=lambda q: 1.0),
            "Chapter 01 divides the scores, so that softmax doesn't saturate. By what?",
        ),
        Misconception(
            "divided by d_k, not by its root",
            _variant(scale=lambda q: float(q.shape[-1])),
            "The width is right, but a score's typical size grows with its root.",
        ),
        Misconception(
            "output projection left out",
            _variant(projected=False),
            "The heads are side by side, but nothing mixes them yet. One matrix is still unused.",
        ),
        Misconception(
            "mask ignored",
            _variant(masked=False),
            "Without a mask you are right. Which step of attention does the mask change?",
        ),
        Misconception(
            "mask inverted",
            _variant(inverted=True),
            "In this course True means: may attend.",
        ),
        Misconception(
            "mask inverted: a row that sees everything becomes NaN",
            _variant(inverted=True, low=-np.inf),
            "You fill where the mask is True. In this course True means: may attend.",
        ),
        Misconception(
            "mask inverted: a row that sees everything gets equal shares",
            _variant(inverted=True, low=-1e9),
            "Your low number goes where the mask is True. In this course True means: may attend.",
        ),
        Misconception(
            "hidden scores set to 0",
            _variant(low=0.0),
            "The exponential of 0 is 1, so a hidden key gets a weight like any other. Which score gives "
            "the weight 0?",
        ),
        Misconception(
            "a fill that scores can fall below",
            _variant(low=-1e4),
            "In one case every score lies below the number that you fill in. Which key gets the weight then?",
        ),
        Misconception(
            "no shift before the exponential",
            _variant(shifted=False),
            "Small scores work. With huge ones the exponential becomes infinite, or 0: remember your softmax.",
        ),
        Misconception(
            "the mask of head 1 for all",
            _variant(first_mask=True),
            "The axis of the heads may have length 1 or n_heads. Which part of the mask belongs to this head?",
        ),
        Misconception(
            "weights set to 0 after the softmax",
            _variant(late=True),
            "Hidden weights are 0, but the others no longer sum to 1. At which step must hiding come?",
        ),
        Misconception(
            "output matrix transposed",
            _variant(output_turned=True),
            "The weights are right. The matrices are on the right, as they are: what do you do to the "
            "last one?",
        ),
        Misconception(
            "all four matrices transposed",
            _variant(turned=True),
            "With square matrices no error tells you. Which axis of a matrix meets the numbers of a word?",
        ),
        Misconception(
            "the matrices of queries, keys and values transposed",
            _variant(turned=True, output_turned=True),
            "The last matrix is right. With square matrices no error tells you: which axis of the others meets "
            "the numbers of a word?",
        ),
        Misconception(
            "values not projected",
            _variant(valued=False),
            "Your weights are right. Three matrices come before attention: which of them is unused?",
        ),
        Misconception(
            "divided by the root of the number of heads",
            _variant(scale=lambda q: float(np.sqrt(q.shape[1]))),
            "Heads work side by side and don't add to one another's scores. Over what does one score sum?",
        ),
        Misconception(
            "keys and values from x",
            _from_x_alone,
            "That is self-attention. Here keys and values come from another sequence.",
        ),
        Misconception(
            "matrices of queries and keys exchanged",
            _query_and_key_exchanged,
            "Which matrix makes the words that ask, and which one the words that are asked?",
        ),
        Misconception(
            "matrices of keys and values exchanged",
            _variant(swapped=True),
            "Which matrix makes what is compared, and which one what is passed on?",
        ),
        Misconception(
            "softmax over the queries",
            _variant(axis=-2),
            "Each query of each head has a weight of 1 to share out among the keys.",
        ),
        Misconception(
            "softmax over the heads",
            _variant(axis=1),
            "Heads don't compete with each other. Along which axis are the keys?",
        ),
        Misconception(
            "softmax over the queries, and a hidden column becomes NaN",
            _variant(axis=-2, low=-np.inf),
            "A key that is hidden from every query gives you 0/0: your weights sum to 1 down a column. Who "
            "shares out a weight of 1?",
        ),
        Misconception(
            "softmax over the queries, and a hidden column gets equal shares",
            _variant(axis=-2, low=-1e9),
            "Even a key that is hidden from every query has a weight of 1 to give away in your function. Who "
            "shares out a weight of 1?",
        ),
        Misconception(
            "softmax over the heads, and hidden keys become NaN",
            _variant(axis=1, low=-np.inf),
            "A key that is hidden from all heads gives you 0/0. Do the heads compete with each other, or do "
            "the keys?",
        ),
        Misconception(
            "softmax over the heads, and hidden keys get equal shares",
            _variant(axis=1, low=-1e9),
            "Each hidden key has a weight of 1 that your heads share. Do the heads compete with each other, "
            "or do the keys?",
        ),
    ),
)
