"""The last decisions of self-play, sampled uniformly or by priority.

*Prioritized experience replay*, Schaul et al. 2016: chances are proportional to a power of the priorities. A *sum tree*
(their appendix B.2.1) holds these powers and the sums of each two, of each four, and so on, so that a draw or a new
priority takes as many steps as there are levels: 20 for 800,000 decisions.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge.selfplay import Pairs
from bidzoo.core.arrays import Arrays
from bidzoo.core.bits import packed_size
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.compiling import when_compiled
from bidzoo.core.kernels import F32, F64, I8, I64, U8, row
from bidzoo.core.streams import Streams

# ---- sums ---------------------------------------------------------------------------------


@row
def _put(tree: F64, rows: I64, values: F64) -> None:
    """Write ``values`` ``[n]`` at leaves ``rows`` ``[n]``, of equal ones the last, and the sums above them.

    ``tree`` ``[2 * leaves]``: node ``k`` is the sum of nodes ``2 * k`` and ``2 * k + 1``, node 1 that of all.
    """
    leaves = len(tree) // 2
    for i in range(len(rows)):
        k = leaves + rows[i]
        tree[k] = values[i]
        while k > 1:
            k //= 2
            tree[k] = tree[2 * k] + tree[2 * k + 1]


@row
def _draw(tree: F64, numbers: F64, rows: I64) -> None:
    """The leaves that ``numbers`` ``[n]`` in [0, 1) draw, in proportion to their values, into ``rows`` ``[n]``."""
    leaves = len(tree) // 2
    for i in range(len(numbers)):
        k, left = 1, numbers[i] * tree[1]
        while k < leaves:
            k *= 2
            if left >= tree[k] and tree[k + 1] > 0:  # rounding may leave a little where nothing is
                left -= tree[k]
                k += 1
        rows[i] = k - leaves


class SumTree:
    """``size`` values from 0, and draws in proportion to them; the sums depend on the values alone, not on the past."""

    def __init__(self, size: int) -> None:
        self._leaves = 1 << (size - 1).bit_length()
        self._tree = np.zeros(2 * self._leaves)

    @property
    def total(self) -> float:
        """The sum of all values."""
        return float(self._tree[1])

    def values(self, rows: I64) -> F64:
        """The values at ``rows`` ``[n]``."""
        return self._tree[self._leaves + rows]

    @when_compiled()
    def put(self, rows: I64, values: F64) -> None:
        """Set the values at ``rows`` ``[n]``; of equal rows the last counts."""
        _put(self._tree, np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(values, np.float64))

    @when_compiled()
    def draw(self, numbers: F64) -> I64:
        """Rows ``[n]`` drawn by ``numbers`` ``[n]`` in [0, 1); at least one value is positive."""
        rows = np.empty(len(numbers), np.int64)
        _draw(self._tree, np.ascontiguousarray(numbers), rows)
        return rows


# ---- transitions --------------------------------------------------------------------------

_LEAST = 1e-3  # added to every priority, so that each transition has a chance


class Sample(NamedTuple):
    """``n`` transitions sampled from a buffer."""

    rows: I64  # [n]  places in the buffer
    observation: U8  # [n, ceil(F / 8)]  packed, as in ``Decisions``
    hidden: I8  # [n, H]  what the critic sees instead
    legal: U8  # [n, 5]
    call: I64  # [n]
    log_probability: F32  # [n]  of the call when it was made
    outcome: F32  # [n]  of the side that made it
    weight: F32  # [n]  importance of the draw, at most 1


class ReplayBuffer:
    """The last ``capacity`` transitions; a player's bits are packed, as in ``Decisions``."""

    def __init__(self, capacity: int, observation: int, hidden: int, exponent: float = 0.0) -> None:
        """Args:
        capacity: transitions that are kept.
        observation: length of a vector of bits.
        hidden: length of a vector of small integers.
        exponent: samples are drawn in proportion to priorities to this power; 0: uniformly.
        """
        self.capacity = capacity
        self._fields: dict[str, NDArray[Any]] = {
            "observation": np.zeros((capacity, packed_size(observation)), np.uint8),
            "legal": np.zeros((capacity, packed_size(NUM_CALLS)), np.uint8),
            "hidden": np.zeros((capacity, hidden), np.int8),
            "call": np.zeros(capacity, np.int8),
            "log_probability": np.zeros(capacity, np.float32),
            "outcome": np.zeros(capacity, np.float32),
            "priority": np.zeros(capacity, np.float32),
        }
        self.added, self.exponent = 0, exponent
        self._chances = SumTree(capacity if exponent > 0 else 1)

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, pairs: Pairs, hidden: I8, priority: F32) -> None:
        """Append the decisions ``[n]`` of ``pairs``; ``priority`` is at least 0."""
        decisions = pairs.decisions
        self.append(
            observation=decisions.observation,
            hidden=hidden,
            legal=decisions.legal,
            call=decisions.call,
            log_probability=decisions.log_chance,
            outcome=pairs.outcome,
            priority=priority,
        )

    def append(self, **columns: NDArray[Any]) -> None:
        """Append transitions ``[n, ...]``, over the oldest ones."""
        rows = np.arange(self.added, self.added + len(columns["call"])) % self.capacity
        for name, column in columns.items():
            self._fields[name][rows] = column
        self.added += len(rows)
        self._prefer(rows)

    def sample(self, n: int, seed: int, step: int, importance: float = 0.0) -> Sample:
        """``n`` transitions with replacement, with the random numbers of ``seed`` and ``step``.

        ``weight`` is (chance x size) to the power ``-importance``, divided by its greatest value.
        """
        size = len(self)
        numbers: F64 = Streams.at(seed, np.arange(n), step).random(1)[:, 0]
        if self.exponent == 0:
            rows = (numbers * size).astype(np.int64)
            weight = np.ones(n, np.float32)
        else:
            rows = self._chances.draw(numbers)
            chance = self._chances.values(rows) / self._chances.total
            correction = (chance * size) ** -importance
            weight = (correction / correction.max()).astype(np.float32)
        columns = {name: self._fields[name][rows] for name in Sample._fields if name in self._fields}
        columns["call"] = columns["call"].astype(np.int64)
        return Sample(rows=rows, weight=weight, **columns)

    def update(self, rows: I64, priority: F32) -> None:
        """New priorities of transitions at ``rows``."""
        self._fields["priority"][rows] = priority
        self._prefer(rows)

    def _prefer(self, rows: I64) -> None:
        """Let the chances at ``rows`` be those of their priorities."""
        if self.exponent > 0:
            self._chances.put(rows, (self._fields["priority"][rows].astype(np.float64) + _LEAST) ** self.exponent)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The whole buffer, for a checkpoint."""
        return {**{name: a[: len(self)] for name, a in self._fields.items()}, "added": np.array([self.added])}

    def restore(self, arrays: Arrays) -> None:
        self.added = int(arrays["added"][0])
        for name, field in self._fields.items():
            field[: len(self)] = arrays[name]
        self._prefer(np.arange(len(self)))
