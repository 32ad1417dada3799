"""Exercise: shapes and counts of multi-head attention, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (2, 8, 5, 7),
        "b": (2, 5, 512),
        "c": 8.0,
        "d": 32_768.0,
        "e": 262_144.0,
        "f": 560.0,
        "g": 13.0,
    }
)


predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=10,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, or a number. Your "
        "function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("shape of the weights", ("a",), "How many maps are there, and how large is each?"),
        Case("shape of the output", ("b",), "What does the output projection return?"),
        Case("divisor of the scores", ("c",), "Over how many products does one score sum?"),
        Case("weights of one head's query projection", ("d",), "What goes in, and what comes out?"),
        Case("weights of all heads' query projections", ("e",), "Put the heads side by side."),
        Case("numbers in all maps", ("f",), "Use your answer to question 'a'."),
        Case("a view without a transpose", ("g",), "Write the twelve numbers in a row first."),
    ),
    tolerance=0.001,
    secret=True,
    misconceptions=(
        Misconception(
            "one map for all heads",
            KEY.wrong("a", (2, 5, 7)),
            "Each head has weights of its own.",
        ),
        Misconception(
            "heads behind the queries",
            KEY.wrong("a", (2, 5, 8, 7)),
            "The last two axes are one map. The heads stand in front of it.",
        ),
        Misconception(
            "queries and keys exchanged in the map",
            KEY.wrong("a", (2, 8, 7, 5)),
            "A row of weights belongs to the one who asks.",
        ),
        Misconception(
            "output as wide as one head",
            KEY.wrong("b", (2, 5, 64)),
            "After the heads are put side by side, how wide is a row? And after the output projection?",
        ),
        Misconception(
            "one output for each key",
            KEY.wrong("b", (2, 7, 512)),
            "Who asks gets an answer.",
        ),
        Misconception(
            "heads still apart in the output",
            KEY.wrong("b", (2, 8, 5, 64)),
            "This is what the heads return. Two steps come after it.",
        ),
        Misconception(
            "divided by the root of the width of all heads",
            KEY.wrong("c", 512**0.5),
            "A score belongs to one head. How wide are the queries of one head?",
        ),
        Misconception(
            "divided by d_k, not by its root",
            KEY.wrong("c", 64.0),
            "You found the right width. What does the equation of attention do with it?",
        ),
        Misconception(
            "input cut into parts before the projection",
            KEY.wrong("d", 4_096.0),
            "A head's projection reads the whole word, not only a part of it.",
        ),
        Misconception(
            "the matrix of all heads taken for the one of a head",
            KEY.wrong("d", 262_144.0),
            "That is the matrix of all heads side by side. How many of its columns belong to one head?",
        ),
        Misconception(
            "input cut into parts, for all heads",
            KEY.wrong("e", 32_768.0),
            "That would be eight blocks of 64 × 64. Each head reads all 512 numbers.",
        ),
        Misconception(
            "a full matrix for each head",
            KEY.wrong("e", 8 * 262_144.0),
            "Each head's projection is narrow: 64 columns.",
        ),
        Misconception(
            "maps of one head only",
            KEY.wrong("f", 70.0),
            "There are as many maps as heads, for each sentence.",
        ),
        Misconception(
            "maps of one sentence only",
            KEY.wrong("f", 280.0),
            "The batch holds two sentences.",
        ),
        Misconception(
            "the numbers after a transpose",
            KEY.wrong("g", 21.0),
            "That would be right with a transpose. `view` leaves the numbers in their order.",
        ),
    ),
)
