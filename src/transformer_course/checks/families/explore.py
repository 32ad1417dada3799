"""What the last cells of the exercises of chapter 11 call: sliders, and three pairs to be learned."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.encoder_decoder.explore import UNFOLLOWED
from transformer_course.checks.encoder_decoder.model import draw_layer
from transformer_course.checks.running import SECONDS, in_depth, run

WORDS = ["<pad>", "=>", "</s>", "the", "cat", "dog", "is", "sleeps", "on", "mat"]
WORDS += ["le", "chat", "chien", "est", "dort", "sur", "tapis"]
PAIRS = (
    "the cat is on the mat => le chat est sur le tapis </s>",
    "the dog sleeps => le chien dort </s>",
    "the cat sleeps => le chat dort </s>",
)
N_HEADS = 2


def prefix_table(prefix_mask: Callable[..., Any], n_prompt: int = 3, length: int = 6) -> None:
    """Print the mask of a sequence that begins with a prompt: # = may attend, . = hidden.

    Args:
        prefix_mask: the learner's function.
        n_prompt: tokens of the prompt; at most all of them.
        length: number of tokens.

    >>> from transformer_course.checks.families.prefix_mask import reference
    >>> prefix_table(reference, n_prompt=2, length=3)
    query       0 1 2   keys
    0 prompt    # # .
    1 prompt    # # .
    2 after it  # # #
    7 of 9 pairs are open; 1 token is guessed.
    """
    n_prompt = min(n_prompt, length)
    outcome = run(prefix_mask, (n_prompt, length), SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    if parts is None or parts[0].shape != (length, length):
        print("The sliders come to life when prefix_mask passes its check.")
        return
    mask = parts[0].astype(bool)
    print(f"query       {' '.join(map(str, range(length)))}   keys")
    for place, row in enumerate(mask):
        what = "prompt" if place < n_prompt else "after it"
        print(f"{place} {what:9} {' '.join('#' if seen else '.' for seen in row)}")
    guessed = length - max(n_prompt, 1)  # the first token has nothing before it
    counted = "1 token is" if guessed == 1 else f"{guessed} tokens are"
    print(f"{int(mask.sum())} of {mask.size} pairs are open; {counted} guessed.")


def learn_to_translate(
    decoder_only: Callable[..., Any],
    prompted_loss: Callable[..., Any],
    continue_greedily: Callable[..., Any],
    steps: int = 160,
) -> None:
    """Let the learner's decoder learn three pairs by heart, and print how it continues each source.

    Args:
        decoder_only: (ids, weights, n_heads) → logits, written so that torch can follow it.
        prompted_loss: (logits, ids, n_prompt, pad_id) → loss, so that torch can follow it, too.
        continue_greedily: (model, prompt, eos_id, max_len) → new tokens.
        steps: changes of the weights.
    """
    rows = [torch.tensor([WORDS.index(word) for word in pair.split()]) for pair in PAIRS]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)  # (3, length), 0 is padding
    n_prompt = torch.tensor([row.tolist().index(1) + 1 for row in rows])
    weights, leaves = _fresh_weights()

    def loss_of(ids: Tensor, n_prompt: Tensor) -> Any:
        return prompted_loss(decoder_only(ids, weights, N_HEADS), ids, n_prompt, 0)

    outcome = run(loss_of, (ids, n_prompt), SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    if "requires grad" in outcome.sentence:  # torch refuses to make an array of it
        print(UNFOLLOWED)
        return
    if parts is None or parts[0].size != 1:
        print("Your decoder learns here when decoder_only and prompted_loss pass their checks.")
        return
    if not getattr(outcome.value, "requires_grad", False):
        print(UNFOLLOWED)
        return
    optimizer = torch.optim.Adam(leaves, lr=0.01)
    for _ in range(steps):
        loss = loss_of(ids, n_prompt)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for row, n in zip(rows, n_prompt, strict=True):
        written = _written(decoder_only, continue_greedily, weights, row[: int(n)])
        if written is None:
            print("It has learned. It writes when continue_greedily passes its check.")
            return
        print(" ".join(WORDS[i] for i in row[: int(n)]), *(WORDS[i] for i in written))


def _fresh_weights() -> tuple[dict[str, Any], list[Tensor]]:
    """Return the weights of a small model, the same every time, and all of them in a list."""
    rng = np.random.default_rng(0)
    weights = {
        "table": rng.normal(size=(len(WORDS), 32)) / np.sqrt(32),
        "layers": [draw_layer(rng, 32, 64) for _ in range(2)],
    }
    leaves: list[Tensor] = []

    def leaf(x: Any) -> Tensor:
        leaves.append(torch.tensor(x).float().requires_grad_())
        return leaves[-1]

    return dict(in_depth(weights, leaf)), leaves


@torch.no_grad()
def _written(
    decoder_only: Callable[..., Any],
    continue_greedily: Callable[..., Any],
    weights: dict[str, Any],
    prompt: Tensor,
) -> list[int] | None:
    """Return what follows the prompt, by torch or else by NumPy; None if the function gives no such thing."""

    def model(ids: Any) -> Any:
        logits = decoder_only(torch.as_tensor(ids)[None], weights, N_HEADS)[0]
        return logits if torch.is_tensor(ids) else logits.numpy()

    for given in (prompt, prompt.numpy()):
        outcome = run(continue_greedily, (model, given, 2, 10), SECONDS)
        parts = None if outcome.trouble else loose_parts(outcome.value, 1)
        if parts is not None and parts[0].ndim == 1 and parts[0].dtype.kind in "iu":
            return [int(i) for i in parts[0]]
    return None
