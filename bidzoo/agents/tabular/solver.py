"""The tabular agents by name: each solves any small game when it first sees it."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

import numpy as np

from bidzoo.agents.tabular import cfr as cfr_file
from bidzoo.agents.tabular import jps as jps_file
from bidzoo.agents.tabular.policy import TablePolicy, game_of
from bidzoo.agents.tabular.strategy import purify
from bidzoo.envs.signals.compile import compile_game
from bidzoo.envs.signals.compiled import Compiled
from bidzoo.envs.signals.game import SignalGame
from bidzoo.envs.signals.state import COMM, MINI_HANABI, MINIBRIDGE, SIMPLE_BIDDING
from bidzoo.kernels import F64, I8, I64, Tables
from bidzoo.streams import Streams

FORMS = {
    COMM: "comm_v0(length={})",
    SIMPLE_BIDDING: "simple_bidding_v0(size={})",
    MINIBRIDGE: "minibridge_v0(size={})",
    MINI_HANABI: "mini_hanabi_v0()",
}
MOST_CHAINS = 10_000_000  # JPS searches to the leaves if there are no more chains of information sets than this


def chains(game: Compiled) -> float:
    """Number of proposals of a JPS iteration that searches from the root to the leaves."""
    total, below = 0.0, np.zeros(len(game.player))
    below[0] = 1.0
    for m in range(1, len(game.player)):
        parent = int(game.parent[m])
        again = parent > 0 and game.player[game.parent[parent]] == game.player[parent]
        below[m] = below[parent] * (1 if again else game.num_types[game.player[parent]])
        total += below[m]
    return total


def search_depth(game: Compiled) -> int:
    """The D of JPS: 0 (to the leaves) in small trees, else 3; it is the paper's choice in all games of Table 1."""
    return 0 if chains(game) <= MOST_CHAINS else 3


def solve_cfr(game: Compiled, seed: int, **options: Any) -> F64:
    """CFR1k, purified."""
    return purify(game, cfr_file.cfr(game, cfr_file.Config(seed=seed, **options)))


def solve_jps(game: Compiled, seed: int, **options: Any) -> F64:
    """CFR1k boosted by JPS."""
    strategy = cfr_file.cfr(game, cfr_file.Config(seed=seed))
    return jps_file.jps(game, strategy, jps_file.Config(**{"depth": search_depth(game), "seed": seed, **options}))


def _need_torch(name: str) -> None:
    if find_spec("torch") is None:
        raise ImportError(f"{name} trains with torch, which is not installed: pip install 'bidzoo[train]'")


def solve_a2c(game: Compiled, seed: int, **options: Any) -> F64:
    """A2C self-play; ImportError without torch."""
    from bidzoo.agents.tabular import a2c as file

    _need_torch("A2C")
    return file.train(game, file.Config(seed=seed, **options))


def solve_bad(game: Compiled, seed: int, **options: Any) -> F64:
    """The Bayesian action decoder; ImportError without torch."""
    from bidzoo.agents.tabular import bad as file

    _need_torch("BAD")
    return file.train(game, file.Config(seed=seed, **options))


class Solved:
    """Solves each small game it is shown, once, and plays the result."""

    def __init__(self, name: str, solve: Callable[..., F64], seed: int, options: dict[str, Any]) -> None:
        self.name, self.seed = name, seed
        self._solve, self._options = solve, options
        self._policies: dict[str, TablePolicy] = {}

    def __repr__(self) -> str:
        return f"<{self.name}: seed {self.seed}, solved {', '.join(self._policies) or 'nothing yet'}>"

    def policy(self, game: SignalGame) -> TablePolicy:
        """What it plays in ``game``."""
        if str(game) not in self._policies:
            compiled = compile_game(game)
            strategy = self._solve(compiled, self.seed, **self._options)
            self._policies[str(game)] = TablePolicy(game, strategy, self.name, compiled)
        return self._policies[str(game)]

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """As ``TablePolicy.act``, game by game."""
        actions = np.empty(len(views), np.int64)
        for policy, rows in self._by_game(views):
            actions[rows] = policy.act(views[rows], legal[rows], rng[rows])
        return actions

    def probabilities(self, views: Tables, legal: I8) -> F64:
        """As ``TablePolicy.probabilities``, game by game."""
        chances = np.empty(legal.shape)
        for policy, rows in self._by_game(views):
            chances[rows] = policy.probabilities(views[rows], legal[rows])
        return chances

    def _by_game(self, views: Tables) -> Iterator[tuple[TablePolicy, I64]]:
        if views.dtype.names is None or "extent" not in views.dtype.names:
            raise ValueError(f"{self.name} plays the small games (Comm, Simple Bidding, MiniBridge, Mini-Hanabi) only")
        shown = np.stack([views["game"], views["extent"]], axis=1)
        for code, extent in np.unique(shown, axis=0):
            rows = np.flatnonzero((shown == (code, extent)).all(axis=1))
            yield self.policy(game_of(FORMS[int(code)].format(int(extent)))), rows


def _solved(name: str, solve: Callable[..., F64], config: type, seed: int, options: dict[str, Any]) -> Solved:
    known = [field.name for field in fields(config)]
    for option in options.keys() - set(known):
        raise TypeError(f"agent {name!r} has no option {option!r}; choose from {', '.join(known)}")
    config(seed=seed, **options)  # a wrong value is named now, not when a game is solved
    return Solved(name, solve, seed, options)


def cfr(seed: int = 0, **options: Any) -> Solved:
    """CFR1k; ``options`` as in ``bidzoo.agents.tabular.cfr.Config``."""
    return _solved("cfr", solve_cfr, cfr_file.Config, seed, options)


def jps(seed: int = 0, **options: Any) -> Solved:
    """CFR1k+JPS; ``options`` as in ``bidzoo.agents.tabular.jps.Config``."""
    return _solved("jps", solve_jps, jps_file.Config, seed, options)


def a2c(seed: int = 0, **options: Any) -> Solved:
    """A2C; ``options`` as in ``bidzoo.agents.tabular.a2c.Config``."""
    from bidzoo.agents.tabular.a2c import Config

    return _solved("a2c", solve_a2c, Config, seed, options)


def bad(seed: int = 0, **options: Any) -> Solved:
    """BAD; ``options`` as in ``bidzoo.agents.tabular.bad.Config``."""
    from bidzoo.agents.tabular.bad import Config

    return _solved("bad", solve_bad, Config, seed, options)
