"""Whose it is: this book is mine: ce livre est à moi, ce livre est le mien."""

from transformer_course.corpus.grammar.clauses import (
    VERB,
    english_verb,
    french_verb,
    inverted_pronoun,
)
from transformer_course.corpus.grammar.determiners import DEFINITE
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.existence import POSSESSIONS
from transformer_course.corpus.grammar.lexicon import OBJECTS
from transformer_course.corpus.grammar.parts import PEOPLE, TANGIBLE, subject_of, tense_for
from transformer_course.corpus.grammar.phrases import Reading, noun_phrase
from transformer_course.corpus.grammar.questions import EST_CE_QUE
from transformer_course.corpus.grammar.spelling import Word

# English: for each French owner, who it is (à moi) and the forms for le, la, les (m), les (f).
MINE = ("mien", "mienne", "miens", "miennes")
YOURS = ("tien", "tienne", "tiens", "tiennes")
ITS = ("sien", "sienne", "siens", "siennes")
OURS = ("nôtre", "nôtre", "nôtres", "nôtres")
YOURS_TOO = ("vôtre", "vôtre", "vôtres", "vôtres")
THEIRS = ("leur", "leur", "leurs", "leurs")
OWNED_BY = {
    "mine": ((("moi",), MINE),),
    "yours": ((("toi",), YOURS), (("vous",), YOURS_TOO)),
    "his": ((("lui",), ITS),),
    "hers": ((("elle",), ITS),),
    "ours": ((("nous",), OURS),),
    "theirs": ((("eux", "elles"), THEIRS),),
}
OWNER = 64
OWNABLE = tuple(
    n for n in POSSESSIONS if not n.classes & {"family", "kin", "person", "abstract", "wildbeast"}
)
# What can be done with other people's things.
HAD = {verb: tuple(n for n in OBJECTS[verb] if n in POSSESSIONS) for verb in TANGIBLE}
SEEN = tuple(verb for verb in TANGIBLE if len(HAD[verb]) > 5)


def mine(dice: Dice) -> Draft:
    """This book is mine: ce livre est à moi. Is this book yours? ce livre est-il à toi ?"""
    noun = dice.pick(OWNABLE)
    owner = dice.pick(tuple(OWNED_BY))
    thing = noun_phrase(
        dice, noun, 1, determiner=dice.pick(("this", "this", "the")), adjectives=0.15
    )
    negated = dice.chance(0.2)

    def french(what: Reading) -> Variants:
        said = [*what.words, *be_words(what, negated)]
        return [[*said, *way] for way in names_of(owner, what)]

    is_ = "is" if thing.third else "are"
    verb: list[Word] = [(is_, VERB), *([("not", 81)] if negated else [])]
    combinations = [(owner, noun.name)]
    trained = 2 if owner == "yours" else 1
    english = [*thing.english, *verb, (owner, OWNER)]
    return Draft(english, [thing], french, ["whose"], combinations, trained=trained)


def names_of(owner: str, what: Reading) -> Variants:
    """à moi, le mien: all that says who a thing belongs to, "à" first."""
    owners = OWNED_BY[owner]
    column = 2 * what.plural + (what.gender == "f")
    article = DEFINITE[what.gender, what.plural]
    to: Variants = [[("à", OWNER), (who, OWNER)] for names, _ in owners for who in names]
    return [*to, *([(article, OWNER), (forms[column], OWNER)] for _, forms in owners)]


def be_words(what: Reading, negated: bool) -> list[Word]:
    """est, n'est pas."""
    be: Word = ("sont" if what.plural else "est", VERB)
    return [("ne", 81), be, ("pas", 81)] if negated else [be]


def is_it_yours(dice: Dice) -> Draft:
    """Is this book yours? ce livre est-il à toi ? est-ce que ce livre est à vous ?"""
    noun = dice.pick(OWNABLE)
    owner = dice.pick(("yours", "yours", *OWNED_BY))
    thing = noun_phrase(dice, noun, 1, determiner="this", adjectives=0.15)

    def french(what: Reading) -> Variants:
        be: Word = ("sont" if what.plural else "est", VERB)
        starts = [
            [*EST_CE_QUE, *what.words, be],
            [*what.words, be, (inverted_pronoun(what), what.words[-1][1])],
        ]
        ways = names_of(owner, what)
        return [[*start, *way] for way in ways for start in starts]

    is_ = "is" if thing.third else "are"
    english = [(is_, VERB), *thing.english, (owner, OWNER)]
    trained = 4 if owner == "yours" else 2
    labels = ["whose", "yes-no question"]
    combinations = [(owner, noun.name)]
    return Draft(english, [thing], french, labels, combinations, trained=trained, mark="?")


def boys_dog(dice: Dice) -> Draft:
    """I see the boy's dog: je vois le chien du garçon."""
    verb = dice.pick(SEEN)
    tense = tense_for(dice, verb)
    subject = subject_of(dice, verb)
    noun, owner = dice.companion(HAD[verb], verb.name), dice.pick(PEOPLE)
    while owner is noun:
        owner = dice.pick(PEOPLE)
    thing = noun_phrase(dice, noun, 2, determiner="the", adjectives=0.15)
    determiner = dice.pick(("the", "the", "my", "this"))
    whose_ = noun_phrase(dice, owner, 6, determiner=determiner, adjectives=0)

    def french(who: Reading, what: Reading, of: Reading) -> Variants:
        words = french_verb(who, verb, tense)
        return [[*who.words, *words, *what.words, ("de+", 65), *of.words]]

    name, key = whose_.english[-1]
    mark = "'" if not whose_.third and name.endswith("s") else "'s"
    words = [*whose_.english[:-1], (name + mark, key), *thing.english[1:]]
    english = [*subject.english, *english_verb(subject, verb, tense), *words]
    combinations = [(verb.name, noun.name), (owner.name, noun.name)]
    return Draft(english, [subject, thing, whose_], french, ["possession"], combinations)


def whose(dice: Dice) -> Draft:
    """Whose book is this? à qui est ce livre ?"""
    noun = dice.pick(OWNABLE)
    thing = noun_phrase(dice, noun, 1, determiner="this", adjectives=0.1)
    core = thing.english[1:]

    def french(what: Reading) -> Variants:
        be = "sont" if what.plural else "est"
        return [[("à", OWNER), ("qui", OWNER), (be, VERB), *what.words]]

    be, this = ("is", "this") if thing.third else ("are", "these")
    english = [("whose", OWNER), *core, (be, VERB), (this, 11)]
    labels = ["whose", "wh-question"]
    return Draft(english, [thing], french, labels, [("whose", noun.name)], mark="?")
