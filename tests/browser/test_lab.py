"""The links of an exercise in a real JupyterLab, with MyST: where they lead, and what the tabs are called."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from .conftest import PATIENCE, ROOT, WIDE

FILES = (
    "chapters/01_attention.ipynb",
    "exercises/01_attention.ipynb",
    "exercises/solutions/01_attention_solutions.ipynb",
)
START = 300  # seconds


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that shows a copy of three notebooks."""
    folder = tmp_path_factory.mktemp("lab")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
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
        "--LabApp.news_url=None",
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


def test_links_of_an_exercise_open_what_they_name(lab: str, browser: Browser) -> None:
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{lab}lab/tree/exercises/01_attention.ipynb")
    exercise = page.locator(".jp-NotebookPanel:visible")
    exercise.get_by_role("link", name="the page of chapter 01").click()
    expect(page.locator(".jp-NotebookPanel:visible h1", has_text="01 Attention")).to_be_visible(
        timeout=PATIENCE
    )
    assert tabs(page) == ["01_attention.ipynb", "01_attention.ipynb"]
    page.locator("#jp-main-dock-panel .lm-TabBar-tabLabel").first.click()
    follow(
        page, exercise.get_by_role("link", name="Solution").nth(2), "01_attention_solutions.ipynb"
    )
    solution = page.locator(".jp-NotebookPanel:visible")
    expect(solution.get_by_text("This is the notebook")).to_be_attached(timeout=PATIENCE)
    heading = solution.get_by_role("heading", name="Exercise 1.3")
    expect(heading).to_be_in_viewport(timeout=PATIENCE)  # it is half a notebook down
    context.close()
