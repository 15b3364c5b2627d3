"""One drawing, two outputs: an SVG document that needs no font or other file, and pixels drawn by Pillow.

A ``Picture`` is a list of shapes, x to the right and y down in pixels, later shapes on top. A suit symbol
in a text becomes a drawn shape of that suit's colour, so a game writes ``text(x, y, "3♠ by N")``.
Widths of text are computed (``width``), not asked of a font, so that both outputs agree.

>>> picture = Picture(200, 60)
>>> picture.text(100, 30, "4♥ doubled", size=20, anchor="middle")
>>> picture.svg()[:4], picture.pixels().shape
('<svg', (60, 200, 3))
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.cards import RANKS, SUITS, SYMBOLS
from bidzoo.core.kernels import F64

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

INK, PALE, PAPER, PANEL, EDGE, FELT = "#1d2430", "#a9b0bc", "#eef0f3", "#ffffff", "#cfd4dc", "#2f6b5c"
ACCENT, ALARM, SAFE = "#e69f00", "#b3261e", "#64707f"
SUIT_COLORS = ("#00805a", "#3a45c4", "#c94f00", INK)  # C D H S; a test checks them for colour-blind eyes


# ---- suit symbols, in a square of side 1 around (0, 0), y down --------------------------------

Point = tuple[float, float]
Curve = tuple[float, float, float, float, float, float]  # two control points and the end of a cubic Bézier curve
Outline = tuple[Point, tuple[Curve, ...]]  # start, curves; closed

_ROUND = 0.5523  # control points that make a quarter circle


def _disc(x: float, y: float, r: float) -> Outline:
    k = _ROUND * r
    return (x + r, y), (
        (x + r, y + k, x + k, y + r, x, y + r),
        (x - k, y + r, x - r, y + k, x - r, y),
        (x - r, y - k, x - k, y - r, x, y - r),
        (x + k, y - r, x + r, y - k, x + r, y),
    )


def _mirrored(*half: Point) -> Outline:
    """An outline from the points of one half, ends and control points in turn; the other half mirrors it."""
    points = [*half[1:], *((0 - x, y) for x, y in half[-2::-1])]
    return half[0], tuple((*points[i], *points[i + 1], *points[i + 2]) for i in range(0, len(points), 3))


_STEM: Outline = (
    (0.05, 0.1),
    ((0.05, 0.3, 0.1, 0.42, 0.2, 0.48), (0.07, 0.48, -0.07, 0.48, -0.2, 0.48), (-0.1, 0.42, -0.05, 0.3, -0.05, 0.1)),
)
_DIAMOND = _mirrored((0.0, -0.5), (0.1, -0.3), (0.22, -0.13), (0.38, 0.0), (0.22, 0.13), (0.1, 0.3), (0.0, 0.5))
_HEART = _mirrored((0.0, 0.48), (-0.1, 0.26), (-0.46, 0.06), (-0.46, -0.2), (-0.46, -0.5), (-0.08, -0.54), (0.0, -0.24))
_SPADE = _mirrored((0.0, -0.5), (0.1, -0.28), (0.46, -0.1), (0.46, 0.14), (0.46, 0.38), (0.12, 0.42), (0.0, 0.16))
_SUITS: tuple[tuple[Outline, ...], ...] = (  # C D H S
    (_disc(0, -0.24, 0.22), _disc(-0.25, 0.1, 0.22), _disc(0.25, 0.1, 0.22), _disc(0, -0.02, 0.12), _STEM),
    (_DIAMOND,),
    (_HEART,),
    (_SPADE, _STEM),
)


@cache
def outline_path(suit: int) -> str:
    """SVG path data of ``suit`` (C D H S = 0 ... 3)."""
    parts = []
    for (x, y), curves in _SUITS[suit]:
        parts.append(f"M{x:g} {y:g}" + "".join("C" + " ".join(f"{v:g}" for v in curve) for curve in curves) + "Z")
    return "".join(parts)


@cache
def outline_points(suit: int) -> tuple[F64, ...]:
    """Polygons ``[points, 2]`` whose union is the symbol of ``suit``."""
    t = np.arange(1, 13)[:, None] / 12  # twelve points a curve
    polygons: list[F64] = []
    for start, curves in _SUITS[suit]:
        p0, points = np.array(start), []
        for curve in curves:
            p1, p2, p3 = np.array(curve).reshape(3, 2)
            points.append((1 - t) ** 3 * p0 + 3 * (1 - t) ** 2 * t * p1 + 3 * (1 - t) * t**2 * p2 + t**3 * p3)
            p0 = p3
        polygons.append(np.concatenate(points))
    return tuple(polygons)


# ---- text ------------------------------------------------------------------------------------

_SUIT_OF = {SYMBOLS[letter]: suit for suit, letter in enumerate(SUITS)}
_SYMBOL = 0.88  # width of a suit symbol, in sizes
_CAPITAL = 0.36  # half the height of a capital letter, in sizes

# Widths of Helvetica's letters in thousandths of the size; 556 for all others.
_WIDTHS = {
    letter: width
    for width, letters in {
        222: "ijl'",
        278: " !,./:;If[]t",
        333: "()-r",
        500: "Jcksvxyz",
        584: "+<=>",
        611: "FTZ",
        667: "&ABEKPSVXY",
        722: "CDHNRUw",
        778: "GOQ",
        833: "Mm",
        944: "W",
    }.items()
    for letter in letters
}


def width(text: str, size: float, bold: bool = False) -> float:
    """Width of ``text`` in pixels; ``size`` is that of the letters."""
    letters = sum(_WIDTHS.get(letter, 556) / 1000 for letter in text if letter not in _SUIT_OF)
    return size * (letters * (1.06 if bold else 1.0) + _SYMBOL * sum(letter in _SUIT_OF for letter in text))


# ---- the drawing -----------------------------------------------------------------------------


class _Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    fill: str
    line: str
    radius: float
    thickness: float


class _Suit(NamedTuple):
    x: float  # centre
    y: float
    size: float
    suit: int


class _Words(NamedTuple):
    x: float  # left end
    y: float  # base line
    text: str
    size: float
    color: str
    bold: bool


class Picture:
    """A drawing of ``width`` by ``height`` pixels."""

    def __init__(self, width: int, height: int, fill: str = PAPER) -> None:
        self.width, self.height = width, height
        self.shapes: list[_Box | _Suit | _Words] = []
        self.box(0, 0, width, height, fill)

    # ---- drawing ----------------------------------------------------------------------------

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = PANEL,
        line: str = "",
        radius: float = 0,
        thickness: float = 1,
    ) -> None:
        """A rectangle with its upper left corner at ``(x, y)``; ``line`` colours its edge."""
        self.shapes.append(_Box(x, y, width, height, fill, line, radius, thickness))

    def suit(self, x: float, y: float, suit: int, size: float) -> None:
        """The symbol of ``suit`` (C D H S = 0 ... 3), ``size`` high, centred on ``(x, y)``."""
        self.shapes.append(_Suit(x, y, size, suit))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 14,
        color: str = INK,
        anchor: Literal["start", "middle", "end"] = "start",
        bold: bool = False,
    ) -> None:
        """One line of ASCII, middle dots and suit symbols; ``y`` is the middle of its capitals."""
        x -= width(text, size, bold) * {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
        for run in re.findall(f"[{''.join(_SUIT_OF)}]|[^{''.join(_SUIT_OF)}]+", text):
            if run in _SUIT_OF:
                self.suit(x + size * _SYMBOL / 2, y, _SUIT_OF[run], size * 0.8)
            else:
                self.shapes.append(_Words(x, y + size * _CAPITAL, run, size, color, bold))
            x += width(run, size, bold)

    def grid(self, x: float, y: float, rows: Sequence[Sequence[str]], columns: Sequence[float], **style: Any) -> None:
        """Rows of texts centred in ``columns`` of these widths, the first row at ``y``; ``step`` is the row height."""
        step = style.pop("step", 20)
        for i, row in enumerate(rows):
            left = x
            for text, column in zip(row, columns, strict=True):
                self.text(left + column / 2, y + i * step, text, anchor="middle", **style)
                left += column

    def hand(self, x: float, y: float, cards: int, played: int = 0, size: float = 16) -> None:
        """Four rows of ranks, spades first, the first at ``y``; those of ``cards`` in ``played`` are pale."""
        for i, suit in enumerate((3, 2, 1, 0)):
            line = y + i * size * 1.35
            self.suit(x + size * 0.45, line, suit, size * 0.85)
            left = x + size * 1.25
            for rank in range(12, -1, -1):
                if cards >> (4 * rank + suit) & 1:
                    pale = played >> (4 * rank + suit) & 1
                    self.text(left, line, RANKS[rank], size, PALE if pale else INK, "start", bold=not pale)
                    left += width(RANKS[rank], size, bold=True) + size * 0.1
            if left == x + size * 1.25:
                self.text(left, line, "-", size, PALE)

    def card(self, x: float, y: float, card: int, height: float = 56) -> None:
        """A playing card centred on ``(x, y)``."""
        width, suit = height * 0.7, card % 4
        self.box(x - width / 2, y - height / 2, width, height, PANEL, EDGE, height * 0.1)
        self.text(x, y - height * 0.2, RANKS[card // 4], height * 0.38, SUIT_COLORS[suit], "middle", bold=True)
        self.suit(x, y + height * 0.19, suit, height * 0.36)

    # ---- output -----------------------------------------------------------------------------

    def _repr_svg_(self) -> str:
        """The SVG that a notebook shows."""
        return self.svg()

    def svg(self) -> str:
        """The drawing as an SVG document; stands in HTML as it is."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="Helvetica, Arial, sans-serif">'
        return "\n".join([head, *(_svg(shape) for shape in self.shapes), "</svg>"])

    def pixels(self, scale: float = 1.0) -> NDArray[np.uint8]:
        """The drawing as ``[height * scale, width * scale, 3]`` colours 0 ... 255; needs Pillow."""
        try:
            from PIL import Image, ImageDraw
        except ImportError as error:
            raise ImportError('pictures as pixels need Pillow: pip install "bidzoo[picture]"') from error
        fine = scale * _FINER
        image = Image.new("RGB", (round(self.width * scale) * _FINER, round(self.height * scale) * _FINER))
        draw = ImageDraw.Draw(image)
        for shape in self.shapes:
            _paint(draw, shape, fine)
        return np.asarray(image.reduce(_FINER), np.uint8).copy()


