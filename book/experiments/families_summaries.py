"""Summaries of stories by a decoder alone: who ends where, and with what in hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from experiment_training import TODAYS_LAYER, trained_on

from transformer_course.corpus.stories import stories
from transformer_course.corpus.stories.baselines import (
    first_sentence,
    last_named_beside,
    last_sentence,
    most_frequent_summary,
    summary_of,
)
from transformer_course.corpus.stories.labels import Story
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import greedy
from transformer_course.encoder_decoder import LayerConfig
from transformer_course.families import DecoderConfig, DecoderOnly, Rows, language_model_loss
from transformer_course.fast import use_fast

CONFIG: dict[str, Any] = {
    "stages": [  # short stories first
        {
            "n": 40_000,
            "sentences": [4, 12],
            "batch_size": 32,
            "training": {
                "max_steps": 3000,
                "peak_rate": 2e-3,
                "warmup_steps": 200,
                "validate_every": 500,
            },
        },
        {
            "n": 20_000,
            "sentences": [8, 40],
            "batch_size": 8,
            "training": {
                "max_steps": 2000,
                "peak_rate": 1e-3,
                "warmup_steps": 100,
                "validate_every": 500,
            },
        },
    ],
    "n_valid": 64,
    "n_test": 40,  # of each length
    "lengths": [8, 16, 24, 32, 40],  # sentences of the test stories
    "vocab_size": 700,
    "layer": TODAYS_LAYER,
    "n_layers": 4,
    "max_len": 640,
}
PROBE: dict[str, Any] = {
    "stages": [
        {
            "n": 40,
            "sentences": [4, 8],
            "batch_size": 2,
            "training": {"max_steps": 6, "warmup_steps": 2, "validate_every": 3},
        }
    ],
    "n_valid": 4,
    "n_test": 1,
    "lengths": [8],
    "layer": {"d_model": 32, "n_heads": 2, "d_ff": 64},
    "n_layers": 1,
    "max_len": 1200,
    "vocab_size": 400,
}


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train on stories; measure whole summaries, and single lines of them, at each length."""
    told = [
        list(stories("train", stage["n"], 0, tuple(stage["sentences"])))
        for stage in config["stages"]
    ]
    lines = (pair.source for story in told[-1] for pair in (*story.sentences, *story.summary))
    vocabulary = Vocabulary.train(lines, config["vocab_size"])
    torch.manual_seed(seed)
    sizes = DecoderConfig(
        len(vocabulary),
        LayerConfig(**config["layer"]),
        config["n_layers"],
        max_len=config["max_len"],
        positions="none",
    )
    model = use_fast(DecoderOnly(sizes))
    curves = {}
    for stage, some in zip(config["stages"], told, strict=True):
        least, most = stage["sentences"]
        valid = list(stories("valid", config["n_valid"], 0, (least, most)))
        train, held = (rows(them, vocabulary, stage["batch_size"]) for them in (some, valid))
        training = stage["training"] | {"seed": seed}
        name = f"{least} to {most} sentences"
        _, trainer = trained_on(model, train, held, training, folder / name, language_model_loss)
        curves[name] = [round(record["loss"], 5) for record in trainer.history]
    systems: dict[str, Callable[[Story], str]] = {
        "decoder": lambda story: summarised(model, story, vocabulary),
        "first sentence": first_sentence,
        "last sentence": last_sentence,
        "most frequent summary": most_frequent_summary(told[-1]),
        "last named beside": last_named_beside,
    }
    scores: dict[str, Any] = {"whole summaries right": {}, "lines right": {}}
    said = []
    for length in config["lengths"]:
        test = list(stories("test", config["n_test"], 0, length))
        for name, system in systems.items():
            summaries = [system(story) for story in test]
            whole, single = measured(test, summaries)
            scores["whole summaries right"].setdefault(name, {})[str(length)] = whole
            scores["lines right"].setdefault(name, {})[str(length)] = single
            if name == "decoder":
                said.append([text_of(test[0]), summaries[0], summary_of(test[0])])
    return {"curves": curves, "scores": scores, "texts": {"said": said}}


def text_of(story: Story) -> str:
    """The story as one text."""
    return " ".join(pair.source for pair in story.sentences)


def rows(some: Sequence[Story], vocabulary: Vocabulary, batch_size: int) -> Rows:
    """Story, </s>, <s>, summary, </s> in one row; the loss counts the summary only."""
    texts = vocabulary.encode([text_of(story) for story in some])
    ends = vocabulary.encode([summary_of(story) for story in some])
    whole = [[*text, 2, 1, *end, 2] for text, end in zip(texts, ends, strict=True)]
    lengths = [len(text) + 2 for text in texts]
    return Rows(whole, prompt_lengths=lengths, batch_size=batch_size)


def summarised(model: DecoderOnly, story: Story, vocabulary: Vocabulary) -> str:
    """What greedy search writes after the story."""
    prompt = torch.tensor([[*vocabulary.encode([text_of(story)])[0], 2, 1]])
    ids = greedy(model, prompt, 120)[0]
    return vocabulary.decode([[i for i in ids if i != 2]])[0]


def measured(test: Sequence[Story], summaries: Sequence[str]) -> tuple[float, float]:
    """Share of summaries that are wholly right, and of their lines that are: each says where one being ends."""
    whole, right, lines = 0, 0, 0
    for story, summary in zip(test, summaries, strict=True):
        whole += summary == summary_of(story)
        right += sum(pair.source in summary for pair in story.summary)
        lines += len(story.summary)
    return round(whole / len(test), 5), round(right / lines, 5)
