"""Sentences of two clauses: coordination, because/when/if, relative clauses, reported speech."""

from collections.abc import Callable
from dataclasses import dataclass

from transformer_course.corpus.grammar.clauses import (
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.idioms import IDIOMS, english_idiom, french_idiom
from transformer_course.corpus.grammar.lexicon import (
    ADJECTIVE,
    DESCRIBING,
    OBJECTS,
    SUBJECTS,
    VERBS,
    Noun,
    Verb,
    nouns_of,
)
from transformer_course.corpus.grammar.phrases import Dice, Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.sentences import (
    DIRECT,
    INTRANSITIVE,
    NEGATIONS,
    PEOPLE,
    PERSONAL,
    agent,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.spelling import Word

LINK = 95
ANIMATE = nouns_of("person animal")
AVOIR_DE = tuple(verb for verb in VERBS if "de" in verb.frame and verb.name != "play" and verb.object)
REPORTING = tuple(verb for verb in VERBS if "that" in verb.frame)
TAME = tuple(verb for verb in DIRECT if not verb.frame & {"generic"})
STATES = tuple(
    ADJECTIVE[name]
    for name in "tired sad happy ill nervous anxious frightened jealous injured patient "
    "proud curious shy brave weak strong".split()
)
SIMPLE = tuple(
    verb for verb in INTRANSITIVE if verb.subject & {"animate", "person"} and verb.name != "die"
)
INNER_IDIOMS = tuple(idiom for idiom in IDIOMS if idiom[0] not in ("cold", "hot"))


@dataclass(slots=True)
class Saying:
    """What can be said of a subject: the words after it in both languages."""

    english: Callable[[Phrase], list[Word]]
    french: Callable[[Reading], list[Word]]
    combinations: list[tuple[str, str]]


def saying(
    dice: Dice, noun: Noun | None, tense: str, shift: int = 0, *, state: bool = False
) -> Saying:
    """Something to say of a noun (of a person if None): a verb, an adjective, or "is hungry".

    Args:
        state: of adjectives, only those for what changes (tired), not for what stays (big).
    """
    kind = dice.random()
    animate = noun is None or bool(noun.classes & {"person", "animal"})
    if animate and kind < 0.4:
        verb = dice.pick(SIMPLE)
        while noun is not None and noun not in SUBJECTS[verb]:
            verb = dice.pick(SIMPLE)
        return Saying(
            lambda subject: shifted(english_verb(subject, verb, tense), shift),
            lambda who: shifted(french_verb(who, verb, tense), shift),
            [(noun.name, verb.name)] if noun else [],
        )
    if animate and kind < 0.6:
        # "because it was cold" of an animal could be the weather
        idiom = dice.pick(IDIOMS if noun is None or "person" in noun.classes else INNER_IDIOMS)
        return Saying(
            lambda subject: shifted(english_idiom(subject, idiom, tense, "", False), shift),
            lambda who: shifted(french_idiom(who, idiom, tense, ""), shift),
            [(noun.name, idiom[0])] if noun else [],
        )
    adjectives = DESCRIBING[noun or dice.pick(PEOPLE)]
    adjective = dice.pick(STATES if state and animate else adjectives)
    return Saying(
        lambda subject: [
            *shifted(english_be_words(subject, tense, "", False), shift),
            (adjective.name, 84 + shift),
        ],
        lambda who: [
            *shifted(french_be(who, tense), shift),
            (adjective.french[who.gender][who.plural], 84 + shift),
        ],
        [(noun.name, adjective.name)] if noun else [],
    )


def shifted(words: list[Word], shift: int) -> list[Word]:
    """The same words with other keys, for a second clause."""
    return [(word, key + shift if key >= 80 else key) for word, key in words] if shift else words


def pronoun_for(phrase: Phrase, role: int) -> Phrase:
    """The pronoun that takes up a phrase: he, she, it or they; a pronoun stays what it is."""
    key = 10 * role + 4
    if phrase.noun is None:
        english = phrase.english[0][0]
    elif not phrase.third:
        english = "they"
    elif "person" in phrase.noun.classes:
        english = "he" if phrase.noun.gender == "m" else "she"
    else:
        english = "it"
    return Phrase([(english, key)], tuple(french_pronoun(r, key) for r in phrase.readings), phrase.third)


def french_pronoun(who: Reading, key: int) -> Reading:
    """il, elle, ils or elles for a noun; a pronoun stays what it is."""
    if who.person in (0, 1, 3, 4):
        words = [(who.words[0][0], key)]
    else:
        words = [(("elle" if who.gender == "f" else "il") + ("s" if who.plural else ""), key)]
    return Reading(words, who.person, who.gender, who.plural, words, who.register)


def someone(dice: Dice) -> Phrase:
    """A person, an animal or a pronoun."""
    if dice.chance(0.35):
        return pronoun(dice.pick(PERSONAL), 1)
    return agent(dice, dice.pick(ANIMATE))


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
        english = [*linked_first(word, subject, english_clause), (",", 0), *again.english, *main.english(subject)]
        french = forward(mots, clause, main)
    phrases = [subject] if same else [subject, again]
    combinations = main.combinations + clause.combinations
    return Draft(english, phrases, french, [f"{word}-clause"], combinations)


def english_in(clause: Saying, subject: Phrase, english_tense: str, french_tense: str) -> list[Word]:
    """The English clause: after when and if it stays in the present where French has the future."""
    words = clause.english(subject)
    if english_tense == french_tense:
        return words
    return present_of_future(words, subject)


def present_of_future(words: list[Word], subject: Phrase) -> list[Word]:
    """will sleep → sleeps; will be → is."""
    from transformer_course.corpus.grammar.clauses import english_be
    from transformer_course.corpus.grammar.lexicon import VERBS as ALL

    base = words[1][0]
    if base == "be":
        return [(english_be(subject, "present"), words[1][1]), *words[2:]]
    third = next(verb.third for verb in ALL if verb.base == base)
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


def somebody_else(dice: Dice, first: Phrase, role: int) -> Phrase:
    """Somebody who cannot be taken for the first: no "they" after "the girls"."""
    taken = {first.english[0][0]} if first.noun is None else {"he", "she", "they"}
    if dice.chance(0.5):
        return pronoun(dice.pick([word for word in PERSONAL if word not in taken]), role)
    return agent(dice, dice.pick(ANIMATE), role)


def other_subject(dice: Dice, verb: Verb, first: Phrase, pronouns: float = 0.5) -> Phrase:
    """Somebody else who can do what the verb says."""
    while True:
        subject = subject_of(dice, verb, role=6, pronouns=pronouns)
        if subject.noun is not None or subject.english[0][0] in ("i", "you", "we"):
            if subject.english[0][0] != first.english[0][0] or subject.noun is not None:
                return subject


def coordinated_subjects(dice: Dice) -> Draft:
    """The boy and the girl are tired: masculine plural."""
    first, second = dice.pick(ANIMATE), dice.pick(ANIMATE)
    while second is first:
        second = dice.pick(ANIMATE)
    with_me = "person" in first.classes and dice.chance(0.15)
    tense = dice.pick(("present", "past", "future"))
    one = agent(dice, first, 1, adjectives=0.1)
    two = Phrase([("i", 64)], (me("m"), me("f")), False, common=2) if with_me else agent(dice, second, 6, adjectives=0)
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
    while subject.noun is not None and subject.noun not in SUBJECTS[verb]:
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


def who_relative(dice: Dice) -> Draft:
    """The cat that eats the fish is young: le chat qui mange le poisson."""
    verb = dice.pick(TAME)
    tense = tense_for(dice, verb)
    noun = dice.pick(SUBJECTS[verb])
    head, thing = agent(dice, noun, adjectives=0), object_of(dice, verb)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)
    negation = dice.pick(NEGATIONS[:3]) if dice.chance(0.15) else ""

    def french(who: Reading, what: Reading) -> Variants:
        inner = french_verb(who, verb, tense, negation=negation)
        words = what.negated if negation else what.words
        return [[*who.words, ("qui", LINK), *inner, *words, *said.french(who)]]

    that = "who" if "person" in noun.classes else "that"
    inner = english_verb(head, verb, tense, negation)
    english = [*head.english, (that, LINK), *inner, *thing.english, *said.english(head)]
    combinations = verb_and_object(verb, thing) + said.combinations
    return Draft(english, [head, thing], french, ["relative qui"], combinations)


def that_relative(dice: Dice) -> Draft:
    """The apple that the boy ate was red: la pomme que le garçon a mangée."""
    verb = dice.pick(TAME)
    tense = tense_for(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    head = agent(dice, noun, adjectives=0)
    subject = subject_of(dice, verb, role=6)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)

    def french(what: Reading, who: Reading) -> Variants:
        inner = french_verb(who, verb, tense, agreement=what)
        return [[*what.words, ("que", LINK), *who.words, *inner, *said.french(what)]]

    that: list[Word] = [("that", LINK)] if dice.chance(0.7) else []
    inner = [*that, *subject.english, *english_verb(subject, verb, tense)]
    english = [*head.english, *inner, *said.english(head)]
    labels = ["relative que", *(["participle agreement"] if tense == "past" else [])]
    combinations = [(verb.name, noun.name), *said.combinations]
    return Draft(english, [head, subject], french, labels, combinations)


def seen_relative(dice: Dice) -> Draft:
    """I know the girl who sings: the relative clause at the end."""
    verb, inner = dice.pick(TAME), dice.pick(TAME)
    tense, inner_tense = tense_for(dice, verb), tense_for(dice, inner)
    noun = dice.pick(OBJECTS[verb])
    while noun not in OBJECTS[inner] or inner is verb:
        inner = dice.pick(TAME)
        inner_tense = tense_for(dice, inner)
        verb = dice.pick(TAME)
        tense = tense_for(dice, verb)
        noun = dice.pick(OBJECTS[verb])
    subject = subject_of(dice, verb)
    other = other_subject(dice, inner, subject)
    thing = noun_phrase(dice, noun, 2, determiner=dice.pick(("the", "the", "a")), adjectives=0.2)

    def french(who: Reading, what: Reading, whose: Reading) -> Variants:
        words = shifted(french_verb(whose, inner, inner_tense, agreement=what), 100)
        start = [*who.words, *french_verb(who, verb, tense), *what.words]
        return [[*start, ("que", LINK), *whose.words, *words]]

    start = [*subject.english, *english_verb(subject, verb, tense), *thing.english]
    end = [*other.english, *shifted(english_verb(other, inner, inner_tense), 100)]
    labels = ["relative que", *(["participle agreement"] if inner_tense == "past" else [])]
    combinations = [(verb.name, noun.name), (inner.name, noun.name)]
    english = [*start, ("that", LINK), *end]
    return Draft(english, [subject, thing, other], french, labels, combinations)


def dont_relative(dice: Dice) -> Draft:
    """The book that the girl talks about is old; the boy whose dog sleeps is tired."""
    if dice.chance(0.4):
        return whose_relative(dice)
    verb = dice.pick(AVOIR_DE)
    tense = tense_for(dice, verb)
    noun = dice.pick(OBJECTS[verb])
    head = agent(dice, noun, adjectives=0.1)
    subject = subject_of(dice, verb, role=6)
    said = saying(dice, noun, dice.pick(("present", "past")), 100)

    def french(what: Reading, who: Reading) -> Variants:
        inner = [("dont", LINK), *who.words, *french_verb(who, verb, tense)]
        return [[*what.words, *inner, *said.french(what)]]

    that: list[Word] = [("that", LINK)] if dice.chance(0.7) else []
    inner = [*that, *subject.english, *english_verb(subject, verb, tense)]
    english = [*head.english, *inner, *said.english(head)]
    combinations = [(verb.name, noun.name), *said.combinations]
    return Draft(english, [head, subject], french, ["relative dont"], combinations)


OWNED = nouns_of("animal family vehicle house garden shop")


def whose_relative(dice: Dice) -> Draft:
    """The boy whose dog sleeps is tired: le garçon dont le chien dort est fatigué."""
    owner, owned = dice.pick(PEOPLE), dice.pick(OWNED)
    while owned is owner:
        owned = dice.pick(OWNED)
    head = agent(dice, owner, adjectives=0.1)
    plural = dice.chance(0.3)
    thing = noun_phrase(dice, owned, 6, plural=plural, determiner="the", adjectives=0)
    inner = saying(dice, owned, "present")
    said = saying(dice, owner, dice.pick(("present", "past")), 100)

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, ("dont", LINK), *what.words, *inner.french(what), *said.french(who)]]

    whose = [("whose", LINK), *thing.english[1:], *inner.english(thing)]
    english = [*head.english, *whose, *said.english(head)]
    combinations = [(owner.name, owned.name), *inner.combinations, *said.combinations]
    return Draft(english, [head, thing], french, ["relative dont"], combinations)


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
