"""Chapter 00: misconceptions in the spellings of learners."""

import numpy as np

from tests.data.wrong_answers.seq2seq import _gates, _layers, _softmax, _write


def gru_step__candidate_only(x, h, w, u):
    """the candidate alone"""
    r, _, a, b = _gates(x, h, w, u)
    return np.tanh(a + r * b)


def gru_step__without_tanh(x, h, w, u):
    """no tanh round the candidate"""
    r, z, a, b = _gates(x, h, w, u)
    return (1 - z) * (a + r * b) + z * h


def gru_step__tanh_gates(x, h, w, u):
    """tanh for the gates"""
    a, b = np.split(w @ x, 3), np.split(u @ h, 3)
    z = np.tanh(a[1] + b[1])
    return (1 - z) * np.tanh(a[2] + np.tanh(a[0] + b[0]) * b[2]) + z * h


def layers_needed__one_less(n, kernel_size, dilated):
    """the first layer not counted"""
    return _layers(n, kernel_size, dilated) - 1


def written_states__a_turned_round(y, h, s, a, w):
    """a transposed"""
    return _write(y, h, s, a, w, score=lambda s, i: h @ a.T @ s)


def written_states__the_state_never_replaced(y, h, s, a, w):
    """every word from the first state"""
    out = []
    for i in range(len(y)):
        e = h @ a @ s
        p = np.exp(e - e.max()) / np.exp(e - e.max()).sum()
        out.append(np.tanh(w @ np.concatenate([s, y[i], p @ h])))
    return np.stack(out)


def look_back__tanh_on_each_part(s, h, w, u, v):
    """the decoder's state changes nothing"""
    weights = _softmax((np.tanh(w @ s) + np.tanh(h @ u.T)) @ v)
    return weights @ h, weights
