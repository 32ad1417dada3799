"""Checkpoints: written whole or not at all, read back exactly, refused by name when damaged."""

import errno
import json
import os
from pathlib import Path

import pytest
import torch
from small_runs import small_model
from torch import nn

from transformer_course import checkpoints
from transformer_course.checkpoints import (
    CheckpointError,
    checkpoint_path,
    keep_only,
    list_checkpoints,
    load_checkpoint,
    load_optimizer,
    load_tensors,
    load_weights,
    optimizer_tensors,
    random_state,
    read_json,
    save_tensors,
    set_random_state,
    weights_of,
    with_prefix,
    write_atomically,
    write_json,
)

TENSORS = {"a": torch.arange(6.0).view(2, 3).T, "b": torch.tensor(3, dtype=torch.uint8)}
VALUES = {"step": 7, "loss": 0.1 + 0.2, "history": [{"step": 1}], "word": "é"}


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def write_run(folder: Path, *steps: int) -> None:
    for step in steps:
        save_tensors(checkpoint_path(folder, step), TENSORS, {"step": step})


def test_tensors_and_values_come_back_exactly(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.safetensors"
    save_tensors(path, TENSORS, VALUES)
    tensors, values = load_tensors(path)
    assert values == VALUES
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(tensors[name], tensor)
        assert tensors[name].dtype == tensor.dtype


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in "abcd":
        save_tensors(tmp_path / name, TENSORS, VALUES)
    assert len({(tmp_path / name).read_bytes() for name in "abcd"}) == 1


def test_nothing_in_a_checkpoint_is_a_pickle(tmp_path: Path) -> None:
    save_tensors(tmp_path / "file", TENSORS, VALUES)
    data = (tmp_path / "file").read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    digest, values = header["__metadata__"]["values"].split(" ", 1)
    assert json.loads(values) == VALUES
    assert len(bytes.fromhex(digest)) == 16
    sizes = [entry["data_offsets"][1] for name, entry in header.items() if name[0] != "_"]
    assert len(data) == 8 + length + max(sizes)  # a header of JSON, raw numbers, and nothing else


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.99])
def test_a_truncated_file_is_refused_by_name(tmp_path: Path, share: float) -> None:
    path = tmp_path / "file.safetensors"
    save_tensors(path, TENSORS, VALUES)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(CheckpointError, match=r"file\.safetensors is damaged"):
        load_tensors(path)


def test_files_that_are_not_checkpoints_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello, this is no checkpoint at all")
    with pytest.raises(CheckpointError, match="text is damaged or not a checkpoint"):
        load_tensors(tmp_path / "text")
    with pytest.raises(CheckpointError, match="none is missing"):
        load_tensors(tmp_path / "none")
    with pytest.raises(CheckpointError, match="is missing"):
        load_tensors(tmp_path)


