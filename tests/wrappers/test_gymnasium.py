"""One learner among policies: the opponents that a kernel plays are those that are asked."""

import copy
import pickle
import re

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import Uniform
from bidzoo.core.kernels import without_padding
from bidzoo.envs.game import Encoder, Table
from bidzoo.registry import GAMES
from bidzoo.wrappers.gymnasium import SingleAgent, SingleAgentVector

CASES = {
    **{env_id: {"env_id": env_id} for env_id in GAMES},
    "two tables": {"env_id": "bridge_v0", "reward": "duplicate", "observation": "bidder1375"},
    "alone": {"env_id": "bridge_bidding_v0", "competition": False, "observation": "jps267"},
    "playing module": {"env_id": "spades_v0", "phase": "bidding", "max_rounds": 2},
    "own encoder": {"env_id": "bridge_bidding_v0", "observation": "mine"},
    "own encoder, small": {"env_id": "minibridge_v0", "observation": "mine"},
}


class Asked(Uniform):
    """The agent ``random`` as any other policy: no kernel plays it."""


class Inverted:
    """The kernel of an encoder of one's own."""

    def __init__(self, encoder):
        self.encoder = encoder

    def __call__(self, views, out):
        np.subtract(1, self.encoder(views), out=out)


def game_of(case):
    options = dict(CASES[case])
    if options.get("observation") == "mine":
        encoder = bidzoo.make_game(options["env_id"]).encoder
        options["observation"] = Encoder("mine", encoder.layout, Inverted(encoder), str)
    return bidzoo.make_game(**options)


def trajectory(env, steps, seed):
    """Everything that a learner sees in ``steps`` random steps, an illegal one among them now and then."""
    rng, seen = np.random.default_rng(seed), []
    observation, info = env.reset(seed=seed)
    for step in range(steps):
        masks = np.atleast_2d(info["action_mask"])
        chosen = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        if step % 17 == 16:
            chosen[0] = env.game.num_actions
        *shown, info = env.step(chosen if observation.ndim == 2 else int(chosen[0]))
        seen += [np.array(array).tobytes() for array in (observation, *shown, info["action_mask"])]
        if "final_obs" in info:
            seen += [observation.tobytes() for observation in info["final_obs"][info["_final_obs"]]]
        observation = shown[0]
        if observation.ndim == 1 and shown[2]:
            observation, info = env.reset()
    return seen


@pytest.mark.parametrize("case", CASES)
def test_random_opponents_are_those_that_are_asked(case):
    game = game_of(case)
    players = range(game.num_players)
    for learner in (0, 2) if case == "alone" else players:  # where East and West are never asked
        fast, slow = (
            SingleAgent(game, [None if p == learner else kind() for p in players], learner) for kind in (Uniform, Asked)
        )
        assert (fast._random != 0) is game.plays_random and slow._random == 0
        assert trajectory(fast, 60, 5) == trajectory(slow, 60, 5)
    fast, slow = (SingleAgentVector(game, 70, [None, *(kind() for _ in players[1:])], 0) for kind in (Uniform, Asked))
    assert trajectory(fast, 25, 6) == trajectory(slow, 25, 6)


def test_random_opponents_beside_another_partner():
    game, sayc = bidzoo.make_game("bridge_bidding_v0"), agents.make("sayc")
    for learner in range(4):
        seats = [[sayc if p % 2 == learner % 2 else kind() for p in range(4)] for kind in (Uniform, Asked)]
        for kind, tables in ((SingleAgent, ()), (SingleAgentVector, (40,))):
            fast, slow = (kind(game, *tables, policies, learner) for policies in seats)
            assert trajectory(fast, 40, 7) == trajectory(slow, 40, 7)


def shown(states, out):
    return [array.tobytes() for array in (without_padding(states), *out)]


@pytest.mark.parametrize("case", CASES)
def test_a_table_and_its_copies_go_the_same_way(case):
    """Kernels of one record are those of many tables, and a copy shares nothing."""
    game = game_of(case)
    table, states, out = Table(game), game.new(1), game.buffers(1)
    table.begin(3, 5)
    game.begin(states, np.array([3]), 5, out)
    rng, turn = np.random.default_rng(1), 0
    while not table.out.over[0]:
        action, twins = int(rng.choice(np.flatnonzero(table.out.mask[0]))), ()
        if turn < 150 or turn % 25 == 0:  # a whole game of Spades has thousands of turns
            twins = copy.deepcopy(table), pickle.loads(pickle.dumps(table))
        turn += 1
        before = shown(table.states, table.out)
        for twin in twins:
            assert before == shown(twin.states, twin.out)
            twin.step(action)
        assert before == shown(table.states, table.out)
        table.step(action)
        game.step_one(states, action, out)
        now = shown(table.states, table.out)
        assert now == shown(states, out)
        assert all(now == shown(twin.states, twin.out) for twin in twins)


def test_a_random_player_without_a_legal_action_is_named():
    """The kernel that plays on stops there, and the error is that of an asked opponent."""
    from bidzoo.core.kernels import row
    from bidzoo.envs.signalling.engine import Rules
    from bidzoo.envs.signalling.minibridge import Minibridge
    from bidzoo.envs.signalling.state import OVER

    @row
    def legal_row(state, out):
        out[:] = state.length == 0

    @row
    def act_row(state, action):
        state.length += 1
        state.turn = 1 if state.length < 9 else OVER

    class Stuck(Minibridge):
        id, code = "stuck_v0", 977
        rules = Rules(legal_row, act_row, Minibridge.rules.reward_row, Minibridge.rules.history_row)

    words = r"player_1 has no legal action at table 0 \(board 0\); bidzoo.check_game says more"
    for env in (SingleAgent(Stuck(), [None, Uniform()]), SingleAgentVector(Stuck(), 2, [None, Uniform()])):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=words):
            env.step(np.zeros(2, int) if isinstance(env, SingleAgentVector) else 0)


@pytest.mark.parametrize("learner", ["East", 3])
def test_a_learner_who_is_never_asked_is_told_so(learner):
    """Deals are not passed over for ever."""
    game = bidzoo.make_game("bridge_bidding_v0", competition=False)
    words = f"bridge_bidding_v0: 1000 boards in a row ended before {game.place_text(game.player_at(learner))} was to"
    for policy in (agents.make("pass"), Uniform()):
        policies = [policy] * 4
        with pytest.raises(ValueError, match=re.escape(words)):
            SingleAgent(game, policies, learner).reset(seed=1)
        with pytest.raises(ValueError, match=re.escape(words)):
            SingleAgentVector(game, 3, policies, learner).reset(seed=1)
