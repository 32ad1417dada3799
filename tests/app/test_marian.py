"""The bridge to MarianMT: the same logits and the same beams, there and back, and no silent loss."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from transformer_course.decoding import beam_search, greedy
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.marian import from_marian, to_marian

SIZES: dict[str, Any] = {
    "vocab_size": 23,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 30,
    "activation_function": "relu",
    "scale_embedding": True,
    "pad_token_id": 0,
    "decoder_start_token_id": 1,
    "eos_token_id": 2,
    "forced_eos_token_id": None,
    "init_std": 0.3,  # else random logits are nearly equal
}


def built(config: dict[str, Any]) -> Any:
    """A MarianMT model in evaluation mode; its own types tell mypy too little."""
    model: Any = MarianMTModel(MarianConfig(**config))
    return model.eval()


def marian(seed: int = 0, **changes: Any) -> Any:
    """A MarianMT model with random weights, biases and norms too."""
    torch.manual_seed(seed)
    model = built(SIZES | changes)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias") or "norm" in name:
                weight.add_(0.2 * torch.randn_like(weight))
    return model


def sentences(seed: int = 0, batch: int = 5, length: int = 9) -> Tensor:
    """Ragged sentences of random ids, padded with 0."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, SIZES["vocab_size"], (batch, length), generator=generator)
    for row in range(batch):
        ids[row, length - row :] = 0
    return ids


def logits(theirs: Any, src: Tensor, tgt: Tensor) -> Tensor:
    """What MarianMT gives."""
    with torch.no_grad():
        output = theirs(
            input_ids=src, attention_mask=src != 0, decoder_input_ids=tgt, use_cache=False
        )
    assert isinstance(output.logits, Tensor)
    return output.logits


