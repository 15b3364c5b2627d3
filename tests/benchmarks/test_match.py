"""``bidzoo match`` and ``bidzoo replay`` of Spades and the small games: the bench's games, plain sums, tampering."""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba import config as numba_config
from typer.testing import CliRunner

import bidzoo
from bidzoo import agents, registry
from bidzoo.agents.bridge.bmcs import Bmcs
from bidzoo.agents.bridge.card_play import WithCards
from bidzoo.agents.bridge.network import NetworkPolicy, Weighted
from bidzoo.agents.policy import Uniform
from bidzoo.agents.spades.games import paper_game, play_games, share_won
from bidzoo.agents.spades.policy import Bidder, SpadesPolicy, uct
from bidzoo.benchmarks import match, records, replay
from bidzoo.benchmarks.match import pairings, summary
from bidzoo.benchmarks.results import Estimate
from bidzoo.benchmarks.spades import gains_by_partnership, rounds_log
from bidzoo.cli.main import app
from bidzoo.cli.match import _bridge_agent, _common
from bidzoo.core import digests
from bidzoo.envs.bridge.board import Board
from bidzoo.envs.python_game import PythonGame


class First:
    """Takes the first legal action, under another agent's name."""

    name = "random"

    def act(self, views, legal, rng):
        return legal.argmax(1)


SHORT = {"win_goal": 120, "max_rounds": 3, "variant": "cutthroat"}


