"""What the last cells of the exercises of chapter 06 call: sliders, and one sentence to be learned."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_course.checks.comparing import loose_parts
from transformer_course.checks.encoder_decoder.model import draw_layer
from transformer_course.checks.running import SECONDS, in_depth, run

BAR = 30  # characters for a cosine of 1
WORDS = ["<pad>", "<s>", "</s>", "the", "cat", "is", "on", "mat"]
WORDS += ["le", "chat", "est", "sur", "tapis"]
UNFOLLOWED = "Torch can't follow your functions, so they can't learn. Write them with torch."
SOURCE, TARGET = "the cat is on the mat", "le chat est sur le tapis"


def depth_table(
    carried: Callable[..., Any], depth: int = 6, size: float = 0.5, residual: bool = True
) -> None:
    """Print what is left of random tokens after each layer of a stack.

    Args:
        carried: the learner's function, returning the mean cosine with the start after each layer.
        depth: number of layers.
        size: how large what a layer makes is, beside what it gets.
        residual: whether it is added, or takes the token's place.

    >>> from transformer_course.checks.encoder_decoder.carried import reference
    >>> depth_table(reference, depth=2, size=0.5, residual=True)
    after layer  1: 0.94 ############################
    after layer  2: 0.86 ##########################
    """
    rng = np.random.default_rng(0)
    tokens = rng.normal(size=(50, 64))
    weights = rng.normal(size=(depth, 64, 64)) / 8 * size
    outcome = run(carried, (tokens, weights, residual), SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    if parts is None or parts[0].shape != (depth,):
        print("The sliders come to life when carried passes its check.")
        return
    for layer, cosine in enumerate(parts[0], start=1):
        print(f"after layer {layer:2}: {cosine:.2f} {'#' * round(BAR * float(cosine))}".rstrip())


def learn_one_sentence(transformer: Callable[..., Any], steps: int = 100) -> None:
    """Let the learner's Transformer learn one pair by heart, and print how it then translates.

    Args:
        transformer: (src, tgt, weights, n_heads) → logits, written so that torch can follow it.
        steps: changes of the weights.
    """
    src = torch.tensor([[*_ids(SOURCE), 2]])
    tgt = torch.tensor([[1, *_ids(TARGET), 2]])
    weights = _fresh_weights()
    outcome = run(transformer, (src, tgt, weights, 2), SECONDS)
    parts = None if outcome.trouble else loose_parts(outcome.value, 1)
    if "requires grad" in outcome.sentence:  # torch refuses to make an array of it
        print(UNFOLLOWED)
        return
    if parts is None or parts[0].shape != (1, tgt.shape[1], len(WORDS)):
        print("Your Transformer learns here when it passes its check.")
        return
    if not getattr(outcome.value, "requires_grad", False):
        print(UNFOLLOWED)
        return
    leaves: list[Tensor] = []
    weights = in_depth(weights, lambda x: _leaf(x, leaves))
    optimizer = torch.optim.Adam(leaves, lr=0.01)
    for _ in range(steps):
        logits = transformer(src, tgt[:, :-1], weights, 2)
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tgt[:, 1:])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    print(f"{SOURCE} -> {_written(transformer, src, weights)}")


def _ids(sentence: str) -> list[int]:
    return [WORDS.index(word) for word in sentence.split()]


def _leaf(value: Tensor, leaves: list[Tensor]) -> Tensor:
    """Return a copy that torch will change, and remember it."""
    leaves.append(value.detach().clone().requires_grad_())
    return leaves[-1]


def _fresh_weights() -> dict[str, Any]:
    """Return the weights of a small model, the same every time."""
    rng = np.random.default_rng(0)
    weights = {
        "table": rng.normal(size=(len(WORDS), 16)) / 4,
        "encoder": [draw_layer(rng, 16, 32) for _ in range(2)],
        "decoder": [draw_layer(rng, 16, 32, decoder=True) for _ in range(2)],
    }
    return dict(in_depth(weights, lambda x: torch.tensor(x).float().requires_grad_()))


@torch.no_grad()
def _written(transformer: Callable[..., Any], src: Tensor, weights: dict[str, Any]) -> str:
    """Return what the model writes, always the likeliest word, until </s> or ten words."""
    tgt = torch.tensor([[1]])
    while tgt.shape[1] <= 10 and int(tgt[0, -1]) != 2:
        logits = transformer(src, tgt, weights, 2)
        tgt = torch.cat([tgt, logits[:, -1:].argmax(-1)], 1)
    return " ".join(WORDS[i] for i in tgt[0].tolist()[1:] if i != 2)
