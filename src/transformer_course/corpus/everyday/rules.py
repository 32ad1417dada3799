"""The sentences of everyday speech: statements and questions in all modes, requests, fixed patterns, two clauses."""

from collections.abc import Sequence
from typing import NamedTuple

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
    done,
    from_table,
    in_a_manner,
    to_somebody,
    verb_with_object,
)
from transformer_course.corpus.everyday.slots import (
    Text,
    combinations_of,
    describing,
    draw,
    fill_english,
    fill_french,
    read_places,
    read_text,
)
from transformer_course.corpus.everyday.words import ADJECTIVES, read_table
from transformer_course.corpus.grammar.clauses import (
    NEGATION,
    english_be,
    english_be_words,
    french_be,
    inverted_pronoun,
)
from transformer_course.corpus.grammar.commands import NOUS, TU, VOUS, french_command
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.names import FIRST_NAMES, KIN, called_so
from transformer_course.corpus.grammar.parts import PEOPLE, UNGRADED, agent
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.pronouns import SAME_PERSON
from transformer_course.corpus.grammar.questions import EST_CE_QUE, is_pronoun
from transformer_course.corpus.grammar.reflexives import OWN, POSSESSIVE
from transformer_course.corpus.grammar.spelling import Word

WH, LINK, TAIL, POLITE, SHIFT = 97, 95, 88, 98, 300
Words = list[Word]


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
    "could you 1, could not 1, must 1, should 1, have to 2, don't have to 1, had to 1, want to 3, wanted to 1, "
    "would like to 2, need to 1, been doing 1",
    "e": "past 6, perfect 3, present 1, future 1",
    "be": "present 8, was 3, future 2, would 1, has been 1",
    "s": "present 8, was 2, future 1, has been 1",
    "l": "present 8",
}
URNS = {kind: [MODES[name] for name in repeated(shares)] for kind, shares in SHARES.items()}
NEGATED_ONLY, ASKED_ONLY = ("could not", "don't have to"), ("could you",)
WITH = {
    "never": ("present", "perfect", "would", "future"),
    "not yet": ("perfect",),
    "no longer": ("present", "can", "want to", "progressive"),
}
LAST = {"not yet": "yet", "no longer": "anymore"}
ADVERBS = {
    "present": "always toujours, often souvent, sometimes parfois, usually généralement, really vraiment, also aussi",
    "perfect": "already déjà, already déjà",
    "progressive": "still encore",
    "past": "also aussi",
    "can": "also aussi, always toujours",
}
WH_WORDS = (
    ("where", "où"),
    ("when", "quand"),
    ("why", "pourquoi"),
    ("why", "pourquoi"),
    ("how", "comment"),
    ("what time", "à quelle heure"),
    ("who", "avec qui"),
)


class Tail(NamedTuple):
    """A time, a place or a companion, in both languages."""

    places: tuple[str, ...]
    english: tuple[Text, ...]
    french: tuple[Text, ...]


def read_texts(texts: str, places: Sequence[str]) -> list[Text]:
    """Alternatives that are parted by a stroke."""
    return [read_text(text.strip(), places) for text in texts.split(" | ") if text]


def read_tails() -> dict[str, list[Tail]]:
    """The table of tails."""
    tails: dict[str, list[Tail]] = {}
    for kind, english, french in read_table("tails"):
        places = read_places(english)
        sides = [tuple(read_texts(text.replace(" || ", " | "), places)) for text in (english, french)]
        tails.setdefault(kind, []).append(Tail(tuple(places), sides[0], sides[1]))
    return tails


TAILS = read_tails()


class Ending(NamedTuple):
    """A tail with its places filled."""

    english: Words
    phrases: list[Phrase]
    french: tuple[Text, ...]


def end(dice: Dice, kind: str, owner: str, first_role: int) -> Ending:
    """A tail of a kind; none if the kind is empty."""
    if not kind:
        return Ending([], [], ())
    tail = dice.pick(TAILS[kind])
    phrases = [filled(dice, place, role, owner) for role, place in enumerate(tail.places, first_role)]
    return Ending(keyed_tail(fill_english(dice.pick(tail.english), phrases)), phrases, tail.french)


