"""The engine's kernels, each against what it says; small, since mutation tests run them as plain Python."""

from typing import Any

import numpy as np
import pytest

from bidzoo.agents.policy import Uniform
from bidzoo.core.cards import NUM_CALLS, NUM_CARDS, PASS, call_number, deal_hands
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge import engine
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.engine import COST, DUPLICATE, PAR, SCORE, Rules
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, MAX_CALLS, OVER, PLAY, UNKNOWN_POINTS
from bidzoo.envs.game import Table

FEW = DealSet(packaged("test").hands[:7], packaged("test").tricks[:7])


def begun(game: Bridge, boards: int = 1, seed: int = 0) -> tuple[Any, Any]:
    tables, out = game.new(boards), game.buffers(boards)
    game.begin(tables, np.arange(boards), seed, out)
    return tables, out


def call(game: Bridge, tables: Any, out: Any, text: str) -> None:
    for word in text.split():
        game.step(tables, np.array([call_number(word)]), 0, out)


# ---- hands that are shown --------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["openspiel480", "bidder1375", "jps267"])
def test_the_second_table_shows_each_player_the_hand_of_the_seat_it_sits_at(observation: str) -> None:
    """Player ``p`` sits at seat ``p``, at the second table at seat ``p + 1``: by view, by step and when asked for."""
    game = Bridge(False, observation, reward="duplicate", deals=FEW)
    tables, out = begun(game)
    hands = tables["hands"][0].tolist()
    assert len(set(hands)) == 4
    for leg in (0, 1):
        for _ in range(4):
            state, player = tables[0], int(out.player[0])
            assert (state["leg"], (player + leg) % 4) == (leg, state["turn"])
            for other in range(4):
                seat = (other + leg) % 4
                view, shown = game.view_of(tables, np.array([other])), out.observation[0].copy()
                assert (view["seat"][0], view["hand"][0]) == (seat, hands[seat])
                game.observe(tables, np.array([0]), other, shown[None])
                assert (shown == game.encoder(view)[0]).all()
                many = np.zeros((2, len(shown)), np.int8)
                game.observe(tables, np.array([0, 0]), other, many)
                assert (many == shown).all()
                if other == player:
                    assert (shown == out.observation[0]).all()
            call(game, tables, out, "P")
    assert out.over[0] and out.player[0] == -1 and not out.observation.any() and not out.mask.any()


def test_the_cards_in_an_observation_are_those_of_the_seat() -> None:
    game = Bridge(False, reward="duplicate", deals=FEW)
    tables, out = begun(game)
    call(game, tables, out, "P P P P P P")  # the second table, South to call
    assert (tables["leg"][0], tables["turn"][0], out.player[0]) == (1, 2, 1)
    start = game.encoder.layout.start("hand")
    held = np.flatnonzero(out.observation[0, start : start + NUM_CARDS])
    assert sum(1 << int(card) for card in held) == tables["hands"][0, 2]


# ---- calls and results -----------------------------------------------------------------------


def result(rules: Rules, **fields: Any) -> int:
    game = Bridge(True, deals=FEW)
    tables, _ = begun(game)
    for name, value in {"declarer": 0, "bid": 15 + 3, "stake": 1, "vulnerable": 0, **fields}.items():
        tables[0][name] = value
    return int(engine.result_row(tables[0], rules))


def test_results() -> None:
    """4S makes with ten tricks; those of the table, or those that were won."""
    known, played = Rules(False, SCORE, 1.0, 0), Rules(True, SCORE, 1.0, 0)
    tricks = np.arange(20) % 5 + 5
    for declarer in range(4):
        tricks[5 * declarer + 3] = 10 - declarer
    assert [result(known, declarer=d, tricks=tricks) for d in range(4)] == [420, 50, -100, 150]
    assert [result(known, declarer=d, tricks=tricks, vulnerable=1) for d in range(4)] == [620, 50, -200, 150]
    assert [result(played, declarer=d, tricks=tricks, won=[10, 8]) for d in range(4)] == [420, 100, 420, 100]
    assert result(played, won=[0, 0]) == -500
    assert result(known, tricks=np.zeros(20)) == -500
    assert result(known, tricks=np.full(20, -1)) == UNKNOWN_POINTS
    for rules in (known, played):
        assert result(rules, declarer=-1, tricks=tricks, won=[10, 8]) == 0


