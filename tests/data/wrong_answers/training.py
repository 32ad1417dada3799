"""Chapter 07: wrong answers as learners write them, none of them among the misconceptions."""

import math

import numpy as np
import torch
from torch import Tensor


def inverse_sqrt_rate__warmup_to_the_half(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-0.5)


def inverse_sqrt_rate__sum_of_both(step, d_model, warmup_steps):
    return d_model**-0.5 * (step**-0.5 + step * warmup_steps**-1.5)


def inverse_sqrt_rate__product_of_both(step, d_model, warmup_steps):
    return d_model**-0.5 * step**-0.5 * step * warmup_steps**-1.5


def inverse_sqrt_rate__always_the_peak(step, d_model, warmup_steps):
    return (d_model * warmup_steps) ** -0.5


def inverse_sqrt_rate__twice(step, d_model, warmup_steps):
    return 2 * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def inverse_sqrt_rate__width_and_warmup_exchanged(step, d_model, warmup_steps):
    return warmup_steps**-0.5 * min(step**-0.5, step * d_model**-1.5)


def inverse_sqrt_rate__falls_to_zero(step, d_model, warmup_steps):
    peak = (d_model * warmup_steps) ** -0.5
    return peak * min(step / warmup_steps, max(0, 2 - step / warmup_steps))


def inverse_sqrt_rate__as_text(step, d_model, warmup_steps):
    return f"{d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5):.2e}"


def inverse_sqrt_rate__rounded(step, d_model, warmup_steps):
    return round(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5), 4)


def inverse_sqrt_rate__positive_exponent(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**0.5, step * warmup_steps**-1.5)


_ANSWERS = {"a": 6, "b": 5, "c": 0.25, "d": 0.5, "e": 0.003, "f": 8.29, "g": 40, "h": 3}


def _but(letter, answer):
    return _ANSWERS | {letter: answer}


def predict__all_zero(question):
    return 0


def predict__as_text(question):
    return str(_ANSWERS[question])


def predict__in_a_list(question):
    return [_ANSWERS[question]]


def predict__percent(question):
    return _but("c", 25)[question]


def predict__a_third_of_the_rate(question):
    return _but("d", 1 / 3)[question]


def predict__gradient_as_step(question):
    return _but("e", 20)[question]


def predict__logarithm_to_base_10(question):
    return _but("f", math.log10(4000))[question]


def predict__rounded_down(question):
    return int(_ANSWERS[question])


def predict__batch_with_a_fraction(question):
    return _but("b", 50 / 12)[question]


def predict__second_number(question):
    return _but("h", 4)[question]


