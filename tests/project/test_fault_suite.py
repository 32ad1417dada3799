"""A sample of `make faults`: all faults that need no second process, and inputs that found something."""

import json
import logging
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import fault_suite  # noqa: E402
from fuzzing import changed_bytes, changed_json  # noqa: E402

from transformer_course.checkpoints import CheckpointError, write_json  # noqa: E402
from transformer_course.recipe.folder import load_run  # noqa: E402


@pytest.fixture
def quiet() -> Iterator[None]:
    """nbformat logs what it reads; a text that is no UTF-8 in a report ends pytest-xdist."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.filterwarnings("ignore::transformer_course.recipe.TrainingWarning")
@pytest.mark.usefixtures("quiet")
def test_no_fault_is_silent_none_a_traceback_none_hangs() -> None:
    # As many cases on a slow machine as on a fast one: the same dice, the same cases.
    slow = (*fault_suite.PROCESSES, *fault_suite.MODELS)
    quick = lambda name: not any(part in name for part in slow)  # noqa: E731
    found = fault_suite.table(math.inf, seed=1, only=quick, cases=60)
    assert [r["cases"] for r in found] == [60] * 13
    assert sum(r["refused"] for r in found) > 400
    computing = lambda name: any(p in name for p in ("none", "no room", "fork", "figure"))  # noqa: E731
    found += fault_suite.table(math.inf, seed=1, only=computing, cases=4)
    assert [r["cases"] for r in found[13:]] == [4] * 4
    assert [r for r in found if r["silent"] or r["traceback"] or r["hang"]] == []


def test_the_suite_tells_how_a_case_ended() -> None:
    def silent(dice: Random) -> None:
        raise fault_suite.Silent

    def broken(dice: Random) -> None:
        json.loads("{")

    def refused(dice: Random) -> None:
        load_run(Path("/no/such/run"))

    kinds = [fault_suite.ended(case, Random(0)) for case in (silent, broken, refused, bool)]
    assert kinds == ["silent", "traceback", "refused", "well"]


def test_changes_are_drawn_by_the_dice_alone() -> None:
    value = {"a": [1, {"b": 2}], "c": None}
    for seed in range(50):
        assert repr(changed_json(value, Random(seed))) == repr(changed_json(value, Random(seed)))
        assert changed_bytes(b"abc", Random(seed)) == changed_bytes(b"abc", Random(seed))
    assert value == {"a": [1, {"b": 2}], "c": None}


FOUND = [  # each was a traceback
    {"data": {"corpus": "", "files": [0], "valid_files": []}, "threads": 1},
    {"data": {"corpus": "", "files": [{}], "valid_files": [[]]}, "threads": 1},
    {"data": {"corpus": "multi30k", "files": [], "valid_files": [], "folder": 1.5}, "threads": 1},
]


@pytest.mark.parametrize("record", FOUND)
def test_inputs_that_found_something_are_refused(tmp_path: Path, record: object) -> None:
    write_json(tmp_path / "run.json", record)
    with pytest.raises(CheckpointError, match="must be the names of files"):
        load_run(tmp_path)
