"""Exercise: say why attention was invented, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey({"a": False, "b": True, "c": False, "d": False, "e": True, "f": True, "g": False})


why_attention = Exercise(
    name="why_attention",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: which fault of the recurrent "
        "encoder-decoder does a look "
        "back mend, and which does it leave? Then judge the seven statements. Your function gets the letter "
        "of a statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("limits of recurrent networks", ("a",)),
        Case("who asks", ("b",)),
        Case("gates and gradients", ("c",)),
        Case("ten words", ("d",)),
        Case("the size of the memory", ("e",)),
        Case("convolutions and waiting", ("f",)),
        Case("attention and waiting", ("g",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "a fixed number of words taken for a law",
            KEY.flipped("a"),
            "Look at the GRU of width 1 among the common mistakes. How far does it remember?",
        ),
        Misconception(
            "the asking state taken for a later one",
            KEY.flipped("b"),
            "The state after word i needs the context of word i. What must be known before that?",
        ),
        Misconception(
            "gates taken for a cure",
            KEY.flipped("c"),
            "Look at the gradient 50 steps back in a GRU with fresh weights.",
        ),
        Misconception(
            "pairs and steps compared as if they cost the same",
            KEY.flipped("d"),
            "How many products has one pair, and how many has one step, when d = 512?",
        ),
        Misconception(
            "the memory taken to be of fixed size",
            KEY.flipped("e"),
            "Look at the shapes that the page prints for 3 and for 12 words.",
        ),
        Misconception(
            "convolutions taken to wait",
            KEY.flipped("f"),
            "Which inputs does one output of a layer need? Is another output of the same layer among them?",
        ),
        Misconception(
            "attention taken to free a GRU from waiting",
            KEY.flipped("g"),
            "The decoder of the page has a loop. Why?",
        ),
    ),
)
