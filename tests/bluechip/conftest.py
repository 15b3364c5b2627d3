"""Programs for the tests of the Blue Chip protocol: each client runs in a thread of its own."""

import socket
from contextlib import ExitStack, closing
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from bidzoo.agents.bridge.sayc import Pass
from bidzoo.bluechip.boards import Record, seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.connection import Limits, PeerError
from bidzoo.bluechip.server import Settings, TableManager
from bidzoo.envs.bridge.game import Bridge

WAIT = 240.0  # s; nothing takes that long unless it hangs: kernels may have to be compiled first


def settings(**changes):
    """On free ports, patient with compilers."""
    usual = {"port": 0, "closed_port": 0, "limits": Limits(patience=120.0), "grace": 0.3, "seating": 120.0}
    return Settings(**{**usual, **changes})


class Guest(Thread):
    """A client in a thread; ``problem`` is what it ended with, if anything."""

    def __init__(self, client, port):
        super().__init__(daemon=True)
        self.client, self.port, self.problem = client, port, None
        self.start()

    def run(self):
        try:
            self.client.run(port=self.port)
        except PeerError as problem:
            self.problem = str(problem)

    def done(self):
        """Wait until it has left."""
        self.join(WAIT)
        assert not self.is_alive()
        return self


class Match(Thread):
    """A table manager in a thread, with what it reported."""

    def __init__(self, game, first, second, boards, record=None, **changes):
        super().__init__(daemon=True)
        self.reports, self.problem = [], None
        self.manager = TableManager(game, first, second, settings(**changes), self.reports.append)
        self.boards, self.record = boards, record
        self.start()

    def run(self):
        try:
            self.record = self.manager.run(self.boards, self.record)
        except ValueError as problem:
            self.problem = str(problem)

    def done(self):
        """Wait for the end; the record."""
        self.join(WAIT)
        assert not self.is_alive(), "the match hangs"
        return self.record

    def port(self, room="open"):
        """Where that room listens."""
        return self.manager.ports[room]


class Fragile(Client):
    """A client that does ``harm(client)`` instead of saying its ``at``-th message."""

    def __init__(self, *arguments, at, harm, **options):
        super().__init__(*arguments, **options)
        self.left, self.harm = at, harm

    def _send(self, message):
        self.left -= 1
        if self.left == 0:
            self.harm(self)
        else:
            super()._send(message)


class Listed:
    """Calls and cards from a list of action numbers, by turn."""

    name = "listed"

    def __init__(self, actions):
        self.actions = actions

    def act(self, views, legal, rng):
        """The action of each row's turn."""
        return np.array([self.actions[view["length"] + view["plays"]] for view in views], np.int64)


class Alerting(Listed):
    """Alerts every bid."""

    def alert(self, view, call):
        """``"says 7"`` for 1NT."""
        return f"says {call}" if call > 2 else None


class Raw:
    """A program line by line."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile(encoding="latin-1", newline="\r\n")

    def say(self, *lines):
        """Send lines."""
        self.socket.sendall("".join(f"{line}\r\n" for line in lines).encode("latin-1"))
        return self

    def hear(self, count=1):
        """The last of so many lines; empty at the end."""
        return [self.file.readline().strip() for _ in range(count)][-1]

    def close(self):
        """Break off."""
        self.file.close()
        self.socket.close()


def against_passers(boards=2, record=None, **changes):
    """A room of auctions with a program at South and passers elsewhere."""
    us, game = Pass(), Bridge(play=False, deals="test")
    return Match(game, (us, None), (us, us), seeded(game, range(boards)), record, rooms=["open"], **changes)


@pytest.fixture
def kept():
    """Makes records of matches, and closes them."""
    with ExitStack() as made:
        yield lambda path, match: made.enter_context(closing(Record(path, match)))


@pytest.fixture
def connect():
    """Makes programs, and closes them."""
    with ExitStack() as made:
        yield lambda port: made.enter_context(closing(Raw(port)))


@pytest.fixture(scope="session")
def tm():
    """The classes above, and a game of auctions and one with cards."""
    return SimpleNamespace(
        Match=Match,
        against_passers=against_passers,
        Guest=Guest,
        Fragile=Fragile,
        Listed=Listed,
        Alerting=Alerting,
        auction=Bridge(play=False, deals="test"),
        cards=Bridge(play=True, deals="test"),
    )
