"""Which word wrote which (chapter 13): IBM models 1 and 2 by expectation maximisation, and fertilities.

Both models let each target word choose one source word, or a null word that stands before them all, and be
written by it. Nobody says who wrote whom: it is guessed from the tables, and the tables are counted from the
guesses.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from transformer_course.non_autoregressive.fertility import N_FERTILITIES

TokenPair = tuple[Sequence[Hashable], Sequence[Hashable]]
Links = set[tuple[int, int]]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_UNSEEN = 1e-12  # of two words that never met; so that positions still decide
_AT_ONCE = 10_000  # pairs that are aligned together: some hundred megabytes
_LEARN_FROM = 50_000  # pairs that decide the tables; further ones change little
_LONGEST = 2**15 - 1  # tokens of a sentence: four of its places are packed into one number


class IbmModel:
    r"""IBM models 1 and 2 (Brown et al. 1993, §4.1 and §4.2): tables that say how likely a translation is.

    $P(y \mid x) = \prod_j \sum_{i=0}^{l} a(i \mid j, l, m)\, t(y_j \mid x_i)$, with $l$ source and $m$ target
    words, and $x_0$ the null word. In model 1 all places are equally likely, $a = 1/(l+1)$; model 2 learns $a$.
    So both are one model here, and model 1 is the one whose table of places is left as it was. (The paper
    counts with one more constant factor, the probability of $m$.)

    Args:
        pairs: source and target of each sentence, words or subword ids.

    Raises:
        ValueError: if there are no pairs, a sentence is too long, or no target has a word.

    >>> model = IbmModel([(["the", "house"], ["das", "Haus"]), (["the", "book"], ["das", "Buch"])])
    >>> for _ in range(20):
    ...     loss = model.update()
    >>> [max(model.translations(word)) for word in ("house", "book")], model.align([(["book"], ["Buch"])])
    (['Haus', 'Buch'], [{(0, 0)}])
    """

    def __init__(self, pairs: Sequence[TokenPair]) -> None:
        if not any(len(tgt) for _, tgt in pairs):
            raise ValueError(f"pairs ({len(pairs)} of them) must have at least one target word")
        self._sources: dict[Hashable, int] = {}
        self._targets: dict[Hashable, int] = {}
        for src, tgt in pairs:
            for token in src:
                self._sources.setdefault(token, len(self._sources) + 1)  # 0 is the null word
            for token in tgt:
                self._targets.setdefault(token, len(self._targets))
        words, places, sizes = self._choices(pairs)
        self._words, self._word = np.unique(words, return_inverse=True)
        self._places, self._place = np.unique(places, return_inverse=True)
        self._of = np.repeat(np.arange(len(sizes)), sizes)  # the target word that chooses
        self._t = _shares(np.ones(len(self._words)), self._words >> 32)
        self._a = _shares(np.ones(len(self._places)), self._places >> 15)

    def update(self, positions: bool = False) -> float:
        """Expectation, then maximisation, once (Dempster et al. 1977; Brown et al. 1993, §4).

        Args:
            positions: whether the table of places is counted anew, too, as in model 2. Start it from some
                updates of model 1: it has many maxima.

        Returns:
            The log-likelihood of the pairs, in nats, *before* the update. It never falls.
        """
        weights = self._t[self._word] * self._a[self._place]
        totals = np.bincount(self._of, weights)  # P of each target word
        shares = weights / totals[self._of]  # who wrote it, probably
        self._t = _shares(np.bincount(self._word, shares), self._words >> 32)
        if positions:
            self._a = _shares(np.bincount(self._place, shares), self._places >> 15)
        return float(np.log(totals).sum())

    def translations(self, source: Hashable | None, least: float = 0.01) -> dict[Hashable, float]:
        """A row of the table $t$: what a source word writes.

        Args:
            source: a word of the pairs; None for the null word.
            least: rarer translations are left out.

        Returns:
            Target word → probability, the most probable first.

        Raises:
            ValueError: if no source has this word.
        """
        if source is not None and source not in self._sources:
            raise ValueError(f"source ({source!r}) must be a word of the pairs")
        number = 0 if source is None else self._sources[source]
        first, last = np.searchsorted(self._words, [number << 32, (number + 1) << 32])
        targets, row = [*self._targets], self._t[first:last]
        order = [i for i in np.argsort(-row, kind="stable") if row[i] >= least]
        return {targets[int(self._words[first + i] & (2**32 - 1))]: float(row[i]) for i in order}

    def place(self, source: int, target: int, src_len: int, tgt_len: int) -> float:
        """An entry of the table $a$: how likely a place of the target chooses a place of the source.

        Args:
            source: place of the source word, counted from 0; -1 for the null word.
            target: place of the target word.
            src_len: words of the source.
            tgt_len: words of the target.

        Returns:
            A probability; that of model 1 where no pair has these lengths.
        """
        key = np.array([_packed(src_len, tgt_len, target, source + 1)])
        return float(_look_up(self._places, self._a, key, np.array([1 / (src_len + 1)]))[0])

    def align(self, pairs: Sequence[TokenPair], null: bool = True) -> list[Links]:
        """The most probable alignment of each pair (Viterbi alignment; Brown et al. 1993, §4).

        Args:
            pairs: those that the model was made of, or others.
            null: whether a target word may choose the null word, and so have no link. If not, each has one
                link, and fertilities sum to the target's length.

        Returns:
            For each pair its links, (source place, target place), as in `Pair.alignment`.

        Raises:
            ValueError: if a sentence is too long, or `null` is false and a source is empty.
        """
        for number, (src, _) in enumerate(pairs):
            if not (null or len(src)):
                raise ValueError(f"pairs[{number}] has an empty source: null must be True")
        portions = [pairs[i : i + _AT_ONCE] for i in range(0, len(pairs), _AT_ONCE)]
        return [links for portion in portions for links in self._best(portion, null)]

    def _best(self, pairs: Sequence[TokenPair], null: bool) -> list[Links]:
        words, places, sizes = self._choices(pairs)
        t = _look_up(self._words, self._t, words, np.full(len(words), _UNSEEN))
        a = _look_up(self._places, self._a, places, 1 / np.repeat(sizes, sizes))
        scores = np.maximum(t, _UNSEEN) * np.maximum(a, _UNSEEN)
        found, start = [], 0
        for src, tgt in pairs:
            end = start + len(tgt) * (len(src) + 1)
            table = scores[start:end].reshape(len(tgt), len(src) + 1)
            best = table.argmax(1) - 1 if null else table[:, 1:].argmax(1)
            found.append({(int(i), j) for j, i in enumerate(best) if i >= 0})
            start = end
        return found

    def _choices(self, pairs: Sequence[TokenPair]) -> tuple[Ints, Ints, Ints]:
        """All that the target words can choose from, one word after the other: words, places; how many each."""
        none = np.zeros(0, dtype=np.int64)
        words, places, sizes = [none], [none], [none]
        for number, (src, tgt) in enumerate(pairs):
            longest = max(len(src), len(tgt))
            if longest > _LONGEST:
                raise ValueError(
                    f"pairs[{number}] has {longest} words on a side; the most are {_LONGEST}"
                )
            x = np.array([0, *(self._sources.get(s, 2**30) for s in src)], dtype=np.int64)
            y = np.array([self._targets.get(t, 2**30) for t in tgt], dtype=np.int64)
            words.append(((x << 32)[None, :] | y[:, None]).ravel())  # (tgt_len · (src_len + 1),)
            target, source = np.mgrid[: len(y), : len(x)]
            places.append(_packed(len(src), len(tgt), target, source).ravel())
            sizes.append(np.full(len(y), len(x)))
        return np.concatenate(words), np.concatenate(places), np.concatenate(sizes)


def _packed(src_len: int, tgt_len: int, target: Ints | int, source: Ints | int) -> Ints:
    """Four small numbers as one; the last one is lost by `>> 15`."""
    return (np.asarray((src_len << 15 | tgt_len) << 30) | np.asarray(target) << 15) | source


def _shares(counts: npt.ArrayLike, groups: Ints) -> Floats:
    """Counts divided by the sum of their group; equal groups stand side by side."""
    number = np.cumsum(np.diff(groups, prepend=groups[0]) != 0)
    values = np.asarray(counts, dtype=np.float64)
    return values / np.bincount(number, values)[number]


def _look_up(keys: Ints, values: Floats, wanted: Ints, otherwise: Floats) -> Floats:
    """The values of sorted keys."""
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], otherwise)


def fertilities(links: Iterable[tuple[int, int]], src_len: int) -> list[int]:
    """How many target words each source word wrote (Brown et al. 1993).

    Args:
        links: (source place, target place), as `IbmModel.align` gives them.
        src_len: words of the source.

    Returns:
        A number for each source word; they sum to the number of links.

    Raises:
        ValueError: if a link names a place that the source hasn't.

    >>> fertilities({(0, 0), (2, 1), (2, 2)}, 3)
    [1, 0, 2]
    """
    found = [0] * src_len
    for source, target in links:
        if not 0 <= source < src_len:
            raise ValueError(
                f"link ({source}, {target}) must name one of the source's {src_len} words"
            )
        found[source] += 1
    return found


def aligned_fertilities(
    pairs: Sequence[TokenPair], updates: int = 5, most: int = N_FERTILITIES - 1
) -> list[list[int]]:
    """Fertilities of all pairs, from the pairs alone: model 1, then model 2 (Brown et al. 1993), then `align`.

    Args:
        pairs: source and target of each sentence, no source empty. The tables are learnt from at most 50,000
            of them, spread evenly.
        updates: of model 1, and as many of model 2.
        most: target words of one source word; the default is what `FertilityTransformer` knows.

    Returns:
        A number for each source word of each pair; they sum to the target's length. None is above `most`, if
        there are enough words: the surplus goes to the next ones.

    Raises:
        ValueError: as `IbmModel` does.

    >>> aligned_fertilities([(["a"], ["x"])] * 3 + [(["a", "b"], ["x", "y", "y"])])[-1]
    [1, 2]
    """
    model = IbmModel(pairs[:: max(1, -(-len(pairs) // _LEARN_FROM))])
    for n in range(2 * updates):
        model.update(positions=n >= updates)
    aligned = zip(model.align(pairs, null=False), pairs, strict=True)
    return [_spread(fertilities(links, len(src)), most) for links, (src, _) in aligned]


def _spread(counts: list[int], most: int) -> list[int]:
    """What is above `most` goes to the next word, from the last one to the first.

    >>> _spread([1, 5, 0, 4], most=3)
    [2, 3, 2, 3]
    """
    surplus = 0
    found = list(counts)
    for place in [*range(len(found))] * 2:
        surplus += found[place]
        found[place] = min(surplus, most)
        surplus -= found[place]
    if found:
        found[-1] += surplus  # more words than the model can write
    return found
