"""A table that is played by text, with replies and requests that make no sense."""

from random import Random

import numpy as np
import pytest

import bidzoo
from bidzoo import language
from bidzoo.language import Seat
from bidzoo.wrappers.text import TextTable, lessons

ODD = {
    "empty": "",
    "blank": "\0\n\t \u2028",
    "half an emoji": "\ud83c",
    "binary": bytes(range(256)).decode("latin-1"),
    "long": "3NT or 4H " * 100_000,
    "deep": "{" * 100_000,
    "JSON of other kinds": '{"action": [1]} {"action": null} {"action": {"bid": []}} {"bid": 1e999}',
    "a number of 5000 digits": '{"action": ' + "1" * 5000 + "}",
    "a redouble": "XX",
    "another game's": "blind nil",
}


@pytest.fixture
def table():
    return TextTable(bidzoo.make_game("bridge_bidding_v0"), [0, 2], "sayc", Seat(tries=1))


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_reply_ends_the_board_with_the_lowest_reward(table, odd):
    table.reset(0, seed=3)
    assert table.reply(ODD[odd]) is None and table.over
    assert table.rewards[0] == table.rewards[2] == table.game.reward_range[0] and table.rewards[1] == 0
    assert table.reset(0, seed=3).player == 0 and not table.over  # and the next board is played


def test_random_bytes_never_break_a_table(table):
    random = Random(1)
    texts = [
        bytes(random.choices(b'{}[]":, \nactionbidPXNTSHDC1234567\xff', k=30)).decode("latin-1") for _ in range(300)
    ]
    for board, text in enumerate(texts):
        table.reset(board, seed=3)
        asked = table.reply(text)
        assert table.over == (asked is None)


def test_the_wrong_order_is_named(table):
    with pytest.raises(ValueError, match=r"the board is over: call reset\(\)"):
        table.reply("P")
    for board, seed in ((-1, 0), (0, -1), ("a", 0), (0, 2**70)):
        table.reset(0)
        with pytest.raises(ValueError, match=r"expected (an )?integer"):
            table.reset(board, seed)
        with pytest.raises(ValueError, match="the board is over"):
            table.reply("P")
    for reply in (None, 3, b"P", ["P"]):
        table.reset(0)
        with pytest.raises(TypeError, match=r"a reply .*: expected a text"):
            table.reply(reply)
        assert not table.over


def test_a_second_table_is_another_conversation():
    """Players have moved on by a seat there, and may not have seen the cards that they hold now."""
    game = bidzoo.make_game("bridge_bidding_v0", reward="duplicate")
    table, hands = TextTable(game, ["North", "South"], "sayc"), dict[int, set[str]]()
    for board in range(3):
        asked = table.reset(board, seed=1)
        hands.clear()
        while asked is not None:
            hand = next(line for line in asked.question.splitlines() if line.startswith("hand"))
            hands.setdefault(asked.conversation, set()).add(hand)
            asked = table.reply("pass")
        assert len(hands) == 4 and all(len(seen) == 1 for seen in hands.values())
        assert len(set.union(*hands.values())) == 4


def test_rewards_are_of_this_board_alone(table):
    assert np.isnan(table.rewards).all()
    asked = table.reset(0, seed=3)
    while asked is not None:
        asked = table.reply("pass")
    assert np.isfinite(table.rewards).all()
    table.reset(1, seed=3)
    assert np.isnan(table.rewards).all()
    table.forfeit()
    assert table.over and table.rewards[0] == table.rewards[2] == table.game.reward_range[0]
    with pytest.raises(ValueError, match="the board is over"):
        table.forfeit()


@pytest.mark.parametrize(
    ("seat", "named"),
    [(Seat(memory=True, sampled=True), "memory, sampled"), (Seat(constrained=True, tries=1), "constrained")],
)
def test_what_a_table_cannot_follow_is_refused(seat, named):
    with pytest.raises(
        ValueError, match=f"seat: {named}: nothing to a table, expected only rules, form, listed, tries"
    ):
        TextTable(bidzoo.make_game("bridge_bidding_v0"), ["South"], "sayc", seat)


def test_one_name_of_a_seat_is_no_list_of_seats():
    with pytest.raises(TypeError, match=r"seats 'South': expected a list, such as \['South'\]"):
        TextTable(bidzoo.make_game("bridge_bidding_v0"), "South")


DEAL = "N:AKQJ.AKQ.AKQ.AKQ T987.JT9.JT9.JT9 6543.876.876.876 2.5432.5432.5432"


