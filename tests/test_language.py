"""Rules, situations and replies of language models, and the agent that asks one; servers are in ``integrations``."""

import asyncio
import json
import pickle
import sys
import types
from functools import partial
from time import process_time

import numpy as np
import pytest

import bidzoo
from bidzoo import agents, language, registry
from bidzoo.benchmarks.match import duplicate, play
from bidzoo.core.kernels import without_padding
from bidzoo.core.storage import Ledger
from bidzoo.core.streams import Streams
from bidzoo.envs.python_game import PythonGame
from bidzoo.language import Decision, LanguageAgent, Question, Reply, Seat, Seated, read_action
from bidzoo.wrappers.batch import Batch, Seating
from bidzoo.wrappers.text import TextTable

GAMES = [
    ("bridge_bidding_v0", {}),
    ("bridge_v0", {}),
    ("spades_v0", {"blind_nil": True, "deck": "jokers", "max_rounds": 5}),
    ("minibridge_v0", {"size": 2}),
    ("comm_v0", {}),
    ("mini_hanabi_v0", {}),
    ("simple_bidding_v0", {}),
]
MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)


def situations(game, seed=0, tables=4):
    """States before every decision of some boards with random players."""
    batch = Batch(game, tables, autoreset=False)
    batch.reset(seed)
    seating = Seating([bidzoo.agents.make("random")] * game.num_players, seed)
    while (actions := seating.choose(batch)).max() >= 0:
        yield batch.states[actions >= 0].copy(), batch.player[actions >= 0].astype(np.int64)
        batch.step(actions)


# ---- what a model reads --------------------------------------------------------------------


@pytest.mark.parametrize(("env_id", "options"), GAMES)
def test_rules_of_every_game(env_id, options):
    game = bidzoo.make_game(env_id, **options)
    text = language.rules(game)
    assert text.startswith("# ") and "Rewards: " in text and all(mark not in text for mark in ("| | |", "](", "##"))
    assert all(game.action_text(action) in text for action in range(game.num_actions))
    assert all(f"{name} = {value}" in text for name, value in options.items())


def test_rules_say_what_one_must_know_to_play():
    """To a reader who knows the game from them alone."""
    bridge = language.rules(bidzoo.make_game("bridge_bidding_v0", reward="duplicate"))
    for words in ("Each bid must be higher", "vulnerable", "multiplies what is at stake", "IMPs", "more than 24"):
        assert words in bridge
    spades = language.rules(bidzoo.make_game("spades_v0", variant="whiz", deck="jokers"))
    for words in ("always trumps", "10 points for each trick bid", "*bag*", "100 points if it succeeds", "That or nil"):
        assert words.lower() in spades.lower()
    assert "both spades above ♠A, the big one highest" in spades and "bag_penalty: 110" in spades
    alone = language.rules(bidzoo.make_game("bridge_bidding_v0", reward="cost", competition=False, most_calls=3))
    for words in ("competition = False", "E/W always pass", "most_calls = 3", "after this many calls", "best contract"):
        assert words in alone
    assert "below their best contract" in language.rules(bidzoo.make_game("bridge_v0", reward="par", deals="train"))


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


def test_rules_of_a_game_from_outside():
    class Loud(type(MINIBRIDGE)):
        """Partners who shout."""

        id = "loud_v0"

    registry.register_game(Loud)
    game = bidzoo.make_game("loud_v0", size=2)
    assert language.rules(game).startswith("Partners who shout.")
    states, players = next(situations(game))
    assert "your hearts: " in language.situation_text(game, game.view_of(states, players)[0])


@pytest.mark.parametrize(("env_id", "options"), GAMES)
def test_a_situation_tells_nothing_hidden(env_id, options):
    """States that a seat cannot tell apart, its hidden cards or types drawn anew, read the same."""
    game = bidzoo.make_game(env_id, **options)
    different = 0
    for states, players in situations(game):
        views = game.view_of(states, players)
        others = game.new(len(states))
        game.determinize(views, Streams.at(1, states["board"].astype(np.int64), game.clock(states)).keys, others)
        hidden = "types" if "types" in game.state.names else "hands"
        different += int((others[hidden] != states[hidden]).any())
        for one, other in zip(views, game.view_of(others, players)):
            assert language.situation(game, one) == language.situation(game, other)
            json.dumps(language.situation(game, one))
            assert language.situation_text(game, one)
    assert different


