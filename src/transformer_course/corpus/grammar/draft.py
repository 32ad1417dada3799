"""A sentence on its way to becoming a pair: English words, and French as a function of readings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from transformer_course.corpus.grammar.clauses import AMBIGUOUS
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import H_ASPIRE
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.spelling import Keys, Word, spell
from transformer_course.corpus.grammar.splits import Combination, allowed, belongs
from transformer_course.corpus.pairs import Pair

Variants = list[list[Word]]


@dataclass(slots=True)
class Draft:
    """An English sentence and the rule that writes its French.

    Args:
        english: the English words.
        phrases: the phrases whose readings `french` is called with.
        french: gives one or more right ways to say it, for one reading of each phrase.
        phenomena: what the sentence is an example of.
        combinations: pairs of lemmas that decide to which split the sentence belongs.
        trained: only so many of the ways to say it are trained on; the others are right too.
    """

    english: list[Word]
    phrases: list[Phrase]
    french: Callable[..., Variants]
    phenomena: list[str] = field(default_factory=list)
    combinations: Sequence[Combination] = ()
    trained: int = 9

    def is_clear(self) -> bool:
        """Whether the tense of its verbs can be told in English."""
        return all(key != AMBIGUOUS for _, key in self.english)

    def all_combinations(self) -> Iterable[Combination]:
        """The sentence's own combinations and those within its phrases."""
        yield from self.combinations
        for phrase in self.phrases:
            yield from phrase.combinations


def render(draft: Draft, dice: Dice) -> Pair:
    """Write a draft out: every right translation, one of them first, at random."""
    english, english_keys = write_english(draft.english)
    trained = choose_readings(draft.phrases, dice)
    variants = draft.french(*trained)
    variant = dice.pick(variants[: draft.trained])
    words, keys = spell(variant)
    targets = {" ".join(words): None}
    if len(variants) > 1 or any(len(phrase.readings) > 1 for phrase in draft.phrases):
        seen = {tuple(variant)}
        for other in every_variant(draft):
            if (key := tuple(other)) not in seen:
                seen.add(key)
                targets[" ".join(spell(other)[0])] = None
    phenomena = draft.phenomena + [label for p in draft.phrases for label in p.phenomena]
    phenomena += spelling_phenomena(words, keys)
    return Pair(
        english,
        tuple(targets),
        tuple(dict.fromkeys(phenomena)),
        align(english_keys, keys),
    )


def every_variant(draft: Draft) -> Iterator[list[Word]]:
    """All right ways to say it in French."""
    for readings in product(*(phrase.readings for phrase in draft.phrases)):
        if consistent(readings):
            yield from draft.french(*readings)


def consistent(readings: tuple[Reading, ...]) -> bool:
    """Whether nobody is called tu and vous in one sentence."""
    registers = [reading.register for reading in readings if reading.register]
    return len(registers) < 2 or len(set(registers)) == 1


def choose_readings(phrases: list[Phrase], dice: Dice) -> tuple[Reading, ...]:
    """A reading of each phrase to train on."""
    while True:
        chosen = tuple(
            [
                phrase.readings[int(dice.random() * phrase.common) if phrase.common > 1 else 0]
                for phrase in phrases
            ]
        )
        if consistent(chosen):
            return chosen


def write_english(words: list[Word]) -> tuple[str, list[int]]:
    """The English sentence and the key of each of its words; a comma joins the word before it."""
    text: list[str] = []
    keys: list[int] = []
    for word, key in words:
        if word == ",":
            text[-1] += ","
            continue
        text.append(word)
        keys += [key] * (1 + word.count(" "))
    return " ".join(text), keys


def align(english: list[int], french: Keys) -> tuple[tuple[int, int], ...]:
    """Positions of words with the same key.

    >>> align([1, 2, 3], [(1, 2), (3,)])
    ((0, 0), (1, 0), (2, 1))
    """
    where: dict[int, list[int]] = {0: []}
    for target, keys in enumerate(french):
        for key in keys:
            if key:
                where.setdefault(key, []).append(target)
    links = [(source, t) for source, key in enumerate(english) for t in where.get(key, ())]
    return tuple(dict.fromkeys(links))


CONTRACTED = frozenset(("du", "des", "au", "aux"))


def spelling_phenomena(words: list[str], keys: Keys) -> list[str]:
    """What the spelling shows: elision, contraction, an h that allows neither."""
    labels = []
    for word, owners in zip(words, keys, strict=True):
        if len(owners) > 1:
            if "'" in word:
                labels.append("elision")
            elif word in CONTRACTED:
                labels.append("contraction")
    if not H_ASPIRE.isdisjoint(words):
        labels.append("h aspiré")
    return labels


def sentences_of(
    split: str, rules: Sequence[Callable[[Dice], Draft]], dice: Dice, wholly: bool = False
) -> Iterator[Pair]:
    """Endless sentences of a split, by rules chosen at random.

    Args:
        wholly: every combination, not only one, must belong to the split.
    """
    dice.allowed = allowed(split, wholly)
    while True:
        draft = dice.pick(rules)(dice)
        if belongs(draft.all_combinations(), split, wholly) and draft.is_clear():
            yield render(draft, dice)
