"""Training on several processes (chapter 07): what one of them knows of the others, and hears from them.

`torchrun` starts the processes, on one computer or more, and starts all of them again when one has died. Each
has the whole model and all data, computes a part of every batch, and adds up its gradients with the others'
(`training.gradients`). The first one alone writes and speaks.
"""

import hashlib
import os
import platform
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

_LOST = (
    "another process of this training has ended or can't be reached, so this one ends, too; what was "
    "saved can be resumed"
)
_FAILED = "transformer_course/failed"
_HEARD = 5.0  # seconds in which the others can hear that the first one has failed


class LostProcessError(ConnectionError):
    """Another process of the training has ended, or can't be reached."""


class ToldElsewhereError(Exception):
    """This process ends because another one has failed, which has said why."""


@dataclass(frozen=True)
class Processes:
    """The processes that train one model together, as one of them sees them.

    Args:
        rank: the number of this one; the first one, 0, writes and speaks.
        count: how many there are.

    >>> ALONE.sums(3.0, 4.0), ALONE.share("its own text")
    ([3.0, 4.0], 'its own text')
    """

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def add_up(self, tensor: Tensor) -> None:
        """Replace a tensor by the sum of all processes' tensors; the same bits on each.

        Args:
            tensor: of any shape, the same everywhere; changed in place.

        Raises:
            LostProcessError: if another process has ended.
        """
        if self.count > 1:
            with _hearing():
                dist.all_reduce(tensor)

    def sums(self, *numbers: float) -> list[float]:
        """Add up numbers of all processes, in double precision.

        Args:
            *numbers: as many everywhere.

        Returns:
            Their sums.

        Raises:
            LostProcessError: if another process has ended.
        """
        tensor = torch.tensor(numbers, dtype=torch.float64)
        self.add_up(tensor)
        return tensor.tolist()

    def share(self, text: str) -> str:
        """What the first process says, for all.

        Args:
            text: what this one would say; only the first one's counts.

        Returns:
            The first one's text.

        Raises:
            LostProcessError: if another process has ended.
        """
        if self.count == 1:
            return text
        mine = torch.tensor([*text.encode()] if self.first else [], dtype=torch.uint8)
        (length,) = self.sums(len(mine))
        said = mine if self.first else torch.zeros(int(length), dtype=torch.uint8)
        self.add_up(said)  # to zeros
        return bytes(said.tolist()).decode()

    def wait(self) -> None:
        """Go on when all processes have come here.

        Raises:
            LostProcessError: if another process has ended.
        """
        self.sums(0.0)

    def draw_anew(self, seed: int, step: int) -> None:
        """Give this process random numbers of its own for an update; one that is alone keeps its stream.

        They depend on nothing that came before, so no checkpoint has to hold them.

        Args:
            seed: the training's.
            step: the update's number.
        """
        if self.count > 1:
            drawn = hashlib.sha256(f"{seed} {step} {self.rank}".encode()).digest()
            torch.manual_seed(int.from_bytes(drawn[:7]))


ALONE = Processes()


def local_rank() -> int:
    """The number of this process among those on its computer.

    Returns:
        The number; 0 if `torchrun` didn't start this process.

    Raises:
        ValueError: if the environment has no number there.
    """
    return _number("LOCAL_RANK", 0)


def _number(name: str, least: int) -> int:
    """What `torchrun` says in the environment; the least if it says nothing."""
    said = os.environ.get(name, str(least))
    if not said.isdecimal() or int(said) < least:
        raise ValueError(
            f"{name} ({said!r}) in the environment must be a whole number, {least} or more, as torchrun sets "
            "it: unset it"
        )
    return int(said)


def job() -> str | None:
    """What is the same for all that one call of `torchrun` starts, and starts again.

    Returns:
        The job's name; None if `torchrun` didn't start this process.
    """
    name = os.environ.get("TORCHELASTIC_RUN_ID")
    if name == "none":  # nobody gave one: the computer, and the process of torchrun
        return f"{platform.node()} {os.getppid()}"
    return name


@contextmanager
def joined() -> Iterator[Processes]:
    """Join the processes that `torchrun` has started, while the block runs; without it, stay alone.

    All leave the block together. If it fails in one, it fails in all, and one of them says why.

    Yields:
        The processes.

    Raises:
        LostProcessError: if the others can't be reached, or one ends before the block does.
        ValueError: if the environment has no number where `torchrun` sets one.
        ToldElsewhereError: in place of another error, if another process has failed before this one.
        Exception: what the block raises.
    """
    count = _number("WORLD_SIZE", 1) if job() else 1
    if count == 1:
        yield ALONE
        return
    store, rank = _store()
    try:
        with _hearing():
            cards = torch.cuda.is_available() and dist.is_nccl_available()
            backend = "cpu:gloo,cuda:nccl" if cards else "gloo"
            dist.init_process_group(backend, store=store, rank=rank, world_size=count)
        with warnings.catch_warnings():
            if rank:
                warnings.simplefilter("ignore")
            yield Processes(rank, count)
            Processes(rank, count).wait()
    except (Exception, KeyboardInterrupt) as error:
        if not _first_to_fail(store, rank, count):
            raise ToldElsewhereError from error
        if isinstance(error, RuntimeError) and _is_lost(error):  # while weights were gathered
            raise LostProcessError(_LOST) from error
        raise
    dist.destroy_process_group()


def _store() -> tuple[Any, int]:
    """The store in which processes leave each other notes, and this one's number."""
    from torch.distributed.rendezvous import rendezvous  # not every build of torch has it

    _number("RANK", 0)  # before torch reads it
    with _hearing():
        store, rank, _ = next(rendezvous("env://"))
    return store, rank


@contextmanager
def _hearing() -> Iterator[None]:
    """What torch says of a connection that breaks, in our words."""
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(_LOST) from error


def _is_lost(error: RuntimeError) -> bool:
    """Whether it is a connection that broke; gloo has no kind of error of its own."""
    return isinstance(error, dist.DistError) or "gloo" in str(error)


def _first_to_fail(store: Any, rank: int, count: int) -> bool:
    """Whether this process is the first one that fails; then it leaves the group, so that the others notice."""
    try:
        first = store.add(_FAILED, 1) == 1
    except RuntimeError:  # the store was in the first process, and has ended with it
        return rank == 1
    with suppress(RuntimeError, AssertionError):  # perhaps it hasn't joined yet
        dist.destroy_process_group()
    until = time.monotonic() + _HEARD
    with suppress(RuntimeError):
        while rank == 0 and store.add(_FAILED, 0) < count and time.monotonic() < until:
            time.sleep(0.05)
    return first
