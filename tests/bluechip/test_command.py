"""``bidzoo bluechip serve`` and ``join``."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from bidzoo.agents.policy import Uniform
from bidzoo.bluechip.boards import seeded
from bidzoo.cli.bluechip import _show, app
from bidzoo.envs.bridge.board import Board


def bluechip(*words):
    """Output of a command; what it raises is raised here."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_match_of_our_agents_and_its_continuation(tmp_path):
    out = tmp_path / "runs" / "match.jsonl"
    serve = ["serve", "--first", "random", "--second", "pass,random", "--out", out, "--port", 0, "--closed-port", 0]
    assert "10 of 10 boards at tables played" in bluechip(*serve, "--boards", 5, "--no-play")
    before = out.read_text()
    output = bluechip(*serve, "--boards", 7, "--no-play")
    assert "IMPs on 7 boards" in output
    assert out.read_text().startswith(before)
    assert len(out.read_text().splitlines()) == 1 + 14
    header = json.loads(before.splitlines()[0])["match"]
    assert (header["first"], header["second"], header["double_dummy"]) == ("random", "pass,random", True)
    for few in (["--boards", 3], ["--boards", 3, "--start", 6]):  # 6 and 7 are on record, 8 is not
        output = bluechip(*serve, *few, "--no-play")
        assert "6 of 6 boards at tables played" in output and "IMPs on 3 boards" in output
    assert "3 of 3 boards at tables played" in bluechip(*serve, "--boards", 3, "--no-play", "--room", "open")
    with pytest.raises(ValueError, match="or a new file"):
        bluechip(*serve, "--boards", 5)
    with pytest.raises(ValueError, match="pair 'a,b,c': expected one name, or two"):
        bluechip("serve", "--first", "a,b,c", "--out", tmp_path / "other.jsonl")


def test_the_port_after_the_open_rooms_is_the_closed_rooms(tmp_path):
    words = ["serve", "--first", "random", "--second", "random", "--boards", 1, "--no-play", "--port", 65535]
    with pytest.raises(ValueError, match=r"^port 65535: expected one to 65534, as the closed room has the next"):
        bluechip(*words, "--out", tmp_path / "match.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--first", "exact"], "agent 'exact' does not play bridge_bidding_v0; choose from random"),
        (["--first", "sayc", "--player", "bis"], "agent 'bis' does not play bridge_v0; choose from random"),
        (["--first", "exact", "--player", "self"], "agent 'exact' does not play bridge_v0; choose from random"),
    ],
)
def test_agents_that_cannot(words, problem, tmp_path):
    with pytest.raises(ValueError, match=problem):
        bluechip("serve", *words, "--second", "random", "--out", tmp_path / "match.jsonl", "--port", 0)
    assert list(tmp_path.iterdir()) == []


def test_boards_of_a_file_are_played_with_cards(tmp_path):
    out = tmp_path / "match.jsonl"
    bluechip(
        "serve", "--first", "random", "--second", "pass", "--out", out, "--boards", 3, "--port", 0, "--room", "open"
    )
    again = tmp_path / "again.jsonl"
    words = ["serve", "--first", "random", "--second", "pass", "--port", 0, "--room", "open"]
    bluechip(*words, "--file", out.with_suffix(".pbn"), "--out", again)
    assert [strip(line) for line in again.read_text().splitlines()[1:]] == [
        strip(line) for line in out.read_text().splitlines()[1:]
    ]


def strip(line):
    """A result without its time."""
    return {name: value for name, value in json.loads(line).items() if name != "seconds"}


def test_an_agent_joins(tm):
    us = Uniform()
    match = tm.Match(tm.cards, (us, None), (us, us), seeded(tm.cards, range(2)), rooms=["open"])
    output = bluechip("join", "random", "--port", match.port(), "--team", "guests", "--seed", 1)
    assert [line.split(":")[0] for line in output.splitlines()] == ["board 1", "board 2"]
    record = match.done()
    assert [line.split(": ")[1] for line in output.splitlines()] == [r.contract for r in record.results.values()]
    assert [result.names for result in record.results.values()] == [["guests", "random"]] * 2


def test_boards_of_one_deal_count_as_one(capsys):
    """Here boards 1 and 3; else the error were 1.0."""
    results = {
        (room, number): SimpleNamespace(number=number, board=lambda hands=hands: Board(hands=hands), points=0)
        for number, hands in enumerate([(1, 2, 4, 8), (2, 1, 4, 8), (1, 2, 4, 8)], 1)
        for room in ("open", "closed")
    }
    imps = {1: 3, 2: 0, 3: 3}
    record = SimpleNamespace(results=results, played=lambda room, number: True, imps=lambda: imps, path="m.jsonl")
    _show(record, imps.keys(), ("open", "closed"))
    assert "+6 IMPs on 3 boards, 2.0 ± 1.3 a board" in capsys.readouterr().out
