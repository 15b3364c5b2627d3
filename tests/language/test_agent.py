"""The agent that asks a language model, its ledger, and its names on a command line."""

import copy
import json
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import bidzoo
import bidzoo.wrappers.gymnasium
from bidzoo import agents, language
from bidzoo.benchmarks.match import duplicate, play
from bidzoo.core.kernels import without_padding
from bidzoo.core.storage import Ledger
from bidzoo.core.streams import Streams
from bidzoo.language import Decision, LanguageAgent, Question, Reply, Seat, Seated

BRIDGE = bidzoo.make_game("bridge_bidding_v0")
MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)
MINI_4 = bidzoo.make_game("minibridge_v0")


def test_rules_say_what_a_match_counts(tmp_path, capsys):
    """IMPs, and nothing of a reward that nobody gets; on the command line, too."""
    from bidzoo.cli.main import app

    game = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False)
    text = language.rules(game, language.IMPS)
    assert "What counts: the IMPs that you win on the board." in text and "reward = " not in text
    assert "no reward is less" not in text and "reward = score" in language.rules(game)
    path = tmp_path / "ledger"
    for scoring, problem in ((language.IMPS, None), ("", "no answer of model")):
        path.unlink(missing_ok=True)
        with Ledger(path, Question, Decision) as ledger:
            agent = LanguageAgent(game, Model(last_legal), "model", ledger=ledger, scoring=scoring)
            duplicate(game, agent, "pass", np.arange(1))
        command = ["match", f"ledger:{path}", "pass", "--boards", "1"]
        if problem is None:
            app(command, standalone_mode=False)
            assert "model against pass: " in capsys.readouterr().out
        else:
            with pytest.raises(ValueError, match=problem):
                app(command, standalone_mode=False)


def same_bytes(one, other):
    return without_padding(one).tobytes() == without_padding(other).tobytes()


class Model:
    """Answers by a rule, and remembers what it was asked."""

    def __init__(self, answer=lambda asked: "1H"):
        self.answer, self.asked = answer, []

    def __call__(self, messages, **more):
        self.asked.append((messages, more))
        return Reply(self.answer(messages), 100, 7)


def listed(messages, place):
    """The legal action at a ``place`` of those that the question lists."""
    question = next(message["content"] for message in messages[::-1] if "legal actions" in message["content"])
    return json.dumps({"action": question.partition("legal actions: ")[2].partition("\n")[0].split(", ")[place]})


first_legal, last_legal = partial(listed, place=0), partial(listed, place=-1)


def test_a_match_is_replayed_by_its_ledger_without_the_model(tmp_path):
    game, boards = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False), np.arange(6)
    model = Model(lambda messages: last_legal(messages) if len(messages) > 2 else "7NT, I think, or 7S or 7H")
    with Ledger(tmp_path / "ledger.jsonl", Question, Decision) as ledger:
        agent = LanguageAgent(game, model, "model", ledger=ledger)
        first = duplicate(game, agent, "sayc", boards)
    content = (tmp_path / "ledger.jsonl").read_bytes()
    assert agent.usage.illegal > 0 and agent.usage.fallbacks == 0 and agent.usage.tokens("reply_tokens") == 7
    with Ledger(tmp_path / "ledger.jsonl", Question, Decision) as ledger:
        replayed = LanguageAgent(game, None, "model", ledger=ledger)
        second = duplicate(game, replayed, "sayc", boards)
        with pytest.raises(ValueError, match=r"ledger\.jsonl: no answer of model to: seat: "):
            duplicate(game, replayed, "sayc", np.arange(6, 8))
    assert str(replayed.usage) == str(agent.usage)
    assert all(map(same_bytes, first[3:], second[3:]))
    assert (tmp_path / "ledger.jsonl").read_bytes() == content


