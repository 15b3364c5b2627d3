"""What a page may ask of a session: one function a route, from a checked body to plain data."""

from collections.abc import Callable
from typing import Any

from bidzoo.envs.picture import SUIT_COLORS
from bidzoo.envs.picture_suits import outline_path
from bidzoo.play import files, show
from bidzoo.play.catalog import menu
from bidzoo.play.session import Session
from bidzoo.play.show_bridge import double_dummy

Plain = dict[str, Any]


def _field(body: Plain, name: str, kind: type, default: Any = None) -> Any:
    """``body[name]`` of that type; a default of None means that it must be there."""
    value = body.get(name, default)
    if value is None or not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{name} {value!r}: expected {kind.__name__}")
    return value


def games(session: Session, body: Plain) -> Plain:
    """Every game, its options and agents; the suits as they are drawn."""
    suits = [{"path": outline_path(suit), "color": color} for suit, color in enumerate(SUIT_COLORS)]
    return {"games": menu(), "suits": suits}


def state(session: Session, body: Plain) -> Plain:
    """The table."""
    return show.state(session)


def new(session: Session, body: Plain) -> Plain:
    """Deal a board: ``game``, ``options``, ``seats``, ``seed``, ``board``."""
    session.start(
        _field(body, "game", str),
        _field(body, "options", dict, {}),
        _field(body, "seats", list),
        _field(body, "seed", int, 0),
        _field(body, "board", int, 0),
    )
    return show.state(session)


def next_board(session: Session, body: Plain) -> Plain:
    """The board after this one: of the file if one is open, else of the seed."""
    with session.lock:
        if session.at_board >= 0:
            files.open_board(session, (session.at_board + 1) % len(session.boards), _way(session))
        else:
            setup = session.setup
            session.start(setup.game, setup.options, session.seats, setup.seed, setup.board + 1)
    return show.state(session)


def _way(session: Session) -> str:
    if session.setup.game == "bridge_bidding_v0":
        return files.REBID
    return files.REPLAY if session.replaying else files.PLAY_AGAIN


def sit(session: Session, body: Plain) -> Plain:
    """Change the ``seats``."""
    session.sit(_field(body, "seats", list))
    return show.state(session)


def act(session: Session, body: Plain) -> Plain:
    """A human's ``action`` after the first ``at``."""
    session.act(_field(body, "action", int), _field(body, "at", int))
    return show.state(session)


def agent(session: Session, body: Plain) -> Plain:
    """The agent to act does so, after the first ``at`` actions."""
    session.agent_turn(_field(body, "at", int))
    return show.state(session)


def go(session: Session, body: Plain) -> Plain:
    """Step to after the first ``cursor`` actions."""
    session.go(_field(body, "cursor", int))
    return show.state(session)


def undo(session: Session, body: Plain) -> Plain:
    """Back to the last turn of a human."""
    session.undo()
    return show.state(session)


def reveal(session: Session, body: Plain) -> Plain:
    """Show all hands, or hide them again: ``on``."""
    session.reveal = _field(body, "on", bool)
    return show.state(session)


def think(session: Session, body: Plain) -> Plain:
    """Thoughts of the agent to act, or of ``agent`` in its place."""
    name = body.get("agent")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"agent {name!r}: expected a name")
    with session.lock:
        player = session.position().player
        asked = name or (session.seats[player] if player >= 0 else "")
    return show.thoughts(session, session.thoughts(name), asked)


def tricks(session: Session, body: Plain) -> Plain:
    """Double-dummy table and par."""
    return double_dummy(session)


def load(session: Session, body: Plain) -> Plain:
    """Read the boards of a file: ``name`` and ``text``."""
    files.load(session, _field(body, "name", str), _field(body, "text", str))
    return show.state(session)


def open_board(session: Session, body: Plain) -> Plain:
    """Put board ``index`` of the file on the table, to ``way``: replay, rebid or play."""
    files.open_board(session, _field(body, "index", int), _field(body, "way", str))
    return show.state(session)


def save(session: Session, body: Plain) -> Plain:
    """The board as a file's name and text."""
    name, text = files.save(session)
    return {"name": name, "text": text}


Route = Callable[[Session, Plain], Plain]
GET: dict[str, Route] = {"/api/games": games, "/api/state": state, "/api/tricks": tricks, "/api/save": save}
POST: dict[str, Route] = {
    "/api/new": new,
    "/api/next": next_board,
    "/api/sit": sit,
    "/api/act": act,
    "/api/agent": agent,
    "/api/go": go,
    "/api/undo": undo,
    "/api/reveal": reveal,
    "/api/think": think,
    "/api/load": load,
    "/api/open": open_board,
}
