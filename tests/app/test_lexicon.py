"""Usual translations of words, learnt from pairs, and words of a sentence that have none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_runs import number_pairs, small_recipe, trained

from transformer_course import lexicon
from transformer_course.checkpoints import load_tensors, save_tensors
from transformer_course.corpus import grammar
from transformer_course.lexicon import spread, untranslated, usual_translations
from transformer_course.recipe import train_translator
from transformer_course.seq2seq import RecurrentSeq2Seq, Seq2SeqConfig
from transformer_course.translator import Translator

NUMBERS = [(pair.source, pair.target) for pair in number_pairs()]
ENGLISH = {"one": "un", "two": "deux", "three": "troi", "four": "quat", "five": "cinq"}
GRAMMAR = [(pair.source, pair.target) for pair in grammar.generate("train", 3000, seed=0)]


def test_the_usual_translations_of_numbers() -> None:
    found = usual_translations(NUMBERS)
    assert found == {english: {french} for english, french in ENGLISH.items()}
    assert untranslated(found, "one two three", "trois un") == ("two",)
    assert untranslated(found, "Three, three; ONE two!", "Deux.") == ("Three", "three", "ONE")
    assert untranslated(found, "one two", "deux un") == ()
    assert untranslated(found, "six sevens", "") == ()  # of which nothing is known
    assert untranslated(found, "", "un") == untranslated({}, "one", "") == ()


def test_one_that_is_left_out_of_the_grammar_is_named() -> None:
    found = usual_translations(GRAMMAR)
    assert untranslated(found, "The cat sees every dog.", "Le chat voit le chien.") == ("every",)
    assert untranslated(found, "The cat sees the dog.", "Le chat voit.") == ("dog",)


def test_no_pair_that_was_learnt_from_has_a_word_without_translation() -> None:
    found = usual_translations(GRAMMAR)
    assert len(found) > 400
    assert [pair for pair in GRAMMAR if untranslated(found, *pair)] == []


def test_endings_apostrophes_and_hyphens_make_no_other_word() -> None:
    known = {"dance": frozenset({"dans"}), "islan": frozenset({"île"})}
    for text in ("Dansera-t-elle sur l'île ?", "ILS DANSENT, l’île"):
        assert untranslated(known, "dances, Danced: islands", text) == ()
    assert untranslated(known, "tap-dances on islands", "elle va") == ("tap-dances", "islands")


def test_a_word_that_came_seldom_isn_t_judged() -> None:
    some = [("red cat", "chat rouge"), ("cat", "chat")]
    assert "red" in usual_translations(some * 5)
    assert "red" not in usual_translations(some * 4 + some[1:])


def test_a_word_that_can_do_without_isn_t_judged() -> None:
    """*Merci beaucoup* says *very* by another word: so a translation without it may be right."""
    often = [("very big", "très grand"), ("big", "grand"), ("thank you", "merci")] * 20
    assert "very" in usual_translations(often)
    assert "very" not in usual_translations([*often, ("thank you very much indeed", "merci")])


def test_marks_are_no_words() -> None:
    assert usual_translations([("yes, I see!", "oui, je vois !")] * 9).keys() == {"yes", "i", "see"}
    thanks = ("thank you very much.", "merci beaucoup.")
    found = usual_translations([("very big", "très grand"), ("big", "grand"), thanks] * 20)
    assert "." not in found.get("very", ())


def test_pairs_without_words_teach_nothing() -> None:
    assert usual_translations([]) == usual_translations([("a", "")] * 9) == {}
    assert usual_translations([("", "a")] * 9) == {}


def test_of_many_pairs_those_that_fit_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [("one", "un")] * 10 + [("two two", "deux deux")] * 10
    monkeypatch.setattr(lexicon, "_PAIRS", 10)
    assert usual_translations(pairs).keys() == {"one", "two"}  # five of each
    monkeypatch.setattr(lexicon, "_CHOICES", 20)  # one has 2, the other 6
    assert usual_translations(pairs) == {}


def test_items_come_from_all_over() -> None:
    assert spread(range(39), 20) == [i * 39 // 20 for i in range(20)]
    assert spread(range(39), 20)[-1] == 37
    assert spread([], 5) == spread([7], 0) == []
    assert spread([7], 5) == [7]


@given(st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=12))
def test_any_text_can_be_learnt_from(pairs: list[tuple[str, str]]) -> None:
    found = usual_translations(pairs * 5)
    assert [pair for pair in pairs if untranslated(found, *pair)] == []


def test_a_training_learns_them_and_they_are_saved_with_the_model(tmp_path: Path) -> None:
    pairs = number_pairs(2)
    train_translator(pairs, pairs[:5], tmp_path / "run", small_recipe())
    learnt = Translator.load(tmp_path / "run").lexicon
    assert learnt == usual_translations([(pair.source, pair.target) for pair in pairs])
    assert learnt.keys() == ENGLISH.keys()
    translator = Translator(trained().model, trained().vocabulary)
    translator.lexicon = {"one": frozenset({"un", "une"}), "île": frozenset()}
    translator.save(tmp_path)
    saved = (tmp_path / "model.safetensors").read_bytes()
    translator.lexicon = dict(reversed(translator.lexicon.items()))  # sets have any order
    translator.save(tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == saved
    assert Translator.load(tmp_path).lexicon == translator.lexicon
    tensors, values = load_tensors(tmp_path / "model.safetensors")
    for wrong in ("one", [7], {"one": 1}, {"one": ["un", 2]}, None):
        save_tensors(tmp_path / "model.safetensors", tensors, values | {"lexicon": wrong})
        with pytest.raises(ValueError, match="not a translator's model"):
            Translator.load(tmp_path)
    del values["lexicon"]  # as older versions wrote it: without, or with words that mostly matter
    for older in (values, values | {"telling_words": ["one"]}):
        save_tensors(tmp_path / "model.safetensors", tensors, older)
        loaded = Translator.load(tmp_path)
        assert loaded.lexicon == {}
        assert loaded.untranslated(["one"], [""]) == [()]


def test_any_model_has_them() -> None:
    vocabulary = trained().vocabulary
    translator = Translator(RecurrentSeq2Seq(Seq2SeqConfig(len(vocabulary), d_model=8)), vocabulary)
    translator.lexicon = {"one": frozenset({"un"})}
    assert translator.untranslated(["one", "one"], ["un", ""]) == [(), ("one",)]
    with pytest.raises(ValueError, match="a text for each sentence: got 0 for 1"):
        translator.untranslated(["one"], [])
