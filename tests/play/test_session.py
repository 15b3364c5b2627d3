"""Sessions: records replayed through the kernels, branches, undo, who sees what, agents that do as in a match."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bidzoo import agents, registry
from bidzoo.benchmarks.match import play
from bidzoo.envs.bridge.score import imps, par
from bidzoo.play import api, catalog
from bidzoo.play.catalog import HUMAN, OFFERS
from bidzoo.play.session import MOST, Compared, Session, StaleError

GAMES = tuple(OFFERS)


def finish(session: Session) -> None:
    while not session.position().over:
        session.agent_turn(session.cursor)


@pytest.mark.parametrize("game_id", GAMES)
def test_agents_play_every_game_to_its_end_and_every_step_can_be_replayed(game_id):
    session = Session()
    players = len(OFFERS[game_id].seats)
    session.start(game_id, seats=["random"] * players, seed=5, board=7)
    finish(session)
    last = session.position().states[0].copy()
    actions = list(session.actions)
    for cursor in range(len(actions), -1, -1):
        session.go(cursor)
        assert api.page(session)["cursor"] == cursor
    for step, action in enumerate(actions):
        session.act(action, step)
    assert session.actions == actions
    assert session.position().states[0] == last


@pytest.mark.parametrize("game_id", ["bridge_bidding_v0", "minibridge_v0"])
def test_agents_act_as_in_the_match_harness(game_id):
    session = Session()
    players = len(OFFERS[game_id].seats)
    session.start(game_id, seats=["random"] * players, seed=3, board=11)
    finish(session)
    options = session.setup.options
    policies = [agents.make("random")] * players
    found = play(registry.make_game(game_id, **options), policies, np.array([11]), seed=3, policy_seed=3)
    assert session.position().states[0] == found.states[0]


def test_every_game_is_offered_with_its_options_and_agents_that_play_it():
    assert set(OFFERS) == set(registry.GAMES)
    for one in catalog.menu():
        game = registry.make_game(one["id"], **catalog.checked_options(one["id"], {}))
        assert len(one["seats"]) == game.num_players
        assert {agent["name"] for agent in one["agents"]} >= {"random"}
        assert set(one["usual"]) <= {HUMAN, *(agent["name"] for agent in one["agents"])}
        for option in OFFERS[one["id"]].options:
            for value in option.values:
                registry.make_game(one["id"], **{option.name: value})
    assert "bis" not in catalog.agents_for("bridge_v0")
    assert "sayc" not in catalog.agents_for("spades_v0")


def test_another_action_in_the_middle_drops_the_rest_and_the_same_one_keeps_it():
    session = Session()
    session.start("minibridge_v0", seats=[HUMAN, HUMAN])
    for at, action in enumerate((1, 2, 3)):
        session.act(action, at)
    session.go(1)
    session.act(2, 1)
    assert session.actions == [1, 2, 3]
    session.go(1)
    session.act(4, 1)
    assert session.actions == [1, 4]


def test_undo_goes_back_to_the_humans_own_turn():
    session = Session()
    session.start("bridge_bidding_v0", seats=[HUMAN, "random", "random", "random"], board=0)
    session.act(0, 0)
    for _ in range(3):
        if not session.position().over:
            session.agent_turn(session.cursor)
    session.undo()
    assert session.cursor == 0
    session.sit(["random"] * 4)
    session.go(3)
    session.undo()
    assert session.cursor == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game_id": "chess"}, "unknown game 'chess'"),
        ({"seats": ["random"]}, "expected 4 names"),
        ({"seats": "nesw"}, "expected 4 names"),
        ({"seats": ["bis", "random", "random", "random"]}, "North: 'bis' does not play"),
        ({"seats": [7, "random", "random", "random"]}, "North: 7 does not play"),
        ({"options": {"deals": "../../etc/passwd"}}, "option 'deals'"),
        ({"game_id": "spades_v0", "options": {"blind_nil": 1}}, "option 'blind_nil'"),
        ({"game_id": "spades_v0", "options": {"blind_nil": True, "variant": "whiz"}}, "no blind nil in whiz"),
        ({"options": {"observation": "jps267"}}, "no option 'observation'"),
        ({"seed": -1}, "seed -1"),
        ({"seed": True}, "seed True"),
        ({"board": MOST + 1}, "board"),
        ({"board": 1.5}, "board 1.5"),
        ({"actions": [0, 1]}, "action 2 of the record, X, is not legal"),
        ({"actions": [99]}, "action 1 of the record, 99"),
    ],
)
def test_bad_starts_are_named_and_change_nothing(change, words):
    session = Session()
    before = api.page(session)
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        session.start(**{"game_id": "bridge_bidding_v0", **change})
    assert api.page(session) == before


def test_illegal_late_and_misplaced_actions():
    session = Session()
    session.start("bridge_bidding_v0", seats=[HUMAN, "random", "random", "random"], board=0)
    with pytest.raises(ValueError, match="X is not legal here, expected one of P 1C"):
        session.act(1, 0)
    with pytest.raises(ValueError, match="action 38"):
        session.act(38, 0)
    with pytest.raises(StaleError, match="at step 0, not 3"):
        session.act(0, 3)
    with pytest.raises(ValueError, match="no agent is to act"):
        session.agent_turn(0)
    with pytest.raises(ValueError, match="step 1"):
        session.go(1)
    with pytest.raises(ValueError, match="nobody to ask"):
        session.explain()


class Switching:
    """An agent during whose thinking the board is changed."""

    name = "switching"

    def __init__(self, session):
        self.session = session

    def act(self, views, legal, rng):
        self.session.start("bridge_bidding_v0", seats=["random"] * 4, board=1)
        return np.array([0])


def test_an_answer_to_an_old_board_is_dropped():
    session = Session()
    session._make = lambda game, name: Switching(session)
    session.start("bridge_bidding_v0", seats=["random"] * 4, board=0)
    with pytest.raises(StaleError, match="another board"):
        session.agent_turn(0)
    assert session.actions == []
    assert session.setup.board == 1


class Cheat:
    name = "cheat"

    def act(self, views, legal, rng):
        return np.array([1])


def test_an_agent_that_breaks_the_rules_is_told_so():
    session = Session(make=lambda game, name: Cheat())
    session.start("bridge_bidding_v0", seats=["random"] * 4)
    with pytest.raises(ValueError, match="cheat: illegal action 1 at board 0"):
        session.agent_turn(0)


# ---- who sees what ---------------------------------------------------------------------------


def test_hidden_hands_do_not_leave_the_session():
    session = Session()
    session.start("bridge_v0", seats=["random", "random", HUMAN, "random"], board=0, seed=1)
    data = api.page(session)
    assert [hand is None for hand in data["table"]["hands"]] == [True, True, False, True]
    assert data["legal"] == []  # North is to act, and its legal calls are its own business
    session.reveal = True
    data = api.page(session)
    assert sorted(card for hand in data["table"]["hands"] for card in hand) == list(range(52))
    session.next_board()
    assert [hand is None for hand in api.page(session)["table"]["hands"]] == [True, True, False, True]
    session.reveal = True
    session.start("bridge_v0", seats=["random", "random", HUMAN, "random"])
    assert not session.reveal and api.page(session)["table"]["hands"][0] is None


def test_dummy_is_seen_after_the_lead_and_everything_at_the_end():
    session = Session()
    session.start("bridge_v0", seats=[HUMAN, "random", "random", "random"], board=0)
    for at, call in enumerate((3, 0, 0, 0)):  # 1C by North, passed out
        session.act(call, at)
    assert [hand is None for hand in api.page(session)["table"]["hands"]] == [False, True, True, True]
    session.agent_turn(4)
    table = api.page(session)["table"]
    assert table["dummy"] == 2
    assert [hand is None for hand in table["hands"]] == [False, True, False, True]
    while not session.position().over:
        here = session.position()
        if here.player == 0:
            session.act(here.legal[0], session.cursor)
        else:
            session.agent_turn(session.cursor)
    data = api.page(session)
    assert all(len(hand) == 13 for hand in data["table"]["hands"])
    assert [step["seat"] for step in data["record"][4:8]] == [1, 2, 3, 0]
    assert [step["player"] for step in data["record"][4:8]] == [1, 0, 3, 0]


def test_two_humans_see_their_own_cards_in_turn():
    session = Session()
    session.start("minibridge_v0", seats=[HUMAN, HUMAN])
    assert [x is None for x in api.page(session)["table"]["types"]] == [False, True]
    session.act(1, 0)
    assert [x is None for x in api.page(session)["table"]["types"]] == [True, False]


def test_blind_hands_stay_face_down():
    session = Session()
    session.start("spades_v0", {"blind_nil": True}, [HUMAN] * 4)
    table = api.page(session)["table"]
    assert all(hand is None for hand in table["hands"])
    assert {step["text"] for step in api.page(session)["legal"]} == {"blind nil", "look"}


def test_whole_spades_games_run_over_rounds():
    session = Session()
    session.start("spades_v0", {"phase": "game", "win_goal": 100}, ["random"] * 4, seed=2)
    for _ in range(70):
        if session.position().over:
            break
        session.agent_turn(session.cursor)
    data = api.page(session)["table"]
    assert data["round"] >= 2 or data["phase"] == "over"
    assert len(data["scores"]) == 2


@settings(max_examples=25, deadline=None)
@given(game_id=st.sampled_from(GAMES), moves=st.lists(st.integers(0, 99), max_size=30))
def test_any_walk_through_a_record_shows_what_a_fresh_replay_shows(game_id, moves):
    session = Session()
    session.start(game_id, seats=[HUMAN] * len(OFFERS[game_id].seats), seed=1)
    for move in moves:
        legal = session.position().legal
        if move < 60 and legal:
            session.act(legal[move % len(legal)], session.cursor)
        elif move < 80:
            session.go(move % (len(session.actions) + 1))
        else:
            session.undo()
    taken = session.actions[: session.cursor]
    fresh = Session()
    fresh.start(game_id, seats=[HUMAN] * len(session.seats), seed=1, actions=session.actions)
    fresh.go(session.cursor)
    assert api.page(fresh) | {"replaying": False} == api.page(session)
    assert [step["action"] for step in api.page(session)["record"][: session.cursor]] == taken


def test_of_two_at_once_one_is_late():
    session = Session()
    session.start("bridge_bidding_v0", seats=[HUMAN] * 4)
    late = []

    def bid(call):
        try:
            session.act(call, 0)
        except StaleError as problem:
            late.append(str(problem))

    threads = [threading.Thread(target=bid, args=(call,)) for call in range(3, 23)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(late) == 19
    assert len(session.actions) == 1


# ---- against par and the other table ---------------------------------------------------------


def bid(session, *calls):
    for call in calls:
        session.act(call, session.cursor)


def test_a_finished_board_is_compared_with_par_and_the_other_table():
    """The human's pass-out against four passers: the same score, and par with its sign."""
    session = Session()
    session.start("bridge_bidding_v0", {"deals": "test"}, ["pass", "pass", "human", "pass"], 3, 0)
    assert session.other_table() == ["pass"] * 4
    with pytest.raises(ValueError, match="only a bridge board that people have bid or played to its end"):
        session.compare()
    for _ in range(4):
        if session.policy() is None:
            bid(session, 0)
        else:
            session.agent_turn(session.cursor)
    found = session.compare()
    state = session.position().states[0]
    expected = int(par(state["tricks"][None], int(state["dealer"]), int(state["vulnerable"]))[0])
    assert found == Compared(0, 0, expected, 0, int(imps(-expected)), 0)
    session.undo()
    bid(session, 3)  # another result of the same board does not count
    while not session.position().over:
        session.agent_turn(session.cursor)
    assert session.position().states[0]["points"][0] != 0
    assert session.compare() == found


