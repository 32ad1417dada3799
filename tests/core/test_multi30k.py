"""Chapter 15: the interval of a BLEU score. The corpus itself is tested in test_corpus_multi30k.py."""

from collections import Counter

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from transformer_course.corpus import grammar
from transformer_course.corpus.pairs import Pair
from transformer_course.evaluation import bleu_interval


def with_faults(n: int, seed: int = 0, rate: float = 0.1) -> tuple[list[Pair], list[str]]:
    """Pairs of the grammar, and their translations with some words replaced by others."""
    pairs = list(grammar.generate("test", n, seed=seed))
    words = sorted({word for pair in pairs for word in pair.target.split()})
    rng = np.random.default_rng(seed)
    translations = [
        " ".join(
            str(rng.choice(words)) if rng.random() < rate else word for word in pair.target.split()
        )
        for pair in pairs
    ]
    return pairs, translations


def runs(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def counted(ours: str, right: str) -> list[int]:
    """Runs found, runs there are, and both lengths, of one sentence."""
    lengths = (1, 2, 3, 4)
    found = [(runs(ours, n) & runs(right, n)).total() for n in lengths]
    total = [runs(ours, n).total() for n in lengths]
    return [*found, *total, len(ours.split()), len(right.split())]


def test_it_is_the_interval_of_a_bootstrap_with_loops() -> None:
    pairs, translations = with_faults(200)
    table = np.array([counted(t, p.target) for t, p in zip(translations, pairs, strict=True)])
    rng = np.random.default_rng(1)
    scores = []
    for _ in range(1000):
        sums = table[rng.integers(0, 200, 200)].sum(0)
        brevity = min(1.0, np.exp(1 - sums[9] / sums[8]))
        scores.append(100 * brevity * np.exp(np.log(sums[:4] / sums[4:8]).mean()))
    ends = np.quantile(scores, [0.025, 0.975])
    low, high = bleu_interval(pairs, translations, tokenize="none")
    assert np.abs(ends - [low, high]).max() < 0.15 * (ends[1] - ends[0])


def test_the_score_lies_within_and_the_result_is_the_same_again() -> None:
    pairs, translations = with_faults(100)
    low, high = bleu_interval(pairs, translations)
    score = BLEU().corpus_score(translations, [[pair.target for pair in pairs]]).score
    assert low < score < high
    assert bleu_interval(pairs, translations) == (low, high)
    assert bleu_interval(pairs, translations, draws=200) != (low, high)


@pytest.mark.slow
def test_four_times_the_sentences_halve_the_width() -> None:
    (low, high), (lower, higher) = (bleu_interval(*with_faults(n)) for n in (800, 200))
    assert (higher - lower) / (high - low) == pytest.approx(2, abs=0.4)


def test_the_tokeniser_counts() -> None:
    pairs = [Pair("", ("« oui » , dit-elle .",))] * 20 + [Pair("", ("il dort dans la rue .",))] * 20
    translations = ["« oui » , dit-elle ."] * 20 + ["il dort dans la rue."] * 20
    assert bleu_interval(pairs, translations, tokenize="13a") == pytest.approx((100, 100))
    assert bleu_interval(pairs, translations, tokenize="none")[0] < 90


def test_nothing_right_is_zero_and_all_right_is_a_hundred() -> None:
    pairs = [Pair("", ("un chat dort dans la rue",))] * 5
    assert bleu_interval(pairs, ["x y z"] * 5, tokenize="none") == (0, 0)
    texts = [pair.target for pair in pairs]
    assert bleu_interval(pairs, texts, tokenize="none") == pytest.approx((100, 100))


@pytest.mark.parametrize("n_right", [1, 19])
def test_the_interval_of_a_few_sentences_stays_a_score(n_right: int) -> None:
    text = "un chat dort dans la rue"
    pairs = [Pair("", (text,))] * 20
    low, high = bleu_interval(pairs, [text] * n_right + ["x y z"] * (20 - n_right))
    assert 0 <= low < high <= 100
    assert (low, high)[n_right > 1] == (0, 100)[n_right > 1]  # sacrebleu's would end beyond


def test_wrong_input_is_named() -> None:
    pairs = [Pair("a", ("b",))] * 3
    with pytest.raises(ValueError, match=r"translations \(2\) must be as many as pairs \(3\)"):
        bleu_interval(pairs, ["b"] * 2)
    with pytest.raises(ValueError, match=r"translations \(0\) must be .* at least one"):
        bleu_interval([], [])
    with pytest.raises(ValueError, match=r"tokenize \('moses'\) must be one of 13a"):
        bleu_interval(pairs, ["b"] * 3, tokenize="moses")
    with pytest.raises(ValueError, match=r"draws \(39\) must be at least 40"):
        bleu_interval(pairs, ["b"] * 3, draws=39)
