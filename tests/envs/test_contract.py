"""What every environment promises, checked by PettingZoo's and Gymnasium's own tests and by ours."""

import importlib
import inspect
import json
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test
from pettingzoo.utils import turn_based_aec_to_parallel

import bidzoo
from bidzoo.agents.policy import Uniform
from bidzoo.core.kernels import Kernel, allocate
from bidzoo.core.streams import Streams
from bidzoo.core.threads import set_threads
from bidzoo.registry import GAMES

GAME_IDS = bidzoo.available()


def random_legal(env, rng):
    """A random legal action of the agent to act, None for one whose episode is over."""
    observation, _, terminated, truncated, _ = env.last()
    if terminated or truncated:
        return None
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


def play_out(env, rng):
    """Actions and final rewards of the episode in progress."""
    actions, rewards = [], None
    while env.agents:
        action = random_legal(env, rng)
        if action is None and rewards is None:
            rewards = dict(env.rewards)
        elif action is not None:
            actions.append(action)
        env.step(action)
    return actions, rewards


@pytest.mark.parametrize("env_id", GAME_IDS)
class TestPettingZoo:
    def test_api(self, env_id):
        api_test(bidzoo.make(env_id), num_cycles=200)

    def test_masks_in_infos_alone(self, env_id):
        """For libraries that refuse dicts: the same game with arrays as observations."""
        plain, env = bidzoo.make(env_id, mask_in="info"), bidzoo.make(env_id)
        assert plain.observation_space("player_0") == env.observation_space("player_0")["observation"]
        for each in (plain, env):
            each.reset(seed=4)
        while env.agents:
            observation, *told, info = env.last()
            seen, *plain_told, plain_info = plain.last()
            assert np.array_equal(seen, observation["observation"]) and told == plain_told
            assert np.array_equal(plain_info["action_mask"], observation["action_mask"])
            assert info["action_mask"] is env.infos[env.agent_selection]["action_mask"]
            action = None if told[1] else int(observation["action_mask"].argmax())
            env.step(action)
            plain.step(action)
        for each in (plain, env):
            with pytest.raises(ValueError, match="the episode is over"):
                each.last()
        with pytest.raises(ValueError, match="mask_in 'both': expected 'observation' or 'info'"):
            bidzoo.make(env_id, mask_in="both")
        with pytest.raises(AttributeError, match="before reset"):
            bidzoo.make(env_id, render_mode="ansi").render()

    def test_seed(self, env_id):
        seed_test(lambda: bidzoo.make(env_id), num_cycles=50)

    def test_render(self, env_id, capsys):
        render_test(lambda **options: bidzoo.make(env_id, **options))

    def test_parallel(self, env_id):
        parallel_api_test(turn_based_aec_to_parallel(bidzoo.make(env_id)), num_cycles=50)

    def test_name(self, env_id):
        env = bidzoo.make(env_id)
        assert str(env) == env.metadata["name"] == env_id
        assert env.unwrapped is env

    @pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="the registry came with PettingZoo 1.27")
    def test_registry(self, env_id):
        env = pettingzoo.make("aec", f"bidzoo/{env_id.replace('_v', '-v')}")
        env.reset(seed=1)
        assert env.agents[0] == "player_0"

    def test_modules_of_the_old_style(self, env_id):
        module = __import__(f"bidzoo.envs.{env_id}", fromlist=["env"])
        assert str(module.env()) == str(module.raw_env()) == env_id


