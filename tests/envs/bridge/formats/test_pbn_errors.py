"""Malformed PBN and LIN: the error names the file, the line, the field and what was expected."""

import re
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import card_number
from bidzoo.envs.bridge.board import Board, Call, contract_numbers
from bidzoo.envs.bridge.formats import lin, pbn

DATA = Path(__file__).parents[3] / "data"
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
    ("word", "number"),
    [*[(word, 0) for word in ("None", "Love", "-")], ("NS", 1), ("EW", 2), *[(word, 3) for word in ("All", "both")]],
)
def test_ways_to_write_the_vulnerability(word: str, number: int) -> None:
    (board,) = pbn.loads(GOOD.replace('"None"', f'"{word}"'))
    assert board.vulnerable == number


@pytest.mark.parametrize("sign", ["*", "+"])
def test_what_follows_an_auction_broken_off_is_not_read(sign: str) -> None:
    first, _, rest = GOOD.partition("1C =1= Pass 1H Pass\n4H Pass Pass Pass\n")
    unplayed = first.replace('[Contract "4H"]\n', "").replace('[Declarer "S"]\n', "")
    (board,) = pbn.loads(f"{unplayed}1C =1= Pass {sign} 1H nonsense\n{rest.splitlines()[0]}\n")
    assert [call.call for call in board.auction] == [3, 0]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('[Dealer "N"]', '[Dealer "Q"]', 2, "Dealer: not a seat: 'Q'"),
        ('"None"', '"Nobody"', 3, "Vulnerable: not a vulnerability: 'Nobody'; choose from none, ns, ew, both"),
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
        ('"4H"', '"4S"', 8, "Auction: 4H by S, expected 4S by S as contract, declarer and lead say"),
        ('"4H"', '"8H"', 6, "Contract: '8H' is not a contract"),
        ('"4H"', '"4HXXX"', 6, "Contract: '4HXXX' is not a contract"),
        ('"?"', '"14"', 7, r"Result: '14', expected 0 \.\.\. 13 tricks"),
        ('"?"', '"many"', 7, r"Result: 'many', expected 0 \.\.\. 13 tricks"),
        ('[Auction "N"]', '[Auction "E"]', 8, "Auction: begins with E, expected the dealer, N"),
        ("1H Pass", "1C Pass", 9, "Auction: 1C is not legal after 1C P, expected P, a bid from 1D"),
        ("1H Pass", "X Pass", 9, "Auction: X is not legal after 1C P, expected P, a bid from 1D"),
        ("1H Pass", "XX Pass", 9, "Auction: XX is not legal"),
        ("1H Pass", "1Z Pass", 9, "Auction: not a call: '1Z'"),
        ("1H Pass", "( Pass", 9, r"Auction: not a call: '\('"),
        ("4H Pass Pass Pass", "4H Pass Pass Pass X", 10, "Auction: X is not legal .*the auction is over"),
        ("1C =1=", "=1= 1C", 9, "Auction: note =1= before any call"),
        ('"1:strong"', '"strong"', 11, "Note: 'strong', expected a number, a colon and the text"),
        ('[Play "W"]', '[Play "N"]', 12, "Play: begins with N, expected the leader, W"),
        ("HJ HA", "H6 HA", 13, "Play: 6H cannot be played by W, expected"),
        ("S2 SA", "S2 HQ", 14, "Play: .* cannot be played by"),
        ("HJ HA", "HJ ZZ", 13, "Play: not a card: 'ZZ'"),
        ("Denomination", "Level", 16, "OptimumResultTable: columns .*expected Declarer, Denomination, Result"),
        ("N NT 5", "Q NT 5", 17, "OptimumResultTable: not a seat: 'Q'"),
        ("N NT 5", "N NX 5", 17, "OptimumResultTable: 'NX' is not a strain"),
        ("N  S 5", "N  S 14", 18, r"OptimumResultTable: '14' tricks, expected 0 \.\.\. 13"),
        ("N  S 5", "N  S", 18, "OptimumResultTable: row of 2 words, expected 3"),
        ('[Dealer "N"]', '[Dealer "N]', 2, r"'\"N\]' has no end, expected a closing quote"),
        ('[Dealer "N"]', '[Dealer "N"', 3, r"'\[' in a tag, expected \[Name \"value\"\]"),
        ('[Dealer "N"]', '[Dealer N]', 2, r"'N' in a tag, expected"),
        ('[Dealer "N"]', '[Dealer "N"]]', 2, r"'\]' closes nothing"),
        ('[Dealer "N"]', '[Dealer "N"] }', 2, "'}' closes nothing"),
        ('[Dealer "N"]', '[Dealer "#"]', 2, "Dealer: '#', expected that tag in the game before"),
        ('[Dealer "N"]', '[Board "2"]', 2, "Board: a second one, expected an empty line between games"),
        ("N  S 5\n", "N  S 5 {never\nclosed\n", 18, "comment is never closed"),
        ("N  S 5\n", "N  S 5\n[Event\n", 20, "tag 'Event' is never closed"),
        ("N  S 5\n", "N  S 5\n[DoubleDummyTricks \"123\"]\n", 19, "DoubleDummyTricks: '123', expected 20 of"),
    ("N  S 5\n", "N  S 5\nN S 6\n", 19, "OptimumResultTable: N in S takes 6, expected 5 as in a row before"),
    ("N  S 5\n", "N  S 5\n[DoubleDummyTricks \"54******************\"]\n", 19,
     "DoubleDummyTricks: N in S takes 4, expected 5 by the OptimumResultTable"),
    ("N  S 5\n", "N  H 1\n[DoubleDummyTricks \"5*2*****************\"]\n", 19,
     "DoubleDummyTricks: N in H takes 2, expected 1 by the OptimumResultTable"),
    ('"1"]\n[D', '"99999999999999999999"]\n[D', 1, "Board: '9{20}', expected a number from 1 to 999999999"),
    ('"1"]\n[D', f'"{"9" * 5000}"]\n[D', 1, "Board: '9+ .* expected a number from 1 to 999999999"),
    ('"?"', f'"{"9" * 5000}"', 7, "Result: '9+ .* expected 0 ... 13 tricks"),
    ("N  S 5", f'N  S {"9" * 5000}', 18, "OptimumResultTable: '9+ .* tricks, expected 0 ... 13"),
    ('"?"', '"EW 4 NS 10"', 7, "Result: 'EW 4 NS 10', expected 13 tricks in all"),
    ('"?"', '"xx NS 9 abc"', 7, "Result: 'xx NS 9 abc', expected 0 ... 13 tricks"),
    ('"?"', '"NS 9 NS 8"', 7, "Result: 'NS 9 NS 8', expected 0 ... 13 tricks"),
    ('"?"', '"NS 14"', 7, "Result: 'NS 14', expected 0 ... 13 tricks"),
    ('"?"', '"0"', 7, "Result: 0 tricks, expected 2 ... 13 by the cards played"),
    ('"?"', '"EW 12"', 7, "Result: 1 tricks, expected 2 ... 13 by the cards played"),
    ("1:strong", f"1:{'s' * 4097}", 8, "Auction: a note of 4097 characters, expected at most 4096"),
    ],
)  # fmt: skip
def test_malformed_pbn_is_located(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    path = tmp_path / "bad.pbn"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}:{line}: {message}"):
        pbn.read(path, strict=True)


