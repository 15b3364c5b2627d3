"""Random completions of a view: consistent with it, and every one equally likely."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FULL_DECK, hand_bits, hand_cards
from bidzoo.envs.bridge.determinize import known_hands_row, voids_row
from bidzoo.envs.bridge.engine import legal_row
from bidzoo.envs.bridge.game import Bridge

GAME = Bridge(play=True)


def position(board: int, turns: int) -> Any:
    """A table after ``turns`` random actions, not over."""
    tables, out = GAME.new(1), GAME.buffers(1)
    GAME.begin(tables, np.array([board]), 11, out)
    rng = np.random.default_rng(board)
    calls = [3 + int(rng.integers(35)), 0, 0, 0]
    for turn in range(turns):
        legal = np.flatnonzero(out.mask[0])
        GAME.step(tables, np.array([calls[turn] if turn < 4 else int(rng.choice(legal))]), 0, out)
    return tables


def completions(tables: Any, player: int, n: int) -> Any:
    views = GAME.view_of(np.repeat(tables, n), np.full(n, player))
    keys, out = np.arange(n).astype(np.uint64) * np.uint64(977), GAME.new(n)
    GAME.determinize(views, keys, out)
    return out


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 55), st.integers(0, 3))
def test_a_completion_fits_the_view(board: int, turns: int, player: int) -> None:
    tables = position(board, turns)
    found = completions(tables, player, 8)
    view = GAME.view_of(tables, np.array([player]))
    known, voids = np.empty(4, np.int64), np.empty(4, np.int64)
    known_hands_row(view[0], known)
    voids_row(view[0], voids)
    assert (np.bitwise_or.reduce(found["hands"], 1) == FULL_DECK).all()
    for table in found:
        assert GAME.view_of(table[None], np.array([player])).tobytes() == view.tobytes()
        for seat in range(4):
            hand, held = int(table["hands"][seat]), int(table["held"][seat])
            assert hand.bit_count() == 13
            assert int(known[seat]) & ~hand == 0
            assert held.bit_count() == int(tables[0]["held"][seat]).bit_count()
            assert not any(int(voids[seat]) >> card % 4 & 1 for card in hand_cards(held))
    assert (found["tricks"] == -1).all()


def _completions_of(tables: Any, viewer: int) -> set[tuple[int, ...]]:
    """Every way to share the cards ``viewer`` cannot see, by brute force."""
    view = GAME.view_of(tables, np.array([viewer]))[0]
    known, voids = np.empty(4, np.int64), np.empty(4, np.int64)
    known_hands_row(view, known)
    voids_row(view, voids)
    hidden = [card for card in range(52) if not any(int(hand) >> card & 1 for hand in known)]
    found: set[tuple[int, ...]] = set()

    def share(seat: int, left: list[int], hands: tuple[int, ...]) -> None:
        if seat == 4:
            found.add(hands)
            return
        for cards in combinations(left, 13 - int(known[seat]).bit_count()):
            if not any(int(voids[seat]) >> card % 4 & 1 for card in cards):
                rest = [card for card in left if card not in cards]
                share(seat + 1, rest, (*hands, int(known[seat]) | hand_bits(cards)))

    share(0, hidden, ())
    return found


@pytest.mark.parametrize(
    ("board", "turns", "seat"), [(0, 36, 0), (1, 40, 0), (2, 40, 1), (3, 44, 2), (4, 42, 1), (5, 38, 3)]
)
def test_every_completion_is_equally_likely(board: int, turns: int, seat: int) -> None:
    """Chi-square against all completions; ``seat`` is counted from declarer (2: dummy, who sees one hand less)."""
    tables = position(board, turns)
    player = int(tables["declarer"][0] + seat) % 4
    every = sorted(_completions_of(tables, player))
    n = 60 * len(every)
    drawn = completions(tables, player, n)["hands"]
    index = {hands: i for i, hands in enumerate(every)}
    counts = np.bincount([index[tuple(row)] for row in drawn.tolist()], minlength=len(every))
    square = float(((counts - 60) ** 2 / 60).sum())
    freedom = len(every) - 1
    assert freedom > 0
    assert abs(square - freedom) < 5 * np.sqrt(2 * freedom)


def test_voids_are_met_in_these_positions() -> None:
    """The positions above exercise the path with voids."""
    shown = 0
    for board, turns in ((0, 36), (1, 40), (2, 40), (3, 40)):
        tables = position(board, turns)
        for player in range(4):
            shown += voids_row(GAME.view_of(tables, np.array([player]))[0], np.empty(4, np.int64))
    assert shown >= 8


def test_keys_are_consumed_and_the_same_key_gives_the_same_table() -> None:
    tables = position(3, 20)
    views = GAME.view_of(np.repeat(tables, 2), np.array([0, 0]))
    keys, out = np.array([5, 5], np.uint64), GAME.new(2)
    GAME.determinize(views, keys, out)
    assert keys[0] == keys[1] != 5
    assert out[0].tobytes() == out[1].tobytes()
    first = out["hands"][0].tolist()
    GAME.determinize(views, keys, out)
    assert out["hands"][0].tolist() != first


def test_a_completed_table_can_be_played_out() -> None:
    tables = completions(position(8, 20), 1, 16)
    out = GAME.buffers(16)
    rng = np.random.default_rng(0)
    mask = np.zeros(90, np.int8)
    for _ in range(60):
        actions = np.full(16, -1)
        for b, table in enumerate(tables):
            legal_row(table, mask)
            if mask.any():
                actions[b] = rng.choice(np.flatnonzero(mask))
        GAME.step(tables, actions, 0, out, 0)
    assert (tables["phase"] == 2).all()
    assert (tables["won"].sum(1) == 13).all()
