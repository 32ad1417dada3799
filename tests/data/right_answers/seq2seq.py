"""Chapter 00: right answers by loops, by einsum, by ready-made functions, with NumPy and with torch."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_step__slices(x, h, w, u):
    d = len(h)
    r = _sigmoid(w[:d] @ x + u[:d] @ h)
    z = _sigmoid(w[d : 2 * d] @ x + u[d : 2 * d] @ h)
    n = np.tanh(w[2 * d :] @ x + r * (u[2 * d :] @ h))
    return n + z * (h - n)


def gru_step__torch_functions(x: Tensor, h: Tensor, w: Tensor, u: Tensor):
    a, b = (w @ x).chunk(3), (u @ h).chunk(3)
    r, z = torch.sigmoid(a[0] + b[0]), torch.sigmoid(a[1] + b[1])
    return torch.lerp(torch.tanh(a[2] + r * b[2]), h, z)


def gru_step__torch_cell(x: Tensor, h: Tensor, w: Tensor, u: Tensor):
    cell = torch.nn.GRUCell(len(x), len(h), bias=False, dtype=x.dtype)
    cell.weight_ih.data, cell.weight_hh.data = w, u
    return cell(x, h)


def gru_step__loops(x, h, w, u):
    d, new = len(h), np.zeros(len(h))
    for i in range(d):
        a = [sum(w[k * d + i, j] * x[j] for j in range(len(x))) for k in range(3)]
        b = [sum(u[k * d + i, j] * h[j] for j in range(d)) for k in range(3)]
        r, z = _sigmoid(a[0] + b[0]), _sigmoid(a[1] + b[1])
        new[i] = (1 - z) * np.tanh(a[2] + r * b[2]) + z * h[i]
    return new


def look_back__loop(s, h, w, u, v):
    scores = [float(v @ np.tanh(w @ s + u @ place)) for place in h]
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / sum(powers) for power in powers]
    context = np.zeros(h.shape[1])
    for weight, place in zip(weights, h, strict=True):
        context = context + weight * place
    return context, np.array(weights)


def look_back__torch(s: Tensor, h: Tensor, w: Tensor, u: Tensor, v: Tensor):
    weights = F.softmax(torch.tanh(F.linear(h, u) + w @ s) @ v, dim=0)
    return h.T @ weights, weights


def look_back__einsum(s, h, w, u, v):
    hidden = np.tanh(np.einsum("ks,s->k", w, s) + np.einsum("kh,jh->jk", u, h))
    powers = np.exp(np.einsum("jk,k->j", hidden, v))
    weights = powers / powers.sum()
    return np.einsum("j,jh->h", weights, h), weights


def predict__computed(question):
    d = 512
    return {
        "a": (2, 1, d),
        "b": (2, 7, d),
        "c": (2, 5, 7),
        "d": sum(p.numel() for p in torch.nn.GRU(d, d, bias=False).parameters()),
        "e": 20,
        "f": d,
        "g": 2 * d,
    }[question]


def predict__one_question_after_another(question):
    if question == "a":
        return [2, 1, 512]
    if question in ("b", "c"):
        return torch.Size((2, 7, 512)) if question == "b" else (2, 5, 7)
    return {"d": 6 * 512**2, "e": 20.0, "f": 2**9, "g": 2**10}[question]


def predict__by_place_in_a_list(question):
    answers = [(2, 1, 512), (2, 7, 512), (2, 5, 7), 1_572_864, 20, 512.0, 1024]
    return answers["abcdefg".index(question)]


def layers_needed__formulas(n, kernel_size, dilated):
    if not dilated:
        return max(1, -(-(n - 1) // (kernel_size - 1)))
    return max(1, math.ceil(math.log(n) / math.log(kernel_size) - 1e-9))


def layers_needed__growing_field(n, kernel_size, dilated):
    field, layers = kernel_size, 1
    while field < n:
        field = field * kernel_size if dilated else field + kernel_size - 1
        layers += 1
    return layers


def layers_needed__search(n, kernel_size, dilated):
    fields = (kernel_size**i if dilated else 1 + i * (kernel_size - 1) for i in range(1, n + 1))
    return next(i for i, field in enumerate(fields, 1) if field >= n)


def written_states__loop_over_places(y, h, s, a, w):
    states = []
    for word in y:
        scores = np.array([place @ a @ s for place in h])
        powers = np.exp(scores - scores.max())
        context = sum(p * place for p, place in zip(powers / powers.sum(), h, strict=True))
        s = np.tanh(w @ np.concatenate([s, word, context]))
        states.append(s)
    return np.array(states)


def written_states__torch(y: Tensor, h: Tensor, s: Tensor, a: Tensor, w: Tensor):
    states = []
    for word in y:
        weights = torch.softmax(h @ (a @ s), 0)
        s = torch.tanh(w @ torch.cat([s, word, weights @ h]))
        states.append(s)
    return torch.stack(states)


def written_states__parts_of_w(y, h, s, a, w):
    d = len(s)
    from_state, from_word, from_context = w[:, :d], w[:, d : 2 * d], w[:, 2 * d :]
    states = np.empty_like(y, dtype=float)
    for i in range(len(y)):
        powers = np.exp(np.einsum("jd,de,e->j", h, a, s))
        context = powers @ h / powers.sum()
        states[i] = s = np.tanh(from_state @ s + from_word @ y[i] + from_context @ context)
    return states


def fitted_exponent__polyfit(lengths, costs):
    return np.polyfit(np.log(lengths), np.log(costs), 1)[0]


def fitted_exponent__least_squares(lengths, costs):
    columns = np.stack([np.log2(lengths), np.ones(len(lengths))], axis=1)
    return np.linalg.lstsq(columns, np.log2(costs), rcond=None)[0][0]


def fitted_exponent__covariance(lengths, costs):
    table = np.cov(np.log10(lengths), np.log10(costs))
    return float(table[0, 1] / table[0, 0])


def fitted_exponent__torch(lengths: Tensor, costs: Tensor):
    x, y = lengths.double().log(), costs.double().log()
    return ((x - x.mean()) * y).sum() / ((x - x.mean()) ** 2).sum()


def why_attention__set_of_right_ones(statement):
    return statement in {"b", "e", "f"}


def why_attention__list(statement):
    return [False, True, False, False, True, True, False][ord(statement) - ord("a")]


def why_attention__numpy(statement):
    return np.array([0, 1, 0, 0, 1, 1, 0], bool)["abcdefg".index(statement)]
