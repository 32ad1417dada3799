"""An English–French grammar that writes sentences in both languages at once."""

from collections.abc import Callable, Iterator

from transformer_course.corpus.grammar import coreference, sentences
from transformer_course.corpus.grammar.draft import Draft, render
from transformer_course.corpus.grammar.phrases import Dice
from transformer_course.corpus.grammar.splits import SPLITS, belongs
from transformer_course.corpus.pairs import Pair

__all__ = ["RULES", "challenge_sets", "generate"]

# How often each rule is used, in parts.
RULES: dict[Callable[[Dice], Draft], int] = {
    sentences.transitive: 6,
    sentences.negative: 6,
    sentences.indirect: 4,
    sentences.intransitive: 4,
    sentences.motion: 3,
    sentences.giving: 4,
    sentences.place: 4,
    sentences.description: 4,
    coreference.street: 5,
}
URN = tuple(rule for rule, parts in RULES.items() for _ in range(parts))


def generate(split: str, n: int, seed: int = 0) -> Iterator[Pair]:
    """Random pairs of one split, the same for the same seed on every platform.

    Args:
        split: "train", "valid" or "test"; each has combinations of lemmas of its own.
        n: how many pairs.
        seed: another seed gives other sentences.

    Raises:
        ValueError: for an unknown split or a negative number.

    >>> next(generate("train", 1, seed=1)).source == next(generate("train", 1, seed=1)).source
    True
    """
    if split not in SPLITS:
        raise ValueError(f"split ({split!r}) must be one of {', '.join(SPLITS)}")
    if n < 0:
        raise ValueError(f"n ({n}) must not be negative")
    return write(split, n, Dice(seed * len(SPLITS) + SPLITS.index(split)))


def write(split: str, n: int, dice: Dice) -> Iterator[Pair]:
    """Draw until n sentences belong to the split."""
    count = 0
    while count < n:
        draft = dice.pick(URN)(dice)
        if belongs(draft.all_combinations(), split):
            count += 1
            yield render(draft, dice)


def challenge_sets(seed: int = 0) -> dict[str, list[Pair]]:
    """A set of test sentences for each phenomenon."""
    sets: dict[str, list[Pair]] = {}
    for pair in generate("test", 4000, seed + 1):
        for phenomenon in pair.phenomena:
            sets.setdefault(phenomenon, [])
            if len(sets[phenomenon]) < 200:
                sets[phenomenon].append(pair)
    return dict(sorted(sets.items()))
