"""Self-play is the engine's own game: what is recorded is what the engine shows, whoever plays beside it."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.network import Architecture, NetworkPolicy
from bidzoo.agents.bridge.selfplay import BOTH, EAST_WEST, NORTH_SOUTH, Actor, OpponentPool, Record, join
from bidzoo.core.bits import unpack
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION

GAME = Bridge(False, deals="validation")
FIELDS = ("states", "observation", "legal", "call", "log_chances", "board", "player")


def played(observation, legal, numbers):
    """Calls by the numbers, often low ones; log-chances that tell decisions apart."""
    legal_ones = np.cumsum(legal, 1)
    wanted = (numbers**3 * legal_ones[:, -1]).astype(np.int64) + 1
    call = (legal_ones < wanted[:, None]).sum(1)
    assert legal[np.arange(len(call)), call].all()
    seen = (observation.astype(np.float32) * np.arange(observation.shape[1], dtype=np.float32)).sum(1)
    return call, np.where(legal == 1, -seen[:, None], -1e9).astype(np.float32)


def acting(answer, encoder=GAME.encoder):
    """An actor that gives ``answer``, of observations and legal calls entry by entry."""

    def choose(decisions, numbers):
        given = shown_in(decisions, "observation", encoder.layout.size), shown_in(decisions, "legal", 38)
        decisions.call[:], chances = answer(*given, numbers)
        decisions.log_chance[:] = chances[np.arange(len(chances)), decisions.call]
        if decisions.log_chances.size:
            decisions.log_chances[:] = chances

    return Actor(encoder, choose)


def shown_in(decisions, name, size):
    return unpack(getattr(decisions, name), size)


player, other = acting(played), acting(lambda observation, legal, numbers: played(observation, legal, 1 - numbers))
SIZES = {"observation": GAME.encoder.layout.size, "legal": 38}


def assert_same(decisions, expected):
    for name, wanted in expected.items():
        found = getattr(decisions, name)
        if name in SIZES and wanted.shape != found.shape:
            found = unpack(found, SIZES[name])
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def by_the_engine(boards, seed, key):
    """Board by board through ``game.step``: every decision as the engine shows it, and the final tables."""
    found, ends = [], []
    for b, board in enumerate(boards):
        tables, out = GAME.new(1), GAME.buffers(1)
        GAME.begin(tables, np.array([board]), seed, out)
        while tables["phase"][0] == AUCTION:
            turn = int(tables["length"][0])
            number = Streams.at(key, np.array([board]), turn).random(1)[:, 0]
            call, chances = played(out.observation, out.mask, number)
            fields = (tables, out.observation, out.mask, call, chances, np.array([b]), out.player)
            found.append((turn, [field.copy() for field in fields]))
            GAME.step(tables, call, 0, out, 0)
        ends.append(tables)
    found.sort(key=lambda decision: decision[0])  # turn by turn, boards in order
    return np.concatenate(ends), [np.concatenate(field) for field in zip(*(fields for _, fields in found), strict=True)]


@pytest.mark.parametrize("room", [16, 1], ids=["enough room", "a record that grows"])
def test_decisions_are_those_of_the_engine(monkeypatch, room):
    monkeypatch.setattr(selfplay, "_A_BOARD", room)
    boards, seed, stream = np.arange(40) * 7, 5, 3
    tables, decisions = selfplay.play(GAME, boards, seed, player, player, np.full(40, BOTH), stream)
    ends, expected = by_the_engine(boards, seed, seed ^ (stream << 32))
    np.testing.assert_array_equal(tables, ends)
    assert_same(decisions, dict(zip(FIELDS, expected, strict=True)))


def test_a_board_is_the_same_in_any_batch():
    """300 boards are played on all cores, 30 of them on one."""
    boards, both = np.arange(300), np.full(300, BOTH)
    tables, decisions = selfplay.play(GAME, boards, 1, player, player, both, 2)
    some, part = selfplay.play(GAME, boards[50:80], 1, player, player, both[50:80], 2)
    np.testing.assert_array_equal(tables[50:80], some)
    chosen = decisions.select((decisions.board >= 50) & (decisions.board < 80))
    assert_same(chosen._replace(board=chosen.board - 50), {name: getattr(part, name) for name in FIELDS})


def test_only_the_learner_is_recorded():
    boards = np.arange(90)
    sides = boards % 3
    tables, decisions = selfplay.play(GAME, boards, 1, player, other, sides, 2)
    calls = decisions.length + 1000 * decisions.board
    assert len(np.unique(calls)) == len(calls)
    np.testing.assert_array_equal(decisions.call, tables["calls"][decisions.board, decisions.length])
    for side, seats in ((NORTH_SOUTH, [0, 2]), (EAST_WEST, [1, 3]), (BOTH, [0, 1, 2, 3])):
        chosen = sides[decisions.board] == side
        assert set(decisions.player[chosen]) == set(seats)
    assert chosen.sum() == tables["length"][sides == BOTH].sum()
    again = selfplay.play(GAME, boards, 1, player, player, sides, 2)[1]  # who plays against itself is one side only
    assert (sides[again.board][again.side == 0] != EAST_WEST).all()


def test_boards_go_on_from_copies():
    """Played out from the middle with the same numbers, a board ends as it did; the tables given stay."""
    n, key = 60, 4 ^ (1 << 32)
    tables, decisions = selfplay.play(GAME, np.arange(n), 4, player, player, np.full(n, BOTH), 1)
    rows = np.arange(0, len(decisions.call), 7)
    before, board = decisions.states, decisions.board[rows]
    given = before.copy()
    results = selfplay.finish(GAME, given, rows, decisions.call[rows], player, player, np.full(len(rows), BOTH), key)
    np.testing.assert_array_equal(results.points, tables["points"][board, 0])
    for name in ("bid", "stake", "declarer"):
        np.testing.assert_array_equal(getattr(results, name), tables[name][board])
    np.testing.assert_array_equal(given, before)
    record = Record(GAME)
    selfplay.play_out(GAME, tables, player, player, np.full(n, BOTH), key, record)
    assert len(record.decisions(tables).call) == 0  # boards that are over


def test_decisions_of_two_plays_one_after_the_other():
    """Each keeps the tables it was made at, in any order."""
    plays = [selfplay.play(GAME, np.arange(5) + first, 1, player, player, np.full(5, BOTH), 2)[1] for first in (0, 9)]
    joined = join(plays)
    order = np.random.default_rng(0).permutation(len(joined.call))
    expected = {name: np.concatenate([getattr(play, name) for play in plays])[order] for name in FIELDS}
    assert_same(joined.select(order), expected)


def test_any_agent_sits_at_the_other_side():
    """Its calls are those it makes of the views; the learner's are not touched."""
    sayc, boards = agents.make("sayc"), np.arange(60)
    tables, decisions = selfplay.play(GAME, boards, 3, player, sayc, np.zeros(60, np.int64), 1)
    assert set(decisions.side) == {NORTH_SOUTH}
    here, checked = GAME.deal(boards, 3), 0
    while len(rows := np.flatnonzero(here["phase"] == AUCTION)):
        turn = here["turn"][rows].astype(np.int64)
        made = tables["calls"][rows, here["length"][rows]].astype(np.int64)
        theirs = rows[turn % 2 == 1]
        seen = selfplay.empty(GAME, len(rows))
        selfplay.observe(here, rows, GAME.encoder, 0, seen)
        if len(theirs):
            at = turn % 2 == 1
            views = GAME.view_of(here[theirs], turn[at])
            calls = sayc.act(views, shown_in(seen, "legal", 38)[at], Streams.at(0, boards[theirs]))
            np.testing.assert_array_equal(made[at], calls)
            checked += len(theirs)
        selfplay.make(here, rows, made)
    assert checked > 200


