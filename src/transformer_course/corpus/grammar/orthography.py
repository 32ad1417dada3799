"""What people write around the words: capitals and the mark at the end.

The rules write lower case, without a final mark; a name or a day has its capital in the tables, as its
language writes it (Monday, but lundi). The style belongs to a sentence: both languages share it, as far as
it can be seen: "I sleep" begins with a capital in most styles, so its French does too.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

# French sets a space before marks of two parts.
FRENCH_MARKS = {".": ".", "?": " ?", "!": " !"}
ENGLISH_I = re.compile(
    r"[Ii](?=[\s',]|$)(?<!\S[Ii])"
)  # a whole word; the letter first: that is fast


class Style(NamedTuple):
    """How somebody writes a sentence.

    Args:
        capital: the first letter is a capital.
        mark: the sentence ends in its mark.
        capital_i: the English "I" is a capital.
    """

    capital: bool
    mark: bool
    capital_i: bool = True


CAREFUL = Style(True, True)
PLAIN = Style(False, False)
HASTY = Style(False, False, False)
WITHOUT_MARK = Style(True, False)
WITHOUT_CAPITAL = Style(False, True)

# Of 40 sentences so many are written in each style.
STYLES = (
    *(CAREFUL,) * 28,
    *(PLAIN,) * 3,
    *(HASTY,) * 3,
    *(WITHOUT_MARK,) * 3,
    *(WITHOUT_CAPITAL,) * 3,
)


def finish_english(text: str, mark: str, style: Style) -> str:
    """An English sentence as somebody writes it.

    >>> finish_english("the cat and i are here", ".", CAREFUL), finish_english("am i ill", "?", HASTY)
    ('The cat and I are here.', 'am i ill')
    """
    text = ENGLISH_I.sub("I" if style.capital_i else "i", text)
    if style.capital:
        text = text[0].upper() + text[1:]
    return text + mark if style.mark else text


def finish_french(texts: Iterable[str], mark: str, style: Style, capital: bool) -> tuple[str, ...]:
    """French sentences as somebody writes them, with a capital if the English one has it.

    >>> finish_french(["où est le chat", "où le chat est-il"], "?", CAREFUL, True)
    ('Où est le chat ?', 'Où le chat est-il ?')
    """
    end = FRENCH_MARKS[mark] if style.mark else ""
    if capital:
        return tuple([text[0].upper() + text[1:] + end for text in texts])
    return tuple([text + end for text in texts])


def plain(text: str) -> str:
    """A finished sentence without what its style added, for telling two sentences apart.

    >>> plain("Où est le chat ?")
    'où est le chat'
    """
    return text.lower().rstrip(".?! ")