def test_a_stopped_match_goes_on_from_its_ledger(tmp_path):
    game, boards, model = bidzoo.make_game("minibridge_v0", size=3), np.arange(30), Model(last_legal)

    def fails_later(messages):
        if len(model.asked) > 5:
            raise ConnectionError("gone")
        return last_legal(messages)

    model.answer = fails_later
    with Ledger(tmp_path / "ledger", Question, Decision) as ledger, pytest.raises(ConnectionError):
        play(game, [LanguageAgent(game, model, ledger=ledger, at_once=1)] * 2, boards)
    assert len((tmp_path / "ledger").read_bytes().splitlines()) == 5
    model.answer, model.asked = last_legal, []
    with Ledger(tmp_path / "ledger", Question, Decision) as ledger:
        episodes = play(game, [LanguageAgent(game, model, ledger=ledger)] * 2, boards)
    whole = Model(last_legal)
    assert episodes.reward.tobytes() == play(game, [LanguageAgent(game, whole)] * 2, boards).reward.tobytes()
    assert len(model.asked) == len(whole.asked) - 5


def test_retries_say_what_was_wrong():
    model = Model(lambda messages: {2: "no idea", 4: "7NT"}.get(len(messages), "1S"))
    agent = LanguageAgent(MINIBRIDGE, model)
    play(MINIBRIDGE, [agent, "random"], [0])
    messages, _ = model.asked[2]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert messages[3]["content"] == "The reply names no action. Your action?"
    assert messages[5]["content"].startswith("The reply names no action")
    assert messages[0]["content"].startswith(language.rules(MINIBRIDGE))


@pytest.mark.parametrize(("fallback", "same"), [("", "pass"), ("cfr", "cfr"), ("random", "random")])
def test_the_fallback_acts_where_no_reply_is_legal(fallback, same):
    agent = LanguageAgent(BRIDGE if same == "pass" else MINIBRIDGE, Model(lambda _: "?"), seat=Seat(fallback=fallback))
    boards = np.arange(20)
    ours = play(agent.game, [agent] * agent.game.num_players, boards)
    assert ours.reward.tobytes() == play(agent.game, [same] * agent.game.num_players, boards).reward.tobytes()
    assert agent.usage.fallbacks == agent.usage.decisions > 0 and " replies not legal (100.0%), " in str(agent.usage)
    assert agent.usage.replies == 3 * len({question for question, _ in agent.ledger.done.items()})


@pytest.mark.parametrize("seat", [Seat(), Seat(sampled=True), Seat(memory=True), Seat(form="json", listed=False)])
def test_answers_do_not_depend_on_the_batch(seat):
    def answer(messages, seed=0):
        return ["1H", "1S", "2H", "2S", "P"][(sum(map(ord, messages[-1]["content"])) + seed) % 5]

    boards = np.arange(40)
    whole = play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, answer, seat=seat)] * 2, boards).reward
    agent = LanguageAgent(MINIBRIDGE, answer, seat=seat, at_once=1)
    parts = [play(MINIBRIDGE, [agent] * 2, boards[k : k + 7]).reward for k in range(0, 40, 7)]
    assert whole.tobytes() == np.concatenate(parts).tobytes()


def test_sampled_replies_have_seeds_of_their_own():
    model = Model(lambda _: "2S")
    play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, model, seat=Seat(sampled=True)), "random"], np.arange(50))
    seeds = {more["seed"] for _, more in model.asked}
    assert len(seeds) == len(model.asked) >= 50
    once = Model(lambda _: "2S")
    play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, once), "random"], np.arange(50))
    assert len(once.asked) == 3  # hands that open


def test_a_memory_of_the_own_auction():
    model = Model(lambda messages: messages[-1]["content"].partition("legal actions: P, ")[2][:2])
    game = bidzoo.make_game("minibridge_v0", size=4)
    agent = LanguageAgent(game, model, seat=Seat(memory=True))
    for _ in range(2):  # the second time nothing of the first is remembered, so nothing new is asked
        play(game, [agent, agent], [0])
    assert [len(messages) for messages, _ in model.asked][:6] == [2, 2, 4, 4, 6, 6]
    assert len({str(messages) for messages, _ in model.asked}) == len(model.asked)
    assert [message["content"] for message in model.asked[4][0][2::2]] == ["1H", "2H"]


