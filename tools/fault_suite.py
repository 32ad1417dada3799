"""What goes wrong, tried on purpose: python tools/fault_suite.py [--seconds 25] [--write]

Each row of the table is a kind of fault, tried with other dice until its time is up. A case is *silent* if
another result came out without a word, a *traceback* if it ended in anything but a sentence of ours, a *hang*
if it took minutes. All three must be 0. `--write` keeps the table for the book, with version and processor.
"""

import argparse
import errno
import gzip
import json
import math
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import safetensors.torch
import torch
from fuzzing import changed_bytes, changed_json
from matplotlib.text import Text
from run_experiments import processor

import transformer_course
from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    load_tensors,
    weights_of,
    write_json,
)
from transformer_course.checkpoints.tensors import _digest
from transformer_course.checks import fence
from transformer_course.checks.grading import _checks, _read, mark_notebook
from transformer_course.corpus.lenient import read_each_of_file
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.readers import read_lines, read_pairs, read_tsv
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.figures import head_maps
from transformer_course.recipe import Recipe, TrainingWarning, train_translator
from transformer_course.recipe.data import Data
from transformer_course.recipe.folder import load_run, save_run
from transformer_course.training import DivergedError, TrainingConfig
from transformer_course.translator import Translator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(transformer_course.__file__).resolve().parent
LIMIT = 120  # seconds of one case
WORDS = {"one": "un", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq"}
PAIRS = [Pair(f"{a} {b}", (f"{WORDS[b]} {WORDS[a]}",)) for a in WORDS for b in WORDS]
SMALL = Recipe(
    vocab_size=300,
    n_layers=1,
    d_model=16,
    n_heads=2,
    d_ff=16,
    training=TrainingConfig(max_steps=12, max_tokens=200, warmup_steps=4, validate_every=4),
)
TEXT = "the cat sleeps\tle chat dort\n a dog\tun chien\r\nécole\tschool\n".encode()
NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python"}},
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "text"},
        {
            "cell_type": "code",
            "id": "b",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["out"]}],
            "source": ["from transformer_course.checks import masking as check\n", "check.x(1)"],
        },
    ],
}
TRAIN = """
import os, signal, sys, torch
torch.set_num_threads(1)  # as many as the one that it is compared with
sys.path.insert(0, sys.argv[1])
from fault_suite import PAIRS, SMALL
from transformer_course.recipe import train_translator
from transformer_course.recipe.folder import list_checkpoints
at, kind = int(sys.argv[3]), sys.argv[4]
def report(progress):
    if progress.step == at:
        os.kill(os.getpid(), getattr(signal, kind))
train_translator(PAIRS, PAIRS, sys.argv[2], None if at < 0 else SMALL, resume=at < 0, report=report)
"""

FORBIDDEN = """
import os, pathlib, socket
tried = [
    lambda: socket.create_connection(("127.0.0.1", {port}), 2),
    lambda: pathlib.Path({outside!r}).write_text("x"),
    lambda: bytearray(20 << 30),
    lambda: os.environ["FAULT_SUITE_SECRET"],
]
try:
    tried[{number}]()
except (OSError, MemoryError, KeyError):
    from transformer_course.checks import masking as check
    def decoder_mask(*_): raise NotImplementedError
    check.decoder_mask(decoder_mask)
"""
CLI = [sys.executable, "-m", "transformer_course"]
PROCESSES = ("resumed", "two trainings", "said", "fence")  # in rows that start processes
MODELS = (
    "none",
    "no room",
    "threads",
    "fork",
    "calls",
    "figure",
)  # in rows of which a case computes

Case = Callable[[Random], None]


class Silent(Exception):
    """Another result, and nothing was said."""


class Hang(BaseException):
    """A case took too long."""


