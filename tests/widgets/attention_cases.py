"""What the figures of chapters 01 to 05 must compute: attention, masks, maps of heads, positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from transformer_course.attention import scaled_dot_product_attention, softmax
from transformer_course.figures import mask_explorer, self_attention_steps
from transformer_course.figures.attention_plane import KEYS, VALUES, WORDS
from transformer_course.masking import causal_mask, padding_mask
from transformer_course.positional_encoding import sinusoidal_encoding
from transformer_course.self_attention import SelfAttention

from .node import Call, digits, vector

MASKS = "mask_explorer"
STEPS = "self_attention_steps"
POSITIONS = "position_explorer"


def bits(weights: Tensor) -> float:
    """Entropy in bits."""
    return float(torch.special.entr(weights).sum()) / math.log(2)


def attended(query: list[float], keys: Any, values: Any, scaled: bool) -> dict[str, Any]:
    """Scores, weights, output and entropy by the package."""
    q, k, v = (torch.tensor(t, dtype=torch.float64) for t in ([query], keys, values))
    factor = 1 if scaled else math.sqrt(len(query))  # undoes the division
    output, weights = scaled_dot_product_attention(factor * q, k, v)
    scores = factor * (k @ q[0]) / math.sqrt(len(query))
    parts = {"scores": scores, "weights": weights[0], "output": output[0]}
    return {name: part.tolist() for name, part in parts.items()} | {"entropy": bits(weights)}


def shared() -> Iterator[Call]:
    """The functions that all figures share."""
    for scores in ([0.3, -1.2, 4.0], [1000.0, 999.0], [-1e4], [0.0] * 7, [-math.inf, 2.0, 1.0]):
        weights = torch.tensor(scores, dtype=torch.float64).softmax(-1)
        yield Call("attention_plane", "softmax", [scores], weights.tolist())
        entropy = float(torch.special.entr(weights).sum())
        yield Call("attention_plane", "entropyOf", [weights.tolist()], entropy)
        yield Call("attention_plane", "sum", [weights.tolist()], 1.0)
        yield Call("attention_plane", "largest", [scores], scores.index(max(scores)))
    yield Call("attention_plane", "dot", [[1.5, -2.0, 0.5], [2.0, 3.0, 4.0]], -1.0)
    for number, inside in ((-3, -1), (0.5, 0.5), (9, 2)):
        yield Call("attention_plane", "clamp", [number, -1, 2], inside)
    for number, text in ((-0.04, "0.0"), (-1.25, "−1.3"), (2.0, "2.0"), (0.125, "0.1")):
        yield Call("attention_plane", "digits", [number, 1], text)
    yield Call("attention_plane", "point", [[-1, 0.256], 2], "(−1.00, 0.26)")
    for number, text in ((0, "0 draws"), (1, "1 draw"), (1234, "1,234 draws")):
        yield Call("attention_plane", "counted", [number, "draw"], text)
    for start in (0, 1, -7, 2**31):
        drawn = mulberry(start)
        expected = [next(drawn) for _ in range(20)]
        yield Call("attention_plane", "randomNumbers", [start], expected, then=[[]] * 20)


def mulberry(state: int) -> Iterator[float]:
    """Mulberry32, a public-domain generator by Tommy Ettinger, on Python's whole numbers."""
    word = 2**32
    state %= word
    while True:
        state = (state + 0x6D2B79F5) % word
        mixed = (state ^ state >> 15) * (state | 1) % word
        mixed ^= (mixed + (mixed ^ mixed >> 7) * (mixed | 61)) % word
        yield (mixed ^ mixed >> 14) / word