def test_the_situation_of_a_bridge_seat():
    env = bidzoo.make("bridge_v0")
    deal = "N:AKQJ.AKQ.AKQ.AKQ T987.JT9.JT9.JT9 6543.876.876.876 2.5432.5432.5432"
    env.reset(seed=1, options={"deal": deal, "dealer": "N", "vulnerability": "ns"})
    assert language.situation(env.game, env.view("player_0")[0]) == {
        "seat": "North",
        "partner": "South",
        "hand": "♠AKQJ ♥AKQ ♦AKQ ♣AKQ",
        "dealer": "North",
        "vulnerable": "N/S",
        "auction": [],
    }
    for call in ("7NT", "P", "P", "P"):
        env.step(env.game.action_number(call))
    env.step(env.game.action_number("ST"))
    told = language.situation(env.game, env.view("player_0")[0])
    assert told["auction"] == [["North", "7NT"], ["East", "P"], ["South", "P"], ["West", "P"]]
    assert told["contract"] == "7NT by North" and told["dummy"] == "South ♠6543 ♥876 ♦876 ♣876"
    assert told["trick"] == [["East", "ST"]] and told["card comes from"] == "South"
    assert "trick: East ST\n" in language.situation_text(env.game, env.view("player_0")[0])


def test_the_situation_of_a_spades_seat_says_who_bid_blind():
    """The same bid, before looking and after it, at every seat."""
    env = bidzoo.make("spades_v0", blind_nil=True)
    for blind in ({0}, {1, 2}, {3}, set()):
        env.reset(seed=1)
        expected = {}
        while len(expected) < 4:
            seat = env.possible_agents.index(env.agent_selection)
            words = ["blind nil"] if seat in blind else ["look", "nil"]
            for word in words:
                env.step(env.game.action_number(word))
            expected[language.SEAT_NAMES[seat]] = words[-1]
        assert dict(language.situation(env.game, env.view("player_0")[0])["bids"]) == expected


# ---- what a model answers ------------------------------------------------------------------

BRIDGE = bidzoo.make_game("bridge_bidding_v0")
CARDS = bidzoo.make_game("bridge_v0")
SPADES = bidzoo.make_game("spades_v0", blind_nil=True)
COMM = bidzoo.make_game("comm_v0")
CALLS, PLAYS, BIDS = "P X 1H 3H 3S 3NT 4C", "SK ST HA H2", "nil 4 10"


def legal_of(game, names):
    mask = np.zeros(game.num_actions, np.int8)
    mask[[game.action_number(name.replace("_", " ")) for name in names.split()]] = 1
    return mask


