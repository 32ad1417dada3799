"""The five checks of a training that goes wrong: a healthy one passes all, and each fault shows in its line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from transformer_course.checks.training.clinic import (
    Loss,
    examine,
    healthy_model,
    plain_update,
    two_batches,
)
from transformer_course.encoder_decoder import Transformer
from transformer_course.loss import cross_entropy, teacher_forcing_loss
from transformer_course.masking import padding_mask

HEALTHY = {
    "first loss": "about ln V, as for a model that guesses",
    "one batch": "learned by heart",
    "gradients": "reach embedding, encoder and decoder",
    "the last token": "does not change what is said before it",
    "repeating": "what is read is not rewarded",
    "more padding": "does not change the loss",
}


def no_gradient_above(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    src_mask = padding_mask(src)
    memory = model.encode(src, src_mask).detach()
    states = model.decode(tgt[:, :-1], memory, src_mask)
    return cross_entropy(model.logits(states), tgt[:, 1:])


def not_shifted(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    return cross_entropy(model(src, tgt), tgt)


def without_causal_mask(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    read = tgt[:, :-1]
    logits = model(src, read, tgt_mask=padding_mask(read))
    return cross_entropy(logits, tgt[:, 1:])


def padding_counted(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    return cross_entropy(model(src, tgt[:, :-1]), tgt[:, 1:], pad_id=-1)


def source_padding_read(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    everything = torch.ones_like(padding_mask(src))
    return cross_entropy(model(src, tgt[:, :-1], src_mask=everything), tgt[:, 1:])


def sure_of_nonsense() -> Transformer:
    model = healthy_model()
    for weight in model.parameters():
        if weight.dim() == 2:
            torch.nn.init.normal_(weight)
    return model


def gradients_thrown_away(
    model: Transformer, loss_fn: Loss, optimizer: torch.optim.Optimizer, src: Tensor, tgt: Tensor
) -> float:
    loss = loss_fn(model, src, tgt)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def pairs_torn_apart(
    model: Transformer, loss_fn: Loss, optimizer: torch.optim.Optimizer, src: Tensor, tgt: Tensor
) -> float:
    return plain_update(model, loss_fn, optimizer, src, tgt[torch.randperm(len(tgt))])


def findings(
    capsys: pytest.CaptureFixture[str], **patient: Callable[..., object]
) -> dict[str, str]:
    examine(**({"loss_fn": teacher_forcing_loss} | patient))  # type: ignore[arg-type]
    lines = capsys.readouterr().out.splitlines()
    return {line[:18].strip(): line[19:] for line in lines}


def test_a_healthy_training_passes_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == HEALTHY


@pytest.mark.parametrize(
    ("patient", "line", "says"),
    [
        ({"make_model": sure_of_nonsense}, "first loss", "far above ln V: sure of nonsense"),
        (
            {"update": gradients_thrown_away},
            "one batch",
            "the loss is the same after 80 updates, to the last digit",
        ),
        ({"update": pairs_torn_apart}, "one batch", "not learned in 80 updates"),
        ({"loss_fn": no_gradient_above}, "gradients", "none in the encoder"),
        ({"loss_fn": without_causal_mask}, "the last token", "changes what is said before it"),
        ({"loss_fn": not_shifted}, "repeating", "is learned, even from random targets"),
        ({"loss_fn": padding_counted}, "more padding", "of the target changes the loss"),
        ({"loss_fn": source_padding_read}, "more padding", "of the source changes the loss"),
    ],
)
def test_each_fault_shows_in_its_line(
    patient: dict[str, Callable[..., object]],
    line: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = findings(capsys, **patient)
    assert list(found) == list(HEALTHY)
    assert found[line] == says


def test_the_batches_are_ragged_and_have_their_marks() -> None:
    for src, tgt in two_batches():
        assert (src == 0).any()
        assert (tgt == 0).any()
        assert (tgt[:, 0] == 1).all()
        assert ((src == 2).sum(1) == 1).all()
        assert ((tgt == 2).sum(1) == 1).all()


def test_one_update_lowers_the_loss() -> None:
    (src, tgt), _ = two_batches()
    model = healthy_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = [plain_update(model, teacher_forcing_loss, optimizer, src, tgt) for _ in range(3)]
    assert losses == sorted(losses, reverse=True)
