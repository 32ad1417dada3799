"""Attention block by block, and segments with a memory, as pictures of what flows: drawn for chapter 12."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from numpy.typing import ArrayLike, NDArray

from transformer_course.figures import flow
from transformer_course.figures.palette import (
    INK,
    KEY,
    KEY_TEXT,
    LINE,
    MASK,
    QUERY,
    QUIET,
    VALUE,
    VALUE_TEXT,
    drawn,
)
from transformer_course.long_context import reach

AT_START, AT_END = ("left", "center"), ("right", "center")
LEFT, GAP = 3.4, 2.1  # where the first block begins, and the room between two blocks
SIDE, RIGHT, FALL = 2.0, 11.6, 1.9  # edges of the tokens, and how far one layer is from the next
MOST = 20  # tokens that can be told apart
Numbers = NDArray[np.float64]


@drawn
def running_softmax_flow(
    query: Sequence[float], keys: ArrayLike, values: ArrayLike, block: int
) -> Figure:
    r"""Draw how one query reads the keys block by block, and keeps no more than $m$, $l$ and $o$.

    Every key and every value is a column. $m$ is the highest score so far, $l$ the sum of $e^{s - m}$, $o$ the
    sum of the values, each times its $e^{s - m}$. When $m$ grows to $m'$, what was kept is multiplied by
    $e^{m - m'}$. At the end $o / l$ is the output of attention (Dao et al. 2022, alg. 1).

    Args:
        query: (d_k,).
        keys: (k_len, d_k).
        values: (k_len, d_v).
        block: keys of a block, 2 or more; it must divide k_len.

    Returns:
        The figure.

    Raises:
        ValueError: if the blocks don't divide the keys, or shapes don't fit.

    >>> figure = running_softmax_flow([1], [[0], [0]], [[3], [5]], 2)
    >>> [text.get_text() for text in figure.axes[0].texts][-2:]
    ['output (1)', '4.00']
    """
    q, k, v = (np.asarray(part, dtype=float) for part in (query, keys, values))
    if block < 2 or len(k) % block:
        raise ValueError(f"block ({block}) must be 2 or more and divide the keys ({len(k)})")
    if k.shape != (len(k), len(q)) or v.shape[:1] != k.shape[:1]:
        raise ValueError(f"keys {k.shape} must be (k_len, {len(q)}), values {v.shape} (k_len, d_v)")
    steps = len(k) // block
    tops = _tops(len(q), v.shape[1])
    right = LEFT + steps * (block + GAP) - GAP
    figure, axes = flow.canvas(right + 0.8, tops["end"])
    _kept(axes, tops, right)
    _names(axes, tops, block, len(k), (len(q), v.shape[1]))
    _query(axes, tops, q, right - block / 2)
    m, total, sums = -np.inf, 0.0, np.zeros(v.shape[1])
    for step in range(steps):
        left, part = LEFT + step * (block + GAP), slice(step * block, (step + 1) * block)
        flow.words(axes, (left + block / 2, 0.5), f"block {step + 1}", bold=True)
        scores = k[part] @ q / len(q) ** 0.5
        highest = max(m, float(scores.max()))
        shares, factor = np.exp(scores - highest), float(np.exp(m - highest))
        if step:
            _carried(axes, tops, left, block, (m, highest, factor))
        m, total = highest, total * factor + float(shares.sum())
        sums = sums * factor + shares @ v[part]
        _block(axes, tops, left, (k[part], scores, shares, v[part]))
        for top, rows in ((tops["m"], [[m]]), (tops["l"], [[total]]), (tops["o"], sums[:, None])):
            flow.numbers(
                axes, (left + (block - 1) / 2, top), rows, INK, 0 if top == tops["m"] else 2
            )
    _output(axes, tops, right - block / 2, sums / total)
    return figure


def _tops(d_k: int, d_v: int) -> dict[str, float]:
    """The upper edge of each row of the picture."""
    tops, y = {}, 1.1
    rows = (
        ("keys", d_k), ("dot", 0.9), ("scores", 1), ("m", 1), ("exp", 0.9), ("shares", 1),
        ("values", d_v), ("l", 1), ("o", d_v), ("divide", 0.9), ("output", d_v),
    )  # fmt: skip
    after = {"scores": 1.2, "shares": 0.6, "values": 1.2, "l": 0.25}
    for name, tall in rows:
        tops[name] = y
        y += tall + after.get(name, 0.65)
    return tops | {"end": y}


def _kept(axes: Axes, tops: dict[str, float], right: float) -> None:
    """Shade what is kept from block to block."""
    for top, bottom in ((tops["m"], tops["m"] + 1), (tops["l"], tops["divide"] - 0.65)):
        corner, size = (0.1, top - 0.2), (right + 0.4, bottom - top + 0.4)
        axes.add_patch(Rectangle(corner, *size, facecolor=flow.tint(LINE, 0.5), zorder=0))
    at = (0.2, tops["divide"] + 0.1)
    flow.words(axes, at, "shaded: all that is kept", QUIET, AT_START, size=11)


def _names(
    axes: Axes, tops: dict[str, float], block: int, k_len: int, widths: tuple[int, int]
) -> None:
    """Name each row, with the shape of one block."""
    d_k, d_v = widths
    for row, tall, text, colour in (
        ("keys", d_k, f"keys\n({k_len}, {d_k})", KEY_TEXT),
        ("scores", 1, f"scores ({block})", QUIET),
        ("m", 1, "highest $m$", INK),
        ("shares", 1, f"$e^{{s-m}}$ ({block})", QUERY),
        ("values", d_v, f"values\n({k_len}, {d_v})", VALUE_TEXT),
        ("l", 1, r"$l = \sum e^{s-m}$", INK),
        ("o", d_v, r"$o = \sum e^{s-m}v$" + f"\n({d_v})", INK),
    ):
        at = (LEFT - 0.35, tops[row] + tall / 2)
        flow.words(axes, at, text, colour, AT_END, bold=True, formula=True)


def _query(axes: Axes, tops: dict[str, float], query: Numbers, end: float) -> None:
    """Draw the query on the left, and its way to every block."""
    flow.words(axes, (0.2, 0.5), f"query ({len(query)})", QUERY, AT_START, bold=True)
    flow.numbers(axes, (0.3, tops["keys"]), query[:, None], QUERY)
    y = tops["dot"] + 0.45
    axes.plot([0.8, 0.8, end], [y - 1, y, y], color=QUERY, lw=1.6, zorder=0)


def _block(
    axes: Axes,
    tops: dict[str, float],
    left: float,
    parts: tuple[Numbers, Numbers, Numbers, Numbers],
) -> None:
    """Draw one block on its way down, from its keys to what it adds to the sums."""
    keys, scores, shares, values = parts
    block, middle = len(keys), left + len(keys) / 2
    flow.numbers(axes, (left, tops["keys"]), keys.T, KEY)
    flow.numbers(axes, (left, tops["scores"]), [scores], QUIET)
    flow.numbers(axes, (left, tops["shares"]), [shares], QUERY, 2, [0.1 + 0.75 * shares])
    strengths = np.broadcast_to(0.1 + 0.5 * shares, values.T.shape)
    flow.numbers(axes, (left, tops["values"]), values.T, VALUE, 0, strengths)
    for row, text in (("dot", r"$q \cdot k / \sqrt{d_k}$"), ("exp", "$e^{s-m}$")):
        flow.box(axes, (middle, tops[row] + 0.45), (max(2.9, block), 0.9), text, formula=True)
    for column in range(block):
        flow.words(axes, (left + column + 0.5, tops["values"] - 0.3), "×")
    for row in ("dot", "scores", "m", "exp", "shares", "l"):
        room = 1.2 if row in ("m", "l") else 0.65
        flow.arrow(axes, (middle, tops[row] - room + 0.08), (middle, tops[row] - 0.08))
    for row, text in (("m", "max"), ("l", "add")):
        flow.words(axes, (middle - 0.2, tops[row] - 0.75), text, QUIET, AT_END, size=11)
    side = (middle + 0.8, tops["scores"] + 1.08)  # the scores, past their maximum
    flow.arrow(axes, side, (side[0], tops["exp"] - 0.08))


def _carried(
    axes: Axes,
    tops: dict[str, float],
    left: float,
    block: int,
    change: tuple[float, float, float],
) -> None:
    """Draw what comes from the block before: m as it is, l and o times a factor."""
    before, now, factor = change
    start, end = left - GAP - (block - 1) / 2 + 0.08, left + (block - 1) / 2 - 0.08
    middle, bottom = (start + end) / 2, tops["divide"] - 0.65
    size = (1.9, bottom - tops["l"])
    flow.arrow(axes, (start, tops["m"] + 0.5), (end, tops["m"] + 0.5), INK)
    for y in (tops["l"] + 0.5, (tops["o"] + bottom) / 2):
        flow.arrow(axes, (start, y), (middle - size[0] / 2, y), INK)
        flow.arrow(axes, (middle + size[0] / 2, y), (end, y), INK)
    text = f"× {factor:.2f}\n$= e^{{{before:.3g}-{now:.3g}}}$".replace("0.", ".")
    flow.box(axes, (middle, tops["l"] + size[1] / 2), size, text, formula=True)


def _output(axes: Axes, tops: dict[str, float], middle: float, output: Numbers) -> None:
    """Draw the division at the end, and the output."""
    flow.arrow(axes, (middle, tops["divide"] - 0.57), (middle, tops["divide"] - 0.08))
    flow.box(axes, (middle, tops["divide"] + 0.45), (1.9, 0.9), "$o / l$", formula=True)
    flow.arrow(axes, (middle, tops["divide"] + 0.98), (middle, tops["output"] - 0.08))
    at = (middle - 0.8, tops["output"] + len(output) / 2)
    flow.words(axes, at, f"output ({len(output)})", VALUE_TEXT, AT_END, bold=True)
    flow.numbers(axes, (middle - 0.5, tops["output"]), output[:, None], VALUE, 2)


@drawn
def segment_flow(
    length: int = 4, memory: int = 4, n_segments: int = 4, n_layers: int = 3
) -> Figure:
    """Draw what the last token knows of, with segments that are read alone and with a memory.

    In each layer a token sees the tokens before it in its segment, and the memory: what the layer below made
    of the last tokens before the segment. (Transformer-XL; Dai et al. 2019, §3.2)

    Args:
        length: tokens of a segment, 1 or more.
        memory: tokens that are remembered, 1 or more.
        n_segments: 2 or more.
        n_layers: 1 or more.

    Returns:
        The figure, one panel without memory and one with.

    Raises:
        ValueError: if a number is too small, or there are more than 20 tokens.

    >>> figure = segment_flow(length=2, memory=2, n_segments=3, n_layers=2)
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text()[0].isdigit()]
    ['2 tokens', '2 tokens', '4 tokens', '6 tokens']
    """
    for name, number, least in (
        ("length", length, 1),
        ("memory", memory, 1),
        ("n_segments", n_segments, 2),
        ("n_layers", n_layers, 1),
    ):
        if number < least:
            raise ValueError(f"{name} ({number}) must be {least} or more")
    n = length * n_segments
    if n > MOST:
        raise ValueError(f"length · n_segments ({n}) must be {MOST} or less")
    tall = 3.0 + FALL * n_layers
    figure, axes = flow.canvas(14.0, 2 * tall + 1.2)
    for top, kept in ((0.2, 0), (tall + 0.2, memory)):
        title = f"a memory of {kept} tokens" if kept else "no memory"
        flow.words(axes, (0.1, top + 0.4), title, align=AT_START, bold=True)
        _segments(axes, top + 2.1, _seen(n, length, kept), length, n_layers)
    _strokes(axes, 2 * tall + 0.6)
    return figure


def _seen(n: int, length: int, memory: int) -> NDArray[np.bool_]:
    """Which tokens each token sees in one layer, (n, n)."""
    places = np.arange(n)
    start = places // length * length  # of the token's segment
    return (places <= places[:, None]) & (places >= start[:, None] - memory)


def _segments(axes: Axes, top: float, seen: NDArray[np.bool_], length: int, n_layers: int) -> None:
    """Draw tokens and layers below each other, and all ways that lead to the last token."""
    n = len(seen)
    step = (RIGHT - SIDE) / n

    def at(layer: int, token: int) -> flow.Point:
        return SIDE + step * (token + 0.5), top + FALL * layer

    known = np.zeros((n_layers + 1, n), bool)  # whether the last token knows of that state
    known[n_layers, -1] = True
    for layer in range(n_layers, 0, -1):
        known[layer - 1] = seen[known[layer]].any(0)
        for token, other in np.argwhere(known[layer][:, None] & seen):
            own = token // length == other // length
            _way(axes, at(layer - 1, other), at(layer, token), own)
    for layer, token in np.ndindex(known.shape):
        face, edge = (QUERY, QUERY) if known[layer, token] else ("white", MASK)
        axes.add_patch(Circle(at(layer, token), 0.2, facecolor=face, edgecolor=edge, zorder=3))
    masks = [torch.from_numpy(seen)] * n_layers
    for layer in range(n_layers + 1):
        y = top + FALL * layer
        name = f"layer {layer}" if layer else "tokens"
        flow.words(axes, (SIDE - 0.1, y), name, align=AT_END)
        if layer:
            count = int(reach(masks[:layer])[-1].sum())
            flow.words(axes, (RIGHT + 0.1, y), f"{count} tokens", QUERY, AT_START, bold=True)
        else:
            flow.words(axes, (RIGHT + 0.1, y), "reach", QUERY, AT_START, bold=True)
    for segment in range(n // length):
        x = SIDE + step * length * segment
        flow.words(
            axes, (x + step * length / 2, top - 0.75), f"segment {segment + 1}", QUIET, size=10
        )
        if segment:
            axes.plot([x, x], [top - 0.9, top + FALL * n_layers + 0.3], color=MASK, lw=1, zorder=0)


def _way(axes: Axes, start: flow.Point, end: flow.Point, own: bool) -> None:
    """Draw the way from a state to one in the next layer: inside a segment, or out of the memory."""
    xs, ys = zip(start, end, strict=True)
    if own:
        axes.plot(xs, ys, color=QUERY, lw=1.0, alpha=0.7, zorder=1)
    else:
        axes.plot(xs, ys, color=KEY, lw=0.9, ls=(0, (4, 2)), zorder=2)


def _strokes(axes: Axes, y: float) -> None:
    """Say what the two kinds of lines mean."""
    for x, own, text in ((0.3, True, "inside a segment"), (6.6, False, "from memory, no gradient")):
        _way(axes, (x, y), (x + 1.0, y), own)
        flow.words(axes, (x + 1.3, y), text, align=AT_START, size=11)