@pytest.mark.parametrize("dealer", range(4))
@pytest.mark.parametrize("most", [0, 1, 2])
def test_passes_that_nobody_chooses(dealer: int, most: int) -> None:
    """Without competition E/W pass; N/S pass after ``most`` calls."""
    game = Bridge(False, deals=FEW, competition=False, most_calls=most)
    tables, out = game.start(0, 0, {"dealer": dealer})
    bids = ["1C", "1D", "1H", "1S", "1N"]
    asked = []
    while not out.over[0]:
        asked.append(int(out.player[0]))
        call(game, tables, out, bids[len(asked) - 1] if len(asked) <= 3 else "P")
    first = 0 if dealer in (3, 0) else 2
    assert asked == [(first + 2 * k) % 4 for k in range(4)][: most or 4]
    made = tables["calls"][0, : tables["length"][0]].tolist()
    ours = [made[turn] for turn in range(len(made)) if (dealer + turn) % 2 == 0]
    assert ours[: len(asked)] == [*map(call_number, bids[:3]), PASS][: most or 4]
    assert not any(ours[len(asked) :]) and not any(c for t, c in enumerate(made) if (dealer + t) % 2)


def test_a_limit_does_not_bind_the_others() -> None:
    game = Bridge(False, deals=FEW, most_calls=2)
    tables, out = begun(game)
    call(game, tables, out, "1C 1D 1H 1S")
    assert (tables["length"][0], out.player[0]) == (5, 1)  # North's pass made itself
    call(game, tables, out, "1N")
    assert tables["calls"][0, :7].tolist() == [*map(call_number, ["1C", "1D", "1H", "1S", "P", "1N", "P"])]
    assert out.player[0] == 3


def test_the_lead_follows_the_auction_only_where_cards_are_played() -> None:
    for play, phase, turn in ((True, PLAY, 3), (False, OVER, -1)):
        game = Bridge(play, deals=FEW)
        tables, out = begun(game)
        call(game, tables, out, "P P 1C P P P")
        assert (tables["declarer"][0], tables["phase"][0], tables["turn"][0]) == (2, phase, turn)
        assert out.mask.shape == (1, 90 if play else 38) and out.mask[0, :38].any() == 0
    game = Bridge(True, deals=FEW)
    tables, out = begun(game)
    call(game, tables, out, "P P P P")
    assert tables["phase"][0] == OVER and out.over[0]  # nobody leads


def test_a_card_is_played_and_the_last_one_scores_the_board() -> None:
    hands = deal_hands("N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432")
    game = Bridge(True, reward="duplicate")
    tables, out = game.start(0, 0, {"deal": hands, "dealer": 0, "vulnerability": 3})
    for leg in (0, 1):
        call(game, tables, out, "P P 1S P P P" if leg else "7S P P P")
        for _ in range(NUM_CARDS):
            card = int(np.flatnonzero(out.mask[0])[-1])
            seat, before = int(tables["hand_to_play"][0]), int(tables["plays"][0])
            assert card >= NUM_CALLS and hands[seat] >> (card - NUM_CALLS) & 1
            game.step(tables, np.array([card]), 0, out)
            assert tables["plays"][0] == (before + 1) % NUM_CARDS or out.over[0]
        assert tables["points"][0, leg] == (2210 if leg == 0 else 260)
    assert (tables["dealer"][0], tables["vulnerable"][0]) == (0, 3)
    assert out.over[0] and out.reward[0].tolist() == [18, -18, 18, -18]


# ---- rewards ---------------------------------------------------------------------------------


def reward(mode: int, first: int, second: int = 0, tricks: Any = None, divisor: float = 1.0) -> list[float]:
    tables = Bridge(False, deals=FEW).new(1)
    tables["points"][0] = first, second
    tables["tricks"][0] = np.full(20, 7) if tricks is None else tricks
    out = np.full(4, 5, np.float32)
    engine.reward_row(tables[0], Rules(False, mode, divisor, 0), out)
    return [float(one) for one in out]


