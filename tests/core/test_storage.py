"""Files that outlive kills, full disks and company: locks, appends, and readers that know what must be there."""

import errno
import fcntl
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

import numpy as np
import pytest

from bidzoo.core import compiler, storage
from bidzoo.core.arrays import EXPANSION, ROOM, Floats, Numbers, Tensor, Text, digest, load_npz, load_tensors
from bidzoo.core.kernels import without_padding
from bidzoo.core.options import Checked, Count, Length, NotFinite, Range, Whole, column, integers
from bidzoo.core.schema import json_value, parse
from bidzoo.core.storage import Journal, Ledger, Lines, Lock, append_file, check_writable, replace_file, sweep

# ---- one at a time -------------------------------------------------------------------------

HOLDER = "import sys; from pathlib import Path; from bidzoo.core.storage import Lines\n"
HOLDER += "lines = Lines(Path(sys.argv[1])); lines.append(b'first'); print('ready', flush=True); input()"


def test_a_second_process_is_refused_and_told_who_writes(tmp_path):
    path = tmp_path / "ledger"
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    with path.open("ab") as file:
        file.write(b"in fli")  # a line of the child, half of it
    with pytest.raises(ValueError, match=rf"ledger: already being written, by process {child.pid} on .*: -c "):
        Lines(path)
    assert path.read_bytes() == b"first\nin fli"  # nothing was cut off
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    lines = Lines(path)
    assert lines.at_opening == [b"first"]
    lines.append(b"second")
    lines.close()
    assert path.read_bytes() == b"first\nsecond\n"
    assert os.listdir(tmp_path) == ["ledger"]


def test_a_lock_is_free_again_when_it_is_dropped(tmp_path):
    lock = Lock(tmp_path / "a")
    with pytest.raises(ValueError, match=f"by process {os.getpid()} on"):
        Lock(tmp_path / "a")
    lock.release()
    lock.release()
    Lock(tmp_path / "a")  # and this one is dropped at once
    Lock(tmp_path / "a").release()
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links are for administrators there")
def test_a_file_has_one_writer_whatever_links_lead_to_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    lines = Lines(tmp_path / "a")
    with pytest.raises(ValueError, match="link: already being written"):
        Lines(tmp_path / "link")
    lines.close()


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be removed there")
def test_a_lock_is_claimed_on_the_file_that_is_there(tmp_path, monkeypatch):
    """Not on one that its holder removed between opening and claiming: two would hold a lock each."""
    claims, claim = [], storage.claim

    def slowly(file):
        claims.append(file)
        if len(claims) == 1:
            (tmp_path / "a.lock").unlink()
        return claim(file)

    monkeypatch.setattr(storage, "claim", slowly)
    lock = Lock(tmp_path / "a")
    assert len(claims) == 2 and (tmp_path / "a.lock").exists()
    with pytest.raises(ValueError, match="already being written"):
        Lock(tmp_path / "a")
    lock.release()


