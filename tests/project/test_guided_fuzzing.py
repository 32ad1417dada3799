"""What a fuzzer found that follows coverage is read again: each input ends well, or in a sentence of ours."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import guided_fuzzing as fuzzing  # noqa: E402

READERS = fuzzing.readers()


@pytest.mark.filterwarnings("ignore::Warning")  # nbformat's, of notebooks without ids
@pytest.mark.parametrize("name", READERS)
def test_each_input_is_read_or_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    file, read = READERS[name]
    inputs = fuzzing.kept(name)
    assert inputs
    for data in inputs:
        fuzzing.read_once(tmp_path / file, read, data)


def test_what_is_no_sentence_of_ours_is_found(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no sentence of ours"):
        fuzzing.read_once(tmp_path / "a", lambda path: int(path.read_text()), b"x")
    with pytest.raises(KeyError):
        fuzzing.read_once(tmp_path / "a", lambda path: {}[path], b"x")
