"""A *predict* exercise as data: questions known by a letter, each with its answer and likely wrong ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception


@dataclass(frozen=True)
class Slip:
    """A likely wrong answer.

    Args:
        answer: what is answered.
        name: what was done, in a few words: "the ratio instead of the share".
        hint: what to think about; never the answer.
    """

    answer: Any
    name: str
    hint: str


@dataclass(frozen=True)
class Question:
    """A question whose text is in the notebook.

    Args:
        about: what it asks for, in a few words.
        answer: the right answer, a number with a decimal point or a shape.
        nudge: a question that helps whoever gives an answer that is no likely one.
        slips: likely wrong answers, the likeliest first.
    """

    about: str
    answer: Any
    nudge: str
    slips: tuple[Slip, ...]


def predict_exercise(
    questions: Mapping[str, Question],
    statement: str,
    minutes: int,
    tolerance: float,
    difficulty: int = 1,
) -> Exercise:
    """Return the exercise `predict` of a chapter.

    Args:
        questions: letter → question, in their order.
        statement: the task, as the notebook states it.
        minutes: how long it takes.
        tolerance: largest difference from a right number that passes, relative to its size.
        difficulty: 1 to 3.

    Returns:
        The exercise. The learner's function gets a letter and returns the answer.

    >>> ask = Question("an ant", 6.0, "Count them.", (Slip(8.0, "a spider's", "Is an ant a spider?"),))
    >>> exercise = predict_exercise({"a": ask}, "How many legs?", minutes=1, tolerance=0.01)
    >>> report = exercise(lambda question: 8)
    predict. Not yet right: Question 'a': a spider's.
    Hint: Is an ant a spider?
    """
    key = AnswerKey({letter: question.answer for letter, question in questions.items()})
    return Exercise(
        name="predict",
        kind="predict",
        difficulty=difficulty,
        minutes=minutes,
        statement=statement,
        returns=("answer",),
        reference=key.question,
        cases=tuple(
            Case(question.about, (letter,), question.nudge)
            for letter, question in questions.items()
        ),
        misconceptions=tuple(
            Misconception(slip.name, key.wrong(letter, slip.answer), slip.hint)
            for letter, question in questions.items()
            for slip in question.slips
        ),
        tolerance=tolerance,
        secret=True,
    )