@pytest.mark.skipif(sys.platform == "win32", reason="links are for administrators there")
@pytest.mark.parametrize("what", ["link", "link to nothing", "hard link", "file of another program", "pipe", "huge"])
def test_only_a_lock_is_taken_for_one(tmp_path, what):
    """Others may lay anything into a shared folder: a link would empty the file that it leads to."""
    precious, lock_path = tmp_path / "precious", tmp_path / "a.lock"
    precious.write_text("pinned = 1")
    match what:
        case "link":
            lock_path.symlink_to(precious)
        case "link to nothing":
            lock_path.symlink_to(tmp_path / "new")
        case "hard link":
            os.link(precious, lock_path)
        case "file of another program":
            lock_path.write_text("pinned = 1")
        case "pipe":
            os.mkfifo(lock_path)
        case "huge":
            with lock_path.open("wb") as file:
                file.truncate(1 << 42)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ValueError, match=r"a\.lock: not a lock of bidzoo's"):
        Lock(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == before and precious.read_text() == "pinned = 1"
    if what == "file of another program":
        assert lock_path.read_text() == "pinned = 1"


def test_what_a_lock_says_of_its_holder_is_a_line_at_most(tmp_path):
    with (tmp_path / "a.lock").open("wb", buffering=0) as file:
        file.write(b"process \x1b]0;mine\x07" + b"x" * 10_000)
        assert storage.claim(file)
        with pytest.raises(ValueError, match=r"by process \\x1b\]0;mine\\x07xxx") as caught:
            Lock(tmp_path / "a")
    assert len(str(caught.value)) < 500 and str(caught.value).isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_files_of_other_threads_are_private_while_the_mask_is_read(tmp_path, monkeypatch):
    """Reading it sets it for the whole process; a file that another thread opens then must not be for everybody."""
    masks, umask = [], os.umask
    monkeypatch.setattr(os, "umask", lambda mask: (masks.append(mask), umask(mask))[1])
    replace_file(tmp_path / "a", b"")
    assert masks[0] == 0o077 and len(masks) == 2


class Msvcrt:
    """Locks of Windows: whoever comes second is refused."""

    LK_NBLCK = 2

    @staticmethod
    def locking(handle, mode, count):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            raise PermissionError(errno.EACCES, "Permission denied") from problem


@pytest.fixture
def windows(monkeypatch):
    """Windows, as far as ``storage`` and ``compiler`` ask for it."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(storage, "msvcrt", Msvcrt, raising=False)


def test_on_windows_a_lock_is_closed_before_its_file_is_removed(tmp_path, monkeypatch, windows):
    """A file that is open stays there. Another process may have it by then, to which it is left."""
    opened, refused, unlink = [], [], Path.unlink
    claim = storage.claim
    monkeypatch.setattr(storage, "claim", lambda file: (opened.append(file), claim(file))[1])

    def remove(path, **more):
        if refused or not opened[0].closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        unlink(path, **more)

    monkeypatch.setattr(Path, "unlink", remove)
    Lock(tmp_path / "a").release()
    assert os.listdir(tmp_path) == []
    refused.append(True)
    opened.clear()
    Lock(tmp_path / "a").release()
    assert os.listdir(tmp_path) == ["a.lock"] and opened[0].closed


def fails_to_lock(monkeypatch, number):
    def flock(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS])
def test_where_the_file_system_has_no_locks_a_line_says_so(tmp_path, monkeypatch, capsys, number):
    fails_to_lock(monkeypatch, number)
    for name in ("a", "b"):
        with Lines(tmp_path / name) as lines:
            lines.append(b"line")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    reason = f"no locks here ({os.strerror(number)})"
    assert capsys.readouterr().err == f"bidzoo: {tmp_path}: {reason}, so let one process at a time write\n"


def test_a_lock_that_fails_otherwise_names_the_file(tmp_path, monkeypatch):
    fails_to_lock(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="cannot be written: input/output error") as caught:
        Lock(tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_one_process_at_a_time_compiles(tmp_path, monkeypatch, system):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(storage, "msvcrt", Msvcrt, raising=False)
    with compiler._turn(tmp_path / "kernels"):
        (path,) = (tmp_path / "kernels").iterdir()
        with path.open("ab", buffering=0) as other:
            assert not storage.claim(other)
    with path.open("ab", buffering=0) as other:
        assert storage.claim(other)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
def test_a_forked_child_leaves_the_lock_to_its_parent(tmp_path):
    lock = Lock(tmp_path / "a")
    if (child := os.fork()) == 0:
        lock.release()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(ValueError, match="already being written"):
        Lock(tmp_path / "a")
    lock.release()


# ---- a disk that fills and frees -------------------------------------------------------------


class Job(NamedTuple):
    name: str
    seed: int


class Outcome(NamedTuple):
    value: float


@pytest.fixture
def full(monkeypatch):
    """``full(n)``: the disk takes ``n`` more bytes, then nothing, until ``full(None)``."""
    room = [None]

    class Disk(io.FileIO):
        def write(self, content):
            if room[0] is None:
                return super().write(content)
            if room[0] == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            taken = super().write(bytes(content[: room[0]]))
            room[0] -= taken
            return taken

    def opened(path, mode="r", buffering=-1, **more):
        return Disk(path, mode) if buffering == 0 else open(path, mode, buffering, **more)

    monkeypatch.setattr(storage, "open", opened, raising=False)
    return lambda n: room.__setitem__(0, n)


def test_a_ledger_outlives_a_full_disk(tmp_path, full):
    path = tmp_path / "ledger"
    with Ledger(path, Job, Outcome) as ledger:
        ledger.add(Job("a", 0), Outcome(1.0))
        for left in (0, 1, 30):
            full(left)
            with pytest.raises(OSError, match="cannot be written: no space left"):
                ledger.add(Job("b", 1), Outcome(2.0))
            assert Job("b", 1) not in ledger.done
        full(None)
        ledger.add(Job("c", 2), Outcome(3.0))
    assert [json.loads(line)["job"]["name"] for line in path.read_text().splitlines()] == ["a", "c"]
    with Ledger(path, Job, Outcome) as again:
        assert again.done == ledger.done


def test_a_journal_outlives_a_full_disk(tmp_path, full):
    records = np.arange(12, dtype=np.uint8).reshape(3, 4)
    with Journal(tmp_path / "j", {"size": 4}, 4) as journal:
        journal.append(records[:1])
        for left in (0, 3, 7):
            full(left)
            with pytest.raises(OSError, match="cannot be written: no space left"):
                journal.append(records[1:2])
        full(None)
        journal.append(records[2:])
    with Journal(tmp_path / "j", {"size": 4}, 4) as journal:
        np.testing.assert_array_equal(journal.at_opening, records[[0, 2]])


def test_what_is_appended_is_all_there_or_not_at_all(tmp_path, full):
    append_file(tmp_path / "f", b"one ")
    for left in (0, 2):
        full(left)
        with pytest.raises(OSError, match="cannot be written: no space left"):
            append_file(tmp_path / "f", b"two ")
    full(None)
    append_file(tmp_path / "f", b"three")
    assert (tmp_path / "f").read_bytes() == b"one three"


class Task(NamedTuple):
    name: str
    number: int = 0


class Came(NamedTuple):
    texts: tuple[str, ...]
    value: float | None = 0.0


@pytest.mark.parametrize(
    ("task", "came", "fault"),
    [
        (Task("a \ud83d"), Came(()), "not JSON .*surrogates not allowed"),
        (Task("a"), Came(("\udc00",)), "not JSON .*surrogates not allowed"),
        (Task("a", 10**20), Came(()), "integer 10000.* of 21 digits"),
        (Task("a", 1.0), Came(()), r"job\.number: 1\.0, expected"),
        (Task("a"), Came((), float("nan")), r"outcome\.value: nan, expected"),
        (Task("a"), Came(("x", None)), r"outcome\.texts\[1\]: None, expected"),
        (Task(None), Came(()), r"job\.name: None, expected"),
        (Task("there"), Came(()), "expected a new job's outcome"),
    ],
)
def test_a_ledger_takes_nothing_that_it_would_not_read_again(tmp_path, task, came, fault):
    with Ledger(tmp_path / "ledger", Task, Came) as ledger:
        ledger.add(Task("there"), Came(("é\u2028\x00\U0001f600",), None))
        before, known = (tmp_path / "ledger").read_bytes(), dict(ledger.done)
        with pytest.raises(ValueError, match=rf"ledger, to be added: .*{fault}"):
            ledger.add(task, came)
        assert (tmp_path / "ledger").read_bytes() == before and ledger.done == known
        ledger.add(Task("more", 10**20 - 1), Came(("",), 1e308))
    with Ledger(tmp_path / "ledger", Task, Came) as again:
        assert again.done == ledger.done and len(again.done) == 2


def test_what_is_appended_is_of_the_form_that_is_read(tmp_path):
    with Lines(tmp_path / "lines") as lines:
        lines.append(b"one")
        with pytest.raises(ValueError, match=r"lines: b'two.nlines' holds a line break"):
            lines.append(b"two\nlines")
    with Journal(tmp_path / "journal", {}, 3) as journal:
        journal.append(np.ones((2, 3), np.uint8))
        for wrong in (np.ones((1, 2), np.uint8), np.ones((1, 3), np.int64), np.ones(3, np.uint8)):
            with pytest.raises(ValueError, match=rf"journal: records {wrong.dtype} .*, expected uint8 \[n, 3\]"):
                journal.append(wrong)
    assert (tmp_path / "lines").read_bytes() == b"one\n"
    with Journal(tmp_path / "journal", {}, 3) as journal:
        assert journal.at_opening.shape == (2, 3)


def test_what_cannot_be_written_is_kept_elsewhere(tmp_path, monkeypatch):
    """The file says which; where nothing is left there either, the error is the first one."""
    elsewhere, path = tmp_path / "elsewhere", tmp_path / "full" / "match.jsonl"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    sync, fulls = os.fsync, []

    def full(handle):
        if fulls and fulls.pop():
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    for content in (b"hours", lambda file: file.write(b"hours")):
        fulls[:] = [True]
        with pytest.raises(OSError, match="cannot be written: no space left on device; what was to be") as caught:
            replace_file(path, content)
        kept = Path(caught.value.strerror.rpartition(" is in ")[2])
        assert caught.value.filename == str(path)
        assert (kept.parent, kept.suffix, kept.read_bytes()) == (elsewhere, ".jsonl", b"hours")
        kept.unlink()
    fulls[:] = [True, True]
    with pytest.raises(OSError, match=r"cannot be written: no space left on device: '"):
        replace_file(path, b"hours")
    assert [list(folder.iterdir()) for folder in (elsewhere, path.parent)] == [[], []]


def test_what_cannot_be_written_is_named(tmp_path, monkeypatch):
    """By its own name, not by that of a temporary file or a lock; a trial leaves nothing."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    (tmp_path / "file").touch()
    check_writable(tmp_path / "file")
    check_writable(tmp_path / "new" / "folder" / "f")
    check_writable(tmp_path / "new" / "folder", folder=True)
    with pytest.raises(OSError, match="cannot be written: file name too long"):
        check_writable(tmp_path / ("n" * 254))  # there would be no room for the temporary file's name
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    for write in (check_writable, lambda path: replace_file(path, b""), Lock):
        path = tmp_path / "file" / "f"
        with pytest.raises(OSError, match="cannot be written: ") as caught:
            write(path)
        assert caught.value.filename == str(path)
    with pytest.raises(ValueError, match=f"{tmp_path}: a folder, expected a file to write"):
        check_writable(tmp_path)
    with pytest.raises(ValueError, match="file: a file, expected a folder to write"):
        check_writable(tmp_path / "file", folder=True)


def test_a_drive_that_is_not_there_is_named(tmp_path, monkeypatch):
    """As on Windows, where nothing above the file need exist."""
    monkeypatch.setattr(Path, "exists", lambda path: False)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/f: there is no /$"):
        check_writable(tmp_path / "f")


def test_on_windows_a_file_that_is_open_is_tried_again(tmp_path, monkeypatch, windows):
    """By a reader, a virus scanner or an indexer; who keeps it open too long is an error that names the file."""
    replace, refusals = os.replace, [True, True]

    def refuse(source, target):
        if refusals and refusals.pop():
            raise PermissionError(errno.EACCES, "Permission denied", source, None, target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    replace_file(tmp_path / "a.json", b"whole")
    assert (tmp_path / "a.json").read_bytes() == b"whole" and not refusals
    refusals[:] = [True]
    storage.patiently(lambda: refuse(str(tmp_path / "a.json"), str(tmp_path / "b.json")))
    storage.patiently((tmp_path / "b.json").unlink, missing_ok=True)
    assert not [*tmp_path.iterdir()]
    replace_file(tmp_path / "a.json", b"whole")
    monkeypatch.setattr(storage, "_PATIENCE", 0.1)
    refusals[:] = [True] * 1000
    with pytest.raises(PermissionError, match="cannot be written: permission denied") as caught:
        replace_file(tmp_path / "a.json", b"again", backup=False)
    assert caught.value.filename == str(tmp_path / "a.json") and len(refusals) > 980  # tried some times
    monkeypatch.setattr(sys, "platform", "linux")  # where nothing but the rights of the folder refuses it
    refusals[:] = [True]
    with pytest.raises(PermissionError, match="cannot be written: permission denied"):
        replace_file(tmp_path / "a.json", b"again", backup=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe: a device, expected a file to write"):
        check_writable(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files have no names")
@pytest.mark.parametrize("name", ["/proc/self/fd/1", "link"])
def test_an_open_file_of_the_process_is_not_replaced(tmp_path, name):
    """As ``/dev/stdout`` is one."""
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    with pytest.raises(ValueError, match="a device, expected a file to write"):
        check_writable(tmp_path / name)


def test_a_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    for content in (b"new", b"again"):  # first where the link leads to nothing
        check_writable(link)
        replace_file(link, content)
        assert link.is_symlink() and target.read_bytes() == content
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["target.json"]


def test_a_claim_on_a_full_disk(tmp_path, full):
    """It holds without a name; what cannot be written is named, and nothing stays."""
    full(0)
    with pytest.raises(OSError, match="cannot be written: no space left") as caught:
        Journal(tmp_path / "j", {"size": 4}, 4)
    assert caught.value.filename == str(tmp_path / "j")
    assert not (tmp_path / "j.lock").exists()


def test_what_was_left_an_hour_ago_goes_with_the_next_write(tmp_path):
    """Pictures, results and entries are not locked: what another process may be writing now stays."""
    old, new = tmp_path / ".a.json.ab12cd34", tmp_path / ".a.json.ef56gh78"
    for leftover in (old, new):
        leftover.write_bytes(b"half")
    os.utime(old, (0, 0))
    replace_file(tmp_path / "a.json", b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, "a.json"]


def test_a_file_is_written_whatever_lies_beside_it(tmp_path):
    """Also what cannot be removed: no error says of a file that is there that it was not written."""
    (old := tmp_path / ".a.json.ab12cd34").mkdir()
    os.utime(old, (0, 0))
    replace_file(tmp_path / "a.json", b"whole")
    assert (tmp_path / "a.json").read_bytes() == b"whole" and old.exists()


@pytest.mark.parametrize("place", range(4))
def test_a_journal_ends_where_a_record_is_damaged(tmp_path, place):
    """What comes after it is whole, and is done again all the same: records are told by their places."""
    records = np.arange(12, dtype=np.uint8).reshape(4, 3)
    with Journal(tmp_path / "j", {}, 3) as journal:
        journal.append(records)
    content, width = bytearray((tmp_path / "j").read_bytes()), 3 + 4  # and its sum
    content[len(content) - (4 - place) * width] ^= 1
    (tmp_path / "j").write_bytes(content)
    with Journal(tmp_path / "j", {}, 3) as journal:
        assert journal.at_opening.tolist() == records[:place].tolist()
        journal.append(records[place:])
    with Journal(tmp_path / "j", {}, 3) as journal:
        assert journal.at_opening.tolist() == records.tolist()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_is_for_whom_the_mask_allows(tmp_path, mask):
    """As any file that a program opens to write, and in folders that were not there."""
    path, before = tmp_path / "a" / "b" / "c.json", os.umask(mask)
    try:
        replace_file(path, b"{}")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_file_is_for_whom_it_was_before(tmp_path):
    path = tmp_path / "private.json"
    path.touch()
    path.chmod(0o4600)  # with the right to run as its owner, which does not pass to the new one
    replace_file(path, b"{}")
    assert path.stat().st_mode & 0o7777 == 0o600


def test_an_interrupt_after_the_file_is_there_is_an_interrupt(tmp_path, monkeypatch):
    replace = os.replace

    def interrupted(*names):
        replace(*names)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "a", b"all")
    assert (tmp_path / "a").read_bytes() == b"all"


@pytest.mark.parametrize(
    "content",
    [
        b"# Title\n\nText.\n",
        b"no end of line",
        b'{"suite": "match"}\n',
        b'{"job": {"other": 1}, "outcome": {}}\n',
        b"\0\0",
    ],
)
def test_what_is_no_ledger_is_called_so_and_left_alone(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"file: not a ledger of this kind: its first line begins .*choose another file"
    ):
        Ledger(path, Task, Came)
    assert path.read_bytes() == content and [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_run_that_ends_before_its_first_job_leaves_no_file(tmp_path):
    for kind in (lambda path: Ledger(path, Task, Came), Lines):
        with pytest.raises(ConnectionError), kind(tmp_path / "new"):
            raise ConnectionError
    assert not [*tmp_path.iterdir()]


def test_a_job_is_kept_once(tmp_path):
    """In memory as in a file."""
    for path in (None, tmp_path / "ledger"):
        with Ledger(path, Job, Outcome) as ledger:
            ledger.add(Job("a", 0), Outcome(1.0))
            with pytest.raises(ValueError, match="expected a new job's outcome"):
                ledger.add(Job("a", 0), Outcome(2.0))
            assert ledger.done == {Job("a", 0): Outcome(1.0)}


def test_what_killed_writers_left_is_swept(tmp_path):
    replace_file(tmp_path / "a[1].npz", b"kept")
    (tmp_path / ".a[1].npz.abcdefgh").write_bytes(b"half")
    (tmp_path / ".a[1].npz.journal.abcdefgh").write_bytes(b"of another")
    sweep(tmp_path / "a[1].npz")
    assert sorted(os.listdir(tmp_path)) == [".a[1].npz.journal.abcdefgh", "a[1].npz"]


def test_a_clock_that_jumps_changes_nothing(tmp_path, monkeypatch):
    """Set back by years, what a killed writer left looks like the future; set forward, like the past."""
    records = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for name, now in (("back", 1.0), ("on", 9e9)):
        folder = tmp_path / name
        replace_file(folder / "a", b"old")
        leftover = folder / ".a.abcdefgh"
        leftover.write_bytes(b"half")
        monkeypatch.setattr(storage.time, "time", lambda now=now: now)
        with Ledger(folder / "ledger", Job, Outcome) as ledger, Journal(folder / "j", {}, 4) as journal:
            ledger.add(Job("a", 0), Outcome(1.0))
            journal.append(records)
        replace_file(folder / "a", b"new")
        assert leftover.exists() == (name == "back")  # somebody may still be writing it
        sweep(folder / "a")
        with Ledger(folder / "ledger", Job, Outcome) as ledger, Journal(folder / "j", {}, 4) as journal:
            assert ledger.done == {Job("a", 0): Outcome(1.0)} and (journal.at_opening == records).all()
        assert (folder / "a").read_bytes() == b"new" and sorted(os.listdir(folder)) == ["a", "j", "ledger"]


def test_padding_does_not_go_into_files():
    dtype = np.dtype([("a", "i1"), ("b", "i8"), ("c", "u2", (3,))], align=True)
    noise = np.frombuffer(np.random.default_rng(1).bytes(5 * dtype.itemsize), dtype)
    clean = without_padding(noise)
    for name in dtype.names:
        np.testing.assert_array_equal(clean[name], noise[name])
    assert clean.tobytes() == without_padding(clean.copy()).tobytes() != noise.tobytes()


# ---- numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (1.5, "x 1.5: expected integers from 0 to 3"),
        (256, "x 256: expected 0 ... 3"),
        (np.array([0, 2**63], np.uint64), "x 9223372036854775808: expected 0 ... 3"),
        ([0, 2**70], "x .*: expected integers from 0 to 3"),
        ("12", "x '12': expected integers"),
        ([0, 1, 2], r"x of shape \(3,\): expected one number, or \[2\]"),
    ],
)
def test_columns_take_integers_in_range(given, fault):
    with pytest.raises(ValueError, match=fault):
        column("x", given, 2, 0, 3)


def test_integers_keep_what_they_are():
    assert integers("x", np.array([1, 3], np.uint8), 0, 3).dtype == np.int64
    assert column("x", [], 0, 0, 3).tolist() == [] and column("x", 2, 3, 0, 3).tolist() == [2, 2, 2]


# ---- JSON --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "not JSON"),
        ("[" * 65 + "]" * 65, "lists and objects 65 deep, expected at most 64"),
        ('[{"a":' * 100_000, "65 deep"),
        ("1" * 21, "integer 11111111111111111111... of 21 digits, expected at most 20"),
        ("9" * 5000, "of 5000 digits"),
        ('{"a": 1, "a": 2}', "field 'a' twice"),
        ('"\\ud800"', "surrogates"),
        ("\ufeff1", "BOM"),
    ],
)
def test_json_has_limits(text, fault):
    with pytest.raises(ValueError, match=rf"^f: not JSON .*{fault}" if fault != "not JSON" else "^f: not JSON"):
        json_value(text.encode(), "f")


