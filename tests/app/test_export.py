"""Translators in other programs: the same words and scores, nothing written over, the rest refused by name."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from command_line import Run, assert_one_sentence
from small_runs import WORDS, number_pairs, trained, trained_run

from transformer_course.checkpoints import CheckpointError, write_sealed
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.encoder_decoder.config import LayerConfig
from transformer_course.encoder_decoder.layers import DecoderLayer, EncoderLayer
from transformer_course.export import (
    EngineTranslator,
    OnnxTranslator,
    export_ctranslate2,
    export_hub,
    export_onnx,
)
from transformer_course.export.folders import new_folder
from transformer_course.non_autoregressive import MaskPredict
from transformer_course.recipe.data import Data
from transformer_course.translator import Translator

ctranslate2 = pytest.importorskip("ctranslate2")  # in CI tests/conftest.py makes a failure of it
transformers = pytest.importorskip("transformers")
for package in ("onnx", "onnxscript", "onnxruntime"):
    pytest.importorskip(package)

SENTENCES = [*(pair.source for pair in number_pairs()[::3]), "one five " * 9, "three " * 31]


def fresh(**choices: object) -> Translator:
    """A translator of odd sizes that has learned nothing: no weight, gain or bias is 0 or 1."""
    torch.manual_seed(3)
    size = len(trained().vocabulary)
    sizes = {"d_model": 24, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 3, "d_ff": 40}
    model = Transformer(TransformerConfig(size, max_len=50, **{**sizes, **choices}))  # type: ignore[arg-type]
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return Translator(model, trained().vocabulary)


# CTranslate2

CHOICES = [
    {"norm": norm, "positions": positions, **others}
    for norm, positions in itertools.product(("pre", "post"), ("sinusoidal", "learned", "none"))
    for others in ({}, {"tie_embeddings": False, "bias": False, "n_key_heads": 2})
]


@pytest.mark.parametrize(
    "choices", CHOICES, ids=lambda choices: "-".join(map(str, choices.values()))
)
def test_the_engine_computes_what_the_model_does(
    tmp_path: Path, choices: dict[str, object]
) -> None:
    """Scores of given translations, which need no search: each weight is in its place."""
    translator = fresh(**choices)
    export_ctranslate2(translator, tmp_path / "out")
    engine = ctranslate2.Translator(str(tmp_path / "out"), intra_threads=1)
    torch.set_num_threads(1)
    pairs = [("one two", "deux un"), ("three", "x"), ("five four three two", "un")]
    names = translator.vocabulary.tokens()
    source, target = (
        [[names[entry] for entry in ids] for ids in translator.vocabulary.encode(side)]
        for side in zip(*pairs, strict=True)
    )
    found = [sum(scored.log_probs) for scored in engine.score_batch(source, target)]
    np.testing.assert_allclose(found, translator.score(pairs), atol=1e-4)


@pytest.mark.parametrize(("beam", "alpha"), [(1, 0.6), (4, 0.0), (4, 0.6), (5, 2.0)])
def test_the_engine_finds_the_same_words_and_scores(
    tmp_path: Path, beam: int, alpha: float
) -> None:
    export_ctranslate2(trained(), tmp_path / "out")
    engine = EngineTranslator(tmp_path / "out")
    ours = [found[0] for found in trained().search(SENTENCES, beam=beam, alpha=alpha)]
    theirs = [found[0] for found in engine.search(SENTENCES, beam=beam, alpha=alpha)]
    assert [h.ids for h in theirs] == [h.ids for h in ours]
    for name in ("log_prob", "score"):
        found, expected = ([getattr(h, name) for h in row] for row in (theirs, ours))
        np.testing.assert_allclose(found, expected, atol=2e-4)
    assert engine.translate(SENTENCES[:4], beam=beam) == trained().translate(
        SENTENCES[:4], beam=beam
    )


def test_a_model_that_wants_to_write_pad_or_s_says_the_same(tmp_path: Path) -> None:
    translator = fresh()
    with torch.no_grad():  # one of them wins now and then
        translator.model.output.weight[:2] *= 3
    export_ctranslate2(translator, tmp_path / "out")
    theirs = EngineTranslator(tmp_path / "out").search(SENTENCES[:4], beam=1)
    ours = translator.search(SENTENCES[:4], beam=1)
    assert [row[0].ids for row in theirs] == [row[0].ids for row in ours]


def test_a_translation_without_an_end_is_cut_at_the_same_length(tmp_path: Path) -> None:
    translator = fresh()
    with torch.no_grad():  # </s> never wins
        translator.model.output.weight[2] = -translator.model.output.weight.abs().sum(0)
    export_ctranslate2(translator, tmp_path / "out")
    ours = translator.search(["one two", "one " * 20], beam=1)
    theirs = EngineTranslator(tmp_path / "out").search(["one two", "one " * 20], beam=1)
    assert (
        [len(found[0].ids) for found in theirs] == [len(found[0].ids) for found in ours] == [42, 50]
    )


def test_int8_is_smaller_and_still_translates(tmp_path: Path) -> None:
    """And the translator itself keeps its weights: CTranslate2 multiplies arrays in place."""
    sources = [pair.source for pair in number_pairs()]
    ours = trained().translate(sources)
    for quantization in ("float32", "int8"):
        export_ctranslate2(trained(), tmp_path / quantization, quantization)
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("float32", "int8")]
    assert sizes[1] < sizes[0] / 2
    assert trained().translate(sources) == ours
    theirs = EngineTranslator(tmp_path / "int8").translate(sources)
    assert np.mean([a == b for a, b in zip(ours, theirs, strict=True)]) > 0.9


@pytest.mark.parametrize("threads", [0, -5, 1.0, True, 3_000_000])
@pytest.mark.parametrize("program", [EngineTranslator, OnnxTranslator])
def test_a_number_of_threads_that_cannot_be_is_refused(program: Any, threads: Any) -> None:
    told = re.escape(f"threads ({threads!r}) must be a whole number, 1 to 1,024")
    with pytest.raises(ValueError, match=told):
        program("anywhere", threads=threads)


@pytest.mark.parametrize("kind", ["ctranslate2", "onnx"])
def test_exports_refuse_what_the_translator_refuses(
    tmp_path: Path, in_onnx: Path, kind: str
) -> None:
    if kind == "ctranslate2":
        export_ctranslate2(trained(), tmp_path / "out")
    engine = (
        EngineTranslator(tmp_path / "out") if kind == "ctranslate2" else OnnxTranslator(in_onnx)
    )
    for sentences in (["one", ""], ["one " * 70]):
        with pytest.raises(ValueError, match="sentence ") as error:
            trained().translate(sentences)
        with pytest.raises(ValueError, match="sentence ") as same:
            engine.translate(sentences)
        assert str(same.value) == str(error.value)
    for wrong in (
        {"beam": 0}, {"beam": 1000}, {"alpha": -1.0}, {"alpha": 11.0}, {"top_beams": 5}, {"top_beams": 0},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=rf"^{next(iter(wrong))} \("):
            engine.search(["one"], **wrong)  # type: ignore[arg-type]
    assert engine.search([]) == []


LAYERS = {
    "rotary positions": LayerConfig(24, 4, 40, rotary_base=10000.0),
    "relative positions (AlibiBias)": LayerConfig(24, 4, 40, relative="alibi"),
    "norms of queries and keys": LayerConfig(24, 4, 40, qk_norm=True),
    "the feed-forward net GatedFeedForward": LayerConfig(24, 4, 40, activation="swiglu"),
    "another activation than ReLU": LayerConfig(24, 4, 40, activation="gelu"),
    "the norm RMSNorm with eps 1e-05": LayerConfig(24, 4, 40, norm_kind="rms"),
    "the norm LayerNorm with eps 0.001": LayerConfig(24, 4, 40, norm_eps=1e-3),
}


@pytest.mark.parametrize("told", LAYERS)
@pytest.mark.parametrize("side", ["encoder_layers", "decoder_layers"])
def test_parts_that_the_engine_does_not_have_are_refused_by_name(
    tmp_path: Path, told: str, side: str
) -> None:
    translator = fresh()
    layers = getattr(translator.model, side)
    layers[1] = (EncoderLayer if side == "encoder_layers" else DecoderLayer)(LAYERS[told])
    with pytest.raises(ValueError, match="can't go to CTranslate2") as error:
        export_ctranslate2(translator, tmp_path / "out")
    assert str(error.value).startswith(f"{side}.1")
    assert f" has {told}, which" in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("export", "told"), [(export_ctranslate2, "CTranslate2"), (export_onnx, "ONNX")]
)
def test_models_of_other_kinds_are_refused_by_name(
    tmp_path: Path, export: Callable[..., None], told: str
) -> None:
    config = TransformerConfig(len(trained().vocabulary), 24, 4, 1, 1, 40)
    translator = Translator(MaskPredict(config), trained().vocabulary)
    with pytest.raises(ValueError, match=rf"model \(MaskPredict\) can't go to {told}"):
        export(translator, tmp_path / "out")


def test_a_damaged_folder_is_told(tmp_path: Path) -> None:
    export_ctranslate2(trained(), tmp_path / "out")
    config = tmp_path / "out" / "config.json"
    whole = config.read_text()
    config.write_text(json.dumps({k: v for k, v in json.loads(whole).items() if k != "max_len"}))
    with pytest.raises(CheckpointError, match="max_len"):
        EngineTranslator(tmp_path / "out")
    config.write_text(whole)
    (tmp_path / "out" / "model.bin").write_bytes(b"")
    with pytest.raises(CheckpointError, match="can't be opened by CTranslate2"):
        EngineTranslator(tmp_path / "out")
    with pytest.raises(CheckpointError, match="there is no folder"):
        EngineTranslator(tmp_path / "nothing")


# ONNX


@pytest.fixture(scope="module")
def in_onnx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trained translator as graphs; it takes seconds, so once for all tests."""
    out = tmp_path_factory.mktemp("onnx") / "out"
    export_onnx(trained(), out)
    return out


