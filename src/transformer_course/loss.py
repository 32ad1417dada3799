"""Loss (chapter 08): how wrong a predicted distribution is, and by how much to mend it."""

import math
from typing import Any

import torch
from torch import Tensor

from transformer_course.encoder_decoder import Transformer
from transformer_course.masking import padding_mask


def log_softmax(logits: Tensor) -> Tensor:
    r"""Logarithms of softmax over the last dimension: $z_k - \log\sum_j \exp(z_j)$, without overflow.

    Half-precision logits are computed, and returned, in single precision.

    Args:
        logits: (..., vocab_size).

    Returns:
        Log-probabilities in nats, (..., vocab_size).

    >>> log_softmax(torch.tensor([1000.0, 1000.0]))
    tensor([-0.6931, -0.6931])
    """
    if logits.dtype in (torch.bfloat16, torch.float16):
        logits = logits.float()  # three digits of a loss of 9 would hide all that training gains
    return torch.log_softmax(logits, -1)


def cross_entropy(
    logits: Tensor, labels: Tensor, pad_id: int = 0, label_smoothing: float = 0.0
) -> Tensor:
    r"""Mean cross-entropy per real token, in nats, with label smoothing.

    Label smoothing is from Szegedy et al. 2016, §7; the paper takes ε = 0.1 (Vaswani et al. 2017, §5.4).

    The target distribution is $q_k = (1-\epsilon)\,[k = y] + \epsilon / K$, spread over all $K$ ids, and the
    loss is $-\sum_k q_k \log p_k$. It is computed from logits, so no logarithm of 0 can occur. With
    smoothing its floor is not 0 but the entropy of $q$, see `smoothing_floor`.

    Args:
        logits: (..., vocab_size).
        labels: the right ids, (...), int64.
        pad_id: labels of this id don't count.
        label_smoothing: ε, at least 0 and below 1.

    Returns:
        A single number, in nats; 0 where every label is padding.

    Raises:
        ValueError: if shapes don't fit, labels aren't int64, a label is no id of the vocabulary, or ε is out
            of range.

    >>> uniform = torch.zeros(1, 6)
    >>> round(cross_entropy(uniform, torch.tensor([3])).item(), 4) == round(math.log(6), 4)
    True
    """
    if logits.shape[:-1] != labels.shape:
        raise ValueError(
            f"labels of shape {tuple(labels.shape)} must have the shape of the logits "
            f"{tuple(logits.shape)} without the last dimension"
        )
    _check_smoothing(label_smoothing)
    real = labels != pad_id
    labels = labels.masked_fill(~real, 0)  # pad_id may be outside the vocabulary
    _check_labels(labels, logits.shape[-1])
    log_probs = log_softmax(logits)
    losses = (label_smoothing - 1) * log_probs.gather(-1, labels[..., None]).squeeze(-1)  # (...)
    if label_smoothing:
        losses = losses - label_smoothing * log_probs.mean(-1)
    return losses.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


class _ChunkedCrossEntropy(torch.autograd.Function):
    """Loss and gradients chunk by chunk, so that never more than `chunk` rows of logits exist."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, labels: Tensor, smoothing: float, chunk: int
    ) -> Tensor:
        """Mean loss of `states`, (n, d_model), by `labels`, (n,); keeps the gradients for `backward`."""
        mixed, n = torch.is_autocast_enabled(states.device.type), max(len(labels), 1)
        computed = _in_mixed_precision if mixed else _in_single_precision
        loss, grad_states, grad_weight = computed(states, weight, labels, smoothing, chunk)
        ctx.save_for_backward(grad_states.div_(n), grad_weight.div_(n))
        return loss / n

    @staticmethod
    def backward(ctx: Any, *grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """The kept gradients times the gradient that comes from above."""
        grad_states, grad_weight = ctx.saved_tensors
        return grad_states * grad_output[0], grad_weight * grad_output[0], None, None, None


def _in_single_precision(
    states: Tensor, weight: Tensor, labels: Tensor, smoothing: float, chunk: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The sum of the losses, and its gradients by `states` and `weight`."""
    loss = states.new_zeros((), dtype=torch.float32)
    grad_states, grad_weight = torch.empty_like(states), torch.zeros_like(weight)
    for x, y, grad_x in zip(
        *(torch.split(rows, chunk) for rows in (states, labels, grad_states)), strict=True
    ):
        log_probs = log_softmax((x @ weight.T).float())  # (chunk, vocab_size)
        loss -= (1 - smoothing) * log_probs.gather(-1, y[:, None]).sum()
        loss -= smoothing * log_probs.mean(-1).sum()
        # The gradient of the loss by the logits is p - q, predicted minus wanted distribution.
        error = log_probs.exp_().sub_(smoothing / len(weight))
        error.scatter_add_(-1, y[:, None], error.new_full((len(y), 1), smoothing - 1))
        grad_x.copy_(error @ weight)
        grad_weight += error.T @ x
    return loss, grad_states, grad_weight