def test_json_within_the_limits_is_read():
    assert json_value("[" * 64 + "]" * 64, "f") and json_value(str(2**64), "f") == 2**64
    assert json_value('"[[[\\"[\\\\" ', "f") == '[[["[\\' and json_value('"\\ud83d\\ude00"', "f") == "😀"
    with pytest.raises(ValueError, match=r"not JSON .*codec can't decode"):
        json_value(b"\xff", "f")


@dataclass(frozen=True)
class Plan(Checked):
    size: Count
    kind: Literal["a", "b"] = "a"


class Point(TypedDict):
    x: float
    note: NotRequired[str | None]


@pytest.mark.parametrize(
    ("kind", "value", "fault"),
    [
        (int, True, "True, expected an integer"),
        (int, 3.0, "3.0, expected an integer"),
        (Annotated[int, Range(0, 3)], 4, "4, expected an integer from 0 to 3"),
        (float, float("nan"), "nan, expected a number"),
        (float, float("inf"), "inf, expected a number"),
        (list[int], [1, "2"], r"\[1\]: '2', expected an integer"),
        (list[int], {"a": 1}, "{'a': 1}, expected a list, each an integer"),
        (Annotated[list[int], Length(2, 2)], [1], r"\[1\], expected a list of length 2, each an integer"),
        (dict[str, list[int]], {"a b": [1, None]}, r"'a b'\[1\]: None, expected an integer"),
        (Plan, {"size": 0}, "size: 0, expected an integer from 1"),
        (Plan, {"size": 1, "kind": "c"}, "kind: 'c', expected 'a' or 'b'"),
        (Plan, {"size": 1, "width": 2}, "width: unknown field, expected size, kind"),
        (Plan, {}, "size: missing, expected an integer from 1"),
        (Plan, 3, r"3, expected a Plan"),
        (list[Point], [{"x": 1, "note": 2}], r"\[0\].note: 2, expected a text or null"),
        (list[Point], [{"note": None}], r"\[0\].x: missing, expected a number"),
        (int | None, "x" * 1000, "expected an integer or null"),
        (str | dict[str, int], {"a": "b"}, "a: 'b', expected an integer"),
    ],
)
def test_values_are_named_by_their_place(kind, value, fault):
    with pytest.raises(ValueError, match=f"^f: {fault}" if not fault.startswith("expected") else fault) as caught:
        parse(kind, value, "f")
    assert len(str(caught.value)) < 300


