"""Exercise: how many ways of saying a word a corpus has (conditional entropy; Zhou et al. 2020)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, random_cases
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]


def _entropies(p: Array) -> Array:
    """Entropy of each row, in nats; an empty row has 0."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(-1))


def _shares(counts: Array) -> Array:
    """Each row divided by its sum; an empty row stays empty."""
    return counts / np.maximum(counts.sum(1, keepdims=True), 1.0)


def _used(counts: Array) -> Array:
    return np.asarray(counts[counts.sum(1) > 0])


def reference(counts: Array) -> float:
    """Return the mean entropy of the rows that have a link."""
    return float(_entropies(_shares(_used(counts))).mean())


def _by_frequency(counts: Array) -> float:
    totals = counts.sum(1)
    return float((_entropies(_shares(counts)) * totals).sum() / totals.sum())


def _zero_log(counts: Array) -> float:
    with np.errstate(all="ignore"):
        p = _shares(_used(counts))
        return float(-(p * np.log(p)).sum(1).mean())


def _times(factor: float) -> Callable[[Array], float]:
    return lambda counts: factor * reference(counts)


def _per_entry(counts: Array) -> float:
    p = _shares(_used(counts))
    return float(-(p * np.log(np.where(p > 0, p, 1.0))).mean())


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return counts; one source word has no link, no other number is 0."""
    rows, columns = (int(n) for n in rng.integers((3, 3), (6, 6)))
    counts = rng.integers(1, 9, size=(rows, columns)).astype(float)
    counts[rng.integers(rows)] = 0.0
    counts[np.flatnonzero(counts.sum(1))[0], rng.integers(columns)] = 0.0
    return (counts,)


CASES = (
    Case("one source word, two translations", (np.array([[3.0, 1.0]]),)),
    Case("two source words", (np.array([[1.0, 1.0], [2.0, 6.0]]),)),
    Case("a source word with one translation", (np.array([[1.0, 3.0], [4.0, 0.0]]),)),
    Case("a source word without a link", (np.array([[1.0, 3.0], [0.0, 0.0]]),)),
    Case("three translations", (np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 6.0]]),)),
)
_mistake = with_tables(reference, CASES, ("entropy",))

translation_entropy = Exercise(
    name="translation_entropy",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Measure how many ways a corpus has of translating a word. counts, (n_source, n_target), says how "
        "often each source word is linked to each target word. A row, divided by its sum, is the distribution "
        "of the translations of one source word; its entropy is −Σ p ln p, in nats, and a translation that "
        "never comes adds nothing. Return the mean of these entropies over all source words that have a link: "
        "a number. Each word counts the same, whether it is frequent or rare.\n\n"
        "An example: counts = [[1, 1], [4, 0]]. The first word has two translations, each half of the time: "
        "ln 2 = 0.693. The second one has a single translation: 0. The mean is 0.347."
    ),
    returns=("entropy",),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 6, "more words")),
    draw=draw,
    misconceptions=(
        _mistake(
            "bits in the place of nats",
            _times(1 / np.log(2.0)),
            "All your numbers are too large by the same factor. Which logarithm is a nat's?",
        ),
        _mistake(
            "the minus sign left out",
            _times(-1.0),
            "Logarithms of probabilities are negative. Can an entropy be?",
        ),
        _mistake(
            "words without a link counted, too",
            lambda counts: float(_entropies(_shares(counts)).mean()),
            "A word that was never translated makes your corpus simpler. Which words belong to the mean?",
        ),
        _mistake(
            "frequent words count more",
            _by_frequency,
            "That is the entropy of a link. Here each source word counts the same.",
        ),
        _mistake(
            "the sum in the place of the mean",
            lambda counts: float(_entropies(_shares(counts)).sum()),
            "Twice as many words give twice as much in your function. What should be divided?",
        ),
        _mistake(
            "0 times the logarithm of 0",
            _zero_log,
            "Which number is ln 0? A translation that never comes adds nothing: how do you leave it out?",
        ),
        _mistake(
            "columns in the place of rows",
            lambda counts: reference(counts.T),
            "You ask which source words write a target word. Which way does a translator go?",
        ),
        _mistake(
            "all words together",
            lambda counts: float(_entropies(counts.ravel() / counts.sum())),
            "You took the whole table as one distribution. Each source word has one of its own.",
        ),
        _mistake(
            "the entropy of all translations, whoever wrote them",
            lambda counts: float(_entropies(counts.sum(0) / counts.sum())),
            "You added up the rows first. Then a language with many words looks hard, even with a dictionary.",
        ),
        _mistake(
            "the mean over translations, too",
            _per_entry,
            "The entropy of a word is a sum over its translations. Over what is the mean?",
        ),
        _mistake(
            "the perplexity",
            lambda counts: float(np.exp(reference(counts))),
            "That is a number of translations, e to the entropy. The entropy itself is asked for.",
        ),
    ),
)
