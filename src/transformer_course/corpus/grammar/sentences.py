"""Plain sentences: statements with to be, with a verb, negated, in three tenses."""

from transformer_course.corpus.grammar.clauses import (
    ADVERB,
    NEGATION,
    PREDICATE,
    VERB,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
    predicate,
)
from transformer_course.corpus.grammar.draft import Draft, Variants
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
from transformer_course.corpus.grammar.phrases import (
    Dice,
    Phrase,
    Reading,
    noun_phrase,
    pronoun,
    random_determiner,
)
from transformer_course.corpus.grammar.spelling import Word

TENSES = ("present", "present", "past", "past", "future")
NEGATIONS = ("not", "not", "never", "no longer")
DATIVE = tuple(verb for verb in VERBS if "give" in verb.frame)
DIRECT = tuple(verb for verb in VERBS if verb.object and not verb.frame & {"de", "à", "to", "into"})
INDIRECT = tuple(verb for verb in VERBS if verb.object and verb.frame & {"de", "à"})
MOTION = tuple(verb for verb in VERBS if verb.frame & {"to", "into"})
SPECIAL = {"special", "infinitive", "that"}
INTRANSITIVE = tuple(verb for verb in VERBS if not verb.object and not verb.frame & SPECIAL)
PEOPLE = nouns_of("person")
PERSONAL = ("i", "you", "he", "she", "we", "they")
DESCRIBED = tuple(noun for noun in NOUNS if DESCRIBING[noun])
WHEN = {
    "past": (("yesterday", "hier"), ("last week", "la semaine dernière"), ("this morning", "ce matin")),
    "present": (("today", "aujourd'hui"), ("every day", "tous les jours"), ("now", "maintenant")),
    "future": (("tomorrow", "demain"), ("next week", "la semaine prochaine"), ("tonight", "ce soir")),
}
SUBJECT_DETERMINERS = ("the", "the", "the", "my", "this", "her", "your")
OFTEN = (("often", "souvent"), ("always", "toujours"), ("sometimes", "parfois"))
PLACES = (
    ("in", "dans", nouns_of("container bottle"), nouns_of("jewel key toy stone fruit egg clothing")),
    ("on", "sur", nouns_of("surface"), nouns_of("cat dish bottle toy readable box lamp hat clothing")),
    ("under", "sous", nouns_of("furniture tree bridge"), nouns_of("cat dog mouse toy box shoe bag hen")),
    ("behind", "derrière", nouns_of("furniture building wall tree opening"), nouns_of("animate box bench")),
    ("in front of", "devant", nouns_of("building mirror opening tower"), nouns_of("animate vehicle tree")),
    ("in", "dans", nouns_of("room garden park forest field"), nouns_of("animate toy bench table box")),
    ("near", "près de+", nouns_of("building lake river town tree"), nouns_of("animate vehicle house")),
)


def time_words(dice: Dice, tense: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Sometimes a time that fits the tense, in both languages."""
    if not dice.chance(0.15):
        return [], []
    english, french = dice.pick(WHEN[tense])
    return [(english, 88)], [(french, 88)]


def subject_of(dice: Dice, verb: Verb, *, pronouns: float = 0.35, role: int = 1) -> Phrase:
    """A subject that can do what the verb says."""
    people = verb.subject & {"person", "animate"}
    if people and dice.chance(pronouns):
        return pronoun(dice.pick(PERSONAL), role)
    return agent(dice, dice.pick(SUBJECTS[verb]), role)


def agent(dice: Dice, noun: Noun, role: int = 1, adjectives: float = 0.15) -> Phrase:
    """A noun phrase that can begin a sentence: not "cats", which would mean all cats."""
    plural = not noun.mass and dice.chance(0.3)
    determiner = random_determiner(dice, noun, plural)
    if determiner == "a" and (plural or noun.mass):
        determiner = "the"
    return noun_phrase(dice, noun, role, plural=plural, determiner=determiner, adjectives=adjectives)


def object_of(dice: Dice, verb: Verb, role: int = 2) -> Phrase:
    """An object that it can be done to; we like cheese in general: j'aime *le* fromage."""
    noun = dice.pick(OBJECTS[verb])
    plural = True if "countable" in verb.frame else None
    determiner = ""
    if "generic" in verb.frame:
        determiner = dice.pick(("the", "this", "my", "his"))
    elif "de" in verb.frame:
        determiner = "the" if noun.classes & {"instrument"} else dice.pick(("the", "my", "this", "her"))
    elif verb.name == "marry":
        determiner, plural = "the", False
    return noun_phrase(dice, noun, role, plural=plural, determiner=determiner)


def keyed(words: str, key: int) -> list[Word]:
    """Several words with the same key."""
    return [(word, key) for word in words.split()]


def verb_and_object(verb: Verb, thing: Phrase) -> list[tuple[str, str]]:
    """The combination that a verb and its object are."""
    assert thing.noun is not None
    return [(verb.name, thing.noun.name)]


def tense_for(dice: Dice, verb: Verb) -> str:
    """A tense; states have no simple past here, whose translation would depend on the story."""
    tense = dice.pick(TENSES)
    return "present" if tense == "past" and verb.frame & {"stative", "generic"} else tense


def transitive(dice: Dice) -> Draft:
    """The boy eats the apple."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    when, quand = time_words(dice, tense)
    labels = ["future"] if tense == "future" else ["past with avoir"] if tense == "past" else []

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), *what.words, *quand]]

    english = [*subject.english, *english_verb(subject, verb, tense), *thing.english, *when]
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def negative(dice: Dice) -> Draft:
    """The boy doesn't eat an apple: no article but de."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    negation = dice.pick(NEGATIONS)
    if tense == "past" and negation == "no longer":
        negation = "not"
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    short = dice.chance(0.6)

    def french(who: Reading, what: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *verb_words, *what.negated]]

    english = [*subject.english, *english_verb(subject, verb, tense, negation, short), *thing.english]
    return Draft(english, [subject, thing], french, ["negation"], verb_and_object(verb, thing))


