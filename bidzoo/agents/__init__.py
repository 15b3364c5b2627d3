"""Agents by name. Entries are strings: an agent is imported when it is made."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bidzoo.agents.policy import Policy


@dataclass(frozen=True)
class Entry:
    """Where an agent lives and what it is."""

    factory: str  # "module:callable"; called with the options of ``make``
    summary: str


AGENTS: dict[str, Entry] = {
    "random": Entry("bidzoo.agents.uniform:Uniform", "uniform legal actions; plays any game"),
    "pass": Entry("bidzoo.agents.bridge.always_pass:Pass", "bridge: never bids"),
    "sayc": Entry("bidzoo.agents.bridge.sayc:Sayc", "bridge: natural rules, Standard American Yellow Card"),
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


def resolve(policy: str | Policy) -> Policy:
    """A policy as it is, or the agent of that name."""
    if isinstance(policy, str):
        return make(policy)
    if not isinstance(policy, Policy):
        raise TypeError(f"not a policy: {policy!r} (expected an agent's name or an object with name and act())")
    return policy
