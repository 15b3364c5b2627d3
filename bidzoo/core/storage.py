"""Files that outlive a kill: replaced whole, or only ever added to; a torn end is cut off and the work goes on."""

import io
import json
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.kernels import U8

if sys.platform != "win32":
    import fcntl

# ---- replaced whole ----------------------------------------------------------------------


def replace_file(path: Path, content: bytes) -> None:
    """``path`` holds ``content``, or what it held before: written beside it, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)  # ``mkstemp`` ignores the process's file mode mask
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def save_npz(path: Path, **fields: Any) -> None:
    """``replace_file`` with a compressed ``.npz`` of ``fields``; the same arrays give the same bytes."""
    content = io.BytesIO()
    np.savez_compressed(content, **fields)
    replace_file(path, content.getvalue())


def load_npz(
    path: Path, what: str, rows: Mapping[str, tuple[int, ...]], dtype: type = np.integer
) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz``.

    Args:
        path: of the file.
        what: the file should be, in words.
        rows: the fields that must be there, ``[n, *shape]``, and the shape of each.
        dtype: of these fields.

    Raises:
        ValueError: a file that is truncated or no ``.npz``, or a field that is missing or has another shape.
    """
    fields: dict[str, NDArray[Any]] = {}
    name = "archive"
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as file:
                    fields[name.removesuffix(".npy")] = np.lib.format.read_array(file, allow_pickle=False)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, SyntaxError) as problem:
        raise ValueError(f"{path}: {name}: {problem}; expected {what}") from problem
    for name, shape in rows.items():
        if name not in fields:
            raise ValueError(f"{path}: {name}: missing; the file holds {', '.join(fields) or 'nothing'}")
        field = fields[name]
        if not np.issubdtype(field.dtype, dtype) or field.ndim != 1 + len(shape) or field.shape[1:] != shape:
            expected = f"{'integers' if dtype is np.integer else dtype.__name__} [{', '.join(['n', *map(str, shape)])}]"
            raise ValueError(f"{path}: {name}: {field.dtype} {list(field.shape)}, expected {expected}")
    return fields


# ---- only ever added to ------------------------------------------------------------------

_SUM = 4  # bytes of a CRC-32


class Journal:
    """Records of ``size`` bytes in a file. Several processes may append to it (on POSIX; elsewhere one at a time).

    First line: a JSON header that says what the records are. Then records, each followed by its CRC-32. A torn
    tail (a partial record, or one whose sum is wrong) is cut off when the file is next opened or appended to.
    """

    def __init__(self, path: Path, header: dict[str, Any], size: int, alone: bool = False) -> None:
        """Open or create ``path``.

        Args:
            path: of the file.
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
        content, width = self._file.read(), self.size + _SUM
        lines = np.frombuffer(content, np.uint8, len(content) // width * width).reshape(-1, width)
        good = 0
        for line in lines:
            if zlib.crc32(line[: self.size].tobytes()) != int.from_bytes(line[self.size :].tobytes(), "little"):
                break
            good += 1
        if good * width < len(content):
            self._file.truncate(len(self._header) + good * width)
        return lines[:good, : self.size].copy()


def whole_lines(path: Path) -> list[bytes]:
    """The lines of ``path``; a last one that a kill cut short is cut off."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)
    return content[:end].splitlines()


Job = TypeVar("Job", bound=tuple[Any, ...])
Outcome = TypeVar("Outcome", bound=tuple[Any, ...])


class Ledger(Generic[Job, Outcome]):
    """Finished jobs of a long run: ``done`` holds outcomes by job, both named tuples of JSON values.

    ``path`` has a line for each; without a path they are in memory only.

    Raises:
        ValueError: ``path`` holds something else; names the line. A last line that a kill cut short is dropped.
    """

    def __init__(self, path: str | Path | None, job: type[Job], outcome: type[Outcome]) -> None:
        self.path = None if path is None else Path(path)
        self.done: dict[Job, Outcome] = {}
        if self.path is None or not self.path.exists():
            return
        for number, line in enumerate(whole_lines(self.path), 1):
            try:
                entry = json.loads(line)
                self.done[job(**entry["job"])] = outcome(**entry["outcome"])
            except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as problem:
                raise ValueError(f"{path}, line {number}: not a finished job ({problem})") from problem

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep ``outcome``; on return it is with the operating system."""
        self.done[job] = outcome
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            entry = {"job": job._asdict(), "outcome": outcome._asdict()}  # type: ignore[attr-defined]
            with self.path.open("ab") as file:
                file.write(json.dumps(entry).encode() + b"\n")
