"""Exercise: the rule of an induction head, by loops."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Array = NDArray[Any]


def _rule(*, after: int = 1, latest: bool = True, own: bool = False) -> Any:
    """Return the function of the exercise with the mistakes asked for."""

    def what_followed(tokens: Array) -> Array:
        found = np.full(len(tokens), -1)
        for t in range(len(tokens)):
            places = [s for s in range(t + own) if tokens[s] == tokens[t] and s + after <= t]
            if places:
                found[t] = tokens[(places[-1] if latest else places[0]) + after]
        return found

    return what_followed


def reference(tokens: Array) -> Array:
    """Return what followed each token when it came last; −1 where it is new."""
    return np.asarray(_rule()(tokens))


def _offset(tokens: Array) -> Array:
    """Look back by a fixed distance: to where the first token comes again."""
    again = [t for t in range(1, len(tokens)) if tokens[t] == tokens[0]]
    found = np.full(len(tokens), -1)
    if again:
        for t in range(again[0], len(tokens)):
            found[t] = tokens[t - again[0] + 1]
    return found


def _peeking(tokens: Array) -> Array:
    """Look for the token anywhere, also later."""
    found = np.full(len(tokens), -1)
    for t in range(len(tokens)):
        places = [s for s in range(len(tokens) - 1) if tokens[s] == tokens[t] and s != t]
        if places:
            found[t] = tokens[places[-1] + 1]
    return found


def _place(tokens: Array) -> Array:
    found = np.full(len(tokens), -1)
    for t in range(len(tokens)):
        places = [s for s in range(t) if tokens[s] == tokens[t]]
        if places:
            found[t] = places[-1] + 1
    return found


def _most_often(*, first: bool) -> Callable[[Array], Array]:
    """Take the follower that came most often: of several the first one, or the smallest id."""

    def what_followed(tokens: Array) -> Array:
        found = np.full(len(tokens), -1)
        for t in range(len(tokens)):
            followers = [int(tokens[s + 1]) for s in range(t) if tokens[s] == tokens[t]]
            if followers:
                found[t] = max(followers if first else sorted(followers), key=followers.count)
        return found

    return what_followed


def draw(rng: np.random.Generator) -> tuple[Array]:
    """Return a row of tokens, some of which come again."""
    n = int(rng.integers(6, 14))
    return (rng.integers(1, 6, size=n),)


what_followed = Exercise(
    name="what_followed",
    kind="implement",
    difficulty=2,
    minutes=15,
    statement=(
        "Write the rule of an induction head, without any model. tokens is (length,), ids of 0 or more. For "
        "each position t, find the *latest* earlier position with the same token, and foretell the token that "
        "followed it there. Return an array (length,) of ids; −1 where the token hasn't come before."
    ),
    returns=("foretold",),
    reference=reference,
    cases=(
        Case("a period of two", (np.array([4, 7, 4, 7, 4]),)),
        Case("a period of three", (np.array([1, 2, 3, 1, 2, 3]),)),
        Case("no token twice", (np.array([3, 1, 2]),)),
        Case("two followers, the later one counts", (np.array([5, 1, 5, 2, 5]),)),
        Case("a token twice in a row", (np.array([6, 6, 2, 6]),)),
        Case("three followers", (np.array([5, 1, 5, 1, 5, 2, 5]),)),
        Case("one token", (np.array([9]),)),
        Case("a frequent follower, another one later", (np.array([5, 2, 5, 1, 5, 1, 5, 3, 5]),)),
        *random_cases(draw, 6, "random tokens"),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "the token itself instead of what followed it",
            _rule(after=0),
            "You found where it came before. What came after it there?",
        ),
        Misconception(
            "what came before it instead of what followed",
            lambda tokens: np.array(
                [
                    next(
                        (
                            tokens[s - 1] if s else -1
                            for s in range(t - 1, -1, -1)
                            if tokens[s] == tokens[t]
                        ),
                        -1,
                    )
                    for t in range(len(tokens))
                ]
            ),
            "You look one place to the left of where it came before.",
        ),
        Misconception(
            "the first time instead of the latest",
            _rule(latest=False),
            "A token may have come several times before. Which one does the task ask for?",
        ),
        Misconception(
            "one distance for all positions",
            _offset,
            "That is the shortcut of the model trained with one period. Look for the token, not for a place.",
        ),
        Misconception(
            "looking at later positions, too",
            _peeking,
            "A causal model can't see what comes after position t.",
        ),
        Misconception(
            "the place instead of the token",
            _place,
            "You return where the follower is. Which token is there?",
        ),
        Misconception(
            "the follower that came most often",
            _most_often(first=False),
            "That is a table of counts. The induction head looks at the latest place only.",
        ),
        Misconception(
            "the follower that came most often, of several the first one",
            _most_often(first=True),
            "You count followers. How many places does the task look at?",
        ),
        Misconception(
            "two places on instead of one",
            _rule(after=2),
            "Which token comes directly after the place that you found?",
        ),
        Misconception(
            "0 where the token is new",
            lambda tokens: np.where(reference(tokens) == -1, 0, reference(tokens)),
            "0 is an id. What does the task say for a token that is new?",
        ),
    ),
)
