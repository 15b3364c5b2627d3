"""The throughput of ``bidzoo bench throughput``, and beside it that of a plain loop in C++, the limit of one thread.

python experiments/bridge_loop.py --rounds 9
"""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.benchmarks import throughput
from bidzoo.benchmarks.throughput import TABLES, Contestant, Work, batched
from bidzoo.cli.options import Json, measured
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.threads import get_threads, set_threads
from bidzoo.envs.bridge.deals import RELABELLINGS, packaged


class _Deals(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), *((name, ctypes.c_void_p) for name in ("hands", "tricks", "renamed"))]


class ScalarLoop:
    """``bridge_loop.cpp``: the same calls at the same tables as ``batched``, in plain C++.

    Raises:
        OSError: no g++.
        subprocess.CalledProcessError: it does not compile.
    """

    def __init__(self, tables: int = TABLES, seed: int = 1) -> None:
        source = Path(__file__).with_name("bridge_loop.cpp")
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/loop.so"
            command = ["g++", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, str(source)]
            subprocess.run(command, check=True, capture_output=True)
            self._loop = ctypes.CDLL(library)
        self._loop.table_size.restype = ctypes.c_int64
        deals = packaged("train")
        self.keys, self.mask = np.arange(tables, dtype=np.uint64), np.empty((tables, NUM_CALLS), np.int8)
        self.observation, self.reward = np.empty((tables, 480), np.int8), np.empty((tables, 4), np.float32)
        self._states = np.empty(tables * self._loop.table_size(), np.uint8)
        self._arrays = deals.hands, deals.tricks, RELABELLINGS  # which live as long as their addresses
        self._deals = _Deals(len(deals.hands), *(array.ctypes.data for array in self._arrays))
        self._first = (
            self._address(self._states),
            ctypes.c_int64(tables),
            ctypes.c_uint64(seed),
            ctypes.byref(self._deals),
        )
        self._loop.begin(*self._first, self._address(self.mask), self._address(self.observation))

    def _address(self, array: Any) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def step(self) -> None:
        """One random call at every table."""
        self._loop.step(*self._first, *map(self._address, (self.keys, self.mask, self.observation, self.reward)))

    def __call__(self) -> int:
        """``Work``."""
        for _ in range(16):
            self.step()
        return 16 * len(self.keys)


def on_one_thread(work: Work) -> Work:
    """``work`` while kernels have one thread."""

    def alone() -> int:
        threads = get_threads()
        set_threads(1)
        try:
            return work()
        finally:
            set_threads(threads)

    return alone


MORE = (
    Contestant("bridge_bidding_v0", f"C++, {TABLES} tables, one thread", ScalarLoop),
    Contestant("bridge_bidding_v0", "bidzoo batched, one thread", lambda: on_one_thread(batched("bridge_bidding_v0"))),
)


def main(
    seconds: Annotated[float, typer.Option(min=0.001, help="Length of a slice.")] = 0.4,
    rounds: Annotated[int, typer.Option(min=1, help="Slices of each contestant; the median counts.")] = 5,
    json: Json = None,
) -> None:
    """Decisions a second of every environment, beside other suites and the loop in C++, all in one run."""
    measured("throughput", 1, json, lambda _: throughput.main(seconds, rounds, more=MORE))


if __name__ == "__main__":
    typer.run(main)
