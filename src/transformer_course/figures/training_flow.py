"""One step of training as a circle of boxes with the shapes of what flows, drawn for chapter 07."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.figures import flow
from transformer_course.figures.palette import KEY_TEXT, QUIET, VALUE, VALUE_TEXT, drawn

STEPS = ("batch", "logits", "loss", "gradient", "clip", "adam", "weights")
LEFT, MIDDLE, RIGHT = 2.3, 7.5, 12.7  # the middles of the boxes, three above and three below
ABOVE, BETWEEN, BELOW = 1.2, 5.0, 7.2


@drawn
def training_flow(shapes: Mapping[str, str]) -> Figure:
    """Draw one step of training: from a batch to a loss, and back to the weights.

    Args:
        shapes: what to write beside each of "batch", "logits", "loss", "gradient", "clip", "adam" and
            "weights", in one line or more.

    Returns:
        The figure.

    Raises:
        ValueError: if one of the seven is missing.

    >>> figure = training_flow(dict.fromkeys(STEPS, "(7)"))
    >>> sum(text.get_text() == "(7)" for text in figure.axes[0].texts)
    7
    """
    if missing := [name for name in STEPS if name not in shapes]:
        raise ValueError(f"shapes lacks {', '.join(missing)}")
    figure, axes = flow.canvas(15, 9.6)
    _boxes_and_arrows(axes)
    for name, (x, y), colour in (
        ("batch", (LEFT, ABOVE + 1.1), QUIET),
        ("logits", (9.9, ABOVE + 1.1), QUIET),
        ("loss", (RIGHT - 0.3, BETWEEN - 0.6), KEY_TEXT),
        ("gradient", (RIGHT, BELOW + 1.1), QUIET),
        ("clip", (MIDDLE, BELOW + 1.1), QUIET),
        ("adam", (LEFT, BELOW + 1.1), QUIET),
        ("weights", (LEFT + 0.4, BETWEEN + 0.6), VALUE_TEXT),
    ):
        side = {"loss": "right", "weights": "left"}.get(name, "center")
        for line, part in enumerate(shapes[name].split("\n")):
            flow.words(axes, (x, y + 0.7 * line), part, colour, (side, "center"), size=11)
    return figure


def _boxes_and_arrows(axes: Axes) -> None:
    """Grey is the way to the loss, green the way back."""
    for x, y, text in (
        (LEFT, ABOVE, "1  batch"),
        (MIDDLE, ABOVE, "2  model"),
        (RIGHT, ABOVE, "3  compare"),
        (RIGHT, BELOW, "4  gradient"),
        (MIDDLE, BELOW, "5  clip"),
        (LEFT, BELOW, "5  Adam"),
    ):
        flow.box(axes, (x, y), (3.6, 1.3), text)
    flow.arrow(axes, (LEFT + 1.85, ABOVE), (MIDDLE - 1.85, ABOVE))
    flow.arrow(axes, (MIDDLE + 1.85, ABOVE), (RIGHT - 1.85, ABOVE))
    flow.arrow(axes, (RIGHT, ABOVE + 0.7), (RIGHT, BELOW - 0.7), VALUE)
    flow.arrow(axes, (RIGHT - 1.85, BELOW), (MIDDLE + 1.85, BELOW), VALUE)
    flow.arrow(axes, (MIDDLE - 1.85, BELOW), (LEFT + 1.85, BELOW), VALUE)
    way = [
        (LEFT, BELOW - 0.7),
        (LEFT, BETWEEN),
        (MIDDLE - 0.6, BETWEEN),
        (MIDDLE - 0.6, ABOVE + 0.75),
    ]
    flow.path(axes, way, VALUE)
    flow.words(
        axes, (LEFT + 0.4, BETWEEN - 0.6), "new weights", VALUE_TEXT, ("left", "center"), bold=True
    )
