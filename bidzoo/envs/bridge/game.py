"""Contract bridge as a ``Game``: the auction alone, or auction and play."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bidzoo.cards import NUM_CALLS, NUM_CARDS, RANKS, SUITS, call_number, call_text, card_number, card_text
from bidzoo.envs.bridge import engine, knowledge
from bidzoo.envs.bridge.boards import Source
from bidzoo.envs.bridge.deals import SPLITS, UNKNOWN, DealSet, packaged
from bidzoo.envs.bridge.determinize import determinize
from bidzoo.envs.bridge.encode import ENCODERS
from bidzoo.envs.bridge.encode_state import state_encoder
from bidzoo.envs.bridge.files.gather import READERS, BoardSet, board_set
from bidzoo.envs.bridge.imps import MAX_IMPS
from bidzoo.envs.bridge.options import VULNERABILITIES, checked
from bidzoo.envs.bridge.score import MAX_POINTS
from bidzoo.envs.bridge.state import MAX_CALLS, STATE, VIEW
from bidzoo.envs.game import Buffers, Encoder, Game, choose_encoder
from bidzoo.envs.picture import Picture
from bidzoo.kernels import I8, I64, U64, Bool, Table, Tables

REWARDS = {"score": engine.SCORE, "par": engine.PAR, "duplicate": engine.DUPLICATE}
_NO_DEALS = DealSet.of(np.empty((0, 4), np.int64))
_DEALS = f"{', '.join(SPLITS)}, a .npz, .pbn or .lin file, or a DealSet"
_BY_THE_CYCLE = (np.empty(0, np.int8), np.empty(0, np.int8))  # dealers, vulnerabilities
_TURNS_A_TABLE = MAX_CALLS + NUM_CARDS


class Bridge(Game):
    """The auction (``bridge_bidding_v0``, 38 actions) or with ``play`` the whole board (``bridge_v0``, 90 actions).

    Args:
        play: cards are played; else the contract is scored on the deal's double-dummy tricks.
        observation: name of an encoder; default ``openspiel480``, or ``openspiel571`` with ``play``.
        reward: of each side, the other's is its negative. ``"score"``: duplicate points; ``"par"``: IMPs against
            the deal's par; ``"duplicate"``: the deal is played at two tables in succession, the sides exchanged,
            and everybody gets the IMPs between the two results.
        reward_scale: rewards are divided by it.
        deals: a packaged split, a file of deals (``.npz``) or of boards (``.pbn``, ``.lin``, with their dealers and
            vulnerabilities), or deals; None is ``"train"``, and with ``play`` random cards.
        augment: rename suits and turn the seats of a deal of the set, as ``(seed, board)`` says.
        shuffle: ``(seed, board)`` picks the deal; else board ``b`` is deal ``b % n`` of the set.

    Raises:
        ValueError: an unknown name, a scale that is not positive, or deals without the tables they need.
    """

    num_players = 4
    utility = "zero_sum"
    state, view = STATE, VIEW

    def __init__(
        self,
        play: bool,
        observation: str | None = None,
        reward: Literal["score", "par", "duplicate"] = "score",
        reward_scale: float = 1.0,
        deals: DealSet | str | Path | None = None,
        augment: bool = True,
        shuffle: bool = True,
    ) -> None:
        if reward not in REWARDS:
            raise ValueError(f"unknown reward {reward!r}; choose from {', '.join(REWARDS)}")
        if not (isinstance(reward_scale, int | float) and np.isfinite(reward_scale) and reward_scale > 0):
            raise ValueError(f"reward_scale {reward_scale!r}: expected a positive number")
        self.reward, self.reward_scale = reward, float(reward_scale)
        self.id = "bridge_v0" if play else "bridge_bidding_v0"
        self.encoders = {"openspiel571": ENCODERS["openspiel571"], **ENCODERS} if play else ENCODERS
        self.encoder = choose_encoder(self.encoders, observation)
        self.num_actions = NUM_CALLS + (NUM_CARDS if play else 0)
        self.max_turns = (MAX_CALLS + (NUM_CARDS if play else 0)) * (2 if reward == "duplicate" else 1)
        most = (MAX_POINTS if reward == "score" else MAX_IMPS) / reward_scale
        self.reward_range = (-most, most)
        self.needs_tables = not play or reward == "par"
        boards = self._boards(deals, play)
        self.deals = boards.deals
        self._rules = engine.Rules(
            play=play,
            reward=REWARDS[reward],
            divisor=float(reward_scale),
            code=self.encoder.code,
        )
        self._source = Source(
            *self.deals, boards.dealer, boards.vulnerable, augment=bool(augment), shuffle=bool(shuffle)
        )

    def _boards(self, deals: DealSet | str | Path | None, play: bool) -> BoardSet:
        if deals is None:
            deals = _NO_DEALS if play else "train"
        if not isinstance(deals, DealSet | str | Path):
            raise ValueError(f"deals {deals!r}: expected {_DEALS}")
        source = "deals" if isinstance(deals, DealSet) else str(deals)
        if not isinstance(deals, DealSet) and source not in SPLITS and not Path(source).is_file():
            raise FileNotFoundError(f"deals {source!r}: no such file; expected {_DEALS}")
        if isinstance(deals, DealSet):
            found = BoardSet(DealSet.of(*deals), *_BY_THE_CYCLE)
        elif Path(source).suffix.lower() in READERS:
            found = board_set(source)
        else:
            found = BoardSet(packaged(source) if source in SPLITS else DealSet.load(source), *_BY_THE_CYCLE)
        if self.needs_tables:
            if len(found.deals.hands) == 0:
                raise ValueError(f"{self.id}: {source} holds no deals, and random cards have no double-dummy table")
            for deal in np.flatnonzero((found.deals.tricks == UNKNOWN).any(1))[:1]:
                raise ValueError(f"{self.id}: deal {deal} of {source} has no complete double-dummy table")
        return found

    @cached_property
    def state_encoder(self) -> Encoder:
        return state_encoder(self._rules.play, self.needs_tables, self.reward == "duplicate")

    def begin(self, tables: Tables, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        rows = np.ones(len(tables), np.bool_) if rows is None else rows
        engine.begin(tables, boards, seed, rows, self._rules, self._source, out)

    def step(self, tables: Tables, actions: I64, seed: int, out: Buffers, stride: int) -> None:
        engine.step(tables, actions, seed, stride, self._rules, self._source, out)

    def step_one(self, tables: Tables, action: int, out: Buffers) -> None:
        engine.step_one(tables, action, *self._rules, out.player, out.observation, out.mask, out.reward, out.over)

    def observe(self, tables: Tables, b: int, player: int, out: I8) -> None:
        engine.observe_one(tables, b, player, self._rules.code, out)

    def views(self, tables: Tables, players: I64, out: Tables) -> None:
        knowledge.views(tables, players, out)

    def determinize(self, views: Tables, keys: U64, out: Tables) -> None:
        """As ``Game`` says; the double-dummy tables of ``out`` are unknown, so ``bridge_bidding_v0`` pays NaN there."""
        determinize(views, keys, out)

    def action_text(self, action: int) -> str:
        """Calls as in ``call_text``; cards suit first (``"SA"``), since ``"2C"`` is a bid."""
        return call_text(action) if action < NUM_CALLS else card_text(action - NUM_CALLS)[::-1]

    def action_number(self, text: str) -> int:
        word = text.strip().upper().replace("10", "T")
        if self._rules.play and len(word) == 2 and word[0] in SUITS and word[1] in RANKS:
            return NUM_CALLS + card_number(word)
        return call_number(text)

    def text(self, table: Table) -> str:
        from bidzoo.envs.bridge import render

        return render.text(table)

    def picture(self, table: Table) -> Picture:
        from bidzoo.envs.bridge.draw import picture

        return picture(table)

    def private_text(self, view: Table) -> str:
        return f"{super().private_text(view)} vulnerable {VULNERABILITIES[int(view['vulnerable'])]}"

    def clock(self, tables: Tables) -> I64:
        """Calls and cards so far; the second table of a duplicate pair counts on from a whole board."""
        return tables["length"].astype(np.int64) + tables["plays"] + _TURNS_A_TABLE * tables["table"].astype(np.int64)

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``board``, ``deal``, ``tricks``, ``dealer``, ``vulnerability``; solves a deal if its table is needed."""
        found = checked(options)
        if "deal" in found and "tricks" not in found:
            found["tricks"] = np.full(20, UNKNOWN, np.int8)
            if self.needs_tables:
                from bidzoo.envs.bridge.solving.solve import table_of

                found["tricks"] = table_of(found["deal"])
        return found

    def fix(self, tables: Tables, options: Mapping[str, Any], out: Buffers) -> None:
        """Put table 0 as ``options`` (checked) say, before the first call; what they do not name stays."""
        table = tables[0]
        hands, tricks = options.get("deal", table["hands"]), options.get("tricks", table["tricks"])
        dealer = options.get("dealer", int(table["dealer"]))
        vulnerable = options.get("vulnerability", int(table["vulnerable"]))
        engine.fix_one(tables, hands.copy(), tricks.copy(), dealer, vulnerable)
        engine.show_one(tables, self._rules.code, out.player, out.observation, out.mask)
