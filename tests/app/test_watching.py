"""Watching a training, and repeating it: logs for other programs, options in a file."""

import csv
import io
import json
import math
import struct
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, assert_one_sentence
from small_runs import small_recipe
from tensorboardX.proto.event_pb2 import Event

from transformer_course import cli
from transformer_course.checkpoints import CheckpointError, load_tensors
from transformer_course.recipe import Recipe
from transformer_course.recipe.data import Data
from transformer_course.recipe.log import NUMBERS, Log
from transformer_course.recipe.options import NAME, options_of, read_options, toml_text
from transformer_course.runs import RECIPES, load_run
from transformer_course.training import Progress

SMALL = [
    *("--layers", 1, "--d-model", 16, "--heads", 2, "--d-ff", 16, "--vocab-size", 270),
    *("--precision", "fp32", "--max-tokens", 200, "--warmup", 3, "--rate", 0.01),
    *("--validate-every", 5, "--steps", 25, "--device", "cpu"),
]


@pytest.fixture
def command(files: list[Path]) -> list[object]:
    return ["train", "--pairs", *files, *SMALL]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def events(folder: Path) -> list[Event]:
    """What stands in TensorBoard's files: length, its checksum, data, its checksum, and so on."""
    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            found.append(Event.FromString(data[12 : 12 + length]))
            data = data[16 + length :]
    return found


# --log


def test_numbers_and_samples_are_logged_as_csv(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    told: list[Any] = []
    original = Log.update
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Log, "update", lambda log, p: (told.append(p), original(log, p)))
        assert run(*command, "--out", tmp_path / "run", "--log", "csv").status == 0
    logged = rows(tmp_path / "run" / "log.csv")
    assert [row["step"] for row in logged] == ["1", "10", "20", "25"]
    history = json.loads((tmp_path / "run" / "history.json").read_text())
    assert float(logged[-1]["valid_loss"]) == pytest.approx(history[-1]["loss"], rel=1e-5)
    for row in logged:
        progress = told[int(row["step"]) - 1]
        for name in ("loss", "rate", "gradient_norm", "tokens_per_second"):
            assert float(row[name]) == pytest.approx(getattr(progress, name), rel=1e-5)
        assert float(row["memory_mb"]) > 10
    assert [row["valid_loss"] == "" for row in logged] == [True, False, False, False]
    recipe = Recipe.load(tmp_path / "run").training
    assert [p.rate for p in told] == [recipe.rate(p.step, 16) for p in told]
    assert all(0 < p.gradient_norm < math.inf for p in told)
    samples = rows(tmp_path / "run" / "samples.csv")
    assert [row["step"] for row in samples] == [
        s for s in ("5", "10", "15", "20", "25") for _ in "123"
    ]
    assert len({row["source"] for row in samples}) == 3
    assert all(row["translation"] is not None for row in samples)


def test_a_log_changes_no_weight(run: Run, command: list[object], tmp_path: Path) -> None:
    run(*command, "--out", tmp_path / "silent", "--average", 3)
    run(*command, "--out", tmp_path / "logged", "--average", 3, "--log", "csv")
    one, two = (load_tensors(tmp_path / n / "model.safetensors")[0] for n in ("silent", "logged"))
    assert all(tensor.equal(two[name]) for name, tensor in one.items())
    steps = [row["step"] for row in rows(tmp_path / "logged" / "samples.csv")]
    assert steps.count("25") == 3  # the average at the end adds none


