"""The interactive figure of chapter 02: one word of a sentence, and the six steps of its self-attention."""

from collections.abc import Sequence

import anywidget
import traitlets

from transformer_course.figures.widget import joined

Rows = Sequence[Sequence[float]]

WORDS = ("the", "cat", "eats", "fish")
FEATURES = ("animal", "food", "action", "small word")
X = ((0.0, 0.0, 0.0, 1.0), (2.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (1.0, 2.0, 0.0, 0.0))
W_QUERY = ((0.0, 1.0), (0.0, 1.0), (2.0, 0.0), (1.0, 0.0))  # looks for: an animal, an action
W_KEY = ((1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (0.0, 0.0))  # offers: an animal, an action
W_VALUE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


class SelfAttentionSteps(anywidget.AnyWidget):
    """A sentence in which one word is chosen; below it the six steps of its self-attention, with all numbers.

    Everything is computed in the browser, so the figure also works in a built page, where no Python runs. In
    JupyterLab, `chosen`, `order` and `shared` are up to date on the Python side too.

    Args:
        chosen: place of the word that asks, counted from 0 in `words`.
        words: the sentence.
        x: a vector of d_model numbers for each word.
        w_query: (d_model, d_k).
        w_key: (d_model, d_k).
        w_value: (d_model, d_v).

    Raises:
        ValueError: if the word isn't there, or numbers of words and widths don't fit together.

    >>> SelfAttentionSteps(chosen=2)
    Interactive figure: six steps of self-attention in "the cat eats fish"
    """

    _esm = joined("self_attention_steps", "js")
    _css = joined("self_attention_steps", "css")

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    vectors = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    w_query = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    w_key = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    w_value = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    chosen = traitlets.Int().tag(sync=True)
    order = traitlets.List(traitlets.Int()).tag(sync=True)
    shared = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        chosen: int = 2,
        words: Sequence[str] = WORDS,
        x: Rows = X,
        w_query: Rows = W_QUERY,
        w_key: Rows = W_KEY,
        w_value: Rows = W_VALUE,
    ) -> None:
        if not 0 <= chosen < len(words):
            raise ValueError(
                f"chosen ({chosen}) must be the place of one of the {len(words)} words"
            )
        if len(x) != len(words):
            raise ValueError(f"x must have a row for each of the {len(words)} words, got {len(x)}")
        d_model = len(x[0])
        for name, matrix in (("w_query", w_query), ("w_key", w_key), ("w_value", w_value)):
            if len(matrix) != d_model:
                raise ValueError(f"{name} must have d_model ({d_model}) rows, got {len(matrix)}")
        if len(w_query[0]) != len(w_key[0]):
            raise ValueError(
                "w_query and w_key must have the same width d_k, got "
                f"{len(w_query[0])} and {len(w_key[0])}"
            )
        super().__init__(
            words=list(words),
            vectors=[list(row) for row in x],
            w_query=[list(row) for row in w_query],
            w_key=[list(row) for row in w_key],
            w_value=[list(row) for row in w_value],
            chosen=chosen,
            order=list(range(len(words))),
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f'Interactive figure: six steps of self-attention in "{" ".join(self.words)}"'
