"""Scores of a translator (chapter 09): exact match, BLEU, chrF, perplexity, and exact match by phenomenon."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.loss import perplexity
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
        chrf: corpus chrF, 0 to 100 (Popović 2015), by sacrebleu; it counts runs of one to six characters.
        chrf_signature: how chrF was computed.
    """

    exact_match: float
    bleu: float
    signature: str
    chrf: float
    chrf_signature: str


def evaluate_pairs(
    translator: Translator,
    pairs: Sequence[Pair],
    *,
    beam: int = 4,
    alpha: float = 0.6,
    tokenize: str = "13a",
) -> Scores:
    """Translate the sources and compare with the right translations.

    BLEU is from Papineni et al. 2002, chrF from Popović 2015; sacrebleu computes both (Post 2018).

    Args:
        translator: the translator.
        pairs: the test set; BLEU and chrF compare with each pair's first translation.
        beam: width of the beam; 1 is greedy decoding.
        alpha: strength of the length penalty, 0 to 10.
        tokenize: sacrebleu's tokeniser, one of `TOKENIZERS`; "none" for text that is tokenised already.

    Returns:
        Exact match, BLEU, chrF, and the signatures of both.

    Raises:
        ValueError: if there are no pairs, there is no such tokeniser, a source is empty or too long, or beam
            or alpha are out of range.
    """
    _check(pairs, tokenize)  # before the translator works for minutes
    translations = translator.translate([pair.source for pair in pairs], beam=beam, alpha=alpha)
    return score_translations(pairs, translations, tokenize=tokenize)


def score_translations(
    pairs: Sequence[Pair], translations: Sequence[str], *, tokenize: str = "13a"
) -> Scores:
    """Compare translations that are there already with the right ones.

    BLEU is from Papineni et al. 2002, chrF from Popović 2015; sacrebleu computes both (Post 2018).

    Args:
        pairs: the test set; BLEU compares with each pair's first translation.
        translations: one a pair, in the same order.
        tokenize: sacrebleu's tokeniser, one of `TOKENIZERS`; "none" for text that is tokenised already.

    Returns:
        Exact match, BLEU, chrF, and the signatures of both.

    Raises:
        ValueError: if there are no pairs, not as many translations as pairs, or no such tokeniser.

    >>> pairs = [Pair("two cats", ("deux chats",)), Pair("a cat", ("un chat",))]
    >>> score_translations(pairs, ["deux chats", "une chat"]).exact_match
    0.5
    """
    _check(pairs, tokenize)
    bleu = BLEU(tokenize=tokenize, force=tokenize == "none")  # or it warns of tokenised text
    exact = exact_match(pairs, translations)
    chrf, references = CHRF(), [[pair.target for pair in pairs]]
    by_words = bleu.corpus_score(translations, references).score
    by_characters = chrf.corpus_score(translations, references).score
    signatures = str(bleu.get_signature()), str(chrf.get_signature())
    return Scores(exact, by_words, signatures[0], by_characters, signatures[1])


def _check(pairs: Sequence[Pair], tokenize: str) -> None:
    if not pairs:
        raise ValueError("pairs is empty; there must be at least one")
    if tokenize not in TOKENIZERS:
        raise ValueError(f"tokenize ({tokenize!r}) must be one of {', '.join(TOKENIZERS)}")


def bleu_interval(
    pairs: Sequence[Pair],
    translations: Sequence[str],
    *,
    tokenize: str = "13a",
    draws: int = 1000,
) -> tuple[float, float]:
    """Where BLEU would lie for other test sentences of the same kind (chapter 15).

    A bootstrap (Koehn 2004): out of the n sentences of the test set, n are drawn with repetition, many times.
    Each draw has a BLEU, and the middle 95 % of these scores make an interval. Sacrebleu draws, from a fixed
    seed, and gives the mean of all draws and half the width of the interval; the mean is put in the middle, and
    what would lie below 0 or above 100 is cut off.

    Args:
        pairs: the test set; BLEU compares with each pair's first translation.
        translations: one a pair, in the same order.
        tokenize: sacrebleu's tokeniser, one of `TOKENIZERS`.
        draws: how often to draw, 40 or more.

    Returns:
        Lowest and highest BLEU of the interval, 0 to 100.

    Raises:
        ValueError: if there are no pairs, not as many translations as pairs, no such tokeniser, or too few
            draws.

    >>> pairs = [Pair("", (text,)) for text in ("un chat dort dans la rue", "il la lui donne souvent")]
    >>> low, high = bleu_interval(pairs, ["un chat dort dans la rue", "il la lui donne souvent"])
    >>> round(low), round(high)
    (100, 100)
    """
    if not pairs or len(pairs) != len(translations):
        raise ValueError(
            f"translations ({len(translations)}) must be as many as pairs ({len(pairs)}), at least one"
        )
    if tokenize not in TOKENIZERS:
        raise ValueError(f"tokenize ({tokenize!r}) must be one of {', '.join(TOKENIZERS)}")
    if draws < 40:
        raise ValueError(f"draws ({draws}) must be at least 40: one in 40 is left out at each end")
    bleu = BLEU(tokenize=tokenize, force=tokenize == "none")
    score = bleu.corpus_score(translations, [[pair.target for pair in pairs]], n_bootstrap=draws)
    shown = json.loads(score.format(6, signature=str(bleu.get_signature()), is_json=True))
    mean, half = shown.get("confidence_mean", 0.0), shown.get("confidence_var", 0.0)  # none if 0
    return max(0.0, mean - half), min(100.0, mean + half)


@dataclass(frozen=True)
class Likelihood:
    """How probable a translator finds translations that are given to it.

    Args:
        log_probs: log-probability of each translation, in nats, </s> included.
        n_tokens: subwords of all translations together, the </s> of each included.
    """

    log_probs: list[float]
    n_tokens: int

    @property
    def perplexity(self) -> float:
        """`loss.perplexity` of the mean over all subwords: of how many equally likely ones each was guessed."""
        return perplexity(-sum(self.log_probs) / self.n_tokens)


def likelihood(translator: Translator, pairs: Sequence[Pair]) -> Likelihood:
    """Let a translator say how probable the right translations are.

    Args:
        translator: the translator.
        pairs: one or more; of each the first translation.

    Returns:
        The log-probabilities, in the order of the pairs, and how many subwords they are of.

    Raises:
        ValueError: if there are no pairs, or a sentence is empty or too long.
    """
    if not pairs:
        raise ValueError("pairs is empty; there must be at least one")
    log_probs = translator.score([(pair.source, pair.target) for pair in pairs])
    targets = translator.vocabulary.encode([pair.target for pair in pairs])
    return Likelihood(log_probs, sum(len(ids) + 1 for ids in targets))


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
        alpha: strength of the length penalty, 0 to 10.

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