class Bench:
    """A finished run, an interrupted one, and what is expected of both."""

    def __init__(self, place: Path) -> None:
        self.place, self.run, self.stopped = place, place / "run", place / "stopped"
        train_translator(PAIRS, PAIRS, self.run, SMALL)
        self.words = self.translated(self.run)
        self.weights = load_tensors(self.run / "model.safetensors")[0]
        (self.run / "run.json").unlink(missing_ok=True)
        save_run(self.run, Data(files=("a", "b")), 1, [])

        def stop(progress: Any) -> None:
            if progress.step == 9:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            train_translator(PAIRS, PAIRS, self.stopped, SMALL, report=stop)

    def compare(self, found: dict[str, torch.Tensor], told: str = "another model") -> None:
        """Raise `Silent` if these aren't the weights of the finished run."""
        if not all(torch.equal(found[name], weight) for name, weight in self.weights.items()):
            raise Silent(told)

    def translated(self, folder: Path) -> list[str]:
        """What a run's translator says."""
        return Translator.load(folder).translate(["one two", "five three"], beam=2)

    def flipped(self, name: str) -> Case:
        """A bit of a file of the finished run is turned."""
        whole = (self.run / name).read_bytes()
        folder = Path(shutil.copytree(self.run, self.place / f"flipped {name}"))
        recipe, data = Recipe.load(self.run), load_run(self.run)

        def case(dice: Random) -> None:
            changed = bytearray(whole)
            changed[dice.randrange(min(len(whole), dice.choice([2000, 10**9])))] ^= (
                1 << dice.randrange(8)
            )
            path = folder / name
            path.unlink()  # what was read may still lie in it
            path.write_bytes(changed)
            if name in ("recipe.json", "run.json"):
                same = Recipe.load(folder) == recipe and load_run(folder) == data
            else:
                same = self.translated(folder) == self.words
                self.compare(load_tensors(folder / "model.safetensors")[0], name)
            if not same:
                raise Silent(name)

        return case

    def contents(self) -> Case:
        """A checkpoint of the right digest holds values of other kinds, or lacks tensors."""
        path = list_checkpoints(self.stopped)[-1]
        tensors, values = load_tensors(path)
        # Which rate, which loss or how many seconds there were is believed.
        free = {"seconds", "loss_sum", "loss_count", "history", "remembered"}
        folder = self.place / "contents"

        def case(dice: Random) -> None:
            told, kept = values, dict(tensors)
            if dice.random() < 0.7:
                told = changed_json({n: v for n, v in values.items() if n not in free}, dice)
                told = {n: v for n, v in values.items() if n in free} | told
            else:
                for name in dice.sample(sorted(tensors), dice.choice([1, 2, len(tensors) // 2])):
                    other = dice.choice([None, torch.int8, torch.float64, torch.float16])
                    if other is None:
                        del kept[name]
                    elif name in kept:
                        kept[name] = kept[name].reshape(-1)[: dice.choice([0, 1, 10**9])].to(other)
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.stopped, folder)
            text = json.dumps(told)
            place = folder / "checkpoints" / path.name
            place.unlink()
            place.write_bytes(
                safetensors.torch.save(kept, {"values": f"{_digest(kept, text)} {text}"})
            )
            translator, _ = train_translator(PAIRS, PAIRS, folder, resume=True)
            self.compare(weights_of(translator.model), repr(told)[:300])

        return case

    def changed(self, name: str, load: Callable[[Path], object]) -> Case:
        """A JSON file of a run, without its digest, holds anything."""
        value = json.loads((self.run / name).read_text(encoding="utf-8"))
        value.get("model", value).pop("digest", None)
        folder = self.place / f"changed {name}"
        folder.mkdir()

        def case(dice: Random) -> None:
            write_json(folder / name, changed_json(value, dice))
            load(folder)

        return case

    def killed(self, signal_name: str) -> Case:
        """A training is ended by a signal, and resumed in another process."""

        def case(dice: Random) -> None:
            folder = self.place / f"killed {signal_name}"
            shutil.rmtree(folder, ignore_errors=True)
            tools = str(ROOT / "tools")
            for at in (dice.randint(1, 11), -1):
                command = [sys.executable, "-c", TRAIN, tools, str(folder), str(at), signal_name]
                ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
                if "Traceback" in ended.stderr or (at < 0 and ended.returncode):
                    raise RuntimeError(ended.stderr[-500:])
            self.compare(load_tensors(folder / "model.safetensors")[0])

        return case

    def threads(self) -> Case:
        """Eight threads translate with one translator."""
        translator = Translator.load(self.run)

        def case(dice: Random) -> None:
            said: list[list[str]] = []
            work = lambda: said.append(translator.translate(["one two", "five three"], beam=2))  # noqa: E731
            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            if said != [self.words] * 8:
                raise Silent(repr(said))

        return case

    def full(self) -> Case:
        """There is no room left while a training writes; it goes on when there is."""
        most = max(path.stat().st_size for path in self.run.rglob("*") if path.is_file())

        def case(dice: Random) -> None:
            folder = self.place / "full"
            shutil.rmtree(folder, ignore_errors=True)
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (dice.randrange(most), hard))
            try:
                train_translator(PAIRS, PAIRS, folder, SMALL)
            except (CheckpointError, OSError) as error:
                if isinstance(error, OSError) and error.errno != errno.EFBIG:
                    raise
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            self.go_on(folder)

        return case

    def go_on(self, folder: Path) -> None:
        """Resume a run, or begin it where nothing was written; it must end as one that never stopped."""
        begun = (folder / "recipe.json").exists()
        train_translator(PAIRS, PAIRS, folder, None if begun else SMALL, resume=begun)
        self.compare(load_tensors(folder / "model.safetensors")[0])

    def poisoned(self) -> Case:
        """Somewhere in a model a number is none, or infinite; the run then goes on from what it has."""
        folder = self.place / "poisoned"

        def case(dice: Random) -> None:
            shutil.rmtree(folder, ignore_errors=True)
            left, bad = dice.randrange(500), dice.choice([math.nan, math.inf, -math.inf])

            def poison(module: object, given: object, output: object) -> None:
                nonlocal left
                left -= isinstance(output, torch.Tensor)
                if left < 0 and isinstance(output, torch.Tensor) and output.is_floating_point():
                    with torch.no_grad():
                        output.reshape(-1)[dice.randrange(output.numel())] = bad
                    left = 10**9

            hook = torch.nn.modules.module.register_module_forward_hook(poison)
            try:
                train_translator(PAIRS, PAIRS, folder, SMALL)
            except DivergedError:
                pass
            finally:
                hook.remove()
            self.go_on(folder)

        return case

    def both(self) -> Case:
        """While one training writes, another one is started in its folder, or resumed."""
        tools, folder = str(ROOT / "tools"), self.place / "both"

        def case(dice: Random) -> None:
            at, other, told = dice.randint(1, 12), dice.choice(["-1", "99"]), ""
            shutil.rmtree(folder, ignore_errors=True)

            def report(progress: Any) -> None:
                nonlocal told
                if progress.step == at:
                    command = [sys.executable, "-c", TRAIN, tools, str(folder), other, "SIGKILL"]
                    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
                    told = ended.stderr.strip().split("\n")[-1]

            train_translator(PAIRS, PAIRS, folder, SMALL, report=report)
            if "CheckpointError" not in told or f"by process {os.getpid()}" not in told:
                raise Silent(told)
            self.go_on(folder)

        return case

    def streams(self) -> Case:
        """What is said, or asked, can't be written, or read."""

        def case(dice: Random) -> None:
            stream, bad = dice.choice([0, 1, 2]), dice.choice(["/dev/full", "&-"])
            said = dice.choice([["--help"], ["translate", str(self.run), "one", "zwölf"]])
            if not stream:
                said, bad = ["translate", str(self.run)], "&-"
            end = f"{stream}{'<>>'[stream]}{bad}"
            command = ["sh", "-c", f'exec "$@" {end}', "sh", *CLI, *said]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
            if "Traceback" in ended.stderr:
                raise RuntimeError(ended.stderr[-500:])
            lost = stream < 2 or "zwölf" in said  # of which there would be a note
            if lost and not ended.returncode:
                raise Silent(f"{end} {said}")

        return case

    def forked(self) -> Case:
        """A process forks that has computed on two threads, and the child translates."""
        translator = Translator.load(self.run)

        def case(dice: Random) -> None:
            torch.set_num_threads(2)
            try:
                torch.ones(300, 300) @ torch.ones(300, 300)
                child = os.fork()
                if not child:
                    same = translator.translate(["one two", "five three"], beam=2) == self.words
                    os._exit(0 if same else 1)
                try:
                    _, status = os.waitpid(child, 0)
                except Hang:
                    os.kill(child, signal.SIGKILL)
                    raise
            finally:
                torch.set_num_threads(1)
            if status:
                raise Silent("the child's words")

        return case

    def long(self) -> Case:
        """A translator is asked hundreds of times."""
        translator = Translator.load(self.run)
        page = os.sysconf("SC_PAGE_SIZE")

        def memory(calls: int) -> int:
            for _ in range(calls):
                translator.translate(["one two", "five three"], beam=2)
            return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * page

        memory(200)  # what is kept once

        def case(dice: Random) -> None:
            before = memory(50)
            if memory(300) > before + 4 * 2**20:
                raise Silent("memory grows")

        return case

    def text(self, read: Callable[[Path], object]) -> Case:
        """A file of sentences, plain or gzip, is damaged."""
        path = self.place / "text"

        def case(dice: Random) -> None:
            data = changed_bytes(TEXT, dice)
            if dice.random() < 0.3:
                data = changed_bytes(gzip.compress(data), dice)
            path.write_bytes(data)
            found = read(path)
            lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
            if isinstance(found, list) and not data.startswith(b"\x1f\x8b") and len(found) != lines:
                raise Silent(f"{lines} lines, read {len(found)}")

        return case

    def notebook(self) -> Case:
        """A learner's notebook holds anything."""
        path = self.place / "a.ipynb"

        def case(dice: Random) -> None:
            if dice.random() < 0.3:
                path.write_bytes(changed_bytes(json.dumps(NOTEBOOK).encode(), dice))
            else:
                path.write_text(json.dumps(changed_json(NOTEBOOK, dice)), encoding="utf-8")
            _checks(_read(path))

        return case

    def names(self) -> Case:
        """A figure shows words that are markup elsewhere."""
        signs = ["$", "_", "^", "\\", "{", "<b>", "&", "%", "é", "😀", "א", "\0", "x"]

        def case(dice: Random) -> None:
            words = ["".join(dice.choices(signs, k=dice.randint(1, 9))) for _ in range(2)]
            figure = head_maps([np.full((2, 2), 0.5)], words, words)
            figure.draw_without_rendering()
            shown = [text.get_text() for text in figure.findobj(Text) if not text.get_parse_math()]
            if not set(words) <= set(shown):
                raise Silent(f"{words} in {shown}")

        return case

    def fenced(self) -> Case:
        """A stranger's notebook tries what a fence forbids."""
        os.environ["FAULT_SUITE_SECRET"] = "secret"
        path, outside = self.place / "stranger.ipynb", self.place / "outside"
        server = socket.create_server(("127.0.0.1", 0))

        def case(dice: Random) -> None:
            places = {"outside": str(outside), "port": server.getsockname()[1]}
            text = FORBIDDEN.format(number=dice.randrange(4), **places)
            cell = {**NOTEBOOK["cells"][1], "source": text, "outputs": []}
            path.write_text(json.dumps({**NOTEBOOK, "cells": [cell]}), encoding="utf-8")
            marks = mark_notebook(path, fenced=True)
            if outside.exists() or marks[0].verdict != "not attempted":  # it was let out
                raise Silent(repr(marks))

        return case

    def rows(self) -> Iterator[tuple[str, Case]]:
        """The kinds of faults."""
        for name in ("model.safetensors", "vocabulary.json", "recipe.json", "run.json"):
            yield f"bits turned in `{name}`", self.flipped(name)
        yield "what a checkpoint holds", self.contents()
        yield "anything in `run.json`", self.changed("run.json", load_run)
        yield "anything in `recipe.json`", self.changed("recipe.json", Recipe.load)
        yield "anything in `vocabulary.json`", self.changed("vocabulary.json", _use_vocabulary)
        yield "damaged pairs, in one file", self.text(read_tsv)
        yield "damaged pairs, in two files", self.text(lambda path: read_pairs(path, path))
        yield "damaged lines", self.text(read_lines)
        yield "damaged lines to translate", self.text(lambda path: list(read_each_of_file(path)))
        yield "damaged notebooks", self.notebook()
        yield "markup in the words of a figure", self.names()
        yield "a number in the model that is none", self.poisoned()
        yield "no room to write", self.full()
        yield "eight threads", self.threads()
        yield "a fork", self.forked()
        if Path("/proc/self/statm").exists():
            yield "hundreds of calls, one after the other", self.long()
        yield "two trainings in one folder", self.both()
        if Path("/dev/full").exists():
            yield "nothing can be said, or asked", self.streams()
        if not fence.missing(str(self.place)):
            yield "a notebook behind the fence", self.fenced()
        yield "SIGKILL, then resumed", self.killed("SIGKILL")
        yield "SIGTERM, then resumed", self.killed("SIGTERM")


def _use_vocabulary(folder: Path) -> None:
    vocabulary = Vocabulary.load(folder / "vocabulary.json")
    text = "one </s> two é 😀"
    if vocabulary.decode(vocabulary.encode([text])) != [vocabulary.normalise(text)]:
        raise Silent("another text")
    vocabulary.pieces(text), vocabulary.unseen(text), vocabulary.word_indices(text)


def ended(case: Case, dice: Random) -> str:
    """How a case ended: "well", "refused", "silent", "traceback" or "hang"."""

    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LIMIT)
    try:
        case(dice)
    except Hang:
        return "hang"
    except Silent as error:
        print(f"silent: {error}", file=sys.stderr)
        return "silent"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ours = Path(frame.filename).resolve().is_relative_to(PACKAGE)
        if isinstance(error, ValueError) and ours and (frame.line or "raise").startswith("raise"):
            return "refused"
        traceback.print_exception(error)
        return "traceback"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return "well"


