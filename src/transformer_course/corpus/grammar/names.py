"""Names of people, towns and countries: Anna and Paul live in Rome, went to Japan, visit Italy."""

from collections.abc import Sequence
from typing import NamedTuple

from transformer_course.corpus.grammar.clauses import (
    VERB,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.lexicon import VERBS, nouns_of, read_table
from transformer_course.corpus.grammar.parts import (
    DIRECT,
    INTRANSITIVE,
    PEOPLE,
    PERSONAL,
    TENSES,
    agent,
    object_of,
    tense_for,
    tense_labels,
    time_words,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

PREPOSITION, PLACE, THING = 86, 24, 24


class Name(NamedTuple):
    """A name in both languages; `article` is the French one that it has, where it has one."""

    kind: str
    english: str
    french: str
    gender: str
    article: str


NAMES = tuple(Name(*row) for row in read_table("names"))
FIRST_NAMES = tuple(name for name in NAMES if name.kind == "person")
TOWNS = tuple(name for name in NAMES if name.kind == "town")
COUNTRIES = tuple(name for name in NAMES if name.kind == "country")
GAMES = tuple(name for name in NAMES if name.kind == "game")
LANGUAGES = tuple(name for name in NAMES if name.kind == "language")

DOING = tuple(v for v in (*DIRECT, *INTRANSITIVE) if v.subject & {"person", "animate"})
THERE = tuple(VERB_NAMED[name] for name in ("live", "live", "live", "work", "arrive", "stay"))
LIVING = tuple(v for v in VERBS if v.name == "live")  # habiter, vivre
MOVING = (("go", "to"), ("go", "to"), ("travel", "to"), ("return to", ""), ("come back", "to"))
SEEN = tuple(VERB_NAMED[name] for name in ("visit", "visit", "know", "love", "discover"))
KIN = nouns_of("family kin")
PETS = nouns_of("dog cat horse donkey parrot rabbit")


def in_or_to(place: Name) -> list[Word]:
    """The French place: à Paris, en France, au Japon, aux États-Unis.

    >>> [word for word, _ in in_or_to(COUNTRIES[0])], [word for word, _ in in_or_to(TOWNS[0])]
    (['en', 'France'], ['à', 'Paris'])
    """
    if place.article == "la":
        return [("en", PREPOSITION), (place.french, PLACE)]
    if not place.article:
        return [("à", PREPOSITION), (place.french, PLACE)]
    return [("à+", PREPOSITION), (place.article, PLACE), (place.french, PLACE)]


def from_there(place: Name) -> list[Word]:
    """Where from: de Paris, d'Italie, du Japon, des États-Unis.

    >>> [word for word, _ in from_there(Name("country", "Japan", "Japon", "m", "le"))]
    ['de+', 'le', 'Japon']
    """
    if place.article in ("le", "les"):
        return [("de+", PREPOSITION), (place.article, PLACE), (place.french, PLACE)]
    return [("de", PREPOSITION), (place.french, PLACE)]


def place_of(dice: Dice) -> Name:
    """A town or a country."""
    return dice.pick(TOWNS if dice.chance(0.5) else COUNTRIES)


def called_so(names: Sequence[Name], role: int = 1) -> Phrase:
    """The phrase "Anna", or "Anna and Paul".

    >>> called_so(FIRST_NAMES[:2]).english
    [('Anna', 14), ('and', 15), ('Marie', 16)]
    """
    key = 10 * role + 4
    english: list[Word] = [(names[0].english, key)]
    french: list[Word] = [(names[0].french, key)]
    for number, name in enumerate(names[1:], 1):
        english += [("and", key + 1), (name.english, key + 1 + number)]
        french += [("et", key + 1), (name.french, key + 1 + number)]
    gender = "f" if all(name.gender == "f" for name in names) else "m"
    plural = len(names) > 1
    reading = Reading(french, 5 if plural else 2, gender, plural, french)
    return Phrase(english, (reading,), not plural)


def somebody(dice: Dice, others: float) -> tuple[Phrase, str]:
    """Somebody with a name, or (so often as `others` says) a pronoun or a person; and a word for them."""
    if dice.chance(others):
        if dice.chance(0.6):
            subject = pronoun(dice.pick(PERSONAL), 1)
            return subject, subject.english[0][0]
        subject = agent(dice, dice.pick(PEOPLE), adjectives=0.1)
        assert subject.noun is not None
        return subject, subject.noun.name
    first, second = dice.pick(FIRST_NAMES), dice.pick(FIRST_NAMES)
    together = first is not second and dice.chance(0.2)
    return called_so((first, second) if together else (first,)), first.english


def named(dice: Dice) -> Draft:
    """Anna eats the apple: Anna mange la pomme."""
    subject, name = somebody(dice, 0)
    verb = dice.pick(DOING)
    tense = tense_for(dice, verb)
    thing = object_of(dice, verb) if verb.object else NOTHING
    negation = "not" if dice.chance(0.2) else ""
    when, quand = time_words(dice, tense) if not negation else ([], [])

    def french(who: Reading, what: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *words, *(what.negated if negation else what.words), *quand]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.6))
    english = [*subject.english, *verb_words, *thing.english, *when]
    labels = ["name", *tense_labels(verb, tense), *(["negation"] if negation else [])]
    combinations: list[Combination] = [(name, verb.name)]
    if thing.noun:
        combinations += verb_and_object(verb, thing)
    return Draft(english, [subject, thing], french, labels, combinations)


