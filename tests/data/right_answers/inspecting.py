"""Chapter 10: right answers by loops, by ready-made functions, with NumPy and with torch."""

from itertools import combinations

import numpy as np
import torch
from torch import Tensor


def head_links__loop(weights):
    links = []
    for row in weights[:-1]:
        best = 0
        for j in range(len(row) - 1):
            if row[j] > row[best]:
                best = j
        links.append(best)
    return np.array(links)


def head_links__torch(weights: Tensor):
    return weights[:-1, :-1].argmax(-1)


def head_links__list(weights):
    return np.array([int(np.argmax(row[:-1])) for row in weights[: len(weights) - 1]])


def head_links__sorted(weights):
    return np.argsort(-weights[:-1, :-1], axis=1, kind="stable")[:, 0]


def error_rate__loop(found, gold):
    both = n_found = n_gold = 0
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            both += bool(found[i, j] and gold[i, j])
            n_found += bool(found[i, j])
            n_gold += bool(gold[i, j])
    return 1 - 2 * both / (n_found + n_gold)


def error_rate__differences(found, gold):
    return (found != gold).sum() / (found.sum() + gold.sum())


def error_rate__sets(found, gold):
    a, g = (set(map(tuple, np.argwhere(table))) for table in (found, gold))
    return 1 - 2 * len(a & g) / (len(a) + len(g))


def error_rate__torch(found: Tensor, gold: Tensor):
    return 1 - 2 * (found & gold).float().sum() / (found.float().sum() + gold.float().sum())


def error_rate__precision_and_recall(found, gold):
    both = (found & gold).sum()
    if both == 0:
        return 1.0
    precision, recall = both / found.sum(), both / gold.sum()
    return 1 - 2 * precision * recall / (precision + recall)


def share_of_the_way__quotients(this, patched, other):
    a, p, o = (np.log(x[0] / x[1]) for x in (this, patched, other))
    return (a - p) / (a - o)


def share_of_the_way__torch(this: Tensor, patched: Tensor, other: Tensor):
    a, p, o = (x.log()[0] - x.log()[1] for x in (this, patched, other))
    return (p - a) / (o - a)


def share_of_the_way__difference(this, patched, other):
    logs = np.log(np.stack([this, patched, other]))
    a, p, o = -np.diff(logs, axis=1)[:, 0]
    return 1 - (p - o) / (a - o)


def share_of_the_way__other_base(this, patched, other):
    a, p, o = (np.log2(x[0]) - np.log2(x[1]) for x in (this, patched, other))
    return (a - p) / (a - o)


def attention_rollout__loops(maps):
    n = maps.shape[-1]
    mixed = [[float(i == j) for j in range(n)] for i in range(n)]
    for layer in maps:
        step = [[0.5 * layer[:, i, k].mean() + 0.5 * (i == k) for k in range(n)] for i in range(n)]
        mixed = [
            [sum(step[i][k] * mixed[k][j] for k in range(n)) for j in range(n)] for i in range(n)
        ]
    return np.array(mixed)


def attention_rollout__multi_dot(maps):
    steps = 0.5 * maps.mean(1) + 0.5 * np.eye(maps.shape[-1])
    return np.linalg.multi_dot([*steps[::-1], np.eye(maps.shape[-1])])


def attention_rollout__torch(maps: Tensor):
    mixed = torch.eye(maps.shape[-1], dtype=maps.dtype)
    for weights in maps.mean(1):
        mixed = 0.5 * weights @ mixed + 0.5 * mixed
    return mixed


def attention_rollout__einsum(maps):
    steps = (np.einsum("lhij->lij", maps) / maps.shape[1] + np.eye(maps.shape[-1])) / 2
    mixed = steps[0]
    for step in steps[1:]:
        mixed = np.einsum("ik,kj->ij", step, mixed)
    return mixed


def rank_agreement__table(a, b):
    table = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    return table.sum() / (len(a) * (len(a) - 1))


def rank_agreement__counted(a, b):
    score = n = 0
    for i, j in combinations(range(len(a)), 2):
        product = (a[i] - a[j]) * (b[i] - b[j])
        score += int(product > 0) - int(product < 0)
        n += 1
    return score / n


def rank_agreement__torch(a: Tensor, b: Tensor):
    x, y = (v[:, None] - v[None] for v in (a, b))
    upper = torch.triu(torch.ones(len(a), len(a)), 1) > 0
    return (x.sign() * y.sign())[upper].double().mean()


def rank_agreement__triangle(a, b):
    i, j = np.triu_indices(len(a), 1)
    return np.mean(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]))


def what_followed__last_seen(tokens):
    found, follower = [], {}
    for t, token in enumerate(tokens):
        found.append(follower.get(int(token), -1))
        if t + 1 < len(tokens):
            follower[int(token)] = int(tokens[t + 1])
    return np.array(found)


def what_followed__backwards(tokens):
    foretold = np.full(len(tokens), -1)
    for t in range(len(tokens)):
        for s in range(t - 1, -1, -1):
            if tokens[s] == tokens[t]:
                foretold[t] = tokens[s + 1]
                break
    return foretold


def what_followed__torch(tokens: Tensor):
    same = (tokens[:, None] == tokens[None]).tril(-1)
    places = torch.arange(len(tokens)).expand(len(tokens), -1).masked_fill(~same, -1).amax(-1)
    return torch.where(places < 0, -1, tokens[(places + 1).clamp(max=len(tokens) - 1)])


def what_followed__list(tokens):
    row = tokens.tolist()
    found = []
    for t, token in enumerate(row):
        places = [s for s, other in enumerate(row[:t]) if other == token]
        found.append(row[places[-1] + 1] if places else -1)
    return np.array(found)


def judge_inspecting__set_of_right_ones(statement):
    return statement in {"b", "d", "f", "h"}


def judge_inspecting__every_second(statement):
    return (ord(statement) - ord("a")) % 2 == 1


def judge_inspecting__numpy(statement):
    return np.array([0, 1, 0, 1, 0, 1, 0, 1, 0], bool)["abcdefghi".index(statement)]
