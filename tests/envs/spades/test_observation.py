"""Spades observations: every entry where the page says, and nothing that the seat cannot know."""

from pathlib import Path

import numpy as np
import pytest

from bidzoo.core.cards import card_number
from bidzoo.envs.spades.game import Spades
from bidzoo.envs.spades.observation import bidding_layout, full_layout

PAGE = Path(__file__).parents[3] / "docs" / "observations" / "spades.md"
DEAL = "N:AQ5.K74.J83.Q942 T83.AJ9.KT5.J765 KJ7.Q62.A964.AT3 9642.T853.Q72.K8"


def table(*actions, options=None, **rules):
    """A table with that deal, E first, after ``actions``."""
    game = Spades(**rules)
    states, out = game.new(1), game.buffers(1)
    game.begin(states, np.array([0]), 1, out)
    game.fix(states, game.options({"deal": DEAL, "dealer": "N", **(options or {})}), out)
    for text in actions:
        action = game.action_number(text)
        assert out.mask[0, action]
        game.step(states, np.array([action]), 0, out)
    return game, states, out


def labels(layout, vector):
    """Labels of the entries that are set, by field."""
    assert set(np.unique(vector)) <= {0, 1}
    parts = layout.read(vector)
    return {field.name: {field.labels[i] for i in np.flatnonzero(parts[field.name])} for field in layout.fields}


def seen(game, states, seat, name=None):
    """``labels`` of the observation of ``seat``."""
    encoder = game.encoders[name or game.encoder.name]
    return labels(encoder.layout, encoder(game.view_of(states, np.array([seat])))[0])


ROUND = ["3", "4", "nil", "5", "AH", "2H", "3H", "4H", "JH", "QH"]


def test_the_full_observation_of_every_seat():
    """E bid first and led twice; W is to play to the second trick."""
    game, states, out = table(*ROUND, win_goal=200, lose_goal=-100, options={"scores": [117, -40]})
    parts = seen(game, states, 3)
    assert parts["hand"] == {"9S", "6S", "4S", "2S", "TH", "8H", "5H", "QD", "7D", "2D", "KC", "8C"}
    assert parts["first"] == {"partner"} and parts["leader"] == {"partner"}
    assert parts["bids"] == {"partner 3", "RHO 4", "me nil", "LHO 5"}
    assert parts["phase"] == {"play"} and parts["led"] == {"H"} and not parts["broken"] and not parts["void"]
    assert parts["trick"] == {"JH by partner", "QH by RHO"}
    assert parts["earlier"] == {"AH by partner", "2H by RHO", "3H by me", "4H by LHO"}
    assert parts["won"] == {"me 0", "LHO 0", "partner 1", "RHO 0"}
    assert parts["short"] == {"we 240", "they 90"} and parts["bags"] == {"we 0", "they 7"}
    assert parts["above"] == {"we 60", "they 210"}
    assert seen(game, states, 1)["bids"] == {"me 3", "LHO 4", "partner nil", "RHO 5"}
    assert seen(game, states, 0)["short"] == {"we 90", "they 240"}
    assert (game.encoder(game.view_of(states, np.array([3])))[0] == out.observation[0]).all()


def test_the_global_state_in_the_play():
    """Seats and sides by name, scores in binary."""
    game, states, _ = table(*ROUND, win_goal=200, options={"scores": [117, -40]})
    parts = labels(game.state_encoder.layout, game.state_encoder(states)[0])
    assert parts["S"] == {"3C", "4D", "6D", "6H", "7S", "9D", "TC", "JS", "KS", "AC", "AD"}  # 2H and QH are gone
    assert parts["looked"] == {"N", "E", "S", "W"} and parts["turn"] == {"W"} and parts["first"] == {"E"}
    assert parts["bids"] == {"N 5", "E 3", "S 4", "W nil"} and parts["phase"] == {"play"}
    assert parts["trick"] == {"JH by E", "QH by S"} and parts["leader"] == {"E"} and parts["led"] == {"H"}
    assert parts["won"] == {"N 0", "E 1", "S 0", "W 0"} and parts["bags"] == {"N/S 7", "E/W 0"}
    score = {f"N/S {bit}" for bit in (1, 4, 16, 32, 64)} | {"E/W negative", "E/W 8", "E/W 32"}
    assert parts["score"] == score and parts["short"] == {"N/S 90", "E/W 240"}


def test_the_global_state_of_four_sides_and_of_a_round_to_come():
    game, states, _ = table("3", "4", variant="cutthroat", options={"scores": [100, 3, 0, -9]})
    states["rounds"] = 5
    encoder = game.state_encoder
    parts = labels(encoder.layout, encoder(states)[0])
    assert parts["short"] == {"N 400", "E 500", "S 500", "W 510"} and parts["turn"] == {"W"}
    four = {f"N {bit}" for bit in (4, 32, 64)} | {"E 1", "E 2", "W negative", "W 1", "W 8"}
    assert parts["score"] == four and parts["rounds"] == {"1", "4"}
    over = states.copy()
    over["turn"] = -1
    assert labels(encoder.layout, encoder(over)[0]) == {**parts, "turn": set()}


