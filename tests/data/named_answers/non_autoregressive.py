"""Chapter 13: misconceptions in the spellings of learners."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def em_step__plus_equals(t, src, tgt):
    """a share lost of a word that comes twice"""
    counts = np.zeros(t.shape)
    for x, y in zip(src, tgt, strict=True):
        weights = t[np.ix_(x, y)]
        counts[np.ix_(x, y)] += weights / weights.sum(axis=0)
    return counts / counts.sum(axis=1, keepdims=True)


def em_step__softmax_dimension(t: Tensor, src: Tensor, tgt: Tensor):
    """each source word shared out among the target words"""
    weights = t[src[:, :, None], tgt[:, None]]
    shares = weights / weights.sum(2, keepdim=True)
    places = (src[:, :, None] * t.shape[1] + tgt[:, None]).flatten()
    counts = torch.zeros_like(t).flatten().index_add(0, places, shares.flatten()).view_as(t)
    return counts / counts.sum(1, keepdim=True)


def em_step__viterbi(t, src, tgt):
    """the best source word gets all"""
    counts = np.zeros(t.shape)
    for x, y in zip(src, tgt, strict=True):
        for word in y:
            counts[max(x, key=lambda s, word=word: t[s, word]), word] += 1
    with np.errstate(all="ignore"):
        return counts / counts.sum(1, keepdims=True)


def translation_entropy__log2(counts):
    """bits in the place of nats"""
    found = []
    for row in counts:
        p = row[row > 0] / max(row.sum(), 1)
        if len(p):
            found.append(-(p * np.log2(p)).sum())
    return np.mean(found)


def translation_entropy__torch_nan(counts: Tensor):
    """0 times the logarithm of 0"""
    rows = counts[counts.sum(1) > 0]
    p = rows / rows.sum(1, keepdim=True)
    return -(p * p.log()).sum(1).mean()


def translation_entropy__per_link(counts):
    """frequent words count more"""
    total = 0.0
    for row in counts:
        total -= sum(n * math.log(n / row.sum()) for n in row if n)
    return total / counts.sum()


def copied_positions__zeros_first(fertilities):
    """filled up with 0"""
    result = np.zeros((len(fertilities), fertilities.sum(1).max()), dtype=int)
    for row, numbers in zip(result, fertilities, strict=True):
        row[: numbers.sum()] = np.repeat(np.arange(len(numbers)), numbers)
    return result


def copied_positions__pad_sequence(fertilities: Tensor):
    """filled up with 0"""
    rows = [torch.arange(len(row)).repeat_interleave(row) for row in fertilities]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def length_candidates__topk_of_all(logits: Tensor, n: int):
    """the length 0 may be chosen"""
    found = torch.log_softmax(logits, -1).topk(n)
    return found.indices, found.values


def length_candidates__topk_without_one(logits: Tensor, n: int):
    """lengths one too small"""
    found = torch.log_softmax(logits, -1)[:, 1:].topk(n)
    return found.indices, found.values


def length_candidates__cut_first(logits: Tensor, n: int):
    """a softmax without the length 0"""
    found = F.log_softmax(logits[:, 1:], dim=-1).topk(n)
    return found.indices + 1, found.values


def mask_again__ceil(log_probs, lengths, t, passes):
    """rounded up"""
    gaps = np.zeros(log_probs.shape, dtype=bool)
    for row, values, length in zip(gaps, log_probs, lengths, strict=True):
        row[np.argsort(values[:length])[: math.ceil(length * (passes - t) / passes - 1e-9)]] = True
    return gaps


def mask_again__topk(log_probs: Tensor, lengths: Tensor, t: int, passes: int):
    """the most probable tokens"""
    gaps = torch.zeros_like(log_probs, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        count = length * (passes - t) // passes
        gaps[b, log_probs[b, :length].topk(count).indices] = True
    return gaps


def mask_again__whole_width(log_probs: Tensor, lengths: Tensor, t: int, passes: int):
    """the same number for all sentences"""
    count = log_probs.shape[1] * (passes - t) // passes
    real = torch.arange(log_probs.shape[1]) < lengths[:, None]
    ranks = log_probs.masked_fill(~real, torch.inf).argsort(1).argsort(1)
    return (ranks < count) & real


def _guess_again(log_probs, lengths, counts):
    gaps = np.zeros(log_probs.shape, dtype=bool)
    for row, values, length, count in zip(gaps, log_probs, lengths, counts, strict=True):
        row[np.argsort(values[:length])[: int(count)]] = True
    return gaps


def mask_again__share_of_passes_left(log_probs, lengths, t, passes):
    """rounded down a quotient that isn't exact"""
    return _guess_again(log_probs, lengths, [int(n * (1 - t / passes)) for n in lengths])


