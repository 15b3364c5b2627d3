"""Whole games: repeatable, in any batch, and won by whom they should be."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config as numba_config
from success_curves import CurveOptions, fit_curves, train_success_curves
from typer.testing import CliRunner

from bidzoo.agents.spades import games
from bidzoo.agents.spades.bis import SEQUENCES
from bidzoo.agents.spades.games import Games, collect_nils, deals_seed, paper_game, play_games, share_won
from bidzoo.agents.spades.policy import Bidder, Player, SpadesPolicy
from bidzoo.benchmarks import spades as bench
from bidzoo.benchmarks.results import load
from bidzoo.benchmarks.spades import gains_by_partnership, rounds_log
from bidzoo.cli.main import app
from bidzoo.core import compiling

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")

SRP, WRP = Player("srp"), Player("wrp")
BIS, RB, MS, IO = (Bidder.named(name) for name in ("bis", "rb", "ms", "io"))


def play(bidders, players, numbers, seed, **keywords) -> Games:
    pair = [SpadesPolicy(bidder, player) for bidder, player in zip(bidders, players, strict=True)]
    return play_games(pair, np.arange(numbers) if isinstance(numbers, int) else numbers, seed, **keywords)


def won(games: Games) -> float:
    return float(share_won(games.winner).mean())


def test_games_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain Python takes seconds for one, and hours where UCT plays: a match of rb and uct did not end."""
    patient = []
    monkeypatch.setattr(games, "_play", lambda *arguments: patient.append(compiling.patient()))
    play((BIS, RB), (SRP, SRP), 2, 0)
    assert patient == [False] and compiling.patient()


def test_games_do_not_depend_on_the_batch() -> None:
    whole = play((BIS, RB), (SRP, WRP), 40, 3)
    parts = [play((BIS, RB), (SRP, WRP), numbers, 3) for numbers in (np.arange(13), np.arange(13, 40))]
    for name in ("winner", "scores", "rounds", "branches"):
        np.testing.assert_array_equal(getattr(whole, name), np.concatenate([getattr(p, name) for p in parts]))
    assert not np.array_equal(whole.scores, play((BIS, RB), (SRP, WRP), 40, 4).scores)


def test_equal_partnerships_win_each_board_once() -> None:
    games = play((RB, RB), (SRP, SRP), 200, 1)
    np.testing.assert_array_equal(share_won(games.winner).reshape(-1, 2).mean(axis=1), 0.5)


def test_self_play_is_counted_by_board() -> None:
    """The same agents the other way round play the same game: it adds no sample, nor do more rounds of a board."""
    both, once = play((BIS, BIS), (SRP, SRP), 80, 1), play((BIS, BIS), (SRP, SRP), 2 * np.arange(40), 1)
    np.testing.assert_array_equal(both.states["scores"][::2], both.states["scores"][1::2])
    tables = [bench.overview(rounds_log(games), games) for games in (both, once)]
    assert len(rounds_log(both)) == 2 * len(rounds_log(once)) > 160
    for twice, single in zip(*(table.rows for table in tables), strict=True):
        assert twice["value"] == pytest.approx(single["value"])
        assert single["value"].n <= 40


def test_games_end_at_a_goal_and_the_log_adds_up() -> None:
    games = play((BIS, MS), (SRP, SRP), 100, 2)
    assert ((games.scores.max(axis=1) >= 200) | (games.scores.min(axis=1) <= -100)).all()
    np.testing.assert_array_equal(games.winner, games.scores.argmax(axis=1))
    log = rounds_log(games)
    assert (log["won"].sum(axis=1) == 13).all()
    ends = np.cumsum(games.rounds)
    np.testing.assert_array_equal(np.add.reduceat(gains_by_partnership(log), np.r_[0, ends[:-1]]), games.scores)
    assert games.branches.sum() == 52 * games.rounds.sum()


@pytest.mark.parametrize(
    ("other", "player", "least"), [(IO, SRP, 0.65), (MS, SRP, 0.56), (RB, SRP, 0.55), (IO, WRP, 0.6)]
)
def test_bis_beats_the_rule_based_bidders(other: Bidder, player: Player, least: float) -> None:
    assert won(play((BIS, other), (player, player), 1500, 8)) > least


def test_srp_beats_wrp_and_random_beats_nobody() -> None:
    assert won(play((RB, RB), (SRP, WRP), 1500, 8)) > 0.5
    assert won(play((RB, RB), (WRP, Player("random")), 200, 8)) > 0.65
    assert won(play((RB, RB), (SRP, Player("random")), 200, 8)) > 0.85
    assert won(play((RB, Bidder("random")), (SRP, SRP), 200, 8)) > 0.9


def test_the_end_game_conditions_win_single_rounds() -> None:
    """Table 4's third row: 52.8 % in the paper."""
    without = Bidder.named("bis", endgame=False)
    assert won(play((BIS, without), (SRP, SRP), 6000, 8, game=paper_game(win_goal=1))) > 0.515


@pytest.mark.slow
def test_uct_that_infers_beats_naive_uct() -> None:
    players = Player("uct", 13, 60, "bids"), Player("uct", 13, 60, "none")
    assert won(play((RB, RB), players, 160, 8)) > 0.5


