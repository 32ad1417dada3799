"""The command `transformer-course` (chapter 07): train, translate, evaluate, score, attention, check, …

What each option means is said at its command, and by `--help`. Errors are one sentence on standard error and
exit status 1, also where output can't be written (`streams`); wrong usage exits with 2, Ctrl-C with 130.
With `--debug`, or TRANSFORMER_COURSE_DEBUG=1 in the environment, the traceback stands before the sentence.
"""

import io
import json
import os
import shlex
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import (
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
    suppress,
)
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
import xxhash
from tqdm import tqdm

from transformer_course import __version__
from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    replacing,
    write_atomically,
    write_json,
)
from transformer_course.checkpoints.files import behind_link
from transformer_course.checks import progress
from transformer_course.checks.grading import Mark, find_notebooks, mark_notebook, require_fence
from transformer_course.checks.marks_table import marks_table, refuse_other_table
from transformer_course.corpus.lenient import (
    BrokenOffError,
    Line,
    line_of_text,
    read_each,
    read_each_of_file,
)
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.prepare import check_wishes, prepare, report_text
from transformer_course.corpus.shards import Shards
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import ParallelModel
from transformer_course.devices import find_device
from transformer_course.evaluation import (
    Scores,
    evaluate_by_phenomenon,
    evaluate_pairs,
    likelihood,
)
from transformer_course.export import KINDS as EXPORTS
from transformer_course.export import export_run
from transformer_course.export.exported import MOST_THREADS
from transformer_course.fast import computes_bf16
from transformer_course.info import info_text, run_info
from transformer_course.lines import Answer, translate_lines
from transformer_course.recipe import (
    PairError,
    Recipe,
    refuse_used,
    train_translator,
)
from transformer_course.recipe.data import WRITTEN, check_use
from transformer_course.recipe.log import Log, check_log
from transformer_course.recipe.options import HEAD, options_of, read_options, toml_text
from transformer_course.recipe.options import NAME as CONFIG
from transformer_course.recipe.settings import NAMED_RECIPES
from transformer_course.recipe.writing import check_output, only_writer
from transformer_course.runs import (
    Data,
    load_held_out,
    load_run,
    read_files,
    save_run,
    was_begun_by,
)
from transformer_course.serve import is_loopback, serve
from transformer_course.streams import OutputError
from transformer_course.training import (
    DivergedError,
    Processes,
    Progress,
    ToldElsewhereError,
    joined,
)
from transformer_course.training.processes import job, local_rank
from transformer_course.training.resuming import CHANGEABLE, may_change
from transformer_course.translator import (
    AttentionMaps,
    Model,
    Translator,
    length_limit,
    load_vocabulary,
)
from transformer_course.unfinished import Done, Unfinished, unfinished
from transformer_course.waiting import told_if_long

app = typer.Typer(
    help="Train a Transformer on sentence pairs, translate with it, evaluate it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _folder(text: str) -> Path:
    """A folder's name; an empty one would be the folder where one is."""
    if not text:
        raise typer.BadParameter("it must name a folder")
    return Path(text)


Out = Annotated[Path, typer.Option(parser=_folder, metavar="PATH", help="Folder of the run.")]
Run = Annotated[Path, typer.Argument(help="Folder of a trained run.")]
Files = tuple[Path, Path] | None
Device = Annotated[
    str, typer.Option(help="cpu, cuda or mps; auto: a CUDA card if there is one, else cpu.")
]
Threads = Annotated[  # more than the system has would end the process
    int | None, typer.Option(min=1, max=MOST_THREADS, help="Processor threads.")
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", envvar="TRANSFORMER_COURSE_DEBUG", help="Show where an error comes from."
    ),
]
_PACKAGE = Path(__file__).resolve().parent
_PATIENCE = 5.0  # seconds without a word
_LARGE = 10_000_000  # bytes
_LINES_AT_ONCE = 1000  # of a file: enough for full batches, and little memory
_INTERNAL = "this looks like a mistake in the program: --debug shows where it comes from"


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"transformer-course {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Say the version and end."
        ),
    ] = False,
) -> None:
    pass


def _take_config(context: typer.Context, path: Path | None) -> Path | None:
    """What a file says takes the place of options that aren't given."""
    if path:
        # Python's parameters, by the names of the options.
        known = {opt.removeprefix("--"): p for p in context.command.params for opt in p.opts}
        with _errors_in_one_sentence(debug=False):
            options = read_options(path, known.keys() - {"config", "help"})
            for name, value in options.items():  # typer would take true for 1
                if isinstance(value, bool) and not getattr(known[name], "is_flag", False):
                    raise ValueError(f"{path}: {name} must not be {str(value).lower()}")
        context.default_map = {str(known[name].name): value for name, value in options.items()}
    return path


_DATA = ("corpus", "pairs", "tsv", "data_folder")
_ONE_OF = {  # of these options one is given; what belongs to it
    _DATA: ("valid_pairs", "valid_tsv", "n_pairs", "folder", "languages", "form"),
    ("valid_pairs", "valid_tsv"): (),
}


def _take_place(context: typer.Context, option: typer.CallbackParam, value: Any) -> Any:
    """Data given here take the place of other data in the file, with all that belongs to those."""
    name, file = str(option.name), context.default_map or {}
    source = context.get_parameter_source(name)
    group = next(names for names in _ONE_OF if name in names)
    if source and source.name == "COMMANDLINE" and name not in file and file.keys() & {*group}:
        left = {*group, *_ONE_OF[group], *(["vocab_size"] if name == "data_folder" else [])}
        # The file is asked for the options that aren't given after those that are.
        file.update(dict.fromkeys(file.keys() & left))
    return value


_SIZES = ("layers", "decoder_layers", "d_model", "heads", "d_ff")
_RECIPE = (
    *("preset", *_SIZES, "vocab_size", "dropout", "label_smoothing", "r_drop", "optimizer"),
    *("steps", "max_tokens", "rate", "warmup", "validate_every", "patience", "average"),
)
_DECIDED = {  # by the options that stand for several others
    "recipe_name": _RECIPE,
    "corpus": _RECIPE,
    "preset": _SIZES,
    "layers": ("decoder_layers",),
}


def _sources(context: typer.Context) -> dict[str, str]:
    """Where the value of each parameter comes from: COMMANDLINE, DEFAULT_MAP (the file), DEFAULT, ..."""
    found = {name: context.get_parameter_source(name) for name in context.params}
    return {name: source.name for name, source in found.items() if source}


