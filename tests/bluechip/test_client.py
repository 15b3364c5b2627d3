"""The client at a table manager that fails, and lines over a socket."""

import socket
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.agents.bridge.sayc import Pass
from bidzoo.bluechip.boards import seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.connection import LIMIT, Connection, Limits, PeerError


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["Sorry, we are full"], "received 'Sorry, we are full', expected South (\"bidzoo\") seated"),
        (['East ("bidzoo") seated'], "received 'East (\"bidzoo\") seated', expected South"),
        (['South ("bidzoo") seated', "Start of board"], "received 'Start of board', expected Teams"),
        (["SEATED"], "Board number 1. Dealer North."),
        (["SEATED", "DEAL", "East's cards : S A K Q J T 9 8 7 6 5 4 3 2. H -. D -. C -."], "expected South's cards"),
        (["SEATED", "DEAL", "CARDS", "North bids 8C"], "'North bids 8C': not a call"),
        (
            ["SEATED", "DEAL", "CARDS", "North doubles"],
            "received 'North doubles', expected a call by North out of P 1C",
        ),
        (["SEATED", "DEAL", "CARDS", "East passes"], "received 'East passes', expected a call by North out of"),
        (["SEATED", "DEAL", "CARDS", "CALLS", "East plays AS"], "expected a card by East that it can hold, not AS"),
        (
            ["SEATED", "DEAL", "CARDS", "CALLS", "East plays AD", "Dummy's cards : S -. H A. D A. C A."],
            "3 cards, expected 13",
        ),
        (
            ["SEATED", "DEAL", "CARDS", "CALLS", "TRICK", "East plays AD"],  # a hidden hand plays a card twice
            "received 'East plays AD', expected a card by East that it can hold, not AD",
        ),
        (
            ["SEATED", "DEAL", "CARDS", "CALLS", "TRICK", "East plays 2D"],
            "expected a card by East that it can hold, not 2D",
        ),
        (["x" * 9000], f"a line of more than {LIMIT} bytes"),
        ([], "then the end of the connection"),
    ],
)
def test_a_table_manager_that_makes_no_sense_is_quoted(tm, lines, words):
    said = {
        "SEATED": ['South ("bidzoo") seated', 'Teams : N/S : "bidzoo" E/W : "b"', "Start of board"],
        "DEAL": ["Board number 1. Dealer North. Neither vulnerable."],
        "CARDS": ["South's cards : S A K Q J T 9 8 7 6 5 4 3 2. H -. D -. C -."],
        "TRICK": ["East plays AD", "South plays 2S", "West plays KD", "North plays 2D"],
        "CALLS": ["North bids 1C", "East passes", "West passes"],
    }
    with socket.create_server(("127.0.0.1", 0)) as listener:
        guest = tm.Guest(Client(Pass(), 2), listener.getsockname()[1])
        connection, _ = listener.accept()
        text = "".join(f"{line}\r\n" for word in lines for line in said.get(word, [word]))
        with suppress(OSError):  # the guest may have hung up on what it read first
            connection.sendall(text.encode())
            connection.shutdown(socket.SHUT_WR)
        guest.done()
        connection.close()
    assert guest.problem.startswith("table manager 127.0.0.1:")
    assert words in guest.problem or (lines == ["SEATED"] and "expected Board number" in guest.problem)


def test_nobody_listens(tm):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(PeerError, match=f"table manager 127.0.0.1:{port}: received no connection"):
        Client(Pass(), 2).run(port=port)


def test_a_board_broken_off_is_marked_and_the_next_one_begins(tm):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        guest = tm.Guest(Client(Pass(), 2), listener.getsockname()[1])
        connection, _ = listener.accept()
        board = ["Start of board", "Board number 1. Dealer North. Neither vulnerable."]
        cards = ["South's cards : S A K Q J T 9 8 7 6 5 4 3 2. H -. D -. C -."]
        lines = ['South ("bidzoo") seated', 'Teams : N/S : "bidzoo" E/W : "b"', *board, *cards, "North passes"]
        lines += [*board, *board, *cards, "North passes", "East passes", "West passes", "End of session"]
        connection.sendall("".join(f"{line}\r\n" for line in lines).encode())
        guest.done()
        connection.close()
    assert guest.problem is None
    assert [heard.contract for heard in guest.client.heard] == [None, "Pass"]


def test_a_policy_that_breaks_the_laws_is_named(tm):
    rogue = tm.Listed([1] * 4)
    match = tm.Match(tm.auction, (rogue, rogue), (rogue, rogue), seeded(tm.auction, [0]))
    match.done()
    assert match.problem.startswith("listed: illegal action 1 at board 0; legal: [0, 3, 4")


def connected(**limits):
    """Two ends: a connection and a socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = socket.create_connection(listener.getsockname())
        there, _ = listener.accept()
    return Connection(here, "peer", Limits(**limits)), there


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=400), st.integers(1, 64))
def test_bytes_become_lines_however_they_arrive(content, size):
    connection, there = connected(patience=5)
    for start in range(0, len(content), size):
        there.sendall(content[start : start + size])
    there.sendall(b"\r\nend\n")
    expected = [line for line in content.split(b"\n") if line.strip()][:60]
    blanks = content.count(b"\n") > 60
    received = []
    try:
        while not received or received[-1] != "end":
            received.append(connection.receive_line("a line"))
    except PeerError as problem:
        assert blanks and "empty lines" in str(problem)
    for line, sent in zip(received, expected):
        assert line == sent.decode("latin-1").strip("\r")
    connection.close()
    there.close()


def test_limits_of_a_line():
    connection, there = connected(patience=0.2)
    there.sendall(b"\r\n" * 20 + b"x" * LIMIT + b"\r\n" + b"y" * 60 + b"\r\n")
    with pytest.raises(PeerError, match=f"peer: received a line of {LIMIT + 1} bytes, expected something"):
        connection.receive_line("something")
    connection.close()
    there.close()
    connection, there = connected(patience=0.1)
    there.sendall(b"half")
    began = time.monotonic()
    with pytest.raises(PeerError, match=r"received the half line 'half' in 0.1 s, expected more"):
        connection.receive_line("more")
    assert time.monotonic() - began >= 0.1
    there.sendall(b"\n" * 100)
    assert connection.receive_line("the rest") == "half"
    with pytest.raises(PeerError, match="64 empty lines"):
        connection.receive_line("something")
    assert connection.alive()
    there.close()
    connection.close()
    assert not connection.alive()


def test_a_peer_that_never_reads_does_not_block_for_ever():
    connection, there = connected(patience=0.2)
    with pytest.raises(PeerError, match="while it did not read"):
        for _ in range(100_000):
            connection.send_line("x" * 1000)
    there.close()
    connection.close()
