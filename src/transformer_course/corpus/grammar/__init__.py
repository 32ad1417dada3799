"""An English–French grammar that writes sentences in both languages at once."""

from collections.abc import Callable, Iterator

from transformer_course.corpus.grammar import compounds, coreference, idioms, pronouns, questions, sentences
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
    pronouns.direct: 4,
    pronouns.indirect: 2,
    pronouns.gives_her_the_book: 2,
    pronouns.gives_it_to_her: 4,
    pronouns.object_again: 4,
    pronouns.en_or_y: 2,
    pronouns.infinitive: 4,
    compounds.subordinate: 6,
    compounds.coordinated_subjects: 3,
    compounds.coordinated_objects: 2,
    compounds.coordinated_verbs: 2,
    compounds.who_relative: 3,
    compounds.that_relative: 3,
    compounds.seen_relative: 3,
    compounds.dont_relative: 4,
    compounds.reported: 3,
    idioms.hungry: 2,
    idioms.age: 2,
    idioms.profession: 2,
    idioms.there_is: 3,
    idioms.comparison: 4,
    idioms.nobody: 4,
    idioms.possession: 3,
    idioms.expletive: 1,
    coreference.street: 6,
    coreference.fitting: 4,
    questions.yes_or_no: 3,
    questions.be_question: 2,
    questions.where: 2,
    questions.when_or_why: 2,
    questions.who_does: 2,
    questions.what_or_whom: 2,
    questions.which_or_how_many: 3,
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
        if belongs(draft.all_combinations(), split) and draft.is_clear():
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
