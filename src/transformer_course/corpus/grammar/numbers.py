"""Numbers from one to a hundred, in both languages."""

UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = [".", ".", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
UNITÉS = [
    "zéro",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
    "dix-sept",
    "dix-huit",
    "dix-neuf",
]
DIZAINES = [
    ".",
    ".",
    "vingt",
    "trente",
    "quarante",
    "cinquante",
    "soixante",
    "soixante",
    "quatre-vingt",
    "quatre-vingt",
]


def english_number(value: int) -> str:
    """A number from 1 to 100.

    >>> english_number(21), english_number(100)
    ('twenty-one', 'one hundred')
    """
    if value < 20:
        return UNITS[value]
    if value == 100:
        return "one hundred"
    tens, unit = divmod(value, 10)
    return TENS[tens] + (f"-{UNITS[unit]}" if unit else "")


def french_number(value: int, gender: str = "m") -> str:
    """A number from 1 to 100 in the traditional spelling; "un" alone agrees.

    >>> [french_number(value) for value in (16, 21, 70, 71, 80, 81, 99)]
    ['seize', 'vingt et un', 'soixante-dix', 'soixante et onze', 'quatre-vingts', \
'quatre-vingt-un', 'quatre-vingt-dix-neuf']
    >>> french_number(31, "f")
    'trente et une'
    """
    if value == 100:
        return "cent"
    if value < 20:
        number = UNITÉS[value]
    else:
        tens, unit = divmod(value, 10)
        if tens in (7, 9):
            unit += 10
        number = DIZAINES[tens] + joined_unit(tens, unit)
    return number + "e" if gender == "f" and number.endswith("un") else number


def joined_unit(tens: int, unit: int) -> str:
    """The unit after twenty, thirty, …: "et" before un and onze, but not after quatre-vingt.

    >>> joined_unit(2, 1), joined_unit(7, 11), joined_unit(8, 1), joined_unit(8, 0)
    (' et un', ' et onze', '-un', 's')
    """
    if unit == 0:
        return "s" if tens == 8 else ""
    if unit in (1, 11) and tens < 8:
        return f" et {UNITÉS[unit]}"
    return f"-{UNITÉS[unit]}"
