"""The interactive figure of chapter 07: a learning rate over the steps of training, with a knob on its peak."""

from typing import Literal

import anywidget
import traitlets

from transformer_course.figures.widget import joined

WIDTHS = (128, 256, 512, 1024)
FEWEST, MOST, STEPS = 1000, 16_000, 20_000  # warm-up steps, and the steps that are drawn


class RateExplorer(anywidget.AnyWidget):
    """The rate of eq. 3 of Vaswani et al. 2017, or a cosine, over 20,000 steps: drag its peak.

    All is computed in the browser, so the figure also works in a built page. In JupyterLab, the state is up to
    date on the Python side too.

    Args:
        schedule: "inverse_sqrt" (eq. 3) or "cosine".
        d_model: one of 128, 256, 512, 1024; sets the height of eq. 3.
        warmup_steps: from 1,000 to 16,000.
        peak_rate: highest rate of the cosine, above 0.
        step: the step whose rate is read off, from 1 to 20,000.

    Raises:
        ValueError: naming what is out of range.

    >>> RateExplorer(d_model=256)
    Interactive figure: the learning rate over 20000 steps
    """

    _esm = joined("rate_explorer", "js")
    _css = joined("rate_explorer", "css")

    schedule = traitlets.Unicode().tag(sync=True)
    d_model = traitlets.Int().tag(sync=True)
    warmup_steps = traitlets.Int().tag(sync=True)
    peak_rate = traitlets.Float().tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        schedule: Literal["inverse_sqrt", "cosine"] = "inverse_sqrt",
        d_model: int = 512,
        warmup_steps: int = 4000,
        peak_rate: float = 7e-4,
        step: int = 10_000,
    ) -> None:
        if schedule not in ("inverse_sqrt", "cosine"):
            raise ValueError(f"schedule ({schedule!r}) must be 'inverse_sqrt' or 'cosine'")
        if d_model not in WIDTHS:
            raise ValueError(f"d_model ({d_model}) must be one of {', '.join(map(str, WIDTHS))}")
        if not FEWEST <= warmup_steps <= MOST:
            raise ValueError(f"warmup_steps ({warmup_steps}) must be from {FEWEST} to {MOST}")
        if not 0 < peak_rate <= (d_model * FEWEST) ** -0.5:
            raise ValueError(
                f"peak_rate ({peak_rate}) must be above 0 and at most "
                f"{(d_model * FEWEST) ** -0.5:.2g}, the top of the figure"
            )
        if not 1 <= step <= STEPS:
            raise ValueError(f"step ({step}) must be from 1 to {STEPS}")
        super().__init__(
            schedule=schedule,
            d_model=d_model,
            warmup_steps=warmup_steps,
            peak_rate=peak_rate,
            step=step,
        )

    def __repr__(self) -> str:
        """The same text in every run: the usual one holds an address in memory."""
        return f"Interactive figure: the learning rate over {STEPS} steps"
