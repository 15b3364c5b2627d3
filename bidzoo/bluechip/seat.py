"""A seat at the table manager's table: a policy of ours, or a program that is spoken to line by line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bidzoo.agents.policy import part_of
from bidzoo.bluechip import message as say
from bidzoo.bluechip.boards import DealtBoard
from bidzoo.bluechip.connection import Connection, PeerError
from bidzoo.bluechip.message import DUMMY, NAMES, Message, text
from bidzoo.core.cards import NUM_CALLS, call_text, card_text
from bidzoo.core.kernels import I8, I64, States
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import ask_one
from bidzoo.envs.bridge.state import PLAY
from bidzoo.envs.game import Table

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy

_MAX_STALE = 16  # lines of an unfinished board that a program may have sent before it heard of the next
_STALE_TYPES = (say.Ready, say.ReadyForCall, say.ReadyForCard, say.CallMade, say.Play)  # messages of such lines


# ---- policies --------------------------------------------------------------------------------


class BidderAndPlayer:
    """Two policies as one: ``bidder`` sees auctions (38 actions), ``player`` the play (90)."""

    def __init__(self, bidder: Policy, player: Policy) -> None:
        self.bidder, self.player = bidder, player
        self.name = bidder.name

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``: the bidder's in the auction, the player's in the play."""
        actions = np.empty(len(views), np.int64)
        playing = views["phase"] == PLAY
        for mask, policy, width in ((~playing, self.bidder, NUM_CALLS), (playing, self.player, legal.shape[1])):
            rows = np.flatnonzero(mask)
            if len(rows):
                legal_here = np.ascontiguousarray(legal[rows, :width])
                actions[rows] = part_of(policy, views[rows], legal_here, rng[rows])
        return actions

    def alert(self, view: States, call: int) -> str | None:
        """What ``call`` from ``view`` ``[1]`` tells, for the opponents, if the bidder discloses; None: no alert."""
        disclose = getattr(self.bidder, "alert", None)
        return disclose(view, call) if disclose else None


def choose(policy: Policy, table: Table, seed: int) -> say.CallMade | say.Play:
    """What ``policy`` calls, with its alert, or plays from the hand whose turn it is at ``table``; as ``ask_one``."""
    state, action = table.states[0], ask_one(policy, table, seed)
    if state["phase"] == PLAY:
        return say.Play(int(state["hand_to_play"]), action - NUM_CALLS)
    disclose = getattr(policy, "alert", None)
    note = disclose(table.game.view_of(table.states, table.out.player), action) if disclose else None
    return say.CallMade(int(state["turn"]), action, note is not None, say.note_text(note or ""))


# ---- events ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Act:
    """A call or card by ``actor``; ``trick`` is 0 in the auction; ``lead``: the first card of a trick."""

    actor: int
    message: say.CallMade | say.Play
    trick: int = 0
    lead: bool = False

    @property
    def action(self) -> int:
        """Number of the call or card in ``bridge_v0``."""
        return self.message.call if isinstance(self.message, say.CallMade) else NUM_CALLS + self.message.card


@dataclass(frozen=True)
class Shown:
    """Dummy's cards are faced."""

    dummy: int
    hand: int


Event = DealtBoard | Act | Shown  # the first: a board begins


# ---- the seat --------------------------------------------------------------------------------


