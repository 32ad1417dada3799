"""The inspector: what it packs, and which models it refuses."""

import base64
import gzip
import json
from dataclasses import replace

import pytest
import torch
from small_runs import trained

from transformer_course.encoder_decoder import Transformer
from transformer_course.figures import Inspector
from transformer_course.figures.inspector import packed, quantised
from transformer_course.seq2seq import RecurrentSeq2Seq, Seq2SeqConfig
from transformer_course.translator import Translator


def test_it_holds_all_weights_within_half_a_step() -> None:
    figure = Inspector(trained(), "one two")
    assert figure.text == "one two"
    assert repr(figure).startswith("Interactive figure: a translator in the page, ")
    data = gzip.decompress(base64.b64decode(figure.packed))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    weights = dict(trained().model.named_parameters())
    assert [entry["name"] for entry in header["tensors"]] == list(weights)
    assert len(data) - 4 - length == sum(weight.numel() for weight in weights.values())
    merged = header["vocabulary"]["merges"]
    assert 259 + len(merged) == len(trained().vocabulary)
    assert packed(trained()) == figure.packed  # the same weights, the same letters


def test_rounding_is_by_rows() -> None:
    numbers, factors = quantised(torch.tensor([[1.0, -0.5], [100.0, 50.0], [0.0, 0.0]]))
    assert numbers.tolist() == [[127, -64], [127, 64], [0, 0]]
    assert (numbers.float() * factors[:, None])[1].tolist() == pytest.approx([100, 50], rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"norm": "post"}, "norm = 'post'; the page computes 'pre' only"),
        ({"positions": "learned"}, "positions = 'learned'"),
        ({"tie_embeddings": False}, "tie_embeddings = False"),
        ({"bias": False}, "bias = False"),
        ({"n_key_heads": 1}, "n_key_heads = 1"),
    ],
)
def test_what_the_page_can_not_compute_is_refused(change: dict[str, object], message: str) -> None:
    config = trained().model.config
    assert isinstance(trained().model, Transformer)
    other = Transformer(replace(config, **change))  # type: ignore[type-var, arg-type]
    with pytest.raises(ValueError, match=message):
        Inspector(Translator(other, trained().vocabulary))


def test_older_models_are_refused() -> None:
    vocabulary = trained().vocabulary
    model = RecurrentSeq2Seq(Seq2SeqConfig(len(vocabulary), d_model=8))
    with pytest.raises(ValueError, match="RecurrentSeq2Seq; the page computes Transformers only"):
        Inspector(Translator(model, vocabulary))
