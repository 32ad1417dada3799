"""The interactive figure of chapter 04: choose a sentence, a layer and a head of a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from transformer_course.figures.widget import joined

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_course.translator import AttentionMaps

KINDS = {  # the attention's place in the model → its name for readers
    "encoder_layers.{}.self_attention": "encoder, self-attention",
    "decoder_layers.{}.self_attention": "decoder, self-attention",
    "decoder_layers.{}.cross_attention": "decoder, cross-attention",
}


class HeadExplorer(anywidget.AnyWidget):
    """The maps of every head of a trained model, for some sentences: one head large, its neighbours small.

    The weights are stored with the figure and drawn in the browser, so it also works in a built page, where no
    Python runs. In JupyterLab, what is chosen is up to date on the Python side too.

    Args:
        readings: what `Translator.attention` returned, one for each sentence.
        sentence: which one is shown first, from 0; so are all that follow.
        kind: 0 for the encoder's self-attention, 1 for the decoder's, 2 for cross-attention.
        layer: from below.
        head: its number.
        word: a row of the map, from the top.

    Raises:
        ValueError: if there is no reading, or no such attention, layer, head or word.

    >>> import torch
    >>> from transformer_course.translator import AttentionMaps
    >>> maps = {name.format(0): torch.full((2, 3, 3), 1 / 3) for name in KINDS}
    >>> HeadExplorer([AttentionMaps(["▁a", "▁cat", "</s>"], ["<s>", "▁un", "▁chat"], maps)])
    Interactive figure: 1 sentence in 1 + 1 + 1 layers of 2 heads
    """

    _esm = joined("head_explorer", "js")
    _css = joined("head_explorer", "css")

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    kind = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        readings: Sequence[AttentionMaps],
        *,
        sentence: int = 0,
        kind: int = 0,
        layer: int = 0,
        head: int = 0,
        word: int = 0,
    ) -> None:
        sentences = [_stored(reading) for reading in readings]
        if not sentences:
            raise ValueError("readings is empty; there must be at least one sentence")
        shown: Any = sentences
        for name, place in (("sentence", sentence), ("kind", kind), ("layer", layer)):
            shown = _chosen(name, place, shown)
            shown = shown.get("kinds", shown.get("layers")) if isinstance(shown, dict) else shown
        _chosen("word", word, _chosen("head", head, shown))
        super().__init__(
            sentences=sentences, sentence=sentence, kind=kind, layer=layer, head=head, word=word
        )

    def __repr__(self) -> str:
        """The same text in every run, whatever the weights are."""
        layers = [kind["layers"] for kind in self.sentences[0]["kinds"]]
        count = len(self.sentences)
        return (
            f"Interactive figure: {count} sentence{'s' * (count > 1)} in "
            f"{' + '.join(str(len(found)) for found in layers)} layers of {len(layers[0][0])} heads"
        )


def _chosen(name: str, place: int, found: Sequence[Any]) -> Any:
    if not 0 <= place < len(found):
        raise ValueError(f"{name} ({place}) must be from 0 to {len(found) - 1}")
    return found[place]


def _stored(reading: AttentionMaps) -> dict[str, Any]:
    """One sentence as the browser gets it: for each kind of attention its words and its weights."""
    source, read = _words(reading.source), _words(reading.target)
    written = [*read[1:], "</s>"]  # row t predicts the token after target[t]
    words = [(source, source), (written, read), (written, source)]
    kinds = []
    for (pattern, name), (rows, columns) in zip(KINDS.items(), words, strict=True):
        layers: list[Any] = []
        while (maps := reading.maps.get(pattern.format(len(layers)))) is not None:
            layers.append(_rounded(maps))
        kinds.append({"name": name, "rows": rows, "columns": columns, "layers": layers})
    return {"title": " ".join(source[:-1]), "kinds": kinds}


def _words(pieces: Sequence[str]) -> list[str]:
    """Subwords without the sign for a space."""
    return [piece.strip("▁") for piece in pieces]


def _rounded(maps: Tensor) -> list[list[list[float]]]:
    """Weights with three digits: what is stored in the notebook."""
    return [[[round(w, 3) for w in row] for row in head] for head in maps.tolist()]
