"""The parts of the exercises of chapter 12: what they compare with, their tables, what the last cells call."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.checks import mutations
from transformer_course.checks import long_context as check
from transformer_course.checks.engine import judge
from transformer_course.checks.exercise import Case
from transformer_course.checks.long_context.add_block import kept
from transformer_course.checks.long_context.explore import (
    SCORES,
    VALUES,
    block_table,
    layout_table,
    window_table,
)
from transformer_course.checks.tables import table, with_tables
from transformer_course.long_context import (
    TransformerXLPositions,
    context_cost,
    local_mask,
    reach,
    relative_shift,
    running_softmax,
    strided_mask,
)
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.positional_encoding import RotaryEncoding

SEEDS = range(20)


def drawn(exercise: Any, seed: int) -> Any:
    return exercise.draw(np.random.default_rng(seed))


def learners() -> dict[str, Any]:
    return mutations.notebook_names(mutations.notebook_of("long_context", "solutions"))[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_block_by_block_is_softmax_of_all(seed: int) -> None:
    """Whatever the blocks are, and wherever the scores of 1000 stand."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    scores, values = rng.normal(size=n) + rng.choice([0.0, 1000.0], n), rng.normal(size=(n, 3))
    cuts = np.sort(rng.choice(np.arange(1, n), size=int(rng.integers(0, n)), replace=False))
    state: Any = (np.array(-np.inf), np.array(0.0), np.zeros(3))
    for start, end in pairwise([0, *cuts, n]):
        state = check.add_block.reference(*state, scores[start:end], values[start:end])
    expected = torch.softmax(torch.tensor(scores), 0) @ torch.tensor(values)
    assert state[0] == scores.max()
    assert np.allclose(state[2] / state[1], expected, rtol=0, atol=1e-12)
    packaged = running_softmax(torch.tensor(scores), torch.tensor(values))
    assert np.allclose(packaged, expected, rtol=0, atol=1e-12)
    assert all(np.allclose(a, b) for a, b in zip(state, kept(scores, values), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_window_is_the_last_rows_of_the_packages_mask(seed: int) -> None:
    q_len, k_len, window = drawn(check.window_mask, seed)
    expected = local_mask(k_len, window)[0, 0, k_len - q_len :]
    assert np.array_equal(check.window_mask.reference(q_len, k_len, window), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shift_is_the_packages_up_to_what_is_hidden(seed: int) -> None:
    (by_distance,) = drawn(check.relative_shift, seed)
    q_len, k_len = by_distance.shape[1:]
    seen = torch.ones(q_len, k_len).tril(k_len - q_len) > 0
    expected = relative_shift(torch.tensor(by_distance)).masked_fill(~seen, -torch.inf)
    assert np.array_equal(check.relative_shift.reference(by_distance), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_turning_is_the_packages(seed: int) -> None:
    x, positions, layout = drawn(check.rotate, seed)
    turn = RotaryEncoding(layout=layout)
    expected = turn(torch.tensor(x)[None, None], torch.tensor(positions))[0, 0]
    assert np.allclose(check.rotate.reference(x, positions, layout), expected, atol=1e-5)


def test_rows_in_order_make_a_checkpoint_of_one_layout_right_in_the_other() -> None:
    """The layer's output is the same, and without the order it isn't."""
    torch.manual_seed(0)
    x = torch.randn(2, 5, 12)
    trained = MultiHeadAttention(12, 2, rotation=RotaryEncoding(layout="interleaved"))
    ours = MultiHeadAttention(12, 2, rotation=RotaryEncoding(layout="halves"))
    ours.load_state_dict(trained.state_dict())
    assert not torch.allclose(ours(x)[1], trained(x)[1], atol=1e-2)
    order = torch.tensor(check.row_order.reference(2, 6))
    with torch.no_grad():
        for layer in (ours.w_query, ours.w_key):
            layer.weight.copy_(layer.weight[order])
            layer.bias.copy_(layer.bias[order])
    assert torch.allclose(ours(x)[0], trained(x)[0], atol=1e-6)
    assert torch.allclose(ours(x)[1], trained(x)[1], atol=1e-6)


def test_shared_keys_are_those_of_the_layer() -> None:
    torch.manual_seed(0)
    layer, memory = MultiHeadAttention(12, 6, n_key_heads=2), torch.randn(2, 5, 12)
    expected, _ = layer.keys_and_values(memory)
    own = layer.split_heads(layer.w_key(memory)).detach().numpy()
    assert own.shape == (2, 2, 5, 2)
    assert np.array_equal(check.share_keys.reference(own, 6), expected.detach())


@pytest.mark.parametrize(("q_len", "k_len"), [(1, 1), (3, 3), (2, 5), (1, 4)])
def test_the_weights_of_a_segment_are_the_packages(q_len: int, k_len: int) -> None:
    torch.manual_seed(0)
    scheme = TransformerXLPositions(1, 4).double()
    scheme.reset_parameters()
    with torch.no_grad():
        scheme.key_bias.normal_()
        scheme.distance_bias.normal_()
    q, k = torch.randn(1, 1, q_len, 4).double(), torch.randn(1, 1, k_len, 4).double()
    places = torch.arange(k_len)[None]
    scores = q @ k.mT / 2 + scheme(q, k, places[:, k_len - q_len :], places)
    seen = torch.ones(q_len, k_len).tril(k_len - q_len) > 0
    expected = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)[0, 0]
    back = torch.arange(k_len - 1, -1, -1)
    frequencies = 10000.0 ** (-torch.arange(0, 4, 2) / 4)
    angles = back[:, None] * frequencies
    r = scheme.w_distance(torch.cat([angles.sin(), angles.cos()], -1).double())
    arguments = (q[0, 0], k[0, 0], r, scheme.key_bias[0, 0], scheme.distance_bias[0, 0])
    found = check.segment_weights.reference(*(x.detach().numpy() for x in arguments))
    assert np.allclose(found, expected.detach(), atol=1e-6)


def test_torchs_is_causal_lets_one_query_see_the_first_key_only() -> None:
    """What the last exercise says about it."""
    torch.manual_seed(0)
    q, k, v = torch.randn(1, 1, 1, 4), torch.randn(1, 1, 500, 4), torch.randn(1, 1, 500, 4)
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.equal(found[0, 0, 0], v[0, 0, 0])


def test_predicted_bytes_are_those_of_tensors() -> None:
    """Worked out with tensors that have no memory of their own."""
    answer, meta = check.predict.reference, torch.device("meta")

    def megabytes(*shapes: tuple[int, ...]) -> float:
        return sum(torch.empty(shape, device=meta).nbytes for shape in shapes) / 1e6

    assert answer("a") == 10 * megabytes(*2 * [(6, 2000, 50)])
    assert answer("b") == 10 * megabytes(*2 * [(2, 2000, 50)])
    assert answer("c") == 10 * megabytes(*2 * [(6, 200, 50)])
    assert answer("d") == megabytes((6, 2000, 2000))
    assert answer("e") == pytest.approx(1000 * megabytes((6, 1, 2000)))
    assert answer("f") == 10 * megabytes(*2 * [(6, 20_000, 50)])
    assert answer("g") == megabytes((6, 20_000, 20_000))
    cost, longer = (context_cost(n, d_model=300, n_heads=6, n_layers=10) for n in (2000, 20_000))
    assert (cost.cache_bytes, longer.cache_bytes) == (1e6 * answer("a"), 1e6 * answer("f"))
    assert (cost.score_bytes, longer.score_bytes) == (1e6 * answer("d"), 1e6 * answer("g"))


def test_predicted_reach_is_that_of_masks() -> None:
    answer = check.predict.reference
    assert answer("h") == reach([local_mask(30, 5)] * 3)[-1].sum() - 1
    enough = [bool(reach([local_mask(13, 3)] * layers)[12, 0]) for layers in range(1, 9)]
    assert answer("i") == 1 + enough.index(True)
    assert answer("j") == reach([strided_mask(100, 10)] * 5)[99].sum()
    places = torch.arange(
        400
    )  # a token sees its segment so far, and the 50 tokens before the segment
    first_seen = places // 50 * 50 - 50
    memory = (places <= places[:, None]) & (places >= first_seen[:, None])
    assert answer("k") == reach([memory] * 4)[300, :300].sum()


def test_a_table_of_several_results_has_a_line_for_each() -> None:
    lines = table(
        [np.array(0.5), np.array([1.0, 2.0])],
        [np.array(-0.0), np.array([1.0, -np.inf])],
        ("a", "b"),
    )
    assert lines == ["   expected  yours", "a  0.5       0", "b  1 2       1 −∞"]


def test_a_table_of_rows_and_a_table_of_tables() -> None:
    row, grid = np.array([0, 10]), np.array([[True, False]])
    assert table([row], [row[::-1]], ("a",)) == ["expected   0 10", "yours     10  0"]
    assert table([grid.T], [~grid.T], ("a",)) == ["expected  # .", "yours     . #"]
    square = np.array([[1.0, 2.5], [0.0, np.inf]])
    assert table([square], [-square], ("a",)) == [
        "expected   yours",
        "  1 2.5      -1 -2.5",
        "  0   ∞       0   −∞",
    ]


def test_a_hint_shows_the_first_case_that_tells_the_mistake() -> None:
    cases = (Case("nothing", (np.zeros(2), 3)), Case("two", (np.ones(2), 3)))
    made = with_tables(lambda x, n: x * n, cases, ("y",))("added", lambda x, n: x * n + x, "Why?")
    assert made.hint == (
        "For two:\n  x = [1., 1.]\n  n = 3\n  expected  3 3\n  yours     4 4\nWhy?"
    )


@pytest.mark.parametrize(
    "wrong", [lambda x, n: x[:1], lambda x, n: x.reshape(3), lambda x, n: x * n]
)
def test_a_hint_has_no_table_where_there_are_no_numbers_beside_each_other(wrong: Any) -> None:
    cases = (Case("two", (np.ones(2), 3)),)
    assert with_tables(lambda x, n: x * n, cases, ("y",))("a", wrong, "Why?").hint == "Why?"


@pytest.mark.parametrize(
    "exercise",
    [check.window_mask, check.relative_shift, check.add_block],
    ids=["window_mask", "relative_shift", "add_block"],
)
def test_what_a_table_says_of_yours_is_what_the_mistake_gives(exercise: Any) -> None:
    """The hint of each misconception but a few has one; its case is one of the check."""
    with_one = [wrong for wrong in exercise.misconceptions if "yours" in wrong.hint]
    assert len(with_one) >= len(exercise.misconceptions) - 2
    for wrong in with_one:
        about = wrong.hint.splitlines()[0].removeprefix("For ").removesuffix(":")
        case = next(case for case in exercise.cases if case.about == about)
        results = wrong.wrong(*case.arguments), exercise.reference(*case.arguments)
        parts = [[np.asarray(x) for x in (r if isinstance(r, tuple) else (r,))] for r in results]
        lines = table(parts[1], parts[0], exercise.returns)
        assert "\n".join(f"  {line}" for line in lines) in wrong.hint


def test_a_message_shows_which_head_got_which_keys() -> None:
    report = judge(check.share_keys, lambda k, n_heads: k.repeat(1, n_heads // k.shape[1], 1, 1))
    assert report.misconception == "the key heads again and again"
    assert "head       0 1 2 3\n  its keys   0 0 1 1\n  in yours   0 1 0 1" in report.message


def with_numpy(name: str) -> Any:
    return getattr(check, name).reference


def with_torch(name: str) -> Any:
    return learners()[name]


@pytest.mark.parametrize("own", [with_numpy, with_torch])
def test_blocks_end_with_the_softmax_of_all(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for block, rows in ((1, 8), (3, 3), (8, 1), (20, 1)):
        block_table(own("add_block"), block)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == rows + 2
        assert lines[-1] == "softmax over all eight at once: 72.69"
        assert lines[-2].split()[-1] == "72.69"
        first = SCORES[:block]
        average = np.exp(first - first.max()) @ VALUES[:block] / np.exp(first - first.max()).sum()
        assert lines[1].split()[-1] == f"{average[0]:.2f}"


def without_a_sum(maximum: Any, total: Any, weighted: Any, scores: Any, values: Any) -> Any:
    return 0.0, 0.0, weighted


def test_blocks_without_a_sum_have_no_average(capsys: pytest.CaptureFixture[str]) -> None:
    block_table(without_a_sum, 8)
    assert capsys.readouterr().out.splitlines()[1].split()[-1] == "nan"


@pytest.mark.parametrize("own", [lambda *_: None, lambda *_: 1 / 0, lambda *_: np.ones(3), 3])
def test_tables_wait_for_functions(own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    block_table(own)
    assert capsys.readouterr().out == "Your blocks are read here when add_block passes its check.\n"
    layout_table(check.rotate.reference, own)
    said = "Your layouts are compared here when row_order passes its check.\n"
    assert capsys.readouterr().out == said
    layout_table(own, check.row_order.reference)
    assert capsys.readouterr().out.endswith("The scores come when rotate passes its check.\n")
    window_table(own)
    said = "The sliders come to life when window_mask passes its check.\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("own", [with_numpy, with_torch])
def test_scores_in_the_other_layout_are_right_with_rows_in_order_only(
    own: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    layout_table(own("rotate"), own("row_order"))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 8
    for head in (lines[:4], lines[4:]):
        trained, mixed, ordered = (line[29:].split() for line in head[1:])
        assert len(trained) == 5
        assert ordered == trained
        assert mixed[:4] != trained[:4]


def test_a_wrong_order_shows_in_the_scores(capsys: pytest.CaptureFixture[str]) -> None:
    layout_table(check.rotate.reference, lambda n_heads, d_k: np.arange(n_heads * d_k))
    lines = capsys.readouterr().out.splitlines()
    assert lines[3][32:] == lines[2][32:] != lines[1][32:]


@pytest.mark.parametrize("own", [with_numpy, with_torch])
@pytest.mark.parametrize(
    ("memory", "n_new", "window", "layers", "said"),
    [
        (0, 1, 1, 1, "1 of 1 tokens after 1 layer: of 0 to 0."),
        (3, 4, 3, 2, "5 of 7 tokens after 2 layers: of 2 to 6."),
        (6, 6, 1, 4, "1 of 12 tokens after 4 layers: of 11 to 11."),
        (6, 6, 6, 4, "12 of 12 tokens after 4 layers: of 0 to 11."),
    ],
)
def test_the_sliders_show_the_learners_mask_and_its_reach(
    own: Any,
    memory: int,
    n_new: int,
    window: int,
    layers: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    window_table(own("window_mask"), memory, n_new, window, layers)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == n_new + 2
    assert [line.split()[0] for line in lines[1:-1]] == [str(memory + i) for i in range(n_new)]
    seen = check.window_mask.reference(n_new, memory + n_new, window)
    assert [line.count("#") for line in lines[1:-1]] == seen.sum(1).tolist()
    assert lines[-1] == f"The last token knows of {said}"
