"""The comparisons of "Bidding in Spades": who meets whom, and what the paper measured (Tables 2 and 4)."""

from dataclasses import dataclass

import numpy as np

from bidzoo.agents.spades.bidder import Bidder
from bidzoo.agents.spades.choose import Player
from bidzoo.agents.spades.match import MOST_ROUNDS, Games, play_games, rules
from bidzoo.kernels import F64, I64, Bool, Tables

LOOSE_LIMITS = (8, 11, 13)  # the naive classifier that does best here; as printed (5, 8, 10) it hardly calls nil
CHUNK = 1_000  # games between two signs of progress
SRP, WRP = Player("srp"), Player("wrp")


@dataclass(frozen=True)
class Comparison:
    """One row of a table: the first partnership against the second."""

    name: str
    group: str  # rule-based, uct, ablation or learned
    bidders: tuple[Bidder, Bidder]
    players: tuple[Player, Player]
    paper_win: float | None = None  # per cent
    paper_points: tuple[float, float] | None = None  # a round
    win_goal: int = 200


def _against(bidder: str, player: Player, name: str, win: float, points: tuple[float, float]) -> Comparison:
    group = "uct" if player.kind == "uct" else "rule-based"
    bidders = (Bidder.named("bis"), Bidder.named(bidder))
    return Comparison(f"BIS : {bidder.upper()}, {name}", group, bidders, (player, player), win, points)


def _without(
    name: str, win: float | None, points: tuple[float, float] | None, goal: int = 200, **off: object
) -> Comparison:
    bidders = (Bidder.named("bis"), Bidder.named("bis", **off))
    return Comparison(name, "ablation", bidders, (SRP, SRP), win, points, goal)


def comparisons() -> tuple[Comparison, ...]:
    """Every row, in the paper's order; the rows without a number of the paper are ours."""
    learned, others = Bidder.named("learned"), [Bidder.named(kind) for kind in ("bis", "rb", "ms", "io")]
    rb, loose = Bidder.named("rb"), Bidder.named("rb", nil_limits=LOOSE_LIMITS)
    return (
        _against("rb", WRP, "WRP", 51.9, (53.2, 50.0)),
        _against("ms", WRP, "WRP", 66.9, (50.1, 38.2)),
        _against("io", WRP, "WRP", 68.6, (52.8, 46.5)),
        _against("rb", SRP, "SRP", 52.3, (56.2, 52.8)),
        _against("ms", SRP, "SRP", 67.7, (50.8, 38.4)),
        _against("io", SRP, "SRP", 67.1, (51.6, 46.3)),
        Comparison("RB+SRP : RB+WRP", "rule-based", (rb, rb), (SRP, WRP), 56.0),
        Comparison(
            "BIS : RB that calls nil up to 8, J, K, SRP", "rule-based", (Bidder.named("bis"), loose), (SRP, SRP)
        ),
        Comparison("BIS+SRP : RB+WRP", "rule-based", (Bidder.named("bis"), rb), (SRP, WRP)),
        _against("rb", Player("uct", last=3), "UCT(3)", 52.1, (52.0, 48.5)),
        _against("rb", Player("uct", last=5), "UCT(5)", 52.9, (48.5, 40.3)),
        Comparison("RB+UCT(3) : RB+SRP", "uct", (rb, rb), (Player("uct", last=3), SRP)),
        Comparison("RB+UCT(3, inferring) : RB+SRP", "uct", (rb, rb), (Player("uct", last=3, infer="bids"), SRP)),
        _without("BIS : single success curve", 51.2, (44.7, 43.6), single_curve=True),
        _without("BIS : no end-game conditions", 52.0, (48.3, 49.9), endgame=False),
        _without("BIS : no end-game conditions, goal 1", 52.8, (43.5, 52.9), 1, endgame=False),
        _without("BIS : BIS*", None, None, bid_sensitive=True),
        _without("BIS : no conventions", None, None, conventions=False),
        *(Comparison(f"learned : {other.kind.upper()}", "learned", (learned, other), (SRP, SRP)) for other in others),
    )


def won_by_first(games: Games) -> F64:
    """Share of each pair of games won by the first partnership, a draw being half: ``[G / 2]``."""
    return share_won(games.winner).reshape(-1, 2).mean(axis=1)


def share_won(winner: I64) -> F64:
    """1 where ``winner`` ``[G]`` is the first partnership, 0; a half where it is nobody, -1."""
    return (winner == 0) + 0.5 * (winner < 0)


def rounds_log(games: Games) -> Tables:
    """Every round of every game, in one array of ``match.ROUND``."""
    log: Tables = games.log[np.arange(games.log.shape[1]) < games.rounds[:, None]]
    return log


def seats_of_first(log: Tables) -> Bool:
    """Whether a seat belongs to the first partnership: ``[rounds, 4]``."""
    first: Bool = (np.arange(4) + log["swapped"][:, None]) % 2 == 0
    return first


def gains_by_partnership(log: Tables) -> F64:
    """Points of the round for the first and the second partnership: ``[rounds, 2]``."""
    gains = log["gains"].astype(float)
    return np.where(log["swapped"][:, None] == 1, gains[:, ::-1], gains)


def nil_shares(log: Tables, mine: Bool) -> tuple[float, float]:
    """Per cent of the bids of the seats ``mine`` ``[rounds, 4]`` that are nil, and of these that succeed."""
    nil = (log["bids"] == 0) & mine
    tried, kept = int(nil.sum()), int(((log["won"] == 0) & nil).sum())
    return 100 * tried / max(1, int(mine.sum())), 100 * kept / max(1, tried)


def measure(row: Comparison, games: int, seed: int, first: int = 0) -> Games:
    """Games ``first`` ... of a row; an even number, so that each board is played both ways."""
    blank = rules(win_goal=row.win_goal, lose_goal=-100, max_rounds=MOST_ROUNDS)
    return play_games(games, row.bidders, row.players, seed, first, blank)


class Tally:
    """Gathers a row's chunks of games."""

    def __init__(self) -> None:
        self.shares: list[F64] = []
        self.logs: list[Tables] = []

    def add(self, games: Games) -> None:
        """Count some more games."""
        self.shares.append(won_by_first(games))
        self.logs.append(rounds_log(games))

    def won(self) -> F64:
        """Per cent of each pair of games won by the first partnership: ``[pairs]``."""
        return 100 * np.concatenate(self.shares)

    def points(self, partnership: int) -> F64:
        """Points of every round: ``[rounds]``."""
        return gains_by_partnership(np.concatenate(self.logs))[:, partnership]

    def nils(self, first: bool) -> tuple[float, float]:
        """``nil_shares`` of the first or the second partnership."""
        log = np.concatenate(self.logs)
        return nil_shares(log, seats_of_first(log) == first)
