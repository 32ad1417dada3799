"""What the families are trained to do (chapter 11): guess what was hidden, what comes next, or the kind.

The models know nothing of these: an objective is a function of a model and a batch, as the trainer of chapter
07 wants it.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from transformer_course.families.models import DecoderOnly, EncoderOnly
from transformer_course.loss import cross_entropy, log_softmax
from transformer_course.masking import causal_mask, padding_mask

IGNORED = -100  # a label that the loss leaves out; no id of any vocabulary


def mask_tokens(
    ids: Tensor,
    mask_id: int,
    vocab_size: int,
    *,
    share: float = 0.15,
    special: int = 3,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide some tokens, for a model to guess: 80 % become [MASK], 10 % another token, 10 % stay.

    Devlin et al. 2019, §3.1. Two draws a token: the first chooses 15 % of them; of those that are left after
    the 80 %, the second takes half, which makes the two tenths.

    Args:
        ids: token ids, (batch, length).
        mask_id: the id of [MASK].
        vocab_size: number of ids; the other tokens are drawn from `special` … `vocab_size` − 1.
        share: of the tokens that are chosen.
        special: ids below this, padding among them, are never chosen and never drawn.
        generator: for draws that can be repeated.

    Returns:
        The ids that the model reads, and the labels, both (batch, length): the true id where a token was
        chosen, also where it stayed, and `IGNORED` elsewhere.

    Raises:
        ValueError: if `share` isn't between 0 and 1, or no token is left to draw.

    >>> ids = torch.full((1, 1000), 7)
    >>> read, labels = mask_tokens(ids, 3, 20, generator=torch.Generator().manual_seed(1))
    >>> chosen = labels != IGNORED
    >>> 100 < chosen.sum() < 200 and bool((read[~chosen] == 7).all())
    True
    """
    if not 0 < share < 1:
        raise ValueError(f"share ({share}) must be between 0 and 1")
    if special >= vocab_size:
        raise ValueError(f"special ({special}) must be below vocab_size ({vocab_size})")

    def draw() -> Tensor:
        return torch.rand(ids.shape, generator=generator).to(ids.device)

    chosen = (draw() < share) & (ids >= special)
    kind = draw()
    others = torch.randint(special, vocab_size, ids.shape, generator=generator).to(ids.device)
    read = torch.where(chosen & (kind < 0.8), mask_id, ids)
    read = torch.where(chosen & (kind >= 0.8) & (kind < 0.9), others, read)
    return read, ids.masked_fill(~chosen, IGNORED)


