"""Every program of the page "Use the package in your own work" runs, in the order of the page."""

import ast
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


def texts() -> dict[str, str]:
    """All that tells readers what to install: pages, notebooks, and the strings of the package."""
    files = [
        path for name in ("book", "chapters", "exercises") for path in (ROOT / name).rglob("*")
    ]
    pages = [p for p in files if p.suffix in (".md", ".ipynb") and "vendor" not in p.parts]
    pages += ROOT.glob("*.md")
    found = {str(p): p.read_text(encoding="utf-8").replace('\\"', '"') for p in pages}
    for path in (ROOT / "src" / "transformer_course").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        found[str(path)] = "\n".join(s for s in strings if isinstance(s, str))
    return found


def test_every_install_command_is_one_that_pip_takes() -> None:
    named = [
        name for text in texts().values() for name in re.findall(r'pip install "([^"]*)"', text)
    ]
    assert len(named) >= 5
    assert set(named) == {
        ".[translate]",
        ".[learn]",
        ".[figures]",
        ".[export]",
        ".[serve]",
        ".[watch]",
    }


def test_nobody_is_told_to_install_the_package_by_its_name() -> None:
    """It isn't published: under its name pip could only find a stranger's."""
    wrong = {
        name
        for name, text in texts().items()
        if re.search(r"transformer[-_]course\[|pip install transf", text)
    }
    assert wrong == set()


def test_a_missing_library_is_told_with_a_command_that_can_work() -> None:
    code = (
        "import sys; sys.modules['typer'] = None; import transformer_course.__main__ as m; m.main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    install = 'run pip install ".[translate]" in the folder of the course'
    assert result.stderr == f"error: typer is missing: {install}\n"
    assert result.returncode == 1


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
