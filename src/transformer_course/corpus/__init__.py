"""Corpora (chapter 07): the running English–French grammar, readers for files, vocabularies and batches."""

from transformer_course.corpus.pairs import CorpusError, Pair

__all__ = ["CorpusError", "Pair"]