def test_exact_places():
    """The arithmetic of the page, without the layout."""
    game, states, _ = table(*ROUND)
    vector = game.encoder(game.view_of(states, np.array([3])))[0]
    assert vector[card_number("9S")] == 1 and vector[52] == 1 and vector[53 + 2] == 1
    assert vector[57 + 15 * 1 + 5] == 1 and vector[57 + 15 * 0 + 0] == 1
    assert vector[119 + 52 * 2 + card_number("JH")] == 1 and vector[327 + 52 * 1 + card_number("4H")] == 1
    assert vector[616 + 50] == 1 and vector[616 + 80 + 50] == 1, "500 short"


def test_bidding_shows_the_dealt_hand_and_the_full_one_what_is_left():
    game, states, _ = table(*ROUND)
    bidding, full = seen(game, states, 3, "bidding"), seen(game, states, 3, "full")
    assert bidding["hand"] - full["hand"] == {"3H"}
    assert {name: bidding[name] for name in bidding if name != "hand"} == {
        name: full[name] for name in bidding if name != "hand"
    }


def test_shown_voids():
    game, states, _ = table(
        "3", "4", "nil", "5", "KD", "AD", "QD", "JD", "AC", "8C", "4C", "6C", "3C", "KC", "9C", "5C"
    )
    # W has no club left and leads diamonds; nobody is out of anything yet
    assert not seen(game, states, 0)["void"]
    action = game.action_number("2D")
    out = game.buffers(1)
    for text in ("2D", "3D", "TD", "9D", "7C", "TC", "2S"):
        action = game.action_number(text)
        game.step(states, np.array([action]), 0, out)
    assert seen(game, states, 0)["void"] == {"RHO C"} and seen(game, states, 0)["broken"] == {"yes"}


def test_blind_nil_and_unseen_hands():
    game, states, _ = table("blind nil", "look", phase="round", blind_nil=True)
    assert seen(game, states, 1)["bids"] == {"me blind nil"} and seen(game, states, 1)["hand"]
    assert seen(game, states, 2)["looked"] == {"yes"}
    assert not seen(game, states, 3)["hand"] and not seen(game, states, 3)["looked"]


@pytest.mark.parametrize(
    ("score", "short", "above", "bags"),
    [
        (0, "we 500", "we 200", "we 0"),
        (1, "we 500", "we 200", "we 1"),
        (499, "we 10", "we 310", "we 9"),
        (700, "we 0", "we 310", "we 0"),
        (-199, "we 700", "we 0", "we 1"),
        (-5000, "we 790", "we 0", "we 0"),
    ],
)
def test_scores(score, short, above, bags):
    game, states, _ = table(options={"scores": [score, 0]}, lose_goal=-200)
    parts = seen(game, states, 2)
    assert short in parts["short"] and above in parts["above"] and bags in parts["bags"]


def test_cutthroat_has_four_sides():
    game, states, _ = table(variant="cutthroat", options={"scores": [100, 201, 302, 403]})
    assert game.encoder.layout.size == full_layout(4).size
    parts = seen(game, states, 1)
    assert parts["short"] == {"me 300", "LHO 200", "across 100", "RHO 400"}
    assert parts["bags"] == {"me 1", "LHO 2", "across 3", "RHO 0"} and not parts["above"]


def test_own_hand_can_be_read_back():
    game = Spades()
    states, out = game.new(500), game.buffers(500)
    game.begin(states, np.arange(500), 1, out)
    for encoder in game.encoders.values():
        vectors = encoder(game.view_of(states, np.full(500, 2)))
        hands = (vectors[:, :52].astype(np.int64) << np.arange(52)).sum(1)
        assert (hands == states["hands"][:, 2]).all()


def test_explained():
    game, states, out = table(*ROUND)
    text = game.encoder.explain(out.observation[0])
    assert text.splitlines() == [
        "my cards: 9S 6S 4S 2S TH 8H 5H QD 7D 2D KC 8C",
        "bids: partner 3, RHO 4, me nil, LHO 5",
        "trick led by partner: partner JH, RHO QH",
        "earlier: me 3H, LHO 4H, partner AH, RHO 2H",
        "tricks: me 0, LHO 0, partner 1, RHO 0",
        "void: nobody",
        "spades are not broken",
        "we: 500 short of the goal, 0 bags",
        "they: 500 short of the goal, 0 bags",
    ]
    assert game.encoder.explain(np.zeros_like(out.observation[0])) == "the game is over"
    bidding = game.encoders["bidding"]
    assert bidding.explain(bidding(game.view_of(states, np.array([0])))[0]).startswith("my cards: AS QS 5S KH 7H 4H")
    with pytest.raises(ValueError, match="expected one vector of 860 entries"):
        game.encoder.explain(out.observation[0][1:])


def test_explained_before_looking():
    game, _, out = table(blind_nil=True, observation="bidding")
    assert game.encoder.explain(out.observation[0]).startswith("I have not seen my hand\nbids: none; me bids first")


@pytest.mark.parametrize("layout", [full_layout(), bidding_layout()])
def test_the_page_is_the_layout(layout):
    page = PAGE.read_text(encoding="utf-8")
    assert layout.markdown() in page
    assert f"| {layout.size} |" in page
    assert len({layout.label(i) for i in range(layout.size)}) == layout.size
