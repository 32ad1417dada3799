"""Serve the built book on this machine, build it again when a file changes, and reload the page.

    python tools/serve.py [PORT]

A page asks once a second whether there is a newer build. Warnings are shown, but stop nothing here:
`make book` is the judge.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"
WATCHED = ("_config.yml", "_toc.yml", "book", "chapters", "exercises", "src")
RELOAD = b"""<script>
{ let first; setInterval(async () => {
    const build = await (await fetch("/build-number")).text();
    first ??= build;
    if (build !== first) location.reload();
}, 1000); }
</script></body>"""

build_number = 0


class Handler(SimpleHTTPRequestHandler):
    """Serves the built book and adds to each page the lines that reload it."""

    def do_GET(self) -> None:
        """Answer with the number of the build, with a page and its added lines, or with a file."""
        path = Path(self.translate_path(self.path))
        if self.path == "/build-number":
            self.reply(str(build_number).encode(), "text/plain")
        elif path.suffix == ".html" and path.is_file():
            self.reply(path.read_bytes().replace(b"</body>", RELOAD), "text/html; charset=utf-8")
        else:
            super().do_GET()

    def reply(self, body: bytes, kind: str) -> None:
        """Send a body that must not be kept by the browser."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for each request."""


class Server(ThreadingHTTPServer):
    """Says nothing of a browser that no longer waits for an answer, as after a click on another page."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Show any other trouble."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def state() -> dict[Path, int]:
    """Return when each file that the book is made of was last changed."""
    files = (file for name in WATCHED for file in [ROOT / name, *(ROOT / name).rglob("*")])
    hidden = ("__pycache__", ".ipynb_checkpoints", "vendor")
    return {
        file: file.stat().st_mtime_ns
        for file in files
        if file.is_file() and not any(part in hidden for part in file.parts)
    }


def build() -> None:
    """Build the book and show what it complains about."""
    global build_number
    print("Building the book ...", flush=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    complaints = [line for line in done.stderr.splitlines() if "WARNING" in line or "ERROR" in line]
    print("\n".join(complaints) or "Built.", flush=True)
    if done.returncode != 0 and not complaints:
        print(done.stderr, flush=True)
    build_number += 1


def main(arguments: list[str]) -> int:
    """Serve until Ctrl-C."""
    port = int(arguments[0]) if arguments else 8000
    handler = functools.partial(Handler, directory=str(HTML))
    try:
        server = Server(("127.0.0.1", port), handler)
    except OSError:
        print(f"Port {port} is in use: choose another, `serve.py {port + 1}`.", file=sys.stderr)
        return 1
    seen = state()
    build()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"The book is at http://localhost:{server.server_port}/ (Ctrl-C ends).", flush=True)
    try:
        while True:
            time.sleep(0.5)
            if (now := state()) != seen:
                seen = now
                build()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
