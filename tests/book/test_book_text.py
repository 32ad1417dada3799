"""The text pages of the book agree with the package, with torch, and with themselves."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import json
import re
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.multi_head import MultiHeadAttention

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
NOTATION = (BOOK / "notation.md").read_text(encoding="utf-8")
PAGES = ["intro.md", "how_to_use.md", "prerequisites.ipynb", "notation.md", "glossary.md", "api.md"]


def load(path: Path) -> ModuleType:
    """Import a script that is not in the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def page_text(name: str) -> str:
    """Return what a reader reads on a page: for a notebook, its Markdown cells."""
    text = (BOOK / name).read_text(encoding="utf-8")
    if not name.endswith(".ipynb"):
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


MARKDOWN = sorted(
    path
    for folder in ("book", "chapters", "exercises")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".md", ".ipynb") and not {"vendor", "_generated"} & set(path.parts)
)
FENCE = re.compile(r"^(`{3,})(\{[a-z-]*\})?[^\n]*\n(.*?)^\1$", re.M | re.S)
PROSE = ("{quiz}", "{admonition}", "{dropdown}")  # directives with Markdown inside


def glossary() -> dict[str, str]:
    """Return the glossary's terms with their explanations."""
    block = page_text("glossary.md").split("```{glossary}\n")[1].split("```")[0]
    pairs = [entry.split("\n", 1) for entry in block.strip().split("\n\n")]
    assert len({term.casefold() for term, _ in pairs}) == len(pairs), "a term occurs twice"
    return {term: " ".join(explanation.split()) for term, explanation in pairs}


def test_map_is_what_its_script_draws() -> None:
    script = load(ROOT / "tools" / "draw_transformer_map.py")
    assert (BOOK / "images" / "transformer_map.svg").read_text(encoding="utf-8") == script.draw()
    assert script.PACKAGED.read_text(encoding="utf-8") == script.draw()


def test_the_whole_map_can_be_filled_in_and_the_small_ones_cannot() -> None:
    """Every plate has a tick of its chapter, every part with plates a fill; all are empty."""
    script = load(ROOT / "tools" / "draw_transformer_map.py")
    whole = script.draw()
    plates = re.findall(rf'text-anchor="middle" fill="{script.PAPER}">(\d\d)<', whole)
    ticks = re.findall(r'class="map-tick" data-chapters="(\d\d)" visibility="hidden"', whole)
    fills = re.findall(
        r'class="map-fill" data-chapters="([\d ]+)" data-width="156"[^>]* width="0"', whole
    )
    assert plates == ticks
    assert {chapter for fill in fills for chapter in fill.split()} == set(ticks)
    assert whole.count("map-fill") == len(fills) > 8
    for chapter in ("05", "10", "15"):
        assert "map-" not in script.draw(chapter)


def test_lighting_a_chapter_fades_the_others() -> None:
    script = load(ROOT / "tools" / "draw_transformer_map.py")
    faded = f'<g opacity="{script.FADED}">'
    assert faded not in script.draw()
    for chapter in ("01", "02", "03", "04", "05", "06", "07", "08", "09"):
        lit = script.draw(chapter)
        assert 0 < lit.count(faded) < script.draw("none").count(faded), chapter


@pytest.mark.parametrize("page", PAGES)
def test_no_word_that_belittles_the_reader(page: str) -> None:
    found = re.findall(r"\b(simply|obviously|just|trivial\w*|clearly)\b", page_text(page), re.I)
    assert not found


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_tags_stand_in_backquotes(path: Path) -> None:
    """A bare <s> would be HTML: all that follows it is struck through."""
    prose = FENCE.sub(lambda m: m[3] if m[2] in PROSE else "", page_text(str(path)))
    bare = re.sub(r"(`+)[^`]+\1", "", prose)
    bare = re.sub(
        r'<span lang="zh">([^<>]+)</span>', r"\1", bare
    )  # Chinese, for readers and their voices
    # A link with a question mark, to a sentence and a switch of that page: Markdown would look for a file.
    bare = re.sub(r'<a href="\.\./book/try_it\.html[^"]*">([^<>]+)</a>', r"\1", bare)
    # The sign of an interactive figure; and folds that editors without the course's extension know, too.
    bare = re.sub(r'<span class="has-interactive" [^<>]+></span>', "", bare)
    if "exercises" in path.parts:
        bare = re.sub(r"</?(?:details|summary|b)>", "", bare)
    assert not re.findall(r"</?[a-z]\w*(?: [^<>]*)?>", bare)


def test_glossary_is_sorted_and_short() -> None:
    terms = glossary()
    assert len(terms) > 100
    assert list(terms) == sorted(terms, key=str.casefold)
    for term, explanation in terms.items():
        sentences = re.findall(r"[.!?](?= [A-Z*]|$)", explanation)
        assert 1 <= len(sentences) <= 3, (term, explanation)
        assert explanation.endswith("."), (term, explanation)


def test_notation_names_every_setting_of_the_model() -> None:
    not_a_symbol = {"max_len", "norm", "positions", "tie_embeddings", "bias"}
    for field in fields(TransformerConfig):
        assert field.name in not_a_symbol or f"`{field.name}`" in NOTATION, field.name


