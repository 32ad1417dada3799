"""The figure of chapter 14 keeps what is chosen, and refuses what there is not."""

import pytest

from transformer_course import figures


def test_the_ring_keeps_what_is_chosen() -> None:
    figure = figures.RingExplorer(workers=5, step=3)
    state = figure.get_state()
    assert (state["workers"], state["step"]) == (5, 3)
    assert repr(figure) == "Interactive figure: 5 workers on a ring"
    assert "export default { render }" in state["_esm"]


@pytest.mark.parametrize(
    ("workers", "step", "words"),
    [
        (1, 0, r"workers \(1\) must be from 2 to 6"),
        (7, 0, r"workers \(7\) must be from 2 to 6"),
        (3, 5, r"step \(5\) must be from 0 to 4"),
        (3, -1, r"step \(-1\) must be from 0 to 4"),
    ],
)
def test_the_ring_refuses_what_there_is_not(workers: int, step: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.RingExplorer(workers, step)
