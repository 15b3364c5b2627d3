"""What must work after ``pip install bidzoo`` alone: run from anywhere but the checkout.

python smoke.py [all]      ``all``: the optional parts are installed too
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import numpy as np

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import duplicate, play
from bidzoo.envs.bridge.deals import DATA, SPLITS, packaged
from bidzoo.envs.bridge.game import Bridge

RANDOM = agents.make("random")


def check_environments() -> None:
    """Every environment by every door, to the end of an episode."""
    for env_id in bidzoo.available():
        env = bidzoo.make(env_id)
        env.reset(seed=1)
        rng = np.random.default_rng(1)
        for _ in env.agent_iter(5000):
            observation, _, over, _, _ = env.last()
            env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        assert env.agents == [] or env_id == "spades_v0", env_id
        batch = bidzoo.make_vec(env_id, 4)
        batch.reset(1)
        batch.step(batch.action_mask.argmax(1))
        single = gymnasium.make(bidzoo.registry.GAMES[env_id].gymnasium_id, disable_env_checker=True)
        _, info = single.reset(seed=1)
        single.step(int(info["action_mask"].argmax()))
        print(env_id, "ok")


def check_agents() -> None:
    """Every agent is made; those of bridge play a duplicate match against random play."""
    game, boards = Bridge(play=False, deals="test"), np.arange(8)
    for name in agents.AGENTS:
        agent = agents.make(name)
        if "bridge_bidding_v0" in agents.AGENTS[name].games:
            assert len(duplicate(game, agent, RANDOM, boards).imps) == len(boards)
        print(name, "ok")
    assert play(bidzoo.make_game("comm_v0"), [RANDOM] * 2, boards).reward.shape == (8, 2)


def check_data() -> None:
    """The packaged deals and boards."""
    assert all(len(packaged(split).hands) for split in SPLITS)
    assert len(Bridge(play=False, deals=DATA / "sample.pbn").deals.hands)


def main() -> None:
    """All of it."""
    root = Path(bidzoo.__file__).parent
    assert "site-packages" in str(root), f"{root} is not an installed package"
    check_data()
    check_environments()
    check_agents()
    listed = subprocess.run(
        [Path(sys.executable).with_name("bidzoo"), "list"], capture_output=True, text=True, check=True
    )
    assert all(env_id in listed.stdout for env_id in bidzoo.available())
    optional = find_spec("pyspiel") is not None
    if "all" in sys.argv[1:]:
        assert optional
        env = bidzoo.make("bridge_bidding_v0", render_mode="rgb_array")
        env.reset(seed=1)
        assert env.render().ndim == 3
        from bidzoo.wrappers import openspiel

        assert openspiel.NAMES
    else:
        assert not optional
    print("installed package ok")


if __name__ == "__main__":
    main()
