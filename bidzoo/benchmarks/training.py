"""What ``bidzoo train`` puts together: data or deals, a trainer, where its inputs come from, and what measures it.

A function here composes the stages of one kind of training from the words of its command. ``choose(Options)`` is the
algorithm's options as ``--set`` gives them. They are chosen before anything large is read. ``experiments/train.py`` has
more such functions.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge import belief, network, sl
from bidzoo.agents.bridge.a2c import ACTOR_CRITIC
from bidzoo.agents.bridge.expert import refuse_held_out
from bidzoo.agents.bridge.network import Network, NetworkPolicy
from bidzoo.agents.bridge.trainer import Options, Trainer
from bidzoo.benchmarks.bridge import contestant
from bidzoo.benchmarks.match import duplicate, made_of
from bidzoo.benchmarks.results import Estimate
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS
from bidzoo.envs.bridge.deals import SPLITS, UNKNOWN, DealSet, packaged
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions
from bidzoo.envs.bridge.game import Bridge

Choose = Callable[..., Any]
Files = list[Path] | None
Names = list[str] | None


class Measurement(NamedTuple):
    """Metrics of a network in the middle of a run, and digests of the players and boards they come from."""

    measure: Callable[[Any], dict[str, float]] | None = None  # None: nothing is measured
    inputs: dict[str, str] = {}


class Stage(NamedTuple):
    """A trainer and all that its run needs; it writes into ``folder`` beneath the run's."""

    trainer: Trainer
    provenance: dict[str, Any]
    measurement: Measurement = Measurement()
    folder: str = ""
    every: int | None = None  # instead of the command's


# ---- from recorded auctions --------------------------------------------------------------


def calls(
    choose: Choose,
    data: Path,
    observation: str,
    kind: Any,
    width: int,
    depth: int,
    activation: Any,
    device: str,
) -> Iterator[Stage]:
    """``sl``: a network fitted to an expert's calls."""
    options = choose(Options, architecture=network.Architecture(observation, NUM_CALLS, kind, width, depth, activation))
    training, validation, provenance = positions(data)
    yield Stage(sl.Trainer(training, validation, options, device=device), provenance)


def cards(
    choose: Choose, data: Path, width: int, depth: int, start: str | None, side: str, device: str
) -> Iterator[Stage]:
    """``belief``: a network fitted to who holds which card."""
    options = choose(Options, architecture=network.Architecture("openspiel480", 3 * NUM_CARDS, "mlp", width, depth))
    initial = network.weights_of(start) if start else None
    training, validation, provenance = positions(data, {"ns": 0, "ew": 1}.get(side))
    yield Stage(belief.Trainer(training, validation, options, initial, device), provenance)


def positions(data: Path, side: int | None = None) -> tuple[Positions, Positions, dict[str, str]]:
    """Positions of the training and of the validation part, and their provenance."""
    auctions = Auctions.load(data)
    training, validation = (Positions(auctions, auctions.split(part), side) for part in ("train", "validation"))
    for name, part in (("training", training), ("validation", validation)):
        if not len(part):
            raise ValueError(f"{data}: none of {len(auctions.hands)} auctions is a {name} one; record more")
    return training, validation, {"data": f"{data.name}, {len(auctions.hands)} auctions"}


# ---- by self-play on solved deals --------------------------------------------------------


def self_play(
    choose: Choose,
    algorithm: Any,
    start: str | None,
    deals: Files,
    boards: int,
    against: Names,
    device: str,
    opponent: Names = None,
    reference: str | None = None,
) -> Iterator[Stage]:
    """A policy that plays itself, and ``opponent`` on a share of the boards; ``reference``: of datum and anchor.

    ``algorithm``: a module with ``Options`` and ``Trainer``.
    """
    options = choose(algorithm.Options)
    against, more = against or ["sl"], dict[str, Any]()
    refuse_held_out(start, reference, *against, *opponent or [])
    initial = None if start is None else named(start)
    observation = (initial.architecture if initial else ACTOR_CRITIC).observation
    training_deals, provenance = training_set(deals)
    provenance |= {"start": start and Path(start).name, "measured_against": names(against)}
    measurement = match(against, boards)
    if opponent:
        policies = [contestant(each) for each in opponent]
        more["opponents"], provenance["opponents"] = policies, names(opponent)
        for number, policy in enumerate(policies, 1):
            measurement.inputs[f"opponent {number}"] = made_of(policy)
    if reference is not None and reference != start:
        more["reference"] = named(reference)
    game = Bridge(False, observation=observation, deals=training_deals)
    yield Stage(algorithm.Trainer(initial, game, options, device, **more), provenance, measurement)


def named(name: str) -> Network:
    """The network of an agent, or else the packaged network of that name, or that of a file."""
    agent = agents.make(name) if name in agents.AGENTS else None
    found: Network = agent.network if isinstance(agent, NetworkPolicy) else network.weights_of(name)
    return found


def names(files: Sequence[str]) -> str:
    """Names of agents and files, for a provenance: folders say nothing elsewhere."""
    return ", ".join(Path(name).name for name in files)


def training_set(files: Files, solved: bool = True) -> tuple[DealSet, dict[str, Any]]:
    """The packaged training deals with those of ``files``, and their provenance.

    Raises:
        ValueError: with ``solved``, a deal whose tricks are not all known; names file and deal.
    """
    sources = ["packaged train split", *(path.name for path in files or [])]
    for path in files or []:
        if str(path) in SPLITS:
            raise ValueError(f"--deals {path}: the packaged train set is always there; expected a file of others")
    sets = [packaged("train"), *map(DealSet.load, files or [])]
    for path, deal_set in zip(files or [], sets[1:]):
        for deal in np.flatnonzero((deal_set.tricks == UNKNOWN).any(1))[:1] if solved else ():
            raise ValueError(f"--deals {path}: deal {deal} has no complete double-dummy table")
    provenance = ", ".join(f"{len(deal_set.hands)} of {name}" for name, deal_set in zip(sources, sets))
    hands, tricks = (np.concatenate(arrays) for arrays in zip(*sets))
    return DealSet.of(hands, tricks, provenance), {"deals": provenance}


def match(against: Sequence[str], boards: int) -> Measurement:
    """IMPs a board of a network over ``against`` on validation deals."""
    if not boards:
        return Measurement(None, {})
    opponents, game = [contestant(name) for name in against], Bridge(False, deals="validation")

    def measure(network: Any) -> dict[str, float]:
        matches = [
            duplicate(game, NetworkPolicy(network), opponent, np.arange(boards), seed=1) for opponent in opponents
        ]
        mean = Estimate.of(np.mean([match.imps for match in matches], axis=0), group=matches[0].deals)
        metrics = {"imps": mean.mean, "imps_error": mean.error}
        if len(opponents) > 1:
            metrics |= {f"imps_{opponent.name}": match.estimate.mean for opponent, match in zip(opponents, matches)}
        return metrics

    inputs = {"opponent": ", ".join(map(made_of, opponents)), "boards of the match": str(boards)}
    return Measurement(measure, inputs)
