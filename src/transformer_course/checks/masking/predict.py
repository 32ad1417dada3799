"""Exercise: shapes, counts and weights under masks, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "padding mask",
        (3, 1, 1, 9),
        "It hides columns, the same for all heads and all queries.",
        (
            Slip(
                (3, 1, 1, 7),
                "padding of the target in cross-attention",
                "A mask hides keys. In cross-attention, from which sequence do the keys come?",
            ),
            Slip(
                (3, 9),
                "a padding mask without the axes to be stretched",
                "Scores have four axes. In this course a mask has four too, so that it can be broadcast.",
            ),
            Slip(
                (3, 1, 7, 9),
                "a padding mask written out for all queries",
                "It would fit. But `padding_mask` doesn't know how many queries there are: it gets the "
                "ids of the keys alone.",
            ),
        ),
    ),
    "b": Question(
        "decoder's mask",
        (3, 1, 7, 7),
        "The causal mask differs from query to query.",
        (
            Slip(
                (1, 1, 7, 7),
                "the causal mask alone",
                "The staircase is the same for all sentences. Is the padding?",
            ),
            Slip(
                (3, 4, 7, 7),
                "one mask for each head",
                "All heads hide the same. The axis of the heads is there to be stretched.",
            ),
            Slip(
                (3, 1, 1, 7),
                "only columns in the decoder's mask",
                "Does every query of the decoder see the same keys?",
            ),
        ),
    ),
    "c": Question(
        "weights of cross-attention",
        (3, 4, 7, 9),
        "Who asks, who is asked, and how many heads?",
        (
            Slip(
                (3, 4, 9, 7),
                "queries and keys exchanged in cross-attention",
                "A row of weights belongs to the one who asks. Who asks in cross-attention?",
            ),
            Slip(
                (3, 1, 7, 9),
                "heads forgotten",
                "A mask is the same for all heads. Weights are different in each head.",
            ),
        ),
    ),
    "d": Question(
        "hidden pairs",
        15.0,
        "How many squares lie strictly above the diagonal?",
        (
            Slip(21.0, "the diagonal counted as hidden", "Is the current token hidden?"),
            Slip(18.0, "half of the square", "The diagonal lies in neither half."),
            Slip(10.0, "one token too few", "That is the number for five tokens."),
        ),
    ),
    "e": Question(
        "one key hidden",
        2 / 3,
        "Write down the three exponentials; which of them counts?",
        (
            Slip(
                0.66,
                "cut off after two decimals, not rounded",
                "Your way is right, only the rounding isn't. Look at the third decimal: does the second "
                "one go up?",
            ),
            Slip(
                0.25,
                "the hidden key counted in the sum",
                "You divide by the exponentials of all three keys. Which of them are left?",
            ),
            Slip(
                0.5,
                "the hidden key counted with the exponential of 0",
                "A hidden key has no share at all: what is its exponential?",
            ),
            Slip(
                1.0,
                "the score taken for the share",
                "The score 0 of the second key has an exponential too.",
            ),
        ),
    ),
    "f": Question(
        "the first position",
        1.0,
        "How many keys may the first position see?",
        (
            Slip(
                0.0, "the first position sees nothing", "The diagonal is open: it may see itself."
            ),
            Slip(0.2, "the first position sees everything", "Four of the five keys come later."),
        ),
    ),
    "g": Question(
        "four hidden keys",
        0.25,
        "Write down the four scores, and their exponentials.",
        (
            Slip(
                0.0,
                "minus a billion taken for minus infinity",
                "Softmax looks at differences. How far apart are four scores of minus a billion?",
            ),
        ),
    ),
    "h": Question(
        "four layers",
        6.0,
        "How far does one layer carry the leak? And the next one?",
        (
            Slip(
                3.0,
                "a leak stays where it is",
                "That is one layer. In the second layer, position 2 reads position 3: what has that one "
                "seen?",
            ),
            Slip(
                4.0,
                "the leak counted from the start",
                "Four layers carry it four places further. Further than what?",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, a number to two "
        "decimals. Your function gets the letter of a question and returns your answer."
    ),
    minutes=15,
    tolerance=0.008,
    difficulty=2,
)
