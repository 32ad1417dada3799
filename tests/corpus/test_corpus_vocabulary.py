"""Vocabulary: reversible on any text, the same on every run, and clear about wrong input."""

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from transformer_course.corpus import normal_form
from transformer_course.corpus.vocabulary import Vocabulary

LINES = [
    "the cat, the cat, the cat",
    "the cat is on the mat",
    "the animal didn't cross the street because it was too tired .",
    "le chat est sur le tapis",
    "l'animal n'a pas traversé la rue parce qu'il était trop fatigué .",
    "est-ce que l'arbre de l'été est là ?",
    "<s> </s> <pad> <s> </s> <pad> </s></s></s>",
] * 3

SIZE = 350


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.train(LINES, SIZE)


V = Vocabulary.train([*LINES, "A"], SIZE)  # has seen a capital
SMALL = Vocabulary.train(LINES, SIZE)
vocabularies = pytest.mark.parametrize("v", [V, SMALL])


@vocabularies
@settings(max_examples=1000)
@given(text=st.text())
@example(text="")
@example(text=" \t\n ")
@example(text="</s>")
@example(text="a<pad>b <s>")
@example(text="▁ ĠĠ Ċ")
@example(text="\x00\x1c\u2028\ufeff\u00ad")
@example(text="e\u0301 \u0301 x")
@example(text="''’’ l'’ '")
@example(text="👩‍👩‍👧 🇫🇷 한국어 我爱火锅 עברית")
@example(text="E\u0301TE\u0301 İSTANBUL ΣΑΣ Ǆ ẞ \u212b")
def test_decoding_undoes_encoding(v: Vocabulary, text: str) -> None:
    assert v.decode(v.encode([text])) == [v.normalise(text)]


@given(st.lists(st.text()))
def test_a_batch_gives_what_its_sentences_give_alone(lines: list[str]) -> None:
    together = V.encode(lines)
    assert together == [V.encode([line])[0] for line in lines]
    assert V.decode(together) == [V.normalise(line) for line in lines]


@given(st.text())
def test_no_text_becomes_a_special_token(text: str) -> None:
    assert all(entry > 2 for entry in V.encode([text])[0])


@vocabularies
@given(text=st.text())
@example(text="E\u0301TE\u0301 İSTANBUL ΣΑΣ Ǆ ẞ \u212b")
def test_normalised_text_is_left_alone(v: Vocabulary, text: str) -> None:
    once = v.normalise(text)
    assert v.normalise(once) == once
    assert "  " not in once
    assert once == once.strip(" ")


@settings(max_examples=1000)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cn"]))
    | st.text(st.sampled_from("ae\u0301 ()«»“’ \u00a0\u200b\u200d\n\x1c.!"))
)
@example("le\u00a0cafe\u0301\u2028la\u3000bas ")
def test_readers_and_vocabulary_agree_on_the_normal_form(text: str) -> None:
    assert V.normalise(text) == normal_form.normalise(text)
    assert normal_form.normalise(normal_form.normalise(text)) == normal_form.normalise(text)


