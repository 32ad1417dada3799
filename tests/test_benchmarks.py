"""The speed benchmark runs at tiny sizes, its contenders do the same work, and its report says what it must.

No time is asserted anywhere: a test machine's clock proves nothing.
"""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import speed
from benchmarks.contenders import CONTENDERS, EOS, PAD, Contender

MISSING = [m for m in ("transformers", "x_transformers") if importlib.util.find_spec(m) is None]
if MISSING:  # in CI tests/conftest.py makes a failure of it
    pytest.skip(f"the benchmark's peers are not installed: {MISSING}", allow_module_level=True)

VOCAB = speed.QUICK.vocab_size


@pytest.fixture(params=list(CONTENDERS))
def contender(request: pytest.FixtureRequest) -> Contender:
    torch.manual_seed(5)
    return CONTENDERS[request.param](speed.QUICK)


def test_every_contender_learns_and_translates_to_the_full_length(contender: Contender) -> None:
    src, tgt = speed.random_ids(3, 8, VOCAB), speed.random_ids(3, 9, VOCAB)
    contender.optimizer.param_groups[0]["lr"] = 0.01
    losses = [contender.train_step(src, tgt) for _ in range(20)]
    assert losses[-1] < losses[0]
    decodings = [contender.greedy(src, 6)]
    if contender.can_beam:
        decodings.append(contender.beam(src, 4, 6))
    for ids in decodings:
        assert ids.shape == (3, 6)
        assert 0 <= int(ids.min()) <= int(ids.max()) < VOCAB
    assert contender.dtype == "float32"


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
    assert set(results["time"]["train_64x20"]) == set(CONTENDERS)
    assert set(results["time"]["beam4_64x30"]) == {"ours", "readable", "marian"}
    text = (book / "speed.md").read_text()
    for needed in (results["processor"], results["command"], "float32", "transformers MarianMT"):
        assert needed in text
    assert (book / "speed.png").stat().st_size > 5000
