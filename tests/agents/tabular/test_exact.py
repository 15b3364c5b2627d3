"""The exact solver: published optima, two engines and brute force against each other, and policies that play."""

import functools
import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from exact import solve_rising_auction as solve_stored
from hypothesis import given, settings
from hypothesis import strategies as st
from optimal_auction import RisingAuction, Tables, auction_of, best_plan, play, solve_rising_auction
from panels import PanelRows, Panels, best_total, openings, solve

from bidzoo import make
from bidzoo.agents.tabular import exact
from bidzoo.agents.tabular.exact import fold_line, solve_messages, solve_tree, strategy_of
from bidzoo.agents.tabular.policy import game_of
from bidzoo.core.streams import Streams
from bidzoo.envs.signalling.compiled import Compiled, compile_game, evaluate, full_information
from bidzoo.envs.signalling.minibridge import Minibridge
from bidzoo.envs.signalling.simple_bidding import SimpleBidding

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "docs" / "results"

# Tian et al. 2020, Table 1 "Best Known" (two decimals there); MiniBridge 6 and 7: an independent program.
KNOWN = {
    "simple_bidding_v0(size=4)": Fraction(9, 4),
    "simple_bidding_v0(size=8)": Fraction(81, 16),
    "minibridge_v0(size=3)": Fraction(18, 16),
    "minibridge_v0(size=4)": Fraction(46, 25),
    "minibridge_v0(size=5)": Fraction(104, 36),
    "minibridge_v0(size=6)": Fraction(226, 49),
    "minibridge_v0(size=7)": Fraction(119, 16),
    "mini_hanabi_v0()": Fraction(10),
    "comm_v0(length=3)": Fraction(1),
    "comm_v0(length=5)": Fraction(1),
    "comm_v0(length=6)": Fraction(1),
    "comm_v0(length=7)": Fraction(1),
}


def compiled(game_id: str) -> Compiled:
    return compile_game(game_of(game_id))


def simple_bidding(size: int) -> RisingAuction:
    return RisingAuction.of(SimpleBidding(size))


def minibridge(size: int) -> RisingAuction:
    return RisingAuction.of(Minibridge(size))


def tree_of(auction: RisingAuction) -> Compiled:
    """``auction`` as a compiled game, history by history."""
    level: list[tuple[int, ...]] = [()]
    nodes: list[tuple[int, ...]] = []
    calls: dict[tuple[int, ...], list[int]] = {}
    while level:
        nodes += level
        for history in level:
            over = len(history) > 1 and history[-1] == 0
            lowest = max(history, default=0) + 1
            bids = [] if over else list(range(lowest, auction.bids + 1))
            calls[history] = bids if over else [0, *bids] if history or auction.opening_pass else bids
        level = [(*history, call) for history in level for call in calls[history]]
    number = {history: m for m, history in enumerate(nodes)}
    child = np.full((len(nodes), auction.bids + 1), -1, np.int32)
    for history, m in number.items():
        for call in calls[history]:
            child[m, call] = number[(*history, call)]
    leaves = [history for history in nodes if not calls[history]]
    form = Compiled(
        prior=np.full((auction.types, auction.types), 1.0 / auction.deals),
        player=np.array([len(h) % 2 if calls[h] else -1 for h in nodes], np.int8),
        parent=np.array([number[h[:-1]] if h else -1 for h in nodes], np.int32),
        action=np.array([h[-1] if h else -1 for h in nodes], np.int32),
        depth=np.array([len(h) for h in nodes], np.int32),
        child=child,
        first=np.array([number[(*h, calls[h][0])] if calls[h] else -1 for h in nodes], np.int32),
        count=np.array([len(calls[h]) for h in nodes], np.int32),
        leaf=np.array([leaves.index(h) if h in leaves else -1 for h in nodes], np.int32),
        payoff=np.array([auction.rewards()[max(h)] for h in leaves], np.float64),
    )
    form.game = "random"
    return form


def by_definition(size: int, others: frozenset[int]) -> int:
    """``f_1``: best total after the opening 1 of the types ``others`` in Simple Bidding with five bids."""
    inside = np.arange(1 << size)[:, None] >> np.arange(size) & 1  # [Z, n]
    sums = np.add.outer(np.arange(size), np.arange(size))
    # pays[b][S, y]: all partners of y are in S, and bid b stands
    pays = [None, *(bid * (inside @ (sums >= bid)) for bid in (1, 2, 4, 8, 16))]

    @functools.cache
    def large(bid: int, part: frozenset[int]):
        """W_bid(S, part) for all S ``[Z]``."""
        line = inside @ pays[bid][sum(1 << y for y in part)]
        for higher in range(bid + 1, 6):
            out = np.empty(1 << size, np.int64)
            fold_line(small(higher, part), line, (1 << size) - 1, out)
            line = out
        return line

    @functools.cache
    def small(bid: int, part: frozenset[int]):
        """W_bid(part, S) for all S ``[Z]``."""
        best = np.full(1 << size, -1)
        for calls in itertools.product(range(bid, 6), repeat=len(part)):
            groups = {c: frozenset(y for y, call in zip(sorted(part), calls) if call == c) for c in set(calls)}
            total = pays[bid][:, sorted(groups.pop(bid, ()))].sum(axis=1)
            for call, group in groups.items():
                total = total + large(call, group)
            best = np.maximum(best, total)
        return best

    return int(large(1, others)[-1])


