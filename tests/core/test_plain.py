"""Kernels as plain Python compute what their compiled forms compute: the same numbers, the same bytes."""

import ast
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numba import config

import bidzoo
from bidzoo import agents, registry
from bidzoo.cli.compiling import briefly
from bidzoo.core import plain
from bidzoo.core.bits import unpack_row
from bidzoo.core.calls import Call
from bidzoo.core.kernels import KERNELS, Kernel
from bidzoo.core.streams import Streams
from bidzoo.envs.asking import ask_one
from bidzoo.envs.bridge import state as bridge_state
from bidzoo.envs.bridge.bidder import BIDDER1375, stages
from bidzoo.envs.bridge.deals import DealSet, augment, random_deals
from bidzoo.envs.bridge.observation import encode_value
from bidzoo.envs.bridge.score import north_south, par, score
from bidzoo.envs.game import Buffers, Table
from bidzoo.envs.signalling import state as signalling_state
from bidzoo.envs.signalling.compiled import compile_game
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.spades import state as spades_state
from bidzoo.envs.spades.state import DECKS, FAILED_NIL, VARIANTS
from bidzoo.wrappers.batch import Batch


def lowest(observation, mask):
    return int(np.flatnonzero(mask)[0])


PACKAGE = Path(bidzoo.__file__).parent
GAMES = {  # options that rules, rewards and observations depend on
    "bridge_bidding_v0": [
        *({"reward": reward} for reward in ("score", "par", "duplicate", "cost")),
        *({"competition": False}, {"most_calls": 3}, {"augment": False}),
    ],
    "bridge_v0": [{}, {"reward": "duplicate"}],
    "spades_v0": [
        *({"variant": variant, "blind_nil": variant in ("partnership", "cutthroat")} for variant in VARIANTS),
        *({"deck": deck, "failed_nil": nil, "reward": "points"} for deck, nil in zip(DECKS, FAILED_NIL)),
        *({"phase": "bidding", "player": player} for player in ("random", "srp", lowest)),
    ],
}
SPADES = {"max_rounds": 2, "win_goal": 60, "lose_goal": -60}
SLOW = {"uct", "learned-search"}  # seconds a card as plain Python


def arrays_of(values):
    """Arrays and records in ``values``, tuples opened, with their fields apart: padding is nobody's."""
    for value in values:
        if isinstance(value, tuple):
            yield from arrays_of(value)
        elif isinstance(value, np.ndarray | np.void):
            yield from [value[name] for name in value.dtype.names] if value.dtype.names else [value]


@pytest.fixture
def both_ways(monkeypatch):
    """Every call of a kernel from Python runs both ways and is compared; the kernels that were reached."""
    reached = set()

    def call(kernel, *arguments):
        reached.add(kernel.key)
        if plain.thread.inside:
            return kernel.py_func(*map(plain.widen, arguments))
        if not kernel._may_be_plain:  # it never runs as plain Python
            return kernel.compiled(*arguments)
        copies = deepcopy(arguments)
        answer, other = kernel.compiled(*arguments), plain.run(kernel.py_func, copies)
        assert repr(answer) == repr(other), kernel.key
        for changed, copy in zip(arrays_of(arguments), arrays_of(copies), strict=True):
            if changed.tobytes() != copy.tobytes():
                np.testing.assert_array_equal(changed, copy, str(kernel.key))
        return answer

    monkeypatch.setattr(Kernel, "__call__", call)
    monkeypatch.setattr(Call, "_direct", lambda call, *_: None)  # which goes past it
    return reached


def look_everywhere(game, states, out):
    """What every player sees, by every encoder, at any moment; and what it may imagine."""
    for player in range(game.num_players):
        game.observe(states, np.array([0]), player, np.zeros_like(out.observation[:1]))
        views = game.view_of(states, np.full(len(states), player))
        for encoder in game.encoders.values():
            encoder(views)
        game.determinize(views, np.arange(len(views), dtype=np.uint64), game.new(len(views)))
    game.state_encoder(states)


def play(game, seed, look, looks=6, tables=2):
    """Random legal actions at some tables to their ends, with ``looks`` looks or so at random moments."""
    rng = np.random.default_rng(seed)
    states, out = game.new(tables), game.buffers(tables)
    game.begin(states, rng.integers(0, 1 << 40, tables), seed, out)
    while not (out.player < 0).all():
        if rng.random() < looks / min(game.max_turns, 60):
            look(game, states, out)
        chosen = [rng.choice(np.flatnonzero(mask)) if mask.any() else -1 for mask in out.mask]
        if rng.random() < 0.1:
            game.step(states[:1], np.array(chosen[:1]), seed, Buffers(*(array[:1] for array in out)), 0)
            chosen[0] = -1
        game.step(states, np.array(chosen), seed, out, 0)
    look(game, states, out)
    game.step(states, np.full(tables, -1), seed, out, 0)


def play_one(game, seed):
    """One table and two as a learner among random players has them, to their ends; two packed ones."""
    uniform = agents.make("random")
    rng, seats = np.random.default_rng(seed), (1 << game.num_players) - 2 if game.plays_random else 0
    table, states, out = Table(game), game.new(2), game.buffers(2)
    table.begin(seed, seed)
    table.step(-1, seed, seats)
    while not table.out.over[0]:
        ask_one(uniform, table, seed)
        table.observe(0, np.zeros_like(table.out.observation[0]))
        table.step(int(rng.choice(np.flatnonzero(table.out.mask[0]))), seed, seats)
    game.begin(states, np.arange(2), seed, out)
    if seats:
        game.step(states, np.full(2, -1), seed, out, 0, seats)
    game.observe(states, np.array([1, 0]), 0, np.zeros_like(out.observation))
    if game.encoder.bits:
        batch = Batch(game, 2, packed=True)
        batch.reset(seed)
        batch.step(batch.action_mask.argmax(1))


