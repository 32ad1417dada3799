"""Chapter 09: right answers by loops, by ready-made functions, with NumPy and with torch."""

import heapq
import itertools
import math

import numpy as np
import torch
from torch import Tensor

from transformer_course import decoding


def predict__computed(question):
    return {
        "a": 0.5 * 0.4 * 0.9,
        "b": 0.4 * 0.9 * 0.9,
        "c": math.log(0.4 * 0.9 * 0.9),
        "d": 2 * 5,
        "e": (5 + 7) / 6,
        "f": -3 / 2,
        "g": 0.25 / (0.25 + 0.09 + 0.04),
        "h": 0.5 / 0.8,
        "i": 20,
        "j": 20 * 21 / 2,
    }[question]


def predict__by_place_in_a_list(question):
    answers = [0.18, 0.324, -1.127, 10, 2, -1.5, 0.658, 0.625, 20, 210]
    return answers["abcdefghij".index(question)]


def predict__numpy(question):
    p = np.array([0.5, 0.3, 0.2])
    cold = p**2 / (p**2).sum()
    kept = p[:2] / p[:2].sum()
    answers = [0.18, 0.324, np.log(0.324), 10, 2, -1.5, cold[0], kept[0], 20, sum(range(21))]
    return answers[ord(question) - ord("a")]


def length_penalty__package(length, alpha):
    return decoding.length_penalty(length, alpha)


def length_penalty__by_logarithms(length, alpha):
    return math.exp(alpha * (math.log(5 + length) - math.log(6)))


def length_penalty__two_powers(length, alpha):
    return (5 + length) ** alpha / 6**alpha


def length_penalty__numpy(length, alpha):
    return np.power((5 + length) / 6, alpha)


def next_token_distribution__package(logits: Tensor, temperature, top_k, top_p):
    return decoding.next_token_distribution(
        logits, temperature=temperature, top_k=top_k, top_p=top_p
    )


def next_token_distribution__with_minus_infinity(logits: Tensor, temperature, top_k, top_p):
    logits = logits / temperature
    lowest = logits.topk(top_k, dim=-1).values[..., -1:]
    logits = torch.where(logits < lowest, -torch.inf, logits)
    ranked, order = logits.softmax(-1).sort(dim=-1, descending=True)
    cut = ranked.cumsum(-1) - ranked >= top_p
    logits = logits.masked_fill(torch.zeros_like(cut).scatter(-1, order, cut), -torch.inf)
    return logits.softmax(-1)


def next_token_distribution__loops(logits, temperature, top_k, top_p):
    rows = []
    for row in np.asarray(logits).reshape(-1, logits.shape[-1]):
        powers = [math.exp((z - max(row)) / temperature) for z in row]
        best = heapq.nlargest(top_k, range(len(row)), key=powers.__getitem__)
        total = sum(powers[i] for i in best)
        kept, reached = {}, 0.0
        for i in best:
            if reached >= top_p:
                break
            kept[i] = powers[i] / total
            reached += kept[i]
        rows.append([kept.get(i, 0.0) / reached for i in range(len(row))])
    return np.array(rows).reshape(logits.shape)


def next_token_distribution__numpy(logits, temperature, top_k, top_p):
    order = np.argsort(-logits, axis=-1)
    z = np.take_along_axis(logits, order, axis=-1)
    p = np.exp((z - z[..., :1]) / temperature)
    p = p * (np.arange(p.shape[-1]) < top_k)
    p = p / p.sum(axis=-1, keepdims=True)
    p = p * (np.cumsum(p, axis=-1) - p < top_p)
    p = p / p.sum(axis=-1, keepdims=True)
    return np.take_along_axis(p, np.argsort(order, axis=-1), axis=-1)


def beam_step__topk(scores: Tensor, log_probs: Tensor):
    best = (scores[:, None] + log_probs).flatten().topk(len(scores))
    n_words = log_probs.shape[1]
    return best.indices // n_words, best.indices % n_words, best.values


def beam_step__sorted_list(scores, log_probs):
    grid = [
        (scores[i] + log_probs[i, j], i, j)
        for i, j in itertools.product(range(len(scores)), range(log_probs.shape[1]))
    ]
    best = sorted(grid, reverse=True)[: len(scores)]
    totals, parents, tokens = zip(*best, strict=True)
    return np.array(parents), np.array(tokens), np.array(totals)


