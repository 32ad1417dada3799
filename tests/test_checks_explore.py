"""What the sliders of an exercise notebook call."""

from typing import Any

import numpy as np
import pytest
import torch

from transformer_course import attention
from transformer_course.checks.attention.scaled_dot_product import reference
from transformer_course.checks.explore import KEYS, attention_table


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
