"""Double-dummy solving: the packaged tables, augmented tables, single contracts, and processes."""

import sys
from pathlib import Path

import numpy as np
import pytest

from bidzoo.core.kernels import I8, I64
from bidzoo.envs.bridge import double_dummy
from bidzoo.envs.bridge.deals import SPLITS, DealSet, Split, augment, packaged
from bidzoo.envs.bridge.double_dummy import solve_contracts, solve_tricks


def some(split: Split, *deals: int) -> DealSet:
    hands, tricks = packaged(split)
    return DealSet(hands[list(deals)], tricks[list(deals)])


def test_packaged_tables_are_the_solver_s() -> None:
    for split in SPLITS:
        deals = some(split, 0, len(packaged(split).hands) - 1)
        assert np.array_equal(solve_tricks(deals.hands), deals.tricks), split


@pytest.mark.slow
def test_sixty_packaged_tables_are_the_solver_s() -> None:
    rng = np.random.default_rng(1)
    for split in SPLITS:
        n = len(packaged(split).hands)
        deals = some(split, *rng.choice(n, 20, replace=False))
        assert np.array_equal(solve_tricks(deals.hands), deals.tricks), split


def test_augmented_deals_have_the_augmented_tables() -> None:
    deals = some("test", 11, 12, 13, 14)
    moved = augment(deals, np.array([23, 9, 14, 18]), np.array([1, 2, 3, 0]))
    assert not np.array_equal(moved.tricks, deals.tricks)
    assert np.array_equal(solve_tricks(moved.hands), moved.tricks)


def requests(n: int) -> tuple[DealSet, I64, I64, I8]:
    """``n`` deals, a declarer (or none) and a strain for each, and the tricks they take by the packaged tables."""
    deals = some("validation", *range(n))
    rng = np.random.default_rng(2)
    declarer, strain = rng.integers(-1, 4, n), rng.integers(0, 5, n)
    tricks = deals.tricks[np.arange(n), np.maximum(5 * declarer + strain, 0)]
    return deals, declarer, strain, np.where(declarer < 0, -1, tricks).astype(np.int8)


def test_single_contracts_agree_with_whole_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(double_dummy, "BOARDS_A_CALL", 15)
    deals, declarer, strain, expected = requests(40)
    assert np.array_equal(solve_contracts(deals.hands, declarer, strain), expected)


@pytest.mark.slow
def test_more_contracts_than_the_solver_takes_in_one_call() -> None:
    deals, declarer, strain, expected = requests(450)
    assert np.array_equal(solve_contracts(deals.hands, declarer, strain, workers=2), expected)
    assert np.array_equal(double_dummy.dd_contracts(deals.hands, np.full(450, 2), np.full(450, 4)), deals.tricks[:, 14])


def test_no_deals_are_no_work() -> None:
    none = np.empty((0, 4), np.int64)
    assert solve_tricks(none).shape == (0, 20)
    assert solve_contracts(none, np.empty(0, np.int64), np.empty(0, np.int64)).shape == (0,)


def test_bad_requests_are_named() -> None:
    hands = some("test", 0, 1).hands
    zero, one = np.zeros(2, np.int64), np.ones(2, np.int64)
    with pytest.raises(ValueError, match=r"declarer: deal 1: 4, expected -1 \.\.\. 3"):
        solve_contracts(hands, np.array([0, 4]), zero)
    with pytest.raises(ValueError, match=r"strain: deal 0: 5, expected 0 \.\.\. 4"):
        solve_contracts(hands, zero, 5 * one)
    with pytest.raises(ValueError, match=r"strain has shape \(1,\), expected \[2\]"):
        solve_contracts(hands, zero, zero[:1])
    with pytest.raises(ValueError, match="hands: deal 0: N holds 0 cards, expected 13"):
        solve_tricks(np.zeros((1, 4), np.int64))
    with pytest.raises(ValueError, match="workers: 0, expected 1 or more"):
        solve_tricks(hands, workers=0)


def test_without_endplay_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Python 3.14, in the words of the quick start."""
    monkeypatch.setitem(sys.modules, "endplay", None)
    double_dummy._solver.cache_clear()
    with pytest.raises(ImportError, match="solving deals needs endplay"):
        solve_tricks(some("test", 0).hands)
    assert (packaged("test").tricks >= 0).all()
    page = Path(__file__).parents[3] / "docs" / "quickstart.md"
    assert "`solving deals needs endplay`" in page.read_text(encoding="utf-8")
