"""``pbl`` as a player among opponents, and how well it bids alone."""

import numpy as np
import pytest
from trainers.partners import mean_cost

from bidzoo import agents
from bidzoo.agents.bridge.pbl import Architecture, Modules, Pbl
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge


@pytest.mark.parametrize("beliefs", [True, False])
def test_it_bids_whole_auctions_legally_row_by_row(beliefs):
    """Random modules in all seats: auctions end, and no row depends on another."""
    architecture, draw = Architecture(6, beliefs, 16, 2), np.random.default_rng(0)
    shapes = architecture.shapes.items()
    policy = Pbl(Modules(architecture, {n: draw.normal(0, 0.3, s).astype(np.float32) for n, s in shapes}))
    game = Bridge(False, deals="validation")
    states, out = game.new(50), game.buffers(50)
    game.begin(states, np.arange(50), 0, out)
    for t in range(40):
        rows = np.flatnonzero(out.mask.any(1))
        if len(rows) == 0:
            break
        views = game.view_of(states[rows], out.player[rows].astype(np.int64))
        streams = Streams.at(0, rows, t)
        calls = policy.act(views, out.mask[rows], streams)
        assert out.mask[rows, calls].all() and not np.isin(calls, (1, 2)).any()
        if t == 3:
            single = [
                policy.act(views[i : i + 1], out.mask[rows[i : i + 1]], streams[[i]])[0] for i in range(len(rows))
            ]
            assert calls.tolist() == single
        actions = np.full(50, -1)
        actions[rows] = calls
        game.step(states, actions, 0, out, 0)
    assert (states["phase"] != 0).all() and states["length"].max() > 5


def test_the_packaged_one_beats_rules_where_it_learned():
    assert mean_cost(agents.make("pbl"), 1000).mean < mean_cost(agents.make("sayc"), 1000).mean


def test_two_agents_are_compared_on_the_same_boards():
    """The row of one does not depend on who stands above it."""
    from bidzoo.benchmarks import bridge_cost

    def rows(*names):
        (table,), _ = bridge_cost.main(names, 200, 0, 1, lambda what, done, total: None)
        return table.rows

    both = rows("baseline16", "pbl")
    assert [row["agent"] for row in both] == ["baseline16", "pbl"] and both[1:] == rows("pbl")
    assert 0 < both[1]["cost, IMPs"].mean < both[0]["cost, IMPs"].mean
