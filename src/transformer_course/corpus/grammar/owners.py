"""Whose it is: this book is mine: ce livre est à moi, ce livre est le mien."""

from transformer_course.corpus.grammar.clauses import VERB
from transformer_course.corpus.grammar.determiners import DEFINITE
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.existence import POSSESSIONS
from transformer_course.corpus.grammar.phrases import Reading, noun_phrase
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


def mine(dice: Dice) -> Draft:
    """This book is mine: ce livre est à moi. Is this book yours? ce livre est-il à toi ?"""
    noun = dice.pick(OWNABLE)
    owner = dice.pick(tuple(OWNED_BY))
    thing = noun_phrase(
        dice, noun, 1, determiner=dice.pick(("this", "this", "the")), adjectives=0.15
    )
    negated = dice.chance(0.2)

    def french(what: Reading) -> Variants:
        be = be_words(what, negated)
        said = [*what.words, *be]
        owners = OWNED_BY[owner]
        simple = [[*said, ("à", OWNER), (who, OWNER)] for names, _ in owners for who in names]
        column = 2 * what.plural + (what.gender == "f")
        article = DEFINITE[what.gender, what.plural]
        return [
            *simple,
            *([*said, (article, OWNER), (forms[column], OWNER)] for _, forms in owners),
        ]

    is_ = "is" if thing.third else "are"
    verb: list[Word] = [(is_, VERB), *([("not", 81)] if negated else [])]
    combinations = [(owner, noun.name)]
    trained = 2 if owner == "yours" else 1
    english = [*thing.english, *verb, (owner, OWNER)]
    return Draft(english, [thing], french, ["whose"], combinations, trained=trained)


def be_words(what: Reading, negated: bool) -> list[Word]:
    """est, n'est pas."""
    be: Word = ("sont" if what.plural else "est", VERB)
    return [("ne", 81), be, ("pas", 81)] if negated else [be]


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
