"""Golden: what every packaged agent does on seeded decisions, and what it says about some of them on the play page."""

import numpy as np
import pytest

import bidzoo
from bidzoo.agents import AGENTS
from bidzoo.core.streams import Streams
from bidzoo.play import api, catalog
from bidzoo.play.session import Session

DECISIONS = {
    "bmcs": 90,
    "bmcs-sl": 90,
    "rpi-bmcs": 90,
    "bmcs-weighted": 90,
    "rl-mcs": 90,
    "pi-search": 90,
    "uct": 800,
    "bad": 0,
    "a2c": 0,
}  # else 2000; 0: trained in test_training
BASES = {"bridge_bidding_v0": "sayc", "bridge_v0": "random", "spades_v0": "rb"}  # who makes most of the decisions
GAMES = {  # variants that agents see beside the default
    "spades_v0": ({}, {"variant": "cutthroat"}, {"blind_nil": True}, {"deck": "jokers"}, {"phase": "round"}),
    "comm_v0": ({"length": 2}, {}),
    "simple_bidding_v0": ({}, {"size": 8}),
    "minibridge_v0": ({"size": 3}, {}),
}


def decisions(env_id, options, count, tables=40):
    """Views, legal actions and random streams of ``count`` decisions, step by step of seeded tables.

    One action in eight is random, so that agents also stand where they would not have gone; tables start at different
    times, so that all phases come early.
    """
    base = bidzoo.agents.make(BASES.get(env_id, "random"))
    engine, rng = bidzoo.make_vec(env_id, tables, **options), np.random.default_rng(17)
    engine.reset(21)
    step, given = 0, 0
    while given < count:
        boards = engine.boards
        asked = engine.views(), engine.action_mask.copy(), Streams.at(2, boards, step)
        if step >= 3:
            rows = slice(min(tables, count - given))
            yield asked[0][rows], asked[1][rows], asked[2][rows]
            given += len(asked[0][rows])
        actions = base.act(*asked)
        rough = (rng.random(engine.action_mask.shape) * engine.action_mask).argmax(1)
        actions = np.where(rng.random(tables) < 0.125, rough, actions)
        engine.step(np.where((np.arange(tables) % 7 > step) & (step < 7), -1, actions))
        step += 1


def variants(env_id):
    return GAMES.get(env_id, ({},))


def actions(name, env_id):
    """Actions of an agent in the game and its variants, and the chances of those that have them."""
    parts, count = {}, DECISIONS.get(name, 2000)
    for options in variants(env_id):
        agent, few = bidzoo.agents.make(name), 10 if count < 100 else 40
        words = " ".join(f"{key}={value}" for key, value in options.items()) or "default"
        share = count if not options or not GAMES.get(env_id) else count // 2
        acted, chances = [], []
        for views, legal, rng in decisions(env_id, options, share, few):
            if hasattr(agent, "probabilities"):
                chances.append(agent.probabilities(views, legal))
            acted.append(agent.act(views, legal, rng))
        parts[words] = acted
        if chances:
            parts[f"{words}, chances"] = chances
    return parts


def session_at(env_id, seed, steps, options=None):
    """A table on screen after some actions of the usual agents."""
    session = Session()
    seats = [BASES.get(env_id, "random")] * len(catalog.offer(env_id).seats)
    session.start(env_id, options or {}, seats, seed=seed, board=seed)
    while session.cursor < steps and not session.position().over:
        session.agent_turn(session.cursor)
    return session


def page(name, env_id):
    """What an agent says as the page shows them, at five places."""
    places = {"bridge_bidding_v0": (0, 1, 3, 4, 6), "bridge_v0": (0, 2, 60, 70), "spades_v0": (0, 2, 5, 17, 44)}
    said = []
    for seed, steps in enumerate(places.get(env_id, (0, 1, 2))):
        session = session_at(env_id, seed, steps)
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
            if DECISIONS.get(name) != 0:
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
