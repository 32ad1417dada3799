"""Statements and questions in all modes: I have never seen this film; why is she on the phone?"""

from dataclasses import replace

from transformer_course.corpus.everyday.modes import (
    MODES,
    Action,
    Mode,
    english_group,
    french_groups,
)
from transformer_course.corpus.everyday.predicates import (
    ACTIONS,
    EVENTS,
    LIKES,
    ROWS,
    Predicate,
    from_table,
    in_a_manner,
    to_somebody,
    verb_with_object,
)
from transformer_course.corpus.everyday.slots import Text, combinations_of, draw, fill_french
from transformer_course.corpus.everyday.tails import TAIL, Words, end, keyed_tail
from transformer_course.corpus.grammar.clauses import NEGATION
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.names import FIRST_NAMES, KIN, called_so
from transformer_course.corpus.grammar.parts import PEOPLE, agent
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.pronouns import SAME_PERSON
from transformer_course.corpus.grammar.questions import WH, is_pronoun
from transformer_course.corpus.grammar.reflexives import POSSESSIVE

POLITE = 98  # the key of "please"


def repeated(text: str) -> list[str]:
    """Words as often as the number after each says.

    >>> repeated("can 2, must 1")
    ['can', 'can', 'must']
    """
    parts = [part.rpartition(" ") for part in text.split(", ")]
    return [name for name, _, times in parts for _ in range(int(times))]


# How often each mode is used: of an action, of an event that nobody plans, of being, of a state, of liking.
SHARES = {
    "a": "present 6, past 6, perfect 3, progressive 4, going to 3, future 3, was doing 1, would 1, can 3, "
    "could you 1, could not 1, must 1, should 1, have to 2, don't have to 1, had to 1, didn't have to 1, "
    "want to 3, wanted to 1, would like to 2, need to 1, been doing 1, has been 1, "
    "have just 1, just did 1",
    "e": "past 6, perfect 3, present 1, future 1",
    "be": "present 8, was 3, future 2, would 1, has been 1",
    "s": "present 8, was 3, future 1, has been 1",
    "l": "present 8",
}

URNS = {kind: [MODES[name] for name in repeated(shares)] for kind, shares in SHARES.items()}

NEGATED_ONLY, ASKED_ONLY = ("could not", "don't have to", "didn't have to"), ("could you",)
DURATIVE = frozenset(
    [
        "work",
        "wait",
        "read",
        "play",
        "watch",
        "listen",
        "study",
        "learn",
        "sleep",
        "cook",
        "look",
        "write",
        "clean",
        "talk",
        "speak",
        "swim",
        "walk",
        "run",
        "dance",
        "sing",
        "draw",
        "use",
        "drive",
        "live",
    ]
)  # what one can have been doing for hours
IMPERFECT = ("be", "have", "know", "want", "own", "feel", "like")  # "I had" a dog: j'avais
HOW = ("present", "past", "can", "going to", "future", "should")

WITH = {
    "never": ("present", "perfect", "would", "future"),
    "not yet": ("perfect",),
    "no longer": ("present", "can", "want to", "progressive"),
}

WANTED = {
    "was": "sa"
}  # the kinds of predicates for a mode that a clause must have; else actions only

TIMES = ("past", "future", "habit", "now")  # the tails that may stand in front

LAST = {"not yet": "yet", "no longer": "anymore"}

ADVERBS = {
    "present": "always toujours, often souvent, sometimes parfois, usually généralement, really vraiment, "
    "also aussi",
    "perfect": "already déjà, already déjà",
    "progressive": "still encore",
    "past": "also aussi",
    "can": "also aussi, always toujours",
}

OF_THE_SAME = {"i": {"me", "us"}, "we": {"us", "me"}, "you": {"you"}}
WH_WORDS = (
    ("where", "où"),
    ("when", "quand"),
    ("why", "pourquoi"),
    ("why", "pourquoi"),
    ("how", "comment"),
    ("what time", "à quelle heure"),
    ("who", "avec qui"),
    ("how often", "à quelle fréquence"),
)

