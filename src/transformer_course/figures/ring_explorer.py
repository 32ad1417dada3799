"""The interactive figure of chapter 14: a sum over workers, sent round a ring step by step."""

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from transformer_course.figures.widget import joined

MOST = 6  # workers
PARTS = (
    (3, 1, 4, 2, 5, 7),
    (2, 6, 1, 8, 3, 4),
    (5, 2, 7, 1, 6, 2),
    (1, 4, 3, 5, 2, 8),
    (6, 3, 2, 4, 7, 1),
    (4, 5, 6, 3, 1, 3),
)


class RingExplorer(anywidget.AnyWidget):
    """Ring all-reduce: who sends which chunk, what each worker has, how many numbers were sent.

    The algorithm is that of Patarasuk and Yuan 2009, as `ring_steps` does it. Each worker has 60 numbers. Of
    each chunk the figure shows the first number; with the others happens the same.

    All is computed in the browser, so the figure also works in a built page. In JupyterLab, the state is up to
    date on the Python side too.

    Args:
        workers: how many there are at first, 2 to 6.
        step: which step is shown at first, 0 to 2 · (workers − 1).
        parts: for each of six workers the first numbers of its six chunks; fewer workers use the first ones.

    Raises:
        ValueError: if `parts` isn't six rows of six whole numbers from 0 to 99, or another number is out of
            range.

    >>> RingExplorer()
    Interactive figure: ring all-reduce with 2 to 6 workers
    """

    _esm = joined("ring_explorer", "js")
    _css = joined("ring_explorer", "css")

    parts: traitlets.List[Any] = traitlets.List().tag(sync=True)
    workers = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self, workers: int = 4, step: int = 0, parts: Sequence[Sequence[int]] = PARTS
    ) -> None:
        if [len(part) for part in parts] != [MOST] * MOST:
            raise ValueError(f"parts must be {MOST} rows of {MOST} numbers")
        for part in parts:
            for number in part:
                if int(number) != number or not 0 <= number <= 99:
                    raise ValueError(
                        f"parts has the number {number}; it must be a whole number from 0 to 99"
                    )
        if not 2 <= workers <= MOST:
            raise ValueError(f"workers ({workers}) must be from 2 to {MOST}")
        if not 0 <= step <= 2 * (workers - 1):
            raise ValueError(f"step ({step}) must be from 0 to {2 * (workers - 1)}")
        plain = [[int(number) for number in part] for part in parts]
        super().__init__(parts=plain, workers=workers, step=step)

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: ring all-reduce with 2 to {MOST} workers"
