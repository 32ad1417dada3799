"""Chapter 15: misconceptions in the spellings of learners."""

import numpy as np


def share_of_wins__scores_as_they_are_printed(found_a, total_a, found_b, total_b, draws):
    """compared after rounding"""
    wins = 0
    for row in draws:
        of_a = round(100 * found_a[row].sum() / total_a[row].sum(), 1)
        wins += of_a > round(100 * found_b[row].sum() / total_b[row].sum(), 1)
    return wins / len(draws)


def share_of_wins__two_decimals(found_a, total_a, found_b, total_b, draws):
    """compared after rounding to two decimals"""
    a = np.round(found_a[draws].sum(1) / total_a[draws].sum(1), 2)
    b = np.round(found_b[draws].sum(1) / total_b[draws].sum(1), 2)
    return (a > b).mean()


def share_of_wins__no_draws(found_a, total_a, found_b, total_b, draws):
    """sentences compared, the draws not used"""
    wins = [a / s > b / t for a, s, b, t in zip(found_a, total_a, found_b, total_b, strict=True)]
    return sum(wins) / len(wins)
