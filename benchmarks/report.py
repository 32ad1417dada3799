"""The benchmark's numbers as the book shows them: a Markdown table and a figure."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOSS = "output layer and loss, 1280 tokens"
BATCHES = "training steps over 800 sentence pairs"
MARKS = {  # of each contender; the two of one library share a colour
    "ours": ("*", "#E69F00"),
    "readable": ("o", "#999999"),
    "marian": ("s", "#0072B2"),
    "torch": ("^", "#D55E00"),
    "x": ("D", "#009E73"),
    "ctranslate2": ("v", "#CC79A7"),
    "ours_bf16": ("P", "#E69F00"),
    "marian_bf16": ("X", "#0072B2"),
}


def write_report(results: dict[str, Any], folder: Path) -> None:
    """Write `speed.md` (tables) and `speed.png` (ratios with quartiles) into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [time_table(results)]
    if results["time_bf16"]:
        parts.append(time_table(results, "ours_bf16", "time_bf16"))
    parts += [memory_table(results), facts(results)]
    (folder / "speed.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    draw(results, folder / "speed.png")


def time_table(results: dict[str, Any], ours: str = "ours", times: str = "time") -> str:
    """Ours in seconds, and ours divided by each other contender's, with quartiles."""
    contenders = results["contenders"]
    others = [key for key in contenders if key != ours]
    rows = [["task", "ours, s", *(f"÷ {_breakable(contenders[key]['name'])}" for key in others)]]
    for key, task in results["tasks"].items():
        found = results[times][key]
        cells = [task["name"], f"{found[ours]['seconds']:.3f}"]
        for other in others:
            r = found.get(other)
            cells.append(
                f"**{r['ratio']:.2f}**<br>({r['ratio_q1']:.2f}–{r['ratio_q3']:.2f})" if r else "–"
            )
        rows.append(cells)
    return _table(
        rows,
        f"Time of {contenders[ours]['name']} divided by the others': median of the rounds (quartiles). "
        "Below 1, ours is faster.",
    )


def memory_table(results: dict[str, Any]) -> str:
    """Peak memory of each contender and task in MiB."""
    contenders = results["contenders"]
    if not results["peak_mib"]:
        return "Peak memory was not measured: only Linux tells it."
    rows = [["task", *(_breakable(c["name"]) for c in contenders.values())]]
    for key, task in results["tasks"].items():
        peaks = results["peak_mib"][key]
        rows.append([task["name"], *(f"{peaks[c]:.0f}" if c in peaks else "–" for c in contenders)])
    return _table(rows, "Peak memory in MiB that each task needs on top of the weights.")


def facts(results: dict[str, Any]) -> str:
    """Command, versions, processor, types: all that is needed to measure again."""
    sizes = ", ".join(f"{name} {value}" for name, value in results["sizes"].items())
    dtypes = {c["name"]: c["dtype"] for c in results["contenders"].values()}
    other = [f"{name} {dtype}" for name, dtype in dtypes.items() if dtype != "float32"]
    types = "; ".join(["float32 on all sides", *other])
    lines = {
        "Sizes": sizes,
        "Types": f"{types}; bf16 {results['bf16']}",
        "Rounds": f"{results['rounds']}, contenders taking turns in one process",
    }
    return "\n".join([_told(results), *(f"- **{name}:** {value}" for name, value in lines.items())])


def draw(results: dict[str, Any], path: Path) -> None:
    """A mark for each task and peer: our time divided by theirs, with quartiles; a panel for each precision."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    panels = [("ours", "time", "our model with 32 bits")]
    if results["time_bf16"]:
        panels.append(("ours_bf16", "time_bf16", "our model in bf16"))
    figure, columns = plt.subplots(
        len(panels),
        1,
        figsize=(6.4, 4.6 * len(panels)),
        sharex=True,
        squeeze=False,
        layout="constrained",
        facecolor="white",
    )
    for axes, (ours, times, title) in zip(columns[:, 0], panels, strict=True):
        _draw_ratios(axes, results, ours, times)
        axes.set_title(title, loc="left", fontweight="bold", fontsize=11)
    columns[-1, 0].set_xlabel("our time ÷ theirs (left of the line: ours is faster)")
    handles: dict[str, Any] = {}
    for axes in columns[:, 0]:
        found, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, found, strict=True))
    figure.legend(
        handles=list(handles.values()), loc="outside upper center", ncols=2, frameon=False
    )
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)


def _draw_ratios(axes: Any, results: dict[str, Any], ours: str, times: str) -> None:
    """One panel: a row for each task, on a logarithmic axis."""
    tasks, found = results["tasks"], results[times]
    others = [key for key in results["contenders"] if key != ours]
    for i, other in enumerate(others):
        points = [(n, found[key][other]) for n, key in enumerate(tasks) if other in found[key]]
        axes.errorbar(
            [r["ratio"] for _, r in points],
            [n + 0.11 * (i - (len(others) - 1) / 2) for n, _ in points],
            xerr=[
                [r["ratio"] - r["ratio_q1"] for _, r in points],
                [r["ratio_q3"] - r["ratio"] for _, r in points],
            ],
            fmt=MARKS[other][0],
            color=MARKS[other][1],
            markersize=4.5,
            elinewidth=1.2,
            capsize=2,
            label=results["contenders"][other]["name"],
        )
    for n in range(0, len(tasks), 2):
        axes.axhspan(n - 0.5, n + 0.5, color="#f2f2f2", zorder=0)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    lowest = min(r["ratio_q1"] for by in found.values() for r in by.values())
    axes.set_xticks([t for t in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 4) if t >= min(lowest / 3, 0.5)])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_yticks(range(len(tasks)), [task["name"] for task in tasks.values()])
    axes.set_ylim(len(tasks) - 0.5, -0.5)


def write_growth(results: dict[str, Any], folder: Path) -> None:
    """Write `growth.md` (exponents) and `growth.png` (time and memory against length and batch)."""
    folder.mkdir(parents=True, exist_ok=True)
    names, kinds, growth = results["contenders"], results["kinds"], results["growth"]
    rows = [
        [
            "what",
            "with",
            *(f"{name}: {what}" for what in ("time", "memory") for name in names.values()),
        ]
    ]
    for kind, axes in growth.items():
        for axis, found in axes.items():
            exponents = [
                found[name].get(f"exponent of {unit}")
                for unit in ("seconds", "mib")
                for name in names
            ]
            cells = ["–" if e is None else f"{e:.2f}" for e in exponents]
            rows.append([kinds[kind], axis, *cells])
    caption = "Exponents: slope of the last three points, both axes logarithmic."
    text = f"{_table(rows, caption)}\n\n{_told(results)}\n"
    (folder / "growth.md").write_text(text, encoding="utf-8")
    draw_growth(results, folder / "growth.png")


def draw_growth(results: dict[str, Any], path: Path) -> None:
    """Seconds above, MiB below; length at the left, batch at the right; a colour for each task."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        2, 2, figsize=(6.4, 6), sharex="col", sharey="row", layout="constrained", facecolor="white"
    )
    colours = dict(zip(results["kinds"], ("#0072B2", "#D55E00", "#009E73"), strict=True))
    markers = dict(zip(results["kinds"], "osD", strict=True))
    styles = dict(zip(results["contenders"], ("-", ":"), strict=True))
    for row, unit in enumerate(("seconds", "mib")):
        for column, axis in enumerate(("length", "batch")):
            axes = panels[row, column]
            for kind, found in results["growth"].items():
                for name, style in styles.items():
                    if unit in found[axis][name]:
                        values, sizes = found[axis][name][unit], found[axis]["sizes"]
                        axes.plot(
                            sizes,
                            values,
                            style,
                            marker=markers[kind],
                            color=colours[kind],
                            markersize=4,
                        )
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
    for axes, label in zip(panels[:, 0], ("seconds", "MiB at the peak"), strict=True):
        axes.set_ylabel(label)
    for axes, label in zip(panels[1], ("length, tokens", "batch, sentences"), strict=True):
        axes.set_xlabel(label)
    shown = [
        plt.Line2D([], [], color=colours[kind], marker=markers[kind], label=name)
        for kind, name in results["kinds"].items()
    ]
    shown += [
        plt.Line2D([], [], color="black", linestyle=styles[key], label=name)
        for key, name in results["contenders"].items()
    ]
    figure.legend(handles=shown, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)


