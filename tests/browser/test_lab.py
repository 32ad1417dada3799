"""A real JupyterLab, with MyST: where the links of an exercise lead, and how verdicts and progress look."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from .conftest import AXE, PATIENCE, ROOT, WIDE

FILES = (
    "chapters/01_attention.ipynb",
    "exercises/01_attention.ipynb",
    "exercises/solutions/01_attention_solutions.ipynb",
)
START = 300  # seconds
EXTENSIONS = (
    "jupyterlab-myst",
    "jupyterlab_pygments",
    "anywidget",
    "@jupyter-widgets/jupyterlab-manager",
)
COLOUR = re.compile(r"\x1b\[\d+m")
# JupyterLab waits ten seconds until a cell is drawn; then it says this, and the link must be pressed again.
PRESSES = 4
TOO_SLOW = re.compile(r"Item with index \d+ did not appear")
ANSWERED = "exercises/answered.ipynb"
WRONG = """from transformer_course.checks import attention as check, progress
softmax = lambda scores, axis: scores / scores.sum(axis, keepdims=True)
report = check.softmax(softmax)"""
AXE_HERE = """async (chosen) =>
  (await axe.run(chosen, {resultTypes: ['violations'], preload: false})).violations
  .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 120)}`))"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that shows a copy of three notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    cells = [nbformat.v4.new_code_cell(f"{WRONG}\nprogress()")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / ANSWERED)
    own = {
        f"JUPYTER_{kind}_DIR": str(folder / f".{kind.lower()}") for kind in ("CONFIG", "RUNTIME")
    }
    own |= {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / ".s"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / ".w"),
    }
    quiet = [
        "--no-browser",
        "--allow-root",
        "--port=0",
        "--IdentityProvider.token=",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *quiet, f"--ServerApp.root_dir={folder}"],
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield address_of(folder / ".runtime", server)
    finally:
        server.terminate()
        try:
            server.wait(60)  # it ends its kernels first
        except subprocess.TimeoutExpired:
            server.kill()


def address_of(folder: Path, server: subprocess.Popen[bytes]) -> str:
    """Wait until the server says where it is, and answers."""
    for _ in range(START * 2):
        assert server.poll() is None, "JupyterLab has ended"
        for told in folder.glob("jpserver-*.json"):
            try:
                address = str(json.loads(told.read_text(encoding="utf-8"))["url"])
                with urlopen(f"{address}api", timeout=5):
                    return address
            except (OSError, ValueError, KeyError):
                pass
        time.sleep(0.5)
    raise AssertionError(f"JupyterLab doesn't answer after {START} seconds")


def tabs(page: Page) -> list[str]:
    """Return the names on the tabs of the main area."""
    return page.locator("#jp-main-dock-panel .lm-TabBar-tabLabel").all_inner_texts()


def follow(page: Page, link: Locator, name: str) -> None:
    """Press a link until its notebook has the tab in front: JupyterLab takes links over after it shows them."""
    tab = page.locator("#jp-main-dock-panel .lm-mod-current .lm-TabBar-tabLabel", has_text=name)
    for _ in range(5):
        link.click()
        with contextlib.suppress(TimeoutError):
            tab.wait_for(timeout=PATIENCE / 5)
            return
    raise AssertionError(f"{name} doesn't open: {tabs(page)}")


def gives_up(cell: Locator, heard: list[str]) -> bool:
    """Wait until the cell is in view (False), or until JupyterLab says that it waits no longer (True)."""
    for _ in range(PATIENCE // 5000):
        with contextlib.suppress(AssertionError):
            expect(cell).to_be_in_viewport(timeout=5000)
            return False
        if any(map(TOO_SLOW.search, heard)):
            return True
    return False


def test_lab_accepts_our_extensions(tmp_path: Path) -> None:
    """Each is built for this JupyterLab; `labextension list` puts an X where OK should be at one that isn't."""
    command = [sys.executable, "-m", "jupyterlab.labextensions", "list"]
    listed = subprocess.run(
        command,
        env=os.environ | {"JUPYTER_CONFIG_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=True,
        timeout=START,
    ).stdout
    for name in EXTENSIONS:
        line = rf"^ *{name} v\S+ enabled OK"
        assert re.search(line, COLOUR.sub("", listed), re.MULTILINE), listed


def test_links_of_an_exercise_open_what_they_name(lab: str, browser: Browser) -> None:
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.goto(f"{lab}lab/tree/exercises/01_attention.ipynb")
    exercise = page.locator(".jp-NotebookPanel:visible")
    exercise.get_by_role("link", name="the page of chapter 01").click()
    expect(page.locator(".jp-NotebookPanel:visible h1", has_text="01 Attention")).to_be_visible(
        timeout=PATIENCE
    )
    assert tabs(page) == ["01_attention.ipynb", "01_attention.ipynb"]
    link = exercise.get_by_role("link", name="Solution").nth(2)
    solution = page.locator(".jp-NotebookPanel:visible")
    code = solution.locator(".jp-CodeCell", has_text="def predict(")  # half a notebook down
    for _ in range(PRESSES):
        heard.clear()
        page.locator("#jp-main-dock-panel .lm-TabBar-tabLabel").first.click()
        follow(page, link, "01_attention_solutions.ipynb")
        expect(solution.get_by_text("This is the notebook").first).to_be_attached(timeout=PATIENCE)
        if not gives_up(code, heard):
            break
    expect(code).to_be_in_viewport()
    heading = solution.get_by_role("heading", name="Exercise 1.3")
    expect(heading).to_be_visible(timeout=PATIENCE)  # drawn, not open for editing
    context.close()


def test_a_verdict_and_the_progress_are_seen(lab: str, browser: Browser) -> None:
    """As HTML, with the tables, the map, and the link to the next notebook; axe finds nothing in them."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{lab}lab/workspaces/verdict/tree/{ANSWERED}")  # nothing of the other test
    kernel = page.get_by_role("button", name="| Idle")  # a cell that is run before is not run
    expect(kernel).to_be_visible(timeout=1000 * START)
    page.locator(".jp-NotebookPanel:visible .jp-CodeCell").first.click()
    page.keyboard.press("Shift+Enter")
    verdict = page.get_by_role("region", name="Verdict on softmax: Not yet right")
    expect(verdict).to_be_visible(timeout=1000 * START)
    expect(verdict.locator("caption")).to_have_text(["Expected: weights", "Yours: weights"])
    expect(verdict).to_contain_text("Hint: A score may be negative or 0")
    expect(verdict).to_contain_text("checked in")
    table = page.get_by_role("table", name="0 of ")
    expect(table).to_be_visible(timeout=1000 * START)
    expect(page.locator(".jp-OutputArea svg .map-fill").first).to_be_attached()
    link = page.locator(".jp-OutputArea").get_by_role("link", name="01_attention.ipynb")
    expect(link).to_have_attribute("href", re.compile("01_attention.ipynb"))
    page.add_script_tag(path=AXE)
    assert page.evaluate(AXE_HERE, ".jp-OutputArea section") == []
    assert page.evaluate(AXE_HERE, ".jp-OutputArea:has(svg) table") == []
    # tools/setup_venv.py has seen to it.
    expect(page.get_by_text("official Jupyter news")).to_have_count(0)
    context.close()
