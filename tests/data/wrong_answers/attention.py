"""Chapter 01: wrong answers as learners write them, none of them among the misconceptions."""
# ruff: noqa: RET503 (written as learners write)

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def _softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def similarities__key_times_query_not_summed(query, keys):
    products = keys * query
    return products, products / np.linalg.norm(keys) / np.linalg.norm(query)


def similarities__query_first(query, keys):
    dots = query @ keys
    return dots, dots / np.linalg.norm(keys, axis=-1) / np.linalg.norm(query)


def similarities__lengths_along_the_wrong_axis(query, keys):
    dots = keys @ query
    return dots, dots / (np.linalg.norm(keys, axis=0) * np.linalg.norm(query))


def similarities__sums_of_magnitudes_as_lengths(query, keys):
    dots = keys @ query
    return dots, dots / (np.abs(keys).sum(-1) * np.abs(query).sum())


def similarities__lengths_of_means(query, keys):
    dots = keys @ query
    return dots, dots / np.sqrt((keys**2).mean(-1) * (query**2).mean())


def similarities__only_the_dot_products(query, keys):
    return keys @ query


def similarities__columns_of_one_array(query, keys):
    dots = keys @ query
    cosines = dots / (np.linalg.norm(keys, axis=-1) * np.linalg.norm(query))
    return np.stack([dots, cosines], axis=1)


def similarities__distances(query, keys):
    dots = keys @ query
    return dots, np.linalg.norm(keys - query, axis=-1)


def similarities__a_safety_term_too_large(query, keys):
    dots = keys @ query
    return dots, dots / (np.linalg.norm(keys, axis=-1) * np.linalg.norm(query) + 1e-3)


def similarities__in_python_lists(query, keys):
    dots = [float(key @ query) for key in keys]
    lengths = np.linalg.norm(keys, axis=-1) * np.linalg.norm(query)
    return dots, [dot / length for dot, length in zip(dots, lengths, strict=True)]


def similarities__rounded(query, keys):
    dots = keys @ query
    cosines = dots / (np.linalg.norm(keys, axis=-1) * np.linalg.norm(query))
    return dots.round(2), cosines.round(2)


def softmax__shift_after_the_exponential(scores, axis=-1):
    powers = np.exp(scores) - scores.max(axis, keepdims=True)
    return powers / powers.sum(axis, keepdims=True)


def softmax__powers_of_two(scores, axis=-1):
    powers = 2 ** (scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def softmax__squares_instead_of_the_exponential(scores, axis=-1):
    return scores**2 / (scores**2).sum(axis, keepdims=True)


def softmax__mean_instead_of_sum(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.mean(axis, keepdims=True)


def softmax__length_one(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / np.sqrt((powers**2).sum(axis, keepdims=True))


def softmax__one_added_to_the_sum(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / (1 + powers.sum(axis, keepdims=True))


def softmax__nan_made_zero(scores, axis=-1):
    return np.nan_to_num(np.exp(scores) / np.exp(scores).sum(axis, keepdims=True))


def softmax__in_place(scores, axis=-1):
    scores -= scores.max(axis, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis, keepdims=True)


def softmax__axis_before_the_last(scores, axis=-1):
    return _softmax(scores, -2)


def softmax__into_an_array_of_whole_numbers(scores, axis=-1):
    weights = np.zeros_like(scores)
    weights[...] = _softmax(scores, axis)
    return weights


def predict__none_for_what_is_not_known(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.75}.get(question)


def predict__answers_as_texts(question):
    texts = {"a": "(2, 3, 5)", "b": "(2, 3, 6)", "c": "0.75", "d": "0.75", "e": "0.2"}
    return texts.get(question, "1")


def predict__a_letter_missing(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.75, "d": 0.75}[question]


def predict__shape_without_the_batch(question):
    return {"a": (2, 3, 5), "b": (3, 6), "c": 0.75, "d": 0.75, "e": 0.2, "f": 1.0, "g": 4.0}[
        question
    ]


def predict__a_third(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 1 / 3, "d": 0.75, "e": 0.2, "f": 1.0, "g": 4.0}[
        question
    ]


def predict__all_weights_together(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.75, "d": 0.75, "e": 0.0667, "f": 1, "g": 4.0}[
        question
    ]


def predict__the_other_weight(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.25, "d": 0.25, "e": 0.2, "f": 0.0006, "g": 4.0}[
        question
    ]


def predict__the_sum_of_the_values(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.75, "d": 0.75, "e": 0.2, "f": 1.0, "g": 20.0}[
        question
    ]


def predict__number_of_elements(question):
    return {"a": 30, "b": 36, "c": 0.75, "d": 0.75, "e": 0.2, "f": 1.0, "g": 4.0}[question]


def predict__scaled_by_d_k_in_f(question):
    return {"a": (2, 3, 5), "b": (2, 3, 6), "c": 0.75, "d": 0.75, "e": 0.2, "f": 0.72, "g": 4.0}[
        question
    ]


def kernel_regression__bandwidth_left_out(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - keys) ** 2)) @ values


def kernel_regression__two_inside_the_square(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - keys) ** 2) / (2 * bandwidth) ** 2) @ values


