"""Determiners: le, un, du, des, de, ce, mon, trois, beaucoup de."""

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.lexicon import Noun
from transformer_course.corpus.grammar.numbers import french_number

DEFINITE = {("m", False): "le", ("f", False): "la", ("m", True): "les", ("f", True): "les"}


INDEFINITE = {"m": "un", "f": "une"}


POSSESSIVES = {  # english: (before a masculine or a vowel, before a feminine, plural)
    "my": ("mon", "ma", "mes"),
    "his": ("son", "sa", "ses"),
    "her": ("son", "sa", "ses"),
    "our": ("notre", "notre", "nos"),
    "their": ("leur", "leur", "leurs"),
}


OWNERS = (*POSSESSIVES, "your")


RELATED = frozenset(("family", "kin"))


YOUR = (("ton", "ta", "tes"), ("votre", "votre", "vos"))


REGISTER = dict.fromkeys(YOUR[0], "tu") | dict.fromkeys(YOUR[1], "vous")


def random_determiner(dice: Dice, noun: Noun, plural: bool) -> str:
    """A determiner that fits the number."""
    x = dice.random()
    if x < 0.5:
        return "the"
    if x < 0.7:
        return "a"
    if x < 0.82:
        return dice.pick(("my", "his", "her", "our", "their", "your"))
    if x < 0.9:
        return "this"
    if plural:
        if x < 0.96:
            return str(2 + int(dice.random() * dice.random() * 99))
        return "many" if x < 0.98 else "all"
    return "the"


def french_determiners(
    determiner: str, noun: Noun, plural: bool, vowel: bool, before: bool
) -> list[tuple[str, ...]]:
    """Every French determiner that is right; `before`: an adjective comes before the noun."""
    gender = noun.gender
    article = DEFINITE[gender, plural]
    if determiner == "the":
        return [(article,)]
    if determiner == "a":
        if noun.mass:
            return [("de+", article)]
        if plural:
            return [("de",) if before else ("des",)]
        return [(INDEFINITE[gender],)]
    if determiner == "this":
        if plural:
            return [("ces",)]
        return [("cette",) if gender == "f" else ("cet",) if vowel else ("ce",)]
    if determiner == "which":
        return [(("quelle" if gender == "f" else "quel") + ("s" if plural else ""),)]
    if determiner == "many":
        return [("beaucoup", "de")]
    if determiner == "all":
        return [("toutes" if gender == "f" else "tous", "les")]
    if determiner.isdigit():
        number = french_number(int(determiner), gender)
        return [(number,), (number.replace(" ", "-"),)] if " " in number else [(number,)]
    column = 2 if plural else 1 if gender == "f" and not vowel else 0
    owners = YOUR if determiner == "your" else (POSSESSIVES[determiner],)
    return [(forms[column],) for forms in owners]