def test_rewards() -> None:
    """With seven tricks everywhere 1NT is the best contract of the dealer's side, 90 points, and par."""
    assert reward(SCORE, 420) == [420, -420, 420, -420]
    assert reward(SCORE, -50, divisor=10.0) == [-5, 5, -5, 5]
    assert reward(DUPLICATE, 420, -50) == [10, -10, 10, -10]
    assert reward(DUPLICATE, 420, 620, divisor=5.0) == [-1, 1, -1, 1]
    assert reward(PAR, 420) == reward(COST, 420) == [8, -8, 8, -8]  # 330 points
    assert reward(PAR, 420, divisor=4.0) == reward(COST, 420, divisor=4.0) == [2, -2, 2, -2]
    theirs = np.where(np.arange(20) // 5 % 2, 9, 4)  # 3NT... they make a part score, we nothing
    assert reward(COST, 0, tricks=theirs) == [0, 0, 0, 0] and reward(PAR, 0, tricks=theirs)[0] > 0
    assert not np.signbit(reward(SCORE, 0)).any()
    for mode in (SCORE, PAR, COST, DUPLICATE):
        assert np.isnan(reward(mode, UNKNOWN_POINTS)).all()
        assert np.isnan(reward(mode, 100, UNKNOWN_POINTS)).all()
        unsolved = reward(mode, 100, tricks=np.full(20, -1))
        assert np.isnan(unsolved).all() == (mode in (PAR, COST))
        assert not np.isnan(reward(mode, 100, tricks=np.zeros(20))).any()


def test_the_end_is_told_once() -> None:
    game = Bridge(False, deals=FEW)
    tables, out = begun(game)
    call(game, tables, out, "P P P")
    state, rewards = tables[0], np.full(4, 5, np.float32)
    rules = game._rules
    assert not game.kernels.end_row(state, True, rules, rewards) and not rewards.any()
    assert not game.kernels.take_row(state, -1, rules) and state["length"] == 3
    assert game.kernels.take_row(state, PASS, rules) and state["phase"] == OVER
    state["points"][0], rewards[:] = 50, 5
    assert game.kernels.end_row(state, True, rules, rewards) and rewards.tolist() == [50, -50, 50, -50]
    assert not game.kernels.end_row(state, False, rules, rewards) and not rewards.any()
    assert not game.kernels.take_row(state, PASS, rules) and state["length"] == 4


# ---- many tables -----------------------------------------------------------------------------


def test_only_the_rows_that_are_meant_begin() -> None:
    game = Bridge(False, deals=FEW)
    tables, out = begun(game, 3, seed=2)
    game.step(tables, np.array([PASS] * 3), 2, out, 0)
    out.reward[:], out.over[:] = 7, True
    before, shown = [table.tobytes() for table in tables], out.observation.copy()
    game.begin(tables, np.array([9, 10, 11]), 2, out, np.array([False, True, False]))
    assert [tables[b].tobytes() == before[b] for b in range(3)] == [True, False, True]
    assert tables["board"].tolist() == [0, 10, 2]
    assert (out.observation[[0, 2]] == shown[[0, 2]]).all() and (out.observation[1] != shown[1]).any()
    assert out.reward[:, 0].tolist() == [7, 0, 7] and out.over.tolist() == [True, False, True]
    fresh, found = game.new(1), game.buffers(1)
    game.begin(fresh, np.array([10]), 2, found)
    assert fresh[0].tobytes() == tables[1].tobytes() and (found.observation[0] == out.observation[1]).all()


def test_more_tables_than_a_block_and_the_next_boards() -> None:
    """Each of 130 tables is as if it stood alone; -1 leaves a table as it is, its reward gone."""
    game = Bridge(False, deals=FEW, competition=False)
    rows = [0, 63, 64, 65, 127, 128, 129]
    tables, out = begun(game, 130, seed=4)
    rng = np.random.default_rng(0)
    ended = np.zeros(130, bool)
    alone = {b: begun_at(game, b, 4) for b in rows}
    for turn in range(3):
        actions = np.where(rng.random(130) < 0.3, call_number("7N") if turn == 1 else PASS, PASS)
        actions = np.where(out.mask[np.arange(130), actions] > 0, actions, PASS)
        actions[rng.random(130) < 0.2] = -1
        untouched = out.observation[actions < 0].copy()
        game.step(tables, actions, 4, out, 130)
        ended |= out.over
        assert (out.observation[actions < 0] == untouched).all() and not out.over[actions < 0].any()
        for b, (one, single) in alone.items():
            game.step(one, actions[b : b + 1], 4, single, 130)
            assert one[0].tobytes() == tables[b].tobytes()
            for name in out._fields:
                assert getattr(out, name)[b].tobytes() == getattr(single, name)[0].tobytes()
    assert 10 < ended.sum() < 130
    assert (tables["board"] == np.arange(130) + 130 * (tables["board"] >= 130)).all() and (tables["board"] > 129).any()


def begun_at(game: Bridge, board: int, seed: int) -> tuple[Any, Any]:
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([board]), seed, out)
    return tables, out