@pytest.mark.parametrize("kind", ["csv", "tensorboard"])
def test_a_resumed_run_goes_on_with_its_log(
    run: Run, command: list[object], tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "run"
    run(*command, "--out", out, "--log", kind)
    newest = sorted((out / "checkpoints").iterdir(), key=lambda path: path.stat().st_mtime)[-1]
    newest.unlink()  # of update 25; that of another one is left
    (out / "model.safetensors").unlink()
    assert run("train", "--out", out, "--resume", "--steps", 25).status == 0
    if kind == "csv":
        steps = [int(row["step"]) for row in rows(out / "log.csv")]
        assert steps == sorted(set(steps))
        assert steps[-1] > 10
        samples = [row["step"] for row in rows(out / "samples.csv")]
        assert samples == [step for step in ("5", "10", "15", "20", "25") for _ in "123"]
        return
    found = events(out / "tensorboard")
    again = [event for event in found if event.session_log.status == 1]  # it starts here anew
    assert [event.step for event in again] == [1, 21]
    assert {value.tag for event in found for value in event.summary.value} >= set(NUMBERS)


def test_tensorboard_gets_the_numbers_and_the_texts(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    run(*command, "--out", tmp_path / "both", "--log", "csv")
    run(*command, "--out", tmp_path / "run", "--log", "tensorboard")
    found = events(tmp_path / "run" / "tensorboard")
    losses = {
        event.step: value.simple_value
        for event in found
        for value in event.summary.value
        if value.tag == "loss"
    }
    wanted = {int(row["step"]): float(row["loss"]) for row in rows(tmp_path / "both" / "log.csv")}
    assert losses == pytest.approx(wanted, rel=1e-5)
    texts = [v for e in found for v in e.summary.value if v.tag.startswith("sample_1")]
    source = rows(tmp_path / "both" / "samples.csv")[0]["source"]
    assert len(texts) == 5
    assert texts[0].tensor.string_val[0].decode().startswith(f"{source}\n\n")


def test_what_cannot_be_logged_is_refused(
    run: Run, command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    result = run(*command, "--out", out, "--log", "xml")
    assert_one_sentence(result, "log ('xml') must be csv or tensorboard")
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    result = run(*command, "--out", out, "--log", "tensorboard")
    assert_one_sentence(result, 'tensorboardX is missing: run pip install ".[watch]" in the folder')
    assert not out.exists()


@pytest.mark.parametrize(
    "row", [b"7,\xff\n", b'7,"' + b"x" * 140_000 + b'"\n', b"7" * 5000 + b",1\n"]
)
def test_a_damaged_log_is_named(tmp_path: Path, row: bytes) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(f"step,{','.join(NUMBERS)}\n".encode() + row)
    log = Log("csv", tmp_path, [])
    with pytest.raises(CheckpointError, match=rf"^{path} is damaged: .*; move it away$"):
        log.update(Progress(1, 9, 1.0, None, 1.0, 1.0))


def test_a_log_that_is_refused_leaves_the_run_as_it_was(
    run: Run, command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    run(*command, "--out", out)
    before = (out / NAME).read_bytes()
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    for kind, told in (("cvs", "log ('cvs') must be csv"), ("tensorboard", "is missing")):
        assert_one_sentence(run("train", "--out", out, "--resume", "--log", kind), told)
        assert (out / NAME).read_bytes() == before
    (out / "samples.csv").write_text("mine,yours\n1,2\n")
    result = run("train", "--out", out, "--resume", "--log", "csv")
    assert_one_sentence(result, "samples.csv is no log of a run: move it away")
    assert ((out / NAME).read_bytes(), len([*out.glob("*.csv")])) == (before, 1)
    assert run("train", "--out", out, "--resume").status == 0


# --resume


def test_a_run_goes_on_where_and_how_it_computed(
    run: Run, command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    run(*command, "--out", out)
    text = (out / NAME).read_text(encoding="utf-8")
    text = text.replace("shard = false\ncompile = false\n", "shard = true\ncompile = true\n")
    (out / NAME).write_text(text, encoding="utf-8")
    asked: list[dict[str, Any]] = []

    def stop(*_: object, **settings: Any) -> tuple[None, str]:
        asked.append(settings)
        settings["report"](Progress(20, 25, 1.0, None, 100.0, 1.0, 0.01, 1.0))
        return None, "interrupted"

    monkeypatch.setattr(cli, "train_translator", stop)
    told = run("train", "--out", out, "--resume").out
    assert told.endswith(f"Go on with: {cli._go_on(out)}\n")
    assert {"device": "cpu", "shard": True, "compiled": True}.items() <= asked[0].items()
    assert (out / NAME).read_text(encoding="utf-8") == text

    (out / NAME).write_text(text.replace('"cpu"', '"cuda:99"'), encoding="utf-8")
    result = run("train", "--out", out, "--resume")
    assert_one_sentence(result, "device ('cuda:99') must be there", "--device cpu computes without")
    (tmp_path / "mine.toml").write_text("compile = false\n")
    run("train", "--out", out, "--resume", "--device", "cpu", "--config", tmp_path / "mine.toml")
    assert {"device": "cpu", "shard": True, "compiled": False}.items() <= asked[1].items()
    changed = (out / NAME).read_text(encoding="utf-8")
    assert changed == text.replace("compile = true", "compile = false")
    (out / NAME).write_text(text, encoding="utf-8")
    run("train", "--out", out, "--resume", "--no-shard", "--no-compile")
    assert {"shard": False, "compiled": False}.items() <= asked[2].items()


def test_options_that_are_refused_are_not_kept(
    run: Run, command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    run(*command, "--out", out)
    before = (out / NAME).read_bytes()

    def refuse(*_: object, **settings: Any) -> None:
        raise ValueError("compile needs a C++ compiler" * settings["compiled"] or "no")

    with monkeypatch.context() as patch:
        patch.setattr(cli, "train_translator", refuse)
        result = run("train", "--out", out, "--resume", "--compile", "--log", "csv")
    assert_one_sentence(result, "compile needs a C++ compiler")
    assert (out / NAME).read_bytes() == before
    assert run("train", "--out", out, "--resume", "--steps", 30, "--log", "csv").status == 0
    assert (out / NAME).read_bytes() != before


@pytest.mark.parametrize("steps", [100, 300])
def test_a_repeated_command_goes_on_with_the_shortened_warm_up(
    run: Run, command: list[object], tmp_path: Path, steps: int
) -> None:
    run(*command, "--out", tmp_path / "one", "--steps", 5)
    text = (tmp_path / "one" / NAME).read_text(encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("warmup = 3", "warmup = 200"))
    again = ["train", "--config", file, "--steps", steps // 20, "--out", tmp_path / "two"]
    assert run(*again).status == 0
    first = Recipe.load(tmp_path / "two").training
    assert run(*again, "--resume").status == 0
    assert Recipe.load(tmp_path / "two").training == first
    assert first.warmup_steps < first.max_steps


# --config


def test_a_run_is_repeated_from_its_options(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    first = run(*command, "--out", tmp_path / "one")
    path = tmp_path / "one" / NAME
    text = path.read_text(encoding="utf-8")
    assert first.out.startswith(text.partition("\n")[2])  # printed without the first line
    again = run("train", "--config", path, "--out", tmp_path / "two")
    assert (again.status, again.out.splitlines()[:-1]) == (0, first.out.splitlines()[:-1])
    assert (tmp_path / "two" / NAME).read_text(encoding="utf-8") == text
    recipes = [Recipe.load(tmp_path / name).settings() for name in ("one", "two")]
    assert recipes[0] == recipes[1]
    assert load_run(tmp_path / "two") == load_run(tmp_path / "one")
    one, two = (load_tensors(tmp_path / n / "model.safetensors")[0] for n in ("one", "two"))
    assert all(tensor.equal(two[name]) for name, tensor in one.items())


def test_the_command_line_goes_before_the_file(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    run(*command, "--out", tmp_path / "one")
    path = tmp_path / "mine.toml"
    text = (tmp_path / "one" / NAME).read_text(encoding="utf-8")
    path.write_text(f'out = "{tmp_path / "two"}"\n{text}'.replace("steps = 25", "steps = 4"))
    assert run("train", "--seed", 7, "--config", path).status == 0
    training = Recipe.load(tmp_path / "two").training
    assert (training.seed, training.max_steps, training.max_tokens) == (7, 4, 200)
    result = run("train", "--config", path, "--resume", "--dropout", 0.5)
    assert_one_sentence(result, "was started with dropout = 0.1, not 0.5")
    result = run("train", "--config", path, "--resume", "--steps", 6, "--seed", 7)
    assert result.status == 0, result
    saved = tomllib.loads((tmp_path / "two" / NAME).read_text(encoding="utf-8"))
    assert (saved["steps"], saved["seed"]) == (6, 7)


@pytest.fixture
def begun(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Data, Recipe]]:
    """What would be trained by a file and further options."""

    def begin(text: str, *options: object) -> tuple[Data, Recipe]:
        found: list[tuple[Data, Recipe]] = []
        monkeypatch.setattr(cli, "_train", lambda *given: found.append(given[:2]))
        monkeypatch.setattr(cli, "load_vocabulary", lambda folder: range(259))
        (tmp_path / "mine.toml").write_text(text)
        config = ["--config", tmp_path / "mine.toml"]
        result = run("train", *options, *config, "--out", tmp_path / "run")
        assert result.status == 0, result
        return found[0]

    return begin


RULES = 'corpus = "grammar"\nn-pairs = 9\nlanguages = "fr-en"\n'
FILES = 'tsv = "/a"\nvalid-tsv = "/b"\nvocab-size = 300\n'


@pytest.mark.parametrize(
    ("text", "options", "data"),
    [
        (RULES, "--tsv /c", Data(files=("/c",))),
        (RULES, "--tsv /c --valid-tsv /d", Data(files=("/c",), valid_files=("/d",))),
        (RULES, "--data /c", Data(prepared="/c")),
        (FILES, "--pairs /c /d", Data(files=("/c", "/d"))),
        (FILES, "--data /c", Data(prepared="/c")),
        ('form = "raw"\ndata = "/a"\n', "--corpus grammar", Data(corpus="grammar")),
        # the same kind of data, or none: what is given, and the rest of the file
        (FILES, "--tsv /c", Data(files=("/c",), valid_files=("/b",))),
        (FILES, "--valid-pairs /c /d", Data(files=("/a",), valid_files=("/c", "/d"))),
        (RULES, "--n-pairs 7", Data(corpus="grammar", n_pairs=7, languages="fr-en")),
        (RULES, "--corpus everyday", Data(corpus="everyday", n_pairs=9, languages="fr-en")),
        ("n-pairs = 9", "--corpus grammar", Data(corpus="grammar", n_pairs=9)),
    ],
)
def test_data_given_here_take_the_place_of_others_in_the_file(
    begun: Callable[..., tuple[Data, Recipe]], text: str, options: str, data: Data
) -> None:
    found, recipe = begun(text, *options.split())
    assert found == data
    if data.prepared:
        assert recipe.vocab_size == 259


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (
            "--recipe small-corpus",
            "preset, layers, decoder-layers, d-model, heads, d-ff, vocab-size, ",
        ),
        ("--preset small", "layers, decoder-layers, d-model, heads, d-ff; give these here, too"),
        ("--layers 3", "decoder-layers; give"),
        ("--layers 3 --decoder-layers 1", ""),
        ("--preset narrow --layers 1 --decoder-layers 1 --d-model 8 --heads 1 --d-ff 8", ""),
    ],
)
def test_an_option_for_several_is_not_half_obeyed(
    run: Run, command: list[object], tmp_path: Path, options: str, left: str
) -> None:
    run(*command, "--out", tmp_path / "one")
    config, out = tmp_path / "one" / NAME, tmp_path / "two"
    result = run("train", "--config", config, *options.split(), "--out", out)
    if left:
        assert_one_sentence(result, f"also decides what the file of --config sets: {left}")
        assert not out.exists()
    else:
        assert result.status == 0, result
        assert Recipe.load(out).settings()["n_decoder_layers"] == 1


@pytest.mark.parametrize(
    ("text", "options", "warmup"),
    [
        ("steps = 7000\nwarmup = 200", "--steps 100", 10),
        ("steps = 7000\nwarmup = 200", "--steps 300", 200),
        ("steps = 7000\nwarmup = 200", "--steps 100 --warmup 150", 150),
        ("steps = 100\nwarmup = 200", "", 200),
    ],
)
def test_fewer_steps_shorten_the_warm_up_of_the_file(
    begun: Callable[..., tuple[Data, Recipe]], text: str, options: str, warmup: int
) -> None:
    _, recipe = begun(f'tsv = "/a"\n{text}\n', *options.split())
    assert recipe.training.warmup_steps == warmup


@pytest.mark.parametrize("data", ['corpus = "grammar"', 'pairs = ["/a", "/b"]'])
def test_another_corpus_is_not_trained_on_with_the_settings_of_the_file(
    run: Run, tmp_path: Path, data: str
) -> None:
    (tmp_path / "mine.toml").write_text(f"{data}\nsteps = 7\nvocab-size = 300\n")
    config = ["--config", tmp_path / "mine.toml", "--out", tmp_path / "run"]
    result = run("train", "--corpus", "everyday", *config)
    told = "--corpus also decides what the file of --config sets: vocab-size, steps; give these"
    assert_one_sentence(result, told)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "text",
    ['corpus = "everyday"', "seed = 3", 'corpus = "grammar"\nrecipe = "everyday"'],
)
def test_a_corpus_goes_with_a_file_that_was_meant_for_it(
    begun: Callable[..., tuple[Data, Recipe]], text: str
) -> None:
    data, recipe = begun(f"{text}\nsteps = 7\n", "--corpus", "everyday")
    assert (data.corpus, recipe.training.max_steps, recipe.vocab_size) == ("everyday", 7, 5000)


def test_a_file_of_ones_own_may_change_a_recipe(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('recipe = "small-corpus"\nsteps = 2\nd-model = 8\nheads = 1\nlayers = 1\n')
    result = run("train", *command[1:4], "--config", path, "--out", tmp_path / "run")
    assert result.status == 0, result
    recipe = Recipe.load(tmp_path / "run")
    assert (recipe.dropout, recipe.training.max_steps, recipe.d_model) == (0.3, 2, 8)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("steps = ", "is no TOML"),
        ("steps = " + "[" * 10_000, "is no TOML"),
        ("stepz = 3", "there is no option 'stepz'; see train --help"),
        ("config = 'x.toml'", "there is no option 'config'"),
        ("steps = true", "steps must not be true"),
        ("tsv = false", "tsv must not be false"),
    ],
)
def test_a_wrong_file_is_refused(run: Run, tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    result = run("train", "--config", path, "--out", tmp_path / "run")
    assert_one_sentence(result, f"{path}", problem)
    result = run("train", "--config", tmp_path / "none.toml", "--out", tmp_path / "run")
    assert_one_sentence(result, "none.toml can't be read")


def test_a_wrong_value_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('steps = "many"\ncorpus = "grammar"\n')
    result = run("train", "--config", tmp_path / "mine.toml", "--out", tmp_path / "run")
    assert_one_sentence(result, "--steps", status=2)


@pytest.mark.parametrize(
    ("data", "recipe"),
    [
        (Data(corpus="grammar", n_pairs=50), RECIPES["grammar"]),
        (Data(corpus="multi30k", folder="x", languages="de-en"), RECIPES["multi30k"]),
        (Data(files=("a.tsv",), valid_files=("v.en", "v.fr")), small_recipe(average=3)),
        (Data(prepared='a "b" \\ ü'), Recipe(d_model=64, n_decoder_layers=1)),
        (Data(files=("\U0001f600\U00020bb7.en", "\n\r\t\x01\x7f\x85\u2028\ufeff.fr")), Recipe()),
    ],
)
def test_every_option_stands_in_the_file(data: Data, recipe: Recipe, tmp_path: Path) -> None:
    """But for those that say where, and how to go on."""
    options = options_of(data, recipe)
    path = tmp_path / "x.toml"
    for encoding in ("utf-8", "utf-8-sig"):  # some editors put a byte-order mark in front
        path.write_text(toml_text(options), encoding=encoding)
        assert read_options(path) == options
    command = cli.typer.main.get_command(cli.app).commands["train"]  # type: ignore[attr-defined]
    names = {p.opts[0].removeprefix("--") for p in command.params}
    others = {"out", "resume", "checkpoint", "debug", "help", "config", "threads", "device", "log"}
    others |= {"shard", "compile"}  # the command adds these to the others
    others |= {"recipe"}  # all that it stands for is there
    of_data = {"corpus", "pairs", "tsv", "data", "valid-pairs", "valid-tsv"}
    of_data |= {"n-pairs", "folder", "languages", "form"}
    assert names - others - of_data - options.keys() == ({"vocab-size"} if data.prepared else set())
    assert options.keys() <= names


def test_a_name_that_is_no_utf_8_is_refused_before_anything_is_written(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "caf\udce9.tsv"
    result = run("train", "--tsv", path, "--out", tmp_path / "run")
    told = "caf\\udce9.tsv') can't be kept in config.toml, as it is no UTF-8: rename the file"
    assert_one_sentence(result, f"tsv ('{tmp_path}", told)
    assert not (tmp_path / "run").exists()


def test_options_that_the_terminal_cannot_show_are_no_reason_not_to_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    text = toml_text({"tsv": "\U0001f600.tsv", "steps": 3})
    assert cli._begin_log(tmp_path, text, None, []) is None


def test_a_strange_file_of_that_name_is_not_written_over(
    run: Run, command: list[object], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / NAME).write_text("mine = 1\n")
    result = run(*command, "--out", tmp_path / "run")
    assert_one_sentence(result, f"{NAME} was written by no run")
    assert (tmp_path / "run" / NAME).read_text() == "mine = 1\n"
