"""How people write what they say: "I'm", "she's", "we'll", "what's"."""

from collections.abc import Callable, Sequence

from transformer_course.corpus.everyday.words import ENGLISH
from transformer_course.corpus.grammar.dice import Dice
from transformer_course.corpus.grammar.draft import Draft
from transformer_course.corpus.grammar.spelling import Word

SHARE = 0.5  # how often it is written so
WHO = ("i", "you", "he", "she", "it", "we", "they")
ENDINGS = {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "would": "'d"}
POINTING = ("that", "what", "where", "who", "how", "there", "here")
PERFECT = {"have": "'ve", "has": "'s"}  # before a participle only: "I've a dog" is rare
AFTER_HAVE = frozenset(verb.perfect for verb in ENGLISH.values()) | {
    "never",
    "already",
    "been",
    "not",
    "just",
}


def contract(words: Sequence[Word]) -> list[Word]:
    """Join each pronoun with the verb after it; the new word has the pronoun's key.

    >>> contract([("i", 14), ("am", 80), ("tired", 84)])
    [("i'm", 14), ('tired', 84)]
    >>> contract([("they", 14), ("have", 80), ("a", 21), ("dog", 24)])
    [('they', 14), ('have', 80), ('a', 21), ('dog', 24)]
    >>> contract([("anna", 14), ("and", 15), ("i", 16), ("are", 80), ("here", 88)])[2:4]
    [('i', 16), ('are', 80)]
    """
    written: list[Word] = []
    for index, (word, key) in enumerate(words):
        after = words[index + 1][0] if index + 1 < len(words) else ","
        before = written[-1][0] if written else ""
        ending = ""
        if (before, word) == ("i", "are"):  # my sister and I are
            ending = ""
        elif before in WHO:
            ending = ENDINGS.get(word, "") or (PERFECT.get(word, "") if after in AFTER_HAVE else "")
        elif before in POINTING and word == "is":
            ending = "'s"
        if ending and after != ",":
            written[-1] = (before + ending, written[-1][1])
        else:
            written.append((word, key))
    return written


def contracted(rule: Callable[[Dice], Draft]) -> Callable[[Dice], Draft]:
    """The same rule, whose sentences sometimes say "I'm" for "I am"."""

    def drawn(dice: Dice) -> Draft:
        draft = rule(dice)
        if dice.chance(SHARE):
            draft.english = contract(draft.english)
        return draft

    return drawn
