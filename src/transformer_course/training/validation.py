"""The loss on held-out data (chapter 07)."""

from collections.abc import Sequence

import torch

from transformer_course.corpus.batches import Example
from transformer_course.training.batches import (
    Batches,
    LossFn,
    Trainable,
    as_batches,
    to_device,
)
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.sharding import is_sharded, loss_of

_MAX_TOKENS = 8192


def validation_loss(
    model: Trainable,
    examples: Sequence[Example] | Batches,
    loss_fn: LossFn,
    max_tokens: int = _MAX_TOKENS,
    processes: Processes = ALONE,
) -> float:
    """Mean loss per predicted token over held-out examples, in nats.

    Args:
        model: in evaluation mode.
        examples: pairs of id lists without special tokens, or `Batches`.
        loss_fn: as for `Trainer`.
        max_tokens: the most positions in a batch of pairs, padding included, source and target together.
        processes: each computes its part of the batches; all must call this.

    Returns:
        The mean over all tokens, </s> included (not over batches).

    Raises:
        ValueError: if there are no examples, one is too long for the model or for a batch, one holds the id of
            a special token, or `max_tokens` is set for batches that bring their own size.
        LostProcessError: if another process has ended.
    """
    batches = as_batches(examples, max_tokens, model.config.max_len, _MAX_TOKENS)
    device = next(model.parameters()).device
    losses, counts = [], []
    every = batches.epoch()
    mine = list(every[processes.rank :: processes.count])
    # All processes must compute equally often what is sharded: whoever has less computes one for nothing.
    missing = -(-len(every) // processes.count) - len(mine) if is_sharded(model) else 0
    counted = [(batch, batches.n_predicted(batch)) for batch in mine]
    for batch, tokens in counted + [(batch, 0) for batch in list(every[:1]) * missing]:
        tensors = (to_device(tensor, device) for tensor in batches.tensors(batch))
        with torch.no_grad():
            losses.append(loss_of(model, loss_fn, *tensors))
        counts.append(tokens)
    values = torch.stack(losses).tolist() if losses else []  # a card is waited for once
    summed = sum(loss * n for loss, n in zip(values, counts, strict=True))
    total, count = processes.sums(summed, sum(counts))
    if not count:
        raise ValueError("examples has no batch; there must be at least one")
    return total / count
