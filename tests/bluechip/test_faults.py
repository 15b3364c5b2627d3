"""Programs that lie, stammer, dawdle and vanish.

Each is named, and the match goes on or ends with the boards it has.
"""

import numpy as np
import pytest

from bidzoo.agents.bridge.sayc import Pass
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.match import play
from bidzoo.bluechip.boards import seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.connection import LIMIT, Limits
from bidzoo.core.cards import call_text
from bidzoo.envs.bridge.formats import pbn

HELLO = 'Connecting "guest" as South using protocol version 18'


def to_the_auction(raw):
    """South has its cards of the first board, where North deals, East and North being passers."""
    raw.say(HELLO, "South ready for teams", "South ready to start", "South ready for deal", "South ready for cards")
    raw.say("South ready for North's bid", "South ready for East's bid")
    assert raw.hear(7) == "East passes"
    return raw


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("East passes", "received 'East passes', expected 'South passes', 'doubles', 'redoubles' or 'bids ...'"),
        ("South ready for West's bid", "received \"South ready for West's bid\", expected 'South passes'"),
        ("South plays 7S", "received 'South plays 7S', expected 'South passes'"),
        ("South bids 8C", "'South bids 8C': not a call: '8C'"),
        ("South doubles", "received 'South doubles', expected a legal one: P 1C 1D 1H 1S 1NT 2C"),
        ("garbage \xff", "is no message of the protocol, expected 'South passes'"),
        ("x" * 5000, f"a line of more than {LIMIT} bytes, expected 'South passes'"),
    ],
)
def test_what_makes_no_sense_is_quoted_and_the_seat_may_be_taken_again(tm, line, words, tmp_path, connect, kept):
    record = kept(tmp_path / "match.jsonl", {})
    match = tm.against_passers(2, record, grace=5)
    raw = to_the_auction(connect(match.port())).say(line)
    told = raw.hear()
    assert told == "Illegal bid" if "doubles" in line else told.startswith("Refused: ") or "xx" in line
    raw.close()
    guest = tm.Guest(Client(Pass(), 2, "guest"), match.port())
    match.done()
    assert guest.done().problem is None
    [report] = match.reports
    assert report.startswith('open room, South ("guest"): received ')
    assert words in report
    first, second = record.results.values()
    assert (first.points, first.faults, second.points, second.faults) == (0, [report], 0, [])


def test_an_illegal_card(tm, connect):
    calls = [3, 0, 0, 0]  # North opens 1C, all pass; East leads
    us = tm.Listed(calls)
    match = tm.Match(tm.cards, (us, us), (None, us), seeded(tm.cards, [0]), rooms=["open"])
    raw = connect(match.port()).say(HELLO.replace("South", "East"), "East ready for teams", "East ready to start")
    raw.say("East ready for deal", "East ready for cards", "East ready for North's bid", "East passes")
    raw.say("East ready for South's bid", "East ready for West's bid")
    lines = [raw.hear() for _ in range(9)]
    assert lines[-1] == "East to lead"
    hand = match.boards[0].hands[1]
    other = next(card for card in range(52) if not hand >> card & 1)
    raw.say(f"East plays {'23456789TJQKA'[other // 4]}{'CDHS'[other % 4]}")
    assert raw.hear() == "Illegal card"
    assert raw.hear().startswith("Refused: ")
    [result] = match.done().results.values()
    assert (result.contract, result.declarer, result.points) == ("1C", "N", None)
    assert "expected a legal one: " in result.faults[0]


def test_half_a_line_then_nothing_more(tm, tmp_path, connect, kept):
    record = kept(tmp_path / "match.jsonl", {})
    match = tm.against_passers(3, record)
    raw = to_the_auction(connect(match.port())).say("South passes", "South ready for West's bid")
    raw.say("South ready for deal", "South ready for cards")
    raw.socket.sendall(b"South ready for E")
    assert raw.hear(5).startswith("South's cards")
    raw.close()
    match.done()
    assert (
        match.reports[0].endswith(
            "received the half line 'South ready for E', then the end of the connection, "
            'expected "South ready for East\'s bid"'
        )
        or "broken connection" in match.reports[0]
    )
    assert match.reports[1] == ("open room: nobody came back to South in 0.3 s; from board 2 on it is not played")
    assert [result.points for result in record.results.values()] == [0, None]
    first, second = pbn.read(tmp_path / "match.pbn")
    assert (first.contract, second.contract, second.tags["Unplayed"]) == ("Pass", None, match.reports[0])
    again = tm.Match(tm.auction, (Pass(), Pass()), (Pass(), Pass()), match.boards, record, rooms=["open"]).done()
    assert [result.points for result in again.results.values()] == [0, 0, 0]  # and the rest later


def test_a_program_that_thinks_for_ever(tm, connect):
    match = tm.against_passers(limits=Limits(patience=0.2), grace=0.1)
    raw = to_the_auction(connect(match.port()))
    record = match.done()
    assert match.reports[0] == (
        'open room, South ("guest"): received nothing in 0.2 s, '
        "expected 'South passes', 'doubles', 'redoubles' or 'bids ...'"
    )
    assert record.results["open", 1].points is None
    assert raw.hear().startswith("Refused: nothing in 0.2 s")


