"""Probes tie the record of an experiment to what the code does, not to how it is written.

A probe is the experiment itself with a few dozen updates (the script's PROBE says which values of CONFIG
change). While it runs, numbers are collected that any change of behaviour would move:

    scores, curves, texts   what the experiment measures, without its times
    trainings               losses, gradients and rates of all updates; then, for fixed inputs, logits, loss,
                            greedy search, beam search, sampling; the same logits from the weights that a
                            checkpoint gives back and from the average of the checkpoints; and the losses
                            after going back to an earlier checkpoint
    translators             each that was saved: loaded again, some translations and their scores

A record is current if a new probe agrees with its own, number by number, within a tolerance: processors round
differently. In some trainings the smallest difference grows until it decides (layers without norms, say). So
what is recorded is what settles: the probe is run once more with weights that are shaken by a few millionths,
and what this moves is left out.
"""

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from transformer_course import lexicon
from transformer_course.checkpoints import (
    list_checkpoints,
    load_checkpoint,
    load_weights,
    with_prefix,
)
from transformer_course.corpus import grammar, multi30k
from transformer_course.corpus.pairs import Pair
from transformer_course.decoding import beam_search, greedy, sample
from transformer_course.encoder_decoder import Transformer
from transformer_course.training import Trainer, average_checkpoints
from transformer_course.translator import Translator

Probe = dict[str, Any]
SENTENCES = ["the cat sleeps", "she does not see the small tree", "are they happy?"]
TOLERANCE = {"fp32": 5e-3, "bf16": 5e-2}  # relative
SHAKE = {"fp32": 3e-6, "bf16": 1e-4}  # as far as other processors and threads round otherwise
SETTLED = 0.2  # what the shake moves by more than a fifth of the tolerance is left out
ONE_SIDED = ": only in one of both"
DECIDED = (
    "texts / ",
    " / searches / ",
    " / translations / ",
)  # where a near tie decides, not a number
TIMED = ("seconds", "times faster", "tokens/s", "minutes")  # what differs from run to run


def settled_probe(script: ModuleType) -> Probe:
    """The probe that goes into a record: None where chance decides.

    Args:
        script: an experiment, as `run_experiments.load` imports it.
    """
    least = SETTLED * tolerance(script)
    return dict(settled(probe(script), probe(script, SHAKE[precision(script)]), least))


def settled(value: Any, shaken: Any, least: float) -> Any:
    """`value` with None for each part in which `shaken` differs."""
    if isinstance(value, dict):
        return {key: settled(part, shaken[key], least) for key, part in value.items()}
    if isinstance(value, list) and len(value) == len(shaken):
        return [settled(a, b, least) for a, b in zip(value, shaken, strict=True)]
    return None if differences(value, shaken, least) else value


def probe(script: ModuleType, shake: float = 0.0) -> Probe:
    """Run an experiment at the size of its PROBE, and return what can be compared.

    Args:
        script: an experiment, as `run_experiments.load` imports it.
        shake: relative size of random changes to the weights at the beginning of each training.
    """
    config = merged(script.CONFIG, script.PROBE)
    with TemporaryDirectory() as folder, _small_corpora(), _watched_trainings(shake) as trainings:
        result = script.run(0, config, Path(folder))
        found = {key: value for key, value in result.items() if key != "seconds"}
        saved = sorted(Path(folder).rglob("model.safetensors"))
        translators = [_translations(Translator.load(path.parent)) for path in saved]
    return dict(_rounded(found | {"trainings": trainings, "translators": translators}))


