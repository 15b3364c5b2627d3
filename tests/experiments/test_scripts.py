"""Every script of ``experiments/`` that has no test file of its own runs, small."""

import itertools
import json
import os
import shutil
import time
from functools import partial
from pathlib import Path

import agents_table
import bridge_training
import cross_play
import joint_search
import kills
import numpy as np
import one_table
import opponent_models
import other_suites
import played_cards
import pytest
import search_prior
import slam_training
import soak
import starting
import typer
from numba import config as numba_config
from typer.testing import CliRunner

from bidzoo import agents, make_vec
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.agents.bridge.network import PACKAGED, load_weights
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.policy import choose
from bidzoo.benchmarks import records, results
from bidzoo.benchmarks.auctions import record
from bidzoo.benchmarks.bridge import Boards
from bidzoo.benchmarks.match import duplicate
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.game import Bridge


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_kills(tmp_path, monkeypatch):
    """A command that goes on with other bytes, and one that does not, are told apart."""
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "given").write_text("")
    for good in (True, False):

        def run(name, good=good):
            before = Path("part").exists()
            Path("part").write_text("begun")
            time.sleep(0.3)
            Path("whole").write_text("again" if before and not good else "once")

        monkeypatch.setattr(kills, "run", run)
        (place := tmp_path / str(good)).mkdir()
        counts = kills.killed("match", 3, 1, tmp_path / "inputs", place)
        assert counts.kills >= 3 and counts.runs >= 1 and counts.kept >= 1
        assert (counts.differences == 0) == good
    by_group, by_command = kills.tables({"match": counts, "match, slow agent": counts})
    assert [row["kills"] for row in by_group.rows] == [2 * counts.kills] * 2 and len(by_command.rows) == 2
    assert kills.timeless(b'{"seconds": 1, "rows": [{"start s": 2, "value": 3}]}') == b'{"rows": [{"value": 3}]}'


@pytest.mark.skipif(not Path("/proc/self/statm").exists() or numba_config.DISABLE_JIT, reason="Linux, compiled")
def test_soak(monkeypatch):
    monkeypatch.setattr(soak, "WARM", 1)
    table, uses = soak.soak(0.0, 1, lambda *words: None)[0]
    assert len(table.rows) == soak.ROWS + 1 and len(uses.rows) == len(soak.KINDS)


def test_search_prior(tmp_path, monkeypatch):
    path = tmp_path / "prior.json"
    monkeypatch.setattr(search_prior, "EXPERTS", ("expert-sayc",))
    search_prior.main(decisions_of_each=12, boards=20, seed=1, workers=1, json=path)
    tables = results.load(path)["tables"]
    assert [len(table.rows) for table in tables] == [2, 2, 2]
    assert all(row["decisions"] == 12 for table in tables for row in table.rows)


def test_opponent_models(tmp_path, monkeypatch):
    path = tmp_path / "models.json"
    monkeypatch.setattr(opponent_models, "EXPERTS", ("expert-sayc",))
    monkeypatch.setattr(opponent_models, "Bmcs", partial(Bmcs, p_max=400, r_max=10))
    opponent_models.main(boards=2, seed=1, json=path)
    explanation, *searches = results.load(path)["tables"]
    assert len(explanation.rows) == len(searches[0].rows) == len(opponent_models.EXPERTS)


def test_one_table(tmp_path, monkeypatch):
    path, name = tmp_path / "one.json", "env.step(env.ask(random)), bridge_bidding_v0"
    monkeypatch.setattr(one_table, "WORKS", {name: one_table.WORKS[name]})
    one_table.main(rounds=1, seconds=0.01, beside=Path(one_table.__file__).parents[1], json=path)
    (table,) = results.load(path)["tables"]
    assert table.columns == ["what", "microseconds", "before", "times"] and table.rows[0]["microseconds"] > 0


