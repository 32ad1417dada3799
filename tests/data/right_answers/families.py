"""Chapter 11: right answers by loops, by ready-made functions, with NumPy and with torch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.data.right_answers.encoder_decoder import encoder_layer__numpy, encoder_layer__torch
from transformer_course.masking import causal_mask
from transformer_course.positional_encoding import sinusoidal_encoding


def hide__loops(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    read, labels = ids.copy(), np.full(ids.shape, -100)
    for place in np.ndindex(ids.shape):
        if chosen_draw[place] >= 0.15 or ids[place] < special:
            continue
        labels[place] = ids[place]
        if mask_draw[place] < 0.8:
            read[place] = mask_id
        elif other_draw[place] < 0.5:
            read[place] = others[place]
    return read, labels


def hide__select(ids, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    chosen = np.logical_and(chosen_draw < 0.15, ids >= special)
    cases = [~chosen, mask_draw < 0.8, other_draw < 0.5]
    read = np.select(cases, [ids, np.full_like(ids, mask_id), others], ids)
    return read, np.where(chosen, ids, -100)


def hide__torch_filled(ids: Tensor, chosen_draw, mask_draw, other_draw, others, mask_id, special):
    read, labels = ids.clone(), ids.clone()
    chosen = (chosen_draw < 0.15).masked_fill(ids < special, False)
    labels[~chosen] = -100
    replaced = (mask_draw < 0.8) & chosen
    read[replaced] = mask_id
    another = (other_draw < 0.5) & chosen & ~replaced
    read[another] = others[another]
    return read, labels


def hide__one_after_the_other(
    ids: Tensor, chosen_draw, mask_draw, other_draw, others, mask_id, special
):
    chosen = (chosen_draw < 0.15) & (ids >= special)
    read = torch.where(chosen & (other_draw < 0.5), others, ids)
    read = torch.where(chosen & (mask_draw < 0.8), torch.full_like(ids, mask_id), read)
    return [read, ids.masked_fill(~chosen, -100)]


def prefix_mask__loops(n_prompt, length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(length):
            mask[i, j] = j < n_prompt if i < n_prompt else j <= i
    return mask


def prefix_mask__square_opened(n_prompt, length):
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask[:n_prompt, :n_prompt] = True
    return mask


def prefix_mask__furthest_place(n_prompt, length):
    furthest = np.maximum(np.arange(length), n_prompt - 1)
    return np.arange(length) <= furthest[:, None]


def prefix_mask__tri(n_prompt, length):
    return np.tri(length).astype(bool) | (np.arange(length) < n_prompt)[None, :]


def prompted_loss__loops(logits, ids, n_prompt, pad_id):
    losses = []
    for row in range(len(ids)):
        for t in range(n_prompt[row], ids.shape[1]):
            if ids[row, t] != pad_id:
                z = logits[row, t - 1]
                losses.append(np.log(np.exp(z).sum()) - z[ids[row, t]])
    return sum(losses) / len(losses)


def prompted_loss__ignored_labels(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    labels = ids.clone()
    labels[ids == pad_id] = -100
    for row, n in zip(labels, n_prompt, strict=True):
        row[:n] = -100
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def prompted_loss__picked(logits: Tensor, ids: Tensor, n_prompt: Tensor, pad_id):
    places = torch.arange(ids.shape[1])[None]
    rows, at = torch.where((places >= n_prompt[:, None]) & (ids != pad_id))
    return F.nll_loss(F.log_softmax(logits[rows, at - 1], -1), ids[rows, at])


def prompted_loss__one_hot(logits, ids, n_prompt, pad_id):
    powers = np.exp(logits[:, :-1])
    probs = powers / powers.sum(-1, keepdims=True)
    said = ids[:, 1:]
    p = (probs * np.eye(logits.shape[-1])[said]).sum(-1)
    counted = np.array(
        [
            [t + 1 >= n and said[b, t] != pad_id for t in range(said.shape[1])]
            for b, n in enumerate(n_prompt)
        ]
    )
    return -np.log(p[counted]).mean()


def pool__loop(states, real, how):
    rows = []
    for row, seen in zip(states, real, strict=True):
        tokens = row[seen]
        rows.append({"first": tokens[0], "mean": tokens.mean(0), "last": tokens[-1]}[how])
    return np.stack(rows)


def pool__weights(states, real, how):
    length = real.shape[1]
    n = real.sum(-1, keepdims=True)
    places = np.arange(length)
    weights = {"first": (places == 0) * (n > 0), "mean": real / n, "last": places == n - 1}[how]
    return np.einsum("bl,bld->bd", weights.astype(float), states)


def pool__torch_gather(states: Tensor, real: Tensor, how: str):
    n = real.sum(1)
    if how == "mean":
        return states.masked_fill(~real[..., None], 0.0).sum(1) / n.unsqueeze(-1)
    place = n - 1 if how == "last" else torch.zeros_like(n)
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[-1])).squeeze(1)


def pool__last_true(states, real, how):
    if how == "mean":
        return np.average(
            states, axis=1, weights=np.broadcast_to(real[..., None], states.shape).astype(float)
        )
    place = real.argmax(1) if how == "first" else real.shape[1] - 1 - real[:, ::-1].argmax(1)
    return np.take_along_axis(states, place[:, None, None], axis=1)[:, 0]


def patches__loops(image, size):
    found = []
    for top in range(0, image.shape[0], size):
        for left in range(0, image.shape[1], size):
            found.append(image[top : top + size, left : left + size].flatten())
    return np.array(found)


def patches__unfold(image: Tensor, size):
    return F.unfold(image[None, None], size, stride=size)[0].T


def patches__split(image, size):
    rows = np.split(image, image.shape[0] // size)
    squares = [square for row in rows for square in np.split(row, image.shape[1] // size, axis=1)]
    return np.stack([square.ravel() for square in squares])


def patches__einsum(image, size):
    height, width = image.shape
    cut = image.reshape(height // size, size, width // size, size)
    return np.einsum("hiwj->hwij", cut).reshape(-1, size * size)


def patches__torch_windows(image: Tensor, size):
    return image.unfold(0, size, size).unfold(1, size, size).flatten(2).flatten(0, 1)


def predict__dictionary(question):
    answers = {"a": 36, "b": 21, "c": 27, "d": 5, "e": 2, "f": 1200, "g": 960, "h": 120}
    return (answers | {"i": (10, 16, 192), "j": 12})[question]


def predict__worked_out(question):
    chosen = 0.15 * 8000
    if question == "i":
        return [10, (32 // 8) ** 2, 8 * 8 * 3]
    return {
        "a": 6**2,
        "b": sum(range(7)),
        "c": 4 * 4 + 5 + 6,
        "d": 6 - 1,
        "e": 6 - 4,
        "f": chosen,
        "g": 0.8 * chosen,
        "h": 0.5 * (1 - 0.8) * chosen,
        "j": 12 * 1,
    }[question]


def predict__counted(question):
    masks = {"a": prefix_mask__tri(6, 6), "b": prefix_mask__tri(0, 6), "c": prefix_mask__tri(4, 6)}
    if question in masks:
        return masks[question].sum()
    return predict__dictionary(question)


def decoder_only__numpy(ids, weights, n_heads):
    table = weights["table"]
    length, d_model = ids.shape[1], table.shape[1]
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    x = table[ids] * np.sqrt(d_model)
    x[..., 0::2] += np.sin(angles)
    x[..., 1::2] += np.cos(angles)
    mask = np.tri(length, dtype=bool)[None, None]
    for layer in weights["layers"]:
        x = encoder_layer__numpy(x, mask, layer, n_heads)
    return x @ table.T


def decoder_only__torch(ids: Tensor, weights, n_heads):
    table = weights["table"]
    mask = causal_mask(ids.shape[1])
    x = F.embedding(ids, table) * table.shape[1] ** 0.5
    x = x + sinusoidal_encoding(ids.shape[1], table.shape[1])
    for layer in weights["layers"]:
        x = encoder_layer__torch(x, mask, layer, n_heads)
    return F.linear(x, table)


def decoder_only__recursive(ids: Tensor, weights, n_heads):
    table = weights["table"]
    mask = ~torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()

    def through(x, layers):
        x = encoder_layer__torch(x, mask[None, None], layers[0], n_heads)
        return through(x, layers[1:]) if layers[1:] else x

    places = sinusoidal_encoding(ids.shape[1], table.shape[1])
    x = F.one_hot(ids, len(table)).float() @ table * table.shape[1] ** 0.5
    states = through(x + places, weights["layers"])
    return torch.einsum("bld,vd->blv", states, table)


def decoder_only__row_by_row(ids, weights, n_heads):
    return np.concatenate([decoder_only__numpy(row[None], weights, n_heads) for row in ids])


def continue_greedily__numpy(model, prompt, eos_id, max_len):
    ids = prompt
    while len(ids) < len(prompt) + max_len:
        ids = np.append(ids, np.argmax(model(ids)[-1]))
        if ids[-1] == eos_id:
            break
    return ids[len(prompt) :]


def continue_greedily__lists(model, prompt, eos_id, max_len):
    ids, new = list(prompt), []
    while len(new) < max_len and (not new or new[-1] != eos_id):
        logits = list(model(np.array(ids))[-1])
        new.append(logits.index(max(logits)))
        ids.append(new[-1])
    return np.array(new)


def continue_greedily__torch(model, prompt: Tensor, eos_id, max_len):
    written = prompt.new_empty(0)
    for _ in range(max_len):
        scores = model(torch.cat([prompt, written]))
        written = torch.cat([written, scores[-1:].argmax(-1)])
        if int(written[-1]) == eos_id:
            return written
    return written


def continue_greedily__recursive(model, prompt, eos_id, max_len):
    best = int(np.argmax(model(prompt)[len(prompt) - 1]))
    if best == eos_id or max_len == 1:
        return np.array([best])
    rest = continue_greedily__recursive(model, np.append(prompt, best), eos_id, max_len - 1)
    return np.concatenate([[best], rest])
