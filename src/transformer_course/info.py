"""What a run is (chapter 14): its recipe, sizes, data, progress, files and versions, read from its folder."""

import json
import math
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer_course import __version__
from transformer_course.checkpoints import CheckpointError, list_checkpoints, read_json, read_sealed
from transformer_course.corpus.shards import PLAN, RECORD
from transformer_course.recipe import Recipe
from transformer_course.recipe.data import uses
from transformer_course.recipe.folder import load_run
from transformer_course.translator import Translator, exported_for, load_vocabulary

_RUN = ("run.json", "recipe.json", "history.json", "model.safetensors")  # what only runs have
_PARTS = (*_RUN[:2], "vocabulary.json", *_RUN[2:])


def run_info(folder: str | Path) -> dict[str, Any]:
    """All that the folder of a run says of it.

    Args:
        folder: of a run, finished or not, by command or in Python; or of a translator that was saved.

    Returns:
        Plain values by name, as JSON can say them. What the folder doesn't have is None, or an empty list.

    Raises:
        CheckpointError: if there is no such folder, it is no run's, or one of its files is damaged.
    """
    path = Path(folder)
    if not path.is_dir():
        raise CheckpointError(f"there is no folder {path}")
    checkpoints = list_checkpoints(path)
    has = {name: (path / name).exists() for name in _PARTS}
    if not checkpoints and not any(has[name] for name in _RUN):
        raise CheckpointError(f"{path} is no folder of a run: {_what_else(path)}")
    recipe = Recipe.load(path).record() if has["recipe.json"] else None
    history = _history(path / "history.json") if has["history.json"] else []
    return {
        "run": str(path),
        "state": _state(has, recipe, history, bool(checkpoints)),
        "model": _model(path) if has["model.safetensors"] else None,
        "vocabulary": len(load_vocabulary(path)) if has["vocabulary.json"] else None,
        "data": _data(path) if has["run.json"] else None,
        "recipe": recipe,
        "validations": len(history),
        "best": min(history, key=lambda record: record["loss"]) if history else None,
        "last": history[-1] if history else None,
        "checkpoints": [found.name for found in checkpoints],
        "files": {p.name: p.stat().st_size for p in sorted(path.iterdir()) if p.is_file()},
        "formats": {name: _format(path / name) for name in _PARTS[:2] if has[name]},
        "versions": {"transformer-course": __version__, "torch": torch.__version__},
    }


def _what_else(path: Path) -> str:
    """What a folder is that is no run's."""
    train = shlex.join(["transformer-course", "train", "--data", str(path)])
    if (path / RECORD).exists():
        return f"it holds data of the command prepare; train with: {train} --out RUN"
    if (path / PLAN).exists():
        return "it holds a part of the data of the command prepare: the same command completes it"
    return exported_for(path) or f"it has none of {', '.join(_RUN)}"


def info_text(info: dict[str, Any]) -> str:
    """What `run_info` found, for people.

    Args:
        info: as `run_info` gives it.

    Returns:
        Lines of a name and what is to be said; no line for what isn't there.
    """
    return "\n".join(f"{name:<14}{said}" for name, said in _lines(info) if said)


def _lines(info: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "run", info["run"]
    yield "state", info["state"]
    if model := info["model"]:
        yield "model", f"{model['class']}, {model['parameters']:,} parameters"
        yield "sizes", _named(model["sizes"])
        yield "unsure below", f"{model['doubt_below']:.3f}" if model["doubt_below"] else ""
    if info["vocabulary"]:
        yield "vocabulary", f"{info['vocabulary']:,} subwords"
    yield "data", _named(info["data"] or {})
    if recipe := info["recipe"]:
        yield "recipe", _named({k: v for k, v in recipe.items() if k != "training"})
        yield "training", _named(recipe["training"])
    if info["best"]:
        yield "best", _validation(info["best"])
        yield "last", f"{_validation(info['last'])}; {info['validations']} validations"
    yield "checkpoints", ", ".join(info["checkpoints"])
    yield "files", ", ".join(f"{name} ({size:,} bytes)" for name, size in info["files"].items())
    yield "formats", _named(info["formats"])
    yield "read with", _named(info["versions"])


def _named(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in values.items())


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " and ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _validation(record: dict[str, Any]) -> str:
    """A line of the history: where, the loss, and what else was measured there."""
    known = ("step", "seconds", "rate", "train_loss", "loss")
    others = _named({name: value for name, value in record.items() if name not in known})
    perplexity = math.exp(min(record["loss"], 700.0))  # beyond, it is no number any more
    said = f"loss {record['loss']:.4f} (perplexity {perplexity:.3f}) at step {record['step']:,}"
    return f"{said}, {others}" if others else said


def _state(
    has: dict[str, bool],
    recipe: dict[str, Any] | None,
    history: list[dict[str, Any]],
    saved: bool,
) -> str:
    step = history[-1]["step"] if history else 0
    if has["model.safetensors"]:
        return f"a translator, validated up to step {step:,}" if step else "a translator"
    if not (recipe or history or saved):
        return "not started: it ended before its recipe was written; start it by the same command"
    planned = f" of {recipe['training']['max_steps']:,}" if recipe else ""
    return f"not finished: validated up to step {step:,}{planned}; resume it by train --resume"


def _model(path: Path) -> dict[str, Any]:
    translator = Translator.load(path)
    return {
        "class": type(translator.model).__name__,
        "parameters": sum(weight.numel() for weight in translator.model.parameters()),
        "sizes": asdict(translator.model.config),
        "doubt_below": translator.doubt_below,
    }


def _data(path: Path) -> dict[str, Any]:
    """Where the pairs come from: what this corpus uses, and what is set."""
    data, threads = load_run(path)
    used = {
        n: v for n, v in asdict(data).items() if uses(data.corpus, n) and v not in ("", (), None)
    }
    return used | {"threads": threads}


def _history(path: Path) -> list[dict[str, Any]]:
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        for record in records:
            if type(record["step"]) is not int or type(record["loss"]) not in (int, float):
                raise TypeError(f"{record} has no step, or no loss")
            float(record["loss"])  # JSON has whole numbers of any size
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: it is no history of validations") from error
    return list(records)


def _format(path: Path) -> int:
    """The number of a file's format; files of before there was one count as 1."""
    read_sealed(path)  # refuses what was changed, or is of a later format
    return int(read_json(path).get("format", 1))
