"""Against OpenSpiel's spades where it is right, and six tests where it is wrong (reference notes S1 ... S6)."""

import numpy as np
import pytest

from bidzoo.core.cards import TO_OPENSPIEL_SPADES
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.score import end_round_row, score_row
from bidzoo.envs.spades.state import BIDDING, FIRST_CARD, OVER

pyspiel = pytest.importorskip("pyspiel")

OPENSPIEL_RULES = {"failed_nil": "partner", "bag_penalty": 100}
THEIR_BIDS = 52


def begin(game, board=3, seed=5, **options):
    """One table of board 3, whose dealer is W: N bids first, as always in OpenSpiel."""
    states, out = game.new(1), game.buffers(1)
    game.begin(states, np.array([board]), seed, out)
    if options:
        game.fix(states, game.options(options), out)
    return states, out


def their_state(hands):
    """OpenSpiel deals one card a player in turn."""
    state = pyspiel.load_game("spades").new_initial_state()
    cards = [[card for card in range(52) if hand >> card & 1] for hand in hands]
    for i in range(52):
        state.apply_action(int(TO_OPENSPIEL_SPADES[cards[i % 4][i // 4]]))
    return state


def their_action(action):
    return THEIR_BIDS + action if action < 14 else int(TO_OPENSPIEL_SPADES[action - FIRST_CARD])


@pytest.mark.parametrize("board", range(3, 163, 4))
def test_whole_rounds(board):
    """Same player to act, same legal actions but for S1 and their limit on bids, same points."""
    game = Spades(phase="round", reward="points", **OPENSPIEL_RULES)
    states, out = begin(game, board)
    theirs = their_state(states[0]["hands"])
    rng = np.random.default_rng(board)
    leads = 0
    while not out.over[0]:
        assert theirs.current_player() == out.player[0]
        ours = {their_action(int(action)): int(action) for action in np.flatnonzero(out.mask[0])}
        legal = set(theirs.legal_actions())
        if states[0]["phase"] == BIDDING or (states[0]["led"] < 0 and states[0]["broken"]):
            assert legal <= set(ours)
            leads += legal < set(ours)
        else:
            assert legal == set(ours)
        if states[0]["phase"] == BIDDING:
            legal &= {THEIR_BIDS + bid for bid in range(5)}  # bids that are sometimes made
        choice = int(rng.choice(sorted(legal)))
        theirs.apply_action(choice)
        game.step(states, np.array([ours[choice]]), 0, out)
    assert theirs.is_terminal() and leads > 0
    assert list(states[0]["gains"][:2]) == theirs.returns()[:2]


@pytest.mark.parametrize(
    ("bids", "won", "scores", "expected"),
    [
        ((4, 5, 5, 0), (5, 3, 5, 0), (0, 0), (91, None)),
        ((13, 5, 0, 1), (4, 6, 1, 2), (0, 0), (-230, None)),
        ((3, 3, 3, 2), (4, 2, 5, 2), (99, 0), (-37, None)),
        ((3, 3, 2, 3), (2, 4, 2, 5), (0, 99), (None, -37)),
    ],
)
def test_scores_of_their_own_unit_tests(bids, won, scores, expected):
    """spades_scoring_test.cc."""
    states, _ = begin(Spades(**OPENSPIEL_RULES), scores=list(scores))
    states[0]["bids"][:], states[0]["won"][:] = bids, won
    score_row(states[0])
    for side in range(2):
        assert expected[side] in (None, states[0]["gains"][side])


# ---- where it is wrong -------------------------------------------------------------------


def test_s1_spades_are_broken_by_a_cut():
    """They never set the flag: after a cut the leader may still not lead a spade."""
    deal = "N:AKQJ98765.2.3.42 T4.AKQJ9876.2.53 32.543.AKQJ9.T76 .T.T87654.AKQJ98"
    game = Spades(phase="round")
    states, out = begin(game, deal=deal)
    theirs = their_state(states[0]["hands"])
    for text in ["3"] * 4 + ["2H", "AH", "3H", "TH", "KH", "4H", "KC", "5S"]:
        action = game.action_number(text)
        game.step(states, np.array([action]), 0, out)
        theirs.apply_action(their_action(action))
    ace = game.action_number("AS")
    assert out.mask[0, ace] == 1
    assert their_action(ace) not in theirs.legal_actions()


def test_s2_the_goal_counts_the_whole_game():
    """They compare the deal's points with it, so that 490 and 60 do not reach 500."""
    states, _ = begin(Spades(), scores=[490, 0])
    states[0]["bids"][:], states[0]["won"][:] = (3, 3, 3, 3), (3, 3, 3, 4)
    end_round_row(states[0])
    assert (states[0]["scores"][0], states[0]["phase"], states[0]["winner"]) == (550, OVER, 0)


@pytest.mark.parametrize("lose_goal", [None, -350])
def test_s3_there_is_a_losing_goal_only_if_asked_for(lose_goal):
    """They ignore ``use_mercy_rule``."""
    states, _ = begin(Spades(lose_goal=lose_goal), scores=[-340, 0])
    states[0]["bids"][:], states[0]["won"][:] = (3, 3, 3, 3), (3, 3, 2, 5)
    end_round_row(states[0])
    assert states[0]["scores"][0] == -400
    assert (states[0]["phase"] == OVER) == (lose_goal is not None)


def test_s4_bags_of_a_negative_score():
    """-2 is 8 bags (-10 and 8): four more make ten. C++'s remainder of -2 says otherwise."""
    states, _ = begin(Spades(**OPENSPIEL_RULES), scores=[-2, 0])
    states[0]["bids"][:], states[0]["won"][:] = (2, 3, 2, 3), (4, 2, 4, 3)
    score_row(states[0])
    assert (states[0]["gains"][0], states[0]["bags"][0]) == (44 - 100, 2)


def test_s5_thirteen_tricks_and_the_end_in_an_observation():
    """Their thirteenth trick and their terminal phase fall into the next field."""
    game = Spades(phase="round")
    states, out = begin(game, deal="N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432")
    for text in ["13", "nil", "nil", "nil"] + [s + r for r in "AKQJT98765432" for s in "SHDC"]:
        game.step(states, np.array([game.action_number(text)]), 0, out)
    assert out.over[0] and not out.observation.any()
    seen = np.empty(game.encoder.layout.size, np.int8)
    game.observe(states, np.array([0]), 1, seen[None])
    parts = game.encoder.layout.split(seen)
    assert not parts["phase"].any()
    assert [int(np.flatnonzero(row)[0]) for row in parts["won"].reshape(4, 14)] == [0, 0, 0, 13]
    assert [int(np.flatnonzero(row)[0]) for row in parts["bids"].reshape(4, 15)] == [0, 0, 0, 13]


def test_s6_every_seat_has_all_fourteen_bids():
    """Their table of contracts is one short, and partners may bid 13 together at most."""
    game = Spades(phase="round")
    states, out = begin(game)
    for _ in range(4):
        assert list(np.flatnonzero(out.mask[0])) == list(range(14))
        game.step(states, np.array([13]), 0, out)
    theirs = their_state(states[0]["hands"])
    for _ in range(2):
        theirs.apply_action(THEIR_BIDS + 13)
    assert theirs.legal_actions() == [THEIR_BIDS]
