"""Double-dummy results found before, kept in a file: a match on fresh deals solves each contract once."""

from pathlib import Path

import numpy as np

from bidzoo.envs.bridge.deals import UNKNOWN
from bidzoo.envs.bridge.files import deal_file
from bidzoo.envs.bridge.files.journal import Journal
from bidzoo.kernels import I8, I64


class TrickCache:
    """Double-dummy results by deal, kept in a file; several processes may share it."""

    def __init__(self, path: str | Path) -> None:
        """Open or create ``path``; ValueError if it is another kind of file."""
        size = deal_file.OWNER_BYTES + deal_file.TRICK_BYTES
        self._journal = Journal(Path(path), {"bidzoo": "double-dummy cache", "format": 1}, size)
        self._tables: dict[bytes, I8] = {}
        records = self._journal.at_opening
        owner, numbers = np.split(records, [deal_file.OWNER_BYTES], axis=1)
        self._merge(owner, deal_file.unpack_tricks(numbers))

    def __len__(self) -> int:
        """Deals of which anything is known."""
        return len(self._tables)

    def lookup(self, hands: I64) -> I8:
        """What is known of deals ``[n, 4]``: tables ``[n, 20]``, -1 where nothing is."""
        nothing = np.full(20, UNKNOWN, np.int8)
        known = [self._tables.get(deal.tobytes(), nothing) for deal in deal_file.pack_hands(hands)]
        return np.array(known, np.int8).reshape(-1, 20)

    def add(self, hands: I64, tricks: I8) -> None:
        """Remember tables ``[n, 20]`` (-1: nothing new) of deals ``[n, 4]``, here and in the file."""
        owner = deal_file.pack_hands(hands)
        self._journal.append(np.hstack([owner, deal_file.pack_tricks(tricks)]))
        self._merge(owner, tricks)

    def __enter__(self) -> "TrickCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._journal.close()

    def _merge(self, owner: deal_file.U8, tricks: I8) -> None:
        for deal, table in zip(owner, tricks, strict=True):
            before = self._tables.get(deal.tobytes(), table)
            self._tables[deal.tobytes()] = np.where(table == UNKNOWN, before, table)
