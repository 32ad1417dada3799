"""Attention as a picture in which vectors flow, drawn for chapter 01."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.figures import flow
from transformer_course.figures.palette import KEY, KEY_TEXT, QUERY, QUIET, VALUE, VALUE_TEXT, drawn

AT_END = ("right", "center")
FLOW_KEYS = 1.4  # left edge of the keys in the picture of the flow; their names stand before it


@drawn
def attention_flow(
    query: Sequence[float],
    keys: Mapping[str, Sequence[float]],
    scores: Sequence[float],
    weights: Sequence[float],
    values: Sequence[Sequence[float]],
    output: Sequence[float],
) -> Figure:
    """Draw how one query becomes one output: scores, weights, and the weighted sum of the values.

    Args:
        query: (d_k,).
        keys: (d_k,) for each name.
        scores: (k_len,), after the division by the root of d_k.
        weights: (k_len,).
        values: (k_len, d_v).
        output: (d_v,).

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many scores, weights and values as keys.

    >>> figure = attention_flow([2], {"a": [1], "b": [0]}, [2, 0], [0.9, 0.1], [[1], [0]], [0.9])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith(".")]
    ['.90', '.10']
    """
    d_k, k_len, d_v = len(query), len(keys), len(output)
    end = FLOW_KEYS + d_k  # of the keys; the columns follow, each so far behind it
    places = (end + 0.9, end + 1.9, end + 3.8, end + 4.8, end + 6.7)
    compare, score, divide, weight, value = places
    foot = 3.5 + 1.3 * k_len
    figure, axes = flow.canvas(value + d_v + 0.2, foot + 2.9)
    _flow_names(axes, (score, weight, value), (d_k, k_len, d_v))
    flow.numbers(axes, (FLOW_KEYS, 0.9), [query], QUERY)
    flow.path(axes, [(end + 0.1, 1.4), (compare, 1.4), (compare, 3.1)], QUERY)
    tall = 1.3 * k_len - 0.1
    does = r"dot, $\div\sqrt{d_k}$"
    flow.box(axes, (compare, 3.2 + tall / 2), (0.9, tall), does, upright=True, formula=True)
    flow.box(axes, (divide, 3.2 + tall / 2), (0.9, tall), "softmax", upright=True)
    rows = zip(keys.items(), scores, weights, values, strict=True)
    for row, ((name, key), fit, share, content) in enumerate(rows):
        y = 3.3 + 1.3 * row
        flow.words(axes, (FLOW_KEYS - 0.2, y + 0.5), name, align=AT_END)
        flow.numbers(axes, (FLOW_KEYS, y), [key], KEY)
        for start in (end, compare + 0.45, score + 1, divide + 0.45):
            flow.arrow(axes, (start + 0.05, y + 0.5), (start + 0.5, y + 0.5))
        flow.numbers(axes, (score, y), [[fit]], QUIET)
        flow.numbers(axes, (weight, y), [[share]], QUERY, 2, [[0.15 + 0.85 * share]])
        flow.words(axes, (value - 0.45, y + 0.5), "×")
        flow.numbers(axes, (value, y), [content], VALUE, 0, [[0.1 + 0.5 * share] * d_v])
    _flow_output(axes, (value, foot), output)
    return figure


def _flow_output(axes: Axes, corner: flow.Point, output: Sequence[float]) -> None:
    """Draw the sum below the values."""
    left, top = corner
    middle = left + len(output) / 2
    flow.arrow(axes, (middle, top - 0.1), (middle, top + 1.1), VALUE)
    flow.words(axes, (middle - 0.3, top + 0.5), "add up", align=AT_END)
    flow.numbers(axes, (left, top + 1.2), [output], VALUE)
    flow.words(axes, (left - 0.3, top + 1.7), f"output ({len(output)})", VALUE_TEXT, align=AT_END)


def _flow_names(axes: Axes, lefts: tuple[float, float, float], sizes: tuple[int, int, int]) -> None:
    """Name query, keys, scores, weights and values, each with its shape."""
    (score, weight, value), (d_k, k_len, d_v) = lefts, sizes
    over_keys = FLOW_KEYS + d_k / 2
    for y, x, text, colour in (
        (0.7, over_keys, f"query ({d_k})", QUERY),
        (3.0, over_keys, f"keys ({k_len}, {d_k})", KEY_TEXT),
        (3.0, score + 0.5, f"scores\n({k_len})", QUIET),
        (3.0, weight + 0.5, f"weights\n({k_len})", QUERY),
        (3.0, value + d_v / 2, f"values\n({k_len}, {d_v})", VALUE_TEXT),
    ):
        flow.words(axes, (x, y), text, colour, ("center", "bottom"), bold=True)