OLD_NORMALIZER = {
    "type": "Sequence",
    "normalizers": [
        {"type": "NFC"},
        {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Prepend", "prepend": " "},
    ],
}


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_vocabulary_of_an_older_version_keeps_its_rule(tmp_path: Path, lowercase: bool) -> None:
    normalizer = json.loads(json.dumps(OLD_NORMALIZER))
    if lowercase:
        normalizer["normalizers"].insert(0, {"type": "Lowercase"})
    path = tmp_path / "old.json"
    path.write_text(edited({"normalizer": normalizer}), encoding="utf-8")
    old = Vocabulary.load(path)
    text = "L’arbre\u00a0dit\u202f« là\u200b »"
    assert old.normalise(text) == (
        "l’arbre dit « là\u200b »" if lowercase else "L’arbre dit « là\u200b »"
    )
    assert old.decode(old.encode([text])) == [old.normalise(text)]
    assert old.unseen("anything at all §") == ()
    old.save(tmp_path / "again.json")
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again["model"].pop("digest") == old.digest
    assert again == json.loads(path.read_text(encoding="utf-8"))
    assert V.normalise(text) == 'L\'arbre dit "là"'


# What was never seen


def test_words_and_signs_that_were_never_seen_are_named_in_order_as_written() -> None:
    v = Vocabulary.train(["The cat, the mat.", "l'arbre"], 300)
    assert v.unseen("The cat, the mat. l'arbre") == ()
    assert v.unseen("the  zebra § the zebra, the Cat!") == ("zebra", "§", "Cat", "!")
    assert v.unseen("Mat cat") == ("Mat",)  # a capital at the start makes another word
    assert v.unseen("l’arbre") == ()  # the same after normalising
    assert v.unseen("d’arbre") == ("d'",)
    assert v.unseen("") == v.unseen(" \u200b ") == ()
    assert v.unseen("</s>") == ("<", "/", "s", ">")


def test_capitals_make_no_new_word_where_the_vocabulary_makes_them_small() -> None:
    small = Vocabulary.train(["the cat, été"], 300)
    assert small.unseen("The CAT É E\u0301TE\u0301 Zebra") == ("É", "Zebra")


@vocabularies
@given(text=st.text())
@example(text="İSTANBUL ΣΑΣ Ǆ « ẞ »")
def test_no_text_has_anything_new_to_a_vocabulary_that_was_trained_on_it(
    v: Vocabulary, text: str
) -> None:
    assert Vocabulary.train([text], 259).unseen(text) == ()
    assert set("".join(v.unseen(text))) <= set(normal_form.normalise(text))


def test_what_was_seen_is_saved_with_the_vocabulary(tmp_path: Path) -> None:
    v = Vocabulary.train(["the cat « ’ \x01"], 300)
    v.save(tmp_path / "v.json")
    again = Vocabulary.load(tmp_path / "v.json")
    assert again.unseen("the dog ' \"") == v.unseen("the dog ' \"") == ("dog",)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "v.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.parametrize("call", [V.unseen, SMALL.unseen])
def test_what_is_no_text_has_no_unseen_words(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="holds half a surrogate pair"):
        call("\ud800")
    with pytest.raises(ValueError, match=re.escape("lines[0] (None) must be a string")):
        call(None)


@given(st.text(st.characters(exclude_characters="▁", exclude_categories=["Cs"])))
def test_pieces_joined_are_the_text(text: str) -> None:
    pieces = V.pieces(text)
    if not any("\\x" in piece for piece in pieces):
        assert "".join(pieces).replace("▁", " ").removeprefix(" ") == V.normalise(text)


def test_a_subword_of_no_word_has_no_index() -> None:
    assert V.encode(["\x1c"]) != [[]]  # Python takes it as white space, the library doesn't
    assert V.word_indices("\x1c") == V.word_indices("") == []
    assert set(V.word_indices("a \x1c")) == {0}


def test_pieces_are_readable(vocabulary: Vocabulary) -> None:
    assert vocabulary.pieces("the cat") == ["▁the", "▁cat"]
    assert vocabulary.pieces("l'chat")[0] == "▁l'"
    assert vocabulary.pieces("été.")[-1] == "."
    assert vocabulary.pieces("ñ") == ["▁", "\\xc3", "\\xb1"]
    assert [vocabulary.piece(i) for i in range(3)] == ["<pad>", "<s>", "</s>"]


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("l'arbre", ["l'", "arbre"]),
        ("aujourd’hui", ["aujourd'", "hui"]),
        ("didn't", ["didn'", "t"]),
        ("est-ce que ?", ["est", "-", "ce", " que", " ?"]),
        ("fin...", ["fin", ".", ".", "."]),
        ("a <== b", ["a", " <", "=", "=", " b"]),
        ("3,5 €", ["3", ",", "5", " €"]),
        ("«là»", ['"', "là", '"']),
    ],
)
def test_no_merge_crosses_a_boundary(text: str, cuts: list[str]) -> None:
    """A vocabulary that has learned all of one text cuts it at its boundaries and nowhere else."""
    everything = Vocabulary.train([f"{text} {text}"], 5000)
    assert everything.pieces(text) == [cut.replace(" ", "▁") for cut in [" " + cuts[0], *cuts[1:]]]


