"""Exercise: three mistakes in one pass of mask-predict (Ghazvininejad et al. 2019)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer_course.checks.exercise import Case, Exercise, Misconception, random_cases
from transformer_course.checks.mixtures import mixtures
from transformer_course.checks.tables import with_tables

Array = NDArray[Any]
Two = tuple[Array, Array]
Pass = Callable[[Array, Array, Array, Array], Two]
SPECIAL = 3  # the ids 0, 1 and 2


def _log_softmax(logits: Array, axis: int) -> Array:
    shifted = logits - logits.max(axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis, keepdims=True)))


def _variant(
    *,
    axis: int = -1,
    special: str = "excluded",
    kept: str = "old",
    told: str = "log-probabilities",
    turned: bool = False,
    all_tokens: bool = False,
) -> Pass:
    """Return a pass, right unless something is changed.

    Args:
        axis: of the softmax.
        special: "excluded", "allowed", "before" (the softmax), "mask" (only <s> is excluded) or "shifted" (cut
            off, so that the ids are too small).
        kept: which probability a kept token has: "old", "best" (of any token there), or "own" (its new one).
        told: "log-probabilities", "probabilities" or "logits".
        turned: whether gaps are kept and the others written.
        all_tokens: whether all tokens are written.
    """

    def one_pass(logits: Array, tokens: Array, log_probs: Array, gaps: Array) -> Two:
        scores = logits.copy()
        if special == "before":
            scores[..., :SPECIAL] = -np.inf
        of_all = scores if told == "logits" else _log_softmax(scores, axis)
        ranked = of_all.copy()
        if special in ("excluded", "before"):
            ranked[..., :SPECIAL] = -np.inf
        if special == "mask":
            ranked[..., 1] = -np.inf
        if special == "shifted":
            ranked = ranked[..., SPECIAL:]
        found, best = ranked.argmax(-1), ranked.max(-1)
        best = np.exp(best) if told == "probabilities" else best
        gaps = ~gaps if turned else gaps
        of_own = np.take_along_axis(of_all, tokens[..., None], -1)[..., 0]
        of_kept = {"old": log_probs, "best": best, "own": of_own}[kept]
        written = np.full_like(gaps, True) if all_tokens else gaps
        return np.where(written, found, tokens), np.where(gaps, best, of_kept)

    return one_pass


def reference(logits: Array, tokens: Array, log_probs: Array, gaps: Array) -> Two:
    """Return the tokens and their log-probabilities, (batch, tgt_len)."""
    return _variant()(logits, tokens, log_probs, gaps)


def draw(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Return scores that often like a special token best, and a translation with gaps."""
    batch, tgt_len, vocab = (int(n) for n in rng.integers((2, 3, 6), (4, 6, 9)))
    logits = rng.normal(size=(batch, tgt_len, vocab)).round(2)
    logits += rng.uniform(0, 0.004, size=logits.shape)  # no ties
    logits[..., :SPECIAL] += 1.0
    tokens = rng.integers(SPECIAL, vocab, size=(batch, tgt_len))
    gaps = rng.random((batch, tgt_len)) < 0.5
    gaps[0, :2] = True, False
    return logits, np.where(gaps, 1, tokens), -rng.random((batch, tgt_len)).round(2), gaps


def _case(
    about: str, logits: list[list[float]], tokens: list[int], log_probs: list[float], gaps: str
) -> Case:
    holes = np.array([[sign == "#" for sign in gaps]])
    given = (np.array([logits], float), np.array([tokens]), np.array([log_probs]), holes)
    return Case(about, given)


CASES = (
    _case("one gap", [[-20, -20, -20, 0, 1.0986]], [1], [0.0], "#"),
    _case(
        "a gap and a kept token",
        [[-20, -20, -20, 0, 1.0986], [-20, -20, -20, 2, 0]],
        [1, 4],
        [0.0, -0.5],
        "#.",
    ),
    _case("<s> scores best", [[0, 3, -9, 1, 2]], [1], [0.0], "#"),
    _case("</s> scores best", [[0, 1, 4, 2, 1]], [1], [0.0], "#"),
    _case("padding scores best", [[4, 1, 0, 1, 2]], [1], [0.0], "#"),
    _case(
        "two gaps beside a kept token",
        [[0, 2, 0, 1, 3], [0, 1, 0, 3, 1], [1, 0, 2, 1, 0]],
        [1, 4, 1],
        [0.0, -0.25, 0.0],
        "#.#",
    ),
)
_mistake = with_tables(reference, CASES, ("tokens", "log_probs"))

