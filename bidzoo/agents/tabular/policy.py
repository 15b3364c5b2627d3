"""A solved strategy as a Policy: it reads its node from the public history and its type from the view."""

import json
import os
import re
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from bidzoo.envs.signals.compile import compile_game
from bidzoo.envs.signals.compiled import Compiled, locate
from bidzoo.envs.signals.game import SignalGame
from bidzoo.kernels import F64, I8, I32, I64, Tables, row
from bidzoo.registry import make_game
from bidzoo.streams import Streams

_ID = re.compile(r"(\w+)\(((?:\w+=\d+)?(?:, \w+=\d+)*)\)")


def game_of(text: str) -> SignalGame:
    """The small game written ``"minibridge_v0(size=4)"``, as ``str(game)`` writes it; ValueError names the text."""
    match = _ID.fullmatch(text)
    if match is None:
        raise ValueError(f"not a small game: {text!r} (expected the form 'minibridge_v0(size=4)')")
    options = {name: int(value) for name, _, value in (part.partition("=") for part in match[2].split(", ") if part)}
    game = make_game(match[1], **options)
    if not isinstance(game, SignalGame):
        raise ValueError(f"{match[1]} is not a small game that can be compiled")
    return game


def check_strategy(compiled: Compiled, strategy: F64) -> None:
    """ValueError that says where ``strategy`` ``[M, T]`` is not a distribution over moves."""
    if strategy.shape != compiled.shape:
        raise ValueError(f"strategy of {compiled.id} has shape {strategy.shape}, expected {compiled.shape}")
    decisions = np.flatnonzero(compiled.count)
    for player, types in enumerate(compiled.num_types):
        nodes = decisions[compiled.player[decisions] == player]
        below = np.isin(compiled.parent, nodes)
        sums = np.zeros((len(strategy), types))
        np.add.at(sums, compiled.parent[below], strategy[below, :types])
        wrong = ~(np.abs(sums[nodes] - 1.0) < 1e-6)
        if wrong.any() or strategy[below, :types].min(initial=0.0) < 0.0:
            n, z = np.argwhere(wrong)[0] if wrong.any() else (0, 0)
            raise ValueError(
                f"strategy of {compiled.id}: moves of player_{player} are not probabilities that sum to 1 "
                f"(node {nodes[n]}, type {z}: sum {sums[nodes[n], z]:g})"
            )


@row
def _choose(
    strategy: F64, first: I32, count: I32, action: I32, nodes: I64, types: Tables, uniforms: F64, out: I64
) -> None:
    for b in range(len(nodes)):
        m = nodes[b]
        c = first[m]
        left = uniforms[b] - strategy[c, types[b]]
        while left >= 0.0 and c < first[m] + count[m] - 1:
            c += 1
            left -= strategy[c, types[b]]
        out[b] = action[c]


@row
def _chances(strategy: F64, first: I32, count: I32, action: I32, nodes: I64, types: Tables, out: F64) -> None:
    for b in range(len(nodes)):
        for c in range(first[nodes[b]], first[nodes[b]] + count[nodes[b]]):
            out[b, action[c]] = strategy[c, types[b]]


class TablePolicy:
    """Plays a joint strategy ``[M, T]`` of one small game, in either seat."""

    def __init__(self, game: SignalGame, strategy: F64, name: str = "table", compiled: Compiled | None = None) -> None:
        self.game, self.name = game, name
        self.compiled = compile_game(game) if compiled is None else compiled
        check_strategy(self.compiled, strategy)
        self.strategy = np.ascontiguousarray(strategy, np.float64)

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """One draw a row from the distribution at its information set.

        Raises:
            ValueError: views of another game.
        """
        self._check(views)
        out = np.empty(len(views), np.int64)
        form = self.compiled
        types = np.ascontiguousarray(views["type"])
        nodes = locate(form, views)
        _choose(self.strategy, form.first, form.count, form.action, nodes, types, rng.random()[:, 0], out)
        return out

    def probabilities(self, views: Tables, legal: I8) -> F64:
        """Chance of every action ``[B, A]``; 0 for illegal ones. ValueError as in ``act``."""
        self._check(views)
        form, out = self.compiled, np.zeros(legal.shape)
        types = np.ascontiguousarray(views["type"])
        _chances(self.strategy, form.first, form.count, form.action, locate(form, views), types, out)
        return out

    def _check(self, views: Tables) -> None:
        wrong = (views["game"] != self.game.code) | (views["extent"] != self.game.size)
        if wrong.any():
            raise ValueError(f"{self.name} plays {self.game}; row {int(np.argmax(wrong))} is a view of another game")

    def save(self, path: str | Path) -> None:
        """The strategy as a safetensors file that names its game; complete or not there at all."""
        partial = Path(path).with_suffix(f".partial{os.getpid()}")
        metadata = {"bidzoo": json.dumps({"game": str(self.game), "name": self.name})}
        save_file({"strategy": self.strategy}, partial, metadata)
        partial.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> "TablePolicy":
        """What ``save`` wrote.

        Raises:
            ValueError: not such a file, or not a strategy of its game; names the file.
        """
        try:
            with safe_open(path, "numpy") as file:
                about = json.loads((file.metadata() or {})["bidzoo"])
                strategy = file.get_tensor("strategy")
            return cls(game_of(about["game"]), strategy, about["name"])
        except (SafetensorError, KeyError, ValueError) as error:
            raise ValueError(f"{path}: not a saved table policy ({error})") from error