WHO = Phrase([("who", 14)], (Reading([("qui", 14)], 2, "m", False, [("qui", 14)]),), True)


def speaker(dice: Dice, asked: bool) -> Phrase:
    """Who a sentence is about; a question mostly asks you."""
    chance = dice.random()
    if chance < 0.68:
        words = (
            ("you", "you", "you", "he", "she", "they", "we", "i")
            if asked
            else ("i", "i", "i", "you", "he", "she", "we", "we", "they")
        )
        return pronoun(dice.pick(words), 1)
    if chance < 0.82:
        return called_so((dice.pick(FIRST_NAMES),))
    if chance < 0.87:
        return noun_phrase(
            dice,
            dice.pick(KIN),
            1,
            plural=False,
            determiner=dice.pick(("my", "my", "my", "your", "his", "her", "our")),
            adjectives=0.05,
        )
    if chance < 0.95:
        return draw(
            dice, dice.pick(("my:relative", "my:relative", "the:helper", "your:relative")), 1
        )
    return agent(dice, dice.pick(PEOPLE), adjectives=0.1)


def owner_of(subject: Phrase) -> str:
    """my for I, her for Anna.

    >>> owner_of(pronoun("we", 1)), owner_of(called_so(FIRST_NAMES[:1]))
    ('our', 'her')
    """
    if subject.english[0][0] in POSSESSIVE and len(subject.english) == 1:
        return POSSESSIVE[subject.english[0][0]]
    if not subject.third:
        return "their"
    return "his" if subject.readings[0].gender == "m" else "her"


def predicate_of(dice: Dice, subject: Phrase, negated: bool) -> Predicate:
    """What is said of somebody: a row of the table, or a verb of the grammar with its object."""
    owner, chance = owner_of(subject), dice.random()
    if chance < 0.54:
        return from_table(dice, ROWS, owner, negated)
    if chance < 0.61:
        return to_somebody(dice, subject, negated)
    if chance < 0.65:
        return in_a_manner(dice)
    if chance < 0.74:
        return verb_with_object(dice, LIKES, "l", negated)
    verbs, kinds = (EVENTS, "e") if chance < 0.78 else (ACTIONS, "a")
    while True:
        predicate = verb_with_object(dice, verbs, kinds, negated)
        mine = SAME_PERSON.get(predicate.english[0][0] if predicate.clitic else "", ())
        if subject.english[0][0] not in mine:
            return predicate


def mode_of(dice: Dice, predicate: Predicate, asked: bool, negation: str) -> Mode:
    """A mode that the predicate and the form of the sentence allow."""
    kind = predicate.kinds[0]
    if kind == "s" and predicate.verb.name == "be":
        kind = "be"
    while True:
        mode = dice.pick(URNS[kind])
        if mode.name in NEGATED_ONLY and negation != "not":
            continue
        if mode.name in ASKED_ONLY and not asked:
            continue
        if mode.name in ("have to", "had to", "could you") and negation:
            continue
        lasting = mode.name == "been doing" or (mode.name == "has been" and kind == "a")
        if lasting and predicate.verb.base not in DURATIVE:
            continue
        if mode.name in ("have just", "just did") and (negation or asked):
            continue
        if mode.name == "was" and predicate.verb.name not in IMPERFECT:
            continue
        if (mode.name == "must" and asked) or (mode.when == "since" and (asked or negation)):
            continue
        if mode.name not in WITH.get(negation, tuple(MODES)):
            if negation in LAST and kind != "a":
                return MODES["perfect" if negation == "not yet" and kind == "e" else "present"]
            if negation == "never" and kind in ("be", "s", "l"):
                return MODES["present"]
            continue
        return mode


def adverb_of(dice: Dice, mode: Mode, negation: str, wanted: float) -> tuple[str, str]:
    """Sometimes an adverb, in both languages."""
    if negation or mode.name not in ADVERBS or not dice.chance(wanted):
        return "", ""
    english, french = dice.pick(ADVERBS[mode.name].split(", ")).split(" ")
    return english, french


