"""Questions: do-support in English; est-ce que and inversion in French."""

from transformer_course.corpus.grammar.clauses import (
    PREDICATE,
    VERB,
    english_be,
    french_be,
    french_verb,
    inverted_pronoun,
    predicate,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import DESCRIBING, Noun, Verb
from transformer_course.corpus.grammar.parts import (
    DESCRIBED,
    DIRECT,
    INTRANSITIVE,
    PEOPLE,
    PERSONAL,
    PLACES,
    SUBJECT_DETERMINERS,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

ASK, WH = 83, 97
EST_CE_QUE: list[Word] = [("est-ce", ASK), ("que", ASK)]


def do_question(subject: Phrase, verb: Verb, tense: str) -> list[Word]:
    """did the cat sleep: auxiliary, subject, verb."""
    auxiliary = {"past": "did", "future": "will"}.get(tense, "does" if subject.third else "do")
    words = [(auxiliary, ASK), *subject.english, (verb.base, VERB)]
    return [*words, (verb.particle, VERB)] if verb.particle else words


def asked(who: Reading, verb: Verb, tense: str, agreement: Reading | None = None) -> Variants:
    """Subject and verb with est-ce que, then inverted: dort-il, le chat dort-il."""
    plain = [*EST_CE_QUE, *who.words, *french_verb(who, verb, tense, agreement=agreement)]
    if who.person == 0:
        return [plain]  # mange-je is not said
    turned = french_verb(who, verb, tense, agreement=agreement, inverted=inverted_pronoun(who))
    return [plain, turned if is_pronoun(who) else [*who.words, *turned]]


def is_pronoun(who: Reading) -> bool:
    """Whether a subject is a pronoun."""
    return len(who.words) == 1 and who.words[0][0] in [
        "je",
        "tu",
        "il",
        "elle",
        "nous",
        "vous",
        "ils",
        "elles",
    ]


def yes_or_no(dice: Dice) -> Draft:
    """Does the boy eat the apple?"""
    verb = dice.pick(DIRECT if dice.chance(0.7) else INTRANSITIVE)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb)
    thing = object_of(dice, verb) if verb.object else Phrase([], (NOTHING,), True)

    def french(who: Reading, what: Reading) -> Variants:
        return [[*words, *what.words] for words in asked(who, verb, tense)]

    english = [*do_question(subject, verb, tense), *thing.english]
    combinations = verb_and_object(verb, thing) if verb.object else subject_and_verb(subject, verb)
    return Draft(english, [subject, thing], french, ["yes-no question"], combinations, mark="?")


NOTHING = Reading([], 2, "m", False, [])


def subject_and_verb(subject: Phrase, verb: Verb) -> list[Combination]:
    """The combination that a noun and its verb are."""
    return [(subject.noun.name, verb.name)] if subject.noun else []


def be_question(dice: Dice) -> Draft:
    """Is the cat tired?"""
    noun, subject = described_subject(dice)
    adjective = dice.pick(DESCRIBING[noun])
    tense = dice.pick(("present", "present", "past"))

    def french(who: Reading) -> Variants:
        plain = [*EST_CE_QUE, *who.words, *french_be(who, tense), predicate(who, adjective)]
        if who.person == 0:
            return [plain]
        turned = [*french_be(who, tense, inverted=inverted_pronoun(who)), predicate(who, adjective)]
        before = [] if is_pronoun(who) else who.words
        return [plain, [*before, *turned]]

    english = [(english_be(subject, tense), VERB), *subject.english, (adjective.name, PREDICATE)]
    combinations = [(noun.name, adjective.name)] if subject.noun else []
    return Draft(english, [subject], french, ["yes-no question"], combinations, mark="?")


def described_subject(dice: Dice) -> tuple[Noun, Phrase]:
    """A noun or a pronoun that an adjective can be said of."""
    if dice.chance(0.3):
        return dice.pick(PEOPLE), pronoun(dice.pick(PERSONAL), 1)
    noun = dice.pick(DESCRIBED)
    determiner = dice.pick(SUBJECT_DETERMINERS)
    return noun, noun_phrase(dice, noun, 1, determiner=determiner, adjectives=0.1)


def where(dice: Dice) -> Draft:
    """Where is the cat? Where does the cat sleep?"""
    if dice.chance(0.5):
        return where_is(dice)
    verb = dice.pick(INTRANSITIVE)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb)

    def french(who: Reading) -> Variants:
        variants = [[("où", WH), *words] for words in asked(who, verb, tense)]
        if not is_pronoun(who):  # où dort le chat ?
            words = french_verb(who, verb, tense)
            variants.append([("où", WH), *words, *who.words])
        return variants

    english = [("where", WH), *do_question(subject, verb, tense)]
    combinations = subject_and_verb(subject, verb)
    return Draft(english, [subject], french, ["wh-question"], combinations, 2, mark="?")


