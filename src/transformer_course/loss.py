"""Loss (chapter 08): how wrong a predicted distribution is, and by how much to mend it."""

import math
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from transformer_course.fast import chunked_cross_entropy as chunked_cross_entropy
from transformer_course.fast import chunked_r_drop
from transformer_course.labels import check_labels, check_smoothing
from transformer_course.masking import padding_mask


class EncoderDecoder(Protocol):
    """What the loss asks of a model; the Transformer and the recurrent models have it."""

    output: nn.Linear

    @property
    def config(self) -> Any:
        """Has pad_id."""
        ...

    def encode(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Read the source.

        Args:
            src: token ids, (batch, src_len).
            src_mask: (batch, 1, 1, src_len); True = may attend.

        Returns:
            The memory, (batch, memory_len, d_model).
        """
        ...

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """Read the target and the memory.

        Args:
            tgt: token ids, (batch, tgt_len).
            memory: what `encode` returned.
            src_mask: (batch, 1, 1, src_len); True = may attend.

        Returns:
            States, (batch, tgt_len, d_model), which `output`, a matrix without a bias, turns into scores.
        """
        ...


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
    check_smoothing(label_smoothing)
    real = labels != pad_id
    labels = labels.masked_fill(~real, 0)  # pad_id may be outside the vocabulary
    check_labels(labels, logits.shape[-1])
    log_probs = log_softmax(logits)
    losses = (label_smoothing - 1) * log_probs.gather(-1, labels[..., None]).squeeze(-1)  # (...)
    if label_smoothing:
        losses = losses - label_smoothing * log_probs.mean(-1)
    return losses.masked_fill(~real, 0.0).sum() / real.sum().clamp(min=1)


def teacher_forcing_loss(
    model: EncoderDecoder, src: Tensor, tgt: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The loss that translators are trained with: predict each target token from the true ones before it.

    The decoder reads `tgt` without its last token and has to say `tgt` without its first one (the shift by
    one of chapter 07), at all positions in parallel. Such training is called teacher forcing (Williams and
    Zipser 1989).

    Args:
        model: a Transformer, or another model with an encoder and a decoder.
        src: token ids, (batch, src_len).
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        label_smoothing: ε, at least 0 and below 1.

    Returns:
        Mean cross-entropy per token that isn't padding, a single number in nats, by `chunked_cross_entropy`.

    Raises:
        ValueError: as `Transformer.encode`, `Transformer.decode` and `chunked_cross_entropy` do, or if the
            output has a bias; a target of one token leaves nothing to decode.
    """
    pad_id = model.config.pad_id
    src_mask = padding_mask(src, pad_id)
    states = model.decode(tgt[:, :-1], model.encode(src, src_mask), src_mask)
    # cross_entropy(model.logits(states), tgt[:, 1:], pad_id, label_smoothing), without holding all logits:
    return chunked_cross_entropy(states, output_weight(model), tgt[:, 1:], pad_id, label_smoothing)


def output_weight(model: EncoderDecoder) -> Tensor:
    """The matrix that turns states into scores, for losses that never hold all scores.

    Args:
        model: whose output.

    Returns:
        (vocab_size, d_model).

    Raises:
        ValueError: if the output adds a bias, which such losses would leave out.
    """
    if model.output.bias is not None:
        raise ValueError("model.output must have no bias: the loss reads its weight only")
    return model.output.weight


def r_drop_loss(
    model: EncoderDecoder,
    src: Tensor,
    tgt: Tensor,
    label_smoothing: float = 0.0,
    r_drop: float = 5.0,
) -> Tensor:
    r"""Teacher forcing with R-Drop (Liang et al. 2021): two passes, whose dropout differs, shall say the same.

    Each sentence is read twice in one batch, which takes twice the time and memory. With $p$ and $q$ the two
    distributions of a token, the loss is the mean of both cross-entropies and
    $\frac{\alpha}{2} \cdot \frac{1}{2} (\mathrm{KL}(p\,\|\,q) + \mathrm{KL}(q\,\|\,p))$. That is half of what
    the paper takes, the sum of both cross-entropies; so its first part is as large as the usual loss.

    Args:
        model: as for `teacher_forcing_loss`, in training mode; without dropout both passes are the same.
        src: token ids, (batch, src_len).
        tgt: token ids, (batch, tgt_len), from <s> to </s>, padded.
        label_smoothing: ε, at least 0 and below 1.
        r_drop: α, 0 or more; the paper takes 5 for translation.

    Returns:
        Mean per token that isn't padding, a single number in nats.

    Raises:
        ValueError: if α is below 0 or not finite, and as `teacher_forcing_loss` does.
    """
    pad_id, labels = model.config.pad_id, tgt[:, 1:]
    src, tgt = src.repeat(2, 1), tgt.repeat(2, 1)  # (2 batch, ...)
    src_mask = padding_mask(src, pad_id)
    states = model.decode(tgt[:, :-1], model.encode(src, src_mask), src_mask)
    one, other = states.chunk(2)  # (batch, tgt_len - 1, d_model) each
    return chunked_r_drop(one, other, output_weight(model), labels, pad_id, label_smoothing, r_drop)


def sentence_log_probs(logits: Tensor, labels: Tensor, pad_id: int = 0) -> Tensor:
    """The log-probability of each sentence: the sum over its tokens, padding left out.

    Args:
        logits: (batch, tgt_len, vocab_size).
        labels: the tokens that were said, (batch, tgt_len).
        pad_id: label of the positions that don't count.

    Returns:
        In nats, (batch,).

    >>> sentence_log_probs(torch.zeros(1, 3, 4), torch.tensor([[2, 1, 0]])).exp()  # one of 4, twice
    tensor([0.0625])
    >>> sentence_log_probs(torch.zeros(1, 3, 4), torch.tensor([[2, 1, -100]]), -100).exp()
    tensor([0.0625])
    """
    padding = labels == pad_id
    tokens = labels.masked_fill(padding, 0)[:, :, None]  # pad_id may be no id at all, such as -100
    of_tokens = log_softmax(logits).gather(-1, tokens).squeeze(-1)  # (batch, tgt_len)
    return of_tokens.masked_fill(padding, 0.0).sum(-1)


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
    check_smoothing(label_smoothing)
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
