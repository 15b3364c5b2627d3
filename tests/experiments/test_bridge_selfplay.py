"""``experiments/bridge_selfplay.py``: the times are those of what it says."""

import time

import numpy as np
import pytest

pytest.importorskip("torch")

import bridge_selfplay
from bridge_selfplay import NETWORKS, STAGES, Options, measured, pick, player, tables

from bidzoo.agents.bridge import selfplay
from bidzoo.agents.bridge.network import Architecture, module
from bidzoo.benchmarks.results import silent
from bidzoo.envs.bridge.game import Bridge


def test_picked_calls_are_legal_and_follow_the_numbers():
    legal = (np.random.default_rng(0).random((500, 38)) < 0.4).astype(np.int8)
    legal[:, 7] = 1
    decisions = selfplay.empty(Bridge(False), 500)
    decisions.legal[:] = np.packbits(legal, axis=1, bitorder="little")
    for number, wanted in ((0.0, 0), (1 - 1e-9, -1)):
        pick(decisions, np.full(500, number))
        assert [np.flatnonzero(row)[wanted] for row in legal] == decisions.call.tolist()


def test_a_network_by_size_or_by_name(monkeypatch):
    made = []
    monkeypatch.setattr(bridge_selfplay.selfplay, "actor_of", lambda model, *_: made.append(model))
    games = [player(name, "cpu", 1)[0] for name in ("2x24", "sl", "a2c-bridge")]
    assert [game.encoder.name for game in games] == ["openspiel480", "openspiel480", "jps267"]
    shapes = [[tuple(layer.weight.shape) for layer in model.layers] for model in made]
    assert shapes[0] == [(24, 480), (24, 24), (38, 24)]
    assert shapes[1] == [(512, 480), (512, 512), (512, 512), (38, 512)]


def test_every_network_of_the_table_is_known(monkeypatch):
    sizes, small = [], module(Architecture("openspiel480", 38, width=8, depth=1))
    monkeypatch.setattr(bridge_selfplay.network, "module", lambda size, *_, **__: sizes.append(size) or small)
    monkeypatch.setattr(bridge_selfplay.network, "module_of", lambda packaged: small)
    monkeypatch.setattr(bridge_selfplay.selfplay, "actor_of", lambda *_: pick)
    for name in NETWORKS:
        assert player(name, "cpu", 1)[0].encoder.name == "openspiel480"
    assert [(size.depth, size.width) for size in sizes] == [(4, 1024), (4, 2048)]


def test_every_stage_is_timed():
    """A player that sleeps takes at least the time it sleeps, and all stages together no more than there was."""
    waited = []

    def slow(decisions, numbers):
        waited.append(0.02)
        time.sleep(0.02)
        pick(decisions, numbers)

    game = Bridge(False)
    run = measured(game, 60, 3, selfplay.Actor(game.encoder, slow), 1, selfplay.Record(game))
    assert run.stages.keys() == STAGES.keys() and min(run.stages.values()) > 0
    assert sum(waited) <= run.stages["act"] <= run.seconds
    assert sum(run.stages.values()) <= run.seconds


def test_tables_have_a_row_a_batch_until_the_limit():
    told = []
    options = Options(rounds=1, limit=0.0)
    (speed, spent), figures = tables(["none", "1x8"], [300, 600], options, lambda *what: told.append(what))
    assert [(row["network"], row["boards"]) for row in speed.rows] == [("none", 300), ("1x8", 300)]
    assert told == [("networks", 1, 2), ("networks", 2, 2)] and not figures
    for fast, row in zip(speed.rows, spent.rows, strict=True):
        parts = sum(value for name, value in row.items() if name not in ("network", "boards"))
        assert parts == pytest.approx(1e6 / fast["decisions/s"])
    (speed, _), _ = tables(["none"], [300, 600], Options(rounds=1, limit=1e9), silent)
    assert [row["boards"] for row in speed.rows] == [300, 600]