def filled(dice: Dice, place: str, role: int, owner: str = "my") -> Phrase:
    """A phrase for any place: a noun, a time, or something that is done."""
    if place.rstrip("2") in ("do", "doing"):
        return done(dice, role, doing=place.startswith("doing"))
    if place[0] == "@":
        return at_a_time(dice, place[1:], role)
    return draw(dice, place, role, owner)


def keyed_tail(words: Sequence[Word]) -> Words:
    """The words of a tail with its own key; those of phrases keep theirs."""
    return [(word, TAIL if key >= 200 else key) for word, key in words]


def speaker(dice: Dice, asked: bool) -> Phrase:
    """Who a sentence is about; a question mostly asks you."""
    chance = dice.random()
    if chance < 0.68:
        words = ("you", "you", "you", "he", "she", "they", "we", "i") if asked else (
            "i", "i", "i", "you", "he", "she", "we", "we", "they"
        )
        return pronoun(dice.pick(words), 1)
    if chance < 0.82:
        return called_so((dice.pick(FIRST_NAMES),))
    if chance < 0.93:
        return noun_phrase(dice, dice.pick(KIN), 1, plural=False, determiner=dice.pick(("my", "my", "my", "your", "his", "her", "our")), adjectives=0.05)
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
        mine = SAME_PERSON.get(predicate.english[0][0] if predicate.pronoun else "", ())
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
        if mode.name == "have to" and negation:
            continue
        if mode.name == "must" and asked or mode.when == "since" and (asked or negation):
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
    asked = dice.chance(0.3)
    return clause(dice, asked=asked, tails=0.45 if not asked else 0.3)


def clause(dice: Dice, *, asked: bool, tails: float, wanted: str = "") -> Draft:
    """A statement or a question.

    Args:
        asked: whether it is a question.
        tails: how often it has a time, a place or a companion.
        wanted: a mode that it must have, if any.
    """
    negation = ""
    if dice.chance(0.08 if asked else 0.3):
        negation = "not" if asked else dice.pick(("not",) * 7 + ("never", "not yet", "no longer"))
    subject = speaker(dice, asked)
    if asked and negation and subject.english[0][0] == "i":
        negation = ""
    predicate = predicate_of(dice, subject, bool(negation) or asked)
    mode = mode_of(dice, predicate, asked, negation)
    if wanted:
        negation = "not" if negation else ""
        while predicate.kinds[0] != "a":
            predicate = predicate_of(dice, subject, bool(negation))
        mode = MODES[wanted]
    short = dice.chance(0.7)
    adverb, adverbe = adverb_of(dice, mode, negation, 0.12)
    if asked and mode.name == "present":
        adverb = adverbe = ""
    kind = ""
    if mode.when == "since":
        kind = "since"
    elif predicate.kinds[0] in "ae" and dice.chance(tails):
        kind = mode.when
        if dice.chance(0.3) and (predicate.kinds[0] == "a" and ("p" in predicate.kinds or len(predicate.kinds) == 1)):
            kind = "place" if dice.chance(0.75) or "do" in predicate.places else "purpose"
    if adverb or negation not in ("", "not"):
        kind = ""
    role = 2 + len(predicate.phrases)
    tail = end(dice, kind, owner_of(subject), role)
    question, mot = ("", "")
    if asked and predicate.kinds[0] in "aes" and dice.chance(0.3):
        question, mot = dice.pick(WH_WORDS)
        if question == "who" and "p" not in predicate.kinds:
            question, mot = "how", "comment"
        if question in ("where", "when", "what time", "who") and (kind or predicate.kinds[0] == "s"):
            question, mot = "why", "pourquoi"
        if question == "how" and predicate.kinds[0] == "s":
            question, mot = "why", "pourquoi"
    polite = asked and not question and mode.name in ("can", "could you") and dice.chance(0.4)
    group = english_group(
        subject, predicate.verb, mode, asked=asked, negation=negation, short=short, adverb=adverb
    )
    last: Words = [(LAST[negation], NEGATION)] if negation in LAST else []
    asking = [(word, WH) for word in question.split()]
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
        return [
            [*start, *groups[k], *rest, *keyed_tail(fill_french(ending, readings[n:], who)), *please]
            for ending in tail.french or (Text(()),)
            for k in range(len(ways[0][0]))
            for groups, rest in ways
        ]

    labels = ["speech", *(["yes-no question"] if asked and not question else [])]
    combinations = [*predicate.combinations, *combinations_of(predicate.verb.name, tail.phrases)]
    if subject.noun and not combinations:
        combinations = [(subject.noun.name, predicate.verb.name)]
    trained = predicate.trained if not asked else 2
    return Draft(english, phrases, french, labels, combinations, trained, "?" if asked else ".")


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
    predicate = verb_with_object(dice, (verb,), "l", False)
    predicate.kinds = "a"
    mode = mode_of(dice, predicate, True, "")
    tail = end(dice, mode.when if dice.chance(0.3) else "", owner_of(subject), 2)
    group = english_group(subject, verb, mode, asked=True, negation="", short=True, adverb="")

    def french(who: Reading, *readings: Reading) -> Variants:
        variants = []
        for words in french_groups(who, Action(verb), mode, asked=True, negation="", adverb=""):
            for ending in tail.french or (Text(()),):
                quand = keyed_tail(fill_french(ending, readings, who))
                variants.append([("que", WH), *words, *quand])
        turned = [v for v in variants if v[1][0] == "est-ce" or is_pronoun(who)]
        return turned

    english = [("what", WH), *group, *tail.english]
    combinations = [("what", verb.name)]
    return Draft(english, [subject, *tail.phrases], french, ["speech", "wh-question"], combinations, 2, "?")


