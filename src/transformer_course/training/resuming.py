"""What a checkpoint of a training holds (chapter 07), and whether a run may go on from it.

Checkpoints have a version. What a former one left out is filled in, so that old runs can be resumed.
"""

import json
from collections.abc import Callable
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from transformer_course.checkpoints import CheckpointError
from transformer_course.training.batches import Batches, Sizes
from transformer_course.training.config import TrainingConfig

# 1: without a version, the optimiser's kind, and the fingerprint of the held-out data.
# 2: without the number of tensors that the optimiser remembers.
# 3: without the last losses, by which spikes are found.
# 4: without the scale of the loss, which fp16 needs.
VERSION = 5


def may_change(name: str, old: object, new: object) -> bool:
    """Whether a run may go on with another value of a setting.

    It may be made longer, it may learn more gently from here on, as one that has diverged must, and it may wait
    longer for a better validation, as one that has stopped early must. Its batches may be cut into other parts.

    Args:
        name: the setting.
        old: its value so far.
        new: its value from now on.

    Returns:
        True for more `max_steps`, a lower `peak_rate`, more `warmup_steps` and more `patience`; 0, which is
        never to stop, is most of all. And for any `accumulate`.

    >>> may_change("peak_rate", 0.1, 0.01), may_change("peak_rate", 0.01, 0.1), may_change("seed", 0, 1)
    (True, False, False)
    >>> may_change("patience", 2, 5), may_change("patience", 2, 0), may_change("patience", 0, 2)
    (True, True, False)
    """
    if not (_is_number(old) and _is_number(new)):
        return False
    if name == "accumulate":
        return True
    if name == "patience":
        return bool(old and (not new or new > old))  # type: ignore[operator]
    more = float(new) - float(old)  # type: ignore[arg-type]
    return {"max_steps": more > 0, "warmup_steps": more > 0, "peak_rate": more < 0}.get(name, False)


CHANGEABLE = ("max_steps", "peak_rate", "warmup_steps", "patience", "accumulate")


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


def checked_values(folder: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a training's checkpoint, with what an older version left out.

    Args:
        folder: the run's, for the message.
        values: as they were read.

    Returns:
        All values, each of its type.

    Raises:
        CheckpointError: if it is the checkpoint of no training or of a later version, or a value is missing or
            of a wrong type.
    """
    version = values.get("version", 1)
    if _is_count(version) and version > VERSION:
        raise CheckpointError(
            f"{folder}: the checkpoint has version {version}, this package reads up to {VERSION}: "
            "install a newer one"
        )
    if not {"training", "model", "examples"} <= values.keys():
        raise CheckpointError(f"{folder}: the file is not a training checkpoint")
    all_values = {"version": 1, "optimizer": {"optimizer": "Adam"}, "held_out": {}} | values
    if _is_count(version) and version < 5:
        all_values = {"scaler": {}} | all_values
    if _is_count(version) and version < 4:
        all_values = {"recent": [], "spikes": 0} | all_values
    if (
        _is_count(version) and version < 3
    ):  # SGD may remember nothing, Adam does from the first update on
        adam = all_values["optimizer"] == {"optimizer": "Adam"}
        all_values["remembered"] = int(adam and values.get("step") != 0)
    for names, fits in _RULES.items():
        for name in names:
            value = all_values.get(name)
            if not fits(value):
                shown = repr(value)[:40]
                raise CheckpointError(
                    f"{folder}: the checkpoint is damaged: {name} can't be {shown}"
                )
    return all_values


def check_place(folder: Path, values: dict[str, Any], n_batches: int, alike: bool) -> None:
    """Refuse a checkpoint whose step isn't in its epoch.

    Args:
        folder: the run's, for the message.
        values: as `checked_values` gives them.
        n_batches: how many batches its epoch has.
        alike: whether each epoch has as many.

    Raises:
        CheckpointError: if the epochs before and the batches of this one that are done can't be so many steps.
    """
    step, epoch, position = (values[name] for name in ("step", "epoch", "position"))
    before = step - position
    if position >= n_batches or (before != epoch * n_batches if alike else before < epoch):
        raise CheckpointError(
            f"{folder}: the checkpoint is damaged: batch {position} of {n_batches} in epoch {epoch} "
            f"can't be step {step}"
        )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 2**63  # NaN isn't


def _is_history(value: Any) -> bool:
    """Records of validations, one after the other; what is scored beside the loss may be NaN."""
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        return False
    steps = [record.get("step") for record in value]
    return (
        all(map(_is_count, steps))
        and steps == sorted(steps)
        and all(_is_number(record.get("loss")) for record in value)
    )


_SCALER = {"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"}
_RULES: dict[tuple[str, ...], Callable[[Any], bool]] = {
    ("version", "step", "epoch", "position", "loss_count", "remembered", "spikes"): _is_count,
    ("seconds", "loss_sum"): _is_number,
    ("training", "model", "optimizer", "examples", "held_out"): lambda value: isinstance(
        value, dict
    ),
    ("history",): _is_history,
    ("scaler",): lambda value: (
        isinstance(value, dict)
        and value.keys() in (set(), _SCALER)
        and all(map(_is_number, value.values()))
    ),
    ("recent",): lambda value: isinstance(value, list) and all(map(_is_number, value)),
}


def check_same_run(
    folder: Path, saved: dict[str, Any], now: dict[str, dict[str, Any]], sizes: Sizes
) -> None:
    """Refuse a checkpoint of another run; what `may_change` allows may be other now.

    Args:
        folder: the run's, for the message.
        saved: the checkpoint's values, as `checked_values` gives them.
        now: what `same_run` says.
        sizes: the model's config, for the defaults of fields that the checkpoint doesn't know.

    Raises:
        CheckpointError: if the checkpoint belongs to another model, other examples or another way of training.
    """
    then = saved | {
        "training": upgraded_training(saved["training"]),
        "model": _defaults(sizes) | saved["model"],
    }
    for part, settings in now.items():
        for name, new in settings.items():
            _compare(folder, part, name, then[part].get(name), new)


def _compare(folder: Path, part: str, name: str, old: Any, new: Any) -> None:
    if part == "held_out" and None in (old, new):
        return  # one of the two doesn't know what was held out
    if old == new or may_change(name, old, new):
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
