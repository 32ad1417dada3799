"""Exercise: three mistakes in a decoder layer."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from transformer_course.checks.encoder_decoder.model import (
    Array,
    Weights,
    draw_layer,
    draw_mask,
    draw_padding,
    right_attention,
    right_decoder_layer,
    right_feed_forward,
    right_layer_norm,
    small_layer,
)
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(
    x: Array, memory: Array, src_mask: Array, tgt_mask: Array, weights: Weights, n_heads: int
) -> Array:
    """Return (batch, tgt_len, d_model), post-norm as in the paper."""
    return right_decoder_layer(x, memory, src_mask, tgt_mask, weights, n_heads)


def _variant(
    *,
    early: bool = False,
    deaf: bool = False,
    replaced: bool = False,
    half: bool = False,
    inward: bool = False,
    stale: bool = False,
    crossed_masks: bool = False,
    crossed_norms: bool = False,
    pre: bool = False,
    two: bool = False,
    seen: bool = True,
    looking: bool = True,
    turned: bool = False,
    shared: bool = False,
    looked_added: bool = True,
    input_second: bool = False,
    input_last: bool = False,
) -> Any:
    """Return a decoder layer with the mistakes asked for; the first three are those of the exercise.

    Args:
        early: the first norm before its addition.
        deaf: the second attention reads the target, not the memory.
        replaced: no residual connection round the feed-forward net.
        half: the memory read through the target's mask.
        inward: the target read through the source's mask in the second attention.
        stale: the last sum with the token from before the cross-attention.
        crossed_masks: each attention with the mask of the other.
        crossed_norms: the second and the third norm exchanged.
        pre: each norm before its sub-layer.
        two: no cross-attention at all.
        seen: whether the source's mask is used.
        looking: whether the target's mask is used.
        turned: cross-attention before self-attention.
        shared: both attentions with the matrices of the first.
        looked_added: whether there is a residual connection round the cross-attention.
        input_second: the second sum with the layer's input.
        input_last: the last sum with the layer's input.
    """

    def decoder_layer(
        x: Array, memory: Array, src_mask: Array, tgt_mask: Array, weights: Weights, n_heads: int
    ) -> Array:
        first, second, third = weights["norms"]
        if crossed_norms:
            second, third = third, second
        own = weights["self_attention"]
        cross = own if shared else weights["cross_attention"]
        src_mask = src_mask if seen else np.ones_like(src_mask)
        tgt_mask = tgt_mask if looking else np.ones_like(tgt_mask)
        if crossed_masks:
            src_mask, tgt_mask = tgt_mask, src_mask

        def attend(y: Array) -> Array:
            return right_attention(y, y, own, n_heads, tgt_mask)

        def look(y: Array) -> Array:
            read = y if deaf or inward else memory
            return right_attention(y, read, cross, n_heads, tgt_mask if deaf or half else src_mask)

        attend, look = (look, attend) if turned else (attend, look)
        if pre:
            x = x + attend(right_layer_norm(x, *first))
            x = x + look(right_layer_norm(x, *second))
            thought = right_feed_forward(right_layer_norm(x, *third), *weights["feed_forward"])
            return x + thought
        came_in, attended = x, attend(x)
        summed = x + attended
        x = x + right_layer_norm(attended, *first) if early else right_layer_norm(summed, *first)
        before = x
        if not two:
            own_token = (came_in if input_second else x) if looked_added else 0.0
            x = right_layer_norm(own_token + look(x), *second)
        thought = right_feed_forward(x, *weights["feed_forward"])
        kept = 0.0 if replaced else before if stale else came_in if input_last else x
        return right_layer_norm(kept + thought, *third)

    return decoder_layer


def _numbers(
    rng: np.random.Generator, batch: int, tgt_len: int, src_len: int, n_heads: int, d_k: int
) -> tuple[Any, ...]:
    d_model = n_heads * d_k
    x = rng.normal(size=(batch, tgt_len, d_model)) * 1.5
    memory = rng.normal(size=(batch, src_len, d_model)) * 1.5
    masks = draw_padding(rng, batch, src_len), draw_mask(rng, batch, tgt_len, tgt_len)
    return x, memory, *masks, draw_layer(rng, d_model, 2 * d_model, decoder=True), n_heads


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return target tokens, a memory, both masks and weights, none smaller than the cases that are shown."""
    while True:
        batch, tgt_len, src_len, n_heads, d_k = (int(n) for n in rng.integers(1, (3, 4, 4, 4, 4)))
        case = _numbers(rng, batch, tgt_len + 1, src_len + 2, n_heads, d_k + 2 * (n_heads == 1))
        if abs(reference(*case)).min() > 0.05:  # what is nearly 0 isn't exact in single precision
            return case


def _case(about: str, *sizes: int) -> Case:
    return Case(about, _numbers(np.random.default_rng(9), *sizes))


def _small(about: str, tgt_len: int, src_len: int) -> Case:
    """Return a case of width 3 in whole numbers, the last source token padded."""
    x, memory = (
        np.array([[[1.0, 0, -2], [3, -1, 1]]]),
        np.array([[[2.0, 1, 0], [-1, 1, 1], [0, 4, 3]]]),
    )
    src_mask = np.arange(src_len)[None, None, None] < src_len - 1
    tgt_mask = np.tri(tgt_len, dtype=bool)[None, None]
    layer = small_layer(decoder=True)
    return Case(about, (x[:, :tgt_len], memory[:, :src_len], src_mask, tgt_mask, layer, 1))


_EARLY = "In the paper's layer, is the sub-layer's output normalised, or the sum?"
_DEAF = (
    "A widespread note says that a decoder layer has the same two sub-layers as an encoder layer. Where does "
    "your layer read what the encoder found?"
)
_REPLACED = "Two of the sums are there. Count the sub-layers."

