"""The benchmark of graphics cards: its arithmetic, that it runs, and what it says where there is no card."""

import json
from dataclasses import replace

import pytest
import torch
from small_runs import small_model
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import gpu
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import teacher_forcing_loss

SMALL = replace(small_model().config, n_encoder_layers=2, n_decoder_layers=3, vocab_size=50)


@pytest.mark.parametrize(("src_len", "tgt_len"), [(5, 7), (16, 3)])
def test_operations_are_those_that_torch_counts(src_len: int, tgt_len: int) -> None:
    model = Transformer(SMALL)
    src, tgt = torch.randint(3, 50, (1, src_len)), torch.randint(3, 50, (1, tgt_len + 1))
    with FlopCounterMode(display=False) as counter:
        teacher_forcing_loss(model, src, tgt).backward()
    assert gpu.flops(SMALL, src_len, tgt_len) == counter.get_total_flops()


def test_short_sentences_take_six_operations_for_each_weight_and_token() -> None:
    """The well-known estimate, for the base model: cross-attention's keys and values are the source's."""
    config = TransformerConfig.base(37_000)
    with torch.device("meta"):
        model = Transformer(config)
    weights = sum(p.numel() for name, p in model.named_parameters() if p.dim() == 2)
    assert gpu.flops(config, 1, 1) == pytest.approx(6 * weights, rel=1e-3)


def test_utilisation_is_a_share_of_all_cards() -> None:
    assert gpu.utilisation(3e14, 300.0, 1) == pytest.approx(1.0)
    assert gpu.utilisation(3e14, 300.0, 8) == pytest.approx(0.125)


def test_without_a_card_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.zeros", lambda *_, **__: (_ for _ in ()).throw(AssertionError("no")))
    with pytest.raises(
        SystemExit, match=r"^error: device \('cuda'\) must be there: torch finds no"
    ):
        gpu.main([])


def test_it_runs_on_the_processor_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = gpu.RECORD.exists()
    gpu.main(["--device", "cpu", "--steps", "4", "--peak", "0.001"])
    record = json.loads(capsys.readouterr().out)
    assert record["largest difference of losses from the processor's"] == 0.0
    speed = record["tokens per second, source and target"]
    pairs = record["positions of a batch"] // 65
    assert speed * record["seconds of an update"] == pytest.approx(pairs * 64)
    expected = record["TFLOP of an update"] / record["seconds of an update"] / 0.001
    assert record["utilisation"] == pytest.approx(expected)
    assert gpu.RECORD.exists() == before


def test_another_result_than_the_processors_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "difference", lambda *_, **__: 0.5)
    with pytest.raises(SystemExit, match=r"^error: losses on cpu are 5\.0e-01 from those"):
        gpu.main(["--device", "cpu"])
    with pytest.raises(SystemExit, match=r"^error: --shard needs several processes"):
        gpu.main(["--device", "cpu", "--shard"])
