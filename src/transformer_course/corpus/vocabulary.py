"""Subwords: byte-pair encoding over bytes, one vocabulary for both languages (chapter 07).

Byte-pair encoding (Gage 1994; for translation Sennrich et al. 2016) starts from
single symbols and merges the pair that is most frequent in the training text, again and again,
until the vocabulary is full. Here the symbols are the 256 bytes of UTF-8 (Radford et al. 2019), so
every text can be written and no unknown symbol exists. No merge crosses a space, an apostrophe
("l'" + "arbre") or a punctuation mark. The work is done by the tokenizers library.

A vocabulary also remembers the words and signs of its training text, so that `unseen` can name what is new.
"""

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from operator import index
from pathlib import Path
from typing import Any

# A process that has encoded in parallel and then forks (as data loaders and test runners do) makes
# the library warn, or hang where parallelism was asked for. A value set by the user stays.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from transformer_course.corpus.normal_form import INVISIBLE, MARKS, SPACES, normalise
from transformer_course.corpus.pairs import WORD_OR_MARK

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
_SPECIALS = [PAD, BOS, EOS]
_SMALLEST = len(_SPECIALS) + 256
LARGEST = 1_000_000  # the library takes memory for all of them before it learns one
_AT_ONCE = 10_000  # lines that are encoded together

# Letters and digits with the space before them and the apostrophe after them, or a single mark.
_WORD_OR_MARK = r" ?[^\s\p{P}\p{S}]+['’]?| ?[\p{P}\p{S}]"
_SPACE = "▁"
_WORDS = pre_tokenizers.Split(Regex(_WORD_OR_MARK), "isolated")


