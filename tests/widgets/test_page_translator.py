"""The translator of the page "Try it" computes what the package computes with the same weights."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch
from torch import Tensor

from transformer_course.attention import softmax
from transformer_course.checkpoints import load_weights
from transformer_course.corpus import grammar
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.figures.inspector import packed
from transformer_course.inspecting import watching
from transformer_course.masking import padding_mask
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.translator import Translator

from .node import node

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from export_page_translator import portable  # noqa: E402
from train_demo import settings  # noqa: E402

FOLDER = ROOT / "book" / "static" / "translator"
SCRIPT = ROOT / "src" / "transformer_course" / "figures" / "translator" / "translator.js"
PAIRS = list(grammar.generate("test", 200, seed=11))
SOURCES = [pair.source for pair in PAIRS]
PENALISED = 50  # with an α that is high enough to change some of them
ODD = [
    "l’arbre « là »",
    "  a\u00a0b\u200b ",
    "Hello!",
    "</s> <pad>",
    "naïve 😊",
    "cafe\u0301",
    "x  y\tz",
    "don't",
]
# A function's body, not a script of `vm`, in which a search takes several times as long.
LOAD = """
import fs from "fs";
const read = (path) => fs.readFileSync(path, "utf8");
const made = (path, name) => new Function(`${read(path)};return ${name}`)();
const t = await made(process.argv[4], "CourseTranslator").load(made(process.argv[2], "courseTranslatorFile"));
"""
RUN = """
const { sentences, penalised, odd, broken, linked } = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const say = (ids) => t.vocabulary.decode(ids.filter((id) => id > 2));
const found = (text, options) => {
  const { ids, logProb } = t.search(text, options)[0];
  return { ids, text: say(ids), logProb };
};
const out = {
  encoded: [...sentences, ...odd].map((text) => t.vocabulary.encode(text)),
  decoded: odd.map((text) => t.vocabulary.decode(t.vocabulary.encode(text))),
  unseen: odd.map((text) => t.vocabulary.unseen(text)),
  beam: sentences.map((text) => found(text, { beam: 4 })),
  longer: sentences.slice(0, penalised).map((text) => found(text, { beam: 4, alpha: 5 })),
  greedy: sentences.slice(0, 60).map((text) => found(text, { beam: 1 })),
  linked: linked.map(([text, broken, beam]) => found(text, { beam, broken }).text),
  broken: broken.map((kind) => t.model.score(t.read(sentences[0]), out0(), kind)),
};
function out0() {
  return found(sentences[0], { beam: 4 }).ids;
}
// Three beginnings, three tokens each: read side by side, and each alone.
function several(kind) {
  const memory = t.model.encode(t.read(sentences[0]), kind).memory;
  const tokens = [[1, 1, 1], [9, 40, 300], [300, 8, 7]];
  const brief = ({ logits, lens, maps }) => ({ logits: [...logits], lens: lens.map((l) => l[9]), maps });
  const read = (columns) => {
    let found = columns.map(() => ({ state: t.model.start(memory) }));
    tokens.forEach((row, place) => {
      const states = found.map(({ state }) => state);
      found = t.model.steps(columns.map((b) => row[b]), place, states, kind, true);
    });
    return found.map(brief);
  };
  return { together: read([0, 1, 2]), alone: [0, 1, 2].flatMap((b) => read([b])) };
}
out.several = broken.map(several);
const seen = t.model.step(1, 0, t.model.start(t.model.encode(t.read(sentences[0])).memory), {}, true);
out.lens = seen.lens.map((logits) => [...logits].slice(0, 50));
out.weights = seen.maps.map(({ cross }) => cross);
console.log(JSON.stringify(out));
"""
BROKEN: list[dict[str, Any]] = [
    {},
    {"positions": True},
    {"scale": True},
    {"feedForward": True},
    {"heads": ["encoder 2 3"]},
    {"heads": ["decoder 1 cross 1"]},
    {"heads": ["decoder 2 self 4"]},
    {"layers": ["encoder 1"]},
    {"layers": ["decoder 2"]},
    {"causalMask": True},
    {"causalMask": True, "layers": ["decoder 1"]},
]


SCORE = """
const { source, ids } = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
console.log(JSON.stringify(t.model.score(source, ids)));
"""


@cache
def unpacked() -> tuple[dict[str, Any], Transformer]:
    """The header of the page's file, and a model of the package with its weights."""
    return unpacked_from((FOLDER / "weights.js").read_text(encoding="utf-8"))


