"""What the figure of chapter 11 must compute: masks by the package, and by its layers what arrives where."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.encoder_decoder import DecoderLayer, LayerConfig
from transformer_course.families import Stack, prefix_mask
from transformer_course.figures import family_masks
from transformer_course.masking import causal_mask

from .node import Call

FIGURE = "family_masks"
BOTH, ENCODER, DECODER, PREFIX = family_masks.FAMILIES
LAYER = LayerConfig(d_model=12, n_heads=2, d_ff=7, dropout=0.0)
OWN: dict[str, Any] = {
    "tokens": list(family_masks.TOKENS),
    "start": family_masks.START,
    "hidden": list(family_masks.HIDDEN),
    "end": family_masks.END,
}
OTHER: dict[str, Any] = {"tokens": list("ab>uvw"), "start": 2, "hidden": [0, 3, 4], "end": "<e>"}
SHORT: dict[str, Any] = {"tokens": list("a>u"), "start": 1, "hidden": [2], "end": "."}
Guess = tuple[str, int] | None  # the word, and where it stands among what is read
Squares = tuple[tuple[bool | None, ...], ...]


def guesses_of(state: dict[str, Any]) -> list[Guess]:
    """What each token must guess."""
    tokens, start = state["tokens"], state["start"]
    if state["objective"] == "hidden":
        silent = start if state["family"] == BOTH else 0
        return [
            (token, -1) if i in state["hidden"] and i >= silent else None
            for i, token in enumerate(tokens)
        ]
    following = [*tokens[1:], state["end"]]
    first = start if state["family"] in (BOTH, PREFIX) else 0
    places = [*range(1, len(tokens)), -1]
    found = list(zip(following, places, strict=True))
    return [guess if i >= first else None for i, guess in enumerate(found)]


def mask_of(state: dict[str, Any]) -> Squares:
    """Who may see whom, by the package; None where encoder and decoder have no attention."""
    n, start = len(state["tokens"]), state["start"]
    row = torch.ones(1, n, dtype=torch.int64)
    mask = {
        BOTH: causal_mask(n)[0, 0],
        ENCODER: torch.ones(n, n, dtype=torch.bool),
        DECODER: causal_mask(n)[0, 0],
        PREFIX: prefix_mask(row, torch.tensor([start + 1]))[0, 0],
    }[state["family"]]
    squares: list[list[bool | None]] = mask.tolist()
    if state["family"] == BOTH:
        for q in range(start):
            squares[q] = [True] * start + [None] * (n - start)
    for q, guess in enumerate(guesses_of(state)):
        if state["spared"] and guess and guess[1] >= 0:
            squares[q][guess[1]] = False
    return tuple(tuple(row) for row in squares)


@functools.cache
def arrives(family: str, squares: Squares, start: int, layers: int) -> Tensor:
    """Of which tokens something arrives where: gradients through the package's layers, [query][key]."""
    torch.manual_seed(0)
    mask = torch.tensor([[bool(square) for square in row] for row in squares])
    x = torch.randn(1, len(mask), LAYER.d_model, dtype=torch.float64, requires_grad=True)
    stack = Stack(LAYER, layers).double()
    if family == BOTH:
        memory = stack(x[:, :start], mask[:start, :start])
        states = x[:, start:]
        for layer in nn.ModuleList(DecoderLayer(LAYER) for _ in range(layers)).double():
            states = layer(states, memory, mask[start:, :start], mask[start:, start:])
        states = torch.cat([memory, states], 1)
    else:
        states = stack(x, mask)
    directions = torch.randn_like(states)  # the plain sum of a normalised vector has no gradient
    found = []
    for i in range(len(mask)):
        total = (states * directions)[0, i].sum()
        (gradient,) = torch.autograd.grad(total, x, retain_graph=True)
        found.append((gradient[0] != 0).any(-1))
    return torch.stack(found)


def judged(state: dict[str, Any]) -> dict[str, Any]:
    """Everything that the figure shows about one state."""
    guesses, mask = guesses_of(state), mask_of(state)
    asked = state["hidden"] if state["objective"] == "hidden" else []
    reach = arrives(state["family"], mask, state["start"], state["layers"]).tolist()
    places = range(len(guesses))
    guessing = [i for i in places if guesses[i]]
    leaks, ahead = [], []
    blind: list[list[int]] = [[] for _ in places]
    for i in guessing:
        _, at = guesses[i] or ("", -1)
        useful = [j for j in places if (j < i or state["objective"] == "hidden") and j != i]
        blind[i] = [j for j in useful if not reach[i][j]]
        if at >= 0 and reach[i][at]:
            leaks.append(i)
        if state["objective"] == "next" and any(reach[i][j] for j in places if j > i and j != at):
            ahead.append(i)
    return {
        "reads": ["[MASK]" if i in asked else token for i, token in enumerate(state["tokens"])],
        "guesses": [guess and {"word": guess[0], "at": guess[1]} for guess in guesses],
        "mask": mask, "reach": reach, "guessing": guessing,
        "leaks": leaks, "ahead": ahead, "blind": blind,
    }  # fmt: skip


