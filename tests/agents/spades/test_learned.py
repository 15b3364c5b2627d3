"""The learned Spades player: its forward passes are torch's, and it beats BIS with SRP."""

import numpy as np
import pytest
from numba import config as numba_config

import bidzoo
from bidzoo.agents.spades.bis import offered_row
from bidzoo.agents.spades.games import paper_game, play_games, share_won
from bidzoo.agents.spades.learned import (
    CHOICES,
    FEATURES,
    HIDDEN,
    INPUTS,
    KINDS,
    LEAST,
    MOST_USED,
    SCORES,
    SLOTS,
    Seen,
    choice_bid_row,
    covered_row,
    forward_row,
    load_network,
    see_row,
    values_row,
    win_chance_row,
)
from bidzoo.agents.spades.lookup import shipped_lookup
from bidzoo.agents.spades.policy import Bidder, Player, SpadesPolicy, learned
from bidzoo.agents.spades.srp import srp_row
from bidzoo.core.kernels import allocate
from bidzoo.core.streams import Streams
from bidzoo.envs.spades.engine import act_row, begin_row
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.play import legal_cards_row
from bidzoo.envs.spades.state import FIRST_CARD, OVER, PLAY, STATE

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")


def seen() -> Seen:
    return Seen(np.empty(MOST_USED, np.int16), np.empty(13, np.int8), np.empty(13, np.int8), np.empty(13, np.int16))


def positions(game: Spades, boards: int):
    """States with a card to play, of rounds that BIS and SRP play."""
    policy = bidzoo.agents.make("bis")
    states, out = game.new(boards), game.buffers(boards)
    game.begin(states, np.arange(boards), 3, out)
    for turn in range(60):
        seats = states["turn"].astype(np.int64)
        views = game.view_of(states, np.maximum(seats, 0))
        for b in np.flatnonzero(states["phase"] == PLAY):
            yield states[b], views[b]
        actions = policy.act(views, out.mask, Streams.at(3, np.arange(boards), turn))
        game.step(states, np.where(seats >= 0, actions, -1), 3, out, 0)


# ---- bids ------------------------------------------------------------------------------------


def test_its_inputs_are_those_that_it_was_trained_with() -> None:
    """Far behind, BIS reads a 5 of its partner as an ordinary bid; the network still reads it as an offer to cover."""
    for blind_nil, behind, covered in ((False, 100, True), (False, 101, True), (True, 100, True), (True, 101, False)):
        game = Spades(blind_nil=blind_nil)
        states = game.new(1)
        game.begin(states, np.array([0]), 1, game.buffers(1))
        states["turn"], states["bids"], states["scores"] = 2, (5, 3, -1, -1), (-behind, 0, 0, 0)
        assert covered_row(states[0]) == covered, (blind_nil, behind)
        assert offered_row(states[0]) == (behind == 100)


def test_the_compiled_forward_pass_of_bids_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    weights = {name: torch.from_numpy(array) for name, array in load_network().items()}
    x = np.random.default_rng(0).normal(size=(20, FEATURES)).astype(np.float32)
    hidden = torch.relu(torch.from_numpy(x) @ weights["w1"].T + weights["b1"])
    hidden = torch.relu(hidden @ weights["w2"].T + weights["b2"])
    expected = (hidden @ weights["w3"].T + weights["b3"]).numpy()
    out, scratch = np.empty(CHOICES, np.float32), np.empty((2, HIDDEN), np.float32)
    for k in range(len(x)):
        forward_row(x[k], shipped_lookup(), scratch, out)
        np.testing.assert_allclose(out, expected[k], rtol=1e-4, atol=1e-4)


def test_choices_are_nil_and_six_bids_around_the_takes() -> None:
    assert [choice_bid_row(k, 4) for k in range(CHOICES)] == [0, 2, 3, 4, 5, 6, 7]
    assert [choice_bid_row(k, 1) for k in range(CHOICES)] == [0, 1, 1, 1, 2, 3, 4]
    assert choice_bid_row(6, 12) == 13


