"""Planted faults: break the package on purpose and see that its tests notice.

    python tools/mutants.py [CHAPTER ...]      all chapters, or the named ones ("attention", "masking", …)

Each mutant changes one place in a copy of the package and runs the one test, or the chapter's notebook, that
must fail for it. A mutant that survives is a hole in the tests; the command then fails.
"""

import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "transformer_course"
AT_ONCE = 2
SECONDS = 240  # for one test; the slowest takes a few
# Where the system can, a process starts as a copy of one that has imported the large libraries.
PROCESSES: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
if hasattr(os, "fork"):
    PROCESSES.set_forkserver_preload(["torch", "hypothesis", "pytest", "sacrebleu", "tokenizers"])


@dataclass(frozen=True)
class Mutant:
    """One planted fault.

    Args:
        fault: what is wrong, in a few words.
        module: the module that is changed.
        old: text that occurs exactly once in it.
        new: text that takes its place.
        chapter: stem of the chapter whose tests must notice.
        test: name of the test that must fail, or path of a notebook whose own assertions must.
    """

    fault: str
    module: str
    old: str
    new: str
    chapter: str
    test: str

    @property
    def test_file(self) -> Path:
        """Where its test stands."""
        return ROOT / (self.test if self.is_notebook else f"tests/test_{self.chapter}.py")

    @property
    def is_notebook(self) -> bool:
        """Whether a notebook must notice."""
        return self.test.endswith(".ipynb")

    @property
    def node(self) -> str:
        """Its test as pytest calls it."""
        return str(self.test_file) + ("" if self.is_notebook else f"::{self.test}")


def _of(module: str, chapter: str, *rows: tuple[str, str, str, str]) -> list[Mutant]:
    return [Mutant(fault, module, old, new, chapter, test) for fault, old, new, test in rows]


