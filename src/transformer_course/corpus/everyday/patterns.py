"""Fixed sentences with places for nouns, from patterns.tsv: how much is this book?"""

from typing import NamedTuple

from transformer_course.corpus.everyday.slots import (
    Text,
    combinations_of,
    fill_english,
    fill_french,
    fill_places,
    read_places,
)
from transformer_course.corpus.everyday.tails import filled, read_texts
from transformer_course.corpus.everyday.words import read_table
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.phrases import Reading


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


def pattern(dice: Dice) -> Draft:
    """This is my brother. How much is this book? It is time to go to bed."""
    row = dice.pick(PATTERNS)
    phrases = fill_places(row.places, lambda place, role: filled(dice, place, role))
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
