"""Where programs come into a room: those who may sit down get the seats that are kept for them."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Condition, Thread

from bidzoo.bluechip.connection import Connection, Limits, PeerError
from bidzoo.bluechip.message import NAMES, VERSION, Connect, Seated, parse, team_name

_GREETINGS = 16  # at once; of more, the oldest that has said nothing goes
_GREETING = 10.0  # s to say who one is
_LEAVING = 2.0  # s; who asks for a taken seat waits so long, for whoever sat there may just have broken off
_EXPECTED = f'Connecting "team" as North using protocol version {VERSION}'

Report = Callable[[str], None]


class Names:
    """The names of the two pairs, the same in both rooms: the first program of a pair names it."""

    def __init__(self, first: str | None, second: str | None) -> None:
        self._names = {pair: name for pair, name in enumerate((first, second)) if name is not None}

    def claim(self, pair: int, name: str) -> str:
        """``name`` if the pair may be or is called that, else what it is called."""
        return self._names.setdefault(pair, name)  # in one step: both rooms may ask at once

    def __getitem__(self, pair: int) -> str:
        return self._names.get(pair, "?")


class Listener:
    """Lets programs in.

    Args:
        host: address to listen on.
        port: 0 picks a free one.
        pairs: which pair each seat belongs to, ``[4]``; None where a local policy sits.
        names: of the pairs.
        limits: what programs are granted.
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
        self.room, self.names, self.report = room, names, report
        self._pairs, self._limits = tuple(pairs), limits
        self._changed = Condition()
        self._arrived: dict[int, Connection] = {}  # not yet at the table
        self._sitting: dict[int, Connection] = {}
        self._greeted: dict[Connection, bool] = {}  # not yet seated, in their order; whether they have said anything
        self._open = True
        try:
            self._server = socket.create_server((host, port))
        except OSError as problem:
            raise ValueError(f"{room} room: cannot listen on {host}:{port} ({problem})") from None
        self.port: int = self._server.getsockname()[1]
        Thread(target=self._listen, name=f"{room} listener", daemon=True).start()

    def take(self, seat: int, seconds: float) -> Connection | None:
        """Whoever sat down at ``seat``; None if nobody comes in time."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._open and seat not in self._arrived:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            if not self._open:
                return None
            self._sitting[seat] = self._arrived.pop(seat)
            return self._sitting[seat]

    def close(self) -> None:
        """Nobody comes in any more, and whoever sits must go."""
        with self._changed:
            self._open = False
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)  # wakes accept()
            self._server.close()
            for connection in (*self._sitting.values(), *self._arrived.values(), *self._greeted):
                connection.close()
            self._changed.notify_all()

    # ---- greeting --------------------------------------------------------------------------

    def _listen(self) -> None:
        while self._open:
            try:
                peer, address = self._server.accept()
            except OSError:
                return
            connection = Connection(peer, f"{self.room} room, somebody from {address[0]}", self._limits)
            if self._room_for(connection):
                Thread(target=self._greet, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _room_for(self, connection: Connection) -> bool:
        """``connection`` may greet us, perhaps in the place of one that is silent: nobody keeps a seat away so."""
        with self._changed:
            if len(self._greeted) >= _GREETINGS:
                silent = next((other for other, spoke in self._greeted.items() if not spoke), None)
                if silent is None:
                    return False
                del self._greeted[silent]
                silent.close()
            self._greeted[connection] = False
            return True

    def _greet(self, connection: Connection) -> None:
        try:
            line = connection.receive_line(_EXPECTED, min(_GREETING, self._limits.patience))
            with self._changed:
                self._greeted[connection] = True
            self._seat(connection, line)
        except PeerError as fault:
            self.report(str(fault))
            connection.refuse(fault)
        finally:
            with self._changed:
                self._greeted.pop(connection, None)
                if not self._open:
                    connection.close()

    def _seat(self, connection: Connection, line: str) -> None:
        try:
            wanted = parse(line)
            if isinstance(wanted, Connect):
                team_name(wanted.team)
        except ValueError as problem:
            raise PeerError(connection.who, str(problem), _EXPECTED) from None
        if not isinstance(wanted, Connect):
            raise PeerError(connection.who, repr(line[:200]), _EXPECTED)
        if wanted.version != VERSION:
            raise PeerError(connection.who, f"protocol version {wanted.version}", f"version {VERSION}")
        with self._changed:
            deadline = time.monotonic() + _LEAVING
            while wanted.seat is not None and self._taken(wanted.seat) and time.monotonic() < deadline:
                self._changed.wait(0.05)
            seat = self._place(connection, wanted)
            connection.who = f'{self.room} room, {NAMES[seat]} ("{wanted.team}")'
            connection.upper = wanted.seat is None or NAMES[seat].upper() in line
            connection.send(Seated(seat, wanted.team))
            if seat in self._arrived:
                self._arrived[seat].close()  # it is gone
            self._arrived[seat] = connection
            self._changed.notify_all()

    def _place(self, connection: Connection, wanted: Connect) -> int:
        """The seat that ``wanted`` gets; PeerError says why none."""
        refusal = "all seats are taken or kept for another team"
        for seat in range(4) if wanted.seat is None else (wanted.seat,):
            pair = self._pairs[seat]
            if pair is None:
                refusal = f"{NAMES[seat]} is played by the table manager"
            elif self._taken(seat):
                refusal = f"{NAMES[seat]} is taken"
            elif (name := self.names.claim(pair, wanted.team)) != wanted.team:
                refusal = f'{NAMES[seat]} belongs to team "{name}"'
            else:
                return seat
        asked = "any seat" if wanted.seat is None else NAMES[wanted.seat]
        raise PeerError(connection.who, f'a request for {asked} by "{wanted.team}"', f"another one: {refusal}")

    def _taken(self, seat: int) -> bool:
        return any(seat in there and there[seat].alive() for there in (self._arrived, self._sitting))