def says(dice: Dice) -> Draft:
    """I have never seen this film. Do you want to play with your friends tomorrow? Why is she on the phone?"""
    chance = dice.random()
    if chance < 0.03:
        return clause(dice, asked=False, tails=0.3, subject=WHO)
    asked = chance < 0.33
    return clause(dice, asked=asked, tails=0.3 if asked else 0.45, first=0 if asked else 0.15)


def clause(
    dice: Dice,
    *,
    asked: bool,
    tails: float,
    wanted: str = "",
    plain: bool = False,
    subject: Phrase | None = None,
    first: float = 0,
) -> Draft:
    """A statement or a question.

    Args:
        asked: whether it is a question.
        tails: how often it has a time, a place or a companion.
        wanted: a mode that it must have, if any.
        plain: it isn't negated.
        subject: who it is about; somebody if left out.
        first: how often its time stands in front: yesterday I went to the market.
    """
    negation = ""
    if not plain and dice.chance(0.08 if asked else 0.3):
        negation = "not" if asked else dice.pick(("not",) * 7 + ("never", "not yet", "no longer"))
    subject = subject or speaker(dice, asked)
    if asked and negation and subject.english[0][0] == "i":
        negation = ""
    predicate = predicate_of(dice, subject, bool(negation) or asked)
    while "me" in [w for w, _ in predicate.english] and subject.english[0][0] == "i":
        predicate = predicate_of(dice, subject, bool(negation) or asked)  # not "taller than me"
    mode = mode_of(dice, predicate, asked, negation)
    if wanted:
        negation = "not" if negation else ""
        while predicate.kinds[0] not in WANTED.get(wanted, "a"):
            predicate = predicate_of(dice, subject, bool(negation))
        mode = MODES[wanted]
    short = dice.chance(0.7)
    adverb, adverbe = adverb_of(dice, mode, negation, 0.12)
    if asked and mode.name == "present":
        adverb = adverbe = ""
    if asked and mode.name == "perfect" and dice.chance(0.3):
        adverb, adverbe = "ever", "déjà"
    if mode.name == "just did":
        adverb = "just"
    kind = tail_kind(dice, predicate, mode, tails)
    if adverb or negation not in ("", "not"):
        kind = ""
    role = 2 + len(predicate.phrases)
    tail = end(dice, kind, owner_of(subject), role)
    unfit = OF_THE_SAME.get(subject.english[0][0], set()) | ({"again"} if negation else set())
    while {word for word, _ in tail.english} & unfit:  # not "I play with me"
        tail = end(dice, kind, owner_of(subject), role)
    question, mot = question_words(dice, predicate, mode, bool(kind)) if asked else ("", "")
    if question and adverb == "ever":
        adverb = adverbe = ""
    polite = asked and not question and mode.name in ("can", "could you") and dice.chance(0.4)
    group = english_group(
        subject, predicate.verb, mode, asked=asked, negation=negation, short=short, adverb=adverb
    )
    last: Words = [(LAST[negation], NEGATION)] if negation in LAST else []
    asking = [(word, WH) for word in question.split()]
    before = (
        kind in TIMES and ("again", TAIL) not in tail.english and bool(first) and dice.chance(first)
    )
    if before:
        comma: Words = [(",", 0)] if dice.chance(0.5) else []
        english = [*tail.english, *comma, *group, *predicate.english, *last]
    else:
        english = [*asking, *group, *predicate.english, *last, *tail.english]
    if question == "who":
        english.append(("with", WH))
    if polite:
        english += [(",", POLITE), ("please", POLITE)]
    phrases = [subject, *predicate.phrases, *tail.phrases]
    n = 1 + len(predicate.phrases)

    def french(*readings: Reading) -> Variants:
        who = readings[0]
        start: Words = [(word, WH) for word in mot.split()]
        please = please_of(who) if polite else []
        ways = [
            (french_groups(who, action, mode, asked=asked, negation=negation, adverb=adverbe), rest)
            for action, rest in predicate.french(who, readings[1:n], bool(negation))
        ]
        variants = []
        for ending in tail.french or (Text(()),):
            when = keyed_tail(fill_french(ending, readings[n:], who))
            for group, rest in in_turn(ways, asked):
                if before:
                    variants.append([*when, (",", 0), *group, *rest])
                else:
                    variants.append([*start, *group, *rest, *when, *please])
        return variants

    labels = ["speech", *(["yes-no question"] if asked and not question else [])]
    combinations = [*predicate.combinations, *combinations_of(predicate.verb.name, tail.phrases)]
    if subject.noun and not combinations:
        combinations = [(subject.noun.name, predicate.verb.name)]
    trained = predicate.trained if not asked else 2
    mark = "?" if asked or subject is WHO else "."
    return Draft(english, phrases, french, labels, combinations, trained, mark)