def test_values_that_fit_are_made():
    assert parse(Plan, {"size": 2}, "f") == Plan(2)
    assert parse(list[Point], [{"x": 1}], "f") == [{"x": 1}]
    assert parse(Job | None, {"name": "a", "seed": 1}, "f") == Job("a", 1)
    assert np.isnan(parse(float | NotFinite, float("nan"), "f"))
    assert parse(dict[str, Whole], {"a": 0}, "f") == {"a": 0}


# ---- .npz --------------------------------------------------------------------------------

PLAN = {
    "owner": Numbers(("n", 13), 0, 255),
    "dealer": Numbers(("n",), 0, 3, np.int8),
    "weights": Floats((2,), required=False),
    "note": Text(),
}
SOUND = {"owner": np.full((3, 13), 255, np.uint8), "dealer": np.array([0, 3, 1])}


def load(path, **fields):
    """The file of ``fields``, read."""
    np.savez_compressed(path, **{name: array for name, array in {**SOUND, **fields}.items() if array is not None})
    return load_npz(path, "an .npz of boards", PLAN)


def test_arrays_come_in_their_types(tmp_path):
    found = load(tmp_path / "a.npz", note=np.array("ü"), weights=np.array([1, 2], np.float32))
    assert {name: array.dtype.str for name, array in found.items() if name != "note"} == {
        "owner": "|u1",
        "dealer": "|i1",
        "weights": "<f4",
    }
    assert str(found["note"]) == "ü" and found["dealer"].tolist() == [0, 3, 1]
    big = load(tmp_path / "b.npz", dealer=np.array([0, 3, 1], ">i8"), owner=np.asfortranarray(SOUND["owner"]))
    assert big["dealer"].tolist() == [0, 3, 1]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"dealer": np.array([0, 256, 1])}, r"dealer\[1\] 256: expected 0 ... 3"),
        ({"dealer": np.array([0, 3, -1])}, r"dealer\[2\] -1: expected 0 ... 3"),
        ({"dealer": np.array([0, 3, 2**63], np.uint64)}, r"dealer\[2\] 9223372036854775808: expected 0 ... 3"),
        ({"dealer": np.zeros(3)}, r"dealer: float64 \[3\], expected integers \[n\]"),
        ({"dealer": np.zeros(3, bool)}, r"dealer: bool \[3\], expected integers \[n\]"),
        ({"dealer": np.zeros(2, int)}, "dealer: 2 rows, expected 3 as in owner"),
        ({"dealer": np.zeros((3, 1), int)}, r"dealer: int64 \[3, 1\], expected integers \[n\]"),
        ({"dealer": np.array([{}] * 3)}, r"dealer: an array of object \[3\]; expected an .npz of boards"),
        ({"dealer": np.zeros(3, "i4, i4")}, "dealer: an array of"),
        ({"dealer": None}, "dealer: missing; the file holds owner"),
        ({"weights": np.zeros(2)}, r"weights: float64 \[2\], expected float32 \[2\]"),
        ({"weights": np.array([0, np.nan], np.float32)}, "weights: holds numbers that are not finite"),
        ({"note": np.array(["a"])}, r"note: <U1 \[1\], expected a text"),
        ({"delaer": np.zeros(3, int)}, "'delaer': unknown array, expected an .npz of boards: owner, dealer"),
    ],
)
def test_arrays_are_checked(tmp_path, fields, fault):
    with pytest.raises(ValueError, match=rf"a\.npz: {fault}"):
        load(tmp_path / "a.npz", **fields)


