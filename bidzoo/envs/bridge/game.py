"""Contract bridge as a ``Game``: the auction alone, or auction and play."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import numpy as np

from bidzoo.core.cards import (
    HAND_SIZE,
    NUM_CALLS,
    NUM_CARDS,
    RANKS,
    SEATS,
    STRAINS,
    SUITS,
    VULNERABILITIES,
    call_number,
    call_text,
    card_number,
    card_text,
    hand_text,
    seat_number,
    vulnerability_number,
)
from bidzoo.core.kernels import I8, I64, U64, State, States
from bidzoo.core.options import choose_from, is_whole, truth, whole
from bidzoo.envs.bridge import engine
from bidzoo.envs.bridge.deals import (
    SPLITS,
    UNKNOWN,
    DealSet,
    Source,
    alike,
    deal_number_row,
    open_row,
    packaged,
    read_boards,
)
from bidzoo.envs.bridge.determinize import determinize
from bidzoo.envs.bridge.formats import FORMATS
from bidzoo.envs.bridge.observation import ENCODERS, state_encoder
from bidzoo.envs.bridge.render import picture, text
from bidzoo.envs.bridge.score import MAX_IMPS, MAX_POINTS
from bidzoo.envs.bridge.state import MAX_CALLS, STATE, VIEW, views
from bidzoo.envs.engine import KernelGame
from bidzoo.envs.game import Buffers, Encoder, choose_encoder, read_board, read_deal, read_options
from bidzoo.envs.picture import Picture

REWARDS = {"score": engine.SCORE, "par": engine.PAR, "duplicate": engine.DUPLICATE, "cost": engine.COST}
_DEALS = f"{', '.join(SPLITS)}, a .npz, .pbn or .lin file, or a DealSet"


def _read_tricks(value: Any) -> I8:
    tricks = np.asarray(value)
    if tricks.size != 20 or tricks.dtype.kind not in "iu":
        raise ValueError(f"{value!r} is not 20 integers (declarer N E S W by strain C D H S NT)")
    tricks = tricks.reshape(20)
    for cell in np.flatnonzero((tricks < 0) | (tricks > HAND_SIZE))[:1]:
        contract = f"{SEATS[cell // 5]} in {STRAINS[cell % 5]}"
        raise ValueError(f"{contract} takes {tricks[cell]} tricks (expected 0 ... {HAND_SIZE})")
    return tricks.astype(np.int8)


OPTIONS = {  # readers of the options of ``reset``
    "board": read_board,
    "deal": read_deal,
    "tricks": _read_tricks,
    "dealer": seat_number,
    "vulnerability": vulnerability_number,
}


def _unsolved(name: str, deal: int) -> str:
    """The error for the unsolved deal ``deal`` of ``name``, and the command that helps."""
    path, title = Path(name), f"deal {deal}"
    if path.suffix.lower() in FORMATS:
        boards = [(place, board) for place, board in enumerate(read_boards(name, strict=True), 1) if board.complete]
        title = f"board {boards[deal][1].number or boards[deal][0]}"
    message = f"{title} of {name} has no complete double-dummy table"
    if not path.suffix:  # not of a file
        return message
    out = f"{path.stem}-solved{'.npz' if path.suffix == '.npz' else '.pbn'}"
    return f"{message}; solve the file with: bidzoo deals import {quote(name)} --solve --out {quote(out)}"


class Bridge(KernelGame):
    """The auction (``bridge_bidding_v0``, 38 actions) or with ``play`` the whole board (``bridge_v0``, 90 actions).

    Args:
        play: cards are played; else the contract is scored on the deal's double-dummy tricks.
        observation: name of an encoder; default ``openspiel480``, or ``openspiel571`` with ``play``.
        reward: of each side, the other's is its negative. ``"score"``: duplicate points; ``"par"``: IMPs against
            the deal's par; ``"duplicate"``: the deal is played at two tables in succession, the sides exchanged,
            and everybody gets the IMPs between the two results; ``"cost"``: minus the IMPs that N/S are below their
            best contract, double dummy.
        reward_scale: rewards are divided by it.
        deals: a packaged split, a file of deals (``.npz``) or of boards (``.pbn``, ``.lin``, with their dealers and
            vulnerabilities), or deals; None is ``"train"``, and with ``play`` random cards.
        augment: rename suits and turn the seats of a deal of the set, as ``(seed, board)`` says.
        shuffle: ``(seed, board)`` picks the deal; else board ``b`` is deal ``b % n`` of the set.
        competition: False: E/W always pass and never act, so that N/S bid alone.
        most_calls: N/S pass automatically after this many calls (0: no limit).

    Raises:
        ValueError: an unknown name, a scale that is not positive, or deals without the tricks they need.
    """

    num_players = 4
    utility = "zero_sum"
    state, view, kernels = STATE, VIEW, engine.kernels

    def __init__(
        self,
        play: bool,
        observation: str | None = None,
        reward: Literal["score", "par", "duplicate", "cost"] = "score",
        reward_scale: float = 1.0,
        deals: DealSet | str | Path | None = None,
        augment: bool = True,
        shuffle: bool = True,
        competition: bool = True,
        most_calls: int = 0,
    ) -> None:
        if reward not in REWARDS:
            raise ValueError(f"unknown reward {reward!r}; {choose_from(reward, REWARDS)}")
        if not (isinstance(reward_scale, int | float) and np.isfinite(reward_scale) and reward_scale > 0):
            raise ValueError(f"reward_scale {reward_scale!r}: expected a positive number")
        if not is_whole(most_calls, 0):
            raise ValueError(f"most_calls {most_calls!r}: expected an integer from 0")
        competition = truth("competition", competition)
        if (most_calls or not competition) and reward == "duplicate":
            raise ValueError("reward 'duplicate' exchanges the sides, which without competition are not alike")
        self.reward, self.reward_scale = reward, float(reward_scale)
        self.competition, self.most_calls = competition, int(most_calls)
        self.family = "bridge" if play else "bridge_bidding"
        self.id = getattr(type(self), "id", f"{self.family}_v0")  # a subclass has an id of its own
        self.encoders = {"openspiel571": ENCODERS["openspiel571"], **ENCODERS} if play else ENCODERS
        self.encoder = choose_encoder(self.encoders, observation)
        self.num_actions = NUM_CALLS + (NUM_CARDS if play else 0)
        self.max_turns = (MAX_CALLS + (NUM_CARDS if play else 0)) * (2 if reward == "duplicate" else 1)
        most = (MAX_POINTS if reward == "score" else MAX_IMPS) / reward_scale
        self.reward_range = (-most, most)
        self.needs_dd_tricks = not play or reward in ("par", "cost")
        if deals is None:
            deals = DealSet.of(np.empty((0, 4), np.int64)) if play else "train"
        source = self._source_of(deals)
        self.deals = DealSet(source.hands, source.tricks)
        self._source = source._replace(augment=truth("augment", augment), shuffle=truth("shuffle", shuffle))
        self._rules = engine.Rules(
            play, REWARDS[reward], self.reward_scale, self.encoder.code, self.competition, self.most_calls
        )

    def _source_of(self, deals: DealSet | str | Path) -> Source:
        name = "deals"
        if isinstance(deals, DealSet):
            source = Source.of(DealSet.of(*deals))
        elif not isinstance(deals, str | Path):
            raise ValueError(f"deals {deals!r}: expected {_DEALS}")
        elif (name := str(deals)) in SPLITS:
            source = Source.of(packaged(name))
        elif not Path(name).is_file():
            raise FileNotFoundError(f"deals {name!r}: no such file; expected {_DEALS}")
        else:
            source = Source.load(name) if Path(name).suffix.lower() in FORMATS else Source.of(DealSet.load(name))
        if self.needs_dd_tricks:
            if len(source.hands) == 0:
                raise ValueError(
                    f"{self.id}: {name} holds no deals, and random cards have no double-dummy table; those of a"
                    " packaged set have: deals='train'"
                )
            for deal in np.flatnonzero((source.tricks == UNKNOWN).any(1))[:1]:
                raise ValueError(f"{self.id}: {_unsolved(name, int(deal))}")
        return source

    @cached_property
    def state_encoder(self) -> Encoder:
        return state_encoder(self._rules.play, self.needs_dd_tricks, self.reward == "duplicate")

    def deal(self, boards: I64, seed: int) -> States:
        """States ``[B]`` of ``boards`` ``[B]`` before the first call: ``begin`` without anything to be shown."""
        states = self.new(len(boards))
        engine.deal(states, np.ascontiguousarray(boards, np.int64), seed, self._rules, self._source)
        return states

    def deal_numbers(self, boards: I64, seed: int = 0) -> I64:
        if len(self.deals.hands) == 0:
            return super().deal_numbers(boards, seed)
        numbers = np.array([deal_number_row(int(board), seed, self._source) for board in boards], np.int64)
        return self._first_alike[numbers]

    @cached_property
    def _first_alike(self) -> I64:
        """For each deal of the set the first one of the same cards: a file may hold a deal more than once."""
        return alike(self.deals.hands)

    def views(self, states: States, players: I64, out: States) -> None:
        views(states, players, out)

    def determinize(self, views: States, keys: U64, out: States) -> None:
        """As ``Game`` says; the double-dummy tricks of ``out`` are unknown, so ``bridge_bidding_v0`` pays NaN there."""
        determinize(views, keys, out)

    def action_text(self, action: int) -> str:
        """Calls as in ``call_text``; cards suit first (``"SA"``), since ``"2C"`` is a bid."""
        number = whole("action", action, 0, self.num_actions - 1)
        return call_text(number) if number < NUM_CALLS else card_text(number - NUM_CALLS)[::-1]

    def action_number(self, text: str) -> int:
        word = str(text).strip().upper().replace("10", "T")
        if self._rules.play and len(word) == 2 and word[0] in SUITS and word[1] in RANKS:
            return NUM_CALLS + card_number(word)
        return call_number(str(text))

    def text(self, state: State) -> str:
        return text(state)

    def picture(self, state: State) -> Picture:
        return picture(state)

    def private_text(self, view: State) -> str:
        text = f"{super().private_text(view)} vulnerable {VULNERABILITIES[int(view['vulnerable'])]}"
        return f"{text} dummy {hand_text(int(view['dummy']))}" if view["dummy"] else text

    def clock(self, states: States) -> I64:
        """Calls and cards so far; the second table of a duplicate pair counts on from a whole board."""
        second_table = (MAX_CALLS + NUM_CARDS) * states["leg"].astype(np.int64)
        return super().clock(states) + states["plays"] + second_table

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """``board``, ``deal`` (or ``hands``), ``tricks``, ``dealer``, ``vulnerability``; solves a deal if need be."""
        values = read_options(options, OPTIONS)
        if "deal" in values and "tricks" not in values:
            values["tricks"] = np.full(20, UNKNOWN, np.int8)
            if self.needs_dd_tricks:
                from bidzoo.envs.bridge.double_dummy import dd_tricks_of

                values["tricks"] = dd_tricks_of(values["deal"])
        return values

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:
        """Set up table 0 as ``options`` (checked) say, before the first call; what they do not name stays."""
        state = states[0]
        state["hands"][:] = options.get("deal", state["hands"])
        state["tricks"][:] = options.get("tricks", state["tricks"])
        dealer = options.get("dealer", int(state["dealer"]))
        open_row(state, dealer, options.get("vulnerability", int(state["vulnerable"])))
        engine.forced_row(state, self._rules)
        self.kernels.show_row(state, self._rules, out.player, out.observation[0], out.mask[0])
