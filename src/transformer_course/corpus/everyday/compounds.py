"""Two clauses: I think that she is at home; if it rains, we can stay; he asked me why."""

from collections.abc import Callable, Sequence

from transformer_course.corpus.everyday.clauses import POLITE, clause
from transformer_course.corpus.everyday.descriptions import described
from transformer_course.corpus.everyday.requests import asks
from transformer_course.corpus.everyday.tails import (
    Words,
)
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants
from transformer_course.corpus.grammar.phrases import Phrase, Reading
from transformer_course.corpus.grammar.questions import WH
from transformer_course.corpus.grammar.spelling import Word

LINK, SHIFT = 95, 300


Apart = Callable[[tuple[Reading, ...]], tuple[tuple[Reading, ...], tuple[Reading, ...]]]
LINKS = (
    ("and", "et"),
    ("but", "mais"),
    ("but", "mais"),
    ("because", "parce que"),
    ("because", "parce que"),
    ("so", "donc"),
    (",", ","),
)

CONDITIONS = (
    ("it rains", "il pleut"),
    ("it is cold", "il fait froid"),
    ("it is hot", "il fait chaud"),
    ("it is sunny", "il fait beau"),
    ("it snows", "il neige"),
    ("it is too late", "il est trop tard"),
    ("it is possible", "c'est possible"),
)

REASONS = (
    ("it is raining", "il pleut"),
    ("it is late", "il est tard"),
    ("it is dangerous", "c'est dangereux"),
    ("it is too expensive", "c'est trop cher"),
    ("it is difficult", "c'est difficile"),
    ("it is my birthday", "c'est mon anniversaire"),
    ("I am tired", "je suis fatigué"),
    ("I am hungry", "j'ai faim"),
    ("I am ill", "je suis malade"),
    ("it was raining", "il pleuvait"),
    ("it was cold", "il faisait froid"),
)


def joined(dice: Dice) -> Draft:
    """I want to go home because I am tired: two clauses."""
    first, second = clause(dice, asked=False, tails=0.15), clause(dice, asked=False, tails=0.1)
    link, lien = dice.pick(LINKS)
    if dice.chance(0.3):
        second = pattern_of(dice, CONDITIONS + REASONS) if dice.chance(0.5) else described(dice)
        if second.mark == "?":
            return joined(dice)
    elif link == "so" and dice.chance(0.4):
        first, second = pattern_of(dice, CONDITIONS + REASONS), asks(dice)
        if ("please", POLITE) in second.english:
            return joined(dice)
    phrases, apart = together(first, second)
    comma: Words = [(",", LINK)] if link in ("but", "so") and dice.chance(0.5) else []
    key = 0 if link == "," else LINK
    english = [*first.english, *comma, (link, key), *shifted(second.english)]

    def french(*readings: Reading) -> Variants:
        linked: Words = [*comma, *((word, key) for word in lien.split())]
        ours, theirs = apart(readings)
        return [
            [*words, *linked, *shifted(rest)]
            for words in first.french(*ours)[:3]
            for rest in second.french(*theirs)[:3]
        ]

    combinations = [*first.combinations, *second.combinations]
    return Draft(english, phrases, french, ["speech"], combinations, 1)


def together(first: Draft, second: Draft) -> tuple[list[Phrase], Apart]:
    """The phrases of two clauses, and how to part their readings; "I … I" is the same person both times."""
    n = len(first.phrases)
    same = (
        bool(first.phrases and second.phrases)
        and first.phrases[0].noun is None
        and first.phrases[0].english == second.phrases[0].english
    )

    def apart(readings: tuple[Reading, ...]) -> tuple[tuple[Reading, ...], tuple[Reading, ...]]:
        rest = readings[n:]
        return readings[:n], (readings[0], *rest) if same else rest

    return [*first.phrases, *second.phrases[same:]], apart


def shifted(words: Sequence[Word]) -> Words:
    """The same words with other keys, for a second clause; an ambiguous verb stays so."""
    return [(word, key + SHIFT if key > 79 or 0 < key < 79 else key) for word, key in words]


WONDERS = (
    ("I don't know", "je ne sais pas"),
    ("I don't know", "je ne sais pas"),
    ("I know", "je sais"),
    ("do you know", "sais-tu/savez-vous"),
    ("I don't understand", "je ne comprends pas"),
    ("I want to know", "je veux savoir"),
    ("I wonder", "je me demande"),
    ("he doesn't know", "il ne sait pas"),
)