VARIANTS: dict[str, dict[str, Any]] = {
    "as trained Marians are": {},
    "embeddings not scaled": {"scale_embedding": False},
    "three matrices": {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    "output of its own": {"tie_word_embeddings": False},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_the_logits_are_marians(changes: dict[str, Any]) -> None:
    theirs = marian(**changes)
    ours = from_marian(theirs.state_dict(), theirs.config.to_dict())
    src, tgt = sentences(1), sentences(2, length=7).clamp(min=3)
    assert logits(theirs, src, tgt).std() > 0.5
    torch.testing.assert_close(ours(src, tgt), logits(theirs, src, tgt), rtol=0, atol=2e-5)


def test_a_target_that_starts_with_the_id_of_padding_is_read() -> None:
    """As those of published models do: MarianConfig's default."""
    theirs = marian(4, decoder_start_token_id=0)
    ours = from_marian(theirs.state_dict(), theirs.config.to_dict())
    src, tgt = sentences(1), sentences(2, length=7).clamp(min=3)
    tgt[:, 0] = 0
    torch.testing.assert_close(ours(src, tgt), logits(theirs, src, tgt), rtol=0, atol=2e-5)


@pytest.mark.parametrize("seed", [3, 8, 9])
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_beams_are_marians(beam: int, seed: int) -> None:
    """The same tokens, </s> included, and with a beam the same sums of log-probabilities."""
    theirs = marian(seed)
    ours = from_marian(theirs.state_dict(), theirs.config.to_dict())
    src = sentences(seed + 1, batch=8)
    found = theirs.generate(
        src,
        attention_mask=(src != 0).long(),
        num_beams=beam,
        num_return_sequences=beam,
        max_new_tokens=12,
        do_sample=False,
        length_penalty=0.0,
        early_stopping="never" if beam > 1 else False,
        bad_words_ids=[[0], [1]],
        output_scores=True,
        return_dict_in_generate=True,
    )
    mine = beam_search(ours, src, beam, 12, alpha=0.0, top_beams=beam)
    for hypotheses, rows in zip(mine, found.sequences.view(8, beam, -1).tolist(), strict=True):
        assert [h.ids for h in hypotheses] == [up_to_the_end(row[1:]) for row in rows]
    if beam > 1:
        scores = torch.tensor([[h.score for h in hypotheses] for hypotheses in mine])
        wanted = found.sequences_scores.view(8, beam)
        torch.testing.assert_close(scores, wanted, rtol=0, atol=2e-5)


def up_to_the_end(ids: list[int]) -> list[int]:
    """Without the padding that stands after </s> (2)."""
    return ids[: ids.index(2) + 1] if 2 in ids else ids


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_other_precisions_become_single_precision(
    dtype: torch.dtype, changes: dict[str, Any]
) -> None:
    theirs = marian(**changes)
    config = theirs.config.to_dict()
    exact = theirs.state_dict()
    saved = {name: weight.to(dtype) for name, weight in exact.items()}
    rounded = {
        name: exact[name] if "embed_positions" in name else weight.float()
        for name, weight in saved.items()
    }
    ours = from_marian(saved, config)
    assert {weight.dtype for weight in ours.state_dict().values()} == {torch.float32}
    src, tgt = sentences(1), sentences(2, length=7).clamp(min=3)
    assert torch.equal(ours(src, tgt), from_marian(rounded, config)(src, tgt))
    assert (ours(src, tgt) - logits(theirs, src, tgt)).abs().max() < 0.3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_positions_in_half_precision_are_still_looked_at(dtype: torch.dtype) -> None:
    theirs = marian()
    weights = {name: weight.to(dtype) for name, weight in theirs.state_dict().items()}
    weights["model.decoder.embed_positions.weight"][3, 5] += 0.05
    with pytest.raises(
        ValueError, match=r"model\.decoder\.embed_positions\.weight must be the sin"
    ):
        from_marian(weights, theirs.config.to_dict())


def test_there_and_back_changes_no_bit() -> None:
    theirs = marian(5)
    weights, config = to_marian(from_marian(theirs.state_dict(), theirs.config.to_dict()))
    before = theirs.state_dict()
    assert weights.keys() == before.keys()
    for name, weight in weights.items():
        if "embed_positions" in name:
            torch.testing.assert_close(weight, before[name])
        else:
            assert torch.equal(weight, before[name]), name
    again = built(config)
    again.load_state_dict(weights)
    src, tgt = sentences(6), sentences(7).clamp(min=3)
    torch.testing.assert_close(logits(again, src, tgt), logits(theirs, src, tgt))


@pytest.mark.parametrize("tied", [True, False])
def test_our_model_becomes_a_marian(tied: bool) -> None:
    torch.manual_seed(8)
    sizes = TransformerConfig(23, 16, 4, 2, 1, 40, norm="post", tie_embeddings=tied, max_len=30)
    ours = Transformer(sizes).eval()
    weights, config = to_marian(ours)
    theirs = built(config)
    left_out = theirs.load_state_dict(weights, strict=tied)
    assert set(left_out.missing_keys) <= {"model.shared.weight"}
    assert not left_out.unexpected_keys
    src, tgt = sentences(9), sentences(10).clamp(min=3)
    torch.testing.assert_close(logits(theirs, src, tgt), ours(src, tgt), rtol=1e-4, atol=1e-5)
    assert greedy(from_marian(weights, config), src, 8) == greedy(ours, src, 8)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "activation": ({"activation_function": "swish"}, r"activation_function \('swish'\)"),
    "heads": ({"decoder_attention_heads": 2}, r"decoder_attention_heads \(2\)"),
    "feed-forward": ({"decoder_ffn_dim": 8}, r"decoder_ffn_dim \(8\)"),
    "vocabularies": ({"decoder_vocab_size": 5}, r"decoder_vocab_size \(5\)"),
    "layers": ({"encoder_layers": 3}, "encoder.layers.2.self_attn.q_proj.weight"),
    "too few layers": ({"decoder_layers": 2}, "decoder.layers.2"),
    "positions": ({"max_position_embeddings": 29}, "sinusoids of 29 positions"),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses_what_it_cannot_do(changes: dict[str, Any], message: str) -> None:
    theirs = marian()
    with pytest.raises(ValueError, match=message):
        from_marian(theirs.state_dict(), theirs.config.to_dict() | changes)


def test_refuses_a_config_without_a_size() -> None:
    theirs = marian()
    config = theirs.config.to_dict()
    del config["encoder_ffn_dim"]
    with pytest.raises(ValueError, match="config has no encoder_ffn_dim"):
        from_marian(theirs.state_dict(), config)


def test_refuses_weights_it_would_have_to_drop() -> None:
    theirs = marian()
    config, weights = theirs.config.to_dict(), theirs.state_dict()
    for changed, message in (
        ({"final_logits_bias": torch.full((1, 23), 0.1)}, "final_logits_bias must be 0"),
        ({"model.encoder.layernorm_embedding.weight": torch.ones(16)}, "layernorm_embedding"),
        ({"lm_head.weight": torch.ones(23, 16)}, "one matrix"),
        ({"model.decoder.embed_positions.weight": torch.zeros(30, 16)}, "sinusoids"),
    ):
        with pytest.raises(ValueError, match=message):
            from_marian(weights | changed, config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": "pre"}, "norm ('pre') must be 'post'"),
        ({"positions": "learned"}, "positions ('learned') must be 'sinusoidal'"),
        ({"bias": False}, "bias (False) must be True"),
        ({"n_key_heads": 2}, "n_key_heads (2) must be 4"),
    ],
)
def test_refuses_models_that_marian_does_not_have(change: dict[str, Any], message: str) -> None:
    sizes: dict[str, Any] = {"norm": "post", **change}
    with pytest.raises(ValueError, match=re.escape(f"{message}: Marian has no other")):
        to_marian(Transformer(TransformerConfig(23, 16, 4, 1, 1, 40, **sizes)))
    same: dict[str, Any] = {"norm": "post", "n_key_heads": 4}
    assert to_marian(Transformer(TransformerConfig(23, 16, 4, 1, 1, 40, **same)))
