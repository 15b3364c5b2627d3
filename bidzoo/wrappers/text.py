"""One board as a conversation: a language model at some seats, policies at the others; for training environments."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bidzoo import agents
from bidzoo.agents.policy import Agent
from bidzoo.core.kernels import F32
from bidzoo.envs.game import Game
from bidzoo.language import AS_USUAL, Seat, action_texts, prompt, read_action
from bidzoo.wrappers.batch import Batch, Seating


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

    def reset(self, board: int = 0, seed: int = 0) -> Asked | None:
        """Deal ``board`` of ``seed``; the first question, None if the board ends before one."""
        self.over = True  # until what is asked for is known to be a board
        self.rewards = np.full(self.game.num_players, np.nan, np.float32)
        self._batch.reset(seed, [board])
        self._seating.seed, self.over, self.illegal = seed, False, 0
        return self._go_on()

    def reply(self, text: str) -> Asked | None:
        """Take the reply to the last question; the next question, None once the board is over.

        Raises:
            ValueError: it is over.
            TypeError: no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"a reply {text!r:.80}: expected a text")
        if self.over:
            raise ValueError("the board is over: call reset()")
        mask = self._batch.buffers.mask[0]
        reading = read_action(self.game, text, mask, self.seat.listed)
        if reading.action is not None:
            self.illegal = 0
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
