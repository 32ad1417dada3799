"""Chapter 15: right answers by loops, by ready-made functions, with NumPy and with torch."""

import heapq
import math
import statistics
from collections import Counter
from fractions import Fraction

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor


def word_precision__loop(found, total):
    right = everything = 0
    for f, t in zip(found, total, strict=True):
        right += f
        everything += t
    return right / everything


def word_precision__weighted_mean(found, total):
    return np.average(found / total, weights=total)


def word_precision__means(found, total):
    return found.mean() / total.mean()


def word_precision__torch(found: Tensor, total: Tensor):
    return found.float().sum() / total.sum()


def word_precision__python(found, total):
    return sum(found.tolist()) / sum(total.tolist())


def bleu__sacrebleu(translations, references):
    score = BLEU(tokenize="none", smooth_method="none", force=True)
    return score.corpus_score(translations.split("\n"), [references.split("\n")]).score


def bleu__lists(translations, references):
    logs = 0.0
    for n in (1, 2, 3, 4):
        right, all_runs = 0, 0
        for ours, theirs in zip(translations.splitlines(), references.splitlines(), strict=True):
            a, b = ours.split(), theirs.split()
            mine = [a[i : i + n] for i in range(len(a) - n + 1)]
            left = [b[i : i + n] for i in range(len(b) - n + 1)]
            all_runs += len(mine)
            for run in mine:
                if run in left:
                    left.remove(run)
                    right += 1
        if right == 0:
            return 0
        logs += math.log(right / all_runs) / 4
    c, r = len(translations.split()), len(references.split())
    return 100 * math.exp(logs + min(0, 1 - r / c))


def bleu__numpy(translations, references):
    counts = np.zeros((4, 2))
    for ours, theirs in zip(translations.split("\n"), references.split("\n"), strict=True):
        a, b = ours.split(), theirs.split()
        for n in range(4):
            x = Counter(zip(*(a[i:] for i in range(n + 1)), strict=False))
            y = Counter(zip(*(b[i:] for i in range(n + 1)), strict=False))
            counts[n] += sum((x & y).values()), sum(x.values())
    if not counts[:, 0].all():
        return 0.0
    geometric = np.exp(np.log(counts[:, 0] / counts[:, 1]).mean())
    c, r = len(translations.split()), len(references.split())
    return 100 * geometric * (1 if c >= r else np.exp(1 - r / c))


def redrawn_precisions__loop(found, total, draws):
    scores = []
    for row in draws:
        scores.append(sum(found[i] for i in row) / sum(total[i] for i in row))
    return np.array(scores)


def redrawn_precisions__counts(found, total, draws):
    times = np.array([np.bincount(row, minlength=len(found)) for row in draws])
    return (times @ found) / (times @ total)


def redrawn_precisions__torch(found: Tensor, total: Tensor, draws: Tensor):
    return found[draws].sum(dim=1) / total[draws].sum(dim=1)


def redrawn_precisions__means(found, total, draws):
    return found[draws].mean(axis=1) / total[draws].mean(axis=1)


def redrawn_precisions__take(found, total, draws):
    both = np.take(np.stack([found, total]), draws, axis=1).sum(axis=2)
    return both[0] / both[1]


def interval__slice(scores, one_in=40):
    k = len(scores) // one_in
    kept = sorted(scores)[k : len(scores) - k]
    return kept[0], kept[-1]


