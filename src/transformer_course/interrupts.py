"""Ctrl-C as a request (chapter 07): finish what is under way, save, then stop."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catch_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event while the block runs; a second one stops at once.

    Outside the main thread, or where Ctrl-C is ignored (as in a job that a shell script put into the
    background), nothing is changed and the event never happens.

    Yields:
        The event; ask it `is_set()` where it is a good moment to stop.

    Raises:
        KeyboardInterrupt: at the second Ctrl-C, unless another handler was installed before.
    """
    interrupted = threading.Event()
    in_main_thread = threading.current_thread() is threading.main_thread()
    previous = signal.getsignal(signal.SIGINT)
    if not in_main_thread or previous in (signal.SIG_IGN, None):
        yield interrupted
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, previous)
