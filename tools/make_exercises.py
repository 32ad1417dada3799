"""Make the learner's notebooks from their solutions: python tools/make_exercises.py [--check]

Each exercises/solutions/NN_<stem>_solutions.ipynb gives exercises/NN_<stem>.ipynb (two names, for
JupyterLab shows them on its tabs): lines between the two markers become
`raise NotImplementedError`, cells tagged `solution` go, outputs go, links
point one folder up, and each cell tagged `hint` gets a link to its solution. `--check` writes nothing and
fails if a file would change.
"""

import re
import sys
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
SOLVED = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## ", re.MULTILINE)


def learner_notebook(solution: Any, name: str) -> Any:
    """Return the notebook for the learner; `name` is the file name of the solution.

    Raises:
        ValueError: if a marker stands without its partner.
    """
    cells, solved = [], ""
    for cell in solution.cells:
        # JupyterLab goes to a cell by its id, and puts the cursor into it: text that isn't drawn yet would
        # stay empty, so the link leads to the code.
        if HEADING.search(cell.source) or SOLVED.search(cell.source):
            solved = cell.id
        if "solution" in cell.metadata.get("tags", []):
            continue
        source = SOLVED.sub(r"\1raise NotImplementedError", cell.source)
        if re.search(r"### (BEGIN|END) SOLUTION", source):
            raise ValueError(f"{name}: a solution marker without its partner in:\n{cell.source}")
        if cell.cell_type == "code":
            cells.append(nbformat.v4.new_code_cell(source, id=cell.id, metadata=cell.metadata))
            continue
        source = source.replace("](../../", "](../")
        if "hint" in cell.metadata.get("tags", []):
            source += f"\n\n[Solution](solutions/{name}#cell-id={solved})"
        cells.append(nbformat.v4.new_markdown_cell(source, id=cell.id, metadata=cell.metadata))
    metadata = {key: item for key, item in solution.metadata.items() if key != "widgets"}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def learners_name(solution: Path) -> str:
    """Return the file name of the learner's notebook.

    >>> learners_name(Path("01_attention_solutions.ipynb"))
    '01_attention.ipynb'
    """
    return f"{solution.stem.removesuffix('_solutions')}.ipynb"


def main(arguments: list[str]) -> int:
    """Write every learner's notebook; 1 if one would change under --check."""
    stale = 0
    for path in sorted((ROOT / "exercises/solutions").glob("*.ipynb")):
        notebook = learner_notebook(nbformat.read(path, as_version=4), path.name)
        text = nbformat.writes(notebook) + "\n"
        target = ROOT / "exercises" / learners_name(path)
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale = 1
        print(f"{target.relative_to(ROOT).as_posix()}: {'out of date' if arguments else 'written'}")
        if not arguments:
            target.write_text(text, encoding="utf-8")
    return stale if arguments else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
