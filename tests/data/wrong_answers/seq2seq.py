"""Chapter 00: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(scores):
    powers = np.exp(scores - np.max(scores))
    return powers / powers.sum()


def _gates(x, h, w, u):
    a, b = np.split(w @ x, 3), np.split(u @ h, 3)
    return _sigmoid(a[0] + b[0]), _sigmoid(a[1] + b[1]), a[2], b[2]


def gru_step__gates_without_sigmoid(x, h, w, u):
    a, b = np.split(w @ x, 3), np.split(u @ h, 3)
    z = a[1] + b[1]
    return (1 - z) * np.tanh(a[2] + (a[0] + b[0]) * b[2]) + z * h


def gru_step__gates_from_the_word_only(x, h, w, u):
    a, b = np.split(w @ x, 3), np.split(u @ h, 3)
    z = _sigmoid(a[1])
    return (1 - z) * np.tanh(a[2] + _sigmoid(a[0]) * b[2]) + z * h


def gru_step__returns_the_gates_too(x, h, w, u):
    r, z, a, b = _gates(x, h, w, u)
    return (1 - z) * np.tanh(a + r * b) + z * h, r, z


def gru_step__half_and_half(x, h, w, u):
    r, _, a, b = _gates(x, h, w, u)
    return (np.tanh(a + r * b) + h) / 2


def gru_step__word_forgotten_in_the_candidate(x, h, w, u):
    r, z, _, b = _gates(x, h, w, u)
    return (1 - z) * np.tanh(r * b) + z * h


def gru_step__all_parts_returned(x, h, w, u):
    return w @ x + u @ h


def gru_step__state_changed_in_place(x, h, w, u):
    r, z, a, b = _gates(x, h, w, u)
    h *= z
    h += (1 - z) * np.tanh(a + r * b)
    return h


def gru_step__nothing(x, h, w, u):
    return None


def gru_step__update_gate_twice(x, h, w, u):
    _, z = _gates(x, h, w, u)[:2]
    from_x, from_h = np.split(w @ x, 3)[2], np.split(u @ h, 3)[2]
    return (1 - z) * np.tanh(from_x + z * from_h) + z * h


def gru_step__reset_gate_twice(x, h, w, u):
    r, _ = _gates(x, h, w, u)[:2]
    from_x, from_h = np.split(w @ x, 3)[2], np.split(u @ h, 3)[2]
    return (1 - r) * np.tanh(from_x + r * from_h) + r * h


def _scores(s, h, w, u, v):
    return np.tanh(w @ s + h @ u.T) @ v


def look_back__weights_first(s, h, w, u, v):
    weights = _softmax(_scores(s, h, w, u, v))
    return weights, weights @ h


def look_back__context_only(s, h, w, u, v):
    return _softmax(_scores(s, h, w, u, v)) @ h


def look_back__average_of_all(s, h, w, u, v):
    return h.mean(axis=0), np.full(len(h), 1 / len(h))


def look_back__last_state(s, h, w, u, v):
    weights = _softmax(_scores(s, h, w, u, v))
    return h[-1], weights


def look_back__difference_inside(s, h, w, u, v):
    weights = _softmax(np.tanh(w @ s - h @ u.T) @ v)
    return weights @ h, weights


def look_back__sigmoid_inside(s, h, w, u, v):
    weights = _softmax(_sigmoid(w @ s + h @ u.T) @ v)
    return weights @ h, weights


def look_back__squares_instead_of_powers(s, h, w, u, v):
    squares = _scores(s, h, w, u, v) ** 2
    weights = squares / max(squares.sum(), 1e-12)
    return weights @ h, weights


def look_back__smallest_scores_win(s, h, w, u, v):
    weights = _softmax(-_scores(s, h, w, u, v))
    return weights @ h, weights


def look_back__sum_of_hidden_numbers(s, h, w, u, v):
    weights = _softmax(np.tanh(w @ s + h @ u.T).sum(axis=1))
    return weights @ h, weights


def look_back__relu(s, h, w, u, v):
    weights = _softmax(np.maximum(w @ s + h @ u.T, 0) @ v)
    return weights @ h, weights


def look_back__context_in_each_row(s, h, w, u, v):
    weights = _softmax(_scores(s, h, w, u, v))
    return weights[:, None] * h, weights


_RIGHT = {
    "a": (2, 1, 512),
    "b": (2, 7, 512),
    "c": (2, 5, 7),
    "d": 1_572_864,
    "e": 20,
    "f": 512,
    "g": 1024,
}


def _but(**changed):
    return lambda question: (_RIGHT | changed)[question]


predict__no_batch_in_a = _but(a=(1, 512))
predict__width_only = _but(a=(2, 512))
predict__heads_in_b = _but(b=(2, 8, 7, 64))
predict__batch_forgotten_in_b = _but(b=(7, 512))
predict__batch_forgotten_in_c = _but(c=(5, 7))
predict__square_of_the_target = _but(c=(2, 5, 5))
predict__one_matrix = _but(d=512 * 512)
predict__width_of_all = _but(d=6 * 512)
predict__nineteen_steps = _but(e=19)
predict__square_of_the_width = _but(f=512 * 512)
predict__three_times = _but(g=1536)


def predict__nothing_after_c(question):
    return _RIGHT[question] if question in "abc" else None


def _field(layers, k, dilated):
    return k**layers if dilated else 1 + layers * (k - 1)


def _layers(n, k, dilated, start=1):
    layers = start
    while _field(layers, k, dilated) < n:
        layers += 1
    return layers


def layers_needed__the_field_itself(n, kernel_size, dilated):
    return _field(_layers(n, kernel_size, dilated), kernel_size, dilated)


def layers_needed__one_more(n, kernel_size, dilated):
    return _layers(n, kernel_size, dilated) + 1


def layers_needed__not_rounded(n, kernel_size, dilated):
    return math.log(n, kernel_size) if dilated else (n - 1) / (kernel_size - 1)


def layers_needed__rounded_to_the_nearest(n, kernel_size, dilated):
    return max(1, round(math.log(n, kernel_size) if dilated else (n - 1) / (kernel_size - 1)))


def layers_needed__rounded_down_in_both(n, kernel_size, dilated):
    return max(1, int(math.log(n, kernel_size)) if dilated else (n - 1) // (kernel_size - 1))


def layers_needed__flag_turned_round(n, kernel_size, dilated):
    return _layers(n, kernel_size, not dilated)


def layers_needed__as_many_as_words(n, kernel_size, dilated):
    return n


def layers_needed__natural_logarithm(n, kernel_size, dilated):
    return math.ceil(math.log(n)) if dilated else _layers(n, kernel_size, False)


def layers_needed__no_layer_for_one_word(n, kernel_size, dilated):
    return _layers(n, kernel_size, dilated) * (n > 1)


def layers_needed__as_text(n, kernel_size, dilated):
    return f"{_layers(n, kernel_size, dilated)} layers"


def layers_needed__root_when_dilated(n, kernel_size, dilated):
    return math.ceil(n ** (1 / kernel_size)) if dilated else _layers(n, kernel_size, False)


def layers_needed__float_logarithms(n, kernel_size, dilated):
    if dilated:
        return max(1, math.ceil(math.log(n) / math.log(kernel_size)))
    return max(1, -(-(n - 1) // (kernel_size - 1)))


def _write(y, h, s, a, w, score=None, context=None, order=(0, 1, 2), squash=np.tanh):
    states = []
    for i, word in enumerate(y):
        weights = _softmax(score(s, i) if score else h @ a @ s)
        found = context(weights) if context else weights @ h
        parts = [s, word, found]
        s = squash(w @ np.concatenate([parts[k] for k in order]))
        states.append(s)
    return np.stack(states)


def written_states__scores_divided_by_a_root(y, h, s, a, w):
    return _write(y, h, s, a, w, score=lambda s, i: h @ a @ s / math.sqrt(len(s) + 1))


def written_states__a_left_out(y, h, s, a, w):
    return _write(y, h, s, a, w, score=lambda s, i: h @ s)


def written_states__average_as_context(y, h, s, a, w):
    return _write(y, h, s, a, w, context=lambda weights: h.mean(axis=0))


def written_states__best_place_as_context(y, h, s, a, w):
    return _write(y, h, s, a, w, context=lambda weights: h[weights.argmax()])


def written_states__context_before_the_word(y, h, s, a, w):
    return _write(y, h, s, a, w, order=(0, 2, 1))


def written_states__no_tanh(y, h, s, a, w):
    return _write(y, h, s, a, w, squash=lambda x: x)


def written_states__sigmoid(y, h, s, a, w):
    return _write(y, h, s, a, w, squash=_sigmoid)


def written_states__first_state_in_front(y, h, s, a, w):
    return np.concatenate([s[None], _write(y, h, s, a, w)])


def written_states__only_the_last(y, h, s, a, w):
    return _write(y, h, s, a, w)[-1]


def written_states__one_place_late(y, h, s, a, w):
    return np.concatenate([s[None], _write(y, h, s, a, w)[:-1]])


def fitted_exponent__line_returned(lengths, costs):
    return np.polyfit(np.log(lengths), np.log(costs), 1)


def fitted_exponent__growth_in_all(lengths, costs):
    return costs[-1] / costs[0]


def fitted_exponent__ratio_of_logarithms(lengths, costs):
    return float(np.mean(np.log(costs) / np.log(lengths)))


def fitted_exponent__correlation(lengths, costs):
    return float(np.corrcoef(np.log(lengths), np.log(costs))[0, 1])


def fitted_exponent__last_two(lengths, costs):
    return float(np.log(costs[-1] / costs[-2]) / np.log(lengths[-1] / lengths[-2]))


def fitted_exponent__rounded(lengths, costs):
    return round(np.polyfit(np.log(lengths), np.log(costs), 1)[0])


def fitted_exponent__parabola(lengths, costs):
    return float(np.polyfit(np.log(lengths), np.log(costs), 2)[0])


def fitted_exponent__mixed_bases(lengths, costs):
    return float(np.polyfit(np.log2(lengths), np.log10(costs), 1)[0])


def fitted_exponent__median_of_steps(lengths, costs):
    return float(np.median(np.diff(np.log(costs)) / np.diff(np.log(lengths))))


def fitted_exponent__cost_for_each_word(lengths, costs):
    return float(np.mean(costs / lengths))


def fitted_exponent__one_for_each_step(lengths, costs):
    return np.diff(np.log(costs)) / np.diff(np.log(lengths))


def why_attention__all_right(statement):
    return True


def why_attention__all_wrong(statement):
    return False


def why_attention__everything_reversed(statement):
    return statement not in "bef"


def why_attention__as_text(statement):
    return "yes" if statement in "bef" else "no"


def why_attention__as_numbers(statement):
    return int(statement in "bef")


def why_attention__printed_only(statement):
    print(statement in "bef")


def why_attention__a_dictionary_returned(statement):
    return {letter: letter in "bef" for letter in "abcdefg"}


def why_attention__capital_letters(statement):
    return {letter: letter in "BEF" for letter in "ABCDEFG"}[statement]


def why_attention__one_letter_forgotten(statement):
    return {letter: letter in "bef" for letter in "abcdef"}[statement]


def why_attention__shares(statement):
    return 0.9 if statement in "bef" else 0.1


def why_attention__a_tensor_of_all(statement: str) -> Tensor:
    return torch.tensor([letter in "bef" for letter in "abcdefg"])
