"""The second interactive figure of chapter 09: what temperature, top-k and top-p do to a distribution."""

from collections.abc import Sequence
from itertools import pairwise

import anywidget
import traitlets

from transformer_course.figures.widget import joined


class SamplingExplorer(anywidget.AnyWidget):
    """Sliders for temperature, top-k and top-p over a distribution of the next token, and draws from it.

    Top-k is from Fan et al. 2018, top-p from Holtzman et al. 2020.

    All is computed in the browser, so the figure also works in a built page. In JupyterLab, the state is up to
    date on the Python side too.

    Args:
        logits: logits or log-probabilities of all tokens that can be drawn, highest first.
        pieces: names of the first tokens; "▁" at the start of one is a space.
        context: what stands above the figure, such as the source and the words so far.
        temperature: divides the logits, 0.1 to 3.
        top_k: keep the k most probable tokens; 0 keeps all.
        top_p: keep the smallest set of tokens whose probabilities sum to at least this.

    Raises:
        ValueError: if the logits don't fall, there are more names than logits, or a number is out of range.

    >>> SamplingExplorer([0.0, -1.0, -2.5], ["▁le", "▁la", "▁un"])
    Interactive figure: temperature, top-k and top-p over 3 tokens
    """

    _esm = joined("sampling_explorer", "js")
    _css = joined("sampling_explorer", "css")

    logits = traitlets.List(traitlets.Float()).tag(sync=True)
    pieces = traitlets.List(traitlets.Unicode()).tag(sync=True)
    context = traitlets.Unicode().tag(sync=True)
    temperature = traitlets.Float().tag(sync=True)
    top_k = traitlets.Int().tag(sync=True)
    top_p = traitlets.Float().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)  # of the draws that are shown; 0 shows none

    def __init__(
        self,
        logits: Sequence[float],
        pieces: Sequence[str],
        context: str = "",
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
    ) -> None:
        if len(logits) < 2 or any(a < b for a, b in pairwise(logits)):
            raise ValueError(f"logits ({len(logits)} numbers) must be 2 or more, and must not rise")
        if not 1 <= len(pieces) <= len(logits):
            raise ValueError(
                f"pieces ({len(pieces)}) must be 1 or more, and no more than logits ({len(logits)})"
            )
        if not 0.1 <= temperature <= 3:
            raise ValueError(f"temperature ({temperature}) must be from 0.1 to 3")
        if top_k < 0:
            raise ValueError(f"top_k ({top_k}) must be 0, for all, or more")
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p ({top_p}) must be above 0 and at most 1")
        super().__init__(
            logits=list(logits),
            pieces=list(pieces),
            context=context,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=0,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: temperature, top-k and top-p over {len(self.logits)} tokens"