def masked_loss(
    model: EncoderOnly,
    ids: Tensor,
    mask_id: int,
    *,
    special: int = 3,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Guess the tokens that `mask_tokens` hides; what can be seen doesn't count (Devlin et al. 2019, §3.1).

    Args:
        model: scores every token at every place.
        ids: token ids, (batch, length).
        mask_id: the id of [MASK].
        special: ids below this are never hidden, see `mask_tokens`.
        generator: for draws that can be repeated; torch's own random numbers if left out.

    Returns:
        Mean cross-entropy per chosen token, in nats; 0 where none was chosen.

    Raises:
        ValueError: as the model does.
    """
    size = model.config.vocab_size
    read, labels = mask_tokens(ids, mask_id, size, special=special, generator=generator)
    mask = padding_mask(ids, model.config.pad_id)
    return cross_entropy(model(read, mask), labels, IGNORED)


def language_model_loss(
    model: DecoderOnly,
    ids: Tensor,
    prompt_lengths: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Guess each token from those before it; of a prompt nothing is guessed.

    Args:
        model: scores the next token at every place.
        ids: token ids, (batch, length), padded on the right.
        prompt_lengths: how many tokens of each row are only read, (batch,), int64; 1 if left out, as the
            first token has nothing before it.
        mask: who sees whom, if not every token those before it, (batch, heads, length − 1, length − 1); True =
            may attend.

    Returns:
        Mean cross-entropy per guessed token, in nats.

    Raises:
        ValueError: as the model does; a row of one token leaves nothing to guess.
    """
    labels = _next_tokens(ids, prompt_lengths, model.config.pad_id)
    return cross_entropy(model(ids[:, :-1], mask), labels, IGNORED)


def token_losses(
    model: DecoderOnly,
    ids: Tensor,
    prompt_lengths: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The loss of each single token; sums of them give perplexity and bits per character.

    Args:
        model: as in `language_model_loss`.
        ids: (batch, length).
        prompt_lengths: (batch,), int64.
        mask: as in `language_model_loss`; True = may attend.

    Returns:
        In nats, (batch, length − 1); 0 where nothing is guessed.

    Raises:
        ValueError: as the model does.
    """
    labels = _next_tokens(ids, prompt_lengths, model.config.pad_id)
    log_probs = log_softmax(model(ids[:, :-1], mask))
    said = labels.clamp(min=0)[:, :, None]
    return -log_probs.gather(-1, said).squeeze(-1).masked_fill(labels == IGNORED, 0.0)


def _next_tokens(ids: Tensor, prompt_lengths: Tensor | None, pad_id: int) -> Tensor:
    """The label of each place but the last: the token after it, or `IGNORED`."""
    labels = ids[:, 1:]  # (batch, length − 1)
    guessed = labels != pad_id
    if prompt_lengths is not None:
        places = torch.arange(1, ids.shape[1], device=ids.device)
        guessed = guessed & (places >= prompt_lengths[:, None])
    return labels.masked_fill(~guessed, IGNORED)


def classification_loss(model: nn.Module, inputs: Tensor, labels: Tensor) -> Tensor:
    """Guess the kind of each row or image.

    Args:
        model: inputs → logits, (batch, n_classes).
        inputs: token ids, (batch, length), or images.
        labels: the right kinds, (batch,), int64.

    Returns:
        Mean cross-entropy per row, in nats.

    Raises:
        ValueError: as the model and `cross_entropy` do.
    """
    return cross_entropy(model(inputs), labels, IGNORED)


def prefix_mask(ids: Tensor, prompt_lengths: Tensor, pad_id: int = 0) -> Tensor:
    """The mask between encoder and decoder: the prompt sees all of itself, the rest what came before.

    The prefix language model of Raffel et al. 2020, §3.2.1.

    Args:
        ids: token ids, (batch, length).
        prompt_lengths: (batch,), int64.
        pad_id: the id of padding.

    Returns:
        Boolean mask, (batch, 1, length, length); True = may attend.

    Raises:
        ValueError: if `ids` isn't (batch, length).

    >>> prefix_mask(torch.tensor([[5, 6, 7]]), torch.tensor([2]))[0, 0].int()
    tensor([[1, 1, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    real = padding_mask(ids, pad_id)  # (batch, 1, 1, length)
    in_prompt = torch.arange(ids.shape[1], device=ids.device) < prompt_lengths[:, None]
    return real & (causal_mask(ids.shape[1], ids.device) | in_prompt[:, None, None])


class Rows:
    """Sequences, or images, as the trainer's `Batches`: each batch holds rows, and perhaps a number a row.

    Args:
        rows: lists of token ids, or a tensor whose first dimension counts images.
        labels: the class of each row, if there are classes.
        prompt_lengths: how many tokens of each row are only read, if it begins with a prompt.
        batch_size: rows in a batch.
        pad_id: fills up short rows on the right.

    Raises:
        ValueError: if there are no rows, a row is empty, there are both labels and prompts, not one a row, or a
                prompt is as long as its row.

    >>> data = Rows([[1, 5], [1, 5, 6]], [0, 1])
    >>> [tensor.tolist() for tensor in data.tensors([0, 1])]
    [[[1, 5, 0], [1, 5, 6]], [0, 1]]
    """

    def __init__(
        self,
        rows: Sequence[Sequence[int]] | Tensor,
        labels: Sequence[int] | None = None,
        prompt_lengths: Sequence[int] | None = None,
        batch_size: int = 64,
        pad_id: int = 0,
    ) -> None:
        if not len(rows) or any(not len(row) for row in rows):
            raise ValueError("rows must hold at least one row, and each row something")
        if labels is not None and prompt_lengths is not None:
            raise ValueError("rows have labels or prompt_lengths, not both")
        numbers = prompt_lengths if labels is None else labels
        if numbers is not None and len(numbers) != len(rows):
            name = "prompt_lengths" if labels is None else "labels"
            raise ValueError(
                f"{name} ({len(numbers)} numbers) must be as many as rows ({len(rows)})"
            )
        if batch_size < 1:
            raise ValueError(f"batch_size ({batch_size}) must be 1 or more")
        for row, read in zip(rows, prompt_lengths or (), strict=False):
            if not 1 <= read < len(row):
                raise ValueError(
                    f"prompt_lengths ({read}) must be 1 or more, and below the length of its row ({len(row)})"
                )
        self.rows, self.numbers, self.labelled = rows, numbers, labels is not None
        self.batch_size, self.pad_id = batch_size, pad_id

    def epoch(self, seed: int | None = None) -> list[list[int]]:
        """The batches of one pass over the data; rows of like length stand together.

        Args:
            seed: decides which rows meet and the batches' order; None keeps the order of the data.

        Returns:
            The members of each batch.
        """
        size, n = self.batch_size, len(self.rows)
        if seed is None:
            return [list(range(i, min(i + size, n))) for i in range(0, n, size)]
        random = np.random.Generator(np.random.PCG64(seed))
        order = random.permutation(n).tolist()
        some = 20 * size  # sorted in portions, so that batches differ from epoch to epoch
        portions = [order[i : i + some] for i in range(0, n, some)]
        if not isinstance(self.rows, Tensor):
            portions = [sorted(p, key=lambda i: len(self.rows[i])) for p in portions]
        batches = [p[i : i + size] for p in portions for i in range(0, len(p), size)]
        return [batches[i] for i in random.permutation(len(batches)).tolist()]

    def tensors(self, batch: Sequence[int]) -> tuple[Tensor, ...]:
        """The rows of a batch, and their numbers.

        Args:
            batch: indices of rows.

        Returns:
            Token ids, (batch, length), padded, or images; and, if there are numbers, these, (batch,).
        """
        if isinstance(self.rows, Tensor):
            rows = self.rows[list(batch)]
        else:
            chosen = [torch.tensor(self.rows[i]) for i in batch]
            rows = nn.utils.rnn.pad_sequence(chosen, True, self.pad_id)
        if self.numbers is None:
            return (rows,)
        return rows, torch.tensor([self.numbers[i] for i in batch])

    def n_predicted(self, batch: Sequence[int]) -> int:
        """What the loss of a batch is the mean of.

        Args:
            batch: indices of rows.

        Returns:
            Its rows, if they have labels; else the tokens that are guessed.
        """
        if self.labelled or isinstance(self.rows, Tensor):
            return len(batch)
        read = [1] * len(self.rows) if self.numbers is None else self.numbers
        return sum(len(self.rows[i]) - read[i] for i in batch)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the data and its batches' size, by which a resumed run knows them again."""
        state = hashlib.sha256(f"{self.batch_size} {self.pad_id}|".encode())
        for row in self.rows:
            state.update(np.asarray(row).tobytes() + b"|")
        state.update(np.asarray(self.numbers if self.numbers is not None else []).tobytes())
        return state.hexdigest()
