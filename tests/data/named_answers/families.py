"""Chapter 11: misconceptions in the spellings of learners."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.data.right_answers import encoder_decoder as right
from transformer_course.positional_encoding import sinusoidal_encoding


def hide__second_draw_corrected(
    ids: Tensor, chosen_draw, mask_draw, other_draw, others, mask_id, special
):
    """another token for a tenth of those that are left"""
    read, labels = ids.clone(), ids.clone()
    chosen = (chosen_draw < 0.15) & (ids >= special)
    labels[~chosen] = -100
    replaced = chosen & (mask_draw < 0.8)
    read[replaced] = mask_id
    another = chosen & ~replaced & (other_draw < 0.1)
    read[another] = others[another]
    return read, labels


def hide__pads_too(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    """padding and other marks chosen, too"""
    read, labels = ids.copy(), np.full_like(ids, -100)
    for b, t in np.argwhere(chosen_draw < 0.15):
        labels[b, t] = ids[b, t]
        if mask_draw[b, t] < 0.8:
            read[b, t] = mask_id
        elif other_draw[b, t] < 0.5:
            read[b, t] = others[b, t]
    return read, labels


def hide__label_where_hidden(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    """labels only where mask_id is"""
    chosen = (chosen_draw < 0.15) & (ids >= special)
    hidden = chosen & (mask_draw < 0.8)
    read = np.where(hidden, mask_id, np.where(chosen & (other_draw < 0.5), others, ids))
    return read, np.where(read == mask_id, ids, -100)


def hide__positive_labels(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    """token 0 loses its label"""
    chosen = (chosen_draw < 0.15) & (ids >= special)
    labels = ids * chosen
    read = np.where(chosen & (other_draw < 0.5), others, ids)
    read = np.where(chosen & (mask_draw < 0.8), mask_id, read)
    return read, np.where(labels > 0, labels, -100)


def hide__any_change(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    """labels only where something was changed"""
    chosen = (chosen_draw < 0.15) & (ids >= special)
    read = np.where(chosen & (other_draw < 0.5), others, ids)
    read = np.where(chosen & (mask_draw < 0.8), mask_id, read)
    return read, np.where(read != ids, ids, -100)


def prefix_mask__torchs_convention(n_prompt, length):
    """the polarity turned round"""
    mask = torch.ones(length, length, dtype=torch.bool).triu(1)
    mask[:, :n_prompt] = False
    return mask


def prefix_mask__rows_opened(n_prompt, length):
    """the prompt sees the continuation"""
    mask = np.tri(length, dtype=bool)
    mask[:n_prompt] = True
    return mask


def prefix_mask__both_squares(n_prompt, length):
    """the continuation sees all of itself"""
    mask = np.tri(length, dtype=bool)
    mask[:n_prompt, :n_prompt] = True
    mask[n_prompt:, n_prompt:] = True
    return mask


def prefix_mask__inclusive(n_prompt, length):
    """the prompt one token too long"""
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask[:, : n_prompt + 1] = True
    return mask


def prompted_loss__labels_not_shifted(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """still wrong: what is compared with what"""
    places = torch.arange(ids.shape[1])
    labels = torch.where((places >= n_prompt[:, None]) & (ids != pad_id), ids, -100)
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def prompted_loss__mask_before_the_shift(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """still wrong: where the continuation begins"""
    labels = ids[:, 1:].clone()
    labels[labels == pad_id] = -100
    for row, n in zip(labels, n_prompt, strict=True):
        row[:n] = -100
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels.flatten())


def prompted_loss__whole_row(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """the prompt guessed, too"""
    labels = ids[:, 1:].masked_fill(ids[:, 1:] == pad_id, -100)
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), labels)


def prompted_loss__row_by_row(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """the mean of the rows' means"""
    means = []
    for z, row, n in zip(logits, ids, n_prompt, strict=True):
        end = int((row != pad_id).sum())
        means.append(F.cross_entropy(z[n - 1 : end - 1], row[n:end]))
    return torch.stack(means).mean()


