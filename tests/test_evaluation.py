"""Scores: exact match with all right answers, sacrebleu's BLEU, tables by phenomenon."""

import pytest
from sacrebleu.metrics.bleu import BLEU
from small_runs import number_pairs, trained

from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.evaluation import (
    TOKENIZERS,
    evaluate_by_phenomenon,
    evaluate_pairs,
)

PAIRS = number_pairs()[30:60]


def test_exact_match_counts_every_right_translation() -> None:
    pairs = [Pair("a", ("un", "une")), Pair("two", ("deux",)), Pair("b", ("x",)), Pair("c", ("y",))]
    assert exact_match(pairs, ["une", "trois", "x ", "Y"]) == 0.5
    with pytest.raises(ValueError, match="pairs must not be empty"):
        exact_match([], [])
    with pytest.raises(ValueError, match="must be as many as pairs"):
        exact_match(pairs, ["un"])


def test_a_perfect_translator_gets_full_marks() -> None:
    translations = trained().translate([pair.source for pair in PAIRS])
    own = [Pair(p.source, ("?", text)) for p, text in zip(PAIRS, translations, strict=True)]
    assert evaluate_pairs(trained(), own).exact_match == 1.0
    own = [Pair(p.source, (text,)) for p, text in zip(PAIRS, translations, strict=True)]
    scores = evaluate_pairs(trained(), own, tokenize="none")
    assert scores.bleu == pytest.approx(
        BLEU(tokenize="none").corpus_score(translations, [translations]).score
    )


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_bleu_is_sacrebleus_and_says_how(tokenize: str) -> None:
    pairs = [Pair("one two", ("deux un, oui .",)), Pair("five four three", ("trois quatre cinq",))]
    scores = evaluate_pairs(trained(), pairs, beam=2, tokenize=tokenize)
    translations = trained().translate([pair.source for pair in pairs], beam=2)
    metric = BLEU(tokenize=tokenize)
    expected = metric.corpus_score(translations, [[pair.target for pair in pairs]])
    assert scores.bleu == expected.score
    assert scores.signature == str(metric.get_signature())
    assert f"tok:{tokenize}" in scores.signature


def test_each_phenomenon_gets_its_share() -> None:
    right = [Pair("one two", (trained().translate("one two"),))]
    wrong = [Pair("one two", ("tout faux",))]
    table = evaluate_by_phenomenon(trained(), {"b": right, "a": right + wrong})
    assert list(table.items()) == [("b", 1.0), ("a", 0.5)]


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="pairs is empty"):
        evaluate_pairs(trained(), [])
    for tokenize in ("moses", "ja-mecab", "flores200"):
        with pytest.raises(
            ValueError, match=rf"tokenize \('{tokenize}'\) must be one of 13a, char"
        ):
            evaluate_pairs(trained(), PAIRS, tokenize=tokenize)
