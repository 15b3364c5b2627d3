"""The global state: one vector for all agents, from which the rest of the episode and every observation follow."""

import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from pettingzoo.test.state_test import state_test
from pettingzoo.utils import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

import bidzoo
from bidzoo.core.cards import SEATS, call_text
from bidzoo.envs.bridge import features as bridge_features
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.state import UNKNOWN_POINTS
from bidzoo.envs.spades import observation as spades_observation
from bidzoo.registry import GAMES
from bidzoo.wrappers.batch import Batch

GAME_IDS = bidzoo.available()
PAGES = Path(__file__).parents[2] / "docs" / "observations"
FEW = DealSet(*(part[:2] for part in packaged("test")))
CASES = [
    ("bridge_bidding_v0", {"deals": FEW, "shuffle": False, "augment": False}),
    ("bridge_bidding_v0", {"deals": FEW, "shuffle": False, "augment": False, "reward": "duplicate"}),
    ("bridge_v0", {}),
    ("bridge_v0", {"deals": FEW, "shuffle": False, "reward": "par"}),
    ("bridge_v0", {"reward": "duplicate"}),
    ("spades_v0", {"max_rounds": 3}),
    ("spades_v0", {"variant": "cutthroat", "blind_nil": True, "lose_goal": -200, "deck": "jokers_deuces"}),
    ("spades_v0", {"variant": "suicide", "phase": "round", "observation": "bidding"}),
    ("spades_v0", {"phase": "bidding", "player": "random", "blind_nil": True, "max_rounds": 3}),
    ("comm_v0", {"length": 4}),
    ("mini_hanabi_v0", {}),
    ("minibridge_v0", {"size": 3}),
    ("simple_bidding_v0", {"size": 8}),
]


def label(case):
    return f"{case[0]}{''.join(f'-{value}' for value in case[1].values() if isinstance(value, str))}"


def random_actions(batch, rng, passing=0.4):
    """Legal actions ``[B]``, -1 at finished tables; in bridge and the small auctions often a pass."""
    chosen = np.full(batch.num_envs, -1)
    for b, mask in enumerate(batch.action_mask):
        legal = np.flatnonzero(mask)
        if len(legal):
            chosen[b] = legal[0] if rng.random() < passing else rng.choice(legal)
    return chosen


def walk(game, boards, turns, seed):
    """A batch whose tables play at random, yielded after the deal and after every step, until all are over."""
    batch, rng = Batch(game, len(boards), autoreset=False), np.random.default_rng(seed)
    batch.reset(seed=5, boards=np.array(boards))
    yield batch
    for _ in range(turns):
        if not batch.action_mask.any():
            return
        batch.step(random_actions(batch, rng))
        yield batch


