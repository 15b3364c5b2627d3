"""Processes that have numba and have compiled, which takes two seconds: forked from one for all tests."""

import json
import os
import subprocess
import sys

import pytest

FORKS = """
import gc, json, os, sys, traceback
gc.set_threshold(100_000, 50, 50)
import gymnasium
import numba
from numba.core import config
numba.njit(lambda x: x)(1)
gc.freeze()
for line in sys.stdin:
    scripts, folder, given = json.loads(line)
    children = []
    for script, *words in scripts:
        pipes = os.pipe(), os.pipe()
        if (pid := os.fork()) == 0:
            for number, (_, write) in enumerate(pipes, 1):
                os.dup2(write, number)
            os.environ.clear()
            os.environ.update(given)
            config.reload_config()
            os.chdir(folder)
            sys.path[:0] = filter(None, given.get("PYTHONPATH", "").split(os.pathsep))
            sys.argv[1:] = words
            status = 1
            try:
                exec(compile(script, "<string>", "exec"), {"__name__": "__main__"})
                status = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(status)
        for _, write in pipes:
            os.close(write)
        children.append((pid, [open(read) for read, _ in pipes]))
    ended = []
    for pid, files in children:
        said = [file.read() for file in files]
        ended.append([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), *said])
        [file.close() for file in files]
    print(json.dumps(ended), flush=True)
"""


@pytest.fixture(scope="package")
def processes():
    """``run(folder, environment, *scripts)``: status, output and standard error of Python processes, all at once.

    Of ``scripts`` each is a text and the words of its ``sys.argv``.
    """
    if not hasattr(os, "fork"):
        yield anew
        return
    given = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-Bc", FORKS], env=given, **pipes) as forks:

        def run(folder, environment, *scripts):
            forks.stdin.write(json.dumps([scripts, str(folder), environment]) + "\n")
            forks.stdin.flush()
            return json.loads(forks.stdout.readline())

        yield run
        forks.stdin.close()


def anew(folder, environment, *scripts):
    """As ``processes``, of processes that have imported nothing before."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    begun = [
        subprocess.Popen([sys.executable, "-c", *script], env=environment, cwd=folder, **pipes) for script in scripts
    ]
    said = [process.communicate(timeout=600) for process in begun]
    return [[process.returncode, *texts] for process, texts in zip(begun, said)]


@pytest.fixture
def new_processes():
    """As ``processes``, each new, without numba."""
    return anew