class Seat:
    """Seat ``number`` with its ``policy``, or with None a program; methods raise ``PeerError`` naming the program."""

    def __init__(self, number: int, policy: Policy | None) -> None:
        self.number, self.policy = number, policy
        self.connection: Connection | None = None
        self.started = False  # the program knows the teams
        self.heard = 0  # events of this board that it has heard
        self.strikes = 0  # faults on this board

    def sit(self, connection: Connection) -> None:
        """A program sits down; it has heard nothing yet."""
        self.connection, self.started, self.heard = connection, False, 0

    def leave(self, fault: PeerError) -> None:
        """Tell the program why, if it still listens, and break off."""
        if self.connection is not None:
            self.connection.refuse(fault)
        self.connection = None

    @property
    def program(self) -> Connection:
        """The connection of the program that sits here."""
        assert self.connection is not None  # ``Room`` speaks only to programs that are there
        return self.connection

    def start(self, teams: say.Teams) -> None:
        """Take the program from seated to ready for the first board."""
        if not self.started:
            self.expect(say.Ready(self.number, "for teams"))
            self.say(teams)
            self.expect(say.Ready(self.number, "to start"))
            self.started = True

    def catch_up(self, script: list[Event]) -> None:
        """Tell the program the events of this board that it has not heard: all of them after it came back."""
        while self.heard < len(script):
            self.tell(script[self.heard])
            self.heard += 1

    def say(self, message: Message) -> None:
        """Send ``message``, if a program sits here."""
        if self.connection is not None:
            self.connection.send(message)

    def expect(self, *messages: Message) -> None:
        """The next line must say one of ``messages``."""
        expected = repr(text(messages[0]))
        received = self.program.receive(expected)
        if received not in messages:
            raise self.program.unexpected(received, expected)

    # ---- a board ---------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """Tell the program of ``event``; if that was its own act, it must act again in the same way."""
        if isinstance(event, DealtBoard):
            self._open(event)
        elif isinstance(event, Shown):
            if self.number != event.dummy:
                self.expect(say.Ready(self.number, "for dummy"))
                self.say(say.Cards(DUMMY, event.hand))
        elif event.actor == self.number:
            act = self.ask(event.message.seat, event.trick, event.lead)
            if act.action != event.action:
                raise self.program.unexpected(act.message, f"{text(event.message)!r}, as before it came back")
        elif isinstance(event.message, say.CallMade):
            self.expect(say.ReadyForCall(self.number, event.actor))
            partner = (event.actor - self.number) % 2 == 0  # explanations are for the opponents only (Law 16)
            self.say(say.CallMade(event.actor, event.message.call) if partner else event.message)
        else:
            hand = event.message.seat
            ready = say.ReadyForCard(self.number, hand, event.trick)
            as_dummy = say.ReadyForCard(self.number, DUMMY, event.trick)
            self.expect(ready, *((as_dummy,) if hand != event.actor else ()))
            self.say(event.message)

    def _open(self, board: DealtBoard) -> None:
        self.say(say.StartOfBoard())
        ready = say.Ready(self.number, "for deal")
        for _ in range(_MAX_STALE):
            message = self.program.receive(repr(text(ready)))
            if message == ready:
                break
            if not isinstance(message, _STALE_TYPES) or message.seat not in (self.number, (self.number + 2) % 4, DUMMY):
                raise self.program.unexpected(message, repr(text(ready)))
        else:
            raise self.program.unexpected(message, f"{text(ready)!r} within {_MAX_STALE} lines")
        self.say(say.Deal(board.number, board.dealer, board.vulnerable))
        self.expect(say.Ready(self.number, "for cards"))
        self.say(say.Cards(self.number, int(board.hands[self.number])))

    def ask(self, hand: int, trick: int, lead: bool, legal: list[int] | None = None) -> Act:
        """The program's call, or in ``trick`` its card from ``hand``; checked against ``legal`` ``[A]`` if given."""
        dummy = hand != self.number
        if lead:
            self.say(say.ToLead(DUMMY if dummy else hand))
        expected = "plays ...'" if trick else "passes', 'doubles', 'redoubles' or 'bids ...'"
        expected = f"'{NAMES[hand]} {expected}"
        message = self.program.receive(expected)
        names = (hand, self.number, DUMMY) if dummy else (hand,)  # declarer may name dummy's cards as its own
        if trick and isinstance(message, say.Play) and message.seat in names:
            act = Act(self.number, say.Play(hand, message.card), trick, lead)
        elif not trick and isinstance(message, say.CallMade) and message.seat == hand:
            act = Act(self.number, message)
        else:
            raise self.program.unexpected(message, expected)
        if legal is not None and not legal[act.action]:
            with suppress(PeerError):
                self.say(say.Illegal("card" if trick else "bid"))
            allowed = [action for action, can in enumerate(legal) if can]
            legal_texts = " ".join(card_text(a - NUM_CALLS) if trick else call_text(a) for a in allowed)
            raise self.program.unexpected(message, f"a legal one: {legal_texts}")
        return act
