"""The numbers of a bidder as one record, so that a kernel can bid for any of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bidzoo.kernels import Table, allocate

KINDS = ("bis", "rb", "ms", "io", "random", "uct", "learned")
BIS, RB, MS, IO, UNIFORM, UCT, LEARNED = range(7)

BIDDER = np.dtype(
    [
        ("kind", "i8"),  # index into KINDS
        ("nil_threshold", "f8"),
        ("curve", "i8"),
        ("endgame", "i8"),
        ("conventions", "i8"),
        ("blind", "i8"),
        ("bid_sensitive", "i8"),
        ("bias", "f8", (4,)),
        ("slope", "f8"),
        ("noise", "f8"),
        ("nil_limits", "i8", (3,)),
        ("iterations", "i8"),
        ("infer", "i8"),
        ("exploration", "f8"),
    ],
    align=True,
)

# docs/agents/bis.md and rb.md say how these were found.
CALIBRATED: dict[str, dict[str, Any]] = {
    "bis": {"bias": (-0.4, -0.4, -0.4, -0.4), "slope": -0.1},
    "rb": {"bias": (-0.38, -0.38, -0.38, -0.38)},
    "learned": {"bias": (-0.4, -0.4, -0.4, -0.4), "slope": -0.1},
    "uct": {"bias": (-0.4, -0.4, -0.4, -0.4), "slope": -0.1},
}


@dataclass(frozen=True)
class Bidder:
    """A bidding algorithm. Only ``kind`` matters to IO and random, RB reads ``bias``, ``slope`` and ``nil_limits``."""

    kind: str = "bis"
    nil_threshold: float = 25.0  # points (section 4)
    single_curve: bool = False  # 5.3.1: one success curve whatever was bid before
    endgame: bool = True  # 4.4, G.1
    conventions: bool = True  # G.2: Big 5 and Big 6
    blind: bool = True  # G.3
    bid_sensitive: bool = False  # BIS*, 5.3.3
    bias: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # added to the takes of the 1st ... 4th bidder
    slope: float = 0.0  # ... and this for each trick the earlier bids are above their mean
    nil_limits: tuple[int, int, int] = (5, 8, 10)  # RB, MS: highest ranks of the three lowest cards of a suit (F.2)
    noise: float = 0.0  # chance of an exploring bid (4.3)
    iterations: int = 200  # rollouts a bid of UCT
    infer: bool = False  # UCT weights deals by the bids already made
    exploration: float = 30.0  # C of UCT, points

    @classmethod
    def named(cls, kind: str, **changes: Any) -> "Bidder":
        """The bidder of that kind with the calibrated ``bias`` and ``slope`` the paper does not give."""
        return cls(kind=kind, **{**CALIBRATED.get(kind, {}), **changes})

    def record(self) -> Table:
        """The numbers as kernels read them."""
        if self.kind not in KINDS:
            raise ValueError(f"unknown bidder {self.kind!r}; choose from {', '.join(KINDS)}")
        record = allocate(BIDDER, 1)
        for name in BIDDER.names or ():
            if name not in ("kind", "curve", "infer"):
                record[name][0] = getattr(self, name)
        record["kind"][0] = KINDS.index(self.kind)
        record["curve"][0] = int(self.single_curve)
        record["infer"][0] = 2 * int(self.infer)
        return record[0]
