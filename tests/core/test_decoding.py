"""Searches against brute force, against a plain uncached search, and against one another."""

import itertools
import math
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import BOS, EOS, PAD, assert_same, random_ids, refuses, shake, tiny_model
from torch import Tensor

from transformer_course.decoding import (
    Hypothesis,
    beam_search,
    greedy,
    length_penalty,
    next_token_distribution,
    sample,
)
from transformer_course.encoder_decoder import Transformer
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)

alphas = st.sampled_from([0.0, 0.6, 1.0, 2.0])


class FewWords(Transformer):
    """A model whose vocabulary is wide but where only ids below `words` can be said."""

    words = 6

    def logits(self, states: Tensor) -> Tensor:
        """The usual scores, minus infinity for all but the few words."""
        return super().logits(states).index_fill(-1, torch.arange(self.words, 200), -torch.inf)


def make_model(seed: int, **changes: object) -> Transformer:
    """A small random model, fairly sure of itself; its strong positions make it end sentences anywhere."""
    sizes = {"n_encoder_layers": 1, "n_decoder_layers": 2} | changes
    model = tiny_model(seed, 2.0, tie_embeddings=False, positions="learned", **sizes)
    with torch.no_grad():
        model.positions.table.mul_(4.0)  # type: ignore[union-attr]
    return model


@torch.no_grad()
def teacher_forced(model: Transformer, src: Tensor, ids: list[int]) -> float:
    """Log-probability of a target by one uncached pass."""
    logits = model(src[None], torch.tensor([[BOS, *ids[:-1]]]))[0]
    return float(logits.log_softmax(-1).gather(-1, torch.tensor(ids)[:, None]).sum())


def plain_beam_search(
    model: Transformer | Seq2Seq, src: Tensor, beam: int, max_len: int, alpha: float
) -> list[Hypothesis]:
    """One sentence, no cache, no early stop, nothing clever: Python lists and one pass per prefix."""

    def ranked(ids: list[int], log_prob: float) -> Hypothesis:
        return Hypothesis(ids, log_prob, log_prob / ((5 + len(ids)) / 6) ** alpha)

    open_beams: list[tuple[float, list[int]]] = [(0.0, [])]
    finished: list[Hypothesis] = []
    for _ in range(max_len):
        candidates = []
        prefixes = torch.tensor([[BOS, *ids] for _, ids in open_beams])
        with torch.no_grad():
            steps = model(src.expand(len(prefixes), -1), prefixes)[:, -1].log_softmax(-1)
        for (log_prob, ids), row in zip(open_beams, steps.tolist(), strict=True):
            candidates += [
                (log_prob + step, [*ids, token])
                for token, step in enumerate(row)
                if token not in (PAD, BOS)  # may not be said
            ]
        candidates.sort(key=lambda pair: -pair[0])
        finished += [ranked(ids, p) for p, ids in candidates[:beam] if ids[-1] == EOS]
        open_beams = [(p, ids) for p, ids in candidates if ids[-1] != EOS][:beam]
    for log_prob, ids in open_beams:
        if len(finished) < beam:
            finished.append(ranked(ids, log_prob))
    return sorted(finished, key=lambda hypothesis: -hypothesis.score)


