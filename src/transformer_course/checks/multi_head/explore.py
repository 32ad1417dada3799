"""What the explore cell of chapter 04 prints: sliders move the learner's own multi-head attention."""

from collections.abc import Callable
from typing import Any

import torch

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.running import SECONDS, run

WORDS = ("girl", "kicks", "ball")
ACTS, ACTION, DONE_TO = 3, 4, 5  # columns of a word
BAR = 30  # characters for a weight of 1


def roles_table(attend: Callable[..., Any], first: float = 2.0, second: float = 2.0) -> None:
    """Print where *kicks* looks with two heads, and what comes out for it.

    Args:
        attend: the learner's multi-head attention, returning (output, weights).
        first: length of the key of who acts, in head 1.
        second: length of the key of what it is done to, in head 2.

    >>> from transformer_course.checks.multi_head.multi_head_attention import reference
    >>> as_numpy = lambda *a: reference(*(x.numpy() if torch.is_tensor(x) else x for x in a))
    >>> roles_table(as_numpy, 2, 0)
    head 1: girl 0.94 ############################
    head 1: kicks 0.03 #
    head 1: ball 0.03 #
    head 2: girl 0.33 ##########
    head 2: kicks 0.33 ##########
    head 2: ball 0.33 ##########
    who acts: girl 0.94, kick 0.03, ball 0.03
    what it is done to: girl 0.33, kick 0.33, ball 0.33
    """
    x = torch.eye(3).repeat(1, 2)[None]  # (1, 3, 6): what a word is, then its role
    w_query, w_key, w_value = torch.zeros(3, 6, 6)
    w_query[ACTION, 0] = w_query[ACTION, 3] = 3.0
    w_key[ACTS, 0], w_key[DONE_TO, 3] = first, second
    w_value[:3, :3] = w_value[:3, 3:] = torch.eye(3)
    arguments = (x, x, w_query, w_key, w_value, torch.eye(6), 2, None)
    outcome = run(attend, arguments, SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 2)
    if parts is None or [part.shape for part in parts] != [(1, 3, 6), (1, 2, 3, 3)]:
        print("The sliders come to life when multi_head_attention passes its check.")
        return
    output, weights = parts
    for head in (0, 1):
        for word, weight in zip(WORDS, weights[0, head, 1], strict=True):
            bar = "#" * round(BAR * float(weight))
            print(f"head {head + 1}: {word} {weight:.2f} {bar}".rstrip())
    for title, row in (("who acts", output[0, 1, :3]), ("what it is done to", output[0, 1, 3:])):
        print(f"{title}: girl {row[0]:.2f}, kick {row[1]:.2f}, ball {row[2]:.2f}")
