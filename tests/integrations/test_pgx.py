"""Pgx's bridge bidding beside ours on the same boards: who calls, what is legal, what is seen, what is paid."""

import contextlib
import io

import numpy as np
import pytest
from other_suites import write_pgx_table

from bidzoo.core.cards import TO_PGX, VULNERABILITIES
from bidzoo.envs.bridge.deals import packaged
from bidzoo.envs.bridge.game import OPTIONS, Bridge
from bidzoo.envs.game import read_options

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]
AUCTIONS = 300


@pytest.fixture(scope="module")
def pgx(tmp_path_factory):
    """Jitted ``init`` and ``step`` of many tables; Pgx reads our test deals."""
    jax = pytest.importorskip("jax")
    module = pytest.importorskip("pgx.bridge_bidding")
    path = tmp_path_factory.mktemp("pgx") / "table.npy"
    write_pgx_table(path)
    with contextlib.redirect_stderr(io.StringIO()):
        env = module.BridgeBidding(str(path))
    with np.errstate(all="ignore"):
        yield (
            jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(3), AUCTIONS)),
            jax.jit(jax.vmap(env.step)),
        )


def same_boards(state, game):
    """Our tables, each with the cards, dealer, vulnerability and double-dummy table of Pgx's."""
    deals = packaged("test")
    known = {tuple(hands): tricks for hands, tricks in zip(deals.hands.tolist(), deals.tricks)}
    ours = np.argsort(TO_PGX)  # our number of each of Pgx's cards
    tables = []
    for b in range(AUCTIONS):
        cards = ours[np.asarray(state._hand[b])].reshape(4, 13)
        hands = [sum(1 << int(card) for card in hand) for hand in cards]
        vulnerable = VULNERABILITIES[int(state._vul_NS[b]) + 2 * int(state._vul_EW[b])]
        options = {"deal": hands, "tricks": known[tuple(hands)], "vulnerability": vulnerable}
        table, out = game.new(1), game.buffers(1)
        game.begin(table, np.array([b]), 0, out)
        game.fix(table, read_options({**options, "dealer": int(state._dealer[b])}, OPTIONS), out)
        tables.append((table, out))
    return tables


def test_auctions_agree(pgx):
    state, step = pgx
    game, rng = Bridge(play=False, deals="test"), np.random.default_rng(1)
    tables = same_boards(state, game)
    seats = np.asarray(state._shuffled_players)  # [B, 4]  Pgx's player at N E S W
    running, decisions, paid = set(range(AUCTIONS)), 0, 0
    while running:
        player, legal, seen = (
            np.asarray(a) for a in (state.current_player, state.legal_action_mask, state.observation)
        )
        calls = np.zeros(AUCTIONS, np.int32)
        for b in running:
            out = tables[b][1]
            assert seats[b, out.player[0]] == player[b]
            np.testing.assert_array_equal(out.mask[0], legal[b])
            np.testing.assert_array_equal(out.observation[0], seen[b])
            likely = out.mask[0] * np.where(np.arange(38) < 3, 8.0, 0.8 ** np.arange(38))  # low bids, calls that end it
            calls[b] = rng.choice(38, p=likely / likely.sum())
            decisions += 1
        state = step(state, calls)
        over, rewards = np.asarray(state.terminated), np.asarray(state.rewards)
        for b in sorted(running):
            table, out = tables[b]
            game.step(table, np.array([int(calls[b])]), 0, out)
            assert out.over[0] == over[b]
            if over[b]:
                np.testing.assert_array_equal(out.reward[0], rewards[b, seats[b]], err_msg=game.text(table[0]))
                paid += bool(out.reward[0].any())
                running.remove(b)
    assert decisions > 5 * AUCTIONS and paid > AUCTIONS / 2
