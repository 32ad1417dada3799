"""What people do or are: the rows of predicates.tsv, and the grammar's verbs with their objects."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transformer_course.corpus.everyday.modes import Action
from transformer_course.corpus.everyday.slots import (
    Text,
    combinations_of,
    draw,
    fill_english,
    fill_french,
    fill_places,
    read_places,
    read_text,
)
from transformer_course.corpus.everyday.words import ENGLISH, FRENCH, REFLEXIVE, read_table
from transformer_course.corpus.grammar.clauses import with_pronoun
from transformer_course.corpus.grammar.conditionals import RUNNING
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import VERBS, Verb
from transformer_course.corpus.grammar.morphology import english_ing
from transformer_course.corpus.grammar.parts import DATIVE, DIRECT, object_of
from transformer_course.corpus.grammar.phrase_book import FIRST_PART
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.pronouns import CLITICS, SAME_PERSON, clitic
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

Words = list[Word]
STATES = ("stative", "generic")
TIMES = frozenset(("today", "tonight", "tomorrow", "early", "late"))
UNWANTED = (
    "forget",
    "lose",
    "miss",
    "burn",
    "receive",
    "hurt",
    "discover",
    "bite",
    "win",
    "swallow",
)
LIKES = tuple(v for v in VERBS if "generic" in v.frame and v.object)
ACTIONS = tuple(
    verb
    for verb in DIRECT
    if verb.subject & {"person", "animate"}
    and not verb.frame.intersection(STATES)
    and verb.name not in (*UNWANTED, "marry")
)
EVENTS = tuple(
    verb for verb in DIRECT if verb.name in UNWANTED and verb.subject & {"person", "animate"}
)


@dataclass(frozen=True, slots=True)
class Side:
    """A verb and what follows it in one language: a row's English, or one way to say it in French."""

    verb: Verb
    reflexive: bool
    text: Text


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    kinds: str
    places: tuple[str, ...]
    english: tuple[Side, ...]
    french: tuple[Side, ...]
    trained: int


def read_side(text: str, places: Sequence[str], french: bool) -> Side:
    """A verb in brackets and the rest."""
    name, _, rest = text.strip()[1:].partition("]")
    rest = rest.strip().removeprefix("/ ").strip()
    reflexive = french and name.startswith("se ")
    verb = ENGLISH[name] if not french else REFLEXIVE[name[3:]] if reflexive else FRENCH[name]
    return Side(verb, reflexive, read_text(rest, places))


def read_row(kinds: str, english: str, french: str) -> Row:
    """One row of the table."""
    places = read_places(english.split(" | ")[0])
    trained, _, others = french.partition(" || ")
    sides = [
        [read_side(text, places, in_french) for text in texts.split(" | ") if text]
        for texts, in_french in ((english, False), (trained, True), (others, True))
    ]
    return Row(kinds, tuple(places), tuple(sides[0]), (*sides[1], *sides[2]), len(sides[1]))


