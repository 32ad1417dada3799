"""Operations and bytes of a training step, counted before a machine is bought (chapter 14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss

BYTES = 4  # of a number in single precision
Storages = dict[int, Tensor]


def forward_flops(config: TransformerConfig, src_len: int, tgt_len: int, batch: int = 1) -> int:
    """Floating-point operations of one pass forward, those of matrix products alone.

    A multiplication and an addition are two operations. All other work (norms, softmax, additions) is left
    out, as Kaplan et al. 2020 (table 1) do; it grows with the width, and the products with its square.

    Args:
        config: of a Transformer.
        src_len: tokens of a source, padding included.
        tgt_len: tokens that the decoder reads, padding included.
        batch: pairs of sentences.

    Returns:
        The number of operations; torch's own counter finds the same.

    Raises:
        ValueError: if a length or the batch is below 1.

    >>> forward_flops(TransformerConfig.base(37_000), src_len=25, tgt_len=25)
    3172249600
    """
    _check(src_len=src_len, tgt_len=tgt_len, batch=batch)
    d = config.d_model
    key_heads = config.n_heads if config.n_key_heads is None else config.n_key_heads
    d_keys = d // config.n_heads * key_heads

    def attention(q_len: int, k_len: int) -> int:
        projections = 2 * q_len * d * 2 * d + 2 * k_len * d * 2 * d_keys
        return projections + 2 * (2 * q_len * k_len * d)  # and scores, and averages of values

    def feed_forward(length: int) -> int:
        return 2 * (2 * length * d * config.d_ff)

    encoder = attention(src_len, src_len) + feed_forward(src_len)
    decoder = attention(tgt_len, tgt_len) + attention(tgt_len, src_len) + feed_forward(tgt_len)
    output = 2 * tgt_len * d * config.vocab_size
    return batch * (config.n_encoder_layers * encoder + config.n_decoder_layers * decoder + output)


def training_flops(config: TransformerConfig, src_len: int, tgt_len: int, batch: int = 1) -> int:
    """Operations of an update: forward, and twice as many backward.

    Backward, each matrix product becomes two (Kaplan et al. 2020, §2.1): one for the gradient of what came
    in, one for that of the weights. What Adam does is left out: some ten operations a weight, for the whole
    batch.

    Args:
        config: as in `forward_flops`.
        src_len: likewise.
        tgt_len: likewise.
        batch: likewise.

    Returns:
        The number of operations.

    Raises:
        ValueError: as `forward_flops` does.
    """
    return 3 * forward_flops(config, src_len, tgt_len, batch)


def rule_of_thumb(n_parameters: int, n_tokens: int) -> int:
    r"""Operations of a training by the rule $6NT$ (Kaplan et al. 2020, §2.1).

    Two for each weight and token forward, four backward. It holds for a model in which each token meets each
    weight in a product. Tokens of a source meet little of the decoder, and an embedding that is looked up is no
    product. Scores are left out: with long texts or narrow models they count.

    Args:
        n_parameters: N, without those that are only looked up.
        n_tokens: T, of the whole training.

    Returns:
        The number of operations.

    Raises:
        ValueError: if a number is below 1.

    >>> rule_of_thumb(1_000_000, 1_000)
    6000000000
    """
    _check(n_parameters=n_parameters, n_tokens=n_tokens)
    return 6 * n_parameters * n_tokens


def utilisation(flops: float, seconds: float, peak: float) -> float:
    """The share of a machine's speed that a model uses.

    Chowdhery et al. 2022 (§4.1) call it model FLOPs utilisation.

    Args:
        flops: operations that the model needs, however many the program does.
        seconds: that it took.
        peak: operations a second that the machine can do at most, all its parts together.

    Returns:
        A share, 0 to 1 if `peak` is right.

    Raises:
        ValueError: if a number isn't above 0.

    >>> utilisation(3e12, 2.0, 10e12)
    0.15
    """
    if min(flops, seconds, peak) <= 0:
        raise ValueError(
            f"flops ({flops:g}), seconds ({seconds:g}) and peak ({peak:g}) must be above 0"
        )
    return flops / seconds / peak


@dataclass(frozen=True)
class Memory:
    """Bytes that one process holds while it trains, in single precision.

    Args:
        weights: of the model.
        gradients: one number a weight.
        moments: Adam's two averages (Kingma and Ba 2015).
        activations: what the way back needs of the way forward.
    """

    weights: int
    gradients: int
    moments: int
    activations: int

    @property
    def total(self) -> int:
        """All four together."""
        return self.weights + self.gradients + self.moments + self.activations


def training_memory(
    config: TransformerConfig,
    src_len: int,
    tgt_len: int,
    batch: int = 1,
    *,
    n_processes: int = 1,
    sharded: bool = False,
    checkpointed: bool = False,
) -> Memory:
    """What a training holds in each process, counted on a model without numbers.

    Rajbhandari et al. 2020 (§3) count alike.

    Args:
        config: of a Transformer.
        src_len: tokens of a source.
        tgt_len: tokens of a target, both marks included.
        batch: pairs in the batch of all processes together.
        n_processes: each takes its part of the batch.
        sharded: whether weights, gradients and moments are divided, too (Rajbhandari et al. 2020, stage 3);
            the layer that computes needs its own weights whole for a moment, which isn't counted.
        checkpointed: whether only what goes into each layer is kept, and a layer's activations are computed
            again on the way back (Chen et al. 2016); those of one layer then count at a time.

    Returns:
        The bytes. Activations are those of the readable model in training, without dropout.

    Raises:
        ValueError: if a number is below 1, `tgt_len` below 2, or the batch can't be divided.
    """
    _check(src_len=src_len, batch=batch, n_processes=n_processes)
    if tgt_len < 2:
        raise ValueError(f"tgt_len ({tgt_len}) must be 2 or more: it counts both marks")
    if batch % n_processes:
        raise ValueError(f"batch ({batch}) must be divisible by n_processes ({n_processes})")
    with torch.device("meta"):
        model = Transformer(config)
        src = torch.ones(batch // n_processes, src_len, dtype=torch.int64)
        tgt = torch.ones(batch // n_processes, tgt_len, dtype=torch.int64)
    model.eval()  # dropout would keep another number for each, or a bit
    loss = partial(teacher_forcing_loss, model, src, tgt)
    weights = list(model.parameters())
    kept = _with_checkpoints(model, loss) if checkpointed else saved_bytes(loss, weights)
    numbers = sum(parameter.numel() for parameter in weights)
    held = -(-numbers // n_processes) if sharded else numbers
    return Memory(BYTES * held, BYTES * held, 2 * BYTES * held, kept)


def saved_bytes(run: Callable[[], object], without: Iterable[Tensor] = ()) -> int:
    """Bytes that autograd keeps on the way forward, for the way back: what Chen et al. 2016 save.

    Args:
        run: computes forward.
        without: tensors that are there anyway, such as the weights.

    Returns:
        The bytes of all tensors that were kept; views of one memory count once.

    >>> x = torch.ones(10, requires_grad=True)
    >>> saved_bytes(lambda: (x * 2).exp().sum())  # exp keeps its result
    40
    """
    found: Storages = {}
    with _kept(found, without):
        run()
    return _bytes(found)


def _with_checkpoints(model: Transformer, run: Callable[[], object]) -> int:
    """As `saved_bytes`, but what goes on inside layers counts once, for the layer that keeps most."""
    given: Storages = {}  # what goes into layers
    inside: list[int] = []

    def watch(layer: nn.Module) -> None:
        forward = layer.forward

        def watched(*arguments: Tensor | None, **named: Any) -> Tensor:
            tensors = [tensor for tensor in arguments if tensor is not None]
            given.update({_place(tensor): tensor for tensor in tensors})
            own: Storages = {}
            with _kept(own, [*model.parameters(), *tensors]):
                out: Tensor = forward(*arguments, **named)
            inside.append(_bytes(own))
            return out

        layer.forward = watched

    for layer in [*model.encoder_layers, *model.decoder_layers]:
        watch(layer)
    rest: Storages = {}
    with _kept(rest, model.parameters()):
        run()
    return _bytes(given | rest) + max(inside)


def _kept(found: Storages, without: Iterable[Tensor]) -> saved_tensors_hooks:
    """Note what autograd keeps, by its place in memory; holding it, so that no place is used twice."""
    known = {_place(tensor) for tensor in without}

    def keep(tensor: Tensor) -> Tensor:
        if _place(tensor) not in known:
            found.setdefault(_place(tensor), tensor)
        return tensor

    return saved_tensors_hooks(keep, lambda tensor: tensor)


def _place(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata  # data_ptr() is 0 on the device "meta"


def _bytes(found: Storages) -> int:
    return sum(tensor.untyped_storage().nbytes() for tensor in found.values())


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name} ({number}) must be 1 or more")
