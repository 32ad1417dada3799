"""Reflexive verbs: she gets up: elle se lève; they woke up: ils se sont réveillés; wash your hands!"""

from transformer_course.corpus.grammar.clauses import (
    BE,
    NEGATION,
    NEGATIVE,
    VERB,
    english_verb,
    french_verb,
)
from transformer_course.corpus.grammar.commands import (
    TU,
    addressed,
    english_start,
    french_command,
    mark_of,
    particle_of,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import REFLEXIVES, Verb
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.parts import (
    NEGATIONS,
    PEOPLE,
    PERSONAL,
    TENSES,
    agent,
    subject_of,
    tense_labels,
    time_words,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, pronoun
from transformer_course.corpus.grammar.spelling import Word

OWN = ("me", "te", "se", "nous", "vous", "se")
POSSESSIVE = {"i": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}
BODY = (
    ("hands", "les mains"),
    ("feet", "les pieds"),
    ("face", "le visage"),
    ("hair", "les cheveux"),
)
ASKED = tuple(
    v
    for v in REFLEXIVES
    if v.name
    not in (
        "get lost",
        "get angry",
        "get married",
        "fall asleep",
        "complain",
        "faint",
        "get bored",
        "escape",
        "have fun",  # a phrase: amuse-toi bien
    )
)
HANDS = 26


def oneself(who: Reading) -> list[Word]:
    """me, te, se, nous or vous."""
    return [(OWN[who.person], VERB)]


def reflexive(dice: Dice) -> Draft:
    """The girls got up: les filles se sont levées."""
    verb = dice.pick(REFLEXIVES)
    tense = dice.pick(TENSES)
    male = "man" in verb.subject
    subject = pronoun("he", 1) if male and dice.chance(0.5) else subject_of(dice, verb)
    if verb.name == "apologize" and subject.english[0][0] == "i":
        subject = pronoun("we", 1)  # "I apologize" is a phrase
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.25) else ""
    when, quand = time_words(dice, tense) if not negation else ([], [])

    def french(who: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation, clitics=oneself(who))
        return [[*who.words, *words, *quand]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, *when]
    labels = ["reflexive", *tense_labels(verb, tense), *(["negation"] if negation else [])]
    combinations = [(subject.noun.name if subject.noun else subject.english[0][0], verb.name)]
    return Draft(english, [subject], french, labels, combinations)


def washes_hands(dice: Dice) -> Draft:
    """She washed her hands: elle s'est lavé les mains, without an agreement."""
    verb = VERB_NAMED["wash"]
    tense = dice.pick(TENSES)
    subject = (
        pronoun(dice.pick(PERSONAL), 1) if dice.chance(0.6) else agent(dice, dice.pick(PEOPLE))
    )
    part, partie = dice.pick(BODY)
    negation = "not" if dice.chance(0.2) else ""

    def french(who: Reading) -> Variants:
        words = washing(who, verb, tense, negation)
        return [[*who.words, *words, *((word, HANDS) for word in partie.split())]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.5))
    owner = owner_of(subject)
    if part == "face" and owner in ("our", "their"):
        part = "faces"
    english = [*subject.english, *verb_words, (owner, HANDS), (part, HANDS)]
    combinations = [(subject.noun.name if subject.noun else subject.english[0][0], part)]
    return Draft(english, [subject], french, ["reflexive"], combinations)


def washing(who: Reading, verb: Verb, tense: str, negation: str) -> list[Word]:
    """se lave, ne s'est pas lavé: with être, and here the participle stays as it is."""
    if tense != "past":
        return french_verb(who, verb, tense, negation=negation, clitics=oneself(who))
    words = [*oneself(who), (BE["present"][who.person], VERB)]
    if negation:
        words = [("ne", NEGATION), *words, (NEGATIVE[negation], NEGATION)]
    return [*words, (verb.participle, VERB)]


def owner_of(subject: Phrase) -> str:
    """my for I, her for the girl."""
    if subject.noun is None:
        return POSSESSIVE[subject.english[0][0]]
    if not subject.third:
        return "their"
    return "his" if subject.noun.gender == "m" else "her"


def get_up(dice: Dice) -> Draft:
    """Get up! lève-toi ! Don't hurry! ne vous dépêchez pas !"""
    verb = dice.pick(ASKED)
    start, together, negated = english_start(dice)

    def french() -> Variants:
        return [
            french_command(verb, person, [(OWN[person], VERB)], negated)
            for person in addressed(together)
        ]

    english = [*start, (verb.base, VERB), *particle_of(verb)]
    combinations = [("imperative", verb.name)]
    return Draft(english, [], french, ["reflexive", "imperative"], combinations, mark=mark_of(dice))


def wash_your_hands(dice: Dice) -> Draft:
    """Wash your hands! lave-toi les mains !"""
    verb = VERB_NAMED["wash"]
    part, partie = dice.pick(BODY)
    negated = dice.chance(0.2)

    def french() -> Variants:
        return [
            [
                *french_command(verb, person, [(OWN[person], VERB)], negated),
                *((word, HANDS) for word in partie.split()),
            ]
            for person in (TU, TU + 3)
        ]

    start: list[Word] = [("don't", NEGATION)] if negated else []
    english = [*start, (verb.base, VERB), ("your", HANDS), (part, HANDS)]
    return Draft(english, [], french, ["reflexive", "imperative"], mark=mark_of(dice))
