"""What a page may ask of a session: one function a route, from a checked body to plain data; None: all it shows."""

from collections.abc import Callable
from typing import Any

from bidzoo.envs.picture import SUIT_COLORS, outline_path
from bidzoo.play import files, show
from bidzoo.play.catalog import menu
from bidzoo.play.session import Session

Plain = dict[str, Any]
Route = Callable[[Session, Plain], Plain | None]


def answer(route: Route, session: Session, body: Plain) -> Plain:
    """What ``route`` gives; after one that gives nothing, all that the page shows."""
    found = route(session, body)
    return show.page(session) if found is None else found


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


def state(session: Session, body: Plain) -> None:
    """The table."""


def new(session: Session, body: Plain) -> None:
    """Deal a board: ``game``, ``options``, ``seats``, ``seed``, ``board``."""
    session.start(
        _field(body, "game", str),
        _field(body, "options", dict, {}),
        _field(body, "seats", list),
        _field(body, "seed", int, 0),
        _field(body, "board", int, 0),
    )


def next_board(session: Session, body: Plain) -> None:
    """The board after this one: of the file if one is open, else of the seed."""
    with session.lock:
        if session.at_board < 0:
            session.next_board()
            return
        way = files.REPLAY if session.replaying else files.PLAY_AGAIN
        if session.setup.game_id == "bridge_bidding_v0":
            way = files.REBID
        files.open_board(session, (session.at_board + 1) % len(session.boards), way)


def sit(session: Session, body: Plain) -> None:
    """Change the ``seats``."""
    session.sit(_field(body, "seats", list))


def act(session: Session, body: Plain) -> None:
    """A human's ``action`` after the first ``at``."""
    session.act(_field(body, "action", int), _field(body, "at", int))


def agent(session: Session, body: Plain) -> None:
    """The agent to act does so, after the first ``at`` actions."""
    session.agent_turn(_field(body, "at", int))


def go(session: Session, body: Plain) -> None:
    """Step to after the first ``cursor`` actions."""
    session.go(_field(body, "cursor", int))


def undo(session: Session, body: Plain) -> None:
    """Back to the last turn of a human."""
    session.undo()


def reveal(session: Session, body: Plain) -> None:
    """Show all hands, or hide them again: ``on``."""
    session.reveal = _field(body, "on", bool)


def think(session: Session, body: Plain) -> Plain:
    """What the agent to act thinks, or ``agent`` in its place."""
    name = body.get("agent")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"agent {name!r}: expected a name")
    with session.lock:
        player = session.position().player
        asked = name or (session.seats[player] if player >= 0 else "")
    return show.explanation(session, session.explain(name), asked)


def tricks(session: Session, body: Plain) -> Plain:
    """Double-dummy tricks and par."""
    return show.double_dummy(session)


def compare(session: Session, body: Plain) -> Plain:
    """This board, once over, against par and the agents at the other table, and the total so far."""
    return show.total(session)


def load(session: Session, body: Plain) -> None:
    """Read the boards of a file: ``name`` and ``text``."""
    files.load(session, _field(body, "name", str), _field(body, "text", str))


def open_board(session: Session, body: Plain) -> None:
    """Put board ``index`` of the file on the table, to ``way``: replay, rebid or play."""
    files.open_board(session, _field(body, "index", int), _field(body, "way", str))


def save(session: Session, body: Plain) -> Plain:
    """The board as a file's name and text."""
    name, text = files.save(session)
    return {"name": name, "text": text}


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
    "/api/compare": compare,
    "/api/load": load,
    "/api/open": open_board,
}