ROWS = tuple(read_row(*row) for row in read_table("predicates"))


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate with its places filled.

    Args:
        kinds: as in the table.
        verb: the English verb.
        english: the words after it.
        phrases: those with French readings.
        combinations: which of its words may meet.
        sides: the French ways to say it; their texts have the phrases' numbers.
        trained: so many of them are trained on.
        places: what the phrases were drawn for, if it is a row of the table.
        clitic: "direct" or "indirect" if the first phrase is a pronoun that stands before the French verb.
    """

    kinds: str
    verb: Verb
    english: Words
    phrases: list[Phrase]
    combinations: list[Combination]
    sides: tuple[Side, ...]
    trained: int = 1
    places: tuple[str, ...] = ()
    clitic: str = ""

    @property
    def timed(self) -> bool:
        """Whether it says when, so that no other time may follow."""
        words = {word for word, _ in self.english}
        return bool(words & TIMES or {"hour", "day"}.intersection(self.places))

    def french(
        self, who: Reading | None, readings: Sequence[Reading], negated: bool
    ) -> list[tuple[Action, Words]]:
        """Each right way to say it: the verb, and the words after it."""
        before = tuple(readings[0].words) if self.clitic else ()
        agreement = readings[0] if self.clitic == "direct" else None
        ways = []
        for side in self.sides:
            negative = negated and side.verb.infinitive != "être"
            words = fill_french(side.text, readings, who, negative)
            manner = [word[1:].replace("_", " ") for word, _ in words if word[0] == "~"]
            hands = side.reflexive and bool(words) and words[0][0] in ("le", "la", "les")
            action = Action(side.verb, side.reflexive, before, agreement, "".join(manner), hands)
            ways.append((action, [word for word in words if word[0][0] != "~"]))
        return ways


def from_table(dice: Dice, rows: Sequence[Row], owner: str, negated: bool) -> Predicate:
    """A predicate by a row of the table."""
    row = dice.pick(rows)
    side = dice.pick(row.english)

    def fill(place: str, role: int) -> Phrase:
        if place == "dat":
            return clitic(dice.pick(others(owner, PRONOUNS)), indirect=True)
        if place in ("do", "doing"):
            return done(dice, role, doing=place == "doing")
        return draw(dice, place, role, owner, negated)

    phrases = fill_places(row.places, fill)
    sides, before = row.french, "indirect" if "dat" in row.places else ""
    if takes_pronoun(row, side) and dice.chance(0.25):
        personal = row.places[0].split(":")[1] in PERSONAL
        words = others(owner, PRONOUNS) if personal else ("it", "it", "them")
        phrases[0], before = clitic(dice.pick(words)), "direct"
        sides = tuple(replace(s, text=Text(s.text.parts[1:])) for s in sides)
    name = side.verb.name if side.verb.name != "be" else "is"
    return Predicate(
        row.kinds,
        side.verb,
        fill_english(side.text, phrases),
        phrases,
        combinations_of(name, phrases),
        sides,
        row.trained,
        row.places,
        before,
    )


PERSONAL = frozenset(("relative", "friend", "parent", "helper", "met", "pet"))
PRONOUNS = ("him", "her", "them", "you", "me", "us")


def others(owner: str, words: Sequence[str]) -> tuple[str, ...]:
    """The pronouns that don't stand for the subject, by what it owns: not "I help me".

    >>> others("my", ("me", "you", "them"))
    ('you', 'them')
    """
    same = {"my": ("me", "us"), "our": ("me", "us"), "your": ("you",)}.get(owner, ())
    return tuple(word for word in words if word not in same)


def takes_pronoun(row: Row, side: Side) -> bool:
    """Whether a row's first place is the verb's direct object in both languages: my sister, or her."""
    if not row.places or not row.places[0].startswith(("own:", "the:")):
        return False
    if "apart" in side.verb.frame or side.verb.particle:
        return False
    return all(s.text.parts[:1] == (0,) for s in (side, *row.french))


def to_somebody(dice: Dice, subject: Phrase, negated: bool) -> Predicate:
    """He told me a story: il m'a raconté une histoire; she sends it to him."""
    verb = dice.pick(DATIVE)
    thing = verb_with_object(dice, (verb,), "l", negated)
    while True:
        whom = clitic(dice.pick(tuple(word for word in CLITICS if word != "it")), indirect=True)
        if subject.english[0][0] not in SAME_PERSON.get(whom.english[0][0], ()):
            break
    if verb.particle or verb.name in ("return", "explain"):
        english = [*thing.english, ("to", whom.english[0][1]), *whom.english]
    else:
        english = [*whom.english, *thing.english]
    phrases, sides = [whom, *thing.phrases], (Side(verb, False, Text((1,))),)
    return Predicate("a", verb, english, phrases, thing.combinations, sides, clitic="indirect")


MANNERS = (
    ("fast", "vite"),
    ("too fast", "trop vite"),
    ("slowly", "lentement"),
    ("well", "~bien"),
    ("very well", "~très_bien"),
    ("badly", "~mal"),
    ("a lot", "~beaucoup"),
    ("too much", "~trop"),
    ("better than me", "mieux que moi"),
    ("early", "tôt"),
    ("late", "tard"),
)
MANNERLY = tuple(
    verb
    for verb in VERBS
    if verb.name
    in (
        "run",
        "walk",
        "swim",
        "dance",
        "sing",
        "work",
        "sleep",
        "eat",
        "drink",
        "cook",
        "draw",
        "study",
    )
    and not verb.object
)


