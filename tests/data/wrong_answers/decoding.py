"""Chapter 09: wrong answers as learners write them, none of them among the misconceptions."""

import math
from itertools import product

import numpy as np

_ANSWERS = {
    "a": 0.18,
    "b": 0.324,
    "c": -1.127,
    "d": 10,
    "e": 2,
    "f": -1.5,
    "g": 0.658,
    "h": 0.625,
    "i": 20,
    "j": 210,
}


def predict__all_zero(question):
    return 0


def predict__as_text(question):
    return str(_ANSWERS[question])


def predict__one_digit(question):
    return round(_ANSWERS[question], 1)


def predict__signs_turned(question):
    return -_ANSWERS[question]


def predict__logarithm_to_base_ten(question):
    return {**_ANSWERS, "c": -0.489}[question]


def predict__in_percent(question):
    return _ANSWERS[question] * 100


def predict__shapes(question):
    return (5,)


def predict__nothing_after_c(question):
    return _ANSWERS[question] if question in "abc" else None


def predict__printed_only(question):
    print(_ANSWERS[question])


def predict__one_step_less(question):
    return {**_ANSWERS, "i": 19, "j": 190}[question]


def predict__a_letter_forgotten(question):
    return {k: v for k, v in _ANSWERS.items() if k != "j"}[question]


def length_penalty__over_five(length, alpha):
    return ((5 + length) / 5) ** alpha


def length_penalty__root(length, alpha):
    return ((5 + length) / 6) ** 0.5


def length_penalty__minus(length, alpha):
    return ((length - 5) / 6) ** 2 * alpha


def length_penalty__exponential(length, alpha):
    return math.exp(alpha * length)


def length_penalty__power_first(length, alpha):
    return (5 + length**alpha) / 6


def length_penalty__always_one(length, alpha):
    return 1.0


def length_penalty__as_text(length, alpha):
    return f"{((5 + length) / 6) ** alpha:.4f}"


def length_penalty__printed_only(length, alpha):
    print(((5 + length) / 6) ** alpha)


def length_penalty__roles_exchanged(length, alpha):
    return ((5 + alpha) / 6) ** length


def length_penalty__rounded(length, alpha):
    return round(((5 + length) / 6) ** alpha, 1)


def _softmax(z):
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def next_token_distribution__softmax_alone(logits, temperature, top_k, top_p):
    return _softmax(logits)


def next_token_distribution__no_cut(logits, temperature, top_k, top_p):
    return _softmax(logits / temperature)


def next_token_distribution__logits_returned(logits, temperature, top_k, top_p):
    return logits / temperature


def next_token_distribution__softmax_over_positions(logits, temperature, top_k, top_p):
    powers = np.exp((logits - logits.max()) / temperature)
    return powers / powers.sum()


def next_token_distribution__worst_tokens_kept(logits, temperature, top_k, top_p):
    probs = _softmax(logits / temperature)
    highest = np.sort(probs, axis=-1)[..., top_k - 1][..., None]
    probs = np.where(probs <= highest, probs, 0)
    return probs / probs.sum(axis=-1, keepdims=True)


def next_token_distribution__even_among_the_kept(logits, temperature, top_k, top_p):
    probs = _softmax(logits / temperature)
    lowest = np.sort(probs, axis=-1)[..., -top_k][..., None]
    kept = (probs >= lowest).astype(float)
    return kept / kept.sum(axis=-1, keepdims=True)


def next_token_distribution__temperature_squared(logits, temperature, top_k, top_p):
    return _softmax(logits / temperature**2)


def next_token_distribution__log_probabilities(logits, temperature, top_k, top_p):
    return np.log(_softmax(logits / temperature))


def next_token_distribution__one_row_only(logits, temperature, top_k, top_p):
    return _softmax(logits[0] / temperature)


def next_token_distribution__everything_above_the_mean(logits, temperature, top_k, top_p):
    probs = _softmax(logits / temperature)
    kept = np.where(probs >= probs.mean(axis=-1, keepdims=True), probs, 0)
    return kept / kept.sum(axis=-1, keepdims=True)


def _grid(scores, log_probs):
    return scores[:, None] + log_probs


def _taken(grid, order):
    parents, tokens = np.unravel_index(order, grid.shape)
    return parents, tokens, grid[parents, tokens]


def beam_step__one_only(scores, log_probs):
    grid = _grid(scores, log_probs)
    return _taken(grid, np.argsort(-grid, axis=None)[:1])


def beam_step__twice_as_many(scores, log_probs):
    grid = _grid(scores, log_probs)
    return _taken(grid, np.argsort(-grid, axis=None)[: 2 * len(scores)])


def beam_step__flat_index_as_token(scores, log_probs):
    grid = _grid(scores, log_probs)
    order = np.argsort(-grid, axis=None)[: len(scores)]
    parents, _, values = _taken(grid, order)
    return parents, order, values


def beam_step__only_two_results(scores, log_probs):
    grid = _grid(scores, log_probs)
    return _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])[:2]


def beam_step__old_scores(scores, log_probs):
    grid = _grid(scores, log_probs)
    parents, tokens, _ = _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])
    return parents, tokens, scores[parents]


def beam_step__new_words_scores(scores, log_probs):
    grid = _grid(scores, log_probs)
    parents, tokens, _ = _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])
    return parents, tokens, log_probs[parents, tokens]


def beam_step__difference(scores, log_probs):
    grid = log_probs - scores[:, None]
    return _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])


