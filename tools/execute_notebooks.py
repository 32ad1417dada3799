"""Execute every notebook that `_toc.yml` lists, in its order, and store outputs and widget states.

A file is rewritten only if its source, its text outputs or the pixels of its pictures changed, so a
second run changes no file. `--check` writes nothing and fails if a file would change. `--scripts` runs
nothing: it gives the stored figures the present scripts and styles of the package. Paths choose some of
the notebooks; without them all are executed.
"""

from __future__ import annotations

import argparse
import base64
import functools
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

from transformer_course.figures.widget import joined

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1_000_000  # bytes a notebook may have
PIXEL_TOLERANCE = 2.0  # mean difference of grey values, 0 to 255, that counts as the same picture
WIDGET_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
KEPT_METADATA = ("kernelspec", "language_info", "mystnb", "widgets")


class NotebookError(Exception):
    """A notebook cannot be stored; the message is one sentence naming it."""


def listed_notebooks(root: Path = ROOT) -> list[Path]:
    """Return the notebooks of `_toc.yml`, in the order of the book."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    named = (root / f"{file.removesuffix('.ipynb')}.ipynb" for file in _files(toc))
    return [path for path in named if path.exists()]


def _files(node: Any) -> Iterator[str]:
    """Walk through `_toc.yml` and yield every file it names."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"root", "file"}:
                yield value
            else:
                yield from _files(value)
    elif isinstance(node, list):
        for item in node:
            yield from _files(item)


def execute(path: Path, timeout: int) -> Any:
    """Run a notebook in its own folder and return it with outputs, ready to be stored."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("widgets", None)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        record_timing=False,
        store_widget_state=True,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=40"],  # errors only
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise NotebookError(f"{_name(path)} stopped: {error.ename}: {error.evalue}") from None
    return clean(notebook, path)


def clean(notebook: Any, path: Path) -> Any:
    """Make an executed notebook independent of machine and run, and check what is stored."""
    notebook.metadata = nbformat.from_dict(
        {key: notebook.metadata[key] for key in KEPT_METADATA if key in notebook.metadata}
    )
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        cell.metadata.pop("ExecuteTime", None)
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                raise NotebookError(f"{_name(path)} stores an error: {output.ename}")
            output.update(_map_text(dict(output), _hide_folders))
    notebook = nbformat.from_dict(_map_text(notebook, _widget_numbers(notebook)))
    nbformat.validate(notebook)
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """Neighbouring pieces of one stream as one: where a busy kernel cuts it is chance."""
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == "stream" == last.output_type and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def _map_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return the value with `change` applied to every text in it but pictures, keys included."""
    if isinstance(value, dict):
        return {
            change(key): item if key.startswith("image/") else _map_text(item, change)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_map_text(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def _hide_folders(text: str) -> str:
    """Replace the folders of this machine by names that mean the same on every machine."""
    for folder, name in ((ROOT, "."), (Path(sys.prefix), "<python>"), (Path.home(), "~")):
        text = text.replace(f"{folder}/", f"{name}/")
    return text


def _widget_numbers(notebook: Any) -> Callable[[str], str]:
    """Return a function that numbers the random ids of widgets in the order of their making."""
    states = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    numbers = {ident: f"{index:032x}" for index, ident in enumerate(states, start=1)}
    return lambda text: WIDGET_ID.sub(lambda found: numbers.get(found[0], found[0]), text)


def renewed(path: Path) -> Any:
    """Return a notebook whose interactive figures have the present scripts and styles, without running it."""
    notebook = nbformat.read(path, as_version=4)
    for model in (
        notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {}).values()
    ):
        module = model["state"].get("_anywidget_id", "").rpartition(".")[0].rpartition(".")[2]
        if module:
            for key, suffix in (("_esm", "js"), ("_css", "css")):
                model["state"][key] = joined(module, suffix)
    return notebook


def same(old: Any, new: Any) -> bool:
    """True if two notebooks agree in everything but small differences of pixels.

    Numbers, text and widget states must be equal; pictures may differ by PIXEL_TOLERANCE.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            same_picture(old[key], new[key]) if key == "image/png" else same(old[key], new[key])
            for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return bool(old == new)


def same_picture(old: str, new: str) -> bool:
    """True if two PNG pictures, in base64, have one size and hardly differ."""
    if old == new:
        return True
    first, second = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA"), dtype=float)
        for png in (old, new)
    )
    return first.shape == second.shape and bool(np.abs(first - second).mean() <= PIXEL_TOLERANCE)


def run(path: Path, check: bool, made: Callable[[Path], Any]) -> bool:
    """Make one notebook anew, store it unless `check`, and return whether it changed."""
    old = path.read_text(encoding="utf-8")
    notebook = made(path)
    new = nbformat.writes(notebook) + "\n"
    if len(new.encode()) > LIMIT:
        raise NotebookError(f"{_name(path)} would have {len(new.encode())} bytes; limit {LIMIT}")
    changed = not same(json.loads(old), json.loads(new))
    if changed and not check:
        part = path.with_suffix(".part")
        part.write_text(new, encoding="utf-8")
        part.replace(path)
    return changed


def _name(path: Path) -> str:
    """Return the path as a reader of the project knows it."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def main() -> int:
    """Execute the notebooks; 1 if one failed, or changed under --check."""
    parser = argparse.ArgumentParser(description="Execute the book's notebooks and store outputs.")
    parser.add_argument("paths", nargs="*", type=Path, help="some notebooks only")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a change")
    parser.add_argument("--timeout", type=int, default=600, help="seconds a cell may take")
    parser.add_argument(
        "--scripts", action="store_true", help="run nothing, renew the scripts of stored figures"
    )
    options = parser.parse_args()
    made = renewed if options.scripts else functools.partial(execute, timeout=options.timeout)
    status = 0
    for path in [path.resolve() for path in options.paths] or listed_notebooks():
        try:
            changed = run(path, options.check, made)
        except NotebookError as error:
            print(error, file=sys.stderr)
            return 1
        word = ("would change" if options.check else "rewritten") if changed else "unchanged"
        print(f"{_name(path)}: {word}", flush=True)
        status = status or int(changed and options.check)
    return status


if __name__ == "__main__":
    sys.exit(main())
