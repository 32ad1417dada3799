"""Adjectives made of others: a bigger house, the most expensive car, a very good idea, small but nice."""

from collections.abc import Sequence
from functools import cache

from transformer_course.corpus.everyday.words import OWN_ADJECTIVES
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import Adjective

Forms = dict[str, tuple[str, str]]

# Those that have degrees where they stand with a noun: nobody speaks of a redder house.
WITH_DEGREES = (
    "big small beautiful old good bad pretty long short expensive comfortable interesting important "
    "dangerous modern famous popular heavy light fast slow strong rich elegant clean dirty quiet noisy "
    "intelligent difficult easy useful simple funny deep wide high hot cold cheap nice tall smart happy "
    "boring sad serious warm polite generous patient"
)
GRADED = frozenset(WITH_DEGREES.split())
NATIONAL = frozenset(adjective.name for adjective in OWN_ADJECTIVES if adjective.name[0].isupper())
# Comparatives that aren't made with "plus", a form for each gender and number.
IRREGULAR: dict[str, Forms] = {
    "good": {"m": ("meilleur", "meilleurs"), "f": ("meilleure", "meilleures")},
    "bad": {"m": ("pire", "pires"), "f": ("pire", "pires")},
    "cheap": {"m": ("moins cher", "moins chers"), "f": ("moins chère", "moins chères")},
}
INTENSE = {"very": "très", "really": "vraiment", "such": "si"}
LINKS = {"but": "mais", "and": "et"}
OF_ALL = (
    ("in the world", "de+ le monde"),
    ("in the world", "de+ le monde"),
    ("in the city", "de+ la ville"),
    ("in town", "de+ la ville"),
    ("in the country", "de+ le pays"),
)


def marked(mark: str, forms: Forms) -> Forms:
    """The forms with a word before each."""
    return {gender: (f"{mark} {one}", f"{mark} {many}") for gender, (one, many) in forms.items()}


@cache
def more(adjective: Adjective) -> Adjective:
    """The comparative.

    >>> from transformer_course.corpus.everyday.words import ADJECTIVES
    >>> more(ADJECTIVES["big"]).name, more(ADJECTIVES["big"]).french["f"]
    ('bigger', ('plus grande', 'plus grandes'))
    """
    name, known = adjective.name, IRREGULAR.get(adjective.name)
    return Adjective(
        adjective.comparative or f"more {name}",
        "",
        known or marked("plus", adjective.french),
        known["m"][0] if known else f"plus {adjective.before_vowel}",
        adjective.before_noun,
        adjective.classes,
    )


@cache
def most(adjective: Adjective) -> Adjective:
    """The superlative, as it stands after "the" or "my"; behind the noun it has an article of its own.

    >>> from transformer_course.corpus.everyday.words import ADJECTIVES
    >>> most(ADJECTIVES["good"]).name, most(ADJECTIVES["expensive"]).french["f"]
    ('best', ('la plus chère', 'les plus chères'))
    """
    graded, short = more(adjective), adjective.comparative
    english = {"better": "best", "worse": "worst"}.get(short, short[:-1] + "st")
    forms = graded.french
    if not graded.before_noun:
        forms = {
            gender: (f"{article} {one}", f"les {many}")
            for (gender, (one, many)), article in zip(forms.items(), ("le", "la"), strict=True)
        }
    return Adjective(
        english if short else f"most {adjective.name}",
        "",
        forms,
        graded.before_vowel,
        graded.before_noun,
        adjective.classes,
    )


@cache
def intense(adjective: Adjective, much: str) -> Adjective:
    """Very big, really good; "such" stands before the article, so it isn't in the name."""
    word = INTENSE[much]
    return Adjective(
        adjective.name if much == "such" else f"{much} {adjective.name}",
        "",
        marked(word, adjective.french),
        f"{word} {adjective.before_vowel}",
        adjective.before_noun and much != "really",  # un appartement vraiment petit
        adjective.classes,
    )


@cache
def both(first: Adjective, second: Adjective, link: str) -> Adjective:
    """Small but nice: petit mais agréable, behind the noun.

    >>> from transformer_course.corpus.everyday.words import ADJECTIVES
    >>> both(ADJECTIVES["small"], ADJECTIVES["beautiful"], "but").french["f"][0]
    'petite mais belle'
    """
    forms = {
        gender: (
            f"{first.french[gender][0]} {LINKS[link]} {second.french[gender][0]}",
            f"{first.french[gender][1]} {LINKS[link]} {second.french[gender][1]}",
        )
        for gender in "mf"
    }
    name = f"{first.name} {link} {second.name}"
    return Adjective(name, "", forms, forms["m"][0], False, first.classes)


def degree_of(
    dice: Dice, determiner: str, adjective: Adjective, others: Sequence[Adjective]
) -> tuple[Adjective, str]:
    """The adjective of a noun phrase, or one made of it, and what it has become: "more", "most", "such", "".

    Args:
        determiner: only "the" has superlatives, only "a" and "some" the others.
        others: all that can describe the noun.
    """
    chance = dice.random()
    if determiner == "the":
        best = adjective.name in GRADED and chance < 0.5
        return (most(adjective), "most") if best else (adjective, "")
    if determiner not in ("a", "some") or chance > 0.5:
        return adjective, ""
    if chance < 0.08:
        second = dice.pick(others)
        if second.french == adjective.french or adjective.name not in GRADED:
            return adjective, ""
        return both(adjective, second, "but" if chance < 0.05 else "and"), "both"
    if adjective.name not in GRADED:
        return adjective, ""
    if chance < 0.25:
        return more(adjective), "more"
    if adjective.name == "cheap":  # pas cher isn't très pas cher
        return adjective, ""
    if determiner == "a" and chance < 0.29:
        return intense(adjective, "such"), "such"
    return intense(adjective, "very" if chance < 0.46 else "really"), "very"
