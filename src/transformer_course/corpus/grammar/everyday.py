"""What people say of every day: she likes chocolate, he works in a hospital, they are eating, 3 brothers."""

from transformer_course.corpus.grammar.clauses import (
    VERB,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.conditionals import LASTING, NOTHING, RUNNING
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import NOUNS, VERBS, Noun, nouns_of
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.morphology import english_ing
from transformer_course.corpus.grammar.names import somebody
from transformer_course.corpus.grammar.parts import (
    keyed,
    object_of,
    subject_of,
    tense_labels,
    time_words,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.times import in_digits

LINK, PURPOSE = 95, 180
LIKING = tuple(v for v in VERBS if v.name in ("like", "love", "hate", "adore") and v.object)
LIKED = nouns_of("food drink fruit animal flower music")
BUSY = tuple(
    VERB_NAMED[name] for name in ("work", "work", "work", "wait", "sleep", "sing", "dance")
)
INDOORS = nouns_of("building room shop")
HAVE = VERB_NAMED["have"]
COUNTED = nouns_of("dog cat horse rabbit book car bicycle house ticket suitcase apple bag shoe")
SIBLINGS = nouns_of("brother sister son daughter cousin uncle aunt friend")
GO = VERB_NAMED["go"]
_SHOPS = ["shop", "market", "supermarket", "bakery", "bookshop", "village", "station"]
SHOPS = tuple(noun for noun in NOUNS if noun.name in _SHOPS)
ERRANDS = tuple(v for v in LASTING if v.name in ("buy", "look for", "eat", "drink", "sell", "see"))


def likes(dice: Dice) -> Draft:
    """Anna likes chocolate: Anna aime le chocolat; he hates spiders: il déteste les araignées."""
    subject, name = somebody(dice, 0.7)
    verb = dice.pick(LIKING)
    noun = dice.companion(LIKED, verb.name)
    thing = in_general(dice, noun)
    tense = "future" if dice.chance(0.1) else "present"
    negation = dice.pick(("not", "no longer")) if dice.chance(0.3) else ""

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, tense, negation=negation), *what.words]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.6))
    english = [*subject.english, *verb_words, *thing.english]
    combinations = [(verb.name, noun.name), (name, noun.name)]
    return Draft(english, [subject, thing], french, ["in general"], combinations)


def in_general(dice: Dice, noun: Noun) -> Phrase:
    """All that a noun names: "chocolate", "spiders"; French says le chocolat, les araignées."""
    plural = not noun.mass
    phrase = noun_phrase(dice, noun, 2, plural=plural, determiner="the", adjectives=0.1)
    return phrase._replace(english=phrase.english[1:])


def works_in(dice: Dice) -> Draft:
    """My father works in a hospital: mon père travaille dans un hôpital."""
    verb = dice.pick(BUSY)
    subject, name = somebody(dice, 0.8)
    noun = dice.companion(INDOORS, verb.name)
    place = noun_phrase(
        dice, noun, 2, plural=False, determiner=dice.pick(("a", "a", "the", "my")), adjectives=0.15
    )
    tense = dice.pick(("present", "present", "past", "future"))
    negation = "not" if dice.chance(0.15) else ""
    when, quand = time_words(dice, tense) if not negation else ([], [])

    def french(who: Reading, where: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense, negation=negation)
        return [[*who.words, *verb_words, ("dans", 86), *where.words, *quand]]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.6))
    english = [*subject.english, *verb_words, ("in", 86), *place.english, *when]
    combinations = [(verb.name, noun.name), (name, noun.name)]
    return Draft(english, [subject, place], french, tense_labels(verb, tense), combinations)


