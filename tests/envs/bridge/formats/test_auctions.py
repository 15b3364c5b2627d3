"""Recorded auctions: both formats, their errors, positions."""

import numpy as np
import pytest

from bidzoo.core.cards import FULL_DECK, call_number
from bidzoo.envs.bridge.deals import pack_hands, random_deals, unpack_hands
from bidzoo.envs.bridge.formats.auctions import Auctions, Positions
from bidzoo.envs.bridge.observation import ENCODERS

CALLS = [[0, 0, 0, 0], [3, 0, 0, 0], [0, 3, 1, 2, 0, 0, 0]]  # passed out; 1C; P 1C X XX


def fields(n=3):
    calls = [CALLS[i % 3] for i in range(n)]
    return {
        "owner": pack_hands(random_deals(5, np.arange(n))),
        "dealer": np.arange(n, dtype=np.uint8) % 4,
        "vulnerable": np.array([[0, 0], [1, 0], [1, 1]] * n, np.uint8)[:n],
        "length": np.array([len(c) for c in calls], np.uint8),
        "calls": np.concatenate(calls).astype(np.uint8),
    }


def write(path, **changes):
    np.savez(path, **{**fields(), **changes})
    return path


def test_npz_is_what_was_written(tmp_path):
    data = Auctions.load(write(tmp_path / "a.npz"))
    np.testing.assert_array_equal(data.hands, random_deals(5, np.arange(3)))
    assert data.vulnerable.tolist() == [0, 1, 3] and data.start.tolist() == [0, 4, 8, 15]
    data.save(tmp_path / "b.npz")
    for one, other in zip(data, Auctions.load(tmp_path / "b.npz"), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calls": np.array([0, 0, 0, 0, 3, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0])}, "board 2, call 3: X is not legal"),
        ({"calls": np.array([0, 0, 0, 0, 3, 0, 0, 3, 0, 3, 1, 2, 0, 0, 0])}, "board 1, call 3: 1C is not legal"),
        ({"calls": np.array([0, 0, 0, 0, 3, 0, 0, 8, 0, 3, 1, 2, 0, 0, 0])}, "board 1: the auction of 4 calls"),
        ({"calls": np.array([0, 0, 0, 0, 3, 0, 0, 38, 0, 3, 1, 2, 0, 0, 0])}, r"calls\[7\] 38: expected 0 ... 37"),
        ({"calls": np.zeros(14, np.uint8)}, "calls: 14 calls, expected 15"),
        ({"dealer": np.array([0, 1, 4])}, r"dealer\[2\] 4: expected 0 ... 3"),
        ({"dealer": np.zeros(2, np.uint8)}, "dealer: 2 rows, expected 3 as in owner"),
        ({"calls": np.array([0, 0, 0, 0, 3, 0, 0, 256, 0, 3, 1, 2, 0, 0, 0])}, r"calls\[7\] 256: expected 0"),
        ({"owner": fields()["owner"] + np.int64(256)}, r"owner\[\d, \d+\] \d+: expected 0 ... 255"),
        ({"vulnerable": np.array([[0, 0], [1, 0], [1, 256]])}, r"vulnerable\[2, 1\] 256: expected 0 ... 1"),
        ({"length": np.array([4, -4, 4])}, r"length\[1\] -4: expected 4 ... 319"),
        ({"length": np.array([2**40, 4, 7])}, r"length\[0\] 1099511627776: expected 4"),
        ({"length": np.array([5, 4, 7])}, "calls: 15 calls, expected 16, the sum of length"),
        ({"calls": np.zeros(15, bool)}, r"calls: .*bool"),
        ({"lenght": np.zeros(3)}, "'lenght': unknown array, expected an .npz of auctions: owner, dealer"),
        ({"vulnerable": np.zeros(3, np.uint8)}, "vulnerable: uint8 \\[3\\], expected integers \\[n, 2\\]"),
        ({"owner": np.zeros((3, 13), np.uint8)}, "deal 0: N holds 52 cards"),
        ({"length": np.zeros(3)}, "length: float64"),
    ],
)
def test_npz_errors_name_the_place(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words) as caught:
        Auctions.load(write(tmp_path / "a.npz", **changes))
    assert "a.npz" in str(caught.value)


def test_npz_that_is_none(tmp_path):
    (tmp_path / "a.npz").write_bytes(write(tmp_path / "b.npz").read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"a\.npz: .*zip.*; expected an \.npz of auctions"):
        Auctions.load(tmp_path / "a.npz")
    np.savez(tmp_path / "c.npz", owner=fields()["owner"])
    with pytest.raises(ValueError, match="dealer: missing"):
        Auctions.load(tmp_path / "c.npz")


def openspiel_line(seed):
    """A random board as OpenSpiel's data set writes it, from OpenSpiel itself."""
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("bridge(use_double_dummy_result=false)").new_initial_state()
    rng = np.random.default_rng(seed)
    while not state.is_terminal():
        legal = state.legal_actions()
        if 52 in legal and rng.random() < 0.6:
            state.apply_action(52)
        else:
            state.apply_action(int(rng.choice(legal)))
    return state.history()


