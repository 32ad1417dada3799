"""Exercise: say what positions are good for, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": True,
        "c": False,
        "d": True,
        "e": False,
        "f": True,
        "g": False,
        "h": True,
    }
)


why_positions = Exercise(
    name="why_positions",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why does a Transformer need positions, and what did "
        "leaving them out break? Then judge the eight statements. Your function gets the letter of a "
        "statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("learned or fixed", ("a",)),
        Case("the step from place to place", ("b",)),
        Case("low and high dimensions", ("c",)),
        Case("the encoder without positions", ("d",)),
        Case("longer sentences", ("e",)),
        Case("added and concatenated", ("f",)),
        Case("places a period apart", ("g",)),
        Case("the decoder without positions", ("h",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the paper's waves taken to be learned",
            KEY.flipped("a"),
            "How many parameters has the package's module with its default kind?",
        ),
        Misconception(
            "a step taken to depend on the place",
            KEY.flipped("b"),
            "Which numbers does the rotation of a step contain?",
        ),
        Misconception(
            "fast and slow dimensions exchanged",
            KEY.flipped("c"),
            "By how much does dimension 0 change from position 0 to position 1?",
        ),
        Misconception(
            "cross-attention taken to see the order of a set",
            KEY.flipped("d"),
            "A weighted average of the same words: does it change when they are shuffled?",
        ),
        Misconception(
            "defined taken for learned",
            KEY.flipped("e"),
            "What did the experiment measure beyond the training length?",
        ),
        Misconception(
            "concatenating taken for something else than a sum",
            KEY.flipped("f"),
            "Multiply a row of two parts by a matrix whose rows have two parts.",
        ),
        Misconception(
            "whole positions taken to meet on the circle",
            KEY.flipped("g"),
            "Is a full turn of pair 0 a whole number of positions?",
        ),
        Misconception(
            "the mask taken to show no order",
            KEY.flipped("h"),
            "How many words does the second position see, how many the third?",
        ),
    ),
)