def asks(dice: Dice) -> Draft:
    """Open the window, please. Don't forget your keys! Let's go home."""
    chance = dice.random()
    start, negated, people = "", False, (TU, VOUS)
    if chance < 0.2:
        start, negated = ("don't" if dice.chance(0.85) else "do not"), True
    elif chance < 0.36:
        start, people = "let's", (NOUS,)
    polite = chance >= 0.36 and dice.chance(0.45)
    owner = "our" if start == "let's" else "your"
    if dice.chance(0.65):
        rows = [row for row in ROWS if "i" in row.kinds]
        predicate = from_table(dice, rows, owner, negated)
    else:
        predicate = verb_with_object(dice, ACTIONS, "ai", negated)
        while predicate.pronoun and predicate.english[0][0] in ("you", "me", "us")[: 1 if not start else 3]:
            predicate = verb_with_object(dice, ACTIONS, "ai", negated)
    tail = end(dice, "future" if not start and dice.chance(0.1) else "", owner, 2 + len(predicate.phrases))
    verb = predicate.verb
    english: Words = [(word, 81) for word in start.split()]
    english += [(verb.base, 80), *((word, 80) for word in verb.particle.split())]
    english += [*predicate.english, *tail.english]
    first = polite and dice.chance(0.5)
    if polite:
        english = [("please", POLITE), *english] if first else [*english, (",", POLITE), ("please", POLITE)]
    n = len(predicate.phrases)

    def french(*readings: Reading) -> Variants:
        registers = {r.register for r in readings}
        variants = []
        for person in people:
            if ("vous" in registers and person == TU) or ("tu" in registers and person == VOUS):
                continue
            for action, rest in predicate.french(None, readings[:n], negated):
                own: Words = [(OWN[person], 80)] if action.reflexive else []
                command = french_command(action.verb, person, [*own, *action.clitics], negated)
                said = "s'il te plaît" if person == TU else "s'il vous plaît"
                please: Words = [(",", POLITE), *((word, POLITE) for word in said.split())]
                for ending in tail.french or (Text(()),):
                    quand = keyed_tail(fill_french(ending, readings[n:]))
                    variants.append([*command, *rest, *quand, *(please if polite else [])])
        return variants

    labels = ["speech", "imperative"]
    mark = "." if polite else dice.pick(".!")
    phrases = [*predicate.phrases, *tail.phrases]
    return Draft(english, phrases, french, labels, predicate.combinations, 2, mark)


