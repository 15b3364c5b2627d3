"""What a user types, in an interpreter that has imported nothing: ``make doors``.

The tests run in ``.venv-doors``, which has the built wheel with its extras. Every door is a new process in an empty
folder with an empty home, and nothing of the checkout is on its path. ``tests/conftest.py`` is not loaded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages_of import LAID, ROOT, Opens


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Doors need the environment of ``make doors``, as other integration tests need theirs."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.integration)


@pytest.fixture(scope="session")
def hint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the package of the tutorials is installed."""
    folder = tmp_path_factory.mktemp("hint")
    words = ["install", "-q", "--no-deps", "--no-compile", "--target", str(folder), str(ROOT / "examples/bidzoo-hint")]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The empty home of all doors."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def opens(tmp_path: Path, home: Path) -> Opens:
    """``opens(words, page=None, hint=None)``: what a command prints; the test fails with its errors if it fails."""

    def run(words: list[str], page: Path | None = None, hint: Path | None = None, **variables: str) -> str:
        text = page.read_text("utf-8") if page else ""
        for name, source in LAID.items():
            if name in text:
                shutil.copy(ROOT / source, tmp_path / name)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BIDZOO"))}
        environment |= {"HOME": str(home), "MPLBACKEND": "agg", "COLUMNS": "80"}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        if hint is not None:
            environment["PYTHONPATH"] = str(hint)
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env=environment | variables,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout

    return run


@pytest.fixture
def script(opens: Opens, tmp_path: Path) -> Opens:
    """``script(code, *words, ...)``: ``code`` as a file of the user's, run by ``python door.py``; else as ``opens``."""

    def run(code: str, *words: str, page: Path | None = None, hint: Path | None = None, **variables: str) -> str:
        (tmp_path / "door.py").write_text(code, encoding="utf-8")
        return opens([sys.executable, "door.py", *words], page, hint, **variables)

    return run