def beam_step__mean_of_both(scores, log_probs):
    parents, tokens, values = beam_step__twice_as_many(scores, log_probs)
    return parents[: len(scores)], tokens[: len(scores)], values[: len(scores)] / 2


def beam_step__tokens_of_the_first_row(scores, log_probs):
    tokens = np.argsort(-log_probs[0])[: len(scores)]
    parents = np.arange(len(scores))
    return parents, tokens, scores + log_probs[parents, tokens]


def beam_step__scores_first(scores, log_probs):
    grid = _grid(scores, log_probs)
    parents, tokens, values = _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])
    return values, parents, tokens


def beam_step__counted_from_one(scores, log_probs):
    grid = _grid(scores, log_probs)
    parents, tokens, values = _taken(grid, np.argsort(-grid, axis=None)[: len(scores)])
    return parents + 1, tokens + 1, values


def _beam(table, beam, max_len, score, keep=lambda kept: kept):
    open_ones, finished = [((), 0.0)], []
    for _ in range(max_len):
        grown = [
            ((*ids, w), total + table[ids[-1] if ids else 0, w])
            for ids, total in open_ones
            for w in range(len(table))
        ]
        kept = keep(sorted(grown, key=lambda c: -c[1])[:beam])
        finished += [c for c in kept if c[0][-1] == 0]
        open_ones = [c for c in kept if c[0][-1] != 0]
    return max(finished or open_ones, key=score)[0]


def best_of_beam__alpha_added_for_each_word(table, beam, max_len, alpha):
    return np.array(_beam(table, beam, max_len, lambda c: c[1] + alpha * len(c[0])))


def best_of_beam__mean_per_word(table, beam, max_len, alpha):
    return np.array(_beam(table, beam, max_len, lambda c: c[1] / len(c[0])))


def best_of_beam__the_longest(table, beam, max_len, alpha):
    return np.array(_beam(table, beam, max_len, lambda c: len(c[0])))


def best_of_beam__without_the_end(table, beam, max_len, alpha):
    best = _beam(table, beam, max_len, lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha)
    return np.array(best[:-1])


def best_of_beam__worst_score(table, beam, max_len, alpha):
    return np.array(_beam(table, beam, max_len, lambda c: -c[1]))


def best_of_beam__with_a_start(table, beam, max_len, alpha):
    best = _beam(table, beam, max_len, lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha)
    return np.array([0, *best])


def best_of_beam__one_step_less(table, beam, max_len, alpha):
    score = lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha  # noqa: E731
    return np.array(_beam(table, beam, max_len - 1, score))


def best_of_beam__score_returned(table, beam, max_len, alpha):
    best = _beam(table, beam, max_len, lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha)
    return float(len(best))


def best_of_beam__columns_as_last_words(table, beam, max_len, alpha):
    return np.array(_beam(table.T, beam, max_len, lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha))


def _all(table, max_len):
    return [(*ids, 0) for n in range(max_len) for ids in product(range(1, len(table)), repeat=n)]


def _total(table, ids):
    return sum(table[i, j] for i, j in zip((0, *ids[:-1]), ids, strict=True))


def best_by_trying__longest_possible(table, max_len):
    return np.array(_all(table, max_len)[-1])


def best_by_trying__the_total_returned(table, max_len):
    return max(_total(table, ids) for ids in _all(table, max_len))


def best_by_trying__second_best(table, max_len):
    return np.array(sorted(_all(table, max_len), key=lambda ids: -_total(table, ids))[1])


def best_by_trying__rows_and_columns_exchanged(table, max_len):
    return np.array(max(_all(table, max_len), key=lambda ids: _total(table.T, ids)))


def best_by_trying__product_of_logarithms(table, max_len):
    def score(ids):
        return abs(math.prod(table[i, j] for i, j in zip((0, *ids[:-1]), ids, strict=True)))

    return np.array(max(_all(table, max_len), key=score))


def best_by_trying__sum_of_probabilities(table, max_len):
    def score(ids):
        return sum(math.exp(table[i, j]) for i, j in zip((0, *ids[:-1]), ids, strict=True))

    return np.array(max(_all(table, max_len), key=score))


def best_by_trying__with_a_start(table, max_len):
    return np.array([0, *max(_all(table, max_len), key=lambda ids: _total(table, ids))])


def best_by_trying__as_list(table, max_len):
    return [int(i) for i in max(_all(table, max_len), key=lambda ids: _total(table, ids))]


def best_by_trying__with_a_length_penalty(table, max_len):
    return np.array(max(_all(table, max_len), key=lambda ids: _total(table, ids) / (5 + len(ids))))


def best_by_trying__as_text(table, max_len):
    return " ".join(map(str, max(_all(table, max_len), key=lambda ids: _total(table, ids))))


def judge_decoding__all_right(statement):
    return True


def judge_decoding__all_wrong(statement):
    return False


def judge_decoding__everything_reversed(statement):
    return statement not in "beg"


def judge_decoding__as_text(statement):
    return "yes" if statement in "beg" else "no"


def judge_decoding__as_numbers(statement):
    return int(statement in "beg")


def judge_decoding__printed_only(statement):
    print(statement in "beg")


def judge_decoding__a_dictionary_returned(statement):
    return {letter: letter in "beg" for letter in "abcdefgh"}


def judge_decoding__capital_letters(statement):
    return {"A": False, "B": True}[statement]


def judge_decoding__one_letter_forgotten(statement):
    return {letter: letter in "beg" for letter in "abcdefg"}[statement]


def judge_decoding__shares(statement):
    return 0.9 if statement in "beg" else 0.1
