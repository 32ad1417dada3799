"""The quizzes of the built book: judged on every page; by keyboard, without scripts and on paper on two."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page

from .conftest import HTML, PAGES

Open = Callable[..., Page]
TEXTS = {name: (HTML / name).read_text(encoding="utf-8") for name in PAGES}
QUIZ_PAGES = [name for name, text in TEXTS.items() if 'class="quiz-question"' in text]
ONE_RIGHT = [name for name in QUIZ_PAGES if 'type="checkbox" id="quiz-' not in TEXTS[name]]
SEVERAL_RIGHT = [name for name in QUIZ_PAGES if name not in ONE_RIGHT]
every_quiz = pytest.mark.parametrize("name", QUIZ_PAGES)
both_kinds = pytest.mark.parametrize("name", [*ONE_RIGHT[:1], *SEVERAL_RIGHT[:1]])

ANSWER_ALL = """() => [...document.querySelectorAll('form.quiz-question')].flatMap((form) => {
  const problems = [];
  const choices = [...form.querySelectorAll('.quiz-choice')];
  const answer = (chosen) => {
    for (const c of choices) c.querySelector('input').checked = chosen.includes(c);
    form.dispatchEvent(new Event('change'));
    form.querySelector('button').click();
    const shown = choices.filter((c) => c.querySelector('.quiz-why').checkVisibility());
    if (shown.length !== chosen.length || !chosen.every((c) => shown.includes(c)))
      problems.push(`${chosen.length} chosen, ${shown.length} explained`);
    return form.querySelector('.quiz-verdict').textContent;
  };
  const right = choices.filter((c) => c.dataset.correct === 'true');
  for (const wrong of choices.filter((c) => !right.includes(c)))
    if (!answer([wrong]).startsWith('Not right yet')) problems.push('a wrong answer passed');
  if (right.length > 1 && !answer(right.slice(1)).includes('left')) problems.push('half passed');
  if (right.length > 1 && !answer(choices).startsWith('Not right yet')) problems.push('all passed');
  if (answer([]) !== 'Choose an answer first.') problems.push('no answer was judged');
  if (answer(right) !== 'Right.') problems.push('the right answer failed');
  return problems;
})"""


def test_the_book_has_a_quiz(browser: Browser) -> None:
    """There are quizzes with one right choice, and with several: the tests below do look at something."""
    assert ONE_RIGHT
    assert SEVERAL_RIGHT


@both_kinds
def test_keyboard_alone_answers(name: str, site: str, new_page: Open) -> None:
    """With the tab, space and enter keys alone one reaches a quiz, answers and is told why."""
    page = new_page()
    page.goto(f"{site}/{name}")
    for _ in range(400):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.quiz-choice input')"):
            break
    else:
        pytest.fail("400 times the tab key did not reach the quiz")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Space")
    for _ in range(20):  # past other check boxes, to the button
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.quiz-check')"):
            break
    page.keyboard.press("Enter")
    form = page.locator("form.quiz-question:has(input:checked)")
    assert form.locator(".quiz-verdict").inner_text()
    assert form.locator(".quiz-choice:has(input:checked) .quiz-why").is_visible()


@every_quiz
def test_every_answer_is_judged_and_explained(name: str, site: str, new_page: Open) -> None:
    """Each wrong choice is called wrong and explained; the right ones together are called right."""
    page = new_page()
    page.goto(f"{site}/{name}")
    assert page.evaluate(ANSWER_ALL) == []


@both_kinds
def test_quiz_is_text_without_scripts_and_on_paper(name: str, site: str, new_page: Open) -> None:
    """Without scripts, and in print, every explanation is shown and no button that does nothing."""
    bare, printed = new_page(java_script_enabled=False), new_page()
    for page in (bare, printed):
        page.goto(f"{site}/{name}")
    printed.emulate_media(media="print")
    for page in (bare, printed):
        explanations = page.locator(".quiz-why")
        assert all(why.is_visible() for why in explanations.all())
        assert not any(button.is_visible() for button in page.locator(".quiz-check").all())
