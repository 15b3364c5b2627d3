"""``expert``: the calls of four bidding systems, learned by one network that is given the system of either side.

A supervised policy on recorded auctions, as ``sl``, of which every pair plays one of ``bidder.SYSTEMS`` and knows what
the other plays. What it sees is ``BIDDER1375`` and the two systems, ``SYSTEMS288``. For a pair that stays with its
system, and against another, the entries of the systems are constants beside the first bid of each side: ``of_systems``
adds them up, and what remains is a network of ``BIDDER1375`` alone, which plays, is searched with and goes on learning
like any other.

The experts are yardsticks. Two of them are held out (``HELD_OUT``): agents are measured against them
and are never trained against them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from bidzoo.agents.bridge.network import (
    Architecture,
    Network,
    NetworkPolicy,
    Shapes,
    Weights,
    packaged_network,
    weights_of,
)
from bidzoo.core.cards import NUM_BIDS, NUM_CALLS
from bidzoo.core.kernels import I8
from bidzoo.core.options import Checked, Count, Range, Weight, checked, index_of
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS, SYSTEMS288

# No agent is trained, selected or tuned on these: a gain against them is one against unknown opponents.
HELD_OUT = ("expert-polish", "expert-acol")
IMITATIONS = ("sl", "sl-wide", "sl-small", "expert-sayc", "expert-21gf", *HELD_OUT, "expert-light")
HELD_OUT_SELF_TAUGHT = "jps-rpi"  # neither on this file of the repository's experiments/weights


def imitation_note(names: Iterable[str]) -> str:
    """A line that names those of ``names`` that imitate a program; empty if there is none."""
    met = [name for name in dict.fromkeys(names) if name in IMITATIONS]
    if not met:
        return ""
    if len(met) == 1:
        return f"{met[0]} is a network that imitates a bridge program: an easier opponent than the program itself"
    return f"{' and '.join(met)} are networks that imitate a bridge program: easier opponents than the program itself"


def refuse_held_out(*agents: str | None) -> None:
    """ValueError if one of ``agents``, of which something is to be learned, has the name of a held-out opponent."""
    for name in agents:
        named = {Path(part.strip()).stem for part in re.split(r"[=(),]", name or "")}  # options too: bmcs(policy=...)
        if named & {*HELD_OUT, HELD_OUT_SELF_TAUGHT}:
            raise ValueError(
                f"{name}: a held-out opponent: no agent is trained, selected or tuned on it; choose another"
            )


# ---- the network -------------------------------------------------------------------------

BIDS = NUM_BIDS + 1  # of a side: none, or its first bid
SIDE = BIDDER1375.start("side's bid")


@dataclass(frozen=True)
class Experts(Checked):
    """What the network of all systems is made of."""

    width: Count = 512
    depth: Count = 3
    kind: Literal["mlp", "stages"] = "mlp"  # of ``network.Architecture``

    @property
    def plain(self) -> Architecture:
        """The network of two given systems."""
        return Architecture("bidder1375", NUM_CALLS, self.kind, self.width, self.depth)

    @property
    def shapes(self) -> Shapes:
        """Shapes of ``plain``, with the entries of the systems behind the others."""
        return {**self.plain.shapes, "layers.0.weight": (self.width, BIDDER1375.size + SYSTEMS288.size)}


class ExpertNetwork(Weights):
    """The network of all systems."""

    form = "bidzoo bridge experts 1"
    made_of = Experts

    def of_systems(self, ours: int, theirs: int) -> Network:
        """The network of a side that plays system ``ours`` against ``theirs``, numbers in ``SYSTEMS``."""
        weight = self.tensors["layers.0.weight"]
        first = weight[:, : BIDDER1375.size].copy()
        for side, system in enumerate((ours, theirs)):
            start = BIDDER1375.size + BIDS * (len(SYSTEMS) * side + system)
            first[:, SIDE + BIDS * side : SIDE + BIDS * (side + 1)] += weight[:, start : start + BIDS]
        return Network(self.architecture.plain, {**self.tensors, "layers.0.weight": first})


# ---- as players --------------------------------------------------------------------------


@cache
def _packaged(ours: int, theirs: int) -> Network:
    return packaged_network("expert", ExpertNetwork).of_systems(ours, theirs)


class Expert(NetworkPolicy):
    """A pair that plays one of the systems, against another."""

    name = "expert"

    @checked
    def __init__(
        self,
        system: str = "sayc",
        theirs: str = "sayc",
        overbid: Annotated[int, Range(0, 10)] = 0,
        weights: str | Path | ExpertNetwork | None = None,
        temperature: Weight = 0.0,
        name: str | None = None,
    ) -> None:
        """Args:
        system: of this pair, one of ``bidder.SYSTEMS``.
        theirs: system of the opponents, as far as this pair knows.
        overbid: points that it believes to hold beside its own until its side has bid: it opens and overcalls with so
            many less, and its partner knows nothing of it.
        weights: file of all systems' weights, the network, or None for the packaged ones.
        temperature: of the softmax calls are sampled from; 0 takes the likeliest call.
        name: what result tables call it; default ``expert-SYSTEM``.
        """
        self.system, self._systems = system, (index_of("system", system, SYSTEMS), index_of("system", theirs, SYSTEMS))
        super().__init__(weights, temperature, name or f"expert-{system}")
        self.overbid = overbid

    def _read(self) -> Network:
        if self._weights is None:
            return _packaged(*self._systems)
        return weights_of(self._weights, ExpertNetwork).of_systems(*self._systems)

    def __repr__(self) -> str:
        ours, theirs = (SYSTEMS[number] for number in self._systems)
        over = f", overbids by {self.overbid} points" if self.overbid else ""
        return f"<{self.name}: {ours} against {theirs}{over}, temperature {self.temperature}>"

    def adjust(self, x: I8) -> None:
        if self.overbid:
            overbid(x, self.overbid)


expert_sayc, expert_21gf, expert_polish, expert_acol = (partial(Expert, system) for system in SYSTEMS)
expert_light = partial(Expert, "sayc", overbid=4, name="expert-light")

_ENTRIES = BIDDER1375.split(np.arange(BIDDER1375.size))
_WEIGHED = tuple(_ENTRIES[name] for name in ("points", "length points", "support points", "rule"))


def overbid(x: I8, points: int) -> None:
    """Raise the counts of points in observations ``x`` ``[B, 1375]`` of sides that have not bid, in place."""
    silent = x[:, SIDE] == 1
    for group in _WEIGHED:
        columns = x[:, group[0] : group[-1] + 1]
        count = np.minimum(columns.argmax(1) + points, len(group) - 1)
        raised = np.zeros_like(columns)
        raised[np.arange(len(x)), count] = 1
        columns[silent] = raised[silent]
