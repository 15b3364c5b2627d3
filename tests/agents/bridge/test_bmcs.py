"""Belief Monte Carlo search against slow and literal forms of its parts."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from bidzoo import agents
from bidzoo.agents.bridge.belief import WHO, SampledDeals
from bidzoo.agents.bridge.bmcs import Bmcs, Deals, RlMcs, Solver, WeightedBmcs, before_each_call, gains, seen_by
from bidzoo.agents.bridge.network import NetworkPolicy
from bidzoo.core.cards import FULL_DECK, call_number
from bidzoo.core.kernels import allocate
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.score import imps, score
from bidzoo.envs.bridge.state import STATE
from bidzoo.play.session import explanation_of
from bidzoo.wrappers.batch import Batch

GAME = Bridge(False, deals="validation")
SPREAD = np.array([0.05, 0.25, 0.4, 0.25, 0.05], np.float32)


class Spread:
    """An evaluator that spreads its guess around a number that depends on deal, declarer and strain."""

    def __init__(self):
        self.asked = 0

    def chances(self, hands, declarer, strain):
        self.asked += len(hands)
        middle = 2 + (hands[:, 0] % 7 + declarer + strain) % 9
        out = np.zeros((len(hands), 14), np.float32)
        out[np.arange(len(hands))[:, None], middle[:, None] + np.arange(-2, 3)] = SPREAD
        return out


def positions(calls, boards=40, seed=3):
    """A batch after ``calls`` calls of ppo."""
    batch = Batch(GAME, boards, autoreset=False)
    batch.reset(seed)
    policy = agents.make("ppo")
    for _ in range(calls):
        rng = Streams.at(0, np.arange(boards))
        batch.step(np.where(batch.action_mask.any(1), policy.act(batch.views(), batch.action_mask, rng), -1))
    return batch


def cards(hands):
    return hands[..., None] >> np.arange(52) & 1


def marginals(source):
    """Chance ``[3, 52]`` of each card with partner, LHO and RHO in the deals sampled, exactly."""
    chance = np.zeros((3, 52))
    before = np.zeros((14, 14))  # weight of having left a, b after the cards so far
    before[13, 13] = 1
    for i, card in enumerate(source._cards):
        here = np.zeros_like(before)
        for who, (da, db) in enumerate(((1, 0), (0, 1), (0, 0))):
            moved = np.zeros_like(before)
            moved[: 14 - da, : 14 - db] = before[da:, db:] * source._weights[i, who]
            chance[who, card] = (moved * source._ways[i + 1]).sum()
            here += moved
        before = here
    return chance / source._ways[0, 13, 13]


# ---- deals -------------------------------------------------------------------------------


def test_deals_are_whole_and_hold_the_own_hand():
    belief = np.random.default_rng(1).random((3, 52)).astype(np.float32)
    own = int(positions(0).states["hands"][0, 1])
    hands = SampledDeals(1, own, belief).sample(Streams.at(5, np.arange(3000)).keys)
    assert (hands[:, 1] == own).all()
    assert (cards(hands).sum(2) == 13).all()
    assert (np.bitwise_or.reduce(hands, axis=1) == FULL_DECK).all()
    alone = SampledDeals(1, own, belief).sample(Streams.at(5, np.arange(2990, 2993)).keys)
    np.testing.assert_array_equal(alone, hands[2990:2993])


def test_deals_are_those_of_rejection():
    """Cards choose their holders one by one, and only deals of 13 cards each are kept: the same chances."""
    rng = np.random.default_rng(2)
    belief = (rng.random((3, 52)) ** 3 + 0.02).astype(np.float32)
    own = int(positions(0).states["hands"][1, 2])
    source = SampledDeals(2, own, belief)
    free = np.flatnonzero(own >> np.arange(52) & 1 == 0)
    chance = belief[:, free] / belief[:, free].sum(0)
    who = (rng.random((600_000, 39), np.float32) > chance[0]).astype(np.int8)
    who += (who > 0) & (rng.random(who.shape, np.float32) > chance[1] / (chance[1] + chance[2]))
    kept = who[(who == 0).sum(1) == 13]
    kept = kept[(kept == 1).sum(1) == 13]
    rejection = np.stack([(kept == k).mean(0) for k in range(3)])
    error = 5 / np.sqrt(len(kept)) * 0.5
    assert len(kept) > 5000
    np.testing.assert_allclose(marginals(source)[:, free], rejection, atol=error)
    hands = source.sample(Streams.at(7, np.arange(20_000)).keys)
    sampled = np.stack([cards(hands[:, (2 + k) % 4]).mean(0)[free] for k in WHO])
    np.testing.assert_allclose(sampled, marginals(source)[:, free], atol=5 / np.sqrt(20_000) * 0.5)
    pairs = cards(hands[:, 0])[:, free[:2]].all(1).mean(), ((kept[:, 0] == 0) & (kept[:, 1] == 0)).mean()  # partner
    assert abs(pairs[0] - pairs[1]) < 2 * error


def test_a_certain_belief_is_followed():
    deal = positions(0).states["hands"][4]
    belief = np.stack([cards(deal[(3 + who) % 4]) for who in WHO]).astype(np.float32)
    hands = SampledDeals(3, int(deal[3]), belief).sample(Streams.at(0, np.arange(200)).keys)
    assert (hands == deal).all(1).mean() > 0.9  # no chance is below 0.0001


def test_the_chance_of_a_deal_is_that_of_its_walk():
    """Card by card, as ``draw_row`` chooses; the table of all ways makes chances of them."""
    belief = (np.random.default_rng(4).random((3, 52)) + 0.1).astype(np.float32)
    source = SampledDeals(1, int(positions(0).states["hands"][2, 1]), belief)
    hands = source.sample(Streams.at(1, np.arange(500)).keys)
    weights, ways, cards_of = source._weights, source._ways, cards(hands)[:, [(1 + who) % 4 for who in WHO]]
    walk, left = np.zeros(500), np.full((500, 3), 13)
    for i, card in enumerate(source._cards):
        who = cards_of[:, :, card].argmax(1)
        before = ways[i, left[:, 0], left[:, 1]]
        left[np.arange(500), who] -= 1
        walk += np.log(weights[i, who] * ways[i + 1, left[:, 0], left[:, 1]] / before)
    np.testing.assert_allclose(source.log_chances(hands) - np.log(ways[0, 13, 13]), walk, atol=1e-9)


# ---- filter, weights and rollouts --------------------------------------------------------


def test_replayed_tables_are_those_of_the_game():
    batch = positions(7)
    row = int(np.flatnonzero(batch.states["length"] == 7)[0])
    game, tables, out = GAME, GAME.new(1), GAME.buffers(1)
    game.begin(tables, batch.boards[row : row + 1], 3, out)
    before = before_each_call(batch.views()[row])
    assert len(before) == 8
    for t in range(8):
        for field in ("turn", "length", "bid", "bidder", "stake", "passes", "phase", "dealer", "vulnerable"):
            assert before[field][t] == tables[field][0], field
        seat = int(tables["turn"][0])
        np.testing.assert_array_equal(
            GAME.encoder(seen_by(before[t : t + 1], seat, tables["hands"][:, seat])), out.observation
        )
        game.step(tables, np.array([int(batch.states["calls"][row, t])]), 0, out)


def who_sits(agent, seat, me):
    """As ``me`` believes."""
    return agent.policy if (seat - me) % 2 == 0 else agent.opponents


def literal(agent, view, key, wanted, most):
    """Algorithm 3's loop over deals, one deal at a time: those that pass, and how many were sampled."""
    belief = agent.belief.probabilities(view)[0]
    source, me = SampledDeals(int(view["seat"][0]), int(view["hand"][0]), belief), int(view["seat"][0])
    found, sampled = [], 0
    while sampled < most and len(found) < wanted:
        streams = Streams.at(key, np.array([sampled]))
        deal = source.sample(streams.keys)[0]
        sampled += 1
        tables, out = GAME.new(1), GAME.buffers(1)
        GAME.begin(tables, np.array([0]), 0, out)
        options = {"deal": deal, "dealer": int(view["dealer"][0]), "tricks": np.zeros(20, np.int8)}
        GAME.fix(tables, {**options, "vulnerability": int(view["vulnerable"][0])}, out)
        passed = True
        for t in range(int(view["length"][0])):
            call, number, seat = int(view["calls"][0, t]), streams.random(1)[0, 0], int(tables["turn"][0])
            if passed and (seat != me or agent.options.own_calls):
                seen = GAME.view_of(tables, np.array([seat]))
                passed = number < who_sits(agent, seat, me).probabilities(seen, out.mask)[0, call]
            GAME.step(tables, np.array([call]), 0, out)
        if passed:
            found.append(deal)
    return np.array(found).reshape(-1, 4), sampled


