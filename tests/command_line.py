"""What tests of the command line share: what a command said, and how its errors look."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Result:
    """What a command said."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]


def assert_one_sentence(result: Result, *parts: str, status: int = 1) -> None:
    """The command ended with a sentence that has these parts, and with nothing else."""
    assert result.status == status, result
    last = result.err.rstrip("\n").split("\n")[-1]
    assert last.lower().startswith("error: "), result.err
    assert "Traceback" not in result.err
    if status == 1:
        assert result.err.count("\n") == 1, result.err
    for part in parts:
        assert part in last, last
