"""Boards from files to the table and back."""

import numpy as np
import pytest

from bidzoo.envs.bridge.board import Board
from bidzoo.envs.bridge.formats import lin, pbn
from bidzoo.play import files
from bidzoo.play.session import Session


def finish(session):
    while not session.position().over:
        session.agent_turn(session.cursor)


@pytest.mark.parametrize("game_id", ["bridge_v0", "bridge_bidding_v0"])
@pytest.mark.parametrize("board", range(4))
def test_a_saved_board_is_read_and_replayed_to_the_same_table(game_id, board):
    session = Session()
    session.start(game_id, seats=["random"] * 4, seed=8, board=board)
    finish(session)
    table = session.position().states[0].copy()
    name, text = files.save(session)
    again = Session()
    files.load(again, name, text)
    files.open_board(again, 0, "replay")
    again.go(len(again.actions))
    other = again.position().states[0]
    for field in ("board", "dealer", "vulnerable", "length", "bid", "stake", "declarer", "plays"):
        assert table[field] == other[field], field
    for field in ("hands", "calls", "played", "won"):
        assert (table[field] == other[field]).all(), field


@pytest.mark.parametrize("steps", [0, 2, 9, 30])
def test_unfinished_boards_are_saved_as_far_as_they_went(steps):
    session = Session()
    session.start("bridge_v0", seats=["random"] * 4, seed=4)
    finish(session)
    session.go(steps)
    (board,) = pbn.loads(files.save(session)[1])
    assert len(board.auction) + len(board.play) == steps


def test_a_lin_file_is_read():
    session = Session()
    session.start("bridge_v0", seats=["random"] * 4, seed=4)
    finish(session)
    board = files.board_of(session.position().states[0], ["a", "b", "c", "d"])
    files.load(session, "x.lin", lin.dumps([board]))
    assert session.boards[0].hands == board.hands


def test_bidding_again_uses_the_table_of_the_file_and_solves_it_otherwise():
    session = Session()
    session.start("bridge_v0", seats=["random"] * 4, seed=4)
    text = files.save(session)[1]
    assert "OptimumResultTable" not in text  # random cards have none
    files.load(session, "x.pbn", text)
    files.open_board(session, 0, "rebid")
    assert (session.position().states[0]["tricks"] >= 0).all()
    fake = tuple(np.arange(20) % 14)
    files.load(session, "y.pbn", pbn.dumps([Board(number=1, hands=session.boards[0].hands, tricks=fake)]))
    files.open_board(session, 0, "rebid")
    assert tuple(session.position().states[0]["tricks"]) == fake


def test_boards_that_cannot_be_opened():
    session = Session()
    with pytest.raises(ValueError, match="no boards"):
        files.load(session, "a.pbn", "")
    files.load(session, "a.pbn", '[Board "3"]\n[Deal "N:AKQJT98765432... - - -"]\n')
    with pytest.raises(ValueError, match="board 3: hands are missing"):
        files.open_board(session, 0, "play")
    with pytest.raises(ValueError, match="its name and its text"):
        files.load(session, "a.pbn", 3)
