"""Exercise: searches, samples and steps, worked out before any code runs."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "greedy decoding",
        0.18,
        "The end of the sentence is a word too.",
        (
            Slip(
                0.2,
                "the end of the sentence left out of greedy decoding",
                "To end is a choice with a probability as well.",
            ),
            Slip(
                0.324,
                "the most probable sentence taken for greedy's",
                "Greedy decoding never looks at the second-best first word.",
            ),
        ),
    ),
    "b": Question(
        "the most probable sentence",
        0.324,
        "Try both first words.",
        (
            Slip(
                0.36,
                "the end of the sentence left out of the best",
                "Three choices make this sentence: two words, and then?",
            ),
            Slip(
                0.18,
                "greedy's sentence taken for the best",
                "Does the sentence that begins with 'a' do better?",
            ),
        ),
    ),
    "c": Question(
        "its log-probability",
        -1.127,
        "Use your answer to question 'b'.",
        (
            Slip(
                1.127,
                "the sign of the logarithm",
                "A probability is at most 1. Which sign has its logarithm?",
            ),
        ),
    ),
    "d": Question(
        "candidates of a step",
        10.0,
        "How many words can follow each open beginning?",
        (
            Slip(
                2.0,
                "as many candidates as the beam",
                "Those are kept. Among how many are they chosen?",
            ),
            Slip(
                5.0,
                "one beginning's candidates",
                "Two beginnings are open, and each can go on with any word.",
            ),
            Slip(
                25.0, "words to the power of the beam", "Each beginning goes on by one word only."
            ),
        ),
    ),
    "e": Question(
        "length penalty",
        2.0,
        "Five plus the length, over six.",
        (
            Slip(
                1.1667,
                "the length without its 5",
                "Look at the formula: what is added to the length?",
            ),
        ),
    ),
    "f": Question(
        "score",
        -1.5,
        "Use your answer to question 'e'.",
        (
            Slip(
                -6.0,
                "multiplied by the penalty",
                "A longer sentence should be helped: its score comes closer to 0.",
            ),
        ),
    ),
    "g": Question(
        "temperature",
        0.6579,
        "Dividing a logit by a half squares its probability.",
        (
            Slip(
                1.0,
                "the probability multiplied by two",
                "Logits are divided by T, not probabilities. What does that do to probabilities?",
            ),
            Slip(
                0.4155,
                "the temperature the other way round",
                "A low temperature makes the most probable token more probable.",
            ),
            Slip(0.25, "squares that don't sum to 1", "The new numbers must sum to 1 again."),
        ),
    ),
    "h": Question(
        "nucleus",
        0.625,
        "Which tokens are kept?",
        (
            Slip(
                1.0,
                "the first token alone in the nucleus",
                "The kept tokens must sum to at least p.",
            ),
            Slip(
                0.5,
                "the nucleus not normalised",
                "What was cut is gone. What must the others sum to?",
            ),
        ),
    ),
    "i": Question(
        "steps with a cache",
        20.0,
        "What does a step read?",
        (
            Slip(
                210.0,
                "all positions again, with a cache",
                "That is the number without a cache. What does a step with a cache compute?",
            ),
        ),
    ),
    "j": Question(
        "steps without a cache",
        210.0,
        "What does the third step read?",
        (
            Slip(
                400.0,
                "length squared",
                "The first step computes one position, the last one twenty. What is their sum?",
            ),
            Slip(
                20.0,
                "one position a step, without a cache",
                "Without a cache, each step computes all positions so far.",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil, paper and a pocket calculator, before you run any code: a number, right to "
        "three decimals. Your function gets the letter of a question and returns your answer."
    ),
    minutes=15,
    tolerance=0.005,
)
