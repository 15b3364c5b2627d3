"""The auction, law by law (Laws of Duplicate Bridge 2017)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FIRST_BID, NUM_CALLS, SEATS, call_number, call_text
from bidzoo.core.kernels import allocate
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.state import MAX_CALLS, OVER, STATE


def legal(table: Any) -> list[str]:
    out = np.zeros(NUM_CALLS, np.int8)
    auction.legal_row(table, out)
    return [call_text(int(call)) for call in np.flatnonzero(out)]


def play(text: str, dealer: str = "N") -> Any:
    """A table after the calls of ``text``, each checked legal."""
    table = allocate(STATE, 1)[0]
    auction.open_auction_row(table, SEATS.index(dealer), 0)
    for name in text.split():
        if name not in legal(table):
            raise ValueError(f"{name} is illegal in {text!r}")
        auction.call_row(table, call_number(name))
    return table


@pytest.mark.parametrize("dealer", SEATS)
def test_law_17_the_dealer_calls_first_and_then_clockwise(dealer: str) -> None:
    turns = [auction.turn_row(play(text, dealer)) for text in ("", "P", "P P", "P P 1C", "P P 1C X")]
    assert turns == [(SEATS.index(dealer) + t) % 4 for t in range(5)]


def test_before_the_first_call_nothing_has_happened() -> None:
    table = play("")
    assert [table[name] for name in ("length", "bid", "bidder", "stake", "passes", "declarer")] == [0, -1, -1, 1, 0, -1]
    assert [table[name] for name in ("plays", "hand_to_play", "leader", "dummy")] == [0, -1, -1, 0]
    assert not table["won"].any() and {-1} == {*table["calls"], *table["played"], *table["players"]}


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("P P P", False),
        ("P P P P", True),
        ("P P P 1C P P P", True),
        ("1C P P", False),
        ("1C X XX P P", False),
        ("1C X XX P P P", True),
        ("1C P P 1D P P", False),
    ],
)
def test_law_22_three_passes_end_it_or_four_without_a_bid(text: str, over: bool) -> None:
    table = play(text)
    assert auction.over_row(table) is over
    assert (table["phase"] == OVER) == over
    assert (table["turn"] == -1) == over
    assert (legal(table) == []) is over


@pytest.mark.parametrize(
    ("text", "lowest"), [("", "1C"), ("1C", "1D"), ("1S", "1NT"), ("1NT P", "2C"), ("6NT X", "7C")]
)
def test_law_18_a_bid_supersedes_the_last(text: str, lowest: str) -> None:
    bids = [name for name in legal(play(text)) if name not in ("P", "X", "XX")]
    assert bids == [call_text(call) for call in range(call_number(lowest), NUM_CALLS)]


def test_law_18_nothing_supersedes_seven_notrump() -> None:
    assert legal(play("7NT")) == ["P", "X"]


@pytest.mark.parametrize("text", ["X", "P X", "1C P X", "1C X X", "1C X P X", "1C X XX X"])
def test_law_19a_a_double_needs_an_undoubled_bid_by_an_opponent(text: str) -> None:
    with pytest.raises(ValueError, match="X is illegal"):
        play(text)


@pytest.mark.parametrize("text", ["XX", "1C XX", "1C P XX", "1C X P XX", "1C X XX P XX", "1C X 1D XX"])
def test_law_19b_a_redouble_needs_the_double_of_our_bid(text: str) -> None:
    with pytest.raises(ValueError, match="XX is illegal"):
        play(text)


@pytest.mark.parametrize(
    ("text", "stake"), [("1C", 1), ("1C X", 2), ("1C P P X P P XX", 4), ("1C X XX 1D", 1), ("1C X 1D P", 1)]
)
def test_law_19c_a_new_bid_cancels_a_double(text: str, stake: int) -> None:
    assert play(text)["stake"] == stake


@pytest.mark.parametrize(
    ("text", "declarer"),
    [
        ("P P P P", None),
        ("1C P P P", "N"),
        ("1H P 2H P P P", "N"),  # partner named hearts first
        ("1H P 2C P 2H P P P", "N"),
        ("1C P 1H P 2H P P P", "S"),
        ("1H 2H P P P", "E"),  # the opponents' hearts do not count
        ("P 1S P 2H P 2S P P P", "E"),
        ("1NT 2NT P P X P P P", "E"),
        ("1NT P P 2NT P 3NT 4NT P P P", "N"),
        ("P P 1D X XX P P P", "S"),
    ],
)
def test_declarer_first_named_the_strain_for_the_side(text: str, declarer: str | None) -> None:
    assert play(text)["declarer"] == (-1 if declarer is None else SEATS.index(declarer))


def test_law_2_the_sixteen_boards() -> None:
    """Board 1 is our board 0."""
    none, ns, ew, both = range(4)
    cycle = [none, ns, ew, both, ns, ew, both, none, ew, both, none, ns, both, none, ns, ew]
    assert [auction.vulnerable_row(board) for board in range(32)] == cycle * 2
    assert [auction.dealer_row(board) for board in range(32)] == [0, 1, 2, 3] * 8


def test_the_longest_auction_fits() -> None:
    rounds = "".join(f" {call_text(call)} P P X P P XX P P" for call in range(FIRST_BID, NUM_CALLS))
    table = play("P P P" + rounds + " P")
    assert table["phase"] == OVER
    assert table["length"] == MAX_CALLS
    assert (table["calls"] >= 0).all()


def test_a_new_auction_forgets_the_last() -> None:
    table, fresh = play("1C X XX P P P"), play("", "S")
    auction.open_auction_row(table, 2, 0)
    assert table.tobytes() == fresh.tobytes()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 10**6), max_size=80), st.sampled_from(SEATS))
def test_some_call_is_legal_until_the_end_and_replay_reproduces_the_table(picks: list[int], dealer: str) -> None:
    table = play("", dealer)
    for pick in picks:
        names = legal(table)
        assert bool(names) is not auction.over_row(table)
        if not names:
            break
        auction.call_row(table, call_number(names[pick % min(len(names), 6)]))  # low bids: longer auctions
    calls = [call_text(int(call)) for call in table["calls"][: table["length"]]]
    assert play(" ".join(calls), dealer).tobytes() == table.tobytes()
    assert (table["calls"][table["length"] :] == -1).all()
