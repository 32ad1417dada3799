"""Words of the source that a translation does not depend on (chapter 10).

Hide one source subword at a time, and see by how much the translation gets less likely (leave-one-out). A word
that mostly matters and now changes nothing was probably left untranslated.
"""

from collections.abc import Collection, Sequence

import torch

from transformer_course.corpus.batches import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    Example,
    collate,
    token_batches,
)
from transformer_course.encoder_decoder import Transformer
from transformer_course.loss import sentence_log_probs
from transformer_course.masking import padding_mask

_OFTEN = 3  # a subword must have been met so often
_USUAL = 2.0  # nats: a subword matters if hiding it nearly always costs as much
_NOTHING = 0.1  # nats: a subword that costs less than this is not used
_MAX_TOKENS = 4096


@torch.inference_mode()
def falls(
    model: Transformer, examples: Sequence[Example], only: Collection[int] | None = None
) -> list[dict[int, float]]:
    """By how much each translation gets less likely if one of the source's subwords is hidden.

    Args:
        model: in evaluation mode.
        examples: ids of source and translation, without special tokens.
        only: ids of the subwords to hide; all if left out.

    Returns:
        For each example: index of a hidden source subword → in nats, the log-probability of the translation
        (</s> included) from the whole source, minus that without the subword.
    """
    hidden = [
        [j for j, token in enumerate(src) if only is None or token in only] for src, _ in examples
    ]
    rows = [(i, j) for i, places in enumerate(hidden) if places for j in (-1, *places)]
    repeated = [examples[i] for i, _ in rows]
    longest = max((len(src) + len(tgt) for src, tgt in examples), default=0)
    scores = torch.zeros(len(rows))
    device = next(model.parameters()).device
    budget = max(_MAX_TOKENS, longest + 3)
    for indices in token_batches(repeated, budget) if rows else ():
        batch = collate(repeated, indices)
        src, tgt = batch.src.to(device), batch.tgt.to(device)
        mask = padding_mask(src, PAD_ID)
        for row, index in enumerate(indices):
            if rows[index][1] >= 0:
                mask[row, ..., rows[index][1]] = False
        sums = sentence_log_probs(model(src, tgt[:, :-1], mask), tgt[:, 1:], PAD_ID)
        scores[list(indices)] = sums.cpu()
    score_of = dict(zip(rows, scores.tolist(), strict=True))
    return [
        {j: score_of[i, -1] - score_of[i, j] for j in places} for i, places in enumerate(hidden)
    ]


def telling_ids(model: Transformer, examples: Sequence[Example]) -> frozenset[int]:
    """The subwords that translations nearly always depend on.

    Args:
        model: in evaluation mode.
        examples: ids of sources and right translations, without special tokens; some thousand.

    Returns:
        Ids of subwords that came three times or more, and whose hiding cost 2 nats or more in nine of ten
        cases.
    """
    costs: dict[int, list[float]] = {}
    for (src, _), row in zip(examples, falls(model, examples), strict=True):
        for place, cost in row.items():
            costs.setdefault(src[place], []).append(cost)
    return frozenset(
        token
        for token, found in costs.items()
        if len(found) >= _OFTEN and sorted(found)[len(found) // 10] >= _USUAL
    )


def unused_places(
    model: Transformer, examples: Sequence[Example], telling: frozenset[int]
) -> list[list[int]]:
    """Where a source has a telling subword that its translation doesn't depend on.

    Args:
        model: in evaluation mode.
        examples: ids of sources and translations; special tokens of the translations are passed over.
        telling: from `telling_ids`.

    Returns:
        For each example the indices of such subwords in its source.
    """
    special = {PAD_ID, BOS_ID, EOS_ID}
    examples = [(src, [t for t in tgt if t not in special]) for src, tgt in examples]
    return [
        [place for place, cost in row.items() if cost < _NOTHING]
        for row in falls(model, examples, telling)
    ]
