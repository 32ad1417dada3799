"""The translator: saved and loaded to the bit, independent of batches, honest about wrong input."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import number_pairs, small_model, trained, trained_run

from transformer_course.checkpoints import CheckpointError, load_tensors, save_tensors
from transformer_course.corpus.batches import EOS_ID
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import Hypothesis
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)
from transformer_course.translator import Translator, _confidence

PAIRS = number_pairs()
SOURCES = [pair.source for pair in PAIRS]


def copy_of_run(folder: Path) -> Path:
    trained().save(folder)
    return folder


def test_it_translates() -> None:
    translations = trained().translate(SOURCES)
    right = [pair.accepts(text) for pair, text in zip(PAIRS, translations, strict=True)]
    assert sum(right) / len(right) > 0.95  # 0.968 to 1, by processor
    assert trained().translate("one two three") == "trois deux un"
    assert trained().translate(["one two three"], beam=1) == ["trois deux un"]
    assert trained().translate([]) == []


@pytest.mark.parametrize("tied", [True, False])
def test_saving_and_loading_changes_nothing(tmp_path: Path, tied: bool) -> None:
    vocabulary = trained().vocabulary
    translator = Translator(small_model(3, vocab_size=len(vocabulary), tied=tied), vocabulary)
    translator.save(tmp_path / "new" / "folder")
    loaded = Translator.load(tmp_path / "new" / "folder")
    assert loaded.model.config == translator.model.config
    src, tgt = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[1, 8, 9]])
    assert torch.equal(loaded.model(src, tgt), translator.model(src, tgt))
    assert loaded.search(SOURCES[:5], top_beams=3) == translator.search(SOURCES[:5], top_beams=3)
    assert loaded.score([("one two", "deux un")]) == translator.score([("one two", "deux un")])
    assert (loaded.model.output.weight is loaded.model.src_embedding.weight) == tied
    assert not loaded.model.training
    names = load_tensors(tmp_path / "new" / "folder" / "model.safetensors")[0].keys()
    assert ("output.weight" in names) == (not tied)


@pytest.mark.parametrize("family", [RecurrentSeq2Seq, ConvolutionalSeq2Seq])
def test_a_model_of_chapter_00_is_loaded_as_what_it_is(
    tmp_path: Path, family: type[Seq2Seq]
) -> None:
    vocabulary = trained().vocabulary
    torch.manual_seed(7)
    config = Seq2SeqConfig(len(vocabulary), d_model=8, n_layers=2, dropout=0.2, max_len=61)
    translator = Translator(family(config), vocabulary)
    translator.save(tmp_path)
    loaded = Translator.load(tmp_path)
    assert type(loaded.model) is family
    assert loaded.model.config == config
    assert not loaded.model.training
    assert loaded.search(SOURCES[:3], top_beams=2) == translator.search(SOURCES[:3], top_beams=2)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what stands beside the weights."""
    path = folder / "model.safetensors"
    tensors, values = load_tensors(path)
    change(values)
    save_tensors(path, tensors, values)


