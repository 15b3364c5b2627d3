"""Dealing, rewards, reset options and hidden cards of the configured game."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FULL_DECK, hand_text
from bidzoo.envs.bridge.deals import DealSet, packaged, random_deals
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps, par, score
from bidzoo.envs.bridge.state import UNKNOWN_POINTS

MODES = ("score", "par", "duplicate")
FEW = DealSet(packaged("test").hands[:50], packaged("test").tricks[:50])


def begun(game: Bridge, boards: int, seed: int = 0) -> tuple[Any, Any]:
    tables, out = game.new(boards), game.buffers(boards)
    game.begin(tables, np.arange(boards), seed, out)
    return tables, out


def random_actions(mask: Any, rng: np.random.Generator, low: int = 9) -> Any:
    """A legal action a row among the ``low`` lowest; -1 where there is none."""
    return np.array([rng.choice(np.flatnonzero(row)[:low]) if row.any() else -1 for row in mask])


def named(game: Bridge, tables: Any, out: Any, text: str) -> None:
    """The same actions, as players write them, at table 0."""
    for word in text.split():
        action = game.action_number(word)
        assert out.mask[0, action], f"{word} is illegal"
        game.step(tables, np.array([action]), 0, out)


# ---- the deal ----------------------------------------------------------------------------


@pytest.mark.parametrize("play", [False, True])
def test_a_board_is_the_same_deal_in_any_batch(play: bool) -> None:
    game = Bridge(play)
    tables, _ = begun(game, 40, seed=5)
    for board in (0, 17, 39):
        one, out = game.new(1), game.buffers(1)
        game.begin(one, np.array([board]), 5, out)
        assert one[0].tobytes() == tables[board].tobytes()
    assert len({row.tobytes() for row in tables["hands"]}) == 40
    assert (np.bitwise_or.reduce(tables["hands"], 1) == FULL_DECK).all()
    assert (tables["tricks"] == -1).all() == play  # random cards have no table
    assert (tables["dealer"] == np.arange(40) % 4).all()


def test_fixed_deals_come_in_order_and_come_round() -> None:
    tables, _ = begun(Bridge(False, deals=FEW, augment=False, shuffle=False), 120)
    assert (tables["hands"] == FEW.hands[np.arange(120) % 50]).all()
    assert (tables["tricks"] == FEW.tricks[np.arange(120) % 50]).all()


def test_augmented_deals_keep_their_shape() -> None:
    """Renaming suits and turning seats keeps the four hands' shapes and the multiset of tricks in notrump."""
    plain, _ = begun(Bridge(False, deals=FEW, augment=False, shuffle=False), 50)
    turned, _ = begun(Bridge(False, deals=FEW, augment=True, shuffle=False), 50)

    def shape(table: Any) -> Any:
        return sorted(tuple(sorted(len(suit) for suit in hand_text(int(h)).split("."))) for h in table["hands"])

    assert [shape(t) for t in plain] == [shape(t) for t in turned]
    assert (np.sort(plain["tricks"][:, 4::5]) == np.sort(turned["tricks"][:, 4::5])).all()
    assert (plain["hands"] != turned["hands"]).any(1).sum() > 40


# ---- rewards -----------------------------------------------------------------------------


@pytest.mark.parametrize("play", [False, True])
@pytest.mark.parametrize("reward", MODES)
def test_rewards_are_zero_sum_in_range_and_only_at_the_end(play: bool, reward: Any) -> None:
    game = Bridge(play, reward=reward, reward_scale=24, deals=FEW)
    tables, out = begun(game, 64)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(300):
        game.step(tables, random_actions(out.mask, rng, 4), 0, out, 64)
        assert (out.reward[:, 0] == -out.reward[:, 1]).all()
        assert (out.reward[:, :2] == out.reward[:, 2:]).all()
        assert not out.reward[~out.over].any()
        assert out.mask.any(1).all()
        assert np.abs(out.reward).max() <= np.float32(game.reward_range[1])
        ended += out.over.sum()
    assert ended > 64


