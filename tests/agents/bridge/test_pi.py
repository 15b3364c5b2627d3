"""``pi`` and ``pi-search``: what they are made of."""

from bidzoo import agents
from bidzoo.agents.bridge.pi import Pi, PiSearch


def test_the_agents():
    policy, search = agents.make("pi"), agents.make("pi-search", r_max=10)
    assert isinstance(policy, Pi) and isinstance(search, PiSearch)
    assert search.policy.name == "pi" and search.options.deals == "uniform" and search.options.r_max == 10
    assert agents.make("bmcs").policy.name == "ppo" and agents.make("pi-search", policy="sl").policy.name == "sl"
