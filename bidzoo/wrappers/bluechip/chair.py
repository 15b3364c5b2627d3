"""A seat at the table manager's table: a local policy, or a program that is spoken to line by line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bidzoo.cards import NUM_CALLS, call_text, card_text
from bidzoo.wrappers.bluechip import message as say
from bidzoo.wrappers.bluechip.boards import Board
from bidzoo.wrappers.bluechip.message import DUMMY, NAMES, Message, text
from bidzoo.wrappers.bluechip.parse import parse, same_seat
from bidzoo.wrappers.bluechip.wire import PeerError, Wire

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

_STALE = 16  # lines of an unfinished board that a program may have sent before it heard of the next
_UNDERWAY = (say.Ready, say.ReadyForCall, say.ReadyForCard, say.Call, say.Play)  # what such lines say


@dataclass(frozen=True)
class Opening:
    """A board begins."""

    board: Board


@dataclass(frozen=True)
class Act:
    """``said`` by ``actor``; ``trick`` 0 in the auction; ``lead``: the first card of a trick."""

    actor: int
    said: say.Call | say.Play
    trick: int = 0
    lead: bool = False

    @property
    def action(self) -> int:
        """Number of the call or card in ``bridge_v0``."""
        return self.said.call if isinstance(self.said, say.Call) else NUM_CALLS + self.said.card


@dataclass(frozen=True)
class Shown:
    """Dummy's cards are faced."""

    dummy: int
    hand: int


Event = Opening | Act | Shown


class Chair:
    """``policy``, or with None a program; its methods raise ``PeerError`` naming it."""

    def __init__(self, seat: int, policy: Policy | None) -> None:
        self.seat, self.policy = seat, policy
        self.wire: Wire | None = None
        self.upper = False  # it writes capitals, and is written to in capitals
        self.started = False  # it knows the teams
        self.heard = 0  # events of this board
        self.strikes = 0  # faults on this board

    def sit(self, wire: Wire, upper: bool) -> None:
        """A program sits down; it has heard nothing yet."""
        self.wire, self.upper, self.started, self.heard = wire, upper, False, 0

    def leave(self, fault: PeerError) -> None:
        """Tell the program why, if it still listens, and break off."""
        if self.wire is not None:
            with suppress(PeerError):
                self.wire.send(f"Refused: {fault.received}, expected {fault.expected}")
            self.wire.close()
        self.wire = None

    def start(self, teams: say.Teams) -> None:
        """From seated to ready for the first board."""
        if not self.started:
            self.expect(say.Ready(self.seat, "for teams"))
            self.say(teams)
            self.expect(say.Ready(self.seat, "to start"))
            self.started = True

    def catch_up(self, script: list[Event]) -> None:
        """Hear what is new of this board, or all of it again after coming back."""
        while self.heard < len(script):
            self.tell(script[self.heard])
            self.heard += 1

    # ---- lines -----------------------------------------------------------------------------

    def say(self, message: Message) -> None:
        """Send a line, if a program sits here."""
        if self.wire is not None:
            self.wire.send(text(message, self.upper))

    def receive(self, expected: str) -> Message:
        """The next line."""
        assert self.wire is not None  # a program sits here
        line = self.wire.receive(expected)
        try:
            return parse(line)
        except ValueError as problem:
            raise PeerError(self.wire.who, str(problem), expected) from None

    def expect(self, *messages: Message) -> None:
        """The next line must say one of ``messages``."""
        received = self.receive(repr(text(messages[0])))
        if received not in messages:
            raise self.fault(received, repr(text(messages[0])))

    def fault(self, received: Message, expected: str) -> PeerError:
        """``received`` was not ``expected``."""
        assert self.wire is not None
        return PeerError(self.wire.who, repr(text(received)), expected)

    # ---- a board ---------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """Hear of ``event``; if it was one's own, act again in the same way."""
        if isinstance(event, Opening):
            self._open(event.board)
        elif isinstance(event, Shown):
            if self.seat != event.dummy:
                self.expect(say.Ready(self.seat, "for dummy"))
                self.say(say.Cards(DUMMY, event.hand))
        elif event.actor == self.seat:
            again = self.ask(event.said.seat, event.trick, event.lead)
            if again.action != event.action:
                raise self.fault(again.said, f"{text(event.said)!r}, as before it came back")
        elif isinstance(event.said, say.Call):
            self.expect(say.ReadyForCall(self.seat, event.actor))
            partner = (event.actor - self.seat) % 2 == 0  # explanations are for the opponents only (Law 16)
            self.say(say.Call(event.actor, event.said.call) if partner else event.said)
        else:
            hand = event.said.seat
            ready = say.ReadyForCard(self.seat, hand, event.trick)
            as_dummy = say.ReadyForCard(self.seat, DUMMY, event.trick)
            self.expect(ready, *((as_dummy,) if hand != event.actor else ()))
            self.say(event.said)

    def _open(self, board: Board) -> None:
        self.say(say.StartOfBoard())
        ready = say.Ready(self.seat, "for deal")
        for _ in range(_STALE):
            message = self.receive(repr(text(ready)))
            if message == ready:
                break
            if not isinstance(message, _UNDERWAY) or message.seat not in (self.seat, (self.seat + 2) % 4, DUMMY):
                raise self.fault(message, repr(text(ready)))
        else:
            raise self.fault(message, f"{text(ready)!r} within {_STALE} lines")
        self.say(say.Deal(board.number, board.dealer, board.vulnerable))
        self.expect(say.Ready(self.seat, "for cards"))
        self.say(say.Cards(self.seat, int(board.hands[self.seat])))

    def ask(self, hand: int, trick: int, lead: bool, legal: list[int] | None = None) -> Act:
        """Its call, or with ``trick`` its card from ``hand``; checked by ``legal`` ``[A]`` if given."""
        dummy = hand if hand != self.seat else -1
        if lead:
            self.say(say.ToLead(DUMMY if hand == dummy else hand))
        wanted = (
            f"'{NAMES[hand]} plays ...'" if trick else f"'{NAMES[hand]} passes', 'doubles', 'redoubles' or 'bids ...'"
        )
        message = self.receive(wanted)
        if trick and isinstance(message, say.Play):  # declarer may name dummy's cards as dummy's or as its own
            right = same_seat(message.seat, hand, dummy) or message.seat == self.seat
            act = Act(self.seat, say.Play(hand, message.card), trick, lead)
        elif not trick and isinstance(message, say.Call):
            right, act = message.seat == hand, Act(self.seat, message)
        else:
            raise self.fault(message, wanted)
        if not right:
            raise self.fault(message, wanted)
        if legal is not None and not legal[act.action]:
            with suppress(PeerError):
                self.say(say.Illegal("card" if trick else "bid"))
            allowed = [action for action, can in enumerate(legal) if can]
            words = " ".join(card_text(a - NUM_CALLS) if trick else call_text(a) for a in allowed)
            raise self.fault(message, f"a legal one: {words}")
        return act
