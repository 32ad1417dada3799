"""English to German on Multi30k, on the text of Wu et al. (2021): lower-cased and tokenised.

It takes an hour or more for each seed, so it has to be named: python tools/run_experiments.py multi30k_de
"""

from multi30k_training import APART, PROBE, run, settings

__all__ = ["APART", "CONFIG", "PROBE", "run"]

CONFIG = settings("en-de", form="lc.norm.tok")