# ---- cards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"variant": "cutthroat", "deck": "jokers"}, {"deck": "jokers_deuces"}])
def test_what_the_network_of_cards_sees(options) -> None:
    """Legal cards, each at its own slot, SRP's marked; inputs in range and once each; the same of views and states."""
    rows = seen()
    for state, view in positions(Spades(phase="round", **options), 6):
        held = int(view["held_here"])
        n, number = see_row(state, held, rows)
        legal = [card for card in range(52) if int(legal_cards_row(state, held)) >> card & 1]
        assert list(rows.cards[:number]) == legal and number == len(legal)
        if number == 1:
            continue
        used, slots = rows.used[:n].copy(), rows.slots[:number].copy()
        assert n <= MOST_USED and len(set(used)) == n and used.min() >= 0 and used.max() < INPUTS
        assert len(set(slots)) == number and slots.min() >= 0 and slots.max() < SLOTS
        assert set(slots) <= set(used[used < SLOTS])  # the cards that it holds
        marked = rows.kinds[:number] & 1
        assert [legal[k] for k in np.flatnonzero(marked)] == [srp_row(state, held)]
        see_row(view, held, rows)
        assert (rows.used[:n] == used).all()


def test_the_compiled_forward_pass_of_cards_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    weights = {name: torch.from_numpy(array) for name, array in load_network().items()}
    rows, out, checked = seen(), np.empty(13, np.float32), 0
    for state, view in positions(Spades(phase="round"), 4):
        n, number = see_row(state, int(view["held_here"]), rows)
        if number == 1:
            continue
        x = torch.zeros(INPUTS)
        x[torch.from_numpy(rows.used[:n].astype(np.int64))] = 1
        hidden = torch.relu(x @ weights["card_w1"] + weights["card_b1"])
        hidden = torch.relu(hidden @ weights["card_w2"] + weights["card_b2"])
        every = (weights["card_w3"] @ hidden + weights["card_b3"]).numpy()
        expected = [
            every[slot] + sum(every[SLOTS + k] for k in range(KINDS) if kinds >> k & 1)
            for slot, kinds in zip(rows.slots[:number], rows.kinds[:number], strict=True)
        ]
        values_row(rows, n, number, shipped_lookup(), out)
        np.testing.assert_allclose(out[:number], expected, rtol=1e-3, atol=1e-4)
        checked += 1
    assert checked > 100


def test_a_suit_is_as_good_as_another() -> None:
    """With the side suits exchanged in every hand, the choice is the same card of the other suit."""
    rows = [seen(), seen()]
    for number in range(30):
        states = allocate(STATE, 2)
        begin_row(states[0], number, 5, paper_game().blank)
        states[1] = states[0]
        clubs = sum(1 << 4 * rank for rank in range(13))
        for name in ("hands", "held"):
            for seat in range(4):
                hand = int(states[0][name][seat])
                states[1][name][seat] = (hand & ~(5 * clubs)) | (hand & clubs) << 2 | (hand >> 2 & clubs)
        for state in states:
            for bid in (15, 3, 15, 2, 15, 4, 15, 3):
                if state["phase"] != PLAY and (bid == 15) == (not int(state["looked"]) >> int(state["turn"]) & 1):
                    act_row(state, bid)
        found = [see_row(state, int(state["held"][state["turn"]]), r) for state, r in zip(states, rows, strict=True)]
        assert found[0] == found[1]
        own = [r.used[: found[0][0]] for r in rows]
        srp = INPUTS - SLOTS  # SRP breaks ties between suits by their order
        assert {k for k in own[0] if k < srp} == {k for k in own[1] if k < srp}


# ---- what a score is worth -------------------------------------------------------------------


def test_what_a_score_is_worth() -> None:
    """What one side wins the other loses, and more points are better, from ten points on."""
    worth = shipped_lookup()["worth"]
    np.testing.assert_allclose(worth + worth.T, 1, atol=6e-3)  # of seven significant bits
    assert worth[-LEAST, -LEAST] == pytest.approx(0.5, abs=1e-3)
    tens = worth[::10]
    assert (np.diff(tens, axis=0) > -0.02).all() and worth[250, 100] > 0.8
    assert worth.shape == (SCORES, SCORES)


