"""Chapter 10: wrong answers as learners write them, none of them among the misconceptions."""

import numpy as np


def head_links__largest_weight_itself(weights):
    return weights[:-1, :-1].max(-1)


def head_links__second_best(weights):
    return np.argsort(-weights[:-1, :-1], axis=1, kind="stable")[:, 1]


def head_links__first_row_left_out(weights):
    return weights[1:-1, :-1].argmax(-1)


def head_links__of_equal_the_last(weights):
    flipped = weights[:-1, :-1][:, ::-1]
    return weights.shape[1] - 1 - flipped.argmax(-1)


def head_links__mean_of_the_places(weights):
    rows = weights[:-1, :-1]
    return (rows * np.arange(rows.shape[1])).sum(-1) / rows.sum(-1)


def head_links__a_table(weights):
    rows = weights[:-1, :-1]
    return rows == rows.max(-1, keepdims=True)


def error_rate__found_minus_right(found, gold):
    return (found.sum() - (found & gold).sum()) / (found.sum() + gold.sum())


def error_rate__either_for_both(found, gold):
    return 1 - 2 * (found | gold).sum() / (found.sum() + gold.sum())


def error_rate__sums_multiplied(found, gold):
    return 1 - 2 * (found & gold).sum() / (found.sum() * gold.sum())


def error_rate__whole_division(found, gold):
    return 1 - 2 * (found & gold).sum() // (found.sum() + gold.sum())


def error_rate__empty_squares_too(found, gold):
    return 1 - (found == gold).sum() / (found.sum() + gold.sum())


def error_rate__a_count(found, gold):
    return (found != gold).sum()


def share_of_the_way__probabilities_of_il(this, patched, other):
    return (this[0] - patched[0]) / (this[0] - other[0])


def share_of_the_way__probabilities_of_elle(this, patched, other):
    return (this[1] - patched[1]) / (this[1] - other[1])


def share_of_the_way__logarithms_of_il_only(this, patched, other):
    a, p, o = (np.log(x[0]) for x in (this, patched, other))
    return (a - p) / (a - o)


def share_of_the_way__moved_only(this, patched, other):
    a, p = (np.log(x[0]) - np.log(x[1]) for x in (this, patched))
    return a - p


def share_of_the_way__cut_to_one(this, patched, other):
    a, p, o = (np.log(x[0]) - np.log(x[1]) for x in (this, patched, other))
    return np.clip((a - p) / (a - o), 0, 1)


def share_of_the_way__patched_and_other_exchanged(this, patched, other):
    a, p, o = (np.log(x[0]) - np.log(x[1]) for x in (this, patched, other))
    return (a - o) / (a - p + 1e-6)


def attention_rollout__more_stays(maps):
    n = maps.shape[-1]
    mixed = np.eye(n)
    for layer in maps:
        mixed = (layer.mean(0) + 2 * np.eye(n)) / 3 @ mixed
    return mixed


def attention_rollout__stays_in_the_first_layer_only(maps):
    mixed = (maps[0].mean(0) + np.eye(maps.shape[-1])) / 2
    for layer in maps[1:]:
        mixed = layer.mean(0) @ mixed
    return mixed


def attention_rollout__transposed(maps):
    mixed = np.eye(maps.shape[-1])
    for layer in maps:
        mixed = (layer.mean(0).T + np.eye(len(mixed))) / 2 @ mixed
    return mixed


def attention_rollout__first_layer_left_out(maps):
    mixed = np.eye(maps.shape[-1])
    for layer in maps[1:]:
        mixed = (layer.mean(0) + np.eye(len(mixed))) / 2 @ mixed
    return mixed


def attention_rollout__mean_over_the_layers_instead_of_heads(maps):
    mixed = np.eye(maps.shape[-1])
    for head in maps.mean(0):
        mixed = (head + np.eye(len(mixed))) / 2 @ mixed
    return mixed


def attention_rollout__identity_multiplied(maps):
    mixed = np.eye(maps.shape[-1])
    for layer in maps:
        mixed = (layer.mean(0) * np.eye(len(mixed))) @ mixed
    return mixed


def rank_agreement__products_not_signs(a, b):
    i, j = np.triu_indices(len(a), 1)
    return np.mean((a[i] - a[j]) * (b[i] - b[j]))


def rank_agreement__first_with_all_others(a, b):
    return np.mean(np.sign(a[1:] - a[0]) * np.sign(b[1:] - b[0]))


def rank_agreement__one_minus(a, b):
    i, j = np.triu_indices(len(a), 1)
    return 1 - np.mean(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]))


def rank_agreement__same_place(a, b):
    return np.mean(a.argsort() == b.argsort())


def rank_agreement__sign_of_b_only(a, b):
    i, j = np.triu_indices(len(a), 1)
    return np.mean(np.sign(b[i] - b[j]))


def rank_agreement__absolute(a, b):
    i, j = np.triu_indices(len(a), 1)
    return abs(np.mean(np.sign(a[i] - a[j]) * np.sign(b[i] - b[j])))


def what_followed__only_once(tokens):
    found = np.full(len(tokens), -1)
    for t in range(1, len(tokens)):
        if tokens[t] == tokens[0]:
            found[t] = tokens[1]
    return found


def what_followed__next_token_itself(tokens):
    return np.append(tokens[1:], -1)


def what_followed__neighbours_only(tokens):
    found = np.full(len(tokens), -1)
    for t in range(1, len(tokens)):
        if tokens[t - 1] == tokens[t]:
            found[t] = tokens[t]
    return found


def what_followed__one_shorter(tokens):
    found = np.full(len(tokens) - 1, -1)
    for t in range(len(tokens) - 1):
        for s in range(t):
            if tokens[s] == tokens[t]:
                found[t] = tokens[s + 1]
    return found


def what_followed__a_yes_or_no(tokens):
    return np.array([token in tokens[:t] for t, token in enumerate(tokens)])


def what_followed__how_far_back(tokens):
    found = np.full(len(tokens), -1)
    for t in range(len(tokens)):
        for s in range(t):
            if tokens[s] == tokens[t]:
                found[t] = t - s
    return found


def judge_inspecting__all_true(statement):
    return True


def judge_inspecting__all_false(statement):
    return False


def judge_inspecting__all_turned(statement):
    return statement in "aceg"


def judge_inspecting__as_text(statement):
    return str(statement in "bdfh")


def judge_inspecting__printed_only(statement):
    print(statement in "bdfh")


def judge_inspecting__the_letter_itself(statement):
    return statement


def judge_inspecting__first_half_right(statement):
    return statement in "bd" or statement in "eg"