def assert_same_hypotheses(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    assert [h.ids for h in found] == [h.ids for h in expected]
    for name in ("log_prob", "score"):
        values = [getattr(h, name) for h in expected]
        assert [getattr(h, name) for h in found] == pytest.approx(values, rel=1e-4, abs=1e-4)


@given(seed=st.integers(0, 99), alpha=alphas, norm=st.sampled_from(["pre", "post"]))
@settings(max_examples=3)
def test_wide_beam_is_exact(seed: int, alpha: float, norm: str) -> None:
    """As wide as there are sentences: then beam search ranks all of them, as brute force does."""
    max_len = 3
    torch.manual_seed(seed)
    config = tiny_model(vocab_size=200, norm=norm, n_encoder_layers=1, n_decoder_layers=1).config
    few = FewWords(config).eval()
    shake(few)
    src = random_ids([4])
    texts = [
        [*words, EOS]
        for length in range(max_len)
        for words in itertools.product(range(3, few.words), repeat=length)
    ] + [list(words) for words in itertools.product(range(3, few.words), repeat=max_len)]
    assert len(texts) == 1 + 3 + 9 + 27
    everything = []
    for ids in texts:
        log_prob = teacher_forced(few, src[0], ids)
        everything.append(Hypothesis(ids, log_prob, log_prob / ((5 + len(ids)) / 6) ** alpha))
    everything.sort(key=lambda hypothesis: -hypothesis.score)
    (found,) = beam_search(few, src, 100, max_len, alpha=alpha, top_beams=100)
    assert_same_hypotheses(found, everything)


@pytest.mark.parametrize("kind", [RecurrentSeq2Seq, ConvolutionalSeq2Seq])
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_other_models_are_searched_by_the_same_code(kind: type[Seq2Seq], beam: int) -> None:
    """They copy a state for each beam, where the Transformer has a mask; a plain search finds the same."""
    torch.manual_seed(1)
    model = kind(Seq2SeqConfig(13, d_model=8, n_layers=2, dropout=0.0)).eval()
    shake(model)
    lengths = [4, 2, 5]
    src = random_ids(lengths)
    found = beam_search(model, src, beam, 6, alpha=0.6, top_beams=beam)
    for row, length in enumerate(lengths):
        expected = plain_beam_search(model, src[row, :length], beam, 6, 0.6)
        if beam == 1:
            expected = [min(expected, key=lambda h: len(h.ids))]
        assert_same_hypotheses(found[row], expected[:beam])
    with pytest.raises(ValueError, match=r"beams \(0\) must be 1 or more"):
        model.start(src, 6, 0)


@example(seed=9, beam=3, alpha=0.0, lengths=[4])  # stopping at the third </s> would be too early
@example(seed=79, beam=2, alpha=1.0, lengths=[4])
@given(
    seed=st.integers(0, 999),
    beam=st.integers(1, 4),
    alpha=alphas,
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=2),
)
@settings(max_examples=16)
def test_equals_a_plain_search(seed: int, beam: int, alpha: float, lengths: list[int]) -> None:
    """Cache, ancestry, batch, leaving sentences and the early stop change nothing."""
    model = make_model(seed)
    src = random_ids(lengths)
    found = beam_search(model, src, beam, 5, alpha=alpha, top_beams=beam)
    for row, length in enumerate(lengths):
        expected = plain_beam_search(model, src[row, :length], beam, 5, alpha)
        if beam == 1:  # greedy decoding stops at its first </s>, whatever might score better later
            expected = [min(expected, key=lambda h: len(h.ids))]
        assert_same_hypotheses(found[row], expected[:beam])


class Written:
    """A model whose next token depends on the last one only: `nexts[last]` has the probabilities."""

    training = False
    config = SimpleNamespace(vocab_size=12, max_len=9, pad_id=PAD, dropout=0.0)

    def __init__(self, nexts: dict[int, dict[int, float]]) -> None:
        self.table = torch.full((12, 12), -torch.inf)
        for last, probabilities in nexts.items():
            for token, probability in probabilities.items():
                self.table[last, token] = math.log(probability)

    def start(self, src: Tensor, max_len: int, beams: int = 1) -> object:
        """Nothing is kept."""
        return SimpleNamespace(reorder=lambda parents: None)

    def step(self, tokens: Tensor, state: object) -> Tensor:
        """Look the last tokens up."""
        return self.table[tokens]


