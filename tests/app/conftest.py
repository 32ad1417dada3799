"""The command line, run in the tests' own process, and files to run it on."""

import io
import sys
from pathlib import Path

import pytest
from command_line import Result, Run
from small_runs import number_pairs

from transformer_course import cli


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process."""

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            cli.app([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(int(end.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two aligned files of number words."""
    pairs = number_pairs()
    paths = [tmp_path / "mine.en", tmp_path / "mine.fr"]
    paths[0].write_text("".join(f"{p.source}\n" for p in pairs), encoding="utf-8")
    paths[1].write_text("".join(f"{p.target}\n" for p in pairs), encoding="utf-8")
    return paths
