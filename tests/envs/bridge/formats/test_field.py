"""What clubs, sites and programs write: read as they mean it, and where something is wrong the rest stays."""

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo.bluechip.boards import Record, Result
from bidzoo.cli import showing
from bidzoo.cli.main import app
from bidzoo.core.cards import call_text, card_text, deal_hands, hand_text
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.board import Board, Call, Fault, check_board
from bidzoo.envs.bridge.deals import UNKNOWN, DealSet, Source, clamped, packaged, read_boards
from bidzoo.envs.bridge.double_dummy import most_suspect
from bidzoo.envs.bridge.formats import FORMATS, lin, pbn
from bidzoo.envs.bridge.formats.auctions import Auctions

CASES = sorted((Path(__file__).parents[5] / "shared" / "data" / "field-cases").glob("*"))
NORTH, EAST, SOUTH, WEST = "A5.AQ9754.K9542.", "963.KT8.Q7.AQ432", "QT84.62.J86.K975", "KJ72.J3.AT3.JT86"
DEAL = f"N:{NORTH} {EAST} {SOUTH} {WEST}"
HEAD = f'[Board "1"]\n[Dealer "N"]\n[Vulnerable "None"]\n[Deal "{DEAL}"]\n'
MD = "md|3SQT84H62DJ86CK975,SKJ72HJ3DAT3CJT86,SA5HAQ9754DK9542C,S963HKT8DQ7CAQ432|"
BID = "mb|1N|mb|p|mb|p|mb|p|"


def read(text: str, form=pbn) -> tuple[list[Board], list[str]]:
    """Boards and what is said of the rest; what is read can be written, and read again as it was."""
    faults: list[Fault] = []
    boards = form.loads(text, "f", faults=faults)
    assert pbn.loads(pbn.dumps(boards), strict=True) == boards
    return boards, [str(fault) for fault in faults]


def good(text: str, form=pbn) -> Board:
    """The only board of a text with nothing wrong in it, however strictly it is read."""
    boards, faults = read(text, form)
    assert not faults and form.loads(text, strict=True) == boards
    (board,) = boards
    return board


def words(board: Board) -> str:
    return " ".join(call_text(call.call) + "!" * call.alert for call in board.auction)


# ---- PBN as it is meant ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("auction", "calls"),
    [
        ('[Auction "W"]\n- 1NT Pass Pass\nPass', "1NT P P P"),
        ('[Auction "E"]\n- -\n- 1NT AP', "1NT P P P"),
        ('[Auction "N"]\n1NT all pass', "1NT P P P"),
        ('[Auction "N"]\n1NT All Pass', "1NT P P P"),
        ('[Auction "N"]\n1NT AllPass', "1NT P P P"),
        ('[Auction "N"]\n1NT Pass Pass Pass Pass', "1NT P P P"),
        ('[Auction "N"]\n1NT AP Pass', "1NT P P P"),
        ('[Auction "N"]\n1NT Pass Pass Pass - -', "1NT P P P"),
        ('[Auction "N"]\nPass\tPass\tPass\tPass', "P P P P"),
        ('[Auction "N"]\n1H* Pass! 3NT? Pass\n4C*=1= AP', "1H! P 3NT P 4C! P P P"),
        ('[Auction "N"]\n1H=1= Pass$3 4H=2==3= AP', "1H! P 4H! P P P"),
        ('[Auction "N"]\n1H {a {nested} comment} X {two} {more} AP', "1H X P P P"),
        ('[Auction "N"]\n- - - -', ""),
    ],
)
def test_auctions(auction: str, calls: str) -> None:
    board = good(f'{HEAD}{auction}\n[Note "1:cue bid"]\n')
    assert words(board) == calls and board.dealer == 0
    notes = {"4C*=1=": "cue bid", "1H=1=": "cue bid"}
    assert [call.note for call in board.auction if call.note] == [v for k, v in notes.items() if k in auction]


def test_an_auction_of_which_the_dealer_is_counted() -> None:
    assert good('[Deal "?"]\n[Auction "S"]\n- - - 1C\n+\n').dealer == 1
    assert good('[Board "5"]\n[Dealer "E"]\n[Auction "S"]\n-  -  -  1C\n+\n').auction == (Call(3),)


@pytest.mark.parametrize("result", ["0", "NS 0", "EW 0", "NS 0 EW 0", "", "?"])
@pytest.mark.parametrize("contract", ["Pass", "PASS", "All pass", "Passed out"])
def test_passed_out(contract: str, result: str) -> None:
    text = f'{HEAD}[Declarer "S"]\n[Contract "{contract}"]\n[Result "{result}"]\n'
    for auction in ("", '[Auction "N"]\nAP\n'):
        board = good(text + auction)
        assert (board.contract, board.declarer, board.result) == ("Pass", None, None)
    assert good(text.replace('"S"', '""')).contract == "Pass"
    assert lin.loads(MD + "mb|p|" * 4 + "mc|0|", strict=True)[0].result is None


@pytest.mark.parametrize(
    ("word", "number"),
    [("N-S", 1), ("N/S ", 1), ("E-W", 2), ("e/w", 2), ("Neither", 0), ("Both", 3), ("NSEW", 3), ("N-S/E-W", 3)],
)
def test_vulnerabilities(word: str, number: int) -> None:
    assert good(HEAD.replace("None", word)).vulnerable == number


@pytest.mark.parametrize("number", ["0", "1-3", "12a", "A7"])
def test_a_board_without_a_number_keeps_its_text(number: str) -> None:
    board = good(HEAD.replace('"1"', f'"{number}"'))
    assert (board.number, board.tags) == (None, {"Board": number})


@pytest.mark.parametrize("seat", range(4))
def test_a_hidden_place_and_letters_of_suits(seat: int) -> None:
    hands = [NORTH, EAST, SOUTH, WEST]
    letters = ["S{}.H{}.D{}.C{}".format(*hand.split(".")) for hand in hands]
    assert deal_hands(f"N:{' '.join(letters)}") == deal_hands(DEAL)
    shown = [hand if place in (0, seat) else "" for place, hand in enumerate(hands)]
    expected = tuple(hand if place in (0, seat) else 0 for place, hand in enumerate(deal_hands(DEAL)))
    if seat > 1:
        assert deal_hands(f"N:{' '.join(shown)}") == expected
        with pytest.raises(ValueError, match="is not a PBN deal"):  # whose the first hand is cannot be told
            deal_hands(f"N: {' '.join(filter(None, shown))}")


@pytest.mark.parametrize(
    "heads",
    [
        "Declarer Suit Tricks",
        "Declarer;Denomination\x02R;Result\x02R",
        "declarer;strain;tricks",
        "Declarer;Trump\\2R;Made",
    ],
)
def test_columns_of_a_table(heads: str) -> None:
    board = good(f'{HEAD}[OptimumResultTable "{heads}"]\nN NT 5\nE S 7\n')
    assert board.tricks is not None and (board.tricks[4], board.tricks[8]) == (5, 7)


PLAYED = [
    (f'[Deal "N:{NORTH} - {SOUTH} -"]', "HJ HA HK H6\nS2 SA S9 SQ\n*", "HJ HA HK H6 SA S9 SQ S2"),
    (f'[Deal "N:{NORTH} - {SOUTH} -"]', "HJ =1= HA! HK $7 H6=2=\n- SA - -\n+", "HJ HA HK H6 SA"),
    ('[Deal "?"]', "HJ HA HK H6\n+ - - -", "HJ HA HK H6"),
    (f'[Deal "{DEAL}"]', "HJ HA HK H6\n+ SA - -", "HJ HA HK H6 SA"),
    (f'[Deal "{DEAL}"]', "HJ HA HK H6\n- SA S9 *", "HJ HA HK H6 SA S9"),
]


