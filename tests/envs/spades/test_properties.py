"""Spades: what holds in every game, whatever the rules, the cards and the play."""

from itertools import combinations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FULL_DECK
from bidzoo.core.kernels import allocate
from bidzoo.core.threads import set_threads
from bidzoo.envs.spades.deals import SUITS
from bidzoo.envs.spades.engine import legal_row
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.state import OVER, PLAY, VIEW

RULES = [
    {},
    {"phase": "round"},
    {"phase": "round", "blind_nil": True, "reward": "points"},
    {"phase": "round", "variant": "cutthroat", "deck": "jokers_deuces", "blind_nil": True},
    {"phase": "round", "variant": "mirror", "deck": "jokers"},
    {"phase": "round", "variant": "whiz", "reward": "points", "observation": "bidding"},
    {"variant": "suicide", "deck": "jokers_deuces", "max_rounds": 2, "failed_nil": "partner"},
    {"phase": "bidding", "player": "random", "max_rounds": 3, "blind_nil": True},
    {"win_goal": 1, "lose_goal": -50, "bag_penalty": 100, "variant": "cutthroat"},
]
GAMES = [Spades(**rules) for rules in RULES]
games = st.sampled_from(GAMES)
in_play = st.sampled_from([game for game in GAMES if game.phase != "bidding"])
seeds = st.integers(0, 2**63 - 1)
boards = st.integers(0, 10**12)
lengths = st.integers(0, 70)


def start(game, boards, seed):
    states, out = game.new(len(boards)), game.buffers(len(boards))
    game.begin(states, np.array(boards), seed, out)
    return states, out


def choose(out, rng):
    """A random legal action everywhere, -1 where there is none."""
    return np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else -1 for mask in out.mask])


def walk(game, board, seed, length):
    """A table after at most ``length`` random actions, and those."""
    states, out = start(game, [board], seed)
    rng, actions = np.random.default_rng(seed), []
    while len(actions) < length and out.mask.any():
        actions.append(int(choose(out, rng)[0]))
        game.step(states, np.array([actions[-1]]), 0, out)
    return states, out, actions


def view(game, states, seat):
    return game.view_of(states, np.full(len(states), seat))


def observation(game, states, seat):
    out = np.empty(game.encoder.layout.size, np.int8)
    game.observe(states, np.array([0]), seat, out[None])
    return out


@settings(deadline=None, max_examples=40)
@given(games, boards, seeds)
def test_every_game_is_a_sound_game(game, board, seed):
    """52 cards are always somewhere, someone can always act, tricks add up, and the rewards balance."""
    states, out = start(game, [board], seed)
    state, rng = states[0], np.random.default_rng(seed)
    for _ in range(min(game.max_turns, 130)):
        if state["phase"] == OVER:
            break
        held = [int(hand) for hand in state["held"]]
        assert sum(held) + int(state["gone"]) == FULL_DECK  # no card twice, none missing
        assert sum(int(hand) for hand in state["hands"]) == FULL_DECK
        assert [int(hand).bit_count() for hand in state["hands"]] == [13] * 4
        assert int(state["gone"]).bit_count() == state["plays"] and state["won"].sum() == state["plays"] // 4
        assert out.mask.any() and out.player[0] == state["turn"]
        for seat in range(4):
            for suit in range(4):
                if state["voids"][seat] >> suit & 1:
                    cards = [card for card in range(52) if held[seat] >> card & 1]
                    assert suit not in SUITS[state["deck"], cards]
        game.step(states, np.array([int(choose(out, rng)[0])]), 0, out)
    assert abs(float(out.reward.sum())) < 1e-3
    low, high = game.reward_range
    assert (out.reward >= low).all() and (out.reward <= high).all()


@settings(deadline=None, max_examples=25)
@given(games, boards, seeds)
def test_a_table_depends_on_no_other(game, board, seed):
    """Row 0 of a batch whose other rows play other boards equals the same table alone, step by step."""
    many, shown = start(game, [board, board + 1, board + 2], seed)
    one, alone = start(game, [board], seed)
    rng = np.random.default_rng(seed)
    for _ in range(70):
        actions = choose(shown, rng)
        if actions[0] < 0:
            break
        game.step(many, actions, seed, shown, 0)
        game.step(one, np.array([int(actions[0])]), 0, alone)
        for name in ("player", "observation", "mask", "reward", "over"):
            assert (getattr(shown, name)[0] == getattr(alone, name)[0]).all(), name
        assert many[0] == one[0]


@settings(deadline=None, max_examples=25)
@given(games, boards, seeds, lengths)
def test_replay(game, board, seed, length):
    """The same actions give the same bytes."""
    states, out, actions = walk(game, board, seed, length)
    again, shown = start(game, [board], seed)
    for action in actions:
        game.step(again, np.array([action]), 0, shown)
    assert again.tobytes() == states.tobytes()
    assert all((getattr(out, name) == getattr(shown, name)).all() for name in out._fields)


