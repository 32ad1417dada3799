"""Runs: a folder made by an older version, other data on resuming, and options that nobody would use."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import number_pairs, small_recipe

from transformer_course.checkpoints import CheckpointError, load_tensors, write_json
from transformer_course.encoder_decoder import TransformerConfig
from transformer_course.recipe import Recipe, encode_pairs, split_pairs, train_translator
from transformer_course.recipe.data import Data
from transformer_course.recipe.folder import load_run, save_run
from transformer_course.training import Processes, Progress, Trainer, TrainingConfig
from transformer_course.translator import Translator

OLD = Path(__file__).parents[1] / "data" / "old_run"


class Enough(Exception):
    """Stops a training, as a power cut would."""


# A run of version 1 (commit 56dbb29), stopped by Ctrl-C after 6 of 10 updates:
#   transformer-course train --pairs mine.en mine.fr --out run --steps 10 --max-tokens 200 --validate-every 4
#     --vocab-size 270 --rate 0.01 --warmup 3 --average 2 --threads 1
# with the preset made smaller, as below. `finished.safetensors` is the model that the same version made of it.


@pytest.fixture
def old_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def tiny(cls: type[TransformerConfig], vocab_size: int) -> TransformerConfig:
        return cls(
            vocab_size, d_model=16, n_heads=2, n_encoder_layers=1, n_decoder_layers=1, d_ff=32
        )

    monkeypatch.setattr(TransformerConfig, "tiny", classmethod(tiny))
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")  # its files are named without a folder
    return Path("run")


def assert_as_the_old_version_finished(folder: Path) -> None:
    tensors, _ = load_tensors(folder / "model.safetensors")
    expected, _ = load_tensors(OLD / "finished.safetensors")
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():  # other processors round in other ways
        # A bias of the keys adds the same number to all scores of a query, so its gradient is 0 but for
        # rounding; Adam makes whole steps of that.
        steps = 2e-2 if name.endswith("w_key.bias") else 1e-4
        torch.testing.assert_close(tensor, expected[name], rtol=1e-3, atol=steps)


def test_a_run_of_an_older_version_is_resumed(old_run: Path) -> None:
    data, threads = load_run(old_run)
    assert threads == 1
    train, valid, _ = data.load()
    seen: list[Progress] = []
    _, outcome = train_translator(train, valid, old_run, resume=True, report=seen.append)
    assert (outcome, [progress.step for progress in seen]) == ("finished", [7, 8, 9, 10])
    assert_as_the_old_version_finished(old_run)


def forget(path: Path, *names: str) -> None:
    """Take fields out of a JSON file, as if it came from a version that didn't know them."""
    record = json.loads(path.read_text(encoding="utf-8"))
    inner = record
    for name in names[:-1]:
        inner = inner[name]
    del inner[names[-1]]
    path.write_text(json.dumps(record), encoding="utf-8")


def test_a_recipe_without_the_fields_of_today_has_their_defaults(old_run: Path) -> None:
    recipe = Recipe.load(old_run)
    for names in (("training", "clip_norm"), ("training", "patience"), ("label_smoothing",)):
        forget(old_run / "recipe.json", *names)
    forget(old_run / "run.json", "data", "form")
    assert Recipe.load(old_run) == recipe
    train, valid, _ = load_run(old_run)[0].load()
    train_translator(train, valid, old_run, resume=True)
    assert_as_the_old_version_finished(old_run)


def test_an_old_recipe_that_kept_a_peak_rate_for_nothing_is_read(tmp_path: Path) -> None:
    small_recipe().save(tmp_path)
    record = json.loads((tmp_path / "recipe.json").read_text(encoding="utf-8"))
    record["training"] |= {"schedule": "inverse_sqrt", "peak_rate": 0.01}
    del record["digest"]  # it is older than digests
    write_json(tmp_path / "recipe.json", record)
    assert Recipe.load(tmp_path).training.peak_rate == TrainingConfig().peak_rate