@pytest.mark.parametrize(("deal", "play", "cards"), PLAYED)
def test_play_of_hidden_hands_and_tricks_broken_off(deal: str, play: str, cards: str) -> None:
    board = good(f'{deal}\n[Contract "4H"]\n[Declarer "S"]\n[Play "W"]\n{play}\n')
    assert " ".join(card_text(card)[::-1] for card in board.play) == cards
    assert board.claimed == ("*" in play)


def test_what_hidden_hands_cannot_have_played() -> None:
    text = f'[Deal "N:{NORTH} - {SOUTH} -"]\n[Contract "4H"]\n[Declarer "S"]\n[Play "W"]\n'
    for cards in ("HA", "HJ H4 HJ", "HJ HA S5"):
        boards, (fault,) = read(f"{text}{cards}\n")
        assert boards[0].play == () and "expected" in fault and fault.endswith("left out: play")


def test_statistics_headings_and_text_around_the_boards() -> None:
    text = f"Deals of the club, set 12\nmade by hand\n{HEAD}\n\nMinimum     : 33.6\nGenerated 2922012 hands\n\n{HEAD}"
    assert [board.number for board in pbn.loads(text, strict=True)] == [1, 1]


def test_windows_letters(tmp_path: Path) -> None:
    (tmp_path / "a.pbn").write_bytes(f'[North "Šimić – “S”"]\n{HEAD}'.replace("ć", "c").encode("cp1252"))
    assert pbn.read(tmp_path / "a.pbn", strict=True)[0].names[0] == "Šimic – “S”"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_utf_16(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.pbn").write_bytes(f'[North "Müller"]\n{HEAD}'.encode(encoding))
    (board,) = pbn.read(tmp_path / "a.pbn", strict=True)
    assert board.names[0] == "Müller" and board.complete
    (tmp_path / "a.pbn").write_bytes(b"\xff\xfe[\x00\x00\x00")
    with pytest.raises(ValueError, match=r"a\.pbn: byte \d is 0, expected a text file"):
        pbn.read(tmp_path / "a.pbn")


def test_the_second_room_without_a_deal_is_the_first_ones() -> None:
    first = f'{HEAD}[Room "Open"]\n[Contract "1NT"]\n[Declarer "S"]\n[Result "7"]\n'
    second = '[Room "Closed"]\n[Contract "2NT"]\n[Declarer "S"]\n[Result "7"]\n'
    boards = pbn.loads(f"{first}\n{second}", strict=True)
    assert boards[1].hands == boards[0].hands and (boards[1].number, boards[1].dealer) == (1, 0)
    for other in (second.replace("Closed", "Open"), f'[Board "2"]\n{second}', f"{second}\n{second}"):
        faults: list[Fault] = []
        last = pbn.loads(f"{first}\n{other}", faults=faults)[-1]  # of another board, or of nobody knows which
        assert last.hands is None if "Board" in other else "a game without Board and Deal" in str(faults)


def test_a_missing_empty_line_between_games() -> None:
    other = HEAD.replace('"1"', '"2"')
    for text in (HEAD + other, f'{HEAD}[Event "x"]\n{other}', f'[Event "y"]\n{HEAD}[Event "x"]\n{other}'):
        boards = pbn.loads(text, faults=[])
        assert [board.number for board in boards] == [1, 2] and boards[1].tags.get("Event", "x") == "x"
        with pytest.raises(ValueError, match="Board: a second one, expected an empty line"):
            pbn.loads(text, strict=True)
    assert len(pbn.loads(f'[Deal "{DEAL}"]\n' * 3, faults=[])) == 3


def test_games_without_empty_lines_that_begin_with_other_tags() -> None:
    """What stands right before a number or a deal, and the game before has already, is of the next game."""
    notes, deal = '[Note "1:a"]\n[Note "2:b"]\n', f'[Deal "{DEAL}"]\n'
    said = [("S", "All", 'North "a"'), ("W", "EW", 'North "b"'), ("N", "NS", 'North "c"')]
    for numbers in (True, False):
        text = ""
        for number, (dealer, vulnerable, name) in enumerate(said, 1):
            board = f'[Board "{number}"]\n' * numbers
            text += f'[{name}]\n[Dealer "{dealer}"]\n[Vulnerable "{vulnerable}"]\n{board}{deal}{notes}'
        boards, faults = read(text)
        assert not faults and [board.number for board in boards] == ([1, 2, 3] if numbers else [None] * 3)
        assert [(b.dealer, b.vulnerable, b.names[0]) for b in boards] == [(2, 3, "a"), (3, 2, "b"), (0, 1, "c")]
    (board,), (fault,) = read(f'{HEAD}[Dealer "S"]\n')
    assert board.dealer == 0 and "Dealer: 'S', expected 'N' again" in fault


def test_who_calls_first_is_the_dealer() -> None:
    text = f'[Board "1"]\n[Deal "{DEAL}"]\n[Auction "{{}}"]\n{{}}\n'
    assert good(text.format("S", "1NT AP")).dealer == good(text.format("E", "- 1NT AP")).dealer == 2
    assert good(text.format("S", "")).dealer == 0  # the number's
    (board,), (fault,) = read(text.format("Q", "1NT AP"))  # named once
    assert board.dealer == 0 and "Auction: not a seat: 'Q'" in fault


# ---- LIN without names on every board ----------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"ah|Board 1|sv|o|{MD}{BID}mc|7|", f"ah|Board 2|sv|n|{MD}{BID}mc|7|"),
        (f"ah|Board 1|sv|o|{MD}", f"ah|Board 2|sv|n|{MD}"),
        (f"sv|o|ah|Board 1|{MD}{BID}", f"sv|n|ah|Board 2|{MD}"),
        (f"{MD}ah|Board 1|sv|o|", f"{MD}ah|Board 2|sv|n|"),
        (f"st||{MD}rh||ah|Board 1|sv|o|{BID}pg||", f"st||{MD}rh||ah|Board 2|sv|n|{BID}pg||"),
        (f"pn|s,w,n,e|{MD}{BID}ah|Board 1|sv|o|", f"pn|s,w,n,e|{MD}{BID}ah|Board 2|sv|n|"),
    ],
)
def test_headings_before_a_deal_are_its_own(first: str, second: str) -> None:
    boards, faults = read(first + second, lin)
    assert not faults and [(board.number, board.vulnerable) for board in boards] == [(1, 0), (2, 1)]
    assert boards == [good(first, lin), replace(good(second, lin), names=boards[1].names)]


def test_a_second_heading_of_a_board_is_named() -> None:
    (board,), (fault,) = read(f"{MD}ah|Board 1|sv|o|sv|n|", lin)
    assert board.vulnerable == 0 and "sv: 'n', expected 'o' again" in fault


@pytest.mark.parametrize("blank", ["?", "-", "_"])
def test_a_call_of_lin_that_is_not_made(blank: str) -> None:
    assert words(good(f"{MD}sv|o|mb|1C|mb|p|mb|{blank}|", lin)) == "1C P"
    (board,), (fault,) = read(f"{MD}sv|o|mb|1C|mb|{blank}|mb|p|", lin)
    assert not board.auction and "'p' after a call that is not made" in fault


# ---- LIN as it is meant ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "number"),
    [("Board%209", 9), ("Board 9", 9), ("board9", 9), ("9", 9), ("Segment 2 Board 5", 5), ("Board 4 of 32", 4),
     ("Board", None), ("", None), ("1-5", None), ("Board 0", None)],
)  # fmt: skip
def test_numbers_of_boards(value: str, number: int | None) -> None:
    board = good(f"{MD}ah|{value}|{BID}", lin)
    assert (board.number, board.vulnerable) == (number, None if number is None else {9: 2, 5: 1, 4: 3}[number])


