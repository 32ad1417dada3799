"""Plain sentences: statements with to be, with a verb, negated, in three tenses."""

from transformer_course.corpus.grammar.clauses import (
    ADVERB,
    PREDICATE,
    VERB,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
    predicate,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    DESCRIBING,
    OBJECTS,
)
from transformer_course.corpus.grammar.parts import (
    DATIVE,
    DESCRIBED,
    DIRECT,
    INDIRECT,
    INTRANSITIVE,
    MOTION,
    NEGATIONS,
    OFTEN,
    PEOPLE,
    PERSONAL,
    PLACES,
    TANGIBLE,
    TENSES,
    UNGRADED,
    agent,
    keyed,
    object_of,
    state_negation,
    subject_of,
    tense_for,
    tense_labels,
    time_words,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Reading, noun_phrase, pronoun


def transitive(dice: Dice) -> Draft:
    """The boy eats the apple."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    when, quand = time_words(dice, tense)
    labels = tense_labels(verb, tense)

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), *what.words, *quand]]

    english = [*subject.english, *english_verb(subject, verb, tense), *thing.english, *when]
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def negative(dice: Dice) -> Draft:
    """The boy doesn't eat an apple: no article but de."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    negation = dice.pick(NEGATIONS)
    if tense == "past" and negation == "no longer":
        negation = "not"
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    short = dice.chance(0.6)

    def french(who: Reading, what: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *verb_words, *what.negated]]

    english = [
        *subject.english,
        *english_verb(subject, verb, tense, negation, short),
        *thing.english,
    ]
    return Draft(english, [subject, thing], french, ["negation"], verb_and_object(verb, thing))


def indefinite(dice: Dice) -> Draft:
    """She buys bread, buys pears, buys beautiful pears: du pain, des poires, de belles poires."""
    verb = dice.pick(TANGIBLE)
    tense = dice.pick(TENSES)
    subject, noun = subject_of(dice, verb), dice.pick(OBJECTS[verb])
    plural = not noun.mass and dice.chance(0.9)
    thing = noun_phrase(dice, noun, 2, plural=plural, determiner="a", adjectives=0.7)
    negation = "not" if dice.chance(0.3) else ""
    short = dice.chance(0.6)

    def french(who: Reading, what: Reading) -> Variants:
        words = what.negated if negation else what.words
        return [[*who.words, *french_verb(who, verb, tense, negation=negation), *words]]

    verb_words = english_verb(subject, verb, tense, negation, short)
    labels = ["negation"] if negation else []
    english = [*subject.english, *verb_words, *thing.english]
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def indirect(dice: Dice) -> Draft:
    """The girl talks about the book: parler de."""
    verb = dice.pick(INDIRECT)
    tense = tense_for(dice, verb)
    preposition = "de+" if "de" in verb.frame else "à+"
    subject = subject_of(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    if "instrument" in noun.classes:
        thing = noun_phrase(dice, noun, 2, plural=False, determiner="the", adjectives=0)
    else:
        thing = noun_phrase(
            dice, noun, 2, determiner=dice.pick(("the", "the", "my", "this", "her"))
        )
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.25) else ""

    def french(who: Reading, what: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *words, (preposition, VERB), *what.words]]

    english = [*subject.english, *english_verb(subject, verb, tense, negation), *thing.english]
    labels = ["negation"] if negation else []
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def intransitive(dice: Dice) -> Draft:
    """The girls left: elles sont parties."""
    verb = dice.pick(INTRANSITIVE)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.2) else ""
    adverb, adverbe = dice.pick(OFTEN) if tense == "present" and dice.chance(0.3) else ("", "")
    if negation:
        adverb = adverbe = ""
    when, quand = time_words(dice, tense) if not negation else ([], [])
    labels = tense_labels(verb, tense)

    def french(who: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation, adverb=adverbe)
        return [[*who.words, *words, *quand]]

    english = [
        *subject.english,
        *([(adverb, ADVERB)] if adverb else []),
        *english_verb(subject, verb, tense, negation),
        *when,
    ]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject], french, labels, combinations)


