"""What does an answer depend on? Patching, leaving out, gradients, other weights (chapter 10)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.attention import scaled_dot_product_attention, softmax
from transformer_course.inspecting.watching import patched, watching
from transformer_course.multi_head import MultiHeadAttention


@torch.no_grad()
def patching_map(
    model: nn.Module,
    run: Callable[[], Tensor],
    other: Mapping[str, Tensor],
    positions: Sequence[int],
) -> Tensor:
    """What a run gives if each layer's vector, at each position, is that of another run.

    Activation patching (Vig et al. 2020; Meng et al. 2022 call it causal tracing): where the answer of the
    other run appears, there is what makes the difference between the two.

    Args:
        model: any module.
        run: runs the model and returns a number, a tensor without dimensions.
        other: name of a layer → what it gave in the other run, (batch, length, width), as `recorded` finds it.
        positions: where to patch, one at a time.

    Returns:
        (layers, positions), layers in the order of `other`.

    Raises:
        ValueError: as `patched` does.
    """
    table = torch.empty(len(other), len(positions))
    for i, (name, value) in enumerate(other.items()):
        for j, position in enumerate(positions):
            with patched(model, {name: value}, position):
                table[i, j] = run()
    return table


@torch.no_grad()
def leave_one_out(run: Callable[[Tensor], Tensor], visible: Tensor) -> Tensor:
    """By how much numbers fall if one position after the other is hidden.

    Args:
        run: runs the model with a mask and returns numbers, (...), such as the log-probability of each token.
        visible: the mask of all that may be seen, (1, 1, 1, k_len), boolean; True = may attend.

    Returns:
        (k_len, ...): the numbers with everything visible, minus those without this position; 0 where the
        position was hidden anyway.

    Raises:
        ValueError: if `visible` hasn't the shape above.
    """
    if visible.dim() != 4 or visible.numel() != visible.shape[-1]:
        raise ValueError(
            f"visible of shape {tuple(visible.shape)} must have the shape (1, 1, 1, k_len)"
        )
    whole = run(visible)
    falls = []
    for position, seen in enumerate(visible.flatten().tolist()):
        without = visible.clone()
        without[..., position] = False
        falls.append(whole - run(without) if seen else torch.zeros_like(whole))
    return torch.stack(falls)


def gradient_times_input(model: nn.Module, name: str, run: Callable[[], Tensor]) -> Tensor:
    """The gradient of a number with respect to what a part gives out, times that, summed over the width.

    To first order, by how much the number would fall if the vector of a position were 0 (Denil et al. 2014).

    Args:
        model: any module.
        name: the part, as in `model.named_modules()`, such as "src_embedding"; its first output in the run
            counts.
        run: runs the model with gradients and returns a number, a tensor without dimensions.

    Returns:
        (batch, length).

    Raises:
        ValueError: as `watching` does, or if the run never uses the part.
    """
    leaves: list[Tensor] = []

    def keep(x: Tensor) -> Tensor | None:
        if leaves:
            return None
        leaves.append(x.detach().requires_grad_())
        return leaves[0]

    with torch.enable_grad(), watching(model, {name: keep}):
        number = run()
    if not leaves:
        raise ValueError(f"name ({name!r}) must be a part that the run uses")
    (gradient,) = torch.autograd.grad(number, leaves)
    return (gradient * leaves[0]).sum(-1).detach()


def kendall_tau(a: Tensor, b: Tensor) -> float:
    """Rank correlation: of all pairs of places, how many more have the same order in both than the opposite.

    Kendall 1938; Jain and Wallace 2019 use it to compare attention with other measures.

    Args:
        a: (n,), 2 numbers or more.
        b: (n,).

    Returns:
        −1 (opposite order) to 1 (same order); two equal numbers count for neither.

    Raises:
        ValueError: if both aren't rows of the same length, 2 or more.

    >>> kendall_tau(torch.tensor([0.1, 0.2, 0.7]), torch.tensor([1.0, 5.0, 3.0]))
    0.3333333333333333
    """
    if a.dim() != 1 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            f"a and b of shapes {tuple(a.shape)} and {tuple(b.shape)} must be rows of the same length, 2 or "
            "more"
        )
    first, second = ((x[:, None] - x[None]).sign() for x in (a, b))
    return float((first * second).sum(dtype=torch.float64)) / (len(a) * (len(a) - 1))


@contextmanager
def changed_attention(
    model: nn.Module, changes: Mapping[str, Callable[[Tensor, Tensor | None], Tensor]]
) -> Iterator[None]:
    """Let attentions average with other weights than their own while the block runs.

    What `record_attention` collects inside the block are the weights that are used.

    Args:
        model: any module.
        changes: name of an attention → function of its weights, (batch, heads, q_len, k_len), and its mask,
            which returns the weights to use. A score bias (chapter 12) is in its weights.

    Yields:
        Nothing.

    Raises:
        ValueError: if the model has no attention of a name.
    """
    parts = dict(model.named_modules())
    found: dict[str, MultiHeadAttention] = {}
    for name in changes:
        part = parts.get(name)
        if not isinstance(part, MultiHeadAttention):
            raise ValueError(f"changes names {name!r}, which is no multi-head attention")
        found[name] = part
    with ExitStack() as stack:
        for name, part in found.items():
            stack.enter_context(_with_weights(part, changes[name]))
        yield


def equal_weights(weights: Tensor, mask: Tensor | None) -> Tensor:
    """The same weight on every key that may be seen; for `changed_attention`.

    Args:
        weights: (batch, heads, q_len, k_len); only their shape counts.
        mask: boolean, broadcastable to them; True = may attend.

    Returns:
        The shape of `weights`.
    """
    return softmax(torch.zeros_like(weights), mask)


@contextmanager
def _with_weights(
    part: MultiHeadAttention, change: Callable[[Tensor, Tensor | None], Tensor]
) -> Iterator[None]:
    """One attention with other weights; its own are written out first, with a score bias or without."""
    attend, attended = part.attend, part._attended
    # A block around this one may have put its own there.
    outer = {name: f for name, f in vars(part).items() if name == "_attended"}

    def changed(
        q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, *places: Any
    ) -> tuple[Tensor, Tensor]:
        _, weights = attended(q, k, v, mask, *places)
        assert weights is not None  # `attend` is the one that is written out
        weights = change(weights, mask)
        return weights @ v, weights

    part.attend = scaled_dot_product_attention
    vars(part)["_attended"] = changed
    try:
        yield
    finally:
        part.attend = attend
        del vars(part)["_attended"]
        vars(part).update(outer)
