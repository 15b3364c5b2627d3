"""Files of a bridge club on the command line: replayed and drawn board by board, imported, matched, looked at."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bidzoo.benchmarks import records
from bidzoo.cli.main import app
from bidzoo.core.kernels import I8, I64
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.formats import pbn

pytestmark = pytest.mark.usefixtures("solved_once")
DATA = Path(__file__).parents[3] / "data"
HANDS = "N:A5.AQ9754.K9542. 963.KT8.Q7.AQ432 QT84.62.J86.K975 KJ72.J3.AT3.JT86"
OTHER = "N:963.KT8.Q7.AQ432 QT84.62.J86.K975 KJ72.J3.AT3.JT86 A5.AQ9754.K9542."
CLUB = f"""[Board "7"]
[West "Walt"]
[North "[/b]Nora"]
[East "[link=http://x]Emil[/link]"]
[South "Sue"]
[Dealer "N"]
[Vulnerable "NS"]
[Deal "{HANDS}"]
[Declarer "S"]
[Contract "4HX"]
[Result "8"]
[Auction "N"]
1C =1= 1S 2H Pass
4H X AP
[Note "1:strong [/b]"]

[Board "12"]
[Dealer "W"]
[Vulnerable "None"]
[Deal "{OTHER}"]
[Auction "W"]
AP
"""


def run(*words: object) -> str:
    """What a command prints, errors on standard error included; an error comes through."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture(scope="module")
def solved_once() -> Iterator[None]:
    """The solver, which takes most of the time, is asked once of each deal: many commands solve the same two."""
    solve = double_dummy.dd_tricks

    @cache
    def solved(hands: tuple[int, ...]) -> I8:
        return solve(np.array([hands]))[0]

    def dd_tricks(hands: I64) -> I8:
        return np.array([solved(tuple(deal)) for deal in hands.tolist()], np.int8).reshape(-1, 20)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(double_dummy, "dd_tricks", dd_tricks)
        yield


@pytest.fixture
def club(tmp_path: Path) -> Path:
    path = tmp_path / "club.pbn"
    path.write_text(CLUB)
    return path


def test_replay_tells_every_board(club: Path) -> None:
    """Names are text: markup of the terminal's library does nothing and disappears nowhere."""
    told = run("replay", club).splitlines()
    assert told[:9] == [
        "Board 7 · dealer N · vulnerable: N/S · N [/b]Nora · E [link=http://x]Emil[/link] · S Sue · W Walt",
        "  West     North    East     South",
        "           1♣ (1)   1♠       2♥",
        "  P        4♥       X        P",
        "  P        P",
        "  (1) strong [/b]",
        "  4♥X by South, 8 tricks (down 2), E/W 500",
        "",
        "Board 12 · dealer W · vulnerable: nobody",
    ]
    assert told[11] == "  passed out, 0"
    assert "2 replayed, 2 of them without a second table" in " ".join("\n".join(told).split())


def test_replay_of_single_tables_shows_no_match(club: Path) -> None:
    told = run("replay", club)
    assert told.endswith("2 replayed, 2 of them without a second table\n") and "Match" not in told


def test_replay_solves_for_par(club: Path) -> None:
    told = run("replay", club, "--solve")
    assert re.search(r"4♥X by South, 8 tricks \(down 2\), E/W 500; par (N/S|E/W) \d+\n", told)
    assert re.search(r"passed out, 0; par (N/S|E/W) \d+\n", told)
    run("match", "pass", "pass", "--boards", 1, "--out", club.with_name("m.jsonl"))
    with pytest.raises(ValueError, match=r"--solve: .*m\.jsonl holds records"):
        run("replay", club.with_name("m.jsonl"), "--solve")


@pytest.mark.parametrize("ending", [".pbn", ".lin", ".jsonl"])
def test_replay_reads_standard_input(club: Path, ending: str) -> None:
    """The first characters tell which format it is."""
    path = club.with_name(f"m{ending}")
    run("match", "pass", "random", "--boards", 2, "--out", path)
    piped = CliRunner().invoke(app, ["replay", "-"], input=path.read_bytes())
    assert (piped.exception, piped.output) == (None, run("replay", path))
    torn = CliRunner().invoke(app, ["replay", "-"], input=path.read_bytes().replace(b"P", b"Q").replace(b"p", b"q"))
    assert str(torn.exception).startswith("standard input:") or (torn.exit_code, "standard input:" in torn.stderr) == (
        3,
        True,
    )