LINKS = (
    ("and", "et"),
    ("but", "mais"),
    ("but", "mais"),
    ("because", "parce que"),
    ("because", "parce que"),
    ("so", "donc"),
)


def joined(dice: Dice) -> Draft:
    """I want to go home because I am tired: two clauses."""
    first, second = clause(dice, asked=False, tails=0.15), clause(dice, asked=False, tails=0.1)
    link, lien = dice.pick(LINKS)
    if dice.chance(0.3):
        second = pattern_of(dice, CONDITIONS + REASONS) if dice.chance(0.5) else described(dice)
        if second.mark == "?":
            return joined(dice)
    elif link == "so" and dice.chance(0.4):
        first, second = pattern_of(dice, CONDITIONS + REASONS), asks(dice)
        if ("please", POLITE) in second.english:
            return joined(dice)
    n = len(first.phrases)
    comma: Words = [(",", LINK)] if link in ("but", "so") and dice.chance(0.5) else []
    english = [*first.english, *comma, (link, LINK), *shifted(second.english)]

    def french(*readings: Reading) -> Variants:
        linked: Words = [*comma, *((word, LINK) for word in lien.split())]
        ends = second.french(*readings[n:])
        return [
            [*words, *linked, *shifted(rest)] for words in first.french(*readings[:n])[:3] for rest in ends[:3]
        ]

    combinations = [*first.combinations, *second.combinations]
    return Draft(english, [*first.phrases, *second.phrases], french, ["speech"], combinations, 1)


def shifted(words: Sequence[Word]) -> Words:
    """The same words with other keys, for a second clause; an ambiguous verb stays so."""
    return [(word, key + SHIFT if key > 79 or 0 < key < 79 else key) for word, key in words]


class Pattern(NamedTuple):
    """One row of patterns.tsv."""

    marks: str
    places: tuple[str, ...]
    english: tuple[Text, ...]
    french: tuple[Text, ...]
    trained: int


def read_pattern(marks: str, english: str, french: str) -> Pattern:
    """A row of the table."""
    places = read_places(english.split(" | ")[0])
    trained, _, others = french.partition(" || ")
    first, second = read_texts(trained, places), read_texts(others, places)
    return Pattern(marks, tuple(places), tuple(read_texts(english, places)), (*first, *second), len(first))


def at_a_time(dice: Dice, kind: str, role: int) -> Phrase:
    """A time as a phrase of its own."""
    ending = end(dice, kind, "my", role)
    key = 10 * role + 4
    readings = []
    for text in ending.french:
        words = [(word, key) for word, _ in fill_french(text, [p.readings[0] for p in ending.phrases])]
        readings.append(Reading(words, 2, "m", False, words))
    return Phrase([(word, key) for word, _ in ending.english], tuple(readings), True)


PATTERNS = tuple(read_pattern(*row) for row in read_table("patterns"))


def pattern(dice: Dice) -> Draft:
    """This is my brother. How much is this book? It is time to go to bed."""
    row = dice.pick(PATTERNS)
    phrases = [filled(dice, place, role) for role, place in enumerate(row.places, 2)]
    side = dice.pick(row.english)

    def french(*readings: Reading) -> Variants:
        registers = {r.register for r in readings if r.register}
        fitting = [t for t in row.french if not t.register or not registers or registers == {t.register}]
        return [fill_french(text, readings) for text in fitting]

    name = " ".join(part[0] for part in side.parts if not isinstance(part, int))[:12]
    combinations = combinations_of(name, phrases)
    return Draft(
        fill_english(side, phrases), phrases, french, ["speech"], combinations, row.trained, dice.pick(row.marks)
    )


