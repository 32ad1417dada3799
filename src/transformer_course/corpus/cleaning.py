"""Which sentence pairs are fit to be learned from (chapter 07): rules for text that nobody has read.

A pair that is left out has one reason, the first that holds in the order of `REASONS`. So all can be counted.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from transformer_course.corpus.bilingual import Sides
from transformer_course.corpus.lenient import Line, TooLongError
from transformer_course.corpus.normal_form import normalise
from transformer_course.corpus.readers import MAX_CHARS

REASONS = {
    "unreadable": "no UTF-8, a control character, a tab too many, or a side that is missing",
    "empty": "nothing to be seen on a side",
    "too long": "more than 2,000 characters on a side",
    "lengths": "one side is much longer than the other",
    "script": "more than half of a side's letters are of another script than the file's",
    "subwords": "more than 511 subwords on a side",
    "duplicate": "the same pair again",
}
_RATIO, _FREE = 4, 20  # a side may have this many times the other's characters, and these
_MANY = 511  # subwords: what the presets take, with one special token
# "KATAKANA-HIRAGANA" begins the name of ー, "IDEOGRAPHIC" that of 々.
_JAPANESE = dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"), "CJK")


def reason_to_drop(sides: Sides, scripts: tuple[str, str]) -> tuple[str, str, str]:
    """Bring a pair to the form of `corpus.normal_form`, and say why it is left out.

    Args:
        sides: source and translation, as `read_bilingual` gives them.
        scripts: of each side, as `main_script` says it; "" takes any.

    Returns:
        Source, translation, and the reason, one of the first five of `REASONS`; "" for a pair that stays.

    >>> reason_to_drop(("the  cat", "le chat"), ("LATIN", "LATIN"))
    ('the cat', 'le chat', '')
    >>> reason_to_drop(("the cat", "кошка"), ("LATIN", "LATIN"))[2]
    'script'
    """
    texts = [normalise(side) if isinstance(side, str) else "" for side in sides]
    return texts[0], texts[1], _reason(sides, texts, scripts)


def _reason(sides: Sides, texts: list[str], scripts: tuple[str, str]) -> str:
    errors = [side for side in sides if not isinstance(side, str)]
    if errors:
        long = all(isinstance(error, TooLongError) for error in errors)
        return "too long" if long else "unreadable"
    if not all(texts):
        return "empty"
    few, many = sorted(map(len, texts))
    if many > MAX_CHARS:
        return "too long"  # some letters are longer in their normal form
    if many > _RATIO * few + _FREE:
        return "lengths"
    if any(wanted and _foreign(text, wanted) for text, wanted in zip(texts, scripts, strict=True)):
        return "script"
    return ""


def too_many(*numbers: int) -> bool:
    """Whether a side has more subwords than a model takes.

    Args:
        *numbers: subwords of each side.

    Returns:
        True if the pair is left out.
    """
    return max(numbers) > _MANY


def main_script(lines: Iterable[Line]) -> str:
    """The script of most letters.

    Args:
        lines: sentences; errors among them don't count.

    Returns:
        As Unicode's names of letters begin: "LATIN", "CYRILLIC", "CJK", which is Japanese, too; "" if there are
        no letters.

    >>> main_script(["le chat", "кот"])
    'LATIN'
    """
    counts: Counter[str] = Counter()
    for line in lines:
        if isinstance(line, str):
            counts.update(filter(None, map(_script, line)))
    # Of equally many the first by name, in whatever order they came.
    return max(sorted(counts), key=counts.__getitem__, default="")


def _foreign(text: str, wanted: str) -> bool:
    if wanted == "LATIN" and text.isascii():
        return False
    scripts = list(filter(None, map(_script, text)))
    return 2 * scripts.count(wanted) < len(scripts)


@lru_cache(maxsize=1 << 16)
def _script(letter: str) -> str:
    """The first word of a letter's name; "" for what is no letter."""
    if not letter.isalpha():
        return ""
    first, _, rest = unicodedata.name(letter, "").partition(" ")
    first = rest.partition(" ")[0] if first in ("FULLWIDTH", "HALFWIDTH") else first
    return _JAPANESE.get(first, first)
