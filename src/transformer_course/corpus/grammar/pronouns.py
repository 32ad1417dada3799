"""Object pronouns: their place before the verb, their order, and what they do to the participle."""

from functools import cache

from transformer_course.corpus.grammar.clauses import VERB, english_verb, french_verb, with_pronoun
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import OBJECTS, Noun, Verb
from transformer_course.corpus.grammar.parts import (
    DATIVE,
    DIRECT,
    INDIRECT,
    MOTION,
    NEGATIONS,
    TENSES,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word

OBJECT, RECIPIENT, SECOND = 24, 34, 70


# English pronoun: French (direct object, indirect object, gender, plural).
CLITICS: dict[str, tuple[tuple[str, str, str, bool], ...]] = {
    "me": (("me", "me", "m", False), ("me", "me", "f", False)),
    "you": (
        ("te", "te", "m", False),
        ("te", "te", "f", False),
        ("vous", "vous", "m", False),
        ("vous", "vous", "f", False),
        ("vous", "vous", "m", True),
        ("vous", "vous", "f", True),
    ),
    "him": (("le", "lui", "m", False),),
    "her": (("la", "lui", "f", False),),
    "it": (("le", "lui", "m", False), ("la", "lui", "f", False)),
    "us": (("nous", "nous", "m", True), ("nous", "nous", "f", True)),
    "them": (("les", "leur", "m", True), ("les", "leur", "f", True)),
}


SAME_PERSON = {"me": ("i", "we"), "us": ("i", "we"), "you": ("you",)}


PEOPLE_VERBS = tuple(v for v in DIRECT if v.object & {"person", "animate"})


THING_VERBS = tuple(v for v in DIRECT if not v.object <= {"person", "animate", "animal"})


TO_SOMEONE = tuple(
    v
    for v in INDIRECT
    if "à" in v.frame and v.object & {"person", "animate"} and v.name != "think of"
)


OF_SOMETHING = tuple(verb for verb in INDIRECT if "de" in verb.frame)


@cache
def clitic(english: str, *, indirect: bool = False) -> Phrase:
    """An object pronoun with its French readings.

    >>> [reading.words[0][0] for reading in clitic("it").readings]
    ['le', 'la']
    """
    key = RECIPIENT if indirect else OBJECT
    readings = []
    for direct, dative, gender, plural in CLITICS[english]:
        word = dative if indirect else direct
        register = {"te": "tu", "vous": "vous"}.get(word, "")
        words = [(word, key)]
        readings.append(Reading(words, 2, gender, plural, words, register))
    common = min(len(readings), 4)
    phenomena = ("tu or vous",) if english == "you" else ()
    return Phrase([(english, key)], tuple(readings), True, None, common, (), phenomena)


def in_order(direct: Word, indirect: Word) -> list[Word]:
    """Two object pronouns: me, te, nous, vous come before le, la, les, these before lui, leur.

    >>> in_order(("le", 1), ("lui", 2)), in_order(("le", 1), ("me", 2))
    ([('le', 1), ('lui', 2)], [('me', 2), ('le', 1)])
    """
    return [direct, indirect] if indirect[0] in ("lui", "leur") else [indirect, direct]


def other_person(dice: Dice, subject: Phrase, choices: tuple[str, ...]) -> str:
    """An object pronoun that doesn't stand for the subject."""
    while True:
        chosen = dice.pick(choices)
        if subject.english[0][0] not in SAME_PERSON.get(chosen, ()):
            return chosen


def direct(dice: Dice) -> Draft:
    """The king sees her: le roi la voit."""
    about_people = dice.chance(0.6)
    verb = dice.pick(PEOPLE_VERBS if about_people else THING_VERBS)
    tense = tense_for(dice, verb)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.3) else ""
    subject = subject_of(dice, verb, pronouns=0.4)
    choices = ("me", "you", "him", "her", "us", "them") if about_people else ("it", "them")
    thing = clitic(other_person(dice, subject, choices))

    def french(who: Reading, what: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation, clitics=what.words, agreement=what)
        return [[*who.words, *words]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    labels = ["object pronoun", *(["participle agreement"] if tense == "past" else [])]
    english = [*subject.english, *with_pronoun(verb, verb_words, thing.english)]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject, thing], french, labels, combinations)


def indirect(dice: Dice) -> Draft:
    """The girl answers him: la fille lui répond."""
    verb = dice.pick(TO_SOMEONE)
    tense = tense_for(dice, verb)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.3) else ""
    subject = subject_of(dice, verb, pronouns=0.4)
    choices = ("me", "you", "him", "her", "us", "them")
    person = clitic(other_person(dice, subject, choices), indirect=True)

    def french(who: Reading, whom: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense, negation=negation, clitics=whom.words)]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, *person.english]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject, person], french, ["object pronoun"], combinations)


def gives_her_the_book(dice: Dice) -> Draft:
    """The boy gives her the book: il lui donne le livre."""
    verb = dice.pick(DATIVE)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb, pronouns=0.4), object_of(dice, verb)
    choices = ("me", "you", "him", "her", "us", "them")
    person = clitic(other_person(dice, subject, choices), indirect=True)

    def french(who: Reading, what: Reading, whom: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense, clitics=whom.words), *what.words]]

    verb_words = english_verb(subject, verb, tense)
    if "shift" in verb.frame and dice.chance(0.5):
        rest = [*person.english, *thing.english]
    else:
        rest = [*thing.english, ("to", RECIPIENT), *person.english]
    phrases = [subject, thing, person]
    english = [*subject.english, *verb_words, *rest]
    return Draft(english, phrases, french, ["object pronoun"], verb_and_object(verb, thing))