WONDERS = (
    ("I don't know", "je ne sais pas"),
    ("I don't know", "je ne sais pas"),
    ("I know", "je sais"),
    ("do you know", "sais-tu/savez-vous"),
    ("I don't understand", "je ne comprends pas"),
    ("I want to know", "je veux savoir"),
    ("he asked me", "il m'a demandé"),
)
THOUGHTS = (
    ("I think", "je pense que", "je crois que"),
    ("I think", "je pense que", "je crois que"),
    ("I hope", "j'espère que", ""),
    ("I know", "je sais que", ""),
    ("I'm sure", "je suis sûr que", "je suis sûre que"),
    ("he says", "il dit que", ""),
    ("she said", "elle a dit que", ""),
)


def thinks(dice: Dice) -> Draft:
    """I think that she is at home: je pense qu'elle est à la maison."""
    said = clause(dice, asked=False, tails=0.15)
    asked = dice.chance(0.4)
    if asked:
        english, french_start = dice.pick(WONDERS)
        word, mot = dice.pick((("why", "pourquoi"), ("why", "pourquoi"), ("if", "si"), ("how", "comment")))
        that: Words = [(word, LINK)]
        starts = [f"{start} {mot}" for start in french_start.split("/")]
    else:
        english, french_start, other = dice.pick(THOUGHTS)
        that = [("that", LINK)] if dice.chance(0.4) else []
        starts = [start for start in (french_start, other) if start]

    def french(*readings: Reading) -> Variants:
        return [
            [*((word, WH) for word in start.split()), *words]
            for start in starts
            if agrees(start, readings)
            for words in said.french(*readings)
        ]

    words = [*((word, WH) for word in english.split()), *that, *said.english]
    mark = "?" if english.startswith("do") else "."
    return Draft(words, said.phrases, french, ["speech"], said.combinations, 1, mark)


def agrees(start: str, readings: Sequence[Reading]) -> bool:
    """Whether nobody is called tu and vous at once."""
    other = "vous" if "-tu" in start else "tu" if "-vous" in start else ""
    return not other or all(reading.register != other for reading in readings)


def while_or_if(dice: Dice) -> Draft:
    """I was reading when you called. If you are tired, you should go to bed."""
    if dice.chance(0.4):
        first, second = clause(dice, asked=False, tails=0, wanted="was doing"), clause(
            dice, asked=False, tails=0, wanted="past"
        )
        return linked(dice, first, second, "when", "quand")
    state = pattern_of(dice, CONDITIONS) if dice.chance(0.3) else clause(dice, asked=False, tails=0.1, wanted="present")
    main = clause(dice, asked=False, tails=0.1, wanted=dice.pick(("future", "can", "should", "going to")))
    link, lien = dice.pick((("if", "si"), ("if", "si"), ("when", "quand")))
    if link == "when":
        main = clause(dice, asked=False, tails=0, wanted="present")
    return linked(dice, main, state, link, lien)


def linked(dice: Dice, main: Draft, other: Draft, link: str, lien: str) -> Draft:
    """A clause and another that says when or on what condition, which may come first."""
    n, before = len(main.phrases), dice.chance(0.5)
    start: Words = [(link, LINK)]
    comma: Words = [(",", 0)]

    def french(*readings: Reading) -> Variants:
        first, second = main.french(*readings[:n])[:3], other.french(*readings[n:])[:3]
        begin: Words = [(lien, LINK)]
        if before:
            return [[*begin, *shifted(s), *comma, *f] for f in first for s in second]
        return [[*f, *begin, *shifted(s)] for f in first for s in second]

    if before:
        english = [*start, *shifted(other.english), *comma, *main.english]
    else:
        english = [*main.english, *start, *shifted(other.english)]
    combinations = [*main.combinations, *other.combinations]
    return Draft(english, [*main.phrases, *other.phrases], french, ["speech"], combinations, 1)


CONDITIONS = (
    ("it rains", "il pleut"),
    ("it is cold", "il fait froid"),
    ("it is hot", "il fait chaud"),
    ("it is sunny", "il fait beau"),
    ("it snows", "il neige"),
    ("it is too late", "il est trop tard"),
    ("it is possible", "c'est possible"),
)


