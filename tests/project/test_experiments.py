"""Records of experiments are up to date, small, and can be made again."""

import importlib
import inspect
import json
import math
import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import experiment_training  # noqa: E402
import multi30k_training  # noqa: E402
import mutants  # noqa: E402
import probes  # noqa: E402
import run_experiments  # noqa: E402
import small_corpus_training  # noqa: E402
from course_experiment import flatten, ledger  # noqa: E402

from transformer_course.checkpoints import CheckpointError  # noqa: E402
from transformer_course.corpus import grammar  # noqa: E402
from transformer_course.corpus.pairs import Pair  # noqa: E402


def test_there_are_experiments_and_no_orphaned_records() -> None:
    assert run_experiments.names()
    records = {path.stem for path in run_experiments.RECORDS.glob("*.json")}
    assert records <= set(run_experiments.names())


ORDINARY = run_experiments.names(apart=False)
RECORDED = {path.stem for path in run_experiments.RECORDS.glob("*.json")}
PROBED = [fault for fault in mutants.named_faults() if fault.probe]


@pytest.mark.parametrize("name", sorted(RECORDED.union(ORDINARY)))
def test_code_behaves_as_it_did_when_the_record_was_made(name: str) -> None:
    found = run_experiments.changes(name)
    assert not found, f"{name} is no longer current (CONTRIBUTING, Experiments): {found[:5]}"
    seeds = run_experiments.seeds_of(run_experiments.read_record(name))
    assert seeds
    assert name not in ORDINARY or seeds == set(run_experiments.SEEDS)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_changed_on_purpose_stands_in_the_ledger(name: str) -> None:
    """A reason for each probe that was accepted later, and a fresh score within those recorded."""
    record = run_experiments.read_record(name)
    assert record is not None
    accepted = [probe["commit"] for probe in record["probes"][1:]]
    entries = [entry for entry in ledger() if name in entry["records"]]
    assert [entry["commit"] for entry in entries] == accepted
    for entry in entries:
        assert entry["reason"].strip()
        for score, value in entry.get("fresh", {}).get(name, {}).items():
            found = [flatten(seed["scores"])[score] for seed in record["seeds"]]
            room = max(found) - min(found)
            assert min(found) - room <= value <= max(found) + room, (score, value, found)


def test_record_grows_seed_by_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_experiments, "RECORDS", tmp_path)
    monkeypatch.setattr(run_experiments, "ROOT", tmp_path)
    script = "CONFIG = PROBE = {}\nrun = lambda seed, config, folder: {'scores': [seed, 1]}\n"
    (tmp_path / "tried.py").write_text(script)
    run_experiments.run_experiment("tried", [2])
    shutil.rmtree(tmp_path / "runs")  # as on a machine that has only the record
    run_experiments.run_experiment("tried", [0])
    assert not run_experiments.changes("tried")
    record = run_experiments.read_record("tried")
    assert record is not None
    assert [(r["seed"], r["scores"]) for r in record["seeds"]] == [(0, [0, 1]), (2, [2, 1])]
    (tmp_path / "tried.py").write_text(script.replace("{}", "{'n': 1}"))
    assert "CONFIG" in run_experiments.changes("tried")[0]
    (tmp_path / "tried.py").write_text(script.replace("1]", "2]"))
    assert run_experiments.changes("tried") == ["scores / 1: 1 → 2"]
    run_experiments.run_experiment("tried", [1])  # what other code gave is put aside, not mixed in
    assert run_experiments.seeds_of(run_experiments.read_record("tried")) == {1}
    assert len(list((tmp_path / "runs" / "experiments").glob("tried-before-*"))) == 1
    (tmp_path / "tried.py").write_text(
        f"{script}\n"
    )  # of another size: compiled code is told by time and size
    assert run_experiments.accept("tried")
    assert not run_experiments.accept("tried")
    assert not run_experiments.changes("tried")


