"""What a reader sees of Markdown where no MyST extension is: in VS Code, in Colab, on GitHub."""

from __future__ import annotations

import html
import re

from markdown_it import MarkdownIt

COMMON = MarkdownIt("commonmark").enable("table")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
SOURCE = re.compile(
    r"\{[\w:-]+\}$"  # a role, before its backquotes
    r"|^\s*(?::{3,}|`{3,}|\([\w-]+\)=$|:[\w-]+:)"  # a directive, a label, an option
    r"|\*\*|\]\(|\]\[",  # marks that stayed marks
    re.M,
)


def leftovers(text: str) -> list[str]:
    """Return what a plain CommonMark renderer shows as source: directives, roles, labels, marks."""
    page = COMMON.render(FORMULA.sub("formula", text))
    named = re.findall(r'<code class="language-(\{[^"]*)"', page)
    words = re.sub(r"<pre>.*?</pre>", "", page, flags=re.S)
    words = re.sub(r"<code>[^<]*</code>", "\n", words)
    return SOURCE.findall(html.unescape(re.sub(r"<[^>]+>", "", words))) + named