def table(
    seconds: float,
    seed: int = 0,
    only: Callable[[str], bool] = lambda name: True,
    cases: float = math.inf,
) -> list[dict[str, Any]]:
    """Try every kind of fault for some seconds each, at least once.

    Args:
        seconds: for each kind.
        seed: of the dice.
        only: which kinds, by their names.
        cases: at most so many of each kind.

    Returns:
        A record for each kind: its name, the number of cases, and how they ended.
    """
    found = []
    with tempfile.TemporaryDirectory() as place:
        for name, case in Bench(Path(place)).rows():
            if not only(name):
                continue
            longer = 2 if any(part in name for part in PROCESSES) else 1
            end, dice = time.monotonic() + longer * seconds, Random(seed)
            ends = Counter[str]()
            while not ends or (time.monotonic() < end and ends.total() < cases):
                ends[ended(case, dice)] += 1
            record = {"fault": name, "cases": ends.total(), "refused": ends["refused"]}
            found.append(record | {kind: ends[kind] for kind in ("silent", "traceback", "hang")})
            print(_line(found[-1]), flush=True)
    return found


def _line(record: dict[str, Any]) -> str:
    cells = [value if isinstance(value, str) else f"{value:,}" for value in record.values()]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table; exit status 1 if something was silent, a traceback or a hang."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=25, help="for each kind of fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="keep the table for the book")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", TrainingWarning)  # twelve updates teach nothing
    found = table(options.seconds, options.seed)
    if options.write:
        about = {
            "version": transformer_course.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "processor": processor(),
        }
        write_json(ROOT / "benchmarks/results/faults.json", about | {"faults": found})
        said = ", ".join(f"{name} {value}" for name, value in about.items())
        heads = ("fault", "cases", "refused in a sentence", "silent", "tracebacks", "hangs")
        lines = [f"| {' | '.join(heads)} |", "|---|--:|--:|--:|--:|--:|", *map(_line, found)]
        text = "\n".join([*lines, "", f"Measured with {said}; seed {options.seed}.", ""])
        (ROOT / "book/_generated/faults.md").write_text(text, encoding="utf-8")
    bad = sum(record[kind] for record in found for kind in ("silent", "traceback", "hang"))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
