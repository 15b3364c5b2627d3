"""TorchRL, Tianshou and RLlib learn on our environments; each script of docs/training beats random by a margin.

Random play of MiniBridge with 2 cards is worth -0.59 on these boards, passing 0, the optimum 0.67.
"""

import numpy as np
import pytest

from bidzoo import agents

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]  # the libraries' own
RANDOM = agents.make("random")


def test_torchrl(script):
    pytest.importorskip("torchrl")
    file = script("torchrl_reinforce")
    assert file.score(file.train(8_192, batch=256)) > file.score(RANDOM) + 0.6


@pytest.mark.parametrize("tables", [0, 3], ids=["one table", "a vector"])
def test_torchrl_takes_the_gymnasium_environments(tables):
    """``GymEnv`` tries an option first that Gymnasium's environments refuse in Python's words."""
    envs = pytest.importorskip("torchrl.envs")
    import gymnasium

    options = {"size": 2, "partner": "jps", "mask_in": "observation"}
    if tables:
        vector = gymnasium.make_vec("bidzoo/MiniBridge-v0", tables, autoreset_mode="Disabled", **options)
        env = envs.GymWrapper(vector, categorical_action_encoding=True)
    else:
        env = envs.GymEnv("bidzoo/MiniBridge-v0", categorical_action_encoding=True, **options)
    env = envs.TransformedEnv(env, envs.ActionMask(mask_key="action_mask"))
    turns = env.rollout(40, break_when_any_done=False)
    assert turns.shape == ((tables, 40) if tables else (40,))
    assert turns["action_mask"].gather(-1, turns["action"][..., None]).all()  # every action is legal
    ended = turns["next", "done"].squeeze(-1)
    assert ended.any() and (turns["next", "reward"].squeeze(-1)[~ended] == 0).all()


def test_tianshou(script):
    pytest.importorskip("tianshou")
    file = script("tianshou_dqn")
    assert file.score(file.train(epochs=5)) > file.score([RANDOM, RANDOM]) + 0.5


def test_rllib(script):
    pytest.importorskip("ray.rllib")
    file = script("rllib_ppo")
    assert file.score(file.train(iterations=6)) > file.score(RANDOM) + 0.6


def test_rllib_env_is_the_aec_environment():
    """Same boards, same seats to act, same rewards; observations under RLlib's names."""
    pytest.importorskip("ray.rllib")
    import bidzoo
    from bidzoo.wrappers.rllib import RLlibEnv

    env, plain = RLlibEnv({"env_id": "minibridge_v0", "size": 3}), bidzoo.make("minibridge_v0", size=3)
    for episode in range(20):
        seed = 5 if episode == 0 else None
        (shown, _), _ = env.reset(seed=seed), plain.reset(seed=seed)
        over = False
        while not over:
            agent = plain.agent_selection
            assert set(shown) == {agent} and env.observation_spaces[agent].contains(shown[agent])
            expected = plain.observe(agent)
            np.testing.assert_array_equal(shown[agent]["observations"], expected["observation"])
            np.testing.assert_array_equal(shown[agent]["action_mask"], expected["action_mask"])
            action = int(np.flatnonzero(expected["action_mask"])[(episode + 1) % expected["action_mask"].sum()])
            with pytest.raises(ValueError, match="expected an action of"):
                env.step({"player_9": action})
            shown, rewards, ends, _, _ = env.step({agent: action})
            plain.step(action)
            over = ends["__all__"]
            assert rewards == (plain.rewards if over else {})
        assert set(shown) == {"player_0", "player_1"} and all(plain.terminations.values())


def test_rllib_env_says_what_is_wrong():
    pytest.importorskip("ray.rllib")
    from bidzoo.wrappers.rllib import RLlibEnv

    env = RLlibEnv({"env_id": "minibridge_v0", "render_mode": "ansi"})
    (agent,) = env.reset(seed=1)[0]
    before = env.render()
    for action in (1.7, np.float32(0.9), "1", None):
        with pytest.raises(ValueError, match="is not an action"):
            env.step({agent: action})
    assert isinstance(before, str) and env.render() == before and env.render_mode == "ansi"
    env.step({agent: np.array(1)})
    env.close()
    for config in ({}, None):
        with pytest.raises(ValueError, match=r"expected a game, {'env_id': 'minibridge_v0'"):
            RLlibEnv(config)