def test_a_setting_that_came_later_leaves_records_current() -> None:
    then = {"n": 1, "training": {"max_steps": 5}, "kinds": [{"max_steps": 5}]}
    more = {"max_steps": 5, "accumulate": 1}
    assert run_experiments.same_config(then, then | {"training": more, "kinds": [more]})
    assert not run_experiments.same_config(then, then | {"training": more | {"accumulate": 2}})
    assert not run_experiments.same_config(then, then | {"m": 1})
    assert not run_experiments.same_config(then | {"m": 1}, then)
    assert not run_experiments.same_config(then, then | {"kinds": [more, more]})


def test_seeds_that_run_side_by_side_keep_each_others_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_experiments, "RECORDS", tmp_path)
    monkeypatch.setattr(run_experiments, "ROOT", tmp_path)

    def run(seed: int, *_: object) -> dict[str, list[int]]:
        if seed == 1:  # while it runs, another one begins and ends
            run_experiments.run_experiment("tried", [2])
        return {"scores": [0]}

    (tmp_path / "tried.py").write_text("CONFIG = PROBE = {}\n")
    load = run_experiments.load

    def loaded(name: str) -> ModuleType:
        script = load(name)
        script.__dict__["run"] = run
        return script

    monkeypatch.setattr(run_experiments, "load", loaded)
    run_experiments.run_experiment("tried", [1])
    assert run_experiments.seeds_of(run_experiments.read_record("tried")) == {1, 2}


def test_records_are_small() -> None:
    sizes = [path.stat().st_size for path in run_experiments.RECORDS.glob("*.json")]
    assert sum(sizes) < 2_200_000


def test_claims_about_the_recipe_of_the_grammar() -> None:
    """What the pages say of the running corpus' translator, as a mean of three seeds."""
    record = json.loads((run_experiments.RECORDS / "running_corpus.json").read_text("utf-8"))
    scores = [seed["scores"] for seed in record["seeds"]]
    assert len(scores) == 3
    assert statistics.fmean(s["exact match"] for s in scores) >= 0.96
    for score in scores:
        assert 0 <= score["exact match"] - score["exact match, greedy search"] < 0.012
    for kind in ("antecedent", "fitting"):
        systems = {
            name: [score["il or elle"][kind][name] for score in scores]
            for name in scores[0]["il or elle"][kind]
        }
        transformer = sorted(systems.pop("Transformer"))
        assert transformer[0] > (0.98 if kind == "antecedent" else 0.93)
        assert statistics.fmean(transformer) > 0.97  # what the recipe is sized for
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
    assert statistics.fmean(means.values()) == pytest.approx(0.93, abs=0.005)
    test = [pair.source for pair in grammar.generate("test", 1000, seed=0)]
    assert sum("because it was too" in text or "because it is too" in text for text in test) == 455
    hardest = {"participle agreement", "relative que", "imperfect"}
    assert set(sorted(means, key=means.__getitem__)[:3]) == hardest


def test_two_probes_differ_where_behaviour_does() -> None:
    old = {"scores": {"exact": 0.5}, "losses": [1.0, 2.0], "ids": [[1, 2]], "text": "un chat"}
    assert probes.differences(old, old | {"losses": [1.0005, 2.0]}) == []
    assert probes.differences(old, old | {"losses": [1.0, 2.1]}) == ["losses / 1: 2.0 → 2.1"]
    assert probes.differences(old, old | {"losses": [1.0]}) == ["losses / 2 entries, now 1"]
    assert probes.differences(old, old | {"text": "une chat"}) == ["text: 'un chat' → 'une chat'"]
    assert probes.differences(old, old | {"ids": [[1, 3]]}) == ["ids / 0 / 1: 2 → 3"]
    assert probes.differences(old, {"scores": {"right": 0.5}} | old | {"more": 1})
    renamed = probes.differences(old, old | {"scores": {"right": 0.5}})
    assert renamed == ["scores / exact: only in one of both", "scores / right: only in one of both"]
    assert probes.differences([math.nan], [math.nan]) == []
    assert probes.differences([math.nan], [0.0])
    assert probes.differences([None, 1], [2, 1]) == []  # what chance decides was left out


