"""Exercise: shapes and counts of models for sequences, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (2, 1, 512),
        "b": (2, 7, 512),
        "c": (2, 5, 7),
        "d": 1_572_864.0,
        "e": 20.0,
        "f": 512.0,
        "g": 1_024.0,
    }
)


predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=15,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, or a number. Your "
        "function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("memory with one vector", ("a",), "What does the encoder hand over for one sentence?"),
        Case("memory with attention", ("b",), "What does the encoder hand over for each word?"),
        Case("shape of the weights", ("c",), "Who looks, and at what?"),
        Case("weights of a GRU", ("d",), "How many matrices are there, and how large is each?"),
        Case("steps that wait", ("e",), "Which states need the one before?"),
        Case("equal to a GRU", ("f",), "Set the two counts equal, and divide by what both have."),
        Case("equal to an LSTM", ("g",), "One more pair of matrices than the GRU."),
    ),
    tolerance=0.001,
    secret=True,
    misconceptions=(
        Misconception(
            "one vector for each word",
            KEY.wrong("a", (2, 7, 512)),
            "This model has no attention. How many vectors pass through the narrow place?",
        ),
        Misconception(
            "one vector for the whole batch",
            KEY.wrong("a", (1, 1, 512)),
            "The batch holds two sentences. Do they share a memory?",
        ),
        Misconception(
            "one vector for each written word",
            KEY.wrong("b", (2, 5, 512)),
            "The memory is made by the encoder. Which words does it read?",
        ),
        Misconception(
            "one vector in spite of attention",
            KEY.wrong("b", (2, 1, 512)),
            "If there were one vector only, at what could the decoder look?",
        ),
        Misconception(
            "rows and columns of the weights exchanged",
            KEY.wrong("c", (2, 7, 5)),
            "A row belongs to one look, and sums to 1. Who looks?",
        ),
        Misconception(
            "source words that look at each other",
            KEY.wrong("c", (2, 7, 7)),
            "That would be self-attention, of chapter 02. Here somebody else asks.",
        ),
        Misconception(
            "the matrices of the state only",
            KEY.wrong("d", 786_432.0),
            "The word is multiplied by matrices too.",
        ),
        Misconception(
            "one pair of matrices",
            KEY.wrong("d", 524_288.0),
            "That is a plain recurrent network. What do the gates need?",
        ),
        Misconception(
            "an LSTM's matrices",
            KEY.wrong("d", 2_097_152.0),
            "How many gates has a GRU?",
        ),
        Misconception(
            "all steps in parallel",
            KEY.wrong("e", 1.0),
            "Can state 2 be computed before state 1 is known?",
        ),
        Misconception(
            "pairs instead of steps",
            KEY.wrong("e", 400.0),
            "A recurrent network reads each word once. Pairs are what self-attention has.",
        ),
        Misconception(
            "projections left out",
            KEY.wrong("f", 1_536.0),
            "Self-attention multiplies each word by four matrices before any pair meets.",
        ),
        Misconception(
            "the LSTM's length for the GRU",
            KEY.wrong("f", 1_024.0),
            "Which of the two has three pairs of matrices?",
        ),
        Misconception(
            "the GRU's length for the LSTM",
            KEY.wrong("g", 512.0),
            "Which of the two has four pairs of matrices?",
        ),
        Misconception(
            "projections left out, for the LSTM",
            KEY.wrong("g", 2_048.0),
            "Pairs are not all that self-attention computes. What happens to each word before?",
        ),
    ),
)