def _ns_points(table: Any, tricks: Any) -> int:
    if table["declarer"] < 0:
        return 0
    side = int(table["declarer"]) % 2
    level, strain = int(table["bid"]) // 5 + 1, int(table["bid"]) % 5
    won = int(tricks[5 * table["declarer"] + strain])
    points = score(level, strain, int(table["stake"]), won, int(table["vulnerable"]) >> side & 1)
    return int(points) if side == 0 else -int(points)


def test_score_and_par_rewards_of_the_auction() -> None:
    points = Bridge(False, deals=FEW)
    versus = Bridge(False, reward="par", reward_scale=24, deals=FEW)
    for board in range(30):
        rng = np.random.default_rng(board)
        tables, out = points.new(1), points.buffers(1)
        points.begin(tables, np.array([board]), 0, out)
        other, out2 = versus.new(1), versus.buffers(1)
        versus.begin(other, np.array([board]), 0, out2)
        while not out.over[0]:
            action = int(random_actions(out.mask, rng, 4)[0])
            points.step(tables, np.array([action]), 0, out)
            versus.step(other, np.array([action]), 0, out2)
        table = tables[0]
        expected = _ns_points(table, table["tricks"])
        assert out.reward[0].tolist() == [expected, -expected, expected, -expected]
        best = int(par(table["tricks"][None], table["dealer"], table["vulnerable"])[0])
        assert out2.reward[0, 0] == np.float32(int(imps(expected - best)) / 24)


def test_a_duplicate_deal_is_played_twice_with_the_sides_exchanged() -> None:
    game = Bridge(False, reward="duplicate", deals=FEW)
    tables, out = begun(game, 1)
    assert (out.player[0], tables["turn"][0]) == (0, 0)
    named(game, tables, out, "1C P P P")
    assert not out.over[0]
    assert not out.reward.any()
    assert (tables["leg"][0], tables["phase"][0], tables["length"][0]) == (1, 0, 0)
    assert (out.player[0], tables["turn"][0]) == (3, 0)  # north is now player 3
    first = int(tables["points"][0, 0])
    named(game, tables, out, "P P P P")
    assert out.over[0]
    assert first != 0
    won = int(imps(first))
    assert out.reward[0].tolist() == [won, -won, won, -won]