def test_the_search_goes_on_as_long_as_the_longest_sentence_could_win() -> None:
    """With `beam` sentences finished, an open one may still win: the penalty is mildest at max_len, not now."""
    chain = {token: {token + 1: 1.0} for token in range(4, 9)}
    model = Written({BOS: {EOS: 0.5, 3: 0.5}, 3: {EOS: 0.4, 4: 0.6}, 9: {EOS: 1.0}, **chain})
    ((best,),) = beam_search(model, torch.tensor([[3]]), 2, 9, alpha=2.0)
    assert best.ids == [3, 4, 5, 6, 7, 8, 9, EOS]
    assert best.score == pytest.approx(math.log(0.3) / (13 / 6) ** 2)
    assert math.log(0.3) / (7 / 6) ** 2 < math.log(0.5)  # it looked lost when two had finished


@given(seed=st.integers(0, 999), beam=st.integers(1, 6), alpha=alphas)
def test_scores_equal_teacher_forcing(seed: int, beam: int, alpha: float) -> None:
    model = make_model(seed)
    src = random_ids([5, 2])
    for row, hypotheses in enumerate(beam_search(model, src, beam, 9, alpha=alpha, top_beams=beam)):
        assert len(hypotheses) == beam
        assert len({tuple(h.ids) for h in hypotheses}) == beam
        assert [h.score for h in hypotheses] == sorted((h.score for h in hypotheses), reverse=True)
        for h in hypotheses:
            log_prob = teacher_forced(model, src[row][src[row] != PAD], h.ids)
            assert h.log_prob == pytest.approx(log_prob, rel=1e-4, abs=1e-4)
            assert h.score == pytest.approx(h.log_prob / ((5 + len(h.ids)) / 6) ** alpha, rel=1e-6)
            assert h.ids[-1] == EOS or len(h.ids) == 9
            assert EOS not in h.ids[:-1]
            assert not {PAD, BOS} & set(h.ids)


@example(seed=0, alpha=2.0)  # a longer sentence would score better
@given(seed=st.integers(0, 999), alpha=alphas)
@settings(max_examples=25)
def test_beam_1_equals_greedy(seed: int, alpha: float) -> None:
    model = make_model(seed)
    src = random_ids([5, 2, 4])
    beams = beam_search(model, src, 1, 12, alpha=alpha)
    assert [[h.ids for h in found] for found in beams] == [[ids] for ids in greedy(model, src, 12)]


@given(seed=st.integers(0, 999))
def test_greedy_equals_uncached_greedy(seed: int) -> None:
    model = make_model(seed)
    src = random_ids([5, 2, 3])
    found = greedy(model, src, 9)
    for row in range(3):
        ids: list[int] = []
        while len(ids) < 9 and EOS not in ids:
            with torch.no_grad():
                logits = model(src[row : row + 1], torch.tensor([[BOS, *ids]]))[0, -1]
            logits[[PAD, BOS]] = -torch.inf
            ids.append(int(logits.argmax()))
        assert found[row] == ids


def test_the_models_above_end_sentences_early_and_late() -> None:
    """Else the properties here would be about nothing."""
    lengths = Counter(
        len(ids) for seed in range(30) for ids in greedy(make_model(seed), random_ids([5, 2]), 9)
    )
    assert len(lengths) >= 4
    assert lengths[9] >= 5


@pytest.mark.slow
@given(seed=st.integers(0, 999), beam=st.integers(2, 4))
def test_batch_gives_what_its_sentences_give_alone(seed: int, beam: int) -> None:
    """Sentences end at different times and leave the batch; the rest must not notice."""
    model = make_model(seed)
    lengths = [5, 1, 3, 4, 2]
    src = random_ids(lengths)
    alone = [src[row : row + 1, :length] for row, length in enumerate(lengths)]
    assert greedy(model, src, 9) == [greedy(model, one, 9)[0] for one in alone]
    found = beam_search(model, src, beam, 9, top_beams=beam)
    for row, one in enumerate(alone):
        assert_same_hypotheses(found[row], beam_search(model, one, beam, 9, top_beams=beam)[0])