@pytest.mark.parametrize("env_id", GAME_IDS)
class TestOneTable:
    def test_attributes_before_reset_are_refused(self, env_id):
        env = bidzoo.make(env_id)
        with pytest.raises(AttributeError, match="before reset"):
            env.agent_selection  # noqa: B018
        with pytest.raises(AttributeError, match="before reset"):
            env.step(0)

    def test_illegal_action_terminates(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=1)
        offender = env.agent_selection
        mask = env.last()[0]["action_mask"]
        if mask.all():
            pytest.skip("every action is legal at the start")  # comm and mini_hanabi have such turns
        env.step(int(np.argmin(mask)))
        assert all(env.terminations.values())
        allies = env.game.allies(env.possible_agents.index(offender))
        for player, agent in enumerate(env.possible_agents):
            assert env.rewards[agent] == (env.game.reward_range[0] if player in allies else 0)

    def test_illegal_action_raises_and_changes_nothing(self, env_id):
        env = bidzoo.make(env_id, illegal_action="raise")
        env.reset(seed=1)
        before = env._states.tobytes()
        for wrong in (-1, env.game.num_actions, 0.5, None):
            with pytest.raises(ValueError, match="not an action"):
                env.step(wrong)
        mask = env.last()[0]["action_mask"]
        for action in np.flatnonzero(mask == 0)[:3]:
            with pytest.raises(ValueError, match="illegal action"):
                env.step(int(action))
        assert env._states.tobytes() == before

    def test_step_after_the_end_is_refused(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=1)
        play_out(env, np.random.default_rng(0))
        with pytest.raises(ValueError, match="call reset"):
            env.step(0)

    def test_options_are_checked(self, env_id):
        with pytest.raises(ValueError, match="render_mode"):
            bidzoo.make(env_id, render_mode="film")
        with pytest.raises(ValueError, match="illegal_action"):
            bidzoo.make(env_id, illegal_action="ignore")
        with pytest.raises(ValueError, match="observation"):
            bidzoo.make(env_id, observation="telepathy")
        with pytest.raises(TypeError):
            bidzoo.make(env_id, colour="red")
        bidzoo.make(env_id).reset(options={"options": 1})

    def test_pickle_in_mid_episode(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=5)
        env.step(random_legal(env, np.random.default_rng(0)))
        twin = pickle.loads(pickle.dumps(env))
        assert play_out(env, np.random.default_rng(1)) == play_out(twin, np.random.default_rng(1))

    def test_boards_follow_one_another(self, env_id):
        env, twin = bidzoo.make(env_id), bidzoo.make(env_id)
        env.reset(seed=5)
        env.reset()
        twin.reset(seed=5, options={"board": 1})
        assert env._states.tobytes() == twin._states.tobytes()

    def test_one_table_starts_as_those_of_a_batch(self, env_id):
        game = bidzoo.make_game(env_id)
        many, shown = game.new(3), game.buffers(3)
        game.begin(many, np.arange(4, 7), 5, shown)
        one, out = game.start(6, 5)
        assert one.tobytes() == many[2:].tobytes()
        assert [a.tobytes() for a in out] == [a[2:].tobytes() for a in shown]

    def test_rewards_only_at_the_end_and_as_declared(self, env_id):
        env = bidzoo.make(env_id)
        rng = np.random.default_rng(0)
        for board in range(10 if env_id == "spades_v0" else 30):  # whole games of many rounds
            env.reset(seed=7, options={"board": board})
            while not any(env.terminations.values()):
                assert not any(env.rewards.values())
                env.step(random_legal(env, rng))
            rewards = list(env.rewards.values())
            low, high = env.game.reward_range
            assert all(low <= reward <= high for reward in rewards)
            if env.game.utility == "identical":
                assert len(set(rewards)) == 1
            else:
                assert sum(rewards) == 0

    def test_masks_in_both_places_and_fresh(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=1)
        observation, _, _, _, info = env.last()
        assert np.array_equal(observation["action_mask"], info["action_mask"])
        assert observation["action_mask"].dtype == np.int8
        assert np.array_equal(env.infos[env.agent_selection]["action_mask"], info["action_mask"])
        observation["observation"][:] = 9
        info["action_mask"][:] = 9
        assert env.last()[0]["observation"].max() <= 1
        assert env.last()[0]["action_mask"].max() <= 1
        for agent in env.agents:
            if agent != env.agent_selection:
                assert not env.observe(agent)["action_mask"].any()

    def test_action_text_round_trip(self, env_id):
        game = bidzoo.make_game(env_id)
        texts = [game.action_text(action) for action in range(game.num_actions)]
        assert len(set(texts)) == len(texts)
        assert [game.action_number(text) for text in texts] == list(range(game.num_actions))


