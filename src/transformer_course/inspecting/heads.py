"""Reading attention maps: patterns, alignments, rollout (chapter 10)."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from transformer_course.multi_head import MultiHeadAttention

READINGS = ("predicts", "reads", "norms")


def pattern_scores(weights: Tensor) -> dict[str, Tensor]:
    """How much of a head's weight falls on fixed places; for self-attention.

    Clark et al. 2019 and Voita et al. 2019 found such heads in BERT and in translators.

    Args:
        weights: attention maps of one sentence, (heads, length, length); 2 positions or more.

    Returns:
        Pattern → mean weight, (heads,): "previous", "same" and "next" position (over the positions that have
        one), the "first" and the "last" one of the sentence, and "spread": the entropy divided by that of
        equal weights on what has any weight, so 1 is uniform. A row with one such place, as the first one
        under a causal mask, counts as 0.

    Raises:
        ValueError: if the weights haven't the shape above.

    >>> looks_back = torch.tensor([[[1.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    >>> {name: round(float(score), 2) for name, score in pattern_scores(looks_back).items()}
    {'previous': 1.0, 'same': 0.33, 'next': 0.0, 'first': 0.67, 'last': 0.0, 'spread': 0.0}
    """
    if weights.dim() != 3 or weights.shape[1] != weights.shape[2] or weights.shape[1] < 2:
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} must have the shape (heads, length, length), with "
            "length 2 or more"
        )
    # A causal map gives later positions no weight: a row may spread over what it sees.
    visible = (weights > 0).sum(-1).clamp(min=2)
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    diagonals = {"previous": -1, "same": 0, "next": 1}
    scores = {name: weights.diagonal(offset, 1, 2).mean(-1) for name, offset in diagonals.items()}
    return scores | {
        "first": weights[:, :, 0].mean(-1),
        "last": weights[:, :, -1].mean(-1),
        "spread": (entropy / visible.log()).mean(-1),
    }


def value_norms(attention: MultiHeadAttention, memory: Tensor) -> Tensor:
    """The length of what each head would add to the output if a key got all of its weight.

    Multiplied by the weights, it says how much really comes from where (Kobayashi et al. 2020, eq. 4).

    Args:
        attention: of any kind.
        memory: what its keys and values come from, (batch, k_len, d_model).

    Returns:
        (batch, heads, k_len).
    """
    _, values = attention.keys_and_values(memory)  # (batch, heads, k_len, d_k)
    # Each head owns d_k columns of W^O.
    weight = attention.w_output.weight  # (d_model, d_model)
    columns = weight.view(len(weight), attention.n_heads, -1)  # (d_model, heads, d_k)
    moved = torch.einsum("bhkd,mhd->bhkm", values, columns)
    return moved.norm(dim=-1)


def word_weights(
    weights: Tensor,
    src_words: Sequence[int],
    tgt_words: Sequence[int],
    reading: str = "predicts",
    norms: Tensor | None = None,
) -> Tensor:
    """Cross-attention between words: columns of a word's subwords added up, rows averaged.

    Row t of a map belongs to the step that *reads* target token t, which starts with <s>, and *predicts* token
    t + 1. Chen et al. 2020 found in their models that reading tells more; in others it has to be measured.

    Args:
        weights: (heads, tgt_len, src_len) of one sentence whose decoder read <s> and then all of the target.
        src_words: the word of each source subword, counted from 0; further columns, of </s>, are left out.
        tgt_words: the word of each target subword, counted from 0, without <s>.
        reading: "predicts": the row of the step before; "reads": the row of the token itself; "norms":
            "predicts", times the length of what comes from each key (Kobayashi et al. 2020).
        norms: what `value_norms` says of the source, (heads, src_len); needed for "norms" only.

    Returns:
        (heads, target words, source words).

    Raises:
        ValueError: if the reading is unknown, norms are needed and missing, or there are fewer rows or columns
            than subwords.
    """
    if reading not in READINGS:
        raise ValueError(f"reading ({reading!r}) must be one of {', '.join(READINGS)}")
    if weights.shape[1] < len(tgt_words) + 1 or weights.shape[2] < len(src_words):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} must have a row for <s> and each of the "
            f"{len(tgt_words)} target subwords, and a column for each of the {len(src_words)} of the source"
        )
    if reading == "norms":
        if norms is None:
            raise ValueError("norms must be given for the reading 'norms'")
        weights = weights * norms[:, None]
    start = 1 if reading == "reads" else 0
    rows = weights[:, start : start + len(tgt_words), : len(src_words)]
    into = _membership(src_words).to(rows)  # (src subwords, words)
    out = _membership(tgt_words).to(rows)
    out = out / out.sum(0)
    return out.T @ rows @ into


def _membership(words: Sequence[int]) -> Tensor:
    return torch.nn.functional.one_hot(torch.tensor(words))


def word_links(weights: Tensor) -> set[tuple[int, int]]:
    """Each target word's strongest source word, as links.

    Args:
        weights: of one head, or an average, (target words, source words).

    Returns:
        (source word, target word) pairs, as in `Pair.alignment`.
    """
    return {(int(source), target) for target, source in enumerate(weights.argmax(-1))}


def alignment_error_rate(
    found: Sequence[Collection[tuple[int, int]]], gold: Sequence[Collection[tuple[int, int]]]
) -> float:
    r"""Alignment error rate of all sentences together (Och and Ney 2003), all gold links being sure.

    $1 - 2 |A \cap G| / (|A| + |G|)$

    Args:
        found: the links of each sentence.
        gold: the right ones.

    Returns:
        0 (all right, none missing) to 1.

    Raises:
        ValueError: if there aren't as many sentences in both, or there is no link at all.

    >>> alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0), (1, 2), (2, 1)}])
    0.6
    """
    if len(found) != len(gold):
        raise ValueError(f"found has {len(found)} sentences, gold has {len(gold)}")
    hits = sum(len(set(a) & set(g)) for a, g in zip(found, gold, strict=True))
    total = sum(map(len, found)) + sum(map(len, gold))
    if not total:
        raise ValueError("there must be at least one link")
    return 1 - 2 * hits / total


def rollout(maps: Sequence[Tensor]) -> Tensor:
    """How much of each input position has mixed into each output (attention rollout, Abnar and Zuidema 2020).

    Each layer passes on half of a vector itself, by the residual connection, and half of what attention
    averages; the layers' matrices are multiplied.

    Args:
        maps: self-attention of each layer, first layer first, (heads, length, length).

    Returns:
        (length, length); each row sums to 1.

    Raises:
        ValueError: if there are no maps.
    """
    if not maps:
        raise ValueError("maps is empty; there must be at least one layer")
    mixed = torch.eye(maps[0].shape[-1], dtype=maps[0].dtype, device=maps[0].device)
    for weights in maps:
        step = (weights.mean(0) + torch.eye(len(mixed), dtype=mixed.dtype, device=mixed.device)) / 2
        mixed = step @ mixed
    return mixed
