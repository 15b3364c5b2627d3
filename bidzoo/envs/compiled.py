"""A small game as flat arrays: its public tree and the private types of its two players.

Everything tabular (CFR, JPS, BAD, A2C, the exact solver, Table 1's counts) runs on this one form.
Nodes are numbered so that parents come before children; node 0 is the root. The information set of the
mover at node ``m`` who has type ``x`` is the pair ``(m, x)``.
"""

from dataclasses import dataclass

from bidzoo.kernels import F64, I8, I32


@dataclass(frozen=True)
class Compiled:
    """``M`` public nodes, ``L`` leaves among them, ``A`` actions, ``X`` and ``Y`` types of the players."""

    id: str  # "minibridge_v0(size=4)"
    prior: F64  # [X, Y]     probability of each joint deal; sums to 1
    player: I8  # [M]        who moves; -1 at a leaf
    parent: I32  # [M]        -1 at the root
    action: I32  # [M]        the action that led here; -1 at the root
    depth: I32  # [M]        moves made so far
    child: I32  # [M, A]     -1 where the action is illegal
    leaf: I32  # [M]        row of ``payoff``; -1 at a decision
    payoff: F64  # [L, X, Y]  common reward at each leaf

    @property
    def num_types(self) -> tuple[int, int]:
        """``(X, Y)``."""
        return self.prior.shape[0], self.prior.shape[1]
