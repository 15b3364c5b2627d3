"""A replay buffer of decisions with their outcomes, uniform or prioritised (Schaul et al. 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.cards import NUM_CALLS
from bidzoo.kernels import F32, F64, I8, I64
from bidzoo.streams import Streams


class Sample(NamedTuple):
    """``n`` transitions drawn from a buffer."""

    rows: I64  # [n]  places in the buffer
    observation: I8  # [n, F]
    hidden: I8  # [n, H]  what the critic sees instead
    legal: I8  # [n, 38]
    call: I64  # [n]
    log_probability: F32  # [n]  of the call when it was made
    outcome: F32  # [n]  of the side that made it
    weight: F32  # [n]  importance of the draw, at most 1


class Replay:
    """The last ``capacity`` transitions; a player's bits are kept eight to a byte, for checkpoints."""

    def __init__(self, capacity: int, observation: int, hidden: int) -> None:
        """``observation`` and ``hidden``: lengths of a vector of bits and one of small integers."""
        self.capacity, self._bits = capacity, {"observation": observation, "legal": NUM_CALLS}
        self._fields: dict[str, NDArray[Any]] = {
            **{name: np.zeros((capacity, -(-size // 8)), np.uint8) for name, size in self._bits.items()},
            "hidden": np.zeros((capacity, hidden), np.int8),
            "call": np.zeros(capacity, np.int8),
            "log_probability": np.zeros(capacity, np.float32),
            "outcome": np.zeros(capacity, np.float32),
            "priority": np.zeros(capacity, np.float32),
        }
        self.added = 0

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(
        self, observation: I8, hidden: I8, legal: I8, call: I64, log_probability: F32, outcome: F32, priority: F32
    ) -> None:
        """Append transitions ``[n, ...]``, over the oldest ones; ``priority`` is at least 0."""
        rows = np.arange(self.added, self.added + len(call)) % self.capacity
        for name, bits in (("observation", observation), ("legal", legal)):
            self._fields[name][rows] = np.packbits(bits > 0, axis=1)
        numbers = {
            "hidden": hidden,
            "call": call,
            "log_probability": log_probability,
            "outcome": outcome,
            "priority": priority,
        }
        for name, column in numbers.items():
            self._fields[name][rows] = column
        self.added += len(call)

    def sample(self, n: int, seed: int, step: int, priority: float = 0.0, importance: float = 0.0) -> Sample:
        """``n`` transitions with replacement, with chances proportional to their priority to the power ``priority``.

        ``weight`` is (chance x size) to the power ``-importance``, divided by its greatest value.
        """
        size = len(self)
        numbers: F64 = Streams.at(seed, np.arange(n), step).random(1)[:, 0]
        if priority == 0:
            rows = (numbers * size).astype(np.int64)
            weight = np.ones(n, np.float32)
        else:
            mass = np.cumsum((self._fields["priority"][:size].astype(np.float64) + 1e-3) ** priority)
            rows = np.minimum(np.searchsorted(mass, numbers * mass[-1], side="right"), size - 1)
            chance = np.diff(mass, prepend=0.0)[rows] / mass[-1]
            weight = (chance * size) ** -importance
            weight = (weight / weight.max()).astype(np.float32)
        bits = {
            name: np.unpackbits(self._fields[name][rows], axis=1, count=count).view(np.int8)
            for name, count in self._bits.items()
        }
        return Sample(
            rows=rows,
            hidden=self._fields["hidden"][rows],
            call=self._fields["call"][rows].astype(np.int64),
            log_probability=self._fields["log_probability"][rows],
            outcome=self._fields["outcome"][rows],
            weight=weight,
            **bits,
        )

    def update(self, rows: I64, priority: F32) -> None:
        """New priorities of transitions at ``rows``."""
        self._fields["priority"][rows] = priority

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, for a checkpoint."""
        return {**{name: a[: len(self)] for name, a in self._fields.items()}, "added": np.array([self.added])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """What ``arrays`` gave."""
        self.added = int(arrays["added"][0])
        for name, field in self._fields.items():
            field[: len(self)] = arrays[name]
