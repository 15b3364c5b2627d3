"""The text of every message, both ways: the forms that other programs write, and that ours read back."""

import string
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.bluechip import message as say
from bidzoo.bluechip.message import DUMMY, hand_of, parse, text
from bidzoo.core.cards import call_number, card_number, hand_number

N, E, S, W = range(4)

# what is said, by whom: OpenSpiel's record of WBridge5, the specification, other table managers and programs
SEEN = [
    ('Connecting "WBridge5" as ANYPL using protocol version 18', say.Connect("WBridge5", None, 18)),
    ('connecting "RoboNS" as North using protocol version 18', say.Connect("RoboNS", N, 18)),
    ('Connecting "BEN" as South using protocol version 18.', say.Connect("BEN", S, 18)),
    ('EAST ("WBridge5") seated', say.Seated(E, "WBridge5")),
    ('west "..." seated', say.Seated(W, "...")),
    ("EAST ready for teams", say.Ready(E, "for teams")),
    ("North ready for teams.", say.Ready(N, "for teams")),
    ('Teams: N/S "north-south" E/W "east-west"', say.Teams("north-south", "east-west")),
    ('Teams : N/S : "RoboNS" E/W : "RoboEW"', say.Teams("RoboNS", "RoboEW")),
    ('Teams : N/S : "X". E/W : "Y"', say.Teams("X", "Y")),
    ("EAST ready to start", say.Ready(E, "to start")),
    ("start of board", say.StartOfBoard()),
    ("Start of Board", say.StartOfBoard()),
    ("EAST ready for deal", say.Ready(E, "for deal")),
    ("Board number 1. Dealer NORTH. Neither vulnerable.", say.Deal(1, N, 0)),
    ("Board number 8. Dealer West. N/S vulnerable.", say.Deal(8, W, 1)),
    ("board number 16.  dealer west.  E/W vulnerable", say.Deal(16, W, 2)),
    ("Board number 13. Dealer North. Both vulnerable.", say.Deal(13, N, 3)),
    ("EAST ready for cards", say.Ready(E, "for cards")),
    ("EAST's cards: C A J T 9 6. D A 8 7. H A T 5. S Q 9.", say.Cards(E, hand_number("Q9.AT5.A87.AJT96"))),
    ("North's cards : S A T 4 3. H T 8 5 3. D K T. C K T 6. ", say.Cards(N, hand_number("AT43.T853.KT.KT6"))),
    ("north's cards : S A K J 4 3. H -. D 6 5 4 3. C Q J T 9.", say.Cards(N, hand_number("AKJ43..6543.QJT9"))),
    ("South's cards : S a k 10 4 3. H . D 6 5 4 3. C QJ10 9.", say.Cards(S, hand_number("AKT43..6543.QJT9"))),
    ("Dummy's cards: C K Q 4. D K 4. H K Q J 8 7 6 2. S 3.", say.Cards(DUMMY, hand_number("3.KQJ8762.K4.KQ4"))),
    ("EAST ready for  NORTH's bid", say.ReadyForCall(E, N)),
    ("EAST PASSES", say.CallMade(E, 0)),
    ("East passes.", say.CallMade(E, 0)),
    ("NORTH DOUBLES", say.CallMade(N, 1)),
    ("north  redoubles", say.CallMade(N, 2)),
    ("EAST bids 4C Alert.", say.CallMade(E, call_number("4C"), True)),
    ("WEST bids 3nt", say.CallMade(W, call_number("3NT"))),
    ("WEST bids 3N", say.CallMade(W, call_number("3NT"))),
    ("north bids 1NT Alert. 12 to 14 total points", say.CallMade(N, call_number("1NT"), True, "12 to 14 total points")),
    ("South doubles. Alert. Take-out", say.CallMade(S, 1, True, "Take-out")),
    ("East passes alert", say.CallMade(E, 0, True)),
    ("EAST ready for SOUTH's card to trick 1", say.ReadyForCard(E, S, 1)),
    ("West ready for dummy's card to trick 13.", say.ReadyForCard(W, DUMMY, 13)),
    ("EAST ready for dummy", say.Ready(E, "for dummy")),
    ("EAST to lead", say.ToLead(E)),
    ("Dummy to lead", say.ToLead(DUMMY)),
    ("SOUTH plays 7s", say.Play(S, card_number("7S"))),
    ("West plays TD", say.Play(W, card_number("TD"))),
    ("West plays 10d", say.Play(W, card_number("TD"))),
    ("West plays DT", say.Play(W, card_number("TD"))),
    ("dummy plays ah", say.Play(DUMMY, card_number("AH"))),
    (
        "Timing - N/S : this board  [1:15],  total  [0:11:23].  E/W : this board  [1:18],  total  [0:10:23]",
        say.Timing((75, 683), (78, 623)),
    ),
    (
        "Timing - N/S : this board  00:05,  total  0:00:33.  E/W : this board  00:08,  total  0:00:29",
        say.Timing((5, 33), (8, 29)),
    ),
    ("Illegal bid", say.Illegal("bid")),
    ("illegal card", say.Illegal("card")),
    ("End of session", say.EndOfSession()),
]