# ---- faces -------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", GAME_IDS)
class TestFaces:
    def test_pettingzoos_own_test(self, env_id):
        state_test(bidzoo.make(env_id), turn_based_aec_to_parallel(bidzoo.make(env_id)), num_cycles=50)

    def test_batch_and_aec_agree_from_deal_to_end(self, env_id):
        """And nothing moves a state but a step: neither who looks, nor agents that leave."""
        short = {"max_rounds": 2} if env_id == "spades_v0" else {}
        batch, envs = bidzoo.make_vec(env_id, 3, **short), [bidzoo.make(env_id, **short) for _ in range(3)]
        batch.reset(seed=3)
        for b, env in enumerate(envs):
            env.reset(seed=3, options={"board": b})
        rng = np.random.default_rng(1)
        for _ in range(500):
            states = batch.state()
            assert states.shape == (3, batch.game.state_encoder.layout.size) and states.dtype == np.int8
            chosen = random_actions(batch, rng)
            for b, env in enumerate(envs):
                if env is None:
                    continue
                for agent in env.agents:
                    env.observe(agent)
                    env.view(agent)
                    assert np.array_equal(env.state(), states[b])
                    assert env.state_space.contains(env.state())
                env.step(int(chosen[b]))
                if any(env.terminations.values()):
                    envs[b] = None
                    end = env.state()
                    assert not np.array_equal(end, states[b])
                    while env.agents:
                        env.step(None)
                        assert np.array_equal(env.state(), end)
            batch.step(chosen)
            if not any(envs):
                return
        raise AssertionError("no episode ended in 500 steps")

    def test_wrappers_and_conversions_pass_it_on(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=2)
        wrapped = OrderEnforcingWrapper(
            AssertOutOfBoundsWrapper(TerminateIllegalWrapper(bidzoo.make(env_id), illegal_reward=-1))
        )
        with pytest.raises(AssertionError, match="before state"):
            wrapped.state()
        parallel = turn_based_aec_to_parallel(bidzoo.make(env_id))
        for form in (wrapped, parallel):
            form.reset(seed=2)
            assert np.array_equal(form.state(), env.state())
            assert form.state_space == env.state_space

    def test_before_reset(self, env_id):
        with pytest.raises(AttributeError, match=r"state\(\) cannot be called before reset\(\)"):
            bidzoo.make(env_id).state()
        with pytest.raises(ValueError, match=r"call reset\(\) before state\(\)"):
            bidzoo.make_vec(env_id, 2).state()

    def test_fresh_arrays_and_only_on_demand(self, env_id):
        env, batch = bidzoo.make(env_id), bidzoo.make_vec(env_id, 2)
        env.reset(seed=1)
        batch.reset(seed=1)
        env.step(int(np.argmax(env.last()[0]["action_mask"])))
        batch.step(np.argmax(batch.action_mask, axis=1))
        assert "state_encoder" not in vars(env.game) and "state_encoder" not in vars(batch.game)
        for form in (env, batch):
            before = form.state()
            form.state()[:] = 7
            assert np.array_equal(form.state(), before)
        assert env.state_space is env.state_space

    def test_copies(self, env_id):
        env = bidzoo.make(env_id)
        env.reset(seed=1)
        space = env.state_space
        twin = pickle.loads(pickle.dumps(env))
        assert np.array_equal(twin.state(), env.state()) and twin.state_space == space

    def test_vector(self, env_id):
        env = gymnasium.make_vec(GAMES[env_id].gymnasium_id, 3, opponents="random").unwrapped
        _, infos = env.reset(seed=4)
        assert np.array_equal(env.state(), env.batch.state())
        _, _, _, _, infos = env.step(np.argmax(infos["action_mask"], axis=1))
        assert np.array_equal(env.state(), env.batch.state()) and "state" not in infos

    def test_whatever_the_number_of_tables(self, env_id):
        """300 tables are encoded on all cores, 3 on one."""
        batch, rng = bidzoo.make_vec(env_id, 300), np.random.default_rng(0)
        batch.reset(seed=1)
        for _ in range(9):
            batch.step(random_actions(batch, rng))
        together = batch.state()
        encoder = batch.game.state_encoder
        for rows in (slice(0, 3), slice(297, 300)):
            assert np.array_equal(encoder(batch.states[rows].copy()), together[rows])

    def test_wrong_shapes(self, env_id):
        batch = bidzoo.make_vec(env_id, 2)
        batch.reset()
        encoder, size = batch.game.state_encoder, batch.game.state_encoder.layout.size
        with pytest.raises(ValueError, match=rf"state: out has shape \(2, {size - 1}\), expected \(2, {size}\)"):
            encoder.encode(batch.states, np.zeros((2, size - 1), np.int8))
        with pytest.raises(ValueError, match=f"expected .*vector of {size} entries"):
            encoder.explain(np.zeros(size + 1, np.int8))


def test_an_illegal_end_leaves_the_state():
    env = bidzoo.make("bridge_bidding_v0")
    env.reset(seed=1)
    before = env.state()
    env.step(2)  # nothing to redouble
    assert all(env.terminations.values()) and np.array_equal(env.state(), before)


# ---- what it tells -----------------------------------------------------------------------

NOT_TOLD = {  # addresses of chance, rules, records of past rounds, and the order of the cards of earlier tricks
    "bridge": {"board", "points", "played", "players"},
    "spades": {
        "board",
        "seed",
        "length",
        "gains",
        "last_bids",
        "last_won",
        "last_blind",
        "winner",
        "played",
        "players",
    },
}


