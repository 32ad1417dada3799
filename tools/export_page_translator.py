"""Write the demo translator for the page "Try it": python tools/export_page_translator.py

The file is a script (book/static/translator/weights.js), because a page that is opened from the disk can't read
another kind of file.
"""

from pathlib import Path

from transformer_course.figures.inspector import packed
from transformer_course.translator import Translator

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "book" / "static" / "translator" / "weights.js"


def main() -> None:
    """Write the file."""
    translator = Translator.load(ROOT / "runs" / "demo")
    text = f'const courseTranslatorFile = "{packed(translator)}";\n'
    OUT.write_text(text, encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