def beam_step__unravel(scores, log_probs):
    totals = scores.reshape(-1, 1) + log_probs
    order = np.argsort(totals, axis=None)[::-1][: len(scores)]
    parents, tokens = np.unravel_index(order, totals.shape)
    return parents, tokens, totals[parents, tokens]


def beam_step__one_at_a_time(scores, log_probs):
    totals = scores[:, None] + log_probs
    found = []
    for _ in scores:
        i, j = np.unravel_index(totals.argmax(), totals.shape)
        found.append((i, j, totals[i, j]))
        totals[i, j] = -np.inf
    return tuple(np.array(column) for column in zip(*found, strict=True))


def best_of_beam__heap(table, beam, max_len, alpha):
    def score(hypothesis):
        total, ids = hypothesis
        return total / ((5 + len(ids)) / 6) ** alpha

    alive, finished = [(0.0, [])], []
    for _ in range(max_len):
        grown = [
            (total + table[(ids or [0])[-1]][word], [*ids, word])
            for total, ids in alive
            for word in range(len(table))
        ]
        kept = heapq.nlargest(beam, grown)
        finished.extend(h for h in kept if h[1][-1] == 0)
        alive = [h for h in kept if h[1][-1] != 0]
    return np.array(max(finished or alive, key=score)[1])


def best_of_beam__arrays(table, beam, max_len, alpha):
    ids, sums = np.zeros((1, 1), int), np.zeros(1)
    done = []
    for length in range(1, max_len + 1):
        grid = sums[:, None] + table[ids[:, -1]]
        order = np.argsort(-grid, axis=None)[:beam]
        rows, words = np.unravel_index(order, grid.shape)
        ids, sums = np.hstack([ids[rows], words[:, None]]), grid[rows, words]
        ended = words == 0
        penalty = ((5 + length) / 6) ** alpha
        done += [
            (s / penalty, row[1:].tolist())
            for s, row in zip(sums, ids, strict=True)
            if row[-1] == 0
        ]
        ids, sums = ids[~ended], sums[~ended]
        if not len(ids):
            break
    if not done:
        return ids[0, 1:]
    return np.array(max(done)[1])


def best_of_beam__recursive(table, beam, max_len, alpha):
    def grow(open_ones, finished, left):
        if not left or not open_ones:
            return finished or open_ones
        everything = [
            ((*ids, w), total + table[ids[-1] if ids else 0, w])
            for ids, total in open_ones
            for w in range(len(table))
        ]
        kept = sorted(everything, key=lambda c: c[1], reverse=True)[:beam]
        ended = [c for c in kept if c[0][-1] == 0]
        return grow([c for c in kept if c[0][-1]], finished + ended, left - 1)

    found = grow([((), 0.0)], [], max_len)
    return np.array(max(found, key=lambda c: c[1] * (6 / (5 + len(c[0]))) ** alpha)[0])


def best_by_trying__recursive(table, max_len):
    def best(last, left):
        options = [(table[last, 0], (0,))]
        if left > 1:
            for word in range(1, len(table)):
                total, ids = best(word, left - 1)
                options.append((table[last, word] + total, (word, *ids)))
        return max(options)

    return np.array(best(0, max_len)[1])


def best_by_trying__breadth_first(table, max_len):
    beginnings, found = {(): 0.0}, {}
    for _ in range(max_len):
        grown = {}
        for ids, total in beginnings.items():
            row = table[ids[-1] if ids else 0]
            found[(*ids, 0)] = total + row[0]
            grown |= {(*ids, word): total + row[word] for word in range(1, len(table))}
        beginnings = grown
    return np.array(max(found, key=found.get))


def best_by_trying__a_beam_that_keeps_all(table, max_len):
    return best_of_beam__heap(table, len(table) ** max_len, max_len, 0.0)


def judge_decoding__set_of_right_ones(statement):
    return statement in {"b", "e", "g"}


def judge_decoding__list(statement):
    verdicts = [False, True, False, False, True, False, True, False]
    return verdicts[ord(statement) - ord("a")]


def judge_decoding__numpy(statement):
    verdicts = np.array([0, 1, 0, 0, 1, 0, 1, 0], bool)
    return verdicts["abcdefgh".index(statement)]
