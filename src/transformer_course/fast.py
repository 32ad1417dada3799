"""What exists for speed only (chapter 08): faster parts that give what the readable ones of all chapters give.

`use_fast(model)` puts these parts into a model, `use_fast(model, fast=False)` takes them out again:

- `fused_attention` for `attention.scaled_dot_product_attention`;
- `torch.relu_`, which writes over its input, for `torch.relu`;
- `RandomBitsDropout`, faster in mixed precision, for `torch.nn.Dropout`.

Two more are functions of their own: `chunked_cross_entropy` for `loss.cross_entropy`, and `chunked_r_drop` for
two of it and two of `loss.kl_divergence`. Tests compare each with its readable counterpart.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.attention import check_mask, check_sizes, scaled_dot_product_attention
from transformer_course.labels import check_labels, check_smoothing

Model = TypeVar("Model", bound=nn.Module)


def use_fast(model: Model, fast: bool = True, attention: bool = True) -> Model:
    """Put the fast parts into a model, or take them out again. Results are equal up to rounding.

    Only parts that have their readable default are changed: attention or an activation of your own stays as it
    is. Fused attention gives no weights. In-place ReLU writes over what a hook on the layer before it was
    given. Dropout draws other random numbers in mixed precision, of the same distribution.

    Args:
        model: any module, changed in place: `attend` of multi-head attention, `activation` of feed-forward
            nets, and dropout, wherever they stand inside.
        fast: True for the fast parts, False for the readable ones.
        attention: whether attention is among them; in bf16 training on a processor, torch's kernel is slow.

    Returns:
        The model itself.

    >>> model = use_fast(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.1)))
    >>> type(model[1]).__name__, type(use_fast(model, fast=False)[1]).__name__
    ('RandomBitsDropout', 'Dropout')
    """
    functions: list[tuple[str, Any, Any]] = [("activation", torch.relu, torch.relu_)]
    if attention or not fast:
        functions.append(("attend", scaled_dot_product_attention, _fused_attend))
    for module in model.modules():
        for name, readable, quick in functions:
            if getattr(module, name, None) is (readable if fast else quick):
                setattr(module, name, quick if fast else readable)
    old, new = (nn.Dropout, RandomBitsDropout) if fast else (RandomBitsDropout, nn.Dropout)
    # Each place by itself: one dropout layer may stand in several.
    for place, part in list(model.named_modules(remove_duplicate=False)):
        if place and type(part) is old and not part.inplace:
            model.set_submodule(place, new(part.p).train(part.training))
    return model


def computes_bf16(device: str = "cpu") -> bool:
    """Whether a device has instructions for numbers of 16 bits (bf16), so that mixed precision is faster.

    Args:
        device: the kind of device.

    Returns:
        What torch says of it; True where an older torch can't tell of a processor, False for other kinds than
        "cpu" and "cuda".
    """
    if device != "cpu":
        return device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    if not hasattr(torch.cpu, "get_capabilities"):
        return True
    has = torch.cpu.get_capabilities()
    return any(has.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16"))


def fused_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> Tensor:
    """`scaled_dot_product_attention` in one call of torch's own kernel, which keeps no weights.

    Faster and smaller for long sequences, equal up to rounding. It computes the same formula, eq. 1 of Vaswani
    et al. 2017.

    Args:
        queries: (..., q_len, d_k).
        keys: (..., k_len, d_k).
        values: (..., k_len, d_v).
        mask: boolean, broadcastable to (..., q_len, k_len); True = may attend. A query that may attend to
            nothing gets zeros.

    Returns:
        The output, (..., q_len, d_v).

    Raises:
        ValueError: if the widths of queries and keys differ, if there aren't as many values as keys, or if
            the mask isn't boolean or doesn't fit.
        RuntimeError: if the leading dimensions don't fit together, such as a batch of 2 and one of 3; torch
            raises it.
    """
    check_sizes(queries, keys, values)
    of_scores = queries.shape[:-2]
    if (
        not of_scores == keys.shape[:-2] == values.shape[:-2]
    ):  # torch's kernel wants one batch shape
        of_scores = _together(of_scores, keys.shape[:-2])
        batch = _together(of_scores, values.shape[:-2])
        queries, keys, values = (x.expand(*batch, *x.shape[-2:]) for x in (queries, keys, values))
    if mask is None:
        return F.scaled_dot_product_attention(queries, keys, values)
    check_mask(mask, torch.Size((*of_scores, queries.shape[-2], keys.shape[-2])))
    mask = mask[(None,) * (queries.dim() - mask.dim())]  # as many dimensions as the queries
    # Older kernels answer a query that may see nothing with NaN: let it see all, then zero what it got.
    some = mask.any(-1, keepdim=True)  # (..., q_len or 1, 1)
    output = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask | ~some)
    return output.masked_fill(~some, 0.0)


def _together(one: torch.Size, other: torch.Size) -> torch.Size:
    shape: torch.Size = torch.broadcast_shapes(one, other)  # type: ignore[no-untyped-call]
    return shape


def _fused_attend(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, None]:
    """`fused_attention` with the results of the readable one: output and weights, of which there are none."""
    return fused_attention(queries, keys, values, mask), None


class RandomBitsDropout(nn.Dropout):
    """`torch.nn.Dropout`, drawn faster in mixed precision, where it would take a tenth of a training step.

    From Srivastava et al. 2014. Only in training, a share `p` of the numbers is set to zero, and the others are
    divided by 1 - p; in evaluation the tensor comes back as it is. Without autocast it is torch's own.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Set a share of the numbers to zero.

        Args:
            input: of any shape.

        Returns:
            The shape and type of `input`.
        """
        # 16 bits can't tell shares of numbers that are kept apart where these are few.
        quick = self.training and 0 < self.p <= 0.99
        if not (quick and torch.is_autocast_enabled(input.device.type)):
            return super().forward(input)
        # 16 random bits decide on a number; 64 are drawn at once.
        n = input.numel()
        drawn = torch.empty((n + 3) // 4, dtype=torch.int64, device=input.device)
        drawn = drawn.random_(-(2**63), None).view(torch.int16)[:n].view(input.shape)
        kept = (drawn >= round(self.p * 2**16) - 2**15).to(input.dtype)  # 1 or 0
        return input * kept.mul_(1 / (1 - self.p))


def chunked_cross_entropy(
    states: Tensor,
    weight: Tensor,
    labels: Tensor,
    pad_id: int = 0,
    label_smoothing: float = 0.0,
    chunk: int = 512,
) -> Tensor:
    """`cross_entropy(states @ weight.T, labels)` without ever holding all logits: faster and smaller.

    The logits of a batch are the largest tensor of a training step. Here they exist for `chunk` tokens at a
    time, and not at all for padding; the gradients, if any are wanted, are computed along with the loss. The
    loss is that of `loss.cross_entropy`, with the label smoothing of Szegedy et al. 2016, §7.

    Args:
        states: what `Transformer.decode` returns, (..., d_model).
        weight: of the output layer, (vocab_size, d_model).
        labels: the right ids, (...), int64.
        pad_id: labels of this id don't count.
        label_smoothing: ε, at least 0 and below 1.
        chunk: tokens at a time, 1 or more.

    Returns:
        A single number, in nats, in single precision, or double where the states are; 0 where every label is
        padding.

    Raises:
        ValueError: if the labels haven't the shape of the states without the last dimension, aren't int64, or
            hold an id outside the vocabulary, if ε is out of range, or if `chunk` is below 1.
        RuntimeError: if states and weight differ in width, or, without autocast, in type; torch raises it. Or
            if `create_graph=True` asks for gradients of the gradients: only `cross_entropy` has them.

    >>> states, weight, labels = torch.ones(2, 3), torch.eye(4, 3), torch.tensor([1, 3])
    >>> loss = chunked_cross_entropy(states, weight, labels)
    >>> torch.allclose(loss, F.cross_entropy(states @ weight.T, labels))
    True
    """
    _check_given(states, labels, label_smoothing, chunk)
    return _in_chunks(states, weight, labels, pad_id, label_smoothing, chunk)


def chunked_r_drop(
    one: Tensor,
    other: Tensor,
    weight: Tensor,
    labels: Tensor,
    pad_id: int = 0,
    label_smoothing: float = 0.0,
    r_drop: float = 5.0,
    chunk: int = 256,
) -> Tensor:
    r"""The loss of R-Drop for two passes over the same tokens, without ever holding all logits.

    With $p$ and $q$ the two distributions of a token, it is the mean of both cross-entropies and α/4 times that
    of $\mathrm{KL}(p\,\|\,q) + \mathrm{KL}(q\,\|\,p) = \sum_k (p_k - q_k)(z_k - z'_k)$ (Liang et al. 2021,
    eq. 2). Here $z$ and $z'$ are the logits: what each softmax subtracts from all of them is the same for all
    $k$, and $p - q$ has the sum 0. As in `chunked_cross_entropy`, the logits exist for `chunk` tokens at a
    time, and the gradients, if any are wanted, are computed along with the loss.

    Args:
        one: decoder states, (..., d_model).
        other: of the other pass, of the same shape.
        weight: of the output layer, (vocab_size, d_model).
        labels: the right ids, (...), int64.
        pad_id: labels of this id don't count.
        label_smoothing: ε, at least 0 and below 1.
        r_drop: α, 0 or more.
        chunk: tokens at a time, 1 or more.

    Returns:
        A single number, as `chunked_cross_entropy` does.

    Raises:
        ValueError: if the states differ in shape or α is below 0 or not finite, and as `chunked_cross_entropy`
            does.
        RuntimeError: as `chunked_cross_entropy` does.

    >>> one, other, labels = torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]), torch.tensor([1])
    >>> usual = F.cross_entropy(torch.cat([one, other]), labels.repeat(2))  # the states are the logits here
    >>> chunked_r_drop(one, other, torch.eye(2), labels, r_drop=4.0) - usual  # (1/2 - 0.731)(0 - 1)
    tensor(0.2311)
    """
    if one.shape != other.shape:
        raise ValueError(
            f"one {tuple(one.shape)} and other {tuple(other.shape)} must have the same shape"
        )
    if not 0 <= r_drop < math.inf:
        raise ValueError(f"r_drop ({r_drop}) must be a finite number, 0 or more")
    _check_given(one, labels, label_smoothing, chunk)
    pairs, twice = torch.stack([one, other], -2), torch.stack([labels, labels], -1)
    return _in_chunks(pairs, weight, twice, pad_id, label_smoothing, 2 * chunk, r_drop)


def _check_given(states: Tensor, labels: Tensor, smoothing: float, chunk: int) -> None:
    if states.shape[:-1] != labels.shape:
        raise ValueError(
            f"labels of shape {tuple(labels.shape)} must have the shape of the states "
            f"{tuple(states.shape)} without the last dimension"
        )
    if chunk < 1:
        raise ValueError(f"chunk ({chunk}) must be 1 or more")
    check_smoothing(smoothing)


def _in_chunks(
    states: Tensor,
    weight: Tensor,
    labels: Tensor,
    pad_id: int,
    smoothing: float,
    chunk: int,
    r_drop: float | None = None,
) -> Tensor:
    """The mean loss; with R-Drop, rows 2i and 2i + 1 are two passes over a token, and `chunk` is even."""
    hidden = None
    if states.device.type == "cpu":
        real = labels != pad_id
        states, labels = states[real], labels[real]
    else:  # to choose rows is to wait for the card, which alone knows how many there are
        hidden = labels.flatten() == pad_id
        states, labels = states.flatten(0, -2), labels.flatten().masked_fill(hidden, 0)
    check_labels(labels, len(weight))
    n = _counted(labels, hidden)
    settings = (labels, smoothing, chunk, r_drop, hidden)

    def mean(states: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
        loss, *gradients = _summed(states, weight, True, *settings)
        return loss / n, *(gradient.div_(n) for gradient in gradients)

    if torch.is_grad_enabled() and (states.requires_grad or weight.requires_grad):
        loss: Tensor = _WithGradients.apply(mean, states, weight)  # type: ignore[no-untyped-call]
        return loss
    return _summed(states, weight, False, *settings)[0] / n


def _counted(labels: Tensor, hidden: Tensor | None) -> int | Tensor:
    """How many labels count, 1 at least."""
    if hidden is None:
        return max(len(labels), 1)
    return (~hidden).sum().clamp(min=1)


class _WithGradients(torch.autograd.Function):
    """A function that computes its gradients along with its value, so that nothing else need be kept."""

    @staticmethod
    def forward(
        ctx: Any, compute: Callable[..., tuple[Tensor, ...]], states: Tensor, weight: Tensor
    ) -> Tensor:
        """What `compute` gives first; what it gives then is kept for `backward`."""
        value, *gradients = compute(states, weight)
        ctx.save_for_backward(*gradients)
        return value

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """The kept gradients times the gradient that comes from above."""
        # The kept gradients are constants: derivatives of them would be wrong without a word.
        if torch.is_grad_enabled():
            raise RuntimeError(
                "a loss in chunks can't be differentiated twice (create_graph=True): use cross_entropy, and "
                "for R-Drop kl_divergence"
            )
        return None, *(gradient * grad_output[0] for gradient in ctx.saved_tensors)


def _summed(
    states: Tensor,
    weight: Tensor,
    gradients: bool,
    labels: Tensor,
    smoothing: float,
    chunk: int,
    r_drop: float | None,
    hidden: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The sum of the losses, and its gradients for `states` and `weight`, left unfinished if not wanted.

    Rows that are hidden, (n,), count nothing; None: all count.
    """
    # Autocast leaves double precision alone. Mixed precision as on processors looks at values, which a card
    # would have to be waited for.
    mixed = hidden is None and torch.is_autocast_enabled(states.device.type)
    settings = (states, weight, gradients, labels, smoothing, chunk, r_drop)
    if mixed and states.dtype != torch.float64:
        return _in_mixed_precision(*settings)
    return _in_own_precision(*settings, hidden)


