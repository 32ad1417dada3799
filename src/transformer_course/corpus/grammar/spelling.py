"""From words to a written sentence: elision, contraction, hyphens.

The rules write a sentence as a list of (word, key). Words with the same key in both languages mean
the same thing; key 0 means nothing in particular. Marks used by the rules: "de+" and "à+" are the
prepositions before a noun (de le → du), where "de" and "à" before a verb stay as they are
(décider de le lire); "-il" joins to the word before it. A comma stays a word of its own.
"""

from collections.abc import Sequence
from functools import cache

from transformer_course.corpus.grammar.lexicon import H_ASPIRE
from transformer_course.corpus.grammar.morphology import FRENCH_VOWELS

Word = tuple[str, int]
Keys = list[tuple[int, ...]]

COMMA = 1000  # the key of a sentence's first comma; the next one has the next key

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
    >>> vowel_sound("Anna")
    True
    """
    word = word.lower()
    if word[0] == "h":
        return word not in H_ASPIRE
    return word == "y" or (word[0] in FRENCH_VOWELS and word not in ("onze", "oui"))


class Kinds(dict[str, str]):
    """How a word behaves where it stands: "elides", "contracts" (and elides), "joins", "several", ""."""

    def __missing__(self, word: str) -> str:
        kind = ""
        if word in ("de+", "à+"):
            kind = "contracts"
        elif word in ELIDING or word == "si":
            kind = "elides"
        elif word[0] == "-":
            kind = "joins"
        elif " " in word:
            kind = "several"
        self[word] = kind
        return kind


KINDS = Kinds()


def spell(words: Sequence[Word]) -> tuple[list[str], Keys]:
    """Words as they are written, each with the keys of the words that went into it.

    >>> spell([("je", 1), ("aime", 2), ("le", 3), ("arbre", 4), ("de+", 5), ("le", 6), ("roi", 7)])
    (["j'aime", "l'arbre", 'du', 'roi'], [(1, 2), (3, 4), (5, 6), (7,)])
    """
    written = [word for word, _ in words]
    owners: Keys = [(key,) for _, key in words]
    special = [(index, kind) for index, kind in enumerate(map(KINDS.__getitem__, written)) if kind]
    for index, kind in reversed(special):  # from the right: "de le" isn't joined once "le" elides
        word = words[index][0]
        if kind == "several":
            parts = word.split()
            written[index : index + 1] = parts
            owners[index:index] = [owners[index]] * (len(parts) - 1)
            continue
        if kind == "joins":
            index -= 1
            joined = written[index] + euphonic_t(written[index], word) + written[index + 1]
        elif start := elide(word, words[index + 1][0] if index + 1 < len(words) else "."):
            joined = start + written[index + 1]
        elif kind == "elides":
            continue
        else:
            joined = contract(word, written, index)
            if not joined:
                written[index] = word.rstrip("+")
                continue
        written[index : index + 2] = [joined]
        owners[index : index + 2] = [owners[index] + owners[index + 1]]
    return written, owners


def euphonic_t(verb: str, pronoun: str) -> str:
    """The t between a vowel and -il, -elle: mange-t-il, but dort-il, vend-elle.

    >>> [euphonic_t(verb, "-il") for verb in ("mange", "a", "convainc", "dort")]
    ['-t', '-t', '-t', '']
    """
    return "-t" if pronoun in ("-il", "-elle") and verb[-1] in "aec" else ""


@cache
def elide(word: str, following: str) -> str:
    """What is left of a word before a vowel, with the apostrophe; empty if it stays whole.

    >>> elide("le", "arbre"), elide("le", "hibou"), elide("si", "il"), elide("si", "elle")
    ("l'", '', "s'", '')
    """
    if word == "si":
        return "s'" if following in ("il", "ils") else ""
    if word != "à+" and vowel_sound(following):
        return word.rstrip("+")[:-1] + "'"
    return ""


def contract(word: str, written: Sequence[str], index: int) -> str:
    """du, des, au or aux, if the word is a preposition and the next one an article; else empty."""
    if word[-1] != "+" or index + 1 == len(written):
        return ""
    return CONTRACTIONS.get((word, written[index + 1]), "")


def join(words: Sequence[str]) -> str:
    """The words as one text; a comma joins the word before it.

    >>> join(["oui", ",", "elle", "dort"])
    'oui, elle dort'
    """
    return " ".join(words).replace(" ,", ",")


def number_commas(words: Sequence[str], keys: Keys) -> Keys:
    """Keys with which the first comma finds the first one of the other language, and so on.

    >>> number_commas(["oui", ",", "elle", "dort"], [(1,), (0,), (2,), (3,)])
    [(1,), (1000,), (2,), (3,)]
    """
    if "," in words:
        commas = [index for index, word in enumerate(words) if word == ","]
        for number, index in enumerate(commas):
            keys[index] = (COMMA + number,)
    return keys