@pytest.mark.parametrize(
    ("options", "points", "expected"),
    [
        ({"win_goal": 200, "lose_goal": -100}, (190, 100), 1.0),  # 20 more: over the goal
        ({"win_goal": 200, "lose_goal": -100}, (0, -90), 1.0),  # the others fall below theirs
        ({"win_goal": 500}, (0, 0), 0.002 * (23 + 40)),  # the points gap
    ],
)
def test_the_worth_of_a_round(options, points, expected) -> None:
    """N/S bid 2 and take 5 (20 points, 3 bags), E/W bid 4 and take less: -40."""
    state = allocate(STATE, 1)[0]
    begin_row(state, 0, 1, Spades(**options).blank)
    state["bids"], state["won"], state["plays"] = (1, 2, 1, 2), (3, 1, 2, 1), 52
    state["scores"][:2] = points
    assert win_chance_row(state, 0, shipped_lookup()) == pytest.approx(expected)


# ---- at the table ----------------------------------------------------------------------------


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="worlds -1"):
        learned(worlds=-1)
    with pytest.raises(TypeError, match="world"):
        bidzoo.agents.make("learned", world=3)


def test_a_search_finds_the_card_that_sets_the_contract() -> None:
    """With the last two tricks to come, where the worlds are few, it plays what is best over all of them."""
    policy, game = learned(worlds=60), Spades(phase="round")
    plain = learned()
    changed = 0
    for state, view in positions(game, 8):
        if int(state["plays"]) < 32:
            continue
        views = np.array([view])
        cards = [
            one.act(views, np.ones((1, 68), np.int8), Streams.at(1, np.zeros(1, np.int64), 0))
            for one in (policy, plain)
        ]
        legal = int(legal_cards_row(view, int(view["held_here"])))
        assert all(legal >> int(card[0] - FIRST_CARD) & 1 for card in cards)
        changed += int(cards[0][0] != cards[1][0])
    assert changed > 0


def test_the_shipped_networks_beat_bis_and_srp() -> None:
    bis = SpadesPolicy("bis")
    assert share_won(play_games((SpadesPolicy("learned"), bis), np.arange(2000), seed=77).winner).mean() > 0.53  # bids
    cards = SpadesPolicy(Bidder.named("bis"), Player("learned"))
    assert share_won(play_games((cards, bis), np.arange(2000), seed=77).winner).mean() > 0.53
    assert share_won(play_games((learned(), bis), np.arange(2000), seed=77).winner).mean() > 0.58
    games = play_games((learned(worlds=20), bis), np.arange(50), seed=77)
    assert (games.states["phase"] == OVER).all() and share_won(games.winner).mean() > 0.58


@pytest.mark.parametrize(
    "options",
    [
        *({"variant": variant} for variant in ("cutthroat", "mirror", "whiz", "suicide")),
        *({"deck": deck} for deck in ("jokers", "jokers_deuces")),
        *({"failed_nil": kind} for kind in ("partner", "nothing")),
    ],
    ids=lambda options: next(iter(options.values())),
)
def test_it_is_ahead_of_bis_and_srp_in_every_variant(options) -> None:
    """Rounds of 2000 boards, both ways; in cutthroat each has two seats."""
    games = play_games((learned(), SpadesPolicy("bis")), np.arange(4000), 31, Spades(phase="round", **options))
    gains = games.states["gains"].astype(float)
    ahead = gains[:, 0::2].sum(axis=1) - gains[:, 1::2].sum(axis=1)
    assert np.where(games.swapped == 1, -ahead, ahead).mean() > 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        *({"variant": variant} for variant in ("cutthroat", "mirror", "whiz", "suicide")),
        *({"deck": deck} for deck in ("jokers", "jokers_deuces")),
        {"win_goal": 100},
    ],
    ids=lambda options: next(iter(options.values()), "partnership"),
)
def test_it_wins_whole_games_of_every_variant(options) -> None:
    """The networks know the game to 200; others are seen as if they were, also the one of 500 that is the default."""
    games = play_games((learned(), SpadesPolicy("bis")), np.arange(1000), 33, Spades(**options))
    assert share_won(games.winner).mean() > 0.53
