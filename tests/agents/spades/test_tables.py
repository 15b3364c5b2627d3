"""Exact tables against the paper's printed numbers and against deals."""

import json
from importlib.resources import files

import numpy as np
import pytest
from numba import config as numba_config
from spades_chances import chances, clear_chance, clear_chances, nil_safeties, nil_safety

from bidzoo.agents.spades.bis import CURVES_FILE, SEQUENCES, load_curves, nil_value_row, sequence_bids, takes_row
from bidzoo.agents.spades.lookup import CHANCES, exact_lookup
from bidzoo.agents.spades.situation import CARD, RANK, SUIT_SIZE, high_row, suits_row
from bidzoo.core.bits import count_row, lowest_row
from bidzoo.core.cards import RANKS, hand_cards, hand_number
from bidzoo.envs.spades.deals import SUITS

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")

# rows: cards held; columns: more than 0, 1, 2 cards with each opponent who may cut
TABLE_1 = """0 .997 .966 .817 | 1 .994 .942 .733 | 2 .990 .907 .624 | 3 .983 .855 .489 | 4 .970 .779 .350
 | 5 .948 .678 .212 | 6 .915 .544 .095 | 7 .857 .381 .025 | 8 .774 .214 0 | 9 .646 .074 0 | 10 .462 0 0 | 11 .227 0 0"""
TABLE_5 = """0 .998 .983 .910 | 1 .997 .971 .866 | 2 .994 .954 .809 | 3 .992 .927 .733 | 4 .985 .891 .648
 | 5 .974 .835 .546 | 6 .957 .761 .426 | 7 .928 .667 .308 | 8 .886 .546 .195 | 9 .819 .410 .100 | 10 .715 .252 .030
 | 11 .561 .106 0 | 12 .336 0 0"""
TABLE_6 = """0 .996 .949 .729 | 1 .992 .915 .605 | 2 .986 .862 .450 | 3 .974 .784 .275 | 4 .955 .672 .110
 | 5 .924 .523 0 | 6 .872 .338 0 | 7 .790 .145 0 | 8 .664 0 0 | 9 .480 0 0 | 10 .240 0 0"""
FIGURE_1 = hand_number("AKJ62.AQ.Q.K9543")


def mask(ranks: str) -> int:
    return sum(1 << RANKS.index(rank) for rank in ranks)


@pytest.mark.parametrize(("opponents", "text"), [(2, TABLE_1), (1, TABLE_5), (3, TABLE_6)])
def test_the_papers_simulated_tables_agree_with_the_exact_ones(opponents: int, text: str) -> None:
    for line in text.split("|"):
        held, *printed = (float(word) for word in line.split())
        exact = [clear_chance(opponents, int(held), trick) for trick in range(3)]
        np.testing.assert_allclose(exact, printed, atol=0.006)
        assert np.mean(np.abs(np.subtract(exact, printed))) < 0.003
        np.testing.assert_array_equal(clear_chances()[opponents, int(held)], exact)


def test_the_packaged_chances_are_those_counted() -> None:
    counted = chances()
    assert tuple(counted) == CHANCES
    for name, chance in counted.items():
        np.testing.assert_array_equal(exact_lookup()[name], chance)


def test_one_number_counted_by_hand() -> None:
    assert clear_chance(1, 12, 0) == pytest.approx(1 / 3)  # the last card of a suit is with one of three hands
    assert clear_chance(2, 11, 0) == pytest.approx(2 * 13 * 13 / (39 * 38))


def cnil_by_dealing(cards: int, trump: bool, deals: int) -> float:
    """The three events of section 4.2 read off random deals, written once more without bands or counts."""
    held = [rank for rank in range(13) if cards >> rank & 1]
    unseen = [rank for rank in range(13) if not cards >> rank & 1] + [-1] * (26 + len(held))
    rng, good = np.random.default_rng(5), 0
    for _ in range(deals):
        left, right, partner = (hand[hand >= 0] for hand in np.split(rng.permutation(unseen), 3))
        spoiled = trump and len(held) > 3
        for k, card in enumerate(held[:3], start=1):
            ducks = all(len(hand) < k or (hand < card).sum() >= k for hand in (left, right))
            higher = (partner > card).sum()
            helpless = higher < (2 if k == 2 else 1)
            spoiled |= ducks and helpless and (trump or len(partner) >= k)
        good += not spoiled
    return good / deals