def told(game, tables):
    """What a state tells, read from each record: its fields, and the tricks that any player may still look at."""
    names = [name for name in tables.dtype.names if name not in NOT_TOLD.get(game.id.split("_")[0], {"board"})]
    keys, columns = [], [tables[name] for name in names]
    for b, table in enumerate(tables):
        key = [fields[b].tobytes() for fields in columns]
        if "plays" in names:
            plays = int(table["plays"])
            current = plays - plays % 4
            shown = max(current - 4, 0) if game.id.startswith("bridge") else current
            key += [table[name][shown:plays].tobytes() for name in ("played", "players")]
            key += [bytes(sorted(table["played"][:shown].view(np.uint8)))]
            if game.id.startswith("spades"):
                key += [repr(sorted(zip(table["players"][:current], table["played"][:current], strict=True))).encode()]
        if "points" in tables.dtype.names and table["leg"] == 1:
            key += [table["points"][:1].tobytes()]
        keys.append(b"".join(key))
    return keys


@pytest.mark.parametrize("case", CASES, ids=label)
def test_equal_states_are_equal_tables(case):
    """And equal observations of every player, by every encoder; tables share boards, so that states do meet."""
    game = bidzoo.make_game(case[0], **case[1])
    by_state, by_key, seen, met, entries = {}, {}, {}, 0, np.zeros(game.state_encoder.layout.size, np.int64)
    encoders = [(player, encoder) for player in range(game.num_players) for encoder in game.encoders.values()]
    for seed in range(3):
        for batch in walk(game, [0, 1, 2, 3] * 6, 90, seed):
            states = batch.state()
            entries += states.sum(axis=0)
            views = [game.view_of(batch.states, np.full(24, player)) for player in range(game.num_players)]
            shown = np.hstack([encoder(views[player]) for player, encoder in encoders])
            for b, key in enumerate(told(game, batch.states)):
                state = states[b].tobytes()
                met += state in by_state
                assert by_state.setdefault(state, key) == key
                assert by_key.setdefault(key, state) == state
                if batch.states["turn"][b] >= 0:
                    assert np.array_equal(seen.setdefault(state, shown[b]), shown[b])
            assert np.isin(states, (0, 1)).all()
    assert len(by_state) > 100 or game.num_players == 2
    assert met > 10 and entries.any()


@pytest.mark.parametrize("case", CASES, ids=label)
def test_layouts_name_every_entry(case):
    layout = bidzoo.make_game(case[0], **case[1]).state_encoder.layout
    assert all(field.labels for field in layout.fields)
    assert len({layout.label(i) for i in range(layout.size)}) == layout.size


@pytest.mark.parametrize("env_id", ["bridge_v0", "spades_v0"])
def test_the_order_of_earlier_tricks_bears_on_nothing(env_id):
    """W holds all spades and leads: two orders of two tricks, then the same trick, lead to one state and one future."""
    game = bidzoo.make_game(env_id)
    deal = "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432..."
    start = "P P 7NT P P P" if env_id == "bridge_v0" else "1 1 1 1"
    tricks = [f"S{rank} C{rank} D{rank} H{rank}" for rank in "AK2"]
    paths = []
    for order in (tricks, [tricks[1], tricks[0], tricks[2]]):
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, np.zeros(1, np.int64), 0, out)
        game.fix(tables, game.options({"deal": deal, "dealer": "S" if env_id == "spades_v0" else "N"}), out)
        for word in f"{start} {' '.join(order)}".split():
            assert out.mask[0, game.action_number(word)], word
            game.step(tables, np.array([game.action_number(word)]), 0, out)
        paths.append((tables, out))
    (first, left), (second, right) = paths
    assert first["played"].tobytes() != second["played"].tobytes()
    rng = np.random.default_rng(0)
    while not left.over[0]:
        assert np.array_equal(game.state_encoder(first), game.state_encoder(second))
        assert np.array_equal(left.mask, right.mask) and left.player == right.player
        action = int(rng.choice(np.flatnonzero(left.mask[0])))
        game.step(first, np.array([action]), 0, left)
        game.step(second, np.array([action]), 0, right)
    if env_id == "bridge_v0":
        assert np.array_equal(left.reward, right.reward) and left.reward.any()
    assert np.array_equal(game.state_encoder(first), game.state_encoder(second))


