"""Messages as lines over a socket, with limits: how long to wait, how long a line may be."""

import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from bidzoo.bluechip.message import CODEC, Message, parse, text

LIMIT = 1024  # bytes in a line
_BLANKS = 64  # empty lines in a row


class PeerError(ValueError):
    """A peer broke off, kept silent, or said something that has no place here."""

    def __init__(self, who: str, received: str, expected: str) -> None:
        super().__init__(f"{who}: received {received}, expected {expected}")
        self.who, self.received, self.expected = who, received, expected


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes that a peer is granted."""

    patience: float = 300.0  # s for one message
    pause: float = 0.0  # s before each line that is sent (some programs read only one line at a time)
    line: int = LIMIT  # bytes of a line


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
                if len(self._buffer) > self.limits.line:
                    raise PeerError(self.who, f"a line of more than {self.limits.line} bytes", expected)
                self._buffer += self._more(deadline, seconds, expected)
            line, _, self._buffer = self._buffer.partition(b"\n")
            if len(line) > self.limits.line:
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
