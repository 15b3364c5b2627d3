"""Names that editors, help and shells know are those of the registries."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents, registry
from bidzoo.cli import main
from bidzoo.core.options import literal

ROOT = Path(__file__).parents[1]
PRIVATE = (  # what experiments were called in their making; literature has another word for each, or a sentence
    "stranger|expert-wild|only house|guessed|golden word|gain by search|stray call|from nothing|sharpness|imagined deal"
    "|boards of one deal as one|explains? strangers"
)


def test_literals_are_the_registries():
    games = "bidzoo/registry.py: GameId lists every game, in the order of GAMES"
    assert get_args(registry.GameId) == tuple(registry.GAMES), games
    names = "bidzoo/agents/__init__.py: AgentName lists every agent, in the order of data/agents.csv"
    assert get_args(agents.AgentName) == tuple(agents.AGENTS), names


@pytest.mark.parametrize("env_id", registry.GAMES)
def test_every_option_of_a_game_has_a_row_that_begins_with_its_default(env_id):
    """Also a default that the game chooses: the first value that the row states makes the same game."""
    rows = {name: (values, meaning) for name, values, meaning in registry.option_rows(env_id)}
    file, defaults = os.path.relpath(registry.options_file(env_id), ROOT), registry.options(env_id)
    assert not (missing := defaults.keys() - rows), f"{file}: its table of options needs a row for each of {missing}"
    assert not (gone := rows.keys() - defaults), f"{file}: {env_id} has no option {gone}, expected no row"
    for name, default in defaults.items():
        values, meaning = rows[name]
        other = re.search(rf"the default of {env_id} is (\w+)", meaning)  # in the table that bridge's games share
        first = other[1] if other else values.partition("default ")[2] or values.split(", ")[0]
        if default is None and name == "observation":
            default = bidzoo.make_game(env_id).encoder.name
        elif default is None and first == '"train"':
            default = "train"
            assert (bidzoo.make_game(env_id).deals.hands == bidzoo.make_game(env_id, deals=default).deals.hands).all()
        stated = literal(first)
        kinds = [float if type(value) is int else type(value) for value in (stated, default)]
        assert (kinds[0], stated) == (kinds[1], default), (
            f"{file}: the values of {name} begin with {first}, expected the default {default!r}"
        )


def test_names_of_the_example_are_free():
    """The tutorials install it, and a package cannot announce a name that bidzoo has."""
    path = ROOT / "examples" / "bidzoo-hint" / "pyproject.toml"
    announced = tomllib.loads(path.read_text("utf-8"))["project"]["entry-points"]
    for kind, known in (("games", registry.GAMES), ("agents", agents.AGENTS)):
        taken = announced[f"bidzoo.{kind}"].keys() & known
        assert not taken, f"examples/bidzoo-hint announces {', '.join(taken)}; choose another name"


def test_every_public_name_is_completed():
    """In a new process, since ``bidzoo.bridge`` comes when it is asked for."""
    code = "import bidzoo; print(set(bidzoo.__all__) <= set(dir(bidzoo)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.parametrize("env_id", registry.GAMES)
def test_help_of_an_environment_s_module_is_its_page(env_id):
    """As ``comm_v0?`` shows it in a notebook, after ``from bidzoo.envs import comm_v0``."""
    page = inspect.getdoc(import_module(f"bidzoo.envs.{env_id}"))
    assert page.startswith(f"# {registry.title(env_id)}\n") and "| Actions |" in page


@pytest.mark.parametrize("make", ["make", "make_vec"])
def test_an_id_may_say_what_to_import(make):
    """Gymnasium has no hook for packages that are not imported; an id with the module needs none."""
    code = f"import gymnasium; print(gymnasium.{make}('bidzoo:bidzoo/MiniBridge-v0').unwrapped is not None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


def words(text):
    return set(re.findall(r"[\w-]+", text))


def options_in_help(make):
    """Options by name as the first table of the docstring of ``make`` has them.

    A row may be of several names and of several lines: names go on after a comma, options where no name begins.
    """
    lines = inspect.getdoc(make).splitlines()
    borders = [number for number, line in enumerate(lines) if line.startswith("===")]
    width, rows = lines[borders[0]].index(" "), [["", ""]]
    for line in lines[borders[1] + 1 : borders[2]]:
        names, options = line[:width].strip(), line[width:]
        if names and not rows[-1][0].endswith(","):
            rows.append(["", ""])
        rows[-1] = [rows[-1][0] + names, rows[-1][1] + options]
    return {name: words(options) - {"none"} for names, options in rows for name in words(names)}


@pytest.mark.parametrize("module", [registry, agents], ids=["registry.make", "agents.make"])
def test_help_names_games_agents_and_options(module):
    told, file = options_in_help(module.make), os.path.relpath(module.__file__, ROOT)
    known = registry.GAMES if module is registry else agents.AGENTS
    for name in known:
        row = f"{name:<20}{', '.join(module.options(name)) or 'none'}"
        assert name in told, f"{file}: the table in the docstring of make needs a row\n    {row}"
        assert told[name] == set(module.options(name)), (
            f"{file}: in the docstring of make the row of {name} has {sorted(told[name])}, expected\n    {row}"
        )
    assert not (gone := told.keys() - known), f"{file}: the docstring of make has a row of {gone}, which is none"


@pytest.mark.parametrize("name", agents.AGENTS)
def test_agents_have_a_repr(name):
    text = repr(agents.make(name))
    assert " at 0x" not in text and text.startswith("<") and len(text) < 120


@pytest.mark.parametrize(
    ("name", "env_id"),
    [
        ("bridge_bidding", "bridge_bidding_v0"),
        ("bidzoo/BridgeBidding-v0", "bridge_bidding_v0"),
        ("BridgeBidding", "bridge_bidding_v0"),
        ("bidzoo/bridge_bidding-v0", "bridge_bidding_v0"),
        ("bridge", "bridge_v0"),
        ("MiniBridge-v0", "minibridge_v0"),
        ("mini_hanabi", "mini_hanabi_v0"),
    ],
)
def test_names_without_a_version_and_gymnasiums(name, env_id):
    assert registry.game_id(name) == env_id
    assert bidzoo.make_game(name).id == env_id


@pytest.mark.parametrize("name", ["spades_v1", "bidzoo/Spades-v1", "", "v0", "bridg"])
def test_what_no_name_means(name):
    with pytest.raises(KeyError, match="unknown game"):
        registry.game_id(name)


def complete(words, n):
    env = {"_BIDZOO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(n)}
    return CliRunner().invoke(main.app, [], prog_name="bidzoo", env=env).output.split()


def test_the_shell_completes_names():
    assert complete("bidzoo match sl-", 2) == ["sl-wide", "sl-small"]
    assert complete("bidzoo match sayc pass --env mini", 5) == ["mini_hanabi_v0", "minibridge_v0"]
    assert "leaderboard" in complete("bidzoo l", 1)
    assert complete("bidzoo leaderboard enter bridge-", 3) == ["bridge-2026", "bridge-partners-2026"]
    assert complete("bidzoo bench bridge --agents sl,sa", 4) == ["sl,sayc"]


def written():
    """Code and pages of the package; notes of experiments are as they were written."""
    for folder, endings in (
        ("bidzoo", "py html js css"),
        ("docs", "md py ipynb"),
        ("examples", "py md"),
        ("tests", "py"),
    ):
        for ending in endings.split():
            yield from (path for path in (ROOT / folder).rglob(f"*.{ending}") if "_build" not in path.parts)
    yield from (ROOT / "experiments").rglob("*.py")
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml"))


def test_words_are_the_fields():
    files = {*written()} - {Path(__file__)}
    assert len(files) > 400
    private = re.compile(PRIVATE)
    for path in sorted(files):
        lines = enumerate(path.read_text("utf-8").lower().splitlines(), 1)
        found = [(number, line) for number, line in lines if private.search(line)]
        assert found == [], path
