"""Messages as lines over a socket, with limits on time and length, and the listener that gives programs their seats."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread

from bidzoo.bluechip.message import CODEC, NAMES, VERSION, Connect, Message, Seated, parse, team_name, text

LIMIT = 1024  # bytes in a line
_BLANKS = 64  # empty lines in a row
_GREETINGS = 16  # at once; of more, the oldest that has said nothing goes
_GREETING = 10.0  # s to say who one is
_LEAVING = 2.0  # s; who asks for a taken seat waits so long, for whoever sat there may just have broken off
_EXPECTED = f'Connecting "team" as North using protocol version {VERSION}'

Log = Callable[[str], None]


class PeerError(ValueError):
    """A peer broke off, kept silent, or said something that has no place here."""

    def __init__(self, who: str, received: str, expected: str) -> None:
        super().__init__(f"{who}: received {received}, expected {expected}")
        self.who, self.received, self.expected = who, received, expected


@dataclass(frozen=True)
class Limits:
    """Seconds that a peer is granted."""

    patience: float = 300.0  # s for one message
    pause: float = 0.0  # s before each line that is sent (some programs read only one line at a time)


class Connection:
    """One peer; every ``PeerError`` names it as ``who``."""

    def __init__(self, peer: socket.socket, who: str, limits: Limits) -> None:
        self.who, self.limits = who, limits
        self.upper = False  # the peer writes capitals, and reads what it writes
        self._socket = peer
        self._buffer = b""
        peer.settimeout(limits.patience)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each short line waits for a receipt

    def send(self, message: Message) -> None:
        """Send ``message`` in the form that the peer writes."""
        self.send_line(text(message, self.upper))

    def receive(self, expected: str) -> Message:
        """The next message; ``expected`` is for the error."""
        line = self.receive_line(expected)
        try:
            return parse(line)
        except ValueError as problem:
            raise PeerError(self.who, str(problem), expected) from None

    def unexpected(self, message: Message, expected: str) -> PeerError:
        """The error that ``message`` came where ``expected`` should."""
        return PeerError(self.who, repr(text(message)), expected)

    def refuse(self, fault: PeerError) -> None:
        """Tell the peer what was wrong, if it still listens, and break off."""
        with suppress(PeerError):
            self.send_line(f"Refused: {fault.received}, expected {fault.expected}")
        self.close()

    # ---- lines -----------------------------------------------------------------------------

    def send_line(self, line: str) -> None:
        """Send one line."""
        if self.limits.pause:
            time.sleep(self.limits.pause)
        try:
            self._socket.settimeout(self.limits.patience)
            self._socket.sendall(line.encode(CODEC, "replace") + b"\r\n")
        except TimeoutError:
            raise PeerError(self.who, "nothing back while it did not read", f"it to take {line!r}") from None
        except OSError as problem:
            raise PeerError(self.who, f"a broken connection ({problem})", f"it to take {line!r}") from None

    def receive_line(self, expected: str, patience: float | None = None) -> str:
        """The next line that is not empty; ``expected`` is for the error."""
        seconds = self.limits.patience if patience is None else patience
        deadline = time.monotonic() + seconds
        for _ in range(_BLANKS):
            while b"\n" not in self._buffer:
                if len(self._buffer) > LIMIT:
                    raise PeerError(self.who, f"a line of more than {LIMIT} bytes", expected)
                self._buffer += self._more(deadline, seconds, expected)
            line, _, self._buffer = self._buffer.partition(b"\n")
            if len(line) > LIMIT:
                raise PeerError(self.who, f"a line of {len(line)} bytes", expected)
            if line.strip():
                return line.decode(CODEC).strip("\r")
        raise PeerError(self.who, f"{_BLANKS} empty lines", expected)

    def _more(self, deadline: float, seconds: float, expected: str) -> bytes:
        half = f"the half line {self._buffer[:80].decode(CODEC)!r}" if self._buffer else "nothing"
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            received = self._socket.recv(4096)
        except TimeoutError:
            raise PeerError(self.who, f"{half} in {seconds:g} s", expected) from None
        except OSError as problem:
            raise PeerError(self.who, f"{half}, then a broken connection ({problem})", expected) from None
        if not received:
            raise PeerError(self.who, f"{half}, then the end of the connection", expected)
        return received

    def alive(self) -> bool:
        """Nothing shows yet that the peer has gone. May be asked from another thread."""
        try:
            with self._socket.dup() as looker:  # its own timeout, so a waiting reader is not disturbed
                looker.setblocking(False)
                return looker.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Break the connection off; who waits on it gets a ``PeerError``."""
        with suppress(OSError):  # it was gone already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


# ---- who comes in ----------------------------------------------------------------------------


class Listener:
    """Lets programs in.

    Args:
        host: address to listen on.
        port: 0 picks a free one.
        pairs: which pair each seat belongs to, ``[4]``; None where a local policy sits.
        names: of the pairs by number, the same in both rooms; the first program of a pair names it.
        limits: what programs are granted.
        room: what reports call this room.
        report: gets a line on everybody who is turned away.
    """

    def __init__(
        self,
        host: str,
        port: int,
        pairs: Sequence[int | None],
        names: dict[int, str],
        limits: Limits,
        room: str,
        report: Log,
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
            elif (name := self.names.setdefault(pair, wanted.team)) != wanted.team:  # one step: both rooms may ask
                refusal = f'{NAMES[seat]} belongs to team "{name}"'
            else:
                return seat
        asked = "any seat" if wanted.seat is None else NAMES[wanted.seat]
        raise PeerError(connection.who, f'a request for {asked} by "{wanted.team}"', f"another one: {refusal}")

    def _taken(self, seat: int) -> bool:
        return any(seat in there and there[seat].alive() for there in (self._arrived, self._sitting))
