"""Chapter 02: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np
import torch
from torch import Tensor

SIZES = {
    "a": (10, 64),
    "b": (10, 10),
    "c": (10, 64),
    "d": 400,
    "e": 8,
    "f": 98304,
    "g": 0.5,
    "h": (3, 7),
}


def _softmax(scores, axis=-1):
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _attend(q, k, v):
    weights = _softmax(q @ k.swapaxes(-2, -1) / np.sqrt(k.shape[-1]))
    return weights @ v, weights


def six_steps__of_all_words(x, place, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, x @ w_key, x @ w_value)
    return x @ w_query @ (x @ w_key).T / np.sqrt(w_key.shape[1]), weights, output


def six_steps__the_last_word(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[-1] @ w_query) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__only_the_output(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    return _softmax(scores) @ x @ w_value


def six_steps__weights_rounded(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    weights = _softmax(scores).round(2)
    return scores, weights, weights @ x @ w_value


def six_steps__scaled_twice(x, place, w_query, w_key, w_value):
    root = np.sqrt(w_key.shape[1])
    scores = x @ w_key @ (x[place] @ w_query / root) / root**2
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__transposed_matrix(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (w_query @ x[place]) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__absolute_scores(x, place, w_query, w_key, w_value):
    scores = np.abs(x @ w_key @ (x[place] @ w_query)) / np.sqrt(w_key.shape[1])
    return scores, _softmax(scores), _softmax(scores) @ x @ w_value


def six_steps__mean_of_weighted_values(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    weights = _softmax(scores)
    return scores, weights, (weights[:, None] * (x @ w_value)).mean(0)


def six_steps__own_value_only(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[place] @ w_query) / np.sqrt(w_key.shape[1])
    weights = _softmax(scores)
    return scores, weights, weights[place] * (x[place] @ w_value)


def six_steps__softmax_of_unscaled_scores(x, place, w_query, w_key, w_value):
    scores = x @ w_key @ (x[place] @ w_query)
    weights = _softmax(scores)
    return scores / np.sqrt(w_key.shape[1]), weights, weights @ (x @ w_value)


def self_attention__one_sentence_at_most(x, w_query, w_key, w_value):
    weights = [_softmax((word @ w_query) @ (x @ w_key).T) for word in x]
    return np.array(weights) @ x @ w_value, np.array(weights)


def self_attention__only_the_output(x, w_query, w_key, w_value):
    return _attend(x @ w_query, x @ w_key, x @ w_value)[0]


def self_attention__first_sentence_of_the_batch(x, w_query, w_key, w_value):
    while x.ndim > 2:
        x = x[0]
    return _attend(x @ w_query, x @ w_key, x @ w_value)


def self_attention__reshaped_keys(x, w_query, w_key, w_value):
    k = x @ w_key
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    weights = _softmax(x @ w_query @ turned / np.sqrt(k.shape[-1]))
    return weights @ (x @ w_value), weights


def self_attention__queries_added_to_the_output(x, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, x @ w_key, x @ w_value)
    return output + (x @ w_query).sum(-1, keepdims=True), weights


def self_attention__scaled_after_softmax(x, w_query, w_key, w_value):
    scores = (x @ w_query) @ (x @ w_key).swapaxes(-2, -1)
    weights = _softmax(scores) / np.sqrt(w_key.shape[-1])
    return weights @ (x @ w_value), weights


def self_attention__without_itself(x, w_query, w_key, w_value):
    scores = (x @ w_query) @ (x @ w_key).swapaxes(-2, -1) / np.sqrt(w_key.shape[-1])
    weights = _softmax(np.where(np.eye(x.shape[-2], dtype=bool), -1e9, scores))
    return weights @ (x @ w_value), weights


def self_attention__values_by_the_queries_matrix(x, w_query, w_key, w_value):
    return _attend(x @ w_query, x @ w_key, x @ w_query)


def self_attention__in_place(x, w_query, w_key, w_value):
    x -= x.mean(-1, keepdims=True)
    return _attend(x @ w_query, x @ w_key, x @ w_value)


def self_attention__exponential_of_scaled_only(x, w_query, w_key, w_value):
    scores = (x @ w_query) @ (x @ w_key).swapaxes(-2, -1) / np.sqrt(w_key.shape[-1])
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ (x @ w_value), weights


def predict_sizes__of_one_head_turned(question):
    return {**SIZES, "a": (64, 10)}[question]


def predict_sizes__as_texts(question):
    return str(SIZES[question])


def predict_sizes__letter_missing(question):
    return {"a": (10, 64), "b": (10, 10)}[question]


def predict_sizes__none(question):
    return None


def predict_sizes__four_matrices(question):
    return {**SIZES, "f": 131072}[question]


def predict_sizes__number_of_elements(question):
    return {**SIZES, "b": 100}[question]


def predict_sizes__a_quarter(question):
    return {**SIZES, "g": 0.25}[question]


def predict_sizes__all_words_together(question):
    return {**SIZES, "h": (10, 10)}[question]


def predict_sizes__doubled_scores(question):
    return {**SIZES, "d": 800}[question]


def predict_sizes__root_of_the_words(question):
    return {**SIZES, "e": 10**0.5}[question]


def cross_attention__halves_of_both(x, memory, w_query, w_key, w_value):
    both = np.concatenate([x, memory], axis=-2)
    return _attend(x @ w_query, both @ w_key, both @ w_value)


def cross_attention__only_the_weights(x, memory, w_query, w_key, w_value):
    return _attend(x @ w_query, memory @ w_key, memory @ w_value)[1]


def cross_attention__softmax_left_out(x, memory, w_query, w_key, w_value):
    scores = (x @ w_query) @ (memory @ w_key).swapaxes(-2, -1) / np.sqrt(w_key.shape[-1])
    return scores @ (memory @ w_value), scores


def cross_attention__plain_average_of_memory(x, memory, w_query, w_key, w_value):
    weights = np.full((*x.shape[:-1], memory.shape[-2]), 1 / memory.shape[-2])
    return weights @ (memory @ w_value), weights


def cross_attention__all_axes_turned(x, memory, w_query, w_key, w_value):
    weights = _softmax((x @ w_query) @ (memory @ w_key).T / np.sqrt(w_key.shape[-1]))
    return weights @ (memory @ w_value), weights


def cross_attention__residual(x, memory, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, memory @ w_key, memory @ w_value)
    return output + x @ w_value, weights


def cross_attention__memory_cut_to_the_length_of_x(x, memory, w_query, w_key, w_value):
    memory = memory[..., : x.shape[-2], :]
    return _attend(x @ w_query, memory @ w_key, memory @ w_value)


def cross_attention__values_by_the_keys_matrix(x, memory, w_query, w_key, w_value):
    return _attend(x @ w_query, memory @ w_key, memory @ w_key)


def cross_attention__weights_turned(x, memory, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, memory @ w_key, memory @ w_value)
    return output, weights.swapaxes(-2, -1)


def cross_attention__as_text(x, memory, w_query, w_key, w_value):
    return "the output", "the weights"


def shuffled__sorted(output, weights, order):
    return np.sort(output, axis=0), np.sort(weights, axis=0)


def shuffled__turned_by_one(output, weights, order):
    return np.roll(output, 1, 0), np.roll(weights, 1, (0, 1))


def shuffled__only_the_output(output, weights, order):
    return output[order]


def shuffled__results_exchanged(output, weights, order):
    return weights[order][:, order], output[order]


def shuffled__columns_of_the_output(output, weights, order):
    return output[:, order], weights[order][:, order]


def shuffled__an_average(output, weights, order):
    return (output + output[order]) / 2, (weights + weights[order][:, order]) / 2


def shuffled__first_and_last_exchanged(output, weights, order):
    places = [len(order) - 1, *range(1, len(order) - 1), 0]
    return output[places], weights[places][:, places]


def shuffled__order_sorted_first(output, weights, order):
    order.sort()
    return output[order] * 1.0, weights[order][:, order] + 0.1


def shuffled__softmax_again(output, weights, order):
    return output[order], _softmax(weights[order][:, order])


def self_attention_of_batch__first_sentence(x, w_query, w_key, w_value):
    return _attend(x[0] @ w_query, x[0] @ w_key, x[0] @ w_value)


def self_attention_of_batch__sentences_mixed(x, w_query, w_key, w_value):
    words = x.reshape(-1, x.shape[-1])
    output, weights = _attend(words @ w_query, words @ w_key, words @ w_value)
    return output.reshape(*x.shape[:2], -1), weights.reshape(x.shape[0], x.shape[1], -1)


def self_attention_of_batch__scaled_by_d_k(x, w_query, w_key, w_value):
    weights = _softmax(x @ w_query @ (x @ w_key).swapaxes(1, 2) / w_key.shape[1])
    return weights @ (x @ w_value), weights


def self_attention_of_batch__sum_of_everything(x, w_query, w_key, w_value):
    powers = np.exp(x @ w_query @ (x @ w_key).swapaxes(1, 2) / np.sqrt(w_key.shape[1]))
    return powers / powers.sum() @ (x @ w_value), powers / powers.sum()


def self_attention_of_batch__values_shared_too(x, w_query, w_key, w_value):
    return _attend(x @ w_query, x @ w_key, x @ w_key)


def self_attention_of_batch__no_softmax(x, w_query, w_key, w_value):
    scores = x @ w_query @ (x @ w_key).swapaxes(1, 2) / np.sqrt(w_key.shape[1])
    return scores @ (x @ w_value), scores


def self_attention_of_batch__mean_of_the_sentences(x, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, x @ w_key, x @ w_value)
    return output.mean(0), weights.mean(0)


def self_attention_of_batch__axes_of_values_turned(x, w_query, w_key, w_value):
    output, weights = _attend(x @ w_query, x @ w_key, x @ w_value)
    return output.swapaxes(1, 2), weights


def self_attention_of_batch__weights_in_half_precision(
    x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor
):
    scores = (x @ w_query) @ (x @ w_key).transpose(1, 2)
    weights = torch.softmax(scores, 2).half()
    return weights.float() @ (x @ w_value), weights


def own_score__one_number(x, w_query, w_key):
    scores = x @ w_query @ (x @ w_key).T
    return float((scores.argmax(1) == np.arange(len(x))).mean())


def own_score__largest_weight(x, w_query, w_key):
    return tuple(float(_softmax(x @ w_query @ (x @ w).T).max()) for w in (w_key, w_query))


def own_score__positive_own_scores(x, w_query, w_key):
    return tuple(float((np.diag(x @ w_query @ (x @ w).T) > 0).mean()) for w in (w_key, w_query))


def own_score__mean_own_score(x, w_query, w_key):
    return tuple(float(np.diag(x @ w_query @ (x @ w).T).mean()) for w in (w_key, w_query))


def own_score__in_percent(x, w_query, w_key):
    squares = [x @ w_query @ (x @ w).T for w in (w_key, w_query)]
    return tuple(100 * float((s.argmax(1) == np.arange(len(s))).mean()) for s in squares)


def own_score__compared_with_a_constant(x, w_query, w_key):
    return 1 / len(x), 1.0


def own_score__arrays_of_yes_and_no(x, w_query, w_key):
    squares = [x @ w_query @ (x @ w).T for w in (w_key, w_query)]
    return tuple(s.argmax(1) == np.arange(len(s)) for s in squares)


def own_score__second_best_counts_too(x, w_query, w_key):
    squares = [x @ w_query @ (x @ w).T for w in (w_key, w_query)]
    places = [np.argsort(-s, axis=1)[:, :2] for s in squares]
    return tuple(float((p == np.arange(len(p))[:, None]).any(1).mean()) for p in places)


def own_score__last_word_left_out(x, w_query, w_key):
    squares = [x[:-1] @ w_query @ (x[:-1] @ w).T for w in (w_key, w_query)]
    return tuple(float((s.argmax(1) == np.arange(len(s))).mean()) for s in squares)


def true_or_false__all_true(statement):
    return True


def true_or_false__all_false(statement):
    return False


def true_or_false__the_opposite(statement):
    return statement not in "bef"


def true_or_false__as_texts(statement):
    return "True" if statement in "bef" else "False"


def true_or_false__as_numbers(statement):
    return 1 if statement in "bef" else 0


def true_or_false__two_wrong(statement):
    return statement in "abcef"


def true_or_false__another_two_wrong(statement):
    return statement in "bg"


def true_or_false__letter_missing(statement):
    return {"a": False, "b": True, "c": False}[statement]


def true_or_false__nothing_for_false(statement):
    if statement in "bef":
        return True
    return None


def true_or_false__printed(statement):
    print(statement in "bef")
