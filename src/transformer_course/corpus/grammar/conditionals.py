"""What would be, what was going on: she would eat it, if he had a car, they were singing."""

from transformer_course.corpus.grammar.clauses import (
    NEGATION,
    VERB,
    english_be,
    french_verb,
    negated_auxiliary,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.lexicon import VERBS, Verb, nouns_of
from transformer_course.corpus.grammar.morphology import english_ing
from transformer_course.corpus.grammar.parts import (
    DIRECT,
    INTRANSITIVE,
    PEOPLE,
    PERSONAL,
    agent,
    object_of,
    subject_of,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase, pronoun
from transformer_course.corpus.grammar.sayings import french_pronoun, pronoun_for
from transformer_course.corpus.grammar.spelling import Word

# What doesn't last has no "was doing".
MOMENTS = (
    "see hear find understand forget lose receive taste smell break catch meet marry discover surprise "
    "recognize notice miss win accept die begin disappear want have know steal"
)
ACTIONS = tuple(v for v in DIRECT if not v.frame & {"stative", "generic"})
LASTING = tuple(v for v in ACTIONS if v.name not in MOMENTS.split())
RUNNING = tuple(
    v for v in INTRANSITIVE if v.subject & {"person", "animate"} and v.name not in MOMENTS.split()
)
WISHED = nouns_of("food drink gift ticket")
WISHING = next(v for v in VERBS if v.name == "want" and v.object)
OWNED = nouns_of(
    "car boat bicycle motorcycle plane house garden dog cat horse piano computer guitar camera"
)
HAPPY = tuple(
    VERB_NAMED[name]
    for name in ("travel", "sing", "dance", "smile", "work", "stay", "leave", "come", "laugh")
)
LINK = 95


def would(dice: Dice) -> Draft:
    """The boy would eat the apple: le garçon mangerait la pomme."""
    verb = dice.pick(ACTIONS)
    subject, thing = subject_of(dice, verb), object_of(dice, verb)
    negation = "not" if dice.chance(0.25) else ""
    short = dice.chance(0.5)

    def french(who: Reading, what: Reading) -> Variants:
        words = french_verb(who, verb, "conditional", negation=negation)
        return [[*who.words, *words, *(what.negated if negation else what.words)]]

    english = [*subject.english, *english_would(verb, negation, short), *thing.english]
    labels = ["conditional", *(["negation"] if negation else [])]
    return Draft(english, [subject, thing], french, labels, verb_and_object(verb, thing))


def english_would(verb: Verb, negation: str = "", short: bool = False) -> list[Word]:
    """would eat, wouldn't eat."""
    if negation and short:
        auxiliary: list[Word] = [("wouldn't", NEGATION)]
    else:
        auxiliary = negated_auxiliary("would", negation, False)
    particle = [(verb.particle, VERB)] if verb.particle else []
    return [*auxiliary, (verb.base, VERB), *particle]


def would_like(dice: Dice) -> Draft:
    """I would like a coffee: je voudrais un café, j'aimerais un café."""
    subject = one_of_us(dice)
    noun = dice.companion(WISHED, "would like")
    thing = noun_phrase(dice, noun, 2, plural=None, determiner="a", adjectives=0.15)

    def french(who: Reading, what: Reading) -> Variants:
        return [
            [*who.words, *french_verb(who, verb, "conditional"), *what.words]
            for verb in (WISHING, VERB_NAMED["like"])
        ]

    start: list[Word] = [*subject.english, ("would", VERB)]
    if subject.noun is None and dice.chance(0.4):
        start = [(f"{subject.english[0][0]}'d", VERB)]  # I'd like
    english = [*start, ("like", VERB), *thing.english]
    combinations = [("would like", noun.name)]
    return Draft(english, [subject, thing], french, ["conditional"], combinations, trained=1)


def one_of_us(dice: Dice) -> Phrase:
    """A pronoun, or a person."""
    if dice.chance(0.7):
        return pronoun(dice.pick(PERSONAL), 1)
    return agent(dice, dice.pick(PEOPLE))


def if_i_had(dice: Dice) -> Draft:
    """If I had a car, I would travel: si j'avais une voiture, je voyagerais."""
    having, doing = VERB_NAMED["have"], dice.pick(HAPPY)
    subject = one_of_us(dice)
    again = pronoun_for(subject, 6)
    noun = dice.companion(OWNED, "if")
    thing = noun_phrase(dice, noun, 2, plural=False, determiner="a", adjectives=0.2)
    begins = dice.chance(0.5)

    def french(who: Reading, what: Reading) -> Variants:
        it = french_pronoun(who, 64)
        first, second = (who, it) if begins else (it, who)
        clause: list[Word] = [("si", LINK), *first.words]
        clause += [*french_verb(first, having, "imperfect"), *what.words]
        main = second_clause([*second.words, *french_verb(second, doing, "conditional")])
        return [[*clause, (",", 0), *main] if begins else [*main, *clause]]

    first, second = (subject, again) if begins else (again, subject)
    clause = [("if", LINK), *first.english, ("had", VERB), *thing.english]
    main = second_clause([*second.english, *english_would(doing)])
    english = [*clause, (",", 0), *main] if begins else [*main, *clause]
    labels = ["conditional", "clause with if"]
    combinations = [("if", noun.name), ("if", doing.name)]
    return Draft(english, [subject, thing], french, labels, combinations)


def second_clause(words: list[Word]) -> list[Word]:
    """Words of a second clause, whose verb has keys of its own."""
    return [(word, key + 100 if key in (VERB, NEGATION) else key) for word, key in words]


def was_doing(dice: Dice) -> Draft:
    """The boy was eating the apple: le garçon mangeait la pomme."""
    verb = dice.pick(LASTING if dice.chance(0.6) else RUNNING)
    subject = subject_of(dice, verb)
    thing = object_of(dice, verb) if verb.object else NOTHING
    used_to = dice.chance(0.25)

    def french(who: Reading, what: Reading) -> Variants:
        return [[*who.words, *french_verb(who, verb, "imperfect"), *what.words]]

    if used_to:
        words: list[Word] = [("used to", VERB), (verb.base, VERB)]
    else:
        words = [(english_be(subject, "past"), VERB), (english_ing(verb.base), VERB)]
    words += [(verb.particle, VERB)] if verb.particle else []
    combinations = verb_and_object(verb, thing) if verb.object else [("was doing", verb.name)]
    english = [*subject.english, *words, *thing.english]
    return Draft(english, [subject, thing], french, ["imperfect"], combinations)


NOTHING = Phrase([], (Reading([], 2, "m", False, []),), True)