def test_notation_states_the_paper_sizes_of_the_base_model() -> None:
    base = TransformerConfig.base(37000)
    for name in ("d_model", "n_heads", "d_ff", "n_encoder_layers", "n_decoder_layers"):
        row = next(line for line in NOTATION.splitlines() if f"| `{name}` |" in line)
        assert row.split("|")[-2].strip() == str(getattr(base, name)), row


def test_notation_names_torch_arguments_that_exist() -> None:
    transformer = inspect.signature(nn.Transformer).parameters
    names = ["d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward"]
    for name in [*names, "dropout"]:
        assert name in transformer, name
        assert f"`{name}`" in NOTATION, name
    assert "src_key_padding_mask" in inspect.signature(nn.Transformer.forward).parameters
    assert "memory" in inspect.signature(nn.TransformerDecoder.forward).parameters
    attention = nn.MultiheadAttention(6, 2)
    assert attention.head_dim == 3
    for name in ("embed_dim", "num_heads", "kdim", "vdim", "in_proj_weight", "out_proj"):
        assert hasattr(attention, name), name
        assert f"`{name}`" in NOTATION, name
    for name in ("query", "key", "value", "key_padding_mask", "attn_mask"):
        assert name in inspect.signature(nn.MultiheadAttention.forward).parameters, name
        assert f"`{name}`" in NOTATION, name


def test_notation_names_our_projections() -> None:
    children = MultiHeadAttention(6, 2).named_children()
    ours = {name: layer for name, layer in children if name.startswith("w_")}
    assert list(ours) == ["w_query", "w_key", "w_value", "w_output"]
    for name, layer in ours.items():
        assert f"`{name}`" in NOTATION
        assert layer.weight.shape == (6, 6)
        assert layer.bias is not None


def test_what_true_means_in_torch_masks() -> None:
    x = torch.eye(2)[None]  # (batch, length, d_model): position 1 is the unit vector (0, 1)
    first_only = torch.tensor([[True, False]])
    seen = F.scaled_dot_product_attention(x, x, x, attn_mask=first_only)
    assert torch.equal(seen[0, 0], x[0, 0])  # True may attend
    layer = nn.MultiheadAttention(2, 1, batch_first=True)
    weights = layer(x, x, x, key_padding_mask=first_only)[1]
    assert weights[0, :, 0].tolist() == [0.0, 0.0]  # True is hidden
    weights = layer(x, x, x, attn_mask=first_only.expand(2, 2))[1]
    assert weights[0, :, 0].tolist() == [0.0, 0.0]  # True is hidden


def test_every_module_has_its_place_in_the_api_pages() -> None:
    package = ROOT / "src" / "transformer_course"
    internal = {"__init__", "__main__"}
    modules = {path.stem for path in package.glob("*.py")} - internal
    folders = {path.parent.name for path in package.glob("*/__init__.py")} - {"corpus"}
    corpus = {f"corpus.{path.stem}" for path in package.glob("corpus/*.py")}
    corpus |= {f"corpus.{path.parent.name}" for path in package.glob("corpus/*/__init__.py")}
    wanted = modules | folders | (corpus - {"corpus.__init__", "corpus.__main__"})
    pages = "".join(path.read_text(encoding="utf-8") for path in (BOOK / "api").glob("*.md"))
    shown = re.findall(r"^\.\. automodule:: transformer_course\.([\w.]+)$", pages, re.M)
    assert len(shown) == len(set(shown))
    assert set(shown) == wanted
    listed = re.findall(r"^- \[`([\w.]+)`\]", page_text("api.md"), re.M)
    assert listed == [name for name in listed if name in wanted]
    assert set(listed) == wanted


def test_how_to_use_lists_the_commands_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):.*##", makefile, re.M))
    listed = set(re.findall(r"^\| `make ([a-z]+)` \|", page_text("how_to_use.md"), re.M))
    assert listed == targets - {"help"}


def test_references_are_sorted_and_complete() -> None:
    text = (BOOK / "references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@(\w+)\{([\w-]+),\n(.*?)^\}", text, re.M | re.S)
    keys = [key for _, key, _ in entries]
    assert len(keys) == text.count("\n@") + text.startswith("@")
    assert keys == sorted(keys)
    for _, key, body in entries:
        assert re.fullmatch(r"[a-z]+\d{4}[a-z0-9]+", key)
        for name in ("author", "title", "year"):
            assert re.search(rf"^  {name} = ", body, re.M), (key, name)
    texts = "".join(page_text(page) for page in PAGES) + page_text("references.md")
    cited = {k for found in re.findall(r"\{cite:[tp]\}`([^`]+)`", texts) for k in found.split(",")}
    assert cited
    assert cited <= set(keys)


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\n## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_docstrings_are_translated_for_sphinx() -> None:
    module = load(BOOK / "_ext" / "course_docstrings.py")
    result = doctest.testmod(module)
    assert result.attempted >= 6
    assert result.failed == 0


@pytest.mark.parametrize("path", sorted((BOOK / "_ext").glob("*.py")), ids=lambda path: path.stem)
def test_examples_in_the_extensions_are_true(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(path.parent)
    assert doctest.testmod(importlib.import_module(path.stem)).failed == 0