def _in_mixed_precision(
    states: Tensor, weight: Tensor, labels: Tensor, smoothing: float, chunk: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The same, its large products in autocast's type.

    They are so fast that whatever else is done with all logits would take most of the time. So nothing is, but
    softmax: what q contributes to loss and gradients needs no logits, only q @ weight.
    """
    device, n_ids = states.device.type, len(weight)
    dtype = torch.get_autocast_dtype(device)
    with torch.autocast(device, enabled=False):
        states, weight = states.float(), weight.float()
        right, mean = weight[labels], weight.mean(0)  # (n, d_model), (d_model,)
        loss = smoothing * (states * (right - mean)).sum()
        grad_states = torch.lerp(right, mean, smoothing).neg_()  # - q @ weight
        grad_weight = weight.new_zeros(weight.T.shape)  # transposed, as the products give it
        narrow, narrow_weight = states.to(dtype), weight.to(dtype)
        for x, y, grad_x in zip(
            *(torch.split(rows, chunk) for rows in (narrow, labels, grad_states)), strict=True
        ):
            # Each new shape of a product is compiled first; with rows of zeros, there are few shapes.
            x = torch.nn.functional.pad(x, (0, 0, 0, -len(x) % 64))
            probs = (x @ narrow_weight.T).softmax(-1)  # (chunk, vocab_size)
            right_probs = probs[: len(y)].gather(-1, y[:, None])
            loss -= right_probs.float().clamp_min(1e-38).log().sum()
            grad_x += (probs @ narrow_weight)[: len(y)]
            grad_weight += x.T @ probs
        by_weight = grad_weight.T.contiguous().sub_(states.sum(0) * (smoothing / n_ids))
        return loss, grad_states, by_weight.index_add_(0, labels, states, alpha=smoothing - 1)


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
    time, and not at all for padding; the gradients are computed along with the loss. The loss is that of
    `cross_entropy`, with the label smoothing of Szegedy et al. 2016, §7.

    Args:
        states: what `Transformer.decode` returns, (..., d_model).
        weight: of the output layer, (vocab_size, d_model).
        labels: the right ids, (...), int64.
        pad_id: labels of this id don't count.
        label_smoothing: ε, at least 0 and below 1.
        chunk: tokens at a time, 1 or more.

    Returns:
        A single number, in nats; 0 where every label is padding.

    Raises:
        ValueError: if the labels haven't the shape of the states without the last dimension, aren't int64, or
            hold an id outside the vocabulary, if ε is out of range, or if `chunk` is below 1.
        RuntimeError: if states and weight differ in width; torch raises it.

    >>> states, weight, labels = torch.ones(2, 3), torch.eye(4, 3), torch.tensor([1, 3])
    >>> torch.allclose(chunked_cross_entropy(states, weight, labels), cross_entropy(states @ weight.T, labels))
    True
    """
    if states.shape[:-1] != labels.shape:
        raise ValueError(
            f"labels of shape {tuple(labels.shape)} must have the shape of the states "
            f"{tuple(states.shape)} without the last dimension"
        )
    if chunk < 1:
        raise ValueError(f"chunk ({chunk}) must be 1 or more")
    _check_smoothing(label_smoothing)
    real = labels != pad_id
    _check_labels(labels[real], len(weight))
    loss: Tensor = _ChunkedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states[real], weight, labels[real], label_smoothing, chunk
    )
    return loss


