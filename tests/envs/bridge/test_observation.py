"""What a vector holds is what the viewer may know, no more and no less; and ``explain`` says so."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import (
    FIRST_BID,
    PASS,
    SEATS,
    STRAINS,
    SYMBOLS,
    call_number,
    call_text,
    card_number,
    card_text,
    hand_cards,
    hand_number,
    hand_text,
)
from bidzoo.core.kernels import I8, States
from bidzoo.envs.bridge.auction import legal_row
from bidzoo.envs.bridge.bidder import BIDDER1375, SYSTEMS288
from bidzoo.envs.bridge.features import AUCTION571, BMCS480, BMCS636, OPENSPIEL480, OPENSPIEL571, PLAY571, WHO
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import ENCODERS, encode_row, encode_value, state_encoder
from bidzoo.envs.bridge.state import AUCTION, OVER, PLAY
from bidzoo.envs.game import Buffers

PBN = "N:964.QJ.KJ87.KQJ5 AKQJ32.9652.93.6 T875.T43.AQT2.87 .AK87.654.AT9432"
GAME = Bridge(play=True)


def start(dealer: str = "N", vulnerable: str = "none", deal: Any = PBN, **kinds: Any) -> tuple[Bridge, States, Buffers]:
    game = Bridge(play=True, **kinds) if kinds else GAME
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([0]), 0, out)
    game.fix(tables, game.options({"deal": deal, "dealer": dealer, "vulnerability": vulnerable}), out)
    return game, tables, out


def act(game: Bridge, tables: States, out: Buffers, text: str) -> None:
    for word in text.split():
        action = game.action_number(word)
        assert out.mask[0, action], f"{word} is illegal in {text!r}"
        game.step(tables, np.array([action]), 0, out, 0)


def vector(name: str, tables: States, seat: int) -> I8:
    found: I8 = ENCODERS[name](GAME.view_of(tables, np.full(len(tables), seat)))[0]
    return found


def random_board(seed: int, deal: Any = None, passing: float = 0.6, **kinds: Any) -> tuple[States, np.random.Generator]:
    """A table somewhere between the first call and the end."""
    rng = np.random.default_rng(seed)
    if deal is None:
        deal = [int(sum(1 << int(card) for card in hand)) for hand in rng.permutation(52).reshape(4, 13)]
    vulnerable = ("none", "ns", "ew", "both")[rng.integers(4)]
    game, tables, out = start(SEATS[rng.integers(4)], vulnerable, deal, **kinds)
    for _ in range(rng.integers(60)):
        legal = np.flatnonzero(out.mask[0])
        if len(legal) == 0:
            break
        action = PASS if legal[0] == PASS and rng.random() < passing else rng.choice(legal)
        game.step(tables, np.array([action]), 0, out, 0)
    return tables, rng


# ---- layouts -----------------------------------------------------------------------------


def test_sizes_are_those_of_the_papers() -> None:
    assert {name: encoder.layout.size for name, encoder in ENCODERS.items()} == {
        "openspiel480": 4 + 4 + 35 * 12 + 52,
        "bmcs480": 4 + 4 + 3 * 35 * 4 + 52,
        "openspiel571": 4 + 7 + 5 + 3 + 4 + 2 + 52 + 52 + 2 * 208 + 2 * 13,
        "jps267": 52 + 5 * 35 + 2 + 38,
        "bidder1375": (4 + 4 + 35 * 4 + 35 + 52)
        + (3 * 4 * 38 + 2 * 36 + 4 + 35 + 4 + 3 + 4 + 4 * 5 + 7)  # calls
        + (26 + 28 + 28 + 16 + 4 * (10 + 11 + 6 + 4 + 1) + 39 + 12 + 5 + 5 + 4 * 6)  # the hand
        + 8 * (9 + 11 + 1 + 3 + 4),  # first and last bids
    }
    assert BMCS636.size == 480 + 3 * 52
    assert AUCTION571.size == PLAY571.size == OPENSPIEL571.size
    assert next(iter(ENCODERS)) == "openspiel480"


def test_the_global_state_entry_by_entry() -> None:
    """In the auction, in the play and at the second table, written out."""
    game, tables, out = start("S", "ns", reward="duplicate")
    encoder, tricks = state_encoder(True, True, True), np.arange(20) % 14
    tables["tricks"][0] = np.where(np.arange(20) == 4, -1, tricks)  # of N in notrumps nothing is known

    def shown() -> dict[str, set[str]]:
        parts = encoder.layout.read(encoder(tables)[0])
        assert {entry for part in parts.values() for entry in part.tolist()} == {0, 1}
        return {
            field.name: {field.labels[i] for i in np.flatnonzero(parts[field.name])} for field in encoder.layout.fields
        }

    known = {f"{SEATS[cell // 5]} {STRAINS[cell % 5]} {tricks[cell]}" for cell in range(20) if cell != 4}
    act(game, tables, out, "P 1C")
    parts = shown()
    assert parts["vulnerable"] == {"N/S are", "E/W are not"} and parts["dealer"] == {"S"} and parts["turn"] == {"N"}
    assert parts["bids"] == {"1C bid by W"} and len(parts["passed"]) == 1 and parts["tricks"] == known
    assert {seat: " ".join(sorted(parts[seat])) for seat in SEATS} == {
        seat: " ".join(sorted(map(card_text, hand_cards(int(hand))))) for seat, hand in zip(SEATS, tables["hands"][0])
    }
    for name in ("next card", "gone", "trick", "last trick", "second table", "result"):
        assert parts[name] == set()
    act(game, tables, out, "P 1NT P P P DA D6 DK D9 DQ")
    parts = shown()
    assert parts["turn"] == {"E"} and parts["next card"] == {"W"}  # declarer, for dummy
    assert parts["gone"] == {"AD", "6D", "KD", "9D", "QD"} and parts["won"] == {"N/S 1", "E/W 0"}
    assert parts["trick"] == {"QD by S"}
    assert parts["last trick"] == {"AD by S", "6D by W", "KD by N", "9D by E"}
    act(game, tables, out, "D5")
    parts = shown()
    assert parts["turn"] == parts["next card"] == {"N"} and len(parts["gone"]) == 6
    tables["leg"], tables["points"][0] = 1, (-1430, 0)
    parts = shown()
    assert parts["second table"] == {"yes"} and parts["result"] == {"negative", "10", "20", "40", "80", "1280"}


def test_openspiel571_tells_the_auction_from_the_opening_lead() -> None:
    game, tables, out = start("N")
    act(game, tables, out, "1C P P")
    assert vector("openspiel571", tables, 0)[:4].tolist() == [1, 0, 0, 0]
    act(game, tables, out, "P")
    assert vector("openspiel571", tables, 0)[:4].tolist() == [0, 1, 0, 0]


def test_labels_name_single_entries() -> None:
    game, tables, out = start()
    act(game, tables, out, "P 1S X XX")
    hand = [card_text(card) for card in hand_cards(hand_number("T875.T43.AQT2.87"))]
    for layout, name in ((OPENSPIEL480, "openspiel480"), (BMCS480, "bmcs480")):
        on = {layout.label(int(i)).split("[")[1] for i in np.flatnonzero(vector(name, tables, SEATS.index("S")))}
        auction = {"we are not]", "they are not]", "partner]"}
        auction |= {"1S bid by RHO]", "1S doubled by me]", "1S redoubled by LHO]"}
        assert on == auction | {f"{card}]" for card in hand}


def test_the_papers_blocks_hold_the_interleaved_entries() -> None:
    where = {label: i for i, label in enumerate(BMCS480.label(i) for i in range(480))}
    order = [where[re.sub(r"^bids\[(\S+ (\w+) .*)", r"\2[\1", OPENSPIEL480.label(i))] for i in range(480)]
    for seed in range(40):
        tables, _ = random_board(seed)
        for seat in range(4):
            assert (vector("bmcs480", tables, seat)[order] == vector("openspiel480", tables, seat)).all()


def test_figure_of_joint_policy_search() -> None:
    """Appendix D: South sees own 1H, partner's 1C and 2C, LHO's 1S, and 1C doubled."""
    game, tables, out = start("N")
    act(game, tables, out, "1C X 1H 1S 2C P")
    parts = ENCODERS["jps267"].layout.split(vector("jps267", tables, SEATS.index("S")))
    told = {
        name: [call_text(FIRST_BID + int(bid)) for bid in np.flatnonzero(parts[name])]
        for name in ("own", "partner", "left", "right", "doubled")
    }
    assert told == {"own": ["1H"], "partner": ["1C", "2C"], "left": ["1S"], "right": [], "doubled": ["1C"]}
    legal = [call_text(int(call)) for call in np.flatnonzero(parts["legal"])]
    assert legal[:3] == ["P", "2D", "2H"] and len(legal) == 1 + 29  # partner's bid cannot be doubled


def test_vulnerability_of_joint_policy_search_is_the_viewers() -> None:
    for side, (north, east) in {"none": ([0, 0], [0, 0]), "ns": ([1, 0], [0, 1]), "both": ([1, 1], [1, 1])}.items():
        _, tables, _ = start("N", side)
        for seat, expected in enumerate((north, east)):
            parts = ENCODERS["jps267"].layout.split(vector("jps267", tables, seat))
            assert parts["vulnerable"].tolist() == expected


# ---- properties --------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_a_state_and_a_view_look_the_same(seed: int) -> None:
    tables, rng = random_board(seed, reward="duplicate" if seed % 2 else "score")
    player = int(rng.integers(4))
    seat = (player + int(tables["leg"][0])) % 4
    for name, encoder in ENCODERS.items():
        seen = np.full(encoder.layout.size + 8, 7, np.int8)  # nothing may be written beyond the layout
        table = tables[0]
        hand, held = int(table["hands"][seat]), int(table["held"][seat])
        encode_row(table, hand, held, seat, encoder.code, seen[: encoder.layout.size])
        assert (seen[encoder.layout.size :] == 7).all()
        assert (seen[: encoder.layout.size] == vector(name, tables, player)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_hidden_cards_leave_no_trace_and_own_cards_do(seed: int) -> None:
    tables, rng = random_board(seed)
    player = int(rng.integers(4))
    other = tables.copy()
    views, keys = GAME.view_of(tables, np.array([player])), rng.integers(2**63, size=1, dtype=np.uint64)
    GAME.determinize(views, keys, other)
    for name in ENCODERS:
        assert (vector(name, tables, player) == vector(name, other, player)).all()
    swapped = tables.copy()
    swapped["hands"][0] = np.roll(tables["hands"][0], 1)
    assert (vector("openspiel480", swapped, player) != vector("openspiel480", tables, player)).any()


def test_rows_of_a_batch_do_not_touch() -> None:
    boards = [random_board(seed)[0] for seed in range(24)]
    players = np.arange(24) % 4
    tables = GAME.new(24)
    for b, board in enumerate(boards):
        tables[b] = board[0]
    views = GAME.view_of(tables, players)
    for name, encoder in ENCODERS.items():
        together = encoder(views)
        for b, (board, player) in enumerate(zip(boards, players, strict=True)):
            assert (together[b] == vector(name, board, int(player))).all(), (name, b)
    with pytest.raises(ValueError, match=r"expected \(24, 480\)"):
        ENCODERS["openspiel480"].encode(views, np.zeros((24, 571), np.int8))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_the_value_network_sees_lho_partner_rho(seed: int) -> None:
    tables, _ = random_board(seed, reward="duplicate")
    for player in range(4):
        out = np.full((1, 636), 7, np.int8)
        encode_value(tables, np.array([player]), out)
        assert (out[0, :480] == vector("bmcs480", tables, player)).all()
        seat = (player + int(tables["leg"][0])) % 4
        for who in (1, 2, 3):
            cards = np.flatnonzero(BMCS636.split(out[0])[WHO[who]])
            assert sum(1 << int(card) for card in cards) == tables["hands"][0, (seat + who) % 4]


# ---- explain -----------------------------------------------------------------------------


def line(text: str, start: str) -> str:
    """What stands after ``start:`` in the line that begins so."""
    (found,) = [row[len(start) + 2 :] for row in text.split("\n") if row.startswith(start + ": ")]
    return found


def hand_of(text: str) -> int:
    return hand_number(".".join(suit[1:] for suit in text.split()))


def said(table: Any, seat: int) -> str:
    """The auction as the entries tell it, from the state: passes after the last bid, double or redouble are lost."""
    length, dealer = int(table["length"]), int(table["dealer"])
    calls = [call_text(int(call)) for call in table["calls"][:length]]
    if calls == ["P"] * 4:
        return "all four passed"
    bids = [t for t, call in enumerate(calls) if call != "P"]
    end = bids[-1] + 1 if bids else length
    told = ", ".join(f"{WHO[(dealer + t - seat) % 4]} {call}" for t, call in enumerate(calls[:end]))
    return (told or "nobody has called") + (" (passes after the last of these are not shown)" if bids else "")


def sides(table: Any, seat: int) -> str:
    vulnerable = int(table["vulnerable"])
    return {0: "nobody", 1: "we", 2: "they", 3: "we and they"}[
        vulnerable if seat % 2 == 0 else (0, 2, 1, 3)[vulnerable]
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_auction_is_told_back(seed: int) -> None:
    tables, rng = random_board(seed, passing=float(np.random.default_rng(seed).uniform(0, 0.9)))
    table, seat = tables[0], int(rng.integers(4))
    texts = [ENCODERS[name].explain(vector(name, tables, seat)) for name in ("openspiel480", "bmcs480")]
    if table["plays"] == 0:
        texts.append(ENCODERS["openspiel571"].explain(vector("openspiel571", tables, seat)))
        assert texts[-1].startswith("opening lead" if table["phase"] == PLAY else "auction")
    for text in texts:
        assert line(text, "auction") == said(table, seat)
        assert line(text, "vulnerable") == sides(table, seat)
        assert hand_of(line(text, "my hand")) == table["hands"][seat]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_joint_policy_search_is_told_back(seed: int) -> None:
    tables, rng = random_board(seed, passing=0.3)
    table, seat = tables[0], int(rng.integers(4))
    text = ENCODERS["jps267"].explain(vector("jps267", tables, seat))
    expected, doubled = [], set()
    for t, call in enumerate(int(call) for call in table["calls"][: int(table["length"])]):
        if call >= FIRST_BID:
            expected.append(f"{WHO[(int(table['dealer']) + t - seat) % 4]} {call_text(call)}")
        elif call != PASS:
            doubled.add(len(expected) - 1)
    bids = [bid + (" (doubled)" if i in doubled else "") for i, bid in enumerate(expected)]
    assert line(text, "bids") == (", ".join(bids) or "none")
    assert line(text, "vulnerable") == sides(table, seat)
    assert hand_of(line(text, "my hand")) == table["hands"][seat]
    legal = np.zeros(38, np.int8)
    if table["phase"] == AUCTION and table["turn"] == seat:
        legal_row(table, legal)
    calls = " ".join(call_text(int(call)) for call in np.flatnonzero(legal))
    assert line(text, "legal calls") == (calls or "none, it is not my turn to call")


def trick(table: Any, first: int, end: int, seat: int) -> set[str]:
    cards = [(int(table["players"][i]), int(table["played"][i])) for i in range(first, end)]
    return {f"{WHO[(who - seat) % 4]} {SYMBOLS['CDHS'[card % 4]]}{'23456789TJQKA'[card // 4]}" for who, card in cards}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_play_is_told_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game, tables, out = start(SEATS[rng.integers(4)], ("none", "ns", "ew", "both")[rng.integers(4)])
    act(game, tables, out, ("P 1H P 2H P P X P P P", "1C P 1NT P P P", "7S X XX P P P")[rng.integers(3)])
    for _ in range(rng.integers(1, 53)):
        game.step(tables, rng.choice(np.flatnonzero(out.mask[0]), 1), 0, out, 0)
    table, seat = tables[0], int(rng.integers(4))
    text = ENCODERS["openspiel571"].explain(vector("openspiel571", tables, seat))
    declarer, plays, side = int(table["declarer"]), int(table["plays"]), int(table["declarer"]) % 2
    stake = {1: "", 2: "X", 4: "XX"}[int(table["stake"])]
    hot = "vulnerable" if int(table["vulnerable"]) >> side & 1 else "not vulnerable"
    contract = f"{call_text(FIRST_BID + int(table['bid']))}{stake} by {WHO[(declarer - seat) % 4]}, {hot}"
    assert line(text, "contract") == contract
    assert line(text, "tricks") == f"declarer {table['won'][side]}, defence {table['won'][1 - side]}"
    assert hand_of(line(text, "my cards")) == table["held"][seat]
    assert hand_of(line(text, "dummy's cards")) == table["held"][(declarer + 2) % 4]
    current = plays - plays % 4
    assert set(line(text, "this trick").split(", ")) == (trick(table, current, plays, seat) or {"no card"})
    before = trick(table, current - 4, current, seat) if current else {"no card"}
    assert set(line(text, "trick before").split(", ")) == before
    ours = "play on the declaring side" if (declarer - seat) % 2 == 0 else "play in defence"
    assert text.split("\n")[0] == ("the board is over" if table["phase"] == OVER else ours)


@pytest.mark.parametrize("text", [encoder.explain for encoder in ENCODERS.values()])
@pytest.mark.parametrize("shape", [(479,), (1, 480), (572,), (0,)])
def test_a_vector_of_the_wrong_length_is_refused(text: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected one vector of"):
        text(np.zeros(shape, np.int8))


def test_hands_are_shown_in_suits() -> None:
    _, tables, _ = start()
    text = ENCODERS["openspiel480"].explain(vector("openspiel480", tables, 3))
    assert line(text, "my hand") == "♠- ♥AK87 ♦654 ♣AT9432"
    assert hand_text(int(tables["hands"][0, 3])) == ".AK87.654.AT9432"
    assert tables["hands"][0, 3] >> card_number("AH") & 1
    assert call_number("1NT") == FIRST_BID + 4


def test_the_page_shows_the_layouts_and_what_explain_says() -> None:
    docs = Path(__file__).parents[3] / "docs"
    page = (docs / "observations" / "bridge.md").read_text(encoding="utf-8")
    listed = (docs / "environments" / "bridge_bidding_v0.md").read_text(encoding="utf-8")
    for layout in (AUCTION571, PLAY571, SYSTEMS288):
        assert layout.markdown() in page
    for layout in (OPENSPIEL480, BMCS480, ENCODERS["jps267"].layout, BIDDER1375):
        assert layout.markdown() in listed
    assert BMCS636.markdown().startswith(BMCS480.markdown())
    for name in ("LHO", "partner", "RHO"):
        assert f"`{BMCS636.start(name)}:{BMCS636.start(name) + 52}`" in page
    game, tables, out = start("N", "ns")
    act(game, tables, out, "1C X 1H 1S 2C P")
    for name in ("openspiel480", "jps267"):
        assert ENCODERS[name].explain(vector(name, tables, SEATS.index("S"))) in page
    act(game, tables, out, "P P SA S5 D4 S4 SK")
    assert ENCODERS["openspiel571"].explain(vector("openspiel571", tables, SEATS.index("W"))) in page
