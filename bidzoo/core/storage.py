"""Files that outlive a kill: replaced whole, or only ever added to; a torn end is cut off and the work goes on.

What is written is on disk when a call returns. A file that is added to has one writer at a time, or takes turns.
"""

import errno
import glob
import json
import os
import platform
import shlex
import stat
import sys
import tempfile
import time
import weakref
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from io import FileIO
from pathlib import Path
from typing import IO, Any, Generic, ParamSpec, Self, TypeVar, get_type_hints

import numpy as np

from bidzoo.core.kernels import U8
from bidzoo.core.schema import json_text, json_value, parse, shown, visible

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

P = ParamSpec("P")

# ---- replaced whole ----------------------------------------------------------------------


@contextmanager
def named(path: Path | str) -> Iterator[None]:
    """An OSError in here names ``path``, not the temporary files that writing it takes."""
    try:
        yield
    except OSError as problem:
        if problem.errno is None:
            raise
        reason = f"{problem.strerror or problem}"
        text = f"cannot be written: {reason[:1].lower()}{reason[1:]}"
        raise OSError(problem.errno, text, str(path)) from problem


def check_writable(path: Path, folder: bool = False) -> None:
    """Check that a file, or files in a ``folder``, can be written at ``path``; the trial leaves nothing behind.

    Raises:
        OSError, ValueError: they cannot; names ``path``.
    """
    with named(path):
        stream = _is_stream(path)
        if stream or (path.exists() and not (path.is_dir() if folder else path.is_file())):
            kind = "a folder" if path.is_dir() else "a file" if path.is_file() and not stream else "a device"
            raise ValueError(f"{path}: {kind}, expected {'a folder' if folder else 'a file'} to write")
        target = path.resolve()  # as ``replace_file`` does
        directory = target if folder else target.parent
        there = next((place for place in (directory, *directory.parents) if place.exists()), None)
        if there is None:  # a drive of Windows
            raise ValueError(f"{path}: there is no {directory.anchor}")
        tempfile.NamedTemporaryFile(dir=there, prefix=f".{target.name}.").close()


def _is_stream(path: Path) -> bool:
    """Whether ``path`` is a name of an open file, such as ``/dev/stdout``: nothing can be put in its place."""
    places = [path.absolute().parent.resolve(), *([Path(os.readlink(path))] if path.is_symlink() else [])]
    return any(place.parts[1:2] == ("proc",) for place in places)


_ABANDONED = 3600.0  # seconds after which nobody is still writing a temporary file


def replace_file(path: Path, content: bytes | Callable[[IO[bytes]], object], backup: bool = True) -> None:
    """Write ``content`` to ``path``, whole or not at all: to a file beside it, which is then renamed.

    Where ``path`` is a symbolic link, the file that it leads to is replaced. A function as ``content`` is called with
    the open file.

    Raises:
        OSError: it cannot be written; names ``path``, and with ``backup`` the temporary file that has the content if it
            fits elsewhere.
    """
    try:
        with named(path):
            target = path.resolve()
            target.parent.mkdir(parents=True, exist_ok=True)
            with _new_file(content, dir=target.parent, prefix=f".{target.name}.") as name:
                os.chmod(name, _mode(target))
                patiently(os.replace, name, target)
            _sync_folder(target.parent)
    except OSError as problem:
        if not backup:
            raise
        try:
            with _new_file(content, prefix=f"{path.stem}-", suffix=path.suffix) as copy:
                text = f"{problem.strerror or problem}; what was to be written is in {copy}"
        except OSError:
            raise problem from problem.__cause__
        raise OSError(problem.errno, text, str(path)) from problem
    with suppress(OSError):  # the file is there, whatever others have left beside it
        sweep(target, _ABANDONED)


_PATIENCE = 2.5  # seconds for which a file is tried again that another program has open on Windows


