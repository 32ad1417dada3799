"""From sentence pairs to a translator in a folder (chapter 07), in one call."""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from transformer_course.checkpoints import (
    CheckpointError,
    gathered,
    list_checkpoints,
    load_weights,
    weights_of,
)
from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.shards import Shards
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.lexicon import usual_translations
from transformer_course.non_autoregressive.fertility import N_FERTILITIES
from transformer_course.recipe.data import encode_pairs
from transformer_course.recipe.folder import recipe_to_resume, refuse_lost, refuse_used
from transformer_course.recipe.settings import Recipe
from transformer_course.recipe.tasks import Trained, fresh_model, task_of
from transformer_course.recipe.writing import only_writer
from transformer_course.training import Outcome, Progress, Trainer, validation_loss
from transformer_course.training.final import History
from transformer_course.training.optimizers import MuonWithAdam
from transformer_course.training.processes import ALONE, Processes
from transformer_course.training.shards import ShardBatches
from transformer_course.training.telling import tell
from transformer_course.translator import Translator, load_vocabulary, save_vocabulary

_CALIBRATED = 200  # held-out sentences that decide which translations are doubtful


class PairError(ValueError):
    """A sentence pair that can't be trained on; the message shows it and says what is wrong.

    Args:
        pair: the pair.
        problem: what is wrong with it.
        where: file and line, if they are known; the message starts with them.
    """

    def __init__(self, pair: Pair, problem: str, where: str = "") -> None:
        super().__init__(
            f"{where}the pair {_short(pair.source)!r} – {_short(pair.target)!r} {problem}"
        )
        self.pair = pair
        self.problem = problem


