"""The corpus of the demo translator: the grammar's sentences, and what people type first (chapter 07).

The grammar shows phenomena, a rule for each, and the experiments measure on it; nobody talks like that all day.
Here its sentences are mixed with everyday speech. `words` and `slots` read the tables in `data`; `modes` are
the tenses and modal verbs that a predicate can have, `predicates` what people do or are, `tails` when and
where. The sentences are in `clauses`, `requests`, `descriptions`, `compounds` and `patterns`; `contractions`
writes "I'm" for "I am".
"""

from collections.abc import Iterator
from itertools import islice

from transformer_course.corpus.everyday.clauses import says, what_question
from transformer_course.corpus.everyday.compounds import joined, thinks, while_or_if
from transformer_course.corpus.everyday.contractions import contracted
from transformer_course.corpus.everyday.descriptions import described, there
from transformer_course.corpus.everyday.patterns import pattern
from transformer_course.corpus.everyday.requests import asks
from transformer_course.corpus.everyday.slots import LISTS
from transformer_course.corpus.grammar import URN as GRAMMAR
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, sentences_of
from transformer_course.corpus.grammar.lexicon import NOUN
from transformer_course.corpus.grammar.mixture import Rule
from transformer_course.corpus.grammar.orthography import Style
from transformer_course.corpus.grammar.phrase_book import phrase, phrase_with
from transformer_course.corpus.grammar.splits import SPLITS, check_request
from transformer_course.corpus.pairs import Pair

__all__ = ["RULES", "generate"]

# How often each rule is used, in parts of the whole of everyday speech.
RULES: dict[Rule, int] = {
    says: 49,
    asks: 11,
    pattern: 33,
    joined: 5,
    what_question: 3,
    thinks: 4,
    while_or_if: 5,
    there: 5,
    described: 9,
}
PER_RULE = 2  # two parts of everyday speech for each that RULES says, beside the parts of the grammar's mixture


def _spoken(rule: Rule) -> Rule:
    """The rule itself; the grammar's phrases have the hours of everyday speech, too: at six, at six o'clock."""
    return (lambda dice: phrase_with(dice, LISTS)) if rule is phrase else _without_shoals(rule)


def _without_shoals(rule: Rule) -> Rule:
    """The same rule, but "fish" is what one eats or one animal: il mange du poisson, never several of them."""

    def drawn(dice: Dice) -> Draft:
        draft = rule(dice)
        while any(p.noun is FISH and p.readings[0].plural for p in draft.phrases):
            draft = rule(dice)
        return draft

    return drawn


FISH = NOUN["fish"]  # its plural is the same word, so English doesn't tell them apart


SPEECH = tuple(rule for rule, parts in RULES.items() for _ in range(PER_RULE * parts))
URN = tuple(contracted(_spoken(rule)) for rule in (*GRAMMAR, *SPEECH))


def generate(split: str, n: int, seed: int = 0, style: Style | None = None) -> Iterator[Pair]:
    """Random pairs of one split, as `corpus.grammar.generate` gives them.

    Args:
        split: "train", "valid" or "test"; each has combinations of lemmas of its own.
        n: how many pairs, 0 or more.
        seed: 0 or more; another seed gives other sentences.
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
