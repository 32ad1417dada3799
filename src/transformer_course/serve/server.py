"""The server behind `transformer-course serve` (chapter 14): it listens, and stops without leaving anybody."""

import ipaddress
import signal
import socket
from collections.abc import Callable
from types import FrameType

from transformer_course.optional import needed
from transformer_course.serve.web import LOOPBACK, Limits, application
from transformer_course.translator import Translator

_PATIENCE = 30  # seconds for requests in work when the server stops


def serve(
    translator: Translator,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Answer requests until SIGTERM or Ctrl-C; those in work are answered before it ends.

    Args:
        translator: what translates.
        host: address to listen at. That of the loopback, 127.0.0.1, is reached from this computer only.
        port: to listen at; 0 takes a free one.
        limits: what the server takes at most.
        ready: called with the address of the page once the server can be asked.

    Raises:
        ValueError: if starlette or uvicorn is missing, host is empty, or the port can't be listened at.
        KeyboardInterrupt: after the stop, if it was Ctrl-C.
    """
    uvicorn = needed("uvicorn", "serve")
    listening = _socket(host, port)
    with listening:
        name, number = listening.getsockname()[:2]
        # Under which names others know this computer, nobody can tell.
        app = application(translator, {*LOOPBACK, host} if is_loopback(host) else None, limits)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
        ready(f"http://{f'[{name}]' if ':' in name else name}:{number}/")
        # The server stops on both signals, and then raises them again.
        before = signal.signal(signal.SIGTERM, _nothing)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches an address.

    Args:
        host: a name or an address.

    Returns:
        False for a name other than localhost, too.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _socket(host: str, port: int) -> socket.socket:
    if not host:  # which would be every address
        raise ValueError("host ('') must be an address")
    if not 0 <= port < 65_536:
        raise ValueError(f"port ({port}) must be from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"port ({port}) of {host} can't be listened at: {reason}") from error
    # Each connection has it from here. Without it the second packet of an answer waits, up to 40 ms, until the
    # caller's computer has confirmed the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _nothing(number: int, frame: FrameType | None) -> None:
    """The server has stopped already when this signal is raised again."""
