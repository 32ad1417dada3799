"""One line out for each line in (chapter 09): translate what may be blank, damaged or too long.

`Translator.translate` refuses a list with one wrong sentence. Here the others are translated nevertheless, and
each answer says what is to be known about its line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from transformer_course.corpus.batches import EOS_ID
from transformer_course.corpus.lenient import Line
from transformer_course.translator import Translator

_LINE_ENDS = {ord("\n"): " ", ord("\r"): " "}


@dataclass(frozen=True)
class Answer:
    """What became of one line.

    Args:
        text: the translation, without line ends; empty for a blank line, and where there was an error.
        unseen: words and signs of the line that the training text did not have.
        doubtful: whether the model is less sure of it than of most held-out sentences.
        unused: words of the line that the translation doesn't depend on, though such words mostly matter.
        cut: whether the model found no end, and the length limit cut the translation.
        error: why the line is not translated.
    """

    text: str = ""
    unseen: tuple[str, ...] = ()
    doubtful: bool = False
    unused: tuple[str, ...] = ()
    cut: bool = False
    error: ValueError | None = None


def translate_lines(
    translator: Translator,
    lines: Iterable[Line],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    at_once: int = 1000,
) -> Iterator[Answer]:
    """Translate lines, one answer a line.

    Args:
        translator: the translator.
        lines: sentences, or errors in place of those that could not be read (`corpus.lenient`).
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 to 10.
        at_once: how many lines are read before they are translated together; no more are kept in memory.

    Yields:
        The answers, in the order of the lines.

    Raises:
        ValueError: if beam or alpha are out of range.
    """
    remaining = iter(lines)
    while group := list(islice(remaining, at_once)):
        yield from _answers(translator, group, beam, alpha)


def _answers(
    translator: Translator, lines: Sequence[Line], beam: int, alpha: float
) -> list[Answer]:
    answers = [_without_search(translator, line) for line in lines]
    # Only texts are left without an answer.
    sentences = [str(line) for line, done in zip(lines, answers, strict=True) if done is None]
    best = [found[0] for found in translator.search(sentences, beam=beam, alpha=alpha)]
    texts = translator.vocabulary.decode([found.ids for found in best])
    unused = translator.unused(sentences, best)
    translated = iter(
        Answer(
            text.translate(_LINE_ENDS), found.unseen, found.doubtful, left, found.ids[-1] != EOS_ID
        )
        for found, text, left in zip(best, texts, unused, strict=True)
    )
    return [next(translated) if done is None else done for done in answers]


def _without_search(translator: Translator, line: Line) -> Answer | None:
    """The answer to a line that needs no search: an error, or nothing."""
    if isinstance(line, ValueError):
        return Answer(error=line)
    if not translator.vocabulary.normalise(line):
        return Answer()
    try:
        translator.check(line)
    except ValueError as error:
        return Answer(error=error)
    return None