def test_a_memory_is_of_a_whole_game_of_spades():
    model = Model(lambda messages: messages[-1]["content"].partition("legal actions: ")[2].split(",")[0].split(".")[0])
    game = bidzoo.make_game("spades_v0", phase="game", max_rounds=2)
    agent = LanguageAgent(game, model, seat=Seat(memory=True))
    play(game, [agent, "rb", "rb", "rb"], [0])
    assert [len(messages) for messages, _ in model.asked] == [2 + 2 * k for k in range(28)]


def test_a_memory_of_one_call_is_not_of_another_episode():
    model = Model(lambda _: "P")
    agent = LanguageAgent(MINIBRIDGE, model, seat=Seat(memory=True))
    states, out = MINIBRIDGE.start(0)
    for _ in range(2):  # the same call of two episodes, the only one of each
        agent.act(
            MINIBRIDGE.view_of(states, out.player.astype(np.int64)), out.mask, Streams.at(0, np.zeros(1, np.int64))
        )
    assert [len(messages) for messages, _ in model.asked] == [2]


def asked_in_turns(game, agent, envs, turns=6):
    """Each of the environments asks the agent for its decisions, by turns."""
    for _ in range(turns):
        for env in envs:
            if not any(env.terminations.values()):
                env.step(env.ask(agent))


@pytest.mark.parametrize("env_id", ["bridge_bidding_v0", "bridge_v0", "spades_v0"])
def test_tables_of_one_board_number_have_memories_of_their_own(env_id):
    """Other deals, as other seeds have them; whether they are played by turns or one after the other."""
    models = []
    for seeds in ((1,), (2,), (1, 2), (1, 2)):
        model = Model(last_legal)
        envs = [bidzoo.make(env_id) for _ in seeds]
        agent = LanguageAgent(envs[0].game, model, seat=Seat(memory=True))
        for env, seed in zip(envs, seeds):
            env.reset(seed=seed)
        if len(models) == 3:
            for env in envs:
                asked_in_turns(env.game, agent, [env])
        else:
            asked_in_turns(envs[0].game, agent, envs)
        models.append(model)
    one, two, *both = [[messages for messages, _ in model.asked] for model in models]
    assert max(map(len, one)) > 2, "nothing is remembered"
    for asked in both:
        assert sorted(map(str, asked)) == sorted(map(str, [*one, *two]))


def test_a_memory_is_of_one_episode():
    """Of another deal at the same board number, which is asked about later in its auction."""
    env, model = bidzoo.make("bridge_bidding_v0"), Model(last_legal)
    agent = LanguageAgent(env.game, model, seat=Seat(memory=True))
    env.reset(seed=1, options={"board": 0, "dealer": "N"})
    env.ask(agent)
    env.reset(seed=5, options={"board": 0, "dealer": "W"})
    env.step(0)
    env.ask(agent)
    assert [len(messages) for messages, _ in model.asked] == [2, 2]


def test_a_question_of_several_threads_is_asked_once():
    model, begun = Model(last_legal), threading.Barrier(4)

    def slowly(messages):
        time.sleep(0.2)
        return last_legal(messages)

    model.answer = slowly
    agent = LanguageAgent(MINIBRIDGE, model)

    def one(_):
        begun.wait()
        return play(MINIBRIDGE, [agent, "random"], [0]).reward.tolist()

    with ThreadPoolExecutor(4) as pool:
        assert len({str(reward) for reward in pool.map(one, range(4))}) == 1
    assert len(model.asked) == len({str(messages) for messages, _ in model.asked})


def test_a_model_is_told_the_rules_that_it_plays():
    whiz, partners = (bidzoo.make_game("spades_v0", phase="round", **more) for more in ({"variant": "whiz"}, {}))
    agent = LanguageAgent(partners, Model(last_legal))
    with pytest.raises(ValueError, match=r"made for spades_v0 with variant=partnership, and is seated in one with var"):
        play(whiz, [agent, "rb", "rb", "rb"], [0])
    other = bidzoo.make_game("bridge_bidding_v0", reward="par", deals="validation")
    play(other, [LanguageAgent(BRIDGE, Model(last_legal)), *["pass"] * 3], [0])  # the rewards are the match's