def test_training_makes_rising_curves_and_repeats_itself(tmp_path: Path) -> None:
    config = CurveOptions(rounds=3000, passes=1, out=str(tmp_path / "curves.npz"))
    seen: list[dict[str, object]] = []
    curves = train_success_curves(config, seen.append)
    assert curves.shape == (2, SEQUENCES, 2)
    assert (curves[..., 1] > 0).all()
    assert len(seen) == 1
    np.testing.assert_array_equal(train_success_curves(config), curves)
    with np.load(config.out) as archive:
        np.testing.assert_array_equal(archive["curves"], curves)
        assert json.loads(str(archive["provenance"]))["config"]["rounds"] == 3000


def test_earlier_bids_tell_something_about_a_nil() -> None:
    nils = collect_nils(20_000, 0.25, np.zeros((2, SEQUENCES, 2), np.float32), "srp", seed=9)
    _, report = fit_curves(nils, 1.0)
    assert report["all curves"]["log_loss"] < report["single curve"]["log_loss"] - 0.005


def test_rows_of_other_rules_are_played_by_them() -> None:
    (table,), _ = bench.main(games=200, rows="rules")
    rows = {str(row["first : second"]): row for row in table.rows}
    usual = next(row for row in bench.main(games=200)[0][0].rows if row["first : second"] == "BIS : RB, SRP")
    assert rows["BIS : RB in partnership"]["win %"].mean == usual["win %"].mean
    assert rows["BIS : RB in partnership"]["nil %"] == usual["nil %"]
    assert rows["BIS : RB in mirror"]["win %"].mean == 50  # bids are forced there
    assert rows["BIS : RB in suicide"]["nil %"].mean == 50  # one of two partners bids nil
    assert rows["BIS : RB, blind nil allowed"]["nil %"].mean > rows["BIS : RB in partnership"]["nil %"].mean


def test_the_benchmark_saves_what_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "spades.json"
    words = ["bench", "spades", "--games", "40", "--seed", "3", "--json", str(file)]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    saved = load(file)
    tables, _ = bench.main(games=40, seed=3)
    # as text, since the error of nils on a single board is nan
    assert [repr(table.rows) for table in saved["tables"]] == [repr(table.rows) for table in tables]
    assert tables[0].rows[0]["win %"].paper == 51.9
    rows = {row["first : second"]: row for row in tables[0].rows}
    assert len(rows) == 15 and "their nils made %" not in rows["BIS : RB, neither bids nil, SRP"]
    alone = rounds_log(play((BIS, BIS), (SRP, SRP), 2 * np.arange(40), deals_seed("rounds", 3)))
    assert tables[1].title == f"BIS+SRP against itself, {len(alone):,} rounds"
    assert tables[1].rows[0]["value"].n == 40
    monkeypatch.setattr(bench, "LEAST_ROUNDS", 1)
    nils = {row["nil by"]: row for row in bench.nil_table(alone).rows}
    assert sum(row["rounds"] for row in nils.values()) == len(alone)
    assert nils["partner of H"]["their nils made %"].paper == 70.0 and "nils made %" not in nils["H"]
    bids = (alone["bids"] == 0)[(alone["bids"] == 0).sum(axis=1) == 1]
    assert nils["H"]["rounds"] + nils["partner of H"]["rounds"] + nils["BIS+BIS"]["rounds"] == len(bids)
    facts = {row["agent"]: row for row in tables[4].rows}
    assert list(facts) == list(bench.PAIRS)
    share = facts["BIS+SRP"]["nil bids, % of bids"]
    assert share.mean == pytest.approx(100 * (alone["bids"] == 0).mean()) and (share.n, share.paper) == (40, 13.6)
    shares = [facts["BIS+SRP"][column].mean for column in bench.NIL_FACTS[2:4]]
    assert shares == pytest.approx([100 * nils[kind]["rounds"] / len(alone) for kind in ("no nil", "nil vs. nil")])
    assert bench.NIL_FACTS[-1] in facts["BIS+WRP"] and bench.NIL_FACTS[-1] not in facts["learned"]
    assert [figure.title.split(":")[0] for figure in saved["figures"]] == [f"Figure {k}" for k in range(2, 8)]
    with pytest.raises(ValueError, match="unknown rows 'some'"):
        bench.main(rows="rules,some")


def test_a_stopped_benchmark_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are finished are not played again; those of other games are."""
    rows = bench.main(games=20, rows="rules")[0][0].rows
    real, played, whole = bench.play_games, [], repr(rows)  # as text, since the error of nils on a single board is nan

    def stopped_after(most: int, games: int = 20) -> str:
        played.clear()

        def play_games(*words: Any) -> Any:
            played.append(words)
            return real(*words) if len(played) <= most else pytest.fail("stopped")

        monkeypatch.setattr(bench, "play_games", play_games)
        (table,), _ = bench.main(games, "rules", ledger=tmp_path / "rows.ledger")
        return repr(table.rows)

    with pytest.raises(pytest.fail.Exception, match="stopped"):
        stopped_after(len(rows) - 2)
    assert stopped_after(2) == whole and len(played) == 2
    assert stopped_after(0) == whole and not played
    assert stopped_after(len(rows), games=22) != whole and len(played) == len(rows)
