"""What breaks when positions are left out, learned, concatenated or scaled, and beyond the training length?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from experiment_training import trained
from torch import Tensor, nn

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.positional_encoding import PositionalEncoding
from transformer_course.recipe import encode_pairs
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "variants": {  # kind of positions, how much of them, on which sides, which lengths are trained on
        "sinusoidal": {},
        "halves": {"kind": "halves"},
        "learned": {"kind": "learned"},
        "concatenated": {"kind": "concatenated"},
        "none": {"amplitude": 0.0},
        "none in the encoder": {"sides": "decoder"},
        "none in the decoder": {"sides": "encoder"},
        "times 1/8": {"amplitude": 0.125},
        "times 8": {"amplitude": 8.0},
        "times 64": {"amplitude": 64.0},
        "all lengths": {"lengths": "all"},
    },
    "phenomena": [
        "agreement",
        "past with être",
        "indirect object",
        "coordination",
        "possession",
        "comparison",
    ],
    "longest": 10,  # subwords a side; </s> and <s> come on top
    "n_train": 4000,  # of each phenomenon
    "n_valid": 60,
    "n_test": 100,  # of each phenomenon and range of lengths
    "vocab_size": 2000,
    "model": {
        "d_model": 64,
        "n_heads": 4,
        "d_ff": 256,
        "n_encoder_layers": 2,
        "n_decoder_layers": 2,
    },
    "training": {
        "max_steps": 900,
        "max_tokens": 1024,
        "peak_rate": 5e-3,
        "warmup_steps": 100,
        "validate_every": 100,
    },
}
PROBE: dict[str, Any] = {
    "n_train": 60,
    "n_valid": 4,
    "n_test": 2,
    "training": {"max_steps": 6, "max_tokens": 256, "warmup_steps": 3, "validate_every": 3},
}
RANGES = ("up to {0}", "{1} and {2}", "{3} and more")


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train a model for each variant on short sentences; translate short ones by phenomenon, and long ones."""
    vocabulary, data = _data(config)
    curves: dict[str, list[float]] = {}
    scores: dict[str, dict[str, Any]] = {
        "by phenomenon": {},
        "by length": {},
        "validation loss": {},
    }
    for name, variant in config["variants"].items():
        done = folder / f"{_slug(name)}.json"
        if not done.exists():
            write_json(done, _measure(name, variant, seed, config, vocabulary, data, folder))
        found = read_json(done)
        curves[f"loss, {name}"] = found["loss"]
        scores["validation loss"][name] = found["loss"][-1]
        for table in ("by phenomenon", "by length"):
            for row, score in found[table].items():
                scores[table].setdefault(row, {})[name] = score
    return {"curves": curves, "scores": scores}


def _measure(
    name: str,
    variant: dict[str, Any],
    seed: int,
    config: dict[str, Any],
    vocabulary: Vocabulary,
    data: dict[str, Any],
    folder: Path,
) -> dict[str, Any]:
    """Train one variant, then score it by phenomenon (short sentences) and by length (all phenomena)."""
    train = data["train, all" if variant.get("lengths") == "all" else "train, short"]
    torch.manual_seed(seed)
    sizes = TransformerConfig(len(vocabulary), dropout=0.0, max_len=128, **config["model"])
    trainer = trained(
        use_fast(_model(sizes, variant)),
        encode_pairs(vocabulary, train),
        encode_pairs(vocabulary, data["valid"]),
        config["training"] | {"seed": seed},
        folder / _slug(name),
    )
    sources = [pair.source for pair in _all(data["lengths"])]
    translations = Translator(trainer.model, vocabulary).translate(sources, beam=1)
    found = dict(zip(sources, translations, strict=True))

    def score(pairs: Sequence[Pair]) -> float:
        return round(exact_match(pairs, [found[pair.source] for pair in pairs]), 4)

    return {
        "loss": [round(record["loss"], 4) for record in trainer.history],
        "by phenomenon": {key: score(pairs) for key, pairs in data["short"].items()},
        "by length": {key: score(pairs) for key, pairs in data["lengths"].items()},
    }


