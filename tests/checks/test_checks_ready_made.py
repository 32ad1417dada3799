"""A right answer that calls what it was to write stays right, and is told so."""

import ast
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch

from transformer_course import decoding
from transformer_course.checks.discovery import exercises_by_chapter, exercises_named
from transformer_course.checks.engine import judge
from transformer_course.checks.ready_made import HANDED
from transformer_course.checks.report import Report

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
START = """
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import softmax as soft
from transformer_course import attention, masking, multi_head
"""
OWN_SOFTMAX = (
    "def softmax(scores, axis):\n"
    "    powers = np.exp(scores - np.max(scores, axis, keepdims=True))\n"
    "    return powers / np.sum(powers, axis, keepdims=True)"
)
TORCHS = "torch's ready-made `softmax`"
OURS = "the course's own `softmax`"
MASK = (
    "masking.padding_mask(torch.as_tensor(ids), pad_id) & "
    "torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()"
)
BODIES = [
    ("softmax", "return torch.softmax(scores, axis)", TORCHS),
    ("softmax", "return scores.softmax(axis)", TORCHS),
    ("softmax", "return soft(scores, axis)", TORCHS),
    ("softmax", "return getattr(F, 'soft' + 'max')(scores, axis)", TORCHS),
    ("softmax", "return nn.Softmax(axis)(scores)", "torch's ready-made `Softmax`"),
    ("softmax", "return (lambda x: torch.softmax(x, axis))(scores)", TORCHS),
    (
        "softmax",
        "rows = torch.as_tensor(scores).movedim(axis, -1)\n"
        "    return attention.softmax(rows).movedim(-1, axis)",
        OURS,
    ),
    ("softmax", "return torch.special.log_softmax(scores, axis).exp()", ""),
    (
        "softmax",
        "e = (scores - scores.amax(axis, True)).exp()\n    return e / e.sum(axis, True)",
        "",
    ),
    (
        "layer_norm",
        "layer = nn.LayerNorm(x.shape[-1], eps).to(x.dtype)\n"
        "    return layer(torch.as_tensor(x)).detach() * gain + bias",
        "torch's ready-made `LayerNorm`",
    ),
    (
        "gru_step",
        "cell = nn.GRUCell(len(x), len(h), bias=False, dtype=x.dtype)\n"
        "    cell.weight_ih.data, cell.weight_hh.data = w, u\n    return cell(x, h)",
        "torch's ready-made `GRUCell`",
    ),
    (
        "decoder_mask",
        "ids = torch.as_tensor(ids)\n"
        "    return masking.padding_mask(ids, pad_id) & masking.causal_mask(ids.shape[1])",
        "the course's own `causal_mask`",  # the notebook hands padding_mask to the learner
    ),
    (
        "decoder_mask",
        f"return {MASK}",
        "",
    ),
    (
        "cross_attention",  # attention itself was an exercise of the chapter before
        "return attention.scaled_dot_product_attention("
        "*map(torch.as_tensor, (x @ w_query, memory @ w_key, memory @ w_value)))",
        "",
    ),
]


def defined(name: str, body: str) -> Callable[..., Any]:
    """Return a function of this name as a notebook defines it."""
    parameters = ", ".join(exercises_named(name)[0].parameters)
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(f"{START}\ndef {name}({parameters}):\n    {body}\n", scope)
    function: Callable[..., Any] = scope[name]
    return function


def verdict(name: str, function: Callable[..., Any]) -> Report:
    return judge(exercises_named(name)[0], function)


@pytest.mark.parametrize(("name", "body", "said"), BODIES)
def test_what_is_ready_made_is_said(name: str, body: str, said: str) -> None:
    report = verdict(name, defined(name, body))
    note = f"\n(It calls {said}. That counts as right; writing it out yourself teaches you more.)"
    assert report.message == f"Passed: {name}.{note if said else ''}"


def test_a_helper_of_the_learners_own_that_has_the_name_is_no_ready_made_one() -> None:
    scope: dict[str, Any] = {"np": np, "__name__": "__main__"}
    exec(
        f"{OWN_SOFTMAX}\nhelper = softmax\ndef mine(scores, axis): return helper(scores, axis)",
        scope,
    )
    assert verdict("softmax", scope["mine"]).message == "Passed: softmax."


def test_the_ready_made_function_itself_is_no_exception() -> None:
    message = verdict("softmax", torch.softmax).message
    assert message.startswith(f"Passed: softmax.\n(It calls {TORCHS}.")
    message = verdict("length_penalty", decoding.length_penalty).message
    assert "(It calls the course's own `length_penalty`." in message


def test_an_import_inside_the_function_is_no_call() -> None:
    body = f"import runpy\n    runpy.run_module(masking.__name__)\n    return {MASK}"
    assert verdict("decoder_mask", defined("decoder_mask", body)).message == "Passed: decoder_mask."


def test_a_helper_of_the_learners_own_may_be_what_calls_it() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(
        f"{START}\ndef helper(x, axis): return torch.softmax(x, axis)\n"
        "def softmax(scores, axis): return helper(scores, axis)",
        scope,
    )
    assert TORCHS in verdict("softmax", scope["softmax"]).message


def test_a_question_may_be_answered_by_any_function() -> None:
    exercise = exercises_named("predict", "attention")[0]

    def predict(question: str) -> Any:
        from transformer_course import attention

        attention.softmax(torch.ones(2))
        return exercise.reference(question)

    assert "It calls" not in judge(exercise, predict).message


def test_it_is_seen_in_a_thread_and_the_profile_is_put_back() -> None:
    found: list[Report] = []
    function = defined("softmax", "return torch.softmax(scores, axis)")

    def watch(*_: Any) -> None:
        """A learner's own profile."""

    def check() -> None:
        sys.setprofile(watch)
        found.append(verdict("softmax", function))
        assert sys.getprofile() is watch
        sys.setprofile(None)
        found.append(verdict("softmax", function))

    thread = threading.Thread(target=check)
    thread.start()
    thread.join(20)
    assert [TORCHS in report.message for report in found] == [True, True]


def test_handed_are_the_functions_that_a_notebook_imports_from_its_own_chapter() -> None:
    handed: dict[str, tuple[str, ...]] = {}
    for path in EXERCISES.glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        bodies = [ast.parse(cell.source).body for cell in cells if cell.cell_type == "code"]
        for node in (node for body in bodies for node in body):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module == f"transformer_course.{path.stem[3:]}"
            ):
                handed[path.stem[3:]] = tuple(sorted(alias.name for alias in node.names))
    assert handed == HANDED


def test_an_exercise_to_implement_knows_its_chapter() -> None:
    for chapter, exercises in exercises_by_chapter().items():
        for exercise in exercises:
            if exercise.kind == "implement":
                assert exercise.reference.__module__.split(".")[2] == chapter, exercise.name
