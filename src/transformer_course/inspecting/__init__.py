"""Looking inside a trained model (chapter 10): what heads see, what layers know, what causes an answer.

`watching` records and patches activations; `heads` reads attention maps, as patterns and as alignments;
`causes` asks what an answer depends on; `layers` reads what the layers' vectors hold; `induction` has the
smallest model that copies what followed before. All of it works on models with attention layers, by the names
of their modules.
"""

from transformer_course.inspecting.causes import (
    changed_attention,
    equal_weights,
    gradient_times_input,
    kendall_tau,
    leave_one_out,
    patching_map,
)
from transformer_course.inspecting.heads import (
    READINGS,
    alignment_error_rate,
    pattern_scores,
    rollout,
    value_norms,
    word_links,
    word_weights,
)
from transformer_course.inspecting.induction import AttentionOnly, copy_accuracy, repeated
from transformer_course.inspecting.layers import Probe, control_labels, logit_lens, train_probe
from transformer_course.inspecting.watching import layer_names, patched, recorded, watching

__all__ = [
    "READINGS",
    "AttentionOnly",
    "Probe",
    "alignment_error_rate",
    "changed_attention",
    "control_labels",
    "copy_accuracy",
    "equal_weights",
    "gradient_times_input",
    "kendall_tau",
    "layer_names",
    "leave_one_out",
    "logit_lens",
    "patched",
    "patching_map",
    "pattern_scores",
    "recorded",
    "repeated",
    "rollout",
    "train_probe",
    "value_norms",
    "watching",
    "word_links",
    "word_weights",
]
