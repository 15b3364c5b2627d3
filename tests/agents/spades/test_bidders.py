"""BIS, RB, MS and IO against the paper's text, and the changes of bid near the end of a game."""

from collections.abc import Callable

import numpy as np
import pytest
from numba import config as numba_config

from bidzoo.agents.spades.bis import endgame_row
from bidzoo.agents.spades.policy import Bidder, SpadesPolicy, ms, rb
from bidzoo.core.cards import hand_number
from bidzoo.core.kernels import States
from bidzoo.core.streams import Streams
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.state import BLIND_NIL, LOOK

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact states take minutes uncompiled")

PLAIN = Bidder("bis", endgame=False, conventions=False)
SOLID = "AKQ.AK2.A32.5432"  # spades.hearts.diamonds.clubs
NILLY = "32.5432.5432.432"


def table(earlier: tuple[int, ...] = (), scores: tuple[int, int] = (0, 0), **rules: object) -> tuple[Spades, States]:
    """A game in which ``earlier`` bids were made; ``scores`` of the side to bid and of the other."""
    game = Spades(phase="game", win_goal=200, lose_goal=-100, **rules)  # type: ignore[arg-type]
    states, out = game.new(1), game.buffers(1)
    game.begin(states, np.array([0]), 1, out)
    bidder = int(states["turn"][0] + len(earlier))
    states["scores"][0, [bidder % 2, (bidder + 1) % 2]] = scores
    states["bags"][0] = states["scores"][0] % 10
    for bid in earlier:
        if not states["looked"][0] >> states["turn"][0] & 1:
            game.step(states, np.array([LOOK]), 1, out, 0)
        game.step(states, np.array([bid]), 1, out, 0)
    return game, states


def bid(
    bidder: str | Bidder, hand: str, earlier: tuple[int, ...] = (), scores: tuple[int, int] = (0, 0), **rules: object
) -> int:
    game, states = table(earlier, scores, **rules)
    states["hands"][0, states["turn"][0]] = states["held"][0, states["turn"][0]] = hand_number(hand)
    views = game.view_of(states, states["turn"].astype(np.int64))
    return int(SpadesPolicy(bidder).act(views, np.ones((1, 68), np.int8), Streams.at(0, np.array([0])))[0])


def test_bis_bids_the_takes_of_figure_1() -> None:
    assert bid(PLAIN, "AKJ62.AQ.Q.K9543") == 6


def test_bis_bids_nil_on_a_safe_hand_but_never_after_partners_nil() -> None:
    assert bid(PLAIN, NILLY) == 0
    assert bid(PLAIN, NILLY, (0, 3)) > 0
    assert bid(PLAIN, SOLID) >= 5


def test_bis_lowers_nothing_below_one() -> None:
    assert bid(Bidder("bis", nil_threshold=1000, endgame=False, conventions=False), NILLY) == 1


@pytest.mark.parametrize(
    ("hand", "nil"),
    [
        ("..23456789TJ.23J", False),  # the paper: an almost perfect nil hand that the naive classifier refuses
        ("58T.58T.58TA.58T", True),  # ... and an unsafe one that it takes (F.2)
        ("2345.23456.2345.", False),  # four spades
    ],
)
@pytest.mark.parametrize("bidder", ["rb", "ms"])
def test_the_naive_nil_classifier(bidder: str, hand: str, nil: bool) -> None:
    assert (bid(bidder, hand) == 0) is nil
    assert bid(bidder, hand, (0, 3)) > 0


@pytest.mark.parametrize("make", [rb, ms])
def test_the_limits_of_the_naive_nil_classifier_are_an_option(make: Callable[..., SpadesPolicy]) -> None:
    hand = "7J3.2J3.2JQ.234J"  # 3 7 jack, 2 3 jack, 2 jack queen, 2 3 4
    assert bid(make().bidder, hand) > 0
    assert bid(make(nil_limits=(2, 7, 12)).bidder, hand) > 0
    assert bid(make(nil_limits=(3, 11, 12)).bidder, hand) == 0
    assert bid(make(nil_limits=(3, 11, 11)).bidder, hand) > 0


@pytest.mark.parametrize(
    ("hand", "takes"),
    [
        ("AQ2.K2.AK32.5432", 2 + 1 + 2),  # A and guarded Q of spades; guarded K; A and guarded K
        ("Q32.K.AK432.5432", 1 + 0 + 2 + 1),  # a singleton K is nothing, but a singleton with three spades is a trick
        ("65432.JT98.J32.2", 2),  # spades after the third
        ("2.AK32.AK32.5432", 4 - 1),  # a singleton spade
        ("Q2.AJT98.432.432", 1),  # Q of spades in a doubleton without the ace
        ("AQ.AJT98.432.432", 3),
    ],
)
def test_master_spades_simple_bidding(hand: str, takes: int) -> None:
    assert bid("ms", hand, (3, 3)) == takes


@pytest.mark.parametrize(
    ("hand", "takes"),
    [
        ("AT32.A32.K32.432", 2 + 0.8 + 1 + 0.5),
        ("AKQ.AK32.K.65432", 3 + 2 + 0),  # a lone king is nothing
        ("98765.AK.KQ2.432", 2 + 2 + 0.5),
    ],
)
def test_io_card_values(hand: str, takes: float) -> None:
    assert bid("io", hand) == int(takes)


def test_io_bids_nil_only_behind_a_strong_partner() -> None:
    assert bid("io", NILLY, (4, 3)) == 0
    assert bid("io", NILLY, (3, 3)) > 0
    assert bid("io", NILLY) > 0
    assert bid("io", "T2.5432.5432.432", (4, 3)) > 0  # ten of spades


