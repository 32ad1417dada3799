"""Write the demo translator for the page "Try it": python tools/export_page_translator.py

The file is a script (book/static/translator/weights.js), because a page that is opened from the disk can't read
another kind of file. Its first line says what the translator was trained with.
"""

import json
from pathlib import Path
from typing import Any

from transformer_course.figures.inspector import packed
from transformer_course.translator import Translator

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "runs" / "demo"
OUT = ROOT / "book" / "static" / "translator" / "weights.js"


def portable(settings: list[Any]) -> list[Any]:
    """The settings of train_demo.py, without the precision: it is the processor's choice."""
    return [*settings[:3], *settings[4:]]


def main() -> None:
    """Write the file."""
    translator = Translator.load(DEMO)
    settings = json.loads((DEMO / "stamp.json").read_text(encoding="utf-8"))["settings"]
    told = f"// The demo translator, trained with {json.dumps(portable(settings))}\n"
    text = f'{told}const courseTranslatorFile = "{packed(translator)}";\n'
    OUT.write_text(text, encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
