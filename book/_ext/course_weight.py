"""Keep pages light: text before scripts, MathJax only where there are formulas, and only the icons in use.

No script holds up the text: all of them are deferred, in their order. The theme's icons are a font of 1,400
signs, and a script of 1.5 MB that draws them again; `_static/icons.css` has the few that the pages show.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

NAMED = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]{4})"\}')
UNNAMED = re.compile(r'"\\([ef][0-9a-f]{3})"|([\ue000-\uf8ff])')
BY_SCRIPTS = {"fa-xmark"}  # the theme's script draws it
FONT = "vendor/fontawesome/webfonts/fa-solid-900.ttf"


def used_icons(sheets: Iterable[str], pages: Iterable[str]) -> set[int]:
    r"""Return the code points of the icons that style sheets draw by themselves or pages name.

    >>> sheet = '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}.fa-ankh:before{content:"\\f644"}'
    >>> sheet += 'p::after{content:"\\f107"}'
    >>> [f"{code:x}" for code in sorted(used_icons([sheet], ['<i class="fas fa-bars"></i>']))]
    ['f0c9', 'f107']
    """
    text = "\n".join(sheets)
    names = BY_SCRIPTS.union(*(re.findall(r"\bfa-[\w-]+", page) for page in pages))
    named = {
        int(code, 16)
        for selectors, code in NAMED.findall(text)
        if names.intersection(re.findall(r"\.(fa-[\w-]+):", selectors))
    }
    unnamed = UNNAMED.findall(NAMED.sub("", text))
    return named | {int(code, 16) if code else ord(sign) for code, sign in unnamed}


def icon_sheet(font: Path, codes: set[int]) -> str:
    """Return a style sheet whose font has only `codes`; where it has them, it is taken for the theme's own."""
    with TTFont(font) as whole:
        codes = codes & set(whole.getBestCmap() or {})
        family = str(whole["name"].getBestFamilyName()).removesuffix(" Solid")
        cutter = subset.Subsetter()
        cutter.populate(unicodes=codes)
        cutter.subset(whole)
        whole.flavor = "woff"
        written = io.BytesIO()
        whole.save(written)
    data = base64.b64encode(written.getvalue()).decode()
    ranges = ", ".join(f"U+{code:X}" for code in sorted(codes))
    return (
        f'@font-face {{\n  font-family: "{family}";\n  font-weight: 900;\n  unicode-range: {ranges};\n'
        f"  src: url(data:font/woff;base64,{data}) format('woff');\n}}\n"
    )


def write_icons(app: Sphinx, error: Exception | None) -> None:
    """Write `_static/icons.css` when all pages are there."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    sheets = [path.read_text(encoding="utf-8") for path in static.rglob("*.css")]
    pages = [
        path.read_text(encoding="utf-8")
        for path in out.rglob("*.html")
        if static not in path.parents
    ]
    sheet = icon_sheet(static / FONT, used_icons(sheets, pages))
    (static / "icons.css").write_text(sheet, encoding="utf-8")


def later(tag: Callable[[Any], str], mathjax: str | None) -> Callable[[Any], str]:
    """Return Sphinx' writer of script tags, changed: nothing runs before the text is there, `mathjax` never."""

    def written(script: Any) -> str:
        name, body = str(script.filename or ""), script.attributes.get("body") or ""
        if mathjax and name.endswith(mathjax):
            return ""
        if "DOCUMENTATION_OPTIONS" in body:  # comes after a file that is deferred
            return tag(script).replace("<script", '<script type="module"', 1)
        if name and not {"defer", "async"} & set(script.attributes):
            return tag(script).replace("<script", "<script defer", 1)
        return tag(script)

    return written


def lighten(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Give a page our writer of script tags."""
    if "js_tag" in context:
        # Sphinx' own answer is yes as well for a page that only lists one with formulas.
        formulas = app.env.domaindata["math"]["has_equations"].get(page)
        context["js_tag"] = later(context["js_tag"], None if formulas else app.config.mathjax_path)


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after all that add scripts and styles."""
    app.connect("html-page-context", lighten, priority=900)
    app.connect("build-finished", write_icons, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
