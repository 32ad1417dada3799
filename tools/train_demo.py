"""Train the demo translator into runs/demo, once: tests and notebooks use it, nothing commits it.

It is the translator of `transformer-course train --corpus grammar`, trained longer. A lock keeps two processes
from training it at the same time. It is trained anew when the code that makes it has changed.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock
from fingerprint import fingerprint

from transformer_course.runs import GRAMMAR_RECIPE

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "runs" / "demo"
STEPS, N_PAIRS = 3600, 230_000  # every pair once
MODULES = [
    "attention.py",
    "corpus/batches.py",
    "corpus/grammar",
    "corpus/vocabulary.py",
    "encoder_decoder.py",
    "loss.py",
    "masking.py",
    "multi_head.py",
    "positional_encoding.py",
    "recipe.py",
    "training.py",
    "translator.py",
]


def demo_fingerprint() -> str:
    """What the demo translator depends on: its recipe, its data, and the code that trains it."""
    config = [asdict(GRAMMAR_RECIPE), STEPS, N_PAIRS]
    return fingerprint(config, MODULES, ("train_translator", "generate", "Translator"))


def main() -> None:
    """Train if there is no translator yet, or the code has changed; resume what was interrupted."""
    FOLDER.parent.mkdir(exist_ok=True)
    with FileLock(f"{FOLDER}.lock"):
        stamp, wanted = FOLDER / "fingerprint.txt", demo_fingerprint()
        current = stamp.exists() and stamp.read_text() == wanted
        if current and (FOLDER / "model.safetensors").exists():
            print("runs/demo is trained and up to date")
            return
        if not current and FOLDER.exists():
            print("runs/demo was trained by other code: training it anew")
            shutil.rmtree(FOLDER)
        FOLDER.mkdir(exist_ok=True)
        stamp.write_text(wanted)
        command = [sys.executable, "-m", "transformer_course", "train", "--out", "runs/demo"]
        resume = (FOLDER / "recipe.json").exists()
        # One thread: two threads that wait for each other stand nearly still beside the tests.
        longer = ["--steps", str(STEPS), "--n-pairs", str(N_PAIRS)]
        fresh = ["--corpus", "grammar", *longer, "--threads", "1"]
        command += ["--resume"] if resume else fresh
        environment = (
            os.environ | {"TQDM_MININTERVAL": "10"} if not sys.stderr.isatty() else os.environ
        )
        sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
