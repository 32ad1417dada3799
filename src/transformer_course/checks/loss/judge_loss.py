"""Exercise: say what a loss is for, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {"a": True, "b": False, "c": True, "d": False, "e": False, "f": True, "g": False, "h": True}
)

judge_loss = Exercise(
    name="judge_loss",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why is the loss a logarithm, and what does label "
        "smoothing change? Then judge the eight statements. Your function gets the letter of a statement and "
        "returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("minimum of both", ("a",)),
        Case("training loss 0", ("b",)),
        Case("who gets the rest", ("c",)),
        Case("order of the divergence", ("d",)),
        Case("comparing perplexities", ("e",)),
        Case("sign of a gradient", ("f",)),
        Case("adding a small number", ("g",)),
        Case("right, but not calibrated", ("h",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "cross-entropy and divergence taken to lead to different models",
            KEY.flipped("a"),
            "What is the difference of the two, and can training change it?",
        ),
        Misconception(
            "the floor of smoothing taken to be 0",
            KEY.flipped("b"),
            "What does a prediction pay that equals the smoothed target?",
        ),
        Misconception(
            "the wrong words taken to matter without smoothing",
            KEY.flipped("c"),
            "Which terms are left in the sum when the target is one-hot?",
        ),
        Misconception(
            "the divergence taken for a distance",
            KEY.flipped("d"),
            "Compute both for (½, ½) and (¼, ¾).",
        ),
        Misconception(
            "perplexities compared across vocabularies",
            KEY.flipped("e"),
            "One model writes a word in one piece, the other in three. Per what is the perplexity?",
        ),
        Misconception(
            "smoothing taken never to pull back",
            KEY.flipped("f"),
            "What is predicted minus wanted, when more is predicted than wanted?",
        ),
        Misconception(
            "a small number taken to be harmless",
            KEY.flipped("g"),
            "How large can the loss become with it, and what is the slope there?",
        ),
        Misconception(
            "accuracy taken for calibration",
            KEY.flipped("h"),
            "Can a model that is always right be too modest?",
        ),
    ),
)
