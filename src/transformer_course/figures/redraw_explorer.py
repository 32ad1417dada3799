"""The interactive figure of chapter 15: a test set drawn again and again, with the scores of all draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from transformer_course.figures.widget import joined

# With four sentences in the first set, the first three draws are those of chapter 15's table by hand.
SEED = 3817
MOST = 5000  # draws that the figure keeps


class RedrawExplorer(anywidget.AnyWidget):
    """The bootstrap: draw a test set again, see the score of each draw, and the middle 95 % of all scores.

    The idea is from Efron 1979, its use for translations from Koehn 2004.

    All is computed in the browser, so the figure also works in a built page. In JupyterLab, the state is up to
    date on the Python side too.

    Args:
        sets: the test sets to choose from; each with "name", and for each of its sentences "found", the words
            that are in the reference, and "total", all words.
        seed: start of the random numbers: the same seed gives the same draws.
        draws: how many draws are shown at first, 0 to 5,000.

    Raises:
        ValueError: if there is no set, one has no sentence or not as many numbers in both lists, a total is
            below 1, a found is not from 0 to its total, the seed is negative, or draws is out of range.

    >>> RedrawExplorer([{"name": "4 sentences", "found": [0, 9, 8, 3], "total": [1, 10, 8, 11]}])
    Interactive figure: 1 test set, drawn again
    """

    _esm = joined("redraw_explorer", "js")
    _css = joined("redraw_explorer", "css")

    sets: traitlets.List[Any] = traitlets.List().tag(sync=True)
    chosen = traitlets.Int().tag(sync=True)
    seed = traitlets.Int().tag(sync=True)
    draws = traitlets.Int().tag(sync=True)

    def __init__(self, sets: Sequence[Mapping[str, Any]], seed: int = SEED, draws: int = 0) -> None:
        if not sets:
            raise ValueError("sets is empty; there must be at least one")
        if seed < 0:
            raise ValueError(f"seed ({seed}) must be 0 or more")
        if not 0 <= draws <= MOST:
            raise ValueError(f"draws ({draws}) must be from 0 to {MOST}")
        super().__init__(sets=[_checked(s) for s in sets], chosen=0, seed=seed, draws=draws)

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        count = len(self.sets)
        return f"Interactive figure: {count} test set{'s' * (count > 1)}, drawn again"


def _checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """One test set in plain numbers, or an error that names the sentence."""
    name, found, total = given["name"], given["found"], given["total"]
    if len(found) != len(total) or not len(found):
        raise ValueError(
            f"found ({len(found)} numbers) of {name!r} must be as many as total ({len(total)}), "
            "at least one"
        )
    for i, (part, whole) in enumerate(zip(found, total, strict=True)):
        if int(whole) != whole or whole < 1:
            raise ValueError(
                f"total ({whole}) of sentence {i} of {name!r} must be a whole number, 1 or more"
            )
        if int(part) != part or not 0 <= part <= whole:
            raise ValueError(
                f"found ({part}) of sentence {i} of {name!r} must be a whole number from 0 to its "
                f"total ({whole})"
            )
    return {"name": name, "found": [int(x) for x in found], "total": [int(x) for x in total]}
