"""Tenses and modal verbs, in statements, negations and questions: what one predicate can become.

"read the book" becomes "he has never read the book", "can you read the book?", "I don't want to read the book".
A mode is an English auxiliary with what stands before the verb, and the French for it: a tense, or a verb with
an infinitive.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from transformer_course.corpus.everyday.words import ENGLISH, FRENCH
from transformer_course.corpus.grammar.clauses import (
    AMBIGUOUS,
    BE,
    NEGATION,
    NEGATIVE,
    VERB,
    english_be,
    finite,
    inverted_pronoun,
)
from transformer_course.corpus.grammar.lexicon import Verb
from transformer_course.corpus.grammar.morphology import agree, english_ing, with_s
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.questions import EST_CE_QUE, is_pronoun
from transformer_course.corpus.grammar.reflexives import OWN
from transformer_course.corpus.grammar.spelling import Word

ADVERB = 82


class Mode(NamedTuple):
    """What is done to a predicate.

    Args:
        name: what it is called.
        auxiliary: the English word that takes "not" and comes first in a question: do, have, be, can, …
        main: what stands between it and the verb: "want to"; empty if nothing does.
        french: (verb, tense, link): the main verb is in the infinitive after it; if empty, it has the tense.
        others: other French ways to say it.
        form: the English verb's: "base", "participle" or "ing".
        when: which times may follow.
    """

    name: str
    auxiliary: str
    main: str
    french: tuple[str, str, str]
    others: tuple[tuple[str, str, str], ...] = ()
    form: str = "base"
    when: str = "future"


PRESENT, PAST = ("", "present", ""), ("", "past", "")
MODES = {
    mode.name: mode
    for mode in (
        Mode("present", "do", "", PRESENT, when="habit"),
        Mode("past", "did", "", PAST, when="past"),
        Mode("future", "will", "", ("", "future", ""), (("aller", "present", ""),)),
        Mode("perfect", "have", "", PAST, form="participle", when=""),
        Mode("progressive", "be", "", PRESENT, form="ing", when="now"),
        Mode("was doing", "was", "", ("", "imperfect", ""), form="ing", when=""),
        Mode("going to", "be", "going to", ("aller", "present", ""), (("", "future", ""),)),
        Mode("have just", "have", "just", ("venir", "present", "de"), form="participle", when=""),
        Mode("just did", "did", "", ("venir", "present", "de"), when=""),
        Mode("been doing", "have", "been", PRESENT, form="ing", when="since"),
        Mode("was", "did", "", ("", "imperfect", ""), when=""),
        Mode("has been", "have", "", PRESENT, form="participle", when="since"),
        Mode("would", "would", "", ("", "conditional", ""), when=""),
        Mode("can", "can", "", ("pouvoir", "present", "")),
        Mode("could you", "could", "", ("pouvoir", "conditional", "")),
        Mode(
            "could not",
            "could",
            "",
            ("pouvoir", "past", ""),
            (("pouvoir", "imperfect", ""),),
            when="past",
        ),
        Mode("must", "must", "", ("devoir", "present", "")),
        Mode("should", "should", "", ("devoir", "conditional", "")),
        Mode("have to", "do", "have to", ("devoir", "present", "")),
        Mode("don't have to", "do", "have to", ("avoir besoin", "present", "de")),
        Mode(
            "had to",
            "did",
            "have to",
            ("devoir", "past", ""),
            (("devoir", "imperfect", ""),),
            when="past",
        ),
        Mode("didn't have to", "did", "have to", ("avoir besoin", "past", "de"), when="past"),
        Mode("want to", "do", "want to", ("vouloir", "present", "")),
        Mode(
            "wanted to",
            "did",
            "want to",
            ("vouloir", "imperfect", ""),
            (("vouloir", "past", ""),),
            when="",
        ),
        Mode(
            "would like to",
            "would",
            "like to",
            ("vouloir", "conditional", ""),
            (("aimer", "conditional", ""),),
        ),
        Mode(
            "need to",
            "do",
            "need to",
            ("avoir besoin", "present", "de"),
            (("devoir", "present", ""),),
        ),
    )
}

NOT = {
    "do": ("don't", "do not"),
    "does": ("doesn't", "does not"),
    "did": ("didn't", "did not"),
    "will": ("won't", "will not"),
    "have": ("haven't", "have not"),
    "has": ("hasn't", "has not"),
    "is": ("isn't", "is not"),
    "are": ("aren't", "are not"),
    "was": ("wasn't", "was not"),
    "were": ("weren't", "were not"),
    "would": ("wouldn't", "would not"),
    "can": ("can't", "cannot"),
    "could": ("couldn't", "could not"),
    "must": ("mustn't", "must not"),
    "should": ("shouldn't", "should not"),
}


FRENCH_NOT = NEGATIVE | {"not yet": "pas encore"}


def auxiliary_of(subject: Phrase, mode: Mode) -> str:
    """The auxiliary as it agrees with the subject."""
    third = subject.third
    if mode.auxiliary == "do":
        return "does" if third else "do"
    if mode.auxiliary == "have":
        return "has" if third else "have"
    if mode.auxiliary in ("be", "was"):
        return english_be(subject, "present" if mode.auxiliary == "be" else "past")
    return mode.auxiliary


def english_group(
    subject: Phrase, verb: Verb, mode: Mode, *, asked: bool, negation: str, short: bool, adverb: str
) -> list[Word]:
    """The subject and the English verb.

    Args:
        asked: whether the auxiliary comes first.
        negation: "", "not", "never", "not yet" ("yet" comes last) or "no longer" (with "anymore").
        short: "don't", not "do not".
        adverb: a word after the auxiliary, such as "already"; empty if none.
    """
    is_be = verb.name == "be" and mode.auxiliary in ("do", "did") and not mode.main
    if is_be:
        auxiliary = english_be(subject, "past" if mode.auxiliary == "did" else "present")
    else:
        auxiliary = auxiliary_of(subject, mode)
    body = [(word, VERB) for word in mode.main.split()]
    if not is_be:
        form = {"participle": verb.perfect, "ing": english_ing(verb.base)}.get(mode.form, verb.base)
        body.append((form, VERB))
    body += [(word, VERB) for word in verb.particle.split()]
    middle: list[Word] = [(adverb, ADVERB)] if adverb else []
    if negation == "never":
        middle = [("never", NEGATION), *middle]
    negated = negation in ("not", "not yet", "no longer")
    if asked and not negated:
        return [(auxiliary, VERB), *subject.english, *middle, *body]
    if asked:
        written = NOT.get(auxiliary, (f"{auxiliary}n't",))[0]  # "amn't" isn't asked for
        return [(written, NEGATION), *subject.english, *middle, *body]
    if negated:
        written = NOT.get(auxiliary, (f"{auxiliary} not",) * 2)[not short]
        return [*subject.english, *((w, NEGATION) for w in written.split()), *middle, *body]
    if auxiliary not in ("do", "does", "did"):
        return [*subject.english, (auxiliary, VERB), *middle, *body]
    return [*subject.english, *middle, inflected(body[0][0], verb, mode, subject.third), *body[1:]]


def inflected(word: str, verb: Verb, mode: Mode, third: bool) -> Word:
    """The first word of a verb without an auxiliary: wants, wanted."""
    known = ENGLISH.get(word) if mode.main else verb
    if mode.auxiliary == "did":
        past = known.past if known else word + "ed"
        return past, AMBIGUOUS if past == word and not third else VERB
    if third:
        return known.third if known else with_s(word), VERB
    return word, AMBIGUOUS if known and known.past == word and not mode.main else VERB


class Action(NamedTuple):
    """A French verb with what belongs to it.

    Args:
        verb: the verb.
        reflexive: whether it has me, te, se, …
        clitics: object pronouns.
        agreement: what a participle agrees with after avoir, if anything.
        own_object: whether the reflexive pronoun isn't the direct object: elle s'est lavé les mains.
        manner: a short adverb (bien, beaucoup), which stands before a participle, but after any other form.
    """

    verb: Verb
    reflexive: bool = False
    clitics: tuple[Word, ...] = ()
    agreement: Reading | None = None
    manner: str = ""
    own_object: bool = False


def french_groups(
    who: Reading, action: Action, mode: Mode, *, asked: bool, negation: str, adverb: str
) -> list[list[Word]]:
    """The subject and the French verb, in all right ways, the usual ones first.

    Args:
        asked: whether it is a question: with est-ce que, and inverted.
        negation: as above.
        adverb: a French word after the first verb; empty if none.
    """
    groups = []
    others = () if mode.name == "need to" and negation else mode.others  # ne doit pas forbids
    for way in (mode.french, *others):
        group = french_group(who, action, way, negation, adverb, "")
        if not asked:
            groups.append([*who.words, *group])
            continue
        groups.append([*EST_CE_QUE, *who.words, *group])
        if who.person or way[:2] == ("pouvoir", "present"):
            turned = french_group(who, action, way, negation, adverb, inverted_pronoun(who))
            groups.append(turned if is_pronoun(who) else [*who.words, *turned])
    return groups


def french_group(
    who: Reading, action: Action, way: tuple[str, str, str], negation: str, adverb: str, turned: str
) -> list[Word]:
    """The French verb in one way: ne + pronouns + verb (+ -il) + pas + adverb + participle or infinitive."""
    helper, tense, link = way
    own: list[Word] = [(OWN[who.person], VERB)] if action.reflexive else []
    objects = [*own, *action.clitics]
    if not helper:
        first, participle = conjugated(who, action, tense)
        manner = action.manner.split()
        rest = [*manner, participle] if participle else manner
        rest += [action.verb.complement] if action.verb.complement else []
        return around(first, objects, negation, adverb, turned, rest, who)
    verb = FRENCH[helper]
    first, participle = conjugated(who, Action(verb), tense)
    if turned == "-je":
        first = "puis"
    rest = [participle] if participle else []
    rest += [verb.complement] if verb.complement else []
    after: list[Word] = [(link, VERB)] if link else []
    after += [(word, VERB) for word in action.manner.split()]
    after += [*objects, (action.verb.infinitive, VERB)]
    after += [(action.verb.complement, VERB)] if action.verb.complement else []
    return [*around(first, [], negation, adverb, turned, rest, who), *after]


def conjugated(who: Reading, action: Action, tense: str) -> tuple[str, str]:
    """The conjugated word, and the participle if there is one; the past of être is étais."""
    verb = action.verb
    if verb.infinitive == "être":
        return BE.get("past" if tense == "imperfect" else tense, BE["present"])[who.person], ""
    form, compound = finite(who, verb, tense)
    if not compound:
        return form, ""
    owner = who if verb.etre and not action.own_object else action.agreement
    if owner is None or verb.complement:
        return form, verb.participle
    return form, agree(verb.participle, owner.gender, owner.plural)


def around(
    first: str,
    objects: Sequence[Word],
    negation: str,
    adverb: str,
    turned: str,
    rest: Iterable[str],
    who: Reading,
) -> list[Word]:
    """What stands around a conjugated verb."""
    words: list[Word] = [("ne", NEGATION)] if negation else []
    words += [*objects, (first, VERB)]
    if turned:
        words.append((turned, who.words[-1][1]))
    if negation:
        words += [(word, NEGATION) for word in FRENCH_NOT[negation].split()]
    if adverb:
        words.append((adverb, ADVERB))
    return [*words, *((word, VERB) for word in rest)]
