"""What goes on inside the trained translator, measured where the grammar knows the truth; three seeds."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import Tensor

from transformer_course.checkpoints import read_json, write_json
from transformer_course.corpus import grammar
from transformer_course.corpus.grammar.coreference import ANIMALS, OF_ANIMALS, OF_STREETS, WAYS
from transformer_course.corpus.grammar.lexicon import ADJECTIVE, NOUN, VERB
from transformer_course.corpus.grammar.orthography import CAREFUL
from transformer_course.corpus.pairs import Pair, words
from transformer_course.corpus.scoring import exact_match
from transformer_course.encoder_decoder import Transformer
from transformer_course.inspecting import (
    READINGS,
    alignment_error_rate,
    changed_attention,
    control_labels,
    equal_weights,
    gradient_times_input,
    kendall_tau,
    layer_names,
    leave_one_out,
    logit_lens,
    patching_map,
    pattern_scores,
    recorded,
    rollout,
    train_probe,
    value_norms,
    word_links,
    word_weights,
)
from transformer_course.loss import log_softmax
from transformer_course.masking import padding_mask
from transformer_course.multi_head import record_attention
from transformer_course.recipe import Recipe, train_translator
from transformer_course.runs import GRAMMAR_RECIPE, Data
from transformer_course.training import TrainingConfig
from transformer_course.translator import Translator

CONFIG: dict[str, Any] = {
    "n_pairs": Data.n_pairs,
    "n_valid": 1000,
    "n_patterns": 200,
    "n_aligned": 400,
    "n_patched": 100,
    "only_right": True,
    "n_explained": 100,
    "n_changed": 300,
    "n_probed": [3000, 1500],
    "recipe": GRAMMAR_RECIPE.record()
    | {"training": asdict(GRAMMAR_RECIPE.training) | {"max_steps": 5400, "validate_every": 600}},
}
CONFIG["recipe"]["training"] |= {"precision": "bf16"}
PROBE: dict[str, Any] = {
    "n_pairs": 1000,
    "n_valid": 30,
    "n_patterns": 3,
    "n_aligned": 6,
    "n_patched": 2,
    "only_right": False,
    "n_explained": 2,
    "n_changed": 6,
    "n_probed": [60, 40],
    "recipe": {
        "training": {"max_steps": 12, "max_tokens": 256, "warmup_steps": 4, "validate_every": 6},
    },
}
ENCODER = "encoder_layers.{}.self_attention"
SELF = "decoder_layers.{}.self_attention"
CROSS = "decoder_layers.{}.cross_attention"

Ids = tuple[Tensor, Tensor]  # source with </s>, target with <s> and </s>, each (1, length)


def run(seed: int, config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Train the recipe's translator with one seed, then look inside."""
    recipe = config["recipe"]
    training = TrainingConfig(**recipe["training"] | {"seed": seed})
    translator, _ = train_translator(
        list(grammar.generate("train", config["n_pairs"], seed=0)),
        list(grammar.generate("valid", config["n_valid"], seed=0)),
        folder,
        Recipe(**recipe | {"training": training}),
        resume=(folder / "recipe.json").exists(),
    )
    translator = Translator.load(folder)  # attention written out, so that its maps can be seen
    parts: dict[str, Callable[[Translator, dict[str, Any]], Any]] = {
        "patterns": patterns,
        "alignment error rate": alignments,
        "patching": patching,
        "gender from": gender_from,
        "explanations": explanations,
        "other weights": other_weights,
        "probes": probes,
        "lens": lens,
    }
    scores: dict[str, Any] = {}
    for name, measure in parts.items():
        done = folder / f"{name.replace(' ', '-')}.json"
        if not done.exists():
            write_json(done, {"found": rounded(measure(translator, config))})
        scores[name] = read_json(done)["found"]
    return {"curves": {}, "scores": tables(scores)}


def short(name: str) -> str:
    """A layer as a reader counts it: encoder_layers.0.self_attention → encoder 1."""
    side, _, rest = name.partition("_layers.")
    return f"{side} {int(rest[0]) + 1}" if rest else "embedding"


