"""Exercise: which statements about masks are true?"""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": False,
        "c": False,
        "d": False,
        "e": True,
        "f": True,
        "g": True,
        "h": False,
        "i": True,
    }
)


judge_statements = Exercise(
    name="judge_statements",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why does a model without a causal mask look "
        "perfect in training and fail in use? Then judge the nine statements. Your function gets the "
        "letter of a statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("the encoder", ("a",)),
        Case("the current word", ("b",)),
        Case("in use", ("c",)),
        Case("cross-attention", ("d",)),
        Case("equal lengths", ("e",)),
        Case("after softmax", ("f",)),
        Case("what a gradient sees", ("g",)),
        Case("rows of padding", ("h",)),
        Case("no shift", ("i",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "the encoder taken to need no mask",
            KEY.flipped("a"),
            "It reads everything at once, so nothing is the future. But what fills up its shorter "
            "sentences?",
        ),
        Misconception(
            "the current word taken as hidden",
            KEY.flipped("b"),
            "The input is shifted. What is on the diagonal: the answer, or the word before it?",
        ),
        Misconception(
            "the mask taken as needed in training only",
            KEY.flipped("c"),
            "The earlier positions are computed again. In the second layer the last position reads "
            "them: what may they have seen?",
        ),
        Misconception(
            "the source taken to have a future",
            KEY.flipped("d"),
            "When the first target word is written, which source words are known?",
        ),
        Misconception(
            "the padding mask taken to change something without padding",
            KEY.flipped("e"),
            "If no token is padding, which columns does the padding mask hide?",
        ),
        Misconception(
            "hiding after softmax taken as beyond repair",
            KEY.flipped("f"),
            "Write the weights as exponentials over their sum. What happens to the sum when you "
            "divide again?",
        ),
        Misconception(
            "the gradient taken to see everything",
            KEY.flipped("g"),
            "Think of a number that is counted from the ids, such as the length of the sentence. "
            "Does a gradient pass through it?",
        ),
        Misconception(
            "rows of padding taken as harmful",
            KEY.flipped("h"),
            "Who reads the output of a padded position? Its column is hidden in the next layer too.",
        ),
        Misconception(
            "the mask taken to replace the shift",
            KEY.flipped("i"),
            "Without the shift the answer of a row is in the input of that same row. Is the "
            "diagonal open?",
        ),
    ),
)
