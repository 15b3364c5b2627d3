"""A bidzoo policy at somebody else's table.

It knows its own 13 cards and what it heard, and keeps them in a table record with the other hands empty.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from bidzoo.cards import NUM_CALLS, NUM_CARDS, call_text, card_text
from bidzoo.envs.bridge import auction, engine, play
from bidzoo.envs.bridge.files.board import contract_text
from bidzoo.envs.bridge.state import AUCTION, OVER, STATE
from bidzoo.kernels import I8, Table, allocate
from bidzoo.wrappers.bluechip import message as say
from bidzoo.wrappers.bluechip.message import DUMMY, NAMES, Message, text
from bidzoo.wrappers.bluechip.parse import parse, same_seat
from bidzoo.wrappers.bluechip.players import choose
from bidzoo.wrappers.bluechip.wire import Limits, PeerError, Wire

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


_PATIENCE = 3600.0  # s: others think, and programs that were lost come back
_CONNECTING = 10.0  # s


class _BoardOverError(Exception):
    """The table manager goes on: ``message`` is where."""

    def __init__(self, message: Message) -> None:
        self.message = message


@dataclass
class Heard:
    """A board as one seat saw it."""

    number: int
    seat: int
    calls: list[say.Call] = field(default_factory=list)
    cards: list[say.Play] = field(default_factory=list)
    contract: str | None = None  # None: the auction was not finished


class Client:
    """``policy`` at one seat.

    Args:
        policy: plays cards too, unless it is a ``Pair``. One with an ``alert`` method discloses.
        seat: where to sit; None: wherever the table manager says.
        team: both partners give the same name.
        seed: of the policy's random numbers, which are those of ``(seed, board, turn)``.
        limits: how long to wait for the table manager, and so on.
    """

    def __init__(
        self, policy: Policy, seat: int | None = None, team: str = "bidzoo", seed: int = 0, limits: Limits | None = None
    ) -> None:
        self.policy, self.seat, self.team, self.seed = policy, seat, team, seed
        self.limits = limits or Limits(patience=_PATIENCE)
        self.teams: say.Teams | None = None
        self.heard: list[Heard] = []
        self._upper = False
        self._wire: Wire
        self._legal: I8 = np.zeros(NUM_CALLS + NUM_CARDS, np.int8)

    def run(self, host: str = "127.0.0.1", port: int = 2000) -> list[Heard]:
        """Play until the end of the session; the boards heard, which also stand in ``heard`` if it breaks off.

        Raises:
            PeerError: the table manager refuses us, breaks off, or does not follow the protocol.
        """
        where = f"table manager {host}:{port}"
        try:
            connection = socket.create_connection((host, port), _CONNECTING)
        except OSError as problem:
            raise PeerError(where, f"no connection ({problem})", "somebody to answer") from None
        self._wire = Wire(connection, where, self.limits)
        try:
            self._sit_down()
            message = self._next("start of board")
            while not isinstance(message, say.EndOfSession):
                message = self._after(message)
        finally:
            self._wire.close()
        return self.heard

    # ---- the conversation ------------------------------------------------------------------

    def _say(self, message: Message) -> None:
        self._wire.send(text(message, self._upper))

    def _ready(self, stage: say.Stage) -> None:
        self._say(say.Ready(self._here, stage))

    @property
    def _here(self) -> int:
        assert self.seat is not None  # given, or told when seated
        return self.seat

    def _next(self, expected: str) -> Message:
        line = self._wire.receive(expected)
        try:
            return parse(line)
        except ValueError as problem:
            raise PeerError(self._wire.who, str(problem), expected) from None

    def _hear(self, expected: str) -> Message:
        """The next message of this board."""
        message = self._next(expected)
        if isinstance(message, say.StartOfBoard | say.Timing | say.EndOfSession):
            raise _BoardOverError(message)
        return message

    def _unexpected(self, message: Message, expected: str) -> PeerError:
        return PeerError(self._wire.who, repr(text(message)), expected)

    def _sit_down(self) -> None:
        self._say(say.Connect(self.team, self.seat))
        expected = f'{"a seat" if self.seat is None else NAMES[self.seat]} ("{self.team}") seated'
        line = self._wire.receive(expected)
        try:
            message = parse(line)
        except ValueError:
            raise PeerError(self._wire.who, repr(line[:200]), expected) from None  # its words why it refuses us
        if not isinstance(message, say.Seated) or self.seat not in (None, message.seat):
            raise self._unexpected(message, expected)
        self.seat = message.seat
        self._upper = line.split()[0].isupper()  # it reads what it writes
        self._ready("for teams")
        teams = self._next("Teams : N/S : ... E/W : ...")
        if not isinstance(teams, say.Teams):
            raise self._unexpected(teams, "Teams : N/S : ... E/W : ...")
        self.teams = teams
        self._ready("to start")

    def _after(self, message: Message) -> Message:
        """What comes between boards; a board if it is one. The message that ends it, or comes next."""
        if isinstance(message, say.StartOfBoard):
            try:
                self._board()
            except _BoardOverError as over:
                return over.message
        elif not isinstance(message, say.Timing):
            raise self._unexpected(message, "start of board or end of session")
        return self._next("start of board or end of session")

    # ---- a board ---------------------------------------------------------------------------

    def _board(self) -> None:
        self._ready("for deal")
        deal = self._hear("Board number ...")
        if not isinstance(deal, say.Deal):
            raise self._unexpected(deal, "Board number ...")
        self._ready("for cards")
        cards = self._hear(f"{NAMES[self._here]}'s cards")
        if not isinstance(cards, say.Cards) or cards.seat != self._here:
            raise self._unexpected(cards, f"{NAMES[self._here]}'s cards")
        table = allocate(STATE, 1)[0]
        table["board"] = deal.number - 1
        table["tricks"] = -1
        table["hands"][self._here] = table["held"][self._here] = cards.hand
        auction.open_row(table, deal.dealer, deal.vulnerable)
        heard = Heard(deal.number, self._here)
        self.heard.append(heard)
        while table["phase"] == AUCTION:
            self._call(table, heard)
        heard.contract = contract_text(int(table["bid"]), int(table["stake"]))
        if table["declarer"] >= 0:
            play.lead_row(table)
        while table["phase"] != OVER:
            self._card(table, heard)

    def _call(self, table: Table, heard: Heard) -> None:
        engine.legal_row(table, self._legal)
        seat = int(table["turn"])
        if seat == self._here:
            action, note = choose(self.policy, table, self._legal, self.seed)
            call = say.Call(seat, action, note is not None, note or "")
            self._say(call)
        else:
            self._say(say.ReadyForCall(self._here, seat))
            message = self._hear(f"a call by {NAMES[seat]}")
            if not isinstance(message, say.Call) or message.seat != seat or not self._legal[message.call]:
                legal = " ".join(call_text(int(c)) for c in np.flatnonzero(self._legal))
                raise self._unexpected(message, f"a call by {NAMES[seat]} out of {legal}")
            call = message
        heard.calls.append(call)
        auction.call_row(table, call.call)

    def _card(self, table: Table, heard: Heard) -> None:
        hand, dummy = int(table["hand_to_play"]), int((table["declarer"] + 2) % 4)
        engine.legal_row(table, self._legal)
        if table["turn"] == self._here:
            if table["plays"] % 4 == 0:
                self._wait_for_lead(hand, dummy)
            card = choose(self.policy, table, self._legal, self.seed)[0] - NUM_CALLS
            self._say(say.Play(hand, card))
        else:
            whose = DUMMY if hand == self._here else hand  # dummy watches its own cards go
            self._say(say.ReadyForCard(self._here, whose, int(table["plays"]) // 4 + 1))
            card = self._hear_card(table, hand, dummy)
        heard.cards.append(say.Play(hand, card))
        first = table["plays"] == 0
        play.play_row(table, card)
        if first and dummy != self._here:
            self._ready("for dummy")
            shown = self._hear("Dummy's cards")
            seen = int(table["hands"][self._here]) | 1 << card
            if not isinstance(shown, say.Cards) or not same_seat(shown.seat, dummy, dummy) or shown.hand & seen:
                raise self._unexpected(shown, "Dummy's cards, none of them seen before")
            table["hands"][dummy] = table["held"][dummy] = table["dummy"] = shown.hand

    def _wait_for_lead(self, hand: int, dummy: int) -> None:
        message = self._hear(f"{NAMES[hand]} to lead")
        if not isinstance(message, say.ToLead) or message.seat not in (
            hand,
            self._here,
            *((DUMMY,) if hand == dummy else ()),
        ):
            raise self._unexpected(message, f"{NAMES[hand]} to lead")

    def _hear_card(self, table: Table, hand: int, dummy: int) -> int:
        expected = f"a card by {NAMES[hand]}"
        message = self._hear(expected)
        if not isinstance(message, say.Play) or not same_seat(message.seat, hand, dummy):
            raise self._unexpected(message, expected)
        card = message.card
        gone = [int(played) for played in table["played"][: table["plays"]]]
        if hand == self._here or (hand == dummy and table["plays"]):
            possible = bool(self._legal[NUM_CALLS + card])
        else:  # a hidden hand: what we hold or see elsewhere cannot come from it
            possible = not (int(table["hands"][self._here]) | int(table["dummy"])) >> card & 1
        if not possible or card in gone:
            raise self._unexpected(message, f"{expected} that it can hold, not {card_text(card)}")
        return card
