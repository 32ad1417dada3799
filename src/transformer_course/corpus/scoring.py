"""Scores of translations of the grammar's sentences (chapter 07): exact match, by group, and il or elle."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from transformer_course.corpus.pairs import Pair, count_words

TWO_WAY = ("antecedent", "fitting")  # phenomena whose sentences ask for il or elle
PRONOUN = re.compile(r"(?:\b|')(il|elle)\b", re.IGNORECASE)


def exact_match(pairs: Sequence[Pair], translations: Sequence[str]) -> float:
    """Share of translations that are one of the right answers.

    Args:
        pairs: the sentences with their right translations.
        translations: what is to be judged, one a pair.

    Returns:
        The share, 0 to 1.

    Raises:
        ValueError: if there are no pairs, or not as many translations.

    >>> pair = Pair("i am a student", ("je suis étudiant", "je suis étudiante"))
    >>> exact_match([pair, pair], ["je suis étudiante", "je suis un étudiant"])
    0.5
    """
    check(pairs, translations)
    return sum(map(Pair.accepts, pairs, translations)) / len(pairs)


def by_phenomenon(
    pairs: Sequence[Pair], translations: Sequence[str]
) -> dict[str, tuple[float, int]]:
    """Exact match of the sentences of each phenomenon, and how many there are.

    Args:
        pairs: the sentences with their right translations and phenomena.
        translations: what is to be judged, one a pair.

    Returns:
        Phenomenon → (share of right translations, 0 to 1, number of sentences), sorted by name. A
        sentence counts for each of its phenomena.

    Raises:
        ValueError: if there are no pairs, or not as many translations.

    >>> pair = Pair("i am tired", ("je suis fatigué",), ("agreement",))
    >>> by_phenomenon([pair], ["je suis fatigué"])
    {'agreement': (1.0, 1)}
    """
    check(pairs, translations)
    right: dict[str, list[bool]] = {}
    for pair, translation in zip(pairs, translations, strict=True):
        for phenomenon in pair.phenomena:
            right.setdefault(phenomenon, []).append(pair.accepts(translation))
    return {name: (sum(found) / len(found), len(found)) for name, found in sorted(right.items())}


def group_by_length(pairs: Sequence[Pair], starts: Sequence[int]) -> dict[str, list[Pair]]:
    """The pairs in groups by the number of words of their sources.

    Args:
        pairs: the sentences.
        starts: the fewest words of each group, growing; shorter sentences are an error.

    Returns:
        "from-to", or "from+" for the last group → its pairs; a group may be empty.

    Raises:
        ValueError: if starts is empty or doesn't grow, or a source is shorter than the first.

    >>> pairs = [Pair(source, ("x",)) for source in ("yes", "i am tired", "he is a king")]
    >>> {group: len(found) for group, found in group_by_length(pairs, [1, 4]).items()}
    {'1-3': 2, '4+': 1}
    """
    if not starts or any(a >= b for a, b in pairwise(starts)):
        raise ValueError(f"starts ({list(starts)}) must be growing numbers, at least one")
    names = [f"{start}-{following - 1}" for start, following in pairwise(starts)]
    groups: dict[str, list[Pair]] = {name: [] for name in [*names, f"{starts[-1]}+"]}
    found = list(groups.values())
    for pair in pairs:
        group = bisect_right(starts, count_words(pair.source)) - 1
        if group < 0:
            raise ValueError(f"source ({pair.source!r}) must have {starts[0]} words or more")
        found[group].append(pair)
    return groups


def chosen_pronoun(translation: str) -> str:
    """The last il or elle of a translation.

    Args:
        translation: a French sentence.

    Returns:
        "il" or "elle", or an empty text if there is neither.

    >>> chosen_pronoun("Il dort.")
    'il'
    >>> chosen_pronoun("l'animal n'a pas traversé la rue parce qu'elle était trop large")
    'elle'
    """
    found = PRONOUN.findall(translation)
    return found[-1].lower() if found else ""


def pronoun_accuracy(pairs: Sequence[Pair], translations: Sequence[str]) -> float:
    """Share of translations that choose il or elle as the right answer does.

    Sentences in which one word decides what "it" means are from Levesque et al. 2012.

    Args:
        pairs: the sentences with their right translations; the first one of each counts.
        translations: what is to be judged, one a pair.

    Returns:
        The share, 0 to 1. Where the right answer has neither il nor elle, neither is right.

    Raises:
        ValueError: if there are no pairs, or not as many translations.

    >>> pair = Pair("it is too wide", ("elle est trop large",))
    >>> pronoun_accuracy([pair], ["elle est trop grand"])
    1.0
    """
    check(pairs, translations)
    wanted = [chosen_pronoun(pair.target) for pair in pairs]
    chosen = [chosen_pronoun(translation) for translation in translations]
    return sum(map(str.__eq__, wanted, chosen)) / len(pairs)


def check(pairs: Sequence[Pair], translations: Sequence[str]) -> None:
    """Refuse scores of nothing: every pair must have a translation.

    Args:
        pairs: the sentences.
        translations: their translations.

    Raises:
        ValueError: if there are no pairs, or not as many translations.
    """
    if not pairs:
        raise ValueError("pairs must not be empty")
    if len(pairs) != len(translations):
        raise ValueError(
            f"translations ({len(translations)}) must be as many as pairs ({len(pairs)})"
        )
