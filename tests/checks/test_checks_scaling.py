"""The parts of the exercises of chapter 14: what they compare with, and what the last cells call."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.checks import mutations
from transformer_course.checks import scaling as check
from transformer_course.checks.scaling.explore import epoch_table, ring_table
from transformer_course.encoder_decoder import FeedForward
from transformer_course.scaling import (
    checkpoint_interval,
    failures_a_day,
    fit_power_law,
    ring_all_reduce,
    ring_steps,
    rule_of_thumb,
    utilisation,
)

SEEDS = range(20)


def drawn(exercise: Any, seed: int) -> Any:
    return exercise.draw(np.random.default_rng(seed))


def learners() -> dict[str, Any]:
    return mutations.notebook_names(mutations.notebook_of("scaling", "solutions"))[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_joined_gradients_are_autograds_of_the_whole_batch(seed: int) -> None:
    """Loss of a token: the square of what a line says of it."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 8, size=4).astype(float)
    shards = [torch.tensor(rng.normal(size=(int(count), 3))) for count in counts]

    def gradient(tokens: torch.Tensor) -> Any:
        weights = torch.arange(3.0).double().requires_grad_()
        ((tokens @ weights) ** 2).mean().backward()
        assert weights.grad is not None
        return weights.grad.numpy()

    found = check.batch_gradient.reference(np.stack([*map(gradient, shards)]), counts)
    assert np.allclose(found, gradient(torch.cat(shards)), rtol=1e-12)


@pytest.mark.parametrize("p", range(2, 7))
def test_each_step_of_the_ring_is_the_packages(p: int) -> None:
    parts = np.random.default_rng(p).normal(size=(p, p))
    tensors = [torch.tensor(row) for row in parts]
    for steps, state in enumerate(ring_steps(tensors)):
        expected = np.array([[chunk.item() for chunk in mine] for mine in state.chunks])
        assert np.allclose(check.ring_state.reference(parts, steps), expected)
    assert steps == 2 * (p - 1)
    assert np.allclose(check.ring_state.reference(parts, steps), parts.sum(0))
    sums, _ = ring_all_reduce(tensors)
    assert np.allclose(sums, parts.sum(0))


@pytest.mark.parametrize("processes", [1, 2, 3, 6])
def test_the_parts_of_a_block_add_up_to_the_packages(processes: int) -> None:
    torch.manual_seed(0)
    layer, x = FeedForward(5, 6).double(), torch.randn(3, 5).double()
    first, second = (m for m in layer.modules() if isinstance(m, torch.nn.Linear))
    tensors = (x, first.weight.T, first.bias, second.weight.T, second.bias)
    arrays = [tensor.detach().numpy() for tensor in tensors]
    parts = [check.feed_forward_part.reference(*arrays, r, processes) for r in range(processes)]
    assert np.allclose(sum(parts), layer(x).detach())