def test_a_board_of_other_deals_is_another_board():
    """Also where game, seed and number are the same."""
    session, found, dealt = Session(), [], set()
    for deals in ("train", "test"):
        session.start("bridge_bidding_v0", {"deals": deals}, ["pass", "pass", "human", "pass"], 0, 0)
        dealt.add(session.setup.dealt)
        while not session.position().over:
            bid(session, 0) if session.policy() is None else session.agent_turn(session.cursor)
        found.append(session.compare())
        state = session.position().states[0]
        assert found[-1].par == par(state["tricks"][None], int(state["dealer"]), int(state["vulnerable"]))[0]
    assert found[0] != found[1] and len(session.compared) == len(dealt) == 2


def test_points_are_those_of_the_humans_side():
    session = Session()
    session.start("bridge_bidding_v0", {"deals": "test"}, ["pass", "human", "pass", "pass"], 3, 0)
    while not session.position().over:  # East opens 7NT and goes down
        if session.policy() is None:
            bid(session, 37)
        else:
            session.agent_turn(session.cursor)
    found = session.compare()
    north_south = int(session.position().states[0]["points"][0])
    assert north_south > 0
    assert (found.points, found.other) == (-north_south, 0)
    assert found.imps_other == -int(imps(north_south)) < 0
    assert found.imps_par == int(imps(found.points - found.par))


def test_two_boards_are_two_rows_of_the_total():
    session = Session()
    session.start("bridge_bidding_v0", {"deals": "test"}, ["human", "random", "human", "pass"], 3, 0)
    assert session.other_table() == ["sayc", "random", "sayc", "pass"]
    session.sit(["human", "pass", "pass", "pass"])
    for _ in range(2):
        while not session.position().over:
            if session.policy() is None:
                bid(session, 0)
            else:
                session.agent_turn(session.cursor)
        found = api.total(session)
        session.next_board()
    assert [one["board"] for one in found["boards"]] == [0, 1]
    assert found["imps_par"] == sum(one["imps_par"] for one in found["boards"])
    assert (found["side"], found["imps_other"]) == ("N/S", 0)
    assert found["agents"] == "pass sits North, pass sits East, pass sits South, pass sits West"


def test_a_replay_and_other_games_are_not_compared():
    session = Session()
    session.start("spades_v0", {}, None, 0, 0)
    with pytest.raises(ValueError, match="only a bridge board"):
        session.compare()
    session.start("bridge_bidding_v0", {}, ["human"] * 4, 0, 0, None, [0, 0, 0, 0])
    session.go(4)
    with pytest.raises(ValueError, match="only a bridge board"):
        session.compare()
