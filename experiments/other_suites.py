"""The throughput of ``bidzoo bench throughput``, beside that of Pgx, RLCard, PettingZoo and a plain loop in C++.

    python experiments/other_suites.py --rounds 9

A suite that is not installed has no row. The loop in C++ is the limit of one thread.
"""

import contextlib
import ctypes
import io
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bidzoo.benchmarks import throughput
from bidzoo.benchmarks.throughput import TABLES, Contestant, Work, aec, batched
from bidzoo.cli.options import Json
from bidzoo.cli.showing import measured
from bidzoo.core.cards import NUM_CALLS, TO_PGX, held
from bidzoo.core.threads import kernel_threads
from bidzoo.envs.bridge.deals import RELABELLINGS, packaged


def write_pgx_table(path: Path) -> None:
    """Write our packaged deals in the file format that Pgx reads: base-4 digits a suit, hex digits a declarer."""
    deals = packaged("test")
    owner = np.empty((len(deals.hands), 52), np.int64)
    owner[:, TO_PGX] = held(deals.hands).argmax(1)
    keys = (owner.reshape(-1, 4, 13) * 4 ** np.arange(12, -1, -1)).sum(2)
    values = (deals.tricks.reshape(-1, 4, 5).astype(np.int64) * 16 ** np.arange(4, -1, -1)).sum(2)
    np.save(path, np.stack([keys, values]).astype(np.int32))


def _pgx() -> Work | None:
    if find_spec("pgx") is None:
        return None
    import jax
    import jax.numpy as jnp
    from pgx.bridge_bidding import BridgeBidding

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        write_pgx_table(Path(folder) / "table.npy")
        env = BridgeBidding(f"{folder}/table.npy")
    from pgx.experimental.wrappers import auto_reset

    step = jax.vmap(auto_reset(env.step, env.init))

    def turns(state: Any, key: Any) -> Any:
        def turn(state: Any, key: Any) -> Any:
            choose, deal = jax.random.split(key)
            scores = jax.random.uniform(choose, state.legal_action_mask.shape) * state.legal_action_mask
            return step(state, jnp.argmax(scores, axis=1), jax.random.split(deal, TABLES)), None

        return jax.lax.scan(turn, state, jax.random.split(key, 16))[0]

    compiled = jax.jit(turns)
    carry = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), TABLES)), jax.random.PRNGKey(1)]

    def work() -> int:
        carry[1], key = jax.random.split(carry[1])
        carry[0] = jax.block_until_ready(compiled(carry[0], key))
        return 16 * TABLES

    return work


def _rlcard() -> Work | None:
    if find_spec("rlcard") is None:
        return None
    import rlcard

    env = rlcard.make("bridge", config={"seed": 1})
    rng = np.random.default_rng(1)

    def work() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return work


def _connect_four() -> Work | None:
    """A classic environment of PettingZoo in its own standard wrappers."""
    try:
        from pettingzoo.classic.connect_four import connect_four

        return aec(connect_four.env())
    except ImportError:
        return None


# ---- in C++ ------------------------------------------------------------------------------


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


MORE = (
    Contestant("bridge_bidding_v0", f"Pgx, {TABLES} tables, JAX on CPU", _pgx),
    Contestant("bridge_bidding_v0", "PettingZoo classic connect_four", _connect_four),
    Contestant("bridge_v0", "RLCard bridge", _rlcard),
    Contestant("bridge_bidding_v0", f"C++, {TABLES} tables, one thread", ScalarLoop),
    Contestant(
        "bridge_bidding_v0", "bidzoo batched, one thread", lambda: kernel_threads(1)(batched("bridge_bidding_v0"))
    ),
)


def main(
    seconds: Annotated[float, typer.Option(min=0.001, help="Length of a slice.")] = 0.4,
    rounds: Annotated[int, typer.Option(min=1, help="Slices of each contestant; the fastest counts.")] = 5,
    json: Json = None,
) -> None:
    """Decisions a second of every environment, beside all other suites and the loop in C++, in one run."""
    measured("throughput", 1, json, lambda _: throughput.main(seconds, rounds, more=MORE))


if __name__ == "__main__":
    typer.run(main)
