"""Whole matches over loopback sockets: the same boards, calls, cards and IMPs as the match harness gives."""

import json
from pathlib import Path

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.agents.bridge.sayc import Pass
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.match import duplicate
from bidzoo.bluechip.boards import Record, Result, from_file, seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.seat import BidderAndPlayer
from bidzoo.core.cards import call_number, card_number, card_text, hand_text
from bidzoo.envs.bridge.board import Board
from bidzoo.envs.bridge.formats import pbn

SEED, POLICY_SEED = 3, 4


def sit(tm, match, policies, rooms=("open", "closed")):
    """Clients for all eight seats: pair 0 is N/S in the open room."""
    guests = []
    for room in rooms:
        for seat in range(4):
            pair = seat % 2 if room == "open" else 1 - seat % 2
            client = Client(policies[pair], seat, "AB"[pair], 2 * POLICY_SEED + (room == "closed"))
            guests.append(tm.Guest(client, match.port(room)))
    return guests


@pytest.mark.parametrize("play", [False, True])
def test_eight_programs_play_the_harness_match(tm, play):
    game = tm.cards if play else tm.auction
    ours, theirs = agents.make("sayc"), Uniform()
    ours = BidderAndPlayer(ours, Uniform()) if play else ours
    boards = seeded(game, range(16), SEED)
    assert sorted({(board.dealer, board.vulnerable) for board in boards}) == [
        (d, v) for d in range(4) for v in range(4)
    ]
    boards = boards[:6] if play else boards
    match = tm.Match(game, (None, None), (None, None), boards)
    guests = sit(tm, match, (ours, theirs))
    record = match.done()
    expected = duplicate(game, ours, theirs, np.arange(len(boards)), SEED, POLICY_SEED)
    assert match.problem is None
    assert match.reports == []
    assert list(record.imps().values()) == expected.imps.tolist()
    for room, tables in (("open", expected.first), ("closed", expected.second)):
        for number, table in enumerate(tables, 1):
            result = record.results[room, number]
            assert [call_number(call[0]) for call in result.calls] == table["calls"][: table["length"]].tolist()
            assert [card_number(card) for card in result.cards] == table["played"][: table["plays"]].tolist()
            assert result.points == table["points"][0]
            assert result.names == (["A", "B"] if room == "open" else ["B", "A"])
    for guest in guests:
        assert guest.done().problem is None
        assert [heard.number for heard in guest.client.heard] == list(range(1, len(boards) + 1))


@pytest.mark.parametrize("play", [False, True])
def test_policies_of_ours_at_the_table_managers_side(tm, play):
    game = tm.cards if play else tm.auction
    ours, theirs = Uniform(), Uniform()
    boards = seeded(game, range(100, 108), SEED)
    expected = duplicate(game, ours, theirs, np.arange(100, 108), SEED, POLICY_SEED)
    match = tm.Match(game, (ours, ours), (theirs, None), boards, policy_seed=POLICY_SEED)
    for room, seat in (("open", 3), ("closed", 2)):  # one program beside one of ours
        tm.Guest(Client(theirs, seat, "guests", 2 * POLICY_SEED + (room == "closed")), match.port(room))
    record = match.done()
    assert list(record.imps().values()) == expected.imps.tolist()
    assert record.results["open", 101].names == ["random", "guests"]
    alone = tm.Match(game, (ours, ours), (theirs, theirs), boards, policy_seed=POLICY_SEED).done()
    assert alone.imps() == record.imps()


def test_two_programs_serve_for_eight_seats_when_the_rooms_take_turns(tm):
    boards = seeded(tm.auction, range(4), SEED)
    ours, theirs = Pass(), Uniform()
    match = tm.Match(tm.auction, (ours, ours), (None, None), boards, in_turn=True, policy_seed=POLICY_SEED)
    for room, seats in (("open", (1, 3)), ("closed", (0, 2))):
        while room not in match.manager.ports:
            assert match.is_alive()
            match.join(0.01)
        port = match.port(room)
        guests = [tm.Guest(Client(theirs, seat, "B", 2 * POLICY_SEED + (room == "closed")), port) for seat in seats]
        assert [guest.done().problem for guest in guests] == [None, None]
    expected = duplicate(tm.auction, ours, theirs, np.arange(4), SEED, POLICY_SEED)
    assert list(match.done().imps().values()) == expected.imps.tolist()


def test_any_seat_is_the_next_free_one_of_the_team(tm):
    match = tm.Match(tm.auction, (None, None), (None, None), seeded(tm.auction, range(2)), rooms=["open"])
    guests = []
    for team in "ABBA":
        guests.append(tm.Guest(Client(Uniform(), None, team), match.port()))
        while guests[-1].client.seat is None:
            assert guests[-1].is_alive()
            guests[-1].join(0.01)
    match.done()
    assert [guest.done().client.seat for guest in guests] == [0, 1, 3, 2]
    assert guests[1].client.teams == guests[0].client.teams


