"""Sequence to sequence (chapter 00): the Transformer's forerunners, recurrent and convolutional.

Both have the Transformer's methods (`encode`, `decode`, `logits`, `start`, `step`), so trainer, loss, searches
and `Translator` work with them. `costs` says what a layer of each kind costs.
"""

from transformer_course.seq2seq.common import Seq2Seq, Seq2SeqCache, Seq2SeqConfig, Seq2SeqState
from transformer_course.seq2seq.convolutional import ConvolutionalSeq2Seq, GatedConvolution
from transformer_course.seq2seq.costs import (
    LayerCost,
    attention_cost,
    convolution_cost,
    receptive_field,
    recurrent_cost,
)
from transformer_course.seq2seq.recurrent import RecurrentSeq2Seq

__all__ = [
    "ConvolutionalSeq2Seq",
    "GatedConvolution",
    "LayerCost",
    "RecurrentSeq2Seq",
    "Seq2Seq",
    "Seq2SeqCache",
    "Seq2SeqConfig",
    "Seq2SeqState",
    "attention_cost",
    "convolution_cost",
    "receptive_field",
    "recurrent_cost",
]