# ---- read back -------------------------------------------------------------------------------


def number(digits):
    """Of binary ``digits``, low first."""
    return int.from_bytes(np.packbits(digits, bitorder="little").tobytes(), "little")


def signed(entries):
    return number(entries[1:]) * (-1 if entries[0] else 1)


def cards_of(entries):
    return number(entries)  # a hand has bit ``card`` for each card


def one(entries):
    """The seat or count that is on, -1 if none is."""
    (found,) = np.flatnonzero(entries) if entries.any() else (-1,)
    return int(found)


def calls_of(parts):
    """The auction as text, rebuilt from who made what: passes fill the gaps, up to the dealer and the turn."""
    made = parts["bids"].reshape(35, 3, 4)
    said = [(who, (call_text(3 + bid), "X", "XX")[kind]) for bid, kind, who in np.argwhere(made).tolist()]
    seat, calls = one(parts["dealer"]), []
    for who, text in said:
        calls += ["P"] * ((who - seat) % 4) + [text]
        seat = (who + 1) % 4
    if not said:
        return ["P"] * int(parts["passed"].sum())
    in_auction = parts["turn"].any() and not ("next card" in parts and parts["next card"].any())
    return calls + ["P"] * ((one(parts["turn"]) - seat) % 4 if in_auction else 3)


@pytest.mark.parametrize("case", CASES[:5], ids=label)
def test_bridge_is_read_back(case):
    game = bidzoo.make_game(case[0], **case[1])
    finished = 0
    for batch in walk(game, list(range(8)), 150, 7):
        for table, state in zip(batch.states, batch.state(), strict=True):
            parts = game.state_encoder.layout.split(state)
            assert [cards_of(parts[seat]) for seat in SEATS] == table["hands"].tolist()
            assert (one(parts["dealer"]), one(parts["turn"])) == (table["dealer"], table["turn"])
            assert parts["vulnerable"][1] + 2 * parts["vulnerable"][3] == table["vulnerable"]
            assert calls_of(parts) == [call_text(int(call)) for call in table["calls"][: table["length"]]]
            if "gone" in parts:
                plays = int(table["plays"])
                held = [cards_of(parts[seat]) & ~cards_of(parts["gone"]) for seat in SEATS]
                assert held == table["held"].tolist() and one(parts["next card"]) == table["hand_to_play"]
                assert [one(side) for side in parts["won"].reshape(2, 14)] == table["won"].tolist()
                current = plays - plays % 4
                for name, cards in (
                    ("trick", slice(current, plays)),
                    ("last trick", slice(max(current - 4, 0), current)),
                ):
                    on = {(int(who), int(card)) for who, card in np.argwhere(parts[name].reshape(4, 52))}
                    assert on == set(zip(table["players"][cards], table["played"][cards], strict=True))
            assert ("tricks" in parts) == game.needs_dd_tricks
            if game.needs_dd_tricks:
                assert [one(cell) for cell in parts["tricks"].reshape(20, 14)] == table["tricks"].tolist()
            if game.reward == "duplicate":
                assert parts["second table"][0] == table["leg"]
                assert 10 * signed(parts["result"]) == (table["points"][0] if table["leg"] else 0) != UNKNOWN_POINTS
                finished += table["leg"] == 1
            else:
                finished += table["turn"] < 0
    assert finished >= 8


def test_bridge_without_double_dummy_tricks():
    game = bidzoo.make_game("bridge_bidding_v0")
    tables = Batch(game, 1)
    tables.reset()
    guess = game.new(1)
    game.determinize(tables.views(), np.zeros(1, np.uint64), guess)
    assert not game.state_encoder.layout.split(game.state_encoder(guess)[0])["tricks"].any()