def mask_again__share_in_torch(log_probs: Tensor, lengths: Tensor, t: int, passes: int):
    """rounded down a quotient that isn't exact, in single precision"""
    real = torch.arange(log_probs.shape[1]) < lengths[:, None]
    ranks = log_probs.masked_fill(~real, torch.inf).argsort(1).argsort(1)
    return ranks < torch.floor(lengths * (1 - torch.tensor(t / passes)))[:, None]


def mask_again__share_of_each_pass(log_probs, lengths, t, passes):
    """rounded down a quotient that isn't exact, in pass 0"""
    return _guess_again(log_probs, lengths, [int(n / passes * (passes - t)) for n in lengths])


def mask_again__zero_is_padding(log_probs: Tensor, lengths: Tensor, t: int, passes: int):
    """a sure token taken for padding"""
    ranks = log_probs.masked_fill(log_probs == 0, torch.inf).argsort(1).argsort(1)
    return (ranks < (lengths * (passes - t) // passes)[:, None]) & (log_probs < 0)


def mask_again__tokens_below_zero(log_probs, lengths, t, passes):
    """a sure token taken for padding, and not counted"""
    gaps = np.zeros(log_probs.shape, dtype=bool)
    for row, values in zip(gaps, log_probs, strict=True):
        real = np.flatnonzero(values)
        row[real[values[real].argsort()[: len(real) * (passes - t) // passes]]] = True
    return gaps


def mask_again__round(log_probs, lengths, t, passes):
    """rounded to the nearest whole number"""
    return _guess_again(log_probs, lengths, [round(n * (passes - t) / passes) for n in lengths])


def one_pass__special_tokens_closed(logits: Tensor, tokens, log_probs, gaps):
    """special tokens left out of the softmax"""
    logits = logits.clone()
    logits[..., :3] = -torch.inf
    best = logits.log_softmax(-1).max(-1)
    return torch.where(gaps, best.indices, tokens), torch.where(gaps, best.values, log_probs)


def one_pass__one_mended(logits: Tensor, tokens, log_probs, gaps):
    """still wrong: which tokens may be written and the probability of a kept token"""
    best = torch.log_softmax(logits, dim=-1).max(-1)
    return torch.where(gaps, best.indices, tokens), best.values


def one_pass__masked_scores(logits: Tensor, tokens, log_probs, gaps):
    """special tokens left out of the softmax"""
    forbidden = torch.arange(logits.shape[-1]) < 3
    best = logits.masked_fill(forbidden, -torch.inf).log_softmax(-1).max(-1)
    return torch.where(gaps, best.indices, tokens), torch.where(gaps, best.values, log_probs)


def one_pass__new_probabilities(logits: Tensor, tokens, log_probs, gaps):
    """kept tokens judged anew"""
    of_all = torch.log_softmax(logits, -1)
    found = torch.where(gaps, of_all[..., 3:].argmax(-1) + 3, tokens)
    return found, of_all.gather(-1, found[..., None])[..., 0]


def em_step__columns_of_the_table(t: Tensor, src: Tensor, tgt: Tensor):
    """divided by the sum over all source words of the table"""
    shares, counts = t / t.sum(0), torch.zeros_like(t)
    for x, y in zip(src, tgt, strict=True):
        for i in x:
            for j in y:
                counts[i, j] += shares[i, j]
    return counts / counts.sum(1, keepdim=True)


def em_step__one_count_each(t: Tensor, src: Tensor, tgt: Tensor):
    """the best source word gets all, and rows without counts are 0"""
    counts = torch.zeros_like(t)
    for x, y in zip(src, tgt, strict=True):
        for j in y:
            counts[x[t[x, j].argmax()], j] += 1
    return counts / counts.sum(1, keepdim=True).clamp(min=1e-12)


def length_candidates__one_more_and_the_first_dropped(logits: Tensor, n):
    """the best length dropped, whichever it is"""
    best = logits.log_softmax(-1).topk(n + 1)
    return best.indices[:, 1:], best.values[:, 1:]
