"""``experiments/paired_match.py``: differences are those of matches on the same boards."""

import numpy as np
import paired_match
import pytest

from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import duplicate
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps


def test_differences_are_those_of_the_same_boards(tmp_path):
    path, opponents, numbers = tmp_path / "paired.json", ["sayc", "pass"], np.arange(40)
    paired_match.main("sl", ["ppo", "sl"], opponent=opponents, boards=40, seed=3, json=path)
    table, parts = results.load(path)["tables"]
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
    gains = {(row["agent"], row["tables"]): row for row in parts.rows}
    for kind in (paired_match.POINTS, ("opponents pass", "opponents bid")):
        rows = [gains["ppo", each] for each in kind]
        assert sum(row["share, %"] for row in rows) == pytest.approx(100)
        total = sum(row["IMPs a board"].mean for row in rows)
        assert total == pytest.approx(by_hand(game, opponents, numbers)[0])
        assert all(gains["sl", each]["IMPs a board"].mean == 0 for each in kind)
    quiet = gains["ppo", "opponents pass"]
    assert quiet["IMPs a board"].mean == pytest.approx(by_hand(game, opponents, numbers)[1])


def by_hand(game, opponents, numbers):
    """IMPs a board of ppo over sl at all tables, and at those where the opponents pass, auction by auction."""
    whole, quiet = [], []
    for other in opponents:
        for mine, base in zip(*(duplicate(game, agent, other, numbers, 3)[3:] for agent in ("ppo", "sl"))):
            side = len(whole) // len(numbers) % 2
            for a, b in zip(mine, base):
                gain = int(imps(int(a["points"][0]) - int(b["points"][0]))) * (1, -1)[side]
                silent = all(
                    call == 0 or (each["dealer"] + turn) % 2 == side
                    for each in (a, b)
                    for turn, call in enumerate(each["calls"][: each["length"]])
                )
                whole.append(gain)
                quiet.append(gain * silent)
    boards = len(numbers) * len(opponents)
    return sum(whole) / boards, sum(quiet) / boards
