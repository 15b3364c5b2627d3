"""``experiments/paired_match.py``: differences are those of matches on the same boards."""

import numpy as np
import paired_match
import pytest

from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import duplicate
from bidzoo.envs.bridge.game import Bridge


def test_differences_are_those_of_the_same_boards(tmp_path):
    path, opponents, numbers = tmp_path / "paired.json", ["sayc", "pass"], np.arange(40)
    paired_match.main("sl", ["ppo", "sl"], opponent=opponents, boards=40, seed=3, json=path)
    (table,) = results.load(path)["tables"]
    better, same = table.rows
    game = Bridge(False, deals="validation")
    differences = [
        duplicate(game, "ppo", other, numbers, 3).imps - duplicate(game, "sl", other, numbers, 3).imps
        for other in opponents
    ]
    assert better["over sl"].mean == pytest.approx(duplicate(game, "ppo", "sl", numbers, 3).imps.mean())
    for other, difference in zip(opponents, differences):
        assert better[other].mean == pytest.approx(difference.mean())
    assert better["mean"].mean == pytest.approx(np.mean(differences)) and better["mean"].error > 0
    assert same["over sl"].mean == same["mean"].mean == same["mean"].error == 0
