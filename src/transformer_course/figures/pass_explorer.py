"""The interactive figure of chapter 13: a translation by mask-predict, gone over pass by pass."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import anywidget
import torch
import traitlets

from transformer_course.corpus.batches import EOS_ID
from transformer_course.figures.widget import joined
from transformer_course.loss import log_softmax
from transformer_course.non_autoregressive import MaskPredict
from transformer_course.translator import Translator

PLACES = 4  # digits of a stored probability


class Frame(TypedDict):
    """What stands there after one pass: pieces, their probabilities, and whether this pass wrote them."""

    pieces: list[str]
    probs: list[float]
    written: list[bool]


class Film(TypedDict):
    """One translation: its length, how probable that is, the number of passes, and a frame for each."""

    length: int
    prob: float
    passes: int
    frames: list[Frame]


def films_of(
    translator: Translator, source: str, passes: Sequence[int] = (1, 2, 4, 10), lengths: int = 3
) -> list[Film]:
    """Let a model go over a translation, for several lengths and numbers of passes.

    Args:
        translator: its model must be a `MaskPredict`.
        source: a sentence.
        passes: how often, each 1 or more.
        lengths: how many of the most probable lengths.

    Returns:
        A film for each length and number of passes; probabilities have four digits.

    Raises:
        ValueError: if the model is another one, or a number is below 1.
    """
    model = translator.model
    if not isinstance(model, MaskPredict):
        raise ValueError(f"translator must hold a MaskPredict, not a {type(model).__name__}")
    if min(passes, default=0) < 1 or lengths < 1:
        raise ValueError(f"passes {[*passes]} and lengths ({lengths}) must be 1 or more")
    before = model.passes
    films: list[Film] = []
    (ids,) = translator.vocabulary.encode([translator.vocabulary.normalise(source)])
    with torch.inference_mode():
        memory, src_mask, logits = model.read(torch.tensor([[*ids, EOS_ID]]))
        likely = log_softmax(logits)[0, 1:].topk(min(lengths, logits.shape[1] - 1))
        for log_prob, index in zip(likely.values.tolist(), likely.indices.tolist(), strict=True):
            for number in passes:
                model.passes = number
                found = [*model.go_over(torch.tensor([index + 1]), memory, src_mask)]
                frames = [
                    Frame(
                        pieces=[
                            translator.vocabulary.piece(i).strip("▁")
                            for i in one.tokens[0].tolist()
                        ],
                        probs=[round(p, PLACES) for p in one.log_probs[0].exp().tolist()],
                        written=one.written[0].tolist(),
                    )
                    for one in found
                ]
                prob = round(float(torch.tensor(log_prob).exp()), PLACES)
                films.append(Film(length=index + 1, prob=prob, passes=number, frames=frames))
    model.passes = before
    return films


class PassExplorer(anywidget.AnyWidget):
    """A translation by mask-predict as a film: choose the number of passes and the length, and step through.

    The films are stored with the figure; what stands in them a model has computed before. So the figure also
    works in a built page. In JupyterLab, the state is up to date on the Python side too.

    Args:
        source: the sentence that is translated.
        films: one for each length and number of passes, as `pass_explorer.films_of` gives them.
        passes: the number of passes that is shown first; the largest one if left out.
        length: the length that is shown first; the most probable one if left out.
        step: the pass that is shown first, from 0.

    Raises:
        ValueError: if a film is missing or hasn't as many frames as passes, or there is no such film or pass.

    >>> frame = {"pieces": ["oui"], "probs": [0.9], "written": [True]}
    >>> PassExplorer("yes", [{"length": 1, "prob": 0.8, "passes": 1, "frames": [frame]}])
    Interactive figure: "yes" in 1 pass, for 1 length
    """

    _esm = joined("pass_explorer", "js")
    _css = joined("pass_explorer", "css")

    source = traitlets.Unicode().tag(sync=True)
    films: traitlets.List[Any] = traitlets.List().tag(sync=True)
    passes = traitlets.Int().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        source: str,
        films: Sequence[Mapping[str, Any]],
        *,
        passes: int | None = None,
        length: int | None = None,
        step: int = 0,
    ) -> None:
        _check(films)
        passes = max(film["passes"] for film in films) if passes is None else passes
        likely = max(films, key=lambda film: film["prob"])["length"]
        length = likely if length is None else length
        if not any((film["passes"], film["length"]) == (passes, length) for film in films):
            raise ValueError(f"passes ({passes}) and length ({length}) must be those of a film")
        if not 0 <= step < passes:
            raise ValueError(f"step ({step}) must be from 0 to {passes - 1}")
        stored = [dict(film) for film in films]
        super().__init__(source=source, films=stored, passes=passes, length=length, step=step)

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        counts = sorted({film["passes"] for film in self.films})
        lengths = {film["length"] for film in self.films}
        return (
            f'Interactive figure: "{self.source}" in {", ".join(map(str, counts))} '
            f"pass{'es' * (counts != [1])}, for {len(lengths)} length{'s' * (len(lengths) > 1)}"
        )


def _check(films: Sequence[Mapping[str, Any]]) -> None:
    """Refuse films that don't make a table of lengths and passes."""
    keys = [(film["length"], film["passes"]) for film in films]
    lengths, passes = {length for length, _ in keys}, {number for _, number in keys}
    if not keys or sorted(keys) != sorted((n, t) for n in lengths for t in passes):
        raise ValueError(f"films {keys} must be one for each length and number of passes")
    for film in films:
        sizes = {
            len(row)
            for frame in film["frames"]
            for row in (frame["pieces"], frame["probs"], frame["written"])
        }
        if len(film["frames"]) != film["passes"] or sizes != {film["length"]}:
            raise ValueError(
                f"a film of length {film['length']} must have {film['passes']} frames of as many "
                f"pieces; it has {len(film['frames'])} frames of {sorted(sizes)}"
            )
