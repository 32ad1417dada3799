"""Exercise: one layer of the encoder."""

from typing import Any

import numpy as np

from transformer_course.checks.encoder_decoder.model import (
    Array,
    Weights,
    draw_layer,
    draw_mask,
    right_attention,
    right_encoder_layer,
    right_feed_forward,
    right_layer_norm,
    small_layer,
)
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(x: Array, mask: Array, weights: Weights, n_heads: int) -> Array:
    """Return (batch, src_len, d_model), post-norm as in the paper."""
    return right_encoder_layer(x, mask, weights, n_heads)


def _norms(weights: Weights, normalised: bool) -> Any:
    """Return the layer's two norms as functions of a tensor; or two that do nothing."""
    if not normalised:
        return [lambda y: y] * 2
    return [lambda y, n=norm: right_layer_norm(y, *n) for norm in weights["norms"]]


def _variant(
    *,
    first: bool = True,
    second: bool = True,
    masked: bool = True,
    inverted: bool = False,
    normalised: bool = True,
    norm_first: bool = False,
    norm_last: bool = False,
    one_norm: bool = False,
    same_norm: bool = False,
    swapped_norms: bool = False,
    reads_input: bool = False,
    adds_input: bool = False,
    turned: bool = False,
    one_head: bool = False,
) -> Any:
    """Return an encoder layer with the mistakes asked for."""

    def encoder_layer(x: Array, mask: Array, weights: Weights, n_heads: int) -> Array:
        norm_1, norm_2 = _norms(weights, normalised)
        if swapped_norms:
            norm_1, norm_2 = norm_2, norm_1
        norm_2 = norm_1 if same_norm else norm_2
        seen = mask if masked else np.ones_like(mask)
        seen = ~seen if inverted else seen

        def attend(y: Array) -> Array:
            return right_attention(
                y, y, weights["self_attention"], 1 if one_head else n_heads, seen
            )

        def think(y: Array) -> Array:
            return right_feed_forward(y, *weights["feed_forward"])

        if norm_first:
            x = x + attend(norm_1(x))
            return x + think(norm_2(x))
        if norm_last:
            x = x + norm_1(attend(x))
            return x + norm_2(think(x))
        if turned:
            x = norm_1(x + think(x))
            return norm_2(x + attend(x))
        y = attend(x) + (x if first else 0.0)
        y = y if one_norm else norm_1(y)
        own = x if adds_input else y
        return norm_2(think(x if reads_input else y) + (own if second else 0.0))

    return encoder_layer


def _numbers(
    rng: np.random.Generator, batch: int, length: int, n_heads: int, d_k: int
) -> tuple[Any, ...]:
    d_model = n_heads * d_k
    x = rng.normal(size=(batch, length, d_model)) * 1.5
    mask = draw_mask(rng, batch, length, length)
    return x, mask, draw_layer(rng, d_model, 2 * d_model), n_heads


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return tokens, a mask and a layer's weights, none smaller than the cases whose weights are shown."""
    while True:
        batch, length, n_heads, d_k = (int(n) for n in rng.integers(1, (3, 4, 4, 4)))
        case = _numbers(rng, batch, length + 1, n_heads, d_k + 2 * (n_heads == 1))
        if abs(reference(*case)).min() > 0.05:  # what is nearly 0 isn't exact in single precision
            return case


def _case(about: str, *sizes: int) -> Case:
    return Case(about, _numbers(np.random.default_rng(8), *sizes))


_X = np.array([[[1.0, 0.0, -2.0], [3.0, -1.0, 1.0]]])
_MASK = np.array([[[[True, True], [True, False]]]])


encoder_layer = Exercise(
    name="encoder_layer",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Put an encoder layer together, post-norm as in the paper: each of the two sub-layers gives norm(x + "
        "sub-layer(x)). x is (batch, src_len, d_model), the mask is boolean and broadcastable to (batch, "
        'heads, src_len, src_len), True = may attend. weights is a dictionary: weights["self_attention"] is a '
        'tuple, the four matrices w_query, w_key, w_value and w_output; weights["feed_forward"] is a tuple, '
        'w_1, b_1, w_2 and b_2; weights["norms"] is a list of two pairs (gain, bias). Return the layer\'s '
        "output, of the shape of x."
    ),
    returns=("output",),
    reference=reference,
    cases=(
        Case("1 token, 1 head, width 3", (_X[:, :1], _MASK[..., :1, :1], small_layer(), 1)),
        Case("2 tokens, 1 head, width 3", (_X, _MASK, small_layer(), 1)),
        _case("3 tokens, 2 heads of width 2", 1, 3, 2, 2),
        _case("2 sentences, 4 tokens, 2 heads of width 3", 2, 4, 2, 3),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no residual connections",
            _variant(first=False, second=False),
            "What a sub-layer makes is pinned onto the old token, never put in its place.",
        ),
        Misconception(
            "no residual connection round the attention",
            _variant(first=False),
            "One of the two sub-layers replaces the token instead of adding to it. Which one?",
        ),
        Misconception(
            "no residual connection round the feed-forward net",
            _variant(second=False),
            "Up to the feed-forward net you are right. What is its output added to?",
        ),
        Misconception(
            "pre-norm instead of post-norm",
            _variant(norm_first=True),
            "That is the pre-norm layer of the page, a good one too. Where is the norm in the paper's?",
        ),
        Misconception(
            "norm before the addition",
            _variant(norm_last=True),
            "What is normalised: what the sub-layer made, or the sum?",
        ),
        Misconception(
            "norms left out",
            _variant(normalised=False),
            "The sums are right. Every sum of the paper's layer goes through one more step.",
        ),
        Misconception(
            "only one norm, at the end",
            _variant(one_norm=True),
            "Each of the two sub-layers has a norm of its own.",
        ),
        Misconception(
            "the same norm twice",
            _variant(same_norm=True),
            'weights["norms"] holds two pairs. How many does yours use?',
        ),
        Misconception(
            "norms exchanged",
            _variant(swapped_norms=True),
            "In which order does the list hold the two pairs?",
        ),
        Misconception(
            "mask ignored",
            _variant(masked=False),
            "One argument of your function isn't used. Which sub-layer needs it?",
        ),
        Misconception(
            "mask inverted", _variant(inverted=True), "In this course True means: may attend."
        ),
        Misconception(
            "feed-forward net reads the layer's input",
            _variant(reads_input=True),
            "The two sub-layers work one after the other, not side by side. What does the second one read?",
        ),
        Misconception(
            "second residual connection from the layer's input",
            _variant(adds_input=True),
            "The second sum starts from what the first one gave.",
        ),
        Misconception(
            "one sum only, at the end, with the layer's input",
            _variant(first=False, adds_input=True),
            "What came in is added once, at the very end. How many sums has the paper's layer?",
        ),
        Misconception(
            "one head, whatever n_heads says",
            _variant(one_head=True),
            "With one head you are right. What must the attention be told if there are two?",
        ),
        Misconception(
            "feed-forward net first",
            _variant(turned=True),
            "Which of the two comes first: looking round, or thinking alone?",
        ),
    ),
)
