"""The benchmark of exports counts what is the same, and its record says what the pages say."""

import json

from small_runs import number_pairs, trained

from benchmarks import exports
from transformer_course.translator import Translator

SENTENCES = [pair.source for pair in number_pairs()][:12]


class Other:
    """A translator that gets the first sentence wrong."""

    def search(self, sentences: list[str], **wishes: int) -> list[list[object]]:
        found: list[list[object]] = list(trained().search(sentences, **wishes))  # type: ignore[arg-type]
        return [*trained().search(["five five five"], **wishes), *found[1:]]  # type: ignore[arg-type]


def test_agreement_counts_what_is_the_same() -> None:
    others: dict[str, object] = {"itself": trained(), "wrong": Other()}
    found = exports.agreement(trained(), others, SENTENCES)
    for search in exports.BEAMS:
        assert found["itself"][search] == {"same": 12, "largest difference": 0.0}
        assert found["wrong"][search]["same"] == 11


def test_times_are_ratios_of_the_same_rounds() -> None:
    others: dict[str, object] = {"itself": Translator(trained().model, trained().vocabulary)}
    table = exports.speed(trained(), others, SENTENCES, rounds=2)
    assert len(table) == len(exports.BEAMS) * len(exports.AT_ONCE)
    for row in table.values():
        assert row["ours, seconds"] > 0
        assert row["itself"] == sorted(row["itself"])


def test_claims_about_the_record() -> None:
    record = json.loads((exports.ROOT / "benchmarks/results/exports.json").read_text())
    assert record["sentences"] == 1000
    for name in ("CTranslate2", "ONNX Runtime"):
        for row in record["agreement"][name].values():
            assert row["same"] == 1000
            assert row["largest difference"] < 1e-4
    assert min(row["same"] for row in record["agreement"]["CTranslate2, int8"].values()) >= 970
    sizes = record["bytes"]
    assert sizes["int8/model.bin"] < 0.4 * sizes["float32/model.bin"]
