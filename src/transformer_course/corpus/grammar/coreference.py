"""Sentences in which "it" has to be understood before it can be translated: il or elle, le or la."""

from dataclasses import dataclass
from functools import cache
from itertools import product

from transformer_course.corpus.grammar.clauses import BE, PREDICATE, VERB, english_verb, french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import ADJECTIVE, Adjective, Noun, nouns_of
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word

BECAUSE, IT, WAS, TOO = 90, 91, 92, 93


def adjectives(names: str) -> tuple[Adjective, ...]:
    """Adjectives by their English names."""
    return tuple(ADJECTIVE[name] for name in names.split())


ANIMALS, WAYS = nouns_of("animal"), nouns_of("way")
# Said of animals only or of ways only: the meaning tells which noun "it" stands for.
OF_ANIMALS = adjectives(
    "tired ill weak lazy shy nervous sad young anxious injured frightened patient"
)
OF_WAYS = adjectives(
    "wide narrow dangerous muddy slippery busy flooded crowded icy steep winding deserted"
)
OF_STREETS = adjectives("busy crowded deserted winding steep slippery")  # not of rivers and deserts
ELSEWHERE = tuple(adjective for adjective in OF_WAYS if adjective not in OF_STREETS)
ANIMAL_FIRST = ("cross", "cross", "cross", "reach", "avoid")
WAY_FIRST = ("stop", "tire", "worry")
POSITIVE = ("avoid", "stop", "tire", "worry")

CONTENTS = nouns_of(
    "toy art jewel box basket bag bottle dish tool instrument clock computer trophy"
)
CONTAINERS = nouns_of("container")
# Too big: what does not go in; too small: what it does not go into.
OF_CONTENTS, OF_CONTAINERS = (
    adjectives("big long wide thick"),
    adjectives("small narrow short full"),
)


def suitable(way: Noun) -> tuple[Adjective, ...]:
    """The adjectives for a way."""
    return ELSEWHERE if way.classes & {"water", "land"} else OF_WAYS


def the(dice: Dice, noun: Noun, role: int) -> Phrase:
    """The noun with "the" and nothing else."""
    return noun_phrase(dice, noun, role, plural=False, determiner="the", adjectives=0)


def because_it(tense: str, adjective: Adjective) -> list[Word]:
    """because it was too tired."""
    was = "was" if tense == "past" else "is"
    return [("because", BECAUSE), ("it", IT), (was, WAS), ("too", TOO), (adjective.name, PREDICATE)]


def parce_que(tense: str, adjective: Adjective, topic: Reading) -> list[Word]:
    """parce qu'il était trop fatigué, parce qu'elle était trop large."""
    return [
        ("parce", BECAUSE),
        ("que", BECAUSE),
        ("elle" if topic.gender == "f" else "il", IT),
        (BE[tense][2], WAS),
        ("trop", TOO),
        (adjective.french[topic.gender][0], PREDICATE),
    ]


@dataclass(frozen=True)
class Cell:
    """What a balanced set crosses: which noun "it" is, which noun comes first, gender of "it".

    The other noun has the other gender.
    """

    about_first_kind: bool
    first_kind_first: bool
    gender: str


CELLS = tuple(Cell(*values) for values in product((True, False), (True, False), "mf"))
# So often at least the two nouns differ in gender: where they don't, "it" teaches nothing.
TELLING = 0.5


@cache
def of_gender(nouns: tuple[Noun, ...], gender: str) -> tuple[Noun, ...]:
    """The nouns of one gender; all of them if it is empty."""
    return tuple(noun for noun in nouns if noun.gender == gender or not gender)


def draw(
    dice: Dice, cell: Cell | None, kinds: tuple[tuple[Noun, ...], tuple[Noun, ...]]
) -> tuple[Noun, Noun, bool, bool]:
    """A noun of each kind, which of them "it" is, and which comes first."""
    telling = cell is not None or dice.chance(TELLING)
    cell = cell or dice.pick(CELLS)
    genders = ("m", "f") if cell.about_first_kind == (cell.gender == "m") else ("f", "m")
    if not telling:
        genders = ("", "")
    first = dice.pick(of_gender(kinds[0], genders[0]))
    second = dice.companion(of_gender(kinds[1], genders[1]), "il", first.name)
    return first, second, cell.about_first_kind, cell.first_kind_first


def street(dice: Dice, cell: Cell | None = None) -> Draft:
    """The animal didn't cross the street because it was too tired (or: too wide).

    Also with the street first: the street stopped the animal because it was too tired.
    """
    animal, way, about_animal, animal_first = draw(dice, cell, (ANIMALS, WAYS))
    topic = animal if about_animal else way
    adjective = dice.companion(OF_ANIMALS if about_animal else suitable(way), "il", topic.name)
    verb = VERB_NAMED[dice.pick(ANIMAL_FIRST if animal_first else WAY_FIRST)]
    negation = "" if verb.name in POSITIVE else "not"
    tense = dice.pick(("present", "past", "past"))
    nouns = (animal, way) if animal_first else (way, animal)
    subject, thing = the(dice, nouns[0], 1), the(dice, nouns[1], 2)
    about_subject = about_animal == animal_first

    def french(who: Reading, what: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense, negation=negation)
        reason = parce_que(tense, adjective, who if about_subject else what)
        return [[*who.words, *verb_words, *what.words, *reason]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.7))
    english = [*subject.english, *verb_words, *thing.english, *because_it(tense, adjective)]
    combinations = [("il", animal.name, way.name), ("il", topic.name, adjective.name)]
    return Draft(english, [subject, thing], french, ["antecedent"], combinations)


def fitting(dice: Dice, cell: Cell | None = None) -> Draft:
    """The trophy doesn't fit in the suitcase because it is too big (or: too small).

    Also: the suitcase cannot hold the trophy because it is too small.
    """
    content, container, about_content, fits = draw(dice, cell, (CONTENTS, CONTAINERS))
    while content is container:
        content, container, about_content, fits = draw(dice, cell, (CONTENTS, CONTAINERS))
    topic = content if about_content else container
    adjectives_ = OF_CONTENTS if about_content else OF_CONTAINERS
    adjective = dice.companion(adjectives_, "il", topic.name)
    nouns = (content, container) if fits else (container, content)
    subject, thing = the(dice, nouns[0], 1), the(dice, nouns[1], 2)
    about_subject = about_content == fits

    def french(who: Reading, what: Reading) -> Variants:
        reason = parce_que("present", adjective, who if about_subject else what)
        if not fits:
            hold = [("ne", 81), ("peut", 81), ("pas", 81), ("contenir", VERB)]
            return [[*who.words, *hold, *what.words, *reason]]
        verbs = ("entre", "rentre", "tient")
        return [
            [*who.words, ("ne", 81), (verb, VERB), ("pas", 81), ("dans", 86), *what.words, *reason]
            for verb in verbs
        ]

    negative = (
        dice.pick((("doesn't",), ("does", "not"))) if fits else dice.pick((("cannot",), ("can't",)))
    )
    verb_words: list[Word] = [(word, 81) for word in negative]
    verb_words += [("fit", VERB), ("in", 86)] if fits else [("hold", VERB)]
    english = [*subject.english, *verb_words, *thing.english, *because_it("present", adjective)]
    combinations = [("il", content.name, container.name), ("il", topic.name, adjective.name)]
    return Draft(english, [subject, thing], french, ["fitting"], combinations, 1)
