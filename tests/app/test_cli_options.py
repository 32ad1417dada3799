"""What users of other translation programs look for: outputs, scores, weights, sizes, longer runs."""

import gzip
import json
import math
import re
import shutil
import string
import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import zstandard
from command_line import Run, assert_one_sentence
from small_runs import number_pairs, small_recipe, trained, trained_run

import transformer_course
from transformer_course import cli
from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    list_checkpoints,
    load_tensors,
    read_checkpoint,
    weights_of,
)
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import length_penalty
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.evaluation import likelihood
from transformer_course.non_autoregressive import FertilityTransformer, MaskPredict, NoisyParallel
from transformer_course.recipe import Recipe, split_pairs, train_translator
from transformer_course.recipe.folder import recipe_to_resume
from transformer_course.training import Trainer, cosine_rate
from transformer_course.translator import Translator

# Version


def test_the_version_is_said(run: Run) -> None:
    result = run("--version")
    assert (result.status, result.err) == (0, "")
    assert result.out == f"transformer-course {transformer_course.__version__}\n"
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert transformer_course.__version__ == project["project"]["version"]


# translate --output


LINES = ["one two", "", "three", "two " * 70, "five four"]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file with a blank line, and one that is too long."""
    path = tmp_path / "new.en"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


@pytest.mark.parametrize("way", ["file", "standard input", "arguments"])
def test_translations_go_into_a_file_whole(run: Run, lines: Path, tmp_path: Path, way: str) -> None:
    out = tmp_path / "made" / "new.fr"
    ways: dict[str, list[object]] = {"file": ["--file", lines], "arguments": list(LINES)}
    given: dict[str, Any] = {"stdin": lines.read_bytes()} if way == "standard input" else {}
    arguments = ["translate", trained_run(), *ways.get(way, [])]
    shown = run(*arguments, **given)
    written = run(*arguments, "--output", out, **given)
    assert out.read_bytes() == shown.out.encode()
    assert (written.status, written.out) == (shown.status, "") == (1, "")
    assert written.err == f"{shown.err}lines written to {out}: 5\n"
    assert [path.name for path in out.parent.iterdir()] == ["new.fr"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_half_a_file_of_translations_is_never_written(
    run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type
) -> None:
    def stop(*_: object, **__: object) -> Any:
        yield cli.Answer("un")
        raise error

    out = tmp_path / "new.fr"
    out.write_text("as it was")
    monkeypatch.setattr(cli, "translate_lines", stop)
    arguments = ["translate", str(trained_run()), "--file", str(lines), "--output", str(out)]
    with pytest.raises((SystemExit, MemoryError)):
        cli.app(arguments)
    assert out.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.en", "new.fr"]


@pytest.mark.parametrize("form", ["gzip", "zst"])
def test_a_packed_file_is_translated_as_its_lines_are(
    run: Run, lines: Path, tmp_path: Path, form: str
) -> None:
    assert "a sentence a line: plain, gzip or zst." in words(run("translate", "--help").out)
    packed, text = tmp_path / "packed", lines.read_bytes()
    packed.write_bytes(
        gzip.compress(text) if form == "gzip" else zstandard.ZstdCompressor().compress(text)
    )
    plain, found = (run("translate", trained_run(), "--file", file) for file in (lines, packed))
    assert (found.status, found.out) == (plain.status, plain.out)
    assert "trois" in found.out


def words(told: str) -> str:
    """A help without its line breaks."""
    return " ".join(told.split())


def test_help_says_what_is_scored_and_how_strong_the_penalty_may_be(run: Run) -> None:
    told = words(run("evaluate", "--help").out)
    assert "Without --pairs and --tsv, the pairs are those that the run was not trained on" in told
    for command in ("translate", "evaluate"):
        told = words(run(command, "--help").out)
        assert "Strength of the length penalty, 0 to 10." in told


MANY = [*LINES, "one", "", "two five", "four"]  # nine lines, two at a time


@pytest.fixture
def stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """A command that was stopped after the fifth line of nine; four are kept."""
    monkeypatch.setattr(cli, "_LINES_AT_ONCE", 2)
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in MANY), encoding="utf-8")
    command = ["translate", str(trained_run()), "--file", str(tmp_path / "in")]
    command += ["--output", str(tmp_path / "out"), "--beam", "2"]
    told = cli._tell

    def tell(answer: Any, number: int, *rest: Any) -> None:
        told(answer, number, *rest)
        if number == 5:
            raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(cli, "_tell", tell)
        with pytest.raises(MemoryError):
            cli.app(command)
    kept = f"4 translated lines are kept in {tmp_path / 'out'}.part; the same command goes on"
    assert kept in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    return command


def test_a_file_that_was_stopped_goes_on(run: Run, stopped: list[str], tmp_path: Path) -> None:
    part = tmp_path / "out.part"
    assert (part / "lines").read_text(encoding="utf-8").count("\n") == 5  # one more than is kept
    result = run(*stopped)
    assert result.status == 1  # the fourth line is too long, and was told by the first process
    assert result.err.startswith("note: 4 lines are translated already\n")
    assert "line 4: " not in result.err
    assert result.err.endswith(f"lines written to {tmp_path / 'out'}: 9\n")
    undisturbed = run(*stopped[:4], "--beam", 2)
    assert (tmp_path / "out").read_text(encoding="utf-8") == undisturbed.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_file_goes_on_after_a_kill_while_its_last_state_is_written(
    run: Run, stopped: list[str], tmp_path: Path
) -> None:
    with (tmp_path / "out.part" / "lines").open("ab") as file:
        file.write("é".encode()[:1])
    assert run(*stopped).status == 1
    assert (tmp_path / "out").read_text(encoding="utf-8") == run(*stopped[:4], "--beam", 2).out


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"--beam": "3"}, "holds 4 lines with another beam: give the same again, or delete it"),
        ({"--alpha": "0"}, "holds 4 lines with another alpha"),
        ({"--n-best": "1"}, "holds 4 lines with another n-best"),
        ({"third": "three"}, "holds translations of other lines than these"),
        ({"short": ""}, "holds translations of other lines than these"),
        ({"cut": ""}, "lines was cut off"),
        ({"state": ""}, "state.json is damaged"),
    ],
)
def test_a_file_goes_on_only_as_it_was_begun(
    run: Run, stopped: list[str], tmp_path: Path, change: dict[str, str], problem: str
) -> None:
    ((name, value),) = change.items()
    part, source = tmp_path / "out.part", tmp_path / "in"
    text = {"third": source.read_text().replace("\nthree", "\nthere"), "short": "one two\n"}
    if name in text:
        source.write_text(text[name], encoding="utf-8")
    elif name == "cut":
        (part / "lines").write_bytes(b"x")
    elif name == "state":
        (part / "state.json").write_text("{")
    else:
        stopped = [*stopped, name, value]
    before = (part / "lines").read_bytes()
    assert_one_sentence(run(*stopped), problem)
    assert (part / "lines").read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_lines_of_another_translator_are_not_gone_on_with(
    run: Run, stopped: list[str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(trained_run(), other)
    translator = Translator.load(other)
    with torch.no_grad():
        next(translator.model.parameters()).mul_(2)
    translator.save(other)
    result = run("translate", other, *stopped[2:])
    assert_one_sentence(result, "holds 4 lines with another translator")


def test_lines_of_another_version_are_not_gone_on_with(
    run: Run, stopped: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "__version__", "99")
    assert_one_sentence(run(*stopped), "holds 4 lines with another version of the package")


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_leads_to_it(
    run: Run, lines: Path, tmp_path: Path
) -> None:
    out, link = tmp_path / "new.fr", tmp_path / "link"
    out.write_text("as it was")
    out.chmod(0o600)
    link.symlink_to(out)
    run("translate", trained_run(), "--file", lines, "--output", link)
    assert link.is_symlink()
    assert out.read_text(encoding="utf-8").startswith("deux un\n")
    assert out.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new.en", "new.fr"]


@pytest.mark.parametrize("cut", [2, 600, 2000])
def test_a_file_that_breaks_off_is_not_taken_for_a_whole_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    """Whole lines before the break are kept, and the whole file goes on after them."""
    monkeypatch.setattr(cli, "_LINES_AT_ONCE", 100)
    text = "".join(f"{pair.source}\n" for pair in number_pairs(4)).encode()
    source, whole = tmp_path / "in.gz", gzip.compress(text)
    source.write_bytes(whole[:cut])
    command = ["translate", trained_run(), "--file", source, "--output", tmp_path / "out"]
    command += ["--beam", 1]
    result = run(*command)
    assert result.status == 1
    assert ": from here on it cannot be read: Compressed file ended" in result.err.splitlines()[-1]
    assert "lines written" not in result.err
    kept = re.search(r"note: (\d+) translated lines are kept in .*out\.part", result.err)
    assert bool(kept) == (tmp_path / "out.part").exists() == (cut > 2)
    assert not (tmp_path / "out").exists()
    assert run(*command).status == 1  # it is still cut off
    source.write_bytes(whole)
    result = run(*command)
    assert result.status == 0
    if kept:
        assert f"note: {kept[1]} lines are translated already" in result.err
    assert (tmp_path / "out").read_text(encoding="utf-8") == run(*command[:4], "--beam", 1).out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.gz", "out"]


def test_two_do_not_write_one_file(run: Run, lines: Path, tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from transformer_course.recipe import writing\n"
    script += "with writing.only_writer(Path(sys.argv[1])): print('there', flush=True); input()"
    command = [sys.executable, "-c", script, str(tmp_path / "out.part")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"there\n"
        result = run("translate", trained_run(), "--file", lines, "--output", tmp_path / "out")
        other.communicate(b"\n")
    assert_one_sentence(result, f"out.part is being written by process {other.pid} on")


def test_a_folder_in_the_way_is_left_as_it_is(run: Run, lines: Path, tmp_path: Path) -> None:
    (tmp_path / "out.part").mkdir()
    (tmp_path / "out.part" / "lines").write_text("mine")
    result = run("translate", trained_run(), "--file", lines, "--output", tmp_path / "out")
    assert_one_sentence(result, "out.part is in the way: it holds lines")
    assert [path.name for path in (tmp_path / "out.part").iterdir()] == ["lines"]


def test_what_is_read_or_belongs_to_a_run_is_not_written_over(
    run: Run, lines: Path, tmp_path: Path
) -> None:
    before = lines.read_bytes()
    (tmp_path / "link").symlink_to(lines)
    (tmp_path / "same").hardlink_to(lines)
    for name in ("new.en", "link", "same"):
        out = tmp_path / name
        result = run("translate", trained_run(), "--file", lines, "--output", out)
        assert_one_sentence(result, f"{out} is read from: choose another name")
    assert lines.read_bytes() == before
    model = trained_run() / "model.safetensors"
    result = run("translate", trained_run(), "one", "--output", model)
    assert_one_sentence(result, f"{model} is a file of the run")
    for place in (tmp_path, Path("/dev/null")):
        result = run("translate", trained_run(), "one", "--output", place)
        assert_one_sentence(result, f"{place} can't be written: it is no plain file")
    pairs = ["--pairs", lines, lines]
    result = run("evaluate", trained_run(), *pairs, "--json", lines)
    assert_one_sentence(result, f"{lines} is read from")
    assert lines.read_bytes() == before


def test_standard_input_from_a_file_is_not_written_over(
    lines: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lines.read_bytes()
    with lines.open(encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit):
            cli.app(["translate", str(trained_run()), "--output", str(lines)])
    assert f"error: {lines} is read from" in capsys.readouterr().err
    assert lines.read_bytes() == before


# translate --n-best


def test_each_hypothesis_has_its_line_with_number_rank_and_score(
    run: Run, lines: Path, tmp_path: Path
) -> None:
    out = tmp_path / "best.tsv"
    options = ["--n-best", 3, "--alpha", 1.5]
    result = run("translate", trained_run(), "--file", lines, "--output", out, *options)
    rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row[:2] for row in rows] == [[n, rank] for n in "135" for rank in "123"]
    sentences = [LINES[0], LINES[2], LINES[4]]
    found = trained().search(sentences, top_beams=3, alpha=1.5)
    flat = [hypothesis for several in found for hypothesis in several]
    assert [float(row[2]) for row in rows] == pytest.approx([h.log_prob for h in flat], abs=1e-3)
    assert [row[3] for row in rows] == trained().vocabulary.decode([h.ids for h in flat])
    by_score = [h.log_prob / length_penalty(len(h.ids), 1.5) for h in flat]  # as the help says
    for start in (0, 3, 6):
        assert by_score[start : start + 3] == sorted(by_score[start : start + 3], reverse=True)
    assert result.err.endswith(f"\nlines written to {out}: 9 (lines read: 5)\n")
    shown = run("translate", trained_run(), "--file", lines, *options)
    assert shown.out == out.read_text(encoding="utf-8")


def test_a_hypothesis_with_tabs_and_line_ends_has_four_columns(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "transformer_course.corpus.vocabulary.Vocabulary.decode",
        lambda self, rows: ["a\tb\rc\n"] * len(rows),
    )
    rows = run("translate", trained_run(), "one", "--n-best", 2).out.split("\n")
    assert [row.split("\t")[3] for row in rows[:-1]] == ["a b c "] * 2


@pytest.mark.parametrize(("n", "beam"), [(0, 4), (5, 4), (2, 1), (-1, 4)])
def test_a_number_of_hypotheses_beyond_the_beam_is_refused(run: Run, n: int, beam: int) -> None:
    result = run("translate", trained_run(), "one", "--n-best", n, "--beam", beam)
    told = f"--n-best ({n}) must be 1 or more and at most --beam ({beam})"
    assert_one_sentence(result, told)


@pytest.mark.parametrize(
    ("make", "most"), [(FertilityTransformer, 1), (MaskPredict, 41)], ids=["nat", "mask-predict"]
)
def test_no_more_hypotheses_are_asked_for_than_there_are(
    run: Run, tmp_path: Path, make: Any, most: int
) -> None:
    vocabulary = trained().vocabulary
    sizes = replace(small_recipe().config(len(vocabulary)), max_len=64)
    Translator(make(sizes), vocabulary).save(tmp_path)
    command = ["translate", tmp_path, "one", "--beam", 50, "--n-best"]
    told = f"--n-best ({most + 1}) must be at most {most}: "
    assert_one_sentence(run(*command, most + 1), told)
    assert run(*command, most).out.count("\n") == most


# score


def test_given_translations_are_scored_line_by_line(run: Run, tmp_path: Path) -> None:
    pairs = [("one two", "deux un"), ("three", "quatre"), ("one two", "un deux")]
    paths = [tmp_path / "test.en", tmp_path / "test.fr"]
    for path, column in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{text}\n" for text in column), encoding="utf-8")
    result = run("score", trained_run(), "--pairs", *paths, "--json", tmp_path / "scores.json")
    assert result.status == 0, result
    expected = trained().score(pairs)
    assert [float(line) for line in result.out.splitlines()] == pytest.approx(expected, abs=1e-3)
    n_tokens = sum(len(ids) + 1 for ids in trained().vocabulary.encode([t for _, t in pairs]))
    perplexity = math.exp(-sum(expected) / n_tokens)
    assert result.err == f"perplexity {perplexity:.3f}, of {n_tokens} subwords in 3 pairs\n"
    record = json.loads((tmp_path / "scores.json").read_text())
    assert record.keys() == {"n_pairs", "n_tokens", "perplexity", "log_probs"}
    assert (record["n_pairs"], record["n_tokens"]) == (3, n_tokens)
    assert record["perplexity"] == pytest.approx(perplexity, rel=1e-4)
    assert record["log_probs"] == pytest.approx(expected, abs=1e-4)
    tsv = tmp_path / "test.tsv"
    tsv.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    assert run("score", trained_run(), "--tsv", tsv) == result


def test_what_cannot_be_scored_is_named(run: Run, files: list[Path], tmp_path: Path) -> None:
    lines = files[1].read_text().splitlines()
    files[1].write_text("\n".join([*lines[:4], "un " * 70, *lines[5:]]))
    result = run("score", trained_run(), "--pairs", *files)
    problem = "has 70 subwords, the model takes at most 63"
    assert_one_sentence(result, f"{files[0]}, line 5: ", problem)
    assert result.out == ""
    assert_one_sentence(run("score", trained_run()), "run.json is missing")
    assert_one_sentence(run("score", trained_run(), "--pairs", files[0], "no.fr"), "no.fr")
    result = run("score", trained_run(), "--pairs", *files, "--json", files[1])
    assert_one_sentence(result, f"{files[1]} is read from")
    with pytest.raises(ValueError, match="pairs is empty"):
        likelihood(trained(), [])


@pytest.mark.parametrize("command", ["evaluate", "score"])
def test_the_held_out_pairs_are_not_written_over(
    run: Run, files: list[Path], tmp_path: Path, command: str
) -> None:
    tsv, out = tmp_path / "mine.tsv", tmp_path / "run"
    columns = [path.read_text().splitlines() for path in files]
    tsv.write_text("".join(f"{s}\t{t}\n" for s, t in zip(*columns, strict=True)))
    small = ("--layers", 1, "--d-model", 16, "--heads", 2, "--d-ff", 16, "--vocab-size", 270)
    result = run("train", "--tsv", tsv, "--out", out, *small, "--steps", 1, "--max-tokens", 200)
    assert result.status == 0, result
    before = tsv.read_bytes()
    assert_one_sentence(run(command, out, "--json", tsv), f"{tsv} is read from")
    assert tsv.read_bytes() == before


def test_the_perplexity_of_even_guesses_is_their_number() -> None:
    sure = likelihood(trained(), [Pair("one", ("un",)), Pair("two", ("deux",))])
    assert 1 <= sure.perplexity < 1.5  # the model has learned them
    even = type(sure)(log_probs=[3 * math.log(1 / 8), math.log(1 / 8)], n_tokens=4)
    assert even.perplexity == pytest.approx(8)


# attention


@pytest.mark.parametrize("target", [None, "un deux"])
def test_attention_is_written_as_json_and_as_arrays(
    run: Run, tmp_path: Path, target: str | None
) -> None:
    expected = trained().attention("one two", target)
    arguments = ["attention", trained_run(), "one two"]
    arguments += ["--target", target] if target else []
    shown = run(*arguments)
    assert (shown.status, shown.err) == (0, "")
    for suffix in ("json", "npz"):
        result = run(*arguments, "--output", tmp_path / f"weights.{suffix}")
        assert (result.status, result.out, result.err) == (0, "", "")
    assert (tmp_path / "weights.json").read_text(encoding="utf-8") == shown.out
    record = json.loads(shown.out)
    arrays = dict(np.load(tmp_path / "weights.npz"))  # without pickle
    assert record["source"] == arrays.pop("source").tolist() == expected.source
    assert record["target"] == arrays.pop("target").tolist() == expected.target
    assert [*record["maps"]] == [*arrays] == [*expected.maps]
    assert "decoder_layers.0.cross_attention" in arrays
    for name, weights in expected.maps.items():
        assert arrays[name].shape == weights.shape
        np.testing.assert_allclose(record["maps"][name], weights.numpy(), atol=1e-5)
        np.testing.assert_allclose(arrays[name], weights.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([""], "is empty"),
        (["one " * 70], "has 70 subwords, the model takes at most 63"),
        (["a\x00"], "control character (U+0000, character 2)"),
        (["one", "--target", ""], "is empty"),
        (["one", "--output", "x.txt"], "--output (x.txt) must end with .json or .npz"),
    ],
)
def test_attention_that_cannot_be_shown_is_refused(
    run: Run, arguments: list[str], problem: str
) -> None:
    assert_one_sentence(run("attention", trained_run(), *arguments), problem)
    assert not Path("x.txt").exists()


def test_attention_is_not_written_over_a_run(run: Run, tmp_path: Path) -> None:
    out = trained_run() / "recipe.json"
    assert_one_sentence(run("attention", trained_run(), "one", "--output", out), "file of the run")
    assert not out.exists()


# train --layers --d-model --heads --d-ff

QUICK = ["--steps", 6, "--max-tokens", 60, "--validate-every", 3, "--vocab-size", 300]
SIZES = ["--layers", 1, "--d-model", 24, "--heads", 3, "--d-ff", 40]


def test_sizes_override_those_of_the_preset(run: Run, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    train = ["train", "--pairs", *files, "--preset", "small", "--out", out, *QUICK]
    assert run(*train, *SIZES).status == 0
    config = Translator.load(out).model.config
    assert isinstance(config, TransformerConfig)
    assert (config.n_encoder_layers, config.n_decoder_layers) == (1, 1)
    assert (config.d_model, config.n_heads, config.d_ff) == (24, 3, 40)
    record = json.loads((out / "recipe.json").read_text())
    sizes = {"n_layers": 1, "d_model": 24, "n_heads": 3, "d_ff": 40}
    assert sizes.items() <= record.items()
    assert record["preset"] == "small"
    resume = ["train", "--out", out, "--resume"]
    assert run(*resume, *SIZES).status == 0
    for option, value, told in (
        ("--layers", 3, "n_layers = 1, not 3"),
        ("--d-model", 256, "d_model = 24, not 256"),
        ("--heads", 4, "n_heads = 3, not 4"),
        ("--d-ff", 41, "d_ff = 40, not 41"),
    ):
        assert_one_sentence(run(*resume, option, value), told, "resume without that option")


def test_a_decoder_may_have_layers_of_its_own_number(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    train = ["train", "--pairs", *files, "--out", out, *QUICK, *SIZES]
    assert run(*train, "--layers", 3, "--decoder-layers", 1).status == 0
    config = Translator.load(out).model.config
    assert isinstance(config, TransformerConfig)
    assert (config.n_encoder_layers, config.n_decoder_layers) == (3, 1)
    told = "n_decoder_layers = 1, not 2"
    assert_one_sentence(run("train", "--out", out, "--resume", "--decoder-layers", 2), told)
    assert Recipe(n_layers=3).settings()["n_decoder_layers"] == 3
    assert Recipe(n_decoder_layers=1).settings()["n_layers"] == 2


def test_sizes_that_are_the_presets_are_the_same(tmp_path: Path) -> None:
    recipe = Recipe(d_ff=512)
    assert recipe.settings() == Recipe().settings()
    assert recipe.settings()["n_layers"] == 2
    recipe.save(tmp_path)
    assert Recipe.load(tmp_path) == recipe
    assert recipe_to_resume(tmp_path, Recipe()) == recipe
    with pytest.raises(CheckpointError, match="d_ff = 512, not 513"):
        recipe_to_resume(tmp_path, Recipe(d_ff=513))


def test_a_recipe_without_sizes_of_its_own_is_written_as_before() -> None:
    names = ["preset", "vocab_size", "dropout", "label_smoothing", "training"]
    assert list(Recipe().record()) == names
    assert list(Recipe(n_heads=2, r_drop=5.0).record()) == [*names, "n_heads", "r_drop"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--heads", 3], "d_model (128) must be divisible by n_heads (3)"),
        (["--d-model", 250], "d_model (250) must be divisible by n_heads (4)"),
        (["--d-model", 7, "--heads", 7], "d_model (7) must be even and 2 or more"),
        (["--layers", 0], "n_layers (0) must be a whole number, 1 to 1,000"),
        (["--decoder-layers", 1001], "n_decoder_layers (1001) must be a whole number, 1 to 1,000"),
        (["--d-ff", -1], "d_ff (-1) must be a whole number, 1 to 1,000,000,000,000"),
        (["--heads", 0], "n_heads (0) must be a whole number, 1 to 1,000,000,000,000"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_before_anything_is_written(
    run: Run, files: list[Path], tmp_path: Path, options: list[object], told: str
) -> None:
    out = tmp_path / "run"
    assert_one_sentence(run("train", "--pairs", *files, "--out", out, *options), told)
    assert not out.exists()


# train --resume --steps: longer


def test_a_finished_run_is_trained_longer(run: Run, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    train = ["train", "--pairs", *files, "--out", out, *QUICK, *SIZES, "--warmup", 2]
    assert run(*train).status == 0
    first = json.loads((out / "history.json").read_text())
    resume = ["train", "--out", out, "--resume"]
    result = run(*resume, "--steps", 11)
    assert result.status == 0, result
    assert result.out.startswith(
        "11 updates instead of 6: from here on the learning rate is that of a run of 11 updates; "
        "the warm-up is not repeated\n"
    )
    assert json.loads((out / "recipe.json").read_text())["training"]["max_steps"] == 11
    history = json.loads((out / "history.json").read_text())
    assert history[: len(first)] == first
    rates = {record["step"]: record["rate"] for record in history[len(first) :]}
    expected = {step: cosine_rate(step, 2e-3, 2, 11) for step in (9, 11)}
    assert rates == pytest.approx(expected)
    again = run(*resume, "--steps", 11)  # what the run says already
    assert again.status == 0
    assert "instead of" not in again.out


def test_steps_that_are_done_already_are_refused(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK, *SIZES).status == 0
    before = (out / "recipe.json").read_bytes()
    for steps in (5, 1):
        result = run("train", "--out", out, "--resume", "--steps", steps)
        assert_one_sentence(result, f"max_steps = 6, not {steps}", "with more of them")
    result = run("train", "--out", out, "--resume", "--steps", 0)
    assert_one_sentence(result, "max_steps (0) must be 1 or more")
    assert (out / "recipe.json").read_bytes() == before


def test_a_run_is_made_longer_in_python_by_its_recipe(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs(longest=2))
    short, long = (small_recipe(max_steps=steps, validate_every=4) for steps in (4, 8))
    train_translator(train, valid, tmp_path, short)
    other = replace(long, training=replace(long.training, seed=1))
    with pytest.raises(CheckpointError, match="seed = 0, not 1"):
        train_translator(train, valid, tmp_path, other, resume=True)
    assert Recipe.load(tmp_path) == short
    seen: list[int] = []
    train_translator(
        train, valid, tmp_path, long, resume=True, report=lambda told: seen.append(told.step)
    )
    assert seen == [5, 6, 7, 8]
    assert Recipe.load(tmp_path) == long
    with pytest.raises(CheckpointError, match="max_steps = 8, not 4"):
        train_translator(train, valid, tmp_path, short, resume=True)


def test_many_lines_have_a_progress_line_and_few_have_none(
    run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate = ["translate", trained_run(), "--file", lines, "--beam", 1]
    few = run(*translate)
    assert "lines," not in few.err
    monkeypatch.setattr(cli, "_PATIENCE", 0.0)
    many = run(*translate)
    assert "lines," in many.err
    assert many.out == few.out


def test_on_a_terminal_lines_for_a_file_have_a_progress_line(
    run: Run, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that stand on the terminal need none, and would stand on it."""
    monkeypatch.setattr(cli, "_PATIENCE", 0.0)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    translate = ["translate", trained_run(), "--file", lines, "--beam", 1]
    assert "lines," not in run(*translate).err
    assert "lines," in run(*translate, "--output", tmp_path / "out").err


