"""`transformer-course info`: what stands in the folder of a run, finished or not."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from command_line import Run, assert_one_sentence
from small_runs import trained, trained_run

from transformer_course import __version__
from transformer_course.checkpoints import CheckpointError
from transformer_course.info import info_text, run_info

QUICK = ["--steps", 10, "--max-tokens", 60, "--validate-every", 4, "--vocab-size", 300]


def lines(text: str) -> dict[str, str]:
    return {line[:14].strip(): line[14:] for line in text.splitlines()}


def test_a_run_of_the_command_says_all_of_it(run: Run, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK, "--layers", 1).status == 0
    result = run("info", out, "--json", tmp_path / "info.json")
    assert (result.status, result.err) == (0, "")
    said, record = lines(result.out), json.loads((tmp_path / "info.json").read_text())
    history = json.loads((out / "history.json").read_text())
    assert said["state"] == "a translator, validated up to step 10"
    parameters = sum(p.numel() for p in trained_model(out).parameters())
    assert said["model"] == f"Transformer, {parameters:,} parameters"
    assert record["model"]["parameters"] == parameters
    assert "d_model 128, n_heads 4, n_encoder_layers 1" in said["sizes"]
    assert said["vocabulary"] == f"{record['vocabulary']} subwords"
    assert str(files[0]) in said["data"]
    assert "n_pairs" not in said["data"]  # only the grammar uses it
    assert said["recipe"].startswith("preset tiny, vocab_size 300, dropout 0.1")
    assert "max_steps 10, max_tokens 60" in said["training"]
    best = min(history, key=lambda step: step["loss"])
    assert said["best"].startswith(f"loss {best['loss']:.4f} (perplexity ")
    assert said["last"].endswith("at step 10; 3 validations")
    assert record["best"] == best
    assert record["last"] == history[-1]
    assert "step-0000010.safetensors" in said["checkpoints"]
    size = (out / "model.safetensors").stat().st_size
    assert f"model.safetensors ({size:,} bytes)" in said["files"]
    assert said["formats"] == "run.json 1, recipe.json 1"
    assert said["read with"] == f"transformer-course {__version__}, torch {torch.__version__}"


def trained_model(folder: Path) -> torch.nn.Module:
    from transformer_course.translator import Translator

    return Translator.load(folder).model


def test_a_run_that_is_not_finished_says_so(run: Run, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK, "--layers", 1).status == 0
    (out / "model.safetensors").unlink()
    said = lines(run("info", out).out)
    assert (
        said["state"] == "not finished: validated up to step 10 of 10; resume it by train --resume"
    )
    assert not {"model", "sizes"} & said.keys()
    for path in out.iterdir():
        if path.name != "run.json":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    said = lines(run("info", out).out)
    assert said["state"].startswith("not started: ")
    assert "--resume" not in said["state"]  # which would miss the recipe


def test_a_translator_that_was_saved_in_python_has_no_data_and_no_recipe(run: Run) -> None:
    said = lines(run("info", trained_run()).out)
    assert said["state"] == "a translator"
    assert not {"data", "recipe", "training", "best", "last", "checkpoints"} & said.keys()
    assert run_info(trained_run())["vocabulary"] == len(trained().vocabulary)


def test_other_scores_of_the_validations_are_told() -> None:
    """`train_translator(evaluate=...)` measures what it likes."""
    info = run_info(trained_run())
    info |= {"best": {"step": 4, "loss": 0.5, "exact_match": 0.25}, "validations": 2}
    info["last"] = {"step": 8, "loss": 1.0, "exact_match": 0.125}
    said = lines(info_text(info))
    assert said["best"] == "loss 0.5000 (perplexity 1.649) at step 4, exact_match 0.25"
    assert said["last"].endswith("at step 8, exact_match 0.125; 2 validations")


def test_prepared_data_is_no_run_and_can_be_trained_on(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    data = tmp_path / "my data"
    assert run("prepare", "--pairs", *files, "--out", data, "--vocab-size", 270).status == 0
    train = f"train with: transformer-course train --data '{data}' --out RUN"
    no_run = f"{data} is no folder of a run: it holds"
    assert_one_sentence(run("info", data), f"{no_run} data of the command prepare; {train}")
    (data / "prepared.json").unlink()
    told = f"{no_run} a part of the data of the command prepare: the same command completes it"
    assert_one_sentence(run("info", data), told)
    for path in data.iterdir():
        if path.name != "vocabulary.json":
            path.unlink()
    assert_one_sentence(run("info", data), "is no folder of a run: it has none of run.json,")


def test_what_is_no_run_or_damaged_is_one_sentence(run: Run, tmp_path: Path) -> None:
    assert_one_sentence(run("info", tmp_path), f"{tmp_path} is no folder of a run")
    assert_one_sentence(run("info", tmp_path / "none"), f"there is no folder {tmp_path / 'none'}")
    result = run("info", trained_run(), "--json", trained_run() / "recipe.json")
    assert_one_sentence(result, "is a file of the run")
    step = '[{"step": %s, "loss": %s}]'
    wrong = [("5", '"1.5"'), ("1e400", "1"), ('"5"', "1"), ("true", "1"), ("5", "1" + "0" * 400)]
    for text in ("{", "[1]", '[{"step": 1}]', "3", *(step % values for values in wrong)):
        (tmp_path / "history.json").write_text(text)
        with pytest.raises(CheckpointError, match=r"history\.json is damaged"):
            run_info(tmp_path)
    (tmp_path / "history.json").unlink()
    (tmp_path / "recipe.json").write_text('{"format": 99}')
    assert_one_sentence(run("info", tmp_path), "recipe.json has format 99")
