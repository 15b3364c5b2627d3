"""A solved strategy as a Policy: it reads its node from the public history and its type from the view."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from bidzoo import registry
from bidzoo.agents.explanation import Bars, Explanation, chances_of
from bidzoo.core.arrays import ROOM, Tensor, load_tensors
from bidzoo.core.calls import Call
from bidzoo.core.kernels import F64, I8, I32, I64, U64, States, row
from bidzoo.core.options import check_options, takes
from bidzoo.core.schema import json_value, parse, shortened
from bidzoo.core.storage import replace_file
from bidzoo.core.streams import Streams, next_row, unit_row
from bidzoo.envs.asking import Answer, AtTable
from bidzoo.envs.signalling.compiled import (
    MAX_BYTES,
    Compiled,
    Solvable,
    check_strategy,
    compile_game,
    locate,
    node_row,
)
from bidzoo.envs.signalling.game import SignallingGame, game_shown
from bidzoo.registry import make_game

_NAME = re.compile(r"(\w+)\(((?:\w+=\d+)?(?:, \w+=\d+)*)\)")


def game_of(name: str) -> SignallingGame:
    """The small game that files and jobs call ``str(game)``, ``"minibridge_v0(size=4)"``; ValueError names the text."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"not a small game: {name!r} (expected the form 'minibridge_v0(size=4)')")
    options = re.findall(r"(\w+)=(\d+)", match[2])
    try:
        game = make_game(match[1], **{option: int(value) for option, value in options})
    except TypeError as problem:
        raise ValueError(f"not a small game: {name!r} ({problem})") from problem
    if not isinstance(game, SignallingGame):
        raise ValueError(f"{match[1]} is not a small game that can be compiled")
    return game


@row
def draw_row(strategy: F64, first: I32, count: I32, action: I32, node: int, own: int, number: float) -> int:
    """The action that ``number`` in [0, 1) draws at ``node`` for the type ``own``."""
    drawn = first[node]
    for child in range(first[node], first[node] + count[node]):
        if strategy[child, own] > 0.0:
            drawn = child  # the last one with a chance takes what rounding leaves
            number -= strategy[child, own]
            if number < 0.0:
                break
    return int(action[drawn])


@row
def _choose(
    strategy: F64, first: I32, count: I32, action: I32, nodes: I64, types: States, uniforms: F64, out: I64
) -> None:
    for b in range(len(nodes)):
        out[b] = draw_row(strategy, first, count, action, nodes[b], types[b], uniforms[b])


@row
def _choose_one(
    views: States, keys: U64, game: int, size: int, child: I32, first: I32, count: I32, action: I32, strategy: F64
) -> int:
    """``TablePolicy.act`` at one table, ``views`` and ``keys`` ``[1]``; -1 for a view of another game."""
    view = views[0]
    if view.game != game or view.extent != size:
        return -1
    keys[0] = next_row(keys[0])
    node = node_row(child, view)
    return int(draw_row(strategy, first, count, action, node, int(view.type), unit_row(keys[0])))


_METADATA = {"game": str, "name": str}
TREE = 64  # bytes of a game's tree, at most, to a byte of a strategy


class TablePolicy(AtTable):
    """Plays a joint strategy ``[M, T]`` of one small game, in either seat."""

    game: SignallingGame

    def __repr__(self) -> str:
        return f"<{self.name}: a table for {self.game}>"

    def __init__(self, game: Solvable, strategy: F64, name: str = "table") -> None:
        self.name, self.compiled = name, compile_game(game)
        self.game = self.compiled.game
        check_strategy(self.compiled, strategy)
        self.strategy = np.ascontiguousarray(strategy, np.float64)

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """One draw a row from the distribution at its information set.

        Raises:
            ValueError: views of another game.
        """
        nodes, types = self._information_sets(views)
        compiled, out = self.compiled, np.empty(len(views), np.int64)
        _choose(self.strategy, compiled.first, compiled.count, compiled.action, nodes, types, rng.random()[:, 0], out)
        return out

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        game, compiled = self.game, self.compiled
        tree = compiled.child, compiled.first, compiled.count, compiled.action
        return _TableAnswer(self, Call(_choose_one, views, keys, game.code, game.size, *tree))

    def probabilities(self, views: States, legal: I8) -> F64:
        """Chance of every action ``[B, A]``; 0 for illegal ones. ValueError as in ``act``."""
        nodes, types = self._information_sets(views)
        children = self.compiled.child[nodes]  # [B, A]
        return np.where(children >= 0, self.strategy[children, types[:, None]], 0.0)

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        """Chances of the actions, and the belief about the partner's type given that both play this strategy."""
        node, player, own_type = int(locate(self.compiled, views)[0]), int(views["player"][0]), int(views["type"][0])
        chances = chances_of(self.probabilities(views, legal), legal)
        posterior = partner_types(self.compiled, self.strategy, node, player, own_type)
        if len(posterior) == 1:
            return Explanation(chances=chances)
        word = self.game.type_word
        rows = tuple((f"{word} {x}", float(chance)) for x, chance in enumerate(posterior))
        bars = (Bars(f"Partner's {word}, from what was said", rows),)
        return Explanation(chances=chances, bars=bars, facts=((f"my {word}", str(own_type)),))

    def _information_sets(self, views: States) -> tuple[I64, States]:
        """Node and type ``[B]`` of each row."""
        wrong = (views["game"] != self.game.code) | (views["extent"] != self.game.size)
        if wrong.any():
            raise ValueError(f"{self.name} plays {self.game}; row {int(np.argmax(wrong))} is a view of another game")
        return locate(self.compiled, views), np.ascontiguousarray(views["type"])

    def save(self, path: str | Path) -> None:
        """The strategy as a safetensors file that names its game; complete or not there at all."""
        metadata = {"bidzoo": json.dumps({"game": str(self.game), "name": self.name})}
        replace_file(Path(path), save({"strategy": self.strategy}, metadata))

    @classmethod
    def load(cls, path: str | Path) -> "TablePolicy":
        """The policy that ``save`` wrote.

        Raises:
            ValueError: not such a file, or not a strategy of its game; names the file.
        """
        path, contents = Path(path), dict[str, Any]()

        def plan(metadata: Mapping[str, str]) -> dict[str, Tensor]:
            fields = parse(_METADATA, json_value(metadata.get("bidzoo", "null"), path), path)
            room = min(MAX_BYTES, max(ROOM, TREE * path.stat().st_size))
            with _not_saved(path):
                contents.update(fields, compiled=compile_game(game_of(fields["game"]), room))
            return {"strategy": Tensor(contents["compiled"].shape, ("F64",))}

        strategy = load_tensors(path, "a saved table policy", plan)["strategy"]
        with _not_saved(path):
            return cls(contents["compiled"], strategy, contents["name"])


