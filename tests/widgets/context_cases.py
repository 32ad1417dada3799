"""What the figure of chapter 12 must compute: masks and reach by the package's masks, costs by its formulas."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from typing import Any

import torch
from torch import Tensor

from transformer_course.figures import context_explorer
from transformer_course.long_context import (
    ContextCost,
    context_cost,
    global_mask,
    local_mask,
    reach,
    strided_mask,
)

from .node import Call, digits

FIGURE = "context_explorer"
FULL, LOCAL, STRIDED, BOTH, GLOBAL = context_explorer.PATTERNS
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
START = {
    "long_length": 8192, "long_span": 256, "layers": 6, "d_model": 512, "heads": 8, "key_heads": 8,
    "bytes_per_number": 4,
}  # fmt: skip


def mask_of(pattern: str, causal: bool, length: int, window: int) -> Tensor:
    """Who sees whom, by the package, (length, length)."""
    local, first = local_mask(length, window, causal), global_mask(length, 1, causal)
    strided = strided_mask(length, window, causal)
    return {
        FULL: local_mask(length, length, causal),
        LOCAL: local,
        STRIDED: strided,
        BOTH: local | strided,
        GLOBAL: local | first,
    }[pattern][0, 0]


def known_by(mask: Tensor, token: int, layers: int) -> list[list[bool]]:
    """What a token knows of after 0, 1, … layers."""
    start = (torch.arange(len(mask)) == token).tolist()
    return [start, *(reach([mask] * n)[token].tolist() for n in range(1, layers + 1))]


def layers_needed(mask: Tensor, causal: bool) -> int | None:
    """Layers until all know of all; None if it never happens."""
    wanted = mask_of(FULL, causal, len(mask), 1)
    for layers in range(1, len(mask) + 1):
        if bool((reach([mask] * layers) | ~wanted).all()):
            return layers
    return None


def counted(number: int, name: str) -> str:
    """So many of something."""
    return f"{number} {name}{'s' * (number != 1)}"


def reach_sentence(state: dict[str, Any]) -> str:
    """What the figure says about a token of the short text."""
    causal, length, depth, token = (state[n] for n in ("causal", "length", "depth", "token"))
    mask = mask_of(state["pattern"], causal, length, state["span"])
    known = int(reach([mask] * depth)[token].sum())
    sees = counted(int(mask[token].sum()), "token")
    text = (
        f"Token {token} sees {sees}. After {counted(depth, 'layer')} it knows of {known} of the "
        f"{token + 1 if causal else length} that it may know of. "
    )
    needed = layers_needed(mask, causal)
    if needed is None:
        return f"{text}Not all tokens meet, however many layers there are."
    text += f"It takes {counted(needed, 'layer')} until every token knows all."
    blind = " The global token is the first one: it sees only itself, so it passes nothing on."
    return text + blind * (state["pattern"] == GLOBAL and causal)


def cost_of(state: dict[str, Any]) -> ContextCost:
    """What a long text costs: of full and local attention the package knows it; of others by hand."""
    n, r, pattern = state["long_length"], state["long_span"], state["pattern"]

    def by_package(window: int | None) -> ContextCost:
        return context_cost(
            n, state["d_model"], state["heads"], state["layers"], state["key_heads"], window,
            state["bytes_per_number"],
        )  # fmt: skip

    full, local = by_package(None), by_package(r)
    if pattern in (FULL, LOCAL):
        return full if pattern == FULL else local
    # All pairs of each short text that `strided_attention` makes; a column of the first token.
    blocks = math.ceil(n / min(n, r))
    strided, column = min(n, r) * blocks**2, n
    pairs = strided if pattern == STRIDED else local_pairs(n, r)
    pairs += {STRIDED: 0, BOTH: strided, GLOBAL: column}[pattern]
    part = pairs / n**2
    cached = min(n, r + 1) / n if pattern == GLOBAL else 1
    return ContextCost(
        round(full.multiply_adds * part),
        round(full.score_bytes * part),
        round(full.cache_bytes * cached),
    )


def local_pairs(n: int, r: int) -> int:
    """Scores that one head of a window computes."""
    return context_cost(n, 1, 1, window=r, bytes_per_number=1).score_bytes


def count_text(number: int) -> str:
    """All digits of a small number, three of a large one."""
    if number < 100_000:
        return f"{number:,}".replace(",", "\u202f")
    exponent = len(str(number)) - 1
    few = Decimal(number).scaleb(-exponent).quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert few < 10  # else the exponent is one more
    return f"{few} · 10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def bytes_text(number: int) -> str:
    """Three digits, in powers of 1024."""
    power = min(5, (number.bit_length() - 1) // 10)
    part = number / 1024**power
    if part >= 100:
        return f"{digits(part, 0)} {UNITS[power]}"
    return f"{float(digits(part, 2 if part < 10 else 1)):g} {UNITS[power]}"


def share_text(part: float) -> str:
    """A part in %, two digits at least."""
    percent = 100 * part
    if percent >= 10:
        return f"{digits(percent, 0)} %"
    places = 1 - math.floor(math.log10(percent))
    text = digits(percent, places)
    return f"{text.rstrip('0').rstrip('.')} %"


def rows_of(state: dict[str, Any]) -> list[list[str]]:
    """The table."""
    own, full = cost_of(state), cost_of(state | {"pattern": FULL})
    return [
        ["multiply-adds", *(count_text(cost.multiply_adds) for cost in (own, full))],
        ["scores of a layer", *(bytes_text(cost.score_bytes) for cost in (own, full))],
        ["cache", *(bytes_text(cost.cache_bytes) for cost in (own, full))],
    ]


def cost_sentence(state: dict[str, Any]) -> str:
    """What is said below the table."""
    own, full = cost_of(state), cost_of(state | {"pattern": FULL})
    group = state["heads"] // state["key_heads"]
    shared = (
        f" {group} heads share keys and values: that makes the cache {group} times smaller, and nothing else."
    ) * (group > 1)
    if state["pattern"] == FULL:
        text = "Twice as many tokens: four times the multiply-adds and scores, twice the cache."
        return text + shared
    scores = share_text(own.score_bytes / full.score_bytes)
    cache = share_text(own.cache_bytes / full.cache_bytes)
    text = f"Of full attention that is {scores} of the scores and {cache} of the cache."
    if own.score_bytes > full.score_bytes:
        text += " Looking so far back saves nothing: half of these scores are hidden."
    return text + shared


def short_texts() -> Iterator[Call]:
    """Masks and reach: every pattern, short and long texts, windows beyond the text, first and last tokens."""
    sizes = ((4, 1), (5, 2), (9, 3), (12, 16), (24, 4))
    for pattern, causal, (length, window) in product(
        context_explorer.PATTERNS, (True, False), sizes
    ):
        state = {"pattern": pattern, "causal": causal, "length": length, "span": window}
        mask = mask_of(pattern, causal, length, window)
        yield Call(FIGURE, "maskOf", [state], mask.tolist())
        yield Call(FIGURE, "layersNeeded", [mask.tolist(), causal], layers_needed(mask, causal))
        for token, depth in ((0, 1), (length // 2, 2), (length - 1, 3)):
            known = known_by(mask, token, depth)
            yield Call(FIGURE, "knownBy", [mask.tolist(), token, depth], known)
            chosen = state | {"token": token, "depth": depth}
            yield Call(FIGURE, "reachSentence", [chosen], reach_sentence(chosen))


def any_masks() -> Iterator[Call]:
    """Masks that no pattern has: few open squares, not even each token's own."""
    generator = torch.Generator().manual_seed(5)
    for n, share, causal in product((2, 5, 7), (0.2, 0.5), (True, False)):
        mask = torch.rand(n, n, generator=generator) < share
        mask = mask & mask_of(FULL, causal, n, 1)
        needed = layers_needed(mask, causal)
        yield Call(FIGURE, "layersNeeded", [mask.tolist(), causal], needed)
        yield Call(FIGURE, "knownBy", [mask.tolist(), n - 1, 3], known_by(mask, n - 1, 3))


