"""Exercise: losses, perplexities and gradients, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {"a": 1.3863, "b": 50.0, "c": 1.535, "d": 4.6416, "e": -0.7, "f": 0.84, "g": 0.04, "h": 0.0}
)

predict = Exercise(
    name="predict",
    kind="predict",
    difficulty=1,
    minutes=15,
    statement=(
        "Answer with pencil, paper and a pocket calculator, before you run any code: a number, right to two "
        "decimals. Your function gets the letter of a question and returns your answer."
    ),
    returns=("answer",),
    reference=KEY.question,
    cases=(
        Case(
            "loss of one word", ("a",), "How many halvings lead from certainty to this probability?"
        ),
        Case("perplexity of guessing", ("b",), "Among how many words does it guess?"),
        Case("loss of a sentence", ("c",), "What is reported, a sum or a mean?"),
        Case("perplexity of a sentence", ("d",), "Use your answer to question 'c'."),
        Case("gradient of the right word", ("e",), "Predicted minus wanted."),
        Case("smoothed target, right word", ("f",), "It gets a share twice."),
        Case("smoothed target, wrong word", ("g",), "How many words share ε?"),
        Case("sum of a gradient", ("h",), "Both distributions have the same sum."),
    ),
    tolerance=0.01,
    secret=True,
    misconceptions=(
        Misconception(
            "one minus the probability",
            KEY.wrong("a", 0.75),
            "That is how much is missing. The price of surprise is a logarithm.",
        ),
        Misconception(
            "the logarithm with its sign",
            KEY.wrong("a", -1.3863),
            "A loss is never negative. Which sign has the logarithm of a probability?",
        ),
        Misconception(
            "bits instead of nats",
            KEY.wrong("a", 2.0),
            "That is the number of bits. The chapter uses the natural logarithm.",
        ),
        Misconception(
            "the loss instead of the perplexity",
            KEY.wrong("b", 3.912),
            "That is the mean loss. The perplexity is its exponential.",
        ),
        Misconception(
            "the sum instead of the mean",
            KEY.wrong("c", 4.6052),
            "That is the surprise of the whole sentence. The loss is per token.",
        ),
        Misconception(
            "the logarithm of the mean probability",
            KEY.wrong("c", 1.3218),
            "First the logarithm of each probability, then the mean.",
        ),
        Misconception(
            "one divided by the probability of the sentence",
            KEY.wrong("d", 100.0),
            "That would be so for one word. The sentence has three; the perplexity is per token.",
        ),
        Misconception(
            "one divided by the mean probability",
            KEY.wrong("d", 3.75),
            "Perplexity comes from the mean of the logarithms, not of the probabilities.",
        ),
        Misconception(
            "wanted minus predicted",
            KEY.wrong("e", 0.7),
            "A step goes against the gradient, and it must raise the right logit. Which sign does that need?",
        ),
        Misconception(
            "minus one over the probability",
            KEY.wrong("e", -3.3333),
            "That is the derivative by the probability. The question asks for the one by the logit.",
        ),
        Misconception(
            "the right word left out when ε is shared",
            KEY.wrong("f", 0.8),
            "The share ε is spread over all words. Is the right one among them?",
        ),
        Misconception(
            "ε shared by the wrong words only",
            KEY.wrong("g", 0.05),
            "In this chapter all words share ε.",
        ),
        Misconception(
            "all of ε for each wrong word",
            KEY.wrong("g", 0.2),
            "Then the five numbers would sum to more than 1.",
        ),
        Misconception(
            "the sum of the probabilities alone",
            KEY.wrong("h", 1.0),
            "The predicted probabilities have this sum. What is subtracted from them?",
        ),
    ),
)
