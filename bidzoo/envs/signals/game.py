"""What the four small games share as a ``Game``: everything but sizes, names and words."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bidzoo.envs.game import Buffers, Encoder, Game, choose_encoder, refuse_typos
from bidzoo.envs.picture import Picture
from bidzoo.envs.signals import engine
from bidzoo.envs.signals.rules import payoff_row
from bidzoo.envs.signals.state import OVER, STATE, VIEW
from bidzoo.kernels import I8, I64, U64, Bool, Table, Tables
from bidzoo.layout import Field, Layout

EVERYWHERE: Bool = np.empty(0, np.bool_)


def whole(name: str, value: Any, low: int, high: int) -> int:
    """``value`` as an int; ValueError that names the option unless it is a whole number in ``[low, high]``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return int(value)


class SignalGame(Game):
    """Two partners, ``player_0`` and ``player_1``, with one private type each, public actions and one reward.

    ``player_0`` acts first. A game gives its sizes to ``__init__`` and its words to the text methods.
    """

    num_players = 2
    utility: Literal["zero_sum", "identical"] = "identical"
    state, view = STATE, VIEW
    type_word: str  # what a type is called: "hearts"

    def __init__(
        self,
        code: int,  # COMM, SIMPLE_BIDDING, MINIBRIDGE or MINI_HANABI
        size: int,
        arguments: str,  # "size=4", as in ``str(game)``
        num_actions: int,
        max_turns: int,
        reward_range: tuple[float, float],
        observation: str | None,  # name of an encoder, or None for the first
    ) -> None:
        self.code, self.size, self.arguments = code, size, arguments
        self.num_actions, self.max_turns, self.reward_range = num_actions, max_turns, reward_range
        self.num_types = (engine.types_row(code, size, 0), engine.types_row(code, size, 1))
        most = max(self.num_types)
        layout = Layout(
            (
                Field("player", 2, "who we are: player_0 or player_1", ("player_0", "player_1")),
                Field("type", most, f"our {self.type_word}", tuple(str(x) for x in range(most))),
                *self.history_fields("ours", "partner's"),
            )
        )
        self.encoders = {"history": Encoder("history", layout, self._encode, layout.describe)}
        self.encoder = choose_encoder(self.encoders, observation)

    @abstractmethod
    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        """What an encoder writes after player and type; the words name a viewer's actions and the other player's."""

    @cached_property
    def state_encoder(self) -> Encoder:
        players = ("player_0", "player_1")
        layout = Layout(
            (
                Field("turn", 2, "who acts next; all 0 at the end", players),
                *(
                    Field(f"type {p}", many, f"the {self.type_word} of player_{p}", tuple(str(x) for x in range(many)))
                    for p, many in enumerate(self.num_types)
                    if many > 1
                ),
                *self.history_fields(*players),
            )
        )
        return Encoder("state", layout, self._encode_state, layout.describe)

    def __str__(self) -> str:
        return f"{self.id}({self.arguments})"

    # ---- kernels ----------------------------------------------------------------------------

    def begin(self, tables: Tables, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        where = EVERYWHERE if rows is None else rows
        engine.begin(tables, boards, seed, self.code, self.size, max(self.num_types), where, *out)

    def step(self, tables: Tables, actions: I64, seed: int, out: Buffers, stride: int) -> None:
        engine.step(tables, actions, seed, stride, max(self.num_types), *out)

    def step_one(self, tables: Tables, action: int, out: Buffers) -> None:
        engine.step_one(tables, action, max(self.num_types), *out)

    def observe(self, tables: Tables, b: int, player: int, out: I8) -> None:
        engine.observe(tables, b, player, max(self.num_types), out)

    def views(self, tables: Tables, players: I64, out: Tables) -> None:
        engine.views(tables, players, out)

    def determinize(self, views: Tables, keys: U64, out: Tables) -> None:
        engine.determinize(views, keys, out)

    def _encode(self, views: Tables, out: I8) -> None:
        engine.encode(views, max(self.num_types), out)

    def _encode_state(self, tables: Tables, out: I8) -> None:
        types, others = self.num_types
        engine.encode_state(tables, types, others if others > 1 else 0, out)

    # ---- reset options ------------------------------------------------------------------------

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``types``: the two types; ``board``: the board to deal."""
        refuse_typos(options, ("board", "types"))
        checked: dict[str, Any] = {}
        if "types" in options:
            types = options["types"]
            if isinstance(types, str) or not isinstance(types, Sequence | np.ndarray) or len(types) != 2:
                raise ValueError(f"option 'types' must be two numbers, one a player, got {types!r}")
            checked["types"] = tuple(whole(f"type of player_{p}", types[p], 0, self.num_types[p] - 1) for p in range(2))
        if "board" in options:
            checked["board"] = whole("option 'board'", options["board"], 0, 2**63 - 1)
        return checked

    def fix(self, tables: Tables, options: Mapping[str, Any], out: Buffers) -> None:
        if "types" in options:
            tables["types"][0] = options["types"]
            engine.show(tables, max(self.num_types), out.player, out.observation, out.mask)

    # ---- words ----------------------------------------------------------------------------------

    @abstractmethod
    def action_text(self, action: int) -> str:
        """An action as players write it."""

    @abstractmethod
    def result_text(self, table: Table, reward: float) -> str:
        """How a finished table came out, without the reward."""

    def mover(self, turn: int) -> int:
        """Player who acts at ``turn``."""
        return turn % 2

    def private_text(self, view: Table) -> str:
        return f"{self.type_word} {int(view['type'])}"

    def history_text(self, table: Table) -> str:
        """The actions so far, ``"1H 1S P"``."""
        return " ".join(self.action_text(int(action)) for action in table["history"][: int(table["length"])])

    def text(self, table: Table) -> str:
        """``hearts 3 | 2   1H 1S 3H P   3H makes: +4``: both types, the history, the result."""
        x, y = (int(value) for value in table["types"])
        parts = [f"{self.type_word} {x} | {y}" if self.num_types[1] > 1 else f"{self.type_word} {x}"]
        history = self.history_text(table)
        if history:
            parts.append(history)
        if int(table["turn"]) == OVER:
            reward = payoff_row(table, x, y)
            parts.append(f"{self.result_text(table, reward)}: {reward:+g}")
        return "   ".join(parts)

    # ---- pictures ---------------------------------------------------------------------------------

    def drawn_text(self, action: int) -> str:
        """An action as the picture writes it."""
        return self.action_text(action)

    def drawn_result(self, table: Table, reward: float) -> str:
        """The result as the picture writes it."""
        return self.result_text(table, reward)

    def picture(self, table: Table) -> Picture:
        from bidzoo.envs.signals.draw import picture

        return picture(self, table)