def test_top_beams_are_the_first_of_all_beams() -> None:
    for seed in range(6):
        model, src = make_model(seed), random_ids([5, 2])
        best = beam_search(model, src, 4, 9, top_beams=4)
        for hypotheses in best:
            scores = [hypothesis.score for hypothesis in hypotheses]
            assert scores == sorted(scores, reverse=True)  # the best one first
        for top in (1, 2, 3):
            for few, all_four in zip(
                beam_search(model, src, 4, 9, top_beams=top), best, strict=True
            ):
                assert len(few) == top
                assert_same_hypotheses(few, all_four[:top])


def test_beam_search_beats_greedy_in_probability_somewhere_and_on_average() -> None:
    gains = []
    for seed in range(12):
        model, src = make_model(seed), random_ids([5])
        greedy_ids = greedy(model, src, 6)[0]
        best = beam_search(model, src, 5, 6, alpha=0.0)[0][0]
        gains.append(best.log_prob - teacher_forced(model, src[0], greedy_ids))
    assert max(gains) > 0.1
    assert sum(gains) > 0


def test_length_penalty() -> None:
    assert length_penalty(1, 0.6) == 1.0
    assert length_penalty(13, 1.0) == pytest.approx(3.0)
    assert length_penalty(13, 0.5) == pytest.approx(math.sqrt(3))
    assert length_penalty(99, 0.0) == 1.0


def test_a_stronger_penalty_gives_longer_sentences() -> None:
    means = []
    for alpha in (0.0, 3.0):
        found = [
            beam_search(make_model(seed), random_ids([5]), 4, 9, alpha=alpha)[0][0]
            for seed in range(12)
        ]
        means.append(sum(len(h.ids) for h in found) / len(found))
    assert means[1] > means[0]


@given(
    seed=st.integers(0, 999),
    temperature=st.sampled_from([0.3, 1.0, 2.0]),
    top_k=st.sampled_from([None, 1, 3, 7, 99]),
    top_p=st.sampled_from([1.0, 0.9, 0.5, 1e-9]),
)
@settings(max_examples=40)
def test_distribution_equals_its_definition(
    seed: int, temperature: float, top_k: int | None, top_p: float
) -> None:
    torch.manual_seed(seed)
    logits = 2 * torch.randn(7, dtype=torch.float64)
    weights = [math.exp(float(x) / temperature) for x in logits]
    order = sorted(range(7), key=lambda i: -weights[i])[: top_k or 7]
    total = sum(weights[i] for i in order)
    kept: list[int] = []
    for i in order:
        if sum(weights[j] for j in kept) / total < top_p:
            kept.append(i)
    share = sum(weights[i] for i in kept)
    expected = torch.tensor([weights[i] / share if i in kept else 0.0 for i in range(7)])
    actual = next_token_distribution(
        logits, temperature=temperature, top_k=top_k, top_p=top_p
    ).float()
    assert_same(actual, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("temperature", [math.inf, 1e308, 1e39])
def test_an_infinite_temperature_makes_possible_tokens_equally_likely(
    temperature: float, dtype: torch.dtype
) -> None:
    logits = torch.tensor([[3.0, -math.inf, -50.0, 0.5], [-1.0, 2.0, 2.0, -math.inf]], dtype=dtype)
    third = 1 / 3
    expected = torch.tensor([[third, 0.0, third, third], [third, third, third, 0.0]], dtype=dtype)
    assert_same(next_token_distribution(logits, temperature=temperature), expected, 1e-2)
    chosen = next_token_distribution(logits, temperature=temperature, top_k=1)
    assert (chosen.max(-1).values == 1).all()


@pytest.mark.parametrize("temperature", [1e-50, 5e-324])
def test_a_temperature_too_small_for_the_logits_type_chooses_the_best(temperature: float) -> None:
    logits = torch.tensor([3.0, -math.inf, -50.0, 2.999])
    assert next_token_distribution(logits, temperature=temperature).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_temperature_in_the_limits() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0], [-1e4, -3e4, -2e4]])
    for temperature in (1e-3, 1e-40):
        cold = next_token_distribution(logits, temperature=temperature)
        assert cold.tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    hot = next_token_distribution(logits[:1], temperature=1e6)
    assert_same(hot, torch.full((1, 3), 1 / 3), 1e-4)


