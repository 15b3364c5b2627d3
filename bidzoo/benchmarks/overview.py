"""``bidzoo bench``: an overview: real deals, the small games, the speed of everything."""

from itertools import combinations
from pathlib import Path

import numpy as np

from bidzoo import agents
from bidzoo.agents.tabular import exact
from bidzoo.benchmarks import match, throughput
from bidzoo.benchmarks.results import Estimate, Measured, ResultTable
from bidzoo.envs.bridge.deals import DATA
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.signalling.compiled import compile_game
from bidzoo.registry import make_game

BRIDGE_AGENTS = ("random", "pass", "sayc", "sl", "ppo")
SMALL_AGENTS = ("random", "cfr", "jps", "exact")
SMALL_EPISODES = 20_000


def duplicate_table(deals: str | Path, most: int | None, seed: int) -> ResultTable:
    """Every pair of bridge agents over the boards of ``deals``, the first ``most`` of them, in IMPs a board."""
    game = Bridge(play=False, deals=deals, shuffle=False, augment=False)
    boards = np.arange(len(game.deals.hands))[:most]
    n = len(boards)
    source = f"the {n} boards of {deals.name}" if isinstance(deals, Path) else f"{n} boards of the {deals} split"
    columns = ["North/South and East/West", "against", "IMPs a board", "boards"]
    note = "duplicate: every board at two tables with the sides exchanged; ± standard error"
    table = ResultTable(f"Duplicate match: {source}", columns, note=note)
    for ours, theirs in combinations(reversed(BRIDGE_AGENTS), 2):
        table.add(ours, theirs, match.duplicate(game, ours, theirs, boards, seed).estimate, n)
    return table


def small_games_table(seed: int) -> ResultTable:
    """Mean reward of each tabular agent beside the proved optimum."""
    columns, note = ["game", *SMALL_AGENTS, "proved optimum"], f"{SMALL_EPISODES} episodes each, ± standard error"
    table = ResultTable("Small games: reward an episode", columns, note=note)
    players = [agents.make(name) for name in SMALL_AGENTS]
    for env_id in agents.SMALL:
        game = make_game(env_id)
        all_episodes = [match.play(game, [player] * 2, np.arange(SMALL_EPISODES), seed, seed) for player in players]
        rewards = [Estimate.of(episodes.reward[:, 0], group=episodes.boards) for episodes in all_episodes]
        table.add(str(game), *rewards, str(exact.solve(compile_game(game))[0].value))
    return table


def main(pbn: Path | None, boards: int, seed: int) -> Measured:
    """The tables, and the bars of the throughput.

    Args:
        pbn: boards to play, with double-dummy tables; default the packaged sample.
        boards: boards of the test split.
        seed: of deals and policies.
    """
    speed, bars = throughput.main(seconds=0.2, rounds=3)
    matches = [duplicate_table(pbn or DATA / "sample.pbn", None, seed), duplicate_table("test", boards, seed)]
    return [*matches, small_games_table(seed), *speed], bars
