"""Spades, one test a rule ("Bidding in Spades", section 2, and the variants' own sources)."""

import numpy as np
import pytest

from bidzoo.envs.spades import deals
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.score import end_round_row, gap_row, leader_row, score_row, side_points_row
from bidzoo.envs.spades.state import BIDDING, CUTTHROAT, OVER, PLAY

# N has nine spades, E eight hearts, S five diamonds, W no spade.
MIXED = "N:AKQJ98765.2.3.42 T4.AKQJ9876.2.53 32.543.AKQJ9.T76 .T.T87654.AKQJ98"
SPADES_NORTH = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"


class Table:
    """One table played in words; every action is checked against the mask."""

    def __init__(self, deal=None, dealer="W", scores=None, seed=1, **rules):
        self.game = Spades(**{"phase": "round", **rules})
        self.states, self.out = self.game.new(1), self.game.buffers(1)
        self.game.begin(self.states, np.array([0]), seed, self.out)
        found = self.game.options({"deal": deal, "dealer": dealer, "scores": scores})
        self.game.fix(self.states, found, self.out)

    def __getattr__(self, name):
        return self.states[0][name]

    def legal(self):
        return {self.game.action_text(int(action)) for action in np.flatnonzero(self.out.mask[0])}

    def do(self, *texts):
        for text in texts:
            for word in text.split(","):
                action = self.game.action_number(word)
                assert self.out.mask[0, action], f"{word} is illegal; legal: {self.legal()}"
                self.game.step(self.states, np.array([action]), 0, self.out)
        return self

    def play(self, cards):
        return self.do(*cards.split())


# ---- bidding -----------------------------------------------------------------------------


def test_left_of_the_dealer_bids_first_and_leads_first():
    table = Table(MIXED, dealer="N")
    assert (table.turn, table.phase) == (1, BIDDING)
    for turn in (2, 3, 0):
        table.do("3")
        assert table.turn == turn
    table.do("3")
    assert (table.turn, table.leader, table.phase) == (1, 1, PLAY)
    assert list(table.bids) == [3, 3, 3, 3]


def test_every_bid_from_nil_to_13_and_partners_beyond_13_together():
    table = Table(MIXED)
    everything = {"nil", *map(str, range(1, 14))}
    for _ in range(4):
        assert table.legal() == everything
        table.do("13")
    assert table.phase == PLAY


def test_one_bid_each():
    table = Table(MIXED).do("1,2,3,4")
    assert not table.out.mask[0, :16].any()


# ---- play --------------------------------------------------------------------------------


def test_follow_suit_if_able():
    table = Table(MIXED).do("3,3,3,3").play("3D")
    assert table.legal() == {"D2"}
    table.play("2D")
    assert table.legal() == {"DA", "DK", "DQ", "DJ", "D9"}


@pytest.mark.parametrize(("lead", "follow"), [("AC", {"C4", "C2"}), ("TH", {"H2"}), ("TD", {"D3"})])
def test_every_suit_is_followed(lead, follow):
    table = Table(MIXED, dealer="S").do("3,3,3,3").play(lead)
    assert table.turn == 0 and table.legal() == follow


def test_any_card_when_void():
    table = Table(MIXED).do("3,3,3,3").play("3D 2D AD 4D KD TD")
    assert table.turn == 0 and len(table.legal()) == 12 and "SA" in table.legal()


def _lead_of(table):
    return {text[0] for text in table.legal()}


def test_spades_are_not_led_before_they_are_broken():
    table = Table(MIXED).do("3,3,3,3")
    assert _lead_of(table) == {"H", "D", "C"}
    table.play("2H AH 3H TH")
    assert (table.turn, table.broken) == (1, 0)
    assert "S" not in _lead_of(table)


def test_a_cut_breaks_spades():
    table = Table(MIXED).do("3,3,3,3").play("2H AH 3H TH KH 4H")
    table.play("KC")  # W throws a club: not broken
    assert table.broken == 0
    table.play("5S")  # N cuts
    assert (table.broken, table.turn) == (1, 0)
    assert _lead_of(table) == {"S", "D", "C"}
    assert list(table.voids) == [1 << 2, 0, 0, 1 << 2]  # everybody has seen that they have no heart


