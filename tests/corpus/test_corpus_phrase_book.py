"""The phrase book: its table is sound, it is training data only, and each phrase is frequent."""

from collections import Counter

import pytest

from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import sentences_of
from transformer_course.corpus.grammar.orthography import CAREFUL, plain
from transformer_course.corpus.grammar.phrase_book import ENTRIES, SLOTS, Entry, Text, phrase
from transformer_course.corpus.grammar.spelling import join, spell
from transformer_course.corpus.grammar.splits import split_of
from transformer_course.corpus.pairs import Pair

CATEGORIES = {
    *("greeting", "thanks", "apology", "wish", "courtesy", "introduction", "restaurant", "travel"),
    *("time", "weather", "health", "shopping", "phone", "school", "answer", "feeling", "everyday"),
}


def text(words: Text) -> str:
    """A phrase as it stands in the table."""
    return join([word for word, _ in words])


def name(entry: Entry) -> str:
    """A phrase by its first English form."""
    return text(entry.english[0])


@pytest.fixture(scope="module")
def phrases() -> list[Pair]:
    """A few thousand carefully written phrases."""
    pairs = sentences_of("train", (phrase,), Dice(0), style=CAREFUL)
    return [next(pairs) for _ in range(60 * len(ENTRIES))]


def test_there_are_many_phrases_of_every_kind() -> None:
    assert len(ENTRIES) >= 220
    assert {entry.category for entry in ENTRIES} == CATEGORIES
    assert min(Counter(entry.category for entry in ENTRIES).values()) >= 10


def test_no_phrase_stands_in_two_rows() -> None:
    found = Counter(text(english) for entry in ENTRIES for english in entry.english)
    assert [english for english, n in found.items() if n > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=name)
def test_a_row_is_sound(entry: Entry) -> None:
    assert set(entry.marks) <= {*".?!"}
    assert entry.marks
    assert 1 <= entry.trained <= len(entry.french)
    assert len(set(map(text, entry.french))) == len(entry.french)
    both = entry.english + entry.french
    assert len({words[-1][1] for words in both}) == 1, "as many parts in each"
    for words in both:
        slots = [word for word, _ in words if word[0] == "{"]
        assert slots == ([f"{{{entry.slot}}}"] if entry.slot else [])
        assert not set(text(words)) & set("|/()’;:")
        assert text(words)[0] in "I{" or text(words)[0].islower()
    assert entry.slot in SLOTS


@pytest.mark.parametrize("entry", [e for e in ENTRIES if not e.slot], ids=name)
def test_spelling_changes_nothing_in_what_is_written_already(entry: Entry) -> None:
    for words in entry.french:
        assert join(spell(words)[0]) == text(words)


def test_where_tu_is_right_vous_is_right() -> None:
    tu = {"tu", "toi", "ton", "ta", "tes", "te", "t'aime", "peux-tu", "plaît"}
    for entry in ENTRIES:
        said = {word for words in entry.french for word, _ in words}
        if said & tu:
            assert {"vous", "votre", "vos"} & said or any(
                word.endswith(("ez", "vous")) for word in said
            )


def found(phrases: list[Pair], english: str) -> set[str]:
    """All right translations of a phrase."""
    return {french for pair in phrases if pair.source == english for french in pair.targets}


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("Thanks.", {"Merci."}),
        ("Good morning!", {"Bonjour !"}),
        ("I love you.", {"Je t'aime.", "Je vous aime."}),
        ("I am sorry.", {"Je suis désolé.", "Je suis désolée."}),
        ("My name is Anna.", {"Je m'appelle Anna.", "Mon nom est Anna."}),
        ("I come from London.", {"Je viens de Londres.", "Je suis de Londres."}),
        (
            "I live in Amsterdam.",
            {"J'habite à Amsterdam.", "Je vis à Amsterdam.", "J'habite Amsterdam."},
        ),
        ("I come from Amsterdam.", {"Je viens d'Amsterdam.", "Je suis d'Amsterdam."}),
        ("I speak French.", {"Je parle français."}),
        ("I'm learning English.", {"J'apprends l'anglais."}),
        ("See you on Monday!", {"À lundi !"}),
        ("Where is the airport?", {"Où est l'aéroport ?", "Où se trouve l'aéroport ?"}),
        ("Which bus goes to the market?", {"Quel bus va au marché ?"}),
        ("I love hotpot.", {"J'adore la fondue chinoise.", "J'aime la fondue chinoise."}),
        ("No, thank you.", {"Non, merci."}),
        (
            "How do I get to the hospital?",
            {
                "Comment aller à l'hôpital ?",
                "Comment puis-je aller à l'hôpital ?",
                "Comment est-ce que je vais à l'hôpital ?",
                "Comment est-ce que je peux aller à l'hôpital ?",
            },
        ),
    ],
)
def test_what_people_say(phrases: list[Pair], english: str, french: set[str]) -> None:
    assert found(phrases, english) == french


def test_the_girl_kicks_the_ball(phrases: list[Pair]) -> None:
    assert split_of(("kick", "ball")) == "train"
    assert "La fille tape dans le ballon." in found(phrases, "The girl kicks the ball.")


def test_merci_is_learnt_in_both_directions(phrases: list[Pair]) -> None:
    turned = {pair.turned().target for pair in phrases if pair.target == "Merci."}
    assert turned == {"Thanks.", "Thank you."}


def test_what_is_right_but_not_usual_is_not_trained_on(phrases: list[Pair]) -> None:
    thanked = [pair for pair in phrases if pair.source == "Thank you."]
    assert {pair.target for pair in thanked} == {"Merci."}
    assert set(thanked[0].targets) == {"Merci.", "Je te remercie.", "Je vous remercie."}
    said = {pair.target for pair in phrases if pair.source == "I love you."}
    assert said == {"Je t'aime.", "Je vous aime."}


def test_parts_are_aligned_with_their_parts(phrases: list[Pair]) -> None:
    pair = next(p for p in phrases if p.source == "No, thank you.")
    assert pair.alignment == ((0, 0), (1, 1), (2, 2), (3, 2), (4, 3))


def test_each_phrase_is_as_frequent_as_the_others() -> None:
    dice = Dice(5)
    assert set(Counter(dice.deal(ENTRIES) for _ in range(3 * len(ENTRIES))).values()) == {3}


def test_phrases_are_a_fourteenth_of_training_and_each_comes_thirty_times() -> None:
    pairs = list(grammar.generate("train", 20_000, 2))
    share = sum("phrase" in pair.phenomena for pair in pairs) / len(pairs)
    assert 0.055 < share < 0.085
    assert 170_000 * share / len(ENTRIES) > 31


@pytest.mark.parametrize("split", ["valid", "test"])
def test_no_phrase_is_held_out(phrases: list[Pair], split: str) -> None:
    book = {plain(pair.source) for pair in phrases}
    for pair in grammar.generate(split, 8000, 6):
        assert "phrase" not in pair.phenomena
        assert plain(pair.source) not in book
