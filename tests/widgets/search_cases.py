"""What the two figures of chapter 09 must compute: beam search, and what sampling draws from."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from oracles import BOS, EOS, PAD, tiny_model

from transformer_course.decoding import beam_search, length_penalty, next_token_distribution
from transformer_course.encoder_decoder import Transformer

from .attention_cases import mulberry
from .node import Call, assert_equal, digits

ROOT = Path(__file__).resolve().parents[2]
BEAM = "beam_explorer"
SAMPLING = "sampling_explorer"
END = "</s>"
WIDEST = 5
Branches = dict[str, list[tuple[str, float]]]


def piece(token: int) -> str:
    """The name of a token of a random model."""
    return END if token == EOS else f"▁{token}"


@torch.no_grad()
def grown(model: Transformer, src: torch.Tensor, beam: int, limit: int, branches: Branches) -> None:
    """Note the next tokens of every beginning that a search with this beam can keep open."""
    kept: list[tuple[list[int], float]] = [([], 0.0)]
    for _ in range(limit):
        found = []
        for ids, total in kept:
            logits = model(src, torch.tensor([[BOS, *ids]]))[0, -1]
            said = logits.log_softmax(-1).tolist()
            nexts = {t: said[t] for t in range(len(said)) if t not in (PAD, BOS)}
            name = " ".join(piece(t) for t in ids)
            branches[name] = [(piece(t), value) for t, value in nexts.items()]
            found += [([*ids, t], total + value) for t, value in nexts.items() if t != EOS]
        kept = sorted(found, key=lambda pair: -pair[1])[:beam]


def beams() -> Iterator[Call]:
    """Random models: the browser's search finds the package's hypotheses, all of them, with their scores."""
    for seed, limit in ((0, 4), (1, 7), (2, 7), (3, 1)):
        model = tiny_model(seed, 2.0, tie_embeddings=False, vocab_size=12).double().eval()
        src = torch.tensor([[3 + seed, 7, 5, EOS]])
        branches: Branches = {}
        for beam in range(1, WIDEST + 1):
            grown(model, src, beam, limit, branches)
        for beam, alpha in product(range(1, WIDEST + 1), (0.0, 0.6, 1.2)):
            found = beam_search(model, src, beam, limit, alpha=alpha, top_beams=beam)[0]
            expected = [
                {
                    "pieces": [piece(t) for t in h.ids],
                    "total": h.log_prob,
                    "score": h.score,
                    "length": len(h.ids),
                }
                for h in found
            ]
            yield Call(BEAM, "searched", [branches, beam, alpha, limit], ends_with(expected))


def ends_with(expected: list[dict[str, Any]]) -> Callable[[Any], None]:
    """A check that the last step of a search has these hypotheses finished, best first."""

    def check(steps: Any) -> None:
        assert [step["end"] for step in steps[:-1]] == [""] * (len(steps) - 1)
        assert steps[-1]["end"] in ("done", "limit")
        assert_equal(steps[-1]["finished"][: len(expected)], expected, 1e-6)

    return check


def recorded() -> Iterator[Call]:
    """The trees of the page: the same answers as the package gave when they were recorded."""
    path = ROOT / "book" / "experiments" / "decoding.json"
    seeds = json.loads(path.read_text(encoding="utf-8"))["seeds"]
    found = {  # two seeds may have the same sentence
        (tree["source"], tree["branches"][""].split(" ")[1]): tree["found"]
        for seed in seeds
        for tree in seed["texts"]["trees"]
    }
    keys = [
        (tree, (tree["name"], str(tree["branches"][""][0][1]))) for tree in stored("trees")["trees"]
    ]
    trees = [(tree, found[key]) for tree, key in keys if key in found]
    assert len(trees) == 4
    for (tree, said), beam, alpha in product(trees, range(1, WIDEST + 1), (0.0, 0.6, 1.2)):
        answer = spelled(said[f"beam {beam}, α = {alpha:g}"].split(" "))
        searched = {"$call": ["searched", [tree["branches"], beam, alpha, tree["max_len"]]]}
        yield Call(BEAM, "sentence", [searched, beam], says(f"The answer is “{answer}”, score"))


def stored(name: str) -> dict[str, Any]:
    """The state of the figure of chapter 09 that has this part."""
    text = (ROOT / "chapters" / "09_decoding.ipynb").read_text(encoding="utf-8")
    widgets = json.loads(text)["metadata"]["widgets"]
    states = widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    return next(dict(s["state"]) for s in states if name in s["state"])


def spelled(pieces: Sequence[str]) -> str:
    """The text of pieces."""
    return "".join(p for p in pieces if p != END).replace("▁", " ").strip()


def by_hand() -> Iterator[Call]:
    """The example of the page, step by step: what stays, what ends, what is dropped, what wins."""
    tree = next(tree for tree in stored("trees")["trees"] if spelled_first(tree) == "a")
    args = [tree["branches"], 2, 0.6, tree["max_len"]]
    fates = [
        {"a": "stays", "i": "stays", "thanks": "dropped"},
        {},
        {"i am a": "stays", "a student </s>": "ends", "a student am": "stays"},
    ]
    yield Call(BEAM, "searched", args, goes(fates))
    greedy = {"$call": ["searched", [tree["branches"], 1, 0.6, tree["max_len"]]]}
    yield Call(BEAM, "sentence", [greedy, 1], says("The answer is “a student”"))
    right = {"$call": ["searched", args]}
    text = says("no open beginning can beat the best. The answer is “i am a student”, score −0.91.")
    yield Call(BEAM, "sentence", [right, 2], text)
    yield Call(BEAM, "sentence", [[], 2], "Nothing is written yet. Press “Next step”.")
    step = [
        {"pieces": ["▁a", END], "fate": "ends"},
        {"pieces": ["▁b"], "fate": "stays"},
        {"pieces": ["▁c"], "fate": "dropped"},
    ]
    text_of_step = (
        "Step 1: of the 3 best candidates, 1 stay open, 1 ends; the rest is dropped. The beam is 2."
    )
    seen = [{"candidates": step, "finished": [], "end": ""}]
    yield Call(BEAM, "sentence", [seen, 2], text_of_step)
    none = [{"candidates": step[1:], "finished": [], "end": ""}]
    said = says("of the 2 best candidates, 1 stay open, none end; the rest")
    yield Call(BEAM, "sentence", [none, 2], said)


def says(part: str) -> Callable[[Any], None]:
    """A check that a sentence says this."""

    def check(sentence: Any) -> None:
        assert part in sentence

    return check


def goes(fates: list[dict[str, str]]) -> Callable[[Any], None]:
    """A check that in each step these candidates, by their text, have these fates."""

    def check(steps: Any) -> None:
        for step, wanted in zip(steps, fates, strict=False):
            names = [
                spelled(c["pieces"]) + " </s>" * (c["pieces"][-1] == END)
                for c in step["candidates"]
            ]
            shown = dict(zip(names, (c["fate"] for c in step["candidates"]), strict=True))
            assert wanted.items() <= shown.items()
            totals = [c["total"] for c in step["candidates"]]
            assert totals == sorted(totals, reverse=True)
            assert list(shown.values()).count("stays") <= 2

    return check


def spelled_first(tree: dict[str, Any]) -> str:
    """The most probable first word of a tree."""
    return spelled([max(tree["branches"][""], key=lambda pair: pair[1])[0]])


def small_parts_of_beams() -> Iterator[Call]:
    """The penalty, spelling, and when a search is over."""
    for length, alpha in product((1, 2, 7, 50), (0, 0.6, 2)):
        yield Call(BEAM, "penalty", [length, alpha], length_penalty(length, alpha))
    yield Call(BEAM, "spelled", [["▁un", "▁chat", "s", END]], "un chats")
    yield Call(BEAM, "spelled", [[END]], "")
    done = [{"score": -1.0}, {"score": -2.0}]
    for finished, best, beam, length, alpha, over in (
        (done[:1], -9.0, 2, 3, 0.0, False),  # fewer than the beam are finished
        (done, -9.0, 2, 3, 0.0, True),
        (done, -0.5, 2, 3, 0.0, False),
        (done, -1.5, 2, 3, 1.0, False),  # divided by the penalty of the limit, it could still win
        (done, -3.5, 2, 3, 1.0, True),
        (done[:1], -0.1, 1, 3, 0.0, True),  # a beam of one ends with its first sentence
    ):
        yield Call(BEAM, "over", [finished, best, beam, length, alpha, 10], over)


def distributions() -> Iterator[Call]:
    """Temperature, top-k and top-p alone and together, on the page's logits and on random ones."""
    generator = torch.Generator().manual_seed(0)
    cases = [torch.tensor(stored("top_p")["logits"], dtype=torch.float64)]
    cases += [torch.tensor([0.0, 0.0, 0.0, -1.0]).double(), torch.tensor([0.0, -800.0]).double()]
    for n in (2, 13, 60):
        cases.append((3 * torch.randn(n, generator=generator).double()).sort(descending=True)[0])
    for logits, temperature, k, p in product(cases, (0.1, 1.0, 3.0), (0, 1, 4), (0.05, 0.6, 1.0)):
        if (logits / temperature).softmax(-1).cumsum(-1).sub(p).abs().min() < 1e-9 and p < 1:
            continue  # on the edge, rounding decides
        wanted = next_token_distribution(
            logits, temperature=temperature, top_k=min(k, len(logits)) or None, top_p=p
        )
        args = [logits.tolist(), temperature, k, p]
        yield Call(SAMPLING, "distribution", args, wanted.tolist())
        probs = wanted.tolist()
        kept = int((wanted > 0).sum())
        entropy = digits(float(torch.special.entr(wanted).sum()), 2)
        many = f"{kept} of {len(probs)} tokens can be drawn"
        text = "1 token is left: every draw is the same" if kept == 1 else many
        text += f"; the entropy is {entropy} nats."
        yield Call(SAMPLING, "sentence", [probs, "le", None], text)
    drawn = "1 token is left: every draw is the same; the entropy is 0.00 nats. Of 100 draws, 100 are “le”."
    yield Call(SAMPLING, "sentence", [[1.0, 0.0], "le", 100], drawn)