def test_a_message_has_its_own_line_beside_the_progress_line(
    run: Run, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines.write_text("one zebra\n" + "two " * 70 + "\nfive yak\n", encoding="utf-8")
    translate = ["translate", trained_run(), "--file", lines, "--beam", 1]
    told = run(*translate).err.splitlines()
    assert [message[:6] for message in told] == ["note: ", "error:", "note: "]
    monkeypatch.setattr(cli, "_PATIENCE", 0.0)
    beside = run(*translate).err
    assert "lines," in beside
    # A carriage return goes back to the beginning of the line.
    assert [line.rpartition("\r")[2] for line in beside.split("\n")] == [*told, ""]


# train --patience --average


def test_patience_and_average_work_with_resume(
    run: Run, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = chain([3.0, 1.0, 2.0, 2.5, 1.5], repeat(9.0))  # the last ones are those of the average
    monkeypatch.setattr(
        "transformer_course.recipe.train.validation_loss", lambda *_, **__: next(losses)
    )
    out = tmp_path / "run"
    train = ["train", "--pairs", *files, "--out", out, *QUICK, *SIZES, "--steps", 60]
    result = run(*train, "--validate-every", 1, "--patience", 3, "--average", 2)
    assert f"Training stopped early; the translator is in {out}" in result.out
    history = json.loads((out / "history.json").read_text())
    assert [record["loss"] for record in history] == [3.0, 1.0, 2.0, 2.5, 1.5]
    model = (out / "model.safetensors").read_bytes()
    best = load_tensors(checkpoint_path(out, 2))[0]
    weights = load_tensors(out / "model.safetensors")[0]
    assert all(torch.equal(weights[name], best[f"model.{name}"]) for name in weights)
    resume = ["train", "--out", out, "--resume"]
    assert run(*resume).status == 0
    assert (out / "model.safetensors").read_bytes() == model
    before = (out / "recipe.json").read_bytes()
    result = run(*resume, "--steps", 70)
    assert "stopped early at step 5, after 3 validations without a better loss" in result.err
    assert result.status == 1
    assert (out / "recipe.json").read_bytes() == before
    assert_one_sentence(run(*resume, "--average", 3), "average = 2, not 3")
    assert_one_sentence(run(*resume, "--patience", 2), "patience = 3, not 2", "0: never stop early")


@pytest.mark.parametrize(
    ("patience", "told", "steps"),
    [
        (4, "after 4 validations without a lower loss, instead of after 3", 6),
        (0, "never, instead of after 3", 8),
    ],
)
def test_a_run_that_stopped_early_goes_on_with_more_patience(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    patience: int,
    told: str,
    steps: int,
) -> None:
    losses = chain([3.0, 1.0], repeat(2.0))
    monkeypatch.setattr(
        "transformer_course.recipe.train.validation_loss", lambda *_, **__: next(losses)
    )
    out = tmp_path / "run"
    train = ["train", "--pairs", *files, "--out", out, *QUICK, *SIZES, "--steps", 7]
    assert "stopped early" in run(*train, "--validate-every", 1, "--patience", 3).out
    result = run("train", "--out", out, "--resume", "--steps", 8, "--patience", patience)
    assert f"from here on it stops early {told}" in result.out, result.err
    assert ("Training finished" in result.out) == (patience == 0)
    history = json.loads((out / "history.json").read_text())
    assert [record["step"] for record in history] == list(range(1, steps + 1))
    again = run("train", "--out", out, "--resume")  # what was changed is kept
    assert (again.status, again.err.count("error")) == (0, 0)


# train --model


@pytest.mark.parametrize("name", ["nat", "mask-predict"])
def test_a_model_that_writes_all_words_at_once_is_trained_and_used(
    run: Run, files: list[Path], tmp_path: Path, name: str
) -> None:
    out = tmp_path / "run"
    quick = [*QUICK, *SIZES, "--label-smoothing", 0]
    assert run("train", "--pairs", *files, "--model", name, "--out", out, *quick).status == 0
    kinds = {"nat": FertilityTransformer, "mask-predict": MaskPredict}
    assert type(Translator.load(out).model) is kinds[name]
    assert json.loads((out / "recipe.json").read_text())["model"] == name
    result = run("translate", out, "one two", "three", "--beam", 2)
    assert (result.status, result.out.count("\n") >= 2) == (
        0,
        True,
    )  # it may write bytes of any kind
    scores = run("evaluate", out, "--beam", 1, "--pairs", *files)
    assert (scores.status, "BLEU" in scores.out) == (0, True)
    resume = ["train", "--out", out, "--resume"]
    assert run(*resume, "--steps", 9).status == 0
    told = f"model = '{name}', not 'transformer'"
    assert_one_sentence(run(*resume, "--model", "transformer"), told)


def test_a_longer_run_of_a_parallel_model_is_as_one_that_never_stopped(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    for name in ("nat", "mask-predict"):
        recipe = replace(small_recipe(), model=name, dropout=0.1)
        whole, cut = tmp_path / f"{name}-whole", tmp_path / f"{name}-cut"
        one, _ = train_translator(train, valid, whole, recipe)

        def stop(progress: Any) -> None:
            if progress.step == 7:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train_translator(train, valid, cut, recipe, report=stop)
        two, _ = train_translator(train, valid, cut, resume=True)
        for (key, weight), other in zip(
            one.model.named_parameters(), two.model.parameters(), strict=True
        ):
            assert torch.equal(weight, other), key
        histories = [json.loads((f / "history.json").read_text()) for f in (whole, cut)]
        losses = [[record["loss"] for record in history] for history in histories]
        assert losses[0] == losses[1]


def test_a_student_has_the_subwords_of_its_teacher(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    recipe, teacher = replace(small_recipe(max_steps=2), model="nat"), trained()
    shorter = [Pair("one", ("un",)), *train[:3]]
    student, _ = train_translator(
        shorter, valid, tmp_path / "student", recipe, vocabulary=teacher.vocabulary
    )
    assert student.vocabulary.digest == teacher.vocabulary.digest
    assert isinstance(student.model, FertilityTransformer)
    assert isinstance(teacher.model, Transformer)
    both = Translator(NoisyParallel(student.model, teacher.model, 3), teacher.vocabulary)
    found = both.search(["one two"], top_beams=3)[0]
    said = teacher.vocabulary.decode([h.ids for h in found])
    assert len(said) == 3


@pytest.mark.parametrize("name", ["transformer", "nat", "mask-predict"])
def test_a_model_begins_with_the_weights_of_another(name: str, tmp_path: Path) -> None:
    """Also if it stops before its first validation, and is resumed without the other one."""
    train, valid, _ = split_pairs(number_pairs())
    start, _ = train_translator(train, valid, tmp_path / "start", small_recipe())
    recipe, folder = replace(small_recipe(), model=name), tmp_path / "new"

    def stop(progress: Any) -> None:
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_translator(train, valid, folder, recipe, start=start, report=stop)
    (first,) = list_checkpoints(folder)
    saved, _ = read_checkpoint(first)
    body = "" if name == "transformer" else "body."
    for key, weight in weights_of(start.model).items():
        assert torch.equal(saved[f"model.{body}{key}"], weight), key
    resumed, _ = train_translator(train, valid, folder, resume=True)
    whole, _ = train_translator(train, valid, tmp_path / "whole", recipe, start=start)
    assert resumed.vocabulary.digest == start.vocabulary.digest
    for one, other in zip(resumed.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_run_that_could_not_keep_its_first_weights_is_not_resumed_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, valid, _ = split_pairs(number_pairs())
    start, _ = train_translator(train, valid, tmp_path / "start", small_recipe())

    def full(_: Trainer) -> None:
        raise CheckpointError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "save", full)
        with pytest.raises(CheckpointError, match="disk is full"):
            train_translator(train, valid, tmp_path / "new", small_recipe(), start=start)
    with pytest.raises(CheckpointError, match=r"holds no run to resume: recipe\.json is missing"):
        train_translator(train, valid, tmp_path / "new", resume=True)
    train_translator(train, valid, tmp_path / "new", small_recipe(), start=start)


@pytest.mark.parametrize("name", ["nat", "mask-predict"])
def test_a_parallel_model_goes_on_with_other_pairs(name: str, tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    recipe = replace(small_recipe(max_steps=2, validate_every=2), model=name)
    start, _ = train_translator(train, valid, tmp_path / "start", recipe)

    def stop(progress: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_translator(train[:20], valid, tmp_path / "new", recipe, start=start, report=stop)
    (first,) = list_checkpoints(tmp_path / "new")
    saved, _ = read_checkpoint(first)
    weights = weights_of(start.model)
    assert any(not key.startswith("body.") for key in weights)
    assert all(torch.equal(saved[f"model.{key}"], weight) for key, weight in weights.items())


def test_how_sure_a_parallel_model_is_depends_on_no_other_wish(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    recipe = replace(small_recipe(), model="mask-predict")
    translator, _ = train_translator(train, valid, tmp_path / "run", recipe)
    one, several = (translator.search(["one two", "five"], top_beams=n) for n in (1, 3))
    assert all(len(found) > 1 for found in several)
    assert [found[0].confidence for found in one] == [found[0].confidence for found in several]


def test_a_pair_that_no_fertility_fits_is_named(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    long = Pair("one", (string.ascii_letters + string.digits,))
    recipe = replace(small_recipe(), model="nat")
    with pytest.raises(ValueError, match=r"the pair 'one' – 'abc.* has more than 49 subwords for"):
        train_translator([*train, long], valid, tmp_path / "run", recipe)


def test_a_start_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    train, valid, _ = split_pairs(number_pairs())
    start, _ = train_translator(train, valid, tmp_path / "start", small_recipe(max_steps=1))
    deeper = replace(small_recipe(), n_layers=3)
    with pytest.raises(CheckpointError, match="weights don't fit the model"):
        train_translator(train, valid, tmp_path / "deeper", deeper, start=start)
    assert not (tmp_path / "deeper" / "recipe.json").exists()
    other = Vocabulary.train(["un", "one"], 290)
    with pytest.raises(ValueError, match="its vocabulary is another one"):
        train_translator(
            train, valid, tmp_path / "other", small_recipe(), vocabulary=other, start=start
        )


def test_an_unknown_model_is_refused(run: Run, files: list[Path], tmp_path: Path) -> None:
    train = ["train", "--pairs", *files, "--out", tmp_path / "run"]
    told = "model ('nut') must be one of transformer, nat, mask-predict"
    assert_one_sentence(run(*train, "--model", "nut"), told)
