"""Exercise: say what an inspection shows, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(dict.fromkeys("acegi", False) | dict.fromkeys("bdfh", True))

judge_inspecting = Exercise(
    name="judge_inspecting",
    kind="explain",
    difficulty=1,
    minutes=10,
    statement=(
        "First write two or three sentences of your own: why does a patched vector tell more about causes than "
        "an attention weight? Then judge the nine statements. Your function gets the letter of a statement "
        "and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("a thick line in a picture", ("a",)),
        Case("two runs", ("b",)),
        Case("a probe of 99 %", ("c",)),
        Case("the step that predicts", ("d",)),
        Case("a patch without effect", ("e",)),
        Case("a control task", ("f",)),
        Case("another period", ("g",)),
        Case("one layer", ("h",)),
        Case("another ranking", ("i",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "a weight taken for a cause",
            KEY.flipped("a"),
            "What would you have to change to know?",
        ),
        Misconception(
            "as if the runs might differ in anything",
            KEY.flipped("b"),
            "If two things differ, which of them moved the answer?",
        ),
        Misconception(
            "what can be read taken for what is used",
            KEY.flipped("c"),
            "Who reads the vector, the model or your probe?",
        ),
        Misconception(
            "the step taken not to matter",
            KEY.flipped("d"),
            "Look again at the two columns of error rates, predicts and reads.",
        ),
        Misconception(
            "no effect taken for no knowledge",
            KEY.flipped("e"),
            "Gender can be read from a noun's vector in every layer. Does each such vector move the pronoun?",
        ),
        Misconception(
            "the control taken to be useless",
            KEY.flipped("f"),
            "What does a probe that learned the words by heart score on random labels of the words?",
        ),
        Misconception(
            "a test like the training taken for proof of the rule",
            KEY.flipped("g"),
            "Which two rules give the same answers on period 14?",
        ),
        Misconception(
            "one layer taken to be enough",
            KEY.flipped("h"),
            "From what is a key of the first layer made?",
        ),
        Misconception(
            "one claim taken for all claims",
            KEY.flipped("i"),
            "The page tests two claims about the weights. What did it find for each?",
        ),
    ),
)