def interval__one_at_a_time(scores, one_in=40):
    left = list(scores)
    for _ in range(len(scores) // one_in):
        left.remove(min(left))
        left.remove(max(left))
    return min(left), max(left)


def interval__heaps(scores, one_in=40):
    k = len(scores) // one_in + 1
    return heapq.nsmallest(k, scores)[-1], heapq.nlargest(k, scores)[-1]


def interval__torch(scores: Tensor, one_in=40):
    ordered = scores.sort().values
    k = len(scores) // one_in
    return ordered[k], ordered[-1 - k]


def interval__one_array(scores, one_in=40):
    k = len(scores) // one_in
    return np.sort(scores)[[k, -1 - k]]


def interval__one_tensor(scores: Tensor, one_in=40):
    k = len(scores) // one_in
    return torch.stack([scores.sort().values[k], scores.sort().values[-1 - k]])


def interval__partition(scores, one_in=40):
    low = len(scores) // one_in
    high = len(scores) - 1 - low
    parted = np.partition(scores, [low, high])
    return parted[low], parted[high]


def share_of_wins__loop(found_a, total_a, found_b, total_b, draws):
    wins = 0
    for row in draws:
        a = found_a[row].sum() / total_a[row].sum()
        b = found_b[row].sum() / total_b[row].sum()
        wins += a > b
    return wins / len(draws)


def share_of_wins__whole_numbers(found_a, total_a, found_b, total_b, draws):
    words = [x[draws].sum(axis=1) for x in (found_a, total_a, found_b, total_b)]
    return np.mean(words[0] * words[3] > words[2] * words[1])


def share_of_wins__fractions(found_a, total_a, found_b, total_b, draws):
    def score(found, total, row):
        times = Counter(row.tolist())
        return Fraction(
            sum(n * int(found[i]) for i, n in times.items()),
            sum(n * int(total[i]) for i, n in times.items()),
        )

    return statistics.mean(
        float(score(found_a, total_a, row) > score(found_b, total_b, row)) for row in draws
    )


def share_of_wins__torch(
    found_a: Tensor, total_a: Tensor, found_b: Tensor, total_b: Tensor, draws: Tensor
):
    a = found_a[draws].sum(1) / total_a[draws].sum(1)
    b = found_b[draws].sum(1) / total_b[draws].sum(1)
    return (a > b).float().mean()


def share_of_wins__sign_of_the_difference(found_a, total_a, found_b, total_b, draws):
    a = found_a[draws].mean(axis=1) / total_a[draws].mean(axis=1)
    b = found_b[draws].mean(axis=1) / total_b[draws].mean(axis=1)
    return np.count_nonzero(a - b > 1e-9) / len(draws)


def choose_and_report__loop(valid, test):
    best = None
    for setting, score in valid.items():
        if best is None or score > valid[best]:
            best = setting
    return best, test[best]


def choose_and_report__get(valid, test):
    best = max(valid, key=valid.get)
    return best, test[best]


def choose_and_report__sorted(valid, test):
    best = sorted(valid, key=lambda setting: -valid[setting])[0]
    return [best, test[best]]


def choose_and_report__numpy(valid, test):
    settings = list(valid)
    best = settings[np.argmax([valid[s] for s in settings])]
    return best, test[best]


def choose_and_report__pairs(valid, test):
    _, place, setting = max((score, -i, s) for i, (s, score) in enumerate(valid.items()))
    assert place <= 0
    return np.array(setting), np.float64(test[setting])


def choose_and_report__mended(valid, test):
    setting, score = None, -1.0
    for tried in valid:
        if valid[tried] > score:
            setting, score = tried, valid[tried]
    return setting, test[setting]


def average_weights__loop(checkpoints):
    averaged = {}
    for name in checkpoints[0]:
        total = 0
        for weights in checkpoints:
            total = total + weights[name]
        averaged[name] = total / len(checkpoints)
    return averaged


def average_weights__stack(checkpoints):
    return {n: np.stack([c[n] for c in checkpoints]).mean(0) for n in checkpoints[0]}


def average_weights__torch_inside(checkpoints):
    names = reversed(list(checkpoints[0]))
    return {n: torch.stack([torch.tensor(c[n]) for c in checkpoints]).mean(0) for n in names}


def average_weights__right_running_mean(checkpoints):
    mean = {name: array.copy() for name, array in checkpoints[0].items()}
    for count, weights in enumerate(checkpoints[1:], start=2):
        for name in mean:
            mean[name] += (weights[name] - mean[name]) / count
    return mean


def average_weights__shares(checkpoints):
    share = 1 / len(checkpoints)
    averaged = {name: np.zeros_like(array) for name, array in checkpoints[0].items()}
    for weights in checkpoints:
        averaged = {name: array + share * weights[name] for name, array in averaged.items()}
    return averaged


def average_weights__exact_sums(checkpoints):
    def mean(arrays):
        flat = [
            math.fsum(numbers) / len(arrays) for numbers in zip(*map(np.ravel, arrays), strict=True)
        ]
        return np.reshape(flat, arrays[0].shape)

    return {name: mean([c[name] for c in checkpoints]) for name in checkpoints[0]}


def judge_benchmark__set_of_right_ones(statement):
    return statement in {"b", "f", "i"}


def judge_benchmark__list(statement):
    verdicts = [False, True, False, False, False, True, False, False, True, False]
    return verdicts[ord(statement) - ord("a")]


def judge_benchmark__numpy(statement):
    verdicts = np.array([0, 1, 0, 0, 0, 1, 0, 0, 1, 0], bool)
    return verdicts["abcdefghij".index(statement)]