def _in_own_precision(
    states: Tensor,
    weight: Tensor,
    gradients: bool,
    labels: Tensor,
    smoothing: float,
    chunk: int,
    r_drop: float | None,
    hidden: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The products in the type of states and weight; what is summed, in single precision at least."""
    dtype = torch.promote_types(states.dtype, torch.float32)
    loss = states.new_zeros((), dtype=dtype)
    # In half precision a small gradient would become 0 before a scale, which comes from above, could save it.
    grad_states = torch.empty_like(states, dtype=dtype)
    grad_weight = torch.zeros_like(weight, dtype=dtype)
    parts = (torch.split(rows, chunk) for rows in (states, labels, grad_states))
    for i, (x, y, grad_x) in enumerate(zip(*parts, strict=True)):
        nothing = None if hidden is None else hidden[i * chunk : (i + 1) * chunk, None]
        log_probs = torch.log_softmax((x @ weight.T).to(dtype), -1)  # (chunk, vocab_size)
        if nothing is not None:
            log_probs.masked_fill_(nothing, 0.0)
        loss -= (1 - smoothing) * log_probs.gather(-1, y[:, None]).sum()
        loss -= smoothing * log_probs.mean(-1).sum()
        if r_drop is not None:
            loss += _divergence(log_probs, log_probs.exp(), r_drop, gradients)
        elif gradients:
            log_probs.exp_()
        if gradients:
            # The gradient with respect to the logits is p - q, predicted minus wanted distribution.
            error = log_probs.sub_(smoothing / len(weight))
            error.scatter_add_(-1, y[:, None], error.new_full((len(y), 1), smoothing - 1))
            if nothing is not None:
                error.masked_fill_(nothing, 0.0)
            error = error.to(x.dtype)
            grad_x.copy_(error @ weight)
            grad_weight += error.T @ x
    return loss, grad_states, grad_weight


def _in_mixed_precision(
    states: Tensor,
    weight: Tensor,
    gradients: bool,
    labels: Tensor,
    smoothing: float,
    chunk: int,
    r_drop: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same, its large products in autocast's type.

    They are so fast that whatever else is done with all logits would take most of the time. So nothing is, but
    softmax and a sum: what q contributes to loss and gradients needs no logits, only q @ weight.
    """
    device, n_ids = states.device.type, len(weight)
    dtype = torch.get_autocast_dtype(device)
    with torch.autocast(device, enabled=False):
        states, weight = states.float(), weight.float()
        wanted, mean = weight[labels], weight.mean(0)  # (n, d_model), (d_model,)
        loss = smoothing * (states * (wanted - mean)).sum()
        grad_states = torch.lerp(wanted, mean, smoothing).neg_()  # - q @ weight
        grad_weight = weight.new_zeros(weight.T.shape)  # transposed, as the products give it
        narrow, narrow_weight = states.to(dtype), weight.to(dtype)
        shares = []
        for x, y, grad_x in zip(
            *(torch.split(rows, chunk) for rows in (narrow, labels, grad_states)), strict=True
        ):
            # Each new shape of a product is compiled first; with rows of zeros, there are few shapes.
            x = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % 64))
            logits = x @ narrow_weight.T  # (chunk, vocab_size)
            error = probs = logits.softmax(-1)
            shares.append(_share(probs, y))
            if r_drop is not None:
                error = logits
                loss += _divergence(error, probs, r_drop, gradients)
            if gradients:
                grad_x += (error @ narrow_weight)[: len(y)]
                grad_weight += x.T @ error
        right, others = (torch.cat(parts) for parts in zip(*shares, strict=True))
        loss -= _log_probs(right, others, narrow, narrow_weight, labels, chunk).sum()
        if not gradients:
            return loss, grad_states, grad_weight
        by_weight = grad_weight.T.contiguous().sub_(states.sum(0) * (smoothing / n_ids))
        return loss, grad_states, by_weight.index_add_(0, labels, states, alpha=smoothing - 1)


