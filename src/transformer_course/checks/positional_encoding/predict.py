"""Exercise: numbers of positions, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": 18.0,
        "b": 256.0,
        "c": 255.0,
        "d": 10.0,
        "e": 8.0,
        "f": 27.0,
        "g": (20, 512),
        "h": 7.0,
    }
)


predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=10,
    statement=(
        "Answer with pencil and paper, before you run any code: a number, or a shape as a tuple. "
        "Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("the sum of position 0", ("a",), "What are sin 0 and cos 0?"),
        Case("the number of pairs", ("b",), "How many dimensions has a pair?"),
        Case("the last i", ("c",), "From which number does i count?"),
        Case("a divisor", ("d",), "Which pair do dimensions 2 and 3 belong to?"),
        Case("the norm of a row", ("e",), "What does each pair add to the square of the norm?"),
        Case("an equal dot product", ("f",), "On what alone do dot products depend?"),
        Case("the part of the table that is added", ("g",), "How many words has a sentence?"),
        Case("the angle of a step", ("h",), "By how much does pair 0 turn at each position?"),
    ),
    tolerance=0.001,
    secret=True,
    misconceptions=(
        Misconception(
            "position 0 taken for zeros",
            KEY.wrong("a", 0.0),
            "The sines are right. What is the cosine of 0?",
        ),
        Misconception(
            "one pair only",
            KEY.wrong("a", 1.0),
            "How many pairs has a row of this width?",
        ),
        Misconception(
            "position 0 taken for ones",
            KEY.wrong("a", 36.0),
            "The cosines are right. What is the sine of 0?",
        ),
        Misconception(
            "the code of position 1",
            KEY.wrong("a", 19.5588),
            "That is the position of the second word.",
        ),
        Misconception(
            "a pair for each dimension",
            KEY.wrong("b", 512.0),
            "A wave has a sine and a cosine. How many dimensions does it fill?",
        ),
        Misconception(
            "i counted from 1",
            KEY.wrong("c", 256.0),
            "Which dimensions would belong to this i? Do they exist?",
        ),
        Misconception(
            "i taken for the number of a dimension",
            KEY.wrong("c", 511.0),
            "That is the last dimension. How many pairs are there?",
        ),
        Misconception(
            "the divisor of another pair or width",
            KEY.wrong("d", 100.0),
            "It would be right for the next pair, or for half the width. Pairs count from 0.",
        ),
        Misconception(
            "exponent i / d, not 2i / d",
            KEY.wrong("d", 10_000 ** (1 / 8)),
            "The pair is right. Write down the exponent of the equation once more.",
        ),
        Misconception(
            "the root of the width",
            KEY.wrong("e", 128**0.5),
            "Each *pair* adds 1 to the square of the norm, not each dimension.",
        ),
        Misconception(
            "the square of the norm",
            KEY.wrong("e", 64.0),
            "You found the square of the norm.",
        ),
        Misconception(
            "sums of positions compared",
            KEY.wrong("f", 13.0),
            "Equal are not the sums of the two positions. Compare how far they are apart.",
        ),
        Misconception(
            "the offset itself",
            KEY.wrong("f", 7.0),
            "That is how far apart the first two are. Where does the other pair begin?",
        ),
        Misconception(
            "a table for each sentence",
            KEY.wrong("g", (8, 20, 512)),
            "All sentences of a batch get the same positions.",
        ),
        Misconception(
            "the whole table",
            KEY.wrong("g", (5000, 512)),
            "How many rows of the table does a sentence of 20 words need?",
        ),
        Misconception(
            "one number for each position",
            KEY.wrong("g", (20,)),
            "A position has a whole vector.",
        ),
        Misconception(
            "a full turn for each position",
            KEY.wrong("h", 7 * 2 * 3.14159265),
            "A full turn of pair 0 takes about 6.28 positions.",
        ),
        Misconception(
            "the place added to the step",
            KEY.wrong("h", 47.0),
            "That is the angle of position 47 itself. How much of it is the step?",
        ),
    ),
)
