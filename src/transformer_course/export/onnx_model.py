"""Translators for ONNX Runtime (chapter 14): two graphs, one that reads the source and one for the next token.

`torch.export` follows the model's own `encode` and `decode`, so whatever a Transformer is made of goes along.
Batch, length of the source and number of tokens so far may be any. The search isn't in the graphs: ours runs on
them, in `OnnxTranslator`, as on any model.
"""

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from transformer_course.checkpoints import CheckpointError, read_json, write_json
from transformer_course.corpus.batches import Example, collate
from transformer_course.decoding import Hypothesis, beam_search
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.encoder_decoder.cache import DecoderCache
from transformer_course.encoder_decoder.layers import DecoderLayer
from transformer_course.export.exported import ExportedTranslator
from transformer_course.export.folders import new_folder
from transformer_course.masking import padding_mask
from transformer_course.multi_head import KeyValueCache
from transformer_course.optional import needed
from transformer_course.translator import Translator, save_vocabulary, search_batches

Array = NDArray[Any]
_ENCODER, _DECODER = "encoder.onnx", "decoder.onnx"
_READ = ["src_mask", "cross_keys", "cross_values"]
_WRITTEN = ["logits", "new_keys", "new_values"]
_TOKENS_AT_ONCE = 4096


def export_onnx(translator: Translator, folder: str | Path) -> None:
    """Write a translator as a folder that `OnnxTranslator` opens, and its two graphs any program for ONNX.

    `encoder.onnx` takes `src`, (batch, src_len), each source ending with </s>, and gives `src_mask`, (batch,
    src_len), True where there is no padding, `cross_keys` and `cross_values`. `decoder.onnx` takes these three,
    `tokens`, (batch, 1), the newest token of each target, <s> first, `place`, (1,), where they stand, from 0,
    and the `keys` and `values` of the tokens so far; it gives `logits`, (batch, vocab_size), and `new_keys` and
    `new_values`, one token longer. Keys and values are (layers, batch, key heads, length, d_k), of length 0 at
    first.

    Args:
        translator: with a `Transformer` of float32 or float64, on the processor.
        folder: where to; there must be nothing yet.

    Raises:
        ValueError: if onnx or onnxscript is missing, or the model is of another kind or type, or elsewhere.
        CheckpointError: if there is something of that name, or it can't be written.
    """
    model = translator.model
    if not isinstance(model, Transformer):
        raise ValueError(
            f"model ({type(model).__name__}) can't go to ONNX: only a Transformer that writes word by word "
            "can"
        )
    for name, weight in model.named_parameters():
        if weight.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"{name} ({weight.dtype}) must be of torch.float32 or torch.float64")
        if weight.device.type != "cpu":
            raise ValueError(
                f"{name} ({weight.device}) must be on the processor: model.cpu() moves it"
            )
    for name in ("onnx", "onnxscript"):
        needed(name, "export")
    with new_folder(Path(folder)) as place, torch.no_grad(), _quiet(), _modes_kept(model):
        read = _write_reader(model, place / _ENCODER)
        _write_step(model, place / _DECODER, read)
        write_json(place / "config.json", asdict(model.config))
        save_vocabulary(translator.vocabulary, place)


class _Reader(nn.Module):
    """The source, and what each layer of the decoder needs of it."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, (batch, src_len) → mask, keys and values."""
        mask = padding_mask(src, self.model.config.pad_id)
        memory = self.model.encode(src, mask)
        layers: Iterable[DecoderLayer] = self.model.decoder_layers  # type: ignore[assignment]
        caches = [layer.cross_attention.cache_memory(memory) for layer in layers]
        keys, values = (torch.stack(list(side)) for side in zip(*map(_pair, caches), strict=True))
        return mask[:, 0, 0], keys, values


