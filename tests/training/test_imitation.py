"""A network learns the calls of an agent from recorded matches."""

import numpy as np


def test_it_learns_to_call_as_its_teacher(script):
    imitation = script("imitation")
    unseen = imitation.played(100, "test")
    network = imitation.learn(imitation.played(1000, "train"), epochs=4, width=128)
    passes = float((unseen.action == 0).mean())
    assert imitation.agreement(network, unseen) > passes + 0.05  # who always passes
    policy = imitation.policy(network)
    game = policy.game
    assert imitation.duplicate(game, policy, "random", np.arange(50)).imps.mean() > 5
