"""Exercise: find three mistakes in a beam search."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.decoding.tables import Array, search, some_table
from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases


def reference(table: Array, beam: int, max_len: int, alpha: float) -> Array:
    """Return the ids of the best hypothesis."""
    return search(table, beam, max_len, alpha)


def _with(**mistakes: bool) -> Callable[[Array, int, int, float], Array]:
    """Return the search with some of the mistakes."""
    return lambda table, beam, max_len, alpha: search(table, beam, max_len, alpha, **mistakes)


def _without_zeros(ids: Array) -> Array:
    return ids[ids != 0]


def draw(rng: np.random.Generator) -> tuple[Array, int, int, float]:
    """Return a model, a beam, the most words, and the strength of the penalty."""
    table = some_table(rng, int(rng.integers(4, 7)))
    alpha = float(rng.choice([0.0, 1.0, 2.0, 4.0]))
    return table, int(rng.integers(2, 6)), int(rng.integers(5, 9)), alpha


def _words(*rows: list[float]) -> Array:
    return np.log(np.array(rows))


# end, a, i, am, student
_BY_HAND = _words(
    [0.001, 0.55, 0.444, 0.002, 0.003],
    [0.3, 0.01, 0.05, 0.04, 0.6],
    [0.05, 0.02, 0.01, 0.9, 0.02],
    [0.2, 0.6, 0.05, 0.05, 0.1],
    [0.9, 0.04, 0.02, 0.02, 0.02],
)
_CLOSE = _words([0.01, 0.98, 0.01], [0.5, 0.01, 0.49], [0.98, 0.01, 0.01])
# The longer sentence has 1.151 times the sum of the shorter one, and 1.132 times; the penalties are as 8 to 7.
_SHORTER_WINS = _words([0.01, 0.98, 0.01], [0.5155, 0.01, 0.4745], [0.98, 0.01, 0.01])
_LONGER_WINS = _words([0.01, 0.98, 0.01], [0.5125, 0.01, 0.4775], [0.98, 0.01, 0.01])
# The longer sentence has the higher sum too, by so little that a multiplied penalty would turn it round.
_LONGER_ANYWAY = _words([0.01, 0.98, 0.01], [0.48, 0.01, 0.51], [0.98, 0.01, 0.01])
_TWICE = _words(
    [0.01, 0.79, 0.1, 0.1], [0.05, 0.05, 0.46, 0.44], [0.3, 0.3, 0.2, 0.2], [0.97, 0.01, 0.01, 0.01]
)
_SOME = "two mistakes are left: "
_TWO = "You have found one of the three. Which lines have you not looked at yet?"

best_of_beam = Exercise(
    name="best_of_beam",
    kind="spot the bug",
    difficulty=3,
    minutes=30,
    statement=(
        "The function below is a beam search in a model of one table: table[i, j] is the log-probability of "
        "word j after word i; word 0 is the end of a sentence, and its row says how sentences begin. At each "
        "step the beam best continuations of all are kept; those that end are finished, the others go on. "
        "(In the chapter, the place of a finished one goes to another beginning. Here it stays empty; this is "
        "no mistake.) After max_len steps, or when nothing goes on, it returns the ids of the finished "
        "hypothesis with the best score, as one array: the sum divided by the length penalty, ((5 + length) / "
        "6)^alpha, in which the 0 at the end counts as a word. (If none is finished: of the best open one.) "
        "It runs, and it holds three mistakes. "
        "Write it without them."
    ),
    returns=("ids",),
    reference=reference,
    cases=(
        Case("i am a student", (_BY_HAND, 2, 6, 0.6)),
        Case("the penalty decides", (_CLOSE, 2, 5, 1.0)),
        Case("the same without a penalty", (_CLOSE, 2, 5, 0.0)),
        Case("a close race, the shorter one wins", (_SHORTER_WINS, 2, 5, 1.0)),
        Case("a close race, the longer one wins", (_LONGER_WINS, 2, 5, 1.0)),
        Case("the longer one has the higher sum too", (_LONGER_ANYWAY, 2, 5, 1.0)),
        Case("one beginning goes on twice", (_TWICE, 2, 5, 0.0)),
        Case("a beam of one", (_BY_HAND, 1, 6, 0.6)),
        Case("the limit comes first", (_BY_HAND, 2, 2, 0.6)),
        *random_cases(draw, 8),
        *(
            Case("random numbers, a penalty that decides", draw(np.random.default_rng([3, seed])))
            for seed in (21, 51, 92, 162, 209)
        ),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "one mistake is left: who may go on",
            _with(one_each=True),
            "Can one beginning go on twice, and another one die? In your search, who competes with whom?",
        ),
        Misconception(
            "one mistake is left: who may end",
            _with(first_only=True),
            "Two sentences can end in the same step. What becomes of the second one in yours?",
        ),
        Misconception(
            "one mistake is left: the score",
            _with(by_sum=True),
            "Compare with a strong length penalty: does alpha change your answer?",
        ),
        Misconception(
            "one mistake is left: the plain length in the penalty",
            _with(plain_length=True),
            "You divide by a power of the length. The formula of the task has two more numbers.",
        ),
        Misconception(
            "one mistake is left: the 0 at the end isn't counted",
            _with(end_free=True),
            "How many words has a sentence, when the 0 at its end counts as one?",
        ),
        Misconception(
            "a beam of one, whatever is asked for",
            lambda table, beam, max_len, alpha: search(table, 1, max_len, alpha),
            "Where do you use `beam`? Yours is greedy decoding.",
        ),
        Misconception(
            "the end cut off",
            lambda table, beam, max_len, alpha: _without_zeros(search(table, beam, max_len, alpha)),
            "You found the right sentence. Its 0 belongs to its ids.",
        ),
        Misconception(
            "one mistake is left: the sum is multiplied by the length penalty",
            _with(multiplied=True),
            "Log-probabilities are negative. Which way does a sum move when it is multiplied by a number "
            "above 1, and whom should the penalty help?",
        ),
        Misconception(
            "one mistake is left: the search stops at the first finished one",
            _with(hasty=True),
            "Yours is the first sentence that ended. Others were open then: may one of them score higher?",
        ),
        Misconception(
            "one mistake is left: the place of a finished one is filled",
            _with(refilled=True),
            "You keep as many open beginnings as before, when one is finished. Does the task say so, too?",
        ),
        Misconception(
            "one mistake is left: one word too few of each beginning",
            _with(fewer=True, at_least_one=True),
            "All that is kept may come from one beginning. How many of its words do you look at?",
        ),
        Misconception(
            "one mistake is left: one word too few of each beginning, none if the beam is one",
            _with(fewer=True),
            "With a beam of one, nothing goes on in your search. How many words of a beginning do you look "
            "at, and how many may be kept?",
        ),
        Misconception(
            _SOME + "who may go on, and who may end",
            _with(one_each=True, first_only=True),
            _TWO + " Follow one step with a pencil: which continuations are compared?",
        ),
        Misconception(
            _SOME + "who may go on, and the score",
            _with(one_each=True, by_sum=True),
            _TWO + " Try a beam of 5 with and without a length penalty.",
        ),
        Misconception(
            _SOME + "who may end, and the score",
            _with(first_only=True, by_sum=True),
            _TWO + " Try a strong length penalty: which sentence should win?",
        ),
        Misconception(
            "nothing is mended yet",
            _with(one_each=True, first_only=True, by_sum=True),
            "This gives the same answers as the function with the mistakes. Take the by-hand example of the "
            "chapter, and follow it line by line.",
        ),
    ),
)
