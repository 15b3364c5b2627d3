"""``experiments/early_search.py``: what is measured is what it says."""

import early_search
import pytest


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.setattr(early_search, "AGENTS", ("rpi-bmcs",))
    monkeypatch.setattr(early_search, "VALUED", {"opportunity_cost": 0.0, "r_max": 60, "p_max": 1000})
    monkeypatch.setattr(early_search, "FEWEST", 10)

    def measured(**whole):
        monkeypatch.setattr(early_search, "WHOLE", {"p_max": 4000, **whole})
        (table,), figures = early_search.tables(5, 0, lambda what, done, total: None)
        assert figures == []
        return table.rows[0]

    return measured


def test_a_search_beside_itself_saves_and_loses_nothing(measure):
    row = measure()
    assert row["same call, %"].mean == 100 and row["change"].mean == 0
    assert row["deals"] == row["deals, whole"] > 20
    assert row["value, whole"].n >= 2


def test_an_early_end_plays_fewer_deals_out(measure):
    row = measure(opportunity_cost=0.0)
    assert 20 < row["deals"] < row["deals, whole"] <= 200
