"""Exercise: a decoder alone, made of encoder layers, compared with the package's model of the same weights."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.encoder_decoder.model import (
    Array,
    Weights,
    draw_layer,
    right_encoder_layer,
)
from transformer_course.checks.encoder_decoder.transformer import package_weights
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.running import in_depth
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly
from transformer_course.positional_encoding import sinusoidal_encoding


def reference(ids: Array, weights: Weights, n_heads: int) -> Array:
    """Return the logits of the package's model with these weights, (batch, length, vocab_size)."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        logits: Array = packaged_model(weights, n_heads)(torch.tensor(ids)).numpy()
    return logits


def packaged_model(weights: Weights, n_heads: int) -> DecoderOnly:
    """Return the package's model with a copy of the weights, in double precision.

    Models of the same size are one object: the weights of the latest call are in it.
    """
    vocab_size, d_model = weights["table"].shape
    d_ff = weights["layers"][0]["feed_forward"][1].shape[0]
    layer = LayerConfig(d_model, n_heads, d_ff, dropout=0.0, norm="post")
    n_layers = len(weights["layers"])
    config = DecoderConfig(
        vocab_size, layer, n_layers, max_len=32, positions="sinusoidal", pad_id=-1
    )
    model = _built(config)
    named = package_weights({**weights, "encoder": weights["layers"], "decoder": []})
    ours = {
        name.replace("encoder_layers", "stack.layers").replace("src_embedding", "embedding"): part
        for name, part in named.items()
    }
    model.load_state_dict(ours, strict=False)  # attention's biases stay 0
    return model


@functools.cache
def _built(config: DecoderConfig) -> DecoderOnly:
    return DecoderOnly(config).double().eval()


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _variant(
    *,
    seen: Callable[[Array], Array] = lambda causal: causal,
    first_only: bool = False,
    scale: float = 0.5,
    positions: bool = True,
    scaled: bool = False,
    start: int = 0,
    in_each_layer: bool = False,
    order: slice = slice(None),
    shared: bool = False,
    again: bool = False,
    states: bool = False,
    end: Callable[[Array], Array] = lambda logits: logits,
) -> Any:
    """Return the model with the mistakes asked for, in NumPy."""

    def decoder_only(ids: Array, weights: Weights, n_heads: int) -> Array:
        table, length = weights["table"], ids.shape[1]
        d_model = table.shape[1]
        places = sinusoidal_encoding(length + start, d_model)[start:].double().numpy()
        places = places * d_model**0.5 if scaled else places
        x = table[ids] * float(d_model) ** scale
        x = x + places if positions and not in_each_layer else x
        first, mask = x, seen(np.tri(length, dtype=bool))
        layers = weights["layers"]
        for i, layer in enumerate(layers[:1] * len(layers) if shared else layers[order]):
            hidden = mask if i == 0 or not first_only else np.ones_like(mask)
            x = x + places if in_each_layer else x
            x = right_encoder_layer(x, hidden, layer, n_heads)
            x = x + first if again else x
        return end(x if states else x @ table.T)

    return decoder_only


def _each_beginning(ids: Array, weights: Weights, n_heads: int) -> Array:
    """Read each beginning by itself, without a mask, and keep the scores after its last token."""
    open_model = _variant(seen=np.ones_like)
    ends = range(1, ids.shape[1] + 1)
    return np.stack([open_model(ids[:, :end], weights, n_heads)[:, -1] for end in ends], axis=1)


