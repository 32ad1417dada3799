"""Chapter 15: misconceptions in the spellings of learners."""


def share_of_wins__no_draws(found_a, total_a, found_b, total_b, draws):
    """sentences compared, the draws not used"""
    wins = [a / s > b / t for a, s, b, t in zip(found_a, total_a, found_b, total_b, strict=True)]
    return sum(wins) / len(wins)
