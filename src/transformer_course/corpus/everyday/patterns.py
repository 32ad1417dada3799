"""Fixed sentences with places for nouns, from patterns.tsv: how much is this book?"""

from typing import NamedTuple

from transformer_course.corpus.everyday.slots import (
    Text,
    combinations_of,
    fill_english,
    fill_french,
    read_places,
)
from transformer_course.corpus.everyday.tails import filled, read_texts
from transformer_course.corpus.everyday.words import read_table
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.phrases import Phrase, Reading


class Pattern(NamedTuple):
    """One row of patterns.tsv."""

    marks: str
    places: tuple[str, ...]
    english: tuple[Text, ...]
    french: tuple[Text, ...]
    trained: int


def read_pattern(marks: str, english: str, french: str) -> Pattern:
    """A row of the table."""
    places = read_places(english.split(" | ")[0])
    trained, _, others = french.partition(" || ")
    first, second = read_texts(trained, places), read_texts(others, places)
    return Pattern(
        marks, tuple(places), tuple(read_texts(english, places)), (*first, *second), len(first)
    )


PATTERNS = tuple(read_pattern(*row) for row in read_table("patterns"))


def same_thing(one: Phrase, other: Phrase, place: str) -> bool:
    """Whether two phrases name the same thing: "I speak French and French" is not written; two years are."""
    if one.noun and not place.startswith("two:"):
        return one.noun is other.noun
    return [word for word, _ in one.english] == [word for word, _ in other.english]


def pattern(dice: Dice) -> Draft:
    """This is my brother. How much is this book? It is time to go to bed."""
    row = dice.pick(PATTERNS)
    phrases: list[Phrase] = []
    for role, place in enumerate(row.places, 2):
        phrase = filled(dice, place, role)
        while phrases and place.endswith("2") and same_thing(phrase, phrases[-1], place):
            phrase = filled(dice, place, role)
        phrases.append(phrase)
    side = dice.pick(row.english)

    def french(*readings: Reading) -> Variants:
        registers = {r.register for r in readings if r.register}
        fitting = [
            t for t in row.french if not t.register or not registers or registers == {t.register}
        ]
        return [fill_french(text, readings) for text in fitting]

    name = " ".join(part[0] for part in row.english[0].parts if not isinstance(part, int))[:12]
    combinations = combinations_of(name, phrases)
    return Draft(
        fill_english(side, phrases),
        phrases,
        french,
        ["speech"],
        combinations,
        row.trained,
        dice.pick(row.marks),
    )
