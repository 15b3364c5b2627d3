"""A session as plain data for the page: only what the viewer may see leaves this module."""

import math
from collections.abc import Callable
from typing import Any

from bidzoo.agents.thoughts import Thoughts
from bidzoo.cards import NUM_CALLS, hand_cards
from bidzoo.envs.signals.game import SignalGame
from bidzoo.envs.spades.state import FIRST_CARD
from bidzoo.play.catalog import BRIDGE, HUMAN, offer
from bidzoo.play.record import Position
from bidzoo.play.session import Session
from bidzoo.play.show_bridge import bridge
from bidzoo.play.show_signals import signals
from bidzoo.play.show_spades import spades

Plain = dict[str, Any]


def state(session: Session) -> Plain:
    """The table at the cursor, who may do what, and the record."""
    with session.lock:
        here, game = session.position(), session.game
        names = offer(session.setup.game).seats
        return {
            "game": session.setup.game,
            "title": offer(session.setup.game).title,
            "options": dict(session.setup.options),
            "seed": session.setup.seed,
            "board": session.setup.board,
            "seats": [
                {"name": name, "agent": agent, "human": agent == HUMAN, "allies": list(game.allies(p))}
                for p, (name, agent) in enumerate(zip(names, session.seats, strict=True))
            ],
            "reveal": session.reveal,
            "open": session.open,
            "fresh": session.fresh,
            "viewer": session.viewer,
            "player": here.player,
            "over": here.over,
            "cursor": session.cursor,
            "length": len(session.actions),
            "record": _record(session),
            "legal": [action_data(session, a) for a in here.legal] if _may_see_legal(session, here) else [],
            "table": _table(session, here),
            "reward": [float(x) for x in here.out.reward[0]] if here.over else None,
            "file": _file(session),
        }


def _may_see_legal(session: Session, here: Position) -> bool:
    """An agent's legal cards would tell its hand."""
    return here.player >= 0 and (session.open or session.seats[here.player] == HUMAN)


def _table(session: Session, here: Position) -> Plain:
    table = here.tables[0]
    if session.setup.game in BRIDGE:
        return bridge(session, table)
    if session.setup.game == "spades_v0":
        return spades(session, table)
    if not isinstance(session.game, SignalGame):
        raise ValueError(f"{session.setup.game} cannot be shown")
    return signals(session, session.game, table, here.out.reward[0])


def card_of(game_id: str, action: int) -> int | None:
    """The card that ``action`` plays, if it does."""
    first = NUM_CALLS if game_id in BRIDGE else FIRST_CARD if game_id == "spades_v0" else None
    return None if first is None or action < first else action - first


def action_data(session: Session, action: int) -> Plain:
    """An action's number, text and card."""
    return {
        "action": action,
        "text": session.game.action_text(action),
        "card": card_of(session.setup.game, action),
    }


def _record(session: Session) -> list[Plain]:
    """Player, seat and text of every action of the record; all of them were public when they were taken."""
    actions = session.actions
    players = session.record.players(actions)
    seats = list(players)
    if session.setup.game in BRIDGE:  # declarer plays dummy's cards: the card is dummy's all the same
        table = session.record.replay(actions).tables[0]
        seats[int(table["length"]) :] = [int(seat) for seat in table["players"][: int(table["plays"])]]
    return [
        {"player": player, "seat": seat, **action_data(session, action)}
        for player, seat, action in zip(players, seats, actions, strict=True)
    ]


def _file(session: Session) -> Plain | None:
    if not session.boards:
        return None
    return {"name": session.source, "at": session.at_board, "boards": [_row(board) for board in session.boards]}


def _row(board: Any) -> Plain:
    return {
        "number": board.number,
        "complete": board.complete,
        "contract": board.contract,
        "declarer": board.declarer,
        "result": board.result,
        "calls": len(board.auction),
        "cards": len(board.play),
        "names": list(board.names),
    }


# ---- thoughts --------------------------------------------------------------------------------


def thoughts(session: Session, found: Thoughts, name: str) -> Plain:
    """``found`` as plain data: nan becomes null, cards and actions get their texts."""
    text: Callable[[int], Plain] = lambda action: action_data(session, action)  # noqa: E731
    here = session.position()
    return {
        "agent": name,
        "player": here.player,
        "text": found.text,
        "chances": [{**text(a), "value": _number(c)} for a, c in found.chances.items()],
        "values": [{**text(a), "value": _number(m), "error": _number(e)} for a, (m, e) in found.values.items()],
        "unit": found.unit,
        "facts": [list(fact) for fact in found.facts],
        "bars": [{"title": b.title, "kind": b.kind, "rows": [[w, _number(v)] for w, v in b.rows]} for b in found.bars],
        "curve": None
        if found.curve is None
        else {
            "title": found.curve.title,
            "across": found.curve.across,
            "up": found.curve.up,
            "points": [[_number(x), _number(y)] for x, y in found.curve.points],
            "here": [_number(x) for x in found.curve.here],
        },
        "belief": [{"seat": seat, "chances": [_number(x) for x in row]} for seat, row in found.belief.items()],
        "beliefSource": found.belief_source,
        "samples": [[{"seat": s, "cards": hand_cards(hand)} for s, hand in deal.items()] for deal in found.samples],
    }


def _number(x: float) -> float | None:
    return round(float(x), 5) if math.isfinite(x) else None
