"""Learns the packaged weights of the experts, the network of four bidding systems.

    python experiments/expert_training.py system-auctions.npz --more expert-auctions.npz --set learning_rate=0.0025

The data are auctions that name the systems they were bid by: those of ``bidzoo.envs.bridge.formats.auctions`` as
``.npz`` with two arrays more, ``systems`` ``[n, 2]`` of N/S and E/W, numbers in ``bidder.SYSTEMS``, and ``stray``
``[n]``, the turn of one call made at random, 255 where there is none. A *stray* call is nobody's system's choice: it is
not learned from, the calls after it are, since they answer what no book has. A run that is stopped goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer

from bidzoo.agents.bridge import network, trainer
from bidzoo.agents.bridge.expert import BIDS, SIDE, ExpertNetwork, Experts
from bidzoo.benchmarks.training import Stage
from bidzoo.cli import options
from bidzoo.cli.settings import parse
from bidzoo.cli.train import run_stage
from bidzoo.core.arrays import Numbers, Plan, digest, load_npz
from bidzoo.core.kernels import I8, I64, Bool
from bidzoo.core.options import Share
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS, SYSTEMS288, stages
from bidzoo.envs.bridge.deals import Split
from bidzoo.envs.bridge.formats.auctions import PLAN, Auctions, Positions, from_fields

# ---- recorded auctions --------------------------------------------------------------------

_NONE = 255  # in a file: no call is stray
_PLAN: Plan = {
    **PLAN,
    "systems": Numbers(("n", 2), 0, len(SYSTEMS) - 1, np.int8, required=False),
    "stray": Numbers(("n",), 0, _NONE, np.int64, required=False),
}


class SystemAuctions(NamedTuple):
    """``n`` complete auctions and the systems they were bid by."""

    auctions: Auctions
    systems: I8  # [n, 2]  of N/S and of E/W
    stray: I64  # [n]  turn of the random call inserted, -1: none

    @classmethod
    def load(cls, path: str | Path) -> "SystemAuctions":
        """The auctions of a file; ValueError names file, board and what was expected.

        Without ``systems`` and ``stray`` it is SAYC against SAYC, no call stray.
        """
        path = Path(path)
        if path.suffix != ".npz":
            return cls._of_sayc(Auctions.load(path))
        fields = load_npz(path, "an .npz of auctions, perhaps of systems", _PLAN)
        if ("systems" in fields) != ("stray" in fields):
            raise ValueError(f"{path}: {'stray' if 'systems' in fields else 'systems'}: missing; expected both or none")
        auctions = from_fields(fields, str(path))
        if "systems" not in fields:
            return cls._of_sayc(auctions)
        stray, length = fields["stray"], fields["length"]
        for board in np.flatnonzero((stray != _NONE) & (stray >= length))[:1]:
            raise ValueError(
                f"{path}: board {board}: stray {stray[board]}, expected a turn of its {length[board]} calls or {_NONE}"
            )
        return cls(auctions, fields["systems"], np.where(stray == _NONE, -1, stray))

    @classmethod
    def _of_sayc(cls, auctions: Auctions) -> "SystemAuctions":
        return cls(auctions, np.zeros((len(auctions.hands), 2), np.int8), np.full(len(auctions.hands), -1))

    @classmethod
    def join(cls, parts: Sequence["SystemAuctions"]) -> "SystemAuctions":
        """All auctions of ``parts``, one part behind the other."""
        auctions = [part.auctions for part in parts]
        hands, dealer, vulnerable, _, calls = (np.concatenate(column) for column in zip(*auctions, strict=True))
        length = np.concatenate([np.diff(each.start) for each in auctions])
        joined = Auctions(hands, dealer, vulnerable, np.concatenate([[0], np.cumsum(length)]), calls)
        return cls(joined, np.concatenate([part.systems for part in parts]), np.concatenate([p.stray for p in parts]))

    def first(self, count: int) -> "SystemAuctions":
        """The first ``count`` auctions, or all if there are fewer."""
        data = self.auctions
        start = data.start[: count + 1]
        auctions = Auctions(
            data.hands[:count], data.dealer[:count], data.vulnerable[:count], start, data.calls[: start[-1]]
        )
        return SystemAuctions(auctions, self.systems[:count], self.stray[:count])

    def split(self, part: Split) -> I64:
        """Numbers of the auctions of one part, as ``Auctions.split``."""
        return self.auctions.split(part)


class SystemPositions(Positions):
    """Every call of some auctions that a system chose, by number."""

    def __init__(self, data: SystemAuctions, auctions: I64) -> None:
        super().__init__(data.auctions, auctions)
        by_system = self._turn != data.stray[self._auction]
        self._auction, self._turn = self._auction[by_system], self._turn[by_system]
        self._systems, self._stray = data.systems, data.stray

    @property
    def digest(self) -> str:
        """Digest of the auctions, their systems, and the choice of positions from them."""
        return digest({"positions": np.array(super().digest), "systems": self._systems, "stray": self._stray})

    def systems(self, numbers: I64) -> tuple[I64, I64]:
        """Systems of the caller's side and of the other at positions ``numbers`` ``[B]``."""
        auctions = self._auction[numbers]
        side = (self.data.dealer[auctions] + self._turn[numbers]) % 2
        pairs, rows = self._systems[auctions].astype(np.int64), np.arange(len(numbers))
        return pairs[rows, side], pairs[rows, 1 - side]

    def after_stray(self, numbers: I64) -> Bool:
        """Whether a random call was inserted before, ``[B]``."""
        stray = self._stray[self._auction[numbers]]
        return np.asarray((stray >= 0) & (self._turn[numbers] > stray))


