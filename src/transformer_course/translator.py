"""A translator (chapter 09): vocabulary, model and search in one object, to load, use and save."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import torch
from torch import Tensor

from transformer_course import forks  # noqa: F401 - children of a fork compute on one thread
from transformer_course.checkpoints import (
    FORMAT,
    CheckpointError,
    check_format,
    list_checkpoints,
    load_tensors,
    load_weights,
    loadable_weights,
    replacing,
    save_tensors,
)
from transformer_course.corpus.batches import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    Example,
    collate,
    token_batches,
)
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import Hypothesis, ParallelModel, beam_search, check_beam
from transformer_course.devices import find_device
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.lexicon import Lexicon, untranslated
from transformer_course.loss import sentence_log_probs
from transformer_course.multi_head import MultiHeadAttention, record_attention
from transformer_course.non_autoregressive import FertilityTransformer, MaskPredict, NoisyParallel
from transformer_course.seq2seq import (
    ConvolutionalSeq2Seq,
    RecurrentSeq2Seq,
    Seq2Seq,
    Seq2SeqConfig,
)

# Padded positions that are scored at once, roughly: each has logits for the whole vocabulary.
_SCORE_TOKENS = 1024
Model = Transformer | Seq2Seq | FertilityTransformer | MaskPredict | NoisyParallel
# Models by the name that stands in their file; a file without one is older and holds a Transformer.
_MODELS: dict[str, Callable[[dict[str, Any]], Model]] = {
    "Transformer": lambda sizes: Transformer(TransformerConfig(**sizes)),
    "RecurrentSeq2Seq": lambda sizes: RecurrentSeq2Seq(Seq2SeqConfig(**sizes)),
    "ConvolutionalSeq2Seq": lambda sizes: ConvolutionalSeq2Seq(Seq2SeqConfig(**sizes)),
    "FertilityTransformer": lambda sizes: FertilityTransformer(TransformerConfig(**sizes)),
    "MaskPredict": lambda sizes: MaskPredict(TransformerConfig(**sizes)),
}
_EXPORTED = {  # a file that only this export has: whose it is, and what opens it
    "encoder.onnx": ("ONNX", "OnnxTranslator"),
    "model.bin": ("CTranslate2", "EngineTranslator"),
}
_SOURCE_STEP = 16  # source lengths are rounded up to this before the limit of the search is set


@dataclass(frozen=True)
class AttentionMaps:
    """What each target token looked at while it was predicted.

    Args:
        source: source subwords, </s> last.
        target: target subwords that were *read*, <s> first; row t of a map belongs to the prediction of the
            token after `target[t]`.
        maps: attention's name in the model ("decoder_layers.0.cross_attention", …) → weights, (heads, q_len,
            k_len).
    """

    source: list[str]
    target: list[str]
    maps: dict[str, Tensor]


@dataclass(frozen=True)
class Translation(Hypothesis):
    """What a search found, with what the vocabulary knows of the sentence.

    Args:
        unseen: words and signs of the source that the training text did not have (`Vocabulary.unseen`). The
            model translates them all the same, but it can only guess.
        doubtful: whether `confidence` is below what the translator has mostly on sentences like those that it
            was trained on (`Translator.doubt_below`).
        confidence: 0 to 1, certain: the geometric mean of the probabilities of its subwords, </s> included. Of
            a search, the two best translations count together: where French says tu or vous, each has half.
    """

    unseen: tuple[str, ...] = ()
    doubtful: bool = False
    confidence: float = 0.0


class Translator:
    """A trained model with its vocabulary.

    Args:
        model: a Transformer, or a model of chapter 00 or 13; it is put into evaluation mode.
        vocabulary: subwords of both languages; as many as the model has token ids.

    Attributes:
        doubt_below: translations of a search of less confidence are `doubtful`. 0, so none, until `calibrate`
            sets it, as training does at its end; saved with the model.
        doubt_below_greedy: the same for greedy decoding, which knows of one translation only.
        lexicon: the usual translations of words, for `untranslated`. Empty until training learns it at its end
            (`lexicon.usual_translations`); saved with the model. Models of before have none.

    Raises:
        ValueError: if vocabulary and model differ in size.
    """

    def __init__(self, model: Model, vocabulary: Vocabulary) -> None:
        if len(vocabulary) != model.config.vocab_size:
            raise ValueError(
                f"vocabulary has {len(vocabulary)} entries, the model expects {model.config.vocab_size}"
            )
        self.model = model.eval()
        self.vocabulary = vocabulary
        self.doubt_below = self.doubt_below_greedy = 0.0
        self.lexicon: Lexicon = {}

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu") -> "Translator":
        """Read a translator that `save` or a training run wrote.

        Args:
            folder: where it is.
            device: where it shall compute: "cpu", "cuda", "auto", or another (`devices.find_device`).

        Returns:
            The translator, in evaluation mode.

        Raises:
            CheckpointError: if there is no such folder, a file is missing or damaged, training isn't finished,
                or model and vocabulary don't belong together.
            OSError: if the vocabulary is there and can't be opened.
            ValueError: if torch knows no such device, finds none of that kind, or it is "meta".
        """
        place = find_device(device)
        path = Path(folder) / "model.safetensors"
        if not path.exists() and list_checkpoints(Path(folder)):
            raise CheckpointError(f"{path} is missing: training isn't finished, resume it first")
        if not path.exists() and (export := exported_for(Path(folder))):
            raise CheckpointError(f"{path} is missing: {export}")
        vocabulary = load_vocabulary(Path(folder))
        tensors, values = load_tensors(path)
        check_format(path, values.get("format", 1))
        try:
            model = _MODELS[values.get("model", "Transformer")](values["config"])
            load_weights(model, tensors)
            doubt_below = float(values.get("doubt_below", 0.0))
            greedy = float(values.get("doubt_below_greedy", doubt_below))  # there was one for both
            lexicon = _lexicon(values.get("lexicon", {}))
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} is not a translator's model ({error})") from error
        # Before there was a digest of everything, that of the entries stood there.
        if values.get("vocabulary") not in (vocabulary.digest, _digest_of_entries(vocabulary)):
            raise CheckpointError(f"{path} belongs to another vocabulary than the one beside it")
        translator = cls(model.to(place), vocabulary)
        translator.doubt_below, translator.doubt_below_greedy = doubt_below, greedy
        translator.lexicon = lexicon
        return translator

    def save(self, folder: str | Path) -> None:
        """Write `model.safetensors` (weights, class, config) and `vocabulary.json` into `folder`.

        Args:
            folder: where to; made if need be.

        Raises:
            CheckpointError: if a file can't be written, or the model is of a class that `load` doesn't know, or
                of another type than it makes: torch.float32, unless torch has another default.
        """
        weights = loadable_weights(self.model)
        values = {
            "format": FORMAT,
            "model": _name(self.model),
            "config": asdict(self.model.config),
            "vocabulary": self.vocabulary.digest,
            "doubt_below": self.doubt_below,
            "doubt_below_greedy": self.doubt_below_greedy,
            "lexicon": {word: sorted(self.lexicon[word]) for word in sorted(self.lexicon)},
        }
        save_vocabulary(self.vocabulary, Path(folder))
        save_tensors(Path(folder) / "model.safetensors", weights, values)

    @overload
    def translate(self, text: str, *, beam: int = 4, alpha: float = 0.6) -> str: ...
    @overload
    def translate(self, text: list[str], *, beam: int = 4, alpha: float = 0.6) -> list[str]: ...
    def translate(
        self, text: str | list[str], *, beam: int = 4, alpha: float = 0.6
    ) -> str | list[str]:
        """Translate a sentence, or several at once.

        Args:
            text: one sentence, or a list of them.
            beam: width of the beam; 1 is greedy decoding. What else models make of it is said at `search`.
            alpha: strength of the length penalty, 0 to 10; see there, too.

        Returns:
            The translation, or the translations in the order of the sentences. One that found no end is cut
            at about twice the source's length; `search` shows whether </s> is there.

        Raises:
            ValueError: if a sentence is empty or too long or no text that UTF-8 can write, or beam or alpha are
                out of range.
        """
        sentences = [text] if isinstance(text, str) else list(text)
        best = [found[0] for found in self.search(sentences, beam=beam, alpha=alpha)]
        translations = self.vocabulary.decode([hypothesis.ids for hypothesis in best])
        return translations[0] if isinstance(text, str) else translations

    def search(
        self,
        sentences: Sequence[str],
        *,
        beam: int = 4,
        alpha: float = 0.6,
        top_beams: int = 1,
        max_tokens: int = 4096,
    ) -> list[list[Translation]]:
        """Beam search for sentences of any lengths: sorted into batches, results in their order.

        A translation may get about twice as long as its source. (The paper allows 50 tokens more than the
        source has, Vaswani et al. 2017, §6.1.)

        Args:
            sentences: what to translate.
            beam: width of the beam; 1 is greedy decoding. Of the models that write all words at once,
                `MaskPredict` tries so many lengths; the others have their own number of candidates, whatever
                it is.
            alpha: strength of the length penalty, 0 to 10; without effect on a model that writes all words at
                once, which has none.
            top_beams: hypotheses for each sentence, at most `beam`.
            max_tokens: padded source positions in a batch, roughly; fewer if `beam` is above 4.

        Returns:
            For each sentence its `top_beams` best hypotheses, best first; each says which words are `unseen`,
            and whether it is `doubtful`.

        Raises:
            ValueError: if a sentence is empty or too long or no text that UTF-8 can write, or a number is out
                of range.
        """
        check_beam(beam, top_beams, alpha, self.model.config.vocab_size)
        examples: list[Example] = [(ids, []) for ids in self._encode(sentences)]
        if not examples:
            return []
        results: dict[int, list[Hypothesis]] = {}
        parallel = isinstance(self.model, ParallelModel)
        wanted = 2 if not parallel and top_beams == 1 and beam != 1 else top_beams
        for limit, group in self._by_limit(examples).items():
            members = [examples[i] for i in group]
            for indices in search_batches(members, max_tokens, beam):
                src = collate(members, indices).src.to(self.device)
                found = self._find(src, limit, beam, alpha, wanted)
                results.update(zip([group[i] for i in indices], found, strict=True))
        least = self.doubt_below_greedy if beam == 1 else self.doubt_below
        translations = []
        for i, unseen in enumerate(map(self.vocabulary.unseen, sentences)):
            rivals = results[i][: 1 if parallel else 2]
            sure = [_confidence(h, rivals) for h in results[i][:top_beams]]
            translations.append(
                [
                    Translation(h.ids, h.log_prob, h.score, unseen, confidence < least, confidence)
                    for h, confidence in zip(results[i], sure, strict=False)
                ]
            )
        return translations

    def _find(
        self, src: Tensor, limit: int, beam: int, alpha: float, top_beams: int
    ) -> list[list[Hypothesis]]:
        if isinstance(self.model, ParallelModel):
            return self.model.translate_ids(src, limit, beam=beam, top_beams=top_beams)
        return beam_search(self.model, src, beam, limit, alpha=alpha, top_beams=top_beams)

    def calibrate(self, sentences: Sequence[str], share: float = 0.1) -> None:
        """Set what is doubtful, so that this share of these sentences' translations would be.

        A model that meets a kind of sentence it was not trained on is less sure of its words (Hendrycks and
        Gimpel 2017 show it for classifiers). It can still be sure and wrong.

        Args:
            sentences: held-out ones, one or more; some hundred are enough.
            share: 0 to below 1.

        Raises:
            ValueError: if there are no sentences, `share` is out of range, or as `search` does.
        """
        if not sentences:
            raise ValueError("sentences is empty; there must be at least one")
        if not 0 <= share < 1:
            raise ValueError(f"share ({share}) must be 0 or more and less than 1")
        self.doubt_below_greedy, self.doubt_below = (
            sorted(best.confidence for (best,) in self.search(sentences, beam=beam))[
                int(share * len(sentences))
            ]
            for beam in (1, 4)
        )

    def untranslated(self, sentences: Sequence[str], texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Words of the sentences that have none of their usual translations in the text beside them.

        Such a word was probably left out, or translated wrongly (`lexicon`).

        Args:
            sentences: what was translated.
            texts: the translation of each.

        Returns:
            For each sentence those words, in their order; none if there is no `lexicon`.

        Raises:
            ValueError: if there aren't as many texts as sentences.
        """
        if len(sentences) != len(texts):
            raise ValueError(
                f"there must be a text for each sentence: got {len(texts)} for {len(sentences)}"
            )
        return [
            untranslated(self.lexicon, sentence, text)
            for sentence, text in zip(sentences, texts, strict=True)
        ]

    def check(self, sentence: str) -> None:
        """Refuse a sentence that can't be translated, as the other methods do.

        Args:
            sentence: any text.

        Raises:
            ValueError: if it is empty or too long or no text that UTF-8 can write.
        """
        ids = self.vocabulary.encode([sentence])[0]
        if problem := _problem(ids, self.model.config.max_len):
            raise ValueError(f"sentence ({_start(sentence)}) {problem}")

    def _by_limit(self, examples: Sequence[Example]) -> dict[int, list[int]]:
        """Sentences by how long their translations may get (`length_limit`)."""
        groups: dict[int, list[int]] = {}
        for i, (ids, _) in enumerate(examples):
            limit = length_limit(len(ids), self.model.config.max_len)
            groups.setdefault(limit, []).append(i)
        return groups

    @torch.inference_mode()
    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Log-probability, in nats, that the model gives each translation of its source, </s> included.

        Args:
            pairs: (source, translation); any sequence of them, in any order. They are scored in batches.

        Returns:
            One number a pair, at most 0, in the order of the pairs.

        Raises:
            ValueError: if a sentence is empty or too long or no text that UTF-8 can write, or the model doesn't
                write word by word.
        """
        model = self._word_by_word("score")
        sources = self._encode([source for source, _ in pairs])
        targets = self._encode([target for _, target in pairs])
        examples: list[Example] = list(zip(sources, targets, strict=True))
        if not examples:
            return []
        budget = max(_SCORE_TOKENS, 3 + max(len(src) + len(tgt) for src, tgt in examples))
        scores: dict[int, float] = {}
        for indices in token_batches(examples, budget):
            batch = collate(examples, indices)
            tgt = batch.tgt.to(self.device)
            logits = model(batch.src.to(self.device), tgt[:, :-1])
            sums = sentence_log_probs(logits, tgt[:, 1:], PAD_ID)
            scores.update(zip(indices, sums.tolist(), strict=True))
        return [scores[i] for i in range(len(examples))]

    @torch.inference_mode()
    def attention(self, source: str, target: str | None = None) -> AttentionMaps:
        """The weights of every attention in the model while it reads `source` and writes `target`.

        Bahdanau et al. 2015, §5.2.1, show such weights for translations.

        Args:
            source: the sentence to translate.
            target: a translation; if left out, the model's own, in the subwords that the search wrote.

        Returns:
            Both sentences in subwords, and for each attention its weights, (heads, q_len, k_len).

        Raises:
            ValueError: if a sentence is empty or too long or no text that UTF-8 can write, or the model has no
                multi-head attention or doesn't write word by word.
        """
        model = self._word_by_word("attention")
        if not any(isinstance(part, MultiHeadAttention) for part in model.modules()):
            raise ValueError(f"{type(model).__name__} has no multi-head attention to look at")
        src_ids = [*self._encode([source])[0], EOS_ID]
        if target is None:  # decoded and encoded again, a text may fall into other subwords
            tgt_ids = [BOS_ID, *self.search([source])[0][0].ids[:-1]]
        else:
            tgt_ids = [BOS_ID, *self._encode([target])[0]]
        with record_attention(model) as maps:
            model(*(torch.tensor([ids], device=self.device) for ids in (src_ids, tgt_ids)))
        return AttentionMaps(
            [self.vocabulary.piece(entry) for entry in src_ids],
            [self.vocabulary.piece(entry) for entry in tgt_ids],
            {name: weights[0].cpu() for name, weights in maps.items()},
        )

    def _word_by_word(self, wanted: str) -> Transformer | Seq2Seq:
        """The model, if it reads a translation's beginning and says the next word."""
        if isinstance(self.model, ParallelModel):
            raise ValueError(
                f"{wanted} asks for a model that writes word by word; {type(self.model).__name__} writes all "
                "words at once"
            )
        return self.model

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    def _encode(self, sentences: Sequence[str]) -> list[list[int]]:
        rows = self.vocabulary.encode(sentences)
        check_encoded(sentences, rows, self.model.config.max_len)
        return rows