def test_the_second_table_shows_every_seat_its_own_hand() -> None:
    """All pass at both tables: the seats see the same again, whichever player sits there."""
    game = Bridge(False, reward="duplicate", deals=FEW)
    tables, out = begun(game, 1)
    seen = []
    for turn in range(8):
        assert (tables["leg"][0], tables["turn"][0]) == (turn // 4, turn % 4)
        seen.append(out.observation[0].tolist())
        named(game, tables, out, "P")
    assert seen[:4] == seen[4:] and all(seen[i] != seen[j] for i in range(4) for j in range(i))


def test_the_same_result_at_both_tables_is_no_imps() -> None:
    game = Bridge(True, reward="duplicate")
    tables, out = begun(game, 1)
    rng = np.random.default_rng(0)
    actions = []
    while tables["leg"][0] == 0:
        actions.append(int(random_actions(out.mask, rng, 4)[0]))
        game.step(tables, np.array([actions[-1]]), 0, out)
    for action in actions:
        assert not out.over[0]
        game.step(tables, np.array([action]), 0, out)
    assert out.over[0]
    assert not out.reward.any()
    assert tables["points"][0, 0] == tables["points"][0, 1] != 0


def test_the_second_table_shows_nothing_of_the_first() -> None:
    """Different first tables, the same views and observations at the second."""
    game = Bridge(True, reward="duplicate")
    shown = []
    for calls in ("P P P P", "1C P P P"):
        tables, out = begun(game, 1)
        named(game, tables, out, calls)
        while tables["leg"][0] == 0:
            game.step(tables, np.array([int(np.flatnonzero(out.mask[0])[0])]), 0, out)
        named(game, tables, out, "1S")
        views = [game.view_of(tables, np.array([p]))[0].tobytes() for p in range(4)]
        shown.append((views, out.observation.tobytes(), out.mask.tobytes()))
    assert shown[0] == shown[1]


def test_a_contract_without_its_tricks_is_never_a_number() -> None:
    game = Bridge(False, deals=FEW)
    tables, out = begun(game, 1)
    named(game, tables, out, "1C P P")
    keys = np.array([1], np.uint64)
    guess = game.new(1)
    game.determinize(game.view_of(tables, np.array([3])), keys, guess)
    game.step(guess, np.array([0]), 0, out)
    assert guess["points"][0, 0] == UNKNOWN_POINTS
    assert np.isnan(out.reward).all()


# ---- one step ----------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(st.booleans(), st.sampled_from(MODES), st.integers(0, 1000), st.integers(1, 60))
def test_a_table_does_not_depend_on_its_neighbours(play: bool, reward: Any, seed: int, turns: int) -> None:
    game = Bridge(play, reward=reward, deals=FEW)
    tables, out = begun(game, 5, seed)
    one, out1 = game.new(1), game.buffers(1)
    game.begin(one, np.array([2]), seed, out1)
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        actions = random_actions(out.mask, rng, 5)
        game.step(tables, actions, seed, out, 5)
        game.step(one, actions[2:3], seed, out1, 5)
        assert one[0].tobytes() == tables[2].tobytes()
        for name in out._fields:
            many, single = getattr(out, name), getattr(out1, name)
            assert many[2].tobytes() == single[0].tobytes()


def test_a_finished_table_stays_and_minus_one_leaves_a_table_alone() -> None:
    game = Bridge(False, deals=FEW)
    tables, out = begun(game, 2)
    for _ in range(4):
        game.step(tables, np.array([0, -1]), 0, out, 0)
    assert out.over.tolist() == [True, False]
    assert out.player.tolist() == [-1, 1]
    assert not out.mask[0].any()
    assert tables["length"].tolist() == [4, 0]
    before = tables.tobytes()
    game.step(tables, np.array([0, -1]), 0, out, 0)
    assert tables.tobytes() == before
    assert not out.over.any()


@settings(deadline=None, max_examples=40)
@given(st.booleans(), st.integers(0, 1000), st.integers(0, 70))
def test_hidden_cards_never_change_a_view(play: bool, board: int, turns: int) -> None:
    """The true table and a random one that fits the view give the same view, observation and legal actions."""
    game = Bridge(play, deals=FEW)
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([board]), 3, out)
    rng = np.random.default_rng(board)
    for _ in range(turns):
        if not out.over[0]:
            game.step(tables, np.array([int(random_actions(out.mask, rng, 4)[0])]), 0, out)
    for player in range(4):
        view = game.view_of(tables, np.array([player]))
        guess, keys = game.new(1), np.array([board], np.uint64)
        game.determinize(view, keys, guess)
        assert game.view_of(guess, np.array([player])).tobytes() == view.tobytes()
        seen = np.empty((2, game.encoder.layout.size), np.int8)
        game.observe(tables, np.array([0]), player, seen[0][None])
        game.observe(guess, np.array([0]), player, seen[1][None])
        assert (seen[0] == seen[1]).all()
        assert (game.encoder(view)[0] == seen[0]).all()


def test_actions_and_their_text() -> None:
    game = Bridge(True)
    texts = [game.action_text(action) for action in range(game.num_actions)]
    assert len(set(texts)) == 90
    assert [game.action_number(text) for text in texts] == list(range(90))
    assert [game.action_number(text) for text in ("2c", "c2", "S10", "pass", "D")] == [8, 38, 38 + 35, 0, 1]
    with pytest.raises(ValueError, match="C2"):
        Bridge(False).action_number("C2")
    for action, last in ((38, 37), (89, 37), (-1, 37), (90, 89)):
        with pytest.raises(ValueError, match=f"action {action}: expected an integer from 0 to {last}"):
            Bridge(last == 89).action_text(action)


def test_random_cards_are_the_random_deals() -> None:
    tables, _ = begun(Bridge(True), 20, seed=9)
    assert (tables["hands"] == random_deals(9, np.arange(20))).all()