@pytest.mark.parametrize(
    ("game", "legal", "reply", "action"),
    [
        (BRIDGE, CALLS, "3NT", "3NT"),
        (BRIDGE, CALLS, "3nt", "3NT"),
        (BRIDGE, CALLS, "3 no trump", "3NT"),
        (BRIDGE, CALLS, "I bid 3 No-Trump.", "3NT"),
        (BRIDGE, CALLS, "three hearts", "3H"),
        (BRIDGE, CALLS, "**3♠**", "3S"),
        (BRIDGE, CALLS, "3♥️", "3H"),
        (BRIDGE, CALLS, "After 1H I pass", "P"),
        (BRIDGE, CALLS, "p", "P"),
        (BRIDGE, CALLS, "Double!", "X"),
        (BRIDGE, CALLS, "So far: 1H P 2C. A good hand: 4C", "4C"),
        (BRIDGE, CALLS, "action: 4C, because a pass is weak", "4C"),
        (BRIDGE, CALLS, '```json\n{"bid": "3 no trump"}\n``` since 1H is low', "3NT"),
        (BRIDGE, CALLS, "<think>3H or 3S?</think>3S", "3S"),
        (BRIDGE, CALLS, "Bid: 3NT? Too high.</think>\n\n3H", "3H"),
        (BRIDGE, CALLS, 'Perhaps {"action": "3S"}? No.</think>{"action": "3H"}', "3H"),
        (BRIDGE, CALLS, "3H <think>or 3S?</think>", "3H"),
        (BRIDGE, CALLS, "I bid 3 hearts since I have 4 clubs", "3H"),
        (BRIDGE, CALLS, "3H. Partner will pass, and I have 4 clubs.", "3H"),
        (BRIDGE, CALLS, "3H, since a pass is weak", "3H"),
        (BRIDGE, CALLS, "Should I pass? I’d rather bid 3H than pass.", "3H"),
        (BRIDGE, CALLS, "Double for takeout", "X"),
        (BRIDGE, CALLS, "I think I have to pass with 3 clubs", "P"),
        (BRIDGE, CALLS, "I'll go with **3NT**", "3NT"),
        (BRIDGE, CALLS, "answer: I bid 3H, showing hearts", "3H"),
        (CARDS, PLAYS, "SK", "SK"),
        (CARDS, PLAYS, "♠K", "SK"),
        (CARDS, PLAYS, "K♠", "SK"),
        (CARDS, PLAYS, "the king of spades", "SK"),
        (CARDS, PLAYS, "10♠", "ST"),
        (CARDS, PLAYS, "2h", "H2"),
        (SPADES, BIDS, "I bid 4 tricks", "4"),
        (SPADES, BIDS, "4 spades", "4"),
        (SPADES, BIDS, "Nil", "nil"),
        (SPADES, "blind_nil look", "Blind Nil", "blind nil"),
        (MINIBRIDGE, "P 1S 2H", '{"action": "1s"}', "1S"),
    ],
)
def test_replies(game, legal, reply, action):
    assert game.action_text(read_action(game, reply, legal_of(game, legal)).action) == action


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "empty"),
        ("I'm sorry for your loss", "names no action"),
        ("{}", "names no action"),
        ('{"action": "nine"}', "'nine' is no action"),
        ("2H", "2H is not legal here; legal: P, X, 1H, 3H, 3S, 3NT, 4C"),
        ("3H or 3S", "several actions: 3H, 3S"),
        ("3H/3S", "several actions: 3H, 3S"),
        ("action: 3H or 3S", "several actions: 3H, 3S"),
        ("answer: after 3H, 4C", "several actions: 3H, 4C"),
        ('{"action": "after 3H, 4C"}', "several actions: 3H, 4C"),
        ("3H, I think, or 3S", "several actions: 3H, 3S"),
        ('{"action": "pass/3S"}', "several actions: P, 3S"),
        ('{"action": "%s"}' % ("3H " * 9 + "x" * 10**6), r"xxx' is no action of this game"),
        ('{"action": "3H"} {"action": "3S"}', "several actions: 3H, 3S"),
    ],
)
def test_replies_without_an_action(reply, problem):
    reading = read_action(BRIDGE, reply, legal_of(BRIDGE, CALLS))
    assert reading.action is None and problem in reading.problem


@pytest.mark.parametrize(
    "reply",
    [
        "I have 3 hearts",
        "I have 4 clubs and 3 hearts",
        "I will not bid 3H",
        "I won’t bid 3H",
        "Never 3H",
        "answer: I will not bid 3H",
        '{"action": "not 3H"}',
        "If I bid 3H, partner goes on",
        "Could I bid 3H",
        "Do I bid 3H?",
        "3H?",
        "3H is too high",
        "My partner will bid 3H",
        "The opponents bid 3H",
    ],
)
def test_an_action_that_is_mentioned_is_not_chosen(reply):
    """In text, in a marked line and in JSON."""
    reading = read_action(BRIDGE, reply, legal_of(BRIDGE, CALLS))
    assert reading == (None, "the reply mentions 3H without choosing an action; expected one line of JSON")


@pytest.mark.parametrize(
    ("game", "legal", "reply", "problem"),
    [
        (SPADES, BIDS, '{"action": "blind nil"}', "blind nil is not legal here"),
        (SPADES, BIDS, "action: Blind-Nil", "blind nil is not legal here"),
        (SPADES, BIDS, "I bid blind  nil.", "blind nil is not legal here"),
        (SPADES, BIDS, "blind_nil or nil", "several actions: nil, blind nil"),
        (BRIDGE, CALLS, "re-double", "XX is not legal here"),
        (BRIDGE, CALLS, '{"action": "Re Double"}', "XX is not legal here"),
        (BRIDGE, CALLS, "2NT", "2NT is not legal here"),
        (BRIDGE, CALLS, "2 no trump", "2NT is not legal here"),
        (BRIDGE, CALLS, "pas", "names no action"),
        (BRIDGE, CALLS, "Paso.", "names no action"),
        (BRIDGE, CALLS, '{"action": "passe"}', "'passe' is no action"),
        (COMM, "1 7", '{"action": -1}', "'-1' is no action"),
        (COMM, "1 7", '{"action": "1.7"}', "'1.7' is no action"),
        (COMM, "1 7", "action: 1.0", "'1.0' is no action"),
        (COMM, "1 7", "I choose -7", "names no action"),
        (COMM, "1 7", "\u0667", "names no action"),  # Arabic
    ],
)
def test_a_longer_name_is_never_read_as_a_shorter_one(game, legal, reply, problem):
    reading = read_action(game, reply, legal_of(game, legal))
    assert reading.action is None and problem in reading.problem


