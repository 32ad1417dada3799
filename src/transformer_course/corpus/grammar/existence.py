"""What there is, what there is not, and whose it is: il y a, personne, rien, de."""

from transformer_course.corpus.grammar.clauses import (
    NEGATION,
    PREDICATE,
    VERB,
    english_be,
    english_be_words,
    english_verb,
    french_be,
    french_verb,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import DESCRIBING, nouns_of
from transformer_course.corpus.grammar.parts import (
    DIRECT,
    INTRANSITIVE,
    PEOPLE,
    PLACES,
    keyed,
    object_of,
    subject_of,
    tense_for,
    verb_and_object,
)
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word


def there_is(dice: Dice) -> Draft:
    """There are three birds in the garden: il y a trois oiseaux dans le jardin."""
    preposition, préposition, grounds, figures = dice.pick(PLACES)
    noun, ground = dice.pick(figures), dice.pick(grounds)
    while noun is ground:
        noun, ground = dice.pick(figures), dice.pick(grounds)
    tense = dice.pick(("present", "present", "past", "future"))
    negative = dice.chance(0.25)
    plural = not noun.mass and dice.chance(0.5)
    determiner = "a" if negative or not plural else dice.pick(("a", "number", "many"))
    if determiner == "number":
        determiner = str(2 + int(dice.random() * 20))
    thing = noun_phrase(dice, noun, 1, plural=plural, determiner=determiner, adjectives=0.2)
    what_there_is = thing.english
    if negative:  # no cat, no cats, no bread
        bare = thing.english[0][1] != 11
        what_there_is = [("no", NEGATION), *thing.english[0 if bare else 1 :]]
    where = noun_phrase(dice, ground, 2, determiner=dice.pick(("the", "the", "my", "this")))
    form = {"present": "a", "past": "avait", "future": "aura"}[tense]

    def french(what: Reading, place: Reading) -> Variants:
        words: list[Word] = [("il", 94)]
        words += [("ne", NEGATION)] if negative else []
        words += [("y", 94), (form, VERB)]
        words += [("pas", NEGATION), *what.negated] if negative else what.words
        return [[*words, *keyed(préposition, 86), *place.words]]

    be = english_be(thing, tense)
    verb_words: list[Word] = [(be, VERB), *([("be", VERB)] if tense == "future" else [])]
    english = [("there", 94), *verb_words, *what_there_is, (preposition, 86), *where.english]
    combinations = [(noun.name, ground.name)]
    return Draft(english, [thing, where], french, ["there is"], combinations)


FALLING = tuple(verb for verb in INTRANSITIVE if "object" in verb.subject)


def nobody(dice: Dice) -> Draft:
    """Nobody sees the cat: personne ne voit le chat."""
    if dice.chance(0.5):
        return sees_nobody(dice)
    nothing = dice.chance(0.1)
    verb = (
        dice.pick(FALLING) if nothing else dice.pick(DIRECT if dice.chance(0.7) else INTRANSITIVE)
    )
    tense = tense_for(dice, verb)
    thing = object_of(dice, verb) if verb.object else Phrase([], (EMPTY,), True)
    word, mot = ("nothing", "rien") if nothing else ("nobody", "personne")
    subject = Phrase([(word, 14)], (Reading([(mot, 14)], 2, "m", False, []),), True)

    def french(who: Reading, what: Reading) -> Variants:
        verb_words = french_verb(who, verb, tense)
        return [[*who.words, ("ne", 14), *verb_words, *what.negated]]

    english = [*subject.english, *english_verb(subject, verb, tense), *thing.english]
    combinations = verb_and_object(verb, thing) if verb.object else [(word, verb.name)]
    return Draft(
        english, [subject, thing], french, ["negation", "nobody and nothing"], combinations
    )


EMPTY = Reading([], 2, "m", False, [])


def sees_nobody(dice: Dice) -> Draft:
    """The king saw nobody: n'a vu personne; he ate nothing: n'a rien mangé."""
    verb = dice.pick(DIRECT)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb, pronouns=0.4)
    people = verb.object <= {"person", "animate", "animal"} or (
        verb.object & {"animate", "person"} and dice.chance(0.5)
    )
    anyone = dice.chance(0.5)

    def french(who: Reading) -> Variants:
        if not people:
            return [[*who.words, *french_verb(who, verb, tense, negation="rien")]]
        words = french_verb(who, verb, tense)
        return [[*who.words, ("ne", NEGATION), *words, ("personne", NEGATION)]]

    if anyone:
        words = english_verb(subject, verb, tense, "not", dice.chance(0.6))
        words = [*words, ("anybody" if people else "anything", NEGATION)]
    else:
        words = [*english_verb(subject, verb, tense), ("nobody" if people else "nothing", NEGATION)]
    combinations = [(subject.noun.name if subject.noun else subject.english[0][0], verb.name)]
    return Draft(
        [*subject.english, *words],
        [subject],
        french,
        ["negation", "nobody and nothing"],
        combinations,
    )


OWNERS = PEOPLE


POSSESSIONS = nouns_of("animal family object clothing vehicle house garden shop farm idea question")


PARTS = (
    (nouns_of("door window wall garden"), nouns_of("building")),
    (nouns_of("king queen prince princess museum church street market"), nouns_of("town")),
    (nouns_of("leaf flower fruit"), nouns_of("tree garden park forest")),
    (nouns_of("letter answer picture"), nouns_of("person")),
)


def possession(dice: Dice) -> Draft:
    """The boy's dog sleeps: le chien du garçon; the door of the house."""
    genitive = dice.chance(0.6)
    if genitive:
        owner, thing = dice.pick(OWNERS), dice.pick(POSSESSIONS)
    else:
        things, owners = dice.pick(PARTS)
        owner, thing = dice.pick(owners), dice.pick(things)
    while thing is owner:
        owner = dice.pick(OWNERS)
    whose = noun_phrase(
        dice,
        owner,
        6,
        determiner=dice.pick(("the", "the", "my", "this")),
        plural=None,
        adjectives=0,
    )
    what = noun_phrase(dice, thing, 1, determiner="the", adjectives=0.15)
    adjective = dice.pick(DESCRIBING[thing])
    tense = dice.pick(("present", "present", "past"))

    def french(of: Reading, who: Reading) -> Variants:
        be = [*french_be(who, tense), (adjective.french[who.gender][who.plural], PREDICATE)]
        return [[*who.words, ("de+", 65), *of.words, *be]]

    if genitive:
        name = whose.english[-1]
        plural = whose.readings[0].plural
        mark = "'" if plural and name[0].endswith("s") else "'s"
        words = [*whose.english[:-1], (name[0] + mark, name[1]), *what.english[1:]]
    else:
        words = [*what.english, ("of", 65), *whose.english]
    be = [*english_be_words(what, tense, "", False), (adjective.name, PREDICATE)]
    combinations = [(owner.name, thing.name), (thing.name, adjective.name)]
    return Draft([*words, *be], [whose, what], french, ["possession"], combinations)