def motion(dice: Dice) -> Draft:
    """The king went to the market: il est allé au marché."""
    verb = dice.pick(MOTION)
    tense = dice.pick(TENSES)
    subject = subject_of(dice, verb)
    place = noun_phrase(
        dice, dice.pick(OBJECTS[verb]), 2, plural=False, determiner="the", adjectives=0.2
    )
    enters = "into" in verb.frame
    to, à = ([], "dans") if enters else ([("to", 86)], "à+")
    if verb.particle:
        to = []

    def french(who: Reading, where: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), (à, 86), *where.words]]

    english = [*subject.english, *english_verb(subject, verb, tense), *to, *place.english]
    labels = tense_labels(verb, tense)
    return Draft(english, [subject, place], french, labels, verb_and_object(verb, place))


def giving(dice: Dice) -> Draft:
    """The boy gives the book to the teacher."""
    verb = dice.pick(DATIVE)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    other = noun_phrase(
        dice,
        dice.pick(PEOPLE),
        3,
        determiner=dice.pick(("the", "the", "my", "her")),
        adjectives=0.1,
    )

    def french(who: Reading, what: Reading, whom: Reading) -> Variants:
        words = french_verb(who, verb, tense)
        return [[*who.words, *words, *what.words, ("à+", 89), *whom.words]]

    english = [
        *subject.english,
        *english_verb(subject, verb, tense),
        *thing.english,
        ("to", 89),
        *other.english,
    ]
    return Draft(
        english, [subject, thing, other], french, ["indirect object"], verb_and_object(verb, thing)
    )


def place(dice: Dice) -> Draft:
    """The cat is on the mat."""
    preposition, préposition, grounds, figures = dice.pick(PLACES)
    thing = agent(dice, dice.pick(figures))
    ground = noun_phrase(
        dice, dice.pick(grounds), 2, determiner=dice.pick(("the", "the", "my", "this"))
    )
    while ground.noun is thing.noun:
        thing = agent(dice, dice.pick(figures))
    tense = dice.pick(("present", "present", "past", "future"))
    negation = state_negation(dice, tense, 0.2)

    def french(who: Reading, where: Reading) -> Variants:
        words = french_be(who, tense, negation)
        return [[*who.words, *words, *keyed(préposition, 86), *where.words]]

    english = [
        *thing.english,
        *english_be_words(thing, tense, negation, dice.chance(0.5)),
        (preposition, 86),
        *ground.english,
    ]
    assert thing.noun is not None
    assert ground.noun is not None
    return Draft(
        english,
        [thing, ground],
        french,
        ["negation"] if negation else ["place"],
        [(thing.noun.name, ground.noun.name)],
    )


def description(dice: Dice) -> Draft:
    """The tree was very old."""
    if dice.chance(0.3):
        subject, noun = pronoun(dice.pick(PERSONAL), 1), dice.pick(PEOPLE)
    else:
        noun = dice.pick(DESCRIBED)
        subject = agent(dice, noun, adjectives=0.1)
    adjective = dice.pick(DESCRIBING[noun])
    degree, degré = dice.pick((("", ""), ("", ""), ("very", "très"), ("too", "trop")))
    tense = dice.pick(("present", "present", "past", "future"))
    negation = "" if degree else state_negation(dice, tense, 0.25)
    if adjective.name in UNGRADED:
        degree = degré = ""

    def french(who: Reading) -> Variants:
        words = french_be(who, tense, negation)
        return [[*who.words, *words, *([(degré, 87)] if degré else []), predicate(who, adjective)]]

    english = [
        *subject.english,
        *english_be_words(subject, tense, negation, dice.chance(0.5)),
        *([(degree, 87)] if degree else []),
        (adjective.name, PREDICATE),
    ]
    combinations = [(noun.name, adjective.name)] if subject.noun else []
    return Draft(
        english, [subject], french, ["negation"] if negation else ["agreement"], combinations
    )