def unpacked_from(text: str) -> tuple[dict[str, Any], Transformer]:
    """The header of such a file, and a model of the package with its weights."""
    packed = re.fullmatch(r'(?://.*\n)?const courseTranslatorFile = "([A-Za-z0-9+/=]+)";\n', text)
    assert packed
    data = gzip.decompress(base64.b64decode(packed[1]))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    numbers = torch.frombuffer(bytearray(data[4 + length :]), dtype=torch.int8)
    rules = header["vocabulary"]
    vocab_size = 3 + len(rules["alphabet"]) + len(rules["merges"])
    rows = {entry["name"]: entry["rows"] for entry in header["tensors"]}
    d_ff = rows["encoder_layers.0.feed_forward.inner.weight"]
    config = TransformerConfig(vocab_size, d_ff=d_ff, dropout=0.0, **header["config"])
    model = Transformer(config).eval()
    shapes = {name: weight.shape for name, weight in model.named_parameters()}
    tensors, at = {}, 0
    for entry in header["tensors"]:
        rows, columns = entry["rows"], entry["columns"]
        part = numbers[at : at + rows * columns].view(rows, columns).float()
        part = part * torch.tensor(entry["scales"])[:, None]
        tensors[entry["name"]] = part.view(shapes[entry["name"]])
        at += rows * columns
    assert at == len(numbers)
    load_weights(model, tensors)
    return header, model


@cache
def told() -> dict[str, Any]:
    """What the page's script says, of one run of Node."""
    asked = {
        "sentences": SOURCES,
        "penalised": PENALISED,
        "odd": ODD,
        "broken": BROKEN,
        "linked": list(linked().values()),
    }
    return dict(answered(RUN, FOLDER / "weights.js", asked, ROOT / "_build" / "translator"))


def answered(script: str, weights: Path, asked: dict[str, Any], folder: Path) -> Any:
    """What a script of Node says of the translator with these weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.mjs").write_text(LOAD + script, encoding="utf-8")
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    paths = [folder / "run.mjs", weights, folder / "asked.json", SCRIPT]
    command = [node(), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


@cache
def vocabulary() -> Any:
    """The page's subwords, by the package."""
    from tokenizers import models

    from transformer_course.corpus.vocabulary import Vocabulary, _untrained

    rules = unpacked()[0]["vocabulary"]
    merges = [tuple(merge.split(" ")) for merge in rules["merges"]]
    pieces = ["<pad>", "<s>", "</s>", *rules["alphabet"], *("".join(pair) for pair in merges)]
    tokenizer = _untrained(lowercase=False)
    tokenizer.model = models.BPE({p: i for i, p in enumerate(pieces)}, merges)
    tokenizer.add_special_tokens(pieces[:3])
    return Vocabulary(tokenizer, rules["seen"].split(" "))


@cache
def translator() -> Translator:
    """The page's translator, by the package."""
    return Translator(unpacked()[1], vocabulary())


@cache
def searched() -> list[tuple[str, float]]:
    """What the package's beam search makes of all sentences, and the log-probability of each."""
    best = [first for (first,) in translator().search(SOURCES)]
    texts = vocabulary().decode([h.ids for h in best])
    return [(text, h.log_prob) for text, h in zip(texts, best, strict=True)]


def test_texts_fall_into_the_same_subwords() -> None:
    assert told()["encoded"] == vocabulary().encode(SOURCES + ODD)
    assert told()["decoded"] == vocabulary().decode(vocabulary().encode(ODD))
    assert told()["unseen"] == [list(vocabulary().unseen(text)) for text in ODD]


def test_the_same_words_come_out_with_the_same_probabilities() -> None:
    assert len(told()["beam"]) == 200
    for (text, log_prob), theirs in zip(searched(), told()["beam"], strict=True):
        assert theirs["text"] == text
        assert abs(log_prob - theirs["logProb"]) < 1e-3
    greedy = translator().translate(SOURCES[:60], beam=1)
    assert [h["text"] for h in told()["greedy"]] == greedy


def test_the_length_penalty_is_the_packages() -> None:
    longer = translator().translate(SOURCES[:PENALISED], alpha=5.0)
    assert [h["text"] for h in told()["longer"]] == longer
    differ = [a != b["text"] for a, b in zip(longer, told()["beam"], strict=False)]
    assert sum(differ) >= 3


