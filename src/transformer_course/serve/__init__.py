"""A translator on a web page (chapter 14): `application` for any ASGI server, `serve` on this computer.

Starlette and uvicorn do what belongs to the web. Requests that arrive together are translated together
(`serve.batching`).
"""

from transformer_course.serve.server import is_loopback, serve
from transformer_course.serve.web import Limits, application

__all__ = ["Limits", "application", "is_loopback", "serve"]
