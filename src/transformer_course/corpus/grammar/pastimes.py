"""Games and languages: they play chess: ils jouent aux échecs; she speaks Italian: elle parle italien."""

from transformer_course.corpus.grammar.clauses import english_verb, french_verb
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import VERB as VERB_NAMED
from transformer_course.corpus.grammar.lexicon import Verb
from transformer_course.corpus.grammar.names import GAMES, LANGUAGES, PREPOSITION, Name, somebody
from transformer_course.corpus.grammar.parts import keyed, tense_for, tense_labels, time_words
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.spelling import Word

WHAT = 24


def plays(dice: Dice) -> Draft:
    """The children play football: les enfants jouent au football; she plays chess: aux échecs."""
    subject, name = somebody(dice, 0.6)
    game = dice.pick(GAMES)
    article: list[Word] = [(game.article, PREPOSITION)] if game.article else []
    return activity(
        dice,
        (subject, name),
        VERB_NAMED["play"],
        game,
        [[("à+", PREPOSITION), *article, (game.french, WHAT)]],
    )


def speaks(dice: Dice) -> Draft:
    """Paul speaks French: Paul parle français; she learns Italian: elle apprend l'italien."""
    someone = somebody(dice, 0.6)
    language = dice.pick(LANGUAGES)
    verb_name = dice.pick(("speak", "speak", "learn", "understand", "teach"))
    if verb_name == "speak" and someone[1] == "i":
        verb_name = "learn"  # "I speak French" is a phrase
    with_article: list[Word] = [(language.article, WHAT), (language.french, WHAT)]
    ways = [with_article]
    if verb_name == "speak":
        ways = [[(language.french, WHAT)], with_article]
    return activity(dice, someone, VERB_NAMED[verb_name], language, ways)


def activity(
    dice: Dice, someone: tuple[Phrase, str], verb: Verb, thing: Name, ways: list[list[Word]]
) -> Draft:
    """Somebody plays a game or speaks a language; the first of the French ways is trained on."""
    subject, name = someone
    tense = tense_for(dice, verb) if verb.name != "understand" else "present"
    negation = dice.pick(("not", "never")) if dice.chance(0.3) else ""
    if tense == "past" and negation == "never":
        negation = "not"
    when, quand = time_words(dice, tense) if not negation else ([], [])

    def french(who: Reading) -> Variants:
        words = [*who.words, *french_verb(who, verb, tense, negation=negation)]
        return [[*words, *way, *quand] for way in ways]

    verb_words = english_verb(subject, verb, tense, negation, dice.chance(0.6))
    english = [*subject.english, *verb_words, *keyed(thing.english, WHAT), *when]
    labels = ["game or language", *tense_labels(verb, tense)]
    return Draft(english, [subject], french, labels, [(name, thing.english)], trained=1)