def test_a_copy_of_a_table_has_the_same_player():
    env = bidzoo.wrappers.gymnasium.single_agent("minibridge_v0", opponents=LanguageAgent(MINI_4, Model(last_legal)))
    env.reset(seed=3)
    other = copy.deepcopy(env)
    assert other._policies[1] is env._policies[1]
    assert env.step(0)[1:4] == other.step(0)[1:4]


@pytest.mark.parametrize(
    ("game", "complete", "at_once", "reason"),
    [
        ("bridge", None, 8, "game 'bridge': expected a game"),
        (MINIBRIDGE, "model", 8, "complete 'model': expected a function"),
        (MINIBRIDGE, None, 0, "at_once 0: expected an integer from 1"),
    ],
)
def test_what_makes_no_agent_is_named(game, complete, at_once, reason):
    with pytest.raises((TypeError, ValueError), match=reason):
        LanguageAgent(game, complete, at_once=at_once)


def test_a_question_that_is_not_sampled_has_seed_0():
    for sampled in (False, True):
        agent = LanguageAgent(MINIBRIDGE, Model(lambda _: "2S"), seat=Seat(sampled=sampled))
        play(MINIBRIDGE, [agent, "random"], np.arange(9))
        assert ({question.seed for question in agent.ledger.done} == {0}) == (not sampled)


def test_constrained_replies_are_given_the_choices():
    model = Model(last_legal)
    play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, model, seat=Seat(constrained=True)), "random"], [0])
    assert model.asked[0][1] == {"choices": ["P", "1H", "1S", "2H", "2S"]}


def test_several_tables_are_asked_at_once():
    from threading import Barrier

    meeting = Barrier(3, timeout=60)

    def answer(messages):
        meeting.wait()  # goes on only if three are here
        return "2S"

    game = bidzoo.make_game("minibridge_v0", size=2)
    states = [game.start(0, fixed={"types": (hearts, 0)})[0] for hearts in range(3)]
    views = game.view_of(np.concatenate(states), np.zeros(3, np.int64))
    legal = np.ones((3, game.num_actions), np.int8)
    agent = LanguageAgent(game, answer, at_once=3)
    assert agent.act(views, legal, Streams.at(0, np.zeros(3, np.int64))).tolist() == [4, 4, 4]


def test_a_ledger_with_an_illegal_action_is_refused(tmp_path):
    path = tmp_path / "ledger"
    with Ledger(path, Question, Decision) as ledger:
        play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, Model(lambda _: "2S"), ledger=ledger), "random"], [0])
    path.write_text(path.read_text().replace('"action": "2S"', '"action": "9S"'))
    with Ledger(path, Question, Decision) as ledger, pytest.raises(ValueError, match=r"line 1: action '9S', expected"):
        play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, None, ledger=ledger), "random"], [0])


