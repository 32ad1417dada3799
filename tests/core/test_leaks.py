"""Leaks from the future: the package has none, planted ones are found, and what tells nothing is refused."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from oracles import random_ids, refuses, tiny_model
from torch import Tensor, nn

from transformer_course.leaks import leaks_by_change, leaks_by_gradient
from transformer_course.masking import padding_mask


def decoder_of(
    seed: int, mask: Tensor | None, layers: int = 3
) -> tuple[Callable[[Tensor], Tensor], nn.Module]:
    """A model that maps target ids to logits with a given target mask, and its embedding."""
    model = tiny_model(seed, n_decoder_layers=layers)
    src = random_ids([5, 3])
    src_mask = padding_mask(src)
    memory = model.encode(src, src_mask).detach()
    return lambda ids: model.logits(model.decode(ids, memory, src_mask, mask)), model.tgt_embedding


@given(seed=st.integers(0, 99), length=st.integers(2, 7))
def test_the_decoder_of_the_package_does_not_leak(seed: int, length: int) -> None:
    model, embedding = decoder_of(seed, None)
    ids = random_ids([length, length])
    assert leaks_by_change(model, ids, (ids - 2) % 10 + 3) == []
    assert leaks_by_gradient(model, ids, embedding) == []


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_mask_one_too_wide_leaks_as_far_as_there_are_layers(layers: int) -> None:
    length = 6
    wide = torch.ones(length, length, dtype=torch.bool).tril(1)[None, None]
    model, embedding = decoder_of(0, wide, layers)
    ids = random_ids([length, length])
    expected = [(t, s) for t in range(length) for s in range(length) if t < s <= t + layers]
    assert leaks_by_change(model, ids, (ids - 2) % 10 + 3) == expected
    assert leaks_by_gradient(model, ids, embedding) == expected


def test_a_decoder_without_a_mask_leaks_from_everywhere() -> None:
    model, embedding = decoder_of(0, torch.ones(1, 1, 4, 4, dtype=torch.bool))
    ids = torch.tensor([[1, 5, 6, 7], [1, 8, 9, 5]])
    expected = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert leaks_by_change(model, ids) == expected
    assert leaks_by_gradient(model, ids, embedding) == expected


def test_a_leak_in_one_sentence_is_enough() -> None:
    def model(ids: Tensor) -> Tensor:
        outputs = ids.cumsum(1).double()
        outputs[1, 0] += ids[1, 2]
        return outputs

    assert leaks_by_change(model, torch.tensor([[3, 4, 5], [6, 7, 8]])) == [(0, 2)]


def test_only_the_gradient_finds_a_leak_as_small_as_rounding() -> None:
    embedding = nn.Embedding(9, 4)

    def model(ids: Tensor) -> Tensor:
        x = embedding(ids)
        return x.cumsum(1) + 1e-9 * x.flip(1)

    ids = torch.tensor([[3, 4, 5]])
    assert leaks_by_change(model, ids) == []
    assert leaks_by_gradient(model, ids, embedding) == [(0, 2)]


def test_only_a_change_finds_a_leak_that_carries_no_gradient() -> None:
    embedding = nn.Embedding(9, 4)

    def model(ids: Tensor) -> Tensor:
        length = (ids != 0).sum(1)[:, None, None]
        return embedding(ids).cumsum(1) / length

    ids, shorter = torch.tensor([[3, 4, 5]]), torch.tensor([[4, 5, 0]])
    assert leaks_by_change(model, ids, shorter) == [(0, 2), (1, 2)]
    assert leaks_by_gradient(model, ids, embedding) == []


def test_a_normalised_output_hides_no_gradient() -> None:
    """The numbers of a normalised vector sum to 0 whatever comes in: their plain sum has no gradient."""
    embedding = nn.Embedding(9, 4)

    def model(ids: Tensor) -> Tensor:
        return F.layer_norm(
            embedding(ids) + embedding.weight[0] + embedding(ids).mean(1, True), [4]
        )

    def once(ids: Tensor) -> Tensor:
        x = embedding(ids)
        return F.layer_norm(x + x.mean(1, True), [4])

    ids = torch.tensor([[3, 4, 5]])
    assert leaks_by_gradient(once, ids, embedding) == [(0, 1), (0, 2), (1, 2)]
    with refuses(
        "embedding must be used once, giving (1, 3, ...); shapes given: (1, 3, 4), (1, 3, 4)"
    ):
        leaks_by_gradient(model, ids, embedding)


def test_infinite_logits_are_no_leak_and_a_new_nan_is_one() -> None:
    embedding = nn.Embedding(9, 4)

    def forbidding(ids: Tensor) -> Tensor:
        forbidden = torch.tensor([False, True, False, True])
        return embedding(ids).cumsum(1).masked_fill(forbidden, -math.inf)

    def breaking(ids: Tensor) -> Tensor:
        return ids.cumsum(1) + 0 * ids / (ids[:, 2:] != 3)  # 0/0 is NaN

    ids = torch.tensor([[3, 4, 5]])
    assert leaks_by_change(forbidding, ids) == []
    assert leaks_by_gradient(forbidding, ids, embedding) == []
    assert leaks_by_change(breaking, ids) == [(0, 2), (1, 2)]


def test_the_model_is_left_as_it_was() -> None:
    model, embedding = decoder_of(0, None)
    ids = random_ids([4, 4])
    before, copy = model(ids), ids.clone()
    leaks_by_change(model, ids, (ids - 2) % 10 + 3)
    leaks_by_gradient(model, ids, embedding)
    assert torch.equal(model(ids), before)
    assert torch.equal(ids, copy)
    assert not embedding._forward_hooks
    assert all(parameter.grad is None for parameter in embedding.parameters())


def test_models_that_tell_nothing_are_refused() -> None:
    embedding = nn.Embedding(9, 4)
    ids = torch.tensor([[3, 4, 5]])
    nan = torch.tensor([[1.0, math.nan, 1.0]])
    with refuses("model returned NaN at (sentence, position) [[0, 1]]: nothing can be told"):
        leaks_by_change(lambda ids: ids * nan, ids)
    with refuses("model has NaN in its outputs or gradients: nothing can be told"):
        leaks_by_gradient(lambda ids: embedding(ids) * nan[..., None], ids, embedding)
    with refuses("model must give the same for the same ids: switch dropout off (eval)"):
        leaks_by_change(lambda ids: ids + torch.rand(1, 3), ids)
    nothing = "model's output doesn't depend on any of the ids: nothing can be told"
    with refuses(nothing):
        leaks_by_change(lambda ids: torch.ones(1, 3, 2), ids)
    with refuses(nothing):
        leaks_by_gradient(lambda ids: 0 * embedding(ids), ids, embedding)
    with refuses("model must give outputs with a gradient: not under torch.no_grad, no ids"):
        leaks_by_gradient(lambda ids: embedding(ids).detach(), ids, embedding)


@pytest.mark.parametrize("shape", [(3,), (2, 1), (0, 3), (2, 3, 4)])
def test_leak_tests_refuse_ids_without_a_future(shape: tuple[int, ...]) -> None:
    message = f"ids must have shape (batch, length) with a length of 2 or more, got {shape}"
    ids = torch.ones(shape, dtype=torch.int64)
    with refuses(message):
        leaks_by_change(lambda ids: ids, ids)
    with refuses(message):
        leaks_by_gradient(lambda ids: ids, ids, nn.Embedding(3, 2))


def test_leak_tests_refuse_what_does_not_fit() -> None:
    ids, embedding = torch.tensor([[3, 3]]), nn.Embedding(9, 4)
    with refuses("other_ids must be given where ids holds one id only (3)"):
        leaks_by_change(lambda ids: ids, ids)
    rule = "other_ids must have the shape (1, 2) and differ from ids everywhere, got "
    with refuses(rule + "[[4, 3]]"):
        leaks_by_change(lambda ids: ids, ids, torch.tensor([[4, 3]]))
    with refuses(rule + "[[4]]"):
        leaks_by_change(lambda ids: ids, ids, torch.tensor([[4]]))
    for outputs, got in ((torch.ones(1, 3), "(1, 3)"), ((ids, ids), "tuple"), (ids[0], "(2,)")):
        with refuses(f"model must return a tensor (1, 2, ...), got {got}"):
            leaks_by_change(lambda ids, o=outputs: o, ids, ids + 1)  # type: ignore[misc]
    with refuses("embedding must be used once, giving (1, 2, ...); shapes given: none"):
        leaks_by_gradient(lambda ids: ids, ids, embedding)
    with refuses("embedding must be used once, giving (1, 2, ...); shapes given: (2, 1, 4)"):
        leaks_by_gradient(lambda ids: embedding(ids.T).transpose(0, 1), ids, embedding)
