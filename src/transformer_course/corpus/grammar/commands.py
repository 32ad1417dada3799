"""Commands: eat the apple! let's go! give it to me! Pronouns follow the verb, unless it is negated."""

from transformer_course.corpus.grammar.clauses import NEGATION, VERB, with_pronoun
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import (
    OBJECTS,
    Verb,
)
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.morphology import french_imperative
from transformer_course.corpus.grammar.parts import (
    DATIVE,
    DIRECT,
    INTRANSITIVE,
    MOTION,
    object_of,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.pronouns import OBJECT, RECIPIENT, clitic, in_order
from transformer_course.corpus.grammar.spelling import Word

TU, NOUS, VOUS = 1, 3, 4
UNASKED = (
    "lose",
    "forget",
    "miss",
    "receive",
    "win",
    "steal",
    "burn",
    "belong to",
    "hear",
    "see",
    "meet",
    "marry",
    "recognize",
)  # nobody asks for
DONE = tuple(
    verb
    for verb in DIRECT
    if verb.subject & {"person", "animate"}
    and not verb.frame & {"stative", "generic"}
    and verb.name not in UNASKED
)
DOING = tuple(
    verb
    for verb in INTRANSITIVE
    if verb.subject & {"person", "animate"}
    and verb.name
    not in ("die", "disappear", "fall", "cough", "hesitate", "blush", "sneeze", "snore", "grow up")
)
THERE = (
    (VERB_NAMED["go"], "there", "y"),
    (VERB_NAMED["think of"], "it", "y"),
    (VERB_NAMED["talk about"], "it", "en"),
    (VERB_NAMED["dream about"], "it", "en"),
)
HANDED = tuple(verb for verb in DATIVE if verb.name != "teach")
STRONG = {"me": "moi", "te": "toi"}  # after the verb


def addressed(english: str, whom: Reading | None = None) -> tuple[int, ...]:
    """Who is spoken to: nous with "let's", else tu or vous, and the one that "your" has chosen."""
    if english:
        return (NOUS,)
    register = whom.register if whom else ""
    return {"tu": (TU,), "vous": (VOUS,)}.get(register, (TU, VOUS))


def french_command(verb: Verb, person: int, clitics: list[Word], negated: bool) -> list[Word]:
    """mange-le, donne-le-moi; ne le mange pas, ne me le donne pas; vas-y.

    Args:
        clitics: object pronouns in the order that they have before a verb.
    """
    form = french_imperative(verb.present, person)
    if negated:
        return [("ne", NEGATION), *clitics, (form, VERB), ("pas", NEGATION)]
    if clitics and clitics[0][0] in ("y", "en"):
        form = verb.present[person]  # vas-y, manges-en
    after = sorted(clitics, key=lambda word: word[0] not in ("le", "la", "les"))
    return [(form, VERB), *((f"-{STRONG.get(word, word)}", key) for word, key in after)]


def mark_of(dice: Dice) -> str:
    """How a command ends: not everybody shouts."""
    return dice.pick("!!.")


def english_start(dice: Dice) -> tuple[list[Word], str, bool]:
    """The words before the verb, "let's" if it stands there, and whether the command is negated."""
    if dice.chance(0.2):
        negated = dice.chance(0.2)
        return [("let's", VERB), *([("not", NEGATION)] if negated else [])], "let's", negated
    if dice.chance(0.25):
        return [("don't" if dice.chance(0.8) else "do not", NEGATION)], "", True
    return [], "", False


def particle_of(verb: Verb) -> list[Word]:
    """at in "look at"."""
    return [(verb.particle, VERB)] if verb.particle else []


def command(dice: Dice) -> Draft:
    """Eat the apple! mange la pomme ! mangez la pomme !"""
    verb = dice.pick(DONE)
    start, together, negated = english_start(dice)
    thing = object_of(dice, verb)
    while negated and thing.readings[0].negated != thing.readings[0].words:
        thing = object_of(dice, verb)  # not "don't warn a king"

    def french(what: Reading) -> Variants:
        return [
            [*french_command(verb, person, [], negated), *what.words]
            for person in addressed(together, what)
        ]

    english = [*start, (verb.base, VERB), *particle_of(verb), *thing.english]
    labels = ["imperative", *(["negation"] if negated else [])]
    combinations = verb_and_object(verb, thing)
    return Draft(english, [thing], french, labels, combinations, mark=mark_of(dice))


def simple_command(dice: Dice) -> Draft:
    """Run! come back! go to the market!"""
    start, together, negated = english_start(dice)
    verb = dice.pick(MOTION[:2] if dice.chance(0.5) else DOING)
    nowhere = Phrase([], (Reading([], 2, "m", False, []),), True)
    place, link = nowhere, ""
    to: list[Word] = []
    if verb.object:
        noun = dice.companion(OBJECTS[verb], verb.name)
        place = noun_phrase(dice, noun, 2, plural=False, determiner="the", adjectives=0.1)
        link = "dans" if "into" in verb.frame else "à+"
        to = [("to", 86)] if link == "à+" and not verb.particle else []

    def french(where: Reading) -> Variants:
        there: list[Word] = [(link, 86), *where.words] if link else []
        return [
            [*french_command(verb, person, [], negated), *there] for person in addressed(together)
        ]

    english = [*start, (verb.base, VERB), *particle_of(verb), *to, *place.english]
    labels = ["imperative", *(["negation"] if negated else [])]
    combinations = [(verb.name, place.noun.name)] if place.noun else [("imperative", verb.name)]
    return Draft(english, [place], french, labels, combinations, mark=mark_of(dice))


def command_with_pronoun(dice: Dice) -> Draft:
    """Eat it! mange-la ! Don't look at me! ne me regarde pas !"""
    verb = dice.pick(DONE)
    personal = verb.object & {"person", "animate"} and dice.chance(0.7)
    choices = ("me", "him", "her", "us", "them") if personal else ("it", "them")
    start, together, negated = english_start(dice)
    thing = clitic(dice.pick(choices[1:3] if together and personal else choices))

    def french(what: Reading) -> Variants:
        return [french_command(verb, person, what.words, negated) for person in addressed(together)]

    done = with_pronoun(verb, [(verb.base, VERB), *particle_of(verb)], thing.english)
    english = [*start, *done]
    labels = ["imperative", "object pronoun"]
    combinations = [(thing.english[0][0], verb.name)]
    return Draft(english, [thing], french, labels, combinations, mark=mark_of(dice))


def give_it_to_me(dice: Dice) -> Draft:
    """Give it to me! donne-le-moi ! Don't give it to me! ne me le donne pas !"""
    verb = dice.pick(HANDED)
    negated = dice.chance(0.3)
    thing = clitic(dice.pick(("it", "them")))
    person = clitic(dice.pick(("me", "him", "her", "us", "them")), indirect=True)

    def french(what: Reading, whom: Reading) -> Variants:
        both = in_order(what.words[0], whom.words[0])
        return [french_command(verb, spoken_to, both, negated) for spoken_to in (TU, VOUS)]

    start: list[Word] = [("don't", NEGATION)] if negated else []
    to: list[Word] = [("to", RECIPIENT), *person.english]
    english = [*start, (verb.base, VERB), *thing.english, *to]
    labels = ["imperative", "clitic order"]
    combinations = [(thing.english[0][0], person.english[0][0], verb.name)]
    return Draft(english, [thing, person], french, labels, combinations, mark=mark_of(dice))


def go_there(dice: Dice) -> Draft:
    """Go there! vas-y ! Let's talk about it! parlons-en ! Think of it! penses-y !"""
    verb, there, y = dice.pick(THERE)
    start, together, negated = english_start(dice)
    clitic_: list[Word] = [(y, OBJECT)]

    def french() -> Variants:
        return [french_command(verb, person, clitic_, negated) for person in addressed(together)]

    english = [*start, (verb.base, VERB), *particle_of(verb), (there, OBJECT)]
    return Draft(english, [], french, ["imperative", "en and y"], [], mark=mark_of(dice))
