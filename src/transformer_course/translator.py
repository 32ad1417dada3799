"""A translator: vocabulary, model and search in one object, to train, save, load and use."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import overload

import torch
from torch import Tensor

from transformer_course.checkpoints import (
    CheckpointError,
    load_tensors,
    save_tensors,
)
from transformer_course.corpus.batches import BOS_ID, EOS_ID, Example, collate, token_batches
from transformer_course.corpus.pairs import Pair
from transformer_course.corpus.vocabulary import Vocabulary
from transformer_course.decoding import Hypothesis, beam_search
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.loss import cross_entropy, log_softmax
from transformer_course.multi_head import record_attention
from transformer_course.training import (
    Outcome,
    Progress,
    Trainer,
    TrainingConfig,
    validation_loss,
)


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


class Translator:
    """A trained model with its vocabulary.

    Args:
        model: the Transformer.
        vocabulary: subwords of both languages; as many as the model has token ids.

    Raises:
        ValueError: if vocabulary and model differ in size.
    """

    def __init__(self, model: Transformer, vocabulary: Vocabulary) -> None:
        if len(vocabulary) != model.config.vocab_size:
            raise ValueError(
                f"vocabulary has {len(vocabulary)} entries, the model expects {model.config.vocab_size}"
            )
        self.model = model.eval()
        self.vocabulary = vocabulary

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu") -> "Translator":
        """Read a translator that `save` or a training run wrote.

        Args:
            folder: where it is.
            device: where it shall compute, "cpu" or "cuda".

        Raises:
            CheckpointError: if a file is missing or damaged.
        """
        folder = Path(folder)
        tensors, values = load_tensors(folder / "model.safetensors")
        if set(values.get("config", {})) != {f.name for f in fields(TransformerConfig)}:
            raise CheckpointError(f"{folder / 'model.safetensors'} doesn't say the model's config")
        model = Transformer(TransformerConfig(**values["config"]))
        try:
            model.load_state_dict(_tied(model, tensors))
        except RuntimeError as error:
            raise CheckpointError(
                f"{folder / 'model.safetensors'} doesn't fit its config"
            ) from error
        return cls(model.to(device), Vocabulary.load(folder / "vocabulary.json"))

    def save(self, folder: str | Path) -> None:
        """Write `model.safetensors` (weights, config) and `vocabulary.json` into `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder / "vocabulary.json")
        weights = {name: tensor.cpu() for name, tensor in self.model.named_parameters()}
        save_tensors(folder / "model.safetensors", weights, {"config": asdict(self.model.config)})

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
            beam: width of the beam; 1 is greedy search.
            alpha: strength of the length penalty.

        Returns:
            The translation, or the translations in the order of the sentences.

        Raises:
            ValueError: if a sentence is empty or too long, or beam or alpha are out of range.
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
    ) -> list[list[Hypothesis]]:
        """Beam search for sentences of any lengths: sorted into batches, results in their order.

        Args:
            sentences: what to translate.
            beam: width of the beam.
            alpha: strength of the length penalty.
            top_beams: hypotheses for each sentence.
            max_tokens: padded source positions in a batch, roughly.

        Returns:
            For each sentence its `top_beams` best hypotheses.

        Raises:
            ValueError: if a sentence is empty or too long, or a number is out of range.
        """
        examples: list[Example] = [(ids, []) for ids in self._encode(sentences)]
        if not examples:
            return []
        results: dict[int, list[Hypothesis]] = {}
        for indices in token_batches(
            examples, max(max_tokens, 3 + max(len(s) for s, _ in examples))
        ):
            src = collate(examples, indices).src.to(self.device)
            limit = min(2 * src.shape[1] + 10, self.model.config.max_len)
            found = beam_search(self.model, src, beam, limit, alpha=alpha, top_beams=top_beams)
            results.update(zip(indices, found, strict=True))
        return [results[i] for i in range(len(examples))]

    @torch.inference_mode()
    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Log-probability, in nats, that the model gives each translation of its source, </s> included.

        Args:
            pairs: (source, translation).

        Raises:
            ValueError: if a sentence is empty or too long.
        """
        sources = self._encode([source for source, _ in pairs])
        targets = self._encode([target for _, target in pairs])
        examples = list(zip(sources, targets, strict=True))
        scores = []
        for i in range(len(examples)):
            batch = collate(examples, [i])
            tgt = batch.tgt.to(self.device)
            log_probs = log_softmax(self.model(batch.src.to(self.device), tgt[:, :-1]))
            scores.append(float(log_probs.gather(-1, tgt[:, 1:, None]).sum()))
        return scores

    @torch.inference_mode()
    def attention(self, source: str, target: str | None = None) -> AttentionMaps:
        """The weights of every attention in the model while it reads `source` and writes `target`.

        Args:
            source: the sentence to translate.
            target: a translation; the model's own if left out.

        Raises:
            ValueError: if a sentence is empty or too long.
        """
        target = self.translate(source) if target is None else target
        src_ids, tgt_ids = self._encode([source])[0], self._encode([target])[0]
        with record_attention(self.model) as maps:
            src = torch.tensor([[*src_ids, EOS_ID]], device=self.device)
            self.model(src, torch.tensor([[BOS_ID, *tgt_ids]], device=self.device))
        return AttentionMaps(
            [*self.vocabulary.pieces(source), "</s>"],
            ["<s>", *self.vocabulary.pieces(target)],
            {name: weights[0].cpu() for name, weights in maps.items()},
        )

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return next(self.model.parameters()).device

    def _encode(self, sentences: Sequence[str]) -> list[list[int]]:
        limit = self.model.config.max_len - 1
        rows = self.vocabulary.encode(sentences)
        for number, (sentence, ids) in enumerate(zip(sentences, rows, strict=True), 1):
            if not ids:
                raise ValueError(f"sentence {number} ({sentence!r}) is empty")
            if len(ids) > limit:
                raise ValueError(
                    f"sentence {number} ({sentence[:40]!r}…) has {len(ids)} subwords, the model takes "
                    f"at most {limit}"
                )
        return rows


@dataclass(frozen=True)
class Recipe:
    """All that decides how a translator is trained, apart from its data.

    Args:
        preset: size of the model: "tiny", "small" or "base" (`TransformerConfig`).
        vocab_size: subwords of both languages together; fewer if the text has no more.
        dropout: share of numbers set to zero in training.
        label_smoothing: ε of the training loss (§5.4).
        training: steps, batches, learning rate, seed.

    Raises:
        ValueError: if there is no such preset.
    """

    preset: str = "tiny"
    vocab_size: int = 4000
    dropout: float = 0.1
    label_smoothing: float = 0.1
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        if self.preset not in ("tiny", "small", "base"):
            raise ValueError(f"preset ({self.preset!r}) must be 'tiny', 'small' or 'base'")

    def config(self, vocab_size: int) -> TransformerConfig:
        """The model's config for a vocabulary of this size."""
        preset: TransformerConfig = getattr(TransformerConfig, self.preset)(vocab_size)
        return replace(preset, dropout=self.dropout)


def train_translator(
    train: Sequence[Pair],
    valid: Sequence[Pair],
    folder: str | Path,
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
    report: Callable[[Progress], None] | None = None,
) -> tuple[Translator, Outcome]:
    """Train a translator on sentence pairs and write it to `folder`.

    Args:
        train: what to learn from; each pair's first translation.
        valid: held-out pairs, for the validation loss.
        folder: for the translator, checkpoints, `history.json`, and the recipe.
        recipe: how to train; the tiny preset if left out.
        resume: go on from the newest checkpoint, exactly as if training had never stopped.
        report: called after every update, for a progress bar.

    Returns:
        The translator, and how training ended. After an interruption `folder` holds checkpoints but no
        translator yet.

    Raises:
        ValueError: if there are no pairs, a sentence is too long, `folder` already holds a run and `resume`
            is false, or the run to resume was another one.
    """
    recipe, folder = recipe or Recipe(), Path(folder)
    if not train or not valid:
        raise ValueError(
            f"train ({len(train)} pairs) and valid ({len(valid)} pairs) must not be empty"
        )
    if not resume and (folder / "checkpoints").exists():
        raise ValueError(f"{folder} already holds a run: resume it, or choose another folder")
    vocabulary = Vocabulary.train(_lines(train), recipe.vocab_size)
    torch.manual_seed(recipe.training.seed)
    model = Transformer(recipe.config(len(vocabulary)))
    valid_examples = encode_pairs(vocabulary, valid)

    def smoothed(logits: Tensor, labels: Tensor) -> Tensor:
        return cross_entropy(logits, labels, label_smoothing=recipe.label_smoothing)

    def evaluate(model: Transformer) -> dict[str, float]:
        return {"loss": validation_loss(model, valid_examples, cross_entropy)}

    trainer = Trainer(
        model, encode_pairs(vocabulary, train), smoothed, evaluate, recipe.training, folder
    )
    if resume:
        trainer.resume()
    else:
        folder.mkdir(parents=True, exist_ok=True)
    outcome = trainer.train(report)
    if outcome != "interrupted":
        trainer.finish()
        Translator(model, vocabulary).save(folder)
    return Translator(model, vocabulary), outcome


def encode_pairs(vocabulary: Vocabulary, pairs: Sequence[Pair]) -> list[Example]:
    """Source and first translation of each pair as lists of ids, without special tokens."""
    sources = vocabulary.encode([pair.source for pair in pairs])
    targets = vocabulary.encode([pair.target for pair in pairs])
    return list(zip(sources, targets, strict=True))


def hold_out(pairs: Sequence[Pair], seed: int = 0) -> tuple[list[Pair], list[Pair]]:
    """Split pairs into training and validation: every hundredth pair is held out, at most 1,000.

    Args:
        pairs: at least two.
        seed: decides which of each hundred.

    Returns:
        Training pairs and validation pairs, both in their order.

    Raises:
        ValueError: if there are fewer than two pairs.
    """
    if len(pairs) < 2:
        raise ValueError(f"pairs ({len(pairs)}) must be 2 or more, to hold some out for validation")
    every = max(100, -(-len(pairs) // 1000)) if len(pairs) >= 100 else len(pairs)
    held = [i % every == seed % every for i in range(len(pairs))]
    train = [pair for pair, out in zip(pairs, held, strict=True) if not out]
    return train, [pair for pair, out in zip(pairs, held, strict=True) if out]


def _lines(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        yield pair.source
        yield pair.target


def _tied(model: Transformer, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """A whole state dict from weights in which a tied matrix stands once."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        name: tensors[names[id(parameter)]]
        for name, parameter in model.named_parameters(remove_duplicate=False)
        if names[id(parameter)] in tensors
    }