@st.composite
def auctions(draw, types=(1, 4), bids=(1, 3)):
    n, b = draw(st.integers(*types)), draw(st.integers(*bids))
    line = st.lists(st.integers(-3, 9), min_size=2 * n - 1, max_size=2 * n - 1)
    opening_pass = draw(st.booleans())
    rows = [draw(line) if opening_pass else [0] * (2 * n - 1), *(draw(line) for _ in range(b))]
    return RisingAuction("random", n, np.array(rows), opening_pass)


@pytest.mark.parametrize("game_id", KNOWN)
def test_known_optimum(game_id):
    game = compiled(game_id)
    optimum, strategy = exact.solve(game)
    assert optimum.value == KNOWN[game_id]
    assert evaluate(game, strategy) == pytest.approx(float(optimum.value), abs=1e-9)
    assert set(np.unique(strategy[1:])) <= {0.0, 1.0}
    assert evaluate(game, strategy) <= full_information(game) + 1e-9


def test_simple_bidding_16_is_solved():
    """Its plan; and that no plan is better, from the openings of the run that found it."""
    game = compiled("simple_bidding_v0(size=16)")
    optimum, strategy = exact.solve(game)
    assert optimum.value == Fraction(2752, 256)
    assert evaluate(game, strategy) == 10.75
    with np.load(RESULTS / "simple_bidding_16_openings.npz", allow_pickle=False) as file:
        firsts = file["first_and_second"].astype(np.int64)
    assert best_total(np.concatenate([firsts, Panels(simple_bidding(16)).easy()])) == 2752


@pytest.mark.parametrize("others", [{3}, {0, 8}, {1, 4, 6}, {0, 2, 5, 7}])
def test_openings_by_definition(others):
    tables = Tables(simple_bidding(9))
    assert by_definition(9, frozenset(others)) == tables.row(1, tables.full)[sum(1 << y for y in others)]


@pytest.mark.slow
def test_simple_bidding_16_openings_by_definition():
    """A panel of the run, computed again, and some of its sets without any of its short cuts."""
    with np.load(RESULTS / "simple_bidding_16_openings.npz", allow_pickle=False) as file:
        firsts = file["first_and_second"].astype(np.int64)
    np.testing.assert_array_equal(Panels(simple_bidding(16)).panel(0)[0], firsts[0, :4096])
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 4, 4):
        types = rng.choice(16, size, replace=False)
        assert by_definition(16, frozenset(map(int, types))) == firsts[0, (1 << types).sum()]


@pytest.mark.parametrize(
    "auction", [*map(simple_bidding, range(2, 8)), *map(minibridge, range(1, 5))], ids=lambda g: g.id
)
def test_auction_engine_equals_tree_engine(auction):
    assert Tables(auction).value == solve_tree(compiled(auction.id))[0]


@settings(max_examples=60, deadline=None)
@given(auctions())
def test_engines_agree_on_random_auctions(auction):
    total, strategy = solve_tree(game := tree_of(auction))
    optimum = solve_rising_auction(auction)
    assert optimum.total == total == play(auction, optimum.plan)
    assert evaluate(game, strategy) == pytest.approx(float(optimum.value), abs=1e-9)
    assert evaluate(game, strategy_of(game, optimum.plan)) == pytest.approx(float(optimum.value), abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(auctions(types=(2, 2), bids=(2, 3)).filter(lambda auction: auction.bids == 2 or not auction.opening_pass))
def test_no_pure_joint_policy_is_better(auction):
    game = tree_of(auction)
    infosets = [(m, z) for m in np.flatnonzero(game.count) for z in range(2)]
    best = -np.inf
    for moves in itertools.product(*(range(game.count[m]) for m, _ in infosets)):
        strategy = np.zeros(game.shape)
        for (m, z), move in zip(infosets, moves):
            strategy[game.first[m] + move, z] = 1.0
        best = max(best, evaluate(game, strategy))
    assert float(solve_rising_auction(auction).value) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("size", "high"), [(9, 2), (9, 3), (10, 4)])
def test_panels_equal_tables(size, high):
    auction = simple_bidding(size)
    panels, tables = Panels(auction, high), Tables(auction)
    firsts = openings(panels)
    for bid in range(1, 6):
        np.testing.assert_array_equal(firsts[bid - 1], tables.row(bid, tables.full))
    assert best_total(firsts) == tables.value == play(auction, best_plan(PanelRows(panels, firsts)))
    mover = 0b101100110
    for bid in range(2, 6):
        np.testing.assert_array_equal(PanelRows(panels, firsts).row(bid, mover), tables.row(bid, mover))


