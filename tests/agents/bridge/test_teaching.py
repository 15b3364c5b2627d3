"""What learners are taught from: contract scores, branches, joint search."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("torch")

from bidzoo.agents.bridge import network, selfplay
from bidzoo.agents.bridge.critic import Critic, contract_scores
from bidzoo.agents.bridge.jps import BY_MOVES, Options, Search, Trainer
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.selfplay import candidates, duplicate_pairs, explore
from bidzoo.envs.bridge.game import Bridge
from bidzoo.envs.bridge.observation import encode_value
from bidzoo.envs.bridge.score import imps
from bidzoo.envs.bridge.state import AUCTION

POLICY = Architecture("openspiel480", 38, width=32, depth=2)


def decisions_of(n=40, seed=2, greedy=False):
    model = network.module(POLICY, 5, last_scale=1.0)
    game, actor = Bridge(False), selfplay.actor(model, POLICY.encoder)
    sides = np.full(n, selfplay.BOTH)
    tables, decisions = selfplay.play(game, np.arange(n), seed, actor, actor, sides, 0)
    return game, selfplay.actor(model, POLICY.encoder, greedy=True) if greedy else actor, tables, decisions


def test_standing_score_is_what_passing_out_pays():
    """The sheet's last entry before the last pass is the result in IMPs, where both declarers take as many tricks."""
    _, _, tables, decisions = decisions_of(150)
    reference = np.random.default_rng(0).integers(-500, 500, 150)
    last = np.array([np.flatnonzero(decisions.board == b)[-1] for b in range(150)])
    end = decisions.select(last)
    sheet = contract_scores(end.states, end.side, reference[end.board])
    sign = np.where(end.side == 0, 1, -1)
    paid = sign * imps(tables["points"][end.board, 0] - reference[end.board]) / 10
    partner = (tables["declarer"] + 2) % 4
    rows, strain = np.arange(150), tables["bid"] % 5
    tricks = tables["tricks"][rows, 5 * partner + strain] == tables["tricks"][rows, 5 * tables["declarer"] + strain]
    sure = tricks & (tables["stake"] < 4)  # redoubled contracts count as doubled
    assert sure.sum() > 40
    np.testing.assert_allclose(sheet[sure, -1], paid[sure], atol=1e-6)


def test_value_network_begins_with_the_standing_score():
    """Sees all hands (636 bits), then the sheet; an untrained one without last layer says what stands."""
    _, _, _, decisions = decisions_of(20)
    zero = np.zeros(len(decisions.call), np.int64)
    critic = Critic(Architecture("scores778", 1, width=8, depth=1), 0.0, 0, "cpu")
    for parameter in critic.model.layers[-1].parameters():
        parameter.data.zero_()
    seen = critic.inputs(decisions, zero)
    cards = np.zeros((len(zero), 636), np.int8)
    encode_value(decisions.states, decisions.player, cards)
    np.testing.assert_array_equal(seen[:, :636], cards)
    expected = contract_scores(decisions.states, decisions.side, zero)
    np.testing.assert_allclose(critic.tensor(seen)[:, 636:].float(), expected, rtol=0.004)
    np.testing.assert_allclose(critic.values(critic.tensor(seen)), expected[:, -1], rtol=0.004)


def test_adan_is_the_papers_algorithm():
    """Algorithm 1 by hand, for a parameter with its gradients, beside one that has none."""
    import torch

    from bidzoo.agents.bridge.adan import adan

    rng, rate = np.random.default_rng(0), 0.01
    gradients = rng.normal(size=(6, 5))
    idle, moved = torch.ones(2, requires_grad=True), torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimiser, x, ((mean, square), difference) = adan([idle, moved], rate), np.zeros(5), ((0, 0), 0)
    for k, gradient in enumerate(gradients):
        if k == 0:
            mean, square = gradient, gradient**2
        else:
            change = gradient - gradients[k - 1]
            mean, difference = 0.98 * mean + 0.02 * gradient, 0.92 * difference + 0.08 * change
            square = 0.99 * square + 0.01 * (gradient + 0.92 * change) ** 2
        x = x - rate / (np.sqrt(square) + 1e-8) * (mean + 0.92 * difference)
        moved.grad = torch.from_numpy(gradient.copy())
        optimiser.step()
        np.testing.assert_allclose(moved.detach().numpy(), x, rtol=1e-12)
    assert idle.tolist() == [1, 1]


