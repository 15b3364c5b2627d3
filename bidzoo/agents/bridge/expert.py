"""``expert``: the calls of four bidding systems, learned by one network that is given the system of either side.

A supervised policy on recorded auctions, as ``sl``, of which every pair plays one of ``bidder.SYSTEMS`` and knows what
the other plays. What it sees is ``BIDDER1375`` and the two systems, ``SYSTEMS288``. For a pair that stays with its
system, and against another, the entries of the systems are constants beside the first bid of each side: ``of_systems``
adds them up, and what remains is a network of ``BIDDER1375`` alone, which plays, is searched with and goes on learning
like any other.

The experts are yardsticks. Two of them are held out (``HELD_OUT``): agents are measured against them
and are never trained against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from bidzoo.agents.bridge import network, trainer
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
from bidzoo.core.kernels import F32, I8, I64, Bool, States
from bidzoo.core.options import Checked, Count, Range, Share, Weight, checked, choose_from
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS, SYSTEMS288, count_groups, field_groups, stages
from bidzoo.envs.bridge.formats.auctions import SystemPositions

# No agent is trained, selected or tuned on these: a gain against them is one against unknown opponents.
HELD_OUT = ("expert-polish", "expert-acol")
HELD_OUT_SELF_TAUGHT = "jps-rpi"  # neither on this file of the repository's experiments/weights


def refuse_held_out(*agents: str | None) -> None:
    """ValueError if one of ``agents``, of which something is to be learned, is a held-out opponent."""
    for name in agents:
        if name and Path(name.rpartition("=")[2].strip()).stem in (*HELD_OUT, HELD_OUT_SELF_TAUGHT):
            raise ValueError(
                f"{name}: a held-out opponent: no agent is trained, selected or tuned on it; choose another"
            )


# ---- the network -------------------------------------------------------------------------

_BIDS = NUM_BIDS + 1  # of a side: none, or its first bid
_SIDE = BIDDER1375.start("side's bid")


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
            start = BIDDER1375.size + _BIDS * (len(SYSTEMS) * side + system)
            first[:, _SIDE + _BIDS * side : _SIDE + _BIDS * (side + 1)] += weight[:, start : start + _BIDS]
        return Network(self.architecture.plain, {**self.tensors, "layers.0.weight": first})


def ones(x: I8, ours: I64, theirs: I64) -> tuple[I64, I64]:
    """Which of the 1663 entries are 1, row by row ``[N]``, and where each row starts ``[B]``.

    ``x`` ``[B, 1375]``: observations of sides that play systems ``ours`` ``[B]`` against ``theirs`` ``[B]``.
    """
    all_entries = np.zeros((len(x), BIDDER1375.size + SYSTEMS288.size), np.bool_)
    all_entries[:, : BIDDER1375.size] = x
    for side, system in enumerate((ours, theirs)):
        bid = x[:, _SIDE + _BIDS * side : _SIDE + _BIDS * (side + 1)].argmax(1)
        all_entries[np.arange(len(x)), BIDDER1375.size + _BIDS * (len(SYSTEMS) * side + system) + bid] = True
    counts = np.count_nonzero(all_entries, axis=1)
    return np.nonzero(all_entries)[1], np.cumsum(counts) - counts


# ---- as players --------------------------------------------------------------------------


@cache
def _packaged(ours: int, theirs: int) -> Network:
    return packaged_network("expert", ExpertNetwork).of_systems(ours, theirs)


def system_number(name: str) -> int:
    """Place of a system in ``SYSTEMS``; ValueError names the choices."""
    if name not in SYSTEMS:
        raise ValueError(f"unknown system {name!r}; {choose_from(name, SYSTEMS)}")
    return SYSTEMS.index(name)


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
        self.system, self._systems = system, (system_number(system), system_number(theirs))
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

    def logits(self, views: States) -> F32:
        """Logits ``[B, 38]`` of all calls, legal or not."""
        net = self.network
        x = net.architecture.encoder(views)
        if self.overbid:
            overbid(x, self.overbid)
        return net(x)


expert_sayc, expert_21gf, expert_polish, expert_acol = (partial(Expert, system) for system in SYSTEMS)
expert_light = partial(Expert, "sayc", overbid=4, name="expert-light")

_WEIGHED = tuple(field_groups(name)[0] for name in ("points", "length points", "support points", "rule"))


def overbid(x: I8, points: int) -> None:
    """Raise the counts of points in observations ``x`` ``[B, 1375]`` of sides that have not bid, in place."""
    silent = x[:, _SIDE] == 1
    for group in _WEIGHED:
        part = x[:, group.start : group.stop]
        count = np.minimum(part.argmax(1) + points, len(group) - 1)
        raised = np.zeros_like(part)
        raised[np.arange(len(x)), count] = 1
        part[silent] = raised[silent]


# ---- learning ----------------------------------------------------------------------------

_ONES = 90  # entries of a row that are not 0, about
_PARTS = "weight", "bias"
_STEP = 0.5  # of the first weights where several are added up
_CHUNK = 8192  # positions at a time; bounds memory, changes no result
_MEASURED = 20_000  # validation positions


def module(experts: Experts, seed: int, dropout: float = 0.0) -> Any:
    """The torch module, learning. Where entries count a number, the weights of a value are those of the one below and a
    step. ``dropout``: share of hidden outputs that are dropped."""
    import torch

    groups = count_groups()
    count_entries = torch.tensor([entry for group in groups for entry in group])
    ends = np.cumsum([len(group) for group in groups])
    starts = torch.tensor([end - len(group) for end, group in zip(ends, groups) for _ in group])
    plain = network.module(experts.plain, seed, last_scale=0.1)

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            generator = torch.Generator().manual_seed(seed)
            shape = (BIDDER1375.size + SYSTEMS288.size, experts.width)
            steps = torch.empty(shape).normal_(0.0, (2.0 / _ONES) ** 0.5, generator=generator)
            steps[count_entries] *= _STEP
            self.steps = torch.nn.Parameter(steps)
            self.bias = torch.nn.Parameter(torch.zeros(experts.width))
            self.layers = torch.nn.ModuleList(plain.layers[1:])

        def table(self) -> Any:
            """First layer ``[1663, W]``."""
            sums = torch.nn.functional.pad(self.steps[count_entries].cumsum(0), (0, 0, 1, 0))
            return self.steps.index_copy(0, count_entries, sums[1:] - sums[starts])

        def forward(self, places: Any, starts: Any, stage: Any) -> Any:
            first = torch.nn.functional.embedding_bag(places, self.table(), starts, mode="sum") + self.bias
            hidden = self.activation(first)
            with torch.autocast("cpu", torch.bfloat16, enabled=network.has_bfloat16("cpu")):
                return network.later_layers(self.layers, hidden, stage, self.activation).float()

        def activation(self, hidden: Any) -> Any:
            """ReLU, with dropout."""
            hidden = torch.relu_(hidden)
            return torch.nn.functional.dropout(hidden, dropout) if dropout else hidden

    return Module()


def load(model: Any, player: ExpertNetwork) -> None:
    """Put the weights of a network into a torch module: ``network_of`` the other way round."""
    tensors = player.tensors
    table = np.ascontiguousarray(tensors["layers.0.weight"].T)
    steps = table.copy()
    for group in count_groups():
        steps[group[1:]] -= table[group[:-1]]
    later = {module_name: tensors[name] for module_name, name in _later_layers(player.architecture)}
    network.load_arrays(model, {"steps": steps, **later})


def network_of(experts: Experts, model: Any) -> ExpertNetwork:
    """A torch module as a network that plays without torch."""
    weights = network.arrays(model)
    first = np.ascontiguousarray(model.table().detach().numpy().T)
    later = {name: weights[module_name] for module_name, name in _later_layers(experts)}
    return ExpertNetwork(experts, {"layers.0.weight": first, **later})


def _later_layers(experts: Experts) -> list[tuple[str, str]]:
    """Names in the torch module and in the network of all tensors but the table."""
    layers = [(f"layers.{n}.{part}", f"layers.{n + 1}.{part}") for n in range(experts.depth) for part in _PARTS]
    return [("bias", "layers.0.bias"), *layers]


@dataclass(frozen=True)
class Options(trainer.Options):
    """Of a fit of calls."""

    dropout: Share = 0.0  # of the outputs of hidden layers, dropped at random while learning


class Trainer(trainer.Fit):
    """Fits the calls that systems chose, in ``SystemPositions``; on the CPU."""

    algorithm = "expert"
    options: Options

    def module(self) -> Any:
        """The torch module, with random weights."""
        return module(self.options.architecture, self.options.seed, self.options.dropout)

    def load(self, start: Any) -> None:
        """Put the weights of ``start``, an ``ExpertNetwork``, into the model."""
        load(self.model, start)

    def loss(self, numbers: I64) -> Any:
        """Cross-entropy of the calls, nats."""
        import torch

        if self.options.dropout:
            torch.manual_seed(int(numbers.sum()))  # what is dropped depends on the positions alone
        views, legal, calls = self.learn.at(numbers)
        x = self.options.architecture.plain.encoder(views)
        logits = self.learner(*map(torch.from_numpy, (*ones(x, *self.learn.systems(numbers)), stages(x))))
        logits = logits.masked_fill(torch.from_numpy(legal) == 0, -1e9)
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(calls))

    def player(self) -> ExpertNetwork:
        """The network."""
        return network_of(self.options.architecture, self.model)

    def measure(self, player: ExpertNetwork) -> dict[str, float]:
        """Share of the calls made that are the likeliest legal ones, at validation positions: of all, before a random
        call was inserted, after it."""
        numbers = np.arange(min(_MEASURED, len(self.check)))
        right, after = right_calls(self.check, player, numbers), self.check.after_stray(numbers)
        parts = {"accuracy": right, "accuracy_before": right[~after], "accuracy_after": right[after]}
        return {name: float(part.mean()) for name, part in parts.items() if len(part)}


def right_calls(positions: SystemPositions, player: ExpertNetwork, numbers: I64) -> Bool:
    """Whether the likeliest legal call at positions ``numbers`` ``[B]`` is the one made, ``[B]``."""
    right = np.zeros(len(numbers), np.bool_)
    pairs = np.stack(positions.systems(numbers), axis=1)
    for pair in np.unique(pairs, axis=0):
        net = player.of_systems(*pair.tolist())
        rows = np.flatnonzero((pairs == pair).all(1))
        for part in np.split(rows, range(_CHUNK, len(rows), _CHUNK)):
            views, legal, calls = positions.at(numbers[part])
            logits = np.where(legal > 0, net(net.architecture.encoder(views)), -np.inf)
            right[part] = logits.argmax(1) == calls
    return right
