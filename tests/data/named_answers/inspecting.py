"""Chapter 10: misconceptions in the spellings of learners."""

from collections import Counter

import numpy as np


def head_links__reading_rows(weights):
    """the row of the step that reads the word"""
    links = []
    for t in range(1, len(weights)):
        row = list(weights[t][:-1])
        links.append(row.index(max(row)))
    return np.array(links)


def head_links__with_end(weights):
    """</s> counted as a word"""
    return np.array([np.argmax(weights[t]) for t in range(len(weights) - 1)])


def error_rate__precision(found, gold):
    """links that were found and are wrong only"""
    return (found & ~gold).sum() / found.sum()


def error_rate__recall(found, gold):
    """links that are missing only"""
    return (gold & ~found).sum() / gold.sum()


def error_rate__jaccard(found, gold):
    """divided by the links in either"""
    return 1 - (found & gold).sum() / (found | gold).sum()


def attention_rollout__without_identity(maps):
    """the part that stays left out"""
    mixed = np.eye(maps.shape[-1])
    for layer in maps:
        mixed = layer.mean(axis=0) @ mixed
    return mixed


def attention_rollout__other_side(maps):
    """layers multiplied in the wrong order"""
    mixed = np.eye(maps.shape[-1])
    for layer in maps:
        mixed = mixed @ ((layer.mean(axis=0) + np.eye(len(mixed))) / 2)
    return mixed


def rank_agreement__pearson(a, b):
    """the numbers correlated, not their order"""
    a, b = a - a.mean(), b - b.mean()
    return (a @ b) / max(1e-9, np.sqrt((a @ a) * (b @ b)))


def rank_agreement__share(a, b):
    """the share of pairs that agree"""
    hits = [(a[i] - a[j]) * (b[i] - b[j]) > 0 for i in range(len(a)) for j in range(i)]
    return sum(hits) / len(hits)


def rank_agreement__same_sign(a, b):
    """equal in both counted as agreement"""
    i, j = np.triu_indices(len(a), 1)
    x, y = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
    return np.where(x == y, 1, x * y).mean()


def what_followed__itself(tokens):
    """the token itself instead of what followed it"""
    return np.array([token if token in tokens[:t] else -1 for t, token in enumerate(tokens)])


def what_followed__first_time(tokens):
    """the first time instead of the latest"""
    row = tokens.tolist()
    found = [row[row.index(x) + 1] if x in row[:t] else -1 for t, x in enumerate(row)]
    return np.array(found)


def what_followed__counted(tokens):
    """the follower that came most often, of several the first one"""
    counts, found = {}, []
    for t, token in enumerate(tokens.tolist()):
        seen = counts.setdefault(token, Counter())
        found.append(seen.most_common(1)[0][0] if seen else -1)
        if t + 1 < len(tokens):
            seen[int(tokens[t + 1])] += 1
    return np.array(found)