@pytest.mark.parametrize(("command", "titles"), [("policies", 3), ("baseline19", 2)])
def test_what_training_reached(tmp_path, monkeypatch, command, titles):
    monkeypatch.setattr(bridge_training, "FEWEST", 1)
    record(Sayc(), 400, 1).save(tmp_path / "auctions.npz")
    words = [command, str(tmp_path / "auctions.npz"), "--json", str(tmp_path / "out.json")]
    more = ["--policy", "sl", "--policy", "sl-small", "--boards", "20"] if command == "policies" else []
    done = CliRunner().invoke(bridge_training.app, words + more, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    tables = results.load(tmp_path / "out.json")["tables"]
    assert len(tables) == titles and all(table.rows for table in tables)


def test_networks_of_one_file_name_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(bridge_training, "FEWEST", 1)
    record(Sayc(), 400, 1).save(tmp_path / "auctions.npz")
    words = ["beliefs", str(tmp_path / "auctions.npz"), "--json", str(tmp_path / "out.json")]
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(PACKAGED / "belief.safetensors", file := tmp_path / folder / "network.safetensors")
        words += ["--weights", str(file)]
    done = CliRunner().invoke(bridge_training.app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (table,) = results.load(tmp_path / "out.json")["tables"]
    assert table.columns == ["calls made", "positions", "belief", "network", "network 2", "uniform"]


def test_cross_play_seats_one_agent_with_one_expert():
    (table,), (figure,) = cross_play.cross_play(["sayc", "expert-acol"], 30, 2)
    boards, acol = Boards(30, 2), agents.make("expert-acol")
    found = duplicate(boards.game, (agents.make("sayc"), acol), (acol, acol), np.arange(30), 2, 2)
    assert table.rows[0]["expert-acol"].mean == pytest.approx(found.imps.mean())
    assert "expert-acol" not in table.rows[1] and figure.series["expert-acol"][3] == 0.0


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")
@pytest.mark.parametrize(
    ("searched", "start", "more"), [("JPS, 10 %", "a2c-early", []), ("JPS, 5 % of moves", "start", ["--settle", "1"])]
)
def test_runs_of_joint_search_go_on(searched, start, more, undrawn, tmp_path, monkeypatch):
    monkeypatch.setattr(joint_search, "COMMON", {"burn_in": 200, "capacity": 2000, "boards": 20, "sync": 2})
    words = ["--boards", "20", "--runs", "2", "--baselines", "2", "--early", "2", "--syncs", "1", *more]
    words += ["--row", "non-search", "--row", searched]
    words += ["--out", str(tmp_path / "runs"), "--json", str(tmp_path / "runs.json")]
    app, runs, tables = typer.Typer(), 6 + len(more) // 2, []
    app.command()(joint_search.main)
    for done in (0, runs):  # runs that are there already
        assert len(list(tmp_path.glob("runs/*/done"))) == done
        result = CliRunner().invoke(app, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        tables.append(results.load(tmp_path / "runs.json")["tables"][0])
        assert ("finished" in result.output) == (done == 0)
    assert tables[0].rows == tables[1].rows and [row["row"] for row in tables[0].rows] == ["non-search", searched]
    (without, with_search), column = tables[0].rows, f"over {start}"
    assert with_search["less non-search"].mean == pytest.approx(with_search[column].mean - without[column].mean)
    # the paper's figures stand beside rows from a start whose rate does not fall
    assert (without[column].paper, with_search[column].paper) == ((0.2, 0.7) if more else (None, None))
    longer = ["2" if before == "--syncs" else word for before, word in itertools.pairwise(["", *words])]
    assert CliRunner().invoke(app, longer, catch_exceptions=False).output.count("finished") == 4  # rows go on
    assert "no row 'JPS'" in CliRunner().invoke(app, ["--row", "JPS"]).output


def test_deals_rich_in_slams():
    tricks = np.zeros((4, 4, 5), np.int8)
    tricks[0, (0, 2), 2:] = 12  # North and South in three strains
    tricks[1, (1, 3), 3:] = 13  # East and West in two
    tricks[2, 0] = 13  # by North alone
    tricks[3, (0, 1), 2:] = 12  # by players of both sides
    assert slam_training.rich(tricks.reshape(4, 20)).tolist() == [True, False, False, False]


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")
def test_slam_training_goes_on(undrawn, tmp_path, monkeypatch):
    monkeypatch.setattr(slam_training, "COMMON", {"burn_in": 200, "capacity": 2000, "boards": 20, "sync": 2})
    stages = [stage._replace(syncs=1, others=stage.others and 5) for stage in slam_training.STAGES[:4:3]]
    monkeypatch.setattr(slam_training, "STAGES", stages)
    hands, tricks = (array[:30].copy() for array in packaged("validation"))
    tricks[:3] = 12
    DealSet.of(hands, tricks).save(tmp_path / "deals.npz")
    app = typer.Typer()
    app.command()(slam_training.main)
    words = [str(tmp_path / "deals.npz"), "--out", str(tmp_path / "out"), "--boards", "10"]
    said = [CliRunner().invoke(app, words, catch_exceptions=False).output for _ in range(2)]
    assert said[0].count("finished") == 2 and said[1] == ""
    assert len(DealSet.load(tmp_path / "out" / "deals-5-0.npz").hands) == 5 * slam_training.rich(tricks).sum() >= 15
    (start, _), (flat, _) = map(load_weights, (slam_training.START, tmp_path / "out" / "flatter.safetensors"))
    x = np.random.default_rng(0).integers(0, 2, (5, 267)).astype(np.int8)
    np.testing.assert_allclose(flat(x)[:, :38], start(x)[:, :38] / 2.5, rtol=0.02, atol=0.02)
    np.testing.assert_allclose(flat(x)[:, 38], start(x)[:, 38], rtol=0.02, atol=0.02)


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")
def test_the_loop_in_c_plays_the_same():
    """Calls, masks, observations and rewards of 300 steps at 64 tables, several boards each."""
    try:
        loop = other_suites.ScalarLoop(64, seed=5)
    except OSError:
        pytest.skip("no g++ here")
    batch = make_vec("bridge_bidding_v0", 64)
    batch.reset(seed=5)
    keys, actions, ended = np.arange(64, dtype=np.uint64), np.empty(64, np.int64), 0
    for _ in range(300):
        choose(batch.action_mask, keys, actions)
        batch.step(actions)
        loop.step()
        for ours, theirs in ((batch.action_mask, loop.mask), (batch.reward, loop.reward)):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(batch.observation, loop.observation)
        ended += int(batch.terminated.sum())
    assert ended > 500 and loop() == 16 * 64


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="minutes uncompiled")
def test_starting_is_measured_in_processes_of_its_own(monkeypatch):
    monkeypatch.setattr(
        starting,
        "ROWS",
        (*starting.ROWS[:1], ("mini_hanabi_v0", starting.ENV.replace("bridge_bidding", "mini_hanabi"), False)),
    )
    (table,), figures = starting.tables(2)
    assert [row["compiled kernels"] for row in table.rows] == ["", "none"] and not figures
    python, game = table.rows
    assert 0 < python["CPU s"] < game["CPU s"] and 1 < python["MB"] < game["MB"]


def test_played_cards_are_compared_with_best_play_of_the_same_auctions(tmp_path):
    exact = duplicate(game := Bridge(play=False, deals="test"), "sayc", "expert-acol", np.arange(40))
    found = records.of_match(game, exact, "sayc", "expert-acol")
    assert played_cards.exact_scores(found).tolist() == [each["score"] for each in found]
    played = duplicate(game := Bridge(play=True, deals="test"), "random", "random", np.arange(6))
    records.write(path := tmp_path / "played.jsonl", records.of_match(game, played, "random", "random"))
    played_cards.main([path], json=tmp_path / "out.json")
    row, *others = results.load(tmp_path / "out.json")["tables"][0].rows
    assert row["number"] == 6 and row["played"].mean == pytest.approx(played.imps.mean())
    assert row["difference"].mean == pytest.approx(row["played"].mean - row["double dummy, the same auctions"].mean)
    assert sum(each["number"] for each in others) >= 6
    records.write(path, found)
    with pytest.raises(ValueError, match="was not played"):
        played_cards.main([path], json=tmp_path / "out.json")


def test_one_agent_is_measured_and_the_others_keep_their_numbers(tmp_path):
    packaged_table, path = json.loads(agents_table.OUT.read_text()), tmp_path / "agents.json"
    without = {name: found for name, found in packaged_table["agents"].items() if name != "pass"}
    path.write_text(json.dumps(packaged_table | {"agents": without}))
    with pytest.raises(ValueError, match=r"agents\.json has no 'pass' yet"):
        agents_table.main(["random"], path)
    with pytest.raises(ValueError, match=r"'nobody' is not in bidzoo/data/agents\.csv"):
        agents_table.main(["nobody"], path)
    agents_table.main(["pass"], path)
    written = json.loads(path.read_text())
    assert [*written["agents"]] == [*agents.AGENTS]
    measured = written["agents"].pop("pass")
    assert measured.pop("milliseconds") > 0 and written["agents"] == without
    assert measured.items() <= packaged_table["agents"]["pass"].items()  # the strength is that of the result files
    about = written["about"].pop("measured alone")
    assert [*about] == ["pass"] and written["about"].items() <= packaged_table["about"].items()