def tables(found: dict[str, Any]) -> dict[str, Any]:
    """What was measured as tables: group → row → column → number."""
    patched, aligned = found["patching"], found["alignment error rate"]
    heads = {
        f"{short(name)}, head {head + 1}": {p: row[head] for p, row in scores.items()}
        for name, scores in found["patterns"].items()
        for head in range(len(scores["previous"]))
    }
    rates = {
        f"{short(name)}, {'mean' if which == 'mean' else f'head {int(which) + 1}'}": {
            reading: aligned[reading][name][which] for reading in READINGS
        }
        for name, of_heads in aligned["predicts"].items()
        for which in of_heads
    }
    looks = ("noun meant", "other noun", "it", "adjective")
    seen = {
        f"{short(name)}, head {head + 1}": dict(zip(looks, row, strict=True))
        | {"noun meant ahead": patched["attention"][f"{name}, right noun first"][head]}
        for name, rows in patched["attention"].items()
        if not name.endswith("first")
        for head, row in enumerate(rows)
    }
    layers = {
        kind: {short(n): dict(zip(names, row, strict=True)) for n, row in patched[kind].items()}
        for kind, names in (
            ("encoder", patched["roles"]),
            ("decoder", patched["decoder positions"]),
        )
    }
    parts = {
        f"{short(name)}, {name.split('.')[-1].replace('_', '-')}": {"share of the way": share}
        for name, share in patched["parts"].items()
    }
    probed = {
        f"probes: {task}": {short(layer): row for layer, row in rows.items()}
        for task, rows in found["probes"].items()
    }
    return {
        "alignment error rate of the diagonal": aligned["diagonal"],
        "alignment error rate of one right link a word": aligned["one right link a word"],
        "sentences with il or elle": patched["sentences"],
        "another gender": found["gender from"],
        "self-attention": heads,
        "alignment error rate": rates,
        "patched in the encoder": layers["encoder"],
        "patched in the decoder": layers["decoder"],
        "patched after qu'": parts,
        "looked at": seen,
        "ranked like leave-one-out": turned(found["explanations"]),
        "cross-attention with other weights": turned(found["other weights"]),
        **probed,
        "logit lens": {short(n): row for n, row in turned(found["lens"]).items()},
    }


def turned(columns: dict[str, Any]) -> dict[str, Any]:
    """Column → row → number, turned to row → column → number; single numbers are left out."""
    whole = {name: column for name, column in columns.items() if isinstance(column, dict)}
    rows = next(iter(whole.values()))
    return {row: {name: column[row] for name, column in whole.items()} for row in rows}


def rounded(value: Any) -> Any:
    """The same with four digits behind the point, tensors as lists."""
    if isinstance(value, Tensor):
        return rounded(value.tolist())
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def model_of(translator: Translator) -> Transformer:
    """The translator's model, which is a Transformer."""
    assert isinstance(translator.model, Transformer)
    return translator.model


def ids_of(translator: Translator, pair: Pair) -> Ids:
    """A pair as ids."""
    src, tgt = translator.vocabulary.encode([pair.source, pair.target])
    return torch.tensor([[*src, 2]]), torch.tensor([[1, *tgt, 2]])


def whole_words(translator: Translator, text: str) -> bool:
    """Whether each word of a sentence is one subword."""
    return len(translator.vocabulary.encode([text])[0]) == len(words(text))


@torch.no_grad()
def maps_of(translator: Translator, ids: Ids) -> dict[str, Tensor]:
    """All attention maps while the model reads a pair: name → (heads, q_len, k_len)."""
    src, tgt = ids
    with record_attention(translator.model) as maps:
        translator.model(src, tgt[:, :-1])
    return {name: weights[0] for name, weights in maps.items()}


