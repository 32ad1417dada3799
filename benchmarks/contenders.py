"""The models that `speed.py` compares: ours and its peers, in one size and with one interface."""

import copy
import tempfile
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.decoding import beam_search, greedy
from transformer_course.encoder_decoder import Transformer, TransformerConfig
from transformer_course.fast import use_fast
from transformer_course.loss import chunked_cross_entropy, cross_entropy
from transformer_course.masking import causal_mask, padding_mask
from transformer_course.positional_encoding import sinusoidal_encoding

PAD, BOS, EOS = 0, 1, 2
BF16 = "bfloat16 (weights when translating, autocast in training)"
SMOOTHING = 0.1


@dataclass(frozen=True)
class Sizes:
    """The sizes all contenders share; the defaults are those of the speed table.

    Args:
        d_model: width of the vectors between layers.
        n_heads: attention heads.
        n_layers: layers of the encoder, and of the decoder.
        d_ff: width inside the feed-forward net.
        vocab_size: number of token ids, one table for source, target and output.
        dropout: after each sub-layer and the embedding.
        max_len: number of positions.
    """

    d_model: int = 256
    n_heads: int = 4
    n_layers: int = 3
    d_ff: int = 1024
    vocab_size: int = 8000
    dropout: float = 0.1
    max_len: int = 256


class Contender:
    """A model with what the benchmark asks of it.

    Args:
        model: its weights, all trained.
    """

    name: str
    lacks: frozenset[str] = frozenset()  # the kinds of tasks that it can't do
    needs_bf16 = False
    survives_fork = True  # whether a process that has used it may fork, and use it again there

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), 1e-4, (0.9, 0.98), 1e-9, fused=True)

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        """Mean label-smoothed cross-entropy of a batch: all three are (batch, length) ids."""
        raise NotImplementedError(f"{self.name} can't be trained")

    def read(self, src: Tensor) -> Tensor:
        """What the encoder makes of the sentences, (batch, length, d_model)."""
        raise NotImplementedError(f"{self.name} has no encoder of its own")

    def greedy(self, src: Tensor, steps: int) -> Tensor:
        """Greedy translations of exactly `steps` tokens, (batch, steps)."""
        return self.beam(src, 1, steps)

    def beam(self, src: Tensor, beam: int, steps: int) -> Tensor:
        """The best of `beam` translations of exactly `steps` tokens, (batch, steps)."""
        raise NotImplementedError(f"{self.name} has no beam search for batches with a source")

    def train_step(self, src: Tensor, tgt: Tensor) -> float:
        """One update: forward, loss, backward, clipping to norm 1, Adam."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(src, tgt[:, :-1], tgt[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    @property
    def dtype(self) -> str:
        """What is computed in: the type of the weights, unless a contender says more."""
        return str(next(self.model.parameters()).dtype).removeprefix("torch.")


def torch_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Torch's own label-smoothed cross-entropy, for all peers: what their users would call."""
    flat = logits.reshape(-1, logits.shape[-1])
    return F.cross_entropy(flat, labels.reshape(-1), ignore_index=PAD, label_smoothing=SMOOTHING)


class EndlessTransformer(Transformer):
    """Never chooses the end symbol, so that every sentence runs to the full length."""

    def logits(self, states: Tensor) -> Tensor:
        """Scores with the end symbol's made impossible while decoding."""
        scores = super().logits(states)
        if not self.training:
            scores[..., EOS] = -torch.inf
        return scores