def _kept(context: typer.Context, out: Path) -> dict[str, Any]:
    """Options that may be others when a run goes on: as it had them last, where nothing is said of them."""
    path, said = out / CONFIG, _sources(context)
    saved = read_options(path) if path.exists() else {}
    params = {p.opts[0].removeprefix("--"): p for p in context.command.params}
    names = ("threads", "device", "shard", "compile", "log")
    unsaid = [n for n in names if n in saved and said[str(params[n].name)] == "DEFAULT"]
    return {name: params[name].process_value(context, saved[name]) for name in unsaid}


def _refuse_half(context: typer.Context) -> None:
    """Beside a file that sets what it decides, an option that stands for several would be half obeyed."""
    said, file = _sources(context), context.default_map or {}
    same = not file.keys() & {*_DATA} or file.get("corpus") == context.params["corpus"]
    for option, decided in _DECIDED.items():
        if option == "corpus" and (same or context.params["recipe_name"]):
            continue  # the settings were meant for it, or come from elsewhere
        left = [name.replace("_", "-") for name in decided if said[name] == "DEFAULT_MAP"]
        if said[option] == "COMMANDLINE" and left:
            raise ValueError(
                f"--{option.removesuffix('_name')} also decides what the file of --config sets: "
                f"{', '.join(left)}; give these here, too, or take them out of the file"
            )