def test_replay_refuses_what_it_cannot_read(club: Path) -> None:
    path = club.with_name("club.txt")
    path.write_text(CLUB)
    wanted = r"club\.txt: ending '\.txt', expected \.pbn, \.lin, \.jsonl, or - for standard input"
    with pytest.raises(ValueError, match=wanted):
        run("replay", path)
    for content, fault in ((b"", "no boards, expected at least one"), (b"hello", "'hello', expected PBN, LIN or JSON")):
        assert fault in str(CliRunner().invoke(app, ["replay", "-"], input=content).exception)


def test_names_in_a_match_are_text(tmp_path: Path) -> None:
    """Both tables of a board, so that the match has a row with the names."""
    first = CLUB.partition("\n\n")[0]
    swapped = first.replace("[/b]Nora", "x").replace("Sue", "y").replace('"8"', '"9"')
    for name in ("[/b]Nora", "[link=http://x]Emil[/link]", "[/]"):
        (tmp_path / "m.pbn").write_text(f"{first}\n\n{first.replace('[/b]Nora', name)}\n")
        assert name.split("]")[0] in run("replay", tmp_path / "m.pbn")
    (tmp_path / "m.pbn").write_text(f"{first}\n\n{swapped}\n")
    run("replay", tmp_path / "m.pbn")


def test_show_draws_a_board_of_a_file(club: Path, tmp_path: Path) -> None:
    drawn = run("show", club)
    assert drawn.startswith("Board 7 · dealer N · vulnerable: N/S\n")
    assert "♥ AQ9754" in drawn and "Contract: 4♥X by South" in drawn and "Par" not in drawn
    solved = run("show", club, "--board", 12, "--solve")
    assert solved.startswith("Board 12 · dealer W") and re.search(r"\nPar: (N/S|E/W) \d+\n", solved)
    assert len(re.findall(r"^(?:North|East|South|West)(?: +\d+){5}$", solved, re.M)) == 4
    out = tmp_path / "board.svg"
    assert run("show", club, "--board", 7, "--svg", out) == f"drawn in {out}\n"
    assert out.read_text().startswith("<svg") and "Board 7" in out.read_text()
    with pytest.raises(ValueError, match=r"club\.pbn: no board 8; it has 7, 12"):
        run("show", club, "--board", 8)
    slip = CliRunner().invoke(app, ["show", str(club), "--svg", "board.png"], env={"COLUMNS": "200"})
    assert slip.exit_code == 2 and "board.png: ending '.png', expected .svg" in slip.output
    with pytest.raises(ValueError, match=r"club\.pbn: board 4: hands are missing, expected all four"):
        run("show", DATA / "club.pbn", "--board", 4)


def test_show_draws_a_board_of_a_seed() -> None:
    assert run("show", 3, "--board", 5).startswith("Board 5 · dealer N · vulnerable: N/S\n")
    assert run("show", 3, "--env", "minibridge_v0")
    with pytest.raises(ValueError, match="seed"):
        run("show", "9" * 30)


def test_import_says_what_is_not_solved(club: Path, tmp_path: Path) -> None:
    told = run("deals", "import", club, "--out", tmp_path / "club.npz")
    assert "2 deals without a complete double-dummy table, the first is board 7" in told
    assert "--solve" in told and not re.search(r"\bnan\b", told) and "mean tricks" not in told
    told = run("deals", "import", club, "--out", tmp_path / "club.npz", "--solve")
    assert "without" not in told and "mean tricks" in told
    for more in ([], ["--solve"]):  # what was solved stays
        with pytest.raises(ValueError, match=r"club\.npz: exists, expected a new file"):
            run("deals", "import", club, "--out", tmp_path / "club.npz", *more)
    assert (DealSet.load(tmp_path / "club.npz").tricks >= 0).all()


HIDDEN = """[Board "9"]
[Dealer "N"]
[Deal "N:AKQ2.K54.QJ3.A92 - - -"]

"""