class _Step(nn.Module):
    """The newest token, and the score of every next one."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        tokens: Tensor,
        place: Tensor,
        keys: Tensor,
        values: Tensor,
        src_mask: Tensor,
        cross_keys: Tensor,
        cross_values: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One token a sentence, (batch, 1) → logits, (batch, vocab_size), and keys and values, one longer."""
        own = [_Growing(k, v, k.shape[2]) for k, v in _layers(keys, values)]
        cross = [
            KeyValueCache(k, v, k.shape[2], True) for k, v in _layers(cross_keys, cross_values)
        ]
        cache = DecoderCache([*own], cross)
        mask = src_mask[:, None, None]  # (batch, 1, 1, src_len)
        states = self.model.decode(tokens, None, mask, None, cache, place)
        grown = (torch.stack(list(side)) for side in zip(*map(_pair, own), strict=True))
        new_keys, new_values = grown
        return self.model.logits(states)[:, 0], new_keys, new_values


@dataclass
class _Growing(KeyValueCache):
    """A cache without a capacity: a graph can't write into what it was given."""

    def append(self, keys: Tensor, values: Tensor, positions: Tensor | None = None) -> None:
        """Add the keys and values of new positions behind those that are there."""
        self.keys = torch.cat([self.keys, keys], 2)
        self.values = torch.cat([self.values, values], 2)
        self.length = self.keys.shape[2]


def _pair(cache: KeyValueCache) -> tuple[Tensor, Tensor]:
    return cache.keys, cache.values


