"""What can be said of somebody: a verb, an adjective, "is hungry"; and who says it."""

from collections.abc import Callable
from dataclasses import dataclass

from transformer_course.corpus.grammar.clauses import (
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.idioms import IDIOMS, english_idiom, french_idiom
from transformer_course.corpus.grammar.lexicon import (
    ABLE,
    ADJECTIVE,
    DESCRIBING,
    Noun,
    nouns_of,
)
from transformer_course.corpus.grammar.parts import (
    INTRANSITIVE,
    PEOPLE,
    PERSONAL,
    agent,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, pronoun
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

LINK = 95


ANIMATE = nouns_of("person animal")


STATES = tuple(
    ADJECTIVE[name]
    for name in [
        "tired",
        "sad",
        "happy",
        "ill",
        "nervous",
        "anxious",
        "frightened",
        "jealous",
        "injured",
        "patient",
        "proud",
        "curious",
        "shy",
        "brave",
        "weak",
        "strong",
    ]
)


SIMPLE = tuple(
    verb for verb in INTRANSITIVE if verb.subject & {"animate", "person"} and verb.name != "die"
)


INNER_IDIOMS = tuple(idiom for idiom in IDIOMS if idiom[0] not in ("cold", "hot"))


@dataclass(slots=True)
class Saying:
    """What can be said of a subject: the words after it in both languages."""

    english: Callable[[Phrase], list[Word]]
    french: Callable[[Reading], list[Word]]
    combinations: list[Combination]


def saying(
    dice: Dice, noun: Noun | None, tense: str, shift: int = 0, *, state: bool = False
) -> Saying:
    """Something to say of a noun (of a person if None): a verb, an adjective, or "is hungry".

    Args:
        state: of adjectives, only those for what changes (tired), not for what stays (big).
    """
    kind = dice.random()
    animate = noun is None or "person" in noun.classes or "animal" in noun.classes
    if animate and kind < 0.4:
        verb = dice.pick(SIMPLE)
        while noun is not None and noun not in ABLE[verb]:
            verb = dice.pick(SIMPLE)
        return Saying(
            lambda subject: shifted(english_verb(subject, verb, tense), shift),
            lambda who: shifted(french_verb(who, verb, tense), shift),
            [(noun.name, verb.name)] if noun else [],
        )
    if animate and kind < 0.6:
        # "because it was cold" of an animal could be the weather
        idiom = dice.pick(IDIOMS if noun is None or "person" in noun.classes else INNER_IDIOMS)
        return Saying(
            lambda subject: shifted(english_idiom(subject, idiom, tense, "", False), shift),
            lambda who: shifted(french_idiom(who, idiom, tense, ""), shift),
            [(noun.name, idiom[0])] if noun else [],
        )
    adjectives = DESCRIBING[noun or dice.pick(PEOPLE)]
    adjective = dice.pick(STATES if state and animate else adjectives)
    return Saying(
        lambda subject: [
            *shifted(english_be_words(subject, tense, "", False), shift),
            (adjective.name, 84 + shift),
        ],
        lambda who: [
            *shifted(french_be(who, tense), shift),
            (adjective.french[who.gender][who.plural], 84 + shift),
        ],
        [(noun.name, adjective.name)] if noun else [],
    )


def shifted(words: list[Word], shift: int) -> list[Word]:
    """The same words with other keys, for a second clause."""
    return [(word, key + shift if key >= 80 else key) for word, key in words] if shift else words


def pronoun_for(phrase: Phrase, role: int) -> Phrase:
    """The pronoun that takes up a phrase: he, she, it or they; a pronoun stays what it is."""
    key = 10 * role + 4
    if phrase.noun is None:
        english = phrase.english[0][0]
    elif not phrase.third:
        english = "they"
    elif "person" in phrase.noun.classes:
        english = "he" if phrase.noun.gender == "m" else "she"
    else:
        english = "it"
    return Phrase(
        [(english, key)], tuple(french_pronoun(r, key) for r in phrase.readings), phrase.third
    )


def french_pronoun(who: Reading, key: int) -> Reading:
    """il, elle, ils or elles for a noun; a pronoun stays what it is."""
    if who.person in (0, 1, 3, 4):
        words = [(who.words[0][0], key)]
    else:
        words = [(("elle" if who.gender == "f" else "il") + ("s" if who.plural else ""), key)]
    return Reading(words, who.person, who.gender, who.plural, words, who.register)


def someone(dice: Dice) -> Phrase:
    """A person, an animal or a pronoun."""
    if dice.chance(0.35):
        return pronoun(dice.pick(PERSONAL), 1)
    return agent(dice, dice.pick(ANIMATE))


def somebody_else(dice: Dice, first: Phrase, role: int) -> Phrase:
    """Somebody who cannot be taken for the first: no "they" after "the girls"."""
    taken = {first.english[0][0]} if first.noun is None else {"he", "she", "they"}
    if dice.chance(0.5):
        return pronoun(dice.pick([word for word in PERSONAL if word not in taken]), role)
    return agent(dice, dice.pick(ANIMATE), role)
