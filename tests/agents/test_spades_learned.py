"""The learned bidder: its forward pass is torch's, its training repeats itself, and it beats BIS."""

from pathlib import Path

import numpy as np
import pytest
from numba import config as numba_config

from bidzoo.agents.spades.learned import CHOICES, FEATURES, HIDDEN, choice_bid_row, forward_row, load_network
from bidzoo.agents.spades.learned_training import LearnedOptions, train_bidder
from bidzoo.agents.spades.lookup import shipped_lookup
from bidzoo.agents.spades.match import play_games
from bidzoo.agents.spades.policy import SpadesPolicy
from bidzoo.benchmarks.spades import won_by_first

pytestmark = pytest.mark.skipif(numba_config.DISABLE_JIT, reason="the exact tables take minutes uncompiled")


def test_the_compiled_forward_pass_is_torchs() -> None:
    torch = pytest.importorskip("torch")
    weights = {name: torch.from_numpy(array) for name, array in load_network().items()}
    x = np.random.default_rng(0).normal(size=(20, FEATURES)).astype(np.float32)
    hidden = torch.relu(torch.from_numpy(x) @ weights["w1"].T + weights["b1"])
    hidden = torch.relu(hidden @ weights["w2"].T + weights["b2"])
    expected = (hidden @ weights["w3"].T + weights["b3"]).numpy()
    out, scratch = np.empty(CHOICES, np.float32), np.empty((2, HIDDEN), np.float32)
    for k in range(len(x)):
        forward_row(x[k], shipped_lookup(), scratch, out)
        np.testing.assert_allclose(out, expected[k], rtol=1e-4, atol=1e-4)


def test_choices_are_nil_and_six_bids_around_the_takes() -> None:
    assert [choice_bid_row(k, 4) for k in range(CHOICES)] == [0, 2, 3, 4, 5, 6, 7]
    assert [choice_bid_row(k, 1) for k in range(CHOICES)] == [0, 1, 1, 1, 2, 3, 4]
    assert choice_bid_row(6, 12) == 13


def test_training_repeats_itself(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    config = LearnedOptions(
        passes=1, games=2_000, epochs=1, batch=512, test_games=20, out=str(tmp_path / "bidder.safetensors")
    )
    first = train_bidder(config)
    again = train_bidder(config)
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])


def test_the_shipped_network_beats_bis() -> None:
    games = play_games((SpadesPolicy("learned"), SpadesPolicy("bis")), np.arange(4000), seed=77)
    assert won_by_first(games).mean() > 0.53
