"""Outlines of the four suit symbols in a square of side 1 around (0, 0), y down."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bidzoo.kernels import F64

Curve = tuple[float, float, float, float, float, float]  # two control points and the end of a cubic Bézier curve
Outline = tuple[tuple[float, float], tuple[Curve, ...]]  # start, curves; closed

_ROUND = 0.5523  # control points that make a quarter circle


def _disc(x: float, y: float, r: float) -> Outline:
    k = _ROUND * r
    return (x + r, y), (
        (x + r, y + k, x + k, y + r, x, y + r),
        (x - k, y + r, x - r, y + k, x - r, y),
        (x - r, y - k, x - k, y - r, x, y - r),
        (x + k, y - r, x + r, y - k, x + r, y),
    )


_STEM: Outline = (
    (0.05, 0.1),
    ((0.05, 0.3, 0.1, 0.42, 0.2, 0.48), (0.07, 0.48, -0.07, 0.48, -0.2, 0.48), (-0.1, 0.42, -0.05, 0.3, -0.05, 0.1)),
)
_CLUB = (_disc(0, -0.24, 0.22), _disc(-0.25, 0.1, 0.22), _disc(0.25, 0.1, 0.22), _disc(0, -0.02, 0.12), _STEM)
_DIAMOND: tuple[Outline, ...] = (
    (
        (0.0, -0.5),
        (
            (0.1, -0.3, 0.22, -0.13, 0.38, 0.0),
            (0.22, 0.13, 0.1, 0.3, 0.0, 0.5),
            (-0.1, 0.3, -0.22, 0.13, -0.38, 0.0),
            (-0.22, -0.13, -0.1, -0.3, 0.0, -0.5),
        ),
    ),
)
_HEART: tuple[Outline, ...] = (
    (
        (0.0, 0.48),
        (
            (-0.1, 0.26, -0.46, 0.06, -0.46, -0.2),
            (-0.46, -0.5, -0.08, -0.54, 0.0, -0.24),
            (0.08, -0.54, 0.46, -0.5, 0.46, -0.2),
            (0.46, 0.06, 0.1, 0.26, 0.0, 0.48),
        ),
    ),
)
_SPADE: tuple[Outline, ...] = (
    (
        (0.0, -0.5),
        (
            (0.1, -0.28, 0.46, -0.1, 0.46, 0.14),
            (0.46, 0.38, 0.12, 0.42, 0.0, 0.16),
            (-0.12, 0.42, -0.46, 0.38, -0.46, 0.14),
            (-0.46, -0.1, -0.1, -0.28, 0.0, -0.5),
        ),
    ),
    _STEM,
)
_SUITS = (_CLUB, _DIAMOND, _HEART, _SPADE)


@cache
def outline_path(suit: int) -> str:
    """SVG path data of ``suit`` (C D H S = 0 ... 3)."""
    parts = []
    for (x, y), curves in _SUITS[suit]:
        parts.append(f"M{x:g} {y:g}" + "".join("C" + " ".join(f"{v:g}" for v in curve) for curve in curves) + "Z")
    return "".join(parts)


@cache
def outline_points(suit: int, steps: int = 12) -> tuple[F64, ...]:
    """Polygons ``[points, 2]`` whose union is the symbol of ``suit``."""
    t = np.arange(1, steps + 1)[:, None] / steps
    polygons: list[NDArray[np.float64]] = []
    for start, curves in _SUITS[suit]:
        at, points = np.array(start), []
        for curve in curves:
            one, two, end = np.array(curve).reshape(3, 2)
            points.append((1 - t) ** 3 * at + 3 * (1 - t) ** 2 * t * one + 3 * (1 - t) * t**2 * two + t**3 * end)
            at = end
        polygons.append(np.concatenate(points))
    return tuple(polygons)