def merged(config: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`config` with the values of `changes`, nested dictionaries merged key by key."""
    return config | {
        key: merged(config[key], value) if isinstance(value, dict) else value
        for key, value in changes.items()
    }


def differences(
    old: Any, new: Any, tolerance: float = TOLERANCE["fp32"], where: str = ""
) -> list[str]:
    """Where two probes differ, one line for each place; empty if they agree.

    Args:
        old: what was recorded; nothing is compared with None.
        new: what the code gives now.
        tolerance: largest difference of two numbers, relative to the larger one, or to 0.01 if both are small.
        where: the place within the whole probe.
    """
    if old is None:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        lines = [f"{where}{key}{ONE_SIDED}" for key in sorted(old.keys() ^ new.keys())]
        for key in (key for key in old if key in new):
            lines += differences(old[key], new[key], tolerance, f"{where}{key} / ")
        return lines
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where}{len(old)} entries, now {len(new)}"]
        parts = enumerate(zip(old, new, strict=True))
        return [
            line for i, (a, b) in parts for line in differences(a, b, tolerance, f"{where}{i} / ")
        ]
    if isinstance(old, int | float) and isinstance(new, int | float):
        room = tolerance * max(abs(old), abs(new), 1e-2)
        same = old == new or abs(old - new) <= room or (math.isnan(old) and math.isnan(new))
        return [] if same else [f"{where.removesuffix(' / ')}: {old} → {new}"]
    return [] if old == new else [f"{where.removesuffix(' / ')}: {old!r} → {new!r}"]


def changes_of(
    script: ModuleType, old: Probe, new: Probe, same_instructions: bool = True
) -> list[str]:
    """What differs between two probes of an experiment; empty if the code behaves as it did.

    On another processor a tie between two tokens may fall otherwise: one number in 500 may differ. A name that
    only one of both has is never a tie. Products with 16 bits are rounded otherwise by other instructions, and
    a greedy search that takes another token once goes on from there: then its words aren't compared, but
    losses, gradients, logits and scores are.

    Args:
        script: the experiment.
        old: what was recorded.
        new: what the code gives now.
        same_instructions: whether both come from processors with the same vector instructions.
    """
    found = differences(old, new, tolerance(script))
    if not same_instructions and precision(script) == "bf16":
        found = [line for line in found if not any(part in line for part in DECIDED)]
    renamed = any(line.endswith(ONE_SIDED) for line in found)
    return found if renamed or len(found) > _count(old) // 500 else []


def _count(value: Any) -> int:
    """How many numbers and texts there are in a probe."""
    parts = value.values() if isinstance(value, dict) else value
    return sum(map(_count, parts)) if isinstance(value, dict | list) else 1


def tolerance(script: ModuleType) -> float:
    """How far the numbers of a probe may differ: products with 16 bits depend more on the processor."""
    return TOLERANCE[precision(script)]


def precision(script: ModuleType) -> str:
    """What an experiment trains in."""
    return "bf16" if "bf16" in repr(script.CONFIG) else "fp32"


@contextmanager
def _small_corpora() -> Iterator[None]:
    """Two challenge sentences for each phenomenon; our own sentences in the place of Multi30k's.

    A hundred pairs, not thousands, show on which words translations depend.
    """

    def few(seed: int) -> dict[str, list[Pair]]:
        return {kind: list(grammar.sentences_with(kind, "test", 2)) for kind in grammar.PHENOMENA}

    def not_multi30k(split: str, *_: object, **__: object) -> list[Pair]:
        pairs = list(grammar.generate("train" if split == "train" else "test", 200))
        return pairs if split == "train" else pairs[:6]

    with (
        patch.object(grammar, "challenge_sets", few),
        patch.object(multi30k, "load_pairs", not_multi30k),
        patch.object(lexicon, "_PAIRS", 100),
    ):
        yield


@contextmanager
def _watched_trainings(shake: float) -> Iterator[list[dict[str, Any]]]:
    """Collect what every `Trainer` does while the block runs; `shake` as for `probe`."""
    found: list[dict[str, Any]] = []
    train = Trainer.train

    def watched(self: Trainer, report: Any = None) -> Any:
        seen: dict[str, Any] = {"losses": [], "gradients": [], "rates": []}
        with torch.random.fork_rng(), torch.no_grad():
            for weight in self.model.parameters() if shake else ():
                weight.mul_(1 + shake * torch.randn_like(weight))

        def update(optimizer: torch.optim.Optimizer, *_: object) -> None:
            groups = optimizer.param_groups
            with_gradient = [p for p in groups[0]["params"] if p.grad is not None]
            ends = with_gradient[0], with_gradient[-1]
            seen["gradients"].append([p.grad.norm().item() for p in ends])
            seen["rates"].append(groups[0]["lr"])

        def both(progress: Any) -> None:
            seen["losses"].append(progress.loss)
            if report:
                report(progress)

        hook = self.optimizer.register_step_pre_hook(update)
        outcome = train(self, both)
        hook.remove()
        with torch.random.fork_rng():
            found.append(seen | {"outcome": outcome} | _observed(self, train))
        return outcome

    with patch.object(Trainer, "train", watched):
        yield found


def _observed(trainer: Trainer, train: Any) -> dict[str, Any]:
    """What a trained model answers for fixed inputs, and what its checkpoints give back."""
    model: Any = deepcopy(trainer.model)
    inputs = _fixed_inputs(trainer)
    model.train()  # where there is dropout, its random numbers count
    torch.manual_seed(0)
    with torch.no_grad():
        loss = trainer.loss_fn(model, *inputs).item()
    seen: dict[str, Any] = {"loss": loss, "logits": _logits(model.eval(), inputs)}
    if hasattr(model, "start"):
        beginning = inputs[0] if hasattr(model, "encode") else inputs[0][:, :3]
        seen["searches"] = _searches(model, beginning)
    seen["history"] = [dict(record) for record in trainer.history]  # its seconds are left out later
    paths = list_checkpoints(trainer.folder) if trainer.folder else []
    if not paths or trainer.folder is None:
        return seen
    nothing = {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for name, weights in (
        ("loaded", with_prefix(load_checkpoint(trainer.folder)[0], "model.")),
        ("averaged", average_checkpoints(paths)),
    ):
        load_weights(model, nothing)
        load_weights(model, weights)
        seen[f"logits, {name}"] = _logits(model, inputs)
    if len(paths) > 1:
        trainer.resume(paths[-2].name)
        again: list[float] = []
        train(trainer, lambda progress: again.append(progress.loss))
        model = deepcopy(trainer.model).eval()
        seen["losses, resumed"] = again
        seen["logits, resumed"] = _logits(model, inputs)
    return seen


def _fixed_inputs(trainer: Trainer) -> Sequence[Tensor]:
    """Two pairs of sentences; for a model of another family, two of the training's own rows."""
    model: Any = trainer.model
    if not hasattr(model, "encode"):
        return trainer.data.tensors(trainer.data.epoch()[0][:2])
    ids, size = torch.arange(14).view(2, 7), model.config.vocab_size
    src, tgt = 3 + ids * 13 % (size - 3), 3 + ids * 29 % (size - 3)
    src[1, 5:], tgt[:, 0], tgt[1, 4:] = model.config.pad_id, 1, model.config.pad_id
    return src, tgt


@torch.no_grad()
def _logits(model: nn.Module, inputs: Sequence[Tensor]) -> list[float]:
    """Some scores at the ends of the targets, and the spread of all."""
    if not hasattr(model, "encode"):
        parameters = inspect.signature(model.forward).parameters.values()
        # The source; some want its fertilities, or a target, too.
        wanted = sum(p.default is p.empty for p in parameters)
        scores: Tensor = model(*(inputs[0], inputs[-1])[:wanted])
        return [*scores.flatten()[:: 1 + scores.numel() // 12].tolist(), scores.std().item()]
    logits: Tensor = model(*inputs)
    return [
        *logits[:, 3, :6].flatten().tolist(),
        *logits[:, -1, 3:6].flatten().tolist(),
        logits.std().item(),
    ]


def _searches(model: Transformer, src: Tensor) -> dict[str, Any]:
    """What greedy search, sampling and, for a Transformer, beam search write."""
    limit = 8
    drawn = torch.Generator().manual_seed(0)
    seen: dict[str, Any] = {
        "greedy": greedy(model, src, limit),
        "sampled": sample(model, src, limit, temperature=0.7, top_k=50, top_p=0.9, generator=drawn),
    }
    if isinstance(model, Transformer):
        found = beam_search(model, src, 3, limit, alpha=1.0, top_beams=2)
        seen["beam"] = [[h.ids, h.log_prob, h.score] for best in found for h in best]
    return seen


def _translations(translator: Translator) -> dict[str, Any]:
    """What a saved translator makes of some sentences."""
    pairs = [(text, "le chat dort") for text in SENTENCES]
    found = {"translations": translator.translate(SENTENCES)}
    if not hasattr(translator.model, "start"):  # it writes all words at once, and scores none
        return found
    return found | {"scores": translator.score(pairs)}


def _rounded(value: Any) -> Any:
    """The value as JSON gives it back, six digits of each number, without times."""
    if isinstance(value, dict):
        kept = {str(k): v for k, v in value.items() if not any(t in str(k) for t in TIMED)}
        return {key: _rounded(part) for key, part in kept.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
