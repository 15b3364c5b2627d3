"""Every script of ``experiments/`` that has no test file of its own runs, small."""

import bridge_training
import opponent_models
import pytest
import search_prior
from typer.testing import CliRunner

from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.benchmarks import results
from bidzoo.benchmarks.auctions import record


def test_search_prior(tmp_path, monkeypatch):
    path = tmp_path / "prior.json"
    monkeypatch.setattr(search_prior, "EXPERTS", ("expert-sayc",))
    search_prior.main(decisions_of_each=12, boards=20, seed=1, workers=1, json=path)
    tables = results.load(path)["tables"]
    assert [len(table.rows) for table in tables] == [2, 2, 2]
    assert all(row["decisions"] == 12 for table in tables for row in table.rows)


def test_opponent_models(tmp_path, monkeypatch):
    path = tmp_path / "models.json"
    monkeypatch.setattr(opponent_models, "EXPERTS", ("expert-sayc",))
    opponent_models.main(boards=2, seed=1, json=path)
    explanation, *searches = results.load(path)["tables"]
    assert len(explanation.rows) == len(searches[0].rows) == len(opponent_models.EXPERTS)


@pytest.mark.parametrize(("command", "titles"), [("policies", 3), ("baseline19", 2)])
def test_what_training_reached(tmp_path, monkeypatch, command, titles):
    monkeypatch.setattr(bridge_training, "FEWEST", 1)
    record(Sayc(), 400, 1).save(tmp_path / "auctions.npz")
    words = [command, str(tmp_path / "auctions.npz"), "--json", str(tmp_path / "out.json")]
    more = ["--policy", "sl", "--policy", "sl-small", "--boards", "20"] if command == "policies" else []
    done = CliRunner().invoke(bridge_training.app, words + more, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    tables = results.load(tmp_path / "out.json")["tables"]
    assert len(tables) == titles and all(table.rows for table in tables)