def test_one_number_in_500_may_fall_otherwise() -> None:
    script = run_experiments.load("warmup")
    old = {"ids": [1] * 999, "text": "un chat"}
    assert probes.changes_of(script, old, old | {"text": "une chat"}) == []
    assert probes.changes_of(script, old, old | {"text": "une", "ids": [1] * 997 + [2, 2]})
    assert probes.changes_of(script, old, {"ids": old["ids"], "texts": "un chat"})  # a new name
    few = {"ids": [1] * 9}
    assert probes.changes_of(script, few, {"ids": [1] * 8 + [2]}) == ["ids / 8: 1 → 2"]


@contextmanager
def planted(fault: mutants.Fault) -> Iterator[None]:
    """A named fault in the running package: its function gets the code of the changed one."""
    mutant = mutants.mutant_of(fault)
    code = compile(mutant.text, str(mutant.path), "exec")
    found: Any = importlib.import_module(f"transformer_course.{'.'.join(mutant.path.parts)[:-3]}")
    for name in fault.where.split(":")[-1].split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
        found = getattr(found, name)
    function = inspect.unwrap(found)
    right = function.__code__
    assert right.co_code != code.co_code or right.co_consts != code.co_consts
    function.__code__ = code
    try:
        yield
    finally:
        function.__code__ = right


def noticed(name: str) -> bool:
    """Whether the probe of an experiment differs from its record, or can't go to its end."""
    script, record = run_experiments.load(name), run_experiments.read_record(name)
    assert record is not None
    try:
        fresh = probes.probe(script)
    except (ValueError, RuntimeError, CheckpointError):
        return True
    return bool(probes.changes_of(script, record["probes"][-1]["values"], fresh))


@pytest.mark.parametrize("fault", PROBED, ids=lambda fault: f"{fault.chapter}: {fault.name}")
def test_a_probe_notices_a_named_fault(fault: mutants.Fault) -> None:
    """The table of tools/faults.txt: so a change that a record could show doesn't go unseen."""
    with planted(fault):
        assert noticed(fault.probe)


def test_probes_notice_named_faults_of_what_is_trained() -> None:
    assert {fault.chapter for fault in PROBED} == {"loss", "training", "decoding", "families"}
    assert len(PROBED) >= 25
    with planted(PROBED[0]):
        pass
    assert not noticed(PROBED[0].probe)  # the package is whole again


def test_an_interrupted_training_is_not_measured() -> None:
    """A signal ends a training after its update; an experiment that went on would record half of it."""

    class Interrupted:
        def train(self) -> str:
            return "interrupted"

    with pytest.raises(KeyboardInterrupt):
        experiment_training._to_the_end(Interrupted())


def test_scores_by_how_frequent_words_are() -> None:
    train = [Pair("a b", ("x y",))] * 9 + [Pair("a c", ("x x",))]
    test = [Pair("a b a b", ("x y x y",)), Pair("a a a a", ("x x x z",)), Pair("a d", ("y x",))]
    written = ["x y x y", "x x z z", "x"]
    assert small_corpus_training.share_written(train, test, written) == {
        "0": 1.0,  # z, which is wanted once and written twice
        "1-9": 0.667,  # y, two of three
        "10-99": 0.833,  # x, five of six
    }
    bleu = small_corpus_training.by_rarest_word(train, test, written, "none")
    assert list(bleu) == ["0", "1-9", "10-99"]
    assert bleu["1-9"] == 100 > max(bleu["0"], bleu["10-99"])
    marked = [Pair("a b .", ("x y z x",)), Pair("a b c d", ("y y y y",))]
    by_words = multi30k_training.by_words(marked, ["x y z x", "x"], (1, 3, 4), "none")
    assert by_words == {"3": 100.0, "4+": 0.0}  # the mark is a word
    groups = multi30k_training.grouped([5000, 9, 0, 10, 1], (0, 1, 10, 50))
    assert groups == {"0": [2], "1-9": [1, 4], "10-49": [3], "50+": [0]}