def _numbers(rng: np.random.Generator, batch: int, length: int, n_layers: int) -> tuple[Any, ...]:
    n_heads, d_k = int(rng.integers(1, 4)), 4
    d_model, vocab_size = n_heads * d_k, int(rng.integers(5, 10))
    weights = {
        "table": rng.normal(size=(vocab_size, d_model)) / np.sqrt(d_model) * 1.6,
        "layers": [draw_layer(rng, d_model, 2 * d_model) for _ in range(n_layers)],
    }
    return rng.integers(1, vocab_size, size=(batch, length)), weights, n_heads


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return ids, the weights of a small model, and its number of heads."""
    while True:
        batch, length, n_layers = (int(n) for n in rng.integers((1, 2, 1), (3, 6, 4)))
        case = _numbers(rng, batch, length, n_layers)
        if abs(_variant()(*case)).min() > 0.01:  # what is nearly 0 isn't exact in single precision
            return case


def _case(about: str, *sizes: int) -> Case:
    return Case(about, _numbers(np.random.default_rng(4), *sizes))


def _small_case(about: str, ids: list[int]) -> Case:
    """Return a case of 1 head, 1 layer and width 4 in small whole numbers: a check shows all of them."""
    rng = np.random.default_rng(8)
    weights = {"table": rng.normal(size=(5, 4)), "layers": [draw_layer(rng, 4, 4)]}
    whole = in_depth(weights, lambda x: np.round(x) + 0.0)  # + 0.0: no -0
    return Case(about, (np.array([ids]), whole, 1))


decoder_only = Exercise(
    name="decoder_only",
    kind="implement",
    difficulty=2,
    minutes=25,
    statement=(
        "Write a decoder alone, post-norm, out of *encoder* layers. ids is (batch, length), token ids without "
        'padding. weights["table"], (vocab_size, d_model), is the embedding and also the output matrix; '
        'weights["layers"] is a list, one entry a layer, as the encoder layer of chapter 06 takes it. '
        "Multiply the embeddings by √d_model, as in chapter 06, and add sinusoidal positions, counted from 0. "
        "Each token sees itself and those before it. Return the logits, (batch, length, vocab_size), "
        "at each place the scores for the *next* token; no softmax. The check copies the same weights into "
        "the package's model and compares."
    ),
    returns=("logits",),
    reference=reference,
    cases=(
        _small_case("1 token, 1 layer", [3]),
        _small_case("2 tokens, 1 layer", [3, 4]),
        _small_case("3 tokens, 1 layer", [3, 4, 1]),
        _case("3 tokens, 2 layers", 1, 3, 2),
        _case("2 rows, 4 tokens, 3 layers", 2, 4, 3),
        *random_cases(draw, 5),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no causal mask",
            _variant(seen=np.ones_like),
            "Change the last token. Do the scores at the first place change? In training, it would be told "
            "what it has to say.",
        ),
        Misconception(
            "the mask in the first layer only",
            _variant(first_only=True),
            "With one layer you are right. Who looks round in the second layer?",
        ),
        Misconception(
            "each beginning by itself, without a mask",
            _each_beginning,
            "With one layer you are right. With two, the earlier tokens of a beginning have seen its later "
            "ones, so their vectors change with every new token. Should they?",
        ),
        Misconception(
            "the mask turned round",
            _variant(seen=lambda causal: ~causal),
            "In this course True means: may attend.",
        ),
        Misconception(
            "the upper half of the table open",
            _variant(seen=lambda causal: causal.T),
            "Your tokens see what comes after them. Rows are the tokens that look: on which side is the past?",
        ),
        Misconception(
            "the diagonal hidden",
            _variant(seen=lambda causal: causal & ~np.eye(len(causal), dtype=bool)),
            "What does your first token see? It isn't what has to be said: that is the next one.",
        ),
        Misconception(
            "embeddings not multiplied",
            _variant(scale=0.0),
            "Beside sinusoids, the numbers of an embedding are small at the start of a training. What does "
            "chapter 06 do before it adds positions?",
        ),
        Misconception(
            "positions multiplied, too",
            _variant(scaled=True),
            "Your positions have grown by √d_model. What does the task multiply, and what does it add?",
        ),
        Misconception(
            "positions left out",
            _variant(positions=False),
            "The mask tells a token what came before it, but not in which order. What is missing?",
        ),
        Misconception(
            "positions counted from 1",
            _variant(start=1),
            "Which position has the first token?",
        ),
        Misconception(
            "positions added in each layer",
            _variant(in_each_layer=True),
            "With one layer you are right. Where are positions added in the map of chapter 06?",
        ),
        Misconception(
            "the first layer again and again",
            _variant(shared=True),
            "Each layer has weights of its own. Does the number of the layer matter in your loop?",
        ),
        Misconception(
            "one layer only",
            _variant(order=slice(0, 1)),
            "With one layer you are right. The list may be longer.",
        ),
        Misconception(
            "each layer reads the embeddings",
            _variant(order=slice(-1, None)),
            "With one layer you are right. With two, what does the second one read: the embeddings, or what "
            "the first one gave?",
        ),
        Misconception(
            "the last layer first",
            _variant(order=slice(None, None, -1)),
            "With one layer you are right. In which order does the list hold them?",
        ),
        Misconception(
            "the embeddings added again after each layer",
            _variant(again=True),
            "Each layer has its residual connections inside. The embeddings go in once, at the bottom.",
        ),
        Misconception(
            "the scores after the last token only",
            _variant(end=lambda logits: logits[:, -1]),
            "For writing, this would do. In training every place guesses what follows it: what shape is asked "
            "for?",
        ),
        Misconception(
            "every place has the scores of the place after it",
            _variant(end=lambda logits: np.roll(logits, -1, axis=1)),
            "The numbers are right, one place too early. Your first place would have read the second token. Is "
            "anything to be moved?",
        ),
        Misconception(
            "every place has the scores of the place before it",
            _variant(end=lambda logits: np.roll(logits, 1, axis=1)),
            "The numbers are right, one place too late. Which place scores the token after the first one?",
        ),
        Misconception(
            "states instead of scores",
            _variant(states=True),
            "There is one more step after the layers. How wide is what it gives?",
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
    ),
)
