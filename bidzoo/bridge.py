"""A call for one hand: what an agent would say, from its thirteen cards and the auction alone.

``bidzoo.bridge.call("sayc", "AKQ2.K54.QJ3.A92", dealer="N", vulnerability="both", calls="P P")`` is ``"1C"``. Nobody
else has cards, no deal is solved, and nothing is played.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from re import split
from typing import Any, Literal, overload

import numpy as np

from bidzoo import agents
from bidzoo.agents.explanation import Explanation, explained
from bidzoo.agents.policy import Agent, Policy
from bidzoo.core import plugins
from bidzoo.core.cards import (
    FULL_DECK,
    HAND_SIZE,
    NUM_CALLS,
    SEAT_NAMES,
    call_number,
    call_text,
    hand_text,
    seat_number,
    vulnerability_number,
)
from bidzoo.core.kernels import I8, State, States, allocate
from bidzoo.core.options import is_whole
from bidzoo.core.streams import Streams, checked_seed
from bidzoo.envs.bridge.auction import call_row, legal_row, open_auction_row, over_row, turn_row
from bidzoo.envs.bridge.state import STATE, VIEW, views
from bidzoo.envs.game import legal_actions, read_hand

Hand = str | int | Iterable[str | int]
Calls = str | Iterable[str | int]


@dataclass(frozen=True)
class Answer:
    """A call and what the agent says of it."""

    call: str  # "1NT"
    probabilities: Mapping[str, float]  # of the legal calls, likeliest first; empty if the agent has none
    explanation: Explanation  # the agent's words, values of calls, beliefs; what it leaves out is empty

    def __str__(self) -> str:
        likely = ", ".join(f"{call} {chance:.0%}" for call, chance in self.probabilities.items() if chance >= 0.005)
        return "\n".join(filter(None, (self.call, likely, self.explanation.text)))


@overload
def call(
    policy: Agent,
    hand: Hand,
    dealer: int | str = ...,
    vulnerability: str = ...,
    calls: Calls = ...,
    *,
    seed: int = ...,
    explain: Literal[False] = ...,
) -> str: ...
@overload
def call(
    policy: Agent,
    hand: Hand,
    dealer: int | str = ...,
    vulnerability: str = ...,
    calls: Calls = ...,
    *,
    seed: int = ...,
    explain: Literal[True],
) -> Answer: ...


def call(
    policy: Agent,
    hand: Hand,
    dealer: int | str = "N",
    vulnerability: str = "none",
    calls: Calls = "",
    *,
    seed: int = 0,
    explain: bool = False,
) -> str | Answer:
    """The call that ``policy`` makes with ``hand`` after ``calls``.

    Args:
        policy: an agent's name, or whatever else ``agents.resolve`` takes; an agent made once answers faster.
        hand: thirteen cards: ``"AKQ2.K54.QJ3.A92"`` or with spaces (spades first), ``"♠AKQ2 ♥K54 ♦QJ3 ♣A92"``, bits, or
            cards such as ``["AS", "KS", ...]``.
        dealer: ``"N"``, ``"South"``, 0 ... 3. Who calls now follows from the number of ``calls``.
        vulnerability: ``"none"``, ``"ns"``, ``"ew"``, ``"both"``.
        calls: the auction so far, from the dealer on: ``"1H P 2C X"`` or a list.
        seed: of the random numbers of an agent that samples its calls.
        explain: return an ``Answer``: also its probabilities and its explanation.

    Raises:
        ValueError: not thirteen cards, a call that is not legal in its place, an auction that is over; names it.
        KeyError: no agent of that name.
    """
    player = agents.resolve(policy, "bridge_bidding_v0")
    seat_views, legal = _views_of([(hand, dealer, vulnerability, calls)])
    streams = Streams.at(checked_seed(seed), np.zeros(1, np.int64), seat_views["length"].astype(np.int64))
    if not explain:
        return _chosen_calls(player, seat_views, legal, streams)[0]
    explanation = explained(player, seat_views, legal, streams[:])
    chances = sorted(explanation.chances.items(), key=lambda item: -item[1])
    chosen = _chosen_calls(player, seat_views, legal, streams)[0]
    return Answer(chosen, {call_text(number): chance for number, chance in chances}, explanation)


def call_batch(
    policy: Agent,
    hands: Sequence[Hand],
    dealers: Sequence[int | str] | int | str = "N",
    vulnerabilities: Sequence[str] | str = "none",
    calls: Sequence[Calls] | str = "",
    *,
    seed: int = 0,
) -> list[str]:
    """``call`` for ``n`` hands in one batch; each answer is the same as alone.

    ``dealers``, ``vulnerabilities`` and ``calls`` are one for all or lists of ``n``.

    Raises:
        ValueError: as ``call``, with the number of the hand, from 0; lists of different lengths.
    """
    if isinstance(hands, str) or not isinstance(hands, Collection):
        raise TypeError(f"hands {hands!r}: expected a list of hands; call() takes one hand")
    count = len(hands)
    columns = [
        _column(name, value, count)
        for name, value in (("dealers", dealers), ("vulnerabilities", vulnerabilities), ("calls", calls))
    ]
    if not count:
        return []
    seat_views, legal = _views_of(list(zip(hands, *columns)), numbered=True)
    streams = Streams.at(checked_seed(seed), np.zeros(count, np.int64), seat_views["length"].astype(np.int64))
    return _chosen_calls(agents.resolve(policy, "bridge_bidding_v0"), seat_views, legal, streams)


def _column(name: str, value: Any, count: int) -> Sequence[Any]:
    if isinstance(value, str) or is_whole(value):
        return [value] * count
    if not isinstance(value, Collection):
        raise TypeError(f"{name} {value!r}: expected one for all hands, or a list of {count}")
    if len(value) != count:
        raise ValueError(f"{len(value)} {name} for {count} hands")
    return list(value)


def _chosen_calls(policy: Policy, seat_views: States, legal: I8, streams: Streams) -> list[str]:
    with plugins.outside(lambda: f"agent {policy.name!r}"):
        actions = policy.act(seat_views, legal.copy(), streams)
    return [call_text(int(call)) for call in legal_actions(policy.name, actions, legal, np.arange(len(legal)))]


# ---- from words to views -------------------------------------------------------------------


def _views_of(situations: Sequence[tuple[Hand, int | str, str, Calls]], numbered: bool = False) -> tuple[States, I8]:
    """Views ``[n]`` and legal calls ``[n, 38]`` of the seats to call."""
    states, seat_views = allocate(STATE, len(situations)), allocate(VIEW, len(situations))
    legal = np.zeros((len(situations), NUM_CALLS), np.int8)
    for row, (hand, dealer, vulnerability, calls) in enumerate(situations):
        try:
            states["tricks"][row] = -1
            open_auction_row(states[row], seat_number(dealer), vulnerability_number(vulnerability))
            _make_calls(states[row], _call_words(calls), legal[row])
            bits = _full_hand(hand)
        except (ValueError, TypeError) as problem:
            raise ValueError(f"hand {row}: {problem}" if numbered else str(problem)) from problem
        states["hands"][row] = states["held"][row] = np.where(np.arange(4) == states["turn"][row], bits, 0)
    views(states, states["turn"].astype(np.int64), seat_views)
    return seat_views, legal


def _full_hand(hand: Hand) -> int:
    bits = read_hand(hand)
    if not 0 <= bits <= FULL_DECK:
        raise ValueError(f"{bits} is not a hand (it has bits beyond the 52 cards)")
    if bits.bit_count() != HAND_SIZE:
        raise ValueError(f"hand {hand_text(bits)}: {bits.bit_count()} cards, expected {HAND_SIZE}")
    return bits


def _call_words(calls: Calls) -> list[str]:
    if isinstance(calls, str):
        return [word for word in split(r"[\s,]+|(?<=\w)-(?=\w)", calls) if word]  # "-" alone is no call
    if not isinstance(calls, Iterable):
        raise TypeError(f"calls {calls!r}: expected a text such as '1H P 2C', or a list of calls")
    return [call_text(int(word)) if is_whole(word) else str(word) for word in calls]


def _make_calls(state: State, words: Sequence[str], legal: I8) -> None:
    """Make the calls of ``words``; leave in ``legal`` ``[38]`` what may follow."""
    for turn, word in enumerate(words, 1):
        where = f"call {turn}, {word} by {SEAT_NAMES[turn_row(state)]}"
        if over_row(state):
            raise ValueError(f"{where}: the auction {' '.join(words[: turn - 1])} is over")
        legal_row(state, legal)
        try:
            number = call_number(word)
        except ValueError as problem:
            raise ValueError(f"{where}: {problem}") from problem
        if not legal[number]:
            before = " ".join(words[: turn - 1])
            raise ValueError(f"{where}: not legal {f'after {before}' if before else 'as the first call'}")
        call_row(state, number)
    if over_row(state):
        raise ValueError(f"the auction {' '.join(words)} is over: nobody has to call")
    legal_row(state, legal)
