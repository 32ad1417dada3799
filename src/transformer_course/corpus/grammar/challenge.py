"""Challenge sets: balanced test sentences for each phenomenon."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from transformer_course.corpus.grammar.coreference import CELLS, fitting, street
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, sentences_of
from transformer_course.corpus.grammar.mixture import PHENOMENA, Rule
from transformer_course.corpus.grammar.orthography import Style, plain
from transformer_course.corpus.grammar.splits import check_request
from transformer_course.corpus.pairs import Pair

SIZE = 160
REPEATS = 5000  # a rule that gave nothing new for so many sentences in a row has no more
CROSSED: dict[str, Callable[..., Draft]] = {
    "antecedent": street,
    "fitting": fitting,
}


def sentences_with(
    phenomenon: str, split: str, n: int, seed: int = 0, style: Style | None = None
) -> Iterator[Pair]:
    """Different sentences of a split that show a phenomenon.

    Each of the rules that can show it gives as many sentences as the others, the phenomena with il
    or elle in equal parts for all that can decide the choice.

    Args:
        phenomenon: one of `PHENOMENA`.
        split: "train", "valid" or "test".
        n: how many pairs, 0 or more.
        seed: 0 or more; another seed gives other sentences.
        style: capitals and marks of all sentences; each has its own at random if left out.

    Returns:
        The pairs, made one by one as they are asked for, from the rules in turn.

    Raises:
        ValueError: for an unknown phenomenon or split, or a negative number.
    """
    if phenomenon not in PHENOMENA:
        raise ValueError(f"phenomenon ({phenomenon!r}) must be one of {', '.join(PHENOMENA)}")
    check_request(split, n, seed)
    dice = Dice(seed * 1000 + 7 * list(PHENOMENA).index(phenomenon) + len(split))
    rules: Sequence[Rule] = PHENOMENA[phenomenon]
    if phenomenon in CROSSED:
        rules = [partial(CROSSED[phenomenon], cell=cell) for cell in CELLS]
    every = wholly(phenomenon)
    streams = [
        different(showing(phenomenon, sentences_of(split, (rule,), dice, every, style)))
        for rule in rules
    ]
    return islice((pair for row in zip(*streams, strict=True) for pair in row), n)


def wholly(phenomenon: str) -> bool:
    """Whether every combination must be new, so that no training sentence gives the answer away."""
    return phenomenon in CROSSED


def showing(phenomenon: str, pairs: Iterator[Pair]) -> Iterator[Pair]:
    """The pairs that have the label."""
    return (pair for pair in pairs if phenomenon in pair.phenomena)


def different(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Each source once, in whatever style.

    Raises:
        ValueError: where nothing new comes for long, so that a list of them would never be full.
    """
    seen: set[str] = set()
    repeats = 0
    for pair in pairs:
        source = plain(pair.source)
        repeats = repeats + 1 if source in seen else 0
        if repeats > REPEATS:
            raise ValueError(f"a rule has only {len(seen)} different sentences, as {pair.source!r}")
        if not repeats:
            seen.add(source)
            yield pair


def challenge_sets(seed: int = 0) -> dict[str, list[Pair]]:
    """For each phenomenon, 160 different test sentences that show it, balanced.

    The sentences with il or elle cross which noun is meant, which comes first and its gender.

    Args:
        seed: 0 or more; another seed gives other sentences.

    Returns:
        Phenomenon → its pairs.

    Raises:
        ValueError: if `seed` is negative.
    """
    return {name: list(sentences_with(name, "test", SIZE, seed)) for name in PHENOMENA}
