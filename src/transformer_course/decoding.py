"""Decoding (chapter 09): from the scores of the next token to a whole sentence.

All searches work on a batch, keep what was computed for earlier tokens, and let finished sentences leave the
batch. They ask a model for `start` and `step` only, and its state for `select` and `reorder`; so they search in
any model that has these. Padding and the start symbol are never chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from transformer_course.loss import log_softmax


class SearchState(Protocol):
    """What a model keeps for each sentence of a batch, and for each of its beams, between two tokens."""

    def select(self, rows: Tensor) -> Self:
        """The state of some sentences of the batch.

        Args:
            rows: their indices, (new_batch,), int64.

        Returns:
            A state of these sentences.
        """
        ...

    def reorder(self, parents: Tensor) -> None:
        """Let each beam go on from another one.

        Args:
            parents: for each beam the one that it goes on from, (batch, beams), int64.
        """
        ...


class Searchable(Protocol):
    """A model that can be searched: all that greedy search, beam search and sampling ask for."""

    training: bool

    @property
    def config(self) -> Any:
        """Has vocab_size, max_len, pad_id and dropout."""
        ...

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> Any:
        """Read what comes before the first token that is searched for.

        Args:
            src: token ids, (batch, src_len).
            max_len: most tokens that will be read.
            beams: beginnings that are kept open for each sentence.

        Returns:
            A `SearchState`.
        """
        ...

    def step(self, tokens: Tensor, state: Any) -> Tensor:
        """Read the newest token of each beam.

        Args:
            tokens: ids, (batch, beams).
            state: from `start`; it is carried on.

        Returns:
            Logits of the next token, (batch, beams, vocab_size).
        """
        ...


@dataclass(frozen=True)
class Hypothesis:
    """One translation that beam search returns.

    Args:
        ids: token ids without <s>; ends with </s> unless the search ran into `max_len`.
        log_prob: sum of the tokens' log-probabilities, in nats.
        score: `log_prob` after the length penalty; what the search ranks by.
    """

    ids: list[int]
    log_prob: float
    score: float


@runtime_checkable
class ParallelModel(Protocol):
    """A model that writes all tokens of a translation at once, and needs no search (chapter 13)."""

    def translate_ids(
        self, src: Tensor, max_len: int = 100, *, beam: int = 1, top_beams: int = 1
    ) -> list[list[Hypothesis]]:
        """Translate a batch.

        Args:
            src: token ids, (batch, src_len).
            max_len: most tokens of a translation, </s> included.
            beam: rival translations of each sentence, if the model knows any.
            top_beams: hypotheses returned for each sentence, best first.

        Returns:
            For each sentence its best hypotheses, best first.
        """
        ...

    def most_hypotheses(self, max_len: int) -> int:
        """How many hypotheses of a sentence there can be at most.

        Args:
            max_len: as for `translate_ids`.

        Returns:
            Their number; `top_beams` can't be larger.
        """
        ...


def greedy(
    model: Searchable, src: Tensor, max_len: int = 100, *, bos_id: int = 1, eos_id: int = 2
) -> list[list[int]]:
    """Take the most probable token, again and again.

    It is beam search with a beam of 1 (Sutskever et al. 2014, §3.2).

    Args:
        model: the translator, in evaluation mode.
        src: token ids, (batch, src_len).
        max_len: most tokens of a translation, </s> included.
        bos_id: the id that starts a target; -1 for a model whose prompt has it (chapter 11).
        eos_id: the id that ends it.

    Returns:
        One list of ids a sentence, without <s>; it ends with </s> unless cut off at `max_len`.

    Raises:
        ValueError: if `max_len` is below 1 or beyond the positions, the model is in training mode with
            dropout, an id is outside the vocabulary, `eos_id` is also the id of padding or of the start, or
            as `Transformer.encode` does.
    """
    return _one_by_one(model, src, max_len, lambda logits: logits.max(-1).indices, bos_id, eos_id)


def sample(
    model: Searchable,
    src: Tensor,
    max_len: int = 100,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    generator: torch.Generator | None = None,
    bos_id: int = 1,
    eos_id: int = 2,
) -> list[list[int]]:
    """Draw each token from the model's distribution, or from a part of it.

    Args:
        model: the translator, in evaluation mode.
        src: token ids, (batch, src_len).
        max_len: most tokens of a translation, </s> included.
        temperature: divides the logits; above 0; below 1 sharper, above 1 flatter.
        top_k: draw from the k most probable tokens only (Fan et al. 2018); all if left out.
        top_p: draw from the smallest set of tokens whose probabilities sum to at least this, above 0 and at
            most 1 (Holtzman et al. 2020).
        generator: for draws that can be repeated.
        bos_id: the id that starts a target; -1 for a model whose prompt has it (chapter 11).
        eos_id: the id that ends it.

    Returns:
        One list of ids a sentence, as `greedy` returns them.

    Raises:
        ValueError: if temperature isn't positive, top_k is below 1, top_p isn't in (0, 1], or as `greedy`.
    """

    def choose(logits: Tensor) -> Tensor:
        probabilities = next_token_distribution(
            logits, temperature=temperature, top_k=top_k, top_p=top_p
        )
        return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)

    return _one_by_one(model, src, max_len, choose, bos_id, eos_id)


def next_token_distribution(
    logits: Tensor, *, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0
) -> Tensor:
    """What `sample` draws from: softmax after temperature, cut to top-k and top-p, normalised again.

    Args:
        logits: (..., vocab_size); −∞ for a token that is impossible.
        temperature: divides the logits; above 0; infinity makes all possible tokens equally likely.
        top_k: keep the k most probable tokens only (Fan et al. 2018); all if left out.
        top_p: keep the smallest set of tokens whose probabilities sum to at least this, above 0 and at most 1
            (Holtzman et al. 2020).

    Returns:
        Probabilities, (..., vocab_size), which sum to 1 over the last dimension.

    Raises:
        ValueError: if temperature isn't positive, top_k is below 1, or top_p isn't in (0, 1].

    >>> logits = torch.tensor([0.5, 0.25, 0.15, 0.1]).log()
    >>> next_token_distribution(logits, top_p=0.7)
    tensor([0.6667, 0.3333, 0.0000, 0.0000])
    """
    if not temperature > 0:
        raise ValueError(f"temperature ({temperature}) must be above 0; use greedy for its limit")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k ({top_k}) must be 1 or more")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p ({top_p}) must be above 0 and at most 1")
    # What the logits' type can hold: 0 / 0 and -inf / inf would be NaN.
    limits = torch.finfo(logits.dtype)
    temperature = min(max(temperature, limits.tiny), limits.max)
    # Largest logit 0, so that a temperature close to 0 can't make inf - inf out of them.
    logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    probabilities = torch.softmax(logits, -1)
    if top_k is None and top_p == 1:
        return probabilities  # nothing is cut, so nothing has to be sorted
    probabilities, order = probabilities.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        probabilities[..., top_k:] = 0.0
        probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    # A token stays if those before it don't reach top_p yet; the first one always stays.
    before = probabilities.cumsum(-1) - probabilities
    probabilities = probabilities.masked_fill(before >= top_p, 0.0)
    probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, order, probabilities)


def length_penalty(length: int, alpha: float) -> float:
    """What a sum of log-probabilities is divided by: ((5 + length) / 6)^alpha (Wu et al. 2016, eq. 14).

    Args:
        length: tokens of the translation, </s> included.
        alpha: strength of the penalty; 0 makes every divisor 1.

    Returns:
        The divisor; above 1 for more than one token and an `alpha` above 0.

    >>> length_penalty(7, 1.0)
    2.0
    """
    return float(((5 + length) / 6) ** alpha)


@torch.inference_mode()
def beam_search(
    model: Searchable,
    src: Tensor,
    beam: int = 4,
    max_len: int = 100,
    *,
    alpha: float = 0.6,
    top_beams: int = 1,
    bos_id: int = 1,
    eos_id: int = 2,
) -> list[list[Hypothesis]]:
    """Keep the `beam` most probable beginnings at every step; return the best finished sentences.

    Beam search as in Sutskever et al. 2014, §3.2, with the length penalty of Wu et al. 2016, eq. 14. The paper
    searches with beam 4 and alpha 0.6 (Vaswani et al. 2017, §6.1).

    All beams of all sentences take a step together.

    A sentence is done when it has `beam` finished hypotheses and no open beam can still beat the best ones.

    Args:
        model: the translator, in evaluation mode.
        src: token ids, (batch, src_len).
        beam: hypotheses kept open; 1 gives greedy decoding.
        max_len: most tokens of a translation, </s> included. What is still open then is returned as it is.
        alpha: strength of the length penalty; 0 ranks by log-probability.
        top_beams: hypotheses returned for each sentence, best first; at most `beam`.
        bos_id: the id that starts a target; -1 for a model whose prompt has it (chapter 11).
        eos_id: the id that ends it.

    Returns:
        For each sentence its `top_beams` best hypotheses, best first.

    Raises:
        ValueError: if beam is below 1 or above half the vocabulary, top_beams is below 1 or above beam, one of
            them is no whole number, alpha is below 0 or above 10, or as `greedy` does.
    """
    vocab_size = model.config.vocab_size
    _check_search(model, max_len, bos_id, eos_id)
    check_beam(beam, top_beams, alpha, vocab_size)
    state = model.start(src, max_len, beam)
    batch, device = src.shape[0], src.device
    finished: list[list[Hypothesis]] = [[] for _ in range(batch)]
    rows = torch.arange(batch, device=device)  # which sentence each row of the batch is
    tokens = torch.full((batch, beam, 1), bos_id, device=device)  # (rows, beam, length so far)
    # All beams start alike: only the first may branch at step 0.
    scores = torch.full((batch, beam), -torch.inf, device=device)
    scores[:, 0] = 0.0

    for length in range(1, max_len + 1):
        logits = model.step(tokens[:, :, -1], state)  # (rows, beam, vocab_size)
        step = _forbid(log_softmax(logits), model.config.pad_id, bos_id)
        # Twice as many as needed: at most `beam` of them end, so `beam` others can go on.
        candidates = (scores[:, :, None] + step).flatten(1).topk(2 * beam)  # (rows, 2 beam)
        parents = candidates.indices // vocab_size
        nexts = candidates.indices % vocab_size
        grown = torch.cat([_take(tokens, parents), nexts[:, :, None]], -1)
        ends = nexts == eos_id
        _collect(finished, rows, grown, candidates.values, ends, beam, alpha)

        keep = ends.int().argsort(dim=-1, stable=True)[:, :beam]  # the best that go on, in order
        scores, parents = candidates.values.gather(1, keep), parents.gather(1, keep)
        tokens = _take(grown, keep)
        state.reorder(parents)
        if length == max_len:
            break
        open_rows = [
            i
            for i, (row, best) in enumerate(zip(rows.tolist(), scores[:, 0].tolist(), strict=True))
            if not _done(finished[row], best, beam, top_beams, length, max_len, alpha)
        ]
        if not open_rows:
            break
        if len(open_rows) < len(rows):
            index = torch.tensor(open_rows, device=device)
            rows, tokens, scores = rows[index], tokens[index], scores[index]
            state = state.select(index)
    _collect_open(finished, rows, tokens, scores, beam, alpha, eos_id)
    return [sorted(found, key=lambda h: -h.score)[:top_beams] for found in finished]


def _done(
    found: list[Hypothesis],
    best_open: float,
    beam: int,
    top_beams: int,
    length: int,
    max_len: int,
    alpha: float,
) -> bool:
    """Whether no open beam can enter the `top_beams` best any more."""
    if len(found) < beam:
        return False
    if beam == 1:
        return True  # as greedy decoding does, though a longer sentence might be penalised less
    # The sum only falls, and the longest sentence has the mildest penalty.
    bound = best_open / length_penalty(max_len if alpha > 0 else length, alpha)
    return sorted((h.score for h in found), reverse=True)[top_beams - 1] >= bound


def _collect(
    finished: list[list[Hypothesis]],
    rows: Tensor,
    grown: Tensor,
    log_probs: Tensor,
    ends: Tensor,
    beam: int,
    alpha: float,
) -> None:
    """Move the candidates that end, among each sentence's `beam` best, to `finished`."""
    penalty = length_penalty(grown.shape[-1] - 1, alpha)
    for i, k in ends[:, :beam].nonzero().tolist():
        log_prob = float(log_probs[i, k])
        if log_prob > -torch.inf:
            hypothesis = Hypothesis(grown[i, k, 1:].tolist(), log_prob, log_prob / penalty)
            finished[int(rows[i])].append(hypothesis)


