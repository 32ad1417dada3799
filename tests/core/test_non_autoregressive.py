"""Alignments, fertilities, mask-predict: sums over all alignments, loops and hand-made numbers as oracles."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles import BOS, EOS, PAD, assert_same, random_ids, refuses, shake, tiny_config, tiny_model
from torch import Tensor

from transformer_course.checkpoints import CheckpointError
from transformer_course.corpus import grammar
from transformer_course.corpus.batches import Example, collate
from transformer_course.corpus.pairs import Pair, words
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import greedy
from transformer_course.inspecting import alignment_error_rate
from transformer_course.non_autoregressive import (
    MASK_ID,
    FertilityBatches,
    FertilityTransformer,
    IbmModel,
    MaskPredict,
    NoisyParallel,
    aligned_fertilities,
    bare_targets,
    conditional_entropy,
    copy_by_fertility,
    distil,
    draw_gaps,
    fertilities,
    fertility_loss,
    mask_predict_loss,
    noisy,
    repeated_words,
)
from transformer_course.non_autoregressive.fertility import N_FERTILITIES, within
from transformer_course.training import PairBatches, Trainer, TrainingConfig, validation_loss
from transformer_course.translator import Translator

VOCAB, MAX_LEN = 13, 17
HOUSES = [(["the", "house"], ["das", "Haus"]), (["the", "book"], ["das", "Buch"])]
Tables = tuple[dict[Any, dict[Any, float]], Callable[[int, int, int, int], float]]
token_pairs = st.lists(
    st.tuples(st.lists(st.sampled_from("abc"), max_size=3), st.text("xy", min_size=1, max_size=3)),
    min_size=1,
    max_size=4,
)


def nat(seed: int = 0, **changes: Any) -> FertilityTransformer:
    """A random model in evaluation mode, every weight shaken; large fertilities are improbable."""
    model = shaken(FertilityTransformer, seed, **changes)
    with torch.no_grad():
        model.fertility.bias -= 0.7 * torch.arange(N_FERTILITIES)
    return model


def masked(seed: int = 0, passes: int = 4, **changes: Any) -> MaskPredict:
    model = shaken(MaskPredict, seed, **changes)
    model.passes = passes
    return model


def shaken(kind: Any, seed: int, **changes: Any) -> Any:
    torch.manual_seed(seed)
    model = kind(tiny_config(VOCAB, **changes))
    shake(model)
    return model.eval()


def sources(*lengths: int, seed: int = 1) -> Tensor:
    """Rows of ids, each ended by </s>, padded."""
    torch.manual_seed(seed)
    ids = random_ids(lengths, VOCAB, max(lengths) + 1)
    for row, n in zip(ids, lengths, strict=True):
        row[n] = EOS
    return ids


# IBM models


def tables(model: IbmModel) -> Tables:
    """What a model says of all words, in plain values."""
    names = [None, *model._sources]
    return {name: model.translations(name, 0.0) for name in names}, model.place


def probability(pairs: Any, t: Any, a: Any) -> float:
    """The likelihood of all pairs: a product of sums over every alignment, written out."""
    result = 1.0
    for src, tgt in pairs:
        row, total = [None, *src], 0.0
        for alignment in itertools.product(range(len(row)), repeat=len(tgt)):
            of_one = 1.0
            for j, i in enumerate(alignment):
                of_one *= t[row[i]].get(tgt[j], 0.0) * a(i - 1, j, len(src), len(tgt))
            total += of_one
        result *= total
    return result


def expected_counts(pairs: Any, t: Any, a: Any) -> tuple[Any, Any]:
    """The expectation step by enumerating alignments: each counts with its probability given the pair."""
    of_words: dict[Any, float] = {}
    of_places: dict[Any, float] = {}
    for src, tgt in pairs:
        row, found = [None, *src], {}
        for alignment in itertools.product(range(len(row)), repeat=len(tgt)):
            found[alignment] = math.prod(
                t[row[i]].get(tgt[j], 0.0) * a(i - 1, j, len(src), len(tgt))
                for j, i in enumerate(alignment)
            )
        total = sum(found.values())
        for alignment, p in found.items():
            for j, i in enumerate(alignment):
                word, place = (row[i], tgt[j]), (len(src), len(tgt), j, i - 1)
                of_words[word] = of_words.get(word, 0.0) + p / total
                of_places[place] = of_places.get(place, 0.0) + p / total
    return of_words, of_places


@given(pairs=token_pairs, before=st.integers(0, 2), positions=st.booleans())
def test_an_update_counts_all_alignments_and_the_likelihood_never_falls(
    pairs: Any, before: int, positions: bool
) -> None:
    model = IbmModel(pairs)
    for _ in range(before):
        model.update(positions)
    t, a = tables(model)
    likelihood = probability(pairs, t, a)
    of_words, of_places = expected_counts(pairs, t, a)
    old = {key: a(key[3], key[2], key[0], key[1]) for key in of_places}
    assert model.update(positions) == pytest.approx(math.log(likelihood))
    t, a = tables(model)
    for (source, target), count in of_words.items():
        total = sum(c for (s, _), c in of_words.items() if s == source)
        assert t[source][target] == pytest.approx(count / total)
    for (l, m, j, i), count in of_places.items():  # noqa: E741
        total = sum(c for key, c in of_places.items() if key[:3] == (l, m, j))
        expected = count / total if positions else old[l, m, j, i]
        assert a(i, j, l, m) == pytest.approx(expected)
    assert math.log(probability(pairs, t, a)) >= math.log(likelihood) - 1e-9


def test_one_update_by_hand() -> None:
    # At first every word writes each word it met alike: the null word and "the" met three, the nouns two. So
    # each target word is written by null, "the" and the noun with 1/3, 1/3, 1/2: shares of 2/7, 2/7, 3/7.
    model = IbmModel(HOUSES)
    assert model.translations(None) == {w: pytest.approx(1 / 3) for w in ("das", "Haus", "Buch")}
    each = (1 / 3 + 1 / 3 + 1 / 2) / 3
    assert model.update() == pytest.approx(4 * math.log(each))
    assert model.translations("the") == {
        "das": pytest.approx(1 / 2),
        "Haus": pytest.approx(1 / 4),
        "Buch": pytest.approx(1 / 4),
    }
    assert model.translations("house") == {
        "das": pytest.approx(1 / 2),
        "Haus": pytest.approx(1 / 2),
    }
    model.update()  # das: 1/2 each of null, the, house; Haus: 1/4, 1/4, 1/2
    assert model.translations("house") == {
        "Haus": pytest.approx((1 / 2) / (1 / 2 + 1 / 3)),
        "das": pytest.approx((1 / 3) / (1 / 2 + 1 / 3)),
    }


@given(pairs=token_pairs, null=st.booleans())
def test_the_best_alignment_is_the_most_probable_of_all(pairs: Any, null: bool) -> None:
    model = IbmModel(pairs)
    for n in range(4):
        model.update(positions=n > 1)
    t, a = tables(model)
    if not null and not all(src for src, _ in pairs):
        number = next(n for n, (src, _) in enumerate(pairs) if not src)
        with refuses(f"pairs[{number}] has an empty source: null must be True"):
            model.align(pairs, null)
        return
    for (src, tgt), links in zip(pairs, model.align(pairs, null), strict=True):
        row = [None, *src]

        def score(i: int, j: int, row: Any = row, tgt: Any = tgt) -> float:
            return t[row[i + 1]].get(tgt[j], 0.0) * a(i, j, len(row) - 1, len(tgt))

        chosen = {j: i for i, j in links}
        assert len(chosen) == len(links)
        assert null or len(links) == len(tgt)
        for j in range(len(tgt)):
            best = max(score(i, j) for i in range(-1 if null else 0, len(src)))
            assert score(chosen.get(j, -1), j) == pytest.approx(best)


def test_model_2_learns_places_where_words_say_nothing() -> None:
    # Both words of a source write both words of a target; only where they stand tells them apart.
    pairs = [(["a", "b"], ["x", "y"]), (["b", "a"], ["x", "y"]), (["a"], ["x"]), (["c"], ["x"])]
    model = IbmModel([*pairs, (["d", "e"], ["z", "y"])])
    for _ in range(3):
        model.update()
    assert model.place(0, 0, 2, 2) == pytest.approx(1 / 3)
    assert model.place(0, 0, 7, 9) == pytest.approx(1 / 8)
    for _ in range(10):
        model.update(positions=True)
    assert sum(model.place(i, 1, 2, 2) for i in (-1, 0, 1)) == pytest.approx(1)
    assert model.place(0, 0, 7, 9) == pytest.approx(1 / 8)


def test_alignments_of_the_grammar_get_better_from_model_1_to_model_2() -> None:
    pairs = list(grammar.generate("train", 1500))
    rows = [(words(pair.source.lower()), words(pair.target.lower())) for pair in pairs]
    model, gold = IbmModel(rows), [pair.alignment for pair in pairs]
    for _ in range(5):
        model.update()
    first = alignment_error_rate(model.align(rows), gold)
    for _ in range(5):
        model.update(positions=True)
    second = alignment_error_rate(model.align(rows), gold)
    assert second < 0.25 < first < 0.35


def test_words_that_never_met_are_aligned_by_their_places() -> None:
    model = IbmModel([(["a", "b"], ["x", "y"])] * 3 + [(["b", "a"], ["y", "x"])])
    for n in range(6):
        model.update(positions=n > 1)
    assert model.align([(["new", "b"], ["other", "y"])], null=False)[0] >= {(1, 1)}
    assert model.align([]) == []


def test_fertilities_sum_to_the_length_if_nothing_is_written_by_nobody() -> None:
    model = IbmModel(HOUSES)
    (links,) = model.align([(["the", "house"], ["das", "Haus", "Haus"])], null=False)
    found = fertilities(links, 2)
    assert sum(found) == 3
    assert found[1] >= 2
    with refuses("link (2, 1) must name one of the source's 2 words"):
        fertilities({(2, 1)}, 2)


def test_no_word_writes_more_than_a_model_knows() -> None:
    # One source word explains everything: sixty target words would be its own.
    pairs = [(["a", "b", "c"], ["x"] * 60), (["a"], ["x"])] * 5
    (many, one, *_) = aligned_fertilities(pairs)
    assert sum(many) == 60
    assert max(many) <= 49
    assert one == [1]
    assert aligned_fertilities(pairs, most=20)[0] == [20, 20, 20]
    FertilityBatches([([5, 6, 7], [8] * 60)], [many], 200, 100)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IbmModel([]), "pairs (0 of them) must have at least one target word"),
        (lambda: IbmModel([(["a"], [])]), "pairs (1 of them) must have at least one target word"),
        (
            lambda: IbmModel([([0] * 32768, [1])]),
            "pairs[0] has 32768 words on a side; the most are 32767",
        ),
        (
            lambda: IbmModel(HOUSES).translations("tree"),
            "source ('tree') must be a word of the pairs",
        ),
        (lambda: conditional_entropy(HOUSES, []), "links (0) must be as many as pairs (2)"),
        (lambda: conditional_entropy(HOUSES, [[], []]), "links must have at least one link"),
        *(
            (
                lambda link=link: conditional_entropy(HOUSES, [[(0, 0)], [link]]),
                f"links[1] has {link}, in a pair of 2 and 2 words",
            )
            for link in ((2, 0), (0, 2), (-1, 0), (0, -1))
        ),
        (lambda: repeated_words([]), "translations is empty; there must be at least one"),
    ],
)
def test_alignments_and_measures_refuse(make: Callable[[], object], message: str) -> None:
    with refuses(message):
        make()


def test_conditional_entropy_is_the_mean_over_source_words() -> None:
    pairs = [("ab", "xy"), ("a", "x"), ("a", "z"), ("c", "xx")]
    links = [{(0, 0), (1, 1)}, {(0, 0)}, {(0, 0)}, {(0, 0), (0, 1)}]
    of_a = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)
    assert conditional_entropy(pairs, links) == pytest.approx(of_a / 3)


def test_repeated_words() -> None:
    assert repeated_words(["Le le chat dort dort dort.", "non"]) == pytest.approx(3 / 8)
    assert repeated_words([""]) == 0


# Copies and fertilities


@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3))
def test_copies_equal_a_loop(rows: list[list[int]]) -> None:
    counts = torch.tensor(rows)
    src = random_ids([4] * len(rows), VOCAB)
    if not all(map(sum, rows)):
        with refuses("fertilities must have one above 0 in each row"):
            copy_by_fertility(src, counts)
        return
    loop = [
        [token for token, n in zip(ids, row, strict=True) for _ in range(n)]
        for ids, row in zip(src.tolist(), rows, strict=True)
    ]
    width = max(map(len, loop))
    expected = [row + [PAD] * (width - len(row)) for row in loop]
    assert copy_by_fertility(src, counts).tolist() == expected


def test_fertilities_are_mended_where_they_can_not_be_used() -> None:
    log_probs = torch.zeros(3, 3, N_FERTILITIES)
    log_probs[:, :, 0] = torch.tensor([-1.0, -5.0, 0.0])
    counts = torch.tensor([[0, 0, 0], [2, 3, 4], [1, 0, 1]])
    assert within(counts, log_probs, 4).tolist() == [[0, 1, 0], [2, 2, 0], [1, 0, 1]]


def test_the_fertility_model_is_a_transformer_without_a_causal_mask() -> None:
    model, src = nat(), sources(3, 2)
    counts = torch.tensor([[2, 0, 1, 0], [1, 3, 0, 0]])
    copies = copy_by_fertility(src, counts)
    everything = (copies != PAD)[:, None, None]
    expected = model.body(src, copies, tgt_mask=everything)
    assert_same(model(src, counts), expected)
    assert expected.shape == (2, 4, VOCAB)
    causal = model.body(src, copies)
    assert not torch.allclose(causal[0, 0], expected[0, 0])


def test_end_and_padding_write_nothing() -> None:
    model, src = nat(), sources(3, 1)
    *_, log_probs = model.read(src)
    assert log_probs.shape == (2, 4, N_FERTILITIES)
    assert_same(log_probs.exp().sum(-1), torch.ones(2, 4))
    silent = torch.tensor([[False, False, False, True], [False, True, True, True]])
    assert torch.equal(log_probs[..., 0] == 0.0, silent)


def test_argmax_decoding_by_hand() -> None:
    model, src = nat(3), sources(3, 2, 4)
    for row, (found,) in zip(src, model.translate_ids(src, 12), strict=True):
        real = row[row != PAD][None]
        *_, log_probs = model.read(real)
        counts = within(log_probs.argmax(-1), log_probs, 11)
        logits = model(real, counts)[0]
        logits[:, [PAD, BOS, EOS]] = -torch.inf
        of_tokens = model(real, counts)[0].log_softmax(-1)
        ids = logits.argmax(-1)
        total = of_tokens.gather(-1, ids[:, None]).sum()
        total = total + log_probs.gather(-1, counts[..., None]).sum()
        assert found.ids == [*ids.tolist(), EOS]
        assert found.log_prob == pytest.approx(total.item(), abs=1e-4)


def test_the_loss_of_fertilities_and_tokens_by_hand() -> None:
    model = nat()
    batches = FertilityBatches([([5, 6, 7], [8, 9]), ([4], [3, 3, 3])], [[2, 0, 0], [3]], 99, 9)
    src, tgt, counts = batches.tensors([0, 1])
    assert counts.tolist() == [[2, 0, 0, 0], [3, 0, 0, 0]]
    assert batches.n_predicted([0, 1]) == 5
    total = 0.0
    for (source, target), row in zip(batches.examples, batches.fertilities, strict=True):
        ids = torch.tensor([[*source, EOS]])
        memory = model.body.encode(ids)
        of_counts = model.fertility(memory)[0].log_softmax(-1)
        total -= sum(of_counts[i, n].item() for i, n in enumerate(row))
        of_tokens = model(ids, torch.tensor([[*row, 0]]))[0].log_softmax(-1)
        total -= sum(of_tokens[j, token].item() for j, token in enumerate(target))
    loss = fertility_loss(model, src, tgt, counts)
    assert loss.item() == pytest.approx(total / 5, abs=1e-4)
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())
    assert fertility_loss(model, src, tgt, counts, 0.1).item() != pytest.approx(loss.item())
    counts[0, 1] = 1  # as many as the other row: the shapes still fit
    with refuses("fertilities sum to [3, 3], but the targets have [2, 3] tokens"):
        fertility_loss(model, src, tgt, counts)
    with refuses("tgt of shape (1, 3) must hold tokens between <s> and </s>"):
        fertility_loss(model, src[:1], torch.tensor([[BOS, EOS, PAD]]), counts[:1])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "fertilities (0) must be as many as examples (1)"),
        ([[1]], "fertilities[0] must be 2 numbers that sum to 60, got [1]"),
        ([[30, 31]], "fertilities[0] must be 2 numbers that sum to 60, got [30, 31]"),
        ([[61, -1]], "fertilities[0] must be from 0 to 49, got [61, -1]"),
        ([[50, 10]], "fertilities[0] must be from 0 to 49, got [50, 10]"),
    ],
)
def test_batches_refuse_fertilities_that_do_not_fit(rows: Any, message: str) -> None:
    with refuses(message):
        FertilityBatches([([5, 6], [7] * 60)], rows, 999, 99)


def test_fertilities_are_part_of_the_fingerprint() -> None:
    examples = [([5, 6], [7, 8])]
    one, two = (FertilityBatches(examples, [row], 99, 9) for row in ([1, 1], [2, 0]))
    assert one.digest != two.digest != PairBatches(examples, 99, 9).digest
    assert one.digest == FertilityBatches(examples, [[1, 1]], 99, 9).digest


# Noisy parallel decoding


def test_one_candidate_is_argmax_decoding() -> None:
    model, src = nat(3), sources(3, 2, 4)
    alone = NoisyParallel(model, tiny_model(), 1).eval().translate_ids(src, 12)
    for (best,), (found,) in zip(alone, model.translate_ids(src, 12), strict=True):
        assert best.ids == found.ids


def test_the_teacher_chooses_among_drawn_candidates() -> None:
    student, teacher, src = nat(3), tiny_model(5), sources(3, 2, 4)
    several = NoisyParallel(student, teacher, 7).eval()
    found = several.translate_ids(src, 12, top_beams=7)
    assert found == several.translate_ids(src, 12, top_beams=7)  # the same draws
    assert [row[:1] for row in found] == several.translate_ids(src, 12)
    for ids, row, (first,) in zip(src, found, student.translate_ids(src, 12), strict=True):
        assert first.ids in [h.ids for h in row]
        assert [h.score for h in row] == sorted((h.score for h in row), reverse=True)
        assert len({len(h.ids) for h in row}) > 1
        for h in row:
            tgt = torch.tensor([[BOS, *h.ids]])
            of_tokens = teacher(ids[None], tgt[:, :-1]).log_softmax(-1)
            expected = of_tokens.gather(-1, tgt[:, 1:, None]).sum()
            assert h.log_prob == h.score == pytest.approx(expected.item(), abs=1e-3)


def test_many_candidates_are_written_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    several, src = NoisyParallel(nat(3), tiny_model(5), 7).eval(), sources(3, 2, 4)
    whole = several.translate_ids(src, 12, top_beams=7)
    monkeypatch.setattr(noisy, "_AT_ONCE", 4)
    for row, same in zip(several.translate_ids(src, 12, top_beams=7), whole, strict=True):
        assert sorted(h.ids for h in row) == sorted(h.ids for h in same)
        assert_same(torch.tensor([h.score for h in row]), torch.tensor([h.score for h in same]))


def test_noisy_parallel_writes_no_more_than_the_teacher_reads() -> None:
    student, src = nat(3), sources(4, 2)
    with torch.no_grad():
        student.fertility.bias[3] += 50.0  # three copies of each token
    assert len(student.translate_ids(src, 15)[0][0].ids) > 7
    teacher = tiny_model(5, max_len=7)
    found = NoisyParallel(student, teacher, 3).eval().translate_ids(src, 15)
    assert 0 < max(len(best.ids) for (best,) in found) <= 7


def test_the_most_probable_fertilities_are_among_the_candidates() -> None:
    student, src = nat(), sources(4, 4)
    with torch.no_grad():  # all from 0 to 9 nearly alike, so hardly ever drawn together
        student.fertility.weight.zero_()
        student.fertility.bias.copy_(torch.where(torch.arange(N_FERTILITIES) < 10, 0.0, -50.0))
        student.fertility.bias[2] = 0.01
    found = NoisyParallel(student, tiny_model(5), 4).eval().translate_ids(src, 17, top_beams=4)
    for row, (best,) in zip(found, student.translate_ids(src, 17), strict=True):
        assert len(best.ids) == 4 * 2 + 1
        assert best.ids in [h.ids for h in row]


# Mask-predict


def test_gaps_are_from_one_to_all_with_every_number_alike() -> None:
    real = torch.arange(5) < torch.tensor([1, 2, 5])[:, None]
    generator = torch.Generator().manual_seed(3)
    counts = torch.stack([draw_gaps(real, generator).sum(-1) for _ in range(2000)])
    for column, n in zip(counts.T, (1, 2, 5), strict=True):
        shares = torch.bincount(column, minlength=n + 1) / 2000
        assert shares[0] == 0
        assert_same(shares[1:], torch.full((n,), 1 / n), 0.2 / n)
    assert not draw_gaps(real)[~real].any()
    of_places = torch.stack([draw_gaps(real, generator)[2] for _ in range(2000)]).float().mean(0)
    assert_same(of_places, torch.full((5,), 3 / 5), 0.06)


def test_mask_predict_is_a_transformer_without_a_causal_mask() -> None:
    model, src = masked(), sources(3, 2)
    tgt = torch.tensor([[MASK_ID, 5, 6, 7], [8, MASK_ID, PAD, PAD]])
    everything = (tgt != PAD)[:, None, None]
    expected = model.body(src, tgt, tgt_mask=everything)
    assert_same(model(src, tgt), expected)
    assert not torch.allclose(model.body(src, tgt)[0, 0], expected[0, 0])


def test_a_gap_never_sees_its_own_label(monkeypatch: pytest.MonkeyPatch) -> None:
    model, seen = masked(), []
    src, tgt = sources(4, 3), torch.tensor([[BOS, 5, 6, 7, EOS], [BOS, 8, 9, EOS, PAD]])

    def fill(ids: Tensor, *others: Tensor) -> Tensor:
        seen.append(ids)
        return MaskPredict.fill(model, ids, *others)

    monkeypatch.setattr(model, "fill", fill)
    gaps = draw_gaps(bare_targets(tgt) != PAD, torch.Generator().manual_seed(2))
    generator = torch.Generator().manual_seed(2)
    losses = [mask_predict_loss(model, src, tgt, generator=generator)]
    other = tgt.clone()
    other[:, 1:-1][gaps] = 12  # what is hidden is changed
    generator = torch.Generator().manual_seed(2)
    losses.append(mask_predict_loss(model, src, other, generator=generator))
    assert torch.equal(*seen)
    assert (seen[0][gaps] == MASK_ID).all()
    assert torch.equal(seen[0][~gaps], bare_targets(tgt)[~gaps])
    assert losses[0] != losses[1]


def test_the_loss_of_gaps_and_length_by_hand() -> None:
    model = masked()
    src, tgt = sources(4, 2), torch.tensor([[BOS, 5, 6, 7, EOS], [BOS, 8, EOS, PAD, PAD]])
    gaps = draw_gaps(bare_targets(tgt) != PAD, torch.Generator().manual_seed(4))
    assert gaps.sum() == 3  # of 4
    of_gaps, of_lengths = 0.0, 0.0
    for ids, target, row in zip(src, ([5, 6, 7], [8]), gaps, strict=True):
        ids = ids[ids != PAD][None]
        places = row.nonzero().flatten().tolist()
        read = [MASK_ID if j in places else token for j, token in enumerate(target)]
        logits = model(ids, torch.tensor([read]))[0].log_softmax(-1)
        of_gaps -= sum(logits[j, target[j]].item() for j in places)
        of_lengths -= model.read(ids)[2][0].log_softmax(-1)[len(target)].item()
    generator = torch.Generator().manual_seed(4)
    loss = mask_predict_loss(model, src, tgt, generator=generator)
    # A length weighs as much as a guessed token, as in the paper's own program.
    assert loss.item() == pytest.approx((of_gaps + of_lengths) / gaps.sum().item(), abs=1e-4)
    loss.backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def passes_by_hand(model: MaskPredict, src: Tensor, length: int) -> list[list[tuple[int, float]]]:
    """What stands after each pass, one sentence, token by token."""
    total, tokens = model.passes, [(MASK_ID, 0.0)] * length
    found = []
    for t in range(total):
        worst = sorted(range(length), key=lambda j: tokens[j][1])
        gaps = set(worst[: length * (total - t) // total])
        read = [MASK_ID if j in gaps else token for j, (token, _) in enumerate(tokens)]
        log_probs = model(src, torch.tensor([read]))[0].log_softmax(-1)
        log_probs[:, [PAD, BOS, EOS]] = -torch.inf
        for j in gaps:
            tokens[j] = int(log_probs[j].argmax()), log_probs[j].max().item()
        found.append([*tokens])
    return found


@pytest.mark.slow
@given(passes=st.integers(1, 6), lengths=st.lists(st.integers(1, 9), min_size=2, max_size=2))
def test_all_passes_equal_a_loop(passes: int, lengths: list[int]) -> None:
    model, src = masked(passes=passes), sources(3, 5)
    memory, src_mask, _ = model.read(src)
    films = [*model.go_over(torch.tensor(lengths), memory, src_mask)]
    assert len(films) == passes
    for number, (ids, length) in enumerate(zip(src, lengths, strict=True)):
        ids = ids[ids != PAD][None]
        for film, expected in zip(films, passes_by_hand(model, ids, length), strict=True):
            assert film.tokens[number].tolist()[:length] == [token for token, _ in expected]
            assert (film.tokens[number, length:] == PAD).all()
            log_probs = torch.tensor([log_prob for _, log_prob in expected])
            assert_same(film.log_probs[number, :length], log_probs, 1e-4)
            assert (film.log_probs[number, length:] == 0).all()
    counts = torch.stack([film.written.sum(-1) for film in films])
    wanted = [[n * (passes - t) // passes for n in lengths] for t in range(passes)]
    assert counts.tolist() == wanted


def test_lengths_are_tried_side_by_side() -> None:
    model, src = masked(4), sources(3, 5)
    found = model.translate_ids(src, 9, beam=3, top_beams=3)
    assert [row[:1] for row in found] == model.translate_ids(src, 9, beam=3)
    for ids, row in zip(src, found, strict=True):
        ids = ids[ids != PAD][None]
        of_lengths = model.read(ids)[2][0].log_softmax(-1)
        lengths = (1 + of_lengths[1:9].topk(3).indices).tolist()
        assert {len(h.ids) - 1 for h in row} == set(lengths)
        assert [h.score for h in row] == sorted((h.score for h in row), reverse=True)
        for h in row:
            n = len(h.ids) - 1
            last = passes_by_hand(model, ids, n)[-1]
            assert h.ids == [*(token for token, _ in last), EOS]
            total = sum(log_prob for _, log_prob in last)
            assert h.score == pytest.approx(total / n, abs=1e-4)
            assert h.log_prob == pytest.approx(total + of_lengths[n].item(), abs=1e-4)
    assert len(model.translate_ids(src, 3, beam=9, top_beams=2)[0]) == 2  # lengths 1 and 2


def test_more_passes_than_one_read_what_was_written() -> None:
    src = sources(5, 4)
    one, four = (masked(passes=n).translate_ids(src, 9) for n in (1, 4))
    assert one != four


# Both models


each_kind = pytest.mark.parametrize("kind", [FertilityTransformer, MaskPredict])


@each_kind
def test_neighbours_and_padding_change_no_translation(kind: Any) -> None:
    model, src = shaken(kind, 2), sources(5, 2, 3)
    together = model.translate_ids(src, 12, beam=1)
    for ids, (found,) in zip(src, together, strict=True):
        ((alone,),) = model.translate_ids(ids[ids != PAD][None], 12, beam=1)
        assert alone.ids == found.ids
        assert alone.log_prob == pytest.approx(found.log_prob, abs=1e-4)
        assert alone.ids[-1] == EOS
        assert not {PAD, BOS, EOS} & {*alone.ids[:-1]}


@each_kind
def test_what_can_not_be_searched_is_refused(kind: Any) -> None:
    model, src = shaken(kind, 0, dropout=0.1), sources(3)
    for max_len in (1, 18):
        rule = f"max_len ({max_len}) must be 2 or more and at most the model's max_len (17)"
        with refuses(rule):
            model.translate_ids(src, max_len)
    for top_beams in (0, 2):
        rule = f"top_beams ({top_beams}) must be 1 or more and at most the candidates (1)"
        with refuses(rule):
            model.translate_ids(src, 9, top_beams=top_beams)
    model.train()
    with refuses("model is in training mode, dropout would decide: call model.eval() first"):
        model.translate_ids(src, 9)


def test_settings_out_of_range_are_refused() -> None:
    with refuses("tie_embeddings (False) must be True: the decoder reads the source"):
        nat(tie_embeddings=False)
    with refuses("passes (0) must be 1 or more"):
        MaskPredict(tiny_config(), 0)
    with refuses("passes (0) must be 1 or more"):
        masked(passes=0).translate_ids(sources(3), 9)
    teacher = tiny_model(5)
    teacher.config = dataclasses.replace(teacher.config, dropout=0.1)
    both = NoisyParallel(nat().eval(), teacher, 2).eval()
    teacher.train()
    with refuses("teacher is in training mode, dropout would decide: call eval() first"):
        both.translate_ids(sources(3), 9)
    with refuses("beam (0) must be 1 or more"):
        MaskPredict(tiny_config()).eval().translate_ids(sources(3), 9, beam=0)
    with refuses("candidates (0) must be 1 or more"):
        NoisyParallel(nat(), tiny_model(), 0)
    with refuses("student and teacher must have one vocabulary, got (13, 14) ids"):
        NoisyParallel(nat(), tiny_model(vocab_size=14))
    with refuses("student and teacher must have one pad_id, got (0, 12)"):
        NoisyParallel(nat(), tiny_model(pad_id=12))
    with refuses("fertilities must be 0 or more, got -1"):
        copy_by_fertility(sources(2), torch.tensor([[2, -1, 1]]))
    rule = "fertilities of shape (1, 3) must have the shape of src, (1, 4)"
    with refuses(rule):
        nat()(sources(3), torch.ones(1, 3, dtype=torch.int64))
    with refuses("tgt of shape (1, 2) must hold tokens between <s> and </s>"):
        bare_targets(torch.tensor([[BOS, EOS]]))


def by_heart(model: Any, data: Any, loss_fn: Any) -> None:
    """A few seconds of training on twenty sentences."""
    config = TrainingConfig(max_steps=150, peak_rate=1e-2, warmup_steps=20, validate_every=150)

    def evaluate(model: Any) -> dict[str, float]:
        return {"loss": validation_loss(model, data, loss_fn)}

    Trainer(model, data, loss_fn, evaluate, config).train()
    model.eval()


def twenty() -> list[Example]:
    """Twenty sources, and targets of other lengths; no rule joins them."""
    generator = torch.Generator().manual_seed(4)

    def draw(low: int, high: int) -> list[int]:
        n = int(torch.randint(low, high, (1,), generator=generator))
        return torch.randint(3, 40, (n,), generator=generator).tolist()

    return [(draw(2, 6), draw(1, 8)) for _ in range(20)]


def share_right(model: Any, examples: list[Example]) -> float:
    src = collate(examples, range(20)).src
    found = model.translate_ids(src, 16)
    return sum(row[0].ids[:-1] == tgt for row, (_, tgt) in zip(found, examples, strict=True)) / 20


@pytest.mark.slow
def test_twenty_sentences_are_learnt_by_heart() -> None:
    examples, sizes = twenty(), {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_decoder_layers": 2}
    torch.manual_seed(0)
    model = IbmModel(examples)
    for _ in range(3):
        model.update()
    counts = [
        fertilities(links, len(src))
        for links, (src, _) in zip(model.align(examples, null=False), examples, strict=True)
    ]
    one_pass = FertilityTransformer(tiny_config(40, **sizes))
    by_heart(one_pass, FertilityBatches(examples, counts, 400, MAX_LEN), fertility_loss)
    assert share_right(one_pass, examples) == 1
    several = MaskPredict(tiny_config(40, **sizes), 3)
    by_heart(several, PairBatches(examples, 400, MAX_LEN), mask_predict_loss)
    assert share_right(several, examples) >= 0.95


# Distillation, and the translator


class Parrot:
    """A teacher who says the source in capitals, and nothing to "b"."""

    def translate(self, text: list[str], *, beam: int, alpha: float) -> list[str]:
        self.asked = beam, alpha
        return ["" if line == "b" else line.upper() for line in text]


def test_distillation_keeps_every_line() -> None:
    pairs = [Pair("a", ("x", "y"), ("question",), ((0, 0),)), Pair("b", ("z",)), Pair("a", ("w",))]
    teacher = Parrot()
    found = distil(teacher, pairs, beam=2, alpha=1.0)
    assert teacher.asked == (2, 1.0)
    assert found == [Pair("a", ("A",), ("question",)), Pair("b", ("z",)), Pair("a", ("A",))]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.train(["le chat voit l'arbre", "the cat sees the tree"], 290)


def translator(kind: Any, vocabulary: Vocabulary) -> Translator:
    torch.manual_seed(0)
    return Translator(kind(tiny_config(len(vocabulary), max_len=60)), vocabulary)


@each_kind
def test_a_translator_takes_a_parallel_model(
    kind: Any, vocabulary: Vocabulary, tmp_path: Any
) -> None:
    ours = translator(kind, vocabulary)
    sentences = ["the cat", "the cat sees the tree", "a"]
    found = ours.translate(sentences, beam=1)
    for text, sentence in zip(found, sentences, strict=True):
        src = torch.tensor([[*vocabulary.encode([sentence])[0], EOS]])
        ((best,),) = ours.model.translate_ids(src, 42)
        assert text == vocabulary.decode([best.ids])[0]
    ours.calibrate(sentences)
    ours.save(tmp_path)
    again = Translator.load(tmp_path)
    assert type(again.model) is kind
    assert again.translate(sentences, beam=1) == found
    assert again.search(sentences)[0][0].confidence > 0
    assert again.untranslated(["the cat"], [""]) == [()]
    for wanted, call in (
        ("score", lambda: again.score([("a", "b")])),
        ("attention", lambda: again.attention("a")),
    ):
        with refuses(
            f"{wanted} asks for a model that writes word by word; {kind.__name__} writes all words at once"
        ):
            call()


@each_kind
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"beam": 0}, "beam (0) must be 1 or more and at most half the vocabulary (266)"),
        ({"beam": 1000}, "beam (1000) must be 1 or more and at most half the vocabulary (266)"),
        ({"alpha": -7.0}, "alpha (-7.0) must be from 0 to 10"),
        ({"alpha": math.nan}, "alpha (nan) must be from 0 to 10"),
    ],
)
def test_a_parallel_model_refuses_the_numbers_that_a_search_refuses(
    kind: Any, vocabulary: Vocabulary, wrong: dict[str, Any], told: str
) -> None:
    with refuses(told):
        translator(kind, vocabulary).search(["the cat"], **wrong)


def test_a_translator_takes_noisy_parallel_decoding(vocabulary: Vocabulary, tmp_path: Any) -> None:
    student = translator(FertilityTransformer, vocabulary)
    teacher = tiny_model(1, vocab_size=len(vocabulary), max_len=60)
    ours = Translator(NoisyParallel(student.model, teacher, 3), vocabulary)  # type: ignore[arg-type]
    assert len(ours.search(["the cat"], top_beams=3)[0]) == 3
    with pytest.raises(CheckpointError, match=r"^NoisyParallel can't be saved: `load` knows \["):
        ours.save(tmp_path)


def test_greedy_still_searches_word_by_word() -> None:
    src = sources(3)
    assert greedy(tiny_model(), src, 5)[0]