PLAIN = f"pn|Jo Doe,West,North,East|{MD}sv|o|ah|Board 9|mb|1N!|an|15-17, 50%|mb|p|mb|p|mb|p|pc|C4|mc|7|"


@pytest.mark.parametrize(
    "text",
    [
        quote(PLAIN),
        quote(PLAIN, safe="|"),
        f"https://example.org/viewer.html?lin={quote(PLAIN)}",
        f"https://example.org/viewer.html?bbo=y&lin={quote(PLAIN)}&x=1",
        f"http://example.org/?LIN={quote(PLAIN, safe='|')}",
        f"lin={quote(PLAIN)}",
    ],
)
def test_addresses_and_percent_encoded_lin(text: str) -> None:
    assert good(text, lin) == lin.loads(PLAIN, strict=True)[0]
    assert len(lin.loads(f"{text}\n{text}\n", strict=True)) == 2
    assert lin.loads(PLAIN)[0].auction[0].note == "15-17, 50%"
    with pytest.raises(ValueError, match=r"f:2: .*expected the address of a hand viewer with lin="):
        lin.loads(f"{text}\nhttps://example.org/viewer.html?x=sakq\n", "f", strict=True)


@pytest.mark.parametrize(
    ("entries", "calls"),
    [
        ("mb|1Nppp|", "1NT P P P"),
        ("mb|1CdRp2d!ppp|", "1C X XX P 2D! P P P"),
        ("mb|pp1NTpp|mb|p|", "P P 1NT P P P"),
        ("mb|1S|mb|ap|", "1S P P P"),
        ("mb|1N|mb|p|mb|p|mb|p|mb|p|mb||", "1NT P P P"),
        ("mb|1N|an|15-17 |mb|ppp|", "1NT! P P P"),
    ],
)
def test_compact_auctions(entries: str, calls: str) -> None:
    board = good(f"{MD}sv|-|{entries}", lin)
    assert words(board) == calls and board.vulnerable == 0


def test_names_and_notes_of_lin_are_written_to_pbn() -> None:
    board = good(f"pn|-,?,#,##x|{MD}mb|1N!|an| a \n b |mb|ppp|", lin)
    assert board.names == ("#", "##x", "", "") and board.auction[0].note == "a   b"
    with pytest.raises(ValueError, match="North: '-' means 'unknown' in LIN"):
        lin.dumps([replace(board, names=("-", "", "", ""))])


@pytest.mark.parametrize(
    ("deal", "shown"),
    [("3SQT84H62DJ86CK975,,,", "S"), ("3SQT84H62DJ86CK975", "S"), ("1,,,", ""), ("1,,SA5HAQ9754DK9542C,", "N")],
)
def test_hands_that_are_left_out(deal: str, shown: str) -> None:
    board = good(f"md|{deal}|{BID}", lin)
    assert "".join(seat for seat, hand in zip("NESW", board.hands or ()) if hand) == shown


TEAM = f"""vg|Final,1,I,3,4,A,0,B,0|
rs|1NN=,1NN+1,P,4HSx-2|
pn|S1,W1,N1,E1,S2,W2,N2,E2|pg||
qx|o3|st||{MD}sv|o|{BID}pg||
qx|c3|st||{MD}sv|o|{BID}pg||
qx|o4|st||{MD}sv|o|mb|pppp|pg||
qx|c4|st||{MD}sv|o|pg||
"""


def test_results_of_a_team_match_that_stand_in_rs() -> None:
    boards = lin.loads(TEAM, strict=True)
    found = [(b.number, b.tags["Room"], b.names[0], b.contract, b.declarer, b.result) for b in boards]
    assert found == [
        (3, "Open", "N1", "1NT", 0, 7),
        (3, "Closed", "N2", "1NT", 0, 8),
        (4, "Open", "N1", "Pass", None, None),
        (4, "Closed", "N2", "4HX", 2, 8),
    ]
    assert lin.loads(TEAM.partition("\n")[2], strict=True) == boards  # without vg: from the first board on
    assert lin.loads(TEAM.replace("1NN+1", ""), strict=True)[1].result is None  # a room not played
    assert [b.contract for b in lin.loads(TEAM.replace(",P,4HSx-2", ""), strict=True)] == ["1NT", "1NT", "Pass", None]
    for wrong, reason in (
        ("2NN=", "rs: 2NT, expected 1NT by the auction"),
        ("1NS=", "rs: S, expected N by the auction"),
        ("1NN+9", "rs: '1NN+9', expected a result such as 4HSx-1 or P"),
        ("nonsense", "rs: 'nonsense', expected a result"),
    ):
        found, faults = read(TEAM.replace("1NN=", wrong), lin)
        assert len(found) == 4 and found[0].result is None and reason in faults[0] and len(faults) == 1


def test_imps_where_both_rooms_are_there(tmp_path: Path) -> None:
    (tmp_path / "m.lin").write_text(TEAM)
    told = CliRunner().invoke(app, ["replay", str(tmp_path / "m.lin")])
    assert told.exit_code == 0 and "N1/S1" in told.output and "4 replayed" in told.output
    row = next(line for line in told.output.splitlines() if "N1/S1" in line)
    assert row.split()[-3:] == ["2", "6", "3.000"]  # 90 to 120 and 0 to -300: -1 and +7


# ---- what is wrong costs no more than itself ---------------------------------------------

