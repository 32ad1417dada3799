"""The system's Chromium: where it is, and how the course starts it for tests, measurements and the PDF."""

from __future__ import annotations

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "Chromium is missing: `apt-get install chromium`, or install Google Chrome."
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Return the path of the first browser of that kind that is installed, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)
