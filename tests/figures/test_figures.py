"""The figures: one palette, numbers that are drawn as given, sources read from the file, the widget's state."""

from __future__ import annotations

import functools
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from transformer_course import figures
from transformer_course.attention import (
    AdditiveAttention,
    scaled_dot_product_attention,
)
from transformer_course.figures import attention_plane, flow, palette, widget
from transformer_course.positional_encoding import sinusoidal_encoding

ROOT = Path(__file__).resolve().parents[2]
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
CSS = (ROOT / "book" / "static" / "course.css").read_text(encoding="utf-8")
FOLDER = Path(inspect.getfile(figures)).parent
HEX = re.compile(r"#[0-9a-fA-F]{6}")


def css_colour(name: str) -> str:
    """Follow a CSS variable to its colour."""
    value = re.search(rf"--course-{name}: ([^;]+);", CSS)
    assert value, name
    other = re.fullmatch(r"var\(--course-(\w+)\)", value[1])
    return css_colour(other[1]) if other else value[1]


@pytest.mark.parametrize("meaning", ["query", "key", "value", "position", "mask"])
def test_a_colour_means_the_same_everywhere(meaning: str) -> None:
    colour = getattr(figures, meaning.upper())
    assert colour == css_colour(meaning)
    notation = (ROOT / "book" / "notation.md").read_text(encoding="utf-8")
    assert f"`{colour.upper()}`" in notation
    widgets = (FOLDER / "shared.css").read_text(encoding="utf-8")
    assert f"--{meaning}: var(--course-{meaning}, {colour});" in widgets


def test_weights_get_darker_in_grey_print_too() -> None:
    colours = plt.get_cmap(figures.WEIGHTS)(np.linspace(0, 1, 11))
    grey = colours[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(grey) < 0).all()


def test_no_plot_has_colours_of_its_own_for_queries_keys_and_values() -> None:
    allowed = {getattr(palette, name) for name in ("QUERY", "KEY", "VALUE", "POSITION", "MASK")}
    plots = [path for path in FOLDER.glob("*.py") if path.name != "palette.py"]
    assert len(plots) > 5
    for path in plots:
        used = set(HEX.findall(path.read_text(encoding="utf-8")))
        assert not used & allowed, path.name


def test_a_plot_is_closed_and_leaves_the_readers_settings_alone() -> None:
    with mpl.rc_context({"font.size": 31, "axes.spines.top": True}):
        figure = figures.weight_map([[1.0]], ["q"], ["k"])
        assert plt.rcParams["font.size"] == 31
        assert figure.axes[0].xaxis.label.get_fontsize() == palette.STYLE["font.size"]
    assert plt.get_fignums() == []


