"""Files of match results: round trips, replays, and OpenSpiel reading what we write."""

import json

import numpy as np
import pytest

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import records
from bidzoo.benchmarks.match import duplicate, pairings, play
from bidzoo.envs.bridge.formats import auctions
from bidzoo.envs.bridge.formats.auctions import Auctions
from bidzoo.envs.bridge.game import Bridge

RANDOM = agents.make("random")


@pytest.fixture(scope="module")
def match():
    game = Bridge(play=False, deals="test")
    played = duplicate(game, agents.make("sayc"), RANDOM, np.arange(30), seed=4, policy_seed=2)
    return played, records.of_match(game, played, "sayc", "random", seed=4, policy_seed=2)


@pytest.fixture(scope="module")
def boards():
    game = Bridge(play=True)
    played = play(game, [RANDOM] * 4, np.arange(0, 160, 16), seed=3)  # North deals, nobody vulnerable
    return played, records._records(game, played.states, "open", list("abcd"), 3, 0)


@pytest.mark.parametrize("ending", ["pbn", "lin", "PBN"])
def test_boards_are_no_records(tmp_path, ending):
    path = tmp_path / f"match.{ending}"
    path.write_text('[Event "x"]')
    with pytest.raises(
        ValueError, match=rf"ending '\.{ending}', expected records in \.jsonl; bidzoo.*{ending.lower()}\.read"
    ):
        records.read(path)


def test_records_say_what_happened(match):
    played, found = match
    assert len(found) == 60 and [record["room"] for record in found[:2]] == ["open", "closed"]
    assert found[0]["players"] == ["sayc", "random"] * 2 and found[1]["players"] == ["random", "sayc"] * 2
    assert found[1]["policy_seed"] == 5
    assert [record["imps"] for record in found[::2]] == played.imps.tolist()
    assert found[0]["deal"] == found[1]["deal"] and found[0]["calls"] != found[1]["calls"]
    assert {record["vulnerability"] for record in found} == {"none", "ns", "ew", "both"}


@pytest.mark.parametrize("kind", ["match", "boards"])
def test_records_replay(kind, request):
    played, found = request.getfixturevalue(kind)
    tables = np.concatenate([records.replay(record) for record in found])
    expected = played.states if kind == "boards" else np.stack([played.first, played.second], 1).ravel()
    for name in tables.dtype.names:
        np.testing.assert_array_equal(tables[name], expected[name], err_msg=name)


@pytest.mark.parametrize("kind", ["match", "boards"])
def test_files_give_back_what_they_got(kind, request, tmp_path):
    _, found = request.getfixturevalue(kind)
    path = tmp_path / "sub" / "match.jsonl"
    records.write(path, found)
    assert records.read(path) == found
    assert [item.name for item in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"score": 5}, "board 3, open room: score 5, but the replay gives"),
        ({"calls": ["P", "1C", "1C"]}, "board 3, open room: action 3: 1C is not legal"),
        ({"calls": ["P", "P"]}, "board 3, open room: .*finished table"),
        ({"calls": ["P", "8C"]}, "board 3, open room: not a call: '8C'"),
        ({"dealer": "Q"}, "board 3, open room: dealer: 'Q', expected 'N' or 'E' or 'S' or 'W'"),
        ({"seed": None}, "board 3, open room: seed: None, expected an integer from 0"),
        ({"board": "3"}, "board 3, open room: board: '3', expected an integer from 0"),
        ({"double_dummy": None}, "board 3, open room: double_dummy: None, expected a list, each an integer"),
        ({"calls": None}, "board 3, open room: calls: None, expected a list"),
    ],
)
def test_a_record_that_does_not_replay_is_named(match, change, problem):
    with pytest.raises(ValueError, match=problem):
        records.replay({**match[1][6], **change})


def test_numbers_of_numpy_are_numbers(match, tmp_path):
    record = match[1][6]
    other = {name: np.int64(x) if isinstance(x, int) else x for name, x in record.items()}
    assert (records.replay(other) == records.replay(record)).all()
    records.write(tmp_path / "one.jsonl", [other])
    assert records.read(tmp_path / "one.jsonl") == [record]


