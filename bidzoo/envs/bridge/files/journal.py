"""An append-only file of fixed-size records that survives being killed at any moment.

First line: a JSON header that says what the records are. Then records, each followed by its CRC-32. A torn
tail (a partial record, or one whose sum is wrong) is cut off when the file is next opened or appended to.
"""

import json
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from bidzoo.envs.bridge.files.deal_file import U8

if sys.platform != "win32":
    import fcntl

_SUM = 4  # bytes of a CRC-32


class Journal:
    """Records of ``size`` bytes. Several processes may append to one file (on POSIX; elsewhere one at a time)."""

    def __init__(self, path: Path, header: dict[str, Any], size: int, alone: bool = False) -> None:
        """Open or create ``path``.

        Args:
            header: what the records are; an existing file must say the same.
            size: bytes in a record.
            alone: refuse a file that another process has open this way, and keep others out until closed.

        Raises:
            ValueError: the file has another header, or another process works on it.
        """
        self.path, self.size, self._alone = path, size, alone
        self._header = json.dumps(header, sort_keys=True).encode() + b"\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "a+b")  # noqa: SIM115  closed by close()
        try:
            if alone:
                self._claim()
            with self._turn():
                self._check_header()
                self.at_opening = self._whole_records()
        except BaseException:
            self.close()
            raise

    def append(self, records: U8) -> None:
        """Add ``records`` ``[n, size]``; on return they are with the operating system."""
        lines = b"".join(record.tobytes() + zlib.crc32(record.tobytes()).to_bytes(_SUM, "little") for record in records)
        with self._turn():
            end = self._file.seek(0, 2)
            torn = (end - len(self._header)) % (self.size + _SUM)
            if torn:
                self._file.truncate(end - torn)
            self._file.write(lines)
            self._file.flush()

    def close(self) -> None:
        """Close the file and let others at it."""
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def _claim(self) -> None:
        if sys.platform != "win32":
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ValueError(f"{self.path}: another process is writing this file") from error

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Nobody else writes meanwhile."""
        if self._alone or sys.platform == "win32":
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _check_header(self) -> None:
        self._file.seek(0)
        found = self._file.read(len(self._header))
        if found == self._header:
            return
        if not self._header.startswith(found):
            raise ValueError(
                f"{self.path}: header: {found.splitlines()[0][:200]!r}, expected {self._header.strip().decode()!r}"
            )
        self._file.truncate(0)  # killed while it wrote the header
        self._file.write(self._header)
        self._file.flush()

    def _whole_records(self) -> U8:
        """All good records ``[n, size]``; what follows them is cut off."""
        self._file.seek(len(self._header))
        content = self._file.read()
        lines = np.frombuffer(content, np.uint8, len(content) // (self.size + _SUM) * (self.size + _SUM))
        lines = lines.reshape(-1, self.size + _SUM)
        good = 0
        for line in lines:
            if zlib.crc32(line[: self.size].tobytes()) != int.from_bytes(line[self.size :].tobytes(), "little"):
                break
            good += 1
        if good * (self.size + _SUM) < len(content):
            self._file.truncate(len(self._header) + good * (self.size + _SUM))
        return lines[:good, : self.size].copy()
