"""Malformed PBN and LIN: the error names the file, the line, the field and what was expected."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.envs.bridge.board import contract_numbers
from bidzoo.envs.bridge.formats import lin, pbn

DATA = Path(__file__).parent / "data"
GOOD = """[Board "1"]
[Dealer "N"]
[Vulnerable "None"]
[Deal "N:A5.AQ9754.K9542. 963.KT8.Q7.AQ432 QT84.62.J86.K975 KJ72.J3.AT3.JT86"]
[Declarer "S"]
[Contract "4H"]
[Result "?"]
[Auction "N"]
1C =1= Pass 1H Pass
4H Pass Pass Pass
[Note "1:strong"]
[Play "W"]
HJ HA HK H6
S2 SA S9 SQ
*
[OptimumResultTable "Declarer;Denomination\\2R;Result\\2R"]
N NT 5
N  S 5
"""


def test_the_good_text_is_good() -> None:
    (board,) = pbn.loads(GOOD)
    assert (board.contract, board.declarer, len(board.play), board.claimed) == ("4H", 2, 8, True)
    assert board.tricks is not None
    assert board.tricks[:5] == (-1, -1, -1, 5, 5)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"1"]\n[D', '"one"]\n[D', 1, "Board: 'one', expected a number from 1"),
        ('"1"]\n[D', '"0"]\n[D', 1, "Board: '0', expected a number from 1"),
        ('[Dealer "N"]', '[Dealer "Q"]', 2, "Dealer: not a seat: 'Q'"),
        ('"None"', '"Nobody"', 3, "Vulnerable: 'Nobody', expected None, NS, EW or All"),
        ("[Deal ", "[Deal N:", 4, "'N:' in a tag, expected"),
        ("N:A5.", "A5.", 4, "Deal: .*expected a seat, a colon and four hands"),
        (" KJ72.J3.AT3.JT86", "", 4, "Deal: .*expected a seat, a colon and four hands"),
        ("N:A5.", "N:A55.", 4, "Deal: .*5S appears twice"),
        ("N:A5.", "N:A.", 4, "Deal: N holds 12 cards, expected 13"),
        ("N:A5.", "N:AQ.", 4, "Deal: QS is held by N and by S, expected 52 different cards"),
        ("N:A5.", "N:A1.", 4, "Deal: .*'1' is not a rank"),
        ("AT3.JT86", "AT3JT86", 4, "Deal: .*has 3 suits, expected 4"),
        ('[Declarer "S"]', '[Declarer "E"]', 5, "Declarer: E, expected S by the auction"),
        ('[Declarer "S"]', '[Declarer "Sue"]', 5, "Declarer: not a seat: 'Sue'"),
        ('"4H"', '"4S"', 6, "Contract: 4S, expected 4H by the auction"),
        ('"4H"', '"8H"', 6, "Contract: '8H' is not a contract"),
        ('"4H"', '"4HXXX"', 6, "Contract: '4HXXX' is not a contract"),
        ('"?"', '"14"', 7, r"Result: '14', expected 0 \.\.\. 13 tricks"),
        ('"?"', '"many"', 7, r"Result: 'many', expected 0 \.\.\. 13 tricks"),
        ('[Auction "N"]', '[Auction "E"]', 8, "Auction: begins with E, expected the dealer, N"),
        ("1H Pass", "1C Pass", 9, "Auction: 1C is not legal after 1C P, expected P, a bid from 1D"),
        ("1H Pass", "X Pass", 9, "Auction: X is not legal after 1C P, expected P, a bid from 1D"),
        ("1H Pass", "XX Pass", 9, "Auction: XX is not legal"),
        ("1H Pass", "1Z Pass", 9, "Auction: not a call: '1Z'"),
        ("4H Pass Pass Pass", "4H Pass Pass Pass Pass", 10, "Auction: P is not legal .*the auction is over"),
        ("1C =1=", "=1= 1C", 9, "Auction: note =1= before any call"),
        ("=1=", "=2=", 9, r"Auction: note =2= is not there, expected \[Note \"2:"),
        ('"1:strong"', '"strong"', 11, "Note: 'strong', expected a number, a colon and the text"),
        ('[Play "W"]', '[Play "N"]', 12, "Play: begins with N, expected the leader, W"),
        ("HJ HA", "H6 HA", 13, "Play: 6H cannot be played by W, expected"),
        ("S2 SA", "S2 HQ", 14, "Play: .* cannot be played by"),
        ("HJ HA", "HJ ZZ", 13, "Play: not a card: 'ZZ'"),
        ("Denomination", "Strain", 16, "OptimumResultTable: columns .*expected Declarer, Denomination, Result"),
        ("N NT 5", "Q NT 5", 17, "OptimumResultTable: not a seat: 'Q'"),
        ("N NT 5", "N NX 5", 17, "OptimumResultTable: 'NX' is not a strain"),
        ("N  S 5", "N  S 14", 18, r"OptimumResultTable: '14' tricks, expected 0 \.\.\. 13"),
        ("N  S 5", "N  S", 18, "OptimumResultTable: row of 2 words, expected 3"),
        ('[Dealer "N"]', '[Dealer "N]', 2, r"'\"N\]' has no end, expected a closing quote"),
        ('[Dealer "N"]', '[Dealer "N"', 3, r"'\[' in a tag, expected \[Name \"value\"\]"),
        ('[Dealer "N"]', '[Dealer N]', 2, r"'N' in a tag, expected"),
        ('[Dealer "N"]', '[Dealer "N"]]', 2, r"'\]' closes nothing"),
        ('[Dealer "N"]', '[Dealer "N"] }', 2, "'}' closes nothing"),
        ('[Board "1"]', 'Board 1', 1, r"'Board' before any tag, expected \[Name \"value\"\]"),
        ('[Dealer "N"]', '[Dealer "#"]', 2, "Dealer: '#', expected that tag in the game before"),
        ('[Dealer "N"]', '[Board "2"]', 2, "Board: a second one, expected an empty line between games"),
        ("N  S 5\n", "N  S 5 {never\nclosed\n", 18, "comment is never closed"),
        ("N  S 5\n", "N  S 5\n[Event\n", 20, "tag 'Event' is never closed"),
        ("N  S 5\n", "N  S 5\n[DoubleDummyTricks \"123\"]\n", 0, ""),
    ],
)  # fmt: skip
def test_malformed_pbn_is_located(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    path = tmp_path / "bad.pbn"
    path.write_text(GOOD.replace(old, new, 1))
    if not line:  # the table of the standard counts, the other one is not read
        assert len(pbn.read(path)) == 1
        return
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}:{line}: {message}"):
        pbn.read(path)


def test_tricks_and_play_that_do_not_fit(tmp_path: Path) -> None:
    whole = (DATA / "club.pbn").read_text(encoding="utf-8-sig")
    with pytest.raises(ValueError, match=r"club:18: Result: 9 tricks, expected 8 by the cards played"):
        pbn.loads(whole.replace('[Result "8"]', '[Result "9"]'), "club")
    with pytest.raises(ValueError, match=r"club:\d+: DoubleDummyTricks: '85ab', expected 20 of"):
        pbn.loads(whole.replace("85ab675ab647327472**", "85ab"), "club")
    with pytest.raises(ValueError, match="text:1: Play: cards are played, expected four hands, a contract"):
        pbn.loads('[Play "W"]\nHJ\n')
    hands = GOOD.splitlines()[3]
    with pytest.raises(
        ValueError, match="text:4: Play: cards are played, expected four hands, a contract and its declarer"
    ):
        pbn.loads(f'{hands}\n[Contract "Pass"]\n[Declarer "S"]\n[Play "W"]\nHJ HA HK H6\n')
    assert len(pbn.loads(f'{hands}\n[Contract "4H"]\n[Declarer "S"]\n[Play "W"]\nHJ HA HK H6\n')[0].play) == 4


def test_a_binary_file_is_no_pbn(tmp_path: Path) -> None:
    (tmp_path / "bad.pbn").write_bytes(b"[Board \0")
    with pytest.raises(ValueError, match=r"bad\.pbn: byte 7 is 0, expected a text file"):
        pbn.read(tmp_path / "bad.pbn")


def test_cutting_a_file_anywhere_gives_boards_or_an_error() -> None:
    text = (DATA / "club.pbn").read_text(encoding="utf-8-sig")
    whole = pbn.loads(text)
    for length in range(0, len(text), 29):
        try:
            boards = pbn.loads(text[:length], "cut")
        except ValueError as error:
            assert re.match(r"cut:\d+: ", str(error))
        else:
            assert boards[:-1] == whole[: max(0, len(boards) - 1)]


LIN = """pn|S,W,N,E|st||md|3SQT84H62DJ86CK975,SKJ72HJ3DAT3CJT86,SA5HAQ9754DK9542C|sv|o|
mb|1C!|an|x|mb|p|mb|1H|mb|p|
mb|4H|mb|p|mb|p|mb|p|pc|HJ|pc|HA|mc|9|
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("md|3", "md|5", 1, "md: dealer '5', expected 1 ... 4 for S W N E"),
        (",SA5HAQ9754DK9542C", "", 1, "md: 2 hands, expected 3 or 4"),
        ("SQT84", "XQT84", 1, "md: 'X' in hand"),
        ("SQT84", "QT84", 1, "md: 'Q' in hand"),
        ("SQT84", "SQT8", 1, "md: S holds 12 cards, expected 13"),
        ("SKJ72", "SKQJ7", 1, "md: QS is held by S and by W"),
        ("sv|o", "sv|x", 1, "sv: 'x', expected o, n, e or b"),
        ("mb|1H", "mb|1C", 2, "mb: 1C is not legal after 1C P"),
        ("mb|1H", "mb|1Q", 2, "mb: not a call: '1Q'"),
        ("mb|1C!|an|x|", "an|x|mb|1C|", 2, "an: 'x' before any call, expected mb first"),
        ("pc|HJ", "pc|H6", 3, "pc: 6H cannot be played by W"),
        ("|mb|p|pc", "|pc", 3, "pc: 'HJ' is played, expected four hands and a finished auction first"),
        ("mc|9", "mc|14", 3, r"mc: '14', expected 0 \.\.\. 13 tricks"),
        ("mc|9|", "mc|9", 3, r"'9' at the end, expected key\|value\|"),
        ("mc|9|", "mc|9||", 4, "'' at the end"),
        ("mb|4H", "m-b|4H", 3, "'m-b' is not a key"),
        ("md|3", "mx|3", 2, "mb: '1C!' without a deal, expected md first"),
    ],
)
def test_malformed_lin_is_located(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in LIN
    assert lin.loads(LIN)[0].contract == "4H"
    path = tmp_path / "bad.lin"
    path.write_text(LIN.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}:{line}: {message}"):
        lin.read(path)


def test_what_cannot_be_written_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    board = pbn.loads(GOOD)[0]
    hidden = replace(board, hands=(0, *board.hands[1:])) if board.hands else board
    with pytest.raises(ValueError, match="board 1: play: cards are played, expected four hands"):
        pbn.write(tmp_path / "x.pbn", [hidden])
    with pytest.raises(ValueError, match="board 1: no dealer or a hand not shown, expected both for LIN"):
        lin.write(tmp_path / "x.lin", [hidden])
    with pytest.raises(ValueError, match=r"board 1: 'a\|b' holds '\|', expected none in LIN"):
        lin.write(tmp_path / "x.lin", [replace(board, names=("a|b", "", "", ""))])
    assert list(tmp_path.iterdir()) == []
    pbn.write(tmp_path / "x.pbn", [board])
    lin.write(tmp_path / "x.lin", [board])
    assert pbn.read(tmp_path / "x.pbn") == [board]
    assert lin.read(tmp_path / "x.lin")[0].hands == board.hands


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["club.pbn", "match.lin"]))
def test_any_damage_gives_boards_or_a_located_error(data: st.DataObject, name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8-sig")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(st.sampled_from([*list('[]{}"\\|;%=#!?-*+^$ \nNSHX0159AT.,:\u00b2\u0663'), ""]))
        text = text[:at] + piece + text[at + data.draw(st.integers(0, 1)) :]
    try:
        (pbn if name.endswith("pbn") else lin).loads(text, "hurt")
    except ValueError as error:
        assert re.match(r"hurt:\d+: ", str(error))


@pytest.mark.parametrize("text", ["", "1", "0C", "4", "4HXXX", "XX", "NT"])
def test_no_contract(text: str) -> None:
    with pytest.raises(ValueError, match="is not a contract"):
        contract_numbers(text)
