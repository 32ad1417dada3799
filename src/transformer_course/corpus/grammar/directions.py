"""Where to and where from: towards the church, through the forest, between the chair and the table."""

from transformer_course.corpus.grammar.clauses import VERB, english_verb, french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.lexicon import nouns_of
from transformer_course.corpus.grammar.parts import (
    TENSES,
    agent,
    keyed,
    subject_of,
    tense_labels,
)
from transformer_course.corpus.grammar.phrases import Reading, noun_phrase
from transformer_course.corpus.grammar.spelling import Word

LAND = nouns_of("garden park forest field desert town meadow")
ALONG = nouns_of("river road canal wall beach street avenue path")
GOALS = nouns_of("building tree bench town lake")
ROUND = nouns_of("lake tower house castle tree garden church")
OVER = nouns_of("wall stream bench stone box")
INSIDES = nouns_of("building room forest garden park")
# English verb and preposition, French verb and preposition, the grounds.
WAYS = (
    ("walk", "towards", "walk", "vers", GOALS),
    ("run", "towards", "run", "vers", GOALS),
    ("swim", "towards", "swim", "vers", nouns_of("island boat beach")),
    ("walk", "through", "walk", "à travers", LAND),
    ("run", "through", "run", "à travers", LAND),
    ("walk", "along", "walk", "le long de+", ALONG),
    ("run", "along", "run", "le long de+", ALONG),
    ("walk", "around", "walk", "autour de+", ROUND),
    ("run", "around", "run", "autour de+", ROUND),
    ("jump", "over", "jump", "par-dessus", OVER),
    ("come", "out of", "go out", "de+", INSIDES),
    ("come", "from", "come", "de+", nouns_of("building market town forest")),
    ("sleep", "next to", "sleep", "à côté de+", nouns_of("furniture tree wall")),
    ("wait", "in front of", "wait", "devant", nouns_of("building opening")),
    ("stay", "far from", "stay", "loin de+", nouns_of("town lake river forest")),
    ("live", "in", "", "dans", nouns_of("house flat town village castle farm")),
    ("live", "near", "", "près de+", nouns_of("building lake river forest")),
)
BETWEEN = (
    (nouns_of("furniture"), nouns_of("cat dog mouse box toy")),
    (nouns_of("building tree"), nouns_of("animate car truck bus bicycle taxi bench")),
)


def direction(dice: Dice) -> Draft:
    """The boy walks towards the church: le garçon marche vers l'église."""
    name, preposition, nom, préposition, grounds = dice.pick(WAYS)
    verb = VERB_NAMED[name]
    verbe = VERB_NAMED[nom] if nom else verb
    tense = dice.pick(("present", "future") if name == "live" else TENSES)
    subject = subject_of(dice, verb)
    noun = dice.companion(grounds, preposition)
    determiner = dice.pick(("the", "the", "the", "my", "this"))
    where = noun_phrase(dice, noun, 2, plural=False, determiner=determiner, adjectives=0.15)

    def french(who: Reading, place: Reading) -> Variants:
        words = french_verb(who, verbe, tense)
        return [[*who.words, *words, *keyed(préposition, 86), *place.words]]

    verb_words = english_verb(subject, verb, tense)
    english = [*subject.english, *verb_words, *keyed(preposition, 86), *where.english]
    labels = ["direction", *tense_labels(verbe, tense)]
    return Draft(english, [subject, where], french, labels, [(preposition, noun.name)])


def between(dice: Dice) -> Draft:
    """The cat is between the chair and the table: le chat est entre la chaise et la table."""
    grounds, figures = dice.pick(BETWEEN)
    one, other = dice.pick(grounds), dice.pick(grounds)
    noun = dice.pick(figures)
    while one is other or noun in (one, other):
        one, other, noun = dice.pick(grounds), dice.pick(grounds), dice.pick(figures)
    subject = agent(dice, noun, adjectives=0.1)
    first, second = (
        noun_phrase(dice, place, role, plural=False, determiner="the", adjectives=0.1)
        for place, role in ((one, 2), (other, 3))
    )

    def french(who: Reading, left: Reading, right: Reading) -> Variants:
        is_: list[Word] = [("sont" if who.plural else "est", VERB), ("entre", 86)]
        return [[*who.words, *is_, *left.words, ("et", 95), *right.words]]

    is_: list[Word] = [("is" if subject.third else "are", VERB), ("between", 86)]
    english = [*subject.english, *is_, *first.english, ("and", 95), *second.english]
    combinations = [(noun.name, one.name), (one.name, other.name)]
    return Draft(english, [subject, first, second], french, ["place"], combinations)
