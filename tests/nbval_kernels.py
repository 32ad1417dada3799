"""A plugin of pytest: kernels of nbval talk through files, not through ports that another program can take.

jupyter_client picks five free ports, lets them go, and hands the numbers to the kernel. If another program
takes one in between, the kernel dies at its start. Two notebooks at a time, beside a browser, can do that.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any
from uuid import uuid4

import nbval.kernel
from jupyter_client.manager import KernelManager

FOLDER = tempfile.TemporaryDirectory(prefix="nbval-")


def with_files(**options: Any) -> KernelManager:
    """A manager of one kernel whose channels are files in a folder of this run."""
    address = str(Path(FOLDER.name) / uuid4().hex[:8])
    return KernelManager(transport="ipc", ip=address, **options)


if sys.platform != "win32":
    nbval.kernel.KernelManager = with_files
