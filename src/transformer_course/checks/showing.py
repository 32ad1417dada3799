"""Show something in the notebook: as HTML where a person looks, else as text.

Each request to run a cell says whether a person looks: a front end sets `allow_stdin` if it can ask somebody
for input (Jupyter's messaging protocol, "execute_request"). JupyterLab and editors do. What runs notebooks by
itself doesn't (nbclient, nbconvert, nbval, `transformer-course check`): its outputs are stored and compared,
and the text is the same each time.
"""

import sys
from collections.abc import Callable
from typing import Any


def somebody_looks() -> bool:
    """True in a cell of a notebook that was run by a front end with a person before it."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    kernel: Any = getattr(get_ipython(), "kernel", None)
    request: dict[str, Any] = kernel.get_parent() if kernel else {}
    return bool(request.get("content", {}).get("allow_stdin"))


def show(text: str, html: Callable[[], str]) -> None:
    """Print the text, or show the HTML with the text beside it for front ends that have none.

    Args:
        text: what is shown without HTML.
        html: makes the same for the eye and for screen readers.
    """
    if not somebody_looks():
        print(text)
        return
    from IPython.display import display

    display({"text/plain": text, "text/html": html()}, raw=True)  # type: ignore[no-untyped-call]
