"""The interactive figure of chapter 00: the way from one word to another through three kinds of layers."""

from __future__ import annotations

import anywidget
import traitlets

from transformer_course.figures.widget import joined

KINDS = ("recurrent", "convolution", "dilated convolution", "self-attention")
LONGEST = 16


class WordPaths(anywidget.AnyWidget):
    """How a signal gets from one word to another: through states, convolutions or attention; steps are counted.

    Everything is computed in the browser, so it also works in a built page, where no Python runs.
    In JupyterLab, what is chosen is up to date on the Python side too.

    Args:
        kind: which layers are drawn first, one of `KINDS`.
        n: how many words there are, 2 to 16.
        start: the word the way leads from, counted from 1.
        end: the word it leads to, counted from 1.
        kernel_size: words that one convolution sees: 3, 5 or 7.

    Raises:
        ValueError: if there is no such kind, number of words, word or width.

    >>> WordPaths(n=9, start=2, end=8)
    Interactive figure: from word 2 to word 8 of 9
    """

    _esm = joined("word_paths", "js")
    _css = joined("word_paths", "css")

    kind = traitlets.Unicode("recurrent").tag(sync=True)
    n = traitlets.Int(10).tag(sync=True)
    start = traitlets.Int(1).tag(sync=True)
    end = traitlets.Int(10).tag(sync=True)
    kernel_size = traitlets.Int(3).tag(sync=True)

    def __init__(
        self,
        *,
        kind: str = "recurrent",
        n: int = 10,
        start: int = 1,
        end: int = 10,
        kernel_size: int = 3,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind ({kind!r}) must be one of {', '.join(KINDS)}")
        if not 2 <= n <= LONGEST:
            raise ValueError(f"n ({n}) must be from 2 to {LONGEST}")
        for name, word in (("start", start), ("end", end)):
            if not 1 <= word <= n:
                raise ValueError(f"{name} ({word}) must be from 1 to n ({n})")
        if kernel_size not in (3, 5, 7):
            raise ValueError(f"kernel_size ({kernel_size}) must be 3, 5 or 7")
        super().__init__(kind=kind, n=n, start=start, end=end, kernel_size=kernel_size)

    def __repr__(self) -> str:
        """The same text in every run."""
        return f"Interactive figure: from word {self.start} to word {self.end} of {self.n}"