def test_tricks_and_play_that_do_not_fit() -> None:
    whole = (DATA / "club.pbn").read_text(encoding="utf-8-sig")
    with pytest.raises(ValueError, match=r"club:18: Result: 9 tricks, expected 8 by the cards played"):
        pbn.loads(whole.replace('[Result "8"]', '[Result "9"]'), "club", True)
    with pytest.raises(ValueError, match=r"club:\d+: DoubleDummyTricks: '85ab', expected 20 of"):
        pbn.loads(whole.replace("85ab675ab647327472**", "85ab"), "club", True)
    with pytest.raises(ValueError, match="text:1: Play: cards are played, expected a contract"):
        pbn.loads('[Play "W"]\nHJ\n[Board "1"]\n', strict=True)
    hands = GOOD.splitlines()[3]
    with pytest.raises(ValueError, match="text:3: Play: cards are played, expected a contract and its declarer"):
        pbn.loads(f'{hands}\n[Contract "Pass"]\n[Play "W"]\nHJ HA HK H6\n', strict=True)
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
            boards = pbn.loads(text[:length], "cut", strict=True)
        except ValueError as error:
            assert re.match(r"cut:\d+: ", str(error))
        else:
            assert boards[:-1] == whole[: max(0, len(boards) - 1)]


LIN = """pn|S,W,N,E|st||md|3SQT84H62DJ86CK975,SKJ72HJ3DAT3CJT86,SA5HAQ9754DK9542C|sv|o|
mb|1C!|an|x|mb|p|mb|1H|mb|p|
mb|4H|mb|p|mb|p|mb|p|pc|HJ|pc|HA|mc|9|
"""