@contextmanager
def _not_saved(path: Path) -> Iterator[None]:
    """Say of an error in here, which knows no file, that ``path`` holds no policy."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: not a saved table policy ({shortened(error)})") from error


def partner_types(compiled: Compiled, strategy: F64, node: int, player: int, own: int) -> F64:
    """Posterior of the other player's types; where the history has probability 0, the prior."""
    prior = compiled.prior[own] if player == 0 else compiled.prior[:, own]
    reach = np.ones(len(prior))
    while node > 0:
        parent = int(compiled.parent[node])
        if int(compiled.player[parent]) != player:
            reach *= strategy[node, : len(prior)]
        node = parent
    posterior = prior * reach
    posterior = posterior if posterior.sum() > 0 else prior
    return np.asarray(posterior / posterior.sum(), np.float64)


class Solved(AtTable):
    """Solves each small game it is shown, once, and plays the result."""

    def __init__(
        self, name: str, solve: Callable[..., F64], seed: int = 0, options: dict[str, Any] | None = None
    ) -> None:
        self.name, self.seed = name, seed
        self._solve, self._options = solve, options or {}
        self._policies: dict[str, TablePolicy] = {}

    def __repr__(self) -> str:
        return f"<{self.name}: seed {self.seed}, solved {', '.join(self._policies) or 'nothing yet'}>"

    def policy(self, game: SignallingGame) -> TablePolicy:
        """Its policy for ``game``, solved at the first call."""
        if str(game) not in self._policies:
            compiled = compile_game(game)
            strategy = self._solve(compiled, self.seed, **self._options)
            self._policies[str(game)] = TablePolicy(compiled, strategy, self.name)
        return self._policies[str(game)]

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        actions = np.empty(len(views), np.int64)
        for policy, rows in self._by_game(views):
            actions[rows] = policy.act(views[rows], legal[rows], rng[rows])
        return actions

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return _SolvedAnswer(self, views, legal, keys)

    def probabilities(self, views: States, legal: I8) -> F64:
        chances = np.empty(legal.shape)
        for policy, rows in self._by_game(views):
            chances[rows] = policy.probabilities(views[rows], legal[rows])
        return chances

    def explain(self, views: States, legal: I8, rng: Streams) -> Explanation:
        policy, _ = next(self._by_game(views))
        return policy.explain(views, legal, rng)

    def _by_game(self, views: States) -> Iterator[tuple[TablePolicy, I64]]:
        if views.dtype.names is None or "extent" not in views.dtype.names:
            raise ValueError(f"{self.name} plays the small games (Comm, Simple Bidding, MiniBridge, Mini-Hanabi) only")
        games = views[["game", "extent"]]
        for game in np.unique(games):
            rows = np.flatnonzero(games == game)
            yield self.policy(_game_shown(game)), rows


class _TableAnswer:
    """``TablePolicy.at_table``; another strategy of the policy counts from the next action on."""

    def __init__(self, policy: TablePolicy, call: Call) -> None:
        self._policy, self._call = policy, call

    def run(self) -> int:
        action: int = self._call.run(self._policy.strategy)
        return action


class _SolvedAnswer:
    """``Solved.at_table``: that of its policy for the game that is shown first."""

    def __init__(self, solved: Solved, views: States, legal: I8, keys: U64) -> None:
        self._solved, self._arrays = solved, (views, legal, keys)
        self._answer: Answer | None = None

    def run(self) -> int:
        if self._answer is None:
            views = self._arrays[0]
            policy, _ = next(self._solved._by_game(views))
            self._answer = policy.at_table(*self._arrays)
        return -1 if self._answer is None else self._answer.run()  # -1 for another game, whose policy ``act`` finds


def _game_shown(record: Any) -> SignallingGame:
    try:
        return game_shown(record)
    except KeyError:  # views from another process: nobody has made the game in this one
        registry.loadable()
        return game_shown(record)


def solver(name: str, solve: Callable[..., F64], kind: type) -> Callable[..., Solved]:
    """What makes the agent ``name``, which solves by ``solve(game, seed, **options)``.

    Its options are the fields of ``kind``; a wrong one is a TypeError or a ValueError at once, not when a game is
    solved.
    """

    @takes(kind)
    def agent(seed: int = 0, **options: Any) -> Solved:
        check_options(f"agent {name!r}", kind, options)
        kind(seed=seed, **options)
        return Solved(name, solve, seed, options)

    return agent