def patterns(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Where the heads of self-attention look, on average: attention → pattern → heads."""
    pairs = list(grammar.generate("test", config["n_patterns"], seed=1, style=CAREFUL))
    found: dict[str, dict[str, list[Tensor]]] = {}
    for pair in pairs:
        for name, weights in maps_of(translator, ids_of(translator, pair)).items():
            if "self" in name:
                for pattern, score in pattern_scores(weights).items():
                    found.setdefault(name, {}).setdefault(pattern, []).append(score)
    return {n: {p: torch.stack(s).mean(0) for p, s in f.items()} for n, f in found.items()}


def alignments(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Error rate against the grammar's alignments: reading → attention → heads, and of their mean."""
    model, vocabulary = model_of(translator), translator.vocabulary
    pairs = list(grammar.generate("test", config["n_aligned"], seed=2))
    links: dict[tuple[str, str, str], list[set[tuple[int, int]]]] = {}
    diagonal = []
    for pair in pairs:
        ids = ids_of(translator, pair)
        places = [vocabulary.word_indices(text) for text in (pair.source, pair.target)]
        with torch.no_grad():
            memory = model.encode(ids[0])
        for name, weights in maps_of(translator, ids).items():
            if "cross" not in name:
                continue
            norms = value_norms(model.get_submodule(name), memory)[0].detach()  # type: ignore[arg-type]
            for reading in READINGS:
                between = word_weights(weights, *places, reading, norms)
                for head, of_head in enumerate([*between, between.mean(0)]):
                    which = "mean" if head == len(between) else str(head)
                    links.setdefault((reading, name, which), []).append(word_links(of_head))
        n_src, n_tgt = len(words(pair.source)), len(words(pair.target))
        slope = (n_src - 1) / max(1, n_tgt - 1)
        diagonal.append({(round(target * slope), target) for target in range(n_tgt)})
    gold = [pair.alignment for pair in pairs]
    found: dict[str, Any] = {"diagonal": alignment_error_rate(diagonal, gold)}
    best = [{next((x for x in g if x[1] == t), (0, t)) for t in {t for _, t in g}} for g in gold]
    found["one right link a word"] = alignment_error_rate(best, gold)
    for (reading, name, which), sets in links.items():
        of_name = found.setdefault(reading, {}).setdefault(name, {})
        of_name[which] = alignment_error_rate(sets, gold)
    return found


def rivals(translator: Translator, config: dict[str, Any]) -> list[tuple[Pair, Pair]]:
    """Pairs of sentences that differ in the last adjective only, so that *it* is the animal, or the way.

    The two nouns differ in gender, each word is one subword, and the model says *il* in one and *elle* in the
    other, as it should. (A model that is hardly trained need not: `only_right` of the config.)
    """
    dice, n = Random(0), config["n_patched"]
    found: list[tuple[Pair, Pair]] = []
    seen: set[tuple[str, ...]] = set()
    street = [a.name for a in OF_STREETS]
    animal = [a.name for a in OF_ANIMALS]
    gender = {noun.name: noun.gender for noun in NOUN.values()}
    for pair in grammar.sentences_with("antecedent", "test", 40 * n, style=CAREFUL):
        said = words(pair.source)
        nouns = [word for word in said if word in gender]
        if len(nouns) != 2 or gender[nouns[0]] == gender[nouns[1]] or tuple(nouns) in seen:
            continue
        others = street if said[-2] in animal else animal if said[-2] in street else []
        if not others:
            continue
        other = " ".join([*said[:-2], dice.choice(others)]) + "."
        turned = pair.target.replace("qu'il ", "qu'? ").replace("qu'elle ", "qu'il ")
        turned = turned.replace("qu'? ", "qu'elle ")
        if not whole_words(translator, pair.source) or not whole_words(translator, other):
            continue
        rival = replace(pair, source=other, targets=(turned,))
        sides = [answer(translator, one) for one in (pair, rival)]
        if not config["only_right"] or sides == [pronoun(translator, one) for one in (pair, rival)]:
            seen.add(tuple(nouns))
            found.append((pair, rival))
        if len(found) == n:
            break
    return found


def before_pronoun(translator: Translator, pair: Pair) -> tuple[Tensor, int]:
    """Target ids up to *qu'*, with <s>, and the id of the pronoun that follows."""
    start = pair.target.index("qu'") + 3
    whole = translator.vocabulary.encode([pair.target])[0]
    so_far = translator.vocabulary.encode([pair.target[:start]])[0]
    return torch.tensor([[1, *so_far]]), whole[len(so_far)]


def pronoun(translator: Translator, pair: Pair) -> int:
    """The id of the pronoun in the right translation."""
    return before_pronoun(translator, pair)[1]


@torch.no_grad()
def answer(translator: Translator, pair: Pair) -> int:
    """The id that the model puts after *qu'*."""
    model = model_of(translator)
    return int(
        model(ids_of(translator, pair)[0], before_pronoun(translator, pair)[0])[0, -1].argmax()
    )


ROLES = ("the 1", "noun 1", "verb", "the 2", "noun 2", "because", "it", "was", "too", "adjective")


def roles(source: str) -> dict[str, int]:
    """Where the words are that all these sentences have."""
    said = words(source)
    because = said.index("because")
    places = [0, 1, because - 3, because - 2, because - 1, *range(because, because + 5)]
    return dict(zip(ROLES, places, strict=True)) | {".": len(said) - 1, "</s>": len(said)}


def patching(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Which vectors turn *il* into *elle*: part of the model → role of the word → share of the way."""
    model = model_of(translator)
    encoder, decoder = layer_names(model, "encoder"), layer_names(model, "decoder")
    parts = [
        f"{n}.{k}" for n in decoder for k in ("self_attention", "cross_attention", "feed_forward")
    ]
    sums: dict[str, Any] = {"encoder": [], "decoder": [], "parts": []}
    looks: dict[str, list[Tensor]] = {}
    for pair, rival in _both_ways(rivals(translator, config)):
        src, other_src = (ids_of(translator, one)[0] for one in (pair, rival))
        tgt, right = before_pronoun(translator, pair)
        difference = _preference(model, src, tgt, right, pronoun(translator, rival))
        with torch.no_grad(), recorded(model, [*encoder, *decoder, *parts]) as there:
            turned = difference(other_src)
        whole = difference().detach()
        places = roles(pair.source)
        last = tgt.shape[1] - 1
        for kind, names, where in (
            ("encoder", encoder, list(places.values())),
            ("decoder", decoder, list(range(last + 1))),
            ("parts", parts, [last]),
        ):
            with torch.no_grad():
                table = patching_map(model, difference, {n: there[n] for n in names}, where)
            share = (whole - table) / (whole - turned)
            if (
                kind == "decoder"
            ):  # sentences differ in length: the last two positions, and the best of the others
                share = torch.stack([share[:, :-2].amax(1), share[:, -2], share[:, -1]], 1)
            sums[kind].append(share)
        _look(translator, pair, places, last, looks)
    means = {kind: torch.stack(tables).mean(0) for kind, tables in sums.items()}
    return {
        "sentences": len(sums["encoder"]),
        "encoder": dict(zip(encoder, means["encoder"], strict=True)),
        "roles": [*ROLES, ".", "</s>"],
        "decoder": dict(zip(decoder, means["decoder"], strict=True)),
        "decoder positions": ["before parce", "parce", "qu'"],
        "parts": dict(zip(parts, means["parts"][:, 0], strict=True)),
        "attention": {name: torch.stack(found).mean(0) for name, found in looks.items()},
    }


def _preference(
    model: Transformer, src: Tensor, tgt: Tensor, right: int, wrong: int
) -> Callable[..., Tensor]:
    """By how much the model prefers one pronoun to the other, in nats, after a source and a beginning."""

    def difference(source: Tensor = src, so_far: Tensor = tgt) -> Tensor:
        log_probs = log_softmax(model(source, so_far))[0, -1]
        return log_probs[right] - log_probs[wrong]

    return difference


@torch.no_grad()
def gender_from(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Where the gender is read: the noun that *it* means is exchanged in the source or in the French only.

    The other noun of the same kind has the other gender. Gives the share of the way to the other pronoun.
    """
    model, dice = model_of(translator), Random(1)
    shares: dict[str, list[float]] = {"in the source only": [], "in the French only": []}
    for pair, _ in _both_ways(rivals(translator, config)):
        said = words(pair.source)
        wanted = "m" if "qu'il" in pair.target else "f"
        meant = next(i for i, w in enumerate(said) if w in NOUN and NOUN[w].gender == wanted)
        animal = "animal" in NOUN[said[meant]].classes
        alike = [
            noun.name
            for noun in (ANIMALS if animal else WAYS)
            if noun.gender != wanted and not noun.classes & {"water", "land"}
        ]
        said[meant] = dice.choice(alike)
        other = " ".join(said[:-1]) + "."
        if not whole_words(translator, other):
            continue
        french = translator.translate(other, beam=1)
        rival = Pair(other, (french,))
        if ("qu'elle" if wanted == "m" else "qu'il") not in french:
            continue
        tgt, right = before_pronoun(translator, pair)
        other_tgt, wrong = before_pronoun(translator, rival)
        other_src = ids_of(translator, rival)[0]
        difference = _preference(model, ids_of(translator, pair)[0], tgt, right, wrong)
        whole, turned = difference(), difference(other_src, other_tgt)
        for name, mixed in zip(
            shares, (difference(other_src), difference(so_far=other_tgt)), strict=True
        ):
            shares[name].append(float((whole - mixed) / (whole - turned)))
    return {"sentences": len(shares["in the source only"])} | {
        name: float(torch.tensor(found).mean()) for name, found in shares.items() if found
    }


def _both_ways(found: Sequence[tuple[Pair, Pair]]) -> list[tuple[Pair, Pair]]:
    return [ways for pair in found for ways in (pair, pair[::-1])]


def _look(
    translator: Translator,
    pair: Pair,
    places: dict[str, int],
    last: int,
    looks: dict[str, list[Tensor]],
) -> None:
    """What *it* looks at in the encoder, and the step before the pronoun in the decoder."""
    gender = {noun.name: noun.gender for noun in NOUN.values()}
    said = words(pair.source)
    wanted = "m" if "qu'il" in pair.target else "f"
    meant, not_meant = (
        next(places[n] for n in ("noun 1", "noun 2") if (gender[said[places[n]]] == wanted) == same)
        for same in (True, False)
    )
    columns = [meant, not_meant, places["it"], places["adjective"]]
    for name, weights in maps_of(translator, ids_of(translator, pair)).items():
        if "encoder" in name or "cross" in name:
            row = weights[:, places["it"] if "encoder" in name else last]  # (heads, k_len)
            looks.setdefault(name, []).append(row[:, columns])
            looks.setdefault(f"{name}, right noun first", []).append(
                (row[:, meant] > row[:, not_meant]).float()
            )


def explanations(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """How well attention and others rank source subwords as leave-one-out does, and agree on the first."""
    model = model_of(translator)
    layers = len(model.decoder_layers)
    taus: dict[str, list[float]] = {}
    firsts: dict[str, list[bool]] = {}
    dice = torch.Generator().manual_seed(0)
    for pair in grammar.generate("test", config["n_explained"], seed=3):
        src, tgt = ids_of(translator, pair)
        labels = tgt[0, 1:]

        def log_probs(mask: Tensor | None = None, src: Tensor = src, tgt: Tensor = tgt) -> Tensor:
            scores = log_softmax(model(src, tgt[:, :-1], mask))[0]
            return scores.gather(-1, tgt[0, 1:, None])[:, 0]

        falls = leave_one_out(log_probs, padding_mask(src, 0))[:-1]  # (source subwords, steps)
        maps = maps_of(translator, (src, tgt))
        cross = [maps[CROSS.format(i)].mean(0) for i in range(layers)]
        mixed = rollout([maps[ENCODER.format(i)] for i in range(len(model.encoder_layers))])
        for step in range(len(labels)):
            slopes = gradient_times_input(
                model, "src_embedding", lambda step=step: log_probs()[step]
            )[0].abs()
            guesses = {f"attention, layer {i + 1}": w[step] for i, w in enumerate(cross)}
            guesses["attention, mean of layers"] = torch.stack(cross).mean(0)[step]
            guesses["attention through rollout"] = torch.stack(cross).mean(0)[step] @ mixed
            guesses["gradient times input"] = slopes
            guesses["chance"] = torch.rand(len(slopes), generator=dice)
            for name, guess in guesses.items():
                guess = guess[: len(falls)]
                if len(falls) > 1:
                    taus.setdefault(name, []).append(kendall_tau(guess, falls[:, step]))
                firsts.setdefault(name, []).append(bool(guess.argmax() == falls[:, step].argmax()))
    return {
        "steps": len(firsts["chance"]),
        "Kendall's tau, median": {n: float(torch.tensor(t).median()) for n, t in taus.items()},
        "same subword first": {n: sum(f) / len(f) for n, f in firsts.items()},
    }


def other_weights(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """What is left if cross-attention averages with other weights: next words, and whole sentences."""
    model = model_of(translator)
    pairs = list(grammar.generate("test", config["n_changed"], seed=4))
    dice = torch.Generator().manual_seed(0)

    def shuffled(weights: Tensor, mask: Tensor | None) -> Tensor:
        order = torch.rand(weights.shape[-1], generator=dice).argsort()
        seen = (
            torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand_as(weights)
        )
        moved = weights[..., order] * seen
        return moved / moved.sum(-1, keepdim=True).clamp(min=1e-9)

    def exchanged(weights: Tensor, _mask: Tensor | None) -> Tensor:
        return weights.roll(1, 1)  # each head uses the map of its neighbour

    def averaged(weights: Tensor, _mask: Tensor | None) -> Tensor:
        return weights.mean(1, keepdim=True).expand_as(weights)

    cross = [CROSS.format(i) for i in range(len(model.decoder_layers))]
    changes: dict[str, Any] = {
        "its own": lambda weights, _mask: weights,
        "the mean of the heads": averaged,
        "those of another head": exchanged,
        "equal": equal_weights,
        "shuffled": shuffled,
    }
    found: dict[str, Any] = {}
    for name, change in changes.items():
        with changed_attention(model, dict.fromkeys(cross, change)):
            texts = translator.translate([pair.source for pair in pairs], beam=1)
            steps = [_next_words(translator, pair) for pair in pairs]
        found.setdefault("exact match", {})[name] = exact_match(pairs, texts)
        right = torch.cat(steps)
        found.setdefault("next subword right", {})[name] = float(right.float().mean())
    return found


@torch.no_grad()
def _next_words(translator: Translator, pair: Pair) -> Tensor:
    src, tgt = ids_of(translator, pair)
    return translator.model(src, tgt[:, :-1])[0].argmax(-1) == tgt[0, 1:]


def probes(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """Accuracy of linear probes of each encoder layer, of their controls, and on nouns that they never saw."""
    n_train, n_test = config["n_probed"]
    train, test = (_vectors(translator, s, n) for s, n in (("valid", n_train), ("test", n_test)))
    found: dict[str, Any] = {}
    for task in ("part of speech", "number", "gender", "position"):
        for layer in train["x"]:
            a, b = (
                [i for i, y in enumerate(part[task]) if y is not None] for part in (train, test)
            )
            x, x_test = train["x"][layer][a], test["x"][layer][b]
            y, y_test = ([part[task][i] for i in where] for part, where in ((train, a), (test, b)))
            names, names_test = (
                [part["word"][i] for i in w] for part, w in ((train, a), (test, b))
            )
            labels = control_labels([*names, *names_test], [*y, *y_test])
            row = {"accuracy": _probe(x, y, x_test, y_test)}
            if task != "position":  # which is no matter of the word
                row["control"] = _probe(x, labels[: len(y)], x_test, labels[len(y) :])
            row["most frequent"] = max(y_test.count(label) for label in set(y_test)) / len(y_test)
            if task in ("number", "gender"):
                row["on new nouns"] = _on_new_nouns(x, y, names, x_test, y_test, names_test)
            found.setdefault(task, {})[layer] = row
    return found


def _probe(x: Tensor, y: Sequence[int], x_test: Tensor, y_test: Sequence[int]) -> float:
    return train_probe(x, torch.tensor(y)).accuracy(x_test, torch.tensor(y_test))


def _on_new_nouns(
    x: Tensor,
    y: list[int],
    names: list[str],
    x_test: Tensor,
    y_test: list[int],
    names_test: list[str],
) -> float:
    """Trained on half of the nouns, tested on the others."""
    lemma = {form: noun.name for noun in NOUN.values() for form in noun.english}
    kinds = sorted({lemma[name] for name in [*names, *names_test]})
    Random(0).shuffle(kinds)
    half = set(kinds[: len(kinds) // 2])
    a = [i for i, name in enumerate(names) if lemma[name] in half]
    b = [i for i, name in enumerate(names_test) if lemma[name] not in half]
    return _probe(x[a], [y[i] for i in a], x_test[b], [y_test[i] for i in b])


@torch.no_grad()
def _vectors(translator: Translator, split: str, n: int) -> dict[str, Any]:
    """One vector of each sentence and layer, with what the lexicon says of its word."""
    model = model_of(translator)
    singular = {noun.english[0]: noun for noun in NOUN.values() if not noun.mass}
    plural = {noun.english[1]: noun for noun in NOUN.values() if not noun.mass}
    both = singular.keys() & plural.keys()
    verbs = {form for verb in VERB.values() for form in (verb.base, verb.third, verb.past)}
    adjectives = set(ADJECTIVE)
    nouns = (singular.keys() | plural.keys()) - both
    clear = {
        word: kind
        for kind, group in enumerate((nouns, verbs, adjectives))
        for word in group
        if sum(word in other for other in (nouns, verbs, adjectives)) == 1
    }
    dice = Random(5)
    names = ["dropout", *layer_names(model, "encoder")]
    found: dict[str, Any] = {"x": {name: [] for name in names}, "word": []}
    for pair in grammar.generate(split, 3 * n, seed=6, style=CAREFUL):
        said = words(pair.source)
        if len(found["word"]) == n:
            break
        if not whole_words(translator, pair.source):
            continue
        places = [i for i, word in enumerate(said) if word in clear]
        if not places:
            continue
        plurals = [
            i for i in places if said[i] in plural
        ]  # seldom one subword: taken where there are
        place = dice.choice(plurals or places)
        word = said[place]
        with recorded(model, names) as vectors:
            model.encode(ids_of(translator, pair)[0])
        for name in names:
            found["x"][name].append(vectors[name][0, place])
        noun = (singular | plural)[word] if clear[word] == 0 else None
        found["word"].append(word)
        found.setdefault("part of speech", []).append(clear[word])
        found.setdefault("number", []).append(None if noun is None else int(word in plural))
        found.setdefault("gender", []).append(None if noun is None else int(noun.gender == "f"))
        found.setdefault("position", []).append(min(place, 9))
    found["x"] = {name: torch.stack(rows) for name, rows in found["x"].items()}
    return found


@torch.no_grad()
def lens(translator: Translator, config: dict[str, Any]) -> dict[str, Any]:
    """How often the right next subword is first after each decoder layer; and *il* or *elle*."""
    model = model_of(translator)
    names = ["dropout", *layer_names(model, "decoder")]
    right: list[Tensor] = []
    for pair in grammar.generate("test", config["n_aligned"], seed=7):
        src, tgt = ids_of(translator, pair)
        with recorded(model, names) as states:
            model(src, tgt[:, :-1])
        logits = logit_lens(states, lambda state: model.logits(model.decoder_norm(state)))
        right.append(logits[:, 0].argmax(-1) == tgt[0, 1:])  # (layers, steps)
    chosen: list[Tensor] = []
    for pair, rival in _both_ways(rivals(translator, config)):
        tgt, said = before_pronoun(translator, pair)
        other = pronoun(translator, rival)
        with recorded(model, names) as states:
            model(ids_of(translator, pair)[0], tgt)
        logits = logit_lens(states, lambda state: model.logits(model.decoder_norm(state)))
        chosen.append(logits[:, 0, -1, said] > logits[:, 0, -1, other])
    return {
        "next subword right": dict(zip(names, torch.cat(right, 1).float().mean(1), strict=True)),
        "il or elle right": dict(zip(names, torch.stack(chosen).float().mean(0), strict=True)),
    }
