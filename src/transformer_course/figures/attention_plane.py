"""The interactive figure of chapter 01: a query that is dragged in the plane of the keys."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

WORDS = ("cat", "mat", "on", "the")
KEYS = ((3.0, 0.5), (0.6, 2.8), (-2.4, 1.4), (-1.6, -2.2))
VALUES = ((-2.8, -1.6), (2.4, -2.2), (2.8, 2.0), (-1.8, 2.6))


class AttentionPlane(anywidget.AnyWidget):
    """A query that is dragged among keys; scores, weights, output and entropy follow.

    Everything is computed in the browser, so the figure also works in a built page, where no Python runs. In
    JupyterLab, `query` and `scaled` are up to date on the Python side too.

    Args:
        query: two numbers between -4 and 4.
        scaled: whether scores are divided by the square root of d_k (here d_k is 2).
        names: a word for every entry.
        keys: two numbers for every entry.
        values: two numbers for every entry.
        axes: what the two numbers of a key mean.

    Raises:
        ValueError: if names, keys and values differ in number, or a vector has not two numbers.

    >>> AttentionPlane(query=(1.0, 2.0))
    Interactive figure: a query among the keys cat, mat, on, the
    """

    _esm = joined("attention_plane", "js")
    _css = joined("attention_plane", "css")

    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key_vectors = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    value_vectors = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True)
    axes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.List(traitlets.Float()).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)

    def __init__(
        self,
        query: tuple[float, float] = (2.0, 1.0),
        scaled: bool = True,
        names: tuple[str, ...] = WORDS,
        keys: tuple[tuple[float, ...], ...] = KEYS,
        values: tuple[tuple[float, ...], ...] = VALUES,
        axes: tuple[str, str] = ("living", "thing"),
    ) -> None:
        if not len(names) == len(keys) == len(values) >= 1:
            raise ValueError(
                "names, keys and values must be equally many, at least one, got "
                f"{len(names)}, {len(keys)} and {len(values)}"
            )
        for name, vectors in (("query", (query,)), ("keys", keys), ("values", values)):
            for vector in vectors:
                if len(vector) != 2:
                    raise ValueError(f"{name} must have two numbers each, got {tuple(vector)}")
        super().__init__(
            names=list(names),
            key_vectors=[list(key) for key in keys],
            value_vectors=[list(value) for value in values],
            axes=list(axes),
            query=list(query),
            scaled=scaled,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: a query among the keys {', '.join(self.names)}"
