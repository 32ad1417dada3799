"""English to German on Multi30k by the recipe for small corpora: a wider model, R-Drop, Muon.

It takes hours for each seed, so it has to be named: python tools/run_experiments.py small_corpus_de
"""

from small_corpus_training import APART, PROBE, run, settings

__all__ = ["APART", "CONFIG", "PROBE", "run"]

CONFIG = settings("en-de")
