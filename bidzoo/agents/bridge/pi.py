"""``pi``: policy iteration with search in training. Lockhart et al. 2020, *Human-Agent Cooperation in Bridge Bidding*.

The supervised policy bids boards against itself. Where it hesitates, the call is searched as by ``bmcs`` at the table.
The policy learns the result of the search, and the next boards are bid, and searched, by the policy that has learned
(``experiments/trainers/pi.py``). ``pi-search`` searches with ``pi`` at the table too.
"""

from bidzoo.agents.bridge.bmcs import RlMcs
from bidzoo.agents.bridge.network import NetworkPolicy


class Pi(NetworkPolicy):
    """The policy network of policy iteration."""

    name = "pi"


class PiSearch(RlMcs):
    """``pi`` with a search at the table, of deals sampled uniformly."""

    name = "pi-search"
    proposer = "pi"
