"""Exercise: find the mistake in the choice of a setting."""

from collections.abc import Callable

import numpy as np

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases

Scores = dict[float, float]
Chosen = tuple[float, float]


def reference(valid: Scores, test: Scores) -> Chosen:
    """Return the setting that is best on the validation set, and its score on the test set."""
    setting = max(valid, key=lambda s: valid[s])
    return setting, test[setting]


def _by(score: Callable[[Scores, Scores, float], object]) -> Callable[[Scores, Scores], Chosen]:
    """Return a choice by something else, reported with its score on the test set."""

    def wrong(valid: Scores, test: Scores) -> Chosen:
        setting = max(valid, key=lambda s: score(valid, test, s))  # type: ignore[arg-type, return-value]
        return setting, test[setting]

    return wrong


def _by_test_scored_on_valid(valid: Scores, test: Scores) -> Chosen:
    setting = max(test, key=lambda s: test[s])
    return setting, valid[setting]


def _half_repaired(valid: Scores, test: Scores) -> Chosen:
    """Compare each score of the validation set with the last choice's score on the test set."""
    setting, score = 0.0, -1.0
    for tried in valid:
        if valid[tried] > score:
            setting, score = tried, test[tried]
    return setting, score


def _first_in_test(valid: Scores, test: Scores) -> Chosen:
    setting = max(test, key=lambda s: valid[s])
    return setting, test[setting]


def _last_of_equals(valid: Scores, test: Scores) -> Chosen:
    return reference(dict(reversed(valid.items())), test)


def _same_place(valid: Scores, test: Scores) -> Chosen:
    setting, _ = reference(valid, test)
    return setting, list(test.values())[list(valid).index(setting)]


def draw(rng: np.random.Generator) -> tuple[Scores, Scores]:
    """Return the scores of a few settings: two orders, and on the validation set some are equal."""
    settings = [
        float(s) for s in rng.choice(np.arange(1, 16), size=int(rng.integers(3, 7)), replace=False)
    ]
    order, other_order = rng.permutation(settings), rng.permutation(settings)
    valid = {float(s) / 10: int(rng.integers(380, 384)) / 10 for s in order}
    tenths = rng.choice(np.arange(376, 388), size=len(settings), replace=False)
    return valid, {float(s) / 10: int(t) / 10 for s, t in zip(other_order, tenths, strict=True)}


choose_and_report = Exercise(
    name="choose_and_report",
    kind="spot the bug",
    difficulty=2,
    minutes=10,
    statement=(
        "The function below chooses a setting, say the strength of the length penalty, and returns it with the "
        "score that goes into the report. valid and test are dictionaries: setting (a number) to BLEU on the "
        "validation set, and setting to BLEU on the test set, with the same settings. The function runs, and "
        "its scores look good, but nobody should believe them. Write it without its mistake. It still returns "
        "two numbers, the setting and its score for the report; of equally good settings it chooses the first "
        "one in the order of valid."
    ),
    returns=("setting", "score"),
    reference=reference,
    cases=(
        Case(
            "the two sets disagree",
            ({0.0: 38.1, 0.6: 38.9, 1.0: 38.4}, {0.0: 37.6, 0.6: 37.5, 1.0: 38.2}),
        ),
        Case(
            "the best sum is another one",
            ({0.0: 39.0, 0.6: 38.8, 1.0: 37.0}, {0.0: 36.0, 0.6: 37.9, 1.0: 38.0}),
        ),
        Case("two equally good settings", ({0.6: 38.5, 0.3: 38.5}, {0.6: 37.2, 0.3: 37.4})),
        Case("the larger one comes first", ({1.0: 38.5, 0.3: 38.5}, {1.0: 37.4, 0.3: 37.2})),
        Case("the smaller one comes first", ({0.3: 38.5, 1.0: 38.5}, {0.3: 37.2, 1.0: 37.4})),
        Case(
            "another order in test",
            ({0.0: 38.0, 0.5: 38.6, 1.0: 38.2}, {1.0: 37.9, 0.0: 37.7, 0.5: 37.8}),
        ),
        Case(
            "two equally good settings, and another order in test",
            ({0.6: 38.5, 0.3: 38.0, 1.0: 38.5}, {1.0: 37.2, 0.3: 37.6, 0.6: 37.1}),
        ),
        Case("one setting", ({0.6: 38.5}, {0.6: 37.2})),
        Case(
            "nothing is right on the validation set", ({0.6: 0.0, 0.3: 0.0}, {0.6: 0.0, 0.3: 0.1})
        ),
        *random_cases(draw, 8),
    ),
    draw=draw,
    misconceptions=(
        Misconception(
            "chosen on the test set",
            _by(lambda valid, test, s: test[s]),
            "The function with the mistake does the same. With a hundred settings, how much of the best score "
            "would be luck?",
        ),
        Misconception(
            "a score of one set compared with a score of the other",
            _half_repaired,
            "Write down for each step which two numbers are compared. Are they BLEU on the same sentences?",
        ),
        Misconception(
            "a test score compared with a score of the validation set",
            lambda valid, test: _half_repaired(dict.fromkeys(valid) | test, valid),
            "In each step you compare two numbers. On which sentences was each of them measured?",
        ),
        Misconception(
            "chosen on the test set, reported on the validation set",
            _by_test_scored_on_valid,
            "The two sets have exchanged their jobs. Which set may be looked at often, and which only once?",
        ),
        Misconception(
            "the score of the validation set reported",
            lambda valid, test: (reference(valid, test)[0], max(valid.values())),
            "This score was chosen because it is high. Which sentences had no part in the choice?",
        ),
        Misconception(
            "the best test score, reported for another setting",
            lambda valid, test: (reference(valid, test)[0], max(test.values())),
            "Your setting is right. Does your score belong to it?",
        ),
        Misconception(
            "chosen by both sets together",
            _by(lambda valid, test, s: valid[s] + test[s]),
            "What has a say in the choice can't judge it afterwards. Which set should have no say?",
        ),
        Misconception(
            "ties broken on the test set",
            _by(lambda valid, test, s: (valid[s], test[s])),
            "Two settings are equally good on the validation set. What decides between them, in your function?",
        ),
        Misconception(
            "the first of equals in the order of test",
            _first_in_test,
            "Two settings are equally good on the validation set. Whose order should decide, and whose does?",
        ),
        Misconception(
            "the last of equals",
            _last_of_equals,
            "Two settings are equally good on the validation set. Which of them comes first there?",
        ),
        Misconception(
            "the smallest of equals",
            _by(lambda valid, test, s: (valid[s], -s)),
            "Two settings are equally good on the validation set. Is the smaller one always the first one?",
        ),
        Misconception(
            "the largest of equals",
            _by(lambda valid, test, s: (valid[s], s)),
            "Two settings are equally good on the validation set. Is the larger one always the first one?",
        ),
        Misconception(
            "the lowest score",
            _by(lambda valid, test, s: -valid[s]),
            "A loss should be low. And BLEU?",
        ),
        Misconception(
            "the largest setting",
            _by(lambda valid, test, s: s),
            "You compare the settings with each other. What should be compared?",
        ),
        Misconception(
            "the score at the same place",
            _same_place,
            "Do the two dictionaries list their settings in the same order? Look up a score by its "
            "setting, not by its place.",
        ),
        Misconception(
            "score and setting exchanged",
            lambda valid, test: reference(valid, test)[::-1],
            "The right two numbers, in the wrong order. Which one comes first?",
        ),
    ),
)