class Vocabulary:
    """Subwords shared by source and target, with their ids; made by `train` or `load`.

    Byte-pair encoding (Sennrich et al. 2016) over bytes (Radford et al. 2019).
    Ids 0, 1 and 2 are <pad>, <s> and </s>; then come the bytes, then the merged subwords. No text
    is ever encoded to the first three, not even one that spells "</s>". Decoding undoes encoding:
    `decode(encode([text])) == [normalise(text)]`. A vocabulary learnt from text without capitals
    lower-cases what it encodes: a model that uses it has never seen a capital.

    Args:
        tokenizer: one of the tokenizers library, with the rules of this module; its handling of
            special tokens is changed in place.
        seen: the words and signs of the training text, in the form that `normalise` gives them; None if nobody
            knows.

    >>> vocabulary = Vocabulary.train(["le chat voit l'arbre", "le chat voit l'été"], size=300)
    >>> vocabulary.pieces("le chat voit l'arbre")
    ['▁le', '▁chat', '▁voit', "▁l'", 'a', 'r', 'b', 'r', 'e']
    >>> vocabulary.decode(vocabulary.encode(["Le  chat  gør"]))
    ['le chat gør']
    >>> vocabulary.unseen("le zèbre voit l'arbre §")
    ('zèbre', '§')
    """

    pad_id = 0
    bos_id = 1
    eos_id = 2

    def __init__(self, tokenizer: Tokenizer, seen: Iterable[str] | None = None) -> None:
        tokenizer.encode_special_tokens = True  # "</s>" in a text is text, not the end of it
        self._tokenizer = tokenizer
        self._size: int = tokenizer.get_vocab_size()
        self._seen = None if seen is None else frozenset(seen)

    @classmethod
    def train(cls, lines: Iterable[str], size: int, *, remember: bool = True) -> "Vocabulary":
        """Learn the subwords of a text; the same lines in any order give the same vocabulary.

        Args:
            lines: sentences of both languages. If none of them has a capital, `encode` will
                lower-case its text.
            size: number of entries to reach, special tokens and bytes included. It stays below
                where no pair of subwords is left that occurs twice.
            remember: whether the vocabulary shall know the words of `lines`; False if these are only a sample.

        Returns:
            The vocabulary.

        Raises:
            ValueError: if `size` is below 259 (3 special tokens and 256 bytes) or above a million, or
                `lines` is a single string, is empty, or holds something that is not text or that
                UTF-8 cannot write.
        """
        if size < _SMALLEST:
            raise ValueError(
                f"size ({size}) must be at least {_SMALLEST}: {len(_SPECIALS)} special tokens "
                f"and 256 bytes"
            )
        if size > LARGEST:
            raise ValueError(f"size ({size}) must be at most {LARGEST:,}")
        sentences = _checked(lines)
        if not sentences:
            raise ValueError("lines is empty; there must be at least one sentence to learn from")
        tokenizer = _untrained(lowercase=all(line == line.lower() for line in sentences))
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            min_frequency=2,
            special_tokens=_SPECIALS,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(sentences, trainer, length=len(sentences))
        if not remember:
            return cls(tokenizer)
        # No word crosses a space: each string between two spaces is looked at once.
        strings = {string for sentence in sentences for string in sentence.split()}
        form = tokenizer.normalizer.normalize_str
        return cls(tokenizer, {word for string in strings for word in _words(form(string))})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a vocabulary that `save` wrote, also one of an older version.

        An older one keeps the rules it was learnt with (white space and NFC only), and doesn't know which words
        its text had.

        Args:
            path: the file.

        Returns:
            The vocabulary, with the same ids.

        Raises:
            OSError: if the file cannot be opened.
            ValueError: if it is not such a file, or was changed since it was written.
        """
        refusal = f"{os.fspath(path)} is not a vocabulary written by Vocabulary.save"
        try:
            text = Path(path).read_text(encoding="utf-8")
            state = json.loads(text)
            digest, seen = state["model"].pop("digest", None), state["model"].get("seen")
            # Before the library sees it, which may panic, and then writes lines of its own.
            changed = digest not in (None, _digest(state))
            tokenizer = None if changed else Tokenizer.from_str(text)
        except (OSError, KeyboardInterrupt, SystemExit):
            raise
        except (
            BaseException
        ) as error:  # bare Exceptions of the library, and panics of its Rust code
            raise ValueError(f"{refusal}: {error}") from error
        if not tokenizer:
            raise ValueError(f"{os.fspath(path)} was changed since it was written")
        # First: written out, which `_rules` has done, a vocabulary takes as much memory as its largest id.
        if sorted(tokenizer.get_vocab().values()) != list(range(tokenizer.get_vocab_size())):
            raise ValueError(f"{refusal}: its ids have gaps")
        known = [_untrained(small, marks) for small in (False, True) for marks in (True, False)]
        if _rules(tokenizer) not in map(_rules, known):
            raise ValueError(f"{refusal}: it splits or joins text by other rules")
        if [tokenizer.id_to_token(i) for i in range(3)] != _SPECIALS:
            raise ValueError(f"{refusal}: ids 0, 1, 2 are not {PAD}, {BOS}, {EOS}")
        if any(tokenizer.token_to_id(symbol) is None for symbol in _BYTE_OF):
            raise ValueError(f"{refusal}: some of the 256 bytes are missing")
        if not isinstance(seen, str | None):
            raise ValueError(f"{refusal}: seen is not a string of words")
        vocabulary = cls(tokenizer, None if seen is None else seen.split(" "))
        if digest:
            vocabulary.digest = digest
        return vocabulary

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as JSON of the tokenizers library; the same one, the same bytes.

        The words of the training text stand in it as "seen", beside a digest; the library passes over both.

        Args:
            path: the file, replaced if it exists; its folder must exist.

        Raises:
            OSError: if the file cannot be written.
        """
        state = self._state()
        state["model"]["digest"] = _digest(state)
        text = json.dumps(state, indent=2, ensure_ascii=False) + "\n"
        Path(path).write_text(text, encoding="utf-8", newline="\n")

    @cached_property  # it reads all entries, and a run asks for it four times before it begins
    def digest(self) -> str:
        """A fingerprint of all that decides how a text is cut, and of the words that it knows."""
        return _digest(self._state())

    def _state(self) -> dict[str, Any]:
        """What `save` writes, without the digest."""
        state: dict[str, Any] = json.loads(self._tokenizer.to_str())
        if self._seen is not None:
            state["model"]["seen"] = " ".join(sorted(self._seen))
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as saving and loading does: the library's own way forgets a setting."""
        return _rebuilt, (self._tokenizer.to_str(), self._seen)

    def __len__(self) -> int:
        """Number of entries, special tokens included; ids run from 0 to `len - 1`."""
        return self._size

    def normalise(self, text: str) -> str:
        """Bring a text to the form that decoding gives back, the one of `corpus.normal_form`.

        Lower-cased too, if the vocabulary was learnt from text without capitals: letter by letter, so that a
        final Σ becomes σ, where Python's `lower` writes ς. A vocabulary of an older version composes letters
        (NFC) and makes spaces single, no more.

        Args:
            text: any text.

        Returns:
            The same text in that form.

        Raises:
            ValueError: if UTF-8 cannot write the text.
        """
        normalised: str = self._tokenizer.normalizer.normalize_str(text)
        return normalised.removeprefix(" ")

    def unseen(self, text: str) -> tuple[str, ...]:
        """The words and signs of a text that the training text did not have.

        A word counts as seen in exactly the spelling of the training text. "The" at the start of a sentence is
        new if only "the" was there; but capitals make no difference to a vocabulary that lower-cases. Words end
        where no merge goes on: "l'arbre" is "l'" and "arbre", and each punctuation mark stands alone.

        Args:
            text: one sentence.

        Returns:
            Each such word once, in the order and with the capitals of the text, in the form of
            `corpus.normal_form`; none if the vocabulary, one of an older version, doesn't know its words.

        Raises:
            ValueError: if it is not text, or UTF-8 cannot write it.
        """
        _checked([text])
        if self._seen is None:
            return ()
        words = dict.fromkeys(_words(normalise(text)))
        return tuple(word for word in words if self.normalise(word) not in self._seen)

    def encode(self, lines: Sequence[str]) -> list[list[int]]:
        """Turn sentences into ids, without special tokens.

        Args:
            lines: a list of sentences.

        Returns:
            One list of ids a sentence, each 3 or more; empty for a sentence of white space.

        Raises:
            ValueError: if `lines` is a single string, or holds something that is not text or
                that UTF-8 cannot write.
        """
        checked = _checked(lines)
        shared = list(
            range(self._size)
        )  # one number for all its places takes a quarter of the memory
        rows: list[list[int]] = []
        for start in range(0, len(checked), _AT_ONCE):  # what the library says of a line is large
            some = checked[start : start + _AT_ONCE]
            encodings = self._tokenizer.encode_batch_fast(some, add_special_tokens=False)
            rows += [[shared[entry] for entry in encoding.ids] for encoding in encodings]
        return rows

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """Turn rows of ids into sentences: up to the first </s>, without <pad> and <s>.

        Bytes that don't form a character, as an untrained model may write, become U+FFFD.

        Args:
            ids: rows of ids, of any lengths.

        Returns:
            One sentence a row.

        Raises:
            ValueError: if an id is not in the vocabulary, or `ids` is not a list of rows.
        """
        rows = [self._content(row, i) for i, row in enumerate(ids)]
        return self._tokenizer.decode_batch(rows, skip_special_tokens=False)

    def pieces(self, text: str) -> list[str]:
        """Split a text into its subwords, written so that one can read them.

        A space is shown as ▁, so that joining the pieces gives the text back (Kudo and Richardson
        2018); bytes that are only a part of a character are shown as `\\xc3`.

        Args:
            text: one sentence.

        Returns:
            The subwords, as many as `encode` gives ids.

        Raises:
            ValueError: if it is not text, or UTF-8 cannot write it.
        """
        return [self.piece(entry) for entry in self.encode([text])[0]]

    def rules(self) -> dict[str, Any]:
        """All that decides how a text is cut, in plain values: for a program in another language.

        Returns:
            "alphabet": the symbols of ids 3 to 258; "merges": "left right" for each further id; "symbols": the
            symbol of each byte; patterns of the normal form: "invisible", "spaces" and "marks"; "seen": the
            words of the training text, with spaces between.
        """
        model = self._state()["model"]
        pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
        merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
        return {
            "alphabet": pieces[len(_SPECIALS) : _SMALLEST],
            "merges": merges,
            "symbols": "".join(sorted(_BYTE_OF, key=_BYTE_OF.__getitem__)),
            "invisible": INVISIBLE,
            "spaces": SPACES,
            "marks": [list(pair) for pair in MARKS],
            "seen": model.get("seen", ""),
        }

    def tokens(self) -> list[str]:
        """Every entry as the tokenizers library writes it, in the order of the ids; no two are the same.

        Engines that read tokens instead of ids take these. `piece` is for people.
        """
        return [str(self._tokenizer.id_to_token(entry)) for entry in range(self._size)]

    def word_indices(self, text: str) -> list[int]:
        """Tell for each subword which word or mark of the sentence it belongs to.

        Args:
            text: one sentence.

        Returns:
            An index into `corpus.pairs.words(text)` for each subword, never falling; none if there is no word.

        Raises:
            ValueError: if it is not text, or UTF-8 cannot write it.

        >>> vocabulary = Vocabulary.train(["le chat voit l'arbre", "le chat voit l'été"], size=300)
        >>> vocabulary.word_indices("le chat voit l'été.")
        [0, 1, 2, 3, 3, 3, 3, 4]
        >>> "".join(map(str, vocabulary.word_indices("le « chat » voit")))  # le, «, chat, », voit
        '0112234'
        """
        (text,) = _checked([text])
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ends = [match.end() for match in WORD_OR_MARK.finditer(text)]
        if not ends:  # a separator such as U+001C is a subword, and no word
            return []
        # A subword that begins with a space starts before its word; it ends inside of it. But "«" and the space
        # behind it were made one mark, whose place is that of the space.
        inside = [end - (text[end - 2 : end].rstrip() == "«") for _, end in encoding.offsets]
        found = [min(bisect_left(ends, end), len(ends) - 1) for end in inside]
        return list(accumulate(found, max))

    def piece(self, entry: int) -> str:
        """Return the readable form of one id.

        Args:
            entry: the id, from 0 to `len - 1`.

        Returns:
            A subword as in `pieces`, or the name of a special token.

        Raises:
            ValueError: if the id is not in the vocabulary.
        """
        if not 0 <= entry < self._size:
            raise ValueError(f"entry ({entry}) must be in 0 … {self._size - 1}")
        token = str(self._tokenizer.id_to_token(entry))
        if entry < len(_SPECIALS):
            return token
        text = bytes(_BYTE_OF[symbol] for symbol in token).decode("utf-8", "backslashreplace")
        return text.replace(" ", _SPACE)

    def _content(self, row: Sequence[int], i: int) -> list[int]:
        """The ids of row i that stand for text, after checking all of them."""
        try:
            entries = [index(entry) for entry in row]
        except TypeError as error:
            raise ValueError(f"ids[{i}] ({row!r}) must be a row of whole numbers") from error
        for j, entry in enumerate(entries):
            if not 0 <= entry < self._size:
                raise ValueError(f"ids[{i}][{j}] ({entry}) must be in 0 … {self._size - 1}")
        end = entries.index(self.eos_id) if self.eos_id in entries else len(entries)
        return [entry for entry in entries[:end] if entry >= len(_SPECIALS)]


