"""Exercise: losses, perplexities and gradients, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "loss of one word",
        1.3863,
        "How many halvings lead from certainty to this probability?",
        (
            Slip(
                0.75,
                "one minus the probability",
                "That is how much is missing. The price of surprise is a logarithm.",
            ),
            Slip(
                -1.3863,
                "the logarithm with its sign",
                "A loss is never negative. Which sign has the logarithm of a probability?",
            ),
            Slip(
                2.0,
                "bits instead of nats",
                "That is the number of bits. The chapter uses the natural logarithm.",
            ),
        ),
    ),
    "b": Question(
        "perplexity of guessing",
        50.0,
        "Among how many words does it guess?",
        (
            Slip(
                3.912,
                "the loss instead of the perplexity",
                "That is the mean loss. The perplexity is its exponential.",
            ),
        ),
    ),
    "c": Question(
        "loss of a sentence",
        1.535,
        "What is reported, a sum or a mean?",
        (
            Slip(
                4.6052,
                "the sum instead of the mean",
                "That is the surprise of the whole sentence. The loss is per token.",
            ),
            Slip(
                1.3218,
                "the logarithm of the mean probability",
                "First the logarithm of each probability, then the mean.",
            ),
        ),
    ),
    "d": Question(
        "perplexity of a sentence",
        4.6416,
        "Use your answer to question 'c'.",
        (
            Slip(
                100.0,
                "one divided by the probability of the sentence",
                "That would be so for one word. The sentence has three; the perplexity is per token.",
            ),
            Slip(
                3.75,
                "one divided by the mean probability",
                "Perplexity comes from the mean of the logarithms, not of the probabilities.",
            ),
        ),
    ),
    "e": Question(
        "gradient of the right word",
        -0.7,
        "Predicted minus wanted.",
        (
            Slip(
                0.7,
                "wanted minus predicted",
                "A step goes against the gradient, and it must raise the right logit. Which sign does that "
                "need?",
            ),
            Slip(
                -3.3333,
                "minus one over the probability",
                "That is the derivative with respect to the probability. The question asks for the logit.",
            ),
        ),
    ),
    "f": Question(
        "smoothed target, right word",
        0.84,
        "It gets a share twice.",
        (
            Slip(
                0.8,
                "the right word left out when ε is shared",
                "The share ε is spread over all words. Is the right one among them?",
            ),
        ),
    ),
    "g": Question(
        "smoothed target, wrong word",
        0.04,
        "How many words share ε?",
        (
            Slip(0.05, "ε shared by the wrong words only", "In this chapter all words share ε."),
            Slip(
                0.2,
                "all of ε for each wrong word",
                "Then the five numbers would sum to more than 1.",
            ),
        ),
    ),
    "h": Question(
        "sum of a gradient",
        0.0,
        "Both distributions have the same sum.",
        (
            Slip(
                1.0,
                "the sum of the probabilities alone",
                "The predicted probabilities have this sum. What is subtracted from them?",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil, paper and a pocket calculator, before you run any code: a number, right to two "
        "decimals. Your function gets the letter of a question and returns your answer."
    ),
    minutes=15,
    tolerance=0.01,
)