@pytest.mark.parametrize("ending", [".npz", ".pbn"])
def test_boards_with_hidden_hands_are_left_out(club: Path, tmp_path: Path, ending: str) -> None:
    """Each command says once which they are; the others are as they would be without them."""
    odd, out, without = tmp_path / "odd.pbn", tmp_path / f"odd-solved{ending}", tmp_path / f"without{ending}"
    odd.write_text(HIDDEN + CLUB)
    run("deals", "import", club, "--out", without, "--solve")
    told = CliRunner().invoke(app, ["deals", "import", str(odd), "--out", str(out), "--solve"])
    if ending == ".npz":
        assert told.exit_code == 3 and "odd.pbn: 1 board left out, hands are missing: 9" in told.stderr
        assert str(DealSet.load(out)) == str(DealSet.load(without))
    else:  # a .pbn holds them as they are
        assert told.exit_code == 0 and pbn.read(out) == [*pbn.read(odd)[:1], *pbn.read(without)]
    with (
        pytest.warns(UserWarning, match=r"1 board left out"),
        pytest.raises(ValueError, match=r"board 7 of .*odd\.pbn has no complete double-dummy table"),
    ):
        run("match", "pass", "pass", "--deals", odd)


def test_a_match_leaves_out_hidden_hands(club: Path, tmp_path: Path) -> None:
    solved, odd, hidden = (tmp_path / f"{name}.pbn" for name in ("solved", "odd", "hidden"))
    run("deals", "import", club, "--solve", "--out", solved)
    odd.write_text(HIDDEN + solved.read_text())
    hidden.write_text(HIDDEN)
    with pytest.warns(UserWarning, match=r"odd\.pbn: 1 board left out, hands are missing: 9$"):
        told = [run("match", "sayc", "pass", "--pbn", file).partition("result written")[0] for file in (odd, solved)]
    assert told[0] == told[1]
    with pytest.raises(ValueError, match=r"hidden\.pbn: 1 board left out, hands are missing: 9; expected all four"):
        run("match", "sayc", "pass", "--pbn", hidden)


def test_match_names_the_board_and_says_what_to_do(club: Path) -> None:
    wanted = r"board 7 of .*club\.pbn has no complete double-dummy table; solve the file with: bidzoo deals import .*"
    with pytest.raises(ValueError, match=wanted + r"club\.pbn --solve --out club-solved\.pbn"):
        run("match", "pass", "random", "--deals", club)


def test_a_solved_file_keeps_its_boards(club: Path, tmp_path: Path) -> None:
    """What the error says is done, and the match is that of the boards as they are, with their dealers."""
    solved = tmp_path / "club-solved.pbn"
    run("deals", "import", club, "--solve", "--out", solved)
    tables = [board.tricks for board in pbn.read(solved)]
    assert [replace(board, tricks=None) for board in pbn.read(solved)] == pbn.read(club)
    np.testing.assert_array_equal(
        tables, double_dummy.solve_tricks(np.array([board.hands for board in pbn.read(club)]))
    )
    out = tmp_path / "match.jsonl"
    run("match", "sayc", "pass", "--pbn", solved, "--out", out)
    assert {(record["dealer"], record["vulnerability"]) for record in records.read(out)} == {("N", "ns"), ("W", "none")}


def test_deals_of_a_deal_file_are_solved(tmp_path: Path) -> None:
    unsolved, solved = tmp_path / "two.npz", tmp_path / "two-solved.npz"
    hands = packaged("test").hands[:2]
    DealSet.of(hands).save(unsolved)
    with pytest.raises(ValueError, match=r"deal 0 of .*two\.npz has no .*two\.npz --solve --out two-solved\.npz"):
        run("match", "pass", "random", "--deals", unsolved)
    assert "2 deals without a complete double-dummy table, the first is deal 0" in run(
        "deals", "import", unsolved, "--out", solved
    )
    run("deals", "import", unsolved, "--solve", "--out", solved)
    np.testing.assert_array_equal(DealSet.load(solved).tricks, packaged("test").tricks[:2])
    with pytest.raises(ValueError, match=r"says no dealers to keep, expected an ending \.npz"):
        run("deals", "import", unsolved, "--out", tmp_path / "two.pbn")


def test_info_knows_the_packaged_sets() -> None:
    told = run("deals", "info", "test")
    assert f"deals:                 {len(packaged('test').hands)} " in told
    assert packaged("test").checksum() in told
    assert told in run("deals", "info", "packaged")


def test_what_is_drawn_is_what_is_read(club: Path) -> None:
    assert [board.number for board in pbn.read(club)] == [7, 12]
