"""Exercise: shapes and counts of the whole model, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (2, 7, 512),
        "b": (2, 8, 5, 7),
        "c": (2, 5, 37_000),
        "d": 2_099_712.0,
        "e": 30.0,
        "f": 18.0,
        "g": 1.0,
        "h": 5.0,
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
        Case(
            "shape of the memory", ("a",), "How many vectors does the encoder give, and how wide?"
        ),
        Case("shape of the weights of a cross-attention", ("b",), "Who asks whom?"),
        Case(
            "shape of the scores at the end", ("c",), "Which scores does each target position get?"
        ),
        Case("numbers in a feed-forward net", ("d",), "Two matrices and two biases."),
        Case("number of layer norms", ("e",), "Count the sums of one layer of each kind."),
        Case("number of attentions", ("f",), "How many are there in a layer of each kind?"),
        Case(
            "runs of the encoder", ("g",), "What changes in the source while the target is written?"
        ),
        Case("a feed-forward net by hand", ("h",), "Two numbers in between; what becomes of each?"),
    ),
    tolerance=1e-6,
    secret=True,
    misconceptions=(
        Misconception(
            "memory as long as the target",
            KEY.wrong("a", (2, 5, 512)),
            "The encoder has never seen the target.",
        ),
        Misconception(
            "the memory taken for one vector a sentence",
            KEY.wrong("a", (2, 512)),
            "That is the bottleneck of older models. What does the cross-attention look at?",
        ),
        Misconception(
            "queries and keys exchanged in the cross-attention",
            KEY.wrong("b", (2, 8, 7, 5)),
            "A row of weights belongs to the one who asks. Is that the source or the target?",
        ),
        Misconception(
            "the weights of the decoder's self-attention",
            KEY.wrong("b", (2, 8, 5, 5)),
            "In the cross-attention the keys come from elsewhere.",
        ),
        Misconception(
            "the weights of the encoder's self-attention",
            KEY.wrong("b", (2, 8, 7, 7)),
            "In the cross-attention the queries come from elsewhere.",
        ),
        Misconception(
            "one set of weights for all heads",
            KEY.wrong("b", (2, 5, 7)),
            "Each head has a map of its own.",
        ),
        Misconception(
            "decoder states instead of scores",
            KEY.wrong("c", (2, 5, 512)),
            "There is one more step after the decoder. How wide is what it gives?",
        ),
        Misconception(
            "scores for the source positions",
            KEY.wrong("c", (2, 7, 37_000)),
            "Which positions is something predicted for?",
        ),
        Misconception(
            "scores for the last position only",
            KEY.wrong("c", (2, 37_000)),
            "In training every position of the target predicts its next token.",
        ),
        Misconception(
            "biases left out",
            KEY.wrong("d", 2_097_152.0),
            "Your matrices are right. Equation 2 has two vectors more.",
        ),
        Misconception(
            "one matrix only",
            KEY.wrong("d", 1_048_576.0),
            "There and back: how many maps has the net?",
        ),
        Misconception(
            "three layers",
            KEY.wrong("d", 512 * 2048 + 2048 * 2048 + 2048 * 512 + 2048.0 * 2 + 512),
            "Count the matrices of equation 2.",
        ),
        Misconception(
            "as many norms in a decoder layer as in an encoder layer",
            KEY.wrong("e", 24.0),
            "A decoder layer has one more sub-layer. So how many sums?",
        ),
        Misconception(
            "norms of one stack only",
            KEY.wrong("e", 12.0),
            "There are two stacks.",
        ),
        Misconception(
            "one attention in each layer",
            KEY.wrong("f", 12.0),
            "A decoder layer looks round, and it also looks elsewhere.",
        ),
        Misconception(
            "heads counted as attentions",
            KEY.wrong("f", 144.0),
            "Heads are parts of one attention. Count the attentions.",
        ),
        Misconception(
            "the encoder run for each word",
            KEY.wrong("g", 5.0),
            "Does anything that the encoder reads change when a word has been written?",
        ),
        Misconception(
            "the non-linearity left out",
            KEY.wrong("h", 0.0),
            "One of the two numbers in between is negative. What becomes of it?",
        ),
        Misconception(
            "the last bias left out",
            KEY.wrong("h", 6.0),
            "The second map has a bias too.",
        ),
    ),
)
