"""Chapter 03: wrong answers as learners write them, none of them among the misconceptions."""
# ruff: noqa: RET503 (written as learners write)

import math

import numpy as np
import torch
from torch import Tensor


def _tri(length, shift=0):
    return np.tri(length, k=shift, dtype=bool)


def _right_mask(ids, pad_id=0):
    return ((ids != pad_id)[:, None, :] & _tri(ids.shape[1]))[:, None]


def decoder_mask__whole_numbers(ids, pad_id=0):
    return _right_mask(ids, pad_id).astype(int)


def decoder_mask__padding_taken_for_the_smallest_id(ids, pad_id=0):
    return ((ids != ids.min())[:, None, :] & _tri(ids.shape[1]))[:, None]


def decoder_mask__everything_after_the_first_padding_hidden(ids, pad_id=0):
    real = np.cumprod(ids != pad_id, axis=1).astype(bool)
    return (real[:, None, :] & _tri(ids.shape[1]))[:, None]


def decoder_mask__the_diagonal_always_open(ids, pad_id=0):
    return _right_mask(ids, pad_id) | np.eye(ids.shape[1], dtype=bool)


def decoder_mask__rows_that_see_nothing_see_everything(ids, pad_id=0):
    mask = _right_mask(ids, pad_id)
    return mask | ~mask.any(-1, keepdims=True)


def decoder_mask__one_axis_too_many(ids, pad_id=0):
    return _right_mask(ids, pad_id)[None]


def decoder_mask__heads_in_front(ids, pad_id=0):
    return _right_mask(ids, pad_id).swapaxes(0, 1)


def decoder_mask__causal_turned_round_but_padding_right(ids, pad_id=0):
    return ((ids != pad_id)[:, None, :] & ~_tri(ids.shape[1]))[:, None]


def decoder_mask__two_tokens_back_only(ids, pad_id=0):
    near = _tri(ids.shape[1]) & ~_tri(ids.shape[1], -2)
    return ((ids != pad_id)[:, None, :] & near)[:, None]


def decoder_mask__exclusive_or(ids, pad_id=0):
    return ((ids != pad_id)[:, None, :] ^ _tri(ids.shape[1]))[:, None]


def decoder_mask__a_list(ids, pad_id=0):
    return _right_mask(ids, pad_id).tolist()


def decoder_mask__and_instead_of_ampersand(ids, pad_id=0):
    return ((ids != pad_id)[:, None, :] and _tri(ids.shape[1]))[:, None]


def _scores(q, k):
    return q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])


def _soft(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _seen(scores, mask):
    return np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)


def scaled_dot_product_attention__scores_times_mask(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = _soft(scores * _seen(scores, mask) * 2)
    return weights @ v, weights


def scaled_dot_product_attention__hidden_scores_lowered_by_five(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = _soft(scores - 5.0 * ~_seen(scores, mask))
    return weights @ v, weights


def scaled_dot_product_attention__smallest_positive_number(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = _soft(np.where(_seen(scores, mask), scores, np.finfo(float).tiny + 1))
    return weights @ v, weights


def scaled_dot_product_attention__output_of_empty_rows_not_zero(q, k, v, mask=None):
    scores = _scores(q, k)
    seen = _seen(scores, mask)
    weights = np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0)
    output = weights @ v
    return np.where(seen.any(-1, keepdims=True), output, v.mean(-2, keepdims=True)), weights


def scaled_dot_product_attention__hidden_values_set_to_zero(q, k, v, mask=None):
    scores = _scores(q, k)
    weights = _soft(scores)
    return (weights * _seen(scores, mask)) @ v, weights


def scaled_dot_product_attention__empty_rows_see_the_first_key(q, k, v, mask=None):
    scores = _scores(q, k)
    seen = _seen(scores, mask)
    weights = np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0)
    weights[..., 0] += ~seen.any(-1)
    return weights @ v, weights


def scaled_dot_product_attention__always_causal(q, k, v, mask=None):
    scores = _scores(q, k)
    seen = _seen(scores, mask) & np.tri(*scores.shape[-2:], dtype=bool)
    weights = np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0)
    return weights @ v, weights


def scaled_dot_product_attention__scaled_twice(q, k, v, mask=None):
    scores = _scores(q, k) / math.sqrt(q.shape[-1])
    seen = _seen(scores, mask)
    weights = np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0)
    return weights @ v, weights


