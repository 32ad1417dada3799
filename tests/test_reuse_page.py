"""Every program of the page "Use the package in your own work" runs, in the order of the page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from readme_snippet import ROOT, write_data

PAGE = (ROOT / "book" / "reuse.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def quick(code: str) -> str:
    """The same program with twelve updates."""
    return re.sub(r"(max_steps=|--steps )[\d_]+", r"\g<1>12", code)


def ran(command: list[str], folder: Path) -> str:
    """What a command printed; it must have gone well."""
    scripts = str(Path(sys.executable).parent)
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    result = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the page's commands are for sh")
def test_the_pages_programs_run(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "new.en").write_text("one two\nthree\n", encoding="utf-8")
    python = "\n".join(code for kind, code in BLOCKS if kind == "python")
    printed = ran([sys.executable, "-W", "error", "-c", quick(python)], tmp_path)
    assert "finished" in printed
    assert "torch.Size([1, 3])" in printed
    shell = "\n".join(code for kind, code in BLOCKS if kind == "sh")
    ran(["sh", "-e", "-c", quick(shell)], tmp_path)
    assert len((tmp_path / "new.fr").read_text(encoding="utf-8").splitlines()) == 2
    assert (tmp_path / "scores.json").exists()
    assert (tmp_path / "attention.npz").exists()
    assert (tmp_path / "runs" / "terminal" / "model.safetensors").exists()


def test_every_install_command_is_one_that_pip_takes() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md"))]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    named = [name for text in texts for name in re.findall(r'pip install "([^"]*)"', text)]
    assert len(named) >= 4
    assert set(named) == {".[translate]", ".[learn]"}


def test_the_page_shows_what_engineers_ask_for() -> None:
    assert len(BLOCKS) >= 10
    for wish in (
        "resume=True",
        "Translator.load",
        "--file",
        ".bleu",
        "MultiHeadAttention(",
        "np.",
        "cuda",
    ):
        assert wish in PAGE