# ---- players who act as ``random`` ---------------------------------------------------------------


@pytest.mark.parametrize(("play", "reward_mode"), [(True, "score"), (False, "duplicate")])
def test_random_players_of_the_kernel_are_the_agent(play: bool, reward_mode: Any) -> None:
    """Players 1 and 3 in the kernel, or asked one by one; at one table and at several."""
    game = Bridge(play, reward=reward_mode, deals=FEW)
    policy, seats, seed = Uniform(), 0b1010, 5
    slow, seen = begun_at(game, 3, seed)
    tables, out = begun_at(game, 3, seed)
    table = Table(game)
    table.begin(3, seed)
    table.step(-1, seed, seats)
    game.step(tables, np.array([-1]), seed, out, 0, seats)
    for turn in range(1000):
        while (player := int(seen.player[0])) in (1, 3):
            clock = game.clock(slow)
            assert engine.clock_row(slow[0]) == clock[0]
            streams = Streams.at(seed, np.array([3]), clock)
            game.step(slow, np.array([int(policy.act(None, seen.mask, streams)[0])]), 0, seen)
        for state, found in ((table.states[0], table.out), (tables[0], out)):
            assert state.tobytes() == slow[0].tobytes()
            for name in out._fields:
                assert getattr(found, name)[0].tobytes() == getattr(seen, name)[0].tobytes()
        if player < 0:
            break
        action = int(np.flatnonzero(seen.mask[0])[-1 if turn % 5 == 0 else 0])
        game.step(slow, np.array([action]), 0, seen)
        table.step(action, seed, seats)
        game.step(tables, np.array([action]), seed, out, 0, seats)
    assert turn > 3 and seen.over[0] and slow["leg"][0] == (reward_mode == "duplicate")


def test_nobody_acts_who_is_not_asked() -> None:
    game = Bridge(False, deals=FEW)
    tables, out = begun(game)
    before, shown = tables.tobytes(), out.observation.copy()
    out.observation[:] = 9
    game.step(tables, np.array([-1]), 0, out, 0, 0b1110)  # North is to call
    assert tables.tobytes() == before and (out.observation == 9).all() and not out.over[0]
    game.step(tables, np.array([-1]), 0, out, 0, 0b0001)
    assert (tables["length"][0], out.player[0]) == (1, 1) and (out.observation <= 1).all()
    assert (out.observation != shown).any()
    table = Table(game)
    table.begin(0, 0)
    table.out.observation[:] = 9
    table.step(-1, 0, 0b1110)
    assert (table.out.observation == 9).all() and table.states["length"][0] == 0
    table.step(-1, 0, 0b0001)
    assert table.states[0].tobytes() == tables[0].tobytes() and (table.out.observation == out.observation).all()


@pytest.mark.parametrize("options", [{}, {"competition": False, "most_calls": 1}, {"augment": False, "shuffle": False}])
def test_one_table_begins_as_many(options: dict[str, Any]) -> None:
    game = Bridge(False, deals=FEW, **options)
    table, (tables, out) = Table(game), begun(game, 4, seed=3)
    for board in range(4):
        table.record["reward"], table.record["over"] = 5, True
        table.begin(board, 3)
        assert table.states[0].tobytes() == tables[board].tobytes()
        for name in out._fields:
            assert getattr(table.out, name)[0].tobytes() == getattr(out, name)[board].tobytes()


def test_the_clock_counts_calls_and_cards_over_both_tables() -> None:
    tables = Bridge(True).new(1)
    tables["length"], tables["plays"] = 7, 5
    assert engine.clock_row(tables[0]) == 12
    tables["leg"] = 1
    assert engine.clock_row(tables[0]) == 12 + MAX_CALLS + NUM_CARDS
    assert tables["phase"][0] == AUCTION
