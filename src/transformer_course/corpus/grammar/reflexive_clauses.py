"""Reflexive verbs in questions and after another verb: te lèves-tu ? elle veut se reposer."""

from transformer_course.corpus.grammar.clauses import (
    english_verb,
    french_verb,
    inverted_pronoun,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.infinitives import INFINITIVE, modal_words
from transformer_course.corpus.grammar.lexicon import REFLEXIVES
from transformer_course.corpus.grammar.parts import TENSES, subject_of, time_words
from transformer_course.corpus.grammar.phrases import Reading
from transformer_course.corpus.grammar.questions import EST_CE_QUE, do_question, is_pronoun
from transformer_course.corpus.grammar.reflexives import OWN, oneself
from transformer_course.corpus.grammar.spelling import Word

OPEN = tuple(verb for verb in REFLEXIVES if verb.subject & {"person", "animate"})
# It may be wanted, promised or forgotten: not so what happens to people.
INTENDED = tuple(
    verb
    for verb in OPEN
    if verb.name
    not in ("get angry", "get lost", "faint", "get bored", "fall asleep", "wake up", "complain")
)
WANTING = tuple(verb for verb in INFINITIVE if "à" not in verb.frame)  # nobody learns to hide
DOING = 180


def wants_to_rest(dice: Dice) -> Draft:
    """She must get up: elle doit se lever; I want to rest: je veux me reposer."""
    verb, action = dice.pick(WANTING), dice.pick(INTENDED)
    modal = "modal" in verb.frame
    subject = subject_of(dice, action, pronouns=0.5)
    negation = dice.pick(("not", "never")) if dice.chance(0.25) else ""
    link: list[Word] = [(word, 96) for word in ("de", "à") if word in verb.frame]

    def french(who: Reading) -> Variants:
        start = [*who.words, *french_verb(who, verb, "present", negation=negation), *link]
        return [[*start, (OWN[who.person], DOING), (action.infinitive, DOING)]]

    if modal:
        verb_words = modal_words(subject, verb, negation)
    else:
        words = english_verb(subject, verb, "present", negation, dice.chance(0.5))
        verb_words = [*words, ("to", 96)]
    done: list[Word] = [(word, DOING) for word in action.name.split()]
    labels = ["reflexive", "infinitive", *(["negation"] if negation else [])]
    combinations = [(verb.name, action.name)]
    return Draft([*subject.english, *verb_words, *done], [subject], french, labels, combinations)


def did_you_rest(dice: Dice) -> Draft:
    """Did you rest? est-ce que tu t'es reposé ? t'es-tu reposé ? Do the boys hurry? …"""
    verb = dice.pick(OPEN)
    tense = dice.pick(TENSES)
    subject = subject_of(dice, verb, pronouns=0.6)
    when, quand = time_words(dice, tense)

    def french(who: Reading) -> Variants:
        said = french_verb(who, verb, tense, clitics=oneself(who))
        variants = [[*EST_CE_QUE, *who.words, *said, *quand]]
        if who.person != 0:
            turn = inverted_pronoun(who)
            turned = french_verb(who, verb, tense, clitics=oneself(who), inverted=turn)
            variants.append([*([] if is_pronoun(who) else who.words), *turned, *quand])
        return variants

    english = [*do_question(subject, verb, tense), *when]
    combinations = [(subject.noun.name if subject.noun else subject.english[0][0], verb.name)]
    labels = ["reflexive", "yes-no question"]
    return Draft(english, [subject], french, labels, combinations, mark="?")
