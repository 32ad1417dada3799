"""What the figures of chapters 07, 08 and 15 must compute: rates, losses, and scores of redrawn test sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch

from transformer_course.figures.loss_explorer import PREDICTED, WORDS
from transformer_course.figures.redraw_explorer import SEED
from transformer_course.loss import cross_entropy, kl_divergence, perplexity, smoothing_floor
from transformer_course.training import cosine_rate, inverse_sqrt_rate

from .attention_cases import mulberry
from .node import Call, digits

RATE = "rate_explorer"
LOSS = "loss_explorer"
REDRAW = "redraw_explorer"
STEPS = 20_000
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rate_text(rate: float) -> str:
    """A rate as people write it."""
    if rate < 1e-12:
        return "0"
    number, power = f"{rate:.2e}".split("e")
    return f"{number} · 10{str(int(power)).translate(RAISED)}"


def thousands(number: int) -> str:
    """A number with a narrow space between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def rates() -> Iterator[Call]:
    """Both schedules at many steps; the table and the sentence for some states."""
    for step, width, warmup in product((1, 999, 4000, 4001, STEPS), (128, 1024), (1000, 4000)):
        rate = inverse_sqrt_rate(step, width, warmup)
        yield Call(RATE, "inverseSqrtRate", [step, width, warmup], rate)
    for step, peak, warmup in product((1, 999, 4000, 9000, STEPS), (7e-4, 1e-5), (1000, 16_000)):
        rate = cosine_rate(step, peak, warmup, STEPS)
        yield Call(RATE, "cosineRate", [step, peak, warmup], rate)
    for width in (128, 256, 512, 1024):
        top = inverse_sqrt_rate(1000, width, 1000)
        yield Call(RATE, "highest", [width], top)
        yield Call(RATE, "topOf", [width], math.floor(top / 1e-5) * 1e-5)
    for rate in (6.987e-4, 1e-3, 0.0, 1e-13, 2.5e-12):
        yield Call(RATE, "rateText", [rate], rate_text(rate))
    for step in (100, 4000, 20_000):
        yield Call(RATE, "stepText", [step], thousands(step))
    for kind, warmup, step in product(
        ("inverse_sqrt", "cosine"), (1000, 4000), (500, 1000, 2000, 4000, 10_000, 19_900)
    ):
        yield from read_off(kind, warmup, step)


def read_off(kind: str, warmup: int, step: int) -> Iterator[Call]:
    """What the figure reads off for one state."""
    state = {"schedule": kind, "d_model": 512, "warmup_steps": warmup, "peak_rate": 7e-4}
    state |= {"step": step}

    def rate(at: int) -> float:
        if kind == "cosine":
            return cosine_rate(at, 7e-4, warmup, STEPS)
        return inverse_sqrt_rate(at, 512, warmup)

    yield Call(RATE, "rateOf", [state, step], rate(step))
    share = 100 * rate(step) / rate(warmup)
    texts = [
        thousands(warmup),
        rate_text(rate(warmup)),
        rate_text(rate(step)),
        f"{digits(share, 1)} %",
    ]
    yield Call(RATE, "numbersOf", [state], texts)
    whole, times = digits(share, 0), digits(step / warmup, 2)
    if step == warmup:
        text = "This step is the last of the warm-up: the rate is at its highest."
    elif step < warmup:
        place = f"step {thousands(step)} of {thousands(warmup)}"
        text = f"In the warm-up: {place}, so {whole} % of the highest rate."
    elif kind == "cosine":
        text = f"On the way down to 0 at the last step: {whole} % of the highest rate is left."
    else:
        text = f"{times} times the warm-up: the rate is the highest one divided by the root of {times}."
    yield Call(RATE, "sentence", [state], text)