@pytest.mark.parametrize("case", CASES[5:9], ids=label)
def test_spades_is_read_back(case):
    game = bidzoo.make_game(case[0], **case[1])
    sides, rounds = (4 if case[1].get("variant") == "cutthroat" else 2), set()
    cards = "hands" if case[1].get("phase") == "bidding" else "held"
    for batch in walk(game, list(range(12)), 140, 3):
        for table, state in zip(batch.states, batch.state(), strict=True):
            parts = game.state_encoder.layout.split(state)
            assert [cards_of(parts[seat]) for seat in SEATS] == table[cards].tolist()
            assert number(parts["looked"]) == table["looked"] and one(parts["turn"]) == table["turn"]
            assert (one(parts["first"]) - 1) % 4 == table["dealer"]
            bids = [one(made) for made in parts["bids"].reshape(4, 15)]
            assert [0 if bid == 14 else bid for bid in bids] == table["bids"].tolist()
            assert [bid == 14 for bid in bids] == [bool(table["blind"] >> seat & 1) for seat in range(4)]
            assert [signed(side) for side in parts["score"].reshape(sides, -1)] == table["scores"][:sides].tolist()
            assert [one(side) for side in parts["bags"].reshape(sides, 10)] == table["bags"][:sides].tolist()
            assert number(parts["rounds"]) == table["rounds"]
            if "trick" in parts:
                played = parts["trick"].reshape(4, 52) + parts["earlier"].reshape(4, 52)
                on = {(int(who), int(card)) for who, card in np.argwhere(played)}
                plays = int(table["plays"])
                assert on == set(zip(table["players"][:plays], table["played"][:plays], strict=True))
                assert parts["trick"].sum() == plays % 4 and one(parts["leader"]) == table["leader"]
                assert [one(seat) for seat in parts["won"].reshape(4, 14)] == table["won"].tolist()
                assert [number(seat) for seat in parts["void"].reshape(4, 4)] == table["voids"].tolist()
            rounds.add(int(table["rounds"]))
    assert len(rounds) > 1


def test_points_beyond_what_observations_show():
    """All scores below 790 short of the goal look alike to the players, and not in the state."""
    game = bidzoo.make_game("spades_v0", max_rounds=10_000)
    layout, states, observations = game.state_encoder.layout, [], []
    for score in (-5000, -5010, -100_000, 100_000):
        tables, out = game.new(1), game.buffers(1)
        game.begin(tables, np.zeros(1, np.int64), 0, out)
        game.fix(tables, game.options({"scores": [score, 0]}), out)
        states.append(game.state_encoder(tables)[0])
        observations.append(out.observation[0])
        assert signed(layout.split(states[-1])["score"][:26]) == score
    assert np.array_equal(observations[0], observations[1]) and len({state.tobytes() for state in states}) == 4
    tables["rounds"] = 9_999
    assert number(layout.split(game.state_encoder(tables)[0])["rounds"]) == 9_999


@pytest.mark.parametrize("case", CASES[9:], ids=label)
def test_small_games_are_read_back(case):
    game = bidzoo.make_game(case[0], **case[1])
    for batch in walk(game, list(range(40)), 70, 2):
        for table, state in zip(batch.states, batch.state(), strict=True):
            parts = game.state_encoder.layout.split(state)
            assert one(parts["turn"]) == table["turn"] and one(parts["type 0"]) == table["types"][0]
            assert ("type 1" in parts) == (game.id != "comm_v0")
            if "type 1" in parts:
                assert one(parts["type 1"]) == table["types"][1]
            actions, length = table["history"].tolist(), int(table["length"])
            if game.id == "comm_v0":
                bits = [one(bit) for bit in parts["message"].reshape(-1, 2)]
                assert bits == [*actions[: min(length, 4)], *[-1] * (4 - min(length, 4))]
                guess = [one(bit) for bit in parts["guess"].reshape(-1, 2)]
                assert guess == ([actions[4] >> k & 1 for k in (3, 2, 1, 0)] if length == 5 else [-1] * 4)
            elif game.id == "mini_hanabi_v0":
                assert [one(parts["first"]), one(parts["second"])] == [*actions[:length], -1, -1][:2]
            else:
                owner = {action: turn % 2 for turn, action in enumerate(actions[:length]) if action}
                assert {1 + bid: who for bid, who in np.argwhere(parts["bids"].reshape(-1, 2)).tolist()} == owner
                opened, closed = length > 0 and actions[0] == 0, length > 1 and actions[length - 1] == 0
                assert parts["pass"].tolist() == ([closed] if "size=8" in str(game) else [opened, closed])
    assert (batch.states["turn"] < 0).all()