def test_a_record_without_a_field_is_named(match):
    for field in match[1][6]:
        with pytest.raises(ValueError, match=f"a record without {field}, expected all fields"):
            records.replay({name: value for name, value in match[1][6].items() if name != field})


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"score": "5"}, "2: score: '5', expected an integer from -7600 to 7600 or null"),
        ({"players": ["a"]}, r"2: players: \['a'\], expected a list of length 4, each a text"),
        ({"double_dummy": [1.5] * 20}, r"2: double_dummy\[0\]: 1.5, expected an integer from -1 to 13"),
        ({"double_dummy": [300] * 20}, r"2: double_dummy\[0\]: 300, expected an integer from -1 to 13"),
        ({"seed": 2**64}, "2: seed: 18446744073709551616, expected an integer from 0 to"),
        ({"board": 10**4299}, "2: not JSON .integer 10000000000000000000... of 4300 digits"),
        ({"room": "third"}, "2: room: 'third', expected 'open' or 'closed'"),
        ({"version": "\ud800"}, "2: not JSON .*surrogates"),
        ({"extra": 1}, "2: extra: unknown field, expected version, seed"),
    ],
)
def test_a_damaged_file_is_named(match, change, problem, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in (match[1][0], {**match[1][1], **change})))
    with pytest.raises(ValueError, match=f"bad.jsonl:{problem}"):
        records.read(path)
    for text, fault in (
        ("{", "Expecting"),
        ("[" * 100_000, "lists and objects 65 deep, expected at most 64"),
        ('{"seed": 1, "seed": 2}', "field 'seed' twice in one object"),
        ("\xff", "can't decode"),
    ):
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(ValueError, match=rf"bad\.jsonl:1: not JSON .*{fault}"):
            records.read(path)
    path.write_text("[1]")
    with pytest.raises(ValueError, match=r"bad\.jsonl:1: \[1\], expected an object"):
        records.read(path)


# ---- OpenSpiel's trajectories ------------------------------------------------------------


def test_openspiel_plays_what_we_write(boards, tmp_path):
    pyspiel = pytest.importorskip("pyspiel")
    played, _ = boards
    path = tmp_path / "boards.txt"
    auctions.write_text(path, played.states)
    game = pyspiel.load_game("bridge(use_double_dummy_result=false)")
    for line, table in zip(path.read_text().splitlines(), played.states, strict=True):
        state = game.new_initial_state()
        for action in map(int, line.split()):
            assert not state.is_terminal() and action in state.legal_actions()
            state.apply_action(action)
        assert state.is_terminal() and state.returns()[0] == table["points"][0]


def test_trajectories_come_back(boards, tmp_path):
    played, _ = boards
    path = tmp_path / "boards.txt"
    auctions.write_text(path, played.states)
    found = Auctions.load(path)
    np.testing.assert_array_equal(found.hands, played.states["hands"])
    calls = [table["calls"][: table["length"]] for table in played.states]
    np.testing.assert_array_equal(found.calls, np.concatenate(calls))


def test_trajectories_have_one_dealer(tmp_path):
    game = Bridge(play=False, deals="test")
    tables = play(game, [RANDOM] * 4, np.arange(2)).states
    with pytest.raises(ValueError, match="board 1: expected North to deal"):
        auctions.write_text(tmp_path / "no.txt", tables)
    with pytest.raises(ValueError, match="board 0: not over"):
        auctions.write_text(tmp_path / "no.txt", game.new(1))
    assert not list(tmp_path.iterdir())


def test_a_board_that_is_there_twice_is_named(tmp_path):
    game = bidzoo.make_game("minibridge")
    played = pairings(game, "random", "random", np.arange(3))
    path = tmp_path / "twice.jsonl"
    lines = [json.dumps(record) for record in records.of_pairings(game, {}, ("random", "random"), played)]
    path.write_text("\n".join(lines) + "\n")
    assert len(records.read(path)) == len(lines)
    path.write_text("\n".join([*lines, lines[1]]) + "\n")
    with pytest.raises(ValueError, match=rf"twice\.jsonl:{len(lines) + 1}: board .* again, as in line 2"):
        records.read(path)
