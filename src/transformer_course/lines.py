"""One line out for each line in (chapter 09): translate what may be blank, damaged or too long.

`Translator.translate` refuses a list with one wrong sentence. Here the others are translated nevertheless, and
each answer says what is to be known about its line.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from transformer_course.corpus.batches import EOS_ID
from transformer_course.corpus.lenient import Line
from transformer_course.translator import Translation, Translator

_ENDS = str.maketrans("\n\r\t", "   ")  # what would end a line, or a column


@dataclass(frozen=True)
class Answer:
    """What became of one line.

    Args:
        text: the translation, without line ends and tabs; empty for a blank line, and where there was an error.
        unseen: words and signs of the line that the training text did not have.
        doubtful: whether the model is less sure of it than of most held-out sentences.
        untranslated: words of the line that have none of their usual translations in it.
        cut: whether the model found no end, and the length limit cut the translation.
        error: why the line is not translated.
        hypotheses: log-probability, in nats, and text of each hypothesis that was asked for, best first; none
            for a blank line, and where there was an error.
    """

    text: str = ""
    unseen: tuple[str, ...] = ()
    doubtful: bool = False
    untranslated: tuple[str, ...] = ()
    cut: bool = False
    error: ValueError | None = None
    hypotheses: tuple[tuple[float, str], ...] = ()


def translate_lines(
    translator: Translator,
    lines: Iterable[Line],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
    at_once: int = 1000,
) -> Iterator[Answer]:
    """Translate lines, one answer a line.

    Args:
        translator: the translator.
        lines: sentences, or errors in place of those that could not be read (`corpus.lenient`).
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 to 10.
        n_best: hypotheses for each line, at most `beam`.
        at_once: how many lines are read before they are translated together; no more are kept in memory.

    Yields:
        The answers, in the order of the lines.

    Raises:
        ValueError: if beam, alpha or n_best are out of range.
    """
    remaining = iter(lines)
    while group := list(islice(remaining, at_once)):
        yield from _answers(translator, group, beam, alpha, n_best)


def _answers(
    translator: Translator, lines: Sequence[Line], beam: int, alpha: float, n_best: int
) -> list[Answer]:
    answers = [_without_search(translator, line) for line in lines]
    # Only texts are left without an answer.
    sentences = [str(line) for line, done in zip(lines, answers, strict=True) if done is None]
    found = translator.search(sentences, beam=beam, alpha=alpha, top_beams=n_best)
    translated = iter([_answer(translator, *row) for row in zip(sentences, found, strict=True)])
    return [next(translated) if done is None else done for done in answers]


def _answer(translator: Translator, sentence: str, found: list[Translation]) -> Answer:
    best = found[0]
    decoded = translator.vocabulary.decode([hypothesis.ids for hypothesis in found])
    texts = [text.translate(_ENDS) for text in decoded]
    hypotheses = tuple((h.log_prob, text) for h, text in zip(found, texts, strict=True))
    cut = best.ids[-1] != EOS_ID
    [missing] = translator.untranslated([sentence], texts[:1])
    return Answer(texts[0], best.unseen, best.doubtful, missing, cut, hypotheses=hypotheses)


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
