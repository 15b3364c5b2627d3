"""Golden: what every packaged agent does on seeded decisions, and what it says about some of them on the play page."""

from functools import cache

import numpy as np
import pytest

import bidzoo
from bidzoo.agents import AGENTS
from bidzoo.core.streams import Streams
from bidzoo.play import api, catalog
from bidzoo.play.session import Session

DECISIONS = {  # tables, and decisions at all of them
    **dict.fromkeys(("bmcs", "bmcs-sl", "rpi-bmcs", "bmcs-weighted", "rl-mcs", "pi-search"), (5, 45)),
    "uct": (10, 200),
    "learned-search": (10, 500),
}  # else as many as here:
MANY = 40, 2000
TRAINED = "bad", "a2c"  # in test_training
BASES = {"bridge_bidding_v0": "sayc", "bridge_v0": "random", "spades_v0": "rb"}  # who makes most of the decisions
GAMES = {  # variants that agents see beside the default
    "spades_v0": ({}, {"variant": "cutthroat"}, {"blind_nil": True}, {"deck": "jokers"}, {"phase": "round"}),
    "comm_v0": ({"length": 2}, {}),
    "simple_bidding_v0": ({}, {"size": 8}),
    "minibridge_v0": ({"size": 3}, {}),
}


@cache
def decisions(env_id, options, tables, count):
    """Views, legal actions, boards and step of ``count`` decisions, step by step of seeded tables.

    One action in eight is random, so that agents also stand where they would not have gone; tables start at different
    times, so that all phases come early.
    """
    base = bidzoo.agents.make(BASES.get(env_id, "random"))
    engine, rng = bidzoo.make_vec(env_id, tables, **dict(options)), np.random.default_rng(17)
    engine.reset(21)
    found, step, given = [], 0, 0
    while given < count:
        views, legal, boards = engine.views(), engine.action_mask.copy(), engine.boards
        if step >= 3:
            rows = slice(min(tables, count - given))
            found.append((views[rows], legal[rows], boards[rows], step))
            given += len(views[rows])
        actions = base.act(views, legal, Streams.at(2, boards, step))
        rough = (rng.random(engine.action_mask.shape) * engine.action_mask).argmax(1)
        actions = np.where(rng.random(tables) < 0.125, rough, actions)
        engine.step(np.where((np.arange(tables) % 7 > step) & (step < 7), -1, actions))
        step += 1
    return found


def variants(env_id):
    return GAMES.get(env_id, ({},))


def actions(name, env_id):
    """Actions of an agent in the game and its variants, and the chances of those that have them."""
    parts, (tables, count) = {}, DECISIONS.get(name, MANY)
    for options in variants(env_id):
        agent = bidzoo.agents.make(name)
        words = " ".join(f"{key}={value}" for key, value in options.items()) or "default"
        share = count if not options or not GAMES.get(env_id) else count // 2
        acted, chances = [], []
        for views, legal, boards, step in decisions(env_id, tuple(options.items()), tables, share):
            if hasattr(agent, "probabilities"):
                chances.append(agent.probabilities(views, legal))
            acted.append(agent.act(views, legal, Streams.at(2, boards, step)))
        parts[words] = acted
        if chances:
            parts[f"{words}, chances"] = chances
    return parts


def session_at(env_id, seed, steps):
    """A table on screen after some actions of the usual agents."""
    session = Session()
    seats = [BASES.get(env_id, "random")] * len(catalog.offer(env_id).seats)
    session.start(env_id, {}, seats, seed=seed, board=seed)
    while session.cursor < steps and not session.position().over:
        session.agent_turn(session.cursor)
    return session


@cache
def places(env_id):
    """Some tables on screen."""
    steps = {"bridge_bidding_v0": (0, 1, 3, 4, 6), "bridge_v0": (0, 2, 60, 70), "spades_v0": (0, 2, 5, 17, 44)}
    return [session_at(env_id, *place) for place in enumerate(steps.get(env_id, (0, 1, 2)))]


def page(name, env_id):
    """What an agent says as the page shows them, at some places."""
    said = []
    for session in places(env_id):
        if not session.position().over:
            said.append(api.explanation(session, session.explain(name), name))
    return {"thoughts": said}


def table_on_screen(env_id):
    """All that the page gets of a board played to its end, with agents and with a human in one seat."""
    session = session_at(env_id, 3, 10_000)
    shown = [api.page(session)]
    for human in (False, True):
        session.sit([catalog.HUMAN, *session.seats[1:]] if human else session.seats)
        for step in range(0, len(session.actions), 5):
            session.go(step)
            shown.append(api.page(session))
    return {"states": shown}


def cases():
    found, local = {"menu": lambda: {"menu": catalog.menu()}}, {}
    for name, entry in AGENTS.items():
        for env_id in entry.games:
            if name not in TRAINED:
                found[f"{name} {env_id}"] = lambda a=name, b=env_id: actions(a, b)
                found[f"{name} {env_id} thoughts"] = lambda a=name, b=env_id: page(a, b)
                if env_id != "bridge_bidding_v0":  # there all sums are of integers (``dense.py``)
                    local[f"{name} {env_id} thoughts"] = ("processor",)
                if name in ("cfr", "jps", "learned"):
                    local[f"{name} {env_id}"] = ("processor",)
    for env_id in bidzoo.available():
        found[f"table on screen {env_id}"] = lambda a=env_id: table_on_screen(a)
    return found, local


CASES, LOCAL = cases()


@pytest.mark.parametrize("name", CASES)
def test_unchanged(name, unchanged):
    unchanged(name)
