"""Dates and times of day in figures: on March 14, 1987; at 8:30; at 3 pm."""

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.times import MONTHS

YEARS = (1930, 2027)  # the first, and the first that isn't drawn
MINUTES = ("00", "05", "10", "15", "20", "30", "40", "45", "50")


def ordinal(day: int) -> str:
    """1st, 2nd, 3rd, 4th.

    >>> [ordinal(day) for day in (1, 2, 13, 22, 23, 31)]
    ['1st', '2nd', '13th', '22nd', '23rd', '31st']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in (11, 12, 13) else "th"
    return f"{day}{ending}"


def year(dice: Dice) -> str:
    """A year that somebody may have been born in, or something has happened."""
    return str(dice.pick(range(*YEARS)))


def written_date(dice: Dice, *, with_year: bool) -> tuple[str, str]:
    """A date in English and in French, where it needs an article: le 14 mars 1987."""
    month, mois = dice.pick(MONTHS)
    day = 1 + int(dice.random() * (28 if month == "February" else 30))
    number, name = str(day), ordinal(day)
    form = dice.pick(
        (
            f"{month} {number}",
            f"{month} {number}",
            f"{month} {number}",
            f"{month} {name}",
            f"{number} {month}",
            f"the {name} of {month}",
        )
    )
    jour = f"le {'1er' if day == 1 else day} {mois}"
    if not with_year:
        return form, jour
    in_year = year(dice)
    comma = " ," if form.startswith(month) and dice.chance(0.7) else ""
    return f"{form}{comma} {in_year}", f"{jour} {in_year}"


def time_in_figures(dice: Dice) -> tuple[str, str]:
    """A time of day: 8:30, 3 pm."""
    hour = 1 + int(dice.random() * 12)
    if dice.chance(0.6):
        minutes = dice.pick(MINUTES)
        return f"{hour}:{minutes}", f"{hour} h {minutes}"
    if dice.chance(0.5):
        return f"{hour} am", f"{hour if hour < 12 else 0} h"
    return f"{hour} pm", f"{hour + 12 if hour < 12 else 12} h"


def as_phrase(english: str, french: str, role: int) -> Phrase:
    """A time as a phrase of its own."""
    key = 10 * role + 4
    words = [(word, key) for word in french.split()]
    said = [(word, 0 if word == "," else key) for word in english.split()]
    return Phrase(said, (Reading(words, 2, "m", False, words),), True)


def drawn(dice: Dice, name: str, role: int) -> Phrase | None:
    """A phrase for one of the places {date}, {full date}, {year} and {clock}; none for others."""
    if name in ("date", "full date"):
        return as_phrase(*written_date(dice, with_year=name == "full date"), role)
    if name == "year":
        figures = year(dice)
        return as_phrase(figures, figures, role)
    if name == "clock":
        return as_phrase(*time_in_figures(dice), role)
    return None
