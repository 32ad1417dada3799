"""What people say every day: greetings, thanks, short answers, from the table of phrases.

Phrases have no words that could meet in another split, so all of them are training data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.lexicon import read_table
from transformer_course.corpus.grammar.spelling import Word
from transformer_course.corpus.pairs import words

FIRST_PART = 200  # the key of a phrase's first part; the next one has the next key

Text = tuple[Word, ...]
Filling = tuple[list[str], list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One phrase: what says it in English, and all that says it in French, the trained ones first.

    `marks` are those that can end it; `slot` is empty or names what fills its word in braces.
    """

    category: str
    marks: str
    english: tuple[Text, ...]
    french: tuple[Text, ...]
    trained: int
    slot: str


def read_parts(text: str) -> Text:
    """The words of a phrase; those of the first part have the first key.

    >>> read_parts("no, / thank you")
    (('no', 200), (',', 200), ('thank', 201), ('you', 201))
    """
    parts = enumerate(text.split(" / "), FIRST_PART)
    return tuple((word, key) for key, part in parts for word in words(part))


def speakers(text: str) -> list[str]:
    """What a man says, and a woman if she says it otherwise.

    >>> speakers("je suis désolé(e)"), speakers("merci")
    (['je suis désolé', 'je suis désolée'], ['merci'])
    """
    return list(dict.fromkeys((text.replace("(e)", ""), text.replace("(e)", "e"))))


def alternatives(texts: str) -> tuple[Text, ...]:
    """All ways to say it that stand in one field of the table."""
    found = [read_parts(one) for text in texts.split(" | ") for one in speakers(text)]
    return tuple(found) if texts else ()


def read_entry(category: str, marks: str, english: str, french: str) -> Entry:
    """One row of the table."""
    trained, _, others = french.partition(" || ")
    slot = english.partition("{")[2].partition("}")[0]
    first = alternatives(trained)
    return Entry(
        category, marks, alternatives(english), first + alternatives(others), len(first), slot
    )


def read_slots() -> dict[str, list[Filling]]:
    """What can fill each slot; a name is a man's or a woman's."""
    slots: dict[str, list[Filling]] = {"": [([], [])]}
    for slot, english, french in read_table("slots"):
        slots.setdefault(slot, []).append((english.split(), french.split()))
    slots["name"] = slots["man"] + slots["woman"]
    return slots


ENTRIES = tuple(read_entry(*row) for row in read_table("phrases"))
SLOTS = read_slots()


def fill(text: Sequence[Word], filling: Sequence[str]) -> list[Word]:
    """The words of a phrase, with those of the filling in the place of its slot.

    >>> fill((("in", 200), ("{town}", 201)), ["New", "York"])
    [('in', 200), ('New', 201), ('York', 201)]
    """
    if not filling:
        return list(text)
    filled: list[Word] = []
    for word, key in text:
        filled += [(part, key) for part in filling] if word[0] == "{" else [(word, key)]
    return filled


def phrase(dice: Dice) -> Draft:
    """Good morning, Anna! My name is Paul. I don't know."""
    return phrase_with(dice, SLOTS)


def phrase_with(dice: Dice, slots: dict[str, list[Filling]]) -> Draft:
    """A phrase whose slot is filled from these lists."""
    entry = dice.deal(ENTRIES)
    english, french_filling = dice.pick(slots[entry.slot])

    def french() -> Variants:
        return [fill(text, french_filling) for text in entry.french]

    return Draft(
        fill(dice.pick(entry.english), english),
        [],
        french,
        ["phrase"],
        trained=entry.trained,
        mark=dice.pick(entry.marks),
    )
