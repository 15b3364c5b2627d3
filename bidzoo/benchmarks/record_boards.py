"""Match records as boards of PBN and LIN files, for bridge software."""

from typing import Any

from bidzoo.cards import NUM_CARDS, call_number, card_number, hand_number, seat_number
from bidzoo.envs.bridge.files.board import Board, Call
from bidzoo.envs.bridge.options import VULNERABILITIES


def board_of(record: dict[str, Any]) -> Board:
    """The table of ``record``; room, score and IMPs are PBN tags, for which LIN has no place."""
    north, east, south, west = (hand_number(hand) for hand in record["deal"].removeprefix("N:").split())
    tags = {
        "Event": f"bidzoo {record['version']}, seed {record['seed']}",
        "Room": record["room"].capitalize(),
        "Scoring": "IMP",
    }
    if record["score"] is not None:
        tags["Score"] = f"NS {record['score']}"
    if record["imps"] is not None:
        tags["ScoreIMP"] = f"{'NS' if record['room'] == 'open' else 'EW'} {record['imps']}"
    if record["tricks"] is not None and len(record["cards"]) < NUM_CARDS:
        tags["ResultSource"] = "double dummy"
    names: list[str] = record["players"]
    return Board(
        number=record["board"] + 1,
        dealer=seat_number(record["dealer"]),
        vulnerable=VULNERABILITIES.index(record["vulnerability"]),
        hands=(north, east, south, west),
        auction=tuple(Call(call_number(text)) for text in record["calls"]),
        contract=record["contract"],
        declarer=None if record["declarer"] is None else seat_number(record["declarer"]),
        play=tuple(card_number(text) for text in record["cards"]),
        result=record["tricks"],
        tricks=tuple(record["double_dummy"]) if min(record["double_dummy"]) >= 0 else None,
        names=(names[0], names[1], names[2], names[3]),
        tags=tags,
    )
