"""Bridge without competition: E/W pass unasked, N/S may be limited, the cost is that of Yeh and Lin 2016."""

import numpy as np
import pytest

import bidzoo
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.match import play
from bidzoo.core.cards import PASS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps, score

BOARDS = np.arange(400)


def alone(**options):
    return Bridge(False, deals="test", competition=False, **options)


def calls_of(states, b):
    """Calls of board ``b`` and who made them."""
    length, dealer = int(states["length"][b]), int(states["dealer"][b])
    return [(int(states["calls"][b, t]), (dealer + t) % 4) for t in range(length)]


def best(tricks, vulnerable):
    """The most points of any contract, by brute force over what a pair can declare."""
    values = [
        int(score(level, strain, 1, int(tricks[5 * declarer + strain]), bool(vulnerable & 1)))
        for level in range(1, 8)
        for strain in range(5)
        for declarer in (0, 2)
    ]
    return max(0, *values)


def test_the_others_pass_and_are_never_asked():
    states = play(alone(), [Uniform()] * 4, BOARDS).states
    for b in BOARDS:
        calls = calls_of(states, b)
        assert all(call == PASS for call, seat in calls if seat % 2)
        assert states["declarer"][b] % 2 == 0 or states["declarer"][b] == -1
    env = bidzoo.make("bridge_bidding_v0", competition=False, reward="cost")
    for seed in range(8):  # every dealer
        env.reset(seed=seed)
        asked = set()
        while not any(env.terminations.values()):
            asked.add(env.agent_selection)
            env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1] if len(asked) < 2 else PASS))
        assert asked <= {"player_0", "player_2"}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_limit_on_the_calls_of_the_pair(most):
    states = play(alone(most_calls=most), [Uniform()] * 4, BOARDS).states
    counts = [[seat % 2 for call, seat in calls_of(states, b) if call != PASS] for b in BOARDS]
    assert all(sum(1 - side for side in sides) <= most for sides in counts)
    for b in BOARDS:
        ours = [call for call, seat in calls_of(states, b) if seat % 2 == 0]
        assert all(call == PASS for call in ours[most:])


def test_the_cost_is_that_of_brute_force():
    game = alone(reward="cost")
    episodes = play(game, [Uniform()] * 4, BOARDS)
    for b in BOARDS:
        state = episodes.states[b]
        cost = imps(best(state["tricks"], int(state["vulnerable"])) - int(state["points"][0]))
        assert episodes.reward[b].tolist() == [-cost, cost, -cost, cost] and cost >= 0


def test_it_is_the_game_where_the_others_choose_to_pass():
    """The same calls of N/S in the full game, E/W passing, score the same."""
    quiet = play(alone(), [Uniform()] * 4, BOARDS, actions=True)
    env = bidzoo.make("bridge_bidding_v0", deals="test")
    for b in BOARDS[:50]:
        env.reset(options={"board": int(b)}, seed=0)
        for call, seat in calls_of(quiet.states, b):
            assert env.agent_selection == f"player_{seat}"
            env.step(call)
        assert env.rewards["player_0"] == quiet.reward[b, 0]


def test_what_cannot_be():
    with pytest.raises(ValueError, match="most_calls -1: expected an integer from 0"):
        alone(most_calls=-1)
    with pytest.raises(ValueError, match="without competition are not alike"):
        alone(reward="duplicate")


def test_the_table():
    from bidzoo.benchmarks import bridge_cost

    tables, _ = bridge_cost.main(["pass", "sayc"], 300, 0, 1, lambda what, done, total: None)
    passes, sayc = tables[0].rows
    assert (passes["passed out %"], passes["made %"]) == (100, 0)
    assert passes["cost, IMPs"].mean > sayc["cost, IMPs"].mean > 0
    stages = [sayc[name] for name in ("passed out %", *(f"{stage} %" for stage in bridge_cost.STAGES))]
    assert sum(stages) == pytest.approx(100)
    bids = np.arange(35)
    states = np.zeros(35, Bridge(False).state)
    states["bid"], states["points"][:, 0] = bids, 1
    counts = np.array(bridge_cost.contracts(states)[1:5]) * 35 / 100  # of all 35 contracts
    assert counts.round().tolist() == [16, 9, 5, 5]  # games: 3NT, 4H, 4S, 4NT and level 5