@pytest.mark.parametrize(("word", "number"), [("", 0), ("0", 0), ("o", 0), ("N", 1), ("e", 2), ("b", 3)])
def test_ways_to_write_the_vulnerability_in_lin(word: str, number: int) -> None:
    (board,) = lin.loads(LIN.replace("sv|o|", f"sv|{word}|"))
    assert board.vulnerable == number


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("md|3", "md|5", 1, "md: dealer '5', expected 1 ... 4 for S W N E"),
        (",SA5HAQ9754DK9542C", ",,,S", 1, "md: 5 hands, expected at most 4"),
        ("SQT84", "XQT84", 1, "md: 'X' in hand"),
        ("SQT84", "QT84", 1, "md: 'Q' in hand"),
        ("SQT84", "SQT8", 1, "md: S holds 12 cards, expected 13"),
        ("SKJ72", "SKQJ7", 1, "md: QS is held by S and by W"),
        ("sv|o", "sv|x", 1, "sv: 'x', expected o, n, e or b"),
        ("mb|1H", "mb|1C", 2, "mb: 1C is not legal after 1C P"),
        ("mb|1H", "mb|1Q", 2, "mb: not a call: '1Q'"),
        ("mb|1C!|an|x|", "an|x|mb|1C|", 2, "an: 'x' before any call, expected mb first"),
        ("pc|HJ", "pc|H6", 3, "pc: 6H cannot be played by W"),
        ("|mb|p|pc", "|pc", 3, "pc: 'HJ' is played, expected a finished auction first"),
        ("mc|9", "mc|14", 3, r"mc: '14', expected 0 \.\.\. 13 tricks"),
        ("mc|9|", "mc|-2|", 3, r"mc: '-2', expected 0 \.\.\. 13 tricks"),
        ("mc|9|", f"mc|{'9' * 5000}|", 3, r"mc: '9+ .* expected 0 \.\.\. 13 tricks"),
        ("pc|HA|mc|9|", "pc|HA|pc|HK|pc|H6|mc|0|", 3, r"mc: 0 tricks, expected 1 \.\.\. 13 by the cards played"),
        ("sv|o|", f"ah|Board {'9' * 5000}|", 1, "ah: 'Board 9+ .* expected a number from 1 to 999999999"),
        ("an|x|", f"an|{'x' * 4097}|", 2, "an: a note of 4097 characters, expected at most 4096"),
        ("mc|9|", "mc|9", 3, r"'9' at the end, expected key\|value\|"),
        ("mc|9|", "mc|9|mc|", 4, "'' at the end"),
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
        lin.read(path, strict=True)