def run(*words):
    """What a command prints; its errors come through."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None:
        raise result.exception
    return " ".join(result.stdout.split())  # not of how far it is


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")
def test_spades_games_are_those_of_the_bench():
    """Neither agent draws random numbers, so that they have no address."""
    game, names, boards = paper_game(), ("bis", "rb"), 15
    played = pairings(game, *map(agents.make, names), np.arange(boards), seed=4)
    games = play_games(tuple(map(SpadesPolicy, names)), np.arange(2 * boards), 4)
    for k, episodes in enumerate(played):
        by_partnership = episodes.states["scores"][:, [k, 1 - k]]
        np.testing.assert_array_equal(by_partnership, games.scores[k::2])
        np.testing.assert_array_equal(episodes.states["rounds"], games.rounds[k::2])
    first, second = summary(game, names, played).rows
    assert first["games won %"][:2] == pytest.approx(
        Estimate.of(100 * share_won(games.winner), group=np.arange(2 * boards) // 2)[:2]
    )
    gains, board = gains_by_partnership(rounds_log(games)), np.repeat(np.arange(2 * boards) // 2, games.rounds)
    for row, points in ((first, gains[:, 0]), (second, gains[:, 1])):
        assert row["points a round"][:2] == pytest.approx(Estimate.of(points, group=board)[:2])
    ahead = Estimate.of(gains[:, 0] - gains[:, 1], group=board)
    assert first["ahead a round"][:2] == pytest.approx(ahead[:2])
    assert second["ahead a round"].mean == pytest.approx(-ahead.mean)


@pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")
@pytest.mark.parametrize("options", [{}, {"variant": "cutthroat", "blind_nil": True}, {"reward": "points"}])
def test_one_kernel_plays_the_games_of_any_policies(options, monkeypatch):
    """Field by field, whatever the agents draw: where two of the Spades agents meet, whole games are one kernel."""
    game, boards = bidzoo.make_game("spades_v0", max_rounds=2, **options), np.array([3, 0, 11, 4])
    noisy, searching = SpadesPolicy(Bidder.named("learned", noise=0.5), "random"), uct("uct", last=2, iterations=3)
    for policies in ((SpadesPolicy("bis"), SpadesPolicy("rb", "wrp")), (noisy, searching)):
        fast = pairings(game, *policies, boards, seed=4, policy_seed=6)
        with monkeypatch.context() as patched:
            patched.setattr(registry, "whole_boards", lambda game: None)
            slow = pairings(game, *policies, boards, seed=4, policy_seed=6)
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_array_equal(one.actions, other.actions)
            np.testing.assert_array_equal(one.reward, other.reward)
            for name in one.states.dtype.names:
                np.testing.assert_array_equal(one.states[name], other.states[name], err_msg=name)


def test_every_pairing_of_partners():
    """The optimum is 10 (Foerster et al. 2019); the rows in between are an agent with a partner it never met."""
    game = bidzoo.make_game("mini_hanabi_v0")
    exact, random = agents.make("exact"), agents.make("random")
    played = pairings(game, exact, random, np.arange(400), seed=1, policy_seed=2)
    rows = summary(game, ("exact", "random"), played).rows
    assert [(row["player_0"], row["player_1"]) for row in rows] == [
        ("exact", "exact"),
        ("random", "random"),
        ("exact", "random"),
        ("random", "exact"),
    ]
    means = [row["mean reward"].mean for row in rows]
    assert means[0] == 10 and max(means[1:]) < 9
    for k, seats in enumerate([(exact, exact), (random, random), (exact, random), (random, exact)]):
        alone = match.play(game, seats, np.arange(400), 1, 4 * 2 + k)
        np.testing.assert_array_equal(alone.reward, played[k].reward)
        assert means[k] == pytest.approx(alone.reward.mean())


@pytest.fixture(scope="module")
def spades():
    """Cutthroat, whose agents hold two sides each."""
    game, random = bidzoo.make_game("spades_v0", **SHORT), agents.make("random")
    played = pairings(game, random, random, np.arange(3, 9), seed=2, policy_seed=5)
    return game, played, records.of_pairings(game, SHORT, ("a", "b"), played, seed=2, policy_seed=5)


def test_the_summary_is_plain_sums(spades):
    game, played, found = spades
    points, won, rounds = {"a": 0.0, "b": 0.0}, {"a": 0.0, "b": 0.0}, 0
    for record in found:
        best = [side for side in range(4) if record["scores"][side] == max(record["scores"])]
        for name in "ab":
            seats = [seat for seat in range(4) if record["players"][seat] == name]
            points[name] += sum(record["scores"][seat] for seat in seats) / 2
            won[name] += 0.5 if len(best) > 1 else best[0] in seats
        rounds += record["rounds"]
    for row in summary(game, ("a", "b"), played).rows:
        assert row["points a round"].mean == pytest.approx(points[row["agent"]] / rounds)
        assert row["games won %"].mean == pytest.approx(100 * won[row["agent"]] / len(found))


def test_single_rounds_have_no_winners():
    game, random = bidzoo.make_game("spades_v0", phase="round"), agents.make("random")
    rows = summary(game, ("a", "b"), pairings(game, random, random, np.arange(3))).rows
    assert list(rows[0]) == ["agent", "points a round", "ahead a round"]


def test_chunks_change_no_action(spades, monkeypatch):
    game, played, _ = spades
    monkeypatch.setattr(match, "CHUNK", 2)
    random = agents.make("random")
    for one, other in zip(played, pairings(game, random, random, np.arange(3, 9), seed=2, policy_seed=5), strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.reward, other.reward)


@pytest.mark.parametrize("asked", [False, True])
def test_a_ledger_gives_back_what_was_played(tmp_path, monkeypatch, asked):
    """Without playing again; actions only if they are asked for, since what was played without them has none."""
    game, random, boards = bidzoo.make_game("comm_v0"), agents.make("random"), np.arange(5)
    played = match.play(game, [random] * 2, boards, actions=asked)
    for _ in range(2):
        with match.MatchLedger(tmp_path / "ledger.jsonl", [random]) as ledger:
            again = match.play(game, [random] * 2, boards, run=match.Run(ledger=ledger), actions=asked)
        for one, other in zip(played, again, strict=True):
            assert (one is None and other is None) or np.array_equal(one, other)
        monkeypatch.setattr(match, "_play", lambda *_: pytest.fail("it is played again"))


def test_no_boards_leave_a_ledger_as_it_is(tmp_path):
    game, random = bidzoo.make_game("comm_v0"), agents.make("random")
    for _ in range(2):
        with match.MatchLedger(tmp_path / "ledger", [random]) as ledger:
            assert match.play(game, [random] * 2, [], run=match.Run(ledger=ledger)).reward.shape == (0, 2)


def test_a_ledger_tells_every_match_from_others(tmp_path):
    """By what is played, who plays where, and both seeds: no match is given another's boards."""
    game, boards = bidzoo.make_game("comm_v0"), [np.arange(2)]
    one, other = Uniform(), First()
    with match.MatchLedger(tmp_path / "ledger", [one, other, one]) as ledger:
        named = [
            ledger.jobs_of(game, [one, one], 0, 0, boards),
            ledger.jobs_of(bidzoo.make_game("comm_v0", length=4), [one, one], 0, 0, boards),
            ledger.jobs_of(game, [one, other], 0, 0, boards),
            ledger.jobs_of(game, [other, one], 0, 0, boards),
            ledger.jobs_of(game, [one, one], 1, 0, boards),
            ledger.jobs_of(game, [one, one], 0, 1, boards),
            ledger.jobs_of(game, [one, one], 0, 0, [np.arange(3)]),
        ]
    assert len({*map(tuple, named)}) == len(named)
    game.start(0)  # works out what the game then keeps
    with match.MatchLedger(tmp_path / "ledger", [one]) as ledger:  # whoever else plays elsewhere
        assert ledger.jobs_of(game, [one, one], 0, 0, boards) == named[0]
        with pytest.raises(ValueError, match="random: not one of the policies that the ledger was opened with"):
            match.play(game, [one, other], np.arange(2), run=match.Run(ledger=ledger))


