"""Exercise: say why there are several heads, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey({"a": False, "b": False, "c": True, "d": False, "e": True, "f": False, "g": True})


why_heads = Exercise(
    name="why_heads",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why does a Transformer use several heads, and what "
        "do they cost? Then judge the seven statements. Your function gets the letter of a statement and "
        "returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("what a head reads", ("a",)),
        Case("the number of weights", ("b",)),
        Case("exchanging two heads", ("c",)),
        Case("heads and layers", ("d",)),
        Case("one set of weights", ("e",)),
        Case("heads and the feed-forward network", ("f",)),
        Case("the number of maps", ("g",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the input taken to be split among the heads",
            KEY.flipped("a"),
            "Count the weights of one head's projection in the base model: how many numbers go in?",
        ),
        Misconception(
            "more heads taken for more weights",
            KEY.flipped("b"),
            "When the number of heads doubles, what happens to the width of each?",
        ),
        Misconception(
            "heads taken to have fixed places",
            KEY.flipped("c"),
            "The output is a sum of the heads' parts. Does a sum depend on the order?",
        ),
        Misconception(
            "heads taken for layers",
            KEY.flipped("d"),
            "Which input does head 2 read?",
        ),
        Misconception(
            "one average taken to keep two roles apart",
            KEY.flipped("e"),
            "Write the two sentences as sums of word and role, and take the average of each.",
        ),
        Misconception(
            "heads taken to reach the feed-forward network one by one",
            KEY.flipped("f"),
            "What is between the heads and the end of the attention?",
        ),
        Misconception(
            "maps taken to be shared by the heads",
            KEY.flipped("g"),
            "Each head has its own scores. How many softmaxes are there for one query?",
        ),
    ),
)
