"""PBN: what a file says is what we read, endplay agrees where it can read it, and what we write comes back."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from endplay.parsers import lin as endplay_lin
from endplay.parsers import pbn as endplay_pbn
from endplay.types import Player
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import SEATS, STRAINS, call_text, card_text, hand_number, hand_text
from bidzoo.envs.bridge import play
from bidzoo.envs.bridge.board import Board, BoardReplay, Call, contract_numbers, contract_text
from bidzoo.envs.bridge.deals import DATA as PACKAGED
from bidzoo.envs.bridge.deals import deals_of, packaged, random_deals, read_boards
from bidzoo.envs.bridge.formats import lin, pbn

DATA = Path(__file__).parents[3] / "data"
REAL = sorted((Path(__file__).parents[5] / "shared" / "data" / "real-pbn").glob("*.pbn"))
SAMPLE = PACKAGED / "sample.pbn"


def words(board: Board) -> str:
    return " ".join(call_text(call.call) for call in board.auction)


def cards(board: Board) -> str:
    return " ".join(card_text(card)[::-1] for card in board.play)


# ---- reading -----------------------------------------------------------------------------


def test_club_file_board_1_says_everything() -> None:
    """Byte order mark, CRLF, comments, escapes, tags over lines, notes in auction and play, all pass."""
    board = pbn.read(DATA / "club.pbn")[0]
    assert (board.number, board.dealer, board.vulnerable) == (1, 0, 0)
    assert board.hands == tuple(
        map(hand_number, ("A5.AQ9754.K9542.", "963.KT8.Q7.AQ432", "QT84.62.J86.K975", "KJ72.J3.AT3.JT86"))
    )
    assert words(board) == "1C P 1H 1S 2H P 4H X XX P P P"
    notes = {i: call.note for i, call in enumerate(board.auction) if call.alert}
    assert notes == {0: "strong, 16+ !C; forcing", 3: "natural", 8: "strong, 16+ !C; forcing"}
    assert (board.contract, board.declarer, board.result, board.claimed) == ("4HXX", 2, 8, False)
    assert cards(board).startswith("HJ HA HK H6 SA S9 SQ S2 H5")  # dummy's ace won: North leads to the second trick
    assert len(set(board.play)) == 52
    assert board.tricks is not None
    assert [board.tricks[5 * SEATS.index("W") + STRAINS.index(s)] for s in ("NT", "S", "H", "D", "C")] == [
        7,
        8,
        5,
        4,
        9,
    ]
    assert board.names == ("Nora", "Emil", "Sára", "Walt")
    assert board.tags == {"Event": 'A "little" club', "Site": "Back\\slash", "Score": "NS -400"}


def test_club_file_other_boards() -> None:
    """Inherited values, a passed-out board, a claim, an open auction, hidden hands, an empty game."""
    passed, claimed, running, nothing = pbn.read(DATA / "club.pbn")[1:]
    assert passed.tags == {"Event": 'A "little" club', "Site": "Back\\slash"}
    assert (words(passed), passed.contract, passed.declarer, passed.result) == ("P P P P", "Pass", None, None)
    assert passed.hands is not None
    assert hand_text(passed.hands[2]) == "5.A8642.KQJ765.4"  # not shown: the cards that are left
    assert passed.tricks == (6, 11, 10, 5, 8, 7, 2, 3, 7, 4, 6, 11, 10, 5, 7, -1, -1, 2, 7, 4)
    assert (claimed.dealer, claimed.vulnerable) == (2, 2)  # by the number of the board
    assert (claimed.contract, claimed.declarer, claimed.result, claimed.claimed) == ("3NT", 2, 8, True)
    assert len(claimed.play) == 22
    assert cards(claimed).endswith("CK C6")
    assert running.tags == {"Event": "Teams"}
    assert (running.contract, running.declarer, running.result) == ("2S", 2, 7)
    assert running.hands is not None
    assert running.hands[1] == running.hands[3] == 0
    assert not running.complete
    assert nothing == Board()


def test_sample_is_the_first_test_deals() -> None:
    boards = pbn.read(SAMPLE)
    hands, tricks = packaged("test")
    assert len(boards) >= 32
    for i, board in enumerate(boards):
        assert (board.number, board.hands, board.tricks) == (i + 1, tuple(hands[i].tolist()), tuple(tricks[i].tolist()))
    assert [board.dealer for board in boards[:5]] == [0, 1, 2, 3, 0]
    assert [board.vulnerable for board in boards[:16]] == [0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_do_not_matter(tmp_path: Path, encoding: str, newline: str) -> None:
    text = pbn.dumps(pbn.read(DATA / "club.pbn")).replace("\n", newline)
    (tmp_path / "club.pbn").write_bytes(text.encode(encoding))
    assert pbn.read(tmp_path / "club.pbn") == pbn.read(DATA / "club.pbn")


def test_lin_match() -> None:
    """Eight names for two rooms, a hand left out, alerts, lower case, a claim, vulnerability by number."""
    first, second, third = lin.read(DATA / "match.lin")
    club = pbn.read(DATA / "club.pbn")[0]
    assert (first.hands, second.hands) == (club.hands, club.hands)
    assert first.names == ("Nora", "Emil", "Sara", "Walt")
    assert words(first) == "1C P 1H 1S 2H P 4H X XX P P P"
    assert first.auction[0] == Call(3, alert=True, note="strong")
    assert (first.contract, first.declarer, first.result, first.claimed) == ("4HXX", 2, 8, True)
    assert cards(first) == "HJ HA HK H6 SA"
    assert second.names == ("Ned", "Eva", "Sid", "Wim")
    assert (words(second), second.contract) == ("P P P P", "Pass")
    assert (third.number, third.vulnerable, third.names) == (2, 1, ("Cyd", "Dan", "Ann", "Bob"))
    assert (words(third), third.contract) == ("1S P", None)


def test_lin_ends_a_page_after_every_trick() -> None:
    board = lin.read(DATA / "match.lin")[0]
    played = lin.dumps([board]).partition("|pg||")[2]
    assert played == "pc|HJ|pc|HA|pc|HK|pc|H6|pg||pc|SA|mc|8|\n"


# ---- endplay as judge --------------------------------------------------------------------

SYMBOLS = dict(zip("♠♥♦♣", "SHDC", strict=True))


def judged(board: Board, other: object) -> None:
    """endplay's board ``other`` says the same as ours."""
    from endplay.types import Board as EndplayBoard

    assert isinstance(other, EndplayBoard)
    assert (board.number, SEATS[board.dealer or 0]) == (other.board_num, other.dealer.abbr)
    assert [hand_text(hand) for hand in board.hands or ()] == str(other.deal.to_pbn(Player.north))[2:].split()
    assert [call.note for call in board.auction] == [(bid.announcement or "").strip() for bid in other.auction]
    calls = ["".join(SYMBOLS.get(letter, letter) for letter in str(bid).upper().strip("!*")) for bid in other.auction]
    assert [call_text(call.call).replace("NT", "N") for call in board.auction] == [
        call.replace("NT", "N") for call in calls
    ]
    assert cards(board).split() == [SYMBOLS[str(card)[0]] + str(card)[1] for card in other.play]
    if board.declarer is not None:
        penalty = {"passed": "", "doubled": "X", "redoubled": "XX"}[other.contract.penalty.name]
        strain = ("S", "H", "D", "C", "NT")[other.contract.denom]
        assert board.contract == f"{other.contract.level}{strain}{penalty}"
        assert SEATS[board.declarer] == other.contract.declarer.abbr
        assert board.result is None or other.contract.result + other.contract.level + 6 == board.result


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_files_as_endplay_reads_them(path: Path) -> None:
    boards = pbn.read(path)
    with open(path) as file:
        others = endplay_pbn.load(file)
    for board, other in zip(boards, others, strict=True):
        judged(board, other)
        rows = other.info["OptimumResultTable"]["rows"] if "OptimumResultTable" in other.info else []
        for seat, strain, won in rows:
            assert board.tricks is not None
            assert board.tricks[5 * SEATS.index(seat) + STRAINS.index(strain)] == int(won)
        assert (board.tricks is None) == (not rows)
    assert pbn.loads(pbn.dumps(boards)) == boards


