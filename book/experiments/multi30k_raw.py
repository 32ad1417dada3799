"""German to English on Multi30k's raw text, with capitals and full stops as they were written.

It takes an hour or more for each seed, so it has to be named: python tools/run_experiments.py multi30k_raw
"""

from multi30k_training import APART, MODULES, REDUCED, run, settings

__all__ = ["APART", "CONFIG", "MODULES", "REDUCED", "run"]

CONFIG = settings("de-en", form="raw")
