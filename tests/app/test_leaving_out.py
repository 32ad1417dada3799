"""Words that a translation doesn't depend on: hidden one by one, and named where they mostly matter."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_runs import number_pairs, trained, trained_run

from transformer_course import leaving_out
from transformer_course.checkpoints import load_tensors, save_tensors
from transformer_course.corpus.batches import Example
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer
from transformer_course.leaving_out import falls, spread, telling_words, unused_words, word_places
from transformer_course.loss import log_softmax
from transformer_course.seq2seq import RecurrentSeq2Seq, Seq2SeqConfig
from transformer_course.translator import Translation, Translator

# Where a number comes twice, hiding one of the two costs little.
PAIRS = [p for p in number_pairs() if len(set(p.source.split())) == len(p.source.split())]


def model() -> Transformer:
    found = trained().model
    assert isinstance(found, Transformer)
    return found


def examples(*texts: tuple[str, str]) -> list[Example]:
    sources, targets = (
        trained().vocabulary.encode(list(side)) for side in zip(*texts, strict=True)
    )
    return list(zip(sources, targets, strict=True))


def places(*texts: tuple[str, str]) -> list[list[tuple[str, list[int]]]]:
    return [word_places(trained().vocabulary, source) for source, _ in texts]


def told(texts: Sequence[tuple[str, str]]) -> frozenset[str]:
    return telling_words(model(), examples(*texts), places(*texts))


@torch.no_grad()
def one_by_one(src: list[int], tgt: list[int], hidden: Sequence[int]) -> float:
    """Log-probability of a translation, one sentence alone, without padding."""
    source, target = torch.tensor([[*src, 2]]), torch.tensor([[1, *tgt, 2]])
    mask = torch.ones(1, 1, 1, len(src) + 1, dtype=torch.bool)
    mask[..., list(hidden)] = False
    log_probs = log_softmax(model()(source, target[:, :-1], mask))
    return float(log_probs.gather(-1, target[:, 1:, None]).sum())


def test_falls_are_those_of_each_sentence_alone() -> None:
    some = examples(("one two three", "trois deux un"), ("four", "quatre"), ("one one", "un deux"))
    parts = [[[0], [1], [2], [0, 2]], [], [[1], [0, 1]]]
    for (src, tgt), row, costs in zip(some, parts, falls(model(), some, parts), strict=True):
        whole = one_by_one(src, tgt, [])
        expected = [whole - one_by_one(src, tgt, part) for part in row]
        assert costs == pytest.approx(expected, abs=1e-3)
    assert falls(model(), [], []) == []
    assert falls(model(), some, [[], [], []]) == [[], [], []]


def test_a_word_is_where_all_its_subwords_are() -> None:
    vocabulary = Vocabulary.train(["the mean man", "give me an egg"], size=300)
    found = word_places(vocabulary, "Mean\u00a0me, me")
    pieces = vocabulary.pieces("mean me, me")
    assert [word for word, _ in found] == ["mean", "me", ",", "me"]  # in the normal form
    assert [place for _, where in found for place in where] == list(range(len(pieces)))
    for word, where in found:
        assert "".join(pieces[place] for place in where).strip("▁") == word
    assert (
        word_places(vocabulary, "\x1c \x1f") == []
    )  # no words, though the vocabulary has subwords


def test_cases_come_from_all_over() -> None:
    assert spread(range(39), 20) == [i * 39 // 20 for i in range(20)]
    assert spread(range(39), 20)[-1] == 37
    assert spread([], 5) == []
    assert spread([7], 5) == [7]
    assert spread([7], 0) == []


def test_telling_words_are_those_that_nearly_always_matter() -> None:
    texts = [(p.source, p.target) for p in PAIRS]
    assert told(texts) == {"one", "two", "three", "four", "five"}
    assert told([("one two", "deux un")] * 3) == {"one", "two"}
    assert told([("one two", "deux un")] * 2) == frozenset()  # met too seldom


def with_costs(
    monkeypatch: pytest.MonkeyPatch, costs: Sequence[Sequence[float]]
) -> list[list[Sequence[int]]]:
    """Let hiding cost this, sentence by sentence; returned is what will have been hidden in each."""
    seen: list[list[Sequence[int]]] = [[] for _ in costs]

    def asked(
        _: object, examples: Sequence[Example], hidden: Sequence[Sequence[Sequence[int]]]
    ) -> object:
        assert len(examples) == len(costs)
        for row, parts in zip(seen, hidden, strict=True):
            row.extend(parts)
        return [row[: len(parts)] for row, parts in zip(costs, hidden, strict=True)]

    monkeypatch.setattr(leaving_out, "falls", asked)
    return seen


def test_nine_of_ten_cases_must_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    some: list[Example] = [([5], [6])] * 20
    with_costs(monkeypatch, [[0.5]] * 2 + [[2.0]] * 18)
    assert telling_words(model(), some, [[("cat", [0])]] * 20) == {"cat"}
    with_costs(monkeypatch, [[0.5]] * 3 + [[2.0]] * 17)
    assert telling_words(model(), some, [[("cat", [0])]] * 20) == frozenset()


def test_a_word_that_a_right_translation_did_without_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """*Merci beaucoup* is as likely without *very*: so *very* says nothing, however much it mostly costs."""
    some: list[Example] = [([5], [6])] * 20
    with_costs(monkeypatch, [[0.1]] + [[9.0]] * 19)
    assert telling_words(model(), some, [[("very", [0])]] * 20) == {"very"}
    with_costs(monkeypatch, [[0.09]] + [[9.0]] * 19)
    assert telling_words(model(), some, [[("very", [0])]] * 20) == frozenset()


def test_a_word_tells_though_others_share_its_subword(monkeypatch: pytest.MonkeyPatch) -> None:
    """*me* is the subword with which *mean* begins; hiding *mean* may cost nothing."""
    some: list[Example] = [([5], [6])] * 3 + [([5, 7], [6])] * 4
    where = [[("me", [0])]] * 3 + [[("mean", [0, 1])]] * 4
    seen = with_costs(monkeypatch, [[5.0]] * 3 + [[0.0]] * 4)
    assert telling_words(model(), some, where) == {"me"}
    assert seen == [[[0]]] * 3 + [[[0, 1]]] * 3 + [[]]  # a word is hidden as a whole
    with_costs(monkeypatch, [[0.0]] * 3 + [[]] * 4)
    assert unused_words(model(), some, where, {"me"}) == [("me",)] * 3 + [()] * 4


def test_of_a_frequent_word_some_cases_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    some: list[Example] = [([5], [6])] * 150
    seen = with_costs(monkeypatch, [[3.0] if i % 3 != 2 else [] for i in range(150)])
    assert telling_words(model(), some, [[("the", [0])]] * 150) == {"the"}
    assert seen == [[[0]] if i % 3 != 2 else [] for i in range(150)]


@pytest.mark.parametrize(("costs", "asked"), [([0.0], 3), ([3.0, 3.0, 3.0, 3.0, 0.05], 12)])
def test_a_word_that_is_out_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, costs: list[float], asked: int
) -> None:
    """Of most words three cases show that they aren't telling ones; a hundred take as long as a training."""
    some: list[Example] = [([5], [6])] * 100
    seen = with_costs(monkeypatch, [[costs[min(i, len(costs) - 1)]] for i in range(100)])
    assert telling_words(model(), some, [[("the", [0])]] * 100) == frozenset()
    assert sum(map(len, seen)) == asked


