"""Exercise: hide tokens for a masked language model; the random numbers are given."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]
Results = tuple[Array, Array]
IGNORED = -100


def _hide(
    *,
    may_be_chosen: Callable[[Array, int], Array] = lambda ids, special: ids >= special,
    low: bool = True,
    hidden_below: float = 0.8,
    other_below: float = 0.5,
    over: bool = False,
    only_chosen: bool = True,
    labels: str = "chosen",
    elsewhere: int = IGNORED,
) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def hide(
        ids: Array,
        chosen_draw: Array,
        mask_draw: Array,
        other_draw: Array,
        others: Array,
        mask_id: int,
        special: int,
    ) -> Results:
        drawn = chosen_draw < 0.15
        chosen = may_be_chosen(ids, special) & (drawn if low else ~drawn)
        touched = chosen if only_chosen else np.ones_like(chosen)
        hidden = touched & (mask_draw < hidden_below)
        other = touched & (other_draw < other_below) & (over | ~hidden)
        read = np.where(other, others, np.where(hidden, mask_id, ids))
        at = {
            "chosen": chosen,
            "hidden": chosen & hidden & ~other,
            "changed": chosen & (hidden | other),
            "not 0": chosen & (ids != 0),
            "all": np.ones_like(chosen),
            "read": chosen,
        }[labels]
        return read, np.where(at, read if labels == "read" else ids, elsewhere)

    return hide


def reference(
    ids: Array,
    chosen_draw: Array,
    mask_draw: Array,
    other_draw: Array,
    others: Array,
    mask_id: int,
    special: int,
) -> Results:
    """Return what the model reads and what it must say."""
    result: Results = _hide()(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special)
    return result


def _between(rng: np.random.Generator, shape: tuple[int, ...], *borders: float) -> Array:
    """Return numbers between 0 and 1, as many below each border as above, and none close to one."""
    edges = np.array([0.0, *borders, 1.0])
    places = rng.integers(0, len(edges) - 1, size=shape)
    low, high = edges[places], edges[places + 1]
    return np.asarray((low + (high - low) * rng.uniform(0.1, 0.9, size=shape)).round(3))


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return ids, three draws, other tokens, and two numbers; no other token is among the ids."""
    shape = int(rng.integers(1, 4)), int(rng.integers(3, 9))
    return (
        rng.integers(0, 10, size=shape),
        _between(rng, shape, 0.15),
        _between(rng, shape, 0.8),
        _between(rng, shape, 0.1, 0.5, 0.9),
        rng.integers(20, 30, size=shape),
        int(rng.integers(50, 60)),
        int(rng.choice([0, 3])),
    )


def _case(about: str, ids: list[int], *draws: list[float], special: int = 3) -> Case:
    others = np.arange(20, 20 + len(ids))[None]
    return Case(about, (np.array([ids]), *(np.array([d]) for d in draws), others, 50, special))


