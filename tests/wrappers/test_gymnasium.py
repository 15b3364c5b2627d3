"""One learner among policies: the opponents that a kernel plays are those that are asked."""

import copy
import pickle
import re
from functools import partial

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import Uniform
from bidzoo.core.kernels import without_padding
from bidzoo.envs.game import Encoder, Table
from bidzoo.registry import GAMES
from bidzoo.wrappers.gymnasium import SingleAgent, SingleAgentVector, single_agent_vector

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
        game.step(states, np.array([action]), 0, out)
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
        id = "blocked_v0"
        rules = Rules(legal_row, act_row, Minibridge.rules.reward_row, Minibridge.rules.history_row)

    words = r"player_1 has no legal action at table 0 \(board 0\); bidzoo.check_game says more"
    for env in (SingleAgent(Stuck(), [None, Uniform()]), SingleAgentVector(Stuck(), 2, [None, Uniform()])):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=words):
            env.step(np.zeros(2, int) if isinstance(env, SingleAgentVector) else 0)


@pytest.mark.parametrize("tables", [(), (2,)], ids=["one table", "a vector"])
def test_the_classes_take_whom_all_of_bidzoo_takes(tables):
    """Agents by their names, and nobody who is no policy."""
    game, kind = bidzoo.make_game("bridge_bidding_v0"), SingleAgentVector if tables else SingleAgent
    names = ["sayc", "pass", "sl", "sayc"]
    seen = []
    for policies in (names, [agents.make(name) for name in names]):
        env = kind(game, *tables, policies)
        env.reset(seed=3)
        seen.append(env.step(np.zeros(tables, int))[0])
    np.testing.assert_array_equal(*seen)
    with pytest.raises(TypeError, match="not a policy: 2 "):
        kind(game, *tables, [None, 2, "sayc", "sayc"])
    with pytest.raises(ValueError, match=r"^player_1 \(East\) has no policy$"):
        kind(game, *tables, ["sayc", None, "sayc", "sayc"])
    with pytest.raises(ValueError, match="has 4 players, got 3 policies"):
        kind(game, *tables, ["sayc"] * 3)
    with pytest.raises(TypeError, match="policies None: expected a list"):
        kind(game, *tables, None)


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


def test_a_position_that_was_asked_for_is_not_passed_over():
    """Another board, dealt in its place, would be taken for it."""
    game, others = bidzoo.make_game("bridge_bidding_v0", competition=False), ["pass"] * 4
    for env in (SingleAgent(game, others, "East"), SingleAgentVector(game, 3, others, "East")):
        words = r"with these options \(dealer, vulnerability\) the board ends before player_1 \(East\) is to act"
        with pytest.raises(ValueError, match=words):
            env.reset(seed=1, options={"board": 2, "dealer": "S", "vulnerability": "ns"})
        with pytest.raises(ValueError, match="1000 boards in a row"):  # of a board alone the next is dealt, as told
            env.reset(seed=1, options={"board": 2})


def test_the_last_info_of_an_episode_names_its_own_partner():
    """With ``SameStep`` the other infos are of the next board, which may have another one."""
    members = [agents.make("pass"), agents.make("sayc"), agents.make("random")]
    env = single_agent_vector("bridge_bidding_v0", 20, partner=members, autoreset_mode="SameStep")
    _, info = env.reset(seed=4)
    changed = 0
    for _ in range(60):
        before = info["partner"].copy()
        _, _, ended, _, info = env.step(info["action_mask"].argmax(1))
        if ended.any():
            final = info["final_info"]
            assert (final["partner"][ended] == before[ended]).all() and (final["_partner"] == ended).all()
            changed += (info["partner"][ended] != before[ended]).sum()
    assert changed > 5


# ---- autoreset modes, masks in observations --------------------------------------------------


def episodes(mode, tables=40, steps=60, **options):
    """Per table, what was seen, paid and legal in each episode, whatever the mode of autoreset."""
    env = single_agent_vector("minibridge_v0", tables, size=3, partner="jps", autoreset_mode=mode, **options)
    observation, info = env.reset(seed=4)
    told = [[] for _ in range(tables)]
    dealt = np.zeros(tables, bool)  # that the coming step only deals
    for _ in range(steps):
        masks, boards = info["action_mask"], env.batch.boards
        assert (env.action_masks() == masks).all()
        actions = np.where(boards % 7 == 3, -5, masks.argmax(1))  # illegal on some boards
        before, observation = observation, None
        observation, reward, ended, truncated, info = env.step(actions)
        assert not truncated.any()
        for b in np.flatnonzero(~dealt):
            last = info["final_obs"][b] if mode == "SameStep" and ended[b] else observation[b]
            told[b].append((before[b].tobytes(), masks[b].tobytes(), reward[b], bool(ended[b])))
            told[b] += [last.tobytes()] if ended[b] else []
        if mode == "NextStep":
            assert not (dealt & ended).any() and (reward[dealt] == 0).all()
            assert (info["action_mask"][ended] == 1).all()
            dealt = ended
        elif mode == "Disabled" and ended.any():
            assert (info["action_mask"][ended] == 0).all()
            waiting = observation[~ended].copy()
            with pytest.raises(ValueError, match=rf"the episode of table {ended.argmax()} is over: call reset"):
                env.step(actions)
            observation, info = env.reset(options={"reset_mask": ended})
            assert (observation[~ended] == waiting).all()
    return told