PLAY = (
    '[Declarer "S"]\n[Contract "4H"]\n[Result "9"]\n[Auction "N"]\n1C Pass 1H Pass\n4H AP\n[Play "W"]\nHJ HA HK H6\n*\n'
)
WRONG = {  # what takes the place of what, what is lost, and a word of the reason
    "dealer": ('[Dealer "N"]', '[Dealer "Q"]', "dealer", "Dealer: not a seat"),
    "vulnerable": ('"None"', '"some"', "vulnerability", "not a vulnerability"),
    "number": ('"1"]\n[D', '"9999999999"]\n[D', "number", "expected a number from 1 to"),
    "call": ("4H AP", "1C AP", "auction", "1C is not legal after 1C P 1H P"),
    "irregularity": ("4H AP", "^I 4H AP", "auction", "the irregularity ^I is not supported"),
    "skipped": ("4H AP", "- 4H AP", "auction", "'-' within the auction"),
    "first": ('[Auction "N"]', '[Auction "S"]', "auction", "begins with S, expected the dealer, N"),
    "declarer": ('"S"]\n[C', '"E"]\n[C', "auction, contract, play and result", "Declarer: E, expected S"),
    "no contract": ('"4H"', '"4"', "contract", "is not a contract"),
    "card": ("HJ HA", "HJ S5", "play", "5S cannot be played by N"),
    "revoke": ("HJ HA", "HJ ^R HA", "play", "the irregularity ^R is not supported"),
    "leader": ('[Play "W"]', '[Play "E"]', "play", "begins with E, expected the leader, W"),
    "gap": ("HK H6", "- H6", "play", "a card after one that is not shown"),
    "no lead": ("HJ HA", "- HA", "play", "a card after one that is not shown"),
    "result": ('[Result "9"]', '[Result "0"]', "result", "0 tricks, expected 1 ... 13 by the cards played"),
    "note": ("1C Pass", "=1= 1C Pass", "auction", "note =1= before any call"),
    "long note": ("1C Pass", "1C =1= Pass", "note", "a note of 5000 characters"),
    "malformed note": ('"1:', '"one:', "note", "expected a number, a colon and the text"),
    "table": ("N NT 5", "N NT 15", "double-dummy table", "'15' tricks, expected 0 ... 13"),
    "digits": ("N NT 5", "N NT 6", "double-dummy table", "takes 5, expected 6 by the OptimumResultTable"),
    "unknown tag": ('[Dealer "N"]', '[Round "#"]', "Round", "expected that tag in the game before"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_and_the_rest_stays(name: str) -> None:
    table = '[OptimumResultTable ""]\nN NT 5\n[DoubleDummyTricks "5*******************"]\n'
    note = f'[Note "1:{"x" * 5000 if name == "long note" else "x"}"]\n[Play'
    sound = f"{HEAD}{PLAY.replace('[Play', note)}{table}"
    old, new, lost, reason = WRONG[name]
    assert old in sound
    text = f"{sound}\n{sound.replace(old, new, 1)}\n{sound}"
    boards, faults = read(text)
    whole = boards[0]
    assert len(boards) == 3 and boards[2] == whole and whole.result == 9 and len(whole.play) == 4
    assert len(faults) == 1 and reason in faults[0] and f"left out: {lost}" in faults[0]
    if name != "number":
        assert faults[0].endswith("of board 1")
    fields = {
        "auction": {"auction": ()},
        "auction, contract, play and result": {
            "auction": (), "contract": None, "declarer": None, "play": (), "claimed": False, "result": None,
        },
        "play": {"play": (), "claimed": False},
        "result": {"result": None},
        "double-dummy table": {"tricks": None},
        "vulnerability": {"vulnerable": None},
        "number": {"number": None},
        "note": {"auction": tuple(replace(c, alert=c.alert and lost == "note") for c in boards[1].auction)},
        "contract": {}, "dealer": {}, "Round": {},
    }  # fmt: skip
    assert boards[1] == replace(whole, **fields[lost])
    with pytest.raises(ValueError) as caught:
        pbn.loads(text, "f", strict=True)
    assert reason in str(caught.value) and str(caught.value) == faults[0].partition("; left out")[0]
    with pytest.warns(UserWarning, match=r"^f: 3 boards, 0 left out, 1 part of others left out:\n  f:"):
        pbn.loads(text, "f")


@pytest.mark.parametrize(
    ("deal", "reason"),
    [
        (DEAL.replace("A5.", "A."), "N holds 12 cards, expected 13"),
        (DEAL.replace("A5.", "AQ."), "QS is held by N and by S"),
        ("N:A5.AQ9754.K954. 963.KT8.Q7.AQ43 QT84.62.J86.K97 KJ72.J3.AT3.JT8", "an end position of 12 cards a"),
        ("N:A5... 963... QT84... KJ72...", "N holds 2 cards"),
        (f"N:{NORTH} {EAST}", "expected a seat, a colon and four hands"),
        ("#", "expected that tag in the game before"),
    ],
)  # fmt: skip
def test_a_board_of_wrong_cards_is_left_out_alone(deal: str, reason: str) -> None:
    text = f'[Board "6"]\n[Deal "{deal}"]\n[Contract "H"]\n\n{HEAD}'
    boards, faults = read(text)
    assert [board.number for board in boards] == [1] and len(faults) == 1
    assert faults[0].startswith("f:2: Deal: ") and reason in faults[0] and faults[0].endswith("left out: board")
    two = f'[Board "6"]\n[Deal "{DEAL}"]\n[Deal "{DEAL}"]\n\n{HEAD}'
    boards, faults = read(two)
    assert len(boards) == 1 and faults == [
        "f:3: Deal: a second one, expected an empty line between games; left out: board"
    ]


COMMENTS = [
    ("{Feasability: 5 5 2 5\n", 1),
    ("{one\nof several lines\n", 1),
    ("{one\n\n", 1),
    ("{ {nested} and not closed\n", 0),  # closed by the first brace, as the standard has it
    ("{ a {b} c }\n", 0),
    ("{ {} {  open\n\n{ {{{ }\n", 0),
    ('{ commented out\n[North "x"]\n}\n', 0),
    ("a } b\n", 1),
]


@pytest.mark.parametrize(("comment", "count"), COMMENTS)
def test_comments_that_are_not_closed_swallow_nothing(comment: str, count: int) -> None:
    after = '[North "Ann"]\n[Contract "1NT"]\n[Declarer "N"]\n[Result "7"]\n{fine}\n[Auction "N"]\n1NT AP\n'
    text = f"{HEAD}{comment}{after}"
    boards, faults = read(text)
    assert len(faults) == count and boards[-1].names[0] == "Ann" and boards[-1].result == 7
    assert all("never closed" in fault or "closes nothing" in fault for fault in faults)
    boards, faults = read(f'{HEAD}[Auction "N"]\n1C {{never closed\nAP\n[Play "W"]\n')
    assert boards[0].auction == () and len(faults) == 2  # what it swallowed may have been calls


@pytest.mark.parametrize(
    ("old", "new"),
    [('"N"]', '"N]'), ('"N"]', '"N"'), ('[Dealer "N"]', "[Dealer N]"), ('[Dealer "N"]', "]")],
)
def test_a_broken_tag_costs_a_tag(old: str, new: str) -> None:
    boards, faults = read(f"{HEAD.replace(old, new)}\n{HEAD}")
    assert len(boards) == 2 and len(faults) == 1 and boards[0] == boards[1] and boards[0].complete


LIN_WRONG = [
    ("md|3", "md|7", "dealer", "md: dealer '7'", 3),
    ("sv|o", "sv|x", "vulnerability", "sv: 'x'", 3),
    ("mb|1N", "mb|1Q", "auction, contract, play and result", "mb: not a call: '1Q'", 3),
    ("mb|p|mb|p|mb|p", "mb|p|mb|1C", "auction, contract, play and result", "mb: 1C is not legal", 3),
    ("pc|C4", "pc|C3|pc|C2", "play", "pc: 2C cannot be played by S", 3),
    ("mc|7", "mc|14", "result", "mc: '14', expected 0 ... 13 tricks", 3),
    ("mb|1N!|", "an|x|mb|1N!|", "note", "an: 'x' before any call", 3),
    ("ah|Board 9", "ah|Board 9999999999", "number", "ah: 'Board 9999999999'", 3),
    ("SQT84", "SQT8", "board", "md: S holds 12 cards", 2),
    ("mb|1N", "mb1N", "the entries from there to the next board", "is not a key", 3),
    ("mc|7|", "mc|7", "the last entry", "at the end, expected key|value|", 3),
]


@pytest.mark.parametrize(("old", "new", "lost", "reason", "count"), LIN_WRONG)
def test_what_is_wrong_in_lin_costs_no_other_board(old: str, new: str, lost: str, reason: str, count: int) -> None:
    assert old in PLAIN
    boards, faults = read(f"{PLAIN}\n{PLAIN.replace(old, new)}\n{PLAIN}\n", lin)
    assert len(boards) == count and boards[0] == boards[-1] == lin.loads(PLAIN)[0]
    assert faults[0].startswith("f:2: ") and reason in faults[0] and f"left out: {lost}" in faults[0]
    if "auction" in lost:
        assert boards[1].auction == () and boards[1].contract is None and boards[1].result is None
    if lost == "play":
        assert boards[1].play == () and boards[1].contract == "1NT" and boards[1].result == 7
    with pytest.raises(ValueError) as caught:
        lin.loads(PLAIN.replace(old, new), strict=True)
    assert reason in str(caught.value)


# ---- commands ----------------------------------------------------------------------------


def command(*words: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == status, (done.output, done.exception)
    return done.output


def test_import_says_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "club.pbn"
    path.write_text(
        f'{HEAD}{PLAY.replace("4H AP", "1C AP")}\n[Board "2"]\n[Deal "{DEAL[:-1]}"]\n\n{HEAD.replace("1", "3", 1)}'
    )
    told = command("deals", "import", path, "--out", tmp_path / "o.pbn", "--json", tmp_path / "o.json", status=3)
    assert "club.pbn: 2 boards, 1 left out, 1 part of others left out:" in told
    assert "club.pbn:10: Auction: 1C is not legal" in told and "club.pbn:16: Deal: W holds 12 cards" in told
    document = json.loads((tmp_path / "o.json").read_text())
    assert document["boards"] == 2 and document["left_out"][0]["line"] == 16
    assert document["parts_left_out"][0] | {"source": ""} == {
        "source": "", "line": 10, "board": "1", "lost": "auction",
        "reason": "Auction: 1C is not legal after 1C P 1H P, expected P, a bid from 1S",
    }  # fmt: skip
    assert pbn.read(tmp_path / "o.pbn", strict=True) == pbn.read(path, faults=[])
    refused = CliRunner().invoke(app, ["deals", "import", str(path), "--out", str(tmp_path / "p.pbn"), "--strict"])
    assert "club.pbn:10: Auction" in str(refused.exception) and not (tmp_path / "p.pbn").exists()
    path.write_text(HEAD)
    assert "club.pbn: 1 board, 0 left out" in command("deals", "import", path, "--out", tmp_path / "q.npz")


@pytest.mark.parametrize("path", [path for path in CASES if path.suffix in FORMATS], ids=lambda path: path.name)
def test_field_cases_there_and_back(path: Path, tmp_path: Path) -> None:
    """From any case to .pbn and back: the same boards; what is not read at all is named."""
    faults: list[Fault] = []
    boards = read_boards(path, faults=faults)
    told = CliRunner().invoke(app, ["deals", "import", str(path), "--out", str(tmp_path / "x.pbn"), "--check", "0"])
    if not boards:
        assert faults and str(faults[0]) in str(told.exception)
        return
    assert told.exit_code == (3 if faults else 0)
    back = pbn.read(tmp_path / "x.pbn", strict=True)
    if "table-with-1" in path.name:
        assert [board.tricks for board in back] == [
            tuple(t) for t in double_dummy.dd_tricks(np.array([b.hands for b in boards])).tolist()
        ]
    assert [replace(board, tricks=None) for board in back] == [replace(board, tricks=None) for board in boards]


RIGHT = {  # the fields that ``field-cases/README.md`` gives; those not named are not looked at
    "60-double-spaced.pbn": {
        "number": 1,
        "dealer": 0,
        "vulnerable": 0,
        "auction": "1NT P P P",
        "contract": "1NT",
        "declarer": 0,
        "play": 4,
    },
    "67-auction-with-blank-to-fill.pbn": {"number": 1, "auction": "1NT P 2C P", "contract": None},
    "68-table-in-ability.pbn": {"tricks": (9, 5, 6, 4, 7, 4, 8, 7, 9, 4, 9, 5, 6, 4, 7, 4, 8, 7, 8, 4)},
    "80-mc-minus-1.lin": {"contract": "1NT", "declarer": 0, "result": None},
    "81-handviewer-by-hands.lin": {"number": 5, "dealer": 0, "vulnerable": 1, "auction": "1NT P P P"},
    "83-handviewer-in-markdown.lin": {"number": 9, "dealer": 0, "vulnerable": 2, "auction": "1C! P P P"},
}
RIGHT |= dict.fromkeys(
    ("62-empty-line-before-deal.pbn", "63-empty-line-after-auction-tag.pbn", "65-tag-names-in-lower-case.pbn"),
    RIGHT["60-double-spaced.pbn"],
)
RIGHT["84-only-bars-encoded.lin"] = RIGHT["83-handviewer-in-markdown.lin"]


@pytest.mark.parametrize("path", [path for path in CASES if path.name in RIGHT], ids=lambda path: path.name)
def test_field_cases_have_the_right_value(path: Path) -> None:
    (board,) = read_boards(path, strict=True)
    found = {name: getattr(board, name) for name in RIGHT[path.name]}
    found |= {"auction": words(board)} if "auction" in found else {}
    found |= {"play": len(board.play)} if "play" in found else {}
    assert found == RIGHT[path.name] and board.complete


# ---- the kinds of which the cases are ----------------------------------------------------


def lines_apart(text: str, after: int | None = None) -> str:
    """``text`` with an empty line after each line, or after that one."""
    lines = text.splitlines(keepends=True)
    return "".join(line + "\n" * (after in (None, place)) for place, line in enumerate(lines))


SPACED = HEAD + PLAY.replace("[Play", '[Note "1:strong"]\n[Play').replace("1C Pass", "1C =1= Pass").replace("4S", "4H")


def test_empty_lines_within_a_board_are_read_over() -> None:
    other = SPACED.replace('[Board "1"]', '[Event "x"]\n[Board "2"]')
    for text in (SPACED, other):
        assert good(text).result == 9 and len(good(text).play) == 4
        for after in (None, *range(text.count("\n"))):
            assert good(lines_apart(text, after)) == good(text)
    for form in (str, lines_apart):
        for end in ("\n", "\r\n", "\r\r\n", "\r"):
            text = f"\ufeff{form(SPACED)}\n\ufeff{form(other)}".replace("\n", end)
            assert pbn.loads(text, strict=True) == [good(SPACED), good(other)]
    boards = pbn.loads(f'{HEAD}\n{HEAD}[Auction "N"]\n1C\n\nMinimum: 33.6\n\n[Play "N"]\n', strict=True)
    assert [words(board) for board in boards] == ["", "1C"]  # a line of text is no word of a section


def test_a_fragment_is_no_board() -> None:
    heading = '[Event "Club"]\n[Site "Town"]\n'
    assert pbn.loads(f"{heading}\n{heading}\n{HEAD}", strict=True)[0].tags == {"Event": "Club", "Site": "Town"}
    boards, (fault,) = read(f'{HEAD}[Dealer "N"]\n\n[Dealer "E"]\n[Contract "4H"]\n')
    assert len(boards) == 1 and "f:7: Dealer: a game without Board and Deal" in fault and "left out: board" in fault


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html>\n<html><title>404 Not Found</title></html>\n",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 123\n",
        "n AQ.K.. e .. s .. w ..\n",
        "AKQJ.T98.765.432 2.3.4.5 6.7.8.9 T.J.Q.K\n",
        '{"board": 1}',
        "Board,Dealer,Vul\n1,N,None\n",
        "% a comment\n\nand a text of\n\ntwo paragraphs\n",
    ],
)
def test_what_is_no_file_of_boards_is_named(text: str, tmp_path: Path) -> None:
    for form, ending in ((pbn, "pbn"), (lin, "lin")):
        boards, faults = read(text, form)
        assert not boards and len(faults) >= 1 and faults[0].startswith("f:")
        with pytest.raises(ValueError, match=r"^f:"):
            form.loads(text, "f", strict=True)
        (tmp_path / f"page.{ending}").write_text(text)
    (tmp_path / "good.pbn").write_text(f'{HEAD}[Auction "N"]\nAP\n')
    (tmp_path / "empty.pbn").write_text("")
    told = command("deals", "auctions", tmp_path, "--out", tmp_path / "a.npz", status=3)
    assert "page.pbn:" in told and "page.lin:" in told and "not read: " in told and "empty.pbn: no boards" in told
    assert pbn.loads(pbn.dumps([]), strict=True) == [] == lin.loads(lin.dumps([]), strict=True)


@pytest.mark.parametrize("ending", [".dlm", ".dup", ".pbn.bak", ""])
def test_another_format_is_told_which_are_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    path.write_text("[Document]\n")
    for line in (
        ["info", path],
        ["import", path, "--out", tmp_path / "b.npz"],
        ["auctions", path, "--out", tmp_path / "c.npz"],
    ):
        done = CliRunner().invoke(app, ["deals", *map(str, line)])
        assert "these formats are read: .pbn, .lin" in str(done.exception), done.output
    done = CliRunner().invoke(app, ["deals", "auctions", str(tmp_path), "--out", str(tmp_path / "c.npz")])
    assert "no files of boards; these formats are read: .pbn, .lin" in str(done.exception)


@pytest.mark.parametrize(
    ("name", "near"), [("Dealer", "Dealr"), ("Vulnerable", "Vulnerabel"), ("Board", "Boards"), ("Deal", "Dael")]
)
def test_names_of_tags(name: str, near: str) -> None:
    for spelt in (name.lower(), name.upper(), name.swapcase()):
        assert good(HEAD.replace(f"[{name} ", f"[{spelt} ")) == good(HEAD)
    boards, faults = read(HEAD.replace(f"[{name} ", f"[{near} "))
    assert len(boards) == 1 and len(faults) == 1 and f"{near}: no tag of a board, expected {name}" in faults[0]
    assert good(f'{HEAD}[{near} "x"]\n').tags == {near: "x"}  # it says something else
    for extra in ("board", "EVENT"):
        with pytest.raises(ValueError, match=f"tag '{extra}', expected"):
            pbn.dumps([replace(good(HEAD), tags={extra: "x"})])


@pytest.mark.parametrize("blank", ["-", "____", "?", "...", "- - -", "____ +", "_ ?"])
def test_an_auction_that_ends_in_a_blank(blank: str) -> None:
    assert words(good(f'{HEAD}[Auction "N"]\n1NT Pass 2C Pass\n{blank}\n')) == "1NT P 2C P"
    boards, (fault,) = read(
        f'{HEAD}[Auction "N"]\n1NT {blank if blank.strip("?_ ") else "____"} 2C Pass\n'.replace("+ ", "")
    )
    assert boards[0].auction == () and "left out: auction of board 1" in fault


def test_tables_in_ability() -> None:
    table = good(f'{HEAD}[Ability "N:74659 E:49784 S:74659 W:48784"]\n').tricks
    assert table is not None and table[:10] == (9, 5, 6, 4, 7, 4, 8, 7, 9, 4)
    assert good(f'{HEAD}[Ability "NS:74659 EW:d-0a*"]\n').tricks == (9, 5, 6, 4, 7, -1, 10, 0, -1, 13) * 2
    assert good(f'{HEAD}[Ability "?"]\n').tricks is None
    for text, reason in (
        ("N:7465", "expected such as N:74659"),
        ("N:7465E", "expected such as"),
        ("N:74659 NS:74659", "expected such as"),
        ("good", "expected such as"),
        ('N:74659"]\n[DoubleDummyTricks "54******************', "N in NT takes 7, expected 5 by another table"),
    ):
        boards, (fault,) = read(f'{HEAD}[Ability "{text}"]\n')
        assert boards[0].tricks is None and reason in fault and "left out: double-dummy table" in fault


def test_small_cards_without_a_rank_are_named() -> None:
    boards, (fault,) = read('[Board "1"]\n[Deal "N:xx.QJTxx.Txxx.xx - - -"]\n')
    assert not boards and "x for a small card is not supported" in fault


def test_a_garbled_auction_takes_nothing_that_agrees() -> None:
    """Contract, declarer and lead outvote an auction; two of them that contradict each other do not."""
    sound = good(f"{HEAD}{PLAY}")
    for calls in ("1C Pass 1H Pass\n2H AP", "1C 1H Pass 4H\nAP", "AP"):
        boards, (fault,) = read(f"{HEAD}{PLAY}".replace("1C Pass 1H Pass\n4H AP", calls))
        assert boards == [replace(sound, auction=())], calls
        assert "expected 4H by S as contract, declarer and lead say; left out: auction of board 1" in fault
    for old, new in (('[Play "W"]', '[Play "N"]'), ('[Play "W"]\nHJ HA HK H6\n*\n', "")):
        boards, (fault,) = read(f"{HEAD}{PLAY}".replace("4H AP", "2H AP").replace(old, new))
        assert boards[0].contract is None and "left out: auction, contract, play and result" in fault


# ---- LIN: no result, bars too many, addresses, other texts around it ---------------------

ADDRESS = "https://www.example.org/tools/handviewer.html"
BY_HANDS = "n=s7hk8543da8732ct5&e=sk963hq92dkq64c93&s=sjt85ha76dt5cak62&w=saq42hjtdj9cqj874"


@pytest.mark.parametrize("entry", ["mc|-1|", "mc||", "|", "||", "||||", "|||", "\n||\n", "mc|-1|zz|0.00%|"])
def test_entries_that_say_nothing_lose_nothing(entry: str) -> None:
    plain = good(f"{MD}sv|o|{BID}", lin)
    assert good(f"{MD}sv|o|{BID}{entry}", lin) == plain
    if "mc" not in entry:
        assert good(f"{MD}sv|o|{entry}{BID}", lin) == plain


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        ("d=n&v=n&b=5&a=1nppp", "1NT P P P"),
        ("b=5&a=1NPPP", "1NT P P P"),
        ("a=1n!(15-17)ppp&b=5", "1NT! P P P"),
        ("b=5&a=1n(15-17%20bal)d(points)rppp", "1NT! X! XX P P P"),
        ("b=5&a=1npp-", "1NT P P"),
        ("b=5", ""),
        ("D=N&V=N&B=5&nn=Ann,%20B&sn=Cy", ""),
        ("b=5&a=1nppp&p=s6sjsas7sq&c=7", "1NT P P P"),
    ],
)
def test_an_address_that_says_a_board_by_its_parts(parts: str, calls: str) -> None:
    hands = BY_HANDS.replace("&s=", "&S=")
    board = good(f"{ADDRESS}?{parts}&{hands}", lin)
    assert (board.number, board.dealer, board.vulnerable, words(board)) == (5, 0, 1, calls) and board.complete
    if "nn=" in parts:
        assert board.names == ("Ann B", "", "Cy", "")
    if "p=" in parts:
        assert (len(board.play), board.claimed, board.result) == (5, True, 7)
    if "15-17" in parts:
        assert board.auction[0].note.startswith("15-17")