hide = Exercise(
    name="hide",
    kind="implement",
    difficulty=2,
    minutes=20,
    statement=(
        "Hide tokens for a masked language model. ids is (batch, length), token ids. A token is chosen if its "
        "chosen_draw is below 0.15 and its id isn't below special: such ids are padding and other marks. Of "
        "the chosen tokens, the model reads 80 % as mask_id, 10 % as the token that is there in others, "
        "and 10 % as they are. mask_draw decides about the 80 %: below 0.8. Among the chosen ones that are "
        "left, other_draw decides: below a number that you have to find. All three draws and others have the "
        "shape of ids; the draws are random numbers from 0 to 1, each as likely as any other. Return two "
        "arrays of whole numbers, (batch, length): read, what the model reads, and labels, what it must say: "
        "the true id where a token was chosen, −100 elsewhere."
    ),
    returns=("read", "labels"),
    reference=reference,
    cases=(
        _case("two tokens, one chosen", [5, 6], [0.7, 0.1], [0.3, 0.4], [0.6, 0.3]),
        _case("chosen, and not hidden", [5, 6], [0.7, 0.1], [0.3, 0.9], [0.6, 0.3]),
        _case("chosen, and still seen", [5, 6], [0.7, 0.1], [0.3, 0.9], [0.6, 0.7]),
        _case("padding", [5, 0, 0], [0.1, 0.1, 0.1], [0.3, 0.2, 0.9], [0.6, 0.7, 0.2]),
        _case("the lowest id that may be chosen", [3, 2], [0.1, 0.1], [0.3, 0.4], [0.6, 0.3]),
        _case(
            "id 0 is a token like any other", [0, 1], [0.1, 0.1], [0.3, 0.9], [0.6, 0.7], special=0
        ),
        _case(
            "four chosen tokens",
            [5, 6, 7, 8],
            [0.1, 0.01, 0.12, 0.05],
            [0.3, 0.9, 0.95, 0.85],
            [0.05, 0.05, 0.3, 0.8],
        ),
        *random_cases(draw, 8, "random tokens"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "another token for a tenth of those that are left",
            _hide(other_below=0.1),
            "Think of a hundred chosen tokens. How many are left after mask_draw, and how many of these should "
            "become another token?",
        ),
        Misconception(
            "another token for nine tenths of those that are left",
            _hide(other_below=0.9),
            "Think of a hundred chosen tokens. How many are left after mask_draw, and how many of these should "
            "stay as they are?",
        ),
        Misconception(
            "no chosen token stays as it is",
            _hide(other_below=1.0),
            "Those that don't become mask_id all become another token in your function. What about the last "
            "tenth, and which draw haven't you used?",
        ),
        Misconception(
            "every chosen token hidden",
            _hide(hidden_below=1.0),
            "You read mask_id wherever a token was chosen. Which draws haven't you used?",
        ),
        Misconception(
            "another token also where mask_id should be",
            _hide(over=True),
            "About how many of a hundred chosen tokens become another token in your function? The second "
            "decision is about those that are left.",
        ),
        Misconception(
            "padding and other marks chosen, too",
            _hide(may_be_chosen=lambda ids, special: np.ones_like(ids, dtype=bool)),
            "Your model has to guess padding. Where do you use special?",
        ),
        Misconception(
            "padding never chosen, other marks are",
            _hide(may_be_chosen=lambda ids, special: ids != 0),
            "0 isn't chosen, whatever special is. Which ids does the task leave out?",
        ),
        Misconception(
            "the lowest id that may be chosen left out",
            _hide(may_be_chosen=lambda ids, special: ids > special),
            "Ids below special are never chosen. What about special itself?",
        ),
        Misconception(
            "the others chosen",
            _hide(low=False),
            "Count the labels of a long row: you choose most of the tokens. On which side of the border do the "
            "15 % lie?",
        ),
        Misconception(
            "tokens changed that were not chosen",
            _hide(only_chosen=False),
            "Your labels are right. What should the model read where a token wasn't chosen?",
        ),
        Misconception(
            "labels only where mask_id is",
            _hide(labels="hidden"),
            "Three things happen to chosen tokens. In which of the three cases must the model say the true id?",
        ),
        Misconception(
            "labels only where something was changed",
            _hide(labels="changed"),
            "Some chosen tokens stay as they are. Does the model have to say them?",
        ),
        Misconception(
            "a label for every token",
            _hide(labels="all"),
            "A model that repeats what it reads is right at most of your labels. Which tokens should count?",
        ),
        Misconception(
            "0 as the label of what isn't guessed",
            _hide(elsewhere=0),
            "0 may be an id. How could a loss tell it from a token that isn't guessed?",
        ),
        Misconception(
            "token 0 loses its label",
            _hide(labels="not 0"),
            "If special is 0, the token with the id 0 is chosen like any other. What is its label?",
        ),
        Misconception(
            "the labels say what is read",
            _hide(labels="read"),
            "Your model has to say mask_id where it reads mask_id. What was there before?",
        ),
    ),
)
