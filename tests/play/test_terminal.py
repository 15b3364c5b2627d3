"""The terminal session by scripted input."""

import io
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from bidzoo.cli.main import app
from bidzoo.envs.bridge.formats import pbn
from bidzoo.play import files, terminal
from bidzoo.play.session import Session


def script(session, *lines):
    """What is printed while these lines are typed; then the input ends."""
    out = io.StringIO()
    typed = iter(lines)

    def read():
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    terminal.run(session, out, read)
    return out.getvalue()


def seated(game_id, seats, **more):
    session = Session()
    session.start(game_id, seats=seats, **more)
    return session


def test_a_board_from_the_first_call_to_the_result(tmp_path):
    path = tmp_path / "saved.pbn"
    session = seated("bridge_bidding_v0", ["human"] * 4)
    text = script(
        session, "1nt", "P", "3NT", "p", "P", "pass", "tricks", f"save {path}", f"save {path}", "next", "quit"
    )
    assert "North to act: P  or a bid from 1♣" in text
    assert "East to act: P  X  or a bid from 2♣" in text
    assert "3NT by North" in text
    assert "Par: " in text
    assert '[Contract "3NT"]' in path.read_text()
    assert "exists already" in text
    assert session.setup.board == 1


def test_next_is_the_next_board_of_the_file():
    """One with hands that are missing is passed over, and after the last comes the first."""
    first, second, third = (seated("bridge_v0", ["random"] * 4, seed=4, board=board) for board in (0, 5, 9))
    boards = [files.board_of(session.position().states[0], ["a", "b", "c", "d"]) for session in (first, second, third)]
    boards[1] = replace(boards[1], hands=(0, 0, *boards[1].hands[2:]))
    session = Session()
    files.load(session, "club.pbn", pbn.dumps(boards))
    files.open_board(session, 0, "rebid")
    session.seats = ["human"] * 4
    dealt = []
    for _ in range(3):
        dealt.append((session.at_board, session.setup.board + 1, session.setup.game_id))
        script(session, "next", "quit")
    assert dealt == [(0, 1, "bridge_bidding_v0"), (2, 10, "bridge_bidding_v0"), (0, 1, "bridge_bidding_v0")]


def test_hint_undo_back_forward_and_all():
    session = seated("bridge_bidding_v0", ["human", "random", "human", "random"], seed=1)
    text = script(
        session, "hint", "hint pass", "P", "undo", "back", "forward", "all", "help", "hint bis", "frob", "#99"
    )
    assert "random for North: Every legal action is equally likely." in text
    assert "'bis' does not play bridge_bidding_v0" in text
    assert "not a call: 'frob'" in text
    assert "action 99" in text
    assert session.reveal


def test_hidden_cards_are_not_printed():
    session = seated("bridge_v0", ["random", "random", "human", "random"], seed=1)
    text = script(session, "tricks")
    assert text.count("13 cards") >= 3
    assert "or once all hands are shown" in text
    assert "all hands" in terminal.COMMANDS["all"]  # the command that does it


@pytest.mark.parametrize(
    ("game_id", "lines", "result"),
    [
        ("minibridge_v0", ("1H", "2", "P"), "1S"),
        ("simple_bidding_v0", ("1", "4", "P"), "4"),
        ("comm_v0", ("1", "0", "1", "5"), "-> 5"),
        ("mini_hanabi_v0", ("0", "2"), "reward"),
    ],
)
def test_small_games(game_id, lines, result):
    session = seated(game_id, ["human", "human"])
    text = script(session, *lines, "quit")
    assert session.position().over
    assert result in session.game.text(session.position().states[0])
    assert "The board is over" in text
    assert "?" in text  # the type of the partner


def test_spades_with_agents():
    session = seated("spades_v0", ["human", "random", "random", "random"])
    session.act(3, 0) if session.position().player == 0 else None
    text = script(session, "nil", "hint", "undo")
    assert "bid nil " in text
    assert "score: N/S 0 (0 bags)" in text
    assert text.count("13 cards") >= 3


def test_texts_come_before_numbers():
    session = seated("simple_bidding_v0", ["human", "human"])
    assert terminal.number(session, "4") == 3
    assert terminal.number(session, "#4") == 4
    with pytest.raises(ValueError, match="not a call"):
        terminal.number(session, "frob")


def test_without_standard_input_there_is_nothing_to_play(monkeypatch):
    """As of a process that was started without one."""
    monkeypatch.setattr(terminal.sys, "stdin", None)
    terminal.run(seated("comm_v0", ["human", "human"]))


def test_the_command_plays_in_the_terminal(tmp_path):
    run = CliRunner()
    found = run.invoke(
        app, ["play", "--terminal", "--game", "mini_hanabi_v0", "--seats", "human,random"], input="1\nquit\n"
    )
    assert found.exit_code == 0, found.output
    assert "Mini-Hanabi, board 1" in found.output
    path = tmp_path / "one.pbn"
    path.write_text('[Board "5"]\n[Dealer "N"]\n[Vulnerable "NS"]\n[Deal "N:A5.AQ9754.K9542. 963.KT8.Q7.AQ432 - -"]\n')
    found = run.invoke(app, ["play", "--terminal", "--file", str(path)])
    assert "hands are missing" in str(found.exception)
    found = run.invoke(app, ["play", "--port", "1", "--host", "203.0.113.1"])
    assert "cannot listen on 203.0.113.1 port 1" in str(found.exception)
