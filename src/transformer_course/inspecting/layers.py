"""What the vectors of a layer hold: the logit lens, and probes with controls (chapter 10)."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn


def logit_lens(states: Mapping[str, Tensor], read: Callable[[Tensor], Tensor]) -> Tensor:
    """What the model would say if it stopped after each layer (nostalgebraist 2020).

    Args:
        states: name of a layer → what it gave, (batch, length, d_model), as `recorded` finds it.
        read: the model's own end, from a state to logits: the last norm, then the output layer.

    Returns:
        Logits, (layers, batch, length, vocab_size), in the order of `states`.
    """
    return torch.stack([read(state) for state in states.values()])


@dataclass(frozen=True)
class Probe:
    """A linear classifier of vectors.

    Args:
        weight: (classes, width).
        bias: (classes,).
    """

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """The class of each vector.

        Args:
            x: (n, width).

        Returns:
            (n,), int64.
        """
        return (x @ self.weight.T + self.bias).argmax(-1)

    def accuracy(self, x: Tensor, y: Tensor) -> float:
        """The share of vectors whose class is right.

        Args:
            x: (n, width).
            y: (n,), int64.

        Returns:
            0 to 1.
        """
        return float((self(x) == y).float().mean())


def train_probe(x: Tensor, y: Tensor, decay: float = 1e-3, steps: int = 100) -> Probe:
    """Fit a linear classifier by logistic regression (probing, Alain and Bengio 2017).

    Args:
        x: vectors, (n, width).
        y: their classes, (n,), int64, counted from 0; two different ones or more.
        decay: strength of the penalty on squared weights.
        steps: most steps of the optimiser (L-BFGS).

    Returns:
        The probe.

    Raises:
        ValueError: if there aren't as many classes as vectors, or all classes are the same.
    """
    if x.dim() != 2 or y.shape != x.shape[:1]:
        raise ValueError(
            f"x and y of shapes {tuple(x.shape)} and {tuple(y.shape)} must be (n, width) and (n,)"
        )
    if len(set(y.tolist())) < 2:
        raise ValueError("y must hold two different classes or more")
    with torch.enable_grad():
        mean, scale = x.mean(0), x.std(0)
        # A number that is always the same is left at 0: divided by its rounding, it would be noise.
        scale = torch.where(scale > 1e-5 * mean.abs(), scale, 1.0).clamp(min=1e-6)
        z = ((x - mean) / scale).detach()  # inputs of one size, so that one penalty fits all
        weight = z.new_zeros(int(y.max()) + 1, x.shape[1], requires_grad=True)
        bias = z.new_zeros(len(weight), requires_grad=True)
        optimizer = torch.optim.LBFGS([weight, bias], max_iter=steps, line_search_fn="strong_wolfe")

        def loss() -> Tensor:
            optimizer.zero_grad()
            value = nn.functional.cross_entropy(z @ weight.T + bias, y)
            value = value + decay * weight.square().sum()
            value.backward()  # type: ignore[no-untyped-call]
            return value

        optimizer.step(loss)  # type: ignore[no-untyped-call]
    weight, bias = weight.detach() / scale, bias.detach()
    return Probe(weight, bias - weight @ mean)


def control_labels(items: Sequence[Hashable], y: Sequence[int], seed: int = 0) -> list[int]:
    """Labels without meaning: each kind of item gets a random one, as often as the true labels occur.

    A probe that learns them too has learned the items by heart. Accuracy on the true labels minus accuracy on
    these is the probe's *selectivity* (Hewitt and Liang 2019).

    Args:
        items: what each label was given to, such as words.
        y: the true labels.
        seed: another seed gives other labels.

    Returns:
        A label for each item, the same for the same item.

    Raises:
        ValueError: if there aren't as many items as labels, or there are none.

    >>> labels = control_labels(["cat", "dog", "cat", "tree"], [0, 1, 0, 1])
    >>> labels[0] == labels[2]
    True
    """
    if len(items) != len(y) or not items:
        raise ValueError(f"there must be a label for each item: got {len(items)} and {len(y)}")
    dice = Random(seed)
    chosen = {item: dice.choice(list(y)) for item in dict.fromkeys(items)}
    return [chosen[item] for item in items]
