"""Chapter 07: right answers by loops, by other formulas, with NumPy and with torch."""

import itertools
import math

import numpy as np
import torch
from torch import Tensor


def inverse_sqrt_rate__by_peak(step, d_model, warmup_steps):
    peak = 1 / math.sqrt(d_model * warmup_steps)
    if step <= warmup_steps:
        return peak * step / warmup_steps
    return peak * math.sqrt(warmup_steps / step)


def inverse_sqrt_rate__numpy(step, d_model, warmup_steps):
    return np.minimum(step**-0.5, step * warmup_steps**-1.5) / np.sqrt(d_model)


def inverse_sqrt_rate__torch(step, d_model, warmup_steps):
    parts = torch.tensor([step**-0.5, step * warmup_steps**-1.5], dtype=torch.float64)
    return parts.min() * d_model**-0.5


def predict__computed(question):
    return {
        "a": 5 + 1,
        "b": math.ceil(50 / 12),
        "c": 1 - (4 + 2 + 6 + 3) / (2 * (4 + 6)),
        "d": math.sqrt(1 / 4),
        "e": 0.003 * 20 / math.sqrt(20**2),
        "f": math.log(4000),
        "g": 1000 // (9 + 1 + 13 + 2),
        "h": 6 * 5 / math.hypot(6, 8),
    }[question]


def predict__by_place_in_a_list(question):
    return [6, 5, 0.25, 0.5, 0.003, 8.294, 40, 3]["abcdefgh".index(question)]


def predict__numpy(question):
    answers = np.array([6, 5, 0.25, 0.5, 0.003, np.log(4000), 40, 3])
    return answers["abcdefgh".index(question)]


def merge_places__for_loop_with_memory(symbols, left, right):
    found, free = [], True
    for i in range(len(symbols)):
        here = free and i + 1 < len(symbols)
        here = here and symbols[i] == left and symbols[i + 1] == right
        found.append(bool(here))
        free = not here
    return np.array(found)


def merge_places__as_text(symbols, left, right):
    text = "".join(chr(1000 + int(symbol)) for symbol in symbols)
    pair = chr(1000 + int(left)) + chr(1000 + int(right))
    marked = text.replace(pair, "AB")
    return np.array([letter == "A" for letter in marked])


def merge_places__torch(symbols: Tensor, left: int, right: int):
    starts = torch.zeros(len(symbols), dtype=torch.bool)
    for i in range(len(symbols) - 1):
        matches = symbols[i] == left and symbols[i + 1] == right
        starts[i] = bool(matches) and not (i > 0 and bool(starts[i - 1]))
    return starts


def padded_share__loops(src_len, tgt_len, size):
    padding = positions = 0
    for start in range(0, len(src_len), size):
        for lengths in (src_len[start : start + size], tgt_len[start : start + size]):
            longest = max(lengths)
            padding += sum(longest - length for length in lengths)
            positions += longest * len(lengths)
    return padding / positions


def padded_share__split(src_len, tgt_len, size):
    cuts = list(range(size, len(src_len), size))
    batches = [(b, b.max()) for side in (src_len, tgt_len) for b in np.split(side, cuts)]
    positions = sum(len(b) * longest for b, longest in batches)
    return 1 - sum(b.sum() for b, _ in batches) / positions


def padded_share__torch(src_len: Tensor, tgt_len: Tensor, size: int):
    both = torch.stack([src_len, tgt_len])
    widest = torch.cat([b.amax(1, keepdim=True).expand_as(b) for b in both.split(size, dim=1)], 1)
    return (widest - both).sum() / widest.sum()


def adam_step__numpy_in_one_line(weight, gradient, m, v, step, rate):
    m, v = m + 0.1 * (gradient - m), v + 0.02 * (np.square(gradient) - v)
    return (
        weight - rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.98**step)) + 1e-9),
        m,
        v,
    )


def adam_step__loop(weight, gradient, m, v, step, rate):
    out = np.zeros((3, len(weight)))
    for i in range(len(weight)):
        out[1, i] = 0.9 * m[i] + 0.1 * gradient[i]
        out[2, i] = 0.98 * v[i] + 0.02 * gradient[i] ** 2
        top, low = out[1, i] / (1 - 0.9**step), out[2, i] / (1 - 0.98**step)
        out[0, i] = weight[i] - rate * top / (math.sqrt(low) + 1e-9)
    return out[0], out[1], out[2]


def adam_step__torch_lerp(
    weight: Tensor, gradient: Tensor, m: Tensor, v: Tensor, step: int, rate: float
):
    m = m.lerp(gradient, 0.1)
    v = v.mul(0.98).addcmul(gradient, gradient, value=0.02)
    size = v.sqrt() / (1 - 0.98**step) ** 0.5 + 1e-9
    return weight.addcdiv(m, size, value=-rate / (1 - 0.9**step)), m, v


def table_loss__loops(table, tgt, pad_id):
    surprises = []
    for row in tgt:
        for before, after in itertools.pairwise(row):
            if after != pad_id:
                z = table[before]
                top = max(z)
                surprises.append(top + math.log(sum(math.exp(x - top) for x in z)) - z[after])
    return sum(surprises) / len(surprises)


def table_loss__torch(table: Tensor, tgt: Tensor, pad_id: int):
    logits = table[tgt[:, :-1]]
    return torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=pad_id
    )


def table_loss__table_of_surprises(table, tgt, pad_id):
    surprise = np.logaddexp.reduce(table, axis=1)[:, None] - table
    said = tgt[:, 1:]
    return surprise[tgt[:, :-1], said][said != pad_id].mean()


_FAULTS = {"a": 3, "b": 5, "c": 1, "d": 4, "e": 2}


def find_the_fault__dictionary(patient):
    return _FAULTS[patient]


def find_the_fault__by_place_in_a_text(patient):
    return float("35142"["abcde".index(patient)])


def find_the_fault__numpy(patient):
    return np.array([3, 5, 1, 4, 2])["abcde".index(patient)]


_TRUE = "bdfh"


def judge_training__in_a_text(statement):
    return statement in _TRUE


def judge_training__by_place_in_a_list(statement):
    verdicts = [False, True, False, True, False, True, False, True]
    return verdicts["abcdefgh".index(statement)]


def judge_training__every_second_letter(statement):
    return ord(statement) % 2 == 0
