"""Constructor and reset options: what they do, and the error that names a wrong one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bidzoo.core.cards import card_text, hand_cards, hand_text
from bidzoo.envs.bridge.deals import DealSet, packaged, random_deals
from bidzoo.envs.bridge.double_dummy import dd_tricks_of
from bidzoo.envs.bridge.game import OPTIONS, Bridge
from bidzoo.envs.bridge_bidding_v0 import env
from bidzoo.envs.bridge_v0 import env as play_env
from bidzoo.envs.game import read_options

FEW = DealSet(packaged("test").hands[:50], packaged("test").tricks[:50])
HANDS = FEW.hands[7]
PBN = [hand_text(int(hand)) for hand in HANDS]
NORTH = "AKQJT98765432..."


def table_after(options: dict[str, Any], play: bool = False) -> Any:
    game = (play_env if play else env)(deals=FEW)
    game.reset(seed=0, options=options)
    return game._states[0]


@pytest.mark.parametrize(
    "deal",
    [
        "N:" + " ".join(PBN),
        "w:" + " ".join(PBN[3:] + PBN[:3]),
        [int(hand) for hand in HANDS],
        HANDS,
        PBN,
        [hand_cards(int(hand)) for hand in HANDS],
        np.array([hand_cards(int(hand)) for hand in HANDS]),
        [[card_text(card) for card in hand_cards(int(hand))] for hand in HANDS],
    ],
)
def test_a_deal_in_every_form(deal: Any) -> None:
    assert read_options({"deal": deal}, OPTIONS)["deal"].tolist() == HANDS.tolist()
    table = table_after({"deal": deal, "tricks": FEW.tricks[7]})
    assert table["hands"].tolist() == table["held"].tolist() == HANDS.tolist()
    assert table["tricks"].tolist() == FEW.tricks[7].tolist()


def test_board_dealer_and_vulnerability() -> None:
    table = table_after({"board": 6})
    assert (table["board"], table["dealer"], table["vulnerable"]) == (6, 2, 3)
    table = table_after({"board": 6, "dealer": "west", "vulnerability": "EW"})
    assert (table["dealer"], table["turn"], table["vulnerable"]) == (3, 3, 2)
    assert table["hands"].tolist() == table_after({"board": 6})["hands"].tolist()
    assert table_after({"board": 6, "vulnerability": "all"})["vulnerable"] == 3


@pytest.mark.parametrize("play", [False, True])
def test_hands_are_another_name_of_the_deal(play: bool) -> None:
    table = table_after({"hands": HANDS, "tricks": FEW.tricks[7]}, play=play)
    assert table["hands"].tolist() == HANDS.tolist()
    with pytest.raises(ValueError, match="options 'deal' and 'hands' are the same thing"):
        table_after({"hands": HANDS, "deal": HANDS})


def test_the_observation_is_of_the_changed_deal() -> None:
    game = env(deals=FEW)
    game.reset(seed=0, options={"deal": HANDS, "tricks": FEW.tricks[7], "dealer": "S"})
    assert game.agent_selection == "player_2"
    seen = game.observe("player_2")["observation"]
    assert (seen == game.game.encoder(game.view("player_2"))[0]).all()
    assert np.flatnonzero(seen[-52:]).tolist() == hand_cards(int(HANDS[2]))


def test_a_deal_without_its_table_is_solved_once_where_it_is_needed() -> None:
    assert table_after({"deal": HANDS})["tricks"].tolist() == FEW.tricks[7].tolist()
    assert dd_tricks_of(HANDS) is dd_tricks_of(HANDS.copy())
    assert (table_after({"deal": HANDS}, play=True)["tricks"] == -1).all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"board": -1}, "option 'board': -1 is not a board number"),
        ({"board": 1.5}, "option 'board': 1.5 is not a board number"),
        ({"board": True}, "option 'board': True is not"),
        ({"dealer": "Q"}, "option 'dealer': not a seat: 'Q'"),
        ({"dealer": 4}, "option 'dealer': not a seat: 4"),
        ({"dealer": 1.0}, "option 'dealer': not a seat: 1.0"),
        ({"vulnerability": "bth"}, "option 'vulnerability': not a vulnerability: 'bth'; did you mean 'both'?"),
        ({"vulnerability": 3}, "option 'vulnerability': not a vulnerability: 3; choose from"),
        ({"tricks": [1] * 19}, "option 'tricks': .* is not 20 integers"),
        ({"tricks": [1.0] * 20}, "is not 20 integers"),
        ({"tricks": [1] * 7 + [14] + [1] * 12}, "option 'tricks': E in H takes 14 tricks"),
        ({"tricks": [-1] * 20}, "N in C takes -1 tricks"),
        ({"deal": "AK.. ... ... ..."}, "option 'deal': .* is not a PBN deal"),
        ({"deal": f"N:{NORTH} ... ..."}, "is not a PBN deal, expected a seat, a colon and four hands"),
        ({"deal": [NORTH, "", "", ""]}, "hand '' has 0 suits"),
        ({"deal": [NORTH, "...", "...", "..."]}, "E holds 0 cards, expected 13"),
        ({"deal": [NORTH, "A...", "...", "..."]}, "AS is held by N and by E"),
        ({"deal": [[*range(13), 0], [], [], []]}, "2C appears twice"),
        ({"deal": [*PBN[:3], "." + PBN[3].replace(".", "", 1)[:3] + ".."]}, "option 'deal': "),
        ({"deal": [HANDS[0] & ~(HANDS[0] & -HANDS[0]), *HANDS[1:]]}, "N holds 12 cards, expected 13"),
        ({"deal": [HANDS[0], *HANDS[1:], 0]}, "5 hands given"),
        ({"deal": [1 << 52, 0, 0, 0]}, "N has bits beyond the 52 cards"),
        ({"deal": [-1, 0, 0, 0]}, "N has bits beyond"),
        ({"deal": [[52], [], [], []]}, "not a card number: 52"),
        ({"deal": [["1S"], [], [], []]}, "not a card: '1S'"),
        ({"deal": [[1.5], [], [], []]}, "1.5 is not a card"),
        ({"deal": [1.5, 0, 0, 0]}, "1.5 is not a hand"),
        ({"deal": 7}, "option 'deal': "),
    ],
)
def test_a_wrong_option_is_named_and_changes_nothing(options: dict[str, Any], text: str) -> None:
    game = env(deals=FEW)
    game.reset(seed=0)
    before = game._states.tobytes()
    with pytest.raises(ValueError, match=text):
        game.reset(options=options)
    assert game._states.tobytes() == before


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"play": False, "reward": "mps"}, "unknown reward 'mps'; choose from score, par, duplicate"),
        ({"play": False, "reward_scale": 0}, "reward_scale 0: expected a positive number"),
        ({"play": False, "reward_scale": float("nan")}, "reward_scale nan"),
        ({"play": False, "observation": "267"}, r"'267'; did you mean 'jps267'\? choose from openspiel480"),
        ({"play": True, "reward": "par"}, "holds no deals, and random cards have no double-dummy table"),
        ({"play": False, "deals": DealSet.of(random_deals(0, np.arange(3)))}, "deal 0 of deals has no complete"),
        ({"play": False, "deals": DealSet(FEW.hands[:, ::-1] | 1, FEW.tricks)}, "deals: hands: deal"),
    ],
)
def test_a_wrong_argument_is_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Bridge(**options)


def test_deals_from_a_file(tmp_path: Path) -> None:
    DealSet.of(FEW.hands, FEW.tricks).save(tmp_path / "few.npz")
    for source in (tmp_path / "few.npz", str(tmp_path / "few.npz")):
        assert Bridge(False, deals=source).deals.checksum() == FEW.checksum()
    with pytest.raises(OSError, match="nowhere"):
        Bridge(False, deals=str(tmp_path / "nowhere.npz"))


def test_default_deals_and_observations() -> None:
    assert Bridge(False).deals.checksum() == packaged("train").checksum()
    assert len(Bridge(True).deals.hands) == 0
    assert (Bridge(False).encoder.name, Bridge(True).encoder.name) == ("openspiel480", "openspiel571")