def search_batches(examples: Sequence[Example], max_tokens: int, beam: int) -> list[list[int]]:
    """Batches for a search: fewer sentences at once where each has more hypotheses.

    Args:
        examples: sources as token ids; targets don't count.
        max_tokens: padded source positions in a batch, roughly, for a beam up to 4.
        beam: hypotheses of each sentence.

    Returns:
        As `corpus.batches.token_batches`; a sentence that is too long is a batch alone.
    """
    longest = 3 + max(len(ids) for ids, _ in examples)
    return token_batches(examples, max(max_tokens * 4 // max(beam, 4), longest))


def length_limit(n_subwords: int, max_len: int) -> int:
    """How long a translation may get: about twice as long as its source, at least 42 tokens.

    The limit follows from the sentence alone, so that its neighbours never change its translation.

    Args:
        n_subwords: of the source, without </s>.
        max_len: the longest sequence that the model takes.

    Returns:
        Most tokens of the translation, </s> included.

    >>> length_limit(5, 512), length_limit(16, 512), length_limit(500, 512)
    (42, 74, 512)
    """
    limit = 2 * _SOURCE_STEP * math.ceil((n_subwords + 1) / _SOURCE_STEP) + 10
    return min(limit, max_len)


def check_encoded(sentences: Sequence[str], rows: Sequence[Sequence[int]], max_len: int) -> None:
    """Refuse sentences that can't be translated.

    Args:
        sentences: the texts, for the message.
        rows: their subwords, without </s>.
        max_len: the longest sequence that the model takes.

    Raises:
        ValueError: if one is empty or too long; the message has its number and its beginning.
    """
    for number, (sentence, ids) in enumerate(zip(sentences, rows, strict=True), 1):
        if problem := _problem(ids, max_len):
            raise ValueError(f"sentence {number} ({_start(sentence)}) {problem}")


def _problem(ids: Sequence[int], max_len: int) -> str:
    """Why a sentence can't be translated; empty if it can."""
    if not ids:
        return "is empty"
    too_long = f"has {len(ids)} subwords, the model takes at most {max_len - 1}"
    return too_long if len(ids) > max_len - 1 else ""


def _lexicon(values: Any) -> Lexicon:
    """What a file has as a lexicon: lists of words by word."""
    lists = values.values() if isinstance(values, dict) else [None]
    if not all(isinstance(v, list) and all(isinstance(w, str) for w in v) for v in lists):
        raise TypeError("lexicon holds something else than lists of words")
    return {word: frozenset(others) for word, others in values.items()}


def _confidence(found: Hypothesis, best: Sequence[Hypothesis]) -> float:
    """The probability of a subword; that of the best hypotheses is counted together.

    >>> tu, vous = Hypothesis((5, 6), math.log(0.36), 0.0), Hypothesis((7, 6), math.log(0.28), 0.0)
    >>> round(_confidence(tu, [tu]), 2), round(_confidence(tu, [tu, vous]), 2)
    (0.6, 0.8)
    """
    together = best if found in best else [found]
    total = np.logaddexp.reduce([h.log_prob for h in together])  # a long one's probability may be 0
    return math.exp(total / len(found.ids))


def _start(sentence: str) -> str:
    return repr(sentence) if len(sentence) <= 40 else f"{sentence[:40]!r}…"


def load_vocabulary(folder: Path) -> Vocabulary:
    """Read `vocabulary.json` in a run's folder.

    Args:
        folder: the run's.

    Returns:
        The vocabulary.

    Raises:
        CheckpointError: if there is no such folder, or the file is missing or damaged.
        OSError: if it is there and can't be opened.
    """
    path = folder / "vocabulary.json"
    try:
        return Vocabulary.load(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        told = f"{path} is missing" if folder.is_dir() else f"there is no folder {folder}"
        raise CheckpointError(told) from error
    except ValueError as error:
        raise CheckpointError(str(error)) from error


def save_vocabulary(vocabulary: Vocabulary, folder: Path) -> None:
    """Write `vocabulary.json` into a run's folder, whole or not at all.

    Args:
        vocabulary: the vocabulary.
        folder: the run's; made if need be.

    Raises:
        CheckpointError: if it can't be written.
    """
    with replacing(folder / "vocabulary.json") as temporary:
        vocabulary.save(temporary)


def exported_for(folder: Path) -> str:
    """What a translator's export is, in words (`export`).

    Args:
        folder: of an export, perhaps.

    Returns:
        Which program it was exported for, and what opens it; "" if the folder is of something else.
    """
    if (folder / "vocabulary.json").exists():
        for name, (program, reader) in _EXPORTED.items():
            if (folder / name).exists():
                return (
                    f"it holds a translator that was exported for {program}, which {reader} opens"
                )
    return ""


def _name(model: Model) -> str:
    """The class that `load` makes; that of a family, if the model's own is derived from it."""
    names = [base.__name__ for base in type(model).__mro__ if base.__name__ in _MODELS]
    if not names:
        raise CheckpointError(f"{type(model).__name__} can't be saved: `load` knows {[*_MODELS]}")
    return names[0]


def _digest_of_entries(vocabulary: Vocabulary) -> str:
    """A fingerprint of a vocabulary's entries and their order."""
    pieces = "\n".join(vocabulary.piece(entry) for entry in range(len(vocabulary)))
    return hashlib.sha256(pieces.encode()).hexdigest()
