"""The parts that nearly all experiments share, so small that everything they do can be recorded.

No page quotes a score of this one. Its probe stands beside those of the other records: it sees what a few
dozen updates of a translator can't show, such as a second epoch, an early stop, the random numbers after a
resumption, a sharp distribution to draw from, or the readable loss on padded sentences. Each is there several
times: a single number that differs is taken for a tie (tools/probes.py).
"""

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer_course.corpus.batches import Example
from transformer_course.decoding import beam_search, next_token_distribution
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import (
    cross_entropy,
    kl_divergence,
    log_softmax,
    perplexity,
    teacher_forcing_loss,
)
from transformer_course.training import Trainer, TrainingConfig, validation_loss

CONFIG: dict[str, Any] = {
    "vocab_size": 24,
    "n_train": 20,
    "n_valid": 8,
    "lengths": [4, 7],
    "smoothings": [0.1, 0.3],
    "model": {
        "d_model": 16,
        "n_heads": 2,
        "d_ff": 32,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "dropout": 0.1,
        "max_len": 16,
    },
    "trainings": {
        "three epochs": {
            "schedule": "inverse_sqrt",
            "warmup_steps": 60,
            "max_steps": 18,
            "max_tokens": 64,
            "validate_every": 6,
            "average": 2,
        },
        "until patience ends": {
            "peak_rate": 0.005,
            "warmup_steps": 2,
            "max_steps": 40,
            "max_tokens": 64,
            "clip_norm": 0.5,
            "validate_every": 4,
            "patience": 2,
        },
    },
    "distributions": {
        "T = 0.7": {"temperature": 0.7},
        "T = 2": {"temperature": 2.0},
        "k = 4": {"top_k": 4},
        "p = 0.8": {"top_p": 0.8},
        "T = 0.7, k = 6, p = 0.9": {"temperature": 0.7, "top_k": 6, "top_p": 0.9},
    },
    "alphas": [0.6, 2.0],
    "rates": {"schedule": "inverse_sqrt", "warmup_steps": 6},
}
PROBE: dict[str, Any] = {}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Losses and distributions of drawn scores; then two trainings, and what their models write."""
    torch.manual_seed(seed)
    logits = 3 * torch.randn(2, 3, 5, config["vocab_size"])
    curves = {
        name: next_token_distribution(logits[0, 0, 0], **settings).tolist()
        for name, settings in config["distributions"].items()
    }
    rates = TrainingConfig(**config["rates"])
    curves["rates"] = [rates.rate(step, config["model"]["d_model"]) for step in range(1, 13)]
    curves |= _losses(logits, config["smoothings"])
    scores: dict[str, Any] = {}
    some, others = _two_halves(config["vocab_size"])
    train = _pairs(config, config["n_train"], seed, some)
    # Held-out targets have words that no target to learn from has: their loss rises from the beginning.
    valid = _pairs(config, config["n_valid"], seed + 100, others)
    for name, training in config["trainings"].items():
        torch.manual_seed(seed)
        trainer = Trainer(
            Transformer(TransformerConfig(config["vocab_size"], **config["model"])),
            train,
            partial(teacher_forcing_loss, label_smoothing=config["smoothings"][0]),
            lambda model: {"loss": validation_loss(model, valid, teacher_forcing_loss)},
            TrainingConfig(**training, seed=seed),
            folder / name,
        )
        trainer.train()
        curves[name] = [record["loss"] for record in trainer.history]
        scores[name] = {"updates": trainer.step, "perplexity": perplexity(curves[name][-1])}
        scores[name]["weights"] = trainer.finish()
        scores[name]["loss of these weights"] = trainer.evaluate(trainer.model)["loss"]
        found = _searched(trainer.model, train, config["alphas"])
        curves |= {f"{name}, {alpha}": best for alpha, best in found.items()}
    return {"curves": curves, "scores": scores}


def _losses(logits: Tensor, smoothings: list[float]) -> dict[str, list[float]]:
    """The readable losses of scores, (2, 3, 5, vocab_size): of three sentences, two of them padded."""
    labels = torch.randint(1, logits.shape[-1], logits.shape[1:-1])  # (3, 5)
    labels[0, 3:], labels[2, 1:] = 0, 0
    rows = list(zip(logits[0], labels, strict=True))
    found = {
        f"smoothing {epsilon}": [cross_entropy(*row, 0, epsilon).item() for row in rows]
        for epsilon in (0.0, *smoothings)
    }
    p, q = log_softmax(logits).exp()
    return found | {
        "perplexity": [perplexity(loss) for loss in found["smoothing 0.0"]],
        "divergence": kl_divergence(p, q).flatten()[:4].tolist(),
    }


def _two_halves(vocab_size: int) -> tuple[range, range]:
    """The ids of all words, in two parts."""
    middle = (3 + vocab_size) // 2
    return range(3, middle), range(middle, vocab_size)


def _pairs(config: dict[str, Any], n: int, seed: int, words: range) -> list[Example]:
    """Drawn ids of some words, each target its source backwards."""
    dice = Random(seed)
    sources = [dice.choices(words, k=dice.randint(*config["lengths"])) for _ in range(n)]
    return [(source, source[::-1]) for source in sources]


def _searched(model: Any, pairs: list[Example], alphas: list[float]) -> dict[str, list[float]]:
    """The scores of what beam search finds for five sources, for each length penalty."""
    sources = pad_sequence([torch.tensor(source) for source, _ in pairs[:5]], batch_first=True)
    return {
        f"alpha {alpha}": [best[0].score for best in beam_search(model, sources, 3, 9, alpha=alpha)]
        for alpha in alphas
    }
