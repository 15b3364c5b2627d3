"""The command line as a whole: what it lists, and one line for an error that one can do something about."""

import sys

import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents
from bidzoo.cli import main


def run(*words):
    return CliRunner().invoke(main.app, words, env={"COLUMNS": "80", "NO_COLOR": "1"}, catch_exceptions=False)


def test_commands_are_in_order():
    text = run("--help").output
    places = [text.index(f"│ {name} ") for name in main.ORDER]
    assert places == sorted(places)


def test_version():
    assert run("--version").output == f"bidzoo {bidzoo.__version__}\n"


def test_list_names_everything():
    text = run("list").output
    assert all(f"│ {name} " in text for name in (*bidzoo.available(), *agents.available()))


def fails(monkeypatch, capsys, problem):
    """What ``main`` writes to standard error when a command raises ``problem``."""

    def command():
        raise problem

    monkeypatch.setattr(main, "app", command)
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
    return capsys.readouterr().err


def missing(name):
    return ModuleNotFoundError(f"No module named '{name}'", name=name)


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (ValueError("a.pbn:3: no"), "a.pbn:3: no"),
        (KeyError("unknown agent 'x'"), "unknown agent 'x'"),
        (FileNotFoundError(2, "No such file or directory", "a.pbn"), "a.pbn: no such file or directory"),
        (PermissionError(13, "Permission denied", "a.pbn"), "a.pbn: permission denied"),
        (ImportError("pictures need matplotlib"), "pictures need matplotlib"),
        (missing("dask"), "No module named 'dask'; pip install 'bidzoo[cluster]'"),
        (missing("torch.nn"), "No module named 'torch.nn'; pip install 'bidzoo[train]'"),
    ],
)
def test_an_expected_error_is_one_line(monkeypatch, capsys, problem, line):
    assert fails(monkeypatch, capsys, problem) == f"bidzoo: {line}\n"


@pytest.mark.parametrize(
    "problem", [KeyError("looked"), missing("bidzoo.nowhere"), TypeError("x"), ZeroDivisionError()]
)
def test_a_slip_of_ours_keeps_its_traceback(monkeypatch, capsys, problem):
    with pytest.raises(type(problem)):
        fails(monkeypatch, capsys, problem)


def test_extras_are_those_of_the_package():
    from importlib.metadata import metadata

    assert set(main.EXTRAS.values()) <= set(metadata("bidzoo").get_all("Provides-Extra"))
    assert not set(main.EXTRAS) & sys.stdlib_module_names
