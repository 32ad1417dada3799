"""Checks whose arguments hold arrays deep inside dictionaries and lists, and the parts they are made of."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from transformer_course.checks import encoder_decoder, for_tensors, functional, part
from transformer_course.checks.comparing import LINES, SHOWN, show
from transformer_course.checks.encoder_decoder import transformer as exercise
from transformer_course.checks.encoder_decoder.explore import depth_table, learn_one_sentence
from transformer_course.checks.encoder_decoder.model import right_encoder_layer
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Case, Exercise, Misconception
from transformer_course.checks.multi_head.multi_head_attention import draw, reference
from transformer_course.checks.running import in_depth, run
from transformer_course.encoder_decoder import Transformer, TransformerConfig

NESTED = {"a": np.ones(2), "b": [(np.zeros(3), 5), [np.ones(1)]]}


def total(weights: Any) -> Any:
    return weights["a"].sum() + weights["b"][0][0].sum() + weights["b"][1][0].sum()


SUM = Exercise(
    name="total",
    kind="implement",
    difficulty=1,
    minutes=1,
    statement="",
    returns=("sum",),
    reference=lambda x, weights: float(total(weights) + x.sum()),
    cases=(Case("ones", (np.ones(1), NESTED)),),
    misconceptions=(),
)


def test_arrays_in_dictionaries_become_tensors() -> None:
    def with_torch(x: torch.Tensor, weights: Any) -> Any:
        found: list[Any] = []
        in_depth(weights, lambda part: found.append(part))
        assert [torch.is_tensor(part) for part in found] == [True, True, False, True]
        return total(weights) + x.sum()

    assert judge(SUM, with_torch, ("torch",)).passed
    assert judge(SUM, lambda x, weights: total(weights) + x.sum(), ("numpy",)).passed


@pytest.mark.parametrize("place", ["a", "b"])
def test_a_change_deep_in_the_arguments_is_noticed(place: str) -> None:
    def changing(x: Any, weights: Any) -> Any:
        result = total(weights) + x.sum()
        (weights["a"] if place == "a" else weights["b"][0][0])[0] += 1
        return result

    assert "changes its inputs" in judge(SUM, changing).message
    assert NESTED["a"].tolist() == [1, 1]  # what it got was a copy


def test_an_entry_put_into_a_dictionary_is_noticed() -> None:
    outcome = run(lambda weights: weights.update(c=1), (NESTED,), 3.0)
    assert outcome.trouble == "changed"


def test_a_dictionary_with_a_large_array_is_shown_by_its_names() -> None:
    large = NESTED | {"b": np.ones(SHOWN + 1)}
    assert show("weights", large) == "weights: a dictionary with 'a', 'b'"


def test_a_dictionary_with_many_arrays_is_shown_by_its_names() -> None:
    many = {"a": [np.ones(1)] * (LINES + 1)}
    assert show("weights", many) == "weights: a dictionary with 'a'"


def test_a_dictionary_of_numbers_is_shown_whole() -> None:
    assert show("valid", {0.0: 38.1, 0.6: 39}) == "valid = {0.0: 38.1, 0.6: 39}"
    assert show("valid", {0.0: np.ones(1)}) == "valid[0.0] = [1.]"
    pair = {"a": (np.eye(2), [np.zeros(1)])}
    assert show("w", pair) == "w['a'][0] = [[1., 0.], [0., 1.]]\nw['a'][1][0] = [0.]"


DOUBLED = Exercise(
    name="doubled",
    kind="implement",
    difficulty=1,
    minutes=1,
    statement="",
    returns=("doubled",),
    reference=lambda weights: {name: 2.0 * array for name, array in weights.items()},
    cases=(Case("two names", ({"w": np.array([[1.0, 2.0]]), "b": np.array([3.0])},)),),
    misconceptions=(
        Misconception("squared", lambda weights: {n: x**2 for n, x in weights.items()}, "Twice?"),
    ),
)


def test_a_result_may_be_a_dictionary_in_any_order() -> None:
    assert judge(DOUBLED, lambda weights: {"b": 2 * weights["b"], "w": 2 * weights["w"]}).passed
    assert judge(
        DOUBLED, lambda weights: {n: torch.tensor(2 * x) for n, x in weights.items()}
    ).passed
    report = judge(DOUBLED, lambda weights: {"b": weights["b"] ** 2, "w": weights["w"] ** 2})
    assert report.misconception == "squared"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda weights: None, "Expected a dictionary, got None."),
        (lambda weights: {}, "`doubled`: expected the names 'w', 'b', got none."),
        (lambda weights: {"w": weights["w"]}, "expected the names 'w', 'b', got 'w'."),
        (lambda weights: list(weights.values()), "expected a dictionary, got a list of 2."),
        (lambda weights: {"w": 1.0, "b": 1.0}, "`doubled['b']`: expected an array"),
        (
            lambda weights: {**weights, "b": 2 * weights["w"]},
            "`doubled['b']`: expected shape (1,), got (1, 2).",
        ),
        (
            lambda weights: {"w": 2 * weights["w"] + [[0, 1]], "b": 2 * weights["b"]},
            "`doubled['w'][0, 1]`: expected 4, got 5 (1 of 2 numbers differ).",
        ),
        (lambda weights: {1: weights["w"], "b": weights["b"]}, "got 1, 'b'."),
    ],
)
def test_a_wrong_dictionary_is_put_into_words(wrong: Any, said: str) -> None:
    assert said in judge(DOUBLED, wrong).message


def test_functions_for_numpy_get_arrays_deep_inside() -> None:
    weights = in_depth(NESTED, lambda x: torch.tensor(x) if isinstance(x, np.ndarray) else x)
    result = for_tensors(lambda x, w: np.add(total(w), x))(torch.ones(1).double(), weights)
    assert torch.is_tensor(result)
    assert result.tolist() == [4.0]


def test_multi_head_attention_of_the_weights_is_the_exercise_of_chapter_04() -> None:
    for seed in range(20):
        arguments = draw(np.random.default_rng(seed))
        tensors = [torch.tensor(x) if isinstance(x, np.ndarray) else x for x in arguments]
        found, wanted = functional.multi_head_attention(*tensors), reference(*arguments)
        for mine, theirs in zip(found, wanted, strict=True):
            assert np.allclose(mine, theirs)


def test_part_takes_it_where_the_package_has_a_layer_only(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part("multi_head_attention") is functional.multi_head_attention
    assert "multi_head_attention: the course's own" in capsys.readouterr().out


def test_the_model_of_the_exercise_is_the_packages() -> None:
    """The reference returns what a model returns into which the weights were copied by hand."""
    src, tgt, weights, n_heads = exercise.draw(np.random.default_rng(5))  # type: ignore[misc]
    vocab_size, d_model = weights["table"].shape
    depths = len(weights["encoder"]), len(weights["decoder"])
    config = TransformerConfig(
        vocab_size, d_model, n_heads, *depths, 2 * d_model, 0.0, max_len=32, norm="post"
    )
    model = Transformer(config).double().eval()
    with torch.no_grad():
        model.src_embedding.weight.copy_(torch.tensor(weights["table"]))
        for layer, given in zip(
            [*model.encoder_layers, *model.decoder_layers],
            [*weights["encoder"], *weights["decoder"]],
            strict=True,
        ):
            for kind in ("self_attention", "cross_attention"):
                if kind in given:
                    own = getattr(layer, kind)
                    maps = (own.w_query, own.w_key, own.w_value, own.w_output)
                    for linear, matrix in zip(maps, given[kind], strict=True):
                        linear.weight.copy_(torch.tensor(matrix.T))
            w_1, b_1, w_2, b_2 = given["feed_forward"]
            for linear, matrix, bias in (
                (layer.feed_forward.inner, w_1, b_1),
                (layer.feed_forward.outer, w_2, b_2),
            ):
                linear.weight.copy_(torch.tensor(matrix.T))
                linear.bias.copy_(torch.tensor(bias))
            for residual, (gain, bias) in zip(layer.residuals, given["norms"], strict=True):
                residual.norm.gain.copy_(torch.tensor(gain))
                residual.norm.bias.copy_(torch.tensor(bias))
        wanted = model(torch.tensor(src), torch.tensor(tgt)).numpy()
    assert np.allclose(exercise.reference(src, tgt, weights, n_heads), wanted)


def test_a_second_call_has_its_own_weights() -> None:
    """Models of one size are shared between calls; the weights are not."""
    first = exercise.cases[0].arguments
    other = (*first[:2], {**first[2], "table": first[2]["table"] * 2}, first[3])
    before = exercise.reference(*first)
    assert not np.allclose(exercise.reference(*other), before)
    assert np.array_equal(exercise.reference(*first), before)


def test_one_sentence_is_learned_by_a_function_that_torch_can_follow(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.checks import mutations

    scope, _ = mutations.notebook_names(mutations.notebook_of("encoder_decoder", "solutions"))
    capsys.readouterr()
    learn_one_sentence(scope["transformer"])
    assert capsys.readouterr().out == "the cat is on the mat -> le chat est sur le tapis\n"
    learn_one_sentence(scope["transformer"], steps=0)
    assert "le chat est" not in capsys.readouterr().out
    learn_one_sentence(for_tensors(exercise.reference))
    assert "Torch can't follow your functions" in capsys.readouterr().out
    learn_one_sentence(lambda *given: scope["transformer"](*given) + 0 * given[2]["table"].numpy())
    assert "Torch can't follow your functions" in capsys.readouterr().out
    for unfinished in (lambda *_: None, lambda *_: 1 / 0, lambda *_: torch.ones(3)):
        learn_one_sentence(unfinished)
        assert "learns here when it passes its check" in capsys.readouterr().out


def test_sliders_wait_for_a_function_that_passes(capsys: pytest.CaptureFixture[str]) -> None:
    depth_table(lambda x, weights, residual: np.ones(len(weights)), depth=2)
    assert capsys.readouterr().out.splitlines()[1] == f"after layer  2: 1.00 {'#' * 30}"
    depth_table(lambda x, weights, residual: None)
    assert "come to life when carried passes" in capsys.readouterr().out


def test_a_layer_that_uses_a_wrong_helper_is_told_so() -> None:
    scope: dict[str, Any] = {"right": right_encoder_layer, "np": np}
    source = (
        "def layer_norm(x, gain, bias, eps=1e-5):\n    return gain * x + bias\n\n"
        "def encoder_layer(x, mask, weights, n_heads):\n"
        "    return layer_norm(right(x, mask, weights, n_heads), 1, 0) * 1.1\n"
    )
    exec(source, scope)
    message = judge(encoder_decoder.encoder_layer, scope["encoder_layer"]).message
    assert "It uses your `layer_norm`, which doesn't pass its own check yet" in message
    assert dataclasses.is_dataclass(encoder_decoder.encoder_layer)