def test_pairs_are_compared_with_the_other_table():
    """Each table's reference is the other one's score; the side's outcome is their difference in IMPs / 24."""
    game, actor, n = Bridge(False), selfplay.actor(network.module(POLICY, 5), POLICY.encoder), 30
    decisions, outcome, reference, _ = duplicate_pairs(game, np.arange(n), 2, actor, 0)
    both = np.full(n, selfplay.BOTH)
    first, second = (selfplay.play(game, np.arange(n), 2, actor, actor, both, k)[0] for k in range(2))
    at_first = np.arange(len(outcome)) < first["length"].sum()
    one, two = (tables["points"][decisions.board, 0] for tables in (first, second))
    np.testing.assert_array_equal(reference, np.where(at_first, two, one))
    won = np.where(at_first == (decisions.side == 0), 1, -1) * imps(one - two)
    np.testing.assert_allclose(outcome * 24, won, rtol=1e-6)
    assert (outcome != 0).mean() > 0.5


def test_score_sheet_is_mirrored():
    _, _, _, decisions = decisions_of(20)
    zero = np.zeros(len(decisions.call), np.int64)
    ours, theirs = (contract_scores(decisions.states, side, zero) for side in (zero, zero + 1))
    np.testing.assert_allclose(ours[:, :70], -theirs[:, 70:140])
    np.testing.assert_allclose(ours[:, 140:], -theirs[:, 140:])


def test_candidates_are_the_likeliest():
    chance = np.array([[0.5, 0.3, 0.15, 0.05], [0.97, 0.01, 0.01, 0.01]], np.float32)
    call, weight = candidates(np.log(chance), 3, 0.1)
    assert call.tolist() == [[0, 1, 2], [0, -1, -1]]
    np.testing.assert_allclose(weight, [[0.5, 0.3, 0.15], [0.97, 0, 0]], atol=1e-6)
    assert candidates(np.log(chance[1:]), 2, 0.99)[0].tolist() == [[0, -1]]  # the likeliest is always one


def test_candidates_are_in_the_order_of_a_stable_sort():
    """Also where chances are equal, in a batch that runs on all cores and in one that does not."""
    log_chances = np.random.default_rng(3).integers(-4, 0, (300, 38)).astype(np.float32)
    order = np.argsort(-log_chances, axis=1, kind="stable")[:, :5]
    for n in (300, 20):
        call, chance = candidates(log_chances[:n], 5, 0.2)
        expected = np.exp(np.take_along_axis(log_chances, order, 1))[:n]
        np.testing.assert_array_equal(call, np.where(expected >= 0.2, order[:n], -1))
        np.testing.assert_array_equal(chance, np.where(expected >= 0.2, expected, 0))


def test_branches_are_games_played_out():
    game, actor, _, decisions = decisions_of(12, greedy=True)
    some = decisions.select(np.arange(10))
    call, _ = candidates(some.log_chances, 3, 0.01)
    found = explore(game, some.states, call, actor, actor, np.full(10, selfplay.BOTH))
    before = some.states.copy()
    for i in range(10):
        for k in np.flatnonzero(call[i] >= 0):
            ends = selfplay.finish(game, some.states, np.array([i]), call[i, k : k + 1], actor, actor, np.full(1, 2))
            assert found[i, k] == ends.points[0]
    np.testing.assert_array_equal(before, some.states)  # explored on copies


WAYS = ("best", "mean"), ("imps", "score")


def brute_force(game, actor, decision, options, reference):
    """What each candidate of P1 is worth when nobody plays by chance."""
    sign, first_row = 1 if decision.side[0] == 0 else -1, np.zeros(1, np.int64)
    first = [c for c in candidates(decision.log_chances, options.max_actions, options.min_prob)[0][0] if c >= 0]
    values = {}
    for call in first:
        table = decision.states.copy()
        game.step(table, np.array([call]), 0, game.buffers(1), 0)
        if table["phase"][0] == AUCTION and options.depth > 1:
            reply = selfplay.decide(game, table, first_row, actor, 0).call
            game.step(table, reply, 0, game.buffers(1), 0)
        if table["phase"][0] != AUCTION:
            ends = [table["points"][0, 0]]
        elif options.depth == 1:
            ends = selfplay.finish(
                game, decision.states, first_row, np.array([call]), actor, actor, np.full(1, 2)
            ).points
        else:
            second = selfplay.decide(game, table, first_row, actor, 0)
            answers = [c for c in candidates(second.log_chances, options.max_actions, options.min_prob)[0][0] if c >= 0]
            ends = [
                selfplay.finish(game, table, first_row, np.array([c]), actor, actor, np.full(1, 2)).points[0]
                for c in answers
            ]
        rewards = [int(imps(end - reference)) / 24 if options.reward == "imps" else int(end) for end in ends]
        values[call] = (max if options.partner == "best" else np.mean)([sign * reward for reward in rewards])
    return values