NOTHING = Phrase([], (Reading([], 2, "m", False, []),), True)


def is_called(dice: Dice) -> Draft:
    """My brother is called Paul, my brother's name is Paul: mon frère s'appelle Paul."""
    noun = dice.pick(KIN if dice.chance(0.8) else PETS)
    name = dice.pick([name for name in FIRST_NAMES if name.gender == noun.gender])
    determiner = dice.pick(("my", "his", "her", "your", "our", "their"))
    who_it_is = noun_phrase(dice, noun, 1, plural=False, determiner=determiner, adjectives=0.1)
    verb = VERB_NAMED["call"]
    genitive = dice.chance(0.5)

    def french(who: Reading) -> Variants:
        calls = [*who.words, *french_verb(who, verb, "present", clitics=[("se", VERB)])]
        variants = [[*calls, (name.french, THING)]]
        if genitive:
            start: list[Word] = [("le", VERB), ("nom", VERB), ("de", VERB)]
            variants.append([*start, *who.words, ("est", VERB), (name.french, THING)])
        return variants

    words = who_it_is.english
    if genitive:
        last, key = words[-1]
        words = [*words[:-1], (f"{last}'s", key), ("name", VERB), ("is", VERB)]
    else:
        words = [*words, ("is", VERB), ("called", VERB)]
    english = [*words, (name.english, THING)]
    combinations = [(noun.name, name.english)]
    return Draft(english, [who_it_is], french, ["name"], combinations, trained=1)


def lives_there(dice: Dice) -> Draft:
    """Paul lives in Rome: Paul habite à Rome; works in Italy: en Italie; is in Japan: au Japon."""
    subject, name = somebody(dice, 0.5)
    place = dice.pick(COUNTRIES) if name == "i" else place_of(dice)  # I live in Rome: a phrase
    is_there = dice.chance(0.3)
    verb = dice.pick(THERE)
    tense = dice.pick(TENSES)
    if tense == "past" and (is_there or verb.name == "live"):
        tense = "present"  # a state: its past would depend on the story
    negation = "not" if dice.chance(0.2) else ""
    short = dice.chance(0.6)

    def french(who: Reading) -> Variants:
        if is_there:
            return [[*who.words, *french_be(who, tense, negation), *in_or_to(place)]]
        verbs = LIVING if verb.name == "live" else (verb,)
        said = [[*who.words, *french_verb(who, v, tense, negation=negation)] for v in verbs]
        bare = [[*said[0], (place.french, PLACE)]]  # habiter Paris is said as well
        ways = [[*words, *in_or_to(place)] for words in said]
        return ways + bare if verb.name == "live" and place.kind == "town" else ways

    if is_there:
        words = english_be_words(subject, tense, negation, short)
    else:
        words = english_verb(subject, verb, tense, negation, short)
    english = [*subject.english, *words, ("in", PREPOSITION), (place.english, PLACE)]
    labels = ["town or country", *(["negation"] if negation else [])]
    combinations = [(name, place.english)]
    return Draft(english, [subject], french, labels, combinations, trained=1)


def goes_there(dice: Dice) -> Draft:
    """They went to the United States: ils sont allés aux États-Unis; she comes from Italy: d'Italie."""
    subject, name = somebody(dice, 0.5)
    place = dice.pick(COUNTRIES) if name == "i" else place_of(dice)  # I come from Rome: a phrase
    leaves = dice.chance(0.3)
    verb_name, to = ("come", "from") if leaves else dice.pick(MOVING)
    verb = VERB_NAMED[verb_name]
    tense = dice.pick(("present", "future")) if leaves else dice.pick(TENSES)
    where = from_there(place) if leaves else in_or_to(place)
    when, quand = time_words(dice, tense) if dice.chance(0.6) else ([], [])

    def french(who: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), *where, *quand]]

    preposition: list[Word] = [(to, PREPOSITION)] if to else []
    verb_words = english_verb(subject, verb, tense)
    english = [*subject.english, *verb_words, *preposition, (place.english, PLACE), *when]
    labels = ["town or country", *tense_labels(verb, tense)]
    return Draft(english, [subject], french, labels, [(name, place.english)])


def visits(dice: Dice) -> Draft:
    """Emma visits Italy: Emma visite l'Italie; Paul knows Rome: Paul connaît Rome."""
    subject, name = somebody(dice, 0.4)
    place, verb = place_of(dice), dice.pick(SEEN)
    tense = tense_for(dice, verb)
    article: list[Word] = [(place.article, PLACE)] if place.article else []

    def french(who: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), *article, (place.french, PLACE)]]

    english = [*subject.english, *english_verb(subject, verb, tense), (place.english, PLACE)]
    labels = ["town or country", *tense_labels(verb, tense)]
    return Draft(english, [subject], french, labels, [(name, place.english)])