def batch_episodes(env_id, tables, boards, seed=3):
    """Actions and rewards by board: every action drawn from the stream of (seed, board, turn)."""
    batch = bidzoo.make_vec(env_id, tables)
    batch.reset(seed=seed)
    actions = {board: [] for board in range(boards)}
    rewards = {}
    policy = Uniform()
    while len(rewards) < boards:
        numbers = batch.boards
        rng = Streams.at(99, numbers, batch.game.clock(batch.states))
        chosen = policy.act(batch.views(), batch.action_mask, rng)
        batch.step(chosen)
        for b, board in enumerate(numbers.tolist()):
            if board < boards:
                actions[board].append(int(chosen[b]))
                if batch.terminated[b]:
                    rewards[board] = batch.reward[b].tolist()
    return actions, rewards


@pytest.mark.parametrize("env_id", GAME_IDS)
class TestBatch:
    def test_same_as_the_aec_environment_whatever_the_batch_and_threads(self, env_id):
        boards = 8 if env_id == "spades_v0" else 20  # whole games of many rounds
        actions, rewards = batch_episodes(env_id, 7, boards)
        for tables, threads in ((1, 1), (20, 2), (3, 1)):
            set_threads(threads)
            try:
                assert batch_episodes(env_id, tables, boards) == (actions, rewards)
            finally:
                set_threads(2)
        env = bidzoo.make(env_id)
        for board in range(boards):
            env.reset(seed=3, options={"board": board})
            for action in actions[board]:
                env.step(action)
            assert [env.rewards[agent] for agent in env.possible_agents] == rewards[board]

    def test_observation_is_the_aec_environments(self, env_id):
        batch, env = bidzoo.make_vec(env_id, 5), bidzoo.make(env_id)
        batch.reset(seed=3)
        rng = np.random.default_rng(0)
        envs = [bidzoo.make(env_id) for _ in range(5)]
        for b, env in enumerate(envs):
            env.reset(seed=3, options={"board": b})
        for _ in range(12):
            chosen = np.array([rng.choice(np.flatnonzero(mask)) for mask in batch.action_mask])
            for b, env in enumerate(envs):
                if not env.terminations or any(env.terminations.values()):
                    continue
                last = env.last()[0]
                assert env.possible_agents.index(env.agent_selection) == batch.player[b]
                assert np.array_equal(last["observation"], batch.observation[b])
                assert np.array_equal(last["action_mask"], batch.action_mask[b])
                assert np.array_equal(batch.game.encoder(batch.views())[b], batch.observation[b])
                env.step(int(chosen[b]))
            batch.step(chosen)

    def test_arrays_are_reused(self, env_id):
        torch = pytest.importorskip("torch")

        batch = bidzoo.make_vec(env_id, 4)
        batch.reset()
        shared = (
            torch.from_numpy(batch.observation),
            torch.from_numpy(batch.reward),
            torch.from_numpy(batch.action_mask),
        )
        pointers = [array.data_ptr() for array in shared]
        batch.step(np.argmax(batch.action_mask, axis=1))
        assert pointers == [a.ctypes.data for a in (batch.observation, batch.reward, batch.action_mask)]
        assert np.array_equal(shared[0].numpy(), batch.observation)

    def test_bad_calls(self, env_id):
        batch = bidzoo.make_vec(env_id, 3)
        with pytest.raises(ValueError, match="reset"):
            batch.step(np.zeros(3, np.int64))
        batch.reset()
        before = batch.states.tobytes()
        with pytest.raises(ValueError, match=r"shape \(3,\)"):
            batch.step(np.zeros(4, np.int64))
        legal = np.argmax(batch.action_mask, axis=1)
        legal[1] = batch.game.num_actions
        with pytest.raises(ValueError, match="at table 1"):
            batch.step(legal)
        assert batch.states.tobytes() == before
        with pytest.raises(ValueError, match="num_envs"):
            bidzoo.make_vec(env_id, 0)