@pytest.mark.parametrize(("own_calls", "opponents"), [(False, None), (True, None), (False, "sl")])
def test_the_batched_filter_is_the_loop_of_algorithm_3(own_calls, opponents):
    agent = Bmcs(evaluator=Spread(), r_max=12, p_max=150, own_calls=own_calls, opponents=opponents)
    batch, compared = positions(5), 0
    for row in np.flatnonzero(batch.states["length"] == 5)[:4]:
        view = batch.views(np.array([row]))
        found = agent.search(view, agent.policy.probabilities(view, batch.action_mask[row : row + 1])[0], 99)
        hands, sampled = literal(agent, view, 99, 12, 150)
        np.testing.assert_array_equal(found.deals.hands, hands)
        assert found.deals.sampled == sampled
        compared += len(hands)
    assert compared >= 10


@pytest.mark.parametrize("order", [sorted, lambda turns: sorted(turns, reverse=True)])
def test_whichever_call_is_asked_about_first_the_same_deals_remain(monkeypatch, order):
    agent, batch = Bmcs(evaluator=Spread(), r_max=30, p_max=400), positions(6)
    views = batch.views(np.flatnonzero(batch.states["length"] == 6)[:5])
    found = [agent.deals(view, 12) for view in np.split(views, len(views))]
    own, others = Bmcs._order, []

    def ordered(*arguments):
        others.append(own(*arguments) != order(own(*arguments)))
        return order(own(*arguments))

    monkeypatch.setattr(Bmcs, "_order", ordered)
    for view, deals in zip(np.split(views, len(views)), found):
        again = agent.deals(view, 12)
        np.testing.assert_array_equal(again.hands, deals.hands)
        assert again.sampled == deals.sampled
    assert any(others) and sum(len(deals.hands) for deals in found) > 10


