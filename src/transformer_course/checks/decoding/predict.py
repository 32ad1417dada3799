"""Exercise: searches, samples and steps, worked out before any code runs."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": 0.18,
        "b": 0.324,
        "c": -1.127,
        "d": 10.0,
        "e": 2.0,
        "f": -1.5,
        "g": 0.6579,
        "h": 0.625,
        "i": 20.0,
        "j": 210.0,
    }
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
        Case("greedy decoding", ("a",), "The end of the sentence is a word too."),
        Case("the most probable sentence", ("b",), "Try both first words."),
        Case("its log-probability", ("c",), "Use your answer to question 'b'."),
        Case("candidates of a step", ("d",), "How many words can follow each open beginning?"),
        Case("length penalty", ("e",), "Five plus the length, over six."),
        Case("score", ("f",), "Use your answer to question 'e'."),
        Case("temperature", ("g",), "Dividing a logit by a half squares its probability."),
        Case("nucleus", ("h",), "Which tokens are kept?"),
        Case("steps with a cache", ("i",), "What does a step read?"),
        Case("steps without a cache", ("j",), "What does the third step read?"),
    ),
    tolerance=0.005,
    secret=True,
    misconceptions=(
        Misconception(
            "the end of the sentence left out of greedy decoding",
            KEY.wrong("a", 0.2),
            "To end is a choice with a probability as well.",
        ),
        Misconception(
            "the most probable sentence taken for greedy's",
            KEY.wrong("a", 0.324),
            "Greedy decoding never looks at the second-best first word.",
        ),
        Misconception(
            "the end of the sentence left out of the best",
            KEY.wrong("b", 0.36),
            "Three choices make this sentence: two words, and then?",
        ),
        Misconception(
            "greedy's sentence taken for the best",
            KEY.wrong("b", 0.18),
            "Does the sentence that begins with 'a' do better?",
        ),
        Misconception(
            "the sign of the logarithm",
            KEY.wrong("c", 1.127),
            "A probability is at most 1. Which sign has its logarithm?",
        ),
        Misconception(
            "as many candidates as the beam",
            KEY.wrong("d", 2.0),
            "Those are kept. Among how many are they chosen?",
        ),
        Misconception(
            "one beginning's candidates",
            KEY.wrong("d", 5.0),
            "Two beginnings are open, and each can go on with any word.",
        ),
        Misconception(
            "words to the power of the beam",
            KEY.wrong("d", 25.0),
            "Each beginning goes on by one word only.",
        ),
        Misconception(
            "the length without its 5",
            KEY.wrong("e", 1.1667),
            "Look at the formula: what is added to the length?",
        ),
        Misconception(
            "multiplied by the penalty",
            KEY.wrong("f", -6.0),
            "A longer sentence should be helped: its score comes closer to 0.",
        ),
        Misconception(
            "the probability multiplied by two",
            KEY.wrong("g", 1.0),
            "Logits are divided by T, not probabilities. What does that do to probabilities?",
        ),
        Misconception(
            "the temperature the other way round",
            KEY.wrong("g", 0.4155),
            "A low temperature makes the most probable token more probable.",
        ),
        Misconception(
            "squares that don't sum to 1",
            KEY.wrong("g", 0.25),
            "The new numbers must sum to 1 again.",
        ),
        Misconception(
            "the first token alone in the nucleus",
            KEY.wrong("h", 1.0),
            "The kept tokens must sum to at least p.",
        ),
        Misconception(
            "the nucleus not normalised",
            KEY.wrong("h", 0.5),
            "What was cut is gone. What must the others sum to?",
        ),
        Misconception(
            "all positions again, with a cache",
            KEY.wrong("i", 210.0),
            "That is the number without a cache. What does a step with a cache compute?",
        ),
        Misconception(
            "length squared",
            KEY.wrong("j", 400.0),
            "The first step computes one position, the last one twenty. What is their sum?",
        ),
        Misconception(
            "one position a step, without a cache",
            KEY.wrong("j", 20.0),
            "Without a cache, each step computes all positions so far.",
        ),
    ),
)
