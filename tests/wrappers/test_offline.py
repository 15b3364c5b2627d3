"""Records as arrays: what players saw, did and got, against a table that is played by hand."""

import numpy as np
import pytest

import bidzoo
from bidzoo.benchmarks import records
from bidzoo.benchmarks.match import duplicate, pairings
from bidzoo.wrappers.offline import transitions
from bidzoo.wrappers.text import lessons


def of_bridge(agents=("sayc", "pass"), boards=3, **options):
    game = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False, **options)
    return records.of_match(game, duplicate(game, *agents, np.arange(boards)), *agents)


def of_pairs(env_id, agents, boards=3, **options):
    game = bidzoo.make_game(env_id, **options)
    players = [bidzoo.agents.make(name) for name in agents]
    return records.of_pairings(game, options, agents, pairings(game, *players, np.arange(boards), seed=1), seed=1)


def by_hand(env, record):
    """Rows of a record as an AEC environment gives them, episode by episode of its players."""
    first = None  # who called first: what is not asked for at its turn is a pass that the rules have made
    if "env" in record:
        env.reset(record["seed"], {"board": record["board"]})
        actions = record["actions"]
    else:
        options = {name: record[name] for name in ("deal", "dealer", "vulnerability")}
        env.reset(options=options | {"tricks": record["double_dummy"]})
        actions, first = record["calls"], "NESW".index(record["dealer"])
    seen = {agent: [] for agent in env.possible_agents}
    for turn, text in enumerate(actions):
        if first is not None and (
            env.agent_selection != f"player_{(first + turn) % 4}" or any(env.terminations.values())
        ):
            continue
        observation, action = env.observe(env.agent_selection), env.game.action_number(text)
        seen[env.agent_selection].append((observation["observation"], observation["action_mask"], action))
        env.step(action)
    rewards = dict(env.rewards)
    return [
        (*row, rewards[agent] * (turn == len(rows)), turn == len(rows), player)
        for player, (agent, rows) in enumerate(seen.items())
        for turn, row in enumerate(rows, 1)
    ]


CASES = {
    "bridge": (of_bridge, {}, {"reward": "par"}),
    "two bid": (of_bridge, {"agents": ("sayc", "sl"), "competition": False}, {"reward": "par", "competition": False}),
    "few calls": (of_bridge, {"agents": ("sayc", "sl"), "most_calls": 1}, {"reward": "par", "most_calls": 1}),
    "spades": (of_pairs, {"env_id": "spades_v0", "agents": ("bis", "random"), "win_goal": 100}, {"win_goal": 100}),
    "minibridge": (of_pairs, {"env_id": "minibridge_v0", "agents": ("exact", "random"), "size": 3}, {"size": 3}),
    "mini_hanabi": (of_pairs, {"env_id": "mini_hanabi_v0", "agents": ("random", "random")}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_a_table_played_by_hand(case):
    make, arguments, options = CASES[case]
    kept = make(**arguments)
    env = bidzoo.make(kept[0].get("env", "bridge_bidding_v0"), **options)
    found = transitions(env.game, kept)
    expected = [(*row, number) for number, record in enumerate(kept) for row in by_hand(env, record)]
    assert len(found.action) == len(expected) == sum(1 for _ in lessons(env.game, kept)) > 0
    for column, values in zip(found, zip(*expected)):
        assert np.array_equal(column, np.array(values))
    assert [column.dtype.name for column in found] == ["int8", "int8", "int64", "float32", "bool", "int64", "int64"]
    if "rewards" in kept[0]:
        assert [record["rewards"] for record in kept] == [
            [float(found.reward[(found.record == number) & (found.player == player)].sum()) for player in env_players]
            for number in range(len(kept))
            for env_players in [range(env.game.num_players)]
        ]


def test_some_players_alone_and_none():
    kept = of_bridge()
    game = bidzoo.make_game("bridge_bidding_v0", reward="par")
    everybody, some = transitions(game, kept), transitions(game, kept, players=["sayc"])
    theirs = np.array([kept[n]["players"][p] == "sayc" for n, p in zip(everybody.record, everybody.player)])
    assert 0 < theirs.sum() < len(theirs)
    assert all(np.array_equal(a[theirs], b) for a, b in zip(everybody, some))
    nothing = transitions(game, [])
    assert [column.shape for column in nothing] == [(0, everybody.observation.shape[1]), (0, 38), *[(0,)] * 5]


def test_cards_or_the_auction_alone_of_a_played_board():
    played = bidzoo.make_game("bridge_v0")  # deals without double-dummy results
    (first, *_) = records.of_match(played, duplicate(played, "random", "random", np.arange(1)), "random", "random")
    assert min(first["double_dummy"]) == -1
    found = transitions(played, [first])
    assert len(found.action) == len(first["calls"]) + 52
    assert found.reward[found.terminal & (found.player == 0)] == first["score"]
    auction = transitions(bidzoo.make_game("bridge_bidding_v0", reward="score"), [first])  # solves the deal
    assert len(auction.action) == len(first["calls"]) and np.isfinite(auction.reward).all()


def test_what_a_record_does_not_fit_is_named():
    kept = of_bridge()
    for game, given, players, problem in (
        (bidzoo.make_game("minibridge_v0"), kept, (), "record of board 0: of bridge_bidding_v0, expected one of mini"),
        (
            bidzoo.make_game("bridge_bidding_v0", reward="duplicate"),
            kept,
            (),
            r"board 0: the board goes on after its \d",
        ),
        (
            bidzoo.make_game("bridge_bidding_v0"),
            [kept[0] | {"calls": ["1X"]}],
            (),
            "action 1, '1X', is not legal in br",
        ),
        (bidzoo.make_game("bridge_bidding_v0"), [kept[0] | {"calls": ["P"] * 3}], (), "goes on after its 3 actions"),
        (bidzoo.make_game("bridge_bidding_v0"), kept, ["sl"], "'sl' is none of the records' players: pass, sayc"),
        (
            bidzoo.make_game("bridge_bidding_v0", competition=False),
            [kept[0] | {"dealer": "N", "calls": ["P", "1S", "P", "P", "P"]}],
            (),
            "action 2, '1S', is not legal in .*, where this player passes",
        ),
        (bidzoo.make_game("bridge_bidding_v0"), kept[0], (), "one record, expected a list"),
        (bidzoo.make_game("bridge_bidding_v0"), "match.jsonl", (), r"records\.read\('match\.jsonl'\)"),
    ):
        with pytest.raises(ValueError, match=problem):
            transitions(game, given, players)
    with pytest.raises(TypeError, match="expected a game"):
        transitions(bidzoo.make("bridge_bidding_v0"), kept)
