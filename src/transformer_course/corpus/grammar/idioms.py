"""Where the two languages put it differently: avoir faim, avoir vingt ans, il y a, professions."""

from transformer_course.corpus.grammar.clauses import (
    HAVE,
    NEGATION,
    NEGATIVE,
    PREDICATE,
    VERB,
    english_be_words,
    french_be,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import PROFESSIONS, nouns_of
from transformer_course.corpus.grammar.morphology import english_plural, french_plural
from transformer_course.corpus.grammar.numbers import english_number, french_number
from transformer_course.corpus.grammar.parts import PERSONAL, agent, state_negation
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.spelling import Word

IDIOMS = (
    ("hungry", "faim"),
    ("thirsty", "soif"),
    ("cold", "froid"),
    ("hot", "chaud"),
    ("afraid", "peur"),
    ("sleepy", "sommeil"),
    ("right", "raison"),
    ("wrong", "tort"),
)


HAVING = {
    "present": HAVE,
    "past": ("avais", "avais", "avait", "avions", "aviez", "avaient"),
    "future": ("aurai", "auras", "aura", "aurons", "aurez", "auront"),
}


ANIMATE = nouns_of("person animal")


def english_idiom(
    subject: Phrase, idiom: tuple[str, str], tense: str, negation: str, short: bool
) -> list[Word]:
    """is hungry."""
    return [*english_be_words(subject, tense, negation, short), (idiom[0], PREDICATE)]


def french_having(who: Reading, tense: str, negation: str) -> list[Word]:
    """avoir with its negation; the past is the imparfait."""
    words: list[Word] = [("ne", NEGATION)] if negation else []
    words.append((HAVING[tense][who.person], VERB))
    return [*words, (NEGATIVE[negation], NEGATION)] if negation else words


def french_idiom(who: Reading, idiom: tuple[str, str], tense: str, negation: str) -> list[Word]:
    """a faim."""
    return [*french_having(who, tense, negation), (idiom[1], PREDICATE)]


def someone(dice: Dice) -> Phrase:
    """A person, an animal or a pronoun."""
    if dice.chance(0.5):
        return pronoun(dice.pick(PERSONAL), 1)
    return agent(dice, dice.pick(ANIMATE))


FAMILY = nouns_of("family")


def hungry(dice: Dice) -> Draft:
    """I am hungry: j'ai faim."""
    subject, idiom = someone(dice), dice.pick(IDIOMS)
    tense = dice.pick(("present", "present", "past", "future"))
    negation = state_negation(dice, tense, 0.3)

    def french(who: Reading) -> Variants:
        return [[*who.words, *french_idiom(who, idiom, tense, negation)]]

    english = [*subject.english, *english_idiom(subject, idiom, tense, negation, dice.chance(0.5))]
    combinations = [(subject.noun.name, idiom[0])] if subject.noun else []
    return Draft(english, [subject], french, ["avoir idiom"], combinations)


def age(dice: Dice) -> Draft:
    """My sister is twenty years old: ma sœur a vingt ans; he is 20 years old: il a 20 ans."""
    subject = someone(dice)
    years = 1 + int(dice.random() * 99)
    in_digits = dice.chance(0.3)
    tense = dice.pick(("present", "present", "past", "future"))

    def french(who: Reading) -> Variants:
        number = french_number(years)
        spellings = dict.fromkeys((number, number.replace(" ", "-")))
        if in_digits:
            spellings = {str(years): None} | spellings
        ans = ("an" if years == 1 else "ans", 96)
        return [
            [*who.words, (HAVING[tense][who.person], VERB), (spelling, 95), ans]
            for spelling in spellings
        ]

    number = str(years) if in_digits else english_number(years)
    words = [(number, 95), ("year" if years == 1 else "years", 96), ("old", 96)]
    english = [*subject.english, *english_be_words(subject, tense, "", False), *words]
    combinations = [(subject.noun.name, str(years))] if subject.noun else []
    return Draft(english, [subject], french, ["number", "avoir idiom"], combinations, 1)


def profession(dice: Dice) -> Draft:
    """I am a student: je suis étudiant, je suis étudiante."""
    english_name, masculine, feminine = dice.pick(PROFESSIONS)
    if dice.chance(0.75):
        subject = pronoun(dice.pick(PERSONAL), 1)
    else:
        family = dice.pick(FAMILY)
        subject = noun_phrase(
            dice, family, 1, determiner=dice.pick(("my", "her", "his", "your")), adjectives=0
        )
    tense = dice.pick(("present", "present", "past", "future"))
    negation = dice.pick(("not", "no longer")) if dice.chance(0.2) else ""
    plural = english_plural_subject(subject)
    names = {"m": masculine.split("/"), "f": feminine.split("/")}

    def french(who: Reading) -> Variants:
        verb_words = [*who.words, *french_be(who, tense, negation)]
        variants = []
        for name in names[who.gender]:
            variants.append([*verb_words, (french_plural(name) if who.plural else name, PREDICATE)])
        return variants

    if subject.english[0][0] == "you":
        plural = dice.chance(0.3)
        wanted = [r for r in subject.readings if r.plural == plural]
        subject = Phrase(
            subject.english, tuple(wanted), False, None, len(wanted), (), ("tu or vous",)
        )
    noun = english_plural(english_name) if plural else english_name
    article = "an" if noun[0] in "aeiou" else "a"
    words: list[Word] = [] if plural else [(article, 0)]
    verb_words = english_be_words(subject, tense, negation, dice.chance(0.5))
    english = [*subject.english, *verb_words, *words, (noun, PREDICATE)]
    combinations = [(subject.english[-1][0], english_name)]
    return Draft(english, [subject], french, ["profession"], combinations, 1)


def english_plural_subject(subject: Phrase) -> bool:
    """Whether the subject is more than one person."""
    return subject.english[0][0] in ("we", "they") or (
        subject.noun is not None and not subject.third
    )


HOURS = tuple(range(1, 13))


WEATHER = (("cold", "froid"), ("hot", "chaud"), ("late", ""), ("early", ""))


def expletive(dice: Dice) -> Draft:
    """It is three o'clock; it is cold; it is late."""
    when, quand = dice.pick(
        (("", ""), ("today", "aujourd'hui"), ("here", "ici"), ("now", "maintenant"))
    )
    tense = dice.pick(("present", "past", "future"))
    if when in ("today", "now", "here"):
        tense = "present"
    nothing = Phrase([("it", 14)], (Reading([("il", 14)], 2, "m", False, []),), True)
    what = dice.pick(("clock", "weather", "time"))
    if what == "clock":
        hour = dice.pick(HOURS)
        english_words = [(english_number(hour), 95), ("o'clock", 96)]
        said = [
            (BE_IMPERSONAL[tense], VERB),
            (french_number(hour, "f"), 95),
            ("heure" if hour == 1 else "heures", 96),
        ]
        when = quand = ""
    elif what == "weather":
        english_name, name = dice.pick((("cold", "froid"), ("hot", "chaud"), ("dark", "nuit")))
        english_words = [(english_name, PREDICATE)]
        said = [
            ({"present": "fait", "past": "faisait", "future": "fera"}[tense], VERB),
            (name, PREDICATE),
        ]
    else:
        english_name, name = dice.pick((("late", "tard"), ("early", "tôt")))
        english_words = [(english_name, PREDICATE)]
        said = [(BE_IMPERSONAL[tense], VERB), (name, PREDICATE)]
        when = quand = ""
    degree = what != "clock" and english_words[0][0] != "dark" and dice.chance(0.4)
    if degree:
        english_words.insert(0, ("very", 87))
        said.insert(1, ("très", 87))

    def french(it: Reading) -> Variants:
        variants = [[*it.words, *said, *([(quand, 88)] if quand else [])]]
        if what == "clock":
            variants.append([*it.words, said[0], (str(hour), 95), said[2]])
        return variants

    english = [*nothing.english, *english_be_words(nothing, tense, "", False), *english_words]
    english += [(when, 88)] if when else []
    return Draft(english, [nothing], french, ["expletive it"], [], trained=1)


BE_IMPERSONAL = {"present": "est", "past": "était", "future": "sera"}