def patiently(action: Callable[P, object], *given: P.args, **more: P.kwargs) -> None:
    """``action``, which renames or removes: Windows refuses it while a reader, a scanner or an indexer has the file."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            action(*given, **more)
            return
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > end:
                raise
            time.sleep(0.05)


def _mode(target: Path) -> int:
    """Permissions of a file that takes the place of ``target``: the same, or those of any new file."""
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777  # a program's right to run as its owner does not pass to what is new
    mask = os.umask(0o077)  # can only be read by setting it, so that files of other threads are private meanwhile
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _new_file(content: bytes | Callable[[IO[bytes]], object], **place: Any) -> Iterator[str]:
    """Path of a new file with ``content``, on disk; an error in here removes it."""
    handle, name = tempfile.mkstemp(**place)
    try:
        with os.fdopen(handle, "wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield name
    except BaseException:
        with suppress(OSError):  # renamed before a signal came, or open in another program of Windows
            os.unlink(name)
        raise


def _sync_folder(folder: Path) -> None:
    """Make what was renamed and removed in ``folder`` stay so when the power fails."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(path: Path, age: float = 0.0) -> None:
    """Remove what calls of ``replace_file`` that were killed ``age`` seconds ago or earlier left of ``path``.

    With ``age`` 0 only while no other process writes ``path``.
    """
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.????????"):
        with suppress(FileNotFoundError, PermissionError):  # of another process, or open in one on Windows
            if not age or time.time() - leftover.stat().st_mtime >= age:  # a clock that was set back tells nothing
                leftover.unlink()


# ---- by one process at a time ------------------------------------------------------------

_FAR = 1 << 30  # the byte that is locked on Windows, where nobody may read what another has locked


class Lock:
    """A claim to write ``path`` alone, held by this process; a file beside it says so until the lock is released.

    Where the file system has no locks, as some of networks, a line on standard error says so, and nothing is claimed.

    Raises:
        ValueError: another one has it; names process, machine and command. Or what has the name of the lock is no lock:
            a link, as others may lay in a shared folder, or a file of another program. It stays as it is.
    """

    def __init__(self, path: Path) -> None:
        target = path.resolve()  # a file has one lock, whatever links lead to it
        lock_path = target.with_name(f"{target.name}.lock")
        while True:
            with named(path):
                target.parent.mkdir(parents=True, exist_ok=True)
                file = _lock_file(lock_path)
                try:
                    is_claimed = claim(file)
                except OSError:
                    file.close()
                    raise
            if not is_claimed:
                file.seek(0)
                holder = visible(file.read(_HOLDER).decode(errors="replace"))
                file.close()
                raise ValueError(f"{path}: already being written, by {holder or 'another process'}")
            if sys.platform == "win32" or _is_at(file, lock_path):
                break
            file.close()  # removed by its holder meanwhile
        self.release = weakref.finalize(self, _release, file, lock_path, os.getpid())
        with suppress(OSError):  # where the disk is full, the claim holds without saying whose it is
            file.truncate(0)
            holder = f"process {os.getpid()} on {platform.node()}: {shlex.join(getattr(sys, 'argv', []))}"
            file.write(holder.encode(errors="backslashreplace")[:_HOLDER])


_HOLDER = 300  # bytes at most that say who holds a lock
_BEGINNING = b"process "  # of them


def _lock_file(lock_path: Path) -> FileIO:
    """The open file of a lock, made if there is none; ValueError if what has its name is something else."""
    is_lock = False
    if not lock_path.is_symlink():
        file = open(lock_path, "a+b", buffering=0, opener=_open_no_link)  # noqa: SIM115  closed by its holder
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.seek(0)
            beginning = file.read(len(_BEGINNING))
            is_lock = beginning == _BEGINNING[: len(beginning)]
        if is_lock:
            return file
        file.close()
    raise ValueError(f"{lock_path}: not a lock of bidzoo's, and no other file may have that name; move it away")


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


_WITHOUT_LOCKS = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS)  # of a file system


