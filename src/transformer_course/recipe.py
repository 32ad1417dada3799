"""How a translator is trained from sentence pairs (chapter 07): the recipe, the split, the run."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_course.checkpoints import (
    CheckpointError,
    list_checkpoints,
    read_json,
    write_json,
)
from transformer_course.corpus.batches import Example
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss
from transformer_course.training import (
    Outcome,
    Progress,
    Trainer,
    TrainingConfig,
    validation_loss,
)
from transformer_course.translator import Translator, load_vocabulary, save_vocabulary

PRESETS = ("tiny", "narrow", "small", "base")


@dataclass(frozen=True)
class Recipe:
    """All that decides how a translator is trained, apart from its data.

    Args:
        preset: size of the model: "tiny", "narrow", "small" or "base" (`TransformerConfig`).
        vocab_size: subwords of both languages together, 259 or more; fewer if the text has no more.
        dropout: share of numbers set to zero in training, at least 0 and below 1.
        label_smoothing: ε of the training loss, at least 0 and below 1 (Vaswani et al. 2017, §5.4).
        training: steps, batches, learning rate, seed.

    Raises:
        ValueError: naming the field, its value and the rule it breaks.
    """

    preset: str = "tiny"
    vocab_size: int = 4000
    dropout: float = 0.1
    label_smoothing: float = 0.1
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ValueError(f"preset ({self.preset!r}) must be one of {', '.join(PRESETS)}")
        if self.vocab_size < 259:
            raise ValueError(
                f"vocab_size ({self.vocab_size}) must be at least 259: 3 special tokens and 256 bytes"
            )
        for name in ("dropout", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} ({getattr(self, name)}) must be at least 0 and below 1")

    def config(self, vocab_size: int) -> TransformerConfig:
        """The model's config for a vocabulary of this size.

        Args:
            vocab_size: entries of the vocabulary, special tokens included.

        Returns:
            The preset, with this recipe's dropout.

        Raises:
            ValueError: if `vocab_size` is no whole number, or below 1.
        """
        preset: TransformerConfig = getattr(TransformerConfig, self.preset)(vocab_size)
        return replace(preset, dropout=self.dropout)

    def save(self, folder: str | Path) -> None:
        """Write `recipe.json` into `folder`.

        Args:
            folder: the run's; made if need be.

        Raises:
            CheckpointError: if the file can't be written.
        """
        write_json(Path(folder) / "recipe.json", asdict(self))

    @classmethod
    def load(cls, folder: str | Path) -> "Recipe":
        """Read the recipe of a run.

        Args:
            folder: the run's, with a `recipe.json`.

        Returns:
            The recipe.

        Raises:
            CheckpointError: if it is missing or damaged.
        """
        path = Path(folder) / "recipe.json"
        record = read_json(path)
        try:
            return cls(**record | {"training": TrainingConfig(**record["training"])})
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is damaged: {error}") from error

    def settings(self) -> dict[str, Any]:
        """Every setting by its name, those of the training among them."""
        return {k: v for k, v in asdict(self).items() if k != "training"} | asdict(self.training)


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
    train: Sequence[Pair],
    valid: Sequence[Pair],
    folder: str | Path,
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
    checkpoint: str | None = None,
    report: Callable[[Progress], None] | None = None,
    evaluate: Callable[[Translator], dict[str, float]] | None = None,
) -> tuple[Translator, Outcome]:
    """Train a translator on sentence pairs and write it to `folder`.

    Args:
        train: what to learn from; each pair's first translation.
        valid: held-out pairs, for the validation loss.
        folder: for the translator, `recipe.json`, `history.json` and checkpoints.
        recipe: how to train; if left out, the tiny preset, or on resuming what the run was started with.
        resume: go on from the newest checkpoint, exactly as if training had never stopped; from the start
            with the run's recipe and vocabulary if it stopped before its first checkpoint.
        checkpoint: file name of the checkpoint to resume from, if not the newest.
        report: called after every update, for a progress bar.
        evaluate: gives scores by name that are kept in the history at every validation, beside the loss.

    Returns:
        The translator, and how training ended. After an interruption `folder` holds checkpoints but no
        translator yet.

    Raises:
        PairError: if a sentence is empty, or too long for the model or for a batch.
        CheckpointError: if `folder` already holds a run and `resume` is false, the run to resume is missing,
            has a damaged checkpoint, or was another run, or a file can't be written.
        ValueError: if there are no pairs, a sentence is no text that UTF-8 can write, or the loss, the gradient
            or the validation's loss is no longer a number.
        KeyboardInterrupt: at a second Ctrl-C.
    """
    folder = Path(folder)
    if not train or not valid:
        raise ValueError(
            f"train ({len(train)} pairs) and valid ({len(valid)} pairs) must not be empty"
        )
    if resume:
        recipe, vocabulary = _recipe_to_resume(folder, recipe), load_vocabulary(folder)
    else:
        refuse_used(folder)
        recipe = recipe or Recipe()
        lines = (text for pair in train for text in (pair.source, pair.target))
        vocabulary = Vocabulary.train(lines, recipe.vocab_size)
    trainer = _trainer(train, valid, vocabulary, recipe, folder, evaluate)
    if resume and (checkpoint or list_checkpoints(folder)):
        trainer.resume(checkpoint)
    elif not resume:
        save_vocabulary(vocabulary, folder)
        recipe.save(folder)
    outcome = trainer.train(report)
    if outcome != "interrupted":
        trainer.finish()
        Translator(trainer.model, vocabulary).save(folder)
    return Translator(trainer.model, vocabulary), outcome


def _trainer(
    train: Sequence[Pair],
    valid: Sequence[Pair],
    vocabulary: Vocabulary,
    recipe: Recipe,
    folder: Path,
    further: Callable[[Translator], dict[str, float]] | None,
) -> Trainer:
    """A model with fresh weights, its loss, and its validation."""
    config = recipe.config(len(vocabulary))
    train_examples = encode_pairs(vocabulary, train)
    valid_examples = encode_pairs(vocabulary, valid)
    _check_lengths(train, train_examples, config.max_len, recipe.training.max_tokens)
    _check_lengths(valid, valid_examples, config.max_len, 2 * config.max_len + 1)

    def smoothed(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
        return teacher_forcing_loss(model, src, tgt, recipe.label_smoothing)

    def evaluate(model: Transformer) -> dict[str, float]:
        scores = further(Translator(model, vocabulary)) if further else {}
        return scores | {"loss": validation_loss(model, valid_examples, teacher_forcing_loss)}

    torch.manual_seed(recipe.training.seed)
    # In bf16 the fused kernel is slow on processors.
    model = Transformer(config).use_fused(recipe.training.precision == "fp32")
    return Trainer(model, train_examples, smoothed, evaluate, recipe.training, folder)


def refuse_used(folder: Path) -> None:
    """Refuse a folder that already holds a run.

    Args:
        folder: where a run shall go; it need not exist.

    Raises:
        CheckpointError: if it holds a recipe, checkpoints or a translator.
    """
    written = ("recipe.json", "vocabulary.json", "model.safetensors")
    if list_checkpoints(folder) or any((folder / name).exists() for name in written):
        raise CheckpointError(f"{folder} already holds a run: resume it, or choose another folder")


def encode_pairs(vocabulary: Vocabulary, pairs: Sequence[Pair]) -> list[Example]:
    """Source and first translation of each pair as lists of ids, without special tokens.

    Args:
        vocabulary: the subwords of both languages.
        pairs: the sentences.

    Returns:
        One (source ids, target ids) a pair, in the order of `pairs`.

    Raises:
        ValueError: if a sentence is no text that UTF-8 can write.
    """
    sources = vocabulary.encode([pair.source for pair in pairs])
    targets = vocabulary.encode([pair.target for pair in pairs])
    return list(zip(sources, targets, strict=True))


def split_pairs(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Split pairs into those to train on, to validate on, and to test on.

    Held out for validation and again for the test are 2 % of the sources: at least 20, but never more than a
    tenth, and at most 1,000. With fewer than ten sources, one is for validation and none for the test. Pairs of
    one source stay together, so that nothing held out was seen in training. Which ones are held out depends on
    the sentences alone, not on their order.

    Args:
        pairs: with at least two different sources.

    Returns:
        Training, validation and test pairs, each in the order of `pairs`.

    Raises:
        ValueError: if there are fewer than two different sources.

    >>> pairs = [Pair(f"sentence {i}", (f"phrase {i}",)) for i in range(500)]
    >>> [len(part) for part in split_pairs(pairs)]
    [460, 20, 20]
    """
    sources = {pair.source for pair in pairs}
    if len(sources) < 2:
        raise ValueError(
            f"pairs have {len(sources)} different sources; there must be 2 or more, to hold one out"
        )
    held = max(1, min(len(sources) // 10, max(20, len(sources) // 50), 1000))
    drawn = sorted(sources, key=lambda source: hashlib.sha256(source.encode()).digest())
    valid = set(drawn[:held])
    test = set(drawn[held : 2 * held]) if len(sources) >= 10 else set()
    return (
        [pair for pair in pairs if pair.source not in valid | test],
        [pair for pair in pairs if pair.source in valid],
        [pair for pair in pairs if pair.source in test],
    )


def _recipe_to_resume(folder: Path, asked: Recipe | None) -> Recipe:
    """The run's recipe; what is asked for must be the same."""
    if not (folder / "recipe.json").exists():
        raise CheckpointError(f"{folder} holds no run to resume: recipe.json is missing")
    saved = Recipe.load(folder)
    if asked is not None:
        saved_settings = saved.settings()
        for name, new in asked.settings().items():
            if saved_settings[name] != new:
                raise CheckpointError(
                    f"{folder} was started with {name} = {saved_settings[name]!r}, not {new!r}"
                )
    return saved


def _check_lengths(
    pairs: Sequence[Pair], examples: Sequence[Example], max_len: int, max_tokens: int
) -> None:
    """Refuse the first pair that is empty or too long, and say how many there are."""
    wrong: list[tuple[Pair, str]] = []
    for pair, (src, tgt) in zip(pairs, examples, strict=True):
        longest = max(len(src), len(tgt)) + 1  # with </s> or <s>
        positions = len(src) + len(tgt) + 3  # <s> and two </s>
        if not src or not tgt:
            wrong.append((pair, "has an empty sentence"))
        elif longest > max_len:
            wrong.append((pair, f"has {longest} subwords on a side, the model takes {max_len}"))
        elif positions > max_tokens:
            wrong.append((pair, f"fills {positions} positions, max_tokens is {max_tokens}"))
    if wrong:
        pair, problem = wrong[0]
        more = f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
        raise PairError(pair, problem + more)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
