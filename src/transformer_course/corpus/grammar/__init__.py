"""An English–French grammar that writes sentences in both languages at once (chapter 07).

The words, and which go together, are in `data` and `lexicon`; plurals, feminines and conjugations in
`morphology`. `numbers`, `determiners`, `phrases` and `clauses` make noun phrases and verbs in both languages,
`parts` and `sayings` what sentences are made of. The rules, one function for each kind of sentence, are in
`sentences`, `questions`, `pronouns`, `infinitives`, `commands`, `irregular_commands`, `conditionals`,
`reflexives`, `reflexive_clauses`, `compounds`, `relatives`, `comparisons`, `existence`, `owners`, `names`,
`pastimes`, `times`, `directions`, `idioms` and `coreference`; `mixture` says how often each is used.
`phrase_book` says what people say every day.
`spelling` does elision, contraction and hyphens, `orthography` capitals and final marks, `draft` turns a
sentence into a pair, and `splits` and `challenge` say what may meet in which split.
"""

from collections.abc import Iterator
from itertools import islice

from transformer_course.corpus.grammar.challenge import challenge_sets, sentences_with
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import sentences_of
from transformer_course.corpus.grammar.mixture import PHENOMENA, RULES
from transformer_course.corpus.grammar.orthography import Style
from transformer_course.corpus.grammar.splits import SPLITS, check_request
from transformer_course.corpus.pairs import Pair

__all__ = ["PHENOMENA", "RULES", "challenge_sets", "generate", "sentences_with"]

URN = tuple(rule for rule, parts in RULES.items() for _ in range(parts))


def generate(split: str, n: int, seed: int = 0, style: Style | None = None) -> Iterator[Pair]:
    """Random pairs of one split, the same for the same seed on every platform.

    Args:
        split: "train", "valid" or "test"; each has combinations of lemmas of its own.
        n: how many pairs, 0 or more.
        seed: 0 or more; another seed gives other sentences; so processes with seeds of their own can draw side
            by side.
        style: capitals and marks of all sentences; each has its own at random if left out.

    Returns:
        The pairs, made one by one as they are asked for; a sentence may come again.

    Raises:
        ValueError: for an unknown split or a negative number.

    >>> [pair.source for pair in generate("test", 2)] == [p.source for p in generate("test", 2)]
    True
    """
    check_request(split, n, seed)
    dice = Dice(seed * len(SPLITS) + SPLITS.index(split))
    return islice(sentences_of(split, URN, dice, style=style), n)
