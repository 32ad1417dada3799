"""Exercise: say how a translator is trained, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {"a": False, "b": True, "c": False, "d": True, "e": False, "f": True, "g": False, "h": True}
)

judge_training = Exercise(
    name="judge_training",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: what happens in one step of training, and why does "
        "the learning rate rise before it falls? Then judge the eight statements. Your function gets the "
        "letter of a statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("size of a batch", ("a",)),
        Case("all positions at once", ("b",)),
        Case("what a checkpoint needs", ("c",)),
        Case("the first step of Adam", ("d",)),
        Case("a longer maximum", ("e",)),
        Case("a peak that moves", ("f",)),
        Case("a loss that is very low", ("g",)),
        Case("pieces of words", ("h",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the size of a batch taken for a length",
            KEY.flipped("a"),
            "What does the budget count, one sentence or all of them?",
        ),
        Misconception(
            "training taken to be one word after the other",
            KEY.flipped("b"),
            "Which words does the decoder read in training, and when are they known?",
        ),
        Misconception(
            "a checkpoint taken to be the weights alone",
            KEY.flipped("c"),
            "What else does the next step of Adam use?",
        ),
        Misconception(
            "Adam's first step taken to depend on the size of the gradient",
            KEY.flipped("d"),
            "Work out the fraction of Adam at step 1 for one weight.",
        ),
        Misconception(
            "longer taken to be better",
            KEY.flipped("e"),
            "What is above the limit in real collections, and what does one such pair do to its batch?",
        ),
        Misconception(
            "the peak taken to be independent of the warm-up",
            KEY.flipped("f"),
            "Put the number of warm-up steps into eq. 3, as the step.",
        ),
        Misconception(
            "a low loss taken for a good translator",
            KEY.flipped("g"),
            "How low is the loss of a decoder that can see the word that it must say?",
        ),
        Misconception(
            "new words taken to be unknown",
            KEY.flipped("h"),
            "What does byte-pair encoding start from?",
        ),
    ),
)