def draws() -> Iterator[Call]:
    """The same draws as with the same random numbers in Python; none of what has no probability."""
    cases = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.1] * 7 + [0.3], [0.7, 0.0, 0.3, 0.0]]
    for probs, seed, times in product(cases, (1, 2, 77), (1, 100)):
        edges = [math.fsum(probs[: i + 1]) for i in range(len(probs))]
        random = mulberry(seed)
        found = Counter(
            next(i for i, edge in enumerate(edges) if number < edge)
            for number in (next(random) for _ in range(times))
        )
        counts = [found[i] for i in range(len(probs))]
        yield Call(SAMPLING, "drawn", [probs, times, seed], counts)
    yield Call(SAMPLING, "grouped", [[0.5, 0.25, 0.125, 0.125], 2], [0.5, 0.25, 0.25])
    yield Call(SAMPLING, "grouped", [[0.5, 0.5], 2], [0.5, 0.5])
    counts = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40]
    for tokens, few in ((2, 1), (5, 4), (9, 7), (1000, 12)):
        yield Call(SAMPLING, "countsFor", [tokens], [*counts[:few], 0])


def calls() -> Iterator[Call]:
    """All of them."""
    for part in (beams, recorded, by_hand, small_parts_of_beams, distributions, draws):
        yield from part()