QUESTION = Question("m", "{}", "g", ("rules", "asked"), 0)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"messages": ()}, "messages: 0, expected rules"),
        ({"messages": ("rules",)}, "messages: 1, expected rules"),
        ({"messages": ("rules", "asked", "answered")}, "messages: 3, expected rules"),
        ({"replies": ("x",)}, "1 replies, 2 problems, 2 asked_tokens, 2 reply_tokens: expected as many"),
        ({"problems": ()}, "2 replies, 0 problems"),
        ({"asked_tokens": (1, 2, 3)}, "3 asked_tokens"),
        ({"reply_tokens": ()}, "0 reply_tokens"),
        (dict.fromkeys(Decision._fields[:4], ()), "expected as many of each, at least one"),
        ({"action": ""}, "action '' after '', expected one of the two"),
        ({"problems": ("illegal", "illegal")}, "action '1' after 'illegal', expected one of the two"),
    ],
)
def test_a_ledger_that_no_agent_wrote_is_refused(tmp_path, fields, reason):
    decision = {"replies": ("x", "1"), "problems": ("illegal", ""), "asked_tokens": (3, None), "reply_tokens": (1, 1)}
    entry = {"job": QUESTION._asdict(), "outcome": {**decision, "action": "1"}}
    part = "job" if "messages" in fields else "outcome"
    entry[part] = entry[part] | fields
    (tmp_path / "ledger").write_text(json.dumps(entry) + "\n")
    with pytest.raises(ValueError, match=rf"ledger, line 1: .*{reason}"):
        Ledger(tmp_path / "ledger", Question, Decision)
    with pytest.raises(ValueError, match=reason):
        (Question if part == "job" else Decision)(**entry[part])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Reply("2S \ud83d", 1, 2), ("2S \ufffd", 1, 2)),
        (Reply("2S \udc00\ud83d", 10**20, -1), ("2S \ufffd\ufffd", None, None)),
        (Reply("2S", 10**20 - 1, True), ("2S", 10**20 - 1, None)),
        (Reply("2S", "many", 1.5), ("2S", None, None)),
        ("2S \x00\u2028\n", ("2S \x00\u2028\n", None, None)),
        ("\ud83d\ude00 2S", ("\U0001f600 2S", None, None)),
    ],
)
def test_every_reply_is_kept_so_that_the_ledger_can_be_read(tmp_path, given, kept):
    with Ledger(tmp_path / "ledger", Question, Decision) as ledger:
        play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, lambda _: given, "m", ledger=ledger), "random"], [0])
        written = dict(ledger.done)
    with Ledger(tmp_path / "ledger", Question, Decision) as ledger:
        assert ledger.done == written
        (decision,) = ledger.done.values()
    assert (decision.replies[0], decision.asked_tokens[0], decision.reply_tokens[0]) == kept


@pytest.mark.parametrize(
    ("given", "error", "reason"),
    [
        (None, TypeError, "complete.. gave NoneType, expected a text"),
        (Reply(b"2S"), TypeError, "complete.. gave bytes"),
        ("x" * (2**20 + 1), ValueError, "a reply of 1,048,577 characters, expected at most 1,048,576"),
    ],
)
def test_what_is_no_reply_is_refused(given, error, reason):
    agent = LanguageAgent(MINIBRIDGE, lambda _: Reply(*given) if isinstance(given, tuple) else given, "m")
    with pytest.raises(error, match=f"m: {reason}"):
        play(MINIBRIDGE, [agent, "random"], [0])


def test_options_that_change_nothing_are_refused(tmp_path):
    """Of a command line whose agents are no language models, or whose models are not asked."""
    from bidzoo.cli.main import app

    with Ledger(tmp_path / "played", Question, Decision) as ledger:
        play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, Model(last_legal), ledger=ledger)] * 2, [0])
    kept = f"ledger:{tmp_path / 'played'}"
    small = ("--env", "minibridge_v0", "--set", "size=2", "--boards", "1")
    for command, problem in (
        (
            ["random", "pass", "--seat", "form=json"],
            "--seat form=json: changes nothing here, expected an agent openai:M",
        ),
        (["random", "pass", "--base-url", "http://x/v1"], "--base-url http://x/v1: changes nothing here"),
        (["random", "pass", "--timeout", "3"], "--timeout 3.0: changes nothing here, expected an agent openai:MODEL$"),
        ([kept, "random", "--timeout", "3"], "--timeout 3.0: changes nothing here"),
        ([kept, "random", "--seat", "form=json"], "--seat form=json: ledger:.* was asked in the usual way"),
        ([kept, "random", "--ledger", str(tmp_path / "new")], "--ledger .*new: no model is asked"),
        ([kept, "random", "--workers", "2"], "--workers 2: a language model plays in one process"),
    ):
        with pytest.raises(ValueError, match=problem):
            app(["match", *command, *small], standalone_mode=False)
    assert [path.name for path in tmp_path.iterdir()] == ["played"]


def test_the_names_of_a_command_mean_nothing_after_it(tmp_path):
    with Ledger(tmp_path / "played", Question, Decision) as ledger:
        play(MINIBRIDGE, [LanguageAgent(MINIBRIDGE, Model(last_legal), ledger=ledger), "random"], [0])
    name = f"ledger:{tmp_path / 'played'}"
    with Seated([name]):
        assert name in agents.NAMES.registered
    assert name not in agents.NAMES.registered
    (tmp_path / "empty").write_text("")
    with pytest.raises(ValueError, match="empty: no answers"):
        Seated([name, f"ledger:{tmp_path / 'empty'}"])
    assert name not in agents.NAMES.registered


