"""README's ten lines of Python do what README says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from readme_snippet import ROOT, first_python_block, shortened, write_data


def test_readmes_program_runs(tmp_path: Path) -> None:
    code = first_python_block((ROOT / "README.md").read_text(encoding="utf-8"))
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 10
    write_data(tmp_path)
    command = [sys.executable, "-W", "error", "-c", shortened(code)]
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "runs" / "mine" / "model.safetensors").exists()
    assert len(result.stdout.splitlines()) == 2


def test_a_readme_without_a_program_is_noticed() -> None:
    with pytest.raises(ValueError, match="no ```python block"):
        first_python_block("```\nprint(1)\n```\n")
    with pytest.raises(ValueError, match="sets max_steps 0 times"):
        shortened("print(1)")
    assert first_python_block("a\n```python\nb\n```\n```python\nc\n```\n") == "b\n"