def write_tricks(results: dict[str, Any], folder: Path) -> None:
    """Write `tricks.md`: each change's time as a share of what it is compared with, and how it was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    shares: dict[str, dict[str, float]] = dict(results["shares"])
    captions = {
        LOSS: "Time of the loss, forward and backward, divided by that of `{}`.",
        BATCHES: "Time of the same sentences, divided by that with {}.",
    }
    single = {task: shares.pop(task) for task in captions}
    steps = {task: found for task, found in shares.items() if task.startswith("training")}
    rest = {task: found for task, found in shares.items() if task not in steps}
    tables = [
        _table(
            _changes(found), f"{what}: time with one change, divided by that of the readable path."
        )
        for what, found in (("Training steps", steps), ("Reading and writing", rest))
    ]
    for task, found in single.items():
        base, *names = found
        rows = [["what", *names], [task, *(f"{found[name]:.2f}" for name in names)]]
        tables.append(_table(rows, captions[task].format(base)))
    (folder / "tricks.md").write_text(
        "\n\n".join([*tables, _told(results)]) + "\n", encoding="utf-8"
    )


def _changes(shares: dict[str, dict[str, float]]) -> list[list[str]]:
    """A row for each change, a column for each task; a dash where there is no such change."""
    names = list(dict.fromkeys(change for found in shares.values() for change in found))[1:]
    names.sort(key=lambda change: change.endswith("noise"))  # that one last
    rows = [["change", *shares]]
    for name in names:
        rows.append(
            [name, *(f"{found[name]:.2f}" if name in found else "–" for found in shares.values())]
        )
    return rows


def write_wall_time(paths: Sequence[Path], folder: Path) -> None:
    """Write `wall_time.md` from one record a corpus: the share of each kind of work, how it was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    names = sorted(records[0]["shares"], key=lambda name: -records[0]["shares"][name])
    rows = [["work", *(_trained(record) for record in records)]]
    rows += [[name, *(f"{record['shares'][name]:.1%}" for record in records)] for name in names]
    told = [f"{_trained(record)}:\n\n{_told(record)}" for record in records]
    text = "\n\n".join([_table(rows, "Where the time of a training went."), *told])
    (folder / "wall_time.md").write_text(text + "\n", encoding="utf-8")