def test_a_file_without_the_name_of_a_model_holds_a_transformer(tmp_path: Path) -> None:
    folder = copy_of_run(tmp_path / "run")
    rewrite(folder, lambda values: values.pop("model"))
    assert Translator.load(folder).translate("one two three") == "trois deux un"
    rewrite(folder, lambda values: values.update(model="Oracle"))
    with pytest.raises(CheckpointError, match=r"is not a translator's model \('Oracle'\)"):
        Translator.load(folder)


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    vocabulary = trained().vocabulary

    class Own(RecurrentSeq2Seq):
        pass

    config = Seq2SeqConfig(len(vocabulary), d_model=8)
    Translator(Own(config), vocabulary).save(tmp_path / "own")  # has all that its family has
    assert type(Translator.load(tmp_path / "own").model) is RecurrentSeq2Seq
    with pytest.raises(CheckpointError, match="Seq2Seq can't be saved: `load` knows "):
        Translator(Seq2Seq(config), vocabulary).save(tmp_path / "other")
    for kind in (torch.bfloat16, torch.float64):
        with pytest.raises(
            CheckpointError, match=rf"weight \({kind}\) can't be saved: it must be "
        ):
            Translator(RecurrentSeq2Seq(config).to(kind), vocabulary).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_what_it_is_less_sure_of_than_of_held_out_sentences_is_doubtful(tmp_path: Path) -> None:
    translator = Translator(trained().model, trained().vocabulary)
    assert translator.doubt_below == 0  # nothing is doubtful until it is calibrated
    translator.calibrate(SOURCES, share=0.25)
    found = [beams[0] for beams in translator.search(SOURCES)]
    sure = sorted(best.confidence for best in found)
    assert translator.doubt_below == sure[len(sure) // 4]
    assert [best.doubtful for best in found] == [
        best.confidence < sure[len(sure) // 4] for best in found
    ]
    assert sum(best.doubtful for best in found) == len(sure) // 4
    for beam in (1, 4):
        odd = translator.search(["three three one one five five two two"], beam=beam)[0][0]
        assert (odd.unseen, odd.doubtful) == ((), True)
    translator.save(tmp_path)
    assert Translator.load(tmp_path).doubt_below == translator.doubt_below
    assert Translator.load(tmp_path).doubt_below_greedy == translator.doubt_below_greedy
    rewrite(tmp_path, lambda values: values.pop("doubt_below_greedy"))  # a folder of before
    assert Translator.load(tmp_path).doubt_below_greedy == translator.doubt_below
    rewrite(tmp_path, lambda values: values.pop("doubt_below"))
    assert Translator.load(tmp_path).doubt_below == 0
    with pytest.raises(ValueError, match="sentences is empty; there must be at least one"):
        translator.calibrate([])
    for share in (-0.1, 1.0, float("nan")):
        problem = rf"share \({share}\) must be 0 or more and less than 1"
        with pytest.raises(ValueError, match=problem):
            translator.calibrate(SOURCES, share=share)


def test_the_confidence_of_a_long_translation_is_no_rounding() -> None:
    long = Hypothesis(tuple(range(500)), -800.0, 0.0)  # exp(-800) is 0
    assert _confidence(long, [long]) == pytest.approx(math.exp(-1.6))
    assert _confidence(long, [long, long]) == pytest.approx(math.exp((math.log(2) - 800) / 500))


def test_a_search_names_the_words_that_were_never_seen() -> None:
    found = trained().search(["one zebra two zebra §", "One two"], top_beams=2)
    assert [[best.unseen for best in beams] for beams in found] == [[("zebra", "§")] * 2, [()] * 2]
    assert isinstance(found[0][0], Hypothesis)
    assert trained().search(["one two"])[0][0].unseen == ()


def test_a_sentence_can_be_checked_before_it_is_translated() -> None:
    trained().check("one two")
    for empty in ("", " \u200b "):
        with pytest.raises(ValueError, match=r"^sentence \('.*'\) is empty"):
            trained().check(empty)
    with pytest.raises(ValueError, match=r"^sentence \('(one ){10}'…\) has 64 subwords, the model"):
        trained().check("one " * 64)


def test_translations_do_not_depend_on_neighbours_order_or_batches() -> None:
    translator = trained()
    long = " ".join(["one"] * 25)
    together = translator.translate([long, *SOURCES])
    assert translator.translate([*reversed(SOURCES), long])[::-1] == together
    for budget in (8, 60):
        found = translator.search([long, *SOURCES], max_tokens=budget)
        assert translator.vocabulary.decode([best[0].ids for best in found]) == together
    alone = [translator.translate(source) for source in [long, *SOURCES[:20]]]
    assert alone == together[:21]


def test_a_wider_beam_has_smaller_batches() -> None:
    translator, rows = trained(), []
    encode = translator.model.encode

    def watched(src: torch.Tensor, *rest: Any) -> torch.Tensor:
        rows.append(src.numel())
        return encode(src, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translator.model, "encode", watched)
        for beam in (1, 4, 16):
            translator.search(SOURCES, beam=beam, max_tokens=240)
            rows.append(0)
    parts = " ".join(map(str, rows)).split(" 0")
    one, four, sixteen = ([int(number) for number in part.split()] for part in parts[:3])
    assert one == four
    assert max(sixteen) <= 60 < 120 < max(four) <= 240


def test_an_endless_translation_is_cut_at_the_same_place_beside_any_neighbour() -> None:
    vocabulary = trained().vocabulary
    model = small_model(vocab_size=len(vocabulary), tied=False)
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.weight[7] = 0.0
    translator = Translator(model, vocabulary)
    neighbours = ["one", " ".join(["two"] * 30)]
    alone = [translator.search([sentence])[0][0].ids for sentence in neighbours]
    assert [found[0].ids for found in translator.search(neighbours)] == alone
    assert max(len(ids) for ids in alone) <= model.config.max_len


def test_the_score_is_the_beams_log_probability() -> None:
    translator = trained()
    sentences = SOURCES[::9]
    best = [found[0] for found in translator.search(sentences)]
    translations = translator.translate(sentences)
    scores = translator.score(list(zip(sentences, translations, strict=True)))
    assert scores == pytest.approx([hypothesis.log_prob for hypothesis in best], abs=1e-4)
    worse = translator.score([(sentences[-1], "un un un un")])[0]
    assert worse < scores[-1] < 0


def test_scores_come_in_batches_in_the_order_of_the_pairs() -> None:
    translator = trained()
    long = " ".join(["one"] * 60)
    pairs = [(p.source, p.target) for p in PAIRS[::5]] + [(long, "un"), ("one", "un " * 60)]
    pairs = pairs[::2] + pairs[1::2]
    alone = [translator.score([pair])[0] for pair in pairs]
    calls = []
    handle = translator.model.register_forward_hook(lambda *_: calls.append(1))
    together = translator.score(tuple(pairs))
    handle.remove()
    assert together == pytest.approx(alone, rel=1e-5, abs=1e-5)
    assert 1 < len(calls) < len(pairs) / 3
    assert translator.score(pairs[::-1]) == pytest.approx(alone[::-1], rel=1e-5, abs=1e-5)
    assert len({round(score, 3) for score in alone}) > len(alone) / 2
    assert translator.score(()) == []


def test_top_beams_come_best_first() -> None:
    found = trained().search(["one two three"], beam=5, top_beams=5)[0]
    assert len(found) == 5
    assert found == sorted(found, key=lambda hypothesis: -hypothesis.score)


def test_attention_maps_belong_to_their_subwords() -> None:
    translator = trained()
    for target in (None, "trois un"):
        found = translator.attention("one two three", target)
        assert found.source[-1] == "</s>"
        assert found.target[0] == "<s>"
        assert "".join(found.source[:-1]).replace("▁", " ").strip() == "one two three"
        q_len, k_len = len(found.target), len(found.source)
        shapes = {name: tuple(weights.shape) for name, weights in found.maps.items()}
        assert shapes == {
            "encoder_layers.0.self_attention": (2, k_len, k_len),
            "decoder_layers.0.self_attention": (2, q_len, q_len),
            "decoder_layers.0.cross_attention": (2, q_len, k_len),
        }
        for weights in found.maps.values():
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        future = found.maps["decoder_layers.0.self_attention"].triu(1)
        assert (future == 0).all()
    assert found.target[1:] == translator.vocabulary.pieces("trois un")


def written(monkeypatch: pytest.MonkeyPatch, ids: list[int]) -> Translator:
    """A translator whose search finds these ids, whatever the source."""
    translator = Translator(trained().model, trained().vocabulary)
    found = [[Hypothesis(ids, -1.0, -1.0)]]
    monkeypatch.setattr(translator, "search", lambda *_, **__: found)
    return translator


def test_attention_maps_belong_to_the_subwords_that_the_search_wrote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Letters one by one; the text they make would be encoded as one subword."""
    vocabulary = trained().vocabulary
    letters = [vocabulary.encode([letter])[0][-1] for letter in "un"]
    assert vocabulary.encode(vocabulary.decode([letters]))[0] != letters
    for end, read in (([EOS_ID], letters), ([], letters[:-1])):  # with </s>, and cut off
        found = written(monkeypatch, [*letters, *end]).attention("one two")
        assert found.target == ["<s>", *(vocabulary.piece(entry) for entry in read)]
        cross = found.maps["decoder_layers.0.cross_attention"]
        assert cross.shape == (2, len(found.target), len(found.source))


def test_an_empty_translation_has_maps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    found = written(monkeypatch, [EOS_ID]).attention("one two")
    assert found.target == ["<s>"]
    assert found.maps["decoder_layers.0.self_attention"].tolist() == [[[1.0]], [[1.0]]]


def test_a_translation_as_long_as_the_model_allows_has_maps() -> None:
    vocabulary = trained().vocabulary
    model = small_model(vocab_size=len(vocabulary), tied=False)
    with torch.no_grad():
        model.output.weight.zero_()  # never </s> before all else: runs into the limit
    found = Translator(model, vocabulary).attention(" ".join(["two"] * 60))
    assert len(found.target) == model.config.max_len


@pytest.mark.parametrize("method", ["translate", "score", "attention"])
def test_empty_and_too_long_sentences_are_named(method: str) -> None:
    def call(sentence: str) -> object:
        if method == "score":
            return trained().score([("one", "un"), (sentence, "un")])
        if method == "attention":
            return trained().attention(sentence)
        return trained().translate(["one", sentence])

    number = 1 if method == "attention" else 2
    for empty in ("", " \t "):
        with pytest.raises(ValueError, match=rf"sentence {number} \(.*\) is empty"):
            call(empty)
    with pytest.raises(ValueError, match=r"has 64 subwords, the model takes at most 63"):
        call("one " * 64)
    assert call("one " * 63) is not None


def test_numbers_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match=r"beam \(0\) must be 1 or more"):
        trained().translate("one", beam=0)
    with pytest.raises(ValueError, match=r"alpha \(-1\.0\) must be from 0 to 10"):
        trained().translate("one", alpha=-1.0)
    with pytest.raises(ValueError, match=r"beam \(0\) must be 1 or more"):
        trained().translate([], beam=0)
    with pytest.raises(ValueError, match=r"top_beams \(5\) must be 1 or more and at most beam"):
        trained().search(["one"], beam=4, top_beams=5)


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = copy_of_run(tmp_path / "run")
    assert Translator.load(folder, device="cpu").device.type == "cpu"
    with pytest.raises(ValueError, match=r"device \('gpu'\) must be one that torch knows"):
        Translator.load(folder, device="gpu")
    with pytest.raises(ValueError, match=r"device \('cuda:99'\) must be there"):
        Translator.load(folder, device="cuda:99")
    for absent in ("mps", "xpu:99"):  # no machine that runs these tests has them
        with pytest.raises(ValueError, match=rf"device \('{absent}'\) must be there"):
            Translator.load(folder, device=absent)
    with pytest.raises(ValueError, match=r"device \('cpu:99'\) must be there"):
        Translator.load(folder, device="cpu:99")
    assert Translator.load(folder, device="cpu:0").device.type == "cpu"
    with pytest.raises(ValueError, match=r"device \('meta'\) must be one that computes"):
        Translator.load(folder, device="meta")


def test_a_model_without_heads_has_no_maps() -> None:
    vocabulary = trained().vocabulary
    recurrent = RecurrentSeq2Seq(Seq2SeqConfig(len(vocabulary), d_model=8))
    with pytest.raises(ValueError, match="RecurrentSeq2Seq has no multi-head attention"):
        Translator(recurrent, vocabulary).attention("one two")  # type: ignore[arg-type]


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"there is no folder .*nowhere"):
        Translator.load(tmp_path / "nowhere")
    folder = copy_of_run(tmp_path / "run")
    model, vocabulary = folder / "model.safetensors", folder / "vocabulary.json"
    good_model, good_vocabulary = model.read_bytes(), vocabulary.read_bytes()
    model.write_bytes(good_model[:-100])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged"):
        Translator.load(folder)
    model.write_bytes(good_model)
    vocabulary.write_bytes(good_vocabulary[:200])
    with pytest.raises(CheckpointError, match=r"vocabulary\.json is not a vocabulary"):
        Translator.load(folder)
    vocabulary.write_bytes(good_vocabulary)
    model.unlink()
    with pytest.raises(CheckpointError, match=r"model\.safetensors is missing"):
        Translator.load(folder)
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "step-0000001.safetensors").write_bytes(good_model)
    with pytest.raises(CheckpointError, match="training isn't finished, resume it first"):
        Translator.load(folder)


def test_a_model_with_another_vocabulary_is_refused(tmp_path: Path) -> None:
    folder = copy_of_run(tmp_path / "run")
    lines = [text.translate(str.maketrans("oeu", "pqr")) for text in SOURCES]
    other = Vocabulary.train(lines + [pair.target for pair in PAIRS], 300)
    for vocabulary in (other, Vocabulary.train(SOURCES, 265)):
        vocabulary.save(folder / "vocabulary.json")
        with pytest.raises(
            CheckpointError, match=r"model\.safetensors belongs to another vocabulary"
        ):
            Translator.load(folder)
    with pytest.raises(ValueError, match=r"vocabulary has 265 entries, the model expects \d+"):
        Translator(trained().model, Vocabulary.train(SOURCES, 265))


def test_the_run_is_where_it_was_saved() -> None:
    assert sorted(path.name for path in trained_run().iterdir()) == [
        "model.safetensors",
        "vocabulary.json",
    ]