def test_an_old_folder_is_loaded_as_a_translator(old_run: Path) -> None:
    shutil.copy(OLD / "finished.safetensors", old_run / "model.safetensors")
    translator = Translator.load(old_run)
    assert isinstance(translator.translate("one two", beam=1), str)
    expected, _ = load_tensors(OLD / "finished.safetensors")
    for name, parameter in translator.model.named_parameters():
        assert torch.equal(parameter, expected[name])


def test_an_old_run_that_ignored_options_is_read_without_them(old_run: Path) -> None:
    record = json.loads((old_run / "run.json").read_text(encoding="utf-8"))
    record["data"] |= {"languages": "en-fr", "n_pairs": 7}
    write_json(old_run / "run.json", record)
    assert load_run(old_run)[0] == Data(files=("mine.en", "mine.fr"))


# Other data


def test_a_translator_is_not_resumed_with_other_pairs(tmp_path: Path) -> None:
    train, valid, test = split_pairs(number_pairs())

    def stop(progress: Progress) -> None:
        if progress.step == 6:
            raise Enough

    with pytest.raises(Enough):
        train_translator(train, valid, tmp_path, small_recipe(), report=stop)
    for pairs, did in (((train, test), "validated"), ((train[1:], valid), "trained")):
        with pytest.raises(CheckpointError, match=f"was {did} on other examples"):
            train_translator(*pairs, tmp_path, resume=True)
    assert train_translator(train, valid, tmp_path, resume=True)[1] == "finished"


# Options that would be ignored


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"corpus": "multi30k", "n_pairs": 5},
            "n_pairs is for corpus 'grammar' or 'everyday', corpus 'multi30k'",
        ),
        (
            {"files": ("a",), "n_pairs": 5},
            "n_pairs is for corpus 'grammar' or 'everyday', files of your own",
        ),
        (
            {"files": ("a",), "languages": "en-fr"},
            "for corpus 'grammar' or 'everyday' or 'multi30k', files of",
        ),
        ({"corpus": "grammar", "form": "raw"}, "form is for corpus 'multi30k', corpus 'grammar'"),
        ({"files": ("a",), "folder": "x"}, "folder is for corpus 'multi30k', files of your own"),
    ],
)
def test_what_the_data_would_ignore_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Data(**settings)


def test_what_the_data_uses_is_taken() -> None:
    assert Data(corpus="grammar", n_pairs=5).n_pairs == 5
    used = {"folder": "x", "languages": "en-fr", "form": "raw"}
    assert asdict(Data(corpus="multi30k", **used)).items() >= used.items()


@pytest.mark.parametrize(
    ("corpus", "known"),
    [
        ("grammar", "en-fr or fr-en"),
        ("everyday", "en-fr or fr-en"),
        ("multi30k", "en-de or en-fr or de-en or fr-en or de-fr or"),
    ],
)
def test_each_corpus_has_its_languages(corpus: str, known: str) -> None:
    assert Data(corpus=corpus).languages == known.split()[0]
    assert Data(corpus=corpus, languages="fr-en").languages == "fr-en"
    for wrong in ("en-xx", "en", "fr-fr"):
        with pytest.raises(ValueError, match=rf"^languages \('{wrong}'\) must be {known}"):
            Data(corpus=corpus, languages=wrong)
    assert Data(files=("a",)).languages == ""


@pytest.mark.parametrize("corpus", ["grammar", "everyday"])
def test_pairs_written_by_rules_are_turned(corpus: str) -> None:
    there = Data(corpus=corpus, n_pairs=50).load()
    back = Data(corpus=corpus, n_pairs=50, languages="fr-en").load()
    for pairs, turned in zip(there, back, strict=True):
        assert [(p.source, p.target) for p in turned] == [(p.target, p.source) for p in pairs]
    assert {p.source for p in back[0]}.isdisjoint(p.source for p in there[0])


@pytest.mark.parametrize("written", ["en-de", None])
def test_an_old_run_of_the_grammar_is_from_english_into_french(
    tmp_path: Path, written: str | None
) -> None:
    record = asdict(Data(corpus="grammar", n_pairs=7)) | {"languages": written}
    if written is None:
        del record["languages"]
    write_json(tmp_path / "run.json", {"data": record, "threads": 1})
    assert load_run(tmp_path)[0] == Data(corpus="grammar", n_pairs=7, languages="en-fr")
    for data in (
        Data(corpus="grammar", languages="fr-en"),
        Data(corpus="multi30k", languages="fr-en"),
        Data(corpus="multi30k"),
        Data(files=("a", "b")),
    ):
        save_run(tmp_path, data, 1, [])
        assert load_run(tmp_path)[0] == data