def attention_plane() -> Iterator[Call]:
    """Queries among keys: random ones, the figure's own, weights that are all or nothing."""
    generator = torch.Generator().manual_seed(0)
    cases = [([2.0, 1.0], KEYS, VALUES), ([4.0, -4.0], KEYS, VALUES), ([0.0, 0.0], KEYS, VALUES)]
    for n, d_k, d_v, size in ((1, 2, 2, 1), (3, 5, 2, 1), (7, 2, 3, 1), (5, 2, 2, 300)):
        parts = (torch.randn(*shape, generator=generator) for shape in ((d_k,), (n, d_k), (n, d_v)))
        query, keys, values = (part.double().tolist() for part in parts)
        cases.append(([size * number for number in query], keys, values))
    for (query, keys, values), scaled in product(cases, (True, False)):
        now = attended(query, keys, values, scaled)
        yield Call("attention_plane", "attend", [query, keys, values, scaled], now)
    for query, scaled in product(([2.0, 1.0], [-3.9, 0.9], [1.2, -4.0]), (True, False)):
        now, other = (attended(query, KEYS, VALUES, is_on) for is_on in (scaled, not scaled))
        best = WORDS[now["weights"].index(max(now["weights"]))]
        text = (
            f"Most weight: {best}. Output: {vector(now['output'], 2)}. Entropy: "
            f"{digits(now['entropy'], 2)} bits ({'without' if scaled else 'with'} scaling: "
            f"{digits(other['entropy'], 2)})."
        )
        yield Call("attention_plane", "sentence", [WORDS, query, KEYS, VALUES, scaled], text)
    for query, place in (([9, -9], [4, -4]), ([1.234, -0.349], [1.2, -0.3]), ([0, 3.96], [0, 4])):
        yield Call("attention_plane", "nearest", [query], place)
    keys = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, 1), "ArrowDown": (0, -1)}
    for (key, (across, up)), far in product(keys.items(), (False, True)):
        step = 1.0 if far else 0.1
        place = [1.5 + step * across, -0.5 + step * up]
        yield Call("attention_plane", "stepped", [[1.5, -0.5], [2, 1], key, far], place)
    yield Call("attention_plane", "stepped", [[1.5, -0.5], [2, 1], "Home", False], [2, 1])
    yield Call("attention_plane", "stepped", [[1.5, -0.5], [2, 1], "Tab", False], None)
    for n in (3, 4, 9, 30):
        points = torch.randn(n, 2, generator=generator).double().tolist()
        yield Call("attention_plane", "hull", [points], corners(points))


def corners(points: list[list[float]]) -> list[list[float]]:
    """The corners of the hull against the clock, from the leftmost: edges with all points at their left."""
    following = {}
    for a, b in product(points, points):
        sides = [(b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) for p in points]
        if a != b and min(sides) >= 0:
            following[tuple(a)] = tuple(b)
    place = min(following)
    found = [place]
    while (place := following[place]) != found[0]:
        found.append(place)
    return [list(corner) for corner in found]


def six_steps(x: Tensor, matrices: Sequence[Tensor], i: int) -> dict[str, Any]:
    """All steps for one word, by the package's layer."""
    layer = SelfAttention(x.shape[1], matrices[0].shape[1], matrices[2].shape[1]).double()
    with torch.no_grad():
        for linear, matrix in zip(layer.children(), matrices, strict=True):
            linear.weight.copy_(matrix.T)  # type: ignore[operator, union-attr]
        output, weights = layer(x[None])
        queries, keys, values = (linear(x) for linear in layer.children())
    scores = keys @ queries[i]
    found = {
        "q": queries[i], "keys": keys, "values": values, "scores": scores,
        "scaled": scores / math.sqrt(keys.shape[1]), "weights": weights[0, i],
        "weighted": weights[0, i, :, None] * values, "output": output[0, i],
    }  # fmt: skip
    return {name: part.tolist() for name, part in found.items()}