def pattern_of(dice: Dice, pairs: Sequence[tuple[str, str]]) -> Draft:
    """A clause without any places."""
    english, french_text = dice.pick(pairs)
    words = [(word, WH) for word in english.split()]
    variants = [[(word, WH) for word in text.split()] for text in french_text.split("/")[:1]]
    return Draft(words, [], lambda: variants, ["speech"])


REASONS = (
    ("it is raining", "il pleut"),
    ("it is late", "il est tard"),
    ("it is dangerous", "c'est dangereux"),
    ("it is too expensive", "c'est trop cher"),
    ("it is difficult", "c'est difficile"),
    ("it is my birthday", "c'est mon anniversaire"),
    ("I am tired", "je suis fatigué"),
    ("I am hungry", "j'ai faim"),
    ("I am ill", "je suis malade"),
    ("it was raining", "il pleuvait"),
    ("it was cold", "il faisait froid"),
)
PLACES_OF_THINGS = (
    ("in the kitchen", "dans la cuisine"),
    ("in the garden", "dans le jardin"),
    ("in the street", "dans la rue"),
    ("on the table", "sur la table"),
    ("in my bag", "dans mon sac"),
    ("under the bed", "sous le lit"),
    ("in the fridge", "dans le frigo"),
    ("here", "ici"),
    ("near here", "près d'ici"),
    ("in the classroom", "dans la classe"),
    ("at the party", "à la fête"),
    ("outside", "dehors"),
    ("in this town", "dans cette ville"),
    ("on the train", "dans le train"),
    ("behind the house", "derrière la maison"),
    ("next to the station", "à côté de la gare"),
)
AROUND = tuple(
    pair for pair in PLACES_OF_THINGS if pair[0].split()[0] not in ("on", "under") and "in " not in pair[0][:3]
)
THERE = {"present": ("is", "are", "a"), "past": ("was", "were", "avait"), "future": ("will be", "will be", "aura")}


PLAIN_SUBJECTS = ("vehicle", "carried", "home", "eaten", "drunk", "animal", "relative", "place", "dwelling", "worn", "thing", "furniture")
DEGREES = (
    ("very", "très"),
    ("very", "très"),
    ("too", "trop"),
    ("so", "si"),
    ("really", "vraiment"),
    ("a little", "un peu"),
)


def described(dice: Dice) -> Draft:
    """My car is old and slow. Is the soup too hot? Your bag is heavier than mine. Why is she so sad?"""
    if dice.chance(0.35):
        subject = speaker(dice, False)
        noun = subject.noun or dice.pick(PEOPLE)
    else:
        determiner = dice.pick(("the", "the", "my", "your", "this", "her"))
        subject = draw(dice, f"{determiner}:{dice.pick(PLAIN_SUBJECTS)}", 1)
        assert subject.noun is not None
        noun = subject.noun
    known = describing(noun) or describing(dice.pick(PEOPLE))
    first, second = ADJECTIVES[dice.pick(known)], ADJECTIVES[dice.pick(known)]
    tense = dice.pick(("present", "present", "present", "past", "future"))
    asked, negated = dice.chance(0.2), dice.chance(0.2)
    why = asked and dice.chance(0.3)
    negated = negated and not asked
    kind = dice.pick(("plain", "degree", "degree", "two", "than"))
    english: Words = [(first.name, 84)]
    degree: Words = []
    more: Words = []
    compared: Phrase | None = None
    if kind == "degree":
        much, tres = dice.pick(DEGREES)
        english, degree = [*((w, 85) for w in much.split()), *english], [(w, 85) for w in tres.split()]
    elif kind == "two" and second is not first:
        link, lien = dice.pick((("and", "et"), ("and", "et"), ("but", "mais")))
        english += [(link, LINK), (second.name, 86)]
        more = [(lien, LINK)]
    elif kind == "than" and first.name not in UNGRADED and subject.noun:
        compared = draw(dice, f"{dice.pick(('my', 'your', 'this'))}:{dice.pick(('relative', 'vehicle', 'dwelling'))}1", 3)
        word = [(first.comparative, 84)] if first.comparative else [("more", 85), (first.name, 84)]
        english, degree = [*word, ("than", 87), *compared.english], [("plus", 85)]
    if kind == "than" and compared is None or first.name in ("good", "bad") and degree:
        return described(dice)
    place, lieu = (("today", "aujourd'hui") if tense == "present" and dice.chance(0.1) else ("", ""))

    def french(who: Reading, *readings: Reading) -> Variants:
        form = first.french[who.gender][who.plural]
        rest: Words = [*degree, (form, 84)]
        if more:
            rest += [*more, (second.french[who.gender][who.plural], 86)]
        if readings:
            rest += [("que", 87), *readings[0].words]
        rest += [(word, TAIL) for word in lieu.split()]
        if not asked:
            return [[*who.words, *french_be(who, tense, "not" if negated else ""), *rest]]
        begin: Words = [("pourquoi", WH)] if why else []
        ways = [[*begin, *EST_CE_QUE, *who.words, *french_be(who, tense), *rest]]
        if who.person:
            turned = french_be(who, tense, inverted=inverted_pronoun(who))
            ways.append([*begin, *([] if is_pronoun(who) else who.words), *turned, *rest])
        return ways

    short = dice.chance(0.7)
    if asked:
        verb: Words = [(english_be(subject, tense), 80), *subject.english]
        verb += [("be", 80)] if tense == "future" else []
        verb = [*([("why", WH)] if why else []), *verb]
    else:
        verb = [*subject.english, *english_be_words(subject, tense, "not" if negated else "", short)]
    phrases = [subject] if compared is None else [subject, compared]
    combinations = [(noun.name, first.name)] if subject.noun else []
    words = [*verb, *english, *((w, TAIL) for w in place.split())]
    return Draft(words, phrases, french, ["speech"], combinations, 2, "?" if asked else ".")


