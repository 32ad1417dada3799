"""What the last cells of the exercises of chapter 12 call: a text in blocks, two layouts, and sliders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from transformer_course.checks.comparing import Array, loose_parts
from transformer_course.checks.running import SECONDS, run

SCORES = np.array([1.0, 3.0, 2.0, 0.0, 5.0, 4.0, 1000.0, 999.0])
VALUES = np.array([[10.0], [20.0], [30.0], [40.0], [50.0], [60.0], [70.0], [80.0]])


def block_table(add_block: Callable[..., Any], block: int = 2) -> None:
    """Print what is kept after each block of eight keys, and the softmax of all of them.

    Args:
        add_block: the learner's function.
        block: keys of a block, 1 or more.

    >>> from transformer_course.checks.long_context.add_block import reference
    >>> block_table(reference, block=4)
    keys      maximum    total   weighted   average
    0 to 3          3     1.55       34.4     22.14
    4 to 7       1000     1.37       99.4     72.69
    softmax over all eight at once: 72.69
    """
    kept = [np.array(-np.inf), np.array(0.0), np.zeros(1)]
    lines = ["keys      maximum    total   weighted   average"]
    for start in range(0, len(SCORES), block):
        scores, values = SCORES[start : start + block], VALUES[start : start + block]
        found = _results(add_block, (*kept, scores, values), [(), (), (1,)])
        if found is None:
            print("Your blocks are read here when add_block passes its check.")
            return
        kept = found
        maximum, total, weighted = (float(part.item()) for part in kept)
        average = weighted / total if total else float("nan")
        keys = f"{start} to {start + len(scores) - 1}"
        lines.append(f"{keys:<9}{maximum:>8.0f} {total:>8.2f} {weighted:>10.1f} {average:>9.2f}")
    at_once = torch.softmax(torch.tensor(SCORES), 0) @ torch.tensor(VALUES)
    print(*lines, f"softmax over all eight at once: {at_once.item():.2f}", sep="\n")


def layout_table(rotate: Callable[..., Any], row_order: Callable[..., Any]) -> None:
    """Print the scores of two heads in their own layout, in the other one, and there with rows in order.

    Args:
        rotate: the learner's function.
        row_order: the learner's function.

    >>> from transformer_course.checks.long_context.rotate import reference
    >>> from transformer_course.checks.long_context.row_order import reference as order
    >>> layout_table(reference, order)
    head 0, query at position 6, keys at 2 to 6
      interleaved, as trained       -0.42  0.32  0.03 -0.57  0.77
      in halves, rows as they were  -0.41  0.97 -0.01 -0.63  0.77
      in halves, rows in your order -0.42  0.32  0.03 -0.57  0.77
    head 1, query at position 6, keys at 2 to 6
      interleaved, as trained        0.33  1.54  2.37  0.65 -1.10
      in halves, rows as they were   0.36 -0.69  0.66  0.75 -1.10
      in halves, rows in your order  0.33  1.54  2.37  0.65 -1.10
    """
    n_heads, d_k, d_model, length = 2, 8, 16, 5
    rng = np.random.default_rng(1)
    x, places = rng.normal(size=(length, d_model)), np.arange(2, 2 + length)
    w_query, w_key = rng.normal(size=(2, n_heads * d_k, d_model)) / 4
    order = _results(row_order, (n_heads, d_k), [(n_heads * d_k,)])
    rows = None if order is None else order[0].astype(int)
    if rows is None or sorted(rows) != list(range(n_heads * d_k)):
        print("Your layouts are compared here when row_order passes its check.")
        return
    ways = (
        ("interleaved, as trained", "interleaved", slice(None)),
        ("in halves, rows as they were", "halves", slice(None)),
        ("in halves, rows in your order", "halves", rows),
    )
    for head in range(n_heads):
        print(f"head {head}, query at position {places[-1]}, keys at {places[0]} to {places[-1]}")
        own = slice(head * d_k, (head + 1) * d_k)
        for name, layout, chosen in ways:
            turned = []
            for w in (w_query, w_key):
                found = _results(rotate, (x @ w[chosen][own].T, places, layout), [(length, d_k)])
                if found is None:
                    print("The scores come when rotate passes its check.")
                    return
                turned.append(found[0])
            scores = turned[1] @ turned[0][-1] / np.sqrt(d_k)
            print(f"  {name:<30}" + " ".join(f"{score:5.2f}" for score in scores))


def window_table(
    window_mask: Callable[..., Any],
    memory: int = 3,
    n_new: int = 4,
    window: int = 3,
    layers: int = 2,
) -> None:
    """Print the mask of a segment after a memory, and how far back its tokens know after several layers.

    Args:
        window_mask: the learner's function.
        memory: tokens before the segment.
        n_new: tokens of the segment, 1 or more.
        window: how many tokens each sees, itself included.
        layers: number of layers, 1 or more.

    >>> from transformer_course.checks.long_context.window_mask import reference
    >>> window_table(reference, memory=2, n_new=2, window=2, layers=2)
    query       0 1 2 3   keys
    2           . # # .
    3           . . # #
    The last token knows of 3 of 4 tokens after 2 layers: of 1 to 3.
    """
    k_len = memory + n_new
    found = _results(window_mask, (n_new, k_len, window), [(n_new, k_len)])
    step = _results(window_mask, (k_len, k_len, window), [(k_len, k_len)])
    if found is None or step is None:
        print("The sliders come to life when window_mask passes its check.")
        return
    print(f"query       {' '.join(f'{place % 10}' for place in range(k_len))}   keys")
    for place, row in enumerate(found[0], start=memory):
        print(f"{place:<12}{' '.join('#' if seen else '.' for seen in row)}")
    known = np.linalg.matrix_power(step[0].astype(int), layers)[-1] > 0
    first = int(known.argmax())
    counted = "1 layer" if layers == 1 else f"{layers} layers"
    print(
        f"The last token knows of {known.sum()} of {k_len} tokens after {counted}: "
        f"of {first} to {k_len - 1}."
    )


def _results(
    function: Callable[..., Any], arguments: tuple[Any, ...], shapes: list[tuple[int, ...]]
) -> list[Array] | None:
    """Return the results, by NumPy or else by torch; None if they haven't these shapes."""
    for kind in (np.asarray, torch.tensor):
        given = (kind(x) if isinstance(x, np.ndarray) else x for x in arguments)
        outcome = run(function, tuple(given), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, len(shapes))
        if parts is not None and [part.shape for part in parts] == shapes:
            return parts
    return None