def peaks() -> Iterator[Call]:
    """Moving the peak: in whole hundreds of steps, not out of the drawing; its height for the cosine only."""
    for kind, warmup, peak, to in (
        ("inverse_sqrt", 4049, 9.0, {"warmup_steps": 4000}),
        ("inverse_sqrt", 300, 9.0, {"warmup_steps": 1000}),
        ("cosine", 99_999, 7.04e-4, {"warmup_steps": 16_000, "peak_rate": 7e-4}),
        ("cosine", 4051, 9.0, {"warmup_steps": 4100, "peak_rate": 1.39e-3}),
        ("cosine", 4000, -1.0, {"warmup_steps": 4000, "peak_rate": 1e-5}),
    ):
        yield Call(RATE, "moved", [{"schedule": kind, "d_model": 512}, warmup, peak], to)
    for kind, far in product(("inverse_sqrt", "cosine"), (False, True)):
        state = {"schedule": kind, "warmup_steps": 4000, "peak_rate": 7e-4}
        across, up = (1000, 1e-4) if far else (100, 1e-5)
        free = kind == "cosine"
        places = {
            "ArrowRight": [4000 + across, 7e-4],
            "ArrowLeft": [4000 - across, 7e-4],
            "ArrowUp": [4000, 7e-4 + up] if free else [4000 + across, 7e-4],
            "ArrowDown": [4000, 7e-4 - up] if free else [4000 - across, 7e-4],
            "Home": [1000, 7e-4],
            "End": [16_000, 7e-4],
            "Tab": None,
        }
        for key, place in places.items():
            yield Call(RATE, "stepped", [state, key, far], place)


def losses() -> Iterator[Call]:
    """Losses of random predictions, of the floor, of too sure ones, and of what is thought impossible."""
    generator = torch.Generator().manual_seed(0)
    cases = [list(PREDICTED), [1 / 6] * 6, [0.9 if i == 3 else 0.02 for i in range(6)]]
    cases += [torch.randn(n, generator=generator).double().softmax(-1).tolist() for n in (2, 6, 11)]
    for predicted, right, smoothing in product(cases, (0, 1), (0.0, 0.1, 0.5)):
        n = len(predicted)
        p = torch.tensor(predicted, dtype=torch.float64)
        q = (1 - smoothing) * torch.eye(n, dtype=torch.float64)[right] + smoothing / n
        yield Call(LOSS, "wantedOf", [n, right, smoothing], q.tolist())
        for guess in (p, q) if smoothing else (p,):
            loss = float(cross_entropy(guess.log()[None], torch.tensor([right]), -1, smoothing))
            expected = {
                "costs": (-q * guess.log()).tolist(),
                "crossEntropy": loss,
                "entropy": smoothing_floor(n, smoothing),
                "divergence": float(kl_divergence(q, guess)),
                "perplexity": perplexity(loss),
                "gradient": (guess - q).tolist(),
            }
            yield Call(LOSS, "measure", [q.tolist(), guess.tolist()], expected)
    infinite = {
        "crossEntropy": math.inf,
        "perplexity": math.inf,
        "entropy": 0.0,
        "costs": [math.inf, 0],
    }
    yield Call(LOSS, "measure", [[1.0, 0.0], [0.0, 1.0]], infinite)
    yield Call(LOSS, "measure", [[1.0, 0.0], [1.0, 0.0]], {"crossEntropy": 0, "costs": [0, 0]})
    yield Call(LOSS, "shown", [math.inf, 3], "∞")
    yield Call(LOSS, "shown", [-0.5, 3], "−0.500")


def moves() -> Iterator[Call]:
    """A bar that is moved: the others keep their shares of the rest; keys move it by whole hundredths."""
    for predicted, k, p in product((list(PREDICTED), [0.25, 0.75]), (0, 1), (-1, 0, 0.2, 1, 7)):
        inside = min(1, max(0, p))
        rest = 1 - predicted[k]
        moved = [inside if i == k else x / rest * (1 - inside) for i, x in enumerate(predicted)]
        yield Call(LOSS, "moved", [predicted, k, p], moved)
    yield Call(LOSS, "moved", [[0.0, 1.0, 0.0], 1, 0.4], [0.3, 0.4, 0.3])  # the others had nothing
    keys = {"ArrowUp": 1, "ArrowRight": 1, "ArrowDown": -1, "ArrowLeft": -1}
    for (key, sign), far in product(keys.items(), (False, True)):
        yield Call(LOSS, "stepped", [0.3, key, far], round(0.3 + sign * (0.1 if far else 0.01), 6))
    for key, p in (("Home", 0), ("End", 1), ("Tab", None)):
        yield Call(LOSS, "stepped", [0.3, key, False], p)


