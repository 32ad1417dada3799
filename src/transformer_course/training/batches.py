"""What a trainer asks of a model and of its data (chapter 07), and sentence pairs as the ready-made data.

A model needs named parameters and a config; data needs batches. So the trainer knows neither encoders nor
decoders: a language model brings `Batches` of one tensor each, a classifier of two.
"""

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor, nn

from transformer_course.corpus.batches import Example, collate, token_batches


class Sizes(Protocol):
    """The config of a model that can be trained: a dataclass that has at least these two numbers."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def d_model(self) -> int:
        """Width of the vectors between layers; the paper's learning rate depends on it."""
        ...

    @property
    def max_len(self) -> int:
        """The longest sequence, in tokens."""
        ...


class Trainable(Protocol):
    """A model that can be trained and validated: a `torch.nn.Module` with a `config`.

    Checkpoints hold its parameters. Other numbers that change in training, such as the running means of batch
    normalisation, are not kept: a run with these doesn't go on as if it had never stopped.
    """

    training: bool

    @property
    def config(self) -> Sizes:
        """The model's sizes; a checkpoint keeps them, and resuming compares them."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Every parameter once."""
        ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Every parameter once, with its name."""
        ...

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Args:
            set_to_none: there are none then, instead of zeros.
        """
        ...

    def train(self, mode: bool = True) -> object:
        """Dropout on, or off.

        Args:
            mode: True for training.

        Returns:
            Anything; a module returns itself.
        """
        ...

    def eval(self) -> object:
        """Dropout off."""
        ...


# (model, the tensors of a batch) → one number, the mean per predicted token.
LossFn = Callable[..., Tensor]
# The model, in evaluation mode → scores by name, "loss" among them.
Evaluate = Callable[[Any], dict[str, float]]


class Batches(Protocol):
    """Data cut into batches. A batch is known by the indices of its members."""

    def epoch(self, seed: int | None = None) -> Sequence[Sequence[int]]:
        """The batches of one pass over the data, or over a part of it where parts come in turn.

        Args:
            seed: decides their order; None gives the same order every time. The trainer counts it up.

        Returns:
            The members of each batch; the same ones for the same seed, on every platform.
        """
        ...

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """What the loss function gets beside the model.

        Args:
            batch: one of those that `epoch` gave, or a part of one.

        Returns:
            The tensors, in the processor's memory.
        """
        ...

    def n_predicted(self, batch: Sequence[int]) -> int:
        """How many tokens the loss of a batch is the mean of.

        Args:
            batch: one of those that `epoch` gave, or a part of one.

        Returns:
            Their number, padding left out.
        """
        ...

    @property
    def digest(self) -> str:
        """A fingerprint of the data, by which a resumed run knows it again."""
        ...


class PairBatches:
    """Sentence pairs as `Batches`: of like length together, each batch two tensors, src and tgt.

    Vaswani et al. 2017, §5.1, batch by length too.

    Args:
        examples: pairs of id lists without special tokens.
        max_tokens: the most positions in a batch, padding included, source and target together.
        max_len: the longest sentence on either side, with one special token.

    >>> pairs = PairBatches([([5, 6, 7], [5, 6]), ([8], [9])], max_tokens=100, max_len=10)
    >>> [tensor.tolist() for tensor in pairs.tensors([1])], pairs.n_predicted([0, 1])
    ([[[8, 2]], [[1, 9, 2]]], 5)
    """

    def __init__(self, examples: Sequence[Example], max_tokens: int, max_len: int) -> None:
        self.examples, self.max_tokens, self.max_len = examples, max_tokens, max_len

    def epoch(self, seed: int | None = None) -> list[list[int]]:
        """The batches of one pass; see `corpus.batches.token_batches`.

        Args:
            seed: decides their order; None puts short sentences first.

        Returns:
            The members of each batch.

        Raises:
            ValueError: if there are no examples, or one is too long for `max_len` or `max_tokens`.
        """
        return token_batches(self.examples, self.max_tokens, seed=seed, max_len=self.max_len)

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """The pairs of a batch, padded; see `corpus.batches.collate`.

        Args:
            batch: indices of examples.

        Returns:
            src (batch, src_len) and tgt (batch, tgt_len), both int64.

        Raises:
            ValueError: if an example holds the id of a special token.
        """
        collated = collate(self.examples, batch)
        return collated.src, collated.tgt

    def n_predicted(self, batch: Sequence[int]) -> int:
        """Target tokens that the decoder must predict, </s> included.

        Args:
            batch: indices of examples.

        Returns:
            Their number.
        """
        return sum(len(self.examples[index][1]) + 1 for index in batch)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of all pairs, in their order."""
        state = hashlib.sha256()
        for source, target in self.examples:
            state.update(array("q", [len(source), *source, *target]).tobytes())
        return state.hexdigest()


def as_batches(
    data: Sequence[Example] | Batches, max_tokens: int, max_len: int, default: int
) -> Batches:
    """Pairs as `PairBatches`; anything else must offer batches itself.

    Args:
        data: pairs of id lists without special tokens, or batches.
        max_tokens: the size of a batch of pairs.
        max_len: the longest sentence of a pair.
        default: what `max_tokens` is where nobody has set it.

    Returns:
        The batches.

    Raises:
        ValueError: if `max_tokens` was set for data that brings batches of its own, of another size.
    """
    if isinstance(data, Sequence):
        return PairBatches(data, max_tokens, max_len)
    if max_tokens not in (default, getattr(data, "max_tokens", default)):
        raise ValueError(
            f"max_tokens ({max_tokens}) is the size of batches of pairs; {type(data).__name__} brings batches "
            "of its own, so leave it out"
        )
    return data


def to_device(tensor: Tensor, device: torch.device) -> Tensor:
    """Copy a tensor to where a model computes; to a CUDA card from pinned memory, so that nobody waits for it.

    Args:
        tensor: in the processor's memory.
        device: where to.

    Returns:
        The copy; the tensor itself if it is there already.
    """
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
