"""Words that a translation doesn't depend on: hidden one by one, and named where they mostly matter."""

from pathlib import Path

import pytest
import torch
from small_runs import number_pairs, trained, trained_run

from transformer_course.checkpoints import load_tensors, save_tensors
from transformer_course.corpus.batches import Example
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer
from transformer_course.leaving_out import falls, telling_ids, unused_places
from transformer_course.loss import log_softmax
from transformer_course.recipe import encode_pairs
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


@torch.no_grad()
def one_by_one(src: list[int], tgt: list[int], hidden: int | None) -> float:
    """Log-probability of a translation, one sentence alone, without padding."""
    source, target = torch.tensor([[*src, 2]]), torch.tensor([[1, *tgt, 2]])
    mask = torch.ones(1, 1, 1, len(src) + 1, dtype=torch.bool)
    if hidden is not None:
        mask[..., hidden] = False
    log_probs = log_softmax(model()(source, target[:, :-1], mask))
    return float(log_probs.gather(-1, target[:, 1:, None]).sum())


def test_falls_are_those_of_each_sentence_alone() -> None:
    some = examples(("one two three", "trois deux un"), ("four", "quatre"), ("one one", "un deux"))
    for (src, tgt), row in zip(some, falls(model(), some), strict=True):
        assert list(row) == list(range(len(src)))
        whole = one_by_one(src, tgt, None)
        for place, cost in row.items():
            assert cost == pytest.approx(whole - one_by_one(src, tgt, place), abs=1e-3)
    only = {some[0][0][1]}
    assert falls(model(), some, only) == [
        {1: pytest.approx(falls(model(), some)[0][1], abs=1e-3)},
        {},
        {},
    ]
    assert falls(model(), []) == []


def test_telling_subwords_are_those_that_nearly_always_matter() -> None:
    telling = telling_ids(model(), encode_pairs(trained().vocabulary, PAIRS))
    pieces = {trained().vocabulary.piece(token) for token in telling}
    assert pieces == {"▁one", "▁two", "▁three", "▁four", "▁five"}
    few = encode_pairs(trained().vocabulary, PAIRS[:2])
    assert telling_ids(model(), few[:1]) == frozenset()  # met too seldom


def test_a_word_that_was_left_out_is_named() -> None:
    telling = telling_ids(model(), encode_pairs(trained().vocabulary, PAIRS))
    right, short = examples(("one two three", "trois deux un"), ("one two three", "un"))
    costs = falls(model(), [short])[0]
    left = [place for place, cost in costs.items() if cost < 0.1]
    assert left  # of "un" alone, some of the three can be hidden
    assert unused_places(model(), [right, short], telling) == [[], left]
    assert unused_places(model(), [short], frozenset()) == [[]]
    translator = Translator(trained().model, trained().vocabulary)
    sentences, found = ["one two three"] * 2, [translator.search(["one two three"])[0][0]]
    found.append(Translation((*short[1], 2), 0.0, 0.0))
    assert translator.unused(sentences, found) == [(), ()]  # nothing is known to tell
    translator.telling = telling
    names = ["one", "two", "three"]
    assert translator.unused(sentences, found) == [(), tuple(names[place] for place in left)]
    with pytest.raises(ValueError, match="got 0 for 1"):
        translator.unused(["one"], [])
    with pytest.raises(ValueError, match="is empty"):
        translator.unused([""], found[:1])


def test_what_tells_is_saved_with_the_model(tmp_path: Path) -> None:
    assert "telling" in load_tensors(trained_run() / "model.safetensors")[1]
    translator = Translator(trained().model, trained().vocabulary)
    translator.telling = frozenset({7, 300})
    translator.save(tmp_path)
    assert Translator.load(tmp_path).telling == {7, 300}
    tensors, values = load_tensors(tmp_path / "model.safetensors")
    save_tensors(tmp_path / "model.safetensors", tensors, values | {"telling": ["x"]})
    with pytest.raises(ValueError, match="not a translator's model"):
        Translator.load(tmp_path)
    del values["telling"]  # as an older version wrote it
    save_tensors(tmp_path / "model.safetensors", tensors, values)
    assert Translator.load(tmp_path).telling == frozenset()


def test_models_of_chapter_00_name_nothing() -> None:
    vocabulary = trained().vocabulary
    translator = Translator(RecurrentSeq2Seq(Seq2SeqConfig(len(vocabulary), d_model=8)), vocabulary)
    translator.telling = frozenset(range(len(vocabulary)))
    assert translator.unused(["one"], [Hypothesis((2,), 0.0, 0.0)]) == [()]