def tail_kind(dice: Dice, predicate: Predicate, mode: Mode, wanted: float) -> str:
    """What may follow a predicate in a mode: a kind of tails.tsv, or nothing."""
    if mode.when == "since":
        return "since"
    kinds = predicate.kinds
    if predicate.verb.name == "be" and mode.name in ("present", "was") and dice.chance(0.12):
        return "state" if not predicate.timed else ""
    if kinds[0] not in "ae" or predicate.timed or not dice.chance(wanted):
        return ""
    if dice.chance(0.3) and ("p" in kinds or kinds == "a"):
        return "place" if dice.chance(0.75) or "do" in predicate.places else "purpose"
    return mode.when


def question_words(dice: Dice, predicate: Predicate, mode: Mode, has_tail: bool) -> tuple[str, str]:
    """Sometimes a word before a question; "where" and "when" only if the sentence hasn't said it."""
    kinds = predicate.kinds
    if kinds[0] not in "aes" or not dice.chance(0.3):
        return "", ""
    english, french = dice.pick(WH_WORDS)
    state = kinds[0] == "s"
    timed = english in ("when", "what time") and (predicate.timed or mode.name == "perfect")
    known = english in ("where", "when", "what time", "who") and (has_tail or state)
    if english == "how often" and (
        kinds[0] != "a" or mode.name != "present" or predicate.timed or has_tail
    ):
        return "why", "pourquoi"
    manner = english == "how" and (state or mode.name not in HOW)
    if timed or known or manner or (english == "who" and "p" not in kinds):
        return "why", "pourquoi"
    return english, french


def in_turn(ways: list[tuple[list[Words], Words]], asked: bool) -> list[tuple[Words, Words]]:
    """All ways to say it, those first that are trained on: a question's two forms, a statement's verbs."""
    if asked:
        return [(group, rest) for groups, rest in ways for group in groups]
    return [(groups[k], rest) for k in range(len(ways[0][0])) for groups, rest in ways]


def please_of(who: Reading) -> Words:
    """s'il te plaît to somebody called tu, s'il vous plaît to the others."""
    said = "s'il te plaît" if who.register == "tu" else "s'il vous plaît"
    return [(",", POLITE), *((word, POLITE) for word in said.split())]


def what_question(dice: Dice) -> Draft:
    """What do you want to eat? Que veux-tu manger ? Qu'est-ce que tu veux manger ?"""
    subject = speaker(dice, True)
    verb = dice.pick(ACTIONS)
    while verb.object <= {"person", "animate", "animal"}:
        verb = dice.pick(ACTIONS)
    predicate = replace(verb_with_object(dice, (verb,), "l", False), kinds="a")
    mode = mode_of(dice, predicate, True, "")
    tail = end(dice, mode.when if dice.chance(0.3) else "", owner_of(subject), 2)
    group = english_group(subject, verb, mode, asked=True, negation="", short=True, adverb="")

    def french(who: Reading, *readings: Reading) -> Variants:
        variants = []
        for words in french_groups(who, Action(verb), mode, asked=True, negation="", adverb=""):
            for ending in tail.french or (Text(()),):
                quand = keyed_tail(fill_french(ending, readings, who))
                variants.append([("que", WH), *words, *quand])
        return [v for v in variants if v[1][0] == "est-ce" or is_pronoun(who)]

    english = [("what", WH), *group, *tail.english]
    combinations = [("what", verb.name)]
    return Draft(
        english, [subject, *tail.phrases], french, ["speech", "wh-question"], combinations, 2, "?"
    )
