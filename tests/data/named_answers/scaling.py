"""Chapter 14: misconceptions in the spellings of learners."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def batch_gradient__as_all_reduce_with_mean(gradients: Tensor, counts: Tensor):
    """the mean of means"""
    total = torch.zeros_like(gradients[0])
    for row in gradients:
        total = total + row / len(gradients)
    return total


def batch_gradient__average_of_sums(gradients, counts):
    """divided by the number of processes"""
    return np.mean([count * row for count, row in zip(counts, gradients, strict=True)], axis=0)


def batch_gradient__loss_summed(gradients: Tensor, counts: Tensor):
    """weighted, not divided"""
    return (gradients * counts[:, None]).sum(0)


def ring_state__plus_equals(parts, steps):
    """added in all steps"""
    state, p = parts.copy(), len(parts)
    for step in range(steps):
        for r in range(p):
            state[(r + 1) % p, (r - step) % p] += state[r, (r - step) % p]
    return state


def ring_state__two_loops_that_begin_at_zero(parts: Tensor, steps):
    """the second half begins again with the first chunk"""
    state, p = parts.clone(), len(parts)
    for s in range(min(steps, p - 1)):
        for r in range(p):
            state[(r + 1) % p, (r - s) % p] += state[r, (r - s) % p]
    for s in range(steps - p + 1):
        sent = [state[r, (r - s) % p].clone() for r in range(p)]
        for r in range(p):
            state[(r + 1) % p, (r - s) % p] = sent[r]
    return state


def ring_state__summed_and_repeated(parts, steps):
    """all sums at once"""
    return parts.sum(axis=0, keepdims=True).repeat(len(parts), axis=0)


def predict__twice_the_gradient(question):
    """the gradient twice"""
    return 2 * 4 * 100 if question == "c" else 0.25


def predict__mean_of_means(question):
    """the mean of means"""
    return (2 + 6) / 2 if question == "h" else 0.25


def predict__without_two(question):
    """the factor of two left out"""
    return math.sqrt(50 * 10_000) if question == "j" else 0.25


def feed_forward_part__linear_with_bias(x: Tensor, w1: Tensor, b1, w2, b2, rank, n_processes):
    """b2 in every process"""
    own = torch.arange(len(b1)).chunk(n_processes)[rank]
    return F.linear(F.relu(F.linear(x, w1.T[own], b1[own])), w2.T[:, own], b2)


def feed_forward_part__every_second(x, w1, b1, w2, b2, rank, n_processes):
    """every n-th hidden number"""
    own = np.arange(len(b1)) % n_processes == rank
    return np.maximum(x @ w1[:, own] + b1[own], 0) @ w2[own] + (b2 if rank == 0 else 0)


def feed_forward_part__bias_shared_out(x: Tensor, w1: Tensor, b1, w2, b2, rank, n_processes):
    """a share of b2 in each process"""
    own = torch.arange(len(b1)).view(n_processes, -1)[rank]
    return (x @ w1[:, own] + b1[own]).relu() @ w2[own] + b2 / n_processes


def part_of_epoch__no_set_epoch(n, rank, n_processes, seed, epoch, done):
    """the epoch forgotten"""
    order = np.random.default_rng([seed]).permutation(n)
    return order[done + rank :: n_processes]


def part_of_epoch__like_distributed_sampler(n, rank, n_processes, seed, epoch, done):
    """filled up, so that all have as many"""
    left = list(np.random.default_rng([seed, epoch]).permutation(n))[done:]
    each = math.ceil(len(left) / n_processes)
    again = left * n_processes  # from the beginning
    return np.array(again[: each * n_processes][rank::n_processes], dtype=int)


def part_of_epoch__restart_forgotten(n, rank, n_processes, seed, epoch, done):
    """what is done is read again"""
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[np.arange(rank, n, n_processes)]


def part_of_epoch__the_last_ones(n, rank, n_processes, seed, epoch, done):
    """counted from the end, where nothing is left"""
    order = np.random.default_rng([seed, epoch]).permutation(n)
    return order[-(n - done) :][rank::n_processes]


def scaled_update__clip_first(gradient: Tensor, scale, max_norm, good, patience):
    """still wrong: what is clipped"""
    if not gradient.isfinite().all():
        return torch.zeros_like(gradient), scale / 2, 0
    gradient = gradient * min(1.0, max_norm / max(gradient.norm().item(), 1e-9)) / scale
    return (gradient, scale * 2, 0) if good + 1 == patience else (gradient, scale, good + 1)


def scaled_update__the_scale_stays(gradient, scale, max_norm, good, patience):
    """still wrong: the scale after an overflow"""
    if np.isnan(gradient).any() or np.isinf(gradient).any():
        return np.zeros(len(gradient)), scale, 0
    found = gradient / scale
    found = found * min(1.0, max_norm / (np.linalg.norm(found) or 1.0))
    return (found, scale * 2, 0) if good + 1 == patience else (found, scale, good + 1)


def scaled_update__floor_division(gradient, scale, max_norm, good, patience):
    """half of the scale, rounded down"""
    if not np.isfinite(gradient).all():
        return np.zeros(len(gradient)), scale // 2, 0
    found = gradient / scale
    found = found * min(1.0, max_norm / (np.linalg.norm(found) or 1.0))
    return (found, scale * 2, 0) if good + 1 == patience else (found, scale, good + 1)


def scaled_update__clamped(gradient: Tensor, scale, max_norm, good, patience):
    """each number clipped"""
    if not torch.isfinite(gradient).all():
        return torch.zeros_like(gradient), scale / 2, 0
    found = (gradient / scale).clamp(-max_norm, max_norm)
    return (found, scale * 2, 0) if good + 1 == patience else (found, scale, good + 1)


def predicted_loss__polyfit(sizes, losses, size):
    """a line without logarithms"""
    return np.polyval(np.polyfit(sizes, losses, 1), size)


def predicted_loss__first_and_last(sizes, losses, size):
    """through the first and the last point"""
    exponent = math.log(losses[0] / losses[-1]) / math.log(sizes[-1] / sizes[0])
    return losses[0] * (sizes[0] / size) ** exponent


def predicted_loss__semilog(sizes: Tensor, losses: Tensor, size):
    """the logarithm of the sizes only"""
    x = torch.stack([sizes.log(), torch.ones(len(sizes))], 1).double()
    slope, height = torch.linalg.lstsq(x, losses[:, None].double()).solution[:, 0]
    return slope * math.log(size) + height


def part_of_epoch__own_ids_shuffled(n, rank, n_processes, seed, epoch, done):
    """each process shuffles its own share"""
    ids = list(range(done + rank, n, n_processes))
    return np.random.default_rng([seed, epoch]).permutation(ids)


def part_of_epoch__by_place_in_the_whole_order(n, rank, n_processes, seed, epoch, done):
    """dealt out first, what is done left out afterwards"""
    order = np.random.default_rng([seed, epoch]).permutation(n)
    mine = [order[i] for i in range(n) if i >= done and i % n_processes == rank]
    return np.array(mine, dtype=int)


def part_of_epoch__own_part_of_done(n, rank, n_processes, seed, epoch, done):
    """dealt out first, then a part of done left out in each process"""
    mine = np.random.default_rng([seed, epoch]).permutation(n)[rank::n_processes]
    return mine[done // n_processes :]