def test_ids_keep_the_order_of_the_pairs(tmp_path: Path) -> None:
    pairs = number_pairs(longest=1)
    train_translator(pairs, pairs, tmp_path, small_recipe(max_steps=1))
    translator = Translator.load(tmp_path)
    assert 0 < translator.doubt_below < 1  # it ends calibrated
    vocabulary = translator.vocabulary
    ids = encode_pairs(vocabulary, pairs)
    assert vocabulary.decode([source for source, _ in ids]) == [pair.source for pair in pairs]
    assert vocabulary.decode([target for _, target in ids]) == [pair.target for pair in pairs]


def test_the_trainer_of_a_translator_knows_what_is_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Trainer] = []
    save = Trainer.save
    monkeypatch.setattr(Trainer, "save", lambda self: (made.append(self), save(self)))
    train, valid, _ = split_pairs(number_pairs())
    train_translator(train, valid, tmp_path, small_recipe(max_steps=1))
    _, values = load_tensors(tmp_path / "checkpoints" / "step-0000001.safetensors")
    assert values["held_out"]["digest"] != values["examples"]["digest"] == made[0].data.digest


def test_r_drop_is_a_setting_of_a_run(tmp_path: Path) -> None:
    """Training has its loss, and it can't be changed on the way."""
    pairs, recipe = number_pairs(longest=2), replace(small_recipe(max_steps=4), dropout=0.3)

    def first_loss(weight: float) -> float:
        seen: list[Progress] = []
        folder = tmp_path / str(weight)
        train_translator(pairs, pairs, folder, replace(recipe, r_drop=weight), report=seen.append)
        return seen[0].loss

    assert first_loss(5.0) > first_loss(0.0)
    longer = recipe.with_training(max_steps=6)
    with pytest.raises(CheckpointError, match=r"r_drop = 5\.0, not 0\.0"):
        train_translator(pairs, pairs, tmp_path / "5.0", longer, resume=True)
    again = replace(longer, r_drop=5.0)
    assert train_translator(pairs, pairs, tmp_path / "5.0", again, resume=True)[1] == "finished"
    assert Recipe.load(tmp_path / "5.0").r_drop == 5.0


def test_muon_is_a_setting_of_a_run_and_resumes_to_the_last_bit(tmp_path: Path) -> None:
    pairs = number_pairs(longest=2)
    long, short = (
        replace(small_recipe(max_steps=n, schedule="inverse_sqrt"), optimizer="muon")
        for n in (7, 3)
    )
    with pytest.raises(ValueError, match=r"optimizer \('sgd'\) must be one of adam, muon"):
        replace(long, optimizer="sgd")
    whole = train_translator(pairs, pairs, tmp_path / "whole", long)[0]
    other = replace(long, optimizer="adam")
    plain = train_translator(pairs, pairs, tmp_path / "plain", other)[0]
    train_translator(pairs, pairs, tmp_path / "parts", short)
    with pytest.raises(CheckpointError, match="optimizer = 'muon', not 'adam'"):
        train_translator(pairs, pairs, tmp_path / "parts", other, resume=True)
    resumed = train_translator(pairs, pairs, tmp_path / "parts", long, resume=True)[0]
    assert all(map(torch.equal, whole.model.parameters(), resumed.model.parameters()))
    assert not all(map(torch.equal, whole.model.parameters(), plain.model.parameters()))
    assert Recipe.load(tmp_path / "parts").optimizer == "muon"


def test_muon_needs_whole_matrices(tmp_path: Path) -> None:
    pairs, recipe = number_pairs(), replace(small_recipe(), optimizer="muon")
    with pytest.raises(ValueError, match="optimizer muon needs whole matrices"):
        train_translator(pairs, pairs, tmp_path, recipe, shard=True, processes=Processes(0, 2))
