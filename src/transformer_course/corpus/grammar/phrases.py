"""Noun phrases and pronouns, written in both languages at once.

A phrase has one English form and one or more *readings* in French: "you" is tu or vous, "i" is a
man or a woman. Each role in a sentence has ten keys of its own, so that words find their
counterparts: role 1 gives 11 to the determiner, 12 and 13 to adjectives, 14 to the noun.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from transformer_course.corpus.grammar.determiners import (
    OWNERS,
    POSSESSIVES,
    REGISTER,
    RELATED,
    french_determiners,
    random_determiner,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import DESCRIBING, Adjective, Noun
from transformer_course.corpus.grammar.numbers import english_number
from transformer_course.corpus.grammar.spelling import Word, vowel_sound
from transformer_course.corpus.grammar.splits import Combination


class Reading(NamedTuple):
    """One French reading of a phrase: its words and what agrees with it.

    `negated` are the words after a negated verb (un → de); `person` counts from 0 (je) to 5 (ils);
    `register` is "tu" or "vous" where there is a choice.
    """

    words: list[Word]
    person: int
    gender: str
    plural: bool
    negated: list[Word]
    register: str = ""


class Phrase(NamedTuple):
    """An English phrase with its French readings; the first `common` are trained on."""

    english: list[Word]
    readings: tuple[Reading, ...]
    third: bool
    noun: Noun | None = None
    common: int = 1
    combinations: tuple[Combination, ...] = ()
    phenomena: tuple[str, ...] = ()


def starts_with_vowel_letter(word: str) -> bool:
    """Whether "an" stands before an English word.

    >>> [starts_with_vowel_letter(word) for word in ("apple", "honest", "useful", "cat")]
    [True, True, False, False]
    """
    return word.startswith("honest") or (word[0] in "aeiou" and not word.startswith(("use", "uni")))


def choose_adjectives(dice: Dice, noun: Noun, wanted: float) -> list[Adjective]:
    """No adjective, one, or one before and one after the noun."""
    if not DESCRIBING[noun] or not dice.chance(wanted):
        return []
    first = dice.companion(DESCRIBING[noun], noun.name)
    if dice.chance(0.25):
        second = dice.companion(DESCRIBING[noun], noun.name)
        if first.before_noun and not second.before_noun:
            return [first, second]
    return [first]


def noun_phrase(
    dice: Dice,
    noun: Noun,
    role: int,
    *,
    plural: bool | None = None,
    determiner: str = "",
    adjectives: float = 0.3,
) -> Phrase:
    """A noun with its determiner and adjectives.

    Args:
        determiner: "the", "a", "this", "my", a number, …; one at random if empty.
        adjectives: how often there are any.
    """
    if plural is None:
        plural = not noun.mass and dice.chance(0.3)
    plural = plural and not noun.mass
    determiner = determiner or random_determiner(dice, noun, plural)
    if determiner in OWNERS and "person" in noun.classes and not noun.classes & RELATED:
        determiner = "the"  # my sister, but not my fairy
    chosen = choose_adjectives(dice, noun, adjectives)
    if chosen or determiner.isdigit():
        return write_noun_phrase(noun, role, plural, determiner, chosen)
    return plain_noun_phrase(noun, role, plural, determiner)


@lru_cache(maxsize=20_000)
def plain_noun_phrase(noun: Noun, role: int, plural: bool, determiner: str) -> Phrase:
    """A noun phrase without adjectives, written once: nobody changes a phrase."""
    return write_noun_phrase(noun, role, plural, determiner, ())


def write_noun_phrase(
    noun: Noun, role: int, plural: bool, determiner: str, chosen: Sequence[Adjective]
) -> Phrase:
    """A noun phrase of which everything has been decided."""
    base = 10 * role
    core = french_core(noun, plural, chosen, base)
    vowel = vowel_sound(core[0][0].split(" ")[0])
    before = bool(chosen) and chosen[0].before_noun
    readings = []
    for words in french_determiners(determiner, noun, plural, vowel, before):
        keyed = [(word, base + 1) for word in words]
        negated = keyed
        if words[0] in ("un", "une", "des", "de+"):
            negated = [("de", base + 1)]
        register = REGISTER.get(words[0], "") if determiner == "your" else ""
        person_ = 5 if plural else 2
        readings.append(
            Reading(keyed + core, person_, noun.gender, plural, negated + core, register)
        )
    return Phrase(
        english_noun_phrase(noun, plural, determiner, chosen, base),
        tuple(readings),
        not plural,
        noun,
        2 if determiner == "your" else 1,
        tuple((noun.name, adjective.name) for adjective in chosen),
        noun_phrase_phenomena(noun, determiner, chosen, plural, before),
    )


def english_noun_phrase(
    noun: Noun, plural: bool, determiner: str, adjectives: Sequence[Adjective], base: int
) -> list[Word]:
    """The English words."""
    words = [(a.name, base + 2 + i) for i, a in enumerate(adjectives)]
    words.append((noun.english[plural], base + 4))
    if determiner == "a":
        if not plural and not noun.mass:
            article = "an" if starts_with_vowel_letter(words[0][0]) else "a"
            words.insert(0, (article, base + 1))
    elif determiner == "this":
        words.insert(0, ("these" if plural else "this", base + 1))
    elif determiner == "all":
        words[:0] = [("all", base + 1), ("the", base + 1)]
    elif determiner.isdigit():
        words.insert(0, (english_number(int(determiner)), base + 1))
    else:
        words.insert(0, (determiner, base + 1))
    return words


def french_core(noun: Noun, plural: bool, adjectives: Sequence[Adjective], base: int) -> list[Word]:
    """The French noun with its adjectives, without the determiner."""
    words = [(noun.french[plural], base + 4)]
    for index, adjective in enumerate(adjectives):
        form = adjective.french[noun.gender][plural]
        if not adjective.before_noun:
            words.append((form, base + 2 + index))
            continue
        if noun.gender == "m" and not plural and vowel_sound(noun.french[0]):
            form = adjective.before_vowel  # un bel arbre
        words.insert(0, (form, base + 2 + index))
    return words


def noun_phrase_phenomena(
    noun: Noun, determiner: str, adjectives: Sequence[Adjective], plural: bool, before: bool
) -> tuple[str, ...]:
    """What the phrase is an example of."""
    labels = []
    if adjectives:
        labels.append("adjective order")
        if any(a.before_vowel != a.french["m"][0] for a in adjectives):
            labels.append("irregular adjective")
    if determiner == "a" and noun.mass:
        labels.append("partitive")
    elif determiner == "a" and plural:
        labels.append("de before adjective" if before else "partitive")
    elif determiner.isdigit():
        labels.append("number")
    elif determiner in POSSESSIVES or determiner == "your":
        labels.append("possessive")
    elif determiner == "this":
        labels.append("demonstrative")
    return tuple(labels)


def person(word: str, person_: int, gender: str, plural: bool, key: int) -> Reading:
    """Reading of a subject pronoun."""
    words = [(word, key)]
    register = word if word in ("tu", "vous") else ""
    return Reading(words, person_, gender, plural, words, register)


PRONOUNS: dict[str, tuple[tuple[str, int, str, bool], ...]] = {
    "i": (("je", 0, "m", False), ("je", 0, "f", False)),
    "you": (
        ("tu", 1, "m", False),
        ("tu", 1, "f", False),
        ("vous", 4, "m", False),
        ("vous", 4, "f", False),
        ("vous", 4, "m", True),
        ("vous", 4, "f", True),
    ),
    "he": (("il", 2, "m", False),),
    "she": (("elle", 2, "f", False),),
    "we": (("nous", 3, "m", True), ("nous", 3, "f", True)),
    "they": (("ils", 5, "m", True), ("elles", 5, "f", True)),
}


@cache
def pronoun(english: str, role: int) -> Phrase:
    """A subject pronoun.

    >>> [reading.words[0][0] for reading in pronoun("they", 1).readings]
    ['ils', 'elles']
    """
    key = 10 * role + 4
    readings = tuple(person(*row, key) for row in PRONOUNS[english])
    phenomena = ("tu or vous",) if english == "you" else ()
    common = min(len(readings), 4)
    return Phrase([(english, key)], readings, english in ("he", "she"), None, common, (), phenomena)
