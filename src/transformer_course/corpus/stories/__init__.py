"""Stories in English and French about a small world, with everything known about them (chapter 12).

People and an animal go to places, find, lose and pass on things. Each sentence is true in the world, and each
pronoun is clear by the rules in `events`, however far back what it stands for was named. `labels` says what
a story holds, `templates` and `patterns` how sentences are written, `cast` who and what there is, `world`
and `events` what happens, `telling` in which order, `endings` the summary and the questions, `baselines`
guesses that understand nothing.
"""

from collections.abc import Iterator

from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.splits import SPLITS, check_request
from transformer_course.corpus.stories.labels import Mention, Question, Story, joined, words
from transformer_course.corpus.stories.telling import tell

__all__ = ["Mention", "Question", "Story", "joined", "stories", "words"]


def stories(
    split: str, n: int, seed: int = 0, n_sentences: int | tuple[int, int] = (8, 40)
) -> Iterator[Story]:
    """Random stories of one split, the same for the same seed on every platform.

    Args:
        split: "train", "valid" or "test"; each story of the last two has a (person, thing) pair that no
            training story has.
        n: how many stories, 0 or more.
        seed: another seed gives other stories.
        n_sentences: how many sentences each has, or the least and the most.

    Returns:
        The stories, made one by one as they are asked for.

    Raises:
        ValueError: for an unknown split, a negative number, or lengths that are not 4 ≤ least ≤ most.

    >>> story = next(stories("train", 1, n_sentences=8))
    >>> len(story.sentences)
    8
    """
    check_request(split, n)
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