def where_is(dice: Dice) -> Draft:
    """Where are the keys? où sont les clés ?"""
    if dice.chance(0.2):
        subject = pronoun(dice.pick(PERSONAL), 1)
    else:
        nouns = dice.pick(PLACES)[3]
        subject = noun_phrase(
            dice, dice.pick(nouns), 1, determiner=dice.pick(("the", "my", "the", "her", "your"))
        )
    tense = dice.pick(("present", "present", "past"))

    def french(who: Reading) -> Variants:
        inverted = [*who.words, *french_be(who, tense, inverted=inverted_pronoun(who))]
        if is_pronoun(who):
            return [[("où", WH), *inverted[1:]]]
        return [
            [("où", WH), *french_be(who, tense), *who.words],
            [("où", WH), *inverted],
        ]

    english = [("where", WH), (english_be(subject, tense), VERB), *subject.english]
    return Draft(english, [subject], french, ["wh-question"], [], 1, mark="?")


def when_or_why(dice: Dice) -> Draft:
    """Why did the girl close the door?"""
    word, mot = dice.pick(
        (("why", "pourquoi"), ("why", "pourquoi"), ("when", "quand"), ("how", "comment"))
    )
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)

    def french(who: Reading, what: Reading) -> Variants:
        return [[(mot, WH), *words, *what.words] for words in asked(who, verb, tense)]

    english = [(word, WH), *do_question(subject, verb, tense), *thing.english]
    return Draft(
        english, [subject, thing], french, ["wh-question"], verb_and_object(verb, thing), mark="?"
    )


def who_does(dice: Dice) -> Draft:
    """Who broke the glass?"""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    thing = object_of(dice, verb)
    someone = Phrase([("who", WH)], (Reading([("qui", WH)], 2, "m", False, []),), True)

    def french(who: Reading, what: Reading) -> Variants:
        rest = [*french_verb(who, verb, tense), *what.words]
        return [[*who.words, *rest], [*who.words, ("est-ce", 0), ("qui", WH), *rest]]

    form = (
        [("will", VERB), (verb.base, VERB)]
        if tense == "future"
        else [(verb.past if tense == "past" else verb.third, VERB)]
    )
    particle = [(verb.particle, VERB)] if verb.particle else []
    english = [("who", WH), *form, *particle, *thing.english]
    combinations = verb_and_object(verb, thing)
    return Draft(english, [someone, thing], french, ["wh-question"], combinations, 1, mark="?")


def what_or_whom(dice: Dice) -> Draft:
    """What does the cat eat? Who did you see?"""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb, pronouns=0.5)
    personal = verb.object <= {"person", "animate", "animal"}

    def french(who: Reading) -> Variants:
        question = asked(who, verb, tense)
        if personal:
            return [[("qui", WH), *words] for words in question]
        variants = [[("que", WH), *question[0]]]
        if is_pronoun(who):
            variants += [[("que", WH), *words] for words in question[1:]]
        else:  # qu'achète le garçon ? qu'ont vu les marins ?
            variants.append([("que", WH), *french_verb(who, verb, tense), *who.words])
        return variants

    english = [("who" if personal else "what", WH), *do_question(subject, verb, tense)]
    combinations = subject_and_verb(subject, verb)
    return Draft(english, [subject], french, ["wh-question"], combinations, mark="?")


def which_or_how_many(dice: Dice) -> Draft:
    """Which apples did you eat? quelles pommes as-tu mangées ?"""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject, thing = subject_of(dice, verb, pronouns=0.6), object_of(dice, verb)
    noun = thing.noun
    assert noun is not None
    many = not noun.mass and dice.chance(0.4)
    thing = noun_phrase(dice, noun, 2, plural=many or None, determiner="which", adjectives=0.15)
    core = thing.readings[0]
    start: list[Word] = [("how", 21), ("many", 21)] if many else thing.english[:1]

    def french(who: Reading) -> Variants:
        asking: list[Word] = [("combien", 21), ("de", 21)] if many else core.words[:1]
        return [[*asking, *core.words[1:], *words] for words in asked(who, verb, tense, core)]

    english = [*start, *thing.english[1:], *do_question(subject, verb, tense)]
    labels = ["wh-question", *thing.phenomena]
    if tense == "past":
        labels.append("participle agreement")
    combinations = [*verb_and_object(verb, thing), *thing.combinations]
    return Draft(english, [subject], french, labels, combinations, mark="?")