def test_alerts_reach_the_opponents_and_the_files_but_not_partner(tm, tmp_path, kept):
    calls = [call_number(call) for call in ("1NT", "P", "2C", "X", "P", "P", "P")]
    record = Record(tmp_path / "alerts.jsonl", {})
    match = tm.Match(tm.auction, (None, None), (None, None), seeded(tm.auction, [0]), record, rooms=["open"])
    guests = [tm.Guest(Client(tm.Alerting(calls), seat, "AB"[seat % 2]), match.port()) for seat in range(4)]
    match.done()
    for guest in guests:
        heard = guest.done().client.heard[0].calls
        opening, reply = heard[0], heard[2]
        if guest.client.seat == 0:
            assert (opening.note, reply.alert) == ("says 7", False)
        elif guest.client.seat == 2:
            assert (opening.alert, reply.note) == (False, "says 8")
        else:
            assert (opening.note, reply.note) == ("says 7", "says 8")
    [read] = pbn.read(tmp_path / "alerts.pbn")
    assert [call.note for call in read.auction] == ["says 7", "", "says 8", "", "", "", ""]
    assert (read.contract, read.declarer) == ("2CX", 2)
    with pytest.raises(ValueError, match=r"alerts\.jsonl: already being written, by process \d+ on"):
        Record(tmp_path / "alerts.jsonl", {})
    record.close()
    assert kept(tmp_path / "alerts.jsonl", {}).results == record.results


def test_a_match_is_taken_up_again_where_it_stopped(tm, tmp_path):
    path, boards = tmp_path / "match.jsonl", seeded(tm.cards, range(6), SEED)
    ours, theirs = Uniform(), Uniform()
    pairs = (ours, ours), (theirs, theirs)
    whole = tm.Match(tm.cards, *pairs, boards).done()
    first = tm.Match(tm.cards, *pairs, boards[:3], Record(path, {"seed": SEED})).done()
    assert len(first.results) == 6
    first.close()
    torn = path.read_text().splitlines(keepends=True)
    path.write_text("".join(torn[:-1]) + torn[-1][:50])  # killed as it wrote
    record = Record(path, {"seed": SEED})
    assert len(record.results) == 5
    again = tm.Match(tm.cards, *pairs, boards, record).done()
    assert again.imps() == whole.imps()
    assert len(path.read_text().splitlines()) == 1 + 12
    read = pbn.read(path.with_suffix(".pbn"))
    assert [(board.number, board.tags["Room"]) for board in read] == [
        (number, room) for number in range(1, 7) for room in ("Open", "Closed")
    ]
    for board in read:
        result = whole.results[board.tags["Room"].lower(), board.number]
        assert [card_text(card) for card in board.play] == result.cards
        assert (board.result, board.contract) == (result.taken, result.contract)
    other = tm.Match(tm.cards, *pairs, seeded(tm.cards, range(6), SEED + 1), record)
    other.done()
    assert other.problem == "board 1: the record has other cards, expected those of this match"
    record.close()
    with pytest.raises(ValueError, match=r"match.jsonl:1: .*expected .*or a new file"):
        Record(path, {"seed": SEED + 1})
    path.write_text(torn[0] + "{}\n" + torn[1])
    with pytest.raises(ValueError, match=r"match.jsonl:2: '\{\}': not a result"):
        Record(path, {"seed": SEED})


EMPTY = json.loads((Path(__file__).parents[1] / "data" / "blue-chip-result.json").read_text())  # a board passed out


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"number": 0}, "result: number: 0, expected an integer from 1"),
        ({"dealer": 0}, "result: dealer: 0, expected 'N'"),
        ({"hands": ["AKQJT98765432..."] * 4}, "held by N and by E, expected 52 different cards"),
        ({"hands": None}, "result: hands: None, expected a list, each a text"),
        ({"calls": [["8C"]]}, "not a call: '8C'"),
        ({"calls": [["1C", "?"]]}, r"call \['1C', '\?'\], expected a call"),
        ({"cards": ["ZZ"]}, "not a card: 'ZZ'"),
        ({"contract": "1C", "taken": 14}, "result: taken: 14, expected an integer from 0 to 13 or null"),
        ({"points": 10**4299}, "not JSON .integer 10000000000000000000... of 4300 digits"),
        ({"note": ""}, "result: note: unknown field, expected room, number"),
        ("[" * 100_000, "not JSON .lists and objects 65 deep, expected at most 64"),
    ],
)
def test_damaged_results_are_named(tmp_path, change, fault):
    path = tmp_path / "match.jsonl"
    record = Record(path, {})
    record.add(Result.of(EMPTY))
    record.close()
    header, line = path.read_text().splitlines()
    other = change if isinstance(change, str) else json.dumps({**json.loads(line), **change})
    path.write_text(f"{header}\n{other}\n")
    with pytest.raises(ValueError, match=rf"match\.jsonl:2: .*: not a result \(.*{fault}"):
        Record(path, {})