def test_a_spade_tight_leader_may_lead_spades_and_breaks_them():
    table = Table(SPADES_NORTH, dealer="W").do("13,nil,nil,nil")
    assert _lead_of(table) == {"S"} and len(table.legal()) == 13
    table.play("AS")
    assert table.broken == 1
    assert list(table.voids) == [7, 0, 0, 0]  # it had nothing else, and everybody knows


@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        ("3D 2D AD 4D", 2),  # the highest card of the suit led
        ("4C 3C 6C 8C", 3),
        ("2H 6H 3H TH", 3),
    ],
)
def test_highest_of_the_suit_led_takes_the_trick_and_leads(trick, winner):
    table = Table(MIXED).do("3,3,3,3").play(trick)
    assert (table.turn, table.leader, table.won[winner]) == (winner, winner, 1)


@pytest.mark.parametrize(
    ("cards", "best"),
    [
        ("5H 9H KH 2H", 2),
        ("5H 9C KD 2H", 0),  # other suits never win
        ("5H 2S KH AH", 1),  # the only spade
        ("5H 2S KH 3S", 3),  # the highest spade
        ("4S AH 9S AC", 2),
    ],
)
def test_strongest_card(cards, best):
    numbers = [deals.deck_card_number(0, card) for card in cards.split()]
    winning = 0
    for i in range(1, 4):
        if deals.beats_row(0, numbers[i], numbers[winning]):
            winning = i
    assert winning == best


def test_thirteen_tricks_end_the_round():
    table = Table(SPADES_NORTH).do("13,nil,nil,nil")
    for rank in "AKQJT98765432":
        table.play(f"S{rank} H{rank} D{rank} C{rank}")
    assert table.phase == OVER
    assert list(table.gains[:2]) == [130 + 100, 200]
    assert list(table.out.reward[0]) == [1, -1, 1, -1]
    assert not table.out.mask.any() and table.out.player[0] == -1


# ---- scoring -----------------------------------------------------------------------------


def scored(bids, won, scores=(0, 0), **rules):
    """Scores of a round that ends so, in a game of those rules."""
    table = Table(scores=list(scores), **{"phase": "game", **rules}).states[0]
    table["bids"][:], table["won"][:] = [0 if bid in ("nil", "blind") else bid for bid in bids], won
    table["blind"] = sum(1 << seat for seat in range(4) if bids[seat] == "blind")
    score_row(table)
    return table


@pytest.mark.parametrize(
    ("bids", "won", "points"),
    [
        ((4, 3, 2, 3), (4, 5, 2, 2), (60, 61)),  # exactly; with a bag
        ((4, 3, 2, 3), (3, 5, 2, 3), (-60, 62)),  # set, and no bags for it
        ((4, 3, 2, 3), (6, 2, 3, 2), (63, -60)),  # the paper's example: 63
        ((4, 3, "nil", 3), (4, 5, 0, 4), (140, 63)),  # nil made beside a contract
        ((4, 3, "nil", 3), (3, 5, 0, 5), (60, 64)),  # nil made, the partner's contract set
        ((4, 3, "blind", 3), (4, 5, 0, 4), (240, 63)),
        ((4, 3, "blind", 3), (4, 5, 1, 3), (-159, 62)),
        (("nil", 13, "nil", 13), (0, 7, 0, 6), (200, -260)),
        (("nil", 6, "blind", 6), (0, 7, 0, 6), (300, 121)),
        (("blind", 6, "nil", 6), (1, 6, 0, 6), (-99, 120)),
    ],
)
def test_points_of_a_round(bids, won, points):
    assert tuple(scored(bids, won)["gains"][:2]) == points


@pytest.mark.parametrize(
    ("rule", "points", "bags"),
    [("bags", 50 - 100 + 2, 2), ("partner", 50 - 100 + 2, 2), ("nothing", 50 - 100, 0)],
)
def test_tricks_of_a_failed_nil_when_the_partner_makes_it(rule, points, bags):
    table = scored((5, 3, "nil", 3), (5, 3, 2, 3), failed_nil=rule)
    assert (table["gains"][0], table["bags"][0]) == (points, bags)


