"""Named faults fit the package, and drawn mutants are code that differs. `make mutants` runs them."""

import ast
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import mutants
from ast_mutations import mutate

FAULTS = mutants.named_faults()
TESTED = [path for path in mutants.modules() if mutants.tests_of(path)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.chapter}: {fault.name}")
def test_a_named_fault_changes_one_module(fault: mutants.Fault) -> None:
    mutant = mutants.mutant_of(fault)
    compile(mutant.text, str(mutant.path), "exec")
    before = ast.unparse(ast.parse(mutants.modules()[mutant.path]))
    was, now = mutants.first_difference(before, mutant.text)
    assert was != now
    assert mutants.tests_named(fault.chapter)[0] in mutant.tests


def test_named_faults_for_each_chapter() -> None:
    counts = Counter(fault.chapter for fault in FAULTS)
    assert {"seq2seq", "multi30k"} <= set(counts)
    for chapter in (
        "attention",
        "self_attention",
        "masking",
        "multi_head",
        "positional_encoding",
        "encoder_decoder",
        "training",
        "loss",
        "decoding",
    ):
        assert counts[chapter] >= 5, chapter
    assert len(set(FAULTS)) == len({(f.chapter, f.name) for f in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize(
    ("where", "old", "message"),
    [
        ("scaled_dot", "queries", "scaled_dot must be in one place, found in nowhere"),
        ("softmax.scores", "scores", "must be in one place, found in nowhere"),
        ("causal_mask", "length + 7", "must stand in causal_mask once, found 0 times"),
        ("causal_mask", "length", r"must stand in causal_mask once, found \d times"),
    ],
)
def test_a_fault_that_does_not_fit_is_named(where: str, old: str, message: str) -> None:
    with pytest.raises(mutants.FaultError, match=f"tired: .*{message}"):
        mutants.mutant_of(mutants.Fault("attention", "tired", where, old, "0"))


def test_a_name_in_two_modules_needs_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    code = {Path("a.py"): "def f(x):\n    return x + 1", Path("b/c.py"): "def f(x):\n    return -x"}
    monkeypatch.setattr(mutants, "modules", lambda: code)
    with pytest.raises(mutants.FaultError, match=r"found in a\.py, b.c\.py"):
        mutants.mutant_of(mutants.Fault("attention", "tired", "f", "x + 1", "x"))
    mutant = mutants.mutant_of(mutants.Fault("attention", "tired", "a:f", "x  +  1", "x"))
    assert mutant.text == "def f(x):\n    return x"


@pytest.mark.parametrize("path", TESTED, ids=str)
def test_drawn_mutants_compile_and_differ(path: Path) -> None:
    found = mutants.drawn([path], 5, seed=1)
    assert len({mutant.text for mutant in found}) == 5
    for mutant in found:
        compile(mutant.text, str(path), "exec")
        assert " -> " in mutant.label


def test_a_seed_decides_what_is_drawn() -> None:
    paths = [Path("attention.py"), Path("masking.py")]
    found = mutants.drawn(paths, 6, seed=1)
    assert {mutant.path for mutant in found} == set(paths)
    assert found == mutants.drawn(paths, 6, seed=1)
    assert found != mutants.drawn(paths, 6, seed=2)


def test_each_chapter_has_modules_with_tests() -> None:
    stems = {part for path in TESTED for part in path.with_suffix("").parts}
    assert {fault.chapter for fault in FAULTS} - {"multi30k"} <= stems


def test_errors_messages_and_types_stay() -> None:
    code = '''
def f(x: int = 1) -> int:
    """Two."""
    if x < 3:
        raise ValueError(f"x is {x}")
    assert x > 4
    return x
'''
    plain = ast.parse(code)
    for seed in range(60):
        tree, site = mutate(ast.parse(code), random.Random(seed), mutants.stays)
        assert site.function == "f"
        kept = tree.body[0].body[:3]  # type: ignore[attr-defined]
        for old, new in zip(plain.body[0].body[:3], kept, strict=True):  # type: ignore[attr-defined]
            assert ast.unparse(old) == ast.unparse(new)
        assert ast.unparse(tree) != ast.unparse(plain)


def test_a_mutant_is_caught_or_not_by_its_tests(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "import transformer_course.masking as m\n"
        "def test_it():\n"
        "    while m.causal_mask(1) is None:\n"
        "        pass\n"
        "    assert m.causal_mask(3) == 6\n"
    )

    def outcome(text: str) -> str:
        mutant = mutants.Mutant("", Path("masking.py"), text, (test,))
        return mutants.run((test,), mutant, 6 if "None" in text else 600)

    code = "def causal_mask(n): return "
    assert outcome(f"{code}6") == "passed"
    assert outcome(f"{code}7") == "failed"
    assert outcome(f"{code}None") == "no end"
    assert outcome("import nothing_of_this_name") == "broken"


def test_an_unknown_module_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        mutants.main(["--module", "atention"])
    assert "no such module: atention; there are attention, " in capsys.readouterr().err
