"""Work that several processes share out among themselves (chapter 07): each does every n-th part.

They tell each other nothing: a part that is done is a file. So one that is killed leaves nothing to clean up,
and the parts that are there needn't be done again.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from transformer_course.corpus.pairs import CorpusError

Work = Callable[[Path, int, int], None]


def share_out(work: Work, folder: Path, processes: int) -> None:
    """Let processes do a work; this one waits. A single one is this one itself.

    Args:
        work: a function of a module, that gets the folder, the number of its process from 0, and how many there
            are. It asks `abandoned` now and then.
        folder: where the parts are.
        processes: how many.

    Raises:
        CorpusError: if one of them fails; the message is the first one's.
        Exception: what `work` raises, if this process does it.
    """
    if processes == 1:
        work(folder, 0, 1)
        return
    with _started(work, folder, processes) as running:
        waiting = {job.sentinel: (job, heard) for job, heard in running}
        while waiting:
            ended = set(wait(list(waiting)))
            for sentinel in [known for known in waiting if known in ended]:
                job, heard = waiting.pop(sentinel)
                with suppress(EOFError):
                    raise CorpusError(heard.recv_bytes().decode())
                if job.exitcode:
                    raise CorpusError(
                        f"a process ended ({job.exitcode}) before its work was done; do the same again to go on"
                    )


def abandoned() -> bool:
    """Whether the process that shared the work out has ended; then nobody waits for it."""
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


@contextmanager
def _started(
    work: Work, folder: Path, processes: int
) -> Iterator[list[tuple[BaseProcess, Connection]]]:
    """The processes, which end with the block, each with what it has to say."""
    # A fork of this process would have its threads' locks. A fork server has loaded the modules, once for all.
    servers = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if servers else "spawn")
    context.set_forkserver_preload([work.__module__])
    running: list[tuple[BaseProcess, Connection]] = []
    try:
        for number in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            job = context.Process(target=_work, args=(work, folder, number, processes, theirs))
            job.start()
            theirs.close()
            running.append((job, ours))
        yield running
    finally:
        for job, ours in running:
            job.terminate()
            job.join()
            ours.close()


def _work(work: Work, folder: Path, number: int, processes: int, out: Connection) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the processes are parallel already
    try:
        work(folder, number, processes)
    except (ValueError, OSError) as error:
        out.send_bytes(str(error).encode())
    except KeyboardInterrupt:
        pass  # the first process tells