def _trained(record: dict[str, Any]) -> str:
    """Corpus, updates and seconds of a training whose time was measured."""
    return f"{record['corpus']}, {record['steps']:,} updates, {record['seconds']:,.0f} seconds"


def _told(results: dict[str, Any]) -> str:
    """Command, date, processor, threads, versions: what every measurement tells."""
    threads = results["threads"]
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    told = (
        f"- **Command:** `{results['command']}`\n- **Date:** {results['date']}\n"
        f"- **Processor:** {results['processor']}, {threads} thread{'s' * (threads > 1)}\n"
        f"- **Versions:** {versions}"
    )
    if variables := results.get("variables"):
        told += f"\n- **Variables:** `{' '.join(f'{name}={value}' for name, value in variables.items())}`"
    return told


def _breakable(name: str) -> str:
    """A short name that may be broken after a dot or "trans": so the table is no wider than the page."""
    short = name.removeprefix("transformers ").replace("transformer-course, ", "ours, ")
    return short.replace(".", ".<wbr>").replace("rans", "rans&shy;")


def _table(rows: list[list[str]], caption: str) -> str:
    """A MyST table with a caption; numbers to the right."""
    align = [":--", *["--:"] * (len(rows[0]) - 1)]
    lines = ["| " + " | ".join(row) + " |" for row in [rows[0], align, *rows[1:]]]
    return ":::{table} " + caption + "\n\n" + "\n".join(lines) + "\n\n:::"
