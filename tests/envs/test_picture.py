"""Pictures: what both outputs draw, and colours that everybody can tell apart."""

import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest

from bidzoo.core.cards import NUM_CARDS, hand_bits
from bidzoo.core.kernels import F64
from bidzoo.envs.picture import ACCENT, INK, PALE, PANEL, PAPER, SUIT_COLORS, Picture, outline_points, width

# What dichromats see of linear RGB: Machado, Oliveira and Fernandes 2009, table of severity 1.0.
EYES = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])  # from linear sRGB


def linear(color: str) -> F64:
    parts = np.array(list(bytes.fromhex(color[1:]))) / 255
    found: F64 = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return found


def lab(rgb: F64) -> F64:
    """CIE L*a*b* of linear sRGB."""
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ rgb / TO_XYZ.sum(1), 1e-3))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", EYES)
def test_suits_differ_in_colour_for_all_eyes(eyes: str) -> None:
    seen = [lab(np.clip(np.array(EYES[eyes]) @ linear(color), 0, 1)) for color in SUIT_COLORS]
    assert min(np.linalg.norm(one - two) for one, two in combinations(seen, 2)) > 20  # 2 is just noticeable


@pytest.mark.parametrize("color", SUIT_COLORS)
def test_suits_stand_out_from_the_panel(color: str) -> None:
    """Contrast of at least 4.5, as WCAG 2 asks of text."""
    bright, dark = (TO_XYZ[1] @ linear(shade) + 0.05 for shade in (PANEL, color))
    assert bright / dark >= 4.5


@pytest.mark.parametrize("suit", range(4))
def test_symbols_fill_their_square_and_are_symmetric(suit: int) -> None:
    points = np.concatenate(outline_points(suit))
    assert np.abs(points).max() <= 0.5
    assert np.ptp(points[:, 1]) > 0.9
    assert np.ptp(points[:, 0]) > 0.7
    assert points[:, 0].min() == pytest.approx(-points[:, 0].max(), abs=1e-3)


def test_both_outputs_draw_every_shape_where_it_is() -> None:
    pytest.importorskip("PIL")
    picture = Picture(120, 60)
    picture.box(10, 10, 30, 20, ACCENT)
    picture.suit(80, 30, 1, 40)
    pixels = picture.pixels()
    assert [tuple(pixels[y, x]) for y, x in ((20, 25), (30, 80), (55, 5))] == [
        tuple(bytes.fromhex(color[1:])) for color in (ACCENT, SUIT_COLORS[1], PAPER)
    ]
    inside = (pixels == np.array(list(bytes.fromhex(ACCENT[1:])))).all(-1)
    assert np.argwhere(inside).min(0).tolist() == [10, 10]
    assert np.argwhere(inside).max(0).tolist() == [29, 39]


def test_a_hand_shows_its_cards_and_what_is_played() -> None:
    picture = Picture(400, 200)
    hand, played = hand_bits(range(0, NUM_CARDS, 4)), hand_bits([0, 4])  # all the clubs; two of them gone
    picture.hand(10, 20, hand, played)
    texts = [element for element in ElementTree.fromstring(picture.svg()) if element.tag.endswith("text")]
    assert [element.text for element in texts] == ["-", "-", "-", *"AKQJT98765432"]
    assert [element.text for element in texts[3:] if element.get("fill") == PALE] == ["3", "2"]
    assert {element.get("fill") for element in texts[3:-2]} == {INK}


def test_text_is_escaped() -> None:
    picture = Picture(100, 20)
    picture.text(0, 10, "a < b & c")
    assert ElementTree.fromstring(picture.svg())[-1].text == "a < b & c"


def test_pixels_without_pillow_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r'pip install "bidzoo\[picture\]"'):
        Picture(10, 10).pixels()


def test_suits_in_a_text_become_shapes() -> None:
    picture = Picture(300, 40)
    picture.text(150, 20, "4♥ & 3♠", size=20, anchor="middle")
    root = ElementTree.fromstring(picture.svg())
    assert [element.get("fill") for element in root if element.tag.endswith("path")] == [SUIT_COLORS[2], SUIT_COLORS[3]]
    assert [element.text for element in root if element.tag.endswith("text")] == ["4", " & 3"]
    assert width("4♥", 20) == pytest.approx(width("4", 20) + width("♥", 20))