# ---- learning ----------------------------------------------------------------------------

_ONES = 90  # entries of a row that are not 0, about
_PARTS = "weight", "bias"
_STEP = 0.5  # of the first weights where several are added up
_CHUNK = 8192  # positions at a time; bounds memory, changes no result
_MEASURED = 20_000  # validation positions


def ones(x: I8, ours: I64, theirs: I64) -> tuple[I64, I64]:
    """Which of the 1663 entries are 1, row by row ``[N]``, and where each row starts ``[B]``.

    ``x`` ``[B, 1375]``: observations of sides that play systems ``ours`` ``[B]`` against ``theirs`` ``[B]``.
    """
    all_entries = np.zeros((len(x), BIDDER1375.size + SYSTEMS288.size), np.bool_)
    all_entries[:, : BIDDER1375.size] = x
    for side, system in enumerate((ours, theirs)):
        bid = x[:, SIDE + BIDS * side : SIDE + BIDS * (side + 1)].argmax(1)
        all_entries[np.arange(len(x)), BIDDER1375.size + BIDS * (len(SYSTEMS) * side + system) + bid] = True
    counts = np.count_nonzero(all_entries, axis=1)
    return np.nonzero(all_entries)[1], np.cumsum(counts) - counts


COUNTS = {  # fields of numbers in rising order, and how many numbers each has: what is true of 7 is nearly so of 8
    "my calls": 1, "points": 1, "length points": 1, "support points": 1, "rule": 1,
    "length": 4, "suit points": 4, "honours": 4, "tops": 4, "aces": 1, "kings": 1, "key cards": 4,
}  # fmt: skip


def count_groups() -> list[I64]:
    """Entries of ``BIDDER1375`` that are values of one number, lowest first, for all such numbers."""
    entries = BIDDER1375.split(np.arange(BIDDER1375.size))
    groups = [group for name, count in COUNTS.items() for group in np.split(entries[name], count)]
    for bid in np.split(entries["bids"], 8):  # first and last of each player
        groups += [bid[:9], bid[9:20]]  # length 0 ... 8+, points 0 ... 10
    return groups


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


def main(
    data: Annotated[Path, typer.Argument(help="Auctions that name the systems (.npz).")],
    more: Annotated[Path | None, typer.Option(help="Auctions of SAYC against SAYC, to learn from too.")] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Most auctions of --more to learn from.")] = None,
    start: Annotated[Path | None, typer.Option(help="File of weights to start from; default: none.")] = None,
    kind: Annotated[Literal["mlp", "stages"], typer.Option(help="Kind of network.")] = "stages",
    width: Annotated[int, typer.Option(min=1, help="Neurons in a layer.")] = 448,
    depth: Annotated[int, typer.Option(min=1, help="Hidden layers.")] = 3,
    settings: options.Set = None,
    every: Annotated[int, typer.Option(min=1, help="Steps between measurements and checkpoints.")] = 1000,
    out: Annotated[Path, typer.Option(help="Folder of checkpoint, curves and weights.")] = Path("runs/expert"),
    threads: options.Threads = 1,
) -> None:
    """Learn the calls of four bidding systems, each against each."""
    chosen = parse(Options, settings, architecture=Experts(width, depth, kind))
    auctions = SystemAuctions.load(data)
    validation = SystemPositions(auctions, auctions.split("validation"))
    source = f"{data.name}, {len(auctions.stray)} auctions"
    if more is not None:
        sayc_auctions = SystemAuctions.load(more)
        sayc_auctions = sayc_auctions.first(most or len(sayc_auctions.stray))
        auctions = SystemAuctions.join([auctions, sayc_auctions])
        source = f"{source}; {more.name}, the first {len(sayc_auctions.stray)}"
    training = SystemPositions(auctions, auctions.split("train"))
    weights = network.load_weights(start, ExpertNetwork)[0] if start else None
    run_stage(Stage(Trainer(training, validation, chosen, weights), {"data": source}), out, every, threads)


if __name__ == "__main__":
    typer.run(main)
