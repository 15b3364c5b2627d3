"""A table that is played by text, with replies and requests that make no sense."""

from random import Random

import numpy as np
import pytest

import bidzoo
from bidzoo import language
from bidzoo.language import Seat
from bidzoo.wrappers.text import TextTable

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


def test_of_very_many_json_objects_the_last_ones_count(monkeypatch):
    """Megabytes of them would take minutes."""
    parsed, known = [], language.answered_json
    monkeypatch.setattr(language, "answered_json", lambda block, where: parsed.append(block) or known(block, where))
    game = bidzoo.make_game("bridge_bidding_v0")
    reply = '{"action": "1C"} ' * 10_000 + '{"action": "3NT"} ' * language._OBJECTS
    assert language.read_action(game, reply, np.ones(38, np.int8)).action == game.action_number("3NT")
    assert len(parsed) == language._OBJECTS
