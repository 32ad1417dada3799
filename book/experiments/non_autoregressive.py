"""Translating in one pass or in a few, on the grammar: quality from raw and distilled data, and measured times.

It trains seven models a seed, for hours, so it has to be named:
python tools/run_experiments.py non_autoregressive
"""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.corpus import grammar
from transformer_course.corpus.batches import BOS_ID, EOS_ID
from transformer_course.corpus.pairs import Pair, words
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer
from transformer_course.evaluation import score_translations
from transformer_course.export.ctranslate2_model import EngineTranslator, export_ctranslate2
from transformer_course.figures.pass_explorer import films_of
from transformer_course.inspecting import alignment_error_rate
from transformer_course.masking import padding_mask
from transformer_course.non_autoregressive import (
    MASK_ID,
    FertilityTransformer,
    IbmModel,
    MaskPredict,
    NoisyParallel,
    conditional_entropy,
    distil,
    repeated_words,
)
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import GRAMMAR_RECIPE
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

APART = True
CONFIG: dict[str, Any] = {
    "longest": 7,  # words of a source, its mark counted
    "n_pairs": 100_000,
    "n_valid": 1000,
    "n_test": 1000,
    "n_aligned": 20_000,  # pairs whose alignments and entropy are measured
    "updates": 5,  # of IBM model 1, then of model 2
    "beam": 4,
    "candidates": [1, 10],
    "passes": [1, 2, 4, 10],
    "lengths": 5,
    "rounds": 7,  # of the times
    "batch": 64,
    "shown": {"first pass": "You wash your hands.", "film": "This nun's scarf is big."},
    "recipe": GRAMMAR_RECIPE.record()
    | {"training": asdict(GRAMMAR_RECIPE.training) | {"max_steps": 3000, "validate_every": 500}},
    "models": {  # what differs from the recipe
        "deep encoder": {"n_layers": 5, "n_decoder_layers": 1},
        "fertilities": {"model": "nat"},
        "mask-predict": {"model": "mask-predict"},
    },
}
PROBE: dict[str, Any] = {
    "longest": 9,
    "n_pairs": 300,
    "n_valid": 20,
    "n_test": 6,
    "n_aligned": 60,
    "updates": 2,
    "beam": 2,
    "candidates": [1, 3],
    "passes": [1, 2],
    "lengths": 2,
    "rounds": 1,
    "batch": 4,
    "shown": {"first pass": "You are sleepy.", "film": "The cat sleeps."},
    "recipe": {
        "vocab_size": 400,
        "d_model": 32,
        "n_heads": 2,
        "d_ff": 64,
        "training": {"max_steps": 20, "max_tokens": 256, "warmup_steps": 5, "validate_every": 10},
    },
}
System = Callable[[list[str]], list[str]]


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train teacher and students with one seed; return scores, complexity of the data, and times."""
    splits = {
        split: short_pairs(split, config[f"n_{name}"], config["longest"])
        for split, name in (("train", "pairs"), ("valid", "valid"), ("test", "test"))
    }
    raw, valid = splits["train"], splits["valid"]
    teacher = trained({}, seed, raw, valid, folder / "teacher", config)
    data = {
        "raw": raw,
        "distilled": distilled(teacher, raw, folder / "distilled.json", config),
    }
    vocabulary = teacher.vocabulary
    systems: dict[str, System] = {
        "word by word, greedy": searching(teacher, 1),
        f"word by word, beam {config['beam']}": searching(teacher, config["beam"]),
    }
    systems |= strong_and_weak(teacher, folder / "teacher, exported")
    curves: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    places: dict[str, Any] = {}
    films: dict[str, Any] = {}
    for kind, pairs in data.items():
        for name, changes in config["models"].items():
            if kind == "raw" and "model" not in changes:
                continue  # Kasai et al. 2021 distil, too
            place = folder / f"{name}, {kind}"
            student = trained(changes, seed, pairs, valid, place, config, teacher)
            history = json.loads((place / "history.json").read_text(encoding="utf-8"))
            curves[f"{name}, {kind}"] = [round(record["loss"], 5) for record in history]
            for way, system in ways_of(student, teacher, config).items():
                systems[f"{name}{way}, {kind}"] = system
            if isinstance(model := student.model, MaskPredict):
                tests = splits["test"]
                lengths[kind] = with_lengths(model, vocabulary, tests, max(config["passes"]))
                films[kind] = films_of(student, config["shown"]["film"], config["passes"])
                places[kind] = first_pass(model, vocabulary, config["shown"]["first pass"])
            if name == "deep encoder":
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


def short_pairs(split: str, count: int, longest: int) -> list[Pair]:
    """The first so many pairs of the grammar whose source is short enough."""
    every = grammar.generate(split, 100 * count, seed=0)
    return list(islice((pair for pair in every if len(words(pair.source)) <= longest), count))


def trained(
    changes: dict[str, Any],
    seed: int,
    train: Sequence[Pair],
    valid: Sequence[Pair],
    folder: Path,
    config: dict[str, Any],
    teacher: Translator | None = None,
) -> Translator:
    """A translator of the recipe with these changes; an interrupted run goes on.

    A parallel model begins with its teacher's weights, as the encoder of Gu et al. 2018 does.
    """
    if (folder / "model.safetensors").exists():
        return Translator.load(folder)
    recipe = config["recipe"] | changes
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    translator, outcome = train_translator(
        train,
        valid,
        folder,
        Recipe(**recipe | {"training": training}),
        resume=(folder / "recipe.json").exists(),
        vocabulary=teacher.vocabulary if teacher else None,
        start=teacher if "model" in changes else None,
    )
    if outcome == "interrupted":
        raise KeyboardInterrupt
    return translator


def distilled(
    teacher: Translator, pairs: list[Pair], path: Path, config: dict[str, Any]
) -> list[Pair]:
    """What the teacher says to all sources, kept in a file: it takes a while."""
    if not path.exists():
        found = distil(teacher, pairs, beam=config["beam"])
        path.write_text(json.dumps([pair.target for pair in found]), encoding="utf-8")
    targets = json.loads(path.read_text(encoding="utf-8"))
    return [Pair(pair.source, (text,)) for pair, text in zip(pairs, targets, strict=True)]


def ways_of(student: Translator, teacher: Translator, config: dict[str, Any]) -> dict[str, System]:
    """The ways in which a student is asked to translate."""
    model, vocabulary = student.model, student.vocabulary
    if isinstance(model, FertilityTransformer):
        return {
            f", {n} candidates": searching(
                Translator(NoisyParallel(model, teacher.model, n), vocabulary), 1
            )
            for n in config["candidates"]
        }
    if isinstance(model, MaskPredict):
        return {f", T = {n}": passing(student, n, config["lengths"]) for n in config["passes"]}
    return {", greedy": searching(student, 1)}


def searching(translator: Translator, beam: int) -> System:
    """A translator as a system with this width of beam."""
    return lambda texts: translator.translate(texts, beam=beam)


def passing(translator: Translator, passes: int, lengths: int) -> System:
    """Mask-predict with this many passes."""

    def translate(texts: list[str]) -> list[str]:
        translator.model.passes = passes
        return translator.translate(texts, beam=lengths)

    return translate


class Uncached(nn.Module):
    """Greedy search that reads the whole beginning again for each token: a weak opponent."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.config, self.model = model.config, model

    @torch.inference_mode()
    def translate_ids(self, src: Tensor, max_len: int = 100, **_: int) -> list[list[Hypothesis]]:
        """Translate; numbers for a beam are ignored."""
        src_mask = padding_mask(src, self.config.pad_id)
        memory = self.model.encode(src, src_mask)
        tgt = torch.full((len(src), 1), BOS_ID)
        while tgt.shape[1] <= max_len and not (tgt == EOS_ID).any(-1).all():
            logits = self.model.logits(self.model.decode(tgt, memory, src_mask))[:, -1]
            logits[:, [self.config.pad_id, BOS_ID]] = -torch.inf
            tgt = torch.cat([tgt, logits.argmax(-1, keepdim=True)], dim=1)
        rows = [row[1:] for row in tgt.tolist()]
        rows = [row[: row.index(EOS_ID) + 1] if EOS_ID in row else row for row in rows]
        return [[Hypothesis(row, 0.0, 0.0)] for row in rows]


