"""Any function of observations as a policy."""

import numpy as np
import pytest

import bidzoo
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks.match import play
from bidzoo.wrappers.batch import Batch


def test_the_best_legal_action_is_taken():
    game = bidzoo.make_game("minibridge_v0", size=3)
    seen = []

    def scores(observations, legal):
        seen.append((observations.copy(), legal.copy()))
        return np.broadcast_to(np.arange(game.num_actions), legal.shape)

    policy = ScorePolicy(game, scores)
    batch = Batch(game, 5)
    batch.reset(1)
    np.testing.assert_array_equal(policy.act(batch.views(), batch.action_mask, None), [6] * 5)  # 3S outranks all
    np.testing.assert_array_equal(seen[0][0], batch.observation)
    np.testing.assert_array_equal(seen[0][1], batch.action_mask)
    assert set(play(game, [policy] * 2, np.arange(50)).states["bid"]) == {6}


def test_equals_go_to_the_lowest_and_shapes_are_checked():
    game = bidzoo.make_game("minibridge_v0", size=3)
    batch = Batch(game, 2)
    batch.reset(1)
    legal = batch.action_mask.copy()
    legal[0, :2] = 0
    equal = ScorePolicy(game, lambda observations, legal: np.zeros(legal.shape))
    np.testing.assert_array_equal(equal.act(batch.views(), legal, None), [2, 0])
    legal[1] = 0
    np.testing.assert_array_equal(equal.act(batch.views(), legal, None), [2, -1])
    with pytest.raises(ValueError, match=r"net: scores have shape \(7,\), expected \(2, 7\)"):
        ScorePolicy(game, lambda observations, legal: np.zeros(7), "net").act(batch.views(), legal, None)


def test_scores_are_what_torch_gives():
    """With gradients, of sixteen bits, on any device; and a network that is given for a policy is told how."""
    torch = pytest.importorskip("torch")
    game = bidzoo.make_game("minibridge_v0", size=3)
    network = torch.nn.Linear(game.encoder.layout.size, game.num_actions)
    actions = []
    for kind in (torch.float32, torch.bfloat16):
        policy = ScorePolicy(
            game, lambda observations, legal, kind=kind: network(torch.from_numpy(observations).float()).to(kind)
        )
        actions.append(play(game, [policy] * 2, np.arange(50), actions=True).actions)
        assert (actions[-1] >= -1).all() and (actions[-1] >= 0).any()
    with pytest.raises(TypeError, match=r"not a policy: Linear.*ScorePolicy\(game, scores\)"):
        bidzoo.agents.resolve(network, game)
