"""Several processes that train together, forked from the tests' own: they start fast, as torch is loaded."""

import json
import multiprocessing
import os
import socket
from collections.abc import Callable
from contextlib import nullcontext
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from transformer_course.training.processes import ToldElsewhereError, joined

Work = Callable[..., Any]


def together(count: int, work: Work, *, join: bool = True) -> list[Any]:
    """Let so many processes do the same work.

    Args:
        count: how many.
        work: what each does with the processes; it returns what JSON can say.
        join: False where the work joins them itself, and takes no argument.

    Returns:
        For each process what it returned, or its error as text: kind, colon, message.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("fork")
    pipes = [context.Pipe(duplex=False) for _ in range(count)]
    jobs = [
        context.Process(target=_worker, args=(rank, count, port, work, join, pipes[rank][1]))
        for rank in range(count)
    ]
    for job in jobs:
        job.start()
    said = []
    for job, (ours, _) in zip(jobs, pipes, strict=True):
        wait([ours, job.sentinel], timeout=180)
        said.append(json.loads(ours.recv_bytes()) if ours.poll() else "nothing")
    for job in jobs:
        job.join(10)
        job.kill()
    return said


def _worker(rank: int, count: int, port: int, work: Work, join: bool, out: Connection) -> None:
    torch.set_num_threads(1)
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in numbers.items()})
    os.environ.update(MASTER_ADDR="127.0.0.1", TORCHELASTIC_RUN_ID="a test")
    try:
        with joined() if join else nullcontext() as processes:
            said = work(processes) if join else work()
    except ToldElsewhereError:
        said = "told elsewhere"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    out.send_bytes(json.dumps(said).encode())