def test_a_word_has_one_form_at_the_start_and_inside(vocabulary: Vocabulary) -> None:
    (inside,) = vocabulary.encode(["the the"])
    assert inside == vocabulary.encode(["the"])[0] * 2


def test_capitals_are_kept_where_one_was_seen_and_made_small_where_none_was(tmp_path: Path) -> None:
    text = "LE CHAT, l'E\u0301te\u0301"
    assert V.normalise(text) == "LE CHAT, l'Été"
    assert V.encode([text]) != V.encode([text.lower()])
    assert SMALL.normalise(text) == "le chat, l'été"
    assert SMALL.encode([text]) == SMALL.encode([text.lower()])
    assert SMALL.normalise("ΟΔΟΣ") == "οδοσ" != "ΟΔΟΣ".lower()  # letter by letter, as it says
    SMALL.save(tmp_path / "small.json")
    again = Vocabulary.load(tmp_path / "small.json")
    assert again.encode([text]) == SMALL.encode([text])


@pytest.mark.parametrize("capital", ["Z", "Ä", "Σ", "ǅ"])  # the last one is a letter of title case
def test_one_capital_anywhere_is_enough_to_keep_them(capital: str) -> None:
    one = Vocabulary.train([*LINES, f"x{capital}"], SIZE)
    assert one.normalise(f"A{capital}") == f"A{capital}"


def test_size_and_special_ids(vocabulary: Vocabulary) -> None:
    assert len(vocabulary) == SIZE
    assert (vocabulary.pad_id, vocabulary.bos_id, vocabulary.eos_id) == (0, 1, 2)
    assert max(max(row) for row in vocabulary.encode(LINES)) < SIZE
    assert len({vocabulary.piece(i) for i in range(SIZE)}) == SIZE


def test_the_smallest_vocabulary_is_bytes() -> None:
    smallest = Vocabulary.train(LINES, 259)
    assert len(smallest) == 259
    assert len(smallest.encode(["été"])[0]) == len(" été".encode())


def test_training_stops_where_nothing_repeats() -> None:
    assert len(Vocabulary.train(["ab"], 5000)) == 259
    assert len(Vocabulary.train(["ab", "ab"], 5000)) == 261  # "▁a" or "ab", then "▁ab"


@pytest.mark.parametrize("size", [258, 0, -1])
def test_a_size_without_room_for_the_bytes_is_refused(size: int) -> None:
    rule = f"size ({size}) must be at least 259: 3 special tokens and 256 bytes"
    with pytest.raises(ValueError, match=re.escape(rule)):
        Vocabulary.train(LINES, size)


def test_a_size_that_nobody_means_is_refused() -> None:
    with pytest.raises(ValueError, match=r"size \(10000000000000\) must be at most 1,000,000"):
        Vocabulary.train(LINES, 10**13)


@pytest.mark.parametrize("call", [lambda x: Vocabulary.train(x, 300), V.encode])
@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("the cat", "lines must be a list of sentences, not a single string"),
        (["a", None], "lines[1] (None) must be a string"),
        (["a", b"b"], "lines[1] (b'b') must be a string"),
        (["\ud800"], "lines[0] ('\\ud800') holds half a surrogate pair"),
    ],
)
def test_what_is_not_a_list_of_sentences_is_refused(call, lines, rule: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=re.escape(rule)):
        call(lines)


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("lines is empty; there must be at least one")):
        Vocabulary.train(iter([]), 300)
    assert V.encode([]) == []
    assert V.decode([]) == []


def test_decode_stops_at_the_end_and_skips_padding(vocabulary: Vocabulary) -> None:
    the, cat = vocabulary.encode(["the cat"])[0]
    rows = [[1, the, cat, 2, the, 0], [0, 0, the, 0, cat], [2, the], [], [1, 2]]
    assert vocabulary.decode(rows) == ["the cat", "the cat", "", "", ""]
    assert vocabulary.decode(np.array([[1, the, cat, 2]])) == ["the cat"]  # type: ignore[arg-type]