def has_both(dice: Dice) -> Draft:
    """She has 3 brothers and 2 sisters: elle a 3 frères et 2 sœurs; one book and four apples."""
    nouns = SIBLINGS if dice.chance(0.6) else COUNTED
    first, second = dice.pick(nouns), dice.pick(nouns)
    while first is second:
        second = dice.pick(nouns)
    subject, name = somebody(dice, 0.8)
    in_figures = dice.chance(0.6)
    things = [counted(dice, noun, role, in_figures) for role, noun in ((2, first), (3, second))]

    def french(who: Reading, this: Reading, that: Reading) -> Variants:
        has = french_verb(who, HAVE, "present")
        return [[*who.words, *has, *this.words, ("et", LINK), *that.words]]

    has = english_verb(subject, HAVE, "present")
    english = [*subject.english, *has, *things[0].english, ("and", LINK), *things[1].english]
    labels = ["coordination", *(["digits"] if in_figures else [])]
    combinations = [(first.name, second.name), (name, first.name)]
    return Draft(english, [subject, *things], french, labels, combinations)


def counted(dice: Dice, noun: Noun, role: int, in_figures: bool) -> Phrase:
    """Some of a thing: "3 brothers" or "three brothers"; of one there is only "a brother"."""
    number = 1 + int(dice.random() * 6)
    if number == 1:
        return noun_phrase(dice, noun, role, plural=False, determiner="a", adjectives=0)
    phrase = noun_phrase(dice, noun, role, plural=True, determiner=str(number), adjectives=0)
    return in_digits(phrase, number) if in_figures else phrase


def is_doing(dice: Dice) -> Draft:
    """The dog is eating the apple: le chien mange la pomme, or: est en train de manger la pomme."""
    verb = dice.pick(LASTING if dice.chance(0.6) else RUNNING)
    subject = subject_of(dice, verb)
    thing = object_of(dice, verb) if verb.object else NOTHING
    negation = "not" if dice.chance(0.2) else ""
    now: list[Word] = [("now", 88)] if dice.chance(0.1) else []
    quand: list[Word] = [("maintenant", 88)] if now else []

    def french(who: Reading, what: Reading) -> Variants:
        whom = what.negated if negation else what.words
        simple = [*who.words, *french_verb(who, verb, "present", negation=negation), *whom, *quand]
        if verb.complement or negation:
            return [simple]
        doing = [*keyed("en train de", VERB), (verb.infinitive, VERB)]
        return [simple, [*who.words, *french_be(who, "present"), *doing, *whom, *quand]]

    words = english_be_words(subject, "present", negation, dice.chance(0.4))
    words = [*words, (english_ing(verb.base), VERB)]
    words += [(verb.particle, VERB)] if verb.particle else []
    combinations = verb_and_object(verb, thing) if verb.object else [("is doing", verb.name)]
    if subject.noun:
        combinations.append((subject.noun.name, verb.name))
    english = [*subject.english, *words, *thing.english, *now]
    return Draft(english, [subject, thing], french, ["progressive"], combinations, trained=1)


def goes_to_do(dice: Dice) -> Draft:
    """Emma went to the market to buy apples: Emma est allée au marché pour acheter des pommes."""
    verb = dice.pick(ERRANDS)
    subject, name = somebody(dice, 0.7)
    place = noun_phrase(dice, dice.pick(SHOPS), 2, plural=False, determiner="the", adjectives=0.1)
    thing = object_of(dice, verb, role=3)
    tense = dice.pick(("present", "past", "past", "future"))

    def french(who: Reading, where: Reading, what: Reading) -> Variants:
        goes = [*french_verb(who, GO, tense), ("à+", 86), *where.words]
        return [[*who.words, *goes, ("pour", PURPOSE), (verb.infinitive, PURPOSE), *what.words]]

    errand = [("to", PURPOSE), (verb.base, PURPOSE)]
    errand += [(verb.particle, PURPOSE)] if verb.particle else []
    goes = [*english_verb(subject, GO, tense), ("to", 86), *place.english]
    assert place.noun is not None
    combinations = [*verb_and_object(verb, thing), (name, place.noun.name)]
    labels = ["infinitive", *tense_labels(GO, tense)]
    english = [*subject.english, *goes, *errand, *thing.english]
    return Draft(english, [subject, place, thing], french, labels, combinations)
