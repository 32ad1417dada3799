"""When, where and with whom: what may follow a sentence."""

from collections.abc import Sequence
from typing import NamedTuple

from transformer_course.corpus.everyday.predicates import (
    done,
)
from transformer_course.corpus.everyday.slots import (
    Text,
    draw,
    fill_english,
    fill_french,
    read_places,
    read_text,
)
from transformer_course.corpus.everyday.words import read_table
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.phrase_book import speakers
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.spelling import Word

Words = list[Word]
TAIL = 88


class Tail(NamedTuple):
    """A time, a place or a companion, in both languages."""

    places: tuple[str, ...]
    english: tuple[Text, ...]
    french: tuple[Text, ...]


def read_texts(texts: str, places: Sequence[str]) -> list[Text]:
    """Alternatives that are parted by a stroke."""
    each = [one for text in texts.split(" | ") if text for one in speakers(text.strip())]
    return [read_text(text, places) for text in each]


def read_tails() -> dict[str, list[Tail]]:
    """The table of tails."""
    tails: dict[str, list[Tail]] = {}
    for kind, english, french in read_table("tails"):
        places = read_places(english)
        sides = [
            tuple(read_texts(text.replace(" || ", " | "), places)) for text in (english, french)
        ]
        tails.setdefault(kind, []).append(Tail(tuple(places), sides[0], sides[1]))
    tails["past"] += tails["then"]  # for an hour, and yesterday
    return tails


TAILS = read_tails()


class Ending(NamedTuple):
    """A tail with its places filled."""

    english: Words
    phrases: list[Phrase]
    french: tuple[Text, ...]


def end(dice: Dice, kind: str, owner: str, first_role: int) -> Ending:
    """A tail of a kind; none if the kind is empty."""
    if not kind:
        return Ending([], [], ())
    tail = dice.pick(TAILS[kind])
    phrases = [
        filled(dice, place, role, owner) for role, place in enumerate(tail.places, first_role)
    ]
    return Ending(keyed_tail(fill_english(dice.pick(tail.english), phrases)), phrases, tail.french)


def filled(dice: Dice, place: str, role: int, owner: str = "my") -> Phrase:
    """A phrase for any place: a noun, a time, or something that is done."""
    if place.rstrip("2") in ("do", "doing"):
        return done(dice, role, doing=place.startswith("doing"))
    if place[0] == "@":
        return at_a_time(dice, place[1:], role)
    return draw(dice, place, role, owner)


def keyed_tail(words: Sequence[Word]) -> Words:
    """The words of a tail with its own key; those of phrases keep theirs."""
    return [(word, TAIL if key >= 200 else key) for word, key in words]


def at_a_time(dice: Dice, kind: str, role: int) -> Phrase:
    """A time as a phrase of its own."""
    ending = end(dice, kind, "my", role)
    key = 10 * role + 4
    readings = []
    for text in ending.french:
        words = [
            (word, key) for word, _ in fill_french(text, [p.readings[0] for p in ending.phrases])
        ]
        readings.append(Reading(words, 2, "m", False, words))
    return Phrase([(word, key) for word, _ in ending.english], tuple(readings), True)
