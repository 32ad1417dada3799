"""Statements and questions in all modes: I have never seen this film; why is she on the phone?"""

from dataclasses import dataclass, replace

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
from transformer_course.corpus.everyday.tails import TAIL, Ending, Words, end, keyed_tail
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


@dataclass(slots=True)
class Clause:
    """What is decided of a clause before it is written in two languages.

    Args:
        asked: whether it is a question.
        negation: "", "not", "never", "not yet" or "no longer".
        short: "don't", not "do not".
        adverb: in English and in French; empty if there is none.
        tail: a time, a place or a companion.
        question: the word before a question, in both languages.
        polite: whether it ends in "please".
        time_first: whether the time stands in front.
        comma: whether a comma follows it in English; French has one.
    """

    subject: Phrase
    predicate: Predicate
    mode: Mode
    asked: bool
    negation: str
    short: bool
    adverb: tuple[str, str]
    tail: Ending
    question: tuple[str, str]
    polite: bool
    time_first: bool
    comma: bool

    def english(self) -> Words:
        """The English words."""
        group = english_group(
            self.subject,
            self.predicate.verb,
            self.mode,
            asked=self.asked,
            negation=self.negation,
            short=self.short,
            adverb=self.adverb[0],
        )
        group += self.predicate.english
        if self.negation in LAST:
            group.append((LAST[self.negation], NEGATION))
        if self.time_first:
            comma: Words = [(",", 0)] if self.comma else []
            return [*self.tail.english, *comma, *group]
        asking = [(word, WH) for word in self.question[0].split()]
        words = [*asking, *group, *self.tail.english]
        if self.question[0] == "who":
            words.append(("with", WH))
        return [*words, (",", POLITE), ("please", POLITE)] if self.polite else words

    def french(self, *readings: Reading) -> Variants:
        """All right ways to say it in French, for one reading of each phrase."""
        who, n = readings[0], 1 + len(self.predicate.phrases)
        asking: Words = [(word, WH) for word in self.question[1].split()]
        please = please_of(who) if self.polite else []
        ways = [
            (self.french_groups(who, action), rest)
            for action, rest in self.predicate.french(who, readings[1:n], bool(self.negation))
        ]
        variants = []
        for ending in self.tail.french or (Text(()),):
            when = keyed_tail(fill_french(ending, readings[n:], who))
            for group, rest in in_turn(ways, self.asked):
                if self.time_first:
                    variants.append([*when, (",", 0), *group, *rest])
                else:
                    variants.append([*asking, *group, *rest, *when, *please])
        return variants

    def french_groups(self, who: Reading, action: Action) -> list[Words]:
        """The French subject and verb."""
        return french_groups(
            who,
            action,
            self.mode,
            asked=self.asked,
            negation=self.negation,
            adverb=self.adverb[1],
        )

    def draft(self) -> Draft:
        """The clause as a sentence."""
        subject, predicate, tail = self.subject, self.predicate, self.tail
        name = predicate.verb.name
        combinations = [*predicate.combinations, *combinations_of(name, tail.phrases)]
        if subject.noun and not combinations:
            combinations = [(subject.noun.name, name)]
        plain_question = self.asked and not self.question[0]
        return Draft(
            self.english(),
            [subject, *predicate.phrases, *tail.phrases],
            self.french,
            ["speech", *(["yes-no question"] if plain_question else [])],
            combinations,
            2 if self.asked else predicate.trained,
            "?" if self.asked or subject is WHO else ".",
        )


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
    while names_oneself(subject, predicate):
        predicate = predicate_of(dice, subject, bool(negation) or asked)
    mode = mode_of(dice, predicate, asked, negation)
    if wanted:
        negation = "not" if negation else ""
        while predicate.kinds[0] not in WANTED.get(wanted, "a") or names_oneself(
            subject, predicate
        ):
            predicate = predicate_of(dice, subject, bool(negation))
        mode = MODES[wanted]
    short = dice.chance(0.7)
    adverb = adverb_in(dice, mode, negation, asked)
    kind = tail_kind(dice, predicate, mode, tails)
    if adverb[0] or negation not in ("", "not"):
        kind = ""
    tail = fitting_tail(dice, kind, subject, predicate, negation)
    question = question_words(dice, predicate, mode, bool(kind)) if asked else ("", "")
    if question[0] and adverb[0] == "ever":
        adverb = ("", "")
    polite = asked and not question[0] and mode.name in ("can", "could you") and dice.chance(0.4)
    again = ("again", TAIL) in tail.english
    time_first = bool(first) and kind in TIMES and not again and dice.chance(first)
    comma = time_first and dice.chance(0.5)
    return Clause(
        subject,
        predicate,
        mode,
        asked,
        negation,
        short,
        adverb,
        tail,
        question,
        polite,
        time_first,
        comma,
    ).draft()


def names_oneself(subject: Phrase, predicate: Predicate) -> bool:
    """Whether it would say "I am taller than me"."""
    return subject.english[0][0] == "i" and "me" in [word for word, _ in predicate.english]


def adverb_in(dice: Dice, mode: Mode, negation: str, asked: bool) -> tuple[str, str]:
    """Sometimes an adverb of a clause; "ever" in questions, "just" where the mode has it."""
    adverb, adverbe = adverb_of(dice, mode, negation, 0.12)
    if asked and mode.name == "present":
        adverb = adverbe = ""
    if asked and mode.name == "perfect" and dice.chance(0.3):
        adverb, adverbe = "ever", "déjà"
    return ("just" if mode.name == "just did" else adverb), adverbe


def fitting_tail(
    dice: Dice, kind: str, subject: Phrase, predicate: Predicate, negation: str
) -> Ending:
    """A tail of a kind that the clause can have: not "I play with me"."""
    unfit = OF_THE_SAME.get(subject.english[0][0], set()) | ({"again"} if negation else set())
    while True:
        tail = end(dice, kind, owner_of(subject), 2 + len(predicate.phrases))
        if not {word for word, _ in tail.english} & unfit:
            return tail


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
