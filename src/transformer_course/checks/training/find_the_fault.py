"""Exercise: five trainings, each with one fault in its code. Which fault has which?"""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey({"a": 3.0, "b": 5.0, "c": 1.0, "d": 4.0, "e": 2.0})
_LOOK = "Run the checks again, and compare each line with the line of a healthy training. "

find_the_fault = Exercise(
    name="find_the_fault",
    kind="spot the bug",
    difficulty=3,
    minutes=35,
    statement=(
        "Five trainings don't do what they should. Each has one fault, and you have the code of each. Use the "
        "five checks, then read the code, and say which fault it is. Your function gets the letter of a "
        "patient and returns the number of its fault."
    ),
    returns=("fault",),
    reference=KEY.question,
    cases=(
        Case("patient a", ("a",), _LOOK + "What arrives where?"),
        Case("patient b", ("b",), _LOOK + "What does this model learn from random targets?"),
        Case("patient c", ("c",), _LOOK + "Which line is wrong before the first update?"),
        Case("patient d", ("d",), _LOOK + "Who may look where?"),
        Case("patient e", ("e",), _LOOK + "What happens to the gradients between two lines?"),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "patient a: weights that never move",
            KEY.wrong("a", 2.0),
            "Its loss falls, so some weights do move. Which part of the model is left out?",
        ),
        Misconception(
            "patient a: gradients added up",
            KEY.wrong("a", 8.0),
            "Its updates are the usual ones. Follow the gradient backwards through the code, line by line.",
        ),
        Misconception(
            "patient b: the decoder sees the future",
            KEY.wrong("b", 4.0),
            "A later token changes nothing here. What is the model compared with?",
        ),
        Misconception(
            "patient b: padding counted",
            KEY.wrong("b", 6.0),
            "More padding doesn't change its loss. Write down one target, what is read of it and what must be "
            "said.",
        ),
        Misconception(
            "patient c: weights that never move",
            KEY.wrong("c", 2.0),
            "The trouble is there before anything has moved.",
        ),
        Misconception(
            "patient c: gradients added up",
            KEY.wrong("c", 8.0),
            "Before the first update there is nothing to add up yet, and the first loss is wrong already.",
        ),
        Misconception(
            "patient d: labels not shifted",
            KEY.wrong("d", 5.0),
            "What is read and what must be said are shifted as they should be. Who may look at whom?",
        ),
        Misconception(
            "patient d: the source's padding can be read",
            KEY.wrong("d", 7.0),
            "More padding behind the source changes nothing here. Change the last token of a target, and see "
            "what follows.",
        ),
        Misconception(
            "patient e: the encoder gets no gradient",
            KEY.wrong("e", 3.0),
            "Gradients arrive everywhere. Is each of them still there when it is used?",
        ),
        Misconception(
            "patient e: gradients added up",
            KEY.wrong("e", 8.0),
            "If they were added up, the loss would change. Does it?",
        ),
    ),
)
