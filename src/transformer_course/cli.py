"""The command `transformer-course`: train, translate, evaluate.

Errors are one sentence on standard error and exit status 1; wrong usage exits with 2.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from tqdm import tqdm

from transformer_course.checkpoints import CheckpointError, write_atomically
from transformer_course.corpus import grammar, multi30k
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.readers import read_lines, read_pairs, read_tsv
from transformer_course.evaluation import Scores, evaluate_by_phenomenon, evaluate_pairs
from transformer_course.training import Progress, TrainingConfig
from transformer_course.translator import Recipe, Translator, hold_out, train_translator

GRAMMAR_RECIPE = Recipe(
    vocab_size=3000,
    label_smoothing=0.0,
    training=TrainingConfig(
        max_steps=3000, max_tokens=4096, peak_rate=3e-3, warmup_steps=300, validate_every=500
    ),
)

app = typer.Typer(
    help="Train a Transformer on sentence pairs, translate with it, evaluate it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Out = Annotated[Path, typer.Option(help="Folder of the run.")]
Run = Annotated[Path, typer.Argument(help="Folder of a trained run.")]
Files = tuple[Path, Path] | None


@dataclass(frozen=True)
class Data:
    """Where sentence pairs come from; kept in a run's `run.json`.

    Args:
        corpus: "grammar" or "multi30k"; empty for files of one's own.
        n_pairs: how many pairs of the grammar to train on.
        files: two aligned files, or one tab-separated file.
        valid_files: the same for validation; a part of `files` is held out if there are none.
        folder: where the files of Multi30k are; downloaded if left out.
        languages: "en-de", "en-fr", "de-en" or "fr-en", for Multi30k.
        form: "lc.norm.tok" or "raw", for Multi30k.
    """

    corpus: str = ""
    n_pairs: int = 200_000
    files: tuple[str, ...] = ()
    valid_files: tuple[str, ...] = ()
    folder: str | None = None
    languages: str = "en-de"
    form: str = "lc.norm.tok"

    def load(self) -> tuple[list[Pair], list[Pair]]:
        """Training pairs and validation pairs."""
        if self.corpus == "grammar":
            return (
                list(grammar.generate("train", self.n_pairs, seed=0)),
                list(grammar.generate("valid", 1000, seed=0)),
            )
        if self.corpus == "multi30k":
            return self._multi30k("train"), self._multi30k("val")
        pairs = _read(self.files)
        return (pairs, _read(self.valid_files)) if self.valid_files else hold_out(pairs)

    def load_test(self) -> list[Pair]:
        """Held-out pairs for `evaluate`, where the corpus has a test set."""
        if self.corpus == "grammar":
            return list(grammar.generate("test", 1000, seed=0))
        if self.corpus == "multi30k":
            return self._multi30k("test_2016_flickr")
        raise ValueError("this run was trained on files: name test files by --pairs or --tsv")

    def _multi30k(self, split: str) -> list[Pair]:
        sides = [
            multi30k.load(split, language, folder=self.folder, form=self.form)
            for language in self.languages.split("-")
        ]
        return [Pair(source, (target,)) for source, target in zip(*sides, strict=True)]


@app.command()
def train(
    out: Out,
    corpus: Annotated[str, typer.Option(help="A corpus by name: grammar or multi30k.")] = "",
    pairs: Annotated[Files, typer.Option(help="Two aligned files, plain or gzip.")] = None,
    tsv: Annotated[Path | None, typer.Option(help="One file, source TAB target.")] = None,
    valid_pairs: Annotated[Files, typer.Option(help="Aligned files to validate on.")] = None,
    valid_tsv: Annotated[Path | None, typer.Option(help="The same as one file.")] = None,
    n_pairs: Annotated[int, typer.Option(min=1, help="Pairs of the grammar.")] = Data.n_pairs,
    folder: Annotated[Path | None, typer.Option(help="Local folder of Multi30k.")] = None,
    languages: Annotated[str, typer.Option(help="Multi30k: en-de, en-fr, ...")] = Data.languages,
    form: Annotated[str, typer.Option(help="Multi30k: lc.norm.tok or raw.")] = Data.form,
    preset: Annotated[str | None, typer.Option(help="tiny, small or base.")] = None,
    vocab_size: Annotated[int | None, typer.Option(help="Subwords of both languages.")] = None,
    dropout: Annotated[float | None, typer.Option(help="0 to below 1.")] = None,
    label_smoothing: Annotated[float | None, typer.Option(help="0 to below 1.")] = None,
    steps: Annotated[int | None, typer.Option(help="Updates of the weights.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Padded positions a batch.")] = None,
    rate: Annotated[float | None, typer.Option(help="Highest learning rate.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides all that is random.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an earlier run.")] = False,
) -> None:
    """Train a translator and write it to a folder."""
    with _errors_in_one_sentence():
        data = Data(
            corpus=corpus,
            n_pairs=n_pairs,
            files=_names(pairs, tsv),
            valid_files=_names(valid_pairs, valid_tsv),
            folder=str(folder) if folder else None,
            languages=languages,
            form=form,
        )
        wishes = {
            "preset": preset,
            "vocab_size": vocab_size,
            "dropout": dropout,
            "label_smoothing": label_smoothing,
        }
        training_wishes = {
            "max_steps": steps,
            "max_tokens": max_tokens,
            "peak_rate": rate,
            "seed": seed,
        }
        if resume:
            data, recipe = _saved_run(out, data, wishes, training_wishes)
        else:
            recipe = _recipe(data, wishes, training_wishes)
        _set_threads(threads)
        _train(data, recipe, out, resume)


def _train(data: Data, recipe: Recipe, out: Path, resume: bool) -> None:
    train_pairs, valid_pairs = data.load()
    print(f"{len(train_pairs):,} pairs to train on, {len(valid_pairs):,} held out to validate on")
    if not resume:
        _save_run(out, data, recipe)
    with tqdm(total=recipe.training.max_steps, unit="step", dynamic_ncols=True) as bar:

        def report(progress: Progress) -> None:
            bar.update(progress.step - bar.n)
            rate = f"{progress.tokens_per_second:,.0f}"
            bar.set_postfix({"loss": f"{progress.loss:.3f}", "tokens/s": rate}, refresh=False)

        _, outcome = train_translator(
            train_pairs, valid_pairs, out, recipe, resume=resume, report=report
        )
    if outcome == "interrupted":
        print(f"Saved. Go on with: transformer-course train --out {out} --resume")
        raise typer.Exit(130)
    print(f"Training {outcome}; the translator is in {out}")


@app.command()
def translate(
    run: Run,
    text: Annotated[list[str] | None, typer.Argument(help="Sentences to translate.")] = None,
    file: Annotated[Path | None, typer.Option(help="A file with a sentence a line.")] = None,
    beam: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.")] = 4,
    alpha: Annotated[float, typer.Option(help="Strength of the length penalty.")] = 0.6,
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads.")] = None,
) -> None:
    """Translate sentences given on the command line, in a file, or on standard input."""
    with _errors_in_one_sentence():
        _set_threads(threads)
        translator = Translator.load(run)
        if text and file:
            raise ValueError("give sentences or --file, not both")
        lines = text or (read_lines(file) if file else [line.strip() for line in sys.stdin])
        for translation in translator.translate(lines, beam=beam, alpha=alpha):
            print(translation)


@app.command()
def evaluate(
    run: Run,
    pairs: Annotated[Files, typer.Option(help="Two aligned files, plain or gzip.")] = None,
    tsv: Annotated[Path | None, typer.Option(help="One file, source TAB target.")] = None,
    beam: Annotated[int, typer.Option(help="Width of the beam; 1 is greedy.")] = 4,
    alpha: Annotated[float, typer.Option(help="Strength of the length penalty.")] = 0.6,
    tokenize: Annotated[str, typer.Option(help="sacrebleu's tokeniser: 13a, none, ...")] = "13a",
    json_out: Annotated[Path | None, typer.Option("--json", help="Write scores as JSON.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Processor threads.")] = None,
) -> None:
    """Score a translator: exact match and BLEU, and for the grammar by phenomenon."""
    with _errors_in_one_sentence():
        _set_threads(threads)
        translator = Translator.load(run)
        files = _names(pairs, tsv)
        data = Data() if files else _load_run(run)[0]
        test = _read(files) if files else data.load_test()
        scores = evaluate_pairs(translator, test, beam=beam, alpha=alpha, tokenize=tokenize)
        _print_scores(scores, len(test))
        table: dict[str, float] = {}
        if data.corpus == "grammar":
            table = evaluate_by_phenomenon(translator, grammar.challenge_sets(seed=0), beam=beam)
            print("\nexact match by phenomenon (challenge sets)")
            for name, share in table.items():
                print(f"  {name:<28}{share:7.1%}")
        if json_out:
            record = asdict(scores) | {"n_pairs": len(test), "phenomena": table}
            write_atomically(json_out, (json.dumps(record, indent=1) + "\n").encode())


def _print_scores(scores: Scores, n_pairs: int) -> None:
    print(f"{n_pairs:,} sentences")
    print(f"exact match  {scores.exact_match:.1%}")
    print(f"BLEU         {scores.bleu:.1f}   {scores.signature}")


def _names(pairs: Files, tsv: Path | None) -> tuple[str, ...]:
    if pairs and tsv:
        raise ValueError("give two aligned files or one tab-separated file, not both")
    return tuple(str(path) for path in (pairs or ((tsv,) if tsv else ())))


def _read(files: tuple[str, ...]) -> list[Pair]:
    return read_pairs(*files) if len(files) == 2 else read_tsv(*files)


def _recipe(data: Data, wishes: dict[str, Any], training_wishes: dict[str, Any]) -> Recipe:
    """The corpus' recipe, with what was asked for on the command line."""
    if data.corpus not in ("", "grammar", "multi30k"):
        raise ValueError(f"corpus ({data.corpus!r}) must be 'grammar' or 'multi30k'")
    if bool(data.corpus) == bool(data.files):
        raise ValueError("give either --corpus or files of your own by --pairs or --tsv")
    recipe = GRAMMAR_RECIPE if data.corpus == "grammar" else Recipe()
    training = replace(recipe.training, **_given(training_wishes))
    if training.warmup_steps >= training.max_steps:
        training = replace(training, warmup_steps=max(1, training.max_steps // 10))
    return replace(recipe, training=training, **_given(wishes))


def _given(wishes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wishes.items() if value is not None}


def _save_run(out: Path, data: Data, recipe: Recipe) -> None:
    if (out / "run.json").exists():
        raise ValueError(f"{out} already holds a run: go on with --resume, or choose another --out")
    record = {"data": asdict(data), "recipe": asdict(recipe)}
    write_atomically(out / "run.json", (json.dumps(record, indent=1) + "\n").encode())


def _load_run(folder: Path) -> tuple[Data, Recipe]:
    path = folder / "run.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        training = TrainingConfig(**record["recipe"].pop("training"))
        for name in ("files", "valid_files"):
            record["data"][name] = tuple(record["data"][name])
        return Data(**record["data"]), Recipe(training=training, **record["recipe"])
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing: {folder} isn't a run") from error
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged ({error})") from error


def _saved_run(
    out: Path, data: Data, wishes: dict[str, Any], training_wishes: dict[str, Any]
) -> tuple[Data, Recipe]:
    """The run to resume; options that are repeated must say the same as they did then."""
    old_data, recipe = _load_run(out)
    asked: dict[str, Any] = {}
    saved = asdict(old_data) | asdict(recipe) | asdict(recipe.training)
    for name, value in asdict(data).items():
        if value != getattr(Data(), name):
            asked[name] = value
    for name, value in (asked | _given(wishes) | _given(training_wishes)).items():
        if saved[name] != value:
            raise CheckpointError(
                f"{out} was started with {name} = {saved[name]!r}, not {value!r}; "
                "resume without that option"
            )
    return old_data, recipe


def _set_threads(threads: int | None) -> None:
    torch.set_num_threads(threads or os.cpu_count() or 1)


@contextmanager
def _errors_in_one_sentence() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(1) from error


def main() -> None:
    """Entry point of the command `transformer-course`."""
    app()


if __name__ == "__main__":
    main()