def test_weight_map_shows_every_number_and_hatches_what_is_masked() -> None:
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]])
    mask = torch.tensor([[True, False, False], [True, True, False]])
    axes = figures.weight_map(weights, ["a", "b"], ["x", "y", "z"], mask).axes[0]
    shown = {tuple(map(int, t.get_position())): t.get_text() for t in axes.texts}
    assert shown == {(0, 0): "1.00", (0, 1): "0.25", (1, 1): "0.75"}
    hatched = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert sorted(p.get_xy() for p in hatched) == [(0.5, -0.5), (1.5, -0.5), (1.5, 0.5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("queries", "mask", "words"),
    [
        (["a"], None, r"each of the 1 queries.*the 2 keys.*got \(2, 2\) and mask \(2, 2\)"),
        (["a", "b"], [[True]], r"got \(2, 2\) and mask \(1, 1\)"),
    ],
)
def test_weight_map_refuses_what_does_not_fit(
    queries: list[str], mask: list[list[bool]] | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        figures.weight_map([[1.0, 0.0], [0.0, 1.0]], queries, ["x", "y"], mask)


def test_front_page_shades_by_weight() -> None:
    figure = figures.front_page({"what?": [0.5, 0.2, 0.15, 0.1, 0.05]})
    axes = figure.axes[0]
    assert [t.get_text().split("\n")[1] for t in axes.texts] == [
        "0.50",
        "0.20",
        "0.15",
        "0.10",
        "0.05",
    ]
    grey = [np.dot(p.get_facecolor()[:3], [0.3, 0.6, 0.1]) for p in axes.patches]
    assert grey == sorted(grey)


def test_kernel_fits_draws_keys_values_and_weights() -> None:
    places, observed, weights = [1.0, 2.0, 4.0], [0.5, 1.5, 1.0], [0.2, 0.5, 0.3]
    fits = {name: [0.0, 1.0] for name in ("narrow", "middle", "wide")}
    figure = figures.kernel_fits(places, observed, [0, 4], [1.0, 1.0], fits, 2.0, weights)
    top, bottom = figure.axes
    dots = next(line for line in top.lines if line.get_color() == figures.VALUE)
    assert dots.get_ydata().tolist() == observed
    bars = [p for p in bottom.patches if isinstance(p, Rectangle)]
    assert [bar.get_height() for bar in bars] == weights
    assert {to_hex(bar.get_facecolor()) for bar in bars} == {figures.QUERY}
    assert bottom.collections[0].get_segments()[2][0][0] == 4.0  # the orange mark of the last key


def test_scaling_curves_draws_both_curves_of_every_quantity() -> None:
    plain = {"variance": [1.0, 400.0], "entropy": [3.0, 0.2]}
    scaled = {"variance": [1.0, 1.1], "entropy": [3.0, 2.9]}
    figure = figures.scaling_curves([1, 256], plain, scaled)
    for axes, name in zip(figure.axes, plain, strict=True):
        assert axes.get_title(loc="left") == name
        assert [list(line.get_ydata()) for line in axes.lines] == [plain[name], scaled[name]]
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[1].get_ylim()[0] == 0


def test_score_fields_label_every_key_and_write_scores_on_their_lines() -> None:
    keys = {"short": (1.0, 0.5), "long": (3.0, -1.0)}
    slope = np.linspace(-8, 8, 9) * np.ones((9, 1))
    figure = figures.score_fields((2.0, 1.0), keys, {"dot": slope, "flat": np.ones((9, 9))})
    assert [axes.get_title() for axes in figure.axes] == ["dot", "flat"]
    dot, flat = ({t.get_text() for t in axes.texts} for axes in figure.axes)
    assert dot - flat == {"-6", "-2", "2", "6"}
    assert flat >= {"query", "short", "long"}


def test_key_planes_show_each_key_and_its_weight() -> None:
    keys = {"cat": (1.0, 0.5), "mat": (3.0, -1.0)}
    figure = figures.key_planes([(2.0, 1.0), (0.0, 0.0)], keys, [[0.25, 0.75], [0.5, 0.5]])
    planes, bars = figure.axes[::2], figure.axes[1::2]
    for plane in planes:
        assert {"query", "cat", "mat"} <= {t.get_text() for t in plane.texts}
    assert [[p.get_width() for p in b.patches] for b in bars] == [[0.25, 0.75], [0.5, 0.5]]
    assert [t.get_text() for t in bars[0].texts] == ["0.25", "0.75"]


def test_a_name_stands_beyond_the_tip_of_its_arrow() -> None:
    keys = {"left": (-2.0, 0.2), "right": (2.0, 0.2), "up": (0.1, 2.0), "down": (0.1, -2.0)}
    figure = figures.key_planes([(1.0, 1.0), (0.0, 0.0)], keys, [[0.25] * 4] * 2)
    sides = {t.get_text(): (t.get_ha(), t.get_va()) for t in figure.axes[0].texts}
    assert sides["left"][0] == "right"
    assert sides["right"][0] == "left"
    assert sides["up"] == ("center", "bottom")
    assert sides["down"] == ("center", "top")


FLOW: dict[str, Any] = {
    "query": [2, 1],
    "keys": {"cat": [2, 0], "mat": [0, 3]},
    "scores": [4, 3],
    "weights": [0.73, 0.27],
    "values": [[10, 0, 5], [0, 20, 5]],
    "output": [7.3, 5.4, 5],
}


def test_attention_flow_writes_every_number_and_every_shape() -> None:
    texts = [t.get_text() for t in figures.attention_flow(**FLOW).axes[0].texts]
    for name in ("query (2)", "keys (2, 2)", "scores\n(2)", "weights\n(2)", "values\n(2, 3)"):
        assert name in texts
    assert {"output (3)", "softmax", "cat", "mat", "7.3", "5.4", ".73", ".27", "20"} <= set(texts)


def test_what_flows_has_the_colour_of_its_meaning() -> None:
    patches = figures.attention_flow(**FLOW).axes[0].patches
    squares = Counter(to_hex(p.get_edgecolor()) for p in patches if isinstance(p, Rectangle))
    assert squares[figures.QUERY] == 2 + 2  # the query and the weights
    assert squares[figures.KEY] == 4
    assert squares[figures.VALUE] == 6 + 3  # values and output
    assert squares[palette.QUIET] == 2  # scores


def test_a_squares_number_can_be_read_on_its_colour() -> None:
    figure, axes = flow.canvas(3, 1)
    flow.numbers(axes, (0, 0), [[0.2, 0.9, 1234]], "#0072b2", 2, [[0.1, 0.9, 0.1]])
    assert [t.get_color() for t in axes.texts] == [palette.INK, "white", palette.INK]
    assert axes.texts[2].get_fontsize() < axes.texts[0].get_fontsize()
    assert [t.get_text() for t in axes.texts] == [".20", ".90", "1234.00"]
    plt.close(figure)


def test_source_may_begin_at_a_line_with_given_words() -> None:
    whole = figures.Source(sinusoidal_encoding).code
    part = figures.Source(sinusoidal_encoding, since="positions = ").code
    first, *_, last = part.splitlines()
    assert first.startswith("positions = torch.arange(")  # no longer indented
    assert last.startswith("return columns")
    assert [line.strip() for line in part.splitlines()] == [
        line.strip() for line in whole.splitlines()
    ][-len(part.splitlines()) :]


@pytest.mark.parametrize("thing", [scaled_dot_product_attention, AdditiveAttention])
def test_source_is_the_file_without_docstrings(thing: object) -> None:
    source = figures.Source(thing)  # type: ignore[arg-type]
    written = inspect.getsource(thing)  # type: ignore[arg-type]
    assert '"""' in written
    assert '"""' not in source.code
    assert set(source.code.splitlines()) <= set(written.splitlines())
    kept = [line for line in source.code.splitlines() if line.strip()]
    assert "    weights = softmax(scores, mask)" in kept or "weights @ values, weights" in kept[-1]
    compile(source.code, "source", "exec")
    assert source._repr_markdown_() == f"```python\n{source.code}\n```"
    assert "0x" not in repr(source)


def test_widget_keeps_its_state_and_a_fixed_text() -> None:
    first, second = figures.AttentionPlane(), figures.AttentionPlane()
    assert repr(first) == repr(second)
    state = first.get_state()
    assert state["query"] == [2.0, 1.0]
    assert state["key_vectors"] == [list(key) for key in attention_plane.KEYS]
    assert state["value_vectors"] == [list(value) for value in attention_plane.VALUES]
    assert state["scaled"] is True
    assert "export default { render }" in state["_esm"]


def test_widgets_load_nothing() -> None:
    scripts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js")}
    addresses = {name: re.findall(r"https?://[^\"]+", text) for name, text in scripts.items()}
    assert addresses.pop("shared.js") == ["http://www.w3.org/2000/svg"]
    assert not any(addresses.values())
    for name, text in scripts.items():
        assert not re.search(r"\b(import|fetch|XMLHttpRequest|eval)\b *\(", text), name
        assert "import " not in text, name
    for path in FOLDER.glob("*.css"):
        assert "url(" not in path.read_text(encoding="utf-8"), path.name


def test_notebooks_store_the_present_scripts_and_styles_of_their_figures() -> None:
    """`python tools/execute_notebooks.py --scripts` renews them."""
    seen = 0
    for path in sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("book/*.ipynb")]):
        widgets = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("widgets", {})
        for model in widgets.get(WIDGET_STATE, {}).get("state", {}).values():
            if ident := model["state"].get("_anywidget_id"):
                seen += 1
                figure = getattr(figures, ident.rpartition(".")[2])
                assert model["state"]["_esm"] == str(figure._esm), (path.name, ident)
                assert model["state"]["_css"] == str(figure._css), (path.name, ident)
    assert seen > 10


