"""Bridge tables as text and pictures: what they show is what the table holds."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo.core.cards import FIRST_BID, PASS, SEATS, SUITS, SYMBOLS, call_text, hand_number
from bidzoo.core.kernels import States
from bidzoo.envs.bridge import render
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.render import picture
from bidzoo.envs.bridge.state import AUCTION, PLAY
from bidzoo.envs.picture import INK, SUIT_COLORS

PBN = "N:964.QJ.KJ87.KQJ5 AKQJ32.9652.93.6 T875.T43.AQT2.87 .AK87.654.AT9432"
LONGEST = " ".join(
    [
        "P P P",
        *(f"{level}{strain} P P X P P XX P P" for level in range(1, 8) for strain in ("C", "D", "H", "S", "NT")),
        "P",
    ]
)


def play(calls: str, cards: int = 0, seed: int = 0, deal: Any = PBN, **options: Any) -> States:
    """A table after ``calls`` and some random cards."""
    game, rng = Bridge(play=True, reward=options.pop("reward", "score")), np.random.default_rng(seed)
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([7]), 0, out)
    game.fix(tables, game.options({"deal": deal, **options}), out)
    actions = [game.action_number(call) for call in calls.split()]
    for t in range(len(actions) + cards):
        legal = np.flatnonzero(out.mask[0])
        action = actions[t] if t < len(actions) else int(rng.choice(legal))
        assert action in legal
        game.step(tables, np.array([action]), 0, out, 0)
    return tables


def random_table(seed: int) -> States:
    rng = np.random.default_rng(seed)
    game = Bridge(play=True, reward="duplicate" if rng.random() < 0.3 else "score")
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([seed]), 1, out)
    for _ in range(rng.integers(140)):
        legal = np.flatnonzero(out.mask[0])
        if len(legal) == 0:
            break
        action = PASS if legal[0] == PASS and rng.random() < 0.6 else rng.choice(legal)
        game.step(tables, np.array([action]), 0, out, 0)
    return tables


# ---- text --------------------------------------------------------------------------------


def test_a_finished_board_in_text() -> None:
    text = render.text(play("P 1S X 2C P 4S P P P", cards=52, dealer="N", vulnerability="ew")[0])
    assert text.startswith("Board 8 · dealer N · vulnerable: E/W\n")
    auction = "West    North*  East    South\n        P       1♠      X\n2♣      P       4♠      P\nP       P\n"
    assert f"\n{auction}\n" in text
    assert "Contract: 4♠ by East, " in text
    assert re.search(r"\nTricks: N/S \d+, E/W \d+\n 1  S leads  ", text)
    assert len(re.findall(r"\n ?\d+  [NESW] leads  (?:[♠♥♦♣][2-9TJQKA] ){4} [NESW] wins", text)) == 13


@pytest.mark.parametrize(
    ("calls", "ending"),
    [
        ("", "no bid yet"),
        ("P P P P", "passed out"),
        ("P 1NT", "1NT by East"),
        ("7NT X XX P P P", "7NTXX by North"),
    ],
)
def test_contract_so_far(calls: str, ending: str) -> None:
    assert render.text(play(calls, dealer="N")[0]).endswith(f"Contract: {ending}")


@pytest.mark.parametrize(
    ("tricks", "ending"),
    [(10, "made double dummy, N/S 620"), (12, "made +2 double dummy, N/S 680"), (8, "down 2 double dummy, E/W 200")],
)
def test_double_dummy_result(tricks: int, ending: str) -> None:
    game = Bridge(play=False)
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([0]), 0, out)
    options = {"deal": PBN, "dealer": "S", "vulnerability": "both", "tricks": np.full(20, tricks)}
    game.fix(tables, game.options(options), out)
    for call in ("4S", "P", "P", "P"):
        game.step(tables, np.array([game.action_number(call)]), 0, out, 0)
    assert render.text(tables[0]).endswith(f"Contract: 4♠ by South, {ending}")
    assert render.result(tables[0]) == ending


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_text_shows_hands_auction_and_tricks(seed: int) -> None:
    table = random_table(seed)[0]
    text = render.text(table)
    suits = re.findall(r"([♠♥♦♣]) ([2-9TJQKA]+|-)(?= |$)", text.split("Tricks:")[0], re.MULTILINE)[:16]
    assert len(suits) == 16
    shown = [table["held" if table["phase"] == PLAY else "hands"][seat] for seat in range(4)]
    for seat, rows in enumerate((suits[:4], suits[5:12:2], suits[12:], suits[4:12:2])):
        assert [symbol for symbol, _ in rows] == [SYMBOLS[suit] for suit in reversed(SUITS)]
        assert hand_number(".".join(ranks for _, ranks in rows)) == shown[seat]
    calls = [call for row in render.auction(table) for call in row if call]
    expected = [call_text(int(call)) for call in table["calls"][: int(table["length"])]]
    plain = [call.translate({ord(symbol): suit for suit, symbol in SYMBOLS.items()}) for call in calls]
    assert plain == expected + (["?"] if table["phase"] == AUCTION else [])
    tricks = render.tricks(table)
    assert sum(card >= 0 for cards, _ in tricks for card in cards) == table["plays"]
    won = [0, 0]
    for cards, leader in tricks[: int(table["plays"]) // 4]:
        won[render.winner(cards, leader, int(table["bid"]) % 5) % 2] += 1
    assert won == table["won"].tolist()


def test_the_second_table_names_the_first_result() -> None:
    game = Bridge(play=True, reward="duplicate")
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([0]), 0, out)
    for call in ["1S", "P", "P", "P"]:
        game.step(tables, np.array([game.action_number(call)]), 0, out, 0)
    while tables["leg"][0] == 0:
        game.step(tables, out.mask.argmax(1), 0, out, 0)
    text = render.text(tables[0])
    assert ", second table · dealer N" in text
    assert f"first table {render.score(int(tables['points'][0, 0]))}" in text


# ---- pictures ----------------------------------------------------------------------------

BOARDS = {
    "first call": lambda: play("", dealer="W", vulnerability="both"),
    "auction": lambda: play("1C X XX P 1H", dealer="S"),
    "passed out": lambda: play("P P P P"),
    "longest auction": lambda: play(LONGEST, cards=3),
    "opening lead": lambda: play("1NT P P P"),
    "play": lambda: play("1NT P P P", cards=30),
    "over": lambda: play("2H X P P P", cards=52),
}


@pytest.mark.parametrize("name", BOARDS)
def test_the_document_stands_alone(name: str) -> None:
    table = BOARDS[name]()[0]
    svg = picture(table).svg()
    root = ElementTree.fromstring(svg)
    kinds = {element.tag.split("}")[1] for element in root.iter()}
    assert kinds == {"svg", "rect", "path", "text"}
    assert not re.search(r"href|url\(|@import|<style|<script|<image", svg)
    assert svg.count("http") == 1  # the name of the SVG language itself
    assert {symbol for symbol in SYMBOLS.values() if symbol in svg} == set()  # drawn, so no font needs them
    assert svg == Bridge(play=True).svg(table)


@pytest.mark.parametrize("name", BOARDS)
def test_nothing_leaves_the_picture(name: str) -> None:
    drawn = picture(BOARDS[name]()[0])
    for element in ElementTree.fromstring(drawn.svg()).iter():
        place = {key: float(element.get(key, 0)) for key in ("x", "y", "width", "height", "textLength")}
        assert 0 <= place["x"] <= drawn.width - place["width"] - place["textLength"]
        assert 0 <= place["y"] <= drawn.height - place["height"]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_every_card_is_drawn_where_it_is(seed: int) -> None:
    """Ranks in each hand's panel: as many as the hand was dealt, pale when played."""
    table = random_table(seed)[0]
    root = ElementTree.fromstring(picture(table).svg())
    letters = [element for element in root.iter() if element.tag.endswith("text") and element.get("font-size") == "17"]
    ranks = [element for element in letters if element.text in tuple("23456789TJQKA") and element.get("font-weight")]
    held = sum(int(hand).bit_count() for hand in table["held" if table["phase"] == PLAY else "hands"])
    calls = 0  # the last calls lie on the table in the same size
    if table["phase"] == AUCTION:
        last = table["calls"][max(int(table["length"]) - 4, 0) : int(table["length"])]
        bids = [
            int(call) - FIRST_BID for call in last
        ]  # a level of 1 is no rank, and no trump is one word with its level
        calls = sum(bid >= 5 and bid % 5 < 4 for bid in bids)
    assert len(ranks) - calls == held


