"""Whatever anybody says, in whatever order: the other side ends in good time and says what it was."""

import socket

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bidzoo.agents.policy import Uniform
from bidzoo.bluechip import message as say
from bidzoo.bluechip.boards import seeded
from bidzoo.bluechip.client import Client
from bidzoo.bluechip.message import text

SOUTH = 2
HELLO = [text(say.Connect("guest", SOUTH)), *(text(say.Ready(SOUTH, s)) for s in ("for teams", "to start", "for deal"))]
SCRIPT = [*HELLO, text(say.Ready(SOUTH, "for cards"))]  # a good beginning
hands = st.permutations(range(52)).map(lambda cards: sum(1 << card for card in cards[:13]))
messages = st.one_of(
    st.builds(say.Ready, st.just(SOUTH), st.sampled_from(["for deal", "for cards", "for dummy"])),
    st.builds(say.ReadyForCall, st.just(SOUTH), st.integers(0, 3)),
    st.builds(say.ReadyForCard, st.just(SOUTH), st.integers(0, 4), st.integers(1, 13)),
    st.builds(say.CallMade, st.integers(0, 3), st.integers(0, 37), st.booleans(), st.just("note")),
    st.builds(say.Play, st.integers(0, 4), st.integers(0, 51)),
    st.builds(say.ToLead, st.integers(0, 4)),
    st.builds(say.Cards, st.integers(0, 4), hands),
    st.builds(say.Deal, st.integers(1, 16), st.integers(0, 3), st.integers(0, 3)),
    st.sampled_from([say.StartOfBoard(), say.EndOfSession(), say.Timing((1, 2), (3, 4)), say.Seated(SOUTH, "guest")]),
).map(lambda message: text(message).encode())
lines = st.lists(st.one_of(messages, messages, st.binary(max_size=30)), max_size=12)
few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few
@given(st.integers(0, len(SCRIPT)), lines, st.booleans())
def test_table_manager(tm, polite, rest, cards):
    us, game = Uniform(), tm.cards if cards else tm.auction
    match = tm.Match(game, (us, None), (us, us), seeded(game, range(2)), rooms=["open"], grace=0.0, seating=0.3)
    with socket.create_connection(("127.0.0.1", match.port())) as program:
        program.sendall(b"".join(line + b"\r\n" for line in [*(line.encode() for line in SCRIPT[:polite]), *rest]))
        program.shutdown(socket.SHUT_WR)
        record = match.done()
    whole = [result for result in record.results.values() if result.points is not None] if record else []
    assert len(whole) == 2 or match.problem or any(result.faults for result in record.results.values())
    assert match.reports or match.problem or len(whole) == 2


@few
@given(st.integers(0, 6), lines)
def test_client(tm, polite, rest):
    hand = int(np.int64(0b1111) << np.int64(48) | np.int64(0b111111111))
    good = [say.Seated(SOUTH, "guest"), say.Teams("guest", "b"), say.StartOfBoard(), say.Deal(1, 2, 0)]
    good += [say.Cards(SOUTH, hand), say.CallMade(3, 0)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        guest = tm.Guest(Client(Uniform(), SOUTH, "guest"), listener.getsockname()[1])
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"".join(line + b"\r\n" for line in [*(text(m).encode() for m in good[:polite]), *rest]))
            connection.shutdown(socket.SHUT_WR)
            guest.done()
    assert guest.problem or any(b"End of session" in line for line in rest)
