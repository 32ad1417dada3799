"""The web application of a translator (chapter 14): a page, and an endpoint that speaks JSON.

    POST /translate {"text": "...", "beam": 4}       one text, or a list of them; beam may be left out
    GET /health                                      how many sentences are waiting

Every answer but the page and its files is JSON. An error is {"error": "..."} with status 400 for wrong
requests, 413 for what is too long, 415 for what isn't JSON, 503 while too many sentences wait. The page asks no
other host, and shows texts as text.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from transformer_course.corpus.lenient import line_of_text
from transformer_course.lines import Answer, translate_lines
from transformer_course.optional import needed
from transformer_course.serve.batching import Batcher, BusyError
from transformer_course.translator import Translator

_NOBODY = 499  # the status of an answer that nobody reads
LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
}


@dataclass(frozen=True)
class Limits:
    """What a server takes at most.

    Args:
        body: bytes of a request.
        sentences: texts of a request.
        characters: of a text; the model's own limit, in subwords, counts as well.
        beam: width of the beam.
        waiting: sentences that are waiting or in work, of all requests together.
        batch: sentences that are translated together.
    """

    body: int = 262_144
    sentences: int = 100
    characters: int = 2000
    beam: int = 8
    waiting: int = 1024
    batch: int = 64


class RequestError(Exception):
    """A request that can't be answered.

    Args:
        status: of HTTP.
        sentence: what is wrong.
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def application(
    translator: Translator,
    hosts: Collection[str] | None = LOOPBACK,
    limits: Limits | None = None,
) -> Any:
    """The application, for any server that speaks ASGI.

    Args:
        translator: what translates.
        hosts: names by which the server may be asked; others are refused, so that no foreign page can send a
            browser here under a name of its own. None = any.
        limits: what it takes at most.

    Returns:
        A Starlette application; `state.batcher` is its `Batcher`.

    Raises:
        ValueError: if starlette is missing.
    """
    needed("starlette", "serve")
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.routing import Route

    web = _Web(translator, hosts, limits or Limits())
    app = Starlette(
        routes=[
            *(Route(path, web.show) for path in _FILES),
            Route("/translate", web.translate, methods=["POST"]),
            Route("/health", web.health),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=web.known)],
        exception_handlers={HTTPException: web.refused, Exception: web.failed},
        lifespan=web.working,
    )
    app.state.batcher = web.batcher
    return app


class _Web:
    """What the application does, request by request."""

    def __init__(
        self, translator: Translator, hosts: Collection[str] | None, limits: Limits
    ) -> None:
        self._translator, self._hosts, self._limits = translator, hosts, limits
        self.batcher = Batcher(self._answers, limits.batch, limits.waiting)

    def _answers(self, sentences: list[str], beam: int) -> list[Answer]:
        at_once = len(sentences)
        return list(translate_lines(self._translator, sentences, beam=beam, at_once=at_once))

    @asynccontextmanager
    async def working(self, app: Any) -> AsyncIterator[None]:
        task = asyncio.create_task(self.batcher.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def known(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        # Not of `request.url`: where Host is no name, that takes the address of the socket.
        host = None
        with suppress(ValueError):
            host = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if self._hosts is not None and host not in self._hosts:
            return _said({"error": "the server isn't known by this name"}, 400)
        return await call_next(request)

    async def show(self, request: Any) -> Any:
        from starlette.responses import Response

        name, kind = _FILES[request.url.path]
        text = files("transformer_course.serve").joinpath(name).read_text(encoding="utf-8")
        return Response(text, headers=_HEADERS, media_type=kind)

    async def translate(self, request: Any) -> Any:
        from starlette.requests import ClientDisconnect
        from starlette.responses import Response

        try:
            body = await _body(request, self._limits.body)
            sentences, beam = _asked(body, self._translator, self._limits)
            answers: list[Answer] = []
            if sentences:
                answers = await _unless_gone(request, self.batcher.translate(sentences, beam))
        except ClientDisconnect:
            return Response(status_code=_NOBODY)
        except RequestError as error:
            return _said({"error": str(error)}, error.status)
        except BusyError as error:
            return _said({"error": str(error)}, 503, **{"Retry-After": "1"})
        return _said({"translations": [_record(found) for found in answers]})

    async def health(self, request: Any) -> Any:
        return _said({"status": "ok", "waiting": self.batcher.open})

    async def refused(self, request: Any, error: Any) -> Any:
        return _said({"error": error.detail}, error.status_code, **(error.headers or {}))

    async def failed(self, request: Any, error: Exception) -> Any:
        return _said({"error": "the server made a mistake"}, 500)


def _said(value: dict[str, Any], status: int = 200, **headers: str) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse(value, status, _HEADERS | headers)


async def _unless_gone(request: Any, work: Coroutine[Any, Any, list[Answer]]) -> list[Answer]:
    """What some work gives. A server doesn't cancel it by itself when whoever asked has gone.

    Raises:
        ClientDisconnect: if whoever asked has gone before it is done; it is cancelled.
    """
    from starlette.requests import ClientDisconnect

    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_leave(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        leaving.result()  # raises what went wrong, if it was that
        raise ClientDisconnect
    finally:
        working.cancel()
        leaving.cancel()


async def _leave(request: Any) -> None:
    """Wait until whoever asked has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Any, most: int) -> bytes:
    """The body of a request, read no further than the limit."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":  # which a page of another site can't send without asking first
        raise RequestError(415, "the request must be application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise RequestError(413, f"the request must have at most {most:,} bytes")
    return bytes(body)


def _asked(body: bytes, translator: Translator, limits: Limits) -> tuple[list[str], int]:
    """The sentences, and the width of the beam, of a request that can be answered."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "the request is no JSON") from error
    if not isinstance(asked, dict) or not asked.keys() <= {"text", "beam"} or "text" not in asked:
        raise RequestError(400, "the request must be an object with text, and beam if you like")
    text, beam = asked["text"], asked.get("beam", 4)
    sentences = [text] if isinstance(text, str) else text
    if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
        raise RequestError(400, "text must be a string, or a list of strings")
    if type(beam) is not int or not 1 <= beam <= limits.beam:
        raise RequestError(
            400, f"beam ({str(beam)[:20]}) must be a whole number from 1 to {limits.beam}"
        )
    most = min(limits.sentences, limits.waiting)  # else it would have to wait for ever
    if len(sentences) > most:
        raise RequestError(413, f"text must be at most {most} strings")
    numbered = enumerate(sentences, 1)
    return [_checked(one, number, translator, limits) for number, one in numbered], beam


def _checked(sentence: str, number: int, translator: Translator, limits: Limits) -> str:
    """The sentence, as a line of a file would be read; refused if it is too long, or no text."""
    if len(sentence) > limits.characters:
        raise RequestError(
            413, f"sentence {number} must have at most {limits.characters} characters"
        )
    line = line_of_text(sentence, max_chars=limits.characters)
    if isinstance(line, ValueError):
        raise RequestError(400, f"sentence {number}: {line}")
    most = translator.model.config.max_len - 1
    if (count := len(translator.vocabulary.encode([line])[0])) > most:
        raise RequestError(
            413, f"sentence {number} has {count} subwords, the model takes at most {most}"
        )
    return line


def _record(answer: Answer) -> dict[str, Any]:
    """An answer as JSON says it; what could have gone wrong with a sentence was refused before."""
    names = ("text", "unseen", "doubtful", "untranslated", "cut")
    return {name: getattr(answer, name) for name in names}