def test_an_address_without_dealer_and_number_has_none() -> None:
    board = good(f"{ADDRESS}?{BY_HANDS}", lin)
    assert (board.number, board.dealer, board.vulnerable) == (None, None, None)
    for wrong in ("", "?x=1", "?myhand=M-1", "?n=&e=", "?lin="):
        with pytest.raises(ValueError, match=r"f:1: .*expected the address of a hand viewer with lin= or n= e= s= w="):
            lin.loads(ADDRESS + wrong, "f", strict=True)


@pytest.mark.parametrize(
    "around",
    [
        "[Board 9]({})",
        "[Board 9]({}) (well played)",
        "# Boards\n\n* [Board 9]({}), well played\n",
        "See {}.\n",
        '<html><body>\n<p>Board 9</p>\n<a href="{}">Board 9</a>\n</body></html>\n',
        "<iframe src='{}'></iframe>",
        "| Board | |\n|---|---|\n| 9 | [view]({}) |\n",
        '{{"url": "{}"}}',
    ],
)
def test_lin_within_other_texts(around: str) -> None:
    board = good(PLAIN, lin)
    addresses = [f"{ADDRESS}?bbo=y&lin={quote(PLAIN)}", f"{ADDRESS}?bbo=y&amp;lin={quote(PLAIN)}&amp;x=1"]
    for address in addresses:
        assert good(around.format(address), lin) == board
        assert lin.loads(f"{around.format(address)}\n{around.format(address)}", strict=True) == [board] * 2
    if "](" not in around and "See" not in around:
        assert good(around.format(PLAIN), lin) == board