def indirect(dice: Dice) -> Draft:
    """The girl talks about the book: parler de."""
    verb = dice.pick(INDIRECT)
    tense = tense_for(dice, verb)
    preposition = "de+" if "de" in verb.frame else "à+"
    subject = subject_of(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    if noun.classes & {"instrument"}:
        thing = noun_phrase(dice, noun, 2, plural=False, determiner="the", adjectives=0)
    else:
        thing = noun_phrase(dice, noun, 2, determiner=dice.pick(("the", "the", "my", "this", "her")))
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.25) else ""

    def french(who: Reading, what: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *words, (preposition, VERB), *what.words]]

    english = [*subject.english, *english_verb(subject, verb, tense, negation), *thing.english]
    labels = ["negation"] if negation else []
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def intransitive(dice: Dice) -> Draft:
    """The girls left: elles sont parties."""
    verb = dice.pick(INTRANSITIVE)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.2) else ""
    adverb, adverbe = dice.pick(OFTEN) if tense == "present" and dice.chance(0.3) else ("", "")
    if negation:
        adverb = adverbe = ""
    when, quand = time_words(dice, tense)
    labels = ["past with être" if verb.etre else "past with avoir"] if tense == "past" else []

    def french(who: Reading) -> Variants:
        words = french_verb(who, verb, tense, negation=negation, adverb=adverbe)
        return [[*who.words, *words, *quand]]

    english = [
        *subject.english,
        *([(adverb, ADVERB)] if adverb else []),
        *english_verb(subject, verb, tense, negation),
        *when,
    ]
    combinations = [(subject.noun.name, verb.name)] if subject.noun else []
    return Draft(english, [subject], french, labels, combinations)


def motion(dice: Dice) -> Draft:
    """The king went to the market: il est allé au marché."""
    verb = dice.pick(MOTION)
    tense = dice.pick(TENSES)
    subject = subject_of(dice, verb)
    place = noun_phrase(dice, dice.pick(OBJECTS[verb]), 2, plural=False, determiner="the", adjectives=0.2)
    enters = "into" in verb.frame
    to, à = ([], "dans") if enters else ([("to", 86)], "à+")
    if verb.particle:
        to = []

    def french(who: Reading, where: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense), (à, 86), *where.words]]

    english = [*subject.english, *english_verb(subject, verb, tense), *to, *place.english]
    labels = ["past with être"] if tense == "past" else []
    return Draft(english, [subject, place], french, labels, verb_and_object(verb, place))


def giving(dice: Dice) -> Draft:
    """The boy gives the book to the teacher."""
    verb = dice.pick(DATIVE)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    other = noun_phrase(dice, dice.pick(PEOPLE), 3, determiner=dice.pick(("the", "the", "my", "her")), adjectives=0.1)

    def french(who: Reading, what: Reading, whom: Reading) -> Variants:
        words = french_verb(who, verb, tense)
        return [[*who.words, *words, *what.words, ("à+", 89), *whom.words]]

    english = [*subject.english, *english_verb(subject, verb, tense), *thing.english, ("to", 89), *other.english]
    return Draft(english, [subject, thing, other], french, ["indirect object"], verb_and_object(verb, thing))


def place(dice: Dice) -> Draft:
    """The cat is on the mat."""
    preposition, préposition, grounds, figures = dice.pick(PLACES)
    thing = agent(dice, dice.pick(figures))
    ground = noun_phrase(dice, dice.pick(grounds), 2, determiner=dice.pick(("the", "the", "my", "this")))
    while ground.noun is thing.noun:
        thing = agent(dice, dice.pick(figures))
    tense = dice.pick(("present", "present", "past", "future"))
    negation = dice.pick(NEGATIONS) if dice.chance(0.2) else ""

    def french(who: Reading, where: Reading) -> Variants:
        words = french_be(who, tense, negation)
        return [[*who.words, *words, *keyed(préposition, 86), *where.words]]

    english = [*thing.english, *english_be_words(thing, tense, negation, dice.chance(0.5)), (preposition, 86), *ground.english]
    assert thing.noun is not None and ground.noun is not None
    return Draft(english, [thing, ground], french, ["negation"] if negation else ["place"], [(thing.noun.name, ground.noun.name)])


def description(dice: Dice) -> Draft:
    """The tree was very old."""
    if dice.chance(0.3):
        subject, noun = pronoun(dice.pick(PERSONAL), 1), dice.pick(PEOPLE)
    else:
        noun = dice.pick(DESCRIBED)
        subject = agent(dice, noun, adjectives=0.1)
    adjective = dice.pick(DESCRIBING[noun])
    degree, degré = dice.pick((("", ""), ("", ""), ("very", "très"), ("too", "trop"), ("often", "souvent")))
    tense = dice.pick(("present", "present", "past", "future"))
    negation = dice.pick(NEGATIONS) if dice.chance(0.2) and not degree else ""

    def french(who: Reading) -> Variants:
        words = french_be(who, tense, negation)
        return [[*who.words, *words, *([(degré, 87)] if degré else []), predicate(who, adjective)]]

    english = [
        *subject.english,
        *english_be_words(subject, tense, negation, dice.chance(0.5)),
        *([(degree, 87)] if degree else []),
        (adjective.name, PREDICATE),
    ]
    combinations = [(noun.name, adjective.name)] if subject.noun else []
    return Draft(english, [subject], french, ["negation"] if negation else ["agreement"], combinations)