def test_the_weights_are_those_of_the_recipe() -> None:
    """They say what they were trained with: what the demo is trained with now."""
    first = (FOLDER / "weights.js").read_text(encoding="utf-8").split("\n")[0]
    told = first.removeprefix("// The demo translator, trained with ")
    assert json.loads(told) == portable(settings())


def test_as_many_sentences_come_out_right_as_with_the_recipe_in_full_precision() -> None:
    right = sum(pair.accepts(text) for pair, (text, _) in zip(PAIRS, searched(), strict=True))
    assert right / len(PAIRS) > 0.92


def test_the_files_are_small_enough() -> None:
    assert (FOLDER / "weights.js").stat().st_size < 2_200_000
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 500


@pytest.mark.parametrize("width", [6, 10, 14])
def test_widths_and_rows_that_four_does_not_divide(width: int, tmp_path: Path) -> None:
    """The page takes four rows at a time, and what is left one by one."""
    torch.manual_seed(0)
    config = TransformerConfig(
        len(vocabulary()), d_model=width, n_heads=2, d_ff=width + 1, dropout=0.0, max_len=20
    )
    letters = packed(Translator(Transformer(config), vocabulary()))
    weights = tmp_path / "weights.js"
    weights.write_text(f'const courseTranslatorFile = "{letters}";\n', encoding="utf-8")
    _, model = unpacked_from(weights.read_text(encoding="utf-8"))
    source, ids = [*vocabulary().encode(SOURCES[:1])[0], 2], [9, 8, 7, 2]
    found = answered(SCORE, weights, {"source": source, "ids": ids}, tmp_path)
    with torch.no_grad():
        log_probs = model(torch.tensor([source]), torch.tensor([[1, *ids[:-1]]])).log_softmax(-1)
    expected = [float(log_probs[0, i, token]) for i, token in enumerate(ids)]
    assert found == pytest.approx(expected, abs=1e-3)


def asked_by_chapters() -> dict[str, dict[str, list[str]]]:
    """Chapter → what its link to the page "Try it" asks for."""
    found = {}
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for link in re.findall(r"try_it\.html([^\\\"]*)", path.read_text(encoding="utf-8")):
            found[path.name[:2]] = parse_qs(link.removeprefix("?"), strict_parsing=True)
    return found


def test_chapters_link_to_the_page_with_something_prepared() -> None:
    asked = asked_by_chapters()
    assert {"02", "03", "04", "05", "06", "09"} <= {c for c in asked if "break" in asked[c]}
    attentions = {"encoder 1", "encoder 2"}
    attentions |= {f"decoder {i} {part}" for i in (1, 2) for part in ("self", "cross")}
    switches = {"positions", "scale", "feedForward", "causalMask"}
    switches |= {f"layer:{side} {i}" for side in ("encoder", "decoder") for i in (1, 2)}
    switches |= {f"head:{name} {head}" for name in attentions for head in range(1, 5)}
    known = {"break": switches, "view": {"cross", "self", "encoder"}, "beam": set("12345")}
    for wish in asked.values():
        for text in wish.pop("text", []):
            assert not vocabulary().unseen(text)
        assert all(set(values) <= known[name] for name, values in wish.items())


TIRED = "The animal didn't cross the street because it was too tired."  # with which the page starts


@cache
def linked() -> dict[str, tuple[str, dict[str, Any], int]]:
    """Chapter → sentence, what is left out, and beam of its link; a beam of 4 as well where it is another."""
    found: dict[str, tuple[str, dict[str, Any], int]] = {"whole": (TIRED, {}, 4)}
    for chapter, wish in asked_by_chapters().items():
        kind, _, name = wish.get("break", [""])[0].partition(":")
        broken: dict[str, Any] = {f"{kind}s": [name]} if name else {kind: True}
        text, beam = wish.get("text", [TIRED])[0], int(wish.get("beam", ["4"])[0])
        found[chapter] = (text, broken, beam)
        if beam != 4:
            found[f"{chapter}, beam 4"] = (text, broken, 4)
    return found


