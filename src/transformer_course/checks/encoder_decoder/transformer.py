"""Exercise: the whole Transformer, compared with the package's model that has the same weights."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.encoder_decoder.model import (
    Array,
    Weights,
    draw_layer,
    right_decoder_layer,
    right_encoder_layer,
    right_masks,
)
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.running import in_depth
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.positional_encoding import sinusoidal_encoding

SMALL = 8  # seed of the small case
MATRICES = ("w_query", "w_key", "w_value", "w_output")


def reference(src: Array, tgt: Array, weights: Weights, n_heads: int) -> Array:
    """Return the logits of the package's model with these weights, (batch, tgt_len, vocab_size)."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        model = packaged_model(weights, n_heads)
        logits: Array = model(torch.tensor(src), torch.tensor(tgt)).numpy()
    return logits


def packaged_model(weights: Weights, n_heads: int) -> Transformer:
    """Return the package's Transformer with a copy of the weights, in double precision.

    Models of the same size are one object: the weights of the latest call are in it.
    """
    vocab_size, d_model = weights["table"].shape
    depths = len(weights["encoder"]), len(weights["decoder"])
    d_ff = weights["encoder"][0]["feed_forward"][1].shape[0]
    config = TransformerConfig(
        vocab_size, d_model, n_heads, *depths, d_ff, dropout=0.0, max_len=32, norm="post"
    )
    model = _built(config)
    model.load_state_dict(package_weights(weights), strict=False)  # attention's biases stay 0
    return model


@functools.cache
def _built(config: TransformerConfig) -> Transformer:
    return Transformer(config).double().eval()


def package_weights(weights: Weights) -> dict[str, torch.Tensor]:
    """Return the weights by the package's names; torch stores a map as (out, in)."""
    tied = ("src_embedding.weight", "tgt_embedding.weight", "output.weight")
    found = dict.fromkeys(tied, weights["table"])
    for stack in ("encoder", "decoder"):
        for i, layer in enumerate(weights[stack]):
            place = f"{stack}_layers.{i}"
            for kind in ("self_attention", "cross_attention"):
                for name, matrix in zip(MATRICES, layer.get(kind, ()), strict=False):
                    found[f"{place}.{kind}.{name}.weight"] = matrix.T
            w_1, b_1, w_2, b_2 = layer["feed_forward"]
            for name, matrix, bias in (("inner", w_1, b_1), ("outer", w_2, b_2)):
                found[f"{place}.feed_forward.{name}.weight"] = matrix.T
                found[f"{place}.feed_forward.{name}.bias"] = bias
            for j, (gain, bias) in enumerate(layer["norms"]):
                found[f"{place}.residuals.{j}.norm.gain"] = gain
                found[f"{place}.residuals.{j}.norm.bias"] = bias
    return {name: torch.tensor(array) for name, array in found.items()}


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: Array = powers / powers.sum(axis=-1, keepdims=True)
    return result


def _variant(
    *,
    scale: Callable[[float], float] = lambda width: width**0.5,
    scale_last: bool = False,
    positions: tuple[bool, bool] = (True, True),
    start: int = 0,
    causal: bool = True,
    src_padding: tuple[bool, bool] = (True, True),
    tgt_padding: bool = True,
    inverted: bool = False,
    same_height: bool = False,
    to_the_top: bool = True,
    side_by_side: bool = False,
    shift: Callable[[Array], Array] = lambda ids: ids,
    shift_embedded: bool = False,
    unread: bool = False,
    shared: bool = False,
    one_layer: bool = False,
    again: bool = False,
    src_causal: bool = False,
    end: Callable[[Array], Array] = lambda logits: logits,
) -> Any:
    """Return the whole model with the mistakes asked for, in NumPy.

    With `same_height`, decoder layers above the encoder's last read the last one, or none without `to_the_top`.
    """

    def transformer(src: Array, tgt: Array, weights: Weights, n_heads: int) -> Array:
        table, tgt = weights["table"], shift(tgt)
        if not tgt.size:
            return np.zeros((*tgt.shape, len(table)))

        def embed(ids: Array, positioned: bool) -> Array:
            size = scale(float(table.shape[1]))
            length, width = ids.shape[1], table.shape[1]
            places = sinusoidal_encoding(length + start, width)[start:].double().numpy()
            x = table[ids] * (1.0 if scale_last else size) + (places if positioned else 0.0)
            return x * size if scale_last else x

        src_mask, tgt_mask = right_masks(src, tgt)
        if not tgt_padding:
            tgt_mask = np.tri(tgt.shape[1], dtype=bool)[None, None]
        tgt_mask = tgt_mask if causal else (tgt != 0)[:, None, None, :]
        if inverted:
            src_mask, tgt_mask = ~src_mask, ~tgt_mask
        own, cross = (src_mask if used else np.ones_like(src_mask) for used in src_padding)
        own = own & np.tri(src.shape[1], dtype=bool) if src_causal else own
        x, heights = embed(src, positions[0]), []
        first = x
        encoder, decoder = (
            _layers(weights[stack], shared, one_layer) for stack in ("encoder", "decoder")
        )
        if side_by_side:  # as `zip` goes through them
            encoder, decoder = encoder[: len(decoder)], decoder[: len(encoder)]
        for layer in encoder:
            x = right_encoder_layer(x, own, layer, n_heads)
            x = x + first if again else x
            heights.append(x)
        memory = first if unread else x
        y = embed(tgt, positions[1])
        if shift_embedded:
            y = np.concatenate([np.zeros_like(y[:, :1]), y[:, :-1]], axis=1)
        for i, layer in enumerate(decoder):
            height = min(i, len(heights) - 1) if to_the_top else i
            read = heights[height] if same_height or side_by_side else memory
            y = right_decoder_layer(y, read, cross, tgt_mask, layer, n_heads)
        return end(y @ table.T)

    return transformer


