"""How hard a corpus is, and how broken a translation (chapter 13): conditional entropy, repeated words."""

from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise

import numpy as np

from transformer_course.corpus.pairs import words
from transformer_course.non_autoregressive.ibm_models import TokenPair


def conditional_entropy(
    pairs: Sequence[TokenPair], links: Sequence[Collection[tuple[int, int]]]
) -> float:
    r"""How many ways of saying a word the targets have: complexity of a corpus (Zhou et al. 2020).

    $\frac{1}{|V|} \sum_{x \in V} H(y \mid x)$, the mean, over the source's vocabulary, of the entropy of the
    target words that are linked to a word. Compare corpora of the same sources only: it grows with their size.

    Args:
        pairs: source and target of each sentence.
        links: the alignment of each.

    Returns:
        In nats, 0 where every word has a single translation.

    Raises:
        ValueError: if there aren't as many alignments as pairs, a link leads out of its pair, or there is none
            at all.

    >>> pairs = [(["you"], ["tu"]), (["you"], ["vous"]), (["cat"], ["chat"])]
    >>> round(conditional_entropy(pairs, [{(0, 0)}] * 3), 4)  # half of log 2
    0.3466
    """
    if len(pairs) != len(links):
        raise ValueError(f"links ({len(links)}) must be as many as pairs ({len(pairs)})")
    counts: dict[Hashable, dict[Hashable, int]] = {}
    for n, ((src, tgt), found) in enumerate(zip(pairs, links, strict=True)):
        for i, j in found:
            if not (0 <= i < len(src) and 0 <= j < len(tgt)):
                raise ValueError(
                    f"links[{n}] has {(i, j)}, in a pair of {len(src)} and {len(tgt)} words"
                )
            row = counts.setdefault(src[i], {})
            row[tgt[j]] = row.get(tgt[j], 0) + 1
    if not counts:
        raise ValueError("links must have at least one link")
    entropies = []
    for row in counts.values():
        p = np.array([*row.values()]) / sum(row.values())
        entropies.append(float(-(p * np.log(p)).sum()))
    return sum(entropies) / len(entropies)


def repeated_words(translations: Sequence[str]) -> float:
    """Share of words that repeat the word before them: what writing in parallel does (Wang et al. 2019).

    Args:
        translations: sentences.

    Returns:
        0 to 1; marks count as words, and capitals make no difference. 0 where nothing is said at all.

    Raises:
        ValueError: if there are no translations.

    >>> repeated_words(["the the cat", "no one"])
    0.2
    """
    if not translations:
        raise ValueError("translations is empty; there must be at least one")
    rows = [words(text.lower()) for text in translations]
    repeated = sum(one == two for row in rows for one, two in pairwise(row))
    return repeated / max(1, sum(map(len, rows)))