def test_what_cannot_be_written_is_named_and_leaves_no_file(tmp_path: Path) -> None:
    board = pbn.loads(GOOD)[0]
    hidden = replace(board, hands=(0, 0, *board.hands[2:])) if board.hands else board
    with pytest.raises(ValueError, match="board 1: Play: 6H cannot be played by W"):
        pbn.write(tmp_path / "x.pbn", [replace(board, play=(card_number("6H"),))])
    with pytest.raises(ValueError, match="board 1: no dealer or a hand not shown, expected both for LIN"):
        lin.write(tmp_path / "x.lin", [hidden])
    with pytest.raises(ValueError, match=r"board 1: North: 'a\|b' holds '\|', expected none in LIN"):
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
        (pbn if name.endswith("pbn") else lin).loads(text, "hurt", strict=True)
    except ValueError as error:
        assert re.match(r"hurt:\d+: ", str(error))


@pytest.mark.parametrize("text", ["", "1", "0C", "4", "4HXXX", "XX", "NT"])
def test_no_contract(text: str) -> None:
    with pytest.raises(ValueError, match="is not a contract"):
        contract_numbers(text)


def test_a_passed_out_board_has_no_declarer_and_no_result() -> None:
    with pytest.raises(ValueError, match="text:2: Result: 'S', expected none with the contract Pass"):
        pbn.loads('[Contract "Pass"]\n[Result "S"]\n[Board "1"]\n', strict=True)
    with pytest.raises(ValueError, match="text:4: Result: '1', expected none with the contract Pass"):
        pbn.loads('[Dealer "N"]\n[Auction "N"]\nAP\n[Result "1"]\n[Board "1"]\n', strict=True)
    with pytest.raises(ValueError, match="board 7: Contract: Pass, expected no declarer and no result"):
        pbn.dumps([Board(number=7, contract="Pass", declarer=2)])
    passed = LIN[: LIN.index("mb|1C")] + "mb|p|" * 4
    assert lin.loads(passed)[0].contract == "Pass"
    with pytest.raises(ValueError, match="text:2: mc: 9 tricks, expected none: the board is passed out"):
        lin.loads(f"{passed}mc|9|", strict=True)


@pytest.mark.parametrize(
    ("said", "declarer", "won"),
    [("9", "N", 9), ("NS 9", "N", 9), ("NS 9", "E", 4), ("EW 4", "S", 9), ("EW 4", "W", 4), ("EW 4 NS 9", "N", 9),
     ("NS 9 EW 4", "E", 4), ("^7", "E", 7), ("NS 13", "N", 13), ("EW 13 NS 0", "S", 0), ("0", "W", 0), ("13", "W", 13)],
)  # fmt: skip
def test_results_by_side(said: str, declarer: str, won: int) -> None:
    (board,) = pbn.loads(f'[Board "1"]\n[Contract "2H"]\n[Declarer "{declarer}"]\n[Result "{said}"]\n')
    assert board.result == won
    if " " in said:
        (board,) = pbn.loads(f'[Board "1"]\n[Contract "2H"]\n[Result "{said}"]\n')
        assert (board.result, board.tags) == (None, {"Result": said})  # whose tricks they are cannot be told
        assert pbn.loads(pbn.dumps([board])) == [board]


ODD = ["#", "##x", "?", "-", " Ann", "A\rB", "A\nB", "A\0B", "A\ud800"]
FINE = ["#x", "Ann-Marie", "?!", 'Q"uote\\', "日本", "; no comment {", "%", "x" * 2000]


@pytest.mark.parametrize("name", ODD + FINE)
def test_a_name_comes_back_or_is_refused(name: str) -> None:
    """As a player's name, as a tag's value and as a note; PBN gives some texts another meaning."""
    texts = [replace(pbn.loads(GOOD)[0], names=(name, "", "", ""))]
    texts.append(replace(texts[0], names=("", "", "", ""), tags={"Event": name}))
    texts.append(replace(texts[1], tags={}, auction=(Call(3, True, name), *texts[0].auction[1:])))
    for board in texts:
        for form in (pbn, lin):
            try:
                written = form.dumps([board])
            except ValueError as error:
                assert name in ODD
                assert re.match("board 1: (North|Event|Note|an): ", str(error)), error
            else:
                written.encode()
                (back,) = form.loads(written)
                assert back == (
                    board
                    if form is pbn
                    else replace(board, tricks=None, tags={}, result=back.result, claimed=back.claimed)
                )
    with pytest.raises(ValueError, match="board 1: North: ") if name in ODD[2:] else nullcontext():
        pbn.dumps([texts[0]])