def self_attention() -> Iterator[Call]:
    """The figure's sentence with own and with shared matrices, and random sentences of other widths."""
    own = [self_attention_steps.W_QUERY, self_attention_steps.W_KEY, self_attention_steps.W_VALUE]
    generator = torch.Generator().manual_seed(1)
    cases = [(torch.tensor(self_attention_steps.X), [torch.tensor(m) for m in own])]
    cases.append((cases[0][0], [cases[0][1][0], cases[0][1][0], cases[0][1][2]]))
    for n, d_model, d_k, d_v in ((1, 3, 2, 5), (7, 5, 3, 2)):
        shapes = ((d_model, d_k), (d_model, d_k), (d_model, d_v))
        matrices = [torch.randn(*shape, generator=generator) for shape in shapes]
        cases.append((torch.randn(n, d_model, generator=generator), matrices))
    for number, (x, matrices) in enumerate(cases):
        x, matrices = x.double(), [m.double() for m in matrices]
        sent = dict(zip(("query", "key", "value"), (m.tolist() for m in matrices), strict=True))
        for i in range(len(x)):
            yield Call(STEPS, "steps", [x.tolist(), sent, i], six_steps(x, matrices, i))
            yield Call(
                STEPS, "project", [x[i].tolist(), sent["key"]], (x @ matrices[1])[i].tolist()
            )
            if number < 2:
                words = self_attention_steps.WORDS
                text = asking(words, x, matrices, i)
                yield Call(STEPS, "sentence", [words, x.tolist(), sent, i], text)
    for number, text in ((2, "2"), (-3, "−3"), (0.5, "0.50"), (-1.234, "−1.23"), (0, "0")):
        yield Call(STEPS, "brief", [number], text)
    yield Call(STEPS, "vector", [[1, -0.5]], "(1, −0.50)")
    yield Call(STEPS, "written", [[2, 0], [1, -3]], "2·1 + 0·−3")


def asking(words: Sequence[str], x: Tensor, matrices: Sequence[Tensor], i: int) -> str:
    """Which word a word looks at most, and the score in both directions (whole numbers here)."""
    now = six_steps(x, matrices, i)
    best = now["weights"].index(max(now["weights"]))
    text = f"“{words[i]}” looks most at “{words[best]}” ({digits(now['weights'][best], 3)}). "
    if best == i:
        return text + "That is itself."
    back = six_steps(x, matrices, best)["scores"][i]
    there = now["scores"][best]
    return f"{text}The score is {there:g}; the other way round it is {back:g}."


def padded(words: Sequence[str], width: int, left: bool) -> list[str]:
    """Fill up one sentence."""
    filler = [mask_explorer.PAD] * (width - len(words))
    return [*filler, *words] if left else [*words, *filler]


def batch(
    place: str, padding: bool, causal: bool, inverted: bool, left: bool
) -> list[tuple[list[str], list[str], Tensor]]:
    """Query words, key words and mask of each sentence, by the package."""
    ids = {word: number for number, word in enumerate(mask_explorer.VECTORS)}  # <pad> is 0
    asking = mask_explorer.SOURCES if place == "encoder" else mask_explorer.TARGETS
    asked = mask_explorer.TARGETS if place == "decoder" else mask_explorer.SOURCES
    found = []
    for i in range(len(asking)):
        queries, keys = (padded(s[i], max(map(len, s)), left) for s in (asking, asked))
        mask = torch.ones(len(queries), len(keys), dtype=torch.bool)
        if padding:
            mask &= padding_mask(torch.tensor([[ids[word] for word in keys]]))[0, 0]
        if causal:
            mask &= causal_mask(max(mask.shape))[0, 0, : len(queries), : len(keys)]
        found.append((queries, keys, mask ^ inverted))
    return found


def masked(queries: list[str], keys: list[str], mask: Tensor, safe: bool) -> tuple[Tensor, Tensor]:
    """Scores, with minus infinity where hidden, and weights: by the package, or by torch without a guard."""
    vectors = {w: torch.tensor(v, dtype=torch.float64) for w, v in mask_explorer.VECTORS.items()}
    asks, offers = (
        torch.stack([vectors[w][i] for w in ws]) for i, ws in enumerate((queries, keys))
    )
    scores = asks @ offers.T / math.sqrt(2)
    hidden = scores.masked_fill(~mask, -math.inf)
    return hidden, softmax(scores, mask) if safe else torch.softmax(hidden, -1)