def test_bytes_that_form_no_character_are_shown_as_such(vocabulary: Vocabulary) -> None:
    broken = vocabulary.encode(["ñ"])[0][:-1]
    assert vocabulary.decode([broken]) == ["\ufffd"]


@pytest.mark.parametrize("entry", [-1, SIZE, 10**9])
def test_ids_outside_the_vocabulary_are_refused(vocabulary: Vocabulary, entry: int) -> None:
    rule = f"ids[1][2] ({entry}) must be in 0 … {SIZE - 1}"
    with pytest.raises(ValueError, match=re.escape(rule)):
        vocabulary.decode([[5], [5, 2, entry]])
    with pytest.raises(ValueError, match=re.escape(f"entry ({entry}) must be in 0 … {SIZE - 1}")):
        vocabulary.piece(entry)


@pytest.mark.parametrize("row", [5, 0.5, [0.5]])
def test_what_is_not_a_row_of_ids_is_refused(vocabulary: Vocabulary, row: object) -> None:
    rule = f"ids[0] ({row!r}) must be a row of whole numbers"
    with pytest.raises(ValueError, match=re.escape(rule)):
        vocabulary.decode([row])  # type: ignore[list-item]


def test_saved_and_loaded_it_is_the_same(vocabulary: Vocabulary, tmp_path: Path) -> None:
    vocabulary.save(tmp_path / "one.json")
    loaded = Vocabulary.load(str(tmp_path / "one.json"))
    loaded.save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert loaded.encode(LINES) == vocabulary.encode(LINES)
    assert len(loaded) == len(vocabulary)
    assert loaded.decode(loaded.encode(["a </s> <pad>"])) == ["a </s> <pad>"]


TRAIN_AND_SAVE = """
import sys
from transformer_course.corpus.vocabulary import Vocabulary
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
Vocabulary.train(lines[::-1] if sys.argv[3] == "backwards" else lines, 900).save(sys.argv[2])
"""


def test_training_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """Whatever the order of the lines, the hash seed and the number of threads."""
    words = ["chat", "chien", "arbre", "été", "maison", "rouge", "verte", "l'", "un", "une"]
    rng = np.random.default_rng(3)
    lines = [" ".join(rng.choice(words, 6)) + f" {i * 7919}" for i in range(400)]
    text = tmp_path / "lines.txt"
    text.write_text("\n".join(lines), encoding="utf-8")
    saved: list[bytes] = []
    for order, threads in [("forwards", "false"), ("backwards", "true"), ("forwards", "true")]:
        path = tmp_path / f"{len(saved)}.json"
        environment = os.environ | {
            "TOKENIZERS_PARALLELISM": threads,
            "PYTHONHASHSEED": str(len(saved)),
            "RAYON_NUM_THREADS": "2",
        }
        command = [sys.executable, "-c", TRAIN_AND_SAVE, str(text), str(path), order]
        subprocess.run(command, check=True, env=environment)
        saved.append(path.read_bytes())
    assert saved[0] == saved[1] == saved[2]
    assert len(Vocabulary.load(tmp_path / "0.json")) > 500


def edited(change: dict[str, object]) -> str:
    state = json.loads(V._tokenizer.to_str())
    for dotted, value in change.items():
        *parents, last = dotted.split(".")
        place = state
        for parent in parents:
            place = place[parent]
        place[last] = value
    return json.dumps(state)