@pytest.mark.parametrize("call", [-1, 38])
def test_an_opponent_may_not_break_the_laws(call):
    class Rogue:
        name = "rogue"

        def act(self, views, legal, rng):
            return np.full(len(views), call)

    with pytest.raises(ValueError, match=f"rogue: illegal action {call} at board 5"):
        selfplay.play(GAME, np.arange(4, 8), 3, player, Rogue(), np.zeros(4, np.int64), 1)


def test_a_board_has_one_of_several_opponents():
    boards, sides = np.arange(50), np.arange(50) % 2
    sayc = agents.make("sayc")
    both = OpponentPool([other, sayc], lambda numbers: numbers // 2 % 2)
    mixed, _ = selfplay.play(GAME, boards, 1, player, both, sides, 4)
    for number, opponent in enumerate((other, sayc)):
        alone, _ = selfplay.play(GAME, boards, 1, player, opponent, sides, 4)
        mine = boards // 2 % 2 == number
        np.testing.assert_array_equal(mixed[mine], alone[mine])
        assert (mixed[~mine] != alone[~mine]).any()


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_a_network_that_plays_for_its_agent_makes_the_same_calls(temperature):
    """Also where it sees another observation than the learner, and beside agents that are no networks."""
    boards, sides = np.arange(120), np.arange(120) % 2
    names = "rpi", "expert-light", "sayc", "a2c-bridge"
    policies = [agents.make(name, **({} if name == "sayc" else {"temperature": temperature})) for name in names]
    actors = [selfplay.actor_like(policy) for policy in policies]
    assert [isinstance(one, Actor) for one in actors] == [True, True, False, True]
    for one, policy in ((actors, policies), (actors[::-1], policies[::-1])):
        tables = [
            selfplay.play(GAME, boards, 1, player, OpponentPool(pool, lambda n: n // 2 % 4), sides, 4)[0]
            for pool in (one, policy)
        ]
        np.testing.assert_array_equal(*tables)


def test_an_agent_that_changes_what_its_network_says_plays_itself():
    class Careful(NetworkPolicy):
        def logits(self, views):
            return super().logits(views) * 0

    assert isinstance(selfplay.actor_like(Careful("sl")), Careful)
    two_networks = agents.make("baseline19")
    assert selfplay.actor_like(two_networks) is two_networks


def test_a_record_is_written_over():
    """A round gives what it gives in a memory of its own, whatever was recorded before."""
    record = Record(GAME)
    for boards in (np.arange(70), np.arange(200, 230)):
        both = np.full(len(boards), BOTH)
        tables, decisions = selfplay.play(GAME, boards, 1, player, player, both, 2, record)
        wanted, expected = selfplay.play(GAME, boards, 1, player, player, both, 2)
        np.testing.assert_array_equal(tables, wanted)
        assert_same(decisions, {name: getattr(expected, name) for name in FIELDS})
    assert np.shares_memory(decisions.call, record.decisions(tables).call)


def test_bits_in_torch_are_those_in_numpy():
    torch = pytest.importorskip("torch")
    packed = np.random.default_rng(0).integers(0, 256, (50, 9), np.uint8)
    for size in (72, 65, 1):
        np.testing.assert_array_equal(network.unpacked(torch.from_numpy(packed), size).numpy(), unpack(packed, size))


@pytest.mark.parametrize("opponents", [1, 3, 4, 8])
def test_every_opponent_is_met_on_both_sides_with_every_dealer_and_vulnerability(opponents):
    boards = np.arange(2048 * opponents)
    numbers = selfplay.opponent_numbers(boards, size=64, share=1 / 4, opponents=opponents, seed=5)
    assert (numbers[boards % 64 < 16] == 0).all() and (numbers[boards % 64 >= 16] > 0).all()
    sides, seats = (
        selfplay.drawn(5, boards, stream, n) for stream, n in ((selfplay.OF_SIDE, 2), (selfplay.OF_SEAT, 4))
    )
    states = GAME.new(len(boards))
    GAME.begin(states, boards, 0, GAME.buffers(len(boards)))
    for kept, count in ((sides, 2), (seats, 4)):
        met = Counter(zip(numbers, kept, states["dealer"], states["vulnerable"]))
        for number in range(opponents + 1):
            boards_of = [met[number, place, *rest] for place in range(count) for rest in product(range(4), range(4))]
            assert min(boards_of) > 0.3 * np.mean(boards_of) > 0
    assert selfplay.opponent_numbers(np.arange(6), 6, 1.0, 0, 0).tolist() == [0] * 6


def test_who_bid_before_a_decision():
    _, decisions = selfplay.play(GAME, np.arange(40), 0, player, player, np.full(40, selfplay.BOTH), 0)
    np.testing.assert_array_equal(selfplay.bidders_before(decisions), selfplay.bidders(decisions.states))
    assert set(selfplay.bidders(decisions.states)) == {0, 1, 2, 3}


def test_calls_before_the_auctions_part_cancel():
    """Each has its like at the other table, with the opposite result; the last one alike is followed by two others."""
    n = 60
    pairs = selfplay.duplicate_pairs(GAME, np.arange(n), 3, player, 1)
    decisions, together = pairs.decisions, ~pairs.parted
    auctions = [{} for _ in range(2 * n)]
    for row, length, call in zip(decisions.row, decisions.length, decisions.call):
        auctions[row][length] = call
    for number in np.flatnonzero(together):
        row, length = decisions.row[number], decisions.length[number]
        mine, theirs = auctions[row], auctions[(row + n) % (2 * n)]
        assert all(mine[earlier] == theirs[earlier] for earlier in range(length + 1))
    for number in np.flatnonzero(pairs.parted):
        row, length = decisions.row[number], decisions.length[number]
        mine, theirs = auctions[row], auctions[(row + n) % (2 * n)]
        assert any(mine[earlier] != theirs.get(earlier) for earlier in range(length + 1))
    assert together.any() and pairs.parted.any()
    tables = [pairs.select(half & together) for half in (decisions.row < n, decisions.row >= n)]
    first, second = (table.select(np.lexsort((table.decisions.length, table.decisions.board))) for table in tables)
    np.testing.assert_array_equal(first.outcome, -second.outcome)
    for name in ("observation", "call"):
        np.testing.assert_array_equal(getattr(first.decisions, name), getattr(second.decisions, name))


# ---- networks that act -------------------------------------------------------------------

ARCHITECTURE = Architecture("openspiel480", 39, width=64, depth=2)


def shown(n=400):
    """Observations, legal calls and numbers of ``n`` decisions."""
    _, decisions = selfplay.play(GAME, np.arange(n // 10), 1, player, player, np.full(n // 10, BOTH), 0)
    numbers = np.random.default_rng(0).random(len(decisions.call))
    return decisions.select(slice(0, n)), numbers[:n]


def answers(actor, decisions, numbers):
    """What ``actor`` calls, and all log-chances."""
    out = decisions.select(np.arange(len(numbers)))
    actor.choose(out, numbers)
    made = np.take_along_axis(out.log_chances, out.call[:, None], 1)[:, 0]
    np.testing.assert_array_equal(out.log_chance, made)
    return out.call, out.log_chances


@pytest.mark.parametrize("greedy", [False, True])
def test_our_network_acts_as_torch_does(greedy):
    """Up to the rounding of its inputs and weights."""
    pytest.importorskip("torch")
    model = network.module(ARCHITECTURE, 3)
    decisions, numbers = shown()
    legal = shown_in(decisions, "legal", 38)
    calls, chances = answers(selfplay.actor_of(model, ARCHITECTURE, greedy=greedy), decisions, numbers)
    wanted, expected = answers(selfplay.actor(model, ARCHITECTURE.encoder, greedy=greedy), decisions, numbers)
    assert legal[np.arange(len(calls)), calls].all() and (calls == wanted).mean() > 0.98
    np.testing.assert_allclose(np.exp(chances), np.exp(expected), atol=0.01)
    assert (chances[legal == 0] == -1e9).all()
    np.testing.assert_allclose(np.exp(chances, dtype=np.float64).sum(1), 1, atol=1e-6)
    if greedy:
        np.testing.assert_array_equal(calls, chances.argmax(1))


def test_calls_are_drawn_by_their_chances():
    """A number draws the first call at which the sum of the chances exceeds it."""
    pytest.importorskip("torch")
    act = selfplay.actor_of(network.module(ARCHITECTURE, 3, last_scale=2.0), ARCHITECTURE)
    decisions, _ = shown(40)
    legal = shown_in(decisions, "legal", 38)
    edges = np.array([0.0, np.nextafter(1.0, 0.0), *np.random.default_rng(1).random(50)])
    for number in edges:
        calls, chances = answers(act, decisions, np.full(len(legal), number))
        sums = np.exp(chances, dtype=np.float64).cumsum(1)
        rows = np.arange(len(legal))
        before = np.where(calls > 0, sums[rows, np.maximum(calls - 1, 0)], 0.0)
        assert (before <= number + 1e-6).all() and (sums[rows, calls] >= number - 1e-6).all()
        assert legal[rows, calls].all()