def masks() -> Iterator[Call]:
    """Every state of the figure: all places, switches, ways to hide, and sentences."""
    fixed = {
        "pad": mask_explorer.PAD,
        "sources": mask_explorer.SOURCES,
        "targets": mask_explorer.TARGETS,
    }
    names = ("place", "padding", "causal", "inverted", "left")
    for values in product(mask_explorer.PLACES, *[(True, False)] * 4):
        state = dict(zip(names, values, strict=True))
        found = batch(*values)
        parts = [{"queries": q, "keys": k, "mask": m.tolist()} for q, k, m in found]
        yield Call(MASKS, "batchOf", [fixed | state], parts)
        for (queries, keys, mask), safe in product(found, (False, True)):
            scores, weights = (t.tolist() for t in masked(queries, keys, mask, safe))
            args = [queries, keys, mask.tolist(), mask_explorer.VECTORS, safe]
            yield Call(MASKS, "attend", args, {"scores": scores, "weights": weights})
            said = [queries, keys, mask.tolist(), weights, mask_explorer.PAD, state["place"]]
            yield Call(MASKS, "sentence", said, verdict(queries, keys, mask, weights, *values[:1]))
    yield Call(MASKS, "padded", [["a", "b"], 4, "-", False], ["a", "b", "-", "-"])
    yield Call(MASKS, "padded", [["a", "b"], 4, "-", True], ["-", "-", "a", "b"])
    options = {"pad": "-", "padding": True, "causal": True, "inverted": False}
    yield Call(MASKS, "maskOf", [["a", "b"], ["a", "-"], options], [[True, False]] * 2)


def verdict(
    queries: list[str], keys: list[str], mask: Tensor, weights: list[list[float]], place: str
) -> str:
    """What is wrong with a mask: leaks, padding, needless hiding, rows that see nothing."""
    pairs = [(t, k) for t in range(len(queries)) for k in range(len(keys))]
    words = [(t, k) for t, k in pairs if queries[t] != mask_explorer.PAD]
    filler = [(t, k) for t, k in words if keys[k] == mask_explorer.PAD]
    later = [(t, k) for t, k in words if place == "decoder" and k > t and (t, k) not in filler]
    lost = [p for p in words if p not in filler and p not in later and not mask[p]]
    empty = [t for t in range(len(queries)) if not mask[t].any()]

    def worst(wrong: list[tuple[int, int]]) -> float:
        return max([0.0] + [weights[t][k] for t, k in wrong if weights[t][k] > 0])

    said = [f"{int((~mask).sum())} of {mask.numel()} pairs are hidden."]
    if worst(later):
        up_to = digits(worst(later), 2)
        said.append(f"Leak: a word sees a later one, with a weight of up to {up_to}.")
    if worst(filler):
        said.append(f"Words attend to padding, with a weight of up to {digits(worst(filler), 2)}.")
    if lost:
        said.append(f"{len(lost)} pairs are hidden that should be seen.")
    if empty:
        what = "NaN" if math.isnan(weights[empty[0]][0]) else "0"
        names = ", ".join(queries[t] for t in empty)
        said.append(f"Nothing is left to see for {names}: all weights there are {what}.")
    if not worst(later) and not worst(filler) and not lost:
        said.append("No word sees what it should not.")
    return " ".join(said)


def heads() -> Iterator[Call]:
    """Sentences about rows of a map, and what is chosen when a number is too large."""
    generator = torch.Generator().manual_seed(2)
    rows = [torch.randn(n, generator=generator).double().softmax(-1) for n in (1, 2, 5, 9)]
    rows += [torch.eye(3, dtype=torch.float64)[1], torch.full((4,), 0.25, dtype=torch.float64)]
    for weights in rows:
        names = [f"w{i}" for i in range(len(weights))]
        best = names[int(weights.argmax())]
        text = f"Query “q”: most weight on “{best}”, {digits(float(weights.max()), 2)}. "
        text += f"Entropy: {digits(bits(weights), 2)} bits."
        yield Call("head_explorer", "sentence", ["q", names, weights.tolist()], text)
    small = {"name": "a", "rows": ["r"], "columns": ["c", "d"], "layers": [["m"], ["n", "o"]]}
    large = {"name": "b", "rows": ["r", "s"], "columns": ["c"], "layers": [["p", "q", "t"]]}
    sentences = [{"title": "1", "kinds": [small, large]}, {"title": "2", "kinds": [large]}]
    choices = ("sentence", "kind", "layer", "head", "word")
    for asked, got in (
        ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0)),
        ((0, 0, 1, 1, 0), (0, 0, 1, 1, 0)),
        ((0, 1, 1, 2, 1), (0, 1, 0, 2, 1)),
        ((9, 9, 9, 9, 9), (1, 0, 0, 2, 1)),
        ((0, 0, 0, 9, 9), (0, 0, 0, 0, 0)),
    ):
        kind = sentences[got[0]]["kinds"][got[1]]  # type: ignore[index]
        expected = dict(zip(choices, got, strict=True)) | {
            "maps": kind["layers"][got[2]],
            "rows": kind["rows"],
            "columns": kind["columns"],
        }
        wanted = dict(zip(choices, asked, strict=True))
        yield Call("head_explorer", "chosenOf", [sentences, wanted], expected)