@pytest.mark.parametrize("seed", SEEDS)
def test_each_example_is_read_once_whatever_stops_in_between(seed: int) -> None:
    """Three processes go on where two have read as much as each other."""
    n, before = 23, 2 * (seed % 12)
    part = check.part_of_epoch.reference
    read = [part(n, rank, 2, seed, 3, 0)[: before // 2] for rank in range(2)]
    read += [part(n, rank, 3, seed, 3, before) for rank in range(3)]
    assert sorted(np.concatenate(read)) == list(range(n))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_scaled_update_is_torchs(seed: int) -> None:
    """GradScaler on the processor, with a gradient that is put in its place."""
    gradient, scale, max_norm, good, patience = drawn(check.scaled_update, seed)
    weight = torch.nn.Parameter(torch.zeros(len(gradient)))
    optimiser = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=scale, growth_interval=patience)
    scaler.scale(torch.zeros(1))  # makes the tensors that it counts with
    assert scaler._growth_tracker is not None
    scaler._growth_tracker.fill_(good)
    weight.grad = torch.tensor(gradient, dtype=torch.float32)
    scaler.unscale_(optimiser)
    torch.nn.utils.clip_grad_norm_([weight], max_norm)
    scaler.step(optimiser)
    scaler.update()
    expected = check.scaled_update.reference(gradient, scale, max_norm, good, patience)
    assert np.allclose(-weight.detach(), expected[0], rtol=1e-4)
    assert (scaler.get_scale(), scaler._growth_tracker.item()) == expected[1:]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_predicted_loss_is_the_packages(seed: int) -> None:
    sizes, losses, size = drawn(check.predicted_loss, seed)
    law = fit_power_law(sizes.tolist(), losses.tolist())
    assert check.predicted_loss.reference(sizes, losses, size) == pytest.approx(law(size))


def test_predicted_costs_are_those_of_the_package() -> None:
    answer, p, n = check.predict.reference, 8, 100_000_000
    small = [torch.zeros(p * 5) for _ in range(p)]
    sent = ring_all_reduce(small)[1][0] / len(small[0])
    assert answer("c") == sent * 4 * n / 1e6
    assert answer("d") == (p - 1) * 4 * n / 1e6
    assert answer("e") == rule_of_thumb(n, 50_000) / 1e12
    assert answer("f") == pytest.approx(utilisation(answer("e") * 1e12, 0.6, 100e12))
    assert answer("g") == p * 4 * 500
    means, counts = np.array([[2.0], [6.0]]), np.array([30.0, 10.0])
    assert answer("h") == check.batch_gradient.reference(means, counts)[0]
    assert answer("i") == pytest.approx(failures_a_day(1000, 50_000))
    assert answer("j") == pytest.approx(checkpoint_interval(50, 10_000))
    assert answer("k") == pytest.approx(12 * 16**-0.25)


def test_predicted_bytes_are_those_of_adam() -> None:
    """A thousandth of the weights, as torch keeps them."""
    weight = torch.nn.Parameter(torch.zeros(1000))
    adam = torch.optim.Adam([weight])
    weight.grad = torch.ones(1000)
    adam.step()
    moments = [x for x in adam.state[weight].values() if x.numel() > 1]
    kept = sum(x.nbytes for x in (weight, weight.grad, *moments)) / 1000  # bytes of each weight
    assert check.predict.reference("a") == kept * 100
    assert check.predict.reference("b") == kept * 100 / 8


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("workers", "steps", "done", "finished"),
    [(2, 0, 0, 0), (2, 1, 1, 2), (4, 3, 3, 4), (3, 10, 4, 9), (6, 10, 10, 36)],
)
def test_the_sliders_show_the_learners_ring(
    kind: str,
    workers: int,
    steps: int,
    done: int,
    finished: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = check.ring_state.reference if kind == "numpy" else learners()["ring_state"]
    ring_table(own, workers, steps)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == workers + 3
    shown = np.array([line.split()[2:] for line in lines[1 : workers + 1]], dtype=float)
    parts = np.repeat(10.0 ** np.arange(workers)[:, None], workers, axis=1)
    assert np.array_equal(shown, check.ring_state.reference(parts, done))
    said = f"Step {done} of {2 * (workers - 1)}. Finished sums: {finished} of {workers**2}. "
    numbers = "1 number." if done == 1 else f"{done} numbers."
    assert lines[-2] == f"{said}Each worker has sent {numbers}"


@pytest.mark.parametrize("n", [6, 7, 12, 15])
def test_no_example_is_missing_in_the_table_of_epochs(
    n: int, capsys: pytest.CaptureFixture[str]
) -> None:
    epoch_table(check.part_of_epoch.reference, n)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    said = f"has read {n} of {n}, twice 0."
    assert lines[-1] == f"Epoch 0 {said} Epoch 1 {said}"


def test_a_restart_that_is_forgotten_shows_in_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = check.part_of_epoch.reference
    epoch_table(lambda *given: whole(*given[:5], 0), 12)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith("Epoch 1 has read 12 of 12, twice 8.")


@pytest.mark.parametrize("own", [lambda *_: None, lambda *_: 1 / 0, lambda *_: np.ones(3), 3])
def test_tables_wait_for_functions(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ring_table(own)
    said = "The sliders come to life when ring_state passes its check.\n"
    assert capsys.readouterr().out == said
    epoch_table(own)
    said = "Your epochs are read here when part_of_epoch passes its check.\n"
    assert capsys.readouterr().out == said