@app.command()
def train(
    context: typer.Context,
    out: Out,
    corpus: Annotated[
        str | None,
        typer.Option(callback=_take_place, help="By name: grammar, everyday or multi30k."),
    ] = None,
    pairs: Annotated[
        Files, typer.Option(callback=_take_place, help="Two aligned files, plain or gzip.")
    ] = None,
    tsv: Annotated[
        Path | None, typer.Option(callback=_take_place, help="One file, source TAB target.")
    ] = None,
    data_folder: Annotated[
        Path | None,
        typer.Option(
            "--data", callback=_take_place, help="A folder that the command prepare wrote."
        ),
    ] = None,
    valid_pairs: Annotated[
        Files, typer.Option(callback=_take_place, help="Aligned files to validate on.")
    ] = None,
    valid_tsv: Annotated[
        Path | None, typer.Option(callback=_take_place, help="The same as one file.")
    ] = None,
    n_pairs: Annotated[
        int | None,
        typer.Option(min=1, help=f"Pairs written by rules, {Data.n_pairs:,} if left out."),
    ] = None,
    folder: Annotated[Path | None, typer.Option(help="Local folder of Multi30k.")] = None,
    languages: Annotated[
        str | None,
        typer.Option(help="Grammar: en-fr if left out, or fr-en; Multi30k: en-de if left out, ..."),
    ] = None,
    form: Annotated[
        str | None, typer.Option(help=f"Multi30k: {Data.form} if left out, or raw.")
    ] = None,
    recipe_name: Annotated[
        str | None,
        typer.Option("--recipe", help=f"Settings to start from: {', '.join(NAMED_RECIPES)}."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="transformer if left out, or nat, or mask-predict.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="tiny, narrow, small or base.")] = None,
    layers: Annotated[
        int | None,
        typer.Option(help="Of the encoder, and of the decoder; the preset's if left out."),
    ] = None,
    decoder_layers: Annotated[
        int | None, typer.Option(help="Of the decoder, if not as many as of the encoder.")
    ] = None,
    d_model: Annotated[int | None, typer.Option(help="Width of the model; as --layers.")] = None,
    heads: Annotated[int | None, typer.Option(help="They divide --d-model; as --layers.")] = None,
    d_ff: Annotated[int | None, typer.Option(help="Width of feed-forward; as --layers.")] = None,
    vocab_size: Annotated[int | None, typer.Option(help="Subwords of both languages.")] = None,
    dropout: Annotated[float | None, typer.Option(help="0 to below 1.")] = None,
    label_smoothing: Annotated[float | None, typer.Option(help="0 to below 1.")] = None,
    r_drop: Annotated[
        float | None, typer.Option(help="Weight of R-Drop, such as 5: twice the time and memory.")
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option(help="adam, or muon for the matrices inside the layers.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Updates of the weights.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Padded positions a batch.")] = None,
    rate: Annotated[float | None, typer.Option(help="Highest learning rate.")] = None,
    warmup: Annotated[int | None, typer.Option(help="Updates until it is reached.")] = None,
    validate_every: Annotated[int | None, typer.Option(help="Updates between two.")] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after so many validations without a lower loss; 0: never."),
    ] = None,
    average: Annotated[
        int | None,
        typer.Option(help="Take the mean of the last so many checkpoints, if it validates better."),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(help="fp32, bf16 or fp16; the faster of the first two if left out."),
    ] = None,
    accumulate: Annotated[
        int | None, typer.Option(help="Compute a batch in so many parts, for less memory.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Decides all that is random.")] = None,
    threads: Threads = None,
    device: Device = "auto",
    shard: Annotated[
        bool, typer.Option("--shard/--no-shard", help="Each process keeps a part of the weights.")
    ] = False,
    compiled: Annotated[
        bool, typer.Option("--compile/--no-compile", help="Have torch compile the layers first.")
    ] = False,
    log: Annotated[
        str | None, typer.Option(help="Write numbers and samples into --out: csv or tensorboard.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            is_eager=True, callback=_take_config, help="Options in TOML; those given here go first."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run.")] = False,
    checkpoint: Annotated[
        str | None,
        typer.Option(help="With --resume: from this one; later ones go at its next save."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Train a translator and write it to a folder.

    The weights are those of the best validation, or the mean of the last --average checkpoints if that has a
    lower loss.

    With --resume, options that are repeated must say what they said before. These may change: a lower --rate or
    a longer --warmup lets a run go on that has diverged, more --patience (or 0) one that has stopped early;
    with more --steps the run is made longer. From there on the learning rate is the one that a run of so many
    updates has at each step, so the warm-up is not repeated. At the end of a run the rate is 0; it jumps up to
    where the longer run has it, and the loss may rise for a while. --accumulate may be any other, and so may
    --threads, --device, --shard, --compile and --log; left out, they are as config.toml in the folder says.

    Started by torchrun, several processes train one translator: torchrun --nproc-per-node 2 -m
    transformer_course train ... Each computes its part of every batch, so --max-tokens and all else mean the
    same. With --max-restarts, torchrun starts all again when one has died, and the run goes on. With --shard,
    for models that fit no device, each keeps a part of the weights.

    All options of a run are printed, and written to config.toml in its folder; --config reads such a file.
    """
    data_wishes: dict[str, Any] = {
        "corpus": corpus,
        "n_pairs": n_pairs,
        "folder": os.path.abspath(folder) if folder else None,
        "languages": languages,
        "form": form,
        "prepared": os.path.abspath(data_folder) if data_folder else None,
    }
    wishes = {
        "model": model,
        "preset": preset,
        "n_layers": layers,
        "n_decoder_layers": decoder_layers,
        "d_model": d_model,
        "n_heads": heads,
        "d_ff": d_ff,
        "vocab_size": vocab_size,
        "dropout": dropout,
        "label_smoothing": label_smoothing,
        "r_drop": r_drop,
        "optimizer": optimizer,
    }
    training_wishes = {
        "max_steps": steps,
        "max_tokens": max_tokens,
        "peak_rate": rate,
        "warmup_steps": warmup,
        "validate_every": validate_every,
        "patience": patience,
        "average": average,
        "precision": precision,
        "accumulate": accumulate,
        "seed": seed,
    }
    with _errors_in_one_sentence(debug, out, checkpoint):
        data_wishes |= {
            "files": _names(pairs, tsv) or None,
            "valid_files": _names(valid_pairs, valid_tsv) or None,
        }
        with joined() as processes, _one_voice(processes):
            if resume and recipe_name:
                raise ValueError("--recipe is for a new run: one that goes on has its own")
            # What torchrun has started again goes on; the first process says so, before it writes.
            begun = processes.first and was_begun_by(out, job())
            resume = resume or processes.share("again" if begun else "") == "again"
            further: dict[str, Any] = {"threads": threads, "device": device, "shard": shard}
            further |= {"compile": compiled, "log": log}
            further |= _kept(context, out) if resume else {}
            place = find_device(further["device"], local_rank())
            vocabulary = None
            said = _sources(context)
            if (said["steps"], said["warmup"]) == ("COMMANDLINE", "DEFAULT_MAP"):
                # It was meant for the steps of the file; like a recipe's, it may be shortened.
                training_wishes["warmup_steps"] = None
            else:
                warmup = None
            if resume:
                asked = _given(data_wishes | wishes | training_wishes)
                data, recipe, threads = _saved_run(out, asked, further["threads"])
            else:
                _refuse_half(context)
                data = _new_data(_given(data_wishes))
                vocabulary = load_vocabulary(Path(data.prepared)) if data.prepared else None
                start = _recipe_by_name(recipe_name or data.corpus)
                if warmup is not None:
                    start = start.with_training(warmup_steps=warmup)
                recipe = _new_recipe(start, vocabulary, wishes, training_wishes, place)
                if checkpoint:
                    raise ValueError("--checkpoint needs --resume")
                if processes.first:
                    refuse_used(out)
            further["threads"] = _set_threads(threads)
            options = options_of(data, recipe) | _given(further)
            where = {"device": str(place), "processes": processes, "vocabulary": vocabulary}
            where |= {"shard": further["shard"], "compiled": further["compile"]}
            where |= {"resume": resume, "checkpoint": checkpoint}
            outcome = _train(data, recipe, out, options, where)
        if outcome == "interrupted":
            raise typer.Exit(130)


@app.command("prepare")
def prepare_data(
    out: Annotated[
        Path,
        typer.Option(
            parser=_folder,
            metavar="PATH",
            help="A new folder, or one in which the same was begun.",
        ),
    ],
    pairs: Annotated[Files, typer.Option(help="Two aligned files: plain, gzip or zst.")] = None,
    tsv: Annotated[Path | None, typer.Option(help="One file, source TAB target.")] = None,
    tmx: Annotated[Path | None, typer.Option(help="One translation memory (TMX).")] = None,
    languages: Annotated[str, typer.Option(help="With --tmx: from-into, such as en-fr.")] = "",
    vocab_size: Annotated[int, typer.Option(help="Subwords of both languages.")] = 32_000,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="One a core if left out; a single one for small files."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Clean a corpus of any size and write it as ids, for train --data; say what was left out.

    A pair is left out if it can't be read, has an empty side, more than 2,000 characters or 511 subwords on a
    side, sides of very different lengths, or letters of another script than the file's, or if it was there
    before. Some pairs are held out, to validate on and for the command evaluate. The subwords are learnt from
    the other ones, from half a million of them if there are more.

    If it was stopped or killed, the same command goes on. No more of the corpus is in memory than a part.
    """
    with _errors_in_one_sentence(debug):
        files = _names(pairs, tsv or tmx)
        if not files or (tsv and tmx) or bool(tmx) != bool(languages):
            raise ValueError("give --pairs, or --tsv, or --tmx with --languages")
        check_wishes(files, out, languages, vocab_size)  # before there is a folder
        with only_writer(out), told_if_long(_say_on_stderr) as begin:
            record = prepare(
                files,
                out,
                languages=languages,
                vocab_size=vocab_size,
                processes=processes or _processes_for(files),
                begin=begin,
            )
        print(report_text(record))
        print(
            f"Train with: {shlex.join(['transformer-course', 'train', '--data', str(out)])} --out RUN"
        )


def _processes_for(files: tuple[str, ...]) -> int:
    """One a core; starting them takes longer than to prepare small files alone."""
    large = sum(os.path.getsize(name) for name in files if os.path.isfile(name)) > _LARGE
    return (os.cpu_count() or 1) if large else 1


@contextmanager
def _one_voice(processes: Processes) -> Iterator[None]:
    """Of the processes that train together, only the first one is heard."""
    with ExitStack() as stack:
        if not processes.first:
            nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(redirect_stdout(nowhere))
            stack.enter_context(redirect_stderr(nowhere))
        yield


def _train(
    data: Data,
    recipe: Recipe,
    out: Path,
    options: dict[str, Any],
    where: dict[str, Any],
) -> str:
    """Train, and say how it ended; `where` is what `train_translator` takes as it is."""
    first, resume, kind = where["processes"].first, where["resume"], options.get("log")
    # What can't be kept or logged is refused before anything is written.
    if first and kind:
        check_log(kind, out)
    text = toml_text(options)
    with told_if_long(_say_on_stderr) as begin:
        named = " and ".join(data.files) or data.prepared
        begin(f"reading {named or f'the corpus {data.corpus}'}")
        pairs = data.load()
        # From before the first file until the translator is there.
        with only_writer(out) if first else nullcontext():
            if first and not resume:
                refuse_used(out)
                save_run(out, data, options["threads"], pairs[2], job())
            keep = partial(write_atomically, out / CONFIG, (HEAD + text).encode())
            if first and not resume:  # what a run goes on with is kept when it has been accepted
                keep()
            log = _begin_log(out, text, kind, pairs[1]) if first else None
            if log and where["shard"] and where["processes"].count > 1:
                _say_on_stderr(
                    "Note: --log has no samples: with --shard nobody has a whole translator"
                )
            elif log:
                where = where | {"evaluate": log.samples}
            with closing(log) if log else nullcontext():
                begun = keep if first and resume else None
                outcome = _train_on(pairs, data, recipe, out, begin, where, log, begun)
    if outcome == "interrupted":
        _print_end(f"Saved. Go on with: {_go_on(out)}")
    else:
        _print_end(f"Training {outcome}; the translator is in {out}")
    return outcome


def _begin_log(out: Path, text: str, kind: str | None, valid: list[Pair]) -> Log | None:
    """Print all options, and open the log that they ask for."""
    with suppress(OutputError, UnicodeEncodeError):  # no reason not to train
        print(text, flush=True)
    return Log(kind, out, [pair.source for pair in valid]) if kind else None


def _say_on_stderr(text: str) -> None:
    with suppress(OutputError):  # no reason not to train
        tqdm.write(text, file=sys.stderr)


def _print_end(text: str) -> None:
    """Say how a training ended; on standard error if that is the only place left."""
    try:
        print(text, flush=True)
    except OutputError as error:
        raise OutputError(error.errno, f"{error.strerror}. {text}") from error


def _train_on(
    pairs: tuple[list[Pair] | Shards, list[Pair], list[Pair]],
    data: Data,
    recipe: Recipe,
    out: Path,
    begin: Callable[[str], None],
    where: dict[str, Any],
    log: Log | None,
    begun: Callable[[], None] | None,
) -> str:
    """Train with a progress bar; how it ended. `begun` is called after the first update."""
    train_pairs, valid_pairs, test_pairs = pairs
    held_out = f"{len(valid_pairs):,} to validate on"
    held_out += f", {len(test_pairs):,} for `evaluate`" if test_pairs else ""
    with suppress(OutputError):  # no reason not to train; it is told at the end
        print(f"{len(train_pairs):,} pairs to train on; held out: {held_out}", flush=True)
    if data.valid_files and isinstance(train_pairs, list) and not where["resume"]:
        _tell_seen(train_pairs, valid_pairs)
    saved = list_checkpoints(out)
    kind = torch.device(where["device"]).type
    if not computes_bf16(kind):
        if recipe.training.precision == "bf16":
            print("Note: this processor computes no bf16, so fp32 is faster here.", file=sys.stderr)
        if recipe.optimizer == "muon":
            _say_on_stderr(
                "Note: this processor computes no bf16, in which muon has its products: updates take longer."
            )
    with tqdm(
        total=recipe.training.max_steps,
        bar_format="{percentage:3.0f}%|{bar:20}| step {n_fmt} of {total_fmt}{postfix}",
        mininterval=0.1 if sys.stderr.isatty() else 10,
        delay=1e-3,  # nothing is shown before the first update
    ) as bar:

        def report(progress: Progress) -> None:
            if begun and not bar.n:
                begun()
            begin("")  # from now on the bar tells
            bar.set_postfix_str(_describe(progress), refresh=False)
            bar.update(progress.step - bar.n)
            if log:
                log.update(progress)

        def note(message: Warning | str, *_: object) -> None:
            bar.clear()
            print(f"Note: {message}", file=sys.stderr)

        try:
            with warnings.catch_warnings():
                warnings.showwarning = note  # type: ignore[assignment]
                _, outcome = train_translator(
                    train_pairs,
                    valid_pairs,
                    out,
                    recipe,
                    report=report,
                    begin=begin,
                    **where,
                )
        except DivergedError as error:
            again = f"{_go_on(out)} --rate {recipe.training.peak_rate / 4:g}"
            again += _from_the_same(out, where["checkpoint"], saved)
            raise DivergedError(f"{error}; go on with: {again}") from error
        except PairError as error:
            raise PairError(error.pair, error.problem, data.where(error.pair)) from error
        bar.refresh()
    if log and outcome != "interrupted":
        log.end(json.loads((out / "history.json").read_text(encoding="utf-8"))[-1]["loss"])
    return outcome


def _go_on(out: Path) -> str:
    return shlex.join(["transformer-course", "train", "--out", str(out), "--resume"])


def _tell_seen(trained: list[Pair], valid: list[Pair]) -> None:
    """Say how many sources of validation files are trained on, too: by these, learning by heart looks good."""
    known = {pair.source for pair in trained}
    if seen := sum(pair.source in known for pair in valid):
        _say_on_stderr(
            f"Note: of {len(valid):,} pairs to validate on, {seen:,} have a source that is trained on, too"
        )


def _from_the_same(out: Path, checkpoint: str | None, saved: list[Path]) -> str:
    """The option to go on from a `checkpoint` again; empty if none was asked for, or one was saved since."""
    if not checkpoint or list_checkpoints(out) != saved:  # until then the newest is another way
        return ""
    return f" --checkpoint {shlex.quote(checkpoint)}"


def _describe(progress: Progress) -> str:
    """The end of the progress line: losses, speed, and the time left."""
    valid = "" if progress.valid_loss is None else f"valid {progress.valid_loss:.3f}, "
    return (
        f"loss {progress.loss:.3f}, {valid}{progress.tokens_per_second:,.0f} tokens/s, "
        f"{tqdm.format_interval(progress.seconds_left)} left"
    )


@app.command()
def translate(
    run: Run,
    text: Annotated[list[str] | None, typer.Argument(help="Sentences to translate.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file with a sentence a line: plain, gzip or zst.")
    ] = None,
    beam: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.")] = 4,
    alpha: Annotated[float, typer.Option(help="Strength of the length penalty, 0 to 10.")] = 0.6,
    n_best: Annotated[
        int | None, typer.Option(help="Hypotheses a sentence, with scores; at most --beam.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file, whole or not.")] = None,
    threads: Threads = None,
    device: Device = "auto",
    debug: Debug = False,
) -> None:
    """Translate sentences given on the command line, in a file, or on standard input.

    Standard input is translated line by line, a file in batches, which is faster. There is a line out for each
    line in: a blank one for a blank one, and for one that can't be translated, whose reason is told on standard
    error. Words that the training text did not have are told there too, and translations of which the model is
    less sure than of nearly all held-out sentences.

    With --output, what is done lies in a folder of the file's name and ".part" until all is. If it was stopped
    or killed, the same command goes on, at most a thousand lines back; so it does with a whole file, where one
    was cut off.

    With --n-best there is a line for each hypothesis, in four columns separated by tabs: number of the line in,
    from 1; rank, 1 is the best; score; text. The score is the log-probability of the text, in nats, </s>
    included. The search ranks by that score divided by ((5 + subwords) / 6) ** alpha, where </s> counts as a
    subword; --alpha 0 ranks by the score itself. A blank line, and one that can't be translated, has no
    hypothesis.

    For the model mask-predict, --beam says how many lengths are tried; nat has one candidate, whatever it says.
    Neither has a length penalty, so --alpha changes nothing.
    """
    with _errors_in_one_sentence(debug):
        if text and file:
            raise ValueError("give sentences or --file, not both")
        if n_best is not None and not 1 <= n_best <= beam:
            raise ValueError(f"--n-best ({n_best}) must be 1 or more and at most --beam ({beam})")
        if output:
            check_output(run, output, [] if text else [file or _standard_input()])
        _set_threads(threads)
        translator = Translator.load(run, device)
        _check_n_best(translator.model, n_best or 1)
        if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.isatty():
            # A file of ours is one that we can read.
            sys.stdout.reconfigure(encoding="utf-8", errors=sys.stdout.errors)
        place, lines = _lines_to_translate(text, file)
        settings = {"beam": beam, "alpha": alpha, "n-best": n_best}
        at_once = _LINES_AT_ONCE if text or file or output else 1
        seen = output is None and sys.stdout.isatty()  # the lines themselves
        with (
            _written(output, run, settings, lines) as rest,
            _LinesBar(at_once > 1 and not seen) as bar,
        ):
            done = replace(rest.done) if rest else Done()
            bar.initial = bar.n = done.read
            answers = translate_lines(
                translator,
                rest.lines if rest else lines,
                beam=beam,
                alpha=alpha,
                n_best=n_best or 1,
                at_once=at_once,
            )
            for answer in answers:
                if rest and isinstance(answer.error, BrokenOffError):
                    rest.keep(done)
                    raise CorpusError(f"{place} {done.read + 1}: {answer.error}") from answer.error
                done.read += 1
                for line in _hypotheses(answer, done.read) if n_best else [answer.text]:
                    print(line, file=rest.file if rest else sys.stdout, flush=not rest)
                    done.written += 1
                _tell(answer, done.read, place, debug, bar.give_way)
                bar.update()
                done.wrong += answer.error is not None
                if rest and done.read % at_once == 0:
                    rest.keep(done)
        if output:
            read = f" (lines read: {done.read:,})" if n_best else ""
            print(f"lines written to {output}: {done.written:,}{read}", file=sys.stderr)
        if done.wrong:
            raise typer.Exit(1)


def _check_n_best(model: Model, n_best: int) -> None:
    """Refuse more hypotheses than a model that writes all words at once has of each sentence."""
    if isinstance(model, ParallelModel):
        most = model.most_hypotheses(length_limit(1, model.config.max_len))
        if n_best > most:
            raise ValueError(
                f"--n-best ({n_best}) must be at most {most}: of a short sentence this model has no more"
            )


class _LinesBar(tqdm):
    """How many lines are done, on standard error, if it takes longer than some seconds."""

    def __init__(self, shown: bool) -> None:
        self._stands_there = False
        super().__init__(
            bar_format="{n_fmt} lines, {rate_fmt}",
            unit=" lines",
            disable=not shown,
            delay=_PATIENCE,
            mininterval=1 if sys.stderr.isatty() else 10,
            leave=False,
        )

    def display(self, msg: str | None = None, pos: int | None = None) -> Any:
        self._stands_there = msg != ""
        return super().display(msg, pos)  # type: ignore[no-untyped-call]

    def give_way(self) -> None:
        """Leave the line to a message; the next update takes the one below."""
        if self._stands_there:
            self.clear()  # type: ignore[no-untyped-call]
            self._stands_there = False


@contextmanager
def _written(
    output: Path | None, run: Path, settings: dict[str, Any], lines: Iterator[Line]
) -> Iterator[Unfinished | None]:
    """Where translations are written: a file, whole or not at all, in several goes if need be; or nowhere."""
    if output is None:
        yield None
        return
    made_with = xxhash.xxh3_128()
    for name in ("model.safetensors", "vocabulary.json"):
        with (run / name).open("rb") as file:
            while chunk := file.read(2**20):
                made_with.update(chunk)
    rest = None
    try:
        by = {"translator": made_with.hexdigest(), "version of the package": __version__}
        with unfinished(output, by | settings, lines) as rest:
            if rest.done.read:
                _say_on_stderr(f"note: {rest.done.read:,} lines are translated already")
            yield rest
    except BaseException:
        if rest and rest.done.read:
            kept = (
                f"note: {rest.done.read:,} translated lines are kept in {behind_link(output)}.part"
            )
            _say_on_stderr(f"{kept}; the same command goes on after them")
        raise


def _hypotheses(answer: Answer, number: int) -> list[str]:
    return [
        f"{number}\t{rank}\t{log_prob:.4f}\t{text}"
        for rank, (log_prob, text) in enumerate(answer.hypotheses, 1)
    ]


def _standard_input() -> int:
    """Its number as an open file; -1, which is none, where it has no number."""
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return -1


def _lines_to_translate(text: list[str] | None, file: Path | None) -> tuple[str, Iterator[Line]]:
    """How messages call a line, and the lines."""
    if file:
        return f"{file}, line", read_each_of_file(file)
    if text:
        return "sentence", map(line_of_text, text)
    if sys.stdin is None:
        raise ValueError("standard input is closed; give sentences or --file")
    if sys.stdin.isatty():
        print("Type a sentence a line; Ctrl-D ends.", file=sys.stderr)
    return "standard input, line", read_each(sys.stdin.buffer)


def _tell(
    answer: Answer, number: int, place: str, debug: bool, give_way: Callable[[], None]
) -> None:
    """Say on standard error what is to be known about one line; `give_way` is called before."""
    if answer.error or answer.unseen or answer.untranslated or answer.doubtful or answer.cut:
        give_way()
    if answer.error:
        _print_error(answer.error, debug, f"{place} {number}: ")
    if answer.unseen:
        words = _quoted(answer.unseen)
        print(f"note: sentence {number}: not in the training text: {words}", file=sys.stderr)
    elif answer.untranslated:
        told = f"no usual translation of {_quoted(answer.untranslated)}: perhaps left out"
        print(f"note: sentence {number}: {told}", file=sys.stderr)
    elif answer.doubtful:
        print(f"note: sentence {number}: the model is unsure of this translation", file=sys.stderr)
    if answer.cut:
        told = "the model found no end for the translation, so it is cut"
        print(f"note: sentence {number}: {told}", file=sys.stderr)


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f'"{word}"' for word in words)


@app.command()
def evaluate(
    run: Run,
    pairs: Annotated[Files, typer.Option(help="Two aligned files, plain or gzip.")] = None,
    tsv: Annotated[Path | None, typer.Option(help="One file, source TAB target.")] = None,
    beam: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.")] = 4,
    alpha: Annotated[float, typer.Option(help="Strength of the length penalty, 0 to 10.")] = 0.6,
    tokenize: Annotated[str, typer.Option(help="sacrebleu's tokeniser: 13a, none, ...")] = "13a",
    json_out: Annotated[Path | None, typer.Option("--json", help="Write scores as JSON.")] = None,
    threads: Threads = None,
    device: Device = "auto",
    debug: Debug = False,
) -> None:
    """Score a translator: exact match, BLEU and chrF, and for the grammar by phenomenon.

    Without --pairs and --tsv, the pairs are those that the run was not trained on: what was held out from its
    files or from prepared data, 1,000 others of the grammar or of everyday speech, or the 2016 test set of
    Multi30k.

    From French into English there is no table by phenomenon: the sets know one right answer only.

    What --beam and --alpha are for the models nat and mask-predict is said at translate.
    """
    with _errors_in_one_sentence(debug):
        _set_threads(threads)
        translator, data, test = _translator_and_pairs(run, pairs, tsv, json_out, device)
        _check_sentences(translator, test, data, targets=False)
        scores = evaluate_pairs(translator, test, beam=beam, alpha=alpha, tokenize=tokenize)
        table: dict[str, dict[str, float]] = {}
        if data.corpus in WRITTEN and data.languages == "en-fr":
            table = _by_phenomenon(translator, beam, alpha)
        if json_out:  # before anything is printed, which may fail
            write_json(json_out, asdict(scores) | {"n_pairs": len(test), "phenomena": table})
        _print_scores(scores, len(test), table)


@app.command()
def score(
    run: Run,
    pairs: Annotated[Files, typer.Option(help="Two aligned files, plain or gzip.")] = None,
    tsv: Annotated[Path | None, typer.Option(help="One file, source TAB target.")] = None,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write scores as JSON.")] = None,
    threads: Threads = None,
    device: Device = "auto",
    debug: Debug = False,
) -> None:
    """Say how probable a translator finds translations that are given.

    There is a line out for each pair, in their order: the log-probability of the translation, in nats, </s>
    included. The perplexity of all subwords together is told on standard error, and written by --json. Without
    --pairs and --tsv, the pairs are those that `evaluate` takes.
    """
    with _errors_in_one_sentence(debug):
        _set_threads(threads)
        translator, data, test = _translator_and_pairs(run, pairs, tsv, json_out, device)
        _check_sentences(translator, test, data, targets=True)
        found = likelihood(translator, test)
        if json_out:
            counts = {"n_pairs": len(test), "n_tokens": found.n_tokens}
            record = {"perplexity": found.perplexity, "log_probs": found.log_probs}
            write_json(json_out, counts | record)
        for log_prob in found.log_probs:
            print(f"{log_prob:.4f}")
        told = f"of {found.n_tokens:,} subwords in {len(test):,} pairs"
        print(f"perplexity {found.perplexity:.3f}, {told}", file=sys.stderr)


def _translator_and_pairs(
    run: Path, pairs: Files, tsv: Path | None, json_out: Path | None, device: str
) -> tuple[Translator, Data, list[Pair]]:
    """A run's translator and what it is measured on: the files that are named, or the held-out pairs."""
    files = _names(pairs, tsv)
    if json_out:
        check_output(run, json_out, files)
    translator = Translator.load(run, device)
    data, test = (Data(files=files), read_files(files)) if files else load_held_out(run)
    if json_out and not files:  # the held-out pairs come from these
        folders = [Path(name) for name in (data.prepared, data.folder) if name]
        check_output(run, json_out, [*data.files, *(p for f in folders for p in f.iterdir())])
    return translator, data, test


def _check_sentences(
    translator: Translator, pairs: list[Pair], data: Data, *, targets: bool
) -> None:
    """Refuse a pair whose source, or target, too, the model can't take, by its file and line."""
    for pair in pairs:
        for text in (pair.source, pair.target) if targets else (pair.source,):
            try:
                translator.check(text)
            except ValueError as error:
                raise ValueError(f"{data.where(pair)}{error}") from error


@app.command()
def attention(
    run: Run,
    text: Annotated[str, typer.Argument(help="The sentence to translate.")],
    target: Annotated[
        str | None, typer.Option(help="Its translation; the model's own if left out.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file, .json or .npz.")] = None,
    threads: Threads = None,
    device: Device = "auto",
    debug: Debug = False,
) -> None:
    """Write what each head of each layer looks at while the model translates a sentence.

    It is JSON, on standard output or in a file, or NumPy's npz. "source" and "target" are lists of subwords:
    the source ends with </s>; the target, as it is read, starts with <s>. "maps" has the weights of each
    attention by its name in the model, such as "decoder_layers.0.cross_attention", in the shape (heads, q_len,
    k_len): row q of a head says how much it looks at each k, and sums to 1. In the npz, each attention is an
    array of its own, beside "source" and "target".
    """
    with _errors_in_one_sentence(debug):
        if output:
            if output.suffix not in (".json", ".npz"):
                raise ValueError(f"--output ({output}) must end with .json or .npz")
            check_output(run, output)
        _set_threads(threads)
        translator = Translator.load(run, device)
        texts = [line_of_text(given) for given in (text, target) if given is not None]
        for line in texts:
            if isinstance(line, ValueError):
                raise ValueError(f"sentence: {line}") from line
        _write_maps(translator.attention(*map(str, texts)), output)


def _write_maps(found: AttentionMaps, output: Path | None) -> None:
    words: dict[str, Any] = {"source": found.source, "target": found.target}
    if output and output.suffix == ".npz":
        with replacing(output) as temporary, temporary.open("wb") as file:
            np.savez(file, **words | {name: maps.numpy() for name, maps in found.maps.items()})
        return
    maps = {name: maps.double().numpy().round(6).tolist() for name, maps in found.maps.items()}
    written = json.dumps(words | {"maps": maps}) + "\n"
    if output:
        write_atomically(output, written.encode())
    else:
        print(written, end="")


@app.command()
def info(
    run: Run,
    json_out: Annotated[Path | None, typer.Option("--json", help="Write the same as JSON.")] = None,
    debug: Debug = False,
) -> None:
    """Say what a run is: recipe, sizes, parameters, data, validations, files and versions."""
    with _errors_in_one_sentence(debug):
        if json_out:
            check_output(run, json_out)
        found = run_info(run)
        if json_out:
            write_json(json_out, found)
        print(info_text(found))


@app.command("export")
def export_translator(
    run: Run,
    to: Annotated[str, typer.Option(help=f"For which program: {', '.join(EXPORTS)}.")],
    out: Annotated[
        Path | None, typer.Option(help="A new folder; beside the run's if left out.")
    ] = None,
    quantization: Annotated[
        str | None,
        typer.Option(
            help="Weights for ctranslate2: float32 if left out, or int8, which is smaller."
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a translator for another program, into a new folder: nothing is ever written over."""
    with _errors_in_one_sentence(debug):
        place = export_run(run, to, out, quantization)
        sizes = [(path.name, path.stat().st_size / 1e6) for path in sorted(place.iterdir())]
        print(f"{place}: {', '.join(f'{name} ({size:.1f} MB)' for name, size in sizes)}")


@app.command("serve")
def serve_translator(
    run: Run,
    host: Annotated[
        str, typer.Option(help="Address to listen at; this one only this computer reaches.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8000,
    threads: Threads = None,
    debug: Debug = False,
) -> None:
    """Translate on a local web page, and for programs that send JSON to /translate.

    Requests that arrive together are translated together. A request that is too long is refused (413), and so
    is each while too many are waiting (503). Ctrl-C or SIGTERM ends it, after the requests in work are
    answered.
    """
    with _errors_in_one_sentence(debug):
        _set_threads(threads)
        translator = Translator.load(run)
        if not is_loopback(host):
            told = f"whoever reaches {host} can use it; there is no password and no encryption"
            print(f"Note: {told}", file=sys.stderr)

        def ready(address: str) -> None:
            print(f"{address} translates with {run}; Ctrl-C ends", flush=True)

        serve(translator, host, port, ready=ready)


@app.command("check")
def check_notebooks(
    paths: Annotated[list[Path], typer.Argument(help="Exercise notebooks, or folders of them.")],
    json_out: Annotated[Path | None, typer.Option("--json", help="Write marks as JSON.")] = None,
    csv_out: Annotated[Path | None, typer.Option("--csv", help="Write marks as a table.")] = None,
    seconds: Annotated[int, typer.Option(min=1, help="Time limit of one cell.")] = 120,
    fence: Annotated[
        bool, typer.Option("--fence", help="No network, no writing elsewhere, less memory; Linux.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run learners' notebooks and report what their checks say. It runs the learners' code.

    Without --fence that code may do whatever you may; with it, it can still read your files, and write its own
    verdict. Of the environment it sees only what Python needs.

    An exercise is right, not yet right or not attempted. There is no verdict if its check was never reached,
    and it is not in the notebook if nothing calls its check. A notebook that can't be read or run is not run:
    the others are, and the exit status is 1.

    The table of --csv has one line a notebook and exercise: learner (the folder's name), notebook, exercise,
    verdict, misconception, message. It takes the place of such a table only.
    """
    with _errors_in_one_sentence(debug):
        notebooks = find_notebooks(paths)
        _check_marks(json_out, csv_out, notebooks)
        if fence:
            require_fence()
        else:
            print("Note: no fence: the notebooks run with all your rights", file=sys.stderr)
        marks: list[Mark] = []
        for notebook in notebooks:
            found = mark_notebook(notebook, seconds, fenced=fence)
            print(notebook)
            for mark in found:
                print(f"  {_describe_mark(mark)}")
            marks += found
        counts = Counter(mark.verdict for mark in marks)
        print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
        if json_out:
            write_json(json_out, [asdict(mark) for mark in marks])
        if csv_out:
            write_atomically(csv_out, marks_table(marks))
        if not_run := [mark.notebook for mark in marks if mark.verdict == "not run"]:
            raise ValueError(
                f"{len(not_run)} of {len(notebooks)} notebooks could not be run: {', '.join(not_run)}"
            )


def _check_marks(json_out: Path | None, csv_out: Path | None, notebooks: list[Path]) -> None:
    """Refuse files for the marks that can't be written, or hold something else."""
    for path in filter(None, (json_out, csv_out)):
        check_output(None, path, notebooks)
    if csv_out:
        if json_out and csv_out.resolve() == json_out.resolve():
            raise ValueError(f"--json and --csv ({csv_out}) must be two files")
        refuse_other_table(csv_out)


@app.command("progress")
def show_progress(
    folder: Annotated[Path, typer.Argument(help="Folder of the exercise notebooks.")] = Path("."),
    debug: Debug = False,
) -> None:
    """Say how far you have come in the exercises: what is solved, what comes next, how long the rest takes.

    It reads the verdicts in your saved notebooks, and runs your my_transformer.py to check what is in it. To
    run and check notebooks themselves, take check.
    """
    with _errors_in_one_sentence(debug):
        print(progress(folder))


def _describe_mark(mark: Mark) -> str:
    """One line: the exercise, the verdict, and the mistake or why there is no verdict."""
    why = mark.message if mark.verdict in ("no verdict", "not run") else mark.misconception
    exercise = f"{mark.exercise:<32}" if mark.exercise else ""
    return exercise + mark.verdict + (f": {why}" if why else "")


def _print_scores(scores: Scores, n_pairs: int, table: dict[str, dict[str, float]]) -> None:
    print(f"sentences    {n_pairs:,}")
    print(f"exact match  {scores.exact_match:.1%}")
    print(f"BLEU         {scores.bleu:.1f}   {scores.signature}")
    print(f"chrF         {scores.chrf:.1f}   {scores.chrf_signature}")
    if table:
        print(f"\n{'phenomenon':<32}{'sentences':>10}{'exact match':>13}")
    for name, row in table.items():
        print(f"{name:<32}{row['n_pairs']:>10,}{row['exact_match']:>13.1%}")


def _by_phenomenon(translator: Translator, beam: int, alpha: float) -> dict[str, dict[str, float]]:
    """Score the grammar's challenge sets."""
    from transformer_course.corpus import grammar  # as in recipe/data.py

    sets = grammar.challenge_sets(seed=0)
    shares = evaluate_by_phenomenon(translator, sets, beam=beam, alpha=alpha)
    return {n: {"n_pairs": len(sets[n]), "exact_match": share} for n, share in shares.items()}


def _names(pairs: Files, tsv: Path | None) -> tuple[str, ...]:
    if pairs and tsv:
        raise ValueError("give two aligned files or one tab-separated file, not both")
    return tuple(os.path.abspath(path) for path in (pairs or ((tsv,) if tsv else ())))


def _new_data(given: dict[str, Any]) -> Data:
    """Where the pairs of a new run come from; options that would be ignored are refused."""
    if not given.keys() & {"corpus", "files", "valid_files", "prepared"}:
        raise ValueError("give --corpus, or files of your own by --pairs or --tsv, or by --data")
    data = replace(Data(), **given)
    check_use(data.corpus, given)
    return data


def _recipe_by_name(name: str) -> Recipe:
    """A recipe that has a name, or that of a corpus; the usual one for pairs of one's own."""
    if name and name not in NAMED_RECIPES:
        raise ValueError(f"--recipe ({name!r}) must be {' or '.join(map(repr, NAMED_RECIPES))}")
    return NAMED_RECIPES[name] if name else Recipe()


def _new_recipe(
    recipe: Recipe,
    vocabulary: Vocabulary | None,
    wishes: dict[str, Any],
    training_wishes: dict[str, Any],
    device: torch.device,
) -> Recipe:
    """A recipe with what was asked for; `vocabulary` is that of prepared data."""
    if vocabulary:
        if wishes["vocab_size"]:
            raise ValueError("--vocab-size is for the command prepare: --data has its vocabulary")
        recipe = replace(recipe, vocab_size=len(vocabulary))
    faster = {"precision": "bf16" if computes_bf16(device.type) else "fp32"}
    training = replace(recipe.training, **faster | _given(training_wishes))
    if training.warmup_steps >= training.max_steps and training_wishes["warmup_steps"] is None:
        training = replace(training, warmup_steps=max(1, training.max_steps // 10))
    return replace(recipe, training=training, **_given(wishes))


def _given(wishes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wishes.items() if value is not None}


def _saved_run(out: Path, asked: dict[str, Any], threads: int | None) -> tuple[Data, Recipe, int]:
    """The run to resume; options that are repeated must say the same as they did then."""
    saved_data, saved_threads = load_run(out)
    recipe = Recipe.load(out)
    saved = asdict(saved_data) | recipe.settings()
    if asked.get("corpus", saved_data.corpus) == saved_data.corpus:
        check_use(saved_data.corpus, asked)
    changed = {n: v for n, v in asked.items() if n in CHANGEABLE and v != saved[n]}
    new = recipe.with_training(**changed)  # refuses what is no value of theirs
    for name, value in asked.items():
        if saved[name] != value and not may_change(name, saved[name], value):
            others = _WAYS.get(name, "")
            raise CheckpointError(
                f"{out} was started with {name} = {saved[name]!r}, not {value!r}; "
                f"resume without that option{others}"
            )
    _tell_changes(recipe, new)
    return saved_data, new, threads or saved_threads


_WAYS = {
    "max_steps": ", or with more of them",
    "peak_rate": ", or with a lower one",
    "warmup_steps": ", or with more of them",
    "patience": ", or with more of it (0: never stop early)",
}


def _tell_changes(before: Recipe, now: Recipe) -> None:
    """Say what other settings mean for a run that goes on."""
    old, new = before.training, now.training
    if new.max_steps != old.max_steps:
        print(
            f"{new.max_steps:,} updates instead of {old.max_steps:,}: from here on the learning rate is that "
            f"of a run of {new.max_steps:,} updates; the warm-up is not repeated"
        )
    if (new.peak_rate, new.warmup_steps) != (old.peak_rate, old.warmup_steps):
        print(
            f"from here on the highest learning rate is {new.peak_rate:g} instead of {old.peak_rate:g}, after "
            f"a warm-up of {new.warmup_steps:,} updates instead of {old.warmup_steps:,}"
        )
    if new.accumulate != old.accumulate:
        print(f"from here on a batch is computed in {new.accumulate} parts, not {old.accumulate}")
    if new.patience != old.patience:
        until = (
            f"after {new.patience} validations without a lower loss" if new.patience else "never"
        )
        print(f"from here on it stops early {until}, instead of after {old.patience}")


def _set_threads(threads: int | None) -> int:
    """Let torch and tokenizers use so many threads, or as many as torch finds best; returns how many."""
    if threads:
        torch.set_num_threads(threads)
    os.environ.setdefault("RAYON_NUM_THREADS", str(torch.get_num_threads()))
    return torch.get_num_threads()


@contextmanager
def _errors_in_one_sentence(
    debug: bool, out: Path | None = None, checkpoint: str | None = None
) -> Iterator[None]:
    """End with a sentence, after a traceback only if asked; `out` could be resumed, from its `checkpoint`."""
    saved: list[Path] = []
    try:
        saved = list_checkpoints(out) if out and checkpoint else []
        yield
        sys.stdout.flush()
    except ToldElsewhereError as error:
        raise typer.Exit(1) from error
    except OutputError:
        raise  # `watched_streams` tells it
    except (ValueError, OSError) as error:
        _print_error(error, debug)
        raise typer.Exit(1) from error
    except RuntimeError as error:
        if not (isinstance(error, torch.OutOfMemoryError) or _NO_MEMORY in str(error)):
            raise
        text = _too_large(error, out)
        told = MemoryError(text + (_from_the_same(out, checkpoint, saved) if out else ""))
        told.__cause__ = error  # --debug shows where
        _print_error(told, debug)
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        hint = ""
        if out and (out / "recipe.json").exists():
            start = "last checkpoint" if list_checkpoints(out) else "start"
            same = _from_the_same(out, checkpoint, saved)
            start = "same checkpoint" if same else start
            hint = f"; go on from the {start} with: {_go_on(out)}{same}"
        print(f"\nstopped{hint}", file=sys.stderr)
        raise typer.Exit(130) from error


_NO_MEMORY = "can't allocate memory"  # so torch says it of a processor, with a plain RuntimeError


def _too_large(error: RuntimeError, out: Path | None) -> str:
    """Where there was too little memory, and what needs less; `out` is the run that could be resumed."""
    card = isinstance(error, torch.OutOfMemoryError)
    text = f"the memory of the {'graphics card' if card else 'computer'} is too small for this"
    if not out or not (out / "recipe.json").exists():
        return text
    parts = 2 * Recipe.load(out).training.accumulate
    return f"{text}; a batch in more parts needs less: {_go_on(out)} --accumulate {parts}"


def _print_error(error: ValueError | OSError | MemoryError, debug: bool, place: str = "") -> None:
    if debug:
        traceback.print_exception(error)
    hint = "" if debug or not _looks_internal(error) else f" ({_INTERNAL})"
    print(f"error: {place}{' '.join(str(error).split())}{hint}", file=sys.stderr)


def _looks_internal(error: ValueError | OSError | MemoryError) -> bool:
    """Whether a ValueError comes from a library, or from Python itself: ours name what is wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, OSError) or not frames:
        return False
    ours = Path(frames[-1].filename).resolve().is_relative_to(_PACKAGE)
    return not ours or not (frames[-1].line or "raise").startswith("raise")
