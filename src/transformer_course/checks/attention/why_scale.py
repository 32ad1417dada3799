"""Exercise: which statements about the scale are true?"""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey({"a": True, "b": False, "c": True, "d": False, "e": False, "f": True, "g": False})


why_scale = Exercise(
    name="why_scale",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why are scores divided by √d_k? Then "
        "judge the seven statements. Your function gets the letter of a statement and returns "
        "True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("variance of a score", ("a",)),
        Case("what becomes of gradients", ("b",)),
        Case("one-hot weights", ("c",)),
        Case("several heads", ("d",)),
        Case("80 against 20", ("e",)),
        Case("the largest weight", ("f",)),
        Case("scaling weights", ("g",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the variance of a score taken as fixed",
            KEY.flipped("a"),
            "A score is a sum of d_k products. What happens to the variance when independent "
            "terms are added?",
        ),
        Misconception(
            "scaling taken as a cure for exploding gradients",
            KEY.flipped("b"),
            "When scores lie far apart, one weight is nearly 1, and a small change of a score changes "
            "hardly any weight. Is the gradient then very large or very small?",
        ),
        Misconception(
            "one-hot weights taken to learn well",
            KEY.flipped("c"),
            "The derivative of a weight w with respect to its own score is w(1 - w). What is it for w "
            "near 0, and for w near 1?",
        ),
        Misconception(
            "the scale taken from the embedding size",
            KEY.flipped("d"),
            "Each head computes its own scores. Over how many products does one score of one head "
            "sum?",
        ),
        Misconception(
            "scaling taken as a cure for any two scores",
            KEY.flipped("e"),
            "Work it out: after division by 8 the scores differ by 7.5. How many times larger is "
            "one exponential?",
        ),
        Misconception(
            "scaling taken to change the order",
            KEY.flipped("f"),
            "Division by a positive number keeps the order of numbers, and the exponential keeps "
            "it too.",
        ),
        Misconception(
            "scaling weights taken for scaling scores",
            KEY.flipped("g"),
            "Take the weights 0.9 and 0.1, divide both by 8, and make them sum to 1 again: which "
            "weights are these? Scaled scores give weights closer together.",
        ),
    ),
)
