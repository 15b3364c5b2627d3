"""What an agent knows and thinks at one decision, for people to look at.

An agent that has something to say has a method ``thoughts(views, legal, rng) -> Thoughts`` for views ``[1]``. For
the others ``thoughts_of`` reads what they are made of: ``probabilities(views, legal)`` (a chance for each action
``[1, A]``), ``explain(view)`` (text about one record), a tabular strategy with the belief that follows from it, the
numbers behind a Spades bid. Where the agent itself has no belief about the hidden cards, that of the ``belief`` network
stands in during a bridge auction, and elsewhere that of the rules alone: deals that fit the public history, all equally
likely.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.cards import held
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.bridge.state import VIEW as BRIDGE_VIEW
from bidzoo.envs.game import Game
from bidzoo.kernels import F64, I8, U64, Tables
from bidzoo.streams import Streams

DEALS = 200  # drawn for the belief of the rules alone
SAMPLES = 3  # of them shown


@dataclass(frozen=True)
class Bars:
    """Labelled numbers under a title; ``kind`` "chance" (0 ... 1) or the unit of the values."""

    title: str
    rows: tuple[tuple[str, float], ...]
    kind: str = "chance"


@dataclass(frozen=True)
class Curve:
    """A line through points ``(x, y)`` and where this decision stands on it."""

    title: str
    across: str  # what x is
    up: str  # what y is
    points: tuple[tuple[float, float], ...]
    here: tuple[float, float]


@dataclass(frozen=True)
class Thoughts:
    """What an agent says about one decision; every part may be empty."""

    text: str = ""  # in words
    chances: Mapping[int, float] = field(default_factory=dict)  # probability of each legal action
    values: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # action: mean, standard error (nan: none)
    unit: str = ""  # of the values
    facts: tuple[tuple[str, str], ...] = ()  # numbers with a name
    bars: tuple[Bars, ...] = ()
    curve: Curve | None = None
    belief: Mapping[int, F64] = field(default_factory=dict)  # seat: chance [52] that it holds each card
    belief_source: str = ""
    samples: tuple[Mapping[int, int], ...] = ()  # deals it considers: seat: hand bits


def thoughts_of(policy: Policy, game: Game, views: Tables, legal: I8, rng: Streams) -> Thoughts:
    """Thoughts of ``policy`` about views ``[1]`` with ``legal`` ``[1, A]``; ``rng`` is copied, not consumed."""
    own: Callable[..., Thoughts] | None = getattr(policy, "thoughts", None)
    found = own(views, legal, rng[:]) if own is not None else _read(policy, views, legal, rng[:])
    if found.belief or "hand" not in (views.dtype.names or ()) or not views["hand"][0]:
        return found
    if views.dtype == BRIDGE_VIEW and int(views["phase"][0]) == AUCTION and (belief := _learned_belief(views)):
        return replace(found, belief=belief, belief_source="the belief network, from the hand and the calls")
    return _with_belief(found, game, views, rng[:])


def _read(policy: Policy, views: Tables, legal: I8, rng: Streams) -> Thoughts:
    """What can be read off a policy that does not speak."""
    from bidzoo.agents.spades.policy import SpadesPolicy
    from bidzoo.agents.tabular.policy import TablePolicy
    from bidzoo.agents.tabular.solver import Solved

    if isinstance(policy, SpadesPolicy):
        from bidzoo.agents.spades.thoughts import spades_thoughts

        return spades_thoughts(policy, views, rng)
    if isinstance(policy, Solved | TablePolicy):
        from bidzoo.agents.tabular.thoughts import table_thoughts

        return table_thoughts(policy, views)
    found = Thoughts(text=_explained(policy, views))
    if hasattr(policy, "probabilities"):
        return replace(found, chances=chances_of(policy.probabilities(views, legal), legal))
    if policy.name == "random":
        return replace(
            found, text="Every legal action is equally likely.", chances=chances_of(legal / legal.sum(), legal)
        )
    return found


def chances_of(probabilities: Any, legal: I8) -> dict[int, float]:
    """``{action: chance}`` of the legal actions in ``[1, A]``; actions beyond the policy's own get 0."""
    row = np.asarray(probabilities, np.float64)[0]
    return {int(a): float(row[a]) if a < len(row) else 0.0 for a in np.flatnonzero(legal[0])}


def _explained(policy: Policy, views: Tables) -> str:
    explain = getattr(policy, "explain", None)
    if explain is None:
        return ""
    return str(explain(views[0]))


# ---- beliefs about cards ---------------------------------------------------------------------


def _learned_belief(views: Tables) -> dict[int, F64]:
    """Chances by seat of the packaged belief network; nothing where it is not packaged."""
    from bidzoo.agents.bridge import weights
    from bidzoo.agents.bridge.belief import WHO, Belief

    if not (weights.PACKAGED / "belief.safetensors").exists():
        return {}
    chances = Belief().probabilities(views)[0]
    me = int(views["seat"][0])
    return {(me + who) % 4: np.asarray(chances[k], np.float64) for k, who in enumerate(WHO)}


def _with_belief(found: Thoughts, game: Game, views: Tables, rng: Streams) -> Thoughts:
    """``found`` with the deals that the rules allow, all equally likely."""
    states = _worlds(game, views, rng)
    me = int(views["seat"][0])
    shown = "held" if int(views["plays"][0]) else "hands"
    seats = [seat for seat in range(4) if seat != me and not _is_faced(game, views, seat)]
    cards = held(states[shown])  # [D, 4, 52]
    belief = {seat: np.asarray(cards[:, seat].mean(axis=0), np.float64) for seat in seats}
    samples = tuple({seat: int(states[shown][d, seat]) for seat in seats} for d in range(SAMPLES))
    source = f"{DEALS} deals that fit the rules and what was seen; bids are not read"
    return replace(found, belief=belief, belief_source=source, samples=found.samples or samples)


def _worlds(game: Game, views: Tables, rng: Streams) -> Tables:
    keys: U64 = (rng.random(DEALS)[0] * 2.0**53).astype(np.uint64)
    states = game.new(DEALS)
    game.determinize(np.repeat(views, DEALS), keys, states)
    return states


def _is_faced(game: Game, views: Tables, seat: int) -> bool:
    """``seat`` is dummy, whose cards everybody sees."""
    names = views.dtype.names or ()
    return "dummy" in names and int(views["plays"][0]) > 0 and (int(views["declarer"][0]) + 2) % 4 == seat
