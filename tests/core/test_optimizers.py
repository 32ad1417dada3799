"""Muon beside Adam: which parameters it takes, how far it moves them, and what a checkpoint keeps of it."""

from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import nn

from transformer_course.checkpoints import CheckpointError, load_optimizer, optimizer_tensors
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.training import MuonWithAdam
from transformer_course.training.optimizers import adam


def model_with_gradients(seed: int = 0) -> Transformer:
    """A small model, with a gradient of full rank for each parameter."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig.tiny(50))
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return model


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def test_muon_takes_the_matrices_inside_the_layers_and_adam_the_rest() -> None:
    model = model_with_gradients()
    muon, rest = (group["params"] for group in MuonWithAdam(model).param_groups)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    inside = {names[id(parameter)] for parameter in muon}
    assert inside | {names[id(parameter)] for parameter in rest} == set(names.values())
    assert len(muon) + len(rest) == len(names)
    config = model.config
    assert len(muon) == 6 * config.n_encoder_layers + 10 * config.n_decoder_layers
    assert all(name.endswith(".weight") and "_layers." in name for name in inside)
    assert {names[id(parameter)] for parameter in rest if parameter.ndim == 2} == {
        name for name, parameter in model.named_parameters() if len(parameter) == config.vocab_size
    }


def test_the_first_step_is_the_nearest_orthogonal_matrix_and_adams_for_the_rest() -> None:
    """Against the singular value decomposition; torch comes near it with a polynomial, in bf16."""
    model, rate = model_with_gradients(), 0.01
    optimizer, other = MuonWithAdam(model), deepcopy(model)
    for mine, copy in zip(model.parameters(), other.parameters(), strict=True):
        copy.grad = mine.grad.clone() if mine.grad is not None else None
    plain = adam(other)
    set_rate(optimizer, rate)
    set_rate(plain, rate)
    muon, rest = ({id(p) for p in group["params"]} for group in optimizer.param_groups)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer.step()
    plain.step()
    for old, new, copy in zip(before, model.parameters(), other.parameters(), strict=True):
        if id(new) in rest:
            assert torch.equal(new, copy)
            continue
        assert id(new) in muon
        assert new.grad is not None
        left, _, right = torch.linalg.svd(new.grad, full_matrices=False)
        moved = (old - new.detach()) / (rate * 0.2 * max(new.shape) ** 0.5)
        assert torch.cosine_similarity(moved.flatten(), (left @ right).flatten(), 0) > 0.95
        values = torch.linalg.svdvals(moved)
        assert 0.6 < values.median() < 1.3
        assert values.max() < 1.3


def test_rare_directions_move_as_far_as_frequent_ones() -> None:
    """A gradient whose second direction is a hundredth of the first: Muon moves both, a plain gradient one."""
    model = model_with_gradients()
    weight = model.encoder_layers[0].feed_forward.inner.weight
    left, _ = torch.linalg.qr(torch.randn(weight.shape[0], 2))
    right, _ = torch.linalg.qr(torch.randn(weight.shape[1], 2))
    weight.grad = left @ torch.diag(torch.tensor([1.0, 0.01])) @ right.T
    optimizer, before = MuonWithAdam(model), weight.detach().clone()
    set_rate(optimizer, 0.01)
    optimizer.step()
    values = torch.linalg.svdvals(before - weight.detach())
    assert values[1] > 0.5 * values[0]


def step_of(optimizer: torch.optim.Optimizer, model: nn.Module, seed: int) -> None:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()


def through_a_checkpoint(new: MuonWithAdam, old: MuonWithAdam) -> None:
    load_optimizer(new, optimizer_tensors(old), least=len(optimizer_tensors(old)))


def through_torch(new: MuonWithAdam, old: MuonWithAdam) -> None:
    new.load_state_dict(deepcopy(old.state_dict()))


@pytest.mark.parametrize("hand_over", [through_a_checkpoint, through_torch])
def test_it_goes_on_to_the_last_bit(
    hand_over: Callable[[MuonWithAdam, MuonWithAdam], None],
) -> None:
    model = model_with_gradients()
    optimizer = MuonWithAdam(model)
    set_rate(optimizer, 0.01)
    for seed in range(3):
        step_of(optimizer, model, seed)
    again = deepcopy(model)
    resumed = MuonWithAdam(again)
    hand_over(resumed, optimizer)
    set_rate(resumed, 0.01)
    for seed in range(3, 6):
        step_of(optimizer, model, seed)
        step_of(resumed, again, seed)
    assert all(map(torch.equal, model.parameters(), again.parameters()))


def test_a_memory_that_lacks_something_is_refused() -> None:
    model = model_with_gradients()
    optimizer = MuonWithAdam(model)
    optimizer.step()
    right = optimizer_tensors(optimizer)
    first = len(optimizer.param_groups[0]["params"])
    wrong = {
        "parameters remember unlike things": {
            name: tensor for name, tensor in right.items() if name != f"{first}.exp_avg"
        },
        "MuonWithAdam remembers exp_avg, and it isn't there": {
            name: tensor for name, tensor in right.items() if not name.endswith(".exp_avg")
        },
        "MuonWithAdam remembers momentum_buffer": {
            name.replace("momentum_buffer", "other"): tensor for name, tensor in right.items()
        },
    }
    for message, tensors in wrong.items():
        with pytest.raises(CheckpointError, match=message):
            load_optimizer(optimizer, tensors)
    load_optimizer(optimizer, right)


def test_a_closure_is_called_with_gradients_and_its_loss_returned() -> None:
    model = model_with_gradients()
    seen: list[bool] = []

    def closure() -> torch.Tensor:
        seen.append(torch.is_grad_enabled())
        return torch.tensor(2.0)

    assert MuonWithAdam(model).step(closure) == 2.0
    assert seen == [True]


def test_what_it_cannot_train_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ValueError, match="Linear has no matrices inside layers for the optimiser muon"
    ):
        MuonWithAdam(nn.Linear(3, 3))
    monkeypatch.delattr(torch.optim, "Muon")
    with pytest.raises(ValueError, match=r"muon needs torch 2\.9 or newer, this is \d"):
        MuonWithAdam(model_with_gradients())
