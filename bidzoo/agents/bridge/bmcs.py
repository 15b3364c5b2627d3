"""``bmcs``: belief Monte Carlo search at the table. Qiu et al. 2024, section V and appendix D, Algorithms 3 and 4.

Where the policy hesitates between calls, deals are sampled from what the belief network makes of the auction, those in
which the other players would hardly have called as they did are dropped, and each call is made and played out by the
policy on the deals that remain. The call with the highest sum of results is made.

``bmcs``           as in the paper
``bmcs-sl``        the model of the opponents is ``sl``, which gives calls of unknown opponents a higher likelihood
``rpi-bmcs``       that model over the policy ``rpi``
``bmcs-weighted``  deals weigh how likely the calls are with them over how likely they were sampled
``rl-mcs``         deals sampled uniformly (Table IV), as in the PI-Search of Lockhart et al. 2020 (``pi.py``)

The paper's filter counts the calls twice: the belief network has read them already, so deals that pass the filter are
weighted by the belief twice. Importance weights remove one of the two.

The deals of a step are sampled, filtered and played out in one batch, or in several after each of which a search may
end (``opportunity_cost``); results are compared only where calls lead to different contracts. An *evaluator* says how
many tricks these make, as a chance of 0 ... 13: the double-dummy network (``evaluator.py``) spreads it, the exact
solver puts it on one number. Scores and IMPs are expectations over it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge.belief import Belief, SampledDeals
from bidzoo.agents.bridge.evaluator import CLASSES, Evaluator
from bidzoo.agents.bridge.network import Network
from bidzoo.agents.bridge.selfplay import bid_out, legal_calls, make
from bidzoo.agents.explanation import Explanation, chances_of
from bidzoo.core.cards import NUM_CARDS
from bidzoo.core.kernels import F32, F64, I8, I64, Bool, State, States, allocate, batched, row, rows_a_thread
from bidzoo.core.options import Checked, Count, Share, Weight, Whole, check_options, checked, takes
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.auction import call_row, open_auction_row
from bidzoo.envs.bridge.double_dummy import solve_contracts
from bidzoo.envs.bridge.render import suited
from bidzoo.envs.bridge.score import imps_row, north_south_row
from bidzoo.envs.bridge.state import STATE, VIEW, copy_public_row, views

# ---- auctions replayed and played out, without a game ------------------------------------


def before_each_call(view: State) -> States:
    """The states before each call of one view's auction, and now: ``[length + 1]``, without cards."""
    states = allocate(STATE, int(view["length"]) + 1)
    copy_public_row(view, states[0])
    open_auction_row(states[0], int(view["dealer"]), int(view["vulnerable"]))
    for t in range(len(states) - 1):
        states[t + 1] = states[t]
        call_row(states[t + 1], int(view["calls"][t]))
    return states


def seen_by(state: States, seat: int, hands: I64) -> States:
    """Views ``[n]`` of ``state`` ``[1]`` from ``seat``, with each of ``hands`` ``[n]``."""
    out = allocate(VIEW, 1)
    views(state, np.array([seat]), out)
    out = np.repeat(out, len(hands))
    out["hand"] = out["held_here"] = hands
    return out


def play_out(states: States, north_south: RolloutPolicy, east_west: RolloutPolicy) -> None:
    """Bid ``states`` ``[B]`` to the end of the auction, in place: each side makes its policy's likeliest calls."""

    def choose(rows: I64, turn: I64) -> I64:
        calls = np.empty(len(rows), np.int64)
        for side, policy in enumerate((north_south, east_west)):
            index = np.flatnonzero(turn % 2 == side)
            if len(index):
                current, seat_views = states[rows[index]], allocate(VIEW, len(index))
                views(current, turn[index], seat_views)
                first, again = distinct(seat_views)
                calls[index] = policy.probabilities(seat_views[first], legal_calls(current[first])).argmax(1)[again]
        return calls

    bid_out(states, choose)


def distinct(views: States) -> tuple[I64, I64]:
    """Rows of different ``views`` ``[n]``, and for each view which of them it is; told apart if all have one hand.

    The player who searches has one hand in all deals, and few auctions lead back to it.
    """
    if (views["hand"] != views["hand"][0]).any():
        return np.arange(len(views)), np.arange(len(views))
    _, first, again = np.unique(views.view(np.dtype((np.void, VIEW.itemsize))), return_index=True, return_inverse=True)
    return first, again


