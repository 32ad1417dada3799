"""Translators for CTranslate2 (chapter 14), an engine in C++ that translates on processors and graphics cards.

Its public classes say what a file must hold; here they get our weights. The engine adds a table of positions to
the embeddings, so sinusoids, learned positions and none are the same to it: three tables.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from transformer_course.checkpoints import CheckpointError
from transformer_course.corpus.batches import BOS_ID, PAD_ID
from transformer_course.decoding import Hypothesis, length_penalty
from transformer_course.encoder_decoder import Transformer
from transformer_course.encoder_decoder.layers import DecoderLayer, EncoderLayer, LayerNorm
from transformer_course.export.exported import ExportedTranslator
from transformer_course.export.folders import new_folder
from transformer_course.export.plain import plain_transformer
from transformer_course.multi_head import MultiHeadAttention
from transformer_course.optional import needed
from transformer_course.translator import Translator, save_vocabulary

QUANTIZATIONS = ("float32", "int8")
_TOKENS_AT_ONCE = 4096


def export_ctranslate2(
    translator: Translator, folder: str | Path, quantization: str = "float32"
) -> None:
    """Write a translator as a folder that `ctranslate2.Translator` opens, and `EngineTranslator`.

    Args:
        translator: with a `Transformer`; norm before or after, any of the three positions.
        folder: where to; there must be nothing yet.
        quantization: "float32", or "int8": matrices in 8 bits, a quarter of the size, and other
            translations now and then.

    Raises:
        ValueError: if CTranslate2 is missing, it doesn't know a part of the model, or the quantization is
            neither.
        CheckpointError: if there is something of that name, or it can't be written.
    """
    if quantization not in QUANTIZATIONS:
        raise ValueError(
            f"quantization ({quantization!r}) must be one of {', '.join(QUANTIZATIONS)}"
        )
    specs = needed("ctranslate2", "export").specs
    spec = _spec(specs, plain_transformer(translator.model, "CTranslate2"))
    tokens = translator.vocabulary.tokens()
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.validate()
    spec.optimize(quantization)
    with new_folder(Path(folder)) as place:
        spec.save(str(place))
        save_vocabulary(translator.vocabulary, place)


def _spec(specs: Any, model: Transformer) -> Any:
    """The model as CTranslate2 writes it down, still without its vocabulary."""
    config = model.config
    shared = config.n_key_heads not in (None, config.n_heads)
    settings = {
        "pre_norm": config.norm == "pre",
        "num_heads_kv": config.n_key_heads if shared else None,
    }
    encoder = specs.TransformerEncoderSpec(config.n_encoder_layers, config.n_heads, **settings)
    decoder = specs.TransformerDecoderSpec(config.n_decoder_layers, config.n_heads, **settings)
    encoder.embeddings[0].weight = _array(model.src_embedding.weight)
    decoder.embeddings.weight = _array(model.tgt_embedding.weight)
    decoder.projection.weight = _array(model.output.weight)
    table = model.positions.table
    for spec in (encoder, decoder):
        nothing = np.zeros((config.max_len, config.d_model), np.float32)
        spec.position_encodings.encodings = nothing if table is None else _array(table)
    for spec, norm in ((encoder, model.encoder_norm), (decoder, model.decoder_norm)):
        if isinstance(norm, LayerNorm):
            _set_norm(spec.layer_norm, norm)
    readers: Iterable[Any] = model.encoder_layers
    for spec, layer in zip(encoder.layer, readers, strict=True):
        _set_layer(spec, layer, [spec.self_attention, spec.ffn])
    writers: Iterable[Any] = model.decoder_layers
    for spec, layer in zip(decoder.layer, writers, strict=True):
        _set_layer(spec, layer, [spec.self_attention, spec.attention, spec.ffn])
        _set_cross_attention(spec.attention, layer.cross_attention)
    whole = specs.TransformerSpec(encoder, decoder)
    whole.config.unk_token = "<pad>"  # no text has an unknown token: there are all bytes
    whole.config.add_source_eos = True
    whole.config.layer_norm_epsilon = config.layer.norm_eps
    whole.config.add_attribute("max_len", config.max_len)
    return whole


def _set_layer(spec: Any, layer: EncoderLayer | DecoderLayer, places: Sequence[Any]) -> None:
    """Self-attention, feed-forward net, and the norms of all sub-layers, which are in the order of `places`."""
    attention, net = layer.self_attention, layer.feed_forward
    maps = (attention.w_query, attention.w_key, attention.w_value)
    _set_linear(spec.self_attention.linear[0], *maps)
    _set_linear(spec.self_attention.linear[1], attention.w_output)
    _set_linear(spec.ffn.linear_0, net.inner)
    _set_linear(spec.ffn.linear_1, net.outer)
    residuals: Iterable[Any] = layer.residuals
    for place, residual in zip(places, residuals, strict=True):
        _set_norm(place.layer_norm, residual.norm)


def _set_cross_attention(spec: Any, attention: MultiHeadAttention) -> None:
    _set_linear(spec.linear[0], attention.w_query)
    _set_linear(spec.linear[1], attention.w_key, attention.w_value)
    _set_linear(spec.linear[2], attention.w_output)


def _set_linear(spec: Any, *maps: nn.Linear) -> None:
    """One map, or several side by side."""
    spec.weight = np.concatenate([_array(m.weight) for m in maps])
    if maps[0].bias is not None:
        spec.bias = np.concatenate([_array(m.bias) for m in maps])


def _set_norm(spec: Any, norm: LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.gain), _array(norm.bias)


def _array(x: Tensor) -> NDArray[np.float32]:
    """A copy: when CTranslate2 makes 8 bits of an array, it changes it in place."""
    return np.array(x.detach().cpu().float().numpy())


class EngineTranslator(ExportedTranslator):
    """A translator that was exported to CTranslate2, with the searches of ours.

    The engine searches by its own length penalty, and stops when it has `beam` hypotheses. So it is asked for
    twice as many, without a penalty, and they are ranked by ours: then translations and scores are those of
    `Translator`, up to rounding; on rare sentences another hypothesis may win. With `alpha` above about 1.5
    that isn't rare, for then the best hypotheses by our score are longer, and come when the engine has stopped:
    of 118 translations by a small model with a beam of 4, none differed up to 1.5, 4 at 2, 13 at 3 and 104 at
    5. For such penalties take `OnnxTranslator`, which searches as `Translator` does.

    A model that has learned little may want to write <pad> or <s>: then the engine is asked again without them,
    and its log-probabilities are those among the other tokens.

    Args:
        folder: as `export_ctranslate2` wrote it.
        threads: each translates its share of the sentences.
        device: "cpu" or "cuda".

    Raises:
        ValueError: if CTranslate2 is missing, or finds no such device, or threads is no whole number from 1 to
            1,024.
        CheckpointError: if a file is missing or damaged.
    """

    def __init__(self, folder: str | Path, threads: int = 1, device: str = "cpu") -> None:
        engine = needed("ctranslate2", "export")
        path = Path(folder)
        super().__init__(path, threads)
        before = torch.get_num_threads()
        try:
            self._engine = engine.Translator(
                str(path), device, inter_threads=threads, intra_threads=1
            )
        except RuntimeError as error:
            raise CheckpointError(f"{path} can't be opened by CTranslate2: {error}") from error
        torch.set_num_threads(before)  # the engine changes it for the whole process
        self._tokens = self.vocabulary.tokens()
        self._ids = {token: i for i, token in enumerate(self._tokens)}
        self._marks = [[self._tokens[PAD_ID]], [self._tokens[BOS_ID]]]

    def _find(
        self, rows: list[list[int]], limit: int, beam: int, alpha: float, top_beams: int
    ) -> list[list[Hypothesis]]:
        found = [self._ranked(a, alpha)[:top_beams] for a in self._asked(rows, limit, beam)]
        again = [i for i, best in enumerate(found) if any(map(self._has_mark, best))]
        without = self._asked([rows[i] for i in again], limit, beam, suppress_sequences=self._marks)
        for i, answer in zip(again, without, strict=True):
            found[i] = self._ranked(answer, alpha)[:top_beams]
        return found

    def _asked(self, rows: list[list[int]], limit: int, beam: int, **options: Any) -> list[Any]:
        """What the engine finds for sentences."""
        return list(
            self._engine.translate_batch(
                [[self._tokens[entry] for entry in ids] for ids in rows],
                max_batch_size=_TOKENS_AT_ONCE,
                batch_type="tokens",
                max_input_length=0,  # else it would cut longer ones, without a word
                beam_size=beam,
                num_hypotheses=beam,
                patience=1 if beam == 1 else 2,
                length_penalty=0,
                min_decoding_length=0,
                max_decoding_length=limit,
                return_scores=True,
                return_end_token=True,
                **options,
            )
        )

    def _has_mark(self, hypothesis: Hypothesis) -> bool:
        """Whether it has <pad> or <s>, which ours never have."""
        return not {PAD_ID, BOS_ID}.isdisjoint(hypothesis.ids)

    def _ranked(self, answer: Any, alpha: float) -> list[Hypothesis]:
        """Its hypotheses by our score; those with <pad> or <s> come last."""
        found = []
        for tokens, log_prob in zip(answer.hypotheses, answer.scores, strict=True):
            ids = [self._ids[token] for token in tokens]
            found.append(Hypothesis(ids, log_prob, log_prob / length_penalty(len(ids), alpha)))
        return sorted(found, key=lambda h: (self._has_mark(h), -h.score))