def gives_it_to_her(dice: Dice) -> Draft:
    """The boy gives it to her: il le lui donne."""
    verb = dice.pick(DATIVE)
    tense = tense_for(dice, verb)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.3) else ""
    subject = subject_of(dice, verb, pronouns=0.5)
    thing = clitic(dice.pick(("it", "them")))
    choices = ("me", "you", "him", "her", "us", "them")
    person = clitic(other_person(dice, subject, choices), indirect=True)

    def french(who: Reading, what: Reading, whom: Reading) -> Variants:
        both = in_order(what.words[0], whom.words[0])
        words = french_verb(who, verb, tense, negation=negation, clitics=both, agreement=what)
        return [[*who.words, *words]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, *thing.english, ("to", RECIPIENT), *person.english]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject, thing, person], french, ["clitic order"], combinations)


@cache
def verbs_for(noun: Noun) -> tuple[Verb, ...]:
    """What people can do to a thing."""
    return tuple(v for v in DIRECT if noun in OBJECTS[v] and v.subject == {"person"})


COUNTED = tuple(
    noun
    for verb in THING_VERBS
    for noun in OBJECTS[verb]
    if not noun.classes & {"person", "animal"}
)


THINGS = tuple(dict.fromkeys(COUNTED))


ACTIONS = {noun: verbs_for(noun) for noun in THINGS}


TWICE = tuple(noun for noun in THINGS if len(ACTIONS[noun]) > 2)


GIVEN = tuple(dict.fromkeys(noun for verb in DATIVE for noun in OBJECTS[verb]))


GIVING = {noun: tuple(v for v in DATIVE if noun in OBJECTS[v]) for noun in GIVEN}


# What can be done and passed on with two different verbs.
PASSED_ON = tuple(
    noun for noun in GIVEN if noun in ACTIONS and len({*ACTIONS[noun], *GIVING[noun]}) > 1
)


def object_again(dice: Dice) -> Draft:
    """The boy buys the apple and washes it: et *la* lave."""
    passes_on = dice.chance(0.4)
    noun = dice.pick(PASSED_ON if passes_on else TWICE)
    first = dice.pick(ACTIONS[noun])
    second = dice.pick(GIVING[noun] if passes_on else ACTIONS[noun])
    while second is first:
        first = dice.pick(ACTIONS[noun])
        second = dice.pick(GIVING[noun] if passes_on else ACTIONS[noun])
    tense = tense_for(dice, first) if not first.frame | second.frame else "present"
    subject = subject_of(dice, first, pronouns=0.3)
    determiner = dice.pick(("the", "the", "my", "this"))
    plural = dice.chance(0.15)
    thing = noun_phrase(dice, noun, 2, determiner=determiner, plural=plural, adjectives=0.1)
    recipient = dice.pick(("him", "her", "them", "me", "us")) if passes_on else ""
    if subject.english[0][0] in SAME_PERSON.get(recipient, ()):
        recipient = "him"

    def french(who: Reading, what: Reading) -> Variants:
        word = "les" if what.plural else "la" if what.gender == "f" else "le"
        clitics: list[Word] = [(word, SECOND)]
        if recipient:
            clitics = in_order(clitics[0], (CLITICS[recipient][0][1], RECIPIENT))
        again = french_verb(who, second, tense, clitics=clitics, agreement=what)
        once = french_verb(who, first, tense)
        return [[*who.words, *once, *what.words, ("et", 95), *second_clause(again)]]

    them = "them" if thing.readings[0].plural else "it"
    verb_words = second_clause(english_verb(subject, second, tense))
    again = with_pronoun(second, verb_words, [(them, SECOND)])
    if tense == "future":
        again = again[1:]  # will buy the apple and wash it
    if recipient:
        again += [("to", RECIPIENT), (recipient, RECIPIENT)]
    english = [*subject.english, *english_verb(subject, first, tense), *thing.english]
    combinations = [(first.name, noun.name), (second.name, noun.name)]
    return Draft(
        [*english, ("and", 95), *again], [subject, thing], french, ["pronoun gender"], combinations
    )


def second_clause(words: list[Word]) -> list[Word]:
    """Words of a second clause, with keys of their own."""
    return [(word, key + 100 if key in (VERB, 81, 82, 84, 86) else key) for word, key in words]


def en_or_y(dice: Dice) -> Draft:
    """She talks about it: elle en parle. They went there: ils y sont allés."""
    there = dice.chance(0.4)
    verb = dice.pick(MOTION[:1] if there else OF_SOMETHING)
    tense = dice.pick(TENSES) if not there else dice.pick(("present", "past"))
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.3) else ""
    subject = subject_of(dice, verb, pronouns=0.5)
    word: list[Word] = [("y" if there else "en", OBJECT)]

    def french(who: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense, negation=negation, clitics=word)]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, ("there" if there else "it", OBJECT)]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject], french, ["en and y"], combinations)
