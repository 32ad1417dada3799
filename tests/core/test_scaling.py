"""Counting, ring, failures, laws: against torch's own counters, plain sums and trials."""

import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import cross_entropy, teacher_forcing_loss
from transformer_course.scaling import (
    checkpoint_interval,
    failures_a_day,
    fit_power_law,
    forward_flops,
    lost_share,
    ring_all_reduce,
    ring_steps,
    rule_of_thumb,
    saved_bytes,
    training_flops,
    training_memory,
    utilisation,
)

SHAPES = [
    TransformerConfig(50, 16, 2, 1, 1, 32, dropout=0.0),
    TransformerConfig(50, 16, 4, 3, 2, 24, dropout=0.0, norm="post", tie_embeddings=False),
    TransformerConfig(50, 16, 4, 1, 2, 24, dropout=0.0, n_key_heads=2, positions="learned"),
]


def batch(src_len: int, tgt_len: int, rows: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Ids without padding."""
    return (
        torch.full((rows, src_len), 5, device=device),
        torch.full((rows, tgt_len), 6, device=device),
    )


@pytest.mark.parametrize("config", SHAPES)
def test_operations_are_those_that_torch_counts(config: TransformerConfig) -> None:
    model = Transformer(config)
    src, tgt = batch(7, 5, 3)
    with FlopCounterMode(display=False) as forward:
        logits = model(src, tgt)
    assert forward.get_total_flops() == forward_flops(config, 7, 5, 3)
    with FlopCounterMode(display=False) as whole:
        cross_entropy(model(src, tgt), tgt, 0).backward()
    assert whole.get_total_flops() == training_flops(config, 7, 5, 3)
    assert logits.shape == (3, 5, 50)


def test_rule_of_thumb_is_right_where_each_token_meets_each_weight() -> None:
    """A stack of linear maps, and a Transformer for which it is wrong by a factor."""
    d = 12
    net = nn.Sequential(*[nn.Linear(d, d, bias=False) for _ in range(3)])
    x = torch.randn(10, d, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        net(x).sum().backward()
    assert counter.get_total_flops() == rule_of_thumb(3 * d * d, 10)
    base = TransformerConfig.base(37_000)
    weights = 63_082_496  # chapter 06
    counted = training_flops(base, 25, 25) / rule_of_thumb(weights, 50)
    assert 0.45 < counted < 0.55  # a token of the source doesn't meet decoder and output


def test_utilisation_and_wrong_numbers() -> None:
    assert utilisation(50, 2, 100) == 0.25
    with pytest.raises(ValueError, match=r"seconds \(0\)"):
        utilisation(1, 0, 1)
    with pytest.raises(ValueError, match=r"src_len \(0\) must be 1 or more"):
        forward_flops(SHAPES[0], 0, 5)
    with pytest.raises(ValueError, match="n_tokens"):
        rule_of_thumb(5, 0)


def test_what_autograd_keeps() -> None:
    """Each memory once, nothing that is there anyway, and nothing that needs no gradient."""
    x = torch.randn(4, 6, requires_grad=True)
    weight = nn.Parameter(torch.randn(6, 2))
    assert saved_bytes(lambda: x @ weight) == 4 * (24 + 12)
    assert saved_bytes(lambda: x @ weight, [weight]) == 4 * 24
    assert saved_bytes(lambda: x * x.view(4, 6)) == 4 * 24
    assert saved_bytes(lambda: x.detach() @ weight.detach()) == 0


@pytest.mark.parametrize("config", SHAPES)
def test_memory_is_counted_as_on_a_model_with_numbers(config: TransformerConfig) -> None:
    model = Transformer(config).eval()
    src, tgt = batch(7, 6, 4)
    found = training_memory(config, 7, 6, 4)
    kept = saved_bytes(lambda: teacher_forcing_loss(model, src, tgt), model.parameters())
    assert 0 <= kept - found.activations < 64  # some single numbers aren't tensors there
    n = sum(p.numel() for p in model.parameters())
    assert (found.weights, found.gradients, found.moments) == (4 * n, 4 * n, 8 * n)
    assert found.total == 16 * n + found.activations


def test_memory_of_processes() -> None:
    """Whole weights and a part of the batch; with shards a part of the weights, too."""
    config = SHAPES[0]
    alone = training_memory(config, 7, 6, 8)
    four = training_memory(config, 7, 6, 8, n_processes=4)
    assert (four.weights, four.moments) == (alone.weights, alone.moments)
    assert four.activations == training_memory(config, 7, 6, 2).activations
    assert training_memory(config, 7, 6) == training_memory(config, 7, 6, 1)
    shards = training_memory(config, 7, 6, 8, n_processes=4, sharded=True)
    assert 4 * shards.weights == pytest.approx(alone.weights, abs=16)
    assert shards.moments == 2 * shards.gradients == 2 * shards.weights
    with pytest.raises(ValueError, match=r"batch \(8\) must be divisible by n_processes \(3\)"):
        training_memory(config, 7, 6, 8, n_processes=3)
    with pytest.raises(ValueError, match=r"tgt_len \(1\) must be 2 or more"):
        training_memory(config, 7, 1, 8)


def test_checkpoints_keep_what_goes_into_layers_and_one_layer() -> None:
    deep = TransformerConfig(50, 16, 2, 6, 6, 64, dropout=0.0)
    plain = training_memory(deep, 20, 21, 4)
    less = training_memory(deep, 20, 21, 4, checkpointed=True)
    assert less.activations < plain.activations / 4
    assert (less.weights, less.moments) == (plain.weights, plain.moments)
    # What torch's own checkpoints keep of a layer: x and the mask.
    layer = Transformer(deep).encoder_layers[0]
    x = torch.randn(4, 20, 16, requires_grad=True)
    mask = torch.ones(4, 1, 1, 20, dtype=torch.bool)
    assert (
        saved_bytes(lambda: checkpoint(layer, x, mask, use_reentrant=False)) <= 4 * x.numel() + 80
    )
    assert saved_bytes(lambda: layer(x, mask), layer.parameters()) > 10 * 4 * x.numel()


@given(st.integers(1, 7), st.integers(1, 23))
def test_a_ring_gives_everyone_the_sum(p: int, n: int) -> None:
    generator = torch.Generator().manual_seed(p * 100 + n)
    parts = [torch.randn(n, generator=generator, dtype=torch.float64) for _ in range(p)]
    before = [part.clone() for part in parts]
    sums, sent = ring_all_reduce(parts)
    for mine in sums:
        assert torch.equal(mine, sums[0])  # the same bits
        torch.testing.assert_close(mine, torch.stack(before).sum(0))
    assert all(torch.equal(a, b) for a, b in zip(parts, before, strict=True))
    assert sum(sent) == 2 * (p - 1) * n
    assert max(sent) <= 2 * (p - 1) * math.ceil(n / p)


def test_the_steps_of_a_ring() -> None:
    """Halfway each worker has one whole sum; nobody sends to himself."""
    parts = [torch.arange(8.0).view(2, 4) * (i + 1) for i in range(4)]
    states = list(ring_steps(parts))
    assert len(states) == 1 + 2 * 3
    whole = (torch.arange(8.0) * 10).tensor_split(4)
    for i, mine in enumerate(states[3].chunks):
        right = [torch.equal(mine[c], whole[c]) for c in range(4)]
        assert right == [c == (i + 1) % 4 for c in range(4)]
    assert states[1].sent == [0, 1, 2, 3]
    assert states[-1].numbers == [12, 12, 12, 12]
    sums, _ = ring_all_reduce(parts)
    assert sums[2].shape == (2, 4)
    with pytest.raises(ValueError, match=r"parts\[1\] is \(3,\)"):
        ring_all_reduce([torch.ones(2), torch.ones(3)])
    with pytest.raises(ValueError, match="parts is empty"):
        ring_all_reduce([])


def test_the_interval_loses_least() -> None:
    """No other interval loses less, by the formula and in a trial with a clock and dice."""
    save, between = 30.0, 20_000.0
    best = checkpoint_interval(save, between)
    least = lost_share(best, save, between)
    assert all(lost_share(best * f, save, between) > least for f in (0.5, 0.9, 1.1, 2.0))

    def lost_in_a_trial(interval: float) -> float:
        dice = random.Random(0)
        clock = done = 0.0
        while clock < 3e7:
            left = dice.expovariate(1 / between)  # until the next failure
            finished = int(left // (interval + save))
            done += finished * interval
            clock += left
        return 1 - done / clock

    assert lost_in_a_trial(best) == pytest.approx(least, rel=0.05)
    assert lost_in_a_trial(best) < min(lost_in_a_trial(best / 3), lost_in_a_trial(3 * best))
    assert failures_a_day(2, 48) == 1
    with pytest.raises(ValueError, match=r"seconds_to_save \(0\)"):
        checkpoint_interval(0, 1)


def test_a_power_law_is_found_again() -> None:
    sizes = [10.0, 100.0, 1000.0, 5000.0]
    law = fit_power_law(sizes, [3 * n**-0.25 for n in sizes])
    assert law.factor == pytest.approx(3)
    assert law.exponent == pytest.approx(0.25)
    assert law(1e6) == pytest.approx(3 * 1e6**-0.25)
    with pytest.raises(ValueError, match="two different ones"):
        fit_power_law([5, 5], [1, 2])
    assert fit_power_law([10**20, 10**22], [4, 1]).exponent == pytest.approx(math.log10(2))
    with pytest.raises(ValueError, match="2 sizes and 3 losses"):
        fit_power_law([5, 6], [1, 2, 3])
    with pytest.raises(ValueError, match="above 0"):
        fit_power_law([5, 6], [1, 0])
