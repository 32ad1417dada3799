"""Scores of a translator (chapter 09): exact match, BLEU, and exact match by phenomenon."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU

from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.translator import Translator

# sacrebleu's tokenisers that need neither a download nor a further package.
TOKENIZERS = ("13a", "char", "intl", "none", "zh")


@dataclass(frozen=True)
class Scores:
    """What a translator scores on a test set.

    Args:
        exact_match: share of sentences whose translation is one of the right ones, 0 to 1.
        bleu: corpus BLEU, 0 to 100 (Papineni et al. 2002), by sacrebleu (Post 2018).
        signature: how BLEU was computed, in sacrebleu's notation.
    """

    exact_match: float
    bleu: float
    signature: str


def evaluate_pairs(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    tokenize: str = "13a",
) -> Scores:
    """Translate the sources and compare with the right translations.

    Args:
        translator: the translator.
        pairs: the test set; BLEU compares with each pair's first translation.
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 or more.
        tokenize: sacrebleu's tokeniser, one of `TOKENIZERS`; "none" for text that is tokenised already.

    Returns:
        Exact match, BLEU and its signature.

    Raises:
        ValueError: if there are no pairs, there is no such tokeniser, a source is empty or too long, or beam
            or alpha are out of range.
    """
    if not pairs:
        raise ValueError("pairs is empty; there must be at least one")
    if tokenize not in TOKENIZERS:
        raise ValueError(f"tokenize ({tokenize!r}) must be one of {', '.join(TOKENIZERS)}")
    translations = translator.translate([pair.source for pair in pairs], beam=beam, alpha=alpha)
    bleu = BLEU(tokenize=tokenize, force=tokenize == "none")  # or it warns of tokenised text
    score = bleu.corpus_score(translations, [[pair.target for pair in pairs]]).score
    return Scores(exact_match(pairs, translations), score, str(bleu.get_signature()))


def evaluate_by_phenomenon(
    translator: Translator,
    sets: Mapping[str, Sequence[Pair]],
    *,
    beam: int = 4,
    alpha: float = 0.6,
) -> dict[str, float]:
    """Exact match on each challenge set.

    Args:
        translator: the translator.
        sets: phenomenon → its sentences.
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 or more.

    Returns:
        Phenomenon → share of right translations, 0 to 1, in the order of `sets`.

    Raises:
        ValueError: if a set has no pairs, a source is empty or too long, or beam or alpha are out of range.
    """
    return {
        name: exact_match(
            pairs, translator.translate([p.source for p in pairs], beam=beam, alpha=alpha)
        )
        for name, pairs in sets.items()
    }
