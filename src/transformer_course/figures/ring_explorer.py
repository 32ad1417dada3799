"""The interactive figure of chapter 14: gradients are summed round a ring of workers, step by step."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

MOST = 6  # workers


class RingExplorer(anywidget.AnyWidget):
    """Ring all-reduce (Patarasuk and Yuan 2009): what each worker has after each step, and what it has sent.

    Worker i begins with the number i in each of its chunks, counted from 1. All is computed in the browser, so
    the figure also works in a built page. In JupyterLab, the state is up to date on the Python side too.

    Args:
        workers: how many there are, 2 to 6.
        step: how many steps are done, 0 to 2 · (workers - 1).

    Raises:
        ValueError: if there is no such number of workers or steps.

    >>> RingExplorer(workers=3)
    Interactive figure: 3 workers on a ring
    """

    _esm = joined("ring_explorer", "js")
    _css = joined("ring_explorer", "css")

    workers = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(self, workers: int = 4, step: int = 0) -> None:
        if not 2 <= workers <= MOST:
            raise ValueError(f"workers ({workers}) must be from 2 to {MOST}")
        if not 0 <= step <= 2 * (workers - 1):
            raise ValueError(f"step ({step}) must be from 0 to {2 * (workers - 1)}")
        super().__init__(workers=workers, step=step)

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: {self.workers} workers on a ring"
