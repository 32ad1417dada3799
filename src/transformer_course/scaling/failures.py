"""Machines fail: how often, how often to save, and what is lost (chapter 14)."""

import math


def failures_a_day(n_devices: int, hours_between_failures: float) -> float:
    """How often something fails in a day, if each device fails by itself, now or later with equal chance.

    Young 1974 assumes it, too.

    Args:
        n_devices: all of them are needed.
        hours_between_failures: of a single device, on average.

    Returns:
        Failures a day, on average.

    Raises:
        ValueError: if a number isn't above 0.

    >>> failures_a_day(1000, 50_000)
    0.48
    """
    _check(n_devices=n_devices, hours_between_failures=hours_between_failures)
    return 24 * n_devices / hours_between_failures


def checkpoint_interval(seconds_to_save: float, seconds_between_failures: float) -> float:
    r"""After how many seconds of work to save, so that the least is lost: $\sqrt{2CM}$ (Young 1974).

    It is good as long as saving takes much less time than passes between failures; Daly 2006 has more terms.

    Args:
        seconds_to_save: how long the work waits for it, C.
        seconds_between_failures: of the whole system, on average, M.

    Returns:
        Seconds of work between two checkpoints.

    Raises:
        ValueError: if a number isn't above 0.

    >>> round(checkpoint_interval(60, 50 * 3600) / 60, 1)  # minutes
    77.5
    """
    _check(seconds_to_save=seconds_to_save, seconds_between_failures=seconds_between_failures)
    return math.sqrt(2 * seconds_to_save * seconds_between_failures)


def lost_share(
    seconds_between_checkpoints: float, seconds_to_save: float, seconds_between_failures: float
) -> float:
    """The share of the time that goes into saving and into work that must be done again (Young 1974).

    A failure comes, on average, half an interval after the last checkpoint. The time to start
    again is left out.

    Args:
        seconds_between_checkpoints: of work.
        seconds_to_save: as in `checkpoint_interval`.
        seconds_between_failures: likewise.

    Returns:
        A share; above 1, no work gets done.

    Raises:
        ValueError: if a number isn't above 0.

    >>> round(lost_share(3600, 60, 50 * 3600), 4)
    0.0267
    """
    _check(
        seconds_between_checkpoints=seconds_between_checkpoints,
        seconds_to_save=seconds_to_save,
        seconds_between_failures=seconds_between_failures,
    )
    saving = seconds_to_save / seconds_between_checkpoints
    return saving + seconds_between_checkpoints / 2 / seconds_between_failures


def _check(**numbers: float) -> None:
    for name, number in numbers.items():
        if not number > 0:
            raise ValueError(f"{name} ({number:g}) must be above 0")
