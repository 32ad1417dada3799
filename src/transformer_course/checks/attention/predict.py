"""Exercise: shapes and weights, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "shape of the weights",
        (2, 3, 5),
        "Each query has one weight for each key.",
        (
            Slip(
                (2, 5, 3),
                "weights for each key over the queries",
                "Who asks, and who is asked? A row of weights belongs to the one who asks.",
            ),
            Slip(
                (2, 3, 3),
                "weights between the queries themselves",
                "There is one weight for each pair of a query and something else. Of what else?",
            ),
            Slip(
                (3, 5),
                "weights of a single example",
                "The batch holds two examples, and each has its own weights.",
            ),
        ),
    ),
    "b": Question(
        "shape of the output",
        (2, 3, 6),
        "What is averaged, and how many averages are there?",
        (
            Slip(
                (2, 3, 4),
                "output as wide as the keys",
                "Keys are only compared with queries. What is averaged is something else.",
            ),
            Slip(
                (2, 5, 6),
                "one output for each key",
                "Each question gets one answer. Who asks the questions?",
            ),
        ),
    ),
    "c": Question(
        "scores 0 and ln 3",
        0.75,
        "Write down the exponential of each score first.",
        (
            Slip(
                1.0,
                "scores divided by their sum, without the exponential",
                "With your rule a score of 0 gets no weight at all. Softmax gives every score a share.",
            ),
            Slip(
                3.0,
                "the ratio instead of the share",
                "That is how many times larger one weight is than the other. The two weights sum to 1.",
            ),
            Slip(75.0, "the weight in percent", "All weights sum to 1, not to 100."),
        ),
    ),
    "d": Question(
        "scores 100 and 100 + ln 3",
        0.75,
        "Compare with question 'c': what is new?",
        (
            Slip(
                0.5,
                "weights of scores so large taken as equal",
                "Softmax looks at the difference of scores, not at their ratio.",
            ),
            Slip(
                1.0,
                "the larger of two large scores taken as the only winner",
                "Scores of any size can be close together. How far apart are these two?",
            ),
        ),
    ),
    "e": Question(
        "a query of zeros",
        0.2,
        "Write down the five scores first.",
        (
            Slip(0.0, "score 0 taken as weight 0", "Weights are never all 0: they sum to 1."),
            Slip(
                1.0,
                "score 0 taken as weight 1",
                "The exponential of 0 is 1, but this isn't the weight yet: what do all weights sum to?",
            ),
        ),
    ),
    "f": Question(
        "scores 80 and 20, d_k = 64",
        0.9994,
        "How far apart are the scores after scaling?",
        (
            Slip(
                0.8,
                "scaling taken as a cure for any two scores",
                "The scores are closer after scaling, but softmax doesn't share by their ratio. What "
                "is the exponential of their difference?",
            ),
            Slip(
                0.99,
                "cut off after two decimals, not rounded",
                "Your way is right, only the rounding isn't. Look at the third decimal: does the second "
                "one go up?",
            ),
        ),
    ),
    "g": Question(
        "five equal keys",
        4.0,
        "Equal keys get equal scores. And equal weights?",
        (
            Slip(
                10.0,
                "the largest value taken as the answer",
                "Attention looks for fitting keys; it doesn't know which value is large.",
            ),
            Slip(
                3.0,
                "the middle value taken for the average",
                "An average weighs every value, the largest one too.",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, a number to "
        "two decimals. Your function gets the letter of a question and returns your answer."
    ),
    minutes=10,
    tolerance=0.006,
)