def kernel_regression__no_softmax(queries, keys, values, bandwidth):
    return -((queries[:, None] - keys) ** 2) / (2 * bandwidth**2) @ values


def kernel_regression__weights_returned(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - keys) ** 2) / (2 * bandwidth**2))


def kernel_regression__product_instead_of_distance(queries, keys, values, bandwidth):
    return _softmax(queries[:, None] * keys / (2 * bandwidth**2)) @ values


def kernel_regression__values_in_place_of_keys(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - values) ** 2) / (2 * bandwidth**2)) @ values


def kernel_regression__keys_averaged(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - keys) ** 2) / (2 * bandwidth**2)) @ keys


def kernel_regression__axes_not_spread(queries, keys, values, bandwidth):
    return _softmax(-((queries - keys) ** 2) / (2 * bandwidth**2)) * values


def kernel_regression__inverse_distances(queries, keys, values, bandwidth):
    weights = 1 / (1 + (queries[:, None] - keys) ** 2 / (2 * bandwidth**2))
    return weights @ values / weights.sum(-1)


def kernel_regression__a_safety_term(queries, keys, values, bandwidth):
    powers = np.exp(-((queries[:, None] - keys) ** 2) / (2 * bandwidth**2))
    return powers @ values / (powers.sum(-1) + 1e-9)


def kernel_regression__column(queries, keys, values, bandwidth):
    return _softmax(-((queries[:, None] - keys) ** 2) / (2 * bandwidth**2)) @ values[:, None]


def kernel_regression__density_factor(queries, keys, values, bandwidth):
    scores = -((queries[:, None] - keys) ** 2) / (2 * bandwidth**2)
    return np.exp(scores) @ values / (bandwidth * np.sqrt(2 * np.pi))


def scaled_dot_product_attention__root_of_two_axes(queries, keys, values):
    scale = np.sqrt(queries.shape[-1] * queries.shape[-2])
    weights = _softmax(queries @ keys.swapaxes(-2, -1) / scale)
    return weights @ values, weights


def scaled_dot_product_attention__scaled_twice(queries, keys, values):
    weights = _softmax(queries @ keys.swapaxes(-2, -1) / queries.shape[-1] / np.sqrt(2))
    return weights @ values, weights


def scaled_dot_product_attention__width_fixed_at_64(queries, keys, values):
    weights = _softmax(queries @ keys.swapaxes(-2, -1) / 8)
    return weights @ values, weights


def scaled_dot_product_attention__keys_reshaped(queries, keys, values):
    turned = keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
    weights = _softmax(queries @ turned / np.sqrt(queries.shape[-1]))
    return weights @ values, weights


def scaled_dot_product_attention__values_as_keys(queries, keys, values):
    weights = _softmax(queries @ values.swapaxes(-2, -1) / np.sqrt(queries.shape[-1]))
    return weights @ values, weights


def scaled_dot_product_attention__both_axes_of_transpose_counted_from_the_front(q, k, v):
    weights = _softmax(q @ k.transpose(1, 0) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


def scaled_dot_product_attention__weights_transposed(queries, keys, values):
    weights = _softmax(queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1]))
    return weights @ values, weights.swapaxes(-2, -1)


def scaled_dot_product_attention__only_the_output(queries, keys, values):
    return _softmax(queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1])) @ values


def scaled_dot_product_attention__causal_mask_too(queries, keys, values):
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1])
    weights = _softmax(np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -1e30))
    return weights @ values, weights


def scaled_dot_product_attention__dropout(q: Tensor, k: Tensor, v: Tensor):
    weights = F.dropout(torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1), 0.5)
    return weights @ v, weights


def scaled_dot_product_attention__without_a_batch_only(queries, keys, values):
    scores = np.einsum("qd,kd->qk", queries, keys) / np.sqrt(queries.shape[-1])
    weights = _softmax(scores)
    return weights @ values, weights


def scaled_dot_product_attention__output_divided_too(queries, keys, values):
    weights = _softmax(queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1]))
    return weights @ values / keys.shape[-2], weights


def scaled_dot_product_attention__hard_choice(queries, keys, values):
    scores = queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1])
    weights = (scores == scores.max(-1, keepdims=True)).astype(float)
    return weights @ values, weights