def _collect_open(
    finished: list[list[Hypothesis]],
    rows: Tensor,
    tokens: Tensor,
    scores: Tensor,
    beam: int,
    alpha: float,
    eos_id: int,
) -> None:
    """At `max_len`: sentences that have too few finished hypotheses are filled up with open ones."""
    penalty = length_penalty(tokens.shape[-1] - 1, alpha)
    for i, row in enumerate(rows.tolist()):
        for ids, log_prob in zip(tokens[i, :, 1:].tolist(), scores[i].tolist(), strict=True):
            if len(finished[row]) < beam and log_prob > -torch.inf:
                finished[row].append(Hypothesis(ids, log_prob, log_prob / penalty))


def _take(x: Tensor, index: Tensor) -> Tensor:
    """Rows of the second dimension by index: (n, k, m), (n, j) → (n, j, m)."""
    return x.gather(1, index[:, :, None].expand(-1, -1, x.shape[-1]))


def _forbid(scores: Tensor, *ids: int) -> Tensor:
    """Make the given ids impossible, in place; -1 is none."""
    scores[..., [i for i in ids if i >= 0]] = -torch.inf
    return scores


def check_beam(beam: int, top_beams: int, alpha: float, vocab_size: int) -> None:
    """Refuse what no beam search can do.

    Args:
        beam: width of the beam.
        top_beams: hypotheses that are wanted of each sentence.
        alpha: strength of the length penalty.
        vocab_size: number of token ids.

    Raises:
        ValueError: if one is out of range, or beam or top_beams isn't a whole number.
    """
    for name, number in (("beam", beam), ("top_beams", top_beams)):
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{name} ({number!r}) must be a whole number")
    if not 1 <= beam <= vocab_size // 2:
        raise ValueError(
            f"beam ({beam}) must be 1 or more and at most half the vocabulary ({vocab_size})"
        )
    if not 1 <= top_beams <= beam:
        raise ValueError(f"top_beams ({top_beams}) must be 1 or more and at most beam ({beam})")
    if not 0 <= alpha <= 10:
        raise ValueError(f"alpha ({alpha}) must be from 0 to 10")


