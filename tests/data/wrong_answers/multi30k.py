"""Chapter 15: wrong answers as learners write them, none of them among the misconceptions."""

import math
from collections import Counter

import numpy as np


def word_precision__whole_division(found, total):
    return float(found.sum() // total.sum())


def word_precision__first_sentence_only(found, total):
    return found[0] / total[0]


def word_precision__last_sentence_only(found, total):
    for f, t in zip(found, total, strict=True):
        precision = f / t
    return precision


def word_precision__median_of_sentences(found, total):
    return np.median(found / total)


def word_precision__best_sentence(found, total):
    return (found / total).max()


def word_precision__product_of_sentences(found, total):
    return np.prod(found / total)


def word_precision__geometric_mean(found, total):
    return np.prod(found / total) ** (1 / len(found))


def word_precision__sum_of_sentences(found, total):
    return (found / total).sum()


def word_precision__count_of_found(found, total):
    return float(found.sum())


def word_precision__both_sums(found, total):
    return found.sum(), total.sum()


def word_precision__rounded(found, total):
    return round(float(found.sum() / total.sum()), 1)


def word_precision__as_text(found, total):
    return f"{found.sum() / total.sum():.3f}"


def word_precision__printed_only(found, total):
    print(found.sum() / total.sum())


def word_precision__writes_into_found(found, total):
    found *= 1000
    return found.sum() / total.sum() / 1000


def word_precision__one_word_more(found, total):
    return (found.sum() + 1) / (total.sum() + 1)


def word_precision__sentences_left_out_where_nothing_is_found(found, total):
    kept = found > 0
    return found[kept].sum() / total[kept].sum()


def _runs(text, n):
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _precisions(translations, references, last=4):
    pairs = list(zip(translations.split("\n"), references.split("\n"), strict=True))
    found = [sum((_runs(a, n) & _runs(b, n)).total() for a, b in pairs) for n in range(1, last + 1)]
    total = [sum(_runs(a, n).total() for a, _ in pairs) for n in range(1, last + 1)]
    return [f / max(t, 1) for f, t in zip(found, total, strict=True)]


def _short(translations, references):
    return min(1, math.exp(1 - len(references.split()) / len(translations.split())))


def bleu__up_to_three(translations, references):
    p = _precisions(translations, references, 3)
    return 100 * _short(translations, references) * math.prod(p) ** (1 / 3)


def bleu__up_to_five(translations, references):
    p = _precisions(translations, references, 5)
    return 100 * _short(translations, references) * math.prod(p) ** (1 / 5)


def bleu__harmonic_mean(translations, references):
    p = _precisions(translations, references)
    mean = 0 if min(p) == 0 else 4 / sum(1 / x for x in p)
    return 100 * _short(translations, references) * mean


def bleu__middle_precisions(translations, references):
    return 100 * _short(translations, references) * sorted(_precisions(translations, references))[1]


def bleu__always_a_hundred(translations, references):
    return 100.0


def bleu__exact_match(translations, references):
    pairs = list(zip(translations.split("\n"), references.split("\n"), strict=True))
    return 100 * sum(a == b for a, b in pairs) / len(pairs)


def bleu__letters(translations, references):
    spread = [" ".join(t.replace(" ", "_")) for t in (translations, references)]
    p = _precisions(*spread)
    return 100 * math.prod(p) ** (1 / 4)


def bleu__first_sentence_only(translations, references):
    first = translations.split("\n")[0], references.split("\n")[0]
    return 100 * _short(*first) * math.prod(_precisions(*first)) ** (1 / 4) - 1e-3


def bleu__one_added_to_each_count(translations, references):
    pairs = list(zip(translations.split("\n"), references.split("\n"), strict=True))
    logs = 0
    for n in range(1, 5):
        found = sum((_runs(a, n) & _runs(b, n)).total() for a, b in pairs) + 1
        logs += math.log(found / (sum(_runs(a, n).total() for a, _ in pairs) + 1))
    return 100 * _short(translations, references) * math.exp(logs / 4)


def bleu__lengths_in_letters(translations, references):
    short = min(1, math.exp(1 - len(references) / len(translations)))
    return 100 * short * math.prod(_precisions(translations, references)) ** (1 / 4)


def bleu__brevity_squared(translations, references):
    p = _precisions(translations, references)
    return 100 * _short(translations, references) ** 2 * math.prod(p) ** (1 / 4)


def bleu__small_letters_without_commas(translations, references):
    plain = [text.lower().replace(",", "") for text in (translations, references)]
    return 100 * _short(*plain) * math.prod(_precisions(*plain)) ** (1 / 4)


def bleu__empty_lines_dropped_and_lines_in_pairs(translations, references):
    plain = ["\n".join(filter(None, text.split("\n"))) for text in (translations, references)]
    return 100 * _short(*plain) * math.prod(_precisions(*plain)) ** (1 / 4)


def redrawn_precisions__sentences_that_were_not_drawn(found, total, draws):
    rows = [np.setdiff1d(np.arange(len(found)), row) for row in draws]
    return np.array([found[row].sum() / total[row].sum() for row in rows])


def redrawn_precisions__a_list(found, total, draws):
    return [found[row].sum() / total[row].sum() for row in draws]


def redrawn_precisions__first_draw_only(found, total, draws):
    return np.array([found[draws[0]].sum() / total[draws[0]].sum()])


def redrawn_precisions__mean_of_all(found, total, draws):
    return (found[draws].sum(axis=1) / total[draws].sum(axis=1)).mean()


def redrawn_precisions__sorted(found, total, draws):
    return np.sort(found[draws].sum(axis=1) / total[draws].sum(axis=1))


def redrawn_precisions__own_random_draws(found, total, draws):
    draws = np.random.default_rng().integers(0, len(found), size=draws.shape)
    return found[draws].sum(axis=1) / total[draws].sum(axis=1)


def redrawn_precisions__another_draw_for_the_totals(found, total, draws):
    return found[draws].sum(axis=1) / total[draws[::-1]].sum(axis=1)


def redrawn_precisions__words_found_only(found, total, draws):
    return found[draws].sum(axis=1)


def redrawn_precisions__last_sentence_left_out(found, total, draws):
    return found[draws[:, :-1]].sum(axis=1) / total[draws[:, :-1]].sum(axis=1)


def redrawn_precisions__sum_of_ratios(found, total, draws):
    return (found / total)[draws].sum(axis=1)


def redrawn_precisions__draws_as_a_mask(found, total, draws):
    return np.array([found[row > 0].sum() / total[row > 0].sum() for row in draws])


def redrawn_precisions__the_next_sentences(found, total, draws):
    return found[draws + 1].sum(axis=1) / total[draws + 1].sum(axis=1)


def interval__sorted_in_place(scores, one_in=40):
    scores.sort()
    k = len(scores) // one_in
    return scores[k], scores[-1 - k]


def interval__k_rounded(scores, one_in=40):
    ordered = np.sort(scores)
    k = round(len(scores) / one_in + 0.001)
    k = min(k, (len(scores) - 1) // 2)
    return ordered[k], ordered[-1 - k]


def interval__empty_slice(scores, one_in=40):
    k = len(scores) // one_in
    kept = np.sort(scores)[k:-k]
    return kept.min(), kept.max()


def interval__one_number(scores, one_in=40):
    k = len(scores) // one_in
    ordered = np.sort(scores)
    return ordered[-1 - k] - ordered[k]


def interval__all_that_remain(scores, one_in=40):
    k = len(scores) // one_in
    return np.sort(scores)[k : len(scores) - k]


def interval__one_deviation(scores, one_in=40):
    return scores.mean() - scores.std(), scores.mean() + scores.std()


def interval__middle_and_width(scores, one_in=40):
    k = len(scores) // one_in
    ordered = np.sort(scores)
    return (ordered[k] + ordered[-1 - k]) / 2, ordered[-1 - k] - ordered[k]


def interval__fraction_as_an_index(scores, one_in=40):
    k = len(scores) / one_in
    ordered = np.sort(scores)
    return ordered[k], ordered[-1 - k]


def interval__equal_scores_once(scores, one_in=40):
    ordered = np.unique(scores)
    k = len(ordered) // one_in
    return ordered[k], ordered[-1 - k]


def interval__the_places(scores, one_in=40):
    order = np.argsort(scores)
    k = len(scores) // one_in
    return float(order[k]), float(order[-1 - k])


def interval__lowest_twice(scores, one_in=40):
    ordered = np.sort(scores)
    k = len(scores) // one_in
    return ordered[k], ordered[k]


def interval__values_cut_off(scores, one_in=40):
    span = (scores.max() - scores.min()) / one_in
    return scores.min() + span, scores.max() - span


def _scores(found, total, draws):
    return found[draws].sum(axis=1) / total[draws].sum(axis=1)


def share_of_wins__share_that_b_does_not_win_by_much(found_a, total_a, found_b, total_b, draws):
    a, b = _scores(found_a, total_a, draws), _scores(found_b, total_b, draws)
    return (a > b - 0.1).mean()


def share_of_wins__majority_of_sentences(found_a, total_a, found_b, total_b, draws):
    better = (found_a / total_a > found_b / total_b)[draws]
    return (better.mean(axis=1) > 0.5).mean()


def share_of_wins__draws_that_differ(found_a, total_a, found_b, total_b, draws):
    return (_scores(found_a, total_a, draws) != _scores(found_b, total_b, draws)).mean()


def share_of_wins__one_verdict_for_each_draw(found_a, total_a, found_b, total_b, draws):
    return _scores(found_a, total_a, draws) > _scores(found_b, total_b, draws)


def share_of_wins__true_or_false(found_a, total_a, found_b, total_b, draws):
    wins = _scores(found_a, total_a, draws) > _scores(found_b, total_b, draws)
    return bool(wins.mean() > 0.5)


def share_of_wins__ties_left_out_in_a_loop(found_a, total_a, found_b, total_b, draws):
    wins = losses = 0
    for a, b in zip(
        _scores(found_a, total_a, draws), _scores(found_b, total_b, draws), strict=True
    ):
        wins += bool(a > b)
        losses += bool(a < b)
    return wins / (wins + losses)


def share_of_wins__divided_by_sentences(found_a, total_a, found_b, total_b, draws):
    wins = _scores(found_a, total_a, draws) > _scores(found_b, total_b, draws)
    return wins.sum() / len(found_a)


def share_of_wins__wins_minus_losses(found_a, total_a, found_b, total_b, draws):
    a, b = _scores(found_a, total_a, draws), _scores(found_b, total_b, draws)
    return np.sign(a - b).mean()


def share_of_wins__own_random_draws(found_a, total_a, found_b, total_b, draws):
    draws = np.random.default_rng().integers(0, len(found_a), size=(50, len(found_a)))
    return (_scores(found_a, total_a, draws) > _scores(found_b, total_b, draws)).mean()


def share_of_wins__a_third_draw_for_b(found_a, total_a, found_b, total_b, draws):
    others = np.roll(draws, 2, axis=0)
    return (_scores(found_a, total_a, draws) > _scores(found_b, total_b, others)).mean()


def choose_and_report__setting_only(valid, test):
    return max(valid, key=valid.get)


def choose_and_report__all_three(valid, test):
    best = max(valid, key=valid.get)
    return best, valid[best], test[best]


def choose_and_report__setting_as_text(valid, test):
    best = max(valid, key=valid.get)
    return str(best), test[best]


def choose_and_report__mean_of_both_scores(valid, test):
    best = max(valid, key=valid.get)
    return best, (valid[best] + test[best]) / 2


def choose_and_report__the_difference(valid, test):
    best = max(valid, key=valid.get)
    return best, valid[best] - test[best]


def choose_and_report__mean_of_the_test_scores(valid, test):
    best = max(valid, key=valid.get)
    return best, sum(test.values()) / len(test)


def choose_and_report__smallest_gap(valid, test):
    best = min(valid, key=lambda s: abs(valid[s] - test[s]))
    return best, test[best]


def choose_and_report__first_setting(valid, test):
    best = next(iter(valid))
    return best, test[best]


def choose_and_report__the_place(valid, test):
    best = max(valid, key=valid.get)
    return list(valid).index(best), test[best]


def choose_and_report__worst_on_the_test_set(valid, test):
    best = min(test, key=test.get)
    return best, test[best]


def choose_and_report__removed_from_the_dictionary(valid, test):
    best = max(valid, key=valid.get)
    return best, test.pop(best)


def choose_and_report__a_dictionary(valid, test):
    best = max(valid, key=valid.get)
    return {best: test[best]}


def choose_and_report__better_of_both_scores(valid, test):
    best = max(valid, key=valid.get)
    return best, max(valid[best], test[best])


def choose_and_report__score_used_as_a_name(valid, test):
    best = max(valid.values())
    return best, test[best]


def choose_and_report__start_value_zero(valid, test):
    setting, score = None, 0.0
    for tried in valid:
        if valid[tried] > score:
            setting, score = tried, valid[tried]
    return setting, test[setting]


def choose_and_report__score_above_zero_only(valid, test):
    for setting in valid:
        if valid[setting] > 38.5:
            return setting, test[setting]
    return 0.0, 0.0


def average_weights__into_the_first_one(checkpoints):
    averaged = checkpoints[0]
    for weights in checkpoints[1:]:
        for name in averaged:
            averaged[name] += weights[name]
    for name in averaged:
        averaged[name] /= len(checkpoints)
    return averaged


def average_weights__divided_by_one_less(checkpoints):
    count = max(len(checkpoints) - 1, 1)
    return {name: sum(c[name] for c in checkpoints) / count for name in checkpoints[0]}


def average_weights__divided_at_each_step(checkpoints):
    averaged = {name: np.zeros_like(array) for name, array in checkpoints[0].items()}
    for weights in checkpoints:
        for name in averaged:
            averaged[name] = (averaged[name] + weights[name]) / len(checkpoints)
    return averaged


def average_weights__always_two(checkpoints):
    return {name: sum(c[name] for c in checkpoints) / 2 for name in checkpoints[0]}


def average_weights__first_name_only(checkpoints):
    name = next(iter(checkpoints[0]))
    return {name: sum(c[name] for c in checkpoints) / len(checkpoints)}


def average_weights__a_list(checkpoints):
    return [sum(c[name] for c in checkpoints) / len(checkpoints) for name in checkpoints[0]]


def average_weights__one_array(checkpoints):
    total = sum(sum(array.sum() for array in c.values()) for c in checkpoints)
    return np.array(total / len(checkpoints))


def average_weights__flattened(checkpoints):
    return {
        name: sum(c[name].ravel() for c in checkpoints) / len(checkpoints)
        for name in checkpoints[0]
    }


def average_weights__other_names(checkpoints):
    return {
        f"mean_{name}": sum(c[name] for c in checkpoints) / len(checkpoints)
        for name in checkpoints[0]
    }


def average_weights__root_of_the_mean_square(checkpoints):
    return {
        name: (sum(c[name] ** 2 for c in checkpoints) / len(checkpoints)) ** 0.5
        for name in checkpoints[0]
    }


def average_weights__rounded(checkpoints):
    return {
        name: np.round(sum(c[name] for c in checkpoints) / len(checkpoints))
        for name in checkpoints[0]
    }


def average_weights__largest(checkpoints):
    return {name: np.max([c[name] for c in checkpoints], axis=0) for name in checkpoints[0]}


def average_weights__nothing_returned(checkpoints):
    {name: sum(c[name] for c in checkpoints) / len(checkpoints) for name in checkpoints[0]}


def average_weights__last_one_left_out(checkpoints):
    kept = checkpoints[:-1] or checkpoints
    return {name: sum(c[name] for c in kept) / len(kept) for name in checkpoints[0]}


def average_weights__lists_inside(checkpoints):
    return {
        name: (sum(c[name] for c in checkpoints) / len(checkpoints)).tolist()
        for name in checkpoints[0]
    }


def average_weights__dictionaries_added(checkpoints):
    return sum(checkpoints) / len(checkpoints)


def judge_benchmark__all_true(statement):
    return True


def judge_benchmark__all_false(statement):
    return False


def judge_benchmark__all_turned(statement):
    return statement not in "bfi"


def judge_benchmark__as_text(statement):
    return str(statement in "bfi")


def judge_benchmark__zeros_and_ones(statement):
    return int(statement in "bfi")


def judge_benchmark__nothing_after_d(statement):
    return statement in "bfi" if statement in "abcd" else None


def judge_benchmark__printed_only(statement):
    print(statement in "bfi")


def judge_benchmark__the_letter_itself(statement):
    return statement


def judge_benchmark__a_letter_forgotten(statement):
    return dict.fromkeys("acdeghj", False)[statement]


def judge_benchmark__capital_letters(statement):
    return statement in "BFI"


def judge_benchmark__c_and_g_wrong(statement):
    return statement in "bfigc"


def judge_benchmark__first_half_right(statement):
    return statement == "b" or statement > "d"
