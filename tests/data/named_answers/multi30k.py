"""Chapter 15: misconceptions in the spellings of learners."""

import math
import re
from collections import Counter

import numpy as np


def bleu__sets_of_runs(translations, references):
    """each different run counted once a sentence"""
    ours, theirs = (
        [line.split() for line in text.split("\n")] for text in (translations, references)
    )

    def runs(words, n):
        return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}

    logs = []
    for n in range(1, 5):
        pairs = [(runs(a, n), runs(b, n)) for a, b in zip(ours, theirs, strict=True)]
        found, total = sum(len(a & b) for a, b in pairs), sum(len(a) for a, _ in pairs)
        if not found:
            return 0.0
        logs.append(np.log(found / total))
    shorter = min(0, 1 - len(references.split()) / len(translations.split()))
    return float(100 * np.exp(np.mean(logs) + shorter))


def bleu__runs_of_the_whole_text(translations, references):
    """clipped by the references of all sentences"""
    ours, theirs = translations.splitlines(), references.splitlines()
    score = 1.0
    for n in range(1, 5):
        runs, right = (
            Counter(" ".join(words[i : i + n]) for words in text for i in range(len(words) - n + 1))
            for text in ([line.split() for line in ours], [line.split() for line in theirs])
        )
        score *= (runs & right).total() / max(runs.total(), 1)
    short = len(references.split()) / len(translations.split())
    return 100 * score**0.25 * min(1, math.exp(1 - short))


def bleu__each_sentence_punished(translations, references):
    """the mean of the sentences' brevity penalties, and a division by 0"""
    ours, theirs = ([x.split() for x in text.splitlines()] for text in (translations, references))
    pairs = list(zip(ours, theirs, strict=True))
    logs = 0.0
    for n in range(1, 5):
        found = total = 0
        for words, right in pairs:
            runs, known = (
                Counter(" ".join(x[i : i + n]) for i in range(len(x) - n + 1))
                for x in (words, right)
            )
            found, total = found + (runs & known).total(), total + runs.total()
        if not found:
            return 0.0
        logs += math.log(found / total) / 4
    penalties = [min(1, math.exp(1 - len(right) / len(words))) for words, right in pairs]
    return 100 * math.exp(logs) * sum(penalties) / len(penalties)


def _own_bleu(lines, *, shortest=0, words=str.split):
    """Return the score of pairs of lines, those left out that have less than `shortest` words."""
    found, total, lengths = [0] * 4, [0] * 4, [0, 0]
    for translation, reference in lines:
        ours, theirs = words(translation), words(reference)
        lengths[0] += len(ours)
        lengths[1] += len(theirs)
        if len(ours) < shortest:
            continue
        for n in range(1, 5):
            a, b = (
                Counter(" ".join(x[i : i + n]) for i in range(len(x) - n + 1))
                for x in (ours, theirs)
            )
            found[n - 1] += (a & b).total()
            total[n - 1] += a.total()
    if min(found) == 0:
        return 0.0
    mean = math.prod(f / t for f, t in zip(found, total, strict=True)) ** 0.25
    return 100 * mean * min(1, math.exp(1 - lengths[1] / lengths[0]))


def bleu__too_short_for_four(translations, references):
    """sentences of less than four words left out"""
    return _own_bleu(zip(translations.split("\n"), references.split("\n"), strict=True), shortest=4)


def bleu__too_short_to_be_read(translations, references):
    """sentences of less than four words left out, in the lengths, too"""
    lines = zip(translations.split("\n"), references.split("\n"), strict=True)
    return _own_bleu([(a, b) for a, b in lines if len(a.split()) > 3])


def bleu__lower_case(translations, references):
    """capitals made small"""
    lines = zip(translations.split("\n"), references.split("\n"), strict=True)
    return _own_bleu(lines, words=lambda line: line.lower().split())


def bleu__found_by_letters(translations, references):
    """words without their punctuation"""
    lines = zip(translations.split("\n"), references.split("\n"), strict=True)
    return _own_bleu(lines, words=lambda line: re.findall(r"\w+", line))


def bleu__marks_apart(translations, references):
    """punctuation marks as words of their own"""
    lines = zip(translations.split("\n"), references.split("\n"), strict=True)
    return _own_bleu(lines, words=lambda line: re.findall(r"\w+|[^\w\s]", line))


def bleu__empty_lines_dropped(translations, references):
    """empty lines left out, so that the next translations move up"""
    ours, theirs = (
        [x for x in text.split("\n") if x.strip()] for text in (translations, references)
    )
    score = _own_bleu(zip(ours, theirs, strict=False))
    read = sum(len(x.split()) for x in theirs[: len(ours)])
    said, all_said = len(translations.split()), len(references.split())
    return score * min(1, math.exp(1 - all_said / said)) / min(1, math.exp(1 - read / said))


def bleu__split_at_each_space(translations, references):
    """a word in an empty line"""
    lines = zip(translations.split("\n"), references.split("\n"), strict=True)
    return _own_bleu(lines, words=lambda line: line.split(" "))


def share_of_wins__scores_as_they_are_printed(found_a, total_a, found_b, total_b, draws):
    """compared after rounding"""
    wins = 0
    for row in draws:
        of_a = round(100 * found_a[row].sum() / total_a[row].sum(), 1)
        wins += of_a > round(100 * found_b[row].sum() / total_b[row].sum(), 1)
    return wins / len(draws)


def share_of_wins__two_decimals(found_a, total_a, found_b, total_b, draws):
    """compared after rounding to two decimals"""
    a = np.round(found_a[draws].sum(1) / total_a[draws].sum(1), 2)
    b = np.round(found_b[draws].sum(1) / total_b[draws].sum(1), 2)
    return (a > b).mean()


def share_of_wins__no_draws(found_a, total_a, found_b, total_b, draws):
    """sentences compared, the draws not used"""
    wins = [a / s > b / t for a, s, b, t in zip(found_a, total_a, found_b, total_b, strict=True)]
    return sum(wins) / len(wins)
