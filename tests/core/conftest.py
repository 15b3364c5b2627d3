"""Processes that use the package, each a new interpreter."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="package")
def processes():
    """``run(folder, environment, *scripts)``: status, output and standard error of Python processes, all at once.

    Of ``scripts`` each is a text and the words of its ``sys.argv``.
    """
    return anew


def anew(folder, environment, *scripts):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    begun = [
        subprocess.Popen([sys.executable, "-c", *script], env=environment, cwd=folder, **pipes) for script in scripts
    ]
    said = [process.communicate(timeout=600) for process in begun]
    return [[process.returncode, *texts] for process, texts in zip(begun, said)]