@pytest.mark.parametrize(("beam", "alpha"), [(1, 0.6), (4, 0.6), (5, 2.0), (4, 5.0)])
def test_the_graphs_find_the_same_words_and_scores(in_onnx: Path, beam: int, alpha: float) -> None:
    """Sources of one to 31 subwords, many and few together: all lengths are open in the graphs."""
    wishes = {"beam": beam, "alpha": alpha, "top_beams": beam}
    graphs = OnnxTranslator(in_onnx)
    for sentences in (SENTENCES, SENTENCES[:1]):
        ours = [h for found in trained().search(sentences, **wishes) for h in found]
        theirs = [h for found in graphs.search(sentences, **wishes) for h in found]
        assert [h.ids for h in theirs] == [h.ids for h in ours]
        np.testing.assert_allclose([h.score for h in theirs], [h.score for h in ours], atol=1e-4)
    assert graphs.translate(["one two"], beam=beam) == trained().translate(["one two"], beam=beam)


def test_graphs_of_other_choices_compute_the_same(tmp_path: Path) -> None:
    """Post-norm, learned positions, fewer key heads, no biases, two matrices; and layers of chapter 12."""
    translator = fresh(
        norm="post", positions="learned", bias=False, n_key_heads=2, tie_embeddings=False
    )
    layer = LayerConfig(24, 4, 40, norm="post", bias=False, n_key_heads=2, rotary_base=100.0)
    translator.model.decoder_layers[1] = DecoderLayer(layer)
    translator.model.train().decoder_layers[1].eval()
    modes = [part.training for part in translator.model.modules()]
    export_onnx(translator, tmp_path / "out")
    assert [part.training for part in translator.model.modules()] == modes
    translator.model.eval()
    sentences = ["one two", "five four three"]
    for beam in (1, 3):
        ours = translator.search(sentences, beam=beam)
        theirs = OnnxTranslator(tmp_path / "out").search(sentences, beam=beam)
        assert [found[0].ids for found in theirs] == [found[0].ids for found in ours]
        np.testing.assert_allclose(
            [found[0].log_prob for found in theirs],
            [found[0].log_prob for found in ours],
            rtol=1e-4,
        )