MUTANTS = [
    *_of(
        "attention",
        "attention",
        (
            "scale dropped",
            "(queries / math.sqrt(queries.shape[-1]))",
            "queries",
            "test_equals_torch_with_gradients",
        ),
        (
            "scaled by d_k, not by its root",
            "math.sqrt(queries.shape[-1])",
            "queries.shape[-1]",
            "test_scaled_scores_keep_variance_one",
        ),
        (
            "mask inverted",
            "scores.masked_fill(~mask, torch.finfo(scores.dtype).min)",
            "scores.masked_fill(mask, torch.finfo(scores.dtype).min)",
            "test_weights_are_positive_and_sum_to_one",
        ),
        (
            "softmax over the queries",
            "weights = softmax(scores, mask)",
            "weights = softmax(scores, mask, -2)",
            "test_equals_the_equation_written_with_loops",
        ),
        (
            "query without a key sees everything",
            "return weights.masked_fill(~mask.any(dim, keepdim=True), 0.0)",
            "return weights",
            "test_query_without_any_key_gets_zeros_and_finite_gradients",
        ),
        (
            "masked scores set to 0",
            "torch.finfo(scores.dtype).min",
            "0.0",
            "test_a_masked_key_and_its_value_change_nothing",
        ),
        (
            "mask of few dimensions put on the first ones",
            "mask[(None,) * (scores.dim() - mask.dim())]",
            "mask[(..., *(None,) * (scores.dim() - mask.dim()))]",
            "test_softmax_along_any_dimension",
        ),
        (
            "additive attention without tanh",
            "torch.tanh(",
            "torch.relu(",
            "test_additive_attention_equals_its_equation",
        ),
        (
            "masks of any type accepted",
            "if mask.dtype != torch.bool:",
            "if False:",
            "test_refuses_a_mask_of_another_type",
        ),
    ),
    *_of(
        "self_attention",
        "self_attention",
        (
            "keys and values swapped",
            "self.w_query(x), self.w_key(source), self.w_value(source), mask",
            "self.w_query(x), self.w_value(source), self.w_key(source), mask",
            "test_equals_torch_with_gradients",
        ),
        (
            "one projection for queries and keys",
            "self.w_query(x), self.w_key(source)",
            "self.w_key(x), self.w_key(source)",
            "test_three_projections_of_their_own_and_no_bias",
        ),
        (
            "queries from the memory",
            "self.w_query(x)",
            "self.w_query(source)",
            "test_shuffling_the_memory_changes_nothing",
        ),
        (
            "memory ignored",
            "source = x if memory is None else memory",
            "source = x",
            "test_equals_torch_with_gradients",
        ),
        (
            "mask dropped",
            "self.w_value(source), mask",
            "self.w_value(source)",
            "test_mask_decides_who_is_seen",
        ),
        (
            "d_v ignored",
            "d_k if d_v is None else d_v",
            "d_k",
            "test_widths_of_keys_and_values_are_free",
        ),
        (
            "projection with a bias",
            "self.w_key = nn.Linear(d_model, d_k, bias=False)",
            "self.w_key = nn.Linear(d_model, d_k)",
            "test_three_projections_of_their_own_and_no_bias",
        ),
    ),
    *_of(
        "masking",
        "masking",
        (
            "diagonal hidden",
            ".tril()[None, None]",
            ".tril(-1)[None, None]",
            "test_causal_mask_shows_a_position_itself_and_the_past",
        ),
        (
            "one future token shown",
            ".tril()[None, None]",
            ".tril(1)[None, None]",
            "test_future_never_changes_the_past",
        ),
        (
            "lower triangle hidden",
            ".tril()[None, None]",
            ".triu()[None, None]",
            "test_no_gradient_flows_from_the_past_to_the_future",
        ),
        (
            "padding mask inverted",
            "(ids != pad_id)",
            "(ids == pad_id)",
            "test_padding_mask_shows_what_is_real",
        ),
        (
            "pad_id ignored",
            "(ids != pad_id)",
            "(ids != 0)",
            "test_padding_mask_shows_what_is_real",
        ),
        (
            "query rows hidden instead of key columns",
            "[:, None, None, :]",
            "[:, None, :, None]",
            "test_padded_batch_gives_what_its_sentences_give_alone",
        ),
        (
            "causal OR padding",
            "return padding & causal_mask",
            "return padding | causal_mask",
            "test_decoder_mask_is_causal_and_padding",
        ),
        (
            "decoder's padding shown",
            "return padding & causal_mask",
            "return causal_mask",
            "test_decoder_mask_is_causal_and_padding",
        ),
        (
            "the current token counted as a leak",
            "if s > t]",
            "if s >= t]",
            "test_the_decoder_of_the_package_does_not_leak",
        ),
        (
            "changed tokens not put back",
            "changed = ids.clone()",
            "changed = ids",
            "test_the_model_is_left_as_it_was",
        ),
        (
            "leaks of the first sentence only",
            "table = depends.any(0).T",
            "table = depends[0].T",
            "test_a_leak_in_one_sentence_is_enough",
        ),
        (
            "NaN taken for no change",
            "return _any(~close)",
            "return _any(~close & ~after.isnan())",
            "test_infinite_logits_are_no_leak_and_a_new_nan_is_one",
        ),
        (
            "gradient of the plain sum",
            "torch.randn(outputs.shape, generator=generator).to(outputs)",
            "torch.ones(outputs.shape).to(outputs)",
            "test_a_normalised_output_hides_no_gradient",
        ),
        (
            "small gradients overlooked",
            "_any(gradient != 0)",
            "_any(gradient.abs() > 1e-6)",
            "test_only_the_gradient_finds_a_leak_as_small_as_rounding",
        ),
        (
            "dropout taken for a leak",
            "if _moved(_outputs(model(ids), ids), before, tolerance).any():",
            "if False:",
            "test_models_that_tell_nothing_are_refused",
        ),
        (
            "a blind model passes",
            "if not depends.any():",
            "if False:",
            "test_models_that_tell_nothing_are_refused",
        ),
        (
            "diagonal hidden, seen by the notebook",
            ".tril()[None, None]",
            ".tril(-1)[None, None]",
            "chapters/03_masking.ipynb",
        ),
        (
            "causal OR padding, seen by the notebook",
            "return padding & causal_mask",
            "return padding | causal_mask",
            "chapters/03_masking.ipynb",
        ),
        (
            "query rows hidden, seen by the notebook",
            "[:, None, None, :]",
            "[:, None, :, None]",
            "chapters/03_masking.ipynb",
        ),
        (
            "a leak found only at the next token, seen by the notebook",
            "if s > t]",
            "if s == t + 1]",
            "chapters/03_masking.ipynb",
        ),
    ),
    *_of(
        "attention",
        "masking",
        (
            "a row that sees nothing sees all, seen by the notebook",
            "return weights.masked_fill(~mask.any(dim, keepdim=True), 0.0)",
            "return weights",
            "chapters/03_masking.ipynb",
        ),
    ),
    *_of(
        "figures/masking",
        "figures_masking",
        (
            "mask inverted in the grid",
            "elif mask[row, column]:",
            "elif not mask[row, column]:",
            "test_mask_grids_hatches_what_is_hidden",
        ),
        (
            "rows and columns exchanged",
            "hatched(axes, column, row)",
            "hatched(axes, row, column)",
            "test_mask_grids_hatches_what_is_hidden",
        ),
        (
            "leaks marked only where the mask is open",
            "if (row, column) in leaks:",
            "if (row, column) in leaks and mask[row, column]:",
            "test_mask_grids_marks_leaks_wherever_they_are",
        ),
        (
            "the same bar twice",
            "axes.bar(place := 2.4 * i + j, value,",
            "axes.bar(place := 2.4 * i + j, values[0],",
            "test_exam_bars_are_as_high_as_the_scores",
        ),
    ),
    *_of(
        "figures/mask_explorer",
        "figures_masking",
        (
            "queries and keys exchanged in the state",
            "for vector in pair] for",
            "for vector in pair[::-1]] for",
            "test_the_explorer_keeps_its_state_and_a_fixed_text",
        ),
        (
            "sources for targets",
            "targets=[list(words) for words in TARGETS]",
            "targets=[list(words) for words in SOURCES]",
            "test_the_explorer_keeps_its_state_and_a_fixed_text",
        ),
    ),
    *_of(
        "seq2seq",
        "seq2seq",
        (
            "the bottleneck keeps one direction only",
            "torch.cat([last[-2], last[-1]], -1)",
            "torch.cat([last[-2], last[-2]], -1)",
            "test_one_vector_holds_the_last_states_of_both_directions",
        ),
        (
            "one look for all target words",
            "self.attend(state[-1][:, None], memory, memory, mask)",
            "self.attend(cache.states[-1][:, None], memory, memory, mask)",
            "test_recurrent_decoder_is_bahdanaus_equations",
        ),
        (
            "the look back ignores the mask",
            "self.attend(state[-1][:, None], memory, memory, mask)",
            "self.attend(state[-1][:, None], memory, memory)",
            "test_alignment_rows_sum_to_one_and_leave_padding_out",
        ),
        (
            "the state isn't kept for the next step",
            "cache.states = list(state)",
            "pass",
            "test_step_by_step_equals_all_at_once",
        ),
        (
            "padding is read",
            "enforce_sorted=False)\n        states, last = self.encoder(packed)",
            "enforce_sorted=False)\n        states, last = self.encoder(x)",
            "test_padding_changes_nothing",
        ),
        (
            "convolutions of the encoder read what stands on padding",
            "self.norm(x).masked_fill(hidden, 0.0)",
            "self.norm(x)",
            "test_padding_changes_nothing",
        ),
        (
            "convolutions of the decoder see the future",
            "causal=True) for",
            "causal=False) for",
            "test_the_future_changes_nothing_and_the_past_does",
        ),
        (
            "gates and values of the convolution exchanged",
            "self.convolution(y.transpose(1, 2)), 1",
            "self.convolution(y.transpose(1, 2)).roll(y.shape[-1], 1), 1",
            "test_gated_convolution_against_loops",
        ),
        (
            "self-attention counted without projections",
            "4 * n * d_model**2 + 2 * n**2 * d_model",
            "2 * n**2 * d_model",
            "test_costs_of_layers",
        ),
        (
            "the receptive field grows by the whole width",
            "1 + n_layers * (kernel_size - 1)",
            "1 + n_layers * kernel_size",
            "test_receptive_field_is_what_a_gradient_finds",
        ),
        (
            "beams accepted and mixed up",
            "if beams != 1:",
            "if beams < 1:",
            "test_loss_trainer_search_and_translator_work_with_the_model",
        ),
        (
            "the look back ignores the decoder, seen by the notebook",
            "self.attend(state[-1][:, None], memory, memory, mask)",
            "self.attend(0 * state[-1][:, None], memory, memory, mask)",
            "chapters/00_seq2seq.ipynb",
        ),
        (
            "a GRU counted as an LSTM, seen by the notebook",
            "LayerCost(2 * maps * n * d_model**2, n, n)",
            "LayerCost(2 * 4 * n * d_model**2, n, n)",
            "chapters/00_seq2seq.ipynb",
        ),
    ),
    *_of(
        "figures/seq2seq",
        "seq2seq_figures",
        (
            "all lines of a look equally thick",
            '"lw": 0.5 + 5 * weight',
            '"lw": 0.5',
            "test_one_vector_or_all_draws_every_word_twice_and_a_line_for_each_weight",
        ),
        (
            "the first seed drawn as the mean",
            "sum(column) / len(column)",
            "column[0]",
            "test_accuracy_by_length_draws_means_and_a_dot_for_each_seed",
        ),
    ),
    *_of(
        "figures/word_paths",
        "seq2seq_figures",
        (
            "a word beyond the sentence accepted",
            "if not 1 <= word <= n:",
            "if not 1 <= word:",
            "test_word_paths_refuses_what_there_is_not",
        ),
    ),
    *_of(
        "multi_head",
        "multi_head",
        (
            "head axes not swapped: tokens are mixed",
            "x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)",
            "x.view(x.shape[0], self.n_heads, x.shape[1], -1)",
            "test_split_heads_gives_each_head_its_neighbouring_columns",
        ),
        (
            "heads take every n-th column",
            "x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)",
            "x.view(*x.shape[:2], -1, self.n_heads).permute(0, 3, 1, 2)",
            "test_equals_heads_one_by_one",
        ),
        (
            "heads concatenated in a wrong order",
            "heads.transpose(1, 2).flatten(-2)",
            "heads.permute(0, 2, 3, 1).flatten(-2)",
            "test_equals_torch_with_gradients",
        ),
        (
            "no output projection",
            "return self.w_output(concatenated), weights",
            "return concatenated, weights",
            "test_equals_torch_with_gradients",
        ),
        (
            "values by the keys' matrix",
            "self.split_heads(self.w_value(values))",
            "self.split_heads(self.w_key(values))",
            "test_equals_torch_in_self_attention_with_padding",
        ),
        (
            "mask dropped",
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q, k, v)",
            "test_query_without_any_key_gets_the_bias_and_finite_gradients",
        ),
        (
            "cache one too short",
            "cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]",
            "cache.keys[:, :, : cache.length - 1], cache.values[:, :, : cache.length - 1]",
            "test_cached_equals_uncached",
        ),
        (
            "cache overwrites its start",
            "self.keys[:, :, self.length : end] = keys",
            "self.keys[:, :, : keys.shape[2]] = keys",
            "test_cached_equals_uncached",
        ),
        (
            "rows of the values not selected",
            "KeyValueCache(self.keys[rows], self.values[rows], self.length)",
            "KeyValueCache(self.keys[rows], self.values[: len(rows)], self.length)",
            "test_cache_of_some_sentences",
        ),
    ),
    *_of(
        "positional_encoding",
        "positional_encoding",
        (
            "sine and cosine swapped",
            "(angles.sin(), angles.cos())",
            "(angles.cos(), angles.sin())",
            "test_equals_the_formula",
        ),
        (
            "positions count from 1",
            "torch.arange(length, dtype=torch.float64)[:, None]",
            "torch.arange(1, length + 1, dtype=torch.float64)[:, None]",
            "test_equals_the_formula",
        ),
        (
            "exponent half as large",
            "torch.arange(0, d_model, 2, dtype=torch.float64) / d_model",
            "torch.arange(0, d_model // 2, dtype=torch.float64) / d_model",
            "test_equals_the_formula",
        ),
        (
            "cosine with the exponent of its own column",
            "angles.cos())",
            "(positions / base ** (exponents + 1 / d_model)).cos())",
            "test_a_step_is_a_rotation_whose_entries_are_the_step_s_own_encoding",
        ),
        (
            "layouts exchanged",
            'if layout == "interleaved" else',
            'if layout != "interleaved" else',
            "test_layouts_are_permutations_of_each_other",
        ),
        (
            "exponents in half precision",
            "torch.arange(0, d_model, 2, dtype=torch.float64)",
            "torch.arange(0, d_model, 2, dtype=torch.float32).half()",
            "test_far_positions_keep_their_digits",
        ),
        (
            "start ignored",
            "self.table[start:end]",
            "self.table[: end - start]",
            "test_adds_the_table",
        ),
        (
            "rivals at positions of their own",
            "rows.repeat_interleave(step, 0)",
            "rows.repeat(step, 1)",
            "test_rivals_share_a_position",
        ),
        (
            "multiplied instead of added",
            "return x + (rows",
            "return x * (rows",
            "test_adds_the_table",
        ),
    ),
    *_of(
        "encoder_decoder",
        "encoder_decoder",
        (
            "fresh tables in the order of a set",
            "for weight in dict.fromkeys(tables):",
            "for weight in set(tables):",
            "test_a_seed_draws_the_tables_in_one_order",
        ),
        (
            "embeddings without √d_model",
            "table(ids) * math.sqrt(self.config.d_model)",
            "table(ids)",
            "test_model_equals_torch_with_gradients",
        ),
        (
            "residual missing in pre-norm",
            "return x + self.dropout(sublayer(self.norm(x)))",
            "return self.dropout(sublayer(self.norm(x)))",
            "test_encoder_layer_equals_torch_with_gradients",
        ),
        (
            "norm inside the post-norm residual",
            "return self.norm(x + self.dropout(sublayer(x)))",
            "return x + self.norm(self.dropout(sublayer(x)))",
            "test_residual_adds_and_drops_out_only_in_training",
        ),
        (
            "dropout keeps what it should drop",
            "drawn >= round",
            "drawn < round",
            "test_dropout_keeps_the_mean_and_has_the_gradient_of_what_it_kept",
        ),
        (
            "what dropout keeps isn't made larger",
            "kept.mul_(1 / (1 - self.p))",
            "kept",
            "test_dropout_keeps_the_mean_and_has_the_gradient_of_what_it_kept",
        ),
        (
            "eps outside the root",
            "(variance + eps).sqrt()",
            "(variance.sqrt() + eps)",
            "test_layer_norm_equals_torch",
        ),
        (
            "unbiased variance",
            "unbiased=False",
            "unbiased=True",
            "test_layer_norm_equals_torch",
        ),
        (
            "feed-forward without ReLU",
            "self.outer(torch.relu_(self.inner(x)))",
            "self.outer(self.inner(x))",
            "test_feed_forward_treats_each_position_by_itself",
        ),
        (
            "cross-attention reads the target",
            "self.cross_attention(y, memory, memory, src_mask, cross_cache)",
            "self.cross_attention(y, y, y, None, cross_cache)",
            "test_decoder_layer_equals_torch_with_gradients",
        ),
        (
            "no norm on top of the pre-norm encoder",
            "self.encoder_norm = LayerNorm(config.d_model) if pre else nn.Identity()",
            "self.encoder_norm = nn.Identity()",
            "test_model_equals_torch_with_gradients",
        ),
        (
            "output matrix not tied",
            "self.output.weight = self.src_embedding.weight",
            "pass",
            "test_tied_embeddings_are_one_matrix",
        ),
        (
            "cached positions start at 0 each step",
            "start // beams, beams)",
            "0, beams)",
            "test_cached_equals_uncached_to_the_last_token",
        ),
        (
            "mask of several cached tokens off by one",
            "[:, :, cache.length :]",
            "[:, :, cache.length - 1 : -1]",
            "test_cached_equals_uncached_to_the_last_token",
        ),
        (
            "rivals counted as positions",
            "start // beams, beams)",
            "start, 1)",
            "test_cached_with_rival_tokens_equals_uncached",
        ),
    ),
    *_of(
        "loss",
        "loss",
        (
            "the decoder reads what it has to predict",
            "model.decode(tgt[:, :-1],",
            "model.decode(tgt[:, 1:],",
            "test_teacher_forcing_predicts_each_token_from_those_before_it",
        ),
        (
            "padding counted in the mean",
            "/ real.sum().clamp(min=1)",
            "/ real.numel()",
            "test_cross_entropy_equals_torch_with_gradients",
        ),
        (
            "padding not hidden",
            "losses.masked_fill(~real, 0.0).sum()",
            "losses.sum()",
            "test_padding_of_any_id_counts_for_nothing",
        ),
        (
            "smoothing spread over one id too few",
            "label_smoothing * log_probs.mean(-1)",
            "label_smoothing * log_probs.sum(-1) / (logits.shape[-1] - 1)",
            "test_cross_entropy_equals_torch_with_gradients",
        ),
        (
            "right id keeps all its weight",
            "(label_smoothing - 1) * log_probs.gather",
            "-1 * log_probs.gather",
            "test_cross_entropy_is_the_definition",
        ),
        (
            "floor without the right id's share of ε",
            "right = 1 - label_smoothing + rest",
            "right = 1 - label_smoothing",
            "test_the_syllabus_floor",
        ),
        (
            "log of softmax",
            "return torch.log_softmax(logits, -1)",
            "return torch.softmax(logits, -1).log()",
            "test_no_logarithm_of_zero",
        ),
        (
            "divergence the other way round",
            "torch.xlogy(p, p) - torch.xlogy(p, q)",
            "torch.xlogy(q, q) - torch.xlogy(q, p)",
            "test_kl_divergence_equals_torch_and_is_no_distance",
        ),
        (
            "0 log 0 is not 0",
            "(torch.xlogy(p, p) - torch.xlogy(p, q))",
            "(p * (p / q).log())",
            "test_kl_divergence_where_a_probability_is_zero",
        ),
        (
            "perplexity with base 2",
            "math.exp(mean_loss)",
            "2**mean_loss",
            "test_perplexity",
        ),
        (
            "half precision kept",
            "if logits.dtype in (torch.bfloat16, torch.float16):",
            "if False:",
            "test_half_precision_logits_give_a_loss_in_single_precision",
        ),
        (
            "mixed precision: smoothing only in the loss",
            "torch.lerp(right, mean, smoothing).neg_()",
            "right.neg()",
            "test_chunked_cross_entropy_under_autocast",
        ),
        (
            "mixed precision: smoothing only in the gradient",
            "loss = smoothing * (states * (right - mean)).sum()",
            "loss = 0 * states.sum()",
            "test_chunked_cross_entropy_under_autocast",
        ),
        (
            "mixed precision: wanted tokens not counted for the weights",
            "alpha=smoothing - 1)",
            "alpha=0.0)",
            "test_chunked_cross_entropy_under_autocast",
        ),
        (
            "mixed precision: a probability of 0",
            "clamp_min(1e-38)",
            "clamp_min(0)",
            "test_chunked_cross_entropy_under_autocast_of_an_impossible_token_is_finite",
        ),
    ),
    *_of(
        "decoding",
        "decoding",
        (
            "end of sentence ignored",
            "(last.flatten() != eos_id)",
            "(last.flatten() != -1)",
            "test_greedy_equals_uncached_greedy",
        ),
        (
            "length penalty without its 5",
            "return float(((5 + length) / 6)",
            "return float((length / 6)",
            "test_length_penalty",
        ),
        (
            "score multiplied by the penalty",
            "Hypothesis(grown[i, k, 1:].tolist(), log_prob, log_prob / penalty)",
            "Hypothesis(grown[i, k, 1:].tolist(), log_prob, log_prob * penalty)",
            "test_scores_equal_teacher_forcing",
        ),
        (
            "penalty counts <s>",
            "penalty = length_penalty(grown.shape[-1] - 1, alpha)",
            "penalty = length_penalty(grown.shape[-1], alpha)",
            "test_wide_beam_is_exact",
        ),
        (
            "top_p keeps one token too few",
            "before = probabilities.cumsum(-1) - probabilities",
            "before = probabilities.cumsum(-1)",
            "test_distribution_equals_its_definition",
        ),
        (
            "top_k keeps one too many",
            "probabilities[..., top_k:] = 0.0",
            "probabilities[..., top_k + 1 :] = 0.0",
            "test_samples_stay_among_the_most_probable",
        ),
        (
            "logits multiplied by the temperature",
            "(logits - logits.amax(-1, keepdim=True)) / temperature",
            "(logits - logits.amax(-1, keepdim=True)) * temperature",
            "test_temperature_in_the_limits",
        ),
        (
            "ancestry doesn't follow its beam",
            "_take(ancestry, parents)",
            "ancestry",
            "test_equals_a_plain_search",
        ),
        (
            "all beams branch at the first step",
            "scores = torch.full((batch, beam), -torch.inf, device=device)",
            "scores = torch.zeros((batch, beam), device=device)",
            "test_scores_equal_teacher_forcing",
        ),
        (
            "ends beyond the beam are collected",
            "ends[:, :beam].nonzero()",
            "ends.nonzero()",
            "test_equals_a_plain_search",
        ),
        (
            "stops at the first finished sentences",
            "    bound = best_open / length_penalty(max_len if alpha > 0 else length, alpha)",
            "    bound = -float('inf')",
            "test_equals_a_plain_search",
        ),
        (
            "width 1 goes on after its first </s>",
            "if beam == 1:",
            "if beam == 0:",
            "test_beam_1_equals_greedy",
        ),
        (
            "padding may be chosen",
            "_forbid(model.logits(states[:, -1]), model.config.pad_id, bos_id)",
            "_forbid(model.logits(states[:, -1]), bos_id)",
            "test_greedy_equals_uncached_greedy",
        ),
        (
            "worst hypotheses first",
            "sorted(found, key=lambda h: -h.score)",
            "sorted(found, key=lambda h: h.score)",
            "test_top_beams_are_the_first_of_all_beams",
        ),
        (
            "who leaves the batch takes another's cache",
            "rows, last = rows[index], last[index]\n"
            "            memory, src_mask, cache = memory[index], src_mask[index], cache.select(index)",
            "rows, last = rows[index], last[index]\n"
            "            memory, src_mask = memory[index], src_mask[index]\n"
            "            cache = cache.select(torch.arange(len(index)))",
            "test_batch_gives_what_its_sentences_give_alone",
        ),
    ),
    *_of(
        "training",
        "training",
        (
            "the epoch counter stands still",
            "self.epoch, self.position = self.epoch + 1, 0",
            "self.epoch, self.position = self.epoch, 0",
            "test_every_example_is_seen_once_an_epoch_in_ever_new_order",
        ),
        (
            "the same order in every epoch",
            "seed=self.config.seed * 100_003 + epoch",
            "seed=self.config.seed",
            "test_every_example_is_seen_once_an_epoch_in_ever_new_order",
        ),
        (
            "averaging adds up and doesn't divide",
            "{name: tensor / len(paths) for",
            "{name: tensor for",
            "test_averaging_is_the_mean",
        ),
        (
            "exponent of the warm-up wrong",
            "warmup_steps**-1.5",
            "warmup_steps**-1.0",
            "test_the_papers_rate",
        ),
        (
            "place in the epoch not restored",
            'values["epoch"], values["position"]',
            'values["epoch"], 0',
            "test_resuming_gives_the_undisturbed_run",
        ),
        (
            "random numbers not restored",
            'set_random_state(with_prefix(tensors, "random."), self.device)',
            "pass",
            "test_resuming_gives_the_undisturbed_run",
        ),
        (
            "Adam's memory not restored",
            'load_optimizer(self.optimizer, with_prefix(tensors, "optimizer."))',
            "pass",
            "test_resuming_gives_the_undisturbed_run",
        ),
        (
            "validation uses up random numbers",
            "torch.random.fork_rng(devices=cards), torch.inference_mode()",
            "torch.inference_mode()",
            "test_validation_does_not_disturb_the_random_numbers",
        ),
        (
            "gradient not clipped",
            "self.model.parameters(), self.config.clip_norm)",
            "self.model.parameters(), 1e9)",
            "test_one_update_is_adam_on_the_clipped_gradient",
        ),
        (
            "patience one too long",
            "0 < self.config.patience <= since_best",
            "0 < self.config.patience < since_best",
            "test_the_patience_case_does_stop_early_and_stays_stopped",
        ),
    ),
    *_of(
        "attention",
        "attention",
        (
            "scale dropped, seen by the notebook",
            "(queries / math.sqrt(queries.shape[-1]))",
            "queries",
            "chapters/01_attention.ipynb",
        ),
        (
            "softmax over the queries, seen by the notebook",
            "weights = softmax(scores, mask)",
            "weights = softmax(scores, mask, -2)",
            "chapters/01_attention.ipynb",
        ),
        (
            "scaled by d_v, seen by the notebook",
            "math.sqrt(queries.shape[-1])",
            "math.sqrt(values.shape[-1])",
            "chapters/01_attention.ipynb",
        ),
        (
            "scaled by d_k, seen by the notebook",
            "math.sqrt(queries.shape[-1])",
            "queries.shape[-1]",
            "chapters/01_attention.ipynb",
        ),
        (
            "additive attention without tanh, seen by the notebook",
            "torch.tanh(",
            "torch.relu(",
            "chapters/01_attention.ipynb",
        ),
    ),
    *_of(
        "figures/palette",
        "figures",
        (
            "queries orange",
            'QUERY = "#0072b2"',
            'QUERY = "#e69f00"',
            "test_a_colour_means_the_same_everywhere",
        ),
        (
            "figures stay open",
            "                plt.close(number)\n",
            "                pass\n",
            "test_a_plot_is_closed_and_leaves_the_readers_settings_alone",
        ),
    ),
    *_of(
        "figures/plots",
        "figures",
        (
            "mask inverted in the map",
            "bool(allowed[row, column]))",
            "not allowed[row, column])",
            "test_weight_map_shows_every_number_and_hatches_what_is_masked",
        ),
        (
            "rows and columns of the numbers swapped",
            "axes.text(column, row, f",
            "axes.text(row, column, f",
            "test_weight_map_shows_every_number_and_hatches_what_is_masked",
        ),
    ),
    *_of(
        "figures/attention",
        "figures",
        (
            "both curves the same",
            'axes.plot(widths, scaled[name], "o-", color=INK)',
            'axes.plot(widths, as_is[name], "o-", color=INK)',
            "test_scaling_curves_draws_both_curves_of_every_quantity",
        ),
    ),
    *_of(
        "figures/source",
        "figures",
        (
            "docstrings shown",
            "hidden |= set(range(start, end + 1))",
            "hidden |= set()",
            "test_source_is_the_file_without_docstrings",
        ),
    ),
    *_of(
        "figures/attention_plane",
        "figures",
        (
            "keys and values swapped in the state",
            "key_vectors=[list(key) for key in keys]",
            "key_vectors=[list(key) for key in values]",
            "test_widget_keeps_its_state_and_a_fixed_text",
        ),
    ),
    *_of(
        "self_attention",
        "self_attention",
        (
            "keys and values swapped, seen by the notebook",
            "self.w_query(x), self.w_key(source), self.w_value(source), mask",
            "self.w_query(x), self.w_value(source), self.w_key(source), mask",
            "chapters/02_self_attention.ipynb",
        ),
        (
            "one projection for queries and keys, seen by the notebook",
            "self.w_query(x), self.w_key(source)",
            "self.w_key(x), self.w_key(source)",
            "chapters/02_self_attention.ipynb",
        ),
        (
            "values not projected by their own matrix, seen by the notebook",
            "self.w_value(source), mask",
            "self.w_query(source), mask",
            "chapters/02_self_attention.ipynb",
        ),
        (
            "queries from the memory, seen by the notebook",
            "self.w_query(x)",
            "self.w_query(source)",
            "chapters/02_self_attention.ipynb",
        ),
        (
            "memory ignored, seen by the notebook",
            "source = x if memory is None else memory",
            "source = x",
            "chapters/02_self_attention.ipynb",
        ),
        (
            "mask dropped, seen by the notebook",
            "self.w_value(source), mask",
            "self.w_value(source)",
            "chapters/02_self_attention.ipynb",
        ),
    ),
    *_of(
        "figures/self_attention",
        "figures_self_attention",
        (
            "every word framed",
            "asks=place == asking",
            "asks=True",
            "test_word_focus_shades_by_weight_and_frames_who_asks",
        ),
        (
            "dark where the weight is small",
            "plt.get_cmap(WEIGHTS)(0.9 * weight)",
            "plt.get_cmap(WEIGHTS)(0.9 - 0.9 * weight)",
            "test_word_focus_shades_by_weight_and_frames_who_asks",
        ),
        (
            "long sentences run out of the picture",
            "if left + width > LINE_WIDTH:",
            "if False:",
            "test_word_focus_breaks_long_sentences_and_shows_every_word",
        ),
        (
            "keys and values drawn in each other's place",
            "for part in (x, queries, keys, values)]",
            "for part in (x, queries, values, keys)]",
            "test_projections_write_every_number_in_its_colour",
        ),
        (
            "cross-attention drawn with one source",
            "if asks == gives:",
            "if True:",
            "test_where_they_come_from_has_one_source_or_two",
        ),
        (
            "the best run drawn as the mean",
            "axes.barh(row, np.mean(shares)",
            "axes.barh(row, np.max(shares)",
            "test_scores_by_layers_draws_every_run_and_the_bound",
        ),
    ),
    *_of(
        "figures/self_attention_steps",
        "figures_self_attention",
        (
            "keys by the values' matrix in the state",
            "w_key=[list(row) for row in w_key]",
            "w_key=[list(row) for row in w_value]",
            "test_six_steps_keep_their_state_and_a_fixed_text",
        ),
        (
            "an eater that fits itself best",
            "W_KEY = ((1.0, 0.0), (0.0, 0.0), (0.0, 1.0)",
            "W_KEY = ((1.0, 0.0), (0.0, 0.0), (3.0, 1.0)",
            "test_six_steps_have_no_word_that_looks_most_at_itself",
        ),
        (
            "any word number taken",
            "if not 0 <= chosen < len(words):",
            "if False:",
            "test_six_steps_refuse_what_does_not_fit",
        ),
    ),
    *_of(
        "multi_head",
        "multi_head",
        (
            "head axes not swapped, seen by the notebook",
            "x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)",
            "x.view(x.shape[0], self.n_heads, x.shape[1], -1)",
            "chapters/04_multi_head.ipynb",
        ),
        (
            "heads concatenated in a wrong order, seen by the notebook",
            "heads.transpose(1, 2).flatten(-2)",
            "heads.permute(0, 2, 3, 1).flatten(-2)",
            "chapters/04_multi_head.ipynb",
        ),
        (
            "no output projection, seen by the notebook",
            "return self.w_output(concatenated), weights",
            "return concatenated, weights",
            "chapters/04_multi_head.ipynb",
        ),
        (
            "values by the keys' matrix, seen by the notebook",
            "self.split_heads(self.w_value(values))",
            "self.split_heads(self.w_key(values))",
            "chapters/04_multi_head.ipynb",
        ),
        (
            "mask dropped, seen by the notebook",
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q, k, v)",
            "chapters/04_multi_head.ipynb",
        ),
        (
            "weights of the first head only, seen by the notebook",
            "heads, weights = scaled_dot_product_attention(q, k, v, mask)",
            "heads, weights = scaled_dot_product_attention(q[:, :1], k, v, mask)",
            "chapters/04_multi_head.ipynb",
        ),
    ),
    *_of(
        "positional_encoding",
        "positional_encoding",
        (
            "positions counted from 1, seen by the notebook",
            "positions = torch.arange(length, dtype=torch.float64)[:, None]",
            "positions = torch.arange(1, length + 1, dtype=torch.float64)[:, None]",
            "chapters/05_positional_encoding.ipynb",
        ),
        (
            "exponent i / d, seen by the notebook",
            "torch.arange(0, d_model, 2, dtype=torch.float64) / d_model",
            "torch.arange(0, d_model, 2, dtype=torch.float64) / d_model / 2",
            "chapters/05_positional_encoding.ipynb",
        ),
        (
            "layouts exchanged, seen by the notebook",
            'if layout == "interleaved" else',
            'if layout == "concatenated" else',
            "chapters/05_positional_encoding.ipynb",
        ),
        (
            "start ignored, seen by the notebook",
            "rows = self.table[start:end]",
            "rows = self.table[: end - start]",
            "chapters/05_positional_encoding.ipynb",
        ),
        (
            "positions multiplied, seen by the notebook",
            "return x + (rows if",
            "return x * (rows if",
            "chapters/05_positional_encoding.ipynb",
        ),
        (
            "positions though none are wanted, seen by the notebook",
            "            return x\n",
            "            return x + torch.outer(*map(torch.arange, x.shape[1:]))\n",
            "chapters/05_positional_encoding.ipynb",
        ),
    ),
    *_of(
        "figures/positional_encoding",
        "positional_encoding_figures",
        (
            "position 0 at the bottom",
            'cmap=SIGNED, vmin=-1, vmax=1, aspect="auto",',
            'cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", origin="lower",',
            "test_position_map_draws_rows_downwards_and_marks_one",
        ),
        (
            "heights of the first wave written in each",
            'f"{values[place]:.2f}"',
            'f"{np.asarray(next(iter(waves.values())))[place]:.2f}"',
            "test_position_waves_draws_every_height_and_writes_the_marked_ones",
        ),
        (
            "rows and columns of the table exchanged",
            "share = float(grid[row, column])",
            "share = float(grid.T.reshape(grid.shape)[row, column])",
            "test_score_grid_writes_every_share_in_its_row_and_column",
        ),
    ),
    *_of(
        "figures/position_explorer",
        "positional_encoding_figures",
        (
            "a position beyond the length taken",
            '("position", position, 0, length - 1)',
            '("position", position, 0, length)',
            "test_explorer_refuses_what_the_sliders_cannot_show",
        ),
        (
            "offset stored for the dimension",
            "dimension=dimension,",
            "dimension=offset,",
            "test_explorer_keeps_its_state_and_a_fixed_text",
        ),
    ),
    *_of(
        "checks/positional_encoding/sinusoidal_encoding",
        "checks_notebooks",
        (
            "the task changed, the notebook of chapter 05 not",
            "Write the table of positions of the paper",
            "Write the table of places of the paper",
            "test_the_notebook_says_what_the_exercise_declares",
        ),
    ),
    *_of(
        "training",
        "training",
        (
            "no warm-up, seen by the notebook",
            "min(step**-0.5, step * warmup_steps**-1.5)",
            "step**-0.5",
            "chapters/07_training.ipynb",
        ),
        (
            "Adam with its usual memory, seen by the notebook",
            "betas=(0.9, 0.98), eps=1e-9, fused=True",
            "betas=(0.9, 0.999), eps=1e-9, fused=True",
            "chapters/07_training.ipynb",
        ),
        (
            "the cosine ends above 0, seen by the notebook",
            "peak_rate * 0.5 * (1 + math.cos(",
            "peak_rate * 0.5 * (1.1 + math.cos(",
            "chapters/07_training.ipynb",
        ),
        (
            "a rate that is one step late, seen by the notebook",
            'group["lr"] = self._rate(self.step + 1)',
            'group["lr"] = self._rate(max(1, self.step))',
            "chapters/07_training.ipynb",
        ),
        (
            "clipping left out, seen by the notebook",
            "self.model.parameters(), self.config.clip_norm)",
            "self.model.parameters(), 1e9)",
            "chapters/07_training.ipynb",
        ),
    ),
    *_of(
        "corpus/batches",
        "training",
        (
            "sentences in random order, seen by the notebook",
            "return np.lexsort((up_and_down, src_len))",
            "return np.arange(len(src_len))",
            "chapters/07_training.ipynb",
        ),
        (
            "no end mark behind a source, seen by the notebook",
            "[[*examples[i][0], EOS_ID] for i in indices]",
            "[[*examples[i][0]] for i in indices]",
            "chapters/07_training.ipynb",
        ),
    ),
    *_of(
        "figures/training",
        "training_figures",
        (
            "read and said exchanged",
            "read, said = target[:-1], target[1:]",
            "said, read = target[:-1], target[1:]",
            "test_shift_picture_stands_each_token_over_the_one_before_it",
        ),
        (
            "source and target padded to one width",
            "sides = [max(lengths) for lengths in zip(*batch, strict=True)]",
            "sides = [max(map(max, batch))] * 2",
            "test_padded_batches_have_a_square_for_each_position",
        ),
        (
            "only the first seed drawn",
            "for number, losses in enumerate(seeds):",
            "for number, losses in enumerate(seeds[:1]):",
            "test_loss_curves_have_a_line_for_each_seed_and_a_level",
        ),
        (
            "a bar where there is no gradient",
            "            if norm > 0:",
            "            if norm >= 0:",
            "test_norm_bars_say_none_where_there_is_no_gradient",
        ),
    ),
    *_of(
        "figures/rate_explorer",
        "training_figures",
        (
            "any warm-up taken",
            "if not FEWEST <= warmup_steps <= MOST:",
            "if False:",
            "test_the_explorer_refuses_what_it_cannot_draw",
        ),
        (
            "any schedule taken",
            'if schedule not in ("inverse_sqrt", "cosine"):',
            "if False:",
            "test_the_explorer_refuses_what_it_cannot_draw",
        ),
    ),
    *_of(
        "checks/training/clinic",
        "clinic",
        (
            "a leak is never found",
            "torch.allclose(losses[0], losses[1], atol=1e-5)",
            "torch.allclose(losses[0], losses[0], atol=1e-5)",
            "test_each_fault_shows_in_its_line",
        ),
        (
            "a batch that isn't learned passes",
            "losses[-1] < 0.15",
            "losses[-1] < 99",
            "test_each_fault_shows_in_its_line",
        ),
        (
            "a part without a gradient passes",
            "w.grad is not None and bool(w.grad.abs().max() > 0) for w in weights",
            "True for w in weights",
            "test_each_fault_shows_in_its_line",
        ),
    ),
    *_of(
        "checks/training/adam_step",
        "checks_answers",
        (
            "no correction of the start",
            "corrected: tuple[bool, bool] = (True, True)",
            "corrected: tuple[bool, bool] = (False, False)",
            "test_the_solution_passes",
        ),
    ),
    *_of(
        "checks/training/merge_places",
        "checks_answers",
        (
            "a symbol joined twice",
            "overlapping: bool = False",
            "overlapping: bool = True",
            "test_the_solution_passes",
        ),
    ),
    *_of(
        "loss",
        "loss",
        (
            "padding counted in the mean, seen by the notebook",
            "/ real.sum().clamp(min=1)",
            "/ real.numel()",
            "chapters/08_loss.ipynb",
        ),
        (
            "right id keeps all its weight, seen by the notebook",
            "(label_smoothing - 1) * log_probs.gather",
            "-1 * log_probs.gather",
            "chapters/08_loss.ipynb",
        ),
        (
            "log of softmax, seen by the notebook",
            "return torch.log_softmax(logits, -1)",
            "return torch.softmax(logits, -1).log()",
            "chapters/08_loss.ipynb",
        ),
        (
            "divergence the other way round, seen by the notebook",
            "torch.xlogy(p, p) - torch.xlogy(p, q)",
            "torch.xlogy(q, q) - torch.xlogy(q, p)",
            "chapters/08_loss.ipynb",
        ),
        (
            "floor without the right id's share of ε, seen by the notebook",
            "right = 1 - label_smoothing + rest",
            "right = 1 - label_smoothing",
            "chapters/08_loss.ipynb",
        ),
        (
            "perplexity with base 2, seen by the notebook",
            "math.exp(mean_loss)",
            "2**mean_loss",
            "chapters/08_loss.ipynb",
        ),
        (
            "the decoder reads what it has to predict, seen by the notebook",
            "model.decode(tgt[:, :-1],",
            "model.decode(tgt[:, 1:],",
            "chapters/08_loss.ipynb",
        ),
    ),
    *_of(
        "figures/loss",
        "loss_figures",
        (
            "every square framed as the right word",
            "right = rows[row] == columns[column]",
            "right = True",
            "test_distribution_grids_frame_the_right_word_of_each_row",
        ),
        (
            "bins with few tokens drawn too",
            "kept = found[:, 0] >= least",
            "kept = found[:, 0] >= 0",
            "test_reliability_diagrams_show_bins_that_have_enough_tokens",
        ),
        (
            "confidence and share that is right exchanged",
            "_, sure, right = found[kept].T",
            "_, right, sure = found[kept].T",
            "test_reliability_diagrams_show_bins_that_have_enough_tokens",
        ),
        (
            "all marks of a group at one height",
            "height = row + 0.26 * (place - (len(models) - 1) / 2)",
            "height = row",
            "test_smoothing_dots_have_a_mark_for_each_seed",
        ),
    ),
    *_of(
        "figures/decoding",
        "decoding_figures",
        (
            "only kept beginnings drawn plainly, the winner not",
            "wins = best[: len(beginning)] == beginning",
            "wins = False",
            "test_a_search_tree_has_a_box_for_each_beginning",
        ),
        (
            "edges start at the start",
            "from_x, from_y = places[beginning[:-1]]",
            "from_x, from_y = places[()]",
            "test_edges_of_a_search_tree_lead_from_beginning_to_beginning",
        ),
        (
            "a cache that computes everything again",
            'fresh = position == step or title.startswith("without")',
            "fresh = True",
            "test_cache_grids_mark_what_is_computed",
        ),
        (
            "a sum in the place of the mean over the seeds",
            "np.mean(seeds, axis=0), dashes",
            "np.sum(seeds, axis=0), dashes",
            "test_scores_by_beam_have_a_mark_for_each_seed",
        ),
        (
            "the fastest seed in the place of the median",
            "middle = np.median(",
            "middle = np.min(",
            "test_seconds_by_length_draw_the_median_of_the_seeds",
        ),
    ),
    *_of(
        "figures/beam_explorer",
        "decoding_figures",
        (
            "any beam taken",
            "if not 1 <= beam <= WIDEST:",
            "if False:",
            "test_the_beam_explorer_refuses_what_it_cannot_draw",
        ),
        (
            "a tree without its first branch taken",
            'if not tree["branches"].get(""):',
            "if False:",
            "test_the_beam_explorer_refuses_what_it_cannot_draw",
        ),
    ),
    *_of(
        "figures/sampling_explorer",
        "decoding_figures",
        (
            "logits in any order taken",
            "any(a < b for a, b in pairwise(logits))",
            "False",
            "test_the_sampling_explorer_refuses_what_it_cannot_draw",
        ),
        (
            "a top_p of 0 taken",
            "if not 0 < top_p <= 1:",
            "if not 0 <= top_p <= 1:",
            "test_the_sampling_explorer_refuses_what_it_cannot_draw",
        ),
    ),
    *_of(
        "checks/comparing",
        "checks_engine",
        (
            "whole numbers not asked for",
            'if array.dtype.kind not in "iu":',
            "if False:",
            "test_whole_numbers_are_asked_for_where_the_answer_has_them",
        ),
    ),
    *_of(
        "decoding",
        "decoding",
        (
            "the page: top-k keeps one too many",
            "probabilities[..., top_k:] = 0.0",
            "probabilities[..., top_k + 1 :] = 0.0",
            "chapters/09_decoding.ipynb",
        ),
        (
            "the page: a penalty over 5",
            "return float(((5 + length) / 6) ** alpha)",
            "return float(((5 + length) / 5) ** alpha)",
            "chapters/09_decoding.ipynb",
        ),
        (
            "the page: drafts forget their past",
            "candidates = (scores[:, :, None] + step).flatten(1).topk(2 * beam)",
            "candidates = (0 * scores[:, :, None] + step).flatten(1).topk(2 * beam)",
            "chapters/09_decoding.ipynb",
        ),
    ),
    *_of(
        "figures/loss_explorer",
        "loss_figures",
        (
            "any sum of probabilities taken",
            "abs(sum(predicted) - 1) > 1e-6",
            "sum(predicted) > 1e6",
            "test_the_explorer_refuses_what_it_cannot_draw",
        ),
        (
            "any right word taken",
            "if not 0 <= right < len(words):",
            "if False:",
            "test_the_explorer_refuses_what_it_cannot_draw",
        ),
    ),
    *_of(
        "figures/multi_head",
        "multi_head_figures",
        (
            "every square in the colour of head 1",
            "colour = HEADS[owner[int(number)]]",
            "colour = HEADS[0]",
            "test_reshape_grids_keeps_every_number_and_the_colour_of_its_column",
        ),
        (
            "all lines of the same thickness",
            "linewidth=0.8 + 8 * weight",
            "linewidth=4.0",
            "test_head_links_writes_every_weight_and_draws_a_line_for_it",
        ),
        (
            "the first head in every map",
            "axes.imshow(grids[head],",
            "axes.imshow(grids[0],",
            "test_head_maps_shows_each_head_with_its_words",
        ),
    ),
    *_of(
        "figures/head_explorer",
        "multi_head_figures",
        (
            "rows named by the word that was read",
            'written = [*read[1:], "</s>"]',
            "written = read",
            "test_explorer_stores_words_and_weights_of_every_head",
        ),
        (
            "queries and keys of cross-attention exchanged",
            "(written, source)]",
            "(source, written)]",
            "test_explorer_stores_words_and_weights_of_every_head",
        ),
        (
            "weights with one digit only",
            "round(w, 3)",
            "round(w, 1)",
            "test_explorer_stores_words_and_weights_of_every_head",
        ),
    ),
    *_of(
        "encoder_decoder",
        "encoder_decoder",
        (
            "no residual connection, seen by the notebook",
            "return self.norm(x + self.dropout(sublayer(x)))",
            "return self.norm(self.dropout(sublayer(x)))",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "no non-linearity, seen by the notebook",
            "self.outer(torch.relu_(self.inner(x)))",
            "self.outer(self.inner(x))",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "unbiased variance in layer norm, seen by the notebook",
            "x.var(-1, keepdim=True, unbiased=False)",
            "x.var(-1, keepdim=True)",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "the decoder doesn't read the memory, seen by the notebook",
            "self.cross_attention(y, memory, memory, src_mask, cross_cache)",
            "self.cross_attention(y, 0 * memory, 0 * memory, src_mask, cross_cache)",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "embeddings without √d_model, seen by the notebook",
            "table(ids) * math.sqrt(self.config.d_model)",
            "table(ids)",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "one encoder layer six times, seen by the notebook",
            "EncoderLayer(config) for _ in range(config.n_encoder_layers)",
            "layer for layer in [EncoderLayer(config)] for _ in range(config.n_encoder_layers)",
            "chapters/06_encoder_decoder.ipynb",
        ),
        (
            "pre-norm without a norm on top, seen by the notebook",
            "self.decoder_norm = LayerNorm(config.d_model) if pre else nn.Identity()",
            "self.decoder_norm = nn.Identity()",
            "chapters/06_encoder_decoder.ipynb",
        ),
    ),
    *_of(
        "figures/encoder_decoder",
        "encoder_decoder_figures",
        (
            "bars in the order given",
            "sorted(counts, key=lambda name: -counts[name])",
            "list(counts)",
            "test_parameter_bars_are_sorted_and_carry_their_numbers",
        ),
        (
            "valleys turned by a quarter",
            '"xyi,ij,xyj->xy", grid, np.asarray(second), grid',
            '"xyi,ij,xyj->xy", grid[..., ::-1], np.asarray(second), grid[..., ::-1]',
            "test_loss_valleys_are_narrow_where_the_loss_is_steep",
        ),
        (
            "points counted as steps",
            "count = len(path) - 1",
            "count = len(path)",
            "test_loss_valleys_draws_the_path_and_counts_its_steps",
        ),
        (
            "all dots in one row",
            "axes.plot(found, [row] * len(found)",
            "axes.plot(found, [0] * len(found)",
            "test_component_dots_has_a_row_of_dots_for_each_model",
        ),
    ),
    *_of(
        "figures/model_map",
        "encoder_decoder_figures",
        (
            "lengths exchanged",
            "lengths=[src_len, tgt_len]",
            "lengths=[tgt_len, src_len]",
            "test_the_map_stores_sizes_pages_and_what_is_chosen",
        ),
        (
            "one size too many allowed",
            "if not 0 <= size < len(sizes):",
            "if not 0 <= size <= len(sizes):",
            "test_the_map_refuses_what_is_not_there",
        ),
    ),
    *_of(
        "checks/running",
        "checks_nested",
        (
            "weights in a dictionary aren't copied",
            "return {name: in_depth(part, change) for name, part in value.items()}",
            "return value",
            "test_arrays_in_dictionaries_become_tensors",
        ),
        (
            "changes inside a list go unnoticed",
            "return len(given) == len(original) and all(map(unchanged, given, original))",
            "return len(given) == len(original)",
            "test_a_change_deep_in_the_arguments_is_noticed",
        ),
    ),
    *_of(
        "checks/running",
        "checks_engine",
        (
            "an exception goes through",
            "    except BaseException as error:\n        return _failure",
            "    except ZeroDivisionError as error:\n        return _failure",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "the line that failed isn't found",
            "co_filename == code.co_filename",
            "co_filename != code.co_filename",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "the timer is never set",
            "signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)",
            "signal.setitimer(signal.ITIMER_REAL, 9, AGAIN)",
            "test_functions_that_catch_everything_are_stopped_too",
        ),
        (
            "a loop that catches everything goes on",
            "            _strike_again(frame)\n",
            "",
            "test_functions_that_catch_everything_are_stopped_too",
        ),
        (
            "the timer's handler stays",
            "        signal.signal(signal.SIGALRM, before)\n",
            "",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "the trace looks at lines only",
            "        frame.f_trace_opcodes = True",
            "        pass",
            "test_endless_loops_in_another_thread",
        ),
        (
            "the timer in every thread",
            "if in_main_thread and hasattr",
            "if hasattr",
            "test_timer_in_the_main_thread_and_trace_elsewhere",
        ),
        (
            "recursion is any exception",
            "isinstance(error, RecursionError)",
            "isinstance(error, ArithmeticError)",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "exit is any exception",
            "isinstance(error, SystemExit)",
            "isinstance(error, ArithmeticError)",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "inputs may change",
            "if not unchanged(given, arguments)",
            "if False",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "the learner's arrays are those of the case",
            "given = copied(arguments)",
            "given = arguments",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "prints reach the page",
            "        contextlib.redirect_stdout(sink),\n",
            "",
            "test_prints_and_warnings_are_hidden_and_prints_are_said",
        ),
        (
            "Ctrl-C is swallowed",
            "    except KeyboardInterrupt:\n        raise\n",
            "",
            "test_keyboard_interrupt_goes_through",
        ),
        (
            "an exception's text may break the check",
            "traceback.format_exception_only(error)[-1]",
            "(type(error).__name__ + str(error))",
            "test_exceptions_that_cant_be_printed",
        ),
    ),
    *_of(
        "checks/comparing",
        "checks_engine",
        (
            "any shape will do",
            "if array.shape != expected.shape:",
            "if array.size != expected.size:",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "any dtype will do",
            'if array.dtype.kind != "f":',
            "if False:",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "any number of results will do",
            "if len(value) != len(names):",
            "if len(value) < len(names):",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "nothing returned is some type",
            "    if value is None:\n        raise Unfit",
            "    if value is Ellipsis:\n        raise Unfit",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "NaN is near every number",
            "(np.isnan(a) & np.isnan(e))",
            "np.isnan(a)",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "gradients aren't cut off",
            "        value = value.detach().cpu()\n",
            "",
            "test_numpy_and_torch_gradients_lists_and_scalars_are_accepted",
        ),
    ),
    *_of(
        "checks/engine",
        "checks_engine",
        (
            "each case runs once",
            "    if not first.trouble:\n        outcome = _call(function, given, clock)\n",
            "",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "a stub counts as an attempt",
            'if result.outcome.trouble == "unimplemented":',
            "if False:",
            "test_a_stub_is_not_attempted",
        ),
        (
            "a half-written function counts as a stub",
            "and case is not exercise.cases[0]:",
            "and False:",
            "test_each_trouble_has_its_own_sentence",
        ),
        (
            "the largest failing case is shown",
            "smallest = min(wrong, key=lambda result: result.case.size)",
            "smallest = max(wrong, key=lambda result: result.case.size)",
            "test_the_smallest_failing_case_is_shown_with_its_inputs",
        ),
        (
            "NumPy is tried first always",
            'return ["torch", "numpy"] if likely',
            'return ["numpy", "torch"] if likely',
            "test_a_torch_error_is_shown_to_who_writes_torch",
        ),
        (
            "prints aren't said",
            "if any(result.outcome.printed for result in results):",
            "if False:",
            "test_prints_are_said_whatever_the_verdict",
        ),
        (
            "a misconception need not explain every case",
            "        if exercise.secret:\n            partly",
            "        if True:\n            partly",
            "test_a_misconception_must_explain_every_case",
        ),
        (
            "arguments aren't counted",
            "        signature.bind(*exercise.cases[0].arguments)\n",
            "        pass\n",
            "test_each_trouble_has_its_own_sentence",
        ),
    ),
    *_of(
        "checks/report",
        "checks_engine",
        (
            "the answer to a question is told",
            "Expected another answer, got",
            "Expected {result.expected}, got",
            "test_questions_name_the_letter_and_never_the_answer",
        ),
        (
            "a second wrong answer is passed over",
            "message if alone else",
            "message if True else",
            "test_a_second_wrong_answer_is_announced",
        ),
    ),
    *_of(
        "checks/attention/softmax",
        "checks_answers",
        (
            "two misconceptions exchange their hints",
            "Weights lie between 0 and 1. Yours are their logarithms: is there one step too many?",
            "The weights are positive now. What makes them sum to 1?",
            "test_misconceptions_are_several_and_differently_named",
        ),
        (
            "a misconception that is right",
            "lambda scores, axis: reference(-scores, axis)",
            "lambda scores, axis: reference(scores, axis)",
            "test_each_misconception_gets_its_own_hint",
        ),
    ),
    *_of(
        "checks/attention/softmax",
        "checks_notebooks",
        (
            "the task changed, the notebook not",
            "(A ready-made softmax ",
            "(No ready-made softmax ",
            "test_the_notebook_says_what_the_exercise_declares",
        ),
    ),
    *_of(
        "checks/attention/scaled_dot_product",
        "checks_answers",
        (
            "tolerance so wide that mutants survive",
            "    reference=reference,\n    cases=(",
            "    reference=reference,\n    tolerance=50.0,\n    cases=(",
            "test_mutants_of_the_solutions_are_rejected",
        ),
    ),
    *_of(
        "checks/attention/predict",
        "checks_answers",
        (
            "the answer in a hint",
            "All weights sum to 1, not to 100.",
            "All weights sum to 1, not to 100: 0.75.",
            "test_no_hint_gives_the_answer_away",
        ),
    ),
    *_of(
        "checks/own_parts",
        "checks_own_parts",
        (
            "what fails its check is kept",
            "    if not _passes(name, thing):\n        raise CannotKeep(\"It doesn't pass",
            "    if False:\n        raise CannotKeep(\"It doesn't pass",
            "test_not_kept_and_why",
        ),
        (
            "a file that can't be read is written over",
            "    load(text)  # what can't be read isn't written over\n",
            '    text = text if "def softmax(:" not in text else ""\n',
            "test_a_file_that_cant_be_read_is_never_written_over",
        ),
        (
            "the learner's part is never used",
            "        return mine\n",
            "        return packaged\n",
            "test_a_kept_part_comes_back_and_is_said_to_be_yours",
        ),
        (
            "a part that fails its check is used",
            'if mine is not None and _passes(name, mine, ("torch",), chapter):',
            "if mine is not None:",
            "test_part_falls_back_and_says_why",
        ),
        (
            "NumPy parts get tensors",
            'return f"@for_tensors  # written for NumPy\\n{source}" if numpy_only else source',
            "return source",
            "test_numpy_parts_take_tensors",
        ),
    ),
    *_of(
        "checks/own_file",
        "checks_own_parts",
        (
            "a second version beside the first",
            "        if _binds(node) == name:\n            lines",
            "        if False:\n            lines",
            "test_keeping_again_replaces_and_changes_nothing_else",
        ),
        (
            "what a part uses isn't written",
            "            blocks |= blocks_for(value, written, seen)\n",
            "            pass\n",
            "test_what_a_part_uses_is_written_before_it",
        ),
    ),
    *_of(
        "evaluation",
        "multi30k",
        (
            "only the upper half of the interval",
            "return mean - half, mean + half",
            "return mean, mean + half",
            "test_it_is_the_interval_of_a_bootstrap_with_loops",
        ),
        (
            "an interval of half the width",
            "return mean - half, mean + half",
            "return mean - half / 2, mean + half / 2",
            "test_it_is_the_interval_of_a_bootstrap_with_loops",
        ),
        (
            "always the same number of draws",
            "n_bootstrap=draws)",
            "n_bootstrap=1000)",
            "test_the_score_lies_within_and_the_result_is_the_same_again",
        ),
        (
            "the tokeniser forgotten",
            'force=tokenize == "none")\n    score = bleu.corpus_score(translations',
            'force=tokenize == "none").__class__()\n    score = bleu.corpus_score(translations',
            "test_the_tokeniser_counts",
        ),
        (
            "fewer translations than pairs are let through",
            "if not pairs or len(pairs) != len(translations):",
            "if not pairs:",
            "test_wrong_input_is_named",
        ),
        (
            "the page: an interval twice as wide",
            "return mean - half, mean + half",
            "return mean - 2 * half, mean + 2 * half",
            "chapters/15_multi30k.ipynb",
        ),
    ),
]