def pool__minus_one(states: Tensor, real: Tensor, how: str):
    """the last place instead of the last token"""
    if how == "mean":
        return (states * real.unsqueeze(-1)).sum(1) / real.sum(1, keepdim=True)
    return states[:, -1 if how == "last" else 0]


def pool__plain_mean(states, real, how):
    """padding in the mean"""
    ends = real.sum(1)
    return {
        "mean": states.mean(1),
        "first": states[:, 0],
        "last": np.array([row[n - 1] for row, n in zip(states, ends, strict=True)]),
    }[how]


def pool__zeros_averaged(states, real, how):
    """padding in the count"""
    if how == "mean":
        return np.where(real[..., None], states, 0.0).mean(1)
    return states[:, 0] if how == "first" else states[range(len(states)), real.sum(1) - 1]


def patches__reshape(image: Tensor, size):
    """the image cut in one long line"""
    return image.reshape(-1, size, size).flatten(1)


def patches__view_without_transpose(image, size):
    """the image cut in one long line"""
    rows, columns = image.shape[0] // size, image.shape[1] // size
    return image.reshape(rows, columns, size, size).reshape(rows * columns, size * size)


def patches__stride_forgotten(image: Tensor, size):
    """overlapping patches"""
    return F.unfold(image[None, None], size)[0].T


def patches__unfold_as_it_is(image: Tensor, size):
    """rows and columns of the result exchanged"""
    return F.unfold(image[None, None], size, stride=size)[0]


def patches__columns_outside(image, size):
    """the patches column by column"""
    return np.array(
        [
            image[top : top + size, left : left + size].ravel()
            for left in range(0, image.shape[1], size)
            for top in range(0, image.shape[0], size)
        ]
    )


def predict__causal_prompt(question):
    """the prompt is causal, too"""
    answers = {"a": 36, "b": 21, "c": 21, "d": 5, "e": 2, "f": 1200, "g": 960, "h": 120}
    return (answers | {"i": (10, 16, 192), "j": 12})[question]


def decoder_only__encoder(ids: Tensor, weights, n_heads):
    """no causal mask"""
    table = weights["table"]
    x = table[ids] * table.shape[1] ** 0.5 + sinusoidal_encoding(ids.shape[1], table.shape[1])
    for layer in weights["layers"]:
        x = right.encoder_layer__torch(x, torch.ones(1, 1, dtype=torch.bool), layer, n_heads)
    return x @ table.T


def decoder_only__as_they_are(ids: Tensor, weights, n_heads):
    """embeddings not multiplied"""
    table = weights["table"]
    mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    x = table[ids] + sinusoidal_encoding(ids.shape[1], table.shape[1])
    for layer in weights["layers"]:
        x = right.encoder_layer__torch(x, mask, layer, n_heads)
    return x @ table.T


def decoder_only__growing(ids: Tensor, weights, n_heads):
    """each beginning by itself, without a mask"""
    table = weights["table"]
    rows = []
    for end in range(1, ids.shape[1] + 1):
        x = table[ids[:, :end]] * table.shape[1] ** 0.5
        x = x + sinusoidal_encoding(end, table.shape[1])
        for layer in weights["layers"]:
            x = right.encoder_layer__torch(x, torch.ones(1, 1, dtype=torch.bool), layer, n_heads)
        rows.append(x[:, -1] @ table.T)
    return torch.stack(rows, 1)


def decoder_only__last_only(ids: Tensor, weights, n_heads):
    """the scores after the last token only"""
    table = weights["table"]
    mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    x = table[ids] * table.shape[1] ** 0.5 + sinusoidal_encoding(ids.shape[1], table.shape[1])
    for layer in weights["layers"]:
        x = right.encoder_layer__torch(x, mask, layer, n_heads)
    return x[:, -1] @ table.T


