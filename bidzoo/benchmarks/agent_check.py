"""Check that an agent keeps to what matches rely on, and measure how long it takes: ``bidzoo check``."""

import pickle
import time
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents, registry
from bidzoo.agents.policy import Agent, Policy
from bidzoo.benchmarks.match import Episodes, play, slow
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.options import whole
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Game

BOARDS, SLOW_BOARDS = 40, 2  # default numbers: of an agent that answers at once, of one that searches


class Checked(NamedTuple):
    """An agent that kept to all."""

    agent: str
    game: str
    boards: int
    decisions: int
    milliseconds: float  # of processor time a decision, when it is asked for all boards in step


class Watched:
    """``policy``, timed, and what it may not write kept."""

    def __init__(self, policy: Policy) -> None:
        self.policy, self.name = policy, policy.name
        self.decisions, self.seconds = 0, 0.0

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``; ValueError if the views or the mask are others afterwards."""
        before = views.tobytes(), legal.tobytes()
        began = time.process_time()
        actions = self.policy.act(views, legal, rng)
        self.seconds += time.process_time() - began
        self.decisions += len(views)
        for name, array, content in zip(("views", "legal"), (views, legal), before):
            if array.tobytes() != content:
                raise ValueError(f"{self.name}: act() writes into its {name}, expected them as they were")
        return actions


def check_agent(
    policy: Agent, game: Game | str | None = None, boards: int | None = None, seed: int = 0, **options: Any
) -> Checked:
    """Play boards with an agent in every seat and report the first error, for the tests of an agent of your own.

    - its actions are legal, one integer a row, and it leaves views and masks as they are
    - it is deterministic: the same boards again give the same actions
    - its rows are independent: a board alone, and among others in another order, gives the same actions
    - it can be pickled, as workers need it, and its copy acts alike

    Args:
        policy: what ``agents.resolve`` takes.
        game: what it plays, with its ``options``; default: the first that the agent says it plays.
        boards: how many, by default 40, of an agent that searches 2.
        seed: of the deals and of the agent's random numbers.

    Raises:
        ValueError: the first thing wrong: what was found and what was expected.
        KeyError, TypeError: as of ``agents.resolve`` and ``bidzoo.make_game``.
    """
    if game is None:
        said = agents.games_of(policy)
        game = said[0] if said else "bridge_bidding_v0"
    rules = registry.make_game(game, **options) if isinstance(game, str) else game
    agent = agents.resolve(policy, rules)
    usual = SLOW_BOARDS if slow([agent]) else BOARDS
    numbers = np.arange(whole("boards", usual if boards is None else boards, 2, 2**31))

    def played(by: Policy, chosen: I64) -> Episodes:
        return play(rules, [by] * rules.num_players, chosen, seed, seed, actions=True)

    watched = Watched(agent)
    first = played(watched, numbers)
    copied = _copy_of(agent)
    others = (
        ("not deterministic: the same boards again", played(agent, numbers)),
        ("not independent of other rows: the last board alone", played(agent, numbers[-1:])),
        ("not independent of other rows: the boards in another order", played(agent, numbers[::-1])),
        ("its copy, pickled for a worker, acts otherwise: the same boards", played(copied, numbers)),
    )
    expected = _taken(first)
    for words, episodes in others:
        for board, actions in zip(episodes.boards, _taken(episodes)):
            if actions != expected[board]:
                texts = [" ".join(map(rules.action_text, each)) for each in (actions, expected[board])]
                raise ValueError(f"{agent.name}: {words} gave {texts[0]} at board {board}, expected {texts[1]}")
    milliseconds = 1000 * watched.seconds / watched.decisions
    return Checked(agent.name, str(rules), len(numbers), watched.decisions, milliseconds)


def _copy_of(agent: Policy) -> Policy:
    try:
        copied: Policy = pickle.loads(pickle.dumps(agent))
    except Exception as problem:  # whatever its parts raise
        raise ValueError(f"{agent.name}: cannot be pickled, as workers need it: {problem}") from problem
    return copied


def _taken(episodes: Episodes) -> list[list[int]]:
    assert episodes.actions is not None
    return [[int(action) for action in row if action >= 0] for row in episodes.actions]
