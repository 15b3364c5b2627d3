"""A table of a small game as plain data."""

from typing import Any

from bidzoo.envs.signals.game import SignalGame
from bidzoo.envs.signals.state import OVER
from bidzoo.kernels import F32, Table
from bidzoo.play.session import Session


def signals(session: Session, game: SignalGame, table: Table, reward: F32) -> dict[str, Any]:
    """Types that may be seen, the actions in order with their player, and the result."""
    over = int(table["turn"]) == OVER
    seen = {0, 1} if session.open else {session.viewer}
    points = f"{float(reward[0]):+g}" if reward[0] else "0"
    actions = [int(action) for action in table["history"][: int(table["length"])]]
    return {
        "kind": "signals",
        "phase": "over" if over else "play",
        "turn": int(table["turn"]),
        "word": game.type_word,
        "types": [int(table["types"][p]) if p in seen else None for p in range(2)],
        "sizes": list(game.num_types),
        "history": [{"player": game.mover(i), "text": game.drawn_text(action)} for i, action in enumerate(actions)],
        "result": f"{game.drawn_result(table, float(reward[0]))}: {points}" if over else "",
    }
