"""Words of the source that a translation does not depend on (chapter 10).

Hide one word of the source at a time, and see by how much the translation gets less likely (leave-one-out). A
word that mostly matters and now changes nothing was probably left untranslated.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch

from transformer_course.corpus.batches import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    Example,
    collate,
    token_batches,
)
from transformer_course.corpus.pairs import words
from transformer_course.encoder_decoder import Transformer
from transformer_course.loss import sentence_log_probs
from transformer_course.masking import padding_mask

if TYPE_CHECKING:  # the core does without tokenizers
    from transformer_course.corpus.vocabulary import Vocabulary

_SELDOM = 3  # a word that was met less often isn't judged
_OFTEN = 100  # so many cases of a word are tried
_ROUNDS = (_SELDOM, 4 * _SELDOM, _OFTEN)  # first a few of each: most words are out by then
_USUAL = 2.0  # nats: a word matters if hiding it nearly always costs as much
_NOTHING = 0.1  # nats: a word that costs less than this is not used
_MAX_TOKENS = 4096

Item = TypeVar("Item")
# The words of a source, and where their subwords stand.
Places = Sequence[tuple[str, Sequence[int]]]


def word_places(vocabulary: Vocabulary, text: str) -> list[tuple[str, list[int]]]:
    """The words and marks of a sentence, each with the places of its subwords.

    Args:
        vocabulary: cuts the sentence into subwords.
        text: the sentence.

    Returns:
        (word in the normal form, indices into the sentence's subwords), in the sentence's order; none where
        nothing is there but signs that separate words.

    Raises:
        ValueError: if it is not text, or UTF-8 cannot write it.

    >>> from transformer_course.corpus.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.train(["le chat voit l'arbre", "le chat voit l'été"], size=300)
    >>> word_places(vocabulary, "le chat voit l’été.")
    [('le', [0]), ('chat', [1]), ('voit', [2]), ("l'été", [3, 4, 5, 6]), ('.', [7])]
    """
    form = vocabulary.normalise(text)
    names = words(form)
    if not names:  # signs that separate words, and nothing else
        return []
    places: dict[int, list[int]] = {}
    for place, index in enumerate(vocabulary.word_indices(form)):
        places.setdefault(index, []).append(place)
    return [(names[index], where) for index, where in places.items()]


@torch.inference_mode()
def falls(
    model: Transformer, examples: Sequence[Example], hidden: Sequence[Sequence[Sequence[int]]]
) -> list[list[float]]:
    """By how much each translation gets less likely if a part of its source is hidden.

    Args:
        model: in evaluation mode.
        examples: ids of source and translation, without special tokens.
        hidden: for each example the parts that are hidden, one at a time: indices of source subwords.

    Returns:
        For each example and each of its parts, in nats: the log-probability of the translation (</s>
        included) from the whole source, minus that without the part.
    """
    rows = [(i, part) for i, parts in enumerate(hidden) if parts for part in ((), *parts)]
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
            mask[row, ..., list(rows[index][1])] = False
        sums = sentence_log_probs(model(src, tgt[:, :-1], mask), tgt[:, 1:], PAD_ID)
        scores[list(indices)] = sums.cpu()
    whole: list[float] = []
    costs: list[list[float]] = [[] for _ in examples]
    for (i, part), score in zip(rows, scores.tolist(), strict=True):
        if part:
            costs[i].append(whole[-1] - score)
        else:
            whole.append(score)
    return costs


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Choose items from all over a sequence.

    Args:
        items: any.
        most: how many to choose, 0 or more; all if there aren't as many.

    Returns:
        The chosen items, in their order.

    >>> spread("abcdefg", 3), spread("ab", 3)
    (['a', 'c', 'e'], ['a', 'b'])
    """
    count = min(most, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def telling_words(
    model: Transformer, examples: Sequence[Example], places: Sequence[Places]
) -> frozenset[str]:
    """The words that translations nearly always depend on.

    Args:
        model: in evaluation mode.
        examples: ids of sources and right translations, without special tokens; some thousand.
        places: from `word_places`, for each source.

    Returns:
        Words that came three times or more, and whose hiding cost 2 nats or more in nine of ten cases, and
        never nothing (less than 0.1): what a right translation can do without says nothing. At most 100 cases
        are tried for each, from all over the examples; fewer if they show already that it isn't one.
    """
    met: dict[str, list[tuple[int, Sequence[int]]]] = {}
    for i, row in enumerate(places):
        for word, part in row:
            met.setdefault(word, []).append((i, part))
    left = {word: spread(cases, _OFTEN) for word, cases in met.items() if len(cases) >= _SELDOM}
    costs: dict[str, list[float]] = {word: [] for word in left}
    for upto in _ROUNDS:
        tried: list[list[tuple[str, Sequence[int]]]] = [[] for _ in places]
        for word, cases in left.items():
            for i, part in cases[len(costs[word]) : upto]:
                tried[i].append((word, part))
        for row_of_costs in _costs(model, examples, tried):
            for word, cost in row_of_costs:
                costs[word].append(cost)
        left = {word: cases for word, cases in left.items() if _may_tell(costs[word], len(cases))}
    return frozenset(left)


def _may_tell(costs: Sequence[float], cases: int) -> bool:
    """Whether a word can still be a telling one, after the costs of some of its cases."""
    return min(costs) >= _NOTHING and sum(cost < _USUAL for cost in costs) <= cases // 10


def unused_words(
    model: Transformer,
    examples: Sequence[Example],
    places: Sequence[Places],
    telling: Collection[str],
) -> list[tuple[str, ...]]:
    """Which telling words of a source its translation doesn't depend on.

    Args:
        model: in evaluation mode.
        examples: ids of sources and translations; special tokens of the translations are passed over.
        places: from `word_places`, for each source.
        telling: from `telling_words`.

    Returns:
        For each example such words of its source, each once, in their order.
    """
    special = {PAD_ID, BOS_ID, EOS_ID}
    examples = [(src, [t for t in tgt if t not in special]) for src, tgt in examples]
    asked = [[(word, part) for word, part in row if word in telling] for row in places]
    return [
        tuple(dict.fromkeys(word for word, cost in row if cost < _NOTHING))
        for row in _costs(model, examples, asked)
    ]


def _costs(
    model: Transformer, examples: Sequence[Example], hidden: Sequence[Places]
) -> list[list[tuple[str, float]]]:
    """What hiding each of these words costs."""
    found = falls(model, examples, [[part for _, part in row] for row in hidden])
    return [
        [(word, cost) for (word, _), cost in zip(row, costs, strict=True)]
        for row, costs in zip(hidden, found, strict=True)
    ]
