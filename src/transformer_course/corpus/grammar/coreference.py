"""Sentences in which "it" has to be understood: il or elle, le or la."""

from transformer_course.corpus.grammar.clauses import (
    BE,
    PREDICATE,
    VERB,
    english_verb,
    french_verb,
)
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    ADJECTIVE,
    VERB as VERBS_BY_NAME,
    Noun,
    nouns_of,
)
from transformer_course.corpus.grammar.phrases import Dice, Reading, noun_phrase

ANIMALS = nouns_of("animal")
WAYS = nouns_of("way")
OF_ANIMALS = tuple(
    ADJECTIVE[name]
    for name in "tired hungry ill weak lazy shy nervous sad young patient intelligent strong".split()
)
OF_WAYS = tuple(
    ADJECTIVE[name]
    for name in "wide narrow long dangerous noisy muddy slippery dirty dark busy".split()
)


def street(dice: Dice, animal: Noun | None = None, way: Noun | None = None) -> Draft:
    """The animal didn't cross the street because it was too tired (or: too wide)."""
    animal, way = animal or dice.pick(ANIMALS), way or dice.pick(WAYS)
    adjective = dice.pick(OF_ANIMALS + OF_WAYS)
    about_animal = adjective in OF_ANIMALS
    verb = VERBS_BY_NAME["cross"]
    tense = dice.pick(("present", "past", "past"))
    short = dice.chance(0.7)
    who = noun_phrase(dice, animal, 1, plural=False, determiner="the", adjectives=0)
    what = noun_phrase(dice, way, 2, plural=False, determiner="the", adjectives=0)
    key = 14 if about_animal else 24

    def french(subject: Reading, thing: Reading) -> Variants:
        topic = subject if about_animal else thing
        it = "elle" if topic.gender == "f" else "il"
        return [[
            *subject.words,
            *french_verb(subject, verb, tense, negation="not"),
            *thing.words,
            ("parce", 90), ("que", 90), (it, 91), (BE[tense][2], 92), ("trop", 93),
            (adjective.french[topic.gender][0], PREDICATE),
        ]]

    english = [
        *who.english,
        *english_verb(who, verb, tense, "not", short),
        *what.english,
        ("because", 90), ("it", 91), ("was" if tense == "past" else "is", 92), ("too", 93),
        (adjective.name, PREDICATE),
    ]
    named = animal.name if about_animal else way.name
    return Draft(english, [who, what], french, ["coreference"], [(animal.name, way.name), (named, adjective.name)])