@given(st.lists(st.sampled_from([0.05, 0.5, 2.0, 5.0]), min_size=3, max_size=40))
def test_what_is_tried_in_rounds_is_judged_as_a_whole(costs: list[float]) -> None:
    some: list[Example] = [([5], [6])] * len(costs)
    with pytest.MonkeyPatch.context() as monkeypatch:
        with_costs(monkeypatch, [[cost] for cost in costs])
        found = telling_words(model(), some, [[("it", [0])]] * len(costs))
    assert found == (
        {"it"} if min(costs) >= 0.1 and sorted(costs)[len(costs) // 10] >= 2 else set()
    )


def test_a_word_that_was_left_out_is_named() -> None:
    telling = told([(p.source, p.target) for p in PAIRS])
    texts = ("one two three", "trois deux un"), ("one two three", "un")
    right, short = examples(*texts)
    where = places(*texts)
    names = ["one", "two", "three"]
    costs = falls(model(), [short], [[[0], [1], [2]]])[0]
    left = tuple(name for name, cost in zip(names, costs, strict=True) if cost < 0.1)
    assert left  # of "un" alone, some of the three can be hidden
    assert unused_words(model(), [right, short], where, telling) == [(), left]
    assert unused_words(model(), [short], where[1:], frozenset()) == [()]
    translator = Translator(trained().model, trained().vocabulary)
    sentences, found = ["one two three"] * 2, [translator.search(["one two three"])[0][0]]
    found.append(Translation((*short[1], 2), 0.0, 0.0))
    assert translator.unused(sentences, found) == [(), ()]  # nothing is known to tell
    translator.telling = telling
    assert translator.unused(sentences, found) == [(), left]
    assert translator.unused(["\x1c"], found[:1]) == [()]
    with pytest.raises(ValueError, match="got 0 for 1"):
        translator.unused(["one"], [])
    with pytest.raises(ValueError, match="is empty"):
        translator.unused([""], found[:1])


def test_what_tells_is_saved_with_the_model(tmp_path: Path) -> None:
    assert "telling_words" in load_tensors(trained_run() / "model.safetensors")[1]
    translator = Translator(trained().model, trained().vocabulary)
    translator.telling = frozenset({"one", "l'été"})
    translator.save(tmp_path)
    assert Translator.load(tmp_path).telling == {"one", "l'été"}
    tensors, values = load_tensors(tmp_path / "model.safetensors")
    for wrong in ("one", [7], {"one": 1}, None):
        save_tensors(tmp_path / "model.safetensors", tensors, values | {"telling_words": wrong})
        with pytest.raises(ValueError, match="not a translator's model"):
            Translator.load(tmp_path)
    del values["telling_words"]  # as older versions wrote it: without, or with ids of subwords
    for older in (values, values | {"telling": [7, 300]}):
        save_tensors(tmp_path / "model.safetensors", tensors, older)
        loaded = Translator.load(tmp_path)
        assert loaded.telling == frozenset()
        assert loaded.unused(["one"], loaded.search(["one"])[0]) == [()]


def test_models_of_chapter_00_name_nothing() -> None:
    vocabulary = trained().vocabulary
    translator = Translator(RecurrentSeq2Seq(Seq2SeqConfig(len(vocabulary), d_model=8)), vocabulary)
    translator.telling = frozenset({"one"})
    assert translator.unused(["one"], [Hypothesis((2,), 0.0, 0.0)]) == [()]