def tiled(pictures: Sequence[Picture]) -> Picture:
    """One picture of at least one, in rows of equal length, as nearly square as their number allows."""
    if len(pictures) == 1:
        return pictures[0]
    columns = math.ceil(math.sqrt(len(pictures)))
    width, height = max(picture.width for picture in pictures), max(picture.height for picture in pictures)
    out = Picture(columns * width, math.ceil(len(pictures) / columns) * height)
    for i, picture in enumerate(pictures):
        x, y = i % columns * width, i // columns * height
        out.shapes += [shape._replace(x=shape.x + x, y=shape.y + y) for shape in picture.shapes]
    return out


_FINER = 3  # pixels are drawn this much finer, then averaged


def _numbers(*values: float) -> Iterator[str]:
    return (f"{value:.2f}".rstrip("0").rstrip(".") for value in values)


def _svg(shape: _Box | _Suit | _Words) -> str:
    if isinstance(shape, _Box):
        x, y, w, h, radius, thickness = _numbers(*shape[:4], shape.radius, shape.thickness)
        edge = f' stroke="{shape.line}" stroke-width="{thickness}"' if shape.line else ""
        corner = f' rx="{radius}"' if shape.radius else ""
        return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{shape.fill}"{corner}{edge}/>'
    if isinstance(shape, _Suit):
        x, y, size = _numbers(*shape[:3])
        transform = f"translate({x} {y}) scale({size})"
        return f'<path transform="{transform}" fill="{SUIT_COLORS[shape.suit]}" d="{outline_path(shape.suit)}"/>'
    x, y, size, length = _numbers(shape.x, shape.y, shape.size, width(shape.text, shape.size, shape.bold))
    weight = ' font-weight="bold"' if shape.bold else ""
    fit = f'textLength="{length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
    return f'<text x="{x}" y="{y}" font-size="{size}"{weight} fill="{shape.color}" {fit}>{escape(shape.text)}</text>'


