"""Wrong values of every option of every agent, game and command are refused, and the error names the option."""

from dataclasses import asdict
from types import NoneType
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents, registry
from bidzoo.agents.bridge import a2c, jps, ppo, rl, rpi, trainer
from bidzoo.benchmarks import exploit
from bidzoo.cli import main
from bidzoo.cli.settings import settings
from bidzoo.core.options import Count, Seed, Share, check_options, expected, fits, kinds_of, options_of, words_of
from bidzoo.envs.python_game import python_rules
from bidzoo.language import Seat

ALGORITHMS = {f"train {module.__name__}": module.Options for module in (a2c, jps, ppo, rl, rpi)}
ALGORITHMS |= {"train sl": trainer.Options, "exploit": exploit.Options, "--seat": Seat}

FIGURES = (-1, 0, 5, 10**30, 0.5, -0.5, float("nan"), float("inf"))
VALUES = (None, True, "no such value", b"x", *FIGURES, (), [1], {}, object())


def wrong_values(target):
    """Each option of ``target`` with each of ``VALUES`` that its declared type does not allow."""
    kinds = kinds_of(target)
    for name in kinds.keys() - {"return"}:
        yield from ((name, value) for value in VALUES if not fits(kinds[name], value))


@pytest.mark.parametrize("name", agents.AGENTS)
def test_agents(name):
    target = agents._load(agents.AGENTS[name].target)
    assert set(agents.options(name)) <= set(kinds_of(target)), "an option without a type"
    for option, value in wrong_values(target):
        with pytest.raises((ValueError, TypeError), match=rf"\b{option}\b"):
            agents.make(name, **{option: value})


@pytest.mark.parametrize("name", [*agents.AGENTS, *ALGORITHMS])
def test_every_option_says_what_it_means(name):
    """In ``bidzoo list NAME`` and ``--set help``, where the source says it: behind a field, or in the docstring."""
    target = agents._load(agents.AGENTS[name].target) if name in agents.AGENTS else ALGORITHMS[name]
    words, kinds = words_of(target), kinds_of(target)
    unsaid = [
        option
        for option in options_of(target) or ()
        if words[option] == expected(kinds[option]).replace("null", "None")
    ]
    assert not unsaid


@pytest.mark.parametrize("name", ["bmcs", "bmcs-sl", "rpi-bmcs", "bmcs-weighted", "rl-mcs"])
def test_defaults_are_those_of_the_agent(name):
    """Not of the class that it is built on."""
    numbers = asdict(agents.make(name).options)
    assert {option: agents.options(name)[option] for option in numbers} == numbers


@pytest.mark.parametrize("make", [bidzoo.make, bidzoo.make_game])
@pytest.mark.parametrize("env_id", registry.GAMES)
def test_games(env_id, make):
    rules = registry.rules_of(env_id)
    assert set(registry.options(env_id)) <= set(kinds_of(rules)), "an option without a type"
    for option, value in wrong_values(rules):
        with pytest.raises((ValueError, TypeError), match=rf"\b{option}\b"):
            make(env_id, **{option: value})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bmcs", {"workers": 0}),
        ("bmcs", {"evaluator": 5}),
        ("bmcs", {"belief": 5}),
        ("bmcs", {"policy": 5}),
        ("learned-search", {"worlds": -1}),
        ("learned-search", {"certain": -5}),
        ("sl", {"weights": 5}),
        ("sl", {"name": 5}),
        ("bis", {"player": 5}),
    ],
)
def test_values_that_were_taken_in_silence(name, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} .*: expected"):
        agents.make(name, **options)


def commands(group: Any = None, names: tuple[str, ...] = ()):
    group = group or typer.main.get_command(main.app)
    if hasattr(group, "commands"):
        for name, command in group.commands.items():
            yield from commands(command, (*names, name))
        if not group.invoke_without_command:
            return
    yield names, group


NUMBERS = [
    pytest.param(names, option, id=" ".join((*names, option.name)))
    for names, command in commands()
    for option in command.params
    if option.param_type_name == "option" and option.type_descriptor.annotation in (int, float)
]


@pytest.mark.parametrize(("names", "option"), NUMBERS)
def test_commands(names, option):
    """A number has a least value; what is none, or less, is refused before anything else is looked at."""
    assert option.min is not None, "expected min="
    for value in ("no", "", str(option.min - 1)):
        done = CliRunner().invoke(main.app, [*names, f"{option.opts[-1]}={value}"], env={"COLUMNS": "200"})
        assert done.exit_code == 2 and "Invalid value" in done.output and option.opts[-1] in done.output, value


# ---- what types allow ------------------------------------------------------------------------


def test_types_that_cannot_be_read_allow_everything():
    def function(one: "Nowhere", two=3):  # noqa: F821
        return one, two

    check_options("it", function, {"one": object(), "two": "x"})
    check_options("it", min, {})
    with pytest.raises(TypeError, match=r"it has no option 'tow'; did you mean 'two'\? choose from one, two"):
        check_options("it", function, {"tow": 1})


Way = Literal["in", "out"]


def test_kinds_of_functions_and_classes():
    class Made:
        def __init__(self, count: Count = 1, share: Share | None = None, seed: Seed = 0, way: Way = "in"):
            self.all = count, share, seed, way

    for options in ({"count": 0}, {"count": 1.0}, {"share": 2}, {"seed": -1}, {"way": "on"}, {"way": None}):
        with pytest.raises(ValueError, match=f"^{next(iter(options))} .*: expected"):
            check_options("it", Made, options)
    check_options("it", Made, {"count": 3, "share": None, "seed": 2**62, "way": "out"})
    with pytest.raises(ValueError, match=r"way 'ot': expected 'in' or 'out'; did you mean 'out'\?"):
        check_options("it", Made, {"way": "ot"})
    assert fits(NoneType, None)


def test_each_entry_of_a_tuple_has_a_type_of_its_own():
    pair = tuple[str, int]
    assert fits(pair, ("a", 1)) and not any(fits(pair, wrong) for wrong in (("a", "b"), ("a",), ("a", 1, 2), ["a", 1]))
    assert expected(pair) == "a tuple of a text, an integer"
    assert fits(tuple[int, ...], ()) and fits(tuple[int, ...], (1, 2, 3)) and not fits(tuple[int, ...], ("a",))


class Pairs:
    """Rules that nobody plays: its options are looked at before they are."""

    id = "pairs_v0"

    def __init__(self, pair: tuple[str, int] = ("a", 1), more: tuple[int, ...] | None = None):
        raise AssertionError(pair, more)


@pytest.mark.parametrize(
    ("text", "message"), [("pair=(3, 3)", "a tuple of a text, an integer"), ("more=(1, x)", "each")]
)
def test_types_of_a_game_in_plain_python_are_kept_to(text, message):
    rules = python_rules(Pairs)
    defaults = options_of(rules)
    with pytest.raises(ValueError, match=message):
        check_options("pairs_v0", rules, settings(defaults, [text]))
    assert settings(defaults, ["pair=('b', 2)", "more=(1, 2)"]) == {"pair": ("b", 2), "more": (1, 2)}
