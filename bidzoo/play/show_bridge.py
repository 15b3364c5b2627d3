"""A bridge table as plain data, and its double-dummy table."""

from typing import Any

import numpy as np

from bidzoo.cards import hand_cards
from bidzoo.envs.bridge import wording
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY
from bidzoo.kernels import Table
from bidzoo.play.session import Session

PHASES = {AUCTION: "auction", PLAY: "play", OVER: "over"}


def bridge(session: Session, table: Table) -> dict[str, Any]:
    """Hands that may be seen, the auction, the current trick and how it stands."""
    phase, plays, declarer = int(table["phase"]), int(table["plays"]), int(table["declarer"])
    dummy = (declarer + 2) % 4 if plays and declarer >= 0 else -1
    seen = {0, 1, 2, 3} if session.open else {session.viewer, dummy}
    held = table["hands" if phase != PLAY else "held"]
    tricks = wording.tricks(table)
    return {
        "kind": "bridge",
        "phase": PHASES[phase],
        "dealer": int(table["dealer"]),
        "vulnerable": int(table["vulnerable"]),
        "hands": [hand_cards(int(hand)) if seat in seen else None for seat, hand in enumerate(held)],
        "counts": [int(hand).bit_count() for hand in held],
        "calls": [int(call) for call in table["calls"][: int(table["length"])]],
        "contract": wording.contract(table) if int(table["bid"]) >= 0 or phase != AUCTION else "",
        "declarer": declarer,
        "dummy": dummy,
        "strain": int(table["bid"]) % 5 if declarer >= 0 else None,
        "turn": int(table["hand_to_play"] if phase == PLAY else table["turn"]),
        "trick": _trick(tricks, int(table["bid"]) % 5),
        "tricks": len(tricks),
        "won": [int(n) for n in table["won"]],
        "result": wording.result(table) or ("passed out" if phase == OVER else ""),
    }


def _trick(tricks: list[tuple[list[int], int]], trump: int) -> dict[str, Any] | None:
    """The trick on the table: the current one, or the last as long as nobody has led to the next."""
    if not tricks:
        return None
    cards, leader = tricks[-1]
    done = min(cards) >= 0
    return {"cards": cards, "leader": leader, "winner": wording.winner(cards, leader, trump) if done else -1}


def double_dummy(session: Session) -> dict[str, Any]:
    """Tricks of every declarer in every strain, and par for North/South; solved now if the deal has no table.

    Raises:
        ValueError: it would tell a player the hidden hands.
    """
    from bidzoo.envs.bridge.par import par
    from bidzoo.envs.bridge.solving.solve import table_of

    with session.lock:
        table, visible = session.position().tables[0].copy(), session.open
    if "tricks" not in (table.dtype.names or ()):
        raise ValueError("only bridge deals have a double-dummy table")
    if not visible:
        raise ValueError(
            "the double-dummy table would tell the hidden hands: it is shown at the end, or with 'show all'"
        )
    known = np.asarray(table["tricks"])
    tricks = known if (known >= 0).all() else table_of(np.asarray(table["hands"]))
    points = int(par(np.asarray(tricks)[None], int(table["dealer"]), int(table["vulnerable"]))[0])
    return {"tricks": [int(n) for n in tricks], "par": points, "words": wording.score(points) if points else "0"}
