"""Deal files: 23 bytes a deal before compression, an ``.npz`` without pickles.

``owner`` uint8 ``[n, 13]``: byte ``r`` holds the seats of the four cards of rank ``r``, two bits each, clubs lowest.
``tricks`` uint8 ``[n, 10]``: two of the 20 double-dummy tricks to a byte, low four bits first; 14 = not known.
``format``: 1. ``provenance``: a JSON text, where the deals come from. Both may be missing in files made elsewhere.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from bidzoo.core.arrays import Numbers, Plan, Text, load_npz, save_npz
from bidzoo.core.kernels import I8, I64, U8
from bidzoo.core.schema import json_value, parse

FORMAT = 1
OWNER_BYTES, TRICK_BYTES = 13, 10
_UNKNOWN_IN_FILE = 14
_PLAN: Plan = {
    "format": Numbers((), FORMAT, FORMAT, required=False),
    "provenance": Text(),
    "owner": Numbers(("n", OWNER_BYTES), 0, 255),
    "tricks": Numbers(("n", TRICK_BYTES), 0, 255),
}

_CODES = np.arange(256)
_SEAT_OF = _CODES[:, None] >> 2 * np.arange(4) & 3  # [256, 4]  byte, suit
_NIBBLES = ((_SEAT_OF[:, None] == np.arange(4)[:, None]) << np.arange(4)).sum(2)  # [256, 4]  byte, seat: suits held
_SPREAD = ((np.arange(16)[:, None] >> np.arange(4) & 1) << 2 * np.arange(4)).sum(1)  # [16]  bit s at bit 2s


def pack_hands(hands: I64) -> U8:
    """``owner`` bytes ``[n, 13]`` of deals ``[n, 4]``."""
    suits = hands[:, None, :] >> 4 * np.arange(OWNER_BYTES)[:, None] & 15  # [n, rank, seat]
    return (_SPREAD[suits] * np.arange(4)).sum(2).astype(np.uint8)


def unpack_hands(owner: U8) -> I64:
    """Deals ``[n, 4]`` of bytes ``[n, 13]``."""
    hands = np.zeros((len(owner), 4), np.int64)
    for rank in range(OWNER_BYTES):
        hands |= _NIBBLES[owner[:, rank]] << 4 * rank
    return hands


def pack_tricks(tricks: I8) -> U8:
    """Bytes ``[n, 10]`` of tricks ``[n, 20]``."""
    numbers = np.where(tricks < 0, _UNKNOWN_IN_FILE, tricks).astype(np.uint8)
    return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)


def unpack_tricks(numbers: U8) -> I8:
    """Tricks ``[n, 20]`` of bytes ``[n, 10]``; 15 tricks stay 15, for the check to find."""
    tricks = np.empty((len(numbers), 20), np.int8)
    tricks[:, ::2], tricks[:, 1::2] = numbers & 15, numbers >> 4
    tricks[tricks == _UNKNOWN_IN_FILE] = -1
    return tricks


def write(path: Path, hands: I64, tricks: I8, provenance: dict[str, Any]) -> None:
    """Same deals, same provenance: same bytes."""
    text = np.array(json.dumps(provenance, sort_keys=True))
    save_npz(path, format=np.array(FORMAT), provenance=text, owner=pack_hands(hands), tricks=pack_tricks(tricks))


def read(path: Path) -> tuple[I64, I8, dict[str, Any]]:
    """Hands ``[n, 4]``, tricks ``[n, 20]`` and provenance; shapes are checked, the deals are not."""
    fields = load_npz(path, "an .npz deal file", _PLAN)
    text, where = str(fields.get("provenance", "{}")), f"{path}: provenance"
    provenance = parse(dict[str, Any], json_value(text, where), where)
    return unpack_hands(fields["owner"]), unpack_tricks(fields["tricks"]), provenance