# WBridge5's form and the specification's, as written
WRITTEN = [
    (say.Connect("a b", None), 'Connecting "a b" as ANYPL using protocol version 18', None),
    (say.Seated(E, "WBridge5"), 'EAST ("WBridge5") seated', 'East ("WBridge5") seated'),
    (say.Teams("a", "b"), 'Teams: N/S "a" E/W "b"', 'Teams : N/S : "a" E/W : "b"'),
    (say.StartOfBoard(), "start of board", "Start of board"),
    (say.Deal(8, W, 0), "Board number 8. Dealer WEST. Neither vulnerable.", None),
    (say.Cards(E, hand_number("Q9.AT5.A87.AJT96")), "EAST's cards: C A J T 9 6. D A 8 7. H A T 5. S Q 9.", None),
    (
        say.Cards(N, hand_number("AKJ43..6543.QJT9")),
        "NORTH's cards: C Q J T 9. D 6 5 4 3. H -. S A K J 4 3.",
        "North's cards : S A K J 4 3. H -. D 6 5 4 3. C Q J T 9.",
    ),
    (say.CallMade(E, 0), "EAST PASSES", "East passes"),
    (say.CallMade(E, 7, True, "15 to 17"), "EAST bids 1NT Alert. 15 to 17", "East bids 1NT Alert. 15 to 17"),
    (say.Play(S, card_number("7S")), "SOUTH plays 7s", "South plays 7S"),
    (say.ReadyForCard(E, DUMMY, 2), "EAST ready for Dummy's card to trick 2", "East ready for dummy's card to trick 2"),
    (say.ToLead(DUMMY), "Dummy to lead", "Dummy to lead"),
]


@pytest.mark.parametrize(("line", "message"), SEEN, ids=[line for line, _ in SEEN])
def test_every_form_in_use_is_understood(line, message):
    assert parse(line) == message
    assert parse(f"  {line.replace(' ready', '   ready').replace(' : ', '  :   ')} ") == message
    if '"' not in line and "lert. " not in line:  # names and notes keep their case
        assert parse(line.upper()) == parse(line.lower()) == message


@pytest.mark.parametrize(("message", "upper", "title"), WRITTEN)
def test_what_is_written(message, upper, title):
    assert text(message, upper=True) == upper
    if title is not None:
        assert text(message) == title


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "no message"),
        ("GET / HTTP/1.1", "no message"),
        ("Connecting team as South using protocol version 18", "no message"),
        ('Connecting "a" as Centre using protocol version 18', "seat 'Centre', expected North"),
        ("North bids 8C", "not a call: '8C'"),
        ("North plays 1s", "not a card: '1s'"),
        ("North's cards : S A K. H -. D 6 5 4 3. C Q J T 9.", "10 cards, expected 13"),
        ("North's cards : S A A J 4 3. H -. D 6 5 4 3. C Q J T 9.", "AS appears twice"),
        ("North's cards : S A K J 4 3. S Q. D 6 5 4 3. C Q J T.", "expected the suits S H D C, each once"),
        ("North's cards : S A X J 4 3. H -. D 6 5 4 3. C Q J T 9.", "'X' is not a rank"),
        ("Centre passes", "no message"),
        ("Board number 3. Dealer Sud. Both vulnerable.", "no message"),
    ],
)
def test_what_is_no_message_is_quoted(line, words):
    with pytest.raises(ValueError) as problem:
        parse(line)
    assert repr(line) in str(problem.value)
    assert words in str(problem.value)


