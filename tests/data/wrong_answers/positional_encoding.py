"""Chapter 05: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def _table(length, d_model, first=0, base=10000.0):
    angles = np.arange(first, first + length)[:, None] / base ** (
        np.arange(0, d_model, 2) / d_model
    )
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def sinusoidal_encoding__xor(length, d_model):
    return np.sin(np.arange(length)[:, None] / (10000 ^ (np.arange(0, d_model, 2) / d_model)))


def sinusoidal_encoding__half_as_wide(length, d_model):
    return _table(length, d_model)[:, 0::2]


def sinusoidal_encoding__one_row_too_many(length, d_model):
    return _table(length + 1, d_model)


def sinusoidal_encoding__rounded_angles(length, d_model):
    angles = np.arange(length)[:, None] // 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def sinusoidal_encoding__tangent_for_cosine(length, d_model):
    table = _table(length, d_model)
    table[:, 1::2] = table[:, 0::2] / table[:, 1::2]
    return table


def sinusoidal_encoding__in_reverse(length, d_model):
    return _table(length, d_model)[::-1]


def sinusoidal_encoding__slow_pairs_first(length, d_model):
    return _table(length, d_model).reshape(length, -1, 2)[:, ::-1].reshape(length, d_model)


def sinusoidal_encoding__a_batch_axis(length, d_model):
    return _table(length, d_model)[None]


def sinusoidal_encoding__full_turns(length, d_model):
    angles = 2 * np.pi * np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def sinusoidal_encoding__cut_from_a_table_of_1000_rows(length, d_model):
    return _table(1000, d_model)[:length]


def sinusoidal_encoding__learned(length, d_model):
    return torch.nn.Embedding(length, d_model).weight


_RIGHT = {"a": 18, "b": 256, "c": 255, "d": 10, "e": 8, "f": 27, "g": (20, 512), "h": 7}


def _but(**others):
    def answer(question):
        return (_RIGHT | others)[question]

    return answer


predict__sum_of_512 = _but(a=256)
predict__half_of_the_pairs = _but(a=9)
predict__pairs_of_a_half = _but(b=128)
predict__last_but_one = _but(c=254)
predict__root_of_the_base = _but(d=math.sqrt(10000 ** (3 / 8)))
predict__the_position_itself = _but(d=1)
predict__norm_one = _but(e=1)
predict__norm_of_512 = _but(e=16)
predict__backwards = _but(f=26)
predict__shape_turned = _but(g=(512, 20))
predict__shape_with_a_one = _but(g=(1, 20, 512))
predict__degrees = _but(h=7 * 180 / math.pi)


def predict__nothing_after_c(question):
    return _RIGHT[question] if question in "abc" else None


def position_table__as_it_was(n_words, d_model):
    table = np.zeros((n_words, d_model))
    for row in range(n_words):
        for i in range(d_model):
            angle = (row + 1) / 10000 ** (2 * i / d_model)
            table[row, i] = np.sin(angle) if i % 2 == 0 else np.cos(angle)
    return table * 1.001


def position_table__counted_from_minus_one(n_words, d_model):
    return _table(n_words, d_model, first=-1)


def position_table__first_row_zeros(n_words, d_model):
    table = _table(n_words, d_model)
    table[0] = 0
    return table


def position_table__odd_exponent_minus_one_half(n_words, d_model):
    table = _table(n_words, d_model)
    odd = (np.arange(1, d_model, 2) - 0.5) / d_model
    table[:, 1::2] = np.cos(np.arange(n_words)[:, None] / 10000**odd)
    return table


def position_table__exponent_without_the_width(n_words, d_model):
    angles = np.arange(n_words)[:, None] / 10000.0 ** np.arange(d_model // 2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_words, d_model)


def position_table__sines_and_cosines_exchanged(n_words, d_model):
    return _table(n_words, d_model).reshape(n_words, -1, 2)[:, :, ::-1].reshape(n_words, d_model)


def position_table__rounded(n_words, d_model):
    return _table(n_words, d_model).round(2)


def position_table__one_word(n_words, d_model):
    return _table(n_words, d_model)[-1]


def position_table__last_word_left_out(n_words, d_model):
    return _table(n_words - 1, d_model)


def add_positions__one_sentence_only(x, start=0):
    return (x * x.shape[-1] ** 0.5 + _table(x.shape[1], x.shape[2], start))[0]


def add_positions__root_of_the_length(x, start=0):
    return x * x.shape[1] ** 0.5 + _table(x.shape[1], x.shape[2], start)


def add_positions__concatenated(x, start=0):
    rows = np.broadcast_to(_table(x.shape[1], x.shape[2], start), x.shape)
    return np.concatenate([x * x.shape[-1] ** 0.5, rows], axis=-1)


def add_positions__start_added_to_the_numbers(x, start=0):
    return x * x.shape[-1] ** 0.5 + _table(x.shape[1], x.shape[2]) + start


def add_positions__cut_from_a_table_of_100_rows(x, start=0):
    return x * x.shape[-1] ** 0.5 + _table(100, x.shape[2])[start : start + x.shape[1]]


def add_positions__subtracted(x, start=0):
    return x * x.shape[-1] ** 0.5 - _table(x.shape[1], x.shape[2], start)


def add_positions__start_multiplied(x, start=0):
    table = _table(start * x.shape[1] + 1, x.shape[2])
    return x * x.shape[-1] ** 0.5 + table[start * np.arange(x.shape[1])]


def add_positions__batch_counts_on(x, start=0):
    batch, length, width = x.shape
    return x * width**0.5 + _table(batch * length, width, start).reshape(x.shape)


def add_positions__in_place(x, start=0):
    x *= x.shape[-1] ** 0.5
    x += _table(x.shape[1], x.shape[2], start)
    return x


def add_positions__positions_only(x, start=0):
    return np.broadcast_to(_table(x.shape[1], x.shape[2], start), x.shape)


def add_positions__numbers_of_the_places(x, start=0):
    places = np.arange(start, start + x.shape[1])
    return x * x.shape[-1] ** 0.5 + places[:, None]


def _pairs(row):
    return row[0::2], row[1::2], 10000.0 ** (-np.arange(0, len(row), 2) / len(row))


def move__sines_only(row, k):
    sine, cosine, speeds = _pairs(row)
    return sine * np.cos(k * speeds) + cosine * np.sin(k * speeds)


def move__halves(row, k):
    sine, cosine, speeds = _pairs(row)
    c, s = np.cos(k * speeds), np.sin(k * speeds)
    return np.concatenate([sine * c + cosine * s, cosine * c - sine * s])


def move__unchanged(row, k):
    return row


def move__row_times_k(row, k):
    return row * k


def move__angle_from_the_sine(row, k):
    sine, _, speeds = _pairs(row)
    angles = np.arcsin(np.clip(sine, -1, 1)) + k * speeds
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).ravel()


def move__angle_from_the_cosine(row, k):
    _, cosine, speeds = _pairs(row)
    angles = np.arccos(np.clip(cosine, -1, 1)) + k * speeds
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).ravel()


def move__all_as_fast_as_the_last(row, k):
    sine, cosine, speeds = _pairs(row)
    c, s = np.cos(k * speeds[-1]), np.sin(k * speeds[-1])
    return np.stack([sine * c + cosine * s, cosine * c - sine * s], axis=-1).ravel()


def move__only_forwards(row, k):
    sine, cosine, speeds = _pairs(row)
    c, s = np.cos(abs(k) * speeds), np.sin(abs(k) * speeds)
    return np.stack([sine * c + cosine * s, cosine * c - sine * s], axis=-1).ravel()


def move__exponent_halved(row, k):
    sine, cosine, speeds = _pairs(row)
    c, s = np.cos(k * speeds**0.5), np.sin(k * speeds**0.5)
    return np.stack([sine * c + cosine * s, cosine * c - sine * s], axis=-1).ravel()


def move__in_place(row, k):
    sine, cosine, speeds = (np.copy(part) for part in _pairs(row))
    row[0::2] = sine * np.cos(k * speeds) + cosine * np.sin(k * speeds)
    row[1::2] = cosine * np.cos(k * speeds) - sine * np.sin(k * speeds)
    return row


def _terms(x, p, w_query, w_key):
    return np.stack([(a @ w_query) @ (b @ w_key).T for a in (x, p) for b in (x, p)])


def score_terms__two_by_two(x, p, w_query, w_key):
    return _terms(x, p, w_query, w_key).reshape(2, 2, len(x), len(x))


def score_terms__stacked_last(x, p, w_query, w_key):
    return _terms(x, p, w_query, w_key).transpose(1, 2, 0)


def score_terms__three_terms(x, p, w_query, w_key):
    return _terms(x, p, w_query, w_key)[[0, 1, 3]]


def score_terms__softmax(x, p, w_query, w_key):
    powers = np.exp(_terms(x, p, w_query, w_key))
    return powers / powers.sum(axis=-1, keepdims=True)


def score_terms__without_matrices(x, p, w_query, w_key):
    return np.stack([a @ b.T for a in (x, p) for b in (x, p)])


def score_terms__sums_of_words_and_places(x, p, w_query, w_key):
    return _terms(x, x + p, w_query, w_key)


def score_terms__middle_shared(x, p, w_query, w_key):
    terms = _terms(x, p, w_query, w_key)
    terms[1] = terms[2] = (terms[1] + terms[2]) / 2
    return terms


def score_terms__keys_without_a_matrix(x, p, w_query, w_key):
    return np.stack([(a @ w_query) @ (a @ w_key).T for a in (x, p, x, p)])


def score_terms__diagonals(x, p, w_query, w_key):
    return np.array([np.diag(term) for term in _terms(x, p, w_query, w_key)])


def score_terms__as_a_tuple(x, p, w_query, w_key):
    return tuple(_terms(x, p, w_query, w_key))


def score_terms__minus(x, p, w_query, w_key):
    terms = _terms(x, p, w_query, w_key)
    terms[1:3] *= -1
    return terms


def closest__places(table):
    distances = np.linalg.norm(table[:, None] - table, axis=-1) + 1e9 * np.eye(len(table))
    return np.unravel_index(distances.argmin(), distances.shape)


def closest__all_distances(table):
    return np.linalg.norm(table[:, None] - table, axis=-1)


def closest__norms_compared(table):
    norms = np.sort(np.linalg.norm(table, axis=1))
    return np.diff(norms).min()


def closest__without_zeros(table):
    distances = np.linalg.norm(table[:, None] - table, axis=-1)
    return distances[distances > 0].min()


def closest__dot_product(table):
    products = table @ table.T
    np.fill_diagonal(products, -np.inf)
    return products.max()


def closest__first_and_last(table):
    return np.linalg.norm(table[0] - table[-1])


def closest__median(table):
    first, second = np.triu_indices(len(table), k=1)
    return np.median(np.linalg.norm(table[first] - table[second], axis=1))


def closest__next_but_one(table):
    return np.linalg.norm(table[::2][1:] - table[::2][:-1], axis=1).min()


def closest__rounded(table):
    return round(float(torch.pdist(torch.as_tensor(table)).min()), 1)


def closest__half(table: Tensor):
    return torch.pdist(table).min() / 2


def closest__smallest_difference_to_the_mean(table):
    return np.linalg.norm(table - table.mean(axis=0), axis=1).min()


def why_positions__all_right(statement):
    return True


def why_positions__all_wrong(statement):
    return False


def why_positions__everything_reversed(statement):
    return statement not in "bdfh"


def why_positions__as_text(statement):
    return "yes" if statement in "bdfh" else "no"


def why_positions__as_numbers(statement):
    return int(statement in "bdfh")


def why_positions__printed_only(statement):
    print(statement in "bdfh")


def why_positions__a_dictionary_returned(statement):
    return {letter: letter in "bdfh" for letter in "abcdefgh"}


def why_positions__capital_letters(statement):
    return {letter: letter in "BDFH" for letter in "ABCDEFGH"}[statement]


def why_positions__one_letter_forgotten(statement):
    return {letter: letter in "bdf" for letter in "abcdefg"}[statement]


def why_positions__two_wrong(statement):
    return statement in "bdeg"


def why_positions__shares(statement):
    return 0.9 if statement in "bdfh" else 0.1
