"""A game seen through somebody else's encoder: ``observation=`` takes an ``Encoder`` wherever it takes a name."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import cache
from typing import Any

import numpy as np

from bidzoo.core.kernels import I8, I64, Bool, States
from bidzoo.envs.game import Buffers, Encoder, Game


def made(rules: Callable[..., Game], options: Mapping[str, Any]) -> Game:
    """``rules(**options)``, where ``observation`` may also be an ``Encoder`` of the game's views."""
    encoder = options.get("observation")
    if not isinstance(encoder, Encoder):
        return rules(**options)
    return with_encoder(rules(**{name: value for name, value in options.items() if name != "observation"}), encoder)


def with_encoder(game: Game, encoder: Encoder) -> Game:
    """A game like ``game`` whose observations are those of ``encoder``: of the same class, and as fit for a match.

    ``encoder`` is asked for the player to act at every table after every step, so its kernel should take all views at
    once.
    """
    twin = copy(game)
    twin.__class__ = _class_of(type(game))
    twin._given = game  # type: ignore[attr-defined]
    twin.encoder, twin.encoders = encoder, {**game.encoders, encoder.name: encoder}
    return twin


@cache
def _class_of(game: type[Game]) -> type[Game]:
    return type(game.__name__, (_Encoded, game), {"__doc__": game.__doc__, "__module__": game.__module__})


class _Encoded(Game):
    """Mixin: the rules write the observation that they know beside, and what is shown is written after them."""

    _given: Game

    def __reduce__(self) -> Any:
        return with_encoder, (self._given, self.encoder)

    def begin(self, states: States, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        self._given.begin(states, boards, seed, self._aside(out), rows)
        self._show(states, out)

    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int) -> None:
        self._given.step(states, actions, seed, self._aside(out), stride)
        self._show(states, out)

    def step_one(self, states: States, action: int, out: Buffers) -> None:
        self._given.step_one(states, action, self._aside(out))
        self._show(states, out)

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:
        self._given.fix(states, options, self._aside(out))
        self._show(states, out)

    def observe(self, states: States, b: int, player: int, out: I8) -> None:
        self.encoder.encode(self.view_of(states[b : b + 1], np.array([player])), out[None])

    def _aside(self, out: Buffers) -> Buffers:
        return out._replace(observation=np.empty((len(out.player), self._given.encoder.layout.size), np.int8))

    def _show(self, states: States, out: Buffers) -> None:
        rows = np.flatnonzero(out.mask.any(axis=1))
        out.observation[:] = 0
        if len(rows):
            out.observation[rows] = self.encoder(self.view_of(states[rows], out.player[rows].astype(np.int64)))