def test_distribution_leaves_its_input_alone_and_works_on_batches() -> None:
    logits = torch.randn(2, 3, 7)
    before = logits.clone()
    together = next_token_distribution(logits, top_k=3, top_p=0.8)
    assert torch.equal(logits, before)
    alone = next_token_distribution(logits[1, 2], top_k=3, top_p=0.8)
    assert_same(together[1, 2], alone)
    assert ((together > 0).sum(-1) <= 3).all()


def test_draws_follow_the_distribution() -> None:
    """Chi-square over 4,000 seeded draws of a first token; 99.9 % quantile of 10 degrees is 29.6."""
    model = tiny_model(3, tie_embeddings=False)
    src = random_ids([4]).expand(4000, -1)
    generator = torch.Generator().manual_seed(0)
    draws = Counter(ids[0] for ids in sample(model, src, 1, generator=generator))
    with torch.no_grad():
        logits = model(src[:1], torch.tensor([[BOS]]))[0, -1]
    logits[[PAD, BOS]] = -torch.inf
    expected = (4000 * logits.softmax(-1)).tolist()
    assert set(draws) <= {i for i, count in enumerate(expected) if count > 0}
    rare = [i for i, count in enumerate(expected) if 0 < count < 5]
    common = [i for i, count in enumerate(expected) if count >= 5]
    assert len(common) >= 5
    cells = [(sum(draws[i] for i in rare), sum(expected[i] for i in rare))] if rare else []
    cells += [(draws[i], expected[i]) for i in common]
    assert sum((seen - due) ** 2 / due for seen, due in cells if due > 0) < 29.6


@given(seed=st.integers(0, 99), top_k=st.sampled_from([1, 2, 3]))
@settings(max_examples=5)
def test_samples_stay_among_the_most_probable(seed: int, top_k: int) -> None:
    model = make_model(seed)
    src = random_ids([5]).expand(20, -1)
    generator = torch.Generator().manual_seed(seed)
    for ids in sample(model, src, 6, top_k=top_k, generator=generator):
        with torch.no_grad():
            logits = model(src[:1], torch.tensor([[BOS, *ids[:-1]]]))[0]
        logits[:, [PAD, BOS]] = -torch.inf
        for step, token in zip(logits, ids, strict=True):
            assert token in step.topk(top_k).indices