@pytest.mark.parametrize(
    ("rule", "points", "bags"),
    [("bags", -50 - 100 + 2, 2), ("partner", 50 - 100, 0), ("nothing", -50 - 100, 0)],
)
def test_tricks_of_a_failed_nil_that_the_partner_would_need(rule, points, bags):
    table = scored((5, 3, "nil", 3), (3, 5, 2, 3), failed_nil=rule)
    assert (table["gains"][0], table["bags"][0]) == (points, bags)


def test_two_failed_nils_take_thirteen_bags():
    table = scored(("nil", 3, "nil", 3), (7, 0, 6, 0), (9, 0))
    assert list(table["gains"][:2]) == [13 - 200 - 2 * 110, -60] and table["bags"][0] == 2


def test_ten_bags_in_the_papers_example():
    """288 points are 8 bags; bid 6, 9 tricks: "which will results in 241 points" (section 2)."""
    table = scored((4, 3, 2, 3), (6, 2, 3, 2), (288, 0))
    assert (table["scores"][0], table["bags"][0]) == (241, 1)


def test_ten_bags_by_the_common_rule():
    table = scored((4, 3, 2, 3), (6, 2, 3, 2), (288, 0), bag_penalty=100)
    assert (table["scores"][0], table["bags"][0]) == (251, 1)


@pytest.mark.parametrize(
    ("scores", "won", "gap"),
    [
        ((0, 0), (6, 2, 3, 2), 63 - -60),
        ((288, 0), (6, 2, 3, 2), 63 - 110 - -60),  # 8 bags and 3
        ((288, 9), (4, 5, 2, 2), 60 - (61 - 110)),  # the other side has its tenth
        ((9, 9), (4, 4, 3, 2), (61 - 110) - 60),
        ((9, 9), (9, 0, 4, 0), (67 - 110) - -60),
    ],
)
def test_the_gap_of_a_round_is_what_it_moves_the_scores_apart(scores, won, gap):
    table = Table(phase="game", scores=list(scores)).states[0]
    table["bids"][:], table["won"][:] = (4, 3, 2, 3), won
    assert [gap_row(table, 0), gap_row(table, 1)] == [gap, -gap]
    before = table["scores"][:2].copy()
    score_row(table)
    moved = table["scores"][:2] - before
    assert moved[0] - moved[1] == gap


def test_the_gap_after_twenty_bags():
    table = Table(phase="game", scores=[9, 9]).states[0]
    table["bids"][:], table["won"][:] = (1, 3, 1, 3), (7, 0, 6, 0)
    assert gap_row(table, 0) == 20 + 11 - 2 * 110 - -60


def test_the_gap_among_four_is_to_the_mean_of_the_others():
    table = Table(variant="cutthroat", phase="game", scores=[0, 8, 0, 0]).states[0]
    table["bids"][:], table["won"][:] = (4, 3, 2, 3), (4, 5, 1, 3)
    points = np.array([40, 32 - 110, -20, 30])
    for side in range(4):
        assert gap_row(table, side) == pytest.approx(points[side] - np.delete(points, side).mean())


@pytest.mark.parametrize(("score", "bags"), [(0, 0), (288, 8), (-2, 8), (-110, 0), (-101, 9)])
def test_bags_are_the_units_digit(score, bags):
    assert Table(scores=[score, 0]).bags[0] == bags


def test_side_points_leave_the_table_alone():
    table = Table(MIXED).states
    before = table.tobytes()
    side_points_row(table[0], 0)
    assert table.tobytes() == before


# ---- the game ----------------------------------------------------------------------------


def ended(gains_from, bids, won, **rules):
    table = Table(scores=list(gains_from), **{"phase": "game", **rules}).states[0]
    table["bids"][:], table["won"][:] = bids, won
    end_round_row(table)
    return table


BIDS, WON = (4, 3, 2, 3), (4, 3, 2, 4)  # N/S +60, E/W +61