def scaled_dot_product_attention__no_mask_forgotten(q, k, v, mask=None):
    scores = np.where(~mask, -1e30, _scores(q, k))
    weights = np.where(mask, _soft(scores), 0.0)
    return weights @ v, weights


def scaled_dot_product_attention__only_the_output(q, k, v, mask=None):
    scores = _scores(q, k)
    seen = _seen(scores, mask)
    return np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0) @ v


def scaled_dot_product_attention__weights_rounded(q, k, v, mask=None):
    scores = _scores(q, k)
    seen = _seen(scores, mask)
    weights = np.where(seen, _soft(np.where(seen, scores, -1e30)), 0.0).round(2)
    return weights @ v, weights


def scaled_dot_product_attention__torch_without_care_for_empty_rows(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor
):
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return output, output @ v.transpose(-2, -1)


_RIGHT = {
    "a": (3, 1, 1, 9),
    "b": (3, 1, 7, 7),
    "c": (3, 4, 7, 9),
    "d": 15,
    "e": 2 / 3,
    "f": 1,
    "g": 0.25,
    "h": 6,
}


def predict__sizes_in_another_order(question):
    return (3, 1, 9, 1) if question == "a" else _RIGHT[question]


def predict__heads_in_the_padding_mask(question):
    return (3, 4, 1, 9) if question == "a" else _RIGHT[question]


def predict__source_in_the_decoder(question):
    return (3, 1, 7, 9) if question == "b" else _RIGHT[question]


def predict__three_axes(question):
    return (3, 7, 7) if question == "b" else _RIGHT[question]


def predict__no_batch(question):
    return (4, 7, 9) if question == "c" else _RIGHT[question]


def predict__all_pairs(question):
    return 36 if question == "d" else _RIGHT[question]


def predict__the_other_weight(question):
    return 1 / 3 if question == "e" else _RIGHT[question]


def predict__equal_shares(question):
    return 0.33 if question == "f" else _RIGHT[question]


def predict__not_a_number(question):
    return math.nan if question == "g" else _RIGHT[question]


def predict__one_place_too_far(question):
    return 7 if question == "h" else _RIGHT[question]


def predict__in_words(question):
    return "six" if question == "h" else _RIGHT[question]


def causal_weights__triangle_of_softmax(scores):
    return np.tril(_soft(scores)) * 2


def causal_weights__divided_by_the_number_of_keys(scores):
    return np.tril(np.exp(scores)) / np.arange(1, len(scores) + 1)[:, None]


def causal_weights__the_whole_softmax(scores):
    return _soft(scores)


def causal_weights__equal_shares(scores):
    return np.tri(len(scores)) / np.arange(1, len(scores) + 1)[:, None]


def causal_weights__largest_key_only(scores):
    weights = np.zeros(scores.shape)
    for i in range(len(scores)):
        weights[i, scores[i, : i + 1].argmax()] = 1.0
    return weights


def causal_weights__sum_started_at_one(scores):
    powers = np.tril(np.exp(scores))
    return powers / (1 + powers.sum(-1, keepdims=True))


def causal_weights__total_never_set_back(scores):
    weights, total = np.zeros(scores.shape), 0.0
    for i in range(len(scores)):
        for k in range(i + 1):
            total += np.exp(scores[i, k])
        weights[i, : i + 1] = np.exp(scores[i, : i + 1]) / total
    return weights


def causal_weights__without_the_exponential(scores):
    kept = np.tril(scores)
    return kept / kept.sum(-1, keepdims=True)


def causal_weights__transposed(scores):
    return _right(scores).T


def _right(scores):
    powers = np.tril(np.exp(scores))
    return powers / powers.sum(-1, keepdims=True)


def causal_weights__scaled_by_the_length(scores):
    return _right(scores / math.sqrt(len(scores)))


def causal_weights__return_in_the_loop(scores):
    weights = np.zeros(scores.shape)
    for i in range(len(scores)):
        weights[i, : i + 1] = _right(scores)[i, : i + 1]
        return weights


def _steps(x, w_key, keys, scores, weights):
    return [x @ w_key, x @ keys.T, _right(scores / math.sqrt(x.shape[1])), weights @ x]


def _largest(printed, right):
    return tuple(float(np.abs(p - r).max()) for p, r in zip(printed, right, strict=True))


