"""Stories with questions as rows of word ids, for the experiments of chapter 12."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.stories import KINDS, Question, stories_with_questions, words
from transformer_course.loss import cross_entropy

PAD, BOS, UNKNOWN = 0, 1, 2


class Asked(NamedTuple):
    """An answer within a row: its words stand from `start` to before `end`.

    `distance` is how many sentences back it was told, questions not counted.
    """

    kind: str
    start: int
    end: int
    distance: int


@dataclass
class Texts:
    """Rows of ids, (n, length), padded on the right, and what is asked in each."""

    ids: Tensor
    asked: list[list[Asked]]


def fresh_vocabulary() -> dict[str, int]:
    """Word → id, with the symbols alone."""
    return {"<pad>": PAD, "<s>": BOS, "<unk>": UNKNOWN}


def texts(
    split: str,
    n: int,
    length: int,
    vocabulary: dict[str, int],
    every: int = 2,
    kinds: Collection[str] = KINDS,
    once: bool = True,
) -> Texts:
    """Stories with questions, each cut after `length` words.

    Args:
        split: "train", "valid" or "test".
        n: how many.
        length: words of a row, the symbol at its beginning included.
        vocabulary: word → id; words that it lacks are added where the split is "train".
        every: as in `stories_with_questions`.
        kinds: likewise.
        once: likewise.
    """
    rows = torch.full((n, length), PAD)
    asked = []
    told = stories_with_questions(split, n, 0, max(4, length // 9), every, kinds, once)
    for i, parts in enumerate(told):
        row: list[int] = [BOS]
        found = []
        for text, question in _texts(parts):
            start = len(row)
            for word in words(text):
                if word not in vocabulary and split == "train":
                    vocabulary[word] = len(vocabulary)
                row.append(vocabulary.get(word, UNKNOWN))
            if question and text == question.answer.source and len(row) <= length:
                found.append(Asked(question.kind, start, len(row), question.distance))
        rows[i, : min(length, len(row))] = torch.tensor(row[:length])
        asked.append(found)
    return Texts(rows, asked)


def _texts(parts: list[Pair | Question]) -> Iterator[tuple[str, Question | None]]:
    """Sentences alone; a question in two pieces, question and answer."""
    for part in parts:
        if isinstance(part, Pair):
            yield part.source, None
        else:
            yield part.question.source, part
            yield part.answer.source, part


def loss_of(logits: Tensor, ids: Tensor) -> Tensor:
    """Mean cross-entropy of every word but the first, padding left out.

    Args:
        logits: (batch, length, vocab_size).
        ids: (batch, length).
    """
    return cross_entropy(logits[:, :-1], ids[:, 1:], PAD)