def played(seed: int, index: int) -> Board:
    """A random deal, legally bid and partly played by chance, with notes."""
    hands = tuple(random_deals(seed, np.array([index]))[0].tolist())
    rng = np.random.default_rng((seed, index))
    dealer, replay = index % 4, BoardReplay(index % 4, index // 4 % 4, hands)
    calls: list[Call] = []
    while not replay.bid_over:
        from bidzoo.envs.bridge import auction

        legal = np.zeros(38, np.int8)
        auction.legal_row(replay.state, legal)
        call = int(rng.choice(np.flatnonzero(legal)[:6])) if rng.random() < 0.6 else 0
        replay.call(call)
        note = 'not "forcing"; 4+ hearts' if rng.random() < 0.2 else ""
        calls.append(Call(call, alert=bool(note), note=note))
    taken: list[int] = []
    if replay.declarer is not None:
        replay.start_play()
        for _ in range(int(rng.choice([0, 1, 7, 51, 52]))):
            free = np.zeros(52, np.int8)
            play.legal_cards_row(replay.state, free)
            taken.append(int(rng.choice(np.flatnonzero(free))))
            replay.card(taken[-1])
    claimed = replay.declarer is not None and len(taken) < 52
    return Board(
        number=index + 1,
        dealer=dealer,
        vulnerable=index // 4 % 4,
        hands=hands,
        auction=tuple(calls),
        contract=replay.contract,
        declarer=replay.declarer,
        play=tuple(taken),
        claimed=claimed,
        result=int(rng.choice(replay.possible_results)) if claimed else replay.result,
        tricks=tuple(rng.integers(0, 14, 20).tolist()),
        names=("Ann", "Bob", "Cyd", "Dan"),
        tags={"Event": "a\\b"},
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 15))
def test_what_we_write_comes_back(seed: int, index: int) -> None:
    boards = [played(seed, index), played(seed, index + 1)]
    assert pbn.loads(pbn.dumps(boards)) == boards
    assert lin.loads(lin.dumps(boards)) == [replace(board, tricks=None, tags={}) for board in boards]


