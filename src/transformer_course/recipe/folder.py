"""The folder of a run (chapter 07): what is written down when it starts, and read again later."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    read_sealed,
    write_sealed,
)
from transformer_course.corpus.pairs import CorpusError, Pair
from transformer_course.corpus.shards import PLAN, RECORD
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.recipe.data import LANGUAGES, Data, digest, uses
from transformer_course.recipe.options import HEAD
from transformer_course.recipe.settings import Recipe
from transformer_course.recipe.writing import LOGS
from transformer_course.training.resuming import CHANGEABLE, may_change
from transformer_course.training.telling import tell


def refuse_used(folder: Path) -> None:
    """Refuse a folder that holds a run, prepared data, or files of others under the names that a run writes.

    A run that was killed before it had written its recipe, which comes last, has only begun: it may start anew.

    Args:
        folder: where a run shall go; it need not exist.

    Raises:
        CheckpointError: if it holds a recipe, checkpoints or a translator, what the command prepare wrote, or a
            file that no run wrote.
    """
    if list_checkpoints(folder) or any(_exists(folder / name) for name in _LATE):
        raise CheckpointError(
            f"{folder} already holds a run: resume it (--resume), or choose another folder"
        )
    for name in (PLAN, RECORD):
        if _exists(folder / name):
            raise CheckpointError(
                f"{folder} holds data of the command prepare ({name}): choose another folder"
            )
    for name, is_ours in _EARLY.items():
        if _exists(folder / name) and not is_ours(folder / name):
            raise CheckpointError(
                f"{folder / name} was written by no run, and would be overwritten: choose another folder"
            )


def refuse_lost(folder: Path) -> None:
    """Refuse to start a run over whose checkpoints are gone, and tell of one that has none yet.

    Args:
        folder: the run's, which shall be resumed.

    Raises:
        CheckpointError: if it has no checkpoint, but what comes after one; or as `list_checkpoints` does.
    """
    if list_checkpoints(folder):
        return
    for name in ("model.safetensors", "history.json"):
        if _exists(folder / name):
            raise CheckpointError(
                f"{folder} has no checkpoint left, though {name} is there: put one back, or start in another "
                "folder"
            )
    tell(f"{folder} has no checkpoint yet: training starts from step 0, with its recipe")


def _exists(path: Path) -> bool:
    """Whether there is anything of that name, a broken link too."""
    return path.exists() or path.is_symlink()


def _is_run(path: Path) -> bool:
    try:
        return "data" in read_sealed(path)
    except CheckpointError:
        return False


def _is_vocabulary(path: Path) -> bool:
    try:
        return path.is_file() and len(Vocabulary.load(path)) > 0
    except (OSError, ValueError):
        return False


def _is_config(path: Path) -> bool:
    try:
        return path.read_text(encoding="utf-8").startswith(HEAD)
    except (OSError, ValueError):
        return False


_LATE = ("recipe.json", "model.safetensors")  # a run that has one of these can be resumed
_EARLY: dict[str, Callable[[Path], bool]] = {
    "run.json": _is_run,
    "vocabulary.json": _is_vocabulary,
    "config.toml": _is_config,
    # The first update and the first checkpoint come after the recipe.
    **dict.fromkeys(("history.json", *LOGS), lambda path: False),
}


def load_held_out(folder: Path) -> tuple[Data, list[Pair]]:
    """The pairs that a run was not trained on, and where they come from.

    Args:
        folder: the run's, with a `run.json`.

    Returns:
        The data, and its test pairs.

    Raises:
        CheckpointError: if `run.json` is missing or damaged.
        CorpusError: if the files hold other test pairs than when the run was started, or as `Data.load_test`
            does.
        ValueError: as `Data.load_test` does.
    """
    data, _ = load_run(folder)
    test = data.load_test()
    if not data.corpus and digest(test) != read_sealed(folder / "run.json").get("test"):
        named = " and ".join(data.files) or data.prepared
        raise CorpusError(
            f"{named}: not the pairs that {folder} was started with, so some to test on may have been trained "
            "on: name a test set by --pairs or --tsv"
        )
    return data, test


def save_run(
    folder: Path, data: Data, threads: int, test: list[Pair], job: str | None = None
) -> None:
    """Write `run.json`.

    Args:
        folder: the run's; made if need be.
        data: where its pairs come from.
        threads: on how many threads it computes.
        test: the pairs that it was not trained on.
        job: of `torchrun`, which starts the same command again when a process has died; None without it.

    Raises:
        CheckpointError: if the file can't be written.
    """
    record = {"data": asdict(data), "threads": threads, "test": digest(test)}
    write_sealed(folder / "run.json", record | ({"job": job} if job else {}))


def was_begun_by(folder: Path, job: str | None) -> bool:
    """Whether a run was begun by the same job of `torchrun`, so that the same command goes on with it.

    Args:
        folder: where the run would be.
        job: the job; None for no job.

    Returns:
        False, too, if the run has only begun, and has no recipe yet.

    Raises:
        CheckpointError: if its `run.json` is damaged.
    """
    begun = (folder / "recipe.json").exists() and (folder / "run.json").exists()
    return job is not None and begun and read_sealed(folder / "run.json").get("job") == job


def load_run(folder: Path) -> tuple[Data, int]:
    """Where a run's pairs come from, and on how many threads it was started.

    Args:
        folder: the run's, with a `run.json`.

    Returns:
        The data, and the number of threads.

    Raises:
        CheckpointError: if `run.json` is missing or damaged.
    """
    path = folder / "run.json"
    if not path.exists():
        raise CheckpointError(
            f"{path} is missing: {folder} is not a run of this command; a translator trained in Python "
            "is evaluated with --pairs or --tsv, and resumed in Python"
        )
    record = read_sealed(path)
    try:
        for name in ("files", "valid_files"):
            record["data"][name] = tuple(record["data"][name])
        corpus = record["data"]["corpus"]  # options that it ignored were written down once
        used = {n: v for n, v in record["data"].items() if uses(corpus, n)}
        if corpus == "grammar" and used.get("languages") not in LANGUAGES[corpus]:
            used.pop("languages", None)  # the default of Multi30k, from when only that one used it
        threads = record["threads"]
        if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
            raise ValueError(f"threads ({threads!r}) must be a whole number, 1 or more")
        return Data(**used), threads
    except (AttributeError, ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error


def recipe_to_resume(folder: Path, asked: Recipe | None) -> Recipe:
    """The run's recipe; what is asked for must be the same but for what `resuming.may_change` allows.

    Args:
        folder: the run's.
        asked: what it should be; None takes it as it is.

    Returns:
        The recipe, with the changes that are asked for.

    Raises:
        CheckpointError: if the recipe is missing or damaged, or is another one.
    """
    if not (folder / "recipe.json").exists():
        raise CheckpointError(f"{folder} holds no run to resume: recipe.json is missing")
    saved = Recipe.load(folder)
    if asked is None:
        return saved
    saved_settings = saved.settings()
    for name, new in asked.settings().items():
        old = saved_settings[name]
        if old != new and not may_change(name, old, new):
            raise CheckpointError(f"{folder} was started with {name} = {old!r}, not {new!r}")
    return saved.with_training(**{n: getattr(asked.training, n) for n in CHANGEABLE})
