"""Exercise: what a long text costs, in bytes, and how far back a token can know: in numbers."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "megabytes of the cache",
        48.0,
        "How many numbers does one head of one layer keep for one token? Then multiply.",
        (
            Slip(
                24.0,
                "keys without values",
                "What does attention average, once it has compared the query with the keys?",
            ),
            Slip(12.0, "numbers in the place of bytes", "How many bytes does one number take?"),
            Slip(4.8, "one layer only", "Each layer has keys and values of its own."),
            Slip(8.0, "one head only", "Each head has keys and values of its own."),
            Slip(0.024, "one token only", "Of how many tokens are keys and values kept?"),
        ),
    ),
    "b": Question(
        "megabytes of the cache with shared keys",
        16.0,
        "Which of the factors of the question before has changed?",
        (
            Slip(48.0, "as many key heads as heads", "Heads of queries aren't kept. What is?"),
            Slip(
                24.0,
                "divided by the number of key heads",
                "Heads that share keys are a group. How many groups are there, and how many heads in each?",
            ),
            Slip(
                8.0, "one key head for all", "That is multi-query attention. Here there are more."
            ),
            Slip(32.0, "keys shared, values not", "Values are shared in the same way as keys."),
        ),
    ),
    "c": Question(
        "megabytes of the cache of a window",
        4.8,
        "How many tokens can the next token still see, itself included?",
        (
            Slip(
                48.0,
                "tokens outside the window kept",
                "Will a token that has left the window ever be seen again?",
            ),
            Slip(
                0.48,
                "the cache of one layer only",
                "Each layer has a window, and a cache, of its own.",
            ),
            Slip(2.4, "the keys of the window without values", "What is kept beside the keys?"),
        ),
    ),
    "d": Question(
        "megabytes of the scores of one layer",
        96.0,
        "How many scores has one head, if each token looks at each token?",
        (
            Slip(16.0, "the table of one head only", "Each head has a table of its own."),
            Slip(24.0, "scores counted, not their bytes", "How many bytes does one score take?"),
            Slip(
                960.0,
                "all layers at once",
                "The scores of a layer can be forgotten when the next one begins.",
            ),
            Slip(48.0, "half of the table", "What is hidden is computed, too: the whole table."),
            Slip(
                0.048,
                "the scores of one token",
                "All tokens are read at once. How many rows has the table?",
            ),
            Slip(
                4800.0,
                "scores as wide as vectors",
                "A score is one number: the width has gone into the dot product.",
            ),
        ),
    ),
    "e": Question(
        "kilobytes of the scores of one step",
        48.0,
        "How many queries are there, when all but the newest token are in the cache?",
        (
            Slip(96000.0, "all rows again", "Which tokens are queries, if the others are cached?"),
            Slip(8.0, "the row of one head only", "Each head has scores of its own."),
            Slip(480.0, "the rows of all layers", "One layer is asked for."),
            Slip(0.024, "the newest key only", "The newest token looks back at all others."),
        ),
    ),
    "f": Question(
        "the cache of a text ten times as long",
        480.0,
        "Double the text in thought. Does each token keep more than before?",
        (
            Slip(
                4800.0,
                "the cache grows with the square",
                "A pair of tokens has a score, which isn't kept. What is kept belongs to one token.",
            ),
            Slip(48.0, "the cache doesn't grow", "Each new token adds its keys and values."),
        ),
    ),
    "g": Question(
        "the scores of a text ten times as long",
        9600.0,
        "Double the text in thought. How many rows and how many columns has the table now?",
        (
            Slip(
                960.0,
                "the scores grow like the text",
                "There are more rows. Are the rows as long as before?",
            ),
            Slip(96.0, "the scores don't grow", "Each token looks at each token."),
        ),
    ),
    "h": Question(
        "how far back a token knows after three layers",
        12.0,
        "How far back does one layer see? What did that token see in the layer below?",
        (
            Slip(
                15.0,
                "the window added once for each layer",
                "A window counts the token itself. How many tokens before it does it hold?",
            ),
            Slip(
                4.0,
                "the window of one layer",
                "The token furthest back in the window has looked back as well, one layer below.",
            ),
            Slip(
                5.0,
                "the window itself",
                "There is more than one layer, and a token isn't before itself.",
            ),
            Slip(13.0, "the token itself counted", "How many tokens *before* it?"),
            Slip(
                64.0,
                "multiplied from layer to layer",
                "Each layer takes a step back. Do steps multiply, or add up?",
            ),
        ),
    ),
    "i": Question(
        "layers that a chain of windows needs",
        6.0,
        "How many steps of which length lead from the last place to the first?",
        (
            Slip(
                4.0,
                "steps as long as the window",
                "A window counts the token itself. How far back is the furthest token in it?",
            ),
            Slip(
                12.0,
                "one place a layer",
                "How far back is the furthest token in the window? It isn't the neighbour.",
            ),
            Slip(7.0, "one layer too many", "Draw the places, and the steps from one to the next."),
        ),
    ),
    "j": Question(
        "tokens reached by strides alone",
        10.0,
        "Write down where the last token looks, and where these look.",
        (
            Slip(
                100.0,
                "all tokens",
                "Two steps of a stride: can they end beside a token they can't reach by one?",
            ),
            Slip(9.0, "the token itself left out", "A token also knows of itself."),
            Slip(11.0, "one place too many", "Write the places down. Which is the first of them?"),
        ),
    ),
    "k": Question(
        "how far back a segment knows by its memory",
        200.0,
        "What does the memory of a layer hold: words, or what the layer below has made of them?",
        (
            Slip(
                50.0,
                "the memory of one layer only",
                "What is in the memory of the upper layers has itself looked at a memory.",
            ),
            Slip(
                0.0,
                "no gradient taken for no knowledge",
                "No gradient flows into the memory. Can it be read all the same?",
            ),
            Slip(250.0, "the segment itself counted", "How many tokens *before* the segment?"),
            Slip(150.0, "one layer without a memory", "The lowest layer has a memory, too."),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a number. Your function gets the letter of a "
        "question and returns your answer. A megabyte is a million bytes, a kilobyte a thousand."
    ),
    minutes=20,
    tolerance=1e-6,
    difficulty=2,
)