def _layers(keys: Tensor, values: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    return zip(keys.unbind(0), values.unbind(0), strict=True)


def _write_reader(model: Transformer, path: Path) -> tuple[Tensor, ...]:
    """Write the first graph; what it gives for an example, which the second needs."""
    reader = _Reader(model).eval()
    src = torch.full((2, 5), 3)  # lengths of 0 and 1 would be taken for fixed
    shapes = {"src": {0: "batch", 1: "src_len"}}
    _write(reader, {"src": src}, path, _READ, shapes)
    return tuple(reader(src))


def _write_step(model: Transformer, path: Path, read: tuple[Tensor, ...]) -> None:
    _, cross_keys, _ = read
    past = cross_keys[:, :, :, :3].clone()
    given = {"tokens": torch.full((2, 1), 3), "place": torch.tensor([3])}
    given |= {"keys": past, "values": past.clone(), **dict(zip(_READ, read, strict=True))}
    own, cross = {1: "batch", 3: "past"}, {1: "batch", 3: "src_len"}
    shapes: dict[str, Any] = {"tokens": {0: "batch"}, "place": None, "keys": own, "values": own}
    shapes |= {"src_mask": {0: "batch", 1: "src_len"}, "cross_keys": cross, "cross_values": cross}
    _write(_Step(model).eval(), given, path, _WRITTEN, shapes)


def _write(
    module: nn.Module,
    given: dict[str, Tensor],
    path: Path,
    names: list[str],
    shapes: dict[str, Any],
) -> None:
    dims = {name: torch.export.Dim(name) for name in ("batch", "src_len", "past")}
    dynamic = {
        name: shape and {axis: dims[dim] for axis, dim in shape.items()}
        for name, shape in shapes.items()
    }
    torch.onnx.export(
        module,
        (),
        path,
        kwargs=given,
        input_names=[*given],
        output_names=names,
        dynamic_shapes=dynamic,
        dynamo=True,
        external_data=False,
        optimize=False,  # ONNX Runtime does that when it opens a file
        verbose=False,
    )


@contextmanager
def _modes_kept(model: nn.Module) -> Iterator[None]:
    """Afterwards each part of a model is again in the mode that it had, training or evaluation."""
    modes = {part: part.training for part in model.modules()}
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what the exporter says of packages that nobody needs here."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


class OnnxTransformer:
    """The two graphs as a model that can be searched (`decoding.Searchable`).

    Args:
        folder: as `export_onnx` wrote it.
        threads: of the processor.

    Attributes:
        config: the model's.
        training: always False.

    Raises:
        ValueError: if onnxruntime is missing.
        CheckpointError: if a file is missing or damaged.
    """

    training = False

    def __init__(self, folder: Path, threads: int = 1) -> None:
        runtime = needed("onnxruntime", "export")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3  # errors only
        try:
            self.config = TransformerConfig(**read_json(folder / "config.json"))
            self._reader, self._step = (
                runtime.InferenceSession(str(folder / name), options, ["CPUExecutionProvider"])
                for name in (_ENCODER, _DECODER)
            )
        except CheckpointError:
            raise
        except Exception as error:  # the runtime has a class of its own for each kind of damage
            raise CheckpointError(f"{folder} can't be opened by ONNX Runtime: {error}") from error

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> "OnnxState":
        """Read the source.

        Args:
            src: token ids, (batch, src_len).
            max_len: not used: the graphs keep no capacity.
            beams: beginnings that are kept open for each sentence.

        Returns:
            The state before the first target token.
        """
        mask, *cross = self._reader.run(None, {"src": src.numpy()})
        layers, rows, heads, _, d_k = cross[0].shape
        nothing = np.zeros((layers, rows * beams, heads, 0, d_k), cross[0].dtype)
        memory = [np.repeat(mask, beams, 0), *(np.repeat(side, beams, 1) for side in cross)]
        return OnnxState(beams, memory, [nothing, nothing])

    def step(self, tokens: Tensor, state: "OnnxState") -> Tensor:
        """Read the newest token of each beam.

        Args:
            tokens: ids, (batch, beams).
            state: from `start`; it is carried on.

        Returns:
            Logits of the next token, (batch, beams, vocab_size).
        """
        place = state.past[0].shape[3]
        given = {"tokens": tokens.reshape(-1, 1).numpy(), "place": np.array([place])}
        given |= dict(zip(("keys", "values"), state.past, strict=True))
        given |= dict(zip(_READ, state.memory, strict=True))
        logits, *state.past = self._step.run(None, given)
        return torch.from_numpy(logits).view(*tokens.shape, -1)


@dataclass
class OnnxState:
    """What `OnnxTransformer` keeps between two tokens; each beam is a row of its own.

    Args:
        beams: of each sentence.
        memory: mask of the source, (rows, src_len), and keys and values, (layers, rows, heads, src_len, d_k).
        past: keys and values of the tokens so far, (layers, rows, heads, length, d_k).
    """

    beams: int
    memory: list[Array]
    past: list[Array]

    def select(self, rows: Tensor) -> "OnnxState":
        """The state of some sentences.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A new state.
        """
        chosen = (rows[:, None] * self.beams + torch.arange(self.beams)).flatten().numpy()
        mask, *cross = self.memory
        memory = [mask[chosen], *(side[:, chosen] for side in cross)]
        return OnnxState(self.beams, memory, [side[:, chosen] for side in self.past])

    def reorder(self, parents: Tensor) -> None:
        """Let each beam go on from another one.

        Args:
            parents: for each beam the one that it goes on from, (batch, beams), int64.
        """
        first = torch.arange(len(parents))[:, None] * self.beams
        chosen = (first + parents).flatten().numpy()
        self.past = [side[:, chosen] for side in self.past]


class OnnxTranslator(ExportedTranslator):
    """A translator that was exported to ONNX, with our searches: the same translations, up to rounding.

    Args:
        folder: as `export_onnx` wrote it.
        threads: of the processor.

    Raises:
        ValueError: if onnxruntime is missing, or threads is no whole number from 1 to 1,024.
        CheckpointError: if a file is missing or damaged.
    """

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        super().__init__(Path(folder), threads)
        self.model = OnnxTransformer(Path(folder), threads)

    def _find(
        self, rows: list[list[int]], limit: int, beam: int, alpha: float, top_beams: int
    ) -> list[list[Hypothesis]]:
        examples: list[Example] = [(ids, []) for ids in rows]
        found: dict[int, list[Hypothesis]] = {}
        for indices in search_batches(examples, _TOKENS_AT_ONCE, beam):
            src = collate(examples, indices).src
            best = beam_search(self.model, src, beam, limit, alpha=alpha, top_beams=top_beams)
            found |= dict(zip(indices, best, strict=True))
        return [found[i] for i in range(len(rows))]
