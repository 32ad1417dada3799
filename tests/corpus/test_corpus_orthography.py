"""Capitals and final marks: each style, in both languages; words and marks apart; pairs turned round."""

from collections import Counter
from itertools import islice

import pytest

from transformer_course.corpus import grammar
from transformer_course.corpus.baselines import word_by_word
from transformer_course.corpus.grammar import compounds, questions, sentences
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft, Variants, sentences_of
from transformer_course.corpus.grammar.orthography import (
    CAREFUL,
    HASTY,
    PLAIN,
    STYLES,
    WITHOUT_CAPITAL,
    WITHOUT_MARK,
    Style,
    finish_english,
)
from transformer_course.corpus.pairs import Pair, count_words, words
from transformer_course.corpus.scoring import chosen_pronoun

WORDS = [
    ("if", 1),
    ("i", 2),
    ("shout", 3),
    (",", 0),
    ("you", 4),
    ("and", 5),
    ("i", 2),
    ("leave", 6),
]


def shouted(dice: Dice) -> Draft:
    """A sentence of two clauses that ends as the test likes it."""
    french = [("si", 1), ("je", 2), ("crie", 3), (",", 0), ("toi", 4), ("et", 5), ("moi", 2)]

    def both() -> Variants:
        return [[*french, ("à+", 6), ("le", 6), ("lit", 6)]]

    return Draft(list(WORDS), [], both, ["test"], (), mark="!")


@pytest.mark.parametrize(
    ("style", "english", "french"),
    [
        (CAREFUL, "If I shout, you and I leave!", "Si je crie, toi et moi au lit !"),
        (PLAIN, "if I shout, you and I leave", "si je crie, toi et moi au lit"),
        (HASTY, "if i shout, you and i leave", "si je crie, toi et moi au lit"),
        (WITHOUT_MARK, "If I shout, you and I leave", "Si je crie, toi et moi au lit"),
        (WITHOUT_CAPITAL, "if I shout, you and I leave!", "si je crie, toi et moi au lit !"),
    ],
)
def test_each_style_in_both_languages(style: Style, english: str, french: str) -> None:
    pair = next(sentences_of("train", (shouted,), Dice(0), style=style))
    assert (pair.source, pair.target) == (english, french)


@pytest.mark.parametrize("style", [CAREFUL, HASTY])
def test_marks_and_commas_are_aligned_with_each_other_only(style: Style) -> None:
    pair = next(sentences_of("train", (shouted,), Dice(0), style=style))
    source, target = words(pair.source), words(pair.target)
    linked = [(source[i], target[j]) for i, j in pair.alignment]
    assert linked.count((",", ",")) == 1
    assert linked.count(("!", "!")) == (1 if style.mark else 0)
    assert all(one == other for one, other in linked if {one, other} & {",", "!"})


@pytest.mark.parametrize(
    ("text", "small", "capital"),
    [
        ("i'm ill", "i'm ill", "I'm ill"),
        ("I'm ill", "i'm ill", "I'm ill"),
        ("she and i, he and i", "she and i, he and i", "she and I, he and I"),
        ("it is in Paris", "it is in Paris", "it is in Paris"),
    ],
)
def test_the_english_i(text: str, small: str, capital: str) -> None:
    assert finish_english(text, ".", HASTY) == small
    assert finish_english(text, ".", PLAIN) == capital


@pytest.mark.parametrize(
    ("style", "english", "french"),
    [
        (CAREFUL, "I sleep.", "Je dors."),
        (PLAIN, "I sleep", "Je dors"),
        (HASTY, "i sleep", "je dors"),
        (WITHOUT_CAPITAL, "I sleep.", "Je dors."),
    ],
)
def test_french_has_a_capital_if_english_has_one(style: Style, english: str, french: str) -> None:
    """Nobody could tell "I sleep." in one style from "I sleep." in another."""

    def sleep(dice: Dice) -> Draft:
        return Draft([("i", 1), ("sleep", 2)], [], lambda: [[("je", 1), ("dors", 2)]], [])

    pair = next(sentences_of("train", (sleep,), Dice(0), style=style))
    assert (pair.source, pair.target) == (english, french)