def test_a_seat_that_fails_twice_on_a_board_costs_that_board_only(tm, connect):
    match = tm.against_passers(grace=5)
    for _ in range(2):
        raw = to_the_auction(connect(match.port())).say("nonsense")
        raw.hear()
        raw.close()
    guest = tm.Guest(Client(Pass(), 2, "guest"), match.port())
    record = match.done()
    assert guest.done().problem is None
    assert [result.points for result in record.results.values()] == [None, 0]
    assert len(record.results["open", 1].faults) == 2
    assert record.imps() == {}


def test_who_comes_back_must_stand_by_its_calls(tm, connect):
    match = tm.Match(
        tm.auction, (None, Pass()), (Pass(), Pass()), seeded(tm.auction, range(2)), rooms=["open"], grace=5
    )
    raw = connect(match.port())
    raw.say(HELLO.replace("South", "North"), "North ready for teams", "North ready to start", "North ready for deal")
    raw.say("North ready for cards", "North passes", "North ready for East's bid")
    assert raw.hear(6) == "East passes"
    raw.close()
    other = connect(match.port())
    other.say(HELLO.replace("South", "North"), "North ready for teams", "North ready to start", "North ready for deal")
    other.say("North ready for cards", "North bids 1C")
    assert other.hear(6).endswith("'North bids 1C', expected 'North passes', as before it came back")
    other.close()
    guest = tm.Guest(Client(Pass(), 0, "guest"), match.port())
    record = match.done()
    assert guest.done().problem is None
    assert [result.points for result in record.results.values()] == [None, 0]


def vanish(client):
    """The machine goes down."""
    client._connection.close()


@pytest.mark.parametrize("at", [1, 3, 4, 6, 9, 14, 25, 40])
def test_a_program_that_vanishes_and_comes_back_changes_nothing(tm, at):
    policy, boards = Uniform(), seeded(tm.cards, range(2), 6)
    expected = play(tm.cards, [policy] * 4, np.arange(2), 6, 0).states["points"][:, 0]
    match = tm.Match(tm.cards, (None, None), (policy, None), boards, rooms=["open"], grace=5)
    steady = [tm.Guest(Client(policy, seat, "AB"[seat % 2]), match.port()) for seat in (2, 3)]
    fragile = tm.Guest(tm.Fragile(policy, 0, "A", at=at, harm=vanish), match.port()).done()
    assert "connection" in fragile.problem
    back = tm.Guest(Client(policy, 0, "A"), match.port())
    record = match.done()
    assert [result.points for result in record.results.values()] == expected.tolist()
    for guest in [*steady, back]:
        assert guest.done().problem is None
    for guest in steady:  # they heard everything once
        assert [[call_text(c.call) for c in heard.calls] for heard in guest.client.heard] == [
            [c[0] for c in result.calls] for result in record.results.values()
        ]
    assert all(report.startswith(("open room, North", "open room, somebody")) for report in match.reports)


def test_the_match_is_stopped_and_keeps_what_it_has(tm, connect):
    match = tm.against_passers(2)
    raw = to_the_auction(connect(match.port())).say("South passes", "South ready for West's bid")
    raw.hear(3)
    raw.say("South ready for deal")
    raw.hear()
    match.manager.stop()
    record = match.done()
    assert [result.points for result in record.results.values()] == [0, None]


def test_leftovers_of_a_board_without_play_are_skipped(tm, connect):
    us = tm.Listed([3, 0, 0, 0])
    match = tm.Match(tm.auction, (us, None), (us, us), seeded(tm.auction, [0, 4]), rooms=["open"])
    raw = to_the_auction_of(connect(match.port()))
    raw.say("South ready for East's card to trick 1")  # it did not know that no cards are played here
    raw.say("South ready to start", "South ready for deal", "South ready for cards", "South ready for North's bid")
    raw.say("South ready for East's bid", "South passes", "South ready for West's bid")
    record = match.done()
    assert [result.contract for result in record.results.values()] == ["1C", "1C"]
    assert match.reports == []


def to_the_auction_of(raw):
    """South passes out 1C by North."""
    raw.say(HELLO, "South ready for teams", "South ready to start", "South ready for deal", "South ready for cards")
    return raw.say(
        "South ready for North's bid", "South ready for East's bid", "South passes", "South ready for West's bid"
    )


def test_the_other_room_goes_on_and_the_match_is_completed_later(tm):
    us, them, boards = Uniform(), Uniform(), seeded(tm.auction, range(3), 6)
    whole = tm.Match(tm.auction, (us, us), (them, them), boards).done()
    match = tm.Match(tm.auction, (us, us), (them, None), boards, limits=Limits(patience=5, pause=0.001))
    steady = tm.Guest(Client(them, 2, "guest", seed=1), match.port("closed"))
    tm.Guest(tm.Fragile(them, 3, "guest", at=12, harm=vanish), match.port("open")).done()
    record = match.done()
    assert steady.done().problem is None
    assert [room for (room, _), result in record.results.items() if result.points is not None].count("closed") == 3
    assert len(record.imps()) < 3
    again = tm.Match(tm.auction, (us, us), (them, None), boards, record)
    guest = tm.Guest(Client(them, 3, "guest"), again.port("open"))
    assert again.done().imps() == whole.imps()
    assert guest.done().problem is None
