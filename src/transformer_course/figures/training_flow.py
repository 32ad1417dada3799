"""One step of training as a circle of boxes with the shapes of what flows, drawn for chapter 07."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from transformer_course.figures import flow
from transformer_course.figures.palette import KEY_TEXT, QUIET, VALUE, VALUE_TEXT, drawn

STEPS = ("batch", "logits", "loss", "gradient", "step")


@drawn
def training_flow(shapes: Mapping[str, str]) -> Figure:
    """Draw one step of training: from a batch to a loss, and back to the weights.

    Args:
        shapes: what to write below each of "batch", "logits", "loss", "gradient" and "step".

    Returns:
        The figure.

    Raises:
        ValueError: if one of the five is missing.

    >>> figure = training_flow(dict.fromkeys(STEPS, "(7)"))
    >>> sum(text.get_text() == "(7)" for text in figure.axes[0].texts)
    5
    """
    if missing := [name for name in STEPS if name not in shapes]:
        raise ValueError(f"shapes lacks {', '.join(missing)}")
    figure, axes = flow.canvas(15, 9.8)
    boxes = {  # name: middle, size, text
        "batch": ((2.2, 2.0), "1  batch"),
        "model": ((7.5, 2.0), "2  model: guess"),
        "loss": ((12.8, 2.0), "3  compare"),
        "gradient": ((12.8, 7.2), "4  gradient"),
        "step": ((7.5, 7.2), "5  clip, Adam"),
    }
    for (x, y), text in boxes.values():
        flow.box(axes, (x, y), (4.0, 1.3), text)
    flow.arrow(axes, (4.25, 2.0), (5.45, 2.0))
    flow.arrow(axes, (9.55, 2.0), (10.75, 2.0))
    flow.arrow(axes, (12.8, 2.7), (12.8, 6.5), VALUE)
    flow.arrow(axes, (10.75, 7.2), (9.55, 7.2), VALUE)
    flow.arrow(axes, (7.5, 6.5), (7.5, 2.75), VALUE)
    flow.words(axes, (7.2, 4.9), "new weights", VALUE_TEXT, ("right", "center"), True)
    for name, (x, y), colour in (
        ("batch", (2.2, 3.2), QUIET),
        ("logits", (10.1, 3.2), QUIET),
        ("loss", (12.5, 4.9), KEY_TEXT),
        ("gradient", (12.8, 8.4), QUIET),
        ("step", (7.5, 8.4), QUIET),
    ):
        align = ("right", "center") if name == "loss" else ("center", "center")
        for line, part in enumerate(shapes[name].split("\n")):
            flow.words(axes, (x, y + 0.7 * line), part, colour, align, size=11)
    return figure
