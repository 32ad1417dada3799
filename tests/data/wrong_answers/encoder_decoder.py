"""Chapter 06: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np

from transformer_course.checks.encoder_decoder.model import (
    right_attention,
    right_decoder_layer,
    right_encoder_layer,
    right_feed_forward,
    right_layer_norm,
    right_masks,
)
from transformer_course.positional_encoding import sinusoidal_encoding


def feed_forward__inner_returned(x, w_1, b_1, w_2, b_2):
    return np.maximum(x @ w_1 + b_1, 0)


def feed_forward__first_sentence_only(x, w_1, b_1, w_2, b_2):
    return right_feed_forward(x[:1], w_1, b_1, w_2, b_2)


def feed_forward__matrices_transposed(x, w_1, b_1, w_2, b_2):
    return np.maximum(x @ w_2.T + b_1, 0) @ w_1.T + b_2


def feed_forward__ones_where_positive(x, w_1, b_1, w_2, b_2):
    return (x @ w_1 + b_1 > 0).astype(float) @ w_2 + b_2


def feed_forward__leaky(x, w_1, b_1, w_2, b_2):
    inner = x @ w_1 + b_1
    return np.where(inner > 0, inner, 0.01 * inner) @ w_2 + b_2


def feed_forward__softplus(x, w_1, b_1, w_2, b_2):
    return np.log1p(np.exp(x @ w_1 + b_1)) @ w_2 + b_2


def feed_forward__elu(x, w_1, b_1, w_2, b_2):
    inner = x @ w_1 + b_1
    return np.where(inner > 0, inner, np.exp(inner) - 1) @ w_2 + b_2


def feed_forward__written_into_x(x, w_1, b_1, w_2, b_2):
    x[:] = right_feed_forward(x, w_1, b_1, w_2, b_2)
    return x


def feed_forward__capped_at_one(x, w_1, b_1, w_2, b_2):
    return np.clip(x @ w_1 + b_1, 0, 1) @ w_2 + b_2


def feed_forward__biases_subtracted(x, w_1, b_1, w_2, b_2):
    return right_feed_forward(x, w_1, -b_1, w_2, -b_2)


def layer_norm__divided_by_the_range(x, gain, bias, eps):
    spread = x.max(-1, keepdims=True) - x.min(-1, keepdims=True) + eps
    return gain * (x - x.mean(-1, keepdims=True)) / spread + bias


def layer_norm__divided_by_the_length(x, gain, bias, eps):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).sum(-1, keepdims=True) + eps) + bias


def layer_norm__median(x, gain, bias, eps):
    centred = x - np.median(x, -1, keepdims=True)
    return gain * centred / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def layer_norm__eps_inside_and_outside(x, gain, bias, eps):
    spread = np.sqrt(x.var(-1, keepdims=True) + eps) + eps
    return gain * (x - x.mean(-1, keepdims=True)) / spread + bias


def layer_norm__multiplied_by_the_deviation(x, gain, bias, eps):
    return gain * (x - x.mean(-1, keepdims=True)) * np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def layer_norm__eps_subtracted(x, gain, bias, eps):
    return right_layer_norm(x, gain, bias, -eps)


def layer_norm__softmax(x, gain, bias, eps):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return gain * powers / powers.sum(-1, keepdims=True) + bias


def layer_norm__first_token_only(x, gain, bias, eps):
    return right_layer_norm(x[:, :1], gain, bias, eps)


def layer_norm__fixed_eps(x, gain, bias, eps):
    return right_layer_norm(x, gain, bias, 1e-5)


def layer_norm__written_into_x(x, gain, bias, eps):
    x -= x.mean(-1, keepdims=True)
    return gain * x / np.sqrt(x.var(-1, keepdims=True) + eps) + bias


def layer_norm__gain_used_for_both(x, gain, bias, eps):
    return right_layer_norm(x, gain, gain, eps)


_RIGHT = {
    "a": (2, 7, 512),
    "b": (2, 8, 5, 7),
    "c": (2, 5, 37_000),
    "d": 2_099_712,
    "e": 30,
    "f": 18,
    "g": 1,
    "h": 5,
}


def _but(**wrong):
    return lambda question: {**_RIGHT, **wrong}[question]


predict__batch_forgotten = _but(a=(7, 512))
predict__memory_of_the_feed_forward_net = _but(a=(2, 7, 2048))
predict__width_of_a_head = _but(b=(2, 8, 5, 64))
predict__heads_behind = _but(b=(2, 5, 7, 8))
predict__one_sentence_of_scores = _but(c=(5, 37_000))
predict__one_bias_only = _but(d=2_097_152 + 2048)
predict__the_whole_layer = _but(d=3_152_384)
predict__norms_of_pre_norm = _but(e=32)
predict__layers_counted = _but(f=6)
predict__encoder_never = _but(g=0)
predict__sign_of_the_inner_number_lost = _but(h=10)
predict__all_shapes_of_the_memory = _but(b=(2, 7, 512), c=(2, 7, 512))


def predict__nothing_after_d(question):
    return _RIGHT[question] if question in "abcd" else None


def _cosine(a, b):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def _stack(x, weights, residual, step=None, measure=_cosine):
    now, found = x, []
    for matrix in weights:
        made = np.maximum(now @ matrix, 0)
        now = step(now, made) if step else now + made if residual else made
        found.append(measure(now, x).mean())
    return np.array(found)


def carried__residual_reversed(x, weights, residual):
    return _stack(x, weights, not residual)


def carried__mean_of_both(x, weights, residual):
    return _stack(
        x, weights, residual, lambda now, made: (now + made) / 2 if residual else made * 1
    )[::-1]


def carried__subtracted(x, weights, residual):
    return _stack(x, weights, residual, lambda now, made: now - made if residual else made)


def carried__distance(x, weights, residual):
    return _stack(x, weights, residual, measure=lambda a, b: np.linalg.norm(a - b, axis=-1))


def carried__magnitude_of_the_cosine(x, weights, residual):
    return abs(_stack(x, weights, residual)) + 1e-3


def carried__start_included(x, weights, residual):
    return np.array([1.0, *_stack(x, weights, residual)])


def carried__last_layer_only(x, weights, residual):
    return float(_stack(x, weights, residual)[-1])


def carried__table_of_tokens(x, weights, residual):
    return np.stack([_stack(token[None], weights, residual) for token in x])


def carried__tanh(x, weights, residual):
    now, found = x, []
    for matrix in weights:
        made = np.tanh(now @ matrix)
        now = now + made if residual else made
        found.append(_cosine(now, x).mean())
    return np.array(found)


def carried__matrix_on_the_left(x, weights, residual):
    return _stack(x, weights.swapaxes(1, 2), residual)


def carried__x_changed(x, weights, residual):
    for matrix in weights:
        x += np.maximum(x @ matrix, 0)
    return np.ones(len(weights))


def carried__angle(x, weights, residual):
    return np.arccos(_stack(x, weights, residual))


def _parts(weights, n_heads, mask):
    first, second = weights["norms"]
    return (
        lambda y: right_attention(y, y, weights["self_attention"], n_heads, mask),
        lambda y: right_feed_forward(y, *weights["feed_forward"]),
        lambda y: right_layer_norm(y, *first),
        lambda y: right_layer_norm(y, *second),
    )


def encoder_layer__attention_only(x, mask, weights, n_heads):
    attend, _, norm, _ = _parts(weights, n_heads, mask)
    return norm(x + attend(x))


def encoder_layer__feed_forward_only(x, mask, weights, n_heads):
    _, think, _, norm = _parts(weights, n_heads, mask)
    return norm(x + think(x))


def encoder_layer__attention_twice(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    x = first(x + attend(attend(x)))
    return second(x + think(x))


def encoder_layer__residual_twice(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    y = first(x + attend(x))
    return second(x + y + think(y))


def encoder_layer__both_norms_at_the_end(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    x = x + attend(x)
    return second(first(x + think(x)))


def encoder_layer__sub_layers_side_by_side(x, mask, weights, n_heads):
    attend, think, _, second = _parts(weights, n_heads, mask)
    return second(x + attend(x) + think(x))


def encoder_layer__products_instead_of_sums(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    x = first(x * attend(x))
    return second(x * think(x))


def encoder_layer__one_head(x, mask, weights, n_heads):
    return right_encoder_layer(x, mask, weights, 1) + 0.001


def encoder_layer__attention_weights_returned(x, mask, weights, n_heads):
    return np.ones((len(x), n_heads, x.shape[1], x.shape[1]))


def encoder_layer__norm_of_the_input_as_well(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    x = first(x)
    x = first(x + attend(x))
    return second(x + think(x))


def encoder_layer__gain_as_bias(x, mask, weights, n_heads):
    turned = {**weights, "norms": [(bias, gain) for gain, bias in weights["norms"]]}
    return right_encoder_layer(x, mask, turned, n_heads)


def encoder_layer__queries_and_keys_exchanged(x, mask, weights, n_heads):
    w_q, w_k, w_v, w_o = weights["self_attention"]
    turned = {**weights, "self_attention": (w_v, w_k, w_q, w_o)}
    return right_encoder_layer(x, mask, turned, n_heads)


def encoder_layer__averaged_sum(x, mask, weights, n_heads):
    attend, think, first, second = _parts(weights, n_heads, mask)
    x = first((x + 2 * attend(x)) / 2)
    return second(x + think(x))


def decoder_layer__self_attention_left_out(x, memory, src_mask, tgt_mask, weights, n_heads):
    _, second, third = weights["norms"]
    looked = right_attention(x, memory, weights["cross_attention"], n_heads, src_mask)
    x = right_layer_norm(x + looked, *second)
    return right_layer_norm(x + right_feed_forward(x, *weights["feed_forward"]), *third)


def decoder_layer__feed_forward_left_out(x, memory, src_mask, tgt_mask, weights, n_heads):
    first, second, _ = weights["norms"]
    x = right_layer_norm(
        x + right_attention(x, x, weights["self_attention"], n_heads, tgt_mask), *first
    )
    looked = right_attention(x, memory, weights["cross_attention"], n_heads, src_mask)
    return right_layer_norm(x + looked, *second)


def decoder_layer__memory_returned(x, memory, src_mask, tgt_mask, weights, n_heads):
    return memory


def decoder_layer__asked_by_the_memory(x, memory, src_mask, tgt_mask, weights, n_heads):
    return right_decoder_layer(
        memory, x, tgt_mask[:, :, -1:], src_mask & src_mask.swapaxes(2, 3), weights, n_heads
    )


def decoder_layer__norms_in_reverse(x, memory, src_mask, tgt_mask, weights, n_heads):
    turned = {**weights, "norms": weights["norms"][::-1]}
    return right_decoder_layer(x, memory, src_mask, tgt_mask, turned, n_heads)


def decoder_layer__first_norm_three_times(x, memory, src_mask, tgt_mask, weights, n_heads):
    turned = {**weights, "norms": weights["norms"][:1] * 3}
    return right_decoder_layer(x, memory, src_mask, tgt_mask, turned, n_heads)


def decoder_layer__matrices_of_the_attentions_exchanged(
    x, memory, src_mask, tgt_mask, weights, n_heads
):
    own, cross = weights["self_attention"], weights["cross_attention"]
    turned = {**weights, "self_attention": cross, "cross_attention": own}
    return right_decoder_layer(x, memory, src_mask, tgt_mask, turned, n_heads)


def decoder_layer__both_masks_ignored(x, memory, src_mask, tgt_mask, weights, n_heads):
    return right_decoder_layer(x, memory, src_mask | True, np.ones_like(tgt_mask), weights, n_heads)


def decoder_layer__both_masks_inverted(x, memory, src_mask, tgt_mask, weights, n_heads):
    return right_decoder_layer(x, memory, ~src_mask, ~tgt_mask, weights, n_heads)


def decoder_layer__no_sums_at_all(x, memory, src_mask, tgt_mask, weights, n_heads):
    first, second, third = weights["norms"]
    x = right_layer_norm(
        right_attention(x, x, weights["self_attention"], n_heads, tgt_mask), *first
    )
    looked = right_attention(x, memory, weights["cross_attention"], n_heads, src_mask)
    x = right_layer_norm(looked, *second)
    return right_layer_norm(right_feed_forward(x, *weights["feed_forward"]), *third)


def why_layers__all_right(statement):
    return True


def why_layers__all_wrong(statement):
    return False


def why_layers__everything_reversed(statement):
    return statement not in "ceg"


def why_layers__as_text(statement):
    return "yes" if statement in "ceg" else "no"


def why_layers__as_numbers(statement):
    return int(statement in "ceg")


def why_layers__printed_only(statement):
    print(statement in "ceg")


def why_layers__a_dictionary_returned(statement):
    return {letter: letter in "ceg" for letter in "abcdefghi"}


def why_layers__capital_letters(statement):
    return {letter: letter in "CEG" for letter in "ABCDEFGHI"}[statement]


def why_layers__one_letter_forgotten(statement):
    return {letter: letter in "ceg" for letter in "abcdefgh"}[statement]


def why_layers__shares(statement):
    return 0.9 if statement in "ceg" else 0.1


def _model(
    src,
    tgt,
    weights,
    n_heads,
    table=None,
    places=None,
    end=None,
    decoder_table=None,
    encoder=None,
    decoder=None,
    masks=right_masks,
):
    table = weights["table"] if table is None else table
    decoder_table = table if decoder_table is None else decoder_table

    def embed(ids, rows):
        wide = rows.shape[1]
        found = sinusoidal_encoding(ids.shape[1], wide, "interleaved").double().numpy()
        found = places(ids.shape[1], wide) if places else found
        return rows[ids] * np.sqrt(wide) + found

    src_mask, tgt_mask = masks(src, tgt)
    x, y = embed(src, table), embed(tgt, decoder_table)
    for layer in weights["encoder"] if encoder is None else encoder:
        x = right_encoder_layer(x, src_mask, layer, n_heads)
    for layer in weights["decoder"] if decoder is None else decoder:
        y = right_decoder_layer(y, x, src_mask, tgt_mask, layer, n_heads)
    return y @ weights["table"].T if end is None else end(x, y)


def transformer__decoder_states(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads, end=lambda x, y: y)


def transformer__scores_from_the_memory(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads, end=lambda x, y: x @ weights["table"].T)


def transformer__last_position_only(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads)[:, -1]


def transformer__ids_of_the_best(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads).argmax(-1)


def transformer__concatenated_positions(src, tgt, weights, n_heads):
    def places(length, wide):
        return 0.5 + sinusoidal_encoding(length, wide, "concatenated").double().numpy()

    return _model(src, tgt, weights, n_heads, places=places)


def transformer__the_number_of_the_place(src, tgt, weights, n_heads):
    return _model(
        src, tgt, weights, n_heads, places=lambda length, wide: np.arange(length)[:, None] + 0.1
    )


def transformer__layers_from_the_top(src, tgt, weights, n_heads):
    return _model(
        src,
        tgt,
        weights,
        n_heads,
        encoder=weights["encoder"][::-1],
        decoder=[*weights["decoder"][::-1], weights["decoder"][0]],
    )


def transformer__target_sees_no_mask(src, tgt, weights, n_heads):
    def masks(src, tgt):
        return (src != 0)[:, None, None], np.ones((1, 1, 1, tgt.shape[1]), bool)

    return _model(src, tgt, weights, n_heads, masks=masks) + 0.01


def transformer__future_instead_of_past(src, tgt, weights, n_heads):
    def masks(src, tgt):
        past = np.tri(tgt.shape[1], dtype=bool).T
        return (src != 0)[:, None, None], (tgt != 0)[:, None, None] & past

    return _model(src, tgt, weights, n_heads, masks=masks) * 1.01


def transformer__no_decoder(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads, decoder=[])


def transformer__no_encoder(src, tgt, weights, n_heads):
    return _model(src, tgt, weights, n_heads, encoder=[]) - 0.01


def transformer__the_diagonal_hidden(src, tgt, weights, n_heads):
    def masks(src, tgt):
        past = np.tri(tgt.shape[1], k=-1, dtype=bool)
        return (src != 0)[:, None, None], (tgt != 0)[:, None, None] & past

    return _model(src, tgt, weights, n_heads, masks=masks)
