"""``check_agent`` names what a match could not rely on."""

from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents
from bidzoo.cli import main
from bidzoo.envs.asking import AtTable


class Lowest:
    name = "lowest"

    def act(self, views, legal, rng):
        return legal.argmax(1)


class Forgets(Lowest):
    name, asked = "forgets", 0

    def act(self, views, legal, rng):
        self.asked += 1
        return legal.argmax(1) if self.asked % 5 else legal.shape[1] - 1 - legal[:, ::-1].argmax(1)


class Neighbours(Lowest):
    """Its rows depend on the first one."""

    name = "neighbours"

    def act(self, views, legal, rng):
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(1)
        return np.where(views["board"] == views["board"][0], legal.argmax(1), last)


class Counts(Lowest):
    """Its rows depend on how many there are."""

    name = "counts"

    def act(self, views, legal, rng):
        return legal.argmax(1) if len(legal) > 1 else legal.shape[1] - 1 - legal[:, ::-1].argmax(1)


class Writes(Lowest):
    name = "writes"

    def act(self, views, legal, rng):
        legal[:] = 0
        return np.zeros(len(legal), np.int64)


class Opens(Lowest):
    name = "opens"

    def __init__(self):
        self.file = lambda: None


class Doubles(Lowest):
    name = "doubles"

    def act(self, views, legal, rng):
        return np.ones(len(legal), np.int64)


class Changes(Lowest):
    """Its copy is another."""

    name, own = "changes", True

    def __reduce__(self):
        return Doubled, ()

    def act(self, views, legal, rng):
        return legal.argmax(1)


class Doubled(Lowest):
    def act(self, views, legal, rng):
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(1)


class Otherwise(AtTable):
    """At one table it bids what it would not in a batch."""

    name = "otherwise"

    def act(self, views, legal, rng):
        return legal.argmax(1)

    def at_table(self, views, legal, keys):
        return SimpleNamespace(run=lambda: legal.shape[1] - 1 - int(legal[0, ::-1].argmax()))


class Remembers(Lowest):
    """Opens seven notrump where it has seen another seat's hand at the table, of which it forgets all at a new one."""

    name = "remembers"

    def __init__(self):
        self.seen = {}

    def act(self, views, legal, rng):
        return np.array([self.call(view, mask) for view, mask in zip(views, legal)])

    def call(self, view, mask):
        seats = self.seen.setdefault(int(view["board"]), set())
        if view["length"] == 0:
            seats.clear()
        seats.add(int(view["seat"]))
        return 37 if len(seats) == 3 and mask[37] else 0


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (Remembers(), "remembers: it knows at one seat what it saw at another: a copy at every seat gave P P P P"),
        (Forgets(), "forgets: not deterministic: the same boards again gave"),
        (Counts(), "counts: not independent of other rows: the last board alone gave"),
        (Neighbours(), "neighbours: not independent of other rows: "),
        (Writes(), r"writes: act\(\) writes into its legal, expected them as they were"),
        (Opens(), "opens: cannot be pickled, as workers need it: "),
        (Doubles(), "doubles: illegal action 1 at board 0"),
        (Changes(), "changes: its copy, pickled for a worker, acts otherwise"),
        (Otherwise(), "otherwise: asked at one table it acts otherwise: the same boards gave 7NT .* expected P P P P"),
    ],
)
@pytest.mark.parametrize("game", ["bridge_bidding"])
def test_a_slip_is_named(policy, words, game):
    with pytest.raises(ValueError, match=words):
        bidzoo.check_agent(policy, game, boards=6)


@pytest.mark.parametrize("name", ["random", "pass", "sayc", "sl", "rpi", "baseline19", "expert-sayc", "bis", "cfr"])
def test_agents_of_bidzoo(name):
    checked = bidzoo.check_agent(name, boards=6)
    assert checked.boards == 6 and checked.decisions >= 6 and checked.milliseconds > 0
    assert checked.game.startswith(agents.AGENTS[name].games[0])


def test_the_command():
    text = CliRunner().invoke(main.app, ["check", "random", "--env", "minibridge", "--boards", "8"]).output
    assert text.startswith("random plays minibridge_v0(size=4): ") and "on 8 boards, all legal, the same again" in text


def lowest(observation, mask):
    return int(mask.argmax())


def test_games_and_functions():
    assert bidzoo.check_agent(lowest, bidzoo.make_game("comm")).boards == 40
    assert bidzoo.check_agent(Lowest(), "minibridge", size=2).game == "minibridge_v0(size=2)"
    with pytest.raises(ValueError, match="boards 1: expected an integer from 2"):
        bidzoo.check_agent("random", boards=1)