def every_option(env_id):
    """Options of a game, and each of its observations."""
    short = SPADES if env_id == "spades_v0" else {}
    yield from ({**short, **options} for options in GAMES.get(env_id, ()))
    yield from ({**short, "observation": name} for name in registry.make_game(env_id).encoders)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_kernels_give_the_same_bytes(both_ways):
    """All kernels of all games, by every option and encoder and by what agents ask, at odd positions too."""
    for env_id in registry.GAMES:
        for options in every_option(env_id):
            game = registry.make_game(env_id, **options)
            for seed in range(1 if env_id == "spades_v0" else 2):
                play(game, seed, look_everywhere)
                play_one(game, seed)
            if isinstance(game, SignallingGame):
                compile_game(game)
    rng = np.random.default_rng(0)
    hands, cards = random_deals(5, np.arange(9)), rng.integers(0, 14, (9, 20), dtype=np.int8)
    augment(DealSet.of(hands, cards), rng.integers(0, 24, 9), rng.integers(0, 4, 9))
    level, strain, stake, seat, tricks = (
        rng.integers(least, most, 50) for least, most in ((1, 8), (0, 5), (0, 3), (0, 4), (0, 14))
    )
    score(level, strain, 1 << stake, tricks, seat & 1)
    north_south(5 * level + strain - 5, 1 << stake, seat, 3 - seat, tricks)
    par(cards, 1, 3)
    stages(rng.integers(0, 2, (9, BIDDER1375.size), dtype=np.int8))
    Streams.at(3, np.arange(5)).random(2)
    unpack_row(rng.integers(0, 256, 9, np.uint8), np.zeros(72, np.int8))
    registry.make_game("bridge_bidding_v0").deal(np.arange(5), 3)
    for env_id in ("bridge_bidding_v0", "spades_v0", "mini_hanabi_v0"):
        game = registry.make_game(env_id, **(SPADES if env_id == "spades_v0" else {}))
        for name, entry in agents.AGENTS.items():
            if env_id in entry.games and name not in SLOW and not getattr(agents.make(name), "slow", False):
                policy = agents.resolve(briefly(name), game)
                play(game, 5, partial(ask, policy))
                table = Table(game)
                table.begin(5)
                ask_one(policy, table, 1)
    states, _ = registry.make_game("bridge_bidding_v0").start(4)
    encode_value(states, np.array([3]), np.zeros((1, 636), np.int8))
    elsewhere = {"bidzoo.envs.bridge.formats.auctions"}  # kernels of files: tests/envs/bridge/formats
    missing = {
        f"{module}.{name}"
        for module, name in set(KERNELS) - both_ways
        if module.startswith(("bidzoo.core", "bidzoo.envs")) and module not in elsewhere
        if not name.endswith("_v0") or name.endswith(tuple(registry.GAMES))  # other tests bind games of their own
    }
    assert sorted(missing - {"bidzoo.envs.spades.score.gap_row"}) == []  # of ``SLOW``


def ask(policy, game, states, out):
    rows = np.flatnonzero(out.player >= 0)
    if len(rows):
        views = game.view_of(states[rows], out.player[rows])
        policy.act(views, out.mask[rows], Streams.at(1, states["board"][rows]))


# ---- elements of arrays, which plain Python does not widen ------------------------------------------

NARROW_FIELDS = {
    name
    for module in (bridge_state, spades_state, signalling_state)
    for dtype in (module.STATE, module.VIEW)
    for name, field in dtype.fields.items()
    if field[0].shape and field[0].base.itemsize < 8
}


def narrow_operands(function):
    """Lines of ``function``, a tree, that shift or multiply an element of fewer than 64 bits as it is."""
    arrays = {
        argument.arg
        for argument in function.args.args
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id in ("I8", "I16", "I32", "U8")
    }
    names = set()

    def narrow(node):
        if isinstance(node, ast.Name):
            return node.id in names
        if isinstance(node, ast.UnaryOp):
            return narrow(node.operand)
        if isinstance(node, ast.IfExp):
            return narrow(node.body) or narrow(node.orelse)
        if isinstance(node, ast.BinOp):
            return narrow(node.left) and narrow(node.right)
        if not isinstance(node, ast.Subscript):
            return False
        base = node.value
        return base.id in arrays if isinstance(base, ast.Name) else getattr(base, "attr", "") in NARROW_FIELDS

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = [*zip(node.targets[0].elts, node.value.elts)]
            names |= {target.id for target, value in pairs if isinstance(target, ast.Name) and narrow(value)}
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift | ast.Mult):
            yield from [node.lineno] * (narrow(node.left) or narrow(node.right))


def test_no_kernel_shifts_or_multiplies_a_narrow_element():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and any("row" in ast.unparse(d) or "batched" in ast.unparse(d) for d in node.decorator_list)
        for line in narrow_operands(node)
    ]
    assert found == []


def test_the_lint_finds_what_numpy_would_lose():
    source = """
def shift_row(state, offset: int, out: I8):
    call = state.calls[0]
    a, b = out[1], int(out[2])
    return 1 << call, 1 << int(call), 5 * a, 5 * b, 1 << (state.plays), 3 * (out[1] + out[2]), 3 * (out[1] + offset)
"""
    found = narrow_operands(ast.parse(source).body[0])
    assert len([*found]) == 3