@pytest.mark.parametrize(
    ("depth", "seed", "partner", "reward"),
    [(1, 2, "best", "imps"), (3, 2, "best", "imps"), (1, 3, "mean", "score"), *product((3,), (3,), *WAYS)],
)
def test_joint_search_is_brute_force(depth, seed, partner, reward):
    game, actor, _, decisions = decisions_of(16, seed, greedy=True)
    few = {"responses": 2, "rollouts": 1, "max_actions": 3, "min_prob": 0.005}
    options = Options(depth=depth, partner=partner, reward=reward, **few)
    chosen = np.arange(0, len(decisions.call), 9)
    reference = np.random.default_rng(1).integers(-300, 300, 16)
    some = decisions.select(chosen)
    found = Search(game, actor, options, reference)(some, 1)
    for i in range(len(chosen)):
        one = some.select(np.array([i]))
        values = brute_force(game, actor, one, options, reference[one.board[0]])
        assert found.value[i] == pytest.approx(max(values.values()))
        assert values[found.call[i]] == pytest.approx(max(values.values()))


MODEL = network.module(Architecture("jps267", 38, width=32, depth=2), 5, last_scale=1.0)


def moves_of(boards, greedy=False, **options):
    """Pairs whose moves are searched, as the released program has it but for ``options``, and what was searched."""
    game, options = Bridge(False, observation="jps267"), {**BY_MOVES, "seed": 2, "max_actions": 3, **options}
    trainer, searched, search = Trainer(None, game, Options(capacity=9, **options)), [], Search.__call__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Search, "__call__", lambda *args: searched.append(args) or search(*args))
        return trainer.play(np.asarray(boards), selfplay.actor(MODEL, game.encoder, greedy=greedy), 7), searched


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_a_share_of_the_moves_is_searched_at_both_tables(share):
    pairs, searched = moves_of(np.arange(60), share=share, min_prob=0.0, responses=1, depth=1)
    moves, tables = len(pairs.decisions.call), [0, 0]
    for search, decisions, _ in searched:
        tables[int(search.reference.any())] += len(decisions.call)
    assert sum(tables) == pytest.approx(share * moves, abs=4 * (share * (1 - share) * moves) ** 0.5)
    assert min(tables) > 0.3 * sum(tables)


@pytest.mark.parametrize("options", [{"share": 0.0}, {"share": 1.0, "min_prob": 1.0}], ids=str)
def test_what_is_not_searched_is_the_policys_own(options):
    """Also where there is but one candidate."""
    (pairs, searched), (without, _) = moves_of(np.arange(30), **options), moves_of(np.arange(30), share=0, unit="games")
    assert not searched
    np.testing.assert_array_equal(pairs.decisions.call, without.decisions.call)
    np.testing.assert_array_equal(pairs.outcome, without.outcome)


@pytest.mark.parametrize("unit", ["games", "moves"])
def test_a_call_that_was_searched_is_kept_with_its_own_chance(unit):
    """Not with that of the call which the policy would have made."""
    decisions = moves_of(np.arange(30), share=1.0, responses=2, min_prob=0.01, unit=unit)[0].decisions
    made = np.take_along_axis(decisions.log_chances, decisions.call[:, None], 1)[:, 0]
    np.testing.assert_array_equal(decisions.log_chance, made)
    assert (decisions.log_chances.max(1) > made).any()


def test_a_searched_move_is_the_best_one_and_the_game_goes_on_from_it():
    """Where nobody plays by chance; later moves of the same game are searched too."""
    game, options = Bridge(False, observation="jps267"), {"min_prob": 0.01}
    actor = selfplay.actor(MODEL, game.encoder, greedy=True)
    pairs, searched = moves_of(np.arange(8), greedy=True, share=1.0, responses=1, **options)
    decisions, options = pairs.decisions, Options(**{**BY_MOVES, "max_actions": 3, **options})
    call, _ = candidates(decisions.log_chances, 3, 0.01)
    several = (call >= 0).sum(1) > 1
    assert several.sum() == sum(len(some.call) for _, some, _ in searched) > 20
    np.testing.assert_array_equal(decisions.call[~several], call[~several, 0])
    for i in np.flatnonzero(several)[::4]:
        values = brute_force(game, actor, decisions.select(np.array([i])), options, 0)
        assert values[decisions.call[i]] == pytest.approx(max(values.values()))


@pytest.mark.parametrize("reward", ["imps", "score"])
def test_searched_moves_do_not_depend_on_the_batch(reward):
    boards, sizes = np.arange(12), {"share": 0.5, "responses": 2, "min_prob": 0.01, "reward": reward}
    whole, searched = moves_of(boards, **sizes)
    assert searched
    for some in (boards[:1], boards[5:9]):
        part, _ = moves_of(some, **sizes)
        for k, board in enumerate(some):
            at, here = whole.decisions.board == board, part.decisions.board == k
            np.testing.assert_array_equal(whole.decisions.call[at], part.decisions.call[here])
            np.testing.assert_array_equal(whole.outcome[at], part.outcome[here])
