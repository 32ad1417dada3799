"""From words to a written sentence: elision, contraction, hyphens.

The rules write a sentence as a list of (word, key). Words with the same key in both languages mean
the same thing; key 0 means nothing in particular. Marks used by the rules: "de+" and "à+" are the
prepositions before a noun (de le → du), where "de" and "à" before a verb stay as they are
(décider de le lire); "-il" joins to the word before it; "," joins likewise.
"""

from collections.abc import Sequence
from functools import cache

from transformer_course.corpus.grammar.lexicon import H_ASPIRE
from transformer_course.corpus.grammar.morphology import FRENCH_VOWELS

Word = tuple[str, int]
Keys = list[tuple[int, ...]]

ELIDING = frozenset(["le", "la", "je", "me", "te", "se", "de", "de+", "ne", "que", "ce"])
CONTRACTIONS = {
    ("de+", "le"): "du",
    ("de+", "les"): "des",
    ("à+", "le"): "au",
    ("à+", "les"): "aux",
}


@cache
def vowel_sound(word: str) -> bool:
    """Whether a French word begins with a vowel sound: a vowel, a mute h, the pronoun y.

    >>> [vowel_sound(word) for word in ("arbre", "homme", "hibou", "onze", "y", "œuf", "chat")]
    [True, True, False, False, True, True, False]
    """
    if word[0] == "h":
        return word not in H_ASPIRE
    return word == "y" or (word[0] in FRENCH_VOWELS and word not in ("onze", "oui"))


def spell(words: Sequence[Word]) -> tuple[list[str], Keys]:
    """Words as they are written, each with the keys of the words that went into it.

    >>> spell([("je", 1), ("aime", 2), ("le", 3), ("arbre", 4), ("de+", 5), ("le", 6), ("roi", 7)])
    (["j'aime", "l'arbre", 'du', 'roi'], [(1, 2), (3, 4), (5, 6), (7,)])
    """
    written: list[str] = []
    owners: Keys = []
    start, start_keys = "", ()  # what was elided and waits for its word
    index, last = 0, len(words) - 1
    while index <= last:
        word, key = words[index]
        if index < last and (word in ELIDING or word in ("si", "à+")):
            following = words[index + 1][0]
            elided = elide(word, following)
            if elided:
                start, start_keys = start + elided, (*start_keys, key)
                index += 1
                continue
            contraction = contract(word, following, words, index)
            if contraction:
                written.append(contraction)
                owners.append((key, words[index + 1][1]))
                index += 2
                continue
        word = word.rstrip("+ ")
        if word[0] in "-,":
            joint = "-t" if word in ("-il", "-elle") and written[-1][-1] in "aec" else ""
            written[-1] += joint + word
            owners[-1] = (*owners[-1], key)
        elif " " in word:
            for part in word.split(" "):
                written.append(start + part)
                owners.append((*start_keys, key))
                start, start_keys = "", ()
        else:
            written.append(start + word)
            owners.append((*start_keys, key))
            start, start_keys = "", ()
        index += 1
    return written, owners


def elide(word: str, following: str) -> str:
    """What is left of a word before a vowel, with the apostrophe; empty if it stays whole.

    >>> elide("le", "arbre"), elide("le", "hibou"), elide("si", "il"), elide("si", "elle")
    ("l'", '', "s'", '')
    """
    if word == "si":
        return "s'" if following in ("il", "ils") else ""
    if word in ELIDING and vowel_sound(following):
        return word.rstrip("+")[:-1] + "'"
    return ""


def contract(word: str, following: str, words: Sequence[Word], index: int) -> str:
    """du, des, au or aux, if the article that follows is not elided itself; else empty."""
    contraction = CONTRACTIONS.get((word, following), "")
    if contraction and following == "le" and index + 2 < len(words):
        return "" if vowel_sound(words[index + 2][0]) else contraction
    return contraction
