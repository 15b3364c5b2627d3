"""``pi``: what a search changes in the chances, what is searched, and that it is learned."""

from types import SimpleNamespace

import numpy as np
import pytest
from train import app
from trainers.pi import Options, Trainer, improved
from typer.testing import CliRunner

pytest.importorskip("torch")

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.bmcs import Bmcs, Deals, SearchResult
from bidzoo.agents.bridge.network import Architecture, NetworkPolicy
from bidzoo.envs.bridge.game import Bridge

PASS = 0
SMALL = {"iterations": 2, "boards": 6, "searches": 10, "r_max": 12, "p_max": 60, "minibatch": 8, "epochs": 1}


def trainer(evaluator=None, start=None, **options):
    start = network.packaged_network("sl") if start is None else start
    game = Bridge(False, observation=start.architecture.observation, deals="validation")
    return Trainer(start, game, Options(**{**SMALL, **options}), evaluator=evaluator)


def small_network(seed=1):
    shape = Architecture("openspiel480", 38, width=16, depth=1)
    return network.network_of(shape, network.module(shape, seed))


class Never:
    """A evaluator to whom no contract is ever made."""

    network = SimpleNamespace(digest="nothing is made")

    def chances(self, hands, declarer, strain):
        return np.tile(np.arange(14) == 0, (len(hands), 1)).astype(np.float32)


def searched(calls, gains):
    gains = np.array(gains, float)
    best = int(gains.sum(0).argmax())
    deals = Deals(np.zeros((len(gains), 4), np.int64), np.ones(len(gains), np.int64), 99)
    return SearchResult(calls[best], np.array(calls), deals, gains, 0)


def test_chances_move_by_gain_among_the_compared_calls():
    chances = np.zeros(38, np.float32)
    chances[[0, 5, 9]] = 0.5, 0.3, 0.2
    found = searched([0, 5], [[0, 1], [0, 3]])  # two IMPs of gain, with an error of one
    after = improved(chances, found, 2.0)
    weights = np.array([0.5, 0.3 * np.exp(2 / 2 - (1 / 2) ** 2 / 2)])
    np.testing.assert_allclose(after[[0, 5]], 0.8 * weights / weights.sum(), rtol=1e-6)
    assert after[9] == chances[9] and after.sum() == pytest.approx(1)
    np.testing.assert_allclose(improved(chances, searched([0, 5], [[0, 0]]), 1.0), chances, rtol=1e-6)
    choice = improved(chances, found, 0.0)
    assert choice[5] == pytest.approx(0.8) and choice[0] == 0 and choice[9] == chances[9]
    np.testing.assert_array_equal(improved(chances, searched([0, 5], np.empty((0, 2))), 1.0), chances)


def test_what_is_searched_and_what_is_found():
    """Searches are those of ``Bmcs`` with the policy of now; those with too few deals are left out."""
    run = trainer()
    act = selfplay.actor(run.policy, run.game.encoder)
    _, decisions = selfplay.play(run.game, np.arange(6), 0, act, act, np.full(6, selfplay.BOTH), 0)
    order, keys = np.random.default_rng(3).random((2, len(decisions.call)))
    rows, targets, metrics = run._search(decisions, order, keys)
    chances = np.exp(decisions.log_chances)
    open_ = np.flatnonzero((chances > 0.02).sum(1) > 1)
    assert metrics["several_calls"] == pytest.approx(len(open_) / len(order)) and len(open_) > 10
    chosen = sorted(sorted(open_, key=lambda row: order[row])[:10])
    search = Bmcs(NetworkPolicy(network.packaged_network("sl")), max_actions=4, r_max=12, p_max=60)
    expected = {}
    for row in chosen:
        here = decisions.select(np.array([row]))
        one = search.search(run.game.view_of(here.states, here.player), chances[row], int(keys[row] * 2.0**53))
        if len(one.deals.hands) > 5:
            expected[row] = improved(chances[row], one, 1.0)
    assert rows.tolist() == list(expected) and 0 < len(expected) <= 10
    np.testing.assert_allclose(targets, np.stack(list(expected.values())), atol=1e-5)
    assert metrics["searched"] == len(expected) and 0 <= metrics["changed"] <= 1
    np.testing.assert_allclose(targets.sum(1), chances[rows].sum(1), atol=1e-5)


def test_it_learns_what_searches_find():
    """Where nothing can be made, passing is found and learned; the others move less the more they are kept."""
    run = trainer()
    act = selfplay.actor(network.module_of(network.packaged_network("sl")), run.game.encoder, greedy=True)
    _, decisions = selfplay.play(run.game, np.arange(900, 940), 0, act, act, np.full(40, selfplay.BOTH), 0)

    def passes(model):
        out = decisions._replace(call=decisions.call.copy(), log_chances=np.empty_like(decisions.log_chances))
        selfplay.actor(model, run.game.encoder).choose(out, np.zeros(len(out.call)))
        return np.exp(out.log_chances[:, PASS])

    before = passes(run.policy)
    hesitant, away = (before > 0.02) & (before < 0.98), {}
    for anchor in (20.0, 0.0):
        run = trainer(Never(), boards=24, searches=60, epochs=24, minibatch=32, learning_rate=2e-4, anchor=anchor)
        metrics = run.iterate(0)
        assert metrics["changed"] > 0.2 and run.games == 24
        away[anchor] = metrics["from_before"]
    assert (passes(run.policy) - before)[hesitant].mean() > 0.02
    assert away[20.0] < 0.5 * away[0.0]


def test_a_run_in_parts_is_a_whole_one(goes_on):
    start = small_network()
    goes_on(lambda seed=0: trainer(start=start, seed=seed), 1)


def test_a_run_is_its_networks_and_its_hands():
    one = trainer().inputs
    assert trainer(Never()).inputs["evaluator"] != one["evaluator"]
    assert trainer(start=small_network()).inputs["start"] != one["start"]
    assert {"start", "deals", "belief", "evaluator"} == one.keys()


def test_the_command(undrawn, tmp_path):
    small = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    words = ["pi", "--out", str(tmp_path), "--every", "1", "--boards", "10", *small]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0 and "from_search" in result.output and "imps" in result.output
    made, about = network.load_weights(tmp_path / "network.safetensors")
    assert about["algorithm"] == "pi" and about["start"] == "sl" and "belief" in about["inputs"]
    assert any((made.tensors[name] != tensor).any() for name, tensor in network.packaged_network("sl").tensors.items())
    refused = CliRunner().invoke(app, [*words, "--against", "expert-polish"])
    assert refused.exit_code != 0 and "expert-polish" in str(refused.exception)
