"""Exercise: shapes and weights, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": (2, 3, 5),
        "b": (2, 3, 6),
        "c": 0.75,
        "d": 0.75,
        "e": 0.2,
        "f": 0.9994,
        "g": 4.0,
    }
)


predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=10,
    statement=(
        "Answer with pencil and paper, before you run any code: a shape as a tuple, a number to "
        "two decimals. Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("shape of the weights", ("a",), "Each query has one weight for each key."),
        Case("shape of the output", ("b",), "What is averaged, and how many averages are there?"),
        Case("scores 0 and ln 3", ("c",), "Write down the exponential of each score first."),
        Case("scores 100 and 100 + ln 3", ("d",), "Compare with question 'c': what is new?"),
        Case("a query of zeros", ("e",), "Write down the five scores first."),
        Case("scores 80 and 20, d_k = 64", ("f",), "How far apart are the scores after scaling?"),
        Case("five equal keys", ("g",), "Equal keys get equal scores. And equal weights?"),
    ),
    tolerance=0.006,
    secret=True,
    misconceptions=(
        Misconception(
            "weights for each key over the queries",
            KEY.wrong("a", (2, 5, 3)),
            "Who asks, and who is asked? A row of weights belongs to the one who asks.",
        ),
        Misconception(
            "weights between the queries themselves",
            KEY.wrong("a", (2, 3, 3)),
            "There is one weight for each pair of a query and something else. Of what else?",
        ),
        Misconception(
            "weights of a single example",
            KEY.wrong("a", (3, 5)),
            "The batch holds two examples, and each has its own weights.",
        ),
        Misconception(
            "output as wide as the keys",
            KEY.wrong("b", (2, 3, 4)),
            "Keys are only compared with queries. What is averaged is something else.",
        ),
        Misconception(
            "one output for each key",
            KEY.wrong("b", (2, 5, 6)),
            "Each question gets one answer. Who asks the questions?",
        ),
        Misconception(
            "scores divided by their sum, without the exponential",
            KEY.wrong("c", 1.0),
            "With your rule a score of 0 gets no weight at all. Softmax gives every score a share.",
        ),
        Misconception(
            "the ratio instead of the share",
            KEY.wrong("c", 3.0),
            "That is how many times larger one weight is than the other. The two weights sum to 1.",
        ),
        Misconception(
            "the weight in percent",
            KEY.wrong("c", 75.0),
            "All weights sum to 1, not to 100.",
        ),
        Misconception(
            "weights of scores so large taken as equal",
            KEY.wrong("d", 0.5),
            "Softmax looks at the difference of scores, not at their ratio.",
        ),
        Misconception(
            "the larger of two large scores taken as the only winner",
            KEY.wrong("d", 1.0),
            "Scores of any size can be close together. How far apart are these two?",
        ),
        Misconception(
            "score 0 taken as weight 0",
            KEY.wrong("e", 0.0),
            "Weights are never all 0: they sum to 1.",
        ),
        Misconception(
            "score 0 taken as weight 1",
            KEY.wrong("e", 1.0),
            "The exponential of 0 is 1, but this isn't the weight yet: what do all weights sum to?",
        ),
        Misconception(
            "scaling taken as a cure for any two scores",
            KEY.wrong("f", 0.8),
            "The scores are closer after scaling, but softmax doesn't share by their ratio. What "
            "is the exponential of their difference?",
        ),
        Misconception(
            "cut off after two decimals, not rounded",
            KEY.wrong("f", 0.99),
            "Your way is right, only the rounding isn't. Look at the third decimal: does the second "
            "one go up?",
        ),
        Misconception(
            "the largest value taken as the answer",
            KEY.wrong("g", 10.0),
            "Attention looks for fitting keys; it doesn't know which value is large.",
        ),
        Misconception(
            "the middle value taken for the average",
            KEY.wrong("g", 3.0),
            "An average weighs every value, the largest one too.",
        ),
    ),
)
