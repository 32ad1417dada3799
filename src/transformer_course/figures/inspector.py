"""The inspector of chapter 10: a translator that runs in the page, to look into and to break."""

import base64
import gzip
import json
from typing import Any

import anywidget
import torch
import traitlets
from torch import Tensor

from transformer_course.checkpoints import weights_of
from transformer_course.encoder_decoder import Transformer
from transformer_course.figures.widget import HERE
from transformer_course.translator import Translator

_FOLDER = HERE / "translator"
_RENDER = """
async function render({ model, el }) {
  const root = document.createElement("div");
  el.replaceChildren(root);
  const translator = await CourseTranslator.load(model.get("packed"));
  CourseInspector.mount(root, translator, { text: model.get("text") });
}
export default { render };
"""
# What the page's script can compute: one of the values each.
_KNOWN: dict[str, tuple[Any, ...]] = {
    "norm": ("pre",),
    "positions": ("sinusoidal",),
    "tie_embeddings": (True,),
    "bias": (True,),
}
_SIZES = ("d_model", "n_heads", "n_encoder_layers", "n_decoder_layers", "max_len")


class Inspector(anywidget.AnyWidget):
    """A translator in the page: type a sentence, break something, see heads, likely words, the logit lens.

    All is computed in the browser, with the model's weights in 8 bits; the notebook stores them, a byte and a
    third for each weight.

    Args:
        translator: with a Transformer of pre-norm layers, sinusoidal positions and tied embeddings, as the
            presets `tiny` and `narrow` make them.
        text: the sentence that stands there first.

    Raises:
        ValueError: if the translator's model is another one.

    >>> Inspector.__name__
    'Inspector'
    """

    _esm = "\n".join(
        [
            *(
                (_FOLDER / name).read_text(encoding="utf-8")
                for name in ("translator.js", "inspector.js")
            ),
            _RENDER,
        ]
    )
    _css = (_FOLDER / "inspector.css").read_text(encoding="utf-8")

    packed = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)

    def __init__(self, translator: Translator, text: str = "The cat is on the table.") -> None:
        super().__init__(packed=packed(translator), text=text)

    def __repr__(self) -> str:
        return (
            f"Interactive figure: a translator in the page, {len(self.packed):,} letters of weights"
        )


def packed(translator: Translator) -> str:
    """A translator as the page reads it: a header of JSON with its length, then all weights in 8 bits.

    Each row of a matrix is divided by a factor of its own, so that its largest number becomes 127.

    Args:
        translator: see `Inspector`.

    Returns:
        All of it, compressed (gzip) and in letters (base 64).

    Raises:
        ValueError: as `Inspector` does.
    """
    model = translator.model
    if not isinstance(model, Transformer):
        raise ValueError(
            f"translator has a {type(model).__name__}; the page computes Transformers only"
        )
    for name, values in _KNOWN.items():
        if getattr(model.config, name) not in values:
            raise ValueError(
                f"translator has {name} = {getattr(model.config, name)!r}; the page computes {values[0]!r} only"
            )
    if model.config.n_key_heads not in (None, model.config.n_heads):
        raise ValueError(
            f"translator has n_key_heads = {model.config.n_key_heads}; the page needs as many as n_heads"
        )
    tensors, parts = [], []
    for name, weight in weights_of(model).items():
        numbers, factors = quantised(weight)
        rows, columns = numbers.shape
        scales = [float(f"{factor:.4g}") for factor in factors.tolist()]
        tensors.append({"name": name, "rows": rows, "columns": columns, "scales": scales})
        parts.append(numbers.numpy().tobytes())
    header = {
        "config": {name: getattr(model.config, name) for name in _SIZES},
        "vocabulary": translator.vocabulary.rules(),
        "tensors": tensors,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    whole = len(text).to_bytes(4, "little") + text + b"".join(parts)
    return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()


def quantised(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from −127 to 127, and a factor for each row.

    Args:
        tensor: (..., columns).

    Returns:
        The numbers, (rows, columns), int8, and the factors, (rows,): their product is the tensor, nearly.
    """
    rows = tensor.detach().float().reshape(-1, tensor.shape[-1])
    factors = (rows.abs().amax(1) / 127).clamp(min=1e-12)
    factors = torch.tensor([float(f"{factor:.4g}") for factor in factors])
    return (rows / factors[:, None]).round().clamp(-127, 127).to(torch.int8), factors