THOUGHTS = (
    ("I think", "je pense que", "je crois que"),
    ("I think", "je pense que", "je crois que"),
    ("I hope", "j'espère que", ""),
    ("I know", "je sais que", ""),
    ("he says", "il dit que", ""),
    ("she says", "elle dit que", ""),
    ("she thinks", "elle pense que", ""),
)


def thinks(dice: Dice) -> Draft:
    """I think that she is at home: je pense qu'elle est à la maison."""
    said = clause(dice, asked=False, tails=0.15)
    asked = dice.chance(0.4)
    if asked:
        english, french_start = dice.pick(WONDERS)
        word, mot = dice.pick((("why", "pourquoi"), ("if", "si")))
        that: Words = [(word, LINK)]
        starts = [f"{start} {mot}" for start in french_start.split("/")]
    else:
        english, french_start, other = dice.pick(THOUGHTS)
        that = [("that", LINK)] if dice.chance(0.4) else []
        starts = [start for start in (french_start, other) if start]

    def french(*readings: Reading) -> Variants:
        return [
            [*((word, WH) for word in start.split()), *words]
            for start in starts
            if agrees(start, readings)
            for words in said.french(*readings)
        ]

    words = [*((word, WH) for word in english.split()), *that, *said.english]
    mark = "?" if english.startswith("do") else "."
    return Draft(words, said.phrases, french, ["speech"], said.combinations, 1, mark)


def agrees(start: str, readings: Sequence[Reading]) -> bool:
    """Whether nobody is called tu and vous at once."""
    other = "vous" if "-tu" in start else "tu" if "-vous" in start else ""
    return not other or all(reading.register != other for reading in readings)


def while_or_if(dice: Dice) -> Draft:
    """I was reading when you called. If you are tired, you should go to bed. If I had a car, I would drive."""
    if dice.chance(0.3):
        return would_if(dice)
    if dice.chance(0.4):
        first, second = (
            clause(dice, asked=False, tails=0, wanted="was doing", plain=True),
            clause(dice, asked=False, tails=0, wanted="past", plain=True),
        )
        return linked(dice, first, second, "when", "quand")
    state = (
        pattern_of(dice, CONDITIONS)
        if dice.chance(0.3)
        else clause(dice, asked=False, tails=0.1, wanted="present")
    )
    main = clause(
        dice, asked=False, tails=0.1, wanted=dice.pick(("future", "can", "should", "going to"))
    )
    link, lien = dice.pick((("if", "si"), ("if", "si"), ("when", "quand")))
    if link == "when":
        main = clause(dice, asked=False, tails=0, wanted="present")
    return linked(dice, main, state, link, lien)


def would_if(dice: Dice) -> Draft:
    """If I had more money, I would buy a bigger house: si j'avais …, j'achèterais …"""
    state = clause(dice, asked=False, tails=0, wanted="was")
    modes = ("would", "would", "would", "could you", "would like to")
    main = clause(dice, asked=False, tails=0.1, wanted=dice.pick(modes))
    return linked(dice, main, state, "if", "si")


def linked(dice: Dice, main: Draft, other: Draft, link: str, lien: str) -> Draft:
    """A clause and another that says when or on what condition, which may come first."""
    phrases, apart = together(main, other)
    before = dice.chance(0.5)
    start: Words = [(link, LINK)]
    comma: Words = [(",", 0)]

    def french(*readings: Reading) -> Variants:
        ours, theirs = apart(readings)
        first, second = main.french(*ours)[:3], other.french(*theirs)[:3]
        begin: Words = [(lien, LINK)]
        if before:
            return [[*begin, *shifted(s), *comma, *f] for f in first for s in second]
        return [[*f, *begin, *shifted(s)] for f in first for s in second]

    if before:
        english = [*start, *shifted(other.english), *comma, *main.english]
    else:
        english = [*main.english, *start, *shifted(other.english)]
    combinations = [*main.combinations, *other.combinations]
    return Draft(english, phrases, french, ["speech"], combinations, 1)


def pattern_of(dice: Dice, pairs: Sequence[tuple[str, str]]) -> Draft:
    """A clause without any places."""
    words, mots = ([(word, WH) for word in text.split()] for text in dice.pick(pairs))
    return Draft(words, [], lambda: [mots], ["speech"])
