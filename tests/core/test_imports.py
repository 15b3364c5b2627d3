"""What is to happen after the import of a package happens once, after its code, whoever looks for it before."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from bidzoo.core.imports import when_imported


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """``package(name)``: a new one, whose code says that it is there and looks for its own module."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])

    def make(name: str) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"import {name}.part\nis_there = True\n")
        (tmp_path / name / "part.py").write_text("")
        return name

    return make


def test_it_happens_once_after_the_import(package: Callable[[str], str]) -> None:
    name, told, before = package("late_one"), list[bool](), [*sys.meta_path]
    when_imported(name, lambda: told.append(sys.modules[name].is_there))
    assert find_spec(name) is not None and find_spec(name) is not None and told == []
    import_module(f"{name}.part")
    assert told == [True] and sys.meta_path == before
    when_imported(name, lambda: told.append(False))
    assert told == [True, False]  # at once


def test_a_package_that_fails_is_waited_for(package: Callable[[str], str], tmp_path: Path) -> None:
    name, told = package("late_two"), list[int]()
    code = tmp_path / name / "part.py"
    when_imported(name, lambda: told.append(1))
    when_imported(name, lambda: told.append(2))
    code.write_text("raise OSError('not today')")
    with pytest.raises(OSError, match="not today"):
        import_module(name)
    assert told == []
    code.write_text("today = True")
    import_module(name)
    assert sorted(told) == [1, 2]


def test_a_package_that_is_not_installed(package: Callable[[str], str]) -> None:
    when_imported("late_three", lambda: None)
    with pytest.raises(ModuleNotFoundError, match="late_three"):
        import_module("late_three")
