"""The interactive figure of chapter 06: the map of the model, every part of which can be pressed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import anywidget
import traitlets

from transformer_course.figures.widget import joined

if TYPE_CHECKING:
    from transformer_course.encoder_decoder import TransformerConfig

PARTS = (  # as in model_map.js
    "source", "encoder-embedding", "encoder-positions", "encoder-attention", "encoder-norm-1",
    "encoder-feed-forward", "encoder-norm-2", "memory",
    "target", "decoder-embedding", "decoder-positions", "decoder-attention", "decoder-norm-1",
    "decoder-cross", "decoder-norm-2", "decoder-feed-forward", "decoder-norm-3",
    "linear", "softmax", "next", "training", "loss",
)  # fmt: skip
TASKS = ("translating", "training")


class ModelMap(anywidget.AnyWidget):
    """The map of the Transformer: for each part its tensors, its number of parameters, and its chapter.

    Shapes and numbers are computed in the browser from the sizes, so the figure works in a built page without
    any Python. In JupyterLab, what is chosen is up to date on the Python side too.

    Args:
        sizes: for each model its name and its config.
        pages: number of a chapter → file name of its page, without ending; chapters that have a page.
        src_len: tokens of the source.
        tgt_len: tokens of the target.
        size: which of `sizes` is shown first.
        task: what is going on: "translating" or "training".
        part: the part that is pressed first, one of `PARTS`.

    Raises:
        ValueError: if there is no size, no such size, task or part, or a length is below 1.

    >>> from transformer_course.encoder_decoder import TransformerConfig
    >>> ModelMap({"tiny": TransformerConfig.tiny(100)}, {"06": "06_encoder_decoder"})
    Interactive figure: the map of the Transformer, 22 parts
    """

    _esm = joined("model_map", "js")
    _css = joined("model_map", "css")

    sizes = traitlets.List(traitlets.Dict()).tag(sync=True)
    pages = traitlets.Dict().tag(sync=True)
    lengths = traitlets.List(traitlets.Int()).tag(sync=True)
    size = traitlets.Int(0).tag(sync=True)
    task = traitlets.Unicode("translating").tag(sync=True)
    part = traitlets.Unicode("memory").tag(sync=True)

    def __init__(
        self,
        sizes: Mapping[str, TransformerConfig],
        pages: Mapping[str, str],
        *,
        src_len: int = 7,
        tgt_len: int = 7,
        size: int = 0,
        task: str = "translating",
        part: str = "memory",
    ) -> None:
        if not 0 <= size < len(sizes):
            raise ValueError(f"size ({size}) must be one of the {len(sizes)} sizes, counted from 0")
        for name, value, known in (("task", task, TASKS), ("part", part, PARTS)):
            if value not in known:
                raise ValueError(f"{name} ({value!r}) must be one of {', '.join(known)}")
        for name, length in (("src_len", src_len), ("tgt_len", tgt_len)):
            if length < 1:
                raise ValueError(f"{name} ({length}) must be 1 or more")
        super().__init__(
            sizes=[{"name": name, **asdict(config)} for name, config in sizes.items()],
            pages=dict(pages),
            lengths=[src_len, tgt_len],
            size=size,
            task=task,
            part=part,
        )

    def __repr__(self) -> str:
        """The same text in every run."""
        return f"Interactive figure: the map of the Transformer, {len(PARTS)} parts"
