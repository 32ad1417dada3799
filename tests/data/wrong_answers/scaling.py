"""Chapter 14: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def batch_gradient__over_the_weights(gradients, counts):
    return (counts[:, None] * gradients).sum(axis=1) / counts.sum()


def batch_gradient__one_number(gradients, counts):
    return float((counts @ gradients / counts.sum()).mean())


def batch_gradient__a_row_for_each_process(gradients: Tensor, counts: Tensor):
    return counts[:, None] * gradients / counts.sum()


def batch_gradient__in_place(gradients, counts):
    gradients *= counts[:, None]
    return gradients.sum(0) / counts.sum()


def batch_gradient__nothing_returned(gradients, counts):
    (counts @ gradients) / counts.sum()


def batch_gradient__squares_of_counts(gradients, counts):
    return counts**2 @ gradients / (counts**2).sum()


def batch_gradient__one_token_more(gradients, counts):
    return (counts + 1) @ gradients / (counts + 1).sum()


def _ring(parts, steps, move):
    state, p = parts.copy(), len(parts)
    for step in range(steps):
        for r in range(p):
            move(state, r, (r + 1) % p, (r - step) % p, step < p - 1)
    return state


def ring_state__nothing_taken_along(parts, steps):
    """The sender gives its chunk away."""

    def move(state, r, to, chunk, adding):
        state[to, chunk] = state[r, chunk] + (state[to, chunk] if adding else 0)
        state[r, chunk] = 0

    return _ring(parts, steps, move)


def ring_state__exchanged(parts, steps):
    def move(state, r, to, chunk, adding):
        state[chunk, to] = state[chunk, r] + (state[chunk, to] if adding else 0)

    return _ring(parts, steps, move)


def ring_state__own_place_of_the_receiver(parts, steps):
    def move(state, r, to, chunk, adding):
        other = (chunk + 1) % len(state)
        state[to, other] = state[r, chunk] + (state[to, other] if adding else 0)

    return _ring(parts, steps, move)


def ring_state__a_step_too_many(parts, steps):
    def move(state, r, to, chunk, adding):
        state[to, chunk] = state[r, chunk] + (state[to, chunk] if adding else 0)

    return _ring(parts, steps + 1, move)


def ring_state__mean_in_place_of_sum(parts, steps):
    def move(state, r, to, chunk, adding):
        state[to, chunk] = (state[r, chunk] + state[to, chunk]) / 2 if adding else state[r, chunk]

    return _ring(parts, steps, move)


def ring_state__list_of_lists(parts, steps):
    return [list(row) for row in ring_state__exchanged(parts, steps)]


def ring_state__in_place(parts, steps):
    p = len(parts)
    for step in range(steps):
        for r in range(p):
            to, chunk = (r + 1) % p, (r - step) % p
            parts[to, chunk] = parts[r, chunk] + (parts[to, chunk] if step < p - 1 else 0)
    return parts


def ring_state__last_worker_sends_to_nobody(parts, steps):
    state, p = parts.copy(), len(parts)
    for step in range(steps):
        for r in range(p):
            state[r + 1, (r - step) % p] += state[r, (r - step) % p]
    return state


def predict__all_of_them_one(question):
    return 1.0


def predict__text(question):
    return f"the answer to {question}"


def predict__letters_of_the_wrong_case(question):
    return {"A": 1600.0}[question]


def predict__bytes(question):
    return 1.6e9


def predict__gibibytes(question):
    return {"a": 1600 / 1.048576, "b": 200 / 1.048576, "c": 700 / 1.048576}.get(question, 7.0)


def _block(x, w1, b1, w2, b2, rank, n, relu=np.abs):
    own = slice(rank * len(b1) // n, (rank + 1) * len(b1) // n)
    return relu(x @ w1[:, own] + b1[own]) @ w2[own] + (b2 if rank == 0 else 0)


def feed_forward_part__absolute_value(x, w1, b1, w2, b2, rank, n_processes):
    return _block(x, w1, b1, w2, b2, rank, n_processes)


def feed_forward_part__ranks_from_one(x, w1, b1, w2, b2, rank, n_processes):
    return _block(x, w1, b1, w2, b2, rank - 1, n_processes, lambda h: np.maximum(h, 0))


def feed_forward_part__rows_of_the_next_process(x, w1, b1, w2, b2, rank, n_processes):
    width = len(b1) // n_processes
    w2 = np.roll(w2, -width, axis=0)
    return _block(x, w1, b1, w2, b2, rank, n_processes, lambda h: np.maximum(h, 0))


def feed_forward_part__output_cut(x, w1, b1, w2, b2, rank, n_processes):
    own = slice(rank * len(b2) // n_processes, (rank + 1) * len(b2) // n_processes)
    return np.maximum(x @ w1 + b1, 0) @ w2[:, own] + b2[own]


def feed_forward_part__hidden_numbers(x: Tensor, w1: Tensor, b1, w2, b2, rank, n_processes):
    return torch.relu(x @ w1 + b1).chunk(n_processes, dim=1)[rank]


def feed_forward_part__ones_in_place_of_zeros(x, w1, b1, w2, b2, rank, n_processes):
    return _block(x, w1, b1, w2, b2, rank, n_processes, lambda h: np.maximum(h, 1))


def _order(n, seed, epoch):
    return np.random.default_rng([seed, epoch]).permutation(n)


def part_of_epoch__a_list(n, rank, n_processes, seed, epoch, done):
    return [int(example) for example in _order(n, seed, epoch)[done:][rank::n_processes]]


def part_of_epoch__sorted(n, rank, n_processes, seed, epoch, done):
    return np.sort(_order(n, seed, epoch)[done:][rank::n_processes])


def part_of_epoch__ranks_from_one(n, rank, n_processes, seed, epoch, done):
    return _order(n, seed, epoch)[done:][rank - 1 :: n_processes]


def part_of_epoch__the_generator_of_all(n, rank, n_processes, seed, epoch, done):
    return np.random.default_rng().permutation(n)[done:][rank::n_processes]


def part_of_epoch__epochs_count_from_one(n, rank, n_processes, seed, epoch, done):
    return _order(n, seed, epoch + 1)[done:][rank::n_processes]


def part_of_epoch__floats(n, rank, n_processes, seed, epoch, done):
    return _order(n, seed, epoch)[done:][rank::n_processes].astype(float)


def _good(gradient, scale, max_norm):
    found = gradient / scale
    norm = np.linalg.norm(found)
    return found * (max_norm / norm) if norm > max_norm else found


def scaled_update__gradient_alone(gradient, scale, max_norm, good, patience):
    return _good(gradient, scale, max_norm)


def scaled_update__multiplied(gradient, scale, max_norm, good, patience):
    if not np.isfinite(gradient).all():
        return np.zeros_like(gradient), scale / 2, 0
    grows = good + 1 == patience
    found = _good(gradient * scale, 1.0, max_norm)
    return found, scale * 2 if grows else scale, 0 if grows else good + 1


def scaled_update__sum_in_place_of_a_norm(gradient: Tensor, scale, max_norm, good, patience):
    if not gradient.isfinite().all():
        return torch.zeros_like(gradient), scale / 2, 0
    found = gradient / scale
    if found.abs().sum() > max_norm:
        found = found * max_norm / found.abs().sum()
    grows = good + 1 == patience
    return found, scale * 2 if grows else scale, 0 if grows else good + 1


def scaled_update__none_after_an_overflow(gradient, scale, max_norm, good, patience):
    if not np.isfinite(gradient).all():
        return None
    return _good(gradient, scale, max_norm), scale, good + 1


def scaled_update__the_scale_becomes_one(gradient, scale, max_norm, good, patience):
    if not np.isfinite(gradient).all():
        return np.zeros_like(gradient), 1.0, 0
    grows = good + 1 == patience
    return _good(gradient, scale, max_norm), scale * 2 if grows else scale, 0 if grows else good + 1


def scaled_update__never_counts(gradient, scale, max_norm, good, patience):
    if not np.isfinite(gradient).all():
        return np.zeros_like(gradient), scale / 2, 0
    return _good(gradient, scale, max_norm), scale, good


def predicted_loss__factor_and_exponent(sizes, losses, size):
    slope, height = np.polyfit(np.log(sizes), np.log(losses), 1)
    return np.exp(height), -slope


def predicted_loss__two_bases(sizes, losses, size):
    slope, height = np.polyfit(np.log10(sizes), np.log10(losses), 1)
    return np.exp(slope * np.log10(size) + height)


def predicted_loss__last_loss(sizes, losses, size):
    return losses[-1]


def predicted_loss__axes_exchanged(sizes, losses, size):
    slope, height = np.polyfit(np.log(losses), np.log(sizes), 1)
    return math.exp((math.log(size) - height) / slope)


def predicted_loss__the_size_without_logarithm(sizes, losses, size):
    slope, height = np.polyfit(np.log(sizes), np.log(losses), 1)
    return np.exp(height) + slope * size


def predicted_loss__losses_at_the_sizes(sizes: Tensor, losses: Tensor, size):
    return losses * (size / sizes) ** -0.5
