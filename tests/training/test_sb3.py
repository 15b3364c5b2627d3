"""Stable-Baselines3 and sb3-contrib learn on our environments; their models play at our tables."""

import copy
import io

import gymnasium
import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.agents.policy import Pool
from bidzoo.agents.tabular import jps
from bidzoo.benchmarks import match
from bidzoo.core.streams import Streams
from bidzoo.wrappers.batch import Batch
from bidzoo.wrappers.gymnasium import single_agent_vector

sb3 = pytest.importorskip("bidzoo.wrappers.sb3")
import torch  # noqa: E402
from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO  # noqa: E402
from stable_baselines3 import DQN, PPO  # noqa: E402
from stable_baselines3.common.vec_env import VecNormalize  # noqa: E402


def vector(tables, learner):
    return single_agent_vector("minibridge_v0", tables, size=2, learner=learner)


# ---- the scripts of docs/training: each beats random by the margin stated -----------------


def test_maskable_ppo_learns_beside_a_partner(script):
    """Random play beside the partner is worth -0.36, the optimum 0.67."""
    file = script("sb3_maskable")
    learner, partner = file.with_partner(steps=2_000), jps.agent()
    assert file.score(learner, partner) > file.score(agents.make("random"), partner) + 0.5


def test_maskable_ppo_learns_from_self_play(script):
    """Random play is worth -0.60, the optimum 0.67."""
    file = script("sb3_maskable")
    player, random = file.self_play(steps=12_288, rounds=6), agents.make("random")
    assert file.score(player, player) > file.score(random, random) + 0.8


def test_maskable_ppo_learns_bridge_beside_and_against_an_agent(script, tmp_path):
    """From -12 IMPs a board and worse; the logs of Stable-Baselines3 and the model are files."""
    file = script("sb3_bridge")
    model = file.learner(tables=32)
    before = file.strength(model, 200).mean
    (first, last) = file.train(model, tmp_path, steps=16_384, rounds=2, boards=200)
    assert before < -8 and last[2].mean > before + 6 and first[0] == 8_192 and last[0] == 16_384
    assert "rollout/ep_rew_mean" in (tmp_path / "progress.csv").read_text()
    again = MaskablePPO.load(tmp_path / "model.zip")
    assert file.strength(again, 200) == file.strength(model, 200) == last[2]


@pytest.mark.parametrize(
    ("task", "algorithm", "steps", "margin"),
    [
        ("guess in Comm", "PPO", 3_000, 0.5),
        ("open in Mini-Hanabi", "A2C", 5_000, 2.5),
        ("guess in Comm", "DQN", 5_000, 0.5),
    ],
)
def test_plain_algorithms_learn(script, task, algorithm, steps, margin):
    """Random: 0.25 of 1 in Comm, 6 of 10 in Mini-Hanabi."""
    file, partner = script("sb3_plain"), jps.agent()
    learner = file.train(task, algorithm, partner, steps)
    assert file.score(task, learner, partner) > file.score(task, agents.make("random"), partner) + margin


# ---- SB3VecEnv ---------------------------------------------------------------------------


def test_vec_env_is_its_parts_side_by_side():
    env, parts = sb3.SB3VecEnv([vector(3, 0), vector(2, 1)]), [vector(3, 0), vector(2, 1)]
    env.seed(7)
    shown = env.reset()
    np.testing.assert_array_equal(shown, np.concatenate([parts[0].reset(seed=7)[0], parts[1].reset(seed=10)[0]]))
    ends = 0
    for _ in range(60):
        masks = np.stack(env.env_method("action_masks"))
        np.testing.assert_array_equal(masks, np.concatenate([part.action_masks() for part in parts]))
        actions = masks.argmax(1)  # the lowest legal action
        steps = parts[0].step(actions[:3]), parts[1].step(actions[3:])
        shown, reward, over, infos = env.step(actions)
        for found, place in ((shown, 0), (reward, 1), (over, 2)):
            np.testing.assert_array_equal(found, np.concatenate([step[place] for step in steps]))
        last = np.concatenate([step[4].get("final_obs", np.full(len(step[2]), None)) for step in steps])
        assert last.shape == (5,)
        for b in np.flatnonzero(over):
            np.testing.assert_array_equal(infos[b]["terminal_observation"], last[b])
        assert [b for b, info in enumerate(infos) if info] == np.flatnonzero(over).tolist()
        ends += over.sum()
    assert ends > 20