def seen_by(state: dict[str, Any], i: int) -> str:
    """What one token sees."""
    now, start = judged(state), state["start"]
    mask, reads = now["mask"], now["reads"]
    seen = [k for k, open_ in enumerate(mask[i]) if open_]
    parts = [", ".join(reads[k] for k in seen)]
    if state["family"] == BOTH and i >= start:
        across = ", ".join(reads[k] for k in seen if k < start)
        own = ", ".join(reads[k] for k in seen if k >= start)
        parts = [own, f"and by cross-attention {across}"]
    text = f"“{reads[i]}” sees {', '.join(parts)}. "
    guess = now["guesses"][i]
    if guess is None:
        if state["family"] == BOTH and i < start:
            return f"{text}In the encoder nothing is guessed."
        why = "In the prompt" if state["objective"] == "next" else "Where nothing is hidden,"
        return f"{text}{why} nothing is guessed."
    text += f"It must guess “{guess['word']}”, "
    at = guess["at"]
    if at < 0:
        return f"{text}which isn’t among what is read."
    if mask[i][at]:
        return f"{text}and sees it: a leak."
    if i not in now["leaks"]:
        return f"{text}which it can’t see."
    by = min(k for k in seen if k != i and mask[k][at])
    return f"{text}and hears of it from “{reads[by]}”, which sees it: a leak in two layers."


def verdict(state: dict[str, Any]) -> list[str]:
    """Whether the objective fits the family."""
    now = judged(state)
    count = len(now["guessing"])

    def of(some: Sequence[int]) -> str:
        return f"{len(some)} of {count} {'guess' if count == 1 else 'guesses'}"

    if leaks := now["leaks"]:
        direct = any(now["mask"][i][now["guesses"][i]["at"]] for i in leaks)
        way = "is in sight" if direct else "arrives in two layers, by way of another token"
        return [
            "Leak:",
            f"for {of(leaks)} the answer {way}. The model learns to copy, not to guess.",
        ]
    if ahead := now["ahead"]:
        when = "When the model writes, those aren’t there yet."
        return ["No answer arrives, but", f"for {of(ahead)} later words do. {when}"]
    short = [i for i in now["guessing"] if now["blind"][i]]
    if not short:
        return ["It fits:", "no answer leaks, and each guess uses all that it may."]
    first = short[0]
    missing = ", ".join(now["reads"][j] for j in now["blind"][first])
    example = (
        f"{now['reads'][first]} for “{now['guesses'][first]['word']}” hears nothing of {missing}"
    )
    return ["No leak, but", f"{of(short)} must do with a part of the tokens: {example}."]


def states() -> Iterator[dict[str, Any]]:
    """All states of the figure's own sentence and of two others."""
    choices = product(
        (OWN, OTHER, SHORT), family_masks.FAMILIES, family_masks.OBJECTIVES, (1, 2), (False, True)
    )
    for sentence, family, objective, layers, spared in choices:
        chosen = {"family": family, "objective": objective, "layers": layers, "spared": spared}
        yield sentence | chosen


def any_masks() -> Iterator[Call]:
    """What arrives under masks that no family has: few open squares, not even each token's own."""
    generator = torch.Generator().manual_seed(4)
    for n, layers, _ in product((2, 5, 6), (1, 2, 3), range(4)):
        mask = torch.rand(n, n, generator=generator) < 0.3
        mask[torch.arange(n), torch.randint(n, (n,), generator=generator)] = (
            True  # at least one a row
        )
        squares = tuple(map(tuple, mask.tolist()))
        yield Call(
            FIGURE, "reachOf", [squares, layers], arrives(ENCODER, squares, 0, layers).tolist()
        )


def calls() -> Iterator[Call]:
    """Every function, in every state, for every token."""
    yield from any_masks()
    for state in states():
        now = judged(state)
        yield Call(FIGURE, "readOf", [state], now["reads"])
        yield Call(FIGURE, "guessesOf", [state], now["guesses"])
        yield Call(FIGURE, "maskOf", [state], now["mask"])
        yield Call(FIGURE, "reachOf", [now["mask"], state["layers"]], now["reach"])
        yield Call(FIGURE, "judged", [state], now)
        good = not now["leaks"] and not now["ahead"] and not any(now["blind"])
        yield Call(FIGURE, "fits", [{"$call": ["judged", [state]]}], good)
        yield Call(FIGURE, "verdictOf", [state], verdict(state))
        for i in range(len(state["tokens"])):
            yield Call(FIGURE, "seenBy", [state, i], seen_by(state, i))
