"""What both parallel models share when they translate (chapter 13): checks, the best token at each place."""

from typing import Any

import torch
from torch import Tensor

from transformer_course.corpus.batches import BOS_ID, EOS_ID
from transformer_course.decoding import Hypothesis
from transformer_course.loss import log_softmax


def best_tokens(logits: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """The most probable token at each place, by itself; padding, <s> and </s> are never chosen.

    The length is known before any token is, so there is no </s> to predict.

    Args:
        logits: (batch, length, vocab_size).
        pad_id: the id of padding.

    Returns:
        Log-probabilities in nats, and ids, both (batch, length).
    """
    log_probs = log_softmax(logits)
    log_probs[..., [pad_id, BOS_ID, EOS_ID]] = -torch.inf
    best = log_probs.max(-1)
    return best.values, best.indices


def finished(tokens: Tensor, log_prob: Tensor, score: Tensor, pad_id: int) -> list[Hypothesis]:
    """Rows of tokens as a search gives them back: without padding, with </s>.

    Args:
        tokens: (rows, length), padded.
        log_prob: of each row, in nats, (rows,).
        score: what rows are ranked by, (rows,).
        pad_id: the id of padding.

    Returns:
        A hypothesis for each row.
    """
    rows = zip(tokens.tolist(), log_prob.tolist(), score.tolist(), strict=True)
    return [
        Hypothesis([*(token for token in row if token != pad_id), EOS_ID], total, rank)
        for row, total, rank in rows
    ]


def check_parallel(model: Any, max_len: int, candidates: int, top_beams: int) -> None:
    """Refuse what can't be searched.

    Args:
        model: must be in evaluation mode.
        max_len: most tokens of a translation, </s> included, as in `decoding.greedy`.
        candidates: rival translations of each sentence.
        top_beams: how many of them are wanted.

    Raises:
        ValueError: if the model is in training mode with dropout, `max_len` is below 2 or beyond the model's,
            or `top_beams` isn't between 1 and the number of candidates.
    """
    if model.training and model.config.dropout > 0:
        raise ValueError("model is in training mode, dropout would decide: call model.eval() first")
    if not 2 <= max_len <= model.config.max_len:
        raise ValueError(
            f"max_len ({max_len}) must be 2 or more and at most the model's max_len "
            f"({model.config.max_len})"
        )
    if not 1 <= top_beams <= candidates:
        raise ValueError(
            f"top_beams ({top_beams}) must be 1 or more and at most the candidates ({candidates})"
        )