POINTS = (np.arange(52) // 4 - 8).clip(0)


def points_of(agent, view, key):
    """Mean high-card points ``[3]`` of partner, LHO, RHO in the deals of one search, and deals that say as much."""
    deals, seats = agent.deals(view, key), [(int(view["seat"][0]) + who) % 4 for who in WHO]
    return deals.mean(cards(deals.hands)[:, seats] @ POINTS), deals.size


@pytest.fixture(scope="module")
def filters():
    """By row: points and size of a filter of uniform deals, and points of the paper's, which reads the calls twice."""
    exact, twice = Bmcs(deals="uniform", p_max=20_000, r_max=1500), Bmcs(p_max=3000, r_max=1500)
    batch = positions(3)
    views = [batch.views(np.array([row])) for row in range(1, 6)]
    return [(*points_of(exact, view, 4), points_of(twice, view, 4)[0]) for view in views]


@pytest.mark.parametrize("followed", [6000, 500])
def test_weighed_deals_are_those_of_the_exact_filter(followed, filters):
    """The belief cancels: what weighs is the chance of the calls, as in a filter of deals sampled uniformly."""
    weighed = Bmcs(calls="weigh", p_max=6000, r_max=1500, followed=followed, surprise=1e-6)
    batch, apart, wrong = positions(3), [], []
    for row, (expected, many, filtered) in enumerate(filters, 1):
        found, size = points_of(weighed, batch.views(np.array([row])), 4)
        if min(size, many) > 150:
            apart.append((found - expected) / (3.5 * np.sqrt(1 / size + 1 / many)))  # some 3.5 points a hand
            wrong.append((filtered - expected) / (3.5 * np.sqrt(1 / size + 1 / many)))
    assert len(apart) >= 3 and np.square(apart).mean() < 2
    assert np.square(wrong).mean() > 4


def test_weighed_deals_are_counted():
    agent, batch = WeightedBmcs(evaluator=Spread(), r_max=60, p_max=300), positions(5)
    row = np.flatnonzero(batch.states["length"] == 5)[:1]
    views, chances = batch.views(row), agent.policy.probabilities(batch.views(row), batch.action_mask[row])[0]
    found = agent.search(views, chances, 3)
    deals = found.deals
    assert deals.counts.sum() == 60 and (deals.counts > 0).all() and deals.sampled == 300
    assert len(np.unique(deals.hands, axis=0)) == len(deals.hands) == len(deals.counts)
    assert deals.size <= len(deals.hands)
    np.testing.assert_allclose(deals.total(found.gains), np.repeat(found.gains, deals.counts, axis=0).sum(0))
    np.testing.assert_array_equal(agent.deals(views, 3).hands, deals.hands)
    assert deals.size == 1 or agent.deals(views, 4).hands.tolist() != deals.hands.tolist()


@pytest.mark.parametrize("opponents", [None, "a2c"])
def test_rollouts_are_greedy_games(opponents):
    """The contract of every call on every deal, from the game itself, through another door."""
    batch = positions(3)
    other = opponents and NetworkPolicy("a2c-bridge", name=opponents)
    agent = Bmcs(evaluator=Spread(), r_max=5, min_prob=0.0, max_actions=3, reward="points", opponents=other)
    evaluator, me = Spread(), int(batch.views(np.array([0]))["seat"][0])
    view = batch.views(np.array([0]))
    found = agent.search(view, agent.policy.probabilities(view, batch.action_mask[:1])[0], 4)
    side = 1 if int(view["seat"][0]) % 2 == 0 else -1
    for deal, gained in zip(found.deals.hands, found.gains):
        points = []
        for call in found.calls:
            tables, out = GAME.new(1), GAME.buffers(1)
            GAME.begin(tables, np.array([0]), 0, out)
            options = {"deal": deal, "dealer": int(view["dealer"][0]), "tricks": np.zeros(20, np.int8)}
            GAME.fix(tables, {**options, "vulnerability": int(view["vulnerable"][0])}, out)
            for earlier in (*view["calls"][0, : int(view["length"][0])], call):
                GAME.step(tables, np.array([int(earlier)]), 0, out)
            while tables["turn"][0] >= 0:
                seen = GAME.view_of(tables, tables["turn"].astype(np.int64))
                policy = who_sits(agent, int(tables["turn"][0]), me)
                GAME.step(tables, np.array([int(policy.act(seen, out.mask, Streams.at(0, np.array([0])))[0])]), 0, out)
            points.append(expected_points(tables[0], deal, evaluator))
        np.testing.assert_allclose(gained, side * (np.array(points) - points[0]), atol=1e-2)


def expected_points(table, deal, evaluator):
    declarer, bid = int(table["declarer"]), int(table["bid"])
    if declarer < 0:
        return 0.0
    chance = evaluator.chances(deal[None], np.array([declarer]), np.array([bid % 5]))[0]
    vulnerable = int(table["vulnerable"]) >> declarer % 2 & 1
    points = score(bid // 5 + 1, bid % 5, int(table["stake"]), np.arange(14), vulnerable)
    return float(chance @ points) * (1 if declarer % 2 == 0 else -1)


# ---- what contracts are worth ------------------------------------------------------------


def contracts(*texts, dealer=0):
    """Finished tables, one a contract: ``("4S", declarer, stake)`` or None."""
    tables = allocate(STATE, len(texts))
    tables["bid"], tables["stake"], tables["declarer"] = -1, 1, -1
    for table, text in zip(tables, texts):
        if text is not None:
            table["bid"], table["declarer"], table["stake"] = call_number(text[0]) - 3, *text[1:]
    return tables


def test_the_solver_is_exact():
    states = positions(0).states[:3]
    hands, tricks = states["hands"].copy(), states["tricks"]  # packaged tables
    ended = contracts(*[None, ("1NT", 2, 1), ("4S", 0, 2), ("5C", 1, 4)] * 3)
    found, evaluated = gains(Solver(), hands, ended, 2, True)
    assert evaluated == 9
    for deal in range(3):
        points = [0]
        for level, strain, stake, declarer in ((1, 4, 1, 2), (4, 3, 2, 0), (5, 0, 4, 1)):
            won = int(tricks[deal, 5 * declarer + strain])
            points.append(int(score(level, strain, stake, won, declarer % 2)) * (1 if declarer % 2 == 0 else -1))
        np.testing.assert_array_equal(found[deal], imps(np.array(points)))


@pytest.mark.parametrize(("first", "second"), [(("3NT", 0, 1), ("4S", 2, 1)), (("2S", 0, 1), ("4S", 0, 2))])
def test_chances_give_the_expected_imps(first, second):
    """Independent tricks in two cells, the same tricks in one."""
    hands, evaluator = positions(0).states["hands"][:1].copy(), Spread()
    found, _ = gains(evaluator, hands, contracts(first, second), 1, True)
    bids = [call_number(text[0]) - 3 for text in (first, second)]
    points = [score(b // 5 + 1, b % 5, c[2], np.arange(14), 1) for b, c in zip(bids, (first, second))]
    chance = [evaluator.chances(hands, np.array([c[1]]), np.array([b % 5]))[0] for b, c in zip(bids, (first, second))]
    weight = np.diag(chance[1]) if bids[0] % 5 == bids[1] % 5 else np.outer(chance[1], chance[0])
    expected = (weight * imps(points[1][:, None] - points[0][None])).sum()
    assert found[0, 1] == pytest.approx(expected, abs=1e-4)
    assert found[0, 0] == 0


def test_nothing_is_judged_where_contracts_agree():
    evaluator, hands = Spread(), positions(0).states["hands"][:2].copy()
    found, evaluated = gains(evaluator, hands, contracts(*[("3NT", 0, 1)] * 3, None, None, ("1C", 3, 1)), 0, True)
    assert evaluated == evaluator.asked == 1
    assert (found[0] == 0).all() and found[1, 2] != 0


# ---- the agent ---------------------------------------------------------------------------


class TwoMinds:
    """Half a mind to pass, half to bid 7NT; later it passes."""

    name = "two minds"

    def probabilities(self, views, legal):
        out = np.zeros((len(views), 38), np.float32)
        out[:, 0] = 0.49
        out[np.arange(len(views)), np.where(views["bid"] < 0, call_number("7NT"), 0)] += 0.51
        return out


def test_search_finds_the_call_that_pays():
    batch = Batch(GAME, 12, autoreset=False)
    batch.reset(0)
    views, legal = batch.views(), batch.action_mask
    agent = Bmcs(TwoMinds(), evaluator="solver", deals="uniform", r_max=3, r_min=2)
    np.testing.assert_array_equal(agent.act(views[:2], legal[:2], Streams.at(0, np.arange(2))), 0)
    few = Bmcs(TwoMinds(), evaluator="solver", deals="uniform", r_max=3, r_min=3)
    assert few.act(views[:1], legal[:1], Streams.at(0, np.arange(1)))[0] == call_number("7NT")  # R > R_min
    chances = agent.policy.probabilities(views[:1], legal[:1])[0]
    found = agent.search(views[:1], chances, 0)
    paid = found.deals.mean(found.gains)[found.calls == 0][0] / np.log(0.51 / 0.49)  # what a nat must be worth
    for prior, call in ((0.99 * paid, 0), (1.01 * paid, call_number("7NT"))):
        agent = Bmcs(TwoMinds(), evaluator="solver", deals="uniform", r_max=3, r_min=2, prior=prior)
        assert agent.search(views[:1], chances, 0).call == call


def test_the_opportunity_cost_is_what_a_better_call_is_expected_to_be_better_by():
    rng = np.random.default_rng(3)
    gains = np.column_stack([np.zeros(80), rng.normal(0.3, 2, 80), rng.normal(0.1, 4, 80)])
    deals = Deals(np.zeros((80, 4), np.int64), np.ones(80, np.int64), 80)
    prior = np.array([0.0, 0.05, -0.1])
    value = gains.mean(0) + prior
    best = int(value.argmax())
    others = [k for k in range(3) if k != best]
    error = [np.std(gains[:, k] - gains[:, best], ddof=1) / np.sqrt(80) for k in others]
    better = rng.normal((value - value[best])[others], error, (1_000_000, 2)).clip(0)
    assert deals.errors(gains)[1:] == pytest.approx(np.std(gains[:, 1:], axis=0, ddof=1) / np.sqrt(80))
    assert deals.opportunity_cost(gains, prior) == pytest.approx(better.mean(0).sum(), rel=0.02)
    assert deals.opportunity_cost(np.zeros((80, 3)), np.array([0.1, 0.0, 0.0])) == 0  # all led to the same contracts


@pytest.mark.parametrize("name", ["bmcs-sl", "rpi-bmcs"])
def test_a_search_that_ends_early_has_begun_like_one_that_does_not(name):
    batch, shorter, asked = positions(4), 0, 0
    early, whole = agents.make(name, opportunity_cost=0.05), agents.make(name, opportunity_cost=0.0)
    for row in np.flatnonzero(batch.action_mask.any(1))[:12]:
        view = batch.views(np.array([row]))
        chances = early.policy.probabilities(view, batch.action_mask[row : row + 1])
        if not early.hesitates(chances)[0]:
            continue
        some, every = early.search(view, chances[0], 7), whole.search(view, chances[0], 7)
        size = len(some.gains)
        np.testing.assert_array_equal(some.deals.hands, every.deals.hands[:size])
        np.testing.assert_allclose(some.gains, every.gains[:size], atol=1e-12)
        assert some.deals.sampled <= every.deals.sampled
        if size < len(every.gains):
            prior = early.options.prior * np.log(np.maximum(chances[0][some.calls], 1e-9))
            assert some.deals.opportunity_cost(some.gains, prior) < 0.05 and size >= 20
            shorter += 1
        asked += 1
    assert shorter > 0 and asked > 2


@pytest.mark.parametrize("agent", [Bmcs, WeightedBmcs, RlMcs])
def test_a_row_does_not_depend_on_the_others(agent):
    batch = positions(4)
    policy = agent(evaluator=Spread(), r_max=20, p_max=300, r_min=0, min_prob=0.01)
    rows = np.flatnonzero(batch.action_mask.any(1))
    views, legal, rng = batch.views(rows), batch.action_mask[rows], Streams.at(1, rows)
    together = policy.act(views, legal, rng[:])
    again = [policy.act(views[k : k + 1], legal[k : k + 1], rng[k : k + 1])[0] for k in range(len(rows))]
    np.testing.assert_array_equal(together, again)
    assert (legal[np.arange(len(rows)), together] == 1).all()
    assert (together != policy.policy.act(views, legal, rng[:])).any()  # it does search


def test_workers_of_the_solver_change_nothing():
    batch = positions(3)
    view = batch.views(np.array([1]))
    found = []
    for workers in (1, 2):
        agent = Bmcs(evaluator="solver", workers=workers, r_max=9, min_prob=0.0, max_actions=2)
        found.append(agent.search(view, agent.policy.probabilities(view, batch.action_mask[1:2])[0], 6))
    assert found[0].contracts == found[1].contracts > 4
    np.testing.assert_array_equal(found[0].gains, found[1].gains)
    np.testing.assert_array_equal(found[0].deals.hands, found[1].deals.hands)


def test_explanations_say_what_was_compared():
    agent = Bmcs(evaluator=Spread(), r_max=30, p_max=400, min_prob=0.005)
    batch = positions(4)
    open_ones = np.count_nonzero(agent.policy.probabilities(batch.views(), batch.action_mask) > 0.05, axis=1) > 1
    row = np.flatnonzero(open_ones)[:1]
    views, legal = batch.views(row), batch.action_mask[row]
    rng = Streams.at(8, row)
    found = explanation_of(agent, GAME, views, legal, rng)
    choice = int(agent.act(views, legal, rng[:])[0])
    assert len(found.values) > 1
    assert max(found.values, key=lambda call: found.values[call][0]) == choice
    assert set(found.values) <= set(found.chances)
    assert dict(found.facts)["deals sampled"] and found.unit == "IMPs"
    me = int(views["seat"][0])
    assert all(set(sample) == {0, 1, 2, 3} - {me} for sample in found.samples) and len(found.samples) == 3
    assert set(found.belief) == {0, 1, 2, 3} - {me}


def test_search_without_deals_lets_the_likeliest_call_stand():
    agent = Bmcs(evaluator=Spread(), p_max=1, r_min=0, min_prob=0.0, max_actions=3)
    batch = positions(6)
    row = np.flatnonzero(batch.states["length"] == 6)[:1]
    views, legal = batch.views(row), batch.action_mask[row]
    chances = agent.policy.probabilities(views, legal)[0]
    empty = [s for s in (agent.search(views, chances, key) for key in range(30)) if len(s.deals.hands) == 0]
    assert empty and all(s.call == chances.argmax() and s.deals.sampled == 1 for s in empty)


def test_a_model_of_the_other_side_changes_calls():
    """Somewhere; its name is shown, and what has no probabilities is none."""
    batch = positions(4)
    rows = np.flatnonzero(batch.states["length"] == 4)[:15]
    views, legal, rng = batch.views(rows), batch.action_mask[rows], lambda: Streams.at(1, rows)
    usual, against = Bmcs(r_max=20), Bmcs(r_max=20, opponents="a2c-bridge")
    assert (usual.act(views, legal, rng()) != against.act(views, legal, rng())).any()
    assert "against a2c-bridge" in repr(against) and "against" not in repr(usual)
    named = agents.make("bmcs-sl", r_max=20)
    numbers = replace(Bmcs.options, min_prob=0.001, r_max=20, p_max=4000, opportunity_cost=0.02, prior=0.1)
    given = Bmcs(opponents="sl", **asdict(numbers))
    np.testing.assert_array_equal(named.act(views, legal, rng()), given.act(views, legal, rng()))
    assert agents.make("bmcs-sl", opponents="rl").opponents.name == "rl"
    with pytest.raises(ValueError, match="which sayc has not"):
        Bmcs(opponents="sayc")


def test_impossible_options_are_named():
    with pytest.raises(ValueError, match=r"max_actions 0: expected an integer from 1"):
        Bmcs(max_actions=0)
    with pytest.raises(ValueError, match=r"min_prob 2: expected a number from 0 to 1"):
        Bmcs(min_prob=2)
    with pytest.raises(ValueError, match="deals 'all': expected 'belief' or 'uniform'"):
        Bmcs(deals="all")
    with pytest.raises(ValueError, match="calls 'read': expected 'filter' or 'weigh' or 'ignore'"):
        Bmcs(calls="read")
    with pytest.raises(ValueError, match="evaluator 'coin': expected 'network' or 'solver'"):
        Bmcs(evaluator="coin")
    with pytest.raises(ValueError, match="sayc has not"):
        Bmcs("sayc")
