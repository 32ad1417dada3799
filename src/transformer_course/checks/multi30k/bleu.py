"""Exercise: BLEU from scratch."""

import math
import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def _ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    """Return how often each run of n words occurs."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _counts(
    translations: list[list[str]], references: list[list[str]], *, clip: bool = True
) -> tuple[list[int], list[int]]:
    """Return for n = 1 … 4 the runs that were found in the references, and all runs."""
    found, total = [0] * 4, [0] * 4
    for words, right in zip(translations, references, strict=True):
        for n in range(1, 5):
            ours, theirs = _ngrams(words, n), _ngrams(right, n)
            for run, count in ours.items():
                found[n - 1] += min(count, theirs[run]) if clip else count * (run in theirs)
            total[n - 1] += sum(ours.values())
    return found, total


def _score(found: list[int], total: list[int], brevity: float) -> float:
    """Return 100 times brevity times the geometric mean of the precisions; 0 if one of them is 0."""
    if min(found) == 0:
        return 0.0
    logs = [math.log(f / t) for f, t in zip(found, total, strict=True)]
    return 100 * brevity * math.exp(sum(logs) / 4)


def _brevity(ours: int, theirs: int) -> float:
    """Return the brevity penalty of two total lengths."""
    return 1.0 if ours > theirs else math.exp(1 - theirs / max(ours, 1))


def _split(lines: str) -> list[list[str]]:
    return [line.split() for line in lines.split("\n")]


def _lengths(translations: str, references: str) -> tuple[int, int]:
    return len(translations.split()), len(references.split())


def reference(translations: str, references: str) -> float:
    """Return the corpus BLEU."""
    found, total = _counts(_split(translations), _split(references))
    return _score(found, total, _brevity(*_lengths(translations, references)))


def _without_brevity(translations: str, references: str) -> float:
    return _score(*_counts(_split(translations), _split(references)), 1.0)


def _brevity_reversed(translations: str, references: str) -> float:
    ours, theirs = _lengths(translations, references)
    return _score(*_counts(_split(translations), _split(references)), _brevity(theirs, ours))


def _brevity_both_ways(translations: str, references: str) -> float:
    ours, theirs = _lengths(translations, references)
    return _score(*_counts(_split(translations), _split(references)), math.exp(1 - theirs / ours))


def _mean_brevity(translations: str, references: str) -> float:
    pairs = list(zip(_split(translations), _split(references), strict=True))
    brevity = np.mean([_brevity(len(ours), len(theirs)) for ours, theirs in pairs])
    return _score(*_counts(_split(translations), _split(references)), float(brevity))


def _brevity_as_a_ratio(translations: str, references: str) -> float:
    ours, theirs = _lengths(translations, references)
    return _score(*_counts(_split(translations), _split(references)), min(1.0, ours / theirs))


def _unclipped(translations: str, references: str) -> float:
    counts = _counts(_split(translations), _split(references), clip=False)
    return _score(*counts, _brevity(*_lengths(translations, references)))


def _once(translations: str, references: str) -> float:
    found, total = [0] * 4, [0] * 4
    for words, right in zip(_split(translations), _split(references), strict=True):
        for n in range(1, 5):
            ours, theirs = set(_ngrams(words, n)), set(_ngrams(right, n))
            found[n - 1] += len(ours & theirs)
            total[n - 1] += len(ours)
    return _score(found, total, _brevity(*_lengths(translations, references)))


def _pooled(translations: str, references: str) -> float:
    found, total = [0] * 4, [0] * 4
    for n in range(1, 5):
        ours, theirs = (
            sum((_ngrams(words, n) for words in _split(lines)), Counter())
            for lines in (translations, references)
        )
        found[n - 1], total[n - 1] = sum((ours & theirs).values()), sum(ours.values())
    return _score(found, total, _brevity(*_lengths(translations, references)))


def _mean_of_sentences(translations: str, references: str) -> float:
    pairs = zip(translations.split("\n"), references.split("\n"), strict=True)
    return float(np.mean([reference(ours, theirs) for ours, theirs in pairs]))


def _stopping(wrong: Callable[[str, str], float]) -> Callable[[str, str], float]:
    """Return the function for learners who divide by the length of each sentence: it stops if one is empty."""

    def stops(translations: str, references: str) -> float:
        if not all(_split(translations)):
            raise ZeroDivisionError
        return wrong(translations, references)

    return stops


def _of_precisions(mean: Callable[[list[float]], float]) -> Callable[[str, str], float]:
    """Return the score with another mean of the four precisions."""

    def wrong(translations: str, references: str) -> float:
        found, total = _counts(_split(translations), _split(references))
        precisions = [f / max(t, 1) for f, t in zip(found, total, strict=True)]
        return 100 * _brevity(*_lengths(translations, references)) * mean(precisions)

    return wrong


def _recall(translations: str, references: str) -> float:
    found, _ = _counts(_split(translations), _split(references))
    _, total = _counts(_split(references), _split(translations))
    return _score(found, total, _brevity(*_lengths(translations, references)))


def _skipping(*, lengths: bool) -> Callable[[str, str], float]:
    """Return the score without the translations of less than four words, in the lengths, too, or not."""

    def wrong(translations: str, references: str) -> float:
        pairs = zip(_split(translations), _split(references), strict=True)
        kept = [(ours, theirs) for ours, theirs in pairs if len(ours) >= 4]
        found, total = _counts([ours for ours, _ in kept], [theirs for _, theirs in kept])
        sums = sum(len(ours) for ours, _ in kept), sum(len(theirs) for _, theirs in kept)
        return _score(
            found, total, _brevity(*(sums if lengths else _lengths(translations, references)))
        )

    return wrong


def _rewritten(change: Callable[[str], str]) -> Callable[[str, str], float]:
    """Return the score of texts that are changed first."""
    return lambda translations, references: reference(change(translations), change(references))


def _moved_up(translations: str, references: str) -> float:
    ours, theirs = (
        [words for words in _split(text) if words] for text in (translations, references)
    )
    counts = _counts(ours, theirs[: len(ours)])
    return _score(*counts, _brevity(*_lengths(translations, references)))


def _word_in_an_empty_line(translations: str, references: str) -> float:
    ours, theirs = (
        [line.split(" ") for line in text.split("\n")] for text in (translations, references)
    )
    return _score(*_counts(ours, theirs), _brevity(sum(map(len, ours)), sum(map(len, theirs))))


def _product(precisions: list[float]) -> float:
    return math.prod(precisions)


def draw(rng: np.random.Generator) -> tuple[str, str]:
    """Return a few translations and references, one sentence a line, that share many runs of words.

    In some, a sentence is short or empty, or a word has a capital or a comma.
    """
    words = np.array(["the", "cat", "sat", "on", "mat", "a", "dog", "ran"])
    ours, theirs = [], []
    for _ in range(int(rng.integers(1, 4))):
        right = list(rng.choice(words, size=int(rng.integers(7, 13))))
        said = list(right)
        for _ in range(int(rng.integers(0, 3))):
            place = int(rng.integers(0, len(said)))
            change = int(rng.integers(0, 3))
            if change == 0:
                said[place] = str(rng.choice(words))
            elif change == 1:
                del said[place]
            else:
                said.insert(place, said[place])
        ours.append(" ".join(map(str, said)))
        theirs.append(" ".join(map(str, right)))
    special = int(rng.integers(0, 8))
    if special == 0:
        ours[0] = ours[0].capitalize()
    elif special == 1:
        ours[0] = ours[0].replace(" ", ", ", 1)
    elif special < 4 and len(ours) > 1:
        ours.insert(1, "" if special == 2 else "the dog sat")
        theirs.insert(1, "the cat sat")
    return "\n".join(ours), "\n".join(theirs)


_RIGHT = "the cat is on the red mat"
_HOUSE = "l'homme est ici dans la maison rouge"

bleu = Exercise(
    name="bleu",
    kind="implement",
    difficulty=3,
    minutes=35,
    statement=(
        "Write the BLEU of a corpus. translations and references are texts with one sentence a line, as many "
        "lines each; words are separated by spaces, and a translation may be empty. For n = 1 to 4 count the "
        "runs of n words over all sentences together, those of each translation clipped by its own reference; "
        "take the geometric mean of the four precisions, times the brevity penalty (exp(1 - r / c) if the "
        "translations, c words in all, are shorter than the references, r words; else 1), times 100. If there "
        "is no run of some length, or none that is right, return 0."
    ),
    returns=("score",),
    reference=reference,
    cases=(
        Case("all right", (_RIGHT, _RIGHT)),
        Case("one word wrong", ("the cat is on the red bed", _RIGHT)),
        Case("a word repeated", ("the the cat is on the red mat", _RIGHT)),
        Case("too short", ("the cat is on the", _RIGHT)),
        Case("too long", (_RIGHT + " and sleeps", _RIGHT)),
        Case(
            "two sentences",
            (_RIGHT + "\na dog ran to the old house", _RIGHT + "\na dog ran home to the old house"),
        ),
        Case(
            "one short, one long",
            ("the cat is on the\n" + _RIGHT + " now", _RIGHT + "\n" + _RIGHT),
        ),
        Case(
            "each line is the other's reference", ("a b c d e\nf g h i j", "f g h i j\na b c d e")
        ),
        Case("one run of four in common", ("the cat is on my old bed", _RIGHT)),
        Case("nothing in common", ("a dog ran far away", _RIGHT)),
        Case("no run of four in common", ("the cat sat on the old mat", _RIGHT)),
        Case(
            "a sentence of three words among others",
            ("the cat sleeps\n" + _RIGHT, "the cat sleeps\n" + _RIGHT),
        ),
        Case(
            "a wrong sentence of three words",
            ("the dog sleeps\n" + _RIGHT, "the cat sleeps\n" + _RIGHT),
        ),
        Case("a capital", ("The cat is on the red mat", _RIGHT)),
        Case("a comma, and a word with an apostrophe", (_HOUSE.replace("ici", "ici,"), _HOUSE)),
        Case(
            "an empty translation",
            ("\n".join((_RIGHT, "", _HOUSE)), "\n".join((_RIGHT, "a dog ran home", _HOUSE))),
        ),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "no brevity penalty",
            _without_brevity,
            "A translator that leaves out the hard words has a high precision. What is to stop that?",
        ),
        Misconception(
            "the brevity penalty reversed",
            _brevity_reversed,
            "Which translations should lose: those shorter than the reference, or those longer?",
        ),
        Misconception(
            "a bonus for long translations",
            _brevity_both_ways,
            "Can your factor be larger than 1? Precision already punishes what is too much.",
        ),
        Misconception(
            "the plain ratio of lengths as brevity penalty",
            _brevity_as_a_ratio,
            "The penalty isn't linear. Look at its formula again.",
        ),
        Misconception(
            "the mean of the sentences' brevity penalties",
            _mean_brevity,
            "You take a penalty of each sentence, and their mean. Of which lengths is the penalty of a corpus?",
        ),
        Misconception(
            "the mean of the sentences' brevity penalties, and a division by 0",
            _stopping(_mean_brevity),
            "You take a penalty of each sentence, and stop where one is empty. Of which lengths is the penalty "
            "of a corpus?",
        ),
        Misconception(
            "counts not clipped",
            _unclipped,
            "What is the precision of 'the the the the' against a reference with one 'the'?",
        ),
        Misconception(
            "each different run counted once a sentence",
            _once,
            "What is the precision of 'the the cat' against 'the cat sat'? How many words does it have?",
        ),
        Misconception(
            "clipped by the references of all sentences",
            _pooled,
            "Put the references in another order: your score stays the same. Whose runs may count for the "
            "first translation?",
        ),
        Misconception(
            "the mean of the sentences' BLEU",
            _mean_of_sentences,
            "Over what are runs counted: over each sentence, or over all of them together?",
        ),
        Misconception(
            "the mean of the sentences' BLEU, and a division by 0",
            _stopping(_mean_of_sentences),
            "You take the score of each sentence, and stop where one is empty. Over what are runs counted?",
        ),
        Misconception(
            "the arithmetic mean of the precisions",
            _of_precisions(lambda precisions: float(np.mean(precisions))),
            "If one precision is 0, the score should be 0. Which mean does that?",
        ),
        Misconception(
            "the arithmetic mean of the precisions, but 0 if one of them is 0",
            _of_precisions(
                lambda precisions: float(np.mean(precisions)) if min(precisions) > 0 else 0.0
            ),
            "You add precisions and divide. Which mean multiplies them and takes a root?",
        ),
        Misconception(
            "runs of one and two words only",
            _of_precisions(lambda precisions: _product(precisions[:2]) ** 0.5),
            "Your score doesn't see runs of three and four words. Up to which length does the task count?",
        ),
        Misconception(
            "the product of the precisions",
            _of_precisions(_product),
            "If all four precisions are 0.5, their mean should be 0.5. Which root is missing?",
        ),
        Misconception(
            "runs of four words only",
            _of_precisions(lambda precisions: precisions[3]),
            "Four precisions count, for n = 1 to 4.",
        ),
        Misconception(
            "single words only",
            _of_precisions(lambda precisions: precisions[0]),
            "Words in any order would get a full score. Which runs are missing?",
        ),
        Misconception(
            "recall instead of precision",
            _recall,
            "Of all runs in the translation, how many are right? Whose runs do you divide by?",
        ),
        Misconception(
            "sentences of less than four words left out",
            _skipping(lengths=False),
            "A sentence of three words has no run of four. Which runs has it, and do they count in yours?",
        ),
        Misconception(
            "sentences of less than four words left out, in the lengths, too",
            _skipping(lengths=True),
            "A short sentence counts in your function neither in the runs nor in the lengths. What does the "
            "task leave out?",
        ),
        Misconception(
            "capitals made small",
            _rewritten(str.lower),
            "To you, 'The' and 'the' are one word. Does the task say anything about capitals?",
        ),
        Misconception(
            "words without their punctuation",
            _rewritten(lambda text: re.sub(r"[^\w\s]", " ", text)),
            "What is between two spaces is a word. What do you make of 'mat,'?",
        ),
        Misconception(
            "punctuation marks as words of their own",
            _rewritten(lambda text: re.sub(r"([^\w\s])", r" \1 ", text)),
            "In your function, 'mat,' is two words. How many spaces are in it?",
        ),
        Misconception(
            "empty lines left out, so that the next translations move up",
            _moved_up,
            "After an empty translation, which reference do you compare the next one with?",
        ),
        Misconception(
            "a word in an empty line",
            _word_in_an_empty_line,
            "How many words has an empty line? Try what you split with on one.",
        ),
        Misconception(
            "a share instead of percent",
            lambda translations, references: reference(translations, references) / 100,
            "By convention, a perfect translation has a BLEU of 100.",
        ),
    ),
)
