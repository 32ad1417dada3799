"""Chapter 13: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def _shares(t, src, tgt):
    for x, y in zip(src, tgt, strict=True):
        weights = t[x][:, y]
        yield x, y, weights / weights.sum(0)


def _counts(t, src, tgt):
    counts = np.zeros_like(t)
    for x, y, shares in _shares(t, src, tgt):
        np.add.at(counts, (x[:, None], y), shares)
    return counts


def em_step__table_turned(t, src, tgt):
    counts = _counts(t, src, tgt)
    return (counts / counts.sum(1, keepdims=True)).T


def em_step__written_in_place(t, src, tgt):
    counts = _counts(t, src, tgt)
    t[:] = counts / counts.sum(1, keepdims=True)
    return t


def em_step__first_pair_only(t, src, tgt):
    counts = _counts(t, src[:1], tgt[:1])
    return counts / np.maximum(counts.sum(1, keepdims=True), 1e-9)


def em_step__one_added_to_each_count(t, src, tgt):
    counts = _counts(t, src, tgt) + 1
    return counts / counts.sum(1, keepdims=True)


def em_step__half_of_the_old_table(t, src, tgt):
    counts = _counts(t, src, tgt)
    return (t + counts / counts.sum(1, keepdims=True)) / 2


def em_step__counts_of_one_row(t, src, tgt):
    return _counts(t, src, tgt)[0]


def em_step__shares_squared(t, src, tgt):
    counts = np.zeros_like(t)
    for x, y, shares in _shares(t, src, tgt):
        np.add.at(counts, (x[:, None], y), shares**2)
    return counts / counts.sum(1, keepdims=True)


def translation_entropy__each_word(counts):
    p = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return -(p * np.log(np.where(p > 0, p, 1))).sum(1)


def translation_entropy__not_divided(counts):
    rows = counts[counts.sum(1) > 0]
    return float(-(rows * np.log(np.where(rows > 0, rows, 1))).sum(1).mean())


def translation_entropy__share_of_the_best(counts):
    rows = counts[counts.sum(1) > 0]
    return float((rows.max(1) / rows.sum(1)).mean())


def translation_entropy__number_of_translations(counts):
    rows = counts[counts.sum(1) > 0]
    return float(np.log((rows > 0).sum(1)).mean())


def translation_entropy__softmax_of_counts(counts: Tensor):
    rows = counts[counts.sum(1) > 0]
    p = rows.softmax(1)
    return -(p * p.log()).sum(1).mean()


def translation_entropy__largest_word(counts):
    p = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return float((-(p * np.log(np.where(p > 0, p, 1))).sum(1)).max())


def copied_positions__one_long_row(fertilities):
    return np.concatenate([np.repeat(np.arange(len(row)), row) for row in fertilities])


def copied_positions__a_list(fertilities):
    return [np.repeat(np.arange(len(row)), row).tolist() for row in fertilities]


def copied_positions__decimal_points(fertilities: Tensor):
    rows = [torch.arange(len(row)).repeat_interleave(row).float() for row in fertilities]
    return torch.nn.utils.rnn.pad_sequence(rows, True, -1.0)


def copied_positions__last_token_repeated(fertilities):
    ends = fertilities.cumsum(1)
    places = np.arange(ends[:, -1].max())
    owner = (places[None, :, None] >= ends[:, None, :]).sum(-1)
    return np.minimum(owner, fertilities.shape[1] - 1)


def copied_positions__ends_belong_to_the_next(fertilities: Tensor):
    ends = fertilities.cumsum(1)
    places = torch.arange(int(ends.max())).repeat(len(ends), 1)
    found = torch.searchsorted(ends, places)
    return found.masked_fill(places >= ends[:, -1:], -1)


def copied_positions__most_fertile_first(fertilities):
    width = fertilities.sum(1).max()
    result = np.full((len(fertilities), width), -1)
    for row, numbers in zip(result, fertilities, strict=True):
        order = np.argsort(-numbers, kind="stable")
        found = np.repeat(order, numbers[order])
        row[: len(found)] = found
    return result


def length_candidates__only_lengths(logits: Tensor, n: int):
    return logits[:, 1:].topk(n).indices + 1


def length_candidates__values_first(logits: Tensor, n: int):
    found = logits.log_softmax(-1)[:, 1:].topk(n)
    return found.values, found.indices + 1


def length_candidates__decimal_lengths(logits: Tensor, n: int):
    found = logits.log_softmax(-1)[:, 1:].topk(n)
    return (found.indices + 1).float(), found.values


def length_candidates__all_lengths(logits: Tensor, n: int):
    log_probs, order = logits.log_softmax(-1)[:, 1:].sort(dim=1, descending=True)
    return order + 1, log_probs


def length_candidates__bits(logits: Tensor, n: int):
    found = (logits.log_softmax(-1) / np.log(2))[:, 1:].topk(n)
    return found.indices + 1, found.values


def length_candidates__last_length_forbidden(logits: Tensor, n: int):
    log_probs = logits.log_softmax(-1)[:, :-1]
    found = log_probs.topk(min(n, log_probs.shape[1]))
    return found.indices, found.values


def mask_again__ones_and_zeros(log_probs, lengths, t, passes):
    real = np.arange(log_probs.shape[1]) < lengths[:, None]
    ranks = np.where(real, log_probs, np.inf).argsort(1).argsort(1)
    return (ranks < (lengths * (passes - t) // passes)[:, None]).astype(int)


def mask_again__argsort_taken_for_ranks(log_probs, lengths, t, passes):
    real = np.arange(log_probs.shape[1]) < lengths[:, None]
    order = np.where(real, log_probs, np.inf).argsort(1)
    return order < (lengths * (passes - t) // passes)[:, None]


def mask_again__below_the_mean(log_probs, lengths, t, passes):
    real = np.arange(log_probs.shape[1]) < lengths[:, None]
    means = log_probs.sum(1, keepdims=True) / lengths[:, None]
    return real & (log_probs < means)


def mask_again__below_one_half(log_probs, lengths, t, passes):
    return log_probs < np.log(0.5)


def mask_again__places_of_the_gaps(log_probs, lengths, t, passes):
    return np.argsort(log_probs, 1)[:, : int(lengths.max()) * (passes - t) // passes]


def mask_again__up_to_the_last_that_is_chosen(log_probs, lengths, t, passes):
    """Padding has the number 0, as a token that is quite sure."""
    gaps = np.zeros(log_probs.shape, dtype=bool)
    for row, values, length in zip(gaps, log_probs, lengths, strict=True):
        count = length * (passes - t) // passes
        row[:] = values <= np.sort(values[:length])[count - 1] if count else False
    return gaps


def mask_again__rounded_to_the_nearest(log_probs, lengths, t, passes):
    real = np.arange(log_probs.shape[1]) < lengths[:, None]
    ranks = np.where(real, log_probs, np.inf).argsort(1).argsort(1)
    return ranks < np.floor(lengths * (passes - t) / passes + 0.5)[:, None]


def mask_again__squared_schedule(log_probs: Tensor, lengths: Tensor, t: int, passes: int):
    real = torch.arange(log_probs.shape[1]) < lengths[:, None]
    ranks = log_probs.masked_fill(~real, torch.inf).argsort(1).argsort(1)
    return ranks < (lengths * (1 - t / passes) ** 2).floor()[:, None]


def predict__sixes(question):
    return 6.0


def predict__texts(question):
    return "0.5"


def predict__nothing(question):
    return None


def predict__a_shape(question):
    return (1, 6)


def predict__doubled(question):
    return {"a": 0.6, "b": 0.3}.get(question, 8.0)


def _pass(logits, tokens, log_probs, gaps):
    of_all = torch.log_softmax(logits, -1)
    of_all[..., :3] = -torch.inf
    best = of_all.max(-1)
    return torch.where(gaps, best.indices, tokens), torch.where(gaps, best.values, log_probs)


def one_pass__only_tokens(logits: Tensor, tokens, log_probs, gaps):
    return _pass(logits, tokens, log_probs, gaps)[0]


def one_pass__exchanged(logits: Tensor, tokens, log_probs, gaps):
    tokens, log_probs = _pass(logits, tokens, log_probs, gaps)
    return log_probs, tokens


def one_pass__nothing_done(logits: Tensor, tokens, log_probs, gaps):
    return tokens, log_probs


def one_pass__four_forbidden(logits: Tensor, tokens, log_probs, gaps):
    of_all = torch.log_softmax(logits, -1)
    of_all[..., :4] = -torch.inf
    best = of_all.max(-1)
    return torch.where(gaps, best.indices, tokens), torch.where(gaps, best.values, log_probs)


def one_pass__least_probable(logits: Tensor, tokens, log_probs, gaps):
    best = torch.log_softmax(logits, -1)[..., 3:].min(-1)
    return torch.where(gaps, best.indices + 3, tokens), torch.where(gaps, best.values, log_probs)


def one_pass__kept_tokens_get_zero(logits: Tensor, tokens, log_probs, gaps):
    tokens, found = _pass(logits, tokens, log_probs, gaps)
    return tokens, found * gaps


def one_pass__written_in_place(logits: Tensor, tokens, log_probs, gaps):
    best = F.log_softmax(logits, -1)[..., 3:].max(-1)
    tokens[gaps] = best.indices[gaps] + 3
    log_probs[gaps] = best.values[gaps]
    return tokens, log_probs
