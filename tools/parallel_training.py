"""What the experiments of chapter 13 have in common: a teacher, students of three kinds, and their times."""

import copy
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_course.corpus import grammar
from transformer_course.corpus.batches import BOS_ID, EOS_ID
from transformer_course.corpus.pairs import Pair, words
from transformer_course.decoding import Hypothesis
from transformer_course.encoder_decoder import Transformer
from transformer_course.evaluation import score_translations
from transformer_course.export.ctranslate2_model import EngineTranslator, export_ctranslate2
from transformer_course.fast import use_fast
from transformer_course.masking import padding_mask
from transformer_course.non_autoregressive import (
    FertilityTransformer,
    MaskPredict,
    NoisyParallel,
    distil,
    repeated_words,
)
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import GRAMMAR_RECIPE
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

System = Callable[[list[str]], list[str]]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SHORT: dict[str, Any] = {  # short pairs of the grammar, and how a model learns from them
    "longest": 7,  # words of a source, its mark counted
    "n_pairs": 100_000,
    "n_valid": 1000,
    "n_test": 1000,
    "beam": 4,
    "passes": [1, 2, 4, 10],
    "lengths": 5,
    "recipe": GRAMMAR_RECIPE.record()
    | {"training": asdict(GRAMMAR_RECIPE.training) | {"max_steps": 3000, "validate_every": 500}},
}
SHORT_PROBE: dict[str, Any] = {
    "longest": 9,
    "n_pairs": 300,
    "n_valid": 20,
    "n_test": 6,
    "beam": 2,
    "passes": [1, 2],
    "lengths": 2,
    "recipe": {
        "vocab_size": 400,
        "d_model": 32,
        "n_heads": 2,
        "d_ff": 64,
        "training": {"max_steps": 20, "max_tokens": 256, "warmup_steps": 5, "validate_every": 10},
    },
}