def occurrences(mutant: Mutant) -> int:
    """How often the text to be replaced stands in the module; 1 is right."""
    return (SOURCE / f"{mutant.module}.py").read_text(encoding="utf-8").count(mutant.old)


def run(tests: Sequence[str], mutant: Mutant | None = None) -> tuple[int, str]:
    """Run tests on a copy of the package, with the mutant's change if there is one.

    Args:
        tests: what pytest shall run, "file::name" or a notebook.
        mutant: the fault to plant.

    Returns:
        pytest's exit status, -1 if it was stopped because it never ended, and what it printed.
    """
    command = ["-x", "-q", "-p", "no:cacheprovider", *tests]
    if any(test.endswith(".ipynb") for test in tests):  # lax: the assertions alone must notice
        command += ["--nbval-lax", "--nbval-current-env"]
    with tempfile.TemporaryDirectory() as folder:
        copy, printed = Path(folder) / "src" / "transformer_course", Path(folder) / "printed"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant:
            path = copy / f"{mutant.module}.py"
            text = path.read_text(encoding="utf-8").replace(mutant.old, mutant.new)
            path.write_text(text, encoding="utf-8")
        process = PROCESSES.Process(target=run_pytest, args=(command, folder))
        process.start()
        process.join(SECONDS if mutant else 10 * SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            return -1, "never ended"
        return process.exitcode or 0, printed.read_text(encoding="utf-8")


def run_pytest(command: Sequence[str], folder: str) -> None:
    """In a process of its own: run pytest with the package in `folder`, and print into a file there."""
    source = str(Path(folder) / "src")
    os.environ |= {
        "PYTHONPATH": source,  # for the kernels of notebooks
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder) / "hypothesis"),
    }
    sys.path.insert(0, source)
    os.chdir(ROOT)
    with open(Path(folder) / "printed", "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.exit(pytest.main(list(command)))


def verdict(mutant: Mutant) -> str:
    """ "caught" ("no end": the test was stopped), "SURVIVES", or what kept the test from telling."""
    if (count := occurrences(mutant)) != 1:
        return f"ERROR: its text occurs {count} times in {mutant.module}.py"
    status, printed = run([mutant.node], mutant)
    if status == 0:
        return "SURVIVES"
    # 1 = tests ran and some failed; a module that can't even be imported proves nothing.
    if status not in (1, -1) or "errors during collection" in printed:
        return f"ERROR: {printed.strip().splitlines()[-1]}"
    return "no end" if status == -1 else "caught"


def main(chapters: Sequence[str]) -> int:
    """Run the mutants of the given chapters, all if none is given, and print a table.

    Returns:
        0 if every mutant was caught, else 1.
    """
    known = {mutant.chapter for mutant in MUTANTS}
    if unknown := set(chapters) - known:
        print(
            f"no such chapter: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}"
        )
        return 1
    chosen = [m for m in MUTANTS if not chapters or m.chapter in chapters]
    status, printed = run(sorted({mutant.node for mutant in chosen}))
    if status:
        print(printed, "a test fails without any mutant: nothing can be learned", sep="\n")
        return 1
    missed = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for mutant, outcome in zip(chosen, pool.map(verdict, chosen), strict=True):
            missed += outcome not in ("caught", "no end")
            print(f"{mutant.chapter:<20} {mutant.fault:<48} {outcome:<9} {mutant.test}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} mutants caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
