"""Ctrl-C as a request (chapter 07): finish what is under way, save, then stop.

So are SIGTERM and SIGHUP, which schedulers and closed terminals send.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_REQUESTS = [
    s for n in ("SIGINT", "SIGTERM", "SIGHUP") if (s := getattr(signal, n, None)) is not None
]


@contextmanager
def catch_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into an event while the block runs; a second one stops at once.

    The same holds for SIGTERM and SIGHUP. Outside the main thread nothing is changed and the event never
    happens. A signal that is ignored stays so, as Ctrl-C is in a job that a shell script put into the
    background, and SIGHUP below `nohup`.

    Yields:
        The event; ask it `is_set()` where it is a good moment to stop.

    Raises:
        KeyboardInterrupt: at the second Ctrl-C, unless another handler was installed before.
    """
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    handlers = {number: signal.getsignal(number) for number in _REQUESTS}
    previous = {n: h for n, h in handlers.items() if h not in (signal.SIG_IGN, None)}

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    def handle(_signal: int, _frame: FrameType | None) -> None:
        interrupted.set()
        restore()

    for number in previous:
        signal.signal(number, handle)
    try:
        yield interrupted
    finally:
        restore()
