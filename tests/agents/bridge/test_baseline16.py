"""``baseline16`` as a player among opponents: what it makes of their bids, and how well it bids alone."""

import numpy as np
from trainers.partners import mean_cost

from bidzoo import agents
from bidzoo.agents.bridge.baseline16 import Architecture, Baseline16, Networks
from bidzoo.core.cards import FIRST_BID, NUM_CALLS
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge


def random_networks(architecture, seed=0):
    """Networks whose first layers see something, with costs around one half."""
    draw = np.random.default_rng(seed)
    tensors = {name: draw.normal(0, 0.3, shape).astype(np.float32) for name, shape in architecture.shapes.items()}
    return Networks(architecture, tensors)


def states_after(*auction):
    """Twenty boards of the whole game after calls in our numbers, North dealing, and who calls next."""
    game = Bridge(False, deals="validation")
    states, out = game.new(20), game.buffers(20)
    game.begin(states, 4 * np.arange(20), 0, out)
    for call in auction:
        game.step(states, np.full(20, call), 0, out, 0)
    return game, game.view_of(states, out.player.astype(np.int64)), out.mask.copy()


def act(policy, views, mask):
    return policy.act(views, mask, Streams.at(0, views["board"].astype(np.int64), 0))


def test_a_bid_that_opponents_made_too_low_is_a_pass():
    """1S of North's hands, whatever they are; after 1H it is still 1S, after 1NT a pass, and never a double."""
    architecture = Architecture(2, 4, 1)
    tensors = {name: np.zeros(shape, np.float32) for name, shape in architecture.shapes.items()}
    for t in range(2):
        tensors[f"{t}.1.bias"] = np.where(np.arange(36) == 4, 0.1, 0.15).astype(np.float32)  # 1S
    policy = Baseline16(Networks(architecture, tensors))
    spade, heart, notrump = FIRST_BID + 3, FIRST_BID + 2, FIRST_BID + 4
    for before, call in (((), spade), ((0, heart), spade), ((0, notrump), 0), ((0, notrump, 1, 2), 0), ((0, 0), spade)):
        _, views, mask = states_after(*before)
        assert (act(policy, views, mask) == call).all(), before
    tensors["0.1.bias"] += np.float32(0.15)  # more than RESIGN
    costly = Baseline16(Networks(architecture, tensors))
    for before, call in (((), spade), ((heart,), 0)):
        _, views, mask = states_after(*before)
        assert (act(costly, views, mask) == call).all(), before


def test_it_passes_behind_the_last_position():
    policy = Baseline16(random_networks(Architecture(1, 8, 1), 4))
    _, views, mask = states_after(FIRST_BID, 0)
    assert (act(policy, views, mask) == 0).all()


def test_rows_stand_for_themselves():
    policy = Baseline16(random_networks(Architecture(3, 16, 2), 2))
    _, views, mask = states_after(0, 0)
    together = act(policy, views, mask)
    alone = [act(policy, views[b : b + 1], mask[b : b + 1])[0] for b in range(20)]
    assert together.tolist() == alone and len(set(alone)) > 1


def test_the_packaged_one_beats_rules_where_it_learned():
    policy = agents.make("baseline16")
    assert policy.logits(states_after()[1]).shape == (20, NUM_CALLS)
    assert mean_cost(policy, 1000).mean < mean_cost(agents.make("sayc"), 1000).mean
