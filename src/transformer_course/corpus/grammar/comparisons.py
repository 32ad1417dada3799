"""Comparisons: bigger than, as big as."""

from transformer_course.corpus.grammar.clauses import PREDICATE, english_be_words, french_be
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.idioms import ANIMATE
from transformer_course.corpus.grammar.lexicon import ADJECTIVES, DESCRIBING, Noun, nouns_of
from transformer_course.corpus.grammar.parts import PERSONAL, UNGRADED, agent
from transformer_course.corpus.grammar.phrases import Phrase, Reading, pronoun
from transformer_course.corpus.grammar.spelling import Word

COMPARING = (("plus", "more", "than"), ("moins", "less", "than"), ("aussi", "as", "as"))


COMPARED = tuple(a for a in ADJECTIVES if a.name not in UNGRADED)


COMPARABLE = {
    adjective: tuple(
        noun
        for noun in ANIMATE + nouns_of("thing vehicle building way fruit")
        if adjective in DESCRIBING[noun]
    )
    for adjective in COMPARED
}


GRADED = tuple(adjective for adjective in COMPARED if len(COMPARABLE[adjective]) > 3)


STRESSED = {
    "me": ("moi",),
    "you": ("toi", "vous"),
    "him": ("lui",),
    "her": ("elle",),
    "us": ("nous",),
    "them": ("eux", "elles"),
}


def comparison(dice: Dice) -> Draft:
    """The cow is bigger than the dog: plus grande que le chien."""
    adjective = dice.pick(GRADED)
    first, second = dice.pick(COMPARABLE[adjective]), dice.pick(COMPARABLE[adjective])
    while second is first or kind(first) != kind(second):
        second, first = dice.pick(COMPARABLE[adjective]), dice.pick(COMPARABLE[adjective])
    degree = dice.pick(COMPARING)
    tense = dice.pick(("present", "present", "past"))
    negation = "not" if dice.chance(0.2) else ""
    personal = "person" in first.classes and dice.chance(0.5)
    subject = (
        pronoun(dice.pick(PERSONAL), 1)
        if personal and dice.chance(0.6)
        else agent(dice, first, adjectives=0)
    )
    other = stressed(dice, subject) if personal else agent(dice, second, 6, adjectives=0)

    def french(who: Reading, than: Reading) -> Variants:
        be = french_be(who, tense, negation)
        form = adjective.french[who.gender][who.plural]
        graded = [(degree[0], 87), (form, PREDICATE)]
        if degree[0] == "plus" and adjective.name in ("good", "bad"):
            graded = [(irregular(adjective.name, who), PREDICATE)]
        variants = [[*who.words, *be, *graded, ("que", 88), *than.words]]
        if degree[0] == "plus" and adjective.name == "bad":
            variants.append(
                [*who.words, *be, ("plus", 87), (form, PREDICATE), ("que", 88), *than.words]
            )
        if degree[0] == "aussi" and negation:  # pas si grand que
            variants.append(
                [*who.words, *be, ("si ", 87), (form, PREDICATE), ("que", 88), *than.words]
            )
        return variants

    be = english_be_words(subject, tense, negation, dice.chance(0.5))
    graded: list[Word] = [(degree[1], 87), (adjective.name, PREDICATE)]
    if degree[0] == "plus" and adjective.comparative:
        graded = [(adjective.comparative, PREDICATE)]
    english = [*subject.english, *be, *graded, (degree[2], 88), *other.english]
    combinations = [
        (phrase.noun.name, adjective.name) for phrase in (subject, other) if phrase.noun
    ]
    return Draft(english, [subject, other], french, ["comparison"], combinations, 1)


def irregular(name: str, who: Reading) -> str:
    """meilleur and pire, in agreement."""
    form = ("meilleure" if who.gender == "f" else "meilleur") if name == "good" else "pire"
    return form + ("s" if who.plural else "")


def kind(noun: Noun) -> str:
    """The class within which nouns are compared."""
    return next(
        (
            c
            for c in (
                "person",
                "animal",
                "clothing",
                "furniture",
                "readable",
                "vehicle",
                "way",
                "fruit",
            )
            if c in noun.classes
        ),
        "thing",
    )


def stressed(dice: Dice, subject: Phrase) -> Phrase:
    """A pronoun after than: que moi, que lui."""
    same = {
        "i": ("me", "us"),
        "we": ("me", "us"),
        "you": ("you",),
        "he": ("him",),
        "she": ("her",),
        "they": ("them",),
    }
    word = subject.english[0][0]
    chosen = dice.pick(tuple(w for w in STRESSED if w not in same.get(word, ())))
    readings = []
    for stressed_word in STRESSED[chosen]:
        register = {"toi": "tu", "vous": "vous"}.get(stressed_word, "") if chosen == "you" else ""
        words = [(stressed_word, 64)]
        readings.append(Reading(words, 2, "m", False, words, register))
    return Phrase([(chosen, 64)], tuple(readings), True, None, len(readings))
