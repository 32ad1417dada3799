"""What a checkpoint of a training holds (chapter 07), and whether a run may go on from it.

Checkpoints have a version. What a former one left out is filled in, so that old runs can be resumed.
"""

import json
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from transformer_course.checkpoints import CheckpointError
from transformer_course.training.batches import Batches, Sizes
from transformer_course.training.config import TrainingConfig

# 1: without a version, the optimiser's kind, and the fingerprint of the held-out data.
VERSION = 2


def same_run(
    config: TrainingConfig, sizes: Sizes, optimizer: str, data: Batches, held_out: Batches | None
) -> dict[str, dict[str, Any]]:
    """What must be the same on resuming, as JSON gives it back.

    Args:
        config: how to train.
        sizes: the model's config.
        optimizer: its kind.
        data: what is learned from.
        held_out: what is validated on, if that is known.

    Returns:
        Settings by name, in parts.
    """
    parts = {
        "training": asdict(config),
        "model": asdict(sizes),
        "optimizer": {"optimizer": optimizer},
        "examples": {"digest": data.digest},
        "held_out": {"digest": held_out.digest if held_out else None},
    }
    same: dict[str, dict[str, Any]] = json.loads(json.dumps(parts))
    return same


def upgraded_training(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a training as today's `TrainingConfig` takes them.

    A version before this one kept a peak rate beside the paper's schedule, which ignored it.

    Args:
        settings: as they were written; what is missing gets its default.

    Returns:
        All settings.

    >>> old = {"schedule": "inverse_sqrt", "peak_rate": 0.01}
    >>> upgraded_training(old)["peak_rate"] == TrainingConfig.peak_rate
    True
    """
    known = _defaults(TrainingConfig())
    if settings.get("schedule") == "inverse_sqrt":
        settings = settings | {"peak_rate": known["peak_rate"]}
    return known | settings


def check_same_run(
    folder: Path, saved: dict[str, Any], now: dict[str, dict[str, Any]], sizes: Sizes
) -> None:
    """Refuse a checkpoint of another run; only `max_steps` may be more now, which makes the run longer.

    Args:
        folder: the run's, for the message.
        saved: the checkpoint's values.
        now: what `same_run` says.
        sizes: the model's config, for the defaults of fields that the checkpoint doesn't know.

    Raises:
        CheckpointError: if the checkpoint belongs to another model, other examples or another way of training,
            is none of a training, or was written by a later version.
    """
    if saved.get("version", 1) > VERSION:
        raise CheckpointError(
            f"{folder}: the checkpoint has version {saved['version']}, this package reads up to {VERSION}: "
            "install a newer one"
        )
    if not {"training", "model", "examples"} <= saved.keys():
        raise CheckpointError(f"{folder}: the file is not a training checkpoint")
    then = {
        "training": upgraded_training(saved["training"]),
        "model": _defaults(sizes) | saved["model"],
        "optimizer": saved.get("optimizer", {"optimizer": "Adam"}),
        "examples": saved["examples"],
        "held_out": saved.get("held_out", {"digest": None}),
    }
    for part, settings in now.items():
        for name, new in settings.items():
            _compare(folder, part, name, then[part].get(name), new)


def _compare(folder: Path, part: str, name: str, old: Any, new: Any) -> None:
    if part == "held_out" and None in (old, new):
        return  # one of the two doesn't know what was held out
    if old == new or (name == "max_steps" and new > old):
        return
    if part in ("examples", "held_out"):
        did = "trained" if part == "examples" else "validated"
        raise CheckpointError(f"{folder}: the checkpoint was {did} on other examples")
    raise CheckpointError(f"{folder}: the checkpoint was trained with {name} = {old}, not {new}")


def _defaults(config: Sizes | TrainingConfig) -> dict[str, Any]:
    """The fields of a dataclass that have a default, as JSON gives it back."""
    found = {}
    for field in fields(config):
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            value = field.default_factory()
            found[field.name] = asdict(value) if hasattr(value, "__dataclass_fields__") else value
    defaults: dict[str, Any] = json.loads(json.dumps(found))
    return defaults
