"""Chapter 06: misconceptions in the spellings of learners."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.data.wrong_answers.encoder_decoder import _model
from transformer_course.checks.encoder_decoder.model import (
    right_attention,
    right_decoder_layer,
    right_encoder_layer,
    right_feed_forward,
    right_layer_norm,
    right_masks,
)
from transformer_course.positional_encoding import sinusoidal_encoding


def feed_forward__sigmoid(x, w_1, b_1, w_2, b_2):
    """a sigmoid between the maps"""
    return 1 / (1 + np.exp(-(x @ w_1 + b_1))) @ w_2 + b_2


def feed_forward__tanh(x, w_1, b_1, w_2, b_2):
    """tanh between the maps"""
    return np.tanh(x @ w_1 + b_1) @ w_2 + b_2


def feed_forward__gelu(x: Tensor, w_1, b_1, w_2, b_2):
    """GELU, a curve of later models"""
    return F.gelu(x @ w_1 + b_1) @ w_2 + b_2


def feed_forward__softmax_in_between(x, w_1, b_1, w_2, b_2):
    """softmax between the maps"""
    powers = np.exp(x @ w_1 + b_1)
    return powers / powers.sum(-1, keepdims=True) @ w_2 + b_2


def layer_norm__rms(x, gain, bias, eps):
    """RMS norm without a bias"""
    return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def layer_norm__rms_with_a_bias(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5):
    """RMS norm: the mean not subtracted, in the variance neither"""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain + bias


def layer_norm__without_keepdim(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5):
    """mean and variance lost their axis"""
    mean, variance = x.mean(-1), x.var(-1, unbiased=False)
    return (x - mean) / (variance + eps).sqrt() * gain + bias


def transformer__log_softmax(src, tgt, weights, n_heads):
    """log-probabilities instead of logits"""
    logits = torch.tensor(_model(src, tgt, weights, n_heads))
    return torch.log_softmax(logits, -1)


def layer_norm__mean_distance(x, gain, bias, eps):
    """divided by the mean magnitude"""
    centred = x - x.mean(-1, keepdims=True)
    return centred / (abs(centred).mean(-1, keepdims=True) + eps) * gain + bias


def encoder_layer__the_old_token_only_at_the_end(x, mask, weights, n_heads):
    """one sum only, at the end, with the layer's input"""
    first, second = weights["norms"]
    y = right_layer_norm(right_attention(x, x, weights["self_attention"], n_heads, mask), *first)
    return right_layer_norm(x + right_feed_forward(y, *weights["feed_forward"]), *second)


def _decoder(x, weights, n_heads, tgt_mask, read, read_mask, kept="x", early=False):
    """A decoder layer line by line; what the second attention reads is given by `read(x)`."""
    first, second, third = weights["norms"]
    attended = right_attention(x, x, weights["self_attention"], n_heads, tgt_mask)
    x = x + right_layer_norm(attended, *first) if early else right_layer_norm(x + attended, *first)
    looked = right_attention(x, read(x), weights["cross_attention"], n_heads, read_mask)
    states = {"before": x, "": 0.0, "x": right_layer_norm(x + looked, *second)}
    thought = right_feed_forward(states["x"], *weights["feed_forward"])
    return right_layer_norm(states[kept] + thought, *third)