def test_vec_env_takes_options_and_refuses_halves_of_actions():
    env, part = sb3.SB3VecEnv([vector(3, 0)]), vector(3, 0)
    env.seed(7)
    env.set_options({"board": 5})
    np.testing.assert_array_equal(env.reset(), part.reset(seed=7, options={"board": 5})[0])
    env.step_async(np.full(3, 0.5))
    with pytest.raises(ValueError, match="actions must be integers, got float64"):
        env.step_wait()


def test_vec_env_says_what_it_cannot_do():
    env = sb3.SB3VecEnv(vector(3, 0))  # of one part
    assert env.has_attr("action_masks") and env.get_attr("learner", [0, 2]) == [0, 0]
    assert env.env_is_wrapped(object) == [False] * 3
    with pytest.raises(AttributeError, match="fold"):
        env.env_method("fold")
    with pytest.raises(AttributeError, match="learner"):
        env.set_attr("learner", 1)
    with pytest.raises(ValueError, match="one game"):
        sb3.SB3VecEnv([vector(1, 0), single_agent_vector("comm_v0", 1)])
    part = vector(1, 0)
    with pytest.raises(ValueError, match=r"part 2 is .* again"):
        sb3.SB3VecEnv([part, vector(1, 0), part])


# ---- SB3Policy ---------------------------------------------------------------------------


def views_of(game, tables=300):
    batch = Batch(game, tables)
    batch.reset(5)
    return batch.views(), batch.action_mask.copy(), Streams.at(1, np.arange(tables))


@pytest.mark.parametrize("kind", [MaskablePPO, PPO, DQN])
def test_policy_draws_legal_actions_row_by_row(kind):
    game = bidzoo.make_game("minibridge_v0", size=2)
    policy = sb3.SB3Policy(kind("MlpPolicy", sb3.SB3VecEnv([vector(2, 0)]), seed=1), game)
    views, legal, rng = views_of(game)
    legal[::2, 0] = 0  # the network never learned any of this
    actions = policy.act(views, legal, rng[:])
    assert legal[np.arange(len(views)), actions].all()
    rows = np.array([7, 3, 150])
    np.testing.assert_array_equal(policy.act(views[rows], legal[rows], rng[rows]), actions[rows])


def test_policy_draws_with_the_chances_of_the_network():
    game = bidzoo.make_game("comm_v0", length=2)
    env = sb3.SB3VecEnv([single_agent_vector("comm_v0", 2, length=2, learner=1)])
    policy = sb3.SB3Policy(PPO("MlpPolicy", env, seed=1), game)
    views, legal, rng = views_of(game, 4000)
    legal[:] = 1
    counts = np.bincount(policy.act(views, legal, rng), minlength=4)
    expected = policy.chances(views, legal).sum(0)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_frozen_policy_stays():
    game = bidzoo.make_game("minibridge_v0", size=2)
    model = MaskablePPO("MlpPolicy", sb3.SB3VecEnv([vector(4, 0)]), n_steps=16, batch_size=64, seed=1)
    live = sb3.SB3Policy(model, game)
    past = live.freeze("past")
    views, legal, _ = views_of(game)
    before = live.chances(views, legal)
    model.learn(64)
    assert past.name == "past"
    np.testing.assert_array_equal(past.chances(views, legal), before)
    assert np.abs(live.chances(views, legal) - before).max() > 1e-6


def test_policy_of_another_game_is_refused():
    model = PPO("MlpPolicy", sb3.SB3VecEnv([vector(2, 0)]))
    with pytest.raises(ValueError, match="takes 15 observations and 5 actions; minibridge_v0 has 25 and 9"):
        sb3.SB3Policy(model, bidzoo.make_game("minibridge_v0", size=4))


# ---- Pool --------------------------------------------------------------------------------


class Constant:
    def __init__(self, action):
        self.name, self.action = str(action), action

    def act(self, views, legal, rng):
        return np.full(len(views), self.action)


def test_pool_keeps_one_member_a_board():
    game = bidzoo.make_game("minibridge_v0", size=4)
    pool = Pool([Constant(0), Constant(1), Constant(2)], seed=4)
    views, legal, rng = views_of(game, 900)
    actions = pool.act(views, legal, rng)
    np.testing.assert_array_equal(actions, pool.sampled(views["board"]))
    np.testing.assert_array_equal(pool.act(views[5:9], legal[5:9], rng[5:9]), actions[5:9])
    assert (np.abs(np.bincount(actions) - 300) < 75).all()  # 5 standard deviations


