"""Stories in English and French about a small world, with everything known about them (chapter 12).

People and an animal go to places, find, lose and pass on things. Each sentence is true in the world, and each
pronoun is clear by the rules in `events`, however far back what it stands for was named. `labels` says what
a story holds, `templates` and `patterns` how sentences are written, `cast` who and what there is, `world`
and `events` what happens, `telling` in which order, `endings` the summary and the questions, `baselines`
guesses that understand nothing.
"""

from collections.abc import Collection, Iterator

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.splits import SPLITS, check_request
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.stories.labels import Mention, Question, Story, joined, words
from transformer_course.corpus.stories.telling import tell, tell_and_ask

__all__ = ["Mention", "Question", "Story", "joined", "stories", "stories_with_questions", "words"]

KINDS = ("where", "what", "who", "where thing", "first met")


def stories(
    split: str, n: int, seed: int = 0, n_sentences: int | tuple[int, int] = (8, 40)
) -> Iterator[Story]:
    """Random stories of one split, the same for the same seed on every platform.

    Args:
        split: "train", "valid" or "test"; each story of the last two has a (person, thing) pair that no
            training story has.
        n: how many stories, 0 or more.
        seed: 0 or more; another seed gives other stories.
        n_sentences: how many sentences each has, or the least and the most.

    Returns:
        The stories, made one by one as they are asked for.

    Raises:
        ValueError: for an unknown split, a negative number, or lengths that are not 4 ≤ least ≤ most.

    >>> story = next(stories("train", 1, n_sentences=8))
    >>> len(story.sentences)
    8
    """
    check_request(split, n, seed)
    least, most = (n_sentences, n_sentences) if isinstance(n_sentences, int) else n_sentences
    if not 4 <= least <= most:
        raise ValueError(
            f"n_sentences ({n_sentences}) must be 4 or more, the least before the most"
        )
    return _tell_all(split, n, seed, least, most)


def _tell_all(split: str, n: int, seed: int, least: int, most: int) -> Iterator[Story]:
    dice = Dice(seed * len(SPLITS) + SPLITS.index(split))
    for _ in range(n):
        yield tell(dice, split, least + int(dice.random() * (most - least + 1)))


def stories_with_questions(
    split: str,
    n: int,
    seed: int = 0,
    n_sentences: int = 40,
    every: int = 2,
    kinds: Collection[str] = KINDS,
    once: bool = True,
) -> Iterator[list[Pair | Question]]:
    """Random stories, each with questions in between: what is asked may have been said long ago.

    The questions are asides: a pronoun in the next sentence looks past them, to the story.

    Args:
        split: as in `stories`.
        n: how many stories, 0 or more.
        seed: 0 or more; another seed gives other stories.
        n_sentences: how many sentences each has, 4 or more.
        every: after how many sentences something is asked, 1 or more; not if there is nothing new to ask.
        kinds: kinds of questions, see `Question`; "began" is none of them.
        once: whether no question comes twice with the same answer, which could be copied from there.

    Returns:
        For each story its sentences and questions in their order. A question's `sentence` and `distance`
        count the sentences told so far.

    Raises:
        ValueError: for an unknown split or kind, or a number that is too small.

    >>> told = next(stories_with_questions("train", 1, n_sentences=4))
    >>> [type(part).__name__ for part in told]
    ['Pair', 'Pair', 'Question', 'Pair', 'Pair', 'Question']
    """
    check_request(split, n, seed)
    if n_sentences < 4:
        raise ValueError(f"n_sentences ({n_sentences}) must be 4 or more")
    if every < 1:
        raise ValueError(f"every ({every}) must be 1 or more")
    if unknown := set(kinds) - set(KINDS):
        raise ValueError(f"kinds has {sorted(unknown)}; there are {', '.join(KINDS)}")
    return _tell_and_ask_all(split, n, seed, n_sentences, every, kinds, once)


def _tell_and_ask_all(
    split: str,
    n: int,
    seed: int,
    n_sentences: int,
    every: int,
    kinds: Collection[str],
    once: bool,
) -> Iterator[list[Pair | Question]]:
    dice = Dice(seed * len(SPLITS) + SPLITS.index(split))
    for _ in range(n):
        yield tell_and_ask(dice, split, n_sentences, every, kinds, once)
