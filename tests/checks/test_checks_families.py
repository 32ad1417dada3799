"""The parts of the exercises of chapter 11: what they compare with, and what their last cells call."""

from typing import Any

import numpy as np
import pytest
import torch

from tests.checks import mutations
from transformer_course.checks import families, for_tensors, functional, part
from transformer_course.checks.encoder_decoder import encoder_layer
from transformer_course.checks.families.decoder_only import _variant, packaged_model
from transformer_course.checks.families.explore import PAIRS, learn_to_translate, prefix_table
from transformer_course.checks.running import in_depth
from transformer_course.families import mask_tokens, pool, prefix_mask

SEEDS = range(20)


def drawn(exercise: Any, seed: int) -> Any:
    return exercise.draw(np.random.default_rng(seed))


def test_the_encoder_layer_of_the_weights_is_the_exercise_of_chapter_06() -> None:
    for seed in SEEDS:
        x, mask, weights, n_heads = drawn(encoder_layer, seed)
        given = in_depth((x, mask, weights), torch.tensor)
        found = functional.encoder_layer(*given, n_heads)
        assert np.allclose(found, encoder_layer.reference(x, mask, weights, n_heads))


def test_part_takes_the_encoder_layer_where_the_learner_has_none(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part("encoder_layer") is functional.encoder_layer
    assert "encoder_layer: the course's own" in capsys.readouterr().out


def test_the_packages_decoder_is_encoder_layers_with_a_causal_mask() -> None:
    """The weights are all in the model: with others, another result."""
    for seed in SEEDS:
        ids, weights, n_heads = drawn(families.decoder_only, seed)
        found = families.decoder_only.reference(ids, weights, n_heads)
        assert np.allclose(found, _variant()(ids, weights, n_heads))
    assert sum(p.numel() for p in packaged_model(weights, n_heads).parameters()) == sum(
        _sizes(weights) + _biases(weights)
    )


def _sizes(weights: Any) -> list[int]:
    found: list[int] = []
    in_depth(weights, lambda array: found.append(array.size))
    return found


def _biases(weights: Any) -> list[int]:
    """Attention's four biases, which the exercise hasn't."""
    return [4 * weights["table"].shape[1] for _ in weights["layers"]]


def test_hiding_is_the_packages_up_to_where_the_random_numbers_come_from() -> None:
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(0, 30, (40, 50), generator=generator)
    read, labels = mask_tokens(ids, 50, 30, special=3, generator=torch.Generator().manual_seed(1))
    again = torch.Generator().manual_seed(1)
    chosen_draw, kind = (torch.rand(ids.shape, generator=again) for _ in range(2))
    others = torch.randint(3, 30, ids.shape, generator=again)
    left = (kind - 0.8) / 0.2  # what one number decides there, two decide here
    arguments = (ids, chosen_draw, kind, left, others, 50, 3)
    found = families.hide.reference(*(x.numpy() if torch.is_tensor(x) else x for x in arguments))
    assert np.array_equal(found[0], read)
    assert np.array_equal(found[1], labels)
    assert 0.13 < (found[1] >= 0).mean() < 0.15  # a tenth of the ids are special


def test_masks_and_pooling_are_the_packages() -> None:
    for seed in SEEDS:
        n_prompt, length = drawn(families.prefix_mask, seed)
        theirs = prefix_mask(torch.ones(1, length, dtype=torch.int64), torch.tensor([n_prompt]))
        assert np.array_equal(families.prefix_mask.reference(n_prompt, length), theirs[0, 0])
        states, real, how = drawn(families.pool, seed)
        pooled = pool(torch.tensor(states), torch.tensor(real), how)
        assert np.allclose(families.pool.reference(states, real, how), pooled)


def learners() -> dict[str, Any]:
    return mutations.notebook_names(mutations.notebook_of("families", "solutions"))[0]


def test_a_decoder_learns_pairs_and_translates(capsys: pytest.CaptureFixture[str]) -> None:
    own = learners()
    model, loss, write = (own[n] for n in ("decoder_only", "prompted_loss", "continue_greedily"))
    capsys.readouterr()
    learn_to_translate(model, loss, write)
    assert capsys.readouterr().out.splitlines() == list(PAIRS)
    learn_to_translate(model, loss, families.continue_greedily.reference)  # written for NumPy
    assert capsys.readouterr().out.splitlines() == list(PAIRS)
    learn_to_translate(model, loss, write, steps=0)
    assert "le chat" not in capsys.readouterr().out


def test_what_isnt_written_or_cant_learn_gets_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = learners()
    model, loss, write = (own[n] for n in ("decoder_only", "prompted_loss", "continue_greedily"))
    capsys.readouterr()
    for unfinished in (lambda *_: None, lambda *_: 1 / 0, lambda *_: torch.ones(3)):
        learn_to_translate(unfinished, loss, write)
        assert "when decoder_only and prompted_loss pass their" in capsys.readouterr().out
        learn_to_translate(model, unfinished, write)
        assert "when decoder_only and prompted_loss pass their" in capsys.readouterr().out
        learn_to_translate(model, loss, unfinished, steps=1)
        assert capsys.readouterr().out == (
            "It has learned. It writes when continue_greedily passes its check.\n"
        )
    learn_to_translate(for_tensors(families.decoder_only.reference), loss, write)
    assert "Torch can't follow your functions" in capsys.readouterr().out


def with_numpy(n_prompt: int, length: int) -> Any:
    return np.asarray(families.prefix_mask.reference(n_prompt, length))


def with_torch(n_prompt: int, length: int) -> Any:
    return prefix_mask(torch.ones(1, length, dtype=torch.int64), torch.tensor([n_prompt]))[0, 0]


@pytest.mark.parametrize("own", [with_numpy, with_torch])
def test_the_sliders_show_the_learners_mask(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for n_prompt, pairs, guessed in (
        (0, 10, "3 tokens are"),
        (1, 10, "3 tokens are"),
        (3, 13, "1 token is"),
        (4, 16, "0 tokens are"),
        (9, 16, "0 tokens are"),
    ):
        prefix_table(own, n_prompt, 4)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "query       0 1 2 3   keys"
        assert sum(line.count("#") for line in lines) == pairs
        assert sum("prompt" in line for line in lines) == min(n_prompt, 4)
        assert lines[-1] == f"{pairs} of 16 pairs are open; {guessed} guessed."
        assert all(len(line) == len("0 prompt    # # # #") for line in lines[1:-1])


@pytest.mark.parametrize("own", [lambda *_: None, lambda *_: 1 / 0, lambda *_: np.ones(3), 3])
def test_sliders_wait_for_a_mask(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    prefix_table(own)
    assert capsys.readouterr().out == (
        "The sliders come to life when prefix_mask passes its check.\n"
    )