def test_panels_resume(tmp_path):
    auction, lines = simple_bidding(9), []
    whole = openings(Panels(auction, 2))
    openings(Panels(auction, 2), tmp_path)
    files = sorted(tmp_path.iterdir())
    files[1].unlink()
    np.testing.assert_array_equal(openings(Panels(auction, 2), tmp_path, lines.append), whole)
    assert len(lines) == 4
    assert solve(simple_bidding(10)).total == 658
    np.save(files[0], np.zeros(3))
    with pytest.raises(ValueError, match=r"panel_00_of_4\.npy: expected int64 totals \(128,\), found float64"):
        openings(Panels(auction, 2), tmp_path)


def test_tables_resume(tmp_path):
    auction = minibridge(4)

    def stop(line):
        if "last bid 4 " in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_stored(auction, tmp_path, stop)
    lines = []
    resumed = solve_stored(auction, tmp_path, lines.append)
    assert resumed.total == 46 == play(auction, resumed.plan)
    assert len(lines) == 4
    path = tmp_path / "minibridge_v0_4_after_03.npy"
    np.save(path, np.zeros(3))
    with pytest.raises(ValueError, match=r"after_03\.npy: expected int16 totals \(1, 32, 32\), found float64 \(3,\)"):
        solve_stored(auction, tmp_path, lines.append)


@settings(max_examples=20, deadline=None)
@given(auctions(), st.integers(0, 20))
def test_a_constant_shifts_the_optimum(auction, constant):
    if not auction.opening_pass:
        constant = 0
    more = RisingAuction("shifted", auction.types, auction.payoff + constant, auction.opening_pass)
    assert Tables(more).value == Tables(auction).value + constant * auction.deals


def test_large_rewards_are_shifted_into_range():
    for top in (2001, -2000):
        auction = RisingAuction("large", 5, np.array([[0] * 9, [top - 1] * 9, [top] * 9]), False)
        assert Tables(auction).value == top * 25
    with pytest.raises(ValueError, match="do not fit 16 bits"):
        Tables(RisingAuction("wide", 5, np.array([[0] * 9, [-9000] * 9, [9000] * 9]), False))


@pytest.mark.parametrize("game_id", ["simple_bidding_v0(size=4)", "minibridge_v0(size=2)", "mini_hanabi_v0()"])
def test_the_agent_plays_as_well_in_the_environment(game_id):
    agent, game = exact.agent(), game_of(game_id)
    options = {} if game.id == "mini_hanabi_v0" else {"size": game.size}
    env = make(game.id, **options)
    rewards: dict[tuple[int, ...], float] = {}
    for seed in range(400):
        env.reset(seed=seed)
        deal = tuple(int(env.view(name)["type"][0]) for name in env.possible_agents)
        total = 0.0
        for name in env.agent_iter():
            _, reward, over, _, info = env.last()
            total += reward if name == "player_0" else 0.0
            legal = info["action_mask"][None]
            env.step(None if over else int(agent.act(env.view(name), legal, Streams.at(0, np.array([0])))[0]))
        rewards[deal] = total
    assert len(rewards) == np.prod(game.num_types)
    assert np.mean(list(rewards.values())) == pytest.approx(float(KNOWN.get(game_id, Fraction(6, 9))))


def test_messages_refuse_what_they_cannot_prove():
    assert solve_messages(compiled("comm_v0(length=3)"))[0] == solve_tree(compiled("comm_v0(length=3)"))[0] == 8
    with pytest.raises(ValueError, match="not one speaker and one listener"):
        solve_messages(compiled("simple_bidding_v0(size=4)"))


@pytest.mark.parametrize("game", [Minibridge(15), SimpleBidding(5000)], ids=str)
def test_too_large_is_refused(game):
    with pytest.raises(ValueError, match=r"three tables of 4\*\*\d+ totals need more than 8 GiB"):
        solve_rising_auction(auction_of(game))


def test_rewards_of_more_than_the_sum_are_refused():
    game = SimpleBidding(4)
    game.rules = game.rules._replace(reward_row=lambda state, x, y: float(x))
    with pytest.raises(ValueError, match="whole rewards of the sum of the types"):
        RisingAuction.of(game)


def test_illegal_plans_are_refused():
    auction = simple_bidding(2)
    with pytest.raises(ValueError, match=r"illegal call 0 after \(\)"):
        play(auction, {(): np.zeros(2, np.int64)})
    with pytest.raises(ValueError, match=r"no calls after \(1,\)"):
        play(auction, {(): np.ones(2, np.int64)})


def test_the_notes_show_the_results():
    page = (RESULTS.parents[1] / "experiments" / "notes" / "exact.md").read_text(encoding="utf-8")
    for line in map(json.loads, (RESULTS / "exact.jsonl").read_text(encoding="utf-8").splitlines()):
        assert f"| `{line['id']}` | {line['total']}/{line['deals']} | {line['value']:.6g} |" in page