# ---- words -----------------------------------------------------------------------------------


def finish(env_id, actions, options=None, **rules):
    """The state as text after ``actions`` of board 0 of seed 0."""
    env = bidzoo.make(env_id, **rules)
    env.reset(seed=0, options=options)
    for word in actions.split():
        env.step(env.game.action_number(word))
    return env.game.state_encoder.explain(env.state())


BRIDGE_DEAL = {
    "deal": "N:964.QJ.KJ87.KQJ5 AKQJ32.9652.93.6 T875.T43.AQT2.87 .AK87.654.AT9432",
    "dealer": "N",
    "vulnerability": "ns",
    "tricks": [7, 8, 6, 7, 7, 6, 4, 7, 6, 6] * 2,
}
SPADES_DEAL = {
    "deal": "N:AQ5.K74.J83.Q942 T83.AJ9.KT5.J765 KJ7.Q62.A964.AT3 9642.T853.Q72.K8",
    "dealer": "N",
    "scores": [117, -40],
}


def test_bridge_in_words():
    text = finish("bridge_v0", "1C X 1H 1S 2C P P P SA S5 D4 S4 SK", BRIDGE_DEAL)
    assert text in (PAGES / "bridge.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "N dealt; N to act" and "next card: S" in lines and lines[1] == "vulnerable: N/S"
    assert lines[2].startswith("auction: N 1C, E X, S 1H, W 1S, N 2C (")
    over = finish("bridge_bidding_v0", "1C P P P P", BRIDGE_DEAL, reward="duplicate")
    assert over.splitlines()[0] == "N dealt; E to act"
    assert over.splitlines()[-1] == "second table; N/S scored +70 at the first"
    assert "double-dummy tricks in C D H S NT: N 7 8 6 7 7, E 6 4 7 6 6" in over
    assert finish("bridge_bidding_v0", "P P P P", BRIDGE_DEAL).splitlines()[2] == "auction: all four passed"
    assert "W: ♠- ♥AK87 ♦654 ♣AT9432" in over


def test_spades_in_words():
    text = finish("spades_v0", "3 4 nil 5 AH 2H 3H 4H JH QH", SPADES_DEAL, win_goal=200, lose_goal=-100)
    assert text in (PAGES / "spades.md").read_text(encoding="utf-8")
    assert text.splitlines()[-1] == "score after 0 rounds: N/S 117, E/W -40"
    blind = finish("spades_v0", "3", {**SPADES_DEAL, "scores": [0, 200]}, blind_nil=True, blind_deficit=100)
    assert "not yet looked: N S" in blind.splitlines()


def test_small_games_in_words():
    text = finish("minibridge_v0", "P 1H 2S", {"types": (2, 1)}, size=2)
    assert text in (PAGES / "small.md").read_text(encoding="utf-8")
    assert "bids: 1H player_1 2S player_0" in text.splitlines()


@pytest.mark.parametrize(
    ("page", "layout"),
    [
        ("bridge.md", bridge_features.state_layout(True, True, True)),
        ("spades.md", spades_observation.state_layout(True)),
        ("spades.md", spades_observation.state_layout(False)),
    ],
)
def test_the_pages_show_the_layouts(page, layout):
    text = (PAGES / page).read_text(encoding="utf-8")
    assert layout.markdown() in text


@pytest.mark.parametrize("case", CASES[:9], ids=label)
def test_the_pages_show_the_sizes(case):
    game = bidzoo.make_game(case[0], **case[1])
    text = (PAGES / f"{game.id.split('_')[0]}.md").read_text(encoding="utf-8")
    assert f"| {game.state_encoder.layout.size} |" in text
