"""An agent that asks a language model, and what its ledger keeps."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from itertools import chain, cycle
from typing import Any, Literal, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.policy import Uniform
from bidzoo.core.kernels import I8, I64, State, States
from bidzoo.core.options import whole
from bidzoo.core.schema import shortened
from bidzoo.core.storage import Ledger
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Game
from bidzoo.language.questions import AS_USUAL, Seat, action_texts, goes_on, prompt, told_options
from bidzoo.language.replies import Reading, Reply, known_action, read_action, sound_reply

MOST_TABLES = 64  # of one board number, whose conversations are remembered
_ADDING = threading.Lock()  # to a ledger, which several agents may share


Complete = Callable[..., Reply | str]  # of chat messages


class _Question(NamedTuple):
    model: str
    seat: str  # the fields of ``Seat`` as JSON
    game: str  # with its options
    messages: tuple[str, ...]  # rules first, then by turns what was asked and answered, the question last
    seed: int  # of a sampled reply


class Question(_Question):
    """A decision as a job of the ledger; ValueError unless the last of its messages is a question after the rules."""

    __slots__ = ()

    def __new__(cls, *values: Any, **fields: Any) -> Question:
        question = super().__new__(cls, *values, **fields)
        if len(question.messages) < 2 or len(question.messages) % 2:
            raise ValueError(f"messages: {len(question.messages)}, expected rules, then asked and answered by turns")
        return question


class _Decision(NamedTuple):
    replies: tuple[str, ...]
    problems: tuple[str, ...]  # "" for a legal action
    asked_tokens: tuple[int | None, ...]
    reply_tokens: tuple[int | None, ...]
    action: str  # "" where no reply named a legal one: the fallback acts


class Decision(_Decision):
    """Every reply to a question, with what was wrong with it and its tokens, and the action in the end.

    ValueError unless these are of the same number, and there is an action where nothing is wrong with the last reply.
    """

    __slots__ = ()

    def __new__(cls, *values: Any, **fields: Any) -> Decision:
        decision = super().__new__(cls, *values, **fields)
        lengths = {name: len(getattr(decision, name)) for name in cls._fields[:4]}
        if len({*lengths.values()}) > 1 or not decision.replies:
            told = ", ".join(f"{length} {name}" for name, length in lengths.items())
            raise ValueError(f"{told}: expected as many of each, at least one")
        if bool(decision.action) == bool(decision.problems[-1]):
            raise ValueError(f"action {decision.action!r} after {decision.problems[-1]!r}, expected one of the two")
        return decision


class LanguageAgent:
    """A language model as a policy.

    Args:
        game: which it plays.
        complete: ``complete(messages) -> Reply | str`` for chat messages ``[{"role": ..., "content": ...}]``; with
            ``seat.constrained`` it is also given ``choices=`` (names of the legal actions), with ``seat.sampled``
            ``seed=``. None answers from the ledger alone.
        name: shown in results and kept in the ledger.
        seat: how it is asked.
        ledger: an open ``Ledger`` of ``Question`` and ``Decision``; default: one in memory.
        at_once: questions under way at a time, in threads.
        scoring: what the match counts, where this is not the reward of ``game``: ``IMPS`` of a duplicate match.

    The model is asked once for each distinct question; with ``seat.sampled`` a question has a seed that follows from
    the policy seed, board and turn. So the answers depend on nothing but the ledger, and a match can be replayed.

    Raises:
        TypeError, ValueError: a ``game``, ``complete`` or ``at_once`` that is none.
        ValueError: when it acts: the ledger has no answer and there is no ``complete``, or an action that is not legal.
    """

    paid = True  # nobody asks it on trial

    def __init__(
        self,
        game: Game,
        complete: Complete | None,
        name: str = "language",
        seat: Seat = AS_USUAL,
        ledger: Ledger[Question, Decision] | None = None,
        at_once: int = 8,
        scoring: str = "",
    ) -> None:
        if not isinstance(game, Game):
            raise TypeError(f"game {game!r}: expected a game, such as bidzoo.make_game('bridge_bidding_v0')")
        if complete is not None and not callable(complete):
            raise TypeError(f"complete {complete!r}: expected a function of chat messages, or None for a ledger alone")
        at_once = whole("at_once", at_once, 1, 10_000)
        self.scoring = scoring
        self.game, self.complete, self.name, self.seat, self.at_once = game, complete, name, seat, at_once
        self.model = name
        self.ledger = Ledger(None, Question, Decision) if ledger is None else ledger
        self.usage = Usage()
        self._fallback = agents.resolve(seat.fallback, game) if seat.fallback else None
        self._about = json.dumps(asdict(seat)), str(game)
        self._memory: dict[tuple[Any, ...], list[_Conversation]] = {}  # by board and seat, of one table or several
        self._under_way: dict[Question, Future[Decision]] = {}

    def __repr__(self) -> str:
        return f"<{self.name}: a language model, for {self.game}>"

    def __copy__(self) -> LanguageAgent:
        same = object.__new__(LanguageAgent)
        same.__dict__.update(self.__dict__)
        return same

    def __deepcopy__(self, known: dict[int, Any]) -> LanguageAgent:
        return self  # a copy of a table has the same player

    def check_rules(self, game: Game) -> None:
        """ValueError if the rules of ``game``, of the same id and sizes, are not those that the model is told."""
        ours, theirs = told_options(self.game), told_options(game)
        if differing := [name for name in ours if name != "reward" and ours[name] != theirs.get(name, ours[name])]:
            made = ", ".join(f"{name}={ours[name]}" for name in differing)
            raise ValueError(
                f"agent {self.name!r} was made for {game.id} with {made}, and is seated in one with"
                f" {', '.join(f'{name}={theirs[name]}' for name in differing)}: it would be told other rules"
            )

    def __reduce__(self) -> Any:
        raise ValueError(f"{self.name}: a language model plays in one process; leave out --workers")

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``: the model's, or the fallback's where it named no legal one."""
        known = [self._conversation(view) if self.seat.memory else None for view in views]
        questions = [self._question(views[b], legal[b], int(rng.keys[b]), known[b]) for b in range(len(views))]
        rows = {question: b for b, question in reversed(list(enumerate(questions)))}
        with ThreadPoolExecutor(self.at_once) as pool:
            decisions = dict(zip(rows, pool.map(lambda question: self._decide(question, legal[rows[question]]), rows)))
        actions = np.empty(len(views), np.int64)
        for b, question in enumerate(questions):
            decision, row = decisions[question], slice(b, b + 1)
            self.usage.count(question, decision)
            if not decision.action:
                actions[b] = self._falls_back(views[row], legal[row], rng[row])
            elif (action := known_action(self.game, decision.action)) is None or not legal[b, action]:
                raise ValueError(f"{self.ledger.where(question)}: action {decision.action!r}, expected a legal one")
            else:
                actions[b] = action
            if self.seat.memory:
                answer = decision.replies[-1] if decision.action else self.game.action_text(int(actions[b]))
                self._remember(views[b], (*question.messages[1:], answer), known[b])
        return actions

    def _question(self, view: State, legal: I8, key: int, known: _Conversation | None) -> Question:
        system, question = prompt(self.game, view, legal, self.seat, self.scoring)
        seed = key % 2**31 if self.seat.sampled else 0
        return Question(self.model, *self._about, (system, *(known.texts if known else ()), question), seed)

    def _conversation(self, view: State) -> _Conversation | None:
        """The latest one that the decision of ``view`` goes on with."""
        now = self._clock(view)
        for known in reversed(self._memory.get(_place(view), ())):
            if self._clock(known.view) < now and goes_on(known.view, view):
                return known
        return None

    def _remember(self, view: State, texts: tuple[str, ...], before: _Conversation | None) -> None:
        """Keep a conversation in the place of the one that it goes on with."""
        conversations = self._memory.setdefault(_place(view), [])
        conversations[:] = [known for known in conversations if known is not before][1 - MOST_TABLES :]
        conversations.append(_Conversation(view.copy(), texts))

    def _clock(self, view: State) -> int:
        return int(self.game.clock(np.atleast_1d(view))[0])

    def _decide(self, question: Question, legal: I8) -> Decision:
        """The answer of the ledger, or of the model, which hears a question once though several threads have it."""
        with _ADDING:
            if question in self.ledger.done:
                return self.ledger.done[question]
            first = question not in self._under_way
            under_way = self._under_way.setdefault(question, Future())
        if not first:
            return under_way.result()
        try:
            under_way.set_result(self._ask(question, legal))
        except BaseException as problem:
            under_way.set_exception(problem)
        finally:
            del self._under_way[question]
        return under_way.result()

    def _ask(self, question: Question, legal: I8) -> Decision:
        if self.complete is None:
            raise ValueError(f"{self.ledger.path}: no answer of {self.name} to: {shortened(question.messages[-1])}")
        more: dict[str, Any] = {"seed": question.seed} if self.seat.sampled else {}
        more |= {"choices": action_texts(self.game, legal)} if self.seat.constrained else {}
        roles = chain(["system"], cycle(["user", "assistant"]))
        messages = [{"role": role, "content": text} for role, text in zip(roles, question.messages)]
        replies: list[Reply] = []
        problems: list[str] = []
        reading = Reading(None)
        while reading.action is None and len(replies) < self.seat.tries:
            replies.append(sound_reply(self.complete(list(messages), **more), self.name))
            reading = read_action(self.game, replies[-1].text, legal, self.seat.listed)
            problems.append(reading.problem)
            messages += [
                {"role": "assistant", "content": replies[-1].text},
                {"role": "user", "content": reading.question},
            ]
        texts, asked_tokens, reply_tokens = zip(*replies)
        action = "" if reading.action is None else self.game.action_text(reading.action)
        decision = Decision(texts, tuple(problems), asked_tokens, reply_tokens, action)
        with _ADDING:
            if question not in self.ledger.done:  # another agent may share the ledger
                self.ledger.add(question, decision)
            return self.ledger.done[question]

    def _falls_back(self, view: States, legal: I8, rng: Streams) -> Any:
        if self._fallback is not None:
            return self._fallback.act(view, legal, rng)[0]
        passes = "P" in action_texts(self.game, legal[0])
        return self.game.action_number("P") if passes else Uniform().act(view, legal, rng)[0]


