"""Verdicts in a notebook: HTML where a person looks, the text of always elsewhere, and readable by all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from jupyter_client.manager import start_new_kernel

from transformer_course.checks import showing, verdict_html
from transformer_course.checks.differing import Difference, find_difference
from transformer_course.checks.discovery import exercises_by_chapter
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Exercise
from transformer_course.checks.report import Report

ATTENTION = {task.name: task for task in exercises_by_chapter()["attention"]}
SOFTMAX = ATTENTION["softmax"]
CELL = """
import numpy as np
from transformer_course.checks import attention as check
report = check.softmax(lambda scores, axis: scores / np.sum(scores, axis=axis, keepdims=True))
"""


class Tables(HTMLParser):
    """Collects the cells of each table, the captions, and the whole text; fails on tags that don't match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tables: list[list[tuple[str, str]]] = []  # (text, style) of each data cell
        self.captions: list[str] = []
        self.text = ""
        self.style = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.style = dict(attrs).get("style") or ""
        if tag == "table":
            self.tables.append([])
        if tag == "caption":
            self.captions.append("")
        if tag == "td":
            self.tables[-1].append(("", self.style))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "caption" in self.open:
            self.captions[-1] += data
        if "td" in self.open:
            said, style = self.tables[-1][-1]
            self.tables[-1][-1] = (said + data, style)


def seen(report: Report, name: str = "softmax") -> Tables:
    """What the HTML of a verdict holds."""
    return Tables(verdict_html.verdict_html(name, report, 0.123))


def wrong(scores: Any, axis: int = -1) -> Any:
    """A softmax whose last entry is one too large."""
    right = SOFTMAX.reference(scores, axis)
    right[..., -1] += 1
    return right


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """The client of a kernel."""
    manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def outputs(client: Any, allow_stdin: bool) -> list[dict[str, Any]]:
    """What a cell gives, stream and displays, in a front end with or without a person before it."""
    found: list[dict[str, Any]] = []
    client.execute_interactive(
        CELL,
        allow_stdin=allow_stdin,
        output_hook=lambda m: (
            found.append(m) if m["msg_type"] in ("stream", "display_data") else None
        ),
        timeout=120,
    )
    return found


def test_a_front_end_with_a_person_gets_html_beside_the_same_text(kernel: Any) -> None:
    """And one without, such as nbclient and nbval, gets what it always got, and nothing else."""
    [stream] = outputs(kernel, allow_stdin=False)
    [display] = outputs(kernel, allow_stdin=True)
    text = stream["content"]["text"]
    assert text.startswith(
        "softmax. Not yet right: divided by the sum, without the exponential.\nHint:"
    )
    assert (stream["msg_type"], stream["content"]["name"]) == ("stream", "stdout")
    data = display["content"]["data"]
    assert data.keys() == {"text/plain", "text/html"}
    assert data["text/plain"] + "\n" == text
    assert "Not yet right" in data["text/html"]


def test_outside_of_a_notebook_there_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert not showing.somebody_looks()
    assert isinstance(SOFTMAX, Exercise)
    report = SOFTMAX(wrong)
    assert capsys.readouterr().out == report.message + "\n"


def test_each_verdict_has_its_sign_its_word_and_the_time() -> None:
    def stub(scores: Any, axis: int) -> Any:
        raise NotImplementedError

    for function, sign in (
        (SOFTMAX.reference, "✓ Passed"),
        (wrong, "✗ Not yet right"),
        (stub, "○ Not attempted yet"),
    ):
        report = judge(SOFTMAX, function)
        text = seen(report).text
        assert text.startswith(f"{sign} softmax checked in 0.12 s")
        assert text.count(sign[2:]) == 1  # the message doesn't say it again
    assert "About 15 minutes" in seen(judge(SOFTMAX, stub)).text


def test_every_sentence_of_the_message_is_in_the_html() -> None:
    for function in (
        wrong,
        lambda scores, axis: 1 / 0,
        lambda s, axis: s / s.sum(axis, keepdims=True),
    ):
        report = judge(SOFTMAX, function)
        text = " ".join(seen(report).text.split()).lower()
        for line in report.message.replace("`", "").splitlines()[1:]:
            assert " ".join(line.split()).lower() in text
        rest = report.message.splitlines()[0].replace("`", "").split("Not yet right", 1)[1]
        assert rest.strip(".: ").lower() in text


