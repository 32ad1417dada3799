"""What the figures of chapters 00 and 06 must count: steps on the way, and the numbers of a model's parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import pairwise, product
from typing import Any

import torch
from torch import nn

from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.figures.model_map import PARTS, TASKS
from transformer_course.figures.word_paths import KINDS
from transformer_course.seq2seq import (
    attention_cost,
    convolution_cost,
    receptive_field,
    recurrent_cost,
)

from .node import Call

PATHS = "word_paths"
MAP = "model_map"
D_MODEL = 512
Wire = tuple[tuple[int, int], tuple[int, int]]


def needed(kind: str, kernel: int, distance: int) -> int:
    """Layers until the package's field of words reaches so far to both sides."""
    dilated = kind.startswith("dilated")
    fields = (receptive_field(kernel, layers, dilated=dilated) for layers in range(1, 99))
    return next(i for i, field in enumerate(fields, start=1) if (field - 1) // 2 >= distance)


def counted(kind: str, n: int, start: int, end: int, kernel: int) -> dict[str, int]:
    """Steps on the way, steps that wait, and products, by the package."""
    distance = abs(end - start)
    if kind == "recurrent":
        cost = recurrent_cost(n, D_MODEL)
        path, waiting, products = distance, cost.sequential_steps, cost.multiply_adds
    elif kind == "self-attention":
        cost = attention_cost(n, D_MODEL)
        path, waiting, products = cost.longest_path, cost.sequential_steps, cost.multiply_adds
    else:
        path = waiting = needed(kind, kernel, distance)
        products = path * convolution_cost(n, D_MODEL, kernel).multiply_adds
    return {"path": path, "waiting": waiting, "products": products}


def leaves_the_sentence(n: int, start: int, end: int, kernel: int) -> bool:
    """Whether dilated convolutions have no way from word to word inside the sentence: by trying all."""
    layers = needed("dilated", kernel, abs(end - start))
    moves = range(-(kernel // 2), kernel // 2 + 1)
    reached = {start}
    for i in range(layers):
        reached = {word + move * kernel**i for word in reached for move in moves}
        reached &= set(range(1, n + 1))
    return end not in reached


def steps(count: int) -> str:
    """So many steps."""
    return f"{count} step{'s' * (count != 1)}"


def wired(kind: str, n: int, rows: int, kernel: int) -> set[Wire]:
    """Which points [row, word] each layer connects."""
    words = range(n)
    if kind == "self-attention":
        return {((0, a), (1, b)) for a in words for b in words}
    if kind == "recurrent":
        return {((0, a), (1, a)) for a in words} | {((1, a), (1, a + 1)) for a in words[:-1]}
    wires = set()
    for row, a, b in product(range(1, rows), words, words):
        step = kernel ** (row - 1) if kind.startswith("dilated") else 1
        if abs(a - b) <= step * (kernel // 2) and (a - b) % step == 0:
            wires.add(((row - 1, a), (row, b)))
    return wires


def holds(wires: set[Wire]) -> Callable[[Any], None]:
    """A check that these and no other connections are drawn, each once."""

    def check(found: Any) -> None:
        assert sorted(found) == sorted([list(a), list(b)] for a, b in wires)

    return check


def leads(
    kind: str, start: int, end: int, kernel: int, rows: int, wires: set[Wire]
) -> Callable[[Any], None]:
    """A check that a way leads from word to word, layer by layer, along connections only."""

    def check(points: Any) -> None:
        assert points[0] == [0, start - 1]
        assert points[-1] == [rows - 1, end - 1]
        for (row, word), (above, other) in pairwise(points):
            if kind.startswith(
                "dilated"
            ):  # the way may lead over padding, where no wires are drawn
                assert above == row + 1
                assert (other - word) % kernel**row == 0
                assert abs(other - word) <= kernel // 2 * kernel**row
            else:
                step = ((row, word), (above, other))
                assert step in wires or (kind == "recurrent" and step[::-1] in wires)
        if kind == "recurrent":
            assert len(points) == 2 + abs(end - start)
        else:
            assert len(points) == rows

    return check


def ways() -> Iterator[Call]:
    """All kinds of layers, for near, far and equal words, in both directions."""
    places = (
        *((2, 1, 2), (10, 1, 10), (10, 10, 1), (16, 3, 14), (16, 5, 5), (16, 16, 2)),
        *((10, 1, 3), (10, 1, 6), (16, 2, 16)),
    )
    for kind, (n, start, end), kernel in product(KINDS, places, (3, 5, 7)):
        cost = counted(kind, n, start, end, kernel)
        yield Call(PATHS, "costs", [kind, n, start, end, kernel], cost)
        state = {"kind": kind, "n": n, "start": start, "end": end, "kernel": kernel}
        beside = kind.startswith("dilated") and leaves_the_sentence(n, start, end, kernel)
        text = (
            f"From word {start} to word {end}, {kind}: {steps(cost['path'])} on the way. "
            f"{'The way leads over padding beside the sentence. ' * beside}"
            f"To read all {n} words: {steps(cost['waiting'])} that must wait for each other."
        )
        yield Call(PATHS, "sentence", [state], text)
        rows = 1 + cost["path"] if "convolution" in kind else 2
        wires = wired(kind, n, rows, kernel)
        args = [kind, n, rows, start, end, kernel]
        yield Call(PATHS, "connections", args, holds(wires))
        yield Call(
            PATHS, "way", [kind, start, end, kernel], leads(kind, start, end, kernel, rows, wires)
        )
    outside = [[0, 0], [1, -1], [2, 2]]  # width 3: 2 = -1 + 3, and no other sum
    yield Call(PATHS, "way", ["dilated convolution", 1, 3, 3], outside)
    for points, ends in ((outside, [-1, 9]), ([[0, 9], [1, 10], [2, 7]], [0, 10])):
        yield Call(PATHS, "edges", [points, 10], ends)
    for kind, kernel, distance in product(KINDS[1:3], (3, 5, 7), range(16)):
        layers = needed(kind, kernel, distance)
        yield Call(PATHS, "layersFor", [kind, kernel, distance], layers)
    for kernel, i in product((3, 5, 7), range(3)):
        for kind in KINDS[1:3]:
            dilated = kind.startswith("dilated")
            fields = [receptive_field(kernel, k, dilated=dilated) if k else 1 for k in (i, i + 1)]
            yield Call(PATHS, "reach", [kind, kernel, i], (fields[1] - fields[0]) / 2)
    for n, start, end, inside in ((4, 9, 2, (4, 2)), (10, 1, 10, (1, 10)), (2, 0, 3, (1, 2))):
        state = {"kind": "recurrent", "n": n, "start": start, "end": end, "kernel_size": 3}
        expected = {"n": n, "start": inside[0], "end": inside[1], "kernel": 3}
        yield Call(PATHS, "inSentence", [state], expected)
    yield Call(PATHS, "KINDS", [], list(KINDS))
    yield Call(PATHS, "KERNELS", [], [3, 5, 7])


def size(module: nn.Module) -> int:
    """How many numbers a module learns."""
    return sum(p.numel() for p in module.parameters())


def learned(one: int, copies: int = 1, why: str = "") -> str:
    """What the map says of the numbers that a part learns."""
    if not one:
        text = "nothing"
    elif copies > 1:
        text = f"{one:,} each, {copies * one:,} in {copies} layers"
    else:
        text = f"{one:,}"
    return text + (f" ({why})" if why else "")


def parts_of(model: Transformer) -> dict[str, str]:
    """What each part learns, by the package's modules."""
    c = model.config
    encoder, decoder = model.encoder_layers[0], model.decoder_layers[0]
    attention, norm = size(encoder.self_attention), size(encoder.residuals[0].norm)
    net = size(encoder.feed_forward)
    below = {"attention": attention, "norm-1": norm, "feed-forward": net, "norm-2": norm}
    beside = {**below, "cross": size(decoder.cross_attention), "norm-3": norm}
    texts = {f"encoder-{name}": learned(n, c.n_encoder_layers) for name, n in below.items()}
    texts |= {f"decoder-{name}": learned(n, c.n_decoder_layers) for name, n in beside.items()}
    top = norm if c.norm == "pre" else 0
    over = "the norm on top of the stack" if top else ""
    table = c.vocab_size * c.d_model
    shares = "shares the table of the source embedding" if c.tie_embeddings else ""
    own = 0 if c.tie_embeddings else table
    both = "; ".join(filter(None, (shares, over)))
    texts |= {
        "encoder-embedding": learned(table),
        "decoder-embedding": learned(own, why=shares),
        "memory": learned(top, why=over),
        "linear": learned(own + top, why=both),
    }
    return {part: texts.get(part, "nothing") for part in PARTS}


def shapes_of(c: TransformerConfig, s: int, t: int) -> dict[str, dict[str, str]]:
    """What goes into each part, comes out of it, and lies inside."""

    def shape(*sizes: int) -> str:
        return str((1, *sizes))

    src, tgt = shape(s, c.d_model), shape(t, c.d_model)
    ids, read, words = shape(s).replace(",)", ")"), shape(t), shape(t, c.vocab_size)
    facts = {
        "source": ("", ids), "encoder-embedding": (ids, src), "memory": ("", src),
        "target": ("", read), "decoder-embedding": (read, tgt), "linear": (tgt, words),
        "softmax": (words, words), "next": (words, "one id"), "loss": (words, "one number"),
        "training": ("the gradients", "new weights"),
        "decoder-cross": (f"{tgt} and the memory {src}", tgt),
    }  # fmt: skip
    inside = {
        "encoder-attention": ("maps", shape(c.n_heads, s, s)),
        "decoder-attention": ("maps", shape(c.n_heads, t, t)),
        "decoder-cross": ("maps", shape(c.n_heads, t, s)),
        "encoder-feed-forward": ("inside", shape(s, c.d_ff)),
        "decoder-feed-forward": ("inside", shape(t, c.d_ff)),
    }
    found = {}
    for part in PARTS:
        own = src if part.startswith("encoder") else tgt
        into, out = facts.get(part, (own, own))
        found[part] = {"goes in": into} if into else {}
        found[part] |= dict([inside[part]]) if part in inside else {}
        found[part]["comes out"] = out
    return found


def maps() -> Iterator[Call]:
    """Models of all presets, and one of other sizes, with and without a shared table, both norms."""
    odd = TransformerConfig(
        vocab_size=91, d_model=24, n_heads=3, d_ff=35, n_encoder_layers=1, n_decoder_layers=3
    )
    configs = [odd, TransformerConfig.tiny(100), TransformerConfig.small(500)]
    configs += [TransformerConfig.base(37_000)]
    for config, tied, norm in product(configs, (True, False), ("pre", "post")):
        c = replace(config, tie_embeddings=tied, norm=norm)
        sent = asdict(c)
        with torch.device("meta"):
            model = Transformer(c)
        yield Call(MAP, "total", [sent], size(model))
        line = (
            f"d_model {c.d_model}, {c.n_heads} heads, d_ff {c.d_ff}, {norm}-norm, "
            f"vocabulary {c.vocab_size:,}: {size(model):,} numbers to learn."
        )
        yield Call(MAP, "summary", [sent], line)
        learn, shapes = parts_of(model), shapes_of(c, 7, 5)
        encoder = model.encoder_layers[0]
        numbers = {
            "table": c.vocab_size * c.d_model,
            "attention": size(encoder.self_attention),
            "net": size(encoder.feed_forward),
            "norm": size(encoder.residuals[0].norm),
        }
        yield Call(MAP, "counts", [sent], numbers)
        for part in PARTS:
            facts = [*shapes[part].items(), ("learns", learn[part])]
            yield Call(MAP, "factsOf", [part, sent, [7, 5]], facts)
    yield from tasks(asdict(odd))


def tasks(c: dict[str, Any]) -> Iterator[Call]:
    """Which parts have nothing to do, and what is said then."""
    yield Call(MAP, "TASKS", [], list(TASKS))
    yield Call(MAP, "PARTS", [], lambda parts: _same(list(parts), list(PARTS)))
    off = {"translating": {"training", "loss"}, "training": {"next"}}
    for task, part in product(TASKS, PARTS):
        yield Call(MAP, "idle", [part, task], part in off[task])
        only = "(Only when " if part in off[task] else ""
        for norm in ("pre", "post"):
            order = "(Here pre-norm: " if "norm-" in part and norm == "pre" else ""
            yield Call(MAP, "about", [part, c | {"norm": norm}, task], ends(only, order))
    for place, copies in (("encoder 3", 1), ("decoder 4", 3), ("decoder 11", 3), ("decoder 12", 1)):
        yield Call(MAP, "copies", [{"at": place}, c], copies)


def ends(only: str, order: str) -> Callable[[Any], None]:
    """A check of the remarks after a sentence."""

    def check(text: Any) -> None:
        assert ("(Only when " in text) == bool(only)
        assert ("(Here pre-norm: " in text) == bool(order)
        assert len(text) > 10

    return check


def _same(found: object, expected: object) -> None:
    assert found == expected


def calls() -> Iterator[Call]:
    """All of them."""
    yield from ways()
    yield from maps()
