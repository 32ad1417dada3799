"""Exercise: numbers of positions, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "the sum of position 0",
        18.0,
        "What are sin 0 and cos 0?",
        (
            Slip(
                0.0, "position 0 taken for zeros", "The sines are right. What is the cosine of 0?"
            ),
            Slip(1.0, "one pair only", "How many pairs has a row of this width?"),
            Slip(
                36.0, "position 0 taken for ones", "The cosines are right. What is the sine of 0?"
            ),
            Slip(19.5588, "the code of position 1", "That is the position of the second word."),
        ),
    ),
    "b": Question(
        "the number of pairs",
        256.0,
        "How many dimensions has a pair?",
        (
            Slip(
                512.0,
                "a pair for each dimension",
                "A wave has a sine and a cosine. How many dimensions does it fill?",
            ),
        ),
    ),
    "c": Question(
        "the last i",
        255.0,
        "From which number does i count?",
        (
            Slip(
                256.0, "i counted from 1", "Which dimensions would belong to this i? Do they exist?"
            ),
            Slip(
                511.0,
                "i taken for the number of a dimension",
                "That is the last dimension. How many pairs are there?",
            ),
        ),
    ),
    "d": Question(
        "a divisor",
        10.0,
        "Which pair do dimensions 2 and 3 belong to?",
        (
            Slip(
                100.0,
                "the divisor of another pair or width",
                "It would be right for the next pair, or for half the width. Pairs count from 0.",
            ),
            Slip(
                10_000 ** (1 / 8),
                "exponent i / d, not 2i / d",
                "The pair is right. Write down the exponent of the equation once more.",
            ),
        ),
    ),
    "e": Question(
        "the norm of a row",
        8.0,
        "What does each pair add to the square of the norm?",
        (
            Slip(
                128**0.5,
                "the root of the width",
                "Each *pair* adds 1 to the square of the norm, not each dimension.",
            ),
            Slip(64.0, "the square of the norm", "You found the square of the norm."),
        ),
    ),
    "f": Question(
        "an equal dot product",
        27.0,
        "On what alone do dot products depend?",
        (
            Slip(
                13.0,
                "sums of positions compared",
                "Equal are not the sums of the two positions. Compare how far they are apart.",
            ),
            Slip(
                7.0,
                "the offset itself",
                "That is how far apart the first two are. Where does the other pair begin?",
            ),
        ),
    ),
    "g": Question(
        "the part of the table that is added",
        (20, 512),
        "How many words has a sentence?",
        (
            Slip(
                (8, 20, 512),
                "a table for each sentence",
                "All sentences of a batch get the same positions.",
            ),
            Slip(
                (5000, 512),
                "the whole table",
                "How many rows of the table does a sentence of 20 words need?",
            ),
            Slip((20,), "one number for each position", "A position has a whole vector."),
        ),
    ),
    "h": Question(
        "the angle of a step",
        7.0,
        "By how much does pair 0 turn at each position?",
        (
            Slip(
                7 * 2 * 3.14159265,
                "a full turn for each position",
                "A full turn of pair 0 takes about 6.28 positions.",
            ),
            Slip(
                47.0,
                "the place added to the step",
                "That is the angle of position 47 itself. How much of it is the step?",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a number, or a shape as a tuple. "
        "Your function gets the letter of a question and returns your answer."
    ),
    minutes=10,
    tolerance=0.001,
)