_HALVES = {
    "half": (
        "the memory read through the target's mask",
        "Your cross-attention reads the memory. Whose words does the mask speak of that you give it?",
    ),
    "inward": (
        "the source's mask, but the memory isn't read",
        "The mask speaks of the words of the source. Whose words does your second attention read?",
    ),
    "stale": (
        "the last sum from before the cross-attention",
        "The last sum leaves out what the cross-attention gave. What is the net's output added to?",
    ),
}  # mistakes half mended: name, hint
_BESIDE = {
    "early": ("a norm too early", "the first sub-layer"),
    "deaf": ("the memory unread", "the second attention"),
    "replaced": ("a sum missing", "the last sub-layer"),
    "stale": ("an old token in the last sum", "the last sum"),
}  # what may be wrong beside them: name, where to look


def _half_mended() -> Iterator[Misconception]:
    """Go through mistakes that were half mended, each with those that may still be there."""
    in_the_middle = (
        (),
        ("early",),
        ("replaced",),
        ("early", "replaced"),
        ("stale",),
        ("early", "stale"),
    )
    at_the_end = ((), ("early",), ("deaf",), ("early", "deaf"))
    for half, beside in (
        *product(("half", "inward"), in_the_middle),
        *product(("stale",), at_the_end),
    ):
        name, hint = _HALVES[half]
        if beside:
            names, places = zip(*(_BESIDE[other] for other in beside), strict=True)
            name += f"; also {' and '.join(names)}"
            hint += f" Then look at {' and '.join(places)}."
        yield Misconception(name, _variant(**dict.fromkeys((half, *beside), True)), hint)


decoder_layer = Exercise(
    name="decoder_layer",
    kind="spot the bug",
    difficulty=3,
    minutes=25,
    statement=(
        "The function below should be a decoder layer, post-norm as in the paper. x is (batch, tgt_len, "
        "d_model), memory is (batch, src_len, d_model); the masks are boolean, True = may attend; "
        "weights has the entries of an encoder layer, and also the four matrices in "
        'weights["cross_attention"], '
        "and three norms, in the order of the sub-layers. It runs, and it holds three mistakes. Write it "
        "without them. Return the layer's output, of the shape of x."
    ),
    returns=("output",),
    reference=reference,
    cases=(
        _small("1 target token, 2 source tokens, 1 head of width 3", 1, 2),
        _small("2 target tokens, 3 source tokens, 1 head of width 3", 2, 3),
        _case("3 target tokens, 3 source tokens, 2 heads of width 2", 1, 3, 3, 2, 2),
        _case("2 sentences, 4 target tokens, 3 source tokens", 2, 4, 3, 2, 3),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "all three mistakes still there",
            _variant(early=True, deaf=True, replaced=True),
            "These are the results of the function as given. Beside each line, write what is read, what is "
            "added and what is normalised.",
        ),
        Misconception("the first norm before the addition", _variant(early=True), _EARLY),
        Misconception("nothing is read from the memory", _variant(deaf=True), _DEAF),
        Misconception(
            "the feed-forward net replaces its token", _variant(replaced=True), _REPLACED
        ),
        Misconception(
            "one mistake found: the memory isn't read, and a sum is missing",
            _variant(deaf=True, replaced=True),
            "The first sub-layer is right now. Look at the two others.",
        ),
        Misconception(
            "one mistake found: a norm comes too early, and a sum is missing",
            _variant(early=True, replaced=True),
            "The memory is read now. Look at the first sub-layer and at the last one.",
        ),
        Misconception(
            "one mistake found: a norm comes too early, and the memory isn't read",
            _variant(early=True, deaf=True),
            "The last sub-layer is right now. Look at the two before it.",
        ),
        *_half_mended(),
        Misconception(
            "each norm before its sub-layer",
            _variant(pre=True),
            "Newer models have it so: what a sub-layer reads is normalised. What does the paper's normalise?",
        ),
        Misconception(
            "the second and the third norm exchanged",
            _variant(crossed_norms=True),
            "In which order does the list hold the three pairs?",
        ),
        Misconception(
            "the two masks exchanged",
            _variant(crossed_masks=True),
            "A mask speaks of the words that are read. Whose words does each of the two attentions read?",
        ),
        Misconception(
            "no cross-attention",
            _variant(two=True),
            "Leaving a sub-layer out doesn't mend it. The weights name three sub-layers.",
        ),
        Misconception(
            "source mask ignored",
            _variant(seen=False),
            "The decoder must not read the padding of the source.",
        ),
        Misconception(
            "target mask ignored",
            _variant(looking=False),
            "Which words of the target may a position see while the model learns?",
        ),
        Misconception(
            "cross-attention first",
            _variant(turned=True),
            "In which order does the map show the sub-layers?",
        ),
        Misconception(
            "both attentions with the same matrices",
            _variant(shared=True),
            "The weights hold four matrices for each of the two attentions.",
        ),
        Misconception(
            "no residual connection round the cross-attention",
            _variant(looked_added=False),
            "What was read is added to what has been written so far. Where does your layer keep that?",
        ),
        Misconception(
            "second residual connection from the layer's input",
            _variant(input_second=True),
            "The second sum starts from what the first sub-layer gave.",
        ),
        Misconception(
            "last residual connection from the layer's input",
            _variant(input_last=True),
            "The last sum starts from what the sub-layer before it gave.",
        ),
        Misconception(
            "second and last residual connection from the layer's input",
            _variant(input_second=True, input_last=True),
            "Each sum starts from what the sub-layer before it gave. From what do your sums start?",
        ),
    ),
)
