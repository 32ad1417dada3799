"""How fast graphics cards train the paper's base model: `python -m benchmarks.gpu`, or by torchrun for several.

First a small model must have the same losses there as on the processor. Then the base model (Vaswani et al.
2017, table 3) trains on random sentences, by the course's own trainer. `--peak` is what the maker's table says
of one card, in TFLOP/s; then the share of it is told that the model's arithmetic takes. Writes
`results/gpu.json`. `--device cpu` trains a tiny model, to show that all of it runs, and writes nothing.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import torch

from transformer_course.corpus.batches import Example
from transformer_course.devices import find_device
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.fast import computes_bf16
from transformer_course.recipe import Recipe
from transformer_course.recipe.tasks import fresh_model, task_of
from transformer_course.training import (
    Processes,
    Progress,
    ToldElsewhereError,
    Trainer,
    TrainingConfig,
    joined,
)
from transformer_course.training.processes import ALONE, local_rank

RECORD = Path(__file__).parent / "results" / "gpu.json"
SAME = 1e-4  # how far losses may be apart, as a share of them
LENGTH = 31  # tokens of a sentence; the model reads and predicts one more
WARM = 5  # updates that aren't timed
BASE = Recipe(preset="base", vocab_size=37_000)  # §5.1
TINY = Recipe(n_layers=1, d_model=16, n_heads=2, d_ff=32, vocab_size=300, dropout=0.0)


def flops(config: TransformerConfig, src_len: int, tgt_len: int) -> int:
    """Multiplications and additions of a sentence pair, forward and backward, in matrix products.

    A weight takes two for each token forward, and four backward. The products of attention count, too, also at
    positions that a mask hides.
    """
    d, inner, n = config.d_model, config.d_ff, config.n_decoder_layers
    encoder = (4 * d * d + 2 * d * inner) * config.n_encoder_layers
    memory = 2 * d * d * n  # keys and values of cross-attention
    decoder = (6 * d * d + 2 * d * inner) * n + d * config.vocab_size
    seen = src_len * src_len * config.n_encoder_layers + tgt_len * (tgt_len + src_len) * n
    return 6 * ((encoder + memory) * src_len + decoder * tgt_len + 2 * d * seen)


def utilisation(flops_per_second: float, peak: float, cards: int) -> float:
    """The share of the cards' peak that the model's arithmetic takes; `peak` is that of one, in TFLOP/s.

    >>> utilisation(400e12, peak=1000, cards=2)
    0.2
    """
    return flops_per_second / (peak * 1e12 * cards)


def sentences(pairs: int, vocab_size: int) -> list[Example]:
    """Random pairs, all of one length: no position is padding."""
    drawn = torch.Generator().manual_seed(0)
    ids = torch.randint(3, vocab_size, (pairs, 2, LENGTH), generator=drawn)
    return [(src, tgt) for src, tgt in ids.tolist()]


def train(
    recipe: Recipe, device: torch.device, processes: Processes, **how: bool
) -> list[tuple[float, float]]:
    """Train: of each update the loss, and when it was there. `how` is what `fresh_model` takes."""
    model = fresh_model(recipe, recipe.vocab_size, str(device), **how)
    pairs = recipe.training.max_tokens // (2 * LENGTH + 3)
    examples = sentences(4 * pairs, recipe.vocab_size)
    loss = task_of(recipe, examples, examples, model.config.max_len).loss
    found: list[tuple[float, float]] = []

    def report(progress: Progress) -> None:
        found.append((progress.loss, time.perf_counter()))

    def nothing(model: Any) -> dict[str, float]:
        return {"loss": 0.0}

    Trainer(model, examples, loss, nothing, recipe.training, processes=processes).train(report)
    return found


def difference(device: torch.device, processes: Processes, **how: bool) -> float:
    """How far the losses of a small model are from those on the processor, as a share of them."""
    training = TrainingConfig(max_steps=10, max_tokens=800, warmup_steps=3, peak_rate=0.01)
    recipe = replace(TINY, training=training)
    there = train(recipe, device, processes, **how)
    here = train(recipe, torch.device("cpu"), ALONE)
    return max(abs(a - b) / b for (a, _), (b, _) in zip(there, here, strict=True))


def measure(
    recipe: Recipe, device: torch.device, processes: Processes, peak: float | None, **how: bool
) -> dict[str, Any]:
    """Speed and memory of a training; all processes get the same."""
    card = device.type == "cuda"
    if card:
        torch.cuda.reset_peak_memory_stats(device)
    times = [when for _, when in train(recipe, device, processes, **how)][WARM:]
    seconds = median(end - start for start, end in pairwise(times))
    pairs = recipe.training.max_tokens // (2 * LENGTH + 3)
    arithmetic = pairs * flops(recipe.config(recipe.vocab_size), LENGTH + 1, LENGTH + 1)
    memory = torch.cuda.max_memory_allocated(device) if card else 0
    of_each = [memory if rank == processes.rank else 0 for rank in range(processes.count)]
    return {
        "seconds of an update": seconds,
        "tokens per second, source and target": 2 * pairs * (LENGTH + 1) / seconds,
        "TFLOP of an update": arithmetic / 1e12,
        "utilisation": utilisation(arithmetic / seconds, peak, processes.count) if peak else None,
        "peak memory of each card, GiB": [n / 2**30 for n in processes.sums(*of_each)],
    }


def run(arguments: argparse.Namespace, processes: Processes) -> dict[str, Any]:
    """Check, measure, and say what was done where."""
    device = find_device(arguments.device, local_rank())
    card = device.type == "cuda"
    how = {"sharded": arguments.shard, "compiled": arguments.compile}
    if arguments.shard and processes.count == 1:
        raise ValueError("--shard needs several processes: start them by torchrun")
    apart = difference(device, processes, **how)
    if apart > SAME:
        raise ValueError(f"losses on {device} are {apart:.1e} from those on the processor")
    training = TrainingConfig(
        max_steps=WARM + arguments.steps,
        max_tokens=arguments.positions * processes.count if card else 800,
        schedule="inverse_sqrt",
        validate_every=WARM + arguments.steps,
        precision="bf16" if card and computes_bf16("cuda") else "fp32",
    )
    recipe = replace(BASE if card else TINY, training=training)
    return {
        "command": " ".join(["python -m benchmarks.gpu", *sys.argv[1:]]),
        "card": torch.cuda.get_device_name(device)
        if card
        else "none: a tiny model on the processor",
        "cards": processes.count,
        "torch": torch.__version__,
        "precision": training.precision,
        "largest difference of losses from the processor's": apart,
        "positions of a batch": training.max_tokens,
        **measure(recipe, device, processes, arguments.peak, **how),
    }


def main(words: list[str] | None = None) -> None:
    """Print the record, and write it if it is that of a card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--positions", type=int, default=16_000, help="of a batch, for each card")
    parser.add_argument("--peak", type=float, help="of one card, in TFLOP/s")
    parser.add_argument(
        "--shard", action="store_true", help="each card keeps a part of the weights"
    )
    parser.add_argument("--compile", action="store_true", help="torch compiles the layers")
    try:
        with joined() as processes:
            record = run(parser.parse_args(words), processes)
    except ToldElsewhereError:
        sys.exit(1)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    if processes.first:
        text = json.dumps(record, indent=1)
        print(text)
        if not record["card"].startswith("none"):
            RECORD.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
