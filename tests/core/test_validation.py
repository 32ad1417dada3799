"""Whole numbers in settings, with annotations that are types and with postponed ones, which are texts."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

from transformer_course.validation import check_whole_numbers


@dataclasses.dataclass(frozen=True)
class Postponed:
    """Its annotations are texts, as in any module that postpones them."""

    d_model: int
    pad_id: int = 0
    seed: int = 0
    dropout: float = 0.1
    tie: bool = True

    def __post_init__(self) -> None:
        check_whole_numbers(self, least={"pad_id": None, "seed": 0})


EAGER = dataclasses.make_dataclass(
    "Eager",
    [
        ("d_model", int),
        ("pad_id", int, 0),
        ("seed", int, 0),
        ("dropout", float, 0.1),
        ("tie", bool, True),
    ],
    namespace={"__post_init__": Postponed.__post_init__},
    frozen=True,
)
BOTH = pytest.mark.parametrize("config", [Postponed, EAGER])


def test_one_kind_of_annotation_is_text_and_the_other_a_type() -> None:
    kinds = [type(dataclasses.fields(config)[0].type) for config in (Postponed, EAGER)]
    assert kinds == [str, type]


@BOTH
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"d_model": 2.0}, "d_model (2.0) must be a whole number"),
        ({"d_model": "2"}, "d_model ('2') must be a whole number"),
        ({"d_model": True}, "d_model (True) must be a whole number"),
        ({"d_model": None}, "d_model (None) must be a whole number"),
        ({"d_model": np.float64(2)}, "must be a whole number"),
        ({"d_model": 0}, "d_model (0) must be 1 or more"),
        ({"d_model": 1, "pad_id": 0.0}, "pad_id (0.0) must be a whole number"),
        ({"d_model": 1, "seed": -1}, "seed (-1) must be 0 or more"),
    ],
)
def test_names_the_field_its_value_and_the_rule(config: Any, settings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        config(**settings)


@BOTH
def test_what_keeps_the_rules_goes_through(config: Any) -> None:
    assert config(1, pad_id=-1, seed=0, dropout=0, tie=1).pad_id == -1
    assert config(2**70).d_model == 2**70


def test_an_upper_limit_is_said_too() -> None:
    check_whole_numbers(Postponed(2**63 - 1), least={"pad_id": 0, "seed": 0}, bits=63)
    for value in (2**63, 0):
        config = dataclasses.replace(Postponed(1))
        object.__setattr__(config, "d_model", value)
        with pytest.raises(
            ValueError, match=rf"d_model \({value}\) must be 1 or more, and below 2\*\*63$"
        ):
            check_whole_numbers(config, least={"pad_id": 0, "seed": 0}, bits=63)


@pytest.mark.parametrize("name", ["dropout", "tie", "d_modell"])
def test_a_rule_for_no_field_is_refused(name: str) -> None:
    """A misspelt name would leave a field without its rule."""
    with pytest.raises(ValueError, match=rf"least \('{name}'\) must name a field of whole numbers"):
        check_whole_numbers(Postponed(1), least={name: 0})
