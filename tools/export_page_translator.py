"""Write the demo translator for the page "Try it": python tools/export_page_translator.py

Weights go from 32 bits to 8: each row of a matrix is divided by a factor of its own, so that its largest number
becomes 127. The file is a script (book/static/translator/weights.js), because a page that is opened from the
disk can't read another kind of file.
"""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_course.checkpoints import load_weights, weights_of
from transformer_course.corpus.normal_form import INVISIBLE, MARKS, SPACES
from transformer_course.corpus.vocabulary import _BYTE_OF, Vocabulary
from transformer_course.encoder_decoder import Transformer
from transformer_course.translator import Translator

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "book" / "static" / "translator" / "weights.js"
NAME = "courseTranslatorFile"


def quantised(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from −127 to 127, and a factor for each row."""
    rows = tensor.detach().float().reshape(-1, tensor.shape[-1])
    factors = (rows.abs().amax(1) / 127).clamp(min=1e-12)
    factors = torch.tensor([float(f"{factor:.4g}") for factor in factors])
    return (rows / factors[:, None]).round().clamp(-127, 127).to(torch.int8), factors


def packed(translator: Translator) -> str:
    """What the page needs: a header of JSON (sizes, vocabulary, factors) with its length, then all weights."""
    model = translator.model
    assert isinstance(model, Transformer)
    tensors, parts = [], []
    for name, weight in weights_of(model).items():
        numbers, factors = quantised(weight)
        rows, columns = numbers.shape
        scales = [float(f"{factor:.4g}") for factor in factors.tolist()]
        tensors.append({"name": name, "rows": rows, "columns": columns, "scales": scales})
        parts.append(numbers.numpy().tobytes())
    config = model.config
    header = {
        "config": {
            name: getattr(config, name)
            for name in ("d_model", "n_heads", "n_encoder_layers", "n_decoder_layers", "max_len")
        },
        "vocabulary": vocabulary_file(translator.vocabulary),
        "tensors": tensors,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    whole = len(text).to_bytes(4, "little") + text + b"".join(parts)
    return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode()


def vocabulary_file(vocabulary: Vocabulary) -> dict[str, Any]:
    """Pieces, merges, and the rules of the normal form."""
    state = json.loads(vocabulary._tokenizer.to_str())["model"]
    pieces = [piece for piece, _ in sorted(state["vocab"].items(), key=lambda entry: entry[1])]
    merges = [m if isinstance(m, str) else " ".join(m) for m in state["merges"]]
    symbols = "".join(symbol for symbol, _ in sorted(_BYTE_OF.items(), key=lambda entry: entry[1]))
    seen = sorted(vocabulary._seen or ())
    assert pieces[259:] == [merge.replace(" ", "") for merge in merges]
    return {
        "alphabet": pieces[3:259],
        "merges": merges,
        "symbols": symbols,
        "invisible": INVISIBLE,
        "spaces": SPACES,
        "marks": MARKS,
        "seen": " ".join(seen),
    }


def with_page_weights(translator: Translator) -> Translator:
    """The translator with the weights that the page has, to compare with."""
    rounded = {}
    for name, weight in weights_of(translator.model).items():
        numbers, factors = quantised(weight)
        rounded[name] = (numbers.float() * factors[:, None]).reshape(weight.shape)
    load_weights(translator.model, rounded)
    return translator


def main() -> None:
    """Write the file."""
    translator = Translator.load(ROOT / "runs" / "demo")
    OUT.write_text(f'const {NAME} = "{packed(translator)}";\n', encoding="utf-8")
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