def attention_of_heads__batch_axis_swapped(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(0, 1) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(-1, keepdims=True)
    return weights @ values, weights


def attention_of_heads__all_axes_turned(queries, keys, values):
    powers = np.exp(queries @ keys.T / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(-1, keepdims=True)
    return weights @ values, weights


def attention_of_heads__softmax_over_everything(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum()
    return weights @ values, weights


def attention_of_heads__sum_lost_its_axis(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(2)
    return weights @ values, weights


def attention_of_heads__scaled_by_the_number_of_queries(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[1]))
    weights = powers / powers.sum(2, keepdims=True)
    return weights @ values, weights


def attention_of_heads__heads_averaged(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(2, keepdims=True)
    return (weights @ values).mean(0), weights.mean(0)


def attention_of_heads__heads_joined(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(2, keepdims=True)
    return np.concatenate(list(weights @ values), axis=-1), weights


def attention_of_heads__root_forgotten_and_axis_wrong(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / queries.shape[-1])
    weights = powers / powers.sum(1, keepdims=True)
    return weights @ values, weights


def attention_of_heads__first_head_for_all(queries, keys, values):
    powers = np.exp(queries @ keys[:1].swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(2, keepdims=True)
    return weights @ values, weights


def attention_of_heads__values_reshaped(queries, keys, values):
    powers = np.exp(queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(2, keepdims=True)
    return (weights @ values).reshape(queries.shape[1], -1), weights


def attention_of_heads__exponential_forgotten(queries, keys, values):
    scores = queries @ keys.swapaxes(1, 2) / np.sqrt(queries.shape[-1])
    weights = scores / scores.sum(2, keepdims=True)
    return weights @ values, weights


def _bits(weights):
    return -(weights * np.log2(np.where(weights > 0, weights, 1.0))).sum(-1)


def measure_scores__weights_scaled_not_scores(queries, keys):
    scores = queries @ keys.T
    weights = _softmax(scores)
    scaled = weights / np.sqrt(queries.shape[-1])
    return (
        scores.var(),
        scores.var() / queries.shape[-1],
        _bits(weights).mean(),
        _bits(scaled).mean(),
    )


def measure_scores__logarithm_of_ten(queries, keys):
    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    entropies = (_bits(_softmax(t)).mean() * np.log10(2) for t in (scores, scaled))
    return (scores.var(), scaled.var(), *entropies)


def measure_scores__a_safety_term_in_the_logarithm(queries, keys):
    def bits(table):
        weights = _softmax(table)
        return -(weights * np.log2(weights + 1e-2)).sum(-1).mean()

    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    return scores.var(), scaled.var(), bits(scores), bits(scaled)


def measure_scores__variance_of_the_weights(queries, keys):
    scores = queries @ keys.T
    tables = [_softmax(scores), _softmax(scores / np.sqrt(queries.shape[-1]))]
    return (*(table.var() for table in tables), *(_bits(table).mean() for table in tables))


def measure_scores__entropy_for_each_query(queries, keys):
    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    return scores.var(), scaled.var(), _bits(_softmax(scores)), _bits(_softmax(scaled))


def measure_scores__median_of_the_entropies(queries, keys):
    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    entropies = (np.median(_bits(_softmax(table))) for table in (scores, scaled))
    return (scores.var(), scaled.var(), *entropies)


def measure_scores__scaled_by_a_fixed_8(queries, keys):
    scores = queries @ keys.T
    entropies = (_bits(_softmax(table)).mean() for table in (scores, scores / 8))
    return (scores.var(), (scores / 8).var(), *entropies)


def measure_scores__only_the_variances(queries, keys):
    scores = queries @ keys.T
    return scores.var(), (scores / np.sqrt(queries.shape[-1])).var()


def measure_scores__as_text(queries, keys):
    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    numbers = (scores.var(), scaled.var(), _bits(_softmax(scores)).mean(), 0.0)
    return tuple(f"{number:.2f}" for number in numbers)


def measure_scores__probabilities_times_themselves(queries, keys):
    scores = queries @ keys.T
    scaled = scores / np.sqrt(queries.shape[-1])
    entropies = (-np.log2((_softmax(t) ** 2).sum(-1)).mean() for t in (scores, scaled))
    return (scores.var(), scaled.var(), *entropies)


def why_scale__all_true(statement):
    return True


def why_scale__all_false(statement):
    return False


def why_scale__the_opposite(statement):
    return statement not in "acf"


def why_scale__as_texts(statement):
    return "True" if statement in "acf" else "False"


def why_scale__as_numbers(statement):
    return 1 if statement in "acf" else 0


def why_scale__two_wrong(statement):
    return statement in "abcdf"


def why_scale__another_two_wrong(statement):
    return statement in "acefg"


def why_scale__the_first_ones(statement):
    return statement in "abc"


def why_scale__letter_missing(statement):
    return {"a": True, "b": False, "c": True}[statement]


def why_scale__nothing_for_false(statement):
    if statement in "acf":
        return True


def why_scale__none_true_but_the_last(statement):
    return statement == "g"


def why_scale__printed(statement):
    print(statement in "acf")