def strong_and_weak(teacher: Translator, folder: Path) -> dict[str, System]:
    """The teacher in an engine made for speed, and without its cache."""
    weak = Translator(Uncached(teacher.model), teacher.vocabulary)
    return strong(teacher, folder, "word by word") | {
        "word by word, greedy, no cache": searching(weak, 1)
    }


def strong(translator: Translator, folder: Path, name: str) -> dict[str, System]:
    """A model that writes word by word in CTranslate2."""
    if not folder.exists():
        export_ctranslate2(translator, folder)
    return {f"{name}, greedy, CTranslate2": searching(EngineTranslator(folder), 1)}


@torch.inference_mode()
def with_lengths(
    model: MaskPredict, vocabulary: Vocabulary, pairs: Sequence[Pair], passes: int
) -> dict[str, float]:
    """How often mask-predict knows the length; and what it scores if told that of the first right answer."""
    model.passes, known, rows = passes, 0, []
    for pair in pairs:
        source, *right = vocabulary.encode(
            [*map(vocabulary.normalise, (pair.source, *pair.targets))]
        )
        memory, src_mask, logits = model.read(torch.tensor([[*source, EOS_ID]]))
        known += int(logits[0, 1:].argmax()) + 1 in map(len, right)
        *_, last = model.go_over(torch.tensor([len(right[0])]), memory, src_mask)
        rows.append(last.tokens[0].tolist())
    return {
        "length right": known / len(pairs),
        "exact match, told the length": score_translations(
            pairs, vocabulary.decode(rows)
        ).exact_match,
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


def scores_of(pairs: Sequence[Pair], texts: Sequence[str]) -> dict[str, float]:
    """What a system scores; mixtures are a share of the sentences that have several right answers."""
    scores = score_translations(pairs, texts)
    several = [
        is_mixture(pair, text)
        for pair, text in zip(pairs, texts, strict=True)
        if len(pair.targets) > 1
    ]
    return {
        "exact match": scores.exact_match,
        "BLEU": round(scores.bleu, 3),
        "repeated words": round(repeated_words(texts), 5),
        "mixtures": round(sum(several) / max(1, len(several)), 5),
    }


def is_mixture(pair: Pair, text: str) -> bool:
    """Whether a wrong answer has at each place a word of a right one."""
    said = words(text)
    same = [row for row in map(words, pair.targets) if len(row) == len(said)]
    fits = all(word in column for word, *column in zip(said, *same, strict=True))
    return bool(same) and fits and not pair.accepts(text)


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


def times(systems: dict[str, System], texts: list[str], config: dict[str, Any]) -> dict[str, Any]:
    """Seconds for one sentence and for a batch, all systems in turns: medians over the rounds."""
    of_one: dict[str, list[float]] = {name: [] for name in systems}
    of_batch: dict[str, list[float]] = {name: [] for name in systems}
    for n in range(config["rounds"]):
        one, batch = texts[n : n + 1], texts[n : n + config["batch"]]
        for name, system in systems.items():
            of_one[name].append(seconds(system, one))
            of_batch[name].append(seconds(system, batch))
    return {
        "seconds, one sentence": {name: statistics.median(found) for name, found in of_one.items()},
        "seconds, a batch": {name: statistics.median(found) for name, found in of_batch.items()},
    }


def seconds(system: System, texts: list[str]) -> float:
    """How long a system takes."""
    started = time.perf_counter()
    system(texts)
    return time.perf_counter() - started
