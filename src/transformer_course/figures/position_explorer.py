"""The interactive figure of chapter 05: the table of positions, and its pairs as points on a circle."""

import anywidget
import traitlets

from transformer_course.figures.widget import joined

MOST = {"length": 64, "amplitude": 1.5}


class PositionExplorer(anywidget.AnyWidget):
    """Sliders for position, dimension, offset, length and amplitude; heat map, wave and circle follow.

    The circle shows one pair of dimensions: across the cosine, upwards the sine. Its point can be dragged: one
    position further is always the same turn. Everything is computed in the browser, so the figure also works in
    a built page, where no Python runs. In JupyterLab, the state is up to date on the Python side too.

    Args:
        position: row of the table, from 0.
        dimension: column of the table, from 0.
        offset: how many positions further the second point of the circle is.
        length: number of positions, 4 to 64.
        amplitude: factor for all numbers of the table, 0 to 1.5.
        d_model: width of the table; even.

    Raises:
        ValueError: if a number is out of its range.

    >>> PositionExplorer(position=3)
    Interactive figure: positions of width 16 on the circle
    """

    _esm = joined("position_explorer", "js")
    _css = joined("position_explorer", "css")

    position = traitlets.Int().tag(sync=True)
    dimension = traitlets.Int().tag(sync=True)
    offset = traitlets.Int().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    amplitude = traitlets.Float().tag(sync=True)
    d_model = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        position: int = 5,
        dimension: int = 2,
        offset: int = 3,
        length: int = 32,
        amplitude: float = 1.0,
        d_model: int = 16,
    ) -> None:
        if d_model < 2 or d_model % 2:
            raise ValueError(f"d_model ({d_model}) must be even and 2 or more")
        for name, value, low, high in (
            ("length", length, 4, MOST["length"]),
            ("amplitude", amplitude, 0, MOST["amplitude"]),
            ("position", position, 0, length - 1),
            ("dimension", dimension, 0, d_model - 1),
            ("offset", offset, 0, 10),
        ):
            if not low <= value <= high:
                raise ValueError(f"{name} ({value}) must be from {low} to {high}")
        super().__init__(
            position=position,
            dimension=dimension,
            offset=offset,
            length=length,
            amplitude=amplitude,
            d_model=d_model,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: positions of width {self.d_model} on the circle"
