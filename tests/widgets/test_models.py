"""What the figures compute in the browser is what the package computes, to 1e-6 or better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from transformer_course.figures import widget

from . import (
    attention_cases,
    context_cases,
    counting_cases,
    family_cases,
    pass_cases,
    ring_cases,
    search_cases,
    training_cases,
)
from .node import Answers, Call, answers, check

CASES = (
    *(attention_cases, search_cases, training_cases),
    *(counting_cases, family_cases, context_cases, pass_cases, ring_cases),
)
FIGURES = sorted(p.stem.removesuffix("_model") for p in widget.HERE.glob("*_model.js"))


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    """The calls of all figures."""
    return [call for cases in CASES for call in cases.calls()]


@pytest.fixture(scope="module")
def told(calls: list[Call], tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """All results, of one run of Node."""
    texts = {figure: widget.joined(figure, "js") for figure in FIGURES}
    return answers(texts, calls, tmp_path_factory.mktemp("scripts"))


@pytest.mark.parametrize("figure", FIGURES)
def test_the_browser_computes_what_the_package_computes(
    figure: str, calls: Sequence[Call], told: Answers
) -> None:
    """Every call of every function of the figure."""
    pairs = zip(calls, told.results, strict=True)
    own = [(call, result) for call, result in pairs if call.figure == figure]
    assert len(own) > 10
    for call, result in own:
        check(call, result)


def test_every_function_that_a_figure_exports_is_called(calls: list[Call], told: Answers) -> None:
    """What is shared counts once for all figures."""
    called = {(call.figure, call.name) for call in calls}
    shared = set.intersection(*(set(names) for names in told.exported.values()))
    for figure, names in told.exported.items():
        missing = {name for name in set(names) - shared if (figure, name) not in called}
        assert not missing, figure
    assert shared - {"default"} <= {name for _, name in called}


def test_every_figure_has_a_model_that_knows_no_page() -> None:
    """The model is a part of the script that a notebook stores, and names nothing of the page."""
    drawings = {p.stem for p in widget.HERE.glob("*.js") if not p.stem.endswith("_model")}
    assert drawings - {"shared"} == set(FIGURES)
    for figure in FIGURES:
        text = (widget.HERE / f"{figure}_model.js").read_text(encoding="utf-8")
        assert text in widget.joined(figure, "js")
        for of_the_page in ("document", "window", "html(", "svg(", "canvas(", "model.get"):
            assert of_the_page not in text, (figure, of_the_page)


FAULTS = {  # for each figure some code of its script, and what a mistake would make of it
    "attention_plane": [
        ("scaled ? Math.sqrt(query.length) : 1", "scaled ? query.length : 1"),
        ("entropyOf(weights) / Math.LN2", "entropyOf(weights)"),
        ("=> Math.exp(score - highest)", "=> Math.exp(score)"),
        ("<= 0) kept.pop()", ">= 0) kept.pop()"),
    ],
    "beam_explorer": [
        ("((5 + length) / 6) ** alpha", "((5 + length) / 6) * alpha"),
        ("slice(0, 2 * beam)", "slice(0, beam)"),
        ("fate = rank < beam", "fate = rank <= beam"),
        ("alpha > 0 ? maxLen : length", "length"),
        ("beam - finished.length", "beam"),
    ],
    "context_explorer": [
        ("Math.abs(back) < span", "Math.abs(back) <= span"),
        ("near(back) || q === 0 || k === 0", "near(back) || k === 0"),
        ("(!causal || k <= q) && ", ""),
        ("on && mask[k][j]", "on && mask[j][k]"),
        ("has || before.some", "before.some"),
        ("(causal && j > token)", "j > token"),
        ("needed.includes(-1)", "needed.includes(0)"),
        ("blocks * r * 2 * r", "n * 2 * r"),
        ("r * blocks * blocks", "n * n / r"),
        ("[BOTH]: local + strided", "[BOTH]: local"),
        ("Math.min(n, span + 1)", "Math.min(n, span)"),
        ("2 * layers * pairs * width", "2 * pairs * width"),
        ("heads * pairs * bytes", "keyHeads * pairs * bytes"),
        ("(width / heads) * keyHeads", "width"),
        ("Math.min(state.key_heads, number)", "state.key_heads"),
        ("Math.floor(Math.log2(bytes) / 10)", "Math.round(Math.log2(bytes) / 10)"),
    ],
    "family_masks": [
        ("k <= q || (family === PREFIX && k <= start)", "k <= q || (family === PREFIX && k < start)"),
        ("k < start ? true : null", "k <= q ? true : null"),
        ("row.map((has, j) => has || ", "row.map((has, j) => "),
        ("layer < layers", "layer < 1"),
        ("mask[i][k] && known[k][j]", "mask[k][i] && known[k][j]"),
        ("guesses[q]?.at === k ? false", "guesses[q]?.at === k ? null"),
        ("at: i + 1 }", "at: i }"),
        ("next ? j < i : j !== i", "j < i"),
    ],
    "head_explorer": [
        ("Math.min(wanted[name], list.length - 1)", "wanted[name]"),
        ("numbers.indexOf(Math.max(...numbers))", "numbers.indexOf(Math.min(...numbers))"),
    ],
    "loss_explorer": [
        ("+ smoothing / count", "+ smoothing / (count - 1)"),
        ("(q > 0 ? -q * Math.log(predicted[k]) : 0)", "-q * Math.log(predicted[k])"),
        ("(other / rest) * (1 - share)", "other * (1 - share)"),
        ("p - wanted[k]", "wanted[k] - p"),
    ],
    "mask_explorer": [
        ("causal && k > t", "causal && k >= t"),
        ("!== inverted", "=== inverted"),
        ("vectors[query][0], vectors[key][1]", "vectors[key][0], vectors[query][1]"),
        ("safe && !row.some", "!row.some"),
        ("[...filler, ...words] : [...words, ...filler]", "[...words, ...filler] : [...filler, ...words]"),
    ],
    "model_map": [
        ("4 * (c.d_model * c.d_model + c.d_model)", "4 * c.d_model * c.d_model"),
        ("norm: 2 * c.d_model", "norm: c.d_model"),
        ('c.norm === "pre" ? n.norm : 0', "0"),
        ("tensor(c.n_heads, t, s)", "tensor(c.n_heads, s, t)"),
    ],
    "pass_explorer": [
        ("length * (passes - t)", "length * (passes - t - 1)"),
        ("Math.floor((length", "Math.ceil((length"),
        ("film.frames[step + 1]", "film.frames[step]"),
        ("Math.max(0, step - 1)", "0"),
        ("j > 0 && piece === pieces[j - 1]", "j > 1 && piece === pieces[j - 2]"),
        ("sum(last.probs.map(Math.log)) / film.length", "sum(last.probs.map(Math.log))"),
        ("film.frames[film.passes - 1]", "film.frames[0]"),
        ("b.prob - a.prob", "a.prob - b.prob"),
        ("Math.min(state.step, number - 1)", "state.step"),
        ("film.length === length && ", ""),
    ],
    "position_explorer": [
        ("dimension % 2 ? Math.cos", "dimension % 2 === 0 ? Math.cos"),
        ("2 * Math.floor(dimension / 2)", "dimension"),
        ("Math.atan2(Math.sin(step), Math.cos(step))", "step"),
        ("clamp(position, 0, length - 1)", "clamp(position, 0, length)"),
    ],
    "rate_explorer": [
        ("warmup ** -1.5", "warmup ** -0.5"),
        ("(step - warmup) / (STEPS - warmup)", "step / STEPS"),
        ("Math.round(warmup / 100) * 100", "warmup"),
    ],
    "redraw_explorer": [
        ("scores.length / 40", "scores.length / 20"),
        ("Math.floor(random() * n)", "Math.floor(random() * (n - 1))"),
        ("drawn.total += total[i]", "drawn.total += 1"),
        ("i >= sorted.length - k", "i > sorted.length - k"),
        ("number * (1 - 1e-9)", "number * 2"),
    ],
    "ring_explorer": [
        ("(i - step + 1) % p", "(i + step - 1) % p"),
        ("2 * (p - 1)", "2 * p"),
        ("cells[(from + 1) % p][chunk]", "cells[from][chunk]"),
        ("const adds = now < p", "const adds = now <= p"),
        ("cell.came = false", "cell.came = cell.came"),
        ("had + summed", "had + 1"),
        ("(p - 1) * NUMBERS", "p * NUMBERS"),
        ("step * chunk", "step"),
        ("y: -Math.cos(turn)", "y: Math.cos(turn)"),
        ("workers: p, step: 0", "workers: p"),
        ("step === p - 1", "step === p"),
    ],
    "sampling_explorer": [
        ("z / temperature", "z * temperature"),
        ("p >= 1 || before < p", "p >= 1 || before + x < p"),
        ("i < k ? x : 0", "i <= k ? x : 0"),
        ("(left -= x) < 0", "left < x"),
        ("0x6d2b79f5", "0x6d2b79f4"),
    ],
    "self_attention_steps": [
        ("matrix.map((row) => row[column])", "matrix[column]"),
        ("score / Math.sqrt(q.length)", "score"),
        ("project(row, value)", "project(row, key)"),
        ("steps(x, matrices, best).scores[i]", "now.scores[i]"),
    ],
    "word_paths": [
        ("kernel ** i", "2 ** i"),
        ("while (gone < distance", "while (gone <= distance"),
        ("6 * n * width", "4 * n * width"),
        ("clamp(to - word, -here, here)", "here"),
        ("from >= 0 && from < n", "from > 0 && from < n"),
        ("dilatedMove(to - word, kernel, i)", "clamp(to - word, -here, here)"),
        ("Math.max(n - 1, ...words)", "n - 1"),
    ],
}  # fmt: skip


def test_planted_faults_are_found(calls: list[Call], tmp_path: Path) -> None:
    """Each fault makes at least one call of its figure return something else."""
    assert sorted(FAULTS) == FIGURES
    texts, asked = {}, []
    for figure, faults in FAULTS.items():
        text = widget.joined(figure, "js")
        for number, (code, fault) in enumerate(faults):
            assert code in text, f"{figure} has no {code}"
            name = f"{figure}-{number}"
            texts[name] = text.replace(code, fault)
            asked += [replace(call, figure=name) for call in calls if call.figure == figure]
    told = answers(texts, asked, tmp_path)
    found = {
        call.figure for call, got in zip(asked, told.results, strict=True) if differs(call, got)
    }
    missed = [FAULTS[n.rpartition("-")[0]][int(n.rpartition("-")[2])] for n in set(texts) - found]
    assert not missed


def differs(call: Call, result: object) -> bool:
    """Whether a call returned something else than it must."""
    try:
        check(call, result)
    except (AssertionError, KeyError, IndexError, TypeError):
        return True
    return False