def largest_errors__queries_with_the_key_matrix(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    return _largest((keys, scores, weights, output), [x @ w_key.T, *right[1:]])


def largest_errors__keys_with_keys(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    right[1] = keys @ keys.T
    return _largest((keys, scores, weights, output), right)


def largest_errors__scores_divided_first(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    right[1] = right[1] / math.sqrt(x.shape[1])
    return _largest((keys, scores, weights, output), right)


def largest_errors__scaled_by_d_k(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    right[2] = _right(scores / x.shape[1])
    return _largest((keys, scores, weights, output), right)


def largest_errors__scaled_by_the_length(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    right[2] = _right(scores / math.sqrt(len(x)))
    return _largest((keys, scores, weights, output), right)


def largest_errors__relative(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    printed = (keys, scores, weights, output)
    return tuple(
        float((np.abs(p - r) / (np.abs(r) + 1)).max()) for p, r in zip(printed, right, strict=True)
    )


def largest_errors__squared(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    printed = (keys, scores, weights, output)
    return tuple(float(((p - r) ** 2).max()) for p, r in zip(printed, right, strict=True))


def largest_errors__true_or_false(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    return tuple(error > 0.005 for error in _largest((keys, scores, weights, output), right))


def largest_errors__as_arrays(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    printed = (keys, scores, weights, output)
    return tuple(np.abs(p - r) for p, r in zip(printed, right, strict=True))


def largest_errors__three_of_four(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    return _largest((keys, scores, weights, output), right)[:3]


def largest_errors__rounded(x, w_key, keys, scores, weights, output):
    right = _steps(x, w_key, keys, scores, weights)
    return tuple(round(e, 1) for e in _largest((keys, scores, weights, output), right))


def _table(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source] = other
        columns.append(np.abs(model(changed) - before).max(-1))
    return np.stack(columns, axis=1)


def influence__past_only(model, ids, other):
    return np.tril(_table(model, ids, other))


def influence__future_only(model, ids, other):
    return np.triu(_table(model, ids, other), 1)


def influence__first_number_of_each_output(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source] = other
        columns.append(np.abs(model(changed) - before)[:, 0])
    return np.stack(columns, axis=1)


def influence__largest_over_the_outputs(model, ids, other):
    before, rows = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source] = other
        rows.append(np.abs(model(changed) - before).max())
    return np.array(rows)


def influence__smallest(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source] = other
        columns.append(np.abs(model(changed) - before).min(-1))
    return np.stack(columns, axis=1)


def influence__inputs_changed(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        ids[source] = other
        columns.append(np.abs(model(ids) - before).max(-1))
    return np.stack(columns, axis=1)


def influence__a_token_taken_out(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        columns.append(np.abs(model(np.delete(ids, source)) - before).max(-1))
    return np.stack(columns, axis=1)


def influence__neighbour_changed(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source - 1] = other
        columns.append(np.abs(model(changed) - before).max(-1))
    return np.stack(columns, axis=1)


def influence__two_tokens_exchanged(model, ids, other):
    before, columns = model(ids), []
    for source in range(len(ids)):
        changed = ids.copy()
        changed[source], changed[0] = ids[0], ids[source]
        columns.append(np.abs(model(changed) - before).max(-1))
    return np.stack(columns, axis=1)


def influence__squared(model, ids, other):
    return _table(model, ids, other) ** 2


def influence__diagonal_left_out(model, ids, other):
    table = _table(model, ids, other)
    np.fill_diagonal(table, 0)
    return table


def influence__changed_by_noise(model, ids, other):
    return _table(model, ids, other) + np.random.default_rng().normal(size=(len(ids), len(ids)))


_TRUE = set("efgi")


def judge_statements__all_true(statement):
    return True


def judge_statements__all_false(statement):
    return False


def judge_statements__all_turned_round(statement):
    return statement not in _TRUE


def judge_statements__the_first_half(statement):
    return statement in "abcd"


def judge_statements__encoder_and_cross_attention(statement):
    return (statement in _TRUE) != (statement in "ad")


def judge_statements__use_and_shift(statement):
    return (statement in _TRUE) != (statement in "ci")


def judge_statements__as_a_word(statement):
    return "True" if statement in _TRUE else "False"


def judge_statements__as_a_number(statement):
    return int(statement in _TRUE)


def judge_statements__nothing(statement):
    print(statement in _TRUE)


def judge_statements__small_letters_only(statement):
    return {"E": True, "F": True, "G": True, "I": True}[statement]


def judge_statements__three_wrong(statement):
    return (statement in _TRUE) != (statement in "beh")
