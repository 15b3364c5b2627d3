"""``bidzoo bench``: one run through the house - real deals, the small games, the speed of everything."""

import time
from itertools import combinations
from pathlib import Path

import numpy as np

from bidzoo import agents
from bidzoo.agents.tabular import exact
from bidzoo.benchmarks import match, throughput
from bidzoo.benchmarks.results import Estimate, Figure, Table
from bidzoo.envs.bridge.deals import DATA, packaged
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.signals.compile import compile_game
from bidzoo.registry import make_game

BRIDGE_AGENTS = ("random", "pass", "sayc", "sl", "ppo")
SMALL_GAMES = ("comm_v0", "mini_hanabi_v0", "simple_bidding_v0", "minibridge_v0")
SMALL_AGENTS = ("random", "cfr", "jps", "exact")
SMALL_EPISODES = 20_000


def duplicate_table(title: str, game: Bridge, boards: int, seed: int, names: tuple[str, ...] = BRIDGE_AGENTS) -> Table:
    """Every pair of bridge agents against every other over the same boards, IMPs a board."""
    table = Table(
        title,
        ["North/South and East/West", "against", "IMPs a board", "boards"],
        note="duplicate: every board at two tables with the sides exchanged; ± standard error",
    )
    for ours, theirs in combinations(reversed(names), 2):
        played = match.duplicate(game, agents.make(ours), agents.make(theirs), np.arange(boards), seed)
        row = {"North/South and East/West": ours, "against": theirs, "IMPs a board": played.estimate, "boards": boards}
        table.rows.append(row)
    return table


def small_games_table(seed: int, episodes: int = SMALL_EPISODES) -> Table:
    """Mean reward of each tabular agent beside the proved optimum."""
    table = Table(
        "Small games: reward an episode",
        ["game", *SMALL_AGENTS, "proved optimum"],
        note=f"{episodes} episodes each, ± standard error",
    )
    players = {name: agents.make(name) for name in SMALL_AGENTS}
    for env_id in SMALL_GAMES:
        game = make_game(env_id)
        row: dict[str, object] = {"game": str(game)}
        for name, player in players.items():
            episodes_of = match.play(game, [player] * 2, np.arange(episodes), seed, policy_seed=seed)
            row[name] = Estimate.of(episodes_of.reward[:, 0])
        row["proved optimum"] = str(exact.solve(compile_game(game))[0].value)
        table.rows.append(row)
    return table


def main(pbn: Path | None, boards: int, seed: int) -> tuple[list[Table], list[Figure], float]:
    """The tables, the bars of the throughput, and the seconds it took.

    Args:
        pbn: boards to play, with double-dummy tables; default the packaged sample.
        boards: boards of the test split.
        seed: of deals and policies.
    """
    began = time.perf_counter()
    path = pbn or DATA / "sample.pbn"
    game = Bridge(play=False, deals=path, shuffle=False, augment=False)
    count = len(game.deals.hands)
    tables = [duplicate_table(f"Duplicate match: the {count} boards of {path.name}", game, count, seed)]
    game = Bridge(play=False, deals="test", shuffle=False, augment=False)
    count = min(boards, len(packaged("test").hands))
    tables.append(duplicate_table(f"Duplicate match: {count} boards of the test split", game, count, seed))
    tables.append(small_games_table(seed))
    speed, bars, _ = throughput.main(seconds=0.2, rounds=3)
    return tables + speed, bars, time.perf_counter() - began
