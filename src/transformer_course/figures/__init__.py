"""Every figure of the book: one palette, plots that are saved as pictures, and interactive figures.

Colours mean the same everywhere: queries blue, keys orange, values green, positions purple, what a mask hides
grey and hatched. Plots are drawn on white and return a matplotlib `Figure`; a notebook shows it as the last
expression of a cell. Needs the extra `figures`: `pip install ".[figures]"` in the folder of the course.
"""

from transformer_course.figures.attention import front_page, kernel_fits, scaling_curves
from transformer_course.figures.attention_plane import AttentionPlane
from transformer_course.figures.beam_explorer import BeamExplorer
from transformer_course.figures.beam_flow import beam_flow
from transformer_course.figures.components import component_curves, component_losses
from transformer_course.figures.context_explorer import ContextExplorer
from transformer_course.figures.decoding import (
    cache_grids,
    ratio_by_length,
    scores_by_beam,
    search_tree,
)
from transformer_course.figures.encoder_decoder import (
    loss_valleys,
    parameter_bars,
    stack_losses,
    sub_layers,
)
from transformer_course.figures.families import (
    bars_with_seeds,
    four_masks,
    learning_from_labels,
)
from transformer_course.figures.family_flow import family_flow
from transformer_course.figures.family_images import patches_of, written_digits
from transformer_course.figures.family_masks import FamilyMasks
from transformer_course.figures.head_explorer import HeadExplorer
from transformer_course.figures.inspecting import patching_flow
from transformer_course.figures.inspector import Inspector
from transformer_course.figures.layer_flow import feed_forward_flow
from transformer_course.figures.long_context import (
    accuracy_by_distance,
    attention_patterns,
    loss_by_position,
    time_and_memory,
)
from transformer_course.figures.long_context_flow import running_softmax_flow, segment_flow
from transformer_course.figures.look_back import look_back_flow
from transformer_course.figures.loss import (
    distribution_bars,
    distribution_grids,
    pull_curves,
    reliability_diagrams,
    smoothing_dots,
    surprise_curve,
)
from transformer_course.figures.loss_explorer import LossExplorer
from transformer_course.figures.loss_flow import loss_flow
from transformer_course.figures.mask_explorer import MaskExplorer
from transformer_course.figures.mask_flow import mask_flow
from transformer_course.figures.masking import exam_bars, mask_grids
from transformer_course.figures.mechanism import attention_flow
from transformer_course.figures.model_map import ModelMap
from transformer_course.figures.multi30k import (
    bleu_by_updates,
    bleu_by_words,
    paired_differences,
    reading_map,
    redraw_flow,
    redrawn_histograms,
)
from transformer_course.figures.multi_head import (
    head_curves,
    head_links,
    head_maps,
    head_removals,
    reshape_grids,
)
from transformer_course.figures.multi_head_flow import multi_head_flow
from transformer_course.figures.non_autoregressive import (
    fertility_copies,
    pass_strip,
    quality_and_time,
)
from transformer_course.figures.palette import (
    HEADS,
    KEY,
    MASK,
    POSITION,
    QUERY,
    VALUE,
    WEIGHTS,
)
from transformer_course.figures.pass_explorer import PassExplorer
from transformer_course.figures.plots import learning_curves, weight_map
from transformer_course.figures.position_explorer import PositionExplorer
from transformer_course.figures.positional_encoding import (
    position_map,
    position_products,
    position_waves,
    score_grid,
)
from transformer_course.figures.positional_encoding_flow import position_flow
from transformer_course.figures.rate_explorer import RateExplorer
from transformer_course.figures.redraw_explorer import RedrawExplorer
from transformer_course.figures.ring_explorer import RingExplorer
from transformer_course.figures.sampling_explorer import SamplingExplorer
from transformer_course.figures.scaling import law_and_prediction, ring_flow
from transformer_course.figures.self_attention import (
    projections,
    scores_by_layers,
    where_they_come_from,
    word_focus,
)
from transformer_course.figures.self_attention_flow import same_step, self_attention_flow
from transformer_course.figures.self_attention_steps import SelfAttentionSteps
from transformer_course.figures.seq2seq import (
    accuracy_by_length,
    curves_by_length,
    one_vector_or_all,
    shares_by_kind,
)
from transformer_course.figures.source import Source
from transformer_course.figures.training import (
    loss_curves,
    norm_bars,
    padded_batches,
    rate_curves,
    shift_picture,
)
from transformer_course.figures.training_flow import training_flow
from transformer_course.figures.vectors import key_planes, score_fields
from transformer_course.figures.word_paths import WordPaths

__all__ = [
    "HEADS",
    "KEY",
    "MASK",
    "POSITION",
    "QUERY",
    "VALUE",
    "WEIGHTS",
    "AttentionPlane",
    "BeamExplorer",
    "ContextExplorer",
    "FamilyMasks",
    "HeadExplorer",
    "Inspector",
    "LossExplorer",
    "MaskExplorer",
    "ModelMap",
    "PassExplorer",
    "PositionExplorer",
    "RateExplorer",
    "RedrawExplorer",
    "RingExplorer",
    "SamplingExplorer",
    "SelfAttentionSteps",
    "Source",
    "WordPaths",
    "accuracy_by_distance",
    "accuracy_by_length",
    "attention_flow",
    "attention_patterns",
    "bars_with_seeds",
    "beam_flow",
    "bleu_by_updates",
    "bleu_by_words",
    "cache_grids",
    "component_curves",
    "component_losses",
    "curves_by_length",
    "distribution_bars",
    "distribution_grids",
    "exam_bars",
    "family_flow",
    "feed_forward_flow",
    "fertility_copies",
    "four_masks",
    "front_page",
    "head_curves",
    "head_links",
    "head_maps",
    "head_removals",
    "kernel_fits",
    "key_planes",
    "law_and_prediction",
    "learning_curves",
    "learning_from_labels",
    "look_back_flow",
    "loss_by_position",
    "loss_curves",
    "loss_flow",
    "loss_valleys",
    "mask_flow",
    "mask_grids",
    "multi_head_flow",
    "norm_bars",
    "one_vector_or_all",
    "padded_batches",
    "paired_differences",
    "parameter_bars",
    "pass_strip",
    "patches_of",
    "patching_flow",
    "position_flow",
    "position_map",
    "position_products",
    "position_waves",
    "projections",
    "pull_curves",
    "quality_and_time",
    "rate_curves",
    "ratio_by_length",
    "reading_map",
    "redraw_flow",
    "redrawn_histograms",
    "reliability_diagrams",
    "reshape_grids",
    "ring_flow",
    "running_softmax_flow",
    "same_step",
    "scaling_curves",
    "score_fields",
    "score_grid",
    "scores_by_beam",
    "scores_by_layers",
    "search_tree",
    "segment_flow",
    "self_attention_flow",
    "shares_by_kind",
    "shift_picture",
    "smoothing_dots",
    "stack_losses",
    "sub_layers",
    "surprise_curve",
    "time_and_memory",
    "training_flow",
    "weight_map",
    "where_they_come_from",
    "word_focus",
    "written_digits",
]