# ---- the value of the contracts reached --------------------------------------------------

NEGLIGIBLE = 1e-4  # chance


@runtime_checkable
class TrickEvaluator(Protocol):
    """Chances of tricks."""

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """Chance ``[n, 14]`` that ``declarer`` ``[n]`` takes 0 ... 13 tricks in ``strain`` ``[n]`` of ``hands``."""
        ...


class Solver:
    """The exact evaluator: endplay's double-dummy solver, one contract after the other."""

    @checked
    def __init__(self, workers: Count = 1) -> None:
        """``workers``: processes that solve; they change no result."""
        self.workers = workers

    def chances(self, hands: I64, declarer: I64, strain: I64) -> F32:
        """1 at the double-dummy tricks, 0 elsewhere: ``[n, 14]``; about 0.02 s each and core."""
        tricks = solve_contracts(hands, declarer, strain, self.workers)
        return np.asarray(np.arange(CLASSES) == tricks[:, None], np.float32)


@row
def gain_row(contract: I64, other: I64, chance: F32, chance_other: F32, vulnerable: int, in_imps: bool) -> float:
    """Expected N/S gain of ``contract`` over ``other`` (bid, stake, declarer, cell each), IMPs or points.

    In one cell (deal, declarer, strain) both take the same tricks; in two, the tricks count as independent.
    """
    total = 0.0
    same = contract[3] == other[3]
    for t in range(CLASSES):
        if chance[t] < NEGLIGIBLE:
            continue
        points = north_south_row(contract[0], contract[1], contract[2], vulnerable, t)
        for u in range(CLASSES):
            if same and u != t:
                continue
            weight = chance[t] if same else chance[t] * chance_other[u]
            if weight < NEGLIGIBLE * NEGLIGIBLE:
                continue
            difference = points - north_south_row(other[0], other[1], other[2], vulnerable, u)
            total += weight * (imps_row(difference) if in_imps else difference)
    return total


@batched
@rows_a_thread(1024)
def _gains(start: int, stop: int, contracts: I64, chances: F32, vulnerable: int, in_imps: bool, out: F64) -> None:
    for d in range(start, stop):
        other = contracts[d, 0]
        for k in range(1, contracts.shape[1]):
            contract = contracts[d, k]
            if contract[0] == other[0] and contract[1] == other[1] and contract[2] == other[2]:
                continue
            out[d, k] = gain_row(contract, other, chances[contract[3]], chances[other[3]], vulnerable, in_imps)


