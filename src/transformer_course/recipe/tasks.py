"""What a run trains (chapter 07): the model that a recipe names, its data, its loss and its held-out loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from transformer_course.corpus.batches import Example
from transformer_course.encoder_decoder import Transformer
from transformer_course.fast import use_fast
from transformer_course.loss import r_drop_loss, teacher_forcing_loss
from transformer_course.non_autoregressive import (
    FertilityBatches,
    FertilityTransformer,
    MaskPredict,
    aligned_fertilities,
    fertility_loss,
    mask_predict_loss,
)
from transformer_course.recipe.settings import Recipe
from transformer_course.training import Batches, LossFn
from transformer_course.training.compiling import compile_layers
from transformer_course.training.sharding import shard

Trained = Transformer | FertilityTransformer | MaskPredict
_KINDS: dict[str, type[Trained]] = {
    "transformer": Transformer,
    "nat": FertilityTransformer,
    "mask-predict": MaskPredict,
}
_LOSSES: dict[str, LossFn] = {
    "transformer": teacher_forcing_loss,
    "nat": fertility_loss,
    "mask-predict": mask_predict_loss,
}


@dataclass(frozen=True)
class Task:
    """What a trainer gets beside the model.

    Args:
        train: the data to learn from.
        valid: the held-out data.
        loss: of training, with the recipe's label smoothing.
        valid_loss: without it; the same every time for the same weights.
    """

    train: Sequence[Example] | Batches
    valid: Sequence[Example] | Batches
    loss: LossFn
    valid_loss: LossFn


def fresh_model(
    recipe: Recipe,
    vocab_size: int,
    device: str = "cpu",
    *,
    sharded: bool = False,
    compiled: bool = False,
) -> Trained:
    """The model of a recipe before its first update, with its fast parts.

    Args:
        recipe: the recipe; its seed decides the weights.
        vocab_size: entries of the vocabulary.
        device: where it shall compute; the weights are the same everywhere.
        sharded: leave a part of it to each process (`training.sharding`).
        compiled: compile its layers (`training.compiling`).

    Returns:
        The model.

    Raises:
        ValueError: if it doesn't fit into memory, or as `shard` and `compile_layers` do.
    """
    torch.manual_seed(recipe.training.seed)
    config = recipe.config(vocab_size)
    try:
        model = _KINDS[recipe.model](config)
    except RuntimeError as error:  # torch has no memory for it
        names = ("vocab_size", "n_encoder_layers", "n_decoder_layers", "d_model", "d_ff")
        sizes = ", ".join(f"{name} {getattr(config, name):,}" for name in names)
        raise ValueError(f"the model doesn't fit into memory ({sizes}): make it smaller") from error
    # In bf16 the fused kernel is slow on processors.
    fused = recipe.training.precision == "fp32" or not device.startswith("cpu")
    use_fast(model, attention=fused)
    if compiled:
        compile_layers(model, torch.device(device))
    if sharded:
        shard(model, torch.device(device))
        return model
    return model.to(device)


def task_of(
    recipe: Recipe, train: Sequence[Example] | Batches, valid: Sequence[Example], max_len: int
) -> Task:
    """The data and losses for a recipe's model.

    Args:
        recipe: the recipe.
        train: pairs of id lists to learn from, or batches of them.
        valid: held-out ones.
        max_len: the longest sentence of the model.

    Returns:
        The task. For "nat" all pairs are aligned first, which takes a minute for some 100,000.

    Raises:
        ValueError: if a source token has more fertility than the model knows, or the model "nat" shall learn
            from batches.
    """
    loss = partial(_LOSSES[recipe.model], label_smoothing=recipe.label_smoothing)
    if recipe.r_drop:
        loss = partial(r_drop_loss, label_smoothing=recipe.label_smoothing, r_drop=recipe.r_drop)
    if recipe.model == "transformer":
        return Task(train, valid, loss, teacher_forcing_loss)
    if recipe.model == "mask-predict":
        return Task(train, valid, loss, _same_gaps)
    if not isinstance(train, Sequence):
        raise ValueError(
            "model 'nat' aligns all pairs before it learns, so it can't take prepared data"
        )
    counts = aligned_fertilities([*train, *valid])
    sizes = recipe.training.max_tokens, max_len
    longest = max(len(src) + len(tgt) for src, tgt in valid) + 3
    return Task(
        FertilityBatches(train, counts[: len(train)], *sizes),
        FertilityBatches(valid, counts[len(train) :], max(sizes[0], longest), max_len),
        loss,
        fertility_loss,
    )


def _same_gaps(model: MaskPredict, src: Tensor, tgt: Tensor) -> Tensor:
    """The loss with gaps that depend on nothing else, so that two validations can be compared."""
    return mask_predict_loss(model, src, tgt, generator=torch.Generator().manual_seed(0))