def test_endplay_reads_what_we_write() -> None:
    boards = [played(5, index) for index in range(12)]
    boards = [replace(b, auction=tuple(replace(c, note=c.note.replace('"', "")) for c in b.auction)) for b in boards]
    for board, other in zip(boards, endplay_pbn.loads(pbn.dumps(boards)), strict=True):
        judged(board, other)
    for board, other in zip(boards, endplay_lin.loads(lin.dumps(boards)), strict=True):
        judged(replace(board, result=None), other)


def test_we_read_what_endplay_writes() -> None:
    boards = [replace(played(6, index), tags={}) for index in range(8)]
    boards = [b for b in boards if b.declarer is not None and len(b.play) in (0, 52)]
    boards = [replace(b, auction=tuple(Call(c.call) for c in b.auction)) for b in boards]
    assert len(boards) > 3
    others = endplay_pbn.loads(pbn.dumps(boards))  # its LIN reader miscounts the tricks of a whole play
    for ours, back in zip(boards, lin.loads(endplay_lin.dumps(others)), strict=True):
        assert back == replace(ours, tricks=None)
    text = io.StringIO()
    endplay_pbn.dump(others, text)
    for ours, back in zip(boards, pbn.loads(text.getvalue()), strict=True):
        assert (back.hands, back.contract, back.declarer, back.play) == (
            ours.hands,
            ours.contract,
            ours.declarer,
            ours.play,
        )
        assert [call.call for call in back.auction] == [call.call for call in ours.auction]


# ---- contracts and deals -----------------------------------------------------------------


def test_contracts_as_text() -> None:
    for bid in range(35):
        for stake in (1, 2, 4):
            assert contract_numbers(contract_text(bid, stake)) == (bid, stake)
    assert contract_numbers("Pass") == (-1, 1)
    assert contract_numbers("3nxx") == (14, 4)


def test_deals_of_boards_are_different_and_keep_what_is_known() -> None:
    deals = deals_of(read_boards(DATA / "two-deals.pbn"), "two-deals.pbn")
    assert len(deals.hands) == 2
    assert deals.tricks[0].tolist() == list(pbn.read(DATA / "two-deals.pbn")[0].tricks or ())
    assert set(deals.tricks[1].tolist()) == {-1}
    assert deals.solved == 1


def test_deals_of_boards_that_cannot_be() -> None:
    boards = pbn.read(DATA / "two-deals.pbn")
    hidden = "club: 2 boards left out, hands are missing: 4, 2; expected all four of at least one board"
    with pytest.raises(ValueError, match=hidden):
        deals_of(pbn.read(DATA / "club.pbn")[3:], "club")
    with pytest.warns(UserWarning, match=r"two: 2 boards left out, hands are missing: 4, 2$"):
        deals = deals_of([*pbn.read(DATA / "club.pbn")[3:], *boards], "two")
    assert deals.hands.tolist() == deals_of(boards, "two").hands.tolist()
    with pytest.warns(UserWarning, match=r"two: 25 boards left out, .*: 2, 3, .*, 20, 21, \.\.\.$"):
        deals_of([boards[0], *[Board()] * 25], "two")
    other = replace(boards[0], tricks=tuple(reversed(boards[0].tricks or ())))
    with pytest.raises(ValueError, match=r"two: board 1: double-dummy table: .*expected .* as given before"):
        deals_of([*boards, other], "two")
    with pytest.raises(ValueError, match="empty: no boards, expected at least one"):
        deals_of([], "empty")


@pytest.mark.parametrize("marks", ["##", "###", "####"])
def test_a_value_that_holds_on_has_no_marks_of_its_own(marks: str) -> None:
    """What is read can be written: in PBN a value that begins with ``##`` would hold for the games after it."""
    boards = pbn.loads(f'[Event "{marks}Club"]\n[Board "1"]\n\n[Board "2"]\n')
    assert [board.tags["Event"] for board in boards] == ["Club", "Club"]
    assert pbn.loads(pbn.dumps(boards), strict=True) == boards
