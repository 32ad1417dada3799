"""Sentences in which "it" has to be understood before it can be translated: il or elle, le or la."""

from transformer_course.corpus.grammar.clauses import BE, PREDICATE, VERB, english_verb, french_verb
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import ADJECTIVE, Adjective, Noun, nouns_of
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.phrases import Dice, Phrase, Reading, noun_phrase
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
ANIMAL_FIRST = ("cross", "cross", "cross", "reach", "avoid")
WAY_FIRST = ("stop", "tire", "worry")
POSITIVE = ("avoid", "stop", "tire", "worry")

CONTENTS = nouns_of("toy art jewel box basket bag bottle dish tool instrument clock computer trophy")
CONTAINERS = nouns_of("container")
# Too big: what does not go in; too small: what it does not go into.
OF_CONTENTS, OF_CONTAINERS = adjectives("big long wide heavy"), adjectives("small narrow short light")


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


def street(dice: Dice) -> Draft:
    """The animal didn't cross the street because it was too tired (or: too wide).

    Also with the street first: the street stopped the animal because it was too tired.
    """
    animal, way = dice.pick(ANIMALS), dice.pick(WAYS)
    about_animal, animal_first = dice.chance(0.5), dice.chance(0.5)
    adjective = dice.pick(OF_ANIMALS if about_animal else OF_WAYS)
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
    topic = animal if about_animal else way
    combinations = [(animal.name, way.name), (topic.name, adjective.name)]
    return Draft(english, [subject, thing], french, ["antecedent"], combinations)


def fitting(dice: Dice) -> Draft:
    """The trophy doesn't fit in the suitcase because it is too big (or: too small).

    Also: the suitcase cannot hold the trophy because it is too small.
    """
    content, container = dice.pick(CONTENTS), dice.pick(CONTAINERS)
    while content is container:
        content = dice.pick(CONTENTS)
    about_content, fits = dice.chance(0.5), dice.chance(0.5)
    adjective = dice.pick(OF_CONTENTS if about_content else OF_CONTAINERS)
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

    negative = dice.pick((("doesn't",), ("does", "not"))) if fits else ("cannot",)
    verb_words: list[Word] = [(word, 81) for word in negative]
    verb_words += [("fit", VERB), ("in", 86)] if fits else [("hold", VERB)]
    english = [*subject.english, *verb_words, *thing.english, *because_it("present", adjective)]
    topic = content if about_content else container
    combinations = [(content.name, container.name), (topic.name, adjective.name)]
    return Draft(english, [subject, thing], french, ["fitting"], combinations, 1)