def positions() -> Iterator[Call]:
    """Every number of tables of several widths; moving the point by keys, by dragging and by sliders."""
    for width, amplitude in ((2, 1.0), (10, 0.35), (16, 1.5), (16, 0.0)):
        table = amplitude * sinusoidal_encoding(75, width).double()
        for position, dimension in product((0, 1, 5, 31, 63, 74), range(width)):
            value = float(table[position, dimension])
            args = [position, dimension, width, amplitude]
            yield Call(POSITIONS, "encode", args, value, close=1e-6)
    for dimension in range(16):
        turn = 10000 ** (-2 * (dimension // 2) / 16)
        yield Call(POSITIONS, "frequency", [dimension, 16], turn)
        length = 2 * math.pi / turn
        kind = "cosine" if dimension % 2 else "sine"
        long = digits(length, 1 if length < 100 else 0)
        title = f"Dimension {dimension}, a {kind}: a full wave takes {long} positions"
        yield Call(POSITIONS, "waveTitle", [dimension, 16], title)
    for position, dimension, offset, amplitude in ((5, 2, 3, 1.0), (31, 15, 10, 1.5), (0, 0, 0, 0)):
        table = amplitude * sinusoidal_encoding(75, 16).double()
        pair, turn = dimension // 2, 10000 ** (-2 * (dimension // 2) / 16)
        both = table[position, 2 * pair : 2 * pair + 2].tolist()
        norm = digits(float(table[position].norm()), 2)
        text = (
            f"Pair {pair} turns by {digits(turn, 4)} a position. At position {position}: (sin, cos) = "
            f"{vector(both, 3)}. From {position} to {position + offset}: a turn of "
            f"{digits(offset * turn, 3)}. The whole row has norm {norm}; "
            "an embedding times √16 has about 4.00."
        )
        state = {"position": position, "dimension": dimension, "offset": offset}
        yield Call(POSITIONS, "sentence", [state | {"amplitude": amplitude}, 16], text)
    yield from moved_positions()


def moved_positions() -> Iterator[Call]:
    """A position never leaves the table."""
    state = {"position": 5, "dimension": 2, "offset": 3, "length": 32, "amplitude": 1}
    for changes, position in (
        ({"position": 7}, 7), ({"position": 40}, 31), ({"position": -2}, 0), ({"length": 4}, 3),
        ({"offset": 9}, 5),
    ):  # fmt: skip
        expected = changes | {"position": position}
        yield Call(POSITIONS, "inTable", [state, changes], expected)
    keys = {"ArrowRight": 6, "ArrowUp": 6, "ArrowLeft": 4, "ArrowDown": 4, "Home": 0, "End": 31}
    for key, place in (keys | {"Tab": None}).items():
        yield Call(POSITIONS, "stepped", [state, key], place)
    generator = torch.Generator().manual_seed(3)
    for total, start, step in (20 * torch.rand(12, 3, generator=generator)).tolist():
        step = 0.3 * step - 3.0
        for turns in (0, 1, -1):
            args = [total, start, start + step + 2 * math.pi * turns, 15.0]
            yield Call(POSITIONS, "turned", args, min(15.0, max(0.0, total + step)))


def calls() -> Iterator[Call]:
    """All of them."""
    for part in (shared, attention_plane, self_attention, masks, heads, positions):
        yield from part()
