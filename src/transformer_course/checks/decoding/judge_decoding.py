"""Exercise: say what a search does, and tell right statements from wrong ones."""

from transformer_course.checks.exercise import AnswerKey, Case, Exercise, Misconception

KEY = AnswerKey(
    {
        "a": False,
        "b": True,
        "c": False,
        "d": False,
        "e": True,
        "f": False,
        "g": True,
        "h": False,
    }
)

judge_decoding = Exercise(
    name="judge_decoding",
    kind="explain",
    difficulty=2,
    minutes=15,
    statement=(
        "First write two or three sentences of your own: why can a beam find what greedy decoding misses, "
        "and what may it still miss? Then judge the eight statements. Your function gets the letter of a "
        "statement and returns True or False."
    ),
    returns=("verdict",),
    reference=KEY.statement,
    cases=(
        Case("the most probable sentence", ("a",)),
        Case("a beam of one", ("b",)),
        Case("least error", ("c",)),
        Case("probable and right", ("d",)),
        Case("short sentences", ("e",)),
        Case("what a cache changes", ("f",)),
        Case("top-k with k = 1", ("g",)),
        Case("the order of the tokens", ("h",)),
    ),
    secret=True,
    misconceptions=(
        Misconception(
            "beam search taken to be exact",
            KEY.flipped("a"),
            "What happens to the right sentence if its beginning is dropped early?",
        ),
        Misconception(
            "a beam of one taken for another search",
            KEY.flipped("b"),
            "One beginning is kept at each step. Which one?",
        ),
        Misconception(
            "the beam taken to know the error",
            KEY.flipped("c"),
            "To know an error, one needs the right answer. Is it there in use?",
        ),
        Misconception(
            "probable taken for right",
            KEY.flipped("d"),
            "Who says what is probable: the model, or a person who speaks French?",
        ),
        Misconception(
            "the length taken not to matter",
            KEY.flipped("e"),
            "Each further word adds a negative number to the sum.",
        ),
        Misconception(
            "the cache taken for an approximation",
            KEY.flipped("f"),
            "Do keys and values of earlier words change when a word is added?",
        ),
        Misconception(
            "something left to draw with k = 1",
            KEY.flipped("g"),
            "How many tokens are there to draw from?",
        ),
        Misconception(
            "temperature taken to reorder the tokens",
            KEY.flipped("h"),
            "All logits are divided by the same positive number.",
        ),
    ),
)
