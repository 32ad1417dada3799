"""A sentence and its translations (chapter 07), the unit that every corpus of the course is made of."""

import re
from dataclasses import dataclass

WORD_OR_MARK = re.compile(r"""[.,;:!?"()«»…]|[^\s.,;:!?"()«»…]+""")


class CorpusError(ValueError):
    """A corpus that cannot be read; the message starts with the file and the line at fault."""


def words(text: str) -> list[str]:
    """The words and marks of a sentence, one by one.

    Args:
        text: a sentence. An apostrophe or a hyphen stands within a word.

    Returns:
        The words and marks in their order.

    >>> words("The cat's here, isn't it?")
    ['The', "cat's", 'here', ',', "isn't", 'it', '?']
    >>> words("L'arbre dort-il ?")
    ["L'arbre", 'dort-il', '?']
    """
    return WORD_OR_MARK.findall(text)


def count_words(text: str) -> int:
    """The number of words of a sentence, without its marks.

    Args:
        text: a sentence.

    Returns:
        The number.

    >>> count_words("Le chat dort-il ?"), count_words("No, thank you.")
    (3, 3)
    """
    return sum(any(map(str.isalnum, word)) for word in words(text))


@dataclass(frozen=True, slots=True)
class Pair:
    """A source sentence with all its right translations.

    Args:
        source: the sentence to translate.
        targets: every right translation; the first one is the one trained on.
        phenomena: what the sentence is an example of ("elision", "negation", …).
        alignment: (word of the source, word of `targets[0]`) pairs, both counted from 0 in
            `words(...)` of the sentence, so that marks count too.

    Raises:
        ValueError: if there is no translation, or one string where a tuple of them belongs.

    >>> pair = Pair("I am a student.", ("Je suis étudiant.", "Je suis étudiante."))
    >>> pair.target
    'Je suis étudiant.'
    >>> pair.accepts("Je suis étudiante.")
    True
    """

    source: str
    targets: tuple[str, ...]
    phenomena: tuple[str, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.targets, str):
            raise ValueError(f"targets ({self.targets!r}) must be a tuple of translations")
        if not self.targets:
            raise ValueError(f"targets of {self.source!r} must hold at least one translation")

    @property
    def target(self) -> str:
        """The translation to train on."""
        return self.targets[0]

    def accepts(self, translation: str) -> bool:
        """Whether a translation is one of the right answers.

        Args:
            translation: what is to be judged; runs of white space count as one space.

        Returns:
            True if it is, letter for letter.
        """
        return " ".join(translation.split()) in self.targets

    def turned(self) -> "Pair":
        """The pair in the other direction: from the translation that is trained on to the source.

        Returns:
            A pair with the same phenomena, whose one right translation is the source.

        >>> Pair("a red car", ("une voiture rouge",), (), ((0, 0), (1, 2), (2, 1))).turned().source
        'une voiture rouge'
        """
        alignment = tuple(sorted((target, source) for source, target in self.alignment))
        return Pair(self.target, (self.source,), self.phenomena, alignment)
