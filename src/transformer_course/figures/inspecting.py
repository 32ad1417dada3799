"""Activation patching as a picture in which vectors flow, drawn for chapter 10."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_course.figures import flow
from transformer_course.figures.palette import INK, KEY, KEY_TEXT, QUERY, QUIET, drawn

LEFT, STEP, ROW = 2.6, 2.7, 1.7  # edge of the first vector; from word to word; from layer to layer
WIDTH, HEIGHT = 1.6, 0.7  # of a vector
AT_END = ("right", "center")


@drawn
def patching_flow(
    words: Sequence[str],
    others: Sequence[str],
    place: int,
    layer: int,
    answers: tuple[str, str],
    n_layers: int = 2,
) -> Figure:
    """Draw two runs of a model, one above the other, and a vector that is carried from the upper to the lower.

    Args:
        words: some words of the sentence that is run.
        others: those of the other sentence, as many.
        place: whose vector is carried over, an index into `words`.
        layer: after which layer, counted from 1.
        answers: what the model says without and with the carried vector.
        n_layers: layers of the model.

    Returns:
        The figure.

    Raises:
        ValueError: if there aren't as many words in both, or the place or the layer doesn't exist.

    >>> figure = patching_flow(["it", "tired"], ["it", "wide"], 1, 2, ("il", "elle"))
    >>> [text.get_text() for text in figure.axes[0].texts if "?" in text.get_text()]
    ['il?  elle?']
    """
    if len(words) != len(others):
        raise ValueError(f"others ({len(others)}) must be as many as words ({len(words)})")
    if not 0 <= place < len(words) or not 1 <= layer <= n_layers:
        raise ValueError(
            f"place ({place}) must be an index of the {len(words)} words, layer ({layer}) 1 to {n_layers}"
        )
    tall = ROW * n_layers + 2.2
    figure, axes = flow.canvas(LEFT + STEP * len(words), 2 * tall + 3.5)
    own, other = (QUERY, QUERY), (KEY, KEY_TEXT)
    _run(axes, 0.6, "other run", others, other, n_layers, (place, n_layers + 1))
    _run(axes, tall + 1.4, "this run", words, own, n_layers, (place, layer))
    x = LEFT + STEP * place + WIDTH
    start, end = (top + 1.2 + ROW * layer for top in (0.6, tall + 1.4))
    middle = x + 0.55
    flow.path(axes, [(x, start), (middle, start), (middle, end), (x + 0.05, end)], KEY, 2.4)
    x, y = LEFT + STEP * len(words) / 2 - 0.5, 2 * tall + 1.5
    flow.box(axes, (x, y), (3.6, 0.9), "decoder")
    flow.arrow(axes, (x, y + 0.5), (x, y + 1.0))
    flow.words(axes, (x, y + 1.5), "?  ".join(answers) + "?", bold=True)
    return figure


def _run(
    axes: Axes,
    top: float,
    name: str,
    words: Sequence[str],
    colours: tuple[str, str],
    n_layers: int,
    carried: tuple[int, int],
) -> None:
    """Draw the words of one run with their vectors; one carried over has the colour of where it is from."""
    flow.words(axes, (LEFT - 0.3, top), name, colours[1], AT_END, bold=True)
    for column, word in enumerate(words):
        x = LEFT + STEP * column
        flow.words(axes, (x + WIDTH / 2, top), word, INK)
        for layer in range(n_layers + 1):
            y = top + 1.2 + ROW * layer
            if layer:
                flow.arrow(
                    axes, (x + WIDTH / 2, y - ROW + HEIGHT / 2), (x + WIDTH / 2, y - HEIGHT / 2)
                )
            place, start = carried
            foreign = column == place and layer == start
            colour = KEY if foreign else colours[0]
            face = flow.tint(colour, 0.75 if foreign else 0.3)
            axes.add_patch(
                Rectangle(
                    (x, y - HEIGHT / 2), WIDTH, HEIGHT, facecolor=face, edgecolor=colour, lw=1.2
                )
            )
            if not column:
                said = f"layer {layer}" if layer else "embedding"
                flow.words(axes, (LEFT - 0.3, y), said, QUIET, AT_END, size=11)
