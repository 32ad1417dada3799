"""Leaks from the future (chapter 03): does an output depend on a token that comes later?

`leaks_by_change` and `leaks_by_gradient` look for leaks in any model, yours too.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

Leaks = list[tuple[int, int]]


def leaks_by_change(
    model: Callable[[Tensor], Tensor],
    ids: Tensor,
    other_ids: Tensor | None = None,
    tolerance: float = 1e-5,
) -> Leaks:
    """Find leaks from the future: change one token at a time and see which earlier outputs move.

    It finds a leak on any way through the model, at the price of one run for each position. A leak smaller than
    `tolerance` stays hidden; `leaks_by_gradient` has no such limit, but sees differentiable ways only.

    Args:
        model: takes ids, (batch, length), and returns a tensor, (batch, length, ...). Dropout must be off.
        ids: what to feed it, (batch, length), with a length of 2 or more, and without padding if padding makes
            your model return NaN.
        other_ids: what to change each id into, of the same shape; if left out, another id of `ids`.
        tolerance: largest change, absolute and relative, that counts as rounding.

    Returns:
        The leaks as pairs (position, source), sorted. A pair says that in some sentence the output at
        `position` depends on the token at `source`, which comes later. Empty if nothing leaks. A number that
        becomes NaN has changed.

    Raises:
        ValueError: if `ids` has fewer than two positions, the model's output or `other_ids` has a wrong shape,
            or `other_ids` repeats an id, or is left out where `ids` holds one id only; or if nothing can be
            learned, because the model is random, returns NaN, or doesn't depend on its input at all.

    >>> ids = torch.tensor([[3, 4, 5]])
    >>> leaks_by_change(lambda ids: ids.cumsum(1).float()[..., None], ids)  # each sees its past
    []
    >>> leaks_by_change(lambda ids: ids.float().roll(-1, 1)[..., None], ids)  # each sees the next one
    [(0, 1), (1, 2)]
    """
    _check_length(ids)
    other_ids = _other_ids(ids) if other_ids is None else other_ids
    if other_ids.shape != ids.shape or bool((other_ids == ids).any()):
        raise ValueError(
            f"other_ids must have the shape {tuple(ids.shape)} and differ from ids everywhere, got "
            f"{other_ids.tolist()}"
        )
    moved = []
    with torch.no_grad():
        before = _outputs(model(ids), ids)
        # Twice, so that dropout isn't taken for a leak.
        if _moved(_outputs(model(ids), ids), before, tolerance).any():
            raise ValueError("model must give the same for the same ids: switch dropout off (eval)")
        for source in range(ids.shape[1]):
            changed = ids.clone()
            changed[:, source] = other_ids[:, source]
            moved.append(_moved(_outputs(model(changed), ids), before, tolerance))
    return _leaks(torch.stack(moved, 1))


def leaks_by_gradient(
    model: Callable[[Tensor], Tensor], ids: Tensor, embedding: nn.Module
) -> Leaks:
    """Find leaks from the future by the gradient of each output with respect to each token's embedding.

    One run and one backward pass for each position. Any gradient that isn't exactly 0 counts, so the smallest
    leak is found. What no gradient passes through (a mask made from ids, a choice by argmax) isn't seen:
    use `leaks_by_change` too.

    Args:
        model: takes ids, (batch, length), and returns a tensor, (batch, length, ...).
        ids: what to feed it, (batch, length), with a length of 2 or more.
        embedding: the layer that turns these ids into vectors, (batch, length, d_model), when the model runs:
            for `Transformer` it is `tgt_embedding`. It must be used once in a run.

    Returns:
        The leaks as pairs (position, source), sorted, as for `leaks_by_change`.

    Raises:
        ValueError: if `ids` has fewer than two positions, the model's output has a wrong shape, the embedding
            isn't used once, or gives vectors of a wrong shape; or if nothing can be learned, because an output
            or a gradient is NaN, or no gradient arrives at all.

    >>> embedding = nn.Embedding(6, 2)
    >>> ids = torch.tensor([[3, 4, 5]])
    >>> leaks_by_gradient(lambda ids: embedding(ids).cumsum(1), ids, embedding)
    []
    >>> leaks_by_gradient(lambda ids: embedding(ids).roll(-1, 1), ids, embedding)
    [(0, 1), (1, 2)]
    """
    _check_length(ids)
    vectors: list[Tensor] = []

    def capture(module: nn.Module, inputs: object, output: Tensor) -> Tensor:
        vectors.append(output.detach().requires_grad_())
        return vectors[-1]

    handle = embedding.register_forward_hook(capture)
    try:
        with torch.enable_grad():
            outputs = _outputs(model(ids), ids)  # (batch, length, ...)
    finally:
        handle.remove()
    if len(vectors) != 1 or vectors[0].shape[:2] != ids.shape:
        shapes = ", ".join(str(tuple(vector.shape)) for vector in vectors) or "none"
        raise ValueError(
            f"embedding must be used once, giving {_shape(ids)}; shapes given: {shapes}"
        )
    if not outputs.requires_grad:
        raise ValueError("model must give outputs with a gradient: not under torch.no_grad, no ids")
    # Random directions: the plain sum of a normalised vector is constant, and has no gradient.
    generator = torch.Generator().manual_seed(0)
    directions = torch.randn(outputs.shape, generator=generator).to(outputs)
    return _leaks(
        torch.stack([_reached(outputs, vectors[0], directions, t) for t in range(ids.shape[1])], -1)
    )


def _check_length(ids: Tensor) -> None:
    if ids.dim() != 2 or ids.shape[0] < 1 or ids.shape[1] < 2:
        raise ValueError(
            f"ids must have shape (batch, length) with a length of 2 or more, got {tuple(ids.shape)}"
        )


def _other_ids(ids: Tensor) -> Tensor:
    """For each id the next larger one that occurs in `ids`; for the largest, the smallest."""
    known, places = torch.unique(ids, return_inverse=True)
    if len(known) < 2:
        raise ValueError(f"other_ids must be given where ids holds one id only ({int(known[0])})")
    return known[(places + 1) % len(known)]


def _shape(ids: Tensor) -> str:
    return f"({ids.shape[0]}, {ids.shape[1]}, ...)"


def _outputs(outputs: Tensor, ids: Tensor) -> Tensor:
    if not isinstance(outputs, Tensor) or outputs.shape[:2] != ids.shape:
        got = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise ValueError(f"model must return a tensor {_shape(ids)}, got {got}")
    return outputs


def _moved(after: Tensor, before: Tensor, tolerance: float) -> Tensor:
    """Whether each position's output has changed, (batch, length)."""
    if before.isnan().any():
        places = _any(before.isnan()).nonzero().tolist()
        raise ValueError(
            f"model returned NaN at (sentence, position) {places}: nothing can be told"
        )
    close = torch.isclose(after.double(), before.double(), rtol=tolerance, atol=tolerance)
    return _any(~close)  # NaN is close to nothing


def _reached(outputs: Tensor, vectors: Tensor, directions: Tensor, position: int) -> Tensor:
    """Whether a gradient of the output at `position` arrives at each source, (batch, source)."""
    chosen = torch.zeros_like(directions)
    chosen[:, position] = directions[:, position]
    (gradient,) = torch.autograd.grad(
        outputs, vectors, chosen, retain_graph=True, materialize_grads=True
    )
    if outputs.isnan().any() or gradient.isnan().any():
        raise ValueError("model has NaN in its outputs or gradients: nothing can be told")
    return _any(gradient != 0)


def _any(table: Tensor) -> Tensor:
    """Whether anything is True at each position: (batch, length, ...) → (batch, length)."""
    return table.reshape(*table.shape[:2], -1).any(-1)


def _leaks(depends: Tensor) -> Leaks:
    """Pairs (position, source) with a later source, from a table (batch, source, position)."""
    if not depends.any():
        raise ValueError("model's output doesn't depend on any of the ids: nothing can be told")
    table = depends.any(0).T  # (position, source)
    return [(t, s) for t, s in table.nonzero().tolist() if s > t]
