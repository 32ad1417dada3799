"""Chapter 14: right answers by loops, by ready-made functions, with NumPy and with torch."""

import math
from statistics import linear_regression

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def batch_gradient__loops(gradients, counts):
    total = [0.0] * len(gradients[0])
    for row, count in zip(gradients, counts, strict=True):
        for i, number in enumerate(row):
            total[i] += float(number) * float(count)
    return np.array(total) / float(sum(counts))


def batch_gradient__average(gradients, counts):
    return np.average(gradients, axis=0, weights=counts)


def batch_gradient__shares(gradients: Tensor, counts: Tensor):
    shares = counts / counts.sum()
    return (shares[:, None] * gradients).sum(0)


def batch_gradient__token_by_token(gradients, counts):
    return np.repeat(gradients, counts.astype(int), axis=0).mean(axis=0)


def batch_gradient__einsum(gradients: Tensor, counts: Tensor):
    return torch.einsum("pn,p->n", gradients, counts / torch.sum(counts))


def batch_gradient__scaled_before_a_mean(gradients, counts):
    """What processes do whose all-reduce takes the mean."""
    return (gradients * (counts * len(counts) / counts.sum())[:, None]).mean(0)


def ring_state__worker_by_worker(parts, steps):
    p = len(parts)
    workers = [list(map(float, row)) for row in parts]
    for step in range(steps):
        mail = [((r + 1) % p, (r - step) % p, workers[r][(r - step) % p]) for r in range(p)]
        for to, chunk, number in mail:
            workers[to][chunk] = number + (workers[to][chunk] if step < p - 1 else 0)
    return np.array(workers)


def ring_state__one_after_the_other(parts, steps):
    """What a worker sends in a step isn't what it receives, so the order of the workers doesn't matter."""
    state, p = np.array(parts), len(parts)
    for step in range(steps):
        for r in range(p):
            to, chunk = (r + 1) % p, (r - step) % p
            state[to, chunk] = state[r, chunk] + (state[to, chunk] if step < p - 1 else 0)
    return state


def ring_state__indices(parts: Tensor, steps):
    state, r = parts.clone(), torch.arange(len(parts))
    for step in range(steps):
        chunk = (r - step) % len(parts)
        sent = state[r, chunk]
        old = state[(r + 1) % len(parts), chunk]
        state[(r + 1) % len(parts), chunk] = sent + old if step < len(parts) - 1 else sent
    return state


def ring_state__rolled(parts, steps):
    state, p = parts.copy(), len(parts)
    rows = np.arange(p)
    for step in range(steps):
        moving = np.zeros((p, p), dtype=bool)
        moving[rows, (rows - step) % p] = True
        came, there = np.roll(np.where(moving, state, 0), 1, axis=0), np.roll(moving, 1, axis=0)
        state = np.where(there, came + (step < p - 1) * state, state)
    return state


def ring_state__two_loops(parts: Tensor, steps):
    state, p = parts.clone(), parts.shape[0]
    for s in range(min(steps, p - 1)):
        sent = [state[r, (r - s) % p].clone() for r in range(p)]
        for r in range(p):
            state[(r + 1) % p, (r - s) % p] += sent[r]
    for s in range(steps - (p - 1)):
        sent = [state[r, (r + 1 - s) % p].clone() for r in range(p)]
        for r in range(p):
            state[(r + 1) % p, (r + 1 - s) % p] = sent[r]
    return state


def predict__dictionary(question):
    answers = {"a": 1600, "b": 200, "c": 700, "d": 2800, "e": 30, "f": 0.5, "g": 16_000}
    return (answers | {"h": 3, "i": 0.48, "j": 1000, "k": 6})[question]


def predict__worked_out(question):
    weights, size, p = 100e6, 4, 8
    gradient = weights * size / 1e6
    flops = 6 * weights * 50_000
    return {
        "a": 4 * gradient,
        "b": 4 * gradient / p,
        "c": 2 * (p - 1) * gradient / p,
        "d": (p - 1) * gradient,
        "e": flops / 1e12,
        "f": flops / 0.6 / 100e12,
        "g": p * 4 * 500,
        "h": (30 * 2 + 10 * 6) / (30 + 10),
        "i": 1000 * 24 / 50_000,
        "j": math.sqrt(2 * 50 * 10_000),
        "k": 12 * 16**-0.25,
    }[question]


def predict__tensors_and_tries(question):
    if question == "c":
        chunks = torch.full((8,), 50.0)
        return float(sum(chunks[step % 8] for step in range(2 * 7)))
    if question == "h":
        return torch.cat([torch.full((30,), 2.0), torch.full((10,), 6.0)]).mean()
    if question == "j":
        waits = np.arange(10, 10_000)
        return float(waits[np.argmin(50 / waits + waits / 2 / 10_000)])
    return predict__worked_out(question)


def feed_forward_part__loops(x, w1, b1, w2, b2, rank, n_processes):
    width = len(b1) // n_processes
    part = np.zeros((len(x), len(b2)))
    for i, row in enumerate(x):
        for j in range(rank * width, rank * width + width):
            hidden = max(0.0, sum(row[k] * w1[k, j] for k in range(len(row))) + b1[j])
            part[i] += hidden * w2[j]
        if rank == 0:
            part[i] += b2
    return part


def feed_forward_part__chunks(x: Tensor, w1: Tensor, b1, w2, b2, rank, n_processes):
    columns, bias = w1.chunk(n_processes, dim=1)[rank], b1.chunk(n_processes)[rank]
    rows = w2.chunk(n_processes)[rank]
    part = F.relu(x @ columns + bias) @ rows
    return part + b2 if rank == 0 else part


