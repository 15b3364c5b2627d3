"""``bmcs``: belief Monte Carlo search at the table. Qiu et al. 2024, section V and appendix D, Algorithms 3 and 4.

Where the policy hesitates between calls, deals are drawn from what the belief network makes of the auction, those in
which the other players would hardly have called as they did are dropped, and each call is made and played out by the
policy on the deals that remain. The call with the highest sum of results is made.

``bmcs``    as in the paper
``rl-mcs``  deals drawn uniformly (Table IV), as in the PI-Search of Lockhart et al. 2020

All deals of a step are drawn, filtered and played out in one batch; results are compared only where calls lead to
different contracts, by the solver or by the double-dummy network (``evaluator.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from bidzoo import agents
from bidzoo.agents.bridge.belief import WHO, Belief
from bidzoo.agents.bridge.imagine import Imagined
from bidzoo.agents.bridge.outcomes import Judge, Solver, gains
from bidzoo.agents.bridge.rollout import before_each_call, make_calls, play_out, seen_by, table_of
from bidzoo.agents.bridge.selfplay import legal_calls
from bidzoo.agents.thoughts import Thoughts, chances_of
from bidzoo.cards import NUM_CARDS
from bidzoo.envs.bridge.wording import suited
from bidzoo.kernels import F32, F64, I8, I64, Bool, Tables
from bidzoo.streams import Streams

TRIED = 16  # deals that tell which calls to ask about first
SHOWN = 3  # deals in ``thoughts``


class Guide(Protocol):
    """A policy that says how likely it makes each call: any network of this package."""

    name: str

    def probabilities(self, views: Tables, legal: I8) -> F32:
        """Chance of every call ``[B, 38]``."""
        ...


@dataclass(frozen=True)
class Settings:
    """Of the search, by the names of Algorithm 3."""

    top_k: int = 5  # calls compared
    p_min: float = 0.02  # least chance of such a call
    r_min: int = 5  # deals played out, more than which decide; with fewer the likeliest call stands
    r_max: int = 200  # deals played out
    p_max: int = 2000  # deals drawn
    deals: Literal["belief", "uniform"] = "belief"
    read_calls: bool = True  # drop deals by the chance of the calls made
    own_calls: bool = False  # also of one's own: drops more, but the same deals remain likely (the cards are the same)
    reward: Literal["imps", "points"] = "imps"  # IMPs over the likeliest call's result, or duplicate points

    def __post_init__(self) -> None:
        for name, least in (("top_k", 1), ("r_min", 0), ("r_max", 1), ("p_max", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} {getattr(self, name)}: expected {least} or more")
        if not 0 <= self.p_min <= 1:
            raise ValueError(f"p_min {self.p_min}: expected 0 ... 1")
        for name, choices in (("deals", ("belief", "uniform")), ("reward", ("imps", "points"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} {getattr(self, name)!r}; choose from {', '.join(choices)}")


class Search(NamedTuple):
    """One decision, searched."""

    call: int  # the choice
    calls: I64  # [K]  compared, likeliest first
    drawn: int  # deals
    hands: I64  # [R, 4]  those played out
    gains: F64  # [R, K]  of the player's side over the likeliest call
    judged: int  # contracts


class Bmcs:
    """A policy that searches where another one hesitates."""

    name = "bmcs"
    slow = True
    settings = Settings()

    def __init__(
        self,
        policy: str | Guide = "ppo",
        belief: str | Belief | None = None,
        judge: Literal["network", "solver"] | Judge = "network",
        name: str | None = None,
        workers: int = 1,
        **settings: Any,
    ) -> None:
        """Args:
        policy: proposes calls, filters deals and plays out; an agent's name, or anything with ``probabilities``.
        belief: a network, a file of one, or None for the packaged one.
        judge: who says how many tricks are made: the double-dummy network, the exact solver, or one's own.
        name: what result tables call it.
        workers: processes of the solver; they change no result.
        settings: fields of ``Settings``.
        """
        guide: Any = agents.make(policy) if isinstance(policy, str) else policy
        if not hasattr(guide, "probabilities"):
            raise ValueError(f"bmcs needs a policy with probabilities(views, legal), which {guide.name} has not")
        self.policy: Guide = guide
        self.belief = belief if isinstance(belief, Belief) else Belief(belief)
        self.judge = _judge(judge, workers)
        self.settings = replace(type(self).settings, **settings)
        self.name = name or type(self).name

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """The call with the best results, ``[B]``; where only one call is likely, that one."""
        numbers = _keys(rng)
        chances = self.policy.probabilities(views, legal)
        out = np.asarray(chances.argmax(1), np.int64)
        for b in np.flatnonzero(self.hesitates(chances)):
            out[b] = self.search(views[b : b + 1], chances[b], int(numbers[b])).call
        return out

    def hesitates(self, chances: F32) -> Bool:
        """Where ``chances`` ``[B, 38]`` leave more than one call to compare ``[B]``."""
        likely = np.count_nonzero(chances > self.settings.p_min, axis=1)
        return np.asarray(np.minimum(likely, self.settings.top_k) > 1)

    # ---- Algorithm 3 ---------------------------------------------------------------------

    def search(self, view: Tables, chances: F32, key: int) -> Search:
        """Algorithm 3 for one decision.

        Args:
            view: ``[1]``.
            chances: ``[38]`` of the policy at ``view``.
            key: of the random numbers; deal ``p`` is a function of ``(key, p)``.
        """
        options = self.settings
        order = np.argsort(-chances, kind="stable")[: options.top_k]
        calls = np.asarray(order[(chances[order] > options.p_min) | (order == order[0])], np.int64)
        hands, drawn = self._deals(view, key)
        found, judged = self.judged(view, hands, calls, self.judge)
        best = int(found.sum(0).argmax()) if len(hands) > options.r_min else 0
        return Search(int(calls[best]), calls, drawn, hands, found, judged)

    def _deals(self, view: Tables, key: int) -> tuple[I64, int]:
        """The first ``r_max`` of at most ``p_max`` deals that pass the filter ``[R, 4]``, and how many were drawn."""
        options = self.settings
        belief = (
            self.belief.probabilities(view)[0] if options.deals == "belief" else np.ones((3, NUM_CARDS), np.float32)
        )
        imagined = Imagined(int(view["seat"][0]), int(view["hand"][0]), belief)
        before = before_each_call(view[0])
        order = self._order(view, before, imagined.draw(Streams.at(key, np.arange(TRIED)).keys))
        found: list[I64] = []
        kept = drawn = 0
        while kept < options.r_max and drawn < options.p_max:
            missing, rate = options.r_max - kept, (kept + 1) / (drawn + 2)
            count = min(options.p_max - drawn, max(options.r_max, int(1.1 * missing / rate)), 8 * options.r_max)
            streams = Streams.at(key, np.arange(drawn, drawn + count))
            hands = imagined.draw(streams.keys)
            passed = self._filter(before, order, hands, streams.random(len(before) - 1))
            if len(passed) >= missing:
                passed = passed[:missing]
                count = int(passed[-1]) + 1  # Algorithm 3 stops here
            found.append(hands[passed])
            kept, drawn = kept + len(passed), drawn + count
        return np.concatenate(found), drawn

    def _order(self, view: Tables, before: Tables, hands: I64) -> list[int]:
        """Turns whose calls the filter asks about; those first that ``hands`` ``[n, 4]`` explain worst.

        The order changes no result: a deal stays if it passes every call, each by a random number of its own.
        """
        mine = before["turn"][:-1] == view["seat"][0]
        asked = np.flatnonzero(self.settings.read_calls & (self.settings.own_calls | ~mine))
        return sorted(asked.tolist(), key=lambda t: float(self._chances(before, t, hands).mean()))

    def _filter(self, before: Tables, order: list[int], hands: I64, numbers: F64) -> I64:
        """Rows of ``hands`` ``[D, 4]`` that survive: each call made drops a deal with 1 - its chance there.

        ``numbers`` ``[D, length]``, uniform in [0, 1), decide.
        """
        left = np.arange(len(hands))
        for t in order:
            if len(left):
                left = left[numbers[left, t] < self._chances(before, t, hands[left])]
        return left

    def _chances(self, before: Tables, t: int, hands: I64) -> F32:
        """Chance ``[n]`` that call ``t`` is made with each of ``hands`` ``[n, 4]``."""
        seat = int(before["turn"][t])
        views = seen_by(before[t : t + 1], seat, hands[:, seat])
        legal = np.repeat(legal_calls(before[t : t + 1]), len(hands), axis=0)
        return self.policy.probabilities(views, legal)[:, int(before["calls"][-1, t])]

    # ---- Algorithm 4 ---------------------------------------------------------------------

    def judged(self, view: Tables, hands: I64, calls: I64, judge: Judge) -> tuple[F64, int]:
        """Gain ``[R, K]`` of each of ``calls`` ``[K]`` over the first on ``hands`` ``[R, 4]``; contracts judged."""
        if len(hands) == 0:
            return np.zeros((0, len(calls))), 0
        tables = np.repeat(table_of(view[0]), len(hands) * len(calls))
        tables["hands"] = tables["held"] = np.repeat(hands, len(calls), axis=0)
        make_calls(tables, np.tile(calls, len(hands)))
        play_out(tables, self.policy)
        found, judged = gains(judge, hands, tables, int(view["vulnerable"][0]), self.settings.reward == "imps")
        return found if int(view["seat"][0]) % 2 == 0 else 0 - found, judged

    # ---- for people ----------------------------------------------------------------------

    def thoughts(self, views: Tables, legal: I8, rng: Streams) -> Thoughts:
        """The search behind one call, for views ``[1]``: see ``agents/thoughts.py``."""
        chances = self.policy.probabilities(views, legal)
        found = self.search(views, chances[0], int(_keys(rng)[0]))
        me, seats = int(views["seat"][0]), [(int(views["seat"][0]) + who) % 4 for who in WHO]
        belief = {}
        if self.settings.deals == "belief":
            belief = dict(zip(seats, np.asarray(self.belief.probabilities(views)[0], np.float64)))
        return Thoughts(
            text=_sentence(found, self.settings),
            chances=chances_of(chances, legal),
            values=_values(found) if len(found.calls) > 1 else {},
            unit="IMPs" if self.settings.reward == "imps" else "points",
            facts=(
                ("deals drawn", f"{found.drawn}"),
                ("of them fit the calls", f"{len(found.hands)}"),
                ("contracts judged", f"{found.judged}"),
            ),
            belief=belief,
            belief_source=f"the belief network, from the hand and the calls; {self.name} draws its deals from it",
            samples=tuple({seat: int(deal[seat]) for seat in range(4) if seat != me} for deal in found.hands[:SHOWN]),
        )


class RlMcs(Bmcs):
    """Search without a belief: deals are drawn uniformly, then filtered by the calls."""

    name = "rl-mcs"
    settings = Settings(deals="uniform")


def _judge(judge: str | Judge, workers: int) -> Judge:
    if not isinstance(judge, str):
        return judge
    if judge == "solver":
        return Solver(workers)
    if judge == "network":
        from bidzoo.agents.bridge.evaluator import Evaluator

        return Evaluator()
    raise ValueError(f"judge {judge!r}; choose from network, solver, or give an object with chances()")


def _keys(rng: Streams) -> I64:
    """A number for each row, which its search draws everything from."""
    return np.asarray(rng.random(1)[:, 0] * 2.0**53, np.int64)


def _values(found: Search) -> Mapping[int, tuple[float, float]]:
    """Mean gain of every call and its standard error over the deals."""
    count = len(found.hands)
    if count == 0:
        return {}
    error = found.gains.std(0) / np.sqrt(max(1, count - 1))
    return {int(call): (float(m), float(e)) for call, m, e in zip(found.calls, found.gains.mean(0), error)}


def _sentence(found: Search, settings: Settings) -> str:
    likeliest, chosen = suited(int(found.calls[0])), suited(found.call)
    if len(found.calls) == 1:
        return f"Only {likeliest} is likely: nothing to search."
    if len(found.hands) <= settings.r_min:
        return f"Only {len(found.hands)} deals fit the calls: {likeliest}, the likeliest call, stands."
    return f"{chosen} does best on {len(found.hands)} deals that fit the calls; gains are over {likeliest}."