def claim(file: FileIO) -> bool:
    """Whether the open ``file`` is locked now, until it is closed; True, with a line, where there are no locks."""
    try:
        if sys.platform == "win32":
            file.seek(_FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as problem:
        if problem.errno not in _WITHOUT_LOCKS:
            raise
        _say_without_locks(Path(os.fsdecode(file.name)).parent, str(problem.strerror))
    return True


@cache  # once a folder
def _say_without_locks(folder: Path, reason: str) -> None:
    print(f"bidzoo: {folder}: no locks here ({reason}), so let one process at a time write", file=sys.stderr)


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _release(file: FileIO, lock_path: Path, process: int) -> None:
    if sys.platform == "win32":  # where a file that is open cannot be removed
        file.close()
    if process == os.getpid():  # a forked child leaves it to its parent
        with suppress(OSError):  # on Windows another process may have it by now
            lock_path.unlink()
    file.close()


# ---- only ever added to ------------------------------------------------------------------

_SUM = 4  # bytes of a CRC-32


def _append(file: FileIO, content: bytes) -> None:
    """``append_file`` to an open one."""
    end = file.seek(0, os.SEEK_END)
    try:
        with named(Path(os.fsdecode(file.name))):
            rest = memoryview(content)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            file.truncate(end)
        raise


def append_file(path: Path, content: bytes) -> None:
    """Write ``content`` at the end of ``path``, on disk when this returns.

    Raises:
        OSError: it cannot be written; names ``path``, and nothing of ``content`` is there.
    """
    with open(path, "ab", buffering=0) as file:
        _append(file, content)


class Closing(ABC):
    """An open file, closed at the end of its ``with``."""

    @abstractmethod
    def close(self) -> None:
        """Close the file and let others at it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Growing(Closing):
    """A file that one process at a time adds to; what a kill cut short is cut off.

    Raises:
        ValueError: another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, Lock(path)
        self._opened: FileIO | None = None
        try:
            self._end = self._read(self._content() if path.exists() else b"")
        except BaseException:
            self.close()
            raise

    def _content(self) -> bytes:
        self._file.seek(0)
        return self._file.read()

    @property
    def _file(self) -> FileIO:
        """The open file, which is made when there is something to write: who never gets so far leaves none."""
        if self._opened is None:
            with named(self.path):
                self._opened = open(self.path, "a+b", buffering=0)  # noqa: SIM115  closed by close()
        return self._opened

    @abstractmethod
    def _read(self, content: bytes) -> int:
        """Take in what the file holds; the end of what is whole."""

    def _add(self, content: bytes) -> None:
        if self._file.seek(0, os.SEEK_END) != self._end:
            self._file.truncate(self._end)
        _append(self._file, content)
        self._end += len(content)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
        self._lock.release()


class Journal(Growing):
    """Records of ``size`` bytes in a file.

    First line: a JSON header that says what the records are. Then records, each followed by its CRC-32, which is of its
    place too. A torn tail (a partial record, or one whose sum is wrong) is cut off when the file is next opened.
    """

    def __init__(self, path: Path, header: dict[str, Any], size: int) -> None:
        """Open or create ``path``.

        Args:
            path: of the file.
            header: what the records are; an existing file must say the same.
            size: bytes in a record.

        Raises:
            ValueError: the file has another header, or another process works on it.
        """
        self.size, self._header = size, json_text(header, sort_keys=True).encode() + b"\n"
        super().__init__(path)

    def append(self, records: U8) -> None:
        """Add ``records`` ``[n, size]``; on disk when this returns.

        Raises:
            ValueError: records of another type or size, which would be read as others.
        """
        if records.dtype != np.uint8 or records.shape[1:] != (self.size,):
            given = f"{records.dtype} {list(records.shape)}"
            raise ValueError(f"{self.path}: records {given}, expected uint8 [n, {self.size}]")
        first = (self._end - len(self._header)) // (self.size + _SUM)
        self._add(b"".join(record.tobytes() + _sum(record, place) for place, record in enumerate(records, first)))

    def _read(self, content: bytes) -> int:
        """All good records ``[n, size]`` into ``at_opening``."""
        header, records, width = content[: len(self._header)], content[len(self._header) :], self.size + _SUM
        if not self._header.startswith(header):
            raise ValueError(
                f"{self.path}: header: {header.splitlines()[0][:200]!r}, expected {self._header.strip().decode()!r}"
            )
        if header != self._header:  # new, or killed while it wrote the header
            self._file.truncate(0)
            _append(self._file, self._header)
        lines = np.frombuffer(records, np.uint8, len(records) // width * width).reshape(-1, width)
        count = 0
        for line in lines:
            if line[self.size :].tobytes() != _sum(line[: self.size], count):
                break
            count += 1
        self.at_opening: U8 = lines[:count, : self.size].copy()
        end = len(self._header) + count * width
        self._file.truncate(end)
        return end


def _sum(record: U8, place: int) -> bytes:
    """The sum of the record at ``place``, so that a good one elsewhere is not taken for it."""
    return zlib.crc32(record.tobytes(), place).to_bytes(_SUM, "little")


def journaled(
    path: Path | None,
    header: dict[str, Any],
    size: int,
    count: int,
    rest: Callable[[int], Iterable[U8]],
    report: Callable[[int], None] = lambda done: None,
) -> U8:
    """Records ``[count, size]`` that take long to make; killed at any moment, the same call goes on from ``path``.

    Args:
        path: of the journal, which stays (its caller removes it when the records are safe elsewhere); None: no file.
        header: what the records depend on, but for their number: a later call may ask for fewer, or more.
        size: bytes in a record.
        count: number of records.
        rest: given how many there are, makes the others, some ``[n, size]`` at a time.
        report: hears how many there are, at the start and after every part.

    Raises:
        ValueError: the journal has another header, or another process works on it.
    """
    with Journal(path, header, size) if path else nullcontext() as journal:
        parts = [journal.at_opening[:count]] if journal else []
        done = sum(map(len, parts))
        report(done)
        for records in rest(done) if done < count else ():
            if journal:
                journal.append(records)
            parts.append(records)
            done += len(records)
            report(done)
    return np.concatenate(parts)


class Lines(Growing):
    """A file of lines."""

    def _read(self, content: bytes) -> int:
        """All whole lines into ``at_opening``."""
        end = content.rfind(b"\n") + 1
        self.at_opening, self.torn = content[:end].split(b"\n")[:-1], content[end:]
        return end

    def append(self, line: bytes) -> None:
        """Add ``line``; on disk when this returns. ValueError if it holds a line break: it would be read as two."""
        if b"\n" in line:
            raise ValueError(f"{self.path}: {line[:80]!r} holds a line break, expected one line")
        self._add(line + b"\n")


Job = TypeVar("Job", bound=tuple[Any, ...])
Outcome = TypeVar("Outcome", bound=tuple[Any, ...])


class Ledger(Closing, Generic[Job, Outcome]):
    """Finished jobs of a long run: ``done`` holds outcomes by job, both named tuples of JSON values.

    ``path`` has a line for each; without a path they are in memory only.

    Raises:
        ValueError: ``path`` holds something else, or another process has it open; names line and field. A last line
            that a kill cut short is dropped. There is no file before the first job has ended.
    """

    def __init__(self, path: str | Path | None, job: type[Job], outcome: type[Outcome]) -> None:
        self.path = None if path is None else Path(path)
        self.done: dict[Job, Outcome] = {}
        self._lines = None if self.path is None else Lines(self.path)
        self._line_numbers: dict[Job, int] = {}
        self._job, self._outcome, records = job, outcome, {"job": job, "outcome": outcome}
        self._kinds = {name: get_type_hints(record, include_extras=True) for name, record in records.items()}
        try:
            if self._lines:
                self._check_kind((self._lines.at_opening or [self._lines.torn])[0])
            for number, line in enumerate(self._lines.at_opening if self._lines else (), 1):
                self._read(line, number)
        except BaseException:
            self.close()
            raise

    def _check_kind(self, first: bytes) -> None:
        """ValueError unless the ``first`` line, of which there may be a beginning, begins as those of this ledger."""
        expected = f'{{"job": {{"{self._job._fields[0]}": '.encode()  # type: ignore[attr-defined]
        if first[: len(expected)] != expected[: len(first)]:
            problem = f"its first line begins {shown(first[:40])}, expected {shown(expected)}"
            raise ValueError(f"{self.path}: not a ledger of this kind: {problem}; choose another file")

    def _read(self, line: bytes, number: int) -> None:
        where = f"{self.path}, line {number}"
        try:
            key, outcome = self._entry(line, where)
        except ValueError as problem:
            raise ValueError(f"{problem}: not a finished job; without the line it is done again") from problem
        if key in self.done:
            raise ValueError(f"{where}: the job of line {self._line_numbers[key]} again, expected it once")
        self.done[key], self._line_numbers[key] = outcome, number

    def _entry(self, line: bytes, where: str) -> tuple[Job, Outcome]:
        """Job and outcome of a line; ValueError names ``where`` and the field."""
        entry = parse(self._kinds, json_value(line, where), where)
        try:
            return self._job(**entry["job"]), self._outcome(**entry["outcome"])
        except ValueError as problem:
            raise ValueError(f"{where}: {problem}") from problem

    def where(self, job: Job) -> str:
        """File and line of a job that was there when the ledger was opened."""
        return f"{self.path}, line {self._line_numbers[job]}" if job in self._line_numbers else str(self.path)

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep ``outcome``; on disk when this returns.

        Raises:
            ValueError: what would not be read as it is when the ledger is next opened, or a job that is there; names
                the field, and nothing is written.
        """
        line, where = _ledger_line(job, outcome), f"{self.path or 'ledger'}, to be added"
        if job in self.done or _ledger_line(*self._entry(line, where)) != line:
            raise ValueError(f"{where}: {shown(line)} would not be read again as it is, expected a new job's outcome")
        if self._lines:
            self._lines.append(line)
        self.done[job] = outcome

    def close(self) -> None:
        if self._lines:
            self._lines.close()


def _ledger_line(job: Any, outcome: Any) -> bytes:
    return json.dumps({"job": job._asdict(), "outcome": outcome._asdict()}).encode()
