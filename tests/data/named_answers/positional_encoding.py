"""Chapter 05: misconceptions in the spellings of learners."""

import math

import numpy as np
import torch

from tests.data.wrong_answers.positional_encoding import _pairs, _table


def sinusoidal_encoding__base_1000(length, d_model):
    """1000 in place of 10000"""
    return _table(length, d_model, base=1000.0)


def move__sine_updated_first(row, k):
    """the new sines used for the cosines"""
    result = row.copy()
    _, _, speeds = _pairs(row)
    c, s = np.cos(k * speeds), np.sin(k * speeds)
    result[0::2] = result[0::2] * c + result[1::2] * s
    result[1::2] = result[1::2] * c - result[0::2] * s
    return result


def sinusoidal_encoding__looped_with_the_number_of_the_dimension(length, d_model):
    """2j / d with j the number of the dimension"""
    table = torch.zeros(length, d_model)
    for pos in range(length):
        for j in range(d_model):
            angle = torch.tensor(pos / 10000 ** (2 * j / d_model))
            table[pos, j] = angle.sin() if j % 2 == 0 else angle.cos()
    return table


def sinusoidal_encoding__halves_joined_and_n_minus_1(length, d_model):
    """all sines first, and divided by the number of pairs minus 1"""
    pairs = d_model // 2
    step = math.log(10000.0) / max(pairs - 1, 1)
    angles = torch.arange(length)[:, None] * torch.exp(-step * torch.arange(pairs))
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def sinusoidal_encoding__interleaved_and_n_minus_1(length, d_model):
    """divided by the number of pairs minus 1"""
    pairs = np.arange(d_model // 2)
    angles = np.arange(length)[:, None] / 10000 ** (pairs / max(len(pairs) - 1, 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, d_model)


def sinusoidal_encoding__every_dimension_with_its_own_angle_in_32_bits(length, d_model):
    """each dimension with an angle of its own"""
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(d_model) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos())


def position_table__half_of_the_number_without_two(n_words, d_model):
    """divided by the root of the right number"""
    table = np.zeros((n_words, d_model))
    for pos in range(n_words):
        for j in range(d_model):
            angle = pos / 10000 ** ((j // 2) / d_model)
            table[pos, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return table


def position_table__half_of_the_number_and_from_one(n_words, d_model):
    """divided by the root of the right number, and the positions still begin too late"""
    return position_table__half_of_the_number_without_two(n_words + 1, d_model)[1:]


def position_table__base_100(n_words, d_model):
    """divided by the root of the right number"""
    return _table(n_words, d_model, base=100.0)


def move__two_times_an_even_number(row, k):
    """exponent twice as large"""
    code = np.zeros(len(row))
    for i in range(0, len(row), 2):
        angle = k / 10000 ** (2 * i / len(row))
        code[i] = row[i] * np.cos(angle) + row[i + 1] * np.sin(angle)
        code[i + 1] = row[i + 1] * np.cos(angle) - row[i] * np.sin(angle)
    return code


def position_table__sines_then_cosines(n_words, d_model):
    """all sines first, then all cosines"""
    angles = np.arange(n_words)[:, None] / 10000 ** (2 * np.arange(d_model // 2) / d_model)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
