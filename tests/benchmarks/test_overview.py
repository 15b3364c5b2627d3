"""``bidzoo bench`` without a subcommand: what it promises, and that it is never silent for long."""

import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bidzoo.benchmarks import overview, printing, results
from bidzoo.cli import showing
from bidzoo.cli.main import app


def test_published_results_beside_ours_then_speed_then_search(tmp_path, monkeypatch):
    monkeypatch.setattr(overview, "SMALL_GAMES", ("comm_v0(length=3)",))
    monkeypatch.setattr(overview, "SEEDS", 2)
    monkeypatch.setattr(overview, "SPADES_GAMES", 20)
    monkeypatch.setattr(overview, "AGENTS", ("rpi", "sl"))
    monkeypatch.setattr(overview, "IMPROVEMENTS", (("rl", "sl"), ("rl", "sl")))  # without search
    monkeypatch.setattr(overview, "THROUGHPUT_GAMES", ["comm_v0"])
    monkeypatch.setattr(overview, "THROUGHPUT_SECONDS", 0.01)
    path = tmp_path / "bench.json"
    done = CliRunner().invoke(app, ["bench", "--boards", "30", "--workers", "1", "--json", str(path)])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1].startswith("next: bidzoo play")
    small, strength, spades, speed, *_, improvements = results.load(path)["tables"]
    beside = [small, spades, improvements]
    ours = [
        cell
        for table in beside
        for row in table.rows
        for cell in row.values()
        if isinstance(cell, results.Estimate) and cell.paper is not None
    ]
    assert [cell.paper for cell in ours] == [0.89, 1.0, 52.3, 56.2, 52.8, 67.7, 50.8, 38.4, 67.1, 51.6, 46.3, 0.87]
    assert [row["relation"] for row in improvements.rows] == ["rl against sl"]
    assert all(cell.error > 0 for cell in ours[2:])
    assert [row["first : second"] for row in spades.rows][:2] == list(overview.SPADES_ROWS[:2])
    printed, often = spades.rows[:2]
    assert often["their nil %"].mean > 2 * printed["their nil %"].mean
    assert {row["game"] for row in speed.rows} == {"comm_v0"}
    assert {row["agent"] for row in strength.rows} == {"rpi", "sl"}


def test_a_command_that_works_says_so(monkeypatch, capsys):
    """Where no bar is seen, a line after a while; none from what is quick."""
    monkeypatch.setattr(showing, "SILENCE", 0.05)
    with showing.progress() as report:
        report("boards", 3, 1000)
        ends = time.monotonic() + 10
        while not (said := capsys.readouterr().err) and time.monotonic() < ends:
            time.sleep(0.02)
    assert said.startswith("boards: 3 of 1,000, ")
    monkeypatch.setattr(showing, "SILENCE", 60.0)
    with showing.progress() as report:
        report("boards", 3, 1000)
    assert capsys.readouterr().err == ""


def test_every_part_of_a_measurement_is_shown_when_it_is_ready(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(printing, "show", lambda tables, every: shown.append([table.title for table in tables]))

    def first(report):
        return [results.ResultTable("a", ["x"])], []

    def second(report):
        assert shown == [["a"]]
        raise ValueError("the second part fails")

    with pytest.raises(ValueError, match="second"):
        showing.measured("x", 0, tmp_path / "x.json", first, second)
    assert shown == [["a"]]


def test_a_measurement_does_not_write_over_one_with_other_options(monkeypatch):
    monkeypatch.setattr(printing, "show", lambda tables, every: None)
    for boards in ("100", "200", "100"):
        monkeypatch.setattr("sys.argv", ["bidzoo", "bench", "x", "--boards", boards])
        table = results.ResultTable("a", ["boards"], [{"boards": boards}])
        showing.measured("x", 0, None, lambda _, table=table: ([table], []))
    files = [results.load(path) for path in Path("runs").glob("x-*.json")]
    assert sorted(file["tables"][0].rows[0]["boards"] for file in files) == ["100", "200"]
