"""Train the demo translator into runs/demo, once: tests and notebooks use it, nothing commits it.

It is the translator of `transformer-course train --corpus everyday`, trained longer. A lock keeps two processes
from training it at the same time. It is trained anew when the code that makes it behaves otherwise: when
everyday speech has other sentences, or by the probe of the experiment that trains on the grammar (probes.py).
"""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import FileLock
from probes import changes_of, probe, settled_probe
from run_experiments import load, same_config

from transformer_course.corpus import everyday
from transformer_course.fast import computes_bf16
from transformer_course.runs import RECIPES

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "runs" / "demo"
STEPS, N_PAIRS = 16_000, 1_030_000  # every pair once
PRECISION = "bf16" if computes_bf16() else "fp32"  # half the time, where the processor has it
CORPUS, SCRIPT = "everyday", "running_corpus"


def settings() -> list[Any]:
    """What is trained on what, as JSON gives it back."""
    sample = "\n".join(f"{p.source}\t{p.target}" for p in everyday.generate("train", 2000))
    digest = sha256(sample.encode()).hexdigest()
    made = [RECIPES[CORPUS].record(), STEPS, N_PAIRS, PRECISION, digest]
    return list(json.loads(json.dumps(made)))


def stamp() -> dict[str, Any]:
    """What the demo translator depends on: its recipe, its data, and how the code that trains it behaves."""
    return {"settings": settings(), "probe": settled_probe(load(SCRIPT))}


def is_current(path: Path) -> bool:
    """Whether the demo in the folder was trained as the code would train it now."""
    if not path.exists():
        return False
    script, then = load(SCRIPT), json.loads(path.read_text(encoding="utf-8"))
    same = same_config(then["settings"], settings())
    return same and not changes_of(script, then["probe"], probe(script))


def main() -> None:
    """Train if there is no translator yet, or the code has changed; resume what was interrupted."""
    FOLDER.parent.mkdir(exist_ok=True)
    with FileLock(f"{FOLDER}.lock"):
        path = FOLDER / "stamp.json"
        current = is_current(path)
        if current and (FOLDER / "model.safetensors").exists():
            print("runs/demo is trained and up to date")
            return
        if not current and FOLDER.exists():
            print("runs/demo was trained by code that behaves otherwise: training it anew")
            shutil.rmtree(FOLDER)
        FOLDER.mkdir(exist_ok=True)
        path.write_text(json.dumps(stamp()), encoding="utf-8")
        command = [sys.executable, "-m", "transformer_course", "train", "--out", "runs/demo"]
        resume = (FOLDER / "recipe.json").exists()
        # One thread: two threads that wait for each other stand nearly still beside the tests.
        longer = ["--steps", str(STEPS), "--n-pairs", str(N_PAIRS), "--precision", PRECISION]
        fresh = ["--corpus", CORPUS, *longer, "--threads", "1"]
        command += ["--resume"] if resume else fresh
        environment = (
            os.environ | {"TQDM_MININTERVAL": "10"} if not sys.stderr.isatty() else os.environ
        )
        sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


if __name__ == "__main__":
    main()