def without_byte() -> str:
    return V._tokenizer.to_str().replace('"!":3,', '"!!":3,')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ""),
        ("{}", ""),
        ("[1, 2", ""),
        ('{"version": "1.0", "model": 3}', ""),
        (lambda: edited({"normalizer": None}), "it splits or joins text by other rules"),
        (lambda: edited({"pre_tokenizer": None}), "it splits or joins text by other rules"),
        (lambda: edited({"decoder": None}), "it splits or joins text by other rules"),
        (lambda: edited({"model.dropout": 0.5}), "it splits or joins text by other rules"),
        (lambda: edited({"model.seen": ["the"]}), "seen is not a string of words"),
        (without_byte, "some of the 256 bytes are missing"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path, text, reason: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "v.json"
    path.write_text(text if isinstance(text, str) else text(), encoding="utf-8")
    rule = f"{path} is not a vocabulary written by Vocabulary.save: {reason}"
    with pytest.raises(ValueError, match=re.escape(rule)):
        Vocabulary.load(path)


LOAD = """
import resource, sys
from transformer_course.corpus.vocabulary import Vocabulary
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    Vocabulary.load(sys.argv[1])
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_an_id_far_away_is_refused_without_memory_for_all_those_before(tmp_path: Path) -> None:
    path, far = tmp_path / "v.json", {"model.vocab": V._tokenizer.get_vocab() | {"far": 3 * 10**8}}
    path.write_text(edited(far), encoding="utf-8")
    said = subprocess.run([sys.executable, "-c", LOAD, path], capture_output=True, text=True)
    error, more = said.stdout.splitlines()
    assert error == f"{path} is not a vocabulary written by Vocabulary.save: its ids have gaps"
    assert int(more) < 50_000  # KiB


def test_a_vocabulary_without_the_special_tokens_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.json"
    path.write_text(V._tokenizer.to_str().replace("</s>", "</e>"), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape("ids 0, 1, 2 are not <pad>, <s>, </s>")):
        Vocabulary.load(path)


def test_a_file_that_is_not_text_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "v.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not a vocabulary"):
        Vocabulary.load(tmp_path / "v.json")
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "none.json")


def test_the_file_is_complete_for_the_library_alone(vocabulary: Vocabulary, tmp_path: Path) -> None:
    """Somebody with the tokenizers library and without this package gets the same ids."""
    vocabulary.save(tmp_path / "v.json")
    theirs = Tokenizer.from_file(str(tmp_path / "v.json"))
    text = "  l'e\u0301te\u0301 est  la\u0300 ."
    assert theirs.encode(text).ids == vocabulary.encode([text])[0]
    assert theirs.decode(theirs.encode(text).ids) == "l'été est là ."


FORK = """
import os, sys
from transformer_course.corpus.vocabulary import Vocabulary
v = Vocabulary.train(["the cat", "the cat"], 300)
v.encode(["the cat"] * 100)
child = os.fork()
if child == 0:
    print(os.environ["TOKENIZERS_PARALLELISM"], flush=True)
    v.encode(["the cat"] * 100)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_encoding_on_both_sides_of_a_fork_neither_warns_nor_hangs() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    command = [sys.executable, "-c", FORK]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("false\n", "")


def test_a_parallelism_chosen_by_the_user_stays() -> None:
    code = "import os, transformer_course.corpus.vocabulary; print(os.environ[NAME])"
    command = [sys.executable, "-c", code.replace("NAME", "'TOKENIZERS_PARALLELISM'")]
    environment = os.environ | {"TOKENIZERS_PARALLELISM": "true"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "true\n"


@given(st.text())
def test_normal_form_is_composed(text: str) -> None:
    known = all(unicodedata.category(char) != "Cn" for char in text)
    assert not known or unicodedata.is_normalized("NFC", V.normalise(text))


def panics(path: Path, *, with_digest: bool) -> None:
    """Write a vocabulary on which the library panics: a Rust panic is no Exception of Python's."""
    V.save(path)
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["model"]["continuing_subword_prefix"] = "x" * 40
    if not with_digest:  # as older versions wrote it
        del stored["model"]["digest"]
    path.write_text(json.dumps(stored), encoding="utf-8")


def test_a_file_on_which_the_library_panics_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.json"
    panics(path, with_digest=False)
    with pytest.raises(ValueError, match="is not a vocabulary written by"):
        Vocabulary.load(path)


def test_a_changed_file_is_refused_before_the_library_sees_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A panic would write lines of its own beside our sentence."""
    path = tmp_path / "vocabulary.json"
    panics(path, with_digest=True)
    with pytest.raises(ValueError, match=r"vocabulary\.json was changed since it was written"):
        Vocabulary.load(path)
    assert capfd.readouterr().err == ""
