"""Records of experiments are up to date, small, and can be made again."""

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import run_experiments  # noqa: E402
from fingerprint import fingerprint  # noqa: E402


def merged(config: dict[str, Any], reduced: dict[str, Any]) -> dict[str, Any]:
    """`config` with the values of `reduced`, nested dictionaries merged key by key."""
    return config | {
        key: merged(config[key], value) if isinstance(value, dict) else value
        for key, value in reduced.items()
    }


def test_there_are_experiments_and_no_orphaned_records() -> None:
    assert run_experiments.names()
    records = {path.stem for path in run_experiments.RECORDS.glob("*.json")}
    assert records <= set(run_experiments.names())


@pytest.mark.parametrize("name", run_experiments.names())
def test_record_was_made_by_the_code_as_it_is(name: str) -> None:
    assert run_experiments.is_current(name), f"{name} is out of date: run `make experiments`"


def test_records_are_small() -> None:
    sizes = [path.stat().st_size for path in run_experiments.RECORDS.glob("*.json")]
    assert sum(sizes) < 2_000_000


@pytest.mark.parametrize("name", run_experiments.names())
def test_experiment_runs_at_reduced_size(name: str, tmp_path: Path) -> None:
    script = run_experiments.load(name)
    result = script.run(0, merged(script.CONFIG, script.REDUCED), tmp_path / "run")
    assert set(result) == {"curves", "scores"}
    assert len({len(curve) for curve in result["curves"].values()}) == 1
    assert result["scores"]


def test_fingerprint_follows_code_not_comments(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("fingerprint.PACKAGE", tmp_path)
    module = tmp_path / "module.py"
    module.write_text('"""Doc."""\n\n\ndef f(x):\n    """Old."""\n    return x + 1\n')
    before = fingerprint({"a": 1}, ["module.py"])
    module.write_text('"""Other."""\n# note\n\n\ndef f(x):\n    """New."""\n    return x + 1\n')
    assert fingerprint({"a": 1}, ["module.py"]) == before
    assert fingerprint({"a": 2}, ["module.py"]) != before
    module.write_text('"""Doc."""\n\n\ndef f(x):\n    """Old."""\n    return x + 2\n')
    assert fingerprint({"a": 1}, ["module.py"]) != before
    with pytest.raises(ValueError, match=r"names 'gone\.py', which isn't in the package"):
        fingerprint({}, ["gone.py"])
