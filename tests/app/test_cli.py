"""The command line: the main job on one's own files, exact resume after Ctrl-C, errors in one sentence."""

import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import Result, Run, assert_one_sentence
from small_runs import number_pairs, trained, trained_run

from transformer_course import __main__ as entry_point
from transformer_course import cli, runs
from transformer_course.checkpoints import list_checkpoints, load_tensors, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.readers import read_pairs
from transformer_course.recipe import encode_pairs, split_pairs
from transformer_course.streams import OutputError
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

QUICK = ["--steps", 10, "--max-tokens", 60, "--validate-every", 4, "--vocab-size", 300]


# The main job


def test_files_of_ones_own_from_training_to_scores(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "runs" / "mine"
    result = run("train", "--pairs", *files, "--out", out, *QUICK)
    assert result.status == 0, result
    assert "125 pairs to train on; held out: 15 to validate on, 15 for `evaluate`" in result.out
    assert f"Training finished; the translator is in {out}" in result.out
    assert re.search(
        r"step 10 of 10, loss \d\.\d{3}, valid .*[\d,]+ tokens/s, 00:00 left", result.err
    )
    assert run("translate", out, "one two", "three").out.count("\n") == 2
    held_out = run("evaluate", out)
    assert held_out.status == 0, held_out
    assert held_out.out.startswith("sentences    15\n")
    scores = tmp_path / "scores.json"
    result = run("evaluate", out, "--pairs", *files, "--json", scores, "--beam", 1)
    assert re.search(
        r"^exact match  +\d+\.\d%\nBLEU +\d+\.\d   nrefs:1\|.*\nchrF +\d+\.\d   nrefs:1\|",
        result.out,
        re.MULTILINE,
    )
    record = json.loads(scores.read_text())
    assert record.keys() == {
        *("exact_match", "bleu", "signature", "chrf", "chrf_signature"),
        *("n_pairs", "phenomena"),
    }
    assert record["n_pairs"] == 155


@pytest.mark.parametrize(
    ("precision", "has", "told"),
    [
        ("bf16", {"avx2": True, "avx512_bf16": False}, True),
        ("bf16", {"avx2": True, "avx512_bf16": True}, False),
        ("fp32", {"avx2": True}, False),
    ],
)
def test_bf16_on_a_processor_without_it_is_said_to_be_slow(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    precision: str,
    has: dict[str, bool],
    told: bool,
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: has)
    options = [*QUICK, "--precision", precision, "--steps", 1]
    result = run("train", "--pairs", *files, "--out", tmp_path / "run", *options)
    assert result.status == 0, result
    assert ("this processor computes no bf16, so fp32 is faster" in result.err) == told


@pytest.mark.parametrize("has", [True, False])
def test_muon_on_a_processor_without_bf16_is_said_to_be_slow(
    run: Run, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: bool
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": has})
    options = [*QUICK, "--precision", "fp32", "--steps", 1, "--optimizer", "muon"]
    result = run("train", "--pairs", *files, "--out", tmp_path / "run", *options)
    assert result.status == 0, result
    told = "this processor computes no bf16, in which muon has its products: updates take longer"
    assert (told in result.err) != has
    assert run("train", "--out", tmp_path / "run", "--resume", "--steps", 2).status == 0
    assert json.loads((tmp_path / "run" / "recipe.json").read_text())["optimizer"] == "muon"


@pytest.mark.parametrize(("has", "precision"), [(True, "bf16"), (False, "fp32")])
def test_the_faster_precision_is_taken(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    has: bool,
    precision: str,
) -> None:
    """Without --precision a new run computes as the processor does it faster, and says so in its recipe."""
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": has})
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK, "--steps", 1).status == 0
    assert json.loads((out / "recipe.json").read_text())["training"]["precision"] == precision


def test_gzip_and_tab_separated_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv.gz"
    text = "".join(f"{p.source}\t{p.target}\n" for p in number_pairs()[:2])
    path.write_bytes(gzip.compress(text.encode()))
    result = run("train", "--tsv", path, "--out", tmp_path / "run", *QUICK)
    assert "1 pairs to train on; held out: 1 to validate on\n" in result.out
    assert result.status == 0
    assert run("evaluate", tmp_path / "run", "--tsv", path).status == 0
    assert_one_sentence(run("evaluate", tmp_path / "run"), "held out no pairs", "--pairs or --tsv")


def test_validation_files_leave_all_pairs_for_training(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    result = run("train", "--pairs", *files, "--valid-pairs", *files, "--out", out, *QUICK)
    assert "155 pairs to train on; held out: 155 to validate on\n" in result.out
    note = "Note: of 155 pairs to validate on, 155 have a source that is trained on, too\n"
    assert note in result.err
    (tmp_path / "new.tsv").write_text("zero\tzéro\n", encoding="utf-8")
    given = ["--pairs", *files, "--valid-tsv", tmp_path / "new.tsv"]
    assert "trained on, too" not in run("train", *given, "--out", tmp_path / "new", *QUICK).err


@pytest.mark.parametrize(("n", "held"), [(2, (1, 0)), (9, (1, 0)), (10, (1, 1)), (155, (15, 15))])
def test_few_pairs_are_split_sensibly(n: int, held: tuple[int, int]) -> None:
    pairs = number_pairs()[:n]
    train, valid, test = split_pairs(pairs)
    assert (len(valid), len(test)) == held
    assert sorted(p.source for p in train + valid + test) == sorted(p.source for p in pairs)
    again = split_pairs(pairs[::-1])
    assert [{p.source for p in part} for part in again] == [
        {p.source for p in part} for part in (train, valid, test)
    ]


def test_pairs_of_one_source_stay_together() -> None:
    parts = split_pairs(number_pairs() * 3)
    sources = [{pair.source for pair in part} for part in parts]
    assert not sources[0] & sources[1] | sources[0] & sources[2] | sources[1] & sources[2]
    assert sum(map(len, parts)) == 3 * 155
    with pytest.raises(ValueError, match="1 different sources; there must be 2 or more"):
        split_pairs(number_pairs()[:1] * 5)


def test_the_grammar_is_scored_by_phenomenon(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = cli.Recipe(vocab_size=400, training=TrainingConfig(max_steps=1, max_tokens=400))
    monkeypatch.setitem(cli.NAMED_RECIPES, "grammar", recipe)
    generate = grammar.generate
    monkeypatch.setattr(grammar, "generate", lambda split, n, seed: generate(split, n // 10, seed))
    out = tmp_path / "run"
    assert run("train", "--corpus", "grammar", "--n-pairs", 300, "--out", out).status == 0
    few = {name: list(generate("test", 2, seed)) for seed, name in enumerate(("number", "être"))}
    monkeypatch.setattr(grammar, "challenge_sets", lambda seed: few)
    test = list(generate("test", 5))
    monkeypatch.setattr(cli.Data, "load_test", lambda self: test)
    result = run("evaluate", out, "--beam", 1, "--json", tmp_path / "scores.json")
    assert result.status == 0, result
    table = json.loads((tmp_path / "scores.json").read_text())["phenomena"]
    assert list(table) == list(few)
    for name in few:
        assert re.search(rf"^{re.escape(name)} +2 +0\.0%$", result.out, re.MULTILINE)


def test_the_grammar_is_learnt_in_the_other_direction_too(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = cli.Recipe(vocab_size=400, training=TrainingConfig(max_steps=1, max_tokens=400))
    monkeypatch.setitem(cli.NAMED_RECIPES, "grammar", recipe)
    generate = grammar.generate
    monkeypatch.setattr(grammar, "generate", lambda split, n, seed: generate(split, n // 10, seed))
    out = tmp_path / "run"
    options = ["--corpus", "grammar", "--languages", "fr-en", "--n-pairs", 300, "--out", out]
    assert run("train", *options).status == 0
    data, test = runs.load_held_out(out)
    assert data.languages == "fr-en"
    assert [pair.target for pair in test] == [pair.source for pair in generate("test", 100, 0)]
    monkeypatch.setattr(cli.Data, "load_test", lambda self: test[:5])
    result = run("evaluate", out, "--beam", 1)
    assert result.status == 0, result
    assert "phenomenon" not in result.out  # the sets know one right answer in English


def test_a_corpus_by_name_has_its_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx2": True})  # no bf16
    made = {
        name: cli._new_recipe(
            cli._recipe_by_name(name), None, {}, {"warmup_steps": None}, torch.device("cpu")
        )
        for name in runs.RECIPES
    }
    assert made == runs.RECIPES
    config = made["multi30k"].config(10_000)
    assert (config.n_encoder_layers, config.d_ff, config.dropout) == (4, 256, 0.3)


def test_few_pairs_of_ones_own_have_a_recipe_by_name(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    options = ["train", "--pairs", *files, "--out", out, "--recipe"]
    result = run(*options, "large")
    assert result.status == 1
    assert (
        "--recipe ('large') must be 'grammar' or 'everyday' or 'multi30k' or 'small-corpus'"
        in result.err
    )
    sizes = ["--d-model", 16, "--heads", 2, "--vocab-size", 300, "--steps", 1, "--dropout", 0.2]
    assert run(*options, "small-corpus", *sizes).status == 0
    recipe, named = cli.Recipe.load(out), runs.SMALL_CORPUS_RECIPE
    assert (recipe.preset, recipe.label_smoothing, recipe.dropout) == ("narrow", 0.1, 0.2)
    assert (recipe.r_drop, recipe.optimizer) == (named.r_drop, named.optimizer) == (5.0, "muon")
    assert (recipe.training.peak_rate, recipe.training.average) == (5e-3, 10)
    result = run("train", "--out", out, "--resume", "--recipe", "small-corpus")
    assert (result.status, result.out) == (1, "")
    assert "--recipe is for a new run: one that goes on has its own" in result.err


def test_sentences_from_arguments_a_file_and_standard_input(run: Run, files: list[Path]) -> None:
    lines = files[0].read_text().splitlines()[:7]
    expected = "".join(f"{line}\n" for line in trained().translate(lines))
    files[0].write_text("".join(f"{line}\n" for line in lines))
    folder = trained_run()
    assert run("translate", folder, *lines).out == expected
    assert run("translate", folder, "--file", files[0]).out == expected
    assert run("translate", folder, stdin="\n".join(lines).encode()).out == expected
    windows = b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    assert run("translate", folder, stdin=windows).out == expected
    files[0].write_bytes(windows)
    assert run("translate", folder, "--file", files[0]).out == expected
    assert run("translate", folder, stdin=b"").out == ""


# Whatever a line holds: input in bytes, output with one translation a line, messages

LINES = [
    (b"one\n\n \t\ntwo\n", "un\n\n\ndeux\n", []),
    (b"one\none\ttwo\r\n\xef\xbb\xbf\n", "un\ndeux un\n\n", []),
    (b"one\n\xef\xbb\xbftwo", "un\ndeux\n", []),
    (b"one\n\xff\ntwo\n", "un\n\ndeux\n", ["line 2: invalid UTF-8 (byte 0xff at byte 1"]),
    (b"one\na\x00\ntwo", "un\n\ndeux\n", ["line 2: control character (U+0000, character 2)"]),
    (b"one\n\xed\xa0\x80\ntwo", "un\n\ndeux\n", ["line 2: invalid UTF-8"]),
    (
        b"one\n" + b"one " * 70,
        "un\n\n",
        ["line 2: ", "has 70 subwords, the model takes at most 63"],
    ),
    (b"one\n" + b"one " * 100_000, "un\n\n", ["line 2: more than 2,000 characters"]),
    (b"\x00\none\n\x00", "\nun\n\n", ["line 1: control", "line 3: control"]),
]


@pytest.mark.parametrize(("text", "out", "problems"), LINES)
@pytest.mark.parametrize("way", ["file", "standard input"])
def test_each_line_has_its_answer_and_a_wrong_one_costs_no_other(
    run: Run, tmp_path: Path, way: str, text: bytes, out: str, problems: list[str]
) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(text)
    given: dict[str, Any] = {} if way == "file" else {"stdin": text}
    result = run("translate", trained_run(), *(["--file", path] if way == "file" else []), **given)
    assert result.out == out
    assert result.status == (1 if problems else 0)
    name = str(path) if way == "file" else "standard input"
    assert result.err.count("\n") == result.err.count(f"error: {name}, line ")
    assert bool(result.err) == bool(problems)
    for problem in problems:
        assert problem in result.err


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_arguments_are_answered_like_lines(
    run: Run, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(cli, "_LINES_AT_ONCE", at_once)
    result = run("translate", trained_run(), "one", "", " ", "two\none", "\udcff", "\x00", "two")
    assert result.out == "un\n\n\nun deux\n\n\ndeux\n"
    assert result.status == 1
    assert "error: sentence 5: half a surrogate pair (character 1)" in result.err
    assert "error: sentence 6: control character (U+0000, character 1)" in result.err
    assert result.err.count("\n") == 2
    assert run("translate", trained_run(), "").out == "\n"


def test_words_that_were_never_seen_are_named_once_a_sentence(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("one\n\nzebra one § zebra\nthree Two «\n", encoding="utf-8")
    notes = [
        'note: sentence 3: not in the training text: "zebra", "§"\n',
        'note: sentence 4: not in the training text: """\n',
    ]
    for result in (
        run("translate", trained_run(), "--file", path),
        run("translate", trained_run(), stdin=path.read_bytes()),
        run("translate", trained_run(), *path.read_text(encoding="utf-8").split("\n")[:-1]),
    ):
        assert (result.status, result.err) == (0, "".join(notes))
        assert result.out.count("\n") == 4
        assert result.out.startswith("un\n\n")


def test_a_translation_that_the_model_is_unsure_of_has_a_note(run: Run, tmp_path: Path) -> None:
    translator = Translator.load(trained_run())
    translator.doubt_below = translator.search(["one two"])[0][0].confidence
    translator.save(tmp_path)
    less_sure = "five five one one five three"
    result = run("translate", tmp_path, "one two", less_sure, "zebra")
    assert result.err == (
        "note: sentence 2: the model is unsure of this translation\n"
        'note: sentence 3: not in the training text: "zebra"\n'
    )


def test_a_word_without_a_usual_translation_is_named(run: Run, tmp_path: Path) -> None:
    translator = Translator(trained().model, trained().vocabulary)
    translator.lexicon = {word: frozenset({"neuf"}) for word in ("two", "three")}
    translator.save(tmp_path)
    result = run("translate", tmp_path, "one two three", "one")
    told = 'no usual translation of "two", "three": perhaps left out'
    assert result.err == f"note: sentence 1: {told}\n"


def test_what_is_odd_is_translated_without_a_mishap(run: Run) -> None:
    odd = [
        "</s>",
        "<pad> <s>",
        "שלום עולם",
        "👩‍👩‍👧 🇫🇷",
        "\u202eone",
        "a\u2028b",
        "« ’ »",
        "𝒳" * 15,
    ]
    result = run("translate", trained_run(), *odd)
    assert result.status == 0
    assert result.out.count("\n") == len(odd)
    assert all("sentence " in line for line in result.err.splitlines())
    text = "".join(f"{line}\n" for line in odd).encode()
    assert run("translate", trained_run(), stdin=text).out == result.out


def test_a_translation_with_line_ends_in_it_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "transformer_course.corpus.vocabulary.Vocabulary.decode",
        lambda self, rows: ["a\nb\rc\n"] * len(rows),
    )
    assert run("translate", trained_run(), "one", "two").out == "a b c \na b c \n"


def test_a_file_is_translated_in_batches_and_not_kept_in_memory(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_LINES_AT_ONCE", 3)
    sizes: list[int] = []
    search = cli.Translator.search

    def counting(self: Any, sentences: list[str], **settings: Any) -> Any:
        sizes.append(len(sentences))
        return search(self, sentences, **settings)

    monkeypatch.setattr(cli.Translator, "search", counting)
    path = tmp_path / "lines.txt"
    path.write_text("one\n" * 7 + "\n" + "two\n")
    assert run("translate", trained_run(), "--file", path).out == "un\n" * 7 + "\ndeux\n"
    assert sizes == [3, 3, 2]  # the blank line needs no search
    path.write_bytes(b"")
    assert run("translate", trained_run(), "--file", path) == Result(0, "", "")


def test_wrong_numbers_end_the_command_and_not_only_a_line(run: Run) -> None:
    result = run("translate", trained_run(), "--beam", 0, stdin=b"one\ntwo\n")
    assert result.out == ""
    assert_one_sentence(result, "error: beam (0) must be 1 or more")


def test_a_closed_standard_input_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit, match="1"):
        cli.app(["translate", str(trained_run())])
    assert capsys.readouterr().err.startswith("error: standard input is closed; give sentences")


def test_ctrl_c_in_a_file_keeps_what_was_translated(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> Any:
        yield cli.Answer("un")
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "translate_lines", stop)
    result = run("translate", trained_run(), "one", "two")
    assert (result.status, result.out, result.err.strip()) == (130, "un\n", "stopped")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "transformer_course", *map(str, arguments)]


def test_standard_input_is_answered_line_by_line() -> None:
    process = subprocess.Popen(
        command("translate", trained_run()), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line, answer in ((b"one two\n", b"deux un\n"), (b"five\n", b"cinq\n")):
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline() == answer  # before the next line is written
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()


def test_what_is_written_to_a_file_is_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the system's encoding is another one, as in a Windows terminal."""
    monkeypatch.setattr(trained().vocabulary, "decode", lambda rows: ["łódź été"] * len(rows))
    monkeypatch.setattr(cli.Translator, "load", lambda run, device: trained())
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(SystemExit):
        cli.app(["translate", "run", "one"])
    assert stdout.buffer.getvalue() == "łódź été\n".encode()  # type: ignore[attr-defined]


def test_a_translation_without_an_end_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = trained_run()
    whole = run("translate", folder, "one", "two", "one")
    assert whole.err == ""
    search = cli.Translator.search

    def cut(*arguments: Any, **settings: Any) -> Any:
        found = search(*arguments, **settings)
        return [found[0], *([replace(best[0], ids=best[0].ids[:-1])] for best in found[1:])]

    monkeypatch.setattr(cli.Translator, "search", cut)
    result = run("translate", folder, "one", "two", "one")
    assert result.out == whole.out  # </s> isn't shown
    told = "the model found no end for the translation, so it is cut"
    assert result.err == f"note: sentence 2: {told}\nnote: sentence 3: {told}\n"
    stdin = run("translate", folder, stdin=b"one\n")
    assert (stdin.out, stdin.err) == ("un\n", "")


def test_a_reader_that_leaves_early_is_no_error(files: list[Path]) -> None:
    process = subprocess.Popen(
        command("translate", trained_run(), "--file", files[0]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait() == 1
    process.stderr.close()


# Ctrl-C and resuming


def test_resuming_after_ctrl_c_and_kill_gives_the_same_file(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    arguments = ["--pairs", *files, "--steps", 60, "--max-tokens", 60, "--validate-every", 8]
    arguments += ["--vocab-size", 300, "--average", 2, "--threads", 1]
    undisturbed, disturbed = tmp_path / "a", tmp_path / "b"
    assert run("train", *arguments, "--out", undisturbed).status == 0
    first = command("train", *arguments, "--out", disturbed)
    out, err, status = stopped(first, disturbed, signal.SIGINT, at=8)
    assert status == 130, err
    assert "Traceback" not in err
    hint = f"transformer-course train --out {disturbed} --resume"
    assert f"Saved. Go on with: {hint}" in out
    step = newest_step(disturbed)
    assert 8 <= step < 60
    assert_one_sentence(run("translate", disturbed, "one"), "training isn't finished")
    second = command(*hint.split()[1:])
    _, _, status = stopped(second, disturbed, signal.SIGKILL, at=step + 1)
    assert status == -signal.SIGKILL
    assert newest_step(disturbed) < 60
    assert run("train", "--out", disturbed, "--resume").status == 0
    models = [(folder / "model.safetensors").read_bytes() for folder in (undisturbed, disturbed)]
    assert models[0] == models[1]
    histories = [json.loads((f / "history.json").read_text()) for f in (undisturbed, disturbed)]
    for record in histories[0] + histories[1]:
        del record["seconds"]
    assert histories[0] == histories[1]


def newest_step(folder: Path) -> int:
    names = [path.name for path in (folder / "checkpoints").glob("step-*.safetensors")]
    return max((int(name[5:12]) for name in names), default=0)


def stopped(
    arguments: list[str], folder: Path, how: signal.Signals, at: int
) -> tuple[str, str, int]:
    """Start a command, and send it a signal once a run has a checkpoint of step `at` or later."""
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    end = time.monotonic() + 240
    while newest_step(folder) < at and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    process.send_signal(how)
    out, err = process.communicate()
    return out, err, process.returncode


def interrupt(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("card", [True, False])
def test_a_training_that_needs_too_much_memory_says_what_needs_less(
    run: Run, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: bool
) -> None:
    def full(*_: object, **__: object) -> str:
        if card:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return str(torch.empty(10**15))

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(cli, "_describe", full)
        result = run("train", "--pairs", *files, "--out", out, *QUICK, "--accumulate", 2)
    place = "graphics card" if card else "computer"
    assert result.status == 1
    last = result.err.rstrip().split("\n")[-1]
    assert last.startswith(
        f"error: the memory of the {place} is too small for this; a batch in more"
    ), last
    assert last.endswith(f"parts needs less: {cli._go_on(out)} --accumulate 4"), last
    assert "Traceback" not in result.err
    assert run("train", "--out", out, "--resume", "--accumulate", 4).status == 0
    same = ("--checkpoint", list_checkpoints(out)[0].name)
    with monkeypatch.context() as patch:
        patch.setattr(cli, "_describe", full)
        result = run("train", "--out", out, "--resume", "--steps", 14, *same)
    assert result.err.rstrip().endswith(f"--accumulate 8 {' '.join(same)}"), result.err
    with monkeypatch.context() as patch:
        patch.setattr(cli, "translate_lines", full)
        result = run("translate", out, "one")
        shown = run("translate", out, "one", "--debug")
    assert_one_sentence(result, f"the memory of the {place} is too small for this")
    assert "in full\n" in shown.err  # the traceback of where it was


def test_another_error_of_torch_is_no_lack_of_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(cli, "translate_lines", fail)
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        cli.app(["translate", str(trained_run()), "one"])


def test_ctrl_c_while_data_is_loaded_and_twice_in_training(
    run: Run, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    arguments = ["train", "--pairs", *files, "--out", out, *QUICK]
    with monkeypatch.context() as patch:
        patch.setattr("transformer_course.recipe.data.read_pairs", interrupt)
        result = run(*arguments)
    assert (result.status, result.err.strip()) == (130, "stopped")
    with monkeypatch.context() as patch:
        patch.setattr(cli, "_describe", interrupt)
        result = run(*arguments)  # the folder of a run that wrote nothing is free
    assert result.status == 130
    assert result.err.strip().endswith(f"stopped; go on from the start with: {cli._go_on(out)}")
    assert "Traceback" not in result.err
    assert run("train", "--out", out, "--resume").status == 0
    with monkeypatch.context() as patch:
        patch.setattr(cli, "train_translator", interrupt)
        result = run("train", "--out", tmp_path / "run", "--resume")
    assert result.status == 130
    assert result.err.strip().endswith(f"train --out {tmp_path / 'run'} --resume")


def test_a_truncated_checkpoint_is_refused_and_another_can_be_chosen(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK).status == 0
    model = (out / "model.safetensors").read_bytes()
    newest = out / "checkpoints" / "step-0000010.safetensors"
    newest.write_bytes(newest.read_bytes()[:5000])
    (out / "model.safetensors").unlink()
    result = run("train", "--out", out, "--resume")
    offered = "--checkpoint step-0000008.safetensors"
    assert_one_sentence(result, "step-0000010.safetensors is damaged", f"resume with {offered}")
    assert run("train", "--out", out, "--resume", *offered.split()).status == 0
    assert (out / "model.safetensors").read_bytes() == model
    assert load_tensors(newest)[1]["step"] == 10
    elsewhere = tmp_path / "step-0000008.safetensors"
    result = run("train", "--out", out, "--resume", "--checkpoint", elsewhere)
    assert_one_sentence(result, f"checkpoint ({elsewhere}) must be in {out / 'checkpoints'}")
    its_own = out / "checkpoints" / "step-0000008.safetensors"
    assert run("train", "--out", out, "--resume", "--checkpoint", its_own).status == 0
    (out / "model.safetensors").write_bytes(model[:1000])
    assert_one_sentence(run("translate", out, "one"), "model.safetensors is damaged")
    assert run("train", "--out", out, "--resume").status == 0  # writes it again
    assert (out / "model.safetensors").read_bytes() == model


def test_resuming_takes_no_other_settings_and_no_other_files(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK).status == 0
    resume = ["train", "--out", out, "--resume"]
    assert run(*resume, "--pairs", *files, *QUICK).status == 0  # the same again is fine
    for option, value, old in (
        ("--steps", 5, "10"),
        ("--seed", 3, "0"),
        ("--dropout", 0.3, "0.1"),
    ):
        assert_one_sentence(run(*resume, option, value), f"= {old}, not {value}", "without that")
    assert_one_sentence(run(*resume, "--corpus", "grammar"), "corpus = '', not 'grammar'")
    assert_one_sentence(run("train", "--pairs", *files, "--out", out), "already holds a run")
    with files[0].open("a") as source, files[1].open("a") as target:
        source.write("five six\n" * 30)
        target.write("six cinq\n" * 30)
    assert_one_sentence(run(*resume), "trained on other examples")
    for name in ("run.json", "recipe.json"):
        good = (out / name).read_text()
        for bad in ("{", "[]", "{}", '{"data": {}}', good.replace('"', "'"), '{"data": 3}'):
            (out / name).write_text(bad)
            assert_one_sentence(run(*resume), f"{name} is damaged")
        (out / name).unlink()
        assert_one_sentence(run(*resume), f"{name} is missing")
        (out / name).write_text(good)


def folder_of_a_run(folder: Path, data: runs.Data) -> Path:
    """What stands in a run's folder when it has just been started."""
    write_json(folder / "run.json", {"data": asdict(data), "threads": 1, "test": ""})
    cli.Recipe().save(folder)
    return folder


def test_an_option_that_stands_at_its_default_is_compared_on_resuming(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    french = folder_of_a_run(
        tmp_path / "a", runs.Data(corpus="multi30k", languages="en-fr", form="raw", folder="/x")
    )
    resume = ["train", "--resume", "--out"]
    for option, value, name, old in (
        ("--languages", "en-de", "languages", "'en-fr'"),
        ("--form", "lc.norm.tok", "form", "'raw'"),
        ("--folder", "/y", "folder", "'/x'"),
        ("--corpus", "grammar", "corpus", "'multi30k'"),
        ("--vocab-size", 4001, "vocab_size", "4000"),
    ):
        told = f"was started with {name} = {old}, not "
        assert_one_sentence(run(*resume, french, option, value), told, "resume without that option")
    few = folder_of_a_run(tmp_path / "b", runs.Data(corpus="grammar", n_pairs=300))
    default = runs.Data.n_pairs
    told = f"was started with n_pairs = 300, not {default}"
    assert_one_sentence(run(*resume, few, "--n-pairs", default), told)
    own = folder_of_a_run(tmp_path / "c", runs.Data(files=tuple(map(str, files))))
    told = "languages is for corpus 'grammar' or 'everyday' or 'multi30k', files of your own would ignore it"
    assert_one_sentence(run(*resume, own, "--languages", "en-de"), told)


def test_resuming_takes_no_other_files_to_validate_on(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    held_out = [tmp_path / "valid.en", tmp_path / "valid.fr"]
    for path, text in zip(held_out, ("one\n", "un\n"), strict=True):
        path.write_text(text)
    out = tmp_path / "run"
    arguments = ["train", "--pairs", *files, "--valid-pairs", *held_out, "--out", out]
    assert run(*arguments, *QUICK, "--steps", 1).status == 0
    for path, text in zip(held_out, ("two\n", "deux\n"), strict=True):
        path.write_text(text)
    assert_one_sentence(run("train", "--out", out, "--resume"), "validated on other examples")


def test_a_run_that_stopped_before_its_first_checkpoint_is_kept_and_can_be_resumed(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out, whole = tmp_path / "a run", tmp_path / "whole"
    arguments = ["train", "--pairs", *files, *QUICK, "--out"]
    assert run(*arguments, whole).status == 0
    out.mkdir()
    for name in ("run.json", "recipe.json", "vocabulary.json"):
        (out / name).write_bytes((whole / name).read_bytes())
    assert_one_sentence(run(*arguments, out, "--seed", 3), "already holds a run")
    assert run("train", "--out", out, "--resume").status == 0
    same = [(folder / "model.safetensors").read_bytes() for folder in (out, whole)]
    assert same[0] == same[1]
    (tmp_path / "cooking").mkdir()
    (tmp_path / "cooking" / "recipe.json").write_text("two eggs")
    assert_one_sentence(run(*arguments, tmp_path / "cooking"), "already holds a run")
    assert (tmp_path / "cooking" / "recipe.json").read_text() == "two eggs"


def test_the_hint_how_to_go_on_can_be_pasted() -> None:
    told = cli._go_on(Path("runs") / "my run")
    assert shlex.split(told)[2:] == ["--out", str(Path("runs") / "my run"), "--resume"]


def test_pairs_that_have_changed_since_the_training_are_not_taken_for_held_out(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert run("train", "--pairs", *files, "--out", out, *QUICK).status == 0
    before = run("evaluate", out)
    assert before.status == 0
    texts = [path.read_text() for path in files]
    for path, text in zip(files, texts, strict=True):  # another order holds out the same pairs
        path.write_text("".join(reversed(text.splitlines(keepends=True))))
    assert run("evaluate", out).out == before.out
    for path, text in zip(files, texts, strict=True):
        more = [f"{line} {line}\n" for line in text.splitlines()]
        path.write_text(text + "".join(more))
    problem = ["mine.en and", "not the pairs that", "name a test set by --pairs"]
    assert_one_sentence(run("evaluate", out), *problem)
    assert run("evaluate", out, "--pairs", *files, "--beam", 1).status == 0
    for path, text in zip(files, texts, strict=True):
        path.write_text(text)
    assert run("evaluate", out).out == before.out


# Errors


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ("--pairs no.en no.fr", ["no.en", "cannot be read"]),
        ("--tsv no.tsv", ["no.tsv", "cannot be read"]),
        ("--pairs EN FR --tsv EN", ["not both"]),
        ("--corpus grammar --pairs EN FR", ["not more of them"]),
        ("--corpus wmt", ["corpus ('wmt') must be"]),
        ("", ["give --corpus, or files of your own"]),
        ("--valid-tsv EN", ["need files to train on"]),
        ("--tsv EN", ["mine.en, line 1", "0 tabs"]),
        ("--pairs EN FR --preset huge", ["preset ('huge')"]),
        ("--pairs EN FR --steps 0", ["max_steps (0) must be 1 or more"]),
        ("--pairs EN FR --seed -1", ["seed (-1) must be 0 or more"]),
        ("--pairs EN FR --rate nan", ["peak_rate (nan) must be above 0"]),
        ("--pairs EN FR --rate 0", ["peak_rate (0.0) must be above 0"]),
        ("--pairs EN FR --dropout 1", ["dropout (1.0) must be"]),
        ("--pairs EN FR --label-smoothing -0.1", ["label_smoothing (-0.1) must be"]),
        ("--pairs EN FR --r-drop -1", ["r_drop (-1.0) must be a finite number, 0 or more"]),
        ("--pairs EN FR --r-drop inf", ["r_drop (inf) must be a finite number"]),
        (
            "--pairs EN FR --r-drop 5 --model nat",
            ["r_drop (5.0) is for the model 'transformer', not 'nat'"],
        ),
        ("--pairs EN FR --r-drop 5 --dropout 0", ["r_drop (5.0) needs dropout above 0"]),
        ("--pairs EN FR --optimizer sgd", ["optimizer ('sgd') must be one of adam, muon"]),
        ("--pairs EN FR --vocab-size 10", ["vocab_size (10) must be at least 259"]),
        (
            "--pairs EN FR --vocab-size 10000000000000",
            ["vocab_size (10000000000000) must be at most 1,000,000"],
        ),
        (
            "--pairs EN FR --vocab-size 300 --d-ff 1000000000000",
            [
                "the model doesn't fit into memory (vocab_size ",
                "d_ff 1,000,000,000,000)",
            ],
        ),
        (
            "--pairs EN FR --vocab-size 300 --d-ff 9223372036854775808",
            ["d_ff (9223372036854775808) must be a whole number, 1 to 1,000,000,000,000"],
        ),
        ("--pairs EN FR --precision fp8", ["precision ('fp8')"]),
        ("--pairs EN FR --checkpoint x", ["--checkpoint needs --resume"]),
        ("--n-pairs 5", ["give --corpus, or files of your own"]),
        (
            "--pairs EN FR --steps 1 --n-pairs 170000",
            ["n_pairs is for corpus 'grammar' or 'everyday', files of your own"],
        ),
        (
            "--pairs EN FR --languages en-de",
            ["languages is for corpus 'grammar' or 'everyday' or 'multi30k', files"],
        ),
        ("--corpus grammar --languages en-de", ["languages ('en-de') must be en-fr or fr-en"]),
        (
            "--pairs EN FR --steps 1 --folder .",
            ["folder is for corpus 'multi30k', files of your own"],
        ),
        ("--corpus grammar --form lc.norm.tok", ["form is for corpus 'multi30k'"]),
        (
            "--corpus multi30k --n-pairs 5",
            ["n_pairs is for corpus 'grammar' or 'everyday', corpus 'multi30k'"],
        ),
        ("--corpus multi30k --languages en", ["languages ('en') must be en-de or"]),
        ("--corpus multi30k --languages en-xx --folder .", ["languages ('en-xx')"]),
        ("--corpus multi30k --folder nowhere", ["nowhere"]),
        ("--resume", ["run.json is missing"]),
    ],
)
def test_wrong_training_is_refused_in_one_sentence(
    run: Run, files: list[Path], tmp_path: Path, arguments: str, parts: list[str]
) -> None:
    words = arguments.replace("EN", str(files[0])).replace("FR", str(files[1])).split()
    assert_one_sentence(run("train", "--out", tmp_path / "run", *words), *parts)
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize(
    "arguments",
    ["train", "train --out x --steps many", "train --out x --n-pairs 0", "fly", "translate",
     "train --out x --pairs a", "translate x --threads 0", "translate x --threads 1025",
     "evaluate x --nothing"],
)  # fmt: skip
def test_wrong_usage_is_explained(run: Run, arguments: str) -> None:
    assert_one_sentence(run(*arguments.split()), status=2)


def test_a_pair_that_is_too_long_is_named_by_file_and_line(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    train = split_pairs(read_pairs(*files))[0]
    line = read_pairs(*files).index(train[50]) + 1
    lines = files[0].read_text().splitlines()
    lines += [train[50].source] * 2
    lines[line - 1] = train[
        50
    ].source  # sources decide what is held out, so the target is made long
    targets = files[1].read_text().splitlines()
    targets[line - 1] = " ".join(["un"] * 60)
    files[0].write_text("\n".join(lines))
    files[1].write_text("\n".join([*targets, targets[line - 1], "un"]))
    arguments = ["train", "--pairs", *files, "--out", tmp_path / "run", *QUICK]
    result = run(*arguments)
    assert_one_sentence(result, f"mine.en, line {line}: the pair", "positions, max_tokens is 60")
    assert "(and 1 more like it)" in result.err


def test_an_out_folder_that_cannot_be_is_named(
    run: Run, files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("train", "--pairs", *files, "--out", files[0], *QUICK)
    assert_one_sentence(result, "mine.en can't be written", "exists")
    for command in ("train", "prepare"):
        result = run(command, "--pairs", *files, "--out", "")
        assert_one_sentence(result, "'--out': it must name a folder", status=2)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["one", "--beam", "0"], ["beam (0) must be 1 or more"]),
        (["one", "--beam", "1000"], ["beam (1000)", "half the vocabulary"]),
        (["one", "--alpha", "-1"], ["alpha (-1.0) must be from 0 to 10"]),
        (["one", "--alpha", "1000"], ["alpha (1000.0) must be from 0 to 10"]),
        (["one " * 70], ["sentence 1: ", "has 70 subwords, the model takes at most 63"]),
        (["one " * 100_000], ["sentence 1: more than 2,000 characters"]),
        (["one", "--file", "x"], ["give sentences or --file, not both"]),
        (["--file", "no.txt"], ["no.txt", "cannot be read"]),
        (["\udcff"], ["half a surrogate pair"]),
        (
            ["one", "--output", __file__ + "/x"],
            ["x can't be written", "test_cli.py is not a folder"],
        ),
    ],
)
def test_wrong_translation_is_refused_in_one_sentence(
    run: Run, arguments: list[str], parts: list[str]
) -> None:
    assert_one_sentence(run("translate", trained_run(), *arguments), *parts)


def test_wrong_evaluation_is_refused_in_one_sentence(
    run: Run, files: list[Path], tmp_path: Path
) -> None:
    folder = trained_run()
    pairs = ["--pairs", *files]
    assert_one_sentence(run("evaluate", tmp_path, *pairs), "vocabulary.json is missing")
    problem = ["run.json is missing", "is not a run", "trained in Python is evaluated with --pairs"]
    assert_one_sentence(run("evaluate", folder), *problem)
    assert_one_sentence(run("evaluate", folder, *pairs, "--tokenize", "x"), "tokenize ('x')")
    assert_one_sentence(run("evaluate", folder, *pairs, "--tsv", files[0]), "not both")
    assert_one_sentence(run("evaluate", folder, "--pairs", files[0], "no.fr"), "no.fr")
    for place in (files[0] / "x.json", files[0] / "new" / "x.json"):
        result = run("evaluate", folder, *pairs, "--json", place, "--beam", 1)
        assert_one_sentence(result, f"x.json can't be written: {files[0]} is not a folder")
        assert result.out == ""  # nothing was translated
    sources, targets = (path.read_text(encoding="utf-8").splitlines() for path in files)
    sources[6] = targets[4] = "two " * 70  # a right translation may have any length
    for path, texts in zip(files, (sources, targets), strict=True):
        path.write_text("\n".join(texts), encoding="utf-8")
    problem = "has 70 subwords, the model takes at most 63"
    assert_one_sentence(run("evaluate", folder, *pairs), f"{files[0]}, line 7: ", problem)


def test_scores_are_written_before_they_are_printed(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard output may be full, or a reader may have gone."""

    def fail(*_: object) -> None:
        raise OutputError

    monkeypatch.setattr(cli, "_print_scores", fail)
    command = ["evaluate", trained_run(), "--pairs", *files, "--beam", 1]
    with pytest.raises(OutputError):
        cli.app([*map(str, command), "--json", str(tmp_path / "scores.json")])
    assert json.loads((tmp_path / "scores.json").read_text())["n_pairs"] == len(number_pairs())


def fail_inside(*_: object, **__: object) -> None:
    list(zip([1], [], strict=True))


def fail_in_torch(*_: object, **__: object) -> None:
    raise ValueError("a message\nof a library")


fail_in_torch.__code__ = fail_in_torch.__code__.replace(co_filename="/lib/torch/somewhere.py")


@pytest.mark.parametrize("how", ["option", "variable"])
@pytest.mark.parametrize("failing", [fail_inside, fail_in_torch])
def test_a_mistake_in_the_program_keeps_its_traceback(
    run: Run,
    files: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    failing: Callable[..., None],
) -> None:
    arguments = ["train", "--pairs", *files, "--out", tmp_path / "run", *QUICK]
    monkeypatch.setattr(cli, "train_translator", failing)
    monkeypatch.delenv("TRANSFORMER_COURSE_DEBUG", raising=False)
    hint = "this looks like a mistake in the program: --debug shows where it comes from"
    assert_one_sentence(run(*arguments), hint)
    (tmp_path / "run" / "run.json").unlink()
    if how == "variable":
        monkeypatch.setenv("TRANSFORMER_COURSE_DEBUG", "1")
    result = run(*arguments, *(["--debug"] if how == "option" else []))
    assert result.status == 1
    assert "Traceback (most recent call last)" in result.err
    assert failing.__name__ in result.err
    last = result.err.rstrip().split("\n")[-1]
    assert last.startswith("error: ")
    assert "--debug" not in last


def test_a_mistake_in_our_own_lines_is_told_from_a_sentence_of_ours() -> None:
    class Forgetful:
        def encode(self, texts: list[str]) -> list[list[int]]:
            return [[3]] if texts[0] == "one" else []

    for call in (
        lambda: encode_pairs(Forgetful(), number_pairs()[:1]),  # zip(strict=True) in the package
        lambda: split_pairs(number_pairs()[:1]),
    ):
        with pytest.raises(ValueError, match=r"zip\(\)|there must be 2 or more") as found:
            call()
        assert cli._looks_internal(found.value) == ("zip" in str(found.value))


@pytest.mark.parametrize("command", ["translate", "evaluate", "score", "attention", "export"])
def test_a_run_that_is_not_there_is_told_by_its_name(
    run: Run, files: list[Path], tmp_path: Path, command: str
) -> None:
    rest = {"translate": ["one"], "attention": ["one"], "export": ["--to", "hub"]}
    options = rest.get(command, ["--pairs", *files])
    assert_one_sentence(run(command, "not/here", *options), "error: there is no folder not/here")
    (tmp_path / "file").touch()
    told = f"error: there is no folder {tmp_path / 'file'}"
    assert_one_sentence(run(command, tmp_path / "file", *options), told)


def test_a_mistake_of_the_user_is_told_without_that_hint(run: Run, tmp_path: Path) -> None:
    told = run("translate", tmp_path, "one")
    assert_one_sentence(told, "vocabulary.json is missing")
    assert "--debug" not in told.err
    told = run("translate", trained_run(), "one", "--beam", 0)
    assert_one_sentence(told, "beam (0) must be 1 or more")
    assert "--debug" not in told.err
    assert "Traceback" in run("translate", tmp_path, "one", "--debug").err


def test_ctrl_c_while_torch_loads_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "transformer_course.cli", Loading())
    with pytest.raises(SystemExit, match="stopped"):
        entry_point.main()


SETTINGS = """
import os, sys
from transformer_course.__main__ import main
sys.argv = ["transformer-course", "translate", "no such run", "x", "--threads", "3"]
try:
    main()
finally:
    names = "TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    print(*(os.environ[name] for name in names))
"""


@pytest.mark.parametrize("values", [["true", "3", "20000"], ["0", "2", "7"]])
def test_settings_of_libraries_are_ours_or_what_the_user_says(values: list[str]) -> None:
    ours = ["TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"]
    environment = {k: v for k, v in os.environ.items() if k not in ours}
    if values[0] == "0":
        environment |= dict(zip(ours, values, strict=True))
    process = [sys.executable, "-c", SETTINGS]
    done = subprocess.run(process, env=environment, capture_output=True, text=True, timeout=120)
    assert "no such run" in done.stderr
    assert done.stdout.split() == values


def test_data_without_any_source_is_refused() -> None:
    for files in ((), ("a", "b", "c")):
        with pytest.raises(ValueError, match="must be one tab-separated file or two aligned ones"):
            runs.Data(files=files).load()