def header(shape, dtype="|u1"):
    """The beginning of an .npy file."""
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": dtype, "fortran_order": False, "shape": shape})
    return out.getvalue()


@pytest.mark.parametrize(
    ("member", "fault"),
    [
        (header((1 << 60, 13)) + bytes(39), r"owner: 39 bytes, but uint8 \[1152921504606846976, 13\] takes"),
        (header((3, 13)) + bytes(38), r"owner: 38 bytes, but uint8 \[3, 13\] takes 39"),
        (header((-3, 13)) + bytes(39), "owner: an array of uint8 .-3, 13"),
        (header((3, 13), "|V13"), "owner: an array of"),
        (b"\x93NUMPY\x09\x00" + bytes(50), "owner: .*version"),
        (b"no array", "owner: .*magic"),
        (header((1 << 28,)) + bytes(1 << 25), f"unpacks to {(1 << 25) + 192 + 64} bytes"),
    ],
)
def test_sizes_are_checked_before_memory_is_asked_for(tmp_path, member, fault):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("owner.npy", member)
        archive.writestr("dealer.npy", header((0,)))
    del member
    tracemalloc.start()
    begin = time.perf_counter()
    with pytest.raises(ValueError, match=rf"a\.npz: {fault}" if "unpacks" not in fault else "a.npz: unpacks to"):
        load_npz(path, "an .npz of boards", PLAN)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20 and time.perf_counter() - begin < 2
    tracemalloc.stop()


