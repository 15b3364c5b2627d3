"""Ctrl-C: a command ends with its workers, also in the middle of a kernel, and says how to go on.

Killed by itself, it leaves no worker behind.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bidzoo.cli import stopping
from bidzoo.cli.stopping import STATUS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups")

# a shell's background job ignores Ctrl-C and passes that on
HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
COMMAND = HEARS + "from bidzoo.cli.main import main; main()"
KERNEL = """
import threading, time
import numba, numpy
from bidzoo.cli import stopping

@numba.njit(nogil=True)
def spin(x, begun):
    begun[0] = 1
    for _ in range(1 << 62):
        x ^= (x << 13) ^ (x >> 7)
    return x

def tell():
    while not begun[0]:
        time.sleep(0.01)
    print("spinning", flush=True)

stopping.watch()
begun = numpy.zeros(1, numpy.int64)
threading.Thread(target=tell, daemon=True).start()
spin(1, begun)
"""

SLOW_END = """
import sys, time
from bidzoo.cli import main

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1000)  # in the interpreter's own end, in which no other thread runs

def work():
    print("working")
    sys.stderr.write("begun\\n")
    sys.stderr.flush()
    time.sleep(1000)

slow = Slow()
main.app = work
main.main()
"""

LOST = """
import ctypes, sys, time
from bidzoo.cli import main

def wait():  # what C calls loses what it raises, as where numba is told of compiled code
    sys.stderr.write("begun\\n")
    sys.stderr.flush()
    time.sleep(60)

def work():
    ctypes.CFUNCTYPE(None)(wait)()
    raise RuntimeError("not done, and so nothing is here")

main.app = work
main.main()
"""

TASKS = """
import functools, time
from bidzoo.core import jobs

def work(weights, number):
    time.sleep(0.01)

if __name__ == "__main__":  # tasks larger than a pipe holds: one is always half written
    for _ in jobs.run(functools.partial(work, bytes(1 << 20)), [(k,) for k in range(10_000)], workers=2):
        print("working", flush=True)
"""


def start(folder: Path, script: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stop(process: subprocess.Popen[str]) -> str:
    """Ctrl-C, as a terminal sends it to a command and all its workers; what it says."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == STATUS
    return said


def nobody_is_left(process: subprocess.Popen[str]) -> bool:
    """All processes of the command end, soon."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        process.poll()
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    return False


def test_workers_end_too_and_the_command_goes_on(tmp_path: Path) -> None:
    process = start(tmp_path, COMMAND, "deals", "generate", "500", "--out", "d.npz", "--workers", "2")
    journal = tmp_path / "d.npz.journal"
    until = time.monotonic() + 120
    while not journal.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert stop(process) == "\nbidzoo: stopped; the same command goes on from d.npz.journal\n"
    assert journal.exists() and not (tmp_path / "d.npz").exists()
    assert nobody_is_left(process)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_workers_of_a_killed_process_end(tmp_path: Path, how: str) -> None:
    with start(tmp_path, TASKS) as process:
        assert process.stdout is not None and process.stdout.readline() == "working\n"
        os.kill(process.pid, signal.Signals[how])  # alone, as ``timeout`` and schedulers may
        assert nobody_is_left(process)


def test_in_the_middle_of_a_kernel(tmp_path: Path) -> None:
    process = start(tmp_path, HEARS + KERNEL)
    assert process.stdout is not None and process.stdout.readline() == "spinning\n"
    assert stop(process) == "\nbidzoo: stopped; nothing is kept\n"


def test_an_error_after_the_interrupt_is_its_consequence(tmp_path: Path) -> None:
    process = start(tmp_path, HEARS + LOST)
    assert process.stderr is not None and process.stderr.readline() == "begun\n"
    assert stop(process) == "\nbidzoo: stopped; nothing is kept\n"


def test_the_interpreter_does_not_end_slowly(tmp_path: Path) -> None:
    process = start(tmp_path, HEARS + SLOW_END)
    assert process.stderr is not None and process.stderr.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, said = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out, said) == (STATUS, "working\n", "\nbidzoo: stopped; nothing is kept\n")


@pytest.mark.parametrize("heard", [True, False])
def test_what_a_lost_interrupt_leaves_is_said(monkeypatch: pytest.MonkeyPatch, heard: bool) -> None:
    """Python's ``ssl`` turns an interrupt of its import into a TypeError."""
    monkeypatch.setattr(stopping, "is_stopped", lambda: heard)
    monkeypatch.setattr(stopping, "_going_on", "")
    with pytest.raises(TypeError), stopping.going_on("d.npz.journal"):
        raise TypeError("expected a message argument")
    assert stopping._going_on == "the same command goes on from d.npz.journal" * heard
