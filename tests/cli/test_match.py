"""``bidzoo match`` and ``bidzoo replay``: the harness's IMPs, endplay's scores, and every tampering found."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import replay, results
from bidzoo.benchmarks.bridge import Boards, Contracts
from bidzoo.benchmarks.match import duplicate
from bidzoo.cli.main import app
from bidzoo.envs.bridge.deals import DATA
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps

BOARDS, SEED = 24, 5


def run(*words):
    """What a command prints; its errors come through."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None:
        raise result.exception
    return " ".join(result.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same match in every format."""
    folder = tmp_path_factory.mktemp("match")
    for ending in ("jsonl", "pbn", "lin"):
        found = run("match", "sayc", "random", "--boards", BOARDS, "--seed", SEED, "--out", folder / f"m.{ending}")
        (folder / f"{ending}.txt").write_text(found)
    return folder


@pytest.fixture(scope="module")
def expected():
    game = Bridge(play=False, deals="test", shuffle=False)
    return duplicate(game, agents.make("sayc"), agents.make("random"), np.arange(BOARDS), SEED, SEED)


@pytest.mark.parametrize("ending", ["jsonl", "pbn", "lin"])
def test_a_match_and_its_replay(folder, expected, ending):
    total = int(expected.imps.sum())
    assert f"sayc against random: {total:+} IMPs on 24 boards of 24 deals" in (folder / f"{ending}.txt").read_text()
    assert re.search(rf"sayc +random +{BOARDS} +{total} ", run("replay", folder / f"m.{ending}"))


def test_an_imitation_is_named():
    assert "sl is a network that imitates a bridge program" in run("match", "pass", "sl", "--boards", 2)
    assert "imitates" not in run("match", "sl", "pass", "--boards", 2)  # of the opponents alone


def test_imps_are_those_of_bench_bridge():
    boards, sayc, nobody = Boards(40, SEED), agents.make("sayc"), agents.make("pass")
    first, second = (Contracts.of(boards.play(*pair)) for pair in ((sayc, nobody), (nobody, sayc)))
    total = first.imps(second).sum()
    assert f"sayc against pass: {total:+} IMPs" in run("match", "sayc", "pass", "--boards", 40, "--seed", SEED)


def test_workers_change_no_byte(folder, tmp_path, monkeypatch):
    from bidzoo.benchmarks import match

    monkeypatch.setattr(match, "LEAST", 4)
    out = tmp_path / "m.jsonl"
    run("match", "sayc", "random", "--boards", BOARDS, "--seed", SEED, "--out", out, "--workers", 2)
    assert out.read_bytes() == (folder / "m.jsonl").read_bytes()


def test_endplay_counts_the_same(folder, expected):
    parser = pytest.importorskip("endplay.parsers.pbn")
    with open(folder / "m.pbn") as file:
        boards = parser.load(file)
    points = [board.contract.score(board.vul) for board in boards]
    side = [1 if board.contract.declarer.name in ("north", "south") else -1 for board in boards]
    score = np.multiply(points, side)
    assert np.array_equal(imps(score[::2] - score[1::2]), expected.imps)


def test_boards_of_a_file(tmp_path):
    """As they stand, each once; and the file itself, which holds one table a board, replays too."""
    out = tmp_path / "m.jsonl"
    printed = run("match", "sayc", "pass", "--pbn", DATA / "sample.pbn", "--out", out)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    game = Bridge(play=False, deals=DATA / "sample.pbn", shuffle=False, augment=False)
    assert f"{len(game.deals.hands)} boards" in printed
    assert len(records) == 2 * len(game.deals.hands)
    assert [record["double_dummy"] for record in records[::2]] == game.deals.tricks.tolist()


def test_boards_of_one_deal_count_as_one(folder, expected):
    """A file of records holds every board twice."""
    printed = run("match", "sayc", "random", "--pbn", folder / "m.pbn", "--seed", SEED)
    assert f"{2 * BOARDS} boards of {BOARDS} deals" in printed
    game = bidzoo.make_game("bridge_bidding_v0", deals=folder / "m.pbn", shuffle=False, augment=False)
    assert game.deal_numbers(np.arange(6)).tolist() == [0, 0, 2, 2, 4, 4]
    once = duplicate(game, "sayc", "pass", np.arange(0, 2 * BOARDS, 2)).estimate
    assert duplicate(game, "sayc", "pass", np.arange(2 * BOARDS)).estimate == pytest.approx(once)


@pytest.mark.parametrize("ending", ["jsonl", "pbn", "lin"])
def test_an_empty_file_has_no_boards(tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    path.touch()
    with pytest.raises(ValueError, match="no boards, expected at least one"):
        run("replay", path)


def test_one_board_is_no_boards():
    assert "on 1 board of 1 deal, " in run("match", "pass", "pass", "--boards", 1)


# ---- differences ---------------------------------------------------------------------------


def change(number, **fields):
    def edit(lines):
        lines[number - 1] = json.dumps({**json.loads(lines[number - 1]), **fields})

    return edit


def drop(number):
    return lambda lines: lines.pop(number - 1)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (change(6, score=5), ":6: board 2, closed room: score 5, but the replay gives"),
        (change(5, calls=["P", "1C", "1C"]), ":5: board 2, open room: action 3: 1C is not legal"),
        (change(7, imps=23), ":7: 23 IMPs, but the two scores give"),
        (change(8, imps=None), None),
        (drop(4), ":3: .* IMPs, expected the board's other table in the file"),
        (change(2, extra=1), ":2: extra: unknown field, expected version"),
    ],
)
def test_a_changed_record_is_named(folder, tmp_path, edit, problem):
    lines = (folder / "m.jsonl").read_text().splitlines()
    edit(lines)
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines))
    if problem is None:
        assert replay.summaries(path)[0].rows[0]["boards"] == BOARDS
        return
    with pytest.raises(ValueError, match=r"bad\.jsonl" + problem):
        run("replay", path)


@pytest.mark.parametrize(
    ("name", "pattern", "new", "problem"),
    [
        ("m.pbn", r'\[Score "NS .*"\]', '[Score "NS 5"]', r"table 1, board 1: Score 'NS 5', but the replay gives NS"),
        ("m.pbn", r'\[ScoreIMP "NS .*"\]', '[ScoreIMP "NS 2"]', r"table 1, board 1: 2 IMPs, but the two scores give"),
        ("m.pbn", r'\[Result "\d+"\]', '[Result "13"]', r"table 1, board 1: Result 13, but the double-dummy table"),
    ],
)
def test_a_changed_board_is_named(folder, tmp_path, name, pattern, new, problem):
    path = tmp_path / name.replace("m", "bad", 1)
    path.write_text(re.sub(pattern, new, (folder / name).read_text(), count=1))
    with pytest.raises(ValueError, match=problem):
        run("replay", path, "--strict")
    told = CliRunner().invoke(app, ["replay", str(path)])  # the boards are shown nevertheless
    assert told.exit_code == 3 and told.stdout.count("Board ") == 2 * BOARDS
    assert re.search(problem, told.stderr.replace("\n", " "))


HANDS = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"


def pbn_table(result, **tags):
    return {"Board": "1", "Deal": HANDS, "Declarer": "N", "Contract": "3NT", "Result": str(result), **tags}


def replayed(path, *tables):
    path.write_text("\n".join("".join(f'[{name} "{text}"]\n' for name, text in tags.items()) for tags in tables))
    faults = []
    (table,) = replay.summaries(path, None, faults)
    return table, [str(fault) for fault in faults]


FOUR = dict(zip(("North", "East", "South", "West"), "abcd"))
SWAPPED = dict(zip(("North", "East", "South", "West"), "badc"))


@pytest.mark.parametrize(
    ("first", "second", "matches"),
    [
        ({}, {}, 0),  # a pairs tournament: nobody is named
        ({"PairIdNS": "1"}, {"PairIdNS": "2"}, 0),
        (dict.fromkeys(FOUR, "GIB"), dict.fromkeys(FOUR, "GIB"), 0),
        ({**dict.fromkeys(FOUR, "GIB"), "South": "me"}, {**dict.fromkeys(FOUR, "GIB"), "South": "me"}, 0),
        (FOUR, FOUR, 0),
        (FOUR, SWAPPED, 1),
        ({"Room": "Open"}, {"Room": "Closed"}, 1),
        ({"Room": "Open", **dict.fromkeys(FOUR, "GIB")}, {"Room": "Closed", **dict.fromkeys(FOUR, "GIB")}, 1),
        ({"Room": "Open"}, {"Room": "Open"}, 0),
    ],
)
def test_two_tables_are_a_match_if_the_sides_are_exchanged_or_the_rooms_differ(tmp_path, first, second, matches):
    table, faults = replayed(tmp_path / "m.pbn", pbn_table(9, **first), pbn_table(11, **second))
    assert len(table.rows) == matches and not faults
    assert ("2 of them without a second table" in table.note) == (not matches)


@pytest.mark.parametrize(
    ("tags", "fault"),
    [
        ({"Score": "NS 400"}, None),
        ({"Score": "400"}, None),  # declarer's
        ({"Score": "EW -400 NS 400"}, None),
        ({"Score": "410"}, "Score '410', but the replay gives NS 400"),
        ({"Score": "EW 400"}, "Score 'EW 400', but"),
        ({"Score": "NS 410 EW -410"}, "Score 'NS 410 EW -410', but"),
        ({"Score": "NS 60", "Scoring": "Rubber"}, None),
        ({"Score": "ten"}, None),
    ],
)
def test_scores_in_all_forms_of_the_standard(tmp_path, tags, fault):
    _, faults = replayed(tmp_path / "m.pbn", pbn_table(9, **tags))
    assert len(faults) == (fault is not None) and (fault is None or fault in faults[0])


@pytest.mark.parametrize(("scoring", "faults"), [("IMP", 2), ("IMP;Butler", 0), ("MP", 0)])
def test_imps_are_those_of_two_tables_only_where_they_are_said_to_be(tmp_path, scoring, faults):
    tables = [pbn_table(9, Room=room, ScoreIMP="NS 1", Scoring=scoring) for room in ("Open", "Closed")]
    assert len(replayed(tmp_path / "m.pbn", *tables)[1]) == faults


def test_a_board_with_an_illegal_call_is_named_and_costs_no_other(folder, tmp_path):
    path = tmp_path / "bad.lin"
    path.write_text(re.sub(r"\|mb\|\w+", "|mb|R", (folder / "m.lin").read_text(), count=1))
    told = CliRunner().invoke(app, ["replay", str(path)])
    assert told.exit_code == 3 and told.stdout.count("Board ") == 2 * BOARDS
    assert re.search(r"bad\.lin:1: mb: XX is not legal .*; left out: auction, contract, play", told.stderr)
    with pytest.raises(ValueError, match=r"bad\.lin:1: mb: XX is not legal"):
        run("replay", path, "--strict")


def test_the_result_goes_where_it_is_asked_for(tmp_path):
    run("match", "sayc", "pass", "--boards", 4, "--json", "here.json")
    assert [path.name for path in tmp_path.iterdir()] == ["here.json"]
    assert results.load("here.json")["tables"][0].rows[0]["boards"] == 4
    for wrong in ("here.pbn", "-"):  # what is no result file is not written over
        told = CliRunner().invoke(app, ["match", "sayc", "pass", "--boards", "4", "--json", wrong])
        assert told.exit_code == 2 and "expected .json" in told.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["here.json"]


def test_an_unknown_ending_costs_no_match(tmp_path):
    with pytest.raises(ValueError, match=r"m\.csv: ending '\.csv', expected \.jsonl, \.pbn, \.lin"):
        run("match", "sayc", "pass", "--boards", 10**9, "--out", tmp_path / "m.csv")
    with pytest.raises(KeyError, match="unknown agent 'nobody'"):
        run("match", "sayc", "nobody")


SLOW = '''
from pathlib import Path

class Slow:
    """The first legal action; stops when its file says that it has been asked often enough."""

    name, slow = "slow", True

    def act(self, views, legal, rng):
        count = Path("count")
        left = int(count.read_text())
        if left < len(views):
            raise RuntimeError("stopped")
        count.write_text(str(left - len(views)))
        return legal.argmax(1)
'''


@pytest.mark.parametrize("env", ["bridge_bidding_v0", "minibridge_v0"])
def test_a_stopped_match_goes_on(tmp_path, monkeypatch, env):
    """What a slow agent has played is not played again; the records are those of a match in one go."""
    monkeypatch.syspath_prepend(tmp_path)
    Path("slow_agent.py").write_text(SLOW)
    words = ["match", "slow_agent:Slow", "pass" if env == "bridge_bidding_v0" else "random", "--env", env]
    words += ["--boards", 25, "--out"]
    Path("count").write_text("1000000")
    said = run(*words, "whole.jsonl")
    needed = 1000000 - int(Path("count").read_text())
    assert [path.suffix for path in Path("runs").iterdir()] == [".json"]  # the result alone
    Path("count").write_text(str(needed - 2))
    with pytest.raises(RuntimeError, match="stopped"):
        run(*words, "parts.jsonl")
    assert len(list(Path("runs").glob("match-*.ledger"))) == 1
    Path("count").write_text(str(needed // 2))
    assert run(*words, "parts.jsonl") == said.replace("whole", "parts")
    assert Path("parts.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert not list(Path("runs").glob("*.ledger"))
