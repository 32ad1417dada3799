"""Relative clauses: qui, que, dont."""

from transformer_course.corpus.grammar.clauses import english_verb, french_verb
from transformer_course.corpus.grammar.compounds import TAME
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    OBJECTS,
    SUBJECTS,
    SUITABLE,
    VERBS,
    Verb,
    nouns_of,
)
from transformer_course.corpus.grammar.parts import (
    NEGATIONS,
    PEOPLE,
    agent,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.sayings import LINK, saying, shifted
from transformer_course.corpus.grammar.spelling import Word

AVOIR_DE = tuple(
    verb for verb in VERBS if "de" in verb.frame and verb.name != "play" and verb.object
)


def other_subject(dice: Dice, verb: Verb, first: Phrase, pronouns: float = 0.5) -> Phrase:
    """Somebody else who can do what the verb says."""
    while True:
        subject = subject_of(dice, verb, role=6, pronouns=pronouns)
        word = subject.english[0][0]
        if subject.noun is not None or (word in ("i", "you", "we") and word != first.english[0][0]):
            return subject


def who_relative(dice: Dice) -> Draft:
    """The cat that eats the fish is young: le chat qui mange le poisson."""
    verb = dice.pick(TAME)
    tense = tense_for(dice, verb)
    noun = dice.pick(SUBJECTS[verb])
    head, thing = agent(dice, noun, adjectives=0), object_of(dice, verb)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.15) else ""

    def french(who: Reading, what: Reading) -> Variants:
        inner = french_verb(who, verb, tense, negation=negation)
        words = what.negated if negation else what.words
        return [[*who.words, ("qui", LINK), *inner, *words, *said.french(who)]]

    that = "who" if "person" in noun.classes else "that"
    inner = english_verb(head, verb, tense, negation)
    english = [*head.english, (that, LINK), *inner, *thing.english, *said.english(head)]
    combinations = verb_and_object(verb, thing) + said.combinations
    return Draft(english, [head, thing], french, ["relative qui"], combinations)


def that_relative(dice: Dice) -> Draft:
    """The apple that the boy ate was red: la pomme que le garçon a mangée."""
    verb = dice.pick(TAME)
    tense = tense_for(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    head = agent(dice, noun, adjectives=0)
    subject = subject_of(dice, verb, role=6)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)

    def french(what: Reading, who: Reading) -> Variants:
        inner = french_verb(who, verb, tense, agreement=what)
        return [[*what.words, ("que", LINK), *who.words, *inner, *said.french(what)]]

    that: list[Word] = [("that", LINK)] if dice.chance(0.7) else []
    inner = [*that, *subject.english, *english_verb(subject, verb, tense)]
    english = [*head.english, *inner, *said.english(head)]
    labels = ["relative que", *(["participle agreement"] if tense == "past" else [])]
    combinations = [(verb.name, noun.name), *said.combinations]
    return Draft(english, [head, subject], french, labels, combinations)


def seen_relative(dice: Dice) -> Draft:
    """I know the girl who sings: the relative clause at the end."""
    verb, inner = dice.pick(TAME), dice.pick(TAME)
    tense, inner_tense = tense_for(dice, verb), tense_for(dice, inner)
    noun = dice.pick(OBJECTS[verb])
    while noun not in SUITABLE[inner] or inner is verb:
        inner = dice.pick(TAME)
        inner_tense = tense_for(dice, inner)
        verb = dice.pick(TAME)
        tense = tense_for(dice, verb)
        noun = dice.pick(OBJECTS[verb])
    subject = subject_of(dice, verb)
    other = other_subject(dice, inner, subject)
    thing = noun_phrase(dice, noun, 2, determiner=dice.pick(("the", "the", "a")), adjectives=0.2)

    def french(who: Reading, what: Reading, whose: Reading) -> Variants:
        words = shifted(french_verb(whose, inner, inner_tense, agreement=what), 100)
        start = [*who.words, *french_verb(who, verb, tense), *what.words]
        return [[*start, ("que", LINK), *whose.words, *words]]

    start = [*subject.english, *english_verb(subject, verb, tense), *thing.english]
    end = [*other.english, *shifted(english_verb(other, inner, inner_tense), 100)]
    labels = ["relative que", *(["participle agreement"] if inner_tense == "past" else [])]
    combinations = [(verb.name, noun.name), (inner.name, noun.name)]
    english = [*start, ("that", LINK), *end]
    return Draft(english, [subject, thing, other], french, labels, combinations)


def dont_relative(dice: Dice) -> Draft:
    """The book that the girl talks about is old; the boy whose dog sleeps is tired."""
    if dice.chance(0.4):
        return whose_relative(dice)
    verb = dice.pick(AVOIR_DE)
    tense = tense_for(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    head = agent(dice, noun, adjectives=0.1)
    subject = subject_of(dice, verb, role=6)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)

    def french(what: Reading, who: Reading) -> Variants:
        inner = [("dont", LINK), *who.words, *french_verb(who, verb, tense)]
        return [[*what.words, *inner, *said.french(what)]]

    that: list[Word] = [("that", LINK)] if dice.chance(0.7) else []
    inner = [*that, *subject.english, *english_verb(subject, verb, tense)]
    english = [*head.english, *inner, *said.english(head)]
    combinations = [(verb.name, noun.name), *said.combinations]
    return Draft(english, [head, subject], french, ["relative dont"], combinations)


OWNED = nouns_of("animal family vehicle house garden shop")


def whose_relative(dice: Dice) -> Draft:
    """The boy whose dog sleeps is tired: le garçon dont le chien dort est fatigué."""
    owner, owned = dice.pick(PEOPLE), dice.pick(OWNED)
    while owned is owner:
        owned = dice.pick(OWNED)
    head = agent(dice, owner, adjectives=0.1)
    plural = dice.chance(0.3)
    thing = noun_phrase(dice, owned, 6, plural=plural, determiner="the", adjectives=0)
    inner = saying(dice, owned, "present")
    said = saying(dice, owner, dice.pick(("present", "past")), 100)

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, ("dont", LINK), *what.words, *inner.french(what), *said.french(who)]]

    whose = [("whose", LINK), *thing.english[1:], *inner.english(thing)]
    english = [*head.english, *whose, *said.english(head)]
    combinations = [(owner.name, owned.name), *inner.combinations, *said.combinations]
    return Draft(english, [head, thing], french, ["relative dont"], combinations)
