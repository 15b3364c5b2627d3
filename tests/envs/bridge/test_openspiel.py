"""Whole boards against OpenSpiel: legal actions at every step, who acts, and the final score."""

from typing import Any

import numpy as np
import pytest

from bidzoo.core.cards import hand_cards
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.game import Bridge

pyspiel = pytest.importorskip("pyspiel")
BOARDS = 400


def _load(dealer: int, vulnerable: int, double_dummy: bool) -> Any:
    ours, theirs = bool(vulnerable >> dealer % 2 & 1), bool(vulnerable >> (1 - dealer % 2) & 1)
    options = {"dealer": dealer, "dealer_vul": ours, "non_dealer_vul": theirs, "use_double_dummy_result": double_dummy}
    return pyspiel.load_game("bridge", options)


def _deal_actions(hands: Any) -> list[int]:
    """OpenSpiel deals one card to each seat in turn."""
    piles = [hand_cards(int(hand)) for hand in hands]
    return [card for cards in zip(*piles, strict=True) for card in cards]


def _theirs(action: int) -> int:
    """OpenSpiel numbers cards 0 ... 51 and calls 52 ... 89."""
    return action + 52 if action < 38 else action - 38


def _play_out(game: Bridge, state: Any, tables: Any, out: Any, rng: np.random.Generator, haste: float) -> int:
    """Random actions to the end, compared at every step; ``haste`` is how often a caller passes."""
    turns = 0
    while not state.is_terminal():
        legal = np.flatnonzero(out.mask[0])
        assert sorted(_theirs(int(a)) for a in legal) == state.legal_actions()
        assert out.player[0] == state.current_player()
        action = 0 if legal[0] == 0 and rng.random() < haste else int(rng.choice(legal[:9]))
        game.step(tables, np.array([action]), 0, out)
        state.apply_action(_theirs(action))
        assert out.over[0] == state.is_terminal()
        turns += 1
    assert not out.mask[0].any()
    return turns


def test_the_auction_scored_double_dummy() -> None:
    deals = DealSet(packaged("test").hands[:BOARDS], packaged("test").tricks[:BOARDS])
    game = Bridge(play=False, deals=deals, augment=False, shuffle=False)
    tables, out, rng = game.new(1), game.buffers(1), np.random.default_rng(0)
    scores = set()
    for board in range(BOARDS):
        game.begin(tables, np.array([board]), 0, out)
        table = tables[0]
        solved = table["tricks"].reshape(4, 5).T.ravel()  # theirs: strain, then declarer
        lines = [*_deal_actions(table["hands"]), "Double Dummy Results", *solved.tolist()]
        spiel = _load(int(table["dealer"]), int(table["vulnerable"]), True)
        state = spiel.deserialize_state("\n".join(map(str, lines)) + "\n")
        _play_out(game, state, tables, out, rng, haste=rng.choice([0.2, 0.7]))
        assert out.reward[0].tolist() == state.returns()
        scores.add(state.returns()[0])
    assert len(scores) > 50


def test_auction_and_play() -> None:
    game = Bridge(play=True)
    tables, out, rng = game.new(1), game.buffers(1), np.random.default_rng(1)
    turns = 0
    for board in range(BOARDS):
        game.begin(tables, np.array([board]), 7, out)
        table = tables[0]
        state = _load(int(table["dealer"]), int(table["vulnerable"]), False).new_initial_state()
        for card in _deal_actions(table["hands"]):
            state.apply_action(card)
        turns += _play_out(game, state, tables, out, rng, haste=0.6)
        assert out.reward[0].tolist() == state.returns()
    assert turns > 50 * BOARDS


def test_the_extreme_reward_is_openspiels() -> None:
    spiel = _load(0, 0, True)
    assert Bridge(play=False).reward_range == (spiel.min_utility(), spiel.max_utility())
    assert Bridge(play=False).max_turns == spiel.max_game_length()
    assert Bridge(play=True).max_turns == _load(0, 0, False).max_game_length()