def test_team_names_fit_between_quotes():
    for name in ("", 'a"b', "a\r\nb", "x" * 101):
        with pytest.raises(ValueError, match="team name"):
            text(say.Connect(name, N))


seats, hands = st.integers(0, 3), st.integers(0, DUMMY)
words = st.text(string.ascii_letters + string.digits + " -/'()?!,", min_size=1, max_size=60)
names = words.map(str.strip).filter(lambda name: name not in ("", "-", "?"))
notes = words.map(lambda note: " ".join(note.split()))
deals = st.permutations(range(52)).map(lambda cards: sum(1 << card for card in cards[:13]))
stages = st.sampled_from(["for teams", "to start", "for deal", "for cards", "for dummy"])
seconds = st.tuples(st.integers(0, 5999), st.integers(0, 5999))
messages = st.one_of(
    st.builds(say.Connect, names, st.none() | seats, st.integers(0, 99)),
    st.builds(say.Seated, seats, names),
    st.builds(say.Teams, names, names),
    st.builds(say.Ready, seats, stages),
    st.builds(say.ReadyForCall, seats, seats),
    st.builds(say.ReadyForCard, seats, hands, st.integers(1, 13)),
    st.just(say.StartOfBoard()),
    st.builds(say.Deal, st.integers(1, 10**6), seats, st.integers(0, 3)),
    st.builds(say.Cards, hands, deals),
    st.builds(say.CallMade, seats, st.integers(0, 37)),
    st.builds(say.CallMade, seats, st.integers(0, 37), st.just(True), notes),
    st.builds(say.ToLead, hands),
    st.builds(say.Play, hands, st.integers(0, 51)),
    st.builds(say.Timing, seconds, seconds),
    st.builds(say.Illegal, st.sampled_from(["bid", "card"])),
    st.just(say.EndOfSession()),
)


@pytest.mark.parametrize("name", ["日本", "♥", "#", "##x", "?", "-", " a", "a ", "a\tb", "\ud800"])
def test_team_names_that_lines_or_files_cannot_hold(name):
    """They became ``??``, or a player of another game."""
    with pytest.raises(ValueError, match="team name"):
        say.team_name(name)
    with pytest.raises(ValueError, match="team name"):
        text(say.Connect(name, 0))


def test_explanations_are_one_line_that_files_can_hold():
    assert say.note_text(" 5+ ♥,\r\nnot\0forcing\x85 ♠ 日 é ") == "5+ H, not forcing S ? é"
    assert len(say.note_text("long " * 1000)) <= say.LONGEST_NOTE
    assert parse("North bids 1H Alert. a\0b\x07").note == "a b"
    assert text(say.CallMade(0, 5, True, "5+ ♥")) == "North bids 1H Alert. 5+ H"


@settings(max_examples=300, deadline=None)
@given(messages, st.booleans())
def test_written_and_read_back(message, upper):
    line = text(message, upper)
    assert parse(line) == message
    assert "\n" not in line
    assert len(line.encode()) < 1024


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=80), messages.map(text).flatmap(lambda line: st.permutations(line).map("".join))))
def test_nothing_read_goes_wrong_in_another_way(line):
    with suppress(ValueError):
        parse(line)


@settings(max_examples=50, deadline=None)
@given(deals, st.permutations("SHDC"))
def test_cards_in_any_order_of_suits(hand, order):
    assert hand_of(say.hand_words(hand, "".join(order))) == hand