def test_every_mode_of_autoreset_plays_the_same_episodes():
    same, following, disabled = (episodes(mode) for mode in ("SameStep", "NextStep", "Disabled"))
    assert disabled == same
    for left, right in zip(following, same):
        assert len(left) > 20 and left == right[: len(left)]


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_gymnasiums_own_wrappers_take_it(mode):
    from gymnasium.vector import AutoresetMode
    from gymnasium.wrappers import vector

    env = gymnasium.make_vec("bidzoo/MiniBridge-v0", num_envs=4, autoreset_mode=AutoresetMode(mode))
    assert env.metadata["autoreset_mode"] is env.unwrapped.autoreset_mode is AutoresetMode(mode)
    if mode == "NextStep":
        env = vector.NormalizeReward(vector.NormalizeObservation(env))
    _, info = env.reset(seed=1)
    for _ in range(20):
        observation, _, ended, _, info = env.step(info["action_mask"].argmax(1))
        if mode == "Disabled" and ended.any():
            observation, info = env.reset(options={"reset_mask": ended})
        assert observation.shape == env.observation_space.shape


def test_wrong_autoreset():
    with pytest.raises(ValueError, match=r"autoreset_mode 'NextSteps'; did you mean 'NextStep'\?"):
        single_agent_vector("comm_v0", 2, autoreset_mode="NextSteps")
    env = single_agent_vector("comm_v0", 2, autoreset_mode="Disabled")
    with pytest.raises(ValueError, match="call reset"):
        env.reset(options={"reset_mask": np.ones(2, bool)})
    env.reset(seed=1)
    for mask, text in ((np.ones(3, bool), r"bool \[3\], expected bool \[2\]"), ([1, 0], "int64"), ("x", "<U1")):
        with pytest.raises(ValueError, match=f"option 'reset_mask': .*{text}"):
            env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="seed 3 with option 'reset_mask'"):
        env.reset(seed=3, options={"reset_mask": np.ones(2, bool)})


def test_tables_share_a_seed():
    """A list that asks for other deals is not read as its first entry."""
    env = single_agent_vector("bridge_bidding_v0", 3)
    expected = env.reset(seed=5)[0]
    assert (env.reset(seed=[5, 6, 7])[0] == expected).all()
    assert (env.reset(seed=[None] * 3)[0] != expected).any()
    for seeds in ([5, 5, 5], [5], [None, 5, 6], []):
        with pytest.raises(ValueError, match=rf"seed: a list of {len(seeds)}; all tables share one seed"):
            env.reset(seed=seeds)
    with pytest.raises(ValueError, match="seed 'x': expected an integer"):
        env.reset(seed=["x", 6, 7])


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_masks_in_observations_of_a_vector(mode):
    make = partial(single_agent_vector, "minibridge_v0", 3, size=2, autoreset_mode=mode)
    plain, whole = make(), make(mask_in="observation")
    (seen, info), (both, _) = plain.reset(seed=2), whole.reset(seed=2)
    for _ in range(12):
        assert (both["observation"] == seen).all() and (both["action_mask"] == info["action_mask"]).all()
        assert both in whole.observation_space
        actions = info["action_mask"].argmax(1)
        (seen, _, ended, _, info), (both, *_, more) = plain.step(actions), whole.step(actions)
        for b in np.flatnonzero(ended) if mode == "SameStep" else ():
            assert (more["final_obs"][b]["observation"] == info["final_obs"][b]).all()
            assert not more["final_obs"][b]["action_mask"].any()
        if mode == "Disabled" and ended.any():
            (seen, info), (both, _) = (env.reset(options={"reset_mask": ended}) for env in (plain, whole))


def test_masks_in_observations_of_one_table():
    from gymnasium.utils.env_checker import check_env
    from gymnasium.wrappers import FlattenObservation

    env = gymnasium.make("bidzoo/MiniBridge-v0", size=2, mask_in="observation")
    check_env(env.unwrapped, skip_render_check=True)
    observation, info = env.reset(seed=3)
    over = False
    while not over:
        assert (observation["action_mask"] == info["action_mask"]).all()
        observation, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    assert not observation["action_mask"].any()
    flat = FlattenObservation(env)
    assert flat.reset(seed=3)[0].shape == flat.observation_space.shape
    with pytest.raises(ValueError, match="mask_in"):
        gymnasium.make("bidzoo/MiniBridge-v0", mask_in="infos")


def test_gymnasium_collects_frames():
    env = gymnasium.make("bidzoo/MiniBridge-v0", size=2, render_mode="rgb_array_list")
    env.reset(seed=1)
    for _ in range(2):
        env.step(int(env.unwrapped.action_masks().argmax()))
    frames = env.render()
    assert len(frames) == 3 and all(frame.shape == frames[0].shape for frame in frames)
