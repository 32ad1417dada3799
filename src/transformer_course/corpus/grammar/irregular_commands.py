"""Commands of be, have and know, irregular in French: sois patient, n'aie pas peur, sachez que …"""

from transformer_course.corpus.grammar.clauses import (
    NEGATION,
    PREDICATE,
    VERB,
    english_be_words,
    french_be,
    predicate,
)
from transformer_course.corpus.grammar.commands import (
    NOUS,
    TU,
    VOUS,
    addressed,
    english_start,
    mark_of,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import ADJECTIVE, DESCRIBING, Adjective
from transformer_course.corpus.grammar.parts import DESCRIBED
from transformer_course.corpus.grammar.phrases import Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word

BE = {TU: "sois", NOUS: "soyons", VOUS: "soyez"}
HAVE = {TU: "aie", NOUS: "ayons", VOUS: "ayez"}
KNOW = {TU: "sache", NOUS: "sachons", VOUS: "sachez"}
# What one has in French: the English words, negated or not, and the French noun.
HAD = (
    ("be afraid", True, "peur"),
    ("be ashamed", True, "honte"),
    ("have patience", False, "de la patience"),
    ("have courage", False, "du courage"),
    ("have confidence", False, "confiance"),
)
MANNERS = ("patient", "polite", "kind", "brave", "honest", "gentle", "generous", "serious", "calm")


def be_patient(dice: Dice) -> Draft:
    """Be patient! sois patient ! soyez patiente ! Let's be polite! soyons polis !"""
    adjective = ADJECTIVE[dice.pick(MANNERS)]
    start, together, negated = english_start(dice)

    def french() -> Variants:
        variants = []
        for person in addressed(together):
            words: list[Word] = [(BE[person], VERB)]
            if negated:
                words = [("ne", NEGATION), *words, ("pas", NEGATION)]
            variants += [[*words, (form, 84)] for form in agreeing(adjective, person)]
        return variants

    english = [*start, ("be", VERB), (adjective.name, 84)]
    labels = ["imperative", "agreement"]
    combinations = [("be", adjective.name)]
    return Draft(english, [], french, labels, combinations, trained=3, mark=mark_of(dice))


def dont_be_afraid(dice: Dice) -> Draft:
    """Don't be afraid! n'aie pas peur ! Have confidence! ayez confiance !"""
    said, negated, noun = dice.pick(HAD)
    together = "let's" if dice.chance(0.2) else ""
    start: list[Word] = [(together, VERB)] if together else []
    if negated:
        start = [*start, ("not", NEGATION)] if together else [("don't", NEGATION)]

    def french() -> Variants:
        variants = []
        for person in addressed(together):
            have: list[Word] = [(HAVE[person], VERB)]
            if negated:
                have = [("ne", NEGATION), *have, ("pas", NEGATION)]
            variants.append([*have, *((word, 84) for word in noun.split())])
        return variants

    verb, _, rest = said.partition(" ")
    english = [*start, (verb, VERB), (rest, 84)]
    return Draft(english, [], french, ["imperative"], [], mark=mark_of(dice))


def know_that(dice: Dice) -> Draft:
    """Know that the bridge is dangerous: sache que le pont est dangereux, sachez que …"""
    noun = dice.pick(DESCRIBED)
    determiner = dice.pick(("the", "the", "my", "this", "your"))
    subject = noun_phrase(dice, noun, 1, determiner=determiner, adjectives=0)
    adjective = dice.companion(DESCRIBING[noun], noun.name)

    def french(who: Reading) -> Variants:
        rest = [("que", 95), *who.words, *french_be(who, "present"), predicate(who, adjective)]
        return [[(KNOW[person], VERB), *rest] for person in addressed("", who)]

    be = [*english_be_words(subject, "present", "", False), (adjective.name, PREDICATE)]
    english = [("know", VERB), ("that", 95), *subject.english, *be]
    combinations = [(noun.name, adjective.name)]
    return Draft(english, [subject], french, ["imperative"], combinations, mark=mark_of(dice))


def agreeing(adjective: Adjective, person: int) -> list[str]:
    """The forms that fit those who are spoken to."""
    plurals = {TU: (False,), NOUS: (True,), VOUS: (False, True)}[person]
    return [adjective.french[gender][plural] for plural in plurals for gender in ("m", "f")]