def test_how_often_each_style_is_written() -> None:
    shares = {style: count / len(STYLES) for style, count in Counter(STYLES).items()}
    assert shares[CAREFUL] == 0.7
    assert (
        shares[PLAIN] == shares[HASTY] == shares[WITHOUT_MARK] == shares[WITHOUT_CAPITAL] == 0.075
    )


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_all_styles_are_in_every_split(split: str) -> None:
    found = Counter(
        (pair.source[0].isupper(), pair.source[-1] in ".?!")
        for pair in grammar.generate(split, 2000, 1)
        if pair.source[0] not in "iI"
    )
    assert len(found) == 4
    assert 0.65 < found[True, True] / found.total() < 0.75
    assert min(found.values()) / found.total() > 0.05


def test_a_question_is_a_question_without_its_mark() -> None:
    for rule in (questions.yes_or_no, questions.where, questions.which_or_how_many):
        pairs = islice(sentences_of("train", (rule,), Dice(2), style=CAREFUL), 200)
        assert all(pair.source.endswith("?") and pair.target.endswith(" ?") for pair in pairs)
        first = {
            words(pair.source)[0]
            for pair in islice(sentences_of("train", (rule,), Dice(2), style=PLAIN), 200)
        }
        assert first <= {*["do", "does", "did", "will", "where", "which", "how"]}


@pytest.mark.parametrize("style", [CAREFUL, PLAIN])
def test_a_style_can_be_asked_for(style: Style) -> None:
    for pairs in (
        grammar.generate("test", 200, 0, style),
        grammar.sentences_with("elision", "test", 50, 0, style),
    ):
        for pair in pairs:
            assert (pair.source[-1] in ".?!") == style.mark
            assert pair.source[0].isupper() or not style.capital


def test_challenge_sets_hold_a_sentence_once_in_whatever_style() -> None:
    pairs = list(grammar.sentences_with("antecedent", "test", 400))
    assert len({pair.source.lower().rstrip(".") for pair in pairs}) == 400


def test_the_first_comma_is_aligned_with_the_first() -> None:
    rules = (compounds.subordinate,)
    found = islice(sentences_of("train", rules, Dice(3), style=CAREFUL), 300)
    begun = [pair for pair in found if "," in pair.source]
    assert len(begun) > 50
    for pair in begun:
        where = words(pair.source).index(","), words(pair.target).index(",")
        assert [link for link in pair.alignment if where[0] == link[0] or where[1] == link[1]] == [
            where
        ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sleeps.", ["The", "cat", "sleeps", "."]),
        ("L'arbre mange-t-il parce qu'il dort ?", ["L'arbre", "mange-t-il", "parce", "qu'il", "dort", "?"]),
        ("The kings' horses, at one o'clock!", ["The", "kings'", "horses", ",", "at", "one", "o'clock", "!"]),
        ("« Oui » ; non : peut-être…", ["«", "Oui", "»", ";", "non", ":", "peut-être", "…"]),
        ("", []),
    ],
)  # fmt: skip
def test_words_and_marks(text: str, expected: list[str]) -> None:
    assert words(text) == expected
    assert count_words(text) == sum(word[0].isalpha() for word in expected)


def test_a_turned_pair_is_the_other_direction() -> None:
    pair = Pair(
        "a red car", ("une voiture rouge", "une auto rouge"), ("x",), ((0, 0), (1, 2), (2, 1))
    )
    turned = pair.turned()
    assert turned == Pair("une voiture rouge", ("a red car",), ("x",), ((0, 0), (1, 2), (2, 1)))
    for pair in grammar.generate("train", 300, 4):
        assert list(pair.turned().alignment) == sorted((j, i) for i, j in pair.alignment)
        assert pair.turned().turned().alignment == pair.alignment


def test_the_dictionary_learns_words_without_their_marks() -> None:
    pairs = list(islice(sentences_of("train", (sentences.place,), Dice(0), style=CAREFUL), 3000))
    translation = word_by_word(pairs)("The cat is on the mat.")
    assert " chat est sur " in translation
    assert translation.endswith(" tapis.")


def test_il_at_the_beginning_counts() -> None:
    assert chosen_pronoun("Elle dort.") == "elle"
