"""``experiments/bridge_evaluator.py``: the tables are what they say."""

import numpy as np
from bridge_evaluator import tables

from bidzoo.agents.bridge.evaluator import Evaluator, SuitNetwork, Suits


def test_result_tables():
    """The tables are what they say, on few deals, with a network that knows nothing of them."""
    architecture, rng = Suits(4, 3, 5), np.random.default_rng(0)
    weights = {n: rng.normal(0, 0.4, shape).astype(np.float32) for n, shape in architecture.shapes.items()}
    (accuracy, bias, strength, calibration, speed), _ = tables(
        Evaluator(SuitNetwork(architecture, weights)), "sayc", 40
    )
    assert [row["cells"] for row in accuracy.rows[::3]] == [800, 640, 160]
    for row in accuracy.rows:
        assert 0 <= row["exact"].mean <= row["within one"].mean <= 1 and row["exact"].n == 40
    known = {(row["tricks of"], row["by"]): row["log-loss"].mean for row in accuracy.rows}
    assert known["all", "points and trumps"] < known["all", "strain alone"] < np.log(14)
    assert sum(row["cells that took them"] for row in bias.rows) == 800
    assert sum(row["cells predicted near them"] for row in bias.rows) == 800
    assert sum(row["cells"] for row in strength.rows) == 800
    assert sum(row["contracts"] for row in calibration.rows[:-1]) <= calibration.rows[-1]["contracts"]
    assert all(row["cells a second"] > 0 for row in speed.rows)
