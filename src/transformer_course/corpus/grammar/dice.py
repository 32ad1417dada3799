"""Random choices, the same on every platform."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from transformer_course.corpus.grammar.lexicon import Adjective, Noun
from transformer_course.corpus.grammar.splits import SPLITS, split_of

T = TypeVar("T")


W = TypeVar("W", Noun, Adjective)


class Dice:
    """Random choices that give the same result on every platform."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random
        self.deck: list[Any] = []
        self.allowed = frozenset(SPLITS)  # the splits whose combinations may be drawn

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random() * len(items))]

    def deal(self, cards: Sequence[T]) -> T:
        """One of the cards; all are dealt before one comes again, so each is as frequent as the others.

        There is one deck: call it with the same cards always.
        """
        if not self.deck:
            self.deck = sorted(cards, key=lambda card: self.random())
        card: T = self.deck.pop()
        return card

    def companion(self, items: Sequence[W], *words: str) -> W:
        """A word that may meet the given words in the split that is being written.

        If there is none among the first ones drawn, any: the sentence will be refused.
        """
        for _ in range(8):
            chosen = self.pick(items)
            if split_of((*words, chosen.name)) in self.allowed:
                break
        return chosen

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return self.random() < probability
