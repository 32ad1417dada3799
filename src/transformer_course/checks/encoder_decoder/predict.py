"""Exercise: shapes and counts of the whole model, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "shape of the memory",
        (2, 7, 512),
        "How many vectors does the encoder give, and how wide?",
        (
            Slip(
                (2, 5, 512),
                "memory as long as the target",
                "The encoder has never seen the target.",
            ),
            Slip(
                (2, 512),
                "the memory taken for one vector a sentence",
                "That is the bottleneck of older models. What does the cross-attention look at?",
            ),
        ),
    ),
    "b": Question(
        "shape of the weights of a cross-attention",
        (2, 8, 5, 7),
        "Who asks whom?",
        (
            Slip(
                (2, 8, 7, 5),
                "queries and keys exchanged in the cross-attention",
                "A row of weights belongs to the one who asks. Is that the source or the target?",
            ),
            Slip(
                (2, 8, 5, 5),
                "the weights of the decoder's self-attention",
                "In the cross-attention the keys come from elsewhere.",
            ),
            Slip(
                (2, 8, 7, 7),
                "the weights of the encoder's self-attention",
                "In the cross-attention the queries come from elsewhere.",
            ),
            Slip((2, 5, 7), "one set of weights for all heads", "Each head has a map of its own."),
        ),
    ),
    "c": Question(
        "shape of the scores at the end",
        (2, 5, 37_000),
        "Which scores does each target position get?",
        (
            Slip(
                (2, 5, 512),
                "decoder states instead of scores",
                "There is one more step after the decoder. How wide is what it gives?",
            ),
            Slip(
                (2, 7, 37_000),
                "scores for the source positions",
                "Which positions is something predicted for?",
            ),
            Slip(
                (2, 37_000),
                "scores for the last position only",
                "In training every position of the target predicts its next token.",
            ),
        ),
    ),
    "d": Question(
        "numbers in a feed-forward net",
        2_099_712.0,
        "Two matrices and two biases.",
        (
            Slip(
                2_097_152.0,
                "biases left out",
                "Your matrices are right. Equation 2 has two vectors more.",
            ),
            Slip(1_048_576.0, "one matrix only", "There and back: how many maps has the net?"),
            Slip(
                512 * 2048 + 2048 * 2048 + 2048 * 512 + 2048.0 * 2 + 512,
                "three layers",
                "Count the matrices of equation 2.",
            ),
        ),
    ),
    "e": Question(
        "number of layer norms",
        30.0,
        "Count the sums of one layer of each kind.",
        (
            Slip(
                24.0,
                "as many norms in a decoder layer as in an encoder layer",
                "A decoder layer has one more sub-layer. So how many sums?",
            ),
            Slip(12.0, "norms of one stack only", "There are two stacks."),
        ),
    ),
    "f": Question(
        "number of attentions",
        18.0,
        "How many are there in a layer of each kind?",
        (
            Slip(
                12.0,
                "one attention in each layer",
                "A decoder layer looks round, and it also looks elsewhere.",
            ),
            Slip(
                144.0,
                "heads counted as attentions",
                "Heads are parts of one attention. Count the attentions.",
            ),
        ),
    ),
    "g": Question(
        "runs of the encoder",
        1.0,
        "What changes in the source while the target is written?",
        (
            Slip(
                5.0,
                "the encoder run for each word",
                "Does anything that the encoder reads change when a word has been written?",
            ),
        ),
    ),
    "h": Question(
        "a feed-forward net by hand",
        5.0,
        "Two numbers in between; what becomes of each?",
        (
            Slip(
                0.0,
                "the non-linearity left out",
                "One of the two numbers in between is negative. What becomes of it?",
            ),
            Slip(6.0, "the last bias left out", "The second map has a bias too."),
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
    tolerance=1e-6,
)