def teacher_forcing_loss(
    model: Transformer, src: Tensor, tgt: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The loss that translators are trained with: predict each target token from the true ones before it.

    The decoder reads `tgt` without its last token and has to say `tgt` without its first one (the shift by
    one of chapter 07), at all positions in parallel. Such training is called teacher forcing (Williams and
    Zipser 1989).

    Args:
        model: the Transformer.
        src: token ids, (batch, src_len).
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        label_smoothing: ε, at least 0 and below 1.

    Returns:
        Mean cross-entropy per token that isn't padding, a single number in nats, by `chunked_cross_entropy`.

    Raises:
        ValueError: as `Transformer.encode`, `Transformer.decode` and `chunked_cross_entropy` do; a target of
            one token leaves nothing to decode.
    """
    pad_id = model.config.pad_id
    src_mask = padding_mask(src, pad_id)
    states = model.decode(tgt[:, :-1], model.encode(src, src_mask), src_mask)
    return chunked_cross_entropy(states, model.output.weight, tgt[:, 1:], pad_id, label_smoothing)


def smoothing_floor(vocab_size: int, label_smoothing: float) -> float:
    r"""The lowest value label-smoothed cross-entropy can reach: the entropy of its target, in nats.

    The entropy is from Shannon 1948, the target from Szegedy et al. 2016, §7.

    Args:
        vocab_size: number of ids K, 1 or more.
        label_smoothing: ε, at least 0 and below 1.

    Returns:
        The floor, in nats; 0 without smoothing.

    Raises:
        ValueError: if a number is out of range.

    >>> round(smoothing_floor(6, 0.1), 4)
    0.421
    """
    if vocab_size < 1:
        raise ValueError(f"vocab_size ({vocab_size}) must be 1 or more")
    _check_smoothing(label_smoothing)
    rest = label_smoothing / vocab_size
    right = 1 - label_smoothing + rest
    floor = -right * math.log(right)
    return floor - (vocab_size - 1) * rest * math.log(rest) if rest else floor


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    r"""Kullback–Leibler divergence $\sum_k p_k \log(p_k / q_k)$ over the last dimension, in nats.

    From Kullback and Leibler 1951.
    Where $p_k = 0$ the term is 0, as its limit is. Where $p_k > 0$ and $q_k = 0$ the divergence is infinite.

    Args:
        p: probabilities, (..., K).
        q: probabilities, (..., K).

    Returns:
        (...), in nats, at least 0 where p and q each sum to 1.

    Raises:
        ValueError: if the shapes differ.

    >>> kl_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.5, 0.5]))
    tensor(0.6931)
    """
    if p.shape != q.shape:
        raise ValueError(f"p and q must have one shape, got {tuple(p.shape)} and {tuple(q.shape)}")
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(-1)


def perplexity(mean_loss: float) -> float:
    """The number of equally likely tokens that would be as hard to guess: exp of the mean loss in nats.

    From Jelinek et al. 1977.

    Args:
        mean_loss: mean cross-entropy per token, in nats, without label smoothing.

    Returns:
        At least 1; infinite from a loss of 700 nats on, NaN for a loss that is NaN.

    >>> round(perplexity(math.log(8)))
    8
    """
    return math.inf if mean_loss >= 700 else math.exp(mean_loss)


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing ({label_smoothing}) must be at least 0 and below 1")


def _check_labels(labels: Tensor, vocab_size: int) -> None:
    if labels.dtype != torch.int64:
        raise ValueError(f"labels must be whole numbers (int64), got {labels.dtype}")
    if labels.numel():
        low, high = (int(x) for x in torch.aminmax(labels))
        if low < 0 or high >= vocab_size:
            raise ValueError(
                f"labels has the id {low if low < 0 else high}, which is outside the vocabulary of "
                f"{vocab_size} ids"
            )
