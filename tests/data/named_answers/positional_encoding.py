"""Chapter 05: misconceptions in the spellings of learners."""

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