def feed_forward_part__linear(x: Tensor, w1: Tensor, b1, w2, b2, rank, n_processes):
    own = torch.arange(len(b1)).view(n_processes, -1)[rank]
    hidden = F.linear(x, w1.T[own], b1[own]).clamp(min=0)
    return F.linear(hidden, w2[own].T, b2 if rank == 0 else None)


def feed_forward_part__others_set_to_zero(x, w1, b1, w2, b2, rank, n_processes):
    own = np.arange(len(b1)) * n_processes // len(b1) == rank
    hidden = np.maximum(x @ w1 + b1, 0) * own
    return hidden @ w2 + np.where(rank == 0, b2, 0)


def feed_forward_part__difference_of_two(x, w1, b1, w2, b2, rank, n_processes):
    """All pieces up to its own, less all pieces before it."""
    width = w1.shape[1] // n_processes
    hidden = np.clip(x @ w1 + b1, 0, None)
    upto, before = (hidden[:, :end] @ w2[:end] for end in (width * (rank + 1), width * rank))
    return upto - before + b2 * (not rank)


def part_of_epoch__dealt_out(n, rank, n_processes, seed, epoch, done):
    hands = [[] for _ in range(n_processes)]
    order = np.random.default_rng([seed, epoch]).permutation(n)
    for turn, example in enumerate(order[done:]):
        hands[turn % n_processes].append(example)
    return np.array(hands[rank], dtype=int)


def part_of_epoch__one_slice(n, rank, n_processes, seed, epoch, done):
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[done + rank :: n_processes]


def part_of_epoch__positions(n, rank, n_processes, seed, epoch, done):
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[np.arange(done + rank, n, n_processes)]


def part_of_epoch__shuffled_ids(n, rank, n_processes, seed, epoch, done):
    order = torch.tensor(np.random.default_rng((seed, epoch)).permutation(np.arange(n)))
    turns = torch.arange(n) - done
    return order[(turns >= 0) & (turns % n_processes == rank)]


def part_of_epoch__one_after_another(n, rank, n_processes, seed, epoch, done):
    """An empty list becomes an array of decimal numbers."""
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return np.array([order[i] for i in range(done + rank, n, n_processes)])


def part_of_epoch__legs(n, rank, n_processes, seed, epoch, done):
    rng = np.random.Generator(np.random.PCG64([seed, epoch]))
    left = list(rng.permutation(n))[done:]
    return np.array([left[i] for i in range(rank, len(left), n_processes)], dtype=np.int64)


def scaled_update__loops(gradient, scale, max_norm, good, patience):
    if not all(math.isfinite(number) for number in gradient):
        return 0 * np.ones(len(gradient)), scale / 2, 0
    found = [float(number) / scale for number in gradient]
    norm = math.hypot(*found)
    found = [number * min(1.0, max_norm / norm) if norm else 0.0 for number in found]
    if good + 1 == patience:
        return np.array(found), 2 * scale, 0
    return np.array(found), scale, good + 1


def scaled_update__torch(gradient: Tensor, scale, max_norm, good, patience):
    if not gradient.isfinite().all():
        return torch.zeros_like(gradient), scale * 0.5, 0
    weight = torch.nn.Parameter(torch.zeros_like(gradient))
    weight.grad = gradient / scale
    torch.nn.utils.clip_grad_norm_([weight], max_norm)
    good = (good + 1) % patience
    return weight.grad, scale if good else scale * 2, good


def scaled_update__sum_of_everything(gradient, scale, max_norm, good, patience):
    with np.errstate(all="ignore"):
        overflow = not np.isfinite(gradient.sum())
    if overflow:
        return np.zeros(len(gradient)), scale / 2, 0.0
    gradient = gradient / scale
    gradient = gradient / max(1.0, np.linalg.norm(gradient) / max_norm)
    good = good + 1
    return (gradient, scale * 2, 0.0) if good >= patience else (gradient, scale, float(good))


def scaled_update__largest_norm_scaled(gradient: Tensor, scale, max_norm, good, patience):
    """The gradient may be clipped first, if the largest norm is multiplied by the scale, too."""
    norm = gradient.norm()
    if not torch.isfinite(norm):
        return gradient.new_zeros(gradient.shape), scale / 2, 0
    clipped = torch.where(norm > max_norm * scale, gradient * (max_norm * scale / norm), gradient)
    grows = good == patience - 1
    return clipped / scale, scale * (1 + grows), 0 if grows else good + 1


def predicted_loss__polyfit(sizes, losses, size):
    return np.exp(np.polyval(np.polyfit(np.log(sizes), np.log(losses), 1), np.log(size)))


def predicted_loss__lstsq(sizes, losses, size):
    x = np.stack([np.ones(len(sizes)), np.log2(sizes)], axis=1)
    (height, slope), *_ = np.linalg.lstsq(x, np.log2(losses), rcond=None)
    return 2 ** (height + slope * np.log2(size))


def predicted_loss__torch(sizes: Tensor, losses: Tensor, size):
    x, y = sizes.log(), losses.log()
    slope = ((x - x.mean()) * y).sum() / ((x - x.mean()) * x).sum()
    return (y.mean() + slope * (math.log(size) - x.mean())).exp()


def predicted_loss__statistics(sizes, losses, size):
    line = linear_regression([math.log10(n) for n in sizes], [math.log10(y) for y in losses])
    return 10**line.intercept * size**line.slope


def predicted_loss__factor_and_exponent(sizes, losses, size):
    m, x, y = len(sizes), np.log(sizes), np.log(losses)
    exponent = -(m * (x @ y) - x.sum() * y.sum()) / (m * (x @ x) - x.sum() ** 2)
    factor = np.exp(y.mean() + exponent * x.mean())
    return factor * size**-exponent