@pytest.mark.parametrize(
    ("scores", "rules", "winner"),
    [
        ((440, 0), {}, 0),  # exactly 500
        ((430, 0), {}, None),  # 490
        ((440, 450), {}, 1),  # both, the higher score wins
        ((471, 470), {}, None),  # both, equal: another round
        ((450, 0), {"win_goal": 200}, 0),
        ((-170, 0), {"lose_goal": -100}, 1),  # -110
        ((-161, 0), {"lose_goal": -100}, 1),  # -101
        ((-160, 0), {"lose_goal": -100}, 1),  # exactly
        ((-159, 0), {"lose_goal": -100}, None),
        ((-1000, 0), {}, None),  # no losing goal
        ((-60, -70), {"win_goal": 1}, None),  # 0 and -9
    ],
)
def test_goals(scores, rules, winner):
    table = ended(scores, BIDS, WON, **rules)
    assert (table["phase"] == OVER) == (winner is not None)
    assert table["winner"] == (-1 if winner is None else winner)


def test_the_next_round():
    table = ended((100, 0), BIDS, WON)
    assert (table["phase"], table["rounds"], table["dealer"], table["turn"]) == (BIDDING, 1, 0, 1)
    assert list(table["scores"][:2]) == [160, 61]
    assert list(table["bags"][:2]) == [0, 1]
    assert list(table["last_bids"]) == list(BIDS) and list(table["last_won"]) == list(WON)
    assert list(table["bids"]) == [-1] * 4 and table["plays"] == 0


@pytest.mark.parametrize(("scores", "winner"), [((100, 0), 0), ((0, 100), 1)])
def test_the_last_round_ends_the_game_in_any_case(scores, winner):
    game = Table(scores=list(scores), phase="game", max_rounds=3)
    table = game.states[0]
    for _ in range(3):
        table["bids"][:], table["won"][:] = (4, 3, 2, 3), (4, 3, 2, 3)
        end_round_row(table)
    assert (table["phase"], table["winner"]) == (OVER, winner)


def test_a_shared_lead_after_the_last_round_is_a_draw():
    table = ended((0, 0), (3, 3, 3, 3), (3, 3, 3, 3), max_rounds=1)
    assert (table["phase"], table["winner"]) == (OVER, -1)


# ---- variants ----------------------------------------------------------------------------


def test_cutthroat_is_everybody_for_himself():
    table = scored((4, 3, "nil", 3), (4, 5, 0, 4), (0, 0, 0, 0), variant="cutthroat")
    assert table["variant"] == CUTTHROAT
    assert list(table["gains"]) == [40, 32, 100, 31]


def test_cutthroat_has_one_winner():
    table = Table(SPADES_NORTH, variant="cutthroat").do("13,nil,nil,nil")
    for rank in "AKQJT98765432":
        table.play(f"S{rank} H{rank} D{rank} C{rank}")
    assert table.out.reward[0] == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    assert [table.game.allies(player) for player in range(4)] == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("points", "leader"),
    [
        ((5, 3, 2, 1), 0),
        ((1, 2, 3, 5), 3),
        ((5, 5, 3, 1), -1),
        ((3, 5, 1, 5), -1),
        ((1, 1, 1, 5), 3),  # a lead that was shared among fewer points is not
        ((1, 1, 5, 5), -1),
        ((5, 1, 1, 1), 0),  # others share what is not the lead
        ((-7, -9, -7, -9), -1),
        ((0, 0, 0, 0), -1),
    ],
)
def test_a_shared_lead_of_four_sides_is_nobodys(points, leader):
    assert leader_row(np.array(points, np.int64), 4) == leader
    assert leader_row(np.array(points[:2], np.int64), 2) == (
        -1 if points[0] == points[1] else int(points[1] > points[0])
    )


def test_mirror_bids_the_spades_held():
    table = Table(MIXED, variant="mirror")
    for bid in ("9", "2", "2", "nil"):
        assert table.legal() == {bid}
        table.do(bid)


def test_whiz_bids_the_spades_held_or_nil():
    table = Table(MIXED, variant="whiz")
    for bid in ("9", "2", "2"):
        assert table.legal() == {bid, "nil"}
        table.do(bid)
    assert table.legal() == {"nil"}