def loss_sentences() -> Iterator[Call]:
    """Infinite, at the floor, and where the next step pulls."""
    even = [1 / 6] * 6
    sharp, soft = ([e / 6 + (1 - e) * (i == 4) for i in range(6)] for e in (0.0, 0.1))
    sure = [0.01 if i != 4 else 0.95 for i in range(6)]
    zero = 'The loss is infinite: "a" is wanted with 0.017, and predicted with 0.'
    floor = "Predicted and wanted are equal: the loss is at its floor, and no gradient is left."
    for wanted, predicted, text in (
        (soft, sharp, zero),
        (soft, soft, floor),
        (sharp, even, hard(even, sharp, "raises", "the right word")),
        (soft, sure, hard(sure, soft, "lowers", "the right word")),
        (sharp, list(PREDICTED), hard(PREDICTED, sharp, "raises", "the right word")),
        ([0.5, 0.5, 0, 0, 0, 0], [0.3, 0.4, 0.3, 0, 0, 0], None),
    ):
        if text is None:
            text = hard(predicted, wanted, "lowers", '"i"')
        yield Call(LOSS, "sentence", [WORDS, wanted, predicted, 4], text)


def hard(predicted: Any, wanted: list[float], way: str, word: str) -> str:
    """As hard as guessing among so many words."""
    loss = -sum(q * math.log(p) for p, q in zip(predicted, wanted, strict=True) if q)
    return (
        f"As hard as guessing among {digits(math.exp(loss), 2)} equally likely words. "
        f"The next step {way} the logit of {word} most."
    )


FOUR = {"found": [0, 9, 8, 3], "total": [1, 10, 8, 11]}


def thirty() -> dict[str, list[int]]:
    """A test set of thirty random sentences."""
    rng = np.random.default_rng(0)
    total = rng.integers(6, 21, 30)
    return {"found": rng.binomial(total, 0.6).tolist(), "total": total.tolist()}


def drawn(given: dict[str, list[int]], seed: int, draws: int) -> list[dict[str, Any]]:
    """The draws of a set with the same random numbers in Python."""
    random, n = mulberry((seed + 1) * 0x9E3779B1), len(given["found"])
    found = []
    for _ in range(draws):
        places = [int(next(random) * n) for _ in range(n)]
        sums = {key: sum(given[key][i] for i in places) for key in ("found", "total")}
        found.append(sums | {"times": [places.count(i) for i in range(n)]})
    return found


