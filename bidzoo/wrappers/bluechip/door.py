"""The door of a room: it listens, and lets programs in to the seats that are kept for them."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import BoundedSemaphore, Condition, Lock, Thread

from bidzoo.wrappers.bluechip.message import NAMES, VERSION, Connect, Seated, team_name, text
from bidzoo.wrappers.bluechip.parse import parse
from bidzoo.wrappers.bluechip.wire import Limits, PeerError, Wire

_GREETINGS = 16  # at once
_GREETING = 10.0  # s to say who one is
_LEAVING = 2.0  # s; who asks for a taken seat waits so long, for whoever sat there may just have broken off
_EXPECTED = f'Connecting "team" as North using protocol version {VERSION}'

Report = Callable[[str], None]


class Names:
    """The names of the two pairs, the same in both rooms: the first program of a pair names it."""

    def __init__(self, first: str | None, second: str | None) -> None:
        self._names, self._lock = [first, second], Lock()

    def claim(self, pair: int, name: str) -> str:
        """``name`` if the pair may be or is called that, else what it is called."""
        with self._lock:
            current = self._names[pair]
            if current is None:
                self._names[pair] = current = name
            return current

    def __getitem__(self, pair: int) -> str:
        return self._names[pair] or "?"


class Door:
    """Lets programs in.

    Args:
        host: address to listen on.
        port: 0 picks a free one.
        pairs: which pair each seat belongs to, ``[4]``; None where a local policy sits.
        names: of the pairs.
        room: what reports call this room.
        report: gets a line on everybody who is turned away.
    """

    def __init__(
        self,
        host: str,
        port: int,
        pairs: Sequence[int | None],
        names: Names,
        limits: Limits,
        room: str,
        report: Report,
    ) -> None:
        self._pairs, self._names, self._limits, self._report, self.room = tuple(pairs), names, limits, report, room
        self._changed = Condition()
        self._arrived: dict[int, tuple[Wire, bool]] = {}  # not yet at the table
        self._sitting: dict[int, Wire] = {}
        self._greeted: set[Wire] = set()  # they have not said who they are
        self._open = True
        self._greetings = BoundedSemaphore(_GREETINGS)
        try:
            self._listener = socket.create_server((host, port))
        except OSError as problem:
            raise ValueError(f"{room} room: cannot listen on {host}:{port} ({problem})") from None
        self.port: int = self._listener.getsockname()[1]
        Thread(target=self._listen, name=f"{room} door", daemon=True).start()

    def take(self, seat: int, seconds: float) -> tuple[Wire, bool] | None:
        """Whoever sat down at ``seat``, and whether it writes in capitals; None if nobody comes in time."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._open and seat not in self._arrived:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            if not self._open:
                return None
            wire, upper = self._arrived.pop(seat)
            self._sitting[seat] = wire
            return wire, upper

    def close(self) -> None:
        """Nobody comes in any more, and whoever sits must go."""
        with self._changed:
            self._open = False
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
            self._listener.close()
            for wire in [*self._sitting.values(), *(wire for wire, _ in self._arrived.values()), *self._greeted]:
                wire.close()
            self._changed.notify_all()

    # ---- greeting --------------------------------------------------------------------------

    def _listen(self) -> None:
        while self._open:
            try:
                connection, address = self._listener.accept()
            except OSError:
                return
            if self._greetings.acquire(blocking=False):
                Thread(target=self._greet, args=(connection, str(address[0])), daemon=True).start()
            else:
                connection.close()

    def _greet(self, connection: socket.socket, address: str) -> None:
        wire = Wire(connection, f"{self.room} room, somebody from {address}", self._limits)
        with self._changed:
            self._greeted.add(wire)
        try:
            line = wire.receive(_EXPECTED, min(_GREETING, self._limits.patience))
            self._seat(wire, line)
        except PeerError as fault:
            self._report(str(fault))
            with suppress(PeerError):
                wire.send(f"Refused: {fault.received}, expected {fault.expected}")
            wire.close()
        finally:
            with self._changed:
                self._greeted.discard(wire)
                if not self._open:
                    wire.close()
            self._greetings.release()

    def _seat(self, wire: Wire, line: str) -> None:
        try:
            wanted = parse(line)
        except ValueError as problem:
            raise PeerError(wire.who, str(problem), _EXPECTED) from None
        if not isinstance(wanted, Connect):
            raise PeerError(wire.who, repr(line[:200]), _EXPECTED)
        if wanted.version != VERSION:
            raise PeerError(wire.who, f"protocol version {wanted.version}", f"version {VERSION}")
        try:
            team_name(wanted.team)
        except ValueError as problem:
            raise PeerError(wire.who, str(problem), _EXPECTED) from None
        with self._changed:
            deadline = time.monotonic() + _LEAVING
            while wanted.seat is not None and self._taken(wanted.seat) and time.monotonic() < deadline:
                self._changed.wait(0.05)
            seat = self._place(wire, wanted)
            wire.who = f'{self.room} room, {NAMES[seat]} ("{wanted.team}")'
            upper = wanted.seat is None or NAMES[seat].upper() in line
            wire.send(text(Seated(seat, wanted.team), upper))
            if seat in self._arrived:
                self._arrived[seat][0].close()  # it is gone
            self._arrived[seat] = (wire, upper)
            self._changed.notify_all()

    def _place(self, wire: Wire, wanted: Connect) -> int:
        """The seat that ``wanted`` gets; PeerError says why none."""
        refusal = "all seats are taken or kept for another team"
        for seat in range(4) if wanted.seat is None else (wanted.seat,):
            pair = self._pairs[seat]
            if pair is None:
                refusal = f"{NAMES[seat]} is played by the table manager"
            elif self._taken(seat):
                refusal = f"{NAMES[seat]} is taken"
            elif (name := self._names.claim(pair, wanted.team)) != wanted.team:
                refusal = f'{NAMES[seat]} belongs to team "{name}"'
            else:
                return seat
        asked = "any seat" if wanted.seat is None else NAMES[wanted.seat]
        raise PeerError(wire.who, f'a request for {asked} by "{wanted.team}"', f"another one: {refusal}")

    def _taken(self, seat: int) -> bool:
        there = [self._arrived[seat][0]] if seat in self._arrived else []
        there += [self._sitting[seat]] if seat in self._sitting else []
        return any(wire.alive() for wire in there)
