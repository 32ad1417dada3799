"""Exercise: shapes, counts and weights under masks, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (3, 1, 1, 9),
        "b": (3, 1, 7, 7),
        "c": (3, 4, 7, 9),
        "d": 15.0,
        "e": 2 / 3,
        "f": 1.0,
        "g": 0.25,
        "h": 6.0,
    }
)


predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=2,
    minutes=15,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, a number to two "
        "decimals. Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("padding mask", ("a",), "It hides columns, the same for all heads and all queries."),
        Case("decoder's mask", ("b",), "The causal mask differs from query to query."),
        Case("weights of cross-attention", ("c",), "Who asks, who is asked, and how many heads?"),
        Case("hidden pairs", ("d",), "How many squares lie strictly above the diagonal?"),
        Case("one key hidden", ("e",), "Write down the three exponentials; which of them counts?"),
        Case("the first position", ("f",), "How many keys may the first position see?"),
        Case("four hidden keys", ("g",), "Write down the four scores, and their exponentials."),
        Case("four layers", ("h",), "How far does one layer carry the leak? And the next one?"),
    ),
    tolerance=0.008,
    secret=True,
    misconceptions=(
        Misconception(
            "padding of the target in cross-attention",
            KEY.wrong("a", (3, 1, 1, 7)),
            "A mask hides keys. In cross-attention, from which sequence do the keys come?",
        ),
        Misconception(
            "a padding mask without the axes to be stretched",
            KEY.wrong("a", (3, 9)),
            "Scores have four axes. In this course a mask has four too, so that it can be broadcast.",
        ),
        Misconception(
            "a padding mask written out for all queries",
            KEY.wrong("a", (3, 1, 7, 9)),
            "It would fit. But `padding_mask` doesn't know how many queries there are: it gets the "
            "ids of the keys alone.",
        ),
        Misconception(
            "the causal mask alone",
            KEY.wrong("b", (1, 1, 7, 7)),
            "The staircase is the same for all sentences. Is the padding?",
        ),
        Misconception(
            "one mask for each head",
            KEY.wrong("b", (3, 4, 7, 7)),
            "All heads hide the same. The axis of the heads is there to be stretched.",
        ),
        Misconception(
            "only columns in the decoder's mask",
            KEY.wrong("b", (3, 1, 1, 7)),
            "Does every query of the decoder see the same keys?",
        ),
        Misconception(
            "queries and keys exchanged in cross-attention",
            KEY.wrong("c", (3, 4, 9, 7)),
            "A row of weights belongs to the one who asks. Who asks in cross-attention?",
        ),
        Misconception(
            "heads forgotten",
            KEY.wrong("c", (3, 1, 7, 9)),
            "A mask is the same for all heads. Weights are different in each head.",
        ),
        Misconception(
            "the diagonal counted as hidden",
            KEY.wrong("d", 21.0),
            "Is the current token hidden?",
        ),
        Misconception(
            "half of the square",
            KEY.wrong("d", 18.0),
            "The diagonal lies in neither half.",
        ),
        Misconception(
            "one token too few",
            KEY.wrong("d", 10.0),
            "That is the number for five tokens.",
        ),
        Misconception(
            "the hidden key counted in the sum",
            KEY.wrong("e", 0.25),
            "You divide by the exponentials of all three keys. Which of them are left?",
        ),
        Misconception(
            "the hidden key counted with the exponential of 0",
            KEY.wrong("e", 0.5),
            "A hidden key has no share at all: what is its exponential?",
        ),
        Misconception(
            "the score taken for the share",
            KEY.wrong("e", 1.0),
            "The score 0 of the second key has an exponential too.",
        ),
        Misconception(
            "the first position sees nothing",
            KEY.wrong("f", 0.0),
            "The diagonal is open: it may see itself.",
        ),
        Misconception(
            "the first position sees everything",
            KEY.wrong("f", 0.2),
            "Four of the five keys come later.",
        ),
        Misconception(
            "minus a billion taken for minus infinity",
            KEY.wrong("g", 0.0),
            "Softmax looks at differences. How far apart are four scores of minus a billion?",
        ),
        Misconception(
            "a leak stays where it is",
            KEY.wrong("h", 3.0),
            "That is one layer. In the second layer, position 2 reads position 3: what has that one "
            "seen?",
        ),
        Misconception(
            "the leak counted from the start",
            KEY.wrong("h", 4.0),
            "Four layers carry it four places further. Further than what?",
        ),
    ),
)
