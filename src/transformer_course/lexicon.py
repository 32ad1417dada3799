"""The usual translations of words, and which words of a sentence have none in its translation (chapter 13).

IBM model 1 counts in the training pairs what each word is translated by. A word that had one of its usual
translations beside it in every pair, and has none now, was probably left out, or translated wrongly. Words are
compared by their first letters, so *danse*, *dansent* and *dansera* count as one translation.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from transformer_course.corpus.normal_form import normalise
from transformer_course.corpus.pairs import words
from transformer_course.non_autoregressive.ibm_models import IbmModel

Lexicon = Mapping[str, frozenset[str]]
Item = TypeVar("Item")

_SOURCE, _TARGET = 5, 4  # letters of a word that are compared: most endings come later
_SELDOM = 5  # a word that was met in fewer pairs isn't judged
_UPDATES = 5  # of model 1
_RARE = 0.001  # a translation that is less probable is none
_SHARE = 0.5  # of what was the least in a pair, a usual translation has
_PAIRS, _CHOICES = 50_000, 3_000_000  # pairs, and pairs of words in them, that are counted: 200 MB


def usual_translations(pairs: Sequence[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Learn from sentence pairs which translations of a word are usual.

    In a pair, the probability of a word's translation is the highest of all target words, in the table of IBM
    model 1 (Brown et al. 1993, §4.1). The lowest of all pairs decides: target words with half of that or more
    are usual. A word that once had none is left out: it can be right without.

    Args:
        pairs: source and target of each sentence. At most 50,000 of them are read, from all over, and fewer of
            long ones.

    Returns:
        Beginning of a source word → beginnings of its usual translations, in small letters. Words that came in
        fewer than 5 pairs are left out, and marks.

    >>> colours = {"red": "rouge", "green": "vert", "blue": "bleu"}
    >>> pairs = [(f"{a} and {b}", f"{colours[a]} et {colours[b]}") for a in colours for b in colours]
    >>> lexicon = usual_translations(pairs)
    >>> sorted(lexicon), untranslated(lexicon, "Red, and green!", "Rouges !")
    (['and', 'blue', 'green', 'red'], ('and', 'green'))
    """
    known = [
        (_beginnings(src, _SOURCE), _beginnings(tgt, _TARGET)) for src, tgt in spread(pairs, _PAIRS)
    ]
    choices = sum((len(src) + 1) * len(tgt) for src, tgt in known)
    known = spread(known, len(known) * _CHOICES // max(choices, _CHOICES))
    if not any(tgt for _, tgt in known):
        return {}
    model = IbmModel(known)
    for _ in range(_UPDATES):
        model.update()
    met = Counter(word for src, _ in known for word in set(src))
    tables = {
        word: model.translations(word, _RARE)
        for word, count in met.items()
        if count >= _SELDOM and word.isalnum()
    }
    least = dict.fromkeys(tables, 1.0)
    for src, tgt in known:
        for word in tables.keys() & set(src):
            found = max((tables[word].get(other, 0.0) for other in tgt), default=0.0)
            least[word] = min(least[word], found)
    return {
        word: frozenset(str(other) for other, p in tables[word].items() if p >= _SHARE * low)
        for word, low in least.items()
        if low
    }


def untranslated(lexicon: Lexicon, source: str, target: str) -> tuple[str, ...]:
    """Which words of a sentence have none of their usual translations in its translation.

    Args:
        lexicon: from `usual_translations`.
        source: the sentence.
        target: its translation.

    Returns:
        Those words, each once, in their order; none of which the lexicon knows nothing.
    """
    said = {*_beginnings(target, _TARGET)}
    found = (
        word
        for word in words(normalise(source))
        if any(part in lexicon and not said & lexicon[part] for part in _beginnings(word, _SOURCE))
    )
    return tuple(dict.fromkeys(found))


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """Choose items from all over a sequence.

    Args:
        items: any.
        most: how many to choose, 0 or more; all if there aren't as many.

    Returns:
        The chosen items, in their order.

    >>> spread("abcdefg", 3), spread("ab", 3)
    (['a', 'c', 'e'], ['a', 'b'])
    """
    count = min(most, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def _beginnings(text: str, letters: int) -> list[str]:
    """The first letters of each word; parts that an apostrophe or a hyphen joins are words of their own.

    >>> _beginnings("Explorera-t-elle l'île, demain ?", 4)
    ['expl', 't', 'elle', 'l', 'île', ',', 'dema', '?']
    """
    parts = (part for word in words(normalise(text)) for part in re.split("['-]", word))
    return [part[:letters].lower() for part in parts if part]