def test_an_address_with_parentheses_in_a_link() -> None:
    text = PLAIN.replace("15-17, 50%", "15-17 (balanced)")
    for around in ("[Board 9]({})", "[Board 9]({}), and [another]({}) (late)"):
        boards = lin.loads(around.replace("{}", f"{ADDRESS}?lin={text}"), strict=True)
        assert boards == [good(text, lin)] * around.count("{}")


def test_lin_as_text_with_a_mark_or_with_bars_encoded() -> None:
    board = good(PLAIN, lin)
    for text in (
        quote(quote(PLAIN)),
        f"{ADDRESS}?lin={quote(quote(PLAIN))}",
        f"\ufeff{PLAIN}",
        PLAIN.replace("|", "%7C"),
        PLAIN.replace("|", "%7c"),
        f"\r\r\n{PLAIN}\r\r\n",
    ):
        assert good(text, lin) == board
    assert pbn.loads(f"\ufeff{HEAD}", strict=True) == pbn.loads(HEAD)


def test_lin_is_written_as_it_is_read_or_refused() -> None:
    board = lin.loads(TEAM.replace("4HSx-2", "4HSxx-2"))[3]
    assert (board.contract, board.result) == ("4HXX", 8)
    for wrong, name in (
        (board, "contract: '4HXX', expected None"),
        (replace(board, contract=None, declarer=None, result=None, vulnerable=None), "vulnerable: None, expected 3"),
        (replace(board, contract=None, result=None), "declarer: 2, expected None"),
    ):
        with pytest.raises(ValueError, match=f"board 4: {name}: LIN has no place for it"):
            lin.dumps([wrong])
    held = replace(board, contract=None, declarer=None)
    assert lin.loads(lin.dumps([held]), strict=True) == [replace(held, tags={})]


