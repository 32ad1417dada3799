"""Verbs with an infinitive: wants to read it, decides to read it."""

from transformer_course.corpus.grammar.clauses import VERB, english_verb, french_verb, with_pronoun
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import VERBS, Verb
from transformer_course.corpus.grammar.parts import DIRECT, object_of, subject_of, verb_and_object
from transformer_course.corpus.grammar.phrases import Phrase, Reading, noun_phrase
from transformer_course.corpus.grammar.pronouns import clitic
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.grammar.splits import Combination

INFINITIVE = tuple(verb for verb in VERBS if "infinitive" in verb.frame)


def infinitive(dice: Dice) -> Draft:
    """She decides to read it: elle décide *de le* lire; de le is not contracted here."""
    verb, action = dice.pick(INFINITIVE), dice.pick(DIRECT)
    while action.subject != {"person"} or action.frame & {"stative", "generic"}:
        action = dice.pick(DIRECT)
    modal = "modal" in verb.frame
    tense = "present" if modal or not verb.frame & {"de"} else dice.pick(("present", "past"))
    subject = subject_of(dice, verb) if not modal else subject_of(dice, action)
    negation = dice.pick(("not", "never")) if dice.chance(0.25) else ""
    pronominal = dice.chance(0.5)
    thing = clitic(dice.pick(("it", "them"))) if pronominal else object_of(dice, action)
    if negation and thing.noun:  # "ne … pas" before an infinitive may or may not turn un into de
        plural = not thing.third
        thing = noun_phrase(dice, thing.noun, 2, determiner="the", plural=plural, adjectives=0)
    link = next(([(word, 96)] for word in ("de", "à") if word in verb.frame), [])
    verb_words = (
        modal_words(subject, verb, negation)
        if modal
        else english_verb(subject, verb, tense, negation, dice.chance(0.5))
    )

    def french(who: Reading, what: Reading) -> Variants:
        start = [*who.words, *french_verb(who, verb, tense, negation=negation), *link]
        if pronominal:
            return [[*start, *what.words, (action.infinitive, 180)]]
        return [[*start, (action.infinitive, 180), *what.words]]

    done: list[Word] = [(action.base, 180), *([(action.particle, 180)] if action.particle else [])]
    done = with_pronoun(action, done, thing.english) if pronominal else [*done, *thing.english]
    english = [*subject.english, *verb_words, *([] if modal else [("to", 96)]), *done]
    labels = ["infinitive", *(["object pronoun"] if pronominal else [])]
    combinations: list[Combination] = [(verb.name, action.name)]
    if thing.noun:
        combinations += verb_and_object(action, thing)
    return Draft(english, [subject, thing], french, labels, combinations)


def modal_words(subject: Phrase, verb: Verb, negation: str) -> list[Word]:
    """can, cannot, must, must not, can never."""
    if verb.name == "can" and negation == "not":
        return [("cannot", 81)]
    return [(verb.base, VERB), *((word, 81) for word in negation.split())]
