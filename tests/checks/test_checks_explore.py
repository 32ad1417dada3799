"""What the sliders of an exercise notebook call."""

from typing import Any

import numpy as np
import pytest
import torch

from transformer_course import attention
from transformer_course.checks.attention.scaled_dot_product import reference
from transformer_course.checks.explore import KEYS, attention_table
from transformer_course.checks.multi30k import interval, redrawn_precisions
from transformer_course.checks.multi30k.explore import width_table


def unwritten(queries: Any, keys: Any, values: Any) -> Any:
    raise NotImplementedError


def with_torch(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> Any:
    return attention.scaled_dot_product_attention(queries, keys, values)


@pytest.mark.parametrize("attend", [reference, with_torch])
def test_weights_and_output_of_the_learners_function(
    attend: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    attention_table(attend, angle=90, length=20)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "query = (0.00, 20.00)"
    weights = [float(line.split("weight ")[1].split()[0]) for line in lines[1:-1]]
    scores = 20 * KEYS[:, 1] / np.sqrt(2)
    assert weights == pytest.approx(np.exp(scores) / np.exp(scores).sum(), abs=0.006)
    assert lines[2].endswith("weight 0.50 " + "#" * 15)
    assert lines[-1] == "output = 25.0"


@pytest.mark.parametrize("attend", [unwritten, lambda *_: None, lambda *_: (1.0, 2.0), 3])
def test_an_unfinished_function_gets_a_sentence(
    attend: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    attention_table(attend)
    assert capsys.readouterr().out == (
        "The sliders come to life when scaled_dot_product_attention passes its check.\n"
    )


def redrawn_with_torch(found: torch.Tensor, total: torch.Tensor, draws: torch.Tensor) -> Any:
    return found[draws].sum(dim=1) / total[draws].sum(dim=1)


def interval_with_torch(scores: torch.Tensor, one_in: int) -> Any:
    ordered = scores.sort().values
    return ordered[len(scores) // one_in], ordered[-1 - len(scores) // one_in]


@pytest.mark.parametrize("redrawn", [redrawn_precisions.reference, redrawn_with_torch])
@pytest.mark.parametrize("ends", [interval.reference, interval_with_torch])
def test_the_interval_narrows_with_the_root_of_the_number_of_sentences(
    redrawn: Any, ends: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    width_table(redrawn, ends, 400, 0.3)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["100", "400", "1600"]
    rows = [(line.split("sentences: ")[1]).split() for line in lines]
    low, high, width = (np.array([float(row[i].strip(",")) for row in rows]) for i in (0, 2, 4))
    assert width == pytest.approx(high - low, abs=0.0015)
    assert (width[:-1] / width[1:]).tolist() == pytest.approx([2, 2], rel=0.25)
    assert ((low < 0.33) & (high > 0.27)).all()
    assert [row[5] for row in rows] == ["#" * round(200 * w) for w in width]


@pytest.mark.parametrize("redrawn", [unwritten, lambda *_: None, lambda *_: np.ones(3), 3])
def test_no_interval_without_the_scores_of_the_draws(
    redrawn: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    width_table(redrawn, interval.reference)
    assert "come to life when redrawn_precisions passes" in capsys.readouterr().out


@pytest.mark.parametrize("ends", [unwritten, lambda *_: None, lambda *_: (np.ones(2), 1.0), 3])
def test_no_interval_without_its_ends(ends: Any, capsys: pytest.CaptureFixture[str]) -> None:
    width_table(redrawn_precisions.reference, ends)
    assert "come to life when interval passes" in capsys.readouterr().out
