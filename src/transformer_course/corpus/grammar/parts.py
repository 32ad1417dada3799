"""What sentences are made of: subjects, objects, times, tenses."""

from transformer_course.corpus.grammar.determiners import random_determiner
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import (
    DESCRIBING,
    NOUNS,
    OBJECTS,
    SUBJECTS,
    VERBS,
    Noun,
    Verb,
    nouns_of,
)
from transformer_course.corpus.grammar.phrases import Phrase, noun_phrase, pronoun
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

TENSES = ("present", "present", "past", "past", "future")


NEGATIONS = ("not", "not", "never", "no longer")


DATIVE = tuple(verb for verb in VERBS if "give" in verb.frame)


DIRECT = tuple(verb for verb in VERBS if verb.object and not verb.frame & {"de", "à", "to", "into"})


TANGIBLE = tuple(verb for verb in DIRECT if not verb.frame & {"generic", "stative"})


INDIRECT = tuple(verb for verb in VERBS if verb.object and verb.frame & {"de", "à"})


MOTION = tuple(verb for verb in VERBS if verb.frame & {"to", "into"})


SPECIAL = {"special", "infinitive", "that"}


INTRANSITIVE = tuple(verb for verb in VERBS if not verb.object and not verb.frame & SPECIAL)


PEOPLE = nouns_of("person")


PERSONAL = ("i", "you", "he", "she", "we", "they")


DESCRIBED = tuple(noun for noun in NOUNS if DESCRIBING[noun])


# Neither "too excellent" nor "more excellent".
WITHOUT_DEGREES = (
    "open closed empty full broken square round deserted immense national royal medieval public "
    "excellent delicious original secret"
)


UNGRADED = frozenset(WITHOUT_DEGREES.split())


WHEN = {
    "past": (
        ("yesterday", "hier"),
        ("last week", "la semaine dernière"),
        ("this morning", "ce matin"),
    ),
    "present": (("today", "aujourd'hui"), ("every day", "tous les jours"), ("now", "maintenant")),
    "future": (
        ("tomorrow", "demain"),
        ("next week", "la semaine prochaine"),
        ("tonight", "ce soir"),
    ),
}


SUBJECT_DETERMINERS = ("the", "the", "the", "my", "this", "her", "your")


OFTEN = (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"))


PLACES = (
    (
        "in",
        "dans",
        nouns_of("container bottle"),
        nouns_of("jewel key toy stone fruit egg clothing"),
    ),
    (
        "on",
        "sur",
        nouns_of("surface"),
        nouns_of("cat dish bottle toy readable box lamp hat clothing"),
    ),
    (
        "under",
        "sous",
        nouns_of("furniture tree bridge"),
        nouns_of("cat dog mouse toy box shoe bag hen"),
    ),
    (
        "behind",
        "derrière",
        nouns_of("furniture building wall tree opening"),
        nouns_of("animate box bench"),
    ),
    (
        "in front of",
        "devant",
        nouns_of("building mirror opening tower"),
        nouns_of("animate vehicle tree"),
    ),
    (
        "in",
        "dans",
        nouns_of("room garden park forest field"),
        nouns_of("animate toy bench table box"),
    ),
    (
        "next to",
        "à côté de+",
        nouns_of("furniture building tree"),
        nouns_of("animate box bench lamp vehicle"),
    ),
    (
        "opposite",
        "en face de+",
        nouns_of("building mirror"),
        nouns_of("person building bench"),
    ),
    (
        "above",
        "au-dessus de+",
        nouns_of("furniture town lake forest"),
        nouns_of("cloud bird plane helicopter balloon"),
    ),
    (
        "near",
        "près de+",
        nouns_of("building lake river town tree"),
        nouns_of("animate vehicle house"),
    ),
)


def time_words(dice: Dice, tense: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Sometimes a time that fits the tense, in both languages."""
    if not dice.chance(0.15):
        return [], []
    english, french = dice.pick(WHEN[tense])
    return [(english, 88)], [(french, 88)]


def subject_of(dice: Dice, verb: Verb, *, pronouns: float = 0.35, role: int = 1) -> Phrase:
    """A subject that can do what the verb says."""
    people = "person" in verb.subject or "animate" in verb.subject
    if people and dice.chance(pronouns):
        return pronoun(dice.pick(PERSONAL), role)
    return agent(dice, dice.pick(SUBJECTS[verb]), role)


def agent(dice: Dice, noun: Noun, role: int = 1, adjectives: float = 0.15) -> Phrase:
    """A noun phrase that can begin a sentence: not "cats", which would mean all cats."""
    plural = not noun.mass and dice.chance(0.3)
    determiner = random_determiner(dice, noun, plural)
    if determiner == "a" and (plural or noun.mass):
        determiner = "the"
    return noun_phrase(
        dice, noun, role, plural=plural, determiner=determiner, adjectives=adjectives
    )


def object_of(dice: Dice, verb: Verb, role: int = 2) -> Phrase:
    """An object that it can be done to; we like cheese in general: j'aime *le* fromage."""
    noun = dice.companion(OBJECTS[verb], verb.name)
    plural = True if "countable" in verb.frame else None
    determiner = ""
    if "generic" in verb.frame:
        determiner = dice.pick(("the", "this", "my", "his"))
    elif "de" in verb.frame:
        determiner = (
            "the" if "instrument" in noun.classes else dice.pick(("the", "my", "this", "her"))
        )
    elif verb.name == "marry":
        determiner, plural = "the", False
    return noun_phrase(dice, noun, role, plural=plural, determiner=determiner)


def state_negation(dice: Dice, tense: str, wanted: float) -> str:
    """Sometimes not, never or no longer; of a past state never "never" (n'a jamais été)."""
    negation = dice.pick(NEGATIONS) if dice.chance(wanted) else ""
    return "not" if negation == "never" and tense == "past" else negation


def keyed(words: str, key: int) -> list[Word]:
    """Several words with the same key."""
    return [(word, key) for word in words.split()]


def verb_and_object(verb: Verb, thing: Phrase) -> list[Combination]:
    """The combination that a verb and its object are."""
    assert thing.noun is not None
    return [(verb.name, thing.noun.name)]


def tense_for(dice: Dice, verb: Verb) -> str:
    """A tense; states have no simple past here, whose translation would depend on the story."""
    tense = dice.pick(TENSES)
    timeless = "stative" in verb.frame or "generic" in verb.frame
    return "present" if tense == "past" and timeless else tense


def tense_labels(verb: Verb, tense: str) -> list[str]:
    """The phenomenon that a tense is."""
    if tense == "past":
        return ["past with être" if verb.etre else "past with avoir"]
    return ["future"] if tense == "future" else []