def test_pool_drops_its_oldest():
    pool = Pool([Constant(0)], size=2)
    for number in (1, 2):
        pool.add(Constant(number))
    assert [member.action for member in pool.members] == [1, 2]
    with pytest.raises(ValueError, match="at least one"):
        Pool([])
    with pytest.raises(ValueError, match="size 1"):
        Pool([Constant(0), Constant(1)], size=1)


def test_what_is_no_vector_of_learners_is_named():
    with pytest.raises(TypeError, match=r"SB3VecEnv takes gymnasium.*got <Batch of 2.*bidzoo.make_vec plays every"):
        sb3.SB3VecEnv([bidzoo.make_vec("minibridge_v0", 2)])
    with pytest.raises(TypeError, match="got <AEC environment"):
        sb3.SB3VecEnv([bidzoo.make("minibridge_v0")])


def test_a_model_that_takes_masks_in_its_observation_plays():
    """SB3's ``MultiInputPolicy``, as of its own tutorials, and its model at our tables."""
    env = gymnasium.make("bidzoo/MiniBridge-v0", size=2, mask_in="observation")
    model = PPO("MultiInputPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0).learn(64)
    game = bidzoo.make_game("minibridge_v0", size=2)
    result = match.play(game, [sb3.SB3Policy(model, game), "random"], range(20))
    assert result.reward.shape == (20, 2)


@pytest.mark.parametrize("option", [{"mask_in": "observation"}, {"autoreset_mode": "NextStep"}])
def test_parts_reset_themselves_and_show_no_dicts(option):
    with pytest.raises(ValueError, match=r"part 0 is .*expected mask_in='info' and autoreset_mode='SameStep'"):
        sb3.SB3VecEnv([single_agent_vector("comm_v0", 2, **option)])


def test_rendered_tables():
    def env(mode):
        made = sb3.SB3VecEnv([single_agent_vector("minibridge_v0", 2, size=2, render_mode=mode) for _ in range(2)])
        made.reset()
        return made

    images = env("rgb_array").get_images()
    assert len(images) == 4 and all(image.shape[2] == 3 for image in images)
    assert env("rgb_array").render().ndim == 3
    texts = env("ansi").env_method("render", indices=[0, 3])
    assert len(texts) == 2 and all(isinstance(text, str) for text in texts)
    assert env("ansi").render() is None


def test_normalized_observations_are_normalized_at_the_table_too():
    env = VecNormalize(sb3.SB3VecEnv([vector(64, 0)]), norm_reward=False)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=256, seed=0, device="cpu")
    model.learn(4_096)
    game = bidzoo.make_game("minibridge_v0", size=2)
    batch = Batch(game, 16)
    batch.reset(seed=1)
    rows = np.flatnonzero(batch.player == 0)
    views, legal = batch.views(rows), batch.action_mask[rows]
    policy = sb3.SB3Policy(model, game)
    seen = env.normalize_obs(game.encoder(views))
    shown = model.policy.get_distribution(torch.as_tensor(seen), action_masks=legal)
    expected = shown.distribution.probs.detach().numpy()
    np.testing.assert_allclose(policy.chances(views, legal) * (legal > 0), expected, atol=1e-6)
    frozen, copied = policy.freeze(), copy.deepcopy(policy)
    before = frozen.chances(views, legal)
    model.learn(4_096)
    np.testing.assert_array_equal(frozen.chances(views, legal), before)
    np.testing.assert_array_equal(copied.chances(views, legal), before)
    assert (policy.chances(views, legal) != before).any()
    model.save(file := io.BytesIO())
    loaded = MaskablePPO.load(io.BytesIO(file.getvalue()), device="cpu")
    told = sb3.SB3Policy(loaded, game, normalize=env)
    np.testing.assert_array_equal(told.chances(views, legal), policy.chances(views, legal))


@pytest.mark.parametrize("algorithm", [QRDQN, RecurrentPPO])
def test_models_that_cannot_be_asked_are_refused(algorithm):
    policy = "MlpLstmPolicy" if algorithm is RecurrentPPO else "MlpPolicy"
    model = algorithm(policy, sb3.SB3VecEnv([vector(2, 0)]), device="cpu")
    with pytest.raises(ValueError, match=rf"of {algorithm.__name__}, expected PPO, A2C, MaskablePPO or DQN"):
        sb3.SB3Policy(model, bidzoo.make_game("minibridge_v0", size=2))