def test_stored_maps_of_heads_have_rows_that_sum_to_one_and_see_no_future() -> None:
    """What chapter 04 says of all heads holds for what its figure stores."""
    text = (ROOT / "chapters" / "04_multi_head.ipynb").read_text(encoding="utf-8")
    models = json.loads(text)["metadata"]["widgets"][WIDGET_STATE]["state"].values()
    (state,) = (m["state"] for m in models if "sentences" in m["state"])
    kinds = [kind for sentence in state["sentences"] for kind in sentence["kinds"]]
    assert len(kinds) >= 3
    for kind in kinds:
        for weights in (head for layer in kind["layers"] for head in layer):
            assert all(abs(sum(row) - 1) < 0.01 for row in weights)
            if kind["name"] == "decoder, self-attention":
                assert not any(any(row[i + 1 :]) for i, row in enumerate(weights))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"names": ("cat",)}, "equally many, at least one, got 1, 4 and 4"),
        ({"names": (), "keys": (), "values": ()}, "at least one, got 0, 0 and 0"),
        ({"query": (1.0, 2.0, 3.0)}, r"query must have two numbers each, got \(1.0, 2.0, 3.0\)"),
        ({"keys": ((1.0,),) * 4}, r"keys must have two numbers each, got \(1.0,\)"),
    ],
)  # fmt: skip
def test_widget_refuses_what_it_cannot_draw(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        figures.AttentionPlane(**arguments)  # type: ignore[arg-type]


def test_learning_curves_show_each_seed_and_the_mean() -> None:
    curves = {"right": [[0.0, 0.5], [0.2, 0.9]], "il or elle": [[0.5, 1.0], [0.5, 0.8]]}
    axes = figures.learning_curves([200, 400], curves).axes[0]
    drawn = [line.get_ydata().tolist() for line in axes.lines]
    assert drawn[:2] == curves["right"]
    assert drawn[2] == pytest.approx([0.1, 0.7])
    assert drawn[5] == pytest.approx([0.5, 0.9])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(curves)
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 2


def test_learning_curves_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"curves\['a'\] has 1 values for 2 steps"):
        figures.learning_curves([1, 2], {"a": [[0.5]]})
    with pytest.raises(ValueError, match=r"curves \(4\) must be 3 or fewer"):
        figures.learning_curves([1], {name: [[0.5]] for name in "abcd"})


