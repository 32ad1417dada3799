"""A sentence and its translations (chapter 07), the unit that every corpus of the course is made of."""

from dataclasses import dataclass


class CorpusError(ValueError):
    """A corpus that cannot be read; the message starts with the file and the line at fault."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A source sentence with all its right translations.

    Args:
        source: the sentence to translate.
        targets: every right translation; the first one is the one trained on.
        phenomena: what the sentence is an example of ("elision", "negation", …).
        alignment: (word of the source, word of `targets[0]`) pairs, both counted from 0 in
            the sentence split at its spaces.

    Raises:
        ValueError: if there is no translation, or one string where a tuple of them belongs.

    >>> pair = Pair("i am a student", ("je suis étudiant", "je suis étudiante"))
    >>> pair.target
    'je suis étudiant'
    >>> pair.accepts("je suis étudiante")
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
