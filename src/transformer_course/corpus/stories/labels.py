"""What a story consists of: sentences, references, a summary, questions (chapter 12)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from transformer_course.corpus.grammar.splits import Combination
from transformer_course.corpus.pairs import Pair

WORD_OR_MARK = re.compile(r"[.,?]|[^\s.,?]+")


def words(text: str) -> list[str]:
    """The words and marks of a text, which alignments and references count.

    Args:
        text: one or more sentences.

    Returns:
        The words and marks in their order.

    >>> words("Anna took it. Où est-il ?")
    ['Anna', 'took', 'it', '.', 'Où', 'est-il', '?']
    """
    return WORD_OR_MARK.findall(text)


class Mention(NamedTuple):
    """A pronoun or a description, and what it stands for.

    Args:
        sentence: the sentence it stands in, from 0.
        word: its (first) word in the English sentence, counted by `words`.
        french_word: the word in `targets[0]` that says it.
        kind: "he", "she", "him", "her", "it", "they", "there", or "friend", "place" for
            "the friend that …", "the place where …".
        entity: the English name of what is meant; two names are joined by " and ".
        antecedent: (sentence, word) where it was last named, or what the description speaks of.
        distance: how many sentences back that is; 0 is the same sentence.
    """

    sentence: int
    word: int
    french_word: int
    kind: str
    entity: str
    antecedent: tuple[int, int]
    distance: int


class Question(NamedTuple):
    """A question about the end of a story, or its beginning, with the answer.

    Args:
        kind: "where", "what", "who", "where thing", "first met" or "began".
        question: the question in both languages.
        answer: the answer in both languages.
        sentence: the last sentence that the answer depends on, from 0.
        distance: how many sentences back that is from the end; the last sentence is 1 back.
    """

    kind: str
    question: Pair
    answer: Pair
    sentence: int
    distance: int


@dataclass(frozen=True, slots=True)
class Story:
    """A story in both languages, and all that is known about it.

    Args:
        sentences: the sentences; each lists all its right translations *in this story*.
        mentions: every pronoun and description, in the order of the text.
        summary: one sentence for each person and animal: where they end, what they have.
        questions: what one could ask, with answers.
        combinations: (person or animal, thing) and (thing, place) pairs that the story brings together.
    """

    sentences: tuple[Pair, ...]
    mentions: tuple[Mention, ...]
    summary: tuple[Pair, ...]
    questions: tuple[Question, ...]
    combinations: tuple[Combination, ...]

    @property
    def english(self) -> str:
        """The whole English text."""
        return " ".join([pair.source for pair in self.sentences])

    @property
    def french(self) -> str:
        """The whole French text, of the first translations."""
        return " ".join([pair.target for pair in self.sentences])


def joined(pairs: Sequence[Pair]) -> Pair:
    """Several sentences as one pair, with the alignment of its words.

    Args:
        pairs: the sentences, one or more.

    Returns:
        A pair with one translation, made of the first one of each sentence.

    Raises:
        ValueError: if there are none.

    >>> short = Pair("Yes.", ("Oui.",), (), ((0, 0), (1, 1)))
    >>> joined([short, short]).alignment
    ((0, 0), (1, 1), (2, 2), (3, 3))
    """
    if not pairs:
        raise ValueError("pairs is empty; there must be at least one")
    links: list[tuple[int, int]] = []
    source = target = 0
    for pair in pairs:
        links += [(source + s, target + t) for s, t in pair.alignment]
        source += len(words(pair.source))
        target += len(words(pair.target))
    french = " ".join([pair.target for pair in pairs])
    return Pair(" ".join([pair.source for pair in pairs]), (french,), (), tuple(links))