def test_weights_that_onnx_runtime_does_not_take_are_refused(tmp_path: Path) -> None:
    for change, told in (
        (torch.bfloat16, "src_embedding.weight (torch.bfloat16) must be of torch.float32"),
        ("meta", "src_embedding.weight (meta) must be on the processor"),
    ):
        translator = fresh()
        translator.model.to(change)
        with pytest.raises(ValueError, match=re.escape(told)):
            export_onnx(translator, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_wide_beam_has_smaller_batches_in_onnx(
    in_onnx: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, rows = OnnxTranslator(in_onnx), []
    start = graphs.model.start

    def watched(src: torch.Tensor, *rest: Any, **others: Any) -> Any:
        rows.append(src.numel())
        return start(src, *rest, **others)

    monkeypatch.setattr(graphs.model, "start", watched)
    monkeypatch.setattr("transformer_course.export.onnx_model._TOKENS_AT_ONCE", 240)
    graphs.search(SENTENCES, beam=16)
    assert max(rows) <= 60


def test_damaged_graphs_are_told(in_onnx: Path, tmp_path: Path) -> None:
    shutil.copytree(in_onnx, tmp_path / "out")
    (tmp_path / "out" / "decoder.onnx").write_bytes(b"no graph")
    with pytest.raises(CheckpointError, match="can't be opened by ONNX Runtime"):
        OnnxTranslator(tmp_path / "out")
    (tmp_path / "out" / "config.json").write_text('{"max_len": 5, "other": 3}')
    with pytest.raises(CheckpointError, match="can't be opened by ONNX Runtime"):
        OnnxTranslator(tmp_path / "out")
    with pytest.raises(CheckpointError, match=r"vocabulary\.json is missing"):
        OnnxTranslator(tmp_path)


# A folder for a hub


TRICKY = ["one two", "One  “two” </s> <pad>", "l’été à 12 €", "\U0001f600 five"]


def test_a_hub_folder_is_loaded_by_the_package(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "numbers"
    export_hub(trained(), out, trained_run())
    again = Translator.load(out)
    assert again.translate(SENTENCES[:9]) == trained().translate(SENTENCES[:9])
    config = json.loads((out / "config.json").read_text())
    assert (
        TransformerConfig(**{k: v for k, v in config.items() if k in SIZES}) == again.model.config
    )
    assert config["architectures"] == ["Transformer"]
    assert run("translate", out, "one").out == "un\n"
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "# numbers\n" in card
    assert "trained on: not written down" in card


SIZES = TransformerConfig.__dataclass_fields__


def test_a_hub_folder_gives_transformers_and_tokenizers_the_same_subwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_hub(trained(), tmp_path / "out")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    loaded = transformers.PreTrainedTokenizerFast.from_pretrained(str(tmp_path / "out"))
    expected = [[*ids, 2] for ids in trained().vocabulary.encode(TRICKY)]
    assert loaded(TRICKY)["input_ids"] == expected
    assert [loaded.pad_token_id, loaded.bos_token_id, loaded.eos_token_id] == [0, 1, 2]
    texts = [loaded.decode(ids, skip_special_tokens=True) for ids in expected]
    assert texts == trained().vocabulary.decode(expected)
    plain = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert plain.encode("one two").ids == loaded("one two")["input_ids"]


def test_the_card_of_a_run_names_its_data_and_recipe(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    quick = ["--steps", 2, "--vocab-size", 300, "--layers", 1, "--validate-every", 2]
    assert run("train", "--pairs", *files, "--out", out, *quick).status == 0
    result = run("export", out, "--to", "hub")
    assert result.status == 0, result
    card = (tmp_path / "run-hub" / "README.md").read_text(encoding="utf-8")
    assert "trained on: 2 files of its owner" in card
    assert str(tmp_path) not in card
    assert '"max_steps": 2' in card
    one = Data(files=(str(tmp_path / "mine.tsv"),))
    write_sealed(out / "run.json", {"data": asdict(one), "threads": 1})
    export_hub(Translator.load(out), tmp_path / "one", out)
    card = (tmp_path / "one" / "README.md").read_text(encoding="utf-8")
    assert "trained on: 1 file of its owner" in card
    prepared = Data(prepared=str(tmp_path / "shards"))
    write_sealed(out / "run.json", {"data": asdict(prepared), "threads": 1})
    export_hub(Translator.load(out), tmp_path / "prepared", out)
    card = (tmp_path / "prepared" / "README.md").read_text(encoding="utf-8")
    assert "trained on: prepared data of its owner" in card
    assert str(tmp_path) not in card
    write_sealed(out / "run.json", {"data": asdict(Data(corpus="grammar")), "threads": 1})
    export_hub(Translator.load(out), tmp_path / "other", out)
    card = (tmp_path / "other" / "README.md").read_text(encoding="utf-8")
    assert "language:\n- en\n- fr\npipeline_tag: translation\n---\n" in card


# The command


@pytest.mark.parametrize("kind", ["ctranslate2", "hub"])
def test_nothing_is_written_over(run: Run, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    out.mkdir()  # empty: it may be used
    result = run("export", trained_run(), "--to", kind, "--out", out)
    assert result.status == 0, result
    before = {path: path.read_bytes() for path in out.iterdir()}
    assert_one_sentence(
        run("export", trained_run(), "--to", kind, "--out", out),
        f"{out} exists already: choose another folder",
    )
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    for taken in (trained_run(), trained_run() / "model.safetensors"):
        result = run("export", trained_run(), "--to", kind, "--out", taken)
        assert_one_sentence(result, f"{taken} exists already")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("transformer_course.export.ctranslate2_model.save_vocabulary", fail)
    with pytest.raises(CheckpointError, match="can't be written: No space left"):
        export_ctranslate2(trained(), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_under_a_hub_folder_is_told(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of a process are a matter of Unix")
    vocabulary = Vocabulary.train(["a b c d"] * 3, 259, remember=False)
    sizes = TransformerConfig(len(vocabulary), 2, 1, 1, 1, 1)
    translator = Translator(Transformer(sizes), vocabulary)
    export_hub(translator, tmp_path / "out")
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "out").iterdir()}
    largest = max(size for name, size in sizes.items() if name != "tokenizer.json")
    assert largest < sizes["tokenizer.json"]  # so that it alone doesn't fit
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        with pytest.raises(CheckpointError, match=r"tokenizer\.json can't be written: File too l"):
            export_hub(translator, tmp_path / "other")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere nobody can tell whether a process runs")
def test_what_a_killed_export_left_goes_with_the_next_one(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f".out.{gone.pid}.tmp" / "inside").mkdir(parents=True)
    others = {f".out.{os.getppid()}.tmp", f".outer.{gone.pid}.tmp", ".out.x.tmp"}
    for name in others:
        (tmp_path / name).mkdir()
    with new_folder(tmp_path / "out") as place:
        (place / "file").touch()
    assert {path.name for path in tmp_path.iterdir()} == {*others, "out"}


def test_the_command_says_what_it_wrote(run: Run, tmp_path: Path) -> None:
    result = run("export", trained_run(), "--to", "ctranslate2", "--quantization", "int8")
    out = trained_run().with_name(f"{trained_run().name}-ctranslate2-int8")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"{out}: ")
    assert "model.bin" in result.out
    one = EngineTranslator(out).translate(["one"], beam=1)
    assert one == [WORDS["one"]]


def test_info_says_of_an_export_what_opens_it(run: Run, in_onnx: Path, tmp_path: Path) -> None:
    export_ctranslate2(trained(), tmp_path / "engine")
    for folder, told in (
        (tmp_path / "engine", "exported for CTranslate2, which EngineTranslator opens"),
        (in_onnx, "exported for ONNX, which OnnxTranslator opens"),
    ):
        no_run = f"{folder} is no folder of a run: it holds a translator that was"
        assert_one_sentence(run("info", folder), f"{no_run} {told}")
        missing = (
            f"{folder / 'model.safetensors'} is missing: it holds a translator that was {told}"
        )
        assert_one_sentence(run("translate", folder, "one"), missing)
    export_hub(trained(), tmp_path / "hub")  # which this package reads
    assert "a translator" in run("info", tmp_path / "hub").out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--to", "marian"], "to ('marian') must be one of"),
        (
            ["--to", "hub", "--quantization", "int8"],
            "('int8') is for ctranslate2 only, not for hub",
        ),
        (["--to", "ctranslate2", "--quantization", "int3"], "quantization ('int3') must be one of"),
    ],
)
def test_wrong_wishes_are_one_sentence(
    run: Run, tmp_path: Path, options: list[str], problem: str
) -> None:
    out = tmp_path / "out"
    assert_one_sentence(run("export", trained_run(), *options, "--out", out), problem)
    assert not out.exists()


@pytest.mark.parametrize(
    ("kind", "package"),
    [("ctranslate2", "ctranslate2"), ("onnx", "onnx"), ("onnx", "onnxscript")],
)
def test_a_missing_package_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, package: str
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    result = run("export", trained_run(), "--to", kind, "--out", tmp_path / "out")
    told = f'{package} is missing: run pip install ".[export]" in the folder of the course'
    assert_one_sentence(result, told)
    assert not (tmp_path / "out").exists()
