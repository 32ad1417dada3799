"""The learner's own Transformer: `keep` writes parts into my_transformer.py, `part` reads them."""

import dataclasses
import importlib.util
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

from transformer_course import attention
from transformer_course.checks import discovery, for_tensors, keep, part
from transformer_course.checks.discovery import exercises_by_chapter, exercises_named
from transformer_course.checks.exercise import Case

SOFTMAX = """
import numpy as np

def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
"""
ATTENTION = """
def scaled_dot_product_attention(queries, keys, values):
    weights = softmax(queries @ keys.swapaxes(-2, -1) / np.sqrt(queries.shape[-1]), -1)
    return weights @ values, weights
"""
TORCH_SOFTMAX = """
import torch
from torch import Tensor

def softmax(scores: Tensor, axis: int = -1) -> Tensor:
    return torch.softmax(scores, axis)
"""

Cell = Callable[[str], dict[str, Any]]


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cell:
    """Runs text like a cell of a notebook that lies in an empty folder, and returns its names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "my_transformer", ModuleType("my_transformer"))
    scope: dict[str, Any] = {"__name__": "__main__"}
    count = 0

    def run(source: str) -> dict[str, Any]:
        nonlocal count
        count += 1
        file = f"<cell {count} of {tmp_path.name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), scope)
        return scope

    return run


def text() -> str:
    return Path("my_transformer.py").read_text(encoding="utf-8")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_kept_part_comes_back_and_is_said_to_be_yours(
    cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(cell(TORCH_SOFTMAX)["softmax"])
    assert said(capsys) == "Kept in my_transformer.py: softmax.\n"
    mine = part("softmax")
    assert said(capsys) == "softmax: yours, from my_transformer.py.\n"
    assert mine.__module__ == "my_transformer"
    x = torch.tensor([[0.0, 1.0, 2.0]], requires_grad=True)
    torch.testing.assert_close(mine(x, -1), attention.softmax(x))
    assert mine(x, -1).requires_grad


def test_what_a_part_uses_is_written_before_it(
    cell: Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell(SOFTMAX)
    keep(cell(ATTENTION)["scaled_dot_product_attention"])
    assert said(capsys) == (
        "Kept in my_transformer.py: scaled_dot_product_attention (with softmax, which it uses).\n"
    )
    places = [text().index(x) for x in ("import numpy as np", "def softmax", "def scaled_dot")]
    assert places == sorted(places)
    assert text().count("import numpy as np") == 1


def test_numpy_parts_take_tensors(cell: Cell) -> None:
    keep(cell(SOFTMAX)["softmax"])
    keep(cell(ATTENTION)["scaled_dot_product_attention"])
    queries, keys, values = (torch.randn(2, n, w) for n, w in ((3, 5), (7, 5), (7, 2)))
    mine = part("scaled_dot_product_attention")
    assert mine.__module__ == "my_transformer"
    results = mine(queries, keys, values)
    expected = attention.scaled_dot_product_attention(queries, keys, values)
    for result, right in zip(results, expected, strict=True):
        torch.testing.assert_close(result, right)
        assert result.dtype == torch.float32


DOUBLE_TABLE = """
import numpy as np
import torch

def sinusoidal_encoding(length, d_model):
    positions = torch.arange(length, dtype=torch.float64)[:, None]
    angles = positions / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).reshape(length, d_model)
