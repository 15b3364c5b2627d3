"""The rule-based bridge bidder: SAYC openings, standard auctions, and that it stays sane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.agents import make
from bidzoo.agents.bridge.natural.knowledge import (
    HAND,
    MEANING,
    clear_row,
    evaluate_row,
    hcp_row,
    keeps_row,
    suit_row,
    support_row,
)
from bidzoo.agents.bridge.sayc import Pass, Sayc
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks.match import duplicate, play
from bidzoo.core.cards import DOUBLE, FIRST_BID, call_number, call_text, hand_number
from bidzoo.core.kernels import allocate
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge import auction
from bidzoo.envs.bridge.board import BoardReplay
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import VIEW, view_row

DEALS = 2000


def view_after(hand: str, calls: str, vulnerable: int = 0):
    """The view of whoever is to call after ``calls`` (dealer North), holding ``hand``."""
    replay = BoardReplay(0, vulnerable, None)
    for word in calls.split():
        replay.call(call_number(word))
    views = allocate(VIEW, 1)
    view_row(replay.state, int(replay.state["turn"]), views[0])
    views[0]["hand"] = hand_number(hand)
    return views


def asked(hand: str, calls: str):
    """Arguments of ``act`` and ``explain`` after ``calls``."""
    views = view_after(hand, calls)
    legal = np.zeros((1, 38), np.int8)
    auction.legal_row(views[0], legal[0])
    return views, legal, Streams.at(0, np.zeros(1, np.int64))


def choose(hand: str, calls: str) -> str:
    return call_text(int(Sayc().act(*asked(hand, calls))[0]))


# ---- openings: JPS, Table 8, and the SAYC booklet ----------------------------------------

OPENINGS = {
    "KQ42.A73.QJ5.J84": "1C",  # 13 balanced, 4-3-3-3: the better minor
    "K42.A73.QJ95.KJ4": "1D",  # 14, four diamonds
    "KQ42.AJ73.Q95.84": "1D",  # 4-4-3-2
    "K2.A7.KJ85.Q9843": "1C",  # 5-4 in the minors
    "K2.A73.KJ85.Q984": "1D",  # 4-4 in the minors
    "K42.A73.KJ8.Q984": "1C",
    "KQ4.AJ7.Q95.8432": "1C",  # 3-4
    "K2.AQ873.KJ5.843": "1H",
    "AQ873.K2.KJ5.843": "1S",
    "AQ873.KJ542.K5.8": "1S",  # 5-5: the higher
    "AQ873.2.AKJ542.8": "1D",  # the longer
    "KJ5.AQ8.KJ5.Q843": "1NT",  # 16 balanced
    "KJ5.AQ.KJ652.Q84": "1NT",  # 5-3-3-2
    "KJ5.AQ852.KJ5.Q8": "1NT",  # a five-card major is no bar
    "KQ5.AQ8.KQJ5.A84": "2NT",  # 21 (20-21)
    "AKQ5.AQ8.KQJ5.A4": "2C",  # 25
    "AKQJ72.AKQ.K5.A4": "2C",
    "K2.QJ9873.J54.83": "2H",
    "KQJ973.72.J54.83": "2S",
    "72.83.KQJ973.J54": "2D",
    "2.QJ98732.Q54.83": "3H",
    "7.83.KQ5.QJ98732": "3C",
    "KQJ98732.2.54.83": "4S",
    "K42.A73.QJ95.J84": "P",  # 11
    "98.A73.QJ952.J84": "P",
    "Q2.KJ9.J8543.843": "P",
}


@pytest.mark.parametrize(("hand", "expected"), OPENINGS.items())
def test_opening(hand, expected):
    assert choose(hand, "") == expected


def test_no_preempt_in_fourth_seat():
    assert choose("K2.QJ9873.J54.83", "P P P") == "P"


# ---- standard auctions -------------------------------------------------------------------

AUCTIONS = [
    # responses to one of a suit
    ("K542.73.QJ85.984", "1H P", "1S"),
    ("K42.Q73.J985.984", "1H P", "2H"),  # 6-9 in support
    ("A42.KQ73.9852.84", "1S P", "3S"),  # limit raise
    ("AQ42.K73.KJ52.84", "1S P", "2NT"),  # Jacoby
    ("K9742.3.QJ852.84", "1S P", "4S"),  # weak, five trumps
    ("K4.Q73.J985.Q984", "1S P", "1NT"),
    ("K4.AQ732.A98.984", "1S P", "2H"),
    ("42.A7.KQ985.AJ84", "1S P", "2D"),
    ("42.J73.9852.9842", "1H P", "P"),
    ("AJ42.K973.85.984", "1D P", "1H"),  # four-card majors up the line
    ("AJ432.K9732.8.98", "1D P", "1S"),  # 5-5: the higher
    ("AJ4.K7.Q8532.J64", "1C P", "1D"),
    ("AJ4.K97.Q85.QJ43", "1D P", "2NT"),  # 13-15
    # opener's rebid
    ("AQ42.2.KQJ52.984", "1D P 1S P", "2S"),
    ("AQ42.A2.KQJ52.K4", "1D P 1S P", "4S"),
    ("KJ4.Q52.AQ52.984", "1D P 1S P", "1NT"),
    ("KJ4.A52.AQ52.KQ4", "1D P 1S P", "2NT"),  # 18-19
    ("4.AK52.KQJ652.98", "1D P 1S P", "2D"),  # too weak for a reverse
    ("4.AKJ2.AKJ52.A84", "1D P 1S P", "2H"),
    ("A4.AKJ852.J52.84", "1H P 1S P", "2H"),
    ("A4.AKJ852.K52.Q4", "1H P 1S P", "3H"),
    ("A4.KQJ82.J52.A84", "1H P 2H P", "P"),
    ("A4.AKJ852.K52.A4", "1H P 2H P", "4H"),
    ("AK842.Q4.QJ2.984", "1S P 3S P", "P"),
    ("AK842.A4.QJ2.K84", "1S P 3S P", "4S"),
    # notrump
    ("AJ42.K973.852.84", "1NT P", "2C"),
    ("42.K9732.852.984", "1NT P", "2D"),
    ("KJ9732.42.852.98", "1NT P", "2H"),
    ("J42.K97.8532.984", "1NT P", "P"),
    ("Q42.K97.J853.Q84", "1NT P", "2NT"),
    ("Q42.K97.AJ53.984", "1NT P", "3NT"),
    ("42.97.852.Q98742", "1NT P", "2S"),  # to play in clubs
    ("KJ5.AQ82.KJ5.Q84", "1NT P 2C P", "2H"),
    ("KJ52.AQ82.KJ.Q84", "1NT P 2C P", "2H"),
    ("KJ5.AQ8.KJ52.Q84", "1NT P 2C P", "2D"),
    ("KJ5.Q8.AKJ2.QJ84", "1NT P 2D P", "2H"),
    ("KJ5.AQ82.KQ5.Q84", "1NT P 2D P", "3H"),  # four trumps, maximum
    ("AJ5.K8.KJ52.AQ84", "1NT P 2S P", "3C"),
    ("AJ42.K973.852.A4", "1NT P 2C P 2H P", "4H"),
    # strong and weak twos
    ("J42.973.8532.984", "2C P", "2D"),
    ("42.AQJ97.K532.84", "2C P", "2H"),
    ("AKJ5.AQ8.KJ5.AQ4", "2C P 2D P", "2NT"),
    ("AKQJ62.AK.K52.A4", "2C P 2D P", "2S"),
    ("K842.A73.K52.Q84", "2S P", "4S"),
    ("Q4.AK73.AQ52.K84", "2S P", "2NT"),
    ("42.973.K532.Q984", "2S P", "P"),
    # overcalls and doubles
    ("KQJ62.A42.852.84", "1D", "1S"),
    ("42.A4.KQJ962.A84", "1S", "2D"),
    ("KJ4.AQ2.KJ52.QJ4", "1D", "1NT"),
    ("KQJ962.42.852.84", "1D", "2S"),
    ("KJ42.AQ52.8.KJ84", "1D", "X"),
    ("AKJ42.AQ52.8.AK4", "1D", "X"),  # too good for an overcall
    ("KQJ62.AJ942.8.84", "1D", "2D"),  # Michaels
    ("8.42.KQJ62.AJ942", "1S", "2NT"),  # the minors
    ("J42.973.K532.984", "1D", "P"),
    # advancing
    ("Q84.973.KQ53.842", "1D 1S P", "2S"),
    ("Q842.973.K532.84", "1D 1S P", "3S"),
    ("J842.973.8532.84", "1D X P", "1S"),
    ("KJ842.73.A532.84", "1D X P", "2S"),
    ("AQJ842.73.A532.8", "1D X P", "4S"),
    ("73.842.KQJT94.84", "1D X P", "P"),  # for penalties
    # after their overcall or double
    ("KJ42.973.QJ32.84", "1C 1H", "X"),  # four spades
    ("KJ942.973.Q53.84", "1C 1H", "1S"),  # five
    ("A42.KJ973.Q53.84", "1D 1S", "2H"),
    ("K42.973.K532.984", "1S 2H", "2S"),
    ("AJ42.K73.Q532.84", "1H X", "2NT"),  # a raise with 11
    ("AJ42.K7.Q9532.84", "1H X", "XX"),
    # slam
    ("AKQ42.A.KQ852.84", "1S P 3S P", "4NT"),
    ("AQ42.K73.KJ52.84", "1S P 2NT P 4S P", "P"),
    ("KJ2.A73.KJ52.A84", "1S P 2NT P 4NT P", "5H"),
    ("AKQT85.2.A.AK832", "1S P 3S P", "4NT"),  # seven asks for aces first
    ("K2.KQ3.AQT98.A43", "1S P 2NT P 4NT P 5H P 5S P", "P"),  # who has asked places the contract
    # every hand has a call (experiments/notes/sayc.md)
    ("QJ5.KQ8.K97.JT43", "1C P", "1NT"),  # 12 without a suit
    ("AQ2.AQ4.KQ43.KJ7", "1D P", "3NT"),  # 21
    ("AQ2.AQJ4.KQ3.KJ7", "1S P", "3NT"),
    ("53.AKQ52.AKQ5.42", "3S P", "4S"),  # 18 with two trumps
    ("AKQT643.K7.KJ5.4", "1C", "1S"),  # 16 with seven spades
    ("KQJ863.A4.K5.J94", "1S P 2NT P", "4S"),  # 16 points, 14 HCP
    ("AJ92.KT83.42.Q65", "1C 1D", "X"),  # both majors
    ("KJ2.Q3.A42.A9843", "1C 1S X P", "1NT"),  # 14, not 16
    ("K2.Q43.42.AKQT98", "1C 1S X P", "2C"),  # a minor opened on three cards is bid again
    ("AJ6.Q43.AKQ2.KJ5", "1D P 2D P", "3NT"),
    # what partner has said
    ("3.A9842.Q43.K432", "1C 2C P", "2H"),  # of the majors the longer
    ("T92.4.J8732.A3", "1S 2NT P", "3D"),
    ("K842.QJ3.A72.KJT", "1NT P 2NT P", "P"),  # a minimum
    ("KJ52.AQ82.KJ.Q84", "1NT P 2C P 2H P 3NT P", "4S"),  # who has no use for hearts has spades
]


@pytest.mark.parametrize(("hand", "calls", "expected"), AUCTIONS)
def test_standard_auction(hand, calls, expected):
    assert choose(hand, calls) == expected, Sayc().explain(*asked(hand, calls)).text


# ---- hands and promises ------------------------------------------------------------------


def evaluated(hand: str):
    record = allocate(HAND, 1)
    evaluate_row(hand_number(hand), record[0])
    return record[0]


def test_hand_evaluation():
    hand = evaluated("AK742.Q3.J954.82")
    assert (hand["hcp"], hand["points"], hand["balanced"], hand["aces"]) == (10, 11, 0, 1)
    assert hand["length"].tolist() == [2, 4, 2, 5]  # C D H S
    assert hand["honours"].tolist() == [0, 1, 2, 7]
    assert hand["stopped"].tolist() == [0, 1, 0, 1]  # Jxxx stops, Qx does not
    assert support_row(evaluated("Q742.3.AJ954.842"), 3) == 7 + 3  # a singleton with four trumps
    assert support_row(evaluated("Q74.3.AJ954.8432"), 3) == 7 + 2
    assert support_row(evaluated("Q7.3.AJ9542.8432"), 3) == 7  # no ruffs without trumps


def test_promises_are_kept_exactly():
    meaning, hand = allocate(MEANING, 1)[0], evaluated("AK742.Q3.J954.82")
    for low, high, length, kept in [(10, 10, 5, True), (11, 40, 5, False), (0, 9, 5, False), (10, 12, 6, False)]:
        clear_row(meaning, 3)
        hcp_row(meaning, 1, 1, low, high)
        suit_row(meaning, 3, length, 13)
        assert keeps_row(hand, meaning) is kept


def test_explain_says_where_no_promise_fits():
    """Fifteen balanced open 1NT: after another opening nothing fits, and two spades are no promised four."""
    hand, calls = "A8.KQ74.AQ93.852", "1D P 1S P"
    *_, said = Sayc().explain(*asked(hand, calls)).text.split("\n")
    assert said.startswith("my call: 2♠, since no promise fits this hand; partner reads it as raise: ")
    assert choose(hand, calls) == "2S"
    assert "since no promise" not in Sayc().explain(*asked("A8.KQ74.AKQ93.82", calls)).text
    assert "since no promise" not in Sayc().explain(*asked("842.Q74.J93.8542", "P 1S P")).text  # pass is what is left


def test_explain_says_what_was_shown():
    text = Sayc().explain(*asked("K42.Q73.J985.984", "1H P")).text
    assert "1♥: suit opening: 12-21 HCP, 5+♥" in text
    assert "partner has shown 12-21 HCP" in text
    assert "my call: 2♥, raise: 6-9 points in support, 3+♥" in text


@pytest.mark.parametrize(
    ("calls", "promise"),
    [
        ("1NT P 2S P", "relay to clubs: 0-7 HCP, 6+ in ♦ or ♣; forcing"),
        ("1H 2H P", "5+♠, 5+ in ♦ or ♣; forcing"),
    ],
)
def test_explain_names_both_minors(calls, promise):
    assert promise in Sayc().explain(*asked("K42.Q73.J985.984", calls)).text


# ---- whole auctions ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def self_play():
    """Four of them over the validation deals."""
    return play(Bridge(play=False, deals="validation"), [Sayc()] * 4, np.arange(DEALS)).states


def pairs(tables):
    """HCP of N/S and E/W, and cards in each suit of both pairs ``[n, 2, 4]``."""
    hcp, lengths = np.zeros((len(tables), 4), int), np.zeros((len(tables), 4, 4), int)
    record = allocate(HAND, 1)
    for b, hands in enumerate(tables["hands"]):
        for seat in range(4):
            evaluate_row(int(hands[seat]), record[0])
            hcp[b, seat], lengths[b, seat] = record[0]["hcp"], record[0]["length"]
    return hcp[:, :2] + hcp[:, 2:], lengths[:, :2] + lengths[:, 2:]


def test_auctions_end_soon(self_play):
    assert self_play["length"].max() <= 40
    assert 8 < self_play["length"].mean() < 12


def test_slams_have_the_points(self_play):
    hcp, _ = pairs(self_play)
    side = self_play["declarer"] % 2
    strength = hcp[np.arange(DEALS), side]
    level = self_play["bid"] // 5 + 1
    assert strength[(level == 7) & (self_play["bid"] >= 0)].min(initial=40) >= 28
    assert strength[level == 6].mean() > 28
    assert (level >= 6).mean() < 0.06


def test_games_are_bid_on_25_points_and_a_fit(self_play):
    hcp, lengths = pairs(self_play)
    level, strain, side = self_play["bid"] // 5 + 1, self_play["bid"] % 5, self_play["declarer"] % 2
    game = (self_play["bid"] >= 0) & (level >= np.array([5, 5, 4, 4, 3])[strain])
    reached = total = 0
    for pair in range(2):
        rows = (hcp[:, pair] >= 25) & (lengths[:, pair, 2:].max(1) >= 8)
        total += rows.sum()
        reached += (rows & game & (side == pair)).sum()
    assert total > 300
    assert reached / total > 0.93


def test_no_games_on_20_points_without_a_fit(self_play):
    hcp, lengths = pairs(self_play)
    level, strain, side = self_play["bid"] // 5 + 1, self_play["bid"] % 5, np.maximum(self_play["declarer"], 0) % 2
    game = (self_play["bid"] >= 0) & (level >= np.array([5, 5, 4, 4, 3])[strain])
    rows = np.arange(DEALS)
    weak = (hcp[rows, side] <= 20) & (lengths[rows, side].max(1) <= 7) & (self_play["bid"] >= 0)
    assert (weak & game).sum() <= 0.05 * weak.sum()


def test_beats_the_floor():
    game = Bridge(play=False, deals="validation")
    assert duplicate(game, Sayc(), Uniform(), np.arange(500)).estimate.mean > 12
    assert duplicate(game, Sayc(), Pass(), np.arange(1000)).estimate.mean > 3


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31), strange=st.integers(0, 3))
def test_legal_and_finite_beside_random_players(seed, strange):
    """Whatever the others call: no illegal call (``Batch`` would say so), no endless auction."""
    policies = [Sayc()] * 4
    policies[strange] = Uniform()
    tables = play(Bridge(play=False, deals="validation"), policies, np.arange(16), seed, seed).states
    assert (tables["phase"] == 2).all()
    sane = [seat for seat in range(4) if seat != strange]
    for table in tables:
        calls = [(t + int(table["dealer"])) % 4 for t in range(int(table["length"]))]
        bids = sum(int(table["calls"][t]) > 0 and seat in sane for t, seat in enumerate(calls))
        assert bids <= 24


def test_never_passes_a_forcing_bid(self_play):
    """Partner's new suit at the one level, 2C, Stayman, a transfer, Blackwood: answered unless an opponent acts."""
    forcing = {"1C P 1H P", "1D P 1S P", "2C P", "1NT P 2C P", "1NT P 2D P", "1NT P 2H P", "1H P 2C P", "1S P 2NT P"}
    found = 0
    for table in self_play:
        words = [call_text(int(call)) for call in table["calls"][: int(table["length"])]]
        while words and words[0] == "P":
            words.pop(0)
        for count in (2, 4):
            if " ".join(words[:count]) in forcing:
                found += 1
                assert words[count] != "P", " ".join(words)
    assert found > 100


def test_never_redoubles_to_and_fro(self_play):
    doubles = (self_play["calls"] == DOUBLE).sum(1) + (self_play["calls"] == DOUBLE + 1).sum(1)
    assert doubles.max() <= 5
    assert (self_play["calls"][:, :3] < FIRST_BID + 35).all()


# ---- as a policy -------------------------------------------------------------------------


def test_a_row_depends_on_itself_alone(self_play):
    game = Bridge(play=False, deals="validation")
    again = play(game, [Sayc()] * 4, np.arange(700, 760)).states
    assert np.array_equal(again["calls"], self_play["calls"][700:760])
    reseeded = play(game, [Sayc()] * 4, np.arange(100), policy_seed=9).states
    assert np.array_equal(reseeded["calls"], self_play["calls"][:100])


def test_made_by_name():
    assert make("sayc").name == "sayc"
    assert make("pass").name == "pass"
    calls = Pass().act(view_after("K42.Q73.J985.984", "1H P"), np.ones((1, 38), np.int8), Streams.at(0, np.zeros(1)))
    assert calls.tolist() == [0]
