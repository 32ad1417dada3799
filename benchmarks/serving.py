"""How long a translator on a local web server lets its callers wait: `python -m benchmarks.serving RUN`.

The server of `transformer-course serve` answers on the loopback; its callers each send one sentence of the
grammar's test split, wait for the answer, and send the next. So as many requests are under way as there are
callers. It is done with batches of at most 1, 8 and 64 sentences, all in turns. Writes `results/serving.json`:
medians over the rounds of sentences a second, and of the milliseconds that half of the requests, and all but
one in a hundred, took at most.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.speed import ROOT, processor
from transformer_course.corpus import grammar
from transformer_course.serve.server import serve
from transformer_course.serve.web import Limits
from transformer_course.translator import Translator

BATCHES, CALLERS = (1, 8, 64), (1, 4, 16, 64)


def call(address: str, sentences: list[str]) -> list[float]:
    """One caller: the seconds that each of its requests took."""
    connection, taken = HTTPConnection(urlsplit(address).netloc), []
    for sentence in sentences:
        start = time.perf_counter()
        body = json.dumps({"text": sentence, "beam": 1})
        connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"the server answered {answer.status}: {text.decode()}")
        taken.append(time.perf_counter() - start)
    connection.close()
    return taken


def load(address: str, callers: int, sentences: list[str]) -> dict[str, float]:
    """What many callers see who share the sentences."""
    shares = [sentences[number::callers] for number in range(callers)]
    start = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        taken = [s for row in pool.map(lambda share: call(address, share), shares) for s in row]
    spent = time.perf_counter() - start
    hundredths = statistics.quantiles(taken, n=100, method="inclusive")
    return {
        "a second": len(taken) / spent,
        "p50, ms": 1000 * hundredths[49],
        "p99, ms": 1000 * hundredths[98],
    }


def measured(run: Path, requests: int, rounds: int) -> list[dict[str, Any]]:
    """All batches and numbers of callers, in turns."""
    sentences = [
        pair.source for pair in islice(grammar.generate("test", requests, seed=0), requests)
    ]
    command = [sys.executable, "-m", "benchmarks.serving", str(run), "--serve"]
    servers = {
        batch: subprocess.Popen([*command, str(batch)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for batch in BATCHES
    }
    try:
        addresses = {}
        for batch, server in servers.items():
            assert server.stdout
            addresses[batch] = server.stdout.readline().strip()
            load(addresses[batch], 2, sentences[:20])  # the first ones are slow
        found: dict[tuple[int, int], list[dict[str, float]]] = {}
        for _ in range(rounds):
            for callers in CALLERS:
                for batch, address in addresses.items():
                    found.setdefault((callers, batch), []).append(load(address, callers, sentences))
    finally:
        for server in servers.values():
            server.terminate()
            server.wait()
    return [
        {"callers": callers, "batch": batch}
        | {name: round(statistics.median(r[name] for r in rows), 1) for name in rows[0]}
        for (callers, batch), rows in found.items()
    ]


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("run", type=Path, help="folder of a translator, such as runs/demo")
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        limits = Limits(batch=options.serve)
        serve(
            Translator.load(options.run),
            port=0,
            limits=limits,
            ready=lambda at: print(at, flush=True),
        )
        return
    result = {
        "command": "python -m benchmarks.serving " + " ".join(arguments or sys.argv[1:]),
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "versions": {"python": platform.python_version(), "torch": version("torch")},
        "loads": measured(options.run, options.requests, options.rounds),
    }
    (options.out / "serving.json").write_text(json.dumps(result, indent=1) + "\n")
    for row in result["loads"]:
        print(row)


if __name__ == "__main__":
    main()
