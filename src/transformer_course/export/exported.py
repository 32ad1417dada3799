"""What exported translators have in common (chapter 14): text in, text out, with the limits of `Translator`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from transformer_course.checkpoints import CheckpointError, read_json
from transformer_course.decoding import Hypothesis, check_beam
from transformer_course.translator import check_encoded, length_limit, load_vocabulary

MOST_THREADS = 1024


class ExportedTranslator(ABC):
    """A translator in a folder that was exported.

    Args:
        folder: with vocabulary.json, and a config.json that has max_len.
        threads: of the processor; 1 to 1,024.

    Attributes:
        vocabulary: the translator's.
        max_len: the longest sequence that the model takes.

    Raises:
        ValueError: if threads is no whole number from 1 to 1,024.
        CheckpointError: if a file is missing or damaged.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        if type(threads) is not int or not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"threads ({threads!r}) must be a whole number, 1 to {MOST_THREADS:,}")
        self.vocabulary = load_vocabulary(folder)
        max_len = read_json(folder / "config.json").get("max_len")
        if not isinstance(max_len, int):
            raise CheckpointError(f"{folder / 'config.json'} has no max_len: export the run again")
        self.max_len = max_len

    def translate(
        self, sentences: Sequence[str], *, beam: int = 4, alpha: float = 0.6
    ) -> list[str]:
        """Translate sentences.

        Args:
            sentences: of any lengths.
            beam: width of the beam; 1 is greedy decoding.
            alpha: strength of the length penalty, 0 to 10; see `EngineTranslator` on high ones.

        Returns:
            The translations, in the order of the sentences.

        Raises:
            ValueError: as `Translator.translate` does.
        """
        best = [found[0].ids for found in self.search(sentences, beam=beam, alpha=alpha)]
        return self.vocabulary.decode(best)

    def search(
        self,
        sentences: Sequence[str],
        *,
        beam: int = 4,
        alpha: float = 0.6,
        top_beams: int = 1,
    ) -> list[list[Hypothesis]]:
        """Find the best hypotheses of each sentence.

        Args:
            sentences: of any lengths.
            beam: width of the beam; 1 is greedy decoding.
            alpha: strength of the length penalty, 0 to 10; see `EngineTranslator` on high ones.
            top_beams: hypotheses for each sentence, at most `beam`.

        Returns:
            For each sentence its `top_beams` best hypotheses, best first.

        Raises:
            ValueError: if a sentence is empty or too long or no text that UTF-8 can write, or a number is out
                of range.
        """
        check_beam(beam, top_beams, alpha, len(self.vocabulary))
        rows = self.vocabulary.encode(sentences)
        check_encoded(sentences, rows, self.max_len)
        groups: dict[int, list[int]] = {}
        for i, ids in enumerate(rows):
            groups.setdefault(length_limit(len(ids), self.max_len), []).append(i)
        found: dict[int, list[Hypothesis]] = {}
        for limit, group in groups.items():
            answers = self._find([rows[i] for i in group], limit, beam, alpha, top_beams)
            found |= dict(zip(group, answers, strict=True))
        return [found[i] for i in range(len(rows))]

    @abstractmethod
    def _find(
        self, rows: list[list[int]], limit: int, beam: int, alpha: float, top_beams: int
    ) -> list[list[Hypothesis]]:
        """Search for sentences whose translations may get equally long.

        Args:
            rows: their subwords, without </s>.
            limit: most tokens of a translation, </s> included.
            beam: width of the beam.
            alpha: strength of the length penalty.
            top_beams: hypotheses for each sentence.

        Returns:
            For each sentence its best hypotheses, best first.
        """
