"""One step of a decoder that looks back, as a picture in which vectors flow: drawn for chapter 00."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.figures import flow
from transformer_course.figures.palette import QUERY, QUIET, VALUE, VALUE_TEXT, drawn

AT_END = ("right", "center")
LEFT = 1.4  # edge of the encoder's states; their names are written before it


@drawn
def look_back_flow(
    state: float,
    states: Sequence[Sequence[float]],
    scores: Sequence[float],
    weights: Sequence[float],
    context: Sequence[float],
) -> Figure:
    """Draw one step of a decoder that looks back: scores, weights, context, and the next state.

    Args:
        state: the decoder's, of width 1, before the word is written.
        states: (src_len, d), the encoder's.
        scores: (src_len,).
        weights: (src_len,).
        context: (d,).

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many scores and weights as states of the encoder.

    >>> figure = look_back_flow(1, [[1], [0]], [2, 0], [0.9, 0.1], [0.9])
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text().startswith(".")]
    ['.90', '.10', '.900']
    """
    n, d = len(states), len(context)
    end = LEFT + d
    compare, score, divide, weight, value = (end + far for far in (0.9, 1.9, 3.8, 4.8, 6.7))
    foot, tall = 4.3 + 1.3 * n, 1.3 * n - 0.1
    figure, axes = flow.canvas(value + d + 0.4, foot + 6.7)
    _look_back_names(axes, (score, weight, value), n, d)
    flow.numbers(axes, (LEFT, 0.9), [[state]], QUERY, 3)
    flow.path(axes, [(LEFT + 1.1, 1.4), (compare, 1.4), (compare, 3.9)], QUERY)
    flow.box(axes, (compare, 4.0 + tall / 2), (0.9, tall), "$a(s, h)$", upright=True, formula=True)
    flow.box(axes, (divide, 4.0 + tall / 2), (0.9, tall), "softmax", upright=True)
    for row, (h, fit, share) in enumerate(zip(states, scores, weights, strict=True)):
        y = 4.1 + 1.3 * row
        flow.words(axes, (LEFT - 0.2, y + 0.5), f"$h_{row + 1}$", align=AT_END, formula=True)
        flow.numbers(axes, (LEFT, y), [h], VALUE)
        for start in (end, compare + 0.45, score + 1, divide + 0.45):
            flow.arrow(axes, (start + 0.05, y + 0.5), (start + 0.5, y + 0.5))
        flow.numbers(axes, (score, y), [[fit]], QUIET)
        flow.numbers(axes, (weight, y), [[share]], QUERY, 2, [[0.15 + 0.85 * share]])
        flow.words(axes, (value - 0.45, y + 0.5), "×")
        flow.numbers(axes, (value, y), [h], VALUE, 0, [[0.1 + 0.5 * share] * d])
    _next_state(axes, (value, foot), state, context)
    return figure


def _look_back_names(
    axes: Axes, lefts: tuple[float, float, float], src_len: int, width: int
) -> None:
    """Name state, scores, weights and the encoder's states, each with its shape."""
    score, weight, value = lefts
    for y, x, text, colour in (
        (0.7, LEFT + 0.9, "state $s_{i-1}$ (1)", QUERY),
        (3.8, LEFT + width / 2, f"memory\n({src_len}, {width})", VALUE_TEXT),
        (3.8, score + 0.5, f"scores\n({src_len})", QUIET),
        (3.8, weight + 0.5, f"weights\n({src_len})", QUERY),
        (3.8, value + width / 2, f"memory\n({src_len}, {width})", VALUE_TEXT),
    ):
        flow.words(axes, (x, y), text, colour, ("center", "bottom"), bold=True, formula=True)


def _next_state(axes: Axes, corner: flow.Point, state: float, context: Sequence[float]) -> None:
    """Draw the context below the states, and the GRU that makes the next state of it."""
    left, top = corner
    middle = left + len(context) / 2
    flow.arrow(axes, (middle, top - 0.1), (middle, top + 1.1), VALUE)
    flow.words(axes, (middle - 0.3, top + 0.5), "add up", align=AT_END)
    flow.numbers(axes, (left, top + 1.2), [context], VALUE, 3)
    name = f"context $c_i$ ({len(context)})"
    flow.words(axes, (left - 0.3, top + 1.7), name, VALUE_TEXT, align=AT_END, formula=True)
    y = top + 4.1  # of the GRU
    flow.arrow(axes, (middle, top + 2.3), (middle, y - 0.6), VALUE)
    flow.box(axes, (middle, y), (2.2, 1.0), "GRU")
    flow.numbers(axes, (left - 2.6, y - 0.5), [[state]], QUERY, 3)
    flow.words(axes, (left - 2.8, y), "state $s_{i-1}$ (1)", QUERY, AT_END, formula=True)
    flow.arrow(axes, (left - 1.5, y), (middle - 1.2, y), QUERY)
    flow.words(
        axes, (left - 1.6, y + 1.6), "word before, $y_{i-1}$ (d)", align=AT_END, formula=True
    )
    flow.path(axes, [(left - 1.5, y + 1.6), (middle - 0.6, y + 1.6), (middle - 0.6, y + 0.6)])
    flow.path(axes, [(middle + 0.5, y + 0.5), (middle + 0.5, y + 1.7)], QUERY)
    flow.words(axes, (middle + 0.5, y + 2.2), "$s_i$ (1)", QUERY, bold=True, formula=True)
