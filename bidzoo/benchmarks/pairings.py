"""Two agents compared in Spades and the small games (in bridge: ``match.duplicate``): seats, and who did better.

Spades is played duplicate too: every board at two tables, with the partnerships exchanged. In the games of two partners
who are paid alike, each agent plays with itself and at either seat with the other, on the same boards.
"""

from collections.abc import Callable, Sequence

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.benchmarks.match import Episodes, play_each
from bidzoo.benchmarks.results import Estimate, Table
from bidzoo.envs.game import Game
from bidzoo.kernels import F64, I64

SEATINGS = {  # by utility: which agent, 0 or 1, each player is
    "zero_sum": ((0, 1, 0, 1), (1, 0, 1, 0)),
    "identical": ((0, 0), (1, 1), (0, 1), (1, 0)),
}
Names = tuple[str, str]


def pairings(
    game: Game,
    ours: Policy,
    theirs: Policy,
    boards: I64,
    seed: int = 0,
    policy_seed: int = 0,
    workers: int = 1,
    backend: str | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> list[Episodes]:
    """Every board ``[N]`` in each of the game's ``SEATINGS``, with the actions taken; arguments as of ``play_each``."""
    seated = [[(ours, theirs)[agent] for agent in seats] for seats in SEATINGS[game.utility]]
    return play_each(game, seated, boards, seed, policy_seed, workers, backend, report, actions=True)


def summary(game: Game, names: Names, played: Sequence[Episodes]) -> Table:
    """What came of ``pairings`` between agents called ``names``; of some boards only, if others are missing."""
    return _exchanged(game, names, played) if game.utility == "zero_sum" else _partners(game, names, played)


def _partners(game: Game, names: Names, played: Sequence[Episodes]) -> Table:
    table = Table(f"{game}", ["player_0", "player_1", "boards", "mean reward"], note="± standard error over boards")
    for seats, episodes in zip(SEATINGS["identical"], played, strict=True):
        if len(episodes.boards):
            first, second = (names[agent] for agent in seats)
            reward = Estimate.of(episodes.reward[:, 0], group=episodes.boards)
            row = {"player_0": first, "player_1": second, "boards": len(episodes.boards), "mean reward": reward}
            table.rows.append(row)
    return table


def _exchanged(game: Game, names: Names, played: Sequence[Episodes]) -> Table:
    from bidzoo.benchmarks.spades_rows import share_won

    tables, boards = (np.concatenate(arrays) for arrays in zip(*((e.tables, e.boards) for e in played)))
    seats = np.concatenate([np.tile(s, (len(e.boards), 1)) for s, e in zip(SEATINGS["zero_sum"], played, strict=True)])
    rounds, winner = tables["rounds"].astype(np.int64), tables["winner"].astype(np.int64)
    won = share_won(np.where(winner < 0, winner, seats[np.arange(len(seats)), winner]))
    scores = np.take_along_axis(tables["scores"], np.arange(4) % tables["sides"][:, None].astype(np.int64), 1)
    points = np.stack(
        [(scores * (seats == agent)).sum(1) / 2 for agent in range(2)], 1
    )  # of two seats, one side or two
    whole = bool((tables["max_rounds"] > 1).any())
    columns = ["agent", *["games won %"] * whole, "points a round", "ahead a round"]
    note = f"{len(np.unique(boards)):,} boards, {rounds.sum():,} rounds; ± standard error over boards"
    table = Table(f"{game}: {names[0]} against {names[1]}", columns, note=note)
    for agent in range(2):
        row = {
            "agent": names[agent],
            "games won %": Estimate.of(100 * (won if agent == 0 else 1 - won), group=boards),
            "points a round": _a_round(points[:, agent], rounds, boards),
            "ahead a round": _a_round(points[:, agent] - points[:, 1 - agent], rounds, boards),
        }
        table.rows.append({name: row[name] for name in columns})
    return table


def _a_round(points: F64, rounds: I64, boards: I64) -> Estimate:
    """Points a round over all rounds; those of a board are one sample for the error."""
    return Estimate.of(np.repeat(points / rounds, rounds), group=np.repeat(boards, rounds))