def test_big_five_is_kept_for_covering_hands() -> None:
    signal, silent = Bidder("bis", endgame=False), PLAIN
    cover = "AK2.AK2.AJ2.5432"  # no club above the ten
    assert bid(silent, cover) == 5
    assert bid(signal, cover) == 4
    assert bid(signal, "AK2.AK2.A42.J432") == 5
    assert bid(signal, "AK2.AK2.A42.J432", (3, 3)) == bid(silent, "AK2.AK2.A42.J432", (3, 3))  # only the first partner


def test_big_five_lets_partner_bid_nil_with_the_king_of_spades() -> None:
    hand = "K2.5432.5432.432"
    assert bid(Bidder("bis", endgame=False), hand, (5, 3)) == 0
    assert bid(PLAIN, hand, (5, 3)) > 0


def test_big_six_demands_a_blind_nil_when_far_behind() -> None:
    assert bid("bis", "AK2.AK2.A42.J432", (), (-60, 100), blind_nil=True, blind_deficit=500) == 6
    assert bid("bis", NILLY, (6, 2), (-60, 100), blind_nil=True) == BLIND_NIL


def test_big_six_replaces_big_five_whenever_far_behind() -> None:
    """Also where the rules have no blind nil (G.2): 6 is reserved, 5 is an ordinary bid and offers no cover."""
    signal, far, near = Bidder("bis", endgame=False), (-60, 100), (-60, 40)
    cover, ordinary = "AK2.AK2.A42.J432", "AK2.AK2.AJ2.5432"  # the second has no club above the nine
    assert (bid(signal, cover, (), near), bid(signal, cover, (), far)) == (5, 6)
    assert (bid(signal, ordinary, (), near), bid(signal, ordinary, (), far)) == (4, 5)
    no_ace = "KQ32.AK2.AK2.J32"  # takes for a 6, which would say falsely that it holds the ace of spades
    assert (bid(PLAIN, no_ace, (), far), bid(signal, no_ace, (), far)) == (6, 5)
    hand = "K2.5432.5432.432"
    assert bid(signal, hand, (5, 3), near) == 0 and bid(signal, hand, (5, 3), far) > 0
    assert bid(signal, hand, (6, 3), far) > 0
    assert bid("bis", NILLY, (4, 2), (-60, 100), blind_nil=True) == LOOK
    assert bid(Bidder("bis", conventions=False), NILLY, (6, 2), (-60, 100), blind_nil=True) == LOOK


def test_desperate_blind_nil() -> None:
    assert bid("bis", NILLY, (4, 2, 4), (0, 150), blind_nil=True) == BLIND_NIL  # they need 50 and bid 80
    assert bid("bis", NILLY, (4, 2, 4), (190, 150), blind_nil=True) == LOOK  # we end ahead
    assert bid("bis", NILLY, (6, 2, 6), (0, 150), blind_nil=True) == LOOK  # not an easy contract


@pytest.mark.parametrize(
    ("earlier", "scores", "regular", "takes", "nil", "expected"),
    [
        ((4, 2, 4), (100, 150), 3, 3.1, 0.1, 4),  # complete to 14: 4 + 2 + 4 + 4
        ((4, 3, 4), (100, 150), 3, 3.1, 0.1, 3),  # already 14
        ((4, 3, 4), (100, 150), 4, 4.1, 0.1, 3),  # 15 would set a side as well; 14 does, and is easier to make
        ((5, 4, 5), (100, 150), 3, 3.1, 0.1, 1),  # 14 without us: the lowest bid
        ((3, 3, 3), (150, 140), 1, 1.2, 0.1, 1 + 2),  # they end at 200, we at 190: two more tricks win
        ((3, 4, 3), (140, 140), 1, 1.0, 0.5, 14 - 10),  # the high sum comes before the small gap
        ((3, 1, 3), (180, 140), 1, 1.0, 0.1, 1),  # we end at 200 too and they are not ahead
        ((2, 1, 3), (110, 160), 1, 1.0, 0.5, 0),  # far behind with a risky nil hand
        ((0, 3, 3), (100, 100), 3, 2.6, 0.1, 2),  # an opponent's nil: takes - 0.5, rounded
        ((3, 3, 3), (160, 20), 3, 3.0, 0.1, 2),  # we win with one less
        ((3, 3, 3), (169, 20), 3, 3.0, 0.1, 3),  # nine bags: no room for two more
        ((2, 3, 2), (20, 20), 3, 3.0, 0.1, 3),  # nobody can win
    ],
)
def test_bids_near_the_end_of_a_game(
    earlier: tuple[int, ...], scores: tuple[int, int], regular: int, takes: float, nil: float, expected: int
) -> None:
    _, states = table(earlier, scores)
    assert endgame_row(states[0], regular, regular, takes, nil) == expected


def test_a_nil_is_given_up_when_the_regular_bid_wins() -> None:
    _, states = table((3, 3, 3), (160, 20))
    assert endgame_row(states[0], 0, 2, 2.0, 0.9) in (1, 2)


def test_whiz_and_suicide_bids() -> None:
    assert bid("bis", NILLY, variant="whiz") == 0
    assert bid("bis", SOLID, variant="whiz") == 3
    assert bid("bis", SOLID, (0, 5), variant="suicide") >= 4
    assert bid("bis", SOLID, (4, 5), variant="suicide") == 0
    assert bid("bis", SOLID, variant="mirror") == 3
