"""Processes made by forking compute on one thread (chapter 09).

Torch computes on several threads with OpenMP, whose threads a fork doesn't copy: a child waits for them
for ever. The workers of `torch.utils.data.DataLoader` go down to one thread for the same reason. Importing this
module is enough.
"""

import os

import torch


def one_thread() -> None:
    """Compute on the thread that calls this, and on no other."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):  # there is no forking on Windows
    os.register_at_fork(after_in_child=one_thread)
