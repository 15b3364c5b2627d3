"""OpenSpiel's observation tensors, bit for bit, in auctions and plays with dealer North (it ignores other dealers)."""

from typing import Any

import numpy as np
import pytest

from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, PASS
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS

pyspiel = pytest.importorskip("pyspiel")

GAME = Bridge(play=True, observation="openspiel571")
PLAYERS = np.arange(4)


def theirs(vulnerable: int) -> Any:
    """OpenSpiel's bridge, cards played, nothing solved; ``vulnerable`` bit 0 N/S, bit 1 E/W."""
    return pyspiel.load_game(
        "bridge",
        {
            "use_double_dummy_result": False,
            "dealer_vul": bool(vulnerable & 1),
            "non_dealer_vul": bool(vulnerable & 2),
        },
    )


def compare(game: Any, vulnerable: int, rng: np.random.Generator, cards: bool) -> int:
    """Play one random board on both sides; positions compared, each from all four seats."""
    state, deal = game.new_initial_state(), rng.permutation(NUM_CARDS)
    for card in deal:
        state.apply_action(int(card))
    hands = [int(sum(1 << int(card) for card in deal[seat::4])) for seat in range(4)]
    tables, out = GAME.new(1), GAME.buffers(1)
    GAME.begin(tables, np.array([0]), 0, out)
    side = ("none", "ns", "ew", "both")[vulnerable]
    GAME.fix(tables, GAME.options({"deal": hands, "dealer": "N", "vulnerability": side}), out)
    passing, compared = rng.uniform(0.3, 0.95), 0
    while True:
        views = GAME.view_of(np.repeat(tables, 4), PLAYERS)
        expected = np.array([state.observation_tensor(player) for player in range(4)])
        found = ENCODERS["openspiel571"](views)
        assert (found == expected).all(), f"{np.argwhere(found != expected)[:5]}\n{state}"
        in_auction = int(tables["plays"][0]) == 0
        if in_auction:
            assert (ENCODERS["openspiel480"](views) == expected[:, 4:484]).all(), str(state)
        compared += 1
        if state.is_terminal() or (tables["declarer"][0] >= 0 and not cards):
            return compared
        assert out.player[0] == state.current_player()
        legal = state.legal_actions()
        action = NUM_CARDS + PASS if legal[0] == NUM_CARDS and rng.random() < passing else int(rng.choice(legal))
        state.apply_action(action)
        ours = action - NUM_CARDS if action >= NUM_CARDS else NUM_CALLS + action
        GAME.step(tables, np.array([ours]), 0, out, 0)


@pytest.mark.parametrize(("cards", "positions"), [(True, 1600), (False, 1600)], ids=["whole boards", "auctions"])
@pytest.mark.parametrize("vulnerable", range(4))
def test_every_seat_sees_what_openspiel_shows(vulnerable: int, cards: bool, positions: int) -> None:
    rng, game = np.random.default_rng(2 * vulnerable + cards), theirs(vulnerable)
    compared = 0
    while compared < positions:
        compared += compare(game, vulnerable, rng, cards)