PARTS = {
    "axis": (
        "what the softmax is over",
        "Which numbers compete for a place: the scores of all tokens there, or those of all places?",
    ),
    "special": (
        "which tokens may be written",
        "Could your pass write <s>, </s> or padding into a gap? What would the next pass take <s> for?",
    ),
    "kept": (
        "the probability of a kept token",
        "Look at a token that isn't a gap. From which pass is the probability that you return for it?",
    ),
}


def _left(axis: bool, special: bool, kept: bool) -> Callable[..., Any]:
    """Return the function with those mistakes that are still there."""
    return _variant(
        axis=1 if axis else -1,
        special="allowed" if special else "excluded",
        kept="best" if kept else "old",
    )


def _still_wrong() -> tuple[Misconception, ...]:
    """Return every mixture of the three mistakes: which are still there, and what to look at."""
    return tuple(_mistake(name, _left(**there), hint) for there, name, hint in mixtures(PARTS))


one_pass = Exercise(
    name="one_pass",
    kind="spot the bug",
    difficulty=3,
    minutes=25,
    statement=(
        "The function below is meant to do one pass of mask-predict. The model has read a batch of "
        "translations with gaps: logits, (batch, tgt_len, vocab_size), has a score for each token at each "
        "place. tokens, whole numbers, (batch, tgt_len), is what the model has read, with `<s>` in each "
        "gap; log_probs, (batch, tgt_len), is the log-probability of each token, from the pass that wrote "
        "it; gaps, (batch, tgt_len), is True where a gap is. Each gap gets the most probable token there, "
        "but never one of the ids 0 (padding), 1 (`<s>`) and 2 (`</s>`); its log-probability is that of a "
        "softmax over all tokens at its place, these three included. What isn't a gap keeps its token, and "
        "the log-probability of the pass that wrote it. The function runs, and it holds three mistakes. "
        "Write it without them. Return the new tokens and the new log-probabilities, both (batch, tgt_len).\n\n"
        "An example: one sentence of one gap, and the scores 0, 3, 0, 1, 2 of five tokens. `<s>`, with the "
        "score 3, may not be written, so token 4 is. Its log-probability is −1.45, though: `<s>` takes its "
        "part of the softmax."
    ),
    returns=("tokens", "log_probs"),
    reference=reference,
    cases=(*CASES, *random_cases(draw, 8, "a random batch")),
    draw=draw,
    misconceptions=(
        *_still_wrong(),
        _mistake(
            "special tokens left out of the softmax",
            _variant(special="before"),
            "The tokens are right. Over which tokens is the softmax?",
        ),
        _mistake(
            "only <s> forbidden",
            _variant(special="mask"),
            "A gap may not become </s> or padding either.",
        ),
        _mistake(
            "ids counted from the first word",
            _variant(special="shifted"),
            "You cut off the special tokens. Which id has the first token that is left?",
        ),
        _mistake(
            "kept tokens judged anew",
            _variant(kept="own"),
            "The token is kept. Is its probability the one of this pass, or of the pass that wrote it?",
        ),
        _mistake(
            "all tokens written anew",
            _variant(all_tokens=True),
            "What is no gap has changed its token in your pass. Where do you use gaps?",
        ),
        _mistake(
            "gaps and kept tokens exchanged",
            _variant(turned=True),
            "Your gaps stay gaps. What does True mean in gaps?",
        ),
        _mistake(
            "probabilities in the place of their logarithms",
            _variant(told="probabilities"),
            "The numbers of the kept tokens are logarithms. What are yours at the gaps?",
        ),
        _mistake(
            "scores in the place of log-probabilities",
            _variant(told="logits"),
            "The tokens are right. Is a score a logarithm of a probability?",
        ),
    ),
)