@pytest.mark.parametrize("env_id", GAME_IDS)
class TestGymnasium:
    def test_checker(self, env_id):
        env = gymnasium.make(GAMES[env_id].gymnasium_id, opponents="random").unwrapped
        check_env(env, skip_render_check=True)

    def test_vector_is_the_single_environment(self, env_id):
        name = GAMES[env_id].gymnasium_id
        vector = gymnasium.make_vec(name, 3, opponents="random")
        assert vector.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
        observations, infos = vector.reset(seed=11)
        singles = [gymnasium.make(name, opponents="random").unwrapped for _ in range(3)]
        for b, env in enumerate(singles):
            observation, info = env.reset(seed=11, options={"board": int(vector.unwrapped.batch.boards[b])})
            assert np.array_equal(observation, observations[b])
            assert np.array_equal(info["action_mask"], infos["action_mask"][b])
        rng = np.random.default_rng(2)
        running = np.ones(3, bool)
        for _ in range(5000):
            chosen = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
            observations, rewards, ended, _, infos = vector.step(chosen)
            for b in np.flatnonzero(running):
                observation, reward, terminated, _, _ = singles[b].step(int(chosen[b]))
                assert reward == rewards[b]
                assert terminated == ended[b]
                assert np.array_equal(observation, infos["final_obs"][b] if terminated else observations[b])
                running[b] = not terminated
            if not running.any():
                return
        raise AssertionError("no episode ended in 5000 steps")

    def test_no_board_of_a_vector_comes_twice(self, env_id):
        """``reset()`` without a seed goes on where each table is, as an autoreset does."""
        vector = gymnasium.make_vec(GAMES[env_id].gymnasium_id, 3, opponents="random").unwrapped
        vector.reset(seed=11)
        seen = [vector.batch.boards.tolist()]
        _, _, ended, _, _ = vector.step(np.array([vector.game.num_actions, *vector.action_masks()[1:].argmax(axis=1)]))
        assert ended[0]
        seen.append(vector.batch.boards.tolist())
        for _ in range(3):
            observations, _ = vector.reset()
            seen.append(vector.batch.boards.tolist())
        assert all((np.array(boards) % 3 == range(3)).all() for boards in seen)
        assert all(now == last + 3 for last, now in zip(seen[-2], seen[-1]))
        assert seen[1][0] > seen[0][0] and all(now > last for last, now in zip(seen[1], seen[2]))
        single = gymnasium.make(GAMES[env_id].gymnasium_id, opponents="random").unwrapped
        for b, board in enumerate(seen[-1]):
            assert np.array_equal(single.reset(seed=11, options={"board": board})[0], observations[b])
        vector.reset(seed=11)
        assert vector.batch.boards.tolist() == seen[0]

    def test_illegal_action_costs_the_lowest_reward(self, env_id):
        env = gymnasium.make(GAMES[env_id].gymnasium_id).unwrapped
        env.reset(seed=1)
        _, reward, terminated, _, _ = env.step(env.game.num_actions)
        assert terminated
        assert reward == env.game.reward_range[0]
        with pytest.raises(ValueError, match="over"):
            env.step(0)


