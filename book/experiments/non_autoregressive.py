"""Translating in one pass or in a few, on the grammar: quality from raw and distilled data, and measured times.

It trains eight models a seed, for hours, so it has to be named:
python tools/run_experiments.py non_autoregressive
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from parallel_training import (
    SHORT,
    SHORT_PROBE,
    curve,
    distilled,
    scores_of,
    short_splits,
    strong,
    students,
    times,
    told_lengths,
    trained,
    ways_of,
    word_by_word,
)

from transformer_course.corpus.batches import EOS_ID
from transformer_course.corpus.pairs import Pair, words
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.evaluation import score_translations
from transformer_course.figures.pass_explorer import films_of
from transformer_course.inspecting import alignment_error_rate
from transformer_course.non_autoregressive import (
    MASK_ID,
    IbmModel,
    MaskPredict,
    conditional_entropy,
)

APART = True
CONFIG: dict[str, Any] = {
    **SHORT,
    "n_aligned": 20_000,  # pairs whose alignments and entropy are measured
    "updates": 5,  # of IBM model 1, then of model 2
    "candidates": [1, 10, 100],
    "rounds": 7,  # of the times
    "batch": 64,
    "shown": {"first pass": "You wash your hands.", "film": "This nun's scarf is big."},
    "models": {  # what differs from the recipe
        "word by word": {},
        "deep encoder": {"n_layers": 5, "n_decoder_layers": 1},
        "fertilities": {"model": "nat"},
        "mask-predict": {"model": "mask-predict"},
    },
    "only distilled": ["word by word"],
}
PROBE: dict[str, Any] = {
    **SHORT_PROBE,
    "n_aligned": 60,
    "updates": 2,
    "candidates": [1, 3],
    "rounds": 1,
    "batch": 4,
    "shown": {"first pass": "You are sleepy.", "film": "The cat sleeps."},
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train teacher and students with one seed; return scores, complexity of the data, and times."""
    splits = short_splits(config)
    raw, valid = splits["train"], splits["valid"]
    teacher = trained({}, seed, raw, valid, folder / "teacher", config)
    data = {
        "raw": raw,
        "distilled": distilled(teacher, raw, folder / "distilled.json", config),
    }
    vocabulary = teacher.vocabulary
    systems = word_by_word(teacher, config, folder)
    curves: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    places: dict[str, Any] = {}
    films: dict[str, Any] = {}
    for kind, name, student in students(seed, data, valid, folder, config, teacher):
        place = folder / f"{name}, {kind}"
        curves[place.name] = curve(place)
        for way, system in ways_of(student, teacher, config).items():
            systems[f"{name}{way}, {kind}"] = system
        if isinstance(model := student.model, MaskPredict):
            tests = splits["test"]
            known, texts = told_lengths(student, tests, max(config["passes"]))
            told = score_translations(tests, texts).exact_match
            lengths[kind] = {"length right": known, "exact match, told the length": told}
            films[kind] = films_of(student, config["shown"]["film"], config["passes"])
            places[kind] = first_pass(model, vocabulary, config["shown"]["first pass"])
        if name == "deep encoder" and kind == "distilled":
            systems |= strong(student, folder / f"{name}, {kind}, exported", f"{name}, {kind}")
    said = {name: system([p.source for p in splits["test"]]) for name, system in systems.items()}
    return {
        "curves": curves,
        "scores": {
            **{name: scores_of(splits["test"], texts) for name, texts in said.items()},
            "lengths": lengths,
            "data": {kind: complexity(pairs, config) for kind, pairs in data.items()},
            **times(systems, [p.source for p in splits["test"]], config),
        },
        "texts": {
            "sources": [pair.source for pair in splits["test"][:20]],
            "said": {name: texts[:20] for name, texts in said.items()},
            "first pass": places,
            "films": films,
        },
    }


def first_pass(
    model: MaskPredict, vocabulary: Vocabulary, text: str
) -> list[list[tuple[str, float]]]:
    """The three likeliest pieces at each place, with their probabilities, when everything is a gap."""
    (ids,) = vocabulary.encode([text])
    with torch.inference_mode():
        memory, src_mask, lengths = model.read(torch.tensor([[*ids, EOS_ID]]))
        gaps = torch.full((1, 1 + int(lengths[0, 1:].argmax())), MASK_ID)
        likely = model.output(model.fill(gaps, memory, src_mask)).softmax(-1)[0].topk(3)
    return [
        [(vocabulary.piece(i), round(p, 4)) for i, p in zip(*row, strict=True)]
        for row in zip(likely.indices.tolist(), likely.values.tolist(), strict=True)
    ]


def complexity(pairs: Sequence[Pair], config: dict[str, Any]) -> dict[str, float]:
    """Conditional entropy after IBM model 1 and 2; the alignments' error where the right ones are known."""
    some = pairs[: config["n_aligned"]]
    rows = [(words(pair.source.lower()), words(pair.target.lower())) for pair in some]
    model, found = IbmModel(rows), {}
    for number, positions in enumerate((False, True), 1):
        for _ in range(config["updates"]):
            model.update(positions)
        links = model.align(rows)
        found[f"entropy, model {number}"] = round(conditional_entropy(rows, links), 5)
        if some[0].alignment:
            gold = [pair.alignment for pair in some]
            found[f"error rate, model {number}"] = round(alignment_error_rate(links, gold), 5)
    return found
