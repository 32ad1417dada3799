"""A sub-layer as a picture in which one token's vector flows, drawn for chapter 06."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.figures import flow
from transformer_course.figures.palette import INK, QUIET, drawn

COLUMN = 5.9  # middle of what the sub-layer computes
LANE = 1.6  # middle of the residual connection
STEP = 2.9  # from one vector to the next one below


@drawn
def feed_forward_flow(
    token: Sequence[float],
    inner: Sequence[float],
    active: Sequence[float],
    thought: Sequence[float],
    added: Sequence[float],
    output: Sequence[float],
) -> Figure:
    """Draw how one token passes the feed-forward network, the residual connection and layer norm.

    Args:
        token: (d_model,).
        inner: (d_ff,), before the ReLU.
        active: (d_ff,), after it; squares of silent numbers, 0, are white.
        thought: (d_model,), what the network gives.
        added: (d_model,), the sum of token and thought.
        output: (d_model,), the sum after layer norm.

    Returns:
        The figure.

    Raises:
        ValueError: if the vectors of one width don't have the same length.

    >>> figure = feed_forward_flow([2], [1, -1], [1, 0], [3], [5], [0])
    >>> [text.get_text() for text in figure.axes[0].texts if "(" in text.get_text()]
    ['token (1)', 'inside (2)', 'active (2)', 'thought (1)', 'sum (1)', 'output (1)']
    """
    if len({*map(len, (token, thought, added, output))}) > 1 or len(inner) != len(active):
        raise ValueError(
            f"token ({len(token)}), thought ({len(thought)}), added ({len(added)}) and output ({len(output)}) "
            f"must have one length, and inner ({len(inner)}) and active ({len(active)}) another"
        )
    figure, axes = flow.canvas(13.2, 5 * STEP + 1.3)
    steps = ("times $W_1$, plus $b_1$", "ReLU", "times $W_2$, plus $b_2$", "+", "layer norm")
    names = ("token", "inside", "active", "thought", "sum", "output")
    vectors = (token, inner, active, thought, added, output)
    for row, (name, vector) in enumerate(zip(names, vectors, strict=True)):
        wide = name in ("inside", "active")
        _vector(axes, STEP * row + 0.2, vector, name, QUIET if wide else INK)
    for row, step in enumerate(steps):
        _step(axes, STEP * row + 1.2, step)
    left = COLUMN - len(token) / 2
    plus = 3 * STEP + 1.95
    flow.path(axes, [(left, 0.7), (LANE, 0.7), (LANE, plus), (COLUMN - 0.5, plus)], INK, 3)
    flow.words(axes, (LANE - 0.5, plus / 2), "residual connection", upright=True)
    return figure


def _vector(axes: Axes, top: float, vector: Sequence[float], name: str, colour: str) -> None:
    """Draw one vector in the middle of its column, its name and shape beside it."""
    strengths = [[0.22 if number else 0.0 for number in vector]]
    flow.numbers(axes, (COLUMN - len(vector) / 2, top), [vector], colour, strengths=strengths)
    flow.words(
        axes, (8.4, top + 0.5), f"{name} ({len(vector)})", colour, ("left", "center"), bold=True
    )


def _step(axes: Axes, top: float, text: str) -> None:
    """Draw what makes the next vector, with an arrow in and an arrow out."""
    middle = top + 0.75
    size = (1.0, 0.8) if text == "+" else (5.6, 0.8)
    flow.arrow(axes, (COLUMN, top), (COLUMN, middle - 0.4))
    flow.box(axes, (COLUMN, middle), size, text, formula=True)
    flow.arrow(axes, (COLUMN, middle + 0.4), (COLUMN, top + STEP - 1.0))