def train_translator(
    train: Sequence[Pair] | Shards,
    valid: Sequence[Pair],
    folder: str | Path,
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
    checkpoint: str | None = None,
    report: Callable[[Progress], None] | None = None,
    evaluate: Callable[[Translator], dict[str, float]] | None = None,
    vocabulary: Vocabulary | None = None,
    start: Translator | None = None,
    begin: Callable[[str], None] = lambda part: None,
    device: str = "cpu",
    processes: Processes = ALONE,
    shard: bool = False,
    compiled: bool = False,
) -> tuple[Translator, Outcome]:
    """Train a translator on sentence pairs and write it to `folder`.

    Args:
        train: what to learn from; each pair's first translation. Shards bring their vocabulary.
        valid: held-out pairs, for the validation loss.
        folder: for the translator, `recipe.json`, `history.json` and checkpoints.
        recipe: how to train; if left out, the tiny preset, or on resuming what the run was started with. On
            resuming it must be the same, but its training may have more `max_steps`: then the run is made
            longer (`Trainer.resume`); or a lower `peak_rate` or more `warmup_steps`, if it has diverged; or
            more `patience` or 0, if it has stopped early.
        resume: go on from the newest checkpoint, exactly as if training had never stopped; from the start
            with the run's recipe and vocabulary if it stopped before its first checkpoint.
        checkpoint: file name of the checkpoint to resume from, if not the newest.
        report: called after every update, for a progress bar.
        evaluate: gives scores by name that are kept in the history at every validation, beside the loss.
        vocabulary: the subwords of another translator, so that one can score what the other writes (chapter
            13); learnt from `train` if left out. A run that is resumed keeps its own, and so do shards.
        start: a translator whose weights the new model begins with, and whose subwords it has: to go on with
            other pairs, or to make a parallel model of one that writes word by word (chapter 13). The run has
            a checkpoint before its first update, so it is resumed without this.
        begin: called with the name of each part before the first update and after the last, which takes long
            where there are many pairs.
        device: where the model computes, as torch names it.
        processes: those that train together (`training.joined`). All call this with the same arguments; they
            see the same folder, in which the first one writes.
        shard: each process keeps a part of the weights, and of what the optimiser remembers, for models that
            fit no device; a run may go on with it or without. The translator is then in the processor's memory.
        compiled: torch compiles the layers, which takes a while before the first update, and makes all of them
            faster where it pays; the translator is not compiled.

    Returns:
        The translator, and how training ended. After an interruption `folder` holds checkpoints but no
        translator yet.

    Raises:
        PairError: if a sentence is empty, or too long for the model or for a batch.
        CorpusError: if a file of the shards is missing, damaged, or was changed.
        CheckpointError: if `folder` already holds a run and `resume` is false, the weights of `start` don't fit
            the recipe's model, the run to resume is missing, has a damaged checkpoint, was another run, or
            shall be made longer and stopped early, without more patience, another process is training there,
            or a file can't be written.
        ValueError: if there are no pairs, `start` has another vocabulary, the model doesn't fit into memory,
            a sentence is no text that UTF-8 can write, or the loss, the gradient or the validation's loss is no
            longer a number; or with `shard`, if torch is older than 2.7, or `evaluate` is given, for which no
            process has a whole translator, or the recipe's optimiser is muon; or if torch can't compile.
        KeyboardInterrupt: at a second Ctrl-C.
    """
    folder = Path(folder)
    if not train or not valid:
        raise ValueError(
            f"train ({len(train)} pairs) and valid ({len(valid)} pairs) must not be empty"
        )
    sharded = shard and processes.count > 1
    if shard and not sharded:
        tell("one process alone has nobody to share weights with: shard does nothing")
    if sharded and evaluate:
        raise ValueError("evaluate must be left out with shard: no process has a whole translator")
    with only_writer(folder) if processes.first else nullcontext():
        if resume:
            recipe, vocabulary = recipe_to_resume(folder, recipe), load_vocabulary(folder)
            if not checkpoint:
                refuse_lost(folder)
        else:
            if processes.first:
                refuse_used(folder)
            recipe = recipe or Recipe()
        if sharded and recipe.optimizer == "muon":
            raise ValueError("optimizer muon needs whole matrices: it can't be used with shard")
        given = start.vocabulary if start and not vocabulary else vocabulary
        vocabulary = _vocabulary(train, recipe, given, begin)
        if start and start.vocabulary.digest != vocabulary.digest:
            raise ValueError(
                "start must have the subwords of the run: its vocabulary is another one"
            )
        if not isinstance(train, Shards):
            begin(f"cutting {len(train):,} pairs into subwords, and sorting them")
        known = train.texts("sample") if isinstance(train, Shards) else train
        model = fresh_model(recipe, len(vocabulary), device, sharded=sharded, compiled=compiled)
        trainer = _trainer(model, train, valid, vocabulary, recipe, folder, evaluate, processes)
        goes_on = resume and (checkpoint or list_checkpoints(folder))
        if goes_on:
            trainer.resume(checkpoint)
        elif start:
            alike = type(start.model) is type(model)
            load_weights(model if alike else getattr(model, "body", model), weights_of(start.model))
        if processes.first and not resume:
            save_vocabulary(vocabulary, folder)
        if start and not goes_on:
            trainer.save()  # before the recipe: without it, nobody resumes this run from other weights
        # A new one, or one that is longer now, or gentler.
        if processes.first and not (resume and recipe == Recipe.load(folder)):
            recipe.save(folder)
        outcome = trainer.train(report)
        if outcome != "interrupted":
            begin("choosing the weights, and trying them")
            trainer.finish()
        if sharded or compiled:
            weights = gathered(weights_of(model))
            model = fresh_model(recipe, len(vocabulary), "cpu" if sharded else device)
            load_weights(model, weights)
        translator = Translator(model, vocabulary)
        if outcome != "interrupted" and processes.first:
            _warn_of_guessing(trainer.history, len(vocabulary), recipe.training.schedule)
            translator.calibrate([pair.source for pair in valid[:_CALIBRATED]])
            translator.lexicon = usual_translations([(p.source, p.target) for p in known])
            translator.save(folder)
        return translator, outcome