@settings(deadline=None, max_examples=40)
@given(in_play, boards, seeds, lengths, st.integers(0, 3))
def test_hidden_cards_change_nothing_that_is_seen(game, board, seed, length, seat):
    """Any other deal that fits a view gives the same view, observation and legal actions."""
    states, out, _ = walk(game, board, seed, length)
    seen = view(game, states, seat)
    other = game.new(1)
    game.determinize(seen, np.array([seed], np.uint64), other)
    assert view(game, other, seat).tobytes() == seen.tobytes()
    assert (observation(game, other, seat) == observation(game, states, seat)).all()
    encoded = game.encoder(seen)
    assert (encoded[0] == observation(game, states, seat)).all()
    if states[0]["turn"] == seat:
        legal = np.empty(game.num_actions, np.int8)
        legal_row(other[0], legal)
        assert (legal == out.mask[0]).all()


@settings(deadline=None, max_examples=60)
@given(in_play, boards, seeds, lengths, st.integers(0, 3))
def test_a_determinisation_could_have_been_the_deal(game, board, seed, length, seat):
    """Dealt those hands instead, the same cards were legal all along and lead to the same public state.

    Bids are not used in drawing it: in mirror, whiz and suicide they might be illegal, so they are set.
    """
    states, _, actions = walk(game, board, seed, length)
    if states[0]["rounds"]:
        return
    drawn = game.new(1)
    game.determinize(view(game, states, seat), np.array([seed ^ 1], np.uint64), drawn)
    again, out = start(game, [board], seed)
    game.fix(again, {"deal": drawn[0]["hands"]}, out)
    for action in actions:
        if again[0]["phase"] == PLAY:
            assert out.mask[0, action]
        game.step(again, np.array([action]), 0, out)
    for name in VIEW.names:
        if name in again.dtype.names:
            assert np.array_equal(again[0][name], states[0][name]), name
    assert (again[0]["held"] == drawn[0]["held"]).all()


def test_determinisations_of_many_views_at_once():
    """Keys move on, and rows do not depend on each other."""
    game = Spades(phase="round")
    states, _ = start(game, range(300), 3)
    views, keys = view(game, states, 2), np.arange(300, dtype=np.uint64)
    drawn, other = game.new(300), game.new(1)
    game.determinize(views, keys, drawn)
    assert (keys != np.arange(300)).all() and len({row.tobytes() for row in drawn["hands"]}) == 300
    game.determinize(views[7:8], np.array([7], np.uint64), other)
    assert other[0] == drawn[7]


def test_determinisation_is_uniform():
    """Three cards each, one seat void in spades and another in hearts: every fitting deal is equally frequent."""
    views = allocate(VIEW, 1)
    hidden = [0, 4, 8, 3, 7, 11, 2, 6, 10]  # three clubs, spades, hearts
    rest = [card for card in range(52) if card not in hidden]
    mine, gone = rest[:3], rest[3:]
    view = views[0]
    view["seat"], view["looked"], view["phase"] = 0, 15, PLAY
    view["hand"], view["held_here"] = sum(1 << c for c in [*mine, *gone[:10]]), sum(1 << c for c in mine)
    view["gone"], view["plays"] = sum(1 << c for c in gone), 40
    view["played"][:40], view["players"][:40] = gone, np.repeat(np.arange(4), 10)
    view["voids"][1], view["voids"][2] = 1 << 3, 1 << 2
    possible = set()
    for left in combinations([c for c in hidden if c % 4 != 3], 3):
        for across in combinations([c for c in hidden if c % 4 != 2 and c not in left], 3):
            possible.add((sum(1 << c for c in left), sum(1 << c for c in across)))
    n = 60 * len(possible)
    drawn = allocate(Spades().state, n)
    Spades().determinize(np.repeat(views, n), np.arange(n, dtype=np.uint64) * np.uint64(977), drawn)
    found, counts = np.unique(drawn["held"][:, 1:3], axis=0, return_counts=True)
    assert {tuple(map(int, row)) for row in found} == possible
    chi_squared = float(((counts - 60) ** 2 / 60).sum())
    freedom = len(possible) - 1
    assert abs(chi_squared - freedom) < 5 * (2 * freedom) ** 0.5


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="no threads without numba")
def test_results_do_not_depend_on_threads():
    game = Spades(phase="bidding", player="random", max_rounds=2)
    results = []
    for threads in (1, 2):
        set_threads(threads)
        states, out = start(game, range(600), 4)
        for turn in range(8):
            game.step(states, np.where(out.mask.any(1), turn % 5, -1), 4, out, 0)
        results.append((states.tobytes(), out.reward.tobytes()))
    assert results[0] == results[1]


def test_deals_are_uniform():
    """Each card is equally often with each seat: 4 x 52 counts within five standard errors."""
    n = 4_000
    states, _ = start(Spades(), range(n), 8)
    bits = states["hands"][:, :, None] >> np.arange(52) & 1
    counts = bits.sum(0)
    assert counts.sum() == 52 * n
    assert np.abs(counts - n / 4).max() < 5 * (n * 3 / 16) ** 0.5
