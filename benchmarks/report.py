"""The benchmark's numbers as the book shows them: a Markdown table and a figure."""

from pathlib import Path
from typing import Any


def write_report(results: dict[str, Any], folder: Path) -> None:
    """Write `speed.md` (tables) and `speed.png` (ratios with quartiles) into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = [time_table(results), memory_table(results), facts(results)]
    (folder / "speed.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    draw(results, folder / "speed.png")


def time_table(results: dict[str, Any]) -> str:
    """Ours in seconds, and ours divided by each other contender's, with quartiles."""
    others = [key for key in results["contenders"] if key != "ours"]
    names = [results["contenders"][key]["name"] for key in others]
    rows = [["task", "ours, s", *(f"÷ {_breakable(name)}" for name in names)]]
    for key, task in results["tasks"].items():
        times = results["time"][key]
        cells = [task["name"], f"{times['ours']['seconds']:.3g}"]
        for other in others:
            r = times.get(other)
            cells.append(
                f"**{r['ratio']:.2f}** ({r['ratio_q1']:.2f}–{r['ratio_q3']:.2f})" if r else "–"
            )
        rows.append(cells)
    caption = (
        "Our time divided by theirs: median of the rounds (quartiles). Below 1, ours is faster."
    )
    return _table(rows, caption)


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
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    sizes = ", ".join(f"{name} {value}" for name, value in results["sizes"].items())
    dtypes = sorted({c["dtype"] for c in results["contenders"].values()})
    types = f"{dtypes[0]} on all sides" if len(dtypes) == 1 else str(results["contenders"])
    lines = {
        "Command": f"`{results['command']}`",
        "Date": results["date"],
        "Processor": f"{results['processor']}, {results['threads']} threads",
        "Versions": versions,
        "Sizes": sizes,
        "Types": f"{types}; bf16 {results['bf16']}",
        "Rounds": f"{results['rounds']}, contenders taking turns in one process",
    }
    return "\n".join(f"- **{name}:** {value}" for name, value in lines.items())


def draw(results: dict[str, Any], path: Path) -> None:
    """A dot for each task and peer: our time divided by theirs, with its quartiles, on a log axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    colours = {"readable": "#999999", "marian": "#0072B2", "torch": "#D55E00", "x": "#009E73"}
    markers = {"readable": "o", "marian": "s", "torch": "^", "x": "D"}
    figure, axes = plt.subplots(figsize=(6, 4.4), layout="constrained", facecolor="white")
    keys = list(results["tasks"])
    for i, other in enumerate(key for key in results["contenders"] if key != "ours"):
        points = [
            (n, results["time"][k][other])
            for n, k in enumerate(keys)
            if other in results["time"][k]
        ]
        middle = [r["ratio"] for _, r in points]
        spread = [
            [r["ratio"] - r["ratio_q1"] for _, r in points],
            [r["ratio_q3"] - r["ratio"] for _, r in points],
        ]
        axes.errorbar(
            middle,
            [n + 0.15 * (i - 1.5) for n, _ in points],
            xerr=spread,
            fmt=markers[other],
            color=colours[other],
            label=results["contenders"][other]["name"],
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    ticks = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 1.5]
    lowest = min(r["ratio_q1"] for times in results["time"].values() for r in times.values())
    axes.set_xticks([t for t in ticks if t >= lowest / 3 or t >= 0.5])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_yticks(range(len(keys)), [results["tasks"][key]["name"] for key in keys])
    axes.invert_yaxis()
    axes.set_xlabel("our time ÷ theirs (left of the line: ours is faster)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.3, 1), ncols=2, frameon=False)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)


def _breakable(name: str) -> str:
    """A name that may be broken after its dots, so that the table is no wider than the page."""
    return name.replace(".", ".<wbr>")


def _table(rows: list[list[str]], caption: str) -> str:
    """A MyST table with a caption; numbers to the right."""
    align = [":--", *["--:"] * (len(rows[0]) - 1)]
    lines = ["| " + " | ".join(row) + " |" for row in [rows[0], align, *rows[1:]]]
    return ":::{table} " + caption + "\n\n" + "\n".join(lines) + "\n\n:::"