def test_a_position_is_asked_about():
    """By the environment's own options, and with actions that nobody at the table chose."""
    game = bidzoo.make_game("bridge_bidding_v0", reward="score")
    table = TextTable(game, ["South"], "pass")
    asked = table.reset(options={"deal": DEAL, "dealer": "N", "vulnerability": "ns"}, actions="2C P")
    assert asked.player == 2 and "hand: ♠6543 ♥876 ♦876 ♣876" in asked.question
    assert "vulnerable: N/S" in asked.question and "auction: North 2C, East P" in asked.question
    assert table.reply("7NT") is None and table.rewards[0] == 2220  # vulnerable, with the AKQ of all suits
    assert table.reset(actions=["P", "P", "P", "P"]) is None and table.over
    small = TextTable(bidzoo.make_game("minibridge_v0", size=2), [0])
    assert "your hearts: 1" in small.reset(options={"types": (1, 0)}).question


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"actions": "1C 1C"}, "actions: 2: '1C' is not legal there; legal: P, X, 1D"),
        ({"actions": ["P"] * 5}, "actions: 5: 'P' is not legal there; the board is over"),
        ({"options": {"cards": 3}}, "unknown option 'cards'"),
        ({"options": {"deal": "N:A"}}, "option 'deal'"),
        ({"board": 2, "options": {"board": 3}}, "board 2 and option 'board' 3: give one of them"),
    ],
)
def test_a_position_that_is_none_is_refused(table, given, problem):
    table.reset()
    with pytest.raises(ValueError, match=problem):
        table.reset(**given)
    assert table.over


@pytest.mark.parametrize("actions", [5, ["P", 1]])
def test_actions_are_names(table, actions):
    with pytest.raises(TypeError, match=r"actions .*: expected a list of names"):
        table.reset(actions=actions)
    assert table.over


def told_by(game, lesson):
    """What an answer means to a table."""
    return language.read_action(game, lesson.messages[-1]["content"], np.ones(game.num_actions, np.int8)).action


def test_lessons_of_records_are_questions_of_a_table_with_the_recorded_answer():
    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.match import duplicate, pairings

    played = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False)
    match = duplicate(played, "sayc", "pass", np.arange(3))
    kept = records.of_match(played, match, "sayc", "pass")
    learned = bidzoo.make_game("bridge_bidding_v0", reward="par")
    found = [*lessons(learned, kept)]
    assert [learned.action_text(told_by(learned, each)) for each in found] == [
        word for each in kept for word in each["calls"]
    ]
    assert all([message["role"] for message in each.messages] == ["system", "user", "assistant"] for each in found)
    assert "reward = par" in found[0].messages[0]["content"]
    ours = [*lessons(learned, kept, players=["sayc"])]
    assert ours == [each for each in found if each.agent == "sayc"] and 0 < len(ours) < len(found)
    table = TextTable(learned, range(4))
    first = {name: kept[0][name] for name in ("deal", "dealer", "vulnerability")}
    asked = table.reset(kept[0]["board"], options=first, actions=kept[0]["calls"][:2])
    assert [asked.system, asked.question] == [message["content"] for message in found[2].messages[:2]]

    small = bidzoo.make_game("minibridge_v0", size=3)
    played_small = pairings(small, bidzoo.agents.make("exact"), bidzoo.agents.make("random"), np.arange(4), seed=1)
    kept = records.of_pairings(small, {"size": 3}, ("exact", "random"), played_small, seed=1)
    found = [*lessons(small, kept)]
    assert [small.action_text(told_by(small, each)) for each in found] == [
        word for each in kept for word in each["actions"]
    ]
    with pytest.raises(ValueError, match="record of board 0: of minibridge_v0, expected one of bridge_bidding_v0"):
        next(lessons(learned, kept))
    with pytest.raises(ValueError, match=r"record of board \d: dealt by .*\"size\": 3.*, expected the game with these"):
        [*lessons(bidzoo.make_game("minibridge_v0", size=9), kept)]


def test_lessons_refuse_a_file_a_name_and_an_unknown_player():
    game = bidzoo.make_game("bridge_bidding_v0")
    for records, players, problem in (
        ("m.jsonl", (), r"bidzoo\.benchmarks\.records\.read\('m\.jsonl'\)"),
        ([{"players": ["sl"] * 4}], "sl", r"\['sl'\]"),
        ([{"players": ["sl"] * 4}], ["SL"], "'SL' is none of the records' players: sl"),
    ):
        with pytest.raises(ValueError, match=problem):
            lessons(game, records, players)


def test_lessons_of_a_played_board_with_its_cards_or_without():
    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.match import duplicate

    played = bidzoo.make_game("bridge_v0", deals="test", shuffle=False)
    kept = records.of_match(played, duplicate(played, "random", "random", np.arange(1)), "random", "random")
    assert len([*lessons(played, kept[:1])]) == len(kept[0]["calls"]) + len(kept[0]["cards"])
    auction = bidzoo.make_game("bridge_bidding_v0", competition=True)
    assert len([*lessons(auction, kept[:1])]) == len(kept[0]["calls"])
    alone = bidzoo.make_game("bridge_bidding_v0", competition=False)
    with pytest.raises(ValueError, match=r"record of board 0: action \d+, .* is not legal in"):
        [*lessons(alone, kept)]
