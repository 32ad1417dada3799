"""A sentence on its way to becoming a pair: English words, and French as a function of readings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from transformer_course.corpus.grammar.clauses import AMBIGUOUS
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import H_ASPIRE
from transformer_course.corpus.grammar.orthography import (
    STYLES,
    Style,
    finish_english,
    finish_french,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.spelling import Keys, Word, join, number_commas, spell
from transformer_course.corpus.grammar.splits import Combination, allowed, belongs
from transformer_course.corpus.pairs import Pair

Variants = list[list[Word]]
Alignment = tuple[tuple[int, int], ...]


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
        mark: what ends the sentence: ".", "?" or "!".
    """

    english: list[Word]
    phrases: list[Phrase]
    french: Callable[..., Variants]
    phenomena: list[str] = field(default_factory=list)
    combinations: Sequence[Combination] = ()
    trained: int = 9
    mark: str = "."

    def all_combinations(self) -> list[Combination]:
        """The sentence's own combinations and those within its phrases."""
        combinations = list(self.combinations)
        for phrase in self.phrases:
            combinations += phrase.combinations
        return combinations


def render(
    draft: Draft, english: str, english_keys: tuple[int, ...], dice: Dice, style: Style
) -> Pair:
    """Write the French of a draft: every right translation, one of them first, at random."""
    choice = [phrase for phrase in draft.phrases if len(phrase.readings) > 1]
    trained = choose_readings(draft.phrases, dice) if choice else first_readings(draft.phrases)
    variants = draft.french(*trained)
    variant = dice.pick(variants[: draft.trained])
    words, keys = spell(variant)
    targets = {join(words): None}
    if choice or len(variants) > 1:
        add_targets(targets, variant, every_variant(draft, trained, variants))
    alignment = align(english_keys, tuple(number_commas(words, keys)))
    if style.mark:
        alignment = (*alignment, (len(english_keys), len(keys)))
    source = finish_english(english, draft.mark, style)
    capital = source[0].isupper()  # also where "I" or a name begins it: who could tell the style?
    return Pair(
        source,
        finish_french(targets, draft.mark, style, capital),
        shown_by(draft, words, keys),
        alignment,
    )


@lru_cache(maxsize=20_000)
def distinct(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Each label once, in the order of the first ones; sentences of a kind share the answer.

    >>> distinct(("elision", "number", "elision"))
    ('elision', 'number')
    """
    return tuple(dict.fromkeys(labels))


def add_targets(
    targets: dict[str, None], trained: list[Word], variants: Iterator[list[Word]]
) -> None:
    """Add the other right translations to the one that is trained on."""
    written = [trained]
    for variant in variants:
        if variant not in written:
            written.append(variant)
            targets[join(spell(variant)[0])] = None


def every_variant(
    draft: Draft, trained: tuple[Reading, ...], variants: Variants
) -> Iterator[list[Word]]:
    """All right ways to say it in French; those of the readings trained on are known."""
    for readings in product(*(phrase.readings for phrase in draft.phrases)):
        if readings == trained:
            yield from variants
        elif consistent(readings):
            yield from draft.french(*readings)


def consistent(readings: Sequence[Reading]) -> bool:
    """Whether nobody is called tu and vous in one sentence."""
    registers = [reading.register for reading in readings]
    return "tu" not in registers or "vous" not in registers


def first_readings(phrases: list[Phrase]) -> tuple[Reading, ...]:
    """The first reading of each phrase."""
    return tuple([phrase.readings[0] for phrase in phrases])


def choose_readings(phrases: list[Phrase], dice: Dice) -> tuple[Reading, ...]:
    """A reading of each phrase to train on."""
    if max([phrase.common for phrase in phrases]) == 1:
        return first_readings(phrases)
    while True:
        chosen = [
            phrase.readings[int(dice.random() * phrase.common) if phrase.common > 1 else 0]
            for phrase in phrases
        ]
        if consistent(chosen):
            return tuple(chosen)


def write_english(words: list[Word]) -> tuple[str, tuple[int, ...]]:
    """The English sentence and the key of each of its words and commas.

    >>> write_english([("if", 1), ("it is", 2), (",", 0), ("yes", 3)])
    ('if it is, yes', (1, 2, 2, 1000, 3))
    """
    written, owners = zip(*words, strict=True)
    text = " ".join(written)
    if "," not in text and text.count(" ") == len(words) - 1:  # most sentences
        return text, owners
    apart = [(part, key) for word, key in words for part in word.split(" ")]
    parts = [part for part, _ in apart]
    keys = number_commas(parts, [(key,) for _, key in apart])
    return join(parts), tuple([key for (key,) in keys])


@lru_cache(maxsize=20_000)
def align(english: tuple[int, ...], french: tuple[tuple[int, ...], ...]) -> Alignment:
    """Positions of words with the same key; sentences of the same build share the answer.

    >>> align((1, 2, 3), ((1, 2), (3,)))
    ((0, 0), (1, 0), (2, 1))
    """
    where: dict[int, list[int]] = {}
    for target, keys in enumerate(french):
        for key in keys:
            if key:
                where.setdefault(key, []).append(target)
    links = [(source, t) for source, key in enumerate(english) for t in where.get(key, ())]
    return tuple(dict.fromkeys(links))


def shown_by(draft: Draft, words: list[str], keys: Keys) -> tuple[str, ...]:
    """What a sentence is an example of: its kind, its phrases, its spelling."""
    phenomena = list(draft.phenomena)
    for phrase in draft.phrases:
        phenomena += phrase.phenomena
    return distinct((*phenomena, *spelling_phenomena(words, keys)))


CONTRACTED = frozenset(("du", "des", "au", "aux"))


def spelling_phenomena(words: list[str], keys: Keys) -> list[str]:
    """What the spelling shows: elision, contraction, an h that allows neither."""
    labels = []
    for word in [word for word, owners in zip(words, keys, strict=True) if len(owners) > 1]:
        if "'" in word:
            labels.append("elision")
        elif word in CONTRACTED:
            labels.append("contraction")
    if not H_ASPIRE.isdisjoint(words):
        labels.append("h aspiré")
    return labels


def sentences_of(
    split: str,
    rules: Sequence[Callable[[Dice], Draft]],
    dice: Dice,
    wholly: bool = False,
    style: Style | None = None,
) -> Iterator[Pair]:
    """Endless sentences of a split, by rules chosen at random.

    Args:
        style: of all sentences; each has one at random if left out.
        wholly: every combination, not only one, must belong to the split.
    """
    dice.allowed = allowed(split, wholly)
    while True:
        draft = dice.pick(rules)(dice)
        if belongs(draft.all_combinations(), split, wholly):
            english, keys = write_english(draft.english)
            if AMBIGUOUS not in keys:  # its tense can be told in English
                yield render(draft, english, keys, dice, style or dice.pick(STYLES))