@pytest.mark.parametrize("name", ["auction", "play"])
def test_pixels_show_the_same_picture(name: str) -> None:
    pytest.importorskip("PIL")
    table = BOARDS[name]()[0]
    drawn, pixels = picture(table), picture(table).pixels()
    assert pixels.shape == (drawn.height, drawn.width, 3)
    assert pixels.dtype == np.uint8
    assert drawn.pixels(0.5).shape == (drawn.height // 2, drawn.width // 2, 3)
    assert (pixels == picture(table).pixels()).all()
    colors = {"#" + bytes(color).hex() for color in np.unique(pixels.reshape(-1, 3), axis=0)}
    assert {*SUIT_COLORS, INK} <= colors
    assert (Bridge(play=True).render(table, "rgb_array") == pixels).all()


def test_the_seat_to_act_stands_out() -> None:
    for t, calls in enumerate(("", "P", "P P", "P P P")):
        frames = [shape for shape in picture(play(calls, dealer="E")[0]).shapes if getattr(shape, "thickness", 0) == 3]
        assert len(frames) == 1
        east_first = [(1, 0), (0, 1), (-1, 0), (0, -1)][t]  # E S W N
        middle = np.sign(np.round([frames[0].x - 232, frames[0].y - 202], -1))
        assert tuple(middle) == east_first, SEATS[(1 + t) % 4]
