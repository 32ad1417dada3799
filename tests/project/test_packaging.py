"""The wheel, installed outside the checkout beside nothing but what it asks for."""

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from readme_snippet import first_python_block, shortened, write_data

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRA_ONLY = {"cli", "evaluation", "lines", "recipe", "runs", "translator"}
EXTRA_ONLY |= {"export", "info", "serve", "unfinished"}
EXTRA_ONLY |= {"corpus.multi30k", "corpus.vocabulary", "corpus.prepare"}
FIGURES_ONLY = {"figures"}


def requirements(*extras: str) -> list[Requirement]:
    texts = list(PROJECT["dependencies"])
    for extra in extras:
        texts += PROJECT["optional-dependencies"][extra]
    return [Requirement(text) for text in texts]


def closure(*extras: str) -> dict[str, Requirement]:
    """Every distribution that the package needs on this platform, by normalised name."""
    found: dict[str, Requirement] = {}
    todo = requirements(*extras)
    while todo:
        wanted = todo.pop()
        name = normalised(wanted.name)
        if name in found and not wanted.extras:
            continue
        found[name] = wanted
        for text in distribution(name).requires or []:
            needed = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *wanted.extras)]
            if needed.marker is None or any(needed.marker.evaluate(e) for e in environments):
                todo.append(needed)
    return found


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def run(*command: object, cwd: Path, **environment: str) -> str:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | environment
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="session")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist, built from the files that git tracks."""
    folder = tmp_path_factory.mktemp("dist")
    source = tmp_path_factory.mktemp("source")
    tracked = run("git", "ls-files", "src", "*.toml", "README.md", "LICENSE*", cwd=ROOT).split("\n")
    for name in filter(None, tracked):
        if (ROOT / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source, cwd=source)
    return folder


def environment(folder: Path, wheel: Path, *extras: str) -> Path:
    """A new environment that holds the wheel and what it asks for, nothing else; its Python.

    The dependencies are linked from the environment that runs the tests, so nothing is downloaded.
    """
    venv.create(folder, with_pip=False)
    python = next(p for p in (folder / "bin/python", folder / "Scripts/python.exe") if p.exists())
    site = Path(
        run(
            python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder
        ).strip()
    )
    for name in closure(*extras):
        found = distribution(name)
        for top in {Path(file).parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            target = site / top
            if not target.exists():
                target.symlink_to(found.locate_file(top))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return python


def modules(wheel: Path) -> set[str]:
    """Every module of the package that the wheel holds, without the package's name."""
    names = [n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".py")]
    dotted = {n.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for n in names}
    return {name.removeprefix("transformer_course.") for name in dotted} - {"transformer_course"}


def test_wheel_and_sdist_are_small_and_complete(artefacts: Path) -> None:
    wheel, sdist = next(artefacts.glob("*.whl")), next(artefacts.glob("*.tar.gz"))
    # Room for code to grow; not for a picture, a record or a corpus that slipped in.
    assert wheel.stat().st_size < 1_250_000
    assert sdist.stat().st_size < 1_000_000
    packed = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("transformer_course/")}
    tracked = run("git", "ls-files", "src/transformer_course", cwd=ROOT).split("\n")
    assert packed == {n.removeprefix("src/") for n in tracked if n and (ROOT / n).exists()}
    assert "transformer_course/py.typed" in packed


@pytest.mark.skipif(os.name == "nt", reason="links need rights that Windows seldom gives")
def test_core_modules_import_with_the_core_alone(artefacts: Path, tmp_path: Path) -> None:
    wheel = next(artefacts.glob("*.whl"))
    python = environment(tmp_path / "core", wheel)
    core = {
        m
        for m in modules(wheel)
        if m not in EXTRA_ONLY
        and m.split(".")[0] not in EXTRA_ONLY
        and m.split(".")[0] not in FIGURES_ONLY
        and not m.endswith("__main__")
    }
    assert {"attention", "encoder_decoder", "training", "decoding", "corpus.grammar"} <= core
    lines = [f"import transformer_course.{name}" for name in sorted(core)]
    lines.append("import transformer_course as t; print(t.__file__)")
    where = run(python, "-I", "-c", "\n".join(lines), cwd=tmp_path).strip()
    assert Path(where).is_relative_to(tmp_path)
    look = "from importlib.util import find_spec; print(*map(find_spec, ['tokenizers', 'typer']))"
    assert run(python, "-I", "-c", look, cwd=tmp_path).strip() == "None None"


@pytest.mark.skipif(os.name == "nt", reason="links need rights that Windows seldom gives")
def test_readme_lines_run_with_the_extra(artefacts: Path, tmp_path: Path) -> None:
    wheel = next(artefacts.glob("*.whl"))
    python = environment(tmp_path / "translate", wheel, "translate")
    code = first_python_block((ROOT / "README.md").read_text(encoding="utf-8"))
    write_data(tmp_path)
    printed = run(python, "-I", "-c", shortened(code), cwd=tmp_path, OMP_NUM_THREADS="1")
    assert len(printed.splitlines()) == 2
    assert (tmp_path / "runs/mine/model.safetensors").exists()


def test_every_installed_dependency_is_pinned() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = {}
    for line in lines:
        if line and not line.startswith("#"):
            pin = Requirement(line)
            assert [s.operator for s in pin.specifier] == ["=="], line
            assert "+" not in str(pin.specifier), f"{line}: pin the public version"
            pins[normalised(pin.name)] = pin
    assert not [line for line in lines if "://" in line or line.startswith("-")]
    missing = set()
    for name in pins:
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # of another platform
            assert pins[name].marker is not None, name
            continue
        for text in needs:
            needed = Requirement(text)
            wanted = needed.marker is None or needed.marker.evaluate({"extra": ""})
            gpu = name == "torch" and re.match(r"nvidia|cuda|triton", needed.name)
            if wanted and not gpu and normalised(needed.name) not in pins:
                missing.add(f"{needed.name} (of {name})")
    assert not missing


def test_pins_lie_in_the_ranges_that_users_get() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    versions = {normalised(p.name): next(iter(p.specifier)).version for p in pins}
    for needed in requirements(*PROJECT["optional-dependencies"]):
        if normalised(needed.name) != "transformer-course":
            assert needed.specifier.contains(versions[normalised(needed.name)]), needed


def test_pins_suit_the_oldest_python_that_is_promised() -> None:
    """Debian 12 has Python 3.11.2: a package that wants a later 3.11 can't be installed there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    for found in distributions():
        wanted = found.metadata.get("Requires-Python")
        assert not wanted or SpecifierSet(wanted).contains(oldest), found.metadata["Name"]