def long_texts() -> Iterator[Call]:
    """Costs: every pattern, windows shorter and longer than the text, sizes that blocks don't divide."""
    sizes: tuple[dict[str, int], ...] = (
        {}, {"long_length": 128, "long_span": 16384}, {"long_length": 1_048_576, "long_span": 16},
        {"layers": 80, "d_model": 8192, "heads": 64, "key_heads": 8, "bytes_per_number": 2},
        {"long_length": 128, "layers": 1, "d_model": 128, "heads": 1, "key_heads": 1, "bytes_per_number": 1},
        {"key_heads": 2}, {"key_heads": 1, "long_span": 4096},
    )  # fmt: skip
    for pattern, size in product(context_explorer.PATTERNS, sizes):
        state: dict[str, Any] = START | size | {"pattern": pattern}
        yield Call(FIGURE, "costOf", [state], asdict(cost_of(state)))
        yield Call(FIGURE, "rowsOf", [state], rows_of(state))
        yield Call(FIGURE, "costSentence", [state], cost_sentence(state))
    for pattern, (n, r) in product(context_explorer.PATTERNS, ((1000, 64), (7, 3), (5, 9))):
        state = START | {
            "long_length": n,
            "long_span": r,
            "pattern": pattern,
            "heads": 1,
            "layers": 1,
        }
        cost = cost_of(state | {"key_heads": 1, "bytes_per_number": 1, "d_model": 1})
        yield Call(FIGURE, "pairsOf", [pattern, n, r], cost.score_bytes)
        yield Call(FIGURE, "cachedOf", [pattern, n, r], cost.cache_bytes // 2)


def calls() -> Iterator[Call]:
    """Every function, and the sizes that can be chosen."""
    yield from short_texts()
    yield from any_masks()
    one_way = [[True, False], [True, True]]  # enough where what follows is hidden, and only there
    yield Call(FIGURE, "layersNeeded", [one_way, True], 1)
    yield Call(FIGURE, "layersNeeded", [one_way, False], None)
    yield from long_texts()
    yield Call(FIGURE, "SIZES", [], {name: list(s) for name, s in context_explorer.SIZES.items()})
    state = {"token": 20, "heads": 8, "key_heads": 4}
    for name, number, changes in (
        ("length", 24, {"length": 24, "token": 20}),
        ("length", 20, {"length": 20, "token": 19}),
        ("heads", 16, {"heads": 16, "key_heads": 4}),
        ("heads", 2, {"heads": 2, "key_heads": 2}),
        ("key_heads", 8, {"key_heads": 8}),
    ):
        yield Call(FIGURE, "chosen", [state, name, number], changes)
    for number in (0, 999, 1000, 99_999, 1_234_567):
        yield Call(FIGURE, "whole", [number], f"{number:,}".replace(",", "\u202f"))
    for number in (7, 99_999, 100_000, 123_456, 17_179_869_184, 10**15):
        yield Call(FIGURE, "countText", [number], count_text(number))
    for number in (1, 1023, 1024, 1536, 131_072, 20_000_000, 2**40, 2**60):
        yield Call(FIGURE, "bytesText", [number], bytes_text(number))
    for part, text in ((1, "100 %"), (0.125, "13 %"), (0.0625, "6.3 %"), (3 / 4096, "0.073 %")):
        assert share_text(part) == text
        yield Call(FIGURE, "shareText", [part], text)
