"""How fast the page "Try it" translates in Chromium: `python -m benchmarks.page_translator --against REVISION`.

The translator of the page as it is, and as it was at a revision of the repository (by default that of the last
commit), take turns in one browser. Times are the processor's, of the thread that computes: medians over the
rounds. What counts is the ratio of two times of the same round, and its median.
"""

import argparse
import shutil
import statistics
import subprocess
from typing import NamedTuple

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benchmarks.speed import ROOT

SCRIPT = "src/transformer_course/figures/translator/translator.js"
WEIGHTS = ROOT / "book" / "static" / "translator" / "weights.js"
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The cat is on the mat.",
    "He gives it to her.",
)
BEAMS = (1, 4)
WARM = 8  # searches before the first that counts: the browser compiles what runs often
LOAD = "async () => { window.translator = await CourseTranslator.load(courseTranslatorFile); }"
SEARCH = """([text, beam]) => {
  const start = performance.now();
  translator.search(text, { beam });
  return performance.now() - start;
}"""


class Version(NamedTuple):
    """A page that has loaded one version of the translator."""

    page: Page
    session: CDPSession

    def thread_time(self) -> float:
        """Seconds of the processor that the page's thread has taken so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(float(m["value"]) for m in metrics if m["name"] == "ThreadTime")

    def search(self, text: str, beam: int) -> tuple[float, float]:
        """Milliseconds that a search takes: of the processor, and by the clock."""
        start = self.thread_time()
        clock = self.page.evaluate(SEARCH, [text, beam])
        return 1000 * (self.thread_time() - start), float(clock)


def loaded(browser: Browser, script: str) -> Version:
    """Open a page with a version of the translator."""
    page = browser.new_page()
    page.goto("about:blank")
    page.add_script_tag(content=script)
    page.add_script_tag(path=WEIGHTS)
    page.evaluate(LOAD)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return Version(page, session)


def measure(now: Version, old: Version, text: str, beam: int, rounds: int) -> str:
    """Search with both in turns: a row of the table."""
    for version in (now, old):
        for _ in range(WARM):
            version.search(text, beam)
    times = []
    for r in range(rounds):
        turns = (now, old) if r % 2 else (old, now)
        found = {version: version.search(text, beam) for version in turns}
        times.append((found[now], found[old]))
    cpu, clock, before, ratio = (
        statistics.median(values)
        for values in zip(*((n[0], n[1], o[0], n[0] / o[0]) for n, o in times), strict=True)
    )
    return f"{beam:4} {cpu:9.1f} {before:9.1f} {ratio:6.2f} {clock:10.1f}   {text}"


def main(against: str, rounds: int) -> None:
    """Print the table."""
    shown = subprocess.run(
        ["git", "show", f"{against}:{SCRIPT}"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    now = (ROOT / SCRIPT).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        new, old = loaded(browser, now), loaded(browser, shown.stdout)
        print("milliseconds of the processor (ratio), and by the clock")
        print("beam       now    before  ratio  now, clock   sentence")
        for beam in BEAMS:
            for text in SENTENCES:
                print(measure(new, old, text, beam, rounds))
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", default="HEAD", help="a revision of the repository")
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    main(arguments.against, arguments.rounds)