def _vocabulary(
    train: Sequence[Pair] | Shards,
    recipe: Recipe,
    given: Vocabulary | None,
    begin: Callable[[str], None],
) -> Vocabulary:
    """The vocabulary that is given, that of the shards, or a new one."""
    if isinstance(train, Shards):
        own = given or load_vocabulary(train.folder)
        if own.digest != train.record.get("vocabulary"):
            raise CheckpointError(
                f"{train.folder} was cut into other subwords than those of its vocabulary.json, or of the run"
            )
        return own
    if given:
        return given
    begin(f"learning subwords from {len(train):,} pairs")
    lines = (text for pair in train for text in (pair.source, pair.target))
    return Vocabulary.train(lines, recipe.vocab_size)


def _warn_of_guessing(history: History, vocab_size: int, schedule: str) -> None:
    """A model that has learned nothing, or has diverged, is no error, but nobody should miss it."""
    best, even = min(record["loss"] for record in history), math.log(vocab_size)
    rate = "Lower peak_rate, raise" if schedule == "cosine" else "Raise"
    if best > even:
        tell(
            f"the lowest validation loss, {best:.2f}, is above ln {vocab_size} = {even:.2f}, that of guessing "
            f"evenly: this model has learned nothing. {rate} warmup_steps, or train longer"
        )


def _trainer(
    model: Trained,
    train: Sequence[Pair] | Shards,
    valid: Sequence[Pair],
    vocabulary: Vocabulary,
    recipe: Recipe,
    folder: Path,
    further: Callable[[Translator], dict[str, float]] | None,
    processes: Processes,
) -> Trainer:
    """The model's data as ids, its loss, and its validation."""
    max_len = model.config.max_len
    max_tokens = recipe.training.max_tokens
    most = N_FERTILITIES - 1 if recipe.model == "nat" else max_len
    train_examples: Sequence[Example] | ShardBatches
    if isinstance(train, Shards):
        train_examples = ShardBatches(train, max_tokens, max_len)
    else:
        train_examples = encode_pairs(vocabulary, train)
        _check_lengths(train, train_examples, max_len, max_tokens, most)
    valid_examples = encode_pairs(vocabulary, valid)
    _check_lengths(valid, valid_examples, max_len, 2 * max_len + 1, most)
    task = task_of(recipe, train_examples, valid_examples, max_len)

    def evaluate(model: Trained) -> dict[str, float]:
        scores = further(Translator(model, vocabulary)) if further else {}
        loss = validation_loss(model, task.valid, task.valid_loss, processes=processes)
        return scores | {"loss": loss}

    return Trainer(
        model,
        task.train,
        task.loss,
        evaluate,
        recipe.training,
        folder,
        optimizer=MuonWithAdam(model) if recipe.optimizer == "muon" else None,
        held_out=task.valid,
        processes=processes,
    )


def _check_lengths(
    pairs: Sequence[Pair], examples: Sequence[Example], max_len: int, max_tokens: int, most: int
) -> None:
    """Refuse the first pair that is empty or too long, and say how many there are.

    A target has at most `most` subwords for each of the source.
    """
    wrong: list[tuple[Pair, str]] = []
    for pair, (src, tgt) in zip(pairs, examples, strict=True):
        longest = max(len(src), len(tgt)) + 1  # with </s> or <s>
        positions = len(src) + len(tgt) + 3  # <s> and two </s>
        if not src or not tgt:
            wrong.append((pair, "has an empty sentence"))
        elif longest > max_len:
            wrong.append((pair, f"has {longest} subwords on a side, the model takes {max_len}"))
        elif len(tgt) > most * len(src):
            wrong.append((pair, f"has more than {most} subwords for each of the source"))
        elif positions > max_tokens:
            wrong.append((pair, f"fills {positions} positions, max_tokens is {max_tokens}"))
    if wrong:
        pair, problem = wrong[0]
        more = f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
        raise PairError(pair, problem + more)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