def _divergence(logits: Tensor, probs: Tensor, r_drop: float, gradients: bool) -> Tensor:
    """What R-Drop adds to the sum of the cross-entropies of pairs of rows: α/2 times both divergences.

    Args:
        logits: those of two passes over a token one after the other, (2 n, vocab_size), each row up to a
            constant. They come back as `probs` plus the gradient of the result, or spoilt if no gradients are
            wanted.
        probs: their softmax.
        r_drop: α.
        gradients: whether they are wanted.

    Returns:
        A single number.
    """
    pairs = len(logits) // 2, 2, logits.shape[-1]
    (apart, free), (p, q) = (rows.view(pairs).unbind(1) for rows in (logits, probs))
    half = r_drop / 2
    apart.sub_(free)
    mean_p, mean_q = (torch.mul(x, apart, out=free).sum(-1, keepdim=True) for x in (p, q))
    if gradients:
        torch.add(1 + half * (1 + mean_q), apart, alpha=-half, out=free).mul_(q).sub_(p, alpha=half)
        torch.add(1 + half * (1 - mean_p), apart, alpha=half, out=apart).mul_(p).sub_(q, alpha=half)
    return half * (mean_p - mean_q).to(torch.promote_types(probs.dtype, torch.float32)).sum()


def _share(probs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Probability of each row's label, and the sum of all others; `probs` comes back as it was."""
    rows = torch.arange(len(labels), device=labels.device)
    right = probs[rows, labels]
    probs[rows, labels] = 0.0
    others = probs.sum(-1)[: len(labels)]
    probs[rows, labels] = right
    return right, others


def _log_probs(
    right: Tensor, others: Tensor, states: Tensor, weight: Tensor, labels: Tensor, chunk: int
) -> Tensor:
    """Log-probabilities of the labels, (n,), in single precision, from what `_share` gave.

    A probability close to 1 is rounded away from the truth, but not what is left of it for all others. One that
    is too small for its type is computed from the logits once more.
    """
    p = right.float()
    log_probs = torch.where(p > 0.5, (-others.float()).log1p(), p.log())
    lost = (p < torch.finfo(right.dtype).tiny).nonzero().squeeze(-1)
    for start in range(0, len(lost), chunk):  # mostly none
        rows = lost[start : start + chunk]
        exact = torch.log_softmax((states[rows] @ weight.T).float(), -1)
        log_probs[rows] = exact.gather(-1, labels[rows, None]).squeeze(-1)
    return log_probs
