"""Exercise: which mask, which loss: the three families in numbers."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "open pairs of an encoder alone",
        36.0,
        "Draw a square table with a row and a column for each token. Which squares are open?",
        (
            Slip(
                21.0,
                "the causal mask in an encoder",
                "That is a decoder. What is hidden from an encoder?",
            ),
            Slip(30.0, "a token that doesn't see itself", "A token may also look at itself."),
            Slip(
                15.0,
                "each pair of tokens counted once",
                "One token sees another, and is seen by it: these are two squares of the table.",
            ),
            Slip(
                6.0,
                "tokens instead of pairs",
                "Each token looks at how many others, and at itself?",
            ),
        ),
    ),
    "b": Question(
        "open pairs of a decoder alone",
        21.0,
        "How many tokens does the first one see, the second, the last?",
        (
            Slip(
                36.0, "no mask in a decoder", "Here the first token sees all that will be written."
            ),
            Slip(
                15.0,
                "the diagonal hidden",
                "May a token look at itself? The first one must see something.",
            ),
            Slip(18.0, "half of the table", "The diagonal is open, too. Draw the table and count."),
        ),
    ),
    "c": Question(
        "open pairs of a prefix mask",
        27.0,
        "Count row by row: four rows of the prompt, then the rest.",
        (
            Slip(21.0, "the prompt is causal, too", "What may a token of the prompt see?"),
            Slip(36.0, "everything open", "The continuation mustn't see its own future."),
            Slip(
                19.0,
                "the continuation doesn't see the prompt",
                "What does the first token of the continuation look back at?",
            ),
            Slip(
                28.0,
                "the continuation sees all of itself",
                "Each token of it sees itself and those before.",
            ),
            Slip(
                24.0, "only the prompt can be seen", "May the last token look at the one before it?"
            ),
        ),
    ),
    "d": Question(
        "guesses of a language model",
        5.0,
        "For which token of the row is there nothing to guess it from?",
        (
            Slip(6.0, "a guess for the first token", "From what would the first token be guessed?"),
            Slip(
                1.0,
                "one guess a row",
                "In training, every place guesses what follows it, all in one pass.",
            ),
        ),
    ),
    "e": Question(
        "guesses of a language model with a prompt",
        2.0,
        "Write the row down, and mark what the model must say.",
        (
            Slip(5.0, "the prompt guessed, too", "Who writes the prompt, the model or the user?"),
            Slip(
                1.0,
                "the first token of the continuation left out",
                "The logits at the last place of the prompt score a token. Which one?",
            ),
            Slip(
                3.0,
                "the last token of the prompt counted",
                "Which tokens does the model have to write?",
            ),
            Slip(4.0, "the prompt counted instead", "You counted what is given."),
        ),
    ),
    "f": Question(
        "labels of a masked language model",
        1200.0,
        "Which tokens have a label: the hidden ones, or all that were chosen?",
        (
            Slip(
                960.0,
                "only hidden tokens have a label",
                "Chosen tokens that can be seen must be said, too.",
            ),
            Slip(
                1080.0, "tokens that stay as they are left out", "They were chosen. Do they count?"
            ),
            Slip(8000.0, "every token has a label", "Only what was chosen counts."),
        ),
    ),
    "g": Question(
        "tokens that are hidden",
        960.0,
        "First the share that is chosen, then the share of these.",
        (
            Slip(1200.0, "all chosen tokens hidden", "Chosen tokens have three different fates."),
            Slip(
                6400.0,
                "80 % of all tokens",
                "Your share is one of the chosen tokens, not of all.",
            ),
        ),
    ),
    "h": Question(
        "chosen tokens that are read as they are",
        120.0,
        "First the share that is chosen, then the share of these.",
        (
            Slip(240.0, "all that aren't hidden", "Some of these are read as another token."),
            Slip(800.0, "10 % of all tokens", "How many of your tokens have a label?"),
            Slip(6800.0, "tokens that were not chosen", "Count among the chosen ones."),
        ),
    ),
    "i": Question(
        "shape of the patches",
        (10, 16, 192),
        "How many patches has one image, and how many numbers has one patch?",
        (
            Slip(
                (10, 16, 64), "the colours forgotten", "A pixel in colour is more than one number."
            ),
            Slip(
                (10, 4, 192), "one row of patches only", "The image is cut across, and also down."
            ),
            Slip(
                (10, 192, 16),
                "the axes exchanged",
                "As for words: which axis is the place, which the width?",
            ),
            Slip(
                (10, 64, 48),
                "patches and their size exchanged",
                "You have taken the size of a patch for the number of patches in a row.",
            ),
        ),
    ),
    "j": Question(
        "attentions of a decoder alone",
        12.0,
        "What are its layers made of?",
        (
            Slip(
                18.0,
                "cross-attention in the upper half",
                "There is no encoder, so whom should a cross-attention look at?",
            ),
            Slip(24.0, "a cross-attention in each layer", "At whose memory would it look?"),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a number, or a shape as a tuple. Your function "
        "gets the letter of a question and returns your answer."
    ),
    minutes=15,
    tolerance=1e-6,
)
