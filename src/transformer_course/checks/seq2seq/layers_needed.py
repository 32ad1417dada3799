"""Exercise: how many convolutions until one output sees the whole sentence."""

import math
from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Count = Callable[[int, int, bool], float]


def reference(n: int, kernel_size: int, dilated: bool) -> float:
    """Return the smallest number of layers."""
    layers = 1
    while (kernel_size**layers if dilated else 1 + layers * (kernel_size - 1)) < n:
        layers += 1
    return float(layers)


def _rounded_down(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n, kernel_size, dilated) if dilated else float(n // kernel_size)


def _rounded_up(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n, kernel_size, dilated) if dilated else float(math.ceil(n / kernel_size))


def _always_logarithm(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n, kernel_size, True)


def _never_logarithm(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n, kernel_size, False)


def _none_for_one(counted: Count) -> Count:
    """Return a count that has no layer at all for one word."""
    return lambda n, kernel_size, dilated: counted(n, kernel_size, dilated) if n > 1 else 0.0


def _first_word_forgotten(n: int, kernel_size: int, dilated: bool) -> float:
    return (
        reference(n, kernel_size, dilated) if dilated else float(math.ceil(n / (kernel_size - 1)))
    )


def _one_too_many(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n + 1, kernel_size, dilated)


def _end_to_end(n: int, kernel_size: int, dilated: bool) -> float:
    if dilated:
        return reference(n, kernel_size, dilated)
    return max(1.0, float(math.ceil((n - 1) / ((kernel_size - 1) / 2))))


def _doubled(n: int, kernel_size: int, dilated: bool) -> float:
    return max(1.0, float(math.ceil(math.log2(n)))) if dilated else reference(n, kernel_size, False)


def _logarithm_rounded_down(n: int, kernel_size: int, dilated: bool) -> float:
    if not dilated:
        return reference(n, kernel_size, dilated)
    return max(1.0, reference(n + 1, kernel_size, dilated) - 1)


def _first_layer_not_counted(n: int, kernel_size: int, dilated: bool) -> float:
    return reference(n, kernel_size, dilated) - 1


def draw(rng: np.random.Generator) -> tuple[int, int, bool]:
    """Return a number of words, a width, and whether the layers are dilated."""
    n, half = int(rng.integers(2, 3000)), int(rng.integers(1, 5))
    return n, 2 * half + 1, bool(rng.integers(2))


layers_needed = Exercise(
    name="layers_needed",
    kind="implement",
    difficulty=1,
    minutes=10,
    statement=(
        "How many layers of convolutions until one output sees all n words? The layers have the width "
        "kernel_size, 3 or more. If dilated is True, the receptive field is multiplied by kernel_size with "
        "every layer; else it grows by kernel_size - 1. Return the smallest number of layers, at least 1."
    ),
    returns=("layers",),
    reference=reference,
    cases=(
        Case("5 words, width 3", (5, 3, False)),
        Case("6 words, width 3", (6, 3, False)),
        Case("9 words, width 3, dilated", (9, 3, True)),
        Case("10 words, width 3, dilated", (10, 3, True)),
        Case("81 words, width 3", (81, 3, False)),
        Case("27 words, width 5", (27, 5, False)),
        Case("27 words, width 5, dilated", (27, 5, True)),
        Case("125 words, width 5, dilated: a quotient of logarithms is not exact", (125, 5, True)),
        Case("3 words, width 5", (3, 5, False)),
        Case("2 words, width 3, dilated", (2, 3, True)),
        Case("1 word, width 3: one layer is there at least", (1, 3, False)),
        Case("1 word, width 3, dilated: one layer is there at least", (1, 3, True)),
        *random_cases(draw, 6),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "words divided by the width, rounded down",
            _rounded_down,
            "Each layer adds fewer words than its width: one of them it had already.",
        ),
        Misconception(
            "words divided by the width, rounded up",
            _rounded_up,
            "Two layers of width 3: does the second one see 6 words? Draw them.",
        ),
        Misconception(
            "the dilated count for all layers",
            _always_logarithm,
            "The field is multiplied only where each layer skips words. What happens without skipping?",
        ),
        Misconception(
            "the plain count for all layers",
            _never_logarithm,
            "You don't use `dilated`. How fast does the field grow when it is True?",
        ),
        Misconception(
            "the dilated count for all layers, and none for one word",
            _none_for_one(_always_logarithm),
            "The field is multiplied only where each layer skips words. Then look at a sentence of one word.",
        ),
        Misconception(
            "the plain count for all layers, and none for one word",
            _none_for_one(_never_logarithm),
            "You don't use `dilated`. Then look at one word alone: how many layers does the task ask for?",
        ),
        Misconception(
            "the first word forgotten",
            _first_word_forgotten,
            "With no layer at all, an output sees one word: its own. How many words are left to add?",
        ),
        Misconception(
            "one word too many",
            _one_too_many,
            "When the field is exactly as wide as the sentence, is one more layer needed?",
        ),
        Misconception(
            "from one end to the other",
            _end_to_end,
            "That is the way from the first word to the last. The question is when *some* output "
            "sees all words: "
            "where is it?",
        ),
        Misconception(
            "the logarithm rounded down",
            _logarithm_rounded_down,
            "With n = 10 and width 3, two dilated layers see 9 words. Is that enough?",
        ),
        Misconception(
            "the first layer not counted",
            _first_layer_not_counted,
            "One layer sees kernel_size words already. How many layers are there when you begin to count?",
        ),
        Misconception(
            "doubled at every layer",
            _doubled,
            "By which factor does the field of a dilated stack grow?",
        ),
    ),
)