def decoder_layer__memory_with_the_mask_as_it_was(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the memory read through the target's mask"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, tgt_mask)


def decoder_layer__memory_put_in_and_nothing_else(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the memory read through the target's mask; also a norm too early and a sum missing"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, tgt_mask, "", early=True)


def decoder_layer__memory_put_in_and_the_first_norm(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    """the memory read through the target's mask; also a sum missing"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, tgt_mask, "")


def decoder_layer__memory_put_in_and_the_last_sum(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the memory read through the target's mask; also a norm too early"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, tgt_mask, early=True)


def decoder_layer__only_the_mask_put_in(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the source's mask, but the memory isn't read"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: x, src_mask)


def decoder_layer__only_the_mask_put_in_and_nothing_else(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    """the source's mask, but the memory isn't read; also a norm too early and a sum missing"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: x, src_mask, "", early=True)


def decoder_layer__added_to_an_older_variable(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the last sum from before the cross-attention"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, src_mask, "before")


def decoder_layer__added_to_an_older_variable_and_nothing_else(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    """the last sum from before the cross-attention; also a norm too early and the memory unread"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: x, tgt_mask, "before", early=True)


def decoder_layer__older_variable_and_the_targets_mask(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    """the memory read through the target's mask; also an old token in the last sum"""
    return _decoder(x, weights, n_heads, tgt_mask, lambda x: memory, tgt_mask, "before")


def decoder_layer__norms_unpacked_as_first_third_second(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    """the second and the third norm exchanged"""
    first, third, second = weights["norms"]
    weights = {**weights, "norms": [first, second, third]}
    return right_decoder_layer(x, memory, src_mask, tgt_mask, weights, n_heads)


def decoder_layer__masks_the_other_way_round(x, memory, src_mask, tgt_mask, weights, n_heads):
    """the two masks exchanged"""
    return right_decoder_layer(x, memory, tgt_mask, src_mask, weights, n_heads)


def _embedded(ids, table):
    width = table.shape[1]
    return table[ids] * width**0.5 + sinusoidal_encoding(ids.shape[1], width).double().numpy()


def transformer__the_encoder_states_by_their_index(src, tgt, weights, n_heads):
    """each decoder layer reads the encoder layer of its own height, and above the last there is none"""
    src_mask, tgt_mask = right_masks(src, tgt)
    states = [_embedded(src, weights["table"])]
    for layer in weights["encoder"]:
        states.append(right_encoder_layer(states[-1], src_mask, layer, n_heads))
    y = _embedded(tgt, weights["table"])
    for i, layer in enumerate(weights["decoder"]):
        y = right_decoder_layer(y, states[1:][i], src_mask, tgt_mask, layer, n_heads)
    return y @ weights["table"].T


def transformer__the_encoder_states_by_their_index_up_to_the_last(src, tgt, weights, n_heads):
    """each decoder layer reads the encoder layer of its own height"""
    src_mask, tgt_mask = right_masks(src, tgt)
    states = [_embedded(src, weights["table"])]
    for layer in weights["encoder"]:
        states.append(right_encoder_layer(states[-1], src_mask, layer, n_heads))
    y = _embedded(tgt, weights["table"])
    for i, layer in enumerate(weights["decoder"], start=1):
        state = states[i] if i < len(states) else states[-1]
        y = right_decoder_layer(y, state, src_mask, tgt_mask, layer, n_heads)
    return y @ weights["table"].T


def transformer__zip(src, tgt, weights, n_heads):
    """encoder and decoder layers in pairs, in one loop"""
    src_mask, tgt_mask = right_masks(src, tgt)
    x, y = _embedded(src, weights["table"]), _embedded(tgt, weights["table"])
    for encoder, decoder in zip(weights["encoder"], weights["decoder"], strict=False):
        x = right_encoder_layer(x, src_mask, encoder, n_heads)
        y = right_decoder_layer(y, x, src_mask, tgt_mask, decoder, n_heads)
    return y @ weights["table"].T


def transformer__a_triangle_alone(src, tgt, weights, n_heads):
    """padding of the target not hidden"""
    triangle = torch.tril(torch.ones(tgt.shape[1], tgt.shape[1])).bool().numpy()
    masks = (src != 0)[:, None, None, :], triangle[None, None]
    return _model(src, tgt, weights, n_heads, masks=lambda src, tgt: masks)


def transformer__zeros_before_the_embedded_target(src, tgt, weights, n_heads):
    """the embedded target shifted inside the function, zeros first"""
    src_mask, tgt_mask = right_masks(src, tgt)
    x, y = _embedded(src, weights["table"]), _embedded(tgt, weights["table"])
    y = np.roll(y, 1, axis=1)
    y[:, 0] = 0.0
    for layer in weights["encoder"]:
        x = right_encoder_layer(x, src_mask, layer, n_heads)
    for layer in weights["decoder"]:
        y = right_decoder_layer(y, x, src_mask, tgt_mask, layer, n_heads)
    return y @ weights["table"].T


def transformer__bos_before_the_target(src, tgt, weights, n_heads):
    """the target's ids shifted inside the function, a start token first"""
    shifted = np.roll(tgt, 1, axis=1)
    shifted[:, 0] = 1
    return _model(src, shifted, weights, n_heads)


def decoder_layer__as_newer_models(x, memory, src_mask, tgt_mask, weights, n_heads):
    """each norm before its sub-layer"""
    first, second, third = weights["norms"]
    n = right_layer_norm(x, *first)
    x = x + right_attention(n, n, weights["self_attention"], n_heads, tgt_mask)
    n = right_layer_norm(x, *second)
    x = x + right_attention(n, memory, weights["cross_attention"], n_heads, src_mask)
    return x + right_feed_forward(right_layer_norm(x, *third), *weights["feed_forward"])


def transformer__one_kind_of_mask(src, tgt, weights, n_heads):
    """the source's later words hidden in the encoder"""
    src_mask, tgt_mask = right_masks(src, tgt)
    _, own = right_masks(src, src)
    x, y = _embedded(src, weights["table"]), _embedded(tgt, weights["table"])
    for layer in weights["encoder"]:
        x = right_encoder_layer(x, own, layer, n_heads)
    for layer in weights["decoder"]:
        y = right_decoder_layer(y, x, src_mask, tgt_mask, layer, n_heads)
    return y @ weights["table"].T


def encoder_layer__attends_once(x, mask, weights, n_heads):
    """one head, whatever n_heads says"""
    return right_encoder_layer(x, mask, weights, 1)


def _decoder_with_new_names(x, memory, masks, weights, n_heads, second="y", last="z"):
    """A decoder layer that gives each sum a name of its own: x, y, z."""
    first_norm, second_norm, third_norm = weights["norms"]
    states = {"x": x}
    attended = right_attention(x, x, weights["self_attention"], n_heads, masks[1])
    states["y"] = right_layer_norm(x + attended, *first_norm)
    looked = right_attention(states["y"], memory, weights["cross_attention"], n_heads, masks[0])
    states["z"] = right_layer_norm(states[second] + looked, *second_norm)
    thought = right_feed_forward(states["z"], *weights["feed_forward"])
    return right_layer_norm(states[last] + thought, *third_norm)


def decoder_layer__x_in_the_second_sum(x, memory, src_mask, tgt_mask, weights, n_heads):
    """second residual connection from the layer's input"""
    return _decoder_with_new_names(x, memory, (src_mask, tgt_mask), weights, n_heads, "x")


def decoder_layer__x_in_the_last_sum(x, memory, src_mask, tgt_mask, weights, n_heads):
    """last residual connection from the layer's input"""
    return _decoder_with_new_names(x, memory, (src_mask, tgt_mask), weights, n_heads, last="x")


def decoder_layer__x_in_all_sums(x, memory, src_mask, tgt_mask, weights, n_heads):
    """second and last residual connection from the layer's input"""
    return _decoder_with_new_names(x, memory, (src_mask, tgt_mask), weights, n_heads, "x", "x")
