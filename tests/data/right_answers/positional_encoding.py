"""Chapter 05: right answers by loops, by complex numbers, with NumPy and with torch."""

import cmath
import math

import numpy as np
import torch
from torch import Tensor


def _speeds(d_model):
    return 10000.0 ** (-np.arange(0, d_model, 2) / d_model)


def sinusoidal_encoding__loops(length, d_model):
    table = np.zeros((length, d_model))
    for pos in range(length):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            table[pos, 2 * i], table[pos, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def sinusoidal_encoding__complex_numbers(length, d_model):
    turning = np.exp(1j * np.outer(np.arange(length), _speeds(d_model)))
    return np.stack([turning.imag, turning.real], axis=-1).reshape(length, d_model)


def sinusoidal_encoding__torch_with_exp_and_log(length, d_model):
    positions = torch.arange(length).unsqueeze(1).double()
    speeds = torch.exp(torch.arange(0, d_model, 2).double() * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(positions * speeds)
    table[:, 1::2] = torch.cos(positions * speeds)
    return table


def sinusoidal_encoding__cosine_as_a_shifted_sine(length, d_model):
    columns = np.arange(d_model)
    angles = np.arange(length)[:, None] * _speeds(d_model)[columns // 2]
    return np.sin(angles + (columns % 2) * np.pi / 2)


def sinusoidal_encoding__comprehension(length, d_model):
    functions = (math.sin, math.cos)
    rows = [
        [functions[j % 2](pos / 10000 ** ((j - j % 2) / d_model)) for j in range(d_model)]
        for pos in range(length)
    ]
    return np.array(rows)


def predict__computed(question):
    table = sinusoidal_encoding__loops(41, 128)
    return {
        "a": sinusoidal_encoding__loops(1, 36).sum(),
        "b": 512 / 2,
        "c": np.arange(512 // 2)[-1],
        "d": 1 / _speeds(8)[1],
        "e": np.linalg.norm(table[7]),
        "f": 20 + 10 - 3,
        "g": torch.zeros(8, 20, 512)[0].shape,
        "h": 47 - 40,
    }[question]


def predict__one_question_after_another(question):
    if question == "g":
        return [20, 512]
    if question in "bc":
        return 256 if question == "b" else 255
    return {"a": 18.0, "d": 10.0, "e": 8.0, "f": 27, "h": np.float32(7)}[question]


def predict__by_place_in_a_list(question):
    return [18, 2**8, 2**8 - 1, 10000 ** (1 / 4), math.sqrt(64), 27.0, (20, 512), 7][
        "abcdefgh".index(question)
    ]


def position_table__whole_rows(n_words, d_model):
    return sinusoidal_encoding__complex_numbers(n_words, d_model)


def position_table__torch(n_words, d_model) -> Tensor:
    angles = torch.arange(n_words).double()[:, None] * torch.from_numpy(_speeds(d_model))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def position_table__walking(n_words, d_model):
    steps = np.exp(1j * _speeds(d_model))
    point, rows = np.ones(d_model // 2, dtype=complex), []
    for _ in range(n_words):
        rows.append(np.stack([point.imag, point.real], axis=-1).ravel())
        point = point * steps
    return np.array(rows)


def add_positions__torch_slices(x: Tensor, start: int = 0):
    angles = torch.arange(start, start + x.shape[1]).double()[:, None]
    angles = angles * torch.from_numpy(_speeds(x.shape[2]))
    result = x * math.sqrt(x.shape[2])
    result[..., 0::2] += angles.sin()
    result[..., 1::2] += angles.cos()
    return result


def add_positions__loops(x, start=0):
    result = np.zeros(x.shape)
    width = x.shape[2]
    for b in range(len(x)):
        for t in range(x.shape[1]):
            for j in range(width):
                angle = (start + t) / 10000 ** ((j // 2) * 2 / width)
                result[b, t, j] = x[b, t, j] * width**0.5
                result[b, t, j] += math.cos(angle) if j % 2 else math.sin(angle)
    return result


def add_positions__rows_of_a_longer_table(x, start=0):
    table = sinusoidal_encoding__loops(2000, x.shape[-1])
    return table[start : start + x.shape[1]] + np.sqrt(x.shape[-1]) * x


def move__complex_numbers(row, k):
    points = row[1::2] + 1j * row[0::2]
    points = points * np.exp(1j * k * _speeds(len(row)))
    return np.stack([points.imag, points.real], axis=-1).ravel()


def move__matrix(row, k):
    matrix = np.zeros((len(row), len(row)))
    for i, speed in enumerate(_speeds(len(row))):
        c, s = math.cos(k * speed), math.sin(k * speed)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return matrix @ row


def move__loops(row, k):
    result = []
    for i in range(len(row) // 2):
        point = complex(row[2 * i + 1], row[2 * i])
        point *= cmath.exp(1j * k / 10000 ** (2 * i / len(row)))
        result += [point.imag, point.real]
    return np.array(result)


def move__torch(row: Tensor, k: int):
    angles = k * torch.from_numpy(_speeds(len(row))).to(row.dtype)
    sine, cosine = row.view(-1, 2).unbind(1)
    new = (sine * angles.cos() + cosine * angles.sin(), cosine * angles.cos() - sine * angles.sin())
    return torch.stack(new, dim=1).flatten()


def score_terms__one_product(x, p, w_query, w_key):
    w = w_query @ w_key.T
    return np.stack([x @ w @ x.T, x @ w @ p.T, p @ w @ x.T, p @ w @ p.T])


def score_terms__einsum(x, p, w_query, w_key):
    both = np.stack([x, p])
    terms = np.einsum("atm,mk,nk,bsn->abts", both, w_query, w_key, both)
    return terms.reshape(4, len(x), len(x))


def score_terms__torch(x: Tensor, p: Tensor, w_query, w_key):
    queries, keys = torch.stack([x, p]) @ w_query, torch.stack([x, p]) @ w_key
    return (queries[:, None] @ keys[None].transpose(-2, -1)).flatten(0, 1)


def score_terms__by_difference(x, p, w_query, w_key):
    whole = ((x + p) @ w_query) @ ((x + p) @ w_key).T
    words = (x @ w_query) @ (x @ w_key).T
    asks_place = (x @ w_query) @ (p @ w_key).T
    places = (p @ w_query) @ (p @ w_key).T
    return np.array([words, asks_place, whole - words - asks_place - places, places])


def closest__loops(table):
    best = math.inf
    for i in range(len(table)):
        for j in range(i):
            best = min(best, math.dist(table[i], table[j]))
    return best


def closest__torch(table: Tensor):
    return torch.pdist(table).min()


def closest__infinite_diagonal(table):
    squares = ((table[:, None] - table) ** 2).sum(-1)
    np.fill_diagonal(squares, np.inf)
    return np.sqrt(squares.min())


def why_positions__list(statement):
    return statement in ["b", "d", "f", "h"]


def why_positions__numpy(statement):
    return np.array([False, True] * 4)["abcdefgh".index(statement)]


def why_positions__one_after_the_other(statement):
    if statement in ("a", "c", "e", "g"):
        return False
    return statement in ("b", "d") or statement == "f" or statement == "h"
