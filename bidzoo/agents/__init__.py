"""Agents by name. Entries are strings: an agent is imported when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


@dataclass(frozen=True)
class Entry:
    """Where an agent lives, what it is and what it plays."""

    factory: str  # "module:callable"; called with the options of ``make``
    summary: str
    games: tuple[str, ...]  # ids


BRIDGE = ("bridge_bidding_v0", "bridge_v0")
SPADES = ("spades_v0",)
SMALL = ("comm_v0", "mini_hanabi_v0", "minibridge_v0", "simple_bidding_v0")

AGENTS: dict[str, Entry] = {
    "random": Entry("bidzoo.agents.policy:Uniform", "uniform legal actions", (*BRIDGE, *SPADES, *SMALL)),
    "pass": Entry("bidzoo.agents.bridge.sayc:Pass", "never bids", BRIDGE[:1]),
    "sayc": Entry("bidzoo.agents.bridge.sayc:Sayc", "natural rules, Standard American Yellow Card", BRIDGE[:1]),
    "sl": Entry("bidzoo.agents.bridge.sl:Supervised", "network taught by expert auctions", BRIDGE[:1]),
    "rl": Entry("bidzoo.agents.bridge.rl:Rl", "network from sl by actor-critic self-play with replay", BRIDGE[:1]),
    "ppo": Entry("bidzoo.agents.bridge.ppo:Ppo", "network from sl by self-play against its past", BRIDGE[:1]),
    "bmcs": Entry("bidzoo.agents.bridge.bmcs:Bmcs", "ppo with belief Monte Carlo search at the table", BRIDGE[:1]),
    "rl-mcs": Entry("bidzoo.agents.bridge.bmcs:RlMcs", "the same search without the belief network", BRIDGE[:1]),
    "a2c-bridge": Entry("bidzoo.agents.bridge.a2c:A2c", "actor-critic from nothing", BRIDGE[:1]),
    "jps-bridge": Entry("bidzoo.agents.bridge.jps:Jps", "as a2c-bridge, with joint search in training", BRIDGE[:1]),
    "bis": Entry("bidzoo.agents.spades.policy:bis", "Bidding in Spades: BIS bids, SRP plays", SPADES),
    "rb": Entry("bidzoo.agents.spades.policy:rb", "rule-based bids, SRP plays", SPADES),
    "ms": Entry("bidzoo.agents.spades.policy:ms", "the bids of the book Master Spades, SRP plays", SPADES),
    "io": Entry("bidzoo.agents.spades.policy:io", "the bids of cardgames.io, SRP plays", SPADES),
    "srp": Entry("bidzoo.agents.spades.policy:srp", "BIS bids, the strong rule-based player plays", SPADES),
    "wrp": Entry("bidzoo.agents.spades.policy:wrp", "BIS bids, the weak rule-based player plays", SPADES),
    "uct": Entry("bidzoo.agents.spades.policy:uct", "BIS bids, tree search plays", SPADES),
    "learned": Entry("bidzoo.agents.spades.policy:learned", "bids learned by self-play, SRP plays", SPADES),
    "cfr": Entry("bidzoo.agents.tabular.cfr:agent", "counterfactual regret minimisation, 1000 iterations", SMALL),
    "jps": Entry("bidzoo.agents.tabular.jps:agent", "joint policy search from CFR", SMALL),
    "bad": Entry("bidzoo.agents.tabular.bad:agent", "Bayesian action decoder", SMALL),
    "a2c": Entry("bidzoo.agents.tabular.a2c:agent", "advantage actor-critic self-play", SMALL),
    "exact": Entry("bidzoo.agents.tabular.exact:agent", "the proved optimum", SMALL),
}


def available() -> tuple[str, ...]:
    """Every name ``make`` accepts."""
    return tuple(AGENTS)


def make(name: str, **options: Any) -> Policy:
    """The agent called ``name`` with its ``options``; KeyError names the choices."""
    if name not in AGENTS:
        raise KeyError(f"unknown agent {name!r}; choose from {', '.join(AGENTS)}")
    module, attribute = AGENTS[name].factory.split(":")
    policy: Policy = getattr(import_module(module), attribute)(**options)
    return policy


def resolve(policy: str | Policy, game: str | None = None) -> Policy:
    """A policy as it is, or the agent of that name, which must play ``game`` (an id) if one is given.

    Raises:
        KeyError: no agent of that name.
        ValueError: it does not play ``game``; names those that do.
        TypeError: neither a name nor a policy.
    """
    if isinstance(policy, str):
        fit = [name for name, entry in AGENTS.items() if game is None or game in entry.games]
        if policy not in AGENTS:
            raise KeyError(f"unknown agent {policy!r}; choose from {', '.join(fit)}")
        if policy not in fit:
            raise ValueError(f"agent {policy!r} does not play {game}; choose from {', '.join(fit)}")
        return make(policy)
    from bidzoo.agents.policy import Policy

    if not isinstance(policy, Policy):
        raise TypeError(f"not a policy: {policy!r} (expected an agent's name or an object with name and act())")
    return policy