def test_a_ledger_of_several_models_is_asked_for_one(tmp_path):
    """Both at one table, each by its own answers; and a model that was asked in several ways by those of ``--seat``."""
    path, plain = tmp_path / "both", language.Seat(rules=False)
    models = [(Model(first_legal), "a", language.AS_USUAL), (Model(last_legal), "b", language.AS_USUAL)]
    models += [(Model(first_legal), "b", plain)]
    played = []
    with Ledger(path, Question, Decision) as ledger:
        for complete, name, seat in models:
            agent = LanguageAgent(MINIBRIDGE, complete, name, seat, ledger)
            played.append(play(MINIBRIDGE, [agent, agent], np.arange(4)).reward)
    for name, seat, reward in (("#a", language.AS_USUAL, 0), ("#b", language.AS_USUAL, 1), ("#b", plain, 2)):
        with Seated([f"ledger:{path}{name}"], seat=seat, show=str) as models:
            models.game = MINIBRIDGE
            found = play(MINIBRIDGE, [f"ledger:{path}{name}"] * 2, np.arange(4)).reward
            np.testing.assert_array_equal(found, played[reward])
    with Seated([f"ledger:{path}#a", f"ledger:{path}#b"], show=str) as models:  # one file, opened once
        models.game = MINIBRIDGE
        play(MINIBRIDGE, [f"ledger:{path}#a"] * 2, np.arange(4))
    for name, fault in (("", "answers of a, b; name one of them, such as ledger:.*both#a"), ("#c", "answers of a, b")):
        with pytest.raises(ValueError, match=fault):
            Seated([f"ledger:{path}{name}"])
    with pytest.raises(
        ValueError, match=r"--seat memory=True: ledger:.*#a was asked in the usual way; leave --seat out"
    ):
        Seated([f"ledger:{path}#a"], seat=language.Seat(memory=True))
    with pytest.raises(ValueError, match=r"b was asked in 2 ways, expected --seat .*: the usual one; rules=False"):
        Seated([f"ledger:{path}#b"], seat=language.Seat(memory=True))


def test_a_language_agent_stays_in_its_process():
    with pytest.raises(ValueError, match="model: a language model plays in one process"):
        pickle.dumps(LanguageAgent(MINIBRIDGE, Model(), "model"))


def test_ledger_names_an_agent_on_the_command_line(tmp_path, capsys):
    from bidzoo.cli.main import app

    game = bidzoo.make_game("minibridge_v0", size=2)
    with Ledger(tmp_path / "played", Question, Decision) as ledger:
        agent = LanguageAgent(game, Model(last_legal), "model", ledger=ledger)
        for seats in ([agent, agent], [agent, "random"], ["random", agent]):
            play(game, seats, np.arange(40))
    command = ["match", f"mine=ledger:{tmp_path / 'played'}", "random", "--env", "minibridge", "--set", "size=2"]
    app([*command, "--boards", "10"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "\nmine " in out and "model: " in out and "replies to" in out
    assert "0 decisions by the fallback, 100 + 7 tokens a reply" in out
    with pytest.raises(FileNotFoundError, match="nothing: no such ledger"):
        app(["match", "ledger:nothing", "random"], standalone_mode=False)


def test_nothing_else_loads_language_models():
    names = "bidzoo, bidzoo.wrappers.gymnasium, bidzoo.benchmarks.leaderboard, bidzoo.cli.main"
    code = f"import sys, {names}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = ["language", "wrappers.text", "wrappers.verifiers", "wrappers.openenv", "benchmarks.exploit"]
    assert "bidzoo.cli.main" in loaded
    assert not {f"bidzoo.{name}" for name in ours} & {*loaded}
    assert not {"openai", "verifiers", "openenv", "transformers", "torch"} & {*loaded}
