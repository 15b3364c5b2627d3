"""The play of the cards, law by law (Laws of Duplicate Bridge 2017)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import (
    FULL_DECK,
    SEATS,
    STRAINS,
    call_number,
    card_number,
    card_text,
    hand_bits,
    hand_cards,
    hand_number,
)
from bidzoo.core.kernels import allocate
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge import play as rules
from bidzoo.envs.bridge.deals import random_deals
from bidzoo.envs.bridge.state import OVER, PLAY, STATE

SUITS_EACH = ("AKQJT98765432...", ".AKQJT98765432..", "..AKQJT98765432.", "...AKQJT98765432")  # N spades ... W clubs
MIXED = ("AK2.543.5432.432", "QJ.AK2.AKQ76.765", "T98.QJT9.JT9.QJ8", "76543.876.8.AKT9")


def table_with(hands: tuple[str, ...] | list[int], calls: str, dealer: str = "N") -> Any:
    """A table with its auction over, about to lead."""
    table = allocate(STATE, 1)[0]
    table["hands"] = table["held"] = [hand_number(hand) if isinstance(hand, str) else hand for hand in hands]
    auction.open_auction_row(table, SEATS.index(dealer), 0)
    for name in calls.split():
        auction.call_row(table, call_number(name))
    rules.lead_row(table)
    return table


def legal(table: Any) -> set[str]:
    out = np.zeros(52, np.int8)
    rules.legal_cards_row(table, out)
    return {card_text(int(card)) for card in np.flatnonzero(out)}


def play(table: Any, cards: str) -> Any:
    """Play ``cards``, each checked legal."""
    for name in cards.split():
        if name not in legal(table):
            raise ValueError(f"{name} is illegal in {cards!r}")
        rules.play_row(table, card_number(name))
    return table


@pytest.mark.parametrize("dealer", SEATS)
def test_law_41a_the_seat_on_declarers_left_leads(dealer: str) -> None:
    table = table_with(MIXED, "1NT P P P", dealer)
    assert table["turn"] == table["leader"] == table["hand_to_play"] == (SEATS.index(dealer) + 1) % 4
    assert legal(table) == {card_text(card) for card in hand_cards(int(table["held"][table["turn"]]))}


def test_law_41d_dummy_is_seen_after_the_opening_lead_and_shrinks() -> None:
    table = table_with(MIXED, "1NT P P P")
    assert table["dummy"] == 0
    dummy = hand_number(MIXED[2])
    assert play(table, "AD")["dummy"] == dummy
    assert play(table, "9D")["dummy"] == dummy & ~hand_bits([card_number("9D")])


def test_law_45b_declarer_plays_dummys_cards() -> None:
    table = table_with(MIXED, "1NT P P P")
    assert (table["turn"], table["hand_to_play"]) == (1, 1)
    play(table, "AD")
    assert (table["turn"], table["hand_to_play"]) == (0, 2)  # declarer N chooses for S
    play(table, "9D")
    assert (table["turn"], table["hand_to_play"]) == (3, 3)
    play(table, "8D 2D KD TD")
    assert (table["turn"], table["hand_to_play"]) == (3, 3)


def test_law_44c_follow_suit_if_able_else_any_card() -> None:
    table = play(table_with(MIXED, "1NT P P P"), "KD JD")
    assert legal(table) == {"8D"}  # west's only diamond
    play(table, "8D 2D AD 9D")
    assert legal(table) == {card_text(card) for card in hand_cards(hand_number(MIXED[3])) if card_text(card) != "8D"}


@pytest.mark.parametrize(
    ("calls", "trick", "winner"),
    [
        ("1NT P P P", "KD JD 8D 2D", "E"),
        ("1NT P P P", "7D JD 8D 5D", "S"),  # the highest of the suit led
        ("1S P P P", "KD JD 8D 2D", "E"),
        ("1NT P P P", "2H 9H 8H 5H", "S"),
    ],
)
def test_law_44e_the_highest_card_of_the_suit_led_wins(calls: str, trick: str, winner: str) -> None:
    table = play(table_with(MIXED, calls), trick)
    assert table["leader"] == table["hand_to_play"] == SEATS.index(winner)
    assert table["won"].tolist() == ([1, 0] if winner in "NS" else [0, 1])


@pytest.mark.parametrize(
    ("calls", "second", "winner"),
    [("1S P P P", "3S", "W"), ("1NT P P P", "3S", "E"), ("1H P P P", "6H", "W"), ("1H P P P", "3S", "E")],
)
def test_law_44e_a_trump_wins_and_a_discard_does_not(calls: str, second: str, winner: str) -> None:
    table = play(table_with(MIXED, calls), "KD JD 8D 2D AD 9D")
    play(table, f"{second} 3D")
    assert table["leader"] == SEATS.index(winner)


def test_law_44e_the_higher_trump_wins() -> None:
    table = table_with(SUITS_EACH, "1C P P P")
    play(table, "AH AD 2C AS")  # W trumps with a club
    assert table["leader"] == 3
    table = table_with(SUITS_EACH, "1H P P P")
    assert play(table, "2H AD AC AS")["leader"] == 1


def test_thirteen_tricks_and_it_is_over() -> None:
    """N declares spades holding all thirteen: E's lead is ruffed and N runs the suit."""
    table = table_with(SUITS_EACH, "7S P P P")
    ranks = "23456789TJQKA"
    play(table, "2H 2D 2C 2S " + " ".join(f"{r}S {r}H {r}D {r}C" for r in ranks[1:]))
    assert table["phase"] == OVER
    assert table["won"].tolist() == [13, 0]
    assert (table["turn"], table["hand_to_play"], table["leader"], table["dummy"]) == (-1, -1, -1, 0)
    assert not table["held"].any()
    assert legal(table) == set()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=52, max_size=52), st.integers(0, 4))
def test_a_revoke_is_impossible_and_every_card_is_played_once(board: int, picks: list[int], strain: int) -> None:
    table = table_with([int(h) for h in random_deals(1, np.array([board]))[0]], "1" + STRAINS[strain] + " P P P")
    for t, pick in enumerate(picks):
        assert table["phase"] == PLAY
        seat, held = int(table["hand_to_play"]), int(table["held"][table["hand_to_play"]])
        names = sorted(legal(table))
        suit = card_text(int(table["played"][t - t % 4]))[1] if t % 4 else ""
        following = {card_text(card) for card in hand_cards(held) if card_text(card)[1] == suit}
        assert set(names) == (following or {card_text(card) for card in hand_cards(held)})
        assert table["turn"] == (table["declarer"] if seat == (table["declarer"] + 2) % 4 else seat)
        rules.play_row(table, card_number(names[pick % len(names)]))
        assert table["won"].sum() == (t + 1) // 4
    assert table["phase"] == OVER
    assert hand_bits(int(card) for card in table["played"]) == FULL_DECK
    for seat in range(4):
        assert hand_bits(int(c) for c in table["played"][table["players"] == seat]) == table["hands"][seat]
