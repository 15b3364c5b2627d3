"""What agents say about a decision."""

import numpy as np
import pytest

from bidzoo import agents, registry
from bidzoo.agents.bridge.card_play import WithCards
from bidzoo.agents.explanation import Bars, Explanation
from bidzoo.agents.tabular.policy import TablePolicy, partner_types
from bidzoo.core.cards import NUM_CALLS, hand_cards
from bidzoo.core.streams import Streams
from bidzoo.envs.bridge.double_dummy import card_tricks
from bidzoo.envs.bridge.double_dummy import dd_tricks as solve
from bidzoo.envs.signalling.compiled import compile_game, uniform
from bidzoo.play import api
from bidzoo.play.session import Session, explanation_of


def begun(game, board=0, seed=0, actions=()):
    tables, out = game.new(1), game.buffers(1)
    game.begin(tables, np.array([board]), seed, out)
    for action in actions:
        game.step(tables, np.array([action]), 0, out)
    return tables, out


def asked(policy, game, tables, out):
    views = game.view_of(tables, np.array([int(out.player[0])]))
    return explanation_of(policy, game, views, out.mask.copy(), Streams.at(0, np.array([0])))


def test_a_policy_that_explains_itself_is_asked():
    class Speaker:
        name = "speaker"

        def act(self, views, legal, rng):
            return np.array([0])

        def explain(self, views, legal, rng):
            return Explanation(text=f"{len(views)} view", bars=(Bars("t", (("a", 1.0),)),))

    game = registry.make_game("minibridge_v0")
    assert asked(Speaker(), game, *begun(game)).text == "1 view"


def test_probabilities_are_read():
    class Network:
        name = "network"

        def act(self, views, legal, rng):
            return np.array([0])

        def probabilities(self, views, legal):
            return legal / legal.sum(1, keepdims=True)

    game = registry.make_game("bridge_bidding_v0")
    found = asked(Network(), game, *begun(game))
    assert sum(found.chances.values()) == pytest.approx(1)
    assert set(found.belief) == {1, 2, 3}


@pytest.mark.parametrize("game_id", ["bridge_v0", "spades_v0"])
def test_the_belief_of_the_rules_adds_up_and_leaves_own_cards_out(game_id):
    game = registry.make_game(game_id)
    tables, out = begun(game, board=3, actions=(3, 0, 0, 0) if game_id == "bridge_v0" else ())
    found = asked(agents.make("random"), game, tables, out)
    me = int(out.player[0])
    own = hand_cards(int(tables[0]["hands"][me]))
    total = sum(found.belief.values())
    assert total[own] == pytest.approx(0)
    assert np.delete(total, own) == pytest.approx(1)
    assert all(chances.sum() == pytest.approx(13) for chances in found.belief.values())
    for deal in found.samples:
        assert all(hand.bit_count() == 13 and not hand & int(tables[0]["hands"][me]) for hand in deal.values())


def test_bis_says_takes_nil_value_and_curve():
    game = registry.make_game("spades_v0")
    tables, out = begun(game)
    found = asked(agents.make("bis"), game, tables, out)
    assert {"takes of the hand", "nil value", "chance that nil succeeds"} <= {name for name, _ in found.facts}
    heights = [y for _, y in found.curve.points]
    assert heights == sorted(heights)
    assert found.curve.points[0][1] <= found.curve.here[1] <= found.curve.points[-1][1]


def test_a_table_policy_says_its_distribution_and_what_the_partner_told():
    game = registry.make_game("mini_hanabi_v0")
    form = compile_game(game)
    strategy = uniform(form)
    strategy[form.child[0, 0], :] = (1.0, 0.0)  # player_0 tells its card: 0 with card 0, 1 with card 1
    strategy[form.child[0, 1], :] = (0.0, 1.0)
    strategy[form.child[0, 2], :] = 0
    policy = TablePolicy(game, strategy)
    found = asked(policy, game, *begun(game, actions=(1,)))
    assert dict(found.bars[0].rows) == {"card 0": 0.0, "card 1": 1.0}
    assert sum(found.chances.values()) == pytest.approx(1)
    impossible = partner_types(form, strategy, int(form.child[0, 2]), 1, 0)
    assert impossible.tolist() == [0.5, 0.5]  # cannot happen: the prior


