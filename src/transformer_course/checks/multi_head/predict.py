"""Exercise: shapes and counts of multi-head attention, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "shape of the weights",
        (2, 8, 5, 7),
        "How many maps are there, and how large is each?",
        (
            Slip((2, 5, 7), "one map for all heads", "Each head has weights of its own."),
            Slip(
                (2, 5, 8, 7),
                "heads behind the queries",
                "The last two axes are one map. The heads come in front of it.",
            ),
            Slip(
                (2, 8, 7, 5),
                "queries and keys exchanged in the map",
                "A row of weights belongs to the one who asks.",
            ),
        ),
    ),
    "b": Question(
        "shape of the output",
        (2, 5, 512),
        "What does the output projection return?",
        (
            Slip(
                (2, 5, 64),
                "output as wide as one head",
                "After the heads are put side by side, how wide is a row? And after the output projection?",
            ),
            Slip((2, 7, 512), "one output for each key", "Each word that asks gets one answer."),
            Slip(
                (2, 8, 5, 64),
                "heads still apart in the output",
                "This is what the heads return. Two steps come after it.",
            ),
        ),
    ),
    "c": Question(
        "divisor of the scores",
        8.0,
        "Over how many products does one score sum?",
        (
            Slip(
                512**0.5,
                "divided by the root of the width of all heads",
                "A score belongs to one head. How wide are the queries of one head?",
            ),
            Slip(
                64.0,
                "divided by d_k, not by its root",
                "You found the right width. What does the equation of attention do with it?",
            ),
        ),
    ),
    "d": Question(
        "weights of one head's query projection",
        32_768.0,
        "What goes in, and what comes out?",
        (
            Slip(
                4_096.0,
                "input cut into parts before the projection",
                "A head's projection reads the whole word, not only a part of it.",
            ),
            Slip(
                262_144.0,
                "the matrix of all heads taken for the one of a head",
                "That is the matrix of all heads side by side. How many of its columns belong to one head?",
            ),
            Slip(
                32_832.0,
                "biases counted, in one head",
                "Your number holds the biases, too. Read again what the question counts.",
            ),
        ),
    ),
    "e": Question(
        "weights of all heads' query projections",
        262_144.0,
        "Put the heads side by side.",
        (
            Slip(
                32_768.0,
                "input cut into parts, for all heads",
                "That would be eight blocks of 64 × 64. Each head reads all 512 numbers.",
            ),
            Slip(
                8 * 262_144.0,
                "a full matrix for each head",
                "Each head's projection is narrow: 64 columns.",
            ),
            Slip(
                262_656.0,
                "biases counted, in all heads",
                "Your number holds the biases of all heads, too. Does the question count them?",
            ),
        ),
    ),
    "f": Question(
        "numbers in all maps",
        560.0,
        "Use your answer to question 'a'.",
        (
            Slip(
                70.0, "maps of one head only", "There are as many maps as heads, for each sentence."
            ),
            Slip(280.0, "maps of one sentence only", "The batch holds two sentences."),
        ),
    ),
    "g": Question(
        "a view without a transpose",
        13.0,
        "Write the twelve numbers in a row first.",
        (
            Slip(
                21.0,
                "the numbers after a transpose",
                "That would be right with a transpose. `view` leaves the numbers in their order.",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, or a number. Your "
        "function gets the letter of a question and returns your answer."
    ),
    minutes=10,
    tolerance=0.001,
)