class _Conversation(NamedTuple):
    """What was asked and answered at a seat of an episode."""

    view: State  # at the last question
    texts: tuple[str, ...]


def _place(view: State) -> tuple[Any, ...]:
    """Board and seat of a view, and the table of a duplicate pair."""
    return tuple(int(view[name]) for name in ("board", "leg", "seat", "player") if name in (view.dtype.names or ()))


class Usage:
    """What a match asked of a model, counted over its distinct questions; decisions and fallbacks over all tables."""

    def __init__(self) -> None:
        self.decisions, self.fallbacks = 0, 0
        self._asked: dict[Question, Decision] = {}

    def count(self, question: Question, decision: Decision) -> None:
        """One more decision."""
        self.decisions += 1
        self.fallbacks += not decision.action
        self._asked[question] = decision

    def _each(self, field: str) -> list[Any]:
        return [value for decision in self._asked.values() for value in getattr(decision, field)]

    @property
    def replies(self) -> int:
        """Replies of the model."""
        return len(self._each("replies"))

    @property
    def illegal(self) -> int:
        """Those that named no legal action, or several."""
        return sum(map(bool, self._each("problems")))

    @property
    def usual_problem(self) -> str:
        """What was most often wrong with a reply; "" if nothing ever was."""
        problems = Counter(problem for problem in self._each("problems") if problem)
        return problems.most_common(1)[0][0] if problems else ""

    def tokens(self, field: Literal["asked_tokens", "reply_tokens"]) -> float:
        """Mean tokens a question or a reply has, over those where the server said so; NaN if it never did."""
        counts = [n for n in self._each(field) if n is not None]
        return sum(counts) / len(counts) if counts else float("nan")

    def __str__(self) -> str:
        share = self.illegal / max(1, self.replies)
        tokens = [self.tokens("asked_tokens"), self.tokens("reply_tokens")]
        asked, replied = (f"{mean:.0f}" if math.isfinite(mean) else "unknown" for mean in tokens)
        return (
            f"{self.decisions:,} decisions by {self.replies:,} replies to {len(self._asked):,} questions,"
            f" {self.illegal:,} replies not legal ({share:.1%}), {self.fallbacks:,} decisions by the fallback,"
            f" {asked} + {replied} tokens a reply"
        )
