"""One board as a conversation: a language model at some seats, policies at the others; for training environments."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.policy import Agent
from bidzoo.core.kernels import F32
from bidzoo.envs.game import Game
from bidzoo.language import AS_USUAL, Seat, action_texts, prompt, read_action
from bidzoo.wrappers.batch import Batch, Seating
from bidzoo.wrappers.offline import check_dealt, checked, is_made, legal_action, start_of


class Asked(NamedTuple):
    """What the model is asked next.

    Questions of one ``conversation`` are of one seat at one table, whose cards are its own. A player has one
    conversation a board, and with ``reward="duplicate"`` of bridge a second one at the second table, where it sits one
    seat further: whoever remembers the first table there has seen the cards of the seat before.
    """

    player: int
    conversation: int  # from 0 within the board
    system: str  # rules and how to answer, the same in every question of a conversation
    question: str  # the situation; after a reply that is not legal, what was wrong with it
    legal: tuple[str, ...]  # actions


ASKED_BY = ("rules", "form", "listed", "tries")  # fields of ``Seat`` that a table follows


class TextTable:
    """A table of ``game`` that is played by text.

    Args:
        game: with the reward to learn from: ``reward="par"`` and ``"duplicate"`` of bridge are IMPs.
        seats: players of the model, as numbers or by the names of their seats (``["South"]``), at the first table if
            there are two.
        others: what ``agents.resolve`` takes, for the other seats; or a dict by seat.
        seat: how the model is asked: ``rules``, ``form``, ``listed``; ``tries`` replies that are not legal end the
            board. Its other fields are for whoever asks the model, who is not here.

    ``rewards`` ``[P]`` are there once the board is over (``over``), and NaN before. Where replies are not legal, or the
    board is forfeited, the seat and its partners get the lowest reward of the game, and the others 0, as in the AEC
    environment.

    Raises:
        ValueError: no seats, a seat without an agent, or a field of ``seat`` that a table does not know.
    """

    def __init__(
        self, game: Game, seats: Sequence[int | str], others: Agent | dict[Any, Agent] = "random", seat: Seat = AS_USUAL
    ) -> None:
        self.game, self.seat = game, seat
        usual = asdict(AS_USUAL)
        if unused := [name for name, value in asdict(seat).items() if value != usual[name] and name not in ASKED_BY]:
            raise ValueError(
                f"seat: {', '.join(unused)}: nothing to a table, expected only {', '.join(ASKED_BY)}; whoever asks the"
                " model sets what else there is"
            )
        if isinstance(seats, str):
            raise TypeError(f"seats {seats!r}: expected a list, such as [{seats!r}]")
        self.seats = tuple(game.player_at(place) for place in seats)
        if not self.seats:
            raise ValueError(
                f"seats: none, expected some of {', '.join(map(game.place_text, range(game.num_players)))}"
            )
        free = [player for player in range(game.num_players) if player not in self.seats]
        by_place = others if isinstance(others, dict) else dict.fromkeys(free, others)
        by_player = {game.player_at(place): agents.resolve(agent, game) for place, agent in by_place.items()}
        for player in free:
            if player not in by_player:
                raise ValueError(f"{game.place_text(player)} has no policy")
        self._seating = Seating([None if p in self.seats else by_player[p] for p in range(game.num_players)])
        self._batch = Batch(game, 1, autoreset=False)
        self.over, self.illegal = True, 0
        self.rewards: F32 = np.full(game.num_players, np.nan, np.float32)

    def __repr__(self) -> str:
        places = ", ".join(map(self.game.place_text, self.seats))
        return f"<a table of {self.game} in words, for {places}>"

    def reset(
        self,
        board: int = 0,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
        actions: Sequence[str] | str = (),
    ) -> Asked | None:
        """Deal ``board`` of ``seed``, or the position that is asked for.

        Args:
            board: its number, from 0.
            seed: of the deals and of the other agents.
            options: as of ``reset`` of the game's environment, for bridge ``deal``, ``dealer``, ``vulnerability``,
                ``tricks`` (without them a ``deal`` is solved where rewards need it, in some 0.2 s), ``board``.
            actions: names of those that were taken before the first question, whoever sits there, in a list or, with
                spaces between them, in a text: ``"1H P 2C"``.

        Returns:
            The first question, None if the board ends before one.

        Raises:
            ValueError: a board, a seed, an option or an action that is none, or one that is not legal.
            TypeError: ``actions`` that are no list and no text.
        """
        self.over = True  # until what is asked for is known to be a board
        self.rewards = np.full(self.game.num_players, np.nan, np.float32)
        fixed = dict(self.game.options(options or {}))
        if board and fixed.get("board", board) != board:
            raise ValueError(f"board {board} and option 'board' {fixed['board']}: give one of them")
        names = re.split(r"[\s,]+", actions.strip()) if isinstance(actions, str) else actions
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"actions {actions!r}: expected a list of names of actions, or a text")
        self._batch.reset(seed, [fixed.pop("board", board)])
        if fixed:
            self.game.fix(self._batch.states, fixed, self._batch.buffers)
            self._batch.show()
        for turn, name in enumerate(names, 1):
            if name:
                self._take(name, f"actions: {turn}: ")
        self._seating.seed, self.illegal = seed, 0
        return self._go_on()

    def _take(self, name: str, where: str) -> None:
        """Take the action of that name; ValueError begins with ``where`` and names the legal ones."""
        legal = action_texts(self.game, self._batch.buffers.mask[0])
        if name not in legal:
            choices = f"legal: {', '.join(legal)}" if legal else "the board is over"
            choices += "; names with a space are given in a list" if any(" " in known for known in legal) else ""
            raise ValueError(f"{where}{name!r} is not legal there; {choices}")
        self._batch.step(np.array([self.game.action_number(name)]))

    def reply(self, text: str) -> Asked | None:
        """Take the reply to the last question; the next question, None once the board is over.

        Raises:
            ValueError: it is over, or was left when another agent had raised an error.
            TypeError: no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"a reply {text!r:.80}: expected a text")
        if self.over:
            raise ValueError("the board is over: call reset()")
        mask = self._batch.buffers.mask[0]
        reading = read_action(self.game, text, mask, self.seat.listed)
        if reading.action is not None:
            self.illegal, self.over = 0, True  # where another agent raises: then it is no longer this seat's turn
            self._batch.step(np.array([reading.action]))
            return self._go_on()
        self.illegal += 1
        if self.illegal < self.seat.tries:
            return self._asked()._replace(question=reading.question)
        self.forfeit()
        return None

    def forfeit(self) -> None:
        """End the board as a reply that is not legal does: for one that reached the limit of its tokens.

        Raises:
            ValueError: it is over.
        """
        if self.over:
            raise ValueError("the board is over: call reset()")
        self.over = True
        self.rewards = np.zeros(self.game.num_players, np.float32)
        self.rewards[list(self.game.allies(int(self._batch.buffers.player[0])))] = self.game.reward_range[0]

    def _go_on(self) -> Asked | None:
        while not self._batch.terminated[0]:
            actions = self._seating.choose(self._batch)
            if actions[0] < 0:
                self.over = False
                return self._asked()
            self._batch.step(actions)
        self.over, self.rewards = True, self._batch.reward[0].copy()
        return None

    def _asked(self) -> Asked:
        view, mask = self._batch.views()[0], self._batch.buffers.mask[0]
        told = prompt(self.game, view, mask, self.seat)
        player = int(self._batch.buffers.player[0])
        table = int(view["leg"]) if "leg" in (view.dtype.names or ()) else 0
        conversation = player + self.game.num_players * table
        return Asked(player, conversation, *told, tuple(action_texts(self.game, mask)))