def test_tags_that_are_fields_or_no_words_are_refused() -> None:
    board = pbn.loads(GOOD)[0]
    for name, value in (("Deal", "x"), ("Note", "1:x"), ("a b", "x"), ('a"', "x"), ("", "x"), ("Fine", "")):
        with pytest.raises(ValueError, match="board 1: "):
            pbn.dumps([replace(board, tags={name: value})])


def test_lin_of_cards_without_an_auction_is_refused() -> None:
    hands = GOOD.splitlines()[3]
    (board,) = pbn.loads(
        f'[Board "3"]\n[Dealer "N"]\n{hands}\n[Contract "4H"]\n[Declarer "S"]\n[Play "W"]\nHJ HA HK H6\n'
    )
    with pytest.raises(ValueError, match="board 3: cards are played, expected a finished auction before them"):
        lin.dumps([board])
    with pytest.raises(ValueError, match="board 3: contract: '4H', expected None: LIN has no place for it"):
        lin.dumps([replace(board, play=())])


# each of them took minutes, or would at ten times the size
SLOW = {
    "notes of one call": (
        "pbn",
        '[Dealer "N"]\n[Auction "N"]\n1C ' + "=1= " * 40_000 + '\n[Note "1:' + "x" * 4000 + '"]\n',
    ),
    "many notes of one call": (
        "pbn",
        '[Dealer "N"]\n[Auction "N"]\n1C ' + " ".join(f"={i}=" for i in range(9000)) + "\n"
        + "".join(f'[Note "{i}:x"]\n' for i in range(9000)),
    ),
    "names": ("lin", "pn||" * 50_000),
    "tags for ever": ("pbn", "".join(f'[T{i} "##x"]\n' for i in range(8000)) + '\n[Board "1"]\n' * 9000),
    "a table for ever": (
        "pbn",
        '[OptimumResultTable "##Declarer;Denomination;Result"]\n' + "N NT 5\n" * 20_000 + '\n[Board "1"]\n' * 5000,
    ),
    "a table taken over": (
        "pbn",
        '[OptimumResultTable "Declarer;Denomination;Result"]\n' + "N NT 5\n" * 20_000
        + '\n[OptimumResultTable "#"]\n' * 5000,
    ),
    "a number": ("lin", f"{LIN.splitlines()[0]}ah|{'1' * 200_000}x|"),
    "spaces after a number": ("lin", f"{LIN.splitlines()[0]}ah|1{' ' * 200_000}x|"),
    "quoted addresses": ("lin", "x " + '"https://x?lin=' * 20_000),
    "linked addresses": ("lin", "x " + "](https://x?lin=" * 20_000),
    "open links": ("lin", "x ](https://x?lin=" + "(" * 200_000),
    "runs": ("lin", "x " + "pn| <" * 50_000 + "\n" + "<" * 200_000),
    "encoded": ("lin", "%25" * 100_000 + "%7C"),
    "empty lines": ("pbn", '[Board "1"]\n[Auction "N"]\n' + "1C\n\n" * 50_000),
    "games apart": ("pbn", "".join(f'[T{i} "x"]\n\n' for i in range(50_000))),
    "prose": ("pbn", '[Board "1"]\n[Auction "N"]\n' + "- _ " * 50_000 + "\n\n" + "1C " * 50_000 + "x\n"),
    "braces": ("pbn", '[Board "1"]\n' + "{}" * 200_000),
    "quotes": ("pbn", '[Board "1"]\n' + "\\" * 200_000 + '"' * 3),
}  # fmt: skip


@pytest.mark.timeout(60, method="signal")  # a time that grows with the square of the text's length is minutes
@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_the_text(name: str) -> None:
    kind, text = SLOW[name]
    with suppress(ValueError):
        (pbn if kind == "pbn" else lin).loads(text, faults=[])
