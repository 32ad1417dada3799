"""Nobody waits without knowing for what (chapter 07)."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def told_if_long(
    say: Callable[[str], None], patience: float = 5.0, again: float = 30.0
) -> Iterator[Callable[[str], None]]:
    """Say what is being done, if it takes long.

    Args:
        say: gets a sentence, from a thread of its own.
        patience: seconds until something is said.
        again: seconds until it is said once more.

    Yields:
        A function that takes what begins now, in words; an empty text ends it.
    """
    changed = threading.Condition()
    under_way: list[str | None] = [""]  # None ends it all

    def begin(what: str | None) -> None:
        with changed:
            under_way[:] = [what]
            changed.notify()

    def watch() -> None:
        with changed:
            while (what := under_way[0]) is not None:
                since, wait = time.monotonic(), patience
                while not changed.wait(wait if what else None) and what is under_way[0]:
                    say(f"{what}: {time.monotonic() - since:.0f} s so far")
                    wait = again

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield begin
    finally:
        begin(None)
        watcher.join()
