"""Exercise: shapes and numbers with the paper's sizes, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (10, 64),
        "b": (10, 10),
        "c": (10, 64),
        "d": 400.0,
        "e": 8.0,
        "f": 98304.0,
        "g": 0.5,
        "h": (3, 7),
    }
)


predict_sizes = Exercise(
    name="predict_sizes",
    kind="predict",
    difficulty=1,
    minutes=10,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, or a number. "
        "Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("shape of the queries", ("a",), "How many words ask, and how wide is a query?"),
        Case("shape of the weights", ("b",), "Who asks whom?"),
        Case("shape of the output", ("c",), "What is averaged, and how many averages are there?"),
        Case("scores for 20 words", ("d",), "Each of them asks each of them."),
        Case("the divisor", ("e",), "Which width is it the root of?"),
        Case("learned numbers", ("f",), "Three matrices. How many numbers has one of them?"),
        Case("the same word twice", ("g",), "Equal words have equal keys."),
        Case("cross-attention", ("h",), "Rows belong to those who ask."),
    ),
    tolerance=0.001,
    secret=True,
    misconceptions=(
        Misconception(
            "queries as wide as the words",
            KEY.wrong("a", (10, 512)),
            "The projection makes the words narrower. How wide is what comes out of it?",
        ),
        Misconception(
            "the matrix taken for the queries",
            KEY.wrong("a", (512, 64)),
            "That is the shape of the matrix that makes the queries. How many words ask?",
        ),
        Misconception(
            "weights between words and numbers",
            KEY.wrong("b", (10, 64)),
            "A weight belongs to a pair of words. The 64 has disappeared in the dot product.",
        ),
        Misconception(
            "weights of one word only",
            KEY.wrong("b", (10,)),
            "That is one row. All ten words ask.",
        ),
        Misconception(
            "output as wide as the words",
            KEY.wrong("c", (10, 512)),
            "The words came in 512 wide, but values are averaged. Chapter 04 makes 512 again.",
        ),
        Misconception(
            "scores counted for each word once",
            KEY.wrong("d", 20.0),
            "That would be one score for each word. Count pairs.",
        ),
        Misconception(
            "each pair counted once",
            KEY.wrong("d", 210.0),
            "Looking isn't symmetric: A asks B, and B asks A, and the two scores differ.",
        ),
        Misconception(
            "no score for a word with itself",
            KEY.wrong("d", 380.0),
            "A word may look at itself too.",
        ),
        Misconception(
            "the root of the width of the words",
            KEY.wrong("e", 22.627417),
            "What is compared are queries and keys. How wide are these?",
        ),
        Misconception(
            "the width without its root",
            KEY.wrong("e", 64.0),
            "The variance of a score grows like the width; its typical size grows more slowly.",
        ),
        Misconception(
            "one matrix only",
            KEY.wrong("f", 32768.0),
            "That is one of the projections. How many are there?",
        ),
        Misconception(
            "square matrices",
            KEY.wrong("f", 786432.0),
            "The matrices aren't square: 512 numbers go in. How many come out?",
        ),
        Misconception(
            "all weight on itself",
            KEY.wrong("g", 1.0),
            "What differs between a word and its twin? Not the key.",
        ),
        Misconception(
            "weights of cross-attention turned round",
            KEY.wrong("h", (7, 3)),
            "The one who writes asks. Which number counts those who ask?",
        ),
        Misconception(
            "weights of cross-attention as a square",
            KEY.wrong("h", (3, 3)),
            "The source words are asked here, not the target words.",
        ),
    ),
)
