"""The process that compiles: ``python -m bidzoo.core.compiler`` does what ``compiling`` writes to its input."""

import os
import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from bidzoo.core.compiling import few_collections
from bidzoo.core.storage import claim


def main() -> None:
    """Compile what standard input asks for, one process at a time for all that share the cache; then end."""
    if hasattr(os, "nice"):
        os.nice(10)
    asked: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_read, args=(asked,), daemon=True).start()
    from bidzoo.core.kernels import kernel_named  # loads numba, while jobs are read

    while job := asked.get():
        module, name, digest, signature = pickle.loads(job)
        kernel = kernel_named(module, name)
        if kernel.compiled._cache.digest != digest:
            return  # a source has changed since the asking process read it: that one compiles for itself
        with _turn(Path(kernel.compiled._cache.cache_path)), few_collections():
            kernel.compiled.compile(signature)


def _read(asked: "SimpleQueue[bytes]") -> None:
    """Put the jobs of standard input into ``asked`` at once, so that who writes them never waits; b"" at its end."""
    with open(0, "rb", closefd=False) as jobs:  # not ``sys.stdin``, which Python closes when ``main`` ends before
        while size := jobs.read(8):
            asked.put(jobs.read(int.from_bytes(size, "little")))
    asked.put(b"")


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Let one process at a time compile into ``folder``; the next one loads what it has made."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "bidzoo-compiling.lock", "ab", buffering=0) as file:
        while not claim(file):
            time.sleep(0.1)
        yield


if __name__ == "__main__":
    main()