def test_a_file_is_synced_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (events.append("sync"), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (events.append("rename"), replace(a, b)))
    write_atomically(tmp_path / "file", b"new")
    assert events[:2] == ["sync", "rename"]
    assert (tmp_path / "file").read_bytes() == b"new"
    assert files_in(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(CheckpointError, match="file can't be written: No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert files_in(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are a matter of Unix")
def test_a_write_that_stops_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "file"
    path.write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(CheckpointError, match="file can't be written: File too large"):
            write_atomically(path, b"x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert files_in(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"run\.json can't be written: .*file is not a f"):
        write_json(tmp_path / "file" / "run.json", {})


def test_an_interruption_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write() -> None:
        with checkpoints.replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_bytes() == b"old"
    assert files_in(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="modes are a matter of Unix")
def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_leads_to_it(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to("file")
    for number, place in enumerate((path, link)):
        write_atomically(place, b"%d" % number)
        assert path.read_bytes() == b"%d" % number
        assert path.stat().st_mode & 0o777 == 0o600
        # Nobody else reads what is not yet whole.
        with checkpoints.replacing(place) as temporary:
            temporary.write_bytes(b"%d" % number)
            assert temporary.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink()
    (tmp_path / "nowhere").symlink_to(tmp_path / "made" / "new")
    write_atomically(tmp_path / "nowhere", b"new")
    assert (tmp_path / "made" / "new").read_bytes() == b"new"
    assert files_in(tmp_path) == ["file", "link", "new", "nowhere"]


def test_json_comes_back_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"é": [1, 0.1]})
    assert read_json(path) == {"é": [1, 0.1]}
    for text in ("[1]", "{", "", '{"a": '):
        path.write_text(text)
        with pytest.raises(CheckpointError, match=r"a\.json is damaged"):
            read_json(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CheckpointError, match=r"a\.json is damaged"):
        read_json(path)
    with pytest.raises(CheckpointError, match=r"b\.json is missing"):
        read_json(tmp_path / "b.json")
    with pytest.raises(CheckpointError, match="can't be read: Is a directory"):
        read_json(tmp_path)


def test_checkpoints_are_listed_by_step_without_leftovers(tmp_path: Path) -> None:
    write_run(tmp_path, 10_000_000, 9_999_999, 5)
    leftover = tmp_path / "checkpoints" / ".step-0000006.safetensors.99.tmp"
    leftover.write_bytes(b"half")
    mine = tmp_path / "checkpoints" / "step-0000005-best.safetensors"
    mine.write_bytes(b"a copy of my own")
    steps = [5, 9_999_999, 10_000_000]
    assert list_checkpoints(tmp_path) == [checkpoint_path(tmp_path, step) for step in steps]
    assert load_checkpoint(tmp_path)[1] == {"step": 10_000_000}
    keep_only(tmp_path, {5, 10_000_000})
    assert mine.read_bytes() == b"a copy of my own"
    mine.unlink()
    assert files_in(tmp_path) == ["step-0000005.safetensors", "step-10000000.safetensors"]
    assert list_checkpoints(tmp_path / "nowhere") == []


def test_a_damaged_newest_checkpoint_is_refused_and_the_last_good_one_offered(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, 1, 2, 3, 4)
    for step in (3, 4):
        path = checkpoint_path(tmp_path, step)
        path.write_bytes(path.read_bytes()[:-1])
    offer = (
        r"step-0000004.* is damaged.*the last good one is step-0000002\.safetensors: resume with"
    )
    with pytest.raises(CheckpointError, match=offer):
        load_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match=r"step-0000003.*last good one is step-0000002"):
        load_checkpoint(tmp_path, "step-0000003.safetensors")
    assert load_checkpoint(tmp_path, "step-0000002.safetensors")[1] == {"step": 2}
    whole_path = str(checkpoint_path(tmp_path, 1))
    assert load_checkpoint(tmp_path, whole_path)[1] == {"step": 1}
    with pytest.raises(CheckpointError, match=r"step-9\.safetensors is missing; the last good one"):
        load_checkpoint(tmp_path, "step-9.safetensors")


def test_there_may_be_nothing_to_offer(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="has no checkpoint to resume from"):
        load_checkpoint(tmp_path)
    write_run(tmp_path, 1)
    checkpoint_path(tmp_path, 1).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"is damaged.*; there is no other"):
        load_checkpoint(tmp_path)


def test_weights_fit_or_nothing_changes() -> None:
    model, other = small_model(0), small_model(1)
    load_weights(other, weights_of(model))
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)
    )
    wrong = {name: torch.zeros_like(weight) for name, weight in weights_of(model).items()}
    last = list(wrong)[-1]
    for tensors, message in (
        ({n: t for n, t in wrong.items() if n != last}, f"tensors has no {last}"),
        (wrong | {"extra": torch.zeros(1)}, "model has no extra"),
        (wrong | {last: torch.zeros(2, 3, 5)}, rf"{last} must have shape .*, got \(2, 3, 5\)"),
    ):
        with pytest.raises(CheckpointError, match=message):
            load_weights(other, tensors)
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)
    )


def test_a_tied_matrix_is_written_once() -> None:
    tied, untied = weights_of(small_model()), weights_of(small_model(tied=False))
    assert [n for n in tied if "embedding" in n or "output.w" in n[:9]] == ["src_embedding.weight"]
    assert untied.keys() - tied.keys() == {"tgt_embedding.weight", "output.weight"}


def test_an_optimizer_goes_on_where_it_was() -> None:
    def run(model: nn.Module, optimizer: torch.optim.Optimizer, start: int, end: int) -> None:
        for step in range(start, end):
            optimizer.zero_grad()
            model(torch.full((2, 3), float(step))).square().sum().backward()
            optimizer.step()

    torch.manual_seed(0)
    one, two = nn.Linear(3, 5), nn.Linear(3, 5)
    two.load_state_dict(one.state_dict())
    adam_one, adam_two = (torch.optim.Adam(m.parameters(), lr=0.1) for m in (one, two))
    run(one, adam_one, 0, 6)
    run(two, adam_two, 0, 3)
    fresh = torch.optim.Adam(two.parameters(), lr=0.1)
    load_optimizer(fresh, optimizer_tensors(adam_two))
    run(two, fresh, 3, 6)
    assert torch.equal(one.weight, two.weight)


def test_random_numbers_go_on_where_they_were() -> None:
    state = random_state(torch.device("cpu"))
    drawn = torch.rand(5)
    set_random_state(state, torch.device("cpu"))
    assert torch.equal(torch.rand(5), drawn)


def test_names_lose_their_prefix() -> None:
    tensors = {"model.a": torch.zeros(1), "models.b": torch.ones(1)}
    assert with_prefix(tensors, "model.").keys() == {"a"}