def redraws() -> Iterator[Call]:
    """The three draws by hand, and hundreds with the same random numbers as in Python."""
    assert [(d["found"], d["total"]) for d in drawn(FOUR, SEED, 3)] == [
        (12, 23),
        (29, 39),
        (19, 28),
    ]
    for seed, n in product((0, 1, SEED), (1, 4, 1000)):
        random = mulberry((seed + 1) * 0x9E3779B1)
        places = [int(next(random) * n) for _ in range(30)]
        yield Call(REDRAW, "randomPlaces", [seed], places, then=[[n]] * 30)
    for given, seed in product((FOUR, thirty()), (0, SEED)):
        first = drawn(given, seed, 1)[0]
        yield Call(REDRAW, "redraw", [given, {"$call": ["randomPlaces", [seed]]}], first)
        for count in (0, 1, 39, 200):
            all_draws = drawn(given, seed, count)
            scores = [d["found"] / d["total"] for d in all_draws]
            last = all_draws[-1] if count else None
            state = {"chosen": 0, "seed": seed, "draws": count}
            expected = {"scores": scores, "last": last}
            yield Call(REDRAW, "drawsOf", [[given], state, None], expected)
            earlier = {"$call": ["drawsOf", [[given], state | {"draws": count // 2}, None]]}
            yield Call(REDRAW, "drawsOf", [[given], state, earlier], expected)  # goes on
            later = {"$call": ["drawsOf", [[given], state | {"draws": count + 5}, None]]}
            yield Call(REDRAW, "drawsOf", [[given], state, later], expected)  # starts again
            if count:
                yield from histogram(given, scores)
    most = {"$call": ["drawsOf", [[FOUR], {"chosen": 0, "seed": 0, "draws": 5000}, None]]}
    more = [[FOUR], {"chosen": 0, "seed": 0, "draws": 9999}, most]
    all_scores = [d["found"] / d["total"] for d in drawn(FOUR, 0, 5000)]
    yield Call(REDRAW, "drawsOf", more, {"scores": all_scores})  # then it ends


def middle(scores: list[float]) -> dict[str, Any]:
    """The chapter's interval: one score in 40 left out at each end."""
    ordered, k = sorted(scores), len(scores) // 40
    return {"sorted": ordered, "k": k, "low": ordered[k], "high": ordered[len(ordered) - 1 - k]}


def histogram(given: dict[str, list[int]], scores: list[float]) -> Iterator[Call]:
    """The interval, the bars and the sentence for some scores."""
    yield Call(REDRAW, "interval", [scores], middle(scores))
    enough = len(scores) >= 40
    yield Call(REDRAW, "middleOf", [scores], middle(scores) if enough else None)
    axis = axis_of(given)
    for marked in (False, True):
        yield Call(REDRAW, "barsOf", [axis, scores, marked], bars_of(axis, scores, marked))
    n, count = len(given["found"]), f"{len(scores):,} draw{'s' * (len(scores) > 1)}"
    if enough:
        found = middle(scores)
        low, high = (digits(found[end], 3) for end in ("low", "high"))
        left = "score is" if found["k"] == 1 else "scores are"
        text = (
            f"{count}: the middle 95 % reach from {low} to {high}, "
            f"{digits(100 * (float(high) - float(low)), 1)} points. "
            f"{found['k']} {left} left out at each end (grey)."
        )
    else:
        low, high = (digits(end, 3) for end in (min(scores), max(scores)))
        reach = f"a score of {low}" if low == high else f"scores from {low} to {high}"
        text = f"{count}: {reach}. From 40 draws on, you see the middle 95 %."
    yield Call(REDRAW, "sentence", [given, scores], text)
    none = f"Nothing is drawn yet. A draw takes {n} sentences out of {n}, and each is put back before the next."
    yield Call(REDRAW, "sentence", [given, []], none)


def bars_of(axis: dict[str, Any], scores: list[float], marked: bool) -> list[list[int]]:
    """Eight bars between two numbers of the axis: the scores that stay, and those that are left out."""
    edges = np.linspace(axis["low"], axis["high"], 8 * (len(axis["ticks"]) - 1) + 1) - 1e-9
    edges[[0, -1]] = -1, 2
    ordered, k = sorted(scores), len(scores) // 40 if marked else 0
    stays, out = ordered[k : len(ordered) - k], ordered[:k] + ordered[len(ordered) - k :]
    counts = [np.histogram(own, edges)[0].tolist() for own in (stays, out)]
    return [list(pair) for pair in zip(*counts, strict=True)]


def axis_of(given: dict[str, list[int]]) -> dict[str, Any]:
    """Round numbers around all scores that a draw of few sentences can have, or four errors of many."""
    found, total = np.array(given["found"]), np.array(given["total"])
    score, own = found.sum() / total.sum(), found / total
    error = np.sqrt(((found - score * total) ** 2).sum()) / total.sum()
    low, high = score - 4 * error, score + 4 * error
    if len(own) <= 12:
        low, high = own.min(), own.max()
    if high - low < 1e-6:
        low, high = score - 0.05, score + 0.05
    low, high = max(0, low), min(1, high)
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2) if s >= (high - low) / 5 - 1e-12)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [i * step for i in range(first, last + 1)]
    places = 2 if step < 0.1 else 1
    return {"ticks": ticks, "places": places, "low": ticks[0], "high": ticks[-1]}


def axes() -> Iterator[Call]:
    """Axes of small, large and even sets; heights; counts."""
    alike = {"found": [3, 6], "total": [6, 12]}
    nothing = {"found": [0, 0], "total": [5, 6]}
    for given in (FOUR, thirty(), alike, nothing):
        yield Call(REDRAW, "axisOf", [given], axis_of(given))
    for number, step in ((0.03, 0.05), (0.05, 0.05), (0.051, 0.1), (1.0, 1), (11, 20), (0.2, 0.2)):
        yield Call(REDRAW, "roundStep", [number], step)
    for highest, top in ((0, 4), (4, 4), (5, 6), (11, 12), (13, 16), (99, 100), (410, 600)):
        yield Call(REDRAW, "ceiling", [highest], top)
    yield Call(REDRAW, "howOften", [[0, 1, 1, 2, 3, 9, 0]], [2, 2, 1, 2])
    yield Call(REDRAW, "fraction", [{"found": 12, "total": 23}], "12/23 = 0.522")


def calls() -> Iterator[Call]:
    """All of them."""
    for part in (rates, peaks, losses, moves, loss_sentences, redraws, axes):
        yield from part()