WAVE, PAIR = [0.0, 0.5, 1.0], [0.2, 0.8]
MISFITS: dict[tuple[str, type[Exception]], list[Callable[[], object]]] = {
    ("front_page", ValueError): [lambda: figures.front_page({"what?": [0.5, 0.5]})],
    ("attention_patterns", ValueError): [lambda: figures.attention_patterns(window=0)],
    ("accuracy_by_distance", ValueError): [
        lambda: figures.accuracy_by_distance([1, 2], {"a": [[50]]})
    ],
    ("loss_by_position", ValueError): [
        lambda: figures.loss_by_position([1, 2], {"a": [[1.0]]}, trained=1)
    ],
    ("time_and_memory", ValueError): [lambda: figures.time_and_memory([1, 2], {"a": [1.0]}, {})],
    ("PassExplorer", ValueError): [lambda: figures.PassExplorer("a", [])],
    ("fertility_copies", ValueError): [
        lambda: figures.fertility_copies(["a", "b"], [1, 2], ["x", "y"]),
    ],
    ("pass_strip", ValueError): [lambda: figures.pass_strip([["a"]], [[0.5, 0.5]], [[True]])],
    ("quality_and_time", ValueError): [lambda: figures.quality_and_time({"a": {"b": (0, 1)}})],
    ("kernel_fits", ValueError): [
        lambda: figures.kernel_fits(PAIR, PAIR, WAVE, WAVE, {"a": WAVE}, 1.0, PAIR),
        lambda: figures.kernel_fits(PAIR, WAVE, WAVE, WAVE, dict.fromkeys("abc", WAVE), 1.0, PAIR),
        lambda: figures.kernel_fits(PAIR, PAIR, WAVE, PAIR, dict.fromkeys("abc", WAVE), 1.0, PAIR),
        lambda: figures.kernel_fits(PAIR, PAIR, WAVE, WAVE, dict.fromkeys("abc", PAIR), 1.0, PAIR),
        lambda: figures.kernel_fits(PAIR, PAIR, WAVE, WAVE, dict.fromkeys("abc", WAVE), 1.0, WAVE),
    ],
    ("scaling_curves", KeyError): [
        lambda: figures.scaling_curves([1, 4], {"a": PAIR, "b": PAIR}, {"a": PAIR})
    ],
    ("scaling_curves", ValueError): [
        lambda: figures.scaling_curves([1, 4, 16], {"a": PAIR, "b": PAIR}, {"a": PAIR, "b": PAIR})
    ],
    ("attention_flow", ValueError): [
        functools.partial(figures.attention_flow, **FLOW | {name: FLOW[name][:1]})
        for name in ("scores", "weights", "values")
    ],
    ("key_planes", ValueError): [
        lambda: figures.key_planes([PAIR, PAIR], {"a": PAIR}, [[1.0]]),
        lambda: figures.key_planes([PAIR, PAIR], {"a": PAIR}, [PAIR, PAIR]),
    ],
    ("search_tree", KeyError): [lambda: figures.search_tree({("a", "b"): -1.0}, [], ("a", "b"))],
    ("search_tree", ValueError): [lambda: figures.search_tree({}, [], ())],
    ("scores_by_beam", ValueError): [
        lambda: figures.scores_by_beam([1, 2, 4], {"BLEU": {"beam": [PAIR]}})
    ],
    ("ratio_by_length", ValueError): [lambda: figures.ratio_by_length([1, 2, 4], [PAIR], "times")],
    ("redraw_flow", IndexError): [lambda: figures.redraw_flow([PAIR], [1], PAIR, 0.5)],
    ("paired_differences", KeyError): [lambda: figures.paired_differences({"a": PAIR}, {})],
    ("sub_layers", ValueError): [lambda: figures.sub_layers({})],
    ("loss_valleys", ValueError): [
        lambda: figures.loss_valleys({"a": (np.eye(3), [[1.0, 1.0]]), "b": (np.eye(2), [PAIR])})
    ],
    ("parameter_bars", ValueError): [lambda: figures.parameter_bars({})],
    ("distribution_bars", ValueError): [
        lambda: figures.distribution_bars(["a", "b", "c"], {"wanted": PAIR})
    ],
    ("distribution_grids", IndexError): [
        lambda: figures.distribution_grids(["a"], ["a", "b"], {"wanted": [PAIR, PAIR]}),
        lambda: figures.distribution_grids(["a"], ["a"], {"wanted": [PAIR]}),
    ],
    ("pull_curves", ValueError): [lambda: figures.pull_curves(WAVE, {"a": PAIR}, "p", "pull")],
    ("reliability_diagrams", ValueError): [lambda: figures.reliability_diagrams({"a": [PAIR]})],
    ("smoothing_dots", IndexError): [
        lambda: figures.smoothing_dots({"BLEU": {"tiny": dict.fromkeys("abcd", PAIR)}})
    ],
    ("exam_bars", ValueError): [lambda: figures.exam_bars({"a": (0.1, 0.2, 0.3)}, 0.5)],  # type: ignore[dict-item]
    ("head_links", ValueError): [lambda: figures.head_links(["a", "b"], 0, {"head 1": WAVE})],
    ("reshape_grids", KeyError): [
        lambda: figures.reshape_grids([[1, 2]], [[[1], [2]]], [[[1], [3]]], ["a", "b"])
    ],
    ("reshape_grids", IndexError): [
        lambda: figures.reshape_grids([[1, 2]], [[[1]], [[2]]], [[[1]], [[2]]], []),
        lambda: figures.reshape_grids(
            [[1, 2, 3, 4, 5]], *[[[[n]] for n in range(1, 6)] for _ in range(2)], ["a"]
        ),
    ],
    ("head_curves", ValueError): [lambda: figures.head_curves([1, 2, 3], {"1 head": [PAIR]})],
    ("head_removals", KeyError): [
        lambda: figures.head_removals({"all": {"1 head": PAIR}, "none": {"2 heads": PAIR}})
    ],
    ("position_flow", ValueError): [lambda: figures.position_flow({"a": PAIR}, [PAIR, PAIR])],
    ("score_grid", ValueError): [
        lambda: figures.score_grid([PAIR], ["a"], ["b", "c"], headings={1: "more"})
    ],
    ("feed_forward_flow", ValueError): [
        lambda: figures.feed_forward_flow(PAIR, WAVE, WAVE, PAIR, PAIR, WAVE),
        lambda: figures.feed_forward_flow(PAIR, WAVE, PAIR, PAIR, PAIR, PAIR),
    ],
    ("component_losses", ValueError): [lambda: figures.component_losses({})],
    ("component_curves", ValueError): [
        lambda: figures.component_curves([1, 2], {key: [PAIR] for key in "abcde"}),
        lambda: figures.component_curves([1, 2, 3], {"a": [PAIR]}),
    ],
    ("loss_flow", ValueError): [lambda: figures.loss_flow("ab", PAIR, PAIR, [0, 0, 1])],
    ("multi_head_flow", ValueError): [
        lambda: figures.multi_head_flow("ab", PAIR, [PAIR], [PAIR, PAIR], PAIR),
        lambda: figures.multi_head_flow("abc", PAIR, [PAIR], [PAIR], PAIR),
    ],
    ("training_flow", ValueError): [lambda: figures.training_flow({"batch": "(2, 3)"})],
    ("beam_flow", ValueError): [lambda: figures.beam_flow("abc", "x", [PAIR], [], [])],
    ("mask_flow", ValueError): [
        lambda: figures.mask_flow([PAIR, PAIR], [PAIR], [PAIR, PAIR], "ab"),
        lambda: figures.mask_flow([PAIR, PAIR], [PAIR, PAIR], [PAIR, PAIR], "abc"),
    ],
    ("stack_losses", ValueError): [lambda: figures.stack_losses({key: [PAIR] for key in "abcd"})],
    ("position_waves", IndexError): [lambda: figures.position_waves({"a": WAVE}, [3])],
    ("self_attention_flow", ValueError): [
        lambda: figures.self_attention_flow(["a"], [PAIR], ([PAIR],) * 3, [PAIR], np.eye(2), 0)
    ],
    ("same_step", KeyError): [lambda: figures.same_step({"a": PAIR}, {}, ["b", "c"], ("d", "e"))],
    ("same_step", ValueError): [
        lambda: figures.same_step({"a": PAIR}, {"a": [1]}, ["b", "c"], ("d", "e"))
    ],
    ("word_focus", ValueError): [lambda: figures.word_focus([(["a"], PAIR, 0)])],
    ("curves_by_length", ValueError): [
        lambda: figures.curves_by_length({"products": {"a": PAIR}}, [1, 2, 3])
    ],
    ("accuracy_by_length", ValueError): [
        lambda: figures.accuracy_by_length([1, 2, 3], {"a": [PAIR]}, 2),
        lambda: figures.accuracy_by_length([1, 2], {"a": [PAIR, WAVE]}, 2),
    ],
    ("shares_by_kind", KeyError): [
        lambda: figures.shares_by_kind({"a": {"one": 0.5}, "b": {"two": 0.5}}, "right")
    ],
    ("look_back_flow", ValueError): [
        lambda: figures.look_back_flow(1, [PAIR, PAIR], [1, 0], [1], PAIR),
        lambda: figures.look_back_flow(1, [PAIR], [1, 0], [1], PAIR),
    ],
    ("padded_batches", ValueError): [
        lambda: figures.padded_batches({"a": []}),
        lambda: figures.padded_batches({"a": [[]]}),
    ],
    ("rate_curves", ValueError): [lambda: figures.rate_curves([1, 2, 3], {"a": PAIR})],
    ("norm_bars", ValueError): [lambda: figures.norm_bars({"a": {"embedding": 0.0}})],
    ("Source", TypeError): [lambda: figures.Source(len), lambda: figures.Source(dict)],
    ("Source", ValueError): [lambda: figures.Source(AdditiveAttention, since="no such line")],
}


