"""Verbs in their clauses: tense, negation, clitics and the agreement of the participle."""

from collections.abc import Sequence
from functools import cache

from transformer_course.corpus.grammar.lexicon import Adjective, Verb
from transformer_course.corpus.grammar.morphology import (
    agree,
    french_conditional,
    french_imperfect,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.spelling import Word

VERB, NEGATION, ADVERB, PREDICATE = 80, 81, 82, 84
AMBIGUOUS = 79  # "they read" is present or past: no such sentence is written

HAVE = ("ai", "as", "a", "avons", "avez", "ont")
BE = {
    "present": ("suis", "es", "est", "sommes", "êtes", "sont"),
    "past": ("étais", "étais", "était", "étions", "étiez", "étaient"),
    "future": ("serai", "seras", "sera", "serons", "serez", "seront"),
    "conditional": ("serais", "serais", "serait", "serions", "seriez", "seraient"),
}
NEGATIVE = {"not": "pas", "never": "jamais", "no longer": "plus"}
SHORT = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "will": "won't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
}


def english_be(subject: Phrase, tense: str) -> str:
    """am, is, are, was, were or will be.

    >>> from transformer_course.corpus.grammar.phrases import pronoun
    >>> english_be(pronoun("i", 1), "present")
    'am'
    """
    if tense == "future":
        return "will"
    first = subject.english[0][0]
    if tense == "past":
        return "was" if subject.third or first == "i" else "were"
    if first == "i" and len(subject.english) == 1:
        return "am"
    return "is" if subject.third else "are"


def english_be_words(subject: Phrase, tense: str, negation: str, short: bool) -> list[Word]:
    """The words of to be, with not, never or no longer."""
    form = english_be(subject, tense)
    words = negated_auxiliary(form, negation, short)
    return [*words, ("be", VERB)] if tense == "future" else words


def negated_auxiliary(form: str, negation: str, short: bool) -> list[Word]:
    """An auxiliary with its negation: doesn't, does not, is never.

    >>> negated_auxiliary("did", "not", short=True)
    [("didn't", 81)]
    """
    if not negation:
        return [(form, VERB)]
    if negation == "not" and short and form in SHORT:
        return [(SHORT[form], NEGATION)]
    return [(form, VERB), *((word, NEGATION) for word in negation.split())]


def english_verb(
    subject: Phrase, verb: Verb, tense: str, negation: str = "", short: bool = False
) -> list[Word]:
    """The English verb with do-support where it is negated."""
    third = subject.third
    if tense == "future":
        words = [*negated_auxiliary("will", negation, short), (verb.base, VERB)]
    elif negation == "not":
        auxiliary = "did" if tense == "past" else "does" if third else "do"
        words = [*negated_auxiliary(auxiliary, negation, short), (verb.base, VERB)]
    else:
        form = verb.past if tense == "past" else verb.third if third else verb.base
        key = AMBIGUOUS if verb.base == verb.past and not third else VERB
        words = [*((word, NEGATION) for word in negation.split()), (form, key)]
    if verb.particle:
        words.append((verb.particle, VERB))
    return words


def with_pronoun(verb: Verb, verb_words: list[Word], pronoun: Sequence[Word]) -> list[Word]:
    """An English verb with a pronoun as its object: look at it, but turn it on.

    >>> from transformer_course.corpus.grammar.lexicon import VERB
    >>> with_pronoun(VERB["turn on"], [("turned", 80), ("on", 80)], [("it", 24)])
    [('turned', 80), ('it', 24), ('on', 80)]
    """
    if "apart" in verb.frame:
        return [*verb_words[:-1], *pronoun, verb_words[-1]]
    return [*verb_words, *pronoun]


def finite(subject: Reading, verb: Verb, tense: str) -> tuple[str, bool]:
    """The conjugated French word, and whether a participle follows it.

    The tenses are "present", "past" (passé composé), "future", "imperfect" and "conditional".
    """
    if tense == "past":
        return (BE["present"] if verb.etre else HAVE)[subject.person], True
    return forms(verb, tense)[subject.person], False


@cache
def forms(verb: Verb, tense: str) -> tuple[str, ...]:
    """The six persons of a tense of one word.

    >>> from transformer_course.corpus.grammar.lexicon import VERB
    >>> forms(VERB["sing"], "imperfect")[5], forms(VERB["come"], "conditional")[0]
    ('chantaient', 'viendrais')
    """
    if tense == "imperfect":
        return french_imperfect(verb.present)
    if tense == "conditional":
        return french_conditional(verb.future)
    return verb.present if tense == "present" else verb.future


def french_verb(
    subject: Reading,
    verb: Verb,
    tense: str,
    *,
    negation: str = "",
    clitics: Sequence[Word] = (),
    agreement: Reading | None = None,
    adverb: str = "",
    inverted: str = "",
) -> list[Word]:
    """The French verb group: ne + clitics + verb (+ -il) + pas + adverb + participle.

    Args:
        subject: what the verb agrees with.
        negation: "not", "never", "no longer", or a French word that follows ne (rien).
        agreement: the direct object, if it comes before the participle.
        inverted: "-il" and the like, in a question.
    """
    form, compound = finite(subject, verb, tense)
    words: list[Word] = [("ne", NEGATION)] if negation else []
    words += clitics
    words.append((form, VERB))
    if inverted:
        words.append((inverted, subject.words[-1][1]))
    if negation:
        words.append((NEGATIVE.get(negation, negation), NEGATION))
    if adverb:
        words.append((adverb, ADVERB))
    if compound:
        owner = subject if verb.etre else agreement
        participle = verb.participle
        if owner is not None and not verb.complement:
            participle = agree(participle, owner.gender, owner.plural)
        words.append((participle, VERB))
    if verb.complement:
        words.append((verb.complement, VERB))
    return words


def french_be(subject: Reading, tense: str, negation: str = "", inverted: str = "") -> list[Word]:
    """être with its negation; the past is the imparfait."""
    words: list[Word] = [("ne", NEGATION)] if negation else []
    words.append((BE[tense][subject.person], VERB))
    if inverted:
        words.append((inverted, subject.words[-1][1]))
    if negation:
        words.append((NEGATIVE.get(negation, negation), NEGATION))
    return words


def predicate(subject: Reading, adjective: Adjective) -> Word:
    """An adjective that agrees with the subject."""
    return adjective.french[subject.gender][subject.plural], PREDICATE


def inverted_pronoun(reading: Reading) -> str:
    """The pronoun that follows the verb in a question, with its hyphen."""
    if reading.person == 2:
        return "-elle" if reading.gender == "f" else "-il"
    if reading.person == 5:
        return "-elles" if reading.gender == "f" else "-ils"
    return ("-je", "-tu", "", "-nous", "-vous")[reading.person]