def _rebuilt(text: str, seen: frozenset[str] | None) -> Vocabulary:
    return Vocabulary(Tokenizer.from_str(text), seen)


def _untrained(lowercase: bool, marks: bool = True) -> Tokenizer:
    """Set up the rules of the pipeline, with an empty vocabulary; without `marks` those of older versions."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence(
        [
            *([normalizers.Lowercase()] if lowercase else []),
            *([normalizers.Replace(Regex(INVISIBLE), "")] if marks else []),
            normalizers.NFC(),
            normalizers.Replace(Regex(SPACES if marks else r"\s+"), " "),
            normalizers.Strip(),
            *(normalizers.Replace(Regex(old), new) for old, new in MARKS if marks),
            # so that a word has one form, at the start of a sentence and inside it
            normalizers.Prepend(" "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            _WORDS,
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def _digest(state: dict[str, Any]) -> str:
    text = json.dumps(state, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _words(text: str) -> list[str]:
    """The words and marks of a normalised text, one by one: what the merges stay inside of."""
    return [word for part, _ in _WORDS.pre_tokenize_str(text) if (word := part.strip(" "))]


def _rules(tokenizer: Tokenizer) -> dict[str, Any]:
    """Everything of a tokenizer but the vocabulary and the merges themselves."""
    state: dict[str, Any] = json.loads(tokenizer.to_str())
    rules = {key: state[key] for key in ("normalizer", "pre_tokenizer", "post_processor")}
    model = {key: value for key, value in state["model"].items() if key not in ("vocab", "merges")}
    return rules | {"decoder": state["decoder"], "model": model}


def _checked(lines: Iterable[str]) -> list[str]:
    """The sentences as a list, each of them known to be text that UTF-8 can write."""
    if isinstance(lines, str):
        raise ValueError("lines must be a list of sentences, not a single string")
    sentences = list(lines)
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            raise ValueError(f"lines[{i}] ({sentence!r}) must be a string")
        try:
            sentence.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"lines[{i}] ({sentence!r}) holds half a surrogate pair") from error
    return sentences


def _byte_symbols() -> dict[str, int]:
    """Map the printable symbol that byte-level encoding writes for a byte to that byte.

    Printable characters of Latin-1 stand for themselves, the others follow from U+0100 onwards.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(0x100 + i): byte for i, byte in enumerate(others)
    }


_BYTE_OF = _byte_symbols()
