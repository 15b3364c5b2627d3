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
