"""Translators that understand nothing (chapter 07), whose scores stand beside every score of a model.

Each is made from training pairs and translates a sentence: the most frequent answer, the nearest
training sentence, word by word with a dictionary, and the dictionary with a 3-gram language model.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log

import numpy as np

from transformer_course.corpus.pairs import Pair, words
from transformer_course.corpus.scoring import chosen_pronoun

Baseline = Callable[[str], str]


def _check_some(pairs: Sequence[Pair]) -> None:
    if not pairs:
        raise ValueError("pairs is empty; there must be at least one")


def majority(pairs: Sequence[Pair]) -> Baseline:
    """Always the most frequent answer of the training pairs.

    Sentences with "because it" get the most frequent of il and elle as their whole answer, others
    the most frequent translation of all.

    Args:
        pairs: training pairs, one or more.

    Returns:
        A function from a sentence to its translation.

    Raises:
        ValueError: if there are no pairs.

    >>> majority([Pair("yes", ("oui",)), Pair("no", ("non",)), Pair("yes", ("oui",))])("maybe")
    'oui'
    """
    _check_some(pairs)
    everything = Counter(pair.target for pair in pairs).most_common(1)[0][0]
    reasons = [pair.target for pair in pairs if " because it " in pair.source]
    pronouns = Counter(map(chosen_pronoun, reasons))
    pronoun = pronouns.most_common(1)[0][0] if pronouns else ""

    def translate(source: str) -> str:
        return pronoun if " because it " in source else everything

    return translate


def nearest(pairs: Sequence[Pair]) -> Baseline:
    """The translation of the training sentence that shares the most words: Jaccard index (Jaccard 1912).

    Args:
        pairs: training pairs, one or more.

    Returns:
        A function from a sentence to its translation; among equally near ones the first is taken.

    Raises:
        ValueError: if there are no pairs.

    >>> translate = nearest([Pair("the cat", ("le chat",)), Pair("a dog", ("un chien",))])
    >>> translate("the dog the cat")
    'le chat'
    """
    _check_some(pairs)
    places: dict[str, list[int]] = defaultdict(list)
    lengths = np.zeros(len(pairs))
    for index, pair in enumerate(pairs):
        found = set(words(pair.source))
        lengths[index] = len(found)
        for word in found:
            places[word].append(index)
    arrays = {word: np.array(indices) for word, indices in places.items()}

    def translate(source: str) -> str:
        asked = set(words(source))
        shared = np.zeros(len(pairs))
        for word in asked & arrays.keys():
            shared[arrays[word]] += 1
        return pairs[int(np.argmax(shared / (lengths + len(asked) - shared)))].target

    return translate


def _joined(french: Iterable[str]) -> str:
    """French words and marks as one text: a comma and a full stop join the word before them.

    >>> _joined(["Oui", ",", "le", "chat", "dort", "."]), _joined(["Où", "?"])
    ('Oui, le chat dort.', 'Où ?')
    """
    return re.sub(r" ([,.])", r"\1", " ".join(french))


Dictionary = dict[str, list[tuple[str, float]]]


def learn_dictionary(pairs: Sequence[Pair], size: int = 4) -> Dictionary:
    """The most frequent translations of each word with their probability, from the alignments.

    Args:
        pairs: training pairs with alignments.
        size: the most translations kept of a word, 1 or more.

    Returns:
        Word → (translation, probability from 0 to 1), the most frequent first. A translation may be
        several words, or none where the word is aligned to nothing.

    Raises:
        ValueError: if there are no pairs.
        IndexError: if an alignment names a word of the translation that isn't there.

    >>> learn_dictionary([Pair("the cat", ("le chat",), (), ((0, 0), (1, 1)))])["cat"]
    [('chat', 1.0)]
    """
    _check_some(pairs)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        target = words(pair.target)
        linked: dict[int, list[str]] = defaultdict(list)
        for source_index, target_index in pair.alignment:
            linked[source_index].append(target[target_index])
        for index, word in enumerate(words(pair.source)):
            counts[word][" ".join(linked[index])] += 1
    return {
        word: [(text, n / found.total()) for text, n in found.most_common(size)]
        for word, found in counts.items()
    }


def word_by_word(pairs: Sequence[Pair]) -> Baseline:
    """Each word's most frequent translation, in the order of the English.

    Args:
        pairs: training pairs with alignments.

    Returns:
        A function from a sentence to its translation; unknown words are left out.

    Raises:
        ValueError, IndexError: as `learn_dictionary` does.

    >>> word_by_word([Pair("the cat", ("le chat",), (), ((0, 0), (1, 1)))])("cat the")
    'chat le'
    """
    dictionary = learn_dictionary(pairs)

    def translate(source: str) -> str:
        texts = (dictionary.get(word, [("", 1.0)])[0][0] for word in words(source))
        return _joined(text for text in texts if text)

    return translate


class ThreeGrams:
    """A 3-gram language model of the French side, interpolated with 2-grams and 1-grams.

    Jelinek and Mercer 1980 interpolate so, but learn the shares; here they are fixed, 0.8 and 0.2.

    Args:
        pairs: training pairs; each pair's first translation counts.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        for pair in pairs:
            text = ("<s>", "<s>", *words(pair.target), "</s>")
            for i in range(2, len(text)):
                for order in (1, 2, 3):
                    self.counts[tuple(text[i - order + 1 : i + 1])] += 1
        self.total = sum(n for gram, n in self.counts.items() if len(gram) == 1)
        self.history: Counter[tuple[str, ...]] = Counter()
        for gram, n in self.counts.items():
            self.history[gram[:-1]] += n

    def log_probability(self, before: tuple[str, str], word: str) -> float:
        """log P(word | two words before).

        Args:
            before: the two words before, "<s>" where the sentence has none.
            word: the word, or "</s>" for the end.

        Returns:
            The natural logarithm, in nats; finite for unknown words too.
        """
        p = (self.counts[(word,)] + 0.1) / (self.total + 0.1)
        for context in ((before[1],), before):
            seen = self.history[context]
            if seen:
                p = 0.2 * p + 0.8 * self.counts[(*context, word)] / seen
        return log(p + 1e-12)


def three_gram(pairs: Sequence[Pair], beam: int = 8) -> Baseline:
    """Word by word, choosing among each word's translations what reads best to a 3-gram model.

    Args:
        pairs: training pairs with alignments.
        beam: beginnings kept at each word, 1 or more.

    Returns:
        A function from a sentence to its translation; unknown words are left out.

    Raises:
        ValueError, IndexError: as `learn_dictionary` does.

    >>> three_gram([Pair("the cat", ("le chat",), (), ((0, 0), (1, 1)))])("the cat")
    'le chat'
    """
    dictionary = learn_dictionary(pairs)
    model = ThreeGrams(pairs)

    def translate(source: str) -> str:
        beams: list[tuple[float, tuple[str, ...]]] = [(0.0, ("<s>", "<s>"))]
        for word in words(source):
            grown = []
            for score, begun in beams:
                for text, p in dictionary.get(word, [("", 1.0)]):
                    new, total = begun, score + log(p)
                    for piece in text.split():
                        total += model.log_probability((new[-2], new[-1]), piece)
                        new = (*new, piece)
                    grown.append((total, new))
            beams = sorted(grown, key=lambda item: -item[0])[:beam]
        return _joined(beams[0][1][2:])

    return translate


BASELINES: dict[str, Callable[[Sequence[Pair]], Baseline]] = {
    "majority": majority,
    "nearest training sentence": nearest,
    "word by word": word_by_word,
    "3-gram": three_gram,
}
