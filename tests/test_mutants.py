"""The list of planted faults stays true while the package changes. The faults themselves: `make mutants`."""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load_mutants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


mutants = load_mutants()


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda m: f"{m.chapter}: {m.fault}")
def test_text_occurs_once_and_the_test_exists(mutant: "mutants.Mutant") -> None:  # type: ignore[name-defined]
    assert mutants.occurrences(mutant) == 1
    assert mutant.old != mutant.new
    tests = mutant.test_file.read_text(encoding="utf-8")
    assert mutant.is_notebook or re.search(rf"^def {mutant.test}\(", tests, re.MULTILINE)


def test_five_faults_or_more_for_each_chapter() -> None:
    counts = Counter(mutant.chapter for mutant in mutants.MUTANTS)
    chapters = {
        "seq2seq",
        "attention",
        "self_attention",
        "masking",
        "multi_head",
        "positional_encoding",
        "encoder_decoder",
        "loss",
        "decoding",
        "multi30k",
    }
    assert chapters <= set(counts)
    assert min(counts[chapter] for chapter in chapters) >= 5


def test_no_fault_twice() -> None:
    assert max(Counter((m.module, m.old, m.new, m.test) for m in mutants.MUTANTS).values()) == 1


def test_unknown_chapter_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main(["atention"]) == 1
    assert "no such chapter: atention; there are attention, " in capsys.readouterr().out
