"""The speed benchmark runs at tiny sizes, its contenders do the same work, and its report says what it must.

No time is asserted anywhere: a test machine's clock proves nothing.
"""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import growth, speed
from benchmarks.contenders import CONTENDERS, EOS, PAD, Contender, CTranslate2

PEERS = ("transformers", "x_transformers", "ctranslate2")
MISSING = [m for m in PEERS if importlib.util.find_spec(m) is None]
if MISSING:  # in CI tests/conftest.py makes a failure of it
    pytest.skip(f"the benchmark's peers are not installed: {MISSING}", allow_module_level=True)

VOCAB = speed.QUICK.vocab_size


@pytest.fixture(params=list(CONTENDERS))
def contender(request: pytest.FixtureRequest) -> Contender:
    torch.manual_seed(5)
    return CONTENDERS[request.param](speed.QUICK)


def test_every_contender_learns(contender: Contender) -> None:
    if "train" in contender.lacks:
        with pytest.raises(NotImplementedError):
            contender.train_step(
                torch.ones(1, 2, dtype=torch.long), torch.ones(1, 2, dtype=torch.long)
            )
        return
    src, tgt = speed.random_ids(3, 8, VOCAB), speed.random_ids(3, 9, VOCAB)
    contender.optimizer.param_groups[0]["lr"] = 0.01
    losses = [contender.train_step(src, tgt) for _ in range(20)]
    assert losses[-1] < losses[0]


def test_every_contender_translates_to_the_full_length(contender: Contender) -> None:
    src = speed.random_ids(3, 8, VOCAB)
    decodings = [contender.greedy(src, 6)]
    if "beam" not in contender.lacks:
        decodings.append(contender.beam(src, 4, 6))
    for ids in decodings:
        assert ids.shape == (3, 6)
        assert 0 <= int(ids.min()) <= int(ids.max()) < VOCAB
    if "encode" not in contender.lacks:
        assert contender.read(src).shape == (3, 8, speed.QUICK.d_model)
    assert contender.dtype.startswith("bfloat16" if contender.needs_bf16 else "float32")


def test_ctranslate2_runs_the_model_that_was_converted() -> None:
    """Greedy and with a beam, wherever Marian doesn't choose the special tokens that the engine may not."""
    torch.manual_seed(3)
    engine = CTranslate2(speed.QUICK)
    marian = CONTENDERS["marian"](speed.QUICK)
    with torch.no_grad():
        for weights in engine.model.parameters():
            if weights.requires_grad and weights.dim() == 2:
                weights.normal_()  # fresh weights would write one token again and again
    engine.convert()
    marian.model.load_state_dict(engine.model.state_dict())
    src = speed.random_ids(20, 8, VOCAB)
    for beam in (1, 4):
        ours, theirs = engine.beam(src, beam, 6), marian.beam(src, beam, 6)
        ordinary = (theirs > EOS).all(1)
        assert ordinary.sum() >= 10
        assert len(theirs[ordinary].unique()) > 5
        assert torch.equal(ours[ordinary], theirs[ordinary])


def test_contenders_have_the_same_size() -> None:
    sizes = speed.Sizes()
    trained = {
        key: sum(p.numel() for p in make(sizes).model.parameters() if p.requires_grad)
        for key, make in CONTENDERS.items()
    }
    assert max(trained.values()) < 1.01 * min(trained.values()), trained


def test_ours_never_ends_early_or_chooses_padding() -> None:
    ours = CONTENDERS["ours"](speed.QUICK)
    ids = ours.greedy(speed.random_ids(3, 8, VOCAB), 30)
    assert not ((ids == PAD) | (ids == EOS)).any()


def test_fast_and_readable_path_have_the_same_loss() -> None:
    src, tgt = speed.random_ids(3, 8, VOCAB), speed.random_ids(3, 9, VOCAB)
    sizes = replace(speed.QUICK, dropout=0.0)
    ours, readable = CONTENDERS["ours"](sizes), CONTENDERS["readable"](sizes)
    readable.model.load_state_dict(ours.model.state_dict())
    batch = src, tgt[:, :-1], tgt[:, 1:]
    torch.testing.assert_close(ours.loss(*batch), readable.loss(*batch))


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "REST", 0.0)


def test_ratios_are_ours_divided_by_theirs_round_by_round() -> None:
    result = speed.ratios({"ours": [1.0, 2.0, 30.0], "theirs": [2.0, 4.0, 10.0]})
    assert result["theirs"]["ratio"] == 0.5
    assert result["theirs"]["seconds"] == 4.0
    assert result["ours"]["ratio"] == result["ours"]["ratio_q1"] == 1.0


def test_quick_run_writes_json_table_and_figure(tmp_path: Path) -> None:
    out, book = tmp_path / "speed.json", tmp_path / "book"
    threads = torch.get_num_threads()
    try:
        speed.main(
            ["--quick", "--rounds", "2", "--threads", "1", "--out", str(out), "--book", str(book)]
        )
    finally:
        torch.set_num_threads(threads)
    results = json.loads(out.read_text())
    assert set(results["time"]["train_64x20"]) == set(CONTENDERS) - {"ctranslate2"}
    able = {name for name, make in CONTENDERS.items() if "beam" not in make.lacks}
    assert able >= {"ours", "readable", "marian", "ctranslate2"}
    assert set(results["time"]["beam4_64x30"]) == set(results["time_bf16"]["beam4_64x30"]) == able
    assert results["time_bf16"]["beam4_64x30"]["ours_bf16"]["ratio"] == 1.0
    text = (book / "speed.md").read_text()
    for needed in (
        results["processor"],
        results["command"],
        "float32",
        "transformers MarianMT",
        "CTranslate2",
    ):
        assert needed in text
    assert (book / "speed.png").stat().st_size > 5000


def test_quick_growth_writes_json_table_and_figure(tmp_path: Path) -> None:
    out, threads = tmp_path / "growth.json", torch.get_num_threads()
    try:
        growth.main(
            [
                "--quick",
                "--rounds",
                "1",
                "--threads",
                "1",
                "--out",
                str(out),
                "--book",
                str(tmp_path),
            ]
        )
    finally:
        torch.set_num_threads(threads)
    results = json.loads(out.read_text())
    found = results["growth"]["greedy"]["length"]
    assert found["sizes"] == [4, 6, 8]
    for name in growth.NAMES:
        seconds = found[name]["seconds"]
        assert len(seconds) == 3
        fitted = growth.exponent(found["sizes"], seconds)
        assert found[name]["exponent of seconds"] == pytest.approx(fitted, abs=0.02)
    text = (tmp_path / "growth.md").read_text()
    assert results["command"] in text
    assert "training step" in text
    assert (tmp_path / "growth.png").stat().st_size > 5000


def test_an_exponent_is_that_of_the_power() -> None:
    assert growth.exponent([1, 10, 20, 40], [5.0, 10**1.5, 20**1.5, 40**1.5]) == pytest.approx(1.5)
