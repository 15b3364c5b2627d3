"""The rules a Spades game is made with, and its ``reset`` options, checked: every wrong value is a named ValueError."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bidzoo.envs.bridge.options import checked as checked_deal
from bidzoo.envs.game import refuse_typos
from bidzoo.envs.spades.state import (
    CUTTHROAT,
    DECKS,
    FAILED_NIL,
    NO_GOAL,
    PARTNERSHIP,
    STATE,
    VARIANTS,
)
from bidzoo.kernels import I64, Tables, allocate

MOST_POINTS = 100_000  # of a goal or a score, so that no sum leaves int32


def index_of(name: str, value: Any, choices: Sequence[str]) -> int:
    """Where ``value`` stands in ``choices``."""
    if value not in choices:
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")
    return choices.index(value)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """``value`` as an integer from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(f"{name} {value!r}: expected an integer from {least} to {most}")
    return int(value)


def blank_table(
    variant: str,
    deck: str,
    win_goal: int,
    lose_goal: int | None,
    max_rounds: int,
    bag_penalty: int,
    failed_nil: str,
    blind_nil: bool,
    blind_deficit: int,
) -> Tables:
    """A table ``[1]`` with these rules, nobody with a point, before its first deal."""
    blank = allocate(STATE, 1)
    table = blank[0]
    table["variant"] = index_of("variant", variant, VARIANTS)
    table["deck"] = index_of("deck", deck, DECKS)
    table["failed_nil"] = index_of("failed_nil", failed_nil, FAILED_NIL)
    table["sides"] = 4 if table["variant"] == CUTTHROAT else 2
    if blind_nil and table["variant"] not in (PARTNERSHIP, CUTTHROAT):
        raise ValueError(f"blind_nil: there is no blind nil in {variant}")
    table["blind_nil"] = bool(blind_nil)
    table["blind_deficit"] = whole("blind_deficit", blind_deficit, -MOST_POINTS, MOST_POINTS)
    table["bag_penalty"] = whole("bag_penalty", bag_penalty, 0, 1000)
    if bag_penalty % 10:
        raise ValueError(f"bag_penalty {bag_penalty}: expected tens of points (the units digit of a score is its bags)")
    table["win_goal"] = whole("win_goal", win_goal, -MOST_POINTS, MOST_POINTS)
    table["lose_goal"] = NO_GOAL if lose_goal is None else whole("lose_goal", lose_goal, -MOST_POINTS, win_goal - 1)
    table["max_rounds"] = whole("max_rounds", max_rounds, 1, 10_000)
    table["winner"] = -1
    table["last_bids"][:] = -1
    table["last_won"][:] = -1
    return blank


def checked(options: Mapping[str, Any], sides: int) -> dict[str, Any]:
    """Spades options among ``options``, converted; other names are left out.

    ``board`` int from 0, ``deal`` (or ``hands``) int64 ``[4]``, ``dealer`` 0 ... 3, ``scores`` int64 ``[4]`` by side.
    """
    refuse_typos(options, ("board", "deal", "hands", "dealer", "scores"))
    if options.get("deal") is not None and options.get("hands") is not None:
        raise ValueError("options 'deal' and 'hands' are the same thing: give one of them")
    deal = options.get("deal") if options.get("hands") is None else options.get("hands")
    found = checked_deal({"board": options.get("board"), "deal": deal, "dealer": options.get("dealer")})
    if options.get("scores") is not None:
        found["scores"] = _scores(options["scores"], sides)
    return found


def _scores(value: Any, sides: int) -> I64:
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != sides:
        raise ValueError(f"option 'scores': {value!r} is not {sides} scores, one for each side")
    scores = np.zeros(4, np.int64)
    for side, score in enumerate(value):
        scores[side] = whole(f"option 'scores': side {side}", score, -MOST_POINTS, MOST_POINTS)
    return scores
