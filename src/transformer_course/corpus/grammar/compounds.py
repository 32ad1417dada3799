"""Sentences of two clauses: coordination, because/when/if, relative clauses, reported speech."""

from collections.abc import Callable

from transformer_course.corpus.grammar.clauses import (
    english_be,
    english_verb,
    french_verb,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    ABLE,
    OBJECTS,
    VERBS,
)
from transformer_course.corpus.grammar.parts import (
    DIRECT,
    agent,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.sayings import (
    ANIMATE,
    LINK,
    SIMPLE,
    Saying,
    french_pronoun,
    pronoun_for,
    saying,
    somebody_else,
    someone,
)
from transformer_course.corpus.grammar.spelling import Word

REPORTING = tuple(verb for verb in VERBS if "that" in verb.frame)


TAME = tuple(verb for verb in DIRECT if not verb.frame & {"generic"})


REASONS = (("because", ("parce", "que")), ("when", ("quand",)), ("if", ("si",)))


def subordinate(dice: Dice) -> Draft:
    """The girls eat because they are hungry; if he comes, I will sing."""
    word, mots = dice.pick(REASONS)
    subject = someone(dice)
    first_tense, second_tense, english_second = {
        "because": dice.pick((("present",) * 3, ("past",) * 3)),
        "when": dice.pick((("present",) * 3, ("future", "future", "present"))),
        "if": ("future", "present", "present"),
    }[word]
    same = dice.chance(0.75)
    other = subject if same else someone(dice)
    again = pronoun_for(other, 6) if same else somebody_else(dice, subject, 6)
    main = saying(dice, subject.noun, first_tense, state=True)
    whom = subject.noun if same else again.noun
    clause = saying(dice, whom, second_tense, 100, state=True)
    while same and clause.english(again)[-1][0] == main.english(again)[-1][0]:
        clause = saying(dice, whom, second_tense, 100, state=True)
    english_clause = english_in(clause, again, english_second, second_tense)
    begins = dice.chance(0.3)

    def french(who: Reading, *others: Reading) -> Variants:
        it = french_pronoun(who, 64) if same else others[0]
        linked: list[Word] = [*((mot, LINK) for mot in mots), *it.words, *clause.french(it)]
        statement = [*who.words, *main.french(who)]
        return [[*linked, (",", 0), *statement] if begins else [*statement, *linked]]

    linked = [(word, LINK), *again.english, *english_clause]
    statement = [*subject.english, *main.english(subject)]
    english = [*linked, (",", 0), *statement] if begins else [*statement, *linked]
    if begins and same and subject.noun is not None:  # "when she came, the girl": name her first
        english = [
            *linked_first(word, subject, english_clause),
            (",", 0),
            *again.english,
            *main.english(subject),
        ]
        french = forward(mots, clause, main)
    phrases = [subject] if same else [subject, again]
    combinations = main.combinations + clause.combinations
    return Draft(english, phrases, french, [f"clause with {word}"], combinations)


def english_in(
    clause: Saying, subject: Phrase, english_tense: str, french_tense: str
) -> list[Word]:
    """The English clause: after when and if it stays in the present where French has the future."""
    words = clause.english(subject)
    if english_tense == french_tense:
        return words
    return present_of_future(words, subject)


def present_of_future(words: list[Word], subject: Phrase) -> list[Word]:
    """will sleep → sleeps; will be → is."""
    base = words[1][0]
    if base == "be":
        return [(english_be(subject, "present"), words[1][1]), *words[2:]]
    third = next(verb.third for verb in VERBS if verb.base == base)
    return [(third if subject.third else base, words[1][1]), *words[2:]]


def linked_first(word: str, subject: Phrase, clause: list[Word]) -> list[Word]:
    """The subordinate clause with the full name of the subject."""
    return [(word, LINK), *subject.english, *clause]


def forward(mots: tuple[str, ...], clause: Saying, main: Saying) -> Callable[..., Variants]:
    """The French for a sentence that begins with its subordinate clause: quand la fille …, elle …"""

    def french(who: Reading) -> Variants:
        it = french_pronoun(who, 64)
        linked: list[Word] = [*((mot, LINK) for mot in mots), *who.words, *clause.french(who)]
        return [[*linked, (",", 0), *it.words, *main.french(it)]]

    return french


def coordinated_subjects(dice: Dice) -> Draft:
    """The boy and the girl are tired: masculine plural."""
    first, second = dice.pick(ANIMATE), dice.pick(ANIMATE)
    while second is first:
        second = dice.pick(ANIMATE)
    with_me = "person" in first.classes and dice.chance(0.15)
    tense = dice.pick(("present", "past", "future"))
    one = agent(dice, first, 1, adjectives=0.1)
    two = (
        Phrase([("i", 64)], (me("m"), me("f")), False, common=2)
        if with_me
        else agent(dice, second, 6, adjectives=0)
    )
    said = saying(dice, first, tense)

    def french(left: Reading, right: Reading) -> Variants:
        gender = "f" if left.gender == right.gender == "f" else "m"
        both = Reading([], 3 if with_me else 5, gender, True, [])
        return [[*left.words, ("et", LINK), *right.words, *said.french(both)]]

    together = Phrase([("they", 14)], (), False)
    english = [*one.english, ("and", LINK), *two.english, *said.english(together)]
    combinations = [*said.combinations, (first.name, second.name)]
    return Draft(english, [one, two], french, ["coordination"], combinations)


def me(gender: str) -> Reading:
    """moi, as in "mon frère et moi"."""
    words = [("moi", 64)]
    return Reading(words, 0, gender, False, words)


def coordinated_objects(dice: Dice) -> Draft:
    """She buys a hat and two pears; he drinks neither … (ni) is left out."""
    verb = dice.pick(TAME)
    tense = tense_for(dice, verb)
    subject, thing, more = subject_of(dice, verb), object_of(dice, verb), object_of(dice, verb, 6)
    while more.noun is thing.noun:
        thing, more = object_of(dice, verb), object_of(dice, verb, 6)
        if len(OBJECTS[verb]) == 1:
            return coordinated_objects(dice)
    join, joint = dice.pick((("and", "et"), ("and", "et"), ("or", "ou")))

    def french(who: Reading, what: Reading, other: Reading) -> Variants:
        words = french_verb(who, verb, tense)
        return [[*who.words, *words, *what.words, (joint, LINK), *other.words]]

    verb_words = english_verb(subject, verb, tense)
    english = [*subject.english, *verb_words, *thing.english, (join, LINK), *more.english]
    combinations = verb_and_object(verb, thing) + verb_and_object(verb, more)
    return Draft(english, [subject, thing, more], french, ["coordination"], combinations)


def coordinated_verbs(dice: Dice) -> Draft:
    """The dog drinks the water and sleeps; but: mais."""
    subject = someone(dice)
    tense = dice.pick(("present", "past", "future"))
    verb = dice.pick(SIMPLE)
    while subject.noun is not None and subject.noun not in ABLE[verb]:
        verb = dice.pick(SIMPLE)
    said = saying(dice, subject.noun, tense, 100)
    while said.combinations and said.combinations[0][1] == verb.name:
        said = saying(dice, subject.noun, tense, 100)
    join, joint = dice.pick((("and", "et"), ("but", "mais")))

    def french(who: Reading) -> Variants:
        first = french_verb(who, verb, tense)
        return [[*who.words, *first, (joint, LINK), *said.french(who)]]

    second = said.english(subject)
    if tense == "future":
        second = second[1:]  # will sing and dance
    english = [*subject.english, *english_verb(subject, verb, tense), (join, LINK), *second]
    combinations = said.combinations + ([(subject.noun.name, verb.name)] if subject.noun else [])
    return Draft(english, [subject], french, ["coordination"], combinations)


def reported(dice: Dice) -> Draft:
    """The girl says that she is tired: la fille dit qu'elle est fatiguée."""
    verb = dice.pick(REPORTING)
    subject = subject_of(dice, verb)
    same = dice.chance(0.4)
    again = pronoun_for(subject, 6) if same else somebody_else(dice, subject, 6)
    tense = dice.pick(("present", "past", "future"))
    said = saying(dice, subject.noun if same else again.noun, tense, 100)

    def french(who: Reading, *others: Reading) -> Variants:
        it = french_pronoun(who, 64) if same else others[0]
        words = french_verb(who, verb, "present")
        return [[*who.words, *words, ("que", LINK), *it.words, *said.french(it)]]

    that: list[Word] = [("that", LINK)] if dice.chance(0.7) else []
    start = [*subject.english, *english_verb(subject, verb, "present"), *that]
    english = [*start, *again.english, *said.english(again)]
    phrases = [subject] if same else [subject, again]
    combinations = said.combinations
    return Draft(english, phrases, french, ["reported speech"], combinations)
