"""Seven places where OpenSpiel's bridge is wrong (2.0.2), each right here; none of these tests asks OpenSpiel."""

import pickle
from typing import Any

import numpy as np
import pytest

from bidzoo.core.cards import NUM_CARDS, SEATS, card_number
from bidzoo.core.kernels import States
from bidzoo.envs.bridge.features import AUCTION571, PLAY571
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS, encode_row
from bidzoo.envs.game import Buffers

PBN = "964.QJ.KJ87.KQJ5 AKQJ32.9652.93.6 T875.T43.AQT2.87 .AK87.654.AT9432"
EACH_A_SUIT = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."  # N clubs ... W spades


def play(game: Bridge, options: dict[str, Any], calls: str) -> tuple[States, Buffers]:
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([0]), 0, out)
    game.fix(tables, game.options(options), out)
    for call in calls.split():
        action = game.action_number(call)
        assert out.mask[0, action], f"{call} is illegal in {calls!r}"
        game.step(tables, np.array([action]), 0, out, 0)
    return tables, out


@pytest.mark.parametrize("dealer", range(1, 4))
@pytest.mark.parametrize("name", ENCODERS)
def test_b1_seats_count_from_the_viewer_whoever_deals(name: str, dealer: int) -> None:
    """Theirs are off by the dealer: turned with the table, a board must look the same."""
    game, calls = Bridge(play=True), "P 1C X XX 1H P 2H"
    plain, _ = play(game, {"deal": f"N:{PBN}", "dealer": "N", "vulnerability": "ns"}, calls)
    side = "ew" if dealer % 2 else "ns"
    turned, _ = play(game, {"deal": f"{SEATS[dealer]}:{PBN}", "dealer": SEATS[dealer], "vulnerability": side}, calls)
    for seat in range(4):
        expected = ENCODERS[name](game.view_of(plain, np.array([seat])))
        assert (ENCODERS[name](game.view_of(turned, np.array([(seat + dealer) % 4]))) == expected).all()


def test_b2_every_seat_gets_the_ace_of_spades() -> None:
    """In theirs West has it on every board of a tournament. 4000 boards: one standard deviation is 27."""
    game, boards = Bridge(play=True), 4000
    tables, out = game.new(boards), game.buffers(boards)
    game.begin(tables, np.arange(boards), 3, out)
    for card in (card_number("AS"), card_number("2C"), card_number("7H")):
        assert np.abs((tables["hands"] >> card & 1).sum(0) - boards / 4).max() < 4 * 27
    held = np.array([(tables["hands"] >> card & 1).mean(0) for card in range(NUM_CARDS)])
    assert np.abs(held - 0.25).max() < 5 * 27 / boards


def test_b3_copies_keep_dealer_and_vulnerability() -> None:
    game = Bridge(play=True)
    for board in range(16):
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, np.array([board]), 0, out)
        guess, keys = game.new(1), np.array([board], np.uint64)
        game.determinize(game.view_of(tables, np.array([board % 4])), keys, guess)
        from_bytes = np.frombuffer(tables.tobytes(), game.state)
        for copy in (pickle.loads(pickle.dumps(tables)), from_bytes, guess):
            for field in ("board", "dealer", "vulnerable", "turn"):
                assert copy[0][field] == tables[0][field], (board, field)


@pytest.mark.parametrize("calls", ["1H P 2H P P P", "1H P 3H P 4H P P P", "P P 1H P 1S P 2H X P P P"])
def test_b4_after_a_raise_the_first_to_name_the_suit_declares(calls: str) -> None:
    """Theirs calls partner's contract impossible until the auction ends."""
    tables, _ = play(Bridge(play=True), {"deal": f"N:{PBN}", "dealer": "N"}, calls)
    assert tables["declarer"][0] == calls.split().index("1H") % 4


@pytest.mark.parametrize(
    ("calls", "made"), [("P P P 7S P P P", 13), ("7NT P P P", 0)], ids=["declarer takes 13", "defence takes 13"]
)
def test_b5_thirteen_tricks_are_no_entry_and_nothing_is_written_beyond(calls: str, made: int) -> None:
    """Slots are 0 ... 12, as in theirs; thirteen tricks leave their side's slots 0 instead of the neighbour's set."""
    game = Bridge(play=True)
    tables, out = play(game, {"deal": EACH_A_SUIT, "dealer": "N"}, calls)
    while out.player[0] >= 0:
        game.step(tables, out.mask.argmax(1), 0, out, 0)
    table = tables[0]
    for seat in range(4):
        seen = np.full(PLAY571.size + 8, 7, np.int8)
        encode_row(table, int(table["hands"][seat]), 0, seat, ENCODERS["openspiel571"].code, seen[: PLAY571.size])
        assert (seen[PLAY571.size :] == 7).all()
        parts = PLAY571.split(seen[: PLAY571.size])
        full, empty = (parts["made"], parts["lost"]) if made else (parts["lost"], parts["made"])
        assert not full.any() and np.flatnonzero(empty).tolist() == [0]
        text = ENCODERS["openspiel571"].explain(seen[: PLAY571.size])
        assert text.endswith(f"tricks: declarer {made}, defence {13 - made}")
    assert not AUCTION571.split(np.zeros(AUCTION571.size))["unused"].any()


@pytest.mark.parametrize("calls", ["7S P P P", "P P P P", "P 7S P P P"])
def test_b6_a_bid_passed_out_is_scored(calls: str) -> None:
    """Theirs (uncontested) scores every auction of one bid and a pass 0."""
    game = Bridge(play=False)
    opener = calls.split().index("7S") if "7S" in calls else 0
    tricks = np.zeros((4, 5), np.int8)
    tricks[[opener, (opener + 2) % 4], 3] = 13
    _, out = play(game, {"deal": f"N:{PBN}", "dealer": "N", "tricks": tricks}, calls)
    expected = 0 if "7S" not in calls else 1510 if opener % 2 == 0 else -1510
    assert out.over[0]
    assert out.reward[0].tolist() == [expected, -expected, expected, -expected]


def test_b7_only_the_seat_to_call_is_told_so() -> None:
    """Theirs tells all four players that it is their turn to bid."""
    game = Bridge(play=False)
    calls = ["P", "1S", "X", "2C", "P", "P", "2S"]
    for n in range(len(calls) + 1):
        tables, out = play(game, {"deal": f"N:{PBN}", "dealer": "E", "tricks": [0] * 20}, " ".join(calls[:n]))
        turn = (1 + n) % 4
        assert out.player[0] == turn
        for seat in range(4):
            view = game.view_of(tables, np.array([seat]))
            assert (view["turn"][0] == seat) is np.bool_(seat == turn)
            text = ENCODERS["jps267"].explain(ENCODERS["jps267"](view)[0])
            assert ("it is not my turn to call" in text) is (seat != turn)
        row = game.text(tables[0]).split("Contract:")[0].rstrip().split("\n")[-1]
        assert row.index("?") == 8 * ((turn + 1) % 4)  # columns W N E S
