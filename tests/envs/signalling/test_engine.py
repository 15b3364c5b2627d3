"""The small games at the table: the batched engine, what players see, and agreement with the compiled form."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo import agents
from bidzoo.core.kernels import I8, State, States, row
from bidzoo.core.layout import Field
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Buffers
from bidzoo.envs.signalling.comm import Comm
from bidzoo.envs.signalling.compiled import compile_game, evaluate, locate, uniform
from bidzoo.envs.signalling.engine import Rules
from bidzoo.envs.signalling.game import SignallingGame, game_shown
from bidzoo.envs.signalling.mini_hanabi import MiniHanabi
from bidzoo.envs.signalling.minibridge import Minibridge
from bidzoo.envs.signalling.simple_bidding import SimpleBidding
from bidzoo.envs.signalling.state import OVER

SMALL = [Comm(1), Comm(3), MiniHanabi(), SimpleBidding(2), SimpleBidding(8), Minibridge(1), Minibridge(3)]
LARGE = [Comm(14), SimpleBidding(1024), SimpleBidding(65536), Minibridge(20), Minibridge(31)]
games = st.sampled_from(SMALL + LARGE[1:4])
picks = st.lists(st.integers(0, 10**6), min_size=70, max_size=70)
seeds = st.integers(0, 2**32 - 1)


def start(game: SignallingGame, boards: list[int], seed: int) -> tuple[States, Buffers]:
    tables, out = game.new(len(boards)), game.buffers(len(boards))
    game.begin(tables, np.array(boards), seed, out)
    return tables, out


def choose(out: Buffers, pick: int) -> np.ndarray:
    """A legal action everywhere, different at different tables; 0 where there is none."""
    legal = [np.flatnonzero(mask) for mask in out.mask]
    return np.array([row[(pick + b) % len(row)] if len(row) else 0 for b, row in enumerate(legal)])


@settings(deadline=None, max_examples=60)
@given(games, picks, seeds, st.integers(0, 10**9))
def test_batch_equals_single(game: SignallingGame, picks: list[int], seed: int, board: int) -> None:
    """A table does not depend on the tables beside it, nor on threads."""
    many, shown = start(game, [board, board + 1, board + 2], seed)
    one, alone = start(game, [board], seed)
    for pick in picks:
        actions = choose(shown, pick)
        game.step(many, actions, seed, shown, 0)
        game.step(one, np.array([int(actions[0])]), 0, alone)
        for field in ("player", "observation", "mask", "reward", "over"):
            assert (getattr(shown, field)[0] == getattr(alone, field)[0]).all(), field
        assert many[0] == one[0]
        if not shown.mask.any():
            break
    assert not shown.mask.any(), "no episode outlives max_turns"


@settings(deadline=None, max_examples=60)
@given(games, picks, seeds)
def test_episode(game: SignallingGame, picks: list[int], seed: int) -> None:
    """Masks are never empty before the end, rewards are equal and in range, a replay gives the same record."""
    tables, out = start(game, [0], seed)
    actions: list[int] = []
    while not out.over[0]:
        assert out.mask[0].any() and not out.reward.any()
        assert out.player[0] == tables["turn"][0] in (0, 1)
        actions.append(int(choose(out, picks[len(actions)])[0]))
        game.step(tables, np.array([actions[-1]]), 0, out)
    assert tables["history"][0, : len(actions)].tolist() == actions and len(actions) <= game.max_turns
    assert not out.mask.any() and not out.observation.any() and out.player[0] == -1
    assert out.reward[0, 0] == out.reward[0, 1]
    assert game.reward_range[0] <= out.reward[0, 0] <= game.reward_range[1]
    final = tables[0].copy()
    game.step(tables, np.array([0]), 0, out)
    assert tables[0] == final and not out.over[0] and not out.reward.any()
    again, shown = start(game, [0], seed)
    for action in actions:
        game.step(again, np.array([action]), 0, shown)
    assert again[0] == final


@settings(deadline=None, max_examples=60)
@given(games, picks, seeds, st.integers(0, 40), st.data())
def test_partner_type_is_hidden(
    game: SignallingGame, picks: list[int], seed: int, turns: int, data: st.DataObject
) -> None:
    tables, out = start(game, [0], seed)
    for pick in picks[: min(turns, game.max_turns)]:
        if not out.over[0]:
            game.step(tables, np.array([int(choose(out, pick)[0])]), 0, out)
    for me in (0, 1):
        other = tables.copy()
        other["types"][0, 1 - me] = data.draw(st.integers(0, game.num_types[1 - me] - 1))
        assert game.view_of(tables, np.array([me])) == game.view_of(other, np.array([me]))
        seen = np.zeros((2, game.encoder.layout.size), np.int8)
        game.observe(tables, np.array([0]), me, seen[0][None])
        game.observe(other, np.array([0]), me, seen[1][None])
        assert (seen[0] == seen[1]).all()
        assert (game.encoder(game.view_of(tables, np.array([me])))[0] == seen[0]).all()


def test_who_made_which_bid() -> None:
    """After an opening pass and three bids, and after the pass that ends it."""
    game = Minibridge(3)
    tables, out = start(game, [0], 0)
    assert [game.action_number(word) for word in ("pass", " p ", game.call_names[1].lower())] == [0, 0, 1]
    for word in ("Q", "passes", ""):
        with pytest.raises(ValueError, match="not a call of"):
            game.action_number(word)
    for call in (0, 1, 2, 4):
        game.step(tables, np.array([call]), 0, out)
    passes, bids = len(game.pass_names), len(game.call_names) - 1
    for me in (0, 1):
        seen = np.zeros(game.encoder.layout.size, np.int8)
        game.observe(tables, np.array([0]), me, seen[None])
        history = seen[-(passes + 2 * bids) :]
        made = {(bid, who) for bid in range(bids) for who in range(2) if history[passes + 2 * bid + who]}
        assert history[:passes].tolist() == [1, 0]
        assert made == {(0, 1 - me), (1, me), (3, 1 - me)}  # own first, then the partner's
    game.step(tables, np.array([0]), 0, out)
    game.observe(tables, np.array([0]), 0, seen[None])
    assert seen[-(passes + 2 * bids) :][:passes].tolist() == [1, 1]


def every_leaf(game: SignallingGame) -> tuple[States, States, np.ndarray]:
    """All states of ``game`` with every deal: those to act, the finished ones, and the rewards of the latter."""
    deals = [(x, y) for x in range(game.num_types[0]) for y in range(game.num_types[1])]
    tables, out = start(game, [0] * len(deals), 0)
    tables["types"] = deals
    open_, finished, rewards = [tables.copy()], [], []
    masks = [out.mask]
    for tables in open_:  # grows while it is read
        mask = masks.pop(0)[0]
        for action in np.flatnonzero(mask):
            below, shown = tables.copy(), game.buffers(len(deals))
            game.step(below, np.full(len(deals), action), 0, shown, 0)
            if shown.over[0]:
                finished.append(below)
                rewards.append(shown.reward[:, 0])
            else:
                open_.append(below)
                masks.append(shown.mask)
    return np.concatenate(open_), np.concatenate(finished), np.concatenate(rewards)


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_engine_agrees_with_compiled_form(game: SignallingGame) -> None:
    compiled = compile_game(game)
    _, finished, rewards = every_leaf(game)
    leaves = compiled.leaf[locate(compiled, finished)]
    assert (np.bincount(leaves, minlength=len(compiled.payoff)) == compiled.prior.size).all()
    x, y = finished["types"].T
    assert (rewards == compiled.payoff[leaves, x, y]).all()


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_observation_is_the_information_set(game: SignallingGame) -> None:
    """Same observation exactly if same player, same type and same history: perfect recall, at every state."""
    open_, finished, _ = every_leaf(game)
    by_observation: dict[bytes, bytes] = {}
    by_infoset: dict[bytes, bytes] = {}
    for tables in (open_, finished):
        for player in (0, 1):
            views = game.view_of(tables, np.full(len(tables), player))
            for view, vector in zip(views, game.encoder(views), strict=True):
                key = np.array([player, view["type"], view["length"], *view["history"]]).tobytes()
                assert by_observation.setdefault(vector.tobytes(), key) == key
                assert by_infoset.setdefault(key, vector.tobytes()) == vector.tobytes()


@pytest.mark.parametrize("game", [Comm(3), SimpleBidding(5), Minibridge(4), MiniHanabi()], ids=str)
def test_deals_are_uniform(game: SignallingGame) -> None:
    n = 40_000
    tables, _ = start(game, list(range(n)), 7)
    x, y = game.num_types
    counts = np.zeros((x, y))
    np.add.at(counts, tuple(tables["types"].T), 1)
    expected = n / (x * y)
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert statistic < (x * y - 1) + 5 * np.sqrt(2 * (x * y - 1))


def test_a_board_is_addressed_by_seed_and_number() -> None:
    game = Minibridge(20)
    many, _ = start(game, list(range(100)), 3)
    backwards, _ = start(game, list(range(99, -1, -1)), 3)
    assert (many == backwards[::-1]).all()
    assert (many["types"] != start(game, list(range(100)), 4)[0]["types"]).any()


def test_stride_deals_the_next_board_at_once() -> None:
    game = MiniHanabi()
    tables, out = start(game, [0, 10], 5)
    game.step(tables, np.array([1, -1]), 5, out, 2)
    game.step(tables, np.array([1, 0]), 5, out, 2)
    assert out.over.tolist() == [True, False] and out.reward.tolist() == [[8, 8], [0, 0]]
    fresh, shown = start(game, [2], 5)
    assert tables[0] == fresh[0] and (out.observation[0] == shown.observation[0]).all()
    assert tables["board"].tolist() == [2, 10] and out.player.tolist() == [0, 1]
    game.step(tables, np.array([-1, -1]), 5, out, 2)
    assert not out.over.any() and not out.reward.any() and tables[0] == fresh[0]


def test_begin_at_some_rows_leaves_the_others() -> None:
    game = Comm(3)
    tables, out = start(game, [0, 1, 2], 1)
    game.step(tables, np.array([1, 1, 1]), 1, out, 0)
    before = tables.copy()
    game.begin(tables, np.array([7, 8, 9]), 1, out, np.array([False, True, False]))
    assert (tables[[0, 2]] == before[[0, 2]]).all()
    assert tables[1] == start(game, [8], 1)[0][0] and out.observation[1, -12:].sum() == 0


@settings(deadline=None, max_examples=40)
@given(games, picks, seeds, st.integers(0, 20), st.integers(0, 1))
def test_determinize(game: SignallingGame, picks: list[int], seed: int, turns: int, me: int) -> None:
    tables, out = start(game, [0], seed)
    for pick in picks[: min(turns, game.max_turns)]:
        if not out.over[0]:
            game.step(tables, np.array([int(choose(out, pick)[0])]), 0, out)
    views = np.repeat(game.view_of(tables, np.array([me])), 50)
    drawn, keys = game.new(50), np.arange(50, dtype=np.uint64)
    game.determinize(views, keys, drawn)
    assert (keys != np.arange(50)).all()
    assert (game.view_of(drawn, np.full(50, me)) == views).all()
    partner = drawn["types"][:, 1 - me]
    assert (partner >= 0).all() and (partner < game.num_types[1 - me]).all()
    if game.num_types[1 - me] > 1:
        assert len(set(partner.tolist())) > 1, "the partner's type is drawn, not copied"


@pytest.mark.parametrize("game", LARGE, ids=str)
def test_large_sizes_play(game: SignallingGame) -> None:
    """Longest auction, every bid made one step at a time; no tree is ever built."""
    tables, out = start(game, [0], 0)
    while not out.over[0]:
        legal = np.flatnonzero(out.mask[0])
        game.step(tables, np.array([int(legal[legal > 0][0] if (legal > 0).any() else 0)]), 0, out)
    longest = game.max_turns - 1 if isinstance(game, Minibridge) else game.max_turns  # its opening pass is not made
    assert tables["length"][0] == longest
    assert game.text(tables[0])


# ---- words and options --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "types", "actions", "text"),
    [
        (Minibridge(4), (3, 2), "1H 1S 3H P", "hearts 3 | 2   1H 1S 3H P   3H fails: -1"),
        (Minibridge(4), (4, 3), "1H 1S 3H P", "hearts 4 | 3   1H 1S 3H P   3H makes: +4"),
        (Minibridge(4), (4, 3), "P P", "hearts 4 | 3   P P   passed out: +0"),
        (Minibridge(4), (4, 3), "P 1S", "hearts 4 | 3   P 1S"),
        (Minibridge(4), (0, 4), "", "hearts 0 | 4"),
        (SimpleBidding(8), (5, 4), "1 8 P", "number 5 | 4   1 8 P   8 makes: +8"),
        (Comm(3), (5, 0), "1 0 1 5", "secret 5   101 -> 5   right: +1"),
        (Comm(3), (5, 0), "1 0", "secret 5   10"),
        (MiniHanabi(), (0, 1), "0 2", "card 0 | 1   0 2   reward: +10"),
    ],
)
def test_text(game: SignallingGame, types: tuple[int, int], actions: str, text: str) -> None:
    tables, out = start(game, [0], 0)
    game.fix(tables, game.options({"types": types}), out)
    for word in actions.split():
        assert out.mask[0, game.action_number(word)]
        game.step(tables, np.array([game.action_number(word)]), 0, out)
    assert game.text(tables[0]) == text


@pytest.mark.parametrize("game", [*SMALL, Minibridge(31)], ids=str)
def test_picture(game: SignallingGame) -> None:
    """Both outputs show every action, who acts or the result, in one size from deal to end."""
    tables, out = start(game, [0], 0)
    first = game.image(tables[0])
    assert "player_0 to act" in game.svg(tables[0])
    while not out.over[0]:
        game.step(tables, np.array([int(np.flatnonzero(out.mask[0])[-1])]), 0, out)
    last = game.image(tables[0])
    assert last.dtype == np.uint8 and last.shape == first.shape and (last != first).any()
    svg = game.svg(tables[0])
    assert "to act" not in svg and f"{out.reward[0, 0]:+g}" in svg
    assert svg.count("<rect") == 5 + tables["length"][0]


def test_explain() -> None:
    game = Minibridge(2)
    tables, out = start(game, [0], 0)
    game.fix(tables, game.options({"types": (2, 1)}), out)
    for call in ("P", "1H", "2S"):
        game.step(tables, np.array([game.action_number(call)]), 0, out)
    assert game.encoder.explain(out.observation[0]).splitlines() == [
        "player: player_1",
        "type: 1",
        "pass: opening",
        "bids: 1H ours 2S partner's",
    ]


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_action_names(game: SignallingGame) -> None:
    for action in range(game.num_actions):
        assert game.action_number(game.action_text(action)) == action
    with pytest.raises(ValueError, match="'7NTX'"):
        game.action_number("7NTX")
    with pytest.raises(ValueError, match=f"action {game.num_actions}: expected an integer"):
        game.action_text(game.num_actions)


def test_types_option_shows_the_new_deal() -> None:
    game = SimpleBidding(8)
    tables, out = start(game, [0], 0)
    for types in ((0, 7), np.array([7, 0])):
        game.fix(tables, game.options({"types": types}), out)
        assert tables["types"][0].tolist() == list(types)
        assert game.encoder.layout.split(out.observation[0])["type"].argmax() == types[0]
    assert game.options({"board": 3}) == {"board": 3} and game.options({}) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": (0, 8)}, "type of player_1 8: expected an integer from 0 to 7"),
        ({"types": (-1, 0)}, "type of player_0"),
        ({"types": (1.5, 0)}, "1.5: expected"),
        ({"types": (1,)}, "two numbers"),
        ({"types": "11"}, "two numbers"),
        ({"types": 3}, "two numbers"),
        ({"board": -1}, "option 'board'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SimpleBidding(8).options(options)


@pytest.mark.parametrize("kind", [Comm, SimpleBidding, Minibridge])
@pytest.mark.parametrize("size", [0, -1, 10**9, 2.5, "4", True, None])
def test_bad_sizes(kind: type[SignallingGame], size: object) -> None:
    with pytest.raises(ValueError, match=r"(length|size) .*: expected an integer from \d+ to \d+"):
        kind(size)  # type: ignore[call-arg, arg-type]


def test_unknown_observation() -> None:
    with pytest.raises(ValueError, match="unknown observation 'pixels'; choose from history"):
        Comm(3, observation="pixels")


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_copies_play_alike(game: SignallingGame) -> None:
    for twin in (pickle.loads(pickle.dumps(game)), copy.deepcopy(game)):
        assert str(twin) == str(game)
        (tables, out), (others, shown) = start(game, [3], 1), start(twin, [3], 1)
        assert tables[0] == others[0] and (out.observation == shown.observation).all()


# ---- a game of somebody else: rules and a class, in a file of its own ------------------------------


@row
def echo_legal_row(state: State, out: I8) -> None:
    out[:] = 1


@row
def echo_act_row(state: State, action: int) -> None:
    state.history[state.length] = action
    state.length += 1
    state.turn = 1 if state.length == 1 else OVER


@row
def echo_reward_row(state: State, x: int, y: int) -> float:
    return 1.0 if int(state.history[1]) == x else 0.0


@row
def echo_history_row(state: State, player: int, out: I8) -> None:
    for turn in range(state.length):
        out[turn * (len(out) // 2) + int(state.history[turn])] = 1


class Echo(SignallingGame):
    """player_0 says one of ``size`` words, player_1 repeats its type if it understood."""

    id = "echo_v0"
    rules = Rules(echo_legal_row, echo_act_row, echo_reward_row, echo_history_row)
    type_word, size_option = "word", "size"

    def __init__(self, size: int = 3) -> None:
        super().__init__(size, (size, 1), size, 2, (0.0, 1.0), None)

    def history_fields(self, own: str, other: str) -> tuple[Field, ...]:
        words = tuple(map(str, range(self.size)))
        return Field("said", self.size, "the word said", words), Field("heard", self.size, "the word repeated", words)

    def action_text(self, action: int) -> str:
        return str(action)

    def action_number(self, text: str) -> int:
        return int(text)

    def result_text(self, state: State, reward: float) -> str:
        return "understood" if reward else "misunderstood"


def test_a_game_needs_nothing_but_its_own_file() -> None:
    """Played, compiled, found again from its records, and solved by an agent that was told nothing about it."""
    game, agent = Echo(4), agents.make("exact")
    tables, out = start(game, [0, 1, 2, 3], 0)
    tables["types"] = [(x, 0) for x in range(4)]
    assert game_shown(tables[0]).size == 4 and game.code not in range(4)
    assert evaluate(compile_game(game), uniform(compile_game(game))) == pytest.approx(1 / 4)
    for turn in range(2):
        views = game.view_of(tables, np.full(4, turn))
        game.step(tables, agent.act(views, out.mask, Streams.at(0, np.arange(4), turn)), 0, out, 0)
    assert out.over.all() and (out.reward == 1).all()
    assert game.text(tables[2]).endswith("understood: +1")


@pytest.mark.parametrize("game", [SimpleBidding(8), Minibridge(3)], ids=lambda game: game.id)
def test_the_players_take_turns(game: SignallingGame) -> None:
    tables, out = start(game, [0], 1)
    seen = []
    while out.mask.any():
        seen.append(int(out.player[0]))
        legal = np.flatnonzero(out.mask[0])
        bids = [int(action) for action in legal if game.action_text(int(action)) != "P"]
        game.step(tables, np.array([bids[0] if bids else int(legal[0])]), 0, out)
    assert len(seen) > 3
    assert seen == [turn % 2 for turn in range(len(seen))]