def test_switches_in_links_of_chapters_show_what_the_chapters_say() -> None:
    links: dict[str, str] = dict(zip(linked(), told()["linked"], strict=True))
    assert links["02"] == "La jeune fille a donné la pomme rouge."  # to whom?
    assert links["03"] == links["whole"]  # what is to come isn't there yet when it writes
    assert links["04"] == links["whole"].replace("L'animal", "Le animal")
    assert links["05"] != "La jeune fille a donné la pomme rouge à son frère."
    assert links["06"] not in (links["whole"], "")
    assert links["09"] == "L'actrice blessée leur a menti."
    assert links["09, beam 4"] == "L'actrice blessée leur parle."


def broken_scores(kind: dict[str, Any]) -> list[float]:
    """Log-probabilities of the first sentence's translation, by the package, with something left out."""
    _, model = unpacked()
    src = torch.tensor([[*vocabulary().encode(SOURCES[:1])[0], 2]])
    ids = told()["beam"][0]["ids"]
    tgt = torch.tensor([[1, *ids[:-1]]])
    visitors: dict[str, Any] = {}
    with ExitStack() as changes:
        if kind.get("feedForward"):
            names = [n for n, _ in model.named_modules() if n.endswith("feed_forward")]
            visitors |= dict.fromkeys(names, torch.zeros_like)
        if kind.get("positions"):
            root = model.config.d_model**0.5
            tables = {"src_embedding": [src, tgt]}
            visitors["positions"] = lambda x: (
                model.src_embedding(tables["src_embedding"].pop(0)) * root
            )
        for name in kind.get("layers", []):
            side, number = name.split(" ")
            visitors |= skipped(model, f"{side}_layers.{int(number) - 1}")
        for name, part in model.named_modules():
            if isinstance(part, MultiHeadAttention):
                changes.callback(setattr, part, "attend", part.attend)
                part.attend = attend(name, kind)
        with watching(model, visitors), torch.no_grad():
            read = read_again if kind.get("causalMask") else Transformer.forward
            log_probs = read(model, src, tgt).log_softmax(-1)
    return [float(log_probs[0, i, token]) for i, token in enumerate(ids)]


def read_again(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    """Logits of each step, (1, tgt_len, vocab_size), in which all tokens so far see each other."""
    src_mask = padding_mask(src)
    memory = model.encode(src, src_mask)
    steps = []
    for length in range(1, tgt.shape[1] + 1):
        everything = torch.ones(1, 1, length, length, dtype=torch.bool)
        states = model.decode(tgt[:, :length], memory, src_mask, everything)
        steps.append(model.logits(states[:, -1]))
    return torch.stack(steps, 1)


def skipped(model: Transformer, layer: str) -> dict[str, Any]:
    """Functions that let a layer's sub-layers add nothing."""
    inner = ("self_attention", "cross_attention", "feed_forward")
    names = {name for name, _ in model.named_modules()}
    return {f"{layer}.{n}": torch.zeros_like for n in inner if f"{layer}.{n}" in names}


def attend(name: str, kind: dict[str, Any]) -> Any:
    """Attention as the package writes it out, without scale or without a head."""
    side, number, part = re.fullmatch(r"(\w+)_layers\.(\d)\.(\w+)_attention", name).groups()  # type: ignore[union-attr]
    title = f"{side} {int(number) + 1}" + (f" {part}" if side == "decoder" else "")
    silent = [int(h.rsplit(" ", 1)[1]) for h in kind.get("heads", []) if h.startswith(title + " ")]

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        root = 1.0 if kind.get("scale") else q.shape[-1] ** 0.5
        weights = softmax(q @ k.transpose(-2, -1) / root, mask)
        output = weights @ v
        for head in silent:
            output[:, head - 1] = 0.0
        return output, weights

    return attention


@pytest.mark.parametrize("place", range(len(BROKEN)), ids=lambda i: str(BROKEN[i]))
def test_what_is_left_out_is_left_out_as_in_the_package(place: int) -> None:
    found = told()["broken"][place]
    assert found == pytest.approx(broken_scores(BROKEN[place]), abs=1e-3)
    if place:
        assert found != pytest.approx(told()["broken"][0], abs=1e-6)


@pytest.mark.parametrize("place", range(len(BROKEN)), ids=lambda i: str(BROKEN[i]))
def test_beginnings_that_are_read_side_by_side_do_not_mix(place: int) -> None:
    """Each gets the logits, the lens and the weights that it gets alone, to the last digit."""
    several = told()["several"][place]
    assert several["together"] == several["alone"]
    first, second, third = (read["logits"] for read in several["together"])
    assert first != second != third != first
