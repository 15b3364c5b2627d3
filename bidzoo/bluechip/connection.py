"""Messages as lines over a socket, with limits on time and length, and the listener that gives programs their seats."""

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread

from bidzoo.bluechip.message import CODEC, NAMES, VERSION, Connect, Message, Seated, parse, team_name, text

LIMIT = 1024  # bytes in a line
_BLANKS = 64  # empty lines in a row
_GREETINGS = 16  # newcomers at once; of more, the oldest that has said nothing is closed
_GREETING = 10.0  # s to send a greeting
_ACCEPTING = 0.2  # s until the next connection is taken after one that could not be
_LEAVING = 2.0  # s to wait for a taken seat: the program there may just have broken off
_EXPECTED = f'Connecting "team" as North using protocol version {VERSION}'

Log = Callable[[str], None]


class PeerError(ValueError):
    """A peer broke off, kept silent, or sent something unexpected."""

    def __init__(self, name: str, received: str, expected: str) -> None:
        super().__init__(f"{name}: received {received}, expected {expected}")
        self.name, self.received, self.expected = name, received, expected


@dataclass(frozen=True)
class Limits:
    """Seconds that a peer is granted."""

    patience: float = 300.0  # s for one message
    pause: float = 0.0  # s before each line that is sent (some programs read only one line at a time)


class Connection:
    """The connection to one peer, which every ``PeerError`` calls ``name``."""

    def __init__(self, peer: socket.socket, name: str, limits: Limits) -> None:
        self.name, self.limits = name, limits
        self.upper = False  # the peer writes capitals, and reads what it writes
        self._socket = peer
        self._buffer = b""
        peer.settimeout(limits.patience)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else each short line waits for a receipt

    def send(self, message: Message) -> None:
        """Send ``message`` in the form that the peer writes."""
        self.send_line(text(message, self.upper))

    def receive(self, expected: str) -> Message:
        """The next message; ``expected`` is what an error says was expected."""
        line = self.receive_line(expected)
        try:
            return parse(line)
        except ValueError as problem:
            raise PeerError(self.name, str(problem), expected) from None

    def unexpected(self, message: Message, expected: str) -> PeerError:
        """The error for ``message`` where ``expected`` should have come."""
        return PeerError(self.name, repr(text(message)), expected)

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
            raise PeerError(self.name, "nothing back while it did not read", f"it to take {line!r}") from None
        except OSError as problem:
            raise PeerError(self.name, f"a broken connection ({problem})", f"it to take {line!r}") from None

    def receive_line(self, expected: str, patience: float | None = None) -> str:
        """The next line that is not empty; ``expected`` is what an error says was expected."""
        seconds = self.limits.patience if patience is None else patience
        deadline = time.monotonic() + seconds
        for _ in range(_BLANKS):
            while b"\n" not in self._buffer:
                if len(self._buffer) > LIMIT:
                    raise PeerError(self.name, f"a line of more than {LIMIT} bytes", expected)
                self._buffer += self._receive_bytes(deadline, seconds, expected)
            line, _, self._buffer = self._buffer.partition(b"\n")
            if len(line) > LIMIT:
                raise PeerError(self.name, f"a line of {len(line)} bytes", expected)
            if line.strip():
                return line.decode(CODEC).strip("\r")
        raise PeerError(self.name, f"{_BLANKS} empty lines", expected)

    def _receive_bytes(self, deadline: float, seconds: float, expected: str) -> bytes:
        half = f"the half line {self._buffer[:80].decode(CODEC)!r}" if self._buffer else "nothing"
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            received = self._socket.recv(4096)
        except TimeoutError:
            raise PeerError(self.name, f"{half} in {seconds:g} s", expected) from None
        except OSError as problem:
            raise PeerError(self.name, f"{half}, then a broken connection ({problem})", expected) from None
        if not received:
            raise PeerError(self.name, f"{half}, then the end of the connection", expected)
        return received

    def alive(self) -> bool:
        """Whether the peer still seems to be there. May be called from another thread."""
        try:
            with self._socket.dup() as duplicate:  # its own timeout, so a waiting reader is not disturbed
                duplicate.setblocking(False)
                return duplicate.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        """Break the connection off; a thread that waits on it gets a ``PeerError``."""
        with suppress(OSError):  # it was gone already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


# ---- the listener ----------------------------------------------------------------------------


