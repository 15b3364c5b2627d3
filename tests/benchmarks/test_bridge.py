"""``bidzoo bench bridge``: the same IMPs as the match harness, and honest errors."""

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo.agents import make
from bidzoo.benchmarks import bridge, bridge_analysis, report, results
from bidzoo.benchmarks.bridge import CLAIMS, Boards, Contracts, Options, relations
from bidzoo.benchmarks.match import Match, duplicate
from bidzoo.benchmarks.results import Estimate
from bidzoo.cli.main import app
from bidzoo.core.cards import call_number
from bidzoo.envs.bridge.deals import packaged
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import par


def test_imps_are_those_of_a_duplicate_match():
    boards, sayc, nobody = Boards(300, 4), make("sayc"), make("pass")
    first, second = (Contracts.of(boards.play(*pair)) for pair in ((sayc, nobody), (nobody, sayc)))
    expected = duplicate(boards.game, sayc, nobody, np.arange(300), 4)
    assert np.array_equal(first.imps(second), expected.imps)
    assert np.array_equal(second.imps(first), -expected.imps)


def test_made_is_what_the_double_dummy_tricks_say():
    boards = Boards(300, 4)
    contracts = Contracts.of(boards.play(make("random"), make("sayc")))
    played = contracts.bid >= 0
    tricks = boards.tricks[np.arange(300), np.where(played, 5 * contracts.declarer.astype(int) + contracts.bid % 5, 0)]
    expected = played & (tricks >= 7 + contracts.bid // 5)
    assert np.array_equal(contracts.made, expected)
    assert expected.any() and not expected.all()


def test_error_counts_deals_not_boards():
    """Twice the boards on the same deals with the same results say no more than once."""
    n = len(packaged("test").hands)
    once, twice, sayc = Boards(n), Boards(2 * n), make("sayc")
    samples = np.random.default_rng(0).normal(size=n)
    plain = Estimate.of(samples, group=np.arange(n))
    assert once.estimate(samples).error == pytest.approx(plain.error)
    assert once.estimate(samples).mean == pytest.approx(plain.mean)
    again = twice.estimate(np.tile(samples, 2))
    assert again.error == pytest.approx(plain.error)
    match = duplicate(Bridge(False, deals="test", shuffle=False), sayc, make("pass"), np.arange(n - 2, n + 4))
    assert match.deals.tolist() == [n - 2, n - 1, 0, 1, 2, 3]
    copies = Match(np.arange(2 * n), np.arange(2 * n) % n, np.tile(samples, 2), match.first, match.second)
    assert copies.estimate.error == pytest.approx(plain.error)
    others = np.random.default_rng(0).normal(size=2 * n)
    assert twice.estimate(others).error == pytest.approx((2 * n) ** -0.5, rel=0.1)


def test_a_board_is_the_same_for_everybody():
    boards = Boards(64, 3)
    first, second = boards.play(make("sayc"), make("random")), boards.play(make("random"), make("sayc"))
    for field in ("hands", "dealer", "vulnerable", "tricks"):
        assert np.array_equal(first[field], second[field])
    other = Boards(64, 5).play(make("pass"), make("pass"))
    assert not np.array_equal(first["hands"], other["hands"])


# ---- agents that search ------------------------------------------------------------------


class Thinker:
    """An agent that plays as another, says that it is slow, and notes the boards it begins."""

    name, slow = "thinker", True

    def __init__(self, folder, player="sayc"):
        self.player, self.folder, self.calls = make(player), folder, 0

    def act(self, views, legal, rng):
        begun = views["board"][views["length"] < 2]
        if (self.folder / "strike").exists() and 25 in begun:
            raise RuntimeError("struck")
        self.calls += 1  # as weights that are read when first needed
        with open(self.folder / "log", "a") as file:
            file.writelines(f"{board}\n" for board in begun)
        return self.player.act(views, legal, rng)


def rows(tables):
    return [table.rows for table in tables]


def test_slow_agents_play_fewer_boards(tmp_path):
    told, line_up = [], ["sayc", "pass", Thinker(tmp_path)]
    found = bridge.main(line_up, Options(60, 3, search_boards=25), lambda *what: told.append(what))[0]
    cells = {row["agent"]: row for row in found[0].rows}
    assert cells["sayc"]["pass"].n == 60
    assert cells["sayc"]["thinker"].n == cells["thinker"]["pass"].n == 25
    assert cells["sayc"]["thinker"].mean == 0
    plain = bridge.main(["sayc", "pass"], Options(25, 3))[0][0].rows[0]["pass"]
    assert cells["thinker"]["pass"] == plain
    assert "60 boards of 60 test deals; the first 25 where thinker plays." in found[0].note
    assert [done for what, done, total in told if what == "slow auctions" and total == 5 * 25][:5] == [
        0,
        10,
        20,
        25,
        25,
    ]
    assert told[-1] == ("slow auctions", 125, 125)
    everywhere = bridge.main(line_up, Options(60, 3, search_boards=25, workers=2))[0]
    assert rows(everywhere) == rows(found)


def test_a_killed_run_goes_on(tmp_path):
    ledger = tmp_path / "runs" / "ledger"

    def run(**options):
        return bridge.main(["pass", Thinker(tmp_path)], Options(40, **options))[0]

    (tmp_path / "strike").touch()
    with pytest.raises(RuntimeError, match="struck"):
        run(search_boards=30, ledger=ledger)
    (tmp_path / "strike").unlink()
    assert len(ledger.read_text().splitlines()) == 2
    found = run(search_boards=30, ledger=ledger)
    assert len(ledger.read_text().splitlines()) == 3 * 3  # rooms, shares
    begun = np.bincount(np.loadtxt(tmp_path / "log", dtype=int))
    again = run(search_boards=30, ledger=ledger)
    more = run(search_boards=40, ledger=ledger)
    anew = run(search_boards=40)
    assert rows(found) == rows(again)
    assert rows(more) == rows(anew)
    after = np.bincount(np.loadtxt(tmp_path / "log", dtype=int))
    assert (after[1:30] == 2 * begun[1:]).all()  # ``anew`` alone played them again
    assert after[0] == 2 * begun[0] + 1  # each of the five runs tried a call first, two of them in ``begun``


def test_rooms_are_not_played_again_when_another_agent_comes(tmp_path):
    """``bidzoo bench bridge`` with more agents and the same ledger."""
    ledger, options = tmp_path / "ledger", {"search_boards": 30, "ledger": tmp_path / "ledger"}
    bridge.main(["pass", Thinker(tmp_path)], Options(40, **options))
    rooms = 3  # thinker with thinker, and with pass in both directions
    assert len(ledger.read_text().splitlines()) == rooms * 3
    found = bridge.main(["pass", Thinker(tmp_path), "sayc"], Options(40, **options))[0]
    assert len(ledger.read_text().splitlines()) == (rooms + 2) * 3
    assert rows(found) == rows(bridge.main(["pass", Thinker(tmp_path), "sayc"], Options(40, search_boards=30))[0])


def test_a_ledger_is_of_the_very_agents(tmp_path):
    ledger = tmp_path / "ledger"
    first = bridge.main(["pass", Thinker(tmp_path)], Options(20, ledger=ledger))[0]
    other = bridge.main(["pass", Thinker(tmp_path, "random")], Options(20, ledger=ledger))[0]
    assert rows(other) == rows(bridge.main(["pass", Thinker(tmp_path, "random")], Options(20))[0])
    assert rows(other) != rows(first)


def test_only_agents_that_search(tmp_path):
    other = Thinker(tmp_path, "pass")
    other.name = "other"
    cross = bridge.main([Thinker(tmp_path), other], Options(12, 1, search_boards=10))[0][0]
    assert cross.note.startswith("10 boards of 10 test deals.")
    assert {row["agent"] for row in cross.rows} == {"thinker", "other"}


# ---- the tables --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    return bridge.main(["pass", "sayc", "random", "bis", "nobody", "mine=no/such/file"], Options(400))


def test_cross_table(result):
    cross = result[0][0]
    assert cross.columns == ["agent", "sayc", "pass", "random", "mean"]
    cells = {row["agent"]: row for row in cross.rows}
    for ours in ("sayc", "pass", "random"):
        assert ours not in {k for k, v in cells[ours].items() if isinstance(v, Estimate)}
        for theirs in {"sayc", "pass", "random"} - {ours}:
            assert cells[ours][theirs].mean == -cells[theirs][ours].mean
            assert cells[ours][theirs].n == 400
    assert cells["sayc"]["random"].mean > 10


def test_agents_that_cannot_play_are_named(result):
    note = result[0][0].note
    assert "bis: agent 'bis' does not play bridge_bidding_v0" in note
    assert "nobody: unknown agent 'nobody'" in note
    assert "mine=no/such/file: " in note


def test_quality(result):
    quality = {row["agent"]: row for row in result[0][-2].rows}
    assert quality["pass"]["passed out %"] == 100
    assert quality["pass"]["calls"] == 4
    assert quality["pass"]["games that are there, bid %"] == 0
    assert quality["sayc"]["games that are there, bid %"] > 50
    assert quality["sayc"]["IMPs off par"].mean < quality["pass"]["IMPs off par"].mean < 10


def test_par_of_passing(result):
    boards = Boards(400)
    states = boards.play(make("pass"), make("pass"))
    par_scores = par(boards.tricks, states["dealer"], states["vulnerable"])
    from bidzoo.envs.bridge.score import imps

    expected = np.abs(imps(-par_scores).astype(int)).mean()
    assert result[0][-2].rows[0]["IMPs off par"].mean == pytest.approx(expected)


class Ambitious:
    """Opens at the seven level in the first seat, the same in every strain; the others pass."""

    name = "ambitious"

    def act(self, views, legal, rng):
        return np.where(views["length"] == 0, call_number("7C") + views["board"] % 5, call_number("P"))


def test_slams():
    boards = Boards(5000)
    states = boards.play(Ambitious(), Ambitious())
    row = bridge.slam_row(boards, "ambitious", Contracts.of(states))
    there = bid = made = 0
    for n, tricks in enumerate(boards.tricks.tolist()):
        best = [max(tricks[5 * seat + strain] for seat in pair for strain in range(5)) for pair in ((0, 2), (1, 3))]
        there += 13 in best
        bid += best[states["dealer"][n] % 2] == 13
        made += tricks[5 * states["dealer"][n] + n % 5] == 13
    assert there > 50
    assert row["grand slams bid in 1000"] == 1000
    assert row["grand slams bid, make %"] == pytest.approx(made / 50)
    assert row["grand slams that are there, bid %"] == pytest.approx(100 * bid / there)
    assert row["small slams bid in 1000"] == row["small slams that are there, bid %"] == 0
    assert row["small slams bid, make %"] is None


def test_results_survive_the_file(result, tmp_path):
    tables, figures = result
    results.save(tmp_path / "bridge.json", "bridge", tables, seed=0, seconds=1.0, figures=figures)
    again = results.load(tmp_path / "bridge.json")
    assert [table.rows for table in again["tables"]] == [table.rows for table in tables]


@pytest.mark.parametrize(
    ("agents", "words"),
    [(["sayc", "nobody"], "two agents or more, got 1.*nobody"), (["sayc", make("sayc")], "'sayc' is there twice")],
)
def test_wrong_line_ups(agents, words):
    with pytest.raises(ValueError, match=words):
        bridge.main(agents, Options(10))


def test_one_board_is_no_sample():
    with pytest.raises(ValueError, match="boards 1: expected 2 or more"):
        Boards(1)


def test_nobody_is_vulnerable():
    boards, sayc = Boards(40, 3, nobody_vulnerable=True), make("sayc")
    assert (
        len(boards.numbers) == 40 and not boards.vulnerable.any() and boards.numbers[:5].tolist() == [0, 7, 10, 13, 16]
    )
    every = Boards(160, 3)
    assert not every.vulnerable[boards.numbers].any() and (every.vulnerable == 0).sum() == 40
    alone, among = boards.play(sayc, make("pass")), every.play(sayc, make("pass"))[boards.numbers]
    assert (alone["calls"] == among["calls"]).all() and (alone["points"] == among["points"]).all()
    assert str(boards) == "40 boards of 40 test deals, nobody vulnerable"


def test_relations_appear_when_both_exist():
    found = relations({("rl", "sl"): Estimate(0.5, 0.03, 1000), ("sl", "rl"): Estimate(-0.5, 0.03, 1000)})
    assert [row["relation"] for row in found.rows] == ["rl against sl"]
    assert found.rows[0]["ours"].paper == 0.87
    assert not relations({}).rows
    assert all(claim.first != claim.second and (claim.imps or 1) > 0 for claim in CLAIMS)
    early = relations({("jps-5-percent", "a2c-early"): Estimate(0.7, 0.03, 1000)}).rows[0]
    assert early["ours"].paper is None and "no figure" in early["source"]


# ---- analysis ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def analysis():
    return bridge_analysis.analyse(make("sayc"), 500)


def test_openings_are_those_of_the_opener():
    boards = Boards(200)
    states = boards.play(make("sayc"), make("random"))
    openings = bridge_analysis.Openings.of(states)
    first = [next(int(c) for c in table["calls"] if c >= 3) for table in states if (table["calls"] >= 3).any()]
    assert (openings.bid + 3).tolist() == first
    assert set(np.unique(openings.hands["length"].sum(1))) == {13}
    before = [
        next(turn for turn, c in enumerate(table["calls"]) if c >= 3) for table in states if (table["calls"] >= 3).any()
    ]
    assert len(openings.passed) == sum(before)
    of_passes = bridge_analysis.Openings.of(boards.play(make("pass"), make("sayc")))
    assert (of_passes.passed["hcp"] < 8).any() and of_passes.weak < openings.weak


def test_conformity(analysis):
    rows = {row["opening"]: row for row in analysis[0][1].rows}
    assert rows["all of these"]["conform %"] == 100
    assert rows["2♣"]["WBridge5 %"] == 32.53
    wild = bridge_analysis.analyse(make("random"), 300)[0][1].rows[-1]
    assert wild["conform %"] < 40


def test_shares_add_up(analysis):
    tables, figures = analysis
    assert sum(row["%"] for row in tables[0].rows) == pytest.approx(100)
    for figure in figures[:2]:
        assert sum(sum(row) for row in figure.series.values()) == pytest.approx(100)
    assert sum(figures[2].series["auctions"]) == pytest.approx(100)
    opening = figures[0].series["1"]
    assert opening[4] == pytest.approx(next(row["%"] for row in tables[0].rows if row["opening"] == "1NT"))


def test_frequencies_name_calls_and_contracts(analysis):
    rows = analysis[0][2].rows
    assert rows[0]["call"] == "P"
    assert rows[0]["calls, paper"] == 57.31
    assert all(call_number(row["call"]) >= 0 for row in rows)
    assert {row["contract"] for row in rows} & {"3NT", "4S", "4H"}


def test_command_line(tmp_path):
    pytest.importorskip("matplotlib")
    runner, out = CliRunner(), tmp_path / "out.json"
    done = runner.invoke(app, ["bench", "bridge", "--agents", "sayc,pass", "--boards", "20", "--json", str(out)])
    assert done.exit_code == 0, done.output
    assert results.load(out)["suite"] == "bridge"
    alone = runner.invoke(app, ["bench", "bridge", "--agents", "pass", "--boards", "5", "--json", str(out)])
    assert alone.exit_code == 0, alone.output
    assert results.load(out)["tables"][0].rows[0]["agent"] == "pass"
    slip = runner.invoke(app, ["bench", "bridge", "--agents", "sayc, pass, ppp", "--boards", "20", "--json", str(out)])
    assert "unknown agent 'ppp'; did you mean 'ppo'? choose from random, pass" in str(
        slip.exception
    )  # at once, not left out
    pictures = tmp_path / "pictures"
    call = ["bench", "bridge-analysis", "--boards", "20", "--json", str(out), "--pictures", str(pictures)]
    assert runner.invoke(app, call).exit_code == 0
    assert len(list(pictures.glob("*.png"))) == 3
    assert "Openings that conform" in report.page([results.load(out)])
