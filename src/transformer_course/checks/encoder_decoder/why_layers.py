"""Exercise: say what each part of a layer is for, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": False,
        "c": True,
        "d": False,
        "e": True,
        "f": False,
        "g": True,
        "h": False,
        "i": False,
    }
)

why_layers = Exercise(
    name="why_layers",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write three or four sentences of your own: what do attention, feed-forward net, residual "
        "connection and layer norm each do for a token? Then judge the nine statements. Your function gets "
        "the letter of a statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("the feed-forward net and the neighbours", ("a",)),
        Case("the six layers", ("b",)),
        Case("two linear maps", ("c",)),
        Case("layer norm and the batch", ("d",)),
        Case("attention with fixed weights", ("e",)),
        Case("what a decoder layer reads", ("f",)),
        Case("residual connections and the gradient", ("g",)),
        Case("what goes back into the decoder", ("h",)),
        Case("layer norm and the mean of a feature", ("i",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the feed-forward net taken to look at other tokens",
            KEY.flipped("a"),
            "Change one token. Which outputs of the net change?",
        ),
        Misconception(
            "layers taken to share their weights",
            KEY.flipped("b"),
            "In the count of the base model, by what is the size of one layer multiplied, and why?",
        ),
        Misconception(
            "two linear maps taken for more than one",
            KEY.flipped("c"),
            "Write x A B with brackets in another place.",
        ),
        Misconception(
            "layer norm taken for batch norm",
            KEY.flipped("d"),
            "Over which numbers are its mean and its variance taken?",
        ),
        Misconception(
            "attention taken to be linear in nothing",
            KEY.flipped("e"),
            "Where is the softmax: between the weights and the values, or before the weights?",
        ),
        Misconception(
            "decoder layers taken to read encoder layers of their own height",
            KEY.flipped("f"),
            "On the map, from where do the arrows K and V start?",
        ),
        Misconception(
            "the gradient taken to need the sub-layers",
            KEY.flipped("g"),
            "Take the derivative of x + f(x). What is left of it where f is flat?",
        ),
        Misconception(
            "scores taken to go back into the decoder",
            KEY.flipped("h"),
            "What does the first step of the decoder expect: a vector of scores, or an id?",
        ),
        Misconception(
            "layer norm taken to center each feature over the data",
            KEY.flipped("i"),
            "A feature is 4 higher than the others, in every token. What is left of that in each token?",
        ),
    ),
)
