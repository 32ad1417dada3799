"""The options of a training as a TOML file (chapter 07), so that a run can be read, changed and repeated."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformer_course.checkpoints import CheckpointError
from transformer_course.recipe.data import Data, uses
from transformer_course.recipe.settings import Recipe

NAME = "config.toml"
HEAD = "# The options of this run; another starts with: transformer-course train --config FILE --out RUN\n"
# Options whose names differ from those of the fields of `Recipe`, `TrainingConfig` and `Data`.
_OPTIONS = {
    "n_layers": "layers",
    "n_decoder_layers": "decoder-layers",
    "n_heads": "heads",
    "max_steps": "steps",
    "peak_rate": "rate",
    "warmup_steps": "warmup",
    "prepared": "data",
}
_NO_OPTION = ("schedule", "clip_norm")


def options_of(data: Data, recipe: Recipe) -> dict[str, Any]:
    """Every option that decides a training, by its name on the command line.

    Args:
        data: where the pairs come from.
        recipe: how to train.

    Returns:
        Options and their values; none that the corpus would ignore.

    >>> options = options_of(Data(files=("a.en", "a.fr")), Recipe(dropout=0.3))
    >>> options["pairs"], options["dropout"], options["layers"]
    (['a.en', 'a.fr'], 0.3, 2)
    """
    known = asdict(data) | recipe.settings()
    for name, prefix in (("files", ""), ("valid_files", "valid-")):
        files = list(known.pop(name))
        known[f"{prefix}pairs"] = files if len(files) == 2 else None
        known[f"{prefix}tsv"] = files[0] if len(files) == 1 else None
    left_out = {*_NO_OPTION, *(["vocab_size"] if data.prepared else [])}
    return {
        _OPTIONS.get(name, name.replace("_", "-")): value
        for name, value in known.items()
        if name not in left_out and uses(data.corpus, name) and value not in (None, "")
    }


def toml_text(options: dict[str, Any]) -> str:
    """Options as TOML.

    Args:
        options: values by name: text, numbers, truth values, and lists of text.

    Returns:
        A line for each.

    Raises:
        ValueError: if a text, such as the name of a file, is no UTF-8.

    >>> toml_text({"steps": 10, "pairs": ["a.en", "a.fr"]})
    'steps = 10\\npairs = ["a.en", "a.fr"]\\n'
    """
    return "".join(f"{name} = {_toml_value(name, value)}\n" for name, value in options.items())


def _toml_value(name: str, value: Any) -> str:
    """As JSON has it, but for surrogate pairs and DEL, which TOML forbids."""
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name} ({value!r}) can't be kept in {NAME}, as it is no UTF-8: rename the file or folder"
        ) from error
    return text


def read_options(path: Path, known: Iterable[str] | None = None) -> dict[str, Any]:
    """Read a file of options.

    Args:
        path: a file in TOML.
        known: the names that may stand in it; any if left out.

    Returns:
        Values by name.

    Raises:
        CheckpointError: if it can't be read.
        ValueError: if it is no TOML, or has an option that there isn't.
    """
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CheckpointError(f"{path} can't be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is no TOML: {error}") from error
    if known is not None and (unknown := sorted(options.keys() - set(known))):
        raise ValueError(f"{path}: there is no option {unknown[0]!r}; see train --help")
    return options
