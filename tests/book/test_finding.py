"""What a reader searches is found, the section that explains it first; the search runs in Node."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from test_book import HTML, PAGES, ROOT, parsed

from tests.widgets.node import node

QUERIES = {  # what is typed, and where its section begins
    "mask": "chapters/03_masking.html",
    "beam search": "chapters/09_decoding.html#the-idea-keep-a-second-draft",
    "why divide by the square root": "chapters/01_attention.html#why-divide-by-the-square-root-of-d-k",
    "label smoothing": "chapters/08_loss.html#label-smoothing-a-few-beans-on-the-others",
    "teacher forcing": "chapters/07_training.html#what-exactly-is-guessed",
    "nan": "chapters/03_masking.html#a-query-that-may-see-nothing",
    "positional encoding": "chapters/05_positional_encoding.html",
    "learning rate": "chapters/07_training.html#the-equation",
    "key-value cach": "chapters/09_decoding.html#the-key-value-cache",  # not finished
    "Masks": "chapters/03_masking.html",
}
RUN = """
const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");
globalThis.window = {};
const [index, script, queries] = JSON.parse(readFileSync(0, "utf-8"));
runInThisContext(index);
runInThisContext(script);
const ready = finding.prepare(window.course_sections);
const short = ({ url, kind, parts }) => ({ url, kind, parts });
console.log(JSON.stringify(queries.map((query) => finding.find(query, ready, 20).map(short))));
"""
pytestmark = pytest.mark.skipif(
    not PAGES, reason="The web book is not built: run `make book` first."
)


def read(name: str) -> Any:
    """Return what one of the two data files holds."""
    text = (HTML / "_static" / f"{name}.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix(f"window.course_{name} = ").rstrip(";\n"))


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    """What the search finds for each query."""
    index = (HTML / "_static" / "sections.js").read_text(encoding="utf-8")
    script = (ROOT / "book" / "static" / "finding.js").read_text(encoding="utf-8")
    queries = [*QUERIES, "qqqq", "", "the", "residual"]
    done = subprocess.run(
        [node(), "-e", RUN],
        input=json.dumps([index, script, queries]),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(queries, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_its_section_first(query: str, found: dict[str, Any]) -> None:
    assert found[query][0]["url"] == QUERIES[query]


def test_what_stands_nowhere_is_not_found(found: dict[str, Any]) -> None:
    assert found["qqqq"] == found[""] == []
    assert found["the"]  # a word that is everywhere is looked for when it is alone


def test_chapters_come_before_the_interface(found: dict[str, Any]) -> None:
    kinds = [entry["kind"] for entry in found["residual"]]
    assert kinds[0] == "chapter"
    assert "api" in kinds
    assert kinds.index("api") > kinds.index("glossary")


def test_excerpts_show_the_hit_and_are_short(found: dict[str, Any]) -> None:
    for query in QUERIES:
        assert any(hit for _, hit in found[query][0]["parts"]), query
        for entry in found[query]:
            assert len("".join(text for text, _ in entry["parts"])) < 200


def test_the_text_that_is_searched_has_no_code_and_no_tex() -> None:
    for url, _, title, _, text, kind in read("sections"):
        assert not re.search(
            r"\\(frac|mathrm|sqrt|begin|text)\b|\{(term|doc|cite:t)\}", title + text
        ), url
        assert kind == "api" or not re.search(r"\bimport numpy|\bdef \w+\(", text), url


def test_every_address_in_the_index_has_its_place() -> None:
    for url, *_ in read("sections"):
        page, _, place = url.partition("#")
        assert not place or place in parsed(page).ids, url


def test_every_term_has_its_preview() -> None:
    terms = read("terms")
    assert len(terms) > 100
    assert terms["term-causal-mask"][1].startswith("The mask that hides the future")
    for page in PAGES:
        for link in parsed(page).links:
            if "glossary.html#term-" in link:
                assert link.split("#")[1] in terms, link