def there(dice: Dice) -> Draft:
    """There isn't any bread in the kitchen. Were there a lot of people? Is there a bank near here?"""
    kind = dice.pick(("place", "animal", "thing", "eaten", "drunk", "relative", "person", "vehicle", "snack"))
    chance, asked = dice.random(), dice.chance(0.25)
    negated = not asked and dice.chance(0.25)
    if kind in ("eaten", "drunk") or (negated and chance < 0.5):
        determiner = "some"
    else:
        determiner = "a" if chance < 0.4 else "two" if chance < 0.55 else "some"
    thing = draw(dice, f"{determiner}:{kind}", 2, negated=negated or asked)
    tense = dice.pick(("present", "present", "present", "past", "future"))
    one, many, has = THERE[tense]
    plural = not thing.third
    verb = many if plural else one
    around = PLACES_OF_THINGS if kind not in ("place", "vehicle") else AROUND
    where, place = dice.pick(around) if dice.chance(0.6) else ("", "")
    lieu = [(word, TAIL) for word in place.split()]

    def french(what: Reading) -> Variants:
        if asked:
            turned = {"a": "a-t-il", "avait": "avait-il", "aura": "aura-t-il"}[has]
            return [
                [("y", 80), (turned, 80), *what.words, *lieu],
                [("est-ce", 80), ("que", 80), ("il", 80), ("y", 80), (has, 80), *what.words, *lieu],
            ]
        said = ["il", "ne", "y", has, "pas"] if negated else ["il", "y", has]
        return [[*((w, 80) for w in said), *(what.negated if negated else what.words), *lieu]]

    first, *rest = verb.split()
    negation = {"is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "will": "won't"}
    if asked:
        english: Words = [(first, 80), ("there", 80), *((w, 80) for w in rest)]
    else:
        english = [("there", 80), (negation[first] if negated else first, 80), *((w, 80) for w in rest)]
    english += [*thing.english, *((word, TAIL) for word in where.split())]
    assert thing.noun is not None
    combinations = [("there", thing.noun.name)]
    return Draft(english, [thing], french, ["speech"], combinations, 2, "?" if asked else ".")


RULES = {says: 52, asks: 12, pattern: 24, joined: 5, what_question: 3, thinks: 4, while_or_if: 4, there: 5, described: 9}
