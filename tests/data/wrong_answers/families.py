"""Chapter 11: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.checks.encoder_decoder.model import right_encoder_layer
from transformer_course.positional_encoding import sinusoidal_encoding


def _three(ids, chosen_draw, mask_draw, other_draw, special, share=0.15, masked=0.8, other=0.5):
    chosen = (chosen_draw < share) & (ids >= special)
    hidden = chosen & (mask_draw < masked)
    return chosen, hidden, chosen & ~hidden & (other_draw < other)


def hide__one_array_only(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    _, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special)
    return np.where(hidden, mask_id, np.where(other, others, ids))


def hide__labels_first(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special)
    read = np.where(hidden, mask_id, np.where(other, others, ids))
    return np.where(chosen, ids, -100), read


def hide__ignored_is_minus_one(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special)
    return np.where(hidden, mask_id, np.where(other, others, ids)), np.where(chosen, ids, -1)


def hide__yes_or_no_for_labels(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special)
    return np.where(hidden, mask_id, np.where(other, others, ids)), chosen


def hide__one_draw_for_two_decisions(
    ids, chosen_draw, mask_draw, other_draw, others, mask_id, special
):
    chosen, hidden, other = _three(ids, chosen_draw, chosen_draw / 0.15, other_draw, special)
    return np.where(hidden, mask_id, np.where(other, others, ids)), np.where(chosen, ids, -100)


def hide__eighty_percent_chosen(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special, share=0.8)
    return np.where(hidden, mask_id, np.where(other, others, ids)), np.where(chosen, ids, -100)


def hide__written_into_ids(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen, hidden, other = _three(ids, chosen_draw, mask_draw, other_draw, special)
    labels = np.where(chosen, ids, -100)
    ids[hidden] = mask_id
    ids[other] = others[other]
    return ids, labels


def hide__own_dice(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    dice = np.random.default_rng()
    chosen = (dice.random(ids.shape) < 0.5) & (ids >= special)
    return np.where(chosen, mask_id, ids), np.where(chosen, ids, -100)


def prefix_mask__ones_and_zeros(n_prompt, length):
    mask = np.tri(length, dtype=int)
    mask[:n_prompt, :n_prompt] = 1
    return mask


def prefix_mask__axes_of_a_batch(n_prompt, length):
    mask = np.tri(length, dtype=bool)
    mask[:n_prompt, :n_prompt] = True
    return mask[None, None]


def prefix_mask__only_the_square(n_prompt, length):
    mask = np.zeros((length, length), dtype=bool)
    mask[:n_prompt, :n_prompt] = True
    return mask


def prefix_mask__one_row(n_prompt, length):
    return np.arange(length) < n_prompt


def prefix_mask__continuation_first(n_prompt, length):
    mask = np.tri(length, dtype=bool)
    mask[n_prompt:, n_prompt:] = True
    return mask


def prefix_mask__neighbours(n_prompt, length):
    places = np.arange(length)
    return (abs(places - places[:, None]) <= 1) | (places < n_prompt)


def prefix_mask__as_text(n_prompt, length):
    return [
        ["may" if j <= i or j < n_prompt else "-" for j in range(length)] for i in range(length)
    ]


def _said(logits, ids, n_prompt, pad_id):
    losses = np.log(np.exp(logits[:, :-1]).sum(-1))
    losses = losses - np.take_along_axis(logits[:, :-1], ids[:, 1:, None], -1)[..., 0]
    places = np.arange(1, ids.shape[1])
    return losses, (places >= np.asarray(n_prompt)[:, None]) & (ids[:, 1:] != pad_id)


def prompted_loss__per_token(logits, ids, n_prompt, pad_id):
    losses, counted = _said(logits, ids, n_prompt, pad_id)
    return losses * counted


def prompted_loss__in_bits(logits, ids, n_prompt, pad_id):
    losses, counted = _said(logits, ids, n_prompt, pad_id)
    return losses[counted].mean() / np.log(2)


def prompted_loss__perplexity(logits, ids, n_prompt, pad_id):
    losses, counted = _said(logits, ids, n_prompt, pad_id)
    return np.exp(losses[counted].mean())


def prompted_loss__probability(logits, ids, n_prompt, pad_id):
    losses, counted = _said(logits, ids, n_prompt, pad_id)
    return np.exp(-losses[counted]).mean()


def prompted_loss__without_softmax(logits, ids, n_prompt, pad_id):
    _, counted = _said(logits, ids, n_prompt, pad_id)
    scores = np.take_along_axis(logits[:, :-1], ids[:, 1:, None], -1)[..., 0]
    return -scores[counted].mean()


def prompted_loss__smoothed(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    labels = ids.masked_fill(ids == pad_id, -100)
    labels = labels.masked_fill(torch.arange(ids.shape[1]) < n_prompt[:, None], -100)
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), label_smoothing=0.1
    )


def prompted_loss__first_row_only(logits, ids, n_prompt, pad_id):
    losses, counted = _said(logits, ids, n_prompt, pad_id)
    return losses[0][counted[0]].mean()


def pool__over_the_features(states, real, how):
    return (states * real[..., None]).sum(-1) / real.sum(-1, keepdims=True)


def pool__over_the_batch(states, real, how):
    return states.mean(0)


def pool__a_list_of_texts(states, real, how):
    return [how for _ in states]


def pool__root_of_the_count(states, real, how):
    if how == "mean":
        return (states * real[..., None]).sum(1) / np.sqrt(real.sum(1))[:, None]
    if how == "first":
        return states[:, 0]
    return states[np.arange(len(states)), real.sum(1) - 1]


def pool__middle(states, real, how):
    if how == "last":
        return states[np.arange(len(states)), real.sum(1) // 2]
    return (
        states[:, 0] if how == "first" else (states * real[..., None]).sum(1) / real.sum(1)[:, None]
    )


def pool__all_real_tokens(states, real, how):
    return states[real]


def pool__no_last(states, real, how):
    if how == "first":
        return states[:, 0]
    if how == "mean":
        return (states * real[..., None]).sum(1) / real.sum(1)[:, None]
    return None


def patches__top_row_only(image, size):
    top = image[:size]
    return np.stack([top[:, i : i + size].ravel() for i in range(0, top.shape[1], size)])


def patches__one_pixel_each(image, size):
    return image[::size, ::size].reshape(-1, 1)


def patches__turned(image, size):
    flipped = image[:, ::-1]
    height, width = image.shape
    cut = flipped.reshape(height // size, size, width // size, size)
    return cut.transpose(0, 2, 1, 3).reshape(-1, size * size)


def patches__square_images_only(image, size):
    n = image.shape[0] // size
    return image.reshape(n, size, n, size).transpose(0, 2, 1, 3).reshape(n * n, size * size)


def patches__from_the_right(image, size):
    height, width = image.shape
    cut = image.reshape(height // size, size, width // size, size)[:, :, ::-1]
    return cut.transpose(0, 2, 1, 3).reshape(-1, size * size)


def patches__first_pixels(image, size):
    flat = image.ravel()
    return flat[: len(flat) // size**2 * size].reshape(-1, size)


def patches__rows_of_the_image(image, size):
    return image.reshape(-1, size)


def predict__all_zero(question):
    return 0


def predict__shapes_only(question):
    return (6, 6)


def predict__as_text(question):
    return {"a": "36", "b": "21"}.get(question, "27")


def predict__shares(question):
    return {"f": 0.15, "g": 0.12, "h": 0.015}.get(question, 1.0)


def predict__half_right(question):
    return {"a": 36, "b": 21, "c": 25, "d": 5, "e": 2, "f": 1000, "g": 800, "h": 100}.get(
        question, (10, 16, 3)
    )


def predict__printed_only(question):
    print({"a": 36, "b": 21}.get(question))


def _model(ids, weights, n_heads, positions=None, mask=None, output=None):
    table = weights["table"]
    length = ids.shape[1]
    if positions is None:
        positions = sinusoidal_encoding(length, table.shape[1]).double().numpy()
    mask = np.tri(length, dtype=bool) if mask is None else mask
    x = table[ids] * np.sqrt(table.shape[1]) + positions
    for layer in weights["layers"]:
        x = right_encoder_layer(x, mask, layer, n_heads)
    return x @ (table.T if output is None else output)


def decoder_only__positions_of_the_other_layout(ids, weights, n_heads):
    table = weights["table"]
    places = sinusoidal_encoding(ids.shape[1], table.shape[1], layout="concatenated")
    return _model(ids, weights, n_heads, places.double().numpy())


def decoder_only__sees_two_tokens_back(ids, weights, n_heads):
    length = ids.shape[1]
    window = np.tri(length, dtype=bool) & ~np.tri(length, k=-2, dtype=bool)
    return _model(ids, weights, n_heads, mask=window)


def decoder_only__one_token_of_the_future(ids, weights, n_heads):
    return _model(ids, weights, n_heads, mask=np.tri(ids.shape[1], k=1, dtype=bool))


def decoder_only__one_head(ids, weights, n_heads):
    return _model(ids, weights, 1)


def decoder_only__scaled_output(ids, weights, n_heads):
    return _model(ids, weights, n_heads) / np.sqrt(weights["table"].shape[1])


def decoder_only__the_likeliest_token(ids, weights, n_heads):
    return _model(ids, weights, n_heads).argmax(-1)


def decoder_only__shifted_ids(ids, weights, n_heads):
    return _model(np.roll(ids, 1, axis=1), weights, n_heads)


def decoder_only__first_row_for_all(ids, weights, n_heads):
    return np.repeat(_model(ids[:1], weights, n_heads), len(ids), axis=0)


def continue_greedily__a_list(model, prompt, eos_id, max_len):
    ids = list(prompt)
    while len(ids) < len(prompt) + max_len:
        ids.append(int(model(np.array(ids))[-1].argmax()))
        if ids[-1] == eos_id:
            break
    return ids[len(prompt) :]


def continue_greedily__without_end(model, prompt, eos_id, max_len):
    ids = prompt
    while ids[-1] != -1:
        ids = np.append(ids, model(ids)[-1].argmax())[-20:]
    return ids


def continue_greedily__second_best(model, prompt, eos_id, max_len):
    ids = list(prompt)
    for _ in range(max_len):
        ids.append(int(np.argsort(model(np.array(ids))[-1])[-2]))
        if ids[-1] == eos_id:
            break
    return np.array(ids[len(prompt) :])


def continue_greedily__whole_row_at_once(model, prompt, eos_id, max_len):
    return model(prompt).argmax(-1)


def continue_greedily__logits_of_the_end(model, prompt, eos_id, max_len):
    return model(prompt)[-1]


def continue_greedily__drawn(model, prompt, eos_id, max_len):
    dice, ids = np.random.default_rng(), list(prompt)
    for _ in range(max_len):
        p = np.exp(model(np.array(ids))[-1])
        ids.append(int(dice.choice(len(p), p=p / p.sum())))
        if ids[-1] == eos_id:
            break
    return np.array(ids[len(prompt) :])


def continue_greedily__newest_first(model, prompt, eos_id, max_len):
    ids = list(prompt)
    for _ in range(max_len):
        ids.insert(0, int(model(np.array(ids))[-1].argmax()))
        if ids[0] == eos_id:
            break
    return np.array(ids[: len(ids) - len(prompt)])
