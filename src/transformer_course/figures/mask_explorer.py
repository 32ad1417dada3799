"""The interactive figure of chapter 03: the masks of a padded batch, the scores they hide, and the weights."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

PAD = "<pad>"
SOURCES = (("the", "cat", "sleeps", "</s>"), ("he", "reads", "</s>"), ("yes", "</s>"))
TARGETS = (("<s>", "le", "chat", "dort"), ("<s>", "il", "lit"), ("<s>", "oui"))
# For each word what it asks and what it offers, two numbers each.
VECTORS: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    PAD: ((0.6, 0.2), (1.2, 0.9)),
    "the": ((1.0, 0.4), (0.3, 0.2)),
    "cat": ((0.2, 1.5), (1.6, 0.1)),
    "sleeps": ((1.8, 0.0), (0.1, 1.7)),
    "</s>": ((0.5, 0.5), (-0.2, 0.4)),
    "he": ((0.1, 1.4), (1.5, 0.3)),
    "reads": ((1.7, 0.3), (0.4, 1.5)),
    "yes": ((0.7, 0.7), (0.8, 0.6)),
    "<s>": ((0.8, 0.3), (0.5, -0.3)),
    "le": ((1.5, 0.2), (0.2, 0.5)),
    "chat": ((0.4, 1.6), (1.7, 0.0)),
    "dort": ((1.9, 0.1), (0.0, 1.6)),
    "il": ((0.3, 1.3), (1.4, 0.2)),
    "lit": ((1.6, 0.5), (0.3, 1.4)),
    "oui": ((0.9, 0.6), (0.7, 0.8)),
}
PLACES = ("encoder", "cross", "decoder")


class MaskExplorer(anywidget.AnyWidget):
    """The masks of three sentences of different lengths, in each of the three attentions of the model.

    Switch padding, the future and the polarity on and off; scores, weights and rows of NaN follow. All is
    computed in the browser. In JupyterLab, the state is up to date on the Python side too.

    Args:
        place: "encoder" (self-attention), "cross" (decoder to encoder) or "decoder" (self-attention).
        padding: whether keys that are padding are hidden.
        causal: whether later keys are hidden.
        inverted: whether the mask is read the wrong way round.
        left: whether the padding stands at the left.
        safe: whether hidden scores become the lowest number, and rows that see nothing become 0, as in this
            package; else hidden scores become minus infinity.
        sentence: which of the three sentences is shown, 0 to 2.

    Raises:
        ValueError: if there is no such place or sentence.

    >>> MaskExplorer(place="encoder")
    Interactive figure: the masks of a batch of 3 sentences
    """

    _esm = joined("mask_explorer", "js")
    _css = joined("mask_explorer", "css")

    pad = traitlets.Unicode(PAD).tag(sync=True)
    sources = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    targets = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    vectors = traitlets.Dict().tag(sync=True)
    place = traitlets.Unicode().tag(sync=True)
    padding = traitlets.Bool().tag(sync=True)
    causal = traitlets.Bool().tag(sync=True)
    inverted = traitlets.Bool().tag(sync=True)
    left = traitlets.Bool().tag(sync=True)
    safe = traitlets.Bool().tag(sync=True)
    sentence = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        place: str = "decoder",
        padding: bool = True,
        causal: bool = True,
        inverted: bool = False,
        left: bool = False,
        safe: bool = False,
        sentence: int = 1,
    ) -> None:
        if place not in PLACES:
            raise ValueError(f"place ({place!r}) must be one of {', '.join(PLACES)}")
        if not 0 <= sentence < len(SOURCES):
            raise ValueError(f"sentence ({sentence}) must be from 0 to {len(SOURCES) - 1}")
        super().__init__(
            sources=[list(words) for words in SOURCES],
            targets=[list(words) for words in TARGETS],
            vectors={word: [list(vector) for vector in pair] for word, pair in VECTORS.items()},
            place=place,
            padding=padding,
            causal=causal,
            inverted=inverted,
            left=left,
            safe=safe,
            sentence=sentence,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: the masks of a batch of {len(self.sources)} sentences"