def test_text_form_is_openspiels(tmp_path):
    boards = [openspiel_line(seed) for seed in range(20)] + [[*range(52), 52, 52, 52, 52]]
    path = tmp_path / "train.txt"
    path.write_text("\n".join(" ".join(map(str, board)) for board in boards) + "\n")
    data = Auctions.load(path)
    for i, board in enumerate(boards):
        made = [action - 52 for action in board[52:] if action >= 52]
        assert data.calls[data.start[i] : data.start[i + 1]].tolist() == made
        for place, card in enumerate(board[:52]):
            assert data.hands[i, place % 4] >> card & 1
    assert np.bitwise_or.reduce(data.hands, 1).tolist() == [FULL_DECK] * 21
    assert not data.dealer.any() and not data.vulnerable.any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: [*b[:5], "x", *b[6:]], "line 2, number 6: 'x', expected 0 ... 89"),
        (lambda b: [*b[:5], 90, *b[6:]], "line 2, number 6: '90'"),
        (lambda b: [b[1], *b[1:]], "line 2, deal: .* times, expected once"),
        (lambda b: b[:40], "line 2, deal: 40 cards, expected 52"),
        (lambda b: [53, *b[1:]], "line 2, deal: 53 is no card"),
        (lambda b: b[:-1], "line 2, play: 51 cards"),
        (lambda b: [*b[:52], 53, *b[52:]], "board 1, call 0: X is not legal"),
        (lambda b: [*b[:52], 52, 52, 52], "board 1: the auction of 3 calls does not end"),
        (lambda b: [*b[:52], 55, 3, 52, 52, 52], "line 2, number 54: card 3 within the auction"),
    ],
)
def test_text_errors_name_the_place(tmp_path, change, words):
    board = [*range(52), 55, 52, 52, 52, *range(52)]
    path = tmp_path / "t.txt"
    path.write_text("\n".join(" ".join(map(str, b)) for b in (board, change(board))))
    with pytest.raises(ValueError, match=words) as caught:
        Auctions.load(path)
    assert "t.txt" in str(caught.value)


def test_empty_text(tmp_path):
    (tmp_path / "t.txt").write_text("\n")
    with pytest.raises(ValueError, match="no boards"):
        Auctions.load(tmp_path / "t.txt")


def test_positions_are_what_the_caller_saw(tmp_path):
    data = Auctions.load(write(tmp_path / "a.npz"))
    positions = Positions(data, np.array([2, 0]))
    assert len(positions) == 11
    views, legal, made = positions.at(np.array([3, 7]))
    assert made.tolist() == [call_number("XX"), 0]
    assert views["seat"].tolist() == [(2 + 3) % 4, 0] and views["hand"].tolist() == [data.hands[2, 1], data.hands[0, 0]]
    assert legal[0, 2] == 1 and legal[0, 1] == 0 and legal[1, 2] == 0
    others = positions.others(np.array([3]))
    np.testing.assert_array_equal(others[0], data.hands[2, [2, 3, 0]])
    text = ENCODERS["openspiel480"].explain(ENCODERS["openspiel480"](views)[0])
    assert "1C" in text and "vulnerable: we and they" in text


def test_a_digest_is_of_the_auctions_and_of_which_they_are(tmp_path):
    """All of the same number and lengths: nothing but what was dealt and called tells some of them apart."""
    data, numbers = Auctions.load(write(tmp_path / "a.npz")), np.arange(3)
    others = [
        data._replace(hands=data.hands[:, ::-1]),
        data._replace(dealer=(data.dealer + 1) % 4),
        data._replace(vulnerable=3 - data.vulnerable),
        data._replace(calls=np.where(data.calls == 3, 4, data.calls)),
    ]
    known = [Positions(one, numbers) for one in (data, *others)]
    known += [Positions(data, numbers[::-1]), *(Positions(data, numbers[:2], side) for side in (0, 1))]
    assert len({positions.digest for positions in known}) == 8
    assert Positions(Auctions.load(tmp_path / "a.npz"), numbers).digest == known[0].digest


def test_splits_cover_everything_once_and_follow_the_deal():
    n = 4000
    f = fields(n)
    hands = unpack_hands(f["owner"])
    zeros = np.zeros(n, np.int8)
    data = Auctions.of(hands, zeros, zeros, f["length"].astype(np.int64), f["calls"].astype(np.int8), "test")
    parts = [set(data.split(which).tolist()) for which in ("train", "validation", "test")]
    assert sum(map(len, parts)) == n and len(set.union(*parts)) == n
    assert 15 < len(parts[1]) < 80 and 15 < len(parts[2]) < 80
    order = np.arange(n)[::-1]
    lengths = f["length"][order].astype(np.int64)
    calls = np.concatenate([CALLS[i % 3] for i in order]).astype(np.int8)
    again = Auctions.of(hands[order], zeros, zeros, lengths, calls, "test")
    assert {int(order[i]) for i in again.split("test")} == parts[2]