def _begun(ids: Array) -> Array:
    """Return the ids one place further on, with the start token in front."""
    return np.concatenate([np.ones_like(ids[:, :1]), ids[:, :-1]], axis=1)


def _layers(layers: list[Weights], shared: bool, one_layer: bool) -> list[Weights]:
    """Return the layers of a stack; or the first one again and again; or the first one alone."""
    return layers[:1] if one_layer else layers[:1] * len(layers) if shared else layers


def _numbers(
    rng: np.random.Generator,
    lengths: tuple[int, int],
    depths: tuple[int, int],
    padded: bool,
    batch: int = 2,
) -> tuple[Any, ...]:
    n_heads, d_k = int(rng.integers(1, 4)), 4
    d_model, vocab_size = n_heads * d_k, int(rng.integers(5, 10))
    src, tgt = (rng.integers(1, vocab_size, size=(batch, length)) for length in lengths)
    if padded and lengths[0] > 1:
        src[0, -1] = 0
    if padded and lengths[1] > 1:
        tgt[-1, -1] = 0
    weights = {
        "table": rng.normal(size=(vocab_size, d_model)) / np.sqrt(d_model) * 1.2,
        "encoder": [draw_layer(rng, d_model, 2 * d_model) for _ in range(depths[0])],
        "decoder": [draw_layer(rng, d_model, 2 * d_model, decoder=True) for _ in range(depths[1])],
    }
    return src, tgt, weights, n_heads


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return ids of source and target, the weights of a small model, and its number of heads."""
    while True:
        lengths = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        depths = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        case = _numbers(rng, lengths, depths, bool(rng.random() < 0.7), int(rng.integers(1, 3)))
        if abs(_variant()(*case)).min() > 0.01:  # what is nearly 0 isn't exact in single precision
            return case


def _case(
    about: str,
    lengths: tuple[int, int],
    depths: tuple[int, int],
    padded: bool = False,
    batch: int = 1,
) -> Case:
    return Case(about, _numbers(np.random.default_rng(4), lengths, depths, padded, batch))


def _small_case(about: str, src: list[int], tgt: list[int]) -> Case:
    """Return a case of 1 head, 1 layer each and width 4 in small whole numbers: a check shows all of them."""
    rng = np.random.default_rng(SMALL)
    weights = {
        "table": rng.normal(size=(5, 4)),
        "encoder": [draw_layer(rng, 4, 4)],
        "decoder": [draw_layer(rng, 4, 4, decoder=True)],
    }
    whole = in_depth(weights, lambda x: np.round(x) + 0.0)  # + 0.0: no -0
    return Case(about, (np.array([src]), np.array([tgt]), whole, 1))


transformer = Exercise(
    name="transformer",
    kind="implement",
    difficulty=3,
    minutes=40,
    statement=(
        "Write the whole Transformer, post-norm as in the paper. src is (batch, src_len), tgt is (batch, "
        'tgt_len), both token ids; 0 is padding. weights["table"], (vocab_size, d_model), is the embedding of '
        'both languages and also the output matrix; weights["encoder"] and weights["decoder"] are lists, one '
        "entry a layer, as in the exercises before. Positions are sinusoidal. Hide padding wherever keys are "
        "read, and the future from the target. Return the logits, (batch, tgt_len, vocab_size), no softmax. "
        "The check copies the same weights into the package's model and compares."
    ),
    returns=("logits",),
    reference=reference,
    cases=(
        _small_case("1 source token, 1 target token, 1 layer each", [3], [2]),
        _small_case("2 source tokens, 1 target token", [3, 4], [2]),
        _small_case("3 source tokens, 3 target tokens", [3, 4, 1], [2, 1, 3]),
        _small_case("3 source tokens, the last is padding", [3, 4, 0], [2, 1]),
        _case("3 source tokens, 3 target tokens, other weights", (3, 3), (1, 1)),
        _case("2 layers each", (3, 3), (2, 2)),
        _case("3 encoder layers, 2 decoder layers, 2 sentences, padded", (5, 4), (3, 2), True, 2),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "embeddings not multiplied",
            _variant(scale=lambda width: 1.0),
            "Before the positions are added, the embeddings are made larger. By what, and why?",
        ),
        Misconception(
            "embeddings multiplied by d_model, not by its root",
            _variant(scale=lambda width: width),
            "The right number, but one step is missing before you multiply.",
        ),
        Misconception(
            "multiplied after the positions were added",
            _variant(scale_last=True),
            "What is made larger: the token alone, or token and position together?",
        ),
        Misconception(
            "positions left out",
            _variant(positions=(False, False)),
            "Exchange two words of the source: does your result change?",
        ),
        Misconception(
            "no positions in the target",
            _variant(positions=(True, False)),
            "The source knows its order. Does the target?",
        ),
        Misconception(
            "no positions in the source",
            _variant(positions=(False, True)),
            "The target knows its order. Does the source?",
        ),
        Misconception(
            "positions counted from 1", _variant(start=1), "Which position has the first token?"
        ),
        Misconception(
            "the future not hidden",
            _variant(causal=False),
            "Change the last token of the target. Do the scores of the first position change?",
        ),
        Misconception(
            "padding of the source seen by the encoder",
            _variant(src_padding=(False, True)),
            "The cross-attention is right. Who else reads the source?",
        ),
        Misconception(
            "padding of the source seen by the decoder",
            _variant(src_padding=(True, False)),
            "The encoder is right. Who else reads the source?",
        ),
        Misconception(
            "padding of the source not hidden",
            _variant(src_padding=(False, False)),
            "Does your result change when a source gets more padding?",
        ),
        Misconception(
            "masks inverted", _variant(inverted=True), "In this course True means: may attend."
        ),
        Misconception(
            "each decoder layer reads the encoder layer of its own height",
            _variant(same_height=True),
            "With one layer you are right. Which encoder layer do *all* decoder layers read?",
        ),
        Misconception(
            "each decoder layer reads the encoder layer of its own height, and above the last there is none",
            _variant(same_height=True, to_the_top=False),
            "The decoder may have more layers than the encoder. Which encoder layer do *all* of them read?",
        ),
        Misconception(
            "encoder and decoder layers in pairs, in one loop",
            _variant(side_by_side=True),
            "With one layer each you are right. Must the encoder be through before the decoder begins?",
        ),
        Misconception(
            "the source's later words hidden in the encoder",
            _variant(src_causal=True),
            "In your encoder, a word sees only those to its left. Of which of the two sentences is the future "
            "not yet known?",
        ),
        Misconception(
            "padding of the target not hidden",
            _variant(tgt_padding=False),
            "The future is hidden. What else of the target must nobody read?",
        ),
        Misconception(
            "the embedded target shifted inside the function, zeros first",
            _variant(shift_embedded=True),
            "Your first row knows nothing of the first target token. Who shifts the target: the model, or "
            "whoever calls it?",
        ),
        Misconception(
            "the target's ids shifted inside the function, a start token first",
            _variant(shift=_begun),
            "tgt is what the decoder reads, as it is. On which of its tokens does row 1 of your result depend?",
        ),
        Misconception(
            "the last target token cut off",
            _variant(shift=lambda ids: ids[:, :-1]),
            "Every target token gets a row of logits, the last one too. Who cuts the target: the model, or "
            "whoever calls it?",
        ),
        Misconception(
            "the decoder reads the embedded source",
            _variant(unread=True),
            "The output of your encoder is never used. Who should read it?",
        ),
        Misconception(
            "the first layer again and again",
            _variant(shared=True),
            "Each layer has weights of its own. Does the number of the layer matter in your loop?",
        ),
        Misconception(
            "one layer only",
            _variant(one_layer=True),
            "With one layer you are right. The lists may be longer.",
        ),
        Misconception(
            "the embedded source added again after each layer",
            _variant(again=True),
            "The embedding goes in once, at the bottom.",
        ),
        Misconception(
            "probabilities instead of logits",
            _variant(end=_softmax),
            "Your rows sum to 1. The task asks for the numbers before that step.",
        ),
        Misconception(
            "log-probabilities instead of logits",
            _variant(end=lambda logits: np.log(_softmax(logits))),
            "The exponentials of your rows sum to 1. The task asks for the numbers before that step.",
        ),
        Misconception(
            "logits divided by the root of d_model",
            lambda src, tgt, weights, n_heads: (
                reference(src, tgt, weights, n_heads) / np.sqrt(weights["table"].shape[1])
            ),
            "The scores of attention are divided by a root. Are these?",
        ),
    ),
)
