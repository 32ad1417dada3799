"""Scores: exact match with all right answers, sacrebleu's BLEU, tables by phenomenon."""

import json
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from small_runs import number_pairs, small_recipe, trained

from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.evaluation import (
    TOKENIZERS,
    evaluate_by_phenomenon,
    evaluate_pairs,
    score_translations,
)
from transformer_course.recipe import split_pairs, train_translator
from transformer_course.translator import Translator

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
    by_characters = CHRF()
    chrf = by_characters.corpus_score(translations, [[pair.target for pair in pairs]]).score
    assert scores.bleu == expected.score
    assert scores.signature == str(metric.get_signature())
    assert f"tok:{tokenize}" in scores.signature
    assert (scores.chrf, scores.chrf_signature) == (chrf, str(by_characters.get_signature()))
    assert score_translations(pairs, translations, tokenize=tokenize) == scores


def test_translations_that_cannot_be_scored_are_refused() -> None:
    texts = ["x"] * len(PAIRS)
    with pytest.raises(ValueError, match="pairs is empty"):
        score_translations([], [])
    with pytest.raises(ValueError, match="must be as many as pairs"):
        score_translations(PAIRS, texts[1:])
    with pytest.raises(ValueError, match="tokenize \\('moses'\\) must be one of"):
        score_translations(PAIRS, texts, tokenize="moses")


def test_tokenised_text_is_a_surprise_only_to_other_tokenisers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Translator, "translate", lambda self, sources, **_: ["a ."] * len(sources))
    pairs = [Pair("one", ("a .",))] * 101
    evaluate_pairs(trained(), pairs, tokenize="none")
    assert not caplog.text
    evaluate_pairs(trained(), pairs, tokenize="13a")
    assert "tokenized period" in caplog.text


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


def test_training_keeps_further_scores_in_its_history(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())

    def shares(translator: Translator) -> dict[str, float]:
        return {"share of deux": translator.translate("two").count("deux"), "loss": 1000.0}

    watched, plain = tmp_path / "watched", tmp_path / "plain"
    train_translator(train, valid, watched, small_recipe(), evaluate=shares)
    train_translator(train, valid, plain, small_recipe())
    histories = [json.loads((f / "history.json").read_text()) for f in (watched, plain)]
    for record, same in zip(*histories, strict=True):
        assert record.pop("share of deux") >= 0
        assert 0 < record["loss"] < 1000  # the validation loss stays what it is
        assert record | {"seconds": 0} == same | {"seconds": 0}
