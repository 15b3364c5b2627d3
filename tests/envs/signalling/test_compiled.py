"""The compiled small games against Table 1 and Table 4 of the JPS paper, OpenSpiel, and the definitions restated."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from bidzoo.envs.signalling.comm import Comm
from bidzoo.envs.signalling.compiled import (
    Compiled,
    compile_game,
    count_infosets,
    count_states,
    evaluate,
    full_information,
    locate,
    possible,
    uniform,
)
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.mini_hanabi import MiniHanabi
from bidzoo.envs.signalling.minibridge import Minibridge
from bidzoo.envs.signalling.simple_bidding import SimpleBidding

# game, #States, #Infosets (Tian et al. 2020, Table 1), infosets with a decision, uniform policy, full information
TABLE_1 = [
    (Comm(3), 633, 129, 64, 1 / 8, 1),
    (Comm(5), 34785, 2049, 1024, 1 / 32, 1),
    (Comm(6), 270273, 8193, 4096, 1 / 64, 1),
    (Comm(7), 2129793, 32769, 16384, 1 / 128, 1),
    (MiniHanabi(), 53, 45, 8, 3.722222, 10),
    (SimpleBidding(4), 241, 61, 32, 1.465278, 2.5),
    (SimpleBidding(8), 1985, 249, 128, 3.150716, 5.375),
    (SimpleBidding(16), 16129, 1009, 512, 6.417812, 11.09375),
    (Minibridge(3), 4081, 1021, 512, -0.606803, 1.375),
    (Minibridge(4), 25576, 5116, 2560, -0.558166, 2.08),
    (Minibridge(5), 147421, 24571, 12288, -0.440037, 19 / 6),
]
SMALL = [
    Comm(1),
    Comm(3),
    MiniHanabi(),
    SimpleBidding(2),
    SimpleBidding(5),
    SimpleBidding(8),
    Minibridge(1),
    Minibridge(3),
]


@pytest.mark.parametrize(("game", "states", "infosets", "decisions", "blind", "bound"), TABLE_1, ids=str)
def test_table_1(game: SignallingGame, states: int, infosets: int, decisions: int, blind: float, bound: float) -> None:
    compiled = compile_game(game)
    assert count_states(compiled) == states
    assert count_infosets(compiled, "deal" if isinstance(game, MiniHanabi) else "mover") == infosets
    assert count_infosets(compiled) == decisions
    assert evaluate(compiled, uniform(compiled)) == pytest.approx(blind, abs=5e-7)
    assert full_information(compiled) == pytest.approx(bound, abs=1e-12)


# ---- the definitions, restated in plain Python on (history, types) -------------------------------


def comm(length: int, history: tuple[int, ...]) -> tuple[int, list[int]]:
    if len(history) < length:
        return 0, [0, 1]
    return 1, list(range(2**length)) if len(history) == length else []


def auction(bids: int, history: tuple[int, ...], opening_pass: bool) -> tuple[int, list[int]]:
    if history and history[-1] == 0 and len(history) > 1:
        return 0, []
    higher = list(range(max(history, default=0) + 1, bids + 1))
    return len(history) % 2, ([0] if history or opening_pass else []) + higher


def bridge_score(size: int, bid: int, hearts: int) -> float:
    if bid == 0:
        return 0
    level, suit = (bid + 1) // 2, "SH"[bid % 2]
    return 2 ** (level - 1) if (hearts if suit == "H" else 2 * size - hearts) >= size + level else -1


def rules(game: SignallingGame) -> tuple[Callable[..., tuple[int, list[int]]], Callable[..., float]]:
    """``moves(history) -> player, legal actions`` and ``score(history, x, y)``."""
    size = game.size
    if isinstance(game, Comm):
        return lambda h: comm(size, h), lambda h, x, y: float(h[-1] == x)
    if isinstance(game, MiniHanabi):
        return lambda h: (len(h), [0, 1, 2] if len(h) < 2 else []), lambda h, x, y: tiny_hanabi(x, y, *h)
    if isinstance(game, SimpleBidding):
        bids = len([k for k in range(20) if 2**k < 2 * size and (k == 0 or 2 ** (k - 1) < size)])
        return lambda h: auction(bids, h, False), lambda h, x, y: 2 ** (max(h) - 1) * (x + y >= 2 ** (max(h) - 1))
    return lambda h: auction(2 * size, h, True), lambda h, x, y: bridge_score(size, max(h), x + y)


def tiny_hanabi(*history: int) -> float:
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("tiny_hanabi").new_initial_state()
    for action in history:
        state.apply_action(action)
    assert state.is_terminal()
    return float(state.returns()[0])


def histories(moves: Callable[..., tuple[int, list[int]]], history: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    yield history
    for action in moves(history)[1]:
        yield from histories(moves, (*history, action))


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_tree_is_the_definition(game: SignallingGame) -> None:
    compiled, (moves, score) = compile_game(game), rules(game)
    seen = set()
    infosets = set()
    for history in histories(moves):
        node = 0
        for action in history:
            node = int(compiled.child[node, action])
        seen.add(node)
        player, legal = moves(history)
        assert compiled.depth[node] == len(history)
        assert np.flatnonzero(compiled.child[node] >= 0).tolist() == legal
        if legal:
            assert compiled.player[node] == player and compiled.leaf[node] == -1
            infosets |= {(player, history, x) for x in range(compiled.num_types[player])}
        else:
            assert compiled.player[node] == -1
            expected = [[score(history, x, y) for y in range(game.num_types[1])] for x in range(game.num_types[0])]
            assert compiled.payoff[compiled.leaf[node]].tolist() == expected
    assert seen == set(range(len(compiled.player)))
    assert count_infosets(compiled) == len(infosets)


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_numbering(game: SignallingGame) -> None:
    compiled = compile_game(game)
    assert compiled.id == str(game)
    assert compiled.prior.shape == compiled.num_types == game.num_types
    assert compiled.prior.sum() == pytest.approx(1)
    assert compiled.parent[0] == compiled.action[0] == -1
    assert (compiled.parent[1:] < np.arange(1, len(compiled.parent))).all()
    assert (np.diff(compiled.depth) >= 0).all() and compiled.depth.max() == game.max_turns
    for m in range(len(compiled.player)):
        children = compiled.child[m][compiled.child[m] >= 0]
        assert len(children) == compiled.count[m] and compiled.first[m] == (children[0] if len(children) else -1)
        assert (np.diff(children) == 1).all() and (compiled.parent[children] == m).all()
        assert compiled.action[children].tolist() == np.flatnonzero(compiled.child[m] >= 0).tolist()
    leaves = compiled.leaf[compiled.leaf >= 0]
    assert leaves.tolist() == list(range(len(compiled.payoff)))
    assert compiled.payoff.min() == game.reward_range[0] and compiled.payoff.max() == game.reward_range[1]


# Rows are the hearts of player_0, columns those of player_1: a joint policy for size 4 of the maximal score, 1.84.
TABLE_4 = """
1S-2S-3S-4S-P   1S-2S-3S-P  1S-2H-2S-P  1S-P           1S-2H-2S-4H-4S-P
P-2S-3S-P       P-1S-2S-P   P-P         P-P            P-1H-P
P-2S-P          P-1S-P      P-P         P-P            P-1H-2H-P
1H-1S-P         1H-P        1H-P        1H-2H-P        1H-3H-P
1H-1S-4H-4S-P   1H-P        1H-P        1H-2H-3H-P     1H-3H-3S-4H-P
"""


def paper_strategy(game: Minibridge, compiled: Compiled) -> np.ndarray:
    """Table 4 as a joint strategy; fails if two of its auctions ask one player for two calls at one infoset."""
    strategy = uniform(compiled)
    chosen: dict[tuple[int, int], int] = {}
    for x, line in enumerate(TABLE_4.split("\n")[1:6]):
        for y, text in enumerate(line.split()):
            node = 0
            for call in text.split("-"):
                after = int(compiled.child[node, game.action_number(call)])
                own = (x, y)[compiled.player[node]]
                assert chosen.setdefault((node, own), after) == after
                begin, end = compiled.first[node], compiled.first[node] + compiled.count[node]
                strategy[begin:end, own] = np.arange(begin, end) == after
                node = after
            assert compiled.leaf[node] >= 0
    return strategy


def test_table_4_is_worth_what_the_paper_says() -> None:
    game = Minibridge(4)
    compiled = compile_game(game)
    assert evaluate(compiled, paper_strategy(game, compiled)) == pytest.approx(46 / 25)


@pytest.mark.parametrize("length", [1, 4, 6])
def test_a_binary_code_solves_comm(length: int) -> None:
    compiled = compile_game(Comm(length))
    strategy = np.zeros(compiled.shape)
    for m in range(1, len(compiled.parent)):
        sender = compiled.player[compiled.parent[m]] == 0
        secrets = np.arange(2**length)
        bit = secrets >> (length - compiled.depth[m]) & 1
        message = compiled.parent[m] - (2**length - 1)  # nodes of one depth are numbered in order of the message
        strategy[m] = bit == compiled.action[m] if sender else message == compiled.action[m]
    assert evaluate(compiled, strategy) == pytest.approx(1)


def test_evaluate_is_the_mean_over_deals_and_lotteries() -> None:
    """Against plain recursion, with a random strategy and an uneven prior."""
    base = compile_game(SimpleBidding(5))
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(25)).reshape(5, 5)
    compiled = base._replace(prior=prior)
    strategy = rng.random(compiled.shape)
    for m in np.flatnonzero(compiled.count):
        rows = slice(compiled.first[m], compiled.first[m] + compiled.count[m])
        strategy[rows] /= strategy[rows].sum(axis=0)

    def value(m: int, deal: tuple[int, int]) -> float:
        if compiled.leaf[m] >= 0:
            return float(compiled.payoff[compiled.leaf[m]][deal])
        own = deal[compiled.player[m]]
        return float(sum(strategy[c, own] * value(c, deal) for c in compiled.child[m] if c >= 0))

    expected = sum(prior[x, y] * value(0, (x, y)) for x in range(5) for y in range(5))
    assert evaluate(compiled, strategy) == pytest.approx(expected)


def test_a_type_that_never_occurs_is_not_counted() -> None:
    base = compile_game(SimpleBidding(4))
    prior = base.prior.copy()
    prior[3] = 0
    compiled = base._replace(prior=prior / prior.sum())
    assert possible(compiled).sum(axis=1).tolist() == [3, 4]
    assert count_states(compiled) == 1 + 12 * 15
    first = int((compiled.player == 0).sum())
    assert count_infosets(compiled) == 32 - first


@pytest.mark.parametrize("game", [Minibridge(20), SimpleBidding(1024), Comm(14)], ids=str)
def test_too_large_to_compile(game: SignallingGame) -> None:
    with pytest.raises(ValueError, match=r"too large to compile.*GiB"):
        compile_game(game)


def test_errors() -> None:
    compiled = compile_game(MiniHanabi())
    with pytest.raises(ValueError, match=r"shape \(3, 2\), expected \(13, 2\)"):
        evaluate(compiled, np.ones((3, 2)))
    with pytest.raises(ValueError, match="'all'; choose none, mover or deal"):
        count_infosets(compiled, "all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="too large"):
        compile_game(Minibridge(4), max_bytes=1000)


def test_locate_follows_the_history() -> None:
    game = Minibridge(3)
    compiled, tables = compile_game(game), game.new(2)
    out = game.buffers(2)
    game.begin(tables, np.arange(2), 0, out)
    for calls in (["1H", "P"], ["2S", "1S"]):
        game.step(tables, np.array([game.action_number(call) for call in calls]), 0, out, 0)
    expected = [compiled.child[compiled.child[0, 1], 4], compiled.child[compiled.child[0, 0], 2]]
    assert locate(compiled, tables).tolist() == expected
    assert locate(compiled, game.view_of(tables, np.zeros(2, np.int64))).tolist() == expected