class Ours(Contender):
    """The package's `Transformer`, post-norm like its peers: chunked loss, fused attention but in searches.

    There the fused kernel is no faster: each step has one query and many short rows of keys.
    """

    name = "transformer-course"
    fused = True
    fused_search = False

    def __init__(self, sizes: Sizes) -> None:
        config = TransformerConfig(
            sizes.vocab_size,
            d_model=sizes.d_model,
            n_heads=sizes.n_heads,
            n_encoder_layers=sizes.n_layers,
            n_decoder_layers=sizes.n_layers,
            d_ff=sizes.d_ff,
            dropout=sizes.dropout,
            max_len=sizes.max_len,
            norm="post",
        )
        self.net = EndlessTransformer(config)
        self.attention: dict[EndlessTransformer, bool] = {}
        super().__init__(self.net)

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        self.chosen(self.fused, self.net)
        src_mask = padding_mask(src)
        states = self.net.decode(tgt, self.net.encode(src, src_mask), src_mask)
        weight = self.net.output.weight
        return chunked_cross_entropy(states, weight, labels, label_smoothing=SMOOTHING)

    def reader(self) -> EndlessTransformer:
        """The model that translates."""
        return self.net

    def chosen(self, attention: bool, net: EndlessTransformer) -> EndlessTransformer:
        """The model with its fast parts, fused attention among them or not."""
        if self.attention.get(net) != attention:  # once: it takes as long as a few layers
            use_fast(use_fast(net, fast=False), attention=attention)
            self.attention[net] = attention
        return net

    def read(self, src: Tensor) -> Tensor:
        net = self.chosen(self.fused, self.reader().eval())
        with torch.inference_mode():
            return net.encode(src, padding_mask(src))

    def greedy(self, src: Tensor, steps: int) -> Tensor:
        net = self.chosen(self.fused_search, self.reader().eval())
        return torch.tensor(greedy(net, src, steps, bos_id=BOS, eos_id=EOS))

    def beam(self, src: Tensor, beam: int, steps: int) -> Tensor:
        net = self.chosen(self.fused_search, self.reader().eval())
        found = beam_search(net, src, beam, steps, bos_id=BOS, eos_id=EOS)
        return torch.tensor([best.ids for best, *_ in found])


class Readable(Ours):
    """The same model on the paths that the chapters show: attention written out, loss from all logits."""

    name = "transformer-course, readable path"
    fused = False

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        use_fast(self.net, fast=False)
        return cross_entropy(self.net(src, tgt), labels, label_smoothing=SMOOTHING)


class InBf16:
    """For a contender with a `net` and a `reader`: trained under autocast, translating with weights in bf16."""

    needs_bf16 = True
    dtype = BF16
    net: Any

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)  # type: ignore[call-arg]
        self.small = copy.deepcopy(self.net).bfloat16()

    def reader(self) -> Any:
        """The model that translates."""
        return self.small

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        """As the contender's own, under autocast."""
        with torch.autocast("cpu", torch.bfloat16):
            loss: Tensor = super().loss(src, tgt, labels)
        return loss


class OursInBf16(InBf16, Ours):
    """Our model in bf16, where it is the other way round: fused attention in searches only.

    The backward pass of the fused kernel is slow in bf16. And for attention written out, oneDNN compiles a
    kernel for each length of the keys: that takes time and memory in searches.
    """

    name = "transformer-course, bf16"
    fused = False
    fused_search = True


class Marian(Contender):
    """MarianMTModel of the transformers library, random weights, its default attention (fused)."""

    name = "transformers MarianMT"

    def __init__(self, sizes: Sizes) -> None:
        from transformers import GenerationConfig, MarianConfig, MarianMTModel

        config = MarianConfig(
            vocab_size=sizes.vocab_size,
            max_position_embeddings=sizes.max_len,
            encoder_layers=sizes.n_layers,
            decoder_layers=sizes.n_layers,
            encoder_attention_heads=sizes.n_heads,
            decoder_attention_heads=sizes.n_heads,
            encoder_ffn_dim=sizes.d_ff,
            decoder_ffn_dim=sizes.d_ff,
            d_model=sizes.d_model,
            dropout=sizes.dropout,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=PAD,
            decoder_start_token_id=BOS,
            eos_token_id=None,
            forced_eos_token_id=None,
        )
        self.net: Any = MarianMTModel(config)
        self.settings = GenerationConfig
        super().__init__(self.net)

    def reader(self) -> Any:
        """The model that translates."""
        return self.net

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        output = self.net(
            input_ids=src,
            attention_mask=src != PAD,
            decoder_input_ids=tgt,
            decoder_attention_mask=tgt != PAD,
            use_cache=False,
        )
        return torch_loss(output.logits, labels)

    def read(self, src: Tensor) -> Tensor:
        encoder = self.reader().eval().get_encoder()
        with torch.inference_mode():
            states: Tensor = encoder(src, attention_mask=(src != PAD).long()).last_hidden_state
        return states

    def beam(self, src: Tensor, beam: int, steps: int) -> Tensor:
        net = self.reader().eval()
        # Without an end symbol every sentence runs to the full length, and no step tests for it.
        settings = self.settings(
            do_sample=False,
            use_cache=True,
            num_beams=beam,
            max_new_tokens=steps,
            pad_token_id=PAD,
            decoder_start_token_id=BOS,
            eos_token_id=None,
        )
        with torch.inference_mode():
            ids: Tensor = net.generate(
                src, attention_mask=(src != PAD).long(), generation_config=settings
            )
        return ids[:, 1:]


