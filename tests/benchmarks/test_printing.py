"""What a terminal shows of result tables: at 80 columns and at 120, no broken word and no cell of three lines."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bidzoo.benchmarks import leaderboard, printing, results
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.cli.main import app

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FILES = sorted(
    path
    for path in RESULTS.glob("*.json")
    if "tables" in json.loads(path.read_text("utf-8")) and path.stem != "mutations"  # whose cells are code
)


def tables():
    """Of every command that publishes one, and of those that print what they find."""
    for path in FILES:
        yield from ((f"{path.stem}: {table.title}", table) for table in results.load(path)["tables"])
    for name, challenge in leaderboard.CHALLENGES.items():
        entries = [leaderboard.load(path) for path in sorted((RESULTS / "leaderboard").glob(f"{name}-*.json"))]
        yield f"leaderboard: {name}", leaderboard.ranking(challenge, entries)


TABLES = list(tables())


def reads_well(table, width):
    """Of every printed part: within the width, at most seven columns, whole words, at most two lines a cell."""
    lines = printing.lines_of(table, width)
    assert max(map(len, lines)) <= width
    for part in printing.tables_within(width, printing.columns_of(table)):
        assert 1 <= len(part) <= printing.MOST
        for column, used in part:
            for text in (column.heading, *column.cells):
                shown = printing.wrapped(text, used)
                assert len(shown) <= printing.LINES, (text, used)
                assert " ".join(shown) == " ".join(text.split()), f"{text!r} is broken: {shown}"
            if column.number:
                assert all(len(cell) <= used for cell in column.cells)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize(("name", "table"), TABLES, ids=[name for name, _ in TABLES])
def test_every_published_table_reads_well(name, table, width):
    reads_well(table, width)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("words", [["list"], ["list", "--game", "spades"], ["leaderboard", "challenges"]])
def test_what_commands_list_reads_well(words, width, monkeypatch):
    shown = []
    monkeypatch.setattr(printing, "show", shown.extend)
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    assert shown
    for table in shown:
        reads_well(table, width)


def test_a_table_that_does_not_fit_is_found():
    with pytest.raises(AssertionError):
        reads_well(ResultTable("t", ["a"], [{"a": "x" * 90}]), 80)


def test_numbers_of_a_column_are_alike():
    table = ResultTable("t", ["game", "ours", "speed", "n"])
    table.add("minibridge_v0(size=4)", Estimate(1.2149, 0.1234, 100, 1.0), 12_345_678.9, 1000)
    table.add("mini_hanabi_v0()", Estimate(-0.1198, 0.0911, 100, None), 20_123.4, 20)
    assert [(column.heading, column.cells) for column in printing.columns_of(table)] == [
        ("game", ["MiniBridge 4", "Mini-Hanabi"]),
        ("ours", ["1.21 ± 0.12", "−0.12 ± 0.09"]),
        ("paper", ["1", ""]),
        ("speed (thousands)", ["12,346", "20"]),
        ("n", ["1,000", "20"]),
    ]


def test_what_is_left_out_is_said():
    table = ResultTable("t", [f"c{k}" for k in range(9)], [{f"c{k}": "x" for k in range(9)}])
    whole, brief = (printing.lines_of(table, 80, every) for every in (True, False))
    assert "c8" in " ".join(whole) and "c8" not in " ".join(brief)
    assert brief[-1] == "2 more columns: --all, or --json FILE."


def test_a_table_is_one_line_of_text():
    table = ResultTable("comm_v0(length=3)", ["agent", "mean reward"])
    table.add("exact", 1.0)
    table.add("random", Estimate(0.125, 0.011, 1000))
    assert str(table) == "comm_v0(length=3): exact 1.000, random 0.125 ± 0.011"


def test_a_match_keeps_its_result_for_the_report():
    run = CliRunner().invoke(app, ["match", "pass", "random", "--boards", "20"], catch_exceptions=False)
    file = re.search(r"result written to (\S+); bidzoo report", run.output)[1]
    assert re.fullmatch(r"runs/match-pass-random-\w{12}\.json", file) and results.load(file)["tables"][0].rows
    for words in (["--seed", "1"], ["--boards", "30"], ["--partner", "sayc"], ["--boards", "20"]):
        CliRunner().invoke(app, ["match", "pass", "random", "--boards", "20", *words], catch_exceptions=False)
    assert len(list(Path("runs").glob("match-*.json"))) == 4  # a match's result is written over its own alone
    assert CliRunner().invoke(app, ["report"], catch_exceptions=False).exit_code == 0
    assert Path("runs/report.html").read_text().count("<h3>match-pass-random</h3>") == 4


def test_a_stream_without_rules_gets_hyphens(monkeypatch):
    """As a script's output on Windows that goes into a file."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    table = ResultTable("Spades ♠", ["a", "b"])
    table.add("x", Estimate(0.1, 0.02, 5))
    printing.show([table])
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")
    assert text.splitlines()[0] == "Spades S" and "\n-  -" in text and "0.100 +- 0.020" in text
