"""Which pairs are fit to be learned from: each that is left out has one reason."""

import pytest

from transformer_course.corpus.cleaning import REASONS, main_script, reason_to_drop, too_many
from transformer_course.corpus.lenient import line_of_text
from transformer_course.corpus.pairs import CorpusError

LATIN = ("LATIN", "LATIN")


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("the cat", "le chat", ""),
        ("42", "42", ""),
        ("yes", "oui, c'est bien ça, madame", ""),
        ("yes", "x" * 32, ""),
        ("yes", "x" * 33, "lengths"),
        ("x" * 33, "yes", "lengths"),
        ("the cat", " \u200b", "empty"),
        ("", "le chat", "empty"),
        ("the c\x00at", "le chat", "unreadable"),
        ("the c\x00at", "", "unreadable"),
        ("x" * 2_001, "le chat", "too long"),
        ("x" * 2_001, "le \x00chat", "unreadable"),
        ("the cat", "кошка", "script"),
        ("кошка is a cat", "кошка est un chat", ""),
        ("the cat", "le chat кошка собака", "script"),
        ("\ufb2c" * 1_000, "\ufb2c" * 1_000, "too long"),  # three signs each in its normal form
    ],
)
def test_a_pair_has_one_reason(source: str, target: str, reason: str) -> None:
    found = reason_to_drop((line_of_text(source), line_of_text(target)), LATIN)[2]
    assert found == reason
    assert not found or found in REASONS


def test_a_pair_that_stays_is_in_its_normal_form() -> None:
    kept = reason_to_drop(("  the  “cat” ", "le\u00a0cafe\u0301"), LATIN)
    assert kept == ('the "cat"', "le café", "")


def test_the_script_is_that_of_most_letters_and_none_takes_all() -> None:
    japanese = ["これはペンです", "東京", "123"]
    assert main_script(japanese) == "CJK"
    assert main_script(["the cat", "кот", CorpusError("damaged"), "ＦＵＬＬ"]) == "LATIN"
    assert main_script(["12 + 3"]) == ""
    assert reason_to_drop(("東京", "これ"), ("CJK", "CJK"))[2] == ""
    assert reason_to_drop(("Tokyo", "これ"), ("CJK", "CJK"))[2] == "script"
    for text in ("ヘーーー", "ﾍｰｰｰ", "々々々"):  # marks that lengthen, and repeat
        assert reason_to_drop((text, text), ("CJK", "CJK"))[2] == ""
    assert reason_to_drop(("Tokyo", "кот"), ("", ""))[2] == ""


def test_a_side_may_have_511_subwords() -> None:
    assert [too_many(511, 511), too_many(512, 1), too_many(1, 512)] == [False, True, True]
