"""The interactive figure of chapter 09: beam search as a tree, one step at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from transformer_course.figures.widget import joined

WIDEST = 5


class BeamExplorer(anywidget.AnyWidget):
    """Beam search over stored log-probabilities: step through it, change the beam and the length penalty.

    All is computed in the browser, so the figure also works in a built page. In JupyterLab, the state is up to
    date on the Python side too.

    Args:
        trees: the sentences to choose from; each with "name", "right" (a right translation, or ""), "max_len",
            and "branches": for each beginning, its pieces joined by spaces, the best next pieces with their
            log-probabilities. "▁" at the start of a piece is a space, "</s>" ends a sentence.
        beam: hypotheses kept open, 1 to 5.
        alpha: strength of the length penalty (Wu et al. 2016, eq. 14), 0 to 2.
        step: how many steps are shown at first.

    Raises:
        ValueError: if there is no tree, a number is out of range, or a tree lacks its first branch.

    >>> tree = {"name": "tiny", "right": "", "max_len": 1, "branches": {"": {"▁oui": -0.1, "</s>": -2.3}}}
    >>> BeamExplorer([tree])
    Interactive figure: beam search as a tree, 1 sentence
    """

    _esm = joined("beam_explorer", "js")
    _css = joined("beam_explorer", "css")

    trees: traitlets.List[Any] = traitlets.List().tag(sync=True)
    tree = traitlets.Int().tag(sync=True)
    beam = traitlets.Int().tag(sync=True)
    alpha = traitlets.Float().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        trees: Sequence[Mapping[str, Any]],
        beam: int = 2,
        alpha: float = 0.6,
        step: int = 0,
    ) -> None:
        if not trees:
            raise ValueError("trees is empty; there must be at least one")
        for tree in trees:
            if not tree["branches"].get(""):
                raise ValueError(f"branches of {tree['name']!r} must hold the empty beginning")
        if not 1 <= beam <= WIDEST:
            raise ValueError(f"beam ({beam}) must be from 1 to {WIDEST}")
        if not 0 <= alpha <= 2:
            raise ValueError(f"alpha ({alpha}) must be from 0 to 2")
        if step < 0:
            raise ValueError(f"step ({step}) must be 0 or more")
        stored = [
            {
                **{key: tree[key] for key in ("name", "right", "max_len")},
                "branches": {
                    beginning: [[piece, value] for piece, value in nexts.items()]
                    for beginning, nexts in tree["branches"].items()
                },
            }
            for tree in trees
        ]
        super().__init__(trees=stored, tree=0, beam=beam, alpha=alpha, step=step)

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        count = len(self.trees)
        return f"Interactive figure: beam search as a tree, {count} sentence{'s' * (count > 1)}"
