"""A client that seats a bidzoo policy at somebody else's table.

It knows its own 13 cards and what it heard, and keeps them in a state record with the other hands empty.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bidzoo.bluechip import message as say
from bidzoo.bluechip.connection import Connection, Limits, PeerError
from bidzoo.bluechip.message import DUMMY, NAMES, Message, parse, same_seat
from bidzoo.bluechip.seat import choose
from bidzoo.core.cards import NUM_CALLS, call_text, card_text
from bidzoo.core.kernels import I8, State
from bidzoo.envs.bridge import auction, engine, play
from bidzoo.envs.bridge.board import contract_text
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.state import AUCTION, OVER
from bidzoo.envs.game import Table

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy


M = TypeVar("M", bound=Message)
_PATIENCE = 3600.0  # s: others think, and programs that were lost come back
_CONNECTING = 10.0  # s


class _BoardOverError(Exception):
    """The table manager left the board before its end, with ``message``."""

    def __init__(self, message: Message) -> None:
        self.message = message


@dataclass
class HeardBoard:
    """A board as one seat saw it."""

    number: int
    seat: int
    calls: list[say.CallMade] = field(default_factory=list)
    cards: list[say.Play] = field(default_factory=list)
    contract: str | None = None  # None: the auction was not finished


class Client:
    """``policy`` at one seat.

    Args:
        policy: plays cards too, unless it is a ``BidderAndPlayer``. One with an ``alert`` method discloses.
        seat: where to sit; None: wherever the table manager says.
        team: both partners give the same name.
        seed: of the policy's random numbers, which are those of ``(seed, board, turn)``.
        limits: how long to wait for the table manager, and the pause before each line.
    """

    def __init__(
        self, policy: Policy, seat: int | None = None, team: str = "bidzoo", seed: int = 0, limits: Limits | None = None
    ) -> None:
        self.policy, self.seat, self.team, self.seed = policy, seat, team, seed
        self.limits = limits or Limits(patience=_PATIENCE)
        self.teams: say.Teams | None = None
        self.heard: list[HeardBoard] = []
        self._connection: Connection
        self._own_seat: int  # chosen by the caller, or by the table manager
        self._game = Bridge(play=True)

    def run(self, host: str = "127.0.0.1", port: int = 2000) -> list[HeardBoard]:
        """Play until the end of the session and return the boards heard, which are in ``heard`` even if it breaks off.

        Raises:
            PeerError: the table manager refuses us, breaks off, or does not follow the protocol.
        """
        name = f"table manager {host}:{port}"
        try:
            peer = socket.create_connection((host, port), _CONNECTING)
        except OSError as problem:
            raise PeerError(name, f"no connection ({problem})", "somebody to answer") from None
        self._connection = Connection(peer, name, self.limits)
        try:
            self._sit_down()
            message = self._connection.receive("start of board")
            while not isinstance(message, say.EndOfSession):
                message = self._handle(message)
        finally:
            self._connection.close()
        return self.heard

    # ---- the conversation ------------------------------------------------------------------

    def _send(self, message: Message) -> None:
        self._connection.send(message)

    def _ready(self, stage: say.Stage) -> None:
        self._send(say.Ready(self._own_seat, stage))

    def _expect(self, kind: type[M], expected: str, fits: Callable[[M], bool] = lambda message: True) -> M:
        """The next message of this board, which must be of ``kind`` and fit."""
        message = self._connection.receive(expected)
        if isinstance(message, say.StartOfBoard | say.Timing | say.EndOfSession):
            raise _BoardOverError(message)
        if not isinstance(message, kind) or not fits(message):
            raise self._connection.unexpected(message, expected)
        return message

    def _sit_down(self) -> None:
        self._send(say.Connect(self.team, self.seat))
        expected = f'{"a seat" if self.seat is None else NAMES[self.seat]} ("{self.team}") seated'
        line = self._connection.receive_line(expected)
        try:
            message = parse(line)
        except ValueError:
            raise PeerError(self._connection.name, repr(line[:200]), expected) from None  # a refusal in words
        if not isinstance(message, say.Seated) or self.seat not in (None, message.seat):
            raise self._connection.unexpected(message, expected)
        self.seat = self._own_seat = message.seat
        self._connection.upper = line.split()[0].isupper()
        self._ready("for teams")
        expected = "Teams : N/S : ... E/W : ..."
        teams = self._connection.receive(expected)
        if not isinstance(teams, say.Teams):
            raise self._connection.unexpected(teams, expected)
        self.teams = teams
        self._ready("to start")

    def _handle(self, message: Message) -> Message:
        """Handle ``message`` between boards: if it starts one, play the board. Return the next message."""
        if isinstance(message, say.StartOfBoard):
            try:
                self._board()
            except _BoardOverError as interruption:
                return interruption.message
        elif not isinstance(message, say.Timing):
            raise self._connection.unexpected(message, "start of board or end of session")
        return self._connection.receive("start of board or end of session")

    # ---- a board ---------------------------------------------------------------------------

    def _board(self) -> None:
        self._ready("for deal")
        deal = self._expect(say.Deal, "Board number ...")
        self._ready("for cards")
        cards = self._expect(say.Cards, f"{NAMES[self._own_seat]}'s cards", lambda cards: cards.seat == self._own_seat)
        table = Table(self._game)
        state = table.states[0]
        state["board"] = deal.number - 1
        state["tricks"] = -1
        state["hands"][self._own_seat] = state["held"][self._own_seat] = cards.hand
        auction.open_auction_row(state, deal.dealer, deal.vulnerable)
        board = HeardBoard(deal.number, self._own_seat)
        self.heard.append(board)
        while state["phase"] == AUCTION:
            board.calls.append(self._call(table))
            auction.call_row(state, board.calls[-1].call)
        board.contract = contract_text(int(state["bid"]), int(state["stake"]))
        if state["declarer"] >= 0:
            play.lead_row(state)
        while state["phase"] != OVER:
            board.cards.append(self._card(table))
            play.play_row(state, board.cards[-1].card)
            if state["plays"] == 1:
                self._see_dummy(state, board.cards[0].card)

    def _call(self, table: Table) -> say.CallMade:
        """The next call, ours or another's."""
        legal, seat = self._look(table), int(table.states[0]["turn"])
        if seat == self._own_seat:
            call = choose(self.policy, table, self.seed)
            assert isinstance(call, say.CallMade)
            self._send(call)
            return call
        self._send(say.ReadyForCall(self._own_seat, seat))
        expected = f"a call by {NAMES[seat]} out of {' '.join(call_text(int(c)) for c in np.flatnonzero(legal))}"
        return self._expect(say.CallMade, expected, lambda call: call.seat == seat and bool(legal[call.call]))

    def _look(self, table: Table) -> I8:
        """Bring player and mask of ``table``, where we do not hold all cards, up to date; the mask ``[90]``."""
        legal: I8 = table.out.mask[0]
        table.out.player[0] = table.states[0]["turn"]
        engine.legal_row(table.states[0], legal)
        return legal

    def _card(self, table: Table) -> say.Play:
        """The next card, ours or another's."""
        legal, state = self._look(table), table.states[0]
        hand, dummy = int(state["hand_to_play"]), int((state["declarer"] + 2) % 4)
        if state["turn"] == self._own_seat:
            if state["plays"] % 4 == 0:
                leads = (hand, self._own_seat, *((DUMMY,) if hand == dummy else ()))
                self._expect(say.ToLead, f"{NAMES[hand]} to lead", lambda lead: lead.seat in leads)
            choice = choose(self.policy, table, self.seed)
            assert isinstance(choice, say.Play)
            self._send(choice)
            return choice
        owner = DUMMY if hand == self._own_seat else hand  # as dummy we wait for cards of our own hand
        self._send(say.ReadyForCard(self._own_seat, owner, int(state["plays"]) // 4 + 1))
        expected = f"a card by {NAMES[hand]}"
        message = self._expect(say.Play, expected, lambda message: same_seat(message.seat, hand, dummy))
        card = message.card
        if hand == self._own_seat or (hand == dummy and state["plays"]):
            possible = bool(legal[NUM_CALLS + card])
        else:  # a hidden hand: cards that we hold or see elsewhere cannot come from it
            possible = not (int(state["hands"][self._own_seat]) | int(state["dummy"])) >> card & 1
        if not possible or card in state["played"][: state["plays"]]:
            raise self._connection.unexpected(message, f"{expected} that it can hold, not {card_text(card)}")
        return say.Play(hand, card)

    def _see_dummy(self, state: State, lead: int) -> None:
        dummy = int((state["declarer"] + 2) % 4)
        if dummy != self._own_seat:
            self._ready("for dummy")
            seen_cards = int(state["hands"][self._own_seat]) | 1 << lead
            message = self._expect(
                say.Cards,
                "Dummy's cards, none of them seen before",
                lambda cards: same_seat(cards.seat, dummy, dummy) and not cards.hand & seen_cards,
            )
            state["hands"][dummy] = state["held"][dummy] = state["dummy"] = message.hand