def _paint(draw: "ImageDraw", shape: _Box | _Suit | _Words, scale: float) -> None:
    if isinstance(shape, _Box):
        left, top = shape.x * scale, shape.y * scale
        corners = (left, top, left + shape.width * scale - 1, top + shape.height * scale - 1)
        line, thickness = shape.line or None, max(round(shape.thickness * scale), 1)
        draw.rounded_rectangle(corners, shape.radius * scale, shape.fill, line, thickness)
    elif isinstance(shape, _Suit):
        for points in outline_points(shape.suit):
            polygon = (np.array([shape.x, shape.y]) + points * shape.size) * scale
            draw.polygon([(float(x), float(y)) for x, y in polygon], SUIT_COLORS[shape.suit])
    else:
        font, bold = _font(shape.size * scale), max(round(shape.size * scale * 0.025), 1) if shape.bold else 0
        for i, letter in enumerate(shape.text):  # each in its computed place, as textLength does in SVG
            middle = width(shape.text[:i], shape.size, shape.bold) + width(letter, shape.size, shape.bold) / 2
            place = ((shape.x + middle) * scale, shape.y * scale)
            draw.text(place, letter, shape.color, font, "ms", stroke_width=bold, stroke_fill=shape.color)


@cache
def _font(size: float) -> "FreeTypeFont | ImageFont":
    from PIL import ImageFont

    return ImageFont.load_default(size)