"""
NUMPY_TABLE = DOUBLE_TABLE.replace("torch.stack", "np.stack").replace("dim=", "axis=")


@pytest.mark.parametrize("source", [DOUBLE_TABLE, NUMPY_TABLE])
def test_a_table_of_64_bits_is_kept_for_torchs_own_numbers(cell: Cell, source: str) -> None:
    """Else the model of chapter 06 would add it to its embeddings and stop at the first product."""
    assert str(cell(source)["sinusoidal_encoding"](3, 4).dtype).endswith("float64")
    for _ in range(2):
        keep(cell(source)["sinusoidal_encoding"])
    assert text().count("@in_32_bits") == 1
    mine = part("sinusoidal_encoding")
    assert mine.__module__ == "my_transformer"
    assert (torch.ones(3, 4) + torch.as_tensor(mine(3, 4))).dtype == torch.float32
    assert isinstance(mine(3, 4), torch.Tensor) == (source is DOUBLE_TABLE)


def test_parts_take_arrays_and_an_array_beside_tensors(cell: Cell) -> None:
    """A boolean array as the mask of tensors, for example."""
    ids, x, square = np.array([[3, 4, 0]]), np.ones((1, 3, 4)), np.ones((4, 4))
    mask = part("padding_mask")(ids)
    assert (type(mask), mask.tolist()) == (np.ndarray, [[[[True, True, False]]]])
    assert part("decoder_mask")(ids).shape == (1, 1, 3, 3)
    attend = part("multi_head_attention")
    for result in attend(x, x, square, square, square, square, 2, mask):
        assert (type(result), result.dtype) == (np.ndarray, np.float64)
    given = [torch.ones(1, 3, 4, requires_grad=True)] * 2 + [torch.ones(4, 4)] * 4
    output, _ = attend(*given, 2, mask)
    assert output.requires_grad
    torch.testing.assert_close(output, attend(*given, 2, torch.tensor(mask))[0])
    keep(cell(TORCH_SOFTMAX)["softmax"])
    own = part("softmax")
    assert own(np.zeros((1, 2)), axis=-1).tolist() == [[0.5, 0.5]]


def test_for_tensors_leaves_arrays_alone_and_keeps_dtypes() -> None:
    double = for_tensors(lambda x, more=0: (x * 2, x > more))
    assert isinstance(double(np.ones(2))[0], np.ndarray)
    twice, mask = double(torch.ones(2), more=torch.tensor([0, 3]))
    assert twice.dtype == torch.float32
    assert mask.tolist() == [True, False]


def test_keeping_again_replaces_and_changes_nothing_else(cell: Cell) -> None:
    keep(cell(SOFTMAX)["softmax"])
    keep(cell(ATTENTION)["scaled_dot_product_attention"])
    before = text()
    keep(cell(ATTENTION)["scaled_dot_product_attention"])
    assert text() == before
    Path("my_transformer.py").write_text(before + "\n# my own note\n", encoding="utf-8")
    keep(cell(TORCH_SOFTMAX)["softmax"])
    assert text().count("def softmax") == 1
    assert "torch.softmax" in text()
    assert text().endswith("# my own note\n")


def test_comments_at_the_end_are_not_written_again_and_again(cell: Cell) -> None:
    for _ in range(3):
        keep(cell(TORCH_SOFTMAX + "    # done\n")["softmax"])
    assert text().count("# done") <= 1


def test_class_with_base_and_constant(cell: Cell) -> None:
    scope = cell(
        "from torch import nn\nimport torch.nn.functional as F\n"
        "WIDTH = 3\n\nclass Base(nn.Module):\n    def forward(self, x):\n        return F.relu(x)\n\n"
        "class Layer(Base):\n    def __init__(self):\n        super().__init__()\n"
        "        self.linear = nn.Linear(WIDTH, WIDTH)\n"
    )
    keep(scope["Layer"])
    keep(scope["Layer"])
    namespace: dict[str, Any] = {"__name__": "my_transformer"}
    exec(text(), namespace)
    assert namespace["Layer"]().forward(torch.tensor([-1.0, 2.0])).tolist() == [0, 2]
    assert namespace["WIDTH"] == 3


def test_a_part_of_the_package_that_is_used_becomes_an_import(cell: Cell) -> None:
    scope = cell("from transformer_course.checks import part\nattend = part('softmax')\n")
    keep(cell("def nothing_yet(x):\n    return attend(x, -1)\n")["nothing_yet"])
    assert "from transformer_course.attention import softmax as attend" in text()
    assert scope["attend"] is attention.softmax


def test_a_part_that_the_own_file_imports_becomes_an_import_again(cell: Cell) -> None:
    """With the course's own mask, too, which takes arrays and tensors."""
    Path("my_transformer.py").write_text("from transformer_course.masking import padding_mask\n")
    cell("from transformer_course.checks import part\nhide = part('padding_mask')\n")
    cell("more = part('decoder_mask')\n")
    keep(cell("def nothing_yet(x):\n    return hide(x), more(x)\n")["nothing_yet"])
    assert "from transformer_course.masking import padding_mask as hide\n" in text()
    assert "from transformer_course.checks.functional import decoder_mask as more\n" in text()