@pytest.mark.parametrize(
    ("game", "legal", "reply", "action"),
    [
        (SPADES, BIDS, "blind nil is too bold, so nil", "nil"),
        (SPADES, "nil blind_nil", "nil is too tame, so blind nil", "blind nil"),
        (SPADES, "nil blind_nil", '{"action": "BLIND-NIL"}', "blind nil"),
        (BRIDGE, CALLS, "\uff13\uff2e\uff34", "3NT"),
        (COMM, "1 7", '{"action": "\uff17"}', "7"),
        (COMM, "1 7", '{"action": "7", "why": "\\ud83d"}', "7"),
        (COMM, "1 7", "- 1", "1"),
        (COMM, "1 7", "I choose 7.", "7"),
        (COMM, "1 7", "7.0 is no action; 1", "1"),
    ],
)
def test_names_beside_each_other_and_full_width_forms(game, legal, reply, action):
    assert game.action_text(read_action(game, reply, legal_of(game, legal)).action) == action


class Names:
    """A game of which one name stands in another in every way that there is."""

    id, num_players, max_turns, reward_range, features = "names_v0", 2, 1, (-1, 1), {"seen": 1}
    actions = (
        "go",
        "no go",
        "go 2",
        "1",
        "-1",
        "1.5",
        "-1.5",
        "bet",
        "bet-2",
        "all in!",
        "in",
        "да",
        "да нет",
        "♠K",
        "a/in",
    )
    player = 0

    def deal(self, rng):
        pass

    def legal(self):
        return range(len(self.actions))

    def act(self, action):
        self.player = None

    def reward(self):
        return [0, 0]

    def view(self, player):
        return {"seen": 0}


def test_of_names_that_hold_each_other_each_is_read_as_itself():
    """In games of bidzoo and in a user's: also where only the others are legal."""
    first_card = {SPADES: 16, CARDS: 38}
    for game in (PythonGame(Names), SPADES, CARDS, BRIDGE, COMM, MINIBRIDGE):
        numbers = np.arange(game.num_actions)
        for action in numbers:
            text, only = game.action_text(int(action)), numbers == action
            same_phase = (numbers < first_card.get(game, 99)) == (action < first_card.get(game, 99))
            for reply in (
                json.dumps({"action": text}),
                json.dumps({"action": text.upper()}),
                f"action: {text}",
                f"So, {text}",
            ):
                assert read_action(game, reply, only.astype(np.int8)).action == action, (game, reply)
                refused = read_action(game, reply, (same_phase & ~only).astype(np.int8))
                assert refused.action is None and f"{text} is not legal" in refused.problem, (game, reply, refused)


def test_a_problem_lists_no_legal_actions_where_the_question_does_not():
    assert read_action(BRIDGE, "2H", legal_of(BRIDGE, CALLS), listed=False).problem == "2H is not legal here"


def test_a_long_reply_is_read_in_no_time_and_answered_in_few_words():
    """What is looked at has an end, which is where a reply says what it does."""
    for reply in (
        "1H or so " * 10**5,
        "{" * 10**6,
        "bid: " * 10**5,
        "<think>" * 10**5,
        '{"action": ' + "[" * 10**5 + "}",
        "action" + ":" * 10**5,
        "\n" * 10**5,
        "action: " + "( " * 10**5,
        "action: 3" + " becaus" * 10**5,
        '{"action": "' + "3H " * 10**5 + '"}',
    ):
        began = process_time()
        reading = read_action(BRIDGE, reply, legal_of(BRIDGE, CALLS))
        assert process_time() - began < 10 and len(reading.problem) < 300
    assert read_action(CARDS, "x. " * 10**5 + "10♠ or 9♠", legal_of(CARDS, "ST S9")).problem.startswith(
        "the reply names sev"
    )