SCRIPT = """
import json, sys, hashlib, numpy as np, bidzoo
from bidzoo.agents.policy import choose
out = {}
for env_id in bidzoo.available():
    batch = bidzoo.make_vec(env_id, 16)
    batch.reset(seed=4)
    digest = hashlib.sha256()
    actions, keys = np.empty(16, np.int64), np.arange(16, dtype=np.uint64)
    for _ in range(40):
        choose(batch.action_mask, keys, actions)
        batch.step(actions)
        for array in (batch.player, batch.observation, batch.action_mask, batch.reward, batch.terminated):
            digest.update(array.tobytes())
    out[env_id] = digest.hexdigest()
print(json.dumps(out))
"""


def test_two_processes_agree():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={**__import__("os").environ, "PYTHONHASHSEED": seed, "BIDZOO_THREADS": threads},
        ).stdout
        for seed, threads in (("1", "1"), ("2", "2"))
    ]
    assert json.loads(runs[0]) == json.loads(runs[1])


@pytest.mark.parametrize("env_id", GAME_IDS)
def test_options_are_named(env_id):
    """Of the environment: those of its rules, with the same defaults, and its own."""
    rules = inspect.signature(importlib.import_module(GAMES[env_id].module).make_game).parameters
    options = inspect.signature(importlib.import_module(f"bidzoo.envs.{env_id}").env).parameters
    assert list(options) == [*rules, "render_mode", "illegal_action", "mask_in"]
    assert all(options[name].default == option.default for name, option in rules.items())
    env = bidzoo.make(env_id, **{name: option.default for name, option in options.items()})
    assert str(env) == env.metadata["name"] == env_id
    with pytest.raises(TypeError, match="no_such_option"):
        bidzoo.make(env_id, no_such_option=1)


def test_engines_of_all_games_have_the_same_kernels():
    from bidzoo.envs.bridge import engine as bridge
    from bidzoo.envs.bridge import state as bridge_state
    from bidzoo.envs.signalling import state as signalling_state
    from bidzoo.envs.signalling.minibridge import Minibridge
    from bidzoo.envs.spades import engine as spades
    from bidzoo.envs.spades import state as spades_state

    given = {"begin_row", "legal_row", "act_row", "reward_row", "observe_row", "view_row"}
    made = {"show_row", "take_row", "end_row", "random_row", "begin", "step", "step_on", "observe"}
    made |= {"begin_table", "step_table", "observe_table"}
    for kernels in (bridge.kernels, spades.kernels, Minibridge.kernels):
        assert given | made <= vars(kernels).keys()
        for name, kernel in vars(kernels).items():
            kernel = getattr(kernel, "kernel", kernel)  # of what is called for whole batches
            assert isinstance(kernel, Kernel), name
    for name in made:
        own = {getattr(kernels, name) for kernels in (bridge.kernels, spades.kernels, Minibridge.kernels)}
        assert len(own) == 3, name  # each has its own game's rules among its globals
    for state in (bridge_state, spades_state, signalling_state):
        for name, parameters in (("copy_public_row", "source target"), ("view_row", "state player out")):
            assert [*inspect.signature(getattr(state, name).py_func).parameters] == parameters.split()


@pytest.mark.parametrize("game", ["bridge", "spades", "signalling"])
def test_a_view_tells_all_that_is_public(game):
    """``copy_public_row`` names every field of ``PUBLIC``, and writes no other."""
    state = importlib.import_module(f"bidzoo.envs.{game}.state")
    source, target = (allocate(dtype, 1) for dtype in (state.STATE, state.VIEW))
    source.view(np.uint8)[:] = np.random.default_rng(1).integers(1, 100, source.view(np.uint8).shape)
    state.copy_public_row(source[0], target[0])
    public = [name for name, *_ in state.PUBLIC]
    for name in target.dtype.names:
        if name in public:
            np.testing.assert_array_equal(target[name], source[name], err_msg=name)
        else:
            assert not target[name].any(), name


def test_unknown_names_list_the_choices():
    with pytest.raises(KeyError, match="bridge_bidding_v0"):
        bidzoo.make("bridge_bidding_v9")
    with pytest.raises(KeyError, match="random"):
        bidzoo.agents.make("oracle")
