"""Records of experiments are up to date, small, and can be made again."""

import json
import shutil
import statistics
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import run_experiments  # noqa: E402
from fingerprint import fingerprint  # noqa: E402

from transformer_course.corpus import grammar, multi30k  # noqa: E402
from transformer_course.corpus.pairs import Pair  # noqa: E402


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


ORDINARY = run_experiments.names(apart=False)
RECORDED = {path.stem for path in run_experiments.RECORDS.glob("*.json")}


@pytest.mark.parametrize("name", sorted(RECORDED.union(ORDINARY)))
def test_record_was_made_by_the_code_as_it_is(name: str) -> None:
    seeds = set(run_experiments.recorded(name))
    assert seeds, f"{name} is out of date: run `make experiments`"
    assert name not in ORDINARY or seeds == set(run_experiments.SEEDS)


def test_record_grows_seed_by_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_experiments, "RECORDS", tmp_path)
    monkeypatch.setattr(run_experiments, "ROOT", tmp_path)
    script = "CONFIG = {}\nMODULES = []\nrun = lambda seed, config, folder: {'scores': [seed]}\n"
    (tmp_path / "tried.py").write_text(script)
    run_experiments.run_experiment("tried", [2])
    shutil.rmtree(tmp_path / "runs")  # as on a machine that has only the record
    run_experiments.run_experiment("tried", [0])
    results = run_experiments.recorded("tried")
    assert [(seed, result["scores"]) for seed, result in results.items()] == [(0, [0]), (2, [2])]
    (tmp_path / "tried.py").write_text(script.replace("{}", "{'n': 1}"))
    assert run_experiments.recorded("tried") == {}


def test_seeds_that_run_side_by_side_keep_each_others_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_experiments, "RECORDS", tmp_path)
    monkeypatch.setattr(run_experiments, "ROOT", tmp_path)

    def run(seed: int, *_: object) -> dict[str, list[int]]:
        if seed == 1:  # while it runs, another one begins and ends
            run_experiments.run_experiment("tried", [0])
        return {"scores": [seed]}

    (tmp_path / "tried.py").write_text("CONFIG = {}\nMODULES = []\n")
    load = run_experiments.load

    def loaded(name: str) -> ModuleType:
        script = load(name)
        script.__dict__["run"] = run
        return script

    monkeypatch.setattr(run_experiments, "load", loaded)
    run_experiments.run_experiment("tried", [1])
    assert set(run_experiments.recorded("tried")) == {0, 1}


def test_records_are_small() -> None:
    sizes = [path.stat().st_size for path in run_experiments.RECORDS.glob("*.json")]
    assert sum(sizes) < 2_000_000


@pytest.fixture(scope="module")
def few() -> dict[str, list[Pair]]:
    """Small challenge sets: two sentences for each phenomenon."""
    return {kind: list(grammar.sentences_with(kind, "test", 2)) for kind in grammar.PHENOMENA}


def not_multi30k(split: str, *_: object, **__: object) -> list[Pair]:
    """The course's own sentences in the place of Multi30k's."""
    return list(grammar.generate("train" if split == "train" else "test", 4))


@pytest.mark.parametrize("name", run_experiments.names())
def test_experiment_runs_at_reduced_size(
    name: str, few: dict[str, list[Pair]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar, "challenge_sets", lambda seed: few)
    monkeypatch.setattr(multi30k, "load_pairs", not_multi30k)
    script = run_experiments.load(name)
    result = script.run(0, merged(script.CONFIG, script.REDUCED), tmp_path / "run")
    assert {"curves", "scores"} <= set(result) <= {"curves", "scores", "texts", "seconds"}
    assert len({len(curve) for curve in result["curves"].values()}) == 1
    assert result["scores"]


def test_claims_about_five_minutes_of_training() -> None:
    """What the pages say of the running corpus' translator, as a mean of three seeds."""
    record = json.loads((run_experiments.RECORDS / "running_corpus.json").read_text("utf-8"))
    scores = [seed["scores"] for seed in record["seeds"]]
    assert len(scores) == 3
    assert statistics.fmean(s["exact match"] for s in scores) >= 0.9
    for score in scores:
        assert 0 <= score["exact match"] - score["exact match, greedy search"] < 0.012
    for kind in ("antecedent", "fitting"):
        systems = {
            name: [score["il or elle"][kind][name] for score in scores]
            for name in scores[0]["il or elle"][kind]
        }
        transformer = sorted(systems.pop("Transformer"))
        assert transformer[1] > 0.95
        assert transformer[0] > (0.95 if kind == "antecedent" else 0.65)
        assert max(map(statistics.fmean, systems.values())) <= 0.6
        assert len(systems) == 4
    for phenomenon, row in scores[0]["by phenomenon"].items():
        assert row["Transformer"] > max(v for name, v in row.items() if name != "Transformer"), (
            phenomenon
        )
    means = {
        name: statistics.fmean(s["by phenomenon"][name]["Transformer"] for s in scores)
        for name in scores[0]["by phenomenon"]
    }
    assert statistics.fmean(means.values()) == pytest.approx(0.88, abs=0.005)
    test = [pair.source for pair in grammar.generate("test", 1000, seed=0)]
    assert sum("because it was too" in text or "because it is too" in text for text in test) == 576
    hardest = {"participle agreement", "relative que", "profession"}
    assert set(sorted(means, key=means.__getitem__)[:3]) == hardest


def test_fingerprint_follows_code_that_is_used(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("fingerprint.PACKAGE", tmp_path)
    module = tmp_path / "module.py"

    def after(*code: str, config: Any = 1, uses: tuple[str, ...] = ("f",)) -> str:
        module.write_text("\n".join(code) + "\n")
        return fingerprint(config, ["module.py"], uses)

    f, g = 'def f(x):\n    """Old."""\n    return g(x) + K', "def g(x):\n    return x"
    before = after("K = 1", f, g)
    assert after('"""Doc."""', "# note", "K = 1", f.replace("Old", "New"), g) == before
    assert after("K = 1", g, f) == before
    assert after("import os", "K = 1", f, g, "def unused():\n    return K") == before
    assert after("K = 1", f, g, config=2) != before
    assert after("K = 2", f, g) != before
    assert after("K = 1", f, g.replace("return x", "return -x")) != before
    assert after("K = 1", f, g, "f = g") != before
    assert after("K = 1", f, g, "print(K)") != before
    assert after("K = 1", f, g, uses=("g",)) != before
    assert after("K = 1", f, g, "TABLE = {}", "def h():\n    pass") == before
    assert after("K = 1", f.replace("g(x)", "getattr(x, 'h')"), g, "def h():\n    pass") != after(
        "K = 1", f.replace("g(x)", "getattr(x, 'h')"), g, "def h():\n    return 1"
    )
    with pytest.raises(ValueError, match=r"names 'gone\.py', which isn't in the package"):
        fingerprint({}, ["gone.py"], ())
