"""What an agent thinks at one decision as the page shows it: what it says itself, and where the hidden cards may be.

Of an agent without a belief about the hidden cards, that of the belief network stands in during a bridge auction, and
elsewhere that of the rules alone: deals that fit the public history, all equally likely.
"""

from dataclasses import replace

import numpy as np

from bidzoo.agents.explanation import Explanation, explained
from bidzoo.agents.policy import Policy
from bidzoo.core.cards import held
from bidzoo.core.kernels import F64, I8, U64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.state import AUCTION
from bidzoo.envs.bridge.state import VIEW as BRIDGE_VIEW
from bidzoo.envs.game import Game

DEALS = 200  # drawn for the belief of the rules alone
SAMPLES = 3  # of them shown


def explanation_of(policy: Policy, game: Game, views: States, legal: I8, rng: Streams) -> Explanation:
    """``policy`` on views ``[1]`` with ``legal`` ``[1, A]``; ``rng`` is copied, not consumed."""
    said = explained(policy, views, legal, rng[:])
    if said.belief or "hand" not in (views.dtype.names or ()) or not views["hand"][0]:
        return said
    if views.dtype == BRIDGE_VIEW and int(views["phase"][0]) == AUCTION and (belief := _learned_belief(views)):
        return replace(said, belief=belief, belief_source="the belief network, from the hand and the calls")
    return _with_belief(said, game, views, rng[:])


def _learned_belief(views: States) -> dict[int, F64]:
    """Chances by seat of the packaged belief network; nothing where it is not packaged."""
    from bidzoo.agents.bridge import network
    from bidzoo.agents.bridge.belief import WHO, Belief

    if not (network.PACKAGED / "belief.safetensors").exists():
        return {}
    chances = Belief().probabilities(views)[0]
    me = int(views["seat"][0])
    return {(me + who) % 4: np.asarray(chances[k], np.float64) for k, who in enumerate(WHO)}


def _with_belief(said: Explanation, game: Game, views: States, rng: Streams) -> Explanation:
    """``said`` with the deals that the rules allow, all equally likely."""
    keys: U64 = (rng.random(DEALS)[0] * 2.0**53).astype(np.uint64)
    states = game.new(DEALS)
    game.determinize(np.repeat(views, DEALS), keys, states)
    hands = states["held" if int(views["plays"][0]) else "hands"]  # [D, 4]
    dummy = -1  # whose cards everybody sees
    if "dummy" in (views.dtype.names or ()) and int(views["plays"][0]) > 0:
        dummy = (int(views["declarer"][0]) + 2) % 4
    hidden = [seat for seat in range(4) if seat not in (int(views["seat"][0]), dummy)]
    cards = held(hands)  # [D, 4, 52]
    belief = {seat: np.asarray(cards[:, seat].mean(axis=0), np.float64) for seat in hidden}
    samples = tuple({seat: int(deal[seat]) for seat in hidden} for deal in hands[:SAMPLES])
    source = f"{DEALS} deals that fit the rules and what was seen; bids are not read"
    return replace(said, belief=belief, belief_source=source, samples=said.samples or samples)
