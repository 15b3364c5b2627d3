"""Who may sit down, and what the others are told."""

import errno
import os
import socket
import time

import pytest

from bidzoo.agents.bridge.sayc import Pass
from bidzoo.bluechip.boards import seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.connection import LIMIT, Limits, Listener

HELLO = 'Connecting "guest" as South using protocol version 18'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("GET / HTTP/1.1", "'GET / HTTP/1.1' is no message of the protocol"),
        ("\0\1\2\3", "is no message of the protocol"),
        ("South ready for teams", "received 'South ready for teams', expected Connecting"),
        (HELLO.replace("18", "19"), "received protocol version 19, expected version 18"),
        (HELLO.replace("18", "17"), "received protocol version 17, expected version 18"),
        (HELLO.replace("18", "0"), "received protocol version 0, expected version 18"),
        (HELLO.replace("guest", "#"), "team name '#': expected one that does not mean"),
        (HELLO.replace("guest", "##x"), "team name '##x': expected one that does not mean"),
        (HELLO.replace("guest", "?"), "team name '?': expected one that does not mean"),
        (HELLO.replace("guest", " a"), "team name ' a': expected 1 ... 100 printable characters"),
        (HELLO.replace("South", "Centre"), "seat 'Centre', expected North, East, South, West or ANYPL"),
        (HELLO.replace("South", "Dummy"), "seat 'Dummy', expected North, East, South, West or ANYPL"),
        (HELLO.replace("South", "North"), 'a request for North by "guest", expected another one: North is played by'),
        (HELLO.replace("guest", ""), "team name '': expected 1 ... 100 printable characters"),
        ("x" * (LIMIT + 1), f"a line of {LIMIT + 2} bytes"),
        ("x" * 9000, f"a line of more than {LIMIT} bytes"),
    ],
)
def test_who_does_not_introduce_itself_is_turned_away_and_the_next_one_plays(tm, line, words, connect):
    match = tm.against_passers()
    raw = connect(match.port()).say(line)
    refusal = raw.hear()
    raw.close()
    guest = tm.Guest(Client(Pass(), 2, "guest"), match.port())
    record = match.done()
    assert guest.done().problem is None
    assert [result.points for result in record.results.values()] == [0, 0]
    [report] = match.reports
    assert words in report
    assert report.startswith("open room, somebody from 127.0.0.1: received ")
    assert refusal.startswith("Refused: ") or "bytes" in words  # a reset may overtake the answer to a flood


def test_a_seat_is_given_once_and_a_team_has_one_name(tm, connect):
    match = tm.Match(tm.auction, (None, None), (Pass(), Pass()), seeded(tm.auction, [0]), rooms=["open"])
    south = connect(match.port()).say(HELLO)
    assert south.hear() == 'South ("guest") seated'
    second = connect(match.port()).say(HELLO)
    assert second.hear().endswith("another one: South is taken")
    unknown = connect(match.port()).say(HELLO.replace("South", "North").replace("guest", "unknown"))
    assert unknown.hear().endswith('another one: North belongs to team "guest"')
    anybody = connect(match.port()).say(HELLO.replace("South", "ANYPL").replace("guest", "unknown"))
    assert anybody.hear().endswith("another one: West is played by the table manager")
    south.close()
    for raw in (second, unknown, anybody):
        raw.close()
    guests = [tm.Guest(Client(Pass(), seat, "guest"), match.port()) for seat in (0, 2)]  # the first South is gone
    match.done()
    assert [guest.done().problem for guest in guests] == [None, None]


def test_nobody_comes(tm):
    match = tm.against_passers(seating=0.1)
    match.done()
    assert match.problem == "open room: received nobody at South, expected programs in 0.1 s"


def test_only_this_machine_may_connect_unless_told(tm):
    match = tm.against_passers(seating=0.1)
    assert match.manager._rooms["open"].listener._server.getsockname()[0] == "127.0.0.1"
    match.done()


def test_a_port_in_use_is_named(tm):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ValueError, match=f"open room: cannot listen on 127.0.0.1:{port}"):
            tm.against_passers(port=port)


def test_silent_connections_do_not_keep_others_out(tm, connect):
    match = tm.against_passers()
    for _ in range(8):
        connect(match.port())
    guest = tm.Guest(Client(Pass(), 2, "guest"), match.port())
    match.done()
    assert guest.done().problem is None


def test_a_listener_goes_on_where_a_connection_cannot_be_taken(monkeypatch):
    """One that is gone already, and a moment at which this process may open no more files."""
    said, accept, limits = [], socket.socket.accept, [errno.EMFILE, errno.ECONNABORTED]

    def fails(server):
        accepted = accept(server)
        if limits:
            accepted[0].close()
            raise OSError(limits[0], os.strerror(limits.pop(0)))
        return accepted

    monkeypatch.setattr(socket.socket, "accept", fails)
    listener = Listener("127.0.0.1", 0, [0, 1, 0, 1], {}, Limits(), "open", said.append)
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", listener.port)) as lost:
            assert lost.recv(1) == b""
    with socket.create_connection(("127.0.0.1", listener.port)) as program:
        program.settimeout(10)
        program.sendall(b'Connecting "a" as North using protocol version 18\r\n')
        assert program.recv(100) == b'North ("a") seated\r\n'
    listener.close()
    assert len(said) == 2 and "open room: a connection could not be taken ([Errno 24] " in said[0]


def test_a_listener_greets_no_crowd():
    listener = Listener("127.0.0.1", 0, [0, 1, 0, 1], {}, Limits(), "open", lambda line: None)
    crowd = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(20)]
    for connection in crowd[:4]:  # the oldest made room
        connection.settimeout(5)
        assert connection.recv(1) == b""
    for connection in crowd[4:]:
        connection.settimeout(0.01)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    for connection in crowd:
        connection.close()
    listener.close()
    assert listener.take(0, 5) is None


def test_silent_connections_keep_no_seat_away(tm):
    """More of them than may greet at once: the oldest goes for each that comes."""
    match = tm.against_passers()
    silent = [socket.create_connection(("127.0.0.1", match.port()), 10) for _ in range(50)]
    began = time.monotonic()
    guest = tm.Guest(Client(Pass(), 2, "guest"), match.port())
    while guest.client.teams is None and time.monotonic() - began < 8:
        time.sleep(0.01)
    assert guest.client.teams is not None  # seated before any of the silent ones gave up, which takes 10 s
    record = match.done()
    assert guest.done().problem is None
    assert len(record.results) == 2
    assert silent[0].recv(4096) == b""
    for peer in silent:
        peer.close()