# ---- what others played, to learn from -----------------------------------------------------------------


class Lesson(NamedTuple):
    """A question of a table and the answer that a recorded player gave."""

    messages: list[dict[str, str]]  # system, user and assistant, as libraries of supervised fine-tuning read them
    agent: str  # who answered
    board: int
    player: int


def lessons(
    game: Game, records: Iterable[Mapping[str, Any]], players: Sequence[str] = (), seat: Seat = AS_USUAL
) -> Iterator[Lesson]:
    """Pairs of prompt and answer for supervised fine-tuning, of every action in ``records``.

    The prompts are those of ``TextTable(game, ..., seat=seat)``, so what learned from them can go on learning there;
    the answer is a line of JSON, as the prompt asks for. An action that is the only legal one is a lesson as well.

    Args:
        game: whose rules the prompts tell, with the reward that the learner will play for. Of a record of bridge it
            may be the auction alone, which leaves the cards out.
        records: of one kind of game, as ``bidzoo.benchmarks.records.read`` gives them.
        players: names of recorded players; default: all.
        seat: how a model is asked.

    Raises:
        ValueError: a record of another game, or with an action that is not legal in ``game`` (names the board); a
            player whom no record has.
    """
    return _lessons(game, checked(records, players), players, seat)


def _lessons(game: Game, records: Sequence[Mapping[str, Any]], players: Sequence[str], seat: Seat) -> Iterator[Lesson]:
    table = TextTable(game, range(game.num_players), seat=seat)
    for record in records:
        start = start_of(game, record)
        if "tricks" not in start.options and "deal" in start.options:
            start.options["tricks"] = [0] * 20  # nobody asks for the rewards, for which the deal would be solved
        asked = table.reset(start.board, start.seed, start.options)
        check_dealt(record, table._batch.states)
        for turn, action in enumerate(start.actions, 1):
            if is_made(game, record, table._batch.states, turn):
                continue
            legal_action(game, action, table._batch.buffers.mask[0], record, turn)
            answer = json.dumps({"action": action}, ensure_ascii=False)
            if asked is not None and (not players or record["players"][asked.player] in players):
                texts = {"system": asked.system, "user": asked.question, "assistant": answer}
                messages = [{"role": role, "content": text} for role, text in texts.items()]
                yield Lesson(messages, record["players"][asked.player], record["board"], asked.player)
            asked = table.reply(answer)
