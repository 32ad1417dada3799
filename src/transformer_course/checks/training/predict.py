"""Exercise: rates, batches and first losses, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "guesses of a sentence",
        6.0,
        "Does the end of the sentence have to be guessed?",
        (
            Slip(
                5.0,
                "the end of the sentence forgotten",
                "The model must also know when to stop. Who tells it?",
            ),
            Slip(
                7.0,
                "the start mark guessed, too",
                "The first token that is read is always the same. Must it be guessed?",
            ),
        ),
    ),
    "b": Question(
        "steps of an epoch",
        5.0,
        "A step is one batch. What about the last few sentences?",
        (
            Slip(
                50.0, "sentences counted instead of steps", "A step is one batch, not one sentence."
            ),
            Slip(
                4.0,
                "the part of a batch thrown away",
                "The sentences that are left over are a batch, too, a smaller one.",
            ),
        ),
    ),
    "c": Question(
        "share of padding",
        0.25,
        "Count all squares first, special tokens included.",
        (
            Slip(
                1 / 3,
                "padding in relation to what is filled",
                "The share is of all positions, the padded ones included.",
            ),
            Slip(
                5 / 14,
                "special tokens left out of the batch",
                "A source gets one mark, a target two. They take places, too.",
            ),
        ),
    ),
    "d": Question(
        "later rate",
        0.5,
        "After the warm-up, the rate falls with the root of the step.",
        (
            Slip(
                0.25,
                "falling with the step",
                "That would be so if the rate were divided by the step itself.",
            ),
        ),
    ),
    "e": Question(
        "first step of Adam",
        0.003,
        "What is left of the gradient's size in the first step?",
        (
            Slip(
                0.06,
                "plain gradient descent",
                "That is the rate times the gradient. What does Adam divide by?",
            ),
        ),
    ),
    "f": Question(
        "loss of guessing evenly",
        8.29,
        "Among how many subwords does it guess?",
        (
            Slip(
                4000.0,
                "the perplexity instead of the loss",
                "That is how many subwords it guesses among. The loss is a logarithm.",
            ),
            Slip(11.97, "the logarithm to base 2", "That is in bits. The loss is in nats."),
        ),
    ),
    "g": Question(
        "sentences in a batch",
        40.0,
        "How many positions does one pair fill?",
        (
            Slip(
                100.0,
                "only the source counted",
                "In this course's package, the budget counts source and target together.",
            ),
            Slip(
                45.0,
                "special tokens forgotten",
                "The marks at the start and the end take places in a batch, too.",
            ),
        ),
    ),
    "h": Question(
        "clipping",
        3.0,
        "The whole gradient is divided by one number.",
        (
            Slip(
                5.0,
                "each number cut by itself",
                "Cutting single numbers would turn the gradient. Its direction stays.",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil, paper and a pocket calculator, before you run any code: a number, right to one "
        "part in a hundred. Your function gets the letter of a question and returns your answer."
    ),
    minutes=15,
    tolerance=0.01,
)