@pytest.mark.parametrize(("ranks", "trump"), [("Q", False), ("T", True), ("7J", False), ("9TJ", False), ("8J", True)])
def test_cnil_agrees_with_dealing(ranks: str, trump: bool) -> None:
    exact, deals = nil_safety(mask(ranks), trump), 4000
    assert cnil_by_dealing(mask(ranks), trump, deals) == pytest.approx(exact, abs=4 * np.sqrt(0.25 / deals))


def test_the_nil_value_of_figure_1() -> None:
    assert nil_safety(mask("K9543"), False) == 1
    assert nil_safety(mask("Q"), False) == pytest.approx(0.57, abs=0.005)  # the paper's deals: 0.578
    # The paper prints < 0.001, yet "partner is void" alone is 0.0046 (its own Table 5 has 0.006).
    assert nil_safety(mask("AQ"), False) == pytest.approx(0.0084, abs=1e-4)
    assert nil_safety(mask("AKJ62"), True) == 0
    lookup = exact_lookup()
    assert nil_value_row(0, suits_row(0, FIGURE_1), lookup["side"], lookup["spades"][0], False) == 0


def test_the_takes_of_figure_1() -> None:
    """0.678 + 0.99 + 2 + max(2, 2.3): the paper prints the sum as 5.89, its own terms make 5.97."""
    takes = takes_row(0, suits_row(0, FIGURE_1), exact_lookup()["clear"][2])
    assert takes == pytest.approx(0.678 + 0.99 + 2 + 0.942 + 0.733 + 0.624, abs=0.006)
    assert round(takes) == round(5.89) == 6


def test_safer_holdings_have_higher_cnil() -> None:
    paired, alone = nil_safeties(False), nil_safeties(False, alone=True)
    for rank in range(12):
        assert paired[1 << rank] >= paired[2 << rank]
    assert paired[0] == 1
    assert alone[mask("Q")] > 0  # three opponents must all duck
    assert (nil_safeties(True)[[mask("A"), mask("2345")]] == 0).all()


def test_suit_masks_of_every_deck_lose_no_card() -> None:
    rng = np.random.default_rng(0)
    for deck in range(3):
        hand = sum(1 << int(card) for card in rng.choice(52, 13, replace=False))
        suits = suits_row(deck, hand)
        cards = [CARD[deck, s, r] for s in range(4) for r in range(17) if suits[s] >> r & 1]
        assert sorted(cards) == hand_cards(hand)
        for card in range(52):
            assert 0 <= RANK[deck, card] < SUIT_SIZE[deck, SUITS[deck, card]]
            assert lowest_row(1 << card) == card


def test_bits() -> None:
    for bits in (0, 1, 0b1011, 0x1FFFF, 1 << 16):
        assert count_row(bits) == bits.bit_count()
        assert high_row(bits) == bits.bit_length() - 1
        assert lowest_row(bits) == (bits & -bits).bit_length() - 1


def test_success_curves_cover_every_sequence_and_rise_with_the_nil_value() -> None:
    curves = load_curves()
    assert curves.shape == (2, SEQUENCES, 2)
    assert SEQUENCES == 2955
    assert (curves[..., 1] > 0).all()
    assert np.isfinite(curves).all()
    assert [sequence_bids(k) for k in (0, 1, 14, 15, 2954)] == [(), (0,), (13,), (0, 0), (13, 13, 13)]
    with np.load(str(files("bidzoo.data") / "spades" / CURVES_FILE)) as file:
        assert {"source", "command", "config", "scores"} <= json.loads(str(file["provenance"])).keys()


def test_partners_high_bid_helps_a_nil() -> None:
    """Figure 3: after right opponent's 3, nil succeeds more often the more partner bid."""
    curves = load_curves()[0]
    rows = {sequence_bids(k): k for k in range(SEQUENCES)}
    odds = [curves[rows[partner, 3]] @ (1, 0.6) for partner in (1, 3, 8)]
    assert odds[0] < odds[1] < odds[2]