def promised_errors(name: str) -> set[str]:
    """The errors that a figure's docstring names under Raises."""
    section = (inspect.getdoc(getattr(figures, name)) or "").partition("\nRaises:\n")[2]
    return set(re.findall(r"^    (\w+): ", section, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "error"), MISFITS, ids=lambda part: getattr(part, "__name__", part)
)
def test_errors_come_as_the_docstring_says(name: str, error: type[Exception]) -> None:
    assert error.__name__ in promised_errors(name)
    for misfit in MISFITS[name, error]:
        with pytest.raises(error):
            misfit()
    assert plt.get_fignums() == []


def test_every_error_that_a_figure_promises_is_raised_here_or_by_the_figure_itself() -> None:
    for name in figures.__all__:
        if not isinstance(getattr(figures, name), str | tuple):
            source = inspect.getsource(sys.modules[getattr(figures, name).__module__])
            own = {"ValueError"} if f"def {name}(" not in source else set()  # a widget
            own |= set(re.findall(r"raise (\w+)\(", inspect.getsource(getattr(figures, name))))
            assert promised_errors(name) <= own | {e.__name__ for n, e in MISFITS if n == name}


@pytest.mark.parametrize(
    "model", sorted(widget.HERE.glob("*_model.js")), ids=lambda path: path.stem
)
def test_shared_part_model_and_drawing_are_one_text(model: Path) -> None:
    name = model.stem.removesuffix("_model")
    for suffix, parts in (("js", ["shared", model.stem, name]), ("css", ["shared", name])):
        text = widget.joined(name, suffix)
        files = (widget.HERE / f"{part}.{suffix}" for part in parts)
        assert text == "\n".join(file.read_text("utf-8") for file in files)
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert widget.joined(name, "js").count("export default { render };") == 1