class MarianInBf16(InBf16, Marian):
    """MarianMTModel in bf16."""

    name = "transformers MarianMT, bf16"


class CTranslate2(Contender):
    """A MarianMTModel with random weights, converted: CTranslate2 is an engine for translating only, in C++.

    It takes tokens, not ids, and starts from the embedding of the start symbol, as Marian does here. Each
    thread translates its share of the sentences. Threads that share one sentence's work take longer, and from
    then on those of torch wait for each other five times as long (README.md).
    """

    name = "CTranslate2"
    lacks = frozenset({"train", "encode"})
    dtype = "float32"
    survives_fork = False

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(Marian(sizes).net)
        self.tokens = ["<pad>", "<s>", "</s>", *map(str, range(3, sizes.vocab_size))]
        self.convert()

    def convert(self) -> None:
        """Start the engine with the model's weights."""
        import ctranslate2

        self.threads = torch.get_num_threads()
        with tempfile.TemporaryDirectory() as folder:
            converted(self.model, self.tokens).save(folder)
            self.engine = ctranslate2.Translator(
                folder,
                "cpu",
                compute_type="float32",
                inter_threads=self.threads,
                intra_threads=1,
            )
        torch.set_num_threads(self.threads)  # the engine has set it to its intra_threads

    def beam(self, src: Tensor, beam: int, steps: int) -> Tensor:
        sources = [[self.tokens[i] for i in row if i != PAD] for row in src.tolist()]
        found = self.engine.translate_batch(
            sources,
            max_batch_size=-(-len(sources) // self.threads),
            beam_size=beam,
            length_penalty=0.6,
            min_decoding_length=steps,
            max_decoding_length=steps,
            suppress_sequences=[["<pad>"]],
        )
        number = {token: i for i, token in enumerate(self.tokens)}
        return torch.tensor([[number[token] for token in best.hypotheses[0]] for best in found])


def converted(model: nn.Module, tokens: list[str]) -> Any:
    """A MarianMTModel as CTranslate2 writes it down, with our special tokens."""
    from ctranslate2.converters.transformers import BartLoader, MarianMTLoader

    class Loader(MarianMTLoader):
        """Keeps the weights of the padding token and the start symbol: they aren't Marian's own here."""

        def _remove_pad_weights(self, spec: Any) -> None:
            pass

        def set_decoder(self, spec: Any, decoder: Any) -> None:
            BartLoader.set_decoder(self, spec, decoder)

    spec = Loader().get_model_spec(model)
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.decoder_start_token, spec.config.eos_token = "<s>", "</s>"
    spec.config.unk_token = "<pad>"
    spec.config.add_source_eos = False
    spec.validate()
    spec.optimize()
    return spec


class TorchNN(Contender):
    """torch.nn.Transformer with embeddings and an output of our own around it; it has no cache."""

    name = "torch.nn.Transformer"
    lacks = frozenset({"beam"})

    def __init__(self, sizes: Sizes) -> None:
        net = nn.ModuleDict(
            {
                "embedding": nn.Embedding(sizes.vocab_size, sizes.d_model),
                "dropout": nn.Dropout(sizes.dropout),
                "transformer": nn.Transformer(
                    sizes.d_model,
                    sizes.n_heads,
                    sizes.n_layers,
                    sizes.n_layers,
                    sizes.d_ff,
                    sizes.dropout,
                    batch_first=True,
                ),
            }
        )
        self.scale = sizes.d_model**0.5
        self.positions = sinusoidal_encoding(sizes.max_len, sizes.d_model)
        nn.init.normal_(net["embedding"].weight, std=sizes.d_model**-0.5)
        super().__init__(net)

    def embed(self, ids: Tensor) -> Tensor:
        """Token and position vectors, (batch, length, d_model)."""
        x = self.model.embedding(ids) * self.scale + self.positions[: ids.shape[1]]
        out: Tensor = self.model.dropout(x)
        return out

    def decode(self, tgt: Tensor, memory: Tensor, hidden: Tensor) -> Tensor:
        """Decoder states, (batch, tgt_len, d_model); `hidden` is the source's padding."""
        out: Tensor = self.model.transformer.decoder(
            self.embed(tgt),
            memory,
            tgt_mask=~causal_mask(tgt.shape[1])[0, 0],
            tgt_is_causal=True,
            tgt_key_padding_mask=tgt == PAD if self.model.training else None,
            memory_key_padding_mask=hidden,
        )
        return out

    def encode(self, src: Tensor) -> Tensor:
        """The memory, (batch, src_len, d_model)."""
        out: Tensor = self.model.transformer.encoder(
            self.embed(src), src_key_padding_mask=src == PAD
        )
        return out

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        states = self.decode(tgt, self.encode(src), src == PAD)
        return torch_loss(F.linear(states, self.model.embedding.weight), labels)

    def read(self, src: Tensor) -> Tensor:
        self.model.eval()
        with torch.inference_mode():
            return self.encode(src)

    def greedy(self, src: Tensor, steps: int) -> Tensor:
        self.model.eval()
        with torch.inference_mode():
            memory, tgt = self.encode(src), torch.full((src.shape[0], 1), BOS)
            for _ in range(steps):
                last = self.decode(tgt, memory, src == PAD)[:, -1]
                choice = F.linear(last, self.model.embedding.weight).argmax(-1)
                tgt = torch.cat([tgt, choice[:, None]], 1)
        return tgt[:, 1:]


class TiedOutput(nn.Module):
    """Scores from the embedding's own matrix, so that x-transformers has no weights its peers lack.

    Args:
        embedding: the target's.
    """

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) → (..., vocab_size)."""
        return F.linear(x, self.embedding.weight)


class XTransformers(Contender):
    """XTransformer of x-transformers; its beam search can't repeat the source for each beam."""

    name = "x-transformers"
    lacks = frozenset({"beam"})

    def __init__(self, sizes: Sizes) -> None:
        from x_transformers import XTransformer

        stack: dict[str, object] = {
            "num_tokens": sizes.vocab_size,
            "depth": sizes.n_layers,
            "heads": sizes.n_heads,
            "max_seq_len": sizes.max_len,
            "attn_dim_head": sizes.d_model // sizes.n_heads,
            "ff_mult": sizes.d_ff / sizes.d_model,
            "ff_custom_activation": nn.ReLU(),
            "emb_dropout": sizes.dropout,
            "attn_sublayer_dropout": sizes.dropout,
            "ff_sublayer_dropout": sizes.dropout,
            "pre_norm": False,
            "scaled_sinu_pos_emb": True,
            "attn_flash": True,
        }
        both = {f"{side}_{key}": value for side in ("enc", "dec") for key, value in stack.items()}
        self.net = XTransformer(dim=sizes.d_model, tie_token_emb=True, **both)
        self.decoder = self.net.decoder.net
        self.decoder.to_logits = TiedOutput(self.decoder.token_emb.emb)
        super().__init__(self.net)

    def loss(self, src: Tensor, tgt: Tensor, labels: Tensor) -> Tensor:
        memory = self.net.encoder(src, mask=src != PAD, return_embeddings=True)
        logits = self.decoder(tgt, mask=tgt != PAD, context=memory, context_mask=src != PAD)
        return torch_loss(logits, labels)

    def read(self, src: Tensor) -> Tensor:
        self.net.eval()
        with torch.inference_mode():
            states: Tensor = self.net.encoder(src, mask=src != PAD, return_embeddings=True)
        return states

    def greedy(self, src: Tensor, steps: int) -> Tensor:
        self.net.eval()
        with torch.inference_mode():
            start = torch.full((src.shape[0], 1), BOS)
            ids: Tensor = self.net.generate(
                src, start, steps, mask=src != PAD, temperature=0.0, cache_kv=True
            )
        return ids


CONTENDERS: dict[str, type[Contender]] = {
    "ours": Ours,
    "readable": Readable,
    "marian": Marian,
    "torch": TorchNN,
    "x": XTransformers,
    "ctranslate2": CTranslate2,
    "ours_bf16": OursInBf16,
    "marian_bf16": MarianInBf16,
}