def test_what_lies_between_the_fields_of_a_state_goes_into_no_ledger(tmp_path):
    """Its bytes are those of the match alone."""
    game, random = bidzoo.make_game("spades_v0"), agents.make("random")
    boards = np.arange(2)
    played = match.play(game, [random] * 4, boards)
    noisy = np.full(played.states.nbytes, 255, np.uint8).view(played.states.dtype)
    for name in noisy.dtype.names:
        noisy[name] = played.states[name]
    assert noisy.tobytes() != played.states.tobytes()
    for path, states in ((tmp_path / "a", played.states), (tmp_path / "b", noisy)):
        with match.MatchLedger(path, [random]) as ledger:
            (name,) = ledger.jobs_of(game, [random] * 4, 0, 0, [boards])
            ledger.add(name, played.reward, states)
            (found,) = ledger.known(game, [name]).values()
            np.testing.assert_array_equal(found[1], played.states)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_ledger_tells_weights_from_others_of_the_same_name(tmp_path, monkeypatch):
    game, boards, named = bidzoo.make_game("bridge_bidding_v0"), [np.arange(2)], []
    (tmp_path / "data").mkdir()
    for content in (b"old", b"new", b"old"):
        (tmp_path / "data" / "sl.safetensors").write_bytes(content)
        monkeypatch.setattr(match, "WEIGHTS", tmp_path / "data")
        match._packaged.cache_clear()
        policy = agents.make("sl")
        with match.MatchLedger(tmp_path / "ledger", [policy]) as ledger:
            named += ledger.jobs_of(game, [policy] * 4, 0, 0, boards)
    match._packaged.cache_clear()
    assert named[0] == named[2] != named[1]


def changed_source(changed, source=digests._source):
    """``digests._source`` as if the code of the module ``changed`` were another."""
    return lambda name: (f"{name} new", source(name)[1]) if name == changed else source(name)


def test_a_ledger_tells_code_from_other_code(tmp_path, monkeypatch):
    """Also that of a policy within a policy, and of nobody who does not play."""
    game, boards = bidzoo.make_game("bridge_bidding_v0"), [np.arange(2)]
    inner = agents.make("sayc")
    outer = WithCards(inner)
    named = []
    for changed in ("", "bidzoo.agents.bridge.sayc", "bidzoo.agents.tabular.bad"):
        monkeypatch.setattr(digests, "_source", changed_source(changed))
        for policy in (inner, outer):
            with match.MatchLedger(tmp_path / "ledger", [policy]) as ledger:
                named += ledger.jobs_of(game, [policy] * 4, 0, 0, boards)
    assert named[0] == named[4] != named[2] and named[1] == named[5] != named[3]


CODE = {
    "helper": "BID = 3\n",
    "players": "from helper import BID\n\ndef bids(observation, mask):\n    return BID if mask[BID] else 0\n",
    "rules": "from kuhn_poker import KuhnPoker\n\nclass Mine(KuhnPoker):\n    id = 'mine_v0'\n",
}