def continue_greedily__all_of_it(model, prompt: Tensor, eos_id, max_len):
    """the prompt repeated in the result"""
    ids = prompt
    for _ in range(max_len):
        ids = torch.cat([ids, model(ids)[-1:].argmax(-1)])
        if ids[-1] == eos_id:
            break
    return ids


def continue_greedily__end_dropped(model, prompt, eos_id, max_len):
    """the end mark left out"""
    ids, new = list(prompt), []
    for _ in range(max_len):
        best = int(np.argmax(model(np.array(ids))[-1]))
        if best == eos_id:
            break
        ids.append(best)
        new.append(best)
    return np.array(new, dtype=int)


def continue_greedily__looks_anywhere(model, prompt, eos_id, max_len):
    """stopped by an end mark in the prompt"""
    ids = list(prompt)
    while eos_id not in ids and len(ids) < len(prompt) + max_len:
        ids.append(int(np.argmax(model(np.array(ids))[-1])))
    return np.array(ids[len(prompt) :], dtype=int)


def continue_greedily__longest_row(model, prompt, eos_id, max_len):
    """the prompt counted in max_len"""
    ids = list(prompt)
    while len(ids) < max_len:
        ids.append(int(np.argmax(model(np.array(ids))[-1])))
        if ids[-1] == eos_id:
            break
    return np.array(ids[len(prompt) :], dtype=int)


def prompted_loss__one_place_too_early(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """the last token of the prompt guessed, too"""
    losses = -torch.log_softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None])[..., 0]
    places = torch.arange(1, ids.shape[1])
    counted = (places >= n_prompt[:, None] - 1) & (ids[:, 1:] != pad_id)
    return losses[counted].mean()


def _scores(ids: Tensor, weights, n_heads, x: Tensor):
    mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    for layer in weights["layers"]:
        x = right.encoder_layer__torch(x, mask, layer, n_heads)
    return x @ weights["table"].T


def decoder_only__root_around_the_sum(ids: Tensor, weights, n_heads):
    """positions multiplied, too"""
    d_model = weights["table"].shape[1]
    x = weights["table"][ids] + sinusoidal_encoding(ids.shape[1], d_model)
    return _scores(ids, weights, n_heads, x * d_model**0.5)


def decoder_only__rolled(ids: Tensor, weights, n_heads):
    """every place has the scores of the place after it"""
    d_model = weights["table"].shape[1]
    x = weights["table"][ids] * d_model**0.5 + sinusoidal_encoding(ids.shape[1], d_model)
    return _scores(ids, weights, n_heads, x).roll(-1, dims=1)


def decoder_only__rolled_back(ids: Tensor, weights, n_heads):
    """every place has the scores of the place before it"""
    d_model = weights["table"].shape[1]
    x = weights["table"][ids] * d_model**0.5 + sinusoidal_encoding(ids.shape[1], d_model)
    return _scores(ids, weights, n_heads, x).roll(1, dims=1)


def prompted_loss__two_places_too_late(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """the first two tokens of the continuation left out"""
    losses = -torch.log_softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None])[..., 0]
    counted = (torch.arange(ids.shape[1] - 1) > n_prompt[:, None]) & (ids[:, 1:] != pad_id)
    return (losses * counted).sum() / counted.sum()


def prompted_loss__two_places_too_late_and_padding(logits: Tensor, ids: Tensor, n_prompt, pad_id):
    """the first two tokens of the continuation left out, and the padding guessed"""
    losses = -torch.log_softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None])[..., 0]
    return losses[torch.arange(ids.shape[1] - 1) > n_prompt[:, None]].mean()


def prompted_loss__padding_of_what_is_read(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    """padding by what is read, not by what must be said"""
    losses = -torch.log_softmax(logits[:, :-1], -1).gather(-1, ids[:, 1:, None])[..., 0]
    places = torch.arange(1, ids.shape[1])
    return losses[(places >= n_prompt[:, None]) & (ids[:, :-1] != pad_id)].mean()
