"""Deal files: 23 bytes a deal before compression, an ``.npz`` without pickles.

``owner`` uint8 ``[n, 13]``: byte ``r`` holds the seats of the four cards of rank ``r``, two bits each, clubs lowest.
``tricks`` uint8 ``[n, 10]``: two numbers of a double-dummy table to a byte, low four bits first; 14 = not known.
``format``: 1. ``provenance``: a JSON text, where the deals come from. Both may be missing in files made elsewhere.
"""

import io
import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bidzoo.kernels import I8, I64

U8 = NDArray[np.uint8]

FORMAT = 1
OWNER_BYTES, TRICK_BYTES = 13, 10
_UNKNOWN_IN_FILE = 14

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
    """Bytes ``[n, 10]`` of tables ``[n, 20]``."""
    numbers = np.where(tricks < 0, _UNKNOWN_IN_FILE, tricks).astype(np.uint8)
    return (numbers[:, ::2] | numbers[:, 1::2] << 4).astype(np.uint8)


def unpack_tricks(numbers: U8) -> I8:
    """Tables ``[n, 20]`` of bytes ``[n, 10]``; 15 tricks stay 15, for the check to find."""
    tricks = np.empty((len(numbers), 20), np.int8)
    tricks[:, ::2], tricks[:, 1::2] = numbers & 15, numbers >> 4
    tricks[tricks == _UNKNOWN_IN_FILE] = -1
    return tricks


def replace_file(path: Path, content: bytes) -> None:
    """``path`` holds ``content``, or what it held before: written beside it, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    """The process's file mode mask (``mkstemp`` ignores it)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write(path: Path, hands: I64, tricks: I8, provenance: dict[str, Any]) -> None:
    """Same deals, same provenance: same bytes."""
    text = np.array(json.dumps(provenance, sort_keys=True))
    content = io.BytesIO()
    np.savez_compressed(
        content, format=np.array(FORMAT), provenance=text, owner=pack_hands(hands), tricks=pack_tricks(tricks)
    )
    replace_file(path, content.getvalue())


def read(path: Path) -> tuple[I64, I8, dict[str, Any]]:
    """Hands ``[n, 4]``, tables ``[n, 20]`` and provenance; shapes are checked, the deals are not."""
    fields = _fields(path)
    version = fields.get("format", np.array(FORMAT))
    if version.shape != () or version != FORMAT:
        raise ValueError(f"{path}: format: {version} is not known, expected {FORMAT}")
    for name, width in (("owner", OWNER_BYTES), ("tricks", TRICK_BYTES)):
        if name not in fields:
            raise ValueError(f"{path}: {name}: missing; the file holds {', '.join(fields) or 'nothing'}")
        field = fields[name]
        if field.dtype != np.uint8 or field.ndim != 2 or field.shape[1] != width:
            raise ValueError(f"{path}: {name}: {field.dtype} {list(field.shape)}, expected uint8 [n, {width}]")
    owner, tricks = fields["owner"], fields["tricks"]
    if len(owner) != len(tricks):
        raise ValueError(f"{path}: tricks: {len(tricks)} tables, expected {len(owner)}, one for each deal of owner")
    return unpack_hands(owner), unpack_tricks(tricks), _provenance(path, fields.get("provenance"))


def _fields(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz``; a file that is truncated, or no ``.npz``, is a ValueError."""
    fields: dict[str, NDArray[Any]] = {}
    name = "archive"
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as file:
                    fields[name.removesuffix(".npy")] = np.lib.format.read_array(file, allow_pickle=False)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        SyntaxError,
    ) as error:
        raise ValueError(f"{path}: {name}: {error}; expected an .npz deal file") from error
    return fields


def _provenance(path: Path, text: NDArray[Any] | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        provenance = json.loads(str(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: provenance: {error}; expected a JSON object") from error
    if not isinstance(provenance, dict):
        raise ValueError(f"{path}: provenance: {text}; expected a JSON object")
    return provenance