def gains(evaluator: TrickEvaluator, hands: I64, states: States, vulnerable: int, in_imps: bool) -> tuple[F64, int]:
    """Expected N/S gain ``[D, K]`` of the contracts of ``K`` calls over that of the first; number of cells evaluated.

    Only deals whose contracts differ are evaluated, each (deal, declarer, strain) once. ``hands`` ``[D, 4]``;
    ``states`` ``[D * K]`` after the auction, deal by deal; ``in_imps``: IMPs of the difference, else points.
    """
    deals, calls = len(hands), len(states) // len(hands)
    bid, stake, declarer = (
        states[name].astype(np.int64).reshape(deals, calls) for name in ("bid", "stake", "declarer")
    )
    bid, stake = np.where(declarer < 0, -1, bid), np.where(declarer < 0, 1, stake)
    differ = ((bid != bid[:, :1]) | (stake != stake[:, :1]) | (declarer != declarer[:, :1])).any(1)
    cell = 20 * np.arange(deals)[:, None] + 5 * declarer + bid % 5
    cells, inverse = np.unique(cell[differ[:, None] & (declarer >= 0)], return_inverse=True)
    chances = np.zeros((len(cells) + 1, CLASSES), np.float32)
    chances[-1, 0] = 1  # passed out: one outcome, 0 points whatever the tricks
    if len(cells):
        chances[:-1] = evaluator.chances(hands[cells // 20], cells % 20 // 5, cells % 5)
    index = np.full((deals, calls), len(cells), np.int64)
    index[differ[:, None] & (declarer >= 0)] = inverse
    out = np.zeros((deals, calls))
    _gains(np.stack([bid, stake, declarer, index], axis=2), chances, vulnerable, in_imps, out)
    return out, len(cells)


# ---- the search --------------------------------------------------------------------------

PILOT_DEALS = 16  # deals that tell which calls to check first
LOOK = 20  # deals before the first look at what more of them are worth; before the next there are twice as many
EXAMPLE_DEALS = 3  # deals in an explanation


@runtime_checkable
class RolloutPolicy(Protocol):
    """A policy that says how likely it makes each call: any network of this package."""

    name: str

    def probabilities(self, views: States, legal: I8) -> F32:
        """Chance of every call ``[B, 38]``."""
        ...


@dataclass(frozen=True)
class Options(Checked):
    """Numbers of the search, by the names of Algorithm 3."""

    max_actions: Count = 5  # calls compared
    min_prob: Share = 0.02  # least chance of such a call
    r_min: Whole = 5  # deals played out, more than which decide; with fewer the likeliest call stands
    r_max: Count = 200  # deals played out
    p_max: Count = 2000  # deals sampled
    opportunity_cost: Weight = 0.0  # a choice that is expected to lose less ends the search; 0: Algorithm 3 to its end
    deals: Literal["belief", "uniform"] = "belief"  # from the belief network, or any that the own hand allows
    calls: Literal["filter", "weigh", "ignore"] = "filter"  # what the chances of the calls made do to the deals
    own_calls: bool = False  # hold deals to the player's own calls too: more are dropped, but the same remain likely
    surprise: Share = 0.01  # when weighing, the chance of a call counts as at least this
    followed: Count = 1600  # deals weighed by all calls; of more, the light ones are thinned out after each call
    reward: Literal["imps", "points"] = "imps"  # IMPs over the likeliest call's result, or duplicate points
    prior: Weight = 0.0  # reward of a nat of the policy's log-probability beside the results


class Deals(NamedTuple):
    """``R`` different deals that fit the calls."""

    hands: I64  # [R, 4]
    counts: I64  # [R]  how often each counts
    sampled: int  # deals sampled to find them

    @property
    def size(self) -> int:
        """Effective sample size: the number of deals of equal counts that would say as much."""
        return round(float(self.counts.sum()) ** 2 / max(1, int((self.counts**2).sum())))

    def total(self, values: F64 | I64) -> F64:
        """Sum of ``values`` ``[R, K]``, each as often as its deal counts: ``[K]``."""
        return np.asarray((self.counts[:, None] * values).sum(0))

    def mean(self, values: F64 | I64) -> F64:
        """Mean of ``values`` over all deals, of which there must be at least one."""
        return self.total(values) / self.counts.sum()

    def errors(self, values: F64) -> F64:
        """Standard errors of that mean."""
        return np.sqrt(self.mean((values - self.mean(values)) ** 2) / max(1, self.size - 1))

    def opportunity_cost(self, gains: F64, prior: F64) -> float:
        """What the best of ``K`` calls by ``gains`` ``[R, K]`` and ``prior`` ``[K]`` is expected to lose.

        The sum over the others of the expected positive part of what they are better by, each difference taken for
        normal with its standard error: the expected opportunity cost of Chick and Inoue 2001.
        """
        value = self.mean(gains) + prior
        best = int(value.argmax())
        error = self.errors(gains - gains[:, best : best + 1])
        lead = (value[best] - value) / np.maximum(error, 1e-9)
        tail = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in lead])
        cost = error * (np.exp(-(lead**2) / 2) / math.sqrt(2 * math.pi) - lead * tail)
        return float(cost.sum())  # the best call's own is 0


def joined(parts: Sequence[Deals]) -> Deals:
    """All deals of ``parts``."""
    hands, counts, sampled = zip(*parts)
    return Deals(np.concatenate(hands), np.concatenate(counts), sum(sampled))


class SearchResult(NamedTuple):
    """One decision, searched."""

    call: int  # the choice
    calls: I64  # [K]  compared, likeliest first
    deals: Deals  # played out
    gains: F64  # [R, K]  of the player's side over the likeliest call
    contracts: int  # evaluated


