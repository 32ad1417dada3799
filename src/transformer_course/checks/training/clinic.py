"""Five checks of a training that goes wrong, as the page on debugging makes them; answers in words."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_course.encoder_decoder import Transformer, TransformerConfig

Loss = Callable[[Transformer, Tensor, Tensor], Tensor]
Update = Callable[[Transformer, Loss, torch.optim.Optimizer, Tensor, Tensor], float]
VOCAB_SIZE = 40
UPDATES = 80


def healthy_model(seed: int = 0) -> Transformer:
    """Return a small model with fresh weights: 2+2 layers, 40 subwords, no dropout."""
    torch.manual_seed(seed)
    return Transformer(TransformerConfig(VOCAB_SIZE, 32, 2, 2, 2, 64, dropout=0.0))


def two_batches() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return two padded batches (src, tgt) of random ids; the first one has other lengths than the second."""
    random = torch.Generator().manual_seed(3)

    def batch(lengths: list[int]) -> tuple[Tensor, Tensor]:
        src = torch.zeros(len(lengths), max(lengths) + 1, dtype=torch.int64)
        tgt = torch.zeros(len(lengths), max(lengths) + 2, dtype=torch.int64)
        for row, length in enumerate(lengths):
            ids = torch.randint(3, VOCAB_SIZE, (2, length), generator=random)
            src[row, : length + 1] = torch.tensor([*ids[0].tolist(), 2])
            tgt[row, : length + 2] = torch.tensor([1, *ids[1].tolist(), 2])
        return src, tgt

    return batch([7, 4, 6, 3, 5, 7]), batch([5, 6, 3, 4])


def plain_update(
    model: Transformer, loss_fn: Loss, optimizer: torch.optim.Optimizer, src: Tensor, tgt: Tensor
) -> float:
    """Make one step of training, without mistakes; return the loss before it."""
    optimizer.zero_grad()
    loss = loss_fn(model, src, tgt)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.item()


def examine(
    loss_fn: Loss,
    make_model: Callable[[], Transformer] = healthy_model,
    update: Update = plain_update,
) -> None:
    """Print what five checks say about a patient.

    Args:
        loss_fn: (model, src, tgt) → loss.
        make_model: makes the model with fresh weights.
        update: makes one step of training.

    >>> from transformer_course.loss import teacher_forcing_loss
    >>> examine(teacher_forcing_loss)
    first loss         about ln V, as for a model that guesses
    one batch          learned by heart
    gradients          reach embedding, encoder and decoder
    the last token     does not change what is said before it
    repeating          what is read is not rewarded
    more padding       does not change the loss
    """
    (src, tgt), _ = two_batches()
    rows = {
        "first loss": _first_loss(loss_fn, make_model(), src, tgt),
        "one batch": _one_batch(loss_fn, make_model(), update, src, tgt),
        "gradients": _gradients(loss_fn, make_model(), src, tgt),
        "the last token": _last_token(loss_fn, make_model()),
        "repeating": _repeating(loss_fn, make_model(), update),
        "more padding": _more_padding(loss_fn, make_model(), src, tgt),
    }
    for name, says in rows.items():
        print(f"{name:18} {says}")


def _first_loss(loss_fn: Loss, model: Transformer, src: Tensor, tgt: Tensor) -> str:
    with torch.no_grad():
        loss = loss_fn(model, src, tgt).item()
    guess = math.log(VOCAB_SIZE)
    if loss > 2 * guess:
        return "far above ln V: sure of nonsense"
    return "far below ln V" if loss < 0.6 * guess else "about ln V, as for a model that guesses"


def _one_batch(loss_fn: Loss, model: Transformer, update: Update, src: Tensor, tgt: Tensor) -> str:
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    losses = [update(model, loss_fn, optimizer, src, tgt) for _ in range(UPDATES)]
    if losses[-1] == losses[0]:
        return f"the loss is the same after {UPDATES} updates, to the last digit"
    return "learned by heart" if losses[-1] < 0.15 else f"not learned in {UPDATES} updates"


def _gradients(loss_fn: Loss, model: Transformer, src: Tensor, tgt: Tensor) -> str:
    loss_fn(model, src, tgt).backward()  # type: ignore[no-untyped-call]
    parts = {
        "embedding": [model.src_embedding],
        "encoder": [*model.encoder_layers],
        "decoder": [*model.decoder_layers],
    }

    def arrives(modules: list[torch.nn.Module]) -> bool:
        weights = [weight for module in modules for weight in module.parameters()]
        return any(w.grad is not None and bool(w.grad.abs().max() > 0) for w in weights)

    without = [name for name, modules in parts.items() if not arrives(modules)]
    return (
        f"none in the {', '.join(without)}" if without else "reach embedding, encoder and decoder"
    )


def _last_token(loss_fn: Loss, model: Transformer) -> str:
    """Whether the logits before the last token change with it, asked by the loss of the earlier tokens."""
    src = torch.tensor([[5, 6, 7, 2]])
    losses = []
    with torch.no_grad():
        for last in (8, 9):
            tgt = torch.tensor([[1, 5, 6, 7, last, 2]])
            seen: list[Tensor] = []
            hook = model.decoder_norm.register_forward_hook(lambda *x, seen=seen: seen.append(x[2]))
            loss_fn(model, src, tgt)
            hook.remove()
            losses.append(seen[-1][0, :4])  # the states that come before the token that differs
    same = torch.allclose(losses[0], losses[1], atol=1e-5)
    return "does not change what is said before it" if same else "changes what is said before it"


def _repeating(loss_fn: Loss, model: Transformer, update: Update) -> str:
    """Whether training makes the model repeat what it reads: its loss on targets it never saw says so."""
    (src, tgt), (new_src, new_tgt) = two_batches()
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    random = torch.Generator().manual_seed(4)
    for _ in range(UPDATES):
        fresh = torch.where(tgt > 2, torch.randint(3, VOCAB_SIZE, tgt.shape, generator=random), tgt)
        update(model, loss_fn, optimizer, src, fresh)
    with torch.no_grad():
        loss = loss_fn(model, new_src, new_tgt).item()
    below = loss < 0.6 * math.log(VOCAB_SIZE)
    return "is learned, even from random targets" if below else "what is read is not rewarded"


def _more_padding(loss_fn: Loss, model: Transformer, src: Tensor, tgt: Tensor) -> str:
    def padded(ids: Tensor) -> Tensor:
        return torch.nn.functional.pad(ids, (0, 9))

    with torch.no_grad():
        plain = loss_fn(model, src, tgt)
        found = [
            name
            for name, pair in (("source", (padded(src), tgt)), ("target", (src, padded(tgt))))
            if not torch.allclose(loss_fn(model, *pair), plain, atol=1e-4)
        ]
    return f"of the {' and '.join(found)} changes the loss" if found else "does not change the loss"
