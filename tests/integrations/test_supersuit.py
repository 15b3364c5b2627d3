"""SuperSuit's wrappers, which take arrays as observations: ``mask_in="info"``."""

import numpy as np
import pytest
from pettingzoo.utils import turn_based_aec_to_parallel

import bidzoo
from bidzoo.registry import GAMES

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("ignore")]  # SuperSuit's own


@pytest.fixture
def supersuit():
    return pytest.importorskip("supersuit", reason='no SuperSuit here: pip install "bidzoo[integrations]"')


@pytest.mark.parametrize("env_id", GAMES)
def test_wrapped_environments_play_the_same_board(supersuit, env_id):
    env = bidzoo.make(env_id)
    wrapped = supersuit.flatten_v0(supersuit.dtype_v0(bidzoo.make(env_id, mask_in="info"), np.float32))
    assert wrapped.observation_space("player_0").dtype == np.float32
    for each in (env, wrapped):
        each.reset(seed=3)
    while True:
        observation, reward, over, _, info = wrapped.last()
        expected, *told = env.last()[:3]
        assert observation.dtype == np.float32 and np.array_equal(observation, expected["observation"])
        assert [reward, over] == told
        if over:
            return
        assert np.array_equal(info["action_mask"], expected["action_mask"])
        action = int(info["action_mask"].argmax())
        env.step(action)
        wrapped.step(action)


def test_parallel_environments_with_black_death(supersuit):
    inner = turn_based_aec_to_parallel(bidzoo.make("minibridge_v0", mask_in="info"))
    env = supersuit.black_death_v3(inner)
    observations, infos = env.reset(seed=3)
    shapes = {agent: env.observation_space(agent).shape for agent in env.possible_agents}
    while inner.agents:
        assert {agent: array.shape for agent, array in observations.items()} == shapes
        actions = {agent: int(infos[agent]["action_mask"].argmax()) for agent in env.agents}
        observations, rewards, _, _, infos = env.step(actions)
    assert rewards == {"player_0": 0.0, "player_1": 0.0}  # passed out


def test_dicts_are_refused(supersuit):
    """What ``mask_in`` is for; if SuperSuit takes dicts one day, the page may say so."""
    with pytest.raises(Exception, match=r"low|Dict|Box"):
        supersuit.dtype_v0(bidzoo.make("minibridge_v0"), np.float32)
