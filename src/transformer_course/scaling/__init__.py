"""Scaling out: what a training costs, and what changes with many processes (chapter 14).

`counting` has the arithmetic of a step, `ring` the sum over processes, `failures` how often to save, `laws` how
the loss falls with size. How the package itself trains on processes is in `training`, data beyond memory in
`corpus.prepare` and `corpus.shards`, serving in `export` and `serve`.
"""

from transformer_course.scaling.counting import (
    Memory,
    forward_flops,
    rule_of_thumb,
    saved_bytes,
    training_flops,
    training_memory,
    utilisation,
)
from transformer_course.scaling.failures import checkpoint_interval, failures_a_day, lost_share
from transformer_course.scaling.laws import PowerLaw, fit_power_law
from transformer_course.scaling.ring import RingState, ring_all_reduce, ring_steps

__all__ = [
    "Memory",
    "PowerLaw",
    "RingState",
    "checkpoint_interval",
    "failures_a_day",
    "fit_power_law",
    "forward_flops",
    "lost_share",
    "ring_all_reduce",
    "ring_steps",
    "rule_of_thumb",
    "saved_bytes",
    "training_flops",
    "training_memory",
    "utilisation",
]
