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
from bidzoo.envs.asking import AtTable, ask_one
from bidzoo.envs.game import Game, Table

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
    - a copy at every seat acts alike: what it remembers of one seat, such as a hand, is of no use at another
    - asked at one table (``at_table``), it acts as it does in a batch

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
    copied = copy_of(agent)
    apart = play(rules, [copy_of(agent) for _ in range(rules.num_players)], numbers, seed, seed, actions=True)
    others = (
        ("not deterministic: the same boards again", _taken(played(agent, numbers))),
        ("not independent of other rows: the last board alone", _taken(played(agent, numbers[-1:]))),
        ("not independent of other rows: the boards in another order", _taken(played(agent, numbers[::-1]))),
        ("its copy, pickled for a worker, acts otherwise: the same boards", _taken(played(copied, numbers))),
        ("it knows at one seat what it saw at another: a copy at every seat", _taken(apart)),
        ("asked at one table it acts otherwise: the same boards", _at_one_table(agent, rules, numbers, seed)),
    )
    expected = _taken(first)
    for words, boards_played in others:
        for board, actions in boards_played.items():
            if actions != expected[board]:
                texts = [" ".join(map(rules.action_text, each)) for each in (actions, expected[board])]
                raise ValueError(f"{agent.name}: {words} gave {texts[0]} at board {board}, expected {texts[1]}")
    milliseconds = 1000 * watched.seconds / watched.decisions
    return Checked(agent.name, str(rules), len(numbers), watched.decisions, milliseconds)


def copy_of(agent: Policy) -> Policy:
    """A copy that shares no memory with ``agent``; ValueError if it cannot be pickled."""
    try:
        copied: Policy = pickle.loads(pickle.dumps(agent))
    except Exception as problem:  # whatever its parts raise
        raise ValueError(f"{agent.name}: cannot be pickled, as workers need it: {problem}") from problem
    return copied


def _taken(episodes: Episodes) -> dict[int, list[int]]:
    """The actions of each board."""
    assert episodes.actions is not None
    rows = ([int(action) for action in row if action >= 0] for row in episodes.actions)
    return dict(zip(episodes.boards.tolist(), rows))


def _at_one_table(agent: Policy, game: Game, boards: I64, seed: int) -> dict[int, list[int]]:
    """The actions of each board of an agent that has a form for one table, as ``env.ask`` uses it; else none."""
    played = dict[int, list[int]]()
    for board in boards.tolist() if isinstance(agent, AtTable) else ():
        table, actions = Table(game), list[int]()
        table.begin(board, seed)
        while not table.out.over[0]:
            actions.append(ask_one(agent, table, seed))
            table.step(actions[-1])
        played[board] = actions
    return played