def predict__only_the_target(question):
    return _but("g", 1000 // 15)[question]


def predict__letters_forgotten(question):
    return {k: v for k, v in _ANSWERS.items() if k < "g"}[question]


def _starts(symbols, left, right):
    found, i = np.zeros(len(symbols), dtype=bool), 0
    while i < len(symbols) - 1:
        if symbols[i] == left and symbols[i + 1] == right:
            found[i] = True
            i += 1
        i += 1
    return found


def merge_places__as_numbers(symbols, left, right):
    return _starts(symbols, left, right).astype(float)


def merge_places__left_alone(symbols, left, right):
    return np.array([symbol == left for symbol in symbols.tolist()], dtype=bool)


def merge_places__inverted(symbols, left, right):
    return ~_starts(symbols, left, right)


def merge_places__a_list(symbols, left, right):
    return _starts(symbols, left, right).tolist()


def merge_places__never(symbols, left, right):
    return np.zeros(len(symbols), dtype=bool)


def merge_places__last_pair_missed(symbols, left, right):
    found = _starts(symbols, left, right)
    found[-2:] = False
    return found


def merge_places__beyond_the_end(symbols, left, right):
    found = np.zeros(len(symbols), dtype=bool)
    for i in range(len(symbols)):
        found[i] = symbols[i] == left and symbols[i + 1] == right
    return found


def merge_places__either_of_the_two(symbols, left, right):
    found = np.zeros(len(symbols), dtype=bool)
    for i in range(len(symbols) - 1):
        found[i] = symbols[i] == left or symbols[i + 1] == right
    return found


def merge_places__one_after_the_other_not_neighbours(symbols, left, right):
    found = np.zeros(len(symbols), dtype=bool)
    for i in range(len(symbols) - 1):
        found[i] = symbols[i] == left and right in symbols[i + 1 :]
    return found


def merge_places__number(symbols, left, right):
    return float(_starts(symbols, left, right).sum())


def _counts(src_len, tgt_len, size):
    rows = []
    for start in range(0, len(src_len), size):
        src, tgt = src_len[start : start + size], tgt_len[start : start + size]
        rows.append((len(src), src.max(), tgt.max(), src.sum() + tgt.sum()))
    return np.array(rows, dtype=float).T


def padded_share__positions_padded(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len, tgt_len, size)
    return float((n * (src + tgt)).sum() - filled.sum())


def padded_share__percent(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len, tgt_len, size)
    return 100 * float(1 - filled.sum() / (n * (src + tgt)).sum())


def padded_share__first_batch_only(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len[:size], tgt_len[:size], size)
    return float(1 - filled.sum() / (n * (src + tgt)).sum())


def padded_share__sorted_first(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(np.sort(src_len), np.sort(tgt_len), size)
    return float(1 - filled.sum() / (n * (src + tgt)).sum())


def padded_share__shortest(src_len, tgt_len, size):
    return float(1 - (src_len.min() + tgt_len.min()) / (src_len.max() + tgt_len.max()))


def padded_share__largest_of_the_shares(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len, tgt_len, size)
    return float((1 - filled / (n * (src + tgt))).max())


def padded_share__mean_of_both_sides(src_len, tgt_len, size):
    n, src, tgt, _ = _counts(src_len, tgt_len, size)
    sides = [1 - src_len.sum() / (n * src).sum(), 1 - tgt_len.sum() / (n * tgt).sum()]
    return float(np.mean(sides))


def padded_share__product_of_the_widths(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len, tgt_len, size)
    return float(1 - filled.sum() / (n * src * tgt).sum())


def padded_share__special_tokens_again(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len + 1, tgt_len + 2, size)
    return float(1 - filled.sum() / (n * (src + tgt)).sum())


def padded_share__per_batch(src_len, tgt_len, size):
    n, src, tgt, filled = _counts(src_len, tgt_len, size)
    return 1 - filled / (n * (src + tgt))


def _adam(weight, gradient, m, v, step, rate, betas=(0.9, 0.98)):
    m = betas[0] * m + (1 - betas[0]) * gradient
    v = betas[1] * v + (1 - betas[1]) * gradient**2
    return m, v, m / (1 - betas[0] ** step), v / (1 - betas[1] ** step)


def adam_step__only_the_weights(weight, gradient, m, v, step, rate):
    _, _, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / (low**0.5 + 1e-9)


def adam_step__m_and_v_exchanged(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / (low**0.5 + 1e-9), v, m


def adam_step__without_epsilon(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / low**0.5, m, v


def adam_step__large_epsilon(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / (low**0.5 + 0.1), m, v


def adam_step__plain_descent(weight, gradient, m, v, step, rate):
    m, v, _, _ = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * gradient, m, v


def adam_step__sign_only(weight, gradient, m, v, step, rate):
    m, v, _, _ = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * np.sign(gradient), m, v


def adam_step__the_move_alone(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return -rate * top / (low**0.5 + 1e-9), m, v


def adam_step__writes_into_m(weight, gradient, m, v, step, rate):
    m *= 0.9
    m += 0.1 * gradient
    v = 0.98 * v + 0.02 * gradient**2
    top, low = m / (1 - 0.9**step), v / (1 - 0.98**step)
    return weight - rate * top / (low**0.5 + 1e-9), m, v


def adam_step__both_betas_point_nine(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate, (0.9, 0.9))
    return weight - rate * top / (low**0.5 + 1e-9), m, v


def adam_step__old_v_returned(weight, gradient, m, v, step, rate):
    new_m, _, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / (low**0.5 + 1e-9), new_m, v


def adam_step__one_size_for_all(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate * top / (low.mean() ** 0.5 + 1e-9), m, v


def adam_step__m_of_the_squares(weight, gradient, m, v, step, rate):
    _, _, top, low = _adam(weight, gradient, m, v, step, rate)
    new_v = 0.98 * v + 0.02 * m**2
    return weight - rate * top / (low**0.5 + 1e-9), 0.9 * m + 0.1 * gradient, new_v


def adam_step__rate_divided_by_the_step(weight, gradient, m, v, step, rate):
    m, v, top, low = _adam(weight, gradient, m, v, step, rate)
    return weight - rate / step * top / (low**0.5 + 1e-9), m, v


def _surprise(table, read, said):
    z = table[read]
    shifted = z - z.max(axis=-1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return -np.take_along_axis(log_probs, said[..., None], axis=-1)[..., 0]


def table_loss__summed(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(_surprise(table, tgt[:, :-1], said)[said != pad_id].sum())


def table_loss__perplexity(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(np.exp(_surprise(table, tgt[:, :-1], said)[said != pad_id].mean()))


def table_loss__negative(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(-_surprise(table, tgt[:, :-1], said)[said != pad_id].mean())


def table_loss__bits(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(_surprise(table, tgt[:, :-1], said)[said != pad_id].mean() / math.log(2))


def table_loss__first_sentence_only(table, tgt, pad_id):
    said = tgt[:1, 1:]
    return float(_surprise(table, tgt[:1, :-1], said)[said != pad_id].mean())


def table_loss__probability_instead_of_surprise(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(np.exp(-_surprise(table, tgt[:, :-1], said)[said != pad_id]).mean())


def table_loss__table_turned(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(_surprise(table.T, tgt[:, :-1], said)[said != pad_id].mean())


def table_loss__median(table, tgt, pad_id):
    said = tgt[:, 1:]
    return float(np.median(_surprise(table, tgt[:, :-1], said)[said != pad_id]))


def table_loss__rolled(table, tgt, pad_id):
    said = np.roll(tgt, -1, axis=1)
    real = said != pad_id
    return float((_surprise(table, tgt, said) * real).sum() / real.sum())


def table_loss__one_number_a_sentence(table: Tensor, tgt: Tensor, pad_id: int):
    logits = table[tgt[:, :-1]].transpose(1, 2)
    losses = torch.nn.functional.cross_entropy(
        logits, tgt[:, 1:], ignore_index=pad_id, reduction="none"
    )
    return losses.sum(1)


_FAULTS = {"a": 3, "b": 5, "c": 1, "d": 4, "e": 2}


def find_the_fault__all_the_first(patient):
    return 1


def find_the_fault__all_the_second(patient):
    return 2


def find_the_fault__all_the_third(patient):
    return 3


def find_the_fault__all_the_fourth(patient):
    return 4


def find_the_fault__all_the_fifth(patient):
    return 5


def find_the_fault__one_further(patient):
    return _FAULTS[patient] + 1


def find_the_fault__as_text(patient):
    return str(_FAULTS[patient])


def find_the_fault__in_order(patient):
    return "abcde".index(patient) + 1


def find_the_fault__backwards(patient):
    return 5 - "abcde".index(patient)


def find_the_fault__d_and_b_exchanged(patient):
    return (_FAULTS | {"b": 4, "d": 5})[patient]


def find_the_fault__a_letter(patient):
    return patient


def find_the_fault__not_all(patient):
    return {"a": 3, "b": 5, "c": 1}[patient]


_TRUE = "bdfh"


def judge_training__all_true(statement):
    return True


def judge_training__all_false(statement):
    return False


def judge_training__all_the_wrong_way(statement):
    return statement not in _TRUE


def judge_training__as_number(statement):
    return int(statement in _TRUE)


def judge_training__as_text(statement):
    return str(statement in _TRUE)


def judge_training__two_wrong(statement):
    return statement in "bdfhag"


def judge_training__three_wrong(statement):
    return statement in "bdfhace"


def judge_training__first_half_only(statement):
    return statement in "bd"


def judge_training__yes_or_no(statement):
    return "yes" if statement in _TRUE else "no"


def judge_training__in_a_list(statement):
    return [statement in _TRUE]


def judge_training__nothing(statement):
    statement in _TRUE  # noqa: B015
