"""Exercise: say what a score shows, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": True,
        "c": False,
        "d": False,
        "e": False,
        "f": True,
        "g": False,
        "h": False,
        "i": True,
        "j": False,
    }
)

judge_benchmark = Exercise(
    name="judge_benchmark",
    kind="explain",
    difficulty=1,
    minutes=10,
    statement=(
        "First write two or three sentences of your own: why is a score on a test set not sure to the last "
        "digit, and what can you do about it? Then judge the ten statements. Your function gets the letter of "
        "a statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("two ways to write the text", ("a",)),
        Case("more test sentences", ("b",)),
        Case("one training", ("c",)),
        Case("averaged weights", ("d",)),
        Case("BLEU of a corpus", ("e",)),
        Case("the same draws", ("f",)),
        Case("the length penalty", ("g",)),
        Case("two seeds", ("h",)),
        Case("intervals that overlap", ("i",)),
        Case("a published score", ("j",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "as if BLEU didn't depend on how the text is written",
            KEY.flipped("a"),
            "Is a capital letter a mistake? Is a full stop a word? Each answer gives another number.",
        ),
        Misconception(
            "as if the width didn't follow the square root of the number of sentences",
            KEY.flipped("b"),
            "How does the mean of many throws of a die vary when you throw four times as often? Try the "
            "sliders below.",
        ),
        Misconception(
            "one training taken for a proof",
            KEY.flipped("c"),
            "Train the old recipe again with another seed. By how much may its BLEU differ?",
        ),
        Misconception(
            "averaged weights taken for several models",
            KEY.flipped("d"),
            "How many weights does the averaged model have?",
        ),
        Misconception(
            "BLEU of a corpus taken for a mean",
            KEY.flipped("e"),
            "What is added up over all sentences first, and when is it divided?",
        ),
        Misconception(
            "as if shared draws favoured one program",
            KEY.flipped("f"),
            "Who translates the sentences of a draw: A, B, or both?",
        ),
        Misconception(
            "the test set used for a small choice",
            KEY.flipped("g"),
            "Ten values are tried, and the best score is kept. Is that still the score of new sentences?",
        ),
        Misconception(
            "the seed taken not to matter",
            KEY.flipped("h"),
            "What does a seed decide in a training? Think of the first weights, and of the batches.",
        ),
        Misconception(
            "overlapping intervals taken for a tie",
            KEY.flipped("i"),
            "Much of an interval's width is the luck of the draw. Who has this luck when draws are shared?",
        ),
        Misconception(
            "a score inside the interval taken for a tie",
            KEY.flipped("j"),
            "Many other scores lie inside, too, lower ones and higher ones. Are they all the same?",
        ),
    ),
)