def test_explanations_become_plain_data_without_nan():
    session = Session(make=lambda game, name: Loud())
    session.start("bridge_bidding_v0", seats=["random"] * 4)
    data = api.explanation(session, session.explain(), "loud")
    assert data["values"] == [{"action": 3, "text": "1C", "card": None, "value": 1.5, "error": None}]
    assert sorted(row["seat"] for row in data["belief"]) == [1, 2, 3]


class Loud:
    name = "loud"

    def act(self, views, legal, rng):
        return np.array([0])

    def explain(self, views, legal, rng):
        return Explanation(values={3: (1.5, float("nan"))}, unit="IMPs")


# ---- card play -------------------------------------------------------------------------------


def played(seed, cards):
    """A board in the play of 3NT by South after ``cards`` random ones."""
    game = registry.make_game("bridge_v0")
    tables, out = begun(game, board=2, seed=seed, actions=(3 + 14, 0, 0, 0))
    choose = np.random.default_rng(seed)
    for _ in range(cards):
        game.step(tables, np.array([int(choose.choice(np.flatnonzero(out.mask[0])))]), 0, out)
    return game, tables, out


def test_the_best_lead_takes_what_the_double_dummy_table_says():
    for seed in range(3):
        _, tables, out = played(seed, 0)
        tricks = card_tricks(tables)[0]
        table = solve(tables["hands"])[0]
        assert 13 - tricks.max() == table[5 * 2 + 4]
        assert set(np.flatnonzero(tricks >= 0)) == set(np.flatnonzero(out.mask[0]) - NUM_CALLS)


@pytest.mark.parametrize("cards", [1, 2, 3, 17, 30, 51])
def test_every_legal_card_has_its_tricks_and_perfect_play_keeps_them(cards):
    game, tables, out = played(cards, cards)
    tricks = card_tricks(tables)[0]
    legal = np.flatnonzero(out.mask[0]) - NUM_CALLS
    assert set(np.flatnonzero(tricks >= 0)) == set(legal)
    side = int(tables[0]["hand_to_play"]) % 2
    expected = int(tricks.max()) + int(tables[0]["won"][side])
    while out.mask.any():
        game.step(tables, np.array([NUM_CALLS + int(card_tricks(tables)[0].argmax())]), 0, out)
    assert int(tables[0]["won"][side]) == expected


def test_a_bidder_with_cards_plays_legally_and_the_same_alone_or_beside_others():
    game, tables, out = played(5, 40)
    policy = WithCards(agents.make("random"), deals=3)
    views = game.view_of(tables, np.array([int(out.player[0])]))
    one = policy.act(views, out.mask, Streams.at(0, np.array([4])))
    two = policy.act(np.repeat(views, 2), np.repeat(out.mask, 2, 0), Streams.at(0, np.array([9, 4])))
    assert out.mask[0, one[0]]
    assert two[1] == one[0]
    found = asked(policy, game, tables, out)
    assert set(found.values) == set(np.flatnonzero(out.mask[0]).tolist())
    with pytest.raises(ValueError, match="deals 0"):
        WithCards(policy, 0)


def test_uct_says_what_each_card_is_worth():
    game = registry.make_game("spades_v0", phase="round")
    tables, out = begun(game)
    while int(tables[0]["plays"]) < 41:
        game.step(tables, np.array([int(np.flatnonzero(out.mask[0])[-1])]), 0, out)
    found = asked(agents.make("uct"), game, tables, out)
    assert set(found.values) == set(np.flatnonzero(out.mask[0]).tolist())
    assert all(np.isfinite(mean) for mean, _ in found.values.values())
    me = int(out.player[0])
    assert all(set(deal) == {0, 1, 2, 3} - {me} for deal in found.samples)
