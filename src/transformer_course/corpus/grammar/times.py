"""Numbers in digits, dates and times of day: at 3 o'clock, on 5 May, in 2024, 24 cats, 12 euros."""

from transformer_course.corpus.grammar.clauses import BE, VERB, english_verb, french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import nouns_of, read_table
from transformer_course.corpus.grammar.morphology import agree
from transformer_course.corpus.grammar.numbers import english_number, french_number
from transformer_course.corpus.grammar.parts import (
    DIRECT,
    INTRANSITIVE,
    MOTION,
    PEOPLE,
    PERSONAL,
    PLACES,
    agent,
    keyed,
    object_of,
    subject_of,
    tense_labels,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.spelling import Word

WHEN, NUMBER, UNIT = 88, 95, 96
SLOTS = list(read_table("slots"))
DAYS = [(english, french) for slot, english, french in SLOTS if slot == "day"]
MONTHS = [(english, french) for slot, english, french in SLOTS if slot == "month"]
SEASONS = (
    ("spring", "au printemps"),
    ("summer", "en été"),
    ("autumn", "en automne"),
    ("winter", "en hiver"),
)
HOLDING = tuple(v for v in DIRECT if not v.frame & {"stative", "generic", "countable"})
COMING = tuple(
    v
    for v in INTRANSITIVE
    if v.subject & {"person", "animate"} and v.name not in ("grow up", "die")
)
PRICED = nouns_of("readable clothing object food furniture")
Time = tuple[str, list[str]]


def clock(dice: Dice) -> Time:
    """An hour in English, and all ways to say it in French."""
    hour = 1 + int(dice.random() * 11)
    heure = "heure" if hour == 1 else "heures"
    kind = dice.pick(("full", "full", "digits", "half", "past", "to", "noon"))
    if kind == "noon":
        return dice.pick((("noon", ["midi"]), ("midnight", ["minuit"])))
    name, said = english_number(hour), f"{french_number(hour, 'f')} {heure}"
    in_digits = f"{hour} {heure}"
    return {
        "full": (f"{name} o'clock", [said, in_digits]),
        "digits": (f"{hour} o'clock", [in_digits, said]),
        "half": (f"half past {name}", [f"{said} et demie"]),
        "past": (f"a quarter past {name}", [f"{said} et quart"]),
        "to": (f"a quarter to {name}", [f"{said} moins le quart"]),
    }[kind]


def date(dice: Dice, tense: str) -> Time:
    """on Monday, on 5 May, in May, in 2024, in summer; French needs no word for "on".

    Args:
        tense: nothing will happen in 1914; of the future and the present nothing else is said here.
    """
    kind = dice.pick(("day", "day", "date", "date", "month", "year", "season"))
    if kind == "season":
        season, saison = dice.pick(SEASONS)
        return f"in {season}", [saison]
    if kind == "year":
        first, count = (1900, 125) if tense == "past" else (2030, 60)
        year = first + int(dice.random() * count)
        return f"in {year}", [f"en {year}"]
    month, mois = dice.pick(MONTHS)
    if kind == "month":
        return f"in {month}", [f"en {mois}"]
    if kind == "date":
        day = 1 + int(dice.random() * 28)
        return f"on {day} {month}", [f"le {'1er' if day == 1 else day} {mois}"]
    name, nom = dice.pick(DAYS)
    return f"on {name}", [nom]


def at_a_time(dice: Dice) -> Draft:
    """The king left at 3 o'clock: le roi est parti à 3 heures; on Monday: lundi."""
    verb = dice.pick(HOLDING if dice.chance(0.4) else COMING)
    tense = dice.pick(("past", "past", "future"))
    if dice.chance(0.4):
        english_time, heures = clock(dice)
        english_time, ways = f"at {english_time}", [f"à {heure}" for heure in heures]
    else:
        english_time, ways = date(dice, tense)
    subject = subject_of(dice, verb)
    thing = object_of(dice, verb) if verb.object else NOTHING

    def french(who: Reading, what: Reading) -> Variants:
        said = [*who.words, *french_verb(who, verb, tense), *what.words]
        return [[*said, *keyed(way, WHEN)] for way in ways]

    said = [*subject.english, *english_verb(subject, verb, tense), *thing.english]
    noun = subject.noun.name if subject.noun else subject.english[0][0]
    combinations = verb_and_object(verb, thing) if verb.object else [(noun, verb.name)]
    labels = ["date and time", *tense_labels(verb, tense)]
    english = [*said, *keyed(english_time, WHEN)]
    return Draft(english, [subject, thing], french, labels, combinations, trained=1)


NOTHING = Phrase([], (Reading([], 2, "m", False, []),), True)


def it_is(dice: Dice) -> Draft:
    """It is half past two: il est deux heures et demie."""
    english_time, ways = clock(dice)

    def french() -> Variants:
        return [[*keyed("il est", VERB), *keyed(way, WHEN)] for way in ways]

    english = [*keyed("it is", VERB), *keyed(english_time, WHEN)]
    return Draft(english, [], french, ["date and time"], [("it is", english_time)], trained=1)


def in_digits(phrase: Phrase, number: int) -> Phrase:
    """A noun phrase with its number in digits: "24 cats" for "twenty-four cats"."""

    def digits(words: list[Word]) -> list[Word]:
        """The words after the number, with the number before them."""
        key = words[0][1]
        return [(str(number), key), *(word for word in words if word[1] != key)]

    first = phrase.readings[0]
    reading = first._replace(words=digits(first.words), negated=digits(first.negated))
    return phrase._replace(english=digits(phrase.english), readings=(reading,))


def counted(dice: Dice) -> Draft:
    """There are 24 cats in the garden: il y a 24 chats dans le jardin."""
    preposition, préposition, grounds, figures = dice.pick(PLACES)
    noun, ground = dice.pick(figures), dice.pick(grounds)
    while noun is ground or noun.mass:
        noun, ground = dice.pick(figures), dice.pick(grounds)
    number = 2 + int(dice.random() * dice.random() * 999)
    some = noun_phrase(dice, noun, 1, plural=True, determiner="2", adjectives=0.2)
    thing = in_digits(some, number)
    where = noun_phrase(dice, ground, 2, determiner=dice.pick(("the", "my", "this")), adjectives=0)

    def french(what: Reading, place: Reading) -> Variants:
        there: list[Word] = [("il", 94), ("y", 94), ("a", VERB)]
        return [[*there, *what.words, *keyed(préposition, 86), *place.words]]

    there = [("there", 94), ("are", VERB)]
    english = [*there, *thing.english, *keyed(preposition, 86), *where.english]
    labels = ["digits", "there is"]
    return Draft(english, [thing, where], french, labels, [(noun.name, ground.name)])


def price(dice: Dice) -> Draft:
    """The book costs 12 euros: le livre coûte 12 euros."""
    noun = dice.pick(PRICED)
    determiner = dice.pick(("the", "this", "the", "my"))
    thing = noun_phrase(dice, noun, 1, determiner=determiner, adjectives=0.2)
    dearest = 18 if "food" in noun.classes else 298
    number = 2 + int(dice.random() * dice.random() * dearest)
    words = number <= 100 and dice.chance(0.3)

    def french(what: Reading) -> Variants:
        costs = "coûtent" if what.plural else "coûte"
        says = french_number(number) if words else str(number)
        ways = dict.fromkeys((says, says.replace(" ", "-")))
        return [[*what.words, (costs, VERB), (way, NUMBER), ("euros", UNIT)] for way in ways]

    costs = "costs" if thing.third else "cost"
    said = english_number(number) if words else str(number)
    english = [*thing.english, (costs, VERB), (said, NUMBER), ("euros", UNIT)]
    combinations = [("cost", noun.name)]
    return Draft(english, [thing], french, ["digits"], combinations, trained=1)


def born(dice: Dice) -> Draft:
    """My sister was born in 1984: ma sœur est née en 1984."""
    subject = (
        pronoun(dice.pick(PERSONAL), 1) if dice.chance(0.5) else agent(dice, dice.pick(PEOPLE))
    )
    year = 1900 + int(dice.random() * 126)
    month, mois = dice.pick(MONTHS)
    place = dice.chance(0.3)
    when, quand = (
        (f"in {month} {year}", f"en {mois} {year}") if place else (f"in {year}", f"en {year}")
    )

    def french(who: Reading) -> Variants:
        born_: list[Word] = [
            (BE["present"][who.person], VERB),
            (agree("né", who.gender, who.plural), VERB),
        ]
        return [[*who.words, *born_, *keyed(quand, WHEN)]]

    be = "was" if subject.third or subject.english[0][0] == "i" else "were"
    english = [*subject.english, (be, VERB), ("born", VERB), *keyed(when, WHEN)]
    noun = subject.noun.name if subject.noun else subject.english[0][0]
    labels = ["date and time", "past with être"]
    return Draft(english, [subject], french, labels, [(noun, str(year))])


def goes_at(dice: Dice) -> Draft:
    """She goes to the market on Monday at 8 o'clock: elle va au marché lundi à 8 heures."""
    verb = dice.pick(MOTION[:3])
    tense = dice.pick(("past", "future"))
    subject = subject_of(dice, verb, pronouns=0.5)
    noun = dice.pick(nouns_of(verb.object))
    place = noun_phrase(dice, noun, 2, plural=False, determiner="the", adjectives=0.1)
    (day, jour), (hour, heures) = dice.pick(DAYS), clock(dice)
    link = "dans" if "into" in verb.frame else "à+"
    to: list[Word] = [] if verb.particle or link == "dans" else [("to", 86)]

    def french(who: Reading, where: Reading) -> Variants:
        said = [*who.words, *french_verb(who, verb, tense), (link, 86), *where.words]
        return [[*said, (jour, WHEN), *keyed(f"à {heure}", 89)] for heure in heures]

    said = [*subject.english, *english_verb(subject, verb, tense), *to, *place.english]
    english = [*said, *keyed(f"on {day}", WHEN), *keyed(f"at {hour}", 89)]
    labels = ["date and time", *tense_labels(verb, tense)]
    combinations = verb_and_object(verb, place)
    return Draft(english, [subject, place], french, labels, combinations, trained=1)
