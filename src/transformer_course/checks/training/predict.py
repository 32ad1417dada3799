"""Exercise: rates, batches and first losses, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": 6.0,
        "b": 5.0,
        "c": 0.25,
        "d": 0.5,
        "e": 0.003,
        "f": 8.29,
        "g": 40.0,
        "h": 3.0,
    }
)

predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=15,
    statement=(
        "Answer with pencil, paper and a pocket calculator, before you run any code: a number, right to one "
        "part in a hundred. Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case("guesses of a sentence", ("a",), "Does the end of the sentence have to be guessed?"),
        Case(
            "steps of an epoch", ("b",), "A step is one batch. What about the last few sentences?"
        ),
        Case("share of padding", ("c",), "Count all squares first, special tokens included."),
        Case("later rate", ("d",), "After the warm-up, the rate falls with the root of the step."),
        Case(
            "first step of Adam", ("e",), "What is left of the gradient's size in the first step?"
        ),
        Case("first loss", ("f",), "Among how many subwords does it guess?"),
        Case("sentences in a batch", ("g",), "How many positions does one pair fill?"),
        Case("clipping", ("h",), "The whole gradient is divided by one number."),
    ),
    tolerance=0.01,
    secret=True,
    misconceptions=(
        Misconception(
            "the end of the sentence forgotten",
            KEY.wrong("a", 5.0),
            "The model must also know when to stop. Who tells it?",
        ),
        Misconception(
            "the start mark guessed, too",
            KEY.wrong("a", 7.0),
            "The first token that is read is always the same. Must it be guessed?",
        ),
        Misconception(
            "sentences counted instead of steps",
            KEY.wrong("b", 50.0),
            "A step is one batch, not one sentence.",
        ),
        Misconception(
            "the part of a batch thrown away",
            KEY.wrong("b", 4.0),
            "The sentences that are left over are a batch, too, a smaller one.",
        ),
        Misconception(
            "padding in relation to what is filled",
            KEY.wrong("c", 1 / 3),
            "The share is of all positions, the padded ones included.",
        ),
        Misconception(
            "falling with the step",
            KEY.wrong("d", 0.25),
            "That would be so if the rate were divided by the step itself.",
        ),
        Misconception(
            "plain gradient descent",
            KEY.wrong("e", 0.06),
            "That is the rate times the gradient. What does Adam divide by?",
        ),
        Misconception(
            "the perplexity instead of the loss",
            KEY.wrong("f", 4000.0),
            "That is how many subwords it guesses among. The loss is a logarithm.",
        ),
        Misconception(
            "the logarithm to base 2",
            KEY.wrong("f", 11.97),
            "That is in bits. The loss is in nats.",
        ),
        Misconception(
            "special tokens left out of the batch",
            KEY.wrong("c", 5 / 14),
            "A source gets one mark, a target two. They take places, too.",
        ),
        Misconception(
            "only the source counted",
            KEY.wrong("g", 100.0),
            "In this course's package, the budget counts source and target together.",
        ),
        Misconception(
            "special tokens forgotten",
            KEY.wrong("g", 45.0),
            "The marks at the start and the end take places in a batch, too.",
        ),
        Misconception(
            "each number cut by itself",
            KEY.wrong("h", 5.0),
            "Cutting single numbers would turn the gradient. Its direction stays.",
        ),
    ),
)
