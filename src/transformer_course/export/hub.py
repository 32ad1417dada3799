"""A translator as a folder for a model hub (chapter 14): config, weights, tokenizer and card.

`Translator.load` reads the folder, without a network. The library transformers reads the subwords, and every
program that knows safetensors the weights. So does the library tokenizers, with `Tokenizer.from_file`; set its
`encode_special_tokens = True` then, or it takes "</s>" in a text for the end: no file can say it.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, processors

from transformer_course import __version__
from transformer_course.checkpoints import write_atomically, write_json
from transformer_course.corpus.vocabulary import BOS, EOS, PAD, Vocabulary
from transformer_course.export.folders import new_folder
from transformer_course.recipe import Recipe
from transformer_course.recipe.folder import load_run
from transformer_course.translator import Translator

_CARD = """---
license: unknown
{languages}pipeline_tag: translation
---

# {name}

A translator that was trained with the package transformer-course, version {version}.

- model: {model}, {parameters:,} parameters, {sizes}
- subwords: {subwords:,}
- trained on: {data}
- recipe: {recipe}

Nobody has said yet under which licence it may be used, what it is good for, and how well it translates:
write that here before you pass it on.

## Use it

In Python, with the package:

    from transformer_course.translator import Translator

    translator = Translator.load("FOLDER OF THIS FILE")
    print(translator.translate(["..."]))

In a terminal: `transformer-course translate FOLDER "..."`.

The subwords alone, with the library transformers:

    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained("FOLDER OF THIS FILE")
    ids = tokenizer("...")["input_ids"]

`config.json` has the sizes, `model.safetensors` the weights by the names of the package, `tokenizer.json` the
subwords; `vocabulary.json` has the same subwords as the package reads them.
"""


def export_hub(translator: Translator, folder: str | Path, run: str | Path | None = None) -> None:
    """Write a translator as a folder for a model hub.

    Args:
        translator: of any kind.
        folder: where to; there must be nothing yet.
        run: the folder of its run, from which the card takes data and recipe; None leaves them open.

    Raises:
        CheckpointError: if there is something of that name, or it can't be written, or a file of the run is
            damaged.
    """
    path = Path(folder)
    card = _card(translator, path.name, None if run is None else Path(run))
    with new_folder(path) as place:
        translator.save(place)
        model, vocabulary = translator.model, translator.vocabulary
        special = {"pad": PAD, "bos": BOS, "eos": EOS}
        ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
        kind = {"model_type": "transformer-course", "architectures": [type(model).__name__]}
        write_json(place / "config.json", kind | asdict(model.config) | ids)
        tokenizer = _tokenizer(vocabulary, place / "vocabulary.json").to_str(pretty=True)
        write_atomically(place / "tokenizer.json", tokenizer.encode())  # `save` hides OSError
        settings: dict[str, Any] = {f"{name}_token": token for name, token in special.items()}
        settings |= {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": model.config.max_len,
            "split_special_tokens": True,  # "</s>" in a text is text
            "clean_up_tokenization_spaces": False,
        }
        write_json(place / "tokenizer_config.json", settings)
        (place / "README.md").write_text(card, encoding="utf-8", newline="\n")


def _tokenizer(vocabulary: Vocabulary, saved: Path) -> Tokenizer:
    """The vocabulary for programs that expect </s> at the end of a source."""
    tokenizer = Tokenizer.from_file(str(saved))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {EOS}", special_tokens=[(EOS, vocabulary.eos_id)]
    )
    return tokenizer


def _card(translator: Translator, name: str, run: Path | None) -> str:
    data, recipe, languages = "not written down", "not written down", ""
    if run is not None and (run / "run.json").exists():
        found, _ = load_run(run)
        files = "1 file" if len(found.files) == 1 else f"{len(found.files)} files"
        files = "prepared data" if found.prepared else files
        data = found.corpus or f"{files} of its owner"
        if found.languages:
            data += f" ({found.languages})"
            languages = "".join(f"- {code}\n" for code in found.languages.split("-"))
            languages = f"language:\n{languages}"
    if run is not None and (run / "recipe.json").exists():
        recipe = json.dumps(Recipe.load(run).record())
    model = translator.model
    config = asdict(model.config)
    return _CARD.format(
        languages=languages,
        name=name,
        version=__version__,
        model=type(model).__name__,
        parameters=sum(weight.numel() for weight in model.parameters()),
        sizes=", ".join(f"{size} {value}" for size, value in config.items()),
        subwords=len(translator.vocabulary),
        data=data,
        recipe=recipe,
    )