class Listener:
    """Accepts programs and gives them their seats.

    Args:
        host: address to listen on.
        port: 0 picks a free one.
        pairs: which pair each seat belongs to, ``[4]``; None where a local policy sits.
        names: of the pairs by number, the same in both rooms; the first program of a pair names it.
        limits: what programs are granted.
        room: the name of this room in reports.
        report: gets a line on every program that is refused.
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
        self._arrivals: dict[int, Connection] = {}  # by seat, not yet taken to the table
        self._seated: dict[int, Connection] = {}  # by seat, at the table
        self._newcomers: dict[Connection, bool] = {}  # without a seat, oldest first; True once it has said anything
        self._open = True
        try:
            self._server = socket.create_server((host, port))
        except OSError as problem:
            raise ValueError(f"{room} room: cannot listen on {host}:{port} ({problem})") from None
        self.port: int = self._server.getsockname()[1]
        Thread(target=self._listen, name=f"{room} listener", daemon=True).start()

    def take(self, seat: int, seconds: float) -> Connection | None:
        """The connection of the program that asks for ``seat``; None if none comes in time."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._open and seat not in self._arrivals:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            if not self._open:
                return None
            self._seated[seat] = self._arrivals.pop(seat)
            return self._seated[seat]

    def close(self) -> None:
        """Stop listening and close all connections."""
        with self._changed:
            self._open = False
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)  # wakes accept()
            self._server.close()
            for connection in (*self._seated.values(), *self._arrivals.values(), *self._newcomers):
                connection.close()
            self._changed.notify_all()

    # ---- greeting --------------------------------------------------------------------------

    def _listen(self) -> None:
        while self._open:
            try:
                peer, address = self._server.accept()
                connection = Connection(peer, f"{self.room} room, somebody from {address[0]}", self._limits)
            except OSError as problem:
                if self._open:  # one that is gone already, or this process has too many files open for now
                    self.report(f"{self.room} room: a connection could not be taken ({problem})")
                    time.sleep(_ACCEPTING)
                continue
            if self._admit(connection):
                Thread(target=self._greet, args=(connection,), daemon=True).start()
            else:
                connection.close()

    def _admit(self, connection: Connection) -> bool:
        """Admit ``connection`` as a newcomer, if there are too many in place of a silent one; False if none is."""
        with self._changed:
            if len(self._newcomers) >= _GREETINGS:
                silent = next((newcomer for newcomer, spoke in self._newcomers.items() if not spoke), None)
                if silent is None:
                    return False
                del self._newcomers[silent]
                silent.close()
            self._newcomers[connection] = False
            return True

    def _greet(self, connection: Connection) -> None:
        try:
            line = connection.receive_line(_EXPECTED, min(_GREETING, self._limits.patience))
            with self._changed:
                self._newcomers[connection] = True
            self._seat(connection, line)
        except PeerError as fault:
            self.report(str(fault))
            connection.refuse(fault)
        finally:
            with self._changed:
                self._newcomers.pop(connection, None)
                if not self._open:
                    connection.close()

    def _seat(self, connection: Connection, line: str) -> None:
        try:
            request = parse(line)
            if isinstance(request, Connect):
                team_name(request.team)
        except ValueError as problem:
            raise PeerError(connection.name, str(problem), _EXPECTED) from None
        if not isinstance(request, Connect):
            raise PeerError(connection.name, repr(line[:200]), _EXPECTED)
        if request.version != VERSION:
            raise PeerError(connection.name, f"protocol version {request.version}", f"version {VERSION}")
        with self._changed:
            deadline = time.monotonic() + _LEAVING
            while request.seat is not None and self._taken(request.seat) and time.monotonic() < deadline:
                self._changed.wait(0.05)
            seat = self._choose_seat(connection, request)
            connection.name = f'{self.room} room, {NAMES[seat]} ("{request.team}")'
            connection.upper = request.seat is None or NAMES[seat].upper() in line
            connection.send(Seated(seat, request.team))
            if seat in self._arrivals:
                self._arrivals[seat].close()  # no longer alive
            self._arrivals[seat] = connection
            self._changed.notify_all()

    def _choose_seat(self, connection: Connection, request: Connect) -> int:
        """The seat that ``request`` gets; a PeerError says why it gets none."""
        refusal = "all seats are taken or kept for another team"
        for seat in range(4) if request.seat is None else (request.seat,):
            pair = self._pairs[seat]
            if pair is None:
                refusal = f"{NAMES[seat]} is played by the table manager"
            elif self._taken(seat):
                refusal = f"{NAMES[seat]} is taken"
            elif (name := self.names.setdefault(pair, request.team)) != request.team:  # one step: both rooms may ask
                refusal = f'{NAMES[seat]} belongs to team "{name}"'
            else:
                return seat
        seat_text = "any seat" if request.seat is None else NAMES[request.seat]
        raise PeerError(connection.name, f'a request for {seat_text} by "{request.team}"', f"another one: {refusal}")

    def _taken(self, seat: int) -> bool:
        return any(seat in group and group[seat].alive() for group in (self._arrivals, self._seated))