def test_own_part_under_another_name(cell: Cell) -> None:
    keep(cell(TORCH_SOFTMAX)["softmax"])
    cell("from transformer_course.checks import part\nmine = part('softmax')\n")
    keep(cell("def nothing_yet(x):\n    return mine(x, -1)\n")["nothing_yet"])
    assert "mine = softmax\n" in text()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def softmax(scores, axis):\n    raise NotImplementedError\n", "It isn't written yet."),
        ("def softmax(scores, axis):\n    return scores\n", "It doesn't pass its check yet."),
        ("softmax = 3\n", "Give `keep` a function written with `def`"),
        ("softmax = lambda scores, axis: scores\n", "Give `keep` a function written with `def`"),
        (
            "import numpy as np\nTABLE = np.ones(3)\n\ndef softmax(scores, axis):\n"
            "    p = np.exp(scores - scores.max(axis, keepdims=True)) * TABLE[0]\n"
            "    return p / p.sum(axis, keepdims=True)\n",
            "It uses `TABLE` from outside.",
        ),
        ("class Empty:\n    pass\nsoftmax = Empty\n", "It has no method of its own."),
    ],
)
def test_not_kept_and_why(
    cell: Cell, capsys: pytest.CaptureFixture[str], source: str, sentence: str
) -> None:
    keep(cell(source)["softmax"])
    assert said(capsys).startswith("Not kept: ")
    keep(cell(source)["softmax"])
    assert sentence in said(capsys)
    assert not Path("my_transformer.py").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("def softmax(:\n", "my_transformer.py can't be read as Python, line 1."),
        ("import no_such_thing\n", "my_transformer.py stopped with ModuleNotFoundError"),
        ("while True:\n    pass\n", "my_transformer.py didn't finish in 0.5 seconds"),
        ("raise NotImplementedError\n", "my_transformer.py stopped with NotImplementedError"),
    ],
)
def test_a_file_that_cant_be_read_is_never_written_over(
    cell: Cell,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    sentence: str,
) -> None:
    monkeypatch.setattr("transformer_course.checks.running.SECONDS", 0.5)
    Path("my_transformer.py").write_text(content, encoding="utf-8")
    keep(cell(SOFTMAX)["softmax"])
    assert sentence in said(capsys)
    assert text() == content
    assert part("softmax") is attention.softmax
    assert sentence.rstrip(".") in said(capsys)


def test_a_file_that_seeds_leaves_the_notebooks_random_numbers(cell: Cell) -> None:
    keep(cell(SOFTMAX)["softmax"])
    Path("my_transformer.py").write_text(text() + "\n\nnp.random.seed(1)\n", encoding="utf-8")
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    assert part("softmax").__module__ == "my_transformer"
    assert np.random.random() == expected  # noqa: NPY002


def test_part_falls_back_and_says_why(cell: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    assert part("softmax") is attention.softmax
    assert said(capsys) == ("softmax: the course's own (my_transformer.py isn't in this folder).\n")
    keep(cell(SOFTMAX)["softmax"])
    said(capsys)
    assert part("AdditiveAttention") is attention.AdditiveAttention
    assert said(capsys) == "AdditiveAttention: the course's own (my_transformer.py has none).\n"
    Path("my_transformer.py").write_text("def softmax(x, axis):\n    return x\n", encoding="utf-8")
    assert part("softmax") is attention.softmax
    assert "(yours in my_transformer.py doesn't pass its check)" in said(capsys)
    with pytest.raises(ValueError, match=r"name \('sotfmax'\) must be a function or class"):
        part("sotfmax")


def test_a_part_may_have_to_pass_the_check_of_one_chapter(
    cell: Cell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attention with a mask has the name of attention without, and its own chapter."""
    harder = dataclasses.replace(
        exercises_named("softmax", "attention")[0],
        reference=lambda scores, axis: scores * 0.0,
        cases=(Case("zeros", (np.ones(2), 0)),),
        misconceptions=(),
    )
    chapters = {**exercises_by_chapter(), "harder": (harder,)}
    monkeypatch.setattr(discovery, "exercises_by_chapter", lambda: chapters)
    keep(cell(TORCH_SOFTMAX)["softmax"])
    said(capsys)
    assert part("softmax").__module__ == "my_transformer"
    assert part("softmax", "attention").__module__ == "my_transformer"
    said(capsys)
    assert part("softmax", chapter="harder") is attention.softmax
    assert "doesn't pass the check of chapter harder)" in said(capsys)
    with pytest.raises(
        ValueError, match=r"chapter \('loss'\) must be one with an exercise 'softmax'"
    ):
        part("softmax", "loss")


def test_keep_in_a_kernel(tmp_path: Path) -> None:
    class_cell = "class Doubling:\n    def __call__(self, x):\n        return np.multiply(x, 2)"
    cells = [
        "from transformer_course.checks import keep, part",
        SOFTMAX.strip(),
        "keep(softmax)",
        class_cell,
        "keep(Doubling)",
        "own = part('softmax')",
    ]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(out.text for c in notebook.cells for out in c.outputs)
    assert printed == (
        "Kept in my_transformer.py: softmax.\nKept in my_transformer.py: Doubling.\n"
        "softmax: yours, from my_transformer.py.\n"
    )
    spec = importlib.util.spec_from_file_location("kept", tmp_path / "my_transformer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.Doubling()(3) == 6
    assert sorted(p.name for p in tmp_path.glob("my_*")) == ["my_transformer.py"]
