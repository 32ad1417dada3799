"""Exercise: shapes and counts of models for sequences, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "memory with one vector",
        (2, 1, 512),
        "What does the encoder hand over for one sentence?",
        (
            Slip(
                (2, 7, 512),
                "one vector for each word",
                "This model has no attention. How many vectors pass through the narrow place?",
            ),
            Slip(
                (1, 1, 512),
                "one vector for the whole batch",
                "The batch holds two sentences. Do they share a memory?",
            ),
        ),
    ),
    "b": Question(
        "memory with attention",
        (2, 7, 512),
        "What does the encoder hand over for each word?",
        (
            Slip(
                (2, 5, 512),
                "one vector for each written word",
                "The memory is made by the encoder. Which words does it read?",
            ),
            Slip(
                (2, 1, 512),
                "one vector in spite of attention",
                "If there were one vector only, at what could the decoder look?",
            ),
        ),
    ),
    "c": Question(
        "shape of the weights",
        (2, 5, 7),
        "Who looks, and at what?",
        (
            Slip(
                (2, 7, 5),
                "rows and columns of the weights exchanged",
                "A row belongs to one look, and sums to 1. Who looks?",
            ),
            Slip(
                (2, 7, 7),
                "source words that look at each other",
                "That would be self-attention, of chapter 02. Here somebody else asks.",
            ),
        ),
    ),
    "d": Question(
        "weights of a GRU",
        1_572_864.0,
        "How many matrices are there, and how large is each?",
        (
            Slip(
                786_432.0,
                "the matrices of the state only",
                "The word is multiplied by matrices too.",
            ),
            Slip(
                524_288.0,
                "one pair of matrices",
                "That is a plain recurrent network. What do the gates need?",
            ),
            Slip(2_097_152.0, "an LSTM's matrices", "How many gates has a GRU?"),
        ),
    ),
    "e": Question(
        "steps that wait",
        20.0,
        "Which states need the one before?",
        (
            Slip(1.0, "all steps in parallel", "Can state 2 be computed before state 1 is known?"),
            Slip(
                400.0,
                "pairs instead of steps",
                "A recurrent network reads each word once. Pairs are what self-attention has.",
            ),
        ),
    ),
    "f": Question(
        "equal to a GRU",
        512.0,
        "Set the two counts equal, and divide by what both have.",
        (
            Slip(
                1_536.0,
                "projections left out",
                "Self-attention multiplies each word by four matrices before any pair meets.",
            ),
            Slip(
                1_024.0,
                "the LSTM's length for the GRU",
                "Which of the two has three pairs of matrices?",
            ),
        ),
    ),
    "g": Question(
        "equal to an LSTM",
        1_024.0,
        "One more pair of matrices than the GRU.",
        (
            Slip(
                512.0,
                "the GRU's length for the LSTM",
                "Which of the two has four pairs of matrices?",
            ),
            Slip(
                2_048.0,
                "projections left out, for the LSTM",
                "Pairs are not all that self-attention computes. What happens to each word before?",
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
    minutes=15,
    tolerance=0.001,
)
