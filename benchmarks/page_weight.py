"""What a page of the built book weighs, and when its text is there: `python -m benchmarks.page_weight`.

Each kind of page is opened in Chromium with an empty cache, over a line of 10 Mbit/s with 40 ms to the server
and back, by the DevTools protocol. Nothing is compressed. Bytes are all that came before anybody touched the
page; times are medians of several visits, in seconds from the click. Writes `results/page_weight.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import statistics
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from benchmarks.speed import ROOT, processor

sys.path.append(str(ROOT / "tools"))

from chromium import FLAGS, chromium

HTML = ROOT / "_build" / "html"
PAGES = {
    "front page": "book/intro.html",
    "page without formulas": "book/how_to_use.html",
    "shortest chapter": "chapters/10_inspecting.html",
    "longest chapter": "chapters/09_decoding.html",
    "chapter with most pictures": "chapters/12_long_context.html",
    "page of the API": "book/api/model.html",
    "results": "book/results.html",
    "try it": "book/try_it.html",
}
MEGABITS, DELAY = 10, 40
PATIENCE = 120_000  # milliseconds
PAINT = """() => performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"""
LOADED = """() => performance.timing.loadEventEnd - performance.timing.navigationStart"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    protocol_version = "HTTP/1.1"  # one connection for many files, as servers do

    def handle(self) -> None:
        """Serve; a browser that closes its line is no fault."""
        with contextlib.suppress(ConnectionResetError):
            super().handle()

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


def visit(browser: Browser, address: str) -> dict[str, float]:
    """Open a page over the slow line; return its bytes, its first paint with content, and its load event."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": DELAY,
            "downloadThroughput": MEGABITS * 1e6 / 8,
            "uploadThroughput": MEGABITS * 1e6 / 8,
        },
    )
    sizes: list[float] = []
    session.on("Network.loadingFinished", lambda seen: sizes.append(seen["encodedDataLength"]))
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    result = {"bytes": sum(sizes), "first paint": page.evaluate(PAINT)}
    result["loaded"] = page.evaluate(LOADED) / 1000
    context.close()
    return result


def measure(folder: Path, visits: int) -> dict[str, dict[str, float]]:
    """Visit each page several times; return medians."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    table = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        visit(browser, f"{site}/{PAGES['front page']}")  # the browser's own start
        for kind, name in PAGES.items():
            seen = [visit(browser, f"{site}/{name}") for _ in range(visits)]
            table[kind] = {
                key: round(statistics.median(s[key] for s in seen), 2) for key in seen[0]
            }
            row = table[kind]
            print(
                f"{kind:28} {row['bytes'] / 1e6:6.2f} MB  first paint {row['first paint']:5.2f} s"
                f"  loaded {row['loaded']:5.2f} s"
            )
        browser.close()
    server.shutdown()
    return table


def main(folder: Path, visits: int, write: bool) -> None:
    """Measure the pages in `folder`; with `write`, store what was found."""
    table = measure(folder, visits)
    if write:
        result = {
            "command": f"python -m benchmarks.page_weight --visits {visits} --write",
            "line": f"{MEGABITS} Mbit/s, {DELAY} ms, nothing compressed",
            "processor": processor(),
            "cores": os.cpu_count(),
            "pages": {kind: {"page": PAGES[kind], **row} for kind, row in table.items()},
        }
        target = ROOT / "benchmarks" / "results" / "page_weight.json"
        target.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--html", type=Path, default=HTML, help="the built book")
    parser.add_argument("--visits", type=int, default=3, help="visits of each page")
    parser.add_argument("--write", action="store_true", help="store the table in results/")
    given = parser.parse_args()
    main(given.html, given.visits, given.write)