def short_splits(config: dict[str, Any]) -> dict[str, list[Pair]]:
    """Short pairs of the grammar to train on, to validate on, and to test on."""
    return {
        split: short_pairs(split, config[f"n_{name}"], config["longest"])
        for split, name in (("train", "pairs"), ("valid", "valid"), ("test", "test"))
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

    A parallel model begins with its teacher's weights, as the encoder of Gu et al. 2018 does. It is trained on
    a graphics card if there is one; what comes back is on the processor, where times are measured.
    """
    if (folder / "model.safetensors").exists():
        return Translator.load(folder)
    recipe = config["recipe"] | changes
    updates = config["recipe"]["training"] | changes.get("training", {})
    training = TrainingConfig(**updates | {"seed": seed})
    _, outcome = train_translator(
        train,
        valid,
        folder,
        Recipe(**recipe | {"training": training}),
        resume=(folder / "recipe.json").exists(),
        vocabulary=teacher.vocabulary if teacher else None,
        start=teacher if "model" in changes else None,
        device=DEVICE,
    )
    if outcome == "interrupted":
        raise KeyboardInterrupt
    return Translator.load(folder)


def students(
    seed: int,
    data: dict[str, list[Pair]],
    valid: Sequence[Pair],
    folder: Path,
    config: dict[str, Any],
    teacher: Translator,
) -> Iterator[tuple[str, str, Translator]]:
    """Train the students that the config names: kind of the pairs, name of the student, and the student.

    Word by word from raw pairs is the teacher.
    """
    for kind, pairs in data.items():
        for name, changes in config["models"].items():
            if kind == "raw" and name in config["only distilled"]:
                continue
            place = folder / f"{name}, {kind}"
            yield kind, name, trained(changes, seed, pairs, valid, place, config, teacher)


def curve(folder: Path) -> list[float]:
    """Held-out losses of a run."""
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    return [round(record["loss"], 5) for record in history]


def distilled(
    teacher: Translator, pairs: list[Pair], path: Path, config: dict[str, Any]
) -> list[Pair]:
    """What the teacher says to all sources, kept in a file: it takes a while."""
    if not path.exists():
        model = copy.deepcopy(teacher.model).to(DEVICE)
        found = distil(Translator(model, teacher.vocabulary), pairs, beam=config["beam"])
        path.write_text(json.dumps([pair.target for pair in found]), encoding="utf-8")
    targets = json.loads(path.read_text(encoding="utf-8"))
    return [Pair(pair.source, (text,)) for pair, text in zip(pairs, targets, strict=True)]


def ways_of(student: Translator, teacher: Translator, config: dict[str, Any]) -> dict[str, System]:
    """The ways in which a student is asked to translate."""
    model, vocabulary = student.model, student.vocabulary
    if isinstance(model, FertilityTransformer):
        assert isinstance(teacher.model, Transformer)
        return {
            f", {n} candidates": searching(
                Translator(NoisyParallel(model, teacher.model, n), vocabulary), 1
            )
            for n in config["candidates"]
        }
    if isinstance(model, MaskPredict):
        return {f", T = {n}": passing(student, n, config["lengths"]) for n in config["passes"]}
    return {", greedy": searching(student, 1)}


def searching(translator: Translator | EngineTranslator, beam: int) -> System:
    """A translator as a system with this width of beam."""
    return lambda texts: translator.translate(texts, beam=beam)


def passing(translator: Translator, passes: int, lengths: int) -> System:
    """Mask-predict with this many passes."""

    def translate(texts: list[str]) -> list[str]:
        translator.model.passes = passes
        return translator.translate(texts, beam=lengths)

    return translate


@torch.inference_mode()
def told_lengths(
    translator: Translator, pairs: Sequence[Pair], passes: int
) -> tuple[float, list[str]]:
    """How often mask-predict knows the length; and what it writes if told that of the first right answer."""
    model, vocabulary = translator.model, translator.vocabulary
    assert isinstance(model, MaskPredict)
    model.passes, known, rows = passes, 0, []
    for pair in pairs:
        source, *right = vocabulary.encode(
            [*map(vocabulary.normalise, (pair.source, *pair.targets))]
        )
        memory, src_mask, logits = model.read(torch.tensor([[*source, EOS_ID]]))
        known += int(logits[0, 1:].argmax()) + 1 in map(len, right)
        *_, last = model.go_over(torch.tensor([len(right[0])]), memory, src_mask)
        rows.append(last.tokens[0].tolist())
    return known / len(pairs), vocabulary.decode(rows)


class Uncached(Transformer):
    """Greedy search that reads the whole beginning again for each token: a weak opponent."""

    @torch.inference_mode()
    def translate_ids(self, src: Tensor, max_len: int = 100, **_: int) -> list[list[Hypothesis]]:
        """Translate; numbers for a beam are ignored."""
        src_mask = padding_mask(src, self.config.pad_id)
        memory = self.encode(src, src_mask)
        tgt = torch.full((len(src), 1), BOS_ID)
        while tgt.shape[1] <= max_len and not (tgt == EOS_ID).any(-1).all():
            logits = self.logits(self.decode(tgt, memory, src_mask))[:, -1]
            logits[:, [self.config.pad_id, BOS_ID]] = -torch.inf
            tgt = torch.cat([tgt, logits.argmax(-1, keepdim=True)], dim=1)
        rows = [row[1:] for row in tgt.tolist()]
        rows = [row[: row.index(EOS_ID) + 1] if EOS_ID in row else row for row in rows]
        return [[Hypothesis(row, 0.0, 0.0)] for row in rows]


def word_by_word(teacher: Translator, config: dict[str, Any], folder: Path) -> dict[str, System]:
    """The teacher's own ways: greedy, with a beam, in an engine made for speed, and without its cache."""
    assert isinstance(teacher.model, Transformer)
    weak = use_fast(Uncached(teacher.model.config))
    weak.load_state_dict(teacher.model.state_dict())
    return {
        "word by word, greedy": searching(teacher, 1),
        f"word by word, beam {config['beam']}": searching(teacher, config["beam"]),
        **strong(teacher, folder / "teacher, exported", "word by word"),
        "word by word, greedy, no cache": searching(Translator(weak, teacher.vocabulary), 1),
    }


def strong(translator: Translator, folder: Path, name: str) -> dict[str, System]:
    """A model that writes word by word in CTranslate2."""
    if not folder.exists():
        export_ctranslate2(translator, folder)
    return {f"{name}, greedy, CTranslate2": searching(EngineTranslator(folder), 1)}


def times(systems: dict[str, System], texts: list[str], config: dict[str, Any]) -> dict[str, Any]:
    """Seconds for one sentence and for a batch, all systems in turns: medians over the rounds.

    What a model learned from changes none of its shapes, so one of each is enough.
    """
    twins = "word by word, greedy, distilled"
    systems = {n: system for n, system in systems.items() if not n.endswith((", raw", twins))}
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
