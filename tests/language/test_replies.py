"""Which action a reply names, or why none."""

import json

import numpy as np
import pytest

import bidzoo
from bidzoo.envs.python_game import PythonGame
from bidzoo.language import read_action, replies
from bidzoo.wrappers.text import TextTable

MINIBRIDGE = bidzoo.make_game("minibridge_v0", size=2)
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


@pytest.mark.timeout(60, method="signal")  # a time that grows with the square of a reply's length is hours
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
        assert len(read_action(BRIDGE, reply, legal_of(BRIDGE, CALLS)).problem) < 300
    assert read_action(CARDS, "x. " * 10**5 + "10♠ or 9♠", legal_of(CARDS, "ST S9")).problem.startswith(
        "the reply names sev"
    )


def test_of_very_many_json_objects_the_last_ones_count(monkeypatch):
    """Megabytes of them would take minutes."""
    parsed, known = [], replies.answered_json
    monkeypatch.setattr(replies, "answered_json", lambda block, where: parsed.append(block) or known(block, where))
    reply = '{"action": "1C"} ' * 10_000 + '{"action": "3NT"} ' * replies._OBJECTS
    assert read_action(BRIDGE, reply, np.ones(38, np.int8)).action == BRIDGE.action_number("3NT")
    assert len(parsed) == replies._OBJECTS


def test_every_action_is_read_by_its_own_name(game_and_options):
    game, _ = game_and_options
    for action in range(game.num_actions):
        legal = np.zeros(game.num_actions, np.int8)
        legal[action] = 1
        for reply in (game.action_text(action), json.dumps({"action": game.action_text(action)})):
            assert read_action(game, reply, legal).action == action


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
    "2H is my response": "2H",
    "Move: 2H because 1S lies": "2H",
    "<call>2H</call>, not 1S": "2H",
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