def test_a_member_that_lies_about_its_size_takes_no_more(tmp_path):
    """The archive says 40 bytes, the stream unpacks to 64 MB."""
    path, content = tmp_path / "a.npz", header((1 << 26,)) + bytes(1 << 26)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("owner.npy", content)
    size = len(content).to_bytes(4, "little")
    del content
    path.write_bytes(path.read_bytes().replace(size, (128 + 40).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"a\.npz: owner: .*; expected an \.npz of boards"):
        load_npz(path, "an .npz of boards", PLAN)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()


def test_boards_that_do_not_shrink_have_room(tmp_path):
    rng, n = np.random.default_rng(0), ROOM // 13 + 1
    found = load(tmp_path / "a.npz", owner=rng.integers(0, 256, (n, 13), np.uint8), dealer=np.zeros(n, np.uint8))
    assert len(found["owner"]) == n and EXPANSION > 1


def test_a_digest_is_of_names_types_shapes_and_contents():
    one = {"a": np.arange(6), "b": np.zeros(2, np.float16)}
    others = [{"b": one["b"]}, {**one, "a": np.arange(6).reshape(2, 3)}, {**one, "b": np.zeros(2, np.uint16)}]
    others.append({**one, "a": np.arange(1, 7)})
    assert digest(one) == digest(dict(reversed(one.items()))) and len({*map(digest, [one, *others])}) == 5
    assert digest({"a": np.asfortranarray(np.arange(6).reshape(2, 3))}) == digest({"a": np.arange(6).reshape(2, 3)})


# ---- safetensors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "fault"),
    [(None, r"is BF16 \[2\], which cannot be read"), ({"a": Tensor((2,))}, r"is BF16 \[2\], expected floats \[2\]")],
)
def test_types_that_numpy_does_not_have_are_named(tmp_path, plan, fault):
    path, header = tmp_path / "w.safetensors", b'{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(ValueError, match=rf"w\.safetensors: tensor 'a' {fault}"):
        load_tensors(path, "weights", lambda metadata: plan)