@pytest.mark.parametrize(("env_id", "options"), GAMES)
def test_every_action_is_read_by_its_own_name(env_id, options):
    game = bidzoo.make_game(env_id, **options)
    for action in range(game.num_actions):
        legal = np.zeros(game.num_actions, np.int8)
        legal[action] = 1
        for reply in (game.action_text(action), json.dumps({"action": game.action_text(action)})):
            assert read_action(game, reply, legal).action == action


def same_bytes(one, other):
    return without_padding(one).tobytes() == without_padding(other).tobytes()


# ---- an agent that asks --------------------------------------------------------------------


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


# ---- the client of a server, with a package in place of openai -----------------------------


class FakeOpenAI(types.ModuleType):
    """What ``language.OpenAI`` uses of the package; ``answers`` are bodies, or errors that are raised."""

    class OpenAIError(Exception):
        pass

    class APIConnectionError(OpenAIError):
        pass

    class APIStatusError(OpenAIError):
        def __init__(self, status, message="no", **headers):
            super().__init__(message)
            self.status_code, self.message = status, message
            self.response = types.SimpleNamespace(headers=headers)

    def __init__(self, *answers):
        super().__init__("openai")
        self.answers, self.requests, self.made = list(answers), [], {}

    def DefaultAsyncHttpxClient(self, **options):  # noqa: N802  the package's name
        return options

    def AsyncOpenAI(self, **options):  # noqa: N802  the package's name
        self.made = options
        raw = types.SimpleNamespace(create=self.create)
        completions = types.SimpleNamespace(with_raw_response=raw)
        return types.SimpleNamespace(chat=types.SimpleNamespace(completions=completions))

    async def create(self, **request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return types.SimpleNamespace(content=answer)


def body(text, **usage):
    return json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode()


@pytest.fixture
def fake(monkeypatch):
    """Makes a client whose server gives ``answers``; the pauses that it makes stand in its ``pauses``."""

    def client(*answers, **options):
        package, pauses = FakeOpenAI(*answers), []

        async def sleep(seconds):
            pauses.append(seconds)

        monkeypatch.setitem(sys.modules, "openai", package)
        monkeypatch.setattr(language.asyncio, "sleep", sleep)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
        made = language.OpenAI("m", "http://127.0.0.1:1/v1", **options)
        made.package, made.pauses = package, pauses
        return made

    return client


ASKED = [{"role": "user", "content": "?"}]


def test_the_pauses_between_tries_double_and_have_an_end(fake):
    busy = FakeOpenAI.APIStatusError
    client = fake(*[busy(503)] * 8, body("2S", prompt_tokens=3, completion_tokens=1), tries=9)
    assert client(ASKED) == ("2S", 3, 1)
    assert client.pauses == [0.5, 1, 2, 4, 8, 16, 30, 30]
    later = {"retry-after": "7"}, {"retry-after": "900"}, {"retry-after": "soon"}, {"retry-after": "0"}
    client = fake(*(busy(429, **headers) for headers in later), body("2S"))
    assert client(ASKED).text == "2S" and client.pauses == [7, 120, 2, 0]
    client = fake(*[busy(500)] * 3, tries=3)
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1/v1: status 500, no"):
        client(ASKED)
    assert client.pauses == [0.5, 1] and len(client.package.requests) == 3


@pytest.mark.parametrize(("status", "again"), [(400, 0), (401, 0), (404, 0), (408, 1), (409, 1), (429, 1), (500, 1)])
def test_which_statuses_are_tried_again(fake, status, again):
    client = fake(FakeOpenAI.APIStatusError(status), body("2S"), tries=2)
    if again:
        assert client(ASKED).text == "2S"
    else:
        with pytest.raises(ConnectionError, match=f"status {status}"):
            client(ASKED)
    assert len(client.pauses) == again


@pytest.mark.parametrize(
    "answer",
    [b"", b"{", b"[]", b"{}", b"7", b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}', b"[" * 99999],
)
def test_what_is_no_answer_is_asked_for_again(fake, answer):
    client = fake(answer, body("2S"))
    assert client(ASKED).text == "2S" and client.pauses == [0.5]
    client = fake(answer, tries=1)
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1/v1: ValueError, "):
        client(ASKED)


def test_servers_of_newer_models_name_the_greatest_length_otherwise(fake):
    """Asked again at once, and by that name from then on."""
    refusal = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    client = fake(FakeOpenAI.APIStatusError(400, refusal), body("2S"), body("1H"))
    assert (client(ASKED).text, client(ASKED).text) == ("2S", "1H") and not client.pauses
    names = [[name for name in request if name.startswith("max_")] for request in client.package.requests]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_where_no_server_is_is_told_with_what_to_do(fake):
    client = fake(FakeOpenAI.APIConnectionError("Connection error."), tries=1)
    with pytest.raises(ConnectionError, match=r"Is a server running there.* goes on where this one stopped"):
        client(ASKED)


def test_what_there_is_instead_of_a_reply_is_told(fake):
    for message, reason, told in (
        (
            {"content": "", "reasoning_content": "1S? 1H?"},
            "length",
            "the model only reasoned, up to the limit of most_tok",
        ),
        ({"content": None, "reasoning": "1S? 1H?"}, "stop", "the model only reasoned"),
        ({"content": "\n", "reasoning_content": "1S?"}, "stop", "the model only reasoned"),
        ({"content": None, "refusal": "I do not gamble"}, "stop", "the model refused, 'I do not gamble'"),
        ({"refusal": "No"}, "stop", "the model refused, 'No'"),
        ({"content": "", "tool_calls": [{}]}, "tool_calls", "the model called tools"),
        ({"content": ""}, "content_filter", "finish_reason 'content_filter'"),
    ):
        answer = json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()
        reading = read_action(MINIBRIDGE, fake(answer)(ASKED).text, np.ones(MINIBRIDGE.num_actions, np.int8))
        assert reading.action is None and reading.problem.startswith(f"there is no reply: {told}")
    said = json.dumps({"choices": [{"message": {"content": "2S", "reasoning_content": "1H?"}}]}).encode()
    assert fake(said)(ASKED).text == "2S"
    legal = np.ones(MINIBRIDGE.num_actions, np.int8)
    assert read_action(MINIBRIDGE, "<think>1S?</think>", legal).problem == "the reply holds thoughts alone"


def test_who_waits_for_a_server_says_so(fake, monkeypatch):
    """A line for a request that is made again, and one for the first slow reply; not many of either."""
    told = []
    busy = FakeOpenAI.APIStatusError
    client = fake(busy(429, "slow down", **{"retry-after": "40"}), busy(503), body("2S"), tell=told.append)
    assert client(ASKED).text == "2S" and client.pauses == [40, 1]
    assert told == ["http://127.0.0.1:1/v1: status 429, slow down; asked again in 40 s, 5 of 6 tries left"]
    told.clear()
    monkeypatch.setattr(language, "SLOW", 0.05)
    client, hurried = fake(timeout=90, tell=told.append), body("2S")

    async def slowly(**request):
        await asyncio.wait({asyncio.get_running_loop().create_task(asyncio.Event().wait())}, timeout=0.2)
        return types.SimpleNamespace(content=hurried)

    client._client.chat.completions.with_raw_response.create = slowly
    assert client(ASKED).text == client(ASKED).text == "2S"
    assert told == ["http://127.0.0.1:1/v1: no reply of m for 0.05 s; each may take 90 s, the timeout"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_is_seconds(fake, timeout):
    with pytest.raises(ValueError, match=f"timeout: {timeout}, expected seconds above 0"):
        fake(timeout=timeout)


def test_an_error_that_comes_as_an_answer_is_told(fake):
    client = fake(b'{"error": {"message": "no such model"}}', tries=1)
    with pytest.raises(ConnectionError, match=r"an answer without text, .*no such model"):
        client(ASKED)


def test_a_reply_that_was_cut_off_names_no_action(fake):
    """What it thought of is not what it wanted to do; a whole JSON object says that."""
    cut = b'{"choices": [{"message": {"content": %s}, "finish_reason": "length"}]}'
    for text, meant in (("1S shows spades. 1H would show hearts and I have", None), ('{"action": "1S"} since', 2)):
        reply = fake(cut % json.dumps(text).encode())(ASKED).text
        reading = read_action(MINIBRIDGE, reply, np.ones(MINIBRIDGE.num_actions, np.int8))
        assert reading.action == meant and (meant or reading.problem == "the reply was cut off before its end")


def test_the_key_is_cut_out_of_replies_and_errors(fake):
    client = fake(body("my key is sk-secret-4711: 2S"), FakeOpenAI.APIStatusError(401, "wrong: sk-secret-4711"))
    assert client.package.made["api_key"] == "sk-secret-4711"
    assert client(ASKED).text == "my key is [key]: 2S"
    with pytest.raises(ConnectionError, match=r"wrong: \[key\]"):
        client(ASKED)
    assert "sk-secret" not in repr(client.package.requests)


def test_tokens_that_are_none_are_not_known(fake):
    odd = body("2S \ud83d", prompt_tokens=1, completion_tokens=2).replace(b": 1,", b": " + b"9" * 21 + b",")
    assert fake(odd)(ASKED) == ("2S \ufffd", None, 2)
    assert fake(b'{"choices": [{"message": {"content": "2S \xf0\x9f"}}], "usage": []}')(ASKED) == (
        "2S \ufffd",
        None,
        None,
    )


def test_an_answer_has_a_greatest_size():
    class Stream:
        def __init__(self, *parts):
            self.parts, self.closed = parts, False

        async def __aiter__(self):
            for part in self.parts:
                yield part

        async def aclose(self):
            self.closed = True

    module = types.ModuleType("a_server_library")
    module.AsyncByteStream = object
    response_type = type("Response", (types.SimpleNamespace,), {"__module__": "a_server_library"})

    async def read(*parts, **headers):
        response = response_type(stream=Stream(*parts), headers=headers)
        response.aclose = response.stream.aclose
        await language._limit(response)
        return b"".join([part async for part in response.stream])

    sys.modules["a_server_library"] = module
    try:
        most = language.MOST_REPLY
        assert len(asyncio.run(read(b"x" * (most - 1), b"y"))) == most
        with pytest.raises(language.TooLongError, match="more than 1,048,576 bytes"):
            asyncio.run(read(b"x" * most, b"y"))
        with pytest.raises(language.TooLongError, match="packed by 'gzip'"):
            asyncio.run(read(b"x", **{"content-encoding": "gzip"}))
    finally:
        del sys.modules["a_server_library"]


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
    import subprocess
    import sys

    names = "bidzoo, bidzoo.wrappers.gymnasium, bidzoo.benchmarks.leaderboard, bidzoo.cli.main"
    code = f"import sys, {names}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = ["language", "wrappers.text", "wrappers.verifiers", "wrappers.openenv", "benchmarks.exploit"]
    assert "bidzoo.cli.main" in loaded
    assert not {f"bidzoo.{name}" for name in ours} & {*loaded}
    assert not {"openai", "verifiers", "openenv", "transformers", "torch"} & {*loaded}


SPADES_REPLIES = {
    "My bid is 1.\n3 tricks is too much": "1",
    "1\n0": None,
    "I bid 1, 2 at most": None,
    '{"action": "1 + 2"}': None,
    "Bid: 1-2": None,
    "I bid 4 (of 13)": "4",
    "I bid three": "3",
    "zero": "nil",
    '{"action": 3.0}': "3",
}
CARD_REPLIES = {
    "I lead a heart": None,
    '{"action": "a heart"}': None,
    "I lead the ace of hearts": "HA",
    "HA": "HA",
    "I throw HA": "HA",
}
BRIDGE_REPLIES = {
    "I bid 1S. If partner bids 2S, I will bid 4S": None,
    "I pass. With one more point I would bid 2H.": None,
    "Right: 1S. Wrong: pass.": None,
    "<answer>2H</answer>": "2H",
    "So \\boxed{2H}": "2H",
    "2H</s>": "2H",
    "<thinking>2H or 1S? pass</thinking> 2H": "2H",
    "I am passing.": "P",
    "2H is my final bid.": "2H",
    "2H is my bid?": None,
    "2H is my partner's bid": None,
    '{"action": "limit raise 3H"}': "3H",
    '{"action": "2H (not 1S)"}': None,
    "answer: I will not pass": None,
}


@pytest.mark.parametrize(
    ("env_id", "actions", "replies"),
    [
        ("spades_v0", [], SPADES_REPLIES),
        ("spades_v0", ["3"] * 4, CARD_REPLIES),
        ("bridge_bidding_v0", ["1H", "P"], BRIDGE_REPLIES),
    ],
    ids=["bids of Spades", "cards", "calls"],
)
def test_a_reply_is_what_it_chooses_or_is_asked_again(env_id, actions, replies) -> None:
    game = bidzoo.make_game(env_id)
    table = TextTable(game, range(4))
    asked = table.reset(actions=actions)
    legal = np.isin([game.action_text(a) for a in range(game.num_actions)], asked.legal).astype(np.int8)
    read = {reply: read_action(game, reply, legal).action for reply in replies}
    assert {reply: a if a is None else game.action_text(a) for reply, a in read.items()} == replies
