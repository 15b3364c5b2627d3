"""Boards from PBN and LIN texts to the table and back."""

import datetime
from pathlib import PurePath

from bidzoo.agents import BRIDGE
from bidzoo.core.cards import NUM_CALLS, VULNERABILITIES
from bidzoo.core.kernels import State
from bidzoo.core.options import is_whole
from bidzoo.envs.bridge.board import Board, Call, Fault, outcome, summary
from bidzoo.envs.bridge.formats import FORMATS, pbn
from bidzoo.play.catalog import HUMAN, agents_for
from bidzoo.play.session import Session

MOST_BOARDS = 2000
REPLAY, REBID, PLAY_AGAIN = "replay", "rebid", "play"  # ways to open a board


def load(session: Session, name: str, text: str) -> None:
    """Load the boards of a file from its ``text``; ``name`` is not opened. The table stays as it is.

    What is wrong in the file is left out, and the source says how much.

    Raises:
        ValueError: names file, line and what was expected.
    """
    if not isinstance(name, str) or not isinstance(text, str):
        raise ValueError("a file: expected its name and its text")
    ending = PurePath(name).suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{name[:80]!r}: ending {ending[:20]!r}, expected {' or '.join(FORMATS)}")
    faults: list[Fault] = []
    boards = FORMATS[ending].loads(text.removeprefix("\ufeff"), name[:80], False, faults)
    if not boards:
        raise ValueError(str(faults[0]) if faults else f"{name[:80]!r}: no boards")
    if len(boards) > MOST_BOARDS:
        raise ValueError(f"{name[:80]!r}: {len(boards)} boards, expected at most {MOST_BOARDS}")
    with session.lock:
        source = summary(name[:80], len(boards), faults).splitlines()[0].rstrip(":") if faults else name[:80]
        session.boards, session.source, session.at_board = boards, source, -1


def open_board(session: Session, index: int, way: str) -> None:
    """Put a board of the file on the table.

    Args:
        session: with a file loaded.
        index: of the board in the file.
        way: ``"replay"`` its auction and play as recorded, ``"rebid"`` it, or bid and ``"play"`` it afresh.
    """
    if not is_whole(index, 0, len(session.boards) - 1):
        raise ValueError(f"board {index!r}: the file has {len(session.boards)}")
    if way not in (REPLAY, REBID, PLAY_AGAIN):
        raise ValueError(f"way {way!r}: expected {REPLAY}, {REBID} or {PLAY_AGAIN}")
    board: Board = session.boards[index]
    number = board.number or index + 1
    fixed = fixed_by(board, number)
    game_id = "bridge_bidding_v0" if way == REBID else "bridge_v0"
    with session.lock:
        names, seats = {HUMAN, *agents_for(game_id)}, session.seats
        seats = [name if name in names else "random" for name in seats] if len(seats) == 4 else [HUMAN, *["random"] * 3]
        record = actions_of(board) if way == REPLAY and board.auction else []
        session.start(game_id, {}, seats, 0, max(number - 1, 0), fixed, record)
        session.at_board = index


def next_board(session: Session) -> None:
    """The board after this one, in the same way: of the file if this one is of it, else of the seed.

    Boards of the file with missing hands are passed over; after the last comes the first.
    """
    with session.lock:
        if session.at_board < 0:
            session.next_board()
            return
        way = REPLAY if session.replaying else PLAY_AGAIN
        if session.setup.game_id == "bridge_bidding_v0":
            way = REBID
        count = len(session.boards)
        after = ((session.at_board + step) % count for step in range(1, count + 1))
        open_board(session, next(index for index in after if session.boards[index].complete), way)


def fixed_by(board: Board, number: int) -> dict[str, object]:
    """What ``board`` says before the first call, as options of ``Game.fix``; ValueError if a hand is missing."""
    if not board.complete or board.hands is None:
        raise ValueError(f"board {number}: hands are missing, expected all four")
    fixed: dict[str, object] = {"deal": [int(hand) for hand in board.hands]}
    if board.dealer is not None:
        fixed["dealer"] = board.dealer
    if board.vulnerable is not None:
        fixed["vulnerability"] = VULNERABILITIES[board.vulnerable]
    if board.tricks is not None and min(board.tricks) >= 0:
        fixed["tricks"] = list(board.tricks)
    return fixed


def actions_of(board: Board) -> list[int]:
    """The calls and cards of ``board`` as actions of ``bridge_v0``."""
    return [call.call for call in board.auction] + [NUM_CALLS + card for card in board.play]


# ---- saving ----------------------------------------------------------------------------------


def save(session: Session) -> tuple[str, str]:
    """Name and text of a file with the board up to the cursor: PBN for bridge, plain text for other games."""
    with session.lock:
        state, seats, game_id = session.position().states[0].copy(), list(session.seats), session.setup.game_id
        if game_id not in BRIDGE:
            return f"{game_id}-board-{session.setup.board + 1}.txt", session.game.text(state) + "\n"
    return f"board-{int(state['board']) + 1}.pbn", pbn.dumps([board_of(state, seats)])


def board_of(state: State, seats: list[str]) -> Board:
    """A bridge table as a board of a file; ``seats`` are the names of the players N E S W."""
    contract, declarer, result = outcome(state)
    tricks = tuple(int(n) for n in state["tricks"])
    north, east, south, west = (int(hand) for hand in state["hands"])
    return Board(
        number=int(state["board"]) + 1,
        dealer=int(state["dealer"]),
        vulnerable=int(state["vulnerable"]),
        hands=(north, east, south, west),
        auction=tuple(Call(int(call)) for call in state["calls"][: int(state["length"])]),
        contract=contract,
        declarer=declarer,
        play=tuple(int(card) for card in state["played"][: int(state["plays"])]),
        result=result,
        tricks=tricks if min(tricks) >= 0 else None,
        names=(seats[0], seats[1], seats[2], seats[3]),
        tags={"Event": "bidzoo play", "Date": datetime.date.today().strftime("%Y.%m.%d")},
    )