def test_cards_are_played_and_the_score_is_double_dummy(tm, tmp_path, kept):
    boards, us, them = seeded(tm.auction, range(5), SEED), Uniform(), Pass()
    whole, part = BidderAndPlayer(them, us), kept(tmp_path / "solved.jsonl", {})
    auctions = tm.Match(tm.auction, (us, us), (them, them), boards).done()
    match = tm.Match(tm.cards, (us, us), (whole, whole), boards, part, double_dummy=True)
    assert match.done().imps() == auctions.imps()
    assert {len(result.cards) for result in part.results.values()} <= {0, 52}
    for board in pbn.read(tmp_path / "solved.pbn"):
        result = auctions.results[board.tags["Room"].lower(), board.number]
        assert (board.contract, board.result, board.tags["ResultSource"]) == (
            result.contract,
            result.taken,
            "double dummy",
        )
    unknown = [board._replace(tricks=np.full(20, -1, np.int8)) for board in boards]
    match = tm.Match(tm.auction, (us, us), (us, us), unknown)
    match.done()
    assert match.problem == "board 1: no complete double-dummy table, expected one to score it by"


def test_a_line_of_the_record_replays_its_board(tm, tmp_path, kept):
    path = tmp_path / "match.jsonl"
    us = Uniform()
    record = tm.Match(tm.cards, (us, us), (us, us), seeded(tm.cards, [5]), kept(path, {}), rooms=["open"]).done()
    fields = json.loads(path.read_text().splitlines()[1])
    table, out = from_line(tm, fields)
    for text in fields["calls"] + [[card[::-1]] for card in fields["cards"]]:
        tm.cards.step(table, np.array([tm.cards.action_number(text[0])]), 0, out)
    assert out.over[0]
    assert table["points"][0, 0] == fields["points"] == record.results["open", 6].points


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("play", [False, True])
def test_a_match_on_a_machine_that_has_compiled_nothing(tm, tmp_path, kept, play):
    """Every result is a line of JSON, whatever runs compiled."""
    game = tm.cards if play else tm.auction
    bids = [call_number(text) for text in ("1C", "P", "P", "P")]
    us = tm.Listed([*bids, *[0] * 52])
    us = BidderAndPlayer(us, FirstCard())
    record = kept(tmp_path / "plain.jsonl", {})
    match = tm.Match(game, (us, us), (us, us), seeded(game, range(2)), record)
    match.done()
    assert match.problem is None
    assert len(record.results) == 4
    for result in record.results.values():
        assert Result.of(json.loads(result.line())) == result
        assert {type(result.points), type(result.taken)} == {int}


class FirstCard:
    """The first action that is legal."""

    name = "first"

    def act(self, views, legal, rng):
        return legal.argmax(1)


def from_line(tm, fields):
    """A table before the first call of the board on a line."""
    table, out = tm.cards.new(1), tm.cards.buffers(1)
    tm.cards.begin(table, np.zeros(1, np.int64), 0, out)
    vulnerable = {"None": "none", "NS": "ns", "EW": "ew", "All": "both"}[fields["vulnerable"]]
    options = {"deal": "N:" + " ".join(fields["hands"]), "dealer": fields["dealer"], "vulnerability": vulnerable}
    tm.cards.fix(table, tm.cards.options(options), out)
    return table, out


def test_boards_from_a_file(tm, tmp_path):
    [board] = seeded(tm.auction, [9])
    hands = tuple(int(hand) for hand in board.hands)
    tricks = tuple(int(trick) for trick in board.tricks)
    pbn.write(
        tmp_path / "two.pbn",
        [
            Board(number=7, dealer=2, vulnerable=1, hands=hands),
            Board(number=9, dealer=1, vulnerable=2, hands=hands, tricks=tricks),
        ],
    )
    seven, nine = from_file(tmp_path / "two.pbn", solve=True)
    assert (seven.number, seven.dealer, seven.vulnerable, nine.number, nine.dealer) == (7, 2, 1, 9, 1)
    assert seven.tricks.tolist() == nine.tricks.tolist() == list(tricks)  # solved, and as tagged
    us = Uniform()
    record = tm.Match(tm.auction, (us, us), (us, us), [seven, nine]).done()
    assert sorted(record.imps()) == [7, 9]
    pbn.write(tmp_path / "odd.pbn", [Board(number=7), Board(hands=hands)])
    with pytest.warns(UserWarning, match=r"odd.pbn: 1 board left out, hands are missing: 7"):
        assert [board.number for board in from_file(tmp_path / "odd.pbn", solve=False)] == [2]
    assert record.results["open", 7].hands[0] == hand_text(hands[0])
    pbn.write(tmp_path / "twice.pbn", [Board(number=7, hands=hands)] * 2)
    with pytest.raises(ValueError, match=r"twice.pbn: board 7: expected numbers from 1, each once"):
        from_file(tmp_path / "twice.pbn", solve=False)
    pbn.write(tmp_path / "no.pbn", [Board(number=7)])
    with pytest.raises(ValueError, match=r"no.pbn: 1 board left out, hands are missing: 7; expected"):
        from_file(tmp_path / "no.pbn", solve=False)
