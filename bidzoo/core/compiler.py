"""The process that compiles: ``python -m bidzoo.core.compiler`` does what ``compiling`` writes to its input."""

import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bidzoo.core.compiling import few_collections
from bidzoo.core.kernels import kernel_named


def main() -> None:
    """Compile what standard input asks for, one process at a time for all that share the cache; then end."""
    if hasattr(os, "nice"):
        os.nice(10)
    while size := sys.stdin.buffer.read(8):
        module, name, digest, signature = pickle.loads(sys.stdin.buffer.read(int.from_bytes(size, "little")))
        kernel = kernel_named(module, name)
        if kernel.compiled._cache.digest != digest:
            return  # a source has changed since the asking process read it: that one compiles for itself
        with _turn(Path(kernel.compiled._cache.cache_path)), few_collections():
            kernel.compiled.compile(signature)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Let one process at a time compile into ``folder``; the next one loads what it has made."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "bidzoo-compiling.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    main()
