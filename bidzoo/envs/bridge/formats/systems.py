"""Recorded auctions of bidding systems: who plays which, and calls that nobody's system chose.

An ``.npz`` of ``auctions`` with two more fields: ``systems`` ``[n, 2]`` of N/S and E/W, numbers in ``bidder.SYSTEMS``;
``stray`` ``[n]``, the turn of one call made at random, 255 where there is none. A stray call is not learned from, the
calls after it are: they answer what no book has. A file without these fields is SAYC against SAYC, no call stray.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bidzoo.core.arrays import Numbers, digest, load_npz
from bidzoo.core.kernels import I8, I64, Bool
from bidzoo.envs.bridge import deals
from bidzoo.envs.bridge.bidder import SYSTEMS
from bidzoo.envs.bridge.formats.auctions import PLAN, Auctions, Positions, of_fields

_NONE = 255  # in a file: no call is stray
_PLAN = {
    **PLAN,
    "systems": Numbers(("n", 2), 0, len(SYSTEMS) - 1, np.int8, required=False),
    "stray": Numbers(("n",), 0, _NONE, np.int64, required=False),
}


class SystemAuctions(NamedTuple):
    """``n`` complete auctions and the systems they were bid by."""

    auctions: Auctions
    systems: I8  # [n, 2]  of N/S and of E/W
    stray: I64  # [n]  turn of the stray call, -1: none

    @classmethod
    def load(cls, path: str | Path) -> "SystemAuctions":
        """The auctions of a file; ValueError names file, board and what was expected."""
        path = Path(path)
        if path.suffix != ".npz":
            return cls._plain(Auctions.load(path))
        fields = load_npz(path, "an .npz of auctions, perhaps of systems", _PLAN)
        if ("systems" in fields) != ("stray" in fields):
            raise ValueError(f"{path}: {'stray' if 'systems' in fields else 'systems'}: missing; expected both or none")
        auctions = of_fields(fields, str(path))
        if "systems" not in fields:
            return cls._plain(auctions)
        stray, length = fields["stray"], fields["length"]
        for board in np.flatnonzero((stray != _NONE) & (stray >= length))[:1]:
            raise ValueError(
                f"{path}: board {board}: stray {stray[board]}, expected a turn of its {length[board]} calls or {_NONE}"
            )
        return cls(auctions, fields["systems"], np.where(stray == _NONE, -1, stray))

    @classmethod
    def _plain(cls, auctions: Auctions) -> "SystemAuctions":
        return cls(auctions, np.zeros((len(auctions.hands), 2), np.int8), np.full(len(auctions.hands), -1))

    @classmethod
    def join(cls, parts: Sequence["SystemAuctions"]) -> "SystemAuctions":
        """All auctions of ``parts``, one part behind the other."""
        auctions = [part.auctions for part in parts]
        lengths = np.concatenate([np.diff(each.start) for each in auctions])
        joined = Auctions(
            np.concatenate([each.hands for each in auctions]),
            np.concatenate([each.dealer for each in auctions]),
            np.concatenate([each.vulnerable for each in auctions]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate([each.calls for each in auctions]),
        )
        return cls(joined, np.concatenate([part.systems for part in parts]), np.concatenate([p.stray for p in parts]))

    def first(self, count: int) -> "SystemAuctions":
        """The first ``count`` auctions, or all if there are fewer."""
        kept = self.auctions
        start = kept.start[: count + 1]
        auctions = Auctions(
            kept.hands[:count], kept.dealer[:count], kept.vulnerable[:count], start, kept.calls[: start[-1]]
        )
        return SystemAuctions(auctions, self.systems[:count], self.stray[:count])

    def split(self, which: deals.Split) -> I64:
        """Numbers of the auctions of one part, as ``Auctions.split``."""
        return self.auctions.split(which)


class SystemPositions(Positions):
    """Every call of some auctions that a system chose, by number."""

    def __init__(self, data: SystemAuctions, auctions: I64) -> None:
        super().__init__(data.auctions, auctions)
        chosen = self._turn != data.stray[self._auction]
        self._auction, self._turn = self._auction[chosen], self._turn[chosen]
        self._systems, self._stray = data.systems, data.stray

    @property
    def digest(self) -> str:
        """Of the auctions, their systems, and of which of them these are."""
        return digest({"positions": np.array(super().digest), "systems": self._systems, "stray": self._stray})

    def systems(self, numbers: I64) -> tuple[I64, I64]:
        """Systems of the caller's side and of the other at positions ``numbers`` ``[B]``."""
        auctions = self._auction[numbers]
        side = (self.data.dealer[auctions] + self._turn[numbers]) % 2
        pairs, rows = self._systems[auctions].astype(np.int64), np.arange(len(numbers))
        return pairs[rows, side], pairs[rows, 1 - side]

    def after_stray(self, numbers: I64) -> Bool:
        """Whether a stray call was made before, ``[B]``."""
        stray = self._stray[self._auction[numbers]]
        return np.asarray((stray >= 0) & (self._turn[numbers] > stray))
