"""Chapter 09: misconceptions in the spellings of learners."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from tests.data.wrong_answers.decoding import _all, _beam, _softmax, _total
from transformer_course.checks.decoding.next_token_distribution import k_best, normalised, nucleus


def length_penalty__six_plus(length, alpha):
    """6 + length in place of 5 + length"""
    return ((6 + length) / 6) ** alpha


def next_token_distribution__one_hot(logits, temperature, top_k, top_p):
    """greedy decoding: the best token alone"""
    return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]


def best_of_beam__greedy(table, beam, max_len, alpha):
    """a beam of one, whatever is asked for"""
    return np.array(_beam(table, 1, max_len, lambda c: c[1]))


def best_by_trying__first_sentence(table, max_len):
    """the 0 alone, whatever the table says"""
    return np.array(_all(table, max_len)[0])


def best_by_trying__no_word_twice(table, max_len):
    """the 0 alone, whatever the table says"""
    different = [ids for ids in _all(table, max_len) if len(set(ids)) == len(ids)]
    return np.array(min(different, key=lambda ids: (len(ids), -_total(table, ids))))


def best_by_trying__the_worst_of_the_shortest(table, max_len):
    """the 0 alone, whatever the table says"""
    return np.array(min(_all(table, max_len), key=lambda ids: (len(ids), _total(table, ids))))[::-1]


def next_token_distribution__temperature_subtracted(logits, temperature, top_k, top_p):
    """the temperature changes nothing"""
    probs = np.exp(logits - temperature - (logits - temperature).max(-1, keepdims=True))
    return normalised(nucleus(normalised(k_best(normalised(probs), top_k)), top_p))


def best_of_beam__multiplied_by_the_penalty(table, beam, max_len, alpha):
    """one mistake is left: the sum is multiplied by the length penalty"""
    return np.array(_beam(table, beam, max_len, lambda c: c[1] * ((5 + len(c[0])) / 6) ** alpha))


def best_by_trying__at_least_one_word_before_the_end(table, max_len):
    """the 0 alone left out"""
    longer = [ids for ids in _all(table, max_len) if len(ids) > 1]
    return np.array(max(longer, key=lambda ids: _total(table, ids)))


def next_token_distribution__top_k_only(logits, temperature, top_k, top_p):
    """top_p ignored"""
    probs = _softmax(logits / temperature)
    lowest = np.sort(probs, axis=-1)[..., -top_k][..., None]
    probs = np.where(probs >= lowest, probs, 0)
    return probs / probs.sum(axis=-1, keepdims=True)


def next_token_distribution__every_cut_on_the_whole_distribution(logits, temperature, top_k, top_p):
    """not normalised between the two cuts"""
    probs = _softmax(logits / temperature)
    ranked = -np.sort(-probs, axis=-1)
    enough = (ranked.cumsum(-1) >= top_p - 1e-9).argmax(-1)[..., None]
    lowest = np.maximum(ranked[..., top_k - 1 : top_k], np.take_along_axis(ranked, enough, axis=-1))
    kept = np.where(probs >= lowest, probs, 0)
    return kept / kept.sum(-1, keepdims=True)


def next_token_distribution__small_ones_cut(logits, temperature, top_k, top_p):
    """1 - top_p as a threshold for single tokens, even if nothing is left"""
    probs = _softmax(logits / temperature)
    probs[probs < np.sort(probs, -1)[..., -top_k][..., None]] = 0
    probs = probs / probs.sum(-1, keepdims=True)
    probs[probs < 1 - top_p] = 0
    return probs / probs.sum(-1, keepdims=True)


def next_token_distribution__the_most_probable_kept_in_any_case(logits, temperature, top_k, top_p):
    """1 - top_p as a threshold for single tokens"""
    probs = _softmax(logits / temperature)
    probs[probs < np.sort(probs, -1)[..., -top_k][..., None]] = 0
    probs = probs / probs.sum(-1, keepdims=True)
    kept = np.maximum(probs >= 1 - top_p, probs == probs.max(-1, keepdims=True))
    return probs * kept / (probs * kept).sum(-1, keepdims=True)


def next_token_distribution__sums_up_to_top_p(logits: Tensor, temperature, top_k, top_p):
    """the token that reaches top_p left out, even if nothing is left"""
    ranked, order = torch.softmax(logits / temperature, -1).sort(dim=-1, descending=True)
    ranked[..., top_k:] = 0
    ranked = ranked / ranked.sum(-1, keepdim=True)
    if top_p < 1:
        ranked = ranked.masked_fill(ranked.cumsum(-1) > top_p, 0)
    return torch.zeros_like(logits).scatter(-1, order, ranked / ranked.sum(-1, keepdim=True))


def beam_step__times(scores: Tensor, log_probs: Tensor):
    """logarithms multiplied"""
    total = scores[:, None] * log_probs
    best, places = total.flatten().topk(len(scores))
    return places // total.shape[1], places % total.shape[1], best


def _own_beam(table, beam, max_len, alpha, *, words=None, refill=False, hasty=False):
    open_ones, finished = [((), 0.0)], []
    for _ in range(max_len):
        grown = []
        for ids, total in open_ones:
            row = table[ids[-1] if ids else 0]
            grown += [((*ids, int(w)), total + row[w]) for w in np.argsort(-row)[:words]]
        grown.sort(key=lambda c: -c[1])
        finished += [c for c in grown[:beam] if c[0][-1] == 0]
        rest = grown if refill else grown[:beam]
        open_ones = [c for c in rest if c[0][-1] != 0][:beam]
        if not open_ones or (hasty and finished):
            break
    score = lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha  # noqa: E731
    return np.array(max(finished or open_ones, key=score)[0])


def best_of_beam__always_full(table, beam, max_len, alpha):
    """one mistake is left: the place of a finished one is filled"""
    return _own_beam(table, beam, max_len, alpha, refill=True)


def best_of_beam__beam_less_one(table, beam, max_len, alpha):
    """one mistake is left: one word too few of each beginning, none if the beam is one"""
    return _own_beam(table, beam, max_len, alpha, words=beam - 1)


def best_of_beam__beam_less_one_but_one(table, beam, max_len, alpha):
    """one mistake is left: one word too few of each beginning"""
    return _own_beam(table, beam, max_len, alpha, words=beam - 1 or 1)


def best_of_beam__first_end(table, beam, max_len, alpha):
    """one mistake is left: the search stops at the first finished one"""
    return _own_beam(table, beam, max_len, alpha, hasty=True)


def best_by_trying__row_of_the_start_forgotten(table, max_len):
    """the 0 alone, whatever the table says"""

    def total(ids):
        return sum(table[before, after] for before, after in pairwise(ids))

    return np.array(max(_all(table, max_len), key=total))
