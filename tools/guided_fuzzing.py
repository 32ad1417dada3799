"""Readers of files, fed by a fuzzer that follows which lines they reach: see --help.

It needs atheris, which isn't among the requirements, in an environment of its own that has the course too:

    pip install atheris
    python tools/guided_fuzzing.py vocabulary --seconds 300

Inputs that reached something new gather in `_build/fuzzing/READER`; what ends in anything but a sentence of
ours stops it, and the input is printed and kept. `--keep` puts the smallest of them into `tests/data/fuzzed`,
where `tests/project/test_guided_fuzzing.py` reads them all again.
"""

import argparse
import sys
import tempfile
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/data/fuzzed"
INSTRUMENTED = (
    *("corpus.readers", "corpus.lenient", "corpus.vocabulary", "checkpoints"),
    *("recipe.settings", "recipe.folder", "recipe.data", "checks.grading"),
)
_MOST, _BYTES = 40, 20_000  # of what is kept for each reader


def readers() -> dict[str, tuple[str, Callable[[Path], object]]]:
    """Each reader by its name: how its file is called, and what reads it. Imports the package only now."""
    from fault_suite import _use_vocabulary

    from transformer_course.checkpoints import load_tensors
    from transformer_course.checks.grading import _checks, _read
    from transformer_course.corpus.lenient import read_each_of_file
    from transformer_course.corpus.readers import read_tsv
    from transformer_course.recipe import Recipe
    from transformer_course.recipe.folder import load_run

    return {
        "pairs": ("a.tsv", read_tsv),
        "lines": ("a.txt", lambda path: list(read_each_of_file(path))),
        "vocabulary": ("vocabulary.json", lambda path: _use_vocabulary(path.parent)),
        "recipe": ("recipe.json", lambda path: Recipe.load(path.parent)),
        "run": ("run.json", lambda path: load_run(path.parent)),
        "tensors": ("a.safetensors", load_tensors),
        "notebook": ("a.ipynb", lambda path: _checks(_read(path))),
    }


def is_a_sentence(error: BaseException) -> bool:
    """Whether an error is one that the package raises on purpose, with a message of its own."""
    import transformer_course

    package = Path(transformer_course.__file__).resolve().parent
    frame = traceback.extract_tb(error.__traceback__)[-1]
    ours = Path(frame.filename).resolve().is_relative_to(package)
    return isinstance(error, ValueError) and ours and (frame.line or "raise").startswith("raise")


def read_once(path: Path, read: Callable[[Path], object], data: bytes) -> None:
    """Put the bytes into a file and read it; only what is no sentence of ours is raised."""
    path.unlink(missing_ok=True)  # what was read may still lie in it
    path.write_bytes(data)
    try:
        read(path)
    except ValueError as error:
        if not is_a_sentence(error):
            raise RuntimeError("no sentence of ours") from error


def seeds() -> dict[str, list[bytes]]:
    """Whole files of each kind to begin with; those with a digest also without it."""
    import gzip
    import json

    from fault_suite import NOTEBOOK, TEXT, Bench

    text = [TEXT, b"\xef\xbb\xbf" + TEXT.replace(b"\n", b"\r\n"), gzip.compress(TEXT)]
    found = {"pairs": text, "lines": text, "notebook": [json.dumps(NOTEBOOK).encode()]}
    with tempfile.TemporaryDirectory() as place:
        run = Bench(Path(place)).run
        found["tensors"] = [(run / "model.safetensors").read_bytes()]
        for name in ("vocabulary", "recipe", "run"):
            value = json.loads((run / f"{name}.json").read_text(encoding="utf-8"))
            sealed = json.dumps(value).encode()
            value.get("model", value).pop("digest", None)
            found[name] = [sealed, json.dumps(value).encode()]
    return found


def keep(name: str, gathered: Path) -> int:
    """Write the smallest gathered inputs where the test finds them, a line each; returns how many."""
    inputs = sorted((path.read_bytes() for path in gathered.iterdir()), key=lambda x: (len(x), x))
    sums = accumulate(map(len, inputs))
    chosen = [data for data, so_far in zip(inputs, sums, strict=True) if so_far <= _BYTES][:_MOST]
    KEPT.mkdir(parents=True, exist_ok=True)
    text = "".join(b64encode(data).decode() + "\n" for data in chosen)
    (KEPT / f"{name}.txt").write_text(text, encoding="utf-8")
    return len(chosen)


def kept(name: str) -> list[bytes]:
    """The inputs that are kept of a reader."""
    lines = (KEPT / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return [b64decode(line) for line in lines]


def main() -> None:
    """Fuzz one reader for some seconds, or keep what was gathered."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ("pairs", "lines", "vocabulary", "recipe", "run", "tensors", "notebook")
    parser.add_argument("reader", choices=names)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--keep", action="store_true", help="keep inputs for the test")
    options = parser.parse_args()
    gathered = ROOT / "_build/fuzzing" / options.reader
    if options.keep:
        print(f"{keep(options.reader, gathered)} inputs kept")
        return
    import atheris

    with atheris.instrument_imports(include=[f"transformer_course.{m}" for m in INSTRUMENTED]):
        file, read = readers()[options.reader]
    gathered.mkdir(parents=True, exist_ok=True)
    if not any(gathered.iterdir()):
        for number, data in enumerate(seeds()[options.reader]):
            (gathered / f"seed{number}").write_bytes(data)
    place = Path(tempfile.mkdtemp())
    limits = [f"-max_total_time={options.seconds}", "-rss_limit_mb=3000", "-timeout=60"]
    command = [sys.argv[0], str(gathered), *limits, f"-artifact_prefix={gathered}-"]
    atheris.Setup(command, lambda data: read_once(place / file, read, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
