"""Four ways to read a story, of which the experiments of chapter 12 have decoders of the same size."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from story_texts import Asked, Texts
from torch import Tensor

from transformer_course.families import DecoderOnly
from transformer_course.long_context import local_mask, read_in_segments

Words = tuple[int, ...]
Reader = Callable[[DecoderOnly, Tensor], Tensor]  # token ids → logits


def readers(config: dict[str, Any]) -> dict[str, Reader]:
    """How each of the systems reads a row: all have the same layers, and as many weights."""

    def in_segments(memory: int) -> Reader:
        return lambda model, ids: read_in_segments(model, ids, config["segment"], memory)

    def in_window(model: DecoderOnly, ids: Tensor) -> Tensor:
        return model(ids, local_mask(ids.shape[1], config["segment"]).to(ids.device))

    return {
        **{name: in_segments(memory) for name, memory in config["memories"].items()},
        "window": in_window,
        "full": lambda model, ids: model(ids),
    }


def most_frequent(train: Texts, test: Texts) -> dict[str, float]:
    """Share of answers that are the most frequent one in training, by kind of question."""
    seen: dict[str, Counter[Words]] = {}
    for one, words in _answers(train):
        seen.setdefault(one.kind, Counter())[words] += 1
    best = {kind: found.most_common(1)[0][0] for kind, found in seen.items()}
    right: dict[str, list[bool]] = {}
    for one, words in _answers(test):
        right.setdefault(one.kind, []).append(words == best.get(one.kind))
    return {kind: sum(found) / len(found) for kind, found in right.items()}


def _answers(some: Texts) -> Iterator[tuple[Asked, Words]]:
    """Each answer with its word ids."""
    for ids, asked in zip(some.ids.tolist(), some.asked, strict=True):
        for one in asked:
            yield one, tuple(ids[one.start : one.end])
