"""What all tests share: one torch thread, hypothesis' settings, and what happens where something is missing.

A test that lacks something says so with `needs`. On a learner's machine it is skipped with a sentence; in
continuous integration (CI set) every skip counts as a failure, so that nothing is left out silently.
"""

import os
import signal
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, settings

torch.set_num_threads(1)
# A shell that starts a command in the background lets it ignore Ctrl-C, and all that it starts: tests press it.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `course` draws the same examples in every run and doesn't spend minutes on making a failing one smaller;
# `--hypothesis-profile=explore` looks for new ones and does.
_HEALTH = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)
settings.register_profile(
    "course",
    max_examples=12,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=_HEALTH,
)
settings.register_profile("explore", max_examples=300, deadline=None, suppress_health_check=_HEALTH)
settings.load_profile("course")

# Two processes share the tests, file by file: what takes longest comes first, so that none waits for the other.
LONGEST = (
    "test_pages.py",
    "test_checks_answers.py",
    "test_experiments.py",
    "test_cli.py",
    "test_checks_grading.py",
    "test_reuse_page.py",
    "test_training.py",
    "test_page_translator.py",
    "test_corpus_grammar.py",
    "test_streams.py",
    "test_mutants.py",
    "test_benchmarks.py",
    "test_packaging.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


Needs = Callable[[object, str], None]


@pytest.fixture(scope="session")
def needs() -> Needs:
    """`needs(thing, sentence)`: go on if `thing` is there, else skip (CI: fail) with the sentence."""

    def check(thing: object, sentence: str) -> None:
        if not thing:
            pytest.skip(sentence)

    return check


def _fail_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    expected_failure = hasattr(report, "wasxfail")
    if report.outcome == "skipped" and os.environ.get("CI") and not expected_failure:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI skips nothing: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, pytest.TestReport]:
    report: pytest.TestReport = yield
    _fail_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, pytest.CollectReport]:
    report: pytest.CollectReport = yield
    _fail_in_ci(report)
    return report
