"""Sequence-level distillation (chapter 13): what a teacher says instead of what the corpus says."""

from collections.abc import Sequence
from typing import Protocol

from transformer_course.corpus.pairs import Pair


class Teacher(Protocol):
    """What distillation asks of a translator (Kim and Rush 2016)."""

    def translate(self, text: list[str], *, beam: int, alpha: float) -> list[str]:
        """Translate several sentences.

        Args:
            text: the sentences.
            beam: width of the beam.
            alpha: strength of the length penalty.

        Returns:
            The translations, in the order of the sentences.
        """
        ...


def distil(
    teacher: Teacher, pairs: Sequence[Pair], *, beam: int = 4, alpha: float = 0.6
) -> list[Pair]:
    """Replace the targets of pairs by what a teacher says (Kim and Rush 2016, §3.2).

    Args:
        teacher: a `Translator`; it sorts the sentences into batches itself.
        pairs: whose sources are translated.
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 to 10.

    Returns:
        A pair for each, in their order, with its source and phenomena. It has no alignment, which belonged to
        the old target. Where the teacher says nothing, the old target stays, so that no line is lost.

    Raises:
        ValueError: as the teacher does.
    """
    said = teacher.translate([pair.source for pair in pairs], beam=beam, alpha=alpha)
    return [
        Pair(pair.source, (text if text.strip() else pair.target,), pair.phenomena)
        for pair, text in zip(pairs, said, strict=True)
    ]
