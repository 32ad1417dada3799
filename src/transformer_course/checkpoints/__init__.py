"""Checkpoints (chapter 07): tensors and plain values in one safetensors file that no crash can spoil.

A file is written under a temporary name, synced to the disk and renamed; so under its own name there is always
a whole file (`checkpoints.files`). Nothing is pickled: values beside the tensors are JSON in the file's header
(`checkpoints.tensors`, `checkpoints.memory`). A run keeps several of them in its folder (`checkpoints.runs`).
"""

from transformer_course.checkpoints.files import (
    FORMAT,
    CheckpointError,
    check_format,
    read_json,
    read_sealed,
    replacing,
    write_atomically,
    write_json,
    write_sealed,
)
from transformer_course.checkpoints.memory import (
    load_optimizer,
    optimizer_tensors,
    random_state,
    set_random_state,
)
from transformer_course.checkpoints.parts import gathered, part_like, whole
from transformer_course.checkpoints.runs import (
    checkpoint_path,
    keep_only,
    list_checkpoints,
    load_checkpoint,
    read_checkpoint,
)
from transformer_course.checkpoints.tensors import (
    HasParameters,
    load_tensors,
    load_weights,
    loadable_weights,
    save_tensors,
    weights_of,
    with_prefix,
)

__all__ = [
    "FORMAT",
    "CheckpointError",
    "HasParameters",
    "check_format",
    "checkpoint_path",
    "gathered",
    "keep_only",
    "list_checkpoints",
    "load_checkpoint",
    "load_optimizer",
    "load_tensors",
    "load_weights",
    "loadable_weights",
    "optimizer_tensors",
    "part_like",
    "random_state",
    "read_checkpoint",
    "read_json",
    "read_sealed",
    "replacing",
    "save_tensors",
    "set_random_state",
    "weights_of",
    "whole",
    "with_prefix",
    "write_atomically",
    "write_json",
    "write_sealed",
]
