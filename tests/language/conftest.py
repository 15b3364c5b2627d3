"""A game of every kind that is put into words."""

import pytest

import bidzoo

GAMES = [
    ("bridge_bidding_v0", {}),
    ("bridge_v0", {}),
    ("spades_v0", {"blind_nil": True, "deck": "jokers", "max_rounds": 5}),
    ("minibridge_v0", {"size": 2}),
    ("comm_v0", {}),
    ("mini_hanabi_v0", {}),
    ("simple_bidding_v0", {}),
]


@pytest.fixture(params=GAMES, ids=[env_id for env_id, _ in GAMES])
def game_and_options(request):
    env_id, options = request.param
    return bidzoo.make_game(env_id, **options), options