def test_a_ledger_tells_code_that_is_not_installed_from_other_code(tmp_path, monkeypatch):
    """Of a function and what its module imports, and of the rules of a game in plain Python."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    named = []
    for changed in ("", "helper", "players", "rules", ""):
        for name, code in CODE.items():
            (tmp_path / f"{name}.py").write_text(code + "CHANGED = 1\n" * (name == changed))
            sys.modules.pop(name, None)
        digests._read.cache_clear()
        game, function = PythonGame(import_module("rules").Mine), import_module("players").bids
        with match.MatchLedger(tmp_path / "ledger", [policy := agents.resolve(function, game)]) as ledger:
            named += ledger.jobs_of(game, [policy] * 2, 0, 0, [np.arange(2)])
        for name in CODE:
            sys.modules.pop(name)
    digests._read.cache_clear()
    assert named[0] == named[-1] and len({*named}) == 4


@pytest.mark.parametrize("name", [name for name, entry in agents.AGENTS.items() if entry.plays("bridge_bidding_v0")])
def test_agents_of_bridge_are_told_apart_by_their_weights(name):
    """Packaged weights are not part of what is digested, whether they were read or not."""
    policy = agents.make(name)
    before = match.made_of(policy)
    if isinstance(policy, Weighted):
        assert policy.network.digest
    assert match.made_of(policy) == before == match.made_of(agents.make(name))


@pytest.mark.parametrize("wrap", [NetworkPolicy, Bmcs], ids=["network", "search"])
def test_weights_of_a_file_are_told_apart_by_their_content(tmp_path, wrap):
    path, digests = tmp_path / "w.safetensors", []
    for name in ("sl", "ppo", "sl"):
        path.write_bytes((match.WEIGHTS / "bridge" / f"{name}.safetensors").read_bytes())
        digests.append(match.made_of(wrap(NetworkPolicy(path) if wrap is Bmcs else path)))
    assert digests[0] == digests[2] != digests[1]


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("reward", match._packed(bytes(8)), "8 bytes or more, expected 20 of 2 boards"),
        ("reward", match._packed(bytes(24)), "21 bytes or more, expected 20 of 2 boards"),
        ("reward", match._packed(np.full(5, np.nan, np.float32).tobytes()), "holds numbers that are not finite"),
        ("reward", match._packed(bytes(20)), "the sum of other results, expected that of these"),
        ("reward", "AAAA", "Error -3 .*, expected base64 of zlib"),
        ("reward", "A", ".*, expected base64 of zlib"),
        ("tables", "", "0 bytes or more, expected .* of 2 boards"),
        ("actions", "", "0 bytes or more, expected 4 of 2 boards or a multiple"),
        ("actions", match._packed(bytes(10)), "10 bytes or more, expected 4 of 2 boards or a multiple"),
        ("actions", match._packed(np.full(4, 99, np.int16).tobytes()), "99 to 99, expected -1 to "),
    ],
)
def test_damaged_shares_of_a_ledger_are_named(tmp_path, field, text, fault):
    path, game, random = tmp_path / "ledger.jsonl", bidzoo.make_game("comm_v0"), agents.make("random")
    played = match.play(game, [random] * 2, np.arange(2), actions=True)
    with match.MatchLedger(path, [random]) as ledger:
        names = ledger.jobs_of(game, [random] * 2, 0, 0, [np.arange(2)])
        ledger.add(names[0], played.reward, played.states, played.actions)
    entry = json.loads(path.read_text())
    entry["outcome"][field] = text
    path.write_text(json.dumps(entry) + "\n")
    with (
        match.MatchLedger(path, [random]) as ledger,
        pytest.raises(ValueError, match=rf"ledger\.jsonl, line 1: {field}: {fault}"),
    ):
        ledger.known(game, names, actions=True)


# ---- records -----------------------------------------------------------------------------


def test_records_replay(spades):
    _, played, found = spades
    assert [record["board"] for record in found] == 2 * list(range(3, 9))
    assert [record["policy_seed"] for record in found] == 6 * [10] + 6 * [11]
    replayed = np.concatenate([records.replay(record) for record in found])
    expected = np.concatenate([episodes.states for episodes in played])
    for name in expected.dtype.names:
        np.testing.assert_array_equal(replayed[name], expected[name], err_msg=name)


def test_files_give_back_what_they_got(spades, tmp_path):
    path = tmp_path / "match.jsonl"
    records.write(path, spades[2])
    assert records.read(path) == spades[2]
    (table,) = replay.summaries(path)
    assert table.rows == summary(spades[0], ("a", "b"), spades[1]).rows


def test_boards_of_two_seeds_are_other_boards(spades, tmp_path):
    """Of one number: their error is that of twice as many."""
    game, _, found = spades
    other = match.pairings(game, "bis", "rb", np.arange(3, 9), 8, 5)
    records.write(tmp_path / "both.jsonl", [*found, *records.of_pairings(game, SHORT, ("a", "b"), other, 8, 5)])
    table = replay.summaries(tmp_path / "both.jsonl")[-1]
    assert "12 boards" in table.note


@pytest.mark.parametrize(
    ("env", "words"),
    [("simple_bidding_v0", ["--set", "size=8"]), ("comm_v0", []), ("minibridge_v0", ["--set", "size=2"])],
)
def test_the_command_and_its_replay(env, words, tmp_path):
    out = tmp_path / "m.jsonl"
    printed = run("match", "exact", "random", "--env", env, *words, "--boards", 9, "--seed", 3, "--out", out)
    shown, _, kept = printed.partition("result written to runs/match-exact-random-")
    assert f"36 records written to {out}" in kept
    assert shown.startswith(run("replay", out))


def test_what_is_left_of_a_file_is_counted(spades, tmp_path):
    path = tmp_path / "m.jsonl"
    records.write(path, [spades[2][0], {**spades[2][7], "agents": ["c", "d"], "players": ["d", "c", "d", "c"]}])
    assert [row["agent"] for table in replay.summaries(path) for row in table.rows] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"actions": ["9", "99"]}, "board 4, seating 0: not an action: '99'"),
        ({"actions": ["1", "1", "1", "1", "BJ"]}, "board 4, seating 0: not an action: 'BJ'"),
        ({"actions": ["1", "blind nil"]}, "board 4, seating 0: action 2: blind nil is not legal"),
        ({"actions": ["1"]}, "board 4, seating 0: expected a finished table"),
        ({"deal": [1, 2, 3, 4]}, r"board 4, seating 0: deal \[1, 2, 3, 4\], but the replay gives"),
        ({"seed": 3}, "board 4, seating 0: deal"),
        ({"seed": -1}, "seed: -1, expected an integer from 0"),
        ({"board": -1}, "board: -1, expected an integer from 0"),
        ({"rewards": [0.0] * 4}, "board 4, seating 0: rewards .*, but the replay gives"),
        ({"scores": [0] * 4}, r"board 4, seating 0: scores \[0, 0, 0, 0\], but the replay gives"),
        ({"rounds": 9}, "board 4, seating 0: rounds 9, but the replay gives"),
        ({"players": ["a"] * 4}, "board 4, seating 0: players .*, but the replay gives"),
        ({"seating": 2}, r"board 4, seating 2: expected seating 0 \.\.\. 1"),
        ({"options": "{"}, "game spades_v0 with options {"),
        ({"options": '{"goal": 1}'}, r"no option 'goal'; did you mean 'win_goal'\? choose from phase"),
        ({"env": "spades_v9"}, "unknown game 'spades_v9', expected bridge_bidding_v0, "),
        ({"env": "bridge_v0"}, "bridge_v0 has records of its own"),
        ({"rounds": "3"}, "m.jsonl:1: rounds: '3', expected an integer from 0"),
        ({"agents": ["a"]}, r"m.jsonl:1: agents: \['a'\], expected a list of length 2, each a text"),
        ({"imps": 3}, "m.jsonl:1: imps: unknown field, expected version, env"),
    ],
)
def test_a_changed_record_is_named(spades, tmp_path, changes, problem):
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({**spades[2][1], **changes}) + "\n")
    with pytest.raises(ValueError, match=rf"m\.jsonl:1: .*{problem}" if not problem.startswith("m.") else problem):
        run("replay", path)


# ---- mistakes, and bridge ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error", "problem"),
    [
        (
            ["bis", "rb", "--env", "spades_v0", "--out", "m.pbn"],
            ValueError,
            r"m\.pbn: ending '\.pbn', expected \.jsonl",
        ),
        (["sayc", "rb", "--env", "spades_v0"], ValueError, "agent 'sayc' does not play spades_v0; choose from random"),
        (["bis", "rb", "--env", "bridge_bidding"], ValueError, "agent 'bis' does not play bridge_bidding_v0"),
        (["cfr", "jps", "--env", "chess"], KeyError, "unknown game 'chess'; choose from bridge_bidding_v0"),
        (["cfr", "jps", "--env", "comm_v0", "--deals", "test"], ValueError, "--deals test: comm_v0 is dealt by --seed"),
        (["cfr", "jps", "--env", "comm_v0", "--set", "bits=3"], ValueError, "no option 'bits'; choose from length"),
        (
            ["cfr", "jps", "--env", "comm_v0", "--set", "length=99"],
            ValueError,
            "length 99: expected an integer from 1 to",
        ),
        (["sayc", "bis"], ValueError, "sayc plays bridge_bidding_v0, bis plays spades_v0: no game in common"),
        (["bids=sayc", "bids=pass"], ValueError, "bids=sayc and bids=pass are both called 'bids'; name one: other="),
        (["cfr", "jps"], ValueError, "cfr and jps play several games: choose one by --env, of comm_v0"),
        (["sayc", "pass", "--set", "reward=par"], ValueError, "no option 'reward'; choose from observation"),
    ],
)
def test_wrong_matches_are_named(words, error, problem):
    with pytest.raises(error, match=problem):
        run("match", *words)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("bis", "random"), "spades_v0"),
        (("random", "random"), "bridge_bidding_v0"),
        (("pass", "random"), "bridge_bidding_v0"),
        (("json:dumps", "rb"), "spades_v0"),
        (("json:dumps", "json:loads"), "bridge_bidding_v0"),
    ],
)
def test_the_game_is_the_one_both_play(names, said):
    """Code that names no games plays all."""
    assert _common(*names) == said


def test_agents_of_spades_need_no_env():
    assert run("match", "rb", "io", "--boards", 2) == run("match", "rb", "io", "--env", "spades_v0", "--boards", 2)


def test_options_of_a_game_are_listed():
    lines = run("match", "bis", "rb", "--env", "spades_v0", "--set", "help").split()
    assert {"win_goal=500", "lose_goal=None", "blind_nil=False", "variant=partnership"} <= set(lines)


def test_whole_boards_of_bridge(tmp_path):
    """Who bids only gets a card player."""
    out = tmp_path / "m.jsonl"
    printed = run("match", "random", "random", "--env", "bridge_v0", "--boards", 3, "--out", out)
    assert "IMPs on 3 boards of 3 deals" in printed and "6 replayed" in run("replay", out)
    assert any(record["cards"] for record in records.read(out))
    assert isinstance(_bridge_agent(bidzoo.make_game("bridge_v0"), "pass"), WithCards)


class Vote:
    """Each partnership is paid what it says."""

    id, num_players, actions, max_turns, reward_range = "vote_v0", 4, ("zero", "one"), 4, (-2, 2)
    features, partners = {"said": 4}, ((0, 1), (2, 3))

    def deal(self, rng):
        self.said, self.player = [], 0

    def legal(self):
        return [0, 1]

    def act(self, action):
        self.said.append(action)
        self.player = len(self.said) if len(self.said) < self.num_players else None

    def reward(self):
        ours, theirs = (sum(self.said[p] for p in side) for side in self.partners)
        return [ours - theirs if p in self.partners[0] else theirs - ours for p in range(4)]

    def view(self, player):
        return {"said": [n for n, action in enumerate(self.said) if action]}


@pytest.mark.parametrize(("partners", "expected"), [(((0, 1), (2, 3)), (0, 0, 1, 1)), (((0, 3), (1, 2)), (0, 1, 1, 0))])
def test_partnerships_are_exchanged_wherever_they_sit(partners, expected):
    game = PythonGame(type("Exchanged", (Vote,), {"partners": partners}))
    assert match.seatings(game) == (expected, tuple(1 - agent for agent in expected))
    played = match.pairings(game, lambda observation, mask: 1, lambda observation, mask: 0, np.arange(5))
    assert [row["mean reward"].mean for row in match.summary(game, ("ones", "zeros"), played).rows] == [2.0, -2.0]


def test_two_against_one_count_at_all_seatings():
    class Landlord:
        """Whoever says one is paid by the other side; two share what they get."""

        id, num_players, actions, max_turns, reward_range = "landlord_v0", 3, ("zero", "one"), 3, (-4, 4)
        features, partners = {"said": 3}, ((0, 1), (2,))
        deal, legal, act, view = (getattr(Vote, name) for name in ("deal", "legal", "act", "view"))

        def reward(self):
            two, one = max(self.said[:2]), self.said[2]
            return [two - one, two - one, 2 * (one - two)]

    game = PythonGame(Landlord)
    played = match.pairings(game, lambda observation, mask: 1, lambda observation, mask: 0, np.arange(5))
    rows = match.summary(game, ("ones", "zeros"), played).rows
    assert [row["mean reward"].mean for row in rows] == [1.5, -1.5]


@pytest.mark.parametrize(
    ("contract", "result", "words"),
    [
        ("4S", 10, "4♠ by South, 10 tricks (made)"),
        ("1C", 9, "1♣ by South, 9 tricks (made +2)"),
        ("7NX", 11, "7NTX by South, 11 tricks (down 2)"),
    ],
)
def test_a_result_is_counted_from_the_contract(contract, result, words):
    board = Board(contract=contract, declarer=2, result=result)
    assert words in replay._ending(board, solve=False)