def test_suicide_has_one_nil_in_each_partnership():
    table = Table(MIXED, variant="suicide")
    least_four = {str(bid) for bid in range(4, 14)}
    assert table.legal() == least_four | {"nil"}
    table.do("5")
    assert table.legal() == least_four | {"nil"}
    table.do("nil")
    assert table.legal() == {"nil"}
    table.do("nil")
    assert table.legal() == least_four


# ---- blind nil ---------------------------------------------------------------------------


def hand_seen(table, seat):
    view = table.game.view_of(table.states, np.array([seat]))[0]
    observation = np.empty(table.game.encoder.layout.size, np.int8)
    table.game.observe(table.states, np.array([0]), seat, observation[None])
    seen = table.game.encoder.layout.split(observation)["hand"].any()
    assert (view["hand"] != 0) == (view["held_here"] != 0) == seen
    return bool(seen)


def test_blind_nil_is_bid_before_the_hand_is_seen():
    table = Table(MIXED, blind_nil=True)
    assert table.legal() == {"blind nil", "look"}
    assert not any(hand_seen(table, seat) for seat in range(4))
    table.do("look")
    assert table.turn == 0 and hand_seen(table, 0) and "nil" in table.legal() and "blind nil" not in table.legal()
    table.do("4,blind nil")
    assert hand_seen(table, 1) and not hand_seen(table, 2)
    assert table.turn == 2 and table.bids[1] == 0 and table.blind == 2


def test_blind_nil_needs_the_deficit():
    table = Table(MIXED, scores=[0, 100], blind_nil=True, blind_deficit=100)
    assert table.legal() == {"blind nil", "look"}
    table.do("look,3")
    assert "look" not in table.legal()


def test_no_blind_nil_unless_asked_for():
    assert "look" not in Table(MIXED).legal()
    with pytest.raises(ValueError, match="blind_nil: there is no blind nil in mirror"):
        Spades(variant="mirror", blind_nil=True)


# ---- jokers ------------------------------------------------------------------------------


def order(name):
    """Spades of a deck, strongest first."""
    number = ("standard", "jokers", "jokers_deuces").index(name)
    cards = [card for card in range(52) if deals.SUITS[number, card] == 3]
    strongest = []
    while cards:
        best = next(c for c in cards if all(c == o or deals.beats_row(number, c, o) for o in cards))
        strongest.append(deals.deck_card_text(number, best))
        cards.remove(best)
    return " ".join(strongest)


@pytest.mark.parametrize(
    ("name", "spades"),
    [
        ("standard", "AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S"),
        ("jokers", "BJ LJ AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S"),
        ("jokers_deuces", "BJ LJ 2D 2S AS KS QS JS TS 9S 8S 7S 6S 5S 4S 3S"),
    ],
)
def test_order_of_spades(name, spades):
    assert order(name) == spades


def test_jokers_and_high_deuces_are_spades():
    """A joker must follow spades, may not follow clubs, and cannot be led before spades are broken."""
    table = Table(MIXED, deck="jokers_deuces").do("5,5,5,5")  # N holds BJ (2H) and LJ (2C), E the 2D
    assert {"BJ", "LJ"}.isdisjoint(table.legal())
    table.play("3D")
    assert "2D" in {text[::-1] for text in table.legal()} and len(table.legal()) == 13  # E has no diamond left
    table.play("D2 D9 D4")
    assert (table.broken, table.turn) == (1, 1)
    table.play("TS 2S 8C BJ")
    assert table.turn == 0


def test_a_joker_where_the_deck_has_none():
    with pytest.raises(ValueError, match="not an action: 'BJ'"):
        Spades(phase="round").action_number("BJ")
    with pytest.raises(ValueError, match="'2C' is not in the deck 'jokers': LJ replaces it"):
        deals.deck_card_number(1, "2C")


def test_hands_of_a_joker_deck_as_text():
    hand = sum(1 << card for card in (0, 2, 1, 3, 51, 4))
    assert deals.deck_hand_text(0, hand) == "A2.2.2.32"
    assert deals.deck_hand_text(2, hand) == "BLd2A...3"
    assert deals.deck_hand_symbols(1, hand) == "♠BJ,LJ,A,2 ♥- ♦2 ♣3"
    assert deals.deck_hand_symbols(2, hand) == "♠BJ,LJ,D2,2,A ♥- ♦- ♣3"
