"""``pbl``: the auxiliary reward against its definition, modules that learn in turns, its runs."""

import numpy as np
import pytest
from train import app
from trainers import partners, pbl
from trainers.pbl import Options, communication, divergence
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo import agents
from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.partners import INPUTS
from bidzoo.agents.bridge.pbl import Modules
from bidzoo.core.cards import hand_cards
from bidzoo.envs.bridge.game import Bridge

SMALL = {"most_calls": 5, "width": 12, "boards": 6, "copies": 3, "iterations": 6, "first": 2}
SMALL |= {"belief_length": 1, "policy_length": 2, "communication": 0.1}


def trainer(**changes):
    game = Bridge(False, competition=False, reward="cost", deals="validation")
    return pbl.Trainer(game, Options(**SMALL | changes))


def weights(one):
    return {name: tensor.clone() for name, tensor in one.model.state_dict().items()}


def played(one, n=6):
    boards = partners.deal(one.game, np.arange(n), 0)
    return boards, one.play(boards, 0)


def test_the_auxiliary_reward_is_as_defined():
    """What partner's best belief so far gains by a call, from hands and beliefs, call by call."""
    one = trainer(boards=40)
    boards, auctions = played(one, 40)
    modules = Modules(one.architecture, network.arrays(one.model))
    gain = communication(auctions.first, auctions.distance)
    calls = np.full((len(auctions.cost), 5), -1, np.int8)
    calls[auctions.auction, auctions.turn] = auctions.call

    def distance(game, viewer, length):
        """KL of partner's hand, sure, from the belief of ``viewer`` after ``length`` calls."""
        board = auctions.board[game]
        seen = partners.observe(boards, np.array([board]), viewer, calls[game : game + 1], length)
        belief = np.clip(modules.beliefs(seen)[0], 1e-3, 1 - 1e-3).astype(np.float64)
        cards = set(hand_cards(int(boards.hands[board, 1 - viewer])))
        return -sum(np.log(belief[card] if card in cards else 1 - belief[card]) for card in range(52))

    for game in range(0, len(calls), 5):
        length = int((calls[game] >= 0).sum())
        for t in range(5):
            wanted = 0.0
            if t + 1 < length:  # a call that ends the auction tells nobody anything
                earlier = [distance(game, 1 - t % 2, s) for s in range(t + 1) if s == 0 or s % 2 == (t + 1) % 2]
                wanted = min(earlier) - distance(game, 1 - t % 2, t + 1)
            assert gain[game, t] == pytest.approx(wanted, abs=0.02)  # integers beside torch
    assert (gain != 0).sum() > 50


def test_divergence_of_a_sure_belief_is_nothing():
    hands = np.array([0b1111111111111, 0b1111111111111 << 20])
    sure = np.zeros((2, 52), np.float32)
    sure[0, :13] = sure[1, 20:33] = 1
    assert (divergence(hands, sure) < 0.06).all()
    assert (divergence(hands, sure[::-1]) > 100).all()


def test_advantages_are_those_of_a_loop():
    one = trainer()
    _, auctions = played(one)
    advantage, told = one.advantages(auctions)
    gain = communication(auctions.first, auctions.distance)
    assert told == pytest.approx(gain.sum(1).mean(), rel=1e-5)
    onwards = np.array([[gain[g, t::2].sum() for t in range(5)] for g in range(len(gain))])
    for i, (game, t) in enumerate(zip(auctions.auction, auctions.turn)):
        copies = [g for g in range(len(gain)) if auctions.board[g] == auctions.board[game] and g != game]
        there = auctions.auction[auctions.turn == t]
        wanted = (np.mean(auctions.cost[copies]) - auctions.cost[game]) / 24
        wanted += 0.1 * (onwards[game, t] - onwards[there, t].mean())
        assert advantage[i] == pytest.approx(wanted, abs=1e-4)


def test_modules_learn_in_turns():
    one = trainer()
    turns = [one.turn(iteration) for iteration in range(8)]
    assert turns == ["policy", "policy", "belief", "policy", "policy", "belief", "policy", "policy"]
    for iteration, name in enumerate(turns[:6]):
        before = weights(one)
        one.iterate(iteration)
        changed = {key.split(".")[0] for key, tensor in weights(one).items() if (tensor != before[key]).any()}
        assert changed == {name}, iteration


def test_without_beliefs_there_is_no_such_module():
    one = trainer(beliefs=False, communication=0)
    assert {one.turn(iteration) for iteration in range(9)} == {"policy"}
    one.iterate(0)
    assert all(name.startswith("policy.") for name in one.player().tensors)
    assert one.player().tensors["policy.0.weight"].shape == (12, INPUTS)
    with pytest.raises(ValueError, match=r"communication 0\.1 without beliefs: expected 0"):
        trainer(beliefs=False)


def test_beliefs_know_the_own_cards_and_learn_partners():
    one = trainer(boards=16, first=0, belief_length=1000, belief_rate=2e-2, iterations=1000)
    losses = [float(one.iterate(i)["belief"]) for i in range(40)]
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.01
    _, auctions = played(one)
    modules = Modules(one.architecture, network.arrays(one.model))
    belief = modules.beliefs(auctions.observation)
    assert (belief[auctions.observation[:, :52] == 1] == 0).all()
    np.testing.assert_allclose(belief, auctions.belief, atol=2e-3)
    assert 11 < belief.sum(1).mean() < 15  # about thirteen cards


def test_a_run_is_its_seed_and_goes_on(goes_on):
    goes_on(trainer, 3)


def test_the_command(undrawn, tmp_path):
    words = ["pbl", "--out", str(tmp_path), "--boards", "20", "--every", "2", "--set", "beliefs=false"]
    for name, value in {"iterations": 2, "boards": 4, "width": 8, "communication": 0}.items():
        words += ["--set", f"{name}={value}"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0 and "entropy" in result.output
    known, about = network.load_weights(tmp_path / "network.safetensors", Modules)
    assert about["algorithm"] == "pbl" and not known.architecture.beliefs
    assert agents.games_of(str(tmp_path / "network.safetensors")) == ("bridge_bidding_v0",)


def test_another_game_is_refused():
    with pytest.raises(ValueError, match="two partners learn in"):
        pbl.Trainer(Bridge(False), Options(**SMALL))


@pytest.mark.parametrize(("change", "words"), [({"copies": 1}, "copies 1"), ({"most_calls": 1}, "most_calls 1")])
def test_wrong_options_are_named(change, words):
    with pytest.raises(ValueError, match=words):
        Options(**change)