def _check_search(model: Searchable, max_len: int, bos_id: int, eos_id: int) -> None:
    if model.training and model.config.dropout > 0:
        raise ValueError("model is in training mode, dropout would decide: call model.eval() first")
    pad_id, limit = model.config.pad_id, model.config.max_len
    if eos_id in (pad_id, bos_id):
        raise ValueError(
            f"eos_id ({eos_id}) must differ from pad_id ({pad_id}) and bos_id ({bos_id})"
        )
    least = -1 if getattr(model, "reads_prompts", False) else 0
    for name, value, smallest in (("bos_id", bos_id, least), ("eos_id", eos_id, 0)):
        if not smallest <= value < model.config.vocab_size:
            raise ValueError(
                f"{name} ({value}) must be one of the {model.config.vocab_size} token ids"
            )
    if not 1 <= max_len <= limit:
        raise ValueError(
            f"max_len ({max_len}) must be 1 or more and at most the model's max_len ({limit})"
        )


@torch.inference_mode()
def _one_by_one(
    model: Searchable,
    src: Tensor,
    max_len: int,
    choose: Callable[[Tensor], Tensor],
    bos_id: int,
    eos_id: int,
) -> list[list[int]]:
    """Extend every sentence by what `choose` makes of its logits, (batch, vocab_size) → (batch,)."""
    _check_search(model, max_len, bos_id, eos_id)
    state = model.start(src, max_len)
    result: list[list[int]] = [[] for _ in range(src.shape[0])]
    rows = torch.arange(src.shape[0], device=src.device)
    last = torch.full((src.shape[0], 1), bos_id, device=src.device)
    for _ in range(max_len):
        logits = model.step(last, state)[:, 0]  # (rows, vocab_size)
        logits = _forbid(logits, model.config.pad_id, bos_id)
        last = choose(logits)[:, None]
        for row, token in zip(rows.tolist(), last.flatten().tolist(), strict=True):
            result[row].append(token)
        index = (last.flatten() != eos_id).nonzero().flatten()
        if len(index) == 0:
            break
        if len(index) < len(rows):
            rows, last, state = rows[index], last[index], state.select(index)
    return result