def test_expected_and_actual_stand_side_by_side_and_the_first_difference_is_framed() -> None:
    report = judge(SOFTMAX, wrong)
    assert report.difference
    found = seen(report)
    assert len(found.tables) == 2
    assert found.captions[0].startswith("Expected: weights")
    assert found.captions[1].startswith("Yours: weights")
    for cells in found.tables:
        framed = [text for text, style in cells if verdict_html.FRAME in style]
        assert len(framed) == 1
        assert framed[0].endswith("first difference")
    expected, actual = found.tables
    assert not any("≠" in text for text, _ in expected)
    marked = [text for text, _ in actual if "≠" in text]
    assert len(marked) == np.count_nonzero(report.difference.slice_of(report.difference.wrong))
    assert found.text.count(report.difference.place) == 1


def test_a_misconception_shows_its_hint_and_the_cells() -> None:
    found = seen(judge(SOFTMAX, lambda scores, axis: scores / scores.sum(axis, keepdims=True)))
    assert "Hint: A score may be negative or 0" in found.text
    assert (
        "weights[0]: expected 0.2689, got 0 (2 of 2 numbers differ). Case: two scores."
        in found.text
    )
    assert len(found.tables) == 2


def test_where_the_answer_is_secret_no_cell_shows_it() -> None:
    for exercise in (ATTENTION["predict"], ATTENTION["why_scale"]):
        report = judge(exercise, lambda letter: (1, 1) if letter < "c" else 0.123)
        assert not report.passed
        assert report.difference is None
        assert seen(report, exercise.name).tables == []


def test_no_table_where_nothing_can_be_compared() -> None:
    for function in (lambda s, axis: None, lambda s, axis: s[None], lambda s, axis: 1 / 0):
        assert judge(SOFTMAX, function).difference is None


@pytest.mark.parametrize("shape", [(), (1,), (9,), (2, 3), (40, 50), (2, 3, 7, 8)])
@pytest.mark.parametrize("value", [1e9, -2.5, np.nan, np.inf])
def test_differences_of_every_shape_and_size(shape: tuple[int, ...], value: float) -> None:
    expected = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    for flat in {0, expected.size // 2, expected.size - 1}:
        actual = expected.copy()
        actual.flat[flat] = value
        found = find_difference([actual], [expected], ("x",), 1e-4)
        report = Report(
            False, None, None, "softmax. Not yet right. No.", difference=found, case="a"
        )
        for cells in seen(report).tables:
            shown = [text for text, style in cells if verdict_html.CELL in style]
            assert 1 <= len(shown) <= 36
            assert sum("first difference" in text for text in shown) == 1
        framed = [text for text, _ in seen(report).tables[1] if "first difference" in text]
        wanted = {"1e+09": 1e9, "−2.5": -2.5, "NaN": np.nan, "inf": np.inf}
        assert any(
            np.array_equal(wanted[t], value, equal_nan=True) for t in wanted if t in framed[0]
        )


def test_true_and_false_are_words() -> None:
    expected, actual = np.array([[True, False]]), np.array([[True, True]])
    found = find_difference([actual], [expected], ("mask",), 1e-4)
    cells = seen(Report(False, None, None, "m. Not yet right. No.", difference=found)).tables
    assert [[text for text, style in t if verdict_html.CELL in style] for t in cells] == [
        ["True", "False first difference"],
        ["True", "≠ True first difference"],
    ]


def test_no_difference_is_an_error() -> None:
    with pytest.raises(ValueError, match="are the same"):
        find_difference([np.ones(2)], [np.ones(2)], ("x",), 1e-4)


def test_what_a_learner_writes_is_text_in_the_page() -> None:
    message = "softmax. Not yet right. Your function stopped with X: <script>alert(1)</script>."
    html = verdict_html.verdict_html("softmax", Report(False, None, None, message), 0.1)
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    difference = Difference("x['<b>']", np.ones(1), np.zeros(1), (0,), np.array([True]))
    report = Report(False, None, None, message, difference=difference, case="<i>")
    html = verdict_html.verdict_html("softmax", report, 0.1)
    assert not re.search(r"<[bi]>", html)


def contrast(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """The contrast of two colours as WCAG defines it."""

    def light(colour: tuple[float, ...]) -> float:
        parts = [c / 255 for c in colour]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    high, low = sorted((light(first), light(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_on_light_and_dark_pages() -> None:
    """WCAG's 4.5, for white on the plates and for the text of JupyterLab's themes on the strongest cells."""
    for _, _, plate in verdict_html.SIGNS.values():
        assert contrast((255, 255, 255), tuple(bytes.fromhex(plate[1:]))) >= 4.5
    for ink, page in (((33, 33, 33), (255, 255, 255)), ((224, 224, 224), (17, 17, 17))):
        for colour in (verdict_html.POSITIVE, verdict_html.NEGATIVE):
            tone = np.array([float(c) for c in colour.split(",")])
            share = verdict_html.STRONGEST
            assert contrast(ink, tuple(share * tone + (1 - share) * np.array(page))) >= 4.5
