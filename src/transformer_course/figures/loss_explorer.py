"""The interactive figure of chapter 08: a predicted distribution that is dragged, with its losses."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

WORDS = ("a", "am", "i", "thanks", "student", "</s>")
PREDICTED = (0.05, 0.05, 0.1, 0.5, 0.2, 0.1)


class LossExplorer(anywidget.AnyWidget):
    """Bars of a predicted distribution to drag; cross-entropy, KL divergence and perplexity follow.

    The wanted distribution has one right word, smoothed by ε. All is computed in the browser, so the figure
    also works in a built page. In JupyterLab, the state is up to date on the Python side too.

    Args:
        predicted: a probability for each word; they sum to 1.
        right: number of the right word.
        smoothing: ε of the wanted distribution, from 0 to 0.5.
        words: the vocabulary, two words or more.

    Raises:
        ValueError: if probabilities and words don't fit, there is no such word, or ε is out of range.

    >>> LossExplorer(right=2)
    Interactive figure: the loss of a distribution over 6 words
    """

    _esm = joined("loss_explorer", "js")
    _css = joined("loss_explorer", "css")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    predicted = traitlets.List(traitlets.Float()).tag(sync=True)
    right = traitlets.Int().tag(sync=True)
    smoothing = traitlets.Float().tag(sync=True)

    def __init__(
        self,
        predicted: tuple[float, ...] = PREDICTED,
        right: int = 3,
        smoothing: float = 0.0,
        words: tuple[str, ...] = WORDS,
    ) -> None:
        if len(words) < 2 or len(predicted) != len(words):
            raise ValueError(
                f"predicted ({len(predicted)} numbers) must have one for each of the words "
                f"({len(words)}), of which there must be 2 or more"
            )
        if min(predicted) < 0 or abs(sum(predicted) - 1) > 1e-6:
            raise ValueError(f"predicted ({predicted}) must not be negative, and must sum to 1")
        if not 0 <= right < len(words):
            raise ValueError(f"right ({right}) must be from 0 to {len(words) - 1}")
        if not 0 <= smoothing <= 0.5:
            raise ValueError(f"smoothing ({smoothing}) must be from 0 to 0.5")
        super().__init__(
            words=list(words), predicted=list(predicted), right=right, smoothing=smoothing
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: the loss of a distribution over {len(self.words)} words"