def test_sampling_the_most_probable_is_greedy_and_a_seed_repeats_it() -> None:
    model, src = make_model(1), random_ids([5, 2, 4])
    for setting in ({"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-30}):
        assert sample(model, src, 9, **setting) == greedy(model, src, 9)  # type: ignore[arg-type]
    runs = [
        sample(model, src, 9, temperature=3.0, generator=torch.Generator().manual_seed(seed))
        for seed in (4, 4, 5)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_other_special_ids() -> None:
    """A vocabulary that keeps its padding, start and end elsewhere."""
    model = tiny_model(2, 2.0, tie_embeddings=False, pad_id=12)
    src = torch.tensor([[5, 6, 7, 12], [8, 0, 1, 2]])
    for ids in greedy(model, src, 9, bos_id=11, eos_id=10):
        assert not {12, 11} & set(ids)
        assert 10 not in ids[:-1]
    (one,) = greedy(model, src[:1, :3], 9, bos_id=11, eos_id=10)
    assert one == greedy(model, src, 9, bos_id=11, eos_id=10)[0]
    found = beam_search(model, src, 1, 9, bos_id=11, eos_id=10)
    assert found[0][0].ids == one


def test_no_gradient_is_recorded_and_the_longest_search_fits() -> None:
    model, src = make_model(0), random_ids([17])
    (found,) = beam_search(model, src, 3, 17, top_beams=3)
    assert all(len(h.ids) <= 17 for h in found)
    assert all(p.grad is None for p in model.parameters())


Search = Callable[..., object]
SEARCHES = pytest.mark.parametrize("search", [greedy, sample, beam_search])


@SEARCHES
def test_a_search_refuses_a_limit_that_the_model_would_take(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model may forget to look at `max_len`; the search must not start with it."""
    model, src = make_model(0), random_ids([5, 2])
    monkeypatch.setattr(model, "start", lambda *_: pytest.fail("the search has started"))
    for max_len in (0, 18):
        with refuses(f"max_len ({max_len}) must be 1 or more and at most the model's max_len (17)"):
            search(model, src, max_len=max_len)


@SEARCHES
def test_every_search_refuses(search: Search) -> None:
    model, src = make_model(0), random_ids([5, 2])
    for max_len in (0, 18):
        with refuses(f"max_len ({max_len}) must be 1 or more and at most the model's max_len (17)"):
            search(model, src, max_len=max_len)
    with refuses("src must hold at least one token, shape (batch, length), got (0, 5)"):
        search(model, src[:0], max_len=5)
    with refuses("src has the id 13, which is outside the vocabulary of 13 ids"):
        search(model, src.clamp(min=13), max_len=5)
    with refuses("sequence of length 18 is longer than the positions, max_len (17)"):
        search(model, random_ids([18]), max_len=5)
    with refuses("ids must have shape (batch, length), got (5,)"):
        search(model, src[0], max_len=5)
    for eos_id in (PAD, BOS):
        with refuses(f"eos_id ({eos_id}) must differ from pad_id (0) and bos_id (1)"):
            search(model, src, max_len=5, eos_id=eos_id)
    with refuses("eos_id (13) must be one of the 13 token ids"):
        search(model, src, max_len=5, eos_id=13)
    with refuses("bos_id (-1) must be one of the 13 token ids"):
        search(model, src, max_len=5, bos_id=-1)
    careless = tiny_model(dropout=0.1).train()
    with refuses("model is in training mode, dropout would decide: call model.eval() first"):
        search(careless, src, max_len=5)


def test_beam_search_refuses() -> None:
    model, src = make_model(0), random_ids([5, 2])
    for beam in (0, -1, 7):
        with refuses(f"beam ({beam}) must be 1 or more and at most half the vocabulary (13)"):
            beam_search(model, src, beam, 5)
    for top_beams in (0, 4):
        with refuses(f"top_beams ({top_beams}) must be 1 or more and at most beam (3)"):
            beam_search(model, src, 3, 5, top_beams=top_beams)
    for alpha in (-0.1, 10.1, math.inf, math.nan):
        with refuses(f"alpha ({alpha}) must be from 0 to 10"):
            beam_search(model, src, 3, 5, alpha=alpha)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": 0.0}, "temperature (0.0) must be above 0; use greedy for its limit"),
        ({"temperature": -1.0}, "temperature (-1.0) must be above 0; use greedy for its limit"),
        ({"temperature": math.nan}, "temperature (nan) must be above 0; use greedy for its limit"),
        ({"top_k": 0}, "top_k (0) must be 1 or more"),
        ({"top_p": 0.0}, "top_p (0.0) must be above 0 and at most 1"),
        ({"top_p": 1.5}, "top_p (1.5) must be above 0 and at most 1"),
        ({"top_p": math.nan}, "top_p (nan) must be above 0 and at most 1"),
    ],
)
def test_sampling_refuses(setting: dict[str, float], message: str) -> None:
    with refuses(message):
        next_token_distribution(torch.zeros(7), **setting)  # type: ignore[arg-type]
    with refuses(message):
        sample(make_model(0), random_ids([5]), 5, **setting)  # type: ignore[arg-type]
