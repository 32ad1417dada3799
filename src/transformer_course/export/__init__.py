"""Translators for other programs (chapter 14): CTranslate2, ONNX Runtime, and folders for model hubs."""

from pathlib import Path

from transformer_course.export.ctranslate2_model import EngineTranslator, export_ctranslate2
from transformer_course.export.folders import refuse_existing
from transformer_course.export.hub import export_hub
from transformer_course.export.onnx_model import OnnxTranslator, export_onnx
from transformer_course.translator import Translator

__all__ = [
    "KINDS",
    "EngineTranslator",
    "OnnxTranslator",
    "export_ctranslate2",
    "export_hub",
    "export_onnx",
    "export_run",
]

KINDS = ("ctranslate2", "onnx", "hub")


def export_run(
    run: Path, to: str, out: Path | None = None, quantization: str | None = None
) -> Path:
    """Write a run's translator for another program, into a new folder.

    Args:
        run: folder of the run.
        to: one of `KINDS`.
        out: the new folder; beside the run's, with the kind in its name, if left out.
        quantization: of CTranslate2's weights, see `export_ctranslate2`.

    Returns:
        The new folder.

    Raises:
        ValueError: if the kind is none of these, has no quantization, or the program can't take the model.
        CheckpointError: if the run can't be read, or there is something of the folder's name already.
    """
    if to not in KINDS:
        raise ValueError(f"to ({to!r}) must be one of {', '.join(KINDS)}")
    if quantization is not None and to != "ctranslate2":
        raise ValueError(f"quantization ({quantization!r}) is for ctranslate2 only, not for {to}")
    names = [run.resolve().name, to, *([quantization] if quantization else [])]
    place = out or run.resolve().parent / "-".join(names)
    refuse_existing(place)  # before anything takes long
    translator = Translator.load(run)
    if to == "hub":
        export_hub(translator, place, run)
    elif to == "onnx":
        export_onnx(translator, place)
    else:
        export_ctranslate2(translator, place, quantization or "float32")
    return place
