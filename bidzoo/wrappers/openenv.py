"""A game as an OpenEnv environment: ``server(...)`` is an app for uvicorn; OpenEnv's own client plays by it.

    uvicorn.run(server("bridge_bidding_v0", seats=["South"], others="sayc", reward="par"), port=8000)
    client = openenv.core.GenericEnvClient(base_url="http://localhost:8000").sync()

A session is one table. ``reset(seed=, board=)`` deals, or gives the position of ``options`` and ``actions`` (see
``TextTable.reset``); ``step({"reply": "1NT"})`` replies. The observation has the question of the seat that is asked;
its cards are the seat's own, so the questions of each ``conversation``, as they are numbered, go into one of its own.
The reward comes with the last reply: that of the seat that gave it; ``rewards`` has those of all seats.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State

from bidzoo.agents.policy import Agent
from bidzoo.envs.game import PASSED_OVER, never_asked
from bidzoo.language import AS_USUAL, Seat
from bidzoo.registry import make_game
from bidzoo.wrappers.text import Asked, TextTable


class TableAction(Action):
    """A reply in words."""

    reply: str


class TableObservation(Observation):
    """The next question; empty once the board is over."""

    player: int = -1
    conversation: int = -1  # a number for each hand that is asked about on the board
    system: str = ""
    question: str = ""
    legal: list[str] = []
    rewards: list[float] = []  # [P], at the end


class TableEnvironment(Environment[TableAction, TableObservation, State]):
    """One table; ``reset`` without a board deals the next one."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, table: TextTable) -> None:
        super().__init__()
        self._table, self._board, self._seed, self._state = table, -1, 0, State()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        board: int | None = None,
        options: Mapping[str, Any] | None = None,
        actions: Sequence[str] | str = (),
        **more: Any,
    ) -> TableObservation:
        """Deal ``board`` of ``seed``; boards that end before the model is asked are passed over.

        A position that is asked for by ``options`` or ``actions`` is not: there that is an error.
        """
        deals, before = (self._seed, self._board) if seed is None else (seed, -1)
        number = first = before + 1 if board is None else board
        while (asked := self._table.reset(number, deals, options, actions)) is None:
            if options or actions:
                raise ValueError("the model is asked nothing from this position on")
            number += 1
            if number - first == PASSED_OVER:
                raise never_asked(self._table.game, self._table.seats)
        self._seed, self._board = deals, number  # a request that was refused changes neither
        self._state = State(episode_id=episode_id or f"{self._seed}/{self._board}", step_count=0)
        return self._observed(asked)

    def step(self, action: TableAction, timeout_s: float | None = None, **more: Any) -> TableObservation:
        """Take a reply."""
        asked = self._table.reply(action.reply)
        player = self._player
        self._state.step_count += 1
        if asked is not None:
            return self._observed(asked)
        rewards = [float(reward) for reward in self._table.rewards]
        return TableObservation(done=True, reward=rewards[player], rewards=rewards, player=player)

    @property
    def state(self) -> State:
        """Episode, and replies so far."""
        return self._state

    def _observed(self, asked: Asked) -> TableObservation:
        self._player = asked.player
        return TableObservation(
            player=asked.player,
            conversation=asked.conversation,
            system=asked.system,
            question=asked.question,
            legal=list(asked.legal),
            reward=0.0,
        )


def server(
    env_id: str,
    seats: Sequence[int | str] = (0,),
    others: Agent | dict[Any, Agent] = "random",
    seat: Seat = AS_USUAL,
    sessions: int = 64,
    **options: Any,
) -> Any:
    """A FastAPI app with ``sessions`` tables at most of the game ``env_id`` with its ``options``; see ``TextTable``."""
    game = make_game(env_id, **options)
    TextTable(game, seats, others, seat)  # errors now
    return create_fastapi_app(
        lambda: TableEnvironment(TextTable(game, seats, others, seat)),
        TableAction,
        TableObservation,
        max_concurrent_envs=sessions,
    )
