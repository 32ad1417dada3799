"""The usual translations of words, and which words of a sentence have none in its translation (chapter 13).

IBM model 1 counts in the training pairs what each word is translated by. A word that had one of its usual
translations beside it in every pair, and has none now, was probably left out, or translated wrongly. Words are
compared by their first letters: *danse*, *dansent* and *dansera* count as one translation.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
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
_PAIRS, _CHOICES = 50_000, 1_000_000  # pairs, and pairs of words in them, that are counted: 200 MB


def usual_translations(pairs: Sequence[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Learn from sentence pairs which translations of a word are usual.

    They are as few as it takes that each pair of the word has one of them. First comes the one that is in most
    pairs; each pair counts by the translation's probability in the table of IBM model 1 (Brown et al. 1993,
    §4.1) and by how rare it is among all targets. Then comes the one that is in most of the pairs left. A word
    that in some pair has no translation at all isn't judged: it can do without.

    Args:
        pairs: source and target of each sentence. At most 50,000 of them are read, from all over, and fewer of
            long ones.

    Returns:
        Beginning of a source word → beginnings of its usual translations, in small letters. Words that came in
        fewer than 5 pairs are left out, and marks on both sides.

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
    cases: dict[str, list[set[str]]] = {}
    for src, tgt in known:
        for word in set(src):
            cases.setdefault(word, []).append({*tgt})
    frequency = Counter(other for _, tgt in known for other in set(tgt))
    found = {}
    for word, targets in cases.items():
        if len(targets) >= _SELDOM and word.isalnum():
            table = model.translations(word, _RARE)
            weights = {
                y: p * math.log1p(len(known) / frequency[y])
                for y, p in ((str(y), p) for y, p in table.items())
                if y.isalnum()
            }
            found[word] = _as_few_as_cover(targets, weights)
    return {word: usual for word, usual in found.items() if usual}


def _as_few_as_cover(targets: Sequence[Set[str]], weights: Mapping[str, float]) -> frozenset[str]:
    """Few words of which each target has one; none if there is a target without any of those with a weight."""
    usual: set[str] = set()
    while targets:
        votes = Counter(word for target in targets for word in target & weights.keys())
        if not votes:
            return frozenset()
        usual.add(max(sorted(votes), key=lambda word: votes[word] * weights[word]))
        targets = [target for target in targets if not usual & target]
    return frozenset(usual)


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
