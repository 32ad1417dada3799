"""Exercise: what writing all words at once costs and brings, in numbers."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "how often two independent words fit together",
        0.5,
        "Write down the four pairs that can come out, and how probable each is.",
        (
            Slip(1.0, "words that agree by themselves", "Does the second word know the first one?"),
            Slip(0.25, "one of two right pairs", "How many of the four pairs are right?"),
            Slip(0.75, "one wrong pair", "Which pairs mix tu and vous? Count them."),
        ),
    ),
    "b": Question(
        "how often three independent words fit together",
        0.25,
        "Write down all that can come out. What is right?",
        (
            Slip(0.5, "two words in the place of three", "How many words have to agree?"),
            Slip(0.125, "one of two right sentences", "How many sentences are right?"),
            Slip(0.75, "the mixtures", "These are the sentences that are wrong."),
        ),
    ),
    "c": Question(
        "the words of a sentence with these fertilities",
        6.0,
        "Write the source as the decoder reads it.",
        (
            Slip(4.0, "the words of the source", "How often is each of them there?"),
            Slip(3.0, "source words that write something", "A word can write more than one word."),
            Slip(7.0, "a word that writes nothing counted", "Which word has no copy?"),
        ),
    ),
    "d": Question(
        "gaps before the last pass",
        3.0,
        "Put N, t and T into N · (T − t) / T. Which number has the last pass?",
        (
            Slip(12.0, "the first pass", "That many gaps there are at the beginning."),
            Slip(
                9.0,
                "the second pass",
                "With which number does the count of passes begin? Which one is the last?",
            ),
            Slip(0.0, "no gap at all", "The last pass isn't number T."),
            Slip(
                6.0,
                "the pass before the last one",
                "With which number does the count of passes begin? How many follow?",
            ),
        ),
    ),
    "e": Question(
        "tokens that all passes guess together",
        30.0,
        "Write down the number of gaps before each pass, and add them up.",
        (
            Slip(48.0, "all tokens in each pass", "What isn't a gap is read, but not guessed."),
            Slip(12.0, "each token once", "A token can be guessed in several passes."),
            Slip(18.0, "the first pass left out", "At the beginning everything is a gap."),
            Slip(27.0, "the last pass left out", "How many passes are there?"),
        ),
    ),
    "f": Question(
        "runs of the decoder, one after the other, for all lengths",
        4.0,
        "Do the candidates wait for each other?",
        (
            Slip(
                20.0,
                "one length after the other",
                "Candidates are side by side in one batch: more work, but not more steps.",
            ),
            Slip(12.0, "one run for each word", "That is the model that writes word by word."),
            Slip(60.0, "words of all candidates", "How many words does one run write?"),
            Slip(5.0, "the candidates", "How often is a translation gone over?"),
        ),
    ),
    "g": Question(
        "the share of repeated words",
        0.25,
        "Compare each word with the one before it. How many words are there?",
        (
            Slip(2.0, "repeated words, not their share", "Of how many words?"),
            Slip(
                0.5, "both words of a repetition", "The first word of a repetition repeats nothing."
            ),
            Slip(
                0.375,
                "words that came anywhere before",
                "Only the neighbour counts: a sentence may have the same article twice.",
            ),
        ),
    ),
    "h": Question(
        "entropy of the translations of one word",
        0.562,
        "Which two shares do the counts make? Then −Σ p ln p.",
        (
            Slip(0.811, "bits in the place of nats", "Which logarithm is a nat's?"),
            Slip(
                0.56,
                "two digits in the place of three",
                "Your way is right. The task asks for three digits.",
            ),
            Slip(
                0.693, "two translations equally often", "One of them comes three times as often."
            ),
            Slip(
                0.281, "divided by the number of translations", "An entropy is a sum, not a mean."
            ),
            Slip(-0.562, "the minus sign left out", "Can an entropy be negative?"),
        ),
    ),
    "i": Question(
        "entropy after distillation",
        0.0,
        "The teacher says the likeliest translation, each time. What are the counts now?",
        (
            Slip(0.562, "the corpus as it was", "Whose sentences does the student read now?"),
            Slip(
                0.693, "both translations equally often", "Does the teacher draw a word at random?"
            ),
            Slip(
                1.0,
                "a probability",
                "The likeliest translation has the probability 1 now. Its entropy?",
            ),
        ),
    ),
    "j": Question(
        "the candidate that wins by the mean",
        2.0,
        "Divide each sum by the number of its words. Which mean is largest?",
        (
            Slip(
                1.0,
                "ranked by the sum",
                "Each further word makes a sum smaller. What does a mean do?",
            ),
            Slip(3.0, "the longest candidate", "Its mean is the smallest of the three."),
        ),
    ),
    "k": Question(
        "how much faster it is than a cached model, measured",
        1.5,
        "Divide the times of the same sentence, by the same machine.",
        (
            Slip(
                15.0,
                "compared with a model without a cache",
                "Who would use that model? Compare with the best one of the other kind.",
            ),
            Slip(3.0, "the first pass alone", "How many passes does the translation take?"),
            Slip(2.0 / 3, "turned round", "Which of the two takes longer?"),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a number. Your function gets the letter of a "
        "question and returns your answer, to three digits."
    ),
    minutes=20,
    tolerance=2e-3,
    difficulty=1,
)
