"""Code as README and docs have it, for mypy alone (``make check``): what users write passes with ``--strict``."""

from typing import Any

import numpy as np

import bidzoo
from bidzoo.benchmarks import match
from bidzoo.core.kernels import I8, I64


def first(observation: I8, mask: I8) -> Any:
    """A plain function as a player."""
    return mask.argmax()


def lowest(observation: I8, mask: I8) -> int:
    """Another, which is exact about its answer."""
    return int(np.flatnonzero(mask)[0])


def table() -> I64:
    """The PettingZoo loop, and agents asked by it."""
    env = bidzoo.make("bridge_bidding_v0", render_mode="ansi")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else observation["action_mask"].argmax())
        env.step(int(observation["action_mask"].argmax()))
        env.step(np.flatnonzero(env.observe(agent)["action_mask"])[0])
    unseen, *_ = env.last(observe=False)
    assert unseen is None
    env.step(env.ask(bidzoo.agents.make("sayc")))
    env.step(env.ask(first))
    env.unwrapped.game.start(0, seed=1)
    batch = bidzoo.make_vec("bridge_bidding_v0", num_envs=8)
    batch.reset(seed=1)
    batch.step(batch.action_mask.argmax(1))
    return batch.boards


def matches() -> match.Match:
    """Names, functions and agents sit down together."""
    small = bidzoo.make_game("minibridge", size=3)
    for partner in ("random", "cfr", "exact"):
        match.play(small, [first, partner], np.arange(10))
    match.play(small, [lowest, "exact"], range(10))
    match.play(small, [lowest, bidzoo.agents.make("exact")], [0, 1])
    match.pairings(small, first, "exact", range(10))
    game = bidzoo.make_game("bridge_bidding", deals="validation")
    assert len(game.deals.hands)
    match.duplicate(game, first, ("sayc", lowest), boards=np.arange(100))
    name: str = "bridge_bidding_v0"
    return match.duplicate(bidzoo.make_game(name), bidzoo.agents.make("sayc"), "sl", np.arange(10))


def calls() -> list[str]:
    """Single hands."""
    said: str = bidzoo.bridge.call("sayc", "AKQ2.K54.QJ3.A92", dealer="W", calls="P")
    words: str = bidzoo.bridge.call(first, "AKQ2.K54.QJ3.A92", explain=True).explanation.text
    return [said, words, *bidzoo.bridge.call_batch("sl", ["AKQ2.K54.QJ3.A92"], calls=["1C X"])]
