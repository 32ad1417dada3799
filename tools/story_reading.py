"""Four ways to read a story, of which the experiments of chapter 12 have decoders of the same size."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained_on
from story_texts import Asked, Texts, loss_of
from torch import Tensor

from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows
from transformer_course.fast import use_fast
from transformer_course.long_context import local_mask, read_in_segments

SETTINGS: dict[str, Any] = {
    "n_train": 20_000,
    "n_valid": 100,
    "n_test": 500,
    "length": 512,
    "layer": {
        "d_model": 128,
        "n_heads": 4,
        "d_ff": 344,
        "dropout": 0.0,
        "bias": False,
        "activation": "swiglu",
        "rotary_base": 10000.0,
    },
    "n_layers": 4,
    "segment": 128,
    "memories": {"segments": 0, "segments, memory of 128": 128},
    "batch_size": 32,
}
SMALL: dict[str, Any] = {  # for probes
    "n_train": 12,
    "n_valid": 2,
    "n_test": 2,
    "length": 96,
    "layer": {"d_model": 32, "n_heads": 2, "d_ff": 64},
    "n_layers": 2,
    "segment": 32,
    "batch_size": 4,
    "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3, "precision": "fp32"},
}
Words = tuple[int, ...]
Reader = Callable[[DecoderOnly, Tensor], Tensor]  # token ids → logits


def readers(config: dict[str, Any]) -> dict[str, Reader]:
    """How each of the systems reads a row: all have the same layers, and as many weights."""

    def in_segments(memory: int) -> Reader:
        return lambda model, ids: read_in_segments(model, ids, config["segment"], memory)

    def in_window(model: DecoderOnly, ids: Tensor) -> Tensor:
        return model(ids, local_mask(ids.shape[1], config["segment"]).to(ids.device))

    return {
        **{name: in_segments(memory) for name, memory in config["memories"].items()},
        "window": in_window,
        "full": lambda model, ids: model(ids),
    }


def judged(
    likeliest: Tensor, ids: Tensor, asked: list[list[Asked]]
) -> Iterator[tuple[Asked, bool]]:
    """Each answer, and whether all its words are the likeliest ones.

    Args:
        likeliest: the next word after each, (batch, length).
        ids: (batch, length).
        asked: what is asked in each row.
    """
    for said, right, answers in zip(likeliest, ids, asked, strict=True):
        for one in answers:
            yield one, said[one.start - 1 : one.end - 1].equal(right[one.start : one.end])


def most_frequent(train: Texts, test: Texts) -> dict[str, float]:
    """Share of answers that are the most frequent one in training, by kind of question."""
    seen: dict[str, Counter[Words]] = {}
    for one, words in _answers(train):
        seen.setdefault(one.kind, Counter())[words] += 1
    best = {kind: found.most_common(1)[0][0] for kind, found in seen.items()}
    right: dict[str, list[bool]] = {}
    for one, words in _answers(test):
        right.setdefault(one.kind, []).append(words == best.get(one.kind))
    return {kind: sum(found) / len(found) for kind, found in right.items()}


def _answers(some: Texts) -> Iterator[tuple[Asked, Words]]:
    """Each answer with its word ids."""
    for ids, asked in zip(some.ids.tolist(), some.asked, strict=True):
        for one in asked:
            yield one, tuple(ids[one.start : one.end])


def trained(
    read: Reader,
    data: dict[str, Texts],
    vocab_size: int,
    seed: int,
    config: dict[str, Any],
    folder: Path,
) -> tuple[DecoderOnly, list[float]]:
    """A decoder that reads in one of the ways, and its held-out losses."""
    torch.manual_seed(seed)
    layer = LayerConfig(**config["layer"])
    n_layers, length = config["n_layers"], config["length"]
    model = DecoderOnly(DecoderConfig(vocab_size, layer, n_layers, length, positions="none"))
    model, trainer = trained_on(
        use_fast(model).to("cuda" if torch.cuda.is_available() else "cpu"),
        Rows(data["train"].ids, batch_size=config["batch_size"]),
        Rows(data["valid"].ids, batch_size=config["batch_size"]),
        config["training"] | {"seed": seed},
        folder,
        lambda model, ids: loss_of(read(model, ids), ids),
    )
    return model, [round(record["loss"], 5) for record in trainer.history]