# ---- double-dummy tables -----------------------------------------------------------------

TABLES = packaged("test").tricks[:28]


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("1 for fewer than 7", lambda t: np.where(t < 7, 1, t), "every result below 7 is 1"),
        ("0 for fewer than 7", lambda t: np.where(t < 7, 0, t), "every result below 7 is 0"),
        ("never below 4", lambda t: np.maximum(t, 4), "no result is below 4"),
        ("never below 6", lambda t: np.maximum(t, 6), "no result is below 6, and N/S and E/W take 1"),
        ("never below 7", lambda t: np.maximum(t, 7), "no result is below 7"),
        ("as solved", lambda t: t, ""),
    ],
)
def test_clamped_tables_are_seen(name: str, change, reason: str) -> None:
    assert clamped(change(TABLES)).startswith(reason) and bool(clamped(change(TABLES))) == bool(reason)
    for split in ("train", "validation"):
        tricks = packaged(split).tricks
        assert not any(clamped(tricks[i : i + 20]) for i in range(0, 2000, 20))
    assert clamped(np.full((3, 20), UNKNOWN, np.int8)) == "" == clamped(np.empty((0, 20), np.int8))


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A solver that knows the packaged deals; how many it is asked for each time."""
    known = {tuple(hands): tricks for hands, tricks in zip(packaged("test").hands.tolist(), packaged("test").tricks)}
    asked: list[int] = []

    def tables(hands):
        asked.append(len(hands))
        return np.array([known[tuple(deal)] for deal in hands.tolist()], np.int8)

    monkeypatch.setattr(double_dummy, "dd_tricks", tables)
    return asked


def file_of(path: Path, tricks) -> Path:
    hands = packaged("test").hands.tolist()
    boards = [
        Board(number=i + 1, hands=tuple(h), tricks=tuple(t)) for i, (h, t) in enumerate(zip(hands, tricks.tolist()))
    ]
    pbn.write(path, boards)
    return path


def test_tables_that_the_solver_does_not_contradict_are_kept(tmp_path: Path, solved: list[int]) -> None:
    path = file_of(tmp_path / "a.pbn", TABLES)
    told = command("deals", "import", path, "--out", tmp_path / "a.npz", "--json", tmp_path / "a.json")
    assert "a.pbn: 10 of 28 double-dummy tables checked by solving (boards " in told and "): all agree" in told
    assert sum(solved) == 10 and (DealSet.load(tmp_path / "a.npz").tricks == TABLES).all()
    tables = json.loads((tmp_path / "a.json").read_text())["tables"]
    assert len(set(tables["checked"])) == 10 and tables["wrong"] == [] and tables["tagged"] == 28
    told = command("deals", "import", path, "--out", tmp_path / "b.npz", "--check", 0)
    assert "0 of 28 double-dummy tables checked" in told and sum(solved) == 10


def test_a_table_that_the_solver_contradicts_costs_the_files_belief(tmp_path: Path, solved: list[int]) -> None:
    wrong = TABLES.copy()
    cell = 4 if TABLES[3, 4] < 12 else 3
    wrong[3, cell] += 2  # two tricks more than partner: the least likely table is looked at first
    path = file_of(tmp_path / "a.pbn", wrong)
    told = command("deals", "import", path, "--out", tmp_path / "a.pbn.npz")
    assert (
        f"1 disagree: 4; board 4: N in {'NT' if cell == 4 else 'S'} takes {wrong[3, cell]}, solved {TABLES[3, cell]}"
        in told
    )
    assert "all 28 are solved anew" in told and sum(solved) == 38
    assert (DealSet.load(tmp_path / "a.pbn.npz").tricks == TABLES).all()
    words = ["deals", "import", str(path), "--out", str(tmp_path / "r.npz"), "--wrong-tables", "refuse"]
    refused = CliRunner().invoke(app, words)
    assert "a.pbn: double-dummy tables are not believed: 1 disagree: 4" in str(refused.exception)


def test_a_match_is_not_scored_on_a_table_that_the_solver_contradicts(tmp_path: Path, solved: list[int]) -> None:
    wrong = TABLES.copy()
    cell = 4 if TABLES[3, 4] < 12 else 3
    wrong[3, cell] += 2
    done = CliRunner().invoke(app, ["match", "pass", "pass", "--pbn", str(file_of(tmp_path / "a.pbn", wrong))])
    assert "a.pbn: double-dummy table of deal 3: N in " in str(done.exception) and "deals import" in str(done.exception)
    command("match", "pass", "pass", "--pbn", file_of(tmp_path / "b.pbn", TABLES))
    assert sum(solved) == 10


def test_clamped_tables_are_solved_anew_at_once(tmp_path: Path, solved: list[int]) -> None:
    path = file_of(tmp_path / "a.pbn", np.where(TABLES < 7, 1, TABLES))
    told = command("deals", "import", path, "--out", tmp_path / "a.npz")
    assert "not believed: every result below 7 is 1; all 28 are solved anew" in told and sum(solved) == 28
    assert (DealSet.load(tmp_path / "a.npz").tricks == TABLES).all()
    assert "which is no double-dummy result: every result below 7 is 1" in command("deals", "info", path)
    with pytest.warns(UserWarning, match=r"a\.pbn: double-dummy tables left out: every result below 7 is 1"):
        assert (Source.load(path).tricks == UNKNOWN).all()


def test_a_deal_with_two_tables_is_solved(tmp_path: Path, solved: list[int]) -> None:
    path = file_of(tmp_path / "a.pbn", TABLES[:2])
    boards = pbn.read(path)
    pbn.write(path, [*boards, replace(boards[0], tricks=tuple(reversed(boards[0].tricks or ())))])
    assert "expected" in command("deals", "import", path, "--out", tmp_path / "a.npz")
    assert (DealSet.load(tmp_path / "a.npz").tricks == TABLES[:2]).all()


def test_the_least_likely_tables_are_looked_at_first() -> None:
    odd = TABLES.copy()
    odd[20, 0] = (odd[20, 0] + 7) % 14
    assert 20 in most_suspect(odd, 1) and len(most_suspect(odd, 100)) == 28 and len(most_suspect(odd, 0)) == 0
    odd[:25] = UNKNOWN
    assert most_suspect(odd, 2).tolist()[-1] in (25, 26, 27) and len(most_suspect(odd, 10)) == 3


def test_long_solving_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, solved: list[int]) -> None:
    import time

    path, at_once = file_of(tmp_path / "a.pbn", TABLES[:1]), double_dummy.dd_tricks
    monkeypatch.setattr(showing, "SILENCE", 0.05)
    monkeypatch.setattr(double_dummy, "dd_tricks", lambda hands: (time.sleep(0.5), at_once(hands))[1])
    told = command("deals", "import", path, "--out", tmp_path / "a.npz")
    assert "solving 1 deal (most deals take 0.2 s, a symmetric one minutes): 0 of 1, 0 s" in told


# ---- auctions to learn from --------------------------------------------------------------


def test_auctions_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "club"
    (folder / "2026").mkdir(parents=True)
    note = PLAY.replace("1C Pass", "1C =1= Pass").replace("[Play", '[Note "1:strong"]\n[Play')
    texts = [HEAD + note, HEAD, HEAD + note, f"{HEAD}{PLAY.replace('4H AP', '1C AP')}", f'{HEAD}[Auction "N"]\n1C +\n']
    (folder / "a.pbn").write_text("\n".join(texts))
    (folder / "2026" / "b.LIN").write_text(f"{PLAIN}\n{PLAIN.replace('S963HKT8DQ7CAQ432', 'S')}\nmd|3,,,|{BID}\n")
    (folder / "c.pbn").write_bytes(b"[Board \0")
    (folder / "readme.txt").write_text("not of this kind")
    out = tmp_path / "club.npz"
    told = command("deals", "auctions", folder, "--out", out, "--json", tmp_path / "r.json", status=3)
    assert "2 auctions of 8 boards in 3 files" in told and "2 alerts to" in told
    assert "1 with an auction that does not end" in told and "2 without an auction" in told and "recorded twice" in told
    assert "not read: " in told and "c.pbn: byte 7 is 0" in told
    data = Auctions.load(out)
    assert sorted(np.diff(data.start).tolist()) == [4, 8] and set(data.dealer.tolist()) == {0}
    alerts = [json.loads(line) for line in out.with_suffix(".alerts.jsonl").read_text().splitlines()]
    assert {(a["turn"], a["seat"], a["call"], a["text"]) for a in alerts} == {
        (0, "N", "1C", "strong"), (0, "N", "1NT", "15-17, 50%"),
    }  # fmt: skip
    for alert in alerts:
        assert call_text(int(data.calls[data.start[alert["auction"]] + alert["turn"]])) == alert["call"]
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["auctions"] == 2 and sum(report["auctions_left_out"].values()) == 6
    (tmp_path / "none.pbn").write_text(HEAD)
    done = CliRunner().invoke(app, ["deals", "auctions", str(tmp_path / "none.pbn"), "--out", str(tmp_path / "n.npz")])
    assert "no auction to learn from, expected at least one; left out: 1 without an auction" in str(done.exception)


# ---- writers check what readers check ----------------------------------------------------

SOUND = pbn.loads(f"{HEAD}{PLAY}")[0]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"auction": (Call(1), *SOUND.auction[1:])}, "Auction: X is not legal after nothing"),
        ({"auction": (Call(38),)}, "Auction: call 38, expected 0 ... 37"),
        ({"auction": (*SOUND.auction[:-1], Call(3))}, "Auction: 1C is not legal"),
        ({"auction": (Call(3, True, "x" * 5000), *SOUND.auction[1:])}, "Auction: a note of 5000 characters"),
        ({"dealer": None}, "Auction: expected a dealer"),
        ({"dealer": 4}, "Dealer: 4, expected 0 ... 3"),
        ({"number": -5}, "Board: -5, expected 1 ... 999999999"),
        ({"vulnerable": 7}, "Vulnerable: 7, expected 0 ... 3"),
        ({"result": 99}, "Result: 99, expected 0 ... 13"),
        ({"result": 0}, "Result: 0 tricks, expected 1 ... 13 by the cards played"),
        ({"contract": "4S"}, "Contract: 4S, expected 4H by the auction"),
        ({"contract": "4h", "auction": (), "play": ()}, "Contract: '4h', expected such as 4SX"),
        ({"declarer": 1}, "Contract: E, expected S by the auction"),
        ({"play": (SOUND.play[0], SOUND.play[0])}, "Play: JH cannot be played by N"),
        ({"play": (60,)}, "Play: card 60, expected 0 ... 51"),
        ({"hands": (SOUND.hands[0],) * 4}, "is held by N and by E"),
        ({"tricks": (14,) * 20}, "double-dummy table: 14, expected -1 ... 13"),
        ({"tricks": (1,) * 19}, "double-dummy table: 19 numbers, expected 20"),
        ({"names": ("a",)}, "names: 1, expected those of N E S W"),
        ({"auction": (), "contract": "Pass", "play": ()}, "Contract: Pass, expected no declarer and no result"),
        ({"auction": (), "contract": None, "declarer": None}, "Play: cards are played, expected a contract"),
    ],
)
def test_what_no_reader_takes_no_writer_writes(changes, reason: str) -> None:
    for form in (pbn, lin):
        with pytest.raises(ValueError, match=r"^board [-\d]+: ") as caught:
            form.dumps([replace(SOUND, **changes)])
        assert reason in str(caught.value) or (form is lin and "no dealer" in str(caught.value))


def test_a_claim_after_the_last_card_is_refused() -> None:
    board = pbn.read(Path(__file__).parents[3] / "data" / "club.pbn")[0]
    assert len(board.play) == 52 and check_board(board).result == board.result
    with pytest.raises(ValueError, match="Play: claimed, expected fewer than 52 cards before"):
        pbn.dumps([replace(board, claimed=True)])


@pytest.mark.parametrize("tags", [{"Board": "7"}, {"Board": " x"}, {"Result": "nine"}, {"Deal": "x"}])
def test_tags_that_would_be_read_as_something_else(tags) -> None:
    with pytest.raises(ValueError, match=r"board [?1]: "):
        pbn.dumps(
            [
                replace(
                    SOUND,
                    number=None,
                    result=None,
                    contract=None,
                    declarer=None,
                    auction=(),
                    play=(),
                    claimed=False,
                    tags=tags,
                )
            ]
        )


def test_an_unknown_dealer_and_vulnerability_come_back() -> None:
    board = Board(number=1, hands=SOUND.hands)
    assert pbn.loads(pbn.dumps([board]), strict=True) == [board]
    assert good('[Board "2"]\n[Dealer ""]\n[Vulnerable ""]\n').dealer == 1


def test_a_record_of_the_table_manager_with_an_illegal_auction_is_refused(tmp_path: Path) -> None:
    calls, hands = [["1C"], ["P"], ["P"], ["P"]], list(map(hand_text, SOUND.hands))
    result = Result("open", 1, "N", "None", hands, ["a", "b"], calls, [], "1C", "N", 7, 70, True, [], 0.0)
    with Record(tmp_path / "r.jsonl", {"seed": 1}) as record:
        record.add(result)
    text = (tmp_path / "r.jsonl").read_text()
    for old, new, reason in (
        ('["1C"]', '["X"]', "Auction: X is not legal after nothing"),
        ('"contract": "1C"', '"contract": "1D"', "Contract: 1D, expected 1C by the auction"),
    ):
        assert old in text
        (tmp_path / "r.jsonl").write_text(text.replace(old, new))
        with pytest.raises(ValueError, match=rf"r\.jsonl:2: .*not a result .*{reason}"):
            Record(tmp_path / "r.jsonl", {"seed": 1})
