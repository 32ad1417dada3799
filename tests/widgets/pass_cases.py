"""What the figure of chapter 13 must compute: passes of a random model, by the package and by counting."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import torch

from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.figures.pass_explorer import films_of
from transformer_course.non_autoregressive import MaskPredict
from transformer_course.translator import Translator

from .node import Call, digits

FIGURE = "pass_explorer"
SOURCE = "the cat sees the tree"


def random_translator() -> Translator:
    """A small model that has learnt nothing; its scores differ from place to place."""
    vocabulary = Vocabulary.train(["le chat voit l'arbre", SOURCE], 290)
    torch.manual_seed(3)
    config = TransformerConfig(
        len(vocabulary),
        d_model=16,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        d_ff=32,
        max_len=12,
    )
    model = MaskPredict(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return Translator(model, vocabulary)


def films() -> list[dict[str, Any]]:
    """Films of the random model; and two of pieces that are repeated and kept, which it may not have."""
    found: list[dict[str, Any]] = [
        dict(film) for film in films_of(random_translator(), SOURCE, (1, 2, 4, 7), 3)
    ]
    frames: list[dict[str, Any]] = [
        {"pieces": ["a", "a", "b"], "probs": [0.9, 0.4, 0.5], "written": [True] * 3},
        {"pieces": ["a", "c", "b"], "probs": [0.9, 0.6, 0.5], "written": [False, True, False]},
        {"pieces": ["a", "c", "c"], "probs": [0.9, 0.6, 0.7], "written": [False, False, True]},
    ]
    made: list[dict[str, Any]] = [{"length": 3, "prob": 0.25, "passes": 3, "frames": frames}]
    made.append({"length": 3, "prob": 0.25, "passes": 1, "frames": frames[:1]})
    return found if any(film["length"] == 3 for film in found) else [*found, *made]


def mean_of(film: dict[str, Any]) -> float:
    """The mean log-probability at the end."""
    return sum(map(math.log, film["frames"][-1]["probs"])) / film["length"]


def winner(found: list[dict[str, Any]], passes: int) -> int:
    """The length of the highest mean; of equal ones the first."""
    rivals = [film for film in found if film["passes"] == passes]
    return int(max(rivals, key=mean_of)["length"])


def counted(number: int, name: str) -> str:
    """How many there are."""
    return f"{number} {name}{'s' * (number != 1)}"


def changed_of(film: dict[str, Any], step: int) -> list[bool]:
    """Which pieces are another one than in the pass before."""
    rows = [frame["pieces"] for frame in film["frames"]]
    before = rows[step - 1] if step else rows[0]
    return [one != other for one, other in zip(rows[step], before, strict=True)]


def pass_sentence(film: dict[str, Any], step: int) -> str:
    """What one pass has done."""
    frame = film["frames"][step]
    guessed, changed = sum(frame["written"]), sum(changed_of(film, step))
    repeats = sum(one == other for one, other in pairwise(frame["pieces"]))
    text = f"Pass {step} of 0 to {film['passes'] - 1}: {counted(guessed, 'piece')}"
    text += " is guessed" if guessed == 1 else " are guessed"
    if step:
        text += f", {changed} of them {'has' if changed == 1 else 'have'} changed."
    else:
        text += ", all of them at once."
    if repeats:
        text += f" {counted(repeats, 'piece')} {'repeats' if repeats == 1 else 'repeat'} the one before."
    return text


def end_sentence(found: list[dict[str, Any]], film: dict[str, Any]) -> str:
    """What all passes cost, and which length wins."""
    passes, length = film["passes"], film["length"]
    guesses = sum(sum(frame["written"]) for frame in film["frames"])
    text = f"{passes} pass{'es' * (passes != 1)} guess {counted(guesses, 'piece')} in all, "
    text += f"for {counted(length, 'piece')}. "
    text += f"Mean log-probability after the last pass: {digits(mean_of(film), 2)}"
    if len({other["length"] for other in found}) == 1:
        return f"{text}."
    best = winner(found, passes)
    own = "the highest of the lengths" if best == length else f"length {best} has a higher one"
    return f"{text}; {own}."


def calls() -> Iterator[Call]:
    """Every function, for all frames of all films."""
    found = films()
    for film in found:
        length, passes = film["length"], film["passes"]
        yield Call(FIGURE, "filmOf", [found, length, passes], film)
        yield Call(FIGURE, "meanOf", [film], mean_of(film))
        if length != 3:  # made by the package: it decides how many are guessed
            counts = [sum(frame["written"]) for frame in film["frames"]]
            yield Call(FIGURE, "guessesOf", [film], sum(counts))
            for t, count in enumerate(counts):
                yield Call(FIGURE, "gapsOf", [length, t, passes], count)
        for step, frame in enumerate(film["frames"]):
            later = film["frames"][step + 1 :]
            gaps = later[0]["written"] if later else [False] * length
            yield Call(FIGURE, "nextGaps", [film, step], gaps)
            yield Call(FIGURE, "changedOf", [film, step], changed_of(film, step))
            repeats = sum(one == other for one, other in pairwise(frame["pieces"]))
            yield Call(FIGURE, "repeatsOf", [frame["pieces"]], repeats)
            state = {"films": found, "length": length, "passes": passes, "step": step}
            yield Call(FIGURE, "passSentence", [state], pass_sentence(film, step))
    yield from ends(found)
    for number, step, changes in (
        (4, 6, {"step": 3, "passes": 4}),
        (7, 2, {"step": 2, "passes": 7}),
    ):
        yield Call(FIGURE, "chosen", [{"step": step}, "passes", number], changes)
    yield Call(FIGURE, "chosen", [{"step": 2}, "length", 5], {"length": 5})


def ends(found: list[dict[str, Any]]) -> Iterator[Call]:
    """What is said of whole films, beside rivals and alone; and what can be chosen."""
    by_package = [film for film in found if film["length"] != 3]
    single = [film for film in by_package if film["length"] == by_package[0]["length"]]
    for some, passes in product((by_package, single), (1, 2, 4, 7)):
        yield Call(FIGURE, "winner", [some, passes], winner(some, passes))
        for film in (film for film in some if film["passes"] == passes):
            state = {"films": some, "length": film["length"], "passes": passes}
            yield Call(FIGURE, "endSentence", [state], end_sentence(some, film))
    lengths = list(dict.fromkeys(film["length"] for film in by_package))  # the most probable first
    shuffled = by_package[::-1]
    yield Call(FIGURE, "offered", [shuffled], {"passes": [1, 2, 4, 7], "lengths": lengths})