def in_a_manner(dice: Dice) -> Predicate:
    """She sings better than me: elle chante mieux que moi."""
    verb = dice.pick(MANNERLY)
    english, french = dice.pick(MANNERS) if dice.chance(0.8) else ("", "")
    side = Side(verb, False, read_text(french, ()))
    words = [(word, FIRST_PART) for word in english.split()]
    combinations: list[Combination] = [(verb.name, english.split()[0])] if english else []
    return Predicate("ap" if not english else "ai", verb, words, [], combinations, (side,))


def done(dice: Dice, role: int, *, doing: bool) -> Phrase:
    """ "read a book" or "reading a book": lire un livre."""
    key = 10 * role + 9
    if dice.chance(0.4):
        return row_done(dice, role, doing)
    if dice.chance(0.3):
        verb = dice.pick(RUNNING)
        thing: Phrase | None = None
    else:
        verb = dice.pick(ACTIONS)
        thing = object_of(dice, verb, role)
    english = [(english_ing(verb.base) if doing else verb.base, key)]
    english += [(word, key) for word in verb.particle.split()]
    infinitive: Words = [(verb.infinitive, key)]
    infinitive += [(verb.complement, key)] if verb.complement else []
    if thing is None:
        reading = Reading(infinitive, 2, "m", False, infinitive)
        return Phrase(english, (reading,), True)
    readings = tuple(
        r._replace(words=[*infinitive, *r.words], negated=[*infinitive, *r.words])
        for r in thing.readings
    )
    return thing._replace(english=[*english, *thing.english], readings=readings)


DOABLE = tuple(
    row
    for row in ROWS
    if "i" in row.kinds
    and not row.french[0].reflexive
    and not any(
        place.startswith(("own", "dat", "do", "chez")) or "/" in place for place in row.places
    )
)


def row_done(dice: Dice, role: int, doing: bool) -> Phrase:
    """ "go to the beach" or "going to the beach": aller à la plage."""
    row = dice.pick(DOABLE)
    side, french = dice.pick(row.english), row.french[0]
    key = 10 * role
    phrases = [draw(dice, place, role) for place in row.places]
    base = side.verb.base
    english = [(english_ing(base) if doing else base, key + 9)]
    english += [(word, key + 9) for word in side.verb.particle.split()]
    english += [
        (word, k if k < FIRST_PART else key + 8) for word, k in fill_english(side.text, phrases)
    ]
    rest = fill_french(french.text, [phrase.readings[0] for phrase in phrases])
    words: Words = [(french.verb.infinitive, key + 9)]
    words += [
        (word.lstrip("~").replace("_", " "), k if k < FIRST_PART else key + 8) for word, k in rest
    ]
    reading = Reading(words, 2, "m", False, words)
    return Phrase(english, (reading,), True, next((p.noun for p in phrases if p.noun), None))


def verb_with_object(dice: Dice, verbs: Sequence[Verb], kinds: str, negated: bool) -> Predicate:
    """A verb of the grammar with an object: a noun, or a pronoun."""
    verb = dice.pick(verbs)
    if kinds != "l" and verb.name != "tell" and dice.chance(0.3):
        personal = bool(verb.object & {"person", "animate", "animal"})
        words = tuple(CLITICS) if personal else ("it", "it", "them")
        thing = clitic(dice.pick(words))
        particle: Words = [(verb.particle, 80)] if verb.particle else []
        english = with_pronoun(verb, [(verb.base, 80), *particle], thing.english)[1:]
        combinations: list[Combination] = [(thing.english[0][0], verb.name)]
        alone, sides = replace(verb, particle=""), (Side(verb, False, Text(())),)
        return Predicate(kinds, alone, english, [thing], combinations, sides, clitic="direct")
    thing = object_of(dice, verb)
    english = list(thing.english)
    mass = thing.readings[0].words[0][0] in ("de+", "des")
    if mass and (negated or dice.chance(0.4)):
        english = [("any" if negated else "some", 21), *english]
    elif english[0][0] in ("this", "these") and dice.chance(0.4):
        english[0] = ({"this": "that", "these": "those"}[english[0][0]], 21)
    assert thing.noun is not None
    meeting = [(verb.name, thing.noun.name), *thing.combinations]
    return Predicate(kinds, verb, english, [thing], meeting, (Side(verb, False, Text((0,))),))