@takes(Options)
class Bmcs:
    """A policy that searches where another one hesitates."""

    name = "bmcs"
    proposer = "ppo"  # the policy, unless another is given
    opponent_model: str | None = None  # what the other side is taken for, unless another is given; None: ``policy``
    slow = True
    options = Options()

    @checked
    def __init__(
        self,
        policy: str | RolloutPolicy | None = None,
        belief: str | Path | Network | Belief | None = None,
        evaluator: Literal["network", "solver"] | TrickEvaluator = "network",
        name: str | None = None,
        workers: Count = 1,
        opponents: str | RolloutPolicy | None = None,
        **options: Any,
    ) -> None:
        """Args:
        policy: proposes calls, filters deals and plays out; an agent's name, anything with ``probabilities``, or None
            for the agent's own.
        belief: a network, a file of one, or None for the packaged one.
        evaluator: of tricks: the double-dummy network, the exact solver, or an object with ``chances``.
        name: what result tables call it.
        workers: processes of the solver; they change no result.
        opponents: the policy that the other side is taken for, which filters deals by its calls and plays them out;
            None for the agent's own choice: in ``bmcs`` it is ``policy``, the paper's setting.
        options: fields of ``Options``.
        """
        check_options(f"agent {type(self).name!r}", type(self), options)
        self.policy = _rollout_policy(self.proposer if policy is None else policy)
        model = self.opponent_model if opponents is None else opponents
        self.opponents = self.policy if model is None else _rollout_policy(model)
        self.belief = belief if isinstance(belief, Belief) else Belief(belief)
        self.evaluator: TrickEvaluator = evaluator if not isinstance(evaluator, str) else Evaluator()
        if evaluator == "solver":
            self.evaluator = Solver(workers)
        self.options = replace(type(self).options, **options)
        self.name = name or type(self).name

    def __repr__(self) -> str:
        against = "" if self.opponents is self.policy else f" against {self.opponents.name}"
        return f"<{self.name}: {self.policy.name}{against} with a search of {self.options.r_max} deals>"

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The call with the best results, ``[B]``; where only one call is likely, that one."""
        numbers = _keys(rng)
        chances = self.policy.probabilities(views, legal)
        out = np.asarray(chances.argmax(1), np.int64)
        for b in np.flatnonzero(self.hesitates(chances)):
            out[b] = self.search(views[b : b + 1], chances[b], int(numbers[b])).call
        return out

    def hesitates(self, chances: F32) -> Bool:
        """Where ``chances`` ``[B, 38]`` leave more than one call to compare ``[B]``."""
        likely = np.count_nonzero(chances > self.options.min_prob, axis=1)
        return np.asarray(np.minimum(likely, self.options.max_actions) > 1)

    # ---- Algorithm 3 ---------------------------------------------------------------------

    def search(self, view: States, chances: F32, key: int) -> SearchResult:
        """Algorithm 3 at ``view`` ``[1]``, where the policy has ``chances`` ``[38]``; deal ``p`` is of ``(key, p)``."""
        options = self.options
        order = np.argsort(-chances, kind="stable")[: options.max_actions]
        calls = np.asarray(order[(chances[order] > options.min_prob) | (order == order[0])], np.int64)
        prior = options.prior * np.log(np.maximum(chances[calls], 1e-9))
        parts, found, contracts = list[Deals](), list[F64](), 0
        for part in self._parts(view, key) if options.opportunity_cost else (self.deals(view, key),):
            more, cells = self.evaluated(view, part.hands, calls, self.evaluator)
            parts.append(part)
            found.append(more)
            contracts += cells
            deals, gain = joined(parts), np.concatenate(found)
            enough = len(gain) >= LOOK and deals.size > options.r_min
            if enough and deals.opportunity_cost(gain, prior) < options.opportunity_cost:
                break
        best = int((deals.total(gain) + deals.counts.sum() * prior).argmax()) if deals.size > options.r_min else 0
        return SearchResult(int(calls[best]), calls, deals, gain, contracts)

    def deals(self, view: States, key: int) -> Deals:
        """Deals to play out at ``view`` ``[1]``, all of them; deal ``p`` that is sampled is a function of ``(key, p)``.

        Filtering takes the first ``r_max`` that stay, of at most ``p_max``; weighing samples ``r_max`` from ``p_max``.
        """
        return joined([*self._parts(view, key)])

    def _parts(self, view: States, key: int) -> Iterator[Deals]:
        """The same in parts, after each of which a search may end."""
        options = self.options
        belief = (
            self.belief.probabilities(view)[0] if options.deals == "belief" else np.ones((3, NUM_CARDS), np.float32)
        )
        source = SampledDeals(int(view["seat"][0]), int(view["hand"][0]), belief)
        history = before_each_call(view[0])
        order = self._order(view, history, source.sample(Streams.at(key, np.arange(PILOT_DEALS)).keys))
        if options.calls == "weigh":
            yield self._weighed(source, history, order, key)
            return
        kept = sampled = 0
        while kept < options.r_max and sampled < options.p_max:
            missing, rate = options.r_max - kept, (kept + 1) / (sampled + 2)
            wanted = max(LOOK, kept) if options.opportunity_cost else options.r_max
            count = max(wanted, int(1.1 * min(wanted, missing) / rate))
            count = min(count, options.p_max - sampled, 8 * options.r_max)
            streams = Streams.at(key, np.arange(sampled, sampled + count))
            hands = source.sample(streams.keys)
            survivors = self._filter(history, order, hands, streams.random(len(history) - 1), source.seat)
            if len(survivors) >= missing:
                survivors = survivors[:missing]
                count = int(survivors[-1]) + 1  # Algorithm 3 stops here
            yield Deals(hands[survivors], np.ones(len(survivors), np.int64), count)
            kept, sampled = kept + len(survivors), sampled + count

    def _weighed(self, source: SampledDeals, history: States, order: list[int], key: int) -> Deals:
        """Importance sampling: ``r_max`` deals.

        A deal weighs the chance of the calls with it over the chance that it was sampled. Of more than ``followed`` a
        light one stays with a chance of its weight over ``limit`` and weighs ``limit`` then: as much on average.
        """
        options = self.options
        streams = Streams.at(key, np.arange(options.p_max))
        hands = source.sample(streams.keys)
        numbers = streams.random(len(history))
        weights, remaining = -source.log_chances(hands), np.arange(options.p_max)
        for t in order:
            weights += np.log(np.maximum(self._chances(history, t, hands[remaining], source.seat), options.surprise))
            weights -= weights.max()
            if len(remaining) > options.followed:
                limit = np.log(np.exp(weights).sum() / options.followed)
                stay = np.log(numbers[remaining, t]) < weights - limit
                remaining, weights = remaining[stay], np.maximum(weights[stay], limit)
        shares = np.cumsum(np.exp(weights))
        aims = (np.arange(options.r_max) + numbers[0, -1]) / options.r_max * shares[-1]
        rows, counts = np.unique(np.searchsorted(shares, aims, side="right"), return_counts=True)
        return Deals(hands[remaining[rows]], counts, options.p_max)

    def _order(self, view: States, history: States, hands: I64) -> list[int]:
        """Turns whose calls are checked; those first that ``hands`` ``[n, 4]`` explain worst.

        The order does not change what the filter leaves: a deal stays if it passes every call, each with a random
        number of its own.
        """
        own_turn = history["turn"][:-1] == view["seat"][0]
        turns = np.flatnonzero((self.options.calls != "ignore") & (self.options.own_calls | ~own_turn))
        me = int(view["seat"][0])
        return sorted(turns.tolist(), key=lambda t: float(self._chances(history, t, hands, me).mean()))

    def _filter(self, history: States, order: list[int], hands: I64, numbers: F64, me: int) -> I64:
        """Rows of ``hands`` ``[D, 4]`` that survive: each call drops a deal with 1 - the call's chance there.

        ``numbers`` ``[D, length]``, uniform in [0, 1), decide.
        """
        remaining = np.arange(len(hands))
        for t in order:
            if len(remaining):
                remaining = remaining[numbers[remaining, t] < self._chances(history, t, hands[remaining], me)]
        return remaining

    def _chances(self, history: States, t: int, hands: I64, me: int) -> F32:
        """Chance ``[n]`` that call ``t`` is made with each of ``hands`` ``[n, 4]``, as seat ``me`` believes."""
        seat = int(history["turn"][t])
        policy = self.policy if seat % 2 == me % 2 else self.opponents
        views = seen_by(history[t : t + 1], seat, hands[:, seat])
        legal = np.repeat(legal_calls(history[t : t + 1]), len(hands), axis=0)
        return policy.probabilities(views, legal)[:, int(history["calls"][-1, t])]

    # ---- Algorithm 4 ---------------------------------------------------------------------

    def evaluated(self, view: States, hands: I64, calls: I64, evaluator: TrickEvaluator) -> tuple[F64, int]:
        """Gain ``[R, K]`` of each of ``calls`` ``[K]`` over the first on ``hands`` ``[R, 4]``; contracts evaluated."""
        if len(hands) == 0:
            return np.zeros((0, len(calls))), 0
        state = allocate(STATE, 1)
        copy_public_row(view[0], state[0])
        states = np.repeat(state, len(hands) * len(calls))
        states["hands"] = states["held"] = np.repeat(hands, len(calls), axis=0)
        make(states, np.arange(len(states)), np.tile(calls, len(hands)))
        ours = int(view["seat"][0]) % 2 == 0
        play_out(states, *(self.policy, self.opponents) if ours else (self.opponents, self.policy))
        gain, contracts = gains(evaluator, hands, states, int(view["vulnerable"][0]), self.options.reward == "imps")
        return gain if ours else 0 - gain, contracts

    # ---- for people ----------------------------------------------------------------------

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """The search behind one call, for views ``[1]``."""
        chances = self.policy.probabilities(views, legal)
        result = self.search(views, chances[0], int(_keys(rng)[0]))
        me = int(views["seat"][0])
        return Explanation(
            text=_sentence(result, self.options),
            chances=chances_of(chances, legal),
            values=_values(result) if len(result.calls) > 1 else {},
            unit="IMPs" if self.options.reward == "imps" else "points",
            facts=(
                ("deals sampled", f"{result.deals.sampled}"),
                ("of them fit the calls", f"{result.deals.size}"),
                ("contracts evaluated", f"{result.contracts}"),
            ),
            belief=self.belief.by_seat(views) if self.options.deals == "belief" else {},
            belief_source=f"the belief network, from the hand and the calls; {self.name} samples its deals from it",
            samples=tuple(
                {seat: int(deal[seat]) for seat in range(4) if seat != me}
                for deal in result.deals.hands[:EXAMPLE_DEALS]
            ),
        )


class SlBmcs(Bmcs):
    """Search against players of another system, who are taken to bid as the supervised policy does.

    Calls that a policy gradient has nearly given up are looked at too; what the policy thinks of them counts a little.
    The search ends when deals have told enough.
    """

    name = "bmcs-sl"
    opponent_model = "sl"
    options = Options(min_prob=0.001, p_max=4000, opportunity_cost=0.02, prior=0.1)


class RpiBmcs(SlBmcs):
    """The same over the policy of rollout policy iteration, whose logits are values: they count beside the results."""

    name = "rpi-bmcs"
    proposer = "rpi"
    options = Options(p_max=4000, opportunity_cost=0.02, prior=0.2)


class WeightedBmcs(Bmcs):
    """Search on deals that are weighed by the calls, as importance sampling has it, where the paper drops them."""

    name = "bmcs-weighted"
    options = Options(min_prob=0.005, r_max=400, p_max=4000, calls="weigh")


class RlMcs(Bmcs):
    """Search without a belief: deals are sampled uniformly, then filtered by the calls."""

    name = "rl-mcs"
    options = Options(deals="uniform")


def _rollout_policy(policy: str | RolloutPolicy) -> RolloutPolicy:
    """An agent of that name, or ``policy``; ValueError unless it says how likely it makes each call."""
    agent: Any = agents.make(policy) if isinstance(policy, str) else policy
    if not hasattr(agent, "probabilities"):
        raise ValueError(f"bmcs needs a policy with probabilities(views, legal), which {agent.name} has not")
    return cast(RolloutPolicy, agent)


def _keys(rng: Streams) -> I64:
    """A number for each row, from which its search derives everything."""
    return np.asarray(rng.random(1)[:, 0] * 2.0**53, np.int64)


def _values(result: SearchResult) -> Mapping[int, tuple[float, float]]:
    """Mean gain of every call and its standard error over the deals."""
    deals = result.deals
    if deals.size == 0:
        return {}
    estimates = zip(result.calls, deals.mean(result.gains), deals.errors(result.gains))
    return {int(call): (float(mean), float(error)) for call, mean, error in estimates}


def _sentence(result: SearchResult, options: Options) -> str:
    likeliest, chosen = suited(int(result.calls[0])), suited(result.call)
    if len(result.calls) == 1:
        return f"Only {likeliest} is likely: nothing to search."
    size = result.deals.size
    if size <= options.r_min:
        return f"Only {size} deals fit the calls: {likeliest}, the likeliest call, stands."
    prior = ", with what the policy thinks of it" if options.prior else ""
    return f"{chosen} does best on {size} deals that fit the calls{prior}; gains are over {likeliest}."
