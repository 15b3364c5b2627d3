"""The buffer of transitions: what it keeps, and the chances of what it gives."""

import numpy as np
import pytest

from bidzoo.agents.bridge.replay import ReplayBuffer, SumTree


def filled(capacity=50, n=80, exponent=0.0):
    rng, replay = np.random.default_rng(0), ReplayBuffer(capacity, 20, 9, exponent)
    data = {
        "observation": rng.integers(0, 256, (n, 3), np.uint8),
        "hidden": rng.integers(0, 2, (n, 9), np.int8),
        "legal": rng.integers(0, 256, (n, 5), np.uint8),
        "call": rng.integers(0, 38, n),
        "log_probability": rng.normal(size=n).astype(np.float32),
        "outcome": np.arange(n, dtype=np.float32),
        "priority": rng.random(n).astype(np.float32),
    }
    for rows in (slice(0, 30), slice(30, n)):
        replay.append(**{name: column[rows] for name, column in data.items()})
    return replay, data


@pytest.mark.parametrize("exponent", [0.0, 0.8])
def test_it_keeps_the_last_and_gives_back_what_went_in(exponent):
    replay, data = filled(exponent=exponent)
    assert len(replay) == 50 and replay.added == 80
    sample = replay.sample(1000, 1, 1, 0.6)
    assert set(sample.outcome.astype(int)) <= set(range(30, 80)) and len(set(sample.outcome)) > 45
    for name in ("observation", "hidden", "legal", "call", "log_probability"):
        np.testing.assert_array_equal(getattr(sample, name), data[name][sample.outcome.astype(int)])
    replay.update(np.arange(0, 50, 3), np.linspace(0, 2, 17, dtype=np.float32))
    again = ReplayBuffer(50, 20, 9, exponent)
    again.restore(replay.arrays())
    for one, other in zip(replay.sample(500, 1, 1, 0.6), again.sample(500, 1, 1, 0.6), strict=True):
        np.testing.assert_array_equal(one, other)


def test_it_prefers_and_weighs():
    """Drawn in proportion to priority ** exponent; importance weights undo it at exponent 1."""
    replay, _ = filled(n=50, exponent=0.8)
    priority = np.linspace(0.1, 2, 50).astype(np.float32)
    replay.update(np.arange(50), priority)
    sample = replay.sample(200_000, 3, 0, importance=1.0)
    share = np.bincount(sample.rows, minlength=50) / 200_000
    chance = (priority.astype(np.float64) + 1e-3) ** 0.8
    np.testing.assert_allclose(share, chance / chance.sum(), atol=0.003)
    weight = chance.min() / chance[sample.rows]
    np.testing.assert_allclose(sample.weight, weight, rtol=1e-6)
    evened = np.bincount(sample.rows, sample.weight, minlength=50)
    np.testing.assert_allclose(evened / evened.sum(), 1 / 50, atol=0.002)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 1000])
def test_every_number_draws_the_row_whose_share_holds_it(size):
    """Exactly: the numbers (c + 1/2) / total draw each row as often as its whole value says."""
    values = np.random.default_rng(size).integers(0, 9, size)
    values[-1] += 1
    tree = SumTree(size)
    tree.put(np.arange(size), values)
    total = int(values.sum())
    assert tree.total == total
    drawn = tree.draw((np.arange(total) + 0.5) / total)
    np.testing.assert_array_equal(drawn, np.repeat(np.arange(size), values))
    edges = tree.draw(np.array([0.0, np.nextafter(1.0, 0.0)]))
    assert (values[edges] > 0).all()


def test_sums_depend_on_the_values_alone():
    rng, tree, fresh = np.random.default_rng(1), SumTree(300), SumTree(300)
    for _ in range(50):
        tree.put(rng.integers(0, 200, 40), rng.random(40) ** 8)  # with rows that come twice
    fresh.put(np.arange(300), tree.values(np.arange(300)))
    np.testing.assert_array_equal(fresh._tree, tree._tree)
    assert tree.total == pytest.approx(tree.values(np.arange(300)).sum())
    assert tree.draw(np.linspace(0, np.nextafter(1.0, 0.0), 5000)).max() < 200  # nothing lies beyond
