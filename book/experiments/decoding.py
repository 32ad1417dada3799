"""Which search finds what, in a briefly trained translator, and what the cache saves; with three seeds."""

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from transformer_course.corpus import grammar
from transformer_course.corpus.batches import collate
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.scoring import exact_match
from transformer_course.decoding import Hypothesis, beam_search, sample
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import log_softmax
from transformer_course.masking import padding_mask
from transformer_course.recipe import Recipe, encode_pairs, train_translator
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_pairs": 70_000,
    "n_test": 500,
    "beams": [1, 2, 4, 8, 16],
    "alphas": [0.0, 0.6],
    "n_drawn": 200,
    "draws": 5,  # of each sentence
    "sampling": {
        "T = 0.5": {"temperature": 0.5},
        "T = 1": {"temperature": 1.0},
        "T = 1.5": {"temperature": 1.5},
        "T = 1, k = 3": {"temperature": 1.0, "top_k": 3},
        "T = 1, p = 0.8": {"temperature": 1.0, "top_p": 0.8},
        "T = 1.5, p = 0.8": {"temperature": 1.5, "top_p": 0.8},
    },
    "n_trees": 4,
    "tree_beams": [1, 2, 3, 4, 5],
    "n_spreads": 4,
    "cache": {"preset": "small", "src_len": 16, "lengths": [16, 32, 64, 128, 256], "rounds": 5},
    "recipe": Recipe(
        vocab_size=4000,
        dropout=0.0,
        label_smoothing=0.0,
        training=TrainingConfig(
            max_steps=700,
            max_tokens=1280,
            peak_rate=2.5e-3,
            warmup_steps=100,
            validate_every=100,
        ),
    ).record(),
}
PROBE: dict[str, Any] = {
    "n_pairs": 400,
    "n_test": 8,
    "beams": [1, 2, 4],
    "n_drawn": 4,
    "draws": 2,
    "tree_beams": [1, 2],
    "n_spreads": 1,
    "cache": {"preset": "tiny", "lengths": [2, 4], "rounds": 1},
    "recipe": {
        "vocab_size": 500,
        "training": {"max_steps": 16, "max_tokens": 256, "warmup_steps": 6, "validate_every": 8},
    },
}
FORBIDDEN = [0, 1]  # <pad> and <s> are never chosen


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train a translator for a short time; search, sample and grow trees with it; time the cache."""
    translator = _trained(seed, config, folder)
    test = list(grammar.generate("test", config["n_test"], seed=0))
    found: dict[str, list[Hypothesis]] = {}
    scores: dict[str, Any] = {}
    for alpha in config["alphas"]:
        group: dict[str, dict[str, float]] = {}
        for beam in config["beams"]:
            best = [h[0] for h in _searched(translator, test, beam, alpha)]
            found[f"{beam}, {alpha}"] = best
            for score, value in _scored(translator, test, best).items():
                group.setdefault(score, {})[f"beam {beam}"] = value
        scores[f"α = {alpha:g}"] = group
    few, several = (found[f"{beam}, {config['alphas'][-1]}"] for beam in config["beams"][:2])
    scores |= _against(translator, test, few, several)
    scores["sampling"] = _sampled(translator, test[: config["n_drawn"]], seed, config)
    texts = {
        "trees": _trees(translator, test, few, several, config),
        "spreads": _spreads(translator, test[: config["n_drawn"]], config["n_spreads"]),
    }
    curves, speedup = _cache_times(seed, **config["cache"])
    scores["times faster with a cache"] = speedup
    return {"curves": curves, "scores": scores, "texts": texts}


def _trained(seed: int, config: dict[str, Any], folder: Path) -> Translator:
    """Train a translator, or go on where an earlier run was interrupted."""
    recipe = config["recipe"]
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    train = list(grammar.generate("train", config["n_pairs"], seed=0))
    valid = list(grammar.generate("valid", 300, seed=0))
    resume = (folder / "recipe.json").exists()
    recipe = Recipe(**recipe | {"training": training})
    return train_translator(train, valid, folder, recipe, resume=resume)[0]


def _searched(
    translator: Translator, pairs: list[Pair], beam: int, alpha: float
) -> list[list[Hypothesis]]:
    return translator.search([pair.source for pair in pairs], beam=beam, alpha=alpha)


def _scored(translator: Translator, pairs: list[Pair], best: list[Hypothesis]) -> dict[str, float]:
    """Right sentences, BLEU, mean log-probability and mean length of what a search found."""
    texts = translator.vocabulary.decode([h.ids for h in best])
    return {
        "right sentences": exact_match(pairs, texts),
        "BLEU": BLEU().corpus_score(texts, [[pair.target for pair in pairs]]).score,
        "log-probability": statistics.fmean(h.log_prob for h in best),
        "tokens": statistics.fmean(len(h.ids) for h in best),
    }


def _against(
    translator: Translator, pairs: list[Pair], few: list[Hypothesis], several: list[Hypothesis]
) -> dict[str, float]:
    """How often the second narrowest beam does better or worse than the narrowest, which is greedy."""
    rights = [_rights(translator, pairs, best) for best in (few, several)]
    outcomes = list(zip(*rights, strict=True))
    gains = [b.log_prob - a.log_prob for a, b in zip(few, several, strict=True)]
    return {
        "greedy wrong, beam 2 right": outcomes.count((False, True)) / len(pairs),
        "greedy right, beam 2 wrong": outcomes.count((True, False)) / len(pairs),
        "beam 2 found more probable": sum(gain > 1e-3 for gain in gains) / len(pairs),
        "beam 2 found less probable": sum(gain < -1e-3 for gain in gains) / len(pairs),
    }


def _rights(translator: Translator, pairs: list[Pair], best: list[Hypothesis]) -> list[bool]:
    texts = translator.vocabulary.decode([h.ids for h in best])
    return [pair.accepts(text) for pair, text in zip(pairs, texts, strict=True)]


def _sampled(
    translator: Translator, pairs: list[Pair], seed: int, config: dict[str, Any]
) -> dict[str, dict[str, float]]:
    """Share of right sentences among all draws, and how many different ones each source gets."""
    group: dict[str, dict[str, float]] = {"right sentences": {}, "different": {}}
    examples = encode_pairs(translator.vocabulary, pairs)
    src = collate(examples, range(len(examples))).src
    limit = min(42, translator.model.config.max_len)
    for name, settings in config["sampling"].items():
        generator = torch.Generator().manual_seed(seed)
        drawn = []
        for _ in range(config["draws"]):
            ids = sample(translator.model, src, limit, generator=generator, **settings)
            drawn.append(translator.vocabulary.decode(ids))
        right = [exact_match(pairs, texts) for texts in drawn]
        group["right sentences"][name] = statistics.fmean(right)
        different = [len(set(texts)) for texts in zip(*drawn, strict=True)]
        group["different"][name] = statistics.fmean(different)
    return group


def _trees(
    translator: Translator,
    pairs: list[Pair],
    few: list[Hypothesis],
    several: list[Hypothesis],
    config: dict[str, Any],
) -> list[dict[str, Any]]:
    """The shortest sentences that greedy decoding gets wrong and a beam of 2 right, with all their scores."""
    rights = [_rights(translator, pairs, best) for best in (few, several)]
    won = [
        i
        for i, outcome in enumerate(zip(*rights, strict=True))
        if outcome == (False, True) and several[i].log_prob > few[i].log_prob + 0.05
    ]
    won.sort(key=lambda i: (len(several[i].ids), i))
    return [_tree(translator, pairs[i], config["tree_beams"]) for i in won[: config["n_trees"]]]


def _tree(translator: Translator, pair: Pair, beams: list[int]) -> dict[str, Any]:
    """Every beginning that one of the beams keeps, with its best next tokens and their log-probabilities."""
    src = collate(encode_pairs(translator.vocabulary, [pair]), [0]).src
    longest = max(len(hypotheses[0].ids) for hypotheses in _searched(translator, [pair], 4, 0.6))
    limit = min(longest + 3, translator.model.config.max_len)
    branches: dict[tuple[int, ...], list[tuple[int, float]]] = {}
    for beam in beams:
        _grow(translator.model, src, beam, limit, 2 * max(beams), branches)
    piece = translator.vocabulary.piece

    def readable(ids: list[int] | tuple[int, ...]) -> str:
        return " ".join(map(piece, ids))

    found = {}
    for beam in beams:
        for alpha in (0.0, 0.6, 1.2):
            best = beam_search(translator.model, src, beam, limit, alpha=alpha)[0][0]
            found[f"beam {beam}, α = {alpha:g}"] = readable(best.ids)
    widest = max(beams)
    ranked = beam_search(translator.model, src, widest, limit, alpha=0.6, top_beams=widest)[0]
    return {
        "source": pair.source,
        "targets": list(pair.targets),
        "max_len": limit,
        "found": found,
        "top_beams": [f"{readable(h.ids)} {h.log_prob:.4f} {h.score:.4f}" for h in ranked],
        "branches": {
            readable(prefix): " ".join(f"{piece(token)} {value:.4f}" for token, value in tokens)
            for prefix, tokens in branches.items()
        },
    }


def _grow(
    model: Transformer,
    src: Tensor,
    beam: int,
    limit: int,
    width: int,
    branches: dict[tuple[int, ...], list[tuple[int, float]]],
) -> None:
    """Beam search that never stops early, one prefix at a time, noting what it sees in `branches`."""
    kept: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _ in range(limit):
        candidates = []
        for prefix, total in kept:
            if prefix not in branches:
                branches[prefix] = _next_tokens(model, src, prefix, width)
            candidates += [((*prefix, t), total + value) for t, value in branches[prefix]]
        candidates.sort(key=lambda candidate: -candidate[1])
        kept = [c for c in candidates[: 2 * beam] if c[0][-1] != 2][:beam]


@torch.inference_mode()
def _next_tokens(
    model: Transformer, src: Tensor, prefix: tuple[int, ...], width: int
) -> list[tuple[int, float]]:
    log_probs = log_softmax(model(src, torch.tensor([[1, *prefix]]))[0, -1])
    log_probs[FORBIDDEN] = -torch.inf
    best = log_probs.topk(min(width, len(log_probs) - len(FORBIDDEN)))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


@torch.inference_mode()
def _spreads(translator: Translator, pairs: list[Pair], count: int) -> list[dict[str, Any]]:
    """The positions where the model, given the right words so far, is least sure of the next one."""
    examples = encode_pairs(translator.vocabulary, pairs)
    piece = translator.vocabulary.piece
    ranked = []
    for i in range(len(examples)):
        batch = collate(examples, [i])
        log_probs = log_softmax(translator.model(batch.src, batch.tgt[:, :-1])[0])
        log_probs[:, FORBIDDEN] = -torch.inf
        entropies = -(log_probs.exp() * log_probs.clamp(min=-100)).sum(-1)
        # Only where whole words begin: they are easier to read than parts of words.
        whole = [all(piece(i).startswith("▁") for i in row.topk(12).indices) for row in log_probs]
        position = int((entropies * torch.tensor(whole)).argmax())
        ranked.append((float(entropies[position]), i, position, log_probs[position]))
    ranked.sort(key=lambda entry: -entry[0])
    spreads = []
    for entropy, i, position, row in ranked[:count]:
        best = row.topk(len(row) - len(FORBIDDEN))
        spreads.append(
            {
                "source": pairs[i].source,
                "so far": " ".join(map(piece, examples[i][1][:position])),
                "right": piece([*examples[i][1], 2][position]),
                "entropy": entropy,
                "pieces": " ".join(map(piece, best.indices[:40].tolist())),
                "log_probs": " ".join(f"{value:.3f}" for value in best.values.tolist()),
            }
        )
    return spreads


def _cache_times(
    seed: int, preset: str, src_len: int, lengths: list[int], rounds: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds to read n target tokens one by one with the cache and without, in rounds that take turns."""
    torch.manual_seed(seed)
    model = Transformer(getattr(TransformerConfig, preset)(1000)).eval()
    src = torch.randint(3, 1000, (1, src_len))
    ways: dict[str, Way] = {"with cache": _cached, "recomputed": _recomputed}
    curves: dict[str, list[float]] = {"length": [float(n) for n in lengths]}
    for n in lengths:
        tgt = torch.randint(3, 1000, (1, n))
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                times[name].append(_seconds(way, model, src, tgt))
        for name in ways:
            curves.setdefault(f"seconds, {name}", []).append(statistics.median(times[name]))
    pairs = zip(curves["seconds, recomputed"], curves["seconds, with cache"], strict=True)
    ratios = [slow / fast for slow, fast in pairs]
    return curves, {f"{n} tokens": ratio for n, ratio in zip(lengths, ratios, strict=True)}


Way = Callable[[Transformer, Tensor, Tensor], None]


@torch.inference_mode()
def _seconds(way: Way, model: Transformer, src: Tensor, tgt: Tensor) -> float:
    started = time.perf_counter()
    way(model, src, tgt)
    return time.perf_counter() - started


def _cached(model: Transformer, src: Tensor, tgt: Tensor) -> None:
    """Each step reads the newest token only, and chooses the next one as greedy decoding would."""
    src_mask = padding_mask(src, 0)
    memory = model.encode(src, src_mask)
    cache = model.start_cache(memory, src_mask, tgt.shape[1])
    for i in range(tgt.shape[1]):
        states = model.decode(tgt[:, i : i + 1], memory, src_mask, cache=cache)
        model.logits(states[:, -1]).argmax(-1)


def _recomputed(model: Transformer, src: Tensor, tgt: Tensor) -> None:
    """Each step reads all tokens so far again."""
    src_mask = padding_mask(src, 0)
    memory = model.encode(src, src_mask)
    for i in range(tgt.shape[1]):
        states = model.decode(tgt[:, : i + 1], memory, src_mask)
        model.logits(states[:, -1]).argmax(-1)