def _model(sizes: TransformerConfig, variant: dict[str, Any]) -> Transformer:
    """A fresh model with the positions of a variant."""
    if "sides" in variant:
        return OneSided(sizes, variant["sides"])
    model = Transformer(sizes)
    match variant.get("kind"):
        case "learned":
            model.positions = PositionalEncoding(sizes.max_len, sizes.d_model, "learned")
        case "halves":
            model.positions = PositionalEncoding(
                sizes.max_len, sizes.d_model, layout="concatenated"
            )
        case "concatenated":
            model.positions = Concatenated(sizes.max_len, sizes.d_model)
    if "amplitude" in variant and model.positions.table is not None:
        model.positions.table *= variant["amplitude"]
    return model


class Concatenated(PositionalEncoding):
    """Position beside the token's vector instead of on top of it; a matrix brings the width back to d_model."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__(max_len, d_model)
        self.joined = nn.Linear(2 * d_model, d_model, bias=False)

    def forward(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Join tokens and positions, (batch, length, d_model) each, and project."""
        of_positions = super().forward(torch.zeros_like(x), positions)
        return self.joined(torch.cat([x, of_positions], -1))


class OneSided(Transformer):
    """Positions in the encoder or in the decoder only; `side` is the one that keeps them."""

    def __init__(self, config: TransformerConfig, side: str) -> None:
        super().__init__(config)
        self.side, self.with_positions = side, self.positions
        self.without = PositionalEncoding(config.max_len, config.d_model, "none")

    def encode(self, *arguments: Any, **named: Any) -> Tensor:
        """Encode with positions, or without."""
        self.positions = self.with_positions if self.side == "encoder" else self.without
        return super().encode(*arguments, **named)

    def decode(self, *arguments: Any, **named: Any) -> Tensor:
        """Decode with positions, or without."""
        self.positions = self.with_positions if self.side == "decoder" else self.without
        return super().decode(*arguments, **named)


def _data(config: dict[str, Any]) -> tuple[Vocabulary, dict[str, Any]]:
    """Sentences of all phenomena: short ones and all to train on; short ones and longer ones to test on."""
    longest, names = config["longest"], config["phenomena"]
    everything = [list(grammar.sentences_with(name, "train", config["n_train"])) for name in names]
    lines = [text for pairs in everything for p in pairs for text in (p.source, p.target)]
    vocabulary = Vocabulary.train(lines, config["vocab_size"])

    def lengths(pairs: Sequence[Pair]) -> list[int]:
        """The longer side of each pair, in subwords."""
        return [max(map(len, sides)) for sides in encode_pairs(vocabulary, pairs)]

    def sets(split: str, n: int, low: int, high: int) -> dict[str, list[Pair]]:
        """The first `n` pairs of each phenomenon between two lengths, out of 30 times as many."""
        found = {}
        for name in names:
            drawn = list(grammar.sentences_with(name, split, 30 * n))
            sized = zip(drawn, lengths(drawn), strict=True)
            found[name] = [pair for pair, length in sized if low <= length <= high][:n]
        return found

    bounds = [(1, longest), (longest + 1, longest + 2), (longest + 3, 99)]
    titles = [text.format(longest, longest + 1, longest + 2, longest + 3) for text in RANGES]
    tests = {
        title: sets("test", config["n_test"], *bound)
        for title, bound in zip(titles, bounds, strict=True)
    }
    trained = [pair for pairs in everything for pair in pairs]
    short = [p for p, length in zip(trained, lengths(trained), strict=True) if length <= longest]
    return vocabulary, {
        "train, all": trained,
        "train, short": short,
        "valid": _all(sets("valid", config["n_valid"], *bounds[0])),
        "short": tests[titles[0]],
        "lengths": {title: _all(found) for title, found in tests.items()},
    }


def _all(sets: dict[str, list[Pair]]) -> list[Pair]:
    """The pairs of all sets."""
    return [pair for pairs in sets.values() for pair in pairs]


def _slug(name: str) -> str:
    """The name of a file for a variant."""
    return name.replace(" ", "-").replace("/", "-")
