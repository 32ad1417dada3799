"""Exercise: which statements about self-attention are true?"""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": True,
        "c": False,
        "d": False,
        "e": True,
        "f": True,
        "g": False,
        "h": False,
    }
)


true_or_false = Exercise(
    name="true_or_false",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why does a word need three vectors, and "
        "not one? Then judge the eight statements. Your function gets the letter of a statement "
        "and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("three views", ("a",)),
        Case("a mirror image", ("b",)),
        Case("a word with itself", ("c",)),
        Case("value and weight", ("d",)),
        Case("who asks in a translator", ("e",)),
        Case("two other words change places", ("f",)),
        Case("one layer", ("g",)),
        Case("longer sentences", ("h",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "Q, K and V taken as the same",
            KEY.flipped("a"),
            "Same source, but what do three different matrices make of it? And what gets lost "
            "from 512 numbers to 64?",
        ),
        Misconception(
            "the mirror image overlooked",
            KEY.flipped("b"),
            "Write down the score of word i for word j, then of word j for word i, with one "
            "matrix. Does a dot product care about the order of its two vectors?",
        ),
        Misconception(
            "a word's own score taken as the highest",
            KEY.flipped("c"),
            "Look at the diagonal of the square of *the cat eats fish*.",
        ),
        Misconception(
            "value and weight taken for the same",
            KEY.flipped("d"),
            "One of them is a number for a pair of words, the other is a vector of one word.",
        ),
        Misconception(
            "the reading side taken to ask",
            KEY.flipped("e"),
            "Somebody must know what is needed for the next word. Which side is that?",
        ),
        Misconception(
            "self-attention taken to know places",
            KEY.flipped("f"),
            "The third word asks the same question and meets the same keys. Does it matter where "
            "they are?",
        ),
        Misconception(
            "one layer taken to be enough",
            KEY.flipped("g"),
            "What does *it* know about the ending of the sentence at the moment its query is made?",
        ),
        Misconception(
            "the matrices taken to grow with the sentence",
            KEY.flipped("h"),
            "Which sizes has a matrix that makes queries? Is the number of words among them?",
        ),
    ),
)
